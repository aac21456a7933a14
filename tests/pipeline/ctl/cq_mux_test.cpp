// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ctl/cq_mux.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <vector>

#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::cq_mux_test {
namespace {

/// cq_mux alone. Completions of the requestor have even wr_ids, those of the responder odd ones, both rising.
struct Bench : BlockBench<Bench> {
  Fifo<Cqe> tx{2};
  Stream<Cqe> rx;
  CqMux block{tx, rx};
  Feed<Cqe> tx_feed, rx_feed;
  Pin<Cqe> host;

  void fill(unsigned from_tx, unsigned from_rx) {
    for (unsigned i = 0; i < from_tx; ++i) tx_feed.words.push_back({.qp = 1, .recv = false, .wr_id = 2 * i});
    for (unsigned i = 0; i < from_rx; ++i) rx_feed.words.push_back({.qp = 1, .recv = true, .wr_id = 2 * i + 1});
  }
  void cycle() {
    host.look(block.cqe_valid(), block.cqe(), cycles);
    tx_feed.into(tx);
    rx_feed.into(rx);
    block.step(host.ready);
    clock_all(block, tx, rx);
    ++cycles;
  }
  /// The numbers of what the host has taken.
  std::vector<uint32_t> numbers() const {
    std::vector<uint32_t> list;
    for (const Cqe& cqe : host.taken.words) list.push_back(cqe.wr_id);
    return list;
  }
};

using Numbers = std::vector<uint32_t>;

}  // namespace

TEST_CASE("cq_mux: a completion is at the host two cycles after it entered its FIFO", "[cq_mux]") {
  Bench b;
  b.fill(1, 0);
  b.run(5);
  CHECK(b.numbers() == Numbers{0});
  CHECK(b.host.taken.at == std::vector<unsigned>{2});  // pushed in 0, head and loaded in 1

  Bench other;
  other.fill(0, 1);
  other.run(6);
  CHECK(other.numbers() == Numbers{1});
  CHECK(other.host.taken.at == std::vector<unsigned>{3});  // one more: rx_reorder's output register
}

TEST_CASE("cq_mux: one completion per cycle, from either side alone", "[cq_mux]") {
  const bool transmit = GENERATE(true, false);
  Bench b;
  b.fill(transmit ? 20 : 0, transmit ? 0 : 20);
  b.run(24);
  REQUIRE(b.host.taken.words.size() == 20);
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(b.host.taken.words[i].wr_id == 2 * i + (transmit ? 0 : 1));
    CHECK(b.host.taken.at[i] == b.host.taken.at[0] + i);
  }
}

TEST_CASE("cq_mux: both sides take turns while both have completions, the requestor first", "[cq_mux]") {
  Bench b;
  b.host.taken.pace = Pace::never();
  b.fill(4, 8);
  b.run(8);  // both FIFOs are full, and the output register
  b.host.taken.pace = Pace::always();
  b.run(20);
  CHECK(b.numbers() == Numbers{0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15});
  for (std::size_t i = 0; i < 12; ++i) CHECK(b.host.taken.at[i] == 8 + i);  // no cycle is lost
}

TEST_CASE("cq_mux: a side that was alone does not go before the other's next completion", "[cq_mux]") {
  Bench b;
  b.fill(1, 0);
  b.run(4);  // the requestor was served last
  b.host.taken.pace = Pace::never();
  b.fill(3, 3);
  b.run(6);  // the requestor's is at the output: it came when nothing else was there
  b.host.taken.pace = Pace::always();
  b.run(8);
  CHECK(b.numbers() == Numbers{0, 0, 1, 2, 3, 4, 5});
}

TEST_CASE("cq_mux: while the host is not ready, the completion stays and both FIFOs fill", "[cq_mux]") {
  Bench b;
  b.host.taken.pace = Pace::never();
  b.fill(10, 10);
  b.run(30);  // Pin::look checks that the output does not move
  CHECK(b.block.cqe_valid());
  CHECK(b.block.cqe().wr_id == 0);
  CHECK(b.tx.count() == 2);
  CHECK(b.rx.count() == 2);
  CHECK(b.tx_feed.words.size() == 7);
  CHECK(b.rx_feed.words.size() == 7);  // 1 in rx_reorder's output register
}

TEST_CASE("cq_mux: at any pace nothing is lost, doubled or overtaken within a side", "[cq_mux]") {
  const uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u);
  Bench b;
  b.tx_feed.pace = Pace::random(0.7, seed);
  b.rx_feed.pace = Pace::random(0.6, seed + 100);
  b.host.taken.pace = Pace::random(0.5, seed + 200);
  b.fill(400, 400);
  b.run_until([&] { return b.host.taken.words.size() == 800; });
  uint32_t next[2] = {0, 1};
  for (const Cqe& cqe : b.host.taken.words) {
    CHECK(cqe.wr_id == next[cqe.recv]);
    next[cqe.recv] += 2;
  }
  b.run(20);
  CHECK(b.host.taken.words.size() == 800);
}

TEST_CASE("the waves of cq_mux.md: both sides in turn, the requestor first; the host waits", "[cq_mux][waves]") {
  Bench b;
  b.fill(4, 3);
  const auto willing = [&b] { return b.cycles != 5 && b.cycles != 6; };
  const auto number = [](const Cqe& cqe) { return fmt::format("{}", cqe.wr_id); };
  const auto held = [] { return true; };  // every number is given once
  Wave wave("cq_mux", "cq_mux: 0, 2, 4, 6 are the requestor's completions, 1, 3, 5 the responder's");
  wave.words(
      "tx head", [&] { return b.tx.valid() ? number(b.tx.head()) : std::string(); }, held);
  wave.head("rx head", b.rx, number);
  wave.words(
      "cqe", [&] { return b.block.cqe_valid() ? number(b.block.cqe()) : std::string(); }, held);
  wave.bit("cqe_ready", willing);
  for (unsigned i = 0; i < 13; ++i) {
    wave.sample();
    b.host.taken.pace = willing() ? Pace::always() : Pace::never();
    b.cycle();
  }
  CHECK(b.host.taken.words.size() == 7);
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::cq_mux_test

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/tx_fetch.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <vector>

#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::tx_fetch_test {
namespace {

/// tx_fetch alone: one feed per plane. A request's address is its number within its plane.
struct Bench : BlockBench<Bench> {
  Preset preset;
  std::vector<Stream<Rdreq>> lanes;
  TxFetch block;
  std::vector<Feed<Rdreq>> feeds;
  Pin<Rdreq> host;

  explicit Bench(const char* name = "asic800")
      : preset(*find_preset(name)),
        lanes(preset.num_planes, Stream<Rdreq>()),
        block(preset, pointers()),
        feeds(preset.num_planes) {}

  void req(unsigned plane, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      feeds[plane].words.push_back({.addr = next[plane]++, .len = 64, .plane = static_cast<uint8_t>(plane)});
    }
  }
  void cycle() {
    host.look(block.rdreq().valid(), block.rdreq().data(), cycles);
    for (std::size_t p = 0; p < lanes.size(); ++p) feeds[p].into(lanes[p]);
    block.step(host.ready);
    block.clock();
    for (auto& lane : lanes) lane.clock();
    ++cycles;
  }
  std::vector<unsigned> planes() const {
    std::vector<unsigned> list;
    for (const Rdreq& r : host.taken.words) list.push_back(r.plane);
    return list;
  }

 private:
  std::vector<Stream<Rdreq>*> pointers() {
    std::vector<Stream<Rdreq>*> list;
    for (auto& lane : lanes) list.push_back(&lane);
    return list;
  }
  unsigned next[kMaxPlanes] = {};
};

using Planes = std::vector<unsigned>;

}  // namespace

TEST_CASE("tx_fetch: a request goes out as it came, in the cycle after it was granted", "[pipeline][tx_fetch]") {
  Bench b;
  b.feeds[5].words.push_back({.addr = 0x123456789abcdef0, .len = 17, .plane = 5});
  b.run(6);
  REQUIRE(b.host.taken.words.size() == 1);
  CHECK(b.host.taken.words[0] == Rdreq{.addr = 0x123456789abcdef0, .len = 17, .plane = 5});
  CHECK(b.host.taken.at[0] == 3);  // lane's register in 1, head in 2, output in 3
}

TEST_CASE("tx_fetch: a single plane gets every cycle", "[pipeline][tx_fetch]") {
  Bench b;
  b.req(3, 20);
  b.run(24);
  REQUIRE(b.host.taken.words.size() == 20);
  for (unsigned i = 0; i < 20; ++i) {
    CHECK(b.host.taken.words[i].addr == i);
    CHECK(b.host.taken.at[i] == b.host.taken.at[0] + i);
  }
}

TEST_CASE("tx_fetch: planes take turns, from plane 0 after reset, one request per cycle", "[pipeline][tx_fetch]") {
  Bench b("tiny");
  b.req(0, 6);
  b.req(1, 6);
  b.run(18);
  CHECK(b.planes() == Planes{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
  for (unsigned i = 0; i < 12; ++i) CHECK(b.host.taken.at[i] == b.host.taken.at[0] + i);
}

TEST_CASE("tx_fetch: the turn goes on from the plane that was granted last", "[pipeline][tx_fetch]") {
  Bench b;
  b.req(6, 1);
  b.run(6);
  for (const unsigned plane : {2u, 5u, 6u, 7u}) b.req(plane, 1);
  b.run(10);
  CHECK(b.planes() == Planes{6, 7, 2, 5, 6});
}

TEST_CASE("tx_fetch: while the host takes nothing, the request stays and no other plane is popped",
          "[pipeline][tx_fetch]") {
  Bench b("tiny");
  b.host.taken.pace = Pace::never();
  b.req(0, 5);
  b.req(1, 5);
  b.run(20);  // Pin::look checks that the output does not move
  CHECK(b.block.rdreq().valid());
  CHECK(b.block.rdreq().data() == Rdreq{.addr = 0, .len = 64, .plane = 0});
  CHECK(b.lanes[0].count() == 2);
  CHECK(b.lanes[1].count() == 2);
  CHECK(b.feeds[0].words.size() == 1);  // 1 at the host, 2 in the FIFO, 1 in the lane's register
  CHECK(b.feeds[1].words.size() == 2);
  b.host.taken.pace = Pace::always();
  b.run(14);
  CHECK(b.planes() == Planes{0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
}

TEST_CASE("tx_fetch: at any pace each plane's requests leave once and in their order", "[pipeline][tx_fetch]") {
  const uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  Bench b;
  b.host.taken.pace = Pace::random(0.6, seed);
  for (unsigned p = 0; p < 8; ++p) {
    b.feeds[p].pace = Pace::random(0.05 + 0.1 * p, seed + 10 * p + 1);
    b.req(p, 100);
  }
  b.run_until([&] { return b.host.taken.words.size() == 800; });
  unsigned next[kMaxPlanes] = {};
  for (const Rdreq& r : b.host.taken.words) CHECK(r.addr == next[r.plane]++);
  b.run(20);
  CHECK(b.host.taken.words.size() == 800);
}

TEST_CASE("tx_fetch: a plane with a request waits for one of each other plane at most", "[pipeline][tx_fetch]") {
  Bench b;
  b.host.taken.pace = Pace::one_in(3);
  for (unsigned p = 0; p < 8; ++p) b.req(p, 40);
  b.run_until([&] { return b.host.taken.words.size() == 320; });
  const Planes planes = b.planes();
  for (std::size_t i = 0; i + 8 <= planes.size(); ++i) {
    Planes window(planes.begin() + static_cast<std::ptrdiff_t>(i), planes.begin() + static_cast<std::ptrdiff_t>(i + 8));
    std::sort(window.begin(), window.end());
    CHECK(window == Planes{0, 1, 2, 3, 4, 5, 6, 7});
  }
}

TEST_CASE("the waves of tx_fetch.md: two planes in turn, the host waits", "[pipeline][tx_fetch][waves]") {
  Bench b("tiny");
  b.req(0, 3);
  b.req(1, 3);
  const auto willing = [&b] { return b.cycles != 4; };
  const auto name = [](const Rdreq& r) { return fmt::format("{}.{}", r.plane, r.addr); };
  Wave wave("tx_fetch", "tx_fetch: requests as plane.number");
  for (unsigned p = 0; p < 2; ++p) wave.head(fmt::format("rdreq[{}] head", p), b.lanes[p], name);
  wave.words(
      "rdreq", [&] { return b.block.rdreq().valid() ? name(b.block.rdreq().data()) : std::string(); },
      [] { return true; });
  wave.bit("host_rd_ready", willing);
  for (unsigned i = 0; i < 11; ++i) {
    wave.sample();
    b.host.taken.pace = willing() ? Pace::always() : Pace::never();
    b.cycle();
  }
  CHECK(b.planes() == Planes{0, 1, 0, 1, 0, 1});
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::tx_fetch_test

// SPDX-License-Identifier: Apache-2.0
/// endpoint: which destinations are visited for an update, when, and how far apart two updates are.
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <vector>

#include "tests/pipeline/ctl/endpoint_bench.hpp"

namespace mrc::test::endpoint_visit_test {

using namespace endpoint_bench;

constexpr unsigned kTick = 128;  // cycles

/// tiny with as many QPs as destinations.
Preset wide(unsigned number) {
  Preset p = many_dests(number);
  p.num_qps = number;
  return p;
}

/// Notes in which cycle which destination was sent an update.
struct Visits : Bench {
  std::map<unsigned, std::vector<unsigned>> at;  ///< by destination: cycles in which its updates left
  std::vector<unsigned> order;
  unsigned dest_bits;

  explicit Visits(unsigned dests) : Bench(wide(dests)), dest_bits(ep_update_dest_bits(dests)) {}
  /// Destinations 0 to n-1 become valid; then all waits for a first update are over.
  void all(unsigned n) {
    for (unsigned d = 0; d < n; ++d) set_up(d, d);
    while (cycles < 40 * kTick) cycle();
  }
  void cycle() {
    const std::size_t before = sent.size();
    Bench::cycle();
    for (std::size_t i = before; i < sent.size(); ++i) {
      const unsigned dest = sent[i].psn & ((1u << dest_bits) - 1);
      at[dest].push_back(cycles);
      order.push_back(dest);
    }
  }
  void run(unsigned n) {
    for (unsigned i = 0; i < n; ++i) cycle();
  }
  /// The newest update to a destination is answered.
  void answered(unsigned dest) {
    uint16_t id = 0;
    for (const Ctlpkt& c : sent) {
      if ((c.psn & ((1u << dest_bits) - 1)) == dest) id = static_cast<uint16_t>(c.psn);
    }
    eprx.load({.resp = true, .id = id});
    run(6);
  }
};

TEST_CASE("updates to a destination are two ticks apart, with 4096 destinations 32", "[endpoint][visit]") {
  CHECK(ep_update_gap(ep_update_dest_bits(4)) == 2);
  CHECK(ep_update_gap(ep_update_dest_bits(256)) == 2);
  CHECK(ep_update_gap(ep_update_dest_bits(4096)) == 32);
  for (const unsigned dests : {4u, 4096u}) {
    CAPTURE(dests);
    const unsigned gap = ep_update_gap(ep_update_dest_bits(dests));
    Visits b(dests);
    b.csr.ep_interval = 0;  // each update waits for nothing but that
    b.set_up(0, 1);
    b.run(40 * kTick - b.cycles);
    b.sent_tick.clear();
    for (unsigned i = 0; i < 10 * gap * kTick; ++i) {
      if (i % 5 == 0) b.up ^= 2;  // and the port changes all the time
      b.cycle();
    }
    REQUIRE(b.sent_tick.size() >= 9);
    for (std::size_t i = 1; i < b.sent_tick.size(); ++i) {
      CHECK(b.sent_tick[i] - b.sent_tick[i - 1] >= gap);
      CHECK(b.sent_tick[i] - b.sent_tick[i - 1] <= gap + 1);
    }
    // All numbers of a destination together last 128 ticks.
    CHECK((0x4000u >> b.dest_bits) * gap == 128);
  }
}

TEST_CASE("an update after 2^32 ticks waits for two ticks", "[endpoint][visit]") {
  Visits b(4);
  b.all(1);
  b.up = 1;
  b.run(40);
  REQUIRE(b.order.size() == 1);
  b.answered(0);
  b.tick0 = 0u - b.cycles / kTick + b.sent_tick[0];  // the tick in which that left is now again
  b.up = 3;
  b.run(kTick);
  CHECK(b.order.size() == 1);
  b.run(kTick + 32);
  CHECK(b.order.size() == 2);
}

TEST_CASE("all destinations are due, and each is visited once in a round", "[endpoint][visit]") {
  Visits b(16);
  b.csr.port_wait = true;  // nothing hurries
  b.csr.ep_interval = 40;
  b.all(16);
  b.up = 1;
  const unsigned from = b.cycles;
  b.run(16 * 16 + 20);
  REQUIRE(b.order.size() == 16);
  for (unsigned d = 0; d < 16; ++d) {
    REQUIRE(b.at[d].size() == 1);
    CHECK(b.at[d][0] - from <= 16 * (d + 2));  // in the order in which they came
    if (d > 1) CHECK(b.at[d][0] - b.at[d - 1][0] == 16);
  }
  for (unsigned round = 2; round < 5; ++round) {
    b.run(40 * kTick + 2 * 16 * 16);
    REQUIRE(b.order.size() == 16 * round);
    for (unsigned d = 0; d < 16; ++d) {
      REQUIRE(b.at[d].size() == round);
      const unsigned apart = b.at[d][round - 1] - b.at[d][round - 2];
      CHECK(apart > 39 * kTick);
      CHECK(apart <= 40 * kTick + 2 * 16 * 16 + 2);  // 32 cycles for each in the queue
    }
  }
}

TEST_CASE("who is owed nothing is visited no more", "[endpoint][visit]") {
  // One of 4096 waits for an answer: it is as if there were no other.
  Visits b(4096);
  b.csr.ep_interval = 64;
  b.all(300);
  b.up = 1;
  b.run(700);
  REQUIRE(b.order.size() == 300);
  for (unsigned d = 0; d < 300; ++d) {
    if (d == 7) continue;
    if (d == 9) {
      b.configure(CfgTable::QpCtx, 9, csr::TblQpCtx{.state = QpState::Reset});  // it goes
    } else {
      b.answered(d);
    }
  }
  const auto apart = [&b](unsigned cycles) {
    const unsigned before = b.at[7].back();
    b.run(cycles);
    return b.at[7].back() - before;
  };
  apart(300 * 16 * 2);  // a round of all that were in the queue
  for (unsigned i = 0; i < 3; ++i) {
    const std::size_t n = b.at[7].size();
    while (b.at[7].size() == n) b.cycle();
    const std::vector<unsigned>& at = b.at[7];
    CHECK(at[n] - at[n - 1] > 63 * kTick);
    if (i != 0) CHECK(at[n] - at[n - 1] <= 64 * kTick + 34);
  }
  for (const auto& [dest, at] : b.at) CHECK((dest == 7 || at.size() == 1));
  // EP_CTL.repeats: given up likewise; then nobody is visited, and one who comes is at once.
  b.csr.ep_repeats = 0;
  b.run(70 * kTick);
  const std::size_t n = b.order.size();
  b.run(200 * kTick);
  CHECK(b.order.size() == n);
  b.set_up(1000, 1000);
  b.run(8);
  CHECK(b.order.size() == n + 1);
}

TEST_CASE("a destination that goes while all are visited costs nobody the turn", "[endpoint][visit]") {
  for (unsigned first = 0; first < 2; ++first) {  // the walk begins at place 0, or in the middle
    for (unsigned gone = 0; gone < 8; ++gone) {   // who goes
      for (unsigned at = 1; at < 24; at += 2) {   // and when
        CAPTURE(first, gone, at);
        Visits b(8);
        b.csr.ep_interval = 1000;
        b.all(8);
        if (first != 0) {
          b.up = 1;
          b.run(7);  // three are visited
          b.up = 3;  // and all anew
        } else {
          b.up = 1;
        }
        b.cfg = {};
        b.run(at);
        csr::TblQpCtx row{.state = QpState::Reset};
        b.configure(CfgTable::QpCtx, gone, row);
        b.run(6 * kTick);
        const unsigned now = ep_mask_of_planes(b.up, false);
        std::map<unsigned, unsigned> masks;
        for (const Ctlpkt& c : b.sent) masks[c.psn & 0xff] = mask(c);
        for (unsigned d = 0; d < 8; ++d) {
          if (d == gone) continue;
          CAPTURE(d);
          REQUIRE(masks.contains(d));
          CHECK(masks[d] == now);
          CHECK(b.at[d].size() <= 1 + first);
        }
        // The places are right still: another change reaches all seven.
        b.order.clear();
        b.up ^= 1;
        b.up |= 2;
        b.run(40);
        CHECK(b.order.size() == 7);
      }
    }
  }
}

TEST_CASE("a destination that comes while all are visited costs nobody the turn", "[endpoint][visit]") {
  for (unsigned skip = 0; skip < 3; ++skip) {  // places that an earlier walk has gone on
    for (unsigned at = 1; at < 24; ++at) {
      CAPTURE(skip, at);
      Visits b(16);
      b.csr.ep_interval = 1000;
      b.all(7);
      if (skip != 0) {
        b.up = 1;
        b.run(1 + 2 * skip);
      }
      b.up = 2;
      b.run(at);
      b.set_up(9, 9);
      b.run(3 * kTick);
      std::map<unsigned, unsigned> masks;
      for (const Ctlpkt& c : b.sent) masks[c.psn & 0xff] = mask(c);
      CHECK(masks.size() == 8);
      for (const auto& [dest, m] : masks) CHECK(m == ep_mask_of_planes(2, false));
      CHECK(b.at[9].size() == 1);
    }
  }
}

TEST_CASE("ports that change without end leave no destination out", "[endpoint][visit]") {
  for (const unsigned each : {1u, 2u, 5u, 7u, 31u}) {
    CAPTURE(each);
    Visits b(16);
    b.all(16);
    for (unsigned i = 0; i < 20 * kTick; ++i) {
      if (i % each == 0) b.up ^= 1;
      b.up |= 2;
      b.cycle();
    }
    CHECK(b.at.size() == 16);
    for (const auto& [dest, at] : b.at) CHECK(at.size() >= 7);
  }
}

}  // namespace mrc::test::endpoint_visit_test

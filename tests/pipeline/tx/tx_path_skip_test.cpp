// SPDX-License-Identifier: Apache-2.0
// How long an EV is in SKIP: turns.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <set>
#include <vector>

#include "tests/pipeline/tx/tx_path_bench.hpp"

namespace mrc::test::tx_path_skip_test {

using namespace mrc::test::tx_path;

namespace {

/// tiny, whose turns are `skip_ticks` ticks long; a test moves the tick. Turn 0 begins at tick 0.
struct Turns : Bench {
  explicit Turns(uint16_t skip_ticks = 10, SkipMode mode = SkipMode::RoundTrip) {
    csr.skip_mode = mode;
    csr.skip_ticks = skip_ticks;
    cycle();
  }
  void tick_to(uint32_t tick) {
    while (csr.tick != tick) {
      ++csr.tick;
      cycle();
    }
    cycle();  // the turn of this tick is there
  }
  void mark(uint16_t ev) { feed_back(ev, 0xA010u + ev); }
  void mark_all() {
    for (uint16_t ev = 0; ev < 16; ++ev) mark(ev);
  }
  /// EVs that the next n packets get.
  Evs next(unsigned n) {
    Evs evs;
    for (unsigned i = 0; i < n; ++i) evs.insert(send_one());
    return evs;
  }
};

}  // namespace

TEST_CASE("tx_path: an EV marked in a turn is skipped for a whole turn at least, and comes back",
          "[pipeline][tx_path]") {
  // Marked at a tick of turn 0, 1 or 2 that is 10 long: due from the beginning of the turn after the next one to its
  // end, and once in three turns from then on.
  for (uint32_t begin = 0; begin < 60; begin += 10) {
    for (const uint32_t at : {begin, begin + 5, begin + 9}) {
      CAPTURE(begin, at);
      Turns b;
      b.tick_to(at);
      b.mark(2);
      b.mark(2);  // nothing accumulates
      CHECK(b.skips == 1);
      CHECK(b.next(45).count(2) == 0);  // three passes
      b.tick_to(begin + 10);
      CHECK(b.next(45).count(2) == 0);
      b.tick_to(begin + 19);
      CHECK(b.next(45).count(2) == 0);
      b.tick_to(begin + 20);  // due: the walk that meets it restores it
      CHECK(b.next(45).count(2) == 1);
      CHECK(b.nopaths == 0);
      b.mark(2);
      CHECK(b.next(45).count(2) == 0);
    }
  }
  Turns b;
  b.mark(2);
  b.tick_to(30);  // no packet met it while it was due
  CHECK(b.next(45).count(2) == 0);
  b.tick_to(40);
  CHECK(b.next(45).count(2) == 0);
  b.tick_to(50);
  CHECK(b.next(45).count(2) == 1);
}

TEST_CASE("tx_path: a turn is skip_ticks long, over the wrap of 16 bits of the ticks", "[pipeline][tx_path]") {
  Turns b(0x8000);
  const auto jump = [&](uint32_t tick) {
    b.csr.tick = tick;
    for (int i = 0; i < 2; ++i) b.cycle();
  };
  jump(0x7fff);
  b.mark(2);  // turn 0
  jump(0x8000);
  b.mark(0);  // turn 1
  jump(0xffff);
  CHECK(b.next(45).count(2) == 0);
  jump(0x1'0000);  // turn 2
  Evs evs = b.next(45);
  CHECK((evs.count(2) == 1 && evs.count(0) == 0));
  b.mark(4);
  jump(0x1'7fff);
  CHECK(b.next(45).count(0) == 0);
  jump(0x1'8000);  // turn 0
  evs = b.next(45);
  CHECK((evs.count(0) == 1 && evs.count(4) == 0));
  jump(0x2'0000);  // turn 1
  CHECK(b.next(45).count(4) == 1);
}

TEST_CASE("tx_path: with every EV in SKIP and none due a packet still leaves", "[pipeline][tx_path]") {
  Turns b;
  b.mark_all();
  CHECK(b.skips == 16);
  // Order of the first pass: 3 2 1 0 7 6 5 4 ... The first that the walk passes over is used, and stays in SKIP. It has
  // seen the whole of the pass, which ends with group 6; the next one begins with the key 1.
  CHECK(b.send_one() == 3);
  CHECK(b.next(40).size() > 1);
  CHECK(b.nopaths == 0);
  CHECK(b.got.size() == 41);
  b.mark_all();
  CHECK(b.skips == 16);  // all are where they were
  // A lane without room, and a plane that is down.
  b.room = 0;
  b.send();
  for (int i = 0; i < 60; ++i) b.cycle();
  CHECK(b.got.size() == 41);
  b.room = 3;
  for (int i = 0; i < 5; ++i) b.cycle();
  CHECK(b.got.size() == 42);
  for (const unsigned plane : {0u, 1u}) {
    b.up = 1u << plane;
    for (const unsigned ev : b.next(20)) CHECK(ev % 2 == plane);
  }
  b.up = 3;
  // A GOOD one goes first, wherever it is; a retransmission that must not use it takes it before one in SKIP.
  for (unsigned ev = 0; ev < 16; ++ev) {
    CAPTURE(ev);
    b.deny(ev);
    b.deny(ev, false);
    CHECK(b.next(5) == Evs{ev});
    CHECK(b.send_one(true, static_cast<uint16_t>(ev)) == ev);
    CHECK(b.send_one(true, static_cast<uint16_t>(ev ^ 1)) == ev);
    b.mark(static_cast<uint16_t>(ev));
  }
  CHECK(b.send_one(true, 3) < 16);
  CHECK(b.nopaths == 0);
  for (unsigned ev = 0; ev < 16; ++ev) b.deny(ev);
  b.no_path();
}

TEST_CASE("tx_path: where no EV is in use a bad one serves, after one in SKIP, never one that is denied",
          "[pipeline][tx_path][nopath][A-90]") {
  Turns b;
  b.csr.ev_min_active = 0;
  b.up = 1;
  for (uint16_t ev = 0; ev < 16; ev += 2) b.lose(ev);  // all of plane 0
  REQUIRE(b.bads == 8);
  SECTION("each bad one in its turn") {
    const Evs evs = b.next(40);
    CHECK(evs.size() == 8);
    for (const unsigned ev : evs) CHECK(ev % 2 == 0);
    CHECK(b.send_one(true, 4) % 2 == 0);
    CHECK(b.nopaths == 0);
  }
  SECTION("not while another one may be used, wherever it is") {
    for (unsigned ev = 0; ev < 16; ev += 2) {
      CAPTURE(ev);
      b.revive(static_cast<uint16_t>(ev), false);
      CHECK(b.next(5) == Evs{ev});
      CHECK(b.send_one(true, static_cast<uint16_t>(ev)) == ev);
      b.mark(static_cast<uint16_t>(ev));  // and not due for long
      CHECK(b.next(5) == Evs{ev});
      b.lose(static_cast<uint16_t>(ev));
    }
  }
  SECTION("a plane that is down has none") {
    b.up = 0;
    b.no_path();
    b.up = 2;  // all are GOOD there
    for (const unsigned ev : b.next(20)) CHECK(ev % 2 == 1);
  }
  SECTION("one that is denied carries nothing") {
    for (unsigned ev = 0; ev < 16; ev += 2) b.deny(ev);
    b.no_path();
  }
  SECTION("EV_CTL.bad_waits") {
    b.csr.bad_waits = true;
    b.no_path();
  }
  SECTION("a copy does without") {
    b.up = 3;
    b.csr.ev_min_active = 0;
    for (uint16_t ev = 1; ev < 16; ev += 2) b.lose(ev);
    const std::size_t paths = b.got.size();
    Pkt p{.qp = 2, .rtx = true, .avoid_ev = 3, .lost = true, .two = true};
    b.pkt.load(p);
    for (int i = 0; i < 100; ++i) b.cycle();
    CHECK(b.got.size() == paths + 1);
  }
}

TEST_CASE("tx_path: the EV to spare of a packet whose plane falls during the walk is not waited for",
          "[pipeline][tx_path][nopath]") {
  Turns b;
  b.deny_all();
  b.deny(3, false);
  b.mark(3);
  const std::size_t paths = b.got.size();
  b.send();
  for (int i = 0; i < 8; ++i) b.cycle();  // passed over in the first group
  b.up = 1;
  for (int i = 0; i < 20; ++i) b.cycle();
  CHECK(b.nopaths == 1);
  CHECK(b.got.size() == paths);
  b.up = 3;
  CHECK(b.next(5) == Evs{3});
}

TEST_CASE("tx_path: states of SKIP are read by the mode of now", "[pipeline][tx_path]") {
  // Marked in the turns 0, 1, 2: SKIP, SKIP2, SKIP3.
  const auto marked = [](Turns& b) {
    b.mark(0);
    b.tick_to(10);
    b.mark(2);
    b.tick_to(20);
    b.mark(4);
  };
  SECTION("skipped once") {
    Turns b;
    marked(b);
    b.csr.skip_mode = SkipMode::Pass;
    b.mark(4);
    b.mark(2);
    CHECK(b.skips == 3);
    Evs evs = b.next(13);  // a pass without the three
    CHECK((evs.size() == 13 && evs.count(0) + evs.count(2) + evs.count(4) == 0));
    evs = b.next(15);  // SKIP2 counts as one more
    CHECK((evs.size() == 15 && evs.count(2) == 0));
    CHECK(b.pass(16).size() == 16);
  }
  SECTION("once more after a second mark") {
    Turns b;
    marked(b);
    b.csr.skip_mode = SkipMode::Twice;
    b.mark(4);  // SKIP3 is SKIP: its second mark
    CHECK(b.skips == 4);
    b.mark(4);
    CHECK(b.skips == 4);
    CHECK(b.next(13).size() == 13);
    Evs evs = b.next(14);
    CHECK((evs.size() == 14 && evs.count(0) == 1 && evs.count(2) + evs.count(4) == 0));
    CHECK(b.pass(16).size() == 16);
  }
  SECTION("for a round trip") {
    Turns b(10, SkipMode::Twice);
    b.mark(0);
    b.mark(2);
    b.mark(2);
    CHECK(b.skips == 3);
    b.csr.skip_mode = static_cast<SkipMode>(GENERATE(2, 3));
    Evs evs = b.next(45);  // in turn 0 SKIP2 is due, as of the turn 1 before
    CHECK((evs.count(0) == 0 && evs.count(2) == 1));
    b.tick_to(10);
    CHECK(b.next(45).count(0) == 0);
    b.tick_to(20);  // SKIP is of turn 0
    CHECK(b.next(45).count(0) == 1);
  }
  SECTION("another length") {
    Turns b(1000);
    b.mark(2);
    b.tick_to(20);
    CHECK(b.next(45).count(2) == 0);
    b.csr.skip_ticks = 10;  // the turn of now is 20 ticks old
    b.tick_to(21);
    CHECK(b.next(45).count(2) == 0);  // turn 1
    b.tick_to(31);
    CHECK(b.next(45).count(2) == 1);
  }
}

TEST_CASE("tx_path: probes revive to SKIP of the turn of now; such an EV counts as one in use", "[pipeline][tx_path]") {
  for (const uint32_t begin : {0u, 10u, 20u}) {
    CAPTURE(begin);
    Turns b;
    b.csr.ev_min_active = 15;
    b.tick_to(begin);
    b.lose(2);
    CHECK(b.bads == 1);
    b.lose(4);
    CHECK(b.floors == 1);
    b.revive(2, true);
    CHECK(b.next(45).count(2) == 0);
    b.lose(4);  // 16 in use
    CHECK(b.bads == 2);
    b.tick_to(begin + 10);
    CHECK(b.next(45).count(2) == 0);
    b.tick_to(begin + 20);
    CHECK(b.next(45).count(2) == 1);
  }
}

}  // namespace mrc::test::tx_path_skip_test

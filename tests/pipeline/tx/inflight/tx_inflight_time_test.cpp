// SPDX-License-Identifier: Apache-2.0
// Losses by time: by hand. A round trip of 20 ticks makes a packet late that was sent 16 before.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <vector>

#include "tests/pipeline/tx/inflight/tx_inflight_bench.hpp"

namespace mrc::test::tx_inflight_time_test {

using namespace mrc::inflight_test;

namespace {

/// QPs with time stamps; no gap and no EV finds a loss.
struct TimeBench : Bench {
  explicit TimeBench(bool with_cc = false) : Bench(with_cc) {
    csr.reorder = 64;
    ctx.ts = true;
    for (uint16_t q = 0; q < 4; ++q) configure(q);
  }
  /// A tick begins, and what comes next falls into it.
  void at(unsigned tick) {
    align();
    tick0 = tick - cycles / 128;
  }
  /// QP 1 sends packet i at a tick.
  void sent_at(unsigned tick, unsigned i) {
    at(tick);
    sent(1, i);
    run(8);
  }
  /// A SACK of QP 1 for what was sent at `stamp` comes `took` ticks later.
  void answer_at(Ctl sack, unsigned stamp, unsigned took) {
    at(stamp + took);
    sack.ts = static_cast<uint16_t>(stamp);
    give(sack);
  }
  /// Packet `psn` has arrived, no other one.
  void arrived(unsigned psn, unsigned stamp, unsigned took) {
    answer_at(sack_of(1, 0, psn, 0, uint64_t{1} << psn, 1), stamp, took);
  }
  void nacked(unsigned i, wire::NackReason reason, unsigned stamp, unsigned took) {
    Ctl n;
    n.kind = CtlKind::Nack;
    n.qp = 1;
    n.psn = psn_add(kPsn, i);
    n.reason = static_cast<uint8_t>(reason);
    answer_at(n, stamp, took);
  }
  /// Numbers of the packets that were ordered, in turn.
  std::vector<unsigned> ordered() const {
    std::vector<unsigned> all;
    for (const Retx& r : retx) all.push_back(psn_dist(r.psn, kPsn));
    return all;
  }
};
using Psns = std::vector<unsigned>;

}  // namespace

TEST_CASE("tx_inflight: the first SACK that tells time judges by its own round trip",
          "[pipeline][tx_inflight][time-loss][A-83]") {
  const bool cc = GENERATE(false, true);
  const unsigned first = GENERATE(1000u, 1001u);
  TimeBench b(cc);
  b.sent_at(first, 0);
  b.sent_at(1015, 1);
  b.sent_at(1016, 2);
  b.ccev.clear();
  b.arrived(2, 1016, 20);  // three quarters of 20 are 15: what was sent before 1016 - 15 is late
  b.run(100);
  if (first == 1001) {
    CHECK(b.retx.empty());
    return;
  }
  CHECK(b.ordered() == Psns{0});
  REQUIRE(b.fb.size() == 1);  // as of a gap
  CHECK(b.fb[0] == Fb{.qp = 1, .ev_idx = 0, .entropy = 0, .kind = FbKind::Loss});
  CHECK(b.rto_inc == 0);
  if (!cc) return;
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 2, .kind = CcEvent::Loss, .bytes = 340});
}

TEST_CASE("tx_inflight: the longest round trip of late says how late a packet may be",
          "[pipeline][tx_inflight][time-loss][A-83]") {
  const unsigned first = GENERATE(1069u, 1070u);
  TimeBench b;
  b.sent_at(1000, 0);
  b.arrived(0, 1000, 40);
  for (unsigned i = 1; i < 3; ++i) b.sent_at(first, i);
  b.sent_at(1100, 3);
  b.arrived(3, 1100, 20);  // 40 without a quarter: before 1070
  b.run(100);
  CHECK(b.ordered() == (first == 1069 ? Psns{1, 2} : Psns{}));
}

TEST_CASE("tx_inflight: a round trip of 1023 ticks tells nothing by time", "[pipeline][tx_inflight][time-loss][A-83]") {
  const unsigned took = GENERATE(1022u, 1023u, 1024u, 70000u);  // 1022 without a quarter is 767; 70000 is 4464
  TimeBench b;
  b.sent_at(3000, 0);
  b.sent_at(3000 + 768, 1);
  b.arrived(1, 3000 + 768, took);
  b.run(100);
  CHECK(b.ordered() == (took == 1022 ? Psns{0} : Psns{}));
  if (took < 1023) return;
  const unsigned then = 4000 + took;
  b.sent_at(then, 2);
  b.sent_at(then + 800, 3);
  b.arrived(3, then + 800, 20);  // 1023 still
  b.run(100);
  CHECK(b.retx.empty());
  b.sent_at(then + 1600, 4);
  b.arrived(4, then + 1600, 20);  // 1023 less a 256th, rounded up, are 1020: 765
  b.run(100);
  const Psns late = b.ordered();
  CHECK(std::count(late.begin(), late.end(), 2u) == 1);
}

TEST_CASE("tx_inflight: what was sent half of a stamp's range before looks new",
          "[pipeline][tx_inflight][time-loss][A-83]") {
  const unsigned later = GENERATE(16u + 2047u, 16u + 2048u, 16u + 4095u, 16u + 4096u);
  TimeBench b;
  b.sent_at(3000, 0);
  b.sent_at(3000 + later, 1);
  b.arrived(1, 3000 + later, 20);
  b.run(100);
  CHECK(b.ordered() == (later == 16 + 2047 || later == 16 + 4096 ? Psns{0} : Psns{}));
}

TEST_CASE("tx_inflight: what was sent after what a SACK answers is not old, however late the SACK",
          "[pipeline][tx_inflight][time-loss][A-83]") {
  const unsigned later = GENERATE(0u, 1u, 25u, 500u, 1021u);
  TimeBench b;
  b.sent_at(3000, 0);
  b.sent_at(3000 + later, 1);
  b.arrived(0, 3000, 1022);
  b.run(100);
  CHECK(b.retx.empty());
}

TEST_CASE("tx_inflight: what is recorded while a SACK is worked through is not old",
          "[pipeline][tx_inflight][time-loss][A-83]") {
  const unsigned after = GENERATE(range(0u, 16u));
  const unsigned old = GENERATE(5u, 15u, 16u);  // 16: the next one begins a block
  TimeBench b;
  b.at(1500);
  for (unsigned i = 0; i < old; ++i) b.sent(1, i);
  b.run(8);
  b.at(1520);
  Ctl c = Bench::sack_of(1, 0, 4, 0, 0b1'0000, 1);
  c.ts = 1500;
  b.ctl.load(c);
  b.run(after);
  b.sent(1, old);  // its row of `sent` has 0 still
  b.run(100);
  CHECK(b.retx.empty());
}

TEST_CASE("tx_inflight: una before the bitmap is looked at for itself", "[pipeline][tx_inflight][time-loss][A-83]") {
  const unsigned cack = GENERATE(0u, 1u);
  TimeBench b;
  b.at(1000);
  for (unsigned i = 0; i < 69; ++i) b.sent(1, i);
  b.run(8);
  b.sent_at(1026, 69);
  b.answer_at(Bench::sack_of(1, cack, 69, 64, 0b10'0000, 1), 1026, 20);
  b.run(400);
  CHECK(b.ordered() == Psns{cack, 64, 65, 66, 67, 68});
  // Its newest transmission is not old, and those that wait for their lanes are not either.
  b.answer_at(Bench::sack_of(1, cack, 69, 64, 0b10'0000, 1), 1026, 20);
  b.run(400);
  CHECK(b.retx.size() == 6);
}

TEST_CASE("tx_inflight: a SACK from before what moved una does not look at una",
          "[pipeline][tx_inflight][time-loss][A-83]") {
  TimeBench b;
  b.at(1000);
  for (unsigned i = 0; i < 69; ++i) b.sent(1, i);
  b.run(8);
  Ctl moved = Bench::sack_of(1, 2, 0, 2, 0, 0);
  moved.pr = true;
  moved.psn = 0xffff;  // tells no time
  b.give(moved);
  b.sent_at(1026, 69);
  b.answer_at(Bench::sack_of(1, 1, 69, 66, 0b1000, 1), 1026, 20);
  b.run(400);
  CHECK(b.ordered() == Psns{66, 67, 68});
}

TEST_CASE("tx_inflight: what was sent again is lost by time, too", "[pipeline][tx_inflight][time-loss][A-83]") {
  const unsigned later = GENERATE(15u, 16u);
  TimeBench b;
  b.sent_at(1000, 0);
  b.sent_at(1030, 1);
  b.arrived(1, 1030, 20);
  b.run(100);
  REQUIRE(b.ordered() == Psns{0});
  b.at(1060);
  b.resent(0, 3);
  b.sent_at(1060 + later, 2);
  b.arrived(2, 1060 + later, 20);
  b.run(100);
  CHECK(b.ordered() == (later == 16 ? Psns{0, 0} : Psns{0}));
}

TEST_CASE("tx_inflight: who loses every copy of a packet runs out of retries",
          "[pipeline][tx_inflight][time-loss][retry][A-35][A-83]") {
  const bool waits = GENERATE(false, true);
  TimeBench b;
  b.csr.time_wait = waits;
  b.retries(1, 0, 5);  // 256 ticks, steps of 64
  b.sent_at(1000, 0);
  std::size_t again = 0;
  for (unsigned i = 1; b.fail_inc == 0 && i < 40; ++i) {
    const unsigned stamp = 1000 + 40 * i;
    b.run_to_tick(stamp);
    b.sent(1, i);
    b.run_to_tick(stamp + 20);
    Ctl s = Bench::sack_of(1, 0, i, 0, (uint64_t{2} << i) - 2, 1);  // all but packet 0
    s.ts = static_cast<uint16_t>(stamp);
    b.give(s);
    b.run(60);
    while (again < b.retx.size()) b.resent(again++, 3);  // and is lost
  }
  const Psns all = b.ordered();
  CHECK(all == Psns(all.size(), 0));
  CHECK(b.rto_at == std::vector<unsigned>{waits ? 1256u : 1320u});
  CHECK(b.fail_at == std::vector<unsigned>{waits ? 1512u : 1576u});
  CHECK(all.size() == (waits ? 1 : 13));  // with time: at 1060, 1100 ... 1300, 1320, 1380 ... 1540
}

TEST_CASE("tx_inflight: the timer blames no EV of a copy", "[pipeline][tx_inflight][time-loss][A-07][A-83]") {
  const bool waits = GENERATE(false, true);
  TimeBench b;
  b.csr.time_wait = waits;
  b.retries(3, 0, 5);  // 256 ticks, steps of 64
  const auto blamed = [&] {
    return std::count_if(b.fb.begin(), b.fb.end(), [](const Fb& f) { return f.kind == FbKind::Loss; });
  };
  b.sent_at(1000, 0);
  b.sent_at(1040, 1);
  b.arrived(1, 1040, 20);  // at 1060: time tells of packet 0, or nobody does
  b.run(60);
  CHECK(blamed() == (waits ? 0 : 1));
  if (!waits) b.resent(0, 3);  // and is lost; nothing else is sent, so time tells no more
  b.run_to_tick(1330);
  CHECK(b.rto_at == std::vector<unsigned>{waits ? 1256u : 1320u});
  CHECK(b.ordered() == (waits ? Psns{0} : Psns{0, 0}));
  CHECK(blamed() == 1);  // the first transmission's EV: by the timer, or by time alone
}

TEST_CASE("tx_inflight: what was chosen to go again is as old as the choice",
          "[pipeline][tx_inflight][time-loss][A-83]") {
  const unsigned later = GENERATE(15u, 16u);
  TimeBench b;
  b.sent_at(1000, 0);
  b.nacked(0, wire::NackReason::NoPktBuffer, 1000, 20);
  REQUIRE(b.ordered() == Psns{0});  // and waits for its lane
  b.sent_at(1020 + later, 1);
  b.arrived(1, 1020 + later, 20);
  b.run(100);
  CHECK(b.ordered() == (later == 16 ? Psns{0, 0} : Psns{0}));
}

TEST_CASE("tx_inflight: two copies are asked for of what was lost, not of what was trimmed, nor soon after",
          "[pipeline][tx_inflight][time-loss][A-89]") {
  const bool cc = GENERATE(false, true);  // the order comes at once, or when the controller has answered
  const bool trimmed = GENERATE(false, true);
  TimeBench b(cc);
  for (unsigned i = 0; i < 3; ++i) b.sent_at(1000 + 20 * i, i);
  b.arrived(2, 1040, 20);  // the others were sent 40 and 20 ticks before
  REQUIRE(b.ordered() == Psns{0, 1});
  for (const Retx& r : b.retx) {
    CHECK(r.lost);
    CHECK(r.two);
  }
  b.retx.clear();
  b.sent_at(1100, 3);
  b.nacked(3, trimmed ? wire::NackReason::TrimmedLasthop : wire::NackReason::NoPktBuffer, 1100, 30);
  REQUIRE(b.ordered() == Psns{3});
  CHECK_FALSE(b.retx[0].lost);
  CHECK_FALSE(b.retx[0].two);
  b.retx.clear();
  b.sent_at(2000, 4);
  b.sent_at(2200, 5);
  b.answer_at(Bench::sack_of(1, 4, 5, 4, 0b10, 1), 2200, 20);  // 200 ticks are too much, with trip 240 too
  REQUIRE(b.ordered() == Psns{4});
  CHECK(b.retx[0].lost);
  CHECK(b.retx[0].two == !trimmed);
  b.retx.clear();
  b.sent_at(3000, 6);
  b.sent_at(3300, 7);
  b.answer_at(Bench::sack_of(1, 6, 7, 6, 0b10, 1), 3300, 300);  // as long as trip: queues are as they were
  b.sent_at(4000, 8);
  b.sent_at(4300, 9);
  b.answer_at(Bench::sack_of(1, 8, 9, 8, 0b10, 1), 4300, 20);
  REQUIRE(b.ordered() == Psns{6, 8});
  CHECK(b.retx[1].two);
}

TEST_CASE("tx_inflight: after a trim, a packet may be late by six round trips",
          "[pipeline][tx_inflight][time-loss][A-83]") {
  const auto [reason, spare] = GENERATE(table<wire::NackReason, unsigned>({{wire::NackReason::Trimmed, 180},
                                                                           {wire::NackReason::TrimmedLasthop, 180},
                                                                           {wire::NackReason::NoPktBuffer, 15}}));
  const unsigned late = GENERATE(0u, 1u);
  TimeBench b;
  b.sent_at(2000, 0);
  b.nacked(0, reason, 2000, 30);  // 8 x 30 ticks without a quarter
  b.sent_at(2100, 1);
  b.sent_at(2100 + spare + late, 2);
  b.answer_at(Bench::sack_of(1, 1, 2, 1, 0b10, 1), 2100 + spare + late, 20);
  b.run(100);
  CHECK(b.ordered() == (late != 0 ? Psns{0, 1} : Psns{0}));
}

TEST_CASE("tx_inflight: without time stamps, a packet that was sent once tells time",
          "[pipeline][tx_inflight][time-loss][A-83]") {
  TimeBench b;
  b.ctx.ts = false;
  b.configure(1);
  SECTION("by the round trips of before") {
    const unsigned later = GENERATE(15u, 16u);
    b.sent_at(1000, 0);
    b.sent_at(1040, 1);
    b.arrived(1, 1040, 20);  // the first one: nothing is known
    b.run(100);
    CHECK(b.retx.empty());
    b.sent_at(1080, 2);
    b.sent_at(1080 + later, 3);
    b.answer_at(Bench::sack_of(1, 0, 3, 0, 0b1010, 1), 1080 + later, 60);  // its own 60 ticks count from now on
    b.run(100);
    CHECK(b.ordered() == (later == 16 ? Psns{0, 2} : Psns{0}));
    b.sent_at(1300, 4);
    b.sent_at(1345, 5);
    b.answer_at(Bench::sack_of(1, 0, 5, 0, 0b10'1010, 1), 1345, 20);
    b.run(100);
    CHECK(b.ordered().back() != 4);  // within three quarters of 60
  }
  SECTION("not what was sent again") {
    b.sent_at(1000, 0);
    b.arrived(0, 1000, 20);
    b.sent_at(1100, 1);
    b.sent_at(1101, 2);
    b.nacked(2, wire::NackReason::NoPktBuffer, 1101, 10);
    REQUIRE(b.ordered() == Psns{2});
    b.at(1120);
    b.resent(0, 3);
    b.answer_at(Bench::sack_of(1, 1, 2, 1, 0b10, 1), 1120, 20);  // of which copy?
    b.run(100);
    CHECK(b.ordered() == Psns{2});
  }
  SECTION("nor what came back after 1023 ticks") {
    const unsigned took = GENERATE(1022u, 1023u);
    b.sent_at(3000, 0);
    b.arrived(0, 3000, 20);
    b.sent_at(3100, 1);
    b.sent_at(3120, 2);
    b.answer_at(Bench::sack_of(1, 1, 2, 1, 0b10, 1), 3120, took);
    b.run(100);
    CHECK(b.ordered() == (took == 1022 ? Psns{1} : Psns{}));
  }
  SECTION("nor what no block is there of") {
    b.at(1000);
    for (unsigned i = 0; i < 20; ++i) b.sent(1, i);
    b.run(8);
    b.answer_at(Bench::sack_of(1, 16, 15, 16, 0, 0), 1000, 20);
    b.run(100);
    b.sent_at(1100, 20);
    b.answer_at(Bench::sack_of(1, 17, 3, 17, 0b1000, 1), 1000, 120);  // psn 3 is over, its block given back
    b.run(100);
    CHECK(b.retx.empty());
  }
  SECTION("a trim makes it patient") {
    const unsigned later = GENERATE(180u, 181u);
    b.sent_at(2000, 0);
    b.nacked(0, wire::NackReason::Trimmed, 1234, 796);  // 30 ticks after it was sent
    b.sent_at(2100, 1);
    b.sent_at(2100 + later, 2);
    b.answer_at(Bench::sack_of(1, 1, 2, 1, 0b10, 1), 2100 + later, 20);
    b.run(100);
    CHECK(b.ordered() == (later == 181 ? Psns{0, 1} : Psns{0}));
  }
}

TEST_CASE("tx_inflight: SACKs that tell time answer a question, or a packet that has arrived",
          "[pipeline][tx_inflight][time-loss][A-83]") {
  struct Case {
    bool pr;
    uint32_t psn;  // of the window, or a probe's id
    unsigned cack;
    uint64_t bits;
    bool gives_time;
  };
  const Case c = GENERATE(values<Case>({{false, 3, 0, 0b1000, true},            // by the bitmap
                                        {false, 3, 0, 0b0100, false},           // its header alone
                                        {false, 0, 1, 0b0010, true},            // before una
                                        {false, 4, 0, 0b1000, false},           // not sent
                                        {true, 7, 0, 0b1000, true},             // a question
                                        {true, 0xffff, 0, 0b1000, false},       // told again
                                        {true, 0x1'ffff, 0, 0b1000, false}}));  // an id has 16 bits
  TimeBench b;
  for (unsigned i = 0; i < 3; ++i) b.sent_at(1000, i);
  b.sent_at(1026, 3);
  Ctl s = Bench::sack_of(1, c.cack, c.psn, c.cack, c.bits >> c.cack, 1);
  s.pr = c.pr;
  if (c.pr) s.psn = c.psn;
  b.answer_at(s, 1026, 20);
  b.run(200);
  CHECK(b.retx.empty() != c.gives_time);
}

TEST_CASE("tx_inflight: what an earlier SACK has reported has arrived", "[pipeline][tx_inflight][time-loss][A-83]") {
  const bool reported = GENERATE(false, true);
  TimeBench b;
  b.at(1000);
  for (unsigned i = 0; i < 66; ++i) b.sent(1, i);
  b.run(8);
  b.sent_at(1026, 66);
  if (reported) {
    Ctl s = Bench::sack_of(1, 0, 0, 64, 0b100, 1);
    s.pr = true;
    s.psn = 0xffff;  // tells no time
    b.give(s);
  }
  b.answer_at(Bench::sack_of(1, 0, 66, 0, 0, 1), 1026, 20);  // its bitmap ends at 63
  b.run(2000);
  CHECK(b.retx.size() == (reported ? 64 : 0));
}

TEST_CASE("tx_inflight: time stamps of 1.024 us tell the same, as of the earliest time that they may mean",
          "[pipeline][tx_inflight][time-loss][A-83]") {
  Ctl s = Bench::sack_of(1, 0, 1, 0, 0b10, 1);
  s.ts = 128;  // tick 1024 to 1031
  TimeBench b;
  b.csr.tsr_us = true;
  SECTION("the packet's age and its round trip") {
    const unsigned first = GENERATE(1006u, 1007u);
    b.sent_at(first, 0);
    b.sent_at(1030, 1);
    b.at(1046);
    b.give(s);  // 22 ticks, less 5; before 1024 - 17
    b.run(100);
    CHECK(b.ordered() == (first == 1006 ? Psns{0} : Psns{}));
  }
  SECTION("a round trip of less than a unit") {
    const unsigned took = GENERATE(4u, 5u, 6u, 7u);
    const unsigned later = GENERATE(0u, 1u);  // the spare: 3, 4, 5, 6
    b.sent_at(1024 - took + 1 - later, 0);
    b.sent_at(1024, 1);
    b.at(1024 + took);
    b.give(s);
    b.run(100);
    CHECK(b.ordered() == (later != 0 ? Psns{0} : Psns{}));
  }
  SECTION("the newest tick that the stamp may mean") {
    b.sent_at(1023, 0);
    b.sent_at(1031, 1);
    b.at(1036);
    b.give(s);  // 5 ticks in truth, 12 by the stamp
    b.run(100);
    CHECK(b.retx.empty());
  }
}

TEST_CASE("tx_inflight: a copy of what was reported before tells no time", "[pipeline][tx_inflight][time-loss][A-83]") {
  enum class Report { None, Bit, Una };
  const Report report = GENERATE(Report::None, Report::Bit, Report::Una);
  const bool again = GENERATE(false, true);  // otherwise the network made the copy
  CAPTURE(static_cast<int>(report), again);
  TimeBench b;
  b.at(1000);
  for (unsigned i = 0; i < 6; ++i) b.sent(1, i);
  b.run(8);
  Psns want;
  for (unsigned i = again ? 1 : 2; i < 6; ++i) {
    b.nacked(i, wire::NackReason::NoPktBuffer, 1000, 10);
    want.push_back(i);
  }
  REQUIRE(b.ordered() == want);
  const unsigned una = report == Report::Una ? 2 : 0;
  if (report != Report::None) {
    Ctl notified = Bench::sack_of(1, una, 1, una, report == Report::Bit ? 0b10 : 0, 1);
    notified.pr = true;
    notified.psn = 0xffff;  // tells no time
    b.give(notified);
  }
  b.at(1100);
  for (unsigned i = 2; i < 6; ++i) b.resent(i - want[0], 3);  // wait in a queue
  b.run(8);
  if (again) {
    b.at(1116);
    b.resent(0, 3);
  }
  // The copy is trimmed in that queue, its header overtakes, and the responder has the packet.
  b.answer_at(Bench::sack_of(1, una, 1, una, report == Report::Una ? 0 : 0b10, 1), 1116, 20);
  b.run(400);
  if (!again && una == 0) want.push_back(0);
  if (report == Report::None || !again) {
    for (unsigned i = 2; i < 6; ++i) want.push_back(i);
  }
  CHECK(b.ordered() == want);
}

TEST_CASE("tx_inflight: a copy tells of copies alone", "[pipeline][tx_inflight][time-loss][A-83]") {
  SECTION("by the bitmap") {
    TimeBench b;
    b.at(1000);
    for (unsigned i = 0; i < 4; ++i) b.sent(1, i);
    b.run(8);
    for (const unsigned i : {1u, 2u}) b.nacked(i, wire::NackReason::NoPktBuffer, 1000, 10);
    REQUIRE(b.ordered() == Psns{1, 2});
    b.at(1030);
    b.resent(0, 3);
    b.at(1046);
    b.resent(1, 3);
    b.arrived(2, 1046, 20);  // what was sent until 1030 is old: 0 and 3 were sent once
    b.run(100);
    CHECK(b.ordered() == Psns{1, 2, 1});
    b.sent_at(1080, 4);
    b.answer_at(Bench::sack_of(1, 0, 4, 0, 0b10100, 1), 1080, 20);  // it was sent once, and tells of all
    b.run(100);
    CHECK(b.ordered() == Psns{1, 2, 1, 0, 3});
  }
  SECTION("of una before the bitmap") {
    const bool una = GENERATE(false, true);  // it was sent again, too
    TimeBench b;
    b.at(1000);
    for (unsigned i = 0; i < 69; ++i) b.sent(1, i);
    b.run(8);
    Psns want;
    for (unsigned i = una ? 0 : 68; i < 69; i += 68) {
      b.nacked(i, wire::NackReason::NoPktBuffer, 1000, 10);
      want.push_back(i);
    }
    REQUIRE(b.ordered() == want);
    b.at(1010);
    if (una) b.resent(0, 3);
    b.at(1026);
    b.resent(want.size() - 1, 3);
    b.answer_at(Bench::sack_of(1, 0, 68, 64, 0b1'0000, 1), 1026, 20);
    b.run(400);
    if (una) want.push_back(0);
    CHECK(b.ordered() == want);
  }
}

TEST_CASE("tx_inflight: a copy of what was reported before tells time when its block is gone",
          "[pipeline][tx_inflight][time-loss][A-83]") {
  const unsigned una = GENERATE(15u, 16u);  // of 16 the first block is over
  const bool copy = GENERATE(false, true);  // of packet 16, of which it tells
  TimeBench b;
  b.at(1000);
  for (unsigned i = 0; i < 16; ++i) b.sent(1, i);
  b.run(8);
  b.nacked(1, wire::NackReason::NoPktBuffer, 1000, 10);
  REQUIRE(b.ordered() == Psns{1});
  if (copy) {
    b.sent_at(1050, 16);
    b.nacked(16, wire::NackReason::NoPktBuffer, 1050, 10);
    REQUIRE(b.ordered() == Psns{1, 16});
    b.at(1100);
    b.resent(1, 3);
  } else {
    b.sent_at(1100, 16);
  }
  Ctl notified = Bench::sack_of(1, una, 1, una, 0, 1);
  notified.pr = true;
  notified.psn = 0xffff;
  b.give(notified);
  b.at(1110);
  b.resent(0, 3);
  b.answer_at(Bench::sack_of(1, una, 1, una, 0, 1), 1116, 20);
  b.run(400);
  CHECK(b.ordered() == (!copy ? Psns{1} : una == 16 ? Psns{1, 16, 16} : Psns{1, 16}));
}

namespace {

/// QP 1 has no time stamps and knows a round trip of 20 ticks; its packets 0 to 9 have arrived, their ACK is missing.
/// While retx is taken, the timer orders the newest packet again, and 10 and 11 are sent at tick `sent`. So it is 11
/// that goes again for the ACK, and this copy leaves 17 ticks later.
struct CopyForAck : TimeBench {
  unsigned sent = 0;
  CopyForAck() {
    csr.state_silent = true;
    ctx.ts = false;
    ctx.timeout = 3;  // 64 ticks, steps of 16
    configure(1);
    for (unsigned i = 0; i < 10; ++i) Bench::sent(0, i);
    at(1000);
    for (unsigned i = 0; i < 10; ++i) Bench::sent(1, i);
    run(8);
    answer_at(sack_of(1, 10, 9, 10, 0, 0), 1000, 20);
    take_retx = false;
    for (unsigned i = 0; i < 6; ++i) nack(0, i, static_cast<uint8_t>(wire::NackReason::NoPktBuffer));
    while (rto_inc == 0) cycle();
    run(200);
    sent = tick();
    Bench::sent(1, 10);
    Bench::sent(1, 11);
    run(30);
    REQUIRE(tick() == sent);
    take_retx = true;
    run(400);
    std::size_t copy = 0;
    while (copy < retx.size() && retx[copy].qp != 1) ++copy;
    REQUIRE(of_qp() == Psns{11});
    run_to_tick(sent + 17);
    resent(copy, 5);
  }
  /// Packets of QP 1 that were ordered.
  Psns of_qp() const {
    Psns all;
    for (const Retx& r : retx) {
      if (r.qp == 1) all.push_back(psn_dist(r.psn, kPsn));
    }
    return all;
  }
};

}  // namespace

TEST_CASE("tx_inflight: without time stamps, what went again for its ACK tells no time",
          "[pipeline][tx_inflight][time-loss][A-83]") {
  CopyForAck b;
  SECTION("a SACK of the first copy") {
    b.run_to_tick(b.sent + 20);
    b.give(Bench::sack_of(1, 10, 11, 10, 0b10, 1));  // 3 ticks after the second one
    b.run(300);
    CHECK(b.of_qp() == Psns{11});
  }
  SECTION("a NACK of the first copy") {
    b.run_to_tick(b.sent + 37);
    b.nack(1, 11, static_cast<uint8_t>(wire::NackReason::Trimmed));  // 20 ticks: it would make trip 160
    b.run(300);
    REQUIRE(b.of_qp() == Psns{11, 11});
    b.give(Bench::sack_of(1, 12, 11, 12, 0, 0));
    b.sent_at(2000, 12);
    b.sent_at(2016, 13);
    b.answer_at(Bench::sack_of(1, 12, 13, 12, 0b10, 1), 2016, 20);
    b.run(100);
    CHECK(b.of_qp() == Psns{11, 11, 12});
  }
}

TEST_CASE("tx_inflight: with CTRL.time_wait, and without time stamps, time tells nothing",
          "[pipeline][tx_inflight][time-loss][A-83]") {
  const bool wait = GENERATE(false, true);
  TimeBench b;
  if (wait) {
    b.csr.time_wait = true;
  } else {
    b.ctx.ts = false;
    b.configure(1);
  }
  b.sent_at(1000, 0);
  b.sent_at(1900, 1);
  b.arrived(1, 1900, 20);
  b.run(200);
  CHECK(b.retx.empty());
}

}  // namespace mrc::test::tx_inflight_time_test

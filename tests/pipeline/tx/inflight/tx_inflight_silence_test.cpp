// SPDX-License-Identifier: Apache-2.0
// Silence: by hand. A round trip of 20 ticks makes a QP ask 23 ticks after it has sent something last.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <vector>

#include "tests/pipeline/tx/inflight/tx_inflight_bench.hpp"

namespace mrc::test::tx_inflight_silence_test {

using namespace mrc::inflight_test;

namespace {

using Ticks = std::vector<unsigned>;

/// QPs with time stamps and a timer that is far away; no gap and no EV finds a loss. A QP that has something open is
/// visited every 4 of the 128 cycles of a tick if it is alone.
struct QuietBench : Bench {
  explicit QuietBench(unsigned num_qps = 4) : Bench(false, num_qps) {
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
  /// Everything before packet `cack` of QP 1 has arrived; the newest was sent at `stamp`, and this comes at a tick.
  /// question: it answers one.
  void notified_at(unsigned tick, unsigned cack, unsigned stamp, bool question = false) {
    at(tick);
    Ctl s = sack_of(1, cack, cack - 1, cack, 0, 0);
    s.ts = static_cast<uint16_t>(stamp);
    s.pr = question;
    if (question) s.psn = 0xfffe;
    give(s);
  }
  /// One packet has told that a round trip takes so many ticks; its message is longer.
  void knows(unsigned ticks, unsigned from = 1000) {
    sent_at(from, 0);
    notified_at(from + ticks, 1, from);
  }
  /// Ticks in which QP 1 asks until one; nobody else does.
  Ticks queries_until(unsigned end) {
    Ticks all;
    while (tick() != end) {
      const unsigned before = state_inc;
      cycle();
      if (state_inc != before) all.push_back(tick());
    }
    return all;
  }
  /// The same beside others who ask, a cycle later.
  Ticks queries_among_others_until(unsigned end) {
    Ticks all;
    while (tick() != end) {
      const std::size_t before = stateq.size();
      cycle();
      if (stateq.size() != before && stateq.back().qp == 1) all.push_back(tick());
    }
    return all;
  }
};

}  // namespace

TEST_CASE("tx_inflight: a QP asks nine eighths of its longest round trip after what it sent last",
          "[pipeline][tx_inflight][silence][A-84]") {
  QuietBench b;
  b.knows(20);
  b.sent_at(2000, 1);
  b.sent_at(2005, 2);
  // 23, then 23 again, twice that, and so on.
  CHECK(b.queries_until(2500) == Ticks{2028, 2051, 2097, 2189, 2373});
  CHECK(b.stateq.size() == 5);
  for (const Stateq& s : b.stateq) CHECK(s.qp == 1);
  CHECK(b.retx.empty());
}

TEST_CASE("tx_inflight: the answer to a question names what is lost at the end",
          "[pipeline][tx_inflight][silence][A-84]") {
  QuietBench b;
  b.knows(20);
  b.sent_at(2000, 1);
  CHECK(b.queries_until(2025) == Ticks{2023});
  b.notified_at(2043, 1, 2023, true);
  b.run(100);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 1));
  b.resent(0, 5);  // at 2044, and lost again: 23 ticks after that
  CHECK(b.tick() == 2044);
  CHECK(b.queries_until(2080) == Ticks{2067});
  b.notified_at(2087, 1, 2067, true);
  b.run(100);
  CHECK(b.retx.size() == 2);
}

TEST_CASE("tx_inflight: a QP that sends does not ask", "[pipeline][tx_inflight][silence][A-84]") {
  QuietBench b;
  b.knows(20);
  b.sent_at(2000, 1);
  for (unsigned i = 2; i < 8; ++i) {
    CHECK(b.queries_until(2000 + 22 * (i - 1)).empty());
    b.sent_at(2000 + 22 * (i - 1), i);
  }
  CHECK(b.queries_until(2200) == Ticks{2155, 2178});  // 2132 and 23
}

TEST_CASE("tx_inflight: a QP whose turn to send will come asks after twice the time",
          "[pipeline][tx_inflight][silence][A-84]") {
  const bool mine = GENERATE(true, false);  // or the others'
  QuietBench b;
  b.knows(20);
  b.sends = mine ? 2 : 0xd;
  b.sent_at(2000, 1);
  CHECK(b.queries_until(2150) == (mine ? Ticks{2046, 2092} : Ticks{2023, 2046, 2092}));
}

TEST_CASE("tx_inflight: a QP that sends asks after a quarter of its interval with CTRL.silence_wait alone",
          "[pipeline][tx_inflight][silence][A-75][A-84]") {
  const bool waits = GENERATE(false, true);
  QuietBench b;
  b.csr.silence_wait = waits;
  b.retries(7, 25, 4);  // 128 ticks, steps of 32
  b.knows(20);
  for (unsigned i = 1; i < 6; ++i) {
    b.sent_at(2000 + 20 * i, i);
    b.run(100);  // some visits
  }
  CHECK(b.state_inc == (waits ? 1 : 0));
  b.run_to_tick(2130);
  CHECK(b.state_inc == 1);  // 23 ticks after the newest packet
}

TEST_CASE("tx_inflight: a missing ACK is asked for after twice the time", "[pipeline][tx_inflight][silence][A-84]") {
  QuietBench b;
  b.knows(20);
  for (unsigned i = 1; i < 10; ++i) b.sent_at(2000, i);  // the last one of its message
  b.notified_at(2020, 10, 2000);
  CHECK(b.queries_until(2200) == Ticks{2046, 2092, 2184});
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 1;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.give(a);
  CHECK(b.queries_until(4000).empty());  // nothing is open
  b.sent_at(4000, 10);
  CHECK(b.queries_until(4050) == Ticks{4023, 4046});  // and the first question is the first again
}

TEST_CASE("tx_inflight: what a QP hears makes its next question an early one",
          "[pipeline][tx_inflight][silence][A-84]") {
  const unsigned heard = GENERATE(0u, 1u, 2u);
  QuietBench b;
  b.knows(20);
  for (unsigned i = 1; i < 5; ++i) b.sent_at(2000, i);
  CHECK(b.queries_until(2100) == Ticks{2023, 2046, 2092});
  switch (heard) {
    case 0:  // nothing: 92 after the third
      CHECK(b.queries_until(2190) == Ticks{2184});
      break;
    case 1:  // packet 1, and that it took 110 ticks: 124 after 2000
      b.notified_at(2110, 2, 2000);
      CHECK(b.queries_until(2190) == Ticks{2124});
      break;
    default:  // the answer to the second question, of before the packets came: 23 after the third
      b.notified_at(2110, 1, 1000, false);
      b.notified_at(2110, 1, 2010, true);  // trip: 110, less a 256th
      CHECK(b.queries_until(2190).empty());
      break;
  }
}

TEST_CASE("tx_inflight: a QP without time stamps asks as others do", "[pipeline][tx_inflight][silence][A-84]") {
  QuietBench b;
  b.ctx.ts = false;
  b.configure(1);
  b.sent_at(1000, 0);
  b.notified_at(1020, 1, 777);  // nobody looks at what it returns
  b.sent_at(2000, 1);
  CHECK(b.queries_until(2060) == Ticks{2023, 2046});
  b.notified_at(2066, 1, 2046, true);  // but at what the answer to a question does
  b.run(100);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 1));
}

TEST_CASE("tx_inflight: after a trim, a QP asks by two round trips of what was trimmed",
          "[pipeline][tx_inflight][silence][A-84]") {
  const bool measured = GENERATE(false, true);
  QuietBench b;
  b.sent_at(2000, 0);
  b.sent_at(2000, 1);
  b.at(2030);
  Ctl n;
  n.kind = CtlKind::Nack;
  n.qp = 1;
  n.psn = Bench::kPsn;
  n.reason = static_cast<uint8_t>(wire::NackReason::TrimmedLasthop);
  n.ts = 2000;
  b.give(n);  // trip is 8 x 30 ticks, a quarter of it 60: 68
  if (measured) {
    b.at(2031);
    Ctl s = Bench::sack_of(1, 0, 1, 0, 0b10, 1);
    s.ts = 2031 - 241;
    b.give(s);  // a round trip of 241 ticks: 272
    CHECK(b.queries_until(2280) == Ticks{2272});
    return;
  }
  CHECK(b.queries_until(2100) == Ticks{2068});
  // Of the answer the bound is three quarters of that: 45. Packet 1 was sent 46 ticks before, 2 only 45.
  const unsigned late = GENERATE(0u, 1u);
  b.sent_at(2200, 2);
  b.retx.clear();
  b.notified_at(2266, 1, 2245 + late, true);
  b.run(100);
  REQUIRE(b.retx.size() == 1 + late);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 1));
}

TEST_CASE("tx_inflight: a QP that knows no round trip yet asks after 64 ticks",
          "[pipeline][tx_inflight][silence][A-84]") {
  QuietBench b;
  b.sent_at(2000, 0);
  b.sent_at(2003, 1);
  CHECK(b.queries_until(2070) == Ticks{2067});
  b.notified_at(2087, 0, 2067, true);  // its first round trip, 20 ticks: both are lost
  b.run(100);
  CHECK(b.retx.size() == 2);
  QuietBench alone;
  alone.sent_at(2000, 0);
  CHECK(alone.queries_until(2600) == Ticks{2064, 2128, 2256, 2512});
}

TEST_CASE("tx_inflight: a QP keeps quiet for 1791 ticks at most", "[pipeline][tx_inflight][silence][A-84]") {
  SECTION("visits several times a tick") {
    QuietBench b;
    b.knows(20);
    b.sent_at(2000, 1);
    const Ticks all = b.queries_until(9000);
    // 64 x 23 = 1472; at 6416 the packet looks 320 ticks old.
    CHECK(all == Ticks{2023, 2046, 2092, 2184, 2368, 2736, 3472, 4944, 2000 + 4096 + 1472});
    QuietBench slow;
    slow.knows(1000);  // 1126, then at most 1791
    slow.sent_at(4000, 1);
    // At 9834 the packet looks 1738 ticks old.
    CHECK(slow.queries_until(10200) == Ticks{5126, 6252, 6252 + 1791, 4000 + 4096 + 1791});
  }
  SECTION("visits slower than a tick") {
    // All QPs are busy. A round of visits takes 4 cycles for each; 4096 is a multiple of 8 and of 128 ticks, so each
    // turn of the stamps has its visits at the same places.
    const auto [qps, round] = GENERATE(table<unsigned, unsigned>({{4, 8}, {64, 128}}));
    const unsigned phase = GENERATE(range(0u, 8u));
    CAPTURE(qps, phase);
    QuietBench b(qps);
    b.tick_cycles = 2;
    b.tick0 = 4096;
    for (uint16_t q = 4; q < qps; ++q) b.configure(q);
    for (uint16_t q = 0; q < qps; ++q) b.sent(q, 0);
    Ctl notified = Bench::sack_of(1, 1, 0, 1, 0, 0);
    notified.ts = static_cast<uint16_t>(b.tick() + 1 - 40);  // in the cycle of Ctl0 that was 40 ticks before
    b.give(notified);
    while (b.cycles % (2 * round) != 2 * phase * (round / 8)) b.cycle();
    const unsigned sent = b.tick();
    b.sent(1, 1);
    const Ticks all = b.queries_among_others_until(sent + 60000);
    CHECK(b.inflight.watched().size() == qps);
    REQUIRE(!all.empty());
    CHECK(all[0] - sent >= 46);
    CHECK(all[0] - sent <= std::max(46u, round) + round + 1);  // its first visit arms the timer
    unsigned longest = sent + 60000 - all.back();
    for (std::size_t i = 1; i < all.size(); ++i) longest = std::max(longest, all[i] - all[i - 1]);
    CHECK(longest <= 1791 + 4096);
    CHECK(b.retx.empty());
  }
}

TEST_CASE("tx_inflight: time stamps of 1.024 us make a round trip no shorter, and never none",
          "[pipeline][tx_inflight][silence][A-84]") {
  QuietBench b;
  b.csr.tsr_us = true;
  b.sent_at(2000, 0);
  b.notified_at(2005, 1, 250);  // of 2000 to 2007
  b.sent_at(3000, 1);
  CHECK(b.queries_until(3070) == Ticks{3006, 3012, 3024, 3048});  // 5 ticks, an eighth, and one
}

TEST_CASE("tx_inflight: a QP asks at its next visit while stateq is taken", "[pipeline][tx_inflight][silence][A-84]") {
  QuietBench b;
  b.take_stateq = false;
  b.knows(20);
  b.sent_at(2000, 1);
  CHECK(b.queries_until(2200) == Ticks{2023, 2046, 2092});  // two wait in the FIFO, one in the register
  CHECK(b.queries_until(2300).empty());
  b.take_stateq = true;
  CHECK(b.queries_until(2310) == Ticks{2300});
}

TEST_CASE("tx_inflight: a stamp that has come round delays a question", "[pipeline][tx_inflight][silence][A-84]") {
  QuietBench b;
  b.csr.state_silent = true;
  b.knows(20);
  b.sent_at(2000, 1);
  b.at(2000 + 4096 + 10);
  b.csr.state_silent = false;
  CHECK(b.queries_until(2000 + 4096 + 30) == Ticks{2000 + 4096 + 23});
}

TEST_CASE("tx_inflight: no question at the visit in which the timer finds a loss",
          "[pipeline][tx_inflight][silence][A-84]") {
  QuietBench b;
  b.retries(7, 25);  // 8 ticks, steps of 2
  b.knows(6, 1000);  // 7
  b.sent_at(2000, 1);
  b.csr.state_silent = true;
  while (b.rto_inc == 0) {
    b.csr.state_silent = b.tick() < 2008;  // the first question would be at 2008, and so the loss
    b.cycle();
  }
  CHECK(b.state_inc == 0);
  CHECK(b.tick() - 2008 <= 1);
  CHECK(!b.queries_until(2012).empty());  // but at the next one
}

TEST_CASE("tx_inflight: with CTRL.silence_wait and with CTRL.state_silent a QP does not ask for silence",
          "[pipeline][tx_inflight][silence][A-84]") {
  QuietBench b;
  (GENERATE(false, true) ? b.csr.silence_wait : b.csr.state_silent) = true;
  b.knows(20);
  b.sent_at(2000, 1);
  CHECK(b.queries_until(2500).empty());
}

}  // namespace mrc::test::tx_inflight_silence_test

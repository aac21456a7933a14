// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <random>
#include <vector>

#include "tests/pipeline/tx/inflight/tx_inflight_bench.hpp"

namespace mrc::test::tx_inflight_timer_test {

using namespace mrc::inflight_test;

TEST_CASE(
    "tx_inflight: timeouts come after 8, 8, 8, 16, 32 ticks with two linear and three exponential retries, then "
    "the QP fails",
    "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(2, 3);
  const unsigned t0 = b.tick();
  b.sent_all(1, 1);
  REQUIRE(b.tick() == t0);
  b.run_to_tick(t0 + 135);
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 8, t0 + 16, t0 + 24, t0 + 40, t0 + 72});
  CHECK(b.fail_inc == 0);
  CHECK(b.upd.empty());
  CHECK(b.retx.size() == 5);
  b.run_to_tick(t0 + 300);
  CHECK(b.fail_at == std::vector<unsigned>{t0 + 136});  // 64 ticks after the last retry
  CHECK(b.rto_inc == 5);
  CHECK(b.retx.size() == 5);
  REQUIRE(b.upd.size() == 1);
  CHECK(b.upd[0] == Upd{.qp = 1, .una = Bench::kPsn, .ack = true, .msn = 10, .syndrome = 0x84});
  b.sack(1, 5, 4, 5, 0, 0);  // it hears nothing more
  CHECK(b.upd.size() == 1);
}

TEST_CASE("tx_inflight: without retries the first timeout ends the QP, also when only the ACK is missing",
          "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(0, 0);
  b.sent_all(0, 10);
  b.sack(0, 10, 9, 10, 0, 0);
  const unsigned t0 = b.tick();
  b.run_to_tick(t0 + 20);
  CHECK(b.fail_at == std::vector<unsigned>{t0 + 8});
  CHECK(b.rto_inc == 0);
  CHECK(b.retx.empty());
  REQUIRE(b.upd.size() == 2);
  CHECK(b.upd[1] == Upd{.qp = 0, .una = psn_add(Bench::kPsn, 10), .ack = true, .msn = 10, .syndrome = 0x84});
}

TEST_CASE("tx_inflight: progress by SACK or ACK gives all retries back", "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(1, 0);
  b.sent_all(0, 20);
  b.run_to_tick(9);
  CHECK(b.rto_inc == 1);  // what was sent before its first visit
  b.sack(0, 10, 9, 10, 0, 0);
  b.run_to_tick(18);
  CHECK(b.rto_inc == 2);
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.give(a);
  const unsigned t0 = b.tick();
  CHECK(b.fail_inc == 0);
  b.give(a);                   // nothing new
  b.sack(0, 10, 9, 10, 0, 0);  // nothing new
  b.run_to_tick(t0 + 30);
  // Packets 10 to 19 went again a tick before: they are spared for three of the steps from 8 ticks on.
  CHECK(b.rto_at.back() == t0 + 14);
  CHECK(b.rto_inc == 3);
  CHECK(b.fail_at == std::vector<unsigned>{t0 + 22});
  CHECK(b.upd.back().msn == 11);
}

TEST_CASE("tx_inflight: 25 exponential retries go on for ever, ever slower", "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(0, 25);
  const unsigned t0 = b.tick();
  b.sent_all(0, 1);
  REQUIRE(b.tick() == t0);
  b.run_to_tick(t0 + 260);  // 8, 16, 32, 64, 128 ticks
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 8, t0 + 24, t0 + 56, t0 + 120, t0 + 248});
  for (unsigned i = 0; i < 40; ++i) b.nack(0, 0, 0x0A);  // far beyond 25
  CHECK(b.fail_inc == 0);
  CHECK(b.upd.empty());
}

TEST_CASE("tx_inflight: 24 exponential retries end with the 25th NACK", "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(0, 24, 20);
  b.sent_all(0, 30);
  for (unsigned i = 0; i < 24; ++i) b.nack(0, 0, 0x0A);
  CHECK(b.fail_inc == 0);
  CHECK(b.retx.size() == 24);
  b.nack(0, 0, 0x0A);
  CHECK(b.fail_inc == 1);
  CHECK(b.retx.size() == 24);
}

TEST_CASE("tx_inflight: NACKs of want count as retries, those of trimming and of PSNs outside do not",
          "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(3, 1, 20);
  b.sent_all(2, 20);
  b.nack(2, 0, 0x06);
  b.nack(2, 0, 0x07);
  b.nack(2, 0, 0x0A);
  b.nack(2, 0, 0x0B);
  for (unsigned i = 4; i < 8; ++i) b.nack(2, i, 0x01);
  for (unsigned i = 8; i < 12; ++i) b.nack(2, i, 0x02);
  b.nack(2, 20, 0x0A);  // not sent yet
  CHECK(b.fail_inc == 0);
  CHECK(b.upd.empty());
  CHECK(b.retx.size() == 12);
  b.nack(2, 12, 0x0A);  // not the oldest packet
  CHECK(b.fail_inc == 0);
  CHECK(b.retx.size() == 13);
  b.nack(2, 0, 0x0A);
  CHECK(b.fail_inc == 1);
  CHECK(b.retx.size() == 13);
  REQUIRE(b.upd.size() == 1);
  CHECK(b.upd[0] == Upd{.qp = 2, .una = Bench::kPsn, .ack = true, .msn = 10, .syndrome = 0x84});
  b.nack(2, 13, 0x01);
  CHECK(b.retx.size() == 13);
}

TEST_CASE("tx_inflight: timer and NACKs share the counter; a NACK does not restart the timer",
          "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(1, 1);
  const unsigned t0 = b.tick();
  b.sent_all(0, 1);
  b.run_to_tick(t0 + 12);
  b.run(32);
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 8});
  b.nack(0, 0, 0x07);
  b.run_to_tick(t0 + 60);
  CHECK(b.rto_inc == 1);
  CHECK(b.fail_at == std::vector<unsigned>{t0 + 28});  // two retries: 16 ticks after the packet went again
}

TEST_CASE("tx_inflight: UNEXP_EVENT ends the QP whatever PSN it names; QP_CTX makes it work again",
          "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.sent_all(3, 15);
  b.sack(3, 5, 4, 5, 0, 0);
  CHECK(b.upd.size() == 1);
  b.nack(3, 100, 0x19);
  CHECK(b.fail_inc == 1);
  CHECK(b.retx.empty());
  CHECK(b.fb.empty());
  REQUIRE(b.upd.size() == 2);
  CHECK(b.upd[1] == Upd{.qp = 3, .una = psn_add(Bench::kPsn, 5), .ack = true, .msn = 10, .syndrome = 0x86});
  b.nack(3, 7, 0x19);
  b.nack(3, 7, 0x01);
  CHECK(b.fail_inc == 1);
  CHECK(b.upd.size() == 2);
  CHECK(b.retx.empty());
  b.retries(1, 0);
  b.configure(3);
  b.sent_all(3, 5);
  b.nack(3, 2, 0x0A);  // one retry, again
  CHECK(b.fail_inc == 1);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 2));
}

TEST_CASE("tx_inflight: QP_CTX gives a QP its retries back", "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(1, 0, 20);
  b.sent_all(0, 5);
  b.nack(0, 0, 0x0A);
  b.configure(0);
  b.sent_all(0, 5);
  b.nack(0, 0, 0x0A);
  CHECK(b.fail_inc == 0);
  b.nack(0, 0, 0x0A);
  CHECK(b.fail_inc == 1);
}

TEST_CASE("tx_inflight: no timer visit while upd is not free", "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(0, 0);
  b.sent_all(0, 20);
  b.sent_all(1, 1);
  b.take_upd = false;
  for (unsigned i = 1; i <= 3; ++i) b.sack(0, i, i - 1, i, 0, 0);  // FIFO of two, and the register
  b.run(3000);
  CHECK(b.fail_inc == 0);
  b.take_upd = true;
  b.run(1000);  // the steps have not passed meanwhile
  CHECK(b.fail_inc == 2);
  CHECK(b.upd.size() == 5);
}

TEST_CASE("tx_inflight: each QP has a timer and retries of its own", "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.ctx.retry_linear = b.ctx.retry_exp = 0;
  for (uint16_t q = 0; q < 4; ++q) {
    b.ctx.timeout = static_cast<uint8_t>(q);
    b.ctx.retry_linear = q == 1 ? 1 : 0;
    b.configure(q);
  }
  b.align();
  const unsigned t0 = b.tick();
  for (uint16_t q = 0; q < 4; ++q) b.sent(q, 0);
  REQUIRE(b.tick() == t0);
  b.run_to_tick(t0 + 80);
  // 8, 16 + 16, 32, 64 ticks.
  CHECK(b.fail_at == std::vector<unsigned>{t0 + 8, t0 + 32, t0 + 32, t0 + 64});
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 16});
  REQUIRE(b.qperr.size() == 4);
  CHECK(b.qperr[0] == Qperr{.qp = 0, .status = CqStatus::RetryExceeded});
  CHECK(b.qperr[3] == Qperr{.qp = 3, .status = CqStatus::RetryExceeded});
  CHECK(b.ccev.empty());
}

TEST_CASE("tx_inflight: no expiry while csr has not taken an error", "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(0, 0);
  b.take_qperr = false;
  for (uint16_t q = 0; q < 4; ++q) b.sent_all(q, 1);
  b.run(3000);
  CHECK(b.fail_inc == 3);
  b.take_qperr = true;
  b.run(200);
  CHECK(b.fail_inc == 4);
  CHECK(b.qperr.size() == 4);
}

TEST_CASE("tx_inflight: a QP that hears nothing for a step asks for its peer's state, once until something moves",
          "[pipeline][tx_inflight][timer][A-75]") {
  Bench b;
  b.retries(7, 25);  // 8 ticks, steps of 2
  const bool silent = GENERATE(false, true);
  b.csr.silence_wait = true;
  b.csr.state_silent = silent;
  b.align();
  unsigned t0 = b.tick();
  b.sent_all(2, 10);
  b.run_to_tick(t0 + 2);
  CHECK(b.stateq.empty());
  b.run_to_tick(t0 + 8);
  CHECK(b.stateq.size() == (silent ? 0 : 1));
  b.sack(2, 8, 7, 8, 0, 0);  // the answer; two are still missing
  t0 = b.tick();
  b.run_to_tick(t0 + 7);
  REQUIRE(b.stateq.size() == (silent ? 0 : 2));
  if (!silent) CHECK(b.stateq[1].qp == 2);
  b.sack(2, 10, 9, 10, 0, 0);  // all has arrived, the ACK is missing: its peer repeats it
  b.run_to_tick(b.tick() + 7);
  CHECK(b.stateq.size() == (silent ? 0 : 3));
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 2;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.give(a);
  b.run_to_tick(b.tick() + 30);
  CHECK(b.stateq.size() == (silent ? 0 : 3));  // nothing is open
}

TEST_CASE("tx_inflight: a QP that would ask for its peer's state while stateq is taken does without",
          "[pipeline][tx_inflight][timer][A-75]") {
  // ack_gen takes none: its FIFO has two, the output register a third; the fourth QP finds it taken.
  const auto quiet = [](bool taken, Bench& b) {
    b.retries(7, 25);  // 8 ticks, steps of 2
    b.csr.silence_wait = true;
    b.take_stateq = !taken;
    b.align();
    const unsigned t0 = b.tick();
    for (uint16_t q = 0; q < 4; ++q) b.sent_all(q, 3);
    b.run_to_tick(t0 + 6);  // all have heard nothing for two steps
    return t0;
  };
  Bench queries, waits;
  quiet(false, queries);
  CHECK(queries.stateq.size() == 4);
  CHECK(queries.state_inc == 4);
  const unsigned t0 = quiet(true, waits);
  CHECK(waits.state_inc == 3);
  CHECK(waits.stateq.empty());
  waits.take_stateq = true;
  for (Bench* b : {&queries, &waits}) b->run_to_tick(t0 + 9);
  REQUIRE(waits.stateq.size() == 3);  // the fourth does not ask later,
  unsigned silent = 0 + 1 + 2 + 3;
  for (const Stateq& s : waits.stateq) silent -= s.qp;
  CHECK(waits.state_inc == 3);
  for (Bench* b : {&queries, &waits}) b->run_to_tick(t0 + 12);
  CHECK(queries.rto_inc == 4);
  CHECK(waits.rto_at == queries.rto_at);                     // and its timer runs as if it had
  waits.sack(static_cast<uint16_t>(silent), 1, 0, 1, 0, 0);  // something moves: it asks after the next step
  waits.run_to_tick(waits.tick() + 4);
  REQUIRE(waits.stateq.size() == 4);
  CHECK(waits.stateq[3].qp == silent);
}

TEST_CASE("tx_inflight finds a loss an interval to an interval and a quarter after it was sent",
          "[pipeline][tx_inflight][timer]") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Bench b;
    b.retries(7, 25, 1);  // 16 ticks
    std::mt19937 rng(seed);
    b.run(static_cast<unsigned>(rng() % 600));
    std::vector<unsigned> sent_at, found_at;
    std::size_t seen = 0;
    while (b.tick() < 90) {
      if (sent_at.size() < 60 && rng() % 128 == 0) {
        sent_at.push_back(b.tick());
        b.sent(3, static_cast<unsigned>(sent_at.size() - 1));
      } else {
        b.cycle();
      }
      for (; seen < b.retx.size(); ++seen) {
        const unsigned i = psn_dist(b.retx[seen].psn, Bench::kPsn);
        REQUIRE(i <= found_at.size());  // the first time they are found in order
        if (i == found_at.size()) found_at.push_back(b.tick());
      }
    }
    REQUIRE(found_at.size() > 40);
    for (std::size_t i = 0; i < found_at.size(); ++i) {
      CAPTURE(seed, i, sent_at[i]);
      CHECK(found_at[i] - sent_at[i] >= 16);
      CHECK(found_at[i] - sent_at[i] <= 20 + 1);  // a tick for the visit and for the others found with it
    }
  }
}

TEST_CASE("tx_inflight spares a packet sent again for an interval, to the nearest step",
          "[pipeline][tx_inflight][timer]") {
  // Steps of 4 ticks; without a NACK the packet goes again after 16 ticks, and after 32.
  for (unsigned at = 1; at < 31; ++at) {
    CAPTURE(at);
    Bench b;
    b.retries(7, 25, 1);
    b.align();
    const unsigned t0 = b.tick();
    b.sent_all(1, 1);
    b.run_to_tick(t0 + at);
    b.run(40);  // the step of this tick is over
    const std::size_t before = b.retx.size();
    CHECK(before == (at >= 16));
    b.nack(1, 0, 2);
    REQUIRE(b.retx.size() == before + 1);
    const unsigned step = at / 4 * 4, again = step + 16 + (at % 4 >= 2 ? 4 : 0);
    b.run_to_tick(t0 + again);
    CHECK(b.retx.size() == before + 1);
    b.run(40);
    CHECK(b.retx.size() == before + 2);
    CHECK(again - at >= 14);
    CHECK(again - at <= 18);
  }
}

TEST_CASE("tx_inflight: what the timer sends again has its next chance an interval later",
          "[pipeline][tx_inflight][timer]") {
  Bench b;
  b.retries(7, 25, 1);
  b.align();
  const unsigned t0 = b.tick();
  b.sent_all(1, 40);
  b.run_to_tick(t0 + 30);
  CHECK(b.retx.size() == 40);  // some at 16, some at 20
  b.sack(1, 40, 39, 40, 0, 0);
  b.run_to_tick(t0 + 60);
  CHECK(b.retx.size() == 41);  // the newest, for its ACK
}

TEST_CASE("tx_inflight: only the oldest packet's timeouts are retries", "[pipeline][tx_inflight][timer][retry]") {
  Bench b;
  b.retries(1, 0);
  b.align();
  const unsigned t0 = b.tick();
  b.sent_all(0, 1);
  for (unsigned i = 1; i < 4; ++i) {  // one in each step
    b.run_to_tick(t0 + 2 * i - 1);
    b.sent(0, i);
  }
  b.run_to_tick(t0 + 40);
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 8, t0 + 10, t0 + 12, t0 + 14});
  CHECK(b.retx.size() == 4);
  CHECK(b.fail_at == std::vector<unsigned>{t0 + 16});
}

TEST_CASE("tx_inflight: an ACK that moves una to a packet reported before: what is lost beyond runs out of retries",
          "[pipeline][tx_inflight][timer][retry]") {
  // Packets 10 to 19 are the second message. `reported` of them before the ACK of the first one, the rest never again.
  struct Case {
    uint64_t reported;  // bit i: packet 10 + i
    unsigned missing;
  };
  const Case cases[] = {
      {0b1, 9},
      {0b11'1111, 4},     // the rest of that block: the oldest one not reported is in the next
      {0b10'1011, 6},     // 10, 11, 13 and 15
      {0b1'0011'1111, 3}  // and one in the next block
  };
  for (const Case& c : cases) {
    for (const bool cc : {false, true}) {
      CAPTURE(c.reported, cc);
      Bench b(cc);
      b.csr.reorder = 1000;
      b.retries(1, 0);  // one retry, 8 ticks
      b.sent_all(0, 20);
      b.sack(0, 0, 10, 10, c.reported, 1);
      b.align();
      const unsigned t0 = b.tick();
      Ctl a;
      a.kind = CtlKind::Ack;
      a.qp = 0;
      a.psn = psn_add(Bench::kPsn, 9);
      a.msn = 11;
      a.reason = 0x1f;
      b.give(a);
      CHECK(b.retx.empty());
      b.run_to_tick(t0 + 60);
      CHECK(b.rto_at == std::vector<unsigned>{t0 + 8});
      CHECK(b.retx.size() == c.missing);
      CHECK(b.fail_at == std::vector<unsigned>{t0 + 16});
      CHECK(b.upd.back() == Upd{.qp = 0, .una = psn_add(Bench::kPsn, 10), .ack = true, .msn = 11, .syndrome = 0x84});
    }
  }
}

TEST_CASE(
    "tx_inflight: an ACK that moves una to a packet reported before: NACKs of the oldest one not reported are retries",
    "[pipeline][tx_inflight][timer][retry]") {
  Bench b;
  b.csr.reorder = 1000;
  b.retries(2, 0);  // an interval is 8 ticks
  b.sent_all(0, 20);
  b.sack(0, 0, 10, 10, 0b1'0011'1111, 1);  // 10 to 15 and 18: 16 is the oldest one when 0 to 9 are acknowledged
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.align();
  const unsigned t0 = b.tick();
  b.give(a);
  // The timer's first walk is an interval after progress: nobody knows yet that 16 is the oldest one.
  b.run_to_tick(t0 + 5);
  for (unsigned i = 0; i < 3; ++i) b.nack(0, 16, 0x0A);
  CHECK(b.retx.size() == 3);
  b.run_to_tick(t0 + 9);
  CHECK(b.rto_inc == 1);  // 17 and 19; 16 has gone again and is spared: no retry
  CHECK(b.fail_inc == 0);
  b.nack(0, 10, 0x0A);  // arrived: nobody's retry
  b.nack(0, 17, 0x0A);  // nor is this one: 16 is before it
  b.nack(0, 18, 0x0A);
  b.nack(0, 16, 0x0A);
  b.nack(0, 16, 0x0A);
  CHECK(b.fail_inc == 0);
  b.nack(0, 16, 0x0A);
  CHECK(b.fail_inc == 1);
  CHECK(b.upd.back() == Upd{.qp = 0, .una = psn_add(Bench::kPsn, 10), .ack = true, .msn = 11, .syndrome = 0x84});
}

TEST_CASE("tx_inflight: while the oldest packet not reported waits for its turn, what is lost beyond is no retry",
          "[pipeline][tx_inflight][timer][retry]") {
  Bench b(true);
  b.csr.reorder = 1000;
  b.retries(0, 0);  // the first one ends the QP
  b.sent_all(0, 20);
  b.sack(0, 0, 10, 10, 0b11'1101, 1);  // all of that block but 11
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.align();
  const unsigned t0 = b.tick();
  b.give(a);
  b.refuse = 1u << 3;
  b.nack(0, 11, 2);  // trimmed: no retry
  b.run_to_tick(t0 + 20);
  CHECK(b.retx.empty());
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 8});  // 16 to 19
  CHECK(b.fail_inc == 0);
  // All five go again, a tick before a step: they are spared for an interval. Then it is the oldest one's.
  b.refuse = 0;
  b.run_to_tick(t0 + 40);
  CHECK(b.retx.size() == 5);
  CHECK(b.fail_inc == 1);
  CHECK(b.rto_inc == 1);
}

TEST_CASE("tx_inflight: the timer over the wrap of the ticks", "[pipeline][tx_inflight][timer]") {
  Bench b;
  b.retries(7, 25);
  b.tick0 = 0xffff'fffbu - b.tick();
  b.align();
  const unsigned t0 = b.tick();
  b.sent_all(0, 1);
  b.run_to_tick(t0 + 8);
  CHECK(b.retx.empty());
  b.run(40);
  CHECK(b.retx.size() == 1);
}

TEST_CASE("tx_inflight: marks are a QP's last interval: progress gives all that is out a new one",
          "[pipeline][tx_inflight][timer]") {
  Bench b;
  b.retries(7, 25, 1);
  b.align();
  const unsigned t0 = b.tick();
  b.sent_all(0, 10);
  b.run_to_tick(t0 + 11);
  b.sack(0, 5, 4, 5, 0, 0);
  b.run_to_tick(t0 + 27);
  CHECK(b.retx.empty());
  b.run(80);
  CHECK(b.retx.size() == 5);
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 27});
}

TEST_CASE("tx_inflight: a QP's first packets have the same timer, whatever the life before it was",
          "[pipeline][tx_inflight][timer]") {
  for (unsigned phase = 0; phase < 16; ++phase) {
    CAPTURE(phase);
    Bench b;
    b.retries(7, 25);
    b.sent_all(0, 5);
    b.run_to_tick(b.tick() + 11);  // the timer of that life runs
    b.align();
    b.run(phase);
    b.configure(0);
    const unsigned t0 = b.tick();
    b.retx.clear();
    b.sent(0, 0);
    b.ctl.load(Ctl{.kind = CtlKind::Nack, .qp = 0, .psn = Bench::kPsn, .reason = 2});
    b.run(30);
    CHECK(b.retx.size() == 1);
    b.run_to_tick(t0 + 8);
    CHECK(b.retx.size() == 1);
    b.run(40);
    CHECK(b.retx.size() == 2);
  }
}

TEST_CASE("tx_inflight: when all that was sent an interval ago is lost, what the account still has has left the flight",
          "[pipeline][tx_inflight][timer][cc]") {
  Bench b(true);
  b.retries(7, 25);
  b.sent_all(0, 10);
  b.align();
  const unsigned t0 = b.tick();
  b.sack(0, 9, 8, 9, 0, 0);  // brings no rcvd_bytes
  b.ccev.clear();
  const Ccev loss{.cc = 3, .kind = CcEvent::Loss, .bytes = 340};
  Ccev all = loss;
  all.bytes = 3400;
  SECTION("nothing newer is out") {
    b.run_to_tick(t0 + 9);
    CHECK(b.ccev == std::vector<Ccev>{all});  // the packet's own loss is one of these
    CHECK(b.fb.size() == 1);                  // its EV hears of it all the same
    b.run_to_tick(t0 + 16);
    CHECK(b.ccev.size() == 1);  // sent again: it is in flight, and spared
    b.run_to_tick(t0 + 17);
    CHECK(b.ccev == std::vector<Ccev>{all, loss});
  }
  SECTION("a newer packet is out") {
    b.run_to_tick(t0 + 5);
    b.sent(0, 10);
    b.run_to_tick(t0 + 9);
    CHECK(b.ccev == std::vector<Ccev>{loss});
  }
}

TEST_CASE("tx_inflight: when a whole window is lost, its controller is told of each byte once",
          "[pipeline][tx_inflight][timer][cc]") {
  Bench b(true);
  b.retries(7, 25);
  b.align();
  const unsigned t0 = b.tick();
  b.sent_all(0, 41);  // three blocks of PSNs
  b.sack(0, 1, 0, 1, 0, 0);
  b.ccev.clear();
  b.run_to_tick(t0 + 10);
  b.run(600);
  REQUIRE(b.retx.size() == 40);
  CHECK(b.granted.size() == 40);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0] == Ccev{.cc = 3, .kind = CcEvent::Loss, .bytes = 41 * 340});  // the SACK told of no bytes
  CHECK(b.fb.size() == 40);
}

}  // namespace mrc::test::tx_inflight_timer_test

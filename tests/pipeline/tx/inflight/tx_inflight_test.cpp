// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "tests/pipeline/tx/inflight/tx_inflight_bench.hpp"

namespace mrc::test::tx_inflight_test {

using namespace mrc::inflight_test;

TEST_CASE("tx_inflight retransmits what lies the tolerance below the newest arrival, once", "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(1, 60);
  b.sack(1, 3, 12, 3, 0b11'1111'1100, 8);  // 3 and 4 missing, 5..12 arrived
  REQUIRE(b.upd.size() == 1);
  CHECK(b.upd[0].qp == 1);
  CHECK(b.upd[0].una == psn_add(Bench::kPsn, 3));
  CHECK_FALSE(b.upd[0].ack);
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 3));
  CHECK(b.retx[1].psn == psn_add(Bench::kPsn, 4));
  CHECK(b.retx[1].msn == 10);
  CHECK(b.retx[1].idx == 4);
  CHECK(b.retx[1].avoid_ev == 4);
  CHECK(b.rtx_inc == 2);
  b.sack(1, 3, 13, 3, 0b111'1111'1100, 9);
  CHECK(b.retx.size() == 2);
  CHECK(b.upd.size() == 1);
}

TEST_CASE("tx_inflight works through a bitmap that spans two rows and the wrap of the PSN", "[pipeline][tx_inflight]") {
  Bench b;  // packet 32 has PSN 0
  b.sent_all(0, 60);
  b.sack(0, 28, 40, 28, 0b1'1110'1101'1110, 9);  // missing: 28, 33, 36; arrived up to 40; lost below 37
  REQUIRE(b.retx.size() == 3);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 28));
  CHECK(b.retx[1].psn == 1);
  CHECK(b.retx[2].psn == 4);
  CHECK(b.retx[2].msn == 13);
  CHECK(b.retx[2].idx == 6);
}

TEST_CASE("tx_inflight below the tolerance waits, and drops a SACK of PSNs never sent", "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(0, 20);
  b.sack(0, 3, 6, 3, 0b1110, 3);
  CHECK(b.retx.empty());
  b.sack(0, 21, 19, 21, 0, 0);
  CHECK(b.upd.size() == 1);
  b.sack(0, 20, 19, 20, 0, 0);
  REQUIRE(b.upd.size() == 2);
  CHECK(b.upd[1].una == psn_add(Bench::kPsn, 20));
}

TEST_CASE("tx_inflight hands marks on with the EV that the packet had", "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(0, 20);
  b.sack(0, 6, 5, 6, 0, 0, 1);
  REQUIRE(b.fb.size() == 1);
  CHECK(b.fb[0].ev_idx == 5);
  CHECK(b.fb[0].entropy == 0x1234);
  CHECK(b.fb[0].kind == FbKind::SkipOnce);
  Ctl n;
  n.kind = CtlKind::Nack;
  n.qp = 0;
  n.psn = psn_add(Bench::kPsn, 9);
  n.reason = 1;
  n.entropy = 0x77;
  b.give(n);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 9));
  REQUIRE(b.fb.size() == 2);
  CHECK(b.fb[1].ev_idx == 9);
  n.reason = 2;  // LASTHOP: retransmitted, no EV
  n.psn = psn_add(Bench::kPsn, 11);
  b.give(n);
  CHECK(b.retx.size() == 2);
  CHECK(b.fb.size() == 2);
  n.psn = psn_add(Bench::kPsn, 3);  // acknowledged already
  b.give(n);
  CHECK(b.retx.size() == 2);
}

TEST_CASE("tx_inflight: the timer sends again what was out for an interval, step by step", "[pipeline][tx_inflight]") {
  Bench b;
  b.retries(7, 25);  // 8 ticks, steps of 2
  b.align();
  const unsigned t0 = b.tick();
  b.sent_all(2, 3);  // the timer starts within 16 cycles
  b.run_to_tick(t0 + 1);
  b.sent(2, 3);
  b.sent(2, 4);
  b.run_to_tick(t0 + 5);
  b.sent(2, 5);
  b.run_to_tick(t0 + 8);
  CHECK(b.retx.empty());
  b.run_to_tick(t0 + 9);
  REQUIRE(b.retx.size() == 3);
  b.run_to_tick(t0 + 11);  // sent in the first step: out for an interval at the fifth
  REQUIRE(b.retx.size() == 5);
  b.run_to_tick(t0 + 14);
  CHECK(b.retx.size() == 5);
  b.run_to_tick(t0 + 15);  // sent in the third
  REQUIRE(b.retx.size() == 6);
  for (unsigned i = 0; i < 6; ++i) CHECK(b.retx[i].psn == psn_add(Bench::kPsn, i));
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 8, t0 + 10, t0 + 14});
}

TEST_CASE("tx_inflight: with all packets arrived and the ACK missing the newest packet goes again",
          "[pipeline][tx_inflight]") {
  Bench b;
  b.retries(7, 25);
  b.sent_all(0, 10);
  b.sack(0, 10, 9, 10, 0, 0);
  CHECK(b.upd.size() == 1);
  b.run(1300);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 9));
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.give(a);
  REQUIRE(b.upd.size() == 2);
  CHECK(b.upd[1].ack);
  CHECK(b.upd[1].msn == 11);
  CHECK(b.upd[1].syndrome == 0x1f);
  b.run(3000);
  CHECK(b.retx.size() == 1);
  CHECK(b.rto_inc == 1);
}

TEST_CASE("tx_inflight: a NAK ends the QP's retransmissions", "[pipeline][tx_inflight]") {
  Bench b;
  b.retries(7, 25);
  b.sent_all(0, 15);
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = 0x123456;  // any
  a.msn = 10;
  a.reason = 0x61;
  b.give(a);
  REQUIRE(b.upd.size() == 1);
  CHECK(b.upd[0].syndrome == 0x61);
  b.run(3000);
  CHECK(b.retx.empty());
  CHECK(b.rto_inc == 0);
  b.sack(0, 5, 4, 5, 0, 0);
  CHECK(b.upd.size() == 1);
}

TEST_CASE("tx_inflight: a mark above the window's new start leaves older pending PSNs alone",
          "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(0, 60);
  // With retx not taken three orders go out and the others wait; the pointer stays at 3.
  b.take_retx = false;
  Ctl n;
  n.kind = CtlKind::Nack;
  n.reason = 2;
  for (const unsigned i : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 20u}) {
    n.psn = psn_add(Bench::kPsn, i);
    b.ctl.load(n);
    b.run(30);
  }
  // The window jumps to 10, and 30 counts as lost: 20 must not be forgotten.
  Ctl s;
  s.kind = CtlKind::Sack;
  s.psn = psn_add(Bench::kPsn, 40);
  s.cack = psn_add(Bench::kPsn, 9);
  s.base = psn_add(Bench::kPsn, 30);
  s.bitmap = 0b111'1111'1110;
  s.ooo = 10;
  b.give(s);
  b.take_retx = true;
  b.run(200);
  unsigned seen20 = 0, seen30 = 0;
  for (const Retx& r : b.retx) {
    seen20 += r.psn == psn_add(Bench::kPsn, 20);
    seen30 += r.psn == psn_add(Bench::kPsn, 30);
  }
  CHECK(seen20 == 1);
  CHECK(seen30 == 1);
}

TEST_CASE("tx_inflight: QPs with losses take turns, also when all have some", "[pipeline][tx_inflight]") {
  Bench b;
  for (uint16_t q = 0; q < 4; ++q) b.sent_all(q, 30);
  for (uint16_t q = 0; q < 4; ++q) {
    Ctl c;
    c.kind = CtlKind::Sack;
    c.qp = q;
    c.psn = psn_add(Bench::kPsn, 29);
    c.cack = psn_add(Bench::kPsn, -1);
    c.base = Bench::kPsn;
    c.bitmap = uint64_t{0xff} << 22;  // 0..21 missing
    c.ooo = 8;
    b.ctl.load(c);
    while (!b.ctl.free()) b.cycle();
    b.cycle();
  }
  b.run(1000);
  REQUIRE(b.retx.size() == 4 * 22);
  unsigned count[4] = {};
  for (const Retx& r : b.retx) CHECK(psn_dist(r.psn, Bench::kPsn) == count[r.qp]++);
  for (const unsigned c : count) CHECK(c == 22);
  for (unsigned i = 20; i + 4 < 60; ++i) CHECK(b.retx[i].qp == b.retx[i + 4].qp);
}

TEST_CASE("tx_inflight: a gap and the timer are losses of their EV, a NACK is not", "[pipeline][tx_inflight]") {
  Bench b;
  b.csr.time_wait = true;  // otherwise copies blame none
  b.retries(7, 25, 3);     // 64 ticks
  b.sent_all(1, 60);
  b.sack(1, 3, 12, 3, 0b11'1111'1100, 8);  // 3 and 4 missing
  REQUIRE(b.retx.size() == 2);
  REQUIRE(b.fb.size() == 2);
  CHECK(b.fb[0] == Fb{.qp = 1, .ev_idx = 3, .entropy = 0, .kind = FbKind::Loss});
  CHECK(b.fb[1] == Fb{.qp = 1, .ev_idx = 4, .entropy = 0, .kind = FbKind::Loss});
  Ctl n;
  n.kind = CtlKind::Nack;
  n.qp = 1;
  n.psn = psn_add(Bench::kPsn, 20);
  n.entropy = 0x77;
  for (const uint8_t reason : {uint8_t{1}, uint8_t{2}}) {
    n.reason = reason;
    n.psn = psn_add(n.psn, 1);
    b.give(n);
  }
  CHECK(b.retx.size() == 4);
  REQUIRE(b.fb.size() == 3);
  CHECK(b.fb[2] == Fb{.qp = 1, .ev_idx = 5, .entropy = 0x77, .kind = FbKind::SkipOnce});  // packet 21
  // Packet 21 goes again on EV 9 and is lost: now the timer is what orders it.
  b.resent(2, 9);
  REQUIRE(b.rto_inc == 0);
  b.run_to_tick(75);
  CHECK(b.rto_inc == 1);
  const auto loss = [&](uint16_t ev) {
    return std::count(b.fb.begin() + 3, b.fb.end(), Fb{.qp = 1, .ev_idx = ev, .entropy = 0, .kind = FbKind::Loss});
  };
  // 3, 4 and 13..59 were out: EV 9 lost 21, 25, 41, 57.
  CHECK(b.retx.size() == 4 + 49);
  CHECK(b.fb.size() == 3 + 49);
  CHECK(loss(9) == 4);
  CHECK(loss(5) == 2);  // 37, 53; 21 is no longer its packet
}

TEST_CASE("tx_inflight: the newest packet sent again for a missing ACK is no loss", "[pipeline][tx_inflight]") {
  Bench b;
  b.retries(7, 25);
  b.sent_all(0, 10);
  b.sack(0, 10, 9, 10, 0, 0);
  b.run(1300);
  CHECK(b.retx.size() == 1);
  CHECK(b.fb.empty());
}

TEST_CASE("tx_inflight hands the answer to a probe on, and its state counts like any SACK's",
          "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(2, 20);
  Ctl c;
  c.kind = CtlKind::Sack;
  c.qp = 2;
  c.pr = true;
  c.m = 1;
  c.psn = 0x4321;
  c.cack = psn_add(Bench::kPsn, 4);
  c.base = psn_add(Bench::kPsn, 5);
  b.give(c);
  REQUIRE(b.pres.size() == 1);
  CHECK(b.pres[0] == Pres{.qp = 2, .id = 0x4321, .m = 1});
  CHECK(b.fb.empty());
  REQUIRE(b.upd.size() == 1);
  CHECK(b.upd[0].una == psn_add(Bench::kPsn, 5));
  c.cack = psn_add(Bench::kPsn, 20);  // never sent
  b.give(c);
  CHECK(b.pres.size() == 1);
  // Answers that nobody takes stop the control input, not the rest.
  b.take_pres = false;
  c.cack = psn_add(Bench::kPsn, 4);
  for (unsigned i = 0; i < 4; ++i) b.give(c);
  CHECK(b.ctl.count() == 1);
  b.take_pres = true;
  b.run(20);
  CHECK(b.pres.size() == 5);
}

TEST_CASE("tx_inflight: a reserved mark means nothing, an overtaken SACK judges by the packet that brought it",
          "[pipeline][tx_inflight]") {
  Bench b;
  b.csr.same_ev = false;
  b.sent_all(0, 40);
  b.sack(0, 6, 5, 6, 0, 0, 3);
  CHECK(b.fb.empty());
  Ctl c = Bench::sack_of(0, 6, 30, 27, 0b1111, 20);  // 27 to 30 have arrived; what it does not speak of is open
  c.rcvd = 100;
  b.give(c);
  CHECK(b.retx.empty());
  // Overtaken: brought by 13, when 6, 12 and all from 14 on had not arrived. 6 to 10 lie four below 13.
  Ctl old = Bench::sack_of(0, 6, 13, 6, 0b1011'1110, 6);
  old.rcvd = 98;
  b.give(old);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 6));
  old.rcvd = 101;  // the same news, but the newest: by now all but 7 to 11, 13 and 27 to 30 up to 26 are lost
  b.give(old);
  b.run(200);
  CHECK(b.retx.size() == 1 + 1 + 13);  // 12, 14 to 26
}

TEST_CASE("tx_inflight hears nothing while an output that it may need is taken", "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(0, 20);
  b.take_okev = false;
  for (unsigned i = 1; i <= 4; ++i) b.sack(0, i, i - 1, i, 0, 0);
  CHECK(b.upd.size() == 3);
  b.take_okev = true;
  b.run(20);
  CHECK(b.upd.size() == 4);
  b.take_qperr = false;
  for (uint16_t q = 0; q < 4; ++q) b.nack(q, 0, 0x19);
  CHECK(b.fail_inc == 3);
  b.take_qperr = true;
  b.run(20);
  CHECK(b.fail_inc == 4);
}

}  // namespace mrc::test::tx_inflight_test

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/pipeline/tx/inflight/tx_inflight_bench.hpp"

namespace mrc::test::tx_inflight_sack_test {

using namespace mrc::inflight_test;

TEST_CASE("tx_inflight: an EV that has just worked is told, with its destination and plane",
          "[pipeline][tx_inflight][okev]") {
  Bench b;
  b.sent_all(1, 20);
  b.sack(1, 0, 5, 0, 0b10'0000, 1);
  REQUIRE(b.okev.size() == 1);
  CHECK(b.okev[0] == Okev{.dest = 2, .plane = 1, .ev = 0x1234});
  b.sack(1, 0, 6, 0, 0b110'0000, 2);
  REQUIRE(b.okev.size() == 2);
  CHECK(b.okev[1].plane == 0);
  b.sack(1, 0, 7, 0, 0b1110'0000, 2, 1);  // marked
  b.sack(1, 0, 7, 0, 0b1110'0000, 2, 2);
  b.sack(1, 0, 20, 0, 0b1110'0000, 2);    // not sent
  b.sack(1, 0, -120, 0, 0b1110'0000, 2);  // long ago: 140 before the newest
  CHECK(b.okev.size() == 2);
  b.nack(1, 4, 1);
  b.resent(0, 9);
  b.sack(1, 0, 4, 0, 0b1111'0000, 2);  // a retransmission
  CHECK(b.okev.size() == 2);
}

TEST_CASE("tx_inflight tells a new MPR once, from the newest SACKs, and only with dynamic MPR",
          "[pipeline][tx_inflight][mpr]") {
  Bench b;
  b.ctx.dyn_mpr = true;
  b.configure(0);
  b.sent_all(0, 20);
  b.sent_all(1, 20);
  Ctl c = Bench::sack_of(0, 0, 3, 0, 0b1000, 1);
  c.mpr = 5;
  b.give(c);
  REQUIRE(b.upd.size() == 1);  // without progress
  CHECK(b.upd[0] == Upd{.qp = 0, .una = Bench::kPsn, .ack = false, .msn = 0, .syndrome = 0, .mpr = 5});
  b.give(c);
  CHECK(b.upd.size() == 1);
  c = Bench::sack_of(0, 4, 3, 4, 0, 0);
  c.mpr = 5;
  b.give(c);
  REQUIRE(b.upd.size() == 2);  // progress, and the MPR is as before
  CHECK(b.upd[1] == Upd{.qp = 0, .una = psn_add(Bench::kPsn, 4), .ack = false, .msn = 0, .syndrome = 0, .mpr = 0});
  c = Bench::sack_of(0, 6, 5, 6, 0, 0);
  c.mpr = 2;
  b.give(c);
  REQUIRE(b.upd.size() == 3);  // both
  CHECK(b.upd[2] == Upd{.qp = 0, .una = psn_add(Bench::kPsn, 6), .ack = false, .msn = 0, .syndrome = 0, .mpr = 2});
  c = Bench::sack_of(0, 5, 5, 6, 0, 0);  // one before the newest: late
  c.mpr = 5;
  b.give(c);
  CHECK(b.upd.size() == 3);
  c = Bench::sack_of(0, 6, 7, 6, 0b10, 1);
  c.mpr = 0;  // says nothing
  b.give(c);
  CHECK(b.upd.size() == 3);
  c.qp = 1;  // without dynamic MPR
  c.mpr = 7;
  b.give(c);
  REQUIRE(b.upd.size() == 4);
  CHECK(b.upd[3].mpr == 0);
  b.configure(0);
  b.sent_all(0, 20);
  c = Bench::sack_of(0, 0, 3, 0, 0b1000, 1);
  c.mpr = 2;  // told again to a new QP
  b.give(c);
  REQUIRE(b.upd.size() == 5);
  CHECK(b.upd[4].mpr == 2);
}

namespace {

/// 40 packets of QP 0 are out, packet i on EV i modulo 16; only the same-EV rule can find a loss.
struct SameEv : Bench {
  SameEv() : Bench(true) {
    csr.same_ev = true;
    csr.reorder = 100;
    sent_all(0, 40);
  }
};

}  // namespace

TEST_CASE("tx_inflight: the oldest packet is lost when one sent later on its EV has arrived",
          "[pipeline][tx_inflight][same_ev]") {
  SameEv b;
  b.sack(0, 0, 16, 0, 1u << 16, 1);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == Bench::kPsn);
  CHECK(b.retx[0].avoid_ev == 0);
  REQUIRE(b.fb.size() == 1);
  CHECK(b.fb[0] == Fb{.qp = 0, .ev_idx = 0, .entropy = 0, .kind = FbKind::Loss});
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 3, .kind = CcEvent::Loss, .bytes = 340});
  b.sack(0, 0, 16, 0, 1u << 16, 1);  // it is on its way again
  CHECK(b.retx.size() == 1);
  // The window moves to 3, and EV 3 speaks for it in the same SACK.
  b.sack(0, 3, 19, 3, 1u << 16 | 1u << 13, 2);
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[1].psn == psn_add(Bench::kPsn, 3));
}

TEST_CASE(
    "tx_inflight: a loss takes its packet from the window, or from the flight alone; it says that it was none of a "
    "trim",
    "[pipeline][tx_inflight][A-85][A-88]") {
  SameEv b;
  b.csr.loss_shrinks = GENERATE(false, true);
  b.sack(0, 0, 16, 0, 1u << 16, 1);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] ==
        Ccev{.cc = 3, .kind = b.csr.loss_shrinks ? CcEvent::Loss : CcEvent::Nack, .bytes = 340, .reason = 0});
  Ctl n;
  n.kind = CtlKind::Nack;
  n.psn = psn_add(Bench::kPsn, 5);
  n.reason = static_cast<uint8_t>(wire::NackReason::Trimmed);
  b.give(n);
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[0].lost);
  CHECK_FALSE(b.retx[1].lost);
}

TEST_CASE("tx_inflight: the same-EV rule across rows", "[pipeline][tx_inflight][same_ev]") {
  SameEv b;
  b.sack(0, 20, 36, 20, 1u << 16, 1);  // 20 is in the first row, 36 in the second
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 20));
}

TEST_CASE("tx_inflight: what forbids the same-EV rule", "[pipeline][tx_inflight][same_ev]") {
  SameEv b;
  SECTION("the switch") {
    b.csr.same_ev = false;
    b.sack(0, 0, 16, 0, 1u << 16, 1);
  }
  SECTION("another EV") { b.sack(0, 0, 17, 0, 1u << 17, 1); }
  SECTION("another EV, the same plane") { b.sack(0, 0, 18, 0, 1u << 18, 1); }
  SECTION("the answer to a probe") {
    Ctl c = Bench::sack_of(0, 0, 16, 0, 1u << 16, 1);
    c.pr = true;
    b.give(c);
  }
  SECTION("the oldest packet itself") { b.sack(0, 0, 0, 0, 0, 0); }
  SECTION("a packet sent before") { b.sack(0, 17, 1, 17, 0, 0); }
  SECTION("nothing is out") { b.sack(0, 40, 24, 40, 0, 0); }
  SECTION("a packet not sent yet") { b.sack(0, 0, 48, 0, 0, 0); }
  SECTION("the oldest packet is reported received") { b.sack(0, 0, 16, 0, 1u << 16 | 1u, 1); }
  CHECK(b.retx.empty());
  CHECK(b.fb.empty());
}

TEST_CASE("tx_inflight: a retransmission speaks for no EV", "[pipeline][tx_inflight][same_ev]") {
  SameEv b;
  b.nack(0, 5, 1);
  b.resent(0, 0);  // on EV 0, like packet 0
  b.sack(0, 0, 5, 0, 1u << 5, 1);
  CHECK(b.retx.size() == 1);
}

TEST_CASE("tx_inflight: the same-EV rule leaves a packet that was sent again to the others",
          "[pipeline][tx_inflight][same_ev]") {
  SameEv b;
  b.nack(0, 0, 1);
  REQUIRE(b.retx.size() == 1);
  SECTION("on its way") {}
  SECTION("sent, on the same EV again") { b.resent(0, 0); }
  b.sack(0, 0, 16, 0, 1u << 16, 1);
  CHECK(b.retx.size() == 1);
  CHECK(std::count_if(b.fb.begin(), b.fb.end(), [](const Fb& f) { return f.kind == FbKind::Loss; }) == 0);
}

TEST_CASE("tx_inflight: the same-EV rule does not count a NACK that waits as a loss",
          "[pipeline][tx_inflight][same_ev]") {
  SameEv b;
  b.refuse = 8;
  b.nack(0, 0, 2);
  b.sack(0, 0, 16, 0, 1u << 16, 1);
  b.refuse = 0;
  b.run(60);
  CHECK(b.retx.size() == 1);
  CHECK(b.fb.empty());
}

TEST_CASE("tx_inflight: an ACK of packets that a SACK has acknowledged before completes messages, una stays",
          "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(1, 20);
  b.sack(1, 12, 11, 12, 0, 0);
  b.run(20);
  REQUIRE(b.upd.size() == 1);
  CHECK(b.upd[0].una == psn_add(Bench::kPsn, 12));
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 1;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.give(a);
  b.run(20);
  REQUIRE(b.upd.size() == 2);
  CHECK(b.upd[1].una == psn_add(Bench::kPsn, 12));
  CHECK(b.upd[1].ack);
  CHECK(b.upd[1].msn == 11);
}

}  // namespace mrc::test::tx_inflight_sack_test

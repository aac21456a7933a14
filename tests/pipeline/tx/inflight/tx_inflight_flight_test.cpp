// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "tests/pipeline/tx/inflight/tx_inflight_bench.hpp"

namespace mrc::test::tx_inflight_flight_test {

using namespace mrc::inflight_test;

TEST_CASE("tx_inflight: QPs without congestion control tell and ask no controller", "[pipeline][tx_inflight][cc]") {
  Bench b;
  b.retries(7, 25);
  b.sent_all(0, 20);
  b.nack(0, 3, 1);
  b.sack(0, 5, 12, 5, 0b1111'0000, 4);
  b.run(4000);
  CHECK(b.retx.size() > 10);
  CHECK(b.retx[0].size == Bench::kSize);
  b.resent(0, 3, true);
  b.set_state(0, QpState::Error);
  b.sent(0, 20);
  b.run(10);
  CHECK(b.ccev.empty());
  CHECK(b.rtxreq.empty());
}

TEST_CASE("tx_inflight: a SACK tells the controller what it newly acknowledges", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.ctx.ts = true;
  b.configure(1);
  b.sent_all(1, 20);
  CHECK(b.ccev.empty());
  b.align();
  Ctl c = Bench::sack_of(1, 3, 2, 3, 0, 0, 1);
  c.rcvd = 4;  // 1020 bytes, rounded up
  c.pen = 77;
  c.restore = true;
  c.ts = static_cast<uint16_t>(b.tick() - 5);
  b.give(c);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0] == Ccev{.cc = 2,
                          .kind = CcEvent::Ack,
                          .bytes = 1024,
                          .ecn = true,
                          .rtt_valid = true,
                          .rtt = 5,
                          .pen = 77,
                          .restore = true,
                          .reason = 0});
  b.align();
  c = Bench::sack_of(1, 3, 5, 3, 0b100, 1, 2);  // m 2 is no mark
  c.rcvd = 6;
  c.ts = static_cast<uint16_t>(b.tick() + 3);  // a round trip over the wrap of 16 bits
  b.give(c);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 2, .kind = CcEvent::Ack, .bytes = 512, .rtt_valid = true, .rtt = 0xfffd});
  c.rcvd = 5;  // an old one: nothing, and the newest stays
  b.give(c);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2].bytes == 0);
  c.rcvd = 7;
  b.give(c);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3].bytes == 256);
  c = Bench::sack_of(1, 20, 19, 20, 0, 0);
  c.rcvd = 27;  // all has arrived: all that is left, 6800 - 1792, not 20 * 256
  b.give(c);
  REQUIRE(b.ccev.size() == 5);
  CHECK(b.ccev[4].bytes == 5008);
  b.give(c);
  REQUIRE(b.ccev.size() == 6);
  CHECK(b.ccev[5].bytes == 0);
}

TEST_CASE("tx_inflight: round trips from time stamps in microseconds", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.csr.tsr_us = true;
  b.ctx.ts = true;
  b.configure(1);
  b.sent_all(1, 20);
  b.align();
  Ctl c = Bench::sack_of(1, 3, 2, 3, 0, 0, 1);
  c.ts = static_cast<uint16_t>(b.tick() / 8 - 5);
  b.give(c);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0].rtt_valid);
  CHECK(b.ccev[0].rtt == 40);
  b.align();
  Ctl n;
  n.kind = CtlKind::Nack;
  n.qp = 1;
  n.psn = psn_add(Bench::kPsn, 8);
  n.reason = 2;
  n.ts = static_cast<uint16_t>(b.tick() / 8 + 3);  // 13 bits of units
  b.give(n);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1].rtt == 0xffe8);
}

TEST_CASE("tx_inflight: acknowledged bytes never exceed the flight", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.sent_all(1, 4);
  Ctl c = Bench::sack_of(1, 2, 1, 2, 0, 0);
  c.rcvd = 1000;
  b.give(c);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0].bytes == 1360);
  b.nack(1, 3, 0x0A);  // nothing left to take
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 2, .kind = CcEvent::Nack, .bytes = 0, .reason = 0x0A});
}

TEST_CASE("tx_inflight: what a NACK could not take counts with the next SACK", "[pipeline][tx_inflight][cc]") {
  Bench b(true);  // packets of 340 bytes
  b.csr.reorder = 1000;
  b.sent_all(1, 2);
  Ctl c = Bench::sack_of(1, 1, 0, 1, 0, 0);
  c.rcvd = 2;  // 340 bytes, rounded up
  b.give(c);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0].bytes == 512);  // 168 are left
  b.nack(1, 1, 0x02);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1].bytes == 168);  // 172 fewer than the packet
  b.run(60);
  REQUIRE(b.retx.size() == 1);  // in flight again: 340
  b.sent(1, 2);
  c = Bench::sack_of(1, 2, 1, 2, 0, 0);
  c.rcvd = 3;  // 680 bytes
  b.give(c);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2].bytes == 256 + 172);
  b.nack(1, 2, 0x02);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3].bytes == 252);  // all that is left; 88 fewer
  b.run(60);
  b.sent(1, 3);
  c.rcvd = 2;  // an older SACK: the 88 stay
  b.give(c);
  REQUIRE(b.ccev.size() == 5);
  CHECK(b.ccev[4].bytes == 0);
  c = Bench::sack_of(1, 3, 2, 3, 0, 0);
  c.rcvd = 4;  // 1020 bytes
  b.give(c);
  REQUIRE(b.ccev.size() == 6);
  CHECK(b.ccev[5].bytes == 256 + 88);
}

TEST_CASE("tx_inflight: the answer to a probe acknowledges, but is no sample", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.ctx.ts = true;
  b.configure(1);
  b.sent_all(1, 20);
  Ctl c = Bench::sack_of(1, 3, 2, 3, 0, 0);
  c.pr = true;
  c.rcvd = 4;
  b.give(c);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0] == Ccev{.cc = 2, .kind = CcEvent::Ack, .bytes = 1024});
  CHECK(b.okev.empty());
  CHECK(b.pres.size() == 1);
}

TEST_CASE("tx_inflight: a NACK takes its packet out of the flight, once", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.ctx.ts = true;
  b.configure(0);
  b.refuse = 8;
  b.sent_all(0, 10);
  b.align();
  Ctl n;
  n.kind = CtlKind::Nack;
  n.qp = 0;
  n.psn = psn_add(Bench::kPsn, 4);
  n.reason = 2;
  n.ts = static_cast<uint16_t>(b.tick() - 9);
  n.pen = 5;
  n.restore = true;
  b.give(n);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0] == Ccev{.cc = 3, .kind = CcEvent::Nack, .bytes = 340, .rtt_valid = true, .rtt = 9, .reason = 2});
  b.give(n);  // it waits already
  CHECK(b.ccev.size() == 1);
  CHECK(b.retx.empty());
  b.refuse = 0;
  b.run(40);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.fb.empty());  // no loss
  CHECK(b.ccev.size() == 1);
  b.resent(0, 7);
  b.give(n);  // of the retransmission: no sample
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 3, .kind = CcEvent::Nack, .bytes = 340, .rtt_valid = false, .rtt = 0, .reason = 2});
  REQUIRE(b.retx.size() == 2);
  b.resent(1, 8);
  b.csr.rtt_rtx = true;
  b.align();
  n.ts = static_cast<uint16_t>(b.tick() - 2);
  b.give(n);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2] == Ccev{.cc = 3, .kind = CcEvent::Nack, .bytes = 340, .rtt_valid = true, .rtt = 2, .reason = 2});
  n.psn = psn_add(Bench::kPsn, 10);  // not sent
  b.give(n);
  CHECK(b.ccev.size() == 3);
  b.run(20);
  REQUIRE(b.retx.size() == 3);
  b.set_state(0, QpState::Reset);
  b.run(4);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3] == Ccev{.cc = 3, .kind = CcEvent::Nack, .bytes = 3400});  // all ten are in it
}

TEST_CASE("tx_inflight: what a NACK took out and arrives all the same is not acknowledged twice",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.refuse = 15;
  b.sent_all(3, 40);  // packets 32.. are in the second row
  for (const unsigned i : {30u, 31u, 33u}) b.nack(3, i, 1);
  REQUIRE(b.ccev.size() == 3);
  // 0..29 have arrived, and 30, 33, 34.
  Ctl c = Bench::sack_of(3, 30, 34, 30, 0b11001, 2);
  c.rcvd = 44;  // 33 * 340 = 11220
  b.give(c);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3].bytes == 44 * 256 - 2 * 340);
  c.rcvd = 45;  // the same report again cancels nothing
  b.give(c);
  REQUIRE(b.ccev.size() == 5);
  CHECK(b.ccev[4].bytes == 256);
  CHECK(b.retx.empty());
  b.refuse = 0;
  b.run(60);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 31));
}

TEST_CASE("tx_inflight: cancelled losses that weigh more than the news acknowledge nothing",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.refuse = 15;
  b.sent_all(3, 10);
  for (const unsigned i : {3u, 4u}) b.nack(3, i, 1);
  Ctl c = Bench::sack_of(3, 3, 4, 3, 0b11, 0);
  c.rcvd = 2;
  b.give(c);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2] == Ccev{.cc = 0, .kind = CcEvent::Ack, .bytes = 0});
  b.csr.nominal = Nominal::Payload;  // a packet weighs 256 then
  b.nack(3, 5, 1);
  c = Bench::sack_of(3, 3, 5, 3, 0b111, 0);
  c.rcvd = 5;
  b.give(c);
  REQUIRE(b.ccev.size() == 5);
  CHECK(b.ccev[4].bytes == 3 * 256 - 256);
}

TEST_CASE("tx_inflight: a SACK whose bitmap lies outside the window cancels nothing", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.refuse = 15;
  b.sent_all(3, 10);
  b.sent_all(2, 10);
  for (const unsigned i : {3u, 4u}) b.nack(3, i, 1);
  b.sack(3, 3, 4, 3, 0b11, 0);  // cancels two
  Ctl c = Bench::sack_of(2, 3, 2, 50, 0, 0);
  c.rcvd = 4;
  b.give(c);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3] == Ccev{.cc = 1, .kind = CcEvent::Ack, .bytes = 1024});
}

TEST_CASE("tx_inflight: a loss is told once, its retransmission asks until it is allowed",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.csr.lost_stays = true;
  b.refuse = 4;
  b.sent_all(1, 40);
  b.sack(1, 3, 12, 3, 0b11'1111'1100, 8);  // 3 and 4 are lost
  b.run(300);
  CHECK(b.retx.empty());
  REQUIRE(b.fb.size() == 1);  // 3 only: 4 has not been looked at
  CHECK(b.fb[0] == Fb{.qp = 1, .ev_idx = 3, .entropy = 0, .kind = FbKind::Loss});
  REQUIRE(b.ccev.size() == 2);  // the SACK, and the loss
  CHECK(b.ccev[1] == Ccev{.cc = 2, .kind = CcEvent::Loss, .bytes = 340});
  REQUIRE(b.rtxreq.size() > 10);
  for (std::size_t i = 0; i < b.rtxreq.size(); ++i) {
    CHECK(b.rtxreq[i] == Ccreq{.cc = 2, .min = 340, .bytes = 340});
    const unsigned since = b.rtxreq_at[i] - b.rtxreq_at[0];  // one in 16 cycles; a timer visit may go first
    CHECK(since >= 16 * i - (i == 0 ? 0 : 15));
    CHECK(since <= 16 * i + 4);
  }
  b.refuse = 0;
  b.run(60);
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[0] == Retx{.qp = 1,
                          .psn = psn_add(Bench::kPsn, 3),
                          .msn = 10,
                          .row = 2,
                          .idx = 3,
                          .avoid_ev = 3,
                          .size = 340,
                          .lost = false});
  CHECK(b.retx[1].psn == psn_add(Bench::kPsn, 4));
  CHECK(b.rtx_inc == 2);
  CHECK(b.fb.size() == 2);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2] == Ccev{.cc = 2, .kind = CcEvent::Loss, .bytes = 340});
  b.set_state(1, QpState::Reset);
  b.run(4);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3].bytes == 40 * 340);  // two lost, two asked for again; the SACK brought no rcvd_bytes
}

TEST_CASE("tx_inflight: a packet that counts for no bytes goes again without leave", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.refuse = 4;
  for (unsigned i = 0; i < 20; ++i) {
    Rec empty = Bench::packet(1, i);
    empty.size = 0;
    b.give(empty);
  }
  b.run(30);
  b.nack(1, 3, 1);
  b.run(60);
  CHECK(b.rtxreq.empty());
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 3));
  CHECK(b.retx[0].size == 0);
  CHECK(b.rtx_inc == 1);
}

TEST_CASE("tx_inflight: a destination that refuses holds up no other's retransmissions, news and timers",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.refuse = 8;  // of QP 0
  b.sent_all(0, 20);
  b.sent_all(1, 20);
  b.nack(0, 3, 1);
  for (unsigned i = 0; i < 10; ++i) b.nack(1, i, 1);
  b.run(200);
  CHECK(b.retx.size() == 10);
  for (const Retx& r : b.retx) CHECK(r.qp == 1);
  b.sack(0, 2, 1, 2, 0, 0);
  CHECK(b.upd.size() == 1);
}

TEST_CASE("tx_inflight waits for the answer to a retransmission's question", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.answer = false;
  b.sent_all(0, 20);
  b.nack(0, 3, 1);
  b.run(100);
  CHECK(b.retx.empty());
  b.give(Bench::packet(1, 0));
  b.run(10);
  CHECK(b.rec.has());  // a packet that begins a block waits
  b.answer = true;
  b.run(20);
  CHECK(b.retx.size() == 1);
  CHECK_FALSE(b.rec.has());
  b.answer = false;
  b.nack(0, 4, 1);
  b.give(Bench::packet(1, 1));  // others do not
  b.give(Bench::packet(0, 20));
  b.run(2);
  CHECK_FALSE(b.rec.has());
}

TEST_CASE("tx_inflight: the newest packet again for a missing ACK asks, too", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.retries(7, 25);
  b.refuse = 8;
  b.sent_all(0, 10);
  b.sack(0, 10, 9, 10, 0, 0);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0].bytes == 3400);
  b.run(1300);
  CHECK(b.rto_inc == 1);
  CHECK(b.retx.empty());
  CHECK(b.rtxreq.size() > 3);
  b.refuse = 0;
  b.run(30);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 9));
  CHECK(b.ccev.size() == 1);  // no loss
  CHECK(b.fb.empty());
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  const unsigned t0 = b.tick();
  b.give(a);
  b.run_to_tick(t0 + 7);
  CHECK(b.ccev.size() == 1);  // a SACK may still follow
  b.run_to_tick(t0 + 10);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 3, .kind = CcEvent::Ack, .bytes = 340});
}

TEST_CASE("tx_inflight: a copy that was sent for an ACK and got lost leaves the flight when the next one is due",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.retries(7, 25);
  b.sent_all(0, 10);
  b.sack(0, 10, 9, 10, 0, 0);  // all have arrived; the ACK is missing
  b.ccev.clear();
  b.run_to_tick(b.tick() + 12);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.granted.size() == 1);
  CHECK(b.ccev.empty());
  b.run_to_tick(b.tick() + 12);  // 340 bytes would stay in flight for ever, and shut a window of one packet
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0] == Ccev{.cc = 3, .kind = CcEvent::Nack, .bytes = 340});
  CHECK(b.retx.size() == 2);
}

TEST_CASE("tx_inflight: bytes that an ACK stood for are not taken again by the next SACK",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.retries(7, 25);
  b.sent_all(0, 10);
  const auto sack = [&](unsigned cack, uint32_t rcvd) {
    Ctl c = Bench::sack_of(0, cack, cack - 1, cack, 0, 0);
    c.rcvd = rcvd;
    b.give(c);
  };
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.give(a);
  b.run_to_tick(b.tick() + 10);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0] == Ccev{.cc = 3, .kind = CcEvent::Ack, .bytes = 3400});
  for (unsigned i = 10; i < 20; ++i) b.sent(0, i);
  sack(12, 16);  // 4096 bytes: 3400 of them are known, and two packets (680) are new
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1].bytes == 4096 - 3400);
  sack(13, 17);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2].bytes == 256);
  sack(20, 27);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3].bytes == 3400 - 696 - 256);
}

TEST_CASE("tx_inflight: a packet that waits as lost and turns out to be trimmed leaves its EV in use",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.csr.rtt_rtx = false;
  b.sent_all(0, 20);
  b.answer = false;                       // the first of them waits for its controller
  b.sack(0, 0, 9, 0, 0b11'1111'1100, 8);  // 0 and 1 are missing: lost
  b.nack(0, 1, 1);
  b.ccev.clear();
  b.fb.clear();
  b.answer = true;
  b.run(100);
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[1].psn == psn_add(Bench::kPsn, 1));
  for (const Fb& f : b.fb) CHECK_FALSE((f.ev_idx == 1 && f.kind == FbKind::Loss));
  unsigned nacks = 0;
  for (const Ccev& e : b.ccev) nacks += e.kind == CcEvent::Nack && e.reason == 1 && e.bytes == 340;
  CHECK(nacks == 1);
  for (const Ccev& e : b.ccev) CHECK(e.kind != CcEvent::Loss);
}

TEST_CASE("tx_inflight: bytes that a finished QP still has in flight leave it when its timer's time has passed",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.retries(7, 25);
  b.refuse = 8;
  b.sent_all(0, 10);
  b.sack(0, 10, 9, 10, 0, 0);
  b.run(1300);
  REQUIRE(b.rtxreq.size() > 3);  // the newest packet waits for its chance
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.align();
  const unsigned t0 = b.tick();
  b.give(a);
  CHECK(b.ccev.size() == 1);  // nothing is in flight
  b.refuse = 0;
  b.run(40);
  CHECK(b.retx.size() == 1);  // and now it goes, though nobody needs it
  b.run_to_tick(t0 + 8);
  CHECK(b.ccev.size() == 1);
  b.run_to_tick(t0 + 10);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 3, .kind = CcEvent::Ack, .bytes = 340});
  CHECK(b.rto_inc == 1);
  b.run(5000);
  CHECK(b.ccev.size() == 2);
}

TEST_CASE("tx_inflight: a retransmission that was not sent leaves the flight", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.sent_all(2, 10);
  b.nack(2, 3, 1);
  REQUIRE(b.retx.size() == 1);
  REQUIRE(b.ccev.size() == 1);
  b.resent(0, 5, true);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 1, .kind = CcEvent::Nack, .bytes = 340});
  b.nack(2, 3, 1);
  CHECK(b.retx.at(1).avoid_ev == 3);  // the voided one is no news of packet 3
  REQUIRE(b.ccev.size() == 3);
  b.set_state(2, QpState::Error);
  b.run(4);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3].bytes == 10 * 340 - 340);  // the second NACK found its packet told already
  b.resent(1, 5, true);                      // the QP has given everything back
  CHECK(b.ccev.size() == 4);
}

TEST_CASE("tx_inflight: a packet of a QP that is not live leaves the flight at once", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.sent_all(2, 3);
  b.nack(2, 1, 1);
  REQUIRE(b.retx.size() == 1);
  b.set_state(2, QpState::Error);
  b.run(4);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 1, .kind = CcEvent::Nack, .bytes = 3 * 340});
  b.sent(2, 3);  // asked for before
  b.run(10);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2] == Ccev{.cc = 1, .kind = CcEvent::Nack, .bytes = 340});
  b.resent(0, 5);  // given back already
  CHECK(b.ccev.size() == 3);
  b.set_state(2, QpState::Error);
  b.configure(2);
  b.run(4);
  CHECK(b.ccev.size() == 3);
}

TEST_CASE("tx_inflight: a QP that ends gives everything back and tells csr", "[pipeline][tx_inflight][cc][retry]") {
  Bench b(true);
  b.retries(0, 0);
  b.sent_all(0, 10);
  b.run_to_tick(b.tick() + 10);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0] == Ccev{.cc = 3, .kind = CcEvent::Nack, .bytes = 3400});
  REQUIRE(b.qperr.size() == 1);
  CHECK(b.qperr[0] == Qperr{.qp = 0, .status = CqStatus::RetryExceeded});
  b.retries(7, 25, 20);
  b.sent_all(1, 5);
  b.nack(1, 60, 0x19);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 2, .kind = CcEvent::Nack, .bytes = 1700});  // reason 0: not a NACK of the fabric
  REQUIRE(b.qperr.size() == 2);
  CHECK(b.qperr[1] == Qperr{.qp = 1, .status = CqStatus::RemEvent});
  b.sent_all(2, 6);
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 2;
  a.msn = 10;
  a.reason = 0x62;
  b.give(a);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2] == Ccev{.cc = 1, .kind = CcEvent::Nack, .bytes = 2040});
  REQUIRE(b.qperr.size() == 3);
  CHECK(b.qperr[2] == Qperr{.qp = 2, .status = CqStatus::RemAccess});
  b.sent_all(3, 1);
  b.set_state(3, QpState::Rts);  // no end
  b.run(4);
  CHECK(b.ccev.size() == 3);
  b.sack(3, 1, 0, 1, 0, 0);
  CHECK(b.ccev.size() == 4);
}

TEST_CASE("tx_inflight: QP_CTX gives back to the old destination, and waits until it can",
          "[pipeline][tx_inflight][cc][cfg]") {
  Bench b(true);
  b.sent_all(0, 10);
  b.take_ccev = false;
  for (unsigned i = 1; i <= 3; ++i) b.sack(0, i, i - 1, i, 0, 0);  // FIFO of two, and the register
  b.request(0);
  csr::TblQpCtx row = b.ctx;
  row.dest = 1;
  row.pack(b.cfg.data.data());
  b.run(1000);
  CHECK_FALSE(b.inflight.cfg_ack());
  b.sent(0, 10);  // packets of live QPs go on
  b.sent(1, 0);
  b.run(20);
  CHECK_FALSE(b.rec.has());
  Rec voided = Bench::packet(1, 0);
  voided.rtx = voided.voided = true;
  b.give(voided);
  b.run(20);
  CHECK(b.rec.has());
  b.take_ccev = true;
  b.finish_cfg();
  b.run(20);
  CHECK_FALSE(b.rec.has());
  REQUIRE(b.ccev.size() == 5);
  CHECK(b.ccev[3] == Ccev{.cc = 3, .kind = CcEvent::Nack, .bytes = 3740});
  CHECK(b.ccev[4] == Ccev{.cc = 2, .kind = CcEvent::Nack, .bytes = 340});
  b.sent_all(0, 1);
  b.sack(0, 1, 0, 1, 0, 0);
  REQUIRE(b.ccev.size() == 6);
  CHECK(b.ccev[5] == Ccev{.cc = 1, .kind = CcEvent::Ack, .bytes = 340});
}

TEST_CASE("tx_inflight: QP_STATE waits until the QP can give back", "[pipeline][tx_inflight][cc][cfg]") {
  Bench b(true);
  b.sent_all(0, 10);
  b.take_ccev = false;
  for (unsigned i = 1; i <= 3; ++i) b.sack(0, i, i - 1, i, 0, 0);
  b.cfg.table = static_cast<uint8_t>(CfgTable::Ev);  // other tables do not
  b.cfg.req = true;
  b.finish_cfg();
  b.cfg.table = static_cast<uint8_t>(CfgTable::QpState);
  b.cfg.index = 0;
  b.cfg.data[0] = 4;
  b.cfg.req = true;
  b.run(1000);
  CHECK_FALSE(b.inflight.cfg_ack());
  b.take_ccev = true;
  b.finish_cfg();
  b.run(4);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3].bytes == 3400);
}

}  // namespace mrc::test::tx_inflight_flight_test

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/pipeline/tx/inflight/tx_inflight_bench.hpp"

namespace mrc::test::tx_inflight_blocks_test {

using namespace mrc::inflight_test;

TEST_CASE("tx_inflight: a packet that would need the oldest block's place in the map waits for its end",
          "[pipeline][tx_inflight][blocks]") {
  Bench b;  // a window of 8 blocks
  b.sent_all(0, 128);
  CHECK_FALSE(b.rec.has());
  b.sent(0, 128);
  b.run(20);
  CHECK(b.rec.has());
  b.sack(0, 15, 14, 15, 0, 0);  // still in the first block
  CHECK(b.rec.has());
  CHECK(b.freed == 0);
  b.sack(0, 16, 15, 16, 0, 0);
  CHECK_FALSE(b.rec.has());
  CHECK(b.freed == 1);
  b.nack(0, 128, 2);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0] == order_of(Bench::packet(0, 128)));
  b.nack(0, 16, 2);
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[1] == order_of(Bench::packet(0, 16)));
}

TEST_CASE("tx_inflight gives blocks back as the window moves on, and all of them when a QP ends",
          "[pipeline][tx_inflight][blocks]") {
  Bench b;
  b.sent_all(0, 75);  // five blocks
  b.sack(0, 20, 19, 20, 0, 0);
  CHECK(b.freed == 1);
  b.sack(0, 31, 30, 31, 0, 0);
  CHECK(b.freed == 1);
  Ctl a;
  a.kind = CtlKind::Ack;
  a.psn = psn_add(Bench::kPsn, 49);
  a.msn = 15;
  a.reason = 0x1f;
  b.give(a);
  CHECK(b.freed == 3);
  SECTION("by QP_STATE") { b.set_state(0, QpState::Error); }
  SECTION("by a failure") { b.nack(0, 60, 0x19); }
  SECTION("by a NAK") {
    a.reason = 0x61;
    b.give(a);
  }
  SECTION("by QP_CTX, which waits for them") {
    b.request(0);
    while (!b.inflight.cfg_ack()) b.cycle();
    CHECK(b.freed == 5);
    b.finish_cfg();
  }
  b.run(20);
  CHECK(b.freed == 5);
  b.configure(0);
  CHECK(b.freed == 5);
  b.sent_all(0, 1);
  b.nack(0, 0, 2);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0] == order_of(Bench::packet(0, 0)));
}

TEST_CASE("tx_inflight: a QP that lives again in the middle of a block begins one", "[pipeline][tx_inflight][blocks]") {
  Bench b;
  b.ctx.sq_psn = 0x1007;
  b.configure(0);
  Rec r = Bench::packet(0, 0);
  for (unsigned i = 0; i < 12; ++i) {
    r.psn = 0x1007 + i;
    r.ev_idx = static_cast<uint16_t>(i);
    b.give(r);
  }
  b.run(8);
  b.give(Ctl{.kind = CtlKind::Nack, .qp = 0, .psn = 0x1007, .reason = 2});
  b.give(Ctl{.kind = CtlKind::Nack, .qp = 0, .psn = 0x1012, .reason = 2});
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[0].avoid_ev == 0);
  CHECK(b.retx[1].avoid_ev == 11);
  b.set_state(0, QpState::Reset);
  b.run(20);
  CHECK(b.freed == 2);
}

TEST_CASE("tx_inflight: packets of QPs that are not live give back the blocks they were counted for",
          "[pipeline][tx_inflight][blocks]") {
  Bench b;
  b.sent_all(0, 14);
  b.set_state(0, QpState::Error);
  b.run(20);
  CHECK(b.freed == 1);
  for (unsigned i = 14; i < 18; ++i) b.sent(0, i);  // one begins a block
  b.run(20);
  CHECK(b.freed == 2);
  Rec again = Bench::packet(0, 0);  // a retransmission was counted for none
  again.rtx = true;
  b.give(again);
  b.run(20);
  CHECK(b.freed == 2);
  // The first packet of a QP begins one wherever it lies; it may end before that comes.
  b.ctx.sq_psn = psn_add(Bench::kPsn, 5);
  b.configure(1);
  b.set_state(1, QpState::Error);
  b.sent(1, 5);
  b.sent(1, 6);
  b.run(20);
  CHECK(b.freed == 3);
}

TEST_CASE("tx_inflight: a QP keeps the block of its newest packet, for the sake of its ACK",
          "[pipeline][tx_inflight][blocks]") {
  Bench b;
  b.retries(7, 25);
  const unsigned n = GENERATE(16u, 32u, 21u);  // at a block's end, or not
  const unsigned before = (n - 1) / 16;        // blocks that are done
  b.sent_all(0, n);
  b.sack(0, n, n - 1, n, 0, 0);
  CHECK(b.freed == before);
  b.ctx.timeout = 20;
  for (uint16_t q = 1; q < 4; ++q) {
    b.configure(q);
    b.sent_all(q, 90);  // six blocks each: all but two of the twenty, QP 0 has one
  }
  b.run(1300);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0] == order_of(Bench::packet(0, n - 1)));
  // The block goes on as the next one: one is counted, one comes back.
  b.sent(0, n);
  b.run(8);
  CHECK(b.freed == before + (n % 16 == 0));
  b.nack(0, n, 2);
  REQUIRE(b.retx.size() >= 2);
  CHECK(b.retx.back() == order_of(Bench::packet(0, n)));
  b.nack(0, n - 1, 2);  // acknowledged
  CHECK(b.retx.back().psn == psn_add(Bench::kPsn, n));
  b.set_state(0, QpState::Reset);
  b.run(20);
  CHECK(b.freed == n / 16 + 1);
}

TEST_CASE("tx_inflight: a retransmission recorded after its block was given back changes no record",
          "[pipeline][tx_inflight][blocks]") {
  Bench b;
  b.sent_all(0, 20);
  b.nack(0, 3, 2);
  REQUIRE(b.retx.size() == 1);
  b.sack(0, 20, 19, 20, 0, 0);
  CHECK(b.freed == 1);
  b.sent_all(1, 16);  // in the block that has come back
  b.resent(0, 9);
  b.nack(1, 3, 2);
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[1] == order_of(Bench::packet(1, 3)));
}

TEST_CASE("tx_inflight: feedback about blocks given back changes no EV", "[pipeline][tx_inflight][blocks]") {
  Bench b(true);
  b.ctx.ts = true;
  b.configure(0);
  b.sent_all(0, 40);
  b.sack(0, 20, 19, 20, 0, 0);
  b.ccev.clear();
  b.okev.clear();
  b.sack(0, 20, 17, 20, 0, 0, 1);  // in the block of the oldest packet out
  CHECK(b.fb.size() == 1);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0].rtt_valid);
  b.sack(0, 20, 15, 20, 0, 0, 1);  // in the one before
  b.sack(0, 20, 3, 20, 0, 0);
  b.nack(0, 3, 1);
  CHECK(b.fb.size() == 1);
  CHECK(b.okev.empty());
  REQUIRE(b.ccev.size() == 3);
  CHECK_FALSE(b.ccev[1].rtt_valid);
  b.configure(1);  // nothing sent yet
  b.sack(1, 0, -1, 0, 0, 0, 1);
  CHECK(b.fb.size() == 1);
}

TEST_CASE("tx_inflight: a packet recorded in the very cycle in which its QP ends leaves the flight",
          "[pipeline][tx_inflight][cc][blocks]") {
  const unsigned how = GENERATE(0u, 1u, 2u, 3u);
  for (unsigned at = 0; at < 12; ++at) {
    CAPTURE(how, at);
    Bench b(true);
    unsigned n = 0;
    const auto stream = [&](unsigned cycles) {
      for (unsigned i = 0; i < cycles; ++i) {
        if (b.rec.free()) b.rec.load(Bench::packet(1, n++));
        b.cycle();
      }
    };
    stream(1);
    b.run(10);
    b.take_ccev = at % 2 == 0;  // two events fill the FIFO, what is given back the register
    b.sack(1, 0, 0, 0, 0, 0);
    b.sack(1, 0, 0, 0, 0, 0);
    stream(20 + at);
    if (how == 0) b.ctl.load(Ctl{.kind = CtlKind::Nack, .qp = 1, .psn = Bench::kPsn, .reason = 0x19});
    if (how == 1) b.ctl.load(Ctl{.kind = CtlKind::Ack, .qp = 1, .reason = 0x61, .msn = 10});
    if (how >= 2) {
      b.ctx.state = QpState::Reset;  // what comes after it finds no new life
      b.request(1);
      if (how == 2) {
        b.cfg.table = static_cast<uint8_t>(CfgTable::QpState);
        b.cfg.data[0] = 0;
      }
    }
    stream(how == 3 ? 1 : 30);
    b.run(50);
    b.take_ccev = true;
    b.run(100);
    b.cfg.req = false;
    b.run(100);
    uint64_t bytes = 0;
    for (const Ccev& e : b.ccev) bytes += e.bytes;
    CHECK(bytes == uint64_t{n} * Bench::kSize);
    if (how != 3) CHECK(b.freed == (n + 15) / 16);  // the first packet after QP_CTX would begin a block
  }
}

}  // namespace mrc::test::tx_inflight_blocks_test

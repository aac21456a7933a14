// SPDX-License-Identifier: Apache-2.0
// Retransmissions, and how QPs end.
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "tests/pipeline/tx/segment/tx_segment_bench.hpp"

namespace mrc::test::tx_segment_retry_test {

using namespace mrc::test::tx_segment;

TEST_CASE("tx_segment retransmits on order, unless the message is complete", "[pipeline][tx_segment]") {
  Bench b;
  b.post(1, 1000, 1, true);
  b.run(40);
  const PoolRow row = b.pkts[1].row;
  b.pkts.clear();
  b.post(1, 500);
  b.run(20);
  b.pkts.clear();
  b.retx.load({.qp = 1, .psn = 0xffffff, .msn = 0xffff, .row = row, .idx = 1, .avoid_ev = 9});
  b.run(10);
  REQUIRE(b.pkts.size() == 1);
  const Pkt& p = b.pkts[0];
  CHECK(p.rtx);
  CHECK_FALSE(p.ackreq);
  CHECK(p.psn == 0xffffff);
  CHECK(p.msn == 0xffff);
  CHECK(p.row == row);
  CHECK(p.idx == 1);
  CHECK(p.opcode == 0xC7);
  CHECK(p.va == 0x2100);
  CHECK(p.rqmsn == 5);
  CHECK(p.avoid_ev == 9);
  b.update({.qp = 1, .una = 2, .ack = true, .msn = 0, .syndrome = 0});
  b.retx.load({.qp = 1, .psn = 0xffffff, .msn = 0xffff, .row = row, .idx = 1, .avoid_ev = 9});
  b.run(10);
  CHECK(b.pkts.size() == 1);
}

TEST_CASE("tx_segment: two copies are for a QP that has nothing else to send", "[pipeline][tx_segment][A-89]") {
  Bench b;
  const auto again = [&](bool two) {  // packet 0 of QP 1's first message
    const std::size_t n = b.pkts.size();
    b.retx.load({.qp = 1, .psn = 0xfffffe, .msn = 0xffff, .idx = 0, .avoid_ev = 9, .lost = true, .two = two});
    b.run(10);
    REQUIRE(b.pkts.size() > n);
    REQUIRE(b.pkts[n].rtx);
    CHECK(b.pkts[n].lost);
    return b.pkts[n].two;
  };
  SECTION("that has sent all") {
    b.post(1, 1000);
    b.run(40);
    CHECK(again(true));
    CHECK_FALSE(again(false));
    for (const Pkt& p : b.pkts) CHECK((p.rtx || !p.two));
  }
  SECTION("whose window is full: 128 PSNs") {
    b.post(1, 256 * 129);
    b.run(400);
    REQUIRE(b.pkts.size() == 128);
    CHECK(again(true));
    b.update({.qp = 1, .una = 0xffffff});  // one more may go
    REQUIRE(b.pkts.size() == 130);
    CHECK(again(true));
  }
  SECTION("not one whose turn will come") {
    b.post(1, 1000);
    b.run(40);
    b.pkts.clear();
    b.take_pkt = false;
    b.post(1, 256 * 20);
    b.run(40);
    b.retx.load({.qp = 1, .psn = 0xfffffe, .msn = 0xffff, .idx = 0, .lost = true, .two = true});
    b.run(20);
    b.take_pkt = true;
    b.run(80);
    unsigned found = 0;
    for (const Pkt& p : b.pkts) {
      found += p.rtx;
      CHECK_FALSE(p.two);
    }
    CHECK(found == 1);
  }
  SECTION("nor one that its controller has refused") {
    b.control(1, 1);
    b.grant_bytes(1, 8 * 340);
    b.post(1, 256 * 30);
    b.run(200);
    REQUIRE_FALSE(b.pkts.empty());
    REQUIRE(b.pkts.size() < 30);
    CHECK_FALSE(again(true));
  }
  SECTION("nor what is not needed any more") {
    b.control(1, 1);
    b.grant_bytes(1, 100 * 340);
    b.post(1, 256);
    b.run(60);
    b.update({.qp = 1, .una = 0xffffff, .ack = true, .msn = 0, .syndrome = 0});
    b.pkts.clear();
    b.retx.load({.qp = 1, .psn = 0xfffffe, .msn = 0xffff, .idx = 0, .lost = true, .two = true});
    b.run(10);
    REQUIRE(b.pkts.size() == 1);
    CHECK(b.pkts[0].voided);
    CHECK_FALSE(b.pkts[0].two);
  }
}

TEST_CASE("tx_segment: retransmissions go between the packets of a burst, and change nothing else",
          "[pipeline][tx_segment]") {
  Bench b;
  b.post(1, 256, 1);
  b.run(20);
  REQUIRE(b.pkts.size() == 1);
  const Retx order{.qp = 1, .psn = 0xfffffe, .msn = 0xffff, .row = b.pkts[0].row, .idx = 0, .avoid_ev = 3, .size = 340};
  for (unsigned i = 0; i < 8; ++i) b.post(0, 256 * (i + 1));  // 36 packets
  while (b.pkts.size() < 37) {
    if (b.retx.free() && b.cycles % 4 == 0) b.retx.load(order);  // as often as tx_inflight can
    b.cycle();
    REQUIRE(b.cycles < 2000);
  }
  b.run(100);
  std::vector<Pkt> news;
  unsigned again = 0;
  for (unsigned i = 1; i < b.pkts.size(); ++i) {
    if (b.pkts[i].rtx) {
      ++again;
      CHECK(b.pkts[i].qp == 1);
    } else {
      news.push_back(b.pkts[i]);
    }
  }
  CHECK(again > 5);
  REQUIRE(news.size() == 36);
  unsigned n = 0;
  for (unsigned m = 0; m < 8; ++m) {
    for (unsigned k = 0; k <= m; ++k, ++n) {
      CHECK(news[n].psn == psn_add(0xfffffe, n));
      CHECK(news[n].msn == static_cast<uint16_t>(0xffff + m));
      CHECK(news[n].idx == k);
      CHECK(news[n].dmalen == 256 * (m + 1));
      CHECK(news[n].last == (k == m));
    }
  }
}

TEST_CASE("tx_segment: what goes again overtakes bursts whose rows are there", "[pipeline][tx_segment]") {
  for (const bool controlled : {false, true}) {
    CAPTURE(controlled);
    Bench b;
    b.post(3, 256, 1);
    b.run(20);
    REQUIRE(b.pkts.size() == 1);
    Retx order{.qp = 3, .psn = 0xfffffe, .msn = 0xffff, .row = b.pkts[0].row, .idx = 0, .avoid_ev = 3, .size = 340};
    b.pkts.clear();
    b.take_pkt = b.take_req = false;  // bursts wait, one of them for its controller
    if (controlled) b.control(2, 1);
    for (uint16_t q = 0; q < 3; ++q) b.post(q, 4096);
    b.run(40);
    for (uint16_t next = 0; b.pkts.size() < 8; b.cycle()) {
      if (next < 4 && b.retx.free()) {
        order.avoid_ev = next++;
        b.retx.load(order);
      }
      b.take_pkt = b.cycles > 100;  // from then on one in each cycle
      REQUIRE(b.cycles < 200);
    }
    // Three were new, and waited in the output. The next four are those that go again, in their order.
    for (unsigned i = 0; i < 3; ++i) CHECK_FALSE(b.pkts[i].rtx);
    for (uint16_t i = 0; i < 4; ++i) {
      CHECK(b.pkts[3 + i].rtx);
      CHECK(b.pkts[3 + i].avoid_ev == i);
    }
    CHECK_FALSE(b.pkts[7].rtx);
    b.take_req = true;
    b.grant_packets(1, 16);
    b.run(200);
    CHECK(b.pkts.size() == 4 + 3 * 16);
  }
}

TEST_CASE("tx_segment: a NAK completes what was good before it, ends the message it names and fails the QP",
          "[pipeline][tx_segment]") {
  Bench b;
  for (uint32_t i = 0; i < 3; ++i) b.post(0, 100, 20 + i);
  b.run(30);
  b.update({.qp = 0, .una = 0xfffffe, .ack = true, .msn = 0, .syndrome = 0x62});  // 0xffff good, 0 refused
  REQUIRE(b.cqes.size() == 3);
  b.expect(0, 0, CqStatus::Ok, 20, 100, 0xffff);
  b.expect(1, 0, CqStatus::RemAccess, 21, 100, 0);
  b.expect(2, 0, CqStatus::Flushed, 22, 100, 1);
  b.post(0, 100, 30);
  b.run(10);
  REQUIRE(b.cqes.size() == 4);
  b.expect(3, 0, CqStatus::Flushed, 30, 0, 0);
  b.update({.qp = 0, .una = 0xfffffe, .ack = true, .msn = 0, .syndrome = 0x62});
  CHECK(b.cqes.size() == 4);
}

TEST_CASE("tx_segment: the end of a QP's retries blames the oldest message and flushes the rest, each once",
          "[pipeline][tx_segment][retry]") {
  Bench b;
  for (uint32_t i = 0; i < 4; ++i) b.post(0, 100 + i, 20 + i);
  b.post(1, 100, 40);
  b.run(40);
  b.update({.qp = 0, .una = 0xffffff, .ack = true, .msn = 0, .syndrome = 0x1f});
  REQUIRE(b.cqes.size() == 1);
  b.pkts.clear();
  b.update({.qp = 0, .una = 0xffffff, .ack = true, .msn = 0, .syndrome = 0x84});
  b.run(20);
  REQUIRE(b.cqes.size() == 4);
  b.expect(0, 0, CqStatus::Ok, 20, 100, 0xffff);
  b.expect(1, 0, CqStatus::RetryExceeded, 21, 101, 0);
  b.expect(2, 0, CqStatus::Flushed, 22, 102, 1);
  b.expect(3, 0, CqStatus::Flushed, 23, 103, 2);
  constexpr uint8_t ends[] = {0x84, 0x86, 0x61, 0x1f};
  for (const uint8_t syndrome : ends) {  // a QP ends once
    b.update({.qp = 0, .una = 0xffffff, .ack = true, .msn = 0, .syndrome = syndrome});
  }
  CHECK(b.cqes.size() == 4);
  for (uint32_t i = 0; i < 6; ++i) b.post(0, i == 0 ? 0 : 10, 30 + i);  // more than its ring holds
  b.run(20);
  REQUIRE(b.cqes.size() == 10);
  for (uint32_t i = 0; i < 6; ++i) b.expect(4 + i, 0, CqStatus::Flushed, 30 + i, 0, 0);
  b.retx.load({.qp = 0, .psn = 0xffffff, .msn = 0, .row = 0, .idx = 0, .avoid_ev = 9});
  b.run(10);
  CHECK(b.pkts.empty());
  b.update({.qp = 1, .una = 0xffffff, .ack = true, .msn = 0, .syndrome = 0x1f});  // the others go on
  REQUIRE(b.cqes.size() == 11);
  b.expect(10, 1, CqStatus::Ok, 40, 100, 0xffff);
}

TEST_CASE("tx_segment: the MSN that comes with a local end does not count", "[pipeline][tx_segment][retry]") {
  Bench b;
  for (uint32_t i = 0; i < 3; ++i) b.post(2, 100, 20 + i);
  b.run(30);
  b.update({.qp = 2, .una = 0xfffffe, .ack = true, .msn = 1, .syndrome = 0x86});
  b.run(20);
  REQUIRE(b.cqes.size() == 3);
  b.expect(0, 2, CqStatus::RemEvent, 20, 100, 0xffff);
  b.expect(1, 2, CqStatus::Flushed, 21, 100, 0);
  b.expect(2, 2, CqStatus::Flushed, 22, 100, 1);
}

TEST_CASE("tx_segment: a QP with one or no message in its ring ends with one or no completion",
          "[pipeline][tx_segment][retry]") {
  Bench b;
  b.post(0, 100, 20);
  b.run(20);
  b.update({.qp = 0, .una = 0xfffffe, .ack = true, .msn = 0xffff, .syndrome = 0x84});
  b.run(20);
  REQUIRE(b.cqes.size() == 1);
  b.expect(0, 0, CqStatus::RetryExceeded, 20, 100, 0xffff);
  b.update({.qp = 1, .una = 0xfffffe, .ack = true, .msn = 0xffff, .syndrome = 0x86});
  b.run(20);
  CHECK(b.cqes.size() == 1);
  b.post(1, 100, 21);
  b.run(10);
  REQUIRE(b.cqes.size() == 2);
  b.expect(1, 1, CqStatus::Flushed, 21, 0, 0);
}

TEST_CASE("tx_segment: a failed QP stops in the middle of a message", "[pipeline][tx_segment][retry]") {
  Bench b;
  b.post(0, 256 * 200, 20);
  b.run(1000);
  REQUIRE(b.pkts.size() == 128);  // MPR
  b.update({.qp = 0, .una = 0xfffffe, .ack = true, .msn = 0xffff, .syndrome = 0x84});
  b.pkts.clear();
  b.update({.qp = 0, .una = 10, .ack = false, .msn = 0, .syndrome = 0});
  b.run(200);
  CHECK(b.pkts.empty());
  CHECK(b.cqes.size() == 1);
}

TEST_CASE("tx_segment: QP_STATE Error flushes; only QP_CTX makes the QP work again", "[pipeline][tx_segment][retry]") {
  Bench b;
  for (uint32_t i = 0; i < 3; ++i) b.post(1, 100, 20 + i);
  b.run(30);
  b.pkts.clear();
  b.set_state(1, QpState::Error);
  b.run(20);
  REQUIRE(b.cqes.size() == 3);
  b.expect(0, 1, CqStatus::Flushed, 20, 100, 0xffff);
  b.expect(1, 1, CqStatus::Flushed, 21, 100, 0);
  b.expect(2, 1, CqStatus::Flushed, 22, 100, 1);
  b.set_state(1, QpState::Error);  // nothing left
  b.set_state(1, QpState::Rts);
  b.post(1, 100, 30);
  b.run(20);
  REQUIRE(b.cqes.size() == 4);
  b.expect(3, 1, CqStatus::Flushed, 30, 0, 0);
  CHECK(b.pkts.empty());
  csr::TblQpCtx row{.msn = 7, .sq_psn = 500, .mpr = 1, .state = QpState::Rts};
  b.configure(1, row);
  b.post(1, 100, 31);
  b.run(20);
  REQUIRE(b.pkts.size() == 1);
  CHECK(b.pkts[0].psn == 500);
  b.update({.qp = 1, .una = 501, .ack = true, .msn = 8, .syndrome = 0x1f});
  REQUIRE(b.cqes.size() == 5);
  b.expect(4, 1, CqStatus::Ok, 31, 100, 7);
}

TEST_CASE("tx_segment: another QP_STATE fails nothing", "[pipeline][tx_segment][retry]") {
  Bench b;
  b.set_state(1, QpState::Rtr);
  b.post(1, 100, 30);
  b.run(20);
  REQUIRE(b.cqes.size() == 1);
  b.expect(0, 1, CqStatus::LocState, 30, 0, 0);
  b.set_state(1, QpState::Rts);
  b.post(1, 100, 31);
  b.run(20);
  CHECK(b.cqes.size() == 1);
  CHECK(b.pkts.size() == 1);
}

TEST_CASE("tx_segment: QP_STATE waits for completions under way, and holds up nothing else",
          "[pipeline][tx_segment][retry]") {
  Bench b;
  for (uint16_t q = 0; q < 2; ++q) {
    for (uint32_t i = 0; i < 8; ++i) b.post(q, 100, 10 * q + i);
  }
  b.post(2, 1000, 50);
  b.run(50);
  const PoolRow row = b.pkts.back().row;
  b.take_cqe = false;  // four completions find room, two the next block's FIFO
  b.update({.qp = 0, .una = 0xfffffe, .ack = true, .msn = 0xffff, .syndrome = 0x84});
  b.run(20);
  b.pkts.clear();
  b.request_state(1, QpState::Error);
  b.retx.load({.qp = 2, .psn = 0xffffff, .msn = 0xffff, .row = row, .idx = 1, .avoid_ev = 0});
  b.run(50);
  CHECK_FALSE(b.segment.cfg_ack());
  CHECK(b.pkts.size() == 1);
  b.take_cqe = true;
  b.set_state(1, QpState::Error);
  b.run(30);
  REQUIRE(b.cqes.size() == 16);
  for (uint16_t i = 0; i < 8; ++i) {
    b.expect(i, 0, i == 0 ? CqStatus::RetryExceeded : CqStatus::Flushed, i, 100, static_cast<uint16_t>(0xffff + i));
    b.expect(8u + i, 1, CqStatus::Flushed, 10u + i, 100, static_cast<uint16_t>(0xffff + i));
  }
}

}  // namespace mrc::test::tx_segment_retry_test

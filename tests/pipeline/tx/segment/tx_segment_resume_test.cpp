// SPDX-License-Identifier: Apache-2.0
// Set up anew, blocks of PSNs, and what wakes a QP.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

#include "tests/pipeline/tx/segment/tx_segment_bench.hpp"

namespace mrc::test::tx_segment_resume_test {

using namespace mrc::test::tx_segment;

TEST_CASE("tx_segment: the window shrinks and grows as it is told, within the QP's own MPR",
          "[pipeline][tx_segment][mpr]") {
  Bench b;
  csr::TblQpCtx r = Bench::row(0);
  r.mpr = 3;
  b.configure(0, r);
  const auto reported = [](uint32_t una, uint8_t mpr) {
    return Upd{.qp = 0, .una = psn_add(0xfffffe, una), .ack = false, .msn = 0, .syndrome = 0, .mpr = mpr};
  };
  b.update(reported(0, 1));
  b.post(0, 256 * 2000);
  b.run(1000);
  CHECK(b.pkts.size() == 128);
  b.update(reported(0, 2));  // grows: it goes on without any progress
  b.run(1000);
  CHECK(b.pkts.size() == 256);
  b.update(reported(10, 0));  // 0: as before
  b.run(1000);
  CHECK(b.pkts.size() == 266);
  b.update(reported(10, 200));  // at most three
  b.run(1000);
  CHECK(b.pkts.size() == 394);
  b.update(reported(100, 1));  // 294 are out, 128 may be: nothing new until enough is acknowledged
  b.run(1000);
  CHECK(b.pkts.size() == 394);
  b.retx.load({.qp = 0, .psn = psn_add(0xfffffe, 393), .msn = 0xffff, .row = 0, .idx = 393, .avoid_ev = 0});
  b.run(10);
  CHECK(b.pkts.size() == 395);  // but what is out may go again
  b.update(reported(266, 0));
  b.run(1000);
  CHECK(b.pkts.size() == 395);
  b.update(reported(267, 0));
  b.run(1000);
  CHECK(b.pkts.size() == 396);
  b.configure(0, r);  // all of it again
  b.post(0, 256 * 2000);
  b.run(2000);
  CHECK(b.pkts.size() == 396 + 384);
}

TEST_CASE("tx_segment: QP_CTX waits until its QP has left tx_sched; the QP stops at once, no work is taken meanwhile",
          "[pipeline][tx_segment][cc][cfg]") {
  Bench b;
  b.control(0, 2);
  b.control(3, 2);
  b.post(0, 256 * 5, 20);
  b.run(40);
  REQUIRE(b.requests.size() == 1);  // refused: it waits for its destination
  b.post(1, 256 * 40, 22);
  b.run(5);
  csr::TblQpCtx r = Bench::row(0, 500, 7);
  r.cc = true;
  r.dest = 2;
  b.request(0, r);
  b.post(0, 100, 21);
  b.post(3, 256, 23);
  b.run(100);
  CHECK_FALSE(b.segment.cfg_ack());
  CHECK(b.sent_by(1) == 40);  // what the others have goes on
  CHECK(b.wqe.count() == 2);
  b.grant_packets(2, 10);  // QP 0 gets its turn and gives it up
  b.finish_cfg();
  CHECK(b.sent_by(0) == 0);
  CHECK(b.cqes.empty());  // what it had is forgotten
  b.run(60);
  CHECK(b.sent_by(3) == 1);
  REQUIRE(b.sent_by(0) == 1);  // taken after the acknowledgement
  for (const Pkt& p : b.pkts) {
    if (p.qp != 0) continue;
    CHECK(p.psn == 500);
    CHECK(p.msn == 7);
    CHECK(p.plen == 100);
  }
  CHECK(b.requests.size() == 3);
}

TEST_CASE("tx_segment: a busy QP without control is set up again after its last grant", "[pipeline][tx_segment][cfg]") {
  Bench b;
  b.post(0, 256 * 100, 20);
  b.post(1, 256 * 100, 21);
  b.run(30);
  REQUIRE(b.sent_by(0) > 3);
  REQUIRE(b.sent_by(0) < 50);
  b.configure(0, Bench::row(0, 500, 7));
  const unsigned before = b.sent_by(0);
  b.run(600);
  CHECK(b.sent_by(0) == before);
  CHECK(b.sent_by(1) == 100);
  b.post(0, 100, 22);
  b.run(20);
  CHECK(b.pkts.back().psn == 500);
}

TEST_CASE("tx_segment hears the news of a QP before it takes its new state", "[pipeline][tx_segment][cfg]") {
  for (const uint8_t syndrome : {uint8_t{0x84}, uint8_t{0x1f}}) {
    Bench b;
    for (uint32_t i = 0; i < 3; ++i) b.post(1, 100, 20 + i);
    b.run(30);
    b.upd.load({.qp = 1, .una = 0xffffff, .ack = true, .msn = 0, .syndrome = syndrome});
    while (!b.upd.has()) b.cycle();
    b.set_state(1, QpState::Error);  // the same cycle
    b.run(30);
    REQUIRE(b.cqes.size() == 3);
    b.expect(0, 1, syndrome == 0x84 ? CqStatus::RetryExceeded : CqStatus::Ok, 20, 100, 0xffff);
    b.expect(1, 1, CqStatus::Flushed, 21, 100, 0);
    b.expect(2, 1, CqStatus::Flushed, 22, 100, 1);
  }
}

TEST_CASE("tx_segment hears the news of a QP before it sets it up again", "[pipeline][tx_segment][cfg]") {
  Bench b;
  for (uint32_t i = 0; i < 2; ++i) b.post(1, 100, 20 + i);
  b.run(30);
  b.upd.load({.qp = 1, .una = 0, .ack = true, .msn = 1, .syndrome = 0x1f});
  while (!b.upd.has()) b.cycle();
  b.configure(1, Bench::row(1, 500, 7));
  b.run(10);
  REQUIRE(b.cqes.size() == 2);
  b.expect(1, 1, CqStatus::Ok, 21, 100, 0);
}

TEST_CASE("tx_segment: with a full ring a QP that takes no work refuses it without room",
          "[pipeline][tx_segment][cfg]") {
  Bench b;
  for (uint32_t i = 0; i < 8; ++i) b.post(1, 100, 20 + i);
  b.run(30);
  b.set_state(1, QpState::Rtr);
  b.post(1, 100, 30);
  b.post(0, 100, 31);
  b.run(20);
  REQUIRE(b.cqes.size() == 1);
  b.expect(0, 1, CqStatus::LocState, 30, 0, 0);
  CHECK(b.sent_by(0) == 1);
}

namespace {

/// The preset whose blocks are few: 4 QPs, `blocks` of 16 PSNs for all.
Preset few_blocks(unsigned blocks) {
  Preset p = roomy();
  p.num_blocks = blocks;
  return p;
}
Upd news(QpIndex qp, uint32_t una) { return {.qp = qp, .una = una, .ack = false, .msn = 0, .syndrome = 0}; }

}  // namespace

TEST_CASE("tx_segment: without a free block of 16 PSNs a QP goes round until there is one",
          "[pipeline][tx_segment][blocks]") {
  Bench b(4, 0x100, 0, few_blocks(7));
  b.post(0, 256 * 120);
  b.run(300);
  // Three blocks, until 4 are left: those are for QPs that have less than 16 PSNs out.
  CHECK(b.pkts.size() == 3 * 16);
  CHECK_FALSE(b.pkts.back().ackreq);  // it would go on
  b.freed = 1;
  b.run(100);
  CHECK(b.pkts.size() == 4 * 16);
  for (uint16_t q = 1; q < 4; ++q) b.post(q, 256 * 60);
  b.run(300);
  for (uint16_t q = 1; q < 4; ++q) CHECK(b.sent_by(q) == 16);  // one each
  CHECK(b.sent_by(0) == 4 * 16);
  b.update(news(1, 0x101));
  b.run(100);
  CHECK(b.sent_by(1) == 32);  // 15 out: it gets the last one
  b.update(news(2, 0x110));
  b.run(100);
  CHECK(b.sent_by(2) == 16);  // nothing out, and nothing left
  b.freed = 1;
  b.run(100);
  CHECK(b.sent_by(2) == 32);
  CHECK(b.sent_by(0) == 4 * 16);
  const std::size_t before = b.pkts.size();
  b.freed = 4;  // 4 are not enough for QPs that have 16 or more out
  b.run(200);
  CHECK(b.pkts.size() == before);
  b.freed = 1;
  b.run(200);
  CHECK(b.pkts.size() == before + 16);
}

TEST_CASE("tx_segment: the first packet after QP_CTX begins a block wherever it lies",
          "[pipeline][tx_segment][blocks]") {
  Bench b(4, 0x10e, 0, few_blocks(6));  // 6 - 4: two for everybody
  b.post(0, 256 * 40);
  b.run(200);
  CHECK(b.pkts.size() == 2 + 16);
  b.freed = 1;
  b.run(100);
  CHECK(b.pkts.size() == 2 + 32);
  b.update({.qp = 0, .una = 0x110, .ack = true, .msn = 0, .syndrome = 0x84});  // over
  b.configure(0, Bench::row(0, 0x207, 0));
  b.pkts.clear();
  b.post(0, 256 * 60);
  b.run(200);
  CHECK(b.pkts.size() == 9 + 16);  // two of the last 4: with nothing out, and with 9
  b.freed = 2;
  b.run(100);
  CHECK(b.pkts.size() == 9 + 16);
  b.freed = 1;  // 5
  b.run(100);
  CHECK(b.pkts.size() == 9 + 32);
}

TEST_CASE("tx_segment: a block that is freed in the cycle in which one is begun counts",
          "[pipeline][tx_segment][blocks]") {
  Preset p = few_blocks(5);
  Bench b(4, 0x100, 0, p);
  b.post(0, 256 * 1000);
  for (unsigned i = 0; i < 3000; ++i) {
    b.freed = 1;  // a pulse per cycle
    b.cycle();
    if (i % 50 == 49) {
      b.upd.load(news(0, psn_add(0x100, b.sent_by(0))));
    }
  }
  b.run(10);
  CHECK(b.sent_by(0) == 1000);
}

TEST_CASE("tx_segment: news that open a window and the next work request in one cycle: the QP goes on",
          "[pipeline][tx_segment][wake]") {
  // One packet of 128 is not sent yet when the window closes; or none. The request comes in at any cycle around the
  // news.
  for (const unsigned packets : {128u, 129u}) {
    for (unsigned shift = 0; shift < 12; ++shift) {
      CAPTURE(packets, shift);
      Bench b(4, 0x100, 0);
      b.post(0, 256 * packets);
      b.run(300);
      REQUIRE(b.pkts.size() == 128);
      for (unsigned i = 0; i < 12; ++i) {
        if (i == 6) b.upd.load(news(0, 0x180));
        if (i == shift) b.wqe.push(Bench::work(0, 256));
        b.cycle();
      }
      b.run(50);
      CHECK(b.pkts.size() == packets + 1);
    }
  }
}

TEST_CASE("tx_segment: news in the cycle in which the window closes: the QP goes on", "[pipeline][tx_segment][wake]") {
  for (unsigned at = 140; at < 220; ++at) {
    CAPTURE(at);
    Bench b(4, 0x100, 0);
    b.wqe.push(Bench::work(0, 256 * 129));
    for (unsigned i = 0; i < 400; ++i) {
      if (i == at) b.upd.load(news(0, 0x101));
      b.cycle();
    }
    CHECK(b.pkts.size() == 129);
  }
}

TEST_CASE("tx_segment: refusals wait while the host takes no completions, none is lost", "[pipeline][tx_segment]") {
  Bench b(4, 0x100, 0);
  b.csr.zero_length = ZeroLength::Nak;
  b.take_cqe = false;
  for (uint32_t i = 0; i < 12; ++i) b.queue.push_back(Bench::work(1, 0, i));
  b.run(50);
  CHECK(b.queue.size() == 4);  // four in cq, two in the next block's FIFO, two in the input's
  b.take_cqe = true;
  b.run(50);
  REQUIRE(b.cqes.size() == 12);
  for (uint32_t i = 0; i < 12; ++i) b.expect(i, 1, CqStatus::LocLength, i, 0, 0);
}

TEST_CASE("tx_segment: news of one QP and a request of another in one cycle wake both",
          "[pipeline][tx_segment][wake]") {
  for (unsigned shift = 0; shift < 12; ++shift) {
    CAPTURE(shift);
    Bench b(4, 0x100, 0);
    b.post(0, 256 * 130);
    b.run(300);
    REQUIRE(b.pkts.size() == 128);
    for (unsigned i = 0; i < 12; ++i) {
      if (i == 6) b.upd.load(news(0, 0x180));
      if (i == shift) b.wqe.push(Bench::work(1, 256));
      b.cycle();
    }
    b.run(50);
    CHECK(b.sent_by(0) == 130);
    CHECK(b.sent_by(1) == 1);
  }
}

TEST_CASE("tx_segment: requests and news around the end of a burst lose nothing", "[pipeline][tx_segment][wake]") {
  // The end of the first message's burst, the request, and news of it: at all distances.
  for (unsigned request = 0; request < 16; ++request) {
    for (unsigned reported = 0; reported < 16; ++reported) {
      CAPTURE(request, reported);
      Bench b(4, 0x100, 0);
      b.wqe.push(Bench::work(2, 256 * 3, 1));
      unsigned n = 1;
      for (unsigned i = 0; i < 16; ++i) {
        b.cycle();
        if (i == request) {
          b.wqe.push(Bench::work(2, 200, 2));
          ++n;
        }
        if (i == reported) b.upd.load(news(2, psn_add(0x100, b.sent_by(2))));
      }
      b.run(60);
      REQUIRE(b.pkts.size() == 4);
      CHECK(b.pkts[3].dmalen == 200);
      CHECK(b.pkts[3].msn == 1);
      CHECK(b.pkts[3].psn == 0x103);
    }
  }
}

TEST_CASE("tx_segment: a refused request and news that complete others in one cycle: neither comes between the others",
          "[pipeline][tx_segment][wake]") {
  bool before = false, after = false;
  for (unsigned shift = 0; shift < 14; ++shift) {
    CAPTURE(shift);
    Bench b(4, 0x100, 0);
    csr::TblQpCtx r = Bench::row(1, 0x100, 0);
    r.max_wimm = 0;
    b.configure(1, r);
    b.post(1, 100, 20);
    b.post(1, 100, 21);
    b.run(40);
    for (unsigned i = 0; i < 14; ++i) {
      if (i == 6) b.upd.load({.qp = 1, .una = 0x102, .ack = true, .msn = 2, .syndrome = 0x1f});
      if (i == shift) b.wqe.push(Bench::work(1, 100, 22, true));  // one immediate too many
      b.cycle();
    }
    b.run(40);
    std::vector<uint32_t> done;
    for (const Cqe& c : b.cqes) done.push_back(c.wr_id);
    if (done.size() == 3 && done[0] == 22) {
      before = true;
      CHECK(done == std::vector<uint32_t>{22, 20, 21});
    } else {
      after = true;
      CHECK(done == std::vector<uint32_t>{20, 21, 22});
    }
  }
  CHECK(before);
  CHECK(after);
}

TEST_CASE("tx_segment: QPs that wake up and QPs that go round without a block share tx_sched's input",
          "[pipeline][tx_segment][wake]") {
  Preset p = busy();
  p.num_blocks = 16 + 24;
  Bench b(p);
  for (uint16_t q = 0; q < 12; ++q) b.post(q, 256 * 100);
  b.run(600);
  // Two blocks each, until as many are left as there are QPs. Then each turn of the 12 is a push, one per cycle.
  REQUIRE(b.pkts.size() == 24 * 16);
  b.pkts.clear();
  b.at.clear();
  const unsigned start = b.cycles;
  for (uint16_t q = 12; q < 16; ++q) b.post(q, 256);
  b.run(60);
  CHECK(b.pkts.size() == 4);
  for (uint16_t q = 12; q < 16; ++q) CHECK(b.sent_by(q) == 1);
  for (const unsigned at : b.at) CHECK(at - start < 40);
  // Nobody's push was lost: with blocks the 12 go on.
  b.freed = 80;
  b.run(1000);
  for (uint16_t q = 0; q < 12; ++q) CHECK(b.sent_by(q) == 100 - 32);
}

}  // namespace mrc::test::tx_segment_resume_test

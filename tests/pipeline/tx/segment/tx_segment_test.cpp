// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <utility>
#include <vector>

#include "tests/pipeline/tx/segment/tx_segment_bench.hpp"

namespace mrc::test::tx_segment_test {

using namespace mrc::test::tx_segment;

TEST_CASE("tx_segment cuts a message, PSN and MSN wrap, a packet per cycle", "[pipeline][tx_segment]") {
  Bench b;
  b.post(1, 1000, 42);
  b.run(60);
  REQUIRE(b.pkts.size() == 4);
  const uint8_t opcodes[] = {0xC6, 0xC7, 0xC7, 0xC8};
  for (unsigned i = 0; i < 4; ++i) {
    const Pkt& p = b.pkts[i];
    CHECK(p.qp == 1);
    CHECK(p.psn == psn_add(0xfffffe, i));
    CHECK(p.msn == 0xffff);
    CHECK(p.row == 1);  // the second QP that was set up has the second row
    CHECK(p.opcode == opcodes[i]);
    CHECK(p.idx == i);
    CHECK(p.profile == 1);
    CHECK(p.ackreq == (i == 3));
    CHECK_FALSE(p.rtx);
    CHECK(b.at[i] == b.at[0] + i);
  }
  CHECK(b.pkts[3].plen == 232);
  b.post(1, 256, 43, true);
  b.run(20);
  REQUIRE(b.pkts.size() == 5);
  CHECK(b.pkts[4].msn == 0);
  CHECK(b.pkts[4].row == 4);  // rows 0 to 3 are the QPs' first ones
  CHECK(b.pkts[4].rqmsn == 5);
  CHECK(b.pkts[4].opcode == 0xCB);
}

TEST_CASE("tx_segment goes round robin by bursts of 16 packets, without a gap", "[pipeline][tx_segment]") {
  Bench b;
  for (uint16_t q = 0; q < 4; ++q) b.post(q, 256 * 40);
  b.run(200);
  REQUIRE(b.pkts.size() == 160);
  const unsigned counts[] = {16, 16, 8};  // of each QP's turns
  unsigned i = 0;
  for (const unsigned n : counts) {
    for (uint16_t q = 0; q < 4; ++q) {
      for (unsigned k = 0; k < n; ++k, ++i) {
        CHECK(b.pkts[i].qp == q);
        CHECK(b.at[i] == b.at[0] + i);
        // The last packets are 8 cycles apart: one of them asks for all (ar_gap 32).
        CHECK(b.pkts[i].ackreq == (b.pkts[i].idx == 39 && q == 0));
      }
    }
  }
}

TEST_CASE("tx_segment: a burst ends with its 16th packet or its 32768th byte", "[pipeline][tx_segment]") {
  struct Case {
    uint8_t mtu;
    std::vector<uint32_t> lengths;  // of messages, again and again
    unsigned packets;               // of a burst
  };
  const Case cases[] = {
      {0, {256}, 16},        {0, {100}, 16},
      {0, {256 * 100}, 16},  {0, {257}, 16},
      {1, {512}, 16},        {2, {1024 * 100}, 16},
      {2, {1024, 1023}, 16}, {3, {2048}, 16},  // both ends at once
      {3, {2048 * 100}, 16}, {3, {2048, 1024, 1024}, 16},
      {4, {4096}, 8},        {4, {4096 * 10}, 8},
      {4, {4095, 4096}, 9},   // 8 are 32764 bytes
      {4, {4096, 2048}, 11},  // 10 are 30720
      {4, {2049}, 16},        // 15 are 30735, 16 are 32784
      {4, {2304}, 15},        // 14 are 32256
  };
  for (const Case& c : cases) {
    CAPTURE(int{c.mtu}, c.lengths[0], c.packets);
    Preset preset = busy();
    preset.num_qps = 2;
    Bench b(preset);
    for (uint16_t q = 0; q < 2; ++q) {
      csr::TblQpCtx r = Bench::row(q, 0x100, 0);
      r.mtu = c.mtu;
      b.configure(q, r);
    }
    b.take_pkt = false;  // both have all they will send before the second burst begins
    for (unsigned i = 0; i < 64; ++i) {
      for (uint16_t q = 0; q < 2; ++q) b.queue.push_back(Bench::work(q, c.lengths[i % c.lengths.size()]));
    }
    b.run(200);
    b.take_pkt = true;
    b.run(300);
    std::vector<std::pair<uint16_t, unsigned>> bursts;
    for (const Pkt& p : b.pkts) {
      if (bursts.empty() || bursts.back().first != p.qp) bursts.emplace_back(p.qp, 0);
      ++bursts.back().second;
    }
    REQUIRE(bursts.size() > 6);
    for (unsigned i = 4; i < 6; ++i) CHECK(bursts[i].second == c.packets);
  }
}

namespace {

struct Mix {
  const char* what;
  uint8_t mtu;
  std::vector<uint32_t> lengths;  // of messages, again and again
  unsigned messages;              // of each QP
  unsigned packets, cycles;       // of a burst, up to the next one
  unsigned cc_packets, cc_cycles;
};

/// Packets that leave in so many cycles when 16 QPs have more to send than that takes.
unsigned rate(const Mix& mix, bool cc, unsigned cycles) {
  Bench b(busy());
  b.grant_bytes(0, 1u << 30);
  for (uint16_t q = 0; q < 16; ++q) {
    csr::TblQpCtx r = Bench::row(q, 0x100, 0);
    r.mtu = mix.mtu;
    r.mpr = 8;
    r.cc = cc;
    b.configure(q, r);
  }
  b.take_pkt = false;
  for (unsigned i = 0; i < mix.messages; ++i) {
    for (uint16_t q = 0; q < 16; ++q) b.queue.push_back(Bench::work(q, mix.lengths[i % mix.lengths.size()]));
  }
  b.run(1100);
  b.take_pkt = true;
  b.run(300);  // what was fetched with little to do
  b.at.clear();
  b.run(cycles);
  return static_cast<unsigned>(b.at.size());
}

}  // namespace

TEST_CASE("tx_segment: a packet per cycle, whatever QP and row the next one is of", "[pipeline][tx_segment][rate]") {
  // Without a controller a burst ends with its 16th packet or 32768th byte, with one with the 8 full packets of its
  // grant: the next cycle finds that used up, unless they are 32768 bytes. Rows that were fetched for a burst and are
  // not of it are dropped, one per cycle: 8 at most, 7 as they are fetched without a pause, and no more than are left
  // of the 16 of a grant. Meanwhile the next burst's first row is fetched and, with a controller, answered.
  const Mix mixes[] = {
      {"same QP and row at distances 1, 2, 3", 0, {256 * 500}, 1, 16, 16, 8, 9},
      {"same QP, another row each packet", 0, {64}, 60, 16, 16, 16, 16},
      {"the end by bytes, one row for all", 4, {4096 * 500}, 1, 8, 8, 8, 8},
      {"the end by bytes and packets, one row for all", 3, {2048 * 500}, 1, 16, 16, 8, 9},
      {"1024 bytes, one row for all", 2, {1024 * 500}, 1, 16, 16, 8, 9},
      {"another row at distance 2, rows left", 0, {512}, 60, 16, 16 + 7, 8, 9 + 7},
      {"another row at distance 3, rows left", 0, {768}, 60, 16, 16 + 7, 8, 9 + 7},
      {"rows of one, two and three packets, rows left", 0, {256, 512, 768}, 60, 16, 16 + 7, 8, 9 + 7},
      {"the end by bytes, rows left", 4, {4096}, 60, 8, 8 + 7, 8, 8 + 7},
      // 11 packets of 16 rows. 5 pairs are 31560 of the 33440 bytes granted.
      {"the end by bytes, less rows left", 4, {4096, 2048}, 60, 11, 11 + 5, 10, 11 + 5},
      {"the end by bytes and packets, another row each packet", 3, {2048}, 60, 16, 16, 8, 9 + 6},
      // 3 times three are 13044 of 17056 bytes, then 2 more, whichever is first; the row that does not fit goes with
      // the end, 4 are left.
      {"full and half packets, another row each packet", 3, {2048, 1024, 1024}, 60, 16, 16, 11, 12 + 4},
  };
  for (const Mix& mix : mixes) {
    for (const bool cc : {false, true}) {
      const unsigned packets = cc ? mix.cc_packets : mix.packets, cycles = cc ? mix.cc_cycles : mix.cycles;
      INFO(mix.what << (cc ? ", with" : ", without") << " a controller");
      const unsigned sent = rate(mix, cc, 20 * cycles);
      CHECK(sent + packets >= 20 * packets);  // wherever in a burst the time begins
      CHECK(sent <= 21 * packets);
    }
  }
}

TEST_CASE("tx_segment: one QP alone, 16 packets and then a way round", "[pipeline][tx_segment][rate]") {
  for (const bool cc : {false, true}) {
    Bench b;
    b.grant_bytes(0, 1u << 30);
    csr::TblQpCtx r = Bench::row(0, 0x100, 0);
    r.mpr = 8;
    r.cc = cc;
    b.configure(0, r);
    b.post(0, 256 * 200);
    b.run(600);
    REQUIRE(b.at.size() == 200);
    for (unsigned i = 1; i < 200; ++i) {
      // End, push, tx_sched, its queue, grant, F0, f1, Emit: six cycles on. With a controller: the cycle that finds the
      // grant used up; ask, its FIFO, ans.
      const unsigned gap = cc ? (i % 8 != 0 ? 1 : 10) : i % 16 != 0 ? 1 : 6;
      CHECK(b.at[i] - b.at[i - 1] == gap);
    }
  }
}

TEST_CASE("tx_segment: a work request taken per cycle", "[pipeline][tx_segment][rate]") {
  Bench b(busy());
  for (unsigned i = 0; i < 100; ++i) b.queue.push_back(Bench::work(static_cast<uint16_t>(i % 16), 64));
  const unsigned start = b.cycles;
  while (!b.queue.empty()) b.cycle();
  CHECK(b.cycles - start <= 103);
}

TEST_CASE("tx_segment: a completion per cycle", "[pipeline][tx_segment][rate]") {
  Bench b(busy());
  for (uint32_t i = 0; i < 40; ++i) b.post(2, 64, i);
  b.run(100);
  b.upd.load({.qp = 2, .una = 0x100 + 40, .ack = true, .msn = 40, .syndrome = 0x1f});
  while (b.cqes.empty()) b.cycle();
  b.run(39);
  REQUIRE(b.cqes.size() == 40);
  for (uint32_t i = 0; i < 40; ++i) b.expect(i, 2, CqStatus::Ok, i, 64, static_cast<uint16_t>(i));
}

TEST_CASE("tx_segment stops at the MPR and goes on when una moves", "[pipeline][tx_segment]") {
  Bench b;
  b.post(0, 256 * 200);
  b.run(2000);
  REQUIRE(b.pkts.size() == 128);
  CHECK(b.pkts.back().ackreq);
  b.update({.qp = 0, .una = 1, .ack = false, .msn = 0, .syndrome = 0});  // three PSNs
  b.run(100);
  CHECK(b.pkts.size() == 131);
  b.update({.qp = 0, .una = 0xffffff, .ack = false, .msn = 0, .syndrome = 0});  // an old one
  CHECK(b.pkts.size() == 131);
}

TEST_CASE("tx_segment stops before a block of 16 PSNs would lie over the oldest one", "[pipeline][tx_segment]") {
  Preset p = roomy();
  p.max_mpr = 128;
  Bench b(4, 0xfffffe, 0xffff, p);
  b.post(0, 256 * 200);
  b.run(1000);
  CHECK(b.pkts.size() == 2 + 7 * 16);  // the blocks from 0xfffff0 to 0x000060
  b.update({.qp = 0, .una = 0xffffff, .ack = false, .msn = 0, .syndrome = 0});
  b.run(100);
  CHECK(b.pkts.size() == 2 + 7 * 16);
  b.update({.qp = 0, .una = 0, .ack = false, .msn = 0, .syndrome = 0});
  b.run(100);
  CHECK(b.pkts.size() == 2 + 8 * 16);
  b.update({.qp = 0, .una = 15, .ack = false, .msn = 0, .syndrome = 0});
  b.run(100);
  CHECK(b.pkts.size() == 2 + 8 * 16);
}

TEST_CASE("tx_segment completes all messages below the MSN of an ACK, in order", "[pipeline][tx_segment]") {
  Bench b;
  for (uint32_t i = 0; i < 3; ++i) b.post(2, 100 + i, 10 + i);
  b.run(30);
  CHECK(b.cqes.empty());
  b.update({.qp = 2, .una = 1, .ack = true, .msn = 1, .syndrome = 0x1f});
  REQUIRE(b.cqes.size() == 2);
  CHECK(b.cqes[0].wr_id == 10);
  CHECK(b.cqes[0].msn == 0xffff);
  CHECK(b.cqes[0].length == 100);
  CHECK(b.cqes[0].status == CqStatus::Ok);
  CHECK(b.cqes[1].wr_id == 11);
  b.update({.qp = 2, .una = 1, .ack = true, .msn = 1, .syndrome = 0x1f});
  CHECK(b.cqes.size() == 2);
}

TEST_CASE("tx_segment: WqeDepth work requests of a QP hold the host's queue until one completes",
          "[pipeline][tx_segment][pool]") {
  Bench b;
  for (uint32_t i = 0; i < 9; ++i) b.post(3, 10, i);
  b.post(0, 10, 9);
  b.run(50);
  CHECK(b.pkts.size() == 8);
  b.update({.qp = 3, .una = 0xffffff, .ack = true, .msn = 0, .syndrome = 0});
  CHECK(b.pkts.size() == 10);
  CHECK(b.cqes.size() == 1);
}

TEST_CASE("tx_segment: the last quarter of the rows is for QPs with less than two work requests",
          "[pipeline][tx_segment][pool]") {
  Preset p = roomy();
  p.num_wqes = 24;  // one row of each QP stays empty
  Bench b(4, 0x100, 0, p);
  for (unsigned i = 0; i < 8; ++i) b.queue.push_back(Bench::work(0, 10));
  for (unsigned i = 0; i < 8; ++i) b.queue.push_back(Bench::work(1, 10));
  b.run(100);
  CHECK(b.sent_by(0) == 8);
  CHECK(b.sent_by(1) == 6);  // then 6 of 24 are left
  CHECK(b.queue.empty());
  CHECK(b.wqe.count() == 2);
  b.update({.qp = 0, .una = 0x102, .ack = true, .msn = 2, .syndrome = 0});
  CHECK(b.sent_by(1) == 8);
  for (uint16_t q = 2; q < 4; ++q) {
    for (unsigned i = 0; i < 2; ++i) b.queue.push_back(Bench::work(q, 10));
  }
  b.queue.push_back(Bench::work(2, 10));  // a third one waits
  b.run(100);
  CHECK(b.sent_by(2) == 2);
  CHECK(b.sent_by(3) == 2);
  CHECK(b.wqe.count() == 1);
  b.update({.qp = 1, .una = 0x104, .ack = true, .msn = 4, .syndrome = 0});
  CHECK(b.sent_by(2) == 2);  // 6 rows are left again
  b.update({.qp = 1, .una = 0x105, .ack = true, .msn = 5, .syndrome = 0});
  CHECK(b.sent_by(2) == 3);
}

TEST_CASE("tx_segment: no row at all holds the queue, and a QP that is set up for the first time",
          "[pipeline][tx_segment][pool]") {
  Preset p = roomy();
  p.num_wqes = 8;
  Bench b(3, 0x100, 0, p);
  for (uint16_t q = 0; q < 3; ++q) {
    for (unsigned i = 0; i < 2; ++i) b.queue.push_back(Bench::work(q, 10));
  }
  b.run(100);
  CHECK(b.pkts.size() == 5);  // 3 rows are empty ones
  b.request(3, Bench::row(3));
  b.run(100);
  CHECK_FALSE(b.segment.cfg_ack());
  b.request_state(0, QpState::Rtr);  // only the context waits for a row
  b.finish_cfg();
  b.set_state(0, QpState::Rts);
  b.request(3, Bench::row(3));
  b.update({.qp = 0, .una = 0x102, .ack = true, .msn = 2, .syndrome = 0});  // two rows
  CHECK(b.acked());
  b.finish_cfg();
  CHECK(b.sent_by(2) == 2);
}

TEST_CASE("tx_segment: rows come back, however a QP ends", "[pipeline][tx_segment][pool]") {
  Preset p = roomy();
  p.num_wqes = 16;  // 12 for work requests, 8 for one QP
  Bench b(4, 0x100, 0, p);
  for (unsigned round = 0; round < 40; ++round) {
    b.pkts.clear();
    b.cqes.clear();
    const auto q = static_cast<uint16_t>(round % 4);
    for (uint32_t i = 0; i < 6; ++i) b.post(q, 10, i);
    b.run(50);
    CAPTURE(round);
    REQUIRE(b.pkts.size() == 6);
    switch (round % 5) {
      case 0:
        b.update({.qp = q, .una = 0x106, .ack = true, .msn = 6, .syndrome = 0x1f});
        CHECK(b.cqes.size() == 6);
        break;
      case 1:
        b.update({.qp = q, .una = 0x100, .ack = true, .msn = 0, .syndrome = 0x84});
        CHECK(b.cqes.size() == 6);
        break;
      case 2:
        b.set_state(q, QpState::Error);
        b.run(20);
        CHECK(b.cqes.size() == 6);
        break;
      case 3:
        b.update({.qp = q, .una = 0x100, .ack = true, .msn = 2, .syndrome = 0x62});
        CHECK(b.cqes.size() == 6);
        break;
      default:  // set up again as it is: without completions
        break;
    }
    b.configure(q, Bench::row(q, 0x100, 0));
    CHECK(b.cqes.size() == (round % 5 == 4 ? 0 : 6));
  }
}

TEST_CASE("tx_segment refuses work in a wrong state or of a wrong length", "[pipeline][tx_segment]") {
  Bench b(2);
  b.csr.zero_length = ZeroLength::Nak;
  b.post(3, 10, 1);  // QP 3 is in state Reset
  b.post(0, 0, 2);
  b.run(10);
  REQUIRE(b.cqes.size() == 2);
  CHECK(b.cqes[0].status == CqStatus::LocState);
  CHECK(b.cqes[0].qp == 3);
  CHECK(b.cqes[0].wr_id == 1);
  CHECK(b.cqes[0].length == 0);
  CHECK(b.cqes[1].status == CqStatus::LocLength);
  CHECK(b.pkts.empty());
}

TEST_CASE("tx_segment: a message of no bytes is one packet, or refused if software says so", "[pipeline][tx_segment]") {
  Bench b(2, 0x100, 0);
  b.post(0, 0, 1);
  b.post(0, 0, 2, true);
  b.post(0, 300, 3);
  b.run(60);
  CHECK(b.cqes.empty());
  REQUIRE(b.pkts.size() == 4);
  for (const unsigned i : {0u, 1u}) {
    const Pkt& p = b.pkts[i];
    CAPTURE(i);
    CHECK((p.psn == 0x100 + i && p.msn == i && p.idx == 0));
    CHECK(p.opcode == (i == 0 ? 0xCA : 0xCB));
    CHECK((p.plen == 0 && p.dmalen == 0 && p.last));
    CHECK((p.va == 0x2000 && p.rkey == 7));
    CHECK(p.rqmsn == (i == 0 ? 0 : 5));
    CHECK(p.imm == (i == 0 ? 0 : 0x55));
    CHECK(p.size == (i == 0 ? 84 : 88));
  }
  CHECK((b.pkts[2].msn == 2 && b.pkts[2].opcode == 0xC6));
  b.retx.load({.qp = 0, .psn = 0x101, .msn = 1, .row = b.pkts[1].row, .idx = 0, .avoid_ev = 9, .size = 88});
  b.run(10);
  REQUIRE(b.pkts.size() == 5);
  CHECK((b.pkts[4].rtx && b.pkts[4].opcode == 0xCB && b.pkts[4].plen == 0 && b.pkts[4].rqmsn == 5));
  b.update({.qp = 0, .una = 0x104, .ack = true, .msn = 3, .syndrome = 0x1f});
  REQUIRE(b.cqes.size() == 3);
  b.expect(0, 0, CqStatus::Ok, 1, 0, 0);
  b.expect(1, 0, CqStatus::Ok, 2, 0, 1);
  b.expect(2, 0, CqStatus::Ok, 3, 300, 2);
  for (const unsigned mode : {1u, 2u, 3u}) {
    CAPTURE(mode);
    b.csr.zero_length = static_cast<ZeroLength>(mode);
    b.cqes.clear();
    b.pkts.clear();
    b.post(0, 0, 10);
    b.post(0, 0, 11, true);
    b.post(0, 100, 12, true);
    b.run(30);
    REQUIRE(b.cqes.size() == 2);
    b.expect(0, 0, CqStatus::LocLength, 10, 0, 0);
    b.expect(1, 0, CqStatus::LocLength, 11, 0, 0);
    REQUIRE(b.pkts.size() == 1);  // the QP goes on; what is refused has no MSN and no RQMSN
    CHECK(b.pkts[0].msn == 2 + mode);
    CHECK(b.pkts[0].rqmsn == 5 + mode);
  }
}

TEST_CASE("tx_segment: messages of no bytes, one with each row, a packet per cycle", "[pipeline][tx_segment][rate]") {
  Bench b(busy());
  b.take_pkt = false;
  for (unsigned i = 0; i < 16 * 40; ++i) b.queue.push_back(Bench::work(static_cast<uint16_t>(i % 16), 0, i));
  b.run(700);
  b.take_pkt = true;
  b.run(900);
  REQUIRE(b.pkts.size() == 16 * 40);
  for (std::size_t i = 201; i < 500; ++i) CHECK(b.at[i] - b.at[i - 1] == 1);
}

TEST_CASE("tx_segment takes any length but 0: a message of 2^32 - 1 bytes has 2^24 packets", "[pipeline][tx_segment]") {
  for (const uint32_t length : {0x80000001u, 0xffffffffu}) {
    CAPTURE(length);
    Bench b(2, 0x100, 0);
    b.post(0, length, 3, true);
    b.run(400);
    CHECK(b.cqes.empty());
    REQUIRE(b.pkts.size() == 128);  // its window
    for (unsigned i = 0; i < 128; ++i) {
      const Pkt& p = b.pkts[i];
      CHECK(p.psn == 0x100 + i);
      CHECK(p.idx == i);
      CHECK(p.opcode == (i == 0 ? 0xC6 : 0xC7));
      CHECK(p.plen == 256);
      CHECK_FALSE(p.last);
      CHECK(p.va == 0x2000 + 256 * i);
      CHECK(p.dmalen == length);
    }
    const PoolRow row = b.pkts[0].row;
    b.pkts.clear();
    b.update({.qp = 0, .una = 0x101});  // one more
    REQUIRE(b.pkts.size() == 1);
    CHECK(b.pkts[0].idx == 128);
    // The last packets, on order: PSN 0x100 + 2^24 - 1 is 0xff.
    const bool longest = length == 0xffffffff;
    const uint32_t end = longest ? 0xffffff : 0x800000;
    b.pkts.clear();
    for (const uint32_t idx : {end - 1, end}) {
      b.retx.load({.qp = 0, .psn = (0x100 + idx) & 0xffffff, .msn = 0, .row = row, .idx = idx, .avoid_ev = 9});
      b.run(10);
    }
    REQUIRE(b.pkts.size() == 2);
    CHECK(b.pkts[0].opcode == 0xC7);
    CHECK(b.pkts[0].plen == 256);
    CHECK(b.pkts[0].va == uint64_t{0x2000} + (longest ? 0xfffffe00 : 0x7fffff00));
    CHECK_FALSE(b.pkts[0].last);
    CHECK(b.pkts[1].opcode == 0xC9);
    CHECK(b.pkts[1].plen == (longest ? 255 : 1));
    CHECK(b.pkts[1].va == uint64_t{0x2000} + (longest ? 0xffffff00 : 0x80000000));
    CHECK(b.pkts[1].laddr == uint64_t{0x1000} + (longest ? 0xffffff00 : 0x80000000));
    CHECK(b.pkts[1].last);
    b.update({.qp = 0, .una = 0x180, .ack = true, .msn = 1, .syndrome = 0x1f});
    REQUIRE(b.cqes.size() == 1);
    b.expect(0, 0, CqStatus::Ok, 3, length, 0);
  }
}

}  // namespace mrc::test::tx_segment_test

// SPDX-License-Identifier: Apache-2.0
// Congestion control and the window of immediates.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "tests/pipeline/tx/segment/tx_segment_bench.hpp"

namespace mrc::test::tx_segment_control_test {

using namespace mrc::test::tx_segment;

TEST_CASE("tx_segment without congestion control asks nobody; packets carry their nominal size",
          "[pipeline][tx_segment]") {
  Bench b;
  b.post(1, 1000, 42, true);
  b.run(40);
  REQUIRE(b.pkts.size() == 4);
  CHECK(b.pkts[0].size == 340);
  CHECK(b.pkts[2].size == 340);
  CHECK(b.pkts[3].size == 232 + 84 + 4);  // immediate
  for (const Pkt& p : b.pkts) CHECK_FALSE(p.voided);
  CHECK(b.requests.empty());
  b.csr.nominal = Nominal::Payload;
  b.post(1, 257, 43);
  b.run(40);
  REQUIRE(b.pkts.size() == 6);
  CHECK(b.pkts[4].size == 256);
  CHECK(b.pkts[5].size == 1);
}

TEST_CASE("tx_segment with congestion control asks once per burst, and returns what it has not used",
          "[pipeline][tx_segment][cc]") {
  Bench b;
  b.control(2, 3, true);
  b.grant_bytes(3, 100000);
  b.post(2, 513, 1);
  b.run(60);
  REQUIRE(b.pkts.size() == 3);
  REQUIRE(b.requests.size() == 1);
  CHECK(b.requests[0] == Ccreq{.cc = 3, .min = 344, .bytes = 8 * 344});
  CHECK(b.pkts[0].size == 344);
  CHECK(b.pkts[1].size == 344);
  CHECK(b.pkts[2].size == 92);  // one byte, three of padding, TSETH
  CHECK(b.pkts[1].psn == 0xffffff);
  CHECK((!b.pkts[0].ackreq && !b.pkts[1].ackreq && b.pkts[2].ackreq));
  REQUIRE(b.rets.size() == 1);
  CHECK(b.rets[0] == Ccret{.cc = 3, .bytes = 8 * 344 - 344 - 344 - 92});
  CHECK(b.credit[3] == 100000 - 344 - 344 - 92);
  b.csr.nominal = Nominal::Payload;
  b.post(2, 256, 2);
  b.run(30);
  REQUIRE(b.requests.size() == 2);
  CHECK(b.requests[1] == Ccreq{.cc = 3, .min = 256, .bytes = 2048});
  CHECK(b.rets.at(1).bytes == 1792);
}

TEST_CASE("tx_segment asks for a byte at least: a packet of none may count for nothing, and 0 granted means refused",
          "[pipeline][tx_segment][cc]") {
  Bench b;
  b.control(2, 3, true);
  b.grant_bytes(3, 1);
  b.csr.nominal = Nominal::Payload;
  b.post(2, 0, 1);
  b.run(60);
  REQUIRE(b.requests.size() == 1);
  CHECK(b.requests[0] == Ccreq{.cc = 3, .min = 1, .bytes = 2048});
  REQUIRE(b.pkts.size() == 1);
  CHECK(b.pkts[0].size == 0);
  REQUIRE(b.rets.size() == 1);
  CHECK(b.rets[0] == Ccret{.cc = 3, .bytes = 1});  // it has used nothing of the one byte
}

TEST_CASE("tx_segment asks for 8 full packets, whatever the MTU", "[pipeline][tx_segment][cc]") {
  struct Case {
    bool ts, payload;
    uint16_t min;  // of a packet of 100 bytes
    uint16_t full[5], bytes[5];
  };
  const Case cases[] = {
      {false, false, 184, {340, 596, 1108, 2132, 4180}, {2720, 4768, 8864, 17056, 33440}},
      {true, false, 188, {344, 600, 1112, 2136, 4184}, {2752, 4800, 8896, 17088, 33472}},
      {false, true, 100, {256, 512, 1024, 2048, 4096}, {2048, 4096, 8192, 16384, 32768}},
      {true, true, 100, {256, 512, 1024, 2048, 4096}, {2048, 4096, 8192, 16384, 32768}},
  };
  for (const Case& c : cases) {
    for (uint8_t mtu = 0; mtu < 5; ++mtu) {
      CAPTURE(c.ts, c.payload, int{mtu});
      Bench b;
      b.csr.nominal = c.payload ? Nominal::Payload : Nominal::UdpLength;
      csr::TblQpCtx r = Bench::row(1);
      r.cc = true;
      r.mtu = mtu;
      r.dest = 2;
      r.ts = c.ts;
      b.configure(1, r);
      b.grant_bytes(2, 100000);
      b.post(1, 100, 1);
      b.run(40);
      REQUIRE(b.requests.size() == 1);
      CHECK(b.requests[0].cc == 2);
      CHECK(b.requests[0].min == c.min);
      CHECK(b.requests[0].bytes == c.bytes[mtu]);
      CHECK(b.granted[0] == c.bytes[mtu]);
      REQUIRE(b.rets.size() == 1);
      CHECK(b.rets[0].bytes == c.bytes[mtu] - c.min);
      b.post(1, 65536, 1);
      b.run(60);
      // The grant is 8 packets: the ninth asks again.
      REQUIRE(b.requests.size() >= 3);
      CHECK(b.requests[1].min == c.full[mtu]);
      CHECK(b.requests[1].bytes == c.bytes[mtu]);
      REQUIRE(b.pkts.size() > 9);
      for (unsigned i = 1; i < 9; ++i) {
        CHECK(b.pkts[i].size == c.full[mtu]);
        CHECK(b.at[i] == b.at[1] + i - 1);
      }
      CHECK(b.at[9] > b.at[8] + 1);
      CHECK(b.rets.size() == 1);
    }
  }
}

TEST_CASE("tx_segment: a packet of full length with immediate waits for its own size", "[pipeline][tx_segment][cc]") {
  Bench b;
  csr::TblQpCtx r = Bench::row(1);
  r.cc = true;
  r.mtu = 4;
  b.configure(1, r);
  b.grant_bytes(0, 4183);
  b.post(1, 4096, 1, true);
  b.run(60);
  CHECK(b.pkts.empty());
  REQUIRE(b.requests.size() == 1);
  CHECK(b.requests[0] == Ccreq{.cc = 0, .min = 4184, .bytes = 8 * 4180});  // four more than a full packet
  b.grant_bytes(0, 1);
  b.run(60);
  CHECK(b.pkts.size() == 1);
  CHECK(b.credit[0] == 0);
}

TEST_CASE("tx_segment: a grant that is smaller than the burst sends what fits and returns the rest",
          "[pipeline][tx_segment][cc]") {
  Bench b;
  b.control(0, 1);
  b.grant_bytes(1, 3 * 340 + 100);
  b.post(0, 256 * 10);
  b.run(60);
  CHECK(b.pkts.size() == 3);
  REQUIRE(b.granted.size() == 2);
  CHECK(b.granted[0] == 3 * 340 + 100);
  CHECK(b.granted[1] == 0);
  REQUIRE(b.rets.size() == 1);
  CHECK(b.rets[0] == Ccret{.cc = 1, .bytes = 100});
  for (const Pkt& p : b.pkts) CHECK_FALSE(p.ackreq);
  b.grant_bytes(1, 239);
  b.run(60);
  CHECK(b.granted.size() == 2);
  b.grant_bytes(1, 1);  // 340
  b.run(60);
  CHECK(b.pkts.size() == 4);
  CHECK(b.rets.size() == 1);  // nothing left, nothing returned
}

TEST_CASE("tx_segment: the last packet of a grant that nearly fills the window asks for an acknowledgement",
          "[pipeline][tx_segment][cc]") {
  Bench b;
  b.control(0, 1);
  b.grant_packets(1, 2);
  b.post(0, 256 * 9 + 1);
  b.run(60);
  REQUIRE(b.pkts.size() == 2);
  CHECK_FALSE(b.pkts[1].ackreq);
  b.last = true;
  b.grant_bytes(1, 340 * 3 + 339);  // the last of three leaves less than a full packet
  b.run(60);
  REQUIRE(b.pkts.size() == 5);
  CHECK((!b.pkts[2].ackreq && !b.pkts[3].ackreq && b.pkts[4].ackreq));
  CHECK(b.rets.size() == 1);
  CHECK(b.rets[0].bytes == 339);
  b.post(1, 256 * 2);  // without congestion control nobody answers
  b.run(30);
  REQUIRE(b.pkts.size() == 7);
  CHECK_FALSE(b.pkts[5].ackreq);
}

TEST_CASE("tx_segment: a refused QP sends nothing until its destination wakes it, and holds up no other",
          "[pipeline][tx_segment][cc][waiting]") {
  Bench b;
  b.control(0, 2);
  b.control(1, 3);
  b.grant_packets(3, 1000);
  b.post(0, 256 * 20);
  b.run(40);
  CHECK(b.pkts.empty());
  REQUIRE(b.requests.size() == 1);  // once: it waits
  CHECK(b.granted[0] == 0);
  b.post(1, 256 * 20);
  b.post(2, 256 * 20);  // without congestion control
  b.run(200);
  CHECK(b.sent_by(0) == 0);
  CHECK(b.sent_by(1) == 20);
  CHECK(b.sent_by(2) == 20);
  b.grant_packets(2, 3);
  b.run(60);
  CHECK(b.sent_by(0) == 3);
  b.run(200);
  CHECK(b.sent_by(0) == 3);
  b.grant_packets(2, 100);
  b.run(200);
  CHECK(b.sent_by(0) == 20);
  CHECK(std::count(b.granted.begin(), b.granted.end(), 0) == 2);
  for (unsigned i = 0, n = 0; i < b.pkts.size(); ++i) {
    if (b.pkts[i].qp == 0) CHECK(b.pkts[i].psn == psn_add(0xfffffe, n++));  // no PSN is left out
  }
}

TEST_CASE("tx_segment: who sends has something to send, and the controller has not refused it",
          "[pipeline][tx_segment][cc][waiting]") {
  Bench b;
  b.control(0, 2);
  const auto cycles_of = [&](unsigned qp, unsigned n) {
    unsigned count = 0;
    for (unsigned i = 0; i < n; ++i) {
      b.run(1);
      count += b.segment.sends(qp);
    }
    return count;
  };
  CHECK(cycles_of(0, 10) == 0);
  b.post(1, 256 * 20);  // without congestion control
  CHECK(cycles_of(1, 60) > 20);
  CHECK(b.sent_by(1) == 20);
  CHECK_FALSE(b.segment.sends(1));  // all of it is sent
  b.post(0, 256 * 20);
  b.run(40);
  CHECK(cycles_of(0, 100) == 0);  // refused
  b.grant_packets(2, 3);
  CHECK(cycles_of(0, 60) > 0);
  CHECK(b.sent_by(0) == 3);
  CHECK(cycles_of(0, 100) == 0);  // refused again
  b.grant_packets(2, 100);
  CHECK(cycles_of(0, 60) > 0);
  CHECK(b.sent_by(0) == 20);
  CHECK_FALSE(b.segment.sends(0));
}

TEST_CASE("tx_segment: four QPs of one destination share its window, burst by burst",
          "[pipeline][tx_segment][cc][waiting]") {
  Bench b;
  for (uint16_t q = 0; q < 4; ++q) b.control(q, 1, false, 8);
  for (uint16_t q = 0; q < 4; ++q) b.post(q, 256 * 400);
  b.run(60);
  for (unsigned i = 0; i < 100; ++i) {
    b.grant_packets(1, 1 + i % 3);
    b.run(60);
  }
  CHECK(b.pkts.size() == 34 + 2 * 33 + 3 * 33);
  for (uint16_t q = 0; q < 4; ++q) {
    CHECK(b.sent_by(q) >= 46);
    CHECK(b.sent_by(q) <= 53);
  }
}

TEST_CASE("tx_segment: a QP that ends while its answer is on the way gives the whole grant back",
          "[pipeline][tx_segment][cc]") {
  Bench b;
  b.control(0, 1);
  b.control(1, 1);
  b.grant_packets(1, 20);
  b.take_req = false;
  b.post(0, 256 * 10);
  while (!b.req.has()) b.cycle();
  b.set_state(0, QpState::Rtr);
  b.take_req = true;
  b.run(40);
  CHECK(b.pkts.empty());
  CHECK(b.granted == std::vector<uint16_t>{8 * 340});
  REQUIRE(b.rets.size() == 1);
  CHECK(b.rets[0] == Ccret{.cc = 1, .bytes = 8 * 340});
  CHECK(b.credit[1] == 20 * 340);
  // Not asked yet: it does not ask.
  b.post(1, 256 * 3);
  while (!b.grant.valid()) b.cycle();
  b.set_state(1, QpState::Rtr);
  b.run(40);
  CHECK(b.requests.size() == 1);
  CHECK(b.pkts.empty());
}

TEST_CASE("tx_segment: a grant that comes back unused lets the QP go on that was refused for it",
          "[pipeline][tx_segment][cc][waiting]") {
  for (const bool held : {false, true}) {  // it ends, or waits for an immediate to complete
    Bench b;
    b.control(0, 1);
    b.control(1, 1);
    if (held) {
      csr::TblQpCtx r = Bench::row(0);
      r.cc = true;
      r.dest = 1;
      r.max_wimm = 1;
      b.configure(0, r);
      b.grant_bytes(1, 344);  // with an immediate
      b.post(0, 256, 20, true);
      b.run(40);
      REQUIRE(b.sent_by(0) == 1);
    }
    const std::size_t before = b.requests.size();
    b.grant_packets(1, 8);
    b.take_pkt = false;
    b.post(2, 256 * 16);  // the port of packets is taken: what follows is answered meanwhile
    b.run(20);
    b.post(0, 256 * 10, 21, held);
    b.run(20);
    b.post(1, 256 * 2);
    b.run(40);
    REQUIRE(b.requests.size() == before + 2);
    REQUIRE(b.granted[before] == 8 * 340);
    REQUIRE(b.granted[before + 1] == 0);
    if (!held) b.set_state(0, QpState::Reset);
    b.take_pkt = true;
    b.run(200);
    CHECK(b.sent_by(0) == (held ? 1 : 0));
    CHECK(b.sent_by(1) == 2);
    CHECK(b.credit[1] == 6 * 340);
    if (held) continue;
    b.configure(0, Bench::row(0, 500, 7));  // it has left tx_sched
    b.post(0, 100);
    b.run(40);
    CHECK(b.sent_by(0) == 1);
  }
}

TEST_CASE("tx_segment: a burst waits for room for what it would return", "[pipeline][tx_segment][cc]") {
  Bench b;
  b.control(0, 1);
  b.grant_packets(1, 100);
  b.take_ret = false;
  for (unsigned i = 0; i < 5; ++i) {
    b.post(0, 256);
    b.run(40);
  }
  CHECK(b.pkts.size() == 3);  // FIFO of two, and the register
  b.take_ret = true;
  b.run(60);
  CHECK(b.pkts.size() == 5);
  CHECK(b.credit[1] == 95 * 340);
}

TEST_CASE("tx_segment: who has nothing more to send passes its turn on", "[pipeline][tx_segment][cc][waiting]") {
  Bench b;
  b.control(0, 1);
  b.control(1, 1);
  b.post(0, 256);
  b.post(1, 256 * 2);
  b.run(60);
  CHECK(b.pkts.empty());
  // Both wait, one wake: the QP that is woken lets the other ask, after what it has returned.
  b.grant_packets(1, 3);
  b.run(60);
  CHECK(b.sent_by(0) == 1);
  CHECK(b.sent_by(1) == 2);
}

TEST_CASE("tx_segment: a woken QP that may not send any more passes its turn on",
          "[pipeline][tx_segment][cc][waiting]") {
  for (const bool cc : {true, false}) {  // also one without congestion control among them
    Bench b;
    b.control(1, 1);
    if (cc) {
      b.control(0, 1);
    } else {
      csr::TblQpCtx r = Bench::row(0);
      r.dest = 1;
      b.configure(0, r);
    }
    b.post(1, 256);
    b.run(40);
    REQUIRE(b.requests.size() == 1);
    b.post(0, 256);  // stands behind QP 1, which asks again, and is refused
    b.run(40);
    if (cc) b.post(1, 100);
    REQUIRE(b.pkts.empty());
    b.set_state(0, QpState::Error);
    b.run(20);
    b.grant_packets(1, 5);
    b.run(80);
    CHECK(b.sent_by(0) == 0);
    CHECK(b.sent_by(1) == (cc ? 2 : 1));
  }
}

TEST_CASE("tx_segment: retransmissions keep the size they were ordered with and ask nobody",
          "[pipeline][tx_segment][cc]") {
  Bench b;
  b.control(1, 0);
  b.grant_packets(0, 100);
  b.post(1, 1000, 1);
  b.run(60);
  const PoolRow row = b.pkts.at(0).row;
  b.pkts.clear();
  b.requests.clear();
  b.csr.nominal = Nominal::Payload;
  b.retx.load({.qp = 1, .psn = 0xffffff, .msn = 0xffff, .row = row, .idx = 1, .avoid_ev = 9, .size = 340});
  b.run(10);
  REQUIRE(b.pkts.size() == 1);
  CHECK(b.pkts[0].size == 340);
  CHECK(b.pkts[0].plen == 256);
  CHECK_FALSE(b.pkts[0].voided);
  CHECK(b.requests.empty());
}

TEST_CASE("tx_segment: a retransmission that is not needed any more goes on voided, or not at all without control",
          "[pipeline][tx_segment][cc]") {
  const Retx order{.qp = 1, .psn = 0xffffff, .msn = 0xffff, .row = 1, .idx = 1, .avoid_ev = 9, .size = 340};
  for (const bool cc : {true, false}) {
    for (const unsigned why : {0u, 1u, 2u}) {
      CAPTURE(cc, why);
      Bench b;
      if (cc) b.control(1, 0);
      b.grant_packets(0, 100);
      b.post(1, 1000, 1, true);
      b.run(80);
      REQUIRE(b.pkts.size() == 4);
      REQUIRE(b.pkts[0].row == 1);
      b.pkts.clear();
      if (why == 0) b.update({.qp = 1, .una = 2, .ack = true, .msn = 0, .syndrome = 0});  // complete
      if (why == 1) b.update({.qp = 1, .una = 0xfffffe, .ack = true, .msn = 0xffff, .syndrome = 0x84});
      if (why == 2) b.set_state(1, QpState::Reset);
      b.retx.load(order);
      b.run(10);
      if (!cc) {
        CHECK(b.pkts.empty());
        continue;
      }
      REQUIRE(b.pkts.size() == 1);
      Pkt want{.qp = 1, .psn = 0xffffff, .msn = 0xffff, .rtx = true, .idx = 1, .size = 340, .voided = true};
      CHECK(b.pkts[0] == want);
    }
  }
}

}  // namespace mrc::test::tx_segment_control_test

// SPDX-License-Identifier: Apache-2.0
// AckReq, and everything at random.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <deque>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tests/pipeline/tx/segment/tx_segment_bench.hpp"

namespace mrc::test::tx_segment_random_test {

using namespace mrc::test::tx_segment;

namespace {

/// When packet i left, counted from the first one.
unsigned since_first(const Bench& b, std::size_t i) { return b.at[i] - b.at[0]; }

}  // namespace

TEST_CASE("tx_segment: the last packet of a QP asks for a SACK when none has asked for ar_gap cycles",
          "[pipeline][tx_segment][ackreq]") {
  for (const uint16_t gap : {uint16_t{1}, uint16_t{8}, uint16_t{32}}) {
    std::set<unsigned> seen;
    for (unsigned apart = 1; apart < 60; ++apart) {
      CAPTURE(gap, apart);
      Bench b;
      b.csr.ar_gap = gap;
      b.post(0, 100);
      b.run(apart - 1);
      b.post(1, 100);
      b.run(20);
      REQUIRE(b.pkts.size() == 2);
      CHECK(b.pkts[0].ackreq);
      CHECK(b.pkts[1].ackreq == (since_first(b, 1) > gap));  // so many cycles between them
      seen.insert(since_first(b, 1));
    }
    CHECK((seen.count(gap) == 1 && seen.count(gap + 1u) == 1));
  }
}

TEST_CASE("tx_segment: last packets that stand alone all ask", "[pipeline][tx_segment][ackreq]") {
  Bench b;
  for (unsigned i = 0; i < 12; ++i) {
    b.post(static_cast<uint16_t>(i % 4), 256 * 3);
    b.run(40);
  }
  REQUIRE(b.pkts.size() == 36);
  for (unsigned i = 0; i < 36; ++i) CHECK(b.pkts[i].ackreq == (i % 3 == 2));
}

TEST_CASE("tx_segment: of many last packets one in more than ar_gap cycles asks; those that do not begin no gap",
          "[pipeline][tx_segment][ackreq]") {
  struct Case {
    uint16_t gap;
    unsigned every;  // packet asks, when one leaves every four cycles
  };
  const Case cases[] = {{0, 1}, {3, 1}, {4, 2}, {7, 2}, {8, 3}, {32, 9}, {35, 9}, {36, 10}};
  for (const Case& c : cases) {
    CAPTURE(c.gap);
    Bench b(busy());
    b.csr.ar_gap = c.gap;
    for (unsigned i = 0; i < 160; ++i) {
      b.post(static_cast<uint16_t>(i % 16), 100);
      b.run(3);
    }
    b.run(20);
    REQUIRE(b.pkts.size() == 160);
    for (unsigned i = 0; i < 160; ++i) {
      REQUIRE(since_first(b, i) == 4 * i);  // each is the last one of its QP
      CHECK(b.pkts[i].ackreq == (i % c.every == 0));
    }
  }
}

TEST_CASE("tx_segment: ar_gap is read by the packet that asks; 0 lets every last packet ask",
          "[pipeline][tx_segment][ackreq]") {
  Bench b;
  b.csr.ar_gap = 0;
  const auto post_to = [&](std::initializer_list<uint16_t> qps) {
    for (const uint16_t q : qps) b.post(q, 100);
    b.run(20);
  };
  post_to({0, 1, 2, 3});
  REQUIRE(b.pkts.size() == 4);
  for (const Pkt& p : b.pkts) CHECK(p.ackreq);
  b.csr.ar_gap = 1000;
  post_to({0});
  b.csr.ar_gap = 0;
  post_to({1});
  b.run(1000);
  post_to({2, 3});
  REQUIRE(b.pkts.size() == 8);
  CHECK(b.pkts[4].ackreq);
  CHECK_FALSE(b.pkts[5].ackreq);  // the gap goes on
  CHECK((b.pkts[6].ackreq && b.pkts[7].ackreq));
}

TEST_CASE("tx_segment: the packet that fills a window always asks, and begins no gap",
          "[pipeline][tx_segment][ackreq]") {
  Bench b(4, 0x100, 0);
  b.csr.ar_gap = 0xffff;
  for (uint16_t q = 0; q < 3; ++q) b.post(q, 256 * 200);
  b.run(500);
  REQUIRE(b.pkts.size() == 3 * 128);
  for (const Pkt& p : b.pkts) CHECK(p.ackreq == (p.idx == 127));
  b.post(3, 100);  // the first without more to send
  b.run(20);
  REQUIRE(b.pkts.size() == 3 * 128 + 1);
  CHECK(b.pkts.back().ackreq);
  b.pkts.clear();
  b.post(3, 100);
  for (uint16_t q = 0; q < 3; ++q) b.update({.qp = q, .una = 0x101, .ack = false, .msn = 0, .syndrome = 0});
  REQUIRE(b.pkts.size() == 4);
  for (const Pkt& p : b.pkts) CHECK(p.ackreq == (p.qp != 3));  // within the gap
}

TEST_CASE("tx_segment: a window that is filled by the last packet of all is a QP with nothing more to send",
          "[pipeline][tx_segment][ackreq]") {
  Bench b(4, 0x100, 0);
  b.csr.ar_gap = 0xffff;
  b.post(0, 100);
  b.run(20);
  b.post(1, 256 * 128);
  b.run(400);
  REQUIRE(b.pkts.size() == 129);
  CHECK(b.pkts.front().ackreq);
  CHECK_FALSE(b.pkts.back().ackreq);
}

TEST_CASE("tx_segment: a grant that nearly fills the controller's window asks within the gap, too",
          "[pipeline][tx_segment][ackreq][cc]") {
  Bench b;
  b.csr.ar_gap = 0xffff;
  b.control(0, 1);
  b.last = true;
  b.post(1, 100);
  b.run(20);
  b.grant_bytes(1, 340 * 3 + 339);
  b.post(0, 256 * 3);
  b.run(60);
  REQUIRE(b.pkts.size() == 4);
  CHECK(b.pkts[0].ackreq);  // begins the gap
  CHECK((!b.pkts[1].ackreq && !b.pkts[2].ackreq));
  CHECK(b.pkts[3].ackreq);  // less than a full packet is left
}

TEST_CASE("tx_segment: bursts of 8 packets of 4096 bytes, of 16 of 2048", "[pipeline][tx_segment]") {
  for (const uint8_t mtu : {uint8_t{4}, uint8_t{3}}) {
    const unsigned n = mtu == 4 ? 8 : 16;
    CAPTURE(n);
    Bench b(4, 0x100, 0);
    for (uint16_t q = 0; q < 4; ++q) {
      csr::TblQpCtx r = Bench::row(q, 0x100, 0);
      r.mtu = mtu;
      b.configure(q, r);
    }
    for (uint16_t q = 0; q < 4; ++q) b.post(q, 32768 * 3);  // three bursts each, one row
    b.run(300);
    REQUIRE(b.pkts.size() == 12 * n);
    for (unsigned i = 0; i < 12 * n; ++i) {
      CHECK(b.pkts[i].qp == i / n % 4);
      CHECK(b.pkts[i].idx == i / (4 * n) * n + i % n);
      CHECK(b.pkts[i].plen == 256u << mtu);
      CHECK(since_first(b, i) == i);
    }
  }
}

namespace {

/// A peer that receives everything and tells it late, controllers that grant at random, and work at random.
struct Storm {
  Bench b;
  std::mt19937 rng;
  struct Qp {
    std::deque<Wqe> sent;  // accepted by the block, in order
    uint32_t psn = 0x0, una = 0;
    uint16_t msn = 0, done = 0;  // MSN being sent; completed
    uint32_t idx = 0;
    std::deque<std::pair<uint32_t, uint16_t>> ends;  // PSN after a message, MSN after it
    uint32_t next_wr = 0, completed = 0, posted = 0;
    bool cc = false;
    uint32_t begun = 0, held = 0, base = 0;
    uint32_t imms = 0, max_wimm = 0;  // begun and not acknowledged
    std::deque<bool> imm;             // of messages not acknowledged
  };
  std::vector<Qp> qps;
  std::size_t seen = 0, rets_seen = 0, cqes_seen = 0;
  uint64_t sizes = 0;
  uint64_t packets = 0;

  explicit Storm(unsigned seed, unsigned blocks) : b(4, 0xffff80, 0xfff0, make(blocks)), rng(seed), qps(4) {
    b.credit[0] = 20000;
    b.credit[1] = 3000;
    for (uint16_t q = 0; q < 4; ++q) {
      csr::TblQpCtx r = Bench::row(q, 0xffff80, 0xfff0);
      r.mtu = static_cast<uint8_t>(rng() % 5);
      r.cc = q != 3;
      r.dest = q == 2 ? 1 : 0;
      r.ts = q == 1;
      r.max_wimm = static_cast<uint8_t>(q == 0 ? 255 : 1 + rng() % 3);
      qps[q].max_wimm = r.max_wimm;
      r.mpr = static_cast<uint8_t>(1 + rng() % 4);
      b.configure(q, r);
      qps[q].cc = r.cc;
      qps[q].psn = qps[q].una = 0xffff80;
      qps[q].msn = qps[q].done = 0xfff0;
    }
  }
  static Preset make(unsigned blocks) {
    Preset p = roomy();
    p.num_blocks = blocks;
    p.num_wqes = 24;
    return p;
  }
  unsigned below(unsigned n) { return static_cast<unsigned>(rng() % n); }

  void look_at_packets() {
    for (; seen < b.pkts.size(); ++seen) {
      const Pkt& p = b.pkts[seen];
      Qp& q = qps[p.qp];
      ++packets;
      REQUIRE_FALSE(p.rtx);
      REQUIRE(p.psn == q.psn);
      REQUIRE(p.msn == q.msn);
      REQUIRE(p.idx == q.idx);
      REQUIRE_FALSE(q.sent.empty());
      REQUIRE(p.dmalen == q.sent.front().length);
      REQUIRE(p.rkey == q.sent.front().rkey);
      if (p.idx == 0 && q.sent.front().imm_valid) REQUIRE(++q.imms <= q.max_wimm);
      if (q.psn % 16 == 0 || q.begun == 0) {
        if (q.held++ == 0) q.base = q.psn >> 4;
        ++q.begun;
      }
      q.psn = psn_add(q.psn, 1);
      ++q.idx;
      if (q.cc) sizes += p.size;
      if (!p.last) continue;
      q.idx = 0;
      ++q.msn;
      q.sent.pop_front();
      q.ends.emplace_back(q.psn, q.msn);
    }
  }
  void look_at_completions() {
    for (; cqes_seen < b.cqes.size(); ++cqes_seen) {
      const Cqe& c = b.cqes[cqes_seen];
      Qp& q = qps[c.qp];
      REQUIRE(c.status == CqStatus::Ok);
      REQUIRE(c.wr_id == q.completed);
      ++q.completed;
    }
  }
  void report() {
    if (!b.upd.free() || below(8) != 0) return;
    const auto index = static_cast<uint16_t>(below(4));
    Qp& q = qps[index];
    const uint32_t out = psn_dist(q.psn, q.una);
    Upd u{.qp = index, .una = psn_add(q.una, below(out + 1)), .ack = false, .msn = 0, .syndrome = 0, .mpr = 0};
    if (below(8) == 0) u.mpr = static_cast<uint8_t>(1 + below(5));
    while (!q.ends.empty() && psn_dist(q.ends.front().first, q.una) <= psn_dist(u.una, q.una)) {
      u.ack = true;
      u.msn = q.ends.front().second;
      u.syndrome = 0x1f;
      q.ends.pop_front();
      if (q.imm.front()) --q.imms;
      q.imm.pop_front();
    }
    q.una = u.una;
    while (q.held != 0 && q.base != q.una >> 4) {  // the block of the newest packet stays
      q.base = (q.base + 1) & 0xf'ffff;
      --q.held;
      ++b.freed;
    }
    b.upd.load(u);
  }
  void cycle(bool work) {
    if (work && b.wqe.ready() && below(6) == 0) {
      const auto index = static_cast<uint16_t>(below(4));
      Qp& q = qps[index];
      Wqe w = Bench::work(index, below(1u << below(16)), q.next_wr++, below(3) == 0);
      w.rkey = static_cast<uint32_t>(rng());
      q.sent.push_back(w);
      q.imm.push_back(w.imm_valid);
      ++q.posted;
      b.wqe.push(w);
    }
    b.take_pkt = below(16) != 0;
    b.take_cqe = below(4) != 0;
    b.take_ret = below(4) != 0;
    if (below(16) == 0) {
      b.last = below(2) != 0;
      const auto dest = static_cast<uint8_t>(below(2));
      b.credit[dest] += below(4000);
      if (b.wants[dest] != 0 && b.wants[dest] <= b.credit[dest] && b.resume.free()) {
        b.resume.load({.cc = dest});
        b.wants[dest] = 0;
      }
    }
    report();
    b.cycle();
    look_at_packets();
    look_at_completions();
  }
};

}  // namespace

TEST_CASE("tx_segment: work, news and grants at random: every message once, in order, and no byte of a grant is lost",
          "[pipeline][tx_segment][random]") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Storm s(seed, seed % 2 ? 8 : 4096);
    for (unsigned i = 0; i < 20000; ++i) s.cycle(true);
    for (unsigned i = 0; i < 60000; ++i) s.cycle(false);
    for (const Storm::Qp& q : s.qps) {
      CHECK(q.sent.empty());
      CHECK(q.completed == q.posted);
      CHECK(q.posted > 50);
    }
    uint64_t granted = 0, returned = 0;
    for (const uint16_t g : s.b.granted) granted += g;
    for (const Ccret& r : s.b.rets) returned += r.bytes;
    CHECK(granted == returned + s.sizes);
    CHECK(s.packets > 1000);
  }
}

}  // namespace mrc::test::tx_segment_random_test

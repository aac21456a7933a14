// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/segment/tx_segment.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "gen/csr.hpp"
#include "pipeline/tx/tx_sched.hpp"
#include "protocol/psn.hpp"

using namespace mrc;

namespace {

/// tiny with more room than most tests need: they are about one limit at a time. 4 QPs.
Preset roomy() {
  Preset p = *find_preset("tiny");
  p.max_mpr = 1024;
  p.num_blocks = 4096;
  p.num_wqes = 64;
  return p;
}
/// For as many QPs and work requests as it takes to keep the block busy.
Preset busy() {
  Preset p = roomy();
  p.num_qps = 16;
  p.num_wqes = 1024;
  p.wqe_depth = 64;
  return p;
}

/// tx_sched and tx_segment with their outputs taken at once.
struct Bench {
  Preset preset;
  Fifo<Wqe> wqe{2};
  Fifo<Grant> grant{2};
  Stream<Retx> retx;
  Stream<Upd> upd;
  Stream<Ccans> ans;
  Stream<Ccwake> wake;
  Stream<Pkt> pkt;
  Stream<Sched> push;
  Stream<Grant> park;
  Stream<Ccask> ask;
  Stream<Ccret> ret;
  Fifo<Cqe> cqe{2};
  TxSched sched{preset, push, park, wake, grant};
  TxSegment segment{preset, {wqe, grant, retx, upd, ans}, {pkt, push, park, ask, ret, cqe}};
  CfgBus cfg;
  CsrOut csr;
  bool take_pkt = true, take_cqe = true, take_ask = true, take_ret = true;
  unsigned freed = 0;  ///< blocks that will be told free, one per cycle
  unsigned cycles = 0;
  std::deque<Wqe> queue;  ///< work requests that go in as the FIFO takes them
  std::vector<Pkt> pkts;
  std::vector<unsigned> at;
  std::vector<Cqe> cqes;
  // The controllers of 4 destinations: so many more bytes may go. One that refused wakes when its packet may.
  uint32_t credit[4] = {};
  uint32_t wants[4] = {};
  bool last = false;  ///< in the answers
  std::vector<Ccask> asks;
  std::vector<uint16_t> granted;
  std::vector<Ccret> rets;

  explicit Bench(unsigned qps = 4, uint32_t psn = 0xfffffe, uint16_t msn = 0xffff, const Preset& p = roomy())
      : preset(p) {
    for (unsigned q = 0; q < qps; ++q) configure(q, row(q, psn, msn));
  }
  explicit Bench(const Preset& p, uint32_t psn = 0x100) : Bench(p.num_qps, psn, 0, p) {}
  static csr::TblQpCtx row(unsigned q, uint32_t psn = 0xfffffe, uint16_t msn = 0xffff) {
    csr::TblQpCtx r;
    r.state = 3;
    r.mtu = 0;
    r.mpr = 1;
    r.max_wimm = 4;
    r.profile = static_cast<uint8_t>(q);
    r.sq_psn = psn;
    r.msn = msn;
    r.rqmsn = 5;
    return r;
  }
  /// QP q with congestion control towards dest.
  void control(unsigned q, uint8_t dest, bool ts = false, uint8_t mpr = 1) {
    csr::TblQpCtx r = row(q);
    r.cc = true;
    r.dest = dest;
    r.ts = ts;
    r.mpr = mpr;
    configure(q, r);
  }
  void request(unsigned q, const csr::TblQpCtx& r) {
    r.pack(cfg.data.data());
    cfg.table = 0;
    cfg.index = static_cast<uint16_t>(q);
    cfg.req = true;
  }
  bool acked() const { return segment.cfg_ack() && sched.cfg_ack(); }
  void finish_cfg() {
    for (unsigned i = 0; i < 1000 && !acked(); ++i) cycle();
    REQUIRE(acked());
    cfg.req = false;
    cycle();
  }
  void configure(unsigned q, const csr::TblQpCtx& r) {
    request(q, r);
    finish_cfg();
  }
  /// Room for so many more bytes to a destination.
  void grant_bytes(uint8_t dest, uint32_t bytes) {
    credit[dest] += bytes;
    if (wants[dest] != 0 && wants[dest] <= credit[dest]) {
      wake.load({.cc = dest});
      wants[dest] = 0;
    }
    cycle();
  }
  /// For so many full packets of 256 bytes.
  void grant_packets(uint8_t dest, unsigned n) { grant_bytes(dest, 340 * n); }
  /// As cc_nscc: what comes back goes first, then one ask per cycle.
  void control_cycle() {
    if (ret.has() && take_ret) {
      rets.push_back(ret.head());
      credit[ret.head().cc] += ret.head().bytes;
      ret.pop();
    } else if (ask.has() && ans.free() && take_ask) {
      const Ccask a = ask.head();
      ask.pop();
      const auto bytes = static_cast<uint16_t>(a.min <= credit[a.cc] ? std::min<uint32_t>(a.bytes, credit[a.cc]) : 0);
      credit[a.cc] -= bytes;
      wants[a.cc] = bytes == 0 ? a.min : 0;
      ans.load({.cc = a.cc, .bytes = bytes, .last = last && bytes != 0});
      asks.push_back(a);
      granted.push_back(bytes);
    }
  }
  unsigned sent_by(uint16_t qp) const {
    unsigned n = 0;
    for (const Pkt& p : pkts) n += p.qp == qp;
    return n;
  }
  void cycle() {
    if (!queue.empty() && wqe.ready()) {
      wqe.push(queue.front());
      queue.pop_front();
    }
    if (pkt.has() && take_pkt) {
      pkts.push_back(pkt.head());
      at.push_back(cycles);
      pkt.pop();
    }
    if (cqe.valid() && take_cqe) {
      cqes.push_back(cqe.head());
      cqe.pop();
    }
    control_cycle();
    sched.step(cfg);
    segment.step(cfg, csr, freed != 0);
    if (freed != 0) --freed;
    sched.clock();
    segment.clock();
    wqe.clock();
    grant.clock();
    retx.clock();
    upd.clock();
    ans.clock();
    wake.clock();
    pkt.clock();
    push.clock();
    park.clock();
    ask.clock();
    ret.clock();
    cqe.clock();
    ++cycles;
  }
  void run(unsigned n) {
    for (unsigned i = 0; i < n; ++i) cycle();
  }
  static Wqe work(uint16_t qp, uint32_t length, uint32_t wr_id = 0, bool imm = false) {
    return {.qp = qp,
            .imm_valid = imm,
            .wr_id = wr_id,
            .laddr = 0x1000,
            .raddr = 0x2000,
            .rkey = 7,
            .length = length,
            .imm = 0x55};
  }
  void post(uint16_t qp, uint32_t length, uint32_t wr_id = 0, bool imm = false) {
    while (!wqe.ready()) cycle();
    wqe.push(work(qp, length, wr_id, imm));
    cycle();
  }
  void set_state(uint16_t q, QpState state) {
    request_state(q, state);
    finish_cfg();
  }
  void request_state(uint16_t q, QpState state) {
    cfg.table = static_cast<uint8_t>(CfgTable::QpState);
    cfg.index = q;
    cfg.data[0] = static_cast<uint32_t>(state);
    cfg.req = true;
  }
  /// A completion of a QP's own, and that nothing else is in it.
  void expect(std::size_t i, uint16_t qp, CqStatus status, uint32_t wr_id, uint32_t length, uint16_t msn) {
    CAPTURE(i);
    REQUIRE(i < cqes.size());
    Cqe want{};
    want.qp = qp;
    want.status = status;
    want.wr_id = wr_id;
    want.length = length;
    want.msn = msn;
    CHECK(cqes[i] == want);
  }
  void update(Upd u) {
    upd.load(u);
    run(20);
  }
};

}  // namespace

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
  // of the 16 of a grant. Meanwhile the next burst's first row is fetched and, with a controller, answered: 5 cycles.
  const Mix mixes[] = {
      {"same QP and row at distances 1, 2, 3", 0, {256 * 500}, 1, 16, 16, 8, 9},
      {"same QP, another row each packet", 0, {64}, 60, 16, 16, 16, 16},
      {"the end by bytes, one row for all", 4, {4096 * 500}, 1, 8, 8, 8, 8},
      {"the end by bytes and packets, one row for all", 3, {2048 * 500}, 1, 16, 16, 8, 9},
      {"1024 bytes, one row for all", 2, {1024 * 500}, 1, 16, 16, 8, 9},
      {"another row at distance 2, rows left", 0, {512}, 60, 16, 16 + 7, 8, 9 + 7},
      {"another row at distance 3, rows left", 0, {768}, 60, 16, 16 + 7, 8, 9 + 7},
      {"rows of one, two and three packets, rows left", 0, {256, 512, 768}, 60, 16, 16 + 7, 8, 9 + 7},
      {"the end by bytes, rows left", 4, {4096}, 60, 8, 8 + 7, 8, 8 + 5},
      // 11 packets of 16 rows. 5 pairs are 31560 of the 33440 bytes granted.
      {"the end by bytes, less rows left", 4, {4096, 2048}, 60, 11, 11 + 5, 10, 11 + 5},
      {"the end by bytes and packets, another row each packet", 3, {2048}, 60, 16, 16, 8, 9 + 5},
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
    const uint16_t row = b.pkts[0].row;
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

TEST_CASE("tx_segment retransmits on order, unless the message is complete", "[pipeline][tx_segment]") {
  Bench b;
  b.post(1, 1000, 1, true);
  b.run(40);
  const uint16_t row = b.pkts[1].row;
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

TEST_CASE("tx_segment: retransmissions go between the packets of a burst, and change nothing else",
          "[pipeline][tx_segment]") {
  Bench b;
  b.post(1, 256, 1);
  b.run(20);
  REQUIRE(b.pkts.size() == 1);
  const Retx order{.qp = 1, .psn = 0xfffffe, .msn = 0xffff, .row = b.pkts[0].row, .idx = 0, .avoid_ev = 3, .size = 340};
  for (unsigned i = 0; i < 8; ++i) b.post(0, 256 * (i + 1));  // 36 packets
  while (b.pkts.size() < 37) {
    if (b.retx.free()) b.retx.load(order);
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
  csr::TblQpCtx row;
  row.state = 3;
  row.mpr = 1;
  row.sq_psn = 500;
  row.msn = 7;
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
  const uint16_t row = b.pkts.back().row;
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
  CHECK(b.asks.empty());
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
  REQUIRE(b.asks.size() == 1);
  CHECK(b.asks[0] == Ccask{.cc = 3, .min = 344, .bytes = 8 * 344});
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
  REQUIRE(b.asks.size() == 2);
  CHECK(b.asks[1] == Ccask{.cc = 3, .min = 256, .bytes = 2048});
  CHECK(b.rets.at(1).bytes == 1792);
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
      REQUIRE(b.asks.size() == 1);
      CHECK(b.asks[0].cc == 2);
      CHECK(b.asks[0].min == c.min);
      CHECK(b.asks[0].bytes == c.bytes[mtu]);
      CHECK(b.granted[0] == c.bytes[mtu]);
      REQUIRE(b.rets.size() == 1);
      CHECK(b.rets[0].bytes == c.bytes[mtu] - c.min);
      b.post(1, 65536, 1);
      b.run(60);
      // The grant is 8 packets: the ninth asks again.
      REQUIRE(b.asks.size() >= 3);
      CHECK(b.asks[1].min == c.full[mtu]);
      CHECK(b.asks[1].bytes == c.bytes[mtu]);
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
  REQUIRE(b.asks.size() == 1);
  CHECK(b.asks[0] == Ccask{.cc = 0, .min = 4184, .bytes = 8 * 4180});  // four more than a full packet
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
  REQUIRE(b.asks.size() == 1);  // once: it waits
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
  b.take_ask = false;
  b.post(0, 256 * 10);
  while (!b.ask.has()) b.cycle();
  b.set_state(0, QpState::Rtr);
  b.take_ask = true;
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
  CHECK(b.asks.size() == 1);
  CHECK(b.pkts.empty());
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
    REQUIRE(b.asks.size() == 1);
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
  const uint16_t row = b.pkts.at(0).row;
  b.pkts.clear();
  b.asks.clear();
  b.csr.nominal = Nominal::Payload;
  b.retx.load({.qp = 1, .psn = 0xffffff, .msn = 0xffff, .row = row, .idx = 1, .avoid_ev = 9, .size = 340});
  b.run(10);
  REQUIRE(b.pkts.size() == 1);
  CHECK(b.pkts[0].size == 340);
  CHECK(b.pkts[0].plen == 256);
  CHECK_FALSE(b.pkts[0].voided);
  CHECK(b.asks.empty());
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
      Pkt want{};
      want.qp = 1;
      want.psn = 0xffffff;
      want.msn = 0xffff;
      want.idx = 1;
      want.rtx = true;
      want.size = 340;
      want.voided = true;
      CHECK(b.pkts[0] == want);
    }
  }
}

TEST_CASE("tx_segment: one WRITE with immediate more than max_wimm is refused, and the QP goes on",
          "[pipeline][tx_segment][wimm]") {
  Bench b;
  csr::TblQpCtx r = Bench::row(1);
  r.max_wimm = 2;
  b.configure(1, r);
  b.post(1, 100, 20, true);
  b.post(1, 100, 21);  // without immediate: does not count
  b.post(1, 100, 22, true);
  b.run(30);
  CHECK(b.pkts.size() == 3);
  b.update({.qp = 1, .una = 0xffffff, .ack = true, .msn = 0, .syndrome = 0x1f});  // the first is complete
  REQUIRE(b.cqes.size() == 1);
  b.post(1, 100, 23, true);
  b.run(20);
  CHECK(b.pkts.size() == 4);
  CHECK(b.pkts[3].rqmsn == 7);
  b.update({.qp = 1, .una = 0, .ack = true, .msn = 1, .syndrome = 0x1f});  // 21: gives nothing back
  REQUIRE(b.cqes.size() == 2);
  b.post(1, 0, 24, true);  // a wrong length comes first
  b.run(10);
  REQUIRE(b.cqes.size() == 3);
  b.expect(2, 1, CqStatus::LocLength, 24, 0, 0);
  b.pkts.clear();
  b.post(1, 100, 25, true);  // the third
  b.post(1, 100, 26);
  b.run(30);
  REQUIRE(b.cqes.size() == 4);
  b.expect(3, 1, CqStatus::WimmOverrun, 25, 0, 0);
  REQUIRE(b.pkts.size() == 1);  // 26 takes the MSN after 23's: 25 has none, and no RQMSN
  CHECK(b.pkts[0].msn == 3);
  b.update({.qp = 1, .una = 2, .ack = true, .msn = 4, .syndrome = 0x1f});
  b.run(10);
  REQUIRE(b.cqes.size() == 7);
  b.expect(4, 1, CqStatus::Ok, 22, 100, 1);
  b.expect(5, 1, CqStatus::Ok, 23, 100, 2);
  b.expect(6, 1, CqStatus::Ok, 26, 100, 3);
  b.post(1, 100, 30, true);  // both are free again
  b.post(1, 100, 31, true);
  b.run(30);
  REQUIRE(b.pkts.size() == 3);
  CHECK(b.pkts[1].rqmsn == 8);
  CHECK(b.pkts[2].rqmsn == 9);
}

TEST_CASE("tx_segment: with max_wimm 0 every immediate is refused, and nothing else", "[pipeline][tx_segment][wimm]") {
  Bench b;
  csr::TblQpCtx r = Bench::row(1);
  r.max_wimm = 0;
  b.configure(1, r);
  b.post(1, 100, 20, true);
  b.post(1, 100, 21);
  b.post(1, 100, 22, true);
  b.run(30);
  REQUIRE(b.cqes.size() == 2);
  b.expect(0, 1, CqStatus::WimmOverrun, 20, 0, 0);
  b.expect(1, 1, CqStatus::WimmOverrun, 22, 0, 0);
  CHECK(b.pkts.size() == 1);
}

TEST_CASE("tx_segment: the window shrinks and grows as it is told, within the QP's own MPR",
          "[pipeline][tx_segment][mpr]") {
  Bench b;
  csr::TblQpCtx r = Bench::row(0);
  r.mpr = 3;
  b.configure(0, r);
  const auto told = [](uint32_t una, uint8_t mpr) {
    return Upd{.qp = 0, .una = psn_add(0xfffffe, una), .ack = false, .msn = 0, .syndrome = 0, .mpr = mpr};
  };
  b.update(told(0, 1));
  b.post(0, 256 * 2000);
  b.run(1000);
  CHECK(b.pkts.size() == 128);
  b.update(told(0, 2));  // grows: it goes on without any progress
  b.run(1000);
  CHECK(b.pkts.size() == 256);
  b.update(told(10, 0));  // 0: as before
  b.run(1000);
  CHECK(b.pkts.size() == 266);
  b.update(told(10, 200));  // at most three
  b.run(1000);
  CHECK(b.pkts.size() == 394);
  b.update(told(100, 1));  // 294 are out, 128 may be: nothing new until enough is acknowledged
  b.run(1000);
  CHECK(b.pkts.size() == 394);
  b.retx.load({.qp = 0, .psn = psn_add(0xfffffe, 393), .msn = 0xffff, .row = 0, .idx = 393, .avoid_ev = 0});
  b.run(10);
  CHECK(b.pkts.size() == 395);  // but what is out may go again
  b.update(told(266, 0));
  b.run(1000);
  CHECK(b.pkts.size() == 395);
  b.update(told(267, 0));
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
  REQUIRE(b.asks.size() == 1);  // refused: it waits for its destination
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
  CHECK(b.asks.size() == 3);
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
Upd news(uint16_t qp, uint32_t una) { return {.qp = qp, .una = una, .ack = false, .msn = 0, .syndrome = 0}; }

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
    for (unsigned told = 0; told < 16; ++told) {
      CAPTURE(request, told);
      Bench b(4, 0x100, 0);
      b.wqe.push(Bench::work(2, 256 * 3, 1));
      unsigned n = 1;
      for (unsigned i = 0; i < 16; ++i) {
        b.cycle();
        if (i == request) {
          b.wqe.push(Bench::work(2, 200, 2));
          ++n;
        }
        if (i == told) b.upd.load(news(2, psn_add(0x100, b.sent_by(2))));
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
      r.max_wimm = 255;
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
  void tell() {
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
      Wqe w = Bench::work(index, 1 + below(1u << (4 + below(12))), q.next_wr++, below(4) == 0);
      w.rkey = static_cast<uint32_t>(rng());
      q.sent.push_back(w);
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
      if (b.wants[dest] != 0 && b.wants[dest] <= b.credit[dest] && b.wake.free()) {
        b.wake.load({.cc = dest});
        b.wants[dest] = 0;
      }
    }
    tell();
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

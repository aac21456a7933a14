// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx_segment.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <vector>

#include "gen/csr.hpp"
#include "pipeline/tx_sched.hpp"
#include "protocol/psn.hpp"

using namespace mrc;

namespace {

/// tx_sched and tx_segment with their outputs taken at once. tiny: 4 QPs, 4 WQEs each.
struct Bench {
  Preset preset = *find_preset("tiny");
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
  Stream<Cqe> cqe;
  Stream<Qperr> qperr_out;
  TxSched sched{preset, push, park, wake, grant};
  TxSegment segment{preset, {wqe, grant, retx, upd, ans}, {pkt, push, park, ask, cqe, qperr_out}};
  CfgBus cfg;
  CsrOut csr;
  bool take_pkt = true, take_cqe = true, take_qperr = true;
  unsigned cycles = 0;
  std::vector<Pkt> pkts;
  std::vector<unsigned> at;
  std::vector<Cqe> cqes;
  std::vector<Qperr> qperrs;
  // The controllers of 4 destinations: so many more packets may go. One that refused wakes when it may again.
  unsigned credit[4] = {};
  bool wants[4] = {};
  bool last = false;  ///< in the answers
  std::vector<Ccask> asks;
  std::vector<bool> oks;

  explicit Bench(unsigned qps = 4, uint32_t psn = 0xfffffe, uint16_t msn = 0xffff) {
    for (unsigned q = 0; q < qps; ++q) configure(q, row(q, psn, msn));
  }
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
  /// Room for n more packets to a destination.
  void grant_credit(uint8_t dest, unsigned n) {
    credit[dest] += n;
    if (wants[dest]) wake.load({.cc = dest});
    wants[dest] = false;
    cycle();
  }
  void control_cycle() {
    if (!ask.has()) return;
    const Ccask a = ask.head();
    ask.pop();
    const bool ok = credit[a.cc] != 0;
    if (ok) --credit[a.cc];
    wants[a.cc] = !ok;
    ans.load({.cc = a.cc, .ok = ok, .last = last});
    asks.push_back(a);
    oks.push_back(ok);
  }
  unsigned sent_by(uint16_t qp) const {
    unsigned n = 0;
    for (const Pkt& p : pkts) n += p.qp == qp;
    return n;
  }
  void cycle() {
    if (pkt.has() && take_pkt) {
      pkts.push_back(pkt.head());
      at.push_back(cycles);
      pkt.pop();
    }
    if (cqe.has() && take_cqe) {
      cqes.push_back(cqe.head());
      cqe.pop();
    }
    if (qperr_out.has() && take_qperr) {
      qperrs.push_back(qperr_out.head());
      qperr_out.pop();
    }
    control_cycle();
    sched.step(cfg);
    segment.step(cfg, csr);
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
    cqe.clock();
    qperr_out.clock();
    ++cycles;
  }
  void run(unsigned n) {
    for (unsigned i = 0; i < n; ++i) cycle();
  }
  void post(uint16_t qp, uint32_t length, uint32_t wr_id = 0, bool imm = false) {
    while (!wqe.ready()) cycle();
    wqe.push({.qp = qp,
              .imm_valid = imm,
              .wr_id = wr_id,
              .laddr = 0x1000,
              .raddr = 0x2000,
              .rkey = 7,
              .length = length,
              .imm = 0x55});
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
    run(12);
  }
};

}  // namespace

TEST_CASE("tx_segment cuts a message, PSN and MSN wrap, a packet every second cycle", "[pipeline][tx_segment]") {
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
    CHECK(p.opcode == opcodes[i]);
    CHECK(p.idx == i);
    CHECK(p.profile == 1);
    CHECK(p.ackreq == (i == 3));
    CHECK_FALSE(p.rtx);
  }
  CHECK(b.pkts[3].plen == 232);
  b.post(1, 256, 43, true);
  b.run(20);
  REQUIRE(b.pkts.size() == 5);
  CHECK(b.pkts[4].msn == 0);
  CHECK(b.pkts[4].rqmsn == 5);
  CHECK(b.pkts[4].opcode == 0xCB);
}

TEST_CASE("tx_segment goes round robin by packet, one packet every second cycle", "[pipeline][tx_segment]") {
  Bench b;
  for (uint16_t q = 0; q < 4; ++q) b.post(q, 256 * 10);
  b.run(100);
  REQUIRE(b.pkts.size() == 40);
  for (unsigned i = 4; i + 4 < 40; ++i) CHECK(b.pkts[i].qp == b.pkts[i + 4].qp);
  for (unsigned i = 12; i < 36; ++i) CHECK(b.at[i] - b.at[i - 1] == 2);
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

TEST_CASE("tx_segment: a full ring holds the host's queue until a message completes", "[pipeline][tx_segment]") {
  Bench b;
  for (uint32_t i = 0; i < 4; ++i) b.post(3, 10, i);
  b.post(3, 10, 4);
  b.post(0, 10, 5);
  b.run(50);
  CHECK(b.pkts.size() == 4);
  b.update({.qp = 3, .una = 0xffffff, .ack = true, .msn = 0, .syndrome = 0});
  b.run(20);
  CHECK(b.pkts.size() == 6);
  CHECK(b.cqes.size() == 1);
}

TEST_CASE("tx_segment refuses work in a wrong state or of a wrong length", "[pipeline][tx_segment]") {
  Bench b(2);
  b.post(3, 10, 1);  // QP 3 is in state Reset
  b.post(0, 0, 2);
  b.post(0, (1u << 31) + 1, 3);
  b.run(10);
  REQUIRE(b.cqes.size() == 3);
  CHECK(b.cqes[0].status == CqStatus::LocState);
  CHECK(b.cqes[0].qp == 3);
  CHECK(b.cqes[0].wr_id == 1);
  CHECK(b.cqes[0].length == 0);
  CHECK(b.cqes[1].status == CqStatus::LocLength);
  CHECK(b.cqes[2].status == CqStatus::LocLength);
  CHECK(b.pkts.empty());
}

TEST_CASE("tx_segment retransmits on order, unless the message is complete", "[pipeline][tx_segment]") {
  Bench b;
  b.post(1, 1000, 1, true);
  b.run(40);
  b.pkts.clear();
  b.retx.load({.qp = 1, .psn = 0xffffff, .msn = 0xffff, .idx = 1, .avoid_ev = 9});
  b.run(10);
  REQUIRE(b.pkts.size() == 1);
  const Pkt& p = b.pkts[0];
  CHECK(p.rtx);
  CHECK_FALSE(p.ackreq);
  CHECK(p.psn == 0xffffff);
  CHECK(p.idx == 1);
  CHECK(p.opcode == 0xC7);
  CHECK(p.va == 0x2100);
  CHECK(p.rqmsn == 5);
  CHECK(p.avoid_ev == 9);
  b.update({.qp = 1, .una = 2, .ack = true, .msn = 0, .syndrome = 0});
  b.retx.load({.qp = 1, .psn = 0xffffff, .msn = 0xffff, .idx = 1, .avoid_ev = 9});
  b.run(10);
  CHECK(b.pkts.size() == 1);
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
  b.retx.load({.qp = 0, .psn = 0xffffff, .msn = 0, .idx = 0, .avoid_ev = 9});
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
    for (uint32_t i = 0; i < 4; ++i) b.post(q, 100, 10 * q + i);
  }
  b.post(2, 1000, 50);
  b.run(50);
  b.take_cqe = false;  // three completions find room
  b.update({.qp = 0, .una = 0xfffffe, .ack = true, .msn = 0xffff, .syndrome = 0x84});
  b.run(20);
  b.pkts.clear();
  b.request_state(1, QpState::Error);
  b.retx.load({.qp = 2, .psn = 0xffffff, .msn = 0xffff, .idx = 1, .avoid_ev = 0});
  b.run(50);
  CHECK_FALSE(b.segment.cfg_ack());
  CHECK(b.pkts.size() == 1);
  b.take_cqe = true;
  b.set_state(1, QpState::Error);
  b.run(30);
  REQUIRE(b.cqes.size() == 8);
  for (uint16_t i = 0; i < 4; ++i) {
    b.expect(i, 0, i == 0 ? CqStatus::RetryExceeded : CqStatus::Flushed, i, 100, static_cast<uint16_t>(0xffff + i));
    b.expect(4u + i, 1, CqStatus::Flushed, 10u + i, 100, static_cast<uint16_t>(0xffff + i));
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
  b.csr.payload_bytes = true;
  b.post(1, 257, 43);
  b.run(40);
  REQUIRE(b.pkts.size() == 6);
  CHECK(b.pkts[4].size == 256);
  CHECK(b.pkts[5].size == 1);
}

TEST_CASE("tx_segment with congestion control asks for each new packet with its size", "[pipeline][tx_segment][cc]") {
  Bench b;
  b.control(2, 3, true);
  b.grant_credit(3, 100);
  b.post(2, 513, 1);
  b.run(60);
  REQUIRE(b.pkts.size() == 3);
  REQUIRE(b.asks.size() == 3);
  CHECK(b.asks[0] == Ccask{.cc = 3, .bytes = 344});
  CHECK(b.asks[1] == Ccask{.cc = 3, .bytes = 344});
  CHECK(b.asks[2] == Ccask{.cc = 3, .bytes = 92});  // one byte, three of padding, TSETH
  for (unsigned i = 0; i < 3; ++i) CHECK(b.pkts[i].size == b.asks[i].bytes);
  CHECK(b.pkts[1].psn == 0xffffff);
  CHECK((!b.pkts[0].ackreq && !b.pkts[1].ackreq && b.pkts[2].ackreq));
  b.csr.payload_bytes = true;
  b.post(2, 256, 2);
  b.run(30);
  REQUIRE(b.asks.size() == 4);
  CHECK(b.asks[3].bytes == 256);
}

TEST_CASE("tx_segment: the last packet that a window allows asks for an acknowledgement",
          "[pipeline][tx_segment][cc]") {
  Bench b;
  b.control(0, 1);
  b.grant_credit(1, 2);
  b.post(0, 256 * 10);
  b.run(60);
  REQUIRE(b.pkts.size() == 2);
  CHECK_FALSE(b.pkts[1].ackreq);
  b.last = true;
  b.grant_credit(1, 1);
  b.run(30);
  REQUIRE(b.pkts.size() == 3);
  CHECK(b.pkts[2].ackreq);
  b.post(1, 256 * 2);  // without congestion control nobody answers
  b.run(30);
  REQUIRE(b.pkts.size() == 5);
  CHECK_FALSE(b.pkts[3].ackreq);
}

TEST_CASE("tx_segment: a refused QP sends nothing until its destination wakes it, and holds up no other",
          "[pipeline][tx_segment][cc][waiting]") {
  Bench b;
  b.control(0, 2);
  b.control(1, 3);
  b.grant_credit(3, 1000);
  b.post(0, 256 * 20);
  b.run(40);
  CHECK(b.pkts.empty());
  REQUIRE(b.asks.size() == 1);  // once: it waits
  CHECK_FALSE(b.oks[0]);
  b.post(1, 256 * 20);
  b.post(2, 256 * 20);  // without congestion control
  b.run(200);
  CHECK(b.sent_by(0) == 0);
  CHECK(b.sent_by(1) == 20);
  CHECK(b.sent_by(2) == 20);
  b.grant_credit(2, 3);
  b.run(60);
  CHECK(b.sent_by(0) == 3);
  b.run(200);
  CHECK(b.sent_by(0) == 3);
  b.grant_credit(2, 100);
  b.run(200);
  CHECK(b.sent_by(0) == 20);
  CHECK(std::count(b.oks.begin(), b.oks.end(), false) == 2);
  for (unsigned i = 0, n = 0; i < b.pkts.size(); ++i) {
    if (b.pkts[i].qp == 0) CHECK(b.pkts[i].psn == psn_add(0xfffffe, n++));  // no PSN is left out
  }
}

TEST_CASE("tx_segment: four QPs of one destination share its window packet by packet",
          "[pipeline][tx_segment][cc][waiting]") {
  Bench b;
  for (uint16_t q = 0; q < 4; ++q) b.control(q, 1);
  for (uint16_t q = 0; q < 4; ++q) b.post(q, 256 * 100);
  b.run(60);
  for (unsigned i = 0; i < 100; ++i) {
    b.grant_credit(1, 1 + i % 3);
    b.run(60);
  }
  CHECK(b.pkts.size() == 34 + 2 * 33 + 3 * 33);
  for (uint16_t q = 0; q < 4; ++q) CHECK((b.sent_by(q) == 49 || b.sent_by(q) == 50));
}

TEST_CASE("tx_segment: who has nothing more to send passes its turn on", "[pipeline][tx_segment][cc][waiting]") {
  Bench b;
  b.control(0, 1);
  b.control(1, 1);
  b.post(0, 256);
  b.post(1, 256 * 2);
  b.run(60);
  CHECK(b.pkts.empty());
  // Both wait, one wake: the QP that is woken lets the other ask.
  b.grant_credit(1, 3);
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
    b.grant_credit(1, 5);
    b.run(80);
    CHECK(b.sent_by(0) == 0);
    CHECK(b.sent_by(1) == (cc ? 2 : 1));
  }
}

TEST_CASE("tx_segment: retransmissions keep the size they were ordered with and ask nobody",
          "[pipeline][tx_segment][cc]") {
  Bench b;
  b.control(1, 0);
  b.grant_credit(0, 100);
  b.post(1, 1000, 1);
  b.run(60);
  b.pkts.clear();
  b.asks.clear();
  b.csr.payload_bytes = true;
  b.retx.load({.qp = 1, .psn = 0xffffff, .msn = 0xffff, .idx = 1, .avoid_ev = 9, .size = 340});
  b.run(10);
  REQUIRE(b.pkts.size() == 1);
  CHECK(b.pkts[0].size == 340);
  CHECK(b.pkts[0].plen == 256);
  CHECK_FALSE(b.pkts[0].voided);
  CHECK(b.asks.empty());
}

TEST_CASE("tx_segment: a retransmission that is not needed any more goes on voided, or not at all without control",
          "[pipeline][tx_segment][cc]") {
  const Retx order{.qp = 1, .psn = 0xffffff, .msn = 0xffff, .idx = 1, .avoid_ev = 9, .size = 340};
  for (const bool cc : {true, false}) {
    for (const unsigned why : {0u, 1u, 2u}) {
      CAPTURE(cc, why);
      Bench b;
      if (cc) b.control(1, 0);
      b.grant_credit(0, 100);
      b.post(1, 1000, 1, true);
      b.run(80);
      REQUIRE(b.pkts.size() == 4);
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

TEST_CASE("tx_segment: one WRITE with immediate more than max_wimm ends the QP", "[pipeline][tx_segment][wimm]") {
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
  CHECK(b.qperrs.empty());
  b.update({.qp = 1, .una = 0, .ack = true, .msn = 1, .syndrome = 0x1f});  // 21: gives nothing back
  REQUIRE(b.cqes.size() == 2);
  b.post(1, 0, 24, true);  // a wrong length comes first
  b.run(10);
  REQUIRE(b.cqes.size() == 3);
  b.expect(2, 1, CqStatus::LocLength, 24, 0, 0);
  b.pkts.clear();
  b.post(1, 100, 25, true);
  b.run(30);
  REQUIRE(b.cqes.size() == 6);
  b.expect(3, 1, CqStatus::WimmOverrun, 25, 0, 0);
  b.expect(4, 1, CqStatus::Flushed, 22, 100, 1);
  b.expect(5, 1, CqStatus::Flushed, 23, 100, 2);
  REQUIRE(b.qperrs.size() == 1);
  CHECK(b.qperrs[0] == Qperr{.qp = 1, .status = CqStatus::WimmOverrun});
  b.post(1, 100, 26, true);
  b.set_state(1, QpState::Error);  // as csr answers
  b.run(20);
  REQUIRE(b.cqes.size() == 7);
  b.expect(6, 1, CqStatus::Flushed, 26, 0, 0);
  CHECK(b.qperrs.size() == 1);
  CHECK(b.pkts.empty());
  b.configure(1, r);  // all of them again
  b.post(1, 100, 30, true);
  b.post(1, 100, 31, true);
  b.run(30);
  CHECK(b.pkts.size() == 2);
  CHECK(b.qperrs.size() == 1);
}

TEST_CASE("tx_segment: an immediate too many with an empty ring flushes nothing", "[pipeline][tx_segment][wimm]") {
  Bench b;
  csr::TblQpCtx r = Bench::row(1);
  r.max_wimm = 0;
  b.configure(1, r);
  b.post(1, 100, 20, true);
  b.run(20);
  REQUIRE(b.cqes.size() == 1);
  b.expect(0, 1, CqStatus::WimmOverrun, 20, 0, 0);
  CHECK(b.qperrs.size() == 1);
  b.update({.qp = 0, .una = 0xfffffe, .ack = false, .msn = 0, .syndrome = 0});  // the block goes on
  b.post(0, 100, 21);
  b.run(10);
  CHECK(b.pkts.size() == 1);
}

TEST_CASE("tx_segment takes no work while csr has not taken an error", "[pipeline][tx_segment][wimm]") {
  Bench b;
  b.take_qperr = false;
  for (uint16_t q = 0; q < 4; ++q) {
    csr::TblQpCtx r = Bench::row(q);
    r.max_wimm = 0;
    b.configure(q, r);
  }
  for (uint16_t q = 0; q < 3; ++q) b.post(q, 100, q, true);  // FIFO of two, and the register
  b.run(20);
  CHECK(b.cqes.size() == 3);
  b.post(3, 100, 3);
  b.run(20);
  CHECK(b.pkts.empty());
  b.take_qperr = true;
  b.run(20);
  CHECK(b.pkts.size() == 1);
  CHECK(b.qperrs.size() == 3);
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
  b.retx.load({.qp = 0, .psn = psn_add(0xfffffe, 393), .msn = 0xffff, .idx = 393, .avoid_ev = 0});
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

TEST_CASE("tx_segment: QP_CTX waits until its QP has left tx_sched; the QP stops at once, the others go on",
          "[pipeline][tx_segment][cc][cfg]") {
  Bench b;
  b.control(0, 2);
  b.control(3, 2);
  b.post(0, 256 * 5, 20);
  b.run(40);
  REQUIRE(b.asks.size() == 1);  // refused: it waits for its destination
  csr::TblQpCtx r = Bench::row(0, 500, 7);
  r.cc = true;
  r.dest = 2;
  b.request(0, r);
  b.run(100);
  CHECK_FALSE(b.segment.cfg_ack());
  b.post(0, 100, 21);
  b.post(1, 100, 22);
  b.run(30);
  CHECK(b.sent_by(1) == 1);
  REQUIRE(b.cqes.size() == 1);
  b.expect(0, 0, CqStatus::LocState, 21, 0, 0);
  CHECK_FALSE(b.segment.cfg_ack());
  b.post(3, 256, 23);  // it stands behind QP 0, which is granted its turn and gives it up
  b.run(60);
  CHECK(b.acked());
  CHECK(b.asks.size() == 2);
  CHECK(b.asks[1].cc == 2);
  b.finish_cfg();
  b.grant_credit(2, 10);
  b.run(60);
  CHECK(b.sent_by(0) == 0);
  CHECK(b.sent_by(3) == 1);
  b.post(0, 100, 24);
  b.run(40);
  REQUIRE(b.sent_by(0) == 1);
  CHECK(b.pkts.back().psn == 500);
  CHECK(b.pkts.back().msn == 7);
  CHECK(b.cqes.size() == 1);  // what it had is forgotten
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
  for (uint32_t i = 0; i < 4; ++i) b.post(1, 100, 20 + i);
  b.run(30);
  b.set_state(1, QpState::Rtr);
  b.post(1, 100, 30);
  b.post(0, 100, 31);
  b.run(20);
  REQUIRE(b.cqes.size() == 1);
  b.expect(0, 1, CqStatus::LocState, 30, 0, 0);
  CHECK(b.sent_by(0) == 1);
}

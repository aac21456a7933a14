// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx_segment.hpp"

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

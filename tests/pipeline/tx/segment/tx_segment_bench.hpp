// SPDX-License-Identifier: Apache-2.0
/// The bench of tx_segment.
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "gen/csr.hpp"
#include "pipeline/tx/segment/tx_segment.hpp"
#include "pipeline/tx/tx_sched.hpp"
#include "protocol/psn.hpp"
#include "tests/pipeline/block_bench.hpp"

namespace mrc::test::tx_segment {

/// tiny with more room than most tests need: they are about one limit at a time. 4 QPs.
inline Preset roomy() {
  Preset p = *find_preset("tiny");
  p.max_mpr = 1024;
  p.num_blocks = 4096;
  p.num_wqes = 64;
  return p;
}
/// For as many QPs and work requests as it takes to keep the block busy.
inline Preset busy() {
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
  Stream<Ccresume> resume;
  Stream<Pkt> pkt;
  Stream<Sched> push;
  Stream<Grant> park;
  Stream<Ccreq> req;
  Stream<Ccret> ret;
  Fifo<Cqe> cqe{2};
  Stream<Qperr> qperr;
  TxSched sched{preset, push, park, resume, grant};
  TxSegment segment{preset, {wqe, grant, retx, upd, ans}, {pkt, push, park, req, ret, cqe, qperr}};
  CfgBus cfg;
  CsrOut csr;
  bool take_pkt = true, take_cqe = true, take_req = true, take_ret = true, take_qperr = true;
  unsigned freed = 0;  ///< blocks that will be told free, one per cycle
  unsigned cycles = 0;
  std::deque<Wqe> queue;  ///< work requests that go in as the FIFO takes them
  std::vector<Pkt> pkts;
  std::vector<unsigned> at;
  std::vector<Cqe> cqes;
  std::vector<Qperr> qperrs;
  // The controllers of 4 destinations: so many more bytes may go. One that refused wakes when its packet may.
  uint32_t credit[4] = {};
  uint32_t wants[4] = {};
  bool last = false;  ///< in the answers
  std::vector<Ccreq> requests;
  std::vector<uint16_t> granted;
  std::vector<Ccret> rets;

  explicit Bench(unsigned qps = 4, uint32_t psn = 0xfffffe, uint16_t msn = 0xffff, const Preset& p = roomy())
      : preset(p) {
    for (unsigned q = 0; q < qps; ++q) configure(q, row(q, psn, msn));
  }
  explicit Bench(const Preset& p, uint32_t psn = 0x100) : Bench(p.num_qps, psn, 0, p) {}
  static csr::TblQpCtx row(unsigned q, uint32_t psn = 0xfffffe, uint16_t msn = 0xffff) {
    csr::TblQpCtx r;
    r.state = QpState::Rts;
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
    cfg.index = static_cast<QpIndex>(q);
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
      resume.load({.cc = dest});
      wants[dest] = 0;
    }
    cycle();
  }
  /// For so many full packets of 256 bytes.
  void grant_packets(uint8_t dest, unsigned n) { grant_bytes(dest, 340 * n); }
  /// As cc_nscc: what comes back goes first, then one request per cycle.
  void control_cycle() {
    if (ret.has() && take_ret) {
      rets.push_back(ret.head());
      credit[ret.head().cc] += ret.head().bytes;
      ret.pop();
    } else if (req.has() && ans.free() && take_req) {
      const Ccreq a = req.head();
      req.pop();
      const auto bytes = static_cast<uint16_t>(a.min <= credit[a.cc] ? std::min<uint32_t>(a.bytes, credit[a.cc]) : 0);
      credit[a.cc] -= bytes;
      wants[a.cc] = bytes == 0 ? a.min : 0;
      ans.load({.cc = a.cc, .bytes = bytes, .last = last && bytes != 0});
      requests.push_back(a);
      granted.push_back(bytes);
    }
  }
  unsigned sent_by(QpIndex qp) const {
    unsigned n = 0;
    for (const Pkt& p : pkts) n += p.qp == qp;
    return n;
  }
  void cycle() {
    if (!queue.empty() && wqe.ready()) {
      wqe.push(queue.front());
      queue.pop_front();
    }
    if (take(pkt, pkts, take_pkt)) at.push_back(cycles);
    if (cqe.valid() && take_cqe) {
      cqes.push_back(cqe.head());
      cqe.pop();
    }
    take(qperr, qperrs, take_qperr);
    control_cycle();
    sched.step(cfg);
    segment.step(cfg, csr, freed != 0);
    if (freed != 0) --freed;
    clock_all(sched, segment, wqe, grant, retx, upd, ans, resume, pkt, push, park, req, ret, cqe, qperr);
    ++cycles;
  }
  void run(unsigned n) {
    for (unsigned i = 0; i < n; ++i) cycle();
  }
  static Wqe work(QpIndex qp, uint32_t length, uint32_t wr_id = 0, bool imm = false) {
    return {.qp = qp,
            .imm_valid = imm,
            .wr_id = wr_id,
            .laddr = 0x1000,
            .raddr = 0x2000,
            .rkey = 7,
            .length = length,
            .imm = 0x55};
  }
  void post(QpIndex qp, uint32_t length, uint32_t wr_id = 0, bool imm = false) {
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
  void expect(std::size_t i, QpIndex qp, CqStatus status, uint32_t wr_id, uint32_t length, uint16_t msn) {
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

}  // namespace mrc::test::tx_segment

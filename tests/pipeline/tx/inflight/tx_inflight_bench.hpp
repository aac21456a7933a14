// SPDX-License-Identifier: Apache-2.0
/// tx_inflight alone on a bench, for the tests of its parts.
#pragma once

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <vector>

#include "gen/csr.hpp"
#include "pipeline/tx/inflight/tx_inflight.hpp"
#include "protocol/psn.hpp"

namespace mrc::inflight_test {

/// The preset tiny, but with so many QPs.
inline Preset tiny_with(unsigned num_qps) {
  Preset p = *find_preset("tiny");
  p.num_blocks += num_qps - p.num_qps;
  p.num_qps = num_qps;
  return p;
}

/// tx_inflight alone, its outputs taken at once. tiny: 4 QPs, 128 PSNs, a tick of 128 cycles.
struct Bench {
  Preset preset;
  Stream<Rec> rec;
  Stream<Ctl> ctl;
  Stream<Ccans> rans;
  Stream<Retx> retx_out;
  Stream<Upd> upd_out;
  Stream<Fb> fb_out;
  Stream<Pres> pres_out;
  Stream<Ccev> ccev_out;
  Stream<Ccreq> rtxreq_out;
  Stream<Okev> okev_out;
  Stream<Qperr> qperr_out;
  Stream<Stateq> stateq_out;
  TxInflight inflight{preset,
                      {rec, ctl, rans},
                      {retx_out, upd_out, fb_out, pres_out, ccev_out, rtxreq_out, okev_out, qperr_out, stateq_out}};
  CfgBus cfg;
  CsrOut csr;
  csr::TblQpCtx ctx;  ///< of all QPs; a test may change it and configure()
  bool take_retx = true, take_upd = true, take_pres = true, take_ccev = true, take_okev = true, take_qperr = true,
       take_stateq = true;
  unsigned refuse = 0;   ///< bit d: rtxreqs to destination d are refused
  bool answer = true;    ///< rtxreqs are answered
  unsigned port_up = 3;  ///< bit per plane
  unsigned sends = 0;    ///< bit per QP: as tx_segment says
  unsigned tick0 = 0;    ///< tick of cycle 0
  unsigned tick_cycles = 128;
  unsigned cycles = 0, rtx_inc = 0, rto_inc = 0, fail_inc = 0, state_inc = 0, freed = 0;
  std::vector<unsigned> rto_at, fail_at;  // ticks of the timer's expiries and of failures
  std::vector<Retx> retx;
  std::vector<Upd> upd;
  std::vector<Fb> fb;
  std::vector<Pres> pres;
  std::vector<Ccev> ccev;
  std::vector<Ccreq> rtxreq, granted;
  std::vector<unsigned> rtxreq_at;
  std::vector<Okev> okev;
  std::vector<Qperr> qperr;
  std::vector<Stateq> stateq;

  static constexpr uint32_t kPsn = 0xffffe0;  // window over the wrap
  static constexpr uint16_t kSize = 340;      // 256 bytes of payload

  /// cc: QP q has the controller of destination 3 - q.
  explicit Bench(bool cc = false, unsigned num_qps = 4) : preset(tiny_with(num_qps)) {
    csr.reorder = 4;
    csr.same_ev = false;
    csr.loss_shrinks = true;
    ctx.state = QpState::Rts;
    ctx.sq_psn = kPsn;
    ctx.msn = 10;
    ctx.timeout = 24;
    ctx.retry_linear = 7;
    ctx.retry_exp = 25;
    ctx.cc = cc;
    for (uint16_t q = 0; q < 4; ++q) configure(q);
  }
  void request(uint16_t q) {
    csr::TblQpCtx row = ctx;
    row.dest = static_cast<uint8_t>(3 - q);
    row.pack(cfg.data.data());
    cfg.table = static_cast<uint8_t>(CfgTable::QpCtx);
    cfg.index = q;
    cfg.req = true;
  }
  void finish_cfg() {
    for (unsigned i = 0; i < 1000 && !inflight.cfg_ack(); ++i) cycle();
    REQUIRE(inflight.cfg_ack());
    cfg.req = false;
    cycle();
  }
  void configure(uint16_t q) {
    request(q);
    finish_cfg();
  }
  void set_state(uint16_t q, QpState state) {
    cfg.table = static_cast<uint8_t>(CfgTable::QpState);
    cfg.index = q;
    cfg.data[0] = static_cast<uint32_t>(state);
    cfg.req = true;
    finish_cfg();
  }
  void retries(uint8_t linear, uint8_t exponential, uint8_t timeout = 0) {
    ctx.timeout = timeout;
    ctx.retry_linear = linear;
    ctx.retry_exp = exponential;
    for (uint16_t q = 0; q < 4; ++q) configure(q);
  }
  unsigned tick() const { return tick0 + cycles / tick_cycles; }
  void run_to_tick(unsigned t) {
    while (static_cast<int>(t - tick()) > 0) cycle();
  }
  template <class T>
  static void collect(Stream<T>& from, std::vector<T>& to, bool take = true) {
    if (!from.has() || !take) return;
    to.push_back(from.head());
    from.pop();
  }
  void cycle() {
    collect(retx_out, retx, take_retx);
    collect(upd_out, upd, take_upd);
    collect(fb_out, fb);
    collect(pres_out, pres, take_pres);
    collect(ccev_out, ccev, take_ccev);
    collect(okev_out, okev, take_okev);
    collect(qperr_out, qperr, take_qperr);
    collect(stateq_out, stateq, take_stateq);
    if (rtxreq_out.has() && answer) {
      rtxreq_at.push_back(cycles);
      const Ccreq& query = rtxreq_out.head();
      const bool ok = (refuse >> query.cc & 1) == 0;
      if (ok) granted.push_back(query);
      rans.load({.cc = query.cc, .bytes = ok ? query.bytes : uint16_t{0}, .last = false});
      collect(rtxreq_out, rtxreq);
    }
    csr.tick = tick();
    inflight.step(cfg, csr, port_up, (sends >> inflight.visit_qp() & 1) != 0);
    inflight.clock();
    rec.clock();
    ctl.clock();
    rans.clock();
    retx_out.clock();
    upd_out.clock();
    fb_out.clock();
    pres_out.clock();
    ccev_out.clock();
    rtxreq_out.clock();
    okev_out.clock();
    qperr_out.clock();
    stateq_out.clock();
    const TxInflight::Pulses& p = inflight.pulses();
    rtx_inc += p.rtx;
    rto_inc += p.rto;
    fail_inc += p.fail;
    state_inc += p.state;
    freed += p.freed;
    if (p.rto) rto_at.push_back(tick());
    if (p.fail) fail_at.push_back(tick());
    ++cycles;
  }
  void run(unsigned n) {
    for (unsigned i = 0; i < n; ++i) cycle();
  }
  /// Packet i of the QP: message 10 + i / 10 of ten packets, on EV i modulo 16.
  static Rec packet(QpIndex qp, unsigned i) {
    return {.qp = qp,
            .psn = psn_add(kPsn, i),
            .msn = static_cast<uint16_t>(10 + i / 10),
            .row = static_cast<uint16_t>(2 * qp + i / 10),
            .idx = i % 10,
            .ev_idx = static_cast<uint16_t>(i % 16),
            .rtx = false,
            .last = i % 10 == 9,
            .size = kSize,
            .voided = false};
  }
  void give(const Rec& r) {
    while (!rec.free()) cycle();
    rec.load(r);
    cycle();
  }
  void sent(QpIndex qp, unsigned i) { give(packet(qp, i)); }
  void sent_all(QpIndex qp, unsigned n) {
    for (unsigned i = 0; i < n; ++i) sent(qp, i);
    run(8);
  }
  /// The order of retransmission number n has been carried out, on EV `ev`.
  void resent(std::size_t n, uint16_t ev, bool voided = false) {
    REQUIRE(n < retx.size());
    const Retx& o = retx[n];
    give({.qp = o.qp,
          .psn = o.psn,
          .msn = o.msn,
          .row = o.row,
          .idx = o.idx,
          .ev_idx = ev,
          .rtx = true,
          .last = false,
          .size = o.size,
          .voided = voided});
    run(8);
  }
  /// To a tick's beginning, so that what comes next falls into one tick.
  void align() {
    while (cycles % 128 != 4) cycle();
  }
  /// SACK: everything before `cack` (packet numbers from kPsn) and the packets in bits, from `base` on.
  static Ctl sack_of(QpIndex qp, unsigned cack, unsigned psn, unsigned base, uint64_t bits, uint16_t ooo,
                     uint8_t m = 0) {
    Ctl c;
    c.kind = CtlKind::Sack;
    c.qp = qp;
    c.psn = psn_add(kPsn, psn);
    c.cack = psn_add(kPsn, static_cast<int64_t>(cack) - 1);
    c.base = psn_add(kPsn, base);
    c.bitmap = bits;
    c.ooo = ooo;
    c.m = m;
    c.entropy = 0x1234;
    return c;
  }
  void sack(QpIndex qp, unsigned cack, unsigned psn, unsigned base, uint64_t bits, uint16_t ooo, uint8_t m = 0) {
    give(sack_of(qp, cack, psn, base, bits, ooo, m));
  }
  void nack(QpIndex qp, unsigned i, uint8_t reason) {
    Ctl n;
    n.kind = CtlKind::Nack;
    n.qp = qp;
    n.psn = psn_add(kPsn, i);
    n.reason = reason;
    give(n);
  }
  void give(const Ctl& c) {
    ctl.load(c);
    run(40);
  }
};

/// What the order of retransmission of a packet must say.
inline Retx order_of(const Rec& r) {
  return {.qp = r.qp, .psn = r.psn, .msn = r.msn, .row = r.row, .idx = r.idx, .avoid_ev = r.ev_idx, .size = r.size};
}

}  // namespace mrc::inflight_test

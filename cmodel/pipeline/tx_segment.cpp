// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx_segment.hpp"

#include "gen/csr.hpp"
#include "protocol/psn.hpp"
#include "protocol/tx_window.hpp"

namespace mrc {

bool TxSegment::Qp::can_send() const { return rts() && !failed && head != tail && psn_dist(psn, una) < 128u * mpr; }

TxSegment::TxSegment(const Preset& preset, Fifo<Wqe>& wqe, Fifo<Grant>& grant, Stream<Retx>& retx, Stream<Upd>& upd,
                     Stream<Pkt>& pkt, Stream<Grant>& push, Stream<Cqe>& cqe)
    : qp_mask_(preset.num_qps - 1),
      wqe_depth_(preset.wqe_depth),
      wqe_(wqe),
      grant_(grant),
      retx_in_(retx),
      upd_(upd),
      pkt_(pkt),
      push_(push),
      cqe_(cqe),
      ring_(std::size_t{preset.num_qps} * preset.wqe_depth),
      qps_(preset.num_qps) {}

void TxSegment::step(const CfgBus& cfg) {
  ack_.begin(cfg);
  switch (state_) {
    case State::Idle:
      idle(cfg);
      break;
    case State::Complete:
      complete();
      break;
    case State::Retx:
      retransmit();
      break;
    case State::New:
      send_new();
      break;
  }
}

/// Contexts and states wait until the completion work left over is done: it belongs to the QP as it was.
bool TxSegment::cfg_due(const CfgBus& cfg) const {
  return ack_.pending(cfg) && !((cfg.is(CfgTable::QpCtx) || cfg.is(CfgTable::QpState)) && done_.busy);
}

void TxSegment::idle(const CfgBus& cfg) {
  if (cfg_due(cfg)) {
    configure(cfg);
  } else if (done_.busy && cqe_.free()) {
    ring_.read(ring_row(done_.qp, qp(done_.qp).una_msn));
    state_ = State::Complete;
  } else if (upd_.has() && !done_.busy && push_.free()) {
    take_upd();
  } else if (wqe_.valid() && push_.free() && cqe_.free() &&
             msn_dist(qp(wqe_.head().qp).tail, qp(wqe_.head().qp).una_msn) < wqe_depth_) {
    take_wqe();
  } else if (retx_in_.has() && pkt_.free()) {
    retx_ = retx_in_.head();
    retx_in_.pop();
    ring_.read(ring_row(retx_.qp, retx_.msn));
    state_ = State::Retx;
  } else if (grant_.valid() && pkt_.free() && push_.free()) {
    new_qp_ = grant_.head().qp;
    grant_.pop();
    ring_.read(ring_row(new_qp_, qp(new_qp_).head));
    state_ = State::New;
  }
}

void TxSegment::configure(const CfgBus& cfg) {
  Qp& q = qp(cfg.index);
  if (cfg.is(CfgTable::QpCtx)) {
    const auto row = csr::TblQpCtx::unpack(cfg.data.data());
    q.state = row.state;
    q.mtu = row.mtu;
    q.mpr = row.mpr;
    q.profile = row.profile;
    q.head = q.tail = q.una_msn = row.msn;
    q.rqmsn = row.rqmsn;
    q.idx = 0;
    q.psn = q.una = row.sq_psn;
    q.active = q.failed = false;
  } else if (cfg.is(CfgTable::QpState)) {
    q.state = cfg.data[0] & 7u;
    if (q.state == static_cast<uint8_t>(QpState::Error)) {
      if (q.una_msn != q.tail) done_ = {.busy = true, .qp = cfg.index, .flush = true};
      q.failed = true;
    }
  }
  ack_.done();
}

void TxSegment::activate(Qp& q, uint16_t index) {
  if (q.active || !q.can_send()) return;
  push_.load({.qp = index});
  q.active = true;
}

void TxSegment::take_upd() {
  const Upd& u = upd_.head();
  Qp& q = qp(u.qp);
  if (!psn_before(u.una, q.una)) q.una = u.una;
  const bool good = syndrome_ack(u.syndrome) && msn_before(q.una_msn, u.msn);
  const bool local = syndrome_local(u.syndrome);
  const bool end = (syndrome_nak(u.syndrome) || local) && !q.failed;
  if (u.ack && (good || end)) {
    done_ = {.busy = true, .qp = u.qp, .msn = local ? q.una_msn : u.msn, .syndrome = u.syndrome, .flush = false};
  }
  activate(q, u.qp);
  upd_.pop();
}

void TxSegment::take_wqe() {
  const Wqe& w = wqe_.head();
  Qp& q = qp(w.qp);
  const bool refused = q.failed || !q.rts();
  if (refused || w.length == 0 || w.length > kMaxMessage) {
    Cqe& c = cqe_.load();
    c = Cqe{};
    c.qp = w.qp;
    c.status = q.failed ? CqStatus::Flushed : refused ? CqStatus::LocState : CqStatus::LocLength;
    c.wr_id = w.wr_id;
  } else {
    ring_.write(ring_row(w.qp, q.tail), {w, q.rqmsn});
    q.tail = msn_add(q.tail, 1);
    if (w.imm_valid) q.rqmsn = msn_add(q.rqmsn, 1);
    activate(q, w.qp);
  }
  wqe_.pop();
}

void TxSegment::complete() {
  state_ = State::Idle;
  Qp& q = qp(done_.qp);
  const uint16_t m = q.una_msn, next = msn_add(m, 1);
  const bool ends = !done_.flush && !syndrome_ack(done_.syndrome);  // the QP ends with message done_.msn
  if (ends && m == q.tail) {                                        // nothing is left to blame
    q.failed = true;
    done_.busy = false;
    return;
  }
  const bool blamed = ends && m == done_.msn;
  const Wqe& w = ring_.rdata().wqe;
  Cqe& c = cqe_.load();
  c = Cqe{};
  c.qp = done_.qp;
  c.status = done_.flush ? CqStatus::Flushed : blamed ? static_cast<CqStatus>(done_.syndrome) : CqStatus::Ok;
  c.wr_id = w.wr_id;
  c.length = w.length;
  c.msn = m;
  q.una_msn = next;
  if (blamed) {
    q.failed = true;
    done_.flush = true;
  }
  if (done_.flush) {
    done_.busy = next != q.tail;
  } else if (!ends) {
    done_.busy = next != done_.msn;
  }
}

void TxSegment::retransmit() {
  state_ = State::Idle;
  const Qp& q = qp(retx_.qp);
  if (q.failed || !q.rts() || msn_before(retx_.msn, q.una_msn)) return;
  Pkt& p = pkt_.load();
  segment(ring_.rdata(), retx_.idx, q.mtu, p);
  p.qp = retx_.qp;
  p.psn = retx_.psn;
  p.msn = retx_.msn;
  p.rtx = true;
  p.ackreq = false;
  p.profile = q.profile;
  p.avoid_ev = retx_.avoid_ev;
}

void TxSegment::send_new() {
  state_ = State::Idle;
  Qp& q = qp(new_qp_);
  if (!q.can_send()) {
    q.active = false;
    return;
  }
  Pkt& p = pkt_.load();
  segment(ring_.rdata(), q.idx, q.mtu, p);
  p.qp = new_qp_;
  p.psn = q.psn;
  p.msn = q.head;
  p.rtx = false;
  p.profile = q.profile;
  p.avoid_ev = 0;
  q.psn = psn_add(q.psn, 1);
  if (p.last) {
    q.head = msn_add(q.head, 1);
    q.idx = 0;
  } else {
    q.idx = (q.idx + 1) & 0xff'ffffu;
  }
  q.active = false;
  activate(q, new_qp_);
  p.ackreq = !q.active;
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx_segment.hpp"

#include <algorithm>

#include "gen/csr.hpp"
#include "protocol/psn.hpp"
#include "protocol/tx_window.hpp"

namespace mrc {

bool TxSegment::Qp::can_send() const { return rts() && !failed && head != tail && psn_dist(psn, una) < 128u * mpr; }

TxSegment::TxSegment(const Preset& preset, const In& in, const Out& out)
    : qp_mask_(preset.num_qps - 1),
      wqe_depth_(preset.wqe_depth),
      in_(in),
      out_(out),
      ring_(std::size_t{preset.num_qps} * preset.wqe_depth),
      qps_(preset.num_qps) {}

void TxSegment::step(const CfgBus& cfg, const CsrOut& csr) {
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
      send_new(csr);
      break;
    case State::Wait:
      wait(csr);
      break;
  }
}

/// Contexts and states wait until the completion work left over is done and the news on their way have been heard: they
/// belong to the QP as it was. A context waits, besides, until its QP has left tx_sched.
bool TxSegment::cfg_due(const CfgBus& cfg) const {
  if (!ack_.pending(cfg)) return false;
  if (!cfg.is(CfgTable::QpCtx) && !cfg.is(CfgTable::QpState)) return true;
  return !done_.busy && !in_.upd.has();
}

/// A QP that takes no work needs no room for it.
bool TxSegment::wqe_due() const {
  if (!in_.wqe.valid() || !out_.push.free() || !out_.cqe.free() || !out_.qperr.free() || done_.busy) return false;
  const Qp& q = qp(in_.wqe.head().qp);
  return q.failed || !q.rts() || msn_dist(q.tail, q.una_msn) < wqe_depth_;
}

void TxSegment::idle(const CfgBus& cfg) {
  bool stop = false;  // the QP that is set up again
  if (cfg_due(cfg)) {
    stop = cfg.is(CfgTable::QpCtx) && qp(cfg.index).active;
    if (!stop) {
      configure(cfg);
      return;
    }
  }
  choose();
  // It stops sending, so that it leaves tx_sched by itself; this cycle's operation still saw the old state.
  if (stop) qp(cfg.index).state = static_cast<uint8_t>(QpState::Reset);
}

/// The first operation that applies, configuration apart.
void TxSegment::choose() {
  if (done_.busy && out_.cqe.free()) {
    ring_.read(ring_row(done_.qp, qp(done_.qp).una_msn));
    state_ = State::Complete;
  } else if (in_.upd.has() && !done_.busy && out_.push.free()) {
    take_upd();
  } else if (wqe_due()) {
    take_wqe();
  } else if (in_.retx.has() && out_.pkt.free()) {
    retx_ = in_.retx.head();
    in_.retx.pop();
    ring_.read(ring_row(retx_.qp, retx_.msn));
    state_ = State::Retx;
  } else if (in_.grant.valid() && out_.pkt.free() && out_.push.free() && out_.ask.free() && out_.park.free()) {
    new_qp_ = in_.grant.head().qp;
    in_.grant.pop();
    ring_.read(ring_row(new_qp_, qp(new_qp_).head));
    state_ = State::New;
  }
}

void TxSegment::configure(const CfgBus& cfg) {
  Qp& q = qp(cfg.index);
  if (cfg.is(CfgTable::QpCtx)) {
    const auto row = csr::TblQpCtx::unpack(cfg.data.data());
    q = Qp{};
    q.state = row.state;
    q.mtu = row.mtu;
    q.mpr = q.mpr_max = row.mpr;
    q.profile = row.profile;
    q.max_wimm = row.max_wimm;
    q.ts = row.ts;
    q.cc = row.cc;
    q.dest = row.dest;
    q.head = q.tail = q.una_msn = row.msn;
    q.rqmsn = row.rqmsn;
    q.psn = q.una = row.sq_psn;
  } else if (cfg.is(CfgTable::QpState)) {
    q.state = cfg.data[0] & 7u;
    if (q.state == static_cast<uint8_t>(QpState::Error)) fail(q, cfg.index);
  }
  ack_.done();
}

/// Ends a QP on this side: what is left in its ring is flushed.
void TxSegment::fail(Qp& q, uint16_t index) {
  q.failed = true;
  if (q.una_msn != q.tail) done_ = {.busy = true, .qp = index, .flush = true};
}

void TxSegment::activate(Qp& q, uint16_t index) {
  if (q.active || !q.can_send()) return;
  out_.push.load({.qp = index, .more = true});
  q.active = true;
}

void TxSegment::take_upd() {
  const Upd& u = in_.upd.head();
  Qp& q = qp(u.qp);
  if (!psn_before(u.una, q.una)) q.una = u.una;
  if (u.mpr != 0) q.mpr = std::min(u.mpr, q.mpr_max);
  const bool good = syndrome_ack(u.syndrome) && msn_before(q.una_msn, u.msn);
  const bool local = syndrome_local(u.syndrome);
  const bool end = (syndrome_nak(u.syndrome) || local) && !q.failed;
  if (u.ack && (good || end)) {
    done_ = {.busy = true, .qp = u.qp, .msn = local ? q.una_msn : u.msn, .syndrome = u.syndrome, .flush = false};
  }
  activate(q, u.qp);
  in_.upd.pop();
}

/// What is wrong with a work request; Ok: nothing.
CqStatus TxSegment::refusal(const Qp& q, const Wqe& w) {
  if (q.failed) return CqStatus::Flushed;
  if (!q.rts()) return CqStatus::LocState;
  if (w.length == 0 || w.length > kMaxMessage) return CqStatus::LocLength;
  if (w.imm_valid && q.wimm == q.max_wimm) return CqStatus::WimmOverrun;
  return CqStatus::Ok;
}

void TxSegment::take_wqe() {
  const Wqe& w = in_.wqe.head();
  Qp& q = qp(w.qp);
  const CqStatus status = refusal(q, w);
  if (status == CqStatus::Ok) {
    ring_.write(ring_row(w.qp, q.tail), {w, q.rqmsn});
    q.tail = msn_add(q.tail, 1);
    if (w.imm_valid) {
      q.rqmsn = msn_add(q.rqmsn, 1);
      ++q.wimm;
    }
    activate(q, w.qp);
  } else {
    Cqe& c = out_.cqe.load();
    c = Cqe{};
    c.qp = w.qp;
    c.status = status;
    c.wr_id = w.wr_id;
    if (status == CqStatus::WimmOverrun) {  // an error of the QP
      out_.qperr.load({.qp = w.qp, .status = status});
      fail(q, w.qp);
    }
  }
  in_.wqe.pop();
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
  Cqe& c = out_.cqe.load();
  c = Cqe{};
  c.qp = done_.qp;
  c.status = done_.flush ? CqStatus::Flushed : blamed ? static_cast<CqStatus>(done_.syndrome) : CqStatus::Ok;
  c.wr_id = w.wr_id;
  c.length = w.length;
  c.msn = m;
  q.una_msn = next;
  if (w.imm_valid) --q.wimm;
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
  const bool needed = q.rts() && !q.failed && !msn_before(retx_.msn, q.una_msn);
  if (!needed && !q.cc) return;
  Pkt& p = out_.pkt.load();
  if (needed) {
    segment(ring_.rdata(), retx_.idx, q.mtu, p);
    p.ackreq = false;
    p.profile = q.profile;
    p.avoid_ev = retx_.avoid_ev;
  } else {  // tx_inflight has counted it as sent
    p = Pkt{};
    p.idx = retx_.idx;
  }
  p.voided = !needed;
  p.qp = retx_.qp;
  p.psn = retx_.psn;
  p.msn = retx_.msn;
  p.rtx = true;
  p.size = retx_.size;
}

/// Packet head, idx of a QP as its row in the ring makes it, with its nominal size.
void TxSegment::next_packet(const Qp& q, const CsrOut& csr, Pkt& p) const {
  segment(ring_.rdata(), q.idx, q.mtu, p);
  p.size = nominal_size(p.plen, p.opcode, q.ts, csr.payload_bytes);
}

void TxSegment::send_new(const CsrOut& csr) {
  state_ = State::Idle;
  Qp& q = qp(new_qp_);
  if (!q.can_send()) {
    q.active = false;
    out_.push.load({.qp = new_qp_, .more = false});
  } else if (q.cc) {
    Pkt p;
    next_packet(q, csr, p);
    out_.ask.load({.cc = q.dest, .bytes = p.size});
    state_ = State::Wait;
  } else {
    send(q, false, csr);
  }
}

void TxSegment::wait(const CsrOut& csr) {
  if (!in_.ans.has()) return;
  const Ccans a = in_.ans.head();
  in_.ans.pop();
  state_ = State::Idle;
  if (a.ok) {
    send(qp(new_qp_), a.last, csr);
  } else {
    out_.park.load({.qp = new_qp_});
  }
}

/// last: the window has no room for another full packet.
void TxSegment::send(Qp& q, bool last, const CsrOut& csr) {
  Pkt& p = out_.pkt.load();
  next_packet(q, csr, p);
  p.voided = false;
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
  const bool more = q.can_send();
  q.active = more;
  out_.push.load({.qp = new_qp_, .more = more});
  p.ackreq = !more || last;
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/tx_probe.hpp"

#include <algorithm>

#include "gen/csr.hpp"
#include "pipeline/lib/convert.hpp"
#include "protocol/endpoint.hpp"
#include "protocol/ev_set.hpp"
#include "protocol/probe.hpp"

namespace mrc {

/// The cycle's operation: the first that applies. Answers are taken in turn with bad EVs and visits.
void TxProbe::operate(const CfgBus& cfg, const CsrOut& csr, unsigned port_up) {
  if (ack_.pending(cfg)) {
    configure(cfg);
    return;
  }
  const bool answers = (pres_.has() || pans_.has()) && fb_.free();
  const bool others = bad_.has() || visit_due_;
  if (answers && !(turn_ && others)) {
    if (pres_.has()) {
      answer(csr);
    } else {
      ev_answer(csr);
    }
    turn_ = true;
  } else if (others) {
    if (bad_.has()) {
      take(csr);
    } else {
      visit(csr, port_up);
    }
    turn_ = false;
  }
}

/// A QP that is set up again has no bad EVs; one that does not send has none to bring back.
void TxProbe::configure(const CfgBus& cfg) {
  ack_.done();
  const unsigned qp = cfg.index & qp_mask_;
  switch (static_cast<CfgTable>(cfg.table)) {
    case CfgTable::QpCtx: {
      const auto row = csr::TblQpCtx::unpack(cfg.data.data());
      qps_[qp] = {.dqpn = row.dqpn,
                  .high = qpn_anew(row.state) ? 0 : qps_[qp].high,
                  .timeout = row.timeout,
                  .dest = row.dest,
                  .live = row.state == QpState::Rts};
      release(qp);
      break;
    }
    case CfgTable::QpState:
      qps_[qp].live = csr::TblQpState::unpack(cfg.data.data()).state == QpState::Rts;
      if (!qps_[qp].live) release(qp);
      break;
    case CfgTable::QpQpn:
      qps_[qp].high = csr::TblQpQpn::unpack(cfg.data.data()).high;
      break;
    case CfgTable::PeerPorts:
      peer_[cfg.index & dest_mask_] = csr::TblPeerPorts::unpack(cfg.data.data()).mask;
      break;
    default:
      break;
  }
}

/// Frees the slots of a QP.
void TxProbe::release(unsigned qp) {
  for (Slot& s : slots_) s.busy = s.busy && (s.qp & qp_mask_) != qp;
}

/// The probe or its answer was lost, or the peer does not want the EV.
void TxProbe::failed(Slot& s, const CsrOut& csr) const {
  s.waiting = false;
  if (!csr.probe_keep_count) {
    s.succ = 0;
    s.marked = false;
  }
  s.slow = s.slow || probe_slow(s.fails, csr.probe_cap);
  s.fails = static_cast<uint8_t>(probe_fails(s.fails, csr.probe_cap));
  s.due = tick_ + probe_wait(csr.probe_interval, s.fails);
}

/// The answer to a reliability probe.
void TxProbe::answer(const CsrOut& csr) {
  const Pres a = pres_.head();
  pres_.pop();
  Slot& s = slots_[probe_slot(a.id, slots())];
  const bool ours =
      s.busy && s.waiting && !s.evp && ((s.qp ^ a.qp) & qp_mask_) == 0 && probe_answers(a.id, s.seq, slots());
  if (!ours) return;  // late, or foreign
  if (probe_refused(a.m)) {
    failed(s, csr);
    return;
  }
  s.marked = s.marked || probe_marked(a.m);
  answered(s, csr);
}

/// The answer to an EV probe: it has no mark.
void TxProbe::ev_answer(const CsrOut& csr) {
  const Pans a = pans_.head();
  pans_.pop();
  Slot& s = slots_[probe_slot(a.id, slots())];
  if (s.busy && s.waiting && s.evp && ev_probe_answers(a.id, s.seq, slots())) answered(s, csr);
}

void TxProbe::answered(Slot& s, const CsrOut& csr) {
  s.waiting = false;
  s.succ = (s.succ + 1) & 7;
  s.slow = false;
  s.due = tick_ + csr.probe_interval;
  if (s.succ != csr.probe_successes) return;
  fb_.load({.qp = s.qp, .ev_idx = s.ev_idx, .entropy = 0, .kind = probe_revival(s.marked, csr.probe_skip_good)});
  s.busy = false;
  pulses_next_.revived = true;
}

/// A bad EV that is not probed yet takes the lowest free slot, or else the lowest one of an EV that has failed at the
/// longest interval: that comes again by tx_path's scrub, and EVs that are bad for good do not keep all others out.
void TxProbe::take(const CsrOut& csr) {
  const Badev& b = bad_.head();
  bad_.pop();
  if (!qps_[b.qp & qp_mask_].live) return;
  for (const Slot& slot : slots_) {
    if (slot.busy && slot.ev_idx == b.ev_idx && (slot.qp & qp_mask_) == (b.qp & qp_mask_)) return;
  }
  auto s = std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.busy; });
  if (s == slots_.end()) {
    s = std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.slow && !slot.waiting; });
  }
  if (s == slots_.end()) {
    pulses_next_.full = true;
    return;
  }
  s->busy = s->evp = true;
  s->waiting = s->marked = s->slow = false;
  s->qp = b.qp;
  s->ev_idx = b.ev_idx;
  s->ev = b.ev;
  s->fails = s->succ = 0;
  s->due = tick_ + csr.probe_interval;
}

void TxProbe::visit(const CsrOut& csr, unsigned port_up) {
  visit_due_ = false;
  const unsigned index = visit_;
  visit_ = (visit_ + 1) & (slots() - 1);
  Slot& s = slots_[index];
  if (!s.busy || !tick_reached(tick_, s.due)) return;
  if (s.waiting) {  // no answer
    failed(s, csr);
    s.evp = !s.evp;
    return;
  }
  const unsigned plane = s.ev_idx & (planes_ - 1);
  const Qp& qp = qps_[s.qp & qp_mask_];
  const unsigned usable = ev_plane_ok(port_up, peer_[qp.dest & dest_mask_]);
  if (!probe_.free() || (usable >> plane & 1) == 0) return;
  ++s.seq;
  s.waiting = true;
  s.due = tick_ + (8u << qp.timeout);
  s.evp = probe_with_ev_probe(csr.probe_kind, s.evp);
  Ctlpkt& c = probe_.load();
  c.qp = s.qp;
  const uint16_t id = probe_id(s.seq, index, slots());
  if (s.evp) {
    put(build_endpoint_request(ep_probe_id(EpKind::RevivalProbe, id), wire::ErthOp::EvProbe,
                               ep_mask_of_planes(port_up, csr.ports_from_0), tick_, csr.tsr_us),
        c);
  } else {
    put(build_probe(id, PdcIds::of(qpn_of(s.qp, qp.high, qp_mask_ + 1), qp.dqpn, csr.pdcid_zero), tick_, csr.tsr_us),
        c);
  }
  c.plane = static_cast<uint8_t>(plane);
  c.ev = s.ev;
  pulses_next_.sent = true;
}

}  // namespace mrc

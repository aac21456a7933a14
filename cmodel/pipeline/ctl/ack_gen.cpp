// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ctl/ack_gen.hpp"

#include "gen/csr.hpp"
#include "pipeline/lib/convert.hpp"
#include "protocol/probe.hpp"
#include "protocol/responses.hpp"

namespace mrc {

namespace {

/// The control packet that a response becomes. An endpoint response has its op in `reason`.
ControlPacket answer(const Resp& r, const PdcIds& ids, bool eeth_op_high) {
  switch (r.kind) {
    case CtlKind::Sack:
      return build_sack(sack_of(r), ids);
    case CtlKind::Nack:
      return build_nack(nack_of(r), ids);
    case CtlKind::Ack:
      return build_ack(ack_of(r));
    case CtlKind::Endpoint:
    case CtlKind::Returned:  // nobody answers those
      break;
  }
  return build_endpoint_response(static_cast<uint16_t>(r.psn), r.reason, r.ts, eeth_op_high);
}

}  // namespace

AckGen::AckGen(const Preset& preset, const In& in, Stream<Ctlpkt>& ctlpkt, Stream<Want>& want)
    : planes_(preset.num_planes),
      qp_mask_(preset.num_qps - 1),
      dest_mask_(preset.num_dests - 1),
      in_(in),
      ctlpkt_(ctlpkt),
      want_(want),
      qps_(preset.num_qps),
      acks_(preset.num_qps),
      oq_(preset.num_qps + 1),  // a QP at the head of a full queue may come in anew while it is taken
      peer_(preset.num_dests, 0xff),
      rev_(std::size_t{preset.num_dests} * preset.num_planes) {}

void AckGen::step(const CfgBus& cfg, const CsrOut& csr, unsigned port_up) {
  ack_.begin(cfg);
  if (ack_.pending(cfg)) {
    configure(cfg);
    return;
  }
  // What is sent goes by the registers of this cycle, so it comes first; its mark `wanted` wins over what clears it.
  Want want;
  const bool wanted = send(csr, port_up, want);
  if (in_.ackev.has()) {
    owe(in_.ackev.head());
    in_.ackev.pop();
  }
  if (csr.tick - epoch_ >= csr.ep_interval) {
    epoch_ = csr.tick;
    for (Rev& r : rev_) {
      r.stale = true;
      r.wanted = false;
    }
  }
  if (in_.okev.has() || in_.eokev.has()) {
    Stream<Okev>& from = in_.okev.has() ? in_.okev : in_.eokev;
    const Okev& e = from.head();
    rev(e.dest, e.plane) = {.ev = e.ev, .valid = true, .stale = false, .wanted = false};
    from.pop();
  }
  if (wanted) {
    rev(want.dest, want.plane).wanted = true;
    want_.load(want);
  }
}

void AckGen::configure(const CfgBus& cfg) {
  ack_.done();
  if (cfg.is(CfgTable::QpCtx)) {
    const auto row = csr::TblQpCtx::unpack(cfg.data.data());
    const unsigned index = cfg.index & qp_mask_;
    const uint32_t high = qpn_anew(row.state) ? 0 : qps_[index].high;
    qps_[index] = {.dqpn = row.dqpn, .high = high, .dest = row.dest, .svc_time = row.svc_time};
    // Nothing of an old connection goes out.
    if (row.state != QpState::Rts) acks_[index].due = false;
  } else if (cfg.is(CfgTable::QpQpn)) {
    qps_[cfg.index & qp_mask_].high = csr::TblQpQpn::unpack(cfg.data.data()).high;
  } else if (cfg.is(CfgTable::PeerPorts)) {
    peer_[cfg.index & dest_mask_] = csr::TblPeerPorts::unpack(cfg.data.data()).mask;
  }
}

/// Sends a response or an acknowledgement if there is one and room for it. True when its path is stale and `want` shall
/// be asked for.
bool AckGen::send(const CsrOut& csr, unsigned port_up, Want& want) {
  const bool turn = gap_ == 0;
  if (!turn) --gap_;
  if (!ctlpkt_.free()) return false;
  for (Stream<Resp>* from : {&in_.eresp, &in_.resp}) {
    if (!from->has() || again_) continue;
    const Resp r = from->head();
    from->pop();
    return respond(csr, port_up, r, want);
  }
  if (in_.stateq.has()) {
    query_state(csr, port_up, in_.stateq.head().qp);
    again_ = !again_ && !csr.silence_wait;
    if (!again_) in_.stateq.pop();
    return false;
  }
  if (!oq_.valid() || !turn) return false;
  const QpIndex index = oq_.head();
  oq_.pop();
  Owed& o = acks_[index];
  o.owed = false;
  if (!o.due) return false;
  o.due = false;
  gap_ = csr.ack_gap;
  Resp r;
  r.kind = CtlKind::Ack;
  r.qp = index;
  r.plane = o.newest.plane;
  r.psn = o.newest.psn;
  r.msn = o.newest.msn;
  r.pr = o.newest.again;
  r.reason = static_cast<uint8_t>(wire::AethSyndrome::Ack);
  return respond(csr, port_up, r, want);
}

/// A QP has completed messages, or must say so again. It takes its turn unless it waits for it already; after send(): a
/// QP that has just had its turn waits anew.
void AckGen::owe(const Ackev& e) {
  const auto index = static_cast<QpIndex>(e.qp & qp_mask_);
  Owed& o = acks_[index];
  if (!o.owed) oq_.push(index);
  o = {.newest = e, .due = true, .owed = true};
}

/// Plane of a response that asks for this one; `any`: it may take any plane, `in_turn` those in turn.
unsigned AckGen::plane_for(bool in_turn, unsigned port_up, unsigned peer, bool any, unsigned plane) {
  const unsigned wish = any && in_turn ? turn_plane(turn_, plane, port_up, peer) : plane;
  if (any) turn_ = (turn_ + 1) % planes_;
  return response_plane(wish, port_up, peer);
}

/// Plane of a probe of a question; `in_turn`: those that can be used in turn.
unsigned AckGen::plane_to_query(bool in_turn, unsigned port_up, unsigned peer) {
  const StatePlane next =
      in_turn ? state_plane(turn_, planes_, port_up, peer) : StatePlane{.plane = 0, .turn = (turn_ + 1) % planes_};
  turn_ = next.turn;
  return response_plane(next.plane, port_up, peer);
}

uint32_t AckGen::ev_for(const CsrOut& csr, unsigned dest, unsigned plane) {
  const Rev& path = rev(dest, plane);
  return csr.rev_fixed || !path.valid ? csr.rev_ev[plane] : path.ev;
}

bool AckGen::respond(const CsrOut& csr, unsigned port_up, Resp r, Want& want) {
  const Qp& qp = qps_[r.qp & qp_mask_];
  const unsigned plane =
      plane_for(!csr.ack_plane, port_up, peer_[qp.dest & dest_mask_], any_plane(r.kind, r.pr), r.plane);
  r.ts = reflected_time(r.ts, r.tsv, r.at, qp.svc_time, csr.tick, csr.tsr_us);
  Ctlpkt& c = ctlpkt_.load();
  c.qp = r.qp;
  put(answer(r, PdcIds::of(qpn_of(r.qp, qp.high, qp_mask_ + 1), qp.dqpn, csr.pdcid_zero), csr.eeth_op_high), c);
  c.plane = static_cast<uint8_t>(plane);
  c.ev = ev_for(csr, qp.dest, plane);
  want = {.dest = qp.dest, .plane = static_cast<uint8_t>(plane)};
  const Rev& path = rev(qp.dest, plane);
  return wants_fresh_path(r.kind, r.pr) && csr.rev_probe && !csr.rev_fixed && path.stale && !path.wanted &&
         want_.free();
}

/// A reliability probe that belongs to no EV: its answer is a SACK with what has arrived.
void AckGen::query_state(const CsrOut& csr, unsigned port_up, QpIndex index) {
  const Qp& qp = qps_[index & qp_mask_];
  const unsigned plane = plane_to_query(!csr.ack_plane || !csr.silence_wait, port_up, peer_[qp.dest & dest_mask_]);
  Ctlpkt& c = ctlpkt_.load();
  c.qp = index;
  put(build_probe(kStateProbeId, PdcIds::of(qpn_of(index, qp.high, qp_mask_ + 1), qp.dqpn, csr.pdcid_zero), csr.tick,
                  csr.tsr_us),
      c);
  c.plane = static_cast<uint8_t>(plane);
  c.ev = ev_for(csr, qp.dest, plane);
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx_track.hpp"

#include <algorithm>

namespace mrc {

namespace {
constexpr uint8_t kSyndromeAck = 0x1F;
constexpr uint32_t kTrigMax = (1u << 21) - 1;
}  // namespace

RxTrack::RxTrack(const Preset& preset, Stream<Rxpkt>& rxpkt, PlaneDemux<Verdict>& verdict, Stream<Resp>& resp,
                 Stream<Ord>& ord, Stream<Qperr>& qperr)
    : qp_mask_(preset.num_qps - 1),
      rows_(preset.max_mpr / 64),
      rxpkt_(rxpkt),
      verdict_(verdict),
      resp_(resp),
      ord_(ord),
      qperr_(qperr),
      bits_(std::size_t{preset.num_qps} * rows_),
      qps_(preset.num_qps) {}

void RxTrack::step(const CfgBus& cfg, const CsrOut& csr) {
  ack_.begin(cfg);
  pulses_next_ = {};
  switch (state_) {
    case State::Idle:
      idle(cfg, csr);
      break;
    case State::Init:
      init();
      break;
    case State::Track:
      track(csr);
      break;
    case State::Adv:
      advance(rdata_, 0);
      break;
    case State::Post:
      post(csr);
      break;
    case State::Sack0:
      sack0(csr);
      break;
    case State::Sack1:
      low_ = rdata_.rcv;
      rdata_ = bits_[row_of(psn_add(base_, 64))];
      state_ = State::Sack2;
      break;
    case State::Sack2:
      sack2(csr.ack_with_sack);
      break;
    case State::AckAfter:
      ack_after();
      break;
  }
}

void RxTrack::idle(const CfgBus& cfg, const CsrOut& csr) {
  if (ack_.pending(cfg)) {
    configure(cfg);
    return;
  }
  if (!rxpkt_.has() || !verdict_.free() || !resp_.free() || !ord_.free() || !qperr_.free()) return;
  p_ = rxpkt_.head();
  rxpkt_.pop();
  if (p_.drop) {
    issue(false);
  } else if (const Qp& q = qp(); q.failed) {  // the NAK is repeated, so that it cannot be lost for good
    issue(false);
    ack(q.npsn, q.nsyn);
  } else if (p_.err) {  // the peer need not wait for its timer
    issue(false);
    if (!csr.err_silent) nack(kNackUnexpEvent);
  } else if (p_.probe) {  // it asks for all the sender may have missed
    if (q.ackv && !csr.ack_with_sack) ack(q.ackpsn, kSyndromeAck);
    state_ = State::Sack0;
  } else {
    rdata_ = bits_[row_of(p_.psn)];
    state_ = State::Track;
  }
}

void RxTrack::configure(const CfgBus& cfg) {
  const unsigned index = cfg.index & qp_mask_;
  if (cfg.is(CfgTable::QpCtx)) {
    const auto row = csr::TblQpCtx::unpack(cfg.data.data());
    if (row.state != static_cast<uint8_t>(QpState::Rts)) {  // in Rts the responder has been at work since Rtr
      set_up(index, row);
      return;
    }
  } else if (cfg.is(CfgTable::QpMpr)) {
    Qp& q = qps_[index];
    q.mpr = dynamic_mpr(csr::TblQpMpr::unpack(cfg.data.data()).mpr, q.mpr_dest);
  }
  ack_.done();
}

void RxTrack::set_up(unsigned index, const csr::TblQpCtx& row) {
  init_qp_ = index;
  init_row_ = 0;
  Qp& q = qps_[init_qp_];
  q.cack = q.max = psn_add(row.rq_psn, -1);
  q.lowun = row.rq_psn;
  q.rcvd = q.trig = 0;
  q.ar = q.ackv = q.failed = false;
  q.ooo = 0;
  q.emsn = row.msn;
  q.mpr = q.mpr_dest = row.mpr_dest;
  q.trim_nack = row.trim_nack;
  q.dyn = row.dyn_mpr;
  state_ = State::Init;
}

void RxTrack::init() {
  bits_[init_qp_ * rows_ + init_row_] = {};
  if (++init_row_ < rows_) return;
  ack_.done();
  state_ = State::Idle;
}

void RxTrack::track(const CsrOut& csr) {
  Qp& q = qp();
  RxRow row = rdata_;
  const PsnClass cls = psn_class(p_.psn, q.cack, q.mpr, q.mpr_dest, row);
  const bool dup = cls == PsnClass::DupBelow || cls == PsnClass::DupAbove;
  state_ = State::Idle;
  if (p_.trim != Trim::None) {
    no_payload(cls, csr.oor_drop);
    return;
  }
  if (cls == PsnClass::OutOfWindow) {
    issue(false);
    refuse_oor(csr.oor_drop);
    return;
  }
  if (dup) {
    pulses_next_.dup = true;
    issue(false);
    if (cls == PsnClass::DupBelow && q.ackv && !csr.ack_with_sack) ack(q.ackpsn, kSyndromeAck);
    state_ = State::Sack0;
    return;
  }
  const bool next = p_.psn == psn_add(q.cack, 1);
  if (p_.syndrome != 0) {
    issue(false);
    if (next) {  // otherwise as if lost: it comes again, so that a NAK never overtakes an earlier message
      q.failed = true;
      q.nsyn = p_.syndrome;
      q.npsn = p_.psn;
      ack(p_.psn, p_.syndrome);
      qperr_.load({.qp = p_.qp, .status = static_cast<CqStatus>(p_.syndrome)});
    }
    return;
  }
  issue(true);
  q.rcvd += p_.size;
  q.trig = std::min(q.trig + std::max<uint32_t>(p_.plen, 1024), kTrigMax);
  if (psn_before(q.max, p_.psn)) q.max = p_.psn;
  const unsigned bit = p_.psn & 63;
  row.rcv |= uint64_t{1} << bit;
  row.last = (row.last & ~(uint64_t{1} << bit)) | uint64_t{p_.last} << bit;
  ++q.ooo;
  acked_ = adv_ = false;
  if (next) {
    advance(row, bit);
  } else {
    bits_[row_of(p_.psn)] = row;
    state_ = State::Post;
  }
}

/// A packet that was trimmed, or whose payload the lane had no room for.
void RxTrack::no_payload(PsnClass cls, bool oor_drop) {
  const bool trimmed = p_.trim == Trim::Trimmed || p_.trim == Trim::LastHop;
  pulses_next_.trim = trimmed;
  switch (cls) {
    case PsnClass::DupBelow:
    case PsnClass::DupAbove:
      state_ = State::Sack0;
      break;
    case PsnClass::OutOfWindow:
      refuse_oor(oor_drop);
      break;
    case PsnClass::New:
      pulses_next_.nores = !trimmed;
      if (!trimmed || qp().trim_nack) nack(no_payload_reason(p_.trim));
      break;
  }
}

/// A PSN above the window. One that only a shrunken window leaves out is always NACKed: the sender was entitled to it.
void RxTrack::refuse_oor(bool oor_drop) {
  const Qp& q = qp();
  const uint8_t reason = oor_reason(p_.psn, q.cack, q.mpr_dest);
  const bool no_bitmap = reason == kNackNoBitmap;
  pulses_next_.nores = no_bitmap;
  pulses_next_.oor = !no_bitmap;
  if (no_bitmap || !oor_drop) nack(reason);
}

/// Moves cack over the received PSNs of its row, from a bit on.
void RxTrack::advance(RxRow row, unsigned from) {
  Qp& q = qp();
  const uint32_t first = psn_add(q.cack, 1);
  const RowAdvance a = row_advance(row, from);
  if (a.count != 0) {
    bits_[row_of(first)] = row;
    q.cack = psn_add(q.cack, a.count);
    q.ooo = static_cast<uint16_t>(q.ooo - a.count);
    q.emsn = static_cast<uint16_t>(q.emsn + a.messages);
    if (psn_before(q.max, q.cack)) q.max = q.cack;
    adv_ = true;
  }
  if (a.messages != 0) {
    acked_ = true;
    ackpsn_w_ = psn_add(first, a.last_at);
  }
  if (a.to_end && q.ooo != 0) {
    rdata_ = bits_[row_of(psn_add(q.cack, 1))];
    state_ = State::Adv;
  } else {
    state_ = State::Post;
  }
}

void RxTrack::post(const CsrOut& csr) {
  Qp& q = qp();
  if (p_.imm_valid || adv_) {
    Ord& o = ord_.load();
    o = Ord{};
    o.qp = p_.qp;
    o.adv = adv_;
    o.cack = q.cack;
    for (unsigned i = 0; i < kMaxPlanes; ++i) o.snap |= uint64_t{issued_[i]} << (8 * i);
    if (p_.imm_valid) {
      o.imm_valid = true;
      o.rqmsn = p_.rqmsn;
      o.imm = p_.imm;
      o.length = p_.dmalen;
      o.psn = p_.psn;
    }
  }
  if (acked_) {
    if (!csr.ack_with_sack) ack(ackpsn_w_, kSyndromeAck);
    q.ackv = true;
    q.ackpsn = ackpsn_w_;
  }
  const bool sack = q.trig >= csr.sack_trigger || p_.ackreq || p_.rtx || p_.ce || (q.ar && q.ooo == 0);
  q.ar = q.ooo != 0 && (q.ar || p_.ackreq);
  state_ = sack ? State::Sack0 : State::Idle;
}

void RxTrack::sack0(const CsrOut& csr) {
  Qp& q = qp();
  q.trig = 0;
  self_ = !p_.probe && csr.sack_base_self && (p_.ackreq || p_.ce) && psn_dist(p_.psn, psn_add(q.cack, 1)) < kPsnHalf;
  base_ = self_ ? p_.psn : sack_cyclic_base(q.lowun, q.cack, q.max);
  rdata_ = bits_[row_of(base_)];
  state_ = State::Sack1;
}

void RxTrack::sack2(bool ack_with_sack) {
  if (!resp_.free()) return;
  Qp& q = qp();
  Resp& r = respond(CtlKind::Sack);
  r.psn = p_.psn;
  r.cack = q.cack;
  r.base = base_;
  r.bitmap = sack_bitmap(low_, rdata_.rcv, base_, q.max);
  r.ooo = q.ooo & 0x7fff;
  r.m = p_.ce ? 1 : 0;
  r.pr = p_.probe;
  r.entropy = p_.entropy;
  r.ts = p_.ts;
  r.tsv = p_.tsv;
  r.at = p_.at;
  r.mpr = q.dyn ? q.mpr : uint8_t{0};
  r.rcvd = sack_rcvd(q.rcvd);
  if (!self_) q.lowun = psn_add(base_, 64);
  state_ = ack_with_sack && q.ackv ? State::AckAfter : State::Idle;
}

/// The newest ACK follows each SACK.
void RxTrack::ack_after() {
  if (!resp_.free()) return;
  ack(qp().ackpsn, kSyndromeAck);
  state_ = State::Idle;
}

/// Tells the lane what to do with the packet's payload, if it holds any.
void RxTrack::issue(bool place) {
  if (!p_.buf_valid) return;
  Verdict& v = verdict_.load();
  v.plane = p_.plane;
  v.place = place;
  v.addr = place ? p_.haddr : 0;
  v.plen = place ? p_.plen : uint16_t{0};
  ++issued_[p_.plane];
}

Resp& RxTrack::respond(CtlKind kind) {
  Resp& r = resp_.load();
  r = Resp{};
  r.kind = kind;
  r.qp = p_.qp;
  r.plane = p_.plane;
  return r;
}

/// A semantic ACK or NAK, with the MSN of the message now being completed.
void RxTrack::ack(uint32_t psn, uint8_t syndrome) {
  Resp& r = respond(CtlKind::Ack);
  r.psn = psn;
  r.reason = syndrome;
  r.msn = qp().emsn;
}

void RxTrack::nack(uint8_t reason) {
  Resp& r = respond(CtlKind::Nack);
  r.psn = p_.psn;
  r.entropy = p_.entropy;
  r.ts = p_.ts;
  r.tsv = p_.tsv;
  r.at = p_.at;
  r.reason = reason;
}

}  // namespace mrc

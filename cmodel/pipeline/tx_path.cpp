// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx_path.hpp"

#include <bit>

#include "protocol/ev_profile.hpp"

namespace mrc {

TxPath::TxPath(const Preset& preset, Stream<Pkt>& pkt, Stream<Fb>& fb, Stream<Fb>& pfb, Stream<Path>& path,
               Stream<Rec>& rec, Stream<Evev>& evev, Stream<Badev>& bad)
    : planes_(preset.num_planes),
      plane_bits_(static_cast<unsigned>(std::countr_zero(preset.num_planes))),
      groups_(preset.evs_per_qp / preset.num_planes),
      evs_(preset.evs_per_qp),
      qp_mask_(preset.num_qps - 1),
      dest_mask_(preset.num_dests - 1),
      pkt_(pkt),
      fb_in_(fb),
      pfb_in_(pfb),
      path_(path),
      rec_(rec),
      evev_(evev),
      bad_(bad),
      evst_(std::size_t{preset.num_qps} * groups_),
      evval_(std::size_t{preset.num_profiles} * preset.evs_per_qp),
      qps_(preset.num_qps),
      peer_(preset.num_dests, 0xff) {}

void TxPath::step(const CfgBus& cfg, const CsrOut& csr, const In& in) {
  ack_.begin(cfg);
  switch (state_) {
    case State::Idle:
      idle(cfg, in);
      break;
    case State::Init:
      init();
      break;
    case State::Deny:
      deny();
      break;
    case State::Gen:
      generate();
      break;
    case State::Fb:
      feedback(in, csr.skip_twice);
      break;
    case State::Find:
      find();
      break;
    case State::Test:
      test();
      break;
    case State::Judge:
      judge(csr.ev_min_active);
      break;
    case State::Walk:
      walk(in);
      break;
    case State::NoPath:
      no_path();
      break;
    case State::Emit:
      emit();
      break;
    case State::Scrub:
      scrubbed();
      break;
  }
  if (scrub_div_ == 63) scrub_due_ = true;
  scrub_div_ = (scrub_div_ + 1) & 63u;
}

void TxPath::idle(const CfgBus& cfg, const In& in) {
  if (ack_.pending(cfg)) {
    configure(cfg);
    return;
  }
  const bool tell = evev_.free() && bad_.free();
  const bool request[3] = {fb_in_.has() && tell, pkt_.has() && path_.free() && rec_.free(), pfb_in_.has() && tell};
  if (!(request[0] | request[1] | request[2])) {
    if (scrub_due_ && bad_.free()) scrub();
    return;
  }
  const int grant = arb_.pick([&](unsigned i) { return request[i]; });
  arb_.take(static_cast<unsigned>(grant));
  if (grant == 1) {
    take_packet(in);
  } else {
    take_feedback(grant == 0 ? fb_in_ : pfb_in_);
  }
}

/// Nothing else to do: looks at the next EV of all.
void TxPath::scrub() {
  scrub_due_ = false;
  scrub_at_ = scrub_;
  scrub_ = (scrub_ + 1) % static_cast<unsigned>(qps_.size() * evs_);
  const unsigned qp = scrub_at_ / evs_, ev_idx = scrub_at_ % evs_;
  if (!qps_[qp].known) return;
  evst_.read(evst_row(qp, ev_idx / planes_));
  evval_.read(evval_row(qps_[qp].profile, ev_idx));
  state_ = State::Scrub;
}

/// An EV that found no probe slot when it went bad is offered again.
void TxPath::scrubbed() {
  const unsigned qp = scrub_at_ / evs_, ev_idx = scrub_at_ % evs_;
  if (ev_state(evst_.rdata(), ev_idx & (planes_ - 1)) == kEvBad) {
    bad_.load({.qp = static_cast<uint16_t>(qp), .ev_idx = static_cast<uint16_t>(ev_idx), .ev = evval_.rdata()});
  }
  state_ = State::Idle;
}

/// Tables that take one cycle are acknowledged here, the others by the state they lead to.
void TxPath::configure(const CfgBus& cfg) {
  init_qp_ = cfg.index & qp_mask_;
  switch (static_cast<CfgTable>(cfg.table)) {
    case CfgTable::QpCtx: {
      const auto row = csr::TblQpCtx::unpack(cfg.data.data());
      init_group_ = 0;
      const unsigned backup = row.backup & (groups_ - 1);
      qps_[init_qp_] = {.grp = 0,
                        .used = 0,
                        .lfsr = static_cast<uint16_t>(0xACE1u ^ init_qp_),
                        .profile = row.profile,
                        .backup = static_cast<uint8_t>(backup),
                        .dest = row.dest,
                        .active = static_cast<uint16_t>((groups_ - backup) * planes_),
                        .known = true};
      state_ = State::Init;
      return;
    }
    case CfgTable::EvState: {
      const auto row = csr::TblEvState::unpack(cfg.data.data());
      deny_ev_idx_ = static_cast<uint16_t>(row.ev_idx & (evs_ - 1));
      deny_ = row.deny;
      evst_.read(evst_row(init_qp_, deny_ev_idx_ / planes_));
      state_ = State::Deny;
      return;
    }
    case CfgTable::EvGen:
      gen_ = csr::TblEvGen::unpack(cfg.data.data());
      gen_row_ = std::size_t{cfg.index} * evs_ % evval_.depth();
      gen_end_ = gen_row_ + evs_;
      gen_v_ = gen_.seed;
      gen_bit_ = 0;
      state_ = State::Gen;
      return;
    case CfgTable::Ev:
      evval_.write(cfg.index % evval_.depth(), cfg.data[0]);
      break;
    case CfgTable::PeerPorts:
      peer_[cfg.index & dest_mask_] = csr::TblPeerPorts::unpack(cfg.data.data()).mask;
      break;
    default:
      break;
  }
  ack_.done();
}

void TxPath::init() {
  const bool spare = init_group_ >= groups_ - qps_[init_qp_].backup;
  evst_.write(evst_row(init_qp_, init_group_), ev_uniform(planes_, spare ? kEvStandby : kEvGood));
  if (++init_group_ == groups_) {
    ack_.done();
    state_ = State::Idle;
  }
}

/// The controller's word on an EV; it is neither replaced nor held by the floor.
void TxPath::deny() {
  const unsigned plane = deny_ev_idx_ & (planes_ - 1);
  const unsigned was = ev_state(evst_.rdata(), plane), now = ev_after_deny(was, deny_);
  if (now != was) {
    evst_.write(evst_row(init_qp_, deny_ev_idx_ / planes_), ev_with_state(evst_.rdata(), plane, now));
    Qp& q = qps_[init_qp_];
    q.active = static_cast<uint16_t>((q.active + ev_active_change(was, now)) & 0x1ff);
  }
  ack_.done();
  state_ = State::Idle;
}

/// AUTO: a row per cycle. GENERATED: a row in 32, a bit per cycle.
void TxPath::generate() {
  if (!gen_.mode) {
    gen_v_ = ev_auto_next(gen_v_);
    evval_.write(gen_row_++, gen_v_);
  } else if (++gen_bit_ == kEvBits) {
    gen_bit_ = 0;
    evval_.write(gen_row_++, ev_expand(gen_.init, gen_.mask, gen_v_));
    gen_v_ = ev_number_next(gen_v_, gen_.max_val);
  }
  if (gen_row_ == gen_end_) {
    ack_.done();
    state_ = State::Idle;
  }
}

void TxPath::take_feedback(Stream<Fb>& from) {
  fb_ = from.head();
  from.pop();
  if (fb_.ev_idx == kNoPathEv) return;  // the packet had no path
  fb_.ev_idx = static_cast<uint16_t>(fb_.ev_idx & (evs_ - 1));
  evst_.read(evst_row(fb_.qp, fb_.ev_idx / planes_));
  evval_.read(evval_row(qps_[fb_.qp & qp_mask_].profile, fb_.ev_idx));
  state_ = State::Fb;
}

void TxPath::take_packet(const In& in) {
  hold_ = pkt_.head();
  pkt_.pop();
  if (hold_.voided || plane_ok(hold_.qp, in) == 0) {
    state_ = State::NoPath;
    return;
  }
  const Qp& q = qps_[hold_.qp & qp_mask_];
  grp_ = q.grp;
  lfsr_ = q.lfsr;
  u_ = q.used;
  restored_ = false;
  walked_ = 0;
  avoid_on_ = hold_.rtx;
  evst_.read(evst_row(hold_.qp, group()));
  state_ = State::Walk;
}

void TxPath::feedback(const In& in, bool skip_twice) {
  state_ = State::Idle;
  const unsigned plane = fb_.ev_idx & (planes_ - 1);
  keep_ = evst_.rdata();
  const bool ok = (plane_ok(fb_.qp, in) >> plane & 1) != 0;
  const unsigned was = ev_state(keep_, plane);
  const unsigned now = ev_after(was, fb_.kind, evval_.rdata() == fb_.entropy, ok, skip_twice);
  if (now == was) return;
  evst_.write(evst_row(fb_.qp, fb_.ev_idx / planes_), ev_with_state(keep_, plane, now));
  if (fb_.kind == kFbSkipOnce) {
    pulses_next_.skip = true;
    return;
  }
  Qp& q = qps_[fb_.qp & qp_mask_];
  failed_ = now == kEvBad;
  found_ = false;
  if (!failed_) evev_.load({.qp = fb_.qp, .ev_idx = fb_.ev_idx, .state = kEvGood, .floor = false});
  if (q.backup != 0) {
    f_ = groups_ - q.backup;
    state_ = State::Find;
  } else if (failed_) {
    state_ = State::Judge;
  } else {
    ++q.active;
  }
}

void TxPath::find() {
  evst_.read(evst_row(fb_.qp, f_));
  state_ = State::Test;
}

/// Looks for the EV of the backup group f_ that takes the place of a failed EV, or goes back for a revived one.
void TxPath::test() {
  const unsigned plane = fb_.ev_idx & (planes_ - 1), state = ev_state(evst_.rdata(), plane);
  const bool self = f_ * planes_ + plane == fb_.ev_idx;
  if (failed_ ? state == kEvStandby : ev_in_use(state) && !self) {
    evst_.write(evst_row(fb_.qp, f_), ev_with_state(evst_.rdata(), plane, failed_ ? kEvGood : kEvStandby));
    found_ = true;
    state_ = failed_ ? State::Judge : State::Idle;
  } else if (f_ != groups_ - 1) {
    ++f_;
    state_ = State::Find;
  } else if (failed_) {
    state_ = State::Judge;
  } else {
    ++qps_[fb_.qp & qp_mask_].active;
    state_ = State::Idle;
  }
}

/// An EV lost a packet: it goes out of use, unless too few would remain.
void TxPath::judge(unsigned min_active) {
  state_ = State::Idle;
  Qp& q = qps_[fb_.qp & qp_mask_];
  const bool out = found_ || q.active > min_active;
  if (!out) {
    evst_.write(evst_row(fb_.qp, fb_.ev_idx / planes_), keep_);
  } else if (!found_) {
    --q.active;
  }
  pulses_next_.bad = out;
  pulses_next_.floor = !out;
  evev_.load({.qp = fb_.qp, .ev_idx = fb_.ev_idx, .state = kEvBad, .floor = !out});
  if (out) bad_.load({.qp = fb_.qp, .ev_idx = fb_.ev_idx, .ev = evval_.rdata()});
}

void TxPath::next_group() {
  u_ = 0;
  grp_ = (grp_ + 1) & (groups_ - 1);
  if (grp_ == 0) lfsr_ = ev_key_next(lfsr_);
}

/// The walk ends with ev_idx, and advances for the QP's next packet.
void TxPath::choose(const EvGroup& g, unsigned ev_idx) {
  Qp& q = qps_[hold_.qp & qp_mask_];
  evval_.read(evval_row(q.profile, ev_idx));
  ev_idx_ = static_cast<uint16_t>(ev_idx);
  u_ = g.u;
  state_ = State::Emit;
}

/// The walk's place is kept for the QP's next packet.
void TxPath::write_back() {
  Qp& q = qps_[hold_.qp & qp_mask_];
  q.grp = static_cast<uint8_t>(grp_);
  q.used = static_cast<uint8_t>(u_);
  q.lfsr = lfsr_;
}

void TxPath::walk(const In& in) {
  const EvRow row = evst_.rdata();
  const unsigned at = group(), ok = plane_ok(hold_.qp, in);
  const EvChoice choice{planes_, ok, in.lane_room, avoid_on_, hold_.avoid_ev};
  const EvGroup g = ev_walk_group({row, u_, restored_, restored_idx_, false, -1}, at, lfsr_ & (planes_ - 1), choice);

  int ev_idx = g.chosen >= 0 ? static_cast<int>(at * planes_) + g.chosen : -1;
  if (ev_idx < 0) {
    if (g.busy) return;
    const unsigned plane = 1u << (g.restored_idx & (planes_ - 1));
    if (walked_ == groups_ && g.restored && (ok & plane)) {  // the whole set was walked: what was restored is used
      if (!(in.lane_room & plane)) return;
      ev_idx = g.restored_idx;
    }
  }
  if (g.row != row) evst_.write(evst_row(hold_.qp, at), g.row);

  if (ev_idx >= 0) {
    choose(g, static_cast<unsigned>(ev_idx));
    const unsigned all = (1u << planes_) - 1;
    if (((u_ | ~ok) & all) == all) next_group();
    write_back();
    return;
  }
  restored_ = g.restored;
  restored_idx_ = g.restored_idx;
  if (walked_ == groups_) {
    if (!avoid_on_) {  // nothing in the whole set
      u_ = g.u;
      write_back();
      state_ = State::NoPath;
      return;
    }
    avoid_on_ = false;
    walked_ = 0;
  } else {
    ++walked_;
  }
  next_group();
  evst_.read(evst_row(hold_.qp, group()));
}

/// The packet counts as sent, and as lost; one that is not needed any more leaves its trace only.
void TxPath::no_path() {
  ev_idx_ = kNoPathEv;
  record();
  pulses_next_.nopath = !hold_.voided;
}

void TxPath::emit() {
  Path& p = path_.load();
  p.pkt = hold_;
  p.ev = evval_.rdata();
  p.ev_idx = ev_idx_;
  p.plane = static_cast<uint8_t>(ev_idx_ & (planes_ - 1));
  record();
}

void TxPath::record() {
  rec_.load({.qp = hold_.qp,
             .psn = hold_.psn,
             .msn = hold_.msn,
             .row = hold_.row,
             .idx = hold_.idx,
             .ev_idx = ev_idx_,
             .rtx = hold_.rtx,
             .last = hold_.last,
             .size = hold_.size,
             .voided = hold_.voided});
  state_ = State::Idle;
}

}  // namespace mrc

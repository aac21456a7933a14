// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/tx_path.hpp"

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
  if (state_ == State::Idle) {
    const bool w_empty = !w_.valid;
    const bool e_go = emit();
    if (w_.valid) walk(csr, in, e_go);
    accept(cfg, csr, in, w_empty && e_go);
  } else {
    operate(csr, in);
  }
  count_turns(csr);
  if (scrub_div_ == 63) scrub_due_ = true;
  scrub_div_ = (scrub_div_ + 1) & 63u;
}

/// The next turn of SKIP begins when this one is skip_ticks old.
void TxPath::count_turns(const CsrOut& csr) {
  const auto tick = static_cast<uint16_t>(csr.tick);
  if (static_cast<uint16_t>(tick - turn_since_) < csr.skip_ticks) return;
  turn_ = ev_turn_next(turn_);
  turn_since_ = tick;
}

/// One cycle of an operation; it began with both stages empty.
void TxPath::operate(const CsrOut& csr, const In& in) {
  switch (state_) {
    case State::Idle:
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
      feedback(csr, in);
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
    case State::Scrub:
      scrubbed();
      break;
  }
}

/// empty: an operation may begin. Stage w is free if its walk has ended in this cycle.
void TxPath::accept(const CfgBus& cfg, const CsrOut& csr, const In& in, bool empty) {
  if (ack_.pending(cfg)) {
    if (empty) configure(cfg);
    return;
  }
  const bool may_report = evev_.free() && bad_.free();
  const bool request[3] = {fb_in_.has() && may_report, pkt_.has(), pfb_in_.has() && may_report};
  if (!(request[0] | request[1] | request[2])) {
    if (scrub_due_ && (scrub_on_ || !bads_.empty()) && bad_.free() && empty) scrub();
    return;
  }
  const int grant = arb_.pick([&](unsigned i) { return request[i]; });
  if (grant == 1 ? w_.valid : !empty) return;  // w drains
  arb_.take(static_cast<unsigned>(grant));
  if (grant == 1) {
    take_packet(csr, in);
  } else {
    take_feedback(grant == 0 ? fb_in_ : pfb_in_);
  }
}

/// Nothing else to do: looks at the next EV of the QP whose round is on, or of the next one that has a bad one.
void TxPath::scrub() {
  scrub_due_ = false;
  if (!scrub_on_) {
    auto next = bads_.lower_bound(bads_from_);
    if (next == bads_.end()) next = bads_.begin();
    scrub_qp_ = *next;
    bads_from_ = (scrub_qp_ + 1) & qp_mask_;
    bads_.erase(next);
    scrub_ev_ = 0;
    scrub_bad_ = false;
  }
  scrub_at_ = scrub_ev_;
  scrub_ev_ = (scrub_ev_ + 1) & (evs_ - 1);
  scrub_on_ = scrub_ev_ != 0;
  evst_.read(evst_row(scrub_qp_, scrub_at_ / planes_));
  evval_.read(evval_row(qps_[scrub_qp_].profile, scrub_at_));
  state_ = State::Scrub;
}

/// An EV that found no probe slot when it went bad is offered again. A QP that has one has another round.
void TxPath::scrubbed() {
  if (ev_state(evst_.rdata(), scrub_at_ & (planes_ - 1)) == kEvBad) {
    bad_.load(
        {.qp = static_cast<QpIndex>(scrub_qp_), .ev_idx = static_cast<uint16_t>(scrub_at_), .ev = evval_.rdata()});
    scrub_bad_ = true;
  }
  if (!scrub_on_ && scrub_bad_) bads_.insert(scrub_qp_);
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
                        .lfsr = static_cast<uint16_t>(0xACE1u ^ (init_qp_ & 0x7fffu)),
                        .profile = row.profile,
                        .backup = static_cast<uint8_t>(backup),
                        .dest = row.dest,
                        .active = static_cast<uint16_t>((groups_ - backup) * planes_),
                        .world = {}};
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
      gen_zero_ = false;
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

/// AUTO: a value per cycle. GENERATED: a value in 32, a bit per cycle. A value is a row, unless it is 0.
void TxPath::generate() {
  uint32_t value = 0;
  if (!gen_.mode) {
    gen_v_ = ev_auto_next(gen_v_);
    value = ev_auto(gen_.init, gen_.mask, gen_v_);
  } else if (++gen_bit_ == kEvBits) {
    gen_bit_ = 0;
    value = ev_expand(gen_.init, gen_.mask, gen_v_);
    gen_v_ = ev_number_next(gen_v_, gen_.max_val);
  } else {
    return;
  }
  if (const auto ev = ev_not_zero(value, gen_zero_)) evval_.write(gen_row_++, *ev);
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

/// The walk starts where the QP's walk before has ended, be it in this cycle.
void TxPath::take_packet(const CsrOut& csr, const In& in) {
  w_.valid = true;
  w_.pkt = pkt_.head();
  pkt_.pop();
  w_.dest = qps_[w_.pkt.qp & qp_mask_].dest;
  w_.copy = false;
  w_.avoid_on = w_.pkt.rtx;
  const unsigned lost_on = plane_bit(w_.pkt.avoid_ev), others = plane_ok(w_.dest, in) & ~lost_on;
  w_.barred = w_.pkt.rtx && w_.pkt.lost && !csr.any_plane && others != 0 ? lost_on : 0;
  begin_walk();
}

/// Of what is in w.
void TxPath::begin_walk() {
  const Qp& q = qps_[w_.pkt.qp & qp_mask_];
  w_.grp = q.grp;
  w_.u = q.used;
  w_.lfsr = q.lfsr;
  w_.restored = false;
  w_.spare = EvSpare::None;
  w_.whole = ev_walk_whole(w_.grp, w_.u);
  evst_.read(evst_row(w_.pkt.qp, group()));
}

/// What has just gone to stage e goes once more, on a third plane.
void TxPath::copy_follows() {
  e_.half = true;
  w_.valid = w_.copy = true;
  w_.first_idx = e_.ev_idx;
  w_.avoid_on = false;
  w_.barred = plane_bit(w_.pkt.avoid_ev) | plane_bit(w_.first_idx);
  begin_walk();
}

/// An EV in use has lost something: true if that counts against it, and not against the world.
bool TxPath::blamed(unsigned plane, const CsrOut& csr) {
  if (csr.loss_share == 0) return true;
  return qps_[fb_.qp & qp_mask_].world.lost(plane, csr.tick, planes_, csr.loss_share);
}

void TxPath::feedback(const CsrOut& csr, const In& in) {
  state_ = State::Idle;
  const unsigned plane = fb_.ev_idx & (planes_ - 1);
  keep_ = evst_.rdata();
  const unsigned was = ev_state(keep_, plane);
  bool ok = (plane_ok(qps_[fb_.qp & qp_mask_].dest, in) >> plane & 1) != 0;
  if (fb_.kind == FbKind::Loss && ok && ev_in_use(was)) ok = blamed(plane, csr);
  const unsigned now = ev_after(was, fb_.kind, evval_.rdata() == fb_.entropy, ok, skipping(csr));
  if (now == was) return;
  evst_.write(evst_row(fb_.qp, fb_.ev_idx / planes_), ev_with_state(keep_, plane, now));
  if (fb_.kind == FbKind::SkipOnce) {
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
  if (!out) return;
  bad_.load({.qp = fb_.qp, .ev_idx = fb_.ev_idx, .ev = evval_.rdata()});
  bads_.insert(fb_.qp & qp_mask_);
}

void TxPath::next_group() {
  w_.u = 0;
  w_.grp = (w_.grp + 1) & (groups_ - 1);
  if (w_.grp == 0) {
    w_.lfsr = ev_key_next(w_.lfsr);
    w_.whole = true;
  }
}

/// The walk's place is kept for the QP's next packet.
void TxPath::write_back() {
  Qp& q = qps_[w_.pkt.qp & qp_mask_];
  q.grp = static_cast<uint8_t>(w_.grp);
  q.used = static_cast<uint8_t>(w_.u);
  q.lfsr = w_.lfsr;
}

void TxPath::end_walk(uint16_t ev_idx, bool nopath) {
  w_.valid = false;
  e_.valid = true;
  e_.nopath = nopath;
  e_.half = false;
  e_.copy = w_.copy;
  e_.pkt = w_.pkt;
  e_.ev_idx = ev_idx;
  e_.first_idx = w_.first_idx;
}

/// The walk ends with ev_idx, and advances for the QP's next packet. u: planes done in this group; ok: that can be
/// used.
void TxPath::choose(unsigned u, unsigned ev_idx, unsigned ok) {
  evval_.read(evval_row(qps_[w_.pkt.qp & qp_mask_].profile, ev_idx));
  const unsigned all = (1u << planes_) - 1;
  w_.u = u;
  if (((u | ~ok) & all) == all) next_group();
  write_back();
  end_walk(static_cast<uint16_t>(ev_idx), false);
}

/// The EV for a packet whose walk has seen the whole set and found none to choose, or -1: the one that it has restored,
/// or else, with nothing left to avoid, the spare one that it has passed over. `ok`: planes that can be used.
int TxPath::last_resort(const EvGroup& g, bool avoided, unsigned ok) const {
  const auto usable = [&](unsigned ev_idx) { return (ok >> (ev_idx & (planes_ - 1)) & 1u) != 0; };
  if (g.restored && usable(g.restored_idx)) return g.restored_idx;
  return !avoided && g.spare != EvSpare::None && usable(g.spare_idx) ? g.spare_idx : -1;
}

/// Looks at one group. e_go: stage e can take the packet.
void TxPath::walk(const CsrOut& csr, const In& in, bool e_go) {
  const unsigned up = plane_ok(w_.dest, in), ok = up & ~w_.barred;
  if (w_.pkt.voided || (w_.copy ? ok : up) == 0) {
    if (e_go) end_walk(kNoPathEv, true);
    return;
  }
  const EvRow row = evst_.rdata();
  const unsigned at = group();
  const EvGroup g = ev_walk_group({.row = row,
                                   .u = w_.u,
                                   .restored = w_.restored,
                                   .restored_idx = w_.restored_idx,
                                   .spare = w_.spare,
                                   .spare_idx = w_.spare_idx},
                                  at, w_.lfsr & (planes_ - 1),
                                  {.planes = planes_,
                                   .up = ok,
                                   .room = in.lane_room,
                                   .avoid_on = w_.avoid_on,
                                   .avoid_ev = w_.pkt.avoid_ev,
                                   .skip = skipping(csr),
                                   .bad = !csr.bad_waits});

  const bool all = ev_walk_over(w_.whole, w_.grp, groups_);
  int ev_idx = g.chosen >= 0 ? static_cast<int>(at * planes_) + g.chosen : -1;
  const bool chosen = ev_idx >= 0, two = chosen && w_.pkt.two && !csr.one_copy && !w_.copy && w_.avoid_on;
  if (!chosen) {
    if (g.busy) {
      if (w_.copy && e_go) end_walk(kNoPathEv, true);  // a copy waits for no lane
      return;
    }
    if (all && !w_.copy) ev_idx = last_resort(g, w_.avoid_on, ok);
    if (ev_idx >= 0 && (in.lane_room >> (static_cast<unsigned>(ev_idx) & (planes_ - 1)) & 1u) == 0) return;
  }
  const bool nothing = ev_idx < 0 && all && !w_.avoid_on;  // in the whole set
  if ((ev_idx >= 0 || nothing) && !e_go) return;
  if (g.row != row) evst_.write(evst_row(w_.pkt.qp, at), g.row);

  if (ev_idx >= 0) {
    choose(g.u, static_cast<unsigned>(ev_idx), ok);
    if (two) copy_follows();
    return;
  }
  if (nothing) {
    w_.u = g.u;
    write_back();
    end_walk(kNoPathEv, true);
    return;
  }
  w_.restored = g.restored;
  w_.restored_idx = g.restored_idx;
  w_.spare = g.spare;
  w_.spare_idx = g.spare_idx;
  if (all) {  // once more
    w_.avoid_on = false;
    w_.barred = 0;
  }
  next_group();
  evst_.read(evst_row(w_.pkt.qp, group()));
}

/// Returns e_go: stage e is empty, or its packet leaves in this cycle. A packet without a path counts as sent, and as
/// lost; one that is not needed any more leaves its trace only. Of two copies the second has the
/// record, which is the first one's.
bool TxPath::emit() {
  if (!e_.valid) return true;
  if ((!e_.half && !rec_.free()) || (!e_.nopath && !path_.free())) return false;
  e_.valid = false;
  if (!e_.nopath) {
    Path& p = path_.load();
    p.pkt = e_.pkt;
    p.ev = evval_.rdata();
    p.ev_idx = e_.ev_idx;
    p.plane = static_cast<uint8_t>(e_.ev_idx & (planes_ - 1));
  }
  if (e_.half) return true;
  rec_.load({.qp = e_.pkt.qp,
             .psn = e_.pkt.psn,
             .msn = e_.pkt.msn,
             .row = e_.pkt.row,
             .idx = e_.pkt.idx,
             .ev_idx = e_.copy ? e_.first_idx : e_.ev_idx,
             .rtx = e_.pkt.rtx,
             .last = e_.pkt.last,
             .size = e_.pkt.size,
             .voided = e_.pkt.voided});
  pulses_next_.nopath = e_.nopath && !e_.copy && !e_.pkt.voided;
  return true;
}

}  // namespace mrc

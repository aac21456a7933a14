// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/inflight/tx_inflight.hpp"

#include "gen/csr.hpp"
#include "gen/headers.hpp"
#include "protocol/ev_set.hpp"
#include "protocol/segment.hpp"

namespace mrc {

namespace {

/// Blocks that a retransmission's search looks at in one turn.
constexpr unsigned kScanBlocks = 4;
/// Ticks that a QP whose ACK has come leaves for the SACK of the same packets: 1 us.
constexpr uint32_t kSackTicks = 8;

}  // namespace

TxInflight::TxInflight(const Preset& preset, const In& in, const Out& out)
    : planes_(preset.num_planes),
      qp_mask_(preset.num_qps - 1),
      qp_blocks_(preset.max_mpr / kBlockPsns),
      in_(in),
      out_(out),
      map_(std::size_t{preset.num_qps} * qp_blocks_),
      win_(preset.num_blocks),
      recs_(std::size_t{preset.num_blocks} * kBlockPsns),
      pool_(preset.num_blocks),
      qps_(preset.num_qps),
      list_(preset.num_qps),
      rq_(preset.num_qps) {}

void TxInflight::step(const CfgBus& cfg, const CsrOut& csr) {
  ack_.begin(cfg);
  tick_ = csr.tick;
  state_silent_ = csr.state_silent;
  recording_ = recording();
  switch (state_) {
    case State::Idle:
      idle(cfg);
      break;
    case State::Rec:
      rec();
      break;
    case State::Reclaim:
      reclaim();
      break;
    case State::Ctl0:
      ctl0();
      break;
    case State::Ctl1:
      ctl1(csr);
      break;
    case State::Row:
      sack_block(csr);
      break;
    case State::Done:
      done(csr);
      break;
    case State::Same0:
      same0();
      break;
    case State::Same1:
      same1();
      break;
    case State::Ack:
      semantic_ack();
      break;
    case State::Retx0:
      retx0();
      break;
    case State::Scan:
      scan();
      break;
    case State::Retx1:
      retx1();
      break;
    case State::RetxW:
      retx_wait();
      break;
    case State::Walk0:
      rows_from(State::Walk);
      break;
    case State::Walk:
      walk();
      break;
    case State::Told0:
      rows_from(State::Told);
      break;
    case State::Told:
      told();
      break;
  }
  // Record last: the main machine has seen nxt, msn_sent and fsent of this cycle.
  if (recording_ != Recording::No) record(recording_ == Recording::Begin);
  // Counters too.
  if (div_ % 4 == 3) visit_due_ = true;
  if (div_ == 15) hold_ = false;
  div_ = (div_ + 1) % 16;
}

bool TxInflight::for_record() const {
  return in_.rec.has() && !in_.rec.head().voided && !in_.rec.head().rtx && qp(in_.rec.head().qp).live;
}

TxInflight::Recording TxInflight::recording() const {
  if (state_ == State::Rec || !for_record()) return Recording::No;
  const uint32_t psn = in_.rec.head().psn;
  const Qp& q = qp(in_.rec.head().qp);
  if (psn % kBlockPsns != 0 && !q.fresh) return Recording::Go;
  switch (state_) {
    case State::Ctl1:  // these may write a row of win
    case State::Row:
    case State::Scan:
    case State::RetxW:
    case State::Same1:
    case State::Walk:
    case State::Told:
    case State::Reclaim:
      return Recording::No;
    default:
      break;
  }
  // The block in whose row of map the number goes must have been given back.
  if (q.held && !q.kept && block_dist(psn_block(psn), q.base) >= qp_blocks_) return Recording::No;
  return Recording::Begin;
}

void TxInflight::record(bool begins) {
  const Rec& r = in_.rec.head();
  Qp& q = qp(r.qp);
  if (begins) {
    const uint32_t block = psn_block(r.psn);
    if (q.kept) {  // the block goes on as the new one
      q.kept = false;
      q.base = block;
      pulses_next_.freed = true;
    } else {
      q.cur = pool_.offer();
      pool_.take();
    }
    map_.write(map_row(r.qp, block), static_cast<uint16_t>(q.cur));
    win_.write(q.cur, WinBlock{});
    if (q.fresh) {
      q.fresh = false;
      q.held = true;
      q.base = block;
    }
  }
  recs_.write(recs_row(q.cur, r.psn), {r.msn, r.row, r.ev_idx, r.idx, r.size, false});
  q.nxt = psn_add(r.psn, 1);
  if (r.last) q.msn_sent = msn_add(r.msn, 1);
  if (q.cc) q.fly.enter(r.size);
  in_.rec.pop();
}

/// Contexts and states may have to give bytes back.
bool TxInflight::cfg_due(const CfgBus& cfg) const {
  if (!ack_.pending(cfg)) return false;
  return (!cfg.is(CfgTable::QpCtx) && !cfg.is(CfgTable::QpState)) || out_.ccev.free();
}

void TxInflight::idle(const CfgBus& cfg) {
  if (cfg_due(cfg) && configure(cfg)) return;
  const bool ccev = out_.ccev.free();
  const bool request[5] = {in_.rec.has() && ccev && !for_record(),
                           in_.ctl.has() && out_.upd.free() && out_.fb.free() && out_.pres.free() && ccev &&
                               out_.okev.free() && out_.qperr.free(),
                           !list_.empty() && out_.retx.free() && out_.fb.free() && out_.rask.free() && ccev && !hold_,
                           visit_due_ && out_.upd.free() && ccev && out_.qperr.free(), !rq_.empty() && ccev};
  if (!(request[0] | request[1] | request[2] | request[3] | request[4])) return;
  const int grant = arb_.pick([&](unsigned i) { return request[i]; });
  arb_.take(static_cast<unsigned>(grant));
  switch (grant) {
    case 0:
      take_rec();
      break;
    case 1:
      take_ctl();
      break;
    case 2:
      take_retx();
      break;
    case 3:
      visit();
      break;
    default:
      op_qp_ = rq_.head();
      rq_.pop();
      qp(op_qp_).inq = false;
      read_map(op_qp_, qp(op_qp_).base);
      state_ = State::Reclaim;
      break;
  }
}

/// False when the table write waits and other operations may go on.
bool TxInflight::configure(const CfgBus& cfg) {
  const auto index = static_cast<uint16_t>(cfg.index & qp_mask_);
  Qp& q = qps_[index];
  if (cfg.is(CfgTable::QpCtx)) {
    if (q.held) {  // its blocks first
      if (!q.live && q.inq) return false;
      retire(q, index);
      return true;
    }
    give_back(q);
    const auto row = csr::TblQpCtx::unpack(cfg.data.data());
    const bool listed = q.rtx;  // it leaves the list by itself
    q = Qp{};
    q.rtx = listed;
    q.timeout = row.timeout;
    q.limits = {.linear = row.retry_linear, .exponential = row.retry_exp};
    q.mtu = row.mtu;
    q.dest = row.dest;
    q.cc = row.cc;
    q.ts = row.ts;
    q.dyn_mpr = row.dyn_mpr;
    q.una = q.nxt = q.rtx_lo = q.low = row.sq_psn;
    q.hi = psn_add(row.sq_psn, -1);
    q.msn_done = q.msn_sent = row.msn;
    restart(q);
    q.fresh = true;
    q.live = row.state == static_cast<uint8_t>(QpState::Rts);
    if (recording_ != Recording::No && (in_.rec.head().qp & qp_mask_) == index) recording_ = Recording::No;
  } else if (cfg.is(CfgTable::QpState) && (cfg.data[0] & 7u) != static_cast<uint32_t>(QpState::Rts)) {
    retire(q, index);
  }
  ack_.done();
  return true;
}

void TxInflight::take_rec() {
  rec_ = in_.rec.head();
  in_.rec.pop();
  if (rec_.rtx && qp(rec_.qp).live) read_map(rec_.qp, psn_block(rec_.psn));
  state_ = State::Rec;
}

void TxInflight::take_ctl() {
  ctl_ = in_.ctl.head();
  in_.ctl.pop();
  if (!qp(ctl_.qp).live) return;
  if (ctl_.kind == CtlKind::Endpoint) return;  // not for this block: rx_check sends none
  read_map(ctl_.qp, psn_block(ctl_.psn));
  state_ = ctl_.kind == CtlKind::Ack ? State::Ack : State::Ctl0;
}

void TxInflight::take_retx() {
  op_qp_ = list_.head();
  const Qp& q = qp(op_qp_);
  w_ = psn_block(q.rtx_lo);
  lim_ = q.nxt;
  steps_ = 0;
  read_map(op_qp_, w_);
  state_ = State::Retx0;
}

void TxInflight::tell(const Qp& q, CcEvent kind, uint32_t bytes, uint8_t reason) {
  out_.ccev.load({.cc = q.dest, .kind = static_cast<uint8_t>(kind), .bytes = bytes, .reason = reason});
}

void TxInflight::give_back(Qp& q) {
  if (q.cc && q.fly.bytes() != 0) tell(q, CcEvent::Nack, q.fly.take_all());
}

void TxInflight::retire(Qp& q, uint16_t index) {
  q.live = false;
  give_back(q);
  reclaim_later(q, index);
}

void TxInflight::fail(Qp& q, uint16_t index, CqStatus status) {
  pulses_next_.fail = true;
  out_.upd.load(
      {.qp = index, .una = q.una, .ack = true, .msn = q.msn_done, .syndrome = static_cast<uint8_t>(status), .mpr = 0});
  out_.qperr.load({.qp = index, .status = status});
  retire(q, index);
}

void TxInflight::visit() {
  const auto index = static_cast<uint16_t>(visit_qp_);
  Qp& q = qps_[visit_qp_];
  visit_due_ = false;
  visit_qp_ = (visit_qp_ + 1) & qp_mask_;
  if (!q.live || !(q.outstanding() || q.fly.bytes() != 0)) {
    q.armed = false;
    return;
  }
  if (!q.armed) {
    q.armed = true;
    restart(q);
    return;
  }
  if (!q.outstanding()) {  // an ACK without a SACK, or rounding
    if (tick_ - q.start < kSackTicks) return;
    tell(q, CcEvent::Ack, take_early(q.fly, q.owed));
    return;
  }
  if (tick_ - q.start < q.step()) return;
  const bool first = q.marks.first();
  if (!q.marks.step(q.nxt)) {
    q.start = tick_;
    if (first && out_.stateq.free() && !state_silent_) {
      out_.stateq.load({.qp = index});
      pulses_next_.state = true;
    }
    return;
  }
  if (q.una == q.nxt) {  // all arrived, a semantic ACK is missing: the newest packet again asks for it
    if (retry_exhausted(q.retry, q.limits)) {
      fail(q, index, CqStatus::RetryExceeded);
      return;
    }
    give_back(q);
    q.retry = retry_next(q.retry);
    q.dup = true;
    enlist(q, index);
    restart(q);
    pulses_next_.rto = true;
    return;
  }
  op_qp_ = index;
  lim_ = q.nxt;
  w_ = psn_block(q.una);
  any_ = old_ = seen_ = spared_ = false;
  read_map(index, w_);
  state_ = State::Walk0;
}

/// What is not for Record: packets that were ordered, and packets of QPs that are not live.
void TxInflight::rec() {
  state_ = State::Idle;
  Qp& q = qp(rec_.qp);
  if (rec_.voided) {  // ordered, and then not needed; the flight of a QP that is not live has been given back
    if (q.live && q.cc) tell(q, CcEvent::Nack, q.fly.take(rec_.size));
    return;
  }
  if (!q.live) {
    if (rec_.rtx) return;
    if (q.cc) tell(q, CcEvent::Nack, rec_.size);  // asked for, sent, and nobody waits for it
    if (rec_.psn % kBlockPsns == 0 || q.fresh) pulses_next_.freed = true;
    q.fresh = false;
    return;
  }
  if (!q.owned(rec_.psn)) return;
  recs_.write(recs_row(map_.rdata(), rec_.psn), {rec_.msn, rec_.row, rec_.ev_idx, rec_.idx, rec_.size, true});
}

void TxInflight::reclaim() {
  Qp& q = qp(op_qp_);
  const uint32_t end = q.live ? oldest_block(q.una, q.nxt) : block_add(psn_block(psn_add(q.nxt, -1)), 1);
  if (q.base != end) {
    pool_.give(map_.rdata());
    pulses_next_.freed = true;
    q.base = block_add(q.base, 1);
    if (q.base != end) {
      read_map(op_qp_, q.base);
      return;
    }
  }
  state_ = State::Idle;
  if (!q.live) {
    q.held = q.kept = false;
    give_back(q);  // a packet that was recorded in the cycle in which the QP ended
  } else if (q.una == q.nxt && q.una % kBlockPsns == 0) {
    q.kept = true;
  }
}

void TxInflight::ctl0() {
  const Qp& q = qp(ctl_.qp);
  const unsigned n = map_.rdata();
  recs_.read(recs_row(n, ctl_.psn));
  win_.read(n);
  state_ = State::Ctl1;
  if (ctl_.kind == CtlKind::Nack) {
    n_ = n;
    return;
  }
  if (!cum_valid(psn_add(ctl_.cack, 1), q.una, q.nxt)) {
    state_ = State::Idle;
    return;
  }
  una_keep_ = sack_una(ctl_.cack, q.una);
  hi_keep_ = sack_hi(ctl_, q.una, q.nxt, q.hi);
  knows_ = sack_knows(ctl_, q.una, q.nxt, q.hi, rcvd_news(ctl_.rcvd, q.rcvdl).late);
  own_ = q.owned(ctl_.psn);
  const SackBlocks blocks = sack_blocks(ctl_.base, una_keep_, q.nxt);
  no_blocks_ = blocks.none;
  w_ = blocks.first;
  z_ = blocks.last;
  read_map(ctl_.qp, w_);
}

void TxInflight::ctl1(const CsrOut& csr) {
  if (ctl_.kind == CtlKind::Nack) {
    nack(csr);
    return;
  }
  ev_idx_keep_ = recs_.rdata().ev_idx;
  rtx_keep_ = recs_.rdata().rtx;
  any_ = false;
  canc_ = 0;
  state_ = State::Done;
  if (no_blocks_) return;
  n_ = map_.rdata();
  win_.read(n_);
  read_map(ctl_.qp, block_add(w_, 1));
  state_ = State::Row;
}

void TxInflight::sack_block(const CsrOut& csr) {
  const Qp& q = qp(ctl_.qp);
  const uint32_t p0 = block_psn(w_);
  const auto piece = sack_piece<uint16_t>(ctl_.bitmap, ctl_.base, p0);
  const SackView view = sack_view(una_keep_, q.nxt, knows_, ctl_.ooo, csr.reorder);
  WinBlock row = win_.rdata();
  canc_ += cancelled_losses(row.psns, p0, piece.got, view);
  const uint16_t lost = sack_row(row.psns, p0, piece.got, piece.cover, view);
  win_.write(n_, row);
  if (lost != 0 && !any_) {
    any_ = true;
    first_ = lowest_psn(p0, lost);
  }
  if (w_ == z_) {
    state_ = State::Done;
    return;
  }
  next_row(ctl_.qp);
}

void TxInflight::done(const CsrOut& csr) {
  state_ = State::Idle;
  Qp& q = qp(ctl_.qp);
  q.rtx_lo = psn_follow(q.rtx_lo, una_keep_);
  if (any_) {
    enlist(q, ctl_.qp);
    q.rtx_lo = psn_first(q.rtx_lo, first_);
  }
  const uint32_t below = psn_add(una_keep_, -1);
  q.hi = psn_before(hi_keep_, below) ? below : hi_keep_;
  const bool moved = una_keep_ != q.una;
  const bool new_mpr = q.dyn_mpr && ctl_.mpr != 0 && ctl_.mpr != q.mprv && !psn_before(psn_add(ctl_.cack, 1), q.una);
  if (moved) {
    q.una = una_keep_;
    progress(q);
    if (psn_block(q.una) != q.base) reclaim_later(q, ctl_.qp);
  }
  if (new_mpr) q.mprv = ctl_.mpr;
  if (moved || new_mpr) {
    const uint8_t mpr = new_mpr ? ctl_.mpr : uint8_t{0};
    out_.upd.load({.qp = ctl_.qp, .una = q.una, .ack = false, .msn = 0, .syndrome = 0, .mpr = mpr});
  }
  const bool recent = !ctl_.pr && own_;
  if (ctl_.pr) out_.pres.load({.qp = ctl_.qp, .id = static_cast<uint16_t>(ctl_.psn), .m = ctl_.m});
  if (recent && mark_is_feedback(ctl_.m)) {
    out_.fb.load({.qp = ctl_.qp, .ev_idx = ev_idx_keep_, .entropy = ctl_.entropy, .kind = ctl_.m});
  } else if (recent && ctl_.m == 0 && !rtx_keep_) {
    out_.okev.load({.dest = q.dest, .plane = static_cast<uint8_t>(ev_idx_keep_ & (planes_ - 1)), .ev = ctl_.entropy});
  }
  acknowledge(q, recent && rtt_valid(q, rtx_keep_, csr), csr);
  if (csr.same_ev && recent && !rtx_keep_ && same_ev_asks(ctl_, q.una, q.nxt)) {
    read_map(ctl_.qp, psn_block(q.una));
    state_ = State::Same0;
  }
}

/// What SACK ctl_ means for the flight.
void TxInflight::acknowledge(Qp& q, bool sample, const CsrOut& csr) {
  const RcvdNews news = rcvd_news(ctl_.rcvd, q.rcvdl);
  if (!news.late) q.rcvdl = ctl_.rcvd;
  if (!q.cc) return;
  const uint32_t n = take_sack(q.fly, q.owed, news, psn_add(ctl_.cack, 1) == q.nxt, canc_,
                               nominal_full(q.mtu, q.ts, csr.nominal), q.una == q.nxt, q.credit);
  out_.ccev.load({.cc = q.dest,
                  .kind = static_cast<uint8_t>(CcEvent::Ack),
                  .bytes = n,
                  .ecn = ctl_.m == 1,
                  .rtt_valid = sample,
                  .rtt = sample ? rtt(csr) : uint16_t{0},
                  .pen = ctl_.pen,
                  .restore = ctl_.restore,
                  .reason = 0});
}

void TxInflight::same0() {
  n_ = map_.rdata();
  recs_.read(recs_row(n_, qp(ctl_.qp).una));
  win_.read(n_);
  state_ = State::Same1;
}

void TxInflight::same1() {
  state_ = State::Idle;
  Qp& q = qp(ctl_.qp);
  WinBlock row = win_.rdata();
  if (recs_.rdata().ev_idx != ev_idx_keep_ || !same_ev_lost(row.psns, q.una)) return;
  win_.write(n_, row);
  enlist(q, ctl_.qp);
  q.rtx_lo = q.una;
}

void TxInflight::nack(const CsrOut& csr) {
  state_ = State::Idle;
  Qp& q = qp(ctl_.qp);
  if (ctl_.reason == static_cast<uint8_t>(wire::NackReason::UnexpEvent)) {
    fail(q, ctl_.qp, CqStatus::RemEvent);
    return;
  }
  const bool in = in_window(ctl_.psn, q.una, q.nxt);
  const Sent& sent = recs_.rdata();
  WinBlock row = win_.rdata();
  const bool missing = in && (row.psns.sacked & psn_bit<uint16_t>(ctl_.psn)) == 0;
  if (nack_counts(ctl_.reason) && missing && (ctl_.psn == q.una || ctl_.psn == q.low)) {
    if (retry_exhausted(q.retry, q.limits)) {
      fail(q, ctl_.qp, CqStatus::RetryExceeded);
      return;
    }
    q.retry = retry_next(q.retry);
  }
  if (const NackMark mark = nack_lost(row.psns, ctl_.psn); in && mark.lost) {
    win_.write(n_, row);
    if (q.cc && mark.leaves) {
      const bool sample = rtt_valid(q, sent.rtx, csr);
      out_.ccev.load({.cc = q.dest,
                      .kind = static_cast<uint8_t>(CcEvent::Nack),
                      .bytes = take_packet(q.fly, sent.size, q.credit),
                      .rtt_valid = sample,
                      .rtt = sample ? rtt(csr) : uint16_t{0},
                      .reason = ctl_.reason});
    }
    enlist(q, ctl_.qp);
    q.rtx_lo = psn_first(q.rtx_lo, ctl_.psn);
  }
  if (ctl_.reason == static_cast<uint8_t>(wire::NackReason::Trimmed) && q.owned(ctl_.psn)) {
    out_.fb.load({.qp = ctl_.qp, .ev_idx = sent.ev_idx, .entropy = ctl_.entropy, .kind = 1});
  }
}

void TxInflight::semantic_ack() {
  state_ = State::Idle;
  Qp& q = qp(ctl_.qp);
  if (!ack_valid(ctl_, q.una, q.nxt, q.msn_done, q.msn_sent)) return;
  const bool good = syndrome_ack(ctl_.reason);
  const uint32_t next = psn_add(ctl_.psn, 1);
  const uint32_t una = good && !psn_before(next, q.una) ? next : q.una;
  const bool changed = una != q.una || ctl_.msn != q.msn_done;
  const uint32_t below = psn_add(una, -1);
  q.una = una;
  q.rtx_lo = psn_follow(q.rtx_lo, una);
  if (psn_before(q.hi, below)) q.hi = below;
  if (good) q.msn_done = ctl_.msn;
  if (changed) {
    progress(q);
    if (psn_block(una) != q.base) reclaim_later(q, ctl_.qp);
  }
  if (changed || !good) {
    out_.upd.load({.qp = ctl_.qp, .una = una, .ack = true, .msn = ctl_.msn, .syndrome = ctl_.reason, .mpr = 0});
  }
  if (!good) {
    out_.qperr.load({.qp = ctl_.qp, .status = static_cast<CqStatus>(ctl_.reason)});
    retire(q, ctl_.qp);
  }
}

void TxInflight::retx0() {
  Qp& q = qp(op_qp_);
  if (!q.live) {
    q.rtx = q.dup = false;
    list_.pop();
    state_ = State::Idle;
    return;
  }
  n_ = map_.rdata();
  win_.read(n_);
  read_map(op_qp_, block_add(w_, 1));
  state_ = State::Scan;
}

void TxInflight::scan() {
  Qp& q = qp(op_qp_);
  const uint32_t p0 = block_psn(w_);
  WinBlock row = win_.rdata();
  const uint16_t c = retx_row(row.psns, p0, q.rtx_lo, lim_);
  ++steps_;
  dup_ = c == 0;
  if (c != 0) {
    row_keep_ = row;
    p_ = lowest_psn(p0, c);
    news_ = send_again(row.psns, p_);
    row.ages.set(p_ % kBlockPsns, spared_steps(tick_ - q.start, q.step()) - q.marks.count);
    win_.write(n_, row);
    recs_.read(recs_row(n_, p_));
    q.rtx_lo = psn_add(p_, 1);
  } else {
    if (rows_left(q)) {
      q.rtx_lo = psn_add(p0, kBlockPsns);
      if (steps_ == kScanBlocks) {  // it goes on in its next turn
        state_ = State::Idle;
        return;
      }
      next_row(op_qp_);
      return;
    }
    q.rtx_lo = q.nxt;
    if (!q.dup) {
      q.rtx = false;
      list_.pop();
      state_ = State::Idle;
      return;
    }
    q.dup = false;
    news_ = {};
    p_ = psn_add(q.nxt, -1);
    recs_.read(recs_row(q.cur, p_));
  }
  list_.pop();
  list_.push(op_qp_);
  state_ = State::Retx1;
}

void TxInflight::retx1() {
  state_ = State::Idle;
  Qp& q = qp(op_qp_);
  const Sent& s = recs_.rdata();
  // A gap or the timer, not a NACK: one loss is enough to take the EV out of use.
  if (news_.blame) out_.fb.load({.qp = op_qp_, .ev_idx = s.ev_idx, .entropy = 0, .kind = kFbLoss});
  if (!q.cc) {
    order();
    return;
  }
  if (news_.loss) tell(q, CcEvent::Loss, take_packet(q.fly, s.size, q.credit));
  out_.rask.load({.cc = q.dest, .min = s.size, .bytes = s.size});
  state_ = State::RetxW;
}

/// Orders the retransmission of p_ as recs has it.
void TxInflight::order() {
  const Sent& s = recs_.rdata();
  out_.retx.load(
      {.qp = op_qp_, .psn = p_, .msn = s.msn, .row = s.row, .idx = s.idx, .avoid_ev = s.ev_idx, .size = s.size});
  pulses_next_.rtx = true;
}

void TxInflight::retx_wait() {
  if (!in_.rans.has()) return;
  const bool ok = in_.rans.head().bytes != 0;
  in_.rans.pop();
  state_ = State::Idle;
  Qp& q = qp(op_qp_);
  if (ok) {
    order();
    q.fly.enter_again(recs_.rdata().size);
    return;
  }
  hold_ = true;
  if (dup_) {
    q.dup = true;
    return;
  }
  not_sent(row_keep_.psns, p_);
  win_.write(n_, row_keep_);
  q.rtx_lo = p_;
}

/// Behind row w of a pass there is another one of the window.
bool TxInflight::rows_left(const Qp& q) const {
  return psn_dist(psn_add(block_psn(w_), kBlockPsns), q.una) < psn_dist(lim_, q.una);
}

/// Row w + 1 is w in the next cycle.
void TxInflight::next_row(uint16_t qp) {
  w_ = block_add(w_, 1);
  n_ = map_.rdata();
  win_.read(n_);
  read_map(qp, block_add(w_, 1));
}

/// The rows of a pass over the window begin.
void TxInflight::rows_from(State state) {
  n_ = map_.rdata();
  win_.read(n_);
  read_map(op_qp_, block_add(w_, 1));
  state_ = state;
}

void TxInflight::walk() {
  Qp& q = qp(op_qp_);
  const uint32_t p0 = block_psn(w_);
  WinBlock row = win_.rdata();
  const auto found = step_row(row.psns, row.ages, p0, q.una, lim_, q.marks.mark[0]);
  win_.write(n_, row);
  spared_ = spared_ || found.spared != 0;
  if (!seen_ && found.missing != 0) {
    seen_ = true;
    old_ = found.oldest_lost();
    low_ = lowest_psn(p0, found.missing);
  }
  if (found.lost != 0 && !any_) {
    any_ = true;
    first_ = lowest_psn(p0, found.lost);
  }
  if (rows_left(q)) {
    next_row(op_qp_);
    return;
  }
  state_ = State::Idle;
  walk_end(q);
}

/// Nothing of the QP is in flight: what waits in this row has left it.
void TxInflight::told() {
  const Qp& q = qp(op_qp_);
  WinBlock row = win_.rdata();
  all_left(row.psns);
  win_.write(n_, row);
  if (rows_left(q)) {
    next_row(op_qp_);
  } else {
    state_ = State::Idle;
  }
}

/// The step of the timer has seen the whole window.
void TxInflight::walk_end(Qp& q) {
  if (seen_) q.low = low_;
  if (old_) {  // what counts is the oldest packet
    if (retry_exhausted(q.retry, q.limits)) {
      fail(q, op_qp_, CqStatus::RetryExceeded);
      return;
    }
    q.retry = retry_next(q.retry);
  }
  if (any_) {  // otherwise all that is out waits for its turn, or is spared
    enlist(q, op_qp_);
    q.rtx_lo = psn_first(q.rtx_lo, first_);
    pulses_next_.rto = true;
  }
  // Nothing of the QP is in flight any more, whatever the account says.
  if (q.cc && q.fly.bytes() != 0 && q.marks.mark[0] == q.nxt && !spared_) {
    tell(q, CcEvent::Loss, q.fly.take_all());
    w_ = psn_block(q.una);
    read_map(op_qp_, w_);
    state_ = State::Told0;
  }
  q.marks.shift(q.nxt);
  q.start = tick_;
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx_inflight.hpp"

#include <bit>

#include "gen/csr.hpp"
#include "gen/headers.hpp"
#include "protocol/ev_set.hpp"
#include "protocol/segment.hpp"

namespace mrc {

namespace {

uint32_t lowest(uint32_t word, uint64_t mask) { return word + static_cast<uint32_t>(std::countr_zero(mask)); }

}  // namespace

TxInflight::TxInflight(const Preset& preset, const In& in, const Out& out)
    : planes_(preset.num_planes),
      qp_mask_(preset.num_qps - 1),
      max_mpr_(preset.max_mpr),
      win_rows_(preset.max_mpr / 64),
      tick_cycles_(preset.tick_cycles),
      in_(in),
      out_(out),
      win_(std::size_t{preset.num_qps} * win_rows_),
      recs_(std::size_t{preset.num_qps} * preset.max_mpr),
      qps_(preset.num_qps),
      list_(preset.num_qps) {}

void TxInflight::step(const CfgBus& cfg, const CsrOut& csr) {
  ack_.begin(cfg);
  reclaim();
  switch (state_) {
    case State::Idle:
      idle(cfg);
      break;
    case State::Init:
      init();
      break;
    case State::Rec:
      record();
      break;
    case State::Sack0:
      sack0(csr.reorder);
      break;
    case State::Sack1:
      sack1(csr);
      break;
    case State::Nack:
      nack(csr);
      break;
    case State::Ack:
      semantic_ack();
      break;
    case State::Retx0:
      retx0();
      break;
    case State::Retx1:
      retx1();
      break;
    case State::RetxW:
      retx_wait();
      break;
    case State::Walk:
      walk();
      break;
    case State::Same0:
      same0();
      break;
    case State::Same1:
      same1();
      break;
  }
  // Counters last: the states above use this cycle's values.
  if (div_ == 15) {
    visit_due_ = true;
    hold_ = false;
  }
  div_ = (div_ + 1) & 15u;
  if (++tick_count_ == tick_cycles_) {
    tick_count_ = 0;
    ++tick_;
  }
}

/// Contexts and states may have to give bytes back.
bool TxInflight::cfg_due(const CfgBus& cfg) const {
  if (!ack_.pending(cfg)) return false;
  return (!cfg.is(CfgTable::QpCtx) && !cfg.is(CfgTable::QpState)) || out_.ccev.free();
}

void TxInflight::idle(const CfgBus& cfg) {
  if (cfg_due(cfg)) {
    configure(cfg);
    return;
  }
  const bool ccev = out_.ccev.free();
  const auto rec_due = [&] { return ccev || (qp(in_.rec.head().qp).live && !in_.rec.head().voided); };
  const bool request[4] = {in_.rec.has() && rec_due(),
                           in_.ctl.has() && out_.upd.free() && out_.fb.free() && out_.pres.free() && ccev &&
                               out_.okev.free() && out_.qperr.free(),
                           !list_.empty() && out_.retx.free() && out_.fb.free() && out_.rask.free() && ccev && !hold_,
                           visit_due_ && out_.upd.free() && ccev && out_.qperr.free()};
  if (!(request[0] | request[1] | request[2] | request[3])) return;
  const int grant = arb_.pick([&](unsigned i) { return request[i]; });
  arb_.take(static_cast<unsigned>(grant));
  switch (grant) {
    case 0:
      rec_ = in_.rec.head();
      in_.rec.pop();
      win_.read(win_row(rec_.qp, rec_.psn));
      state_ = State::Rec;
      break;
    case 1:
      take_ctl();
      break;
    case 2:
      op_qp_ = list_.head();
      win_.read(win_row(op_qp_, qp(op_qp_).rtx_lo));
      state_ = State::Retx0;
      break;
    default:
      visit();
      break;
  }
}

/// Blocks of 16 PSNs that lie before una, or belong to a QP that is over: one per cycle.
void TxInflight::reclaim() {
  if (lost_blocks_ != 0) {
    --lost_blocks_;
    pulses_next_.freed = true;
    return;
  }
  reclaim_qp_ = (reclaim_qp_ + 1) & qp_mask_;
  Qp& q = qp(reclaim_qp_);
  if (q.held == 0 || (q.live && q.base == q.una >> 4)) return;
  q.base = (q.base + 1) & 0xf'ffffu;
  --q.held;
  pulses_next_.freed = true;
}

void TxInflight::configure(const CfgBus& cfg) {
  Qp& q = qp(cfg.index);
  if (cfg.is(CfgTable::QpCtx)) {
    give_back(q);
    lost_blocks_ += q.held;
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
    q.una = q.nxt = q.rtx_lo = row.sq_psn;
    q.hi = psn_add(row.sq_psn, -1);
    q.msn_done = q.msn_sent = row.msn;
    start_timer(q);
    q.live = row.state == static_cast<uint8_t>(QpState::Rts);
    q.fresh = true;
    init_qp_ = cfg.index & qp_mask_;
    init_row_ = 0;
    state_ = State::Init;
    return;
  }
  if (cfg.is(CfgTable::QpState) && (cfg.data[0] & 7u) != static_cast<uint32_t>(QpState::Rts)) {
    q.live = false;
    give_back(q);
  }
  ack_.done();
}

void TxInflight::init() {
  win_.write(win_row(init_qp_, 64 * init_row_), WinRow{});
  if (++init_row_ == win_rows_) {
    ack_.done();
    state_ = State::Idle;
  }
}

void TxInflight::take_ctl() {
  ctl_ = in_.ctl.head();
  in_.ctl.pop();
  if (!qp(ctl_.qp).live) return;
  recs_.read(recs_row(ctl_.qp, ctl_.psn));
  switch (ctl_.kind) {
    case CtlKind::Sack:
      win_.read(win_row(ctl_.qp, ctl_.base));
      state_ = State::Sack0;
      break;
    case CtlKind::Nack:
      win_.read(win_row(ctl_.qp, ctl_.psn));
      state_ = State::Nack;
      break;
    case CtlKind::Ack:
      state_ = State::Ack;
      break;
    case CtlKind::Endpoint:  // not for this block: rx_check sends none
      break;
  }
}

void TxInflight::tell(const Qp& q, CcEvent kind, uint32_t bytes, uint8_t reason) {
  out_.ccev.load({.cc = q.dest, .kind = static_cast<uint8_t>(kind), .bytes = bytes, .reason = reason});
}

void TxInflight::give_back(Qp& q) {
  if (q.cc && q.fly.bytes() != 0) tell(q, CcEvent::Nack, q.fly.take_all());
}

void TxInflight::fail(Qp& q, uint16_t index, CqStatus status) {
  q.live = false;
  fail_inc_next_ = true;
  out_.upd.load(
      {.qp = index, .una = q.una, .ack = true, .msn = q.msn_done, .syndrome = static_cast<uint8_t>(status), .mpr = 0});
  out_.qperr.load({.qp = index, .status = status});
  give_back(q);
}

void TxInflight::visit() {
  const auto index = static_cast<uint16_t>(visit_qp_);
  Qp& q = qps_[visit_qp_];
  visit_due_ = false;
  visit_qp_ = (visit_qp_ + 1) & qp_mask_;
  if (!q.live || tick_ - q.tmr_start < retry_interval(q.timeout, q.retry, q.limits)) return;
  if (!q.outstanding()) {  // done, but bytes have drifted
    if (q.fly.bytes() != 0) tell(q, CcEvent::Ack, q.fly.take_all());
    return;
  }
  if (q.una == q.nxt) {  // all arrived, a semantic ACK is missing: the newest packet again asks for it
    if (retry_exhausted(q.retry, q.limits)) {
      fail(q, index, CqStatus::RetryExceeded);
      return;
    }
    q.retry = retry_next(q.retry);
    q.dup = true;
    enlist(q, index);
    start_timer(q);
    rto_inc_next_ = true;
    return;
  }
  op_qp_ = index;
  op_psn_ = psn_word(q.una);
  any_ = fresh_ = false;
  win_.read(win_row(index, q.una));
  state_ = State::Walk;
}

void TxInflight::record() {
  state_ = State::Idle;
  Qp& q = qp(rec_.qp);
  if (rec_.voided) {  // ordered, and then not needed; the flight of a QP that is not live has been given back
    if (!q.live || !q.cc) return;
    tell(q, CcEvent::Nack, q.fly.take(rec_.size));
    return;
  }
  const bool begins = !rec_.rtx && (rec_.psn % 16 == 0 || q.fresh);
  if (!rec_.rtx) q.fresh = false;
  if (!q.live) {  // asked for, sent, and nobody waits for it
    if (begins) ++lost_blocks_;
    if (q.cc && !rec_.rtx) tell(q, CcEvent::Nack, rec_.size);
    return;
  }
  recs_.write(recs_row(rec_.qp, rec_.psn), {rec_.msn, rec_.ev_idx, rec_.idx, rec_.size, rec_.rtx != 0, rec_.row});
  if (rec_.rtx) return;
  if (begins) {
    if (q.held++ == 0) q.base = rec_.psn >> 4;
  }
  if (q.cc) q.fly.enter(rec_.size);
  WinRow row = win_.rdata();
  const uint64_t keep = ~(uint64_t{1} << (rec_.psn & 63u));
  row.nacked &= keep;
  row.rtxd &= keep;
  row.pend &= keep;
  row.sacked &= keep;
  win_.write(win_row(rec_.qp, rec_.psn), row);
  const bool first = !q.outstanding();
  q.nxt = psn_add(rec_.psn, 1);
  if (rec_.last) q.msn_sent = msn_add(rec_.msn, 1);
  if (first) start_timer(q);
}

void TxInflight::sack0(unsigned reorder) {
  const Qp& q = qp(ctl_.qp);
  state_ = State::Idle;
  if (!cum_valid(psn_add(ctl_.cack, 1), q.una, q.nxt)) return;
  view_ = sack_view(ctl_, q.una, q.nxt, q.hi, reorder);
  const uint32_t p0 = psn_word(ctl_.base);
  const unsigned s = ctl_.base & 63u;
  WinRow row = win_.rdata();
  canc_ = cancelled_losses(row, p0, ctl_.bitmap << s, view_);
  const uint64_t lost = sack_row(row, p0, ctl_.bitmap << s, ~uint64_t{0} << s, view_);
  win_.write(win_row(ctl_.qp, p0), row);
  any_ = lost != 0;
  if (any_) first_ = lowest(p0, lost);
  ev_idx_keep_ = recs_.rdata().ev_idx;
  rtx_keep_ = recs_.rdata().rtx;
  win_.read(win_row(ctl_.qp, p0 + 64));
  state_ = State::Sack1;
}

void TxInflight::sack1(const CsrOut& csr) {
  state_ = State::Idle;
  Qp& q = qp(ctl_.qp);
  const unsigned s = ctl_.base & 63u;
  if (s != 0) {
    const uint32_t p1 = psn_add(psn_word(ctl_.base), 64);
    const uint64_t got = ctl_.bitmap >> (64 - s);
    WinRow row = win_.rdata();
    canc_ += cancelled_losses(row, p1, got, view_);
    const uint64_t lost = sack_row(row, p1, got, low_mask(s), view_);
    win_.write(win_row(ctl_.qp, p1), row);
    if (lost != 0 && !any_) {
      any_ = true;
      first_ = lowest(p1, lost);
    }
  }
  q.rtx_lo = psn_follow(q.rtx_lo, view_.una);
  if (any_) {
    enlist(q, ctl_.qp);
    q.rtx_lo = psn_first(q.rtx_lo, first_);
  }
  const uint32_t below = psn_add(view_.una, -1);
  q.hi = psn_before(view_.hi, below) ? below : view_.hi;
  const bool moved = view_.una != q.una;
  const bool new_mpr = q.dyn_mpr && ctl_.mpr != 0 && ctl_.mpr != q.mprv && !psn_before(psn_add(ctl_.cack, 1), q.una);
  if (moved) {
    q.una = view_.una;
    q.retry = 0;
    start_timer(q);
  }
  if (new_mpr) q.mprv = ctl_.mpr;
  if (moved || new_mpr) {
    const uint8_t mpr = new_mpr ? ctl_.mpr : uint8_t{0};
    out_.upd.load({.qp = ctl_.qp, .una = q.una, .ack = false, .msn = 0, .syndrome = 0, .mpr = mpr});
  }
  const bool of_packet = !ctl_.pr && recent(q, ctl_.psn);
  if (ctl_.pr) out_.pres.load({.qp = ctl_.qp, .id = static_cast<uint16_t>(ctl_.psn), .m = ctl_.m});
  if (of_packet && ctl_.m != 0) {
    out_.fb.load({.qp = ctl_.qp, .ev_idx = ev_idx_keep_, .entropy = ctl_.entropy, .kind = ctl_.m});
  } else if (of_packet && !rtx_keep_) {
    out_.okev.load({.dest = q.dest, .plane = static_cast<uint8_t>(ev_idx_keep_ & (planes_ - 1)), .ev = ctl_.entropy});
  }
  acknowledge(q, of_packet && rtt_valid(q, rtx_keep_, csr), csr);
  if (csr.same_ev && of_packet && !rtx_keep_ && same_ev_asks(ctl_.psn, q.una, q.nxt)) {
    recs_.read(recs_row(ctl_.qp, q.una));
    state_ = State::Same0;
  }
}

/// What SACK ctl_ means for the flight.
void TxInflight::acknowledge(Qp& q, bool sample, const CsrOut& csr) {
  const RcvdNews news = rcvd_news(ctl_.rcvd, q.rcvdl);
  if (!news.late) q.rcvdl = ctl_.rcvd;
  if (!q.cc) return;
  uint32_t n = 0;
  if (q.una == q.nxt) {
    n = q.fly.bytes();
  } else if (!news.late) {
    n = acked_bytes(q.fly.bytes(), news.units, canc_, nominal_full(q.mtu, q.ts, csr.payload_bytes));
  }
  q.fly.take(n);
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
  state_ = State::Idle;
  if (recs_.rdata().ev_idx != ev_idx_keep_) return;
  win_.read(win_row(ctl_.qp, qp(ctl_.qp).una));
  state_ = State::Same1;
}

void TxInflight::same1() {
  state_ = State::Idle;
  Qp& q = qp(ctl_.qp);
  WinRow row = win_.rdata();
  if (!same_ev_lost(row, q.una)) return;
  win_.write(win_row(ctl_.qp, q.una), row);
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
  if (nack_counts(ctl_.reason) && ctl_.psn == q.una && q.una != q.nxt) {
    if (retry_exhausted(q.retry, q.limits)) {
      fail(q, ctl_.qp, CqStatus::RetryExceeded);
      return;
    }
    q.retry = retry_next(q.retry);
  }
  const Sent& sent = recs_.rdata();
  WinRow row = win_.rdata();
  const uint64_t bit = uint64_t{1} << (ctl_.psn & 63u);
  if (in_window(ctl_.psn, q.una, q.nxt) && !((row.sacked | row.pend) & bit)) {
    if (q.cc) {
      const bool sample = rtt_valid(q, sent.rtx, csr);
      out_.ccev.load({.cc = q.dest,
                      .kind = static_cast<uint8_t>(CcEvent::Nack),
                      .bytes = q.fly.take(sent.size),
                      .rtt_valid = sample,
                      .rtt = sample ? rtt(csr) : uint16_t{0},
                      .reason = ctl_.reason});
    }
    row.pend |= bit;
    row.nacked |= bit;
    win_.write(win_row(ctl_.qp, ctl_.psn), row);
    enlist(q, ctl_.qp);
    q.rtx_lo = psn_first(q.rtx_lo, ctl_.psn);
  }
  if (ctl_.reason == static_cast<uint8_t>(wire::NackReason::Trimmed) && recent(q, ctl_.psn)) {
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
    q.retry = 0;
    start_timer(q);
  }
  if (changed || !good) {
    out_.upd.load({.qp = ctl_.qp, .una = una, .ack = true, .msn = ctl_.msn, .syndrome = ctl_.reason, .mpr = 0});
  }
  if (!good) {
    q.live = false;
    out_.qperr.load({.qp = ctl_.qp, .status = static_cast<CqStatus>(ctl_.reason)});
    give_back(q);
  } else if (q.cc && una == q.nxt && q.fly.bytes() != 0) {
    tell(q, CcEvent::Ack, q.fly.take_all());
  }
}

void TxInflight::retx0() {
  state_ = State::Idle;
  Qp& q = qp(op_qp_);
  if (!q.live) {
    q.rtx = q.dup = false;
    list_.pop();
    return;
  }
  const uint32_t w0 = psn_word(q.rtx_lo);
  WinRow row = win_.rdata();
  const uint64_t c = retx_row(row, w0, q.rtx_lo, q.nxt);
  dup_ = c == 0;
  if (c != 0) {
    row_keep_ = row;
    op_psn_ = lowest(w0, c);
    const uint64_t bit = uint64_t{1} << (op_psn_ & 63u);
    loss_ = (row.nacked & bit) == 0;
    row.pend &= ~bit;
    const bool late = sent_again_late(tick_ - q.tmr_start, retry_interval(q.timeout, q.retry, q.limits));
    row.nacked = late ? row.nacked | bit : row.nacked & ~bit;
    row.rtxd |= bit;
    win_.write(win_row(op_qp_, w0), row);
    q.rtx_lo = psn_add(op_psn_, 1);
  } else {
    const uint32_t next = psn_add(w0, 64);
    if (psn_dist(next, q.una) < psn_dist(q.nxt, q.una)) {
      q.rtx_lo = next;
      return;
    }
    q.rtx_lo = q.nxt;
    if (!q.dup) {
      q.rtx = false;
      list_.pop();
      return;
    }
    q.dup = loss_ = false;
    op_psn_ = psn_add(q.nxt, -1);
  }
  recs_.read(recs_row(op_qp_, op_psn_));
  list_.pop();
  list_.push(op_qp_);
  state_ = State::Retx1;
}

void TxInflight::retx1() {
  state_ = State::Idle;
  Qp& q = qp(op_qp_);
  const Sent& s = recs_.rdata();
  // A gap or the timer, not a NACK: one loss is enough to take the EV out of use.
  if (loss_) out_.fb.load({.qp = op_qp_, .ev_idx = s.ev_idx, .entropy = 0, .kind = kFbLoss});
  if (!q.cc) {
    order();
    return;
  }
  if (loss_) tell(q, CcEvent::Loss, q.fly.take(s.size));
  out_.rask.load({.cc = q.dest, .min = s.size, .bytes = s.size});
  state_ = State::RetxW;
}

/// Orders the retransmission of op_psn_ as recs has it.
void TxInflight::order() {
  const Sent& s = recs_.rdata();
  out_.retx.load(
      {.qp = op_qp_, .psn = op_psn_, .msn = s.msn, .row = s.row, .idx = s.idx, .avoid_ev = s.ev_idx, .size = s.size});
  rtx_inc_next_ = true;
}

void TxInflight::retx_wait() {
  if (!in_.rans.has()) return;
  const bool ok = in_.rans.head().bytes != 0;
  in_.rans.pop();
  state_ = State::Idle;
  Qp& q = qp(op_qp_);
  if (ok) {
    order();
    q.fly.enter(recs_.rdata().size);
    return;
  }
  hold_ = true;
  if (dup_) {
    q.dup = true;
    return;
  }
  row_keep_.nacked |= uint64_t{1} << (op_psn_ & 63u);  // its loss is accounted for
  win_.write(win_row(op_qp_, op_psn_), row_keep_);
  q.rtx_lo = op_psn_;
}

void TxInflight::walk() {
  Qp& q = qp(op_qp_);
  WinRow row = win_.rdata();
  const uint64_t c = timer_row(row, op_psn_, q.una, q.nxt, q.tmr_psn);
  fresh_ = fresh_ || fresh_row(row, op_psn_, q.una, q.nxt) != 0;
  row.nacked &= row.pend;
  row.pend |= c;
  win_.write(win_row(op_qp_, op_psn_), row);
  if (c != 0 && !any_) {
    any_ = true;
    first_ = lowest(op_psn_, c);
  }
  const uint32_t next = psn_add(op_psn_, 64);
  if (psn_dist(next, q.una) < psn_dist(q.nxt, q.una)) {
    op_psn_ = next;
    win_.read(win_row(op_qp_, next));
    return;
  }
  state_ = State::Idle;
  if (any_) {  // otherwise all that is out waits for its turn: no retry
    if (retry_exhausted(q.retry, q.limits)) {
      fail(q, op_qp_, CqStatus::RetryExceeded);
      return;
    }
    q.retry = retry_next(q.retry);
    enlist(q, op_qp_);
    q.rtx_lo = psn_first(q.rtx_lo, first_);
  }
  // Nothing of the QP is in flight any more, whatever the account says.
  if (q.tmr_psn == q.nxt && !fresh_ && q.fly.bytes() != 0) tell(q, CcEvent::Loss, q.fly.take_all());
  start_timer(q);
  rto_inc_next_ = true;
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx_inflight.hpp"

#include <bit>

#include "gen/csr.hpp"
#include "gen/headers.hpp"
#include "protocol/ev_set.hpp"

namespace mrc {

namespace {

uint32_t lowest(uint32_t word, uint64_t mask) { return word + static_cast<uint32_t>(std::countr_zero(mask)); }

RetryLimits retry_limits(const CsrOut& csr) { return {.linear = csr.retry_linear, .exponential = csr.retry_exp}; }

}  // namespace

TxInflight::TxInflight(const Preset& preset, Stream<Rec>& rec, Stream<Ctl>& ctl, Stream<Retx>& retx, Stream<Upd>& upd,
                       Stream<Fb>& fb, Stream<Pres>& pres)
    : qp_mask_(preset.num_qps - 1),
      max_mpr_(preset.max_mpr),
      win_rows_(preset.max_mpr / 64),
      tick_cycles_(preset.tick_cycles),
      rec_in_(rec),
      ctl_in_(ctl),
      retx_(retx),
      upd_(upd),
      fb_(fb),
      pres_(pres),
      win_(std::size_t{preset.num_qps} * win_rows_),
      recs_(std::size_t{preset.num_qps} * preset.max_mpr),
      qps_(preset.num_qps),
      list_(preset.num_qps) {}

void TxInflight::step(const CfgBus& cfg, const CsrOut& csr) {
  ack_.begin(cfg);
  switch (state_) {
    case State::Idle:
      idle(cfg, csr);
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
      sack1();
      break;
    case State::Nack:
      nack(retry_limits(csr));
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
    case State::Walk:
      walk();
      break;
  }
  // Counters last: the states above use this cycle's values.
  if (div_ == 15) visit_due_ = true;
  div_ = (div_ + 1) & 15u;
  if (++tick_count_ == tick_cycles_) {
    tick_count_ = 0;
    ++tick_;
  }
}

void TxInflight::idle(const CfgBus& cfg, const CsrOut& csr) {
  if (ack_.pending(cfg)) {
    configure(cfg);
    return;
  }
  const bool request[4] = {rec_in_.has(), ctl_in_.has() && upd_.free() && fb_.free() && pres_.free(),
                           !list_.empty() && retx_.free() && fb_.free(), visit_due_ && upd_.free()};
  if (!(request[0] | request[1] | request[2] | request[3])) return;
  const int grant = arb_.pick([&](unsigned i) { return request[i]; });
  arb_.take(static_cast<unsigned>(grant));
  switch (grant) {
    case 0:
      rec_ = rec_in_.head();
      rec_in_.pop();
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
      visit(csr.rto, retry_limits(csr));
      break;
  }
}

void TxInflight::configure(const CfgBus& cfg) {
  Qp& q = qp(cfg.index);
  if (cfg.is(CfgTable::QpCtx)) {
    const auto row = csr::TblQpCtx::unpack(cfg.data.data());
    q.una = q.nxt = row.sq_psn;
    q.hi = psn_add(row.sq_psn, -1);
    q.msn_done = q.msn_sent = row.msn;
    q.rtx_lo = row.sq_psn;
    q.dup = false;
    q.retry = 0;
    start_timer(q);
    q.live = row.state == static_cast<uint8_t>(QpState::Rts);
    init_qp_ = cfg.index & qp_mask_;
    init_row_ = 0;
    state_ = State::Init;
    return;
  }
  if (cfg.is(CfgTable::QpState)) q.live = (cfg.data[0] & 7u) == static_cast<uint32_t>(QpState::Rts);
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
  ctl_ = ctl_in_.head();
  ctl_in_.pop();
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
  }
}

void TxInflight::fail(Qp& q, uint16_t index, CqStatus status) {
  q.live = false;
  fail_inc_next_ = true;
  upd_.load({.qp = index, .una = q.una, .ack = true, .msn = q.msn_done, .syndrome = static_cast<uint8_t>(status)});
}

void TxInflight::visit(unsigned rto, RetryLimits limits) {
  const auto index = static_cast<uint16_t>(visit_qp_);
  Qp& q = qps_[visit_qp_];
  visit_due_ = false;
  visit_qp_ = (visit_qp_ + 1) & qp_mask_;
  if (!q.live || (q.una == q.nxt && q.msn_done == q.msn_sent)) return;
  if (tick_ - q.tmr_start < retry_interval(rto, q.retry, limits)) return;
  if (retry_exhausted(q.retry, limits)) {
    fail(q, index, CqStatus::RetryExceeded);
    return;
  }
  q.retry = retry_next(q.retry);
  if (q.una == q.nxt) {  // all arrived, a semantic ACK is missing: the newest packet again asks for it
    q.dup = true;
    enlist(q, index);
    start_timer(q);
    rto_inc_next_ = true;
    return;
  }
  op_qp_ = index;
  op_psn_ = psn_word(q.una);
  any_ = false;
  win_.read(win_row(index, q.una));
  state_ = State::Walk;
}

void TxInflight::record() {
  state_ = State::Idle;
  recs_.write(recs_row(rec_.qp, rec_.psn), {rec_.msn, rec_.ev_idx, rec_.idx});
  if (rec_.rtx) return;
  Qp& q = qp(rec_.qp);
  WinRow row = win_.rdata();
  const uint64_t keep = ~(uint64_t{1} << (rec_.psn & 63u));
  row.nacked &= keep;
  row.rtxd &= keep;
  row.pend &= keep;
  row.sacked &= keep;
  win_.write(win_row(rec_.qp, rec_.psn), row);
  const bool first = q.una == q.nxt && q.msn_done == q.msn_sent;
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
  const uint64_t lost = sack_row(row, p0, ctl_.bitmap << s, ~uint64_t{0} << s, view_);
  win_.write(win_row(ctl_.qp, p0), row);
  any_ = lost != 0;
  if (any_) first_ = lowest(p0, lost);
  ev_idx_keep_ = recs_.rdata().ev_idx;
  win_.read(win_row(ctl_.qp, p0 + 64));
  state_ = State::Sack1;
}

void TxInflight::sack1() {
  state_ = State::Idle;
  Qp& q = qp(ctl_.qp);
  const unsigned s = ctl_.base & 63u;
  if (s != 0) {
    const uint32_t p1 = psn_add(psn_word(ctl_.base), 64);
    WinRow row = win_.rdata();
    const uint64_t lost = sack_row(row, p1, ctl_.bitmap >> (64 - s), low_mask(s), view_);
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
  if (view_.una != q.una) {
    q.una = view_.una;
    q.retry = 0;
    start_timer(q);
    upd_.load({.qp = ctl_.qp, .una = q.una, .ack = false, .msn = 0, .syndrome = 0});
  }
  if (ctl_.pr) {
    pres_.load({.qp = ctl_.qp, .id = static_cast<uint16_t>(ctl_.psn), .m = ctl_.m});
  } else if (ctl_.m != 0 && psn_dist(q.nxt, ctl_.psn) - 1u < max_mpr_) {
    fb_.load({.qp = ctl_.qp, .ev_idx = ev_idx_keep_, .entropy = ctl_.entropy, .kind = ctl_.m});
  }
}

void TxInflight::nack(RetryLimits limits) {
  state_ = State::Idle;
  Qp& q = qp(ctl_.qp);
  if (ctl_.reason == static_cast<uint8_t>(wire::NackReason::UnexpEvent)) {
    fail(q, ctl_.qp, CqStatus::RemEvent);
    return;
  }
  if (nack_counts(ctl_.reason) && ctl_.psn == q.una && q.una != q.nxt) {
    if (retry_exhausted(q.retry, limits)) {
      fail(q, ctl_.qp, CqStatus::RetryExceeded);
      return;
    }
    q.retry = retry_next(q.retry);
  }
  WinRow row = win_.rdata();
  const uint64_t bit = uint64_t{1} << (ctl_.psn & 63u);
  if (in_window(ctl_.psn, q.una, q.nxt) && !((row.sacked | row.pend) & bit)) {
    row.pend |= bit;
    row.nacked |= bit;
    win_.write(win_row(ctl_.qp, ctl_.psn), row);
    enlist(q, ctl_.qp);
    q.rtx_lo = psn_first(q.rtx_lo, ctl_.psn);
  }
  if (ctl_.reason == static_cast<uint8_t>(wire::NackReason::Trimmed) && psn_dist(q.nxt, ctl_.psn) - 1u < max_mpr_) {
    fb_.load({.qp = ctl_.qp, .ev_idx = recs_.rdata().ev_idx, .entropy = ctl_.entropy, .kind = 1});
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
    upd_.load({.qp = ctl_.qp, .una = una, .ack = true, .msn = ctl_.msn, .syndrome = ctl_.reason});
  }
  if (!good) q.live = false;
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
  if (c != 0) {
    op_psn_ = lowest(w0, c);
    const uint64_t bit = uint64_t{1} << (op_psn_ & 63u);
    loss_ = (row.nacked & bit) == 0;
    row.pend &= ~bit;
    row.nacked &= ~bit;
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
  const Sent& s = recs_.rdata();
  retx_.load({.qp = op_qp_, .psn = op_psn_, .msn = s.msn, .idx = s.idx, .avoid_ev = s.ev_idx});
  // A gap or the timer, not a NACK: one loss is enough to take the EV out of use.
  if (loss_) fb_.load({.qp = op_qp_, .ev_idx = s.ev_idx, .entropy = 0, .kind = kFbLoss});
  rtx_inc_next_ = true;
}

void TxInflight::walk() {
  Qp& q = qp(op_qp_);
  WinRow row = win_.rdata();
  const uint64_t c = timer_row(row, op_psn_, q.una, q.nxt, q.tmr_psn);
  if (c != 0) {
    row.pend |= c;
    win_.write(win_row(op_qp_, op_psn_), row);
    if (!any_) {
      any_ = true;
      first_ = lowest(op_psn_, c);
    }
  }
  const uint32_t next = psn_add(op_psn_, 64);
  if (psn_dist(next, q.una) < psn_dist(q.nxt, q.una)) {
    op_psn_ = next;
    win_.read(win_row(op_qp_, next));
    return;
  }
  if (any_) {
    enlist(q, op_qp_);
    q.rtx_lo = psn_first(q.rtx_lo, first_);
  }
  start_timer(q);
  rto_inc_next_ = true;
  state_ = State::Idle;
}

}  // namespace mrc

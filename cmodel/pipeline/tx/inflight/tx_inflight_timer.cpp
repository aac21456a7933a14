// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/inflight/tx_inflight_timer.hpp"

namespace mrc::inflight {

namespace {

/// Ticks that a QP whose ACK has come leaves for the SACK of the same packets: 1 us.
constexpr uint32_t kSackTicks = 8;

}  // namespace

void Timer::visit(QpIndex index, const CsrOut& csr, const Quiet& quiet) {
  Qp& q = s_.qps[index];
  const uint32_t since = s_.now.tick - q.start;
  if (!q.busy()) {
    q.armed = false;
    q.queries = 0;
  } else if (!q.armed) {
    q.armed = true;
    q.restart(s_.now.tick);
  } else if (!q.outstanding()) {  // an ACK without a SACK, or rounding
    if (since >= kSackTicks) s_.report.event(q, CcEvent::Ack, take_early(q.fly, q.owed));
  } else {
    bool due = !csr.silence_wait && query_due(quiet.pause, s_.now.tick, q.last, quiet.first, q.since);
    if (since >= q.step()) {
      due = due || (csr.silence_wait && q.marks.first());
      if (q.marks.step(q.nxt)) {
        expired(q, index);
        return;
      }
      q.start = s_.now.tick;
    }
    if (due && !csr.state_silent) query(q, index);
  }
}

/// The QP asks for its peer's state, if there is room.
void Timer::query(Qp& q, QpIndex index) {
  if (!s_.report.out.stateq.free()) return;
  s_.report.out.stateq.load({.qp = index});
  s_.report.pulses_next.state = true;
  q.since = static_cast<uint16_t>(s_.now.tick & kStampMask);
  q.queries = static_cast<uint8_t>(std::min(q.queries + 1u, kMostQuestions));
}

/// The oldest mark is an interval old.
void Timer::expired(Qp& q, QpIndex index) {
  if (q.una == q.nxt) {  // all arrived, a semantic ACK is missing: the newest packet again asks for it
    if (retry_exhausted(q.retry, q.limits)) {
      s_.qps.fail(q, index, CqStatus::RetryExceeded);
      return;
    }
    s_.report.give_back(q);
    q.retry = retry_next(q.retry);
    q.dup = true;
    s_.qps.enlist(q, index);
    q.restart(s_.now.tick);
    s_.report.pulses_next.rto = true;
    return;
  }
  MRC_CHECK(q.marks.in_order(q.una, q.nxt), "a mark is before una or before an older one");
  s_.now.qp = index;
  s_.now.lim = q.nxt;
  s_.now.block = psn_block(q.una);
  any_ = old_ = seen_ = spared_ = out_ = false;
  s_.blocks.read_number(index, s_.now.block);
  s_.now.state = State::Walk0;
}

void Timer::walk(const CsrOut& csr) {
  Qp& q = s_.qps[s_.now.qp];
  const uint32_t p0 = block_psn(s_.now.block);
  MRC_CHECK(q.live, "a walk over the window of a QP that is over");
  MRC_CHECK(block_between(s_.now.block, psn_block(q.una), psn_block(psn_add(s_.now.lim, -1))),
            "a walk leaves the window");
  WinBlock row = s_.blocks.row();
  const auto found = step_row(row.psns, row.ages, p0, q.una, s_.now.lim, q.marks.mark[0], !csr.time_wait);
  s_.blocks.write_row(row);
  spared_ = spared_ || found.spared != 0;
  out_ = out_ || (found.missing & ~row.psns.pend) != 0;
  if (!seen_ && found.missing != 0) {
    seen_ = true;
    old_ = found.oldest_lost();
    low_ = lowest_psn(p0, found.missing);
  }
  if (found.lost != 0 && !any_) {
    any_ = true;
    first_ = lowest_psn(p0, found.lost);
  }
  if (s_.rows_left(q)) {
    s_.next_row(s_.now.qp);
    return;
  }
  s_.now.state = State::Idle;
  walk_end(q);
}

/// The step of the timer has seen the whole window.
void Timer::walk_end(Qp& q) {
  const QpIndex index = s_.now.qp;
  MRC_CHECK(!old_ || (any_ && seen_), "the oldest packet is lost, and none is");
  MRC_CHECK(!any_ || in_window(first_, q.una, s_.now.lim), "a packet is lost that was not out");
  if (seen_) q.low = low_;
  if (old_) {  // what counts is the oldest packet
    if (retry_exhausted(q.retry, q.limits)) {
      s_.qps.fail(q, index, CqStatus::RetryExceeded);
      return;
    }
    q.retry = retry_next(q.retry);
  }
  if (any_) {  // otherwise all that is out waits for its turn, or is spared
    s_.qps.enlist_lost(q, index);
    q.rtx_lo = psn_first(q.rtx_lo, first_);
    s_.report.pulses_next.rto = true;
  }
  // Nothing of the QP is in flight any more, whatever the account says.
  if (q.cc && q.fly.bytes() != 0 && q.marks.mark[0] == q.nxt && !spared_) {
    MRC_CHECK(!out_, "the controller is told that nothing is out, and something is");
    s_.report.event(q, CcEvent::Loss, q.fly.take_all());
    s_.now.block = psn_block(q.una);
    s_.blocks.read_number(index, s_.now.block);
    s_.now.state = State::Notified0;
  }
  q.marks.shift(q.nxt);
  q.start = s_.now.tick;
}

void Timer::notified() {
  WinBlock row = s_.blocks.row();
  all_left(row.psns);
  s_.blocks.write_row(row);
  if (s_.rows_left(s_.qps[s_.now.qp])) {
    s_.next_row(s_.now.qp);
  } else {
    s_.now.state = State::Idle;
  }
}

}  // namespace mrc::inflight

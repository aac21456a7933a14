// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/inflight/tx_inflight_answer.hpp"

#include "pipeline/lib/convert.hpp"

namespace mrc::inflight {

void Answer::ctl0(const CsrOut& csr) {
  s_.now.took = Report::took(s_.now, csr);
  own_ = s_.qps[s_.now.ctl.qp].owned(s_.now.ctl.psn);
  s_.blocks.read_row();
  s_.blocks.read_sent_of_row(s_.now.ctl.psn);
  s_.now.state = State::Ctl1;
}

/// False if the QP has failed.
bool Answer::count_retry(Qp& q, const WinBlock& row, bool in) {
  const Ctl& ctl = s_.now.ctl;
  const bool missing = in && (row.psns.sacked & psn_bit<uint16_t>(ctl.psn)) == 0;
  if (!nack_is_retry(nack_of(ctl).reason, ctl.psn, missing, q.una, q.low)) return true;
  if (retry_exhausted(q.retry, q.limits)) {
    s_.qps.fail(q, ctl.qp, CqStatus::RetryExceeded);
    return false;
  }
  q.retry = retry_next(q.retry);
  return true;
}

void Answer::nack(const CsrOut& csr) {
  s_.now.state = State::Idle;
  const Ctl& ctl = s_.now.ctl;
  Qp& q = s_.qps[ctl.qp];
  const wire::NackReason reason = nack_of(ctl).reason;
  if (reason == wire::NackReason::UnexpEvent) {
    s_.qps.fail(q, ctl.qp, CqStatus::RemEvent);
    return;
  }
  const bool in = in_window(ctl.psn, q.una, q.nxt);
  const Sent& sent = s_.blocks.sent();
  WinBlock row = s_.blocks.row();
  if (!count_retry(q, row, in)) return;
  if (const NackMark mark = nack_lost(row.psns, ctl.psn); in && mark.lost) {
    MRC_CHECK(q.owned(ctl.psn), "a packet of the window has no record");
    row.ages.clear(psn_bit<uint16_t>(ctl.psn));
    s_.blocks.write_row(row);
    if (q.cc && mark.leaves) {
      const bool sample = Report::rtt_valid(q, sent.rtx, csr);
      s_.report.out.ccev.load({.cc = q.dest,
                               .kind = CcEvent::Nack,
                               .bytes = take_packet(q.fly, sent.size, q.credit),
                               .rtt_valid = sample,
                               .rtt = sample ? Report::rtt(s_.now, csr) : uint16_t{0},
                               .reason = ctl.reason});
    }
    s_.qps.enlist(q, ctl.qp);
    q.rtx_lo = psn_first(q.rtx_lo, ctl.psn);
  }
  const bool trimmed = reason == wire::NackReason::Trimmed || reason == wire::NackReason::TrimmedLasthop;
  if (trimmed) patient(q);
  if (reason == wire::NackReason::Trimmed && q.owned(ctl.psn)) {
    s_.report.out.fb.load({.qp = ctl.qp, .ev_idx = sent.ev_idx, .entropy = ctl.entropy, .kind = FbKind::SkipOnce});
  }
}

/// A packet was trimmed: queues are full.
void Answer::patient(Qp& q) {
  const uint32_t psn = s_.now.ctl.psn;
  if (!q.ts && !(own_ && s_.blocks.sent_once(psn))) return;
  const uint32_t took = q.ts ? s_.now.took : trip_by_sent(s_.blocks.stamps()[psn % kBlockPsns], s_.now.tick);
  q.trims = q.trims || trim_counts(q.trip, took);
  q.trip = trip_of_trim(q.trip, took);
}

/// A switch has sent it back: it is lost, if it is the one that is out. Its EV and its controller hear of it when it is
/// sent again.
void Answer::returned() {
  s_.now.state = State::Idle;
  const Ctl& ctl = s_.now.ctl;
  Qp& q = s_.qps[ctl.qp];
  WinBlock row = s_.blocks.row();
  const bool rtx = (ctl.m & 1u) != 0;
  if (!in_window(ctl.psn, q.una, q.nxt) || !returned_lost(row.psns, ctl.psn, s_.blocks.sent().rtx, rtx)) return;
  MRC_CHECK(q.owned(ctl.psn), "a packet of the window has no record");
  s_.blocks.write_row(row);
  s_.qps.enlist_lost(q, ctl.qp);
  q.rtx_lo = psn_first(q.rtx_lo, ctl.psn);
}

void Answer::ack() {
  s_.now.state = State::Idle;
  const Ctl& ctl = s_.now.ctl;
  Qp& q = s_.qps[ctl.qp];
  if (!ack_valid(ack_of(ctl), q.una, q.nxt, q.msn_done, q.msn_sent)) return;
  const bool good = syndrome_ack(ctl.reason);
  const uint32_t next = psn_add(ctl.psn, 1);
  const uint32_t una = good && !psn_before(next, q.una) ? next : q.una;
  const bool changed = una != q.una || ctl.msn != q.msn_done;
  MRC_CHECK(psn_dist(una, q.una) <= psn_dist(q.nxt, q.una), "an ACK moves una back, or beyond what was sent");
  const uint32_t below = psn_add(una, -1);
  q.una = una;
  q.rtx_lo = psn_follow(q.rtx_lo, una);
  if (psn_before(q.hi, below)) q.hi = below;
  if (good) q.msn_done = ctl.msn;
  if (changed) {
    q.progress(s_.now.tick);
    if (psn_block(una) != q.base) s_.qps.reclaim_later(q, ctl.qp);
  }
  if (changed || !good) {
    s_.report.out.upd.load({.qp = ctl.qp, .una = una, .ack = true, .msn = ctl.msn, .syndrome = ctl.reason, .mpr = 0});
  }
  if (!good) {
    s_.report.out.qperr.load({.qp = ctl.qp, .status = static_cast<CqStatus>(ctl.reason)});
    s_.qps.retire(q, ctl.qp);
  }
}

}  // namespace mrc::inflight

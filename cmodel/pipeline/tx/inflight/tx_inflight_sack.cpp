// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/inflight/tx_inflight_sack.hpp"

#include "pipeline/lib/convert.hpp"
#include "protocol/ev_set.hpp"
#include "protocol/segment.hpp"

namespace mrc::inflight {

void Sack::ctl0(const CsrOut& csr) {
  const Ctl& ctl = s_.now.ctl;
  const Qp& q = s_.qps[ctl.qp];
  s_.blocks.read_row();
  s_.now.took = Report::took(s_.now, csr);
  s_.now.lim = q.nxt;
  s_.blocks.read_sent_of_number(ctl.psn);
  if (!cum_valid(psn_add(ctl.cack, 1), q.una, q.nxt)) {
    s_.now.state = State::Idle;
    return;
  }
  una_ = sack_una(ctl.cack, q.una);
  hi_ = sack_hi(sack_of(ctl), q.una, q.nxt, q.hi);
  judge_ = sack_knows(sack_of(ctl), q.una, q.nxt, q.hi, rcvd_news(ctl.rcvd, q.rcvdl).late);
  own_ = q.owned(ctl.psn);
  const SackBlocks blocks = sack_blocks(ctl.base, una_, q.nxt);
  none_ = blocks.none;
  s_.now.block = blocks.first;
  last_ = blocks.last;
  s_.blocks.read_number(ctl.qp, blocks.first);
  s_.now.state = State::Ctl1;
}

/// The packet that it answers has arrived, and not its header alone.
bool Sack::arrived() const {
  const Ctl& ctl = s_.now.ctl;
  if (psn_before(ctl.psn, una_)) return true;
  if (!own_) return false;
  const uint32_t bit = psn_dist(ctl.psn, ctl.base);
  return s_.blocks.reported(ctl.psn) || (bit < kSackBits && (ctl.bitmap >> bit & 1) != 0);
}

void Sack::ctl1(const CsrOut& csr) {
  const Ctl& ctl = s_.now.ctl;
  const Qp& q = s_.qps[ctl.qp];
  const bool by_sent = !q.ts && !ctl.pr;
  const uint16_t stamp = by_sent ? s_.blocks.stamps()[ctl.psn % kBlockPsns] : stamp_of(ctl.ts, csr.tsr_us);
  if (by_sent) s_.now.took = trip_by_sent(stamp, s_.now.tick);
  const bool once = own_ && s_.blocks.sent_once(ctl.psn);
  const bool twice = reported_before(own_, once, ctl.psn, q.una, s_.blocks.reported(ctl.psn));
  gives_time_ = gives_time(ctl.pr, ctl.psn, arrived(), twice, q.ts, once);
  const uint32_t trip = trip_of_question(q.trip, q.trims && ctl.pr);
  time_ = {.knows = gives_time_ && !csr.time_wait && trip_known(trip, s_.now.took, by_sent),
           .limit = overdue_limit(stamp, late_spare(longest_trip(trip, s_.now.took, by_sent))),
           .end = s_.now.lim,
           .again = !ctl.pr && !once};
  ev_idx_ = s_.blocks.sent().ev_idx;
  rtx_ = s_.blocks.sent().rtx;
  any_ = false;
  canc_ = 0;
  s_.now.state = State::Done;
  if (none_) return;
  s_.blocks.read_row();
  s_.blocks.read_number(s_.now.ctl.qp, block_add(s_.now.block, 1));
  s_.now.state = State::Row;
}

void Sack::row(const CsrOut& csr) {
  const Ctl& ctl = s_.now.ctl;
  const Qp& q = s_.qps[ctl.qp];
  const uint32_t p0 = block_psn(s_.now.block);
  MRC_CHECK(block_dist(last_, s_.now.block) <= 4, "a SACK speaks of more than five blocks");
  MRC_CHECK(block_dist(s_.now.block, psn_block(ctl.base)) <= 4, "the bitmap does not speak of this block");
  MRC_CHECK(block_between(s_.now.block, psn_block(una_), psn_block(psn_add(q.nxt, -1))),
            "the window does not have this block");
  const auto piece = sack_piece<uint16_t>(ctl.bitmap, ctl.base, p0);
  const SackView view = sack_view(una_, q.nxt, judge_, ctl.ooo, csr.reorder);
  WinBlock row = s_.blocks.row();
  canc_ += cancelled_losses(row.psns, p0, piece.got, view);
  uint16_t lost = sack_row(row.psns, p0, piece.got, piece.cover, view);
  lost |= overdue_row(row.psns, p0, piece.cover, una_, s_.blocks.stamps(), time_);
  s_.blocks.write_row(row);
  if (lost != 0 && !any_) {
    any_ = true;
    first_ = lowest_psn(p0, lost);
  }
  if (s_.now.block == last_) {
    s_.now.state = State::Done;
    return;
  }
  s_.next_row(ctl.qp);
}

void Sack::done(const CsrOut& csr) {
  s_.now.state = State::Idle;
  const Ctl& ctl = s_.now.ctl;
  Qp& q = s_.qps[ctl.qp];
  MRC_CHECK(psn_dist(una_, q.una) <= psn_dist(q.nxt, q.una), "a SACK moves una back, or beyond what was sent");
  MRC_CHECK(!any_ || in_window(first_, una_, q.nxt), "a packet is lost that was not out");
  MRC_CHECK(canc_ <= kSackBits, "a SACK cancels more losses than it has bits");
  q.rtx_lo = psn_follow(q.rtx_lo, una_);
  if (any_) {
    s_.qps.enlist_lost(q, ctl.qp);
    q.rtx_lo = psn_first(q.rtx_lo, first_);
  }
  MRC_CHECK(psn_dist(q.rtx_lo, una_) <= psn_dist(q.nxt, una_), "rtx_lo falls behind the window");
  q.queries = static_cast<uint8_t>(silence_heard(q.queries, !ctl.pr && una_ != q.una, gives_time_));
  progress(q);
  const bool recent = !ctl.pr && own_;
  if (ctl.pr) s_.report.out.pres.load({.qp = ctl.qp, .id = static_cast<uint16_t>(ctl.psn), .m = ctl.m});
  if (recent) report_ev(q);
  if (gives_time_) {
    q.trims = q.trims && !trip_measured(q.trip, s_.now.took);
    q.trip = trip_of_late(q.trip, s_.now.took);
  }
  acknowledge(q, recent && Report::rtt_valid(q, rtx_, csr), csr);
  same_candidate_ = csr.same_ev && recent && !rtx_ && same_ev_candidate(sack_of(ctl), q.una, q.nxt);
  time_candidate_ = time_candidate(time_, ctl.cack, ctl.base, una_);
  if (same_candidate_ || time_candidate_) {
    s_.blocks.read_number(ctl.qp, psn_block(q.una));
    s_.now.state = State::Same0;
  }
}

/// una, hi and the MPR as the SACK has them.
void Sack::progress(Qp& q) {
  const Ctl& ctl = s_.now.ctl;
  const uint32_t below = psn_add(una_, -1);
  q.hi = psn_before(hi_, below) ? below : hi_;
  const bool moved = una_ != q.una;
  const bool new_mpr = q.dyn_mpr && ctl.mpr != 0 && ctl.mpr != q.mprv && !psn_before(psn_add(ctl.cack, 1), q.una);
  if (moved) {
    q.una = una_;
    q.progress(s_.now.tick);
    if (psn_block(q.una) != q.base) s_.qps.reclaim_later(q, ctl.qp);
  }
  if (new_mpr) q.mprv = ctl.mpr;
  if (!moved && !new_mpr) return;
  const uint8_t mpr = new_mpr ? ctl.mpr : uint8_t{0};
  s_.report.out.upd.load({.qp = ctl.qp, .una = q.una, .ack = false, .msn = 0, .syndrome = 0, .mpr = mpr});
}

/// What the packet that brought the SACK says of its EV.
void Sack::report_ev(const Qp& q) {
  const Ctl& ctl = s_.now.ctl;
  if (mark_is_feedback(ctl.m)) {
    s_.report.out.fb.load({.qp = ctl.qp, .ev_idx = ev_idx_, .entropy = ctl.entropy, .kind = mark_feedback(ctl.m)});
  } else if (ctl.m == 0 && !rtx_) {
    const auto plane = static_cast<uint8_t>(ev_idx_ & (planes_ - 1));
    s_.report.out.okev.load({.dest = q.dest, .plane = plane, .ev = ctl.entropy});
  }
}

/// What the SACK means for the flight.
void Sack::acknowledge(Qp& q, bool sample, const CsrOut& csr) {
  const Ctl& ctl = s_.now.ctl;
  const RcvdNews news = rcvd_news(ctl.rcvd, q.rcvdl);
  if (!news.late) q.rcvdl = ctl.rcvd;
  if (!q.cc) return;
  const uint32_t n = take_sack(q.fly, q.owed, news, psn_add(ctl.cack, 1) == q.nxt, canc_,
                               nominal_full(q.mtu, q.ts, csr.nominal), q.una == q.nxt, q.credit);
  s_.report.out.ccev.load({.cc = q.dest,
                           .kind = CcEvent::Ack,
                           .bytes = n,
                           .ecn = mark_is_ecn(ctl.m),
                           .rtt_valid = sample,
                           .rtt = sample ? Report::rtt(s_.now, csr) : uint16_t{0},
                           .pen = ctl.pen,
                           .restore = ctl.restore,
                           .reason = 0});
}

void Sack::same0() {
  s_.blocks.read_row();
  s_.blocks.read_sent_of_row(s_.qps[s_.now.ctl.qp].una);
  s_.now.state = State::Same1;
}

void Sack::same1() {
  s_.now.state = State::Idle;
  const QpIndex index = s_.now.ctl.qp;
  Qp& q = s_.qps[index];
  MRC_CHECK(q.una == una_, "the same-EV rule looks at another packet than una");
  WinBlock row = s_.blocks.row();
  const bool same = same_candidate_ && s_.blocks.sent().ev_idx == ev_idx_ && same_ev_lost(row.psns, q.una);
  if (!same && !(time_candidate_ && time_lost(row.psns, q.una, s_.blocks.stamps()[q.una % kBlockPsns], time_))) return;
  s_.blocks.write_row(row);
  s_.qps.enlist_lost(q, index);
  q.rtx_lo = q.una;
}

}  // namespace mrc::inflight

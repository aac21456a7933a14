// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/inflight/tx_inflight_scan.hpp"

#include "protocol/ev_set.hpp"
#include "protocol/nscc.hpp"

namespace mrc::inflight {

namespace {

/// Blocks that a search looks at in one turn.
constexpr unsigned kScanBlocks = 4;

}  // namespace

void Scan::retx0() {
  Qp& q = s_.qps[s_.now.qp];
  if (!q.live && s_.now.leave) {
    s_.now.leave = false;
    s_.now.state = State::Idle;
    return;
  }
  if (s_.now.leave && psn_before(s_.now.leave_at, q.rtx_lo)) {
    s_.now.leave_at = q.rtx_lo;
    s_.now.state = State::Idle;
    return;
  }
  if (!q.live) {
    q.rtx = q.dup = false;
    s_.qps.list.pop();
    s_.now.state = State::Idle;
    return;
  }
  steps_ = 0;
  s_.rows_from(State::Scan);
}

void Scan::scan() {
  Qp& q = s_.qps[s_.now.qp];
  const WinBlock& row = s_.blocks.row();
  if (s_.now.leave) {
    leave(q, row);
    return;
  }
  const uint16_t pending = retx_row(row.psns, block_psn(s_.now.block), q.rtx_lo, s_.now.lim);
  ++steps_;
  MRC_CHECK(q.live, "a packet of a QP that is over is sent again");
  MRC_CHECK(steps_ <= kScanBlocks, "a search looks at a fifth block in one turn");
  MRC_CHECK(psn_dist(q.rtx_lo, q.una) <= psn_dist(s_.now.lim, q.una), "a search leaves the window");
  dup_ = pending == 0;
  if (pending != 0) {
    found(q, row, pending);
  } else if (!none_found(q)) {
    return;
  }
  s_.qps.list.pop();
  s_.qps.list.push(s_.now.qp);
  s_.now.state = State::Retx1;
}

/// The lowest of the packets of this row that are lost and still in flight leaves it.
void Scan::leave(const Qp& q, WinBlock row) {
  Now& now = s_.now;
  const uint16_t lost = leave_row(row.psns, block_psn(now.block), now.leave_at, now.lim);
  ++steps_;
  MRC_CHECK(q.live && q.cc, "what a QP without a controller has lost leaves a flight");
  MRC_CHECK(steps_ <= kScanBlocks, "a search looks at a fifth block in one turn");
  MRC_CHECK(psn_dist(now.leave_at, q.una) <= psn_dist(now.lim, q.una), "a search leaves the window");
  if (lost == 0) {
    none_leaves(q);
    return;
  }
  p_ = lowest_psn(block_psn(now.block), lost);
  dup_ = false;
  news_ = {.loss = true, .blame = (row.psns.mute & psn_bit<uint16_t>(p_)) == 0};
  not_sent(row.psns, p_);
  s_.blocks.write_row(row);
  s_.blocks.read_sent_of_row(p_);
  now.leave_at = psn_add(p_, 1);
  now.state = State::Retx1;
}

/// Nothing leaves in this row: the next one, now or in the next turn; behind the last one the search is over.
void Scan::none_leaves(const Qp& q) {
  Now& now = s_.now;
  now.leave = s_.rows_left(q);
  if (now.leave) now.leave_at = psn_add(block_psn(now.block), kBlockPsns);
  if (now.leave && steps_ != kScanBlocks) {
    s_.next_row(now.qp);
  } else {
    now.state = State::Idle;
  }
}

/// The lowest of the packets that wait in this row goes again.
void Scan::found(Qp& q, WinBlock row, uint16_t pending) {
  row_keep_ = row;
  p_ = lowest_psn(block_psn(s_.now.block), pending);
  news_ = send_again(row.psns, p_);
  MRC_CHECK(in_window(p_, q.una, s_.now.lim), "a packet is sent again that is not out");
  const unsigned spared = spared_steps(s_.now.tick - q.start, q.step());
  MRC_CHECK(spared >= q.marks.count, "a packet is spared for less than no step");
  row.ages.again(p_ % kBlockPsns, spared - q.marks.count);
  s_.blocks.write_row(row);
  s_.blocks.read_sent_of_row(p_);
  q.rtx_lo = psn_add(p_, 1);
}

/// Nothing waits in this row: the next one; behind the last one the newest packet if its ACK is missing (true).
bool Scan::none_found(Qp& q) {
  if (s_.rows_left(q)) {
    q.rtx_lo = psn_add(block_psn(s_.now.block), kBlockPsns);
    if (steps_ == kScanBlocks) {  // it goes on in its next turn
      s_.now.state = State::Idle;
    } else {
      s_.next_row(s_.now.qp);
    }
    return false;
  }
  q.rtx_lo = q.nxt;
  if (!q.dup) {
    q.rtx = false;
    s_.qps.list.pop();
    s_.now.state = State::Idle;
    return false;
  }
  q.dup = false;
  news_ = {};
  p_ = psn_add(q.nxt, -1);
  s_.blocks.read_sent(q.newest, p_);
  return true;
}

void Scan::retx1(const CsrOut& csr) {
  s_.now.state = State::Idle;
  Qp& q = s_.qps[s_.now.qp];
  const Sent& s = s_.blocks.sent();
  MRC_CHECK(!dup_ || !(news_.loss || news_.blame), "a packet that goes again for the sake of its ACK is told as lost");
  lost(q, csr);
  if (s_.now.leave) return;
  // It may wait for its lane.
  if (!dup_ && !csr.time_wait) s_.blocks.chosen_again(p_, s_.now.tick);
  if (!q.cc || !nscc_needs_leave(s.size)) {
    order();
    return;
  }
  s_.report.out.rtxreq.load({.cc = q.dest, .min = s.size, .bytes = s.size});
  s_.now.state = State::RetxW;
}

/// Tells of the loss of p_ whoever does not know of it yet.
void Scan::lost(Qp& q, const CsrOut& csr) {
  const Sent& s = s_.blocks.sent();
  // A gap or the timer, not a NACK: one loss is enough to take the EV out of use.
  if (news_.blame) s_.report.out.fb.load({.qp = s_.now.qp, .ev_idx = s.ev_idx, .entropy = 0, .kind = FbKind::Loss});
  if (q.cc && news_.loss) {
    s_.report.event(q, csr.loss_shrinks ? CcEvent::Loss : CcEvent::Nack, take_packet(q.fly, s.size, q.credit));
  }
}

/// Orders the retransmission of p_ as recs has it.
void Scan::order() {
  const Sent& s = s_.blocks.sent();
  s_.report.out.retx.load({.qp = s_.now.qp,
                           .psn = p_,
                           .msn = s.msn,
                           .row = s.row,
                           .idx = s.idx,
                           .avoid_ev = s.ev_idx,
                           .size = s.size,
                           .lost = news_.loss,
                           .two = news_.loss && !s_.qps[s_.now.qp].trims});
  s_.report.pulses_next.rtx = true;
}

bool Scan::retx_wait(const CsrOut& csr) {
  if (!in_.rans.has()) return false;
  const bool ok = in_.rans.head().bytes != 0;
  in_.rans.pop();
  s_.now.state = State::Idle;
  Qp& q = s_.qps[s_.now.qp];
  MRC_CHECK(q.cc, "a QP without a controller waits for one");
  MRC_CHECK(s_.watch.watches(s_.now.qp), "a QP sends again whose timer nobody visits");
  if (ok) {
    order();
    q.fly.enter_again(s_.blocks.sent().size);
  } else if (dup_) {
    q.dup = true;
  } else {
    MRC_CHECK((row_keep_.psns.pend & psn_bit<uint16_t>(p_)) != 0,
              "a block is put back in which the packet did not wait");
    not_sent(row_keep_.psns, p_);
    s_.blocks.write_row(row_keep_);
    q.rtx_lo = p_;
    if (!csr.lost_stays && q.stays) {
      q.stays = false;
      s_.now.leave = true;
      s_.now.leave_qp = s_.now.qp;
      s_.now.leave_at = p_;
    }
  }
  return !ok;
}

}  // namespace mrc::inflight

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
  const QpIndex index = s_.now.qp;
  Qp& q = s_.qps[index];
  const Sent& s = s_.blocks.sent();
  MRC_CHECK(!dup_ || !(news_.loss || news_.blame), "a packet that goes again for the sake of its ACK is told as lost");
  // It may wait for its lane.
  if (!dup_ && !csr.time_wait) s_.blocks.chosen_again(p_, s_.now.tick);
  // A gap or the timer, not a NACK: one loss is enough to take the EV out of use.
  if (news_.blame) s_.report.out.fb.load({.qp = index, .ev_idx = s.ev_idx, .entropy = 0, .kind = FbKind::Loss});
  if (q.cc && news_.loss) {
    s_.report.event(q, csr.loss_shrinks ? CcEvent::Loss : CcEvent::Nack, take_packet(q.fly, s.size, q.credit));
  }
  if (!q.cc || !nscc_needs_leave(s.size)) {
    order();
    return;
  }
  s_.report.out.rtxreq.load({.cc = q.dest, .min = s.size, .bytes = s.size});
  s_.now.state = State::RetxW;
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

bool Scan::retx_wait() {
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
  }
  return !ok;
}

}  // namespace mrc::inflight

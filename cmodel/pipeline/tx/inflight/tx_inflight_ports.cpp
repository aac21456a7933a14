// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/inflight/tx_inflight_ports.hpp"

#include <bit>

#include "protocol/port_loss.hpp"

namespace mrc::inflight {

namespace {

/// Cycles after a fall in which packets that were on their way to the window are recorded.
constexpr unsigned kSoon = 63;
/// A block has been passed by una.
constexpr bool passed(uint32_t block, uint32_t una) {
  return block_dist(block, psn_block(una)) >= (kPsnHalf / kBlockPsns);
}

}  // namespace

bool Ports::status(unsigned dest, unsigned mask, bool port_wait) {
  const unsigned all = (1u << planes_) - 1;
  if (port_wait || (mask & all) == all) return true;
  if (said_) return false;
  peer_fell_ = true;
  peer_ = dest & dest_mask_;
  down_ = ~mask & all;
  return true;
}

void Ports::visit(QpIndex index) {
  if (!walks() || looked_[index]) return;
  waits_ = at_on_ || soon_ != 0;
  if (waits_) return;
  looked_[index] = true;
  MRC_CHECK(left_ != 0, "a QP is looked at, and none is left");
  --left_;
  const Qp& q = s_.qps[index];
  if (!q.live || !q.outstanding() || !meant(q)) return;
  at_ = index;
  at_on_ = true;
  mid_ = false;
}

void Ports::next_block() {
  s_.now.state = State::Idle;
  if (s_.now.block == psn_block(s_.qps[s_.now.qp].una)) {
    at_on_ = mid_ = false;
  } else {
    mid_ = true;
    block_ = block_add(s_.now.block, ~0u);
  }
}

void Ports::seek(bool state_silent) {
  const auto index = static_cast<QpIndex>(at_);
  const Qp& q = s_.qps[index];
  const bool look = q.live && meant(q);
  const uint32_t w = mid_ ? block_ : psn_block(psn_add(q.nxt, -1));
  if (look && q.outstanding() && !mid_ && !state_silent) {
    s_.report.out.stateq.load({.qp = index});
    s_.report.pulses_next.state = true;
  }
  if (look && q.una != q.nxt && !passed(w, q.una)) {
    s_.now.qp = index;
    s_.now.block = w;
    s_.blocks.read_number(index, w);
    s_.now.state = State::Port0;
    return;
  }
  at_on_ = mid_ = false;
  s_.now.state = State::Idle;
}

void Ports::port0() {
  s_.blocks.read_row();
  s_.now.state = State::Port1;
}

/// The record of the lowest PSN that is still to be looked at.
void Ports::read_next() { s_.blocks.read_sent_of_row(static_cast<uint32_t>(std::countr_zero(rest_))); }

void Ports::port1() {
  const Qp& q = s_.qps[s_.now.qp];
  MRC_CHECK(q.live, "a look at a QP that is over");
  MRC_CHECK(block_between(s_.now.block, psn_block(q.una), psn_block(psn_add(q.nxt, -1))), "a look beyond the window");
  const BlockRow& row = s_.blocks.row().psns;
  rest_ = static_cast<uint16_t>(range_mask<uint16_t>(block_psn(s_.now.block), q.una, q.nxt) & ~row.sacked & ~row.pend);
  lost_ = 0;
  sum_ = 0;
  if (rest_ == 0) {
    next_block();
    return;
  }
  read_next();
  s_.now.state = State::Port2;
}

void Ports::port2() {
  Qp& q = s_.qps[s_.now.qp];
  const Sent& sent = s_.blocks.sent();
  const auto bit = static_cast<uint16_t>(rest_ & -rest_);
  const unsigned gone = ~s_.now.port_up | (of_peer(q) ? down_ : 0);
  const bool waits = (s_.blocks.row().psns.rtxd & bit) != 0 && !sent.rtx;
  if (given_to(sent.ev_idx, planes_, gone) && !waits) {
    lost_ |= bit;
    if (q.cc) sum_ += take_packet(q.fly, sent.size, q.credit);
  }
  rest_ ^= bit;
  if (rest_ != 0) {
    read_next();
  } else {
    s_.now.state = State::Port3;
  }
}

void Ports::port3() {
  if (lost_ != 0) {
    Qp& q = s_.qps[s_.now.qp];
    WinBlock row = s_.blocks.row();
    [[maybe_unused]] const uint16_t lost = port_lost(row.psns, lost_);
    MRC_CHECK(lost == lost_, "a PSN is lost that is not out");
    s_.blocks.write_row(row);
    s_.qps.enlist(q, s_.now.qp);
    q.rtx_lo = psn_first(q.rtx_lo, lowest_psn(block_psn(s_.now.block), lost_));
    if (q.cc) s_.report.event(q, CcEvent::Nack, sum_);
  }
  next_block();
}

void Ports::end(unsigned port_up, bool port_wait, bool acked) {
  if (walks() && s_.watch.has_entered() && !looked_[s_.watch.entered()]) ++left_;
  if (waits_ && s_.watch.has_left()) --left_;
  if (over_) own_ = said_ = false;
  const bool fell = (up_ & ~port_up) != 0 && !port_wait;
  own_ = own_ || fell;
  said_ = said_ || peer_fell_;
  if (fell || peer_fell_) {
    looked_.assign(looked_.size(), false);
    left_ = static_cast<unsigned>(s_.watch.count());
    soon_ = kSoon;
  } else if (soon_ != 0 && !acked) {
    --soon_;
  }
  MRC_CHECK(!walks() || left_ <= s_.watch.count(), "more QPs are left than there are");
  up_ = port_up;
  peer_fell_ = waits_ = false;
}

}  // namespace mrc::inflight

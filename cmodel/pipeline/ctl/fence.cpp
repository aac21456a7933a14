// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ctl/fence.hpp"

#include "gen/csr.hpp"
#include "util/check.hpp"

namespace mrc {

Fence::Fence(const Preset& preset, const Streams& streams) : planes_(preset.num_planes), from_(streams) {
  placed_.fill(Stage(preset.lane_fifo + 12));
  sent_.fill(Stage(preset.tx_lane_fifo + 7));
}

void Fence::Stage::clock(bool take) {
  MRC_CHECK(n_ != 0 || !done_, "a stage is done with a word that never moved in");
  left_ = take ? n_ + stands_ - done_ : left_ - (done_ && left_ != 0);
  n_ += unsigned{moves_} - unsigned{done_};
  MRC_CHECK(n_ <= most_, "a stage holds more words than it has places");
}

uint32_t Fence::owed() const {
  if (state_ == State::Idle) return 0;
  const bool lanes = state_ == State::Lanes;
  const unsigned tx = by_plane(sent_, [&](const Stage& s) { return lanes ? s.owes() : s.inside() != 0; });
  const unsigned rx = by_plane(placed_, [](const Stage& s) { return s.owes(); });
  return csr::kFenceBusy.set(0, 1) | csr::kFenceCore.set(0, !lanes) | csr::kFenceTx.set(0, tx) |
         csr::kFenceRx.set(0, rx);
}

void Fence::step(const In& in) {
  const bool stands = from_.retx.valid() | from_.pkt.valid() | from_.path.valid() | from_.ctl.valid() |
                      from_.rxpkt.valid() | from_.ord.valid();
  const bool done = in.order_done | in.rec_done | in.ctl_done | in.posted | in.ord_done | in.done_valid;
  moves_ = in.go | stands | done | (in.data_done != 0) | (state_ != State::Idle);
  if (!moves_) return;
  go_ = in.go;
  goes_on_ = in.goes_on;
  watch(orders_, from_.retx, in.order_done);
  watch(answers_, from_.ctl, in.ctl_done);
  watch(tracked_, from_.rxpkt, in.posted);
  watch(packets_, from_.pkt, in.rec_done);
  watch(ordered_, from_.ord, in.ord_done);
  const Rxpkt& rxpkt = from_.rxpkt.data();
  for (unsigned p = 0; p < planes_; ++p) {
    placed_[p].see(from_.rxpkt.valid() && rxpkt.buf_valid && rxpkt.plane == p, from_.rxpkt.ready(),
                   in.done_valid && in.done_plane == p);
    sent_[p].see(from_.path.valid() && from_.path.data().plane == p, from_.path.ready(), (in.data_done >> p & 1) != 0);
  }
}

void Fence::clock() {
  if (!moves_) return;
  moves_ = false;
  bool take_inner = false, take_sent = false;
  if (go_) {
    state_ = State::Front;
  } else if (state_ == State::Front && !orders_.owes() && !answers_.owes() && !tracked_.owes() && !goes_on_) {
    take_inner = true;
    state_ = State::Core;
  } else if (state_ == State::Core && !packets_.owes() && !ordered_.owes()) {
    take_sent = true;
    state_ = State::Lanes;
  } else if (state_ == State::Lanes && !owes(sent_) && !owes(placed_)) {
    state_ = State::Idle;
  }
  for (Stage* s : {&orders_, &answers_, &tracked_}) s->clock(go_);
  for (Stage* s : {&packets_, &ordered_}) s->clock(take_inner);
  for (unsigned p = 0; p < planes_; ++p) {
    placed_[p].clock(go_);
    sent_[p].clock(take_sent);
  }
}

}  // namespace mrc

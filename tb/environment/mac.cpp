// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/mac.hpp"

#include <algorithm>
#include <bit>

namespace mrc::tb {

TxMac::TxMac(const Preset& preset, unsigned plane)
    : plane_(plane), port_bytes_(preset.port_bytes), byte_ps_(byte_ps(preset)) {}

const char* TxMac::beat(const uint8_t* data, uint32_t keep, bool last, uint64_t now_ps) {
  if (!in_frame_) {
    frame_ = std::make_unique<Frame>();
    frame_->bytes.reserve(4352);
    frame_->plane = static_cast<uint8_t>(plane_);
    in_frame_ = true;
  }
  unsigned n = port_bytes_;
  const uint32_t full = n == 32 ? ~0u : (1u << n) - 1;
  if (keep != full) {
    n = static_cast<unsigned>(std::popcount(keep));
    if (n == 0 || keep != (1u << n) - 1) return "tkeep is not a run of low ones";
    if (!last) return "tkeep is not full inside a frame";
  }
  frame_->bytes.insert(frame_->bytes.end(), data, data + n);
  if (frame_->bytes.size() > kMaxFrame) return "a frame without end";
  if (last) {
    if (frame_->bytes.size() < kMinFrameBytes - kFcsBytes) frame_->bytes.resize(kMinFrameBytes - kFcsBytes);
    frame_->sent_ps = now_ps;
    waiting_bytes_ += static_cast<unsigned>(frame_->bytes.size());
    waiting_.push_back(std::move(frame_));
    in_frame_ = false;
  }
  return nullptr;
}

FramePtr TxMac::start_now() {
  FramePtr frame = std::move(waiting_.front());
  waiting_.pop_front();
  const unsigned size = static_cast<unsigned>(frame->bytes.size());
  waiting_bytes_ -= size;
  frame->sent_ps = std::max(frame->sent_ps, free_ps_);
  free_ps_ = frame->sent_ps + uint64_t{wire_bytes(size)} * byte_ps_;
  return frame;
}

RxMac::RxMac(const Preset& preset, unsigned) : port_bytes_(preset.port_bytes), byte_ps_(byte_ps(preset)) {}

namespace {
constexpr auto kEndsLater = [](const FramePtr& a, const FramePtr& b) {
  return a->arrive_ps != b->arrive_ps ? a->arrive_ps > b->arrive_ps : a->seq > b->seq;
};
}

void RxMac::arrive(FramePtr frame) {
  queue_.push_back(std::move(frame));
  std::push_heap(queue_.begin(), queue_.end(), kEndsLater);
  if (!frame_) schedule();
}

void RxMac::schedule() { next_ps_ = queue_.empty() ? ~uint64_t{0} : std::max(queue_.front()->arrive_ps, free_ps_); }

bool RxMac::beat_now(uint64_t now_ps, Beat& out) {
  begun_ = nullptr;
  finished_.reset();
  if (!frame_) {
    if (queue_.empty()) {
      next_ps_ = ~uint64_t{0};
      return false;
    }
    const uint64_t begin = std::max(queue_.front()->arrive_ps, free_ps_);
    if (begin > now_ps) {
      next_ps_ = begin;
      return false;
    }
    std::pop_heap(queue_.begin(), queue_.end(), kEndsLater);
    frame_ = std::move(queue_.back());
    queue_.pop_back();
    begin_ps_ = begin;
    at_ = 0;
    const unsigned size = static_cast<unsigned>(frame_->bytes.size());
    free_ps_ = begin + uint64_t{wire_bytes(size)} * byte_ps_;
    next_ps_ = begin + uint64_t{kPreambleBytes + std::min(size, port_bytes_)} * byte_ps_;
    if (size <= port_bytes_) next_ps_ += uint64_t{kFcsBytes} * byte_ps_;
    if (next_ps_ > now_ps) return false;
  }
  const unsigned size = static_cast<unsigned>(frame_->bytes.size());
  const unsigned n = std::min(port_bytes_, size - at_);
  out = {frame_->bytes.data() + at_, n, at_ + n == size, false};
  if (at_ == 0) begun_ = frame_.get();
  at_ += n;
  if (out.last) {
    out.error = frame_->mac_error;
    finished_ = std::move(frame_);
    schedule();
    next_ps_ = std::max(next_ps_, now_ps + 1);
  } else {
    const unsigned left = size - at_;
    next_ps_ += uint64_t{std::min(left, port_bytes_)} * byte_ps_;
    if (left <= port_bytes_) next_ps_ += uint64_t{kFcsBytes} * byte_ps_;
  }
  return true;
}

}  // namespace mrc::tb

// SPDX-License-Identifier: Apache-2.0
#include "reference/answer_time.hpp"

#include <algorithm>
#include <limits>

namespace mrc::ref {
namespace {

using Time = log::Time;
constexpr unsigned kGapBytes = 12;  ///< between frames

}  // namespace

AnswerTime::AnswerTime(unsigned planes, double port_gbps, Time patience, Time window, Time ack_gap)
    : planes_(std::clamp(planes, 1u, log::kMaxPlanes)),
      gap_(static_cast<Time>(kGapBytes * 8 * 1000 / std::max(port_gbps, 0.001))),
      patience_(patience),
      window_(std::max<Time>(window, 1)),
      ack_gap_(ack_gap),
      window_end_(window_) {
  up_.fill(true);
  whole_.fill(true);
}

void AnswerTime::port(unsigned plane, bool up, Time time) {
  if (plane >= log::kMaxPlanes || up_[plane] == up) return;
  advance(time);
  up_[plane] = up;
  whole_[plane] = false;
}

void AnswerTime::sent(unsigned plane, Time first, Time last) {
  advance(first);
  if (plane >= planes_) return;
  busy_[plane] = std::max(busy_[plane], std::max(first, last) + gap_);
}

void AnswerTime::read(uint64_t tag, Time time) { reads_.add(tag, time); }

void AnswerTime::read_done(uint64_t tag, Time time) {
  reads_.answered(tag, [&](Time since, bool oldest) {
    if (oldest && since + patience_ < time) advance(time);  // until now it has held everything back
  });
}

/// What is left of the window goes by.
void AnswerTime::add(Time until) {
  if (until <= at_) return;
  Time end = until;
  if (!reads_.empty()) end = std::clamp(reads_.oldest() + patience_, at_, until);
  for (unsigned plane = 0; plane < planes_; ++plane) {
    const Time from = std::max(at_, busy_[plane]);
    if (from < end) free_[plane] += end - from;
  }
  const Time from = std::max(at_, acks_busy_);
  if (from < end) acks_free_ += end - from;
  at_ = until;
}

void AnswerTime::close() {
  Time least = window_;
  bool some = false;
  for (unsigned plane = 0; plane < planes_; ++plane) {
    if (whole_[plane] && up_[plane]) {
      least = std::min(least, free_[plane]);
      some = true;
    }
    whole_[plane] = up_[plane];
    free_[plane] = 0;
  }
  if (some) {
    answers_ += least;
    acks_ += std::min(least, acks_free_);
  }
  acks_free_ = 0;
}

/// As many whole windows as go by before `time` and before anything changes: they are all alike.
void AnswerTime::skip(Time time) {
  const bool held = !reads_.empty() && reads_.oldest() + patience_ <= at_;
  if (!held && !reads_.empty()) time = std::min(time, reads_.oldest() + patience_);
  const auto free = [&](Time busy) {
    if (held) return false;
    if (busy > at_) time = std::min(time, busy);
    return busy <= at_;
  };
  bool some = false, all = true;
  for (unsigned plane = 0; plane < planes_; ++plane) {
    if (!up_[plane]) continue;
    some = true;
    all &= free(busy_[plane]);
  }
  const bool acks = free(acks_busy_) && some && all;
  const Time passed = (time - at_) / window_ * window_;
  if (some && all) answers_ += passed;
  if (acks) acks_ += passed;
  at_ += passed;
}

void AnswerTime::advance(Time time) {
  while (time >= window_end_ && time > at_) {
    add(window_end_);
    close();
    if (time - at_ > window_) skip(time);
    window_end_ = at_ + std::min(window_, std::numeric_limits<Time>::max() - at_);
  }
  add(time);
}

}  // namespace mrc::ref

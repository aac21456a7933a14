// SPDX-License-Identifier: Apache-2.0
#include "reference/answer_time.hpp"

#include <algorithm>

namespace mrc::ref {
namespace {

using Time = log::Time;
constexpr unsigned kGapBytes = 12;  ///< between frames
constexpr std::size_t kMostReads = 4096;

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

void AnswerTime::read(uint64_t tag, Time time) {
  if (reads_.size() < kMostReads) reads_.emplace_back(tag, time);
}

void AnswerTime::read_done(uint64_t tag, Time time) {
  const auto at = std::find_if(reads_.begin(), reads_.end(), [&](const auto& read) { return read.first == tag; });
  if (at == reads_.end()) return;
  if (at == reads_.begin() && at->second + patience_ < time) advance(time);  // until now it has held everything back
  reads_.erase(at);
}

/// What is left of the window goes by.
void AnswerTime::add(Time until) {
  if (until <= at_) return;
  Time end = until;
  if (!reads_.empty()) end = std::clamp(reads_.front().second + patience_, at_, until);
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

void AnswerTime::advance(Time time) {
  while (time >= window_end_) {
    add(window_end_);
    close();
    Time next = window_end_ + window_;
    if (time > next) {
      // Nothing changes until then: many windows are as one.
      const Time busy = std::max(acks_busy_, *std::max_element(busy_.begin(), busy_.begin() + planes_));
      const bool held = !reads_.empty() && reads_.front().second + patience_ <= at_;
      if (held || (reads_.empty() && busy <= at_)) {
        const Time windows = (time - at_) / window_;
        const bool some = std::any_of(up_.begin(), up_.begin() + planes_, [](bool up) { return up; });
        if (!held && some) {
          answers_ += windows * window_;
          acks_ += windows * window_;
        }
        at_ += windows * window_;
        next = at_ + window_;
      }
    }
    window_end_ = next;
  }
  add(time);
}

}  // namespace mrc::ref

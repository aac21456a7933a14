// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "log/record.hpp"

namespace mrc::ref {

/// Reads of host memory that have no answer yet, oldest first; kMost at most, others are not held.
class OpenReads {
 public:
  static constexpr std::size_t kMost = 4096;

  bool empty() const { return live_ == 0; }
  /// Since when the oldest one waits; there is one.
  log::Time oldest() const { return reads_[head_].since; }
  void add(uint64_t tag, log::Time time) {
    if (live_ >= kMost) return;
    reads_.push_back({tag, time, true});
    ++live_;
  }
  /// Takes the oldest one with this tag out. First calls `before(since, oldest)`: whether it was the oldest of all.
  template <class Before>
  void answered(uint64_t tag, Before&& before) {
    const auto begin = reads_.begin() + static_cast<std::ptrdiff_t>(head_);
    const auto at = std::find_if(begin, reads_.end(), [&](const Read& read) { return read.tag == tag && read.open; });
    if (at == reads_.end()) return;
    before(at->since, at == begin);
    at->open = false;
    --live_;
    while (head_ < reads_.size() && !reads_[head_].open) ++head_;
    if (reads_.size() < 2 * live_ + kSpare) return;
    std::erase_if(reads_, [](const Read& read) { return !read.open; });
    head_ = 0;
  }

 private:
  static constexpr std::size_t kSpare = 64;
  struct Read {
    uint64_t tag = 0;
    log::Time since = 0;
    bool open = true;
  };
  std::vector<Read> reads_;  ///< from head_ on; answered ones among them, the first is open
  std::size_t head_ = 0, live_ = 0;
};

}  // namespace mrc::ref

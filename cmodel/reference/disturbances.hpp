// SPDX-License-Identifier: Apache-2.0
/// Moments at which frames may have been lost between what a log tells and the NIC. At real ports these are when a
/// carrier comes or goes by itself.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "log/record.hpp"

namespace mrc::ref {

class Disturbances {
 public:
  /// In the order of time.
  void add(log::Time time) {
    constexpr std::size_t kMost = 4096;  // then the last one lasts
    if (times_.size() < kMost) times_.push_back({time, time});
    times_.back().second = time;
  }
  bool none() const { return times_.empty(); }
  /// One was at most `reach` before `time`, or after it.
  bool near(log::Time time, log::Time reach) const {
    const auto at = std::ranges::lower_bound(times_, time - std::min(time, reach), {}, &Span::second);
    return at != times_.end() && at->first <= time + reach;
  }

 private:
  using Span = std::pair<log::Time, log::Time>;
  std::vector<Span> times_;
};

}  // namespace mrc::ref

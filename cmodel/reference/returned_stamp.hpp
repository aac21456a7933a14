// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "log/record.hpp"

namespace mrc::ref {

/// The newest time stamp that SACKs have returned. What carries an older one looks as sent before what they answer,
/// whenever it left: it may have waited inside, a peer may have moved what it returns by its service time, and
/// nobody tells the stamp of a stranger's packet from one's own.
class ReturnedStamp {
 public:
  void heard(uint16_t stamp, log::Time time) {
    if (stamp_ && !before(*stamp_, stamp) && time < since_ + kForgotten) return;
    stamp_ = stamp;
    since_ = time;
  }
  /// It is newer than `sent`.
  bool after(std::optional<uint16_t> sent) const { return stamp_ && sent && before(*sent, *stamp_); }

 private:
  static constexpr log::Time kForgotten = 2'000'000'000;  ///< a quarter of the range of 128 ns ticks
  static bool before(uint16_t a, uint16_t b) { return a != b && static_cast<uint16_t>(b - a) < 0x8000; }

  std::optional<uint16_t> stamp_;
  log::Time since_ = 0;
};

}  // namespace mrc::ref

// SPDX-License-Identifier: Apache-2.0
/// How much of what happened when: counts per stretch of time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "log/record.hpp"

namespace mrc::ref {

using log::Time;

/// Stretches are as long as needed for kMost of them to hold all that was told: 1.024 ns times a power of two. They
/// begin at multiples of their length, so that two timelines add up without loss.
class Timeline {
 public:
  enum Kind : uint8_t { Packets, Again, Trimmed, Marked, Findings };
  static constexpr std::size_t kKinds = 5, kMost = 128;
  using Counts = std::array<uint64_t, kKinds>;

  void add(Kind kind, Time time) {
    Counts one{};
    one[kind] = 1;
    add(one, time >> shift_);
  }
  /// All of another one's counts of these kinds.
  void add(const Timeline& other, std::initializer_list<Kind> kinds);

  /// One for each stretch from begin() on, to the last one in which something happened; empty: nothing has.
  const std::vector<Counts>& counts() const { return counts_; }
  Time width() const { return Time{1} << shift_; }
  Time begin() const { return first_ << shift_; }

 private:
  void add(const Counts& counts, uint64_t stretch);
  void coarser();

  unsigned shift_ = 10;
  uint64_t first_ = 0;  ///< stretch of counts_[0]
  std::vector<Counts> counts_;
};

}  // namespace mrc::ref

// SPDX-License-Identifier: Apache-2.0
/// How deep queues were, as packets saw them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace mrc::sim {

/// Bytes that waited in a queue when a packet joined it: how many packets found how much. A class is an eighth of a
/// factor of two wide, those below 512 bytes are 64 bytes wide. Packets that found nothing are not counted here.
class Depths {
 public:
  void add(uint64_t bytes) { ++counts_[index(bytes)]; }
  void add(const Depths& other) {
    for (unsigned i = 0; i < kClasses; ++i) counts_[i] += other.counts_[i];
  }
  uint64_t count() const {
    uint64_t sum = 0;
    for (const uint64_t n : counts_) sum += n;
    return sum;
  }
  /// What share q of `packets` did not find more than, by nearest rank: the upper end of a class. 0: they found
  /// nothing.
  uint64_t quantile(double q, uint64_t packets) const {
    const uint64_t found = count();
    if (found == 0 || packets < found) return 0;
    const auto rank =
        std::clamp<uint64_t>(static_cast<uint64_t>(std::ceil(q * static_cast<double>(packets))), 1, packets);
    uint64_t sum = packets - found;
    if (rank <= sum) return 0;
    for (unsigned i = 0; i < kClasses; ++i) {
      sum += counts_[i];
      if (rank <= sum) return upper(i);
    }
    return 0;
  }

 private:
  static constexpr unsigned kUnit = 6, kClasses = 8 * 28;  // 64 bytes; up to 2^32 bytes and more
  static unsigned index(uint64_t bytes) {
    const uint64_t v = bytes >> kUnit;
    if (v < 8) return static_cast<unsigned>(v);
    const unsigned octave = static_cast<unsigned>(std::bit_width(v)) - 4;  // v is 8 to 15, times 2^octave
    return std::min(8 * (octave + 1) + static_cast<unsigned>(v >> octave & 7), kClasses - 1);
  }
  /// The largest number of a class.
  static uint64_t upper(unsigned i) {
    if (i < 8) return ((uint64_t{i} + 1) << kUnit) - 1;
    return ((uint64_t{8} + i % 8 + 1) << (i / 8 - 1 + kUnit)) - 1;
  }
  std::array<uint64_t, kClasses> counts_{};
};

}  // namespace mrc::sim

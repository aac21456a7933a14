// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mrc::log {

/// Tells frames that were captured twice from those that were sent twice. A frame that comes again at the same place
/// was sent again; at another one within 100 us it is the same: both ends of a link, or a mirror port. Of a frame that
/// was seen n times at one place and m times at another one, max(n, m) count.
class Duplicates {
 public:
  /// `ns`: when it was captured, about in the order of time. `place`: where, see place_of().
  /// True: the frame has been told before.
  bool again(std::span<const uint8_t> frame, uint64_t length, uint64_t ns, uint64_t place);

  /// An interface of a capture, as this frame came through it: at a mirror port, packets of several hops do.
  static uint64_t place_of(uint32_t capture, uint32_t interface, std::span<const uint8_t> frame);

  uint64_t memory() const { return seen_.size() * (sizeof(Seen) + 64); }

 private:
  static constexpr uint64_t kWindowNs = 100'000;
  static constexpr std::size_t kMost = std::size_t{1} << 16;  ///< frames that are remembered
  static constexpr std::size_t kMostPlaces = 64;              ///< of one; beyond them each counts
  struct Seen {
    uint64_t since = 0;
    uint32_t told = 0;                                    ///< so many of them count
    std::vector<std::pair<uint64_t, uint32_t>> places{};  ///< and how often it was seen there
  };
  std::unordered_map<uint64_t, Seen> seen_;
  std::deque<std::pair<uint64_t, uint64_t>> order_;  ///< since, key
};

}  // namespace mrc::log

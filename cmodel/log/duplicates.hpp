// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

namespace mrc::log {

/// Tells frames that were captured twice from those that were sent twice. A frame that comes again at the same place
/// was sent again. At another place within 100 us it is the same one: both ends of a link, or a mirror port. Of a frame
/// that was seen n times at one place and m times at another one, max(n, m) count.
///
/// A NIC may send the same bytes on two planes, as an ACK that it repeats. So what is not unique counts as the same
/// only between interfaces that have shown a unique frame twice before.
///
/// Frames beyond the newest 65536, and places of one beyond six, are forgotten: what they show again counts again.
class Duplicates {
 public:
  /// Where and when a frame was captured.
  struct Sight {
    uint64_t ns = 0;         ///< about in the order of time
    uint64_t interface = 0;  ///< any number that is its own
    bool unique = false;     ///< no NIC sends these bytes twice: data that are no retransmission, SACKs
  };
  /// True: the frame has been told before.
  bool again(std::span<const uint8_t> frame, uint64_t length, const Sight& sight);

 private:
  static constexpr uint64_t kWindowNs = 100'000;
  static constexpr std::size_t kMost = std::size_t{1} << 16;  ///< frames that are remembered
  static constexpr std::size_t kMostPlaces = 6;               ///< of one; beyond them each counts
  /// An interface, and the hop that a frame was at: at a mirror port, packets of several hops come through one.
  struct Place {
    uint64_t interface = 0, hop = 0;
    uint32_t times = 0;
  };
  struct Seen {
    uint32_t told = 0;   ///< so many of them count
    uint32_t count = 0;  ///< of places
    std::array<Place, kMostPlaces> places;
  };
  bool known(uint64_t a, uint64_t b) const { return alike_.contains({std::min(a, b), std::max(a, b)}); }

  std::unordered_map<uint64_t, Seen> seen_;
  std::deque<std::pair<uint64_t, uint64_t>> order_;  ///< since when, key
  std::set<std::pair<uint64_t, uint64_t>> alike_;    ///< interfaces that show the same
};

}  // namespace mrc::log

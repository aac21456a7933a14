// SPDX-License-Identifier: Apache-2.0
/// When a packet that a SACK does not report is overdue: by time stamps, whatever the timer (docs/protocol/loss.md
/// section 3; assumption A-83).
#pragma once

#include <algorithm>
#include <cstdint>

#include "protocol/tx_window.hpp"

namespace mrc {

/// The longest round trip of late is kept in 256ths of a tick: a 256th of it is forgotten at each SACK.
inline constexpr unsigned kLongestShift = 8;

/// Longest round trip of late after one that took `took` ticks; `least`: the smallest that it may be, in ticks. 24
/// bits.
constexpr uint32_t longest_of_late(uint32_t longest, uint16_t took, uint32_t least) {
  return std::max({uint32_t{took} << kLongestShift, longest - (longest >> kLongestShift), least << kLongestShift});
}
/// The same in ticks, rounded up.
constexpr uint32_t longest_ticks(uint32_t longest) { return (longest + (1u << kLongestShift) - 1) >> kLongestShift; }

/// Ticks that a packet may be behind one that arrived: so many eighths of the longest round trip, `ticks`. After a trim
/// queues are full, and retransmissions go first: four times as many.
constexpr uint32_t overdue_spare(uint32_t eighths, uint32_t ticks, bool trims) {
  return eighths * ticks / (trims ? 2 : 8);
}

/// Of the PSNs `gaps` of a row those that may be lost: neither reported nor waiting for retransmission.
template <class Mask>
constexpr Mask overdue_asked(const PsnRow<Mask>& row, MaskArg<Mask> gaps) {
  return static_cast<Mask>(gaps & ~(row.sacked | row.pend));
}

/// True when a transmission at time stamp `sent` is older than the packet that the SACK answers, sent at `answered`, by
/// more than `spare` ticks. From half of a time stamp's range on (4.2 ms) nobody can tell which one was first.
constexpr bool is_overdue(uint16_t sent, uint16_t answered, uint32_t spare) {
  const auto age = static_cast<uint16_t>(answered - sent);
  return age < 0x8000 && age > spare;
}

}  // namespace mrc

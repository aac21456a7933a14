// SPDX-License-Identifier: Apache-2.0
/// When a packet that a SACK does not report is overdue: by time stamps, whatever the timer (docs/fabric.md, "Losses
/// known by time"). MRC leaves to the requestor what it takes for lost; the NIC does without (A-08).
#pragma once

#include <algorithm>
#include <cstdint>

#include "protocol/tx_window.hpp"

namespace mrc {

/// Of the longest round trip of late so large a part is forgotten at each SACK.
inline constexpr uint32_t kLongestFades = 256;

/// Longest round trip of late after one that took `took` ticks; `full`: base_rtt and target_delay, the least it is.
constexpr uint32_t longest_of_late(uint32_t longest, uint32_t took, uint32_t full) {
  return std::max({took, longest - longest / kLongestFades, full});
}

/// Ticks that a packet may be behind one that arrived: so many eighths of the longest round trip. A probe (`pr`) has a
/// class of its own and overtakes what waits in queues: twice as many.
constexpr uint32_t overdue_spare(uint32_t eighths, uint32_t longest, bool pr) {
  return eighths * longest / (pr ? 4 : 8);
}

/// Marks a PSN as lost and says so: its newest transmission, at time stamp `sent`, is older than the packet that the
/// SACK answers by more than `spare` ticks. Not when it has arrived or waits for retransmission already; nor from half
/// of a time stamp's range on (4.2 ms), when nobody can tell which one was first.
template <class Mask>
constexpr bool overdue_lost(PsnRow<Mask>& row, uint32_t psn, uint16_t sent, uint16_t answered, uint32_t spare) {
  const Mask bit = psn_bit<Mask>(psn);
  if ((row.sacked | row.pend) & bit) return false;
  const auto age = static_cast<uint16_t>(answered - sent);
  if (age >= 0x8000 || age <= spare) return false;
  row.pend |= bit;
  return true;
}

}  // namespace mrc

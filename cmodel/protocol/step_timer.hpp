// SPDX-License-Identifier: Apache-2.0
/// The retransmission timer in steps of a quarter of its interval (docs/design/blocks/tx/inflight/tx_inflight.md, "The
/// timer"): a packet is taken for lost one interval and at most one step after it was sent.
#pragma once

#include <array>
#include <cstdint>

#include "protocol/tx_window.hpp"

namespace mrc {

/// Steps of the timer's interval.
inline constexpr unsigned kTimerSteps = 4;

/// Where the window's end was, 4, 3, 2 and 1 steps ago, and how many of these are still to be taken down.
struct StepMarks {
  std::array<uint32_t, kTimerSteps> mark{};  ///< [0]: an interval ago
  uint8_t count = 0;

  constexpr void restart(uint32_t nxt) {
    mark.fill(nxt);
    count = kTimerSteps - 1;
  }
  /// No step has passed since the restart.
  constexpr bool first() const { return count == kTimerSteps - 1; }
  /// A step has passed. True: what was sent before mark[0] is overdue; call shift() when that has been seen to.
  constexpr bool step(uint32_t nxt) {
    if (count == 0) return true;
    mark[kTimerSteps - count] = nxt;
    --count;
    return false;
  }
  /// True when una is not behind the oldest mark, no mark behind a newer one, and none behind nxt. Always so for
  /// who restarts when una moves.
  constexpr bool in_order(uint32_t una, uint32_t nxt) const {
    for (uint32_t before = 0; const uint32_t m : mark) {
      if (psn_dist(m, una) < before) return false;
      before = psn_dist(m, una);
    }
    return psn_dist(mark.back(), una) <= psn_dist(nxt, una);
  }
  constexpr void shift(uint32_t nxt) {
    for (unsigned i = 0; i + 1 < kTimerSteps; ++i) mark[i] = mark[i + 1];
    mark[kTimerSteps - 1] = nxt;
  }
};

/// Of each PSN of a row the timer steps for which it is spared, and 1: three bits each, by their weight. 0: it was not
/// sent again since the timer found it.
template <class Mask>
struct PsnAges {
  std::array<Mask, 3> bit{};
  bool operator==(const PsnAges&) const = default;

  constexpr Mask any() const { return static_cast<Mask>(bit[0] | bit[1] | bit[2]); }
  /// PSNs that a step spares.
  constexpr Mask spared() const { return static_cast<Mask>(bit[1] | bit[2]); }
  constexpr void set(unsigned i, unsigned age) {
    for (unsigned b = 0; b < 3; ++b) {
      bit[b] = static_cast<Mask>((bit[b] & ~(Mask{1} << i)) | Mask(age >> b & 1u) << i);
    }
  }
  /// PSN i goes again, and is to be spared for so many steps. Who went again before keeps its age: the timer runs on.
  constexpr void again(unsigned i, unsigned steps) {
    if ((any() >> i & 1u) == 0) set(i, steps + 1);
  }
  constexpr void clear(Mask mask) {
    for (Mask& b : bit) b &= static_cast<Mask>(~mask);
  }
  /// One step less for each PSN of the mask, of which none may be 0.
  constexpr void less(Mask mask) {
    for (Mask& b : bit) {
      const auto borrow = static_cast<Mask>(mask & ~b);
      b ^= mask;
      mask = borrow;
    }
  }
};
using RowAges = PsnAges<uint64_t>;

/// Steps for which a packet sent again is spared, `elapsed` of `step` after the timer's last step: about an interval.
constexpr unsigned spared_steps(uint32_t elapsed, uint32_t step) {
  return elapsed >= step / 2 ? kTimerSteps : kTimerSteps - 1;
}

/// What a step finds in a row.
template <class Mask>
struct StepRow {
  Mask lost;     ///< overdue: pending now
  Mask spared;   ///< sent again not long ago
  Mask missing;  ///< of the window, not reported

  /// The lowest PSN that is not reported is overdue.
  bool oldest_lost() const { return (lost & missing & -missing) != 0; }
};

/// A step passes over the row at p0. `overdue`: mark[0]. `timed`: what is lost is known by time as well, so the newest
/// copy of what was sent again may have left just now, and its EV is not to blame.
template <class Mask>
constexpr StepRow<Mask> step_row(PsnRow<Mask>& row, PsnAges<Mask>& ages, uint32_t p0, uint32_t una, uint32_t nxt,
                                 uint32_t overdue, bool timed) {
  const auto missing = static_cast<Mask>(range_mask<Mask>(p0, una, nxt) & ~row.sacked);
  const auto out = static_cast<Mask>(missing & ~row.pend);
  const auto spared = static_cast<Mask>(out & ages.spared());
  const auto lost = static_cast<Mask>(out & ~spared & range_mask<Mask>(p0, una, overdue));
  row.nacked &= row.pend;
  row.mute &= row.pend;
  if (timed) row.mute |= static_cast<Mask>(lost & ages.any());
  row.pend |= lost;
  ages.less(spared);
  ages.clear(lost);
  return {lost, spared, missing};
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
/// Rules of the blocks' pages that cmodel/protocol does not have yet, by the pages' names: SKIP by time
/// (docs/blocks/tx/tx_path.md), immediates that wait (docs/blocks/tx/segment/tx_segment.md), packets that come back
/// (docs/blocks/rx/rx_lane.md, docs/blocks/tx/inflight/tx_inflight.md), EVs that are never 0.
#pragma once

#include <cstdint>

#include "protocol/ev_set.hpp"
#include "protocol/tx_window.hpp"

namespace mrc::sim::rules {

/// Turns of SKIP, with SkipMode::RoundTrip.
inline constexpr unsigned kSkipTurns = 3;

/// Register CTRL.skip_mode, and which turn it is.
struct SkipRule {
  SkipMode mode = SkipMode::Pass;
  unsigned turn = 0;
};

/// The turn of a tick: each is `ticks` long.
constexpr unsigned skip_turn(uint32_t tick, unsigned ticks) { return tick / (ticks != 0 ? ticks : 1) % kSkipTurns; }

constexpr bool ev_is_skip(unsigned state) { return state == kEvSkip || state == kEvSkip2 || state == kEvSkip3; }
/// The walk may give it to a packet, now or on its next round.
constexpr bool ev_in_use(unsigned state) { return state == kEvGood || ev_is_skip(state); }

/// State of an EV that has just been marked.
constexpr unsigned ev_skip_tag(const SkipRule& rule) {
  if (rule.mode != SkipMode::RoundTrip || rule.turn == 0) return kEvSkip;
  return rule.turn == 1 ? kEvSkip2 : kEvSkip3;
}
/// An EV in this state has been skipped for long enough: marked two turns ago, so for one whole turn at least.
constexpr bool ev_skip_due(unsigned state, const SkipRule& rule) {
  return rule.mode != SkipMode::RoundTrip || state == ev_skip_tag({rule.mode, (rule.turn + 1) % kSkipTurns});
}

/// State of an EV after feedback, as mrc::ev_after().
constexpr unsigned ev_after(unsigned state, FbKind kind, bool match, bool plane_ok, const SkipRule& rule) {
  switch (kind) {
    case FbKind::SkipOnce:
      if (!match) return state;
      if (state == kEvGood) return ev_skip_tag(rule);
      return rule.mode == SkipMode::Twice && (state == kEvSkip || state == kEvSkip3) ? kEvSkip2 : state;
    case FbKind::AlwaysSkip:
      return match && ev_in_use(state) ? kEvBad : state;
    case FbKind::Loss:
      return ev_in_use(state) && plane_ok ? kEvBad : state;
    case FbKind::RevivedSkip:
      return state == kEvBad ? ev_skip_tag(rule) : state;
    case FbKind::RevivedGood:
      return state == kEvBad ? kEvGood : state;
    default:
      return state;
  }
}

/// What a change of state does to the number of EVs in use.
constexpr int ev_active_change(unsigned before, unsigned after) {
  return static_cast<int>(ev_in_use(after)) - static_cast<int>(ev_in_use(before));
}

/// One group of the set during a walk, as mrc::EvGroup.
struct EvGroup {
  EvRow row = 0;
  unsigned u = 0;
  bool restored = false, spare = false, busy = false;
  uint16_t restored_idx = 0;
  uint16_t spare_idx = 0;  ///< first EV in SKIP that was not due: for a packet that finds nothing else
  int chosen = -1;
};

/// Inspects the planes of group `group` in the order k ^ klo, as mrc::ev_walk_group().
constexpr EvGroup ev_walk_group(EvGroup g, unsigned group, unsigned klo, const EvChoice& c, const SkipRule& rule) {
  g.busy = false;
  g.chosen = -1;
  for (unsigned k = 0; k < c.planes; ++k) {
    const unsigned j = k ^ klo, bit = 1u << j;
    if ((g.u & bit) || !(c.up & bit)) continue;
    const auto ev_idx = static_cast<uint16_t>(group * c.planes + j);
    const unsigned state = ev_state(g.row, j);
    if (state == kEvGood) {
      if ((c.avoid_on && ev_idx == c.avoid_ev) || (g.restored && ev_idx == g.restored_idx)) {
        g.u |= bit;
      } else if (c.room & bit) {
        g.chosen = static_cast<int>(j);
        g.u |= bit;
        return g;
      } else {
        g.busy = true;
      }
      continue;
    }
    g.u |= bit;
    if (!ev_is_skip(state)) continue;  // ASSUMED_BAD, DENIED, Standby
    if (!ev_skip_due(state, rule)) {
      if (!g.spare) g.spare_idx = ev_idx;
      g.spare = true;
    } else if (state == kEvSkip2 && rule.mode != SkipMode::RoundTrip) {
      g.row = ev_with_state(g.row, j, kEvSkip);  // one of its two turns is over
    } else if (!g.restored) {
      g.row = ev_with_state(g.row, j, kEvGood);
      g.restored = true;
      g.restored_idx = ev_idx;
    }
  }
  return g;
}

/// A message is not begun: it has an immediate, and `limit` of them are on their way.
constexpr bool wimm_held(bool first_packet, bool imm_valid, uint8_t sent, uint8_t complete, unsigned limit) {
  return first_packet && imm_valid && static_cast<uint8_t>(sent - complete) == limit;
}

/// A generated EV: 8 takes the place of 0, which one vendor's NICs refuse, if the next value is 0 as well.
constexpr uint32_t ev_not_zero(uint32_t value) { return value != 0 ? value : 8; }

/// Of our own packets, trimmed and sent back. marked: by a code point of trimmed packets; returned_code: by that
/// of returned ones, if the operator has one; from_us, to_us: its inner addresses are ours.
constexpr bool rx_came_back(bool marked, bool returned_code, bool from_us, bool to_us) {
  return returned_code || (marked && (from_us || !to_us));
}

/// Marks a PSN of the window as lost because its packet has come back, and says so. rtx: of that packet; again: the one
/// that is out is a retransmission. Not when it has arrived, waits already, or was sent again meanwhile.
template <class Mask>
constexpr bool returned_lost(PsnRow<Mask>& row, uint32_t psn, bool rtx, bool again) {
  const Mask bit = psn_bit<Mask>(psn);
  if (((row.sacked | row.pend) & bit) != 0 || rtx != again) return false;
  row.pend |= bit;
  return true;
}

}  // namespace mrc::sim::rules

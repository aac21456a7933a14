// SPDX-License-Identifier: Apache-2.0
/// States of entropy values, and the walk through a set of them (docs/design/blocks/tx/tx_path.md; mrc.md section 5).
#pragma once

#include <cstdint>

#include "gen/headers.hpp"
#include "gen/protocol.hpp"

namespace mrc {

/// Next value of the Galois register that makes each pass through the set another one (never 0).
constexpr uint16_t ev_key_next(uint16_t lfsr) {
  return static_cast<uint16_t>((lfsr >> 1) ^ ((lfsr & 1u) ? 0xB400u : 0u));
}

/// States of a group's EVs, three bits each, plane 0 in bits 2:0.
using EvRow = uint32_t;

/// State of plane j.
constexpr unsigned ev_state(EvRow row, unsigned j) { return (row >> (3 * j)) & 7u; }

/// The row with the state of plane j replaced.
constexpr EvRow ev_with_state(EvRow row, unsigned j, unsigned state) {
  return (row & ~(7u << (3 * j))) | (state << (3 * j));
}

/// A row with all planes in one state.
constexpr EvRow ev_uniform(unsigned planes, unsigned state) {
  EvRow row = 0;
  for (unsigned j = 0; j < planes; ++j) row = ev_with_state(row, j, state);
  return row;
}

/// EV index of a packet that found no usable EV.
inline constexpr uint16_t kNoPathEv = 0xffff;

/// Planes a QP may use: bit p of own port up, and of what the peer's ports can receive on.
constexpr unsigned ev_plane_ok(unsigned port_up, unsigned peer_mask) { return port_up & peer_mask; }

/// True for an EV that the walk may give to a packet, now or on its next round.
constexpr bool ev_in_use(unsigned state) {
  return state == kEvGood || state == kEvSkip || state == kEvSkip2 || state == kEvSkip3;
}

/// How long EVs are in SKIP, and the turn of now (docs/design/blocks/tx/tx_path.md, "Rules"; assumption A-20).
struct EvSkipping {
  SkipMode mode = SkipMode::Pass;  ///< CTRL.skip_mode
  unsigned turn = 0;               ///< 0, 1 or 2; of no meaning but with RoundTrip

  /// 3 is taken as RoundTrip.
  constexpr bool round_trip() const { return mode != SkipMode::Pass && mode != SkipMode::Twice; }
};

/// The turn after `turn`.
constexpr unsigned ev_turn_next(unsigned turn) { return turn == 2 ? 0 : turn + 1; }

/// The state of an EV that is marked now. RoundTrip: it says in which turn.
constexpr unsigned ev_skip_tag(const EvSkipping& now) {
  if (!now.round_trip() || now.turn == 0) return kEvSkip;
  return now.turn == 1 ? kEvSkip2 : kEvSkip3;
}

/// True when an EV in a SKIP state may come back. RoundTrip: it was marked two turns ago, so a whole turn has passed.
constexpr bool ev_skip_due(unsigned state, const EvSkipping& now) {
  return !now.round_trip() || state == ev_skip_tag({now.mode, ev_turn_next(now.turn)});
}

/// True for an m of a SACK that is feedback on the packet's EV (mrc.md section 3); 0 says nothing, 3 is reserved.
constexpr bool mark_is_feedback(unsigned m) {
  return m == static_cast<unsigned>(wire::Mark::SkipOnce) || m == static_cast<unsigned>(wire::Mark::AlwaysSkip);
}
/// The kind of that feedback.
constexpr FbKind mark_feedback(unsigned m) {
  return m == static_cast<unsigned>(wire::Mark::SkipOnce) ? FbKind::SkipOnce : FbKind::AlwaysSkip;
}
/// True for an m of a SACK whose packet came with a mark of congestion.
constexpr bool mark_is_ecn(unsigned m) { return m == static_cast<unsigned>(wire::Mark::SkipOnce); }

/// State of an EV after feedback. `match`: the profile still holds the entropy that the feedback names. A loss and a
/// revival are about the EV of the QP's own set, whatever the profile holds now. `plane_ok`: the EV's plane can be used
/// at this moment; if not, the port is to blame for a loss, not the EV. Nor is the EV if the world is (blame.hpp).
constexpr unsigned ev_after(unsigned state, FbKind kind, bool match, bool plane_ok = true, const EvSkipping& now = {}) {
  switch (kind) {
    case FbKind::SkipOnce:
      if (!match) return state;
      if (state == kEvGood) return ev_skip_tag(now);
      return now.mode == SkipMode::Twice && (state == kEvSkip || state == kEvSkip3) ? kEvSkip2 : state;
    case FbKind::AlwaysSkip:
      return match && ev_in_use(state) ? kEvBad : state;
    case FbKind::Loss:
      return ev_in_use(state) && plane_ok ? kEvBad : state;
    case FbKind::RevivedGood:
      return state == kEvBad ? kEvGood : state;
    case FbKind::RevivedSkip:
      return state == kEvBad ? ev_skip_tag(now) : state;
    default:
      return state;
  }
}

/// State of an EV after the controller's word (table EV_STATE): any state to DENIED, and DENIED back to GOOD.
constexpr unsigned ev_after_deny(unsigned state, bool deny) {
  if (deny) return kEvDenied;
  return state == kEvDenied ? kEvGood : state;
}

/// What a change of state does to the number of EVs in use.
constexpr int ev_active_change(unsigned before, unsigned after) {
  return static_cast<int>(ev_in_use(after)) - static_cast<int>(ev_in_use(before));
}

/// What a packet may use at this moment.
struct EvChoice {
  unsigned planes;    ///< number of planes, a power of two
  unsigned up;        ///< bit p: plane p can be used (ev_plane_ok)
  unsigned room;      ///< bit p: lane p has room
  bool avoid_on;      ///< avoid_ev counts
  uint16_t avoid_ev;  ///< EV index
  EvSkipping skip{};  ///< which EVs in SKIP may come back
  bool bad = false;   ///< one that is ASSUMED_BAD serves when no other does (A-90)
};

/// What a walk has passed over that serves when it finds nothing else, the better last.
enum class EvSpare : uint8_t {
  None,
  Bad,    ///< ASSUMED_BAD
  Later,  ///< in SKIP, and may not come back yet
};

/// True when a walk that is at its place now will see every group of this pass: it begins a pass. `u`: planes done in
/// group number `grp` of the pass.
constexpr bool ev_walk_whole(unsigned grp, unsigned u) { return grp == 0 && u == 0; }

/// True when a walk has seen the whole set, group number `grp` of the pass being exhausted. One that began in the
/// middle of a pass goes through all of the next one: its order is another, and what was left of the set cannot be told
/// from the number of groups.
constexpr bool ev_walk_over(bool whole, unsigned grp, unsigned groups) { return whole && grp + 1 == groups; }

/// One group of the set (one EV per plane) during a walk.
struct EvGroup {
  EvRow row = 0;              ///< states
  unsigned u = 0;             ///< bit p: plane p was used or passed in this group
  bool restored = false;      ///< this packet has restored an EV
  uint16_t restored_idx = 0;  ///< which
  EvSpare spare{};            ///< what this packet has passed over
  uint16_t spare_idx = 0;     ///< the first such EV
  bool busy = false;          ///< a GOOD EV had no room
  int chosen = -1;            ///< plane, or -1
};

/// Inspects the planes of group `group` in the order k ^ klo and returns the state after it. The row has changed if an
/// EV was restored, or has been skipped the first of two times. An EV that this packet has restored serves later
/// packets only: the rest of the walk passes it over. One that may not come back yet, or is bad, stays as it is; a walk
/// that finds nothing else uses it.
constexpr EvGroup ev_walk_group(EvGroup g, unsigned group, unsigned klo, const EvChoice& c) {
  g.busy = false;
  g.chosen = -1;
  for (unsigned k = 0; k < c.planes; ++k) {
    const unsigned j = k ^ klo, bit = 1u << j;
    if ((g.u & bit) || !(c.up & bit)) continue;
    const auto ev_idx = static_cast<uint16_t>(group * c.planes + j);
    const unsigned state = ev_state(g.row, j);
    const auto pass_over = [&](EvSpare as) {
      if (g.spare >= as) return;
      g.spare = as;
      g.spare_idx = ev_idx;
    };
    switch (state) {
      case kEvSkip:
      case kEvSkip2:
      case kEvSkip3:
        if (!ev_skip_due(state, c.skip)) {
          pass_over(EvSpare::Later);
        } else if (state == kEvSkip2 && !c.skip.round_trip()) {  // it has been skipped the first of two times
          g.row = ev_with_state(g.row, j, kEvSkip);
        } else if (!g.restored) {
          g.row = ev_with_state(g.row, j, kEvGood);
          g.restored = true;
          g.restored_idx = ev_idx;
        }
        g.u |= bit;
        break;
      case kEvGood:
        if ((c.avoid_on && ev_idx == c.avoid_ev) || (g.restored && ev_idx == g.restored_idx)) {
          g.u |= bit;
        } else if (c.room & bit) {
          g.chosen = static_cast<int>(j);
          g.u |= bit;
          return g;
        } else {
          g.busy = true;
        }
        break;
      case kEvBad:
        if (c.bad) pass_over(EvSpare::Bad);
        g.u |= bit;
        break;
      default:  // DENIED, Standby
        g.u |= bit;
        break;
    }
  }
  return g;
}

}  // namespace mrc

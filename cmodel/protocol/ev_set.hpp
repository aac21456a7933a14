// SPDX-License-Identifier: Apache-2.0
/// States of entropy values, and the walk through a set of them (docs/blocks/tx_path.md; mrc.md section 5).
#pragma once

#include <cstdint>

#include "gen/streams.hpp"

namespace mrc {

/// Next value of the Galois register that makes each pass through the set another one (never 0).
constexpr uint16_t ev_key_next(uint16_t lfsr) {
  return static_cast<uint16_t>((lfsr >> 1) ^ ((lfsr & 1u) ? 0xB400u : 0u));
}

/// State of plane j in a row of 2-bit states.
constexpr unsigned ev_state(uint16_t row, unsigned j) { return (row >> (2 * j)) & 3u; }

/// The row with the state of plane j replaced.
constexpr uint16_t ev_with_state(uint16_t row, unsigned j, unsigned state) {
  return static_cast<uint16_t>((row & ~(3u << (2 * j))) | (state << (2 * j)));
}

/// What a packet may use at this moment.
struct EvChoice {
  unsigned planes;    ///< number of planes, a power of two
  unsigned up;        ///< bit p: port p is up
  unsigned room;      ///< bit p: lane p has room
  bool avoid_on;      ///< avoid_ev counts
  uint16_t avoid_ev;  ///< EV index
};

/// One group of the set (one EV per plane) during a walk.
struct EvGroup {
  uint16_t row = 0;           ///< states
  unsigned u = 0;             ///< bit p: plane p was used or passed in this group
  bool restored = false;      ///< this packet has restored an EV
  uint16_t restored_idx = 0;  ///< which
  bool busy = false;          ///< a GOOD EV had no room
  int chosen = -1;            ///< plane, or -1
};

/// Inspects the planes of group `group` in the order k ^ klo and returns the state after it. The row has changed if an
/// EV was restored.
constexpr EvGroup ev_walk_group(EvGroup g, unsigned group, unsigned klo, const EvChoice& c) {
  g.busy = false;
  g.chosen = -1;
  for (unsigned k = 0; k < c.planes; ++k) {
    const unsigned j = k ^ klo, bit = 1u << j;
    if ((g.u & bit) || !(c.up & bit)) continue;
    const auto ev_idx = static_cast<uint16_t>(group * c.planes + j);
    switch (ev_state(g.row, j)) {
      case kEvSkip:
        if (!g.restored) {
          g.row = ev_with_state(g.row, j, kEvGood);
          g.restored = true;
          g.restored_idx = ev_idx;
        }
        g.u |= bit;
        break;
      case kEvGood:
        if (c.avoid_on && ev_idx == c.avoid_ev) {
          g.u |= bit;
        } else if (c.room & bit) {
          g.chosen = static_cast<int>(j);
          g.u |= bit;
          return g;
        } else {
          g.busy = true;
        }
        break;
      default:  // ASSUMED_BAD, DENIED
        g.u |= bit;
        break;
    }
  }
  return g;
}

}  // namespace mrc

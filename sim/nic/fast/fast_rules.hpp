// SPDX-License-Identifier: Apache-2.0
/// What the fast endpoint makes of rules of cmodel/protocol where it has no register and no frame of bytes: the turn of
/// SKIP from the time, a packet that comes back from its fields (docs/design/blocks/tx/tx_path.md,
/// docs/design/blocks/rx/rx_lane.md).
#pragma once

#include <cstdint>

namespace mrc::sim::rules {

/// The turn of SKIP at a tick, 0 to 2: each is `ticks` long.
constexpr unsigned skip_turn(uint32_t tick, unsigned ticks) { return tick / (ticks != 0 ? ticks : 1) % 3; }

/// An EV of a seed: 8 takes the place of 0, which one vendor's NICs refuse.
constexpr uint32_t ev_not_zero(uint32_t value) { return value != 0 ? value : 8; }

/// Of our own packets, trimmed and sent back. marked: by a code point of trimmed packets; returned_code: by that
/// of returned ones, if the operator has one; from_us, to_us: its inner addresses are ours.
constexpr bool rx_came_back(bool marked, bool returned_code, bool from_us, bool to_us) {
  return returned_code || (marked && (from_us || !to_us));
}

}  // namespace mrc::sim::rules

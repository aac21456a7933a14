// SPDX-License-Identifier: Apache-2.0
/// What a NIC knows to be lost because a port is down, its own or its peer's (docs/protocol/loss.md section 2;
/// assumption A-82).
#pragma once

#include "protocol/ev_set.hpp"
#include "protocol/tx_window.hpp"

namespace mrc {

/// Marks as lost those of the PSNs `sent` of a row that are out: their newest transmission was given to a port that is
/// down. Returns them. They leave the flight now, and no EV is to blame.
template <class Mask>
constexpr Mask port_lost(PsnRow<Mask>& row, MaskArg<Mask> sent) {
  const auto lost = static_cast<Mask>(sent & ~row.sacked & ~row.pend);
  row.pend |= lost;
  row.nacked |= lost;
  row.mute |= lost;
  return lost;
}

/// A packet on that EV was given to one of the planes `gone`; there is one EV of each plane in a group of EVs. One that
/// found no EV was given to none.
constexpr bool given_to(uint16_t ev_idx, unsigned planes, unsigned gone) {
  return ev_idx != kNoPathEv && (gone >> (ev_idx & (planes - 1)) & 1u) != 0;
}

/// Planes that have gone down from one state of a NIC's ports to the next; one that is up again says nothing.
constexpr unsigned planes_gone(unsigned before, unsigned now) { return before & ~now; }

}  // namespace mrc

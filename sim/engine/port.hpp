// SPDX-License-Identifier: Apache-2.0
/// One end of a link: its transmitter and the wire to the other end.
#pragma once

#include <cstdint>

#include "sim/engine/packet.hpp"
#include "sim/engine/units.hpp"

namespace mrc::sim {

/// Packets on the wire are a list in the order of arrival (the delay is constant), of which only the first has an
/// event, at its at_ps. A port has an event of its own only while something waits for it.
///
/// The first 64 bytes belong to the far end, the others to the owner: they may be of two threads.
struct alignas(64) Port {
  Packet *head = nullptr, *tail = nullptr;  ///< on the wire
  uint32_t peer_node = kNone;
  uint32_t link = kNone;
  uint16_t peer_index = 0;   ///< port within the far node
  bool peer_switch = false;  ///< the far end is a switch
  bool from_a = false;       ///< this is the link's end a
  uint64_t lost = 0, lost_bytes = 0;
  uint64_t ingress_discards = 0;  ///< of what came in here: no route, hop limit
  uint64_t egress_discards = 0;   ///< routed here while down

  alignas(64) Time free_ps = 0;  ///< when the transmitter is free
  Time wake_ps = kNever;         ///< the event of the port becoming free
  Rate rate{};
  int64_t delay_ps = 0;  ///< from the end of the gap behind the last (or header's last) byte to the far end's decision
  uint64_t packets = 0, bytes = 0;  ///< begun
  uint32_t node = kNone;            ///< whose port
  uint16_t index = 0;               ///< port within its node
  bool up = false;                  ///< there is a link, and its carrier as this end knows it
  bool carrier = false;             ///< as it is
  bool cut_through = false;         ///< the far end decides after the first bytes
  bool is_special = false;          ///< impaired, tapped or without carrier
  bool is_switch = false;           ///< the owner is one
  uint8_t peer_shard = 0;           ///< of the far node (Fabric::place())
};
static_assert(sizeof(Port) == 128, "two cache lines");

}  // namespace mrc::sim

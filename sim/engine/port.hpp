// SPDX-License-Identifier: Apache-2.0
/// One end of a link: its transmitter and the wire to the other end.
#pragma once

#include <cstdint>

#include "sim/engine/packet.hpp"
#include "sim/engine/units.hpp"

namespace mrc::sim {

/// How long packets of a port take. A fabric has few of these.
struct PortTiming {
  Rate rate{};
  int64_t delay_ps = 0;  ///< from the end of the gap behind the last (or header's last) byte to the far end's decision
  bool cut_through = false;  ///< the far end decides after the first bytes
  bool operator==(const PortTiming&) const = default;
};

/// What most ports never count.
struct PortLosses {
  uint64_t lost = 0, lost_bytes = 0;
  uint64_t ingress_discards = 0;  ///< of what came in here: no route, hop limit
  uint64_t egress_discards = 0;   ///< routed here while down
};

/// Packets on the wire are a list in the order of arrival (the delay is constant), of which only the first has an
/// event, at its at_ps. A port has an event of its own only while something waits for it.
///
/// A large fabric has millions: what is here is looked at for each packet, everything else is Fabric's.
struct alignas(64) Port {
  Packet *head = nullptr, *tail = nullptr;  ///< on the wire: the far end's
  Time free_ps = 0;                         ///< when the transmitter is free
  Time wake_ps = kNever;                    ///< the event of the port becoming free
  uint64_t packets = 0, bytes = 0;          ///< begun
  uint32_t peer_node = kNone;
  uint32_t node = kNone;         ///< whose port
  uint32_t timing = 0;           ///< Fabric::timing()
  uint16_t peer_index = 0;       ///< port within the far node
  uint8_t peer_shard = 0;        ///< of the far node (Fabric::place())
  bool up : 1 = false;           ///< there is a link, and its carrier as this end knows it
  bool carrier : 1 = false;      ///< as it is
  bool is_special : 1 = false;   ///< impaired, tapped or without carrier
  bool is_switch : 1 = false;    ///< the owner is one
  bool peer_switch : 1 = false;  ///< the far end is one
};
static_assert(sizeof(Port) == 64, "one cache line");

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
/// When a transmit lane takes one more data packet (docs/design/blocks/tx/tx_lane.md, lane_room_o).
#pragma once

namespace mrc {

/// Places of a lane's data queue that are kept for packets on their way to it.
inline constexpr unsigned kLaneUnderWay = 8;
/// With more payload than this in the data queue, in bytes, the lane has no room: few large packets hide the host's
/// latency, and more make the planes drift apart.
inline constexpr unsigned kLaneBytes = 16384;

/// `packets`: in the data queue of `fifo` places, and one more while the lane sends one; `bytes`: payload in the queue.
constexpr bool lane_room(unsigned packets, unsigned bytes, unsigned fifo) {
  return packets < fifo - kLaneUnderWay && bytes <= kLaneBytes;
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
/// How much a QP sends in one turn (docs/design/blocks/tx/segment/tx_segment.md).
#pragma once

namespace mrc {

/// A grant of the scheduler ends after so many packets, or with the packet that reaches so many bytes of payload.
inline constexpr unsigned kBurstPackets = 16, kBurstBytes = 32768;
/// A controller is asked for so many full packets.
inline constexpr unsigned kBurstRequest = 8;

}  // namespace mrc

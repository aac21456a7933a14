// SPDX-License-Identifier: Apache-2.0
/// Between a packet's fields and its frame, where endpoints of different fidelity talk to each other.
#pragma once

#include "sim/engine/packet.hpp"
#include "wire/packet.hpp"

namespace mrc::sim {

/// Bytes of a frame without FCS: what Packet::size must be when a fast endpoint sends it.
/// opcode: one of wire::Opcode; payload in bytes, padded to 4.
unsigned frame_size(Stack stack, uint8_t opcode, bool ts, unsigned payload);

/// Fills the fields behind the first 64 bytes (dqp ... probe) from a decoded packet.
void read_fields(Packet& packet, const wire::Packet& decoded);

/// What fields do not say.
struct FrameContext {
  wire::WireConfig wire{.udp_port = wire::kUdpPortMrc};  ///< as register UDP_PORT after reset (A-01)
  uint16_t p_key = 0xffff;
  std::array<uint8_t, 6> src_mac{}, dst_mac{};
  /// Fills the payload that goes to that address of the receiver; null: zeros.
  void (*payload)(uint64_t va, std::span<uint8_t> bytes) = nullptr;
};

/// Attaches the frame that the fields describe, with a valid ICRC; a packet that has been trimmed gets what the switch
/// would have left of it. Addresses of hosts are host_address() (IPv4: their number). A packet that
/// has bytes keeps them. False: no opcode of MRC, or no stack: nothing is attached.
bool give_frame(PacketPool& pool, Packet& packet, const FrameContext& context = {});

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
/// Packets from NIC to NIC: port status updates and EV probes (docs/design/blocks/ctl/endpoint.md; mrc.md section 3,
/// ERTH; opcodes 0xD8 and 0xD9).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "protocol/opcodes.hpp"
#include "protocol/timestamp.hpp"
#include "protocol/types.hpp"

namespace mrc {

/// Who sent a request: bits 15:14 of its id.
enum class EpKind : uint8_t { PortStatus = 0, ControllerProbe = 1, ReverseProbe = 2, RevivalProbe = 3 };

/// EP_CTL.repeats: a port status update is sent again until it is answered.
inline constexpr unsigned kEpRepeatsForEver = 15;

/// Doublings of the first wait: none is longer than any interval then.
inline constexpr unsigned kEpMostDoublings = 10;

/// Bits of the destination in the id of a port status update, of a NIC with so many destinations (a power of two).
constexpr unsigned ep_update_dest_bits(unsigned num_dests) {
  return std::max(8u, static_cast<unsigned>(std::bit_width(num_dests)) - 1);
}
/// The number of a port status update modulo what its id has room for.
constexpr unsigned ep_update_seq(unsigned seq, unsigned dest_bits) { return seq & ((0x4000u >> dest_bits) - 1); }
/// Id of a port status update: its number, and the destination.
constexpr uint16_t ep_update_id(unsigned seq, unsigned dest, unsigned dest_bits) {
  return static_cast<uint16_t>(ep_update_seq(seq, dest_bits) << dest_bits | (dest & ((1u << dest_bits) - 1)));
}
/// Id of an EV probe: its number of 14 bits.
constexpr uint16_t ep_probe_id(EpKind kind, unsigned seq) {
  return static_cast<uint16_t>(static_cast<unsigned>(kind) << 14 | (seq & 0x3fffu));
}

/// port_status_mask for planes that are up. Bit N is port N and ports count from 1, or bit p is plane p.
constexpr uint32_t ep_mask_of_planes(unsigned planes_up, bool from_0) { return from_0 ? planes_up : planes_up << 1; }

/// Planes that a port_status_mask names.
constexpr unsigned ep_planes_of_mask(uint32_t mask, unsigned planes, bool from_0) {
  return (from_0 ? mask : mask >> 1) & ((1u << planes) - 1u);
}

/// Plane of a port status update: the first of from, from+1, ... (modulo planes) that both ends can use, or if there is
/// none that we can use. own is not 0.
constexpr unsigned ep_update_plane(unsigned from, unsigned own, unsigned peer, unsigned planes) {
  const unsigned use = (own & peer) != 0 ? own & peer : own;
  for (unsigned k = 0; k < planes; ++k) {
    const unsigned p = (from + k) & (planes - 1);
    if (use >> p & 1u) return p;
  }
  return 0;
}

/// Ticks without an answer after which an update that has been sent again `tries` times goes again: a round trip first,
/// then twice that, at most the interval; port_wait: the interval.
constexpr uint32_t ep_update_wait(uint32_t interval, unsigned tries, bool port_wait) {
  return port_wait ? interval : std::min(64u << std::min(tries, kEpMostDoublings), interval);
}

/// Ticks between two updates to one destination at least: all numbers of a destination together last 128 ticks, however
/// few they are.
constexpr uint32_t ep_update_gap(unsigned dest_bits) { return 1u << (dest_bits - 7); }

/// Entropy of the next reverse path probe: a Galois register of 32 bits, never 0.
constexpr uint32_t ep_entropy_next(uint32_t lfsr) { return (lfsr >> 1) ^ ((lfsr & 1u) ? 0xA3000000u : 0u); }

/// A request of one of the kinds of wire::ErthOp that is sent in tick `tick`. mask: as on the wire; tsr_us: register
/// CTRL.
inline ControlPacket build_endpoint_request(uint16_t id, wire::ErthOp op, uint32_t mask, uint32_t tick, bool tsr_us) {
  ControlPacket c{.opcode = opcode_byte(wire::Opcode::EndpointRequest), .psn = id, .ext_len = wire::Erth::kBytes};
  wire::Erth erth;
  erth.op = static_cast<uint8_t>(op);
  erth.port_status_mask = mask;
  erth.tx_timestamp16 = time_stamp(tick, tsr_us);
  erth.tsr = tsr_us;
  erth.ftype = static_cast<uint8_t>(wire::Ftype::Timestamp16);
  erth.write(c.ext.data());
  return c;
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
/// Arithmetic of line rate: what the ports of a NIC can carry at most (docs/design/performance.md).
#pragma once

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "protocol/srv6.hpp"
#include "tb/environment/mac.hpp"

namespace mrc::tb {

/// Bytes of a frame without FCS that carries `payload` bytes: Ethernet 14, outer headers, IPv6 40, UDP 8, BTH 12,
/// METH 4, TSETH 4 if `ts`, RETH 16, payload padded to 4, ICRC 4 (mrc.md section 1).
constexpr unsigned data_frame_bytes(unsigned payload, Encap encap, bool ts) {
  return inner_offset(encap) + 40 + 8 + 12 + 4 + (ts ? 4 : 0) + 16 + (payload + 3) / 4 * 4 + 4;
}
/// The same of a control packet with `ext` bytes of extension headers: 36 for a SACK, 20 for a NACK, 4 for an ACK.
constexpr unsigned control_frame_bytes(unsigned ext, Encap encap) {
  return inner_offset(encap) + 40 + 8 + 12 + ext + 4;
}

/// All planes together, Gb/s.
constexpr double capacity_gbps(const Preset& preset) { return 1.0 * preset.num_planes * preset.port_gbps; }

/// What the data packets of a measurement have in common.
struct DataPackets {
  unsigned payload = 4096;  ///< bytes of each
  Encap encap = Encap::Srv6;
  bool ts = false;
  unsigned immediate_every = 0;  ///< so many packets a message has, the last one with an IMMDT of 4 bytes; 0: none has
  unsigned signal_every = 0;     ///< behind so many packets comes one of no bytes with an IMMDT; 0: none comes
};

/// Bytes of the wire that a data packet takes on average, preamble, FCS and gap included.
constexpr double data_wire_bytes(const DataPackets& d) {
  const unsigned plain = wire_bytes(data_frame_bytes(d.payload, d.encap, d.ts));
  const double signal = wire_bytes(data_frame_bytes(0, d.encap, d.ts) + 4);
  return plain + (d.immediate_every != 0 ? 4.0 / d.immediate_every : 0.0) +
         (d.signal_every != 0 ? signal / d.signal_every : 0.0);
}

/// Payload that the ports carry at most when data frames share them with control frames that take `control_gbps` of
/// the wire (preamble, FCS and gap included): Gb/s.
constexpr double goodput_limit(const Preset& preset, const DataPackets& data, double control_gbps) {
  return (capacity_gbps(preset) - control_gbps) * data.payload / data_wire_bytes(data);
}

/// Ratio of goodput to the limit that a NIC at line rate must reach, by payload.
constexpr double required_ratio(unsigned payload) { return payload >= 4096 ? 0.995 : payload >= 512 ? 0.99 : 0.98; }
/// Smaller packets are measured, but nothing is required of them.
inline constexpr unsigned kSmallestRequired = 64;

}  // namespace mrc::tb

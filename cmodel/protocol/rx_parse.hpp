// SPDX-License-Identifier: Apache-2.0
/// From a received frame to its description (docs/blocks/rx/rx_lane.md, "Fin"; mrc.md sections 1 to 5).
#pragma once

#include <cstdint>
#include <cstring>

#include "gen/headers.hpp"
#include "gen/streams.hpp"
#include "wire/bytes.hpp"
#include "wire/icrc.hpp"

namespace mrc {

/// Bytes from the inner IP header on that a description needs: headers through the largest extension header set.
inline constexpr unsigned kRxHeadBytes = 96;
/// Payload of a packet at most.
inline constexpr unsigned kMaxPayload = 4096;

/// What a lane has collected of a frame when its last byte has passed.
struct RxFrame {
  uint8_t head[kRxHeadBytes] = {};  ///< from the inner IP header on, zero beyond the frame
  uint32_t bytes = 0;               ///< length from the inner IP header on, ICRC included
  uint32_t crc = wire::kIcrcSeed;   ///< ICRC register after all bytes that it covers, the ICRC included
  uint8_t tc = 0;                   ///< traffic class of the first IP header
  uint16_t tick = 0;                ///< time at which it was complete, 128 ns, modulo 2^16
  bool encap_ok = false;            ///< the Ethernet frame carries IPv6, and an SRH is one that can be used
  bool mac_err = false;             ///< the MAC saw an error
};

/// Registers that parsing depends on.
struct RxParseCfg {
  uint16_t udp_port = wire::kUdpPort;
  bool udp_only = false;  ///< no other port but that
  bool ev_swap = false;
  uint8_t dscp_trimmed = 12, dscp_lasthop = 16;
};

/// WRITE opcodes 0xC6..0xCB (mrc.md section 2).
constexpr bool is_data_opcode(uint8_t opcode) { return opcode >= 0xC6 && opcode <= 0xCB; }
/// WRITE Last or Only with immediate.
constexpr bool has_immediate(uint8_t opcode) { return opcode == 0xC9 || opcode == 0xCB; }

/// Reliability probe request.
constexpr bool is_probe_opcode(uint8_t opcode) { return opcode == 0xDE; }
/// SACK, NACK, ACK.
constexpr bool is_control_opcode(uint8_t opcode) { return opcode == 0xDC || opcode == 0xDD || opcode == 0xD1; }
/// Endpoint request or response.
constexpr bool is_endpoint_opcode(uint8_t opcode) { return opcode == 0xD8 || opcode == 0xD9; }

/// Length from the inner IP header on, ICRC included, of the packets that have but one; 0: the opcode has none.
constexpr unsigned rx_fixed_bytes(uint8_t opcode) {
  switch (opcode) {
    case 0xDC:  // SACK
    case 0xD9:  // endpoint response
      return 100;
    case 0xDD:  // NACK
      return 84;
    case 0xDE:  // reliability probe
    case 0xD8:  // endpoint request
      return 80;
    case 0xD1:  // ACK
      return 68;
    default:
      return 0;
  }
}

/// What stands in front of the inner IP header (mrc.md section 1).
enum class RxEncap : uint8_t { Plain, Outer, OuterSrh };

/// By the next header of the first IP header, frame byte 20.
constexpr RxEncap rx_encap(uint8_t next_header) {
  if (next_header == 41) return RxEncap::Outer;
  return next_header == 43 ? RxEncap::OuterSrh : RxEncap::Plain;
}

/// Frame byte at which the inner IP header starts: Ethernet 14, [outer IPv6 40], [SRH 24].
constexpr unsigned rx_inner_offset(RxEncap encap) {
  return encap == RxEncap::Plain ? 14 : encap == RxEncap::Outer ? 54 : 78;
}

/// Frame byte of the first IP header's first byte.
inline constexpr unsigned kIpOffset = 14;
/// Frame byte of an SRH's first byte.
inline constexpr unsigned kSrhOffset = 54;
/// `srh`: an SRH's first four bytes. Next header IPv6, 24 bytes (one segment), routing type 4, segments left 0 or 1.
constexpr bool srh_ok(const uint8_t* srh) { return srh[0] == 41 && srh[1] == 2 && srh[2] == 4 && srh[3] <= 1; }

/// Offset of a WRITE's payload from the inner IP header: IPv6 40, UDP 8, BTH 12, METH 4, [TSETH 4], RETH 16, [ImmDt 4].
constexpr unsigned rx_payload_offset(const uint8_t* head) {
  return 80u + (head[56] & 0x10 ? 4u : 0u) + (has_immediate(head[48]) ? 4u : 0u);
}

/// Shortest frame, from the inner IP header on: IPv6 40, UDP 8, BTH 12, METH 4; with TSETH 4 more, so that the time
/// stamp of a trimmed packet is whole.
constexpr unsigned rx_min_bytes(const uint8_t* head) { return 64u + (head[56] & 0x10 ? 4u : 0u); }

constexpr Trim rx_trim(uint8_t tc, const RxParseCfg& cfg) {
  const unsigned dscp = tc >> 2;
  if (dscp == cfg.dscp_trimmed) return Trim::Trimmed;
  if (dscp == cfg.dscp_lasthop) return Trim::LastHop;
  return Trim::None;
}

/// UDP destination ports of packets of ours: the one that is set, and the two that implementers use.
constexpr bool rx_port_ok(unsigned port, const RxParseCfg& cfg) {
  return port == cfg.udp_port || (!cfg.udp_only && (port == wire::kUdpPort || port == wire::kUdpPortMrc));
}

/// The first reason, in the contract's order, why the frame is not a packet of ours.
constexpr RxErr rx_error(const RxFrame& f, const RxParseCfg& cfg) {
  const uint8_t* h = f.head;
  if (f.mac_err) return RxErr::Mac;
  if (f.bytes < rx_min_bytes(h)) return RxErr::Short;
  if (!f.encap_ok || h[0] >> 4 != 6 || h[6] != 17) return RxErr::Encap;
  if (!rx_port_ok(static_cast<unsigned>(wire::load_be<2>(h + 42)), cfg)) return RxErr::Udp;
  if ((h[49] & 0x0f) != 0) return RxErr::Tver;
  if (rx_trim(f.tc, cfg) != Trim::None)
    return RxErr::None;  // lengths may or may not have been rewritten (mrc.md section 4)
  const auto ip_length = wire::load_be<2>(h + 4);
  if (ip_length + 40 != f.bytes || wire::load_be<2>(h + 44) != ip_length || f.bytes % 4 != 0) return RxErr::Length;
  const uint8_t opcode = h[48];
  if (is_data_opcode(opcode)) {
    const unsigned around = rx_payload_offset(h) + 4 + (h[49] >> 4 & 3u);
    if (f.bytes < around || f.bytes - around > kMaxPayload) return RxErr::Length;
  }
  const unsigned fixed = rx_fixed_bytes(opcode);
  return fixed != 0 && f.bytes != fixed ? RxErr::Length : RxErr::None;
}

/// The description of a frame, into d.
inline void rx_parse(const RxFrame& f, const RxParseCfg& cfg, Rxdesc& d) {
  const uint8_t* h = f.head;
  d.err = rx_error(f, cfg);
  d.trim = rx_trim(f.tc, cfg);
  d.ce = (f.tc & 3) == 3;
  d.icrc_ok = f.crc == wire::kIcrcSeed && f.bytes % 4 == 0;  // the residue of data followed by its CRC is the seed
  d.opcode = h[48];
  d.pad = h[49] >> 4 & 3;
  d.ackreq = (h[56] & 0x80) != 0;
  d.rtx = (h[56] & 0x20) != 0;
  d.ts = (h[56] & 0x10) != 0;
  d.pkey = static_cast<uint16_t>(wire::load_be<2>(h + 50));
  d.dqp = static_cast<uint32_t>(wire::load_be<3>(h + 53));
  d.psn = static_cast<uint32_t>(wire::load_be<3>(h + 57));
  const auto port = static_cast<uint32_t>(wire::load_be<2>(h + 40)),
             flow = static_cast<uint32_t>(wire::load_be<2>(h + 2));
  d.entropy = cfg.ev_swap ? flow << 16 | port : port << 16 | flow;
  d.at = f.tick;
  std::memcpy(d.ext.data(), h + 60, kExtBytes);
  // An endpoint request is answered to the address it came from.
  if (d.opcode == 0xD8) std::memcpy(reinterpret_cast<uint8_t*>(d.ext.data()) + 16, h + 8, 16);
  const bool has_payload = is_data_opcode(d.opcode) && d.err == RxErr::None && d.trim == Trim::None;
  d.plen = has_payload ? static_cast<uint16_t>(f.bytes - rx_payload_offset(h) - 4 - d.pad) : uint16_t{0};
  d.buf_valid = d.plen != 0;
}

/// The lane has no place for the payload of d: the description goes on without it. reason: NoBuffer or NoResource.
inline void rx_without_payload(Rxdesc& d, Trim reason) {
  d.trim = reason;
  d.buf_valid = false;
  d.plen = 0;
}

}  // namespace mrc

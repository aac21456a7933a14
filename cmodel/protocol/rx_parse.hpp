// SPDX-License-Identifier: Apache-2.0
/// From a received frame to its description (docs/design/blocks/rx/rx_lane.md, "Fin"; mrc.md sections 1 to 5).
#pragma once

#include <cstdint>
#include <cstring>

#include "protocol/address.hpp"
#include "protocol/opcodes.hpp"
#include "protocol/types.hpp"
#include "wire/icrc.hpp"

namespace mrc {

// Where a packet's headers begin, from the inner IP header on.
inline constexpr unsigned kRxUdp = wire::Ipv6::kBytes, kRxBth = kRxUdp + wire::Udp::kBytes,
                          kRxExt = kRxBth + wire::Bth::kBytes;

/// Bytes from the inner IP header on that a description needs: headers through the largest extension header set.
inline constexpr unsigned kRxHeadBytes = kRxExt + kMaxExtension;
/// Payload of a packet at most.
inline constexpr unsigned kMaxPayload = 4096;

/// What is known of a frame when its last byte has passed.
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
  uint16_t udp_port = wire::kUdpPortMrc;
  bool udp_only = false;  ///< no other port but that
  bool ev_swap = false;
  uint8_t dscp_trimmed = wire::kDscpTrimmed, dscp_lasthop = wire::kDscpTrimmedLasthop;
  uint8_t dscp_returned = 0;         ///< of packets that a switch has sent back
  bool dscp_returned_valid = false;  ///< the operator has one
  Returned returned = Returned::Drop;
  U128 ip = 0;  ///< own address
  PlaneAddress ip_plane{};
};

/// Length from the inner IP header on, ICRC included, of the packets that have but one; 0: the opcode has none.
constexpr unsigned rx_fixed_bytes(uint8_t opcode) {
  using wire::Opcode;
  constexpr unsigned kAround = kRxExt + wire::kIcrcBytes;
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::Sack:
      return kAround + wire::Seth::kBytes + wire::CcState::kBytes;
    case Opcode::EndpointResponse:
      return kAround + wire::Eeth::kBytes;
    case Opcode::Nack:
      return kAround + wire::Neth::kBytes;
    case Opcode::ProbeRequest:
      return kAround + wire::Peth::kBytes;
    case Opcode::EndpointRequest:
      return kAround + wire::Erth::kBytes;
    case Opcode::Ack:
      return kAround + wire::Aeth::kBytes;
    default:
      return 0;
  }
}

/// What stands in front of the inner IP header (mrc.md section 1).
enum class RxEncap : uint8_t { Plain, Outer, OuterSrh };

/// By the next header of the first IP header.
constexpr RxEncap rx_encap(uint8_t next_header) {
  if (next_header == wire::kProtoIpv6) return RxEncap::Outer;
  return next_header == wire::kProtoRouting ? RxEncap::OuterSrh : RxEncap::Plain;
}

/// Frame byte of the first IP header's first byte, and of its next header.
inline constexpr unsigned kIpOffset = wire::Eth::kBytes, kNextHeaderOffset = kIpOffset + 6;
/// Frame byte of an SRH's first byte.
inline constexpr unsigned kSrhOffset = kIpOffset + wire::Ipv6::kBytes;

/// Frame byte at which the inner IP header starts: Ethernet, [outer IPv6], [SRH].
constexpr unsigned rx_inner_offset(RxEncap encap) {
  return encap == RxEncap::Plain ? kIpOffset : encap == RxEncap::Outer ? kSrhOffset : kSrhOffset + wire::Srh::kBytes;
}

/// `srh`: an SRH's first four bytes. Next header IPv6, 24 bytes (one segment), routing type 4, segments left 0 or 1.
constexpr bool srh_ok(const uint8_t* srh) {
  return srh[0] == wire::kProtoIpv6 && srh[1] == wire::Srh::kBytes / 8 - 1 && srh[2] == wire::kSrhRoutingType &&
         srh[3] <= 1;
}

/// The BTH of a frame's head.
inline wire::Bth rx_bth(const uint8_t* head) { return wire::Bth::read(head + kRxBth); }

/// Offset of a WRITE's payload from the inner IP header: IPv6, UDP, BTH, METH, [TSETH], RETH, [ImmDt].
inline unsigned rx_payload_offset(const uint8_t* head) {
  const wire::Bth bth = rx_bth(head);
  return kRxExt + wire::Meth::kBytes + (bth.ts != 0 ? wire::Tseth::kBytes : 0u) + wire::Reth::kBytes +
         (has_immediate(bth.opcode) ? wire::Immdt::kBytes : 0u);
}

/// Shortest frame, from the inner IP header on: IPv6, UDP, BTH, METH; with TSETH more, so that the time stamp of a
/// trimmed packet is whole.
inline unsigned rx_min_bytes(const uint8_t* head) {
  return kRxExt + wire::Meth::kBytes + (rx_bth(head).ts != 0 ? wire::Tseth::kBytes : 0u);
}

/// By the code point alone: what a switch made of the packet.
constexpr Trim rx_marked(uint8_t tc, const RxParseCfg& cfg) {
  const unsigned dscp = tc >> 2;
  if (dscp == cfg.dscp_trimmed) return Trim::Trimmed;
  if (dscp == cfg.dscp_lasthop) return Trim::LastHop;
  return Trim::None;
}

/// The addresses of a frame's inner IP header.
struct RxAddresses {
  U128 src = 0, dst = 0;
};

/// A switch has sent back a packet of our own: its code point says so, or it is a trimmed one from us, or not to us
///
constexpr bool rx_came_back(uint8_t tc, const RxAddresses& at, const RxParseCfg& cfg) {
  if (cfg.dscp_returned_valid && unsigned{tc} >> 2 == cfg.dscp_returned) return true;
  if (rx_marked(tc, cfg) == Trim::None) return false;
  return address_is_own(at.src, cfg.ip, cfg.ip_plane) || !address_is_own(at.dst, cfg.ip, cfg.ip_plane);
}

/// Has a switch cut the packet, and whose is it?
constexpr Trim rx_trim(uint8_t tc, const RxAddresses& at, const RxParseCfg& cfg) {
  const bool distinct = cfg.returned == Returned::Drop || cfg.returned == Returned::Learn;
  return distinct && rx_came_back(tc, at, cfg) ? Trim::Returned : rx_marked(tc, cfg);
}

/// UDP destination ports of packets of ours: the one that is set, and the two that implementers use.
constexpr bool rx_port_ok(unsigned port, const RxParseCfg& cfg) {
  return port == cfg.udp_port || (!cfg.udp_only && (port == wire::kUdpPort || port == wire::kUdpPortMrc));
}

/// The first reason, in the contract's order, why the frame is not a packet of ours. The headers are those of its head;
/// trim: of rx_trim().
inline RxErr rx_error(const RxFrame& f, const wire::Ipv6& ip, const wire::Udp& udp, const wire::Bth& bth, Trim trim,
                      const RxParseCfg& cfg) {
  if (f.mac_err) return RxErr::Mac;
  if (f.bytes < rx_min_bytes(f.head)) return RxErr::Short;
  if (!f.encap_ok || ip.version != 6 || ip.next_header != wire::kProtoUdp) return RxErr::Encap;
  if (!rx_port_ok(udp.dst_port, cfg)) return RxErr::Udp;
  if (bth.tver != 0) return RxErr::Tver;
  if (trim != Trim::None) return RxErr::None;  // lengths may or may not have been rewritten (mrc.md section 4)
  if (ip.payload_length + wire::Ipv6::kBytes != f.bytes || udp.length != ip.payload_length || f.bytes % 4 != 0) {
    return RxErr::Length;
  }
  if (is_data_opcode(bth.opcode)) {
    const unsigned around = rx_payload_offset(f.head) + wire::kIcrcBytes + bth.pad_count;
    if (f.bytes < around || f.bytes - around > kMaxPayload) return RxErr::Length;
  }
  const unsigned fixed = rx_fixed_bytes(bth.opcode);
  return fixed != 0 && f.bytes != fixed ? RxErr::Length : RxErr::None;
}

/// An IPv6 address as it stands in a header.
inline U128 rx_address(const uint8_t* bytes) {
  return U128{wire::load_be<8>(bytes)} << 64 | wire::load_be<8>(bytes + 8);
}

/// The description of a frame.
inline RxPacket rx_parse(const RxFrame& f, const RxParseCfg& cfg) {
  const auto ip = wire::Ipv6::read(f.head);
  const auto udp = wire::Udp::read(f.head + kRxUdp);
  const wire::Bth bth = rx_bth(f.head);
  const RxAddresses at{.src = rx_address(ip.src.data()), .dst = rx_address(ip.dst.data())};
  RxPacket d;
  d.trim = rx_trim(f.tc, at, cfg);
  d.err = rx_error(f, ip, udp, bth, d.trim, cfg);
  d.ce = (f.tc & 3) == 3;
  d.icrc_ok = f.crc == wire::kIcrcSeed && f.bytes % 4 == 0;  // the residue of data followed by its CRC is the seed
  d.opcode = bth.opcode;
  d.pad = bth.pad_count;
  d.ackreq = bth.a != 0;
  d.rtx = bth.rtx != 0;
  d.ts = bth.ts != 0;
  d.pkey = bth.p_key;
  d.dqp = bth.dqp;
  d.psn = bth.psn;
  const uint32_t port = udp.src_port, flow = ip.flow_label & 0xffff;
  d.entropy = cfg.ev_swap ? flow << 16 | port : port << 16 | flow;
  d.at = f.tick;
  std::memcpy(d.ext.data(), f.head + kRxExt, kMaxExtension);
  // The switch may have left the addresses as they were, or have exchanged them: the receiver is who is not us.
  d.address = d.trim == Trim::Returned && address_is_own(at.src, cfg.ip, cfg.ip_plane) ? at.dst : at.src;
  const bool has_payload = is_data_opcode(d.opcode) && d.err == RxErr::None && d.trim == Trim::None;
  d.plen =
      has_payload ? static_cast<uint16_t>(f.bytes - rx_payload_offset(f.head) - wire::kIcrcBytes - d.pad) : uint16_t{0};
  return d;
}

}  // namespace mrc

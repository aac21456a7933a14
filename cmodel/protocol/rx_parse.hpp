// SPDX-License-Identifier: Apache-2.0
/// From a received frame to its description (docs/blocks/rx_lane.md, "Fin"; mrc.md sections 1 to 5).
#pragma once

#include <cstdint>
#include <cstring>

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
  uint32_t crc = wire::kIcrcSeed;   ///< ICRC register after all bytes, the ICRC included
  uint8_t tc = 0;                   ///< traffic class of the first IP header
  bool etype_ok = false;            ///< the Ethernet frame carries IPv6
  bool mac_err = false;             ///< the MAC saw an error
};

/// Registers that parsing depends on.
struct RxParseCfg {
  uint16_t udp_port = 4791;
  bool ev_swap = false;
  uint8_t dscp_trimmed = 12, dscp_lasthop = 16;
};

/// WRITE opcodes 0xC6..0xCB (mrc.md section 2).
constexpr bool is_data_opcode(uint8_t opcode) { return opcode >= 0xC6 && opcode <= 0xCB; }
/// WRITE Last or Only with immediate.
constexpr bool has_immediate(uint8_t opcode) { return opcode == 0xC9 || opcode == 0xCB; }

/// Offset of a WRITE's payload from the inner IP header: IPv6 40, UDP 8, BTH 12, METH 4, [TSETH 4], RETH 16, [ImmDt 4].
constexpr unsigned rx_payload_offset(const uint8_t* head) {
  return 80u + (head[56] & 0x10 ? 4u : 0u) + (has_immediate(head[48]) ? 4u : 0u);
}

constexpr Trim rx_trim(uint8_t tc, const RxParseCfg& cfg) {
  const unsigned dscp = tc >> 2;
  if (dscp == cfg.dscp_trimmed) return Trim::Trimmed;
  if (dscp == cfg.dscp_lasthop) return Trim::LastHop;
  return Trim::None;
}

/// The first reason, in the contract's order, why the frame is not a packet of ours.
constexpr RxErr rx_error(const RxFrame& f, const RxParseCfg& cfg) {
  const uint8_t* h = f.head;
  if (f.mac_err) return RxErr::Mac;
  if (f.bytes < 64) return RxErr::Short;
  if (!f.etype_ok || h[0] >> 4 != 6 || h[6] != 17) return RxErr::Encap;
  if (wire::load_be<2>(h + 42) != cfg.udp_port) return RxErr::Udp;
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
  if ((opcode == 0xDC && f.bytes != 100) || (opcode == 0xDD && f.bytes != 84) || (opcode == 0xD1 && f.bytes != 68) ||
      (opcode == 0xDE && f.bytes != 80)) {
    return RxErr::Length;
  }
  return RxErr::None;
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
  std::memcpy(d.ext.data(), h + 60, kExtBytes);
  const bool has_payload = is_data_opcode(d.opcode) && d.err == RxErr::None && d.trim == Trim::None;
  d.plen = has_payload ? static_cast<uint16_t>(f.bytes - rx_payload_offset(h) - 4 - d.pad) : uint16_t{0};
  d.buf_valid = d.plen != 0;
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
/// How a work request is cut into packets (docs/design/blocks/tx/segment/tx_segment.md, "Segmentation rule"; mrc.md
/// sections 2 and 6).
#pragma once

#include <cstdint>

#include "protocol/opcodes.hpp"
#include "protocol/types.hpp"

namespace mrc {

/// Longest message in bytes: the longest a RETH can name.
inline constexpr uint32_t kMaxMessage = 0xffff'ffff;

/// Opcode of a WRITE packet from its place in the message.
constexpr uint8_t write_opcode(bool first, bool last, bool imm_valid) {
  using wire::Opcode;
  const Opcode op = first ? (last ? (imm_valid ? Opcode::WriteOnlyImm : Opcode::WriteOnly) : Opcode::WriteFirst)
                          : (last ? (imm_valid ? Opcode::WriteLastImm : Opcode::WriteLast) : Opcode::WriteMiddle);
  return opcode_byte(op);
}

/// UDP length + 40 of a packet without payload: IPv6, UDP, BTH, METH, RETH, ICRC.
inline constexpr unsigned kNominalHeaders = wire::Ipv6::kBytes + wire::Udp::kBytes + wire::Bth::kBytes +
                                            wire::Meth::kBytes + wire::Reth::kBytes + wire::kIcrcBytes;
/// What Nominal::Payload40 counts beside the payload.
inline constexpr unsigned kNominalAround = 40;

/// Nominal size of a WRITE packet in bytes: what rcvd_bytes and the congestion controllers count
/// (docs/design/blocks/tx/segment/tx_segment.md, "Segmentation rule"; assumption A-55). pad: as its BTH says; ts: it
/// has a TSETH. nominal: CTRL.nominal.
constexpr uint16_t nominal_received(unsigned plen, unsigned pad, uint8_t opcode, bool ts, Nominal nominal) {
  switch (nominal) {
    case Nominal::Payload:
      return static_cast<uint16_t>(plen);
    case Nominal::Payload40:
      return static_cast<uint16_t>(plen + kNominalAround);
    default:  // UdpLength, and 3
      return static_cast<uint16_t>(plen + pad + kNominalHeaders + (ts ? wire::Tseth::kBytes : 0u) +
                                   (has_immediate(opcode) ? wire::Immdt::kBytes : 0u));
  }
}

/// Bytes behind a payload that fill its last word.
constexpr unsigned payload_pad(unsigned plen) { return (0u - plen) & 3u; }

/// The same of a packet to be sent.
constexpr uint16_t nominal_size(unsigned plen, uint8_t opcode, bool ts, Nominal nominal) {
  return nominal_received(plen, payload_pad(plen), opcode, ts, nominal);
}

/// Nominal size of a packet full of payload and without immediate: `nom` of
/// docs/design/blocks/tx/inflight/tx_inflight.md.
constexpr uint16_t nominal_full(unsigned mtu, bool ts, Nominal nominal) {
  return nominal_size(256u << mtu, opcode_byte(wire::Opcode::WriteMiddle), ts, nominal);
}

/// True when packet `idx` of a message begins a WRITE with immediate, and as many of those are on their way as may be:
/// it waits until one completes. sent, done: WRITEs with immediate of which a packet was sent, and that have
/// completed, modulo 256.
constexpr bool wimm_held(uint32_t idx, bool imm_valid, uint32_t sent, uint32_t done, unsigned max_wimm) {
  return idx == 0 && imm_valid && ((sent - done) & 0xffu) == max_wimm;
}

/// Packet `idx` of a message; one of no bytes has one packet of no bytes. `mtu` is the code of the path MTU, 256 << mtu
/// bytes.
constexpr WritePart segment(const WriteRequest& w, uint32_t idx, unsigned mtu) {
  const uint32_t m = 256u << mtu;
  const uint64_t off = uint64_t{idx} * m;
  const uint32_t rem = w.length - static_cast<uint32_t>(off);
  WritePart p;
  p.last = rem <= m;
  p.plen = static_cast<uint16_t>((p.last ? rem : m) & 0x1fffu);
  p.va = w.raddr + off;
  p.laddr = w.laddr + off;
  p.rkey = w.rkey;
  p.imm = w.imm_valid ? w.imm : 0;
  p.dma_length = w.length;
  p.rqmsn = w.imm_valid ? w.rqmsn : uint16_t{0};
  p.opcode = write_opcode(idx == 0, p.last, w.imm_valid);
  return p;
}

}  // namespace mrc

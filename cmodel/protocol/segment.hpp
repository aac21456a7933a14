// SPDX-License-Identifier: Apache-2.0
/// How a work request is cut into packets (docs/blocks/tx/segment/tx_segment.md, "Segmentation rule"; mrc.md sections 2
/// and 6).
#pragma once

#include <cstdint>

#include "gen/headers.hpp"
#include "gen/streams.hpp"

namespace mrc {

/// A grant of the scheduler ends after so many packets, or with the packet that reaches so many bytes of payload; a
/// controller is asked for kBurstAsk full packets (docs/blocks/tx/segment/tx_segment.md).
inline constexpr unsigned kBurstPackets = 16, kBurstBytes = 32768, kBurstAsk = 8;

/// A work request in its row of tx_segment's pool.
struct WorkRow {
  Wqe wqe{};
  uint16_t rqmsn = 0;  ///< RQMSN it got
  uint16_t next = 0;   ///< row of the next one of its QP
};

/// Longest message in bytes: the longest a RETH can name.
inline constexpr uint32_t kMaxMessage = 0xffff'ffff;

/// Opcode of a WRITE packet from its place in the message.
constexpr uint8_t write_opcode(bool first, bool last, bool imm_valid) {
  using wire::Opcode;
  const Opcode op = first ? (last ? (imm_valid ? Opcode::WriteOnlyImm : Opcode::WriteOnly) : Opcode::WriteFirst)
                          : (last ? (imm_valid ? Opcode::WriteLastImm : Opcode::WriteLast) : Opcode::WriteMiddle);
  return static_cast<uint8_t>(op);
}

/// UDP length + 40 of a packet without payload: IPv6 40, UDP 8, BTH 12, METH 4, RETH 16, ICRC 4.
inline constexpr unsigned kNominalHeaders = 84;
/// What Nominal::Payload40 counts beside the payload.
inline constexpr unsigned kNominalAround = 40;

/// Nominal size of a WRITE packet in bytes: what rcvd_bytes and the congestion controllers count
/// (docs/blocks/tx/segment/tx_segment.md, "Segmentation rule"; assumption A-55). ts: the QP sends TSETH. nominal:
/// CTRL.nominal.
constexpr uint16_t nominal_size(unsigned plen, uint8_t opcode, bool ts, Nominal nominal) {
  using wire::Opcode;
  if (nominal == Nominal::Payload) return static_cast<uint16_t>(plen);
  if (nominal == Nominal::Payload40) return static_cast<uint16_t>(plen + kNominalAround);
  const bool imm =
      opcode == static_cast<uint8_t>(Opcode::WriteLastImm) || opcode == static_cast<uint8_t>(Opcode::WriteOnlyImm);
  const unsigned pad = (0u - plen) & 3u;
  return static_cast<uint16_t>(plen + pad + kNominalHeaders + (ts ? 4 : 0) + (imm ? 4 : 0));
}

/// Nominal size of a packet full of payload and without immediate: `nom` of docs/blocks/tx/inflight/tx_inflight.md.
constexpr uint16_t nominal_full(unsigned mtu, bool ts, Nominal nominal) {
  return nominal_size(256u << mtu, static_cast<uint8_t>(wire::Opcode::WriteMiddle), ts, nominal);
}

/// Fills the fields of packet `idx` of a message that follow from the work request: opcode, addresses, lengths, rkey,
/// imm, rqmsn, idx, last. `mtu` is the code of the path MTU, 256 << mtu bytes. The other fields are the caller's.
inline void segment(const WorkRow& row, uint32_t idx, unsigned mtu, Pkt& pkt) {
  const Wqe& w = row.wqe;
  const uint32_t m = 256u << mtu;
  const uint64_t off = uint64_t{idx} * m;
  const uint32_t rem = w.length - static_cast<uint32_t>(off);
  pkt.last = rem <= m;
  pkt.plen = static_cast<uint16_t>((pkt.last ? rem : m) & 0x1fffu);
  pkt.va = w.raddr + off;
  pkt.laddr = w.laddr + off;
  pkt.rkey = w.rkey;
  pkt.imm = w.imm_valid ? w.imm : 0;
  pkt.dmalen = w.length;
  pkt.rqmsn = w.imm_valid ? row.rqmsn : uint16_t{0};
  pkt.opcode = write_opcode(idx == 0, pkt.last, w.imm_valid);
  pkt.idx = idx;
}

}  // namespace mrc

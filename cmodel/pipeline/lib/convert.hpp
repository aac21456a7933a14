// SPDX-License-Identifier: Apache-2.0
/// Between the streams of the NIC and the protocol's types: what the blocks do on both sides of a rule.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "gen/csr.hpp"
#include "gen/streams.hpp"
#include "protocol/qpn.hpp"
#include "protocol/tx_header_build.hpp"
#include "protocol/types.hpp"
#include "wire/bytes.hpp"

namespace mrc {

static_assert(std::endian::native == std::endian::little, "byte vectors are little-endian words");
static_assert(kExtBytes == kMaxExtension && kHdrBytes == kMaxHeader);

// Received packets.

/// The address of an endpoint request, or of a packet that came back, travels in its ext.
inline constexpr unsigned kDescAddress = 16;
static_assert(kDescAddress == wire::Erth::kBytes);

/// Without buf_valid.
inline void put(const RxPacket& p, Rxdesc& d) {
  d.err = p.err;
  d.trim = p.trim;
  d.ce = p.ce;
  d.icrc_ok = p.icrc_ok;
  d.opcode = p.opcode;
  d.pad = p.pad;
  d.ackreq = p.ackreq;
  d.rtx = p.rtx;
  d.ts = p.ts;
  d.pkey = p.pkey;
  d.dqp = p.dqp;
  d.psn = p.psn;
  d.entropy = p.entropy;
  d.plen = p.plen;
  d.at = p.at;
  std::memcpy(d.ext.data(), p.ext.data(), kExtBytes);
  if (p.opcode == static_cast<uint8_t>(wire::Opcode::EndpointRequest) || p.trim == Trim::Returned) {
    auto* at = reinterpret_cast<uint8_t*>(d.ext.data()) + kDescAddress;
    wire::store_be<8>(at, static_cast<uint64_t>(p.address >> 64));
    wire::store_be<8>(at + 8, static_cast<uint64_t>(p.address));
  }
}

inline RxPacket packet_of(const Rxdesc& d) {
  RxPacket p;
  p.err = d.err;
  p.trim = d.trim;
  p.ce = d.ce;
  p.icrc_ok = d.icrc_ok;
  p.opcode = d.opcode;
  p.pad = d.pad;
  p.ackreq = d.ackreq;
  p.rtx = d.rtx;
  p.ts = d.ts;
  p.pkey = d.pkey;
  p.dqp = d.dqp;
  p.psn = d.psn;
  p.entropy = d.entropy;
  p.plen = d.plen;
  p.at = d.at;
  std::memcpy(p.ext.data(), d.ext.data(), kExtBytes);
  p.address =
      U128{wire::load_be<8>(p.ext.data() + kDescAddress)} << 64 | wire::load_be<8>(p.ext.data() + kDescAddress + 8);
  return p;
}

constexpr MemoryRegion region_of(const csr::TblMr& row) {
  return {.valid = row.valid, .rkey = row.rkey, .va = row.va, .length = row.length, .addr = row.addr};
}

// SACK, NACK, ACK on their way in.

inline Ctl ctl_of(QpIndex qp, const Sack& s) {
  return {.kind = CtlKind::Sack,
          .qp = qp,
          .psn = s.psn,
          .cack = s.cack_psn,
          .base = s.base,
          .bitmap = s.bitmap,
          .ooo = s.ooo_count,
          .m = s.m,
          .pr = s.pr,
          .entropy = s.entropy,
          .ts = s.tx_timestamp,
          .rcvd = s.rcvd_bytes,
          .pen = s.rcv_cwnd_pen,
          .restore = s.restore_cwnd,
          .mpr = s.mpr};
}
inline Ctl ctl_of(QpIndex qp, const Nack& n) {
  return {.kind = CtlKind::Nack,
          .qp = qp,
          .psn = n.psn,
          .entropy = n.entropy,
          .reason = static_cast<uint8_t>(n.reason),
          .ts = n.tx_timestamp};
}
inline Ctl ctl_of(QpIndex qp, const Ack& a) {
  return {.kind = CtlKind::Ack, .qp = qp, .psn = a.psn, .reason = a.syndrome, .msn = a.msn};
}
inline Ctl ctl_of(QpIndex qp, const ReturnedPacket& r) {
  return {.kind = CtlKind::Returned, .qp = qp, .psn = r.psn, .m = r.rtx, .entropy = r.entropy};
}

constexpr Sack sack_of(const Ctl& c) {
  return {.cack_psn = c.cack,
          .psn = c.psn,
          .base = c.base,
          .bitmap = c.bitmap,
          .entropy = c.entropy,
          .rcvd_bytes = c.rcvd,
          .ooo_count = c.ooo,
          .tx_timestamp = c.ts,
          .m = c.m,
          .mpr = c.mpr,
          .rcv_cwnd_pen = c.pen,
          .restore_cwnd = c.restore,
          .pr = c.pr};
}
constexpr Nack nack_of(const Ctl& c) {
  return {.psn = c.psn, .entropy = c.entropy, .tx_timestamp = c.ts, .reason = static_cast<wire::NackReason>(c.reason)};
}
constexpr Ack ack_of(const Ctl& c) { return {.psn = c.psn, .msn = c.msn, .syndrome = c.reason}; }

// And on their way out. tx_timestamp as it is in the response.

constexpr Sack sack_of(const Resp& r) {
  return {.cack_psn = r.cack,
          .psn = r.psn,
          .base = r.base,
          .bitmap = r.bitmap,
          .entropy = r.entropy,
          .rcvd_bytes = r.rcvd,
          .ooo_count = r.ooo,
          .tx_timestamp = r.ts,
          .m = r.m,
          .mpr = r.mpr,
          .rcv_cwnd_pen = r.pen,
          .restore_cwnd = r.restore,
          .pr = r.pr};
}
constexpr Nack nack_of(const Resp& r) {
  return {.psn = r.psn, .entropy = r.entropy, .tx_timestamp = r.ts, .reason = static_cast<wire::NackReason>(r.reason)};
}
constexpr Ack ack_of(const Resp& r) { return {.psn = r.psn, .msn = r.msn, .syndrome = r.reason}; }

/// Without qp, plane, ev and tc.
inline void put(const ControlPacket& p, Ctlpkt& c) {
  c.opcode = p.opcode;
  c.psn = p.psn;
  c.ext_len = p.ext_len;
  std::memcpy(c.ext.data(), p.ext.data(), kExtBytes);
}
inline ControlPacket packet_of(const Ctlpkt& c) {
  ControlPacket p{.opcode = c.opcode, .psn = c.psn, .ext_len = c.ext_len};
  std::memcpy(p.ext.data(), c.ext.data(), kExtBytes);
  return p;
}

/// A header's bytes.
inline const uint8_t* header_bytes(const Hdr& h) { return reinterpret_cast<const uint8_t*>(h.hdr.data()); }
inline uint8_t* header_bytes(Hdr& h) { return reinterpret_cast<uint8_t*>(h.hdr.data()); }

// WRITEs on their way out.

constexpr WriteRequest request_of(const Wqe& w, uint16_t rqmsn) {
  return {.laddr = w.laddr,
          .raddr = w.raddr,
          .rkey = w.rkey,
          .length = w.length,
          .imm_valid = w.imm_valid,
          .imm = w.imm,
          .rqmsn = rqmsn};
}

/// The fields that follow from the message.
constexpr void put(const WritePart& part, Pkt& p) {
  p.opcode = part.opcode;
  p.va = part.va;
  p.laddr = part.laddr;
  p.rkey = part.rkey;
  p.dmalen = part.dma_length;
  p.imm = part.imm;
  p.rqmsn = part.rqmsn;
  p.plen = part.plen;
  p.last = part.last;
}
constexpr WritePacket packet_of(const Pkt& p) {
  return {.part = {.opcode = p.opcode,
                   .va = p.va,
                   .laddr = p.laddr,
                   .rkey = p.rkey,
                   .dma_length = p.dmalen,
                   .imm = p.imm,
                   .rqmsn = p.rqmsn,
                   .plen = p.plen,
                   .last = p.last},
          .psn = p.psn,
          .msn = p.msn,
          .ackreq = p.ackreq,
          .rtx = p.rtx};
}

}  // namespace mrc

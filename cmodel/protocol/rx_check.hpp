// SPDX-License-Identifier: Apache-2.0
/// May this packet touch anything? The checks in their order (docs/design/blocks/rx/rx_check.md).
#pragma once

#include <cstdint>

#include "protocol/address.hpp"
#include "protocol/opcodes.hpp"
#include "protocol/psn.hpp"
#include "protocol/segment.hpp"
#include "protocol/types.hpp"

namespace mrc {

/// What the checks need of a QP.
struct RxQpCtx {
  QpState state = QpState::Reset;
  uint8_t mtu = 0;  ///< path MTU 256 << mtu
  uint16_t pkey = 0;
  bool no_imm = false;  ///< it takes no immediates (A-62)
  uint32_t dqpn = 0;    ///< the peer's QPN
  uint16_t fold = 0;    ///< address_fold() of the peer's address
  uint32_t high = 0;    ///< upper bits of its QPN
};

/// Why a packet is dropped; None: it is not. Returned: it is one of our own (rx_returned()).
enum class RxDrop : uint8_t { None, Parse, Icrc, Returned, Qp, Pkey, Len };

/// What is wrong with a WRITE that gets a NAK.
enum class RxFault : uint8_t { None, Invalid, Access };

/// Register NAK_CODE: the syndromes of the NAKs a WRITE can earn (base.md; A-70).
struct NakCodes {
  uint8_t invalid = static_cast<uint8_t>(wire::AethSyndrome::NakInvalidRequest);
  uint8_t access = static_cast<uint8_t>(wire::AethSyndrome::NakRemoteAccess);

  /// 0: no NAK. The top three bits are 011 whatever the register says: that makes it a NAK.
  constexpr uint8_t of(RxFault fault) const {
    if (fault == RxFault::None) return 0;
    constexpr unsigned kNak = static_cast<unsigned>(wire::AethClass::Nak) << 5;
    return static_cast<uint8_t>(kNak | ((fault == RxFault::Invalid ? invalid : access) & 0x1f));
  }
};

/// A switch has cut the packet: no ICRC covers it. (Without payload for want of room it is intact otherwise.)
constexpr bool is_trimmed(Trim trim) { return trim == Trim::Trimmed || trim == Trim::LastHop; }

/// Receiving a packet of this opcode in this state of its QP is in order: control belongs to a requestor, data and
/// probes to a responder, which answers in Error too.
constexpr bool rx_state_ok(uint8_t opcode, QpState state) {
  if (state == QpState::Rts) return true;
  return !is_control_opcode(opcode) && (state == QpState::Rtr || state == QpState::Error);
}

/// The RETH of a WRITE with payload.
inline wire::Reth rx_reth(const RxPacket& d) {
  return wire::Reth::read(d.ext.data() + wire::Meth::kBytes + (d.ts ? wire::Tseth::kBytes : 0u));
}

/// A WRITE of no bytes that is legal: one packet, which says so twice.
constexpr bool rx_empty(uint8_t opcode, unsigned plen, uint32_t dma_length, ZeroLength zero) {
  return zero == ZeroLength::Legal && is_only_write(opcode) && plen == 0 && dma_length == 0;
}

/// The first check that fails. qp: the QP that the packet names, null if there is none; zero: register CTRL, what
/// becomes of a WRITE of no bytes.
inline RxDrop rx_drop(const RxPacket& d, const RxQpCtx* qp, ZeroLength zero = ZeroLength::Legal) {
  if (d.err != RxErr::None) return RxDrop::Parse;
  const bool data = is_data_opcode(d.opcode);
  if (d.trim == Trim::Returned) return data ? RxDrop::Returned : RxDrop::Qp;
  if (!is_trimmed(d.trim) && !d.icrc_ok) return RxDrop::Icrc;
  if (!data && is_trimmed(d.trim)) return RxDrop::Qp;
  if (is_endpoint_opcode(d.opcode)) return d.dqp == wire::kEndpointDqp ? RxDrop::None : RxDrop::Qp;
  if (!data && !is_probe_opcode(d.opcode) && !is_control_opcode(d.opcode)) return RxDrop::Qp;
  if (qp == nullptr || !rx_state_ok(d.opcode, qp->state)) return RxDrop::Qp;
  if (((d.pkey ^ qp->pkey) & 0x7fff) != 0) return RxDrop::Pkey;
  if (data && d.trim == Trim::None) {
    const unsigned mtu = 256u << qp->mtu;
    if (is_unfinished_write(d.opcode) ? d.plen != mtu : d.plen > mtu) return RxDrop::Len;
    const bool drops = zero != ZeroLength::Legal && zero != ZeroLength::Nak;
    if (drops && (d.plen == 0 || rx_reth(d).dma_length == 0)) return RxDrop::Len;
  }
  return RxDrop::None;
}

/// What is wrong with a WRITE of plen bytes at va, by the region its R_Key names. unwanted: it has an immediate, and
/// its QP takes none; empty: rx_empty(), nobody looks at va and rkey.
constexpr RxFault rx_fault(const MemoryRegion& mr, uint32_t rkey, uint64_t va, unsigned plen, uint32_t dma_length,
                           bool unwanted = false, bool empty = false) {
  if ((!empty && (plen == 0 || dma_length == 0)) || unwanted) return RxFault::Invalid;
  if (empty) return RxFault::None;
  if (!mr.valid || mr.rkey != rkey || va < mr.va) return RxFault::Access;
  const uint64_t offset = va - mr.va;
  if (offset > mr.length || plen > mr.length - offset) return RxFault::Access;
  return RxFault::None;
}

/// A WRITE that passed rx_drop(). nominal: register CTRL. One without payload (d.trim) says nothing of addresses:
/// it may end anywhere, and no ICRC covers it.
inline RxWrite rx_write(const RxPacket& d, Nominal nominal) {
  const auto meth = wire::Meth::read(d.ext.data());
  RxWrite w;
  w.psn = d.psn;
  w.rqmsn = meth.rqmsn;
  w.msn = meth.msn;
  if (d.ts) w.tx_timestamp = wire::Tseth::read(d.ext.data() + wire::Meth::kBytes).tx_timestamp16;
  w.last = !is_unfinished_write(d.opcode);
  if (d.trim != Trim::None) return w;
  const wire::Reth reth = rx_reth(d);
  w.va = reth.va;
  w.rkey = reth.r_key;
  w.dma_length = reth.dma_length;
  w.imm_valid = has_immediate(d.opcode);
  if (w.imm_valid) {
    const unsigned at = wire::Meth::kBytes + (d.ts ? wire::Tseth::kBytes : 0u) + wire::Reth::kBytes;
    w.imm = wire::Immdt::read(d.ext.data() + at).value;
  }
  w.plen = d.plen;
  w.size = nominal_received(d.plen, d.pad, d.opcode, d.ts, nominal);
  return w;
}

/// Which QP sends to a peer's QPN and address: a row of a small table that return_key() chooses.
struct ReturnRow {
  bool valid = false;
  uint32_t qp = 0;
};

/// The row for QPN dqpn at the address with this fold. rows: a power of two.
constexpr unsigned return_key(uint32_t dqpn, uint16_t fold, unsigned rows) { return (dqpn ^ fold) & (rows - 1); }

/// A packet that came back (RxDrop::Returned) is one of this QP, which is still at work. fold: of the packet's
/// receiver.
constexpr bool rx_returned(const RxPacket& d, uint16_t fold, const RxQpCtx& qp) {
  return qp.state == QpState::Rts && qp.dqpn == d.dqp && qp.fold == fold;
}

/// A reliability probe that passed rx_drop().
inline Probe rx_probe(const RxPacket& d) {
  const auto peth = wire::Peth::read(d.ext.data());
  return {.id = peth.probe_id, .tx_timestamp = peth.tx_timestamp16};
}

/// An endpoint request or response that passed rx_drop().
inline EndpointPacket rx_endpoint(const RxPacket& d) {
  EndpointPacket e;
  e.response = d.opcode == opcode_byte(wire::Opcode::EndpointResponse);
  e.id = static_cast<uint16_t>(d.psn);
  if (e.response) {
    const auto eeth = wire::Eeth::read(d.ext.data());
    e.op = eeth.op;
    e.tx_timestamp = eeth.tx_timestamp16;
  } else {
    const auto erth = wire::Erth::read(d.ext.data());
    e.op = erth.op;
    e.mask = erth.port_status_mask;
    e.tx_timestamp = erth.tx_timestamp16;
    e.source = d.address;
  }
  return e;
}

/// A SACK that passed rx_drop().
inline Sack rx_sack(const RxPacket& d) {
  const auto seth = wire::Seth::read(d.ext.data());
  const auto cc = wire::CcState::read(d.ext.data() + wire::Seth::kBytes);
  Sack s;
  s.cack_psn = seth.cack_psn;
  s.pr = seth.pr != 0;
  s.psn = s.pr ? static_cast<uint16_t>(seth.ack_psn_offset) : psn_add(seth.cack_psn, seth.ack_psn_offset);
  s.base = psn_add(seth.cack_psn, seth.sack_offset);
  s.bitmap = seth.sack_bitmap;
  s.entropy = seth.entropy;
  s.rcvd_bytes = cc.rcvd_bytes;
  s.ooo_count = cc.ooo_count;
  s.tx_timestamp = cc.tx_timestamp16;
  s.m = seth.m;
  s.mpr = seth.mpr;
  s.rcv_cwnd_pen = cc.rcv_cwnd_pen;
  s.restore_cwnd = cc.restore_cwnd != 0;
  return s;
}

/// A NACK that passed rx_drop().
inline Nack rx_nack(const RxPacket& d) {
  const auto neth = wire::Neth::read(d.ext.data());
  return {.psn = neth.nack_psn,
          .entropy = neth.entropy,
          .tx_timestamp = neth.tx_timestamp16,
          .reason = static_cast<wire::NackReason>(neth.reason)};
}

/// An ACK that passed rx_drop().
inline Ack rx_ack(const RxPacket& d) {
  const auto aeth = wire::Aeth::read(d.ext.data());
  return {.psn = d.psn, .msn = static_cast<uint16_t>(aeth.msn), .syndrome = aeth.syndrome};
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
/// May this packet touch anything? The checks in their order (docs/blocks/rx/rx_check.md).
#pragma once

#include <cstdint>
#include <span>

#include "gen/csr.hpp"
#include "gen/streams.hpp"
#include "protocol/psn.hpp"
#include "protocol/rx_parse.hpp"
#include "wire/bytes.hpp"

namespace mrc {

/// What the checks need of a QP.
struct RxQpCtx {
  QpState state = QpState::Reset;
  uint8_t mtu = 0;  ///< path MTU 256 << mtu
  uint16_t pkey = 0;
  bool no_imm = false;  ///< it takes no immediates (A-62)
};

/// Why a packet is dropped; None: it is not.
enum class RxDrop : uint8_t { None, Parse, Icrc, Qp, Pkey, Len };

/// What is wrong with a WRITE that gets a NAK.
enum class RxFault : uint8_t { None, Invalid, Access };

/// Register NAK_CODE: the syndromes of the NAKs a WRITE can earn (base.md; A-70).
struct NakCodes {
  uint8_t invalid = 0x61, access = 0x62;

  /// 0: no NAK. The top three bits are 011 whatever the register says: that makes it a NAK.
  constexpr uint8_t of(RxFault fault) const {
    if (fault == RxFault::None) return 0;
    return static_cast<uint8_t>(0x60 | ((fault == RxFault::Invalid ? invalid : access) & 0x1f));
  }
};

/// Destination QP of endpoint requests and responses (mrc.md section 2).
inline constexpr uint32_t kEndpointDqp = 2;

/// A switch has cut the packet: no ICRC covers it. (Without payload for want of room it is intact otherwise.)
constexpr bool is_trimmed(Trim trim) { return trim == Trim::Trimmed || trim == Trim::LastHop; }

/// Receiving a packet of this opcode in this state of its QP is in order: control belongs to a requestor, data and
/// probes to a responder, which answers in Error too.
constexpr bool rx_state_ok(uint8_t opcode, QpState state) {
  if (state == QpState::Rts) return true;
  return !is_control_opcode(opcode) && (state == QpState::Rtr || state == QpState::Error);
}

/// QP index of a packet that passed rx_drop() and is no endpoint packet.
constexpr uint16_t rx_qp(const Rxdesc& d) { return static_cast<uint16_t>(d.dqp - kQpnBase); }

/// Offset of the RETH in the extension headers of a WRITE with payload.
constexpr unsigned rx_reth_at(const Rxdesc& d) { return d.ts ? 8 : 4; }

/// DMA length of a WRITE with payload.
inline uint32_t rx_dmalen(const Rxdesc& d) {
  return static_cast<uint32_t>(wire::load_be<4>(reinterpret_cast<const uint8_t*>(d.ext.data()) + rx_reth_at(d) + 12));
}

/// The first check that fails. zero_drop: register CTRL, a WRITE of no bytes is dropped.
inline RxDrop rx_drop(const Rxdesc& d, std::span<const RxQpCtx> qps, bool zero_drop = false) {
  if (d.err != RxErr::None) return RxDrop::Parse;
  if (!is_trimmed(d.trim) && !d.icrc_ok) return RxDrop::Icrc;
  const bool data = is_data_opcode(d.opcode);
  if (!data && is_trimmed(d.trim)) return RxDrop::Qp;
  if (is_endpoint_opcode(d.opcode)) return d.dqp == kEndpointDqp ? RxDrop::None : RxDrop::Qp;
  if (!data && !is_probe_opcode(d.opcode) && !is_control_opcode(d.opcode)) return RxDrop::Qp;
  if (d.dqp < kQpnBase || d.dqp - kQpnBase >= qps.size()) return RxDrop::Qp;
  const RxQpCtx& qp = qps[d.dqp - kQpnBase];
  if (!rx_state_ok(d.opcode, qp.state)) return RxDrop::Qp;
  if (((d.pkey ^ qp.pkey) & 0x7fff) != 0) return RxDrop::Pkey;
  if (data && d.trim == Trim::None) {
    const unsigned mtu = 256u << qp.mtu;
    const bool full = d.opcode == 0xC6 || d.opcode == 0xC7;
    if (full ? d.plen != mtu : d.plen > mtu) return RxDrop::Len;
    if (zero_drop && (d.plen == 0 || rx_dmalen(d) == 0)) return RxDrop::Len;
  }
  return RxDrop::None;
}

/// What is wrong with a WRITE of plen bytes at va, by the region its R_Key names. unwanted: it has an immediate, and
/// its QP takes none.
constexpr RxFault rx_fault(const csr::TblMr& mr, uint32_t rkey, uint64_t va, unsigned plen, uint32_t dmalen,
                           bool unwanted = false) {
  if (plen == 0 || dmalen == 0 || unwanted) return RxFault::Invalid;
  if (!mr.valid || mr.rkey != rkey || va < mr.va) return RxFault::Access;
  const uint64_t offset = va - mr.va;
  if (offset > mr.length || plen > mr.length - offset) return RxFault::Access;
  return RxFault::None;
}

/// The tracker's order to free a lane's buffer of a packet that failed a check.
inline Rxpkt rx_discard(unsigned plane) {
  Rxpkt p;
  p.plane = static_cast<uint8_t>(plane);
  p.drop = true;
  p.buf_valid = true;
  return p;
}

/// Nominal size of a WRITE in bytes: its UDP length + 40, that is payload, pad and 84 bytes of headers and ICRC,
/// [TSETH 4], [ImmDt 4]; or its payload + 40; or its payload alone. The pad is the one that the packet names.
constexpr uint16_t rx_size(const Rxdesc& d, Nominal nominal) {
  switch (nominal) {
    case Nominal::Payload:
      return d.plen;
    case Nominal::Payload40:
      return static_cast<uint16_t>(d.plen + 40u);
    default:  // UdpLength, and 3
      return static_cast<uint16_t>(d.plen + d.pad + 84u + (d.ts ? 4u : 0u) + (has_immediate(d.opcode) ? 4u : 0u));
  }
}

/// A WRITE that passed rx_drop(), into p. qp: its QP; `mrs`: the table of memory regions, its size a power of two;
/// nominal: register CTRL. Returns what is wrong with it.
inline RxFault rx_data(const Rxdesc& d, unsigned plane, const RxQpCtx& qp, std::span<const csr::TblMr> mrs,
                       Nominal nominal, const NakCodes& nak, Rxpkt& p) {
  const auto* ext = reinterpret_cast<const uint8_t*>(d.ext.data());
  p = Rxpkt{};
  p.plane = static_cast<uint8_t>(plane);
  p.buf_valid = d.buf_valid;
  p.qp = rx_qp(d);
  p.psn = d.psn;
  p.ackreq = d.ackreq;
  p.rtx = d.rtx;
  p.ce = d.ce;
  p.trim = d.trim;
  p.entropy = d.entropy;
  p.rqmsn = static_cast<uint16_t>(wire::load_be<2>(ext));
  p.msn = static_cast<uint16_t>(wire::load_be<2>(ext + 2));
  p.ts = d.ts ? static_cast<uint16_t>(wire::load_be<2>(ext + 4)) : uint16_t{0};
  p.tsv = d.ts;
  p.at = d.at;
  p.err = qp.state == QpState::Error;
  p.last = d.opcode >= 0xC8;
  // Nothing to place; a trimmed packet may end here, and no ICRC covers it.
  if (d.trim != Trim::None) return RxFault::None;
  const uint8_t* reth = ext + rx_reth_at(d);
  const uint64_t va = wire::load_be<8>(reth);
  const auto rkey = static_cast<uint32_t>(wire::load_be<4>(reth + 8));
  p.dmalen = rx_dmalen(d);
  p.imm_valid = has_immediate(d.opcode);
  if (p.imm_valid) p.imm = static_cast<uint32_t>(wire::load_be<4>(reth + 16));
  p.plen = d.plen;
  p.size = rx_size(d, nominal);
  const csr::TblMr& mr = mrs[(rkey >> 8) & (mrs.size() - 1)];
  const RxFault fault = rx_fault(mr, rkey, va, d.plen, p.dmalen, p.imm_valid && qp.no_imm);
  p.syndrome = nak.of(fault);
  p.haddr = p.syndrome == 0 ? mr.addr + (va - mr.va) : 0;
  return fault;
}

/// A reliability probe that passed rx_drop(), into p: psn is its id.
inline void rx_probe(const Rxdesc& d, unsigned plane, const RxQpCtx& qp, Rxpkt& p) {
  const auto* ext = reinterpret_cast<const uint8_t*>(d.ext.data());
  p = Rxpkt{};
  p.plane = static_cast<uint8_t>(plane);
  p.probe = true;
  p.qp = rx_qp(d);
  p.psn = static_cast<uint32_t>(wire::load_be<2>(ext + 4));
  p.ce = d.ce;
  p.ts = static_cast<uint16_t>(wire::load_be<2>(ext + 12));
  p.tsv = true;
  p.at = d.at;
  p.err = qp.state == QpState::Error;
  p.entropy = d.entropy;
}

/// An endpoint request or response that passed rx_drop(). The address's last byte on the wire is in its low bits.
inline Eprx rx_endpoint(const Rxdesc& d, unsigned plane) {
  const auto* ext = reinterpret_cast<const uint8_t*>(d.ext.data());
  Eprx e;
  e.resp = d.opcode == 0xD9;
  e.id = static_cast<uint16_t>(d.psn & 0xffff);
  e.plane = static_cast<uint8_t>(plane);
  e.tsv = true;
  e.at = d.at;
  if (e.resp) {
    e.op = ext[1] >> 2 & 3;
    e.ts = static_cast<uint16_t>(wire::load_be<2>(ext + 28));
  } else {
    e.op = ext[1] & 3;
    e.mask = static_cast<uint32_t>(wire::load_be<4>(ext + 4));
    e.ts = static_cast<uint16_t>(wire::load_be<2>(ext + 12));
    e.sip = U128{wire::load_be<8>(ext + 16)} << 64 | wire::load_be<8>(ext + 24);
  }
  return e;
}

/// A SACK, NACK or ACK that passed rx_drop(). The psn of a SACK with pr is the probe id.
inline Ctl rx_control(const Rxdesc& d) {
  const auto* ext = reinterpret_cast<const uint8_t*>(d.ext.data());
  const auto be16 = [&](unsigned at) { return static_cast<uint16_t>(wire::load_be<2>(ext + at)); };
  Ctl c;
  c.qp = rx_qp(d);
  if (d.opcode == 0xDC) {
    c.kind = CtlKind::Sack;
    c.m = ext[1] >> 5 & 3;
    c.pr = (ext[1] & 2) != 0;
    c.cack = static_cast<uint32_t>(wire::load_be<3>(ext + 13));
    c.psn = c.pr ? be16(2) : psn_add(c.cack, static_cast<int16_t>(be16(2)));
    c.base = psn_add(c.cack, static_cast<int16_t>(be16(18)));
    c.entropy = static_cast<uint32_t>(wire::load_be<4>(ext + 4));
    c.bitmap = wire::load_be<8>(ext + 20);
    c.ooo = be16(30) & 0x7fff;
    c.mpr = ext[17];
    c.ts = be16(28);
    c.restore = (ext[32] & 0x80) != 0;
    c.pen = ext[32] & 0x7f;
    c.rcvd = static_cast<uint32_t>(wire::load_be<3>(ext + 33));
  } else if (d.opcode == 0xDD) {
    c.kind = CtlKind::Nack;
    c.reason = ext[2];
    c.entropy = static_cast<uint32_t>(wire::load_be<4>(ext + 4));
    c.psn = static_cast<uint32_t>(wire::load_be<3>(ext + 13));
    c.ts = be16(18);
  } else {
    c.kind = CtlKind::Ack;
    c.reason = ext[0];
    c.msn = be16(2);
    c.psn = d.psn;
  }
  return c;
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
/// Control packets of the responder: planes, time stamps, BTH fields and extension header bytes (mrc.md section 3).
#pragma once

#include <bit>
#include <cstdint>

#include "protocol/opcodes.hpp"
#include "protocol/timestamp.hpp"
#include "protocol/types.hpp"

namespace mrc {

/// Time stamp that goes back to the sender: `ts` of its packet, moved forward by the ticks from the packet's arrival
/// `at` to `tick` if the QP has capability SVC_TIME and the packet had a time stamp (`tsv`; assumption A-56). All
/// modulo 2^16. tsr_us: register CTRL.
constexpr uint16_t reflected_time(uint16_t ts, bool tsv, uint16_t at, bool svc_time, uint32_t tick, bool tsr_us) {
  const auto held = static_cast<uint16_t>(svc_time && tsv ? tick - at : 0u);
  return stamp_add(ts, held, tsr_us);
}

/// A response whose reverse path is worth a probe when nothing fresh is known of it: a SACK about data. Answers to
/// probes (pr) do not count, or two quiet NICs would probe each other for ever (assumption A-06).
constexpr bool wants_fresh_path(CtlKind kind, bool pr) { return kind == CtlKind::Sack && !pr; }

/// Answers that may take any plane: SACKs about data, and ACKs; but not what answers a probe, or is repeated (pr;
///
constexpr bool any_plane(CtlKind kind, bool pr) { return !pr && (kind == CtlKind::Ack || kind == CtlKind::Sack); }

/// Plane that such an answer asks for: the one whose turn it is, if it is up at both ends, else that of its cause.
constexpr unsigned turn_plane(unsigned turn, unsigned plane, unsigned port_up, unsigned peer_mask) {
  return (port_up & peer_mask) >> turn & 1u ? turn : plane;
}

/// Plane that a probe of a question for a peer's state asks for, and who takes its turn behind it.
struct StatePlane {
  unsigned plane = 0, turn = 0;
};
/// The first plane that is up at both ends of the one whose turn it is, the one behind it, and so on; the turn goes on
/// behind that. `planes`: how many there are. If none is up at both ends the turn goes on by one.
constexpr StatePlane state_plane(unsigned turn, unsigned planes, unsigned port_up, unsigned peer_mask) {
  for (unsigned i = 0; i < planes; ++i) {
    const unsigned plane = (turn + i) % planes;
    if ((port_up & peer_mask) >> plane & 1u) return {plane, (plane + 1) % planes};
  }
  return {0, (turn + 1) % planes};
}

/// Plane of a response: the one it answers if `ok` has it, else the lowest in ok (own port and the peer's up), else the
/// lowest that is up here, else 0.
constexpr unsigned response_plane(unsigned plane, unsigned port_up, unsigned peer_mask) {
  const unsigned ok = port_up & peer_mask;
  if (ok >> plane & 1u) return plane;
  const unsigned from = ok != 0 ? ok : port_up;
  return from != 0 ? static_cast<unsigned>(std::countr_zero(from)) : 0u;
}

/// QPNs of both ends, as SETH, NETH and PETH name them.
struct PdcIds {
  uint16_t source = 0, destination = 0;

  /// zero: register CTRL.pdcid_zero, they are 0 and no QPNs.
  static constexpr PdcIds of(uint32_t own_qpn, uint32_t peer_qpn, bool zero) {
    if (zero) return {};
    return {static_cast<uint16_t>(own_qpn), static_cast<uint16_t>(peer_qpn)};
  }
};

inline ControlPacket build_sack(const Sack& s, const PdcIds& ids) {
  ControlPacket c{.opcode = opcode_byte(wire::Opcode::Sack),
                  .psn = s.cack_psn,
                  .ext_len = wire::Seth::kBytes + wire::CcState::kBytes};
  wire::Seth seth;
  seth.m = s.m;
  seth.pr = s.pr;
  seth.ack_psn_offset = static_cast<int16_t>(s.pr ? s.psn : s.psn - s.cack_psn);
  seth.entropy = s.entropy;
  seth.spdcid = ids.source;
  seth.dpdcid = ids.destination;
  seth.cack_psn = s.cack_psn;
  seth.mpr = s.mpr;
  seth.sack_offset = static_cast<int16_t>(s.base - s.cack_psn);
  seth.sack_bitmap = s.bitmap;
  seth.write(c.ext.data());
  wire::CcState cc;
  cc.tx_timestamp16 = s.tx_timestamp;
  cc.ooo_count = s.ooo_count;
  cc.restore_cwnd = s.restore_cwnd;
  cc.rcv_cwnd_pen = s.rcv_cwnd_pen;
  cc.rcvd_bytes = s.rcvd_bytes;
  cc.write(c.ext.data() + wire::Seth::kBytes);
  return c;
}

inline ControlPacket build_nack(const Nack& n, const PdcIds& ids) {
  ControlPacket c{.opcode = opcode_byte(wire::Opcode::Nack), .psn = n.psn, .ext_len = wire::Neth::kBytes};
  wire::Neth neth;
  neth.reason = static_cast<uint8_t>(n.reason);
  neth.entropy = n.entropy;
  neth.spdcid = ids.source;
  neth.dpdcid = ids.destination;
  neth.nack_psn = n.psn;
  neth.cc_type = wire::kNethCcType;
  neth.tx_timestamp16 = n.tx_timestamp;
  neth.write(c.ext.data());
  return c;
}

inline ControlPacket build_ack(const Ack& a) {
  ControlPacket c{.opcode = opcode_byte(wire::Opcode::Ack), .psn = a.psn, .ext_len = wire::Aeth::kBytes};
  wire::Aeth aeth;
  aeth.syndrome = a.syndrome;
  aeth.msn = a.msn;
  aeth.write(c.ext.data());
  return c;
}

/// The response to an endpoint request: its id, op and time stamp. op_high: register CTRL.eeth_op_high, EETH.op stands
/// in bits 5:4 of byte 1, not in bits 3:2.
inline ControlPacket build_endpoint_response(uint16_t id, uint8_t op, uint16_t tx_timestamp, bool op_high) {
  ControlPacket c{.opcode = opcode_byte(wire::Opcode::EndpointResponse), .psn = id, .ext_len = wire::Eeth::kBytes};
  wire::Eeth eeth;
  (op_high ? eeth.reserved1 : eeth.op) = op;
  eeth.tx_timestamp16 = tx_timestamp;
  eeth.write(c.ext.data());
  return c;
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
/// Control packets of the responder: BTH fields and extension header bytes (mrc.md section 3).
#pragma once

#include <bit>
#include <cstdint>

#include "gen/streams.hpp"
#include "protocol/timestamp.hpp"
#include "wire/bytes.hpp"

namespace mrc {

/// Time stamp that goes back to the sender: that of its packet, moved forward by the ticks from the packet's arrival
/// `at` to `tick` if the QP has capability SVC_TIME and the packet had a time stamp (assumption A-56). All modulo 2^16.
/// tsr_us: register CTRL.
constexpr uint16_t reflected_time(const Resp& r, bool svc_time, uint32_t tick, bool tsr_us) {
  const auto held = static_cast<uint16_t>(svc_time && r.tsv ? tick - r.at : 0u);
  return stamp_add(r.ts, held, tsr_us);
}

/// A response whose reverse path is worth a probe when nothing fresh is known of it: a SACK about data. Answers to
/// probes do not count, or two quiet NICs would probe each other for ever (assumption A-06).
constexpr bool wants_fresh_path(const Resp& r) { return r.kind == CtlKind::Sack && !r.pr; }

/// Answers that may take any plane: SACKs about data, and ACKs.
constexpr bool any_plane(const Resp& r) { return r.kind == CtlKind::Ack || (r.kind == CtlKind::Sack && !r.pr); }

/// Plane that such an answer asks for: the one whose turn it is, if it is up at both ends, else that of its cause.
constexpr unsigned turn_plane(unsigned turn, unsigned plane, unsigned port_up, unsigned peer_mask) {
  return (port_up & peer_mask) >> turn & 1u ? turn : plane;
}

/// Plane of a response: the one it answers if `ok` has it, else the lowest in ok (own port and the peer's up), else the
/// lowest that is up here, else 0.
constexpr unsigned response_plane(unsigned plane, unsigned port_up, unsigned peer_mask) {
  const unsigned ok = port_up & peer_mask;
  if (ok >> plane & 1u) return plane;
  const unsigned from = ok != 0 ? ok : port_up;
  return from != 0 ? static_cast<unsigned>(std::countr_zero(from)) : 0u;
}

/// Register CTRL, as far as responses go by it.
struct ResponseChoices {
  bool eeth_op_high = false;  ///< EETH op in bits 5:4 of byte 1, not in bits 3:2 (A-36)
  bool pdcid_zero = false;    ///< spdcid and dpdcid are 0, not QPNs (A-22)
};

/// The control packet that a response becomes, into c, without plane and ev. dqpn: the peer's QPN. r.ts goes out as it
/// is (reflected_time()).
inline void build_response(const Resp& r, uint32_t dqpn, const ResponseChoices& choices, Ctlpkt& c) {
  c.qp = r.qp;
  c.ext = {};
  auto* ext = reinterpret_cast<uint8_t*>(c.ext.data());
  const auto names = [&] {  // entropy, spdcid, dpdcid: the same in SETH and NETH
    wire::store_be<4>(ext + 4, r.entropy);
    if (choices.pdcid_zero) return;
    wire::store_be<2>(ext + 8, r.qp + kQpnBase);
    wire::store_be<2>(ext + 10, dqpn);
  };
  switch (r.kind) {
    case CtlKind::Sack:
      c.opcode = 0xDC;
      c.psn = r.cack;
      c.ext_len = 36;
      ext[1] = static_cast<uint8_t>(r.m << 5 | unsigned{r.pr} << 1);
      wire::store_be<2>(ext + 2, r.pr ? r.psn : r.psn - r.cack);  // pr: the probe id
      names();
      wire::store_be<3>(ext + 13, r.cack);
      ext[17] = r.mpr;
      wire::store_be<2>(ext + 18, r.base - r.cack);
      wire::store_be<8>(ext + 20, r.bitmap);
      wire::store_be<2>(ext + 28, r.ts);
      wire::store_be<2>(ext + 30, r.ooo);
      wire::store_be<3>(ext + 33, r.rcvd);
      break;
    case CtlKind::Nack:
      c.opcode = 0xDD;
      c.psn = r.psn;
      c.ext_len = 20;
      ext[2] = r.reason;
      names();
      wire::store_be<3>(ext + 13, r.psn);
      ext[16] = 2 << 4;  // cc_type 2
      wire::store_be<2>(ext + 18, r.ts);
      break;
    case CtlKind::Endpoint:
      c.opcode = 0xD9;
      c.psn = r.psn;
      c.ext_len = 36;
      ext[1] = static_cast<uint8_t>(r.reason << (choices.eeth_op_high ? 4 : 2));  // op
      wire::store_be<2>(ext + 28, r.ts);
      break;
    case CtlKind::Ack:
      c.opcode = 0xD1;
      c.psn = r.psn;
      c.ext_len = 4;
      ext[0] = r.reason;
      wire::store_be<3>(ext + 1, r.msn);
      break;
  }
}

}  // namespace mrc

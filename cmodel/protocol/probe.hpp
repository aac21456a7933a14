// SPDX-License-Identifier: Apache-2.0
/// Probes of ASSUMED_BAD EVs: identity, kind, schedule; bytes of reliability probes (docs/design/blocks/tx/tx_probe.md;
/// mrc.md sections 3 and 5).
#pragma once

#include <algorithm>
#include <cstdint>

#include "gen/protocol.hpp"
#include "protocol/opcodes.hpp"
#include "protocol/responses.hpp"
#include "protocol/timestamp.hpp"
#include "protocol/types.hpp"

namespace mrc {

/// Doublings of the interval that fit a tick counter compared modulo 2^32, whatever EV_PROBE.cap says.
inline constexpr unsigned kProbeMaxFails = 14;

/// Failures in a row that count for the interval, after one more. cap: EV_PROBE.cap (A-71; 6: 64 times the first
/// interval).
constexpr unsigned probe_fails(unsigned fails, unsigned cap) { return std::min({fails + 1, cap, kProbeMaxFails}); }

/// Id of the probe number `seq` of a slot. slots: a power of two.
constexpr uint16_t probe_id(uint8_t seq, unsigned slot, unsigned slots) {
  return static_cast<uint16_t>(seq * slots + slot);
}
/// No probe of a NIC with fewer than 256 slots has it: a SACK that answers none.
inline constexpr uint16_t kNoProbeId = 0xffff;
/// Nor this one: a QP asks its peer for its state, whatever its EVs.
inline constexpr uint16_t kStateProbeId = 0xfffe;
constexpr unsigned probe_slot(uint16_t id, unsigned slots) { return id & (slots - 1); }
/// True when an answer's id is that of the slot's newest probe.
constexpr bool probe_answers(uint16_t id, uint8_t seq, unsigned slots) { return id / slots == seq; }

/// The same for an EV probe, whose id has 14 bits: what is above them is not looked at.
constexpr bool ev_probe_answers(uint16_t id, uint8_t seq, unsigned slots) {
  return ((id / slots) ^ seq) % (0x4000u / slots) == 0;
}

/// The next probe of an EV is an EV probe, not a reliability probe. evp: with either kind, it is its turn.
constexpr bool probe_with_ev_probe(Revive kind, bool evp) {
  return kind == Revive::EvProbe || (kind != Revive::Reliability && evp);
}

/// Ticks to wait after `fails` failures in a row.
constexpr uint32_t probe_wait(uint16_t interval, unsigned fails) { return uint32_t{interval} << fails; }

/// True for an EV that fails although its interval does not grow any more: its slot may be taken over. fails: before
/// this failure.
constexpr bool probe_slow(unsigned fails, unsigned cap) { return fails == std::min(cap, kProbeMaxFails); }

/// m of an answer (mrc.md section 3): the EV is good, marked once (SKIP_ONCE), or the peer does not want it.
constexpr bool probe_refused(unsigned m) { return m >= static_cast<unsigned>(wire::Mark::AlwaysSkip); }
constexpr bool probe_marked(unsigned m) { return m == static_cast<unsigned>(wire::Mark::SkipOnce); }

/// Feedback that revives an EV. marked: one of the answers that revive it had SKIP_ONCE.
constexpr FbKind probe_revival(bool marked, bool skip_good) {
  return marked && !skip_good ? FbKind::RevivedSkip : FbKind::RevivedGood;
}

/// True when tick `t` has been reached; ticks wrap.
constexpr bool tick_reached(uint32_t now, uint32_t t) { return now - t < 1u << 31; }

/// A reliability probe that is sent in tick `tick`. tsr_us: register CTRL, unit of the time stamp.
inline ControlPacket build_probe(uint16_t id, const PdcIds& ids, uint32_t tick, bool tsr_us) {
  ControlPacket c{.opcode = opcode_byte(wire::Opcode::ProbeRequest), .ext_len = wire::Peth::kBytes};
  wire::Peth peth;
  peth.probe_id = id;
  peth.spdcid = ids.source;
  peth.dpdcid = ids.destination;
  peth.tx_timestamp16 = time_stamp(tick, tsr_us);
  peth.tsr = tsr_us;
  peth.ftype = static_cast<uint8_t>(wire::Ftype::Timestamp16);
  peth.write(c.ext.data());
  return c;
}

}  // namespace mrc

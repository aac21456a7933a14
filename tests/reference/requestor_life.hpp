// SPDX-License-Identifier: Apache-2.0
/// What happens to a requestor, in short words: a controller hears, an EV goes bad, a port falls.
#pragma once

#include "tests/reference/requestor_bench.hpp"

namespace mrc::test {

inline uint64_t bit(log::EventKind kind) { return uint64_t{1} << static_cast<unsigned>(kind); }

// ---- a controller of 100 Gb/s and 10 ticks: max_wnd = 1.5 x 12.5 B/ns x 1280 ns = 24000 bytes

inline constexpr log::Time kTick = 128'000, kPeriod = 10 * kTick;

inline void controlled(RequestorBench& b) {
  b.profile.shows |= bit(log::EventKind::Cc);
  Controller c;
  c.dest = 7;
  c.rate_gbps = 100;
  c.base_rtt_ns = 1280;
  c.mtu = 1000;
  c.target_ns = 640;
  c.near_zero_ns = 128;
  c.fi = 100;
  c.eta = 50;
  c.fi_scale = 0.25;
  c.alpha = 1;
  c.max_cwnd = 100'000;
  c.adjust_bytes = 1e9;
  c.adjust_period_ns = 1280;
  c.gamma = 0.8;
  c.max_md_jump = 0.5;
  c.ewma_weight = 0.5;
  c.qa_gate = 3;
  b.profile.controllers = {c};
  b.qp.controlled = b.qp.time_stamps = true;
  b.qp.dest = 7;
  b.profile.settings.nominal = 1;  // payload: 100 bytes a packet
  b.start();
}

inline void notified(RequestorBench& b, log::CcNotified what, uint64_t bytes, uint64_t window, log::Time at,
                     log::Time rtt = 0) {
  b.until(at);
  what.sampled = rtt != 0;
  b.judge->event({log::EventKind::Cc, 0, {7, what.pack(), bytes, rtt, 0, window}}, at);
}

/// All of `packets` at once, and a SACK for them 1.28 us after the last one.
inline log::Time exchange(RequestorBench& b, uint32_t packets, log::Time at, unsigned m = 0, unsigned pen = 0,
                          bool restore = false) {
  notified(b, {.kind = log::CcKind::Granted}, packets * uint64_t{100}, 0, at);
  for (uint32_t n = 0; n < packets; ++n) b.data(n, at);
  wire::Packet p = b.packet(wire::Opcode::Sack, true);
  p.seth->cack_psn = p.bth->psn = (kFirst + packets - 1) & 0xFFFFFF;
  p.seth->m = static_cast<uint8_t>(m);
  p.seth->entropy = ev_of(packets - 1);
  p.cc_state->rcvd_bytes = (packets * 100 + 255) / 256;
  p.cc_state->rcv_cwnd_pen = static_cast<uint8_t>(pen);
  p.cc_state->restore_cwnd = restore;
  b.put(false, p, at + kPeriod);
  return at + kPeriod;
}

inline void begins(RequestorBench& b) {
  controlled(b);
  notified(b, {.kind = log::CcKind::Begins}, 0, 24000, kUs);
}

// ---- EVs 0x10000 to 0x10007, the last two of them the backup set of planes 0 and 1

inline void has_evs(RequestorBench& b) {
  b.profile.planes = 2;
  for (uint32_t n = 0; n < 8; ++n) {
    b.qp.evs.push_back(0x10000 + n);
    b.qp.ev_planes.push_back(static_cast<uint8_t>(n % 2));
  }
  b.start();
}

/// These places are denied, the others are not; `ordered`: that may act at once, or not yet.
inline void owner(RequestorBench& b, std::vector<uint32_t> denied, bool ordered, log::Time at) {
  b.until(at);
  b.qp.denied = std::move(denied);
  b.qp.flags = ordered ? log::kOrdered : 0;
  b.judge->qp(b.qp, at);
}

/// So many packets from the first one on, on all EVs but 0x10000.
inline void uses_others(RequestorBench& b, uint32_t packets, log::Time at) {
  for (uint32_t n = 0; n < packets; ++n) b.data(n, at + n * log::Time{1000}, false, 0x10001 + n % 7, (n + 1) % 7 % 2);
}

inline void shows_evs(RequestorBench& b, uint32_t backup = 2, log::Time at = 100 * kUs) {
  b.profile.shows |= bit(log::EventKind::Path);
  b.profile.planes = 2;
  b.profile.settings.min_active = 4;
  b.profile.settings.probe_interval = 100;  // 12.8 us
  b.profile.settings.probe_successes = 2;
  for (uint32_t n = 0; n < 8; ++n) {
    b.qp.evs.push_back(0x10000 + n);
    b.qp.ev_planes.push_back(static_cast<uint8_t>(n % 2));
  }
  b.qp.backup = backup;
  b.start();
  for (uint32_t n = 0; n < 4; ++n) b.data(n, at + n * log::Time{1000});
}

inline void goes(RequestorBench& b, uint32_t place, log::EvState from, log::EvState to, log::Time at) {
  b.until(at);
  b.judge->event(
      {log::EventKind::Path, b.qp.qp, {0x10000 + place, static_cast<uint64_t>(from), static_cast<uint64_t>(to), place}},
      at);
}

/// A SACK about packet n, alone.
inline void mark(RequestorBench& b, uint32_t n, unsigned m, log::Time at, unsigned plane = 0) {
  wire::Packet p = b.packet(wire::Opcode::Sack, true);
  p.seth->cack_psn = p.bth->psn = (kFirst - 1) & 0xFFFFFF;
  p.seth->ack_psn_offset = static_cast<int16_t>(n + 1);
  p.seth->sack_offset = static_cast<int16_t>(n + 1);
  p.seth->sack_bitmap = 1;
  p.seth->m = static_cast<uint8_t>(m);
  p.seth->entropy = ev_of(n);
  b.put(false, p, at, plane);
}

inline void probe(RequestorBench& b, uint32_t entropy, uint16_t id, log::Time at) {
  wire::Packet p = b.packet(wire::Opcode::ProbeRequest, false);
  p.peth->probe_id = id;
  p.set_entropy(entropy);
  b.put(true, p, at);
}

inline void answer(RequestorBench& b, uint32_t entropy, log::Time at, unsigned m = 0, uint16_t id = 0) {
  wire::Packet p = b.packet(wire::Opcode::Sack, true);
  p.seth->cack_psn = p.bth->psn = (kFirst - 1) & 0xFFFFFF;
  p.seth->pr = 1;
  p.seth->ack_psn_offset = static_cast<int16_t>(id);
  p.seth->m = static_cast<uint8_t>(m);
  p.seth->entropy = entropy;
  b.put(false, p, at);
}

/// The EV of packet 0 loses it: the timer sends it again.
inline void loses(RequestorBench& b) { b.data(0, 130 * kUs, true, 0x10007); }

// ---- two planes, 16 EVs

inline void two_planes(RequestorBench& b) {
  b.profile.planes = 2;
  for (uint32_t n = 0; n < 16; ++n) b.qp.evs.push_back(0x10000 + n);
  b.start();
}

/// Packets `first` to 599, one each nanosecond: on the planes by turns, or three of four on plane 0.
inline void sprays(RequestorBench& b, uint32_t first, log::Time at, bool even) {
  for (uint32_t n = first; n < 600; ++n)
    b.data(n, at + n * log::Time{1000}, false, 0x10000 + n % 16, even ? n % 2 : unsigned{n % 4 == 0});
}

// ---- the host of the device

inline void host(RequestorBench& b, log::HostOp op, log::Time at) {
  b.until(at);
  log::Host access;
  access.op = op;
  access.bytes = 64;
  b.judge->host(access, at);
}

// ---- ports

inline void two_ports(RequestorBench& b, unsigned repeats = 2) {
  b.profile.planes = 2;
  b.profile.settings.ep_interval = 100;  // 12.8 us
  b.profile.settings.ep_repeats = repeats;
  b.start();
  b.put(false, b.packet(wire::Opcode::Sack, true), 90 * kUs);
  b.until(100 * kUs);
  b.judge->port({1, false}, 100 * kUs);
}

inline void update(RequestorBench& b, uint16_t id, log::Time at, uint32_t mask = 0b10) {
  wire::Packet p = b.packet(wire::Opcode::EndpointRequest, false);
  p.bth->dqp = 2;
  p.bth->psn = id;
  p.erth->op = 0;
  p.erth->port_status_mask = mask;
  b.put(true, p, at);
}

inline void update_answered(RequestorBench& b, uint16_t id, log::Time at) {
  wire::Packet p = b.packet(wire::Opcode::EndpointResponse, true);
  p.bth->dqp = 2;
  p.bth->psn = id;
  b.put(false, p, at);
}

inline void twelve(RequestorBench& b) {
  b.start();
  for (uint32_t n = 0; n < 12; ++n) b.data(n, 10 * kUs + n * log::Time{1000});
}

}  // namespace mrc::test

// SPDX-License-Identifier: Apache-2.0
/// For each rule of the requestor a life that keeps it and a change of it that breaks it.
#include <catch2/generators/catch_generators.hpp>
#include <functional>
#include <map>
#include <string>

#include "tests/reference/requestor_bench.hpp"

using namespace mrc;
using namespace mrc::test;
using log::CcKind;
using log::EvState;

namespace {

using Bench = RequestorBench;
/// `wrong`: with the change.
using Life = std::function<void(Bench&, bool wrong)>;

uint64_t bit(log::EventKind kind) { return uint64_t{1} << static_cast<unsigned>(kind); }

// ---- a controller of 100 Gb/s and 10 ticks: max_wnd = 1.5 x 12.5 B/ns x 1280 ns = 24000 bytes

constexpr log::Time kTick = 128'000, kPeriod = 10 * kTick;

void controlled(Bench& b) {
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

void told(Bench& b, log::CcTold what, uint64_t bytes, uint64_t window, log::Time at, log::Time rtt = 0) {
  b.until(at);
  what.sampled = rtt != 0;
  b.judge->event({log::EventKind::Cc, 0, {7, what.pack(), bytes, rtt, 0, window}}, at);
}

/// All of `packets` at once, and a SACK for them 1.28 us after the last one.
log::Time exchange(Bench& b, uint32_t packets, log::Time at, unsigned m = 0, unsigned pen = 0, bool restore = false) {
  told(b, {.kind = CcKind::Granted}, packets * uint64_t{100}, 0, at);
  for (uint32_t n = 0; n < packets; ++n) b.data(n, at);
  wire::Packet p = b.packet(wire::Opcode::Sack, true);
  p.seth->cack_psn = p.bth->psn = (kFirst + packets - 1) & 0xFFFFFF;
  p.seth->m = static_cast<uint8_t>(m);
  p.seth->entropy = ev(packets - 1);
  p.cc_state->rcvd_bytes = (packets * 100 + 255) / 256;
  p.cc_state->rcv_cwnd_pen = static_cast<uint8_t>(pen);
  p.cc_state->restore_cwnd = restore;
  b.put(false, p, at + kPeriod);
  return at + kPeriod;
}

void begins(Bench& b) {
  controlled(b);
  told(b, {.kind = CcKind::Begins}, 0, 24000, kUs);
}

// ---- EVs 0x10000 to 0x10007, the last two of them the backup set of planes 0 and 1

void shows_evs(Bench& b, uint32_t backup = 2) {
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
  for (uint32_t n = 0; n < 4; ++n) b.data(n, 100 * kUs + n * log::Time{1000});
}

void goes(Bench& b, uint32_t place, EvState from, EvState to, log::Time at) {
  b.until(at);
  b.judge->event(
      {log::EventKind::Path, b.qp.qp, {0x10000 + place, static_cast<uint64_t>(from), static_cast<uint64_t>(to), place}},
      at);
}

/// A SACK about packet n, alone.
void mark(Bench& b, uint32_t n, unsigned m, log::Time at) {
  wire::Packet p = b.packet(wire::Opcode::Sack, true);
  p.seth->cack_psn = p.bth->psn = (kFirst - 1) & 0xFFFFFF;
  p.seth->ack_psn_offset = static_cast<int16_t>(n + 1);
  p.seth->sack_offset = static_cast<int16_t>(n + 1);
  p.seth->sack_bitmap = 1;
  p.seth->m = static_cast<uint8_t>(m);
  p.seth->entropy = ev(n);
  b.put(false, p, at);
}

void probe(Bench& b, uint32_t entropy, uint16_t id, log::Time at) {
  wire::Packet p = b.packet(wire::Opcode::ProbeRequest, false);
  p.peth->probe_id = id;
  p.set_entropy(entropy);
  b.put(true, p, at);
}

void answer(Bench& b, uint32_t entropy, log::Time at) {
  wire::Packet p = b.packet(wire::Opcode::Sack, true);
  p.seth->cack_psn = p.bth->psn = (kFirst - 1) & 0xFFFFFF;
  p.seth->pr = 1;
  p.seth->entropy = entropy;
  b.put(false, p, at);
}

/// The EV of packet 0 loses it: the timer sends it again.
void loses(Bench& b) { b.data(0, 130 * kUs, true, 0x10007); }

// ---- ports

void two_ports(Bench& b, unsigned repeats = 2) {
  b.profile.planes = 2;
  b.profile.settings.ep_interval = 100;  // 12.8 us
  b.profile.settings.ep_repeats = repeats;
  b.start();
  b.put(false, b.packet(wire::Opcode::Sack, true), 90 * kUs);
  b.until(100 * kUs);
  b.judge->port({1, false}, 100 * kUs);
}

void update(Bench& b, uint16_t id, log::Time at, uint32_t mask = 0b10) {
  wire::Packet p = b.packet(wire::Opcode::EndpointRequest, false);
  p.bth->dqp = 2;
  p.bth->psn = id;
  p.erth->op = 0;
  p.erth->port_status_mask = mask;
  b.put(true, p, at);
}

void update_answered(Bench& b, uint16_t id, log::Time at) {
  wire::Packet p = b.packet(wire::Opcode::EndpointResponse, true);
  p.bth->dqp = 2;
  p.bth->psn = id;
  b.put(false, p, at);
}

void twelve(Bench& b) {
  b.start();
  for (uint32_t n = 0; n < 12; ++n) b.data(n, 10 * kUs + n * log::Time{1000});
}

using Lives = std::map<Rule, Life>;

Lives of_packets() {
  return {
      {Rule::ReqRtxEvidence,
       [](Bench& b, bool wrong) {
         twelve(b);
         if (!wrong) b.nack(3, 1, 11 * kUs);
         b.data(3, 12 * kUs, true);
       }},
      {Rule::ReqRtxReported,
       [](Bench& b, bool wrong) {
         twelve(b);
         b.sack(-1, 1, 0b0110, 2, 11 * kUs);
         b.data(wrong ? 1 : 0, 60 * kUs, true);
         b.end(61 * kUs);
       }},
      {Rule::ReqMprNow,
       [](Bench& b, bool wrong) {
         b.qp.dynamic_mpr = true;
         twelve(b);
         b.sack(9, 9, 0, 0, 11 * kUs, 1);
         b.data(wrong ? 138 : 137, 60 * kUs);
       }},
      {Rule::ReqRetries,
       [](Bench& b, bool wrong) {
         b.start();
         b.data(0, 10 * kUs);
         b.data(0, 30 * kUs, true);
         b.data(0, 60 * kUs, true);
         if (wrong) b.data(0, 100 * kUs, true);
       }},
      {Rule::ReqNackAgain,
       [](Bench& b, bool wrong) {
         twelve(b);
         b.nack(3, 1, 11 * kUs);
         if (!wrong) b.data(3, 20 * kUs, true, 0x20000);
         b.sack(11, 11, 0, 0, 60 * kUs);
         b.end(70 * kUs);
       }},
      {Rule::ReqGapAgain,
       [](Bench& b, bool wrong) {
         twelve(b);
         b.sack(2, 9, 0b1111110, 6, 11 * kUs);
         if (!wrong) b.data(3, 20 * kUs, true, 0x20000);
         b.sack(11, 11, 0, 0, 60 * kUs);
         b.end(70 * kUs);
       }},
      {Rule::ReqTimer,
       [](Bench& b, bool wrong) {
         b.start();
         b.data(0, 10 * kUs);
         if (!wrong) b.data(0, 30 * kUs, true);
         b.end(108 * kUs);
       }},
      {Rule::ReqMoves,
       [](Bench& b, bool wrong) {
         b.start();
         b.post(100, 10 * kUs);
         if (!wrong) b.data(0, 20 * kUs);
         b.end(60 * kUs);
       }},
      {Rule::ReqAsks,
       [](Bench& b, bool wrong) {
         b.qp.timeout = 6;  // 65.536 us: three quarters and 32 us are 81.2 us
         b.start();
         b.data(0, 10 * kUs);
         if (!wrong) probe(b, 0x10001, 0xFFFE, 30 * kUs);
         b.end(95 * kUs);
       }},
      {Rule::ReqAsksOnce,
       [](Bench& b, bool wrong) {
         b.start();
         b.data(0, 10 * kUs);
         probe(b, 0x10001, 0xFFFE, 50 * kUs);
         if (!wrong) b.sack(-1, 0, 0, 0, 55 * kUs);
         probe(b, 0x10001, 0xFFFE, 60 * kUs);
       }},
      {Rule::ReqCqeOwed,
       [](Bench& b, bool wrong) {
         b.start();
         b.post(100, 10 * kUs, 70);
         b.data(0, 11 * kUs);
         b.ack(0, 0x1F, 13 * kUs);
         if (!wrong) b.done(70, log::Status::Ok, 14 * kUs);
         b.end(60 * kUs);
       }},
      {Rule::QpFails,
       [](Bench& b, bool wrong) {
         b.start();
         b.post(100, 10 * kUs, 70);
         b.data(0, 11 * kUs);
         b.ack(0, 0x62, 13 * kUs);
         if (!wrong) b.done(70, log::Status::RemoteAccess, 14 * kUs);
         b.end(60 * kUs);
       }},
      {Rule::QpFlushAll,
       [](Bench& b, bool wrong) {
         b.start();
         b.post(100, 10 * kUs, 70);
         b.post(100, 10 * kUs, 71);
         b.data(0, 11 * kUs);
         b.ack(0, 0x62, 13 * kUs);
         b.done(70, log::Status::RemoteAccess, 14 * kUs);
         if (!wrong) b.done(71, log::Status::Flushed, 15 * kUs);
         b.end(60 * kUs);
       }},
      {Rule::QpStatus,
       [](Bench& b, bool wrong) {
         b.start();
         b.post(100, 10 * kUs, 70);
         b.data(0, 11 * kUs);
         b.ack(0, 0x62, 13 * kUs);
         b.done(70, wrong ? log::Status::RemoteInvalid : log::Status::RemoteAccess, 14 * kUs);
         b.end(60 * kUs);
       }},
  };
}

Lives of_paths() {
  return {
      {Rule::PathBlamed,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         loses(b);
         b.data(5, 200 * kUs, false, wrong ? 0x10000 : 0x10003);
       }},
      {Rule::PathProbed,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         loses(b);
         goes(b, 0, EvState::Good, EvState::Bad, 136 * kUs);
         if (!wrong) probe(b, 0x10000, 1, 150 * kUs);
         b.end(400 * kUs);
       }},
      {Rule::PathEqual,
       [](Bench& b, bool wrong) {
         b.profile.planes = 2;
         for (uint32_t n = 0; n < 16; ++n) b.qp.evs.push_back(0x10000 + n);
         b.start();
         log::Time at = 10 * kUs;
         for (uint32_t psn = 0; psn < 600; ++psn) {
           wire::Packet p = b.packet(wire::Opcode::WriteOnly, false);
           p.bth->psn = (kFirst + psn) & 0xFFFFFF;
           p.reth->dma_length = 100;
           p.payload.assign(100, 0x5a);
           p.set_entropy(0x10000 + psn % 16);
           b.put(true, p, at += 1000, wrong ? psn % 4 == 0 : psn % 2);
         }
       }},
      {Rule::PathStates,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         mark(b, 0, 1, 110 * kUs);
         goes(b, 0, wrong ? EvState::Bad : EvState::Good, EvState::Skip, 111 * kUs);
       }},
      {Rule::PathSkip,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         mark(b, 0, wrong ? 0 : 1, 110 * kUs);
         goes(b, 0, EvState::Good, EvState::Skip, 111 * kUs);
       }},
      {Rule::PathMarked,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         mark(b, 0, 1, 110 * kUs);
         if (!wrong) goes(b, 0, EvState::Good, EvState::Skip, 111 * kUs);
         b.end(200 * kUs);
       }},
      {Rule::PathUsed,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         mark(b, 0, 1, 110 * kUs);
         goes(b, 0, EvState::Good, EvState::Skip, 111 * kUs);
         if (!wrong) goes(b, 0, EvState::Skip, EvState::Good, 150 * kUs);
         b.data(8, 151 * kUs);
       }},
      {Rule::PathBad,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         if (!wrong) loses(b);
         const log::Time at = (wrong ? 104 : 136) * kUs;  // half of the timer's interval is not over
         goes(b, 6, EvState::Backup, EvState::Good, at);
         goes(b, 0, EvState::Good, EvState::Bad, at);
         if (wrong) b.until(300 * kUs);
       }},
      {Rule::PathReplaced,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         loses(b);
         goes(b, wrong ? 7 : 6, EvState::Backup, EvState::Good, 136 * kUs);
         goes(b, 0, EvState::Good, EvState::Bad, 136 * kUs);
       }},
      {Rule::PathFloor,
       [](Bench& b, bool wrong) {
         shows_evs(b, 0);  // eight in use, of which one or five may go bad
         const unsigned n = wrong ? 5 : 1;
         for (unsigned i = 0; i < n; ++i) mark(b, i, 2, (140 + i) * kUs);
         for (unsigned i = 0; i < n; ++i) goes(b, i, EvState::Good, EvState::Bad, 145 * kUs);
       }},
      {Rule::PathRevived,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         loses(b);
         goes(b, 0, EvState::Good, EvState::Bad, 136 * kUs);
         for (unsigned i = 0; i < (wrong ? 1u : 2u); ++i) {
           probe(b, 0x10000, static_cast<uint16_t>(i), (150 + 20 * i) * kUs);
           answer(b, 0x10000, (151 + 20 * i) * kUs);
         }
         goes(b, 0, EvState::Bad, EvState::Good, 180 * kUs);
       }},
      {Rule::PathProbeGap,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         loses(b);
         goes(b, 0, EvState::Good, EvState::Bad, 136 * kUs);
         probe(b, 0x10000, 1, (wrong ? 140 : 150) * kUs);
       }},
      {Rule::PeerUpdate,
       [](Bench& b, bool wrong) {
         two_ports(b);
         if (!wrong) update(b, 1, 105 * kUs);
         if (!wrong) update_answered(b, 1, 106 * kUs);
         b.end(200 * kUs);
       }},
      {Rule::PeerRepeat,
       [](Bench& b, bool wrong) {
         two_ports(b);
         update(b, 1, 105 * kUs);
         if (!wrong) update(b, 2, 145 * kUs);
         if (!wrong) update_answered(b, 2, 146 * kUs);
         b.end(200 * kUs);
       }},
      {Rule::PeerRepeats,
       [](Bench& b, bool wrong) {
         two_ports(b);
         update(b, 1, 135 * kUs);
         update(b, 2, (wrong ? 138 : 150) * kUs);
         update_answered(b, 2, 151 * kUs);
         b.end(200 * kUs);
       }},
  };
}

Lives of_controllers() {
  return {
      {Rule::CcStart,
       [](Bench& b, bool wrong) {
         controlled(b);
         told(b, {.kind = CcKind::Begins}, 0, wrong ? 16000 : 24000, kUs);
       }},
      {Rule::CcAck,
       // A delay of 6 ticks, above the target of 5: fair increase, fi x bytes; then inc / cwnd = 100 x 1000 / 20000 = 5
       // and eta = 50.
       [](Bench& b, bool wrong) {
         begins(b);
         told(b, {.kind = CcKind::Granted}, 5000, 0, 2 * kUs);
         told(b, {.kind = CcKind::Loss}, 4000, 20000, 2 * kUs + 1);
         const log::Time at = exchange(b, 10, 3 * kUs);
         told(b, {.kind = CcKind::Ack}, 1000, wrong ? 20000 : 20055, at, kPeriod + 6 * kTick);
       }},
      {Rule::CcPenalty,
       [](Bench& b, bool wrong) {
         begins(b);
         told(b, {.kind = CcKind::Granted}, 10000, 0, 2 * kUs);
         const log::Time at = exchange(b, 10, 3 * kUs, 0, 64);
         // 10000 bytes are in flight afterwards, and half of the 1000 new ones is taken off.
         told(b, {.kind = CcKind::Ack, .pen = 64}, 1000, wrong ? 23500 : 9500, at);
       }},
      {Rule::CcNack,
       [](Bench& b, bool wrong) {
         begins(b);
         told(b, {.kind = CcKind::Granted}, 5000, 0, 2 * kUs);
         told(b, {.kind = CcKind::Nack, .reason = 1}, 1000, wrong ? 24000 : 23000, 3 * kUs);
       }},
      {Rule::CcLoss,
       [](Bench& b, bool wrong) {
         begins(b);
         told(b, {.kind = CcKind::Granted}, 5000, 0, 2 * kUs);
         told(b, {.kind = CcKind::Loss}, 1000, wrong ? 12000 : 23000, 3 * kUs);
       }},
      {Rule::CcGrant,
       [](Bench& b, bool wrong) {
         begins(b);
         told(b, {.kind = CcKind::Granted}, wrong ? 25001 : 25000, 0, 2 * kUs);
       }},
      {Rule::CcSent,
       [](Bench& b, bool wrong) {
         begins(b);
         told(b, {.kind = CcKind::Granted}, wrong ? 99 : 100, 0, 2 * kUs);
         b.data(0, 2 * kUs);
       }},
      {Rule::CcHeard,
       [](Bench& b, bool wrong) {
         begins(b);
         const log::Time at = exchange(b, 10, 3 * kUs, wrong ? 0 : 1);
         told(b, {.kind = CcKind::Ack, .marked = true}, 1000, 24000, at);
       }},
      {Rule::CcRtt,
       [](Bench& b, bool wrong) {
         begins(b);
         const log::Time at = exchange(b, 10, 3 * kUs);
         told(b, {.kind = CcKind::Ack}, 1000, 24000, at, wrong ? kPeriod - 3 * kTick : kPeriod);
       }},
      {Rule::CcBytes,
       [](Bench& b, bool wrong) {
         begins(b);
         const log::Time at = exchange(b, 10, 3 * kUs);
         told(b, {.kind = CcKind::Ack}, wrong ? 1281 : 1280, 24000, at);
       }},
  };
}

const Lives& lives() {
  static const Lives all = [] {
    Lives made = of_packets();
    made.merge(of_paths());
    made.merge(of_controllers());
    return made;
  }();
  return all;
}

}  // namespace

TEST_CASE("a controller with nothing in flight holds back no work that its window has room for",
          "[reference.requestor]") {
  struct Case {
    const char* name;
    uint64_t window, flying;
    bool begins, comes, wrong;
  };
  const auto c = GENERATE(Case{"nothing in flight", 24000, 0, true, false, true},
                          Case{"the packet comes", 24000, 0, true, true, false},
                          Case{"something is in flight", 24000, 1, true, false, false},
                          Case{"a window of a packet", 348, 0, true, false, true},
                          Case{"a window that holds none", 347, 0, true, false, false},
                          Case{"how it began is not shown", 24000, 0, false, false, false});
  CAPTURE(c.name);
  Bench b;
  controlled(b);
  if (c.begins) told(b, {.kind = CcKind::Begins}, 0, c.window, kUs);
  if (c.flying != 0) told(b, {.kind = CcKind::Granted}, c.flying, 0, 2 * kUs);
  b.post(100, 10 * kUs);
  if (c.comes) {
    told(b, {.kind = CcKind::Granted}, 100, 0, 20 * kUs);
    b.data(0, 20 * kUs);
  }
  b.end(60 * kUs);
  CHECK(b.broken(Rule::ReqMoves) == (c.wrong ? 1 : 0));
}

TEST_CASE("each rule of the requestor has a life that keeps it and one that breaks it", "[reference.requestor]") {
  for (std::size_t i = 0; i < kNumRules; ++i) {
    if (std::string(kRules[i].part) != "requestor") continue;
    INFO(kRules[i].id);
    const auto life = lives().find(static_cast<Rule>(i));
    REQUIRE(life != lives().end());
    for (const bool wrong : {false, true}) {
      INFO((wrong ? "broken" : "kept"));
      Bench b;
      life->second(b, wrong);
      std::string found;
      for (const Finding& f : b.report.findings()) {
        found += std::string(info(f.rule).id) + ": " + f.came + "; right: " + f.right + "\n";
      }
      INFO(found);
      CHECK((b.broken(life->first) != 0) == wrong);
      if (!wrong) CHECK(b.ok(life->first) != 0);
    }
  }
}

TEST_CASE("a round trip is less by the service time that the peer took off", "[reference.requestor]") {
  // The stamp is moved by 3 ticks; 2 more are within what clocks that tick allow.
  for (const log::Time ticks : {7u, 10u, 4u}) {
    INFO(ticks);
    Bench b;
    begins(b);
    told(b, {.kind = CcKind::Granted}, 100, 0, 2 * kUs);
    wire::Packet p = wire::make_packet(wire::Opcode::WriteOnly, wire::Encapsulation::Ipv6, true, b.profile.wire());
    p.ipv6->src = b.qp.own_ip;
    p.ipv6->dst = b.qp.peer_ip;
    p.bth->dqp = b.qp.peer_qp;
    p.bth->p_key = b.qp.pkey;
    p.bth->psn = kFirst;
    p.reth->dma_length = 100;
    p.payload.assign(100, 0x5a);
    p.tseth->tx_timestamp16 = 0xfffe;
    p.set_entropy(ev(0));
    b.put(true, p, 3 * kUs);
    wire::Packet q = b.packet(wire::Opcode::Sack, true);
    q.seth->cack_psn = q.bth->psn = kFirst;
    q.seth->entropy = ev(0);
    q.cc_state->rcvd_bytes = 1;
    q.cc_state->tx_timestamp16 = 1;
    b.put(false, q, 3 * kUs + kPeriod);
    told(b, {.kind = CcKind::Ack}, 100, 24000, 3 * kUs + kPeriod, ticks * kTick);
    CHECK(b.broken(Rule::CcRtt) == (ticks == 4 ? 1 : 0));
  }
}

TEST_CASE("planes need not be used alike once EVs are out of use", "[reference.requestor]") {
  for (const unsigned m : {0u, 2u}) {  // 2: ALWAYS_SKIP
    Bench b;
    b.profile.planes = 2;
    for (uint32_t n = 0; n < 16; ++n) b.qp.evs.push_back(0x10000 + n);
    b.start();
    b.data(0, 9 * kUs);
    mark(b, 0, m, 9 * kUs + 1);
    for (uint32_t n = 1; n < 600; ++n) {
      wire::Packet p = b.packet(wire::Opcode::WriteOnly, false);
      p.bth->psn = (kFirst + n) & 0xFFFFFF;
      p.reth->dma_length = 100;
      p.payload.assign(100, 0x5a);
      p.set_entropy(0x10000 + n % 16);
      b.put(true, p, 10 * kUs + n * log::Time{1000}, n % 4 == 0);
    }
    CHECK(b.broken(Rule::PathEqual) == (m == 0 ? 1 : 0));
  }
}

TEST_CASE("an answer that comes when the next try is due may be too late", "[reference.requestor]") {
  // 12.8 us between tries. Answered in time: none is sent 208 us later. Too late, or with one under way: until that
  // one is answered.
  enum class When { InTime, Late, UnderWay };
  for (const When when : {When::InTime, When::Late, When::UnderWay}) {
    INFO(static_cast<int>(when));
    Bench b;
    two_ports(b, 15);
    update(b, 1, 135 * kUs);
    update_answered(b, 1, (when == When::Late ? 149 : 147) * kUs);
    if (when == When::UnderWay) update(b, 2, 148 * kUs);
    update(b, 3, 400 * kUs);
    CHECK(b.broken(Rule::PeerRepeats) == (when == When::InTime ? 1 : 0));
  }
}

TEST_CASE("a retransmission that follows at once was meant before, and blames no EV", "[reference.requestor]") {
  for (const auto& [after, heard] : {std::pair{kUs / 2, false}, {kUs / 2, true}, {20 * kUs, false}}) {
    INFO(after << " " << heard);
    Bench b;
    shows_evs(b);
    b.data(4, 110 * kUs, false, 0x10000);
    if (heard) mark(b, 1, 0, 110 * kUs + kUs / 4);
    b.data(4, 110 * kUs + after, true, 0x10001);
    b.data(5, 200 * kUs, false, 0x10000);
    CHECK(b.broken(Rule::PathBlamed) == (after == 20 * kUs || heard ? 1 : 0));
  }
}

TEST_CASE("an EV that went bad after the packet left and came back may have done so for that packet",
          "[reference.requestor]") {
  for (const log::Time bad : {105 * kUs, 112 * kUs}) {
    Bench b;
    shows_evs(b);
    if (bad < 110 * kUs) goes(b, 0, EvState::Good, EvState::Bad, bad);
    b.data(4, 110 * kUs, false, 0x10000);
    if (bad > 110 * kUs) goes(b, 0, EvState::Good, EvState::Bad, bad);
    goes(b, 0, EvState::Bad, EvState::Good, 120 * kUs);
    b.data(4, 130 * kUs, true, 0x10001);
    b.data(5, 200 * kUs, false, 0x10000);
    CHECK(b.broken(Rule::PathBlamed) == (bad < 110 * kUs ? 1 : 0));
  }
}

TEST_CASE("a copy of a reported packet may be told as acknowledged, once and not more", "[reference.requestor]") {
  for (const unsigned too_many : {0U, 1U}) {
    Bench b;
    begins(b);
    const log::Time at = exchange(b, 10, 3 * kUs);
    told(b, {.kind = CcKind::Granted}, 100, 0, at + kUs);
    b.data(9, at + kUs, true);
    told(b, {.kind = CcKind::Ack}, 1380 + too_many, 24000, at + 2 * kUs);
    CHECK(b.broken(Rule::CcBytes) == too_many);
  }
}

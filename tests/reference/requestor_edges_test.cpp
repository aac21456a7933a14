// SPDX-License-Identifier: Apache-2.0
/// Where a rule of the requestor begins and ends: what is right just before, and wrong just after.
#include <catch2/generators/catch_generators.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/reference/requestor_life.hpp"

namespace mrc::test::requestor_edges_test {

using log::CcKind;
using log::EvState;
using Bench = RequestorBench;

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
  if (c.begins) notified(b, {.kind = CcKind::Begins}, 0, c.window, kUs);
  if (c.flying != 0) notified(b, {.kind = CcKind::Granted}, c.flying, 0, 2 * kUs);
  b.post(100, 10 * kUs);
  if (c.comes) {
    notified(b, {.kind = CcKind::Granted}, 100, 0, 20 * kUs);
    b.data(0, 20 * kUs);
  }
  b.end(60 * kUs);
  CHECK(b.broken(Rule::ReqMoves) == (c.wrong ? 1 : 0));
}

TEST_CASE("a round trip is less by the service time that the peer took off", "[reference.requestor]") {
  // The stamp is moved by 3 ticks; 2 more are within what clocks that tick allow.
  for (const log::Time ticks : {7u, 10u, 4u}) {
    INFO(ticks);
    Bench b;
    begins(b);
    notified(b, {.kind = CcKind::Granted}, 100, 0, 2 * kUs);
    wire::Packet p = wire::make_packet(wire::Opcode::WriteOnly, wire::Encapsulation::Ipv6, true, b.profile.wire());
    p.ipv6->src = b.qp.own_ip;
    p.ipv6->dst = b.qp.peer_ip;
    p.bth->dqp = b.qp.peer_qp;
    p.bth->p_key = b.qp.pkey;
    p.bth->psn = kFirst;
    p.reth->dma_length = 100;
    p.payload.assign(100, 0x5a);
    p.tseth->tx_timestamp16 = 0xfffe;
    p.set_entropy(ev_of(0));
    b.put(true, p, 3 * kUs);
    wire::Packet q = b.packet(wire::Opcode::Sack, true);
    q.seth->cack_psn = q.bth->psn = kFirst;
    q.seth->entropy = ev_of(0);
    q.cc_state->rcvd_bytes = 1;
    q.cc_state->tx_timestamp16 = 1;
    b.put(false, q, 3 * kUs + kPeriod);
    notified(b, {.kind = CcKind::Ack}, 100, 24000, 3 * kUs + kPeriod, ticks * kTick);
    CHECK(b.broken(Rule::CcRtt) == (ticks == 4 ? 1 : 0));
  }
}

TEST_CASE("a packet may be sent again once a SACK has returned a later time stamp than its own",
          "[reference.requestor][A-83]") {
  // A peer may move what it returns by its service time, and a packet wait inside with its stamp. Of a question
  // the time says the same to a QP without time stamps: packet 1 leaves half a microsecond behind it, 3.9 ticks.
  struct Case {
    const char* name;
    bool probe, by_time, us, stamps;
    uint16_t moved;
    bool evidence;
  };
  const auto c = GENERATE(Case{"its own", false, true, false, true, 4, false},
                          Case{"a later one", false, true, false, true, 5, true},
                          Case{"a NIC that does not go by time", false, false, false, true, 5, false},
                          Case{"an older one", false, true, false, true, 0xfff0, false},
                          Case{"of a question, no stamps", true, true, false, false, 3, false},
                          Case{"of a question, no stamps, later", true, true, false, false, 4, true},
                          Case{"the same in us", true, true, true, false, 1, true});
  CAPTURE(c.name);
  Bench b;
  b.profile.settings.loss_time = c.by_time;
  b.profile.settings.tsr_us = c.us;
  b.start();
  const auto sent = [&](uint32_t n, uint16_t stamp, bool again, log::Time at) {
    wire::Packet p = b.packet(wire::Opcode::WriteOnly, false, c.stamps);
    p.bth->psn = (kFirst + n) & 0xFFFFFF;
    p.bth->rtx = again ? 1 : 0;
    p.reth->dma_length = 100;
    p.payload.assign(100, 0x5a);
    if (p.tseth) p.tseth->tx_timestamp16 = static_cast<uint16_t>(0xfffe + stamp);
    p.set_entropy(ev_of(n + (again ? 4 : 0)));
    b.put(true, p, at);
  };
  sent(0, 0, false, 10 * kUs);
  if (c.probe) {
    wire::Packet p = b.packet(wire::Opcode::ProbeRequest, false);
    p.peth->probe_id = 0xfffe;
    p.peth->tx_timestamp16 = 0xfffe;
    b.put(true, p, 10 * kUs);
  }
  sent(1, 4, false, 10 * kUs + kUs / 2);
  wire::Packet p = b.packet(wire::Opcode::Sack, true);
  p.seth->cack_psn = p.bth->psn = kFirst;
  p.seth->pr = c.probe ? 1 : 0;
  p.seth->ack_psn_offset = c.probe ? -2 : 0;
  p.seth->sack_offset = 1;
  p.cc_state->tx_timestamp16 = static_cast<uint16_t>(0xfffe + c.moved);
  b.put(false, p, 12 * kUs);
  sent(1, 20, true, 13 * kUs);
  CHECK(b.broken(Rule::ReqRtxEvidence) == (c.evidence ? 0 : 1));
}

TEST_CASE("for what a controller was told a bounded number of SACKs is looked at", "[reference.requestor]") {
  // One SACK with a mark, for which nothing is told, keeps all behind it; each of those may be exchanged for any other.
  constexpr unsigned kSacks = 600;
  Bench b;
  begins(b);
  b.data(0, 2 * kUs);
  for (unsigned n = 0; n <= kSacks; ++n) {
    wire::Packet q = b.packet(wire::Opcode::Sack, true);
    q.seth->cack_psn = q.bth->psn = kFirst;
    q.seth->m = n == 0 ? 1 : 0;
    q.seth->entropy = ev_of(0);
    q.cc_state->rcvd_bytes = 1;
    b.put(false, q, 3 * kUs + n * kUs / 20);
  }
  for (unsigned n = 0; n <= kSacks; ++n)
    notified(b, {.kind = CcKind::Ack}, 0, 24000, 34 * kUs + n * kUs / 100, 33 * kUs);
  const ref::Tally& tally = b.report.tally(Rule::CcRtt);
  CHECK(tally.checked == kSacks);
  CHECK(tally.broken == 0);
  CHECK(tally.rests.at("there were more ways than are followed") == 1);
}

TEST_CASE("planes need not be used alike once EVs are out of use", "[reference.requestor]") {
  for (const unsigned m : {0u, 2u}) {  // 2: ALWAYS_SKIP
    Bench b;
    two_planes(b);
    b.data(0, 9 * kUs);
    mark(b, 0, m, 9 * kUs + 1);
    sprays(b, 1, 10 * kUs, false);
    CHECK(b.broken(Rule::PathEqual) == (m == 0 ? 1 : 0));
  }
}

TEST_CASE("planes need not be used alike once a packet is lost, whatever its loss is blamed on",
          "[reference.requestor]") {
  // It goes again at once, so that its loss may have been decided before it left: no EV is accused, but one may be bad.
  for (const bool lost : {false, true}) {
    Bench b;
    two_planes(b);
    b.data(0, 9 * kUs);
    if (lost) b.data(0, 9 * kUs + kUs / 2, true);
    sprays(b, 1, 10 * kUs, false);
    CHECK(b.broken(Rule::PathEqual) == (lost ? 0 : 1));
  }
}

TEST_CASE("each mark may move one packet to another plane", "[reference.requestor]") {
  // 127 and 385 of 512 packets on two planes; 192 and 320 are a quarter off.
  for (const unsigned marks : {64u, 65u}) {
    Bench b;
    two_planes(b);
    b.data(0, 9 * kUs);
    for (unsigned k = 0; k < marks; ++k) mark(b, 0, 1, 9 * kUs + 1 + k);
    sprays(b, 1, 10 * kUs, false);
    CHECK(b.broken(Rule::PathEqual) == (marks == 65 ? 0 : 1));
  }
}

TEST_CASE("a packet that waited for its data may have been given its EV long before", "[reference.requestor]") {
  // The EV leaves GOOD at 111 us; frames wait inside for 32 us at most, and as long as the host owes data.
  for (const bool starved : {false, true}) {
    Bench b;
    shows_evs(b);
    mark(b, 0, 1, 110 * kUs);
    goes(b, 0, EvState::Good, EvState::Skip, 111 * kUs);
    if (starved) host(b, log::HostOp::Read, 112 * kUs);
    if (starved) host(b, log::HostOp::ReadDone, 150 * kUs);
    b.data(8, 151 * kUs);
    CHECK(b.broken(Rule::PathUsed) == (starved ? 0 : 1));
  }
}

TEST_CASE("an EV that is denied is so from the moment on at which the order acts", "[reference.requestor][A-66]") {
  // Frames wait inside for 32 us at most, and as long as the host owes data.
  struct Way {
    bool ordered, allowed, starved;
    log::Time at;
    bool wrong;
  };
  for (const Way& way :
       {Way{false, false, false, 53, true}, Way{false, false, false, 51, false}, Way{true, false, false, 53, false},
        Way{false, true, false, 53, false}, Way{false, false, true, 53, false}}) {
    Bench b;
    has_evs(b);
    owner(b, {0}, true, 10 * kUs);
    if (!way.ordered) owner(b, {0}, false, 20 * kUs);
    if (way.allowed) owner(b, {}, true, 40 * kUs);
    if (way.starved) host(b, log::HostOp::Read, 21 * kUs);
    if (way.starved) host(b, log::HostOp::ReadDone, 40 * kUs);
    b.data(8, way.at * kUs);
    CHECK(b.broken(Rule::PathDenied) == (way.wrong ? 1 : 0));
  }
}

TEST_CASE("an EV that is allowed again need not be used before the order acts, nor once a packet was lost",
          "[reference.requestor][A-66]") {
  for (const bool ordered : {true, false}) {
    for (const bool lost : {true, false}) {
      Bench b;
      has_evs(b);
      owner(b, {0}, false, 10 * kUs);
      owner(b, {}, ordered, 20 * kUs);
      uses_others(b, 16 * 8 - 2, 21 * kUs);
      b.data(lost ? 125 : 126, 40 * kUs, lost, 0x10001);
      CHECK(b.broken(Rule::PathAllowed) == 0);
      b.data(127, 40 * kUs, false, 0x10001);
      CHECK(b.broken(Rule::PathAllowed) == (ordered || lost ? 0 : 1));
    }
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

TEST_CASE("what an EV comes back as depends on the marks of the answers, and on A-33", "[reference.requestor]") {
  struct Case {
    unsigned first, second;
    bool skip_good;
    bool good, skip;  // right
  };
  for (const Case& c : {Case{0, 0, false, true, false}, Case{1, 1, false, false, true}, Case{0, 1, false, true, true},
                        Case{1, 1, true, true, false}}) {
    for (const EvState to : {EvState::Good, EvState::Skip}) {
      Bench b;
      b.profile.settings.skip_good = c.skip_good;
      shows_evs(b);
      loses(b);
      goes(b, 0, EvState::Good, EvState::Bad, 136 * kUs);
      probe(b, 0x10000, 0, 150 * kUs);
      answer(b, 0x10000, 151 * kUs, c.first);
      probe(b, 0x10000, 1, 170 * kUs);
      answer(b, 0x10000, 171 * kUs, c.second);
      goes(b, 0, EvState::Bad, to, 180 * kUs);
      CHECK(b.broken(Rule::PathRevivedAs) == ((to == EvState::Good ? c.good : c.skip) ? 0 : 1));
    }
  }
}

TEST_CASE("a mark soon before the end of a short run counts as soon as it must have been heard",
          "[reference.requestor]") {
  // The QP is set up at 0 and a mark comes 1 us later: 2 us are enough for the NIC to act.
  for (const auto& [end, wrong] : {std::pair{3 * kUs, false}, {3 * kUs + 1, true}}) {
    Bench b;
    shows_evs(b, 2, 100);
    mark(b, 0, 1, kUs);
    b.judge->finish({}, end);
    CHECK(b.broken(Rule::PathMarked) == (wrong ? 1 : 0));
  }
  Bench b;
  shows_evs(b, 2, 100);
  mark(b, 0, 1, kUs);
  b.judge->finish({true, "stopped"}, 10 * kUs);
  CHECK(b.broken(Rule::PathMarked) == 0);
}

TEST_CASE("a QP that has failed need not heed marks", "[reference.requestor]") {
  for (const bool failed : {false, true}) {
    Bench b;
    shows_evs(b);
    b.post(100, 105 * kUs, 70);
    b.data(4, 110 * kUs);
    if (failed) b.done(70, log::Status::Flushed, 111 * kUs);
    mark(b, 4, 1, 112 * kUs);
    b.end(400 * kUs);
    CHECK(b.broken(Rule::PathMarked) == (failed ? 0 : 1));
  }
}

TEST_CASE("an answer about the same packet excuses a mark on another plane, not on its own, and not always",
          "[reference.requestor]") {
  const auto marked = [](Bench& b, uint32_t n, unsigned plane, unsigned other) {
    b.data(n, (110 + 10UL * n) * kUs);
    mark(b, n, 1, (112 + 10UL * n) * kUs, plane);
    mark(b, n, 0, (112 + 10UL * n) * kUs + 1, other);
  };
  for (const unsigned other : {0u, 1u}) {
    Bench b;
    shows_evs(b);
    marked(b, 4, 0, other);
    b.end(400 * kUs);
    CHECK(b.broken(Rule::PathMarked) == (other == 0 ? 1 : 0));
  }
  // One plane may come second always; two do not.
  for (const unsigned planes : {1u, 2u}) {
    Bench b;
    shows_evs(b);
    for (uint32_t n = 4; n < 14; ++n) marked(b, n, n % planes, 1 - n % planes);
    b.end(600 * kUs);
    CHECK(b.broken(Rule::PathMarked) == planes - 1);
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

TEST_CASE("probes of an EV that is back may go on, and then do when it is bad again", "[reference.requestor]") {
  struct Run {
    bool on;        // a probe at 180 us, when it is GOOD again
    log::Time bad;  // then
    log::Time probe;
    unsigned broken;
  };
  for (const Run& run :
       {Run{true, 190 * kUs, 193 * kUs, 0}, Run{false, 190 * kUs, 193 * kUs, 1}, Run{true, 183 * kUs, 184 * kUs, 1}}) {
    Bench b;
    shows_evs(b);
    loses(b);
    goes(b, 0, EvState::Good, EvState::Bad, 136 * kUs);
    for (const log::Time at : {150 * kUs, 164 * kUs}) {
      probe(b, 0x10000, 1, at);
      answer(b, 0x10000, at + kUs, 0, 1);
    }
    goes(b, 0, EvState::Bad, EvState::Good, 166 * kUs);
    if (run.on) probe(b, 0x10000, 2, 180 * kUs);
    goes(b, 0, EvState::Good, EvState::Bad, run.bad);
    probe(b, 0x10000, 3, run.probe);
    CHECK(b.broken(Rule::PathProbeGap) == run.broken);
  }
}

TEST_CASE("a copy of a reported packet may be told as acknowledged, once and not more", "[reference.requestor]") {
  for (const unsigned too_many : {0U, 1U}) {
    Bench b;
    begins(b);
    const log::Time at = exchange(b, 10, 3 * kUs);
    notified(b, {.kind = CcKind::Granted}, 100, 0, at + kUs);
    b.data(9, at + kUs, true);
    notified(b, {.kind = CcKind::Ack}, 1380 + too_many, 24000, at + 2 * kUs);
    CHECK(b.broken(Rule::CcBytes) == too_many);
  }
}

TEST_CASE("each loss may be told as acknowledged by less than a unit of rcvd_bytes", "[reference.requestor]") {
  for (const CcKind lost : {CcKind::Loss, CcKind::Nack}) {
    for (const unsigned too_many : {0U, 1U}) {
      Bench b;
      begins(b);
      const log::Time at = exchange(b, 10, 3 * kUs);
      notified(b, {.kind = lost}, 20, 0, at + kUs);
      notified(b, {.kind = CcKind::Ack}, 1280 + 255 + too_many, 24000, at + 2 * kUs);
      CHECK(b.broken(Rule::CcBytes) == too_many);
    }
  }
}

TEST_CASE("with nothing outstanding copies leave the flight too, of packets that no bitmap had reported",
          "[reference.requestor]") {
  for (const bool outstanding : {false, true}) {
    for (const unsigned too_many : {0U, 1U}) {
      Bench b;
      begins(b);
      notified(b, {.kind = CcKind::Granted}, 1000, 0, 2 * kUs);
      for (uint32_t n = 0; n < 10; ++n) b.data(n, 2 * kUs, true);
      if (outstanding) {
        notified(b, {.kind = CcKind::Granted}, 100, 0, 2 * kUs);
        b.data(10, 2 * kUs);
      }
      const log::Time at = exchange(b, 10, 3 * kUs);
      notified(b, {.kind = CcKind::Ack}, 2000 + too_many, 24000, at);
      CHECK(b.broken(Rule::CcBytes) == (outstanding || too_many != 0 ? 1 : 0));
    }
  }
}

TEST_CASE("work fails after all retries of a packet that waited inside: nobody can count them",
          "[reference.requestor]") {
  for (const bool unseen : {false, true}) {
    Bench b;
    b.start();
    b.post(100, 10 * kUs, 70);
    b.post(100, 10 * kUs, 71);
    if (!unseen) b.data(0, 11 * kUs);
    b.data(1, 11 * kUs);
    b.done(70, log::Status::Retries, 12 * kUs);
    b.end(60 * kUs);
    CHECK(b.broken(Rule::QpStatus) == (unseen ? 0 : 1));
  }
}

TEST_CASE("tries may run out while a packet waits for data that the host owes", "[reference.requestor]") {
  // Two tries of 16.384 us each; the packet leaves when its data have come, a microsecond before the QP fails.
  for (const log::Time less : {0u, 1u}) {
    Bench b;
    b.start();
    b.post(100, 10 * kUs, 70);
    host(b, log::HostOp::Read, 11 * kUs);
    const log::Time come = 11 * kUs + 2UL * 16'384'000 - less;
    host(b, log::HostOp::ReadDone, come);
    b.data(0, come);
    b.done(70, log::Status::Retries, come + kUs);
    b.end(100 * kUs);
    CHECK(b.broken(Rule::QpStatus) == less);
  }
}

TEST_CASE("work may fail just before a progress that comes ahead of its completion", "[reference.requestor]") {
  for (const log::Time late : {0u, 1u}) {  // hearing and deciding take 2 us
    Bench b;
    b.start();
    b.post(100, 10 * kUs, 70);
    b.post(100, 10 * kUs, 71);
    b.data(0, 11 * kUs);
    b.data(1, 11 * kUs);
    b.sack(0, 0, 0, 0, 12 * kUs);
    b.done(70, log::Status::Retries, 14 * kUs + late);
    b.end(60 * kUs);
    CHECK(b.broken(Rule::QpStatus) == late);
  }
}

TEST_CASE("an EV that was bad, and came back without answers, may be probed as before when it is bad again",
          "[reference.requestor]") {
  for (const bool before : {false, true}) {
    Bench b;
    shows_evs(b);
    loses(b);
    if (before) {
      goes(b, 0, EvState::Good, EvState::Bad, 133 * kUs);
      goes(b, 0, EvState::Bad, EvState::Denied, 134 * kUs);
      goes(b, 0, EvState::Denied, EvState::Good, 135 * kUs);
    }
    goes(b, 0, EvState::Good, EvState::Bad, 136 * kUs);
    probe(b, 0x10000, 1, 140 * kUs);
    CHECK(b.broken(Rule::PathProbeGap) == (before ? 0 : 1));
    probe(b, 0x10000, 2, 150 * kUs);
    CHECK(b.broken(Rule::PathProbeGap) == (before ? 1 : 2));
  }
}

TEST_CASE("what was told without a round trip is of a SACK that has none, if there is one", "[reference.requestor]") {
  for (const bool other : {false, true}) {
    Bench b;
    b.profile.settings.rtt_rtx = true;
    begins(b);
    notified(b, {.kind = CcKind::Granted}, 100, 0, 2 * kUs);
    b.data(9, 2 * kUs, true);
    const log::Time at = exchange(b, 10, 3 * kUs);
    if (other) {
      wire::Packet p = b.packet(wire::Opcode::Sack, true);
      p.seth->cack_psn = p.bth->psn = (kFirst + 9) & 0xFFFFFF;
      p.seth->pr = 1;
      b.put(false, p, at);
    }
    notified(b, {.kind = CcKind::Ack}, 500, 24000, at + kTick);
    notified(b, {.kind = CcKind::Ack}, 500, 24000, at + kTick, kPeriod);
    CHECK(b.broken(Rule::CcRtt) == 0);
    CHECK(b.broken(Rule::CcHeard) == (other ? 0 : 1));
  }
}

TEST_CASE("of two SACKs that come at once either may be told first", "[reference.requestor]") {
  // Round trips of 6 and 10 ticks; what is told as 6 ticks cannot be the longer one, and 3 are neither. What is told
  // without a round trip (0) may be either.
  for (const auto& [first, second, broken] : {std::tuple{10U, 6U, 0U},
                                              {6U, 10U, 0U},
                                              {10U, 3U, 1U},
                                              {6U, 6U, 1U},
                                              {0U, 6U, 0U},
                                              {0U, 10U, 0U},
                                              {0U, 3U, 1U}}) {
    INFO(first << ", " << second);
    Bench b;
    begins(b);
    notified(b, {.kind = CcKind::Granted}, 200, 0, 2 * kUs);
    b.data(0, 3 * kUs);
    b.data(1, 3 * kUs + 4 * kTick);
    const log::Time at = 3 * kUs + kPeriod;
    mark(b, 1, 1, at);
    mark(b, 0, 1, at);
    notified(b, {.kind = CcKind::Ack, .marked = true}, 100, 24000, at + 1000, first * kTick);
    notified(b, {.kind = CcKind::Ack, .marked = true}, 100, 24000, at + 2000, second * kTick);
    CHECK(b.broken(Rule::CcHeard) == 0);
    CHECK(b.broken(Rule::CcRtt) == broken);
  }
}

TEST_CASE("of two returns a moment ago one may not have left the flight when a penalty cuts the window to it",
          "[reference.requestor]") {
  // 12000 - 600 - 1400 - 1000 = 9000 bytes are in flight, and half of the 1000 new ones is taken off.
  for (const auto& [window, wrong] :
       std::vector<std::pair<uint64_t, unsigned>>{{8500, 0}, {9100, 0}, {9900, 0}, {10500, 0}, {8800, 1}, {10800, 1}}) {
    Bench b;
    begins(b);
    notified(b, {.kind = CcKind::Granted}, 11000, 0, 2 * kUs);
    const log::Time at = exchange(b, 10, 3 * kUs, 0, 64);
    notified(b, {.kind = CcKind::Returned}, 600, 0, at);
    notified(b, {.kind = CcKind::Returned}, 1400, 0, at);
    notified(b, {.kind = CcKind::Ack, .pen = 64}, 1000, window, at);
    CHECK(b.broken(Rule::CcPenalty) == wrong);
  }
}

TEST_CASE("a packet that is lost counts against the place of its EV, though another EV is there by then",
          "[reference.requestor]") {
  constexpr uint32_t kOther = 0x20000;
  for (const bool lost : {false, true}) {
    Bench b;
    shows_evs(b);
    b.qp.evs[0] = kOther;
    b.until(120 * kUs);
    b.judge->qp(b.qp, 120 * kUs);
    if (lost) loses(b);
    const auto goes = [&](EvState from, EvState to, uint64_t place, uint64_t ev) {
      b.judge->event(
          {log::EventKind::Path, b.qp.qp, {ev, static_cast<uint64_t>(from), static_cast<uint64_t>(to), place}},
          136 * kUs);
    };
    b.until(136 * kUs);
    goes(EvState::Backup, EvState::Good, 6, 0x10006);
    goes(EvState::Good, EvState::Bad, 0, kOther);
    b.until(600 * kUs);
    CHECK(b.broken(Rule::PathBad) == (lost ? 0 : 1));
  }
}

TEST_CASE("a controller may hold back a packet whose timer is over: the QP is not accused of silence",
          "[reference.requestor]") {
  for (const bool controller : {false, true}) {
    Bench b;
    b.qp.timeout = 4;  // 16.384 us
    if (controller) {
      controlled(b);
      notified(b, {.kind = CcKind::Begins}, 0, 24000, kUs);
      notified(b, {.kind = CcKind::Granted}, 24000, 0, 2 * kUs);
    } else {
      b.start();
    }
    b.data(0, 10 * kUs);
    b.end(200 * kUs);
    CHECK((b.broken(Rule::ReqTimer) == 0) == controller);
    CHECK((b.broken(Rule::ReqAsks) == 0) == controller);
  }
}

TEST_CASE("news of a later packet does not shorten an interval that has doubled", "[reference.requestor]") {
  for (const bool late : {false, true}) {
    Bench b;
    b.qp.timeout = 6;  // 65.536 us, and twice as much after the one linear retry; three quarters and 32 us: 130.3 us
    b.start();
    b.data(0, 10 * kUs);
    b.data(1, 11 * kUs);
    b.data(0, 80 * kUs, true, 0x10002);
    b.data(0, 150 * kUs, true, 0x10003);
    b.sack(-1, 1, 2, 1, 152 * kUs);
    b.end((late ? 285 : 281) * kUs);
    CHECK(b.broken(Rule::ReqAsks) == (late ? 1 : 0));
  }
}

TEST_CASE("the mark of an EV may be taken just as its owner puts another one in its place", "[reference.requestor]") {
  constexpr uint32_t kOther = 0x20000;
  for (const log::Time late : {kUs / 2, 10 * kUs}) {
    Bench b;
    shows_evs(b);
    mark(b, 0, 1, 110 * kUs);
    b.qp.evs[0] = kOther;
    const log::Time at = 110 * kUs + kUs / 2;
    b.until(at);
    b.judge->qp(b.qp, at);
    b.until(at + late);
    b.judge->event({log::EventKind::Path,
                    b.qp.qp,
                    {kOther, static_cast<uint64_t>(EvState::Good), static_cast<uint64_t>(EvState::Skip), 0}},
                   at + late);
    CHECK(b.broken(Rule::PathSkip) == (late > kUs ? 1 : 0));
  }
}

TEST_CASE("an EV of value 0 keeps its state while its owner changes other ones", "[reference.requestor]") {
  struct Case {
    EvState from;
    bool change, wrong;
  };
  const auto c = GENERATE(Case{EvState::Skip, true, false}, Case{EvState::Good, true, false},
                          Case{EvState::Skip, false, false}, Case{EvState::Good, false, true});
  Bench b;
  shows_evs(b);
  const auto changes = [&](uint32_t place, uint32_t ev, log::Time at) {
    b.qp.evs[place] = ev;
    b.until(at);
    b.judge->qp(b.qp, at);
  };
  const auto goes = [&](EvState from, EvState to, log::Time at) {
    b.until(at);
    b.judge->event({log::EventKind::Path, b.qp.qp, {0, static_cast<uint64_t>(from), static_cast<uint64_t>(to), 1}}, at);
  };
  changes(1, 0, 110 * kUs);
  goes(EvState::Good, EvState::Skip, 130 * kUs);
  if (c.change) changes(3, 0x20000, 140 * kUs);
  goes(c.from, c.from == EvState::Skip ? EvState::Good : EvState::Skip, 160 * kUs);
  CHECK(b.broken(Rule::PathStates) == (c.wrong ? 1 : 0));
}

TEST_CASE("answers to probes that went on before an EV went bad may count, but not alone", "[reference.requestor]") {
  struct Case {
    bool before, after, wrong;
  };
  const auto c = GENERATE(Case{true, true, false}, Case{false, true, true}, Case{true, false, true});
  Bench b;
  shows_evs(b);
  loses(b);
  if (c.before) probe(b, 0x10000, 0, 131 * kUs);
  if (c.before) answer(b, 0x10000, 132 * kUs);
  goes(b, 0, EvState::Good, EvState::Bad, 136 * kUs);
  if (c.after) probe(b, 0x10000, 1, 150 * kUs);
  if (c.after) answer(b, 0x10000, 151 * kUs);
  goes(b, 0, EvState::Bad, EvState::Good, 160 * kUs);
  CHECK(b.broken(Rule::PathRevived) == (c.wrong ? 1 : 0));
}

TEST_CASE("a packet that was given up inside may be reported before it is sent again", "[reference.requestor]") {
  for (const log::Time less : {0u, 1u}) {  // the timer's interval is 65.536 us
    Bench b;
    b.qp.timeout = 6;
    shows_evs(b);
    b.sack(3, 3, 0, 0, 105 * kUs);
    b.post(100, 110 * kUs, 70);
    b.data(4, 170 * kUs);
    goes(b, 4, EvState::Good, EvState::Bad, 110 * kUs + 65'536'000 - less);
    b.sack(4, 4, 0, 0, 180 * kUs);
    b.until(600 * kUs);
    CHECK(b.broken(Rule::PathBad) == less);
  }
}

TEST_CASE("answers from before an EV's owner denied it may count as well", "[reference.requestor]") {
  for (const bool before : {true, false}) {
    Bench b;
    shows_evs(b);
    loses(b);
    goes(b, 0, EvState::Good, EvState::Bad, 136 * kUs);
    if (before) probe(b, 0x10000, 0, 137 * kUs);
    if (before) answer(b, 0x10000, 138 * kUs);
    goes(b, 0, EvState::Bad, EvState::Denied, 140 * kUs);
    goes(b, 0, EvState::Denied, EvState::Good, 141 * kUs);
    b.data(8, 142 * kUs);
    b.data(8, 160 * kUs, true, 0x10007);
    goes(b, 0, EvState::Good, EvState::Bad, 161 * kUs);
    probe(b, 0x10000, 1, 162 * kUs);
    answer(b, 0x10000, 163 * kUs);
    goes(b, 0, EvState::Bad, EvState::Good, 164 * kUs);
    CHECK(b.broken(Rule::PathRevived) == (before ? 0 : 1));
  }
}

TEST_CASE("the number of a probe, not the entropy that comes back, tells which EV was probed",
          "[reference.requestor]") {
  // An answer to each of two probes; the network has changed the flow label of one, or it is about another probe.
  struct Run {
    uint32_t entropy;
    uint16_t id;
    unsigned broken;
  };
  for (const Run& run : {Run{0x10000, 2, 0}, Run{0x90000, 2, 0}, Run{0x90000, 7, 1}}) {
    Bench b;
    shows_evs(b);
    loses(b);
    goes(b, 0, EvState::Good, EvState::Bad, 136 * kUs);
    probe(b, 0x10000, 1, 150 * kUs);
    answer(b, 0x10000, 152 * kUs, 0, 1);
    probe(b, 0x10000, 2, 170 * kUs);
    answer(b, run.entropy, 172 * kUs, 0, run.id);
    goes(b, 0, EvState::Bad, EvState::Good, 173 * kUs);
    CHECK(b.broken(Rule::PathRevived) == run.broken);
  }
}

TEST_CASE("a loss may have been decided while as few EVs were in use as may be", "[reference.requestor]") {
  for (const log::Time later : {kUs, 40 * kUs}) {  // packets wait inside for 32 us at most
    Bench b;
    shows_evs(b);
    for (const uint32_t place : {4u, 5u}) goes(b, place, EvState::Good, EvState::Bad, 120 * kUs);
    goes(b, 5, EvState::Bad, EvState::Good, 130 * kUs);
    const log::Time at = 130 * kUs + later;
    b.data(8, at);
    b.data(8, at + 20 * kUs, true, 0x10001);
    b.data(9, at + 60 * kUs, false, 0x10000);
    CHECK(b.broken(Rule::PathBlamed) == (later == kUs ? 0 : 1));
  }
}

TEST_CASE("a packet may be sent again for an ACK that was missing before it left", "[reference.requestor]") {
  struct Run {
    bool sack;       // all of before was reported first, and confirmed later
    log::Time left;  // packets wait inside for 32 us at most
    unsigned broken;
  };
  for (const Run& run : {Run{true, 110 * kUs, 0}, {true, 140 * kUs, 1}, {false, 110 * kUs, 1}}) {
    Bench b;
    shows_evs(b);
    if (run.sack) b.sack(3, 3, 0, 0, 103 * kUs);
    b.ack(3, 0x1f, 105 * kUs);
    b.data(4, run.left, false, 0x10000);
    b.data(4, run.left + 20 * kUs, true, 0x10001);
    b.data(5, run.left + 90 * kUs, false, 0x10000);
    CHECK(b.broken(Rule::PathBlamed) == run.broken);
  }
}

TEST_CASE("frames may have waited inside while all ports stood idle and the host owed data", "[reference.requestor]") {
  FreeTime free(2, 100, kUs);
  for (log::Time at = kUs; at < 40 * kUs; at += kUs) {
    if (at == 10 * kUs) free.read(1, at);
    if (at == 12 * kUs) free.sent(0, at, at + 3 * kUs, at);
    if (at == 20 * kUs) free.read_done(1, at);
    free.until(at);
  }
  const log::Time gap = 960;  // 12 bytes at 100 Gb/s
  CHECK(free.starved(0, 39 * kUs) == 7 * kUs - gap);
  CHECK(free.starved(16 * kUs, 18 * kUs) == 2 * kUs);
  CHECK(free.starved(12 * kUs, 15 * kUs) == 0);
  CHECK(free.starved(20 * kUs, 39 * kUs) == 0);
}

TEST_CASE("the timer of a packet that waited for its data may have run before it left", "[reference.requestor]") {
  for (const bool starved : {false, true}) {
    Bench b;
    b.start();
    if (starved) host(b, log::HostOp::Read, 10 * kUs);
    if (starved) host(b, log::HostOp::ReadDone, 40 * kUs);
    b.data(0, 40 * kUs);
    b.data(0, 44 * kUs, true);
    CHECK(b.broken(Rule::ReqRtxEvidence) == (starved ? 0 : 1));
  }
}

TEST_CASE("how long an EV is skipped, and which states that has, is its NIC's setting", "[reference.requestor][A-20]") {
  using log::EvState;
  for (const uint32_t mode : {kSkipModeOnce, kSkipModeTwice, kSkipModeTime}) {
    CAPTURE(mode);
    RequestorBench b;
    b.profile.settings.skip_mode = mode;
    b.profile.settings.skip_ticks = 100;  // 12.8 us
    shows_evs(b);
    mark(b, 0, 1, 110 * kUs);
    goes(b, 0, EvState::Good, EvState::Skip, 111 * kUs);
    goes(b, 0, EvState::Skip, EvState::SkipTwice, 112 * kUs);  // of a NIC that skips for a time both are SKIP
    goes(b, 0, EvState::SkipTwice, EvState::Skip, 113 * kUs);
    goes(b, 0, EvState::Skip, EvState::Good, 114 * kUs);
    CHECK((b.broken(Rule::PathStates) == 0) == (mode == kSkipModeTwice));
    CHECK(b.broken(Rule::PathSkipTime) == (mode == kSkipModeTime ? 1 : 0));
    // None comes back too late: as long as it is not met, it stays.
    mark(b, 1, 1, 115 * kUs);
    goes(b, 1, EvState::Good, EvState::Skip, 116 * kUs);
    goes(b, 1, EvState::Skip, EvState::Good, 900 * kUs);
    CHECK(b.broken(Rule::PathSkipTime) == (mode == kSkipModeTime ? 1 : 0));
  }
}

TEST_CASE("an EV in SKIP carries data only if all are to be skipped", "[reference.requestor][A-20]") {
  using log::EvState;
  for (const uint32_t mode : {kSkipModeOnce, kSkipModeTime}) {
    for (const unsigned skipped : {5u, 6u}) {  // of the six that are no backup EVs
      CAPTURE(mode, skipped);
      RequestorBench b;
      b.profile.settings.skip_mode = mode;
      shows_evs(b);
      b.data(4, 100 * kUs + 4000);
      b.data(5, 100 * kUs + 5000);
      for (unsigned n = 0; n < skipped; ++n) {
        mark(b, n, 1, (110 + n) * kUs);
        goes(b, n, EvState::Good, EvState::Skip, (110 + n) * kUs + 1000);
      }
      b.data(8, 400 * kUs, false, ev_of(0));
      CHECK(b.broken(Rule::PathUsed) == (skipped == 6 ? 0 : 1));
    }
  }
}

TEST_CASE("a QP with as many immediates as it may have out need not send the next one", "[reference.requestor][A-62]") {
  for (const bool room : {false, true}) {
    for (const bool immediate : {true, false}) {
      CAPTURE(room, immediate);
      RequestorBench b;
      b.qp.max_wimm = room ? 2 : 1;
      b.profile.all_completions = true;
      b.start();
      log::Post work;
      work.qp = b.qp.qp;
      work.bytes = 100;
      work.immediate = true;
      b.judge->posted(work, 0);
      work.wr_id = 1;
      work.immediate = immediate;
      b.judge->posted(work, 0);
      wire::Packet p = b.packet(wire::Opcode::WriteOnlyImm, false);
      p.bth->psn = kFirst;
      p.reth->dma_length = 100;
      p.payload.assign(100, 0x5a);
      p.set_entropy(ev_of(0));
      b.put(true, p, 10 * kUs);
      b.sack(0, 0, 0, 0, 11 * kUs);
      b.until(200 * kUs);
      b.data(1, 201 * kUs);
      CHECK((b.broken(Rule::ReqMoves) != 0) == (room || !immediate));
    }
  }
}

TEST_CASE("work of no bytes has a packet to send, unless it may be refused", "[reference.requestor][A-19]") {
  for (const uint32_t zero : {kZeroLegal, kZeroNak}) {
    RequestorBench b;
    b.profile.settings.zero_length = zero;
    b.start();
    b.post(0, 10 * kUs);
    b.until(200 * kUs);
    b.data(0, 201 * kUs);
    CHECK((b.broken(Rule::ReqMoves) != 0) == (zero == kZeroLegal));
  }
}

TEST_CASE("a packet that came back is evidence of its loss, and no retry", "[reference.requestor][A-80]") {
  for (const uint32_t returned : {ref::kDropReturned, ref::kLearnReturned}) {
    RequestorBench b;
    b.profile.settings.returned = returned;
    b.start();
    b.data(0, 10 * kUs);
    for (unsigned n = 0; n < 4; ++n) {  // RETRY_CNT allows two
      wire::Packet p = b.packet(wire::Opcode::WriteOnly, false);
      p.bth->psn = kFirst;
      p.bth->rtx = n == 0 ? 0 : 1;
      p.ipv6->dscp = 12;
      p.dscp_class = wire::DscpClass::Trimmed;
      p.set_entropy(ev_of(0));
      b.put(false, p, (11 + 2 * n) * kUs);
      b.data(0, (12 + 2 * n) * kUs, true);
    }
    const bool learns = returned == ref::kLearnReturned;
    CHECK((b.broken(Rule::ReqRtxEvidence) == 0) == learns);
    CHECK((b.broken(Rule::ReqRetries) == 0) == learns);
  }
}

}  // namespace mrc::test::requestor_edges_test

// SPDX-License-Identifier: Apache-2.0
// Rule by rule: the responder, and both together.
#include <malloc.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "tests/sim/nic/fast/endpoint_fast_bench.hpp"

namespace mrc::test::endpoint_fast_responder_test {

using namespace mrc::sim;
using wire::Opcode;
using namespace mrc::test::endpoint_fast;

// Responder.

TEST_CASE("fast: a SACK for 16 KB, small packets counted as 1 KB; for AckReq, rtx and CE at once",
          "[sim][fast][responder]") {
  FastAndBox t;
  for (uint32_t psn = 0; psn < 3; ++psn) t.data(psn);
  t.run(3 * kUs);
  CHECK(t.of(Opcode::Sack).empty());
  t.data(3);
  t.run(1 * kUs);
  REQUIRE(t.of(Opcode::Sack).size() == 1);
  const Packet sack = t.of(Opcode::Sack)[0];
  CHECK(sack.sack.cack_psn == 3);
  CHECK(sack.psn == 3);
  CHECK(sack.sack.ack_psn_offset == 0);
  CHECK(sack.sack.entropy == 0xabcd'0003);
  CHECK(sack.sack.rcvd_bytes == (4 * 4180 + 255) / 256);
  CHECK(sack.sack.m == 0);
  CHECK(sack.sack.mpr == 8);
  CHECK(sack.dscp == wire::kDscpControl);
  CHECK(sack.ecn == 0);
  for (uint32_t psn = 4; psn < 19; ++psn) t.data(psn, 64);
  t.run(2 * kUs);
  CHECK(t.of(Opcode::Sack).size() == 1);
  t.data(19, 64);
  t.run(1 * kUs);
  CHECK(t.of(Opcode::Sack).size() == 2);
  t.data(20, 64, Opcode::WriteMiddle, kBthAckReq);
  t.run(1 * kUs);
  CHECK(t.of(Opcode::Sack).size() == 3);
  t.data(21, 64, Opcode::WriteMiddle, kBthRtx);
  t.run(1 * kUs);
  CHECK(t.of(Opcode::Sack).size() == 4);
  t.data(22, 64).ecn = 3;
  t.run(1 * kUs);
  REQUIRE(t.of(Opcode::Sack).size() == 5);
  CHECK(t.of(Opcode::Sack)[4].sack.m == 1);
  CHECK(t.nic->stats().marked == 1);
}

TEST_CASE("fast: a trimmed frame without METH tells nothing", "[sim][fast][responder]") {
  // Ethernet 14, IPv6 40, UDP 8, BTH 12, METH 4: 78 bytes.
  for (const unsigned size : {78u, 77u}) {
    FastAndBox t;
    Packet& p = t.data(0, 4096, Opcode::WriteOnly);
    p.dscp = wire::kDscpTrimmed;
    p.size = static_cast<uint16_t>(size);
    t.run(3 * kUs);
    CHECK(t.of(Opcode::Nack).size() == (size == 78 ? 1 : 0));
  }
}

TEST_CASE("fast: from the last byte in to the SACK out as configured", "[sim][fast][responder]") {
  FastAndBox t;
  t.data(0, 4096, Opcode::WriteOnly, kBthAckReq);
  t.run(3 * kUs);
  // 4196 + 24 bytes at 100 Gb/s (80 ps a byte) less the gap, 10 ns of fibre, 40 ns, SACK of 166 + 24 - 12 bytes back.
  Time sack_at = 0;
  unsigned size = 0;
  for (const Got& g : t.box->got) {
    if (g.packet.opcode == 0xDC) sack_at = g.time, size = g.packet.size;
  }
  CHECK(sack_at == (4196 + 24 - 12) * 80 + 10 * kNs + 40 * kNs + (size + 24 - 12) * 80 + 10 * kNs);
}

TEST_CASE("fast: bitmap, ooo_count and cack of packets out of order; a drained gap brings a second SACK after AckReq",
          "[sim][fast][responder]") {
  FastAndBox t;
  t.data(1, 64);
  t.data(3, 64);
  t.data(4, 64, Opcode::WriteMiddle, kBthAckReq);
  t.run(1 * kUs);
  REQUIRE(t.of(Opcode::Sack).size() == 1);
  SackFields s = t.of(Opcode::Sack)[0].sack;
  CHECK(s.cack_psn == kPsnMask);
  CHECK(s.ack_psn_offset == 5);
  CHECK(s.sack_offset == 1);
  CHECK(s.bitmap == 0b11010);
  CHECK(s.ooo_count == 3);
  t.data(0, 64);
  t.run(1 * kUs);
  CHECK(t.of(Opcode::Sack).size() == 1);
  t.data(2, 64);
  t.run(1 * kUs);
  REQUIRE(t.of(Opcode::Sack).size() == 2);
  s = t.of(Opcode::Sack)[1].sack;
  CHECK(s.cack_psn == 4);
  CHECK(s.ooo_count == 0);
  CHECK(t.nic->stats().delivered_packets == 5);
}

TEST_CASE("fast: trimmed packets are NACKed by their code point, and nothing is delivered", "[sim][fast][responder]") {
  FastAndBox t;
  Packet& a = t.data(0);
  a.dscp = wire::kDscpTrimmed;
  t.run(1 * kUs);
  Packet& b = t.data(1);
  b.dscp = wire::kDscpTrimmedLasthop;
  t.run(1 * kUs);
  const auto n = t.of(Opcode::Nack);
  REQUIRE(n.size() == 2);
  CHECK(n[0].nack.reason == code(wire::NackReason::Trimmed));
  CHECK(n[0].nack.nack_psn == 0);
  CHECK(n[0].nack.entropy == 0xabcd'0000);
  CHECK(n[1].nack.reason == code(wire::NackReason::TrimmedLasthop));
  CHECK(t.nic->stats().delivered_packets == 0);
  CHECK(t.nic->stats().trimmed == 2);
  // One that is there already: SACK.
  t.data(0);
  t.run(1 * kUs);
  CHECK(t.of(Opcode::Sack).size() == 1);  // because 1 is missing
  t.data(0).dscp = wire::kDscpTrimmed;
  t.run(1 * kUs);
  CHECK(t.of(Opcode::Nack).size() == 2);
  CHECK(t.of(Opcode::Sack).size() == 2);
}

TEST_CASE("fast: as long as a trimmed packet is missing every packet brings a SACK", "[sim][fast][responder]") {
  for (const bool on : {false, true}) {
    FastConfig config{.trim_sack = on};
    FastAndBox t(config);
    t.data(0, 100);
    t.run(1 * kUs);
    CHECK(t.of(Opcode::Sack).empty());
    t.data(4, 100).dscp = wire::kDscpTrimmed;
    t.run(1 * kUs);
    REQUIRE(t.of(Opcode::Sack).size() == (on ? 1 : 0));
    if (on) CHECK(t.of(Opcode::Sack)[0].sack.pr == 1);
    unsigned sacks = 1;
    for (const unsigned psn : {3u, 1u, 2u, 5u, 4u}) {  // sent before it, after it; and itself
      t.data(psn, 100);
      t.run(1 * kUs);
      CHECK(t.of(Opcode::Sack).size() == (on ? ++sacks : 0));
    }
    t.data(6, 100);
    t.run(1 * kUs);
    CHECK(t.of(Opcode::Sack).size() == (on ? sacks : 0));
  }
}

TEST_CASE("fast: duplicates are answered and not delivered; PSNs out of the window are refused",
          "[sim][fast][responder]") {
  FastConfig config;
  config.mpr_dest = 2;  // 256 PSNs
  FastAndBox t(config);
  t.data(0, 100, Opcode::WriteOnly);
  t.data(2, 100);
  t.run(1 * kUs);
  REQUIRE(t.of(Opcode::Ack).size() == 1);
  CHECK(t.of(Opcode::Ack)[0].sack.cack_psn == 1);
  CHECK(t.of(Opcode::Ack)[0].psn == 0);
  t.data(0, 100, Opcode::WriteOnly);  // below cack: SACK and the newest ACK
  t.run(1 * kUs);
  CHECK(t.of(Opcode::Sack).size() == 1);
  CHECK(t.of(Opcode::Ack).size() == 2);
  t.data(2, 100);  // above: SACK
  t.run(1 * kUs);
  CHECK(t.of(Opcode::Sack).size() == 2);
  CHECK(t.of(Opcode::Ack).size() == 2);
  CHECK(t.nic->stats().duplicates == 2);
  CHECK(t.nic->stats().delivered_bytes == 200);
  t.data(256, 100);  // the last one in: cack is 0
  t.run(1 * kUs);
  CHECK(t.of(Opcode::Nack).empty());
  t.data(257, 100);
  t.run(1 * kUs);
  REQUIRE(t.of(Opcode::Nack).size() == 1);
  CHECK(t.of(Opcode::Nack)[0].nack.reason == code(wire::NackReason::PsnOorWindow));
  t.nic->set_mpr(3, 1);
  t.data(129, 100);
  t.run(1 * kUs);
  REQUIRE(t.of(Opcode::Nack).size() == 2);
  CHECK(t.of(Opcode::Nack)[1].nack.reason == code(wire::NackReason::NoBitmap));
}

TEST_CASE("fast: a message is delivered when all before it has arrived; probes bring SACK and ACK",
          "[sim][fast][responder]") {
  FastAndBox t;
  Packet& second = t.data(2, 50, Opcode::WriteOnlyImm);
  second.data.msn = 1;
  t.data(1, 4096 - 96, Opcode::WriteLast).data.dma_length = 8000;
  t.run(2 * kUs);
  CHECK(t.heard.deliveries.empty());
  t.data(0, 4000, Opcode::WriteFirst).data.dma_length = 8000;
  t.run(2 * kUs);
  REQUIRE(t.heard.deliveries.size() == 2);
  CHECK(t.heard.deliveries[0].msn == 0);
  CHECK(t.heard.deliveries[0].bytes == 8000);
  CHECK(t.heard.deliveries[1].msn == 1);
  CHECK(t.heard.deliveries[1].bytes == 50);
  REQUIRE(t.of(Opcode::Ack).size() == 1);  // what completes together is acknowledged together
  CHECK(t.of(Opcode::Ack)[0].sack.cack_psn == 2);
  CHECK(t.of(Opcode::Ack)[0].psn == 2);
  const size_t sacks = t.of(Opcode::Sack).size();
  Packet& probe = t.send(Opcode::ProbeRequest, 0, 150, wire::kDscpTrimmable);
  probe.probe = {0, 0xbeef, 0};
  probe.tx_timestamp = 77;
  t.run(1 * kUs);
  REQUIRE(t.of(Opcode::Sack).size() == sacks + 1);
  const Packet answer = t.of(Opcode::Sack).back();
  const SackFields s = answer.sack;
  CHECK(s.pr == 1);
  CHECK(static_cast<uint16_t>(s.ack_psn_offset) == 0xbeef);
  CHECK(answer.tx_timestamp == 77);
  CHECK(t.of(Opcode::Ack).size() == 2);
}

TEST_CASE("fast: an ACK that a question brings once more goes on its plane, others on the planes in turn",
          "[sim][fast][responder][A-06][A-17]") {
  FastAndBox t({}, 2);
  const auto elsewhere = [&](size_t from) {
    const auto acks = t.of(Opcode::Ack);
    return std::count_if(acks.begin() + static_cast<std::ptrdiff_t>(from), acks.end(),
                         [](const Packet& p) { return p.plane != 0; });
  };
  for (uint32_t n = 0; n < 8; ++n) {
    t.data(n, 50, Opcode::WriteOnly).data.msn = n & 0xffff;
    t.run(1 * kUs);
  }
  REQUIRE(t.of(Opcode::Ack).size() == 8);
  CHECK(elsewhere(0) >= 3);
  for (unsigned n = 0; n < 8; ++n) {
    t.send(Opcode::ProbeRequest, 0, 150, wire::kDscpTrimmable).probe = {0, 0xbeef, 0};
    t.run(1 * kUs);
  }
  REQUIRE(t.of(Opcode::Ack).size() == 16);
  CHECK(elsewhere(8) == 0);
}

// Two of them.

TEST_CASE("fast: all bytes arrive, once, whatever the link loses", "[sim][fast][loss]") {
  for (const double loss : {0.001, 0.01, 0.2}) {
    FastConfig config{.timeout = 4};
    FastPair t(2, config, {.gbps = 100}, 32, 32);
    for (const LinkId link : t.links) {
      t.fabric.set_impairment(link, true, {.loss = loss});
      t.fabric.set_impairment(link, false, {.loss = loss});
    }
    for (uint64_t id = 1; id <= 20; ++id) REQUIRE(t.post(60'000 + id, id));
    t.fabric.run(100 * kMs);
    REQUIRE(t.heard[1].deliveries.size() == 20);
    REQUIRE(t.heard[0].completions.size() == 20);
    for (uint64_t i = 0; i < 20; ++i) {
      CHECK(t.heard[1].deliveries[i].bytes == 60'001 + i);
      CHECK(t.heard[1].deliveries[i].msn == i);
      CHECK(t.heard[0].completions[i].id == i + 1);
      CHECK(t.heard[0].completions[i].ok);
    }
    CHECK(t.nic[1]->stats().delivered_bytes == 20 * 60'000 + 210);
    CHECK((t.nic[0]->stats().retransmissions > 0 || loss < 0.01));
    CHECK(t.nic[0]->controller(1)->inflight == 0);
  }
}

TEST_CASE("fast: an EV that loses everything leaves use, is probed, and comes back", "[sim][fast][paths][A-32]") {
  FastConfig config{.probe_kind = GENERATE(Revive::Either, Revive::EvProbe, Revive::Reliability)};
  CAPTURE(config.probe_kind);
  config.timeout = 3;
  config.probe_interval = 80;  // 10.24 us
  FastPair t(1, config, {.gbps = 100}, 16, 16);
  t.fabric.set_impairment(t.links[0], true, {.loss = 1, .entropy = ev_of(5)});
  t.fabric.at(400 * kUs, [&] { t.fabric.set_impairment(t.links[0], true, {}); });
  REQUIRE(t.post(1'000'000));
  t.fabric.run(300 * kUs);
  CHECK(t.heard[1].deliveries.size() == 1);
  CHECK(t.nic[0]->ev_state(3, 5) == kEvBad);
  CHECK(t.nic[0]->ev_counts(3).good == 16);
  CHECK(t.nic[0]->stats().retransmissions <= 3);  // its turn comes each 5.5 us, the timer after 8 to 10
  CHECK(t.nic[0]->stats().probes > 3);
  // At the latest 64 intervals after the repair, and three answers.
  t.fabric.run(3 * kMs);
  CHECK(t.nic[0]->ev_state(3, 5) == kEvGood);
  CHECK(t.nic[0]->ev_counts(3).good == 16);
  CHECK(t.nic[0]->ev_counts(3).assumed_bad == 0);
}

TEST_CASE("fast: probes of a bad EV are of the kind that is set, or of each in turn", "[sim][fast][paths][A-32]") {
  for (const Revive kind : {Revive::Either, Revive::EvProbe, Revive::Reliability}) {
    CAPTURE(kind);
    FastConfig config{.timeout = 3, .silence = 0, .probe_interval = 80, .probe_kind = kind, .reverse_probes = false};
    FastPair t(1, config, {.gbps = 100}, 16, 16);
    t.fabric.set_impairment(t.links[0], true, {.loss = 1, .entropy = ev_of(5)});
    Recorder tap;
    t.fabric.set_tap(t.links[0], true, &tap);
    REQUIRE(t.post(1'000'000));
    t.fabric.run(1 * kMs);
    t.fabric.set_tap(t.links[0], true, nullptr);
    std::vector<uint8_t> kinds;
    for (const auto& seen : tap.seen) {
      if (seen.packet.entropy != ev_of(5)) continue;
      if (seen.packet.opcode == 0xD8) CHECK(seen.packet.psn >> 14 == 3);
      if (seen.packet.opcode == 0xD8 || seen.packet.opcode == 0xDE) kinds.push_back(seen.packet.opcode);
    }
    REQUIRE(kinds.size() >= 4);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const bool evp = kind == Revive::EvProbe || (kind == Revive::Either && i % 2 == 0);
      CHECK(kinds[i] == (evp ? 0xD8 : 0xDE));
    }
  }
}

TEST_CASE("fast: so many EVs stay in use whatever they lose; the controller's word counts", "[sim][fast][paths]") {
  FastConfig config{.timeout = 2, .ev_min_active = 6};
  FastPair t(1, config);
  t.fabric.set_impairment(t.links[0], true, {.loss = 1});
  REQUIRE(t.post(40'000));
  t.fabric.run(60 * kUs);
  CHECK(t.nic[0]->ev_counts(3).good == 6);
  CHECK(t.nic[0]->ev_counts(3).assumed_bad == 2);
  FastPair u(1);
  REQUIRE(u.nic[0]->deny_ev(3, 2, true));
  CHECK(!u.nic[0]->deny_ev(3, 8, true));
  Recorder tap;
  u.fabric.set_tap(u.links[0], true, &tap);
  REQUIRE(u.post(400'000));
  u.fabric.run(1 * kMs);
  REQUIRE(u.heard[1].deliveries.size() == 1);
  for (const auto& seen : tap.seen) {
    if (is_write(seen.packet)) CHECK(seen.packet.entropy != ev_of(2));
  }
  u.fabric.set_tap(u.links[0], true, nullptr);
  CHECK(u.nic[0]->ev_counts(3).denied == 1);
  REQUIRE(u.nic[0]->deny_ev(3, 2, false));
  CHECK(u.nic[0]->ev_counts(3).good == 8);
}

TEST_CASE("fast: a plane that falls is left by both sides and used again when it is up", "[sim][fast][planes]") {
  FastConfig config{.timeout = 3};
  FastPair t(4, config, {.gbps = 25, .metres = 2, .detect = 1 * kUs}, 16, 16);
  REQUIRE(t.post(3'000'000));
  REQUIRE(t.nic[1]->post({.id = 9, .qpn = 3, .bytes = 3'000'000}));
  t.fabric.at(50 * kUs, [&] { t.fabric.set_link(t.links[2], false); });
  t.fabric.run(60 * kUs);
  CHECK(t.nic[0]->peer_planes(1) == 0b1011);
  CHECK(t.nic[1]->peer_planes(0) == 0b1011);
  const uint64_t sent = t.fabric.stats(t.links[2], true).packets;
  t.fabric.run(100 * kUs);
  CHECK(t.fabric.stats(t.links[2], true).packets == sent);
  // The others keep equal shares.
  const uint64_t p0 = t.fabric.stats(t.links[0], true).bytes, p3 = t.fabric.stats(t.links[3], true).bytes;
  CHECK(p0 * 100 > p3 * 97);
  CHECK(p0 * 100 < p3 * 103);
  t.fabric.set_link(t.links[2], true);
  t.fabric.run(120 * kUs);
  CHECK(t.nic[0]->peer_planes(1) == 0b1111);
  CHECK(t.fabric.stats(t.links[2], true).packets > sent);
  t.fabric.run(10 * kMs);
  REQUIRE(t.heard[1].deliveries.size() == 1);
  REQUIRE(t.heard[0].deliveries.size() == 1);
  CHECK(t.nic[1]->stats().delivered_bytes == 3'000'000);
  CHECK(t.nic[0]->stats().failed_qps == 0);
}

TEST_CASE("fast: a port status update is repeated until it is answered", "[sim][fast][planes]") {
  FastConfig config;
  config.endpoint_interval = 40;  // 5.12 us
  FastAndBox t(config, 2);
  t.run(1 * kUs);
  t.fabric.set_link(t.links[0], false);
  t.run(12 * kUs);
  auto requests = t.of(Opcode::EndpointRequest);
  REQUIRE(requests.size() == 3);
  for (const Packet& p : requests) {
    CHECK(p.dqp == 2);
    CHECK(p.probe.op == 0);
    CHECK(p.probe.port_status_mask == 0b100);  // port 2 of 1, 2
    CHECK(p.dscp == wire::kDscpTrimmable);
  }
  CHECK(requests[1].psn != requests[0].psn);
  Packet& answer = t.box->send(0, 150, wire::kDscpControl, 1);
  answer.opcode = 0xD9;
  answer.dqp = 2;
  answer.psn = requests[0].psn;  // overtaken: does not count
  answer.src = 1;
  t.run(6 * kUs);
  CHECK(t.of(Opcode::EndpointRequest).size() == 4);
  Packet& good = t.box->send(0, 150, wire::kDscpControl, 1);
  good.opcode = 0xD9;
  good.dqp = 2;
  good.psn = t.of(Opcode::EndpointRequest).back().psn;
  good.src = 1;
  t.run(50 * kUs);
  CHECK(t.of(Opcode::EndpointRequest).size() == 4);
}

TEST_CASE("fast: a port status update is sent again as often as it says, until a port changes",
          "[sim][fast][planes][A-60]") {
  for (const unsigned repeats : {0u, 2u, 14u}) {
    CAPTURE(repeats);
    FastConfig config;
    config.endpoint_interval = 40;  // 5.12 us
    config.endpoint_repeats = repeats;
    FastAndBox t(config, 2);
    t.run(1 * kUs);
    t.fabric.set_link(t.links[0], false);
    t.run(120 * kUs);
    CHECK(t.of(Opcode::EndpointRequest).size() == 1 + repeats);
    t.fabric.set_link(t.links[0], true);
    t.run(120 * kUs);
    CHECK(t.of(Opcode::EndpointRequest).size() == 2 * (1 + repeats));
  }
}

TEST_CASE("fast: both ends count packets as payload, with 40 bytes more, or as UDP length", "[sim][fast][A-55]") {
  for (const Nominal nominal : {Nominal::UdpLength, Nominal::Payload, Nominal::Payload40}) {
    CAPTURE(nominal);
    FastConfig config{.nominal = nominal};
    FastPair t(1, config, {.gbps = 100}, 16, 16);
    REQUIRE(t.post(1'000'001));
    t.fabric.run(5 * kMs);
    REQUIRE(t.heard[1].deliveries.size() == 1);
    CHECK(t.nic[0]->controller(1)->inflight == 0);
  }
}

TEST_CASE("fast: a window may have 32 times 128 packets", "[sim][fast][A-59]") {
  FastConfig config;
  config.mpr = config.mpr_dest = 32;
  FastPair t(1, config);
  REQUIRE(t.post(100'000));
  t.fabric.run(1 * kMs);
  CHECK(t.heard[1].deliveries.size() == 1);
}

TEST_CASE("fast: a NIC that only receives finds ways back by probes", "[sim][fast][planes]") {
  FastPair t(2);
  Recorder tap;
  t.fabric.set_tap(t.links[0], false, &tap);
  REQUIRE(t.post(2'000'000));
  t.fabric.run(1 * kMs);
  unsigned requests = 0;
  std::set<uint32_t> evs;
  for (const auto& seen : tap.seen) {
    if (seen.packet.opcode == 0xD8) ++requests;
    if (seen.packet.opcode == 0xDC) evs.insert(seen.packet.entropy);
  }
  t.fabric.set_tap(t.links[0], false, nullptr);
  CHECK(requests >= 1);
  CHECK(evs.size() >= 2);  // the first of the set, then what was probed
}

TEST_CASE("fast: an incast through a switch that trims: every flow gets its share", "[sim][fast][trim]") {
  FastStar<FastEndpoint> t(9, FastConfig::for_fabric(100, 3 * kUs));
  REQUIRE(t.opened);
  for (unsigned n = 1; n < 9; ++n) REQUIRE(t.nic[n]->post({.id = n, .qpn = 3, .bytes = 1'000'000}));
  t.fabric.run(5 * kMs);
  REQUIRE(t.heard.deliveries.size() == 8);
  CHECK(t.nic[0]->stats().trimmed > 0);
  CHECK(t.nic[0]->stats().delivered_bytes == 8'000'000);
  uint64_t retransmissions = 0, timeouts = 0;
  for (unsigned n = 1; n < 9; ++n) {
    retransmissions += t.nic[n]->stats().retransmissions;
    timeouts += t.nic[n]->stats().timeouts;
    CHECK(t.nic[n]->controller(0)->inflight == 0);
  }
  // Also those whose header found the queue of trimmed packets full.
  uint64_t headers_lost = 0;
  for (unsigned q = 0; q < kQueues; ++q) {
    headers_lost += t.fabric.switch_at(t.node)->queue_counters(0, q).dropped_trim;
  }
  // And what waited in the last queue longer than any packet of late: at most 1 in 200.
  const uint64_t early = t.nic[0]->stats().duplicates;
  CHECK(retransmissions >= t.nic[0]->stats().trimmed + headers_lost);
  CHECK(retransmissions <= t.nic[0]->stats().trimmed + headers_lost + early);
  CHECK(timeouts == 0);
  CHECK(early <= t.nic[0]->stats().delivered_packets / 200);
  // 8 MB at 100 Gb/s with headers: 667 us.
  CHECK(t.heard.delivered_at.back() < 667 * kUs * 110 / 100);
  CHECK(t.heard.delivered_at.front() > t.heard.delivered_at.back() / 5);
}

TEST_CASE("fast: immediates: no more than max_wimm at once, delivered in order", "[sim][fast][immediate]") {
  FastConfig config{.max_wimm = 4, .wimm_over = WimmOver::Refuse, .timeout = 3};
  FastPair t(2, config, {.gbps = 100}, 16, 16);
  t.fabric.set_impairment(t.links[0], true, {.loss = 0.1});
  uint64_t next = 0;
  const auto fill = [&] {
    while (next < 40 && t.nic[0]->post({.id = next, .qpn = 3, .bytes = 9000, .immediate = true, .imm = 1})) ++next;
  };
  fill();
  CHECK(next == 4);
  t.heard[0].on_completion = [&](const Completion&) { fill(); };
  t.fabric.run(20 * kMs);
  REQUIRE(t.heard[1].deliveries.size() == 40);
  for (uint32_t i = 0; i < 40; ++i) CHECK(t.heard[1].deliveries[i].msn == i);
  CHECK(t.heard[0].completions.size() == 40);
}

TEST_CASE("fast: what cannot be opened or posted is refused with its reason", "[sim][fast][open]") {
  FastPair t(2);
  const auto why = [&](const std::function<void(QpSpec&)>& change) {
    QpSpec spec = qp_spec(1, 2, 8, 0, 9);
    change(spec);
    std::string reason;
    CHECK(!t.nic[0]->open(spec, reason));
    return reason;
  };
  CHECK(why([](QpSpec& s) { s.qpn = 2; }) == "queue pair numbers 2 and 9 are not between 3 and 16777215");
  CHECK(why([](QpSpec& s) { s.qpn = 3; }) == "queue pair 3 is open already");
  CHECK(why([](QpSpec& s) { s.mtu = 1500; }) == "an MTU of 1500 bytes is not 256, 512, 1024, 2048 or 4096");
  CHECK(why([](QpSpec& s) { s.planes = 4; }) == "4 planes are more than the endpoint's 2");
  CHECK(why([](QpSpec& s) { s.ev_active.clear(); }) == "a queue pair needs one entropy value at least");
  CHECK(why([](QpSpec& s) { s.ev_active.pop_back(); }) ==
        "15 active and 0 backup entropy values are not the same number for each of 2 planes");
  CHECK(!t.post(uint64_t{1} << 32));
  CHECK(t.post((uint64_t{1} << 32) - 1));
  CHECK(!t.nic[0]->post({.id = 1, .qpn = 77, .bytes = 1}));
  FastConfig config{.wqe_depth = 2};
  FastPair u(1, config);
  CHECK(u.post(10));
  CHECK(u.post(10));
  CHECK(!u.post(10));
}

TEST_CASE("fast: the same seed gives the same run, packet by packet", "[sim][fast][deterministic]") {
  const auto run = [](uint64_t seed) {
    FastConfig config{.timeout = 4};
    FastPair t(4, config, {.gbps = 100}, 16, 16, seed);
    Recorder tap;
    t.fabric.set_tap(t.links[1], true, &tap);
    for (const LinkId link : t.links) t.fabric.set_impairment(link, true, {.loss = 0.02});
    for (uint64_t id = 0; id < 10; ++id) REQUIRE(t.post(300'000, id));
    t.fabric.run(5 * kMs);
    t.fabric.set_tap(t.links[1], true, nullptr);
    uint64_t hash = 0;
    for (const auto& s : tap.seen) hash = Rng::hash(hash ^ s.time ^ uint64_t{s.packet.psn} << 40 ^ s.packet.entropy);
    return std::pair(hash, tap.seen.size());
  };
  const auto a = run(1), b = run(1), c = run(2);
  CHECK(a == b);
  CHECK(a.first != c.first);
}

TEST_CASE("fast: a pair of idle QPs takes less than 50 KB", "[sim][fast][memory]") {
  FastPair t(8);
  const auto used = [] {
    const auto m = mallinfo2();
    return m.uordblks + m.hblkhd;
  };
  constexpr unsigned kPairs = 500;
  const size_t before = used(), own = t.nic[0]->memory() + t.nic[1]->memory();
  for (uint32_t q = 0; q < kPairs; ++q) {
    for (unsigned n = 0; n < 2; ++n) REQUIRE(t.nic[n]->open(qp_spec(1 - n, 8, 16, 16, q + 10), t.why));
  }
  const size_t per_pair = (used() - before) / kPairs;
  CHECK(per_pair < 50'000);
  CHECK((t.nic[0]->memory() + t.nic[1]->memory() - own) / kPairs < 50'000);
  // And after they have worked: what they needed for that is shared.
  for (uint32_t q = 0; q < kPairs; ++q) REQUIRE(t.nic[0]->post({.id = q, .qpn = q + 10, .bytes = 20'000}));
  t.fabric.run(10 * kMs);
  CHECK(t.heard[1].deliveries.size() == kPairs);
  CHECK((t.nic[0]->memory() + t.nic[1]->memory() - own) / kPairs < 50'000);
}

namespace {
/// A switch that sends what is meant for node 0 to node 2, which has a queue pair of the same number.
template <class E, class Config>
void misdirect(const Config& config) {
  FastStar<E> t(3, config);
  REQUIRE(t.opened);
  t.fabric.switch_at(t.node)->add_host_route(0, {2});
  REQUIRE(t.nic[1]->post({.id = 1, .qpn = 3, .bytes = 20'000}));
  t.fabric.run(30 * kUs);
  CHECK(t.nic[2]->misdirected() == 5 + t.nic[1]->stats().probes);  // 20000 bytes in packets of 4096
  CHECK(t.nic[2]->stats().delivered_packets == 0);
  CHECK(t.nic[2]->stats().sacks + t.nic[2]->stats().acks + t.nic[2]->stats().nacks == 0);
  CHECK(t.heard.deliveries.empty());
  // The right way again: all of it arrives, where it belongs.
  t.fabric.switch_at(t.node)->add_host_route(0, {0});
  t.fabric.run(20 * kMs);
  REQUIRE(t.heard.deliveries.size() == 1);
  CHECK(t.heard.deliveries[0].node == 0);
  CHECK(t.nic[0]->misdirected() == 0);
}
}  // namespace

TEST_CASE("a packet for another host is dropped and counted", "[sim][fast][roce][misdirected]") {
  misdirect<FastEndpoint>(FastConfig{});
  misdirect<RoceEndpoint>(RoceConfig{});
}

TEST_CASE("fast: an answer or a question for another host does nothing", "[sim][fast][misdirected]") {
  FastAndBox t;
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 100}));
  t.run(2 * kUs);
  REQUIRE(t.writes().size() == 1);
  t.sack(0, 0);
  t.ack(0, 1);
  t.send(wire::Opcode::ProbeRequest, 0).probe = {};
  t.run(1 * kUs);
  REQUIRE(t.heard.completions.size() == 1);  // these count
  const size_t answers = t.of(wire::Opcode::Sack).size();
  CHECK(answers == 1);
  REQUIRE(t.nic->post({.id = 2, .qpn = 3, .bytes = 100}));
  t.run(2 * kUs);
  REQUIRE(t.writes().size() == 2);
  for (const wire::Opcode opcode : {wire::Opcode::Ack, wire::Opcode::ProbeRequest}) {
    if (opcode == wire::Opcode::Ack) {
      Packet& p = t.send(opcode, 1);
      p.sack = {};
      p.sack.m = 0x1f;
      p.sack.cack_psn = 2;
      p.dst_host = 9;
    } else {
      Packet& p = t.send(opcode, 0);
      p.probe = {};
      p.dst_host = 9;
    }
  }
  t.run(1 * kUs);
  CHECK(t.nic->misdirected() == 2);
  CHECK(t.heard.completions.size() == 1);
  CHECK(t.of(wire::Opcode::Sack).size() == answers);
}

}  // namespace mrc::test::endpoint_fast_responder_test

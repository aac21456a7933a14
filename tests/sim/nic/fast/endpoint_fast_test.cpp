// SPDX-License-Identifier: Apache-2.0
// Rule by rule: the requestor. Nominal size of a full packet: 4096 + 84 + 4 (TSETH) = 4184.
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>
#include <vector>

#include "tests/sim/nic/fast/endpoint_fast_bench.hpp"

namespace mrc::test::endpoint_fast_test {

using namespace mrc::sim;
using wire::Opcode;
using namespace mrc::test::endpoint_fast;

// Requestor.

TEST_CASE("fast: a message is cut into First, Middle, Last; a short one is Only", "[sim][fast][requestor]") {
  FastAndBox t;
  REQUIRE(t.opened);
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 10000}));
  REQUIRE(t.nic->post({.id = 2, .qpn = 3, .bytes = 1}));
  REQUIRE(t.nic->post({.id = 3, .qpn = 3, .bytes = 4096, .immediate = true, .imm = 0x1234}));
  t.run(5 * kUs);
  const auto w = t.writes();
  REQUIRE(w.size() == 5);
  CHECK(w[0].opcode == kFirst);
  CHECK(w[1].opcode == kMiddle);
  CHECK(w[2].opcode == kLast);
  CHECK(w[3].opcode == kOnly);
  CHECK(w[4].opcode == kOnlyImm);
  CHECK(w[0].payload == 4096);
  CHECK(w[1].payload == 4096);
  CHECK(w[2].payload == 10000 - 2 * 4096);
  CHECK(w[3].payload == 1);
  for (unsigned i = 0; i < 5; ++i) {
    CHECK(w[i].psn == i);
    CHECK(w[i].dqp == 3);
    CHECK(w[i].ecn == 2);
    CHECK(w[i].dscp == wire::kDscpTrimmable);
    CHECK(w[i].size == frame_size(Stack::Ipv6, w[i].opcode, true, w[i].payload));
  }
  CHECK(w[1].data.va == message_address(3, 0) + 4096);
  CHECK(w[2].data.dma_length == 10000);
  CHECK(w[2].data.msn == 0);
  CHECK(w[3].data.msn == 1);
  CHECK(w[4].data.imm == 0x1234);
  // Only the last one leaves nothing to be sent.
  for (unsigned i = 0; i < 4; ++i) CHECK((w[i].bth & kBthAckReq) == 0);
  CHECK((w[4].bth & kBthAckReq) != 0);
}

TEST_CASE("fast: the pass through the EV set uses each EV once, planes in equal shares, passes differ",
          "[sim][fast][paths]") {
  FastAndBox t({}, 4, 4);
  REQUIRE(t.opened);
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 48 * 4096}));
  t.run(40 * kUs);
  std::vector<unsigned> order(48);
  for (const Packet& p : t.writes()) order[p.psn] = ev_index(p);
  for (unsigned pass = 0; pass < 3; ++pass) {
    const std::set<unsigned> used(order.begin() + pass * 16, order.begin() + pass * 16 + 16);
    CHECK(used.size() == 16);
    // Each group of four packets has one of each plane.
    for (unsigned g = 0; g < 4; ++g) {
      std::set<unsigned> planes;
      for (unsigned i = 0; i < 4; ++i) planes.insert(order[pass * 16 + g * 4 + i] % 4);
      CHECK(planes.size() == 4);
    }
  }
  CHECK(std::vector<unsigned>(order.begin(), order.begin() + 16) !=
        std::vector<unsigned>(order.begin() + 16, order.begin() + 32));
  std::map<unsigned, unsigned> per_plane;
  for (const Got& g : t.box->got) {
    if (is_write(g.packet)) {
      ++per_plane[g.plane];
      CHECK(ev_index(g.packet) % 4 == g.plane);
    }
  }
  for (unsigned p = 0; p < 4; ++p) CHECK(per_plane[p] == 12);
}

TEST_CASE("fast: a SACK with m = 1 skips its EV once", "[sim][fast][paths]") {
  FastAndBox t;
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 8 * 4096}));
  t.run(5 * kUs);
  REQUIRE(t.writes().size() == 8);
  const Packet marked = t.writes()[3];
  const unsigned ev = ev_index(marked);
  SackFields& s = t.sack(7, 3);
  s.m = 1;
  s.entropy = marked.entropy;
  t.run(1 * kUs);
  CHECK(t.nic->ev_state(3, ev) == kEvSkip);
  CHECK(t.nic->ev_counts(3).skip == 1);
  t.ack(7, 1);
  t.run(1 * kUs);
  // The next pass leaves it out (seven packets), and restores it.
  REQUIRE(t.nic->post({.id = 2, .qpn = 3, .bytes = 8 * 4096}));
  t.run(5 * kUs);
  const auto w = t.writes();
  REQUIRE(w.size() == 16);
  for (unsigned i = 8; i < 15; ++i) CHECK(ev_index(w[i]) != ev);
  CHECK(t.nic->ev_state(3, ev) == kEvGood);
}

TEST_CASE("fast: NACK TRIMMED is sent again at once, on another EV, as a retransmission; LASTHOP blames no EV",
          "[sim][fast][requestor]") {
  for (const uint8_t reason : {code(wire::NackReason::Trimmed), code(wire::NackReason::TrimmedLasthop)}) {
    FastAndBox t;
    REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 4 * 4096}));
    t.run(3 * kUs);
    REQUIRE(t.writes().size() == 4);
    const Packet trimmed = t.writes()[1];
    t.nack(1, reason, trimmed.entropy);
    t.run(1 * kUs);
    const auto w = t.writes();
    REQUIRE(w.size() == 5);
    CHECK(w[4].psn == 1);
    CHECK(w[4].opcode == kMiddle);
    CHECK((w[4].bth & kBthRtx) != 0);
    CHECK(w[4].dscp == wire::kDscpTrimmableRetx);
    CHECK(w[4].entropy != trimmed.entropy);
    CHECK(w[4].data.va == message_address(3, 0) + 4096);
    CHECK(t.nic->ev_state(3, ev_index(trimmed)) == (reason == code(wire::NackReason::Trimmed) ? kEvSkip : kEvGood));
    CHECK(t.nic->stats().retransmissions == 1);
    CHECK(t.nic->stats().timeouts == 0);
  }
}

TEST_CASE("fast: a gap is lost when `reorder` packets above it have arrived, not before", "[sim][fast][requestor]") {
  FastConfig config{.reorder = 5, .same_ev = false};
  FastAndBox t(config, 1, 16, 16);
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 12 * 4096}));
  t.run(6 * kUs);
  REQUIRE(t.writes().size() == 12);
  const unsigned lost_ev = ev_index(t.writes()[2]);
  t.sack(1, 6, 0b11110, 2, 4);  // 3, 4, 5, 6 are there, 2 is not
  t.run(1 * kUs);
  CHECK(t.writes().size() == 12);
  t.sack(1, 7, 0b111110, 2, 5);  // and 7: five above the gap
  t.run(1 * kUs);
  const auto w = t.writes();
  REQUIRE(w.size() == 13);
  CHECK(w[12].psn == 2);
  CHECK(ev_index(w[12]) != lost_ev);
  // One loss is enough; an EV of the backup set takes its place.
  CHECK(t.nic->ev_state(3, lost_ev) == kEvBad);
  CHECK(t.nic->ev_counts(3).good == 16);
  CHECK(t.nic->ev_counts(3).assumed_bad == 1);
  // Told again, it is not sent again.
  t.sack(1, 8, 0b1111110, 2, 6);
  t.run(1 * kUs);
  CHECK(t.writes().size() == 13);
}

TEST_CASE("fast: the oldest packet is lost when a later one on its EV has arrived", "[sim][fast][requestor]") {
  FastConfig config;
  FastAndBox t(config, 1, 4, 4);
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 8 * 4096}));
  t.run(5 * kUs);
  const auto w = t.writes();
  REQUIRE(w.size() == 8);
  unsigned same = 0, other = 0;
  for (unsigned i = 1; i < 8; ++i) (w[i].entropy == w[0].entropy ? same : other) = i;
  REQUIRE(same != 0);
  t.sack(kPsnMask, other, uint64_t{1} << other, 0, 1);
  t.run(1 * kUs);
  CHECK(t.writes().size() == 8);
  t.sack(kPsnMask, same, uint64_t{1} << same, 0, 2);
  t.run(1 * kUs);
  REQUIRE(t.writes().size() == 9);
  CHECK(t.writes()[8].psn == 0);
  CHECK(t.nic->ev_state(3, ev_index(w[0])) == kEvBad);
}

TEST_CASE("fast: a packet nothing is heard of is sent again after one interval and at most a quarter",
          "[sim][fast][timer]") {
  FastConfig config;
  config.timeout = 3;  // 8.192 us
  FastAndBox t(config);
  t.fabric.run(1 * kUs);
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 4096}));
  t.fabric.run(3 * kUs);
  // A second message on the way: the timer runs already, it must find both in time.
  REQUIRE(t.nic->post({.id = 2, .qpn = 3, .bytes = 100}));
  t.run(40 * kUs);
  std::map<uint32_t, std::vector<Time>> at;
  for (const Got& g : t.box->got) {
    if (is_write(g.packet)) at[g.packet.psn].push_back(g.time);
  }
  constexpr Time kInterval = 8192 * kNs;
  for (const uint32_t psn : {0u, 1u}) {
    REQUIRE(at[psn].size() >= 2);
    const Time wait = at[psn][1] - at[psn][0];
    CHECK(wait >= kInterval - 128 * kNs - 400 * kNs);
    CHECK(wait <= kInterval * 5 / 4 + 600 * kNs);
  }
  CHECK(t.nic->stats().timeouts >= 2);
}

TEST_CASE("fast: a dead peer: linear retries, exponential ones, then the QP fails and flushes", "[sim][fast][timer]") {
  FastConfig config;
  config.timeout = 2;  // 4.096 us
  config.retry = {.linear = 2, .exponential = 2};
  FastAndBox t(config);
  REQUIRE(t.nic->post({.id = 7, .qpn = 3, .bytes = 4096}));
  REQUIRE(t.nic->post({.id = 8, .qpn = 3, .bytes = 4096}));
  t.run(1 * kMs);
  REQUIRE(t.heard.completions.size() == 2);
  CHECK(t.heard.completions[0].id == 7);
  CHECK(!t.heard.completions[0].ok);
  CHECK(!t.heard.completions[1].ok);
  CHECK(t.nic->failed(3));
  CHECK(t.nic->stats().failed_qps == 1);
  CHECK(t.nic->stats().completions == 0);
  // First transmission and four retries of each.
  std::vector<Time> first;
  for (const Got& g : t.box->got) {
    if (is_write(g.packet) && g.packet.psn == 0) first.push_back(g.time);
  }
  REQUIRE(first.size() == 5);
  CHECK(first[4] - first[3] > first[2] - first[1]);
  CHECK(!t.nic->post({.id = 9, .qpn = 3, .bytes = 1}));
  // What still comes is answered with UNEXP_EVENT.
  t.data(0, 100, Opcode::WriteOnly);
  t.run(1 * kUs);
  REQUIRE(t.of(Opcode::Nack).size() == 1);
  CHECK(t.of(Opcode::Nack)[0].nack.reason == code(wire::NackReason::UnexpEvent));
}

TEST_CASE("fast: UNEXP_EVENT and a NAK end the QP; messages before the refused one are good",
          "[sim][fast][requestor]") {
  FastAndBox t;
  for (uint64_t id = 1; id <= 3; ++id) REQUIRE(t.nic->post({.id = id, .qpn = 3, .bytes = 100}));
  t.run(2 * kUs);
  t.ack(1, 1, 0x62);
  t.run(1 * kUs);
  REQUIRE(t.heard.completions.size() == 3);
  CHECK(t.heard.completions[0].ok);
  CHECK(!t.heard.completions[1].ok);
  CHECK(!t.heard.completions[2].ok);

  FastAndBox u;
  REQUIRE(u.nic->post({.id = 1, .qpn = 3, .bytes = 100}));
  u.run(2 * kUs);
  u.nack(0, code(wire::NackReason::UnexpEvent), 0);
  u.run(1 * kUs);
  CHECK(u.nic->failed(3));
}

TEST_CASE("fast: semantic ACKs complete in order, several at once; an old one changes nothing",
          "[sim][fast][requestor]") {
  FastAndBox t;
  for (uint64_t id = 1; id <= 4; ++id) REQUIRE(t.nic->post({.id = id, .qpn = 3, .bytes = 100 * id}));
  t.run(2 * kUs);
  t.ack(2, 3);
  t.run(1 * kUs);
  REQUIRE(t.heard.completions.size() == 3);
  for (uint64_t i = 0; i < 3; ++i) {
    CHECK(t.heard.completions[i].id == i + 1);
    CHECK(t.heard.completions[i].bytes == 100 * (i + 1));
    CHECK(t.heard.completions[i].ok);
  }
  t.ack(0, 1);
  t.ack(3, 9);  // of messages never sent
  t.run(1 * kUs);
  CHECK(t.heard.completions.size() == 3);
  t.ack(3, 4);
  t.run(1 * kUs);
  CHECK(t.heard.completions.size() == 4);
}

TEST_CASE("fast: a missing ACK is asked for by sending the last packet again", "[sim][fast][timer]") {
  FastConfig config;
  config.timeout = 5;  // 32.8 us
  FastAndBox t(config);
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 64 * 4096}));  // its window ends with a block of 64
  t.run(25 * kUs);
  const size_t before = t.writes().size();
  t.sack(63, 63);
  t.run(1 * kUs);
  CHECK(t.heard.completions.empty());
  t.run(42 * kUs);
  REQUIRE(t.writes().size() > before);
  CHECK(t.writes().back().psn == 63);
  CHECK(t.writes().back().opcode == kLast);
  t.ack(63, 1);
  t.run(1 * kUs);
  CHECK(t.heard.completions.size() == 1);
}

TEST_CASE("fast: no PSN beyond the window; a dynamic MPR narrows it and opens it again", "[sim][fast][requestor]") {
  FastConfig config;
  config.mpr = 2;  // 256 PSNs
  config.timeout = 20;
  FastAndBox t(config);
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 1000 * 4096}));
  t.run(200 * kUs);
  CHECK(t.writes().size() == 256);
  CHECK((t.writes().back().bth & kBthAckReq) != 0);
  t.sack(99, 99);
  t.run(100 * kUs);
  CHECK(t.writes().size() == 356);
  t.sack(199, 199).mpr = 1;
  t.run(100 * kUs);
  CHECK(t.writes().size() == 356);  // 199 + 128 < 356
  t.sack(299, 299).mpr = 1;
  t.run(100 * kUs);
  CHECK(t.writes().size() == 428);
  t.sack(299, 299).mpr = 200;  // never more than its own
  t.run(100 * kUs);
  CHECK(t.writes().size() == 556);
}

TEST_CASE("fast: the congestion window holds packets back, and what was refused goes on with the next SACK",
          "[sim][fast][cc]") {
  FastConfig config;
  config.nscc.base_rtt = 1024;  // 8 ticks: max_wnd 1.5 x 100 Gb/s x 1.024 us = 19.2 kB
  config.nscc.max_cwnd = 4 * 4184 + 100;
  config.timeout = 10;
  FastAndBox t(config, 1, 8, 0, true);
  REQUIRE(t.opened);
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 20 * 4096}));
  t.run(2000 * kNs);
  CHECK(t.writes().size() == 4);
  REQUIRE(t.nic->controller(1) != nullptr);
  CHECK(t.nic->controller(1)->inflight == 4 * 4184);
  // AckReq when less than a packet is left.
  CHECK((t.writes()[3].bth & kBthAckReq) != 0);
  CHECK((t.writes()[0].bth & kBthAckReq) == 0);
  SackFields& s = t.sack(1, 1);
  s.rcvd_bytes = (2 * 4184 + 255) / 256;
  t.run(2 * kUs);
  CHECK(t.writes().size() == 6);
  CHECK(t.nic->controller(1)->inflight >= 4 * 4184 - 255);
  CHECK(t.nic->controller(1)->inflight <= 4 * 4184);
}

TEST_CASE("fast: a QP whose window is full and who hears nothing asks for the state", "[sim][fast][cc]") {
  for (const unsigned probes : {0u, 16u}) {
    FastConfig config;
    config.nscc.base_rtt = 1024;
    config.nscc.max_cwnd = 4184 + 100;
    config.timeout = 10;
    config.silence = probes;
    FastAndBox t(config, 1, 8, 0, true);
    REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 20 * 4096}));
    t.run(10 * kUs);
    CHECK(t.writes().size() == 1);
    CHECK(t.of(Opcode::ProbeRequest).empty() == (probes == 0));
    if (probes == 0) continue;
    // 2 x 1.024 us, and what the way takes; the next one after twice the time.
    std::vector<Time> at;
    for (const Got& g : t.box->got) {
      if (g.packet.opcode == 0xDE) at.push_back(g.time);
    }
    REQUIRE(!at.empty());
    CHECK(at[0] > 2000 * kNs);
    CHECK(at[0] < 3000 * kNs);
    // The answer lets it go on.
    const Packet probe = t.of(Opcode::ProbeRequest)[0];
    SackFields& s = t.sack(0, 0);
    s.pr = 1;
    s.ack_psn_offset = static_cast<int16_t>(probe.probe.probe_id);
    s.rcvd_bytes = (4184 + 255) / 256;
    t.run(1 * kUs);
    CHECK(t.writes().size() == 2);
  }
}

TEST_CASE("fast: an answer shortens the time until the state is asked for again", "[sim][fast][cc]") {
  FastConfig config;
  config.nscc.base_rtt = 1024;
  config.nscc.max_cwnd = 4184 + 100;
  config.timeout = 14;
  FastAndBox t(config, 1, 8, 0, true);
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 20 * 4096}));
  t.run(60 * kUs);  // asked after 1.2, 3.5, 8, 17, 36 us; not before 73 us again
  const size_t requested = t.of(Opcode::ProbeRequest).size();
  REQUIRE(requested == 5);
  t.sack(0xffffff, 0);  // a SACK that brings nothing
  t.run(3 * kUs);
  CHECK(t.of(Opcode::ProbeRequest).size() == requested + 1);
}

TEST_CASE("fast: bytes in flight drift by no rounding of rcvd_bytes", "[sim][fast][cc]") {
  FastConfig config;
  config.nscc.base_rtt = 1024;
  config.nscc.max_cwnd = 4188;  // one packet and four bytes
  config.timeout = 12;
  config.silence = 0;
  FastAndBox t(config, 1, 8, 0, true);
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 40 * 4096}));
  for (uint32_t psn = 0; psn < 30; ++psn) {
    t.run(1500 * kNs);
    REQUIRE(t.writes().size() == psn + 1);
    t.sack(psn, psn).rcvd_bytes = ((psn + 1) * 4184 + 255) / 256;
  }
  CHECK(t.nic->stats().timeouts == 0);
}

TEST_CASE("fast: QPs that share a destination's window take turns", "[sim][fast][cc]") {
  for (const unsigned silence : {0u, 9u}) {
    FastConfig config{.silence = silence};
    FastPair t(1, config, {.gbps = 100, .metres = 200});
    for (unsigned n = 0; n < 2; ++n) {
      for (uint32_t q = 4; q < 8; ++q) REQUIRE(t.nic[n]->open(qp_spec(1 - n, 1, 8, 0, q), t.why));
    }
    for (uint32_t q = 3; q < 8; ++q) REQUIRE(t.nic[0]->post({.id = q, .qpn = q, .bytes = 200 * 4096}));
    REQUIRE(t.fabric.run(10 * kMs) != RunEnd::Stopped);
    REQUIRE(t.heard[1].deliveries.size() == 5);
    // Equal shares of 340 us: they end within the time of a few bursts (340 ns for each packet). Who asks what has
    // arrived hears of it sooner, and is less even.
    const Time apart = t.heard[1].delivered_at.back() - t.heard[1].delivered_at.front();
    CHECK(apart < (silence == 0 ? 40 : 80) * kUs);
    CHECK(t.nic[0]->stats().retransmissions == 0);
    CHECK(t.nic[0]->controller(1)->inflight == 0);
  }
}

TEST_CASE("fast: a QP that fails leaves the window to the others of its destination", "[sim][fast][cc]") {
  FastConfig config;
  config.timeout = 2;
  config.retry = {.linear = 1, .exponential = 0};
  FastPair t(1, config);
  QpSpec dead = qp_spec(1, 1, 8, 0, 50), small = qp_spec(1, 1, 8, 0, 60), back = qp_spec(0, 1, 8, 0, 60);
  small.mtu = back.mtu = 256;
  REQUIRE(t.nic[0]->open(dead, t.why));  // nobody there
  REQUIRE(t.nic[0]->open(small, t.why));
  REQUIRE(t.nic[1]->open(back, t.why));
  REQUIRE(t.nic[0]->post({.id = 50, .qpn = 50, .bytes = 10'000'000}));
  REQUIRE(t.nic[0]->post({.id = 60, .qpn = 60, .bytes = 300'000}));
  REQUIRE(t.post(1'000'000, 3));
  t.fabric.run(20 * kMs);
  REQUIRE(t.heard[0].completions.size() == 3);
  for (const Completion& c : t.heard[0].completions) CHECK(c.ok == (c.id != 50));
  CHECK(t.nic[0]->failed(50));
  CHECK(t.nic[1]->stats().delivered_bytes == 1'300'000);
  CHECK(t.nic[0]->controller(1)->inflight == 0);
}

}  // namespace mrc::test::endpoint_fast_test

// SPDX-License-Identifier: Apache-2.0
// Zero-length WRITEs, immediates that wait, a class per QP, packets that come back.
#include <catch2/catch_test_macros.hpp>
#include <set>
#include <vector>

#include "tests/sim/nic/fast/endpoint_fast_bench.hpp"

namespace mrc::test::endpoint_fast_choices_test {

using namespace mrc::sim;
using wire::Opcode;
using namespace mrc::test::endpoint_fast;

namespace {
/// The NIC (host 0) gets a data packet of its own back, trimmed. swapped: the switch has exchanged the addresses.
Packet& give_back(FastAndBox& t, const Packet& sent, uint8_t dscp, bool swapped) {
  Packet& p = t.send(static_cast<Opcode>(sent.opcode), sent.psn, 128, dscp);
  p.src = swapped ? 1 : 0;
  p.dst_host = swapped ? 0 : 1;
  p.dqp = sent.dqp;
  p.bth = sent.bth;
  p.entropy = sent.entropy;
  p.data = sent.data;
  p.payload = sent.payload;
  p.trimmed = true;
  return p;
}
FastConfig with(Returned returned) {
  FastConfig config{.returned = returned};
  return config;
}
}  // namespace

TEST_CASE("fast: a WRITE of no bytes is one packet, in its turn, and completes", "[sim][fast][zero][A-19]") {
  FastPair t(2);
  REQUIRE(t.opened);
  REQUIRE(t.post(9000, 1));
  REQUIRE(t.nic[0]->post({.id = 2, .qpn = 3, .bytes = 0, .immediate = true, .imm = 7}));
  REQUIRE(t.post(0, 3));
  REQUIRE(t.post(100, 4));
  t.fabric.run(100 * kUs);
  REQUIRE(t.heard[1].deliveries.size() == 4);
  const uint64_t bytes[] = {9000, 0, 0, 100};
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(t.heard[1].deliveries[i].msn == i);
    CHECK(t.heard[1].deliveries[i].bytes == bytes[i]);
  }
  REQUIRE(t.heard[0].completions.size() == 4);
  for (unsigned i = 0; i < 4; ++i) CHECK(t.heard[0].completions[i].ok);
  // 9000 bytes are three packets.
  CHECK(t.nic[0]->stats().data_packets == 6);
  CHECK(t.nic[1]->stats().delivered_bytes == 9100);

  FastAndBox u;
  REQUIRE(u.nic->post({.id = 1, .qpn = 3, .bytes = 0, .immediate = true, .imm = 7}));
  REQUIRE(u.nic->post({.id = 2, .qpn = 3, .bytes = 0}));
  u.run(5 * kUs);
  const auto w = u.writes();
  REQUIRE(w.size() == 2);
  CHECK(w[0].opcode == kOnlyImm);
  CHECK(w[1].opcode == kOnly);
  for (const Packet& p : w) {
    CHECK(p.payload == 0);
    CHECK(p.data.dma_length == 0);
    CHECK(p.size == frame_size(Stack::Ipv6, p.opcode, true, 0));
  }
}

TEST_CASE("fast: a WRITE of no bytes is refused, NAKed or dropped where it may not be", "[sim][fast][zero][A-19]") {
  for (const ZeroLength zero : {ZeroLength::Nak, ZeroLength::Drop}) {
    FastConfig config{.zero_length = zero};
    FastAndBox t(config);
    CHECK(!t.nic->post({.id = 1, .qpn = 3, .bytes = 0, .immediate = true}));
    // Out of order it counts as lost, whatever else.
    t.data(1, 0, Opcode::WriteOnly);
    t.run(2 * kUs);
    CHECK(t.of(Opcode::Ack).empty());
    t.data(0, 100, Opcode::WriteOnly);
    t.data(1, 0, Opcode::WriteOnly);
    t.run(2 * kUs);
    const auto acks = t.of(Opcode::Ack);
    if (zero == ZeroLength::Drop) {
      REQUIRE(acks.size() == 1);
      CHECK(!t.nic->failed(3));
      continue;
    }
    REQUIRE(acks.size() == 2);
    CHECK(acks[0].sack.m == 0x1f);
    CHECK(acks[1].sack.m == 0x61);
    CHECK(acks[1].psn == 1);
    CHECK(acks[1].sack.cack_psn == 1);  // the message that is refused
    CHECK(t.nic->failed(3));
    t.data(2, 100, Opcode::WriteOnly);  // the NAK may have been lost
    t.run(2 * kUs);
    CHECK(t.of(Opcode::Ack).size() == 3);
    CHECK(t.nic->stats().delivered_packets == 1);
  }
}

TEST_CASE("fast: an immediate beyond max_wimm waits, and what is behind it; another QP goes on",
          "[sim][fast][immediate][A-62]") {
  FastConfig config{.max_wimm = 2};
  FastAndBox t(config);
  QpSpec second = qp_spec(1, 1, 8, 0, 4);
  second.congestion = false;
  REQUIRE(t.nic->open(second, t.why));
  for (uint64_t id = 0; id < 4; ++id) {
    REQUIRE(t.nic->post({.id = id, .qpn = 3, .bytes = 100, .immediate = true}));
  }
  REQUIRE(t.nic->post({.id = 9, .qpn = 3, .bytes = 100}));
  REQUIRE(t.nic->post({.id = 10, .qpn = 4, .bytes = 100}));
  t.run(5 * kUs);
  auto w = t.writes();
  REQUIRE(w.size() == 3);
  CHECK(w[0].dqp == 3);
  CHECK(w[1].dqp == 3);
  CHECK((w[1].bth & kBthAckReq) == 0);  // the NIC asks for nothing before it has looked at what is next
  CHECK(w[2].dqp == 4);
  t.ack(0, 1);
  t.run(2 * kUs);
  CHECK(t.writes().size() == 4);
  t.ack(1, 2);
  t.run(2 * kUs);
  w = t.writes();
  REQUIRE(w.size() == 6);
  CHECK(w[5].opcode == kOnly);  // that was behind them
  t.ack(4, 5);
  t.run(1 * kUs);
  CHECK(t.heard.completions.size() == 5);
}

TEST_CASE("fast: an immediate beyond max_wimm is refused, or ends its QP; with 0 none may be posted",
          "[sim][fast][immediate][A-62]") {
  FastConfig config{.max_wimm = 1, .wimm_over = WimmOver::Refuse};
  const WorkRequest imm{.id = 1, .qpn = 3, .bytes = 10, .immediate = true};
  {
    FastAndBox t(config);
    REQUIRE(t.nic->post(imm));
    CHECK(!t.nic->post(imm));
    CHECK(t.nic->post({.id = 2, .qpn = 3, .bytes = 10}));
    CHECK(!t.nic->failed(3));
  }
  {
    config.wimm_over = WimmOver::Error;
    FastAndBox t(config);
    REQUIRE(t.nic->post(imm));
    REQUIRE(t.nic->post({.id = 2, .qpn = 3, .bytes = 10, .immediate = true}));
    CHECK(t.nic->failed(3));
    REQUIRE(t.heard.completions.size() == 2);
    CHECK(t.heard.completions[0].id == 2);
    CHECK(t.heard.completions[0].status == CqStatus::WimmOverrun);
    CHECK(t.heard.completions[1].id == 1);
    CHECK(t.heard.completions[1].status == CqStatus::Flushed);
  }
  config.max_wimm = 0;
  config.wimm_over = WimmOver::Wait;
  FastAndBox t(config);
  CHECK(!t.nic->post(imm));
}

TEST_CASE("fast: a QP's data, retransmissions and probes have its class, others the NIC's",
          "[sim][fast][class][A-79][A-60]") {
  FastConfig config{.dscp_endpoint = 33};
  FastAndBox t(config, 2, 4);
  QpSpec own = qp_spec(1, 2, 4, 0, 4);
  own.congestion = false;
  own.own_class = true;
  own.dscp_data = 1;
  own.dscp_rtx = 2;
  REQUIRE(t.nic->open(own, t.why));
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 100}));
  REQUIRE(t.nic->post({.id = 2, .qpn = 4, .bytes = 100}));
  t.run(3 * kUs);
  t.nack(0, code(wire::NackReason::NoResource), 0);
  Packet& nack = t.send(Opcode::Nack, 0);
  nack.dqp = 4;
  nack.nack = {0, 0, code(wire::NackReason::NoResource), 0};
  t.run(3 * kUs);
  t.fabric.set_link(t.links[1], false);
  t.run(3 * kUs);
  std::set<std::pair<uint32_t, unsigned>> seen;
  for (const Packet& p : t.writes()) seen.insert({p.dqp, p.dscp});
  CHECK(seen == std::set<std::pair<uint32_t, unsigned>>{{3, 4}, {3, 8}, {4, 1}, {4, 2}});
  const auto updates = t.of(Opcode::EndpointRequest);
  REQUIRE(!updates.empty());
  for (const Packet& p : updates) CHECK(p.dscp == 33);
}

TEST_CASE("fast: a packet of ours that comes back is counted and dropped, and no answer leaves",
          "[sim][fast][returned][A-80]") {
  for (const bool swapped : {false, true}) {
    FastConfig config;
    if (swapped) config.dscp_returned = 13;
    FastAndBox t(config);
    REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 4 * 4096}));
    t.run(4 * kUs);
    REQUIRE(t.writes().size() == 4);
    give_back(t, t.writes()[1], swapped ? 13 : wire::kDscpTrimmed, swapped);
    t.run(4 * kUs);
    CHECK(t.nic->stats().returned == 1);
    CHECK(t.nic->stats().trimmed == 0);
    CHECK(t.of(Opcode::Nack).empty());
    CHECK(t.of(Opcode::Sack).empty());
    CHECK(t.writes().size() == 4);  // left to gap and timer
  }
}

TEST_CASE("fast: a packet of ours that comes back is a loss at once, if it is the one that is out",
          "[sim][fast][returned][A-80]") {
  for (const bool swapped : {false, true}) {
    FastConfig config = with(Returned::Learn);
    if (swapped) config.dscp_returned = 13;
    const uint8_t dscp = swapped ? 13 : wire::kDscpTrimmed;
    FastAndBox t(config, 1, 16, 16);
    REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 4 * 4096}));
    t.run(4 * kUs);
    const Packet first = t.writes()[1];
    give_back(t, first, dscp, swapped);
    t.run(2 * kUs);
    REQUIRE(t.writes().size() == 5);
    const Packet again = t.writes()[4];
    CHECK(again.psn == 1);
    CHECK((again.bth & kBthRtx) != 0);
    CHECK(again.dscp == wire::kDscpTrimmableRetx);
    CHECK(t.nic->ev_state(3, ev_index(first)) == kEvBad);
    // The copy of before says nothing of the one that is out.
    give_back(t, first, dscp, swapped);
    t.run(2 * kUs);
    CHECK(t.writes().size() == 5);
    give_back(t, again, dscp, swapped);
    t.run(2 * kUs);
    CHECK(t.writes().size() == 6);
    // What has arrived is not lost, and what has been acknowledged neither.
    t.ack(3, 1);
    t.run(1 * kUs);
    give_back(t, t.writes()[5], dscp, swapped);
    t.run(2 * kUs);
    CHECK(t.writes().size() == 6);
    CHECK(t.nic->stats().returned == 4);
    CHECK(t.nic->stats().timeouts == 0);
  }
}

TEST_CASE("fast: a packet of ours that comes back and is not told apart brings a false NACK",
          "[sim][fast][returned][A-80]") {
  FastAndBox t(with(Returned::Peer));
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 4096}));
  t.run(4 * kUs);
  give_back(t, t.writes()[0], wire::kDscpTrimmed, false);
  t.run(4 * kUs);
  CHECK(t.nic->stats().returned == 0);
  CHECK(t.of(Opcode::Nack).size() == 1);
}

TEST_CASE("fast: a packet that was cut and has no code point of trimmed ones is dropped", "[sim][fast][returned]") {
  FastAndBox t;
  Packet& p = t.data(0, 4096, Opcode::WriteOnly);
  p.trimmed = true;
  p.dscp = 21;
  t.run(3 * kUs);
  CHECK(t.nic->stats().delivered_packets == 0);
  CHECK(t.box->got.empty());
}

TEST_CASE("fast: an EV in SKIP is left out for a round trip at least", "[sim][fast][paths][A-20]") {
  FastConfig config;
  config.skip_mode = SkipMode::RoundTrip;
  config.skip_ticks = 78;  // 10 us
  FastAndBox t(config);
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 8 * 4096}));
  t.run(5 * kUs);
  const Packet marked = t.writes()[3];
  const unsigned ev = ev_index(marked);
  SackFields& s = t.sack(7, 3);
  s.m = 1;
  s.entropy = marked.entropy;
  t.run(1 * kUs);
  const Time since = t.fabric.now();
  CHECK(t.nic->ev_counts(3).skip == 1);
  t.ack(7, 1);
  t.run(1 * kUs);
  // Packets all the time: the first one on that EV comes after a turn at least, and before four have passed.
  Time back = 0;
  uint32_t psn = 8;
  for (uint16_t msn = 1; back == 0 && msn < 60; ++msn, ++psn) {
    REQUIRE(t.nic->post({.id = msn, .qpn = 3, .bytes = 4096}));
    t.run(1 * kUs);
    REQUIRE(t.writes().size() == psn + 1);
    if (t.writes().back().entropy == marked.entropy) back = t.fabric.now();
    t.ack(psn, static_cast<uint16_t>(msn + 1));
    t.run(100 * kNs);
  }
  CHECK(back >= since + 10 * kUs);
  CHECK(back <= since + 60 * kUs);
  CHECK(t.nic->ev_state(3, ev) == kEvGood);
}

}  // namespace mrc::test::endpoint_fast_choices_test

// SPDX-License-Identifier: Apache-2.0
// What tells a fast endpoint of a loss: ports, time, questions; where it sends again (docs/guide/fabric.md, "How a loss
// is known").
#include <catch2/catch_test_macros.hpp>
#include <set>
#include <vector>

#include "protocol/probe.hpp"
#include "tests/sim/nic/fast/endpoint_fast_bench.hpp"

namespace mrc::test::fast_loss_test {

using namespace mrc::sim;
using wire::Opcode;
using namespace mrc::test::endpoint_fast;

namespace {
uint64_t found(const FastEndpoint& nic, LossCause cause) { return nic.stats().found[static_cast<unsigned>(cause)]; }
/// With a timer of 8.4 ms, which finds nothing here.
FastConfig slow_timer() {
  FastConfig config;
  config.nscc.base_rtt = 4096;
  config.timeout = 13;
  return config;
}
}  // namespace

TEST_CASE("fast: what a port that falls was given goes again at once on other planes", "[sim][fast][port-loss][A-82]") {
  for (const bool on : {true, false}) {
    FastConfig config = slow_timer();
    config.port_loss = on;
    config.silence = config.overdue = 0;
    FastAndBox t(config, 2);
    REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 8 * 4096}));
    t.run(4 * kUs);
    const auto before = t.writes();
    REQUIRE(before.size() == 8);
    t.fabric.set_link(t.links[1], false);
    t.run(4 * kUs);
    const auto all = t.writes();
    std::set<uint32_t> lost, again;
    for (const Packet& p : before) {
      if (p.plane == 1) lost.insert(p.psn);
    }
    for (std::size_t i = 8; i < all.size(); ++i) {
      CHECK(all[i].plane == 0);
      again.insert(all[i].psn);
    }
    CHECK(lost.size() == 4);
    CHECK(again == (on ? lost : std::set<uint32_t>{}));
    CHECK(found(*t.nic, LossCause::Port) == (on ? 4 : 0));
    // Nothing is sent twice when the port is back.
    t.fabric.set_link(t.links[1], true);
    t.run(4 * kUs);
    CHECK(t.writes().size() == all.size());
  }
}

TEST_CASE("fast: what was sent on a plane whose port is down at the peer goes again at once",
          "[sim][fast][port-loss][A-82]") {
  FastConfig config = slow_timer();
  config.silence = config.overdue = 0;
  FastAndBox t(config, 2);
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 8 * 4096}));
  t.run(4 * kUs);
  REQUIRE(t.writes().size() == 8);
  Packet& update = t.send(Opcode::EndpointRequest, 0);
  update.dqp = wire::kEndpointDqp;
  update.src = 1;
  update.dst_host = 0;
  update.probe = {ep_mask_of_planes(0b01, false), 0, static_cast<uint8_t>(wire::ErthOp::PortStatus)};
  t.run(4 * kUs);
  const auto all = t.writes();
  REQUIRE(all.size() == 12);
  for (std::size_t i = 8; i < all.size(); ++i) CHECK(all[i].plane == 0);
  CHECK(found(*t.nic, LossCause::Peer) == 4);
}

TEST_CASE("fast: the last packet of a QP is known to be lost by a question, and goes on another plane",
          "[sim][fast][silence][A-84]") {
  for (const bool requests : {true, false}) {
    FastConfig config = slow_timer();
    if (!requests) config.silence = 0;
    FastPair t(2, config);
    t.fabric.set_impairment(t.links[0], true, {.loss = 1});
    t.fabric.at(1 * kUs, [&] { t.fabric.set_impairment(t.links[0], true, {}); });
    REQUIRE(t.post(2 * 4096));  // one packet on each plane
    t.fabric.run(100 * kUs);
    CHECK(t.heard[0].completions.size() == (requests ? 1 : 0));
    CHECK(found(*t.nic[0], LossCause::Question) == (requests ? 1 : 0));
    CHECK(found(*t.nic[0], LossCause::Timer) == 0);
    if (!requests) continue;
    REQUIRE(t.nic[0]->losses().size() == 1);
    const LossNote& note = t.nic[0]->losses()[0];
    CHECK(note.plane == 0);
    CHECK(note.again_plane == 1);
    CHECK(note.known > 4600 * kNs);  // nine eighths of 4.1 us
    CHECK(note.known < 8 * kUs);     // and a round trip of these links, which is shorter
    CHECK(note.back > note.again);
  }
}

TEST_CASE("fast: an ACK that is lost is asked for, on two planes", "[sim][fast][silence][A-84]") {
  FastAndBox t(slow_timer(), 2);
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 2 * 4096}));
  t.run(3 * kUs);
  t.sack(1, 1).rcvd_bytes = 2 * 4184 / 256 + 1;
  t.run(2 * kUs);  // a quarter of the round trip that is configured, 4.1 us
  const auto requested = t.of(Opcode::ProbeRequest);
  REQUIRE(requested.size() == 2);
  CHECK(requested[0].plane != requested[1].plane);
  CHECK(t.writes().size() == 2);
  t.ack(1, 1);
  t.run(100 * kUs);
  CHECK(t.heard.completions.size() == 1);
  CHECK(t.of(Opcode::ProbeRequest).size() == 2);
}

TEST_CASE("fast: a QP asks for the packet that is out for longest, though the first one was sent again",
          "[sim][fast][silence][A-84]") {
  FastAndBox t(slow_timer(), 2);
  REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 2 * 4096}));
  t.run(3 * kUs);
  t.nack(0, static_cast<uint8_t>(wire::NackReason::NoResource), 0);
  t.run(1 * kUs);
  REQUIRE(t.writes().size() == 3);
  CHECK(t.writes()[2].psn == 0);
  CHECK(t.of(Opcode::ProbeRequest).empty());
  t.run(2 * kUs);  // nine eighths of 4.1 us behind PSN 1; behind what was sent again a round trip would be 7 us
  const auto requested = t.of(Opcode::ProbeRequest);
  REQUIRE(requested.size() == 1);
  for (const Packet& p : t.writes()) {
    if (p.psn == 1) CHECK(requested[0].plane != p.plane);
  }
}

TEST_CASE("fast: a plane on which several EVs lose is not used until a probe comes back",
          "[sim][fast][suspect][A-86]") {
  for (const unsigned suspect : {2u, 0u}) {
    FastConfig config = slow_timer();
    config.suspect = suspect;
    config.ev_min_active = 32;  // EVs stay in use
    FastPair t(2, config, {.gbps = 100}, 16);
    REQUIRE(t.post(400 * 4096));
    t.fabric.at(10 * kUs, [&] { t.fabric.set_impairment(t.links[1], true, {.loss = 1}); });
    t.fabric.run(30 * kUs);
    const uint64_t before = t.fabric.stats(t.links[1], true).lost;
    t.fabric.run(45 * kUs);
    const uint64_t more = t.fabric.stats(t.links[1], true).lost - before;
    CHECK((suspect != 0 ? more <= 8 : more > 8));  // probes alone
    t.fabric.set_impairment(t.links[1], true, {});
    t.fabric.run(10 * kMs);
    CHECK(t.heard[0].completions.size() == 1);
  }
}

TEST_CASE("fast: losses on all planes leave EVs in use that one loss would take out of it",
          "[sim][fast][blame][A-87]") {
  uint32_t bad[2];
  for (const unsigned strikes : {3u, 1u}) {
    FastConfig config = slow_timer();
    config.strikes = strikes;
    config.ev_min_active = 2;
    FastPair t(2, config, {.gbps = 100}, 16);
    for (const LinkId link : t.links) t.fabric.set_impairment(link, true, {.loss = 0.02});
    REQUIRE(t.post(2000 * 4096));
    t.fabric.run(90 * kUs);
    bad[strikes == 1] = t.nic[0]->ev_counts(3).assumed_bad;
  }
  CHECK(bad[0] <= 2);
  CHECK(bad[1] >= 5);
}

TEST_CASE("fast: with loss_share one loss in so many counts while both planes lose, and each while one does",
          "[sim][fast][blame][A-87]") {
  for (const bool both : {true, false}) {
    uint32_t bad[2];
    for (const unsigned share : {0u, 4u}) {
      FastConfig config = slow_timer();
      config.strikes = 0;
      config.loss_share = share;
      config.ev_min_active = 2;
      FastPair t(2, config, {.gbps = 100}, 16);
      for (unsigned p = 0; p < (both ? 2 : 1); ++p) t.fabric.set_impairment(t.links[p], true, {.loss = 0.02});
      REQUIRE(t.post(2000 * 4096));
      t.fabric.run(90 * kUs);
      bad[share != 0] = t.nic[0]->ev_counts(3).assumed_bad;
    }
    INFO(bad[0] << " " << bad[1]);
    CHECK(bad[0] >= (both ? 5 : 3));
    CHECK((both ? bad[1] <= 3 : bad[1] == bad[0]));
  }
}

TEST_CASE("fast: time stamps tell of losses, of what was sent again too, or the timer must", "[sim][fast][A-83]") {
  Time end[2] = {};
  for (const bool knows : {true, false}) {
    FastConfig config = slow_timer();
    if (!knows) config.overdue = config.silence = 0;
    FastPair t(2, config, {.gbps = 100}, 16);
    for (const LinkId link : t.links) t.fabric.set_impairment(link, true, {.loss = 0.03});
    t.heard[0].on_completion = [&](const Completion&) { end[knows] = t.fabric.now(); };
    REQUIRE(t.post(1000 * 4096));
    t.fabric.run(100 * kMs);
    REQUIRE(t.heard[0].completions.size() == 1);
    CHECK((found(*t.nic[0], LossCause::Overdue) > 0) == knows);
    CHECK((t.nic[0]->stats().timeouts == 0) == knows);
  }
  CHECK(end[false] > 10 * end[true]);
}

TEST_CASE("fast: what was lost goes on another plane", "[sim][fast][A-85]") {
  for (const bool other : {true, false}) {
    FastConfig config = slow_timer();
    config.other_plane = other;
    FastPair t(2, config, {.gbps = 100}, 16);
    for (const LinkId link : t.links) t.fabric.set_impairment(link, true, {.loss = 0.03});
    REQUIRE(t.post(1000 * 4096));
    t.fabric.run(2 * kMs);
    REQUIRE(t.nic[0]->losses().size() > 10);
    unsigned same = 0;
    for (const LossNote& note : t.nic[0]->losses()) same += note.again != 0 && note.plane == note.again_plane ? 1u : 0u;
    CHECK((same == 0) == other);
  }
}

TEST_CASE("fast: what is lost when a QP may send nothing else goes twice, or once", "[sim][fast][A-89]") {
  for (const unsigned copies : {1u, 2u}) {
    FastConfig config = slow_timer();
    config.copies = copies;
    FastPair t(4, config);
    // Nothing comes through on plane 0 for a while: three of twelve packets.
    t.fabric.set_impairment(t.links[0], true, {.loss = 1});
    t.fabric.at(2 * kUs, [&] { t.fabric.set_impairment(t.links[0], true, {}); });
    REQUIRE(t.post(12 * 4096));
    t.fabric.run(100 * kUs);
    REQUIRE(t.heard[0].completions.size() == 1);
    CHECK(t.nic[0]->stats().retransmissions == 3 * copies);
    CHECK(t.nic[1]->stats().duplicates == 3 * (copies - 1));
    CHECK(t.nic[0]->stats().timeouts == 0);
  }
}

TEST_CASE("fast: a SACK that counts what is reported says that all else is missing, or its bitmap alone speaks",
          "[sim][fast][A-92]") {
  // PSN 19 of 100 has arrived; the bitmap is of PSNs 1 to 64. PSN 0 is the first that is missing.
  struct Case {
    bool by_count;
    uint16_t ooo;
    unsigned lost;
  };
  for (const auto& [by_count, ooo, lost] : {Case{true, 1, 99}, Case{true, 2, 64}, Case{false, 1, 64}}) {
    FastConfig config = slow_timer();
    config.by_count = by_count;
    FastAndBox t(config, 2);
    REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 100 * 4096}));
    t.run(60 * kUs);
    REQUIRE(t.writes().size() == 100);
    Packet& p = t.send(Opcode::Sack, 0xffffff);
    p.sack = {};
    p.sack.cack_psn = 0xffffff;
    p.sack.pr = 1;
    p.sack.ack_psn_offset = static_cast<int16_t>(kStateProbeId);
    p.sack.sack_offset = 2;
    p.sack.bitmap = uint64_t{1} << 18;
    p.sack.ooo_count = ooo;
    p.sack.rcvd_bytes = 4184 / 256;
    p.tx_timestamp = 60'000 / 128;
    t.run(1 * kUs);
    INFO(by_count << " " << ooo);
    CHECK(found(*t.nic, LossCause::Question) == lost);
  }
}

TEST_CASE("fast: a loss without a trim makes no window smaller, or one packet", "[sim][fast][A-88]") {
  for (const bool spares : {true, false}) {
    FastConfig config = slow_timer();
    config.loss_spares = spares;
    config.silence = 0;
    FastAndBox t(config, 2, 8, 0, true);
    REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 20 * 4096}));
    t.run(15 * kUs);
    const uint64_t before = t.nic->controller(1)->cwnd;
    // PSN 0 is missing. What the SACK answers was sent 10.2 us after it.
    Packet& p = t.send(Opcode::Sack, 0xffffff);
    p.sack = {};
    p.sack.cack_psn = 0xffffff;
    p.sack.ack_psn_offset = 20;  // PSN 19
    p.sack.sack_offset = 1;
    p.sack.bitmap = 0xffffe;
    p.tx_timestamp = 80;
    t.run(3 * kUs);
    REQUIRE(found(*t.nic, LossCause::Overdue) == 1);
    CHECK((t.nic->controller(1)->cwnd >= before) == spares);
  }
}

}  // namespace mrc::test::fast_loss_test

// SPDX-License-Identifier: Apache-2.0
#include "sim/nic/roce/endpoint_roce.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>

#include "tests/sim/fast_net.hpp"

namespace mrc::test::endpoint_roce_test {

using namespace mrc::sim;

TEST_CASE("roce: one path for ever, everything in order", "[sim][roce]") {
  FastStar<RoceEndpoint> t(2, RoceConfig{});
  REQUIRE(t.opened);
  Recorder tap;
  t.fabric.set_tap(t.links[1], true, &tap);
  for (uint64_t id = 1; id <= 3; ++id) REQUIRE(t.nic[1]->post({.id = id, .qpn = 3, .bytes = 100'000}));
  t.fabric.run(1 * kMs);
  t.fabric.set_tap(t.links[1], true, nullptr);
  REQUIRE(t.heard.deliveries.size() == 3);
  REQUIRE(t.heard.completions.size() == 3);
  for (uint64_t i = 0; i < 3; ++i) {
    CHECK(t.heard.deliveries[i].msn == i);
    CHECK(t.heard.deliveries[i].bytes == 100'000);
    CHECK(t.heard.completions[i].id == i + 1);
  }
  std::set<uint32_t> evs;
  for (const auto& seen : tap.seen) evs.insert(seen.packet.entropy);
  CHECK(evs.size() == 1);
  CHECK(tap.seen.size() == 75);
  CHECK(t.nic[1]->stats().retransmissions == 0);
}

TEST_CASE("roce: a loss sends it back to the packet missing, all from there on again", "[sim][roce]") {
  FastStar<RoceEndpoint> t(2, RoceConfig{});
  Recorder tap;
  t.fabric.set_tap(t.links[1], true, &tap);
  t.fabric.at(5 * kUs, [&] { t.fabric.set_impairment(t.links[1], true, {.loss = 1}); });
  t.fabric.at(5 * kUs + 200 * kNs, [&] { t.fabric.set_impairment(t.links[1], true, {}); });
  REQUIRE(t.nic[1]->post({.id = 1, .qpn = 3, .bytes = 200'000}));
  t.fabric.run(1 * kMs);
  t.fabric.set_tap(t.links[1], true, nullptr);
  REQUIRE(t.heard.deliveries.size() == 1);
  unsigned lost = 0;
  uint32_t gap = 0;
  for (const auto& seen : tap.seen) {
    if (seen.lost) ++lost, gap = seen.packet.psn;
  }
  REQUIRE(lost == 1);
  CHECK(t.nic[0]->stats().nacks == 1);
  // What was on the way when the NAK came was thrown away.
  const EndpointStats s = t.nic[1]->stats();
  CHECK(s.retransmissions > 1);
  CHECK(s.timeouts == 0);
  bool back = false;
  for (size_t i = 1; i < tap.seen.size(); ++i) {
    if (psn_before(tap.seen[i].packet.psn, tap.seen[i - 1].packet.psn)) {
      CHECK(tap.seen[i].packet.psn == gap);
      back = true;
    }
  }
  CHECK(back);
  CHECK(t.nic[0]->stats().delivered_bytes == 200'000);
}

TEST_CASE("roce: a lost tail waits for the timer; a dead peer ends the queue pair", "[sim][roce]") {
  RoceConfig config{.timeout = 100 * kUs, .retries = 3};
  FastStar<RoceEndpoint> t(2, config);
  t.fabric.set_impairment(t.links[1], true, {.loss = 1});
  t.fabric.at(50 * kUs, [&] { t.fabric.set_impairment(t.links[1], true, {}); });
  REQUIRE(t.nic[1]->post({.id = 1, .qpn = 3, .bytes = 5000}));
  t.fabric.run(1 * kMs);
  REQUIRE(t.heard.deliveries.size() == 1);
  CHECK(t.heard.delivered_at[0] > 100 * kUs);
  CHECK(t.heard.delivered_at[0] < 110 * kUs);
  CHECK(t.nic[1]->stats().timeouts == 1);

  FastStar<RoceEndpoint> u(2, config);
  u.fabric.set_impairment(u.links[1], true, {.loss = 1});
  REQUIRE(u.nic[1]->post({.id = 1, .qpn = 3, .bytes = 5000}));
  u.fabric.run(5 * kMs);
  REQUIRE(u.heard.completions.size() == 1);
  CHECK(!u.heard.completions[0].ok);
  CHECK(u.nic[1]->stats().timeouts == 3);
  CHECK(u.nic[1]->stats().failed_qps == 1);
  CHECK(!u.nic[1]->post({.id = 2, .qpn = 3, .bytes = 1}));
}

TEST_CASE("roce: CNPs slow senders down; a fixed rate stays", "[sim][roce]") {
  SwitchConfig sw = SwitchConfig::recommended("sw", 400'000);
  sw.to_host.queue[kQueueData].ecn = {EcnConfig::Mode::Step, 40'000, 0, 1};
  FastStar<RoceEndpoint> t(5, RoceConfig{}, sw);
  for (unsigned n = 1; n < 5; ++n) REQUIRE(t.nic[n]->post({.id = n, .qpn = 3, .bytes = 4'000'000}));
  t.fabric.run(300 * kUs);
  CHECK(t.nic[0]->stats().marked > 0);
  CHECK(t.nic[0]->cnps() > 0);
  for (unsigned n = 1; n < 5; ++n) CHECK(t.nic[n]->rate_gbps(3) < 60);
  t.fabric.run(100 * kMs);
  CHECK(t.heard.deliveries.size() == 4);
  CHECK(t.nic[0]->stats().delivered_bytes == 16'000'000);

  RoceConfig fixed{.dcqcn = false, .rate_gbps = 10};
  FastStar<RoceEndpoint> u(2, fixed);
  REQUIRE(u.nic[1]->post({.id = 1, .qpn = 3, .bytes = 1'000'000}));
  u.fabric.run(10 * kMs);
  REQUIRE(u.heard.deliveries.size() == 1);
  // 244.1 packets of 4096 + 82 + 24 bytes at 10 Gb/s.
  CHECK(u.heard.delivered_at[0] > 800 * kUs);
  CHECK(u.heard.delivered_at[0] < 840 * kUs);
}

TEST_CASE("roce: under loss it falls behind what MRC does", "[sim][roce]") {
  const auto last = [](auto& t) {
    t.fabric.set_impairment(t.links[1], true, {.loss = 0.01});
    REQUIRE(t.nic[1]->post({.id = 1, .qpn = 3, .bytes = 4'000'000}));
    t.fabric.run(100 * kMs);
    REQUIRE(t.heard.deliveries.size() == 1);
    return t.heard.delivered_at[0];
  };
  FastStar<RoceEndpoint> roce(2, RoceConfig{});
  FastConfig config = FastConfig::for_fabric(100, 3 * kUs);
  config.timeout = 5;
  config.ev_min_active = 8;
  FastStar<FastEndpoint> mrc(2, config);
  CHECK(last(roce) > last(mrc));
}

}  // namespace mrc::test::endpoint_roce_test

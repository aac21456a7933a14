// SPDX-License-Identifier: Apache-2.0
// SystemC's kernel lives as long as the process; fabrics come and go in it, so all these tests may run in one process.
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include "sim/engine/fabric.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <systemc>

#include "sim/engine/kernel.hpp"
#include "sim/engine/systemc.hpp"
#include "tests/sim/box.hpp"
#include "tests/sim/engine/synthetic.hpp"
#include "tests/sim/engine/two_tier.hpp"

namespace mrc::test::fabric_test {

using namespace mrc::sim;

namespace {
constexpr uint8_t kData = wire::kDscpTrimmable;
constexpr LinkConfig kShort{.gbps = 100, .metres = 0};
SwitchConfig plain() {
  SwitchConfig config = SwitchConfig::recommended("sw", 1 << 20);
  config.latency = 0;
  return config;
}
/// Hash of everything that goes over all links.
class Log final : public Tap {
 public:
  explicit Log(Fabric& fabric) {
    for (LinkId l = 0; l < fabric.links(); ++l) {
      fabric.set_tap(l, true, this);
      fabric.set_tap(l, false, this);
    }
  }
  void sent(LinkId link, bool from_a, Time start, const Packet& p, bool lost) override {
    for (const uint64_t v : {uint64_t{link}, uint64_t{from_a}, start, uint64_t{p.entropy}, uint64_t{p.size},
                             uint64_t{p.ecn}, uint64_t{p.dscp}, uint64_t{lost}}) {
      hash = Rng::hash(hash ^ v);
    }
    ++packets;
  }
  uint64_t hash = 0, packets = 0;
};
}  // namespace

TEST_CASE("links that cannot be are refused with their reason", "[sim][fabric]") {
  Fabric fabric;
  CHECK(fabric.add_endpoint("none", std::make_unique<Box>(), 0).error().what == "0 planes are not between 1 and 64");
  (void)fabric.add_endpoint("a", std::make_unique<Box>(), 1);
  CHECK(fabric.add_switch(plain(), 0).error().what == "0 ports are not between 1 and 4096");
  const NodeId sw = *fabric.add_switch(plain(), 2);
  const auto why = [&](PortRef a, PortRef b, const LinkConfig& config) {
    const auto result = fabric.connect(a, b, config);
    return result ? std::string() : result.error().input + ": " + result.error().what;
  };
  CHECK(why({0, 0}, {9, 0}, {}) == "link: there is no node 9");
  CHECK(why({0, 1}, {sw, 0}, {}) == "a: there is no port 1, the node has 1");
  CHECK(why({sw, 0}, {sw, 1}, {}) == "sw - sw: a link between ports of one node");
  CHECK(why({0, 0}, {sw, 0}, {.gbps = 0}) == "a - sw: the rate is not above 0");
  CHECK(why({0, 0}, {sw, 0}, {.gbps = -1}) == "a - sw: the rate is not above 0");
  CHECK(why({0, 0}, {sw, 0}, {.metres = -1}) == "a - sw: the length is not between 0 and 1e9 metres");
  CHECK(why({0, 0}, {sw, 0}, {}).empty());
  CHECK(why({0, 0}, {sw, 1}, {}) == "a: port 0 has a link already");
  CHECK(fabric.set_rate(0, 0)->what == "the rate is not above 0");
  CHECK(fabric.reboot(0, 1)->what == "is not a switch");
  CHECK(fabric.reboot(7, 1)->what == "is not a switch");
  CHECK(fabric.find("sw") == sw);
  CHECK_FALSE(fabric.find("x"));
  CHECK(fabric.link_at({sw, 0}) == 0);
  CHECK(fabric.link_at({sw, 1}) == kNone);
  CHECK(fabric.link_at({9, 1}) == kNone);
}

TEST_CASE("rates are exact where nanoseconds per byte are", "[sim][units]") {
  CHECK(Rate::gbps(800).time(4258) == 42'580);
  CHECK(Rate::gbps(100).time(84) == 6'720);
  CHECK(Rate::gbps(400).time(1) == 20);
  CHECK(Rate::gbps(25).time(1) == 320);
  CHECK_FALSE(Rate::gbps(0).valid());
  CHECK(wire_bytes(4234) == 4258);  // base.md: WRITE of 4096 bytes with SRv6
  CHECK(wire_bytes(20) == 84);
}

TEST_CASE("run() says why it came back, and goes on where it was", "[sim][fabric]") {
  Star star(2, plain(), kShort);
  star[0].send(1, 1000, kData);
  star[0].send(1, 1000, kData);
  // The first arrives after 2 x 80.96 ns, the second 81.92 ns later.
  CHECK(star.fabric.run(2UL * 1012 * 80) == RunEnd::Reached);
  CHECK(star[1].got.empty());
  CHECK(star.fabric.now() == 2UL * 1012 * 80);
  CHECK(star.fabric.run(2UL * 1012 * 80 + 1) == RunEnd::Reached);
  CHECK(star[1].got.size() == 1);
  star[1].on_receive = [&] { star.fabric.stop(); };
  CHECK(star.fabric.run(kMs) == RunEnd::Stopped);
  CHECK(star.fabric.now() == (2UL * 1012 + 1024) * 80);
  CHECK(star.fabric.run(kMs) == RunEnd::Idle);
  star[0].send(1, 1000, kData);
  star[1].on_receive = nullptr;
  CHECK(star.fabric.run(kSecond) == RunEnd::Idle);
  CHECK(star[1].got.size() == 3);
}

TEST_CASE("in slices or in one go: the same", "[sim][fabric][deterministic]") {
  uint64_t hash[2];
  for (const unsigned sliced : {0u, 1u}) {
    Star star(4, SwitchConfig::recommended("sw", 20'000));
    Log log(star.fabric);
    for (unsigned n = 0; n < 3; ++n) {
      for (unsigned i = 0; i < 100; ++i) star[n].send(3, 1000 + 100 * n, kData);
    }
    if (sliced) {
      for (Time t = 0; t < 100 * kUs; t += 777) star.fabric.run(t);
    }
    star.fabric.run(kMs);
    CHECK(log.packets ==
          300 + star.sw().queue_counters(3, kQueueData).packets + star.sw().queue_counters(3, 0).packets);
    hash[sliced] = log.hash;
  }
  CHECK(hash[0] == hash[1]);
}

TEST_CASE("the same seed gives the same run, another seed another one", "[sim][fabric][deterministic]") {
  const auto run = [](uint64_t seed) {
    Fabric fabric({.seed = seed});
    TwoTier net(fabric, {.leaves = 4, .spines = 2, .hosts_per_leaf = 4, .planes = 2, .gbps = 100, .plane_bdp = 40'000});
    std::vector<Synthetic*> nics;
    for (unsigned h = 0; h < 16; ++h) {
      auto nic = std::make_unique<Synthetic>(SyntheticConfig{.packets = 200});
      nics.push_back(nic.get());
      net.add_host(h, std::move(nic));
    }
    for (unsigned h = 0; h < 16; ++h) {
      const unsigned to = (h * 7 + 5) % 16;
      nics[h]->to({net.path(h, to, 0, h % 2), net.path(h, to, 1, 0)}, net.host(to));
    }
    Log log(fabric);
    for (LinkId l = 0; l < fabric.links(); l += 5) fabric.set_impairment(l, true, {.loss = 0.05});
    fabric.at(10 * kUs, [&] { fabric.set_link(3, false); });
    fabric.at(20 * kUs, [&] { fabric.set_link(3, true); });
    fabric.run(kMs);
    CHECK(fabric.pool().live() == 0);
    return log.hash;
  };
  const uint64_t first = run(1);
  CHECK(run(1) == first);
  CHECK(run(2) != first);
}

TEST_CASE("hooks come at their time, before packets, in the order given", "[sim][fabric]") {
  Star star(2, plain(), kShort);
  std::vector<int> order;
  star[1].on_receive = [&] { order.push_back(9); };
  const Time arrival = 2UL * 1012 * 80;
  star[0].send(1, 1000, kData);
  star.fabric.at(arrival, [&] {
    order.push_back(1);
    star.fabric.at(arrival, [&] { order.push_back(3); });
  });
  star.fabric.at(arrival, [&] { order.push_back(2); });
  star.fabric.run(kMs);
  CHECK(order == std::vector<int>{1, 2, 3, 9});
}

TEST_CASE("an endpoint has one timer, the last one set", "[sim][endpoint]") {
  Star star(1, plain(), kShort);
  Box& box = star[0];
  box.access.wake_at(5 * kUs);
  box.access.wake_at(3 * kUs);
  star.fabric.run(4 * kUs);
  CHECK(box.wakes == std::vector<Time>{3 * kUs});
  box.access.wake_at(6 * kUs);
  box.access.wake_at(kNever);
  star.fabric.run(10 * kUs);
  CHECK(box.wakes.size() == 1);
  box.on_wake = [&] {
    if (box.wakes.size() < 5) box.access.wake_at(box.access.now() + kNs);
  };
  box.access.wake_at(20 * kUs);
  star.fabric.run(30 * kUs);
  CHECK(box.wakes.size() == 5);
  CHECK(box.wakes.back() == 20 * kUs + 3 * kNs);
}

TEST_CASE("the host of a node has one timer too: behind all else of that node and time, the last one set",
          "[sim][endpoint]") {
  struct Host final : Listener {
    Fabric* fabric = nullptr;
    std::vector<std::pair<Time, NodeId>> heard;
    size_t wakes = 0;  // of the NIC, when the host heard first
    Box* box = nullptr;
    void due(NodeId node) override {
      if (heard.empty()) wakes = box->wakes.size();
      heard.emplace_back(fabric->now_at(node), node);
      if (heard.size() == 1) fabric->due_at(node, fabric->now_at(node) + 5 * kNs);
    }
  };
  Fabric fabric;
  Host host;
  host.fabric = &fabric;
  auto owned = std::make_unique<Box>();
  host.box = owned.get();
  const NodeId a = *fabric.add_endpoint("a", std::move(owned), 1);
  const NodeId b = *fabric.add_endpoint("b", std::make_unique<Box>(), 1);
  fabric.due_at(a, 7 * kNs);  // nobody listens yet, and it is replaced
  fabric.due_at(a, 10 * kNs);
  fabric.due_at(b, 20 * kNs);
  fabric.due_at(b, kNever);
  fabric.listen(&host);
  host.box->access.wake_at(10 * kNs);
  fabric.at(12 * kNs, [&] { fabric.due_at(b, 3 * kNs); });  // in the past: now
  CHECK(fabric.run(kUs) == RunEnd::Idle);
  CHECK(host.heard == std::vector<std::pair<Time, NodeId>>{{10 * kNs, a}, {12 * kNs, b}, {15 * kNs, a}});
  CHECK(host.wakes == 1);
}

TEST_CASE("a port asks when it can take a packet, and after null only when kicked", "[sim][endpoint]") {
  Star star(2, plain(), kShort);
  unsigned requested = 0;
  star[0].on_pull = [&] { ++requested; };
  star.fabric.run(kUs);
  CHECK(requested == 1);  // the kick of start()
  star[0].send(1, 1000, kData);
  CHECK(requested == 2);
  CHECK_FALSE(star[0].access.can_send(0));
  CHECK(star[0].access.free_at(0) == 1024UL * 80);  // nothing has happened yet
  star[0].access.kick(0);
  CHECK(requested == 2);
  star.fabric.run(2 * kUs);
  CHECK(requested == 3);
  CHECK(star[0].access.can_send(0));
}

TEST_CASE("a link that goes down loses what is on the wire and discards what waits", "[sim][events]") {
  const Time detect = GENERATE(Time{0}, 500 * kNs);
  Star star(3, plain(), {.gbps = 100, .metres = 200, .detect = detect});
  for (unsigned i = 0; i < 10; ++i) {
    star[0].send(2, 1000, kData);
    star[1].send(2, 1000, kData);
  }
  // 1 us of fibre. Each of 20 packets takes 81.92 ns; the first arrives at 2161.92 ns.
  const Time cut = 2400 * kNs;
  star.fabric.at(cut, [&] { star.fabric.set_link(2, false); });
  star.fabric.at(cut + kUs, [&] {
    CHECK(star.sw().depth(2, kQueueData) == 0);
    CHECK_FALSE(star[2].access.link_up(0));
    CHECK_FALSE(star.fabric.link_up(2));
    star.fabric.set_link(2, true);
  });
  star.fabric.at(6 * kUs, [&] { star[0].send(2, 999, kData); });
  star.fabric.run(kMs);
  CHECK(star[2].changes == std::vector<std::pair<Time, bool>>{{cut + detect, false}, {cut + kUs + detect, true}});
  CHECK(star[0].changes.empty());
  // 2161.92 + 81.92 k <= 2400: k = 0 .. 2.
  REQUIRE(star[2].got.size() == 4);
  CHECK(star[2].got.back().packet.size == 999);
  const LinkStats stats = star.fabric.stats(2, false);
  const QueueCounters queue = star.sw().queue_counters(2, kQueueData);
  CHECK(stats.packets == queue.packets);
  CHECK(stats.lost == stats.packets - 4);
  CHECK(queue.packets + queue.dropped_packets == 21);
  // Started by 2400 ns at the switch: from 1080.96 on, (2400 - 1080.96) / 81.92 = 16.1: 17 packets; 6 more in 500 ns
  // of not knowing, but only 3 are left.
  CHECK(queue.dropped_packets == (detect == 0 ? 3 : 0));
  CHECK(value(star.sw().port_counters(2), "SAI_PORT_STAT_IF_IN_UCAST_PKTS") == 0);
  CHECK(star.fabric.pool().live() == 0);
}

TEST_CASE("what is routed to a link that is down is discarded at that port", "[sim][events]") {
  Star star(3, plain(), kShort);
  star.fabric.set_link(2, false);
  star[0].send(2, 1000, kData);
  star.fabric.run(kMs);
  CHECK(value(star.sw().port_counters(2), "SAI_PORT_STAT_IF_OUT_DISCARDS") == 1);
  CHECK(star.sw().queue_counters(2, kQueueData).dropped_packets == 0);
}

TEST_CASE("an endpoint's port takes nothing while it is down and asks when it is up", "[sim][events]") {
  Star star(2, plain(), kShort);
  star.fabric.run(kUs);
  star.fabric.set_link(0, false);
  star[0].send(1, 1000, kData);
  star.fabric.run(2 * kUs);
  CHECK(star.fabric.stats(0, true).packets == 0);
  star.fabric.set_link(0, true);
  star.fabric.run(3 * kUs);
  CHECK(star[1].got.size() == 1);
}

TEST_CASE("a link that flaps within its detection time is not noticed, but loses packets", "[sim][events]") {
  Star star(2, plain(), {.gbps = 100, .metres = 100, .detect = kUs});
  star.fabric.at(10 * kUs, [&] { star.fabric.set_link(1, false); });
  star.fabric.at(10 * kUs + 200 * kNs, [&] { star.fabric.set_link(1, true); });
  star.fabric.at(10 * kUs - 600 * kNs, [&] { star[0].send(1, 1000, kData); });
  star.fabric.run(kMs);
  CHECK(star[1].changes.empty());
  CHECK(star[1].got.empty());
  CHECK(star.fabric.stats(1, false).lost == 1);
}

TEST_CASE("a lossy link loses its share, of one EV only if told so", "[sim][events]") {
  Star star(2, plain(), kShort);
  const bool one_ev = GENERATE(false, true);
  Impairment impairment{.loss = 0.2};
  if (one_ev) impairment.entropy = 3;
  star.fabric.set_impairment(0, true, impairment);
  for (unsigned i = 0; i < 20'000; ++i) star[0].send(1, 100, kData).entropy = i % 4;
  star.fabric.run(10 * kMs);
  std::array<unsigned, 4> got{};
  for (const Got& g : star[1].got) ++got[g.packet.entropy];
  // Of 5000: 1000 lost, standard deviation 28; five of them.
  for (unsigned ev = 0; ev < 4; ++ev) {
    if (one_ev && ev != 3)
      CHECK(got[ev] == 5000);
    else
      CHECK((got[ev] > 3860 && got[ev] < 4140));
  }
  CHECK(star.fabric.stats(0, true).lost == 20'000 - star[1].got.size());
  CHECK(value(star.sw().port_counters(0), "SAI_PORT_STAT_IF_IN_UCAST_PKTS") == star[1].got.size());
  star.fabric.set_impairment(0, true, {});
  star[1].got.clear();
  for (unsigned i = 0; i < 1'000; ++i) star[0].send(1, 100, kData);
  star.fabric.run(20 * kMs);
  CHECK(star[1].got.size() == 1'000);
}

TEST_CASE("a slow link is slow in both directions, from the next packet on", "[sim][events]") {
  Star star(2, plain(), kShort);
  star[0].send(1, 1000, kData);
  star[0].send(1, 1000, kData);
  star.fabric.at(1, [&] { CHECK_FALSE(star.fabric.set_rate(0, 10)); });
  star.fabric.run(kMs);
  REQUIRE(star[1].got.size() == 2);
  CHECK(star[1].got[0].time == 2UL * 1012 * 80);
  CHECK(star[1].got[1].time == 1024 * 80 + 1012 * 800 + 1012 * 80);
}

TEST_CASE("a switch that reboots loses everything in it, is away, and comes back with its counters", "[sim][events]") {
  Star star(3, plain(), {.gbps = 100, .metres = 2, .detect = 300 * kNs});
  for (unsigned i = 0; i < 10; ++i) {
    star[0].send(2, 4000, kData);
    star[1].send(2, 4000, kData);
  }
  star.fabric.at(2 * kUs, [&] {
    star.fabric.set_link(1, false);  // down for itself: stays down
    CHECK(star.sw().buffer().used > 0);
    CHECK_FALSE(star.fabric.reboot(star.node, 10 * kUs));
    CHECK(star.sw().buffer().used == 0);
  });
  star.fabric.at(5 * kUs, [&] {
    for (unsigned n = 0; n < 3; ++n) CHECK_FALSE(star[n].access.link_up(0));
  });
  star.fabric.at(20 * kUs, [&] {
    CHECK(star[0].access.link_up(0));
    CHECK_FALSE(star[1].access.link_up(0));
    star[0].send(2, 999, kData);
  });
  star.fabric.run(kMs);
  const std::vector<std::pair<Time, bool>> expected{{2300 * kNs, false}, {12'300 * kNs, true}};
  CHECK(star[0].changes == expected);
  CHECK(star[2].changes == expected);
  CHECK(star[1].changes.size() == 1);
  CHECK(star[2].got.back().packet.size == 999);
  CHECK(star.sw().queue_counters(2, kQueueData).packets > 1);
  // 2 us are 6 packets of 322 ns; nothing more than what was sent before and what waited at box 0 comes through.
  CHECK(star.fabric.pool().live() == 10 - static_cast<int64_t>(star.fabric.stats(1, true).packets));
}

TEST_CASE("a second reboot during the first lasts to its own end", "[sim][events]") {
  Star star(1, plain(), kShort);
  star.fabric.at(1 * kUs, [&] { (void)star.fabric.reboot(star.node, 10 * kUs); });
  star.fabric.at(5 * kUs, [&] { (void)star.fabric.reboot(star.node, 10 * kUs); });
  star.fabric.run(kMs);
  CHECK(star[0].changes == std::vector<std::pair<Time, bool>>{{1 * kUs, false}, {15 * kUs, true}});
}

TEST_CASE("ECMP goes around a link when the switch has noticed", "[sim][events][ecmp]") {
  Fabric fabric;
  auto a = std::make_unique<Box>(), b = std::make_unique<Box>();
  Box &from = *a, &to = *b;
  (void)fabric.add_endpoint("a", std::move(a), 1);
  (void)fabric.add_endpoint("b", std::move(b), 1);
  const NodeId left = *fabric.add_switch(plain(), 5), right = *fabric.add_switch(plain(), 5);
  (void)fabric.connect({0, 0}, {left, 0}, kShort);
  (void)fabric.connect({1, 0}, {right, 0}, kShort);
  for (unsigned p = 1; p < 5; ++p) {
    (void)fabric.connect({left, p}, {right, p}, {.gbps = 100, .metres = 0, .detect = 2 * kUs});
  }
  fabric.switch_at(left)->add_host_route(1, {1, 2, 3, 4});
  fabric.switch_at(right)->add_host_route(1, {0});
  const auto burst = [&] {
    for (uint32_t ev = 0; ev < 100; ++ev) from.send(1, 60, kData).entropy = ev;
  };
  burst();
  fabric.at(10 * kUs, [&] {
    CHECK(to.got.size() == 100);
    for (LinkId l = 2; l < 6; ++l) CHECK(fabric.stats(l, true).packets > 10);
    fabric.set_link(2, false);
  });
  fabric.at(20 * kUs, burst);
  fabric.run(kMs);
  CHECK(to.got.size() == 200);
}

TEST_CASE("an incast is trimmed and nothing is lost without a trace", "[sim][fabric]") {
  Star star(9, SwitchConfig::recommended("sw", 100'000));
  for (unsigned n = 0; n < 8; ++n) {
    for (unsigned i = 0; i < 200; ++i) star[n].send(8, 4234, kData);
  }
  star.fabric.run(10 * kMs);
  const QueueCounters data = star.sw().queue_counters(8, kQueueData);
  const QueueCounters control = star.sw().queue_counters(8, kQueueControl);
  CHECK(data.trim > 800);
  CHECK(data.packets + data.trim == 1600);
  CHECK(control.packets == data.tx_trim);
  CHECK(star[8].got.size() + data.dropped_trim == 1600);
  CHECK(data.watermark_bytes <= 100'000);
  CHECK(star.fabric.pool().live() == 0);
}

TEST_CASE("packets only: the packet engine is one event of SystemC, however long it runs", "[sim][systemc]") {
  Star star(2, plain(), kShort);
  for (unsigned i = 0; i < 1000; ++i) star[0].send(1, 1000, kData);
  const uint64_t before = Kernel::instance().activations();
  star.fabric.run(kMs);
  CHECK(star[1].got.size() == 1000);
  CHECK(Kernel::instance().activations() - before <= 3);
}

TEST_CASE("a clocked process of SystemC sends and hears at the right times", "[sim][systemc]") {
  Star star(2, plain(), kShort);
  struct Clock {
    Star& star;
    unsigned ticks = 0;
    std::vector<Time> seen;
    void tick() {
      FromProcess here(star.fabric);
      if (ticks++ % 100 == 0) star[0].send(1, 1000, kData);
      seen.push_back(star.fabric.now());
    }
  } clock{star, 0, {}};
  sc_core::sc_event edge, heard;
  sc_core::sc_spawn_options clocked, waiting;
  clocked.spawn_method();
  clocked.set_sensitivity(&edge);
  clocked.dont_initialize();
  waiting.spawn_method();
  waiting.set_sensitivity(&heard);
  waiting.dont_initialize();
  std::vector<uint64_t> heard_at;
  const uint64_t zero = Kernel::time_ps();
  auto process = sc_core::sc_spawn(
      [&] {
        clock.tick();
        if (clock.ticks < 1000) edge.notify(sc_core::sc_time(1, sc_core::SC_NS));
      },
      "clock", &clocked);
  auto listener = sc_core::sc_spawn([&] { heard_at.push_back(Kernel::time_ps() - zero); }, "listener", &waiting);
  star[1].on_receive = [&] { star.fabric.notify(heard, star.fabric.now() + 7); };
  edge.notify(sc_core::sc_time(1, sc_core::SC_NS));
  CHECK(star.fabric.run(kMs) == RunEnd::Idle);
  REQUIRE(clock.seen.size() == 1000);
  for (unsigned i = 0; i < 1000; ++i) REQUIRE(clock.seen[i] == (i + 1) * kNs);
  REQUIRE(star[1].got.size() == 10);
  REQUIRE(heard_at.size() == 10);
  for (unsigned i = 0; i < 10; ++i) {
    CHECK(star[1].got[i].time == (1 + 100 * i) * kNs + 2UL * 1012 * 80);
    CHECK(heard_at[i] == star[1].got[i].time + 7);
  }
  process.kill();
  listener.kill();
}

TEST_CASE("fabrics follow each other in one process, each from time 0", "[sim][systemc]") {
  for (unsigned i = 0; i < 50; ++i) {
    Star star(2, plain(), kShort);
    star[0].send(1, 1000, kData);
    star.fabric.run(i % 2 ? kMs : 100 * kNs);
    if (i % 2) {
      REQUIRE(star[1].got.size() == 1);
      REQUIRE(star[1].got[0].time == 2UL * 1012 * 80);
    }
  }
}

TEST_CASE("two tiers of SRv6: every packet arrives, by the path that was chosen", "[sim][fabric]") {
  Fabric fabric;
  TwoTier net(fabric, {.leaves = 4, .spines = 4, .hosts_per_leaf = 4, .planes = 2, .gbps = 400});
  std::vector<Synthetic*> nics;
  for (unsigned h = 0; h < 16; ++h) {
    auto nic = std::make_unique<Synthetic>(SyntheticConfig{.packets = 400});
    nics.push_back(nic.get());
    net.add_host(h, std::move(nic));
  }
  for (unsigned h = 0; h < 16; ++h) nics[h]->to({net.path(h, (h + 4) % 16, 0, h % 4)}, net.host((h + 4) % 16));
  fabric.run(kSecond);
  for (unsigned h = 0; h < 16; ++h) {
    CHECK(nics[h]->received == 400);
    CHECK(nics[h]->answers == 100);
    CHECK(nics[h]->trimmed == 0);
  }
}

TEST_CASE("memory of an idle fabric: 1024 NICs of 8 planes in two tiers stay below 100 MB", "[sim][fabric][memory]") {
  Fabric fabric;
  const TwoTierConfig config{.leaves = 32, .spines = 32, .hosts_per_leaf = 32, .planes = 8, .gbps = 100};
  TwoTier net(fabric, config);
  for (unsigned h = 0; h < config.hosts(); ++h) net.add_host(h, std::make_unique<Synthetic>(SyntheticConfig{}));
  CHECK(fabric.links() == 8UL * (1024 + 32 * 32));
  CHECK(fabric.memory() < 100'000'000);
}

}  // namespace mrc::test::fabric_test

// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/topology.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <map>
#include <set>

#include "protocol/srv6.hpp"
#include "tests/sim/box.hpp"
#include "util/rng.hpp"

namespace mrc::test::topology_test {

using namespace mrc::sim;

namespace {
Topology from(const std::string& text) { return Topology(parse_topology(text, "t.toml")); }
constexpr const char* kSmall = "leaves = 3\nhosts_per_leaf = 3\nhosts = 8\nspines = 3\nplanes = 2\ngbps = 100\n";
/// Three pods of two T0 and three T1; two T2 in each of three groups; one NIC missing.
constexpr const char* kThree =
    "kind = \"clos3\"\nrouting = \"ecmp\"\nhosts = 17\nhosts_per_leaf = 3\nspines = 3\npod_leaves = 2\ncores = 6\n"
    "planes = 2\ngbps = 100\n";
constexpr const char* kSingle = "kind = \"single\"\nhosts = 5\nplanes = 4\ngbps = 200\n";

struct Built {
  explicit Built(const std::string& text) : topology(from(text)) {
    topology.build(fabric, [&](NodeId) {
      auto one = std::make_unique<Box>();
      box.push_back(one.get());
      return one;
    });
  }
  Topology topology;
  Fabric fabric;
  std::vector<Box*> box;
};
}  // namespace

TEST_CASE("numbers of a topology follow from each other", "[sim][topology]") {
  {
    const Topology t = from("radix = 64\n");
    CHECK(t.hosts_per_leaf() == 32);
    CHECK(t.spines() == 32);
    CHECK(t.leaves() == 64);
    CHECK(t.hosts() == 2048);
    CHECK(t.bisection_gbps() == 1024 * 800.0);
  }
  {  // three times as much down as up: 48 and 16 of 64 ports
    const Topology t = from("radix = 64\noversubscription = 3\nhosts = 100\n");
    CHECK(t.hosts_per_leaf() == 48);
    CHECK(t.spines() == 16);
    CHECK(t.leaves() == 3);
    CHECK(t.hosts() == 100);
    CHECK(t.bisection_gbps() == 800.0 * 16 * 3 / 2);
  }
  {  // uplinks twice as fast: half as many
    const Topology t = from("hosts = 32\nhosts_per_leaf = 8\ngbps = 400\nuplink_gbps = 800\n");
    CHECK(t.leaves() == 4);
    CHECK(t.spines() == 4);
  }
  {
    const Topology t = from(kSingle);
    CHECK_FALSE(t.clos());
    CHECK(t.switches() == 4);
    CHECK(t.links() == 20);
    CHECK(t.nic_gbps() == 800);
    CHECK(t.bisection_gbps() == 2 * 800);
  }
  // The paper's: 512 T0 of 256 NICs, 256 T1, 8 planes of 100G. Numbers only: nothing is built.
  const Topology t = from("planes = 8\ngbps = 100\nradix = 512\nleaves = 256\nhosts_per_leaf = 256\nspines = 256\n");
  CHECK(t.hosts() == 65536);
  CHECK(t.nic_gbps() == 800);
}

TEST_CASE("three tiers follow from the ports of a switch", "[sim][topology]") {
  const Topology t = from("kind = \"clos3\"\nrouting = \"ecmp\"\nradix = 64\n");
  CHECK(t.hosts() == 65536);
  CHECK(t.in_tier(0) == 2048);
  CHECK(t.in_tier(1) == 2048);
  CHECK(t.in_tier(2) == 1024);
  CHECK(t.pods() == 64);
  CHECK(t.links() == 3 * 65536);
  CHECK(t.bisection_gbps() == 800.0 * 32768);
  CHECK(t.hops() == 6);
  // Twice as much down as up in both tiers.
  const Topology o = from("kind = \"clos3\"\nrouting = \"ecmp\"\nradix = 48\noversubscription = 2\npod_leaves = 32\n");
  CHECK(o.hosts_per_leaf() == 32);
  CHECK(o.spines() == 16);
  CHECK(o.in_tier(2) == 256);
  CHECK(o.bisection_gbps() == 800.0 * 256 * 48 / 2);
}

TEST_CASE("names lead to nodes and links, and back", "[sim][topology]") {
  const Topology t = from(GENERATE(kSmall, kSingle, kThree));
  for (NodeId n = 0; n < t.hosts() + t.switches(); ++n) CHECK(t.find_node(t.node_name(n)) == n);
  for (LinkId l = 0; l < t.links(); ++l) CHECK(t.find_link(t.link_name(l)) == l);
  for (const char* name : {"nic", "nic8", "nic-1", "T0-2-0", "T0-0-3", "T2-0-0", "T0-0", "", "nic0/9", "nic0/",
                           "nic0:nic1", "T0-0-0:T0-0-1", "T0-0-0:T1-1-0", "T1-9-9:T0-0-0", "nic3:T0-0-0x"}) {
    if (t.tiers() == 2) CHECK((t.find_node(name) == kNone && t.find_link(name) == kNone));
  }
  if (t.clos()) CHECK(t.find_link("T1-1-2:T0-1-0") == t.uplink(1, 0, 2));
  if (t.tiers() < 3) return;
  CHECK(t.link_name(t.uplink(1, 3, 2)) == "T0-1-3:T1-1-5");
  CHECK(t.link_name(t.core_link(1, 2, 3)) == "T1-1-7:T2-1-3");
  for (const char* name : {"T0-0-0:T1-0-3", "T1-0-0:T2-0-2", "T0-0-0:T2-0-0", "T1-0-0:T2-1-0"}) {
    CHECK(t.find_link(name) == kNone);
  }
  if (t.clos()) CHECK(t.find_link("T0-1-2:nic7") == t.host_link(7, 1));
}

TEST_CASE("the fabric is wired as the topology says", "[sim][topology]") {
  Built b(GENERATE(kSmall, kSingle, kThree));
  const Topology& t = b.topology;
  REQUIRE(b.fabric.nodes() == t.hosts() + t.switches());
  REQUIRE(b.fabric.links() == t.links());
  for (NodeId n = 0; n < b.fabric.nodes(); ++n) CHECK(b.fabric.name(n) == t.node_name(n));
  for (NodeId h = 0; h < t.hosts(); ++h) {
    for (unsigned p = 0; p < t.planes(); ++p) CHECK(b.fabric.link_at({h, p}) == t.host_link(h, p));
  }
  for (unsigned p = 0; p < t.planes(); ++p) {
    for (unsigned l = 0; l < t.leaves(); ++l) {
      for (unsigned s = 0; s < t.spines(); ++s) {
        CHECK(b.fabric.link_at({t.leaf(p, l), t.hosts_per_leaf() + s}) == t.uplink(p, l, s));
        const unsigned pod = l / t.pod_leaves();
        CHECK(b.fabric.link_at({t.spine(p, pod * t.spines() + s), l % t.pod_leaves()}) == t.uplink(p, l, s));
      }
    }
    for (unsigned c = 0; c < t.in_tier(2); ++c) {
      for (unsigned pod = 0; pod < t.pods(); ++pod) {
        CHECK(b.fabric.link_at({t.core(p, c), pod}) == t.core_link(p, pod, c));
        CHECK(b.fabric.link_at({t.spine(p, pod * t.spines() + c / t.core_links()),
                                t.pod_leaves() + c % t.core_links()}) == t.core_link(p, pod, c));
      }
    }
  }
}

// Locator 2001:db8; two planes leave 13 bits: plane at bit 13. T0 0x4000, T1 0x8000, downlinks 0xc000.
TEST_CASE("templates and rule give the addresses worked out by hand", "[sim][topology][usid]") {
  const Topology t = from(kSmall);
  const U128 far = t.path_template(1, 7);  // T0 0 to T0 2, downlink 1
  CHECK(static_cast<uint64_t>(far >> 64) == 0x2001'0db8'4000'8000u);
  CHECK(static_cast<uint64_t>(far) == 0x4002'c001'0000'0000u);
  const U128 path = srv6_address(far, 1, 0xabcd'1236, t.path_rule());  // uplink 2: low two bits
  CHECK(static_cast<uint64_t>(path >> 64) == 0x2001'0db8'6000'a002u);
  CHECK(static_cast<uint64_t>(path) == 0x6002'e001'0000'0000u);
  const U128 near = t.path_template(3, 5);                             // both at T0 1
  CHECK(static_cast<uint64_t>(near >> 64) == 0x2001'0db8'4001'1000u);  // where uplinks go: number 0x1000
  CHECK(static_cast<uint64_t>(near) == 0xc002'0000'0000'0000u);
  const U128 here = srv6_address(near, 1, 3, t.path_rule());
  CHECK(static_cast<uint64_t>(here >> 64) == 0x2001'0db8'6001'3003u);
  CHECK(static_cast<uint64_t>(here) == 0xe002'0000'0000'0000u);
}

TEST_CASE("any entropy value takes its plane and uplink to the right NIC", "[sim][topology][usid]") {
  // Queues that hold all of it.
  Built b(std::string(GENERATE(kSmall, kSingle, "leaves = 4\nhosts_per_leaf = 2\nspines = 1\ngbps = 100\n")) +
          "bdp_kb = 10000\n");
  const Topology& t = b.topology;
  std::vector<uint32_t> active, backup;
  std::vector<unsigned> expected(t.hosts());
  const bool random = GENERATE(false, true);
  Rng rng(1, "test");
  for (NodeId from = 0; from < t.hosts(); ++from) {
    for (NodeId to = 0; to < t.hosts(); ++to) {
      if (from == to) continue;
      t.entropy(from, to, from * 100 + to, active, backup);
      active.insert(active.end(), backup.begin(), backup.end());
      // Values that a NIC makes itself (answers, probes of reverse paths) can be any.
      for (unsigned i = 0; random && i < 64; ++i) active.push_back(static_cast<uint32_t>(rng.next()));
      for (size_t i = 0; i < active.size(); ++i) {
        const auto plane = static_cast<unsigned>(i % t.planes());
        const U128 path = srv6_address(t.path_template(from, to), plane, active[i], t.path_rule());
        Packet& p = b.box[from]->send(to, 200, wire::kDscpTrimmable, plane);
        p.dst = {static_cast<uint64_t>(path >> 64), static_cast<uint64_t>(path)};
        p.stack = Stack::Srv6;
        p.entropy = active[i];
        p.dst_host = to;
        p.psn = plane;
        ++expected[to];
      }
    }
  }
  b.fabric.run(kSecond);
  for (NodeId h = 0; h < t.hosts(); ++h) {
    CHECK(b.box[h]->got.size() == expected[h]);
    for (const Got& got : b.box[h]->got) {
      if (got.packet.dst_host != h || got.packet.psn != got.plane) FAIL("a packet came to the wrong place");
    }
  }
  // Evenly: each uplink of a T0 has carried as many as any other, within the values that do not divide.
  for (unsigned p = 0; p < t.planes() && t.clos() && !random; ++p) {
    for (unsigned l = 0; l < t.leaves(); ++l) {
      std::set<uint64_t> counts;
      for (unsigned s = 0; s < t.spines(); ++s) counts.insert(b.fabric.stats(t.uplink(p, l, s), true).packets);
      CHECK(*counts.begin() > 0);
      CHECK(*counts.rbegin() - *counts.begin() <= *counts.rbegin() / 10);
    }
  }
}

TEST_CASE("with ECMP every NIC reaches every other one, over all uplinks", "[sim][topology][ecmp]") {
  const char* const text = GENERATE(kSmall, kSingle, kThree);
  Built b(text == kThree ? std::string(text) : text + std::string("routing = \"ecmp\"\n"));
  const Topology& t = b.topology;
  CHECK(t.encap() == Encap::Ipv6);
  for (NodeId from = 0; from < t.hosts(); ++from) {
    for (NodeId to = 0; to < t.hosts(); ++to) {
      for (uint32_t ev = 0; from != to && ev < 40; ++ev) {
        Packet& p = b.box[from]->send(to, 200, wire::kDscpTrimmable, ev % t.planes());
        p.entropy = ev * 0x9e3779b9u;
        p.dst_host = to;
      }
    }
  }
  b.fabric.run(kSecond);
  for (NodeId h = 0; h < t.hosts(); ++h) {
    CHECK(b.box[h]->got.size() == (t.hosts() - 1) * 40);
    for (const Got& got : b.box[h]->got) {
      if (got.packet.dst_host != h) FAIL("a packet came to the wrong place");
    }
  }
  for (LinkId l = t.hosts() * t.planes(); l < t.links(); ++l) CHECK(b.fabric.stats(l, true).packets > 0);
}

TEST_CASE("the time of an empty path is what a packet takes", "[sim][topology]") {
  const std::string text =
      GENERATE(std::string(kSmall), std::string(kSingle), std::string(kSmall) + "uplink_gbps = 400\nport_ns = 30\n",
               std::string(kSmall) + "cut_through = true\n", std::string(kThree) + "core_metres = 500\n");
  Built b(text);
  const NodeId to = b.topology.hosts() - 1;
  Packet& p = b.box[0]->send(to, 4230, wire::kDscpTrimmable);
  if (b.topology.srv6()) {
    const U128 path = srv6_address(b.topology.path_template(0, to), 0, 0, b.topology.path_rule());
    p.dst = {static_cast<uint64_t>(path >> 64), static_cast<uint64_t>(path)};
    p.stack = Stack::Srv6;
  }
  p.dst_host = to;
  b.fabric.run(kSecond);
  REQUIRE(b.box[to]->got.size() == 1);
  CHECK(b.box[to]->got[0].time == b.topology.one_way(4230));
}

TEST_CASE("round trip and plane BDP by hand", "[sim][topology]") {
  // Single switch, 100G, 80 ps a byte: twice (1000 + 12 bytes, 10 ns of fibre, 100 ns FEC) and a switch of 500 ns.
  const Topology t = from("kind = \"single\"\nhosts = 2\ngbps = 100\n");
  CHECK(t.one_way(1000) == 2 * (1012 * 80 + 10'000 + 100'000) + 500'000);
  CHECK(from("kind = \"single\"\nhosts = 2\nbdp_kb = 77\n").plane_bdp() == 77'000);
}

TEST_CASE("settings of switches reach them", "[sim][topology]") {
  Built b(std::string(kSmall) +
          "bdp_kb = 100\ntrim_size = 256\nlasthop = false\nalpha = 0.5\nbuffer_mb = 2\nswitch_ns = 700\n");
  const SwitchConfig& sw = b.fabric.switch_at(b.topology.leaf(1, 0))->config();
  CHECK(sw.trim_size == 256);
  // Behind a routing header 128 bytes would end inside the BTH.
  for (const auto& [text, size] :
       {std::pair{"", 128u}, {"srh = true\n", 206u}, {"srh = true\ntrim_size = 150\n", 150u}}) {
    Built other(std::string(kSmall) + text);
    CHECK(other.fabric.switch_at(other.topology.leaf(1, 0))->config().trim_size == size);
  }
  CHECK(sw.to_host.trimmed_dscp == wire::kDscpTrimmed);
  CHECK(sw.buffer_bytes == 2'000'000);
  CHECK(sw.latency == 700 * kNs);
  CHECK(sw.to_switch.queue[kQueueData].alpha == 0.5);
  CHECK(sw.to_switch.queue[kQueueData].limit_bytes == 100'000);
  CHECK(sw.to_switch.queue[kQueueData].ecn.min_bytes == 20'000);
  CHECK(sw.to_switch.queue[kQueueData].ecn.max_bytes == 80'000);
  CHECK(sw.to_host.queue[kQueueData].ecn.mode == EcnConfig::Mode::Off);
  Built off(std::string(kSmall) + "trim = false\necn = false\n");
  const SwitchConfig& plain = off.fabric.switch_at(off.topology.leaf(0, 0))->config();
  CHECK_FALSE(plain.to_switch.queue[kQueueData].trim);
  CHECK(plain.to_switch.queue[kQueueData].ecn.mode == EcnConfig::Mode::Off);
  Built all(std::string(kSmall) + "ecn_to_nics = true\n");
  CHECK(all.fabric.switch_at(all.topology.leaf(0, 0))->config().to_host.queue[kQueueData].ecn.mode ==
        EcnConfig::Mode::Red);
}

TEST_CASE("pictures: every node of a small one, numbers of a large one", "[sim][topology][svg]") {
  const Topology small = from(GENERATE(kSmall, kThree));
  const std::string svg = topology_svg(small);
  for (NodeId n = 0; n < small.hosts() + small.switches(); ++n)
    CHECK(svg.find(">" + small.node_name(n) + "<") != std::string::npos);
  size_t lines = 0;
  for (size_t at = svg.find("<line"); at != std::string::npos; at = svg.find("<line", at + 1)) ++lines;
  CHECK(lines == small.links());
  const std::string large = topology_svg(from("radix = 128\n"));
  CHECK(large.size() < 5000);
  CHECK(large.find("64 T1 switches per plane") != std::string::npos);
  CHECK(large.find("nic0 .. nic8191") != std::string::npos);
  const std::string three = topology_svg(from("kind = \"clos3\"\nrouting = \"ecmp\"\nradix = 64\n"));
  CHECK(three.find("1024 T2 switches per plane, 64 ports down") != std::string::npos);
  CHECK(three.find("2048 T1 switches per plane, 32 ports down") != std::string::npos);
}

}  // namespace mrc::test::topology_test

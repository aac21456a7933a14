// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/traffic.hpp"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "sim/experiment/endpoints.hpp"

namespace mrc::test::traffic_test {

using namespace mrc::sim;

namespace {
constexpr const char* kTopology = "[topology]\nleaves = 4\nhosts_per_leaf = 4\nspines = 4\n";
Traffic make(const std::string& traffic, uint64_t seed = 1) {
  const Scenario s = parse_fabric_scenario(std::string(kTopology) + traffic, "s.toml");
  return make_traffic(s, Topology(s.topology), seed);
}
}  // namespace

TEST_CASE("a permutation: each sends once, each receives once, nobody to itself", "[sim][traffic]") {
  const std::string text = "[[traffic]]\npattern = \"permutation\"\nbytes = 5000\njitter_us = 3\n";
  std::set<std::string> shapes;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Traffic t = make(text, seed);
    REQUIRE(t.flows.size() == 16);
    std::set<NodeId> from, to;
    std::string shape;
    for (const Flow& f : t.flows) {
      CHECK(f.from != f.to);
      CHECK(f.bytes == 5000);
      CHECK(f.start <= 3 * kUs);
      from.insert(f.from);
      to.insert(f.to);
      shape += std::to_string(f.to) + " ";
    }
    CHECK(from.size() == 16);
    CHECK(to.size() == 16);
    shapes.insert(shape);
  }
  CHECK(shapes.size() == 20);
  for (const Flow& f : make("[[traffic]]\npattern = \"permutation\"\nshift = 5\n").flows)
    CHECK(f.to == (f.from + 5) % 16);
}

TEST_CASE("groups share the NICs out, each far from its neighbours", "[sim][traffic]") {
  const auto pairs = [](const std::string& keys) {
    std::set<std::pair<NodeId, NodeId>> set;
    for (const Flow& f : make("[[traffic]]\n" + keys).flows) set.insert({f.from, f.to});
    return set;
  };
  // 16 NICs: 0, 4, 8, 12 are one group, 1, 5, 9, 13 the next.
  const auto incast = pairs("pattern = \"incast\"\nnodes = 4\ngroups = 0\n");
  CHECK(incast ==
        std::set<std::pair<NodeId, NodeId>>{
            {4, 0}, {8, 0}, {12, 0}, {5, 1}, {9, 1}, {13, 1}, {6, 2}, {10, 2}, {14, 2}, {7, 3}, {11, 3}, {15, 3}});
  CHECK(pairs("pattern = \"ring\"\nnodes = 2\ngroups = 3\nfirst = 1\nstride = 2\n") ==
        std::set<std::pair<NodeId, NodeId>>{{1, 7}, {7, 1}, {3, 9}, {9, 3}, {5, 11}, {11, 5}});
  CHECK(pairs("pattern = \"alltoall\"\nnodes = 3\ngroups = 0\n").size() == 5UL * 6);
  const auto why = [&](const std::string& keys) -> std::string {
    try {
      make("[[traffic]]\n" + keys);
    } catch (const mrc::InputError& e) {
      return e.what();
    }
    return "nothing";
  };
  CHECK(why("pattern = \"ring\"\nnodes = 4\ngroups = 5\n").find("5 groups of 4 NICs each are more than the 16") !=
        std::string::npos);
  CHECK(why("pattern = \"ring\"\nnodes = 17\ngroups = 0\n").find("1 group of 17 NICs each are more than the 16") !=
        std::string::npos);
  CHECK(why("pattern = \"ring\"\ngroups = 2\n").find("groups without nodes") != std::string::npos);
  CHECK(why("pattern = \"permutation\"\ngroups = 2\n").find("a permutation in groups") != std::string::npos);
  CHECK(why("pattern = \"incast\"\nnodes = 4\nvictims = 1\ngroups = 2\n").find("victims of an incast in groups") !=
        std::string::npos);
}

TEST_CASE("an incast and its victims share no NIC", "[sim][traffic]") {
  const Traffic t =
      make("[[traffic]]\npattern = \"incast\"\nto = \"nic5\"\nnodes = 7\nfirst = 8\nvictims = 2\nlabel = \"x\"\n");
  REQUIRE(t.groups.size() == 2);
  CHECK(t.groups[0].label == "x");
  CHECK(t.groups[1].label == "x victim");
  REQUIRE(t.flows.size() == 9);
  std::set<NodeId> senders;
  for (unsigned i = 0; i < 7; ++i) {
    CHECK(t.flows[i].to == 5);
    CHECK(t.flows[i].group == 0);
    senders.insert(t.flows[i].from);
  }
  CHECK(senders == std::set<NodeId>{8, 9, 10, 11, 12, 13, 14});
  for (unsigned i = 7; i < 9; ++i) {
    CHECK(t.flows[i].to / 4 == 1);  // the receiver's T0
    CHECK(t.flows[i].to != 5);
    CHECK(t.flows[i].from / 4 != 1);
    CHECK(senders.insert(t.flows[i].from).second);
    CHECK(t.flows[i].group == 1);
  }
  CHECK(t.flows[7].to != t.flows[8].to);
}

TEST_CASE("members: first, stride, and around the end", "[sim][traffic]") {
  const Traffic t = make("[[traffic]]\npattern = \"incast\"\nto = \"nic2\"\nnodes = 5\nfirst = 14\nstride = 4\n");
  std::vector<NodeId> from;
  for (const Flow& f : t.flows) from.push_back(f.from);
  // 14, 18 = 2: the receiver, so the next; from there on by fours
  CHECK(from == std::vector<NodeId>{14, 3, 7, 11, 15});
}

TEST_CASE("a ring: 2 (n - 1) steps, each waits for what its sender has just received", "[sim][traffic]") {
  const Traffic t = make("[[traffic]]\npattern = \"ring\"\nnodes = 4\nfirst = 2\nbytes = 1001\n");
  REQUIRE(t.flows.size() == 6UL * 4);
  for (uint32_t f = 0; f < t.flows.size(); ++f) {
    const Flow& flow = t.flows[f];
    CHECK(flow.bytes == 251);  // a quarter, rounded up
    CHECK(flow.to == 2 + (flow.from - 2 + 1) % 4);
    CHECK(flow.waits == (f < 4 ? 0 : 1));
    CHECK(flow.next_on_delivery);
    REQUIRE(flow.next.size() == (f < 20 ? 1 : 0));
    if (f < 20) {
      CHECK(t.flows[flow.next[0]].from == flow.to);
      CHECK(flow.next[0] / 4 == f / 4 + 1);
    }
  }
}

TEST_CASE("all to all: every pair once, so many steps at a time", "[sim][traffic]") {
  const Traffic t = make("[[traffic]]\npattern = \"alltoall\"\nnodes = 6\nbytes = 100\nwindow = 2\n");
  REQUIRE(t.flows.size() == 30);
  std::set<std::pair<NodeId, NodeId>> pairs;
  unsigned free = 0;
  for (const Flow& f : t.flows) {
    CHECK(f.from != f.to);
    pairs.emplace(f.from, f.to);
    free += f.waits == 0;
    for (const uint32_t n : f.next) CHECK(t.flows[n].from == f.from);
  }
  CHECK(pairs.size() == 30);
  CHECK(free == 12);
}

TEST_CASE("a trace", "[sim][traffic]") {
  const auto file = std::filesystem::temp_directory_path() / ("mrc_traffic_test" + std::to_string(::getpid()) + ".csv");
  std::ofstream(file) << "id,start_us,from,to,bytes,after\n# comment\n\nx,1.5,nic0,nic9,100,\r\ny, 0 "
                         ",nic9,nic1,200,x\nz,0,nic3,nic4,300,x;y\n";
  const Traffic t = make("[[traffic]]\npattern = \"trace\"\nfile = \"" + file.string() + "\"\n");
  std::filesystem::remove(file);
  REQUIRE(t.flows.size() == 3);
  CHECK(t.flows[0].start == 1'500'000);
  CHECK(t.flows[1].from == 9);
  CHECK(t.flows[1].bytes == 200);
  CHECK(t.flows[1].waits == 1);
  CHECK(t.flows[2].waits == 2);
  CHECK(t.flows[0].next == std::vector<uint32_t>{1, 2});
}

TEST_CASE("common entropy values: the first of each plane are the same, each uplink as often as before",
          "[sim][traffic]") {
  const Scenario s = parse_fabric_scenario(
      "common_evs = 2\n[topology]\nleaves = 2\nhosts_per_leaf = 2\nspines = 8\nplanes = 2\ngbps = 100\nevs = 16\n"
      "backup_evs = 0\n[[traffic]]\npattern = \"permutation\"\nshift = 2\n",
      "s.toml");
  const Topology topology(s.topology);
  const auto entropy = [&](uint64_t seed) {
    Traffic traffic = make_traffic(s, topology, seed);
    Fabric fabric({.seed = seed});
    topology.build(fabric, [&](NodeId) { return make_endpoint(s, topology, "fast", "here"); });
    Channels channels(fabric, topology, s, seed);
    Driver driver(fabric, topology, channels, traffic);
    driver.request();
    channels.open();
    std::vector<std::vector<uint32_t>> all;
    for (const Channel& c : channels.all()) {
      std::vector<uint32_t> active, backup;
      channels.entropy_of(c, active, backup);
      all.push_back(active);
    }
    return all;
  };
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto evs = entropy(seed);
    REQUIRE(evs.size() == 4);
    // nic0 and nic1 send from one T0 to the other one.
    for (unsigned i = 0; i < 16; ++i) CHECK((evs[0][i] == evs[1][i]) == (i < 4));
    for (const auto& qp : evs) {
      for (unsigned plane = 0; plane < 2; ++plane) {
        std::set<uint32_t> uplinks;
        for (unsigned i = plane; i < 16; i += 2) uplinks.insert(qp[i] & 7);
        CHECK(uplinks.size() == 8);
      }
    }
  }
}

}  // namespace mrc::test::traffic_test

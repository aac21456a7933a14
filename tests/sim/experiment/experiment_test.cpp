// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/experiment.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "sim/experiment/endpoints.hpp"
#include "sim/experiment/memory.hpp"

namespace mrc::test::experiment_test {

using namespace mrc::sim;

namespace {
constexpr const char* kTopology = "[topology]\nleaves = 2\nhosts_per_leaf = 4\nspines = 4\nplanes = 2\ngbps = 100\n";
ExperimentResult run(const std::string& text, uint64_t seed = 1) {
  return Experiment(parse_fabric_scenario(text, "s.toml"), seed).run();
}
std::string flow(uint64_t bytes, const std::string& more = "") {
  return "[[traffic]]\npattern = \"flow\"\nfrom = \"nic0\"\nto = \"nic5\"\nbytes = " + std::to_string(bytes) + "\n" +
         more;
}
}  // namespace

TEST_CASE("quantiles are values of the list, by nearest rank", "[sim][experiment]") {
  std::vector<Time> v;
  for (Time t = 1000; t >= 1; --t) v.push_back(t);
  const Distribution d = distribution(v);
  CHECK(d.count == 1000);
  CHECK(d.min == 1);
  CHECK(d.median == 500);
  CHECK(d.p99 == 990);
  CHECK(d.p999 == 999);
  CHECK(d.max == 1000);
  CHECK(distribution({7}).p999 == 7);
  CHECK(distribution({7, 9}).median == 7);
  CHECK(distribution({}).count == 0);
}

TEST_CASE("every shipped scenario can be built", "[sim][experiment][shipped]") {
  for (const ShippedScenario& shipped : shipped_scenarios()) {
    INFO(shipped.name);
    const Scenario s = load_fabric_scenario(shipped.name);
    const Topology topology(s.topology);
    CHECK(topology.hosts() >= 2);
    if (topology.hosts() > 2000) continue;  // the same as smaller ones, in seconds and gigabytes
    const Experiment e(s, 1);
    CHECK(e.topology().hosts() == topology.hosts());
  }
}

TEST_CASE("a flow: every byte once, in hardly more than the least time", "[sim][experiment]") {
  const ExperimentResult r = run(std::string(kTopology) + flow(2'000'000));
  REQUIRE(r.outcome == Outcome::Done);
  CHECK(r.total.delivered_bytes == 2'000'000);
  CHECK(r.flows[0].delivered < r.flows[0].done);
  CHECK(r.over_bound() >= 0.99);
  CHECK(r.over_bound() < 1.05);
  // 489 packets of 4096 bytes (the last one less) with 142 bytes of headers and 24 of Ethernet, at 200 Gb/s: 40 ps.
  const Time bytes = 2'000'000 + 489 * (4262 - 4096);
  CHECK(r.groups[0].bound == bytes * 40 + r.round_trip);
}

TEST_CASE("the same seed gives the same run, sampled or not", "[sim][experiment][deterministic]") {
  const std::string traffic = "[[traffic]]\npattern = \"permutation\"\nbytes = 300_000\njitter_us = 5\n";
  const auto ends = [](const ExperimentResult& r) {
    std::vector<Time> v;
    for (const Flow& f : r.flows) v.push_back(f.done);
    return v;
  };
  const auto a = ends(run(kTopology + traffic, 3));
  CHECK(a == ends(run("sampling = false\n" + (kTopology + traffic), 3)));
  CHECK(a == ends(run("sample_us = 0.7\n" + (kTopology + traffic), 3)));
  CHECK(a != ends(run(kTopology + traffic, 4)));
}

namespace {
/// Everything that two runs have to show is the same.
void check_same(const ExperimentResult& a, const ExperimentResult& b) {
  CHECK(a.outcome == b.outcome);
  CHECK(a.time == b.time);
  CHECK(a.fabric_events == b.fabric_events);
  CHECK(a.events_digest == b.events_digest);
  CHECK(a.transmissions == b.transmissions);
  CHECK(a.total.data_packets == b.total.data_packets);
  CHECK(a.total.sacks == b.total.sacks);
  REQUIRE(a.flows.size() == b.flows.size());
  for (size_t f = 0; f < a.flows.size(); ++f) {
    const Flow &x = a.flows[f], &y = b.flows[f];
    if (x.begun != y.begun || x.delivered != y.delivered || x.done != y.done) FAIL_CHECK("flow " << f << " differs");
  }
  REQUIRE(a.ports.size() == b.ports.size());
  for (size_t p = 0; p < a.ports.size(); ++p) {
    const PortResult &x = a.ports[p], &y = b.ports[p];
    if (x.name != y.name || x.packets != y.packets || x.bytes != y.bytes || x.deepest != y.deepest ||
        x.marks != y.marks || x.trims != y.trims || x.drops != y.drops || x.lost != y.lost) {
      FAIL_CHECK(x.name << " differs");
    }
  }
  REQUIRE(a.samples.size() == b.samples.size());
  for (size_t i = 0; i < a.samples.size(); ++i) {
    CHECK(a.samples[i].time == b.samples[i].time);
    CHECK(a.samples[i].delivered == b.samples[i].delivered);
    CHECK(a.samples[i].deepest == b.samples[i].deepest);
  }
}
}  // namespace

TEST_CASE("node by node in windows of time, or all events in their order: the same", "[sim][experiment][windows]") {
  const auto traffic = [](const std::string& keys) { return "[[traffic]]\n" + keys; };
  const std::string permutation = traffic("pattern = \"permutation\"\nbytes = 300_000\njitter_us = 3\n");
  const std::string incast = traffic("pattern = \"incast\"\nto = \"nic0\"\nfirst = 1\nnodes = 7\nbytes = 200_000\n");
  const std::string cases[] = {
      kTopology + permutation,
      kTopology + incast,
      "sample_us = 0.7\n" + (kTopology + permutation + incast),
      kTopology + traffic("pattern = \"ring\"\nbytes = 400_000\n"),
      kTopology + traffic("pattern = \"alltoall\"\nbytes = 60_000\nwindow = 2\n"),
      kTopology + permutation + "[[event]]\nwhat = \"link-loss\"\nlink = \"random\"\nloss = 0.05\nat_us = 2\n" +
          "[[event]]\nwhat = \"link-flap\"\nlink = \"random-uplink\"\nat_us = 4\ncount = 3\nevery_us = 2\n" +
          "[[event]]\nwhat = \"link-rate\"\nlink = \"nic3/1\"\ngbps = 25\nat_us = 5\nfor_us = 10\n" +
          "[[event]]\nwhat = \"switch-reboot\"\nnode = \"random-T1\"\nat_us = 8\n",
      // Flows that give up end the run.
      "transport = \"roce\"\n[topology]\nleaves = 2\nhosts_per_leaf = 4\nspines = 4\nrouting = \"ecmp\"\n" +
          permutation + "[[event]]\nwhat = \"link-down\"\nlink = \"nic2/0\"\nat_us = 4\n",
  };
  for (const std::string& text : cases) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(text, seed);
      Experiment in_order(parse_fabric_scenario("windows = \"never\"\n" + text, "s.toml"), seed);
      Experiment by_node(parse_fabric_scenario("windows = \"always\"\n" + text, "s.toml"), seed);
      const ExperimentResult a = in_order.run(), b = by_node.run();
      CHECK(in_order.fabric().windows() == 0);
      CHECK(by_node.fabric().windows() > 10);
      check_same(a, b);
      Scenario shared = parse_fabric_scenario("windows = \"always\"\n" + text, "s.toml");
      shared.threads = 2 + static_cast<unsigned>(seed % 2);
      Experiment by_threads(shared, seed);
      check_same(a, by_threads.run());
      CHECK(by_threads.fabric().windows() > 10);
    }
  }
}

TEST_CASE("the paper's fabric, in small: all patterns and failures, by two threads", "[sim][experiment][threads]") {
  Scenario s = load_fabric_scenario("mrc-1024");
  Experiment alone(s, 1);
  const ExperimentResult a = alone.run();
  REQUIRE(a.outcome == Outcome::Done);
  REQUIRE(a.groups.size() == 4);
  CHECK(a.events.size() > 40);  // the run ends before many of the failures do
  // The timer finds none of the losses; each group has the story of its slowest flow.
  CHECK(a.total.timeouts == 0);
  for (const GroupResult& g : a.groups) {
    REQUIRE(g.slowest);
    CHECK(g.slowest->done - g.slowest->begun == g.fct.max);
    CHECK(g.fct.max < g.bound + 6 * a.round_trip);
  }
  CHECK(a.lost > 0);
  s.threads = 2;
  Experiment shared(s, 1);
  check_same(a, shared.run());
}

TEST_CASE("memory that would not suffice is said before the run", "[sim][experiment][guard]") {
  for (const char* name : {"mrc-1024", "permutation", "alltoall", "incast"}) {
    CAPTURE(name);
    const Scenario s = load_fabric_scenario(name);
    Experiment e(s, 1);
    e.run();
    const Topology topology(s.topology);
    const auto needed = static_cast<double>(memory_needed(s, topology, make_traffic(s, topology, 1)));
    // Rather too few than too many, but not by much.
    CHECK(needed < 1.1 * static_cast<double>(e.memory()));
    CHECK(needed > 0.4 * static_cast<double>(e.memory()));
  }
  const Scenario s = load_fabric_scenario("mrc-131072");
  CHECK_NOTHROW(check_memory(s, 4'000'000'000, 4'000'000'000));
  CHECK_NOTHROW(check_memory(s, 4'000'000'000, {}));
  CHECK_THROWS_WITH(check_memory(s, 4'000'000'000, 2'500'000'000),
                    "mrc-131072: this fabric and its traffic need 4 GB of memory, and 2.5 GB are left.");
  CHECK(memory_left().value_or(1 << 30) > (1 << 20));
}

TEST_CASE("a plane goes down and comes back", "[sim][experiment][events]") {
  const std::string text = "[topology]\nplanes = 2\nleaves = 2\nhosts_per_leaf = 2\nspines = 2\n" +
                           std::string("[[traffic]]\npattern = \"permutation\"\nbytes = 2_000_000\n");
  const ExperimentResult r = run(text + "[[event]]\nwhat = \"link-down\"\nlink = \"plane1\"\nat_us = 5\nfor_us = 20\n");
  REQUIRE(r.outcome == Outcome::Done);
  REQUIRE(r.events.size() == 2);
  CHECK(r.events[0].text == "plane 1 down");
  CHECK(r.lost > 0);
  const auto why = [&](const std::string& event) -> std::string {
    try {
      run(text + "[[event]]\n" + event);
    } catch (const mrc::InputError& e) {
      return e.what();
    }
    return "nothing";
  };
  CHECK(why("what = \"link-down\"\nlink = \"plane2\"\n").find("link = \"plane2\" is no plane of this topology") !=
        std::string::npos);
  CHECK(why("what = \"link-rate\"\nlink = \"plane1\"\ngbps = 5\n").find("link-rate of a whole plane") !=
        std::string::npos);
}

TEST_CASE("any number of threads: the same events, with links and switches failing", "[sim][experiment][threads]") {
  const auto scenario = [](unsigned threads) {
    Scenario s = parse_fabric_scenario(
        "sampling = false\n[topology]\nplanes = 8\ngbps = 100\nleaves = 32\nhosts_per_leaf = 32\nspines = 32\n"
        "[[traffic]]\npattern = \"permutation\"\nbytes = 100_000\n"
        "[[traffic]]\npattern = \"ring\"\nbytes = 400_000\nnodes = 16\nstride = 40\n"
        "[[traffic]]\npattern = \"incast\"\nto = \"nic40\"\nfirst = 100\nnodes = 16\nbytes = 200_000\n"
        "[[event]]\nwhat = \"link-down\"\nlink = \"random-uplink\"\nat_us = 3\nevery_us = 1\ncount = 5\nfor_us = 10\n"
        "[[event]]\nwhat = \"link-down\"\nlink = \"random-nic\"\nat_us = 4\nevery_us = 1\ncount = 5\nfor_us = 10\n"
        "[[event]]\nwhat = \"link-loss\"\nlink = \"random-uplink\"\nat_us = 2\ncount = 8\nloss = 0.1\n"
        "[[event]]\nwhat = \"switch-reboot\"\nnode = \"random-T1\"\nat_us = 6\nfor_us = 10\n",
        "s.toml");
    s.threads = threads;
    return s;
  };
  Experiment alone(scenario(1), 1);
  const ExperimentResult a = alone.run();
  REQUIRE(a.outcome == Outcome::Done);
  CHECK(a.lost > 0);
  CHECK(a.total.retransmissions > 0);
  for (const unsigned threads : {2u, 5u}) {
    CAPTURE(threads);
    Experiment shared(scenario(threads), 1);
    const ExperimentResult b = shared.run();
    CHECK(b.threads == threads);
    CHECK(shared.fabric().windows() > 0);
    check_same(a, b);
  }
}

TEST_CASE("no windows: few nodes, a tap, flows that wait for those of another NIC", "[sim][experiment][windows]") {
  const std::string permutation = "[[traffic]]\npattern = \"permutation\"\nbytes = 100_000\n";
  {
    Experiment small(parse_fabric_scenario(kTopology + permutation, "s.toml"), 1);
    CHECK(small.run().outcome == Outcome::Done);
    CHECK(small.fabric().windows() == 0);
  }
  struct Nobody final : Tap {
    void sent(LinkId, bool, Time, const Packet&, bool) override {}
  } tap;
  {
    Experiment tapped(parse_fabric_scenario("windows = \"always\"\n" + (kTopology + permutation), "s.toml"), 1);
    tapped.fabric().set_tap(0, true, &tap);
    CHECK(tapped.run().outcome == Outcome::Done);
    CHECK(tapped.fabric().windows() == 0);
    tapped.fabric().set_tap(0, true, nullptr);
  }
  // What nic1 has received leads to work of nic1 itself, or of nic2.
  for (const bool same : {true, false}) {
    const auto file =
        std::filesystem::temp_directory_path() / ("mrc_experiment_test" + std::to_string(::getpid()) + ".csv");
    std::ofstream(file) << "id,start_us,from,to,bytes,after\na,0,nic0,nic1,300000,\nb,0," << (same ? "nic1" : "nic2")
                        << ",nic5,300000,a\n";
    Experiment trace(parse_fabric_scenario("windows = \"always\"\n" + std::string(kTopology) +
                                               "[[traffic]]\npattern = \"trace\"\nfile = \"" + file.string() + "\"\n",
                                           "s.toml"),
                     1);
    std::filesystem::remove(file);
    const ExperimentResult r = trace.run();
    CHECK(r.outcome == Outcome::Done);
    CHECK(r.flows[1].begun == r.flows[0].delivered);
    CHECK((trace.fabric().windows() > 0) == same);
  }
}

TEST_CASE("samples add up", "[sim][experiment]") {
  const ExperimentResult r = run("sample_us = 5\n" + (kTopology + flow(1'000'000)));
  REQUIRE(r.samples.size() > 5);
  CHECK(r.samples.front().time == 0);
  for (size_t i = 1; i + 1 < r.samples.size(); ++i) CHECK(r.samples[i].time == i * 5 * kUs);
  CHECK(r.samples.back().time == r.time);
  const Sample& last = r.samples.back();
  CHECK(last.delivered == 1'000'000);
  CHECK(last.group_delivered == std::vector<uint64_t>{1'000'000});
  CHECK(last.data_packets == r.total.data_packets);
  CHECK(last.evs.good + last.evs.skip + last.evs.assumed_bad == 128);
  // Both planes carry the same, and the first plane no more than its link.
  CHECK(last.tier_bytes[0][0] > 500'000);
  CHECK(last.tier_bytes[0][1] > 500'000);
  CHECK(last.tier_bytes[0][2] == 0);
}

TEST_CASE("tiers and planes add up to ports, samples and links; queues to what stood in them", "[sim][experiment]") {
  const ExperimentResult r =
      run(std::string(kTopology) +
          "[[traffic]]\npattern = \"incast\"\nto = \"nic0\"\nfirst = 1\nnodes = 7\nbytes = 200_000\n");
  const Sample& last = r.samples.back();
  std::vector<TierResult> sums(r.tiers.size());
  for (const PortResult& p : r.ports) {
    TierResult& t = sums[p.tier * r.planes + p.plane];
    t.packets += p.packets;
    t.bytes += p.bytes;
    t.trims += p.trims;
    t.marks += p.marks;
    t.deepest = std::max(t.deepest, p.deepest);
    t.most_load = std::max(t.most_load, p.load);
  }
  uint64_t links = 0, trims = 0, carried = 0;
  for (size_t i = 0; i < r.tiers.size(); ++i) {
    const TierResult& t = r.tiers[i];
    CHECK(i == t.tier * r.planes + t.plane);
    CHECK(t.bytes == last.tier_bytes[t.tier][t.plane]);
    CHECK(t.load <= t.most_load);
    links += t.links;
    trims += t.trims;
    carried += t.packets;
    if (t.tier == 0) continue;  // ports of NICs are not listed
    CHECK(t.packets == sums[i].packets);
    CHECK(t.bytes == sums[i].bytes);
    CHECK(t.trims == sums[i].trims);
    CHECK(t.marks == sums[i].marks);
    CHECK(t.deepest == sums[i].deepest);
    CHECK(t.most_load == sums[i].most_load);
  }
  CHECK(links == 2 * r.links);
  CHECK(carried == r.transmissions);
  CHECK(trims == r.trims);
  CHECK(trims > 0);
  // Everybody's packets wait before nic0; nothing is deeper than the deepest queue.
  REQUIRE(!r.depths.empty());
  const DepthResult& d = r.depths.front();
  CHECK(d.where == std::string("T0 to NIC"));
  CHECK(d.p50 > 0);
  CHECK(d.p50 <= d.p99);
  CHECK(d.p99 <= d.p999);
  CHECK(d.p999 <= d.p100);
  CHECK(d.p100 <= std::max(r.tiers[r.planes].deepest, r.tiers[r.planes + 1].deepest) * 9 / 8);
  CHECK(d.p100 * 2 > r.tiers[r.planes].deepest);
}

TEST_CASE("samples without a period stay few", "[sim][experiment]") {
  const ExperimentResult r =
      run("duration_us = 5000\nopen_end = true\n" + (kTopology + flow(1'000, "start_us = 4999\n")));
  CHECK(r.samples.size() <= 2000);
  CHECK(r.samples.size() > 900);
  CHECK(r.sample_period == 4 * kUs);
  for (const Sample& sample : r.samples) REQUIRE(sample.group_delivered.size() == r.groups.size());
}

TEST_CASE("steps of a ring begin when the step before has arrived", "[sim][experiment]") {
  const ExperimentResult r =
      run(std::string(kTopology) + "[[traffic]]\npattern = \"ring\"\nnodes = 5\nbytes = 100_000\n");
  REQUIRE(r.outcome == Outcome::Done);
  for (const Flow& f : r.flows) {
    for (const uint32_t n : f.next) CHECK(r.flows[n].begun == f.delivered);
  }
  CHECK(r.total.delivered_bytes == 8UL * 5 * 20'000);
}

TEST_CASE("an all-to-all keeps its window", "[sim][experiment]") {
  const ExperimentResult r =
      run(std::string(kTopology) + "[[traffic]]\npattern = \"alltoall\"\nbytes = 20_000\nwindow = 2\n");
  REQUIRE(r.outcome == Outcome::Done);
  for (NodeId n = 0; n < 8; ++n) {
    for (const Flow& f : r.flows) {
      if (f.from != n) continue;
      const auto open = std::count_if(r.flows.begin(), r.flows.end(), [&](const Flow& g) {
        return g.from == n && g.begun <= f.begun && g.done > f.begun;
      });
      CHECK(open <= 2);
    }
  }
}

TEST_CASE("flows on several QPs in several messages, few at a time", "[sim][experiment]") {
  const ExperimentResult r =
      run(std::string(kTopology) + flow(1'000'001, "qps = 3\nmessage = 10_000\noutstanding = 2\n"));
  REQUIRE(r.outcome == Outcome::Done);
  CHECK(r.qps == 3);
  CHECK(r.total.delivered_bytes == 1'000'001);
  CHECK(r.total.completions == 101);
  const ExperimentResult one = run(std::string(kTopology) + flow(1'000'001, "qps = 4\n"));
  REQUIRE(one.outcome == Outcome::Done);
  CHECK(one.total.completions == 4);  // a message for each
}

TEST_CASE("events happen at their time and end", "[sim][experiment][events]") {
  const ExperimentResult r =
      run(std::string(kTopology) + flow(20'000'000) +
          "[[event]]\nwhat = \"link-rate\"\nlink = \"nic0/0\"\ngbps = 50\nat_us = 100\nfor_us = 200\n"
          "[[event]]\nwhat = \"switch-reboot\"\nnode = \"T1-1-2\"\nat_us = 450\nfor_us = 30\n"
          "[[event]]\nwhat = \"link-flap\"\nlink = \"T0-0-0:T1-0-0\"\nat_us = 600\n");
  std::vector<std::pair<Time, std::string>> events;
  for (const EventResult& e : r.events) events.emplace_back(e.time / kUs, e.text);
  CHECK(events == std::vector<std::pair<Time, std::string>>{{100, "link nic0/0 at 50 Gb/s"},
                                                            {300, "link nic0/0 at 50 Gb/s ends"},
                                                            {450, "reboot of T1-1-2 for 30 us"},
                                                            {480, "reboot of T1-1-2 for 30 us ends"},
                                                            {600, "link T0-0-0:T1-0-0 down"},
                                                            {610, "link T0-0-0:T1-0-0 down ends"}});
  REQUIRE(r.outcome == Outcome::Done);
  // A quarter of the NIC's rate is away for 200 us.
  REQUIRE(r.events[0].measured);
  CHECK(r.events[0].before_gbps > 180);
  CHECK(r.events[0].after_gbps < 160);
}

TEST_CASE("random events: each time another link, the same with the same seed", "[sim][experiment][events]") {
  const std::string text =
      "duration_us = 100\nopen_end = true\n" + (kTopology + flow(10'000'000)) +
      "[[event]]\nwhat = \"link-rate\"\ngbps = 99\nlink = \"random-uplink\"\ncount = 16\nevery_us = 2\nwithin_us = 1\n";
  const auto names = [&](uint64_t seed) {
    std::vector<std::string> list;
    for (const EventResult& e : run(text, seed).events) list.push_back(e.text);
    return list;
  };
  const auto a = names(1);
  CHECK(a.size() == 16);
  CHECK(std::set<std::string>(a.begin(), a.end()).size() == 16);  // that many there are
  for (const std::string& name : a) CHECK(name.find("link T0-") == 0);
  CHECK(a == names(1));
  CHECK(a != names(2));
}

TEST_CASE("an entropy value that loses packets loses only its own", "[sim][experiment][events]") {
  const ExperimentResult r = run(std::string(kTopology) + flow(4'000'000) +
                                 "[[event]]\nwhat = \"bad-ev\"\nfrom = \"nic0\"\nto = \"nic5\"\nev = 3\nloss = 1\n");
  REQUIRE(r.outcome == Outcome::Done);
  CHECK(r.total.retransmissions >= 1);
  CHECK(r.lost >= 1);
  CHECK(r.lost < 40);
}

TEST_CASE("runs that do not end by themselves are ended, and say why", "[sim][experiment][guard]") {
  {
    const ExperimentResult r =
        run("hang_us = 1000\nduration_us = 1e6\n[topology]\nkind = \"single\"\nhosts = 8\n" + flow(100'000'000) +
            "[[event]]\nwhat = \"link-down\"\nlink = \"nic5/0\"\nat_us = 50\n");
    CHECK(r.outcome != Outcome::Done);
    CHECK((r.outcome == Outcome::Hang || r.outcome == Outcome::Failed));
    CHECK_FALSE(r.reason.empty());
    CHECK(r.total.delivered_bytes > 0);
  }
  {
    const ExperimentResult r = run("duration_us = 60\n" + (kTopology + flow(1'200'000, "start_us = 20\n")));
    CHECK(r.outcome == Outcome::TimeLimit);
    CHECK(r.reason == "duration_us = 60 is over, but 1 of 1 flows have not ended");
    CHECK(r.time == 60 * kUs);
  }
  {
    const ExperimentResult r = run("duration_us = 60\nopen_end = true\n" + (kTopology + flow(100'000'000)));
    CHECK(r.outcome == Outcome::OpenEnd);
    CHECK(r.total.delivered_bytes > 500'000);
  }
  {  // a run that moves nothing is no success, whatever open_end says
    const ExperimentResult r =
        run("duration_us = 21\nopen_end = true\n" + (kTopology + flow(100'000'000, "start_us = 20.9\n")));
    CHECK(r.outcome == Outcome::Empty);
    CHECK(r.reason == "no byte was delivered before the end");
  }
  {  // waiting for a start is no hang
    const ExperimentResult r = run("hang_us = 100\n" + (kTopology + flow(1'000, "start_us = 5000\n")));
    CHECK(r.outcome == Outcome::Done);
  }
  {
    std::atomic<bool> stop{false};
    const Scenario scenario = parse_fabric_scenario(std::string(kTopology) + flow(1'000'000), "s.toml");
    Experiment e(scenario, 1, {}, &stop);
    stop = true;
    const ExperimentResult r = e.run();
    CHECK(r.outcome == Outcome::Incomplete);
    CHECK(r.flows.size() == 1);
    CHECK_THROWS_AS(Experiment(scenario, 1, {}, &stop), Stopped);  // while it is being built
  }
}

TEST_CASE("RoCE on one path, for contrast", "[sim][experiment][roce]") {
  const ExperimentResult r =
      run("transport = \"roce\"\n[topology]\nkind = \"single\"\nhosts = 8\ngbps = 100\n" + flow(1'000'000));
  REQUIRE(r.outcome == Outcome::Done);
  CHECK(r.total.delivered_bytes == 1'000'000);
  CHECK(r.over_bound() < 1.1);
}

TEST_CASE("fidelities that are not there are refused as such", "[sim][experiment]") {
  CHECK_THROWS_AS(Experiment(parse_fabric_scenario("base = \"flow\"\nendpoints = \"model\"\n", "s.toml"), 1),
                  Unsupported);
  CHECK_THROWS_AS(
      Experiment(parse_fabric_scenario("base = \"flow\"\n[[node]]\nfidelity = \"rtl\"\nfirst = 2\n", "s.toml"), 1),
      Unsupported);
}

}  // namespace mrc::test::experiment_test

// SPDX-License-Identifier: Apache-2.0
// Profiles of fabrics: switches and NICs set up together.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <memory>
#include <set>
#include <vector>

#include "gen/csr.hpp"
#include "sim/experiment/endpoints.hpp"
#include "sim/experiment/experiment.hpp"
#include "tests/sim/fast_net.hpp"

namespace mrc::test::profile_test {

using namespace mrc::sim;

namespace {
const FabricProfile& profile(const char* name) { return *find_fabric_profile(name); }

/// Code points of data and their retransmissions that NICs sent, by the sender's number.
std::set<unsigned> codes_of_data(const std::string& text, ExperimentResult& result) {
  Experiment e(parse_fabric_scenario(text, "s.toml"), 1);
  std::vector<std::unique_ptr<Recorder>> out;
  const Topology& t = e.topology();
  for (NodeId h = 0; h < t.hosts(); ++h) {
    for (unsigned p = 0; p < t.planes(); ++p) {
      e.fabric().set_tap(t.host_link(h, p), true, out.emplace_back(std::make_unique<Recorder>()).get());
    }
  }
  result = e.run();
  std::set<unsigned> codes;
  for (const auto& r : out) {
    for (const auto& s : r->seen) {
      if (is_write(s.packet)) codes.insert(s.packet.dscp);
    }
  }
  return codes;
}
constexpr const char* kIncast =
    "kind = \"single\"\nhosts = 17\nplanes = 2\ngbps = 100\n[[traffic]]\npattern = \"incast\"\nbytes = 400_000\n";
}  // namespace

TEST_CASE("the default profile is what NICs and switches have anyway", "[sim][topology][profile]") {
  const FabricProfile& p = profile("default");
  for (const FabricSetting& s : p.nic) CHECK(p.get(s.name, 99) == s.value);
  CHECK(p.get("DSCP_TX.data", 0) == csr::kDscpTxData.get(csr::kDscpTxReset));
  CHECK(p.get("DSCP_TX.rtx", 0) == csr::kDscpTxRtx.get(csr::kDscpTxReset));
  CHECK(p.get("DSCP_TX.ctl", 0) == csr::kDscpTxCtl.get(csr::kDscpTxReset));
  CHECK(p.get("DSCP_TX.ep", 0) == csr::kDscpTxEp.get(csr::kDscpTxReset));
  CHECK(p.get("DSCP_TRIM.trimmed", 0) == csr::kDscpTrimTrimmed.get(csr::kDscpTrimReset));
  CHECK(p.get("DSCP_TRIM.lasthop", 0) == csr::kDscpTrimLasthop.get(csr::kDscpTrimReset));
  CHECK(dscp_of(p) == wire::DscpMap{});
  const SwitchConfig by_profile = SwitchConfig::of_profile("sw", 50'000, p);
  const SwitchConfig usual = SwitchConfig::recommended("sw", 50'000);
  CHECK(by_profile.queue_of_dscp == usual.queue_of_dscp);
  CHECK(by_profile.trimmable == usual.trimmable);
  CHECK(by_profile.trim_size == usual.trim_size);
  CHECK(by_profile.trim_queue == usual.trim_queue);
  for (unsigned q = 0; q < kQueues; ++q) {
    CHECK(by_profile.to_switch.queue[q].limit_bytes == usual.to_switch.queue[q].limit_bytes);
    CHECK(by_profile.to_host.queue[q].weight == usual.to_host.queue[q].weight);
    CHECK(by_profile.to_switch.queue[q].ecn.max_bytes == usual.to_switch.queue[q].ecn.max_bytes);
  }
  CHECK(by_profile.to_host.trimmed_dscp == usual.to_host.trimmed_dscp);
}

TEST_CASE("switches of every profile can be; spectrum's have queues by class with shares", "[sim][topology][profile]") {
  for (const FabricProfile& p : kFabricProfiles) CHECK(SwitchConfig::of_profile("sw", 50'000, p).check().empty());
  const SwitchConfig sw = SwitchConfig::of_profile("sw", 50'000, profile("spectrum"));
  const std::pair<unsigned, unsigned> queue_of[] = {{0, 0},  {7, 0},  {1, 1},  {2, 1},  {3, 2},  {4, 2},
                                                    {5, 3},  {6, 3},  {11, 4}, {21, 4}, {40, 4}, {41, 5},
                                                    {46, 5}, {50, 5}, {51, 0}, {63, 0}};
  for (const auto& [code, queue] : queue_of) {
    INFO(code);
    CHECK(sw.queue_of_dscp[code] == queue);
  }
  const unsigned shares[] = {4, 8, 18, 22, 22, 22};
  for (unsigned q = 0; q < 6; ++q) {
    CHECK(sw.to_host.queue[q].weight == shares[q] * kShareWeight);
    CHECK(sw.to_switch.queue[q].trim == (q >= 1 && q <= 3));
    CHECK((sw.to_host.queue[q].ecn.mode == EcnConfig::Mode::Red) == (q >= 1 && q <= 3));
  }
  CHECK(sw.to_switch.queue[1].ecn.min_bytes == 166'912);
  CHECK(sw.to_switch.queue[1].ecn.max_bytes == 239'616);
  CHECK(sw.to_switch.queue[1].ecn.probability == 0.05);
  CHECK(sw.trimmable == 0b111'1110);
  CHECK(sw.trim_size == 256);
  CHECK(sw.trim_queue == 4);
  CHECK(sw.to_switch.trimmed_dscp == 11);
  CHECK(sw.to_host.trimmed_dscp == 21);
  CHECK(SwitchConfig::of_profile("sw", 50'000, profile("sonic")).to_host.trimmed_dscp == 12);
}

TEST_CASE("on a fabric of profile spectrum its NICs are trimmed and recover; usual NICs know nothing of trims",
          "[sim][experiment][profile]") {
  ExperimentResult r;
  const auto codes = codes_of_data(std::string("[topology]\nprofile = \"spectrum\"\n") + kIncast, r);
  REQUIRE(r.outcome == Outcome::Done);
  CHECK(codes == std::set<unsigned>{1, 2});
  CHECK(r.trims > 100);
  CHECK(r.total.nacks > 100);
  CHECK(r.total.timeouts == 0);
  CHECK(codes_of_data(std::string("[topology]\n") + kIncast, r) == std::set<unsigned>{4, 8});

  // Evidence for a profile: code point 11 or 21 means nothing to a NIC that was not told.
  for (const bool reported : {false, true}) {
    FastConfig config = FastConfig::for_fabric(100, 5 * kUs);
    if (reported) use_profile(config, profile("spectrum"));
    SwitchConfig sw = SwitchConfig::of_profile("sw", 50'000, profile("spectrum"));
    for (PortConfig* port : {&sw.to_switch, &sw.to_host}) {
      for (QueueConfig& queue : port->queue) queue.limit_bytes = 40'000;
    }
    FastStar<FastEndpoint> t(17, config, sw);
    REQUIRE(t.opened);
    for (unsigned n = 1; n < 17; ++n) REQUIRE(t.nic[n]->post({.id = n, .qpn = 3, .bytes = 100'000}));
    t.fabric.run(20 * kMs);
    CHECK((t.nic[0]->stats().trimmed > 0) == reported);
    CHECK((t.nic[0]->stats().nacks > 0) == reported);
  }
}

TEST_CASE("a class of a profile gives QPs its code points; what is written wins over the profile",
          "[sim][experiment][profile][A-79]") {
  ExperimentResult r;
  const std::string two = "[topology]\nprofile = \"spectrum\"\nkind = \"single\"\nhosts = 4\n";
  const std::string flow = "[[traffic]]\npattern = \"flow\"\nbytes = 100_000\n";
  CHECK(codes_of_data(two + flow + "class = 1\n" + flow + "class = 2\n", r) == std::set<unsigned>{3, 5});
  CHECK(r.qps == 2);  // the same pair of NICs
  CHECK_THROWS_WITH(make_traffic(parse_fabric_scenario(two + flow + "class = 3\n", "s.toml"),
                                 Topology(parse_topology(two.substr(11), "t.toml")), 1),
                    "s.toml:8:9: class = 3 is none of profile spectrum, which has 3.");
  CHECK(
      Topology(parse_topology("hosts = 4\nkind = \"single\"\nprofile = \"spectrum\"\n", "t.toml")).config().trim_size ==
      256);
  CHECK(Topology(parse_topology("hosts = 4\nkind = \"single\"\nprofile = \"spectrum\"\ntrim_size = 128\n", "t.toml"))
            .config()
            .trim_size == 128);
  CHECK_THROWS_WITH(parse_topology("profile = \"arista\"\n", "t.toml"),
                    "t.toml:1:11: profile = \"arista\" is not known.");
}

TEST_CASE("use_profile() makes any scenario one of that fabric", "[sim][experiment][profile]") {
  Scenario s = load_fabric_scenario("permutation");
  use_profile(s, profile("spectrum"));
  const Topology topology(s.topology);
  CHECK(std::string(topology.profile().name) == "spectrum");
  const FastConfig config = nic_settings(s, topology);
  CHECK(config.dscp.trimmable == 1);
  CHECK(config.dscp.trimmed_lasthop == 21);
  CHECK(config.dscp_endpoint == 1);
}

}  // namespace mrc::test::profile_test

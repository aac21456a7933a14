// SPDX-License-Identifier: Apache-2.0
/// Any text as a topology (first byte even) or as a scenario of the fabric, with its topology wired up: refused with a
/// reason, or within its limits.
#include "fuzz/checks.hpp"
#include "sim/experiment/scenario.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mrc;
  using fuzz::must;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto wire = [](const sim::TopologyConfig& config) {
    fuzz::must_be_in_range(sim::topology_keys(), config, sim::TopologyConfig{});
    const sim::Topology topology(config);
    must(topology.hosts() >= 2 && topology.planes() >= 1 && topology.planes() <= 8);
    must(topology.node_name(0) == "nic0" && topology.find_node("nic0") == 0);
  };
  fuzz::refuses_or_reads([&] {
    if (data[0] % 2 == 0) {
      wire(sim::parse_topology(text, "fuzz.toml"));
      return;
    }
    const sim::Scenario s = sim::parse_fabric_scenario(text, "fuzz.toml");
    fuzz::must_be_in_range(sim::scenario_keys(), s, sim::Scenario{});
    must(!s.traffic.empty() || !s.jobs.empty());
    for (const auto& t : s.traffic) fuzz::must_be_in_range(sim::traffic_keys(), t, sim::TrafficConfig{});
    for (const auto& j : s.jobs) {
      fuzz::must_be_in_range(sim::job_keys(), j, sim::JobConfig{});
      for (const auto& p : j.phases) fuzz::must_be_in_range(sim::phase_keys(), p, sim::PhaseConfig{});
    }
    for (const auto& e : s.events) fuzz::must_be_in_range(sim::event_keys(), e, sim::EventConfig{});
    for (const auto& n : s.nodes) fuzz::must_be_in_range(sim::node_keys(), n, sim::NodeConfig{});
    wire(s.topology);
  });
  return 0;
}

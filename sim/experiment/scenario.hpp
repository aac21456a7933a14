// SPDX-License-Identifier: Apache-2.0
/// What happens in a fabric: topology, traffic, events. Shipped ones by name, others from TOML files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/experiment/settings.hpp"
#include "sim/experiment/topology.hpp"

namespace mrc::sim {

/// Flows of one kind.
struct TrafficConfig {
  std::string pattern = "flow", label, from = "nic0", to = "nic1", file;
  double bytes = 1e6, message = 0, outstanding = 0, qps = 1;
  double nodes = 0, first = 0, stride = 1, groups = 1, shift = 0, victims = 0, victim_bytes = 0, window = 1;
  double start_us = 0, jitter_us = 0;
  double qp_class = -1;  ///< key "class"
  double fifo_class = -1;
  Source source;
};

/// Something that is done to links, switches or paths.
struct EventConfig {
  std::string what, link, node, from = "nic0", to = "nic1", direction = "both";
  double at_us = 0, within_us = 0, for_us = 0, every_us = 0, count = 1;
  double loss = 1, gbps = 0, ev = 0;
  double per_hour = 0, most_us = 0, bundle = 1;  ///< a process: failures.hpp
  Source source;
};

/// A part of each step of a job.
struct PhaseConfig {
  std::string collective = "none", over = "all";
  double compute_us = 0, jitter = 0, bytes = 1e6, buckets = 1, local = 8, pieces = 8, window = 128, skew = 0;
  Source source;
};

/// A training job: steps of compute and collectives, one rank in each of its NICs.
struct JobConfig {
  std::string label, trace, groups, placement = "packed";
  double steps = 1, ranks = 0, first = 0, gpus = 8, tensor = 1, pipeline = 1, expert = 1, start_us = 0;
  double restart_us = 0, checkpoint = 1;
  std::vector<PhaseConfig> phases;
  Source source;
};

/// Fidelity of some NICs.
struct NodeConfig {
  std::string fidelity = "fast";
  double first = 0, count = 1;
  Source source;
};

struct Scenario {
  std::string name, description;
  std::string transport = "mrc", endpoints = "fast", preset = "asic800", windows = "auto", returned = "drop";
  bool congestion = true, shared_evs = false, open_end = false, sampling = true, same_ev = true, trim_nack = true,
       bad_waits = false, lost_stays = false, by_count = true, nic_rules = false, share = false, port_loss = true,
       other_plane = true, loss_spares = true;
  double seed = 1, mtu = 4096;
  unsigned threads = 1;  ///< no key: results do not depend on it
  double duration_us = 1e6, hang_us = 20'000, sample_us = 0;
  double mpr = 0, reorder = 0, overdue = 6, timeout = -1, sack_trigger = 16384, min_active = 8, probe_us = 100,
         ar_shift = 0;
  double roce_timeout_us = 1000, roce_retries = 7, roce_reopen_us = 0, failure_rates = 1;
  double silence = 9, silence_us = 0, suspect = 0, strikes = 3, loss_share = 0, copies = 2;
  double common_evs = 0, probe_kind = 0, ep_repeats = 15, nominal = 0;
  double max_wimm = 32, wimm_over = 0, zero_length = 0, skip_mode = 0, skip_us = 0, returned_dscp = -1;
  double share_epoch = -1, share_least = 4, share_trims = 24, share_pen = 8, share_drain = 0;
  TopologyConfig topology;
  std::vector<TrafficConfig> traffic;
  std::vector<JobConfig> jobs;
  std::vector<EventConfig> events;
  std::vector<NodeConfig> nodes;
  Source source;
};

std::span<const Key<Scenario>> scenario_keys();
std::span<const Key<TrafficConfig>> traffic_keys();
std::span<const Key<JobConfig>> job_keys();
std::span<const Key<PhaseConfig>> phase_keys();
std::span<const Key<EventConfig>> event_keys();
std::span<const Key<NodeConfig>> node_keys();

struct ShippedScenario {
  const char *name, *description;
  const char* text;  ///< TOML
};
std::span<const ShippedScenario> shipped_scenarios();

/// The fabric is that of a profile: its switches, and with them its NICs.
void use_profile(Scenario& scenario, const FabricProfile& profile);

/// A shipped scenario by name, else a file. needs_traffic: one without traffic and jobs is wrong. Throws InputError.
Scenario load_fabric_scenario(const std::string& name_or_file, bool needs_traffic = true);
Scenario parse_fabric_scenario(std::string_view text, const std::string& file);

}  // namespace mrc::sim

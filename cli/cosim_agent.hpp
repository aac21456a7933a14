// SPDX-License-Identifier: Apache-2.0
/// mrc cosim --level L1, L2: any NIC by its calls, with the judge.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/context.hpp"

namespace mrc::cli {

inline constexpr const char* kReports = "mrc-reports";

/// Options that mrc cosim has at all levels, and those of L1 and L2 alone.
struct AgentCommand {
  std::string level = "L0", preset = "asic800", scenario = "mixed", dut = "rtl", peer = "model", bug, json, pcap,
              record, trace, profile, variant, results, coverage, fabric_profile, reports = kReports;
  std::vector<std::string> waive;
  uint64_t packets = 100000, seed = 1, seeds = 1;
  bool reports_requested = false;  ///< a run with deviations leaves its scenario, too
  bool bins = false;               ///< the lines of results name bins of coverage
  double limit_s = 60;             ///< of a call of a device in a process of its own; 0: none
};

/// Runs, prints, writes the outputs. Returns the exit code; throws UsageError.
int cosim_agent(const AgentCommand& command, const Context& context);

}  // namespace mrc::cli

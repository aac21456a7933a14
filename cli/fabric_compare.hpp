// SPDX-License-Identifier: Apache-2.0
/// Results of mrc fabric (--json) side by side: runs that differ in their seed alone are one line.
#pragma once

#include <string>
#include <vector>

#include "input/json.hpp"

namespace mrc::cli {

/// A job, or a kind of traffic, in all runs of one scenario.
struct FabricSide {
  std::string scenario, transport, label;
  bool job = false;
  double failure_rates = 1;
  std::vector<std::string> files;
  unsigned runs = 0, ended = 0;       ///< with their seeds; those that came to their end
  double failures = 0, restarts = 0;  ///< of a run, on average
  double timeouts = 0, trims = 0;
  // Of runs that have ended, over the bound: all of it on average and at worst; steps or flows, the median run's P50
  // and P99, the worst run's P100.
  double mean = 0, worst = 0, p50 = 0, p99 = 0, p100 = 0;
  double lost_percent = 0;    ///< of the GPUs' time that was not there in the bound, all runs together
  double gpu_hours_lost = 0;  ///< the same in hours of all ranks, a run on average
};

/// In the order in which they are named first. Throws InputError: no result, or not one of mrc fabric.
std::vector<FabricSide> compare_fabric(const std::vector<std::string>& files);
/// The text of a result. Throws as above.
std::string fabric_result_text(const std::string& file);
std::string fabric_sides_text(const std::vector<FabricSide>& sides);
std::string fabric_sides_json(const std::vector<FabricSide>& sides, const std::string& run_id);

}  // namespace mrc::cli

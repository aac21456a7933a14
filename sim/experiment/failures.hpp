// SPDX-License-Identifier: Apache-2.0
/// Failures that come by themselves, at a rate, from the seed: events with `per_hour` (docs/guide/fabric.md).
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/engine/fabric.hpp"
#include "sim/experiment/scenario.hpp"
#include "util/rng.hpp"

namespace mrc::sim {

/// What came of one kind of failure.
struct FailureResult {
  std::string text;    ///< "link-down of 512 links, 2 an hour each"
  uint64_t times = 0;  ///< that it happened
  Time lasted = 0;     ///< of all of them together, as they were drawn
};

class Failures {
 public:
  /// Throws InputError: nothing to choose from, keys that do not go together.
  Failures(const Scenario& scenario, const Topology& topology, uint64_t seed);

  /// `report` hears of the first kReported of each kind, and how long they last.
  void begin(Fabric& fabric, std::function<void(const std::string&, Time)> report);
  std::vector<FailureResult> results() const;
  static constexpr uint64_t kReported = 100;

 private:
  struct Process {
    const EventConfig& event;
    uint32_t first = 0, count = 0;  // links, or switches
    std::vector<uint32_t> switches;
    bool of_switches = false, of_planes = false;
    double per_hour = 0;
    Rng rng;
    FailureResult result;
  };
  void plan(Process& process);
  void happen(Process& process);
  /// Links that fail with one of them.
  std::vector<LinkId> bundle(const Process& process, LinkId link) const;
  void set_down(LinkId link, bool down);
  void set_loss(const EventConfig& event, LinkId link, double loss);

  const Topology& topology_;
  std::vector<Process> processes_;
  Fabric* fabric_ = nullptr;
  std::function<void(const std::string&, Time)> report_;
  std::unordered_map<LinkId, uint32_t> down_;  // how many failures a link has
};

}  // namespace mrc::sim

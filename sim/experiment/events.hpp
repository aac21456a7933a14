// SPDX-License-Identifier: Apache-2.0
/// What is done to links and switches at the times that a scenario says: events without `per_hour`
/// (docs/guide/fabric.md).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/engine/fabric.hpp"
#include "sim/experiment/scenario.hpp"
#include "util/rng.hpp"

namespace mrc::sim {

class Events {
 public:
  /// Entropy values that one NIC sends to another with; none: it sends nothing there.
  using EvsOf = std::function<std::vector<uint32_t>(NodeId from, NodeId to)>;
  /// Throws InputError: links, switches, NICs that the topology does not have.
  Events(const Scenario& scenario, const Topology& topology, Fabric& fabric, uint64_t seed, EvsOf evs_of);

  /// Once, at time 0. `report` hears of each as it happens, and how long it lasts; 0: for ever, or this is its end.
  void begin(std::function<void(const std::string&, Time)> report);
  /// Those that are later, in words.
  std::vector<std::string> after(Time time) const;

 private:
  struct Action {
    Time time;
    std::string text;
    std::function<void()> begin, end;
    Time end_time = kNever;
  };
  void plan(const EventConfig& event, Rng& rng, std::vector<uint32_t>& used);

  const Topology& topology_;
  Fabric& fabric_;
  const EvsOf evs_of_;
  std::function<void(const std::string&, Time)> report_;
  std::vector<Action> actions_;
};

}  // namespace mrc::sim

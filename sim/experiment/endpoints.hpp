// SPDX-License-Identifier: Apache-2.0
/// NICs as a scenario wants them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "gen/presets.hpp"
#include "sim/experiment/scenario.hpp"
#include "sim/nic/fast/endpoint_fast.hpp"

namespace mrc::sim {

/// A fidelity that this program does not have: not wrong, but not there.
class Unsupported : public InputError {
 public:
  using InputError::InputError;
};

/// Makes an endpoint of fidelity "model" or "rtl" with these settings: given by programs that have such endpoints
/// (sim/nic/cycle/endpoint_cycle.hpp). Throws InputError; `where` is the file and line that asked.
using ClockedMaker = std::function<std::unique_ptr<Endpoint>(const std::string& fidelity, const Preset& preset,
                                                             const FastConfig& settings, const std::string& where)>;

/// Any NIC of fidelity "model" or "rtl".
bool has_clocked(const Scenario& scenario);
/// Fast NICs do only what the NIC does, too: asked for, or some NICs are no fast ones.
bool nic_rules(const Scenario& scenario);
/// Settings of all NICs of a scenario that speak MRC, whatever their fidelity. Throws InputError.
FastConfig nic_settings(const Scenario& scenario, const Topology& topology);
/// Throws Unsupported, InputError. clocked may be empty. What fast NICs have in common is made with the first one.
std::unique_ptr<Endpoint> make_endpoint(const Scenario& scenario, const Topology& topology, const std::string& fidelity,
                                        const std::string& where, const ClockedMaker& clocked,
                                        std::shared_ptr<FastShared>& common);
inline std::unique_ptr<Endpoint> make_endpoint(const Scenario& scenario, const Topology& topology,
                                               const std::string& fidelity, const std::string& where,
                                               const ClockedMaker& clocked = {}) {
  std::shared_ptr<FastShared> common;
  return make_endpoint(scenario, topology, fidelity, where, clocked, common);
}
/// Window of a QP in units of 128 PSNs.
unsigned window_of(const Scenario& scenario, const Topology& topology);
/// Bytes of a full data packet and of a SACK, without FCS.
unsigned data_frame(const Scenario& scenario, const Topology& topology);
unsigned sack_frame(const Topology& topology);
/// Of a WRITE with immediate of no bytes.
unsigned empty_frame(const Topology& topology);
}  // namespace mrc::sim

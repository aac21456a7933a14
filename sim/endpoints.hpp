// SPDX-License-Identifier: Apache-2.0
/// NICs as a scenario wants them.
#pragma once

#include <memory>
#include <string>

#include "sim/scenario.hpp"

namespace mrc::sim {

/// A fidelity that this program does not have: not wrong, but not there.
class Unsupported : public InputError {
 public:
  using InputError::InputError;
};

/// Throws Unsupported.
std::unique_ptr<Endpoint> make_endpoint(const Scenario& scenario, const Topology& topology, const std::string& fidelity,
                                        const std::string& where);
/// Window of a QP in units of 128 PSNs.
unsigned window_of(const Scenario& scenario, const Topology& topology);
/// Bytes of a full data packet and of a SACK, without FCS.
unsigned data_frame(const Scenario& scenario, const Topology& topology);
unsigned sack_frame(const Topology& topology);
/// Bytes that an endpoint holds.
uint64_t memory_of(const Endpoint& endpoint);

}  // namespace mrc::sim

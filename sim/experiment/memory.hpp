// SPDX-License-Identifier: Apache-2.0
/// What a scenario needs of memory, and what there is.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/experiment/jobs.hpp"
#include "sim/experiment/traffic.hpp"

namespace mrc::sim {

/// Bytes that a scenario with fast NICs needs, rather too few than too many: nodes, links, QPs, flows, and packets and
/// windows of NICs that send as fast as they can. Curves and reports are not in it.
uint64_t memory_needed(const Scenario& scenario, const Topology& topology, const Traffic& traffic,
                       const Jobs* jobs = nullptr);

/// Bytes that this process can still get: of the machine, its control group, its own limits. None: nobody says.
std::optional<uint64_t> memory_left();

/// Throws InputError if the one is more than the other.
void check_memory(const Scenario& scenario, uint64_t needed, std::optional<uint64_t> left);

}  // namespace mrc::sim

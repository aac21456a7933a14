// SPDX-License-Identifier: Apache-2.0
/// Side by side with htsim, an external simulator: flows as its traffic matrix, and what its log says of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/experiment/traffic.hpp"

namespace mrc::sim {

/// The connection matrix (.cm) of these flows; flow i has the id i + 1. Throws InputError: flows that it cannot say
/// (2 GiB and more, waiting for several others).
std::string htsim_matrix(const Topology& topology, const Traffic& traffic);

/// What a log says of a flow, kNever: nothing.
struct HtsimFlow {
  Time begun = kNever, done = kNever;
};
/// From the lines "Flow Uec_3_17 flowId 4 uecSrc 3 starting at 0", "... finished at 176.2 ..." (microseconds) of what
/// htsim_uec prints, one entry for each flow of the matrix. All other lines are passed over. Throws InputError, with
/// the line: a flow that the matrix does not have, has between other NICs, or that ends twice; no flow at all.
std::vector<HtsimFlow> read_htsim(std::string_view log, const std::string& file, const Traffic& traffic);

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/experiment/traffic.hpp"

namespace mrc::sim {

/// What the links of a flow's NICs carry until it can have ended, in bytes of `wire`: all of its own traffic there, and
/// of each flow of other traffic that was under way while it was as much as it has itself at most, since flows share a
/// link alike. Of its two NICs the one that has more to send, or to receive. By flow; 0: it has not ended.
std::vector<uint64_t> shares(std::span<const Flow> flows, NodeId nics,
                             const std::function<uint64_t(const Flow&)>& wire);

}  // namespace mrc::sim

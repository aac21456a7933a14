// SPDX-License-Identifier: Apache-2.0
/// Flows from a CSV file (docs/guide/fabric.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/experiment/topology.hpp"

namespace mrc::sim {

/// A line of a trace.
struct TraceFlow {
  NodeId from = 0, to = 0;
  uint64_t bytes = 0;           ///< at least 1
  double start_us = 0;          ///< not before, after the beginning of that traffic
  std::vector<uint32_t> after;  ///< lines, by their index, that must have arrived before
  uint32_t line = 0;            ///< in the file
};

/// Reads a trace: columns id, start_us, from, to, bytes and after, in any order. Throws InputError: what cannot be
/// read, NICs and flows that do not exist, a flow to itself, flows that wait for each other, no flow at all.
std::vector<TraceFlow> parse_trace(std::string_view text, const std::string& file, const Topology& topology);

}  // namespace mrc::sim

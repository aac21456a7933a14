// SPDX-License-Identifier: Apache-2.0
/// What a fabric is made of, and what a lost link takes: counted from its topology, without building it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/experiment/topology.hpp"

namespace mrc::sim {

/// What parts are and need. Numbers of our own choice, to be edited.
struct PartsTable {
  double module_gbps = 800;   ///< an optical module; slower links share one
  double copper_metres = 0;   ///< links up to this length have no optics
  double switch_watts = 940;  ///< without optics
  double optics_watts = 16;   ///< of a module
  Source source;
};
std::span<const Key<PartsTable>> parts_keys();
/// From a TOML file. Throws InputError.
PartsTable load_parts(const std::string& file);

/// A line of the bill. All topologies have the same lines; what a topology does not have is 0.
struct BillLine {
  const char *key, *label;
  double value;
  unsigned digits;  ///< behind the point
  bool per_nic;     ///< grows with the number of NICs
};
std::vector<BillLine> bill_of(const Topology& topology, const PartsTable& parts);

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
/// A routing protocol as far as it matters to who sends: some time after a link between switches went down or came up,
/// all switches route around it, or over it again (`converge_us`).
#pragma once

#include <vector>

#include "sim/experiment/topology.hpp"

namespace mrc::sim {

class Routes {
 public:
  /// Listens to the fabric's links if the topology has converge_us.
  Routes(const Topology& topology, Fabric& fabric);
  Routes(const Routes&) = delete;
  Routes& operator=(const Routes&) = delete;
  ~Routes();

 private:
  void changed(LinkId link, bool up);
  /// Tables of all switches of a plane, from the links that are known to be up.
  void write(unsigned plane);
  bool up(LinkId link) const { return !down_[link]; }

  const Topology& topology_;
  Fabric& fabric_;
  std::vector<bool> down_;         // as the routes know it
  std::vector<uint32_t> changes_;  // of each link
};

}  // namespace mrc::sim

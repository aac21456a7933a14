// SPDX-License-Identifier: Apache-2.0
/// For endpoints that are processes of SystemC: spawned with sc_core::sc_spawn (SC_INCLUDE_DYNAMIC_PROCESSES) in
/// start(), terminated in the destructor.
#pragma once

#include "sim/engine/fabric.hpp"

namespace mrc::sim {

/// Held by a process while it uses the fabric (Access, Fabric). The fabric has then done everything before this time;
/// afterwards the packet engine takes up what is new.
///
///     void clock() { FromProcess here(fabric); access.kick(0); next_trigger(period); }
///
/// The other way, from a callback to a process: Fabric::notify().
class FromProcess {
 public:
  explicit FromProcess(Fabric& fabric);
  ~FromProcess();
  FromProcess(const FromProcess&) = delete;
  FromProcess& operator=(const FromProcess&) = delete;

 private:
  Fabric& fabric_;
};

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
/// The packet engine as a process of SystemC.
#pragma once

#include <exception>

#include "sim/engine/fabric.hpp"

namespace mrc::sim {

/// SystemC has one kernel per process of the operating system, elaborated once. So has this class one object, with the
/// one SC_METHOD in which the packets of whichever fabric runs are moved. Fabrics come and go: their nodes are no
/// modules. Clocked endpoints may bring processes of their own, made with sc_spawn (sim/engine/systemc.hpp).
class Kernel {
 public:
  static Kernel& instance();
  /// Fabric::run(): one fabric at a time.
  RunEnd run(Fabric& fabric, Time until);
  /// Time of SystemC in picoseconds.
  static uint64_t time_ps();
  void notify(Fabric& fabric, sc_core::sc_event& event, Time time);
  /// A foreign process begins, ends to work on the fabric.
  void enter(Fabric& fabric);
  void leave(Fabric& fabric);
  /// Times the SC_METHOD ran.
  uint64_t activations() const;

 private:
  struct Module;
  Kernel();
  ~Kernel();
  void step();
  std::unique_ptr<Module> module_;
  Fabric* fabric_ = nullptr;
  Time until_ = 0;
  bool inside_ = false;
  std::exception_ptr thrown_;  ///< out of the SC_METHOD: SystemC would end with words of its own
};

}  // namespace mrc::sim

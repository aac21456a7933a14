// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/fpga/hooks.hpp"
#include "verilated.h"

namespace mrc {

/// A Verilated module, for the bench that is derived. A test fails if an assertion of the RTL fails that it does not
/// ask for by failed_assertions().
template <class Top>
class Unit {
 public:
  explicit Unit(const char* name) : top(std::make_unique<Top>(&context, name)) {}
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  VerilatedContext context;  // outlives what is in it
  std::unique_ptr<Top> top;

 protected:
  ~Unit() {
    CHECK(failed_assertions() == std::vector<std::string>{});
    Verilated::threadContextp(&context);
    top->final();
  }
  void settle() {
    Verilated::threadContextp(&context);
    top->eval();
  }
  void edge() {
    top->clk_i = 1;
    settle();
    top->clk_i = 0;
    settle();
  }
  /// A reset of four cycles.
  template <class Cycle>
  void reset(Cycle cycle) {
    settle();
    top->rst_ni = 1;  // an edge needs a level before it
    settle();
    top->rst_ni = 0;
    for (unsigned i = 0; i < 4; ++i) cycle();
    top->rst_ni = 1;
    failed_assertions();
  }
  void reset() {
    reset([this] { edge(); });
  }
};

}  // namespace mrc

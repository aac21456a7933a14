// SPDX-License-Identifier: Apache-2.0
/// unit_top.sv with its clock, and what its assertions say.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "Vunit_top.h"
#include "util/rng.hpp"
#include "verilated.h"

namespace mrc {

/// A number that is often at an edge of its `bits` bits: 0, 1, all ones, one bit, or small.
uint64_t corner(Rng& rng, unsigned bits);

class Unit {
 public:
  /// Out of reset, all inputs 0.
  Unit();
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;
  ~Unit();

  Vunit_top& pins() { return *top_; }
  Vunit_top* operator->() { return top_.get(); }
  /// Outputs follow the inputs.
  void settle() {
    Verilated::threadContextp(&context_);  // an assertion that fails is counted there
    top_->eval();
  }
  /// One rising edge.
  void clock() {
    top_->clk_i = 1;
    settle();
    top_->clk_i = 0;
    settle();
  }
  /// Names of the assertions that have failed since the last call, in order.
  std::vector<std::string> failed();

 private:
  VerilatedContext context_;
  std::unique_ptr<Vunit_top> top_;
};

}  // namespace mrc

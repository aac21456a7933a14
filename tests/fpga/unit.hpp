// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <memory>
#include <optional>
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

/// One with the register port of a block of the map. Bench is what is derived; its cycle() is one.
template <class Bench, class Top>
class RegisterUnit : public Unit<Top> {
 public:
  using Unit<Top>::Unit, Unit<Top>::top;

  /// False: refused.
  bool write(unsigned at, uint32_t value, unsigned strobes = 15) {
    auto& t = *top;
    t.w_go_i = 1;
    t.w_word_i = static_cast<uint16_t>(at / 4);
    t.w_data_i = value;
    t.w_strb_i = static_cast<uint8_t>(strobes);
    this->settle();
    const bool good = t.w_good_o;
    static_cast<Bench*>(this)->cycle();
    t.w_go_i = 0;
    return good;
  }
  std::optional<uint32_t> try_read(unsigned at) {
    top->r_word_i = static_cast<uint16_t>(at / 4);
    this->settle();
    if (!top->r_good_o) return {};
    return top->r_data_o;
  }
  uint32_t read(unsigned at) {
    const auto value = try_read(at);
    REQUIRE(value);
    return *value;
  }
};

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
// Division and multiplication of cc_nscc, and the bits of a row of rx_track: exhaustive where they are small.
#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>

#include "protocol/psn.hpp"
#include "protocol/tx_window.hpp"
#include "tests/rtl/unit.hpp"

namespace mrc::test::arithmetic_test {
namespace {

using Wide = unsigned __int128;

/// The quotient of an unsigned division whose result has `width` bits, all ones when it does not fit.
uint64_t quotient(uint64_t rem, uint64_t low, uint64_t den, unsigned width) {
  const uint64_t ones = (uint64_t{1} << width) - 1;
  return rem >= den ? ones : static_cast<uint64_t>((Wide{rem} << width | low) / den);
}

void divide(Unit& unit, uint64_t rem, uint64_t low, uint64_t den, unsigned width) {
  unit->div_rem_i = rem;
  unit->div_low_i = low;
  unit->div_den_i = den;
  unit->div_load_i = 1;
  unit->div_step_i = 0;
  unit.clock();
  unit->div_load_i = 0;
  unit->div_step_i = 1;
  for (unsigned i = 0; i < width / 2; ++i) unit.clock();
}

void multiply(Unit& unit, uint64_t a, uint64_t b) {
  unit->mul_a_i = a;
  unit->mul_b_i = static_cast<uint32_t>(b);
  unit->mul_load_i = 1;
  unit->mul_step_i = 0;
  unit.clock();
  unit->mul_load_i = 0;
  unit->mul_step_i = 1;
  unit.clock();
}

}  // namespace

TEST_CASE("the RTL divides 12 by 6 bits, all of them", "[rtl][arithmetic]") {
  Unit unit;
  for (uint64_t den = 0; den < 64; ++den) {
    for (uint64_t rem = 0; rem < 64; ++rem) {
      for (uint64_t low = 0; low < 64; ++low) {
        divide(unit, rem, low, den, 6);
        if (unit->div_small_o != quotient(rem, low, den, 6)) {
          FAIL(rem << " " << low << " / " << den << ": " << unsigned{unit->div_small_o});
        }
      }
    }
  }
}

TEST_CASE("the RTL divides 88 by 44 bits, at random and at the edges", "[rtl][arithmetic]") {
  Unit unit;
  Rng rng(1, "div");
  for (unsigned i = 0; i < 20000; ++i) {
    const uint64_t den = corner(rng, 44), low = corner(rng, 44);
    uint64_t rem = corner(rng, 44);
    if (rng.chance(0.8) && den != 0) rem %= den;
    divide(unit, rem, low, den, 44);
    INFO(rem << " " << low << " / " << den);
    REQUIRE(unit->div_o == quotient(rem, low, den, 44));
  }
}

TEST_CASE("the RTL multiplies 6 by 4 and 8 by 5 bits, all of them", "[rtl][arithmetic]") {
  Unit unit;
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 32; ++b) {
      multiply(unit, a, b);
      if (unit->mul_middle_o != a * b || unit->mul_small_o != (a & 63) * (b & 15)) {
        FAIL(a << " * " << b << ": " << unit->mul_middle_o << ", " << unit->mul_small_o);
      }
    }
  }
}

TEST_CASE("the RTL multiplies 54 by 29 bits, at random and at the edges", "[rtl][arithmetic]") {
  Unit unit;
  Rng rng(1, "mul");
  for (unsigned i = 0; i < 50000; ++i) {
    const uint64_t a = corner(rng, 54), b = corner(rng, 29);
    multiply(unit, a, b);
    const Wide p = Wide{a} * b;
    INFO(a << " * " << b);
    for (unsigned word = 0; word < 3; ++word) {
      REQUIRE(unit->mul_o[word] == static_cast<uint32_t>(p >> (32 * word)));
      REQUIRE(unit->mul_dsp_o[word] == unit->mul_o[word]);
    }
  }
}

TEST_CASE("ones of a row: run, number, highest, only one", "[rtl][arithmetic]") {
  Unit unit;
  const auto check = [&](uint64_t row) {
    unit->row_i = row;
    unit.settle();
    const auto run = static_cast<unsigned>(std::countr_one(row));
    bool right = unit->row_run_o == (run == 64 ? ~uint64_t{0} : (uint64_t{1} << run) - 1);
    right = right && unit->row_ones_o == static_cast<unsigned>(std::popcount(row));
    if (row != 0) right = right && unit->row_top_o == static_cast<unsigned>(63 - std::countl_zero(row));
    if (std::has_single_bit(row)) right = right && unit->row_place_o == static_cast<unsigned>(std::countr_zero(row));
    if (!right) FAIL("row " << row << ": run " << unit->row_run_o << ", ones " << unsigned{unit->row_ones_o});
  };
  for (uint64_t low = 0; low < 1u << 16; ++low) {  // every 16 bits, at each quarter, among zeros and among ones
    for (unsigned at = 0; at < 64; at += 16) {
      check(low << at);
      check(~(low << at));
    }
  }
  for (unsigned at = 0; at < 64; ++at) {
    check(uint64_t{1} << at);
    check((uint64_t{1} << at) - 1);
    check(~(uint64_t{1} << at));
  }
  Rng rng(1, "row");
  for (unsigned i = 0; i < 100000; ++i) check(corner(rng, 64));
}

TEST_CASE("16 bits: the lowest one, its place, their number", "[rtl][arithmetic]") {
  Unit unit;
  for (unsigned x = 0; x < 1u << 16; ++x) {
    unit->math_a_i = x;
    unit.settle();
    bool right = unit->math_lowest_bit_o == (x & (0u - x));
    right = right && unit->math_ones_o == static_cast<unsigned>(std::popcount(x));
    if (x != 0) right = right && unit->math_lowest_o == static_cast<unsigned>(std::countr_zero(x));
    if (!right) FAIL(x);
  }
}

TEST_CASE("PSNs: who is before whom, who is between, a < b + c without the sum", "[rtl][arithmetic]") {
  Unit unit;
  Rng rng(1, "psn");
  unsigned less = 0, equal = 0;
  const auto check = [&](uint32_t a, uint32_t b, uint32_t c) {
    unit->math_a_i = a;
    unit->math_b_i = b;
    unit->math_c_i = c;
    unit.settle();
    const uint32_t rest = psn_dist(a, psn_add(b, c));  // of a - (b + c)
    bool right = unit->math_before_o == psn_before(a, b);
    if (psn_dist(c, b) < kPsnHalf) right = right && unit->math_in_o == in_window(a, b, c);
    if (rest != kPsnHalf) {  // less than half of the space apart
      right = right && unit->math_less_o == (rest > kPsnHalf);
      right = right && unit->math_not_more_o == (rest > kPsnHalf || rest == 0);
      less += rest > kPsnHalf;
      equal += rest == 0;
    }
    if (!right) FAIL(a << " " << b << " " << c);
  };
  // All of 4 bits, at the bottom, across the wrap, and with the top bits.
  for (uint32_t a = 0; a < 16; ++a) {
    for (uint32_t b = 0; b < 16; ++b) {
      for (uint32_t c = 0; c < 16; ++c) {
        check(a, b, c);
        check(psn_add(a, -8), psn_add(b, -8), c);
        check(a << 20, b << 20, c << 20);
      }
    }
  }
  for (unsigned i = 0; i < 100000; ++i) {
    const auto b = static_cast<uint32_t>(corner(rng, 24)), c = static_cast<uint32_t>(corner(rng, 24));
    check(static_cast<uint32_t>(corner(rng, 24)), b, c);
    check(psn_add(psn_add(b, c), static_cast<int64_t>(rng.below(5)) - 2), b, c);
  }
  CHECK(less > 10000);
  CHECK(equal > 10000);
}

}  // namespace mrc::test::arithmetic_test

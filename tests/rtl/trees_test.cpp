// SPDX-License-Identifier: Apache-2.0
// What simulates the RTL must itself be right: gates by Verilator, and the same by hand.
#include <catch2/catch_test_macros.hpp>

#include "Vtrees.h"
#include "util/rng.hpp"
#include "verilated.h"

namespace mrc::test::trees_test {

TEST_CASE("Verilator makes right code of trees of gates", "[rtl][verilator]") {
  VerilatedContext context;
  Vtrees top(&context, "trees");
  Rng rng(1, "trees");
  unsigned always = 0, sometimes = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    top.a_i = static_cast<uint32_t>(rng.below(1 << 24));
    top.b_i = static_cast<uint32_t>(rng.below(1 << 24));
    Verilated::threadContextp(&context);
    top.eval();
    const auto a = [&](unsigned bit) { return (top.a_i >> bit & 1) != 0; };
    const auto b = [&](unsigned bit) { return (top.b_i >> bit & 1) != 0; };
    const bool equal = (!b(22) && b(9)) == (!b(22) && !a(4));
    const bool first = equal != (!a(13) != (a(15) || b(7)));
    const bool left = (a(2) && a(21) && a(11) != a(13)) || (a(2) && a(11) && b(15) != a(22));
    const bool right = (!b(9) && b(23) && (a(14) || b(11))) || (!(b(8) && a(8)) && !b(21) && a(9));
    always += (top.always_wrong_o != 0) != first;
    sometimes += (top.sometimes_wrong_o != 0) == (left && right);
  }
  top.final();
  CHECK(always == 0);
  CHECK(sometimes == 0);
}

}  // namespace mrc::test::trees_test

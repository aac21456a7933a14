// SPDX-License-Identifier: Apache-2.0
#include "protocol/ev_profile.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

namespace mrc::test::ev_profile_test {

TEST_CASE("the row has the fields side by side, and expands from the bottom", "[protocol][ev]") {
  // 16 bits, 1100 0000 0000 0000, the low 14 from the number; 12 bits, 0xABC; 4 bits from the number.
  // 18 bits: 10 1010 1011 1100 (2ABC), 1101 (D)
  CHECK(ev_expand(0xC000ABC0, 0x3FFF000F, 0x2ABCD) == 0xEABCABCD);
  // A set mask bit replaces what init holds there: 0101 with mask 0110 and number 01.
  CHECK(ev_expand(0b0101, 0b0110, 0b01) == 0b0011);
  CHECK(ev_expand(0xffffffff, 0x80000001, 0b10) == 0xfffffffe);
  // 8 bits, 1010 0101, low four bits from the number; 8 bits, zero, bits 7, 6 and 0 from the number.
  CHECK(ev_expand(0xA500, 0x0FC1, 0b1011'010) == 0xAB40);
  CHECK(ev_expand(0xA500, 0x0FC1, 0) == 0xA000);
  CHECK(ev_expand(0xA500, 0x0FC1, 0x7f) == 0xAFC1);
  CHECK(ev_expand(0xdeadbeef, 0xffffffff, 0x80000001) == 0x80000001);
  CHECK(ev_expand(0xdeadbeef, 0, 0) == 0xdeadbeef);
}

TEST_CASE("EV numbers count modulo max_val + 1", "[protocol][ev]") {
  CHECK(ev_number_next(4, 5) == 5);
  CHECK(ev_number_next(5, 5) == 0);
  CHECK(ev_number_next(0, 0) == 0);
  CHECK(ev_number_next(0xffffffff, 0xffffffff) == 0);
}

TEST_CASE("AUTO: xorshift of 32 bits", "[protocol][ev]") {
  // Marsaglia's generator 13, 17, 5 from 1.
  uint32_t v = 1;
  for (const uint32_t want : {270369u, 67634689u, 2647435461u, 307599695u, 2398689233u}) {
    v = ev_auto_next(v);
    CHECK(v == want);
  }
  CHECK(ev_auto_next(0) == 0);  // why the seed is not 0
}

TEST_CASE("AUTO: the bits of the mask travel, the others are those of init; no mask: all", "[protocol][ev]") {
  CHECK(ev_auto(0x1234ABCD, 0, 0xDEADBEEF) == 0xDEADBEEF);
  CHECK(ev_auto(0x1234ABCD, 0xffffffff, 0xDEADBEEF) == 0xDEADBEEF);
  CHECK(ev_auto(0, 0x0000ffff, 0xDEADBEEF) == 0x0000BEEF);
  CHECK(ev_auto(0xC000, 0x00003fff, 0xDEADBEEF) == 0x0000FEEF);
}

TEST_CASE("generated EVs are never 0", "[protocol][ev]") {
  const auto rows = [](std::initializer_list<uint32_t> values) {
    std::vector<uint32_t> out;
    bool zero = false;
    for (const uint32_t v : values) {
      if (const auto ev = ev_not_zero(v, zero)) out.push_back(*ev);
    }
    return out;
  };
  CHECK(rows({1, 2, 3}) == std::vector<uint32_t>{1, 2, 3});
  CHECK(rows({5, 0, 6, 0, 7}) == std::vector<uint32_t>{5, 6, 7});  // the next one takes its row
  CHECK(rows({0, 0, 5}) == std::vector<uint32_t>{8, 5});           // the second in a row is 8
  CHECK(rows({0, 0, 0, 5, 0}) == std::vector<uint32_t>{8, 5});     // the third begins anew
  CHECK(rows({0, 0, 0, 0}) == std::vector<uint32_t>{8, 8});        // a profile that gives nothing else
}

}  // namespace mrc::test::ev_profile_test

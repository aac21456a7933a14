// SPDX-License-Identifier: Apache-2.0
#include "protocol/address.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace mrc;

TEST_CASE("the address of a NIC on a plane: the number stands in three bits, or the address is one",
          "[protocol][address][A-76]") {
  constexpr auto of = [](uint64_t high, uint64_t low) { return U128{high} << 64 | low; };
  constexpr U128 a = of(0xfd00'0000'0000'0007, 0xffff'0000'0000'00ff);
  CHECK(at_plane(a, 5, {}) == a);
  CHECK(at_plane(a, 5, {.enable = false, .lsb = 0}) == a);
  CHECK(at_plane(a, 0, {.enable = true}) == of(0xfd00'0000'0000'0000, 0xffff'0000'0000'00ff));
  CHECK(at_plane(a, 5, {.enable = true}) == of(0xfd00'0000'0000'0005, 0xffff'0000'0000'00ff));
  CHECK(at_plane(a, 5, {.enable = true, .lsb = 0}) == of(0xfd00'0000'0000'0007, 0xffff'0000'0000'00fd));
  CHECK(at_plane(a, 6, {.enable = true, .lsb = 63}) == of(0xfd00'0000'0000'0007, 0x7fff'0000'0000'00ff));  // bits 65:63
  CHECK(at_plane(a, 2, {.enable = true, .lsb = 125}) == of(0x5d00'0000'0000'0007, 0xffff'0000'0000'00ff));
  // Bits beyond the address fall off.
  CHECK(at_plane(a, 6, {.enable = true, .lsb = 127}) == of(0x7d00'0000'0000'0007, 0xffff'0000'0000'00ff));
  CHECK(at_plane(a, 7, {.enable = true, .lsb = 126}) == of(0xfd00'0000'0000'0007, 0xffff'0000'0000'00ff));
}

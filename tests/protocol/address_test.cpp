// SPDX-License-Identifier: Apache-2.0
#include "protocol/address.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::address_test {

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

TEST_CASE("an address is a NIC's own whatever plane it names, if planes have addresses of their own",
          "[protocol][address][A-80]") {
  constexpr auto of = [](uint64_t high, uint64_t low) { return U128{high} << 64 | low; };
  constexpr U128 own = of(0xfd00'0000'0000'0000, 0x1);
  constexpr U128 five = of(0xfd00'0000'0000'0005, 0x1), eight = of(0xfd00'0000'0000'0008, 0x1);
  for (const bool enable : {false, true}) {
    const PlaneAddress rule{.enable = enable};
    CHECK(address_is_own(own, own, rule));
    CHECK(address_is_own(five, own, rule) == enable);
    CHECK(address_is_own(own, five, rule) == enable);  // the register may hold any plane's
    CHECK_FALSE(address_is_own(eight, own, rule));
    CHECK_FALSE(address_is_own(own + 2, own, rule));
  }
  // Each bit but the three of the plane counts; bits beyond 127 fall off.
  for (const unsigned lsb : {0u, 64u, 125u, 127u}) {
    for (unsigned bit = 0; bit < 128; ++bit) {
      CAPTURE(lsb, bit);
      CHECK(address_is_own(own ^ U128{1} << bit, own, {.enable = true, .lsb = lsb}) == (bit >= lsb && bit < lsb + 3));
    }
  }
}

TEST_CASE("an address is folded into 16 bits, without its plane", "[protocol][address][A-80]") {
  constexpr auto of = [](uint64_t high, uint64_t low) { return U128{high} << 64 | low; };
  constexpr U128 a = of(0x0001'0020'0300'4007, 0x8000'0100'0000'0002);
  CHECK(address_fold(a, {}) == (0x0001 ^ 0x0020 ^ 0x0300 ^ 0x4007 ^ 0x8000 ^ 0x0100 ^ 0x0002));
  CHECK(address_fold(a, {.enable = true}) == (0x0001 ^ 0x0020 ^ 0x0300 ^ 0x4000 ^ 0x8000 ^ 0x0100 ^ 0x0002));
  CHECK(address_fold(a, {.enable = true, .lsb = 127}) ==
        (0x0001 ^ 0x0020 ^ 0x0300 ^ 0x4007 ^ 0x8000 ^ 0x0100 ^ 0x0002));
  for (unsigned plane = 0; plane < 8; ++plane) {
    const PlaneAddress rule{.enable = true, .lsb = 62};
    CHECK(address_fold(at_plane(a, plane, rule), rule) == address_fold(a, rule));
  }
  CHECK(address_fold(0, {}) == 0);
}

}  // namespace mrc::test::address_test

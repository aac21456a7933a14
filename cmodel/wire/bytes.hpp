// SPDX-License-Identifier: Apache-2.0
/// Big-endian numbers in byte arrays.
#pragma once

#include <cstdint>

namespace mrc::wire {

/// The N bytes at p as a number, first byte most significant.
template <unsigned N>
constexpr uint64_t load_be(const uint8_t* p) {
  static_assert(N >= 1 && N <= 8);
  uint64_t value = 0;
  for (unsigned i = 0; i < N; ++i) value = value << 8 | p[i];
  return value;
}

/// Writes the low N bytes of value to p, most significant byte first.
template <unsigned N>
constexpr void store_be(uint8_t* p, uint64_t value) {
  static_assert(N >= 1 && N <= 8);
  for (unsigned i = 0; i < N; ++i) p[i] = static_cast<uint8_t>(value >> (8 * (N - 1 - i)));
}

/// The 4 bytes at p as a number, first byte least significant: the ICRC's order.
constexpr uint32_t load_le32(const uint8_t* p) {
  return p[0] | uint32_t{p[1]} << 8 | uint32_t{p[2]} << 16 | uint32_t{p[3]} << 24;
}

constexpr void store_le32(uint8_t* p, uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) p[i] = static_cast<uint8_t>(value >> (8 * i));
}

}  // namespace mrc::wire

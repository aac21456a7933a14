// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace mrc {

namespace detail {

using CrcTables = std::array<std::array<uint32_t, 256>, 4>;

constexpr CrcTables make_crc_tables() {
  CrcTables t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = (c >> 1) ^ (c & 1 ? 0xEDB88320u : 0);
    t[0][i] = c;
  }
  for (unsigned j = 1; j < 4; ++j) {
    for (unsigned i = 0; i < 256; ++i) t[j][i] = (t[j - 1][i] >> 8) ^ t[0][t[j - 1][i] & 0xff];
  }
  return t;
}

inline constexpr CrcTables kCrcTables = make_crc_tables();

}  // namespace detail

/// As wire::crc_update for a size that is a multiple of 4. Meant for the 16 or 32 bytes of a port beat, where a call of
/// zlib costs four times as much; the 4 KiB of tables stay in the first-level cache.
inline uint32_t icrc_words(uint32_t reg, const uint8_t* data, unsigned size) {
  static_assert(std::endian::native == std::endian::little);
  const auto& t = detail::kCrcTables;
  for (unsigned i = 0; i + 4 <= size; i += 4) {
    uint32_t word;
    std::memcpy(&word, data + i, 4);
    word ^= reg;
    reg = t[3][word & 0xff] ^ t[2][word >> 8 & 0xff] ^ t[1][word >> 16 & 0xff] ^ t[0][word >> 24];
  }
  return reg;
}

/// As wire::crc_update, for a few bytes.
inline uint32_t icrc_bytes(uint32_t reg, const uint8_t* data, unsigned size) {
  for (unsigned i = 0; i < size; ++i) reg = (reg >> 8) ^ detail::kCrcTables[0][(reg ^ data[i]) & 0xff];
  return reg;
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
/// What the generated packed structs are made of.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace mrc {

/// Fields of 65 to 128 bits.
__extension__ typedef unsigned __int128 U128;

/// Fields above 128 bits: 32-bit words, least significant first; bits above W are zero.
template <unsigned W>
using Bits = std::array<uint32_t, (W + 31) / 32>;

/// One value of an enum, by name.
struct EnumValue {
  const char* name;
  uint64_t value;
};

/// One field of a packed struct. Nested structs are flattened: the name is then "outer.inner".
struct FieldInfo {
  const char* name;
  unsigned lsb;                      ///< position of its lowest bit
  unsigned width;                    ///< in bits
  std::span<const EnumValue> names;  ///< empty unless the field is an enum

  /// The name of an enum value, or nullptr.
  constexpr const char* name_of(uint64_t value) const {
    for (const EnumValue& e : names) {
      if (e.value == value) return e.name;
    }
    return nullptr;
  }

  /// Word `index` (32 bits, least significant first) of the field, out of the packed struct's words.
  constexpr uint32_t word(const uint32_t* words, unsigned index = 0) const {
    const unsigned from = 32 * index;
    if (from >= width) return 0;
    const unsigned count = width - from < 32 ? width - from : 32;
    const unsigned at = lsb + from;
    uint64_t value = words[at / 32] >> (at % 32);
    if (at % 32 + count > 32) value |= uint64_t{words[at / 32 + 1]} << (32 - at % 32);
    return static_cast<uint32_t>(count == 32 ? value : value & ((uint64_t{1} << count) - 1));
  }

  /// The lowest 64 bits of the field.
  constexpr uint64_t low64(const uint32_t* words) const { return word(words, 0) | uint64_t{word(words, 1)} << 32; }
};

/// One observed block boundary: word_offset holds {30'b0, ready, valid}, the data words follow.
struct StreamInfo {
  const char* name;         ///< as in streams.yaml, "tx_sched.grant"
  const char* struct_name;  ///< as in the RTL, "grant_t"
  unsigned word_offset;     ///< in 32-bit words from the start of obs_core_t or obs_lane_t
  unsigned data_words;
  unsigned bits;  ///< width of the struct
  std::span<const FieldInfo> fields;
};

}  // namespace mrc

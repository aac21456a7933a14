// SPDX-License-Identifier: Apache-2.0
/// EV profiles that are computed instead of listed: AUTO and GENERATED (mrc.md section 5;
/// docs/design/blocks/tx/tx_path.md, "Gen"; assumption A-61).
#pragma once

#include <cstdint>
#include <optional>

namespace mrc {

/// Bits of an EV.
inline constexpr unsigned kEvBits = 32;

/// One EV of a GENERATED profile. init and mask are its fields side by side, the first on top; the set bits of mask
/// take those of `number`, from bit 0 up.
constexpr uint32_t ev_expand(uint32_t init, uint32_t mask, uint32_t number) {
  uint32_t ev = init & ~mask;
  for (uint32_t left = mask; left != 0; left &= left - 1, number >>= 1) {
    if (number & 1u) ev |= left & (~left + 1u);
  }
  return ev;
}

/// The EV number after `number`.
constexpr uint32_t ev_number_next(uint32_t number, uint32_t max_val) { return number == max_val ? 0 : number + 1; }

/// AUTO: the value after v, three xorshift steps; it meets every value but 0 before it repeats. The first EV of a
/// profile is the value after the seed.
constexpr uint32_t ev_auto_next(uint32_t v) {
  v ^= v << 13;
  v ^= v >> 17;
  v ^= v << 5;
  return v;
}

/// AUTO: the EV made of a value of that sequence. The bits of mask come from it, the others from init: an EV that is a
/// UDP source port alone has zeros in the half that does not travel, or no mark would find it. mask 0: the whole value.
constexpr uint32_t ev_auto(uint32_t init, uint32_t mask, uint32_t v) {
  return mask == 0 ? v : (v & mask) | (init & ~mask);
}

/// What stands in a row instead of 0, where a profile gives nothing else.
inline constexpr uint32_t kEvForZero = 8;

/// No EV that is made is 0: what the next row takes of a value made for it. Nothing: the value is 0, and the
/// next one is tried. `zero`: the value before was one of those; false before the first value of a profile.
constexpr std::optional<uint32_t> ev_not_zero(uint32_t value, bool& zero) {
  const bool again = value == 0 && !zero;
  zero = again;
  if (again) return std::nullopt;
  return value == 0 ? kEvForZero : value;
}

}  // namespace mrc

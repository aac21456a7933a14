// SPDX-License-Identifier: Apache-2.0
/// EV profiles that are computed instead of listed: AUTO and GENERATED (mrc.md section 5;
/// docs/design/blocks/tx/tx_path.md, "Gen"; assumption A-61).
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/result.hpp"

namespace mrc {

/// Bits of an EV's format; also the number of fields it has room for, one bit each.
inline constexpr unsigned kEvBits = 32;

/// One field of a GENERATED profile, as the API gives it.
struct EvField {
  unsigned width = 0;     ///< bits, 1 to 32
  uint32_t init_val = 0;  ///< zero-extended to the width
  uint32_t mask = 0;      ///< bits that are taken from the EV number
};

/// A GENERATED profile, as the API gives it. Several fields share the EV number: the first takes its most significant
/// bits.
struct EvFieldList {
  std::span<const EvField> fields;   ///< first field on top of the EV; bits above all fields are zero
  unsigned format_fields = kEvBits;  ///< fields the format has room for
  unsigned format_width = kEvBits;   ///< bits the format has room for, at most 32
  uint32_t max_val = 0;              ///< largest EV number; the number after it is 0
  uint32_t seed = 0;                 ///< first EV number
};

/// A GENERATED profile in the form that computes fastest: the fields concatenated, the first on top.
struct EvGenerator {
  uint32_t init = 0, mask = 0;
  uint32_t max_val = 0;  ///< EV numbers count modulo max_val + 1
  uint32_t seed = 0;     ///< first EV number
};

/// That form of a list of fields. An Error has the number of the field concerned as its offset (0 for limits
/// of the whole list), and names the limit: "too many fields", "sum of widths", "width", "init_val", "mask", "max_val",
/// "seed".
wire::Result<EvGenerator> ev_generator(const EvFieldList& list);

/// One EV as the API defines it: in each field, from the top, every set bit of mask takes the next most significant bit
/// of `number`, which has as many bits as all masks together. The list must be good for ev_generator().
uint32_t ev_expand_fields(std::span<const EvField> fields, uint32_t number);

/// The same from the concatenated init and mask, from the other end: the least significant mask bit takes bit
/// 0 of `number`.
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

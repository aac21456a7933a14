// SPDX-License-Identifier: Apache-2.0
#include "protocol/ev_profile.hpp"

#include <string>

namespace mrc {

namespace {

wire::Error refused(std::size_t field, std::string what, std::string remedy) {
  return {"EV profile", field, std::move(what), std::move(remedy)};
}

/// True when `value` has no bit above `width`.
constexpr bool within(uint32_t value, unsigned width) { return width >= 32 || value >> width == 0; }

}  // namespace

wire::Result<EvGenerator> ev_generator(const EvFieldList& list) {
  if (list.format_width > kEvBits) {
    return refused(0, "format: " + std::to_string(list.format_width) + " bits", "An EV has 32 bits at most.");
  }
  if (list.fields.size() > list.format_fields) {
    return refused(0,
                   "too many fields: " + std::to_string(list.fields.size()) + ", the format has " +
                       std::to_string(list.format_fields),
                   "Leave fields out or join them.");
  }
  EvGenerator row;
  uint64_t init = 0, mask = 0, sum = 0;
  for (std::size_t i = 0; i < list.fields.size(); ++i) {
    const EvField& f = list.fields[i];
    if (f.width == 0 || f.width > kEvBits) {
      return refused(i, "width: " + std::to_string(f.width) + " is not 1..32", "Give each field 1 to 32 bits.");
    }
    sum += f.width;
    if (sum > list.format_width) {
      return refused(i, "sum of widths: more than the format's " + std::to_string(list.format_width) + " bits",
                     "Make fields narrower.");
    }
    if (!within(f.init_val, f.width)) {
      return refused(i, "init_val: wider than the field's " + std::to_string(f.width) + " bits",
                     "Make init_val smaller or the field wider.");
    }
    if (!within(f.mask, f.width)) {
      return refused(i, "mask: wider than the field's " + std::to_string(f.width) + " bits",
                     "Clear mask bits above the field.");
    }
    init = init << f.width | f.init_val;
    mask = mask << f.width | f.mask;
  }
  row.init = static_cast<uint32_t>(init);
  row.mask = static_cast<uint32_t>(mask);
  const auto bits = static_cast<unsigned>(std::popcount(row.mask));
  if (!within(list.max_val, bits)) {
    return refused(0, "max_val: wider than the masks' " + std::to_string(bits) + " bits",
                   "Make max_val smaller or set more mask bits.");
  }
  if (list.seed > list.max_val) return refused(0, "seed: above max_val", "Start at an EV number of 0..max_val.");
  row.max_val = list.max_val;
  row.seed = list.seed;
  return row;
}

uint32_t ev_expand_fields(std::span<const EvField> fields, uint32_t number) {
  unsigned left = 0;  // bits of number not given out yet
  for (const EvField& f : fields) left += static_cast<unsigned>(std::popcount(f.mask));
  uint64_t ev = 0;
  for (const EvField& f : fields) {
    uint32_t value = f.init_val;
    for (unsigned bit = f.width; bit-- > 0;) {
      if ((f.mask >> bit & 1u) == 0) continue;
      --left;
      value = (value & ~(1u << bit)) | (number >> left & 1u) << bit;
    }
    ev = ev << f.width | value;
  }
  return static_cast<uint32_t>(ev);
}

}  // namespace mrc

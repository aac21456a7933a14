// SPDX-License-Identifier: Apache-2.0
/// Is the judge right about NICs that are not ours? A device around another one: what comes out of that one is changed,
/// lawfully (a judge that complains is wrong) or not (a judge that does not is blind). docs/reference/variants.md lists
/// them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "tb/device/device.hpp"

namespace mrc::tb {

struct Variant {
  const char* name;
  bool legal;
  const char* what;      ///< "the bitmap of SACKs has a bit more"
  const char* scenario;  ///< a built-in one in which it shows
  const char* rules;     ///< one of these must be named, blanks between them; of a legal one ""
  /// Why it shows at L1 alone; "": it shows at L2 too.
  const char* l1_only = "";
  /// A key of the scenario that it needs as well, "rto = 8"; "": none.
  const char* key = "";
  const char* preset = "";  ///< which it needs; "": any
};

/// All of them, legal ones first.
std::span<const Variant> variants();
/// Null: there is none of that name.
const Variant* find_variant(std::string_view name);

/// `inside` as that variant. Everything random follows from `seed`.
std::unique_ptr<NicDevice> make_varied_device(std::unique_ptr<NicDevice> inside, const Variant& variant, uint64_t seed);

}  // namespace mrc::tb

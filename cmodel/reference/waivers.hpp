// SPDX-License-Identifier: Apache-2.0
/// Rules that may be broken for a while: who says so, why, and until when.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "input/error.hpp"

namespace mrc::ref {

struct Waiver {
  std::string reason;
  std::string who, until;  ///< "2026-12-31"; empty: one of a command line
};
/// By the ids of rules.
using Waivers = std::map<std::string, Waiver>;

/// "not built yet (A. Meier, until 2026-12-31)".
std::string to_text(const Waiver& waiver);

/// Reads tables [[waiver]] (TOML) with the keys rule, reason, who, until (a date, the last day on which it holds).
/// Throws InputError: what is missing or not known, a rule that there is not or that has two, one whose last day is
/// before `today`.
Waivers read_waivers(std::string_view toml, const std::string& file, std::string_view today);
/// Of now, in UTC: "2026-11-23".
std::string today();

}  // namespace mrc::ref

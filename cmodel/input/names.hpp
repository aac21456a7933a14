// SPDX-License-Identifier: Apache-2.0
/// Names that are not known, and those that may have been meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mrc::input {

/// The known name with the fewest changed, missing, added or exchanged letters; empty if none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

/// "; did you mean base?", or a full stop when no known name is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace mrc::input

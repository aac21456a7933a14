// SPDX-License-Identifier: Apache-2.0
/// Configurations of the congestion controller as people write them: TOML, JSON, options.
#pragma once

#include <string>
#include <string_view>

#include "input/number.hpp"
#include "protocol/nscc_config.hpp"

namespace mrc {

/// Sets a field from what was written; switches take true and false as well. Throws InputError with the place.
void nscc_set(NsccParams& params, const NsccField& field, const input::Literal& literal);

/// Sets the fields that a text names, one per line as TOML, or as one JSON object. `file` is for messages. Throws
/// InputError with line and column, and the nearest known field.
void nscc_read_toml(NsccParams& params, std::string_view text, const std::string& file);
void nscc_read_json(NsccParams& params, std::string_view text, const std::string& file);

}  // namespace mrc

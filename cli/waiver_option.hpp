// SPDX-License-Identifier: Apache-2.0
/// --waive of mrc check, mrc replay and mrc cosim.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "reference/waivers.hpp"

namespace mrc::cli {

void waiver_option(Command& command, std::vector<std::string>& to);
/// Each is RULE=REASON, or a file of waivers. Throws UsageError, InputError.
ref::Waivers waivers_of(const std::vector<std::string>& options);

}  // namespace mrc::cli

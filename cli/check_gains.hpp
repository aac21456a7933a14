// SPDX-License-Identifier: Apache-2.0
/// What a device's events are worth: the same logs judged with more and more of them.
#pragma once

#include <string>
#include <vector>

#include "reference/run.hpp"

namespace mrc::cli {

/// A table: of each rule that some event changes, how often it was applied and how often it was at rest, from a device
/// that shows nothing to one that shows all that these logs have. Reads the logs once for each step. Throws UsageError:
/// none of the devices shows anything.
std::string gains(const std::vector<std::string>& logs, const ref::RunOptions& how);

}  // namespace mrc::cli

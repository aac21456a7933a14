// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mrc {

/// What assertions of the RTL have said since the last call.
std::vector<std::string> failed_assertions();

}  // namespace mrc

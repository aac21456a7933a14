// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "log/record.hpp"

namespace mrc::test {

inline constexpr log::Time kUs = 1'000'000;  ///< ps

}  // namespace mrc::test

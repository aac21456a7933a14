// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/engine/units.hpp"

namespace mrc::cli {

/// Microseconds, as results are told in.
inline double us(sim::Time t) { return static_cast<double>(t) / static_cast<double>(sim::kUs); }

}  // namespace mrc::cli

// SPDX-License-Identifier: Apache-2.0
/// Settings from TOML files, as the fabric names them.
#pragma once

#include "input/toml.hpp"
#include "sim/engine/units.hpp"
#include "util/round.hpp"

namespace mrc::sim {

using mrc::InputError;
using mrc::input::Key;
using mrc::input::Source;

/// A time that a scenario says in microseconds.
inline Time from_us(double us) { return nearest(us * static_cast<double>(kUs)); }

}  // namespace mrc::sim

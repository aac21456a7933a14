// SPDX-License-Identifier: Apache-2.0
/// Settings from TOML files, as the fabric names them.
#pragma once

#include "input/toml.hpp"

namespace mrc::sim {

using mrc::InputError;
using mrc::input::Key;
using mrc::input::Source;

}  // namespace mrc::sim

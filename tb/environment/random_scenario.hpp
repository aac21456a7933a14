// SPDX-License-Identifier: Apache-2.0
/// Scenarios that nobody has thought of: a built-in one, drawn from a seed, with other values for some of its keys.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tb/environment/scenario.hpp"

namespace mrc::tb {

/// The name that stands for a scenario drawn from the seed of the run.
inline constexpr const char* kRandomScenario = "random";

/// Values that a key may get, in words of a scenario file.
struct RandomKey {
  const char* name;
  const char* values;  ///< separated by spaces; those that are there twice come twice as often
};
std::span<const RandomKey> random_keys();
/// Keys that are never drawn, and why.
std::span<const RandomKey> keys_not_drawn();

/// The scenario of a seed. Every value fits every preset; QPs may fail only if it says so (may_fail). `draw` counts the
/// scenarios of that seed that turned out to move nothing: another one instead.
Scenario random_scenario(uint64_t seed, unsigned draw = 0);
/// The same, near others. `near`: a built-in name, or the seed of a random scenario; then steps: /SEED (few values are
/// drawn anew), +SCENARIO/SEED (each value is the one's or the other's, of a built-in or random scenario), +KEY=VALUE.
/// The run's own `seed` ends it, behind +SCENARIO or alone: random:loss/7+bad-ev/8 goes on from the run of seed 7 of
/// random:loss, then from that of seed 8 of random:loss/7+bad-ev. Throws InputError: it is nothing of this kind.
Scenario random_scenario_near(std::string_view near, uint64_t seed, unsigned draw = 0);

/// "random", or "random:NEAR", with a NEAR as above.
bool is_random(std::string_view name);
/// The scenario that such a name stands for. Throws InputError.
Scenario random_named(std::string_view name, uint64_t seed, unsigned draw = 0);

}  // namespace mrc::tb

// SPDX-License-Identifier: Apache-2.0
/// The option --fabric-profile: how the operator of a fabric has set it up.
#pragma once

#include <string>

#include "cli/context.hpp"
#include "gen/fabric_profiles.hpp"
#include "tb/environment/scenario.hpp"

namespace mrc::cli {

/// Puts the scenario's NICs into that fabric; "": as they are. Throws UsageError.
inline void use_fabric_profile(tb::Scenario& scenario, const std::string& name) {
  if (name.empty()) return;
  const FabricProfile* const profile = find_fabric_profile(name);
  if (profile == nullptr)
    throw UsageError("--fabric-profile " + name + " is not known.", "'mrc fabric --fabric-profile list' prints them.");
  tb::on_fabric(scenario, *profile);
}

/// As a command line has it.
inline std::string fabric_profile_words(const std::string& name) {
  return name.empty() ? std::string() : " --fabric-profile " + name;
}

}  // namespace mrc::cli

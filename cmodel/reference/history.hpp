// SPDX-License-Identifier: Apache-2.0
/// The rules that hold whatever a device is inside: safety from history alone (part: history of rules.yaml).
#pragma once

#include <memory>

#include "reference/checker.hpp"
#include "reference/profile.hpp"
#include "reference/report.hpp"

namespace mrc::ref {

/// `profile` and `report` must outlive it.
std::unique_ptr<Checker> make_history(const Profile& profile, Report& report);

}  // namespace mrc::ref

// SPDX-License-Identifier: Apache-2.0
/// Bins about what collectives libraries and their fabrics do: WRITEs of no bytes, immediates that wait,
/// classes of QPs, packets that switches send back, EVs that are skipped for a time.
#pragma once

#include <memory>

#include "cover/bins.hpp"
#include "reference/checker.hpp"

namespace mrc::cover {

std::unique_ptr<ref::Checker> make_collectives_watcher(const ref::Profile& profile, Bins& bins);

}  // namespace mrc::cover

// SPDX-License-Identifier: Apache-2.0
/// Counts what a device shows. It is told what the judge's checkers are told, and finds nothing.
#pragma once

#include <memory>

#include "cover/bins.hpp"
#include "reference/checker.hpp"

namespace mrc::cover {

/// All three outlive it. Rules count at its end: it comes behind the checkers that fill the report.
std::unique_ptr<ref::Checker> make_watcher(const ref::Profile& profile, const ref::Report& report, Bins& bins);

}  // namespace mrc::cover

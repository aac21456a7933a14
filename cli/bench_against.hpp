// SPDX-License-Identifier: Apache-2.0
/// mrc bench fabric --against: a scenario here and in htsim, in one table.
#pragma once

#include <cstdint>
#include <string>

#include "cli/context.hpp"

namespace mrc::cli {

/// log: what htsim_uec printed for the matrix of that scenario and seed. Returns the exit code.
int bench_against(const std::string& log, const std::string& scenario, uint64_t seed, unsigned threads,
                  const std::string& json, const Context& context);

}  // namespace mrc::cli

// SPDX-License-Identifier: Apache-2.0
/// Jobs of a run of the fabric, as text, JSON and tables (docs/guide/training.md).
#pragma once

#include <string>

#include "input/json.hpp"
#include "sim/experiment/experiment.hpp"

namespace mrc::cli {

/// For people; empty: there are none.
std::string jobs_summary(const sim::ExperimentResult& result);
input::Json jobs_json(const sim::ExperimentResult& result);
/// A line for each step of each job.
std::string steps_csv(const sim::ExperimentResult& result, const sim::Topology& topology);

}  // namespace mrc::cli

// SPDX-License-Identifier: Apache-2.0
/// What a run of the fabric is told as: text, JSON, tables in a folder.
#pragma once

#include <filesystem>
#include <string>

#include "cli/output.hpp"
#include "sim/experiment/experiment.hpp"

namespace mrc::cli {

/// For people.
std::string fabric_summary(const sim::ExperimentResult& result);
/// Everything but single flows and curves; `curves` adds these.
std::string fabric_json(const sim::ExperimentResult& result, bool curves, const std::string& run_id);
/// result.json, flows.csv, series.csv, ports.csv, steps.csv, topology.svg. What cannot be written is told when
/// `outputs` finishes.
void write_fabric_tables(const std::filesystem::path& folder, const sim::ExperimentResult& result,
                         const sim::Topology& topology, const std::string& run_id, Outputs& outputs);

}  // namespace mrc::cli

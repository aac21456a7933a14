// SPDX-License-Identifier: Apache-2.0
/// What a run of the fabric is told as: text, JSON, a folder with tables and pictures.
#pragma once

#include <filesystem>
#include <string>

#include "sim/experiment.hpp"

namespace mrc::cli {

/// For people.
std::string fabric_summary(const sim::ExperimentResult& result);
/// Everything but single flows and curves; `curves` adds these.
std::string fabric_json(const sim::ExperimentResult& result, bool curves);
/// index.html, result.json, flows.csv, series.csv, ports.csv, topology.svg and pictures. The folder is made if it is
/// not there. Throws UsageError.
void write_fabric_report(const std::filesystem::path& folder, const sim::ExperimentResult& result,
                         const sim::Topology& topology);

}  // namespace mrc::cli

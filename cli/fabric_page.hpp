// SPDX-License-Identifier: Apache-2.0
/// The page of mrc fabric: tools/report/fabric.html and fabric.js draw it from data.js, which is written here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "cli/output.hpp"
#include "sim/experiment/experiment.hpp"

namespace mrc::cli {

/// A result as it stands in data.js.
struct PageRun {
  std::string name;    ///< "" or the file that it comes from
  std::string result;  ///< JSON of fabric_json(), with curves
  /// What the JSON has not: flows, single ports, the topology, as further members (", \"flows\": ...").
  std::string more;
};

/// The further members of a run, and files with flows where there are too many of them for the page itself.
std::string page_details(const std::filesystem::path& folder, const sim::ExperimentResult& result,
                         const sim::Topology& topology, Outputs& outputs);
/// index.html and what it needs. False: without curves, since neither the folder of tools nor npm has uPlot.
bool write_fabric_page(const std::filesystem::path& folder, const std::vector<PageRun>& runs, const Context& context,
                       Outputs& outputs);

}  // namespace mrc::cli

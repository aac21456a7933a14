// SPDX-License-Identifier: Apache-2.0
/// Figures: a gnuplot script becomes an SVG file.
#pragma once

#include <filesystem>
#include <string>

namespace mrc::cli {

/// Throws UsageError when gnuplot is not there.
void need_gnuplot();
/// Runs a script that plots once; terminal and output are set here. The file appears when it is complete. Throws
/// UsageError.
void plot_svg(const std::filesystem::path& file, unsigned width, unsigned height, const std::string& script);

}  // namespace mrc::cli

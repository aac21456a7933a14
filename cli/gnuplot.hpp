// SPDX-License-Identifier: Apache-2.0
/// Figures: a gnuplot script becomes an SVG picture.
#pragma once

#include <string>

namespace mrc::cli {

/// Throws UsageError when gnuplot, which that option needs, is not there.
void need_gnuplot(const std::string& option);
/// The picture that a script plots; terminal and output are set here. Throws UsageError: gnuplot failed.
std::string plot_svg(unsigned width, unsigned height, const std::string& script);

}  // namespace mrc::cli

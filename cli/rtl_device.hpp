// SPDX-License-Identifier: Apache-2.0
/// Where the shared objects of our RTL are, and that they are built.
#pragma once

#include <filesystem>
#include <string>

#include "cli/context.hpp"
#include "gen/presets.hpp"

namespace mrc::cli {

/// Which build of the RTL: for speed, with its assertions, with them and FST waves compiled in, which costs some, or
/// with them and words that wait at random between its blocks (tools/stalled_rtl.py), which our CMake makes of tiny
/// alone.
enum class Flavour { Fast, Asserted, Wave, Stalled };

/// The shared object of a preset's RTL. When ./mrc started this program, what is out of date is built first, with words
/// on stderr; once per device, so that a long run stays with the one it began with. Without ./mrc it is the one beside
/// this program, which may be missing.
/// Throws ReportedAlready when the build fails or is interrupted.
std::filesystem::path rtl_device(const Preset& preset, Flavour flavour, const Context& context);

/// A program beside the shared objects, brought up to date likewise.
std::filesystem::path own_program(const std::string& target, const std::string& file, const Context& context);

/// Whether rtl_device() has the RTL of a preset, or can build it.
bool has_rtl(const Preset& preset, const Context& context);

/// Where ./mrc builds the RTL with waves, built or not.
std::filesystem::path wave_device(const Preset& preset, const Context& context);

}  // namespace mrc::cli

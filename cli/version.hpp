// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/rtl_device.hpp"
#include "input/json.hpp"

#ifndef MRC_VERSION
#error "cli/CMakeLists.txt defines MRC_VERSION and MRC_VERILATOR_VERSION"
#endif

namespace mrc::cli {

/// The commit, and whether something was changed since; written by cmake/built_from.cmake.
extern const char* const kCommit;
extern const bool kChanged;

/// What made a result: `versions` of each that is written as JSON.
inline input::Json versions() {
  return {{"mrcnic", MRC_VERSION},
          {"commit", kCommit},
          {"changed", kChanged},
          {"compiler", __VERSION__},
          {"verilator", MRC_VERILATOR_VERSION}};
}

/// The same as a line of text, for pages.
inline std::string versions_line() {
  return "mrcnic " MRC_VERSION ", commit " + std::string(kCommit) + (kChanged ? ", and changes since" : "") +
         "; compiler " __VERSION__ "; Verilator " MRC_VERILATOR_VERSION;
}

/// The versions a result depends on (ours, the compiler's, Verilator's), and the presets: all have a model, not all
/// need have their RTL here.
inline std::string version_text(const Context& context) {
  std::string text = "mrcnic " MRC_VERSION "\ncommit " + std::string(kCommit) +
                     (kChanged ? ", and changes since" : "") +
                     "\ncompiler " __VERSION__ "\nverilator " MRC_VERILATOR_VERSION;
  const char* between = "\npresets ";
  for (const Preset& preset : kPresets) {
    text += between + std::string(preset.name) + (has_rtl(preset, context) ? "" : " (model alone)");
    between = ", ";
  }
  return text;
}

}  // namespace mrc::cli

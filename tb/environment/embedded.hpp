// SPDX-License-Identifier: Apache-2.0
/// Files of the repository that are in the program: cmake/embed.cmake writes the definitions.
#pragma once

#include <span>

namespace mrc::tb {

/// A file as it was when the program was built.
struct EmbeddedFile {
  const char* name;  ///< without folder and ending
  const char* text;
};

/// tb/scenarios/*.toml, in the order of tb/CMakeLists.txt.
std::span<const EmbeddedFile> embedded_scenarios();

}  // namespace mrc::tb

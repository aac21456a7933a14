// SPDX-License-Identifier: Apache-2.0
/// The files of cli/dut_template, in the program: cmake/embed.cmake writes the definition.
#pragma once

#include <span>

namespace mrc::cli {

/// A file as it was when the program was built.
struct EmbeddedFile {
  const char* name;  ///< without folder and ending
  const char* text;
};

std::span<const EmbeddedFile> embedded_template();

}  // namespace mrc::cli

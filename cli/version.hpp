// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#ifndef MRC_VERSION
#error "cli/CMakeLists.txt defines MRC_VERSION and MRC_VERILATOR_VERSION"
#endif

namespace mrc::cli {

/// The versions a result depends on: ours, the compiler's, Verilator's.
inline std::string version_text() {
  return std::string("mrcnic " MRC_VERSION "\n") + "compiler " __VERSION__ "\n" + "verilator " MRC_VERILATOR_VERSION;
}

}  // namespace mrc::cli

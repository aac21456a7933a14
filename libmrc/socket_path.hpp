// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace mrc::libmrc {

/// Where a host listens, and programs look for it: MRC_HOST, or a folder of this user.
inline std::string socket_path() {
  const auto set = [](const char* name) -> const char* {
    const char* value = std::getenv(name);
    return value != nullptr && *value != 0 ? value : nullptr;
  };
  if (const char* path = set("MRC_HOST")) return path;
  if (const char* folder = set("XDG_RUNTIME_DIR")) return std::string(folder) + "/mrc/host";
  return "/tmp/mrc-" + std::to_string(geteuid()) + "/host";
}

}  // namespace mrc::libmrc

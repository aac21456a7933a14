// SPDX-License-Identifier: Apache-2.0
#include "tb/compare/bugs.hpp"

#include <string>

#include "tb/gen/bugs.hpp"

namespace mrc::tb {

std::span<const Bug> bugs() { return kBugs; }

const Bug* find_bug(std::string_view name) {
  for (const Bug& bug : kBugs) {
    if (name == bug.name || name == std::to_string(bug.number)) return &bug;
  }
  return nullptr;
}

}  // namespace mrc::tb

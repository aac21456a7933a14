// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace mrc::tb {

/// An error that the RTL makes on request (pin bug_i), so that the bench can be tested.
struct Bug {
  unsigned number;  ///< what the pin carries (cmodel/spec/bugs.yaml)
  const char* name;
  const char* block;  ///< that the report must name: the bug's own, or the first one that shows it
  const char* description;
  const char* preset;    ///< smallest one that can show it
  const char* scenario;  ///< that provokes it
  /// Of the RTL, that fails before the bench sees a difference; "": none does.
  const char* assertion;
};
std::span<const Bug> bugs();
/// By name or number; nullptr if there is none.
const Bug* find_bug(std::string_view name);

}  // namespace mrc::tb

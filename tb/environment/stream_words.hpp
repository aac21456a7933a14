// SPDX-License-Identifier: Apache-2.0
/// How the words of a stream between two blocks are read.
#pragma once

#include <cstdint>

#include "gen/streams.hpp"

namespace mrc::tb {

constexpr unsigned place(CoreStream stream) { return kCoreStreams[static_cast<unsigned>(stream)].word_offset; }
inline constexpr uint32_t kValid = 1, kReady = 2;

/// A register with a valid is new in this cycle, not one that waits.
inline bool is_new(uint32_t flags, bool& stays) {
  const bool fresh = (flags & kValid) != 0 && !stays;
  stays = (flags & kValid) != 0 && (flags & kReady) == 0;
  return fresh;
}

}  // namespace mrc::tb

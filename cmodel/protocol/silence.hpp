// SPDX-License-Identifier: Apache-2.0
/// When a QP asks its peer what has arrived (docs/protocol/loss.md section 4; assumptions ).
#pragma once

#include <algorithm>
#include <cstdint>

namespace mrc {

/// Doublings of the wait for an answer.
inline constexpr unsigned kMostAsked = 6;
/// Ticks that it waits at most: half of a time stamp's range.
inline constexpr uint32_t kMostSilence = 0x7fff;

/// Ticks of silence before the question number `asked` (0 the first): so many eighths of a round trip of `trip` ticks,
/// `least` at least, then twice that, up to 64 times.
constexpr uint32_t silence_wait(unsigned eighths, uint32_t trip, uint32_t least, unsigned asked) {
  const uint32_t first = std::min(std::max(eighths * trip / 8, least), kMostSilence);
  return std::min(first << std::min(asked, kMostAsked), kMostSilence);
}

/// Ticks that a packet may be older than a question to which the answer does not report it: what round trips differ by,
/// and a quarter of the smallest.
constexpr uint32_t question_spare(uint32_t longest, uint32_t smallest) { return longest - smallest + smallest / 4; }

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
/// When a QP asks its peer what has arrived (docs/protocol/loss.md section 4; assumptions ).
#pragma once

#include <algorithm>
#include <cstdint>

#include "protocol/overdue.hpp"

namespace mrc {

/// Doublings of the wait for an answer.
inline constexpr unsigned kMostQueries = 6;
/// Ticks that it waits at most: half of a time stamp's range.
inline constexpr uint32_t kMostSilence = 0x7fff;

/// Ticks of silence before the question number `queries` (0 the first): so many eighths of a round trip of `trip`
/// ticks, `least` at least, then twice that, up to 64 times.
constexpr uint32_t silence_wait(unsigned eighths, uint32_t trip, uint32_t least, unsigned queries) {
  const uint32_t first = std::min(std::max(eighths * trip / 8, least), kMostSilence);
  return std::min(first << std::min(queries, kMostQueries), kMostSilence);
}

/// Ticks that a packet may be older than a question to which the answer does not report it: what round trips differ by,
/// and a quarter of the smallest.
constexpr uint32_t question_spare(uint32_t longest, uint32_t smallest) { return longest - smallest + smallest / 4; }

/// True when a question at tick `queries` was too soon to tell of a packet sent at `sent`: it was sent before, by
/// `spare` ticks at most. Ticks of 32 bits.
constexpr bool query_too_soon(uint32_t queries, uint32_t sent, uint32_t spare) { return queries - sent <= spare; }

/// Ticks from the oldest packet to the question that replaces one that was too soon for it. `spare` is that of its
/// answer. The answer is to tell of packets, too, that were sent up to an eighth of the smallest round trip later.
constexpr uint32_t question_again(uint32_t spare, uint32_t smallest) { return spare + 1 + smallest / 8; }
/// The round trip that a question waits for while only a window that trims have shut keeps a QP from sending: two of
/// `longest`, but no more than four `full`. What was sent once may wait behind retransmissions for ten.
constexpr uint32_t silence_trip_of_trims(uint32_t longest, uint32_t full) { return 2 * std::min(longest, 2 * full); }

// With a clock: since the QP has sent something last, by its own round trips ("Questions with a clock").

/// Ticks that a QP keeps quiet at most. The stamps of its newest packet and of its newest question come round. Both
/// look as old as that for 257 ticks in a row, which is longer than a round of visits.
inline constexpr uint32_t kMostPause = 1791;
static_assert((kStampMask + 1 - 2 * kMostPause) / 2 == 257);
/// Questions that are counted.
inline constexpr unsigned kMostQuestions = 7;

/// Ticks from the newest packet to the first question of a QP that knows no round trip yet: 8 us.
inline constexpr uint32_t kFirstBound = 64;

/// Ticks from the newest packet to the first question, by the round trip of late.
constexpr uint32_t silence_bound(uint32_t trip) {
  if (trip == 0) return kFirstBound;
  const uint32_t longest = longest_ticks(trip);
  return longest + (longest >> 3) + 1;
}
/// How often that doubles before its next question, if it has asked so often. `acked`: only an ACK is missing. `sends`:
/// it has more to send, and its turn will come.
constexpr unsigned silence_doubled(unsigned queries, bool acked, bool sends) {
  return (queries == 0 ? 0 : queries - 1) + (acked ? 1 : 0) + (sends ? 1 : 0);
}
/// Ticks that a QP keeps quiet before its next question.
constexpr uint32_t silence_pause(uint32_t bound, unsigned doubled) { return std::min(bound << doubled, kMostPause); }
/// True when it has been quiet for so long: since its newest packet, `last`, and its newest question, `since`. first:
/// there was none.
constexpr bool query_due(uint32_t pause, uint32_t tick, uint16_t last, bool first, uint16_t since) {
  return ((tick - last) & kStampMask) >= pause && (first || ((tick - since) & kStampMask) >= pause);
}
/// Questions that count after a SACK. `moved`: it is about data and moves una; `gives_time`: it tells time.
constexpr unsigned silence_heard(unsigned queries, bool moved, bool gives_time) {
  return moved ? 0 : gives_time ? std::min(queries, 1u) : queries;
}

}  // namespace mrc

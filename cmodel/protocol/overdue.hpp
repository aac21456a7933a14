// SPDX-License-Identifier: Apache-2.0
/// When a packet that a SACK does not report is overdue: by time stamps, whatever the timer (docs/protocol/loss.md
/// section 3; assumption A-83).
#pragma once

#include <algorithm>
#include <cstdint>

#include "protocol/probe.hpp"
#include "protocol/timestamp.hpp"
#include "protocol/tx_window.hpp"

namespace mrc {

/// The longest round trip of late is kept in 256ths of a tick: a 256th of it is forgotten at each SACK.
inline constexpr unsigned kLongestShift = 8;

/// Longest round trip of late after one that took `took` ticks; `least`: the smallest that it may be, in ticks. 24
/// bits.
constexpr uint32_t longest_of_late(uint32_t longest, uint16_t took, uint32_t least) {
  return std::max({uint32_t{took} << kLongestShift, longest - (longest >> kLongestShift), least << kLongestShift});
}
/// What is kept of it at the answer to a question: who asks hears little else, and queues may be empty by now.
constexpr uint32_t longest_of_answer(uint32_t longest) { return longest - (longest >> 3); }
/// The same in ticks, rounded up.
constexpr uint32_t longest_ticks(uint32_t longest) { return (longest + (1u << kLongestShift) - 1) >> kLongestShift; }

/// Ticks that a packet may be behind one that arrived: so many eighths of the longest round trip, `ticks`.
constexpr uint32_t overdue_spare(uint32_t eighths, uint32_t ticks) { return eighths * ticks / 8; }

/// Eighths while the queue of the last hop is full: the whole longest round trip at least.
constexpr uint32_t overdue_eighths(uint32_t eighths, bool full) { return full && eighths < 8 ? 8 : eighths; }

/// Of the PSNs `gaps` of a row those that may be lost: neither reported nor waiting for retransmission.
template <class Mask>
constexpr Mask overdue_candidates(const PsnRow<Mask>& row, MaskArg<Mask> gaps) {
  return static_cast<Mask>(gaps & ~(row.sacked | row.pend));
}

/// The same by what a SACK answers. again: a packet that was sent again. It goes in a class of higher priority, and
/// while queues are full it overtakes those that were sent once: it tells of others that were sent again alone.
template <class Mask>
constexpr Mask overdue_candidates(const PsnRow<Mask>& row, MaskArg<Mask> gaps, bool again) {
  return static_cast<Mask>(overdue_candidates(row, gaps) & (again ? row.rtxd : static_cast<Mask>(~Mask{0})));
}

/// True when a transmission at time stamp `sent` is older than the packet that the SACK answers, sent at `answered`, by
/// more than `spare` ticks. From half of a time stamp's range on (4.2 ms) nobody can tell which one was first.
constexpr bool is_overdue(uint16_t sent, uint16_t answered, uint32_t spare) {
  const auto age = static_cast<uint16_t>(answered - sent);
  return age < 0x8000 && age > spare;
}

// With a clock: a row of PSNs at a time, by stamps of 12 bits, and the round trips of the QP alone ("Time with a
// clock").

/// Stamps count ticks modulo 2^12.
inline constexpr uint32_t kStampMask = 0xfff;
/// A round trip of so many ticks, or of more, tells nothing.
inline constexpr uint32_t kTripEnd = 1023;

/// Ticks since the earliest tick that the time stamp may mean that a SACK or NACK returns, at most kTripEnd. So it is
/// never less than the round trip.
constexpr uint32_t round_trip(uint16_t returned, uint32_t tick, bool tsr_us) {
  const uint32_t sent = tsr_us ? uint32_t{returned} << 3 : returned;
  return std::min<uint32_t>(static_cast<uint16_t>(tick - sent), kTripEnd);
}
/// Ticks since a packet was sent, by the stamp that its sender has kept, at most kTripEnd.
constexpr uint32_t trip_by_sent(uint16_t sent, uint32_t tick) {
  return std::min<uint32_t>((tick - sent) & kStampMask, kTripEnd);
}
/// True when a packet whose block is still there (own), and that was sent again, was reported before this SACK about it
/// came: in its row (sacked), or before the una of then. This copy of it may have been trimmed: its header has
/// overtaken what waits in queues.
constexpr bool reported_before(bool own, bool once, uint32_t psn, uint32_t una, bool sacked) {
  return own && !once && (psn_before(psn, una) || sacked);
}
/// True when a SACK tells time: it answers a question (pr; psn has its id), or psn, which has arrived, was not told
/// before (twice), and of which is known when it was sent: the SACK returns its time stamp (ts), or it was sent once.
constexpr bool gives_time(bool pr, uint32_t psn, bool arrived, bool twice, bool ts, bool once) {
  return pr ? static_cast<uint16_t>(psn) != kNoProbeId : arrived && !twice && (ts || once);
}
/// The low bits of the earliest tick that a time stamp stands for.
constexpr uint16_t stamp_of(uint16_t returned, bool tsr_us) {
  return static_cast<uint16_t>((tsr_us ? returned << 3 : returned) & kStampMask);
}
/// Round trip of late, 18 bit in 256ths of a tick, after one that took `took` ticks.
constexpr uint32_t trip_of_late(uint32_t trip, uint32_t took) {
  return std::max(took << kLongestShift, trip - (trip >> kLongestShift));
}
/// The same after a packet was trimmed: queues are full, and retransmissions go first.
constexpr uint32_t trip_of_trim(uint32_t trip, uint32_t took) {
  return std::max(trip, std::min(8 * took, kTripEnd - 1) << kLongestShift);
}
/// True when that trip is of the trim: no round trip has been as long.
constexpr bool trim_counts(uint32_t trip, uint32_t took) { return trip_of_trim(trip, took) != trip; }
/// True when trip is from now on the one that has just ended: whatever it was of before, it is measured again.
constexpr bool trip_measured(uint32_t trip, uint32_t took) {
  return took << kLongestShift > trip - (trip >> kLongestShift);
}
/// The same for questions: they overtake what waits in queues, and go out when all that is out has waited. trims: trip
/// is of a trim, eight round trips of it; two are what a queue that trims adds at most.
constexpr uint32_t trip_of_question(uint32_t trip, bool trims) { return trims ? trip >> 2 : trip; }
/// Longest round trip, in ticks: of late, or the one that has just ended. by_sent: of late alone, as the sender's own
/// stamp comes too late.
constexpr uint32_t longest_trip(uint32_t trip, uint32_t took, bool by_sent) {
  return by_sent ? longest_ticks(trip) : std::max(took, longest_ticks(trip));
}
/// True when that is long enough to be one, and short enough for stamps of 12 bits.
constexpr bool trip_known(uint32_t trip, uint32_t took, bool by_sent) {
  return longest_trip(trip, took, by_sent) != kTripEnd && (!by_sent || (trip != 0 && took != kTripEnd));
}
/// Ticks that a packet may be behind one that arrived.
constexpr uint32_t late_spare(uint32_t longest) { return longest - (longest >> 2); }
/// The newest stamp that is old when a packet with time stamp `stamp` has arrived.
constexpr uint16_t overdue_limit(uint16_t stamp, uint32_t spare) {
  return static_cast<uint16_t>((stamp - spare - 1) & kStampMask);
}
/// True when a stamp is old, by a limit.
constexpr bool overdue_at(uint16_t limit, uint16_t sent) { return ((limit - sent) & kStampMask) <= kStampMask / 2; }

/// What a SACK shows by time.
struct TimeView {
  bool knows = false;  ///< something
  uint16_t limit = 0;  ///< overdue_limit()
  uint32_t end = 0;    ///< PSN after the newest whose stamp is there
  bool again = false;  ///< it answers what was, or may have been, sent again
};
/// PSNs of a row that are lost by time, from una on: those that `cover` says a SACK speaks of and that have not been
/// reported. `row` is the row after sack_row(), `sent` its stamps. They wait for retransmission then.
template <class Mask, class Stamps>
constexpr Mask overdue_row(PsnRow<Mask>& row, uint32_t p0, MaskArg<Mask> cover, uint32_t una, const Stamps& sent,
                           const TimeView& v) {
  if (!v.knows) return 0;
  Mask old = 0;
  for (unsigned i = 0; i < kRowPsns<Mask>; ++i) {
    if (overdue_at(v.limit, sent[i])) old |= static_cast<Mask>(Mask{1} << i);
  }
  const auto lost = overdue_candidates(row, static_cast<Mask>(old & cover & range_mask<Mask>(p0, una, v.end)), v.again);
  row.pend |= lost;
  return lost;
}
/// True when a SACK says of all PSNs above una whether they have arrived, however far away: it counts as many
/// packets as are reported, `reported`, above the same cack. newest: none that was built later has come, by rcvd_bytes.
constexpr bool shows_all(uint32_t cack, uint16_t ooo, uint32_t una, unsigned reported, bool newest) {
  return newest && psn_add(cack, 1) == una && ooo == reported;
}
/// True when a SACK says that una is missing, but not by its bitmap, which begins at `base`: una is to be looked at for
/// itself. `una` is una' of the contract.
constexpr bool time_candidate(const TimeView& v, uint32_t cack, uint32_t base, uint32_t una) {
  return v.knows && psn_add(cack, 1) == una && una != v.end && psn_dist(una, base) >= kSackBits;
}
/// Marks una as lost by time, and says so. Not when it has arrived, or waits already.
template <class Mask>
constexpr bool time_lost(PsnRow<Mask>& row, uint32_t una, uint16_t sent, const TimeView& v) {
  const Mask bit = psn_bit<Mask>(una);
  if (overdue_candidates(row, bit, v.again) == 0 || !overdue_at(v.limit, sent)) return false;
  row.pend |= bit;
  return true;
}

}  // namespace mrc

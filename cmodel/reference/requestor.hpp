// SPDX-License-Identifier: Apache-2.0
/// The requestor of one QP in one incarnation, as mrc.md section 7 has it: the PSNs it has sent, which of them are
/// reported, which count as lost and why, and how far it may go. A value: whoever wants to know what a NIC may have
/// heard and what it must have heard keeps two of them and feeds one later than the other.
///
/// Numbers are unwrapped. Times are those at which something was told; they only order it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "log/record.hpp"
#include "reference/queue.hpp"
#include "reference/responder.hpp"
#include "reference/returned_stamp.hpp"
#include "reference/second_copy.hpp"

namespace mrc::ref {

using log::Time;

// Why a PSN may be sent again, as bits.
inline constexpr unsigned kByNack = 1;         ///< a NACK named it
inline constexpr unsigned kByGap = 2;          ///< enough later packets have arrived (A-08)
inline constexpr unsigned kBySameEv = 4;       ///< one sent later on its EV has arrived (A-08)
inline constexpr unsigned kByTimer = 8;        ///< its time is over (A-07)
inline constexpr unsigned kByReturn = 32;      ///< a switch has sent it back (A-80)
inline constexpr unsigned kByTime = 64;        ///< what was sent later has arrived (A-83)
inline constexpr unsigned kByMissingAck = 16;  ///< the newest one, all is reported, and an ACK is missing (A-17)

struct RequestorRules {
  uint32_t reorder = 64;  ///< A-08
  bool same_ev = true;    ///< A-08
  Time interval = 0;      ///< of the timer, ps (A-07)
  bool by_time = false;   ///< A-83
};

/// What a SACK or ACK says of PSNs.
struct Word {
  Seq cack = 0;
  Seq base = 0;  ///< PSN of the bitmap's bit 0
  uint64_t bitmap = 0;
  Seq above = 0;                  ///< ooo_count
  std::optional<Seq> trigger;     ///< the packet that brought it
  unsigned mpr = 0;               ///< 0: nothing said
  Time answers = 0;               ///< when the probe that it answers was sent; 0: it answers none
  std::optional<uint16_t> stamp;  ///< that it returns
};

class Requestor {
 public:
  /// `first`: its first PSN; `window` in PSNs.
  Requestor(Seq first, Seq window, RequestorRules rules);

  struct Flight {
    bool seen = false;
    bool reported = false;  ///< it has arrived
    uint8_t plane = 0;
    uint8_t reason = 0;      ///< of the newest NACK
    uint32_t ev = 0;         ///< of the newest transmission
    uint32_t ev_before = 0;  ///< of the one before
    unsigned times = 0;      ///< transmissions
    double size = 0;         ///< nominal bytes
    Time first = 0, earlier = 0, last = 0;
    Time nacked = 0;  ///< the newest NACK about it that names the EV of its newest transmission; 0: none
    Time named = 0;   ///< the newest NACK about it; 0: none
    uint8_t named_reason = 0;
    unsigned nacks = 0;             ///< NACKs about it less transmissions that nothing else caused
    bool again = false;             ///< rtx of the newest transmission
    SecondCopy copy;                ///< of the newest transmission
    Time returned = 0;              ///< it came back; 0: not
    Time lost = 0;                  ///< a gap showed that it is lost; 0: not
    Time notified = 0;              ///< it was reported
    std::optional<uint16_t> stamp;  ///< time stamp of the newest transmission
  };

  /// Returns false for a PSN so far off that no window holds it.
  bool sent(Seq psn, uint32_t ev, uint8_t plane, Time time, double size = 0, std::optional<uint16_t> stamp = {},
            bool again = false, const SecondCopy& copy = {});
  /// Returns how many PSNs it reported that were not before.
  unsigned heard(const Word& word, Time time);
  void nacked(Seq psn, uint8_t reason, uint32_t ev, Time time);
  /// A switch has sent the packet back; `again`: its rtx, which tells an older transmission from the newest.
  void returned(Seq psn, bool again, Time time);
  /// Messages up to `msn` are confirmed.
  void acked(Seq msn) { acked_ = msn; }
  /// The largest window that was granted in the time since: dynamic MPR.
  void granted(Seq window) { window_ = window; }

  /// Nothing below is known any more.
  Seq base() const { return base_; }
  /// Behind the highest PSN sent.
  Seq next() const { return next_; }
  Seq cack() const { return cack_; }
  Seq limit() const { return cack_ + window_; }
  /// Highest PSN reported.
  Seq highest() const { return highest_; }
  /// Oldest PSN not reported; next(): all are.
  Seq oldest() const;
  /// Nominal bytes of all that is reported.
  double arrived() const { return arrived_; }
  /// PSNs sent and not reported.
  Seq open() const { return open_; }
  Seq acked() const { return acked_; }
  Time progress() const { return progress_; }
  const Flight* find(Seq psn) const;

  /// Causes that a retransmission of `psn` at `time` would have, as bits; `lag`: a transmission may have been meant
  /// so much before it was seen; `inside`: of that it waited for its data, and questions overtook it.
  unsigned causes(Seq psn, Time time, Time lag, Time inside = 0) const;
  /// True if this packet may leave now: a new one inside the window, or an old one with a cause.
  bool permits(Seq psn, bool again, Time time, Time lag) const {
    return again ? causes(psn, time, lag) != 0 : psn >= next_ && psn <= limit();
  }
  /// The PSN is lost for certain and has not been sent again since: it has to be.
  bool owed(Seq psn) const;
  /// Oldest PSN that is owed; none: nothing is.
  std::optional<Seq> owed() const;
  /// What could be sent now: kNew, kAgain.
  static constexpr unsigned kNew = 1, kAgain = 2;
  unsigned enabled() const { return (next_ <= limit() ? kNew : 0u) | (owed() ? kAgain : 0u); }
  std::size_t memory() const { return flights_.size() * sizeof(Flight) + triggers_.size() * 48; }

  /// A frame waits inside for at most so many times `lag`, as history::World::queue() has it.
  static constexpr Time kWait = 16;
  static constexpr Seq kTail = 2048;       ///< PSNs at or below cack that stay known
  static constexpr Seq kMostPsns = 16384;  ///< of a QP: twice the largest window

 private:
  Flight* at(Seq psn);
  bool report(Seq psn, Time time);
  void gaps(const Word& word, Time time);
  void trim();

  RequestorRules rules_;
  Seq base_, next_, cack_, window_;
  Seq highest_, triggered_;  ///< highest PSN reported; of a packet that brought a SACK
  Seq acked_ = 0, open_ = 0;
  Queue<Flight> flights_;  ///< from base_ on
  Time progress_ = 0;
  double arrived_ = 0;
  Time wide_ = 0;      ///< newest word with at least `reorder` packets above cack
  Time through_ = 0;   ///< newest transmission of what has brought a SACK
  Time answered_ = 0;  ///< the same of questions
  ReturnedStamp returned_;
  std::map<uint32_t, Time> triggers_;  ///< EV -> last transmission of a packet, sent once, that brought a SACK
};

}  // namespace mrc::ref

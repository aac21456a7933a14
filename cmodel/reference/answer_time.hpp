// SPDX-License-Identifier: Apache-2.0
/// The time in which a NIC could have answered. A promised latency counts in it: a NIC that must wait for its ports or
/// its host does not break a promise.
#pragma once

#include <array>

#include "log/record.hpp"
#include "reference/open_reads.hpp"

namespace mrc::ref {

/// Counts, in steps of one window, as much of each window as the busiest port that is up was free in it, and nothing
/// while the host lets the NIC wait for data: these are frames before the answer. Nobody says on which port an answer
/// goes.
class AnswerTime {
 public:
  using Time = log::Time;
  /// A host that takes longer than `patience` for a read makes the NIC wait. ACKs are `ack_gap` apart.
  AnswerTime(unsigned planes, double port_gbps, Time patience, Time window, Time ack_gap);

  void port(unsigned plane, bool up, Time time);
  void sent(unsigned plane, Time first, Time last);
  /// An ACK or NAK went.
  void acked(Time time) { acks_busy_ = std::max(acks_busy_, time + ack_gap_); }
  void read(uint64_t tag, Time time);  ///< counts as soon as the host has taken too long for it
  void read_done(uint64_t tag, Time time);
  /// Everything before `time` is known.
  void now(Time time) {
    if (time >= window_end_) advance(time);
  }

  /// For any answer; for one that must keep its distance from other ACKs.
  Time answers() const { return answers_; }
  Time acks() const { return acks_; }
  /// What may be counted though it was before: half a window is none.
  Time window() const { return window_; }

 private:
  void advance(Time time);
  void add(Time until);
  void close();
  void skip(Time time);

  unsigned planes_;
  Time gap_, patience_, window_, ack_gap_;
  Time at_ = 0, window_end_;
  Time answers_ = 0, acks_ = 0;
  Time acks_busy_ = 0;  ///< until then no ACK may go
  std::array<bool, log::kMaxPlanes> up_{};
  std::array<bool, log::kMaxPlanes> whole_{};  ///< up for all of the window
  std::array<Time, log::kMaxPlanes> busy_{};   ///< until then
  std::array<Time, log::kMaxPlanes> free_{};   ///< of the window
  Time acks_free_ = 0;
  OpenReads reads_;
};

}  // namespace mrc::ref

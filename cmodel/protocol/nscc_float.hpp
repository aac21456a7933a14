// SPDX-License-Identifier: Apache-2.0
/// NSCC in floating point: the pseudo code of mrc.md section 8 line by line, in doubles, as the reference against which
/// the fixed-point controller is measured (docs/design/blocks/cc/cc_nscc.md, "Error").
#pragma once

#include <cstdint>

#include "protocol/nscc.hpp"
#include "protocol/nscc_config.hpp"

namespace mrc {

/// The reference. Times in ticks of 128 ns counted without wrap, sizes in bytes; inputs are the events of the
/// fixed-point controller, so both hear the same quantised times.
///
/// Where the outcome of a comparison depends on a rounded quantity (avg > target, fi_count > cwnd, achieved < max_wnd /
/// 2^qa_gate), the fixed-point controller may decide otherwise than the reference although both are right. step()
/// therefore takes the other's decisions: if a decision differs and the operands lie within `Bounds`, the reference
/// follows it and counts a knife edge; if they lie further apart it counts an error and keeps its own decision.
class NsccFloat {
 public:
  /// How far apart the operands of a comparison may lie for the reference to follow.
  struct Bounds {
    double avg_ticks = 0;      ///< absolute, ticks
    double cwnd_relative = 0;  ///< of cwnd
    double gate_bytes = 0;     ///< absolute, bytes
  };

  NsccFloat(const NsccReal& config, uint64_t now_ticks);

  /// One event at time `now_ticks` (its `now` field is ignored).
  void step(const NsccEvent& event, uint64_t now_ticks);
  /// The same, following `decisions` at knife's edges.
  void step(const NsccEvent& event, uint64_t now_ticks, const NsccDecisions& decisions, const Bounds& bounds);

  /// Continues from the state of the fixed-point controller, so that one event alone can be compared. `now_ticks` is
  /// the time of the state's last event; nothing in the state may be older than 2^32 ticks.
  void adopt(const NsccState& state, uint64_t now_ticks);

  double cwnd() const { return cwnd_; }          ///< bytes
  double inflight() const { return inflight_; }  ///< bytes
  double avg() const { return avg_; }            ///< ticks
  double max_wnd() const { return max_wnd_; }    ///< bytes
  double base_rtt() const { return base_rtt_; }  ///< ticks
  double inc() const { return inc_; }            ///< bytes^2
  NsccMode mode() const { return mode_; }
  bool can_send(double packet) const { return !config_.enable || inflight_ + packet <= cwnd_; }

  uint64_t knife_edges() const { return knife_edges_; }  ///< decisions followed
  uint64_t errors() const { return errors_; }            ///< decisions that differed beyond the bounds

 private:
  void event(const NsccEvent& e);
  void on_ack(double bytes, bool ecn, bool has_rtt, double rtt, double pen, bool restore);
  void on_nack(double bytes, uint8_t reason, bool has_rtt, double rtt);
  void on_inferred_loss(double bytes);
  bool penalty(double pen, bool restore, double bytes);
  bool quick_adapt(bool loss, bool ecn, double delay);
  bool fast_increase(double bytes, double delay);
  void multiplicative_decrease();
  void adjust();
  void update_base_rtt(double rtt);
  void sample(double delay);
  /// The outcome of a comparison whose operands differ by `margin`.
  bool decide(bool mine, bool checked, bool theirs, double margin, double bound);

  NsccReal config_;
  double now_ = 0;
  double cwnd_ = 0, saved_cwnd_ = 0, max_wnd_ = 0, inc_ = 0, avg_ = 0, inflight_ = 0;
  double received_ = 0, achieved_ = 0, bytes_ignored_ = 0, bytes_to_ignore_ = 0, count_ = 0;
  double base_rtt_ = 0, last_adjust_ = 0, last_dec_ = 0, qa_end_ = 0;
  bool increasing_ = false, trigger_ = false;
  NsccMode mode_ = NsccMode::Off;

  const NsccDecisions* follow_ = nullptr;
  Bounds bounds_;
  uint64_t knife_edges_ = 0, errors_ = 0;
};

}  // namespace mrc

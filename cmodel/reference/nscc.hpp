// SPDX-License-Identifier: Apache-2.0
/// The controller NSCC of one destination, as mrc.md section 8 has it, in real numbers, one event at a time. What a
/// reader of the section can decide in two ways (a clock that ticks every 128 ns, a comparison of rounded numbers) is
/// decided in both: a step gives every window that is right.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "log/record.hpp"
#include "reference/controller.hpp"

namespace mrc::ref {

using log::Time;

/// What the controller is told.
struct CcInput {
  log::CcKind kind = log::CcKind::Ack;
  Time time = 0;
  double bytes = 0;
  bool marked = false, restore = false, sampled = false;
  unsigned pen = 0, reason = 0;
  double rtt = 0;                    ///< ps, with sampled
  double fly = 0;                    ///< bytes in flight after it
  std::array<double, 3> returned{};  ///< of a moment ago: each may not have left the flight yet
};

class Nscc {
 public:
  Nscc(const Controller& controller, Time now);

  /// All states that the event may lead to, at least one.
  std::vector<Nscc> after(const CcInput& input) const;

  double window() const { return cwnd_; }
  double max_window() const { return max_wnd_; }
  double packet() const { return c_.mtu; }
  /// What the newest event did, in words.
  const char* did() const { return did_; }
  /// The window is known to be this, to a byte.
  void correct(double shown);
  /// How far the newest step moved the window.
  double moved() const { return moved_; }
  /// The two differ in nothing that can show.
  bool same(const Nscc& other) const;

 private:
  class Choices;
  void step(const CcInput& input, Choices& choices);
  void on_ack(const CcInput& input, Choices& choices);
  void on_nack(const CcInput& input, Choices& choices);
  void increase(const CcInput& input, double delay, Choices& choices);
  void decrease(const CcInput& input, Choices& choices);
  void adjust(const CcInput& input, Choices& choices);
  bool quick_adapt(const CcInput& input, bool loss, bool marked, double delay, Choices& choices);
  void cut(double bytes);
  void round_trip(double rtt);
  void sample(double delay) { avg_ += c_.ewma_weight * (delay - avg_); }
  void widest();

  Controller c_;  ///< with defaults; times in ps below
  double cwnd_ = 0, saved_ = 0, max_wnd_ = 0, inc_ = 0, avg_ = 0, received_ = 0, achieved_ = 0;
  double ignored_ = 0, to_ignore_ = 0, count_ = 0, base_ = 0, moved_ = 0;
  Time last_adjust_ = 0, last_decrease_ = 0, qa_end_ = 0;
  bool has_saved_ = false, increasing_ = false, trigger_ = false, qa_armed_ = false;
  const char* did_ = "nothing";
};

}  // namespace mrc::ref

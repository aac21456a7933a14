// SPDX-License-Identifier: Apache-2.0
#include "reference/nscc.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "reference/numbers.hpp"

namespace mrc::ref {
namespace {

constexpr double kGrain = kTick;  ///< ps: "times are good to 128 ns"
constexpr double kPs = 1000;      ///< of a nanosecond
constexpr unsigned kMostChoices = 7;

double ps(double ns) { return ns * kPs; }

}  // namespace

Controller Controller::with_defaults() const {
  Controller c = *this;
  constexpr double kReference = 150'000, kReferenceTarget = 12'000;
  const double bdp = rate_gbps / 8 * base_rtt_ns;
  const double a = bdp / kReference;
  const auto usual = [](double& value, double standard) {
    if (value == 0) value = standard;
  };
  usual(c.target_ns, (trimming ? 0.75 : 1.0) * base_rtt_ns);
  const double b = c.target_ns / kReferenceTarget;
  usual(c.max_cwnd, 1.5 * bdp);
  usual(c.adjust_bytes, 8 * mtu);
  usual(c.adjust_period_ns, base_rtt_ns);
  if (!trimming) usual(c.qa_threshold_ns, 4 * c.target_ns);
  usual(c.fi, 5 * mtu * a);
  usual(c.eta, 0.15 * mtu * a);
  usual(c.fi_scale, 0.25 * a);
  usual(c.alpha, 4 * a * b * mtu / c.target_ns);
  return c;
}

/// Decisions that may fall either way, in the order in which they come up: the first run takes the likelier side of
/// each, and next() says whether there is another way to go.
class Nscc::Choices {
 public:
  /// value >= limit, where they may be wrong by `slack`.
  bool reaches(double value, double limit, double slack) {
    const bool likely = value >= limit;
    if (std::abs(value - limit) > slack) return likely;
    return likely != other();
  }
  /// One of two values.
  double one_of(double first, double second) {
    if (first == second) return first;
    return other() ? second : first;
  }
  /// Bytes in flight: none of what was returned a moment ago may have been counted, or some, or all.
  double fly(const CcInput& in) {
    double bytes = in.fly;
    for (const double returned : in.returned) bytes += one_of(returned, 0);
    return bytes;
  }
  bool next() {
    while (made_ > 0 && script_[made_ - 1]) --made_;
    if (made_ == 0) return false;
    script_[made_ - 1] = true;
    known_ = made_;
    made_ = 0;
    return true;
  }

 private:
  bool other() {
    if (made_ == kMostChoices) return false;
    if (made_ >= known_) script_[made_] = false;
    return script_[made_++];
  }
  std::array<bool, kMostChoices> script_{};
  unsigned made_ = 0, known_ = 0;
};

Nscc::Nscc(const Controller& controller, Time now)
    : c_(controller.with_defaults()),
      base_(std::max(1.0, std::round(ps(c_.base_rtt_ns) / kGrain)) * kGrain),
      last_adjust_(now),
      last_decrease_(now) {
  widest();
  cwnd_ = max_wnd_;
}

void Nscc::widest() {
  const double bytes_per_ps = c_.rate_gbps / 8 / kPs;
  max_wnd_ = std::clamp(1.5 * bytes_per_ps * base_, c_.mtu, std::max(c_.mtu, c_.max_cwnd));
}

std::vector<Nscc> Nscc::after(const CcInput& input) const {
  std::vector<Nscc> all;
  Choices choices;
  do {
    Nscc one = *this;
    one.step(input, choices);
    one.moved_ = std::abs(one.cwnd_ - cwnd_);
    all.push_back(one);
  } while (choices.next());
  return all;
}

void Nscc::step(const CcInput& input, Choices& choices) {
  did_ = "no change";
  switch (input.kind) {
    case log::CcKind::Ack:
      return on_ack(input, choices);
    case log::CcKind::Nack:
      return on_nack(input, choices);
    case log::CcKind::Loss:
      did_ = "less by what was lost";
      ignored_ += input.bytes;
      return cut(input.bytes);
    default:
      return;
  }
}

void Nscc::cut(double bytes) { cwnd_ = std::max(cwnd_ - bytes, c_.mtu); }

void Nscc::round_trip(double rtt) {
  if (rtt >= base_) return;
  base_ = std::max(rtt, kGrain);
  widest();
}

void Nscc::on_ack(const CcInput& in, Choices& choices) {
  ignored_ += in.bytes;
  received_ += in.bytes;
  achieved_ += in.bytes;
  const bool limited = in.pen > 0;
  if (limited) {
    did_ = "less by the receiver's penalty";
    if (!has_saved_) saved_ = cwnd_;
    has_saved_ = true;
    cwnd_ = std::min(cwnd_, std::max(0.0, choices.fly(in)));
    cut(std::floor(in.pen * in.bytes / 128));
  } else if (in.restore && has_saved_) {
    did_ = "restored after the penalty";
    cwnd_ = saved_;
    has_saved_ = false;
  }
  if (!in.sampled) return;
  const double rtt = std::max(in.rtt, kGrain);
  round_trip(rtt);
  const double delay = rtt - base_;
  sample(delay);
  if (quick_adapt(in, false, in.marked, delay, choices)) return;
  if (!in.marked && !limited) {
    increase(in, delay, choices);
  } else if (in.marked && delay >= ps(c_.target_ns)) {
    decrease(in, choices);
  }
  if (choices.reaches(static_cast<double>(in.time - last_adjust_), ps(c_.adjust_period_ns), 1.05 * kGrain)) {
    adjust(in, choices);
    cwnd_ = std::min(cwnd_ + c_.eta, max_wnd_);
    last_adjust_ = in.time;
  } else if (received_ > c_.adjust_bytes) {
    adjust(in, choices);
  }
}

void Nscc::increase(const CcInput& in, double delay, Choices& choices) {
  if (delay >= ps(c_.target_ns)) {
    did_ = "fair increase";
    inc_ += c_.fi * in.bytes;
    return;
  }
  if (delay < ps(c_.near_zero_ns)) {
    count_ += in.bytes;
    if (increasing_ || choices.reaches(count_, cwnd_ + 0.5, 1.5)) {
      did_ = "fast increase";
      increasing_ = true;
      cwnd_ = std::min(cwnd_ + in.bytes * c_.fi_scale, max_wnd_);
      return;
    }
  } else {
    count_ = 0;
  }
  increasing_ = false;
  did_ = "proportional increase";
  inc_ += c_.alpha / kPs * in.bytes * (ps(c_.target_ns) - delay);
}

void Nscc::decrease(const CcInput& in, Choices& choices) {
  if (c_.md_resets_fast) {
    increasing_ = false;
    count_ = 0;
  }
  const double target = ps(c_.target_ns);
  const bool due = choices.reaches(static_cast<double>(in.time - last_decrease_), base_ + 0.5 * kGrain, 1.55 * kGrain);
  if (!due || !choices.reaches(avg_, target, 0.05 * kGrain)) return;
  did_ = "multiplicative decrease";
  const double over = std::max(0.0, avg_ - target) / avg_;
  cwnd_ = std::max(cwnd_ * std::max(1 - c_.gamma * over, c_.max_md_jump), c_.mtu);
  last_decrease_ = in.time;
}

void Nscc::adjust(const CcInput&, Choices&) {
  cwnd_ = std::min(cwnd_ + inc_ / cwnd_, max_wnd_);
  inc_ = received_ = 0;
}

bool Nscc::quick_adapt(const CcInput& in, bool loss, bool marked, double delay, Choices& choices) {
  if (!c_.quick_adapt) return false;
  if (ignored_ < to_ignore_ && marked) {
    did_ = "acknowledged bytes are ignored after a quick adapt";
    inc_ = received_ = 0;
    return true;
  }
  const auto now = static_cast<double>(in.time), end = static_cast<double>(qa_end_);
  if (qa_armed_ && !choices.reaches(now, end, 1.05 * kGrain)) return false;
  bool done = false;
  const double threshold = ps(c_.qa_threshold_ns);
  const bool late = threshold > 0 && delay > threshold;
  if (qa_armed_ && (trigger_ || loss || late) &&
      !choices.reaches(achieved_, std::ldexp(max_wnd_, -static_cast<int>(c_.qa_gate)), 1.0)) {
    did_ = "quick adapt to what was achieved";
    cwnd_ = std::max(achieved_, c_.mtu);
    to_ignore_ = std::max(0.0, choices.fly(in));
    ignored_ = 0;
    trigger_ = false;
    inc_ = received_ = 0;
    done = true;
  }
  achieved_ = 0;
  qa_armed_ = true;
  qa_end_ = in.time + static_cast<Time>(base_ + ps(c_.target_ns));
  return done;
}

void Nscc::on_nack(const CcInput& in, Choices& choices) {
  if (in.sampled && c_.nack_rtt) round_trip(std::max(in.rtt, kGrain));
  const bool trimmed = in.reason == kTrimmed || in.reason == kTrimmedLasthop;
  if (!trimmed && !(c_.nack_any_reason && in.reason != 0)) return;
  sample(c_.nack_sample_cfg ? std::round(ps(c_.base_rtt_ns) / kGrain) * kGrain : base_);
  ignored_ += in.bytes;
  trigger_ = true;
  if (quick_adapt(in, true, true, 0, choices)) return;
  did_ = "less by what was trimmed";
  cut(in.bytes);
}

void Nscc::correct(double shown) {
  if (cwnd_ < shown || cwnd_ >= shown + 1) cwnd_ = shown;
}

bool Nscc::same(const Nscc& o) const {
  const auto near = [](double a, double b, double by) { return std::abs(a - b) <= by; };
  return near(cwnd_, o.cwnd_, 0.01) && near(inc_, o.inc_, 1e-9 * (1 + inc_)) && near(avg_, o.avg_, 1) &&
         near(received_, o.received_, 0.5) && near(achieved_, o.achieved_, 0.5) && near(count_, o.count_, 0.5) &&
         near(ignored_, o.ignored_, 0.5) && near(to_ignore_, o.to_ignore_, 0.5) && near(saved_, o.saved_, 0.01) &&
         base_ == o.base_ && last_adjust_ == o.last_adjust_ && last_decrease_ == o.last_decrease_ &&
         qa_end_ == o.qa_end_ && has_saved_ == o.has_saved_ && increasing_ == o.increasing_ && trigger_ == o.trigger_ &&
         qa_armed_ == o.qa_armed_;
}

}  // namespace mrc::ref

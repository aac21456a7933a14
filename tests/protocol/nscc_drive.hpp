// SPDX-License-Identifier: Apache-2.0
/// Events for the congestion controller, and both controllers side by side.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "protocol/nscc.hpp"
#include "protocol/nscc_float.hpp"

namespace mrc::nscc_test {

/// Shapes of traffic. Each is random; what differs is where it pushes the controller.
enum class Shape {
  Queue,       ///< a bottleneck queue that answers the window: marks, delays and trims follow from it
  Anything,    ///< every field of every event independently random
  MarkBursts,  ///< long runs of marked packets between calm ones
  HugeDelay,   ///< round trips up to the counter's 65535 ticks
  BelowBase,   ///< round trips that keep lowering base_rtt, down to one tick
  Floor,       ///< losses and trims hold the window at one packet
  Ceiling,     ///< empty fabric: fast increase up to max_wnd
  Underflow,   ///< more acknowledged than sent
  Penalty,     ///< responder penalties, saved and restored windows
  Idle,        ///< pauses up to minutes, across the wrap of the tick counter
  Pumping,     ///< quick adapt, losses from a full window down, up again
};
inline constexpr Shape kShapes[] = {Shape::Queue,     Shape::Anything, Shape::MarkBursts, Shape::HugeDelay,
                                    Shape::BelowBase, Shape::Floor,    Shape::Ceiling,    Shape::Underflow,
                                    Shape::Penalty,   Shape::Idle,     Shape::Pumping};
inline const char* shape_name(Shape s) {
  constexpr const char* kNames[] = {"queue",   "anything",  "mark-bursts", "huge-delay", "below-base", "floor",
                                    "ceiling", "underflow", "penalty",     "idle",       "pumping"};
  return kNames[static_cast<unsigned>(s)];
}

/// Makes events of one shape. Looks at the window only to shape the traffic.
class Source {
 public:
  Source(Shape shape, const NsccReal& config, uint64_t seed, uint64_t start)
      : shape_(shape), config_(config), rng_(seed), now_(start) {}

  uint64_t now() const { return now_; }
  bool once_in(unsigned n) { return rng_() % n == 0; }
  uint64_t below(uint64_t n) { return n ? rng_() % n : 0; }

  NsccEvent next(double cwnd, double inflight) {
    NsccEvent e;
    const auto mtu = static_cast<uint32_t>(config_.mtu);
    const auto base = static_cast<uint32_t>(config_.base_rtt);
    const auto target = static_cast<uint32_t>(config_.target) + 1;
    const auto window = static_cast<uint64_t>(std::max(cwnd, 1.0));
    now_ += below(std::max<uint64_t>(base / 16, 2));
    e.kind = CcEvent::Ack;
    e.bytes = static_cast<uint32_t>(1 + below(4 * mtu));
    e.rtt_valid = !once_in(16);
    e.rtt = static_cast<uint16_t>(std::min<uint64_t>(65535, base + below(2 * target)));
    e.ecn = once_in(4);
    switch (shape_) {
      case Shape::Queue: {
        // Everything above BDP queues; the packet's delay is the queue it met.
        const double bdp = config_.wnd_rate / 1.5 * config_.base_rtt;
        const auto burst = static_cast<uint32_t>(mtu * (1 + window / 64 / mtu));
        e.bytes = burst;
        if (inflight + burst <= cwnd && !once_in(4)) {
          e.kind = CcEvent::Send;
          break;
        }
        share_ = std::clamp(share_ + (once_in(2) ? 0.0005 : -0.0005) * static_cast<double>(below(100)), 0.05, 1.5);
        const double queue = std::max(0.0, std::min(cwnd, inflight) - bdp * share_);
        const double ticks = queue / (config_.wnd_rate / 1.5) + static_cast<double>(below(3));
        e.rtt = static_cast<uint16_t>(std::min(65535.0, config_.base_rtt + ticks));
        e.ecn = static_cast<double>(below(1000)) / 1000 < (queue / bdp - 0.2) / 0.6;
        if (queue > bdp && once_in(4)) {
          e.kind = once_in(10) ? CcEvent::Loss : CcEvent::Nack;
          e.reason = once_in(4) ? 2 : 1;
        }
        break;
      }
      case Shape::Anything: {
        e.kind = static_cast<CcEvent>(below(4));
        e.bytes = static_cast<uint32_t>(below(1u << below(29)));
        if (once_in(8)) e.bytes = once_in(2) ? 0 : (1u << 28) - 1;
        e.rtt = static_cast<uint16_t>(below(1u << below(17)));
        e.pen = once_in(8) ? static_cast<uint8_t>(below(128)) : uint8_t{0};
        e.restore = once_in(4);
        e.reason = once_in(2) ? static_cast<uint8_t>(1 + below(2)) : static_cast<uint8_t>(below(256));
        break;
      }
      case Shape::MarkBursts:
        if (once_in(200)) burst_ = !burst_;
        e.ecn = burst_;
        e.rtt = static_cast<uint16_t>(std::min<uint64_t>(65535, base + (burst_ ? target : 0) + below(target)));
        break;
      case Shape::HugeDelay:
        if (once_in(100)) burst_ = !burst_;
        if (burst_) e.rtt = static_cast<uint16_t>(65535 - below(once_in(2) ? 2 : 65000));
        e.ecn = once_in(3);
        break;
      case Shape::BelowBase:
        e.rtt = static_cast<uint16_t>(once_in(500) ? below(base) : base + below(base));
        e.ecn = once_in(6);
        break;
      case Shape::Floor:
        e.kind = static_cast<CcEvent>(once_in(3) ? 0 : 1 + below(3));
        if (e.kind == CcEvent::Ack && once_in(50)) e.bytes = static_cast<uint32_t>(window);
        e.reason = once_in(2) ? 1 : 2;
        break;
      case Shape::Ceiling:
        e.rtt = static_cast<uint16_t>(base + below(once_in(20) ? 12 : 6));
        e.ecn = once_in(400);
        if (once_in(300)) e.kind = CcEvent::Loss;
        break;
      case Shape::Underflow:
        e.kind = once_in(5) ? CcEvent::Send : CcEvent::Ack;
        e.bytes = static_cast<uint32_t>(below(1u << below(27)));
        e.pen = once_in(10) ? 64 : 0;
        break;
      case Shape::Penalty:
        e.kind = once_in(2) ? CcEvent::Send : CcEvent::Ack;
        if (once_in(100)) burst_ = !burst_;
        e.pen = burst_ ? static_cast<uint8_t>(below(128)) : uint8_t{0};
        e.restore = !burst_ && once_in(20);
        break;
      case Shape::Idle:
        if (once_in(50)) now_ += below(uint64_t{1} << below(32));
        if (once_in(10)) {
          e.kind = CcEvent::Nack;
          e.reason = 1;
        }
        break;
      case Shape::Pumping:
        if (once_in(700)) burst_ = !burst_;
        e.ecn = once_in(8);
        e.rtt = static_cast<uint16_t>(base);
        if (once_in(2) && inflight < cwnd) {
          e.kind = CcEvent::Send;
          e.bytes = static_cast<uint32_t>(window / 8 + mtu);
        } else if (burst_) {
          e.kind = once_in(3) ? CcEvent::Nack : CcEvent::Loss;
          e.reason = 1;
          e.bytes = static_cast<uint32_t>(std::min<uint64_t>(below(2 * window / 50 + mtu), (1u << 28) - 1));
        } else {
          e.bytes = static_cast<uint32_t>(std::min<uint64_t>(below(window / 4 + mtu), (1u << 28) - 1));
        }
        break;
    }
    e.now = static_cast<uint32_t>(now_);
    return e;
  }

 private:
  Shape shape_;
  const NsccReal& config_;
  std::mt19937_64 rng_;
  uint64_t now_;
  bool burst_ = false;
  double share_ = 1;
};

/// Both controllers on the same events.
struct Pair {
  NsccReal real;
  NsccWords words;
  NsccState fixed;
  NsccFloat reference;
  NsccFloat::Bounds bounds;
  double worst_cwnd = 0;  ///< largest relative error of cwnd
  double worst_avg = 0;   ///< largest absolute error of avg, ticks
  uint64_t events = 0;
  uint64_t mode_differs = 0;
  uint64_t inflight_differs = 0;
  uint64_t mode_count[16] = {};

  Pair(const NsccReal& config, uint64_t now, const NsccFloat::Bounds& b)
      : real(config),
        words(nscc_words(config)),
        fixed(nscc_init(words, static_cast<uint32_t>(now))),
        reference(config, now),
        bounds(b) {}

  double cwnd() const { return static_cast<double>(fixed.cwnd) / 65536; }
  double error() const { return std::abs(cwnd() - reference.cwnd()) / reference.cwnd(); }

  void step(const NsccEvent& e, uint64_t now) {
    const NsccDecisions d = nscc_step(fixed, words, e);
    reference.step(e, now, d, bounds);
    ++events;
    ++mode_count[static_cast<unsigned>(fixed.mode)];
    worst_cwnd = std::max(worst_cwnd, error());
    worst_avg = std::max(worst_avg, std::abs(static_cast<double>(fixed.avg) / (1 << 24) - reference.avg()));
    if (fixed.mode != reference.mode()) ++mode_differs;
    if (static_cast<double>(fixed.inflight) != reference.inflight()) ++inflight_differs;
  }
};

}  // namespace mrc::nscc_test

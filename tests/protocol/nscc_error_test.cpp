// SPDX-License-Identifier: Apache-2.0
/// The fixed-point controller against the floating-point reference, event by event (docs/design/blocks/cc/cc_nscc.md,
/// "Error").
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <vector>

#include "tests/protocol/nscc_drive.hpp"

namespace mrc::test::nscc_error_test {

using namespace mrc::nscc_test;

namespace {

// The documented bounds. Per event: both start from the same state. Running: the reference keeps its own state for the
// whole run, so that rounding errors add up, and are multiplied where the controller itself is ill-conditioned (a
// large window brought down to a few packets by subtraction; an increase that is large against the window).
constexpr double kPerEvent = 1e-5;
constexpr double kRunning = 1e-3;
constexpr NsccFloat::Bounds kBounds{.avg_ticks = 5e-3, .cwnd_relative = kRunning, .gate_bytes = 1};

struct Case {
  double rate_gbps;
  uint32_t base_rtt;
  uint32_t path_mtu;
  bool trimming;
};

/// 25G to 800G, 1 us to 1 ms, small and large packets, with and without trimming; the switches of assumptions take
/// turns.
std::vector<NsccParams> configurations() {
  std::vector<NsccParams> all;
  unsigned n = 0;
  for (const double rate : {25.0, 50.0, 100.0, 200.0, 400.0, 800.0}) {
    for (const uint32_t rtt : {1000u, 2000u, 5000u, 12000u, 50000u, 200000u, 1000000u}) {
      for (const uint32_t mtu : {256u, 4096u}) {
        for (const bool trimming : {true, false}) {
          NsccParams p;
          p.rate_gbps = rate;
          p.base_rtt = rtt;
          p.path_mtu = mtu;
          p.trimming = trimming;
          p.md_resets_fast = n % 3 != 0;
          p.nack_any_reason = n % 4 == 0;
          p.nack_sample_cfg = n % 5 == 0;
          p.nack_rtt = n % 7 != 0;
          p.disable_qa = n % 11 == 0;
          if (n % 13 == 0) p.max_cwnd = 100000;
          all.push_back(p);
          ++n;
        }
      }
    }
  }
  return all;
}

/// No register leaves the width that the contract gives it.
bool widths_hold(const NsccState& s, const NsccWords& w) {
  constexpr uint32_t kBytes = 1u << 28;
  return s.cwnd < uint64_t{1} << 44 && s.cwnd >= uint64_t{w.mtu} << 16 && s.saved_cwnd < uint64_t{1} << 44 &&
         s.max_wnd < uint64_t{1} << 44 && s.max_wnd <= uint64_t{w.max_cwnd} << 16 && s.avg < uint64_t{1} << 40 &&
         s.received < kBytes && s.achieved < kBytes && s.bytes_ignored < kBytes && s.bytes_to_ignore < kBytes &&
         s.fi_count < kBytes && s.base_rtt >= 1 && s.base_rtt <= w.base_rtt && s.qa_len < 1u << 17 &&
         s.inflight >= -(1 << 28) && s.inflight < 1 << 28;
}

struct Total {
  double running = 0, per_event = 0, avg = 0;
  uint64_t events = 0, knife_edges = 0;
  uint64_t modes[16] = {};
};

/// Drives both; the reference once with a state of its own and once from the fixed-point state before each event.
void drive(Shape shape, const NsccParams& params, uint64_t seed, uint64_t events, Total& total) {
  const auto real = nscc_resolve(params);
  REQUIRE(real);
  const uint64_t start = (uint64_t{1} << 32) - 3000;  // the tick counter wraps soon
  Source source(shape, *real, seed, start);
  Pair pair(*real, start, kBounds);
  NsccFloat one(*real, start);
  uint64_t last = start;
  uint64_t bad_mode = 0, bad_width = 0;
  double per_event = 0;
  for (uint64_t i = 0; i < events; ++i) {
    const NsccEvent e = source.next(pair.cwnd(), pair.fixed.inflight);
    const NsccState before = pair.fixed;
    pair.step(e, source.now());
    NsccState again = before;
    const NsccDecisions d = nscc_step(again, pair.words, e);
    one.adopt(before, last);
    last = source.now();
    one.step(e, last, d, kBounds);
    per_event = std::max(per_event, std::abs(pair.cwnd() - one.cwnd()) / one.cwnd());
    bad_mode += one.mode() != pair.fixed.mode;
    bad_width += !widths_hold(pair.fixed, pair.words);
    // A caller that never lets inflight return to the range of the quantity would hide the saturation.
  }
  INFO(shape_name(shape) << " at " << params.rate_gbps << " Gb/s, base_rtt " << params.base_rtt << " ns, path_mtu "
                         << params.path_mtu << ", trimming " << params.trimming << ", seed " << seed);
  CHECK(pair.reference.errors() == 0);
  CHECK(one.errors() == 0);
  CHECK(pair.mode_differs == 0);
  CHECK(bad_mode == 0);
  CHECK(bad_width == 0);
  CHECK(pair.inflight_differs == 0);
  CHECK(pair.worst_cwnd <= kRunning);
  CHECK(per_event <= kPerEvent);
  CHECK(pair.worst_avg <= kBounds.avg_ticks);
  total.running = std::max(total.running, pair.worst_cwnd);
  total.per_event = std::max(total.per_event, per_event);
  total.avg = std::max(total.avg, pair.worst_avg);
  total.events += events;
  total.knife_edges += pair.reference.knife_edges();
  for (unsigned m = 0; m < 16; ++m) total.modes[m] += pair.mode_count[m];
}

}  // namespace

TEST_CASE("fixed point follows the reference over all rates, round trips and shapes of traffic",
          "[protocol][nscc][error]") {
  Total total;
  uint64_t seed = 1;
  for (const NsccParams& params : configurations()) {
    for (const Shape shape : kShapes) drive(shape, params, seed++, 800, total);
  }
  CHECK(total.events >= 1000000);
  // Every branch of the pseudo code was taken.
  for (const NsccMode mode : {NsccMode::Hold, NsccMode::Limited, NsccMode::Fair, NsccMode::Proportional, NsccMode::Fast,
                              NsccMode::Decrease, NsccMode::Ignore, NsccMode::QuickAdapt, NsccMode::Loss}) {
    INFO(nscc_mode_name(mode));
    CHECK(total.modes[static_cast<unsigned>(mode)] >= 1000);
  }
}

TEST_CASE("fixed point follows the reference over long runs", "[protocol][nscc][error]") {
  Total total;
  NsccParams params;  // 800 Gb/s, 12 us
  for (const Shape shape : kShapes) drive(shape, params, 42, 100000, total);
  params.rate_gbps = 25;
  params.base_rtt = 1000;
  params.path_mtu = 256;
  drive(Shape::Queue, params, 43, 400000, total);
  CHECK(total.events >= 1000000);
}

// Hidden: prints the table of docs/guide/nscc.md. test_protocol "[.nscc-measure]"
TEST_CASE("measured error of the fixed-point controller", "[.nscc-measure]") {
  std::printf("| shape | events | per event | running | avg, ticks | knife edges |\n|---|---|---|---|---|---|\n");
  for (const Shape shape : kShapes) {
    Total total;
    uint64_t seed = 1000;
    for (const NsccParams& params : configurations()) drive(shape, params, seed++, 20000, total);
    std::printf("| %s | %llu | %.1e | %.1e | %.1e | %llu |\n", shape_name(shape),
                static_cast<unsigned long long>(total.events), total.per_event, total.running, total.avg,
                static_cast<unsigned long long>(total.knife_edges));
  }
}

}  // namespace mrc::test::nscc_error_test

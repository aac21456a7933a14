// SPDX-License-Identifier: Apache-2.0
/// A congestion controller as its owner configured it: the fields of the API and those that mrc.md section 8 derives.
#pragma once

#include <cstdint>

namespace mrc::ref {

/// What is 0 and has a default in section 8 gets it from with_defaults().
struct Controller {
  uint32_t dest = 0;  ///< Qp::dest
  double rate_gbps = 800;
  double base_rtt_ns = 12000;
  double mtu = 4188;        ///< nominal bytes of a full packet (A-41)
  bool trimming = true;     ///< the fabric trims: decides defaults
  double max_cwnd = 0;      ///< bytes
  double target_ns = 0;     ///< target_delay
  double adjust_bytes = 0;  ///< adjust_bytes_threshold
  double adjust_period_ns = 0;
  double near_zero_ns = 1000;  ///< a delay below it is "about zero"
  double qa_threshold_ns = 0;  ///< 0: off with trimming, else its default
  double fi = 0;               ///< bytes
  double eta = 0;              ///< bytes
  double fi_scale = 0;
  double alpha = 0;  ///< bytes per ns
  double gamma = 0.8;
  double max_md_jump = 0.5;
  double ewma_weight = 0.0125;
  uint32_t qa_gate = 3;
  bool quick_adapt = true;
  bool md_resets_fast = true;    ///< A-44
  bool nack_any_reason = false;  ///< A-45
  bool nack_sample_cfg = false;  ///< A-46
  bool nack_rtt = true;          ///< A-47
  bool operator==(const Controller&) const = default;

  /// The same with every default of section 8 filled in.
  Controller with_defaults() const;
};

}  // namespace mrc::ref

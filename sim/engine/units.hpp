// SPDX-License-Identifier: Apache-2.0
/// Units of the fabric: picoseconds, bytes, rates.
#pragma once

#include <algorithm>
#include <cstdint>

#include "util/round.hpp"

namespace mrc::sim {

/// Simulated time in picoseconds.
using Time = uint64_t;
inline constexpr Time kNs = 1000, kUs = 1000 * kNs, kMs = 1000 * kUs, kSecond = 1000 * kMs;
/// Later than everything.
inline constexpr Time kNever = ~Time{0};

/// Number of a node, in the order of construction.
using NodeId = uint32_t;
/// Number of a link, in the order of construction.
using LinkId = uint32_t;
/// Port of the whole fabric: the transmit side of one end of a link.
using PortId = uint32_t;
inline constexpr uint32_t kNone = ~0u;

/// Ethernet around a frame (docs: base.md "800G"). A frame's size counts from the destination MAC, without FCS.
inline constexpr unsigned kPreambleBytes = 8, kFcsBytes = 4, kGapBytes = 12, kMinFrameBytes = 64;

/// Bytes of link time of a frame of `size` bytes (without FCS): preamble, FCS, padding to 64 bytes and gap included.
constexpr unsigned wire_bytes(unsigned size) {
  return kPreambleBytes + std::max(size + kFcsBytes, kMinFrameBytes) + kGapBytes;
}

/// A rate as time per byte, in 2^-20 ps: exact for every rate that divides 8000 Gb/s, 1 ppm at 1 Tb/s for others.
class Rate {
 public:
  constexpr Rate() = default;
  static constexpr Rate gbps(double value) {
    Rate rate;
    rate.q20_ = value > 0 ? nearest(8000.0 / value * kOne) : 0;
    return rate;
  }
  /// False: the rate was zero or less.
  constexpr bool valid() const { return q20_ != 0; }
  constexpr Time time(uint64_t bytes) const { return bytes * q20_ >> 20; }
  constexpr double gbps() const { return 8000.0 * kOne / static_cast<double>(q20_); }
  constexpr bool slower_than(Rate other) const { return q20_ > other.q20_; }
  constexpr bool operator==(const Rate&) const = default;

 private:
  static constexpr double kOne = 1 << 20;
  uint64_t q20_ = 0;
};

/// Light in fibre, per metre.
inline constexpr Time kFibrePerMetre = 5 * kNs;

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
/// Arithmetic on packet and message sequence numbers (docs/design/blocks/conventions.md, mrc.md section 7).
#pragma once

#include <cstdint>

namespace mrc {

inline constexpr uint32_t kPsnMask = 0xff'ffffu;  ///< a PSN has 24 bits
inline constexpr uint32_t kPsnHalf = 1u << 23;    ///< half of the PSN space

/// (psn + n) modulo 2^24; n may be negative.
constexpr uint32_t psn_add(uint32_t psn, int64_t n) {
  return static_cast<uint32_t>(static_cast<int64_t>(psn) + n) & kPsnMask;
}

/// (a - b) modulo 2^24: how many PSNs a lies after b.
constexpr uint32_t psn_dist(uint32_t a, uint32_t b) { return (a - b) & kPsnMask; }

/// True when a lies before b: dist(b, a) in 1 .. 2^23 - 1.
constexpr bool psn_before(uint32_t a, uint32_t b) { return psn_dist(b, a) - 1u < kPsnHalf - 1u; }

inline constexpr uint32_t kMsnHalf = 1u << 15;  ///< half of the MSN space

/// (a - b) modulo 2^16, for MSN and RQMSN.
constexpr uint16_t msn_dist(uint16_t a, uint16_t b) { return static_cast<uint16_t>(a - b); }

/// (msn + n) modulo 2^16.
constexpr uint16_t msn_add(uint16_t msn, int n) { return static_cast<uint16_t>(msn + n); }

/// True when a lies before b: dist16(b, a) in 1 .. 2^15 - 1.
constexpr bool msn_before(uint16_t a, uint16_t b) { return msn_dist(b, a) - 1u < kMsnHalf - 1u; }

}  // namespace mrc

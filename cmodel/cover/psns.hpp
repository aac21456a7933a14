// SPDX-License-Identifier: Apache-2.0
/// PSNs as the bins count them.
#pragma once

#include <cstdint>

namespace mrc::cover {

inline constexpr uint32_t kPsns = 1u << 24;
inline constexpr int32_t kEdge = 8;     ///< the last of a window
inline constexpr unsigned kUnit = 128;  ///< PSNs of a unit of MPR

/// From b to a, over PSN 0 if that is shorter.
inline int32_t distance(uint32_t a, uint32_t b) { return static_cast<int32_t>((a - b) << 8) >> 8; }
inline uint32_t behind(uint32_t psn) { return (psn + 1) % kPsns; }
inline uint32_t before(uint32_t psn) { return (psn + kPsns - 1) % kPsns; }

}  // namespace mrc::cover

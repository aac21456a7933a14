// SPDX-License-Identifier: Apache-2.0
/// Numbers of the wire that more than one rule needs; written here anew, so that the model's mistakes are not the
/// judge's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "log/record.hpp"

namespace mrc::ref {

inline constexpr int64_t kPsnMask = 0xffffff;
inline constexpr uint32_t kMprUnit = 128;              ///< PSNs of a unit of mpr
inline constexpr log::Time kTick = 128'000;            ///< ps of a time stamp's unit
inline constexpr log::Time kSlowTick = 1'024'000;      ///< the same, where that is 1.024 us
inline constexpr uint16_t kUnrequestedProbe = 0xFFFF;  ///< probe id of a SACK that nothing asked for (A-74)
inline constexpr uint16_t kStateProbe = 0xFFFE;        ///< probe id (A-75)
inline constexpr uint8_t kTrimmed = 1, kTrimmedLasthop = 2, kUnexpEvent = 0x19;  ///< reasons of NACKs

/// Findings of a QP that wait for what would explain them.
inline constexpr std::size_t kMostHeldFindings = 1000;

}  // namespace mrc::ref

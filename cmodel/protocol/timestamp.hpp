// SPDX-License-Identifier: Apache-2.0
/// Time stamps in packets. The NIC counts ticks of 128 ns; a time stamp counts ticks or, with register CTRL.tsr_us,
/// units of eight ticks (1.024 us), modulo 2^16 (assumption A-21; mrc.md section 3, tsr).
#pragma once

#include <cstdint>

namespace mrc {

/// Time stamp of a tick.
constexpr uint16_t time_stamp(uint32_t tick, bool tsr_us) { return static_cast<uint16_t>(tsr_us ? tick >> 3 : tick); }

/// The 16 bits behind a time stamp: tsr in the top bit, ftype 1.
constexpr uint16_t time_stamp_format(bool tsr_us) { return tsr_us ? 0x8001 : 0x0001; }

/// Ticks from a time stamp to `tick`, modulo 2^16: with tsr_us a multiple of 8, since only its low 13 bits count.
constexpr uint16_t ticks_since(uint16_t stamp, uint32_t tick, bool tsr_us) {
  const uint32_t units = uint32_t{time_stamp(tick, tsr_us)} - stamp;
  return static_cast<uint16_t>(tsr_us ? units << 3 : units);
}

/// A time stamp moved forward by a number of ticks, rounded down to its unit.
constexpr uint16_t stamp_add(uint16_t stamp, uint16_t ticks, bool tsr_us) {
  return static_cast<uint16_t>(stamp + time_stamp(ticks, tsr_us));
}

}  // namespace mrc

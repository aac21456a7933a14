// SPDX-License-Identifier: Apache-2.0
/// Counters of the wire as if they had 64 bits, for those who read what NICs have sent.
#pragma once

#include <cstdint>

namespace mrc::log {

using Seq = int64_t;  ///< PSN, MSN, RQMSN, ... that goes on counting

/// The number nearest to `near` whose low `bits` bits are `low`; of two that are as near, the lower one.
constexpr Seq unwrap(uint64_t low, Seq near, unsigned bits = 24) {
  const Seq size = Seq{1} << bits;
  const Seq ahead = (static_cast<Seq>(low) - near) & (size - 1);
  return near + (ahead < size / 2 ? ahead : ahead - size);
}

}  // namespace mrc::log

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "gen/presets.hpp"
#include "wire/packed.hpp"

namespace mrc {

/// Packets per plane, modulo 4096: what rx_track has issued, and what rx_place has done (field snap of ord_t).
class PlaneCounts {
 public:
  PlaneCounts() = default;
  /// Plane p in bits [12p+11:12p].
  explicit PlaneCounts(U128 packed) {
    for (unsigned p = 0; p < kMaxPlanes; ++p) n_[p] = static_cast<uint16_t>(packed >> (kBits * p)) % kModulo;
  }
  U128 packed() const {
    U128 all = 0;
    for (unsigned p = 0; p < kMaxPlanes; ++p) all |= U128{n_[p]} << (kBits * p);
    return all;
  }

  void count(unsigned plane) { n_[plane] = (n_[plane] + 1u) % kModulo; }
  /// True when this count of a plane is `other`'s, or past it by less than half of what the counters hold.
  bool reached(const PlaneCounts& other, unsigned plane) const {
    return (n_[plane] - unsigned{other.n_[plane]}) % kModulo < kModulo / 2;
  }

 private:
  static constexpr unsigned kBits = 12, kModulo = 1u << kBits;
  std::array<uint16_t, kMaxPlanes> n_{};
};

}  // namespace mrc

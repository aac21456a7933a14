// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace mrc {

/// Seeded generator (xoshiro256**). One per purpose, so that a draw more in one part of a run does not
/// change what another part sees.
class Rng {
 public:
  Rng(uint64_t seed, std::string_view purpose) {
    uint64_t x = seed ^ 0x9e3779b97f4a7c15u;
    for (const char c : purpose) x = (x ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    for (uint64_t& s : s_) s = split(x);
  }

  uint64_t next() {
    const uint64_t result = rotl(s_[1] * 5, 7) * 9;
    const uint64_t t = s_[1] << 17;
    s_[2] ^= s_[0];
    s_[3] ^= s_[1];
    s_[1] ^= s_[2];
    s_[0] ^= s_[3];
    s_[2] ^= t;
    s_[3] = rotl(s_[3], 45);
    return result;
  }
  /// Uniform in 0 .. n-1; n >= 1.
  uint64_t below(uint64_t n) { return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64); }
  /// Uniform in lo .. hi.
  uint64_t between(uint64_t lo, uint64_t hi) { return lo + below(hi - lo + 1); }
  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// True with probability p. Draws only when the answer is open.
  bool chance(double p) { return p > 0 && (p >= 1 || unit() < p); }

  /// One step of splitmix64: also a good hash of its argument.
  static uint64_t split(uint64_t& x) {
    uint64_t z = (x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  static uint64_t hash(uint64_t x) { return split(x); }

 private:
  static uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  uint64_t s_[4];
};

}  // namespace mrc

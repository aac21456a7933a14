// SPDX-License-Identifier: Apache-2.0
#include "log/digest.hpp"

#include <bit>
#include <cstring>

namespace mrc::log {

uint64_t digest(std::span<const uint8_t> bytes) {
  constexpr uint64_t kPrime = 0x100000001b3u;
  uint64_t hash = 0xcbf29ce484222325u ^ bytes.size();
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    hash = (std::rotl(hash, 23) ^ word) * kPrime;
  }
  for (; at < bytes.size(); ++at) hash = (hash ^ bytes[at]) * kPrime;
  hash ^= hash >> 32;
  return hash == 0 ? 1 : hash;
}

}  // namespace mrc::log

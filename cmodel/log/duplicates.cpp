// SPDX-License-Identifier: Apache-2.0
#include "log/duplicates.hpp"

#include <algorithm>
#include <array>

#include "log/digest.hpp"
#include "wire/packet.hpp"

namespace mrc::log {
namespace {

constexpr std::size_t kEth = wire::Eth::kBytes, kHead = 192, kEnd = 16;
constexpr std::size_t kHops6 = kEth + 7, kHops4 = kEth + 8, kCheckSum4 = kEth + 10;

bool is_ipv4(std::span<const uint8_t> frame) { return frame.size() > kEth && frame[kEth] >> 4 == 4; }

/// Of what no switch changes: neither MAC addresses, nor traffic class and hops of the outermost IP header. The ICRC
/// stands for the payload.
uint64_t key_of(std::span<const uint8_t> frame, uint64_t length) {
  std::array<uint8_t, kHead + kEnd + sizeof length> bytes{};
  const std::size_t head = std::min(frame.size(), kHead), tail = std::min(frame.size(), kEnd);
  std::copy_n(frame.begin(), head, bytes.begin());
  std::fill_n(bytes.begin(), 12, uint8_t{0});
  if (is_ipv4(frame)) {
    bytes[kEth + 1] = bytes[kHops4] = bytes[kCheckSum4] = bytes[kCheckSum4 + 1] = 0;
  } else {
    bytes[kEth] &= 0xF0;
    bytes[kEth + 1] &= 0x0F;
    bytes[kHops6] = 0;
  }
  std::copy_n(frame.end() - static_cast<std::ptrdiff_t>(tail), tail, bytes.begin() + static_cast<std::ptrdiff_t>(head));
  for (std::size_t i = 0; i < sizeof length; ++i) bytes[head + tail + i] = static_cast<uint8_t>(length >> (8 * i));
  return digest(std::span(bytes).first(head + tail + sizeof length));
}

/// What routers change.
uint64_t hop_of(std::span<const uint8_t> frame) {
  std::array<uint8_t, 13> bytes{};
  std::copy_n(frame.begin(), std::min<std::size_t>(frame.size(), 12), bytes.begin());
  const std::size_t hops = is_ipv4(frame) ? kHops4 : kHops6;
  if (frame.size() > hops) bytes[12] = frame[hops];
  return digest(bytes);
}

}  // namespace

bool Duplicates::again(std::span<const uint8_t> frame, uint64_t length, const Sight& sight) {
  while (!order_.empty() && (order_.size() >= kMost || order_.front().first + kWindowNs < sight.ns)) {
    seen_.erase(order_.front().second);
    order_.pop_front();
  }
  const uint64_t key = key_of(frame, length), hop = hop_of(frame);
  const auto [at, fresh] = seen_.try_emplace(key);
  Seen& seen = at->second;
  if (fresh) order_.emplace_back(sight.ns, key);
  Place* here = seen.places.data();
  Place* const end = here + seen.count;
  while (here != end && (here->interface != sight.interface || here->hop != hop)) ++here;
  if (here == end) {
    if (seen.count == kMostPlaces) return false;
    *here = {sight.interface, hop, 0};
    ++seen.count;
  }
  if (++here->times <= seen.told) {
    bool same = false;
    for (const Place& other : std::span(seen.places).first(seen.count)) {
      if (&other == here || other.times < here->times) continue;
      if (sight.unique && alike_.size() < kMost) {
        alike_.emplace(std::min(sight.interface, other.interface), std::max(sight.interface, other.interface));
      }
      same |= sight.unique || known(sight.interface, other.interface);
    }
    if (same) return true;
  }
  ++seen.told;
  return false;
}

}  // namespace mrc::log

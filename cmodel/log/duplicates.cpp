// SPDX-License-Identifier: Apache-2.0
#include "log/duplicates.hpp"

#include <algorithm>
#include <array>

#include "gen/headers.hpp"
#include "log/digest.hpp"

namespace mrc::log {
namespace {

constexpr std::size_t kEth = wire::Eth::kBytes, kHead = 256, kTail = 16;
constexpr std::size_t kHops6 = kEth + 7, kHops4 = kEth + 8, kCheckSum4 = kEth + 10;

bool is_ipv4(std::span<const uint8_t> frame) { return frame.size() > kEth && frame[kEth] >> 4 == 4; }

/// Of what no switch changes: neither MAC addresses, nor traffic class and hops of the outermost IP header. The ICRC
/// stands for the payload.
uint64_t key_of(std::span<const uint8_t> frame, uint64_t length) {
  std::array<uint8_t, kHead + kTail + sizeof length> bytes{};
  const std::size_t head = std::min(frame.size(), kHead), tail = std::min(frame.size(), kTail);
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

}  // namespace

uint64_t Duplicates::place_of(uint32_t capture, uint32_t interface, std::span<const uint8_t> frame) {
  std::array<uint8_t, 21> bytes{};
  std::copy_n(frame.begin(), std::min<std::size_t>(frame.size(), 12), bytes.begin());
  const std::size_t hops = is_ipv4(frame) ? kHops4 : kHops6;
  if (frame.size() > hops) bytes[12] = frame[hops];
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[13 + i] = static_cast<uint8_t>(capture >> (8 * i));
    bytes[17 + i] = static_cast<uint8_t>(interface >> (8 * i));
  }
  return digest(bytes);
}

bool Duplicates::again(std::span<const uint8_t> frame, uint64_t length, uint64_t ns, uint64_t place) {
  while (!order_.empty() && (order_.size() >= kMost || order_.front().first + kWindowNs < ns)) {
    seen_.erase(order_.front().second);
    order_.pop_front();
  }
  const uint64_t key = key_of(frame, length);
  const auto [at, fresh] = seen_.try_emplace(key);
  Seen& seen = at->second;
  if (fresh) {
    seen.since = ns;
    order_.emplace_back(ns, key);
  }
  auto here = std::ranges::find(seen.places, place, &std::pair<uint64_t, uint32_t>::first);
  if (here == seen.places.end() && seen.places.size() == kMostPlaces) return false;
  if (here == seen.places.end()) here = seen.places.insert(here, {place, 0});
  if (++here->second <= seen.told) return true;
  ++seen.told;
  return false;
}

}  // namespace mrc::log

// SPDX-License-Identifier: Apache-2.0
#include "log/duplicates.hpp"

#include <algorithm>
#include <array>

#include "log/digest.hpp"
#include "wire/packet.hpp"

namespace mrc::log {
namespace {

constexpr std::size_t kEth = wire::Eth::kBytes, kIpv6 = wire::Ipv6::kBytes, kHead = 192, kEnd = 16;
constexpr std::size_t kHops6 = kEth + 7, kHops4 = kEth + 8;
constexpr uint8_t kInIp = 41, kRoutingHeader = 43;

bool is_ipv4(std::span<const uint8_t> ip) { return !ip.empty() && ip[0] >> 4 == 4; }

/// From the innermost IP header on. Routers change destination, flow label and routing header of one around it.
std::span<const uint8_t> inner_of(std::span<const uint8_t> frame) {
  std::span<const uint8_t> ip = frame.subspan(std::min(frame.size(), kEth));
  if (ip.size() < kIpv6 || is_ipv4(ip)) return ip;
  if (ip[6] == kInIp) return ip.subspan(kIpv6);
  if (ip[6] != kRoutingHeader || ip.size() < kIpv6 + 2 || ip[kIpv6] != kInIp) return ip;
  return ip.subspan(std::min(ip.size(), kIpv6 + 8 * (std::size_t{ip[kIpv6 + 1]} + 1)));
}

/// Of what no switch changes: neither what stands around the innermost IP header, nor its traffic class and hops. The
/// ICRC stands for the payload.
uint64_t key_of(std::span<const uint8_t> frame, uint64_t length) {
  const std::span<const uint8_t> ip = inner_of(frame);
  std::array<uint8_t, kHead + kEnd + sizeof length> bytes{};
  const std::size_t head = std::min(ip.size(), kHead), tail = std::min(ip.size(), kEnd);
  std::copy_n(ip.begin(), head, bytes.begin());
  if (is_ipv4(ip)) {
    bytes[1] = bytes[8] = bytes[10] = bytes[11] = 0;
  } else {
    bytes[0] &= 0xF0;
    bytes[1] &= 0x0F;
    bytes[7] = 0;
  }
  std::copy_n(ip.end() - static_cast<std::ptrdiff_t>(tail), tail, bytes.begin() + static_cast<std::ptrdiff_t>(head));
  for (std::size_t i = 0; i < sizeof length; ++i) bytes[head + tail + i] = static_cast<uint8_t>(length >> (8 * i));
  return digest(std::span(bytes).first(head + tail + sizeof length));
}

/// What routers change.
uint64_t hop_of(std::span<const uint8_t> frame) {
  std::array<uint8_t, 13> bytes{};
  std::copy_n(frame.begin(), std::min<std::size_t>(frame.size(), 12), bytes.begin());
  const std::size_t hops = is_ipv4(frame.subspan(std::min(frame.size(), kEth))) ? kHops4 : kHops6;
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

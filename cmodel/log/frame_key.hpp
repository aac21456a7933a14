// SPDX-License-Identifier: Apache-2.0
/// Where frames of captures have what tells them from others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/packet.hpp"

namespace mrc::log {

inline bool is_ipv4(std::span<const uint8_t> ip) { return !ip.empty() && ip[0] >> 4 == 4; }

/// An Ethernet frame from its innermost IP header on. Routers change destination, flow label and routing header of one
/// around it.
inline std::span<const uint8_t> innermost_ip(std::span<const uint8_t> frame) {
  constexpr std::size_t kEth = wire::Eth::kBytes, kIpv6 = wire::Ipv6::kBytes;
  constexpr uint8_t kInIp = 41, kRoutingHeader = 43;
  std::span<const uint8_t> ip = frame.subspan(std::min(frame.size(), kEth));
  if (ip.size() < kIpv6 || is_ipv4(ip)) return ip;
  if (ip[6] == kInIp) return ip.subspan(kIpv6);
  if (ip[6] != kRoutingHeader || ip.size() < kIpv6 + 2 || ip[kIpv6] != kInIp) return ip;
  return ip.subspan(std::min(ip.size(), kIpv6 + 8 * (std::size_t{ip[kIpv6 + 1]} + 1)));
}

}  // namespace mrc::log

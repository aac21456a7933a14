// SPDX-License-Identifier: Apache-2.0
#include "log/address.hpp"

#include <algorithm>
#include <array>

#include "wire/text.hpp"

namespace mrc::log {
namespace {

constexpr std::array<uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

std::string address_text(const Ip& ip) {
  if (!std::equal(kMapped.begin(), kMapped.end(), ip.begin())) return wire::to_text(ip);
  return wire::to_text(std::array<uint8_t, 4>{ip[12], ip[13], ip[14], ip[15]});
}

std::optional<Ip> address_of(const std::string& text) {
  Ip ip{};
  if (wire::from_text(text, ip)) return ip;
  std::array<uint8_t, 4> ipv4{};
  if (!wire::from_text(text, ipv4)) return {};
  std::ranges::copy(kMapped, ip.begin());
  std::ranges::copy(ipv4, ip.begin() + kMapped.size());
  return ip;
}

}  // namespace mrc::log

// SPDX-License-Identifier: Apache-2.0
/// Addresses of NICs in options.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "input/number.hpp"
#include "log/address.hpp"
#include "log/import.hpp"

namespace mrc::cli {

/// "fd00::1,fd00::2": all of one device. Throws UsageError: one of them is none.
inline std::vector<log::Ip> addresses_of(const std::string& option, const std::string& text) {
  std::vector<log::Ip> addresses;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string one = text.substr(at, comma - at);
    const auto ip = log::address_of(one);
    if (!ip) {
      throw UsageError(fmt::format("{}: {} is no IP address.", option, input::shown(one)),
                       "Write fd00::1 or 10.0.0.1; several addresses of one device with commas between them.");
    }
    addresses.push_back(*ip);
    at = comma + 1;
  }
  return addresses;
}

/// Index of the device with one of these addresses, or of a new one. From now on it has all of them.
inline std::size_t device_of(log::ImportOptions& to, const std::vector<log::Ip>& addresses) {
  const auto has = [](const log::ImportDevice& device, const log::Ip& ip) {
    return std::ranges::find(device.addresses, ip) != device.addresses.end();
  };
  const auto known = std::ranges::find_if(to.devices, [&](const log::ImportDevice& device) {
    return std::ranges::any_of(addresses, [&](const log::Ip& ip) { return has(device, ip); });
  });
  const auto index = static_cast<std::size_t>(known - to.devices.begin());
  if (known == to.devices.end()) to.devices.emplace_back();
  log::ImportDevice& device = to.devices[index];
  for (const log::Ip& ip : addresses) {
    if (!has(device, ip)) device.addresses.push_back(ip);
  }
  return index;
}

}  // namespace mrc::cli

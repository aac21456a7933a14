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

}  // namespace mrc::cli

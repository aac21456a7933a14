// SPDX-License-Identifier: Apache-2.0
/// Addresses of NICs as text. An Ip holds IPv4 as ::ffff:a.b.c.d; people read and write a.b.c.d.
#pragma once

#include <optional>
#include <string>

#include "log/record.hpp"

namespace mrc::log {

/// "fd00::1"; of IPv4 "10.0.0.1".
std::string address_text(const Ip& ip);
/// The address that the text is, IPv6 or IPv4; nothing: it is none.
std::optional<Ip> address_of(const std::string& text);

}  // namespace mrc::log

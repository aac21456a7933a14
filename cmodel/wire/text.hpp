// SPDX-License-Identifier: Apache-2.0
/// Packets, addresses and byte strings as text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/packet.hpp"

namespace mrc::wire {

/// "0a1b2c"
std::string to_hex(std::span<const uint8_t> bytes);
void append_hex(std::string& to, std::span<const uint8_t> bytes);
/// Reads hexadecimal digits; white space, colons and a leading 0x are skipped. On failure nothing, and
/// the position of the offending character in `bad`.
std::optional<std::vector<uint8_t>> from_hex(std::string_view text, size_t& bad);

/// "02:00:00:00:00:01"
std::string to_text(const std::array<uint8_t, 6>& mac);
/// "192.168.0.1"
std::string to_text(const std::array<uint8_t, 4>& ipv4);
/// "fd00::1", RFC 5952
std::string to_text(const std::array<uint8_t, 16>& ipv6);
bool from_text(const std::string& text, std::array<uint8_t, 6>& mac);
bool from_text(const std::string& text, std::array<uint8_t, 4>& ipv4);
bool from_text(const std::string& text, std::array<uint8_t, 16>& ipv6);

/// The opcode's name, "WRITE Only"; "opcode 0x24" when unknown; "no BTH" without one.
std::string kind_of(const Packet& packet);

/// One line: kind, QP, PSN, entropy, size, what is special.
std::string summary(const Packet& packet, const WireConfig& config = {});

/// All headers, one per line with every field, then payload, ICRC and error; lines start with `indent`.
std::string describe(const Packet& packet, std::string_view indent = "  ");

}  // namespace mrc::wire

// SPDX-License-Identifier: Apache-2.0
#include "wire/text.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <type_traits>

namespace mrc::wire {

namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Numbers people read as bit patterns.
bool is_hex(const HeaderField& field) {
  const std::string_view name = field.name;
  return name == "opcode" || name == "ethertype" || name == "r_key" || name == "va" || name == "sack_bitmap" ||
         name == "entropy" || name == "checksum" || name == "p_key" || name == "port_status_mask" || name == "dqp" ||
         name == "value" || name == "reason" || name == "syndrome" || field.reserved;
}

template <class Header>
std::string line(const Header& header, const char* key, std::string_view indent) {
  std::string out = fmt::format("{}{:<10}", indent, key);
  Header::visit(header, [&](const HeaderField& field, const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_integral_v<Value>) {
      if (field.reserved && value == 0) return;
      out += is_hex(field) ? fmt::format(" {}=0x{:x}", field.name, value)
                           : fmt::format(" {}={}", field.name, static_cast<int64_t>(value));
      for (const EnumValue& e : field.names) {
        if (e.value == static_cast<uint64_t>(value)) out += fmt::format("({})", e.name);
      }
    } else {
      out += fmt::format(" {}={}", field.name, to_text(value));
    }
  });
  return out + "\n";
}

std::string bytes_line(std::string_view key, std::span<const uint8_t> bytes, std::string_view indent) {
  if (bytes.empty()) return {};
  constexpr size_t kShown = 16;
  const auto shown = bytes.first(std::min(bytes.size(), kShown));
  return fmt::format("{}{:<10} {} bytes: {}{}\n", indent, key, bytes.size(), to_hex(shown),
                     bytes.size() > kShown ? "..." : "");
}

}  // namespace

void append_hex(std::string& to, std::span<const uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  to.reserve(to.size() + 2 * bytes.size());
  for (const uint8_t b : bytes) {
    to += kDigits[b >> 4];
    to += kDigits[b & 15];
  }
}

std::string to_hex(std::span<const uint8_t> bytes) {
  std::string out;
  append_hex(out, bytes);
  return out;
}

std::optional<std::vector<uint8_t>> from_hex(std::string_view text, size_t& bad) {
  std::vector<uint8_t> out;
  int high = -1;
  size_t start = 0;
  while (start < text.size() && std::isspace(static_cast<unsigned char>(text[start]))) ++start;
  if (text.substr(start, 2) == "0x" || text.substr(start, 2) == "0X") start += 2;
  for (size_t i = start; i < text.size(); ++i) {
    const char c = text[i];
    if (std::isspace(static_cast<unsigned char>(c)) || c == ':') continue;
    const int value = digit(c);
    if (value < 0) {
      bad = i;
      return std::nullopt;
    }
    if (high < 0) {
      high = value;
    } else {
      out.push_back(static_cast<uint8_t>(high << 4 | value));
      high = -1;
    }
  }
  if (high >= 0) {
    bad = text.size();
    return std::nullopt;
  }
  return out;
}

std::string to_text(const std::array<uint8_t, 6>& m) {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", m[0], m[1], m[2], m[3], m[4], m[5]);
}

std::string to_text(const std::array<uint8_t, 4>& a) { return fmt::format("{}.{}.{}.{}", a[0], a[1], a[2], a[3]); }

std::string to_text(const std::array<uint8_t, 16>& a) {
  // RFC 5952: the longest run of at least two zero groups becomes "::", never an embedded IPv4 address
  unsigned group[8];
  for (size_t i = 0; i < 8; ++i) group[i] = static_cast<unsigned>(a[2 * i] << 8 | a[2 * i + 1]);
  unsigned best = 8, best_count = 1;
  for (unsigned i = 0; i < 8;) {
    unsigned count = 0;
    while (i + count < 8 && group[i + count] == 0) ++count;
    if (count > best_count) {
      best = i;
      best_count = count;
    }
    i += count ? count : 1;
  }
  std::string out;
  for (unsigned i = 0; i < 8; ++i) {
    if (i == best) {
      out += "::";
      i += best_count - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    out += fmt::format("{:x}", group[i]);
  }
  return out;
}

bool from_text(const std::string& text, std::array<uint8_t, 6>& mac) {
  if (text.size() != 17) return false;
  for (size_t i = 0; i < 6; ++i) {
    const int high = digit(text[3 * i]), low = digit(text[3 * i + 1]);
    if (high < 0 || low < 0 || (i < 5 && text[3 * i + 2] != ':')) return false;
    mac[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return true;
}

bool from_text(const std::string& text, std::array<uint8_t, 4>& ipv4) {
  return ::inet_pton(AF_INET, text.c_str(), ipv4.data()) == 1;
}

bool from_text(const std::string& text, std::array<uint8_t, 16>& ipv6) {
  return ::inet_pton(AF_INET6, text.c_str(), ipv6.data()) == 1;
}

std::string kind_of(const Packet& packet) {
  if (!packet.bth) return "no BTH";
  const OpcodeInfo* info = opcode_info(packet.bth->opcode);
  return info ? info->text : fmt::format("opcode 0x{:02x}", packet.bth->opcode);
}

std::string summary(const Packet& p, const WireConfig& config) {
  std::string out = kind_of(p);
  if (p.bth) out += fmt::format(", QP 0x{:x}, PSN {}", p.bth->dqp, p.bth->psn);
  if (p.udp) out += fmt::format(", EV 0x{:08x}", p.entropy(config));
  if (!p.payload.empty()) out += fmt::format(", {} bytes", p.payload.size());
  if (p.bth && p.bth->rtx) out += ", retransmission";
  if (p.trimmed()) out += fmt::format(", {}", name_of(p.dscp_class));
  if (p.ecn() == 3) out += ", CE";
  if (p.error) out += fmt::format(", {}", name_of(p.error->code));
  return out;
}

std::string describe(const Packet& p, std::string_view indent) {
  std::string out;
  const auto header = [&](const auto& h, const char* key) {
    if (h) out += line(*h, key, indent);
  };
  header(p.eth, "eth");
  header(p.outer_ipv6, "outer_ipv6");
  header(p.srh, "srh");
  header(p.ipv6, "ipv6");
  header(p.ipv4, "ipv4");
  header(p.udp, "udp");
  header(p.bth, "bth");
  Extensions::visit(p, [&](const auto& h) { header(h, std::decay_t<decltype(*h)>::kName); });
  out += bytes_line("payload", p.payload, indent);
  out += bytes_line("padding", p.padding, indent);
  out += bytes_line("rest", p.rest, indent);
  if (p.icrc) out += fmt::format("{}{:<10} 0x{:08x} {}\n", indent, "icrc", p.icrc->value, p.icrc->ok ? "ok" : "WRONG");
  out += bytes_line("trailer", p.trailer, indent);
  if (p.error) {
    out += fmt::format("{}{:<10} {} at byte {}: {}\n", indent, "error", name_of(p.error->code), p.error->offset,
                       p.error->message());
  }
  return out;
}

}  // namespace mrc::wire

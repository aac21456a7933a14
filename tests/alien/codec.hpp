// SPDX-License-Identifier: Apache-2.0
/// Frames of the alien NIC: IPv6, no SRv6, no time stamps of its own. Written from docs/protocol alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace alien {

using Bytes = std::vector<uint8_t>;
using Ip = std::array<uint8_t, 16>;

enum Opcode : uint8_t {
  kFirst = 0xc6,
  kMiddle = 0xc7,
  kLast = 0xc8,
  kLastImm = 0xc9,
  kOnly = 0xca,
  kOnlyImm = 0xcb,
  kAck = 0xd1,
  kQuery = 0xd8,
  kReport = 0xd9,
  kSack = 0xdc,
  kNack = 0xdd,
  kProbe = 0xde,
};
inline bool is_write(uint8_t op) { return op >= kFirst && op <= kOnlyImm; }
inline bool has_imm(uint8_t op) { return op == kLastImm || op == kOnlyImm; }
inline bool ends_message(uint8_t op) { return op >= kLast && op <= kOnlyImm; }

/// Code points.
enum : uint8_t { kData = 4, kAgain = 8, kTrimmed = 12, kTrimmedLastHop = 16, kControl = 46 };

inline uint64_t get(std::span<const uint8_t> b, std::size_t at, std::size_t n) {
  uint64_t v = 0;
  for (std::size_t i = 0; i < n; ++i) v = v << 8 | b[at + i];
  return v;
}
inline void put(Bytes& b, uint64_t v, std::size_t n) {
  while (n-- != 0) b.push_back(static_cast<uint8_t>(v >> 8 * n));
}
inline void set(Bytes& b, std::size_t at, uint64_t v, std::size_t n) {
  while (n-- != 0) b[at++] = static_cast<uint8_t>(v >> 8 * n);
}

/// Where an Ethernet, IPv6 and UDP frame has its parts.
enum : std::size_t { kIp = 14, kUdp = 54, kBth = 62, kBody = 74 };

/// Of everything behind the Ethernet header; the last four bytes, which hold it, do not count.
inline uint32_t icrc(std::span<const uint8_t> frame) {
  uint32_t crc = 0xdebb20e3;  // behind eight bytes of ones
  for (std::size_t i = kIp; i + 4 < frame.size(); ++i) {
    uint8_t byte = frame[i];
    const std::size_t ip = i - kIp;
    if (ip == 0) byte |= 0x0f;                                          // traffic class
    if ((ip >= 1 && ip <= 3) || ip == 7 || i == kBth + 4) byte = 0xff;  // flow label, hop limit, BTH 4
    if (i == kUdp + 6 || i == kUdp + 7) byte = 0xff;                    // UDP checksum
    crc ^= byte;
    for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

/// Addresses and entropy of a frame.
struct Route {
  uint64_t from_mac = 0, to_mac = 0;
  Ip from{}, to{};
  uint32_t entropy = 0;
};

struct Head {
  uint8_t opcode = 0, pad = 0;
  uint16_t pkey = 0xffff;
  uint32_t qp = 0, psn = 0;
  bool query = false, again = false;
};

/// `body`: what follows the BTH, pad included.
inline Bytes build(const Route& r, const Head& h, uint8_t code_point, uint8_t ecn, std::span<const uint8_t> body) {
  Bytes f;
  f.reserve(kBody + body.size() + 4);
  put(f, r.to_mac, 6);
  put(f, r.from_mac, 6);
  put(f, 0x86dd, 2);
  put(f, 6u << 28 | uint32_t(code_point << 2 | ecn) << 20 | (r.entropy & 0xffff), 4);
  const std::size_t udp = 8 + 12 + body.size() + 4;
  put(f, udp, 2);
  put(f, 17, 1);
  put(f, 64, 1);
  f.insert(f.end(), r.from.begin(), r.from.end());
  f.insert(f.end(), r.to.begin(), r.to.end());
  put(f, r.entropy >> 16, 2);
  put(f, 4971, 2);
  put(f, udp, 2);
  put(f, 0, 2);
  put(f, h.opcode, 1);
  put(f, uint64_t(h.pad) << 4, 1);
  put(f, h.pkey, 2);
  put(f, 0, 1);
  put(f, h.qp, 3);
  put(f, (h.query ? 0x80u : 0u) | (h.again ? 0x20u : 0u), 1);
  put(f, h.psn, 3);
  f.insert(f.end(), body.begin(), body.end());
  put(f, 0, 4);
  const uint32_t crc = icrc(f);
  for (std::size_t i = 0; i < 4; ++i) f[f.size() - 4 + i] = static_cast<uint8_t>(crc >> 8 * i);
  return f;
}

/// A frame that came.
struct Packet : Head {
  Bytes frame;
  Ip from{};
  uint64_t from_mac = 0;
  uint32_t entropy = 0;
  bool congested = false, trimmed = false, last_hop = false, stamped = false;
  unsigned nominal = 0;      ///< UDP length + 40
  std::size_t body = kBody;  ///< where the part behind the BTH begins
  std::size_t end = 0;       ///< where ICRC begins; of a trimmed one, the end
  uint64_t word(std::size_t at, std::size_t n) const { return get(frame, body + at, n); }
  /// Of a WRITE: behind METH and TSETH.
  std::size_t reth() const { return stamped ? 8 : 4; }
  std::size_t payload() const { return end - kBody - reth() - 16 - (has_imm(opcode) ? 4 : 0) - pad; }
};

/// Nothing: it is none of ours, or not as it was sent.
inline std::optional<Packet> parse(Bytes frame, const Ip& own) {
  if (frame.size() < kBody + 4 || get(frame, 12, 2) != 0x86dd || frame[kIp] >> 4 != 6 || frame[kIp + 6] != 17)
    return {};
  if (!std::equal(own.begin(), own.end(), frame.begin() + kIp + 24)) return {};
  const uint64_t port = get(frame, kUdp + 2, 2);
  if (port != 4791 && port != 4971) return {};
  Packet p;
  const auto traffic_class = static_cast<uint8_t>(get(frame, kIp, 2) >> 4);
  p.trimmed = traffic_class >> 2 == kTrimmed || traffic_class >> 2 == kTrimmedLastHop;
  p.last_hop = traffic_class >> 2 == kTrimmedLastHop;
  p.congested = (traffic_class & 3) == 3;
  const std::size_t udp = get(frame, kUdp + 4, 2);
  p.end = frame.size();
  if (!p.trimmed) {
    if (get(frame, kIp + 4, 2) != udp || kUdp + udp != frame.size()) return {};
    const uint32_t crc = icrc(frame);
    p.end -= 4;
    for (std::size_t i = 0; i < 4; ++i)
      if (frame[p.end + i] != static_cast<uint8_t>(crc >> 8 * i)) return {};
  }
  p.nominal = static_cast<unsigned>(udp + 40);
  std::copy_n(frame.begin() + kIp + 8, 16, p.from.begin());
  p.from_mac = get(frame, 6, 6);
  p.entropy = static_cast<uint32_t>(get(frame, kUdp, 2) << 16 | get(frame, kIp + 2, 2));
  p.opcode = frame[kBth];
  p.pad = frame[kBth + 1] >> 4 & 3;
  if ((frame[kBth + 1] & 0xf) != 0) return {};
  p.pkey = static_cast<uint16_t>(get(frame, kBth + 2, 2));
  p.qp = static_cast<uint32_t>(get(frame, kBth + 5, 3));
  p.query = (frame[kBth + 8] & 0x80) != 0;
  p.again = (frame[kBth + 8] & 0x20) != 0;
  p.stamped = (frame[kBth + 8] & 0x10) != 0;
  p.psn = static_cast<uint32_t>(get(frame, kBth + 9, 3));
  const std::size_t room = p.end - kBody;
  const std::size_t least = p.opcode == kSack                          ? 36
                            : p.opcode == kReport                      ? 36
                            : p.opcode == kNack                        ? 20
                            : p.opcode == kProbe || p.opcode == kQuery ? 16
                            : p.opcode == kAck                         ? 4
                            : !is_write(p.opcode)                      ? SIZE_MAX
                            : p.trimmed                                ? p.reth()
                                        : p.reth() + 16 + (has_imm(p.opcode) ? 4 : 0) + p.pad;
  if (room < least || (!is_write(p.opcode) && !p.trimmed && room != least)) return {};
  p.frame = std::move(frame);
  return p;
}

}  // namespace alien

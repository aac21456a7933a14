// SPDX-License-Identifier: Apache-2.0
#include "wire/link_layer.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

#include "wire/bytes.hpp"

namespace mrc::wire {
namespace {

constexpr std::size_t kMacs = 12, kTag = 4, kEth = Eth::kBytes, kIp6 = Ipv6::kBytes;
constexpr unsigned kHopByHop = 0, kFragment = 44, kDestination = 60, kIpv4InIp = 4;

bool is_tag(unsigned type) { return type == 0x8100 || type == 0x88A8 || type == 0x9100 || type == 0x9200; }

/// Bytes of the extension header at the begin of `bytes`; nothing: `next` is none that says only what comes next, or it
/// is not there whole.
std::optional<std::size_t> extension(unsigned next, std::span<const uint8_t> bytes) {
  constexpr std::size_t kUnit = 8;
  if ((next != kHopByHop && next != kDestination && next != kFragment) || bytes.size() < kUnit) return std::nullopt;
  if (next == kFragment && (load_be<2>(&bytes[2]) & 0xFFF9) != 0) return std::nullopt;  // a part of a packet
  const std::size_t size = next == kFragment ? kUnit : kUnit * (std::size_t{bytes[1]} + 1);
  if (bytes.size() < size) return std::nullopt;
  return size;
}

/// Takes bytes away, of those that were on the wire as well.
void take(CapturedFrame& frame, std::size_t at, std::size_t bytes) {
  const auto begin = frame.bytes.begin() + static_cast<std::ptrdiff_t>(at);
  frame.bytes.erase(begin, begin + static_cast<std::ptrdiff_t>(bytes));
  frame.original_length -= std::min(frame.original_length, static_cast<uint32_t>(bytes));
}

/// Puts an Ethernet header where `bytes` of another one stand.
void replace(CapturedFrame& frame, std::size_t bytes, std::span<const uint8_t> source, unsigned type) {
  std::array<uint8_t, kEth> head{};
  std::ranges::copy(source, head.begin() + 6);
  store_be<2>(&head[kMacs], type);
  if (bytes > kEth) take(frame, kEth, bytes - kEth);
  if (bytes < kEth) {
    frame.bytes.insert(frame.bytes.begin(), kEth - bytes, 0);
    const uint32_t room = std::numeric_limits<uint32_t>::max() - frame.original_length;
    frame.original_length += std::min(room, static_cast<uint32_t>(kEth - bytes));
  }
  std::ranges::copy(head, frame.bytes.begin());
}

/// Cooked packets: `type`, `address` and `length` are places of their header.
bool cooked(CapturedFrame& frame, std::size_t size, std::size_t type, std::size_t kind, std::size_t length,
            std::size_t address) {
  constexpr unsigned kMac = 6, kOutgoing = 4;
  if (frame.bytes.size() < size) return false;
  const uint8_t* const head = frame.bytes.data();
  std::array<uint8_t, kMac> source{};
  if (head[length] == kMac) std::copy_n(head + address, kMac, source.begin());
  frame.direction = head[kind] == kOutgoing ? CapturedFrame::Direction::Out : CapturedFrame::Direction::In;
  replace(frame, size, source, static_cast<unsigned>(load_be<2>(head + type)));
  return true;
}

bool link(CapturedFrame& frame) {
  const auto ip = [&](unsigned type) {
    replace(frame, 0, {}, type);
    return true;
  };
  switch (frame.link) {
    case kLinkEthernet:
      return true;
    case kLinkSll:
      return cooked(frame, 16, 14, 1, 5, 6);
    case kLinkSll2:
      if (frame.bytes.size() >= 8) frame.port = static_cast<uint32_t>(load_be<4>(&frame.bytes[4]));
      return cooked(frame, 20, 0, 10, 11, 12);
    case kLinkRaw:
      return !frame.bytes.empty() && ip(frame.bytes[0] >> 4 == 4 ? kEthertypeIpv4 : kEthertypeIpv6);
    case kLinkIpv4:
      return ip(kEthertypeIpv4);
    case kLinkIpv6:
      return ip(kEthertypeIpv6);
    default:
      return false;
  }
}

void tags(CapturedFrame& frame) {
  std::size_t bytes = 0;
  while (frame.bytes.size() >= kEth + bytes + kTag) {
    const uint8_t* const at = &frame.bytes[kMacs + bytes];
    const auto type = static_cast<uint16_t>(load_be<2>(at));
    if (!is_tag(type)) break;
    frame.taken.tags.push_back({type, static_cast<uint16_t>(load_be<2>(at + 2))});
    bytes += kTag;
  }
  if (bytes != 0) take(frame, kMacs, bytes);
}

/// Takes the extension headers behind the IPv6 header at `ip`; `outer` is one in front of it. What comes next.
unsigned extensions(CapturedFrame& frame, std::size_t ip, std::optional<std::size_t> outer) {
  constexpr std::size_t kNext = 6, kLength = 4;
  const std::size_t first = ip + kIp6;
  std::size_t at = first;
  unsigned next = frame.bytes[ip + kNext];
  while (const auto size = extension(next, std::span(frame.bytes).subspan(at))) {
    next = frame.bytes[at];
    at += *size;
  }
  const std::size_t bytes = at - first;
  if (bytes == 0) return next;
  take(frame, first, bytes);
  frame.bytes[ip + kNext] = static_cast<uint8_t>(next);
  const auto shorten = [&](std::size_t header) {
    uint8_t* const length = &frame.bytes[header + kLength];
    store_be<2>(length, load_be<2>(length) - bytes);
  };
  shorten(ip);
  if (outer) shorten(*outer);
  frame.taken.extensions = static_cast<uint16_t>(frame.taken.extensions + bytes);
  return next;
}

void ipv6(CapturedFrame& frame) {
  const auto there = [&](std::size_t ip) { return frame.bytes.size() >= ip + kIp6 && frame.bytes[ip] >> 4 == 6; };
  if (!there(kEth)) return;
  std::size_t behind = kEth + kIp6;
  unsigned next = extensions(frame, kEth, std::nullopt);
  if (next == kProtoRouting && frame.bytes.size() >= behind + Srh::kBytes && frame.bytes[behind + 1] == 2) {
    next = frame.bytes[behind];
    behind += Srh::kBytes;
  }
  if (next == kProtoIpv6 && there(behind)) extensions(frame, behind, kEth);
}

/// Null: of one that is not read.
const char* name_of(uint16_t link) {
  switch (link) {
    case kLinkEthernet:
      return "Ethernet";
    case kLinkSll:
      return "Linux cooked (SLL)";
    case kLinkSll2:
      return "Linux cooked (SLL2)";
    case kLinkRaw:
    case kLinkIpv4:
    case kLinkIpv6:
      return "raw IP";
    default:
      return nullptr;
  }
}

}  // namespace

bool is_read(uint16_t link) { return name_of(link) != nullptr; }

std::string link_name(uint16_t link) {
  const char* const name = name_of(link);
  return name != nullptr ? name : "link type " + std::to_string(link);
}

bool to_ethernet(CapturedFrame& frame) {
  if (!link(frame)) return false;
  tags(frame);
  if (frame.bytes.size() >= kEth && load_be<2>(&frame.bytes[kMacs]) == kEthertypeIpv6) ipv6(frame);
  return true;
}

UpperLayer upper_layer(std::span<const uint8_t> frame) {
  constexpr std::size_t kUnit = 8, kIp4 = Ipv4::kBytes, kPorts = 4;
  UpperLayer upper;
  while (frame.size() >= kMacs + kTag && is_tag(static_cast<unsigned>(load_be<2>(&frame[kMacs]))))
    frame = frame.subspan(kTag);
  if (frame.size() < kEth) return upper;
  const auto type = static_cast<unsigned>(load_be<2>(&frame[kMacs]));
  if (type != kEthertypeIpv4 && type != kEthertypeIpv6) return upper;
  frame = frame.subspan(kEth);
  upper.protocol = type == kEthertypeIpv4 ? kIpv4InIp : kProtoIpv6;
  for (;;) {
    std::size_t size = 0;
    unsigned next = 0;
    if (upper.protocol == kIpv4InIp) {
      size = frame.empty() ? 0 : std::size_t{4} * (frame[0] & 0xFu);
      if (size < kIp4 || frame.size() < size) return upper;
      next = frame[9];
      upper.is_ip = true;
    } else if (upper.protocol == kProtoIpv6) {
      size = kIp6;
      if (frame.size() < size) return upper;
      next = frame[6];
      upper.is_ip = true;
    } else if (upper.protocol == kProtoRouting) {
      if (frame.size() < kUnit) return upper;
      size = kUnit * (std::size_t{frame[1]} + 1);
      if (frame.size() < size) return upper;
      next = frame[0];
    } else if (const auto bytes = extension(upper.protocol, frame)) {
      size = *bytes;
      next = frame[0];
    } else {
      break;
    }
    upper.protocol = next;
    frame = frame.subspan(size);
  }
  if (upper.protocol == kProtoUdp && frame.size() >= kPorts)
    upper.udp_dst_port = static_cast<uint16_t>(load_be<2>(&frame[2]));
  return upper;
}

}  // namespace mrc::wire

// SPDX-License-Identifier: Apache-2.0
#include "log/packet.hpp"

#include <algorithm>

#include "wire/decode.hpp"

namespace mrc::log {
namespace {

Ip mapped(const std::array<uint8_t, 4>& ipv4) {
  Ip ip{};
  ip[10] = ip[11] = 0xff;
  std::ranges::copy(ipv4, ip.begin() + 12);
  return ip;
}

}  // namespace

Ip mapped_source(const wire::Packet& packet) { return packet.ipv6 ? packet.ipv6->src : mapped(packet.ipv4->src); }
Ip mapped_destination(const wire::Packet& packet) { return packet.ipv6 ? packet.ipv6->dst : mapped(packet.ipv4->dst); }

wire::Packet packet_of(const Frame& frame, const wire::WireConfig& wire) {
  const std::size_t there = frame.bytes.size();
  wire::Packet packet;
  if ((frame.flags & kCut) != 0 && frame.length > there && frame.length <= kMaxFrameBytes) {
    wire::decode_cut(packet, frame.bytes, frame.length, wire);
    const bool read = packet.bth && (!packet.error || packet.error->code == wire::ErrorCode::BadIcrc);
    const std::size_t begin =
        frame.length - packet.trailer.size() - (packet.icrc ? 4 : 0) - packet.padding.size() - packet.payload.size();
    if (!read || begin > there) return wire::decode(frame.bytes, wire);  // not even the headers are there
    packet.payload.resize(std::min(packet.payload.size(), there - begin));
    packet.padding.clear();
    packet.trailer.clear();
    packet.icrc.reset();
  } else {
    packet = wire::decode(frame.bytes, wire);
  }
  if ((frame.flags & (kCut | kChanged)) != 0 || frame.redacted.bytes != 0) {
    if (packet.error && packet.error->code == wire::ErrorCode::BadIcrc) packet.error.reset();
    packet.icrc.reset();
  }
  return packet;
}

}  // namespace mrc::log

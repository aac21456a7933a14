// SPDX-License-Identifier: Apache-2.0
#include "reference/own_addresses.hpp"

#include <algorithm>

namespace mrc::ref {
namespace {

constexpr std::size_t kMostSeen = 1 << 16;

bool is_ipv4(const log::Ip& ip) {
  return std::all_of(ip.begin(), ip.begin() + 10, [](uint8_t byte) { return byte == 0; }) && ip[10] == 0xff &&
         ip[11] == 0xff;
}

}  // namespace

log::Ip plain_address(const Settings& settings, log::Ip ip, bool ipv4) {
  if (ipv4) {
    std::fill(ip.begin(), ip.begin() + 12, uint8_t{0});
  } else if (settings.ip_per_plane) {
    for (unsigned bit = settings.ip_plane_lsb; bit < settings.ip_plane_lsb + 3 && bit < 128; ++bit) {
      ip[15 - bit / 8] &= static_cast<uint8_t>(~(1u << bit % 8));
    }
  }
  return ip;
}

log::Ip source_of(const wire::Packet& packet) {
  log::Ip ip{};
  if (packet.ipv6) return packet.ipv6->src;
  if (packet.ipv4) std::ranges::copy(packet.ipv4->src, ip.begin() + 12);
  return ip;
}

log::Ip destination_of(const wire::Packet& packet) {
  log::Ip ip{};
  if (packet.ipv6) return packet.ipv6->dst;
  if (packet.ipv4) std::ranges::copy(packet.ipv4->dst, ip.begin() + 12);
  return ip;
}

OwnAddresses::OwnAddresses(const Profile& profile) : settings_(profile.settings), named_(!profile.addresses.empty()) {
  for (const log::Ip& ip : profile.addresses) own_.insert(plain(ip, is_ipv4(ip)));
  for (const log::Qp& set : profile.qps) qp(set);
}

void OwnAddresses::qp(const log::Qp& qp) {
  if (qp.state == log::QpState::Reset) return;
  const bool ipv4 = qp.encap == 3;
  if (qp.own_ip == log::Ip{}) {
    some_not_ = true;
  } else if (own_.size() < kMostSeen) {
    own_.insert(plain(qp.own_ip, ipv4));
  }
  to_itself_ = to_itself_ || (qp.peer_ip != log::Ip{} && own_.contains(plain(qp.peer_ip, ipv4)));
}

Whose OwnAddresses::whose(const wire::Packet& packet) const {
  if (settings_.returned == kNotToldApart || !packet.trimmed() || (!packet.ipv6 && !packet.ipv4)) return Whose::Peers;
  if (packet.dscp_class == wire::DscpClass::Returned) return Whose::Own;
  if (own_.empty()) return Whose::Maybe;
  const bool ipv4 = packet.ipv4.has_value();
  if (own_.contains(plain(source_of(packet), ipv4))) return to_itself_ ? Whose::Maybe : Whose::Own;
  if (own_.contains(plain(destination_of(packet), ipv4))) return Whose::Peers;
  return some_not_ && !named_ ? Whose::Maybe : Whose::Own;
}

}  // namespace mrc::ref

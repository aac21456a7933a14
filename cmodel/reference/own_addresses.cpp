// SPDX-License-Identifier: Apache-2.0
#include "reference/own_addresses.hpp"

#include <algorithm>

#include "log/packet.hpp"

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
    std::fill(ip.begin(), ip.begin() + 10, uint8_t{0});
    ip[10] = ip[11] = 0xff;
  } else if (settings.ip_per_plane) {
    for (unsigned bit = settings.ip_plane_lsb; bit < settings.ip_plane_lsb + 3 && bit < 128; ++bit) {
      ip[15 - bit / 8] &= static_cast<uint8_t>(~(1u << bit % 8));
    }
  }
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
  if (settings_.returned == kNotDistinct || !packet.trimmed() || (!packet.ipv6 && !packet.ipv4)) return Whose::Peers;
  if (packet.dscp_class == wire::DscpClass::Returned) return Whose::Own;
  if (own_.empty()) return Whose::Maybe;
  const bool ipv4 = packet.ipv4.has_value();
  if (own_.contains(plain(log::mapped_source(packet), ipv4))) return to_itself_ ? Whose::Maybe : Whose::Own;
  if (own_.contains(plain(log::mapped_destination(packet), ipv4))) return Whose::Peers;
  return some_not_ && !named_ ? Whose::Maybe : Whose::Own;
}

}  // namespace mrc::ref

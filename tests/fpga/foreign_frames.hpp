// SPDX-License-Identifier: Apache-2.0
/// Frames of others on the wire, byte by byte: nothing here knows of MRC's headers.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace mrc::test {

using Bytes = std::vector<uint8_t>;

inline Bytes& operator+=(Bytes& to, const Bytes& more) {
  to.insert(to.end(), more.begin(), more.end());
  return to;
}
inline Bytes& operator+=(Bytes& to, std::initializer_list<uint8_t> more) {
  to.insert(to.end(), more);
  return to;
}

inline const Bytes kBroadcast{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
inline const Bytes kSomebody{0x02, 0, 0, 0, 0, 0x99};

inline Bytes ethernet(const Bytes& dst, unsigned ethertype) {
  Bytes f = dst;
  f += kSomebody;
  f += {static_cast<uint8_t>(ethertype >> 8), static_cast<uint8_t>(ethertype)};
  return f;
}
/// To the least that Ethernet has.
inline Bytes padded(Bytes f) {
  if (f.size() < 60) f.resize(60);
  return f;
}

inline Bytes arp_request() {
  Bytes f = ethernet(kBroadcast, 0x0806);
  f += {0, 1, 8, 0, 6, 4, 0, 1};  // Ethernet, IPv4, request
  f += kSomebody;
  f += {10, 0, 0, 9, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1};
  return padded(f);
}

inline Bytes lldp() {
  Bytes f = ethernet({0x01, 0x80, 0xc2, 0, 0, 0x0e}, 0x88cc);
  f += {2, 7, 4, 2, 0, 0, 0, 0, 0x99, 4, 2, 7, 'x', 6, 2, 0, 120, 0, 0};
  return padded(f);
}

/// A pause of the link: a MAC that hands it on gives it to whoever is there.
inline Bytes mac_pause() {
  Bytes f = ethernet({0x01, 0x80, 0xc2, 0, 0, 0x01}, 0x8808);
  f += {0, 1, 0xff, 0xff};
  return padded(f);
}

/// IPv6 without extension headers, in front of `payload`.
inline Bytes ipv6(const Bytes& dst_mac, const Bytes& dst, unsigned next_header, const Bytes& payload) {
  Bytes f = ethernet(dst_mac, 0x86dd);
  f += {0x60,
        0,
        0,
        0,
        static_cast<uint8_t>(payload.size() >> 8),
        static_cast<uint8_t>(payload.size()),
        static_cast<uint8_t>(next_header),
        64};
  f += {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 0x99};
  f += dst;
  f += payload;
  return f;
}

/// Who has `target`? To the multicast address of its last three bytes.
inline Bytes neighbour_solicitation(const Bytes& target) {
  const Bytes mac{0x33, 0x33, 0xff, target[13], target[14], target[15]};
  const Bytes group{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, target[13], target[14], target[15]};
  Bytes icmp{135, 0, 0x12, 0x34, 0, 0, 0, 0};
  icmp += target;
  icmp += {1, 1};
  icmp += kSomebody;
  return ipv6(mac, group, 58, icmp);
}

inline Bytes ping6(const Bytes& mac, const Bytes& dst, std::size_t size) {
  Bytes icmp{128, 0, 0x12, 0x34, 0, 1, 0, 2};
  icmp += Bytes(size, 0xa5);
  return ipv6(mac, dst, 58, icmp);
}

inline Bytes udp(unsigned port, std::size_t size) {
  Bytes u{0xc0,
          1,
          static_cast<uint8_t>(port >> 8),
          static_cast<uint8_t>(port),
          static_cast<uint8_t>((8 + size) >> 8),
          static_cast<uint8_t>(8 + size),
          0,
          0};
  u += Bytes(size, 0x5a);
  return u;
}

inline Bytes ipv4(const Bytes& dst_mac, unsigned protocol, const Bytes& payload) {
  Bytes f = ethernet(dst_mac, 0x0800);
  const auto length = static_cast<unsigned>(20 + payload.size());
  f += {0x45,
        0,
        static_cast<uint8_t>(length >> 8),
        static_cast<uint8_t>(length),
        0,
        0,
        0x40,
        0,
        64,
        static_cast<uint8_t>(protocol),
        0,
        0,
        10,
        0,
        0,
        9,
        10,
        0,
        0,
        1};
  f += payload;
  return padded(f);
}

/// The same frame with a tag of IEEE 802.1Q.
inline Bytes tagged(const Bytes& frame, unsigned vlan) {
  Bytes f(frame.begin(), frame.begin() + 12);
  f += {0x81, 0x00, static_cast<uint8_t>(vlan >> 8 & 15), static_cast<uint8_t>(vlan)};
  f.insert(f.end(), frame.begin() + 12, frame.end());
  return f;
}

}  // namespace mrc::test

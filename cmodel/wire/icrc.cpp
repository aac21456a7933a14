// SPDX-License-Identifier: Apache-2.0
#include "wire/icrc.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "gen/headers.hpp"

namespace mrc::wire {

namespace {

template <class Header>
void or_ones(uint8_t* at) {
  for (unsigned i = 0; i < Header::kBytes; ++i) at[i] = static_cast<uint8_t>(at[i] | Header::kIcrcOnes[i]);
}

template <class Ip>
uint32_t masked_headers(const uint8_t* ip, uint32_t reg) {
  uint8_t head[Ip::kBytes + Udp::kBytes + Bth::kBytes];
  std::memcpy(head, ip, sizeof head);
  or_ones<Ip>(head);
  or_ones<Udp>(head + Ip::kBytes);
  or_ones<Bth>(head + Ip::kBytes + Udp::kBytes);
  return crc_update(reg, head, sizeof head);
}

}  // namespace

uint32_t crc_update(uint32_t reg, const uint8_t* data, size_t size) {
  return ~static_cast<uint32_t>(::crc32_z(~reg & 0xFFFFFFFFu, data, size));
}

uint32_t icrc_outer(std::span<const uint8_t> headers) {
  uint8_t masked[kIcrcOuterOnes.size()];
  const size_t size = std::min(headers.size(), sizeof masked);
  for (size_t i = 0; i < size; ++i) masked[i] = static_cast<uint8_t>(headers[i] | kIcrcOuterOnes[i]);
  return crc_update(kIcrcSeed, masked, size);
}

uint32_t icrc_headers(const uint8_t* ip, unsigned ip_version, uint32_t reg) {
  return ip_version == 4 ? masked_headers<Ipv4>(ip, reg) : masked_headers<Ipv6>(ip, reg);
}

uint32_t icrc(std::span<const uint8_t> ip_packet, std::span<const uint8_t> outer) {
  if (ip_packet.empty()) return 0;
  const unsigned version = ip_packet[0] >> 4;
  const size_t head = (version == 4 ? Ipv4::kBytes : Ipv6::kBytes) + Udp::kBytes + Bth::kBytes;
  if ((version != 4 && version != 6) || ip_packet.size() < head) return 0;
  const uint32_t reg = icrc_headers(ip_packet.data(), version, icrc_outer(outer));
  return ~crc_update(reg, ip_packet.data() + head, ip_packet.size() - head);
}

}  // namespace mrc::wire

// SPDX-License-Identifier: Apache-2.0
/// The invariant CRC of RoCEv2 (IBTA): CRC-32 0x04C11DB7, over the inner IP packet,
/// or from the outer IP header on (assumption A-14).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mrc::wire {

/// The register after the eight bytes of ones that stand for the LRH.
inline constexpr uint32_t kIcrcSeed = 0xDEBB20E3;

/// Feeds bytes into a CRC-32 register (reflected, no complement at either end; start with kIcrcSeed
/// or all ones). `complement(register)` is the CRC.
uint32_t crc_update(uint32_t reg, const uint8_t* data, size_t size);

/// Bits that count as ones when the ICRC covers the outer headers of SRv6: what routers and uSID change. 40
/// bytes of outer IPv6 header (traffic class, flow label, hop limit, destination address), 24 of SRH (segments left).
inline constexpr std::array<uint8_t, 64> kIcrcOuterOnes = [] {
  std::array<uint8_t, 64> ones{};
  ones[0] = 0x0F;
  ones[1] = ones[2] = ones[3] = ones[7] = 0xFF;
  for (std::size_t at = 24; at < 40; ++at) ones[at] = 0xFF;
  ones[40 + 3] = 0xFF;
  return ones;
}();

/// Register value after the outer headers of SRv6: 40 bytes, 64 with SRH, none if the ICRC does not cover them.
uint32_t icrc_outer(std::span<const uint8_t> headers);

/// Register value after the headers IP, UDP and BTH at `ip`, with the variant fields replaced by ones:
/// IPv6 60 bytes, IPv4 40 bytes. `ip_version` is 4 or 6; the caller has checked that the bytes exist.
/// Starts from `reg`: kIcrcSeed, or what icrc_outer gave. Continue with crc_update over extension headers,
/// payload and padding, then complement.
uint32_t icrc_headers(const uint8_t* ip, unsigned ip_version, uint32_t reg = kIcrcSeed);

/// The ICRC of a packet that starts with its (inner) IP header and ends before the ICRC; `outer`: the headers in front
/// of it as for icrc_outer. Needs the headers through the BTH: a shorter packet gives 0. On the wire the value travels
/// least significant byte first.
uint32_t icrc(std::span<const uint8_t> ip_packet, std::span<const uint8_t> outer = {});

}  // namespace mrc::wire

// SPDX-License-Identifier: Apache-2.0
/// The invariant CRC of RoCEv2 (IBTA): CRC-32 0x04C11DB7, over the inner IP packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mrc::wire {

/// The register after the eight bytes of ones that stand for the LRH.
inline constexpr uint32_t kIcrcSeed = 0xDEBB20E3;

/// Feeds bytes into a CRC-32 register (reflected, no complement at either end; start with kIcrcSeed
/// or all ones). `complement(register)` is the CRC.
uint32_t crc_update(uint32_t reg, const uint8_t* data, size_t size);

/// Register value after the headers IP, UDP and BTH at `ip`, with the variant fields replaced by ones:
/// IPv6 60 bytes, IPv4 40 bytes. `ip_version` is 4 or 6; the caller has checked that the bytes exist.
/// Continue with crc_update over extension headers, payload and padding, then complement.
uint32_t icrc_headers(const uint8_t* ip, unsigned ip_version);

/// The ICRC of a packet that starts with its (inner) IP header and ends before the ICRC. Needs the
/// headers through the BTH: a shorter packet gives 0. On the wire the value travels least significant
/// byte first.
uint32_t icrc(std::span<const uint8_t> ip_packet);

}  // namespace mrc::wire

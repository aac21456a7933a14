// SPDX-License-Identifier: Apache-2.0
/// Addresses of a NIC: one, or one per plane (docs/design/blocks/tx/tx_header.md; mrc.md section 1; A-76).
#pragma once

#include <cstdint>

#include "wire/packed.hpp"

namespace mrc {

/// Register IP_PLANE.
struct PlaneAddress {
  bool enable = false;  ///< each plane has its own address
  unsigned lsb = 64;  ///< lowest of the three address bits that hold the plane's number; bit 0 is the last on the wire
  bool operator==(const PlaneAddress&) const = default;
};

/// The address on a plane of a NIC with address `a`. Bits beyond the address fall off.
constexpr U128 at_plane(U128 a, unsigned plane, const PlaneAddress& rule) {
  if (!rule.enable) return a;
  return (a & ~(U128{7} << rule.lsb)) | U128{plane & 7u} << rule.lsb;
}

/// `a` is an address of the NIC whose address is `own`. The plane that it names is not compared.
constexpr bool address_is_own(U128 a, U128 own, const PlaneAddress& rule) {
  return at_plane(a, 0, rule) == at_plane(own, 0, rule);
}

/// 16 bits that stand for the address of a NIC on all its planes (docs/design/blocks/rx/rx_check.md).
constexpr uint16_t address_fold(U128 a, const PlaneAddress& rule) {
  const U128 rest = at_plane(a, 0, rule);
  uint16_t fold = 0;
  for (unsigned word = 0; word < 8; ++word) fold ^= static_cast<uint16_t>(rest >> (16 * word));
  return fold;
}

}  // namespace mrc

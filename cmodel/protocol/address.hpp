// SPDX-License-Identifier: Apache-2.0
/// Addresses of a NIC: one, or one per plane (docs/blocks/tx/tx_header.md; mrc.md section 1; A-76).
#pragma once

#include "wire/packed.hpp"

namespace mrc {

/// Register IP_PLANE.
struct PlaneAddress {
  bool enable = false;  ///< each plane has its own address
  unsigned lsb = 64;  ///< lowest of the three address bits that hold the plane's number; bit 0 is the last on the wire
};

/// The address on a plane of a NIC with address `a`. Bits beyond the address fall off.
constexpr U128 at_plane(U128 a, unsigned plane, const PlaneAddress& rule) {
  if (!rule.enable) return a;
  return (a & ~(U128{7} << rule.lsb)) | U128{plane & 7u} << rule.lsb;
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
/// SRv6: destination address from a template, and what is in front of the inner packet (mrc.md section 5;
/// docs/design/blocks/tx/tx_header.md; assumption A-05).
#pragma once

#include <cstdint>

#include "gen/headers.hpp"
#include "gen/protocol.hpp"
#include "wire/packed.hpp"

namespace mrc {

/// Where plane and uplink numbers go (register SRV6).
struct Srv6Rule {
  unsigned plane_lsb, uplink_usid, uplink_lsb, uplink_bits;
};

/// The address of a packet with entropy value ev on a plane: 32-bit locator, six uSIDs of 16 bits. Every non-zero uSID
/// of the template takes the plane number, uSID uplink_usid also the low uplink_bits bits of ev.
constexpr U128 srv6_address(U128 templ, unsigned plane, uint32_t ev, const Srv6Rule& rule) {
  U128 address = templ;
  for (unsigned i = 0; i < 6; ++i) {
    const unsigned lsb = 80 - 16 * i;
    const auto usid = static_cast<uint16_t>(templ >> lsb);
    uint32_t add = 0;
    if (usid != 0) add |= plane << rule.plane_lsb;
    if (i == rule.uplink_usid) add |= (ev & ((1u << rule.uplink_bits) - 1u)) << rule.uplink_lsb;
    address |= static_cast<U128>(add & 0xffffu) << lsb;
  }
  return address;
}

/// True for encapsulations with an outer IPv6 header.
constexpr bool has_outer_ipv6(Encap e) { return e == Encap::Srv6 || e == Encap::Srv6Srh; }

/// Bytes of outer IPv6 header and SRH.
constexpr unsigned outer_bytes(Encap e) {
  return (has_outer_ipv6(e) ? wire::Ipv6::kBytes : 0u) + (e == Encap::Srv6Srh ? wire::Srh::kBytes : 0u);
}

/// Offset of the inner IPv6 header in a frame.
constexpr unsigned inner_offset(Encap e) { return wire::Eth::kBytes + outer_bytes(e); }

}  // namespace mrc

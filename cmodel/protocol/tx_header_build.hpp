// SPDX-License-Identifier: Apache-2.0
/// The bytes in front of a payload: Ethernet to the last extension header (docs/blocks/tx/tx_header.md; mrc.md sections
/// 1 to 4).
#pragma once

#include <cstdint>

#include "gen/headers.hpp"
#include "gen/streams.hpp"
#include "protocol/address.hpp"
#include "protocol/srv6.hpp"

namespace mrc {

/// What a QP contributes to its headers (row of QP_CTX).
struct HdrQp {
  uint32_t dqpn = 0;
  uint16_t pkey = 0;
  Encap encap = Encap::Ipv6;
  bool ts = false;
  uint64_t dmac = 0;
  U128 dip = 0;   ///< without the number of a plane
  U128 srv6 = 0;  ///< template
};

/// What the NIC contributes.
struct HdrNic {
  uint64_t mac = 0;
  U128 ip = 0;
  PlaneAddress ip_plane{};  ///< own address and the peer's on each plane (A-76)
  uint16_t udp_port = wire::kUdpPort;
  uint8_t dscp_data = 4, dscp_rtx = 8, dscp_ctl = 46;
  bool ev_swap = false;
  bool bth_m = false;
  bool bth_m_high = true;  ///< M in bit 7 of BTH byte 1, not in bit 6 (A-02)
  bool tsr_us = false;     ///< unit of the time stamp (A-21)
  Srv6Rule srv6{12, 0, 0, 0};
};

/// Header of a data packet into hdr (all fields but crc). `tick` is the time for TSETH.
void build_data_header(const Path& path, const HdrQp& qp, const HdrNic& nic, uint32_t tick, Hdr& hdr);

/// QPN that endpoint requests and responses go to.
inline constexpr uint32_t kEndpointQpn = 2;

/// Header of a control packet into hdr (all fields but crc). Reliability probes and endpoint requests travel in the
/// data class, so that they meet what data would meet.
void build_ctl_header(const Ctlpkt& ctl, const HdrQp& qp, const HdrNic& nic, Hdr& hdr);

/// ICRC register after the header: eight bytes of ones, then the bytes from the inner IPv6 header to hdr_len with the
/// variant fields as ones. `icrc_outer`: from the outer IPv6 header on, if there is one (CTRL.icrc_outer, A-14).
uint32_t header_crc(const Hdr& hdr, Encap encap, bool icrc_outer);

/// The header's bytes.
inline const uint8_t* header_bytes(const Hdr& hdr) { return reinterpret_cast<const uint8_t*>(hdr.hdr.data()); }
inline uint8_t* header_bytes(Hdr& hdr) { return reinterpret_cast<uint8_t*>(hdr.hdr.data()); }

}  // namespace mrc

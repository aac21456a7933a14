// SPDX-License-Identifier: Apache-2.0
/// The bytes in front of a payload: Ethernet to the last extension header (docs/design/blocks/tx/tx_header.md; mrc.md
/// sections 1 to 4).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "protocol/address.hpp"
#include "protocol/srv6.hpp"
#include "protocol/types.hpp"

namespace mrc {

/// The class of a QP's data.
struct HdrClass {
  bool own = false;           ///< not the NIC's
  uint8_t data = 0, rtx = 0;  ///< code points of data and of retransmissions
};

/// What a QP contributes to its headers.
struct HdrQp {
  uint32_t dqpn = 0;
  uint16_t pkey = 0;
  Encap encap = Encap::Ipv6;
  bool ts = false;
  uint64_t dmac = 0;
  U128 dip = 0;   ///< without the number of a plane
  U128 srv6 = 0;  ///< template
  HdrClass cls{};
};

/// What the NIC contributes.
struct HdrNic {
  uint64_t mac = 0;
  U128 ip = 0;
  PlaneAddress ip_plane{};  ///< own address and the peer's on each plane (A-76)
  uint16_t udp_port = wire::kUdpPortMrc;
  uint8_t dscp_data = wire::kDscpTrimmable, dscp_rtx = wire::kDscpTrimmableRetx, dscp_ctl = wire::kDscpControl;
  bool ev_swap = false;
  bool bth_m = false;
  bool bth_m_high = true;  ///< M in bit 7 of BTH byte 1, not in bit 6 (A-02)
  bool tsr_us = false;     ///< unit of the time stamp (A-21)
  Srv6Rule srv6{12, 0, 0, 0};
};

/// Bytes of the largest header: a SACK behind SRv6 with SRH, rounded up to 8.
inline constexpr unsigned kMaxHeader =
    (inner_offset(Encap::Srv6Srh) + wire::Ipv6::kBytes + wire::Udp::kBytes + wire::Bth::kBytes + kMaxExtension + 7) /
    8 * 8;

/// The way a packet takes.
struct Way {
  uint8_t plane = 0;
  uint32_t ev = 0;
};

/// Writes the header of a WRITE packet to `out`, zeros behind it, and returns its length. `tick` is the time for TSETH.
unsigned build_data_header(const WritePacket& packet, Way way, const HdrQp& qp, const HdrNic& nic, uint32_t tick,
                           std::span<uint8_t, kMaxHeader> out);

/// The same of a control packet. Reliability probes and EV probes of a QP travel as its data, so that they meet what
/// data would meet. `request`: the code point that an endpoint request of nobody's QP has from its caller.
unsigned build_ctl_header(const ControlPacket& packet, Way way, const HdrQp& qp, const HdrNic& nic,
                          std::span<uint8_t, kMaxHeader> out, std::optional<uint8_t> request = {});

/// ICRC register after a header: eight bytes of ones, then the bytes from the inner IPv6 header on with the variant
/// fields as ones. `icrc_outer`: from the outer IPv6 header on, if there is one (CTRL.icrc_outer, A-14).
uint32_t header_crc(std::span<const uint8_t> header, Encap encap, bool icrc_outer);

}  // namespace mrc

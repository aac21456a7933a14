// SPDX-License-Identifier: Apache-2.0
#include "protocol/tx_header_build.hpp"

#include <bit>
#include <cstring>

#include "gen/headers.hpp"
#include "protocol/endpoint.hpp"
#include "protocol/probe.hpp"
#include "protocol/timestamp.hpp"
#include "wire/bytes.hpp"
#include "wire/icrc.hpp"

namespace mrc {

static_assert(std::endian::native == std::endian::little, "byte vectors are little-endian words");

namespace {

using wire::Bth;
using wire::Eth;
using wire::Ipv6;
using wire::store_be;
using wire::Udp;

void store_be128(uint8_t* p, U128 v) {
  store_be<8>(p, static_cast<uint64_t>(v >> 64));
  store_be<8>(p + 8, static_cast<uint64_t>(v));
}

uint8_t* put_ipv6(uint8_t* p, unsigned tc, uint16_t label, unsigned length, unsigned next, U128 src, U128 dst) {
  store_be<4>(p, 6u << 28 | tc << 20 | label);
  store_be<2>(p + 4, length);
  p[6] = static_cast<uint8_t>(next);
  p[7] = 64;
  store_be128(p + 8, src);
  store_be128(p + 24, dst);
  return p + Ipv6::kBytes;
}

/// One segment, not visited yet.
uint8_t* put_srh(uint8_t* p, U128 segment) {
  p[0] = wire::kProtoIpv6;
  p[1] = 2;  // length in 8 bytes without the first 8
  p[2] = wire::kSrhRoutingType;
  p[3] = 1;  // segments left; last entry, flags and tag 0
  store_be128(p + 8, segment);
  return p + wire::Srh::kBytes;
}

/// What data and control packets have in common.
struct Common {
  unsigned plane, tc;
  uint32_t ev;
  uint8_t opcode, bth1, bth8;
  uint32_t dqpn, psn;
  unsigned ext_len;  ///< extension headers
  unsigned behind;   ///< payload and pad
};

/// Writes Ethernet to BTH and returns where the extension headers go. The rest of hdr is zero.
uint8_t* put_common(const Common& c, const HdrQp& qp, const HdrNic& nic, Hdr& hdr) {
  hdr.hdr.fill(0);
  uint8_t* const start = header_bytes(hdr);
  uint8_t* p = start;
  const auto high = static_cast<uint16_t>(c.ev >> 16), low = static_cast<uint16_t>(c.ev);
  const uint16_t port = nic.ev_swap ? low : high;
  const uint16_t label = qp.encap == Encap::Udp ? uint16_t{0} : nic.ev_swap ? high : low;
  const unsigned udp_length = Udp::kBytes + Bth::kBytes + c.ext_len + c.behind + wire::kIcrcBytes;
  const U128 own = at_plane(nic.ip, c.plane, nic.ip_plane), peer = at_plane(qp.dip, c.plane, nic.ip_plane);
  store_be<6>(p, qp.dmac);
  store_be<6>(p + 6, nic.mac);
  store_be<2>(p + 12, wire::kEthertypeIpv6);
  p += Eth::kBytes;
  if (has_outer_ipv6(qp.encap)) {
    const bool srh = qp.encap == Encap::Srv6Srh;
    p = put_ipv6(p, c.tc, label, (srh ? wire::Srh::kBytes : 0u) + Ipv6::kBytes + udp_length,
                 srh ? wire::kProtoRouting : wire::kProtoIpv6, own, srv6_address(qp.srv6, c.plane, c.ev, nic.srv6));
    if (srh) p = put_srh(p, peer);
  }
  p = put_ipv6(p, c.tc, label, udp_length, wire::kProtoUdp, own, peer);
  store_be<2>(p, port);
  store_be<2>(p + 2, nic.udp_port);
  store_be<2>(p + 4, udp_length);
  p += Udp::kBytes;  // checksum 0
  p[0] = c.opcode;
  p[1] = c.bth1;
  store_be<2>(p + 2, qp.pkey);
  store_be<3>(p + 5, c.dqpn);
  p[8] = c.bth8;
  store_be<3>(p + 9, c.psn);
  p += Bth::kBytes;
  hdr.plane = static_cast<uint8_t>(c.plane);
  hdr.hdr_len = static_cast<uint8_t>(p - start + c.ext_len);
  return p;
}

constexpr unsigned data_class(unsigned dscp) { return dscp << 2 | 2u; }  // ECT(0)

constexpr bool endpoint_opcode(uint8_t opcode) {
  return opcode == static_cast<uint8_t>(wire::Opcode::EndpointRequest) ||
         opcode == static_cast<uint8_t>(wire::Opcode::EndpointResponse);
}

constexpr uint8_t bth_byte1(const HdrNic& nic, unsigned pad) {
  return static_cast<uint8_t>(unsigned{nic.bth_m} << (nic.bth_m_high ? 7 : 6) | pad << 4);
}

}  // namespace

void build_data_header(const Path& path, const HdrQp& qp, const HdrNic& nic, uint32_t tick, Hdr& hdr) {
  const Pkt& pkt = path.pkt;
  const bool imm = pkt.opcode == static_cast<uint8_t>(wire::Opcode::WriteLastImm) ||
                   pkt.opcode == static_cast<uint8_t>(wire::Opcode::WriteOnlyImm);
  const unsigned pad = (0u - pkt.plen) & 3u;
  Common c{};
  c.plane = path.plane;
  c.tc = data_class(pkt.rtx ? nic.dscp_rtx : nic.dscp_data);
  c.ev = path.ev;
  c.opcode = pkt.opcode;
  c.bth1 = bth_byte1(nic, pad);
  c.bth8 = static_cast<uint8_t>(unsigned{pkt.ackreq} << 7 | unsigned{pkt.rtx} << 5 | unsigned{qp.ts} << 4);
  c.dqpn = qp.dqpn;
  c.psn = pkt.psn;
  c.ext_len =
      wire::Meth::kBytes + (qp.ts ? wire::Tseth::kBytes : 0u) + wire::Reth::kBytes + (imm ? wire::Immdt::kBytes : 0u);
  c.behind = pkt.plen + pad;
  uint8_t* p = put_common(c, qp, nic, hdr);
  store_be<2>(p, pkt.rqmsn);
  store_be<2>(p + 2, pkt.msn);
  p += wire::Meth::kBytes;
  if (qp.ts) {
    store_be<2>(p, time_stamp(tick, nic.tsr_us));
    store_be<2>(p + 2, time_stamp_format(nic.tsr_us));
    p += wire::Tseth::kBytes;
  }
  store_be<8>(p, pkt.va);
  store_be<4>(p + 8, pkt.rkey);
  store_be<4>(p + 12, pkt.dmalen);
  p += wire::Reth::kBytes;
  if (imm) store_be<4>(p, pkt.imm);
  hdr.ctl = false;
  hdr.laddr = pkt.laddr;
  hdr.plen = pkt.plen;
}

void build_ctl_header(const Ctlpkt& ctl, const HdrQp& qp, const HdrNic& nic, Hdr& hdr) {
  Common c{};
  c.plane = ctl.plane;
  const bool request = ctl.opcode == kProbeOpcode || ctl.opcode == kEndpointRequestOpcode;
  c.tc = request ? data_class(nic.dscp_data) : static_cast<unsigned>(nic.dscp_ctl) << 2;
  c.ev = ctl.ev;
  c.opcode = ctl.opcode;
  c.bth1 = bth_byte1(nic, 0);
  c.dqpn = endpoint_opcode(ctl.opcode) ? kEndpointQpn : qp.dqpn;
  c.psn = ctl.psn;
  c.ext_len = ctl.ext_len < kExtBytes ? ctl.ext_len : kExtBytes;
  uint8_t* p = put_common(c, qp, nic, hdr);
  std::memcpy(p, ctl.ext.data(), c.ext_len);
  hdr.ctl = true;
  hdr.laddr = 0;
  hdr.plen = 0;
}

uint32_t header_crc(const Hdr& hdr, Encap encap, bool icrc_outer) {
  const unsigned inner = inner_offset(encap);
  constexpr unsigned kMasked = Ipv6::kBytes + Udp::kBytes + Bth::kBytes;
  const uint8_t* bytes = header_bytes(hdr);
  const uint32_t start = wire::icrc_outer({bytes + Eth::kBytes, icrc_outer ? outer_bytes(encap) : 0});
  const uint32_t reg = wire::icrc_headers(bytes + inner, 6, start);
  return wire::crc_update(reg, bytes + inner + kMasked, hdr.hdr_len - inner - kMasked);
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
#include "protocol/tx_header_build.hpp"

#include <algorithm>
#include <cstring>

#include "protocol/opcodes.hpp"
#include "protocol/segment.hpp"
#include "protocol/timestamp.hpp"
#include "wire/bytes.hpp"
#include "wire/icrc.hpp"

namespace mrc {

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
  p[1] = wire::Srh::kBytes / 8 - 1;
  p[2] = wire::kSrhRoutingType;
  p[3] = 1;  // segments left; last entry, flags and tag 0
  store_be128(p + 8, segment);
  return p + wire::Srh::kBytes;
}

/// What data and control packets have in common.
struct Common {
  unsigned plane, tc;
  uint32_t ev;
  uint8_t opcode, bth1;
  bool ackreq, rtx, ts;
  uint32_t dqpn, psn;
  unsigned ext_len;  ///< extension headers
  unsigned behind;   ///< payload and pad
};

/// Writes Ethernet to BTH and returns where the extension headers go. The rest of `out` is zero.
uint8_t* put_common(const Common& c, const HdrQp& qp, const HdrNic& nic, std::span<uint8_t, kMaxHeader> out) {
  std::fill(out.begin(), out.end(), uint8_t{0});
  uint8_t* p = out.data();
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
  Udp{.src_port = port, .dst_port = nic.udp_port, .length = static_cast<uint16_t>(udp_length)}.write(p);
  p += Udp::kBytes;
  Bth{.opcode = c.opcode, .p_key = qp.pkey, .dqp = c.dqpn, .a = c.ackreq, .rtx = c.rtx, .ts = c.ts, .psn = c.psn}.write(
      p);
  p[1] = c.bth1;
  return p + Bth::kBytes;
}

constexpr unsigned data_class(unsigned dscp) { return dscp << 2 | 2u; }  // ECT(0)

/// The code point of a QP's data: its own, or the NIC's.
constexpr unsigned data_dscp(const HdrQp& qp, const HdrNic& nic, bool rtx) {
  if (qp.cls.own) return rtx ? qp.cls.rtx : qp.cls.data;
  return rtx ? nic.dscp_rtx : nic.dscp_data;
}

/// The traffic class of a control packet; request: of build_ctl_header.
constexpr unsigned ctl_class(uint8_t opcode, const HdrQp& qp, const HdrNic& nic, std::optional<uint8_t> request) {
  const bool endpoint = opcode == opcode_byte(wire::Opcode::EndpointRequest);
  if (endpoint && request) return data_class(*request);
  if (endpoint || is_probe_opcode(opcode)) return data_class(data_dscp(qp, nic, false));
  return static_cast<unsigned>(nic.dscp_ctl) << 2;
}

constexpr uint8_t bth_byte1(const HdrNic& nic, unsigned pad) {
  return static_cast<uint8_t>(unsigned{nic.bth_m} << (nic.bth_m_high ? 7 : 6) | pad << 4);
}

}  // namespace

unsigned build_data_header(const WritePacket& packet, Way way, const HdrQp& qp, const HdrNic& nic, uint32_t tick,
                           std::span<uint8_t, kMaxHeader> out) {
  const WritePart& part = packet.part;
  const bool imm = has_immediate(part.opcode);
  const unsigned pad = payload_pad(part.plen);
  Common c{};
  c.plane = way.plane;
  c.tc = data_class(data_dscp(qp, nic, packet.rtx));
  c.ev = way.ev;
  c.opcode = part.opcode;
  c.bth1 = bth_byte1(nic, pad);
  c.ackreq = packet.ackreq;
  c.rtx = packet.rtx;
  c.ts = qp.ts;
  c.dqpn = qp.dqpn;
  c.psn = packet.psn;
  c.ext_len =
      wire::Meth::kBytes + (qp.ts ? wire::Tseth::kBytes : 0u) + wire::Reth::kBytes + (imm ? wire::Immdt::kBytes : 0u);
  c.behind = part.plen + pad;
  uint8_t* const ext = put_common(c, qp, nic, out);
  uint8_t* p = ext;
  wire::Meth{.rqmsn = part.rqmsn, .msn = packet.msn}.write(p);
  p += wire::Meth::kBytes;
  if (qp.ts) {
    wire::Tseth{.tx_timestamp16 = time_stamp(tick, nic.tsr_us),
                .tsr = nic.tsr_us,
                .ftype = static_cast<uint8_t>(wire::Ftype::Timestamp16)}
        .write(p);
    p += wire::Tseth::kBytes;
  }
  wire::Reth{.va = part.va, .r_key = part.rkey, .dma_length = part.dma_length}.write(p);
  p += wire::Reth::kBytes;
  if (imm) wire::Immdt{.value = part.imm}.write(p);
  return static_cast<unsigned>(ext - out.data()) + c.ext_len;
}

unsigned build_ctl_header(const ControlPacket& packet, Way way, const HdrQp& qp, const HdrNic& nic,
                          std::span<uint8_t, kMaxHeader> out, std::optional<uint8_t> request) {
  Common c{};
  c.plane = way.plane;
  c.tc = ctl_class(packet.opcode, qp, nic, request);
  c.ev = way.ev;
  c.opcode = packet.opcode;
  c.bth1 = bth_byte1(nic, 0);
  c.dqpn = is_endpoint_opcode(packet.opcode) ? wire::kEndpointDqp : qp.dqpn;
  c.psn = packet.psn;
  c.ext_len = std::min<unsigned>(packet.ext_len, kMaxExtension);
  uint8_t* const ext = put_common(c, qp, nic, out);
  std::memcpy(ext, packet.ext.data(), c.ext_len);
  return static_cast<unsigned>(ext - out.data()) + c.ext_len;
}

uint32_t header_crc(std::span<const uint8_t> header, Encap encap, bool icrc_outer) {
  const unsigned inner = inner_offset(encap);
  constexpr unsigned kMasked = Ipv6::kBytes + Udp::kBytes + Bth::kBytes;
  const uint32_t start = wire::icrc_outer(header.subspan(Eth::kBytes, icrc_outer ? outer_bytes(encap) : 0));
  const uint32_t reg = wire::icrc_headers(header.data() + inner, 6, start);
  return wire::crc_update(reg, header.data() + inner + kMasked, header.size() - inner - kMasked);
}

}  // namespace mrc

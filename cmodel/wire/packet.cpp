// SPDX-License-Identifier: Apache-2.0
#include "wire/packet.hpp"

#include <fmt/format.h>

#include "wire/bytes.hpp"
#include "wire/icrc.hpp"

namespace mrc::wire {

DscpClass classify(uint8_t dscp, const DscpMap& map) {
  if (dscp == map.returned) return DscpClass::Returned;
  if (dscp == map.trimmed) return DscpClass::Trimmed;
  if (dscp == map.trimmed_lasthop) return DscpClass::TrimmedLasthop;
  if (dscp == map.control) return DscpClass::Control;
  if (dscp == map.trimmable_retx) return DscpClass::TrimmableRetx;
  if (dscp == map.trimmable) return DscpClass::Trimmable;
  if (dscp == map.no_trim) return DscpClass::NoTrim;
  return DscpClass::Other;
}

const char* name_of(DscpClass value) {
  switch (value) {
    case DscpClass::NoTrim:
      return "NO_TRIM";
    case DscpClass::Trimmable:
      return "TRIMMABLE";
    case DscpClass::TrimmableRetx:
      return "TRIMMABLE_RETX";
    case DscpClass::Trimmed:
      return "TRIMMED";
    case DscpClass::TrimmedLasthop:
      return "TRIMMED_LASTHOP";
    case DscpClass::Control:
      return "CONTROL";
    case DscpClass::Returned:
      return "RETURNED";
    case DscpClass::Other:
      break;
  }
  return "OTHER";
}

uint8_t default_dscp(uint8_t opcode, bool rtx, const DscpMap& map) {
  const OpcodeInfo* info = opcode_info(opcode);
  if (!info) return map.no_trim;
  if (info->payload) return rtx ? map.trimmable_retx : map.trimmable;
  // Probes travel with the data, so that they meet what the data meet.
  return info->opcode == Opcode::ProbeRequest ? map.trimmable : map.control;
}

const char* name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::Short:
      return "short";
    case ErrorCode::BadEthertype:
      return "bad_ethertype";
    case ErrorCode::BadVersion:
      return "bad_version";
    case ErrorCode::BadIhl:
      return "bad_ihl";
    case ErrorCode::BadChecksum:
      return "bad_checksum";
    case ErrorCode::Fragment:
      return "fragment";
    case ErrorCode::BadNextHeader:
      return "bad_next_header";
    case ErrorCode::BadSrh:
      return "bad_srh";
    case ErrorCode::BadLength:
      return "bad_length";
    case ErrorCode::NotMrc:
      return "not_mrc";
    case ErrorCode::BadTver:
      return "bad_tver";
    case ErrorCode::UnknownOpcode:
      return "unknown_opcode";
    case ErrorCode::BadPad:
      return "bad_pad";
    case ErrorCode::BadIcrc:
      return "bad_icrc";
  }
  return "unknown";
}

std::string DecodeError::message() const {
  switch (code) {
    case ErrorCode::Short:
      return fmt::format("the packet ends inside {}: {} bytes there, {} needed", header, got, want);
    case ErrorCode::BadEthertype:
      return fmt::format("ethertype 0x{:04x} is neither IPv4 nor IPv6", got);
    case ErrorCode::BadVersion:
      return fmt::format("IP version {} in {}, expected {}", got, header, want);
    case ErrorCode::BadIhl:
      return fmt::format("IPv4 header length {} words, expected 5", got);
    case ErrorCode::BadChecksum:
      return fmt::format("IPv4 header checksum is 0x{:04x}, expected 0x{:04x}", got, want);
    case ErrorCode::Fragment:
      return fmt::format("IPv4 fragment at offset {}", got);
    case ErrorCode::BadNextHeader:
      return fmt::format("next header {} after {}, expected {}", got, header, want);
    case ErrorCode::BadSrh:
      return fmt::format("not a segment routing header with one segment: value {}, expected {}", got, want);
    case ErrorCode::BadLength:
      return fmt::format("length in {} says {} bytes, the packet has {}", header, got, want);
    case ErrorCode::NotMrc:
      return fmt::format("UDP destination port {}, MRC is on {}", got, want);
    case ErrorCode::BadTver:
      return fmt::format("transport version {}, expected 0", got);
    case ErrorCode::UnknownOpcode:
      return fmt::format("opcode 0x{:02x} is not one of MRC's", got);
    case ErrorCode::BadPad:
      return fmt::format("pad count {} does not fit the {} bytes of payload and padding", got, want);
    case ErrorCode::BadIcrc:
      return fmt::format("ICRC is 0x{:08x}, expected 0x{:08x}", got, want);
  }
  return "unknown error";
}

uint8_t Packet::dscp() const {
  if (outer_ipv6) return outer_ipv6->dscp;
  if (ipv6) return ipv6->dscp;
  return ipv4 ? ipv4->dscp : uint8_t{0};
}

uint8_t Packet::ecn() const {
  if (outer_ipv6) return outer_ipv6->ecn;
  if (ipv6) return ipv6->ecn;
  return ipv4 ? ipv4->ecn : uint8_t{0};
}

uint32_t Packet::entropy(const WireConfig& config) const {
  if (!udp) return 0;
  const uint32_t port = udp->src_port;
  const uint32_t label = ipv6 ? ipv6->flow_label & 0xFFFFu : 0;
  return config.ev_swap ? label << 16 | port : port << 16 | label;
}

void Packet::set_entropy(uint32_t ev, const WireConfig& config) {
  const uint32_t port = config.ev_swap ? ev & 0xFFFFu : ev >> 16;
  const uint32_t label = config.ev_swap ? ev >> 16 : ev & 0xFFFFu;
  if (udp) udp->src_port = static_cast<uint16_t>(port);
  if (ipv6) ipv6->flow_label = (ipv6->flow_label & ~0xFFFFu) | label;
}

namespace {

template <class Header>
std::size_t bytes_of(const std::optional<Header>& header) {
  return header ? Header::kBytes : 0;
}

}  // namespace

std::size_t bytes_to_bth(const Packet& p) {
  return bytes_of(p.eth) + bytes_of(p.outer_ipv6) + bytes_of(p.srh) + bytes_of(p.ipv6) + bytes_of(p.ipv4) +
         bytes_of(p.udp) + bytes_of(p.bth);
}

std::size_t header_bytes(const Packet& p) {
  std::size_t bytes = bytes_to_bth(p);
  Extensions::visit(p, [&](const auto& header) { bytes += bytes_of(header); });
  return bytes;
}

Packet make_packet(Opcode opcode, Encapsulation encapsulation, bool timestamp, const WireConfig& config) {
  const auto code = static_cast<uint8_t>(opcode);
  const uint8_t dscp = default_dscp(code, false, config.dscp);
  const OpcodeInfo* info = opcode_info(code);
  const uint8_t ecn = info && info->payload ? 2 : 0;  // ECT(0) on data
  Packet p;
  p.eth.emplace();
  if (encapsulation == Encapsulation::Ipv4) {
    p.ipv4.emplace();
    p.ipv4->flags = 2;
    p.ipv4->ttl = 64;
    p.ipv4->dscp = dscp;
    p.ipv4->ecn = ecn;
  } else {
    p.ipv6.emplace();
    p.ipv6->hop_limit = 64;
    p.ipv6->dscp = dscp;
    p.ipv6->ecn = ecn;
    if (encapsulation != Encapsulation::Ipv6) p.outer_ipv6 = p.ipv6;
    if (encapsulation == Encapsulation::Srv6Srh) p.srh.emplace();
  }
  p.dscp_class = classify(dscp, config.dscp);
  p.udp.emplace();
  p.udp->dst_port = config.udp_port;
  p.bth.emplace();
  p.bth->opcode = code;
  p.bth->ts = timestamp;
  if (info) {
    const uint32_t present = info->required | (timestamp ? info->timestamp : 0);
    Extensions::visit(p, [&](auto& header) {
      using Header = typename std::decay_t<decltype(header)>::value_type;
      if (present & bit(Header::kId)) header.emplace();
    });
  }
  constexpr auto kFtype = static_cast<uint8_t>(Ftype::Timestamp16);
  if (p.tseth) p.tseth->ftype = kFtype;
  if (p.peth) p.peth->ftype = kFtype;
  if (p.erth) p.erth->ftype = kFtype;
  if (p.neth) p.neth->cc_type = kNethCcType;
  if (p.aeth) p.aeth->syndrome = static_cast<uint8_t>(AethSyndrome::Ack);
  p.icrc.emplace();
  complete(p);
  return p;
}

namespace {

uint16_t ipv4_checksum(Ipv4 header) {
  header.checksum = 0;
  uint8_t bytes[Ipv4::kBytes];
  header.write(bytes);
  uint32_t sum = 0;
  for (unsigned i = 0; i < Ipv4::kBytes; i += 2) sum += static_cast<uint32_t>(load_be<2>(bytes + i));
  while (sum >> 16) sum = (sum & 0xFFFFu) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

template <class Header>
void append(std::vector<uint8_t>& out, const std::optional<Header>& header) {
  if (!header) return;
  const size_t at = out.size();
  out.resize(at + Header::kBytes);
  header->write(out.data() + at);
}

void append(std::vector<uint8_t>& out, const std::vector<uint8_t>& bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

void complete(Packet& p) {
  if (p.bth && !p.trimmed()) {
    const OpcodeInfo* info = opcode_info(p.bth->opcode);
    if (!info || info->payload) {
      p.padding.assign((4 - p.payload.size() % 4) % 4, 0);
      p.bth->pad_count = static_cast<uint8_t>(p.padding.size());
    }
  }
  size_t size = p.payload.size() + p.padding.size() + p.rest.size();
  if (p.bth && !p.trimmed()) size += kIcrcBytes;
  Extensions::visit(p, [&](auto& header) {
    if (header) size += std::decay_t<decltype(*header)>::kBytes;
  });
  if (p.bth) size += Bth::kBytes;
  if (p.udp) {
    size += Udp::kBytes;
    p.udp->length = static_cast<uint16_t>(size);
  }
  if (p.ipv4) {
    size += Ipv4::kBytes;
    p.ipv4->version = 4;
    p.ipv4->ihl = 5;
    p.ipv4->protocol = kProtoUdp;
    p.ipv4->total_length = static_cast<uint16_t>(size);
    p.ipv4->checksum = ipv4_checksum(*p.ipv4);
  }
  if (p.ipv6) {
    p.ipv6->version = 6;
    p.ipv6->next_header = kProtoUdp;
    p.ipv6->payload_length = static_cast<uint16_t>(size);
    size += Ipv6::kBytes;
  }
  if (p.srh) {
    p.srh->next_header = kProtoIpv6;
    p.srh->hdr_ext_len = 2;
    p.srh->routing_type = kSrhRoutingType;
    size += Srh::kBytes;
  }
  if (p.outer_ipv6) {
    p.outer_ipv6->version = 6;
    p.outer_ipv6->next_header = p.srh ? kProtoRouting : kProtoIpv6;
    p.outer_ipv6->payload_length = static_cast<uint16_t>(size);
  }
  if (p.eth) p.eth->ethertype = static_cast<uint16_t>(p.ipv4 ? kEthertypeIpv4 : kEthertypeIpv6);
}

std::vector<uint8_t> encode(const Packet& p, const WireConfig& config) {
  std::vector<uint8_t> out;
  out.reserve(192 + p.payload.size());
  append(out, p.eth);
  const size_t outer = out.size();
  append(out, p.outer_ipv6);
  append(out, p.srh);
  const size_t ip = out.size();
  append(out, p.ipv6);
  append(out, p.ipv4);
  append(out, p.udp);
  if (p.bth) {
    Bth bth = *p.bth;
    if (config.bth_se_first) std::swap(bth.se, bth.m);
    append(out, std::optional(bth));
  }
  Extensions::visit(p, [&](const auto& header) {
    if constexpr (std::is_same_v<std::decay_t<decltype(header)>, std::optional<Eeth>>) {
      std::optional<Eeth> eeth = header;
      if (eeth && config.eeth_op_high) {
        // bits 5:4 and 3:2 of byte 1 change places
        const auto low = static_cast<uint8_t>(eeth->reserved1 & 3u);
        eeth->reserved1 = static_cast<uint8_t>((eeth->reserved1 & ~3u) | eeth->op);
        eeth->op = low;
      }
      append(out, eeth);
    } else {
      append(out, header);
    }
  });
  append(out, p.payload);
  append(out, p.padding);
  append(out, p.rest);
  if (p.bth && !is_trimmed(classify(p.dscp(), config.dscp))) {
    const bool as_given = p.icrc && !p.icrc->ok;
    const auto sent = std::span<const uint8_t>(out);
    const auto covered = config.icrc_outer && p.outer_ipv6 ? sent.subspan(outer, ip - outer) : sent.first(0);
    const uint32_t value = as_given ? p.icrc->value : icrc(sent.subspan(ip), covered);
    out.resize(out.size() + kIcrcBytes);
    store_le32(out.data() + out.size() - kIcrcBytes, value);
  }
  append(out, p.trailer);
  return out;
}

}  // namespace mrc::wire

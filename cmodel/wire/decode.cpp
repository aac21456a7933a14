// SPDX-License-Identifier: Apache-2.0
#include "wire/decode.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "wire/bytes.hpp"
#include "wire/icrc.hpp"

namespace mrc::wire {

namespace {

/// Walks over the frame; every step checks what is left first.
class Decoder {
 public:
  /// `size`: bytes of the frame; those that are not there count as zeros. The packet is an empty one.
  Decoder(Packet& packet, std::span<const uint8_t> frame, std::size_t size, const WireConfig& config, bool check_icrc)
      : frame_(frame), config_(config), check_icrc_(check_icrc), p_(packet), end_(size) {}

  void run() {
    if (link() && network() && transport()) extensions();
  }

 private:
  bool fail(ErrorCode code, size_t offset, const char* header, uint64_t got, uint64_t want) {
    if (!p_.error) p_.error = DecodeError{code, offset, header, got, want};
    return false;
  }

  size_t left() const { return end_ - at_; }

  /// Bytes `from` to `to` of the frame.
  void put(std::vector<uint8_t>& bytes, size_t from, size_t to) const {
    const uint8_t* const begin = frame_.data() + std::min(from, frame_.size());
    bytes.assign(begin, frame_.data() + std::min(to, frame_.size()));
    bytes.resize(to - from);
  }

  /// N bytes that can be read, those of the frame from `from` on.
  template <size_t N>
  const uint8_t* view(size_t from, std::array<uint8_t, N>& room) const {
    if (from + N <= frame_.size()) return frame_.data() + from;
    room.fill(0);
    if (from < frame_.size()) std::copy(frame_.begin() + static_cast<std::ptrdiff_t>(from), frame_.end(), room.begin());
    return room.data();
  }

  /// Reads a header, or notes that the packet ends inside it.
  template <class Header>
  bool take(std::optional<Header>& header, const char* name = Header::kName) {
    if (left() < Header::kBytes) {
      if (p_.trimmed()) {
        put(p_.rest, at_, end_);
        at_ = end_;
        return false;
      }
      return fail(ErrorCode::Short, end_, name, left(), Header::kBytes);
    }
    std::array<uint8_t, Header::kBytes> room;
    header = Header::read(view(at_, room));
    at_ += Header::kBytes;
    return true;
  }

  bool link() {
    if (!take(p_.eth)) return false;
    const unsigned type = p_.eth->ethertype;
    if (type == kEthertypeIpv4) return ipv4();
    if (type == kEthertypeIpv6) return ipv6();
    return fail(ErrorCode::BadEthertype, 12, "eth", type, kEthertypeIpv6);
  }

  /// Applies a length field: `size` bytes from `from` on. The outermost one may leave a trailer; of a trimmed packet
  /// the others are not looked at.
  bool limit(size_t from, size_t size, size_t field, const char* name, bool outermost) {
    const size_t there = end_ - from;
    if (size > there && !p_.trimmed()) return fail(ErrorCode::BadLength, field, name, size, there);
    if (size < there) {
      if (!outermost && p_.trimmed()) return true;
      if (!outermost) return fail(ErrorCode::BadLength, field, name, size, there);
      put(p_.trailer, from + size, end_);
      end_ = from + size;
    }
    return true;
  }

  bool ipv4() {
    ip_ = at_;
    if (!take(p_.ipv4)) return false;
    const Ipv4& h = *p_.ipv4;
    if (h.version != 4) return fail(ErrorCode::BadVersion, ip_, "ipv4", h.version, 4);
    if (h.ihl != 5) return fail(ErrorCode::BadIhl, ip_, "ipv4", h.ihl, 5);
    if (h.fragment_offset || (h.flags & 1)) {
      return fail(ErrorCode::Fragment, ip_ + 6, "ipv4", h.fragment_offset, 0);
    }
    uint32_t sum = 0;
    std::array<uint8_t, Ipv4::kBytes> room;
    const uint8_t* const header = view(ip_, room);
    for (unsigned i = 0; i < Ipv4::kBytes; i += 2) {
      if (i != 10) sum += static_cast<uint32_t>(load_be<2>(header + i));
    }
    while (sum >> 16) sum = (sum & 0xFFFFu) + (sum >> 16);
    const auto want = static_cast<uint16_t>(~sum);
    if (h.checksum != want) return fail(ErrorCode::BadChecksum, ip_ + 10, "ipv4", h.checksum, want);
    if (h.protocol != kProtoUdp) return fail(ErrorCode::BadNextHeader, ip_ + 9, "ipv4", h.protocol, kProtoUdp);
    p_.dscp_class = classify(h.dscp, config_.dscp);
    if (h.total_length < Ipv4::kBytes) {
      return fail(ErrorCode::BadLength, ip_ + 2, "ipv4", h.total_length, end_ - ip_);
    }
    return limit(ip_, h.total_length, ip_ + 2, "ipv4", true);
  }

  bool ipv6() {
    ip_ = at_;
    std::optional<Ipv6> first;
    if (!take(first)) return false;
    const bool outer = first->version == 6 && first->next_header != kProtoUdp;
    (outer ? p_.outer_ipv6 : p_.ipv6) = first;
    const char* name = outer ? "outer_ipv6" : "ipv6";
    if (first->version != 6) return fail(ErrorCode::BadVersion, ip_, name, first->version, 6);
    p_.dscp_class = classify(first->dscp, config_.dscp);
    if (!limit(at_, first->payload_length, ip_ + 4, name, true)) return false;
    if (!outer) return true;
    if (first->next_header == kProtoRouting) {
      const size_t srh = at_;
      if (!take(p_.srh)) return false;
      const Srh& h = *p_.srh;
      if (h.routing_type != kSrhRoutingType) {
        return fail(ErrorCode::BadSrh, srh + 2, "srh", h.routing_type, kSrhRoutingType);
      }
      if (h.hdr_ext_len != 2) return fail(ErrorCode::BadSrh, srh + 1, "srh", h.hdr_ext_len, 2);
      if (h.segments_left > 1) return fail(ErrorCode::BadSrh, srh + 3, "srh", h.segments_left, 0);
      if (h.next_header != kProtoIpv6) return fail(ErrorCode::BadNextHeader, srh, "srh", h.next_header, kProtoIpv6);
    } else if (first->next_header != kProtoIpv6) {
      return fail(ErrorCode::BadNextHeader, ip_ + 6, name, first->next_header, kProtoUdp);
    }
    ip_ = at_;
    if (!take(p_.ipv6)) return false;
    const Ipv6& inner = *p_.ipv6;
    if (inner.version != 6) return fail(ErrorCode::BadVersion, ip_, "ipv6", inner.version, 6);
    if (inner.next_header != kProtoUdp) {
      return fail(ErrorCode::BadNextHeader, ip_ + 6, "ipv6", inner.next_header, kProtoUdp);
    }
    return limit(at_, inner.payload_length, ip_ + 4, "ipv6", false);
  }

  bool network() {
    const size_t udp = at_;
    if (!take(p_.udp)) return false;
    if (!is_mrc_port(p_.udp->dst_port, config_)) {
      return fail(ErrorCode::NotMrc, udp + 2, "udp", p_.udp->dst_port, config_.udp_port);
    }
    return limit(udp, p_.udp->length, udp + 4, "udp", false);
  }

  bool transport() {
    if (!p_.trimmed()) {
      if (left() < Bth::kBytes + kIcrcBytes) {
        return fail(ErrorCode::Short, end_, left() < Bth::kBytes ? "bth" : "icrc", left(), Bth::kBytes + kIcrcBytes);
      }
      end_ -= kIcrcBytes;
      p_.icrc.emplace();
      std::array<uint8_t, kIcrcBytes> room;
      p_.icrc->value = load_le32(view(end_, room));
      const size_t outer = config_.icrc_outer && p_.outer_ipv6 ? Eth::kBytes : ip_;
      if (check_icrc_) icrc_ = icrc(frame_.subspan(ip_, end_ - ip_), frame_.subspan(outer, ip_ - outer));
      p_.icrc->ok = !check_icrc_ || icrc_ == p_.icrc->value;
    }
    bth_ = at_;
    if (!take(p_.bth)) return false;
    if (config_.bth_se_first) std::swap(p_.bth->se, p_.bth->m);
    return true;
  }

  void extensions() {
    const Bth& bth = *p_.bth;
    const OpcodeInfo* info = opcode_info(bth.opcode);
    if (bth.tver != 0) fail(ErrorCode::BadTver, bth_ + 1, "bth", bth.tver, 0);
    if (!info) fail(ErrorCode::UnknownOpcode, bth_, "bth", bth.opcode, 0);
    bool complete = true;
    if (info) {
      const uint32_t present = info->required | (bth.ts ? info->timestamp : 0);
      Extensions::visit(p_, [&](auto& header) {
        using Header = typename std::decay_t<decltype(header)>::value_type;
        if (complete && (present & bit(Header::kId))) complete = take(header);
      });
      if (p_.eeth && config_.eeth_op_high) {
        const uint8_t op = p_.eeth->op;
        p_.eeth->op = p_.eeth->reserved1 & 3u;
        p_.eeth->reserved1 = static_cast<uint8_t>((p_.eeth->reserved1 & ~3u) | op);
      }
    }
    if (complete) {
      size_t pad = 0;
      if (!p_.trimmed() && info) {
        pad = bth.pad_count;
        const size_t body = left();
        if (!info->payload && body != 0) {
          fail(ErrorCode::BadLength, at_, "udp", p_.udp->length, p_.udp->length - body);
          pad = 0;
        } else if (pad > body || body % 4 != 0) {
          fail(ErrorCode::BadPad, bth_ + 1, "bth", pad, body);
          pad = 0;
        }
      }
      put(p_.payload, at_, end_ - pad);
      put(p_.padding, end_ - pad, end_);
    }
    if (p_.icrc && !p_.icrc->ok) fail(ErrorCode::BadIcrc, end_, "icrc", p_.icrc->value, icrc_);
  }

  std::span<const uint8_t> frame_;
  const WireConfig& config_;
  const bool check_icrc_;
  Packet& p_;
  size_t at_ = 0;   // next byte
  size_t end_ = 0;  // behind the last byte of the part being read
  size_t ip_ = 0;   // innermost IP header
  size_t bth_ = 0;
  uint32_t icrc_ = 0;
};

/// An empty packet that keeps the memory of this one.
void make_empty(Packet& packet) {
  Packet fresh;
  const auto keep = [&](std::vector<uint8_t> Packet::*member) {
    (packet.*member).clear();
    fresh.*member = std::move(packet.*member);
  };
  keep(&Packet::payload);
  keep(&Packet::padding);
  keep(&Packet::rest);
  keep(&Packet::trailer);
  packet = std::move(fresh);
}

}  // namespace

Packet decode(std::span<const uint8_t> frame, const WireConfig& config, bool check_icrc) {
  Packet packet;
  Decoder(packet, frame, frame.size(), config, check_icrc).run();
  return packet;
}

void decode_into(Packet& packet, std::span<const uint8_t> frame, const WireConfig& config, bool check_icrc) {
  make_empty(packet);
  Decoder(packet, frame, frame.size(), config, check_icrc).run();
}

void decode_cut(Packet& packet, std::span<const uint8_t> frame, size_t size, const WireConfig& config) {
  make_empty(packet);
  Decoder(packet, frame, std::max(size, frame.size()), config, false).run();
}

}  // namespace mrc::wire

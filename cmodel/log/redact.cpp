// SPDX-License-Identifier: Apache-2.0
#include "log/redact.hpp"

#include <algorithm>
#include <span>

#include "log/digest.hpp"
#include "log/packet.hpp"
#include "wire/bytes.hpp"
#include "wire/decode.hpp"

namespace mrc::log {
namespace {

constexpr std::size_t kIp6 = wire::Ipv6::kBytes, kEth = wire::Eth::kBytes;
constexpr Ip kOther{0xfd, 'r', 'e', 'd', 'a', 'c', 't'};
/// Those beyond share one.
constexpr std::size_t kMostAddresses = std::size_t{1} << 20;
constexpr Ip kMappedIpv4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct Span {
  std::size_t begin, end;
};

/// Bytes behind the headers that could be read.
std::size_t headers(const wire::Packet& p) {
  std::size_t at = p.eth ? kEth : 0;
  if (p.outer_ipv6) at += kIp6;
  if (p.srh) at += wire::Srh::kBytes;
  if (p.ipv6) at += kIp6;
  if (p.ipv4) at += wire::Ipv4::kBytes;
  if (p.udp) at += wire::Udp::kBytes;
  if (p.bth) at += wire::Bth::kBytes;
  return at;
}

/// Where the bytes of the user stand.
Span payload_of(const Frame& frame, const wire::Packet& p) {
  const std::size_t size = frame.bytes.size();
  const bool whole = p.bth && (!p.error || p.error->code == wire::ErrorCode::BadIcrc);
  if (!whole) return {std::min(headers(p), size), size};
  if ((frame.flags & kCut) != 0) return {size - p.payload.size(), size};
  const std::size_t end = size - p.trailer.size() - (p.icrc ? 4 : 0) - p.padding.size();
  const std::size_t begin = end - p.payload.size();
  const bool silent = std::ranges::all_of(p.trailer, [](uint8_t b) { return b == 0; });
  return {begin, silent ? end : size};
}

}  // namespace

void Redactor::redact(Record& record, const wire::WireConfig& wire) {
  if (auto* f = std::get_if<Frame>(&record.body)) {
    frame(*f, wire);
  } else if (auto* host = std::get_if<Host>(&record.body); host != nullptr && options_.payload) {
    if (!host->data.empty()) host->hash = digest(host->data);
    host->data.clear();
  } else if (auto* qp = std::get_if<Qp>(&record.body); qp != nullptr && options_.addresses) {
    qp->own_ip = map(qp->own_ip);
    qp->peer_ip = map(qp->peer_ip);
  } else if (auto* device = std::get_if<Device>(&record.body); device != nullptr && options_.addresses) {
    if (profile_ && !device->profile.empty())
      device->profile = profile_(device->profile, [this](const Ip& ip) { return map(ip); });
  }
}

void Redactor::frame(Frame& f, const wire::WireConfig& wire) {
  // Of a cut frame as if it were whole, of others with their ICRC.
  const wire::Packet packet = (f.flags & kCut) != 0 ? packet_of(f, wire) : wire::decode(f.bytes, wire);
  if (options_.payload && f.redacted.bytes == 0) {
    const Span span = payload_of(f, packet);
    if (span.end > span.begin) {
      const auto bytes = std::span(f.bytes).subspan(span.begin, span.end - span.begin);
      f.redacted = {static_cast<uint32_t>(span.begin), static_cast<uint32_t>(bytes.size()), digest(bytes)};
      std::ranges::fill(bytes, uint8_t{0});
    }
  }
  if (options_.addresses) addresses(f, packet);
}

void Redactor::addresses(Frame& f, const wire::Packet& p) {
  const auto in_place = [&](std::size_t at, auto& from) {
    if (at + from.size() > f.bytes.size()) return;
    std::ranges::copy(map(from), f.bytes.begin() + static_cast<std::ptrdiff_t>(at));
  };
  if (!p.eth) return;
  f.flags |= kChanged;
  in_place(0, p.eth->dst);
  in_place(6, p.eth->src);
  std::size_t at = kEth;
  if (p.outer_ipv6) {
    in_place(at + 8, p.outer_ipv6->src);
    in_place(at + 24, p.outer_ipv6->dst);
    at += kIp6;
  }
  if (p.srh) {
    in_place(at + wire::Srh::kBytes - sizeof(Ip), p.srh->segment);
    at += wire::Srh::kBytes;
  }
  if (p.ipv6) {
    in_place(at + 8, p.ipv6->src);
    in_place(at + 24, p.ipv6->dst);
  }
  if (p.ipv4) {
    for (const std::size_t place : {at + 12, at + 16}) {
      Ip ip = kMappedIpv4;
      if (place + 4 > f.bytes.size()) return;
      const auto there = f.bytes.begin() + static_cast<std::ptrdiff_t>(place);
      std::copy_n(there, 4, ip.begin() + 12);
      ip = map(ip);
      std::copy_n(ip.begin() + 12, 4, there);
    }
    if (p.error && p.error->code == wire::ErrorCode::BadChecksum) return;
    wire::store_be<2>(&f.bytes[at + 10], 0);
    uint32_t sum = 0;
    for (std::size_t i = 0; i < wire::Ipv4::kBytes; i += 2)
      sum += static_cast<uint32_t>(wire::load_be<2>(&f.bytes[at + i]));
    while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
    wire::store_be<2>(&f.bytes[at + 10], ~sum & 0xffff);
  }
}

Ip Redactor::map(const Ip& ip) {
  if (ip == Ip{} || !options_.addresses) return ip;
  if (ips_.size() >= kMostAddresses && !ips_.contains(ip)) return kOther;
  const auto [at, first] = ips_.try_emplace(ip);
  if (first) {
    const bool v4 = std::equal(kMappedIpv4.begin(), kMappedIpv4.begin() + 12, ip.begin());
    at->second = v4 ? kMappedIpv4 : kOther;
    wire::store_be<3>(at->second.data() + 13, ips_.size());
    if (v4) at->second[12] = 240;  // reserved: nobody's before
  }
  return at->second;
}

Redactor::Mac Redactor::map(const Mac& mac) {
  if ((mac[0] & 1) != 0) return mac;  // groups
  if (macs_.size() >= kMostAddresses && !macs_.contains(mac)) return {2, 'r', 0xff};
  const auto [at, first] = macs_.try_emplace(mac);
  if (first) {
    at->second = {2, 'r'};
    wire::store_be<4>(at->second.data() + 2, macs_.size());
  }
  return at->second;
}

}  // namespace mrc::log

// SPDX-License-Identifier: Apache-2.0
#include "log/redact.hpp"

#include <algorithm>
#include <span>
#include <type_traits>

#include "log/digest.hpp"
#include "log/packet.hpp"
#include "wire/bytes.hpp"
#include "wire/decode.hpp"

namespace mrc::log {
namespace {

constexpr std::size_t kIp6 = wire::Ipv6::kBytes;
constexpr Ip kOther{0xfd, 'r', 'e', 'd', 'a', 'c', 't'};
/// Those beyond share one.
constexpr std::size_t kMostAddresses = std::size_t{1} << 20;
constexpr uint64_t kPage = 0xFFF;    ///< low bits of an address, which tell nothing of where it is
constexpr unsigned kPlaceBits = 44;  ///< regions lie so far apart
constexpr Ip kMappedIpv4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct Span {
  std::size_t begin, end;
};

/// Bytes behind the headers that could be read.
std::size_t headers(const wire::Packet& p) {
  std::size_t at = p.eth ? wire::Eth::kBytes : 0;
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
  const uint32_t device = record.device;
  if (auto* f = std::get_if<Frame>(&record.body)) {
    frame(*f, wire);
    return;
  }
  auto* const host = std::get_if<Host>(&record.body);
  if (host != nullptr && options_.payload) {
    if (!host->data.empty()) host->hash = digest(host->data);
    host->data.clear();
  }
  if (!options_.addresses) return;
  if (host != nullptr) {
    host->addr = map_host(device, host->addr);
  } else if (auto* qp = std::get_if<Qp>(&record.body)) {
    qp->own_ip = map(qp->own_ip);
    qp->peer_ip = map(qp->peer_ip);
  } else if (auto* mr = std::get_if<Mr>(&record.body)) {
    map(*mr, device);
  } else if (auto* post = std::get_if<Post>(&record.body)) {
    post->addr = map_host(device, post->addr);
    post->remote = map_va(post->rkey, post->remote);
    post->rkey = map_key(post->rkey);
  } else if (auto* reported = std::get_if<Device>(&record.body)) {
    if (profile_ && !reported->profile.empty()) reported->profile = profile_(reported->profile, device, *this);
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
  if (!options_.addresses) return;
  memory(f, packet);
  addresses(f, packet);
}

/// R_Key and VA stand in the RETH, and what is left of one that was cut in `rest`.
void Redactor::memory(Frame& f, const wire::Packet& p) {
  constexpr std::size_t kKey = 8;  // behind the VA
  const std::size_t size = f.bytes.size();
  if (!p.rest.empty())
    std::fill(f.bytes.end() - static_cast<std::ptrdiff_t>(std::min(p.rest.size(), size)), f.bytes.end(), uint8_t{0});
  if (!p.reth) return;
  std::size_t at = headers(p);
  bool before = true;
  wire::Extensions::visit(p, [&](const auto& header) {
    using Header = typename std::decay_t<decltype(header)>::value_type;
    if constexpr (std::is_same_v<Header, wire::Reth>) before = false;
    if (before && header) at += Header::kBytes;
  });
  if (at + wire::Reth::kBytes > size) return;
  wire::store_be<8>(&f.bytes[at], map_va(p.reth->r_key, p.reth->va));
  wire::store_be<4>(&f.bytes[at + kKey], map_key(p.reth->r_key));
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
  std::size_t at = wire::Eth::kBytes;
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

uint32_t Redactor::map_key(uint32_t rkey) {
  constexpr uint32_t kFirst = 0x1000;
  if (keys_.size() >= kMostAddresses && !keys_.contains(rkey)) return 0;
  const auto [at, first] = keys_.try_emplace(rkey);
  if (first) at->second.key = kFirst + static_cast<uint32_t>(keys_.size());
  return at->second.key;
}

uint64_t Redactor::map_va(uint32_t rkey, uint64_t va) {
  map_key(rkey);
  const auto at = keys_.find(rkey);
  if (at == keys_.end()) return 0;
  if (!at->second.moved) at->second.moved = (uint64_t{at->second.key} << kPlaceBits) - (va & ~kPage);
  return va + *at->second.moved;
}

uint64_t Redactor::map_host(uint32_t device, uint64_t address) {
  const auto [at, first] = host_moved_.try_emplace(device);
  if (first) at->second = (uint64_t{1} << kPlaceBits) - (address & ~kPage);
  return address + at->second;
}

void Redactor::map(Mr& region, uint32_t device) {
  region.va = map_va(region.rkey, region.va);
  region.addr = map_host(device, region.addr);
  region.rkey = map_key(region.rkey);
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

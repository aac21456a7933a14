// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/packet.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "sim/engine/codec.hpp"
#include "wire/bytes.hpp"
#include "wire/decode.hpp"
#include "wire/packet.hpp"

namespace mrc::sim {

namespace {
using wire::load_be;
using wire::store_be;

// Offsets in the frame: Ethernet is 14 bytes, the outermost IP header follows.
constexpr unsigned kIp = 14, kIpv6Bytes = 40;
constexpr unsigned kSrhSegmentsLeft = kIp + kIpv6Bytes + 3;

void ipv4_checksum(std::vector<uint8_t>& b) {
  const unsigned header = (b[kIp] & 15u) * 4;
  if (header < 20 || b.size() < kIp + header) return;
  b[kIp + 10] = b[kIp + 11] = 0;
  uint32_t sum = 0;
  for (unsigned i = 0; i < header; i += 2) sum += static_cast<uint32_t>(wire::load_be<2>(&b[kIp + i]));
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  store_be<2>(&b[kIp + 10], ~sum & 0xffff);
}
Address address(const std::array<uint8_t, 16>& a) { return {load_be<8>(a.data()), load_be<8>(a.data() + 8)}; }
}  // namespace

struct PacketPool::Slab {
  PacketPool* pool;
  alignas(64) Packet packets[kSlabBytes / sizeof(Packet) - 1];
};

void PacketPool::grow() {
  static_assert(sizeof(Slab) <= kSlabBytes);
  const auto allocate = [this](size_t bytes) {
    void* memory = std::aligned_alloc(bytes, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    memory_.push_back(memory);
    return memory;
  };
  void* memory = nullptr;
  if (slabs_ < kSmallSlabs) {
    memory = allocate(kSlabBytes);
  } else {
    if (huge_ == huge_end_) {
      huge_ = static_cast<char*>(allocate(kHugeBytes));
      huge_end_ = huge_ + kHugeBytes;
#ifdef MADV_HUGEPAGE
      madvise(huge_, kHugeBytes, MADV_HUGEPAGE);  // packets lie anywhere: small pages would be missed in the TLB
#endif
    }
    memory = huge_;
    huge_ += kSlabBytes;
  }
  ++slabs_;
  auto* slab = static_cast<Slab*>(memory);
  slab->pool = this;
  for (size_t i = std::size(slab->packets); i-- > 0;) {
    slab->packets[i].next = free_;
    free_ = &slab->packets[i];
  }
}

PacketPool::~PacketPool() {
  for (void* memory : memory_) {
    // Packets that are still out hold attachments.
    std::free(memory);
  }
}

uint64_t PacketPool::memory() const { return slabs_ * kSlabBytes + spare_.size() * sizeof(Attachment); }

Attachment& PacketPool::attach(Packet& packet) {
  if (packet.attachment == nullptr) {
    if (spare_.empty()) spare_.push_back(std::make_unique<Attachment>());
    packet.attachment = spare_.back().release();
    spare_.pop_back();
  }
  packet.attachment->bytes.clear();
  packet.attachment->segment = {};
  return *packet.attachment;
}

void PacketPool::put_away(Packet* packet) {
  delete std::exchange(packet->attachment, nullptr);
  Away& away = away_[t_thread];
  if (away.head == nullptr) away.tail = packet;
  packet->next = std::exchange(away.head, packet);
  ++away.packets;
}

void PacketPool::take_back() {
  for (Away& away : away_) {
    if (away.head == nullptr) continue;
    away.tail->next = std::exchange(free_, away.head);
    live_ -= away.packets;
    away = {};
  }
}

void PacketPool::detach(Packet* packet) {
  spare_.emplace_back(packet->attachment);
  packet->attachment = nullptr;
}

PacketPtr PacketPool::from_frame(std::span<const uint8_t> bytes, const wire::WireConfig& config) {
  PacketPtr packet = make();
  Attachment& attachment = attach(*packet);
  attachment.bytes.assign(bytes.begin(), bytes.end());
  Packet& p = *packet;
  p.size = static_cast<uint16_t>(bytes.size());
  p.full_size = p.size;
  p.sent_ps = 0;
  p.dst_host = 0;

  const wire::Packet w = wire::decode(bytes, config);
  p.dscp = w.dscp();
  p.ecn = w.ecn();
  p.entropy = w.entropy(config);
  if (w.ipv4) {
    p.stack = Stack::Ipv4;
    p.hop_limit = w.ipv4->ttl;
    p.dst_host = static_cast<uint32_t>(load_be<4>(w.ipv4->dst.data()));
    p.src = static_cast<uint32_t>(load_be<4>(w.ipv4->src.data()));
    p.dst = host_address(p.dst_host);
  } else if (w.outer_ipv6 || w.ipv6) {
    const wire::Ipv6& outer = w.outer_ipv6 ? *w.outer_ipv6 : *w.ipv6;
    p.stack = w.srh ? Stack::Srv6Srh : w.outer_ipv6 ? Stack::Srv6 : Stack::Ipv6;
    p.hop_limit = outer.hop_limit;
    p.dst = address(outer.dst);
    const wire::Ipv6& inner = w.ipv6 ? *w.ipv6 : outer;
    p.dst_host = static_cast<uint32_t>(address(inner.dst).lo);
    p.src = static_cast<uint32_t>(address(inner.src).lo);
    if (w.srh) {
      p.segments_left = w.srh->segments_left;
      attachment.segment = address(w.srh->segment);
    }
  }
  read_fields(p, w);
  return packet;
}

namespace frame {

void set_traffic_class(Packet& packet) {
  std::vector<uint8_t>& b = packet.attachment->bytes;
  const auto tc = static_cast<uint8_t>(packet.dscp << 2 | packet.ecn);
  if (packet.stack == Stack::Ipv4) {
    b[kIp + 1] = tc;
    ipv4_checksum(b);
  } else if (packet.stack != Stack::Other) {
    b[kIp] = static_cast<uint8_t>((b[kIp] & 0xf0) | tc >> 4);
    b[kIp + 1] = static_cast<uint8_t>((b[kIp + 1] & 0x0f) | tc << 4);
  }
}

void set_destination(Packet& packet) {
  std::vector<uint8_t>& b = packet.attachment->bytes;
  if (packet.stack == Stack::Ipv4) {
    b[kIp + 8] = packet.hop_limit;
    ipv4_checksum(b);
  } else if (packet.stack != Stack::Other) {
    b[kIp + 7] = packet.hop_limit;
    store_be<8>(&b[kIp + 24], packet.dst.hi);
    store_be<8>(&b[kIp + 32], packet.dst.lo);
    if (packet.stack == Stack::Srv6Srh) b[kSrhSegmentsLeft] = packet.segments_left;
  }
}

void cut(Packet& packet) {
  std::vector<uint8_t>& b = packet.attachment->bytes;
  const bool shorter = b.size() > packet.size;
  if (shorter) b.resize(packet.size);
  const bool rewrites = shorter && (packet.bth & kLengthCut) != 0;
  if (rewrites && packet.stack == Stack::Ipv4) {
    store_be<2>(&b[kIp + 2], std::min<uint64_t>(load_be<2>(&b[kIp + 2]), b.size() - kIp));
  } else if (rewrites && packet.stack != Stack::Other) {
    store_be<2>(&b[kIp + 4], std::min<uint64_t>(load_be<2>(&b[kIp + 4]), b.size() - kIp - kIpv6Bytes));
  }
  set_traffic_class(packet);
}

}  // namespace frame

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/packet.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "sim/engine/codec.hpp"
#include "sim/engine/huge.hpp"
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
Packet* pop(std::vector<Packet*>& chains) {
  Packet* chain = chains.back();
  chains.pop_back();
  return chain;
}
Address address(const std::array<uint8_t, 16>& a) { return {load_be<8>(a.data()), load_be<8>(a.data() + 8)}; }
}  // namespace

void PacketDepot::give(std::span<Packet* const> chains) {
  const std::lock_guard lock(mutex_);
  chains_.insert(chains_.end(), chains.begin(), chains.end());
}

Packet* PacketDepot::take() {
  const std::lock_guard lock(mutex_);
  if (chains_.empty()) return nullptr;
  return pop(chains_);
}

void PacketPool::store_chain() {
  chains_.push_back(std::exchange(free_, nullptr));
  free_packets_ = 0;
  if (depot_ == nullptr || chains_.size() < kChainsOfOneself) return;
  constexpr size_t kKept = kChainsOfOneself / 2;
  depot_->give(std::span(chains_).subspan(kKept));
  chains_.resize(kKept);
}

void PacketPool::refill() {
  free_packets_ = kChain;
  if (!chains_.empty()) {
    free_ = pop(chains_);
  } else if (depot_ == nullptr || (free_ = depot_->take()) == nullptr) {
    grow();
  }
}

void PacketPool::grow() {
  static_assert(sizeof(Slab) <= kSlabBytes);
  void* memory = nullptr;
  if (slabs_ < kSmallSlabs) {
    memory = ::operator new(kSlabBytes, std::align_val_t(kSlabBytes));
    small_.push_back(memory);
  } else {
    if (left_ == 0) {
      huge_.push_back(map_huge(kHugePage));  // packets lie anywhere: small pages would be missed in the TLB
      left_ = kHugePage / kSlabBytes;
    }
    memory = static_cast<char*>(huge_.back()) + --left_ * kSlabBytes;
  }
  ++slabs_;
  auto* slab = new (memory) Slab(this);
  for (size_t i = std::size(slab->packets); i-- > 0;) {
    slab->packets[i].next = free_;
    free_ = &slab->packets[i];
  }
}

PacketPool::Slab::~Slab() {
  Attachment** const table = attachments.load();
  for (unsigned i = 0; table != nullptr && i < kChain; ++i) delete table[i];  // of packets that are still out
  delete[] table;
}

PacketPool::~PacketPool() {
  const auto end = [](void* memory) { std::destroy_at(static_cast<Slab*>(memory)); };
  for (void* memory : small_) {
    end(memory);
    ::operator delete(memory, std::align_val_t(kSlabBytes));
  }
  for (size_t i = 0; i < huge_.size(); ++i) {
    const size_t unused = i + 1 == huge_.size() ? left_ : 0;
    for (size_t at = unused; at < kHugePage / kSlabBytes; ++at) end(static_cast<char*>(huge_[i]) + at * kSlabBytes);
    unmap_huge(huge_[i], kHugePage);
  }
}

uint64_t PacketPool::memory() const { return slabs_ * kSlabBytes + spare_.size() * sizeof(Attachment); }

Attachment& PacketPool::attach(Packet& packet) {
  if (!packet.attached) {
    Slab& slab = slab_of(&packet);
    if (slab.attachments.load(std::memory_order_acquire) == nullptr) {
      // Another thread may do the same for another packet of the slab: one table remains.
      auto table = std::make_unique<Attachment*[]>(kChain);
      Attachment** none = nullptr;
      if (slab.attachments.compare_exchange_strong(none, table.get(), std::memory_order_acq_rel)) (void)table.release();
    }
    if (spare_.empty()) spare_.push_back(std::make_unique<Attachment>());
    place(&packet) = spare_.back().release();
    spare_.pop_back();
    packet.attached = true;
  }
  Attachment& attachment = *packet.attachment();
  attachment.bytes.clear();
  attachment.segment = {};
  attachment.full_size = 0;
  return attachment;
}

void PacketPool::detach(Packet* packet) {
  spare_.emplace_back(std::exchange(place(packet), nullptr));
  packet->attached = false;
}

PacketPtr PacketPool::from_frame(std::span<const uint8_t> bytes, const wire::WireConfig& config) {
  PacketPtr packet = make();
  Attachment& attachment = attach(*packet);
  attachment.bytes.assign(bytes.begin(), bytes.end());
  Packet& p = *packet;
  p.size = static_cast<uint16_t>(bytes.size());
  attachment.full_size = p.size;

  const wire::Packet w = wire::decode(bytes, config);
  p.dscp = w.dscp() & 63;
  p.ecn = w.ecn() & 3;
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

PacketPtr copy(PacketPool& pool, const Packet& packet) {
  PacketPtr result = pool.make();
  *result = packet;
  if (packet.attached) pool.attach(*result) = *packet.attachment();
  return result;
}

namespace frame {

void set_traffic_class(Packet& packet) {
  std::vector<uint8_t>& b = packet.attachment()->bytes;
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
  std::vector<uint8_t>& b = packet.attachment()->bytes;
  if (packet.stack == Stack::Ipv4) {
    b[kIp + 8] = packet.hop_limit;
    ipv4_checksum(b);
  } else if (packet.stack != Stack::Other) {
    b[kIp + 7] = packet.hop_limit;
    // One that goes back to its sender keeps the addresses of its only IP header.
    const bool back = packet.dst.hi == kHostPrefix && packet.dst.lo != packet.dst_host;
    if (packet.stack == Stack::Ipv6 && back) return;
    store_be<8>(&b[kIp + 24], packet.dst.hi);
    store_be<8>(&b[kIp + 32], packet.dst.lo);
    if (packet.stack == Stack::Srv6Srh) b[kSrhSegmentsLeft] = packet.segments_left;
  }
}

void cut(Packet& packet) {
  std::vector<uint8_t>& b = packet.attachment()->bytes;
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

void swap_addresses(Packet& packet) {
  std::vector<uint8_t>& b = packet.attachment()->bytes;
  const bool outer = packet.stack == Stack::Srv6 || packet.stack == Stack::Srv6Srh;
  const unsigned address = packet.stack == Stack::Ipv4 ? 4 : 16;
  unsigned source = packet.stack == Stack::Ipv4 ? kIp + 12 : kIp + 8;
  if (outer) source += kIpv6Bytes + (packet.stack == Stack::Srv6Srh ? wire::Srh::kBytes : 0);
  if (packet.stack == Stack::Other || b.size() < source + 2 * size_t{address}) return;
  const auto first = b.begin() + static_cast<ptrdiff_t>(source);
  std::swap_ranges(first, first + address, first + address);
  if (outer) std::copy(first, first + address, b.begin() + kIp + 8);
}

}  // namespace frame

}  // namespace mrc::sim

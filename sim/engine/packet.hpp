// SPDX-License-Identifier: Apache-2.0
/// A packet on its way through the fabric: the fields that switches and fast endpoints look at, and, where an endpoint
/// wants bytes, the frame itself. Whoever changes a packet uses the functions below, which keep both the same.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "sim/engine/units.hpp"
#include "wire/packet.hpp"

namespace mrc::sim {

class PacketPool;

/// An IPv6 address as two numbers, first byte most significant. IPv4 addresses are host_address(the 32 bits).
struct Address {
  uint64_t hi = 0, lo = 0;
  constexpr bool operator==(const Address&) const = default;
};

/// Upper half of the addresses of hosts. A host's number is the low half: its NodeId in generated topologies.
inline constexpr uint64_t kHostPrefix = 0xfd00'0000'0000'0000u;
constexpr Address host_address(uint32_t host) { return {kHostPrefix, host}; }

/// What is in front of UDP.
enum class Stack : uint8_t { Other, Ipv4, Ipv6, Srv6, Srv6Srh };

/// Bits of Packet::bth. The last one is none of the BTH: a switch that trimmed the packet has rewritten a length.
enum BthBit : uint8_t { kBthAckReq = 1, kBthRtx = 2, kBthTs = 4, kBthSe = 8, kLengthCut = 16 };
constexpr unsigned bit_if(bool set, BthBit bit) { return set ? unsigned{bit} : 0; }

/// Fields of WRITE packets (mrc.md section 3, METH, RETH, ImmDt).
struct DataFields {
  uint64_t va;
  uint32_t rkey, dma_length, imm;
  uint16_t msn, rqmsn;
  uint64_t user;  ///< the sender's, not on the wire: no meaning for the receiver
};
/// SACK (SETH, CC_STATE). Also the semantic ACK: cack_psn = 24-bit MSN, m = syndrome.
struct SackFields {
  uint64_t bitmap;
  uint32_t entropy, cack_psn, rcvd_bytes;
  int16_t ack_psn_offset;  ///< the probe id if pr
  int16_t sack_offset;
  uint16_t ooo_count;
  uint8_t m, pr, mpr, cc_flags, rcv_cwnd_pen, restore_cwnd;
};
/// NACK (NETH).
struct NackFields {
  uint32_t entropy, nack_psn;
  uint8_t reason, cc_flags;
};
/// Probes and endpoint packets (PETH, ERTH, EETH).
struct ProbeFields {
  uint32_t port_status_mask;
  uint16_t probe_id;
  uint8_t op;
};

/// What only some packets have.
struct Attachment {
  std::vector<uint8_t> bytes;  ///< the frame, destination MAC to ICRC, without FCS; empty: fields only
  Address segment;             ///< segment list [0] of the SRH (MRC has one segment)
  unsigned full_size = 0;      ///< of the frame before any trimming
};

struct Packet;

/// What a packet is. Links and switches touch the first 40 bytes, fast endpoints the rest.
struct PacketFields {
  Packet* next;     ///< list it is in; the owner's
  Time at_ps;       ///< when the far end of the link sees it; set by the link
  Address dst;      ///< of the outermost IP header: the path with SRv6
  uint16_t size;    ///< bytes of the frame, without FCS
  uint8_t ecn : 2;  ///< of the outermost IP header, as the code point
  uint8_t dscp : 6;
  uint8_t hop_limit;
  Stack stack : 3;
  uint8_t bth : 5;  ///< BthBit
  uint8_t segments_left;
  uint8_t plane : 6;      ///< the sender's port; set by the fabric
  bool trimmed : 1;       ///< cut on its way
  bool attached : 1;      ///< has an attachment; its pool's
  uint8_t opcode;         ///< wire::Opcode
  uint32_t src;           ///< number of the sending host (low half of its address)
  uint32_t dst_host;      ///< number of the host it is meant for (inner destination address)
  uint32_t entropy;       ///< EV: UDP source port in the upper half, flow label in the lower
  uint16_t payload;       ///< bytes of payload before any trimming, without pad
  uint16_t tx_timestamp;  ///< TSETH; of answers that of what they answer (CC_STATE, NETH); PETH, ERTH, EETH
  uint32_t dqp, psn;
  union {
    DataFields data;
    SackFields sack;
    NackFields nack;
    ProbeFields probe;
  };
};

/// One packet. A fabric of 100 000 NICs has twenty million of them at a time, so it has the size of a cache line and a
/// half. A copy is in no list and has no attachment; one that is assigned to keeps both.
struct alignas(32) Packet : PacketFields {
  Packet() = default;
  Packet(const Packet& other) : PacketFields(other) {
    next = nullptr;
    attached = false;
  }
  Packet& operator=(const Packet& other) {
    Packet* const list = next;
    const bool own = attached;
    PacketFields::operator=(other);
    next = list;
    attached = own;
    return *this;
  }
  inline Attachment* attachment() const;
};
static_assert(sizeof(Packet) == 96, "one cache line and a half");

/// Gives a packet back to its pool.
struct Recycle {
  inline void operator()(Packet* packet) const;
};
using PacketPtr = std::unique_ptr<Packet, Recycle>;

/// Free packets of which one thread has too many, for the others that work with it.
class PacketDepot {
 public:
  void give(std::span<Packet* const> chains);
  /// Null: it is empty.
  Packet* take();

 private:
  std::mutex mutex_;
  std::vector<Packet*> chains_;
};

/// Packets by the slab. Never gives memory back before its end; must outlive its packets. Not thread-safe, but for one
/// thing: threads that share a depot and have a pool each (WorkOfThread) may give back packets of all of them. Whoever
/// gives a packet back keeps it for the next one that he makes: nobody waits for his own packets, and what one has too
/// many of goes through the depot. Pools of one depot end together.
class PacketPool {
 public:
  explicit PacketPool(PacketDepot* depot = nullptr) : depot_(depot) {}
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;
  ~PacketPool();

  /// A packet of which the first 64 bytes are zero (hop limit 64); what its opcode has of its own is undefined.
  PacketPtr make() {
    if (free_ == nullptr) refill();
    Packet* packet = free_;
    free_ = packet->next;
    __builtin_prefetch(free_, 1);  // it may have been away
    --free_packets_;
    ++live_;
    std::memset(static_cast<void*>(packet), 0, kCleared);
    packet->hop_limit = 64;
    return PacketPtr(packet);
  }
  /// A packet around the bytes of a frame (destination MAC to ICRC); all fields are read from it as far as they are
  /// there, the rest is zero.
  PacketPtr from_frame(std::span<const uint8_t> frame, const wire::WireConfig& config = {});

  /// Gives a packet an (empty) attachment.
  Attachment& attach(Packet& packet);

  /// Packets made here less those given back here; of all pools of a depot together: packets that are out.
  int64_t live() const { return live_; }
  /// Bytes taken from the system.
  uint64_t memory() const;

 private:
  friend struct Recycle;
  friend class WorkOfThread;
  static constexpr size_t kSlabBytes = size_t{64} * 1024;
  static constexpr size_t kSmallSlabs = 16;  // before memory comes by the huge page
  static constexpr size_t kCleared = 64;
  // Packets of a slab, and free ones that go from hand to hand at once.
  static constexpr unsigned kChain = (kSlabBytes - sizeof(Packet)) / sizeof(Packet);
  /// Where packets lie, at a multiple of its size.
  struct Slab {
    explicit Slab(PacketPool* owner) : pool(owner) {}
    Slab(const Slab&) = delete;
    Slab& operator=(const Slab&) = delete;
    ~Slab();
    PacketPool* const pool;
    /// Of each packet, null if it has none. No table: no packet ever had one.
    std::atomic<Attachment**> attachments{nullptr};
    Packet packets[kChain];
  };
  static Slab& slab_of(const Packet* packet) {
    auto* bytes = reinterpret_cast<std::byte*>(const_cast<Packet*>(packet));
    return *reinterpret_cast<Slab*>(bytes - (reinterpret_cast<uintptr_t>(packet) & (kSlabBytes - 1)));
  }
  static PacketPool& owner(const Packet* packet) { return *slab_of(packet).pool; }
  static Attachment*& place(const Packet* packet) {
    Slab& slab = slab_of(packet);
    return slab.attachments.load(std::memory_order_acquire)[packet - slab.packets];
  }
  friend struct Packet;
  /// Whose it is from now on.
  PacketPool& keeper() { return depot_ != nullptr && t_pool != nullptr && t_pool->depot_ == depot_ ? *t_pool : *this; }
  void put(Packet* packet) {
    if (packet->attached) [[unlikely]]
      detach(packet);
    --live_;
    if (free_packets_ == kChain) [[unlikely]]
      store_chain();
    packet->next = free_;
    free_ = packet;
    ++free_packets_;
  }
  void refill();
  void store_chain();
  void grow();
  void detach(Packet* packet);

  static constexpr size_t kChainsOfOneself = 64;  // before half of them go to the depot

  Packet* free_ = nullptr;
  unsigned free_packets_ = 0;    // in that list
  std::vector<Packet*> chains_;  // lists of kChain free ones
  int64_t live_ = 0;
  PacketDepot* depot_;
  std::vector<void*> small_, huge_;  // memory of one slab, and of a huge page of them
  size_t slabs_ = 0, left_ = 0;      // left of the newest huge page
  std::vector<std::unique_ptr<Attachment>> spare_;
  static constinit inline thread_local PacketPool* t_pool = nullptr;
};

/// While it is there, the calling thread gives packets of that pool's depot back to that pool.
class WorkOfThread {
 public:
  explicit WorkOfThread(PacketPool& pool) { PacketPool::t_pool = &pool; }
  ~WorkOfThread() { PacketPool::t_pool = nullptr; }
  WorkOfThread(const WorkOfThread&) = delete;
  WorkOfThread& operator=(const WorkOfThread&) = delete;
};

void Recycle::operator()(Packet* packet) const { PacketPool::owner(packet).keeper().put(packet); }

Attachment* Packet::attachment() const { return attached ? PacketPool::place(this) : nullptr; }

/// A packet with the same fields and attachment.
PacketPtr copy(PacketPool& pool, const Packet& packet);

/// The bytes of the frame, empty if the packet has none.
inline std::span<const uint8_t> frame_of(const Packet& packet) {
  return packet.attached ? std::span<const uint8_t>(packet.attachment()->bytes) : std::span<const uint8_t>();
}

namespace frame {  // the same changes in the bytes; only called when there are any
void set_traffic_class(Packet& packet);
void set_destination(Packet& packet);
void cut(Packet& packet);
void swap_addresses(Packet& packet);
}  // namespace frame

inline bool has_bytes(const Packet& packet) { return packet.attached && !packet.attachment()->bytes.empty(); }
/// ECN of the outermost IP header becomes congestion experienced.
inline void mark_ce(Packet& packet) {
  packet.ecn = 3;
  if (has_bytes(packet)) frame::set_traffic_class(packet);
}
/// Outermost destination, segments left and hop limit as the packet's fields say now. Called once per hop by switches.
inline void sync_forwarding(Packet& packet) {
  if (has_bytes(packet)) frame::set_destination(packet);
}
/// Keeps at most `size` bytes of the frame, and gives it the code point. All length fields stay; with `lengths` that of
/// the outermost IP header becomes what is left (mrc.md section 4; A-15).
inline void trim(Packet& packet, unsigned size, uint8_t dscp, bool lengths = false) {
  packet.dscp = dscp & 63;
  if (packet.size > size) {
    packet.size = static_cast<uint16_t>(size);
    packet.trimmed = true;
  }
  if (lengths) packet.bth |= kLengthCut;
  if (has_bytes(packet)) frame::cut(packet);
}
/// The packet goes to its sender: by an outermost IPv6 header of its own to there (SRv6), or, without one, as a switch
/// knows the way that it came. swap: its source and destination addresses are exchanged; otherwise they stay.
inline void turn_back(Packet& packet, bool swap) {
  packet.dst = host_address(packet.src);
  packet.segments_left = 0;
  if (swap) {
    std::swap(packet.src, packet.dst_host);
    if (has_bytes(packet)) frame::swap_addresses(packet);
  }
  sync_forwarding(packet);
}

}  // namespace mrc::sim

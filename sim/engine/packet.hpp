// SPDX-License-Identifier: Apache-2.0
/// A packet on its way through the fabric: the fields that switches and fast endpoints look at, and, where an endpoint
/// wants bytes, the frame itself. Whoever changes a packet uses the functions below, which keep both the same.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
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
  uint16_t tx_timestamp, ooo_count;
  uint8_t m, pr, mpr, cc_flags, rcv_cwnd_pen, restore_cwnd;
};
/// NACK (NETH).
struct NackFields {
  uint32_t entropy, nack_psn;
  uint16_t tx_timestamp;
  uint8_t reason, cc_flags;
};
/// Probes and endpoint packets (PETH, ERTH, EETH).
struct ProbeFields {
  uint32_t port_status_mask;
  uint16_t probe_id, tx_timestamp;
  uint8_t op;
};

/// What only some packets have.
struct Attachment {
  std::vector<uint8_t> bytes;  ///< the frame, destination MAC to ICRC, without FCS; empty: fields only
  Address segment;             ///< segment list [0] of the SRH (MRC has one segment)
};

/// One packet. The first 64 bytes are all that links and switches touch.
struct alignas(64) Packet {
  Packet* next;  ///< list it is in; the owner's
  Time at_ps;    ///< when the far end of the link sees it; set by the link
  Address dst;   ///< of the outermost IP header: the path with SRv6
  Attachment* attachment;
  uint32_t entropy;   ///< EV: UDP source port in the upper half, flow label in the lower
  uint32_t src;       ///< number of the sending host (low half of its address)
  uint16_t size;      ///< bytes of the frame, without FCS
  uint8_t dscp, ecn;  ///< of the outermost IP header
  uint8_t hop_limit;
  Stack stack;
  uint8_t segments_left;
  uint8_t plane;  ///< the sender's port

  Time sent_ps;  ///< start of transmission at the sender's port; set by the fabric
  uint32_t dqp, psn;
  uint8_t opcode, bth;    ///< wire::Opcode; BthBit
  uint16_t payload;       ///< bytes of payload before any trimming, without pad
  uint32_t dst_host;      ///< number of the host it is meant for (inner destination address)
  uint16_t tx_timestamp;  ///< TSETH
  uint16_t full_size;     ///< size as sent
  union {
    DataFields data;
    SackFields sack;
    NackFields nack;
    ProbeFields probe;
  };
};
static_assert(sizeof(Packet) == 128, "two cache lines");

/// Gives a packet back to its pool.
struct Recycle {
  inline void operator()(Packet* packet) const;
};
using PacketPtr = std::unique_ptr<Packet, Recycle>;

/// Packets by the slab. Never gives memory back before its end; must outlive its packets. Not thread-safe, but for one
/// thing: of several threads that have a number (WorkOfThread) and a pool each, every one may give back packets of all.
class PacketPool {
 public:
  static constexpr unsigned kNobody = ~0u;
  /// thread: whose it is, of `threads`; what others give back it has again after take_back().
  explicit PacketPool(unsigned thread = kNobody, unsigned threads = 0) : thread_(thread), away_(threads) {}
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;
  ~PacketPool();

  /// A packet of which the first 64 bytes are zero (hop limit 64) and everything else is undefined.
  PacketPtr make() {
    if (free_ == nullptr) grow();
    Packet* packet = free_;
    free_ = packet->next;
    __builtin_prefetch(free_, 1);  // it may have been away
    ++live_;
    packet->next = nullptr;
    packet->at_ps = 0;
    packet->dst = {};
    packet->attachment = nullptr;
    packet->entropy = packet->src = 0;
    packet->size = 0;
    packet->dscp = packet->ecn = 0;
    packet->hop_limit = 64;
    packet->stack = Stack::Other;
    packet->segments_left = packet->plane = 0;
    return PacketPtr(packet);
  }
  /// A packet around the bytes of a frame (destination MAC to ICRC); all fields are read from it as far as they are
  /// there, the rest is zero.
  PacketPtr from_frame(std::span<const uint8_t> frame, const wire::WireConfig& config = {});

  /// Gives a packet an (empty) attachment.
  Attachment& attach(Packet& packet);

  /// What other threads have given back; while none of them is at work.
  void take_back();

  /// Packets that are out, or not taken back.
  uint64_t live() const { return live_; }
  /// Bytes taken from the system.
  uint64_t memory() const;

 private:
  friend struct Recycle;
  friend class WorkOfThread;
  struct alignas(64) Away {
    Packet *head = nullptr, *tail = nullptr;
    uint64_t packets = 0;
  };
  static constexpr size_t kSlabBytes = size_t{64} * 1024, kHugeBytes = size_t{2} * 1024 * 1024;
  static constexpr size_t kSmallSlabs = 16;  // before memory comes by the huge page
  struct Slab;
  static PacketPool& owner(const Packet* packet) {
    // The slab's first bytes hold its pool.
    const auto* bytes = reinterpret_cast<const std::byte*>(packet);
    return **reinterpret_cast<PacketPool* const*>(bytes - (reinterpret_cast<uintptr_t>(packet) & (kSlabBytes - 1)));
  }
  void put(Packet* packet) {
    if (thread_ != t_thread && t_thread != kNobody && thread_ != kNobody) [[unlikely]] {
      put_away(packet);
      return;
    }
    if (packet->attachment != nullptr) detach(packet);
    packet->next = free_;
    free_ = packet;
    --live_;
  }
  void put_away(Packet* packet);
  void grow();
  void detach(Packet* packet);

  Packet* free_ = nullptr;
  uint64_t live_ = 0;
  std::vector<void*> memory_;  // as the system gave it
  size_t slabs_ = 0;
  char *huge_ = nullptr, *huge_end_ = nullptr;  // slabs not used yet
  std::vector<std::unique_ptr<Attachment>> spare_;
  unsigned thread_;
  std::vector<Away> away_;  // by the thread that gave them back
  static constinit inline thread_local unsigned t_thread = kNobody;
};

/// While it is there, the calling thread is that of this number.
class WorkOfThread {
 public:
  explicit WorkOfThread(unsigned number) { PacketPool::t_thread = number; }
  ~WorkOfThread() { PacketPool::t_thread = PacketPool::kNobody; }
  WorkOfThread(const WorkOfThread&) = delete;
  WorkOfThread& operator=(const WorkOfThread&) = delete;
};

void Recycle::operator()(Packet* packet) const { PacketPool::owner(packet).put(packet); }

/// The bytes of the frame, empty if the packet has none.
inline std::span<const uint8_t> frame_of(const Packet& packet) {
  return packet.attachment ? std::span<const uint8_t>(packet.attachment->bytes) : std::span<const uint8_t>();
}

namespace frame {  // the same changes in the bytes; only called when there are any
void set_traffic_class(Packet& packet);
void set_destination(Packet& packet);
void cut(Packet& packet);
}  // namespace frame

inline bool has_bytes(const Packet& packet) {
  return packet.attachment != nullptr && !packet.attachment->bytes.empty();
}
/// ECN of the outermost IP header becomes congestion experienced.
inline void mark_ce(Packet& packet) {
  packet.ecn = 3;
  if (has_bytes(packet)) frame::set_traffic_class(packet);
}
inline void set_dscp(Packet& packet, uint8_t dscp) {
  packet.dscp = dscp;
  if (has_bytes(packet)) frame::set_traffic_class(packet);
}
/// Outermost destination, segments left and hop limit as the packet's fields say now. Called once per hop by switches.
inline void sync_forwarding(Packet& packet) {
  if (has_bytes(packet)) frame::set_destination(packet);
}
/// Keeps at most `size` bytes of the frame, and gives it the code point. All length fields stay; with `lengths` that of
/// the outermost IP header becomes what is left (mrc.md section 4; A-15).
inline void trim(Packet& packet, unsigned size, uint8_t dscp, bool lengths = false) {
  packet.dscp = dscp;
  if (packet.size > size) packet.size = static_cast<uint16_t>(size);
  if (lengths) packet.bth |= kLengthCut;
  if (has_bytes(packet)) frame::cut(packet);
}

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
/// Where a packet goes: uN and uA (RFC 9800 NEXT-CSID, F3216), static routes, ECMP.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/packet.hpp"

namespace mrc::sim {

/// Address = 32-bit block, 16-bit active uSID, 80 bits of argument.
constexpr uint64_t usid_key(uint32_t block, uint16_t usid) { return uint64_t{block} << 16 | usid; }
constexpr uint64_t usid_key(Address address) { return address.hi >> 16; }
constexpr bool argument_zero(Address a) { return (a.hi & 0xffff) == 0 && a.lo == 0; }
/// Block, argument, 0x0000.
constexpr Address shift_usid(Address a) {
  const uint64_t block = a.hi & 0xffff'ffff'0000'0000u;
  return {block | (a.hi & 0xffff) << 16 | a.lo >> 48, a.lo << 16};
}

enum class Verdict : uint8_t {
  Forward,
  NoRoute,     ///< neither local SID nor route
  HopLimit,    ///< used up
  ToSelf,      ///< end of carrier without a further segment: this node is the destination
  TooManySids  ///< more local SIDs in one address than it has room for
};
struct Decision {
  Verdict verdict;
  uint16_t port;  ///< egress, the switch's number
};

/// 48-bit matches: what is local (uN, uA), and static routes. Small: a slot is 16 bytes, and at least three of eight of
/// a table are used. (A T0 of the paper's fabric has 769 entries, and 16 KB of the first level of the cache.)
class UsidTable {
 public:
  enum class Local : uint8_t { None, Node, Adjacency };  ///< uN; uA
  struct Entry {
    uint64_t key = 0;
    bool used = false;
    Local local = Local::None;
    uint16_t local_port = 0;    ///< of a uA
    uint16_t route = kNoRoute;  ///< port of a static route
  };
  static constexpr uint16_t kNoRoute = 0xffff;
  /// Each replaces what was set before for that key.
  void set_local(uint64_t key, Local local, uint16_t port = 0);
  void set_route(uint64_t key, uint16_t port);
  /// An entry that is not used: there is none.
  const Entry& find(uint64_t key) const {
    for (uint64_t i = key * 0x9e3779b97f4a7c15u >> shift_;; ++i) {
      const Entry& e = slots_[i & mask_];
      if (e.key == key || !e.used) return e;
    }
  }
  /// Fetches what find() will read.
  void fetch(uint64_t key) const { __builtin_prefetch(&slots_[(key * 0x9e3779b97f4a7c15u >> shift_) & mask_]); }
  size_t size() const { return used_; }
  uint64_t memory() const { return slots_.capacity() * sizeof(Entry); }

 private:
  Entry& make(uint64_t key);

  std::vector<Entry> slots_ = std::vector<Entry>(2);
  uint64_t mask_ = 1;
  unsigned shift_ = 63;
  size_t used_ = 0;
};

/// Routes to hosts by number, each to a group of ports with equal cost.
class HostRoutes {
 public:
  /// A group; ports may be empty (no route). Returns its number.
  uint16_t add_group(std::vector<uint16_t> ports);
  void set(uint32_t host, uint16_t group);
  /// A port of the switch went down or came up: groups that have others do without it.
  void port_changed(uint16_t port, bool up);
  /// Forward or NoRoute. Hash over source, destination and EV.
  Decision find(uint32_t host, uint32_t src, uint32_t entropy, uint64_t seed) const;
  uint64_t memory() const;

 private:
  struct Group {
    std::vector<uint16_t> all, up;
  };
  std::vector<Group> groups_;
  std::vector<uint16_t> group_of_;
  std::vector<bool> down_;
};

/// Tables of one switch.
struct ForwardingTables {
  UsidTable usid;
  HostRoutes hosts;
  uint64_t ecmp_seed = 0;
};

/// Hash of what tells flows apart, for ECMP.
constexpr uint64_t flow_hash(uint32_t src, uint32_t dst, uint32_t entropy, uint64_t seed) {
  uint64_t z = (uint64_t{src} << 32 | dst) + seed * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 32) * 0xd6e8feb86659fd93u ^ entropy;
  z = (z ^ z >> 32) * 0xd6e8feb86659fd93u;
  z = (z ^ z >> 32) * 0xd6e8feb86659fd93u;
  return z ^ z >> 32;
}

/// Decides, and changes destination, segments left and hop limit as the node does: a local SID wins over a route when
/// the packet comes in; the address that it leaves is routed, and looked at as a local SID again (uN, then uA) only
/// where there is no route. The frame's bytes are not touched: sync_forwarding() follows.
Decision forward(const ForwardingTables& tables, Packet& packet);

/// Fetches what forward() will read for an address of uSIDs.
inline void fetch_routes(const UsidTable& usid, Address dst) {
  usid.fetch(usid_key(dst));
  usid.fetch(usid_key(shift_usid(dst)));
}
/// Where forward() will send it, as far as two uSIDs tell; kNoRoute: they do not.
inline uint16_t likely_port(const UsidTable& usid, Address dst) {
  const UsidTable::Entry& here = usid.find(usid_key(dst));
  if (here.local == UsidTable::Local::Adjacency) return here.local_port;
  return here.local == UsidTable::Local::Node ? usid.find(usid_key(shift_usid(dst))).route : here.route;
}

}  // namespace mrc::sim

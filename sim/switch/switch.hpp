// SPDX-License-Identifier: Apache-2.0
/// A switch: forwarding, shared buffer, egress queues with ECN and trimming.
///
/// What happens to a packet that arrives:
///  1. forward(): uN, uA, static route, or ECMP to a host. No route, hop limit used up, or the switch itself as the
///     destination: discarded at the ingress port.
///  2. The egress port has no carrier: discarded there (trim_to_sender: sent back as below).
///  3. The code point chooses the queue. admits() says no: dropped; trimmed if the queue trims, the code point is
///     trimmable and the packet is no trimmed one already: cut to trim_size, code point of the egress port, to the
///     trim queue. If that refuses it too: dropped. With trim_to_sender it gets the code point of returned packets and
///     goes to the trim queue of the port that leads to its sender.
///  4. marks() with the depth it makes: ECN-CE, if it is ECN-capable and not trimmed.
///  5. Idle port: transmission begins at once. Otherwise it waits; next_queue() chooses when the port becomes free.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/switch/depths.hpp"
#include "sim/switch/forwarding.hpp"
#include "sim/switch/queueing.hpp"
#include "sim/switch/switch_config.hpp"

namespace mrc::sim {

class Fabric;
struct Port;
struct Shard;

/// A counter with its name in SAI.
using NamedCounter = std::pair<std::string_view, uint64_t>;

class Switch {
 public:
  Switch(Fabric& fabric, Shard& shard, PortId first, unsigned ports, const SwitchConfig& config, uint64_t seed);

  const SwitchConfig& config() const { return config_; }
  ForwardingTables& tables() { return tables_; }
  const ForwardingTables& tables() const { return tables_; }

  // Tables, by 48 bits of the destination (the block is the switch's own). False: no such port.
  /// uN of this switch in addition to config().usid.
  void add_node_sid(uint16_t usid);
  /// uA: as uN, then out of that port.
  bool add_adjacency_sid(uint16_t usid, unsigned port);
  /// Static route to another switch's (or the downlink's) uSID.
  bool add_route(uint16_t usid, unsigned port);
  /// Routes to hosts without SRv6: all ports with equal cost.
  bool add_host_route(uint32_t host, std::vector<uint16_t> ports);
  /// The same for many hosts with one group.
  bool add_host_routes(uint32_t first_host, uint32_t hosts, std::vector<uint16_t> ports);

  /// Those that packets can be in: the first ones of each port.
  unsigned used_queues() const { return used_queues_; }
  /// Bytes that wait in a queue now.
  uint64_t depth(unsigned port, unsigned queue) const {
    return queue < used_queues_ ? queues_[size_t{port} * used_queues_ + queue].bytes : 0;
  }
  QueueCounters queue_counters(unsigned port, unsigned queue) const {
    return queue < used_queues_ ? queues_[size_t{port} * used_queues_ + queue].counters() : QueueCounters{};
  }
  const SharedBuffer& buffer() const { return buffer_; }
  /// What packets found in front of them in the data queues of all ports to hosts, or of all to switches.
  const Depths& found(bool to_host) const { return found_[to_host]; }
  /// The queue of a port that packets of found() are in.
  unsigned data_queue() const { return data_queue_; }
  /// Port, queue and switch counters by their names in SAI. A port's trims are those of its queues.
  std::vector<NamedCounter> port_counters(unsigned port) const;
  std::vector<NamedCounter> queue_counter_list(unsigned port, unsigned queue) const;
  std::vector<NamedCounter> switch_counters() const;
  uint64_t memory() const;

  // For Fabric.

  /// A packet is decided on now. Takes it over.
  void receive(Packet* packet, unsigned ingress);
  /// A port with waiting packets has become free.
  void port_free(unsigned port);
  /// Discards what waits for a port.
  void flush(unsigned port);
  /// A port has lost its carrier: what waits for it is sent back, if the switch does that, or discarded.
  void link_lost(unsigned port);
  void port_changed(unsigned port, bool up);
  void set_port_config(unsigned port, bool to_host);
  /// Fetches what port_free() reads: the port, then the packet.
  void fetch(unsigned port) const {
    __builtin_prefetch(&ports_[port]);
    __builtin_prefetch(&queues_[size_t{port} * used_queues_ + data_queue_]);
  }
  /// Fetches what receive() reads: the routes, then what it writes at the port that they name.
  void fetch_routes(const Packet& packet) const {
    if (packet.dst.hi != kHostPrefix) sim::fetch_routes(tables_.usid, packet.dst);
  }
  void fetch_way(const Packet& packet) const;
  void fetch_packet(unsigned port) const {
    const Egress& egress = ports_[port];
    if (egress.used == 0) return;
    __builtin_prefetch(
        queues_[size_t{port} * used_queues_ + static_cast<unsigned>(std::countr_zero(egress.used))].head);
  }

 private:
  struct Egress {
    const PortConfig* config = nullptr;
    uint32_t waiting = 0;  // packets in all queues
    uint8_t turn = 0;
    uint8_t used = 0;  // bit q: queue q has packets
  };
  std::span<Queue> queues(unsigned port) { return {&queues_[size_t{port} * used_queues_], used_queues_}; }
  unsigned next(Egress& egress, std::span<Queue> queues);
  bool admit(Egress& egress, std::span<Queue> queues, Packet* packet);
  void put(Egress& egress, Queue& queue, const QueueConfig& config, unsigned q, Packet* packet);
  /// A port that had `before` packets waiting has one more.
  void began(unsigned port, unsigned before);
  bool may_return(const Packet& packet) const {
    return config_.trim_to_sender && (config_.trimmable >> (packet.dscp & 63) & 1) != 0;
  }
  void empty(unsigned port, bool returns);
  /// Trims a packet that a queue has not admitted, or whose port is down, and sends it to its sender. Takes it over.
  void send_back(Packet* packet, QueueLosses& counters);

  Fabric& fabric_;
  Shard& shard_;
  PortId first_;
  SwitchConfig config_;
  ForwardingTables tables_;
  uint64_t trimmed_codes_;  // bit d: packets with DSCP d are trimmed ones
  SharedBuffer buffer_;
  Rng rng_;
  std::pmr::vector<Egress> ports_;
  unsigned used_queues_ = 1, data_queue_ = 0;  // of each port; those behind never have a packet
  std::pmr::vector<Queue> queues_;
  std::array<Depths, 2> found_;  // behind ports to switches, to hosts
};

}  // namespace mrc::sim

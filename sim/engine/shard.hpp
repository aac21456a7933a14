// SPDX-License-Identifier: Apache-2.0
/// What a thread of the packet engine has of its own.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/engine/event_queue.hpp"
#include "sim/engine/huge.hpp"
#include "sim/engine/packet.hpp"
#include "sim/engine/port.hpp"

namespace mrc::sim {

/// Packets that go from one shard to another.
struct Transit {
  struct Item {
    Packet* packet;
    Time at;
    PortId port;
  };
  std::vector<Item> items;
  uint64_t memory() const { return items.capacity() * sizeof(Item); }
};

/// Events of the window that is open, each given to its node. They come in any order, and lie side by side for the node
/// that is at work.
class NearEvents {
 public:
  struct Event {
    uint32_t ahead;  ///< ps since the window's start
    uint32_t key;
  };
  explicit NearEvents(HugeMemory& huge) : given_(&huge), sorted_(&huge) {}

  /// counts: one for each node, 0 for those that have no events. They are this object's until clear().
  void add(uint32_t ahead, uint32_t key, NodeId node, std::vector<uint32_t>& counts) {
    if (counts[node]++ == 0) nodes_.push_back(node);
    given_.push_back({{ahead, key}, node});
  }
  /// From now on of() works.
  void sort(std::vector<uint32_t>& counts);
  size_t nodes() const { return nodes_.size(); }
  NodeId node(size_t i) const { return nodes_[i]; }
  std::span<const Event> of(size_t i, const std::vector<uint32_t>& counts) const {
    const uint32_t begin = i == 0 ? 0 : counts[nodes_[i - 1]];
    return {&sorted_[begin], counts[nodes_[i]] - begin};
  }
  void clear(std::vector<uint32_t>& counts);
  uint64_t memory() const {
    return given_.capacity() * sizeof(Given) + sorted_.capacity() * sizeof(Event) + nodes_.capacity() * sizeof(NodeId);
  }

 private:
  struct Given {
    Event event;
    NodeId node;
  };
  std::pmr::vector<Given> given_;
  std::pmr::vector<Event> sorted_;
  std::vector<NodeId> nodes_;
};

/// Nodes that are worked on by one thread, and what they share.
struct alignas(64) Shard {
  using WindowQueue = EventWheel<10>;

  /// depot: null, where there is one thread.
  Shard(unsigned thread, unsigned threads, PacketDepot* depot)
      : number(static_cast<uint8_t>(thread)), pool(depot), from_switches(threads), from_nics(threads) {}

  const uint8_t number;
  Time now = 0;
  uint64_t events = 0, digest = 0;
  EventQueue queue;
  PacketPool pool;
  std::unordered_map<PortId, PortLosses> losses;  // what its nodes have counted
  HugeMemory huge;
  std::pmr::monotonic_buffer_resource tables{&huge};  // of its switches: they live as long as it does

  // The window that is open.
  NodeId window_node = kNone;
  bool window_nics = false;                   // all switches are done
  std::unique_ptr<WindowQueue> window_queue;  // events of the node at work
  std::pmr::vector<NearEvents::Event> taken{&huge};
  NearEvents near_switches{huge}, near_nics{huge};
  Time last = 0, stopped = kNever;
  std::exception_ptr thrown;

  /// To each shard: what switches have sent in this window, what NICs have.
  std::vector<Transit> from_switches, from_nics;
  Time next_from_nics = kNever;  // the first arrival among the latter

  uint64_t memory() const {
    uint64_t bytes = pool.memory() + losses.size() * (sizeof(PortId) + sizeof(PortLosses)) + queue.memory() +
                     taken.capacity() * sizeof(NearEvents::Event) + near_switches.memory() + near_nics.memory() +
                     (window_queue ? window_queue->memory() : 0);
    for (const auto* list : {&from_switches, &from_nics}) {
      for (const Transit& t : *list) bytes += t.memory();
    }
    return bytes;
  }
};

/// Threads that wait for work.
class Team {
 public:
  /// With the caller there are `threads`. Throws std::system_error: the system does not give so many.
  explicit Team(unsigned threads);
  ~Team();
  /// Calls f(0) here and f(1), f(2), ... in the others; comes back when all have. What f throws is the caller's error.
  void run(const std::function<void(unsigned)>& f);

 private:
  struct Members;
  std::unique_ptr<Members> members_;
};

}  // namespace mrc::sim

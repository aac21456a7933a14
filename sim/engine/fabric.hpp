// SPDX-License-Identifier: Apache-2.0
/// The fabric: nodes, links, time.
///
///     Fabric fabric({.seed = 1});
///     NodeId t0 = fabric.add_switch(SwitchConfig::recommended("T0", 100'000), 4);
///     NodeId nic = fabric.add_endpoint("nic0", std::make_unique<MyEndpoint>(), 1);
///     fabric.connect({nic, 0}, {t0, 0}, {.gbps = 800, .metres = 2});
///     fabric.at(10 * kUs, [&] { fabric.set_link(0, false); });
///     fabric.run(kMs);
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/engine/endpoint.hpp"
#include "sim/engine/packet.hpp"
#include "sim/engine/port.hpp"
#include "sim/engine/shard.hpp"
#include "sim/engine/units.hpp"
#include "sim/switch/switch_config.hpp"
#include "wire/result.hpp"

namespace sc_core {
class sc_event;
}

namespace mrc::sim {

class Switch;

struct FabricOptions {
  uint64_t seed = 1;
  /// Fabric::allow_windows(): with so many nodes or more, and while a node that has events in a window has so many on
  /// average (else events come in their order for a while). 0: always.
  unsigned window_nodes = 64, window_events = 8;
  /// Windows are worked through by so many threads (1 to kMaxThreads), each with the nodes that place() gives it. What
  /// happens is the same, to the event.
  unsigned threads = 1;
};

inline constexpr unsigned kMaxThreads = 64;

/// One end of a link: a node and its port (an endpoint's port is its plane).
struct PortRef {
  NodeId node = 0;
  unsigned port = 0;
};

struct LinkConfig {
  double gbps = 800;
  double metres = 2;  ///< 5 ns each
  Time fec = 0;       ///< delay of forward error correction, each direction (base.md "800G": 51.2 ns a codeword)
  Time detect = 0;    ///< from a change of the link to link_changed() and the ECMP groups
  bool operator==(const LinkConfig&) const = default;
};

/// What a link does to packets, one direction.
struct Impairment {
  double loss = 0;                    ///< probability of each packet
  std::optional<uint32_t> entropy{};  ///< only packets with this EV, under entropy_mask
  uint32_t entropy_mask = ~0u;
};

/// Counts of one direction of a link.
struct LinkStats {
  uint64_t packets = 0, bytes = 0;  ///< begun by the transmitter; bytes of frames without FCS
  uint64_t lost = 0;                ///< of these, by impairment or because the link went down
};

/// Sees every packet whose transmission begins on a link's direction (lost ones too), before the far end has it.
class Tap {
 public:
  virtual ~Tap() = default;
  virtual void sent(LinkId link, bool from_a, Time start, const Packet& packet, bool lost) = 0;
};

/// Takes packets out of a fabric, where a link ends outside (sim/engine/cell.hpp).
class Exit {
 public:
  virtual ~Exit() = default;
  /// A port begins to send a packet, which is the exit's from now on. Returns when the port can send again; `free` is
  /// what its rate says. kNever: Cell::release() will tell.
  virtual Time leave(unsigned port, PacketPtr packet, Time start, Time free) = 0;
};

/// Why run() came back.
enum class RunEnd : uint8_t {
  Reached,  ///< the time given has come
  Idle,     ///< nothing will ever happen again
  Stopped   ///< stop() was called
};

class Fabric {
 public:
  /// Throws std::system_error: there are no such threads to be had.
  explicit Fabric(const FabricOptions& options = {});
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  // Building, before the first run().

  /// There will be so many: their memory is taken at once.
  void reserve(size_t nodes, size_t ports, size_t links);
  unsigned threads() const { return static_cast<unsigned>(shards_.size()); }
  /// Nodes that are added from now on belong to that thread, 0 to threads() - 1. Those that talk most with each other
  /// should have the same one.
  void place(unsigned thread) { placed_ = static_cast<uint8_t>(thread); }
  /// Error: a configuration that cannot work.
  /// seed: of its random marks, if not switch_seed() of its node.
  wire::Result<NodeId> add_switch(const SwitchConfig& config, unsigned ports, std::optional<uint64_t> seed = {});
  /// number: the host's, in addresses and in what it tells, if not its node's.
  wire::Result<NodeId> add_endpoint(std::string name, std::unique_ptr<Endpoint> endpoint, unsigned planes,
                                    std::optional<NodeId> number = {});
  /// Error: no such node or port, port in use, a rate of zero, a length below zero.
  wire::Result<LinkId> connect(PortRef a, PortRef b, const LinkConfig& config);

  // What is there.

  size_t nodes() const { return nodes_.size(); }
  size_t links() const { return links_.size(); }
  const std::string& name(NodeId node) const { return nodes_[node].name; }
  std::optional<NodeId> find(std::string_view name) const;
  /// Null: the node is the other kind.
  Switch* switch_at(NodeId node) { return nodes_[node].sw.get(); }
  const Switch* switch_at(NodeId node) const { return nodes_[node].sw.get(); }
  Endpoint* endpoint_at(NodeId node) { return nodes_[node].endpoint.get(); }
  unsigned ports_of(NodeId node) const { return nodes_[node].ports; }
  std::pair<PortRef, PortRef> ends(LinkId link) const { return {links_[link].a, links_[link].b}; }
  LinkConfig link_config(LinkId link) const { return link_configs_[links_[link].config]; }
  /// Seeds that follow from the fabric's: for the same switch or link outside of it.
  uint64_t switch_seed(NodeId node) const;
  uint64_t link_seed(LinkId link, bool from_a) const;
  /// The link at a port, kNone if it is free.
  LinkId link_at(PortRef port) const;

  // Time.

  Time now() const { return shards_.front()->now; }
  /// From inside a callback of that node: its time, which in a window is not that of others.
  Time now_at(NodeId node) const { return shards_[nodes_[node].shard]->now; }
  /// Calls f at that time, before any packet of the same time; calls of one time in the order given. Not in the past.
  void at(Time time, std::function<void()> f);
  /// Who hears due(). Must outlive the runs; null: nobody.
  void listen(Listener* listener) { listener_ = listener; }
  /// Called as a link goes down or comes up, before its ends know (LinkConfig::detect).
  std::function<void(LinkId, bool up)> on_carrier;
  /// A timer of the host at an endpoint's node: Listener::due() at that time, after all else that happens there then.
  /// From a callback of that node (in windows, too), a hook, or between runs. Earlier calls are replaced, kNever
  /// cancels. Not in the past.
  void due_at(NodeId node, Time time);
  /// Goes on until that time (events of exactly that time have not happened yet). now() is then that time; or that of
  /// the last event, if the fabric stopped or went idle.
  RunEnd run(Time until);
  /// Lets the fabric work through one node after the other, each a window of time at once, instead of all events in
  /// their order: what a node needs of memory is fetched once for many events, and threads can share the nodes. A
  /// window ends before anything that a NIC sends in it can reach a switch, or a switch another one: first all
  /// switches, then all NICs. For each node events come in the same order as without. Whatever stands beside the nodes
  /// (a Listener) must bear that another node's time is ahead or behind, and that several threads call it, each for
  /// nodes of its own; it must not act on other nodes, from callbacks, nor call at() for a time within a window (with
  /// threads: at all). `may` is asked before each window: false, events come in their order for a while. stop() from
  /// inside a window ends the run after the window. Not used with few nodes (FabricOptions), taps, links of a few
  /// metres between switches that take no time, or endpoints that are not apart().
  void allow_windows(std::function<bool()> may) { may_window_ = std::move(may); }
  /// Windows so far.
  uint64_t windows() const { return windows_; }
  /// run() returns after the event in progress.
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  /// Events handled so far: arrivals, ports that became free, timers.
  uint64_t events() const;
  /// A number that any other event, or an event at another time, makes another one; whatever order nodes took turns in.
  uint64_t digest() const;

  // What happens to links and switches, from hooks or between runs.

  /// Down: packets on the way are lost. Both ends hear of it after `detect`: until then what they send is lost; then
  /// what is queued for the link is discarded.
  void set_link(LinkId link, bool up);
  bool link_up(LinkId link) const { return links_[link].up; }
  /// Both directions; packets begun before keep their time. Error: a rate of zero.
  std::optional<wire::Error> set_rate(LinkId link, double gbps);
  /// Replaces what was set; loss 0 ends it.
  void set_impairment(LinkId link, bool from_a, const Impairment& impairment);
  /// All links of the switch go down, everything in it is lost; after down_for those that were up come up again.
  /// Counters are kept. Error: not a switch.
  std::optional<wire::Error> reboot(NodeId node, Time down_for);
  /// Null ends it. Must outlive the fabric or be ended.
  void set_tap(LinkId link, bool from_a, Tap* tap);
  LinkStats stats(LinkId link, bool from_a) const;

  /// Of packets that somebody outside makes; with threads every one has a pool.
  PacketPool& pool() { return shards_.front()->pool; }
  /// Bytes held by nodes, links, packets and events.
  uint64_t memory() const;

  // For processes of SystemC that stand beside the packet engine (sim/engine/systemc.hpp).

  /// From inside a callback of the fabric: notifies an event of SystemC at a time of the fabric, now or later. The
  /// packet engine does not run ahead of it.
  void notify(sc_core::sc_event& event, Time time);

 private:
  friend class Access;
  friend class Cell;
  friend class Switch;
  friend class Kernel;
  friend class FromProcess;
  enum Kind : uint32_t {
    kHook = 0u << 30,
    kWake = 1u << 30,
    kArrival = 2u << 30,
    kTimer = 3u << 30
  };  // order at one time
  static constexpr uint32_t kKindMask = 3u << 30;
  static constexpr uint32_t kHost = 1u << 29;  // a timer of the host, not of its NIC
  struct Node {
    std::string name;
    std::unique_ptr<Switch> sw;
    std::unique_ptr<Endpoint> endpoint;
    PortId first = 0;
    unsigned ports = 0;
    Time wake_ps = kNever, due_ps = kNever;
    uint8_t shard = 0;
  };
  struct Link {
    PortRef a, b;
    uint32_t config;       // in link_configs_
    uint32_t changes = 0;  // of carrier
    uint16_t holds = 0;    // reboots in progress at its ends
    bool up = true;
    bool carrier = true;  // up and not held
  };
  struct Hook {
    Time time;
    uint64_t order;
    std::function<void()> f;
  };
  struct Special;

  const PortTiming& timing(const Port& port) const { return timings_[port.timing]; }
  void set_timing(Port& port, const PortTiming& timing);
  unsigned index_of(PortId id, const Port& port) const { return id - nodes_[port.node].first; }
  bool from_a(PortId id) const { return port_id(links_[port_links_[id]].a) == id; }
  PortLosses losses(PortId id) const;
  PortId port_id(PortRef ref) const { return nodes_[ref.node].first + ref.port; }
  /// Handles events before `limit`; limit_ may shrink on the way.
  void process(Time limit);
  void in_order(Time limit);
  void in_order_of_shards(Time limit);
  inline void handle(Shard& shard, Time time, uint32_t key);
  void timer(uint32_t index, Time time);
  Shard& shard_of(NodeId node) { return *shards_[nodes_[node].shard]; }
  void set_now(Time time) {
    for (const auto& shard : shards_) shard->now = time;
  }
  bool stopped() const { return stop_.load(std::memory_order_relaxed); }
  /// Time of the first event, kNever if there is none.
  Time next_event();
  /// Puts an event of a node of that shard into its queue, or into the window that is open.
  void schedule(Shard& shard, Time time, uint32_t key, NodeId node) {
    if (time >= window_end_) [[likely]] {
      shard.queue.push(time, key);
    } else {
      schedule_near(shard, time, key, node);
    }
  }
  void schedule_near(Shard& shard, Time time, uint32_t key, NodeId node);
  /// Gives the events of a window to their nodes.
  void give_out(Shard& shard);
  bool windows_useful();
  Time window_from(Time start);
  void run_window(Time start, Time end);
  void window_of(Shard& shard, NearEvents& near, Time end);
  /// What other shards have sent to nodes of this one.
  void take_in(Shard& shard, bool from_nics);
  void settle();
  /// Calls work(shard) for each, by its thread.
  template <class F>
  void each_shard(F&& work);
  /// Puts a packet behind those on a port's wire; true: it is the first one there.
  static bool append(Port& port, Packet* packet);
  void cross(Shard& shard, PortId id, Port& port, Packet* packet);
  void fetch(NodeId node, std::span<const NearEvents::Event> events, unsigned step);
  void arrival(Shard& shard, PortId id);
  void port_wake(Shard& shard, PortId id);
  void endpoint_pull(Shard& shard, PortId id, Port& port);
  void run_hooks();
  /// Begins the transmission of a packet; the port must be free and up.
  void transmit(Shard& shard, PortId id, Port& port, Packet* packet);
  bool special(const Shard& shard, PortId id, Port& port, Packet* packet);
  void wake_port(Shard& shard, PortId id, Port& port);
  void carrier_changed(LinkId link);
  void set_port(PortId id, bool up);
  void flush_wire(PortId id);
  void retime(PortId id);
  void retime_node(NodeId node);
  Special& special_of(PortId id);
  void update_special(PortId id);
  void set_exit(PortId id, Exit* exit);
  void begin();

  PacketDepot depot_;                           // of the shards' packets
  std::vector<std::unique_ptr<Shard>> shards_;  // one for each thread
  std::unique_ptr<Team> team_;                  // of more than one
  uint8_t placed_ = 0;
  Time limit_ = 0;
  uint64_t kernel_base_ = 0;  // time of SystemC when this fabric's was 0, modulo 2^64
  std::atomic<bool> stop_ = false;
  bool begun_ = false;
  Listener* listener_ = nullptr;
  uint64_t seed_;
  unsigned window_nodes_, window_events_;

  // Windows.
  std::function<bool()> may_window_;
  Time lookahead_ = 0;                      // 0: to be found
  Time window_start_ = 0, window_end_ = 0;  // of the open one; 0: none
  Time in_order_until_ = 0;
  unsigned pause_ = 1;
  uint64_t windows_ = 0;
  unsigned taps_ = 0;
  std::vector<uint32_t> near_counts_;  // by node: events of the window

  HugeMemory huge_;
  std::pmr::vector<Port> ports_{&huge_};
  std::vector<PortTiming> timings_{{}};
  std::vector<LinkId> port_links_;
  std::vector<Node> nodes_;
  std::vector<Link> links_;
  std::vector<LinkConfig> link_configs_;
  std::vector<std::unique_ptr<Special>> specials_;
  std::vector<Hook> hooks_;  // heap
  uint64_t hook_order_ = 0;
};

Time Access::now() const { return shard_->now; }
PacketPool& Access::pool() const { return shard_->pool; }
void Access::kick(unsigned plane) const {
  fabric_->wake_port(*shard_, first_ + plane, fabric_->ports_[first_ + plane]);
}
bool Access::can_send(unsigned plane) const {
  const Port& port = fabric_->ports_[first_ + plane];
  return port.up && port.free_ps <= shard_->now;
}
Time Access::free_at(unsigned plane) const { return fabric_->ports_[first_ + plane].free_ps; }
bool Access::link_up(unsigned plane) const { return fabric_->ports_[first_ + plane].up; }
Rate Access::rate(unsigned plane) const { return fabric_->timing(fabric_->ports_[first_ + plane]).rate; }
void Access::wake_at(Time time) const {
  Fabric::Node& node = fabric_->nodes_[node_];
  node.wake_ps = time;
  if (time != kNever) fabric_->schedule(*shard_, time, Fabric::kTimer | node_, node_);
}

}  // namespace mrc::sim

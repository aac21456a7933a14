// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/fabric.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/engine/kernel.hpp"
#include "sim/switch/switch.hpp"
#include "util/rng.hpp"
#include "util/round.hpp"

namespace mrc::sim {

/// What only some ports have.
struct Fabric::Special {
  explicit Special(uint64_t seed) : rng(seed, "link") {}
  Impairment impairment;
  Tap* tap = nullptr;
  Exit* exit = nullptr;
  Rng rng;
};

namespace {
constexpr auto kHookLater = [](const auto& a, const auto& b) {
  return a.time != b.time ? a.time > b.time : a.order > b.order;
};
wire::Error refuse(std::string input, std::string what, std::string remedy) {
  return {std::move(input), 0, std::move(what), std::move(remedy)};
}
constexpr unsigned kMaxPorts = 4096;
// A window shorter than this gains nothing.
constexpr Time kLeastWindow = 100 * kNs, kMostWindow = 2 * kUs;
// Time in windows that goes on in order after windows that gained nothing: 1, 2, 4, ...
constexpr unsigned kMostPause = 32;
// So many events of a window are of so many nodes that in order each would come from memory.
constexpr uint64_t kManyEvents = 20'000;
/// A packet that will be looked at soon: a switch reads its first 40 bytes. Two cache lines at most.
inline void fetch_packet(const Packet* packet, bool for_switch) {
  __builtin_prefetch(packet);
  __builtin_prefetch(reinterpret_cast<const char*>(packet) + (for_switch ? 39 : sizeof *packet - 1));
}
/// At one node events come in the order of their time and key, so their sum says all.
inline uint64_t mixed(Time time, uint32_t key) {
  const uint64_t x = (time ^ uint64_t{key} << 32) * 0x9e3779b97f4a7c15;
  return (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
}
/// The place of one of the newest that is the same, or of another one more: a fabric has few kinds of links, and where
/// each is another one nobody looks for long.
template <class T>
uint32_t number_in(std::vector<T>& list, const T& value) {
  constexpr size_t kNewest = 16;
  const size_t count = list.size();
  for (size_t i = count; i-- > count - std::min(count, kNewest);) {
    if (list[i] == value) return static_cast<uint32_t>(i);
  }
  list.push_back(value);
  return static_cast<uint32_t>(count);
}
constexpr const char* kRateRemedy = "Give a rate above 0, for example 100, 400 or 800 Gb/s.";
}  // namespace

Fabric::Fabric(const FabricOptions& options)
    : seed_(options.seed), window_nodes_(options.window_nodes), window_events_(options.window_events) {
  const unsigned threads = std::clamp(options.threads, 1u, kMaxThreads);
  for (unsigned t = 0; t < threads; ++t) {
    shards_.push_back(std::make_unique<Shard>(t, threads, threads > 1 ? &depot_ : nullptr));
  }
  // One thread does what it has in order rather than little at each node; several do that in a fraction of the time.
  if (threads > 1) window_events_ /= 4;
  if (threads > 1) team_ = std::make_unique<Team>(threads);
}

Fabric::~Fabric() {
  for (Port& port : ports_) {
    while (port.head != nullptr) Recycle{}(std::exchange(port.head, port.head->next));
  }
  for (Node& node : nodes_) {
    for (unsigned p = 0; node.sw && p < node.ports; ++p) node.sw->flush(p);
    node.endpoint.reset();
  }
}

void Fabric::reserve(size_t nodes, size_t ports, size_t links) {
  nodes_.reserve(nodes);
  ports_.reserve(ports);
  port_links_.reserve(ports);
  links_.reserve(links);
}

uint64_t Fabric::switch_seed(NodeId node) const { return Rng::hash(seed_ ^ Rng::hash(node)); }

uint64_t Fabric::link_seed(LinkId link, bool from_a) const {
  const PortId id = port_id(from_a ? links_[link].a : links_[link].b);
  return Rng::hash(seed_) ^ Rng::hash(uint64_t{id} << 32);
}

wire::Result<NodeId> Fabric::add_switch(const SwitchConfig& config, unsigned ports, std::optional<uint64_t> seed) {
  if (std::string why = config.check(); !why.empty()) return refuse(config.name, why, "Correct the switch's settings.");
  if (ports == 0 || ports > kMaxPorts) {
    return refuse(config.name, std::to_string(ports) + " ports are not between 1 and " + std::to_string(kMaxPorts),
                  "Give another number of ports.");
  }
  const auto id = static_cast<NodeId>(nodes_.size());
  Node node;
  node.name = config.name;
  node.first = static_cast<PortId>(ports_.size());
  node.ports = ports;
  node.shard = placed_;
  node.sw =
      std::make_unique<Switch>(*this, *shards_.at(placed_), node.first, ports, config, seed ? *seed : switch_seed(id));
  ports_.resize(ports_.size() + ports, {.node = id, .is_switch = true});
  port_links_.resize(ports_.size(), kNone);
  nodes_.push_back(std::move(node));
  return id;
}

wire::Result<NodeId> Fabric::add_endpoint(std::string name, std::unique_ptr<Endpoint> endpoint, unsigned planes,
                                          std::optional<NodeId> number) {
  if (planes == 0 || planes > 64) {
    return refuse(name, std::to_string(planes) + " planes are not between 1 and 64", "Give another number of planes.");
  }
  const auto id = static_cast<NodeId>(nodes_.size());
  Node node;
  node.name = std::move(name);
  node.first = static_cast<PortId>(ports_.size());
  node.ports = planes;
  node.endpoint = std::move(endpoint);
  ports_.resize(ports_.size() + planes, {.node = id});
  port_links_.resize(ports_.size(), kNone);
  node.shard = placed_;
  nodes_.push_back(std::move(node));
  nodes_[id].endpoint->attach(Access(*this, *shards_.at(placed_), id, nodes_[id].first, planes, number ? *number : id));
  return id;
}

wire::Result<LinkId> Fabric::connect(PortRef a, PortRef b, const LinkConfig& config) {
  for (const PortRef end : {a, b}) {
    if (end.node >= nodes_.size()) {
      return refuse("link", "there is no node " + std::to_string(end.node), "Add the node before the link.");
    }
    const Node& node = nodes_[end.node];
    if (end.port >= node.ports) {
      return refuse(node.name,
                    "there is no port " + std::to_string(end.port) + ", the node has " + std::to_string(node.ports),
                    "Use another port or give the node more of them.");
    }
    if (port_links_[port_id(end)] != kNone) {
      return refuse(node.name, "port " + std::to_string(end.port) + " has a link already", "Use another port.");
    }
  }
  const std::string name = nodes_[a.node].name + " - " + nodes_[b.node].name;
  if (a.node == b.node) return refuse(name, "a link between ports of one node", "Connect two nodes.");
  if (!Rate::gbps(config.gbps).valid()) return refuse(name, "the rate is not above 0", kRateRemedy);
  if (!(config.metres >= 0 && config.metres <= 1e9)) {
    return refuse(name, "the length is not between 0 and 1e9 metres", "Give the length in metres.");
  }
  const auto id = static_cast<LinkId>(links_.size());
  links_.push_back({.a = a, .b = b, .config = number_in(link_configs_, config)});
  for (const bool first : {true, false}) {
    const PortRef here = first ? a : b, there = first ? b : a;
    Port& port = ports_[port_id(here)];
    port_links_[port_id(here)] = id;
    set_timing(port, {.rate = Rate::gbps(config.gbps)});
    port.peer_node = there.node;
    port.peer_index = static_cast<uint16_t>(there.port);
    port.peer_shard = nodes_[there.node].shard;
    port.up = port.carrier = true;
    port.peer_switch = nodes_[there.node].sw != nullptr;
    if (nodes_[here.node].sw) nodes_[here.node].sw->set_port_config(here.port, nodes_[there.node].endpoint != nullptr);
  }
  if (begun_) {
    retime_node(a.node);
    retime_node(b.node);
  }
  return id;
}

std::optional<NodeId> Fabric::find(std::string_view name) const {
  for (NodeId n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].name == name) return n;
  }
  return {};
}

LinkId Fabric::link_at(PortRef port) const {
  return port.node < nodes_.size() && port.port < nodes_[port.node].ports ? port_links_[port_id(port)] : kNone;
}

void Fabric::set_timing(Port& port, const PortTiming& timing) { port.timing = number_in(timings_, timing); }

void Fabric::retime(PortId id) {
  Port& port = ports_[id];
  if (port_links_[id] == kNone) return;
  const LinkConfig& config = link_configs_[links_[port_links_[id]].config];
  PortTiming timing = this->timing(port);
  auto delay = static_cast<int64_t>(nearest(config.metres * static_cast<double>(kFibrePerMetre)));
  delay += static_cast<int64_t>(config.fec);
  if (const Switch* from = nodes_[port.node].sw.get()) delay += static_cast<int64_t>(from->config().port_latency);
  timing.cut_through = false;
  if (const Switch* to = nodes_[port.peer_node].sw.get()) {
    delay += static_cast<int64_t>(to->config().port_latency + to->config().latency);
    timing.cut_through = to->config().cut_through;
    const Node& node = nodes_[port.peer_node];
    for (unsigned p = 0; p < node.ports && timing.cut_through; ++p) {
      if (port_links_[node.first + p] == kNone) continue;
      if (timing.rate.slower_than(this->timing(ports_[node.first + p]).rate)) timing.cut_through = false;
    }
  } else {
    timing.cut_through = nodes_[port.peer_node].endpoint->early();
  }
  // The gap behind a packet keeps the transmitter busy, not the receiver waiting.
  timing.delay_ps = delay - static_cast<int64_t>(timing.rate.time(kGapBytes));
  set_timing(port, timing);
  lookahead_ = 0;
}

void Fabric::retime_node(NodeId id) {
  const Node& node = nodes_[id];
  for (unsigned p = 0; p < node.ports; ++p) {
    const Port& port = ports_[node.first + p];
    if (port_links_[node.first + p] == kNone) continue;
    retime(node.first + p);
    retime(port_id({port.peer_node, port.peer_index}));
  }
}

void Fabric::begin() {
  begun_ = true;
  for (PortId id = 0; id < ports_.size(); ++id) retime(id);
  for (Node& node : nodes_) {
    if (node.endpoint) node.endpoint->start();
  }
}

RunEnd Fabric::run(Time until) {
  if (!begun_) begin();
  if (until <= now()) return RunEnd::Reached;
  return Kernel::instance().run(*this, until);
}

void Fabric::at(Time time, std::function<void()> f) {
  time = std::max(time, now());
  if (time < window_end_ || (window_end_ != 0 && threads() > 1)) throw std::logic_error("Fabric::at() within a window");
  hooks_.push_back({time, hook_order_++, std::move(f)});
  std::push_heap(hooks_.begin(), hooks_.end(), kHookLater);
  shards_.front()->queue.push(time, kHook);
}

void Fabric::run_hooks() {
  while (!hooks_.empty() && hooks_.front().time <= now()) {
    std::pop_heap(hooks_.begin(), hooks_.end(), kHookLater);
    const std::function<void()> f = std::move(hooks_.back().f);
    hooks_.pop_back();
    f();
  }
}

uint64_t Fabric::events() const {
  uint64_t sum = 0;
  for (const auto& shard : shards_) sum += shard->events;
  return sum;
}

uint64_t Fabric::digest() const {
  uint64_t sum = 0;
  for (const auto& shard : shards_) sum += shard->digest;
  return sum;
}

Time Fabric::next_event() {
  Time first = kNever;
  for (const auto& shard : shards_) first = std::min({first, shard->queue.next(), shard->next_from_nics});
  return first;
}

void Fabric::due_at(NodeId id, Time time) {
  Shard& shard = shard_of(id);
  nodes_[id].due_ps = time = std::max(time, shard.now);
  if (time != kNever) schedule(shard, time, kTimer | kHost | id, id);
}

void Fabric::timer(uint32_t index, Time time) {
  const NodeId id = index & ~kHost;
  Node& node = nodes_[id];
  Time& due = (index & kHost) != 0 ? node.due_ps : node.wake_ps;
  if (due != time) return;  // replaced
  due = kNever;
  if ((index & kHost) == 0) {
    node.endpoint->wake();
  } else if (listener_ != nullptr) {
    listener_->due(id);
  }
}

void Fabric::handle(Shard& shard, Time time, uint32_t key) {
  shard.now = time;
  ++shard.events;
  shard.digest += mixed(time, key);
  const uint32_t index = key & ~kKindMask;
  switch (key & kKindMask) {
    case kArrival:
      arrival(shard, index);
      break;
    case kWake:
      port_wake(shard, index);
      break;
    case kTimer:
      timer(index, time);
      break;
    default:
      run_hooks();
  }
}

void Fabric::in_order(Time limit) {
  limit_ = limit;
  if (shards_.size() > 1) {
    in_order_of_shards(limit);
    return;
  }
  Shard& shard = *shards_.front();
  EventQueue::Event event;
  while (!stopped() && shard.queue.pop(limit_, event)) handle(shard, event.time, event.key);
}

void Fabric::in_order_of_shards(Time limit) {
  settle();
  limit_ = limit;
  for (EventQueue::Event event{}, other{}; !stopped();) {
    Shard* first = nullptr;
    for (const auto& shard : shards_) {
      if (!shard->queue.peek(limit_, other)) continue;
      if (first != nullptr && (other.time != event.time ? other.time > event.time : other.key > event.key)) continue;
      event = other;
      first = shard.get();
    }
    if (first == nullptr) return;
    first->queue.pop(limit_, event);
    set_now(event.time);
    handle(*first, event.time, event.key);
  }
}

void Fabric::process(Time limit) {
  while (!stopped() && windows_useful()) {
    const Time start = next_event();
    if (start >= limit) {
      settle();
      return;
    }
    const Time end = std::min(limit, window_from(start));
    if (end < start + lookahead_ / 4) {
      in_order(std::min(limit, std::max({end, in_order_until_, start + 1})));
    } else {
      run_window(start, end);
    }
  }
  in_order(limit);
}

// Windows.

/// Finds how far a window may go.
bool Fabric::windows_useful() {
  if (!may_window_) return false;
  if (lookahead_ != 0) return lookahead_ >= kLeastWindow;
  lookahead_ = 1;  // no windows
  if (nodes_.size() < window_nodes_ || taps_ != 0) return false;
  for (const Node& node : nodes_) {
    if (node.endpoint && !node.endpoint->apart()) return false;
  }
  int64_t least = static_cast<int64_t>(kMostWindow);
  for (PortId id = 0; id < ports_.size(); ++id) {
    const Port& port = ports_[id];
    if (port_links_[id] == kNone) continue;
    // What NICs get from switches is known before they begin.
    if (port.is_switch && !nodes_[port.peer_node].sw) continue;
    const PortTiming& timing = this->timing(port);
    const auto first = static_cast<int64_t>(timing.rate.time(std::min(wire_bytes(0), kHeaderBytes)));
    least = std::min(least, timing.delay_ps + first);
  }
  lookahead_ = static_cast<Time>(std::max<int64_t>(least, 1));
  return lookahead_ >= kLeastWindow;
}

/// End of the window that begins with the first event; `start`: none.
Time Fabric::window_from(Time start) {
  if (start < in_order_until_) return start;
  Time end = start + lookahead_;
  if (!hooks_.empty()) end = std::min(end, hooks_.front().time);
  if (end <= start || may_window_()) return end;
  in_order_until_ = start + lookahead_;
  return start;
}

void Fabric::give_out(Shard& shard) {
  constexpr size_t kAhead = 16;
  const auto look = [this](uint32_t key) {
    const uint32_t kind = key & kKindMask;
    if (kind == kArrival || kind == kWake) __builtin_prefetch(&ports_[key & ~kKindMask]);
  };
  const size_t count = shard.taken.size();
  for (size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) look(shard.taken[i + kAhead].key);
    const auto [ahead, key] = shard.taken[i];
    const uint32_t index = key & ~kKindMask;
    NodeId node = index;
    bool is_switch = false;
    if ((key & kKindMask) == kArrival) {
      node = ports_[index].peer_node;
      is_switch = ports_[index].peer_switch;
    } else if ((key & kKindMask) == kWake) {
      node = ports_[index].node;
      is_switch = ports_[index].is_switch;
    } else {
      node &= ~kHost;
    }
    (is_switch ? shard.near_switches : shard.near_nics).add(ahead, key, node, near_counts_);
  }
  shard.taken.clear();
}

void Fabric::schedule_near(Shard& shard, Time time, uint32_t key, NodeId node) {
  if (node == shard.window_node) {
    shard.window_queue->push(time, key);
  } else if (!shard.window_nics && !nodes_[node].sw) {
    shard.near_nics.add(static_cast<uint32_t>(time - window_start_), key, node, near_counts_);
  } else {
    throw std::logic_error("a node acts on another one within a window");
  }
}

/// What the events of a node need, in steps of which each reads what the one before has fetched.
void Fabric::fetch(NodeId id, std::span<const NearEvents::Event> events, unsigned step) {
  const Node& node = nodes_[id];
  if (node.endpoint) node.endpoint->fetch(step);
  for (const NearEvents::Event& event : events) {
    const uint32_t kind = event.key & kKindMask;
    if (kind != kArrival && kind != kWake) continue;
    const PortId port_id = event.key & ~kKindMask;
    const Port& port = ports_[port_id];
    if (step == 0) {
      __builtin_prefetch(&port);
    } else if (kind == kWake) {
      if (!node.sw) continue;
      step == 1 ? node.sw->fetch(port_id - node.first) : node.sw->fetch_packet(port_id - node.first);
    } else if (const Packet* packet = port.head; packet != nullptr) {
      if (step == 1) fetch_packet(packet, port.peer_switch);
      if (step == 2 && packet->next != nullptr) fetch_packet(packet->next, port.peer_switch);
      if (!node.sw) continue;
      if (step == 2) node.sw->fetch_routes(*packet);
      if (step == 3) node.sw->fetch_way(*packet);
    }
  }
  // Ports that it sends on: most of them, where it has many events.
  if (step != 1 || (node.sw && 2 * events.size() < node.ports)) return;
  for (unsigned p = 0; p < node.ports; ++p) {
    __builtin_prefetch(&ports_[node.first + p]);
    if (node.sw) node.sw->fetch(p);
  }
}

/// Each node goes through the window by itself. While one is at work, what the next ones need is fetched; a large one
/// fetches it when its turn comes, or it would not stay in the cache until then.
void Fabric::window_of(Shard& shard, NearEvents& near, Time end) {
  constexpr unsigned kSteps = 4;
  constexpr size_t kLarge = 128;
  if (!shard.window_queue) shard.window_queue = std::make_unique<Shard::WindowQueue>();
  Shard::WindowQueue& queue = *shard.window_queue;
  Shard::WindowQueue::Event event;
  near.sort(near_counts_);
  for (size_t i = 0; i < near.nodes(); ++i) {
    const std::span<const NearEvents::Event> events = near.of(i, near_counts_);
    shard.window_node = near.node(i);
    for (unsigned step = 0; step < kSteps; ++step) {
      if (events.size() >= kLarge) fetch(near.node(i), events, step);
      const size_t next = i + kSteps - step;
      if (next >= near.nodes()) continue;
      if (const auto others = near.of(next, near_counts_); others.size() < kLarge) fetch(near.node(next), others, step);
    }
    queue.restart(window_start_);
    for (const NearEvents::Event& first : events) queue.push(window_start_ + first.ahead, first.key);
    while (queue.pop(end, event)) {
      if (const uint32_t key = queue.ahead(kHook); (key & kKindMask) == kArrival) {
        const Port& port = ports_[key & ~kKindMask];
        fetch_packet(port.head, port.peer_switch);
      }
      handle(shard, event.time, event.key);
      if (stopped() && shard.stopped == kNever) shard.stopped = event.time;
    }
    shard.last = std::max(shard.last, shard.now);
  }
  shard.window_node = kNone;
}

template <class F>
void Fabric::each_shard(F&& work) {
  if (shards_.size() == 1) return work(*shards_.front());
  team_->run([&](unsigned number) {
    const WorkOfThread as(shards_[number]->pool);
    try {
      work(*shards_[number]);
    } catch (...) {
      shards_[number]->thrown = std::current_exception();
    }
  });
  for (const auto& shard : shards_) {
    if (shard->thrown) std::rethrow_exception(std::exchange(shard->thrown, nullptr));
  }
}

void Fabric::run_window(Time start, Time end) {
  near_counts_.resize(nodes_.size());
  ++windows_;
  window_start_ = start;
  window_end_ = end;
  const uint64_t before = events();
  const Time now = this->now();
  const auto switches = [&](Shard& shard) {
    shard.last = now;
    shard.stopped = kNever;
    shard.window_nics = false;
    shard.next_from_nics = kNever;
    take_in(shard, true);
    shard.queue.take(end, [&](const EventQueue::Event& e) {
      shard.taken.push_back({static_cast<uint32_t>(e.time - start), e.key});
    });
    give_out(shard);
    window_of(shard, shard.near_switches, end);
  };
  const auto nics = [&](Shard& shard) {
    shard.window_nics = true;
    take_in(shard, false);
    window_of(shard, shard.near_nics, end);
  };
  each_shard(switches);
  each_shard(nics);
  size_t nodes = 0;
  Time last = now, stopped = kNever;
  for (const auto& shard : shards_) {
    nodes += shard->near_switches.nodes() + shard->near_nics.nodes();
    shard->near_switches.clear(near_counts_);
    shard->near_nics.clear(near_counts_);
    last = std::max(last, shard->last);
    stopped = std::min(stopped, shard->stopped);
  }
  if (const uint64_t done = events() - before; done < window_events_ * nodes && done < kManyEvents) {
    in_order_until_ = end + pause_ * lookahead_;
    pause_ = std::min(2 * pause_, kMostPause);
  } else {
    pause_ = 1;
  }
  window_end_ = 0;
  set_now(stopped != kNever ? stopped : last);
}

bool Fabric::append(Port& port, Packet* packet) {
  const bool first = port.head == nullptr;
  (first ? port.head : port.tail->next) = packet;
  port.tail = packet;
  return first;
}

/// The packet's next node is another shard's, which gets it at the end of this step of the window.
void Fabric::cross(Shard& shard, PortId id, Port& port, Packet* packet) {
  if (window_end_ == 0) {
    if (append(port, packet)) shards_[port.peer_shard]->queue.push(packet->at_ps, kArrival | id);
    return;
  }
  if (shard.window_nics) shard.next_from_nics = std::min(shard.next_from_nics, packet->at_ps);
  (shard.window_nics ? shard.from_nics : shard.from_switches)[port.peer_shard].items.push_back(
      {packet, packet->at_ps, id});
}

void Fabric::take_in(Shard& shard, bool from_nics) {
  constexpr size_t kAhead = 8;
  for (const auto& source : shards_) {
    if (source.get() == &shard) continue;
    auto& items = (from_nics ? source->from_nics : source->from_switches)[shard.number].items;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i + 2 * kAhead < items.size()) __builtin_prefetch(&ports_[items[i + 2 * kAhead].port]);
      if (i + kAhead < items.size()) {
        if (const Port& port = ports_[items[i + kAhead].port]; port.head != nullptr) __builtin_prefetch(port.tail, 1);
      }
      const auto [packet, at, id] = items[i];
      Port& port = ports_[id];
      if (!append(port, packet)) continue;
      if (from_nics || at >= window_end_) {
        shard.queue.push(at, kArrival | id);
      } else {
        shard.near_nics.add(static_cast<uint32_t>(at - window_start_), kArrival | id, port.peer_node, near_counts_);
      }
    }
    items.clear();
  }
}

/// Everything is where it belongs, for work in order or from outside.
void Fabric::settle() {
  const auto waits = [](const auto& shard) { return shard->next_from_nics != kNever; };
  if (std::none_of(shards_.begin(), shards_.end(), waits)) return;
  each_shard([this](Shard& shard) { take_in(shard, true); });
  for (const auto& shard : shards_) shard->next_from_nics = kNever;
}

void Fabric::arrival(Shard& shard, PortId id) {
  Port& port = ports_[id];
  Packet* packet = port.head;
  if (packet == nullptr || packet->at_ps != shard.now) return;  // what was on the wire is lost
  port.head = packet->next;
  if (port.head != nullptr) {
    const Time next = port.head->at_ps;
    // (To look for a page that is not there takes long.)
    fetch_packet(port.head->next != nullptr ? port.head->next : port.head, port.peer_switch);
    schedule(shard, next, kArrival | id, port.peer_node);
  }
  Node& peer = nodes_[port.peer_node];
  if (peer.sw) {
    peer.sw->receive(packet, port.peer_index);
  } else {
    peer.endpoint->receive(PacketPtr(packet), port.peer_index);
  }
}

void Fabric::port_wake(Shard& shard, PortId id) {
  Port& port = ports_[id];
  if (port.wake_ps != shard.now) return;  // it was down in between
  port.wake_ps = kNever;
  if (!port.up) return;
  if (port.is_switch) {
    nodes_[port.node].sw->port_free(index_of(id, port));
  } else {
    endpoint_pull(shard, id, port);
  }
}

void Fabric::wake_port(Shard& shard, PortId id, Port& port) {
  if (!port.up || port.wake_ps != kNever) return;
  if (port.free_ps > shard.now) {
    port.wake_ps = port.free_ps;
    if (port.free_ps != kNever) schedule(shard, port.free_ps, kWake | id, port.node);
  } else if (port.is_switch) {
    nodes_[port.node].sw->port_free(index_of(id, port));
  } else {
    endpoint_pull(shard, id, port);
  }
}

void Fabric::endpoint_pull(Shard& shard, PortId id, Port& port) {
  port.wake_ps = shard.now;  // a kick from inside pull() changes nothing
  const unsigned index = index_of(id, port);
  Packet* packet = nodes_[port.node].endpoint->pull(index).release();
  port.wake_ps = kNever;
  if (packet == nullptr) return;
  packet->plane = index & 63;
  transmit(shard, id, port, packet);
  port.wake_ps = port.free_ps;
  if (port.free_ps != kNever) schedule(shard, port.free_ps, kWake | id, port.node);
}

void Fabric::transmit(Shard& shard, PortId id, Port& port, Packet* packet) {
  const PortTiming& timing = this->timing(port);
  const unsigned bytes = wire_bytes(packet->size);
  const Time whole = timing.rate.time(bytes);
  port.free_ps = shard.now + whole;
  ++port.packets;
  port.bytes += packet->size;
  if (port.is_special) {
    if (special(shard, id, port, packet)) {
      PortLosses& losses = shard.losses[id];
      ++losses.lost;
      losses.lost_bytes += packet->size;
      Recycle{}(packet);
      return;
    }
    if (Exit* exit = id < specials_.size() && specials_[id] ? specials_[id]->exit : nullptr) {
      port.free_ps = exit->leave(index_of(id, port), PacketPtr(packet), shard.now, port.free_ps);
      return;
    }
  }
  const Time lead = timing.cut_through ? timing.rate.time(std::min(bytes, kHeaderBytes)) : whole;
  packet->at_ps = shard.now + lead + static_cast<Time>(timing.delay_ps);
  packet->next = nullptr;
  if (port.peer_shard != shard.number) [[unlikely]] {
    cross(shard, id, port, packet);
  } else if (append(port, packet)) {
    schedule(shard, packet->at_ps, kArrival | id, port.peer_node);
  }
}

bool Fabric::special(const Shard& shard, PortId id, Port& port, Packet* packet) {
  bool lost = !port.carrier;
  Special* s = id < specials_.size() ? specials_[id].get() : nullptr;
  if (s == nullptr) return lost;
  const Impairment& i = s->impairment;
  if (i.loss > 0 && (!i.entropy || ((packet->entropy ^ *i.entropy) & i.entropy_mask) == 0) && s->rng.chance(i.loss)) {
    lost = true;
  }
  if (s->tap != nullptr) s->tap->sent(port_links_[id], from_a(id), shard.now, *packet, lost);
  return lost;
}

Fabric::Special& Fabric::special_of(PortId id) {
  if (specials_.size() <= id) specials_.resize(ports_.size());
  if (!specials_[id]) specials_[id] = std::make_unique<Special>(link_seed(port_links_[id], from_a(id)));
  return *specials_[id];
}

void Fabric::update_special(PortId id) {
  const Special* s = id < specials_.size() ? specials_[id].get() : nullptr;
  ports_[id].is_special =
      !ports_[id].carrier || (s != nullptr && (s->impairment.loss > 0 || s->tap != nullptr || s->exit != nullptr));
}

void Fabric::set_exit(PortId id, Exit* exit) {
  special_of(id).exit = exit;
  update_special(id);
}

void Fabric::flush_wire(PortId id) {
  Port& port = ports_[id];
  while (port.head != nullptr) {
    Packet* packet = std::exchange(port.head, port.head->next);
    PortLosses& losses = shards_.front()->losses[id];
    ++losses.lost;
    losses.lost_bytes += packet->size;
    Recycle{}(packet);
  }
}

void Fabric::set_port(PortId id, bool up) {
  Port& port = ports_[id];
  if (port.up == up) return;
  port.up = up;
  port.wake_ps = kNever;
  Node& node = nodes_[port.node];
  if (node.sw) {
    if (!up) node.sw->link_lost(index_of(id, port));
    node.sw->port_changed(index_of(id, port), up);
  } else {
    node.endpoint->link_changed(index_of(id, port), up);
    if (up) wake_port(shard_of(port.node), id, port);
  }
}

void Fabric::carrier_changed(LinkId id) {
  Link& link = links_[id];
  const bool carrier = link.up && link.holds == 0;
  if (carrier == link.carrier) return;
  link.carrier = carrier;
  if (on_carrier) on_carrier(id, carrier);
  const uint32_t change = ++link.changes;
  for (const PortRef end : {link.a, link.b}) {
    const PortId p = port_id(end);
    ports_[p].carrier = carrier;
    update_special(p);
    if (!carrier) flush_wire(p);
  }
  const auto report = [this, id, change, carrier] {
    if (links_[id].changes != change) return;  // it changed back before anybody saw
    set_port(port_id(links_[id].a), carrier);
    set_port(port_id(links_[id].b), carrier);
  };
  if (const Time detect = link_configs_[link.config].detect; detect == 0)
    report();
  else
    at(now() + detect, report);
}

void Fabric::set_link(LinkId link, bool up) {
  links_[link].up = up;
  carrier_changed(link);
}

std::optional<wire::Error> Fabric::set_rate(LinkId id, double gbps) {
  Link& link = links_[id];
  const Rate rate = Rate::gbps(gbps);
  if (!rate.valid()) {
    return refuse(nodes_[link.a.node].name + " - " + nodes_[link.b.node].name, "the rate is not above 0", kRateRemedy);
  }
  LinkConfig config = link_configs_[link.config];
  config.gbps = gbps;
  link.config = number_in(link_configs_, config);
  for (const PortRef end : {link.a, link.b}) {
    PortTiming timing = this->timing(ports_[port_id(end)]);
    timing.rate = rate;
    set_timing(ports_[port_id(end)], timing);
  }
  if (begun_) {
    retime_node(link.a.node);
    retime_node(link.b.node);
  }
  return {};
}

void Fabric::set_impairment(LinkId link, bool from_a, const Impairment& impairment) {
  const PortId id = port_id(from_a ? links_[link].a : links_[link].b);
  special_of(id).impairment = impairment;
  update_special(id);
}

void Fabric::set_tap(LinkId link, bool from_a, Tap* tap) {
  const PortId id = port_id(from_a ? links_[link].a : links_[link].b);
  Tap*& old = special_of(id).tap;
  taps_ = taps_ + (tap != nullptr) - (old != nullptr);
  old = tap;
  lookahead_ = 0;
  update_special(id);
}

std::optional<wire::Error> Fabric::reboot(NodeId id, Time down_for) {
  if (id >= nodes_.size() || !nodes_[id].sw) {
    return refuse(id < nodes_.size() ? nodes_[id].name : "node " + std::to_string(id), "is not a switch",
                  "Only switches can be rebooted.");
  }
  Node& node = nodes_[id];
  for (unsigned p = 0; p < node.ports; ++p) node.sw->flush(p);  // before its links go: it sends nothing any more
  std::vector<LinkId> held;
  for (unsigned p = 0; p < node.ports; ++p) {
    const LinkId link = port_links_[node.first + p];
    if (link == kNone) continue;
    ++links_[link].holds;
    held.push_back(link);
    carrier_changed(link);
    set_port(node.first + p, false);  // it knows at once
  }
  at(now() + down_for, [this, held] {
    for (const LinkId link : held) {
      --links_[link].holds;
      carrier_changed(link);
    }
  });
  return {};
}

PortLosses Fabric::losses(PortId id) const {
  PortLosses sum;
  for (const auto& shard : shards_) {
    if (shard->losses.empty()) continue;
    const auto found = shard->losses.find(id);
    if (found == shard->losses.end()) continue;
    sum.lost += found->second.lost;
    sum.lost_bytes += found->second.lost_bytes;
    sum.ingress_discards += found->second.ingress_discards;
    sum.egress_discards += found->second.egress_discards;
  }
  return sum;
}

LinkStats Fabric::stats(LinkId link, bool from_a) const {
  const PortId id = port_id(from_a ? links_[link].a : links_[link].b);
  return {ports_[id].packets, ports_[id].bytes, losses(id).lost};
}

uint64_t Fabric::memory() const {
  uint64_t bytes = ports_.capacity() * (sizeof(Port) + sizeof(LinkId)) + nodes_.capacity() * sizeof(Node) +
                   links_.capacity() * sizeof(Link) + link_configs_.capacity() * sizeof(LinkConfig) +
                   specials_.capacity() * sizeof(void*) + near_counts_.capacity() * sizeof(uint32_t);
  for (const auto& shard : shards_) bytes += shard->memory();
  for (const Node& node : nodes_) bytes += node.name.capacity() + (node.sw ? node.sw->memory() : 0);
  for (const auto& s : specials_) bytes += s ? sizeof *s : 0;
  return bytes;
}

void Fabric::notify(sc_core::sc_event& event, Time time) { Kernel::instance().notify(*this, event, time); }

}  // namespace mrc::sim

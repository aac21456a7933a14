// SPDX-License-Identifier: Apache-2.0
/// An endpoint that sends what it is given and keeps what it gets.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "sim/engine/fabric.hpp"
#include "sim/switch/switch.hpp"
#include "wire/decode.hpp"
#include "wire/packet.hpp"

namespace mrc::sim {

struct Got {
  Time time;
  unsigned plane;
  Packet packet;  // attachment is not valid any more
  std::vector<uint8_t> bytes;
};

class Box final : public Endpoint {
 public:
  std::vector<Got> got;
  std::vector<std::pair<Time, bool>> changes;
  std::vector<Time> wakes;
  std::function<void()> on_wake, on_receive, on_pull;
  Access access;

  void attach(const Access& a) override {
    access = a;
    out_.resize(a.planes());
  }
  void receive(PacketPtr packet, unsigned plane) override {
    const auto bytes = frame_of(*packet);
    got.push_back({access.now(), plane, *packet, {bytes.begin(), bytes.end()}});
    if (on_receive) on_receive();
  }
  PacketPtr pull(unsigned plane) override {
    if (on_pull) on_pull();
    if (out_[plane].empty()) return nullptr;
    PacketPtr packet = std::move(out_[plane].front());
    out_[plane].pop_front();
    return packet;
  }
  void wake() override {
    wakes.push_back(access.now());
    if (on_wake) on_wake();
  }
  void link_changed(unsigned, bool up) override { changes.emplace_back(access.now(), up); }

  /// A packet of fields only, to a host without SRv6.
  Packet& send(uint32_t host, unsigned size, uint8_t dscp, unsigned plane = 0) {
    PacketPtr packet = access.pool().make();
    packet->dst = host_address(host);
    packet->dst_host = host;
    packet->src = access.node();
    packet->size = static_cast<uint16_t>(size);
    packet->dscp = dscp & 63;
    packet->ecn = 2;
    packet->stack = Stack::Ipv6;
    return send(std::move(packet), plane);
  }
  Packet& send(PacketPtr packet, unsigned plane = 0) {
    Packet& sent = *packet;
    out_[plane].push_back(std::move(packet));
    if (access.now() > 0 || kick_) access.kick(plane);
    return sent;
  }
  void start() override {
    kick_ = true;
    for (unsigned p = 0; p < access.planes(); ++p) access.kick(p);
  }

  bool open(const QpSpec&, std::string&) override { return true; }
  bool post(const WorkRequest&) override { return false; }
  void listen(Listener*) override {}
  EndpointStats stats() const override { return {}; }
  EvCounts ev_counts(uint32_t) const override { return {}; }
  const char* fidelity() const override { return "box"; }

 private:
  std::vector<std::deque<PacketPtr>> out_;
  bool kick_ = false;
};

/// N boxes at one switch: box n is host n at port n. The switch is the last node.
struct Star {
  explicit Star(unsigned boxes, const SwitchConfig& config = SwitchConfig::recommended("sw", 1 << 20),
                LinkConfig link = {.gbps = 100, .metres = 2}, uint64_t seed = 1)
      : fabric({.seed = seed}) {
    for (unsigned n = 0; n < boxes; ++n) {
      auto box = std::make_unique<Box>();
      box_.push_back(box.get());
      (void)fabric.add_endpoint("box" + std::to_string(n), std::move(box), 1);
    }
    node = *fabric.add_switch(config, boxes);
    for (unsigned n = 0; n < boxes; ++n) {
      (void)fabric.connect({n, 0}, {node, n}, link);
      fabric.switch_at(node)->add_host_route(n, {static_cast<uint16_t>(n)});
    }
  }
  Box& operator[](unsigned n) { return *box_[n]; }
  Switch& sw() { return *fabric.switch_at(node); }

  Fabric fabric;
  NodeId node;

 private:
  std::vector<Box*> box_;
};

/// 16 NICs of eight planes send 1 MB each to one.
inline constexpr const char* kIncastOf16 = R"(
sampling = false
shared_evs = true
[topology]
planes = 8
gbps = 100
leaves = 2
hosts_per_leaf = 9
spines = 4
[[traffic]]
pattern = "incast"
to = "nic0"
nodes = 16
first = 1
bytes = 1_000_000
)";

/// Value of a counter by name; all ones if there is none.
inline uint64_t value(const std::vector<NamedCounter>& counters, std::string_view name) {
  for (const auto& [n, v] : counters) {
    if (n == name) return v;
  }
  return ~uint64_t{0};
}

/// A frame of the wire library: WRITE Only with that much payload.
inline std::vector<uint8_t> write_frame(wire::Encapsulation encapsulation, size_t payload,
                                        uint8_t dscp = wire::kDscpTrimmable, const std::array<uint8_t, 16>& path = {}) {
  wire::Packet p = wire::make_packet(wire::Opcode::WriteOnly, encapsulation, true);
  p.payload.assign(payload, 0x5a);
  p.bth->dqp = 0x123;
  p.bth->psn = 0xabcdef;
  if (p.ipv4) {
    p.ipv4->src = {0, 0, 0, 0};
    p.ipv4->dst = {0, 0, 0, 1};
    p.ipv4->dscp = dscp;
    p.ipv4->ecn = 2;
    p.ipv4->ttl = 64;
  }
  if (p.ipv6) {
    p.ipv6->src = {0xfd};
    p.ipv6->dst = {0xfd};
    p.ipv6->dst[15] = 1;
    p.ipv6->dscp = dscp;
    p.ipv6->ecn = 2;
    p.ipv6->hop_limit = 64;
  }
  if (p.outer_ipv6) {
    p.outer_ipv6->dst = path;
    p.outer_ipv6->dscp = dscp;
    p.outer_ipv6->ecn = 2;
    p.outer_ipv6->hop_limit = 64;
  }
  p.set_entropy(0xc0de1234);
  wire::complete(p);
  return wire::encode(p);
}

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
/// Small fabrics around fast endpoints.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/codec.hpp"
#include "sim/engine/fabric.hpp"
#include "sim/nic/fast/endpoint_fast.hpp"
#include "tests/sim/box.hpp"

namespace mrc::sim {

/// The reason as it is in a packet.
constexpr uint8_t code(wire::NackReason reason) { return static_cast<uint8_t>(reason); }

/// EV i of a set: no two are alike.
constexpr uint32_t ev_of(unsigned i) { return 0x1000'0000u * (1 + i % 7) + 0x101u * i + 5; }

inline QpSpec qp_spec(NodeId peer, unsigned planes = 1, unsigned active = 8, unsigned backup = 0, uint32_t qpn = 3) {
  QpSpec spec;
  spec.qpn = spec.peer_qpn = qpn;
  spec.peer = peer;
  spec.planes = planes;
  spec.encap = Encap::Ipv6;
  for (unsigned i = 0; i < (active + backup) * planes; ++i) {
    (i < active * planes ? spec.ev_active : spec.ev_backup).push_back(ev_of(i));
  }
  return spec;
}

struct Heard final : Listener {
  std::vector<Completion> completions;
  std::vector<Delivery> deliveries;
  std::vector<Time> delivered_at;
  Fabric* fabric = nullptr;
  std::function<void(const Completion&)> on_completion;
  void completed(const Completion& c) override {
    completions.push_back(c);
    if (on_completion) on_completion(c);
  }
  void delivered(const Delivery& d) override {
    deliveries.push_back(d);
    if (fabric != nullptr) delivered_at.push_back(fabric->now());
  }
};

/// Every packet of one direction of a link.
struct Recorder final : Tap {
  struct Seen {
    Time time;
    Packet packet;
    bool lost;
  };
  std::vector<Seen> seen;
  void sent(LinkId, bool, Time time, const Packet& packet, bool lost) override { seen.push_back({time, packet, lost}); }
};

inline bool is_write(const Packet& p) { return p.opcode >= 0xC6 && p.opcode <= 0xCB; }

/// Two fast endpoints (nodes 0 and 1), a link for each plane.
struct FastPair {
  explicit FastPair(unsigned planes = 1, const FastConfig& config = {}, const LinkConfig& link = {.gbps = 100},
                    unsigned active = 8, unsigned backup = 0, uint64_t seed = 1)
      : fabric({.seed = seed}) {
    for (unsigned n = 0; n < 2; ++n) {
      auto endpoint = std::make_unique<FastEndpoint>(config);
      nic[n] = endpoint.get();
      nic[n]->listen(&heard[n]);
      heard[n].fabric = &fabric;
      (void)fabric.add_endpoint("nic" + std::to_string(n), std::move(endpoint), planes);
    }
    for (unsigned p = 0; p < planes; ++p) links.push_back(*fabric.connect({0, p}, {1, p}, link));
    for (unsigned n = 0; n < 2; ++n) opened &= nic[n]->open(qp_spec(1 - n, planes, active, backup), why);
  }
  bool post(uint64_t bytes, uint64_t id = 1) { return nic[0]->post({.id = id, .qpn = 3, .bytes = bytes}); }

  Fabric fabric;
  Heard heard[2];
  FastEndpoint* nic[2];
  std::vector<LinkId> links;
  bool opened = true;
  std::string why;
};

/// A fast endpoint (node 0) and a box (node 1) that plays its peer.
struct FastAndBox {
  explicit FastAndBox(const FastConfig& config = {}, unsigned planes = 1, unsigned active = 8, unsigned backup = 0,
                      bool congestion = false) {
    auto endpoint = std::make_unique<FastEndpoint>(config);
    nic = endpoint.get();
    nic->listen(&heard);
    (void)fabric.add_endpoint("nic", std::move(endpoint), planes);
    auto other = std::make_unique<Box>();
    box = other.get();
    (void)fabric.add_endpoint("box", std::move(other), planes);
    for (unsigned p = 0; p < planes; ++p) links.push_back(*fabric.connect({0, p}, {1, p}, {.gbps = 100}));
    QpSpec spec = qp_spec(1, planes, active, backup);
    spec.congestion = congestion;
    opened = nic->open(spec, why);
  }
  /// Runs that much longer.
  void run(Time time) { fabric.run(fabric.now() + time); }
  std::vector<Packet> writes() const {
    std::vector<Packet> out;
    for (const Got& g : box->got) {
      if (is_write(g.packet)) out.push_back(g.packet);
    }
    return out;
  }
  std::vector<Packet> of(wire::Opcode opcode) const {
    std::vector<Packet> out;
    for (const Got& g : box->got) {
      if (g.packet.opcode == static_cast<uint8_t>(opcode)) out.push_back(g.packet);
    }
    return out;
  }
  Packet& send(wire::Opcode opcode, uint32_t psn, unsigned size = 150, uint8_t dscp = wire::kDscpControl) {
    Packet& p = box->send(0, size, dscp);
    p.opcode = static_cast<uint8_t>(opcode);
    p.dqp = 3;
    p.psn = psn;
    p.bth = 0;
    p.payload = 0;
    p.tx_timestamp = 0;
    return p;
  }
  /// A SACK about packet `about`.
  SackFields& sack(uint32_t cack, uint32_t about, uint64_t bitmap = 0, uint32_t base = 0, uint16_t ooo = 0) {
    Packet& p = send(wire::Opcode::Sack, cack);
    p.sack = {};
    p.sack.cack_psn = cack;
    p.sack.ack_psn_offset = static_cast<int16_t>(about - cack);
    p.sack.bitmap = bitmap;
    p.sack.sack_offset = static_cast<int16_t>(base - cack);
    p.sack.ooo_count = ooo;
    return p.sack;
  }
  void nack(uint32_t psn, uint8_t reason, uint32_t entropy) {
    Packet& p = send(wire::Opcode::Nack, psn);
    p.nack = {entropy, psn, reason, 0};
  }
  void ack(uint32_t psn, uint16_t msn, uint8_t syndrome = 0x1f) {
    Packet& p = send(wire::Opcode::Ack, psn);
    p.sack = {};
    p.sack.m = syndrome;
    p.sack.cack_psn = msn;
  }
  /// A packet of data from the peer.
  Packet& data(uint32_t psn, unsigned payload = 4096, wire::Opcode opcode = wire::Opcode::WriteMiddle,
               uint8_t bth = 0) {
    Packet& p = send(opcode, psn, 100 + payload, wire::kDscpTrimmable);
    p.payload = static_cast<uint16_t>(payload);
    p.bth = bth & 31;
    p.entropy = 0xabcd'0000 + psn;
    p.data = {};
    p.data.dma_length = payload;
    return p;
  }

  Fabric fabric;
  Heard heard;
  FastEndpoint* nic;
  Box* box;
  std::vector<LinkId> links;
  bool opened = true;
  std::string why;
};

/// N endpoints at one switch, all with a QP to and from node 0. The switch is the last node.
template <class E>
struct FastStar {
  template <class Config>
  FastStar(unsigned nodes, const Config& config, SwitchConfig sw = SwitchConfig::recommended("sw", 40'000),
           const LinkConfig& link = {.gbps = 100, .metres = 2}) {
    for (unsigned n = 0; n < nodes; ++n) {
      auto endpoint = std::make_unique<E>(config);
      endpoint->listen(&heard);
      nic.push_back(endpoint.get());
      (void)fabric.add_endpoint("nic" + std::to_string(n), std::move(endpoint), 1);
    }
    heard.fabric = &fabric;
    node = *fabric.add_switch(sw, nodes);
    for (unsigned n = 0; n < nodes; ++n) {
      links.push_back(*fabric.connect({n, 0}, {node, n}, link));
      fabric.switch_at(node)->add_host_route(n, {static_cast<uint16_t>(n)});
    }
    for (unsigned n = 1; n < nodes; ++n) {
      QpSpec there = qp_spec(0), back = qp_spec(n);
      there.peer_qpn = back.qpn = 2 + n;
      opened &= nic[n]->open(there, why) && nic[0]->open(back, why);
    }
  }
  Fabric fabric;
  Heard heard;
  NodeId node = 0;
  std::vector<E*> nic;
  std::vector<LinkId> links;
  bool opened = true;
  std::string why;
};

}  // namespace mrc::sim

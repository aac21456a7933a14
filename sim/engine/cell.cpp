// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/cell.hpp"

#include <algorithm>
#include <utility>

#include "sim/switch/switch.hpp"

namespace mrc::sim {
namespace {

/// What stands outside a port.
class Outside final : public Endpoint {
 public:
  void attach(const Access&) override {}
  void receive(PacketPtr, unsigned) override {}
  PacketPtr pull(unsigned) override { return {}; }
  void link_changed(unsigned, bool) override {}
  bool open(const QpSpec&, std::string& why) override {
    why = "the outside of a cell has no queue pairs";
    return false;
  }
  bool post(const WorkRequest&) override { return false; }
  void listen(Listener*) override {}
  EndpointStats stats() const override { return {}; }
  EvCounts ev_counts(uint32_t) const override { return {}; }
  const char* fidelity() const override { return "outside"; }
};

}  // namespace

Cell::~Cell() = default;

std::optional<wire::Error> Cell::make_switch(const SwitchConfig& config, const CellConfig& cell, unsigned host_ports,
                                             uint64_t seed) {
  if (auto made = fabric_.add_switch(config, cell.ports, seed); !made) return made.error();
  if (auto error = surround(cell)) return error;
  for (unsigned p = 0; p < cell.ports; ++p) node_switch().set_port_config(p, p < host_ports);
  return {};
}

std::optional<wire::Error> Cell::make_endpoint(const std::string& name, std::unique_ptr<Endpoint> endpoint,
                                               const CellConfig& cell, NodeId number) {
  if (auto made = fabric_.add_endpoint(name, std::move(endpoint), cell.ports, number); !made) return made.error();
  return surround(cell);
}

std::optional<wire::Error> Cell::surround(const CellConfig& cell) {
  ports_ = cell.ports;
  outside_.assign(ports_, kNone);
  std::vector<unsigned> order = cell.tie_order;
  for (unsigned p = 0; p < ports_; ++p) {
    if (std::find(order.begin(), order.end(), p) == order.end()) order.push_back(p);
  }
  for (const unsigned p : order) {
    if (p >= ports_ || outside_[p] != kNone) {
      return wire::Error{fabric_.name(0), 0,
                         "tie_order names port " + std::to_string(p) + ", which is not there or twice",
                         "Name each port once."};
    }
    const auto node = fabric_.add_endpoint("outside " + std::to_string(p), std::make_unique<Outside>(), 1);
    const auto link = fabric_.connect({0, p}, {*node, 0}, {.gbps = cell.gbps, .metres = 0});
    if (!link) return link.error();
    outside_[p] = fabric_.port_id({*node, 0});
    fabric_.set_exit(p, &exit_);
  }
  return {};
}

void Cell::act(Time now) {
  fabric_.in_order(now + 1);
  fabric_.set_now(std::max(fabric_.now(), now));
}

void Cell::enter(Time now) {
  fabric_.in_order(now);
  fabric_.set_now(std::max(fabric_.now(), now));
}

Time Cell::arrive(unsigned index, const Packet& original, Time first_bit) {
  Port& port = outside(index);
  const unsigned bytes = wire_bytes(original.size);
  Packet* packet = copy(fabric_.pool(), original).release();
  const PortTiming& timing = fabric_.timing(port);
  const Time lead = timing.rate.time(timing.cut_through ? std::min(bytes, kHeaderBytes) : bytes);
  packet->at_ps = first_bit + lead + static_cast<Time>(timing.delay_ps);
  ++port.packets;
  port.bytes += packet->size;
  if (port.head != nullptr) packet->at_ps = std::max(packet->at_ps, port.tail->at_ps);
  packet->next = nullptr;
  if (Fabric::append(port, packet)) {
    fabric_.schedule(*fabric_.shards_[0], packet->at_ps, Fabric::kArrival | outside_[index], port.peer_node);
  }
  return packet->at_ps;
}

void Cell::release(unsigned index) {
  Port& port = fabric_.ports_[index];
  port.free_ps = fabric_.now();
  fabric_.wake_port(*fabric_.shards_[0], index, port);
}

void Cell::carrier_lost(unsigned port) { fabric_.flush_wire(outside_[port]); }

void Cell::set_port(unsigned port, bool up) { fabric_.set_port(port, up); }

std::optional<wire::Error> Cell::set_rate(unsigned port, double gbps) {
  return fabric_.set_rate(fabric_.port_links_[port], gbps);
}

void Cell::reset() {
  if (Switch* sw = fabric_.switch_at(0)) {
    for (unsigned p = 0; p < ports_; ++p) sw->flush(p);  // before its links go: it sends nothing any more
  }
  for (unsigned p = 0; p < ports_; ++p) {
    carrier_lost(p);
    set_port(p, false);
  }
}

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
/// One switch or one NIC of the fabric, alone: its links end outside, and somebody else keeps the time. The node is the
/// same code as in a Fabric of many, and does the same at the same picosecond.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/engine/fabric.hpp"

namespace mrc::sim {

/// What all cells are told.
struct CellConfig {
  unsigned ports = 1;
  double gbps = 800;  ///< of each port, until set_rate()
  /// Ports in the order in which what comes in at one picosecond is taken; empty: 0, 1, ... (In a fabric: by the order
  /// in which the nodes at the far ends were added.) Ports that are not named come last.
  std::vector<unsigned> tie_order;
};

/// Outside every port stands an endpoint that does nothing. Its link has no length; what a port sends goes to the Exit
/// before it is on that link, and what comes from outside is put on it as if the endpoint had sent it.
class Cell {
 public:
  /// exit must outlive the cell.
  explicit Cell(Exit& exit) : exit_(exit) {}
  ~Cell();

  // Building, one of them, once.

  /// host_ports: the first of the ports, which lead to NICs. Error: settings that cannot work.
  std::optional<wire::Error> make_switch(const SwitchConfig& config, const CellConfig& cell, unsigned host_ports,
                                         uint64_t seed);
  /// number: of the host. Error: no number of planes that can be.
  std::optional<wire::Error> make_endpoint(const std::string& name, std::unique_ptr<Endpoint> endpoint,
                                           const CellConfig& cell, NodeId number);
  Switch& node_switch() { return *fabric_.switch_at(0); }
  const Switch& node_switch() const { return *fabric_.switch_at(0); }
  Endpoint& endpoint() { return *fabric_.endpoint_at(0); }
  unsigned ports() const { return ports_; }
  PacketPool& pool() { return fabric_.pool(); }

  // Time, in picoseconds, is the caller's: it may never go back.

  /// Time 0, rates are known. Once, before the rest.
  void begin() { fabric_.begin(); }
  /// Does everything up to that time, events of exactly that time included.
  void act(Time now);
  /// Somebody outside acts on the node at that time: what has been due before is done.
  void enter(Time now);
  /// Time of the next event, kNever: there is none.
  Time next() { return fabric_.next_event(); }
  uint64_t events() const { return fabric_.events(); }

  // What happens at the ports. enter() comes first.

  /// The first bit of a packet's preamble comes in at that time, which may lie ahead. Takes a copy. Packets of a port
  /// come in their order. Returns when the node decides on it.
  Time arrive(unsigned port, const Packet& packet, Time first_bit);
  /// A port whose Exit::leave() returned kNever can send again, now.
  void release(unsigned port);
  bool held(unsigned port) const { return fabric_.ports_[port].free_ps == kNever; }
  /// The carrier is gone: what is not yet decided on of what came in is lost.
  void carrier_lost(unsigned port);
  /// The port has found its link down, or up.
  void set_port(unsigned port, bool up);
  /// Both directions. Error: a rate of zero.
  std::optional<wire::Error> set_rate(unsigned port, double gbps);
  /// A switch begins anew: what waits in it or is coming in is lost, its ports are down until set_port().
  void reset();

  // What the ports know.

  Rate rate(unsigned port) const { return fabric_.timing(fabric_.ports_[port]).rate; }
  bool port_up(unsigned port) const { return fabric_.ports_[port].up; }
  /// Packets that came in, or were on their way in, and were lost with the carrier.
  uint64_t lost(unsigned port) const { return fabric_.losses(outside_[port]).lost; }

 private:
  std::optional<wire::Error> surround(const CellConfig& cell);
  Port& outside(unsigned port) { return fabric_.ports_[outside_[port]]; }
  const Port& outside(unsigned port) const { return fabric_.ports_[outside_[port]]; }

  Exit& exit_;
  Fabric fabric_{FabricOptions{}};
  unsigned ports_ = 0;
  std::vector<PortId> outside_;  // by port: the far end of its link
};

}  // namespace mrc::sim

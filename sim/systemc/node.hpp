// SPDX-License-Identifier: Apache-2.0
/// What TrimmingSwitch and Nic have in common: ports, and a node of the packet engine behind them.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "sim/engine/cell.hpp"
#include "sim/systemc/frame.hpp"
#include "sim/systemc/report.hpp"

namespace mrc::systemc {

/// A node whose time is SystemC's. Processes and calls that act on it at some time come first, as far as they do so in
/// the first delta cycle of that time; the packets of the node's own events are moved one delta cycle later.
class Node : private BeforeElaboration, public sc_core::sc_module, private sim::Exit {
 public:
  using Out = tlm_utils::simple_initiator_socket_tagged_optional<Node>;
  using In = tlm_utils::simple_target_socket_tagged_optional<Node>;

  /// Frames of port i leave through out[i] and come in through in[i]. Each is bound once: to a Link, to another node,
  /// or to anything that takes frames (sim/systemc/frame.hpp).
  sc_core::sc_vector<Out> out;
  sc_core::sc_vector<In> in;

  unsigned ports() const { return cell_.ports(); }
  /// Rate of a port: the setting, and once the simulation runs what its link has told.
  sim::Rate rate(unsigned port) const { return cell_.rate(port); }
  bool port_up(unsigned port) const { return cell_.port_up(port); }
  /// A Link stands at the port, which hears of the carrier. Link::connect() says so.
  void linked(unsigned port) { linked_[port] = true; }
  /// Frames that were coming in and were lost with the carrier.
  uint64_t lost(unsigned port) const { return cell_.lost(port); }
  /// Events of the node so far, and activations of its process.
  uint64_t events() const { return cell_.events(); }
  uint64_t activations() const { return activations_; }

 protected:
  /// latency: of a port on the way out, picoseconds.
  Node(const sc_core::sc_module_name& name, unsigned ports, sim::Time latency);
  ~Node() override;

  /// Held while somebody acts on the cell from outside of its events.
  class Acting {
   public:
    explicit Acting(Node& node);
    ~Acting();
    Acting(const Acting&) = delete;
    Acting& operator=(const Acting&) = delete;

   private:
    Node& node_;
    bool first_;
  };
  /// Reports what a cell could not do.
  void good(const std::optional<wire::Error>& error) const;
  /// Tells the link of a port whether this end gives light.
  void report_carrier(unsigned port, bool carrier);
  void before_end_of_elaboration() override;
  /// Something has happened in the cell.
  virtual void acted() {}

  sim::Cell cell_;

 private:
  /// A frame that its receiver has not taken yet.
  struct Outgoing {
    tlm::tlm_generic_payload* payload = nullptr;
    sim::Time free = 0;      // not before
    bool requested = false;  // END_REQ is owed
  };
  sim::Time leave(unsigned port, sim::PacketPtr packet, sim::Time start, sim::Time free) override;
  tlm::tlm_sync_enum forward(int port, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& t);
  tlm::tlm_sync_enum backward(int port, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& t);
  void blocking(int port, tlm::tlm_generic_payload& payload, sc_core::sc_time& t);
  /// False: no frame; reported.
  bool take(unsigned port, tlm::tlm_generic_payload& payload, sc_core::sc_time& t);
  void link_changed(unsigned port, const LinkState& state);
  void request_ended(unsigned port, sim::Time at);
  void release_ports();
  void begin();
  void step();
  void notify(sim::Time time);

  FramePool frames_;
  LinkChange change_;
  const sim::Time latency_;
  std::vector<Outgoing> outgoing_;
  std::vector<LinkState> links_;
  std::vector<bool> linked_;
  sc_core::sc_event due_, free_;
  sim::Time notified_ = 0;
  bool begun_ = false, second_ = false, acting_ = false;
  uint64_t activations_ = 0;
};

}  // namespace mrc::systemc

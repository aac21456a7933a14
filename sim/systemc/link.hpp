// SPDX-License-Identifier: Apache-2.0
/// A link between two ports: rate, length, FEC, losses, and whether it gives light.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <optional>
#include <systemc>
#include <tlm>

#include "sim/engine/fabric.hpp"
#include "sim/systemc/frame.hpp"
#include "sim/systemc/node.hpp"
#include "sim/systemc/report.hpp"
#include "util/rng.hpp"

namespace mrc::systemc {

/// Ends are 0 and 1 (a and b of sim::Fabric). A frame goes through at once, with the delay annotated, and the sender is
/// told when its last byte and the gap have gone. Marks are the switches' business.
class Link : private BeforeElaboration, public sc_core::sc_module {
 public:
  using Out = tlm_utils::simple_initiator_socket_tagged_optional<Link>;
  using In = tlm_utils::simple_target_socket_tagged_optional<Link>;

  /// Reports a rate that is not above 0, a length below 0.
  Link(const sc_core::sc_module_name& name, const sim::LinkConfig& config);

  /// Of end 0 and 1: what comes out there, and goes in there.
  sc_core::sc_vector<Out> out;
  sc_core::sc_vector<In> in;
  /// Binds both sockets of an end to a port, which from then on hears of rate, carrier, up and down. What is bound to
  /// the sockets otherwise is told nothing: targets that take frames alone would refuse a phase that they do not know.
  void connect(unsigned end, Node& node, unsigned port);

  // From processes, or before the simulation. Means what it means in sim::Fabric.

  /// Down: frames on the way are lost. Both ends hear of it after `detect`; until then what they send is lost.
  void set_up(bool up);
  bool up() const { return up_; }
  /// Frames begun before keep their time. Reports a rate of zero.
  void set_rate(double gbps);
  void set_impairment(unsigned from_end, const sim::Impairment& impairment);
  /// Marks ECN-CE: the share of ECN-capable frames that are not trimmed, 0 to 1; another one is reported.
  void set_marking(unsigned from_end, double share);
  /// Frames that it has marked.
  uint64_t marked(unsigned from_end) const { return way_[from_end].marked; }
  /// Of losses and marks; before the simulation.
  void set_seed(unsigned from_end, uint64_t seed) {
    way_[from_end].rng = Rng(seed, "link");
    way_[from_end].mark_rng = Rng(seed, "mark");
  }
  /// Sees frames of both directions, as link number `id`. Null ends it.
  void set_tap(sim::Tap* tap, sim::LinkId id) { tap_ = tap, id_ = id; }
  sim::LinkStats stats(unsigned from_end) const { return way_[from_end].stats; }

 private:
  struct Way {
    sim::Impairment impairment;
    Rng rng{0, "link"}, mark_rng{0, "mark"};
    double marking = 0;
    uint64_t marked = 0;
    sim::LinkStats stats;
    bool dark = false;  // the end itself gives no light
  };
  tlm::tlm_sync_enum forward(int end, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& t);
  tlm::tlm_sync_enum backward(int end, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& t);
  void blocking(int end, tlm::tlm_generic_payload& payload, sc_core::sc_time& t);
  /// Null: no frame; reported.
  FrameExtension* frame_of(unsigned end, tlm::tlm_generic_payload& payload) const;
  bool loses(unsigned end, const FrameExtension& frame);
  void mark(unsigned end, FrameExtension& frame);
  sc_core::sc_time serialization(const FrameExtension& frame) const;
  void carrier_changed();
  void detected();
  void report();
  void before_end_of_elaboration() override;
  void start_of_simulation() override;

  sim::LinkConfig config_;
  sim::Rate rate_;
  sc_core::sc_time delay_;
  std::array<Way, 2> way_;  // by the end that sends
  LinkChange change_;
  sim::Tap* tap_ = nullptr;
  sim::LinkId id_ = 0;
  std::array<bool, 2> reports_{};                  // ends that hear of changes
  bool up_ = true, carrier_ = true, seen_ = true;  // seen: by the ends
  sc_core::sc_event detect_;
};

}  // namespace mrc::systemc

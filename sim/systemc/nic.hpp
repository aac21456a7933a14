// SPDX-License-Identifier: Apache-2.0
/// A NIC of any fidelity (sim/nic) as a module: fast, the model by the clock, or Verilated RTL.
///
///     Nic nic("nic0", std::make_unique<sim::FastEndpoint>(settings), {.planes = 2, .number = 0});
///     Host host("host0");
///     host.connect(nic);
///     Link link("nic0_0", {.gbps = 400});
///     link.connect(0, nic, 0);
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/systemc/descriptor.hpp"
#include "sim/systemc/node.hpp"

namespace mrc::systemc {

struct NicConfig {
  unsigned planes = 1;                ///< ports
  sim::NodeId number = 0;             ///< of the host, in addresses
  double gbps = 800;                  ///< of each port, where no Link says another rate
  std::vector<unsigned> tie_order{};  ///< sim::CellConfig
};

class Nic : public Node, private sim::Listener {
 public:
  /// Reports a number of planes that cannot be.
  Nic(const sc_core::sc_module_name& name, std::unique_ptr<sim::Endpoint> endpoint, const NicConfig& config);
  ~Nic() override;

  /// Work requests come in as writes of a packed sim::WorkRequest to kPostAddress, blocking or not. Answers
  /// TLM_GENERIC_ERROR_RESPONSE: no such queue pair, or no room until a completion.
  tlm_utils::simple_target_socket_optional<Nic> host;
  /// Completions and deliveries go out as writes of a packed HostEvent to kEventAddress, if anything is bound.
  tlm_utils::simple_initiator_socket_optional<Nic> events;

  /// Before the simulation. False: `why` says why, as a sentence without full stop.
  bool open(const sim::QpSpec& qp, std::string& why) { return cell_.endpoint().open(qp, why); }
  sim::NodeId number() const { return number_; }
  sim::EndpointStats stats() { return cell_.endpoint().stats(); }
  sim::Endpoint& endpoint() { return cell_.endpoint(); }

 private:
  void post(tlm::tlm_generic_payload& payload);
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& t);
  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& t);
  void blocking(tlm::tlm_generic_payload& payload, sc_core::sc_time& t);
  void completed(const sim::Completion& completion) override;
  void delivered(const sim::Delivery& delivery) override;
  void report(const HostEvent& event);

  sim::NodeId number_;
};

}  // namespace mrc::systemc

// SPDX-License-Identifier: Apache-2.0
/// Who makes a NIC work: posts work requests, hears what became of them.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <functional>
#include <systemc>

#include "sim/systemc/descriptor.hpp"
#include "sim/systemc/nic.hpp"

namespace mrc::systemc {

class Host : private BeforeElaboration, public sc_core::sc_module {
 public:
  explicit Host(const sc_core::sc_module_name& name);

  tlm_utils::simple_initiator_socket_optional<Host> nic;
  tlm_utils::simple_target_socket_optional<Host> events;
  /// Binds both sockets.
  void connect(Nic& to);

  /// From a process, or from inside `heard`. False: not taken; again after a completion.
  bool post(const sim::WorkRequest& request);
  /// Called for each completion and delivery, at the time at which the NIC tells.
  std::function<void(const HostEvent&)> heard;

 private:
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& t);
  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& t);
  void blocking(tlm::tlm_generic_payload& payload, sc_core::sc_time& t);
  void hear(tlm::tlm_generic_payload& payload);
  void before_end_of_elaboration() override;
};

}  // namespace mrc::systemc

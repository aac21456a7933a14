// SPDX-License-Identifier: Apache-2.0
#include "sim/systemc/host.hpp"

#include "sim/systemc/write.hpp"

namespace mrc::systemc {

Host::Host(const sc_core::sc_module_name& name)
    : BeforeElaboration(static_cast<const char*>(name)), sc_module(name), nic("nic"), events("events") {
  nic.register_nb_transport_bw(this, &Host::backward);
  events.register_nb_transport_fw(this, &Host::forward);
  events.register_b_transport(this, &Host::blocking);
}

void Host::connect(Nic& to) {
  nic.bind(to.host);
  to.events.bind(events);
}

void Host::before_end_of_elaboration() {
  if (nic.get_base_port().bind_count() == 0) {
    refuse(kUnbound, name(), "nothing is bound to socket nic", "Bind it to the host socket of a Nic.");
  }
  if (nic.get_base_port().bind_count() > 1 || events.get_base_port().bind_count() > 1) {
    refuse(kBoundTwice, name(), "it has two NICs", "Give each Nic a Host of its own.");
  }
}

bool Host::post(const sim::WorkRequest& request) {
  return write_record(*nic.operator->(), kPostAddress, pack(request));
}

void Host::hear(tlm::tlm_generic_payload& payload) {
  if (!takes_record(payload, kEventAddress)) return;
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (heard) heard(unpack_event(std::span<const uint8_t, kRecordBytes>(payload.get_data_ptr(), kRecordBytes)));
}
tlm::tlm_sync_enum Host::forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  hear(payload);
  return tlm::TLM_COMPLETED;
}
tlm::tlm_sync_enum Host::backward(tlm::tlm_generic_payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
  return phase == tlm::BEGIN_RESP ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
}
void Host::blocking(tlm::tlm_generic_payload& payload, sc_core::sc_time&) { hear(payload); }

}  // namespace mrc::systemc

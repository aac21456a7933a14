// SPDX-License-Identifier: Apache-2.0
#include "sim/systemc/nic.hpp"

#include <utility>

#include "sim/systemc/write.hpp"

namespace mrc::systemc {

Nic::Nic(const sc_core::sc_module_name& name, std::unique_ptr<sim::Endpoint> endpoint, const NicConfig& config)
    : Node(name, config.planes, 0), host("host"), events("events"), number_(config.number) {
  good(cell_.make_endpoint(this->name(), std::move(endpoint),
                           {.ports = config.planes, .gbps = config.gbps, .tie_order = config.tie_order}, number_));
  cell_.endpoint().listen(this);
  host.register_nb_transport_fw(this, &Nic::forward);
  host.register_b_transport(this, &Nic::blocking);
  events.register_nb_transport_bw(this, &Nic::backward);
}
Nic::~Nic() { cell_.endpoint().listen(nullptr); }

void Nic::post(tlm::tlm_generic_payload& payload) {
  if (!takes_record(payload, kPostAddress)) return;
  const auto request = unpack_request(std::span<const uint8_t, kRecordBytes>(payload.get_data_ptr(), kRecordBytes));
  Acting here(*this);
  const bool taken = cell_.endpoint().post(request);
  payload.set_response_status(taken ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
}

tlm::tlm_sync_enum Nic::forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  post(payload);
  return tlm::TLM_COMPLETED;
}
tlm::tlm_sync_enum Nic::backward(tlm::tlm_generic_payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
  return phase == tlm::BEGIN_RESP ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
}
void Nic::blocking(tlm::tlm_generic_payload& payload, sc_core::sc_time&) { post(payload); }

void Nic::report(const HostEvent& event) {
  if (events.size() > 0) write_record(*events.operator->(), kEventAddress, pack(event));
}
void Nic::completed(const sim::Completion& c) {
  report({c.ok ? EventKind::Completed : EventKind::Failed, c.id, c.bytes, c.node, c.qpn});
}
void Nic::delivered(const sim::Delivery& d) { report({EventKind::Delivered, d.msn, d.bytes, d.node, d.qpn}); }

}  // namespace mrc::systemc

// SPDX-License-Identifier: Apache-2.0
#include "sim/systemc/write.hpp"

#include <systemc>

namespace mrc::systemc {
namespace {
/// Nobody keeps it beyond the call.
struct Payload final : tlm::tlm_mm_interface {
  tlm::tlm_generic_payload payload{this};
  void free(tlm::tlm_generic_payload*) override {}
};
}  // namespace

bool takes_record(tlm::tlm_generic_payload& payload, uint64_t address) {
  if (!payload.is_write()) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  } else if (payload.get_address() != address) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  } else if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  } else if (payload.get_data_length() != kRecordBytes || payload.get_streaming_width() < kRecordBytes ||
             payload.get_data_ptr() == nullptr) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  } else {
    return true;
  }
  return false;
}

bool write_record(tlm::tlm_fw_transport_if<>& socket, uint64_t address, Record record) {
  Payload p;
  p.payload.acquire();
  p.payload.set_write();
  p.payload.set_address(address);
  p.payload.set_data_ptr(record.data());
  p.payload.set_data_length(kRecordBytes);
  p.payload.set_streaming_width(kRecordBytes);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time t;
  const bool taken = socket.nb_transport_fw(p.payload, phase, t) == tlm::TLM_COMPLETED && p.payload.is_response_ok();
  p.payload.release();
  return taken;
}

}  // namespace mrc::systemc

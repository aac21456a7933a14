// SPDX-License-Identifier: Apache-2.0
/// Records over sockets: small writes that take no time.
#pragma once

#include <tlm>

#include "sim/systemc/descriptor.hpp"

namespace mrc::systemc {

/// True: a whole record for that address. Else the response status says what is wrong.
bool takes_record(tlm::tlm_generic_payload& payload, uint64_t address);
/// False: refused. A target that does not answer with TLM_COMPLETED has not taken it.
bool write_record(tlm::tlm_fw_transport_if<>& socket, uint64_t address, Record record);

}  // namespace mrc::systemc

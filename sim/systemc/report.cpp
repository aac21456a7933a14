// SPDX-License-Identifier: Apache-2.0
#include "sim/systemc/report.hpp"

namespace mrc::systemc {

void refuse(const char* type, const std::string& module, const std::string& what, const std::string& remedy) {
  SC_REPORT_ERROR(type, (module + ": " + what + ". " + remedy).c_str());
}

BeforeElaboration::BeforeElaboration(const std::string& name) {
  constexpr int kOpen = sc_core::SC_ELABORATION | sc_core::SC_BEFORE_END_OF_ELABORATION;
  if ((sc_core::sc_get_status() & kOpen) == 0) {
    refuse(kElaboration, name, "SystemC has elaborated this process already, and takes no second elaboration",
           "Build all modules before sc_start(), and run another simulation in another process.");
  }
  if (picoseconds(1) != sc_core::sc_time(1, sc_core::SC_PS)) {
    refuse(kResolution, name, "the resolution of time is not 1 ps",
           "Leave sc_set_time_resolution() out, or give it 1 ps.");
  }
}

}  // namespace mrc::systemc

// SPDX-License-Identifier: Apache-2.0
#include "sim/systemc/trimming_switch.hpp"

namespace mrc::systemc {

TrimmingSwitch::TrimmingSwitch(const sc_core::sc_module_name& name, const TrimmingSwitchConfig& config)
    : Node(name, config.ports, config.settings.port_latency) {
  good(cell_.make_switch(config.settings, {.ports = config.ports, .gbps = config.gbps, .tie_order = config.tie_order},
                         config.host_ports, config.seed));
  SC_HAS_PROCESS(TrimmingSwitch);
  SC_METHOD(back);
  sensitive << back_;
  dont_initialize();
}

void TrimmingSwitch::reset(const sc_core::sc_time& away) {
  for (unsigned p = 0; p < ports(); ++p) tell_carrier(p, false);
  {
    Acting here(*this);
    cell_.reset();
  }
  back_.cancel();
  back_.notify(away);
}

void TrimmingSwitch::back() {
  for (unsigned p = 0; p < ports(); ++p) tell_carrier(p, true);
}

}  // namespace mrc::systemc

// SPDX-License-Identifier: Apache-2.0
#include "sim/systemc/trimming_switch.hpp"

#include <string>

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

void TrimmingSwitch::trace(sc_core::sc_trace_file* file) {
  depths_.assign(size_t{ports()} * sim::kQueues, 0);
  const std::string prefix = name();
  for (unsigned p = 0; p < ports(); ++p) {
    for (unsigned q = 0; q < sim::kQueues; ++q) {
      sc_core::sc_trace(file, depths_[size_t{p} * sim::kQueues + q],
                        prefix + ".port_" + std::to_string(p) + ".queue_" + std::to_string(q));
    }
  }
  sc_core::sc_trace(file, buffer_, prefix + ".buffer");
}

void TrimmingSwitch::acted() {
  if (depths_.empty()) return;
  for (size_t i = 0; i < depths_.size(); ++i) {
    depths_[i] = state().depth(static_cast<unsigned>(i / sim::kQueues), static_cast<unsigned>(i % sim::kQueues));
  }
  buffer_ = state().buffer().used;
}

void TrimmingSwitch::reset(const sc_core::sc_time& away) {
  for (unsigned p = 0; p < ports(); ++p) report_carrier(p, false);
  {
    Acting here(*this);
    cell_.reset();
  }
  back_.cancel();
  back_.notify(away);
}

void TrimmingSwitch::back() {
  for (unsigned p = 0; p < ports(); ++p) report_carrier(p, true);
}

}  // namespace mrc::systemc

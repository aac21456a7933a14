// SPDX-License-Identifier: Apache-2.0
/// The switch of the fabric (sim/switch) as a module: shared buffer, ECN marks, trimming, SRv6 and ECMP.
///
///     TrimmingSwitch sw("t0", {.settings = SwitchConfig::recommended("t0", 100'000), .ports = 4, .host_ports = 2});
///     sw.tables().add_route(usid, 3);
///     Link link("uplink", {.gbps = 800, .metres = 30});
///     link.connect(0, sw, 3);
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/switch/switch.hpp"
#include "sim/systemc/node.hpp"

namespace mrc::systemc {

struct TrimmingSwitchConfig {
  sim::SwitchConfig settings;
  unsigned ports = 2;
  unsigned host_ports = 0;            ///< the first of them: they lead to NICs
  double gbps = 800;                  ///< of each port, where no Link says another rate
  uint64_t seed = 1;                  ///< of random marks
  std::vector<unsigned> tie_order{};  ///< sim::CellConfig
};

class TrimmingSwitch : public Node {
 public:
  /// Reports settings that cannot work.
  TrimmingSwitch(const sc_core::sc_module_name& name, const TrimmingSwitchConfig& config);

  /// Routes, counters, depths (sim/switch/switch.hpp). Not for changes while packets move.
  sim::Switch& tables() { return cell_.node_switch(); }
  const sim::Switch& state() const { return cell_.node_switch(); }
  /// All it holds is lost, its links go dark; after `away` it is back.
  void reset(const sc_core::sc_time& away);
  /// Before the simulation: bytes that wait, by port and queue (MODULE.port_3.queue_2), and in the shared buffer
  /// (MODULE.buffer).
  void trace(sc_core::sc_trace_file* file);

 private:
  void acted() override;
  void back();
  sc_core::sc_event back_;
  std::vector<uint64_t> depths_;  // by port, then queue; empty: not traced
  uint64_t buffer_ = 0;
};

}  // namespace mrc::systemc

// SPDX-License-Identifier: Apache-2.0
#include "sim/endpoints.hpp"

#include <algorithm>
#include <cmath>

#include "sim/codec.hpp"
#include "sim/endpoint_fast.hpp"
#include "sim/endpoint_roce.hpp"
#include "wire/packet.hpp"

namespace mrc::sim {
namespace {
Stack stack_of(const Topology& topology) {
  return !topology.srv6() ? Stack::Ipv6 : topology.encap() == Encap::Srv6Srh ? Stack::Srv6Srh : Stack::Srv6;
}
}  // namespace

unsigned data_frame(const Scenario& scenario, const Topology& topology) {
  return frame_size(stack_of(topology), static_cast<uint8_t>(wire::Opcode::WriteMiddle), true,
                    static_cast<unsigned>(scenario.mtu));
}
unsigned sack_frame(const Topology& topology) {
  return frame_size(stack_of(topology), static_cast<uint8_t>(wire::Opcode::Sack), true, 0);
}

namespace {
/// Packets that a BDP of the whole NIC has.
double bdp_packets(const Scenario& scenario, const Topology& topology) {
  const Time rtt = topology.base_rtt(data_frame(scenario, topology), sack_frame(topology));
  return topology.nic_gbps() * 1e9 / 8 * static_cast<double>(rtt) * 1e-12 / scenario.mtu;
}
/// mrc.md section 7: max(5 packets, 1.5 cwnd), cwnd at its largest.
unsigned reorder_of(const Scenario& scenario, const Topology& topology) {
  if (scenario.reorder > 0) return static_cast<unsigned>(scenario.reorder);
  return static_cast<unsigned>(std::max(5.0, 1.5 * 1.5 * bdp_packets(scenario, topology)));
}
}  // namespace

unsigned window_of(const Scenario& scenario, const Topology& topology) {
  if (scenario.mpr > 0) return static_cast<unsigned>(scenario.mpr);
  const double packets = 4 * bdp_packets(scenario, topology);
  return static_cast<unsigned>(std::clamp(std::ceil(packets / 128), 8.0, 255.0));
}

std::unique_ptr<Endpoint> make_endpoint(const Scenario& scenario, const Topology& topology, const std::string& fidelity,
                                        const std::string& where) {
  if (fidelity != "fast") {
    throw Unsupported(where + ": endpoints of fidelity " + fidelity + " cannot stand in the fabric yet.",
                      "Use \"fast\".");
  }
  const Time rtt = topology.base_rtt(data_frame(scenario, topology), sack_frame(topology));
  if (scenario.transport == "roce") {
    RoceConfig config;
    config.dcqcn = scenario.congestion;
    return std::make_unique<RoceEndpoint>(config);
  }
  // A packet's answer takes its time too.
  FastConfig config = FastConfig::for_fabric(topology.nic_gbps(), rtt + 2 * kNsccTickNs * kNs);
  config.mpr = config.mpr_dest = window_of(scenario, topology);
  config.reorder = reorder_of(scenario, topology);
  config.same_ev = scenario.same_ev;
  if (scenario.timeout >= 0) config.timeout = static_cast<unsigned>(scenario.timeout);
  config.ar_shift = static_cast<unsigned>(scenario.ar_shift);
  config.sack_trigger = static_cast<uint32_t>(scenario.sack_trigger);
  config.trim_nack = scenario.trim_nack;
  config.ev_min_active = static_cast<unsigned>(scenario.min_active);
  config.probe_interval = static_cast<uint16_t>(std::clamp(scenario.probe_us * 1000 / kNsccTickNs, 1.0, 65535.0));
  config.nscc.path_mtu = static_cast<uint32_t>(scenario.mtu);
  config.nscc.trimming = topology.config().trim;
  return std::make_unique<FastEndpoint>(config);
}

uint64_t memory_of(const Endpoint& endpoint) {
  const auto* fast = dynamic_cast<const FastEndpoint*>(&endpoint);
  return fast != nullptr ? fast->memory() : 0;
}

}  // namespace mrc::sim

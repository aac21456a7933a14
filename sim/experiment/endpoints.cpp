// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/endpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/engine/codec.hpp"
#include "sim/nic/roce/endpoint_roce.hpp"
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
unsigned empty_frame(const Topology& topology) {
  return frame_size(stack_of(topology), static_cast<uint8_t>(wire::Opcode::WriteOnlyImm), true, 0);
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
  return static_cast<unsigned>(std::clamp(std::ceil(packets / 128), 8.0, 32.0));
}

bool has_clocked(const Scenario& scenario) {
  return scenario.transport == "mrc" &&
         (scenario.endpoints != "fast" || std::any_of(scenario.nodes.begin(), scenario.nodes.end(),
                                                      [](const NodeConfig& n) { return n.fidelity != "fast"; }));
}

bool nic_rules(const Scenario& scenario) {
  const bool requested = scenario.source.lines.count("nic_rules") != 0;
  return requested ? scenario.nic_rules : has_clocked(scenario);
}

ShareWords share_settings(const Scenario& scenario, const NsccParams& nscc) {
  ShareWords share;
  share.on = scenario.share;
  share.epoch = 0;
  while (share.epoch < 15 && (kNsccTickNs << share.epoch) < 2.5 * nscc.base_rtt) ++share.epoch;
  if (scenario.share_epoch >= 0) share.epoch = static_cast<uint8_t>(scenario.share_epoch);
  share.least = static_cast<uint8_t>(scenario.share_least);
  share.trims = static_cast<uint8_t>(scenario.share_trims);
  share.pen = static_cast<uint8_t>(scenario.share_pen);
  const double bdp = nscc.rate_gbps / 8 * nscc.base_rtt;
  share.drain = static_cast<uint32_t>(scenario.share_drain != 0 ? scenario.share_drain : std::min(1.5 * bdp, 4e9));
  return share;
}

FastConfig nic_settings(const Scenario& scenario, const Topology& topology) {
  const Preset& preset = *find_preset(scenario.preset);
  const Time rtt = topology.base_rtt(data_frame(scenario, topology), sack_frame(topology));
  FastConfig times;
  if (nic_rules(scenario)) times.be_nic(preset);
  // The NICs at both ends take their time too.
  FastConfig config = FastConfig::for_fabric(
      topology.nic_gbps(), rtt + times.nic_time(data_frame(scenario, topology), Rate::gbps(topology.config().gbps)));
  if (nic_rules(scenario)) config.be_nic(preset);
  use_profile(config, topology.profile());
  config.mpr = config.mpr_dest = window_of(scenario, topology);
  config.reorder = reorder_of(scenario, topology);
  config.same_ev = scenario.same_ev;
  // What the NIC with a clock does not do (be_nic) only where it is asked for: endpoints with a clock refuse it.
  const auto ours = [&](const char* key) { return !nic_rules(scenario) || scenario.source.lines.count(key) != 0; };
  config.port_loss = scenario.port_loss;
  config.overdue = static_cast<unsigned>(scenario.overdue);
  config.silence = static_cast<unsigned>(scenario.silence);
  config.silence_least = static_cast<unsigned>(scenario.silence_us * 1000 / kNsccTickNs);
  config.other_plane = scenario.other_plane;
  config.copies = static_cast<unsigned>(scenario.copies);
  config.bad_waits = scenario.bad_waits;
  config.loss_spares = scenario.loss_spares;
  config.lost_stays = scenario.lost_stays;
  if (ours("by_count")) config.by_count = scenario.by_count;
  if (ours("suspect")) config.suspect = static_cast<unsigned>(scenario.suspect);
  if (ours("strikes")) config.strikes = static_cast<unsigned>(scenario.strikes);
  config.loss_share = static_cast<unsigned>(scenario.loss_share);
  if (scenario.timeout >= 0) config.timeout = static_cast<unsigned>(scenario.timeout);
  config.ar_shift = static_cast<unsigned>(scenario.ar_shift);
  config.sack_trigger = static_cast<uint32_t>(scenario.sack_trigger);
  config.trim_nack = scenario.trim_nack;
  config.share = share_settings(scenario, config.nscc);
  config.ev_min_active = static_cast<unsigned>(scenario.min_active);
  config.probe_interval = static_cast<uint16_t>(std::clamp(scenario.probe_us * 1000 / kNsccTickNs, 1.0, 65535.0));
  config.probe_kind = static_cast<Revive>(scenario.probe_kind);
  config.endpoint_repeats = static_cast<unsigned>(scenario.ep_repeats);
  config.nominal = static_cast<Nominal>(scenario.nominal);
  config.nscc.path_mtu = static_cast<uint32_t>(scenario.mtu);
  config.max_wimm = static_cast<unsigned>(scenario.max_wimm);
  config.wimm_over = static_cast<WimmOver>(scenario.wimm_over);
  config.zero_length = static_cast<ZeroLength>(scenario.zero_length);
  config.skip_mode = static_cast<SkipMode>(scenario.skip_mode);
  if (scenario.skip_us > 0) {
    config.skip_ticks = static_cast<unsigned>(std::clamp(scenario.skip_us * 1000 / kNsccTickNs, 1.0, 65535.0));
  }
  config.returned = scenario.returned == "learn"  ? Returned::Learn
                    : scenario.returned == "peer" ? Returned::Peer
                                                  : Returned::Drop;
  if (scenario.returned_dscp >= 0) config.dscp_returned = static_cast<uint8_t>(scenario.returned_dscp);
  // What is sent back and not listened to is as good as dropped.
  config.nscc.trimming = topology.config().trim && (!topology.config().to_sender || config.returned == Returned::Learn);
  const bool clocked = has_clocked(scenario);
  if (clocked) {
    if (!nic_rules(scenario)) {
      throw InputError(scenario.source.at("nic_rules") +
                           ": nic_rules = false, but NICs of fidelity model and rtl have no other rules.",
                       "Leave it out, or make all NICs fast.");
    }
    if (scenario.ar_shift > 7) {
      throw InputError(scenario.source.at("ar_shift") + ": ar_shift is above 7, the most that the NIC can do.",
                       "Use 0 to 7, or make all NICs fast.");
    }
  }
  return config;
}

std::unique_ptr<Endpoint> make_endpoint(const Scenario& scenario, const Topology& topology, const std::string& fidelity,
                                        const std::string& where, const ClockedMaker& clocked,
                                        std::shared_ptr<FastShared>& common) {
  if (fidelity != "fast") {
    if (scenario.transport != "mrc") {
      throw InputError(where + ": endpoints of fidelity " + fidelity + " speak MRC only.",
                       "Use transport = \"mrc\", or \"fast\" endpoints.");
    }
    if (!clocked) {
      throw Unsupported(where + ": this program has no endpoints of fidelity " + fidelity + ".", "Use \"fast\".");
    }
    const Preset& preset = *find_preset(scenario.preset);
    if (topology.planes() != preset.num_planes) {
      throw InputError(fmt::format("{}: no endpoint of fidelity {}: the NIC {} has {} planes, the topology {}.", where,
                                   fidelity, preset.name, preset.num_planes, topology.planes()),
                       "Change planes, or the preset.");
    }
    const double port = preset.port_bytes * 8000.0 / preset.clock_ps;
    if (topology.config().gbps > port) {
      throw InputError(
          fmt::format("{}: no endpoint of fidelity {}: links of {:g} Gb/s are faster than a port of the NIC {}, "
                      "which takes {:g}.",
                      where, fidelity, topology.config().gbps, preset.name, port),
          "Use slower links, or another preset.");
    }
    return clocked(fidelity, preset, nic_settings(scenario, topology), where);
  }
  if (scenario.transport == "roce") {
    RoceConfig config;
    config.dcqcn = scenario.congestion;
    config.timeout = from_us(scenario.roce_timeout_us);
    config.retries = static_cast<unsigned>(scenario.roce_retries);
    return std::make_unique<RoceEndpoint>(config);
  }
  if (!common) common = std::make_shared<FastShared>(nic_settings(scenario, topology));
  return std::make_unique<FastEndpoint>(common);
}

}  // namespace mrc::sim

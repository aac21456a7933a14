// SPDX-License-Identifier: Apache-2.0
/// What ports did in a run: one by one, by tier and plane, and what packets found in their queues.
#include <algorithm>

#include "sim/experiment/experiment.hpp"
#include "sim/switch/switch.hpp"

namespace mrc::sim {
namespace {

/// Adds a port to its tier.
void add(TierResult& tier, const PortResult& port) {
  ++tier.links;
  tier.load += port.load;
  tier.most_load = std::max(tier.most_load, port.load);
  tier.packets += port.packets;
  tier.bytes += port.bytes;
  tier.deepest = std::max(tier.deepest, port.deepest);
  tier.marks += port.marks;
  tier.trims += port.trims;
  tier.drops += port.drops;
  tier.lost += port.lost;
}

/// Of the data queues of switches in one place.
struct Place {
  const char* where;
  Depths found{};
  uint64_t packets = 0;
};

}  // namespace

void Experiment::count_ports(ExperimentResult& r) const {
  const auto load = [&](LinkId link, const LinkStats& stats) {
    const Rate rate = Rate::gbps(topology_.tier_of_link(link) == 0 ? topology_.config().gbps : topology_.uplink_gbps());
    const uint64_t wire = stats.bytes + stats.packets * (kPreambleBytes + kFcsBytes + kGapBytes);
    return r.time > 0 ? static_cast<double>(rate.time(wire)) / static_cast<double>(r.time) : 0;
  };
  std::vector<TierResult> tiers;
  for (unsigned tier = 0; tier < 2 * topology_.tiers(); ++tier) {
    for (unsigned plane = 0; plane < topology_.planes(); ++plane) tiers.push_back({.tier = tier, .plane = plane});
  }
  const auto tier_of = [&](const PortResult& p) -> TierResult& { return tiers[p.tier * topology_.planes() + p.plane]; };
  Place places[] = {{kTiers[1]}, {kTiers[2]}, {"T1"}, {"T2"}};
  for (NodeId n = topology_.hosts(); n < fabric_->nodes(); ++n) {
    const Switch& sw = *fabric_->switch_at(n);
    const unsigned own = topology_.tier_of(n);
    for (unsigned port = 0; port < fabric_->ports_of(n); ++port) {
      const LinkId link = fabric_->link_at({n, port});
      if (link == kNone) continue;
      const auto [a, b] = fabric_->ends(link);
      const bool from_a = a.node == n;  // up
      const LinkStats stats = fabric_->stats(link, from_a);
      PortResult p;
      p.plane = topology_.plane_of(link);
      p.tier = 2 * topology_.tier_of_link(link) + (from_a ? 0 : 1);
      for (unsigned q = 0; q < sw.used_queues(); ++q) {
        const QueueCounters c = sw.queue_counters(port, q);
        p.deepest = std::max(p.deepest, c.watermark_bytes);
        p.marks += c.ecn_marked;
        p.trims += c.trim;
        p.drops += c.dropped_packets - c.tx_trim;
        if (q == sw.data_queue()) places[own + (p.tier == 1 ? 0 : 1)].packets += c.packets;
      }
      for (const auto& [name, value] : sw.port_counters(port)) {
        if (name.find("DISCARDS") != std::string_view::npos) r.discards += value;
      }
      p.packets = stats.packets;
      p.bytes = stats.bytes;
      p.lost = stats.lost;
      p.load = load(link, stats);
      r.trims += p.trims;
      r.marks += p.marks;
      r.drops += p.drops;
      add(tier_of(p), p);
      if (!keep_ports || p.packets + p.drops + p.lost == 0) continue;
      p.name = topology_.node_name(n) + " to " + topology_.node_name(from_a ? b.node : a.node);
      r.ports.push_back(std::move(p));
    }
    if (own == 0) places[0].found.add(sw.found(true));
    places[own + 1].found.add(sw.found(false));
  }
  for (LinkId l = 0; l < fabric_->links(); ++l) {
    for (const bool up : {true, false}) {
      const LinkStats stats = fabric_->stats(l, up);
      r.lost += stats.lost;
      r.transmissions += stats.packets;
      if (!up || topology_.tier_of_link(l) > 0) continue;
      PortResult nic;
      nic.plane = topology_.plane_of(l);
      nic.load = load(l, stats);
      nic.packets = stats.packets;
      nic.bytes = stats.bytes;
      nic.lost = stats.lost;
      add(tier_of(nic), nic);
    }
  }
  for (TierResult& t : tiers) t.load /= static_cast<double>(std::max<uint64_t>(t.links, 1));
  r.tiers = std::move(tiers);
  for (const Place& p : places) {
    if (p.packets == 0) continue;
    const auto at = [&](double q) { return p.found.quantile(q, p.packets); };
    r.depths.push_back({p.where, p.packets, at(0.5), at(0.99), at(0.999), at(1)});
  }
}

}  // namespace mrc::sim

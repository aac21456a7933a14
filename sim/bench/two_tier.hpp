// SPDX-License-Identifier: Apache-2.0
/// A two-tier Clos of several planes, for tests and measurements of the engine: NIC h hangs at leaf h / hosts_per_leaf
/// of every plane, every leaf has a link to every spine of its plane.
#pragma once

#include <bit>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/fabric.hpp"
#include "sim/switch/switch.hpp"
#include "util/rng.hpp"

namespace mrc::sim {

struct TwoTierConfig {
  unsigned leaves = 2, spines = 1, hosts_per_leaf = 1, planes = 1;
  double gbps = 800;
  double nic_metres = 2, spine_metres = 30;
  Time fec = 100 * kNs;
  uint64_t plane_bdp = 600'000;
  bool cut_through = false;
  unsigned hosts() const { return leaves * hosts_per_leaf; }
};

/// uSIDs: leaf 0x1000 + number, spine 0x2000 + number, downlink 0x3000 + port. A path is spine, leaf, downlink behind
/// the own leaf's.
class TwoTier {
 public:
  static constexpr uint32_t kBlock = 0x20010db8;

  TwoTier(Fabric& fabric, const TwoTierConfig& config) : fabric_(fabric), config_(config) {
    for (unsigned p = 0; p < config.planes; ++p) {
      for (unsigned tier = 0; tier < 2; ++tier) {
        const unsigned count = tier == 0 ? config.leaves : config.spines;
        for (unsigned i = 0; i < count; ++i) {
          const std::string name = (tier == 0 ? "T0-" : "T1-") + std::to_string(p) + "-" + std::to_string(i);
          SwitchConfig sw = SwitchConfig::recommended(name, config.plane_bdp);
          sw.usid_block = kBlock;
          sw.usid = usid(tier, i);
          sw.cut_through = config.cut_through;
          switches_.push_back(
              *fabric.add_switch(sw, tier == 0 ? config.hosts_per_leaf + config.spines : config.leaves));
        }
      }
    }
    for (unsigned p = 0; p < config.planes; ++p) {
      for (unsigned l = 0; l < config.leaves; ++l) {
        Switch& leaf = *fabric.switch_at(node(p, 0, l));
        for (unsigned s = 0; s < config.spines; ++s) {
          Switch& spine = *fabric.switch_at(node(p, 1, s));
          (void)fabric.connect({node(p, 0, l), config.hosts_per_leaf + s}, {node(p, 1, s), l},
                               {.gbps = config.gbps, .metres = config.spine_metres, .fec = config.fec});
          leaf.add_route(usid(1, s), config.hosts_per_leaf + s);
          spine.add_route(usid(0, l), l);
        }
        for (unsigned h = 0; h < config.hosts_per_leaf; ++h) leaf.add_route(static_cast<uint16_t>(0x3000 + h), h);
      }
    }
  }

  NodeId node(unsigned plane, unsigned tier, unsigned i) const {
    return switches_[plane * (config_.leaves + config_.spines) + tier * config_.leaves + i];
  }
  static uint16_t usid(unsigned tier, unsigned i) { return static_cast<uint16_t>((tier + 1) * 0x1000 + i); }

  /// Host h, with links to its leaf in every plane.
  NodeId add_host(unsigned h, std::unique_ptr<Endpoint> endpoint) {
    const NodeId id = *fabric_.add_endpoint("nic" + std::to_string(h), std::move(endpoint), config_.planes);
    hosts_.push_back(id);
    for (unsigned p = 0; p < config_.planes; ++p) {
      (void)fabric_.connect({id, p}, {node(p, 0, h / config_.hosts_per_leaf), h % config_.hosts_per_leaf},
                            {.gbps = config_.gbps, .metres = config_.nic_metres, .fec = config_.fec});
    }
    return id;
  }
  NodeId host(unsigned h) const { return hosts_[h]; }

  /// A QP from host `from` to host `to`: `active` and `backup` EVs of each plane, which use all spines equally.
  QpSpec qp(unsigned from, unsigned to, uint32_t qpn, uint32_t peer_qpn, unsigned active, unsigned backup,
            uint64_t seed) const {
    QpSpec spec;
    spec.qpn = qpn;
    spec.peer = host(to);
    spec.peer_qpn = peer_qpn;
    spec.planes = config_.planes;
    const Address first = path(from, to, 0, 0);
    spec.path_template = static_cast<U128>(first.hi) << 64 | first.lo;
    const bool up = from / config_.hosts_per_leaf != to / config_.hosts_per_leaf;
    // Planes are networks of their own here: their number is in no uSID.
    spec.path_rule = {.plane_lsb = 16,
                      .uplink_usid = 1,
                      .uplink_lsb = 0,
                      .uplink_bits = up ? static_cast<unsigned>(std::bit_width(config_.spines - 1)) : 0};
    Rng rng(seed ^ Rng::hash(uint64_t{from} << 40 ^ uint64_t{to} << 16 ^ qpn), "evs");
    const unsigned groups = active + backup;
    std::vector<uint32_t> evs(size_t{groups} * config_.planes);
    for (unsigned p = 0; p < config_.planes; ++p) {
      std::vector<uint32_t> spine(groups);
      for (unsigned i = 0; i < groups; ++i) spine[i] = i % config_.spines;
      // Active and backup EVs are shuffled apart, so that each has all spines.
      for (unsigned i = 1; i < groups; ++i) {
        const unsigned low = i < active ? 0 : active;
        std::swap(spine[i], spine[rng.between(low, i)]);
      }
      for (unsigned i = 0; i < groups; ++i) {
        evs[size_t{i} * config_.planes + p] = static_cast<uint32_t>(rng.next() >> 32 << 12) | spine[i];
      }
    }
    const auto cut = evs.begin() + static_cast<std::ptrdiff_t>(size_t{active} * config_.planes);
    spec.ev_active.assign(evs.begin(), cut);
    spec.ev_backup.assign(cut, evs.end());
    return spec;
  }

  /// Time of a frame of `size` bytes from host to host through an empty fabric.
  Time one_way(unsigned size, bool over_spine) const {
    const Rate rate = Rate::gbps(config_.gbps);
    const unsigned switches = over_spine ? 3 : 1;
    const double metres = 2 * config_.nic_metres + (over_spine ? 2 * config_.spine_metres : 0);
    return (switches + 1) * (rate.time(wire_bytes(size) - kGapBytes) + config_.fec) +
           static_cast<Time>(metres * static_cast<double>(kFibrePerMetre)) + switches * (500 * kNs);
  }

  /// Outermost destination of a packet from host `from` to host `to`.
  Address path(unsigned from, unsigned to, unsigned, unsigned spine) const {
    const unsigned first = from / config_.hosts_per_leaf, last = to / config_.hosts_per_leaf;
    const uint64_t down = 0x3000 + to % config_.hosts_per_leaf;
    const uint64_t hi = uint64_t{kBlock} << 32 | uint64_t{usid(0, first)} << 16;
    if (first == last) return {hi | down, 0};
    return {hi | usid(1, spine), uint64_t{usid(0, last)} << 48 | down << 32};
  }

 private:
  Fabric& fabric_;
  TwoTierConfig config_;
  std::vector<NodeId> switches_, hosts_;
};

}  // namespace mrc::sim

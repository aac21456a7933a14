// SPDX-License-Identifier: Apache-2.0
/// A two-tier Clos of several planes, for tests of the engine: NIC h hangs at leaf h / hosts_per_leaf
/// of every plane, every leaf has a link to every spine of its plane.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/fabric.hpp"
#include "sim/switch/switch.hpp"

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

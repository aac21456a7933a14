// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/routes.hpp"

#include <algorithm>
#include <utility>

#include "sim/switch/switch.hpp"

namespace mrc::sim {

Routes::Routes(const Topology& topology, Fabric& fabric) : topology_(topology), fabric_(fabric) {
  if (topology.config().converge_us <= 0) return;
  down_.assign(topology.links(), false);
  changes_.assign(topology.links(), 0);
  fabric.on_carrier = [this](LinkId link, bool up) { changed(link, up); };
}

Routes::~Routes() { fabric_.on_carrier = nullptr; }

void Routes::changed(LinkId link, bool is_up) {
  if (link < topology_.links_below(0)) return;  // a NIC has no other way
  const uint32_t change = ++changes_[link];
  fabric_.at(fabric_.now() + from_us(topology_.config().converge_us), [this, link, is_up, change] {
    if (changes_[link] != change || down_[link] == !is_up) return;  // changed back before it was known
    down_[link] = !is_up;
    write(topology_.plane_of(link));
  });
}

void Routes::write(unsigned plane) {
  const Topology& t = topology_;
  const unsigned spines = t.spines(), pod_leaves = t.pod_leaves(), up_ports = t.core_links();
  // Without any way left packets go where they would have gone, and are lost there.
  const auto set = [&](NodeId node, unsigned leaf, std::vector<uint16_t> ports, unsigned first, unsigned count) {
    if (ports.empty()) {
      for (unsigned i = 0; i < count; ++i) ports.push_back(static_cast<uint16_t>(first + i));
    }
    const unsigned host = leaf * t.hosts_per_leaf(), hosts = std::min(t.hosts_per_leaf(), t.hosts() - host);
    fabric_.switch_at(node)->add_host_routes(host, hosts, std::move(ports));
  };
  std::vector<uint16_t> ports;
  for (unsigned to = 0; to < t.leaves(); ++to) {
    const unsigned there = to / pod_leaves;
    // ways[pod * spines + s]: whether T1 number s of that pod has a way to this T0.
    std::vector<bool> ways(t.in_tier(1));
    for (unsigned s = 0; s < spines; ++s) ways[there * spines + s] = up(t.uplink(plane, to, s));
    for (unsigned pod = 0; pod < t.pods(); ++pod) {
      for (unsigned s = 0; s < spines && pod != there; ++s) {
        ports.clear();
        for (unsigned c = s * up_ports; ways[there * spines + s] && c < (s + 1) * up_ports; ++c) {
          if (up(t.core_link(plane, pod, c)) && up(t.core_link(plane, there, c)))
            ports.push_back(static_cast<uint16_t>(pod_leaves + c % up_ports));
        }
        ways[pod * spines + s] = !ports.empty();
        set(t.spine(plane, pod * spines + s), to, ports, pod_leaves, up_ports);
      }
    }
    for (unsigned from = 0; from < t.leaves(); ++from) {
      if (from == to) continue;
      ports.clear();
      for (unsigned s = 0; s < spines; ++s) {
        if (up(t.uplink(plane, from, s)) && ways[from / pod_leaves * spines + s])
          ports.push_back(static_cast<uint16_t>(t.hosts_per_leaf() + s));
      }
      set(t.leaf(plane, from), to, ports, t.hosts_per_leaf(), spines);
    }
  }
}

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <numeric>

#include "sim/experiment/topology.hpp"
#include "sim/switch/switch.hpp"

namespace mrc::sim {

void Topology::build(Fabric& fabric, const Factory& factory, const std::function<void()>& poll) const {
  const auto good = [&poll](auto&& result) {
    if (poll) poll();
    if (!result) throw InputError(result.error().input + ": " + result.error().what + ".", result.error().remedy);
    return *result;
  };
  const Time detect = static_cast<Time>(config_.detect_us * kUs), fec = static_cast<Time>(config_.fec_ns * kNs);
  fabric.reserve(hosts_ + switches(), 2 * size_t{links()} + (leaves_ * per_leaf_ - hosts_) * size_t{planes_}, links());
  // A T0 goes with its NICs, and the T1s are shared out.
  const unsigned threads = fabric.threads();
  const auto part = [&](unsigned i, unsigned all) { fabric.place(i * threads / all); };
  for (NodeId h = 0; h < hosts_; ++h) {
    leaves_ < threads ? part(h, hosts_) : part(leaf_of(h), leaves_);
    good(fabric.add_endpoint(node_name(h), factory(h), planes_));
  }
  for (unsigned p = 0; p < planes_; ++p) {
    for (unsigned i = 0; i < plane_switches(); ++i) {
      const unsigned tier = tier_of(leaf(p, i)), all = in_tier(tier), n = leaf(p, i) - in_tier(tier, p, 0);
      all < threads ? fabric.place((p * all + n) % threads) : part(n, all);
      SwitchConfig sw = switch_config(node_name(leaf(p, i)), tier);
      if (tier < 2) sw.usid = usid(tier == 0 ? kNodeKind : kSpineKind, p, n);
      sw.ecmp_seed = p * 8192u + i + 1;
      good(fabric.add_switch(sw, tier == 0 ? per_leaf_ + spines_ : tier == 1 ? pod_leaves_ + core_links() : pods_));
    }
  }
  fabric.place(0);
  for (NodeId h = 0; h < hosts_; ++h) {
    for (unsigned p = 0; p < planes_; ++p) {
      good(fabric.connect({h, p}, {leaf(p, leaf_of(h)), h % per_leaf_},
                          {.gbps = config_.gbps, .metres = config_.host_metres, .fec = fec, .detect = detect}));
    }
  }
  for (unsigned p = 0; p < planes_; ++p) {
    for (unsigned l = 0; l < leaves_; ++l) {
      for (unsigned s = 0; s < spines_; ++s) {
        good(fabric.connect({leaf(p, l), per_leaf_ + s}, {spine(p, l / pod_leaves_ * spines_ + s), l % pod_leaves_},
                            {.gbps = uplink_gbps(), .metres = config_.spine_metres, .fec = fec, .detect = detect}));
      }
    }
  }
  for (unsigned p = 0; p < planes_; ++p) {
    for (unsigned pod = 0; pod < pods_; ++pod) {
      for (unsigned c = 0; c < cores_; ++c) {
        good(fabric.connect({spine(p, pod * spines_ + c / core_links()), pod_leaves_ + c % core_links()},
                            {core(p, c), pod},
                            {.gbps = uplink_gbps(), .metres = config_.core_metres, .fec = fec, .detect = detect}));
      }
    }
  }
  add_routes(fabric);
}

void Topology::add_routes(Fabric& fabric) const {
  std::vector<uint16_t> up(spines_);
  for (unsigned s = 0; s < spines_; ++s) up[s] = static_cast<uint16_t>(per_leaf_ + s);
  for (unsigned p = 0; p < planes_; ++p) {
    for (unsigned l = 0; l < leaves_; ++l) {
      Switch& sw = *fabric.switch_at(leaf(p, l));
      const unsigned first = l * per_leaf_, here = std::min(per_leaf_, hosts_ - first);
      if (srv6()) {
        // Whatever an entropy value says leads somewhere: numbers beyond the uplinks begin anew.
        for (unsigned u = 0; clos() && u < 1u << path_rule().uplink_bits; ++u) {
          sw.add_route(usid(kSpineKind, p, u), per_leaf_ + u % spines_);
          sw.add_node_sid(usid(kStayKind, p, stay_number() | u));
        }
        for (unsigned h = 0; h < here; ++h) sw.add_route(usid(kDownKind, p, h), h);
      }
      if (routes_to_hosts()) {
        for (unsigned h = 0; h < here; ++h) sw.add_host_route(first + h, {static_cast<uint16_t>(h)});
        if (first > 0) sw.add_host_routes(0, first, up);
        if (first + here < hosts_) sw.add_host_routes(first + here, hosts_ - first - here, up);
      }
    }
    for (unsigned s = 0; s < in_tier(1); ++s) {
      Switch& sw = *fabric.switch_at(spine(p, s));
      for (unsigned u = s + spines_; srv6() && u < 1u << path_rule().uplink_bits; u += spines_) {
        sw.add_node_sid(usid(kSpineKind, p, u));
      }
      const unsigned first = s / spines_ * pod_leaves_;
      for (unsigned l = first; l < first + pod_leaves_; ++l) {
        if (srv6()) sw.add_route(usid(kNodeKind, p, l), l - first);
        if (routes_to_hosts()) {
          sw.add_host_routes(l * per_leaf_, std::min(per_leaf_, hosts_ - l * per_leaf_),
                             {static_cast<uint16_t>(l - first)});
        }
      }
      if (pods_ == 1) continue;
      std::vector<uint16_t> to_cores(core_links());
      std::iota(to_cores.begin(), to_cores.end(), static_cast<uint16_t>(pod_leaves_));
      const unsigned pod = pod_leaves_ * per_leaf_, begin = first * per_leaf_, end = std::min(hosts_, begin + pod);
      if (begin > 0) sw.add_host_routes(0, begin, to_cores);
      if (end < hosts_) sw.add_host_routes(end, hosts_ - end, to_cores);
    }
    for (unsigned c = 0; c < cores_; ++c) {
      const unsigned pod = pod_leaves_ * per_leaf_;
      for (unsigned i = 0; i < pods_; ++i) {
        fabric.switch_at(core(p, c))
            ->add_host_routes(i * pod, std::min(pod, hosts_ - i * pod), {static_cast<uint16_t>(i)});
      }
    }
  }
}

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

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
    for (unsigned i = 0; i < leaves_ + spines_; ++i) {
      const bool first = i < leaves_;
      if (first) {
        leaves_ < threads ? fabric.place((p * leaves_ + i) % threads) : part(i, leaves_);
      } else {
        spines_ < threads ? fabric.place((p * spines_ + i) % threads) : part(i - leaves_, spines_);
      }
      SwitchConfig sw = switch_config(node_name(leaf(p, i)), first ? 0 : 1);
      sw.usid = usid(first ? kNodeKind : kSpineKind, p, first ? i : i - leaves_);
      sw.ecmp_seed = p * 8192u + i + 1;
      good(fabric.add_switch(sw, first ? per_leaf_ + spines_ : leaves_));
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
        good(fabric.connect({leaf(p, l), per_leaf_ + s}, {spine(p, s), l},
                            {.gbps = uplink_gbps(), .metres = config_.spine_metres, .fec = fec, .detect = detect}));
      }
    }
  }
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
    for (unsigned s = 0; s < spines_; ++s) {
      Switch& sw = *fabric.switch_at(spine(p, s));
      for (unsigned u = s + spines_; srv6() && u < 1u << path_rule().uplink_bits; u += spines_) {
        sw.add_node_sid(usid(kSpineKind, p, u));
      }
      for (unsigned l = 0; l < leaves_; ++l) {
        if (srv6()) sw.add_route(usid(kNodeKind, p, l), l);
        if (routes_to_hosts()) {
          sw.add_host_routes(l * per_leaf_, std::min(per_leaf_, hosts_ - l * per_leaf_), {static_cast<uint16_t>(l)});
        }
      }
    }
  }
}

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/shares.hpp"

#include <algorithm>

namespace mrc::sim {

namespace {

struct One {
  uint32_t flow = 0;
  uint64_t wire = 0;
};

bool together(const Flow& a, const Flow& b) { return b.begun < a.done && a.begun < b.done; }

}  // namespace

std::vector<uint64_t> shares(std::span<const Flow> flows, NodeId nics,
                             const std::function<uint64_t(const Flow&)>& wire) {
  std::vector<uint64_t> result(flows.size());
  for (const bool receives : {false, true}) {
    std::vector<std::vector<One>> at(nics);  // the flows of a NIC, traffic by traffic
    for (uint32_t f = 0; f < flows.size(); ++f)
      at[receives ? flows[f].to : flows[f].from].push_back({f, wire(flows[f])});
    for (std::vector<One>& nic : at) {
      const auto group = [&](const One& one) { return flows[one.flow].group; };
      std::stable_sort(nic.begin(), nic.end(), [&](const One& a, const One& b) { return group(a) < group(b); });
      for (auto own = nic.begin(); own != nic.end();) {
        const auto end = std::find_if(own, nic.end(), [&](const One& one) { return group(one) != group(*own); });
        uint64_t all = 0;
        for (auto one = own; one != end; ++one) all += one->wire;
        for (auto one = own; one != end; ++one) {
          const Flow& flow = flows[one->flow];
          if (flow.done == kNever) continue;
          uint64_t bytes = all;
          const auto add = [&](const One& other) {
            if (together(flow, flows[other.flow])) bytes += std::min(one->wire, other.wire);
          };
          std::for_each(nic.begin(), own, add);
          std::for_each(end, nic.end(), add);
          result[one->flow] = std::max(result[one->flow], bytes);
        }
        own = end;
      }
    }
  }
  return result;
}

}  // namespace mrc::sim

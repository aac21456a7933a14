// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <unordered_map>

#include "sim/engine/port.hpp"
#include "sim/experiment/endpoints.hpp"
#include "sim/nic/fast/fast_qp.hpp"
#include "sim/switch/queueing.hpp"

namespace mrc::sim {
namespace {

/// Of a link, a switch's port beside its queues, a table entry on each side of it.
constexpr uint64_t kLinkBytes = 40, kSwitchPortBytes = 40;
/// Of a flow with its channel and its places in tables.
constexpr uint64_t kFlowBytes = 300;
/// An EV in its set: value and state.
constexpr uint64_t kEvBytes = 5;

/// A number behind a word of a file, in units of `unit` bytes.
std::optional<uint64_t> number_in(const char* file, const std::string& word, uint64_t unit) {
  std::ifstream in(file);
  for (std::string token; in >> token;) {
    uint64_t value = 0;
    if (!word.empty() && token != word) continue;
    if (word.empty()) {  // the file is the number
      if (token.empty() || token.find_first_not_of("0123456789") != std::string::npos || token.size() > 18) return {};
      return std::stoull(token) * unit;
    }
    if (in >> value) return value * unit;
    return {};
  }
  return {};
}

std::optional<uint64_t> least(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  return !a ? b : !b ? a : std::min(*a, *b);
}
uint64_t above(uint64_t limit, uint64_t used) { return limit > used ? limit - used : 0; }

}  // namespace

uint64_t memory_needed(const Scenario& scenario, const Topology& topology, const Traffic& traffic, const Jobs* jobs) {
  const uint64_t links = topology.links(), nic_links = uint64_t{topology.hosts()} * topology.planes();
  const uint64_t switch_ports = nic_links + 2 * (links - nic_links);
  const uint64_t switch_port = kSwitchPortBytes + std::max(kQueueData + 1u, topology.profile().queues) * sizeof(Queue);
  uint64_t bytes = links * (2 * sizeof(Port) + kLinkBytes) + switch_ports * switch_port;
  bytes += topology.hosts() * uint64_t{sizeof(FastEndpoint)};
  if (topology.routes_to_hosts()) bytes += topology.switches() * uint64_t{topology.hosts()} * sizeof(uint16_t);

  std::unordered_map<uint64_t, uint16_t> pairs;
  std::vector<uint64_t> sent(topology.hosts());
  for (const Flow& f : traffic.flows) {
    uint16_t& qps = pairs[uint64_t{static_cast<uint8_t>(f.qp_class + 1)} << 56 | uint64_t{f.from} << 28 | f.to];
    qps = std::max(qps, f.qps);
    sent[f.from] += f.bytes;
  }
  uint64_t qps = 0;
  for (const auto& [pair, count] : pairs) qps += count;
  if (jobs != nullptr) {
    jobs->pairs([&](NodeId from, NodeId) {
      ++qps;
      sent[from] = ~uint64_t{0};
    });
    bytes += jobs->memory();
  }
  const auto evs = static_cast<uint64_t>(topology.config().evs + topology.config().backup_evs);
  bytes += 2 * qps * (sizeof(FastQp) + sizeof(FastDest) + evs * kEvBytes) + traffic.flows.size() * kFlowBytes;

  // On the way at full rate: what fits into half a round trip, with its answers; remembered: a round trip.
  const Time rtt = topology.base_rtt(data_frame(scenario, topology), sack_frame(topology));
  const double full = topology.nic_gbps() / 8 * static_cast<double>(rtt) / 1000 / scenario.mtu;
  for (const uint64_t s : sent) {
    const double packets = std::min(full, static_cast<double>(s) / scenario.mtu);
    bytes += static_cast<uint64_t>(packets * (sizeof(Packet) * 0.6 + sizeof(Block) / 64.0));
  }
  return bytes;
}

std::optional<uint64_t> memory_left() {
  std::optional<uint64_t> left = number_in("/proc/meminfo", "MemAvailable:", 1024);
  if (const auto most = number_in("/sys/fs/cgroup/memory.max", "", 1)) {
    left = least(left, above(*most, number_in("/sys/fs/cgroup/memory.current", "", 1).value_or(0)));
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    left = least(left, above(limit.rlim_cur, number_in("/proc/self/statm", "", page).value_or(0)));
  }
  return left;
}

void check_memory(const Scenario& scenario, uint64_t needed, std::optional<uint64_t> left) {
  if (!left || needed <= *left) return;
  const auto gigabytes = [](uint64_t bytes) { return static_cast<double>(bytes) / 1e9; };
  throw InputError(fmt::format("{}: this fabric and its traffic need {:.2g} GB of memory, and {:.2g} GB are left.",
                               scenario.source.file, gigabytes(needed), gigabytes(*left)),
                   "Give fewer NICs, QPs or entropy values, or end other programs.");
}

}  // namespace mrc::sim

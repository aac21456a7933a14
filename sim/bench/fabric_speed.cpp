// SPDX-License-Identifier: Apache-2.0
/// Speed of the engine with endpoints that have no protocol.
///   fabric_speed flow [packets]              one flow NIC-T0-T1-T0-NIC, 800G
///   fabric_speed permutation NICS PLANES [packets of each NIC]
/// The same with fast endpoints, and how long their flows took against the bound (all bytes at the receiver's link
/// rate, and one round trip):
///   fabric_speed flow-100MB | permutation-NICS-nMB | incast-SENDERS-nMB [options]
///     --mb N          megabytes of each flow
///     --planes N      planes that share 800 Gb/s
///     --seed N
///     --no-cc         none
///     --nscc NAME=VALUE  a field of it
///     --timeout T, --state-probe N, --reorder N  of FastConfig
///     --json          one line of JSON
///   fabric_speed idle-qps [QPs of a pair of NICs]   memory of QPs that do nothing
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/bench/synthetic.hpp"
#include "sim/bench/two_tier.hpp"
#include "sim/engine/codec.hpp"
#include "sim/nic/fast/endpoint_fast.hpp"

namespace {
using namespace mrc::sim;

int report(Fabric& fabric, const char* name, uint64_t data, double wall, double built) {
  std::printf(
      "%s: %zu nodes, %zu links: %.0f data packets in %.2f s = %.2f M/s; %.2f events/packet, %.1f ns/event; "
      "memory %.1f MB (%.1f MB in use), built in %.2f s\n",
      name, fabric.nodes(), fabric.links(), static_cast<double>(data), wall, static_cast<double>(data) / wall / 1e6,
      static_cast<double>(fabric.events()) / static_cast<double>(data),
      wall * 1e9 / static_cast<double>(fabric.events()), static_cast<double>(fabric.memory()) / 1e6,
      static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd) / 1e6, built);
  return 0;
}
/// Time of this process on a core: other load on the machine does not count.
double seconds(std::clock_t since) { return static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC; }

int run(const char* name, const TwoTierConfig& config, uint64_t packets, bool all) {
  const auto start = std::clock();
  Fabric fabric;
  TwoTier net(fabric, config);
  std::vector<Synthetic*> nics;
  for (unsigned n = 0; n < config.hosts(); ++n) {
    const bool sends = all || n == 0;
    auto endpoint = std::make_unique<Synthetic>(SyntheticConfig{.packets = sends ? packets : 0});
    nics.push_back(endpoint.get());
    net.add_host(n, std::move(endpoint));
  }
  const unsigned half = config.hosts() / 2;
  for (unsigned n = 0; n < config.hosts(); ++n) {
    const unsigned to = (n + half) % config.hosts();
    std::vector<Address> paths;
    for (unsigned p = 0; p < config.planes; ++p) paths.push_back(net.path(n, to, p, n % config.spines));
    nics[n]->to(paths, net.host(to));
  }
  const double built = seconds(start);
  const auto begin = std::clock();
  fabric.run(kSecond);
  const double wall = seconds(begin);
  uint64_t received = 0, trimmed = 0, answers = 0;
  for (const Synthetic* nic : nics) received += nic->received, trimmed += nic->trimmed, answers += nic->answers;
  const uint64_t want = all ? packets * config.hosts() : packets;
  if (received != want) std::printf("received %lu of %lu\n", received, want);
  std::printf("trimmed %lu answers %lu simulated %.1f us\n", trimmed, answers, static_cast<double>(fabric.now()) / 1e6);
  return report(fabric, name, received, wall, built);
}

uint64_t in_use() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

struct Options {
  unsigned megabytes = 0, planes = 1;
  bool cc = true, json = false;
  uint64_t seed = 1;
  std::vector<std::function<void(FastConfig&)>> changes;
};

/// When each flow was complete at its receiver.
class Clock final : public Listener {
 public:
  Clock(Fabric& fabric, uint64_t flows) : fabric_(fabric), left_(flows) {}
  void delivered(const Delivery& d) override {
    done.push_back({d.node, fabric_.now()});
    if (--left_ == 0) fabric_.stop();
  }
  std::vector<std::pair<NodeId, Time>> done;

 private:
  Fabric& fabric_;
  uint64_t left_;
};

/// Flows of one message each between the hosts of a fabric.
int flows(const char* name, TwoTierConfig config, const std::vector<std::pair<unsigned, unsigned>>& pairs,
          uint64_t bytes, const Options& options) {
  config.planes = options.planes;
  config.gbps = 800.0 / options.planes;
  config.plane_bdp = 600'000 / options.planes;
  const uint64_t before = in_use();
  Fabric fabric({.seed = options.seed});
  TwoTier net(fabric, config);
  const Time rtt = net.one_way(frame_size(Stack::Srv6, 0xC7, true, 4096), config.spines > 1 || config.leaves > 1) +
                   net.one_way(frame_size(Stack::Srv6, 0xDC, false, 0), true);
  FastConfig fast = FastConfig::for_fabric(800, rtt);
  for (const auto& change : options.changes) change(fast);
  Clock clock(fabric, pairs.size());
  std::vector<FastEndpoint*> nics;
  for (unsigned h = 0; h < config.hosts(); ++h) {
    auto endpoint = std::make_unique<FastEndpoint>(fast);
    endpoint->listen(&clock);
    nics.push_back(endpoint.get());
    net.add_host(h, std::move(endpoint));
  }
  std::vector<unsigned> received(config.hosts());
  uint32_t qpn = 3;
  for (const auto& [from, to] : pairs) {
    std::string why;
    const unsigned active = std::max(128 / options.planes, std::min(config.spines, 256 / options.planes));
    const unsigned backup = 32 / options.planes;
    QpSpec there = net.qp(from, to, qpn, qpn, active, backup, options.seed),
           back = net.qp(to, from, qpn, qpn, active, backup, options.seed);
    there.congestion = back.congestion = options.cc;
    if (!nics[from]->open(there, why) || !nics[to]->open(back, why)) {
      std::fprintf(stderr, "%s\n", why.c_str());
      return 1;
    }
    nics[from]->post({.id = qpn, .qpn = qpn, .bytes = bytes});
    ++received[to];
    ++qpn;
  }
  const auto cpu = std::clock();
  const auto wall = std::chrono::steady_clock::now();
  fabric.run(kSecond);
  const double cpu_seconds = seconds(cpu);
  const double wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
  const uint64_t memory = in_use() - before;

  EndpointStats sum;
  for (const FastEndpoint* nic : nics) {
    const EndpointStats s = nic->stats();
    sum.data_packets += s.data_packets, sum.retransmissions += s.retransmissions, sum.timeouts += s.timeouts;
    sum.delivered_packets += s.delivered_packets, sum.delivered_bytes += s.delivered_bytes;
    sum.duplicates += s.duplicates, sum.trimmed += s.trimmed, sum.marked += s.marked, sum.sacks += s.sacks;
    sum.nacks += s.nacks, sum.probes += s.probes, sum.failed_qps += s.failed_qps;
  }
  const uint64_t packets = (bytes + 4095) / 4096;
  const unsigned most = *std::max_element(received.begin(), received.end());
  const Time bound = Rate::gbps(800).time(packets * most * wire_bytes(frame_size(Stack::Srv6, 0xC7, true, 4096))) + rtt;
  Time last = 0, first = kNever;
  for (const auto& [node, time] : clock.done) last = std::max(last, time), first = std::min(first, time);
  const bool good = clock.done.size() == pairs.size() && sum.delivered_bytes == bytes * pairs.size();
  const double ratio = static_cast<double>(last) / static_cast<double>(bound);
  const auto data = static_cast<double>(sum.data_packets);
  if (options.json) {
    std::printf(
        "{\"case\": \"%s\", \"packets_per_second\": %.0f, \"packets_per_second_wall\": %.0f, "
        "\"max_fct_over_bound\": %.4f, \"memory_bytes\": %lu, \"data_packets\": %lu, \"complete\": %s}\n",
        name, data / cpu_seconds, data / wall_seconds, ratio, memory, sum.data_packets, good ? "true" : "false");
    return good ? 0 : 1;
  }
  std::printf(
      "%s: %s; %.2f M data packets/s CPU, %.2f wall; FCT %.1f .. %.1f us, bound %.1f, ratio %.3f; memory %.1f MB\n",
      name, good ? "complete" : "INCOMPLETE", data / cpu_seconds / 1e6, data / wall_seconds / 1e6,
      static_cast<double>(first) / 1e6, static_cast<double>(last) / 1e6, static_cast<double>(bound) / 1e6, ratio,
      static_cast<double>(memory) / 1e6);
  std::printf(
      "  packets %lu retransmitted %lu timeouts %lu duplicates %lu trimmed %lu marked %lu sacks %lu nacks %lu probes "
      "%lu "
      "failed %lu; events per packet %.2f; rtt %.2f us\n",
      sum.data_packets, sum.retransmissions, sum.timeouts, sum.duplicates, sum.trimmed, sum.marked, sum.sacks,
      sum.nacks, sum.probes, sum.failed_qps, static_cast<double>(fabric.events()) / data,
      static_cast<double>(rtt) / 1e6);
  return good ? 0 : 1;
}

int idle(unsigned pairs) {
  Fabric fabric;
  TwoTierConfig config{.leaves = 2, .spines = 1, .hosts_per_leaf = 1, .planes = 8, .gbps = 100};
  TwoTier net(fabric, config);
  std::vector<FastEndpoint*> nics;
  for (unsigned h = 0; h < 2; ++h) {
    auto endpoint = std::make_unique<FastEndpoint>();
    nics.push_back(endpoint.get());
    net.add_host(h, std::move(endpoint));
  }
  const uint64_t before = in_use();
  std::string why;
  for (uint32_t q = 0; q < pairs; ++q) {
    if (!nics[0]->open(net.qp(0, 1, q + 3, q + 3, 16, 16, 1), why) ||
        !nics[1]->open(net.qp(1, 0, q + 3, q + 3, 16, 16, 1), why)) {
      return 1;
    }
  }
  std::printf("%u pairs of idle QPs, 256 EVs each: %.0f bytes per pair\n", pairs,
              static_cast<double>(in_use() - before) / pairs);
  return 0;
}

int run_case(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "flow";
  const auto number = [&](int i, uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  if (what == "flow") return run("flow", {.leaves = 2, .spines = 1, .hosts_per_leaf = 1}, number(2, 3'000'000), false);
  if (what == "permutation") {
    const auto hosts = static_cast<unsigned>(number(2, 128)), planes = static_cast<unsigned>(number(3, 1));
    TwoTierConfig config;
    config.planes = planes;
    config.hosts_per_leaf = hosts >= 1024 ? 32 : 16;
    config.leaves = hosts / config.hosts_per_leaf;
    config.spines = config.hosts_per_leaf;
    config.gbps = 800.0 / planes;
    return run("permutation", config, number(4, 20'000), true);
  }
  Options options;
  for (int i = 2; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--mb") options.megabytes = static_cast<unsigned>(number(++i, 0));
    if (arg == "--planes") options.planes = static_cast<unsigned>(number(++i, 1));
    if (arg == "--timeout" || arg == "--state-probe" || arg == "--reorder") {
      const auto value = static_cast<unsigned>(number(++i, 0));
      options.changes.emplace_back([arg, value](FastConfig& config) {
        (arg == "--timeout" ? config.timeout : arg == "--reorder" ? config.reorder : config.silence) = value;
      });
    }
    if (arg == "--seed") options.seed = number(++i, 1);
    if (arg == "--no-cc") options.cc = false;
    if (arg == "--nscc" && i + 1 < argc) {
      const std::string setting = argv[++i];
      const size_t equals = std::min(setting.find('='), setting.size() - 1);
      const std::string field = setting.substr(0, equals);
      const double value = std::strtod(setting.c_str() + equals + 1, nullptr);
      mrc::NsccParams test;
      if (const auto error = mrc::nscc_set(test, field, value)) {
        std::fprintf(stderr, "%s: %s\n", error->input.c_str(), error->what.c_str());
        return 3;
      }
      options.changes.emplace_back([=](FastConfig& config) { (void)mrc::nscc_set(config.nscc, field, value); });
    }
    if (arg == "--json") options.json = true;
  }
  const auto size = [&](uint64_t megabytes) {
    return (options.megabytes != 0 ? options.megabytes : megabytes) * 1'000'000;
  };
  if (what == "flow-100MB") {
    return flows(what.c_str(), {.leaves = 2, .spines = 1, .hosts_per_leaf = 1}, {{0, 1}}, size(100), options);
  }
  const TwoTierConfig clos{.leaves = 8, .spines = 16, .hosts_per_leaf = 16};
  if (unsigned hosts = 0, megabytes = 0;
      std::sscanf(what.c_str(), "permutation-%u-%uMB", &hosts, &megabytes) == 2 && hosts >= 32 && hosts % 32 == 0) {
    TwoTierConfig config = clos;
    config.hosts_per_leaf = config.spines = hosts >= 1024 ? 32 : 16;
    config.leaves = hosts / config.hosts_per_leaf;
    std::vector<std::pair<unsigned, unsigned>> pairs;
    for (unsigned h = 0; h < hosts; ++h) pairs.emplace_back(h, (h + hosts / 2) % hosts);
    return flows(what.c_str(), config, pairs, size(megabytes), options);
  }
  if (unsigned senders = 0, megabytes = 0;
      std::sscanf(what.c_str(), "incast-%u-%uMB", &senders, &megabytes) == 2 && senders >= 1 && senders <= 112) {
    std::vector<std::pair<unsigned, unsigned>> pairs;
    for (unsigned h = 0; h < senders; ++h) pairs.emplace_back(16 + h, 0);
    return flows(what.c_str(), clos, pairs, size(megabytes), options);
  }
  if (what == "idle-qps") return idle(static_cast<unsigned>(number(2, 1000)));
  std::fprintf(stderr,
               "fabric_speed flow | permutation | flow-100MB | permutation-128-2MB | permutation-128-100MB | "
               "incast-64-1MB | idle-qps\n");
  return 3;
}

}  // namespace

int main(int argc, char** argv) try { return run_case(argc, argv); } catch (...) {
  std::fprintf(stderr, "fabric_speed: there is not enough memory.\n");
  return 3;
}

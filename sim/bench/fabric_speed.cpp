// SPDX-License-Identifier: Apache-2.0
/// Speed of the engine with endpoints that have no protocol.
///   fabric_speed flow [packets]              one flow NIC-T0-T1-T0-NIC, 800G
///   fabric_speed permutation NICS PLANES [packets of each NIC]
///   fabric_speed systemc NODES [activations] events of SystemC alone, one SC_METHOD per node
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "sim/bench/synthetic.hpp"
#include "sim/bench/two_tier.hpp"

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
}  // namespace

int main(int argc, char** argv) {
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
  std::fprintf(stderr, "fabric_speed flow | permutation\n");
  return 3;
}

// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/bill.hpp"

#include <cmath>

#include "input/file.hpp"
#include "input/toml_tree.hpp"

namespace mrc::sim {
namespace {

constexpr const char* kPartsRemedy =
    "Write TOML as in docs/guide/training.md; it may leave out what shall stay as it is.";
constexpr input::FileKind kPartsFile{"table of parts", input::kTomlBytes, kPartsRemedy};

const Key<PartsTable> kPartsKeys[] = {
    {"module_gbps", "rate of an optical module, Gb/s; slower links share one", 1, 6400, false,
     [](PartsTable& p) -> double& { return p.module_gbps; }},
    {"copper_metres", "links up to this length are copper: no optics", 0, 1e6, false,
     [](PartsTable& p) -> double& { return p.copper_metres; }},
    {"switch_watts", "of a switch without optics", 0, 1e6, false,
     [](PartsTable& p) -> double& { return p.switch_watts; }},
    {"optics_watts", "of an optical module", 0, 1e6, false, [](PartsTable& p) -> double& { return p.optics_watts; }},
};

/// Links of a tier to what is below it.
struct Links {
  double count, gbps, metres;
};

}  // namespace

std::span<const Key<PartsTable>> parts_keys() { return kPartsKeys; }

PartsTable load_parts(const std::string& path) {
  const input::TomlFile file(input::read_text(path, kPartsFile), input::file_name(path), "table of parts",
                             kPartsRemedy);
  PartsTable parts;
  parts.source.begin(file, file.root());
  for (const auto& [key, node] : file.root()) {
    if (!input::set_key<PartsTable>(kPartsKeys, parts, parts.source, file, key.str(), node)) {
      input::unknown_key(file, key, "the table of parts", input::names_of<PartsTable>(kPartsKeys), kPartsRemedy);
    }
  }
  return parts;
}

std::vector<BillLine> bill_of(const Topology& t, const PartsTable& parts) {
  const TopologyConfig& c = t.config();
  const Links tier[3] = {{double(t.links_below(0)), c.gbps, c.host_metres},
                         {double(t.links_below(1)), t.uplink_gbps(), c.spine_metres},
                         {double(t.links_below(2)), t.uplink_gbps(), c.core_metres}};
  double optics = 0, km = 0;
  for (const Links& l : tier) {
    km += l.count * l.metres / 1000;
    if (l.metres > parts.copper_metres) optics += 2 * std::ceil(l.count * l.gbps / parts.module_gbps);
  }
  const double up = t.spines(), planes = t.planes();
  const double watts[] = {t.switches() * parts.switch_watts, optics * parts.optics_watts};
  const unsigned ports = std::max({t.hosts_per_leaf() + t.spines(), t.pod_leaves() + t.core_links(), t.pods()});
  return {
      {"nics", "NICs", double(t.hosts()), 0, false},
      {"nic_gbps", "rate of a NIC, Gb/s", t.nic_gbps(), 0, false},
      {"planes", "planes", planes, 0, false},
      {"tiers", "tiers of switches", double(t.tiers()), 0, false},
      {"switches", "switches", double(t.switches()), 0, true},
      {"switch_ports", "ports of the largest switch", double(ports), 0, false},
      {"ports", "ports of switches in use", tier[0].count + 2 * (tier[1].count + tier[2].count), 0, true},
      {"switched_tbps", "their rate, Tb/s",
       (tier[0].count * tier[0].gbps + 2 * (tier[1].count + tier[2].count) * t.uplink_gbps()) / 1000, 0, true},
      {"nic_links", "links to NICs", tier[0].count, 0, true},
      {"nic_metres", "  metres of each", tier[0].metres, 0, false},
      {"t0_t1_links", "links T0 to T1", tier[1].count, 0, true},
      {"t0_t1_metres", "  metres of each", t.tiers() > 1 ? tier[1].metres : 0, 0, false},
      {"t1_t2_links", "links T1 to T2", tier[2].count, 0, true},
      {"t1_t2_metres", "  metres of each", t.tiers() > 2 ? tier[2].metres : 0, 0, false},
      {"cable_km", "all links, km", km, 0, true},
      {"optics", "optical modules", optics, 0, true},
      {"worst_hops", "switches on the longest way", double(t.hops() - 1), 0, false},
      {"worst_us", "one way of a full packet, us", double(t.one_way(4250)) / kUs, 2, false},
      {"bisection", "bisection over half of the NICs",
       t.bisection_gbps() / (t.nic_gbps() * std::floor(t.hosts() / 2.0)), 2, false},
      {"nic_link_percent", "a lost link to a NIC takes, %", 100 / planes, 2, false},
      {"t0_t1_percent", "a lost link T0-T1 takes, %", up > 0 ? 100 / up : 0, 2, false},
      {"t0_t1_percent_spread", "  if other planes make up for it", up > 0 ? 100 / up / planes : 0, 2, false},
      {"switch_watts", "switches, W", watts[0], 0, true},
      {"optics_watts", "optical modules, W", watts[1], 0, true},
      {"watts", "both, W", watts[0] + watts[1], 0, true},
  };
}

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "input/file.hpp"
#include "input/toml_tree.hpp"
#include "sim/engine/codec.hpp"
#include "util/rng.hpp"
#include "wire/packet.hpp"

namespace mrc::sim {
namespace {

using T = TopologyConfig;
#define NUMBER(name, min, max, integer, doc)                               \
  Key<T> {                                                                 \
#name, doc, min, max, integer, [](T & t) -> double& { return t.name; } \
  }
#define FLAG(name, doc)                                                     \
  Key<T> {                                                                  \
#name, doc, 0, 0, false, nullptr, [](T & t) -> bool& { return t.name; } \
  }
#define TEXT(name, words, doc)                                                                     \
  Key<T> {                                                                                         \
#name, doc, 0, 0, false, nullptr, nullptr, [](T & t) -> std::string& { return t.name; }, words \
  }

const Key<T> kKeys[] = {
    TEXT(kind, "single|clos|clos3", "one switch per plane, two tiers, or three"),
    NUMBER(planes, 1, 8, true, "ports of a NIC, each in a fabric of its own: 1, 2, 4 or 8"),
    NUMBER(hosts, 0, 1048576, true, "NICs; 0: leaves times hosts_per_leaf"),
    NUMBER(hosts_per_leaf, 0, 4096, true, "NICs at a T0 switch; 0: from radix and oversubscription"),
    NUMBER(leaves, 0, 4096, true, "T0 switches of a plane; 0: as many as the NICs need"),
    NUMBER(spines, 0, 4096, true,
           "T1 switches of a plane, of three tiers: of a pod, each with a link to every T0; 0: from oversubscription"),
    NUMBER(pod_leaves, 0, 4096, true, "three tiers: T0 switches of a pod; 0: half of radix"),
    NUMBER(cores, 0, 65536, true,
           "three tiers: T2 switches of a plane, a multiple of spines; 0: from oversubscription"),
    NUMBER(radix, 0, 4096, true, "ports of a switch; 0: as many as needed"),
    NUMBER(oversubscription, 0, 1000, false,
           "rate of a T0's downlinks over that of its uplinks; 0: 1, or what spines make of it"),
    NUMBER(gbps, 0.001, 6400, false, "rate of the link between a NIC and its T0, Gb/s"),
    NUMBER(uplink_gbps, 0.001, 6400, false, "rate of the links between T0 and T1, Gb/s; not written: gbps"),
    NUMBER(host_metres, 0, 1e6, false, "length of the links to NICs, metres"),
    NUMBER(spine_metres, 0, 1e6, false, "length of the links between T0 and T1, metres"),
    NUMBER(core_metres, 0, 1e6, false, "length of the links between T1 and T2, metres"),
    NUMBER(fec_ns, 0, 1e6, false, "delay of forward error correction on every link"),
    NUMBER(switch_ns, 0, 1e6, false, "latency of a switch"),
    NUMBER(port_ns, 0, 1e6, false, "latency of a switch's port, in and out"),
    NUMBER(detect_us, 0, 1e6, false, "from a change of a link until its ends know; until then packets vanish"),
    NUMBER(
        converge_us, 0, 1e8, false,
        "ECMP: from a change of a link between switches until all route around it; 0: its ends at once, others never"),
    FLAG(cut_through, "switches send on before they have the whole packet"),
    TEXT(routing, "srv6|ecmp", "who chooses the path: the NIC by uSIDs, or switches by a hash of the entropy value"),
    TEXT(locator, nullptr, "upper 32 bits of all SRv6 addresses, \"2001:db8\""),
    FLAG(srh, "packets have a routing header as well"),
    NUMBER(evs, 1, 2048, true, "entropy values of a QP in use, a multiple of planes"),
    NUMBER(backup_evs, 0, 2048, true, "entropy values in reserve, a multiple of planes"),
    TEXT(spread, "even|random", "entropy values over the uplinks: each as often as any other, or as it comes"),
    TEXT(profile, kFabricProfileNames,
         "code points, queues and thresholds of switches, and code points of NICs; 'mrc fabric --fabric-profile list'"),
    FLAG(trim, "switches trim what they cannot queue; \"to-sender\": and send it, and what a dead link holds up, back"),
    FLAG(return_swapped, "to-sender: with source and destination addresses exchanged"),
    NUMBER(returned_dscp, -1, 63, true, "to-sender: code point of what is sent back; -1: that of trimmed packets"),
    NUMBER(trim_size, 60, 9216, true,
           "bytes left of a trimmed packet; not written: the profile's, with srh at least 206"),
    FLAG(trim_lengths, "trimming rewrites the length of the outermost IP header, with IPv4 its checksum too"),
    FLAG(lasthop, "packets trimmed in front of the NIC get the code point TRIMMED_LASTHOP"),
    FLAG(ecn, "switches mark packets"),
    FLAG(ecn_to_nics, "also on the ports to NICs"),
    NUMBER(ecn_min, 0, 100, false, "no marks up to this many plane BDPs"),
    NUMBER(ecn_max, 0, 100, false, "every packet is marked from this many plane BDPs on"),
    NUMBER(bdp_kb, 0, 1e6, false, "plane BDP, which queues are measured in, 1000 bytes; 0: gbps times the round trip"),
    NUMBER(buffer_mb, 0.01, kMostBufferBytes / 1e6, false, "buffer of a switch, million bytes"),
    NUMBER(alpha, 0, 1000, false, "a queue takes at most this share of the free buffer; 0: no such limit"),
};
#undef NUMBER
#undef FLAG
#undef TEXT

constexpr std::string_view kToSender = "to-sender";
constexpr const char* kTopologyRemedy = "Write TOML as in docs/guide/fabric.md; 'mrc topo keys' prints all keys.";
constexpr input::FileKind kTopologyFile{"topology", input::kTomlBytes, kTopologyRemedy};

std::string plural(unsigned n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::string switches(unsigned n) { return n == 1 ? "1 switch" : fmt::format("{} switches", n); }

bool number(std::string_view text, unsigned& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

}  // namespace

std::span<const Key<TopologyConfig>> topology_keys() { return kKeys; }

void read_topology(const input::TomlFile& file, const toml::table& table, TopologyConfig& config) {
  for (const auto& [key, node] : table) {
    if (key.str() == "trim" && node.is_string()) {
      if (*node.value_exact<std::string>() != kToSender) {
        file.refuse(node, "trim = " + input::shown(*node.value_exact<std::string>()) + " is not known",
                    "Write true, false or \"to-sender\".");
      }
      config.trim = config.to_sender = true;
      config.source.lines.insert_or_assign("trim", Source::Spot{node.source().begin.line, node.source().begin.column});
      continue;
    }
    if (key.str() == "trim") config.to_sender = false;
    if (!input::set_key<T>(kKeys, config, config.source, file, key.str(), node)) {
      input::unknown_key(file, key, "the topology", input::names_of<T>(kKeys), "'mrc topo keys' prints all keys.");
    }
  }
}

TopologyConfig parse_topology(std::string_view text, const std::string& file) {
  const input::TomlFile toml(text, file, "topology", kTopologyRemedy);
  TopologyConfig config;
  // A scenario's table of that name is welcome, so that one file can be drawn and run.
  const toml::table* inner = toml.root()["topology"].as_table();
  const toml::table& table = inner ? *inner : toml.root();
  config.source.begin(toml, table);
  read_topology(toml, table, config);
  return config;
}

TopologyConfig load_topology(const std::string& file) {
  return parse_topology(input::read_text(file, kTopologyFile), input::file_name(file));
}

void Topology::refuse(std::string_view key, const std::string& what, const std::string& remedy) const {
  throw InputError(config_.source.at(key) + ": " + what + ".", remedy);
}

namespace {
unsigned whole(double value) { return static_cast<unsigned>(value); }
}  // namespace

Topology::Topology(const TopologyConfig& config) : config_(config), profile_(find_fabric_profile(config.profile)) {
  if (profile_ == nullptr) {
    refuse("profile", "profile = " + input::shown(config.profile) + " is not known",
           "'mrc fabric --fabric-profile list' prints the names.");
  }
  // Behind a routing header 128 bytes end inside the BTH: nobody could tell what was trimmed.
  if (!config.source.has("trim_size") && config.trim_size == TopologyConfig{}.trim_size) {
    config_.trim_size = std::max(profile_->trim_size, config.srh ? 206u : 0u);
  }
  planes_ = whole(config.planes);
  if (!std::has_single_bit(planes_))
    refuse("planes", plural(planes_, "plane") + " cannot be wired", "Use 1, 2, 4 or 8 planes.");
  hosts_ = whole(config.hosts);
  per_leaf_ = whole(config.hosts_per_leaf);
  leaves_ = whole(config.leaves);
  spines_ = whole(config.spines);
  config.kind == "single" ? size_single() : size_clos();
  number_bits_ = 14u - static_cast<unsigned>(std::countr_zero(planes_));
  check_sizes();
  check_entropy();
  block_ = locator_block();
  // What remains is checked where it is used.
  for (unsigned tier = 0; tier < tiers(); ++tier) {
    if (const std::string why = switch_config("a switch", tier).check(); !why.empty())
      refuse("kind", why, "Correct the settings of switches.");
  }
}

void Topology::size_single() {
  const unsigned radix = whole(config_.radix);
  if (spines_ > 0)
    refuse("spines", "a single switch has no T1 switches", "Leave out spines, or write kind = \"clos\".");
  if (leaves_ > 1)
    refuse("leaves", "a single switch per plane, but leaves = " + std::to_string(leaves_),
           "Leave out leaves, or write kind = \"clos\".");
  if (hosts_ == 0) hosts_ = per_leaf_ ? per_leaf_ : radix;
  if (hosts_ == 0) refuse("hosts", "the topology has no NICs", "Write hosts, for example hosts = 16.");
  if (per_leaf_ != 0 && per_leaf_ < hosts_) {
    refuse("hosts_per_leaf",
           fmt::format("{} do not fit to one switch with hosts_per_leaf = {}", plural(hosts_, "NIC"), per_leaf_),
           "Write kind = \"clos\", or leave out hosts_per_leaf.");
  }
  leaves_ = pod_leaves_ = 1;
  per_leaf_ = hosts_;
}

unsigned Topology::downlinks_of_leaf(double ratio) const {
  const unsigned radix = whole(config_.radix);
  if (radix == 0) {
    if (hosts_ != 0 && leaves_ != 0) return (hosts_ + leaves_ - 1) / leaves_;
    refuse("hosts_per_leaf", "nothing says how many NICs a T0 switch has",
           "Write hosts_per_leaf, or radix, or hosts and leaves.");
  }
  const double down =
      spines_ ? radix - spines_ : std::floor(radix * ratio * uplink_gbps() / (config_.gbps + ratio * uplink_gbps()));
  const unsigned links = down >= 1 && !(spines_ != 0 && spines_ >= radix) ? whole(down) : 0;
  if (links == 0)
    refuse("radix", fmt::format("a T0 switch of {} has none left for NICs", plural(radix, "port")),
           "Give a larger radix or fewer spines.");
  return links;
}

void Topology::size_clos() {
  const unsigned radix = whole(config_.radix);
  const double ratio = config_.oversubscription > 0 ? config_.oversubscription : 1;
  if (per_leaf_ == 0) per_leaf_ = downlinks_of_leaf(ratio);
  if (leaves_ == 0) {
    if (hosts_ == 0 && radix == 0) refuse("hosts", "nothing says how many NICs there are", "Write hosts or leaves.");
    const bool three = config_.kind == "clos3";
    const unsigned pod = config_.pod_leaves > 0 ? whole(config_.pod_leaves) : radix / 2;
    leaves_ = hosts_ != 0 ? (hosts_ + per_leaf_ - 1) / per_leaf_ : three ? radix * pod : radix;
  }
  if (hosts_ == 0) hosts_ = leaves_ * per_leaf_;
  if (hosts_ > leaves_ * per_leaf_) {
    refuse("hosts",
           fmt::format("{} do not fit: {} with {} each", plural(hosts_, "NIC"),
                       leaves_ == 1 ? std::string("1 T0 switch") : fmt::format("{} T0 switches", leaves_), per_leaf_),
           "Give more leaves or hosts_per_leaf, or fewer hosts.");
  }
  if (hosts_ <= (leaves_ - 1) * per_leaf_) {
    refuse("leaves", fmt::format("{} leave T0 switches without one", plural(hosts_, "NIC")),
           fmt::format("{} are enough with hosts_per_leaf = {}.", (hosts_ + per_leaf_ - 1) / per_leaf_, per_leaf_));
  }
  const double wanted = per_leaf_ * config_.gbps / (ratio * uplink_gbps());
  if (spines_ == 0) spines_ = whole(std::max(1.0, std::round(wanted)));
  if (config_.oversubscription > 0 && config_.spines > 0 && std::abs(wanted - spines_) > 0.5) {
    refuse("oversubscription",
           fmt::format("oversubscription = {} does not go with spines = {}", config_.oversubscription, spines_),
           fmt::format("Leave out one of them; {} would make it {:.3g}.", plural(spines_, "spine"),
                       per_leaf_ * config_.gbps / (spines_ * uplink_gbps())));
  }
  if (radix != 0 && per_leaf_ + spines_ > radix) {
    refuse("radix",
           fmt::format("a T0 switch needs {} ports, {} down and {} up, but radix is {}", per_leaf_ + spines_, per_leaf_,
                       spines_, radix),
           "Give a larger radix, fewer hosts_per_leaf or fewer spines.");
  }
  pod_leaves_ = leaves_;
  if (config_.kind == "clos3") return size_pods(ratio);
  for (const auto& [key, value] : {std::pair{"pod_leaves", config_.pod_leaves}, {"cores", config_.cores}}) {
    if (value > 0) refuse(key, fmt::format("two tiers, but {} = {:g}", key, value), "Write kind = \"clos3\".");
  }
  if (radix != 0 && leaves_ > radix) {
    refuse("radix", fmt::format("a T1 switch needs {} ports, one for each T0, but radix is {}", leaves_, radix),
           "Give a larger radix or fewer leaves.");
  }
}

void Topology::size_pods(double ratio) {
  const unsigned radix = whole(config_.radix);
  if (srv6()) {
    refuse("routing", "three tiers, and routing = \"srv6\": a template has one uplink to choose, not two",
           "Write routing = \"ecmp\".");
  }
  pod_leaves_ = config_.pod_leaves > 0 ? whole(config_.pod_leaves) : radix / 2;
  if (pod_leaves_ == 0) {
    refuse("pod_leaves", "nothing says how many T0 switches a pod has", "Write pod_leaves, or radix.");
  }
  if (leaves_ % pod_leaves_ != 0) {
    refuse("pod_leaves", fmt::format("{} T0 switches do not fill pods of {}", leaves_, pod_leaves_),
           "Give another number of NICs, or other pods.");
  }
  pods_ = leaves_ / pod_leaves_;
  if (pods_ < 2) refuse("kind", "three tiers, and all NICs in one pod", "Write kind = \"clos\", or give more NICs.");
  cores_ = whole(config_.cores);
  if (cores_ == 0) cores_ = spines_ * whole(std::max(1.0, std::round(pod_leaves_ / ratio)));
  if (cores_ % spines_ != 0) {
    refuse("cores", fmt::format("cores = {} is no multiple of the {} T1 switches of a pod", cores_, spines_),
           "Each T1 has the same number of uplinks.");
  }
  if (radix != 0 && pod_leaves_ + core_links() > radix) {
    refuse("radix",
           fmt::format("a T1 switch needs {} ports, {} down and {} up, but radix is {}", pod_leaves_ + core_links(),
                       pod_leaves_, core_links(), radix),
           "Give a larger radix, fewer pod_leaves or fewer cores.");
  }
  if (radix != 0 && pods_ > radix) {
    refuse("radix", fmt::format("a T2 switch needs {} ports, one for each pod, but radix is {}", pods_, radix),
           "Give a larger radix or fewer NICs.");
  }
}

void Topology::check_sizes() const {
  const unsigned radix = whole(config_.radix);
  if (radix != 0 && per_leaf_ > radix)
    refuse("radix", fmt::format("a switch needs {} ports for NICs, but radix is {}", per_leaf_, radix),
           "Give a larger radix or fewer hosts.");
  if (hosts_ < 2) refuse("hosts", plural(hosts_, "NIC") + " has nobody to talk to", "Give at least two.");
  if (const unsigned ports = std::max({per_leaf_ + spines_, pod_leaves_ + core_links(), pods_}); ports > 4096) {
    refuse("hosts", fmt::format("a switch needs {} ports, more than the 4096 it can have", ports),
           "Use kind = \"clos\" with fewer hosts_per_leaf, spines or leaves.");
  }
  if (const unsigned most = std::max({leaves_, 2 * spines_, per_leaf_}); most > 1u << number_bits_) {
    refuse("planes",
           fmt::format("{} T0, {} T1 and {} downlinks do not fit into the {} bits of a uSID that {} leave", leaves_,
                       spines_, per_leaf_, number_bits_, plural(planes_, "plane")),
           fmt::format("At most {}, {} and {}, or fewer planes.", 1u << number_bits_, 1u << (number_bits_ - 1),
                       1u << number_bits_));
  }
}

void Topology::check_entropy() const {
  for (const auto& [key, value] : {std::pair{"evs", config_.evs}, {"backup_evs", config_.backup_evs}}) {
    if (whole(value) % planes_ != 0) {
      refuse(key, fmt::format("{} = {} is no multiple of {}", key, value, plural(planes_, "plane")),
             "Every plane has the same number of entropy values.");
    }
  }
  if ((config_.evs + config_.backup_evs) / planes_ > 256) {
    refuse(
        "evs",
        fmt::format("{} entropy values of one plane are more than 256", (config_.evs + config_.backup_evs) / planes_),
        "Give fewer evs or backup_evs.");
  }
  if (config_.converge_us > 0 && srv6())
    refuse("converge_us", "converge_us, but routing = \"srv6\" has static routes alone", "Write routing = \"ecmp\".");
  if (config_.srh && !srv6()) refuse("srh", "routing headers need routing = \"srv6\"", "Leave out srh.");
  if (config_.ecn && config_.ecn_max <= config_.ecn_min)
    refuse("ecn_max", "ecn_max is not above ecn_min", "Give a larger ecn_max, or ecn = false.");
}

uint32_t Topology::locator_block() const {
  unsigned high = 0, low = 0;
  int end = 0;
  if (std::sscanf(config_.locator.c_str(), "%4x:%4x%n", &high, &low, &end) != 2 ||
      static_cast<size_t>(end) != config_.locator.size()) {
    refuse("locator", "locator = \"" + config_.locator + "\" is not 32 bits of an IPv6 address",
           "Write it as \"2001:db8\".");
  }
  const uint32_t block = high << 16 | low;
  if (block == kHostPrefix >> 32)
    refuse("locator", "the locator fd00:0 is the one of NICs", "Use another, for example \"2001:db8\".");
  return block;
}

double Topology::bisection_gbps() const {
  const unsigned half = hosts_ / 2;
  const double down = planes_ * config_.gbps * half;
  if (!clos()) return down;
  const double up =
      planes_ * uplink_gbps() * (pods_ > 1 ? std::min(spines_ * leaves_, cores_ * pods_) : spines_ * leaves_);
  return std::min(down, up / 2);
}

unsigned Topology::tier_of(NodeId node) const {
  const unsigned i = (node - hosts_) % plane_switches();
  return i < in_tier(0) ? 0 : i < in_tier(0) + in_tier(1) ? 1 : 2;
}

unsigned Topology::plane_of(LinkId link) const {
  if (link < links_below(0)) return link % planes_;
  unsigned i = link - links_below(0);
  if (i < links_below(1)) return i / (leaves_ * spines_);
  return (i - links_below(1)) / (pods_ * cores_);
}

std::string Topology::node_name(NodeId node) const {
  if (node < hosts_) return "nic" + std::to_string(node);
  const unsigned plane = (node - hosts_) / plane_switches(), tier = tier_of(node);
  return fmt::format("T{}-{}-{}", tier, plane, node - in_tier(tier, plane, 0));
}

std::string Topology::link_name(LinkId link) const {
  const unsigned plane = plane_of(link);
  if (link < links_below(0)) return fmt::format("nic{}/{}", link / planes_, plane);
  if (const unsigned n = link - uplink(plane, 0, 0); link < links_below(0) + links_below(1)) {
    const unsigned leaf = n / spines_;
    return fmt::format("T0-{}-{}:T1-{}-{}", plane, leaf, plane, leaf / pod_leaves_ * spines_ + n % spines_);
  }
  const unsigned n = link - core_link(plane, 0, 0), core = n % cores_;
  return fmt::format("T1-{}-{}:T2-{}-{}", plane, n / cores_ * spines_ + core / core_links(), plane, core);
}

NodeId Topology::find_node(std::string_view name) const {
  unsigned a = 0, b = 0;
  if (name.starts_with("nic")) return number(name.substr(3), a) && a < hosts_ ? a : kNone;
  if (name.size() < 3 || name[0] != 'T' || name[1] < '0' || name[1] > '2' || name[2] != '-') return kNone;
  const auto dash = name.find('-', 3);
  if (dash == std::string_view::npos || !number(name.substr(3, dash - 3), a) || !number(name.substr(dash + 1), b))
    return kNone;
  const auto tier = static_cast<unsigned>(name[1] - '0');
  return a < planes_ && b < in_tier(tier) ? in_tier(tier, a, b) : kNone;
}

LinkId Topology::find_link(std::string_view name) const {
  if (const auto slash = name.find('/'); slash != std::string_view::npos) {
    unsigned plane = 0;
    const NodeId host = find_node(name.substr(0, slash));
    return host < hosts_ && number(name.substr(slash + 1), plane) && plane < planes_ ? host_link(host, plane) : kNone;
  }
  const auto colon = name.find(':');
  if (colon == std::string_view::npos) return kNone;
  NodeId a = find_node(name.substr(0, colon)), b = find_node(name.substr(colon + 1));
  if (a == kNone || b == kNone) return kNone;
  if (a > b) std::swap(a, b);
  if (b < hosts_) return kNone;
  const unsigned plane = (b - hosts_) / plane_switches();
  if (a < hosts_) return b == leaf(plane, leaf_of(a)) ? host_link(a, plane) : kNone;
  const unsigned tier = tier_of(a);
  if ((a - hosts_) / plane_switches() != plane || tier_of(b) != tier + 1) return kNone;
  const unsigned x = a - in_tier(tier, plane, 0), y = b - in_tier(tier + 1, plane, 0);
  if (tier == 0) return x / pod_leaves_ == y / spines_ ? uplink(plane, x, y % spines_) : kNone;
  return x % spines_ == y / core_links() ? core_link(plane, x / spines_, y) : kNone;
}

SwitchConfig Topology::switch_config(const std::string& name, unsigned tier) const {
  const uint64_t bdp = plane_bdp();
  SwitchConfig sw = SwitchConfig::of_profile(name, bdp, *profile_);
  sw.latency = static_cast<Time>(config_.switch_ns * kNs);
  sw.port_latency = static_cast<Time>(config_.port_ns * kNs);
  sw.cut_through = config_.cut_through;
  sw.buffer_bytes = static_cast<uint64_t>(config_.buffer_mb * 1e6);
  sw.trim_size = static_cast<unsigned>(config_.trim_size);
  sw.trim_lengths = config_.trim_lengths;
  sw.usid_block = block_;
  sw.own_routes = config_.converge_us == 0;
  sw.trim_to_sender = config_.trim && config_.to_sender;
  sw.return_swapped = config_.return_swapped;
  sw.returned_dscp =
      config_.returned_dscp < 0 ? sw.to_switch.trimmed_dscp : static_cast<uint8_t>(config_.returned_dscp);
  if (sw.trim_to_sender) sw.queue_of_dscp[sw.returned_dscp] = sw.trim_queue;
  for (unsigned q = 0; q < kQueues; ++q) {
    if (config_.ecn_to_nics) sw.to_host.queue[q].ecn = sw.to_switch.queue[q].ecn;
    if (!config_.ecn_to_nics && config_.source.has("ecn_to_nics")) sw.to_host.queue[q].ecn = {};
  }
  const bool by_bdp = profile_->ecn_max == 0 || config_.source.has("ecn_min") || config_.source.has("ecn_max");
  if (!config_.lasthop) sw.to_host.trimmed_dscp = sw.to_switch.trimmed_dscp;
  for (PortConfig* port : {&sw.to_switch, &sw.to_host}) {
    for (QueueConfig& queue : port->queue) {
      queue.alpha = config_.alpha;
      if (!config_.trim) queue.trim = false;
      if (!config_.ecn) queue.ecn = {};
      if (by_bdp && queue.ecn.mode == EcnConfig::Mode::Red) {
        queue.ecn.min_bytes = static_cast<uint64_t>(config_.ecn_min * static_cast<double>(bdp));
        queue.ecn.max_bytes = static_cast<uint64_t>(config_.ecn_max * static_cast<double>(bdp));
      }
    }
  }
  (void)tier;
  return sw;
}

U128 Topology::path_template(NodeId from, NodeId to) const {
  U128 address = static_cast<U128>(block_) << 96;
  auto put = [&, lsb = 80u](unsigned kind, unsigned n) mutable {
    address |= static_cast<U128>(usid(kind, 0, n)) << lsb;
    lsb -= 16;
  };
  put(kNodeKind, leaf_of(from));
  if (leaf_of(from) != leaf_of(to)) {
    put(kSpineKind, 0);
    put(kNodeKind, leaf_of(to));
  } else if (clos()) {
    put(kStayKind, stay_number());
  }
  put(kDownKind, to % per_leaf_);
  return address;
}

Srv6Rule Topology::path_rule() const {
  const unsigned bits = clos() ? static_cast<unsigned>(std::bit_width(spines_ - 1)) : 0;
  return {.plane_lsb = number_bits_, .uplink_usid = 1, .uplink_lsb = 0, .uplink_bits = bits};
}

Encap Topology::encap() const { return !srv6() ? Encap::Ipv6 : config_.srh ? Encap::Srv6Srh : Encap::Srv6; }

void Topology::entropy(NodeId from, NodeId to, uint64_t seed, std::vector<uint32_t>& active,
                       std::vector<uint32_t>& backup) const {
  Rng rng(seed, "entropy");
  const unsigned bits = path_rule().uplink_bits, groups = static_cast<unsigned>(config_.evs) / planes_;
  const unsigned all = groups + static_cast<unsigned>(config_.backup_evs) / planes_;
  const unsigned uplinks = leaf_of(from) == leaf_of(to) ? 1u << bits : std::max(1u, spines_);
  active.resize(static_cast<size_t>(groups) * planes_);
  backup.resize(static_cast<size_t>(all - groups) * planes_);
  std::vector<uint32_t> order(uplinks);
  for (unsigned p = 0; p < planes_; ++p) {
    std::iota(order.begin(), order.end(), 0u);
    for (unsigned g = 0; g < all; ++g) {
      const unsigned turn = g % uplinks;
      if (turn == 0 && config_.spread == "even") {
        for (unsigned i = uplinks; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
      }
      const auto random = static_cast<uint32_t>(rng.next());
      uint32_t ev = random;
      if (srv6()) {
        const uint32_t uplink = config_.spread == "even" ? order[turn] : static_cast<uint32_t>(rng.below(uplinks));
        ev = (bits ? random >> bits << bits : random) | uplink;
      }
      if (ev == 0) ev = 1u << std::max(bits, 3u);  // never 0, and of the same uplink
      (g < groups ? active[g * planes_ + p] : backup[(g - groups) * planes_ + p]) = ev;
    }
  }
}

Time Topology::travel(unsigned frame, unsigned hops) const {
  Time time = 0;
  for (unsigned hop = 0; hop < hops; ++hop) {
    const bool outer = hop == 0 || hop == hops - 1, last = hop == hops - 1;
    const Rate rate = Rate::gbps(outer ? config_.gbps : uplink_gbps());
    unsigned bytes = wire_bytes(frame) - kGapBytes;
    if (config_.cut_through && !last &&
        !rate.slower_than(Rate::gbps(std::max(config_.gbps, clos() ? uplink_gbps() : 0)))) {
      bytes = std::min(bytes, kPreambleBytes + 64);
    }
    const double metres = outer                         ? config_.host_metres
                          : hop == 1 || hop == hops - 2 ? config_.spine_metres
                                                        : config_.core_metres;
    time += rate.time(bytes) + static_cast<Time>(config_.fec_ns * kNs) +
            static_cast<Time>(metres * static_cast<double>(kFibrePerMetre));
    if (!last) time += static_cast<Time>((config_.switch_ns + 2 * config_.port_ns) * kNs);
  }
  return time;
}

uint64_t Topology::plane_bdp() const {
  if (config_.bdp_kb > 0) return static_cast<uint64_t>(config_.bdp_kb * 1000);
  const Stack stack = !srv6() ? Stack::Ipv6 : config_.srh ? Stack::Srv6Srh : Stack::Srv6;
  const unsigned data = frame_size(stack, static_cast<uint8_t>(wire::Opcode::WriteOnly), true, 4096);
  const unsigned sack = frame_size(stack, static_cast<uint8_t>(wire::Opcode::Sack), false, 0);
  const double seconds = static_cast<double>(base_rtt(data, sack)) * 1e-12;
  return std::max<uint64_t>(20'000, static_cast<uint64_t>(config_.gbps * 1e9 / 8 * seconds));
}

std::string topology_summary(const Topology& t) {
  std::string out = fmt::format("{} of {:g} Gb/s: {} x {:g} Gb/s\n", plural(t.hosts(), "NIC"), t.nic_gbps(),
                                plural(t.planes(), "plane"), t.config().gbps);
  if (t.clos()) {
    out += fmt::format("  tier 0      {} per plane, {} down and {} up\n", switches(t.leaves()), t.hosts_per_leaf(),
                       t.spines());
    if (t.tiers() == 3) {
      out += fmt::format("  tier 1      {} per plane, {} down and {} up\n", switches(t.in_tier(1)), t.pod_leaves(),
                         t.core_links());
      out += fmt::format("  tier 2      {} per plane, {} down: one to each pod\n", switches(t.in_tier(2)), t.pods());
    } else {
      out += fmt::format("  tier 1      {} per plane, {} down\n", switches(t.spines()), t.leaves());
    }
    out += fmt::format("  oversubscr. {:.3g}\n", t.hosts_per_leaf() * t.config().gbps / (t.spines() * t.uplink_gbps()));
  } else {
    out += fmt::format("  switches    1 per plane, {} ports\n", t.hosts());
  }
  out += fmt::format("  nodes       {}, {} of them switches\n  links       {}: {} to NICs, {} between switches\n",
                     t.hosts() + t.switches(), t.switches(), t.links(), t.hosts() * t.planes(),
                     t.links() - t.hosts() * t.planes());
  out += fmt::format("  bisection   {:g} Gb/s\n", t.bisection_gbps());
  const double rtt = static_cast<double>(t.base_rtt(4250, 174)) / kUs;
  out += fmt::format("  round trip  {:.2f} us for a full packet; plane BDP {} bytes\n", rtt, t.plane_bdp());
  if (t.srv6()) {
    const U128 a = t.path_template(0, t.hosts() - 1);
    const Srv6Rule rule = t.path_rule();
    const U128 path = srv6_address(a, t.planes() - 1, t.clos() ? t.spines() - 1 : 0, rule);
    out += fmt::format("  SRv6        nic0 to nic{}: template", t.hosts() - 1);
    const auto text = [](U128 address) {
      std::string s;
      for (int i = 7; i >= 0; --i)
        s += fmt::format("{}{:x}", i == 7 ? "" : ":", static_cast<unsigned>(address >> (16 * i)) & 0xffffu);
      return s;
    };
    out += fmt::format(" {}\n              plane {}, uplink {}: {}\n", text(a), t.planes() - 1,
                       t.clos() ? t.spines() - 1 : 0, text(path));
    out += fmt::format("              plane number at bit {} of each uSID, uplink in uSID {}, {}\n", rule.plane_lsb,
                       rule.uplink_usid, plural(rule.uplink_bits, "bit"));
  } else {
    out += "  ECMP        switches choose by a hash of source, destination and entropy value\n";
  }
  return out;
}

namespace {
class Drawing {
 public:
  void line(double x1, double y1, double x2, double y2, const char* colour, double width = 1) {
    body_ += fmt::format("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' stroke='{}' stroke-width='{}'/>\n", x1,
                         y1, x2, y2, colour, width);
  }
  void box(double x, double y, double w, double h, const char* fill, const std::string& text) {
    body_ +=
        fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' rx='4' fill='{}' stroke='#333'/>\n",
                    x - w / 2, y - h / 2, w, h, fill);
    label(x, y + 4, text);
  }
  void label(double x, double y, const std::string& text, const char* anchor = "middle") {
    body_ += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}'>{}</text>\n", x, y, anchor, text);
  }
  std::string done(double width, double height) const {
    return fmt::format(
               "<svg xmlns='http://www.w3.org/2000/svg' width='{0:.0f}' height='{1:.0f}' viewBox='0 0 {0:.0f} {1:.0f}' "
               "font-family='sans-serif' font-size='11'>\n<rect width='100%' height='100%' fill='#ffffff'/>\n",
               width, height) +
           body_ + "</svg>\n";
  }

 private:
  std::string body_;
};
constexpr const char* kPlaneColours[] = {"#1f77b4", "#d62728", "#2ca02c", "#ff7f0e",
                                         "#9467bd", "#8c564b", "#e377c2", "#7f7f7f"};
}  // namespace

std::string topology_svg(const Topology& t) {
  Drawing d;
  const bool small = t.hosts() <= 64 && t.switches() <= 64 && t.links() <= 1024;
  if (!small) {
    const double x = 320;
    d.label(20, 24,
            fmt::format("{} of {:g} Gb/s in {}", plural(t.hosts(), "NIC"), t.nic_gbps(), plural(t.planes(), "plane")),
            "start");
    const bool three = t.tiers() == 3;
    const double cores = 80, top = three ? 180 : 80, middle = top + 100, bottom = middle + 120;
    for (unsigned p = 0; p < t.planes(); ++p) {
      const double shift = (p - (t.planes() - 1) / 2.0) * 6;
      if (three) d.line(x + shift, cores, x + shift, top, kPlaneColours[p], 2);
      if (t.clos()) d.line(x + shift, top, x + shift, middle, kPlaneColours[p], 2);
      d.line(x + shift, middle, x + shift, bottom, kPlaneColours[p], 2);
    }
    if (t.clos()) {
      d.box(x, top, 300, 40, "#dbe9f6",
            fmt::format("{} T1 switches per plane, {} ports down", t.in_tier(1), t.pod_leaves()));
      d.label(x + 40, (top + middle) / 2 + 4,
              fmt::format("{} links of {:g} Gb/s per plane, {:g} m", t.leaves() * t.spines(), t.uplink_gbps(),
                          t.config().spine_metres),
              "start");
    }
    if (three) {
      d.box(x, cores, 300, 40, "#e9def4",
            fmt::format("{} T2 switches per plane, {} ports down", t.in_tier(2), t.pods()));
      d.label(x + 40, (cores + top) / 2 + 4,
              fmt::format("{} links of {:g} Gb/s per plane, {:g} m", t.links_below(2) / t.planes(), t.uplink_gbps(),
                          t.config().core_metres),
              "start");
    }
    d.box(x, middle, 300, 40, "#e5f2e0",
          fmt::format("{} T0 switches per plane, {} down, {} up", t.leaves(), t.hosts_per_leaf(), t.spines()));
    d.label(x + 40, (middle + bottom) / 2 + 4,
            fmt::format("{} links of {:g} Gb/s per plane, {:g} m", t.hosts(), t.config().gbps, t.config().host_metres),
            "start");
    d.box(x, bottom, 300, 40, "#fdf1d6", fmt::format("nic0 .. nic{}", t.hosts() - 1));
    return d.done(640, bottom + 50);
  }
  // Tiers from the bottom; planes side by side, each with its own colour.
  const unsigned widest =
      std::max({t.hosts(), t.planes() * t.leaves(), t.planes() * t.in_tier(1), t.planes() * t.in_tier(2)});
  const double step = 64, width = std::max(360.0, widest * step + 40);
  const double cores = 60, top = t.tiers() == 3 ? 180 : 60, middle = t.clos() ? top + 120 : 80, bottom = middle + 160;
  const auto place = [&](unsigned i, unsigned count) { return width * (i + 0.5) / count; };
  const unsigned all_leaves = t.planes() * t.leaves(), all_spines = t.planes() * t.in_tier(1);
  const unsigned all_cores = t.planes() * t.in_tier(2);
  for (unsigned p = 0; p < t.planes(); ++p) {
    for (unsigned l = 0; l < t.leaves(); ++l) {
      for (unsigned s = 0; s < t.spines(); ++s)
        d.line(place(p * t.leaves() + l, all_leaves), middle,
               place(p * t.in_tier(1) + l / t.pod_leaves() * t.spines() + s, all_spines), top, kPlaneColours[p]);
    }
    for (unsigned pod = 0; pod < t.pods(); ++pod) {
      for (unsigned c = 0; c < t.in_tier(2); ++c)
        d.line(place(p * t.in_tier(1) + pod * t.spines() + c / t.core_links(), all_spines), top,
               place(p * t.in_tier(2) + c, all_cores), cores, kPlaneColours[p]);
    }
    for (NodeId h = 0; h < t.hosts(); ++h)
      d.line(place(h, t.hosts()), bottom, place(p * t.leaves() + t.leaf_of(h), all_leaves), middle, kPlaneColours[p]);
  }
  for (unsigned i = 0; i < all_cores; ++i)
    d.box(place(i, all_cores), cores, 58, 24, "#e9def4", t.node_name(t.core(i / t.in_tier(2), i % t.in_tier(2))));
  for (unsigned i = 0; i < all_spines; ++i)
    d.box(place(i, all_spines), top, 58, 24, "#dbe9f6", t.node_name(t.spine(i / t.in_tier(1), i % t.in_tier(1))));
  for (unsigned i = 0; i < all_leaves; ++i)
    d.box(place(i, all_leaves), middle, 58, 24, "#e5f2e0", t.node_name(t.leaf(i / t.leaves(), i % t.leaves())));
  for (NodeId h = 0; h < t.hosts(); ++h) d.box(place(h, t.hosts()), bottom, 50, 24, "#fdf1d6", t.node_name(h));
  d.label(12, 20,
          fmt::format("{} of {:g} Gb/s, {}; links to T0 {:g} Gb/s, {:g} m", plural(t.hosts(), "NIC"), t.nic_gbps(),
                      plural(t.planes(), "plane"), t.config().gbps, t.config().host_metres) +
              (t.clos() ? fmt::format("; to T1 {:g} Gb/s, {:g} m", t.uplink_gbps(), t.config().spine_metres) : ""),
          "start");
  return d.done(width, bottom + 30);
}

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
/// Fabrics from a few numbers: a single switch or a Clos of two or three tiers, in any number of planes; with SRv6
/// locators, static routes, path templates and entropy values for every NIC (mrc.md section 5).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/fabric.hpp"
#include "sim/experiment/settings.hpp"

namespace mrc::sim {

/// What a topology file says. Numbers that were not written are 0 where that means "follows from the others".
struct TopologyConfig {
  std::string kind = "clos", routing = "srv6", spread = "even", locator = "2001:db8", profile = "default";
  double planes = 1, hosts = 0, hosts_per_leaf = 0, leaves = 0, spines = 0, radix = 0, oversubscription = 0;
  double pod_leaves = 0, cores = 0;
  double gbps = 800, uplink_gbps = 0, host_metres = 2, spine_metres = 30, core_metres = 300;
  double fec_ns = 100, switch_ns = 500, port_ns = 0, detect_us = 0, converge_us = 0;
  double bdp_kb = 0, buffer_mb = 64, alpha = 0, trim_size = 128, ecn_min = 0.2, ecn_max = 0.8;
  double evs = 128, backup_evs = 32;
  double returned_dscp = -1;
  bool to_sender = false;  ///< trim = "to-sender"
  bool return_swapped = false;
  bool cut_through = false, trim = true, trim_lengths = false, lasthop = true, ecn = true, ecn_to_nics = false,
       srh = false;
  Source source;
};

std::span<const Key<TopologyConfig>> topology_keys();
/// From the text of a TOML file, or from a table of a scenario. Throw InputError.
TopologyConfig parse_topology(std::string_view text, const std::string& file);
TopologyConfig load_topology(const std::string& file);
/// Keys on top of what is there already.
void read_topology(const input::TomlFile& file, const toml::table& table, TopologyConfig& config);

/// A topology that can be wired. Node numbers: NICs from 0 on, then per plane T0, T1 and T2 switches. Names: nic<n>,
/// T0-<plane>-<i>, T1-<plane>-<i>, T2-<plane>-<i>. Links: of NIC n in plane p n * planes + p, then T0 to T1, then T1 to
/// T2. Of three tiers a pod has T0s and T1s with a link from each to each; T1 number s of every pod has a link to each
/// T2 of group s.
class Topology {
 public:
  /// Throws InputError: what cannot be wired, with the line of the setting.
  explicit Topology(const TopologyConfig& config);

  const TopologyConfig& config() const { return config_; }
  bool clos() const { return spines_ > 0; }
  unsigned tiers() const { return cores_ > 0 ? 3 : clos() ? 2 : 1; }
  bool srv6() const { return config_.routing == "srv6"; }
  /// How switches, and NICs with them, are set up.
  const FabricProfile& profile() const { return *profile_; }
  /// Switches know where each NIC is: without SRv6, and to send packets back.
  bool routes_to_hosts() const { return !srv6() || config_.to_sender; }
  unsigned planes() const { return planes_; }
  unsigned hosts() const { return hosts_; }
  unsigned leaves() const { return leaves_; }
  /// Uplinks of a T0: the T1s of a plane, or of a pod.
  unsigned spines() const { return spines_; }
  unsigned pods() const { return pods_; }
  unsigned pod_leaves() const { return pod_leaves_; }
  /// Uplinks of a T1.
  unsigned core_links() const { return cores_ / std::max(1u, spines_); }
  /// Switches of a tier in a plane.
  unsigned in_tier(unsigned tier) const { return tier == 0 ? leaves_ : tier == 1 ? pods_ * spines_ : cores_; }
  unsigned hosts_per_leaf() const { return per_leaf_; }
  unsigned switches() const { return planes_ * plane_switches(); }
  /// Of links between a tier and the one below it: 0 are those to NICs.
  unsigned links_below(unsigned tier) const {
    return planes_ * (tier == 0 ? hosts_ : tier == 1 ? leaves_ * spines_ : pods_ * cores_);
  }
  unsigned links() const { return links_below(0) + links_below(1) + links_below(2); }
  unsigned leaf_of(NodeId host) const { return host / per_leaf_; }
  unsigned pod_of(NodeId host) const { return leaf_of(host) / pod_leaves_; }
  /// Of a switch.
  unsigned tier_of(NodeId node) const;
  unsigned plane_of(LinkId link) const;
  /// Of its upper end: 0 are those to NICs.
  unsigned tier_of_link(LinkId link) const {
    return link < links_below(0) ? 0 : link < links_below(0) + links_below(1) ? 1 : 2;
  }
  /// Rate of a NIC, all planes; of what two halves of the NICs can say to each other at most, one direction.
  double nic_gbps() const { return config_.gbps * planes_; }
  double bisection_gbps() const;

  NodeId leaf(unsigned plane, unsigned i) const { return hosts_ + plane * plane_switches() + i; }
  NodeId spine(unsigned plane, unsigned i) const { return leaf(plane, leaves_ + i); }
  NodeId core(unsigned plane, unsigned i) const { return spine(plane, pods_ * spines_ + i); }
  NodeId in_tier(unsigned tier, unsigned plane, unsigned i) const {
    return tier == 0 ? leaf(plane, i) : tier == 1 ? spine(plane, i) : core(plane, i);
  }
  LinkId host_link(NodeId host, unsigned plane) const { return host * planes_ + plane; }
  /// spine: of the T0's uplinks.
  LinkId uplink(unsigned plane, unsigned leaf, unsigned spine) const {
    return links_below(0) + (plane * leaves_ + leaf) * spines_ + spine;
  }
  /// From the T1 of that pod that has this T2.
  LinkId core_link(unsigned plane, unsigned pod, unsigned core) const {
    return links_below(0) + links_below(1) + (plane * pods_ + pod) * cores_ + core;
  }
  std::string node_name(NodeId node) const;
  /// "nic3/1", "T0-0-1:T1-0-2".
  std::string link_name(LinkId link) const;
  /// By these names; kNone: there is none.
  NodeId find_node(std::string_view name) const;
  LinkId find_link(std::string_view name) const;

  using Factory = std::function<std::unique_ptr<Endpoint>(NodeId)>;
  /// Fills an empty fabric.
  void build(Fabric& fabric, const Factory& factory, const std::function<void()>& poll = {}) const;

  /// uSIDs: 2 bits of kind, then plane, then number. The T0's, then the T1's and the other T0's, or between NICs of one
  /// T0 one more of that T0, then the downlink's. A uSID of the template lacks its plane, the second its number, which
  /// is the uplink's: any entropy value leads to the destination.
  U128 path_template(NodeId from, NodeId to) const;
  Srv6Rule path_rule() const;
  uint16_t usid(unsigned kind, unsigned plane, unsigned number) const {
    return static_cast<uint16_t>(kind << 14 | plane << number_bits_ | number);
  }
  /// Entropy values of one direction of a QP, by turns of the planes; the low bits name the uplink. Spread "even": each
  /// uplink of a plane as often as any other.
  void entropy(NodeId from, NodeId to, uint64_t seed, std::vector<uint32_t>& active,
               std::vector<uint32_t>& backup) const;
  Encap encap() const;

  /// Time from the start of a frame at a NIC until it is at the farthest other NIC, with nothing in its way.
  Time one_way(unsigned frame_bytes) const { return travel(frame_bytes, hops()); }
  /// The same to that NIC.
  Time one_way(NodeId from, NodeId to, unsigned frame_bytes) const {
    return travel(frame_bytes, leaf_of(from) == leaf_of(to) ? 2 : pod_of(from) == pod_of(to) ? 4 : 6);
  }
  /// Links on the way to the farthest other NIC.
  unsigned hops() const { return pods_ > 1 ? 6 : clos() && leaves_ > 1 ? 4 : 2; }
  /// There, and back as a frame of `answer` bytes.
  Time base_rtt(unsigned frame_bytes, unsigned answer_bytes) const {
    return one_way(frame_bytes) + one_way(answer_bytes);
  }
  /// One plane's rate times the round trip of a full packet.
  uint64_t plane_bdp() const;
  double uplink_gbps() const { return config_.uplink_gbps > 0 ? config_.uplink_gbps : config_.gbps; }

 private:
  static constexpr unsigned kStayKind = 0, kNodeKind = 1, kSpineKind = 2, kDownKind = 3;  // of a uSID
  Time travel(unsigned frame_bytes, unsigned hops) const;
  [[noreturn]] void refuse(std::string_view key, const std::string& what, const std::string& remedy) const;
  unsigned plane_switches() const { return in_tier(0) + in_tier(1) + in_tier(2); }
  void add_routes(Fabric& fabric) const;
  /// Numbers of NICs and switches that the settings leave open. They refuse what cannot be.
  void size_single();
  void size_clos();
  void size_pods(double ratio);
  void check_ports() const;
  unsigned downlinks_of_leaf(double ratio) const;
  /// Refuse what cannot be wired, or named.
  void check_sizes() const;
  void check_entropy() const;
  /// The upper 32 bits of the addresses of switches.
  uint32_t locator_block() const;
  /// Of a T0's uSIDs that stand where T1's stand on longer paths, to be completed by an uplink's.
  unsigned stay_number() const { return 1u << (number_bits_ - 1); }
  SwitchConfig switch_config(const std::string& name, unsigned tier) const;

  TopologyConfig config_;
  const FabricProfile* profile_ = nullptr;
  unsigned planes_ = 1, hosts_ = 0, leaves_ = 1, spines_ = 0, per_leaf_ = 0, number_bits_ = 14;
  unsigned pods_ = 1, pod_leaves_ = 1, cores_ = 0;
  uint32_t block_ = 0;
};

/// A picture: every node and link of a small one, tiers with their numbers of a large one.
std::string topology_svg(const Topology& topology);
/// Several lines for people.
std::string topology_summary(const Topology& topology);

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
/// One experiment for two machines: who sends what, and what happens to links, apart from what carries it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/cell.hpp"
#include "sim/engine/codec.hpp"
#include "sim/experiment/endpoints.hpp"
#include "sim/experiment/topology.hpp"
#include "sim/experiment/traffic.hpp"
#include "util/rng.hpp"

namespace mrc::sim {

/// What carries it.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual Time now() const = 0;
  virtual bool open(NodeId nic, const QpSpec& spec, std::string& why) = 0;
  virtual bool post(NodeId nic, const WorkRequest& request) = 0;
  virtual void set_link(LinkId link, bool up) = 0;
  virtual void set_rate(LinkId link, double gbps) = 0;
  virtual void set_impairment(LinkId link, bool from_a, const Impairment& impairment) = 0;
  virtual void reboot(NodeId node, Time away) = 0;
};

struct Action {
  Time time;
  std::function<void(Machine&)> act;
};

/// Every flow has a QP of its own, and posts as much as its window says.
class Play {
 public:
  Play(const Scenario& scenario, const Topology& topology, uint64_t seed)
      : topology_(topology), traffic_(make_traffic(scenario, topology, seed)) {
    std::vector<uint32_t> next(topology.hosts(), kQpnBase);
    QpSpec spec;
    spec.mtu = static_cast<uint32_t>(scenario.mtu);
    spec.encap = topology.encap();
    spec.path_rule = topology.path_rule();
    spec.planes = topology.planes();
    for (const Flow& f : traffic_.flows) {
      talks_.push_back({.flow = &f, .from = next[f.from]++, .to = next[f.to]++});
      talks_.back().left = f.bytes;
    }
    for (size_t t = 0; t < talks_.size(); ++t) {
      const Talk& talk = talks_[t];
      for (const bool there : {true, false}) {
        const NodeId here = there ? talk.flow->from : talk.flow->to;
        spec.peer = there ? talk.flow->to : talk.flow->from;
        spec.qpn = there ? talk.from : talk.to;
        spec.peer_qpn = there ? talk.to : talk.from;
        if (topology.srv6()) spec.path_template = topology.path_template(here, spec.peer);
        // The smallest NIC has two sets: one for all it sends on, one for all it receives on.
        const uint64_t set = there ? Rng::hash(here) : ~Rng::hash(here);
        topology.entropy(here, spec.peer, Rng::hash(seed ^ set), spec.ev_active, spec.ev_backup);
        specs_.emplace_back(here, spec);
      }
      actions_.push_back({talk.flow->start, [this, t](Machine& m) { pump(m, talks_[t]); }});
    }
  }

  void open(Machine& machine) const {
    for (const auto& [nic, spec] : specs_) {
      std::string why;
      if (!machine.open(nic, spec, why)) throw InputError("nic" + std::to_string(nic) + ": " + why, "");
    }
  }
  void at(Time time, std::function<void(Machine&)> act) { actions_.push_back({time, std::move(act)}); }
  /// In their order.
  const std::vector<Action>& actions() {
    std::stable_sort(actions_.begin(), actions_.end(),
                     [](const Action& a, const Action& b) { return a.time < b.time; });
    return actions_;
  }
  void completed(Machine& machine, const Completion& c) {
    log_.push_back(fmt::format("{:>12} nic{} completed qp {} id {} bytes {} ok {}", machine.now(), c.node, c.qpn, c.id,
                               c.bytes, c.ok));
    for (Talk& talk : talks_) {
      if (talk.flow->from != c.node || talk.from != c.qpn) continue;
      --talk.out;
      pump(machine, talk);
    }
  }
  void delivered(Machine& machine, const Delivery& d) {
    log_.push_back(
        fmt::format("{:>12} nic{} delivered qp {} msn {} bytes {}", machine.now(), d.node, d.qpn, d.msn, d.bytes));
    ++delivered_;
  }
  /// In the order of time and NIC; what one NIC tells at one time, as it tells it.
  std::vector<std::string> log() const {
    constexpr size_t kTimeAndNic = 17;
    auto sorted = log_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const std::string& a, const std::string& b) {
      return a.compare(0, kTimeAndNic, b, 0, kTimeAndNic) < 0;
    });
    return sorted;
  }
  bool over() const {
    return std::all_of(talks_.begin(), talks_.end(), [](const Talk& t) { return t.left == 0 && t.out == 0; });
  }

 private:
  struct Talk {
    const Flow* flow;
    uint32_t from, to;
    uint64_t left = 0, id = 0;
    uint32_t out = 0;
  };
  void pump(Machine& machine, Talk& talk) {
    const Flow& f = *talk.flow;
    while (talk.left > 0 && (f.outstanding == 0 || talk.out < f.outstanding)) {
      const uint64_t bytes = std::min<uint64_t>(talk.left, f.message);
      ++talk.out;  // before post(): it may call back
      talk.left -= bytes;
      if (!machine.post(f.from, {.id = talk.id, .qpn = talk.from, .bytes = bytes})) {
        --talk.out;
        talk.left += bytes;
        return;
      }
      ++talk.id;
    }
  }
  const Topology& topology_;
  Traffic traffic_;
  std::vector<Talk> talks_;
  std::vector<std::pair<NodeId, QpSpec>> specs_;
  std::vector<Action> actions_;
  std::vector<std::string> log_;
  uint64_t delivered_ = 0;
};

/// Every frame on every link, with all its bytes.
class Watch final : public Tap {
 public:
  void sent(LinkId link, bool from_a, Time start, const Packet& packet, bool is_lost) override {
    rows_.push_back({start, link, from_a, is_lost, packet.size, hash(packet)});
    trimmed += packet.trimmed;
    marked += packet.ecn == 3;
    lost += is_lost;
  }
  /// In the order of time, link, direction.
  std::vector<std::string> lines(Time until) {
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      return std::tie(a.start, a.link, b.from_a) < std::tie(b.start, b.link, a.from_a);
    });
    std::vector<std::string> result;
    for (const Row& r : rows_) {
      if (r.start >= until) break;
      result.push_back(fmt::format("{:>12} link {} from {} size {} {:016x}{}", r.start, r.link, r.from_a ? 'a' : 'b',
                                   r.size, r.hash, r.lost ? " lost" : ""));
    }
    return result;
  }
  uint64_t trimmed = 0, marked = 0, lost = 0;

 private:
  struct Row {
    Time start;
    LinkId link;
    bool from_a, lost;
    unsigned size;
    uint64_t hash;
  };
  uint64_t hash(const Packet& packet) {
    const PacketPtr p = copy(pool_, packet);
    uint64_t h = 0;
    const auto mix = [&h](uint64_t x) { h = Rng::hash(h ^ x); };
    for (const uint64_t x : {p->dst.hi, p->dst.lo, uint64_t{p->entropy}, uint64_t{p->src}, uint64_t{p->size},
                             uint64_t{p->dscp}, uint64_t{p->ecn}, uint64_t{p->hop_limit}, uint64_t{p->segments_left},
                             uint64_t{p->plane}, uint64_t{p->trimmed}, uint64_t{p->psn}}) {
      mix(x);
    }
    if (!give_frame(pool_, *p, {.payload = fill_pattern})) mix(1);
    const auto bytes = frame_of(*p);
    for (size_t i = 0; i < bytes.size(); ++i) h = (h ^ bytes[i]) * 0x100000001b3u;
    mix(bytes.size());
    return h;
  }
  PacketPool pool_;
  std::vector<Row> rows_;
};

}  // namespace mrc::sim

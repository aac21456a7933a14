// SPDX-License-Identifier: Apache-2.0
/// usage: same_events engine|modules FIDELITY SEED FILE|-
/// Writes every frame on every link, every completion and delivery of the small fabric, with failures, to FILE: once
/// moved by the packet engine, once by modules of SystemC that are wired like it. Without FILE: how fast it is.
#include <fmt/format.h>

#include <array>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "plan.hpp"
#include "sim/nic/cycle/endpoint_cycle.hpp"
#include "sim/systemc/host.hpp"
#include "sim/systemc/link.hpp"
#include "sim/systemc/nic.hpp"
#include "sim/systemc/trimming_switch.hpp"

namespace {

using namespace mrc;
using namespace mrc::sim;

/// Eight NICs at two T0 and four T1 of each plane. FIDELITY: fast; model, rtl: of asic800, in eight planes; tiny,
/// small: model and RTL of the preset tiny, whose NICs have two planes and four QPs; mixed: RTL and model of tiny, and
/// fast.
std::string text_of(const std::string& fidelity, uint64_t seed, bool speed) {
  const bool small = fidelity == "small" || fidelity == "tiny" || fidelity == "mixed";
  const bool long_runs = speed && fidelity == "fast";
  const char* endpoints = fidelity == "fast" ? "fast" : fidelity == "rtl" || fidelity == "small" ? "rtl" : "model";
  return fmt::format(R"(
endpoints = "{}"
preset = "{}"
mtu = {}
mpr = {}
timeout = 3
[topology]
ecn_to_nics = true
planes = {}
gbps = {}
leaves = 2
hosts_per_leaf = 4
spines = 4
detect_us = 0.3
cut_through = {}
port_ns = {}
evs = {}
backup_evs = {}
[[traffic]]
pattern = "permutation"
bytes = {}
[[traffic]]
pattern = "incast"
to = "nic0"
nodes = {}
first = 3
bytes = {}
start_us = {}
)",
                     endpoints, small ? "tiny" : "asic800", small ? 1024 : 4096, small ? 1 : 0, small ? 2 : 8,
                     small ? 25 : 100, seed % 2 == 0, seed == 3 ? 40 : 0, small ? 8 : 128, small ? 8 : 32,
                     small       ? 50'000
                     : long_runs ? 10'000'000
                                 : 1'000'000,
                     small ? 2 : 3, small ? 80'000 : 500'000,
                     !small          ? 6
                     : seed % 2 == 0 ? 4
                                     : 0);
}
Time end_of(const std::string& fidelity) {
  return fidelity == "fast" ? 2 * kMs : fidelity == "mixed" || fidelity == "small" ? 200 * kUs : 100 * kUs;
}

std::unique_ptr<Endpoint> make_clocked(const std::string& fidelity, const Preset& preset, const FastConfig& settings,
                                       const std::string& where) {
  if (const std::string why = CycleEndpoint::problem(preset, settings); !why.empty()) {
    throw InputError(where + ": " + why, "");
  }
  std::string error;
  auto dut =
      fidelity == "model"
          ? tb::make_model_dut(preset)
          : tb::open_dut(preset.name == std::string_view("tiny") ? MRC_DUT_TINY : MRC_DUT_ASIC800, preset, 1, error);
  if (!dut) throw InputError(error, "");
  return std::make_unique<CycleEndpoint>(fidelity == "rtl" ? "rtl" : "model", preset, settings, std::move(dut));
}

std::unique_ptr<Endpoint> make_nic(const Scenario& scenario, const Topology& topology, const std::string& fidelity,
                                   NodeId number) {
  static constexpr std::array kMixed = {"rtl", "model", "fast"};
  return make_endpoint(scenario, topology, fidelity == "mixed" ? kMixed[number % 3] : scenario.endpoints, "test",
                       make_clocked);
}

/// Everything that can happen to links, while it matters.
void add_failures(Play& play, const Topology& topology) {
  const unsigned lost = topology.planes() - 1;  // a plane
  for (NodeId h = 0; h < topology.hosts(); ++h) {
    const LinkId link = topology.host_link(h, lost);
    play.at(4 * kUs + 7, [link](Machine& m) { m.set_link(link, false); });
    play.at(15 * kUs, [link](Machine& m) { m.set_link(link, true); });
  }
  const LinkId flaps = topology.uplink(0, 0, 1), slow = topology.uplink(0, 1, 2), bad = topology.uplink(0, 0, 3);
  play.at(2 * kUs, [flaps](Machine& m) { m.set_link(flaps, false); });
  play.at(2 * kUs + 100 * kNs, [flaps](Machine& m) { m.set_link(flaps, true); });  // nobody sees it
  play.at(5 * kUs, [flaps](Machine& m) { m.set_link(flaps, false); });
  play.at(9 * kUs, [flaps](Machine& m) { m.set_link(flaps, true); });
  play.at(3 * kUs, [slow, &topology](Machine& m) { m.set_rate(slow, topology.config().gbps / 4); });
  play.at(kUs, [bad](Machine& m) {
    m.set_impairment(bad, true, {.loss = 0.1});
    m.set_impairment(bad, false, {.loss = 0.2, .entropy = 1, .entropy_mask = 1});
  });
  play.at(11 * kUs, [&topology](Machine& m) { m.reboot(topology.spine(0, 0), 2 * kUs); });
}

class Engine final : public Machine, Listener {
 public:
  Engine(const Scenario& scenario, const Topology& topology, const std::string& fidelity, uint64_t seed, Play& play,
         Tap* tap)
      : fabric_({.seed = seed}), play_(play) {
    topology.build(fabric_, [&](NodeId h) { return make_nic(scenario, topology, fidelity, h); });
    for (NodeId h = 0; h < topology.hosts(); ++h) fabric_.endpoint_at(h)->listen(this);
    for (LinkId l = 0; tap != nullptr && l < fabric_.links(); ++l) {
      for (const bool from_a : {true, false}) fabric_.set_tap(l, from_a, tap);
    }
  }
  void run(Time until) {
    for (const Action& a : play_.actions()) fabric_.at(a.time, [this, &a] { a.act(*this); });
    fabric_.run(until);
  }
  Fabric& fabric() { return fabric_; }

  Time now() const override { return fabric_.now(); }
  bool open(NodeId nic, const QpSpec& spec, std::string& why) override {
    return fabric_.endpoint_at(nic)->open(spec, why);
  }
  bool post(NodeId nic, const WorkRequest& request) override { return fabric_.endpoint_at(nic)->post(request); }
  void set_link(LinkId link, bool up) override { fabric_.set_link(link, up); }
  void set_rate(LinkId link, double gbps) override { (void)fabric_.set_rate(link, gbps); }
  void set_impairment(LinkId link, bool from_a, const Impairment& i) override {
    fabric_.set_impairment(link, from_a, i);
  }
  void reboot(NodeId node, Time away) override { (void)fabric_.reboot(node, away); }

 private:
  void completed(const Completion& c) override { play_.completed(*this, c); }
  void delivered(const Delivery& d) override { play_.delivered(*this, d); }
  Fabric fabric_;
  Play& play_;
};

/// Modules for all that a fabric has. The fabric itself does not run.
class Modules final : public sc_core::sc_module, public Machine {
 public:
  Modules(const sc_core::sc_module_name& name, Fabric& like, const Scenario& scenario, const Topology& topology,
          const std::string& fidelity, Play& play, Tap* tap)
      : sc_module(name), play_(play) {
    for (NodeId n = 0; n < like.nodes(); ++n) {
      const Switch* sw = like.switch_at(n);
      const double gbps = topology.config().gbps;
      if (sw == nullptr) {
        nics_.push_back(
            std::make_unique<systemc::Nic>(like.name(n).c_str(), make_nic(scenario, topology, fidelity, n),
                                           systemc::NicConfig{.planes = topology.planes(), .number = n, .gbps = gbps}));
        hosts_.push_back(std::make_unique<systemc::Host>(("host" + std::to_string(n)).c_str()));
        hosts_.back()->connect(*nics_.back());
        hosts_.back()->heard = [this](const systemc::HostEvent& e) { heard(e); };
        nodes_.push_back(nics_.back().get());
        continue;
      }
      unsigned host_ports = 0;
      while (host_ports < like.ports_of(n) && to_nic(like, {n, host_ports})) ++host_ports;
      switches_.push_back(std::make_unique<systemc::TrimmingSwitch>(
          like.name(n).c_str(), systemc::TrimmingSwitchConfig{.settings = sw->config(),
                                                              .ports = like.ports_of(n),
                                                              .host_ports = host_ports,
                                                              .gbps = gbps,
                                                              .seed = like.switch_seed(n)}));
      switches_.back()->tables().tables() = sw->tables();
      nodes_.push_back(switches_.back().get());
    }
    for (LinkId l = 0; l < like.links(); ++l) {
      links_.push_back(std::make_unique<systemc::Link>(("link" + std::to_string(l)).c_str(), like.link_config(l)));
      systemc::Link& link = *links_.back();
      const auto [a, b] = like.ends(l);
      link.connect(0, *nodes_[a.node], a.port);
      link.connect(1, *nodes_[b.node], b.port);
      link.set_seed(0, like.link_seed(l, true));
      link.set_seed(1, like.link_seed(l, false));
      link.set_tap(tap, l);
    }
    SC_HAS_PROCESS(Modules);
    SC_METHOD(control);
  }
  systemc::Nic& nic(NodeId n) { return *nics_[n]; }
  uint64_t activations() const {
    uint64_t sum = 0;
    for (const systemc::Node* n : nodes_) sum += n->activations();
    return sum;
  }

  Time now() const override { return systemc::now_ps(); }
  bool open(NodeId nic, const QpSpec& spec, std::string& why) override { return nics_[nic]->open(spec, why); }
  bool post(NodeId nic, const WorkRequest& request) override { return hosts_[nic]->post(request); }
  void set_link(LinkId link, bool up) override { links_[link]->set_up(up); }
  void set_rate(LinkId link, double gbps) override { links_[link]->set_rate(gbps); }
  void set_impairment(LinkId link, bool from_a, const Impairment& i) override {
    links_[link]->set_impairment(from_a ? 0 : 1, i);
  }
  void reboot(NodeId node, Time away) override { switches_[node - nics_.size()]->reset(systemc::picoseconds(away)); }

 private:
  static bool to_nic(const Fabric& like, PortRef port) {
    const auto [a, b] = like.ends(like.link_at(port));
    return like.switch_at(a.node == port.node ? b.node : a.node) == nullptr;
  }
  void heard(const systemc::HostEvent& e) {
    if (e.kind == systemc::EventKind::Delivered) {
      play_.delivered(*this, {e.node, e.qpn, static_cast<uint32_t>(e.id), e.bytes});
    } else {
      play_.completed(*this, {e.node, e.qpn, e.id, e.bytes, e.kind == systemc::EventKind::Completed});
    }
  }
  void control() {
    const auto& actions = play_.actions();
    while (next_ < actions.size() && actions[next_].time <= now()) actions[next_++].act(*this);
    if (next_ < actions.size()) next_trigger(systemc::picoseconds(actions[next_].time - now()));
  }
  Play& play_;
  size_t next_ = 0;
  std::vector<std::unique_ptr<systemc::Nic>> nics_;
  std::vector<std::unique_ptr<systemc::Host>> hosts_;
  std::vector<std::unique_ptr<systemc::TrimmingSwitch>> switches_;
  std::vector<systemc::Node*> nodes_;
  std::vector<std::unique_ptr<systemc::Link>> links_;
};

std::string line_of(NodeId nic, const EndpointStats& s) {
  return fmt::format("nic{} sent {} again {} timeouts {} delivered {} trimmed {} marked {} sacks {} nacks {} probes {}",
                     nic, s.data_packets, s.retransmissions, s.timeouts, s.delivered_bytes, s.trimmed, s.marked,
                     s.sacks, s.nacks, s.probes);
}

int run(const std::string& machine, const std::string& fidelity, uint64_t seed, const std::string& file) {
  const bool speed = file == "-";
  const Scenario scenario = parse_fabric_scenario(text_of(fidelity, seed, speed), "small.toml");
  const Topology topology(scenario.topology);
  Play play(scenario, topology, seed);
  if (!speed) add_failures(play, topology);
  Watch watch;
  const Time end = end_of(fidelity);
  Engine engine(scenario, topology, fidelity, seed, play, speed ? nullptr : &watch);
  std::unique_ptr<Modules> modules;
  if (machine == "modules") {
    modules = std::make_unique<Modules>("fabric", engine.fabric(), scenario, topology, fidelity, play,
                                        speed ? nullptr : &watch);
  }
  play.open(modules ? static_cast<Machine&>(*modules) : engine);
  const std::clock_t begun = std::clock();
  if (modules) {
    sc_core::sc_start(systemc::picoseconds(end));
  } else {
    engine.run(end);
  }
  const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  uint64_t packets = 0, again = 0, hops = 0;
  std::vector<std::string> stats;
  for (NodeId h = 0; h < topology.hosts(); ++h) {
    Endpoint& endpoint = modules ? modules->nic(h).endpoint() : *engine.fabric().endpoint_at(h);
    if (!endpoint.problem().empty()) throw InputError(endpoint.problem(), "");
    stats.push_back(line_of(h, endpoint.stats()));
    packets += endpoint.stats().data_packets;
    again += endpoint.stats().retransmissions;
  }
  if (speed) {
    fmt::print("{} {}: {} data packets in {:.3f} s of CPU time: {:.0f} packets/s", machine, fidelity, packets, seconds,
               static_cast<double>(packets) / seconds);
    if (modules)
      fmt::print(", {:.1f} activations for each",
                 static_cast<double>(modules->activations()) / static_cast<double>(packets));
    fmt::print("\n");
    return play.over() ? 0 : 1;
  }
  std::ofstream out(file);
  const auto lines = watch.lines(end), log = play.log();
  hops = lines.size();
  for (const std::vector<std::string>* list : {&lines, &log, &std::as_const(stats)}) {
    for (const std::string& line : *list) out << line << "\n";
  }
  fmt::print("{} {} seed {}: {} frames on links, {} data packets, {} again, {} lost, trimmed {}, marked {}, over {}\n",
             machine, fidelity, seed, hops, packets, again, watch.lost, watch.trimmed, watch.marked, play.over());
  // Nothing of this kind happened: the comparison would not be about it.
  return play.over() && watch.trimmed > 0 && watch.lost > 0 && again > 0 && out.good() ? 0 : 1;
}

}  // namespace

int sc_main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: same_events engine|modules FIDELITY SEED FILE|-\n";
    return 2;
  }
  try {
    return run(argv[1], argv[2], std::stoull(argv[3]), argv[4]);
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 3;
  }
}

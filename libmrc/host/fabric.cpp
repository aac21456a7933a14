// SPDX-License-Identifier: Apache-2.0
#include "libmrc/host/fabric.hpp"

#include <fmt/format.h>

#include "input/error.hpp"
#include "sim/switch/switch.hpp"
#include "tb/environment/mac.hpp"

namespace mrc::libmrc {
namespace {

/// No driver may be ahead of the links.
Time delay_of(const sim::TopologyConfig& config) {
  const auto delay = static_cast<Time>(1000 * (5 * config.host_metres + config.fec_ns));
  if (delay < 10'000)
    throw InputError(
        fmt::format("{}: links of NICs take {} ps; a host needs 10 ns.", config.source.at("host_metres"), delay),
        "Give a longer host_metres, or fec_ns.");
  return delay;
}

}  // namespace

/// Where a NIC of the host meets the fabric: what its driver has sent, until its time comes.
class FabricNetwork::Plug final : public sim::Endpoint {
 public:
  Plug(FabricNetwork& network, std::size_t nic) : network_(network), nic_(nic) {}

  void send(unsigned plane, Time first, sim::PacketPtr packet) {
    queues_.at(plane).emplace_back(first, std::move(packet));
    ++network_.waiting_;
    if (first < wake_) access_.wake_at(wake_ = std::max(first, access_.now()));
  }

  void attach(const sim::Access& access) override { access_ = access; }
  /// The driver has it by the tap.
  void receive(sim::PacketPtr, unsigned) override {}
  sim::PacketPtr pull(unsigned plane) override {
    auto& queue = queues_.at(plane);
    if (queue.empty() || queue.front().first > access_.now()) return nullptr;
    sim::PacketPtr packet = std::move(queue.front().second);
    queue.pop_front();
    --network_.waiting_;
    return packet;
  }
  void wake() override {
    wake_ = sim::kNever;
    for (unsigned plane = 0; plane < access_.planes(); ++plane) {
      auto& queue = queues_.at(plane);
      if (!access_.link_up(plane)) {
        while (!queue.empty() && queue.front().first <= access_.now()) {
          queue.pop_front();
          --network_.waiting_;
        }
      } else if (!queue.empty() && queue.front().first <= access_.now()) {
        access_.kick(plane);
      }
      // What is due and still here is pulled when the port is free.
      for (const auto& [first, packet] : queue) {
        if (first <= access_.now()) continue;
        wake_ = std::min(wake_, first);
        break;
      }
    }
    if (wake_ != sim::kNever) access_.wake_at(wake_);
  }
  void link_changed(unsigned plane, bool up) override { network_.carrier(nic_, plane, up); }

  // Nobody makes traffic here.
  bool open(const sim::QpSpec&, std::string& why) override { return why = "programs open queue pairs", false; }
  bool post(const sim::WorkRequest&) override { return false; }
  void listen(sim::Listener*) override {}
  sim::EndpointStats stats() const override { return {}; }
  sim::EvCounts ev_counts(uint32_t) const override { return {}; }
  const char* fidelity() const override { return "host"; }

 private:
  FabricNetwork& network_;
  const std::size_t nic_;
  sim::Access access_;
  std::array<std::deque<std::pair<Time, sim::PacketPtr>>, 8> queues_;
  Time wake_ = sim::kNever;
};

unsigned FabricNetwork::nics(const sim::Scenario& scenario) { return sim::Topology(scenario.topology).hosts(); }

FabricNetwork::FabricNetwork(const Preset& preset, const sim::Scenario& scenario, Watch watch, double loss,
                             uint64_t seed, std::function<void(const std::string&)> report)
    : Network(preset, delay_of(scenario.topology), std::move(watch), loss, seed),
      scenario_(scenario),
      topology_(scenario_.topology),
      preamble_(Time{tb::kPreambleBytes} * tb::byte_ps(preset)),
      report_(std::move(report)),
      fabric_({.seed = seed}),
      failures_(scenario_, topology_, seed) {
  const sim::TopologyConfig& config = topology_.config();
  if (topology_.planes() != preset.num_planes)
    throw InputError(fmt::format("{}: {} planes, but NICs of {} have {}.", config.source.at("planes"),
                                 topology_.planes(), preset.name, preset.num_planes),
                     "Give another --preset, or other planes.");
  if (config.gbps != preset.port_gbps)
    throw InputError(fmt::format("{}: links of {} Gb/s, but ports of {} have {}.", config.source.at("gbps"),
                                 config.gbps, preset.name, preset.port_gbps),
                     "Give another --preset, or another gbps.");
  topology_.build(fabric_, [this](sim::NodeId nic) {
    auto plug = std::make_unique<Plug>(*this, nic);
    plugs_.push_back(plug.get());
    return plug;
  });
  for (sim::NodeId nic = 0; nic < topology_.hosts(); ++nic) {
    for (unsigned p = 0; p < topology_.planes(); ++p) fabric_.set_tap(topology_.host_link(nic, p), false, this);
  }
  // No entropy value is known before a program has a queue pair: there is none to be bad.
  events_ = std::make_unique<sim::Events>(scenario_, topology_, fabric_, seed,
                                          [](sim::NodeId, sim::NodeId) { return std::vector<uint32_t>(); });
  const auto reported = [this](const std::string& text, sim::Time) {
    report_(fmt::format("{:.3f} us: {}", static_cast<double>(fabric_.now()) * 1e-6, text));
  };
  failures_.begin(fabric_, reported);
  events_->begin(reported);
}

FabricNetwork::~FabricNetwork() = default;

std::vector<std::pair<std::string, uint64_t>> FabricNetwork::settings() const {
  std::vector<std::pair<std::string, uint64_t>> settings;
  for (const FabricSetting& s : topology_.profile().nic) {
    if (s.name != nullptr) settings.emplace_back(s.name, s.value);
  }
  if (!topology_.srv6()) return settings;
  const Srv6Rule rule = topology_.path_rule();
  settings.insert(settings.end(), {{"SRV6.plane_lsb", rule.plane_lsb},
                                   {"SRV6.uplink_usid", rule.uplink_usid},
                                   {"SRV6.uplink_lsb", rule.uplink_lsb},
                                   {"SRV6.uplink_bits", rule.uplink_bits}});
  return settings;
}

void FabricNetwork::route(uint64_t from, uint64_t to, tb::QpConfig& config) const {
  if (!topology_.srv6()) return;
  config.encap = topology_.encap() == Encap::Srv6Srh ? tb::Encapsulation::Srh : tb::Encapsulation::Srv6;
  const U128 path =
      topology_.path_template(static_cast<sim::NodeId>(nic_of(from)), static_cast<sim::NodeId>(nic_of(to)));
  for (unsigned i = 0; i < 16; ++i) config.path.at(i) = static_cast<uint8_t>(path >> (8 * (15 - i)));
}

void FabricNetwork::carry(uint64_t from, tb::SentFrame frame, Time first) {
  const std::size_t nic = nic_of(from);
  if (nic >= plugs_.size() || frame.plane >= topology_.planes()) return;
  plugs_[nic]->send(frame.plane, first, fabric_.pool().from_frame(frame.bytes));
}

void FabricNetwork::advance(Time to) { fabric_.run(to); }

void FabricNetwork::sent(sim::LinkId link, bool, sim::Time start, const sim::Packet& packet, bool lost) {
  if (lost) return;
  const auto bytes = sim::frame_of(packet);
  arrive(mac_of(link / topology_.planes()), link % topology_.planes(), start + preamble_ + delay(),
         {bytes.begin(), bytes.end()});
}

std::vector<std::string> FabricNetwork::summary() const {
  uint64_t marks = 0, trims = 0, drops = 0, lost = 0;
  for (sim::NodeId n = topology_.hosts(); n < fabric_.nodes(); ++n) {
    const sim::Switch& sw = *fabric_.switch_at(n);
    for (unsigned port = 0; port < fabric_.ports_of(n); ++port) {
      for (unsigned q = 0; q < sw.used_queues(); ++q) {
        const sim::QueueCounters c = sw.queue_counters(port, q);
        marks += c.ecn_marked;
        trims += c.trim;
        drops += c.dropped_packets - c.tx_trim;
      }
    }
  }
  for (sim::LinkId link = 0; link < fabric_.links(); ++link)
    lost += fabric_.stats(link, true).lost + fabric_.stats(link, false).lost;
  std::vector<std::string> lines{fmt::format(
      "switches have marked {} frames, trimmed {}, dropped {}; links have lost {}", marks, trims, drops, lost)};
  for (const std::string& text : events_->after(fabric_.now())) lines.push_back("not reached: " + text);
  return lines;
}

}  // namespace mrc::libmrc

// SPDX-License-Identifier: Apache-2.0
/// A fabric between the NICs of a host (docs/guide/fabric.md): switches that trim and mark, links that fail.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmrc/host/network.hpp"
#include "sim/experiment/events.hpp"
#include "sim/experiment/failures.hpp"

namespace mrc::libmrc {

/// The engine and the drivers take turns. A frame is known to the driver when the last switch begins to send it, which
/// is a link's delay before its first byte arrives: so far the drivers may be ahead.
class FabricNetwork final : public Network, private sim::Tap {
 public:
  /// `report`: hears what happens to links and switches, as sentences without full stop. Throws InputError: a scenario
  /// whose network does not go with NICs of that preset.
  FabricNetwork(const Preset& preset, const sim::Scenario& scenario, Watch watch, double loss, uint64_t seed,
                std::function<void(const std::string&)> report);
  ~FabricNetwork() override;

  /// Of the NICs that the scenario's topology has.
  static unsigned nics(const sim::Scenario& scenario);

  std::vector<std::pair<std::string, uint64_t>> settings() const override;
  void route(uint64_t from, uint64_t to, tb::QpConfig& config) const override;
  void advance(Time to) override;
  bool empty() const override { return Network::empty() && waiting_ == 0 && fabric_.pool().live() == 0; }
  std::vector<std::string> summary() const override;

 private:
  class Plug;
  void carry(uint64_t from, tb::SentFrame frame, Time first) override;
  void sent(sim::LinkId link, bool from_a, sim::Time start, const sim::Packet& packet, bool lost) override;

  const sim::Scenario scenario_;
  const sim::Topology topology_;
  const Time preamble_;
  const std::function<void(const std::string&)> report_;
  mutable sim::Fabric fabric_;
  std::vector<Plug*> plugs_;  ///< the fabric's
  sim::Failures failures_;
  std::unique_ptr<sim::Events> events_;
  uint64_t waiting_ = 0;  ///< frames that the fabric has not taken yet
};

}  // namespace mrc::libmrc

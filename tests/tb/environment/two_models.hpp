// SPDX-License-Identifier: Apache-2.0
/// Two models with everything around them, without a comparison: what the bench finds by itself.
#pragma once

#include <functional>

#include "pipeline/nic.hpp"
#include "tb/environment/station.hpp"

namespace mrc::tb {

class TwoModels {
 public:
  TwoModels(const Preset& preset, const Scenario& scenario, uint64_t packets, uint64_t seed = 1)
      : plan_(make_plan(preset, scenario, seed)),
        dut({preset, scenario, seed, true, plan_.dut, plan_.peer, packets, nullptr}),
        peer({preset, scenario, seed, false, plan_.peer, plan_.dut, packets, nullptr}),
        nic_(preset),
        other_(preset) {
    dut.connect(peer);
    peer.connect(dut);
  }

  /// What the first one shows, and what it is told: may be changed.
  std::function<void(mrc_pins_out&, uint64_t cycle)> shows;
  std::function<void(mrc_pins_in&)> reported;

  /// From reset to the reading of the counters, or to the first problem.
  void run() {
    turns(4000, [&] { return dut.configured() && peer.configured(); });
    dut.start_traffic();
    peer.start_traffic();
    turns(8000, [&] { return dut.traffic_done() && peer.traffic_done(); });
    dut.rest(true);
    turns(200, [&] { return dut.driver_idle() && dut.host_quiet() && peer.host_quiet(); });
    turns(5, [] { return false; });
    dut.read_counters(dut_counters);
    peer.read_counters(peer_counters);
    turns(100, [&] { return dut.driver_idle() && peer.driver_idle(); });
  }

 private:
  const Plan plan_;

 public:
  Station dut, peer;
  NicCounters dut_counters, peer_counters;

 private:
  void turns(unsigned most, const std::function<bool()>& until) {
    for (unsigned n = 0; n < most && dut.problem().empty() && !until(); ++n) {
      for (unsigned i = 0; i < 100 && dut.problem().empty(); ++i) {
        nic_.outputs(out_);
        if (shows) shows(out_, dut.now());
        dut.cycle(out_, in_);
        mrc_pins_in in = in_;
        if (reported) reported(in);
        nic_.step(in);
        other_.outputs(other_out_);
        peer.cycle(other_out_, other_in_);
        other_.step(other_in_);
      }
      Station::exchange(dut, peer);
    }
  }

  Nic nic_, other_;
  mrc_pins_in in_{}, other_in_{};
  mrc_pins_out out_{}, other_out_{};
};

}  // namespace mrc::tb

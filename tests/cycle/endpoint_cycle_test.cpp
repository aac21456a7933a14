// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "sim/endpoint_cycle.hpp"
#include "sim/experiment.hpp"

namespace mrc::sim {
namespace {

std::unique_ptr<Endpoint> make_clocked(const std::string& fidelity, const Preset& preset, const FastConfig& settings,
                                       const std::string& where) {
  if (const std::string why = CycleEndpoint::problem(preset, settings); !why.empty()) throw InputError(where + ": " + why, "");
  if (fidelity == "model") {
    return std::make_unique<CycleEndpoint>("model", preset, settings, tb::make_model_dut(preset));
  }
  std::string error;
  auto dut = tb::open_dut(MRC_DUT_TINY, preset, 1, error);
  if (!dut) throw InputError(where + ": " + error, "");
  return std::make_unique<CycleEndpoint>("rtl", preset, settings, std::move(dut));
}

ExperimentResult run(const std::string& text, uint64_t seed = 1) {
  return Experiment(parse_fabric_scenario(text, "s.toml"), seed, make_clocked).run();
}

void show(const char* name, const ExperimentResult& r) {
  fmt::print("{:<8} {} {} | {:.1f} us, {} bytes, {} packets, {} again, {} timers, {} trims, {} marks, {} sacks, {} nacks | {:.2f} s\n", name,
             outcome_name(r.outcome), r.reason, static_cast<double>(r.time) / 1e6, r.total.delivered_bytes, r.total.data_packets,
             r.total.retransmissions, r.total.timeouts, r.trims, r.marks, r.total.sacks, r.total.nacks, r.wall_seconds);
  for (const Flow& f : r.flows) fmt::print("   {} -> {}: {:.3f} us, delivered {:.3f}\n", f.from, f.to, static_cast<double>(f.done - f.begun) / 1e6,
      static_cast<double>(f.delivered - f.begun) / 1e6);
}

TEST_CASE("scratch", "[.scratch]") {
  const char* text = getenv("SCN");
  const std::string base(text);
  for (const char* kind : {"fast", "model"}) {
    show(kind, run("nic_rules = true\nendpoints = \"" + std::string(kind) + "\"\n" + base));
  }
}

}  // namespace
}  // namespace mrc::sim
namespace mrc::sim {
namespace {
struct Times final : Tap {
  std::vector<std::pair<Time, Packet>> seen;
  void sent(LinkId, bool, Time time, const Packet& p, bool) override { seen.push_back({time, p}); }
};
TEST_CASE("scratch latency", "[.lat]") {
  for (const char* kind : {"fast", "model"}) {
    for (unsigned bytes : {32768u, 65536u}) {
      Scenario s = parse_fabric_scenario(fmt::format("nic_rules=true\nendpoints=\"{}\"\nhang_us=100\nsampling=false\n[topology]\nkind=\"single\"\nhosts=2\nplanes=8\ngbps=100\n[[traffic]]\npattern=\"flow\"\nstart_us=3\nbytes={}\n", kind, bytes), "s.toml");
      Experiment e(s, 1, make_clocked);
      std::vector<Times> taps(32);
      for (LinkId l = 0; l < 16; ++l) { e.fabric().set_tap(l, true, &taps[l]); e.fabric().set_tap(l, false, &taps[16 + l]); }
      const auto r = e.run();
      fmt::print("{} {}: done {:.3f} delivered {:.3f}\n", kind, bytes, (r.flows[0].done - r.flows[0].begun) / 1e6, (r.flows[0].delivered - r.flows[0].begun) / 1e6);
      for (unsigned t = 0; t < 32; ++t) for (auto& [time, p] : taps[t].seen) {
        if (t >= 16) { // from switch to nic: last byte in
          fmt::print("    to nic{} plane {} op {:02x} size {} last byte {:.3f}\n", (t - 16) / 8, t % 8, p.opcode, p.size, (time - 3000000 + 80 * (wire_bytes(p.size) - 12) + 110000) / 1e3);
        } else fmt::print("    from nic{} plane {} op {:02x} size {} begins {:.3f}\n", t / 8, t % 8, p.opcode, p.size, (time - 3000000) / 1e3);
      }
    }
  }
}
}
}

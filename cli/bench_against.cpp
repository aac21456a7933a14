// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_against.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/status_line.hpp"
#include "cli/version.hpp"
#include "input/file.hpp"
#include "input/json.hpp"
#include "sim/experiment/experiment.hpp"
#include "sim/experiment/htsim.hpp"

namespace mrc::cli {
namespace {

using input::Json;
using sim::Time;

constexpr input::FileKind kLog{"log of htsim", 2000 * input::kMegabyte, "Name a file that you may read, or -."};

/// One group of flows in one of the two.
struct Side {
  uint64_t flows = 0, ended = 0;
  sim::Distribution times;
  Time last = 0;          ///< from the first begin to the last end
  double over_bound = 0;  ///< that over the least time possible, which is the same for both
};

Side side(const std::vector<std::pair<Time, Time>>& flows, Time bound) {
  Side s;
  s.flows = flows.size();
  Time first = sim::kNever, last = 0;
  std::vector<Time> times;
  for (const auto& [begun, done] : flows) {
    if (begun != sim::kNever) first = std::min(first, begun);
    if (begun == sim::kNever || done == sim::kNever) continue;
    ++s.ended;
    last = std::max(last, done);
    times.push_back(done - begun);
  }
  s.times = sim::distribution(std::move(times));
  if (s.ended > 0) s.last = last - first;
  if (bound > 0) s.over_bound = static_cast<double>(s.last) / static_cast<double>(bound);
  return s;
}

double us(Time time) { return static_cast<double>(time) / static_cast<double>(sim::kUs); }

std::string text(const std::string& label, const char* who, const Side& s) {
  const std::string ended = fmt::format("{} of {}", s.ended, s.flows);
  if (s.ended == 0) return fmt::format("  {:<22.22} {:<7} {:>15}\n", label, who, ended);
  return fmt::format("  {:<22.22} {:<7} {:>15} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f} {:>8.3f}\n", label,
                     who, ended, us(s.times.min), us(s.times.median), us(s.times.p99), us(s.times.max), us(s.last),
                     s.over_bound);
}

Json json_of(const Side& s) {
  return {{"flows", s.flows},          {"ended", s.ended},
          {"min_us", us(s.times.min)}, {"median_us", us(s.times.median)},
          {"p99_us", us(s.times.p99)}, {"max_us", us(s.times.max)},
          {"last_us", us(s.last)},     {"over_bound", s.over_bound}};
}

}  // namespace

int bench_against(const std::string& log, const std::string& name, uint64_t seed, unsigned threads,
                  const std::string& json_file, const Context& context) {
  const StopOnSignal stop;
  sim::Scenario scenario = sim::load_fabric_scenario(name);
  scenario.threads = threads != 0 ? threads : std::clamp(std::thread::hardware_concurrency(), 1u, sim::kMaxThreads);
  Outputs outputs("mrc bench fabric");
  outputs.reads(log);
  outputs.reads(name);
  Output* const json = outputs.add("--json", json_file);
  if (!scenario.jobs.empty()) {
    throw UsageError("--against and a scenario with jobs: htsim has no compute.",
                     "Use a scenario of [[traffic]] alone.");
  }
  const sim::Topology topology(scenario.topology);
  const sim::Traffic traffic = sim::make_traffic(scenario, topology, seed);
  const std::vector<sim::HtsimFlow> theirs =
      sim::read_htsim(input::read_text(log, kLog), input::file_name(log), traffic);

  std::unique_ptr<sim::Experiment> experiment;
  try {
    experiment = std::make_unique<sim::Experiment>(scenario, seed, sim::ClockedMaker(), &g_stop);
  } catch (const sim::Stopped&) {
    text_out() << "INCOMPLETE: stopped before the end\n";
    return outputs.finish(kInconclusive);
  }
  const sim::ExperimentResult r = experiment->run();
  text_out() << fmt::format(
                    "{}, seed {}: {} NICs of {:g} Gb/s, {} flows; the bound is all bytes at the busiest NIC's rate\n",
                    r.scenario, seed, r.nics, r.nic_gbps, r.flows.size())
             << fmt::format("  {:<22} {:<7} {:>15} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8}\n", "traffic", "",
                            "flows ended", "min us", "median", "p99", "max", "last", "bound");
  Json j{{"run", context.run_id}, {"scenario", r.scenario}, {"seed", seed}, {"outcome", sim::outcome_name(r.outcome)}};
  j["complete"] = r.outcome != sim::Outcome::Incomplete;
  j["groups"] = Json::array();
  bool all = true;
  for (uint32_t g = 0; g < r.groups.size(); ++g) {
    std::vector<std::pair<Time, Time>> here, there;
    for (size_t f = 0; f < r.flows.size(); ++f) {
      if (r.flows[f].group != g) continue;
      here.emplace_back(r.flows[f].begun, r.flows[f].failed ? sim::kNever : r.flows[f].done);
      there.emplace_back(theirs[f].begun, theirs[f].done);
    }
    const Side a = side(here, r.groups[g].bound), b = side(there, r.groups[g].bound);
    all = all && a.ended == a.flows;
    text_out() << text(r.groups[g].label, "mrcnic", a) << text("", "htsim", b);
    j["groups"].push_back({{"label", r.groups[g].label},
                           {"bound_us", us(r.groups[g].bound)},
                           {"mrcnic", json_of(a)},
                           {"htsim", json_of(b)}});
  }
  j["versions"] = versions();
  if (!r.reason.empty()) text_out() << "  mrcnic: " << r.reason << '\n';
  text_out() << std::flush;
  outputs.write(json, [&](std::ostream& out) { out << j.dump(2) << '\n'; });
  return outputs.finish(r.outcome == sim::Outcome::Incomplete ? kInconclusive : all ? kPass : kFail);
}

}  // namespace mrc::cli

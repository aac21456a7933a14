// SPDX-License-Identifier: Apache-2.0
#include "cli/fabric_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/fabric_times.hpp"
#include "tb/compare/report.hpp"

namespace mrc::cli {
namespace fabric_jobs {
namespace {

using input::Json;
using sim::ExperimentResult;
using sim::JobResult;
using sim::StepResult;
using sim::Time;

Time took(const StepResult& s) { return s.end - s.begin; }
double slowdown(Time took, Time bound) {
  return bound > 0 ? static_cast<double>(took) / static_cast<double>(bound) : 0;
}

/// Step times of a job, and what they are over the bound.
struct Figures {
  sim::Distribution time;
  double p50 = 0, p99 = 0, p100 = 0;
  const StepResult* slowest = nullptr;
  size_t number = 0;  ///< of the slowest step

  explicit Figures(const JobResult& job) {
    std::vector<Time> times;
    std::vector<double> over;
    for (size_t i = 0; i < job.steps.size(); ++i) {
      const StepResult& s = job.steps[i];
      times.push_back(took(s));
      over.push_back(slowdown(took(s), s.bound));
      if (slowest != nullptr && over[i] <= over[number]) continue;
      slowest = &s;
      number = i;
    }
    time = sim::distribution(times);
    if (over.empty()) return;
    std::sort(over.begin(), over.end());
    const auto rank = [&](double q) {
      const auto n = static_cast<size_t>(std::ceil(q * static_cast<double>(over.size())));
      return over[std::clamp<size_t>(n, 1, over.size()) - 1];
    };
    p50 = rank(0.5);
    p99 = rank(0.99);
    p100 = over.back();
  }
};

std::string waits_text(const JobResult& j, const sim::WaitChain& c) {
  std::string out = fmt::format(
      "    waits       step {}, back from rank {}: {} messages, {:.3f} us under way, {:.3f} in an ideal fabric; {:.3f} "
      "us "
      "computed\n",
      c.step, c.rank, tb::grouped(c.messages), us(c.under_way), us(c.ideal), us(c.computed));
  for (const sim::LateMessage& w : c.slowest) {
    if (w.over() == 0) break;
    out += fmt::format("      rank {} to {} (nic{} to nic{}), {} bytes at {:.3f} us: {:.3f} us, {:.3f} more\n", w.from,
                       w.to, j.nics[w.from], j.nics[w.to], tb::grouped(w.bytes), us(w.begin), us(w.end - w.begin),
                       us(w.over()));
    for (const std::string& reported : w.reported) out += "        " + reported + '\n';
  }
  return out;
}

Json waits_json(const JobResult& j, const sim::WaitChain& c) {
  Json chain{{"step", c.step},
             {"rank", c.rank},
             {"messages", c.messages},
             {"computations", c.computations},
             {"computed_us", us(c.computed)},
             {"under_way_us", us(c.under_way)},
             {"ideal_us", us(c.ideal)}};
  chain["slowest"] = Json::array();
  for (const sim::LateMessage& w : c.slowest) {
    chain["slowest"].push_back(Json{{"from", w.from},
                                    {"to", w.to},
                                    {"from_nic", j.nics[w.from]},
                                    {"to_nic", j.nics[w.to]},
                                    {"bytes", w.bytes},
                                    {"begin_us", us(w.begin)},
                                    {"end_us", us(w.end)},
                                    {"ideal_us", us(w.ideal)},
                                    {"told", w.reported}});
  }
  return chain;
}

}  // namespace
}  // namespace fabric_jobs

using namespace fabric_jobs;

std::string jobs_summary(const ExperimentResult& r) {
  std::string out;
  for (const JobResult& j : r.jobs) {
    const bool whole = j.steps.size() == j.wanted;
    out += fmt::format("  {}: {} of {} steps of {} ranks, ", j.label, j.steps.size(), j.wanted, j.ranks);
    if (whole) {
      out += fmt::format("{} messages, {} bytes in {:.3f} us, {:.4f} of the bound\n", tb::grouped(j.messages),
                         tb::grouped(j.bytes), us(j.end - j.begin), slowdown(j.end - j.begin, j.bound));
    } else {
      out += fmt::format("in {:.3f} us\n", us(j.steps.empty() ? 0 : j.steps.back().end - j.begin));
    }
    if (j.calls > 0) {
      out += fmt::format("    trace       {} control dependencies order nothing: data_deps do\n", tb::grouped(j.calls));
    }
    if (j.failed > 0) out += fmt::format("    failed      {} messages\n", tb::grouped(j.failed));
    if (j.restarts > 0) {
      out += fmt::format("    restarts    {}, {} steps again, {:.3f} us until QPs were there\n", j.restarts, j.repeated,
                         us(j.stopped));
    }
    const Figures f(j);
    if (f.slowest == nullptr) continue;
    out +=
        fmt::format("    step        P50 {:.3f}, P99 {:.3f}, P100 {:.3f} us; over the bound {:.4f}, {:.4f}, {:.4f}\n",
                    us(f.time.median), us(f.time.p99), us(f.time.max), f.p50, f.p99, f.p100);
    const StepResult& s = *f.slowest;
    out += fmt::format(
        "    slowest     step {}, {:.3f} us of {:.3f}: rank {} (nic{}) ended it, {:.3f} us after the "
        "first\n",
        f.number, us(took(s)), us(s.bound), s.last, j.nics[s.last], us(s.spread));
    if (j.waits) out += waits_text(j, *j.waits);
    if (whole) {
      const Time all = (j.end - j.begin) * j.ranks;
      out += fmt::format("    computed    {:.1f} % of the time of all ranks\n",
                         100 * static_cast<double>(j.computed) / static_cast<double>(all));
    }
  }
  return out;
}

Json jobs_json(const ExperimentResult& r) {
  Json list = Json::array();
  for (const JobResult& j : r.jobs) {
    const Figures f(j);
    Json job{{"label", j.label},
             {"ranks", j.ranks},
             {"steps_wanted", j.wanted},
             {"messages", j.messages},
             {"bytes", j.bytes},
             {"failed", j.failed},
             {"control_dependencies", j.calls},
             {"restarts", j.restarts},
             {"repeated_steps", j.repeated},
             {"stopped_us", us(j.stopped)},
             {"gpu_hours_lost",
              j.end > j.begin ? us(j.end - j.begin - std::min(j.bound, j.end - j.begin)) * j.ranks / 3600e6 : 0},
             {"begin_us", us(j.begin)},
             {"end_us", us(j.end)},
             {"bound_us", us(j.bound)},
             {"computed_us", us(j.computed)},
             {"step_us",
              {{"min", us(f.time.min)}, {"p50", us(f.time.median)}, {"p99", us(f.time.p99)}, {"p100", us(f.time.max)}}},
             {"over_bound", {{"p50", f.p50}, {"p99", f.p99}, {"p100", f.p100}}}};
    if (j.waits) job["waits"] = waits_json(j, *j.waits);
    job["steps"] = Json::array();
    for (const StepResult& s : j.steps) {
      job["steps"].push_back(Json{{"us", us(took(s))},
                                  {"bound_us", us(s.bound)},
                                  {"last_rank", s.last},
                                  {"last_nic", j.nics[s.last]},
                                  {"spread_us", us(s.spread)}});
    }
    list.push_back(job);
  }
  return list;
}

std::string steps_csv(const ExperimentResult& r, const sim::Topology& topology) {
  std::string out = "job,step,begin_us,end_us,step_us,bound_us,over_bound,last_rank,last_nic,spread_us\n";
  for (const JobResult& j : r.jobs) {
    for (size_t i = 0; i < j.steps.size(); ++i) {
      const StepResult& s = j.steps[i];
      out += fmt::format("\"{}\",{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{},{},{:.6f}\n", j.label, i, us(s.begin),
                         us(s.end), us(took(s)), us(s.bound), slowdown(took(s), s.bound), s.last,
                         topology.node_name(j.nics[s.last]), us(s.spread));
    }
  }
  return out;
}

}  // namespace mrc::cli

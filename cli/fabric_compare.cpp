// SPDX-License-Identifier: Apache-2.0
#include "cli/fabric_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/version.hpp"
#include "input/file.hpp"

namespace mrc::cli {
namespace fabric_compare {
namespace {

using input::Json;

constexpr const char* kRemedy = "Name files that mrc fabric --json has written.";
constexpr input::FileKind kResultFile{"result", 500 * input::kMegabyte, kRemedy};

/// What one run gives to a line.
struct Share {
  bool ended = false;
  double failures = 0, restarts = 0, timeouts = 0, trims = 0, whole = 0, p50 = 0, p99 = 0, p100 = 0;
  double took_us = 0, bound_us = 0, ranks = 0;
};

struct Line {
  FabricSide side;
  std::vector<Share> shares;
};

double number(const Json& in, std::string_view name) {
  const Json* found = in.find(name);
  return found != nullptr && found->is_number() ? std::strtod(found->text.c_str(), nullptr) : 0;
}

Share share_of(const Json& result, const Json& one, bool job) {
  Share s;
  s.ended = result.find("complete") != nullptr && result.find("complete")->flag();
  s.restarts = number(one, "restarts");
  if (const Json* failures = result.find("failures"); failures != nullptr) {
    for (const Json& f : failures->items) s.failures += number(f, "times");
  }
  if (const Json* totals = result.find("totals"); totals != nullptr) {
    s.timeouts = number(*totals, "timeouts");
    s.trims = number(*totals, "trims");
  }
  s.took_us = number(one, "end_us") - number(one, "begin_us");
  s.bound_us = number(one, "bound_us");
  s.ranks = job ? number(one, "ranks") : 0;
  s.whole = s.bound_us > 0 ? s.took_us / s.bound_us : 0;
  if (const Json* over = one.find("over_bound"); over != nullptr) {
    s.p50 = number(*over, "p50");
    s.p99 = number(*over, "p99");
    s.p100 = number(*over, "p100");
  }
  return s;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

FabricSide summed(Line& line) {
  FabricSide s = std::move(line.side);
  std::vector<double> p50, p99;
  double took = 0, bound = 0;
  for (const Share& share : line.shares) {
    ++s.runs;
    s.failures += share.failures;
    s.restarts += share.restarts;
    s.timeouts += share.timeouts;
    s.trims += share.trims;
    if (!share.ended) continue;
    ++s.ended;
    s.mean += share.whole;
    s.worst = std::max(s.worst, share.whole);
    s.p100 = std::max(s.p100, share.p100);
    p50.push_back(share.p50);
    p99.push_back(share.p99);
    took += share.took_us;
    bound += share.bound_us;
    s.gpu_hours_lost += (share.took_us - share.bound_us) * share.ranks / 3600e6;
  }
  for (double* sum : {&s.failures, &s.restarts, &s.timeouts, &s.trims}) *sum /= s.runs;
  s.p50 = median(p50);
  s.p99 = median(p99);
  if (s.ended == 0) return s;
  s.mean /= s.ended;
  s.gpu_hours_lost /= s.ended;
  s.lost_percent = 100 * (1 - bound / took);
  return s;
}

Json result_in(const std::string& text, const std::string& name) {
  input::JsonReader reader(text, name);
  std::optional<Json> result = reader.next();
  if (!result || !result->contains("scenario") || !result->contains("simulated_us")) {
    throw InputError(name + ": no result of mrc fabric.", kRemedy);
  }
  return std::move(*result);
}

void add(std::vector<Line>& lines, const std::string& file, const Json& result, const Json& one, bool job) {
  FabricSide side;
  side.scenario = result.text_of("scenario");
  side.transport = result.text_of("transport");
  side.label = one.text_of("label");
  side.job = job;
  side.failure_rates = result.contains("failure_rates") ? number(result, "failure_rates") : 1;
  auto at = std::find_if(lines.begin(), lines.end(), [&](const Line& l) {
    return l.side.scenario == side.scenario && l.side.transport == side.transport && l.side.label == side.label &&
           l.side.job == side.job && l.side.failure_rates == side.failure_rates;
  });
  if (at == lines.end()) at = lines.insert(lines.end(), Line{std::move(side), {}});
  at->side.files.push_back(file);
  at->shares.push_back(share_of(result, one, job));
}

}  // namespace
}  // namespace fabric_compare

using namespace fabric_compare;

std::string fabric_result_text(const std::string& file) {
  std::string text = input::read_text(file, kResultFile);
  (void)result_in(text, input::file_name(file));
  return text;
}

std::vector<FabricSide> compare_fabric(const std::vector<std::string>& files) {
  std::vector<Line> lines;
  for (const std::string& file : files) {
    const std::string text = input::read_text(file, kResultFile), name = input::file_name(file);
    const Json result = result_in(text, name);
    for (const bool job : {true, false}) {
      const Json* list = result.find(job ? "jobs" : "traffic");
      if (list == nullptr) continue;
      for (const Json& one : list->items) add(lines, name, result, one, job);
    }
  }
  std::vector<FabricSide> sides;
  sides.reserve(lines.size());
  for (Line& line : lines) sides.push_back(summed(line));
  return sides;
}

std::string fabric_sides_text(const std::vector<FabricSide>& sides) {
  std::string out =
      fmt::format("{:<34} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9}\n", "", "runs", "failures",
                  "timers", "restarts", "mean", "worst", "P50", "P99", "P100", "lost", "GPU hours");
  for (const FabricSide& s : sides) {
    std::string name = fmt::format("{}, {}", s.scenario, s.transport);
    if (s.failure_rates != 1) name += fmt::format(", {:g} x", s.failure_rates);
    if (!s.job || s.label != "job") name += ", " + s.label;
    out += fmt::format("{:<34} {:>7} {:>8.1f} {:>8.1f} {:>8.1f}", name,
                       s.ended == s.runs ? std::to_string(s.runs) : fmt::format("{} of {}", s.ended, s.runs),
                       s.failures, s.timeouts, s.restarts);
    if (s.ended > 0) {
      out += fmt::format(" {:>8.4f} {:>8.4f} {:>8.4f} {:>8.4f} {:>8.4f} {:>7.2f} %", s.mean, s.worst, s.p50, s.p99,
                         s.p100, s.lost_percent);
      if (s.job) out += fmt::format(" {:>9.3g}", s.gpu_hours_lost);
    }
    out += '\n';
  }
  return out +
         "All over the bound: the whole on average and at worst; steps or flows, P50 and P99 of the median run, P100 "
         "of the worst.\n";
}

std::string fabric_sides_json(const std::vector<FabricSide>& sides, const std::string& run_id) {
  Json j;
  j["run"] = run_id;
  j["sides"] = Json::array();
  for (const FabricSide& s : sides) {
    Json one{
        {"scenario", s.scenario},           {"transport", s.transport}, {"label", s.label}, {"job", s.job},
        {"failure_rates", s.failure_rates}, {"files", s.files},         {"runs", s.runs},   {"ended", s.ended},
        {"failures", s.failures},           {"timeouts", s.timeouts},   {"trims", s.trims}, {"restarts", s.restarts}};
    if (s.ended > 0) {
      one["over_bound"] = {{"mean", s.mean}, {"worst", s.worst}, {"p50", s.p50}, {"p99", s.p99}, {"p100", s.p100}};
      one["lost_percent"] = s.lost_percent;
      if (s.job) one["gpu_hours_lost"] = s.gpu_hours_lost;
    }
    j["sides"].push_back(std::move(one));
  }
  j["versions"] = versions();
  return j.dump(2) + "\n";
}

}  // namespace mrc::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/fabric_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "cli/fabric_times.hpp"
#include "cli/version.hpp"

namespace mrc::cli {
namespace fabric_page {
namespace {

using input::Json;
using sim::ExperimentResult;
using sim::Flow;
using sim::PortResult;
using sim::Time;

constexpr size_t kInPage = 4000;        // flows, ports; more are chosen from
constexpr size_t kSlowest = 500;        // flows that are always there
constexpr size_t kInFiles = 2'000'000;  // flows that have files
constexpr size_t kPortsOfTier = 20;     // of a tier and plane, by each measure

std::string time_or_null(Time t) { return t == sim::kNever ? "null" : fmt::format("{:.9g}", us(t)); }
std::string quoted(const std::string& text) { return Json(text).dump(); }

/// A file of the page; what goes wrong is told at the end.
void page_file(const std::filesystem::path& path, Outputs& outputs, const std::function<std::string()>& text) {
  outputs.attempt([&] {
    std::error_code ignored;
    std::filesystem::create_directories(path.parent_path(), ignored);
    Output out("", path.string());
    out.stream() << text();
    out.commit();
  });
}

std::string flow_row(const ExperimentResult& r, size_t i) {
  const Flow& f = r.flows[i];
  return fmt::format("[{},{},{},{},{},{},{},{},{}]", i, f.group, f.from, f.to, f.bytes, time_or_null(f.begun),
                     time_or_null(f.delivered), time_or_null(f.done), f.failed ? 1 : 0);
}

std::string flow_rows(const ExperimentResult& r, const std::vector<size_t>& flows) {
  std::string text = "[";
  for (const size_t i : flows) text += (text.size() > 1 ? ",\n" : "") + flow_row(r, i);
  return text + "]";
}

/// Flows as the page has them: all; or the slowest, a line for the senders under each T0, and files behind these.
std::string flows_text(const std::filesystem::path& folder, const ExperimentResult& r, const sim::Topology& t,
                       Outputs& outputs) {
  std::vector<size_t> all(r.flows.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  std::string text = fmt::format("\"all\": {}, \"leaf\": {}, ", r.flows.size(), t.hosts_per_leaf());
  if (all.size() <= kInPage) return text + "\"rows\": " + flow_rows(r, all);
  const auto over = [&](size_t i) {
    const Flow& f = r.flows[i];
    return f.failed || f.done == sim::kNever ? 1e18 : r.groups[f.group].over(f.done - f.begun);
  };
  std::vector<size_t> slowest = all;
  std::partial_sort(slowest.begin(), slowest.begin() + kSlowest, slowest.end(),
                    [&](size_t a, size_t b) { return over(a) != over(b) ? over(a) > over(b) : a < b; });
  slowest.resize(kSlowest);
  text += "\"rows\": " + flow_rows(r, slowest) + ",\n\"leaves\": [";
  std::vector<std::vector<size_t>> of_leaf(t.leaves());
  for (const size_t i : all) of_leaf[t.leaf_of(r.flows[i].from)].push_back(i);
  for (unsigned leaf = 0; leaf < t.leaves(); ++leaf) {
    std::vector<Time> times;
    uint64_t bytes = 0, failed = 0;
    for (const size_t i : of_leaf[leaf]) {
      const Flow& f = r.flows[i];
      bytes += f.bytes;
      failed += f.failed ? 1 : 0;
      if (f.done != sim::kNever && !f.failed) times.push_back(f.done - f.begun);
    }
    const sim::Distribution d = sim::distribution(std::move(times));
    text += fmt::format("{}[{},{},{},{},{},{},{}]", leaf == 0 ? "" : ",", of_leaf[leaf].size(), d.count, failed, bytes,
                        time_or_null(d.median), time_or_null(d.p99), time_or_null(d.max));
    if (all.size() > kInFiles) continue;
    page_file(folder / "flows" / fmt::format("{}.js", leaf), outputs, [&] {
      return fmt::format("// SPDX-License-Identifier: Apache-2.0\nFLOWS[{}] = {};\n", leaf,
                         flow_rows(r, of_leaf[leaf]));
    });
  }
  return text + fmt::format("], \"files\": {}", all.size() <= kInFiles);
}

/// All ports; of very many those that are first by some measure in their tier and plane.
std::string ports_text(const ExperimentResult& r) {
  std::set<size_t> chosen;
  std::vector<std::vector<size_t>> of_tier(sim::kTiers.size() * 8);
  for (size_t i = 0; i < r.ports.size(); ++i) of_tier[r.ports[i].tier * 8 + r.ports[i].plane].push_back(i);
  static constexpr double (*kMeasures[])(const PortResult&) = {
      [](const PortResult& p) { return p.load; }, [](const PortResult& p) { return static_cast<double>(p.deepest); },
      [](const PortResult& p) { return static_cast<double>(p.marks); },
      [](const PortResult& p) { return static_cast<double>(p.trims); },
      [](const PortResult& p) { return static_cast<double>(p.drops + p.lost); }};
  for (std::vector<size_t>& ports : of_tier) {
    if (r.ports.size() <= kInPage) {
      chosen.insert(ports.begin(), ports.end());
      continue;
    }
    const size_t most = std::min(kPortsOfTier, ports.size());
    for (const auto measure : kMeasures) {
      std::partial_sort(ports.begin(), ports.begin() + static_cast<long>(most), ports.end(), [&](size_t a, size_t b) {
        const double x = measure(r.ports[a]), y = measure(r.ports[b]);
        return x != y ? x > y : a < b;
      });
      for (size_t i = 0; i < most && measure(r.ports[ports[i]]) > 0; ++i) chosen.insert(ports[i]);
    }
  }
  std::string text = "[";
  for (const size_t i : chosen) {
    const PortResult& p = r.ports[i];
    text += fmt::format("{}[{},{},{},{:.5f},{},{},{},{},{}]", text.size() > 1 ? ",\n" : "", quoted(p.name), p.tier,
                        p.plane, p.load, p.deepest, p.marks, p.trims, p.drops, p.lost);
  }
  return text + "]";
}

/// The folder of npm's modules with uPlot, fetched if need be; "": it cannot be had.
std::filesystem::path npm_modules(const Context& context) {
  const std::string call = "'" + (context.root / "tools/npm.py").string() + "' report 2>/dev/null";
  std::string text;
  if (std::FILE* const pipe = ::popen(call.c_str(), "r")) {
    std::array<char, 4096> bytes{};
    while (const size_t n = std::fread(bytes.data(), 1, bytes.size(), pipe)) text.append(bytes.data(), n);
    if (::pclose(pipe) != 0) return {};
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) {
    throw UsageError("the page needs " + path.string() + ", which cannot be read.",
                     "Call './mrc' in a clone, or set MRC_ROOT to one.");
  }
  return std::move(text).str();
}

}  // namespace
}  // namespace fabric_page

using namespace fabric_page;

std::string page_details(const std::filesystem::path& folder, const ExperimentResult& r, const sim::Topology& topology,
                         Outputs& outputs) {
  return ", \"topology\": " + quoted(sim::topology_summary(topology)) + ",\n\"ports\": " + ports_text(r) +
         ",\n\"flows\": {" + flows_text(folder, r, topology, outputs) + "}";
}

bool write_fabric_page(const std::filesystem::path& folder, const std::vector<PageRun>& runs, const Context& context,
                       Outputs& outputs) {
  const std::filesystem::path parts = context.root / "tools/report", from = npm_modules(context);
  const bool charts = !from.empty();
  for (const char* name : {"dist/uPlot.iife.min.js", "dist/uPlot.min.css", "LICENSE"}) {
    const std::string own = std::filesystem::path(name).filename().string();
    page_file(folder / "charts" / own, outputs,
              [&] { return charts ? text_of(from / "uplot" / name) : "/* npm could not fetch uPlot. */\n"; });
  }
  for (const char* name : {"page.css", "page.js", "fabric.js"})
    page_file(folder / name, outputs, [&] { return text_of(parts / name); });
  page_file(folder / "data.js", outputs, [&] {
    std::string text = fmt::format("const DATA = {{\"run\": {}, \"made\": {}, \"charts\": {}, \"runs\": [",
                                   quoted(context.run_id), quoted(versions_line()), charts);
    for (const PageRun& run : runs) {
      text += fmt::format("{}\n{{\"name\": {}, \"result\": {}{}}}", &run == runs.data() ? "" : ",", quoted(run.name),
                          run.result, run.more);
    }
    return text + "]};\nconst FLOWS = {};\n";
  });
  page_file(folder / "index.html", outputs, [&] { return text_of(parts / "fabric.html"); });
  return charts;
}

}  // namespace mrc::cli

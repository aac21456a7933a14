// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cli/bench_against.hpp"
#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/gnuplot.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/status_line.hpp"
#include "cli/version.hpp"
#include "input/json.hpp"
#include "sim/experiment/experiment.hpp"
#include "tb/compare/report.hpp"

namespace mrc::cli {
namespace bench_fabric_command {
namespace {

using input::Json;

struct Options {
  std::string json, svg, only, against, scenario = "permutation";
  unsigned rounds = 3;
  uint64_t seed = 1;
  bool curve = false, scale = false;
  unsigned largest = 131072, threads = 0;  // 0: as many as there are cores
};

struct Case {
  const char *name, *text;
};
constexpr Case kCases[] = {
    {"flow-100MB", "base = \"flow\"\nsampling = false\n"},
    {"permutation-128-2MB", "base = \"permutation\"\nsampling = false\n"},
    {"permutation-128-100MB",
     "base = \"permutation\"\nsampling = false\n[[traffic]]\npattern = \"permutation\"\nbytes = 100_000_000\n"},
    {"incast-64-1MB", "base = \"incast\"\nsampling = false\n"},
    {"nics-1024-8-planes",
     "sampling = false\n[topology]\nplanes = 8\ngbps = 100\nleaves = 32\nhosts_per_leaf = 32\nspines = 32\n"
     "[[traffic]]\npattern = \"permutation\"\nbytes = 100_000\n"},
    {"roce-permutation-128-2MB",
     "base = \"permutation\"\ntransport = \"roce\"\nsampling = false\n[topology]\nrouting = \"ecmp\"\n"},
};

struct Row {
  std::string name;
  std::vector<double> wall_speed, cpu_speed;
  double over_bound = 0, fairness = 0;
  uint64_t memory = 0, packets = 0, transmissions = 0, events = 0;
  unsigned nics = 0;
  unsigned planes = 0, threads = 1;
  uint64_t resident = 0;  ///< bytes of the process, built and run
  double build_seconds = 0;
  double seconds = 0;  ///< of the CPU, median; building the fabric does not count
  std::vector<double> rounds;
  std::string outcome;
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  const size_t n = v.size();
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

uint64_t resident() {
  std::ifstream file("/proc/self/statm");
  uint64_t all = 0, pages = 0;
  file >> all >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

/// One round more of a row. False: stopped, and the round does not count.
bool measure(Row& row, const std::string& text, uint64_t seed) {
  std::unique_ptr<sim::Experiment> experiment;
  const auto begin = std::chrono::steady_clock::now();
  try {
    sim::Scenario scenario = sim::parse_fabric_scenario(text, row.name);
    scenario.threads = row.threads;
    experiment = std::make_unique<sim::Experiment>(scenario, seed, sim::ClockedMaker(), &g_stop);
  } catch (const sim::Stopped&) {
    return false;
  }
  experiment->keep_ports = false;
  row.build_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const sim::ExperimentResult r = experiment->run();
  if (r.outcome == sim::Outcome::Incomplete) return false;
  row.wall_speed.push_back(r.packets_per_second());
  row.cpu_speed.push_back(static_cast<double>(r.total.data_packets) / std::max(r.cpu_seconds, 1e-9));
  row.over_bound = r.over_bound();
  const sim::Distribution& fct = r.groups[0].fct;
  row.fairness = fct.max > 0 ? static_cast<double>(fct.min) / static_cast<double>(fct.max) : 0;
  row.memory = r.memory;
  row.packets = r.total.data_packets;
  row.transmissions = r.transmissions;
  row.events = r.fabric_events;
  row.nics = r.nics;
  row.planes = r.planes;
  row.resident = resident();
  row.rounds.push_back(r.cpu_seconds);
  row.seconds = median(row.rounds);
  row.outcome = sim::outcome_name(r.outcome);
  return true;
}

/// Bytes of one more pair of QPs that have nothing to do.
double idle_pair_bytes(uint64_t seed) {
  const auto memory = [&](unsigned qps) {
    const std::string text = fmt::format(
        "sampling = false\n[topology]\nleaves = 2\nhosts_per_leaf = 1\nspines = 16\n[[traffic]]\npattern = \"flow\"\n"
        "qps = {}\nstart_us = 1000\n",
        qps);
    sim::Experiment experiment(sim::parse_fabric_scenario(text, "idle"), seed);
    return experiment.memory();
  };
  return static_cast<double>(memory(201) - memory(1)) / 200;
}

std::string curve_text(unsigned nics) {
  unsigned leaves = 1;
  while (leaves * leaves * 4 <= nics) leaves *= 2;
  const unsigned per_leaf = nics / leaves;
  return fmt::format(
      "sampling = false\n[topology]\nleaves = {}\nhosts_per_leaf = {}\nspines = {}\n[[traffic]]\npattern = "
      "\"permutation\"\nbytes = 1_000_000\n",
      leaves, per_leaf, per_leaf);
}

/// A permutation of 1 MB in a fabric as wide as it is high, of 8 planes; with 131072 NICs the paper's.
std::string scale_text(unsigned nics) {
  unsigned per_leaf = 32;
  while (2 * per_leaf * per_leaf * 2 < nics) per_leaf *= 2;
  return fmt::format(
      "sampling = false\n[topology]\nplanes = 8\ngbps = 100\nleaves = {}\nhosts_per_leaf = {}\nspines = {}\nevs = 64\n"
      "backup_evs = 16\n[[traffic]]\npattern = \"permutation\"\nbytes = 1_000_000\n",
      nics / per_leaf, per_leaf, per_leaf);
}

std::string draw_curve(const std::vector<Row>& rows) {
  std::string script = "$d << EOD\n";
  for (const Row& r : rows) {
    script += fmt::format("{} {} {}\n", r.transmissions, r.seconds, r.nics);
  }
  script +=
      "EOD\nset logscale xy\nset grid\nset key left top\nset xlabel 'packets times hops'\nset ylabel 'seconds'\n"
      "set title 'Time to simulate a permutation of 1 MB, 64 to 4096 NICs'\n";
  const Row& first = rows.front();
  script += fmt::format(
      "plot $d using 1:2 with linespoints pointtype 7 title 'measured', x * {} title 'in proportion to the smallest' "
      "dashtype 2\n",
      first.seconds / static_cast<double>(first.transmissions));
  return plot_svg(720, 420, script);
}

/// Speed above, memory below, over the NICs; a line for each number of threads.
std::string draw_scale(const std::vector<Row>& rows) {
  std::set<unsigned> threads;
  std::string script;
  for (const Row& r : rows) threads.insert(r.threads);
  for (const unsigned t : threads) {
    script += fmt::format("$t{} << EOD\n", t);
    for (const Row& r : rows) {
      if (r.threads != t) continue;
      script += fmt::format("{} {} {}\n", r.nics, median(r.wall_speed) / 1000, static_cast<double>(r.resident) / 1e9);
    }
    script += "EOD\n";
  }
  script +=
      "set multiplot layout 2, 1 title 'A permutation of 1 MB, 8 planes of 100 Gb/s'\nset logscale x 2\nset grid\n"
      "set lmargin 9\nset xtics (";
  std::string tics, plots[2];
  for (const Row& r : rows) {
    if (r.threads == *threads.begin()) tics += fmt::format("{}'{}' {}", tics.empty() ? "" : ", ", r.nics, r.nics);
  }
  for (const unsigned t : threads) {
    for (unsigned column : {2u, 3u}) {
      plots[column - 2] += fmt::format("{}$t{} using 1:{} with linespoints pointtype 7 title '{} thread{}'",
                                       t == *threads.begin() ? "" : ", ", t, column, t, t == 1 ? "" : "s");
    }
  }
  script += tics + fmt::format(")\nset xrange [{}:{}]\n", rows.front().nics * 0.9, rows.back().nics * 1.2) +
            "set key left bottom\nset yrange [0:*]\nset ylabel '1000 packets/s'\nplot " + plots[0] +
            "\nset key left top\nset xlabel 'NICs'\nset ylabel 'memory, GB'\nplot " + plots[1] + "\nunset multiplot\n";
  return plot_svg(720, 600, script);
}

struct Table {
  std::vector<Row> rows, curve, scale;
  double idle_pair = 0;
  bool complete = true;
};

std::string row_text(const Row& r) {
  return fmt::format("  {:<24} {:>12} {:>12} {:>8.4f} {:>9.3f} {:>10.1f}  {}\n", r.name,
                     tb::grouped(static_cast<uint64_t>(median(r.wall_speed))),
                     tb::grouped(static_cast<uint64_t>(median(r.cpu_speed))), r.over_bound, r.fairness,
                     static_cast<double>(r.memory) / 1e6, r.outcome);
}

std::string curve_row_text(const Row& r) {
  return fmt::format("  {:>6} {:>12} {:>14} {:>9.2f} {:>11.1f} {:>12.1f}\n", r.nics, tb::grouped(r.packets),
                     tb::grouped(r.transmissions), r.seconds, r.seconds * 1e9 / static_cast<double>(r.transmissions),
                     static_cast<double>(r.memory) / 1e6);
}

double hop_ns(const Row& r) {
  return 1e9 * static_cast<double>(r.packets) / median(r.wall_speed) / static_cast<double>(r.transmissions);
}

std::string scale_row_text(const Row& r) {
  return fmt::format("  {:>6} {:>7} {:>7} {:>12} {:>11.1f} {:>12.1f} {:>10.2f}  {}\n", r.nics, r.planes, r.threads,
                     tb::grouped(static_cast<uint64_t>(median(r.wall_speed))), hop_ns(r),
                     static_cast<double>(r.resident) / 1e6, r.build_seconds, r.outcome);
}

/// Rounds of one row, printed when they are over; a row that no round of was ended is not kept.
void add_row(std::vector<Row>& rows, Table& table, const std::string& name, const std::string& text, const Options& o,
             std::string (*as_text)(const Row&), unsigned threads = 1) {
  StatusLine status;
  Row row;
  row.name = name;
  row.threads = threads;
  for (unsigned round = 0; round < o.rounds && table.complete; ++round) {
    status.show(fmt::format("{}, round {} of {}", name, round + 1, o.rounds));
    table.complete = measure(row, text, o.seed);
  }
  status.clear();
  if (row.rounds.empty()) return;
  text_out() << as_text(row) << std::flush;
  if (stdout_failed()) table.complete = false;  // nobody reads the table any more
  rows.push_back(std::move(row));
}

Table measure_all(const Options& o) {
  Table table;
  text_out() << fmt::format("Fast endpoints, one thread, medians of {} round{}\n", o.rounds, o.rounds == 1 ? "" : "s")
             << fmt::format("  {:<24} {:>12} {:>12} {:>8} {:>9} {:>10}  {}\n", "case", "packets/s", "per CPU s",
                            "bound", "min/max", "memory MB", "outcome")
             << std::flush;
  for (const Case& c : kCases) {
    if (table.complete && (o.only.empty() || o.only == c.name)) add_row(table.rows, table, c.name, c.text, o, row_text);
  }
  if (table.complete && o.only.empty()) table.idle_pair = idle_pair_bytes(o.seed);
  if (table.idle_pair > 0)
    text_out() << fmt::format("  an idle pair of QPs holds {:.1f} KB\n", table.idle_pair / 1000) << std::flush;
  if (o.curve && table.complete) {
    text_out() << fmt::format("\n  {:>6} {:>12} {:>14} {:>9} {:>11} {:>12}\n", "NICs", "packets", "packets x hops",
                              "seconds", "ns each hop", "memory MB");
  }
  for (unsigned nics = 64; o.curve && table.complete && nics <= 4096; nics *= 2)
    add_row(table.curve, table, fmt::format("permutation-{}-1MB", nics), curve_text(nics), o, curve_row_text);
  if (!table.complete) text_out() << "INCOMPLETE: stopped before the end\n" << std::flush;
  return table;
}

unsigned cores(const Options& o) {
  return o.threads != 0 ? o.threads : std::clamp(std::thread::hardware_concurrency(), 1u, sim::kMaxThreads);
}

Table measure_scale(const Options& o) {
  Table table;
  text_out() << fmt::format("Permutation of 1 MB, fast endpoints, medians of {} round{}\n", o.rounds,
                            o.rounds == 1 ? "" : "s")
             << fmt::format("  {:>6} {:>7} {:>7} {:>12} {:>11} {:>12} {:>10}  {}\n", "NICs", "planes", "threads",
                            "packets/s", "ns each hop", "memory MB", "build s", "outcome")
             << std::flush;
  for (unsigned nics = 1024; nics <= o.largest; nics *= nics == 65536 ? 2 : 4) {
    for (unsigned threads = 1; table.complete && threads <= cores(o); threads = threads == 1 ? cores(o) : threads + 1) {
      malloc_trim(0);  // what the fabric before has left is not this one's
      add_row(table.scale, table, fmt::format("{} NICs", nics), scale_text(nics), o, scale_row_text, threads);
      if (cores(o) == 1) break;
    }
  }
  if (!table.complete) text_out() << "INCOMPLETE: stopped before the end\n" << std::flush;
  return table;
}

std::string table_json(const Options& o, const Table& t, const std::string& run_id) {
  Json j;
  j["run"] = run_id;
  j["complete"] = t.complete;
  j["seed"] = o.seed;
  j["rounds"] = o.rounds;
  const auto row_json = [](const Row& r) {
    return Json{{"case", r.name},
                {"packets_per_second", median(r.wall_speed)},
                {"packets_per_cpu_second", median(r.cpu_speed)},
                {"max_fct_over_bound", r.over_bound},
                {"min_fct_over_max_fct", r.fairness},
                {"memory", r.memory},
                {"data_packets", r.packets},
                {"packets_times_hops", r.transmissions},
                {"fabric_events", r.events},
                {"cpu_seconds", r.seconds},
                {"nics", r.nics},
                {"outcome", r.outcome},
                {"samples", r.wall_speed}};
  };
  j["rows"] = Json::array();
  for (const Row& r : t.rows) j["rows"].push_back(row_json(r));
  for (const Row& r : t.scale) {
    j["rows"].push_back({{"nics", r.nics},
                         {"planes", r.planes},
                         {"threads", r.threads},
                         {"packets_per_second", median(r.wall_speed)},
                         {"ns_per_hop", hop_ns(r)},
                         {"memory", r.resident},
                         {"build_seconds", r.build_seconds},
                         {"data_packets", r.packets},
                         {"packets_times_hops", r.transmissions},
                         {"max_fct_over_bound", r.over_bound},
                         {"outcome", r.outcome},
                         {"samples", r.wall_speed}});
  }
  if (t.idle_pair > 0) j["idle_qp_pair_bytes"] = t.idle_pair;
  for (const Row& r : t.curve) j["curve"].push_back(row_json(r));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  j["peak_memory_mb"] = static_cast<double>(usage.ru_maxrss) / 1024;
  j["versions"] = versions();
  return j.dump(2) + "\n";
}

int run(const Options& o, const Context& context) {
  if (!o.against.empty()) return bench_against(o.against, o.scenario, o.seed, o.threads, o.json, context);
  if (!o.only.empty() &&
      std::none_of(std::begin(kCases), std::end(kCases), [&](const Case& c) { return o.only == c.name; })) {
    std::string names;
    for (const Case& c : kCases) names += (names.empty() ? "" : ", ") + std::string(c.name);
    throw UsageError("unknown case " + o.only + ".", "Choose from " + names + ".");
  }
  if (!o.svg.empty() && !o.curve && !o.scale) {
    throw UsageError("--svg draws a curve.", "Give --curve or --scale as well.");
  }
  if (!o.svg.empty()) need_gnuplot("--svg");
  const StopOnSignal stop;
  Outputs outputs("mrc bench fabric");
  Output* const json = outputs.add("--json", o.json);
  Output* const svg = outputs.add("--svg", o.svg);
  const Table table = o.scale ? measure_scale(o) : measure_all(o);
  outputs.write(json, [&](std::ostream& out) { out << table_json(o, table, context.run_id); });
  if (table.complete)
    outputs.write(svg,
                  [&](std::ostream& out) { out << (o.scale ? draw_scale(table.scale) : draw_curve(table.curve)); });
  const auto bad = [](const Row& r) { return r.outcome != "done"; };
  const bool hang = std::any_of(table.rows.begin(), table.rows.end(), bad) ||
                    std::any_of(table.scale.begin(), table.scale.end(), bad) ||
                    std::any_of(table.curve.begin(), table.curve.end(), bad);
  return outputs.finish(hang ? kHang : table.complete ? kPass : stdout_failed() ? kUsage : kInconclusive);
}

}  // namespace
}  // namespace bench_fabric_command

void register_bench_fabric(Command& bench, Context& context) {
  using namespace bench_fabric_command;
  auto options = std::make_shared<Options>();
  Command& command = bench.command("fabric", "speed, memory and completion times of the fabric");
  command.footer(R"(
Examples:
  mrc bench fabric                                            every case, three rounds
  mrc bench fabric --case flow-100MB --rounds 1               one case, once
  mrc bench fabric --scale --largest 1024 --rounds 1          many planes, on one core and on all)");
  command.text("--case", options->only, "one case only");
  command.number("--rounds", options->rounds, 1, 10000, "repetitions; medians count");
  command.number("--seed", options->seed, 0, kAnySeed, "seed of every run");
  command.flag("--curve", options->curve, "also how time grows from 64 to 4096 NICs");
  command.text("--against", options->against,
               "instead: --scenario beside what htsim printed for the same matrix (docs/guide/fabric.md)");
  command.text("--scenario", options->scenario, "of --against: a name or a TOML file");
  command.flag("--scale", options->scale, "instead: 1024 NICs of 8 planes to --largest, on one core and on all");
  command.number("--largest", options->largest, 1024, 131072, "NICs of the largest fabric of --scale");
  command.number("--threads", options->threads, 0, sim::kMaxThreads, "of --scale and --against; 0: as many as cores");
  command.text("--svg", options->svg, "picture of the curve, or of --scale");
  command.text("--json", options->json, "figures as JSON");
  command.action([options, &command, &context] {
    exclude(command, "--curve", "--case", "the curve has cases of its own");
    exclude(command, "--scale", "--case", "it has cases of its own");
    exclude(command, "--scale", "--curve", "each is a table of its own");
    for (const char* other : {"--scale", "--curve", "--case", "--rounds", "--svg"}) {
      exclude(command, "--against", other, "it is one run of one scenario");
    }
    if (command.count("--scenario") != 0 && options->against.empty()) {
      throw UsageError("--scenario without --against.",
                       "Add --against FILE; other tables have scenarios of their own.");
    }
    if (command.count("--largest") != 0 && !options->scale) {
      throw UsageError("--largest without --scale.", "Add --scale.");
    }
    if (command.count("--threads") != 0 && !options->scale && options->against.empty()) {
      throw UsageError("--threads without --scale or --against.", "Add one of them; other tables are of one thread.");
    }
    context.exit_code = run(*options, context);
  });
}

}  // namespace mrc::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/context.hpp"
#include "cli/dut_options.hpp"
#include "cli/options.hpp"
#include "cli/output_file.hpp"
#include "cli/status_line.hpp"
#include "cli/stop_on_signal.hpp"
#include "cli/version.hpp"
#include "tb/bugs.hpp"
#include "tb/cosim.hpp"
#include "tb/random_scenario.hpp"
#include "tb/report.hpp"
#include "wire/pcapng.hpp"

namespace mrc::cli {
namespace {

struct Options {
  std::string preset = "asic800", scenario = "mixed", dut = "rtl", bug, json, pcap, wave, reports = "mrc-reports",
              snapshots = "on";
  uint64_t packets = 100000, cycles = 0, seed = 1, seeds = 1;
  unsigned threads = 2;
};

void list_scenarios() {
  std::cout << "Scenarios:\n";
  for (const tb::Scenario& s : tb::scenarios()) std::cout << fmt::format("  {:<12} {}\n", s.name, s.description);
  std::cout << fmt::format("  {:<12} one of these, drawn from the seed, with other values for some of its keys\n",
                           tb::kRandomScenario);
  std::cout << "\nKeys of a scenario file (TOML; base = \"name\" starts from one of the above), value in mixed:\n";
  tb::Scenario mixed = *tb::find_scenario("mixed");
  for (const tb::ScenarioKey& k : tb::scenario_keys())
    std::cout << fmt::format("  {:<16} {:>8}  {}\n", k.name, k.number(mixed), k.doc);
  std::cout << "\n[[rule]] tables: planes = [0, 3], ev_share = 0.1, to = \"dut\" | \"peer\" | \"both\", loss, trim, "
               "lasthop,\n"
               "ecn, corrupt, duplicate, rogue, reorder, penalty: the first rule that fits a frame replaces the link's "
               "own values.\n";
}

void list_bugs() {
  std::cout << "Errors that the RTL makes on request, and the block that the report names:\n";
  for (const tb::Bug& b : tb::bugs()) {
    std::cout << fmt::format("  {:>2} {:<22} {:<12} {} (--scenario {}{})\n", b.number, b.name, b.block, b.description,
                             b.scenario,
                             std::string_view(b.preset) == "tiny" ? "" : std::string(" --preset ") + b.preset);
  }
}

/// "-2000:+200", with or without brackets.
std::pair<int64_t, int64_t> wave_window(std::string text) {
  if (text.empty()) return {-2000, 200};
  if (text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  const auto colon = text.find(':');
  const auto number = [](std::string_view s, int64_t& value) {
    if (!s.empty() && s.front() == '+') s.remove_prefix(1);
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
    return error == std::errc{} && end == s.data() + s.size() && !s.empty();
  };
  int64_t from = 0, to = 0;
  if (colon == std::string::npos || !number(std::string_view(text).substr(0, colon), from) ||
      !number(std::string_view(text).substr(colon + 1), to) || from >= to) {
    throw UsageError("--wave " + text + " is no window of cycles.",
                     "Write first and last cycle around the divergence: --wave=-2000:+200.");
  }
  return {from, to};
}

/// "12 345 cycles/s".
std::string speed_text(const tb::Progress& p) {
  const double speed = p.seconds > 0 ? static_cast<double>(p.cycle) / p.seconds : 0;
  return tb::grouped(static_cast<uint64_t>(speed)) + " cycles/s";
}

std::string progress_text(const tb::Progress& p, const Preset& preset) {
  return fmt::format("{:.1f} us simulated, {} packets, {:.1f} %, {}, {} left",
                     static_cast<double>(p.cycle) * preset.clock_ps / 1e6, tb::grouped(p.packets),
                     100 * std::min(p.done, 1.0), speed_text(p), time_left(p.seconds, p.done));
}

struct Finished {
  tb::RunInfo info;
  tb::CosimResult result;

  /// Stopped by hand is not failed.
  bool failed() const { return result.outcome != tb::Outcome::Pass && result.outcome != tb::Outcome::Incomplete; }
  int exit_code() const {
    switch (result.outcome) {
      case tb::Outcome::Pass:
        return kPass;
      case tb::Outcome::Hang:
        return kHang;
      case tb::Outcome::Incomplete:
        return kUsage;
      default:
        return kMismatch;
    }
  }
};

/// The scenario and everything else of one run; what a failure leaves goes to --reports.
Finished run_one(const Options& o, const Context& context, const std::function<void(const tb::Progress&)>& progress) {
  tb::CosimOptions run;
  run.preset = &preset_from(o.preset);
  run.scenario = scenario_from(o.scenario, o.seed);
  tb::check(run.scenario, *run.preset);
  if (o.packets == 0) throw UsageError("--packets 0 leaves nothing to do.", "Ask for at least one data packet.");
  run.packets = o.cycles != 0 ? ~uint64_t{0} >> 2 : o.packets;
  run.cycles = o.cycles;
  run.seed = o.seed;
  run.two_threads = o.threads != 1;
  run.progress = progress;
  if (!o.bug.empty()) {
    const tb::Bug* bug = tb::find_bug(o.bug);
    if (!bug) throw UsageError("unknown RTL bug " + o.bug + ".", "'mrc cosim --rtl-bug list' prints the names.");
    if (o.dut == "model")
      throw UsageError("the model has no injected bugs.", "Leave out --dut model, or leave out --rtl-bug.");
    run.bug = bug->number;
  }
  const auto [wave_from, wave_to] = wave_window(o.wave == "default" ? "" : o.wave);
  run.open = dut_opener(o.dut, *run.preset, o.seed, context);

  Finished finished;
  tb::RunInfo& info = finished.info;
  tb::CosimResult& result = finished.result;
  info.preset = o.preset;
  info.scenario = o.scenario;
  if (o.scenario == tb::kRandomScenario) info.drawn = run.scenario.description;
  info.bug = o.bug;
  info.seed = o.seed;
  info.packets = o.packets;
  info.mrc_version = MRC_VERSION;
  info.compiler = __VERSION__;
  info.repro =
      fmt::format("{} cosim --preset {} --scenario {} {} --seed {}{}{}", context.program, o.preset, o.scenario,
                  o.cycles != 0 ? fmt::format("--cycles {}", o.cycles) : fmt::format("--packets {}", o.packets), o.seed,
                  o.bug.empty() ? "" : " --rtl-bug " + o.bug, o.dut == "rtl" ? "" : " --dut " + o.dut);

  bool can_wave = false;
  {  // what cannot work is said before anything is simulated
    std::string error;
    const auto probe = run.open(error);
    if (!probe) throw UsageError("no device: " + error + ".", dut_remedy(o.dut, context));
    can_wave = probe->can_wave();
    if (!o.wave.empty() && !can_wave) {
      throw UsageError(
          "this build of the device writes no waves.",
          "'./mrc cosim --wave' builds one that does; by hand: cmake --preset wave && cmake --build --preset wave.");
    }
  }
  run.snapshots = o.snapshots == "on";
  run.snapshot_spacing = static_cast<uint64_t>(std::max<int64_t>(2000, -wave_from));
  std::optional<OutputFile> pcap;
  if (!o.pcap.empty()) {
    pcap.emplace(o.pcap);
    run.pcap = &pcap->stream();
  }

  std::optional<OutputFile> wave_file;
  const auto waves_to = [&, from = wave_from, to = wave_to](const std::filesystem::path& path) {
    const auto anchor =
        static_cast<int64_t>(result.outcome == tb::Outcome::Pass ? result.cycles : result.wrong_cycle());
    wave_file.emplace(path);
    tb::CosimOptions again = run;
    again.pcap = nullptr;
    again.snapshots = false;
    again.wave_path = wave_file->partial_path();
    again.wave_from = static_cast<uint64_t>(std::max<int64_t>(1, anchor + from));
    again.wave_to = static_cast<uint64_t>(std::max<int64_t>(2, anchor + to));
    info.wave_file = path;
    info.wave_from = again.wave_from;
    if (result.snapshots && result.snapshots->run({again.wave_from, again.wave_to, again.wave_path})) return;
    tb::run_cosim(again);
  };
  const std::string stem =
      fmt::format("{}-{}-{}", o.preset, std::filesystem::path(o.scenario).stem().string(), o.seed) +
      (o.bug.empty() ? "" : "-" + o.bug);
  {
    const StopOnSignal stop;
    run.stop = &g_stop;
    result = tb::run_cosim(run);
    if (finished.failed()) {
      std::error_code ignored;
      std::filesystem::create_directories(o.reports, ignored);
      const std::string base = (std::filesystem::path(o.reports) / stem).string();
      OutputFile frames(base + ".pcapng"), scenario(base + ".toml");
      {
        wire::PcapngWriter writer(frames.stream(), result.wire, run.preset->num_planes, run.preset->port_gbps,
                                  result.capture_comments);
        for (const wire::CapturedFrame& f : result.frames) writer.write(f);
      }
      scenario.stream() << tb::scenario_toml(run.scenario, run.preset);
      info.pcap_file = base + ".pcapng";
      info.scenario_file = base + ".toml";
      info.json_file = base + ".json";
      if (can_wave) waves_to(base + ".fst");
      OutputFile report(info.json_file);
      report.stream() << tb::result_json(info, result);
      frames.commit();
      scenario.commit();
      report.commit();
    } else if (result.outcome == tb::Outcome::Pass && !o.wave.empty()) {
      waves_to(stem + ".fst");
    }
  }
  if (result.outcome != tb::Outcome::Incomplete) {
    if (wave_file) wave_file->commit();
    if (pcap) pcap->commit();
  }
  return finished;
}

/// One run: a page about it.
int run_single(const Options& o, const Context& context) {
  std::optional<OutputFile> json;
  if (!o.json.empty()) json.emplace(o.json);
  StatusLine status;
  std::function<void(const tb::Progress&)> progress;
  if (status.on()) progress = [&](const tb::Progress& p) { status.show(progress_text(p, preset_from(o.preset))); };
  const Finished f = run_one(o, context, progress);
  status.clear();
  if (json && f.result.outcome != tb::Outcome::Incomplete) {
    json->stream() << tb::result_json(f.info, f.result);
    json->commit();
  }
  std::cout << tb::summary_text(f.info, f.result);
  if (f.result.outcome == tb::Outcome::Pass && !f.info.wave_file.empty())
    std::cout << "  waves        " << f.info.wave_file << '\n';
  std::cout << tb::failure_text(f.info, f.result);
  return f.exit_code();
}

/// A run per seed, a line about each, until one fails.
int run_seeds(const Options& options, const Context& context) {
  if (!options.pcap.empty() || !options.wave.empty()) {
    throw UsageError("--pcap and --wave are for one run, --seeds asks for several.",
                     "Leave out --seeds, or run the one seed of interest alone.");
  }
  std::optional<OutputFile> json;
  if (!options.json.empty()) json.emplace(options.json);
  Options o = options;
  StatusLine status;
  tb::Sweep sweep;
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  std::function<void(const tb::Progress&)> progress;
  if (status.on()) {
    progress = [&](const tb::Progress& p) {
      const double done = (static_cast<double>(sweep.passed) + std::min(p.done, 1.0)) / static_cast<double>(o.seeds);
      status.show(fmt::format("seed {}: {:.0f} %, {}; {} of {} passed, {} left", o.seed, 100 * std::min(p.done, 1.0),
                              speed_text(p), sweep.passed, o.seeds, time_left(seconds(), done)));
    };
  }
  for (; sweep.passed < o.seeds; ++o.seed) {
    const Finished f = run_one(o, context, progress);
    status.clear();
    sweep.add(f.info, f.result);
    std::cout << tb::sweep_line(f.info, f.result) << std::flush;
    if (f.result.outcome == tb::Outcome::Pass) continue;
    if (f.failed()) std::cout << tb::summary_text(f.info, f.result) << tb::failure_text(f.info, f.result);
    std::cout << tb::sweep_text(sweep, seconds());
    if (f.failed() && json) {
      json->stream() << tb::sweep_json(sweep, seconds());
      json->commit();
    }
    return f.exit_code();
  }
  std::cout << tb::sweep_text(sweep, seconds());
  if (json) {
    json->stream() << tb::sweep_json(sweep, seconds());
    json->commit();
  }
  return kPass;
}

int run(const Options& o, const Context& context) {
  if (o.scenario == "list") {
    list_scenarios();
    return kPass;
  }
  if (o.bug == "list") {
    list_bugs();
    return kPass;
  }
  return o.seeds == 1 ? run_single(o, context) : run_seeds(o, context);
}

}  // namespace

constexpr uint64_t kMostPackets = 1'000'000'000'000;

void register_cosim(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("cosim", "run RTL and model in lockstep, with a peer, lossy links and hosts");
  text_option(*command, "--preset", options->preset, "asic800, fpga100 or tiny");
  text_option(*command, "--scenario", options->scenario, "a name, a TOML file, random (drawn from the seed), or list");
  number_option(*command, "--packets", options->packets, 1, kMostPackets, "data packets, both directions together");
  number_option(*command, "--cycles", options->cycles, 1, kMostPackets,
                "cycles of traffic instead of a number of packets: as long as told, e.g. with --scenario soak")
      ->default_str("");
  number_option(*command, "--seed", options->seed, 0, kAnySeed, "everything random follows from it");
  number_option(*command, "--seeds", options->seeds, 1, 1'000'000'000,
                "so many runs, one per seed from --seed on, until one fails; e.g. with --scenario random");
  text_option(*command, "--json", options->json, "result as JSON");
  text_option(*command, "--pcap", options->pcap,
              "every frame at the device's ports as pcapng, one interface per plane");
  command
      ->add_option_function<std::vector<std::string>>(
          "--wave",
          [options](const std::vector<std::string>& v) {
            options->wave = v.empty() || v[0].empty() ? "default" : v[0];
          },
          "FST waves of the cycles around the first divergence, or around the end; --wave=-2000:+200")
      ->expected(0, 1)
      ->type_name("[FROM:TO]");
  command
      ->add_option("--snapshots", options->snapshots,
                   "off: no copies of the process to write waves from; a failure is run again from its beginning")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  text_option(*command, "--rtl-bug", options->bug, "let the RTL make an error: a name, or list");
  text_option(*command, "--dut", options->dut, "rtl, model, or a shared object that speaks tb/mrc_dut.h");
  text_option(*command, "--reports", options->reports, "folder for the files of a failure");
  number_option(*command, "--threads", options->threads, 1, 2, "1: the peer runs in the device's thread");
  command->callback([options, command, &context] {
    exclude(*command, "--packets", "--cycles", "both say how long the run is");
    if (options->seeds > 1) {
      exclude(*command, "--seeds", "--pcap", "a capture is of one run");
      exclude(*command, "--seeds", "--wave", "waves are of one run");
    }
    if (options->seeds - 1 > kAnySeed - options->seed) {
      throw UsageError(
          fmt::format("--seed {} --seeds {} goes beyond the last seed, 2^64 - 1.", options->seed, options->seeds),
          "Give a smaller --seed, or fewer --seeds.");
    }
    context.exit_code = run(*options, context);
  });
}

}  // namespace mrc::cli

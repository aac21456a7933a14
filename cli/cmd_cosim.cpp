// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <tuple>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/cosim_agent.hpp"
#include "cli/dut_options.hpp"
#include "cli/fabric_profile_option.hpp"
#include "cli/failure_page.hpp"
#include "cli/output.hpp"
#include "cli/run_bins.hpp"
#include "cli/seed_results.hpp"
#include "cli/signals.hpp"
#include "cli/status_line.hpp"
#include "cli/trace_option.hpp"
#include "cli/version.hpp"
#include "cli/waiver_option.hpp"
#include "input/json.hpp"
#include "input/names.hpp"
#include "input/number.hpp"
#include "log/writer.hpp"
#include "tb/compare/bugs.hpp"
#include "tb/compare/fst.hpp"
#include "tb/compare/report.hpp"
#include "tb/cosim.hpp"
#include "tb/device/varied_device.hpp"
#include "tb/environment/random_scenario.hpp"
#include "wire/pcapng.hpp"

namespace mrc::cli {
namespace cosim_command {
namespace {

constexpr const char* kFooter = R"(
Examples:
  mrc cosim                                                   preset asic800, scenario mixed, 100 000 data packets
  mrc cosim --preset tiny --scenario loss --seed 7
  mrc cosim --preset tiny --scenario random --packets 2e3 --seeds 100
  mrc cosim --preset tiny --json run.json --pcap run.pcapng   files appear when they are complete; - is standard output
  mrc cosim --preset tiny --packets 2000 --rtl-bug icrc-mask  what a caught error looks like
  mrc cosim --preset tiny --packets 2000 --assertions         the RTL checks itself, too
  mrc cosim --preset tiny --dut ./libmine.so                  a device of yours, in a process of its own
  mrc cosim --level L2 --preset tiny --dut fast               a NIC known by ports, host and verbs: docs/guide/levels.md
  mrc cosim --level L2 --preset tiny --dut "./mynic --fast"   a NIC of yours with JSON lines: docs/reference/device.md

docs/guide/bench.md describes scenarios, reports and JSON. In docs/reference, outputs.md says where results go,
inputs.md how numbers are written. Ctrl-C ends the run with the results so far.)";

struct Options : AgentCommand {
  std::string pcap_peer, wave, snapshots = "on";
  uint64_t cycles = 0;
  unsigned threads = 2;
  bool assertions = false, no_record_shows = false, record_streams = false;
  DutProcess dut_process;
};

void list_scenarios() {
  std::cout << "Scenarios:\n";
  for (const tb::Scenario& s : tb::scenarios()) std::cout << fmt::format("  {:<12} {}\n", s.name, s.description);
  std::cout << fmt::format("  {:<12} one of these, drawn from the seed, with other values for some of its keys\n",
                           tb::kRandomScenario);
  std::cout << "\nKeys of a scenario file (TOML; base = \"name\" starts from one of the above), value in mixed:\n";
  tb::Scenario mixed = *tb::find_scenario("mixed");
  for (const tb::ScenarioKey& k : tb::scenario_keys())
    std::cout << fmt::format("  {:<16} {:>8}  {}\n", k.name, k.value(mixed), k.doc);
  std::cout
      << "\n[[rule]] tables: planes = [0, 3], ev_share = 0.1, to = \"dut\" | \"peer\" | \"both\", from_us, until_us, "
         "every_us, times,\n"
         "loss, trim, lasthop, ecn, corrupt, duplicate, rogue, reorder, penalty, no_bytes: the first rule that fits "
         "a frame\nreplaces the link's own values.\n";
}

void list_bugs() {
  std::cout << "Errors that the RTL makes on request, and the block that the report names:\n";
  for (const tb::Bug& b : tb::bugs()) {
    std::cout << fmt::format("  {:>2} {:<22} {:<12} {} (--scenario {}{})\n", b.number, b.name, b.block, b.description,
                             b.scenario,
                             std::string_view(b.preset) == "tiny" ? "" : std::string(" --preset ") + b.preset);
  }
}

void list_variants() {
  std::cout << "What a device may do otherwise (legal), and what it must not do, with the rules that say so:\n";
  for (const tb::Variant& v : tb::variants()) {
    std::cout << fmt::format("  {:<18} {:<7} {} (--scenario {}{}{}{}{}){}\n", v.name, v.legal ? "legal" : "illegal",
                             v.what, v.scenario, *v.preset == '\0' ? "" : " --preset ", v.preset,
                             *v.key == '\0' ? "" : ", ", v.key, v.legal ? "" : fmt::format(": {}", v.rules));
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

  /// Something is wrong; stopped or empty is not.
  bool failed() const {
    return result.outcome == tb::Outcome::Mismatch || result.outcome == tb::Outcome::DataError ||
           result.outcome == tb::Outcome::Hang || result.outcome == tb::Outcome::DeviceError ||
           result.outcome == tb::Outcome::Assertion;
  }
  int exit_code() const {
    switch (result.outcome) {
      case tb::Outcome::Pass:
        return kPass;
      case tb::Outcome::Hang:
        return kHang;
      case tb::Outcome::Mismatch:
      case tb::Outcome::DataError:
      case tb::Outcome::Assertion:
        return kFail;
      case tb::Outcome::Incomplete:
      case tb::Outcome::Empty:
        return kInconclusive;
      case tb::Outcome::DeviceError:
        break;
    }
    return kUsage;
  }
};

using ReportedProgress = std::function<void(const tb::Progress&)>;

/// One run: what the options ask for, its result, and the files that it leaves beside those that were asked for.
class OneRun {
 public:
  /// Throws UsageError: something that cannot work.
  OneRun(const Options& o, const Context& context, Outputs& outputs, const ReportedProgress& progress)
      : o_(o), context_(context), outputs_(outputs) {
    run_.preset = &preset_from(o.preset);
    run_.packets = o.cycles != 0 ? ~uint64_t{0} >> 2 : o.packets;
    run_.cycles = o.cycles;
    run_.seed = o.seed;
    run_.two_threads = o.threads != 1;
    run_.progress = progress;
    run_.stop = &g_stop;
    if (!o.bug.empty()) {
      const tb::Bug* bug = tb::find_bug(o.bug);
      if (!bug) {
        std::vector<std::string_view> names;
        for (const tb::Bug& b : tb::bugs()) names.push_back(b.name);
        throw UsageError("unknown RTL bug " + input::shown(o.bug) + input::did_you_mean(o.bug, names),
                         "'mrc cosim --rtl-bug list' prints the names.");
      }
      if (o.dut == "model")
        throw Unsupported("the model has no injected bugs.", "Leave out --dut model, or leave out --rtl-bug.");
      run_.bug = bug->number;
    }
    std::tie(wave_from_, wave_to_) = wave_window(o.wave == "default" ? "" : o.wave);
    const Flavour flavour = !o.wave.empty() ? Flavour::Wave : o.assertions ? Flavour::Asserted : Flavour::Fast;
    run_.open = dut_opener(o.dut, *run_.preset, o.seed, context, o.dut_process, flavour);
    tb::RunInfo& info = finished_.info;
    info.preset = o.preset;
    info.scenario = o.scenario;
    info.bug = o.bug;
    info.seed = o.seed;
    info.packets = o.packets;
    info.run_id = context.run_id;
    info.versions = versions();
    info.repro = fmt::format(
        "{} cosim --preset {} --scenario {} {} --seed {}{}{}", context.program, o.preset, o.scenario,
        o.cycles != 0 ? fmt::format("--cycles {}", o.cycles) : fmt::format("--packets {}", o.packets), o.seed,
        (o.bug.empty() ? "" : " --rtl-bug " + o.bug) + (o.assertions ? " --assertions" : ""),
        (o.dut == "rtl" ? "" : " --dut " + o.dut) + fabric_profile_words(o.fabric_profile) + o.dut_process.repro());
    run_.capture_comments = {"run " + info.run_id + ": " + info.repro};
    draw(0);
    std::string error;
    const auto probe = run_.open(error);
    if (!probe) throw UsageError("no device: " + error + ".", dut_remedy(o.dut, context));
    can_wave_ = probe->can_wave();
    if (!o.wave.empty() && !can_wave_) {
      throw Unsupported("this build of the device writes no waves.",
                        "'./mrc cosim --wave' in a clone builds one that does; by hand: cmake --preset wave && cmake "
                        "--build --preset wave.");
    }
    run_.snapshots = o.snapshots == "on";
    run_.snapshot_spacing = static_cast<uint64_t>(std::max<int64_t>(2000, -wave_from_));
    if (!o.wave.empty()) wave_.emplace("--wave", stem() + ".fst");
  }

  /// Runs. A scenario that was drawn from the seed and moves nothing is drawn anew.
  /// `anew`: called before each of these runs; then all of them have the log.
  Finished run(std::ostream* pcap, std::ostream* pcap_peer, const tb::Recorder::Sink& log = {},
               const std::function<void()>& anew = {}) {
    const bool random = tb::is_random(o_.scenario);
    const bool again = random && !anew;
    run_.pcap = random ? nullptr : pcap;
    run_.pcap_peer = random ? nullptr : pcap_peer;
    run_.log_shows = !o_.no_record_shows;
    run_.log_streams = o_.record_streams || o_.bins || !o_.trace.empty();
    if (!o_.trace.empty()) {
      run_.event_words = kTraceWords;
      run_.window_events = kTraceWords;
    }
    if (!again) run_.log = log;
    if (anew) anew();
    finished_.result = tb::run_cosim(run_);
    for (unsigned drawn = 1; random && finished_.result.outcome == tb::Outcome::Empty && drawn <= kDraws; ++drawn) {
      draw(drawn);
      if (anew) anew();
      finished_.result = tb::run_cosim(run_);
    }
    if (again &&
        (pcap != nullptr || pcap_peer != nullptr || log)) {  // nothing of those before is in the capture, the log
      run_.pcap = pcap;
      run_.pcap_peer = pcap_peer;
      run_.log = log;
      finished_.result = tb::run_cosim(run_);
    }
    return finished_;
  }

  /// What a failure leaves in --reports, and the waves that were asked for. Nothing here may lose the verdict: what
  /// cannot be written is told at the end.
  void leave_files(Finished& f) {
    if (f.failed()) {
      outputs_.attempt([&] { leave_report(f); });
    } else if (wave_ && f.result.outcome == tb::Outcome::Pass) {
      outputs_.attempt([&] { waves_to(*wave_, f); });
    }
  }

 private:
  static constexpr unsigned kDraws = 8;
  static constexpr uint64_t kTraceWords = uint64_t{1} << 23;  ///< of events, for the blocks of a trace: 32 MB

  void draw(unsigned number) {
    const bool random = tb::is_random(o_.scenario);
    run_.scenario = random ? tb::random_named(o_.scenario, o_.seed, number) : scenario_from(o_.scenario, o_.seed);
    use_fabric_profile(run_.scenario, o_.fabric_profile);
    tb::check(run_.scenario, *run_.preset);
    if (random) finished_.info.drawn = run_.scenario.description;
    finished_.info.drawn_anew = number;
  }
  std::string stem() const {
    return fmt::format("{}-{}-{}", o_.preset, std::filesystem::path(o_.scenario).stem().string(), o_.seed) +
           (o_.bug.empty() ? "" : "-" + o_.bug);
  }

  void leave_report(Finished& f) {
    make_folder("--reports", o_.reports);  // shared: other runs have other names
    const std::string base = (std::filesystem::path(o_.reports) / stem()).string();
    const auto part = [&](const char* end, std::string tb::RunInfo::*name, const auto& fill) {
      outputs_.attempt([&] {
        Output file("", base + end);
        f.info.*name = file.path();
        try {
          fill(file);
          file.commit();
        } catch (...) {
          (f.info.*name).clear();
          throw;
        }
      });
    };
    part(".pcapng", &tb::RunInfo::pcap_file, [&](Output& file) {
      wire::PcapngWriter writer(file.stream(), f.result.wire, run_.preset->num_planes, run_.preset->port_gbps,
                                f.result.capture_comments);
      std::string comment;
      const std::size_t marked = frame_of_failure(f.result, comment);
      for (std::size_t i = 0; i < f.result.frames.size(); ++i) {
        wire::CapturedFrame frame = f.result.frames[i];
        if (i == marked) frame.comments.push_back(comment);
        writer.write(frame);
      }
    });
    part(".toml", &tb::RunInfo::scenario_file, [&](Output& file) {
      file.stream() << "# run " << f.info.run_id << '\n' << tb::scenario_toml(run_.scenario, run_.preset);
    });
    if (can_wave_) part(".fst", &tb::RunInfo::wave_file, [&](Output& file) { waves_to(file, f); });
    const FailureWindow window = failure_window(f.result, *run_.preset);
    part(".kanata", &tb::RunInfo::kanata_file, [&](Output& file) { file.stream() << tb::kanata_text(window.packets); });
    part(".pftrace", &tb::RunInfo::trace_file,
         [&](Output& file) { picture::write_trace(window.story, file.stream()); });
    const std::string json = base + ".json";
    part(".html", &tb::RunInfo::page_file, [&](Output& file) {
      tb::RunInfo info = f.info;
      info.json_file = json;
      file.stream() << failure_page(info, f.result, *run_.preset, window, contract_of(f.result));
    });
    part(".json", &tb::RunInfo::json_file, [&](Output& file) { file.stream() << tb::result_json(f.info, f.result); });
  }

  /// The page of the block that differs, as it stands in the source tree.
  std::string contract_of(const tb::CosimResult& result) const {
    if (result.divergences.empty()) return {};
    const std::string page = result.divergences.front().block + ".md";
    std::error_code error;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(context_.root / "docs/design/blocks", error)) {
      if (entry.path().filename() == page) return entry.path().lexically_relative(context_.root).string();
    }
    return {};
  }

  /// Waves around the first divergence, or around the end. Throws UsageError: they are not whole.
  void waves_to(Output& file, Finished& f) {
    const tb::CosimResult& result = f.result;
    const auto anchor =
        static_cast<int64_t>(result.outcome == tb::Outcome::Pass ? result.cycles : result.wrong_cycle());
    tb::CosimOptions again = run_;
    again.pcap = nullptr;
    again.pcap_peer = nullptr;
    again.log = nullptr;
    again.snapshots = false;
    again.wave_path = file.partial_path();
    again.wave_from = static_cast<uint64_t>(std::max<int64_t>(1, anchor + wave_from_));
    // A device that ended does so again: its waves end before.
    const int64_t to = result.outcome == tb::Outcome::DeviceError ? std::min<int64_t>(wave_to_, -1) : wave_to_;
    again.wave_to = static_cast<uint64_t>(std::max<int64_t>(2, anchor + to));
    const bool from_copy = result.snapshots && result.snapshots->run({again.wave_from, again.wave_to, again.wave_path});
    if (!from_copy) tb::run_cosim(again);
    if (!tb::whole_fst(file.partial_path())) {
      throw UsageError("the waves " + file.path() + " could not be written whole.",
                       "Free some space, or name a smaller window: --wave=-200:+50.");
    }
    if (&file == (wave_ ? &*wave_ : nullptr)) file.commit();
    f.info.wave_file = file.path();
    f.info.wave_from = again.wave_from;
  }

  const Options& o_;
  const Context& context_;
  Outputs& outputs_;
  tb::CosimOptions run_;
  Finished finished_;
  int64_t wave_from_ = 0, wave_to_ = 0;
  bool can_wave_ = false;
  std::optional<Output> wave_;
};

/// Inputs that no output may replace.
void name_inputs(const Options& o, Outputs& outputs) {
  outputs.reads(o.scenario);
  outputs.reads(o.dut);
  if (o.reports != kReports) need_folder("--reports", o.reports);
}

/// The report of a failure goes to standard error as well when its files cannot be written.
void print_failure(const Finished& f, const Outputs& outputs) {
  const std::string text = tb::failure_text(f.info, f.result);
  text_out() << text << std::flush;
  if (!f.failed() || &text_out() == &std::cerr || (!outputs.lost_any() && !stdout_failed())) return;
  struct stat out {
  }, err{};
  const bool one_terminal = ::fstat(STDOUT_FILENO, &out) == 0 && ::fstat(STDERR_FILENO, &err) == 0 &&
                            out.st_dev == err.st_dev && out.st_ino == err.st_ino;
  if (!one_terminal || stdout_failed()) std::cerr << tb::summary_text(f.info, f.result) << text;
}

/// One run: a page about it.
int run_single(const Options& o, const Context& context) {
  const StopOnSignal stop;
  Outputs outputs("mrc cosim");
  name_inputs(o, outputs);
  Output* const json = outputs.add("--json", o.json);
  Output* const pcap = outputs.add("--pcap", o.pcap);
  Output* const pcap_peer = outputs.add("--pcap-peer", o.pcap_peer);
  Output* const record = outputs.add("--record", o.record);
  StatusLine status;
  ReportedProgress progress;
  if (status.on()) progress = [&](const tb::Progress& p) { status.show(progress_text(p, preset_from(o.preset))); };
  OneRun run(o, context, outputs, progress);
  TraceOption trace(outputs.add("--trace", o.trace));
  std::optional<log::Writer> log;
  tb::Recorder::Sink sink;
  std::vector<tb::PortFrame> ports;
  if (record != nullptr) log.emplace(record->stream());
  if (log || trace.on()) {
    const log::Record note{0, 0, log::Note{"run " + context.run_id}};
    sink = [&, note](const log::Record& r) {
      trace.add(r);
      if (const auto* frame = std::get_if<log::Frame>(&r.body); frame && trace.on() && r.device == 0) {
        if (auto at = tb::port_frame(frame->sent, frame->plane, frame->bytes, r.time, frame->last))
          ports.push_back(*at);
      }
      if (!log) return;
      log->write(r);
      if (log->records() == 1) log->write(note);
    };
  }
  Finished f = run.run(pcap ? &pcap->stream() : nullptr, pcap_peer ? &pcap_peer->stream() : nullptr, sink);
  status.clear();
  text_out() << tb::summary_text(f.info, f.result) << std::flush;
  run.leave_files(f);
  if (f.result.outcome == tb::Outcome::Pass && !f.info.wave_file.empty())
    text_out() << "  waves        " << f.info.wave_file << '\n';
  print_failure(f, outputs);
  for (Output* capture : {pcap, pcap_peer}) outputs.write(capture, [](std::ostream&) {});  // written all along
  outputs.write(record, [&](std::ostream&) { log->finish(); });
  trace.write(outputs, [&](picture::Story& story) {
    const unsigned clock_ps = preset_from(o.preset).clock_ps;
    std::ranges::stable_sort(ports, {}, &tb::PortFrame::begin_ps);
    add_stages(story, 0, tb::staged_packets(f.result.window, f.result.qp_names, ports, clock_ps), clock_ps);
  });
  if (f.result.out_of_memory) outputs.out_of_memory();
  outputs.write(json, [&](std::ostream& out) { out << tb::result_json(f.info, f.result); });
  return outputs.finish(f.exit_code());
}

/// A run per seed, a line about each, until one fails.
int run_seeds(const Options& options, const Context& context) {
  const StopOnSignal stop;
  Outputs outputs("mrc cosim");
  name_inputs(options, outputs);
  Output* const json = outputs.add("--json", options.json);
  Options o = options;
  StatusLine status;
  tb::Sweep sweep;
  sweep.run_id = context.run_id;
  sweep.versions = versions();
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  ReportedProgress progress;
  if (status.on()) {
    progress = [&](const tb::Progress& p) {
      const double done = (static_cast<double>(sweep.passed) + std::min(p.done, 1.0)) / static_cast<double>(o.seeds);
      status.show(fmt::format("seed {}: {:.0f} %, {}; {} of {} passed, {} left", o.seed, 100 * std::min(p.done, 1.0),
                              speed_text(p), sweep.passed, o.seeds, time_left(seconds(), done)));
    };
  }
  int verdict = kPass;
  for (; sweep.passed < o.seeds && verdict == kPass; ++o.seed) {
    std::optional<OneRun> run;
    try {
      run.emplace(o, context, outputs, progress);
    } catch (const UsageError& error) {  // the seeds before it had their runs
      if (sweep.runs.empty()) throw;
      outputs.complain(error.what(), error.remedy);
      sweep.stop(fmt::format("seed {} could not be run", o.seed));
      verdict = kUsage;
      break;
    }
    Finished f = run->run(nullptr, nullptr);
    status.clear();
    verdict = f.exit_code();
    text_out() << tb::sweep_line(f.info, f.result) << std::flush;
    if (f.failed()) text_out() << tb::summary_text(f.info, f.result) << std::flush;
    run->leave_files(f);
    sweep.add(f.info, f.result);
    print_failure(f, outputs);
    if (f.result.out_of_memory) outputs.out_of_memory();
    if (verdict == kPass && stdout_failed()) {
      sweep.stop("standard output cannot be written any more");
      verdict = kUsage;
    }
  }
  text_out() << tb::sweep_text(sweep, seconds()) << std::flush;
  outputs.write(json, [&](std::ostream& out) { out << tb::sweep_json(sweep, seconds()); });
  return outputs.finish(verdict);
}

/// A run per seed that has no line in --results yet; failures do not end it. Pass means that every seed has its line.
int run_results(const Options& options, const Context& context) {
  const StopOnSignal stop;
  Outputs outputs("mrc cosim");
  name_inputs(options, outputs);
  SeedResults results(options.results);
  Options o = options;
  o.snapshots = "off";
  int verdict = kPass;
  for (uint64_t n = 0; n < options.seeds && verdict == kPass; ++n) {
    o.seed = options.seed + n;
    if (results.has(o.seed)) continue;
    OneRun run(o, context, outputs, {});
    RunBins bins(0);
    tb::Recorder::Sink sink;
    std::function<void()> anew;
    if (o.bins) {
      sink = [&](const log::Record& record) { bins.push(record); };
      anew = [&] { bins.begin(); };
    }
    const Finished f = run.run(nullptr, nullptr, sink, anew);
    bins.end();
    if (f.result.out_of_memory) outputs.out_of_memory();
    if (f.result.outcome == tb::Outcome::Incomplete) {
      verdict = kInconclusive;
    } else {
      input::Json result = *input::parse_json(tb::result_json(f.info, f.result));
      if (o.bins) result["bins"] = bins.text();
      results.add(o.seed, f.exit_code(), result);
    }
  }
  return outputs.finish(verdict);
}

/// L1 and L2. Options that mean something at L0 alone are refused.
int run_agent(const Options& o, const Command& command, const Context& context) {
  for (const char* option : {"--cycles", "--record-streams", "--wave", "--snapshots", "--assertions", "--threads",
                             "--dut-process", "--pcap-peer"}) {
    if (command.count(option) != 0) {
      throw UsageError(fmt::format("{} is for --level L0, where the device is known by its pins.", option),
                       fmt::format("Leave out {}, or --level {}.", option, o.level));
    }
  }
  if (o.reports != kReports) need_folder("--reports", o.reports);
  AgentCommand agent = o;
  agent.reports_requested = command.count("--reports") != 0;
  agent.limit_s = o.dut_process.limit_s;
  return cosim_agent(agent, context);
}

int run(const Options& o, const Command& command, const Context& context) {
  if (o.scenario == "list") {
    list_scenarios();
    return kPass;
  }
  if (o.bug == "list") {
    list_bugs();
    return kPass;
  }
  if (o.variant == "list") {
    list_variants();
    return kPass;
  }
  if (o.level != "L0") return run_agent(o, command, context);
  for (const char* option : {"--peer", "--profile", "--variant", "--waive", "--coverage"}) {
    if (command.count(option) != 0)
      throw UsageError(fmt::format("{} is for --level L1 and L2.", option), "Say --level L2.");
  }
  if (!o.results.empty()) return run_results(o, context);
  return o.seeds == 1 ? run_single(o, context) : run_seeds(o, context);
}

}  // namespace
}  // namespace cosim_command

constexpr uint64_t kMostPackets = 1'000'000'000'000;

void register_cosim(Command& app, Context& context) {
  using namespace cosim_command;
  auto options = std::make_shared<Options>();
  Command& command = app.command("cosim", "run RTL and model in lockstep, with a peer, lossy links and hosts");
  command.footer(kFooter);
  command.text("--preset", options->preset, "asic800, fpga100 or tiny").such_as(names_of(kPresets));
  command
      .text("--scenario", options->scenario,
            "a name, a TOML file, random (drawn from the seed), random:NAME or random:SEED (near it; "
            "docs/guide/coverage.md), or list")
      .such_as(names_of(tb::scenarios()));
  command
      .text("--fabric-profile", options->fabric_profile,
            "code points, classes and trim size of a fabric: 'mrc fabric --fabric-profile list'; over keys and seed")
      .such_as(names_of(kFabricProfiles));
  command.number("--packets", options->packets, 1, kMostPackets, "data packets, both directions together");
  command
      .number("--cycles", options->cycles, 1, kMostPackets,
              "cycles of traffic instead of a number of packets, e.g. with --scenario soak")
      .shows("");
  command.number("--seed", options->seed, 0, kAnySeed, "everything random follows from it");
  command.number(
      "--seeds", options->seeds, 1, 1'000'000'000,
      "number of runs, one per seed from --seed on; the first failure ends them; e.g. with --scenario random");
  command.text("--json", options->json, "result as JSON");
  command.text("--pcap", options->pcap, "every frame at the device's ports as pcapng, one interface per plane");
  command.text("--pcap-peer", options->pcap_peer, "every frame at the peer's ports: the other end");
  command.text("--record", options->record,
               "what both NICs do (frames, host, QPs, work requests, completions) as a log: docs/reference/log.md");
  command.text("--trace", options->trace, kTraceHelp);
  command.text("--results", options->results,
               "add a JSON line per seed to this file; failures do not end the runs; seeds that have a line are not\n"
               "run again: docs/guide/regress.md");
  command.flag("--no-record-shows", options->no_record_shows,
               "the log's profiles do not promise the events take and answer: the judge then knows only a\n"
               "latency, as for a NIC that shows nothing (docs/reference/judge.md, The responder)");
  command.flag("--bins", options->bins, kBinsHelp);
  command.flag("--record-streams", options->record_streams,
               "the log also counts, every 512 cycles, how often the streams between blocks moved and waited; mrc\n"
               "picture then names the block that causes backpressure. A trace always has it");
  command
      .value(
          "--wave", [options](const std::string& text) { options->wave = text.empty() ? "default" : text; },
          "FST waves of the cycles around the first divergence, or around the end; --wave=-2000:+200")
      .optional("")
      .called("[FROM:TO]");
  command
      .text("--snapshots", options->snapshots,
            "off: no copies of the process to write waves from; a failure is run again from its beginning")
      .one_of({"on", "off"});
  command.text("--rtl-bug", options->bug, "let the RTL make an error: a name, or list").such_as(names_of(tb::bugs()));
  command.flag("--assertions", options->assertions,
               "the RTL checks its assertions in every cycle, which is slower; ./mrc builds it");
  command.text(
      "--dut", options->dut,
      "rtl, model, or a shared object that speaks api/mrc_dut.h; at L1 and L2 also fast, rtl-stalled, a command, "
      "tcp:HOST:PORT, unix:PATH, and the shared object speaks api/mrc_nic.h");
  command
      .text("--level", options->level,
            "what the bench observes: L0 the device's pins in every cycle; L2 ports, host and verbs, checked against "
            "the rules of MRC (docs/guide/levels.md); L1 as L2, and the events that the device reports")
      .one_of({"L0", "L1", "L2"});
  command.text("--peer", options->peer, "the other NIC at L1 and L2, as --dut");
  command.text("--profile", options->profile, "the device's profile (JSON), instead of its own, at L1 and L2");
  command
      .text("--variant", options->variant,
            "change what the device does, legally or not, at L1 and L2 (docs/reference/variants.md): a name, or list")
      .such_as(names_of(tb::variants()));
  waiver_option(command, options->waive);
  command.text("--coverage", options->coverage,
               "file for the rules that were applied to the device, and in which situations, at L1 and L2: "
               "docs/reference/judge.md");
  add_dut_process(command, options->dut_process);
  command.text("--reports", options->reports, "folder for the files of a failure");
  command.number("--threads", options->threads, 1, 2, "1: the peer runs in the device's thread");
  command.action([options, &command, &context] {
    exclude(command, "--packets", "--cycles", "both say how long the run is");
    if (options->record_streams && options->record.empty())
      throw UsageError("--record-streams without --record.", "Add --record FILE.");
    if (options->assertions && options->dut != "rtl")
      throw UsageError("--assertions is for our RTL, not for --dut " + options->dut + ".",
                       "Leave out --assertions, or --dut.");
    if (options->bins && options->results.empty())
      throw UsageError("--bins without --results.", "Add --results FILE, or record the run and say mrc check --bins.");
    if (!options->results.empty()) {
      for (const char* option : {"--json", "--pcap", "--pcap-peer", "--record", "--trace", "--wave", "--coverage"})
        exclude(command, "--results", option, "results are lines, one per seed");
    }
    if (options->seeds > 1) {
      exclude(command, "--seeds", "--pcap", "a capture is of one run");
      exclude(command, "--seeds", "--pcap-peer", "a capture is of one run");
      exclude(command, "--seeds", "--record", "a log is of one run");
      exclude(command, "--seeds", "--trace", "a trace is of one run");
      exclude(command, "--seeds", "--wave", "waves are of one run");
    }
    if (options->seeds - 1 > kAnySeed - options->seed) {
      throw UsageError(
          fmt::format("--seed {} --seeds {} goes beyond the last seed, 2^64 - 1.", options->seed, options->seeds),
          "Give a smaller --seed, or fewer --seeds.");
    }
    context.exit_code = run(*options, command, context);
  });
}

}  // namespace mrc::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/dut_options.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/version.hpp"
#include "input/json.hpp"
#include "pipeline/nic.hpp"
#include "tb/compare/follower.hpp"
#include "tb/compare/lockstep.hpp"
#include "tb/compare/report.hpp"
#include "tb/cosim.hpp"

namespace mrc::cli {

void register_bench_fabric(Command& bench, Context& context);  // cmd_bench_fabric.cpp

namespace bench_command {
namespace {
using input::Json;

struct Options {
  std::string preset = "asic800", scenario = "clean", dut = "rtl", wave_dut, only, json;
  uint64_t cycles = 60000, seed = 1;
  unsigned rounds = 5;
  bool wave_flavour = false;
  DutProcess dut_process;
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  const std::size_t n = v.size();
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

/// Processor time of this thread, in which other processes do not count; and time that has gone by, for a device that
/// is one of these.
class Stopwatch {
 public:
  Stopwatch() : wall_(std::chrono::steady_clock::now()), cpu_(cpu()) {}
  double wall() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count(); }
  double busy() const { return cpu() - cpu_; }

 private:
  static double cpu() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  std::chrono::steady_clock::time_point wall_;
  double cpu_;
};

/// Bytes that the program holds on its heap.
double heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

/// Inputs of a run: first those that configure, then those under load.
struct Recording {
  std::vector<mrc_pins_in> setup, load;
};

/// What takes the recorded inputs.
enum class Subject { Rtl, Model, Lockstep, WaveRtl };
constexpr std::array kSubjects = {Subject::Rtl, Subject::Model, Subject::Lockstep, Subject::WaveRtl};
const char* name_of(Subject subject) {
  static constexpr const char* kNames[] = {"rtl", "model", "lockstep", "wave"};
  return kNames[static_cast<std::size_t>(subject)];
}

/// One subject on its way through the recording. The set-up is behind it when it is made.
class Replay {
 public:
  Replay(Subject subject, const Recording& recording, const Preset& preset,
         const std::function<std::unique_ptr<tb::Dut>(std::string&)>& open)
      : subject_(subject), recording_(recording), lockstep_(preset) {
    if (subject != Subject::Model) {
      const double before = heap_bytes();
      std::string error;
      dut_ = open(error);
      if (!dut_) throw UsageError("no device: " + error + ".", "It could be opened before: run the command again.");
      dut_bytes_ = heap_bytes() - before;
    }
    if (subject == Subject::Model) {
      const double before = heap_bytes();
      nic_.emplace(preset);
      model_bytes_ = heap_bytes() - before;
    }
    if (subject == Subject::Lockstep) follower_.emplace(preset, lockstep_);
    for (const mrc_pins_in& in : recording.setup) {
      if (dut_) dut_->step(in);
      if (nic_) nic_->step(in);
      if (follower_) follower_->model().step(in);
    }
    cycle_ = recording.setup.size();
  }

  /// Takes cycles of the load, and adds their processor time to seconds().
  void run(std::size_t from, std::size_t to) {
    const std::span<const mrc_pins_in> part(&recording_.load[from], to - from);
    const Stopwatch watch;
    switch (subject_) {
      case Subject::Model:
        model(part);
        break;
      case Subject::Lockstep:
        lockstep(part);
        break;
      default:
        device(part);
    }
    if (const tb::DeviceFault* fault = dut_ ? dut_->fault() : nullptr)
      throw UsageError(fault->text + ".", "Run 'mrc cosim' with the same device for a report.");
    if (const tb::FailedAssertion* failed = dut_ ? dut_->failed_assertion() : nullptr)
      throw UsageError(
          fmt::format("assertion {} of the device failed in {}: {}.", failed->name, failed->place, failed->text),
          "Run 'mrc cosim' with the same device for a report.");
    seconds_ += dut_ && !dut_->in_process() ? watch.wall() : watch.busy();
  }
  double seconds() const { return seconds_; }
  /// A hash over the output pins' valids: the same stimulus gives the same on RTL and model.
  uint64_t seen() const { return seen_; }
  bool same() const { return same_; }
  double dut_bytes() const { return dut_bytes_; }
  double model_bytes() const { return model_bytes_; }

 private:
  /// RTL alone: outputs are read, as any user of the RTL does.
  void device(std::span<const mrc_pins_in> part) {
    for (const mrc_pins_in& in : part) {
      dut_->outputs(out_);
      look(out_);
      dut_->step(in);
    }
  }
  void model(std::span<const mrc_pins_in> part) {
    for (const mrc_pins_in& in : part) {
      nic_->outputs(out_);
      look(out_);
      nic_->step(in);
    }
  }
  /// Both, with every pin and stream compared.
  void lockstep(std::span<const mrc_pins_in> part) {
    for (const mrc_pins_in& in : part) {
      tb::Follower::Cycle& cycle = follower_->look(*dut_, lockstep_);
      look(cycle.out);
      cycle.in = &in;
      dut_->step(in);
      if (follower_->next()) same_ = same_ && catch_up();
    }
    same_ = same_ && catch_up();
  }
  bool catch_up() {
    const unsigned ahead = follower_->ahead();
    const bool same = follower_->catch_up(cycle_, lockstep_) == ahead;
    cycle_ += ahead;
    return same;
  }
  void look(const mrc_pins_out& out) {
    const unsigned pins = out.tx_tvalid | unsigned{out.host_wr_valid} << 8 | unsigned{out.host_rd_valid} << 9 |
                          unsigned{out.cqe_valid} << 10;
    seen_ = (seen_ ^ pins) * 0x9e3779b97f4a7c15u;
  }

  Subject subject_;
  const Recording& recording_;
  std::unique_ptr<tb::Dut> dut_;
  std::optional<Nic> nic_;
  tb::Lockstep lockstep_;
  std::optional<tb::Follower> follower_;
  mrc_pins_out out_{};
  uint64_t cycle_ = 0, seen_ = 0;
  bool same_ = true;
  double seconds_ = 0, dut_bytes_ = 0, model_bytes_ = 0;
};

/// Cycles that one subject runs before the next one has its turn: a machine that slows down slows down all of them.
constexpr std::size_t kTurn = 2000;

/// The device to measure, and the RTL of the wave flavour when there is one: what tracing costs that is compiled in and
/// off.
struct Devices {
  std::function<std::unique_ptr<tb::Dut>(std::string&)> open, open_wave;
  bool wave_missing = false;
  std::string wave_why = "the wave flavour of this preset is not built";
};

/// Throws UsageError.
Devices devices_of(const Options& o, const Preset& preset, const Context& context) {
  Devices d;
  d.open = dut_opener(o.dut, preset, o.seed, context, o.dut_process);
  std::string error;
  if (!d.open(error)) throw UsageError("no device: " + error + ".", dut_remedy(o.dut, context));
  if (!o.only.empty() &&
      std::none_of(kSubjects.begin(), kSubjects.end(), [&](Subject subject) { return o.only == name_of(subject); })) {
    throw UsageError("unknown subject " + o.only + ".", "--only takes rtl, model, lockstep or wave.");
  }
  const bool build = o.wave_flavour && !context.builder.empty();
  const std::filesystem::path path = !o.wave_dut.empty() ? std::filesystem::path(o.wave_dut)
                                     : build             ? rtl_device(preset, Flavour::Wave, context)
                                                         : wave_device(preset, context);
  DutProcess wave_process = o.dut_process;
  if (wave_process.process.empty()) wave_process.process = "shared";  // our RTL, too
  d.open_wave = dut_opener(path.string(), preset, o.seed, context, wave_process);
  d.wave_missing = o.dut != "rtl" && o.wave_dut.empty();
  if (d.wave_missing) {
    d.wave_why = "the device is not our RTL";
  } else {
    std::string why;
    const auto wave = d.open_wave(why);
    d.wave_missing = !wave || !wave->can_wave();
    if (wave && d.wave_missing) d.wave_why = "the build there writes no waves";
  }
  if (d.wave_missing && (o.wave_flavour || o.only == "wave" || !o.wave_dut.empty())) {
    throw UsageError(
        d.wave_why + ".",
        "'./mrc bench cosim --wave-flavour' in a clone builds it; by hand: cmake --preset wave && cmake --build "
        "--preset wave, then --wave-dut FILE if it is elsewhere.");
  }
  return d;
}

/// One run with the whole environment gives the stimulus: set-up, then full load after a while. Null when it was
/// stopped. Throws UsageError: it ended early.
std::optional<Recording> record(const Options& o, const Preset& preset, const Devices& devices,
                                tb::CosimResult& recorded) {
  Recording recording;
  recording.load.reserve(o.cycles);  // growing by doubling would take three times as much
  uint64_t warm = 4000;
  tb::CosimOptions options;
  options.preset = &preset;
  options.scenario = scenario_from(o.scenario, o.seed);
  tb::check(options.scenario, preset);
  options.packets = uint64_t{1} << 40;
  options.seed = o.seed;
  options.open = devices.open;
  options.stop = &g_stop;
  options.record_setup = [&](const mrc_pins_in& in) { recording.setup.push_back(in); };
  options.record = [&](const mrc_pins_in& in) {
    if (warm > 0) {
      --warm;
      recording.setup.push_back(in);
      return true;
    }
    recording.load.push_back(in);
    return recording.load.size() < o.cycles;  // the rest of the time window still comes
  };
  recorded = tb::run_cosim(options);
  recording.load.resize(std::min<std::size_t>(recording.load.size(), o.cycles));
  if (g_stop) return std::nullopt;
  if (recorded.device_fault)
    throw UsageError(recorded.device_fault->text + ".", "Run 'mrc cosim' with the same device for a report.");
  if (recording.load.size() < o.cycles) {
    const bool agreed = recorded.outcome == tb::Outcome::Pass || recorded.outcome == tb::Outcome::Empty;
    const std::string sentence = fmt::format("the recording of scenario {} ended after {} of {} cycles under load",
                                             o.scenario, recording.load.size(), o.cycles);
    if (agreed) throw UsageError(sentence + ".", "Measure fewer --cycles, or choose a scenario that sends for longer.");
    throw UsageError(sentence + ": " + tb::name_of(recorded.outcome) + ".",
                     "Run 'mrc cosim' with this scenario first: it reports what is wrong.");
  }
  return recording;
}

/// What was measured, as far as it came.
struct Speeds {
  std::vector<Subject> subjects;
  std::map<Subject, std::vector<double>> samples;  ///< cycles per second, a round each
  double load = 0, recording_bytes = 0, rtl_bytes = 0, model_bytes = 0;
  unsigned rounds = 0;
  bool complete = true;

  double speed(Subject subject) const { return median(samples.at(subject)); }
  /// Median of the rounds' ratios: both sides of each are of the same time.
  double ratio(Subject subject) const {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < rounds; ++i) ratios.push_back(samples.at(subject)[i] / samples.at(Subject::Rtl)[i]);
    return median(ratios);
  }
  bool relative() const { return samples.contains(Subject::Rtl); }
};

/// One round: every subject goes through the recording, in turns. False: stopped, and the round does not count.
bool measure_round(const Options& o, const Preset& preset, const Recording& recording, Devices& devices,
                   Speeds& speeds) {
  std::vector<std::unique_ptr<Replay>> turns;
  for (const Subject subject : speeds.subjects) {
    turns.push_back(std::make_unique<Replay>(subject, recording, preset,
                                             subject == Subject::WaveRtl ? devices.open_wave : devices.open));
    if (subject != Subject::WaveRtl) speeds.rtl_bytes = std::max(speeds.rtl_bytes, turns.back()->dut_bytes());
    speeds.model_bytes = std::max(speeds.model_bytes, turns.back()->model_bytes());
  }
  for (std::size_t at = 0, turn = speeds.rounds; at < o.cycles; at += kTurn, ++turn) {
    for (std::size_t i = 0; i < turns.size(); ++i) {  // nobody is always the first
      if (g_stop) return false;
      turns[(turn + i) % turns.size()]->run(at, std::min<std::size_t>(at + kTurn, o.cycles));
    }
  }
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (!turns[i]->same())
      throw UsageError("model and RTL differ on the recorded stimulus.", "Run 'mrc cosim' for a report.");
    if (turns[i]->seen() != turns[0]->seen()) {
      if (speeds.subjects[i] != Subject::WaveRtl) {
        throw UsageError(
            std::string(name_of(speeds.subjects[i])) + " sends other things than " + name_of(speeds.subjects[0]) + ".",
            "Run 'mrc cosim' for a report.");
      }
      devices.wave_missing = true;
      devices.wave_why = "the wave flavour is a build of another RTL";
    }
    speeds.samples[speeds.subjects[i]].push_back(static_cast<double>(o.cycles) / turns[i]->seconds());
  }
  ++speeds.rounds;
  return true;
}

Speeds measure(const Options& o, const Preset& preset, const Recording& recording, Devices& devices) {
  Speeds speeds;
  speeds.recording_bytes =
      static_cast<double>((recording.setup.capacity() + recording.load.capacity()) * sizeof(mrc_pins_in));
  uint64_t beats = 0;
  for (const mrc_pins_in& in : recording.load) beats += static_cast<unsigned>(__builtin_popcount(in.rx_tvalid));
  speeds.load = static_cast<double>(beats) * preset.port_bytes * 8 /
                (static_cast<double>(o.cycles) * preset.clock_ps / 1000 * preset.num_planes * preset.port_gbps);
  for (const Subject subject : kSubjects) {
    if (!o.only.empty() && o.only != name_of(subject)) continue;
    if (subject == Subject::WaveRtl && devices.wave_missing) continue;
    speeds.subjects.push_back(subject);
  }
  while (speeds.complete && speeds.rounds < o.rounds)
    speeds.complete = measure_round(o, preset, recording, devices, speeds);
  if (devices.wave_missing) std::erase(speeds.subjects, Subject::WaveRtl);
  if (speeds.rounds == 0) speeds.subjects.clear();
  return speeds;
}

std::string speeds_text(const Options& o, const Speeds& s, const Devices& devices) {
  std::string out =
      fmt::format("{}{} cycles of {} at {}, receive ports {:.0f} % busy, medians of {} round{}, {}\n",
                  s.complete ? "" : "INCOMPLETE: stopped before the end; ", o.cycles, o.scenario, o.preset,
                  100 * s.load, s.rounds, s.rounds == 1 ? "" : "s",
                  o.dut_process.own(o.dut)
                      ? "elapsed time where the device has a process of its own, else processor time of one thread"
                      : "processor time of one thread");
  for (const Subject subject : s.subjects) {
    static constexpr const char* kTitles[] = {"RTL alone", "model", "lockstep", "wave, off"};
    out += fmt::format("  {:<10} {:>10} cycles/s", kTitles[static_cast<std::size_t>(subject)],
                       tb::grouped(static_cast<uint64_t>(s.speed(subject))));
    if (s.relative() && subject != Subject::Rtl) out += fmt::format("   {:.2f} x RTL alone", s.ratio(subject));
    out += '\n';
  }
  if (devices.wave_missing && o.only.empty())
    out += "  wave, off  not measured: " + devices.wave_why + "; --wave-flavour builds it\n";
  return out +
         fmt::format("  memory     {:.1f} MB at most, {:.1f} MB of it the recording; RTL {:.2f} MB, model {:.2f} MB\n",
                     peak_bytes() / 1e6, s.recording_bytes / 1e6, s.rtl_bytes / 1e6, s.model_bytes / 1e6);
}

std::string speeds_json(const Options& o, const Speeds& s, const tb::CosimResult& recorded, const std::string& run_id) {
  Json j;
  j["run"] = run_id;
  j["complete"] = s.complete;
  j["preset"] = o.preset;
  j["scenario"] = o.scenario;
  j["seed"] = o.seed;
  j["cycles"] = o.cycles;
  j["rounds"] = s.rounds;
  j["load"] = s.load;
  for (const Subject subject : s.subjects) j[std::string(name_of(subject)) + "_cycles_per_second"] = s.speed(subject);
  if (s.relative()) {
    for (const Subject subject : s.subjects) {
      static constexpr const char* kKeys[] = {"", "model_over_rtl", "lockstep_over_rtl", "waves_off_over_rtl"};
      if (subject != Subject::Rtl) j[kKeys[static_cast<std::size_t>(subject)]] = s.ratio(subject);
    }
  }
  for (const Subject subject : s.subjects) j["samples"][name_of(subject)] = s.samples.at(subject);
  j["peak_memory_bytes"] = static_cast<uint64_t>(peak_bytes());
  j["recording_bytes"] = static_cast<uint64_t>(s.recording_bytes);
  j["rtl_bytes"] = static_cast<uint64_t>(s.rtl_bytes);
  j["model_bytes"] = static_cast<uint64_t>(s.model_bytes);
  j["versions"] = versions();
  j["versions"]["dut"] = recorded.dut_name;
  j["versions"]["dut_tool"] = recorded.dut_version;
  j["dut_process"] = recorded.dut_in_process ? "shared" : "own";
  return j.dump(2) + "\n";
}

int run(const Options& o, const Context& context) {
  const Preset& preset = preset_from(o.preset);
  const StopOnSignal stop;
  Outputs outputs("mrc bench cosim");
  outputs.reads(o.scenario);
  Output* const json = outputs.add("--json", o.json);
  Devices devices = devices_of(o, preset, context);
  tb::CosimResult recorded;
  const auto recording = record(o, preset, devices, recorded);
  Speeds speeds;
  speeds.complete = false;
  if (recording) speeds = measure(o, preset, *recording, devices);
  text_out() << speeds_text(o, speeds, devices) << std::flush;
  outputs.write(json, [&](std::ostream& out) { out << speeds_json(o, speeds, recorded, context.run_id); });
  return outputs.finish(speeds.complete ? kPass : stdout_failed() ? kUsage : kInconclusive);
}

}  // namespace
}  // namespace bench_command

void register_bench_nic(Command& bench, Context& context);  // cmd_bench_nic.cpp

void register_bench(Command& app, Context& context) {
  using namespace bench_command;
  auto options = std::make_shared<Options>();
  Command& bench = app.command("bench", "measure simulation speed, or the NIC itself");
  bench.footer(R"(
Examples:
  mrc bench cosim                     speed of model, RTL and lockstep
  mrc bench nic --table rates         line rate of the NIC against the arithmetic limit
  mrc bench fabric --case flow-100MB  speed of the fabric)");
  register_bench_fabric(bench, context);
  Command& command = bench.command("cosim", "RTL alone, model alone and lockstep on the same recorded stimulus");
  command.footer(R"(
Examples:
  mrc bench cosim                                             asic800, five rounds
  mrc bench cosim --preset tiny --rounds 3 --json speed.json
  mrc bench cosim --wave-flavour                              also the RTL with waves compiled in and off)");
  command.text("--preset", options->preset, "asic800, fpga100 or tiny").such_as(names_of(kPresets));
  command.text("--scenario", options->scenario, "what loads the ports: a built-in name, or a TOML file");
  command.number(
      "--cycles", options->cycles, 1, 1'000'000'000 / sizeof(mrc_pins_in),
      fmt::format("cycles under load to replay; each takes {} bytes, the recording at most 1 GB", sizeof(mrc_pins_in)));
  command.number("--rounds", options->rounds, 1, 10000, "repetitions; medians count");
  command.number("--seed", options->seed, 0, kAnySeed, "seed of the recorded run");
  command.text("--dut", options->dut, "rtl, model, or a shared object");
  command.flag("--wave-flavour,--all", options->wave_flavour,
               "also the RTL with tracing compiled in and off; ./mrc builds it");
  add_dut_process(command, options->dut_process);
  command.text("--wave-dut", options->wave_dut, "that RTL, when it is elsewhere");
  command.text("--only", options->only, "rtl, model, lockstep or wave: nothing else, for profilers");
  command.text("--json", options->json, "figures as JSON");
  command.action([options, &context] { context.exit_code = run(*options, context); });
  register_bench_nic(bench, context);
}

}  // namespace mrc::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/context.hpp"
#include "cli/dut_options.hpp"
#include "cli/output_file.hpp"
#include "cli/version.hpp"
#include "pipeline/nic.hpp"
#include "tb/cosim.hpp"
#include "tb/lockstep.hpp"
#include "tb/report.hpp"

namespace mrc::cli {

void register_bench_fabric(CLI::App& bench, Context& context);  // cmd_bench_fabric.cpp

namespace {

struct Options {
  std::string preset = "asic800", scenario = "clean", dut = "rtl", json;
  uint64_t cycles = 60000, seed = 1;
  unsigned rounds = 5;
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  const std::size_t n = v.size();
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Cycles per second of this thread's processor time: other processes do not count.
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

/// Inputs of a run: first those that configure, then those under load.
struct Recording {
  std::vector<mrc_pins_in> setup, load;
};

class Replay {
 public:
  Replay(const Recording& recording, std::unique_ptr<tb::Dut> dut, const Preset& preset)
      : recording_(recording),
        dut_(std::move(dut)),
        nic_(preset),
        lockstep_(preset),
        core_(kObsCoreWords),
        lanes_(preset.num_planes * kObsLaneWords) {}

  /// RTL alone: outputs are read, as any user of the RTL does.
  double device(double& sum) {
    for (const mrc_pins_in& in : recording_.setup) dut_->step(in);
    const Stopwatch watch;
    for (const mrc_pins_in& in : recording_.load) {
      dut_->outputs(out_);
      sum += out_.tx_tvalid;
      dut_->step(in);
    }
    return static_cast<double>(recording_.load.size()) / watch.busy();
  }
  double model(double& sum) {
    for (const mrc_pins_in& in : recording_.setup) nic_.step(in);
    const Stopwatch watch;
    for (const mrc_pins_in& in : recording_.load) {
      nic_.outputs(out_);
      sum += out_.tx_tvalid;
      nic_.step(in);
    }
    return static_cast<double>(recording_.load.size()) / watch.busy();
  }
  /// Both, with every pin and boundary compared. Negative: they differ.
  double lockstep() {
    for (const mrc_pins_in& in : recording_.setup) {
      dut_->step(in);
      nic_.step(in);
    }
    const Stopwatch watch;
    uint64_t cycle = recording_.setup.size();
    for (const mrc_pins_in& in : recording_.load) {
      dut_->outputs(out_);
      nic_.outputs(ref_);
      nic_.observe(core_.data(), lanes_.data());
      const uint32_t *core = core_.data(), *lanes = lanes_.data();
      dut_->observe(core, lanes);
      if (!lockstep_.compare(cycle++, out_, ref_, core, lanes, core_.data(), lanes_.data())) return -1;
      dut_->step(in);
      nic_.step(in);
    }
    return static_cast<double>(recording_.load.size()) / watch.busy();
  }

 private:
  const Recording& recording_;
  std::unique_ptr<tb::Dut> dut_;
  Nic nic_;
  tb::Lockstep lockstep_;
  std::vector<uint32_t> core_, lanes_;
  mrc_pins_out out_{}, ref_{};
};

int run(const Options& o, const Context& context) {
  const Preset& preset = preset_from(o.preset);
  const tb::Scenario* scenario = tb::find_scenario(o.scenario);
  if (!scenario)
    throw UsageError("unknown scenario " + o.scenario + ".", "'mrc cosim --scenario list' prints the names.");
  if (o.cycles == 0 || o.rounds == 0) throw UsageError("nothing to measure.", "Use at least one cycle and one round.");
  const auto open = dut_opener(o.dut, preset, o.seed, context);
  std::string error;
  if (!open(error)) throw UsageError("no device: " + error + ".", dut_remedy(o.dut, context));
  std::optional<OutputFile> json;
  if (!o.json.empty()) json.emplace(o.json);

  // One run with the whole environment gives the stimulus: set-up, then full load after a while.
  Recording recording;
  uint64_t warm = 4000;
  tb::CosimOptions record;
  record.preset = &preset;
  record.scenario = *scenario;
  record.packets = uint64_t{1} << 40;
  record.seed = o.seed;
  record.open = open;
  record.record_setup = [&](const mrc_pins_in& in) { recording.setup.push_back(in); };
  record.record = [&](const mrc_pins_in& in) {
    if (warm > 0) {
      --warm;
      recording.setup.push_back(in);
      return true;
    }
    recording.load.push_back(in);
    return recording.load.size() < o.cycles;  // the rest of the time window still comes
  };
  const tb::CosimResult recorded = tb::run_cosim(record);
  recording.load.resize(std::min<std::size_t>(recording.load.size(), o.cycles));
  if (recording.load.size() < o.cycles) {
    throw UsageError("the recording ended early: " + std::string(tb::name_of(recorded.outcome)) + ".",
                     "Run 'mrc cosim' first: model and RTL must agree.");
  }
  const double recording_mb =
      static_cast<double>((recording.setup.capacity() + recording.load.capacity()) * sizeof(mrc_pins_in)) / (1 << 20);
  uint64_t beats = 0;
  for (const mrc_pins_in& in : recording.load) beats += static_cast<unsigned>(__builtin_popcount(in.rx_tvalid));
  const double load = static_cast<double>(beats) * preset.port_bytes * 8 /
                      (static_cast<double>(o.cycles) * preset.clock_ps / 1000 * preset.num_planes * preset.port_gbps);

  std::vector<double> rtl, model, both;
  double sum = 0;
  for (unsigned round = 0; round < o.rounds; ++round) {
    rtl.push_back(Replay(recording, open(error), preset).device(sum));
    model.push_back(Replay(recording, open(error), preset).model(sum));
    const double speed = Replay(recording, open(error), preset).lockstep();
    if (speed < 0) throw UsageError("model and RTL differ on the recorded stimulus.", "Run 'mrc cosim' for a report.");
    both.push_back(speed);
  }
  const double r = median(rtl), m = median(model), l = median(both);
  std::cout
      << fmt::format(
             "{} cycles of {} at {}, receive ports {:.0f} % busy, medians of {} rounds, processor time of one thread\n",
             o.cycles, o.scenario, o.preset, 100 * load, o.rounds)
      << fmt::format("  {:<10} {:>10} cycles/s\n", "device", tb::grouped(static_cast<uint64_t>(r)))
      << fmt::format("  {:<10} {:>10} cycles/s   {:.2f} x device\n", "model", tb::grouped(static_cast<uint64_t>(m)),
                     m / r)
      << fmt::format("  {:<10} {:>10} cycles/s   {:.2f} x device\n", "lockstep", tb::grouped(static_cast<uint64_t>(l)),
                     l / r)
      << fmt::format("  memory     {:.0f} MB at most, {:.0f} MB of it the recording\n", peak_mb(), recording_mb);
  if (json) {
    nlohmann::ordered_json j;
    j["preset"] = o.preset;
    j["scenario"] = o.scenario;
    j["seed"] = o.seed;
    j["cycles"] = o.cycles;
    j["rounds"] = o.rounds;
    j["load"] = load;
    j["rtl_cycles_per_second"] = r;
    j["model_cycles_per_second"] = m;
    j["lockstep_cycles_per_second"] = l;
    j["lockstep_over_rtl"] = l / r;
    j["model_over_rtl"] = m / r;
    j["samples"] = {{"rtl", rtl}, {"model", model}, {"lockstep", both}};
    j["peak_memory_mb"] = peak_mb();
    j["recording_mb"] = recording_mb;
    j["versions"] = {{"mrcnic", MRC_VERSION},
                     {"compiler", __VERSION__},
                     {"dut", recorded.dut_name},
                     {"dut_tool", recorded.dut_version}};
    json->stream() << j.dump(2) << '\n';
    json->commit();
  }
  return kPass;
}

}  // namespace

void register_bench(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* bench = app.add_subcommand("bench", "measure simulation speed");
  bench->require_subcommand(1);
  register_bench_fabric(*bench, context);
  CLI::App* command =
      bench->add_subcommand("cosim", "RTL alone, model alone and lockstep on the same recorded stimulus");
  command->add_option("--preset", options->preset, "asic800, fpga100 or tiny")->capture_default_str();
  command->add_option("--scenario", options->scenario, "what loads the ports")->capture_default_str();
  command->add_option("--cycles", options->cycles, "cycles under load to replay")->capture_default_str();
  command->add_option("--rounds", options->rounds, "repetitions; medians count")->capture_default_str();
  command->add_option("--seed", options->seed, "seed of the recorded run")->capture_default_str();
  command->add_option("--dut", options->dut, "rtl, model, or a shared object")->capture_default_str();
  command->add_option("--json", options->json, "figures as JSON");
  command->callback([options, &context] { context.exit_code = run(*options, context); });
}

}  // namespace mrc::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/dut_options.hpp"
#include "cli/fabric_compare.hpp"
#include "cli/fabric_page.hpp"
#include "cli/fabric_pcap.hpp"
#include "cli/fabric_record.hpp"
#include "cli/fabric_report.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/status_line.hpp"
#include "cli/trace_option.hpp"
#include "gen/fabric_profiles.hpp"
#include "log/writer.hpp"
#include "sim/experiment/endpoints.hpp"
#include "sim/experiment/experiment.hpp"
#include "sim/experiment/htsim.hpp"
#include "sim/job/goal.hpp"
#include "sim/nic/cycle/endpoint_cycle.hpp"
#include "tb/compare/report.hpp"

namespace mrc::cli {
namespace fabric_command {
namespace {

constexpr const char* kFooter = R"(
Examples:
  mrc fabric --scenario list                                  scenarios and all keys
  mrc fabric --scenario incast --report out                   a page with curves, and tables
  mrc fabric --scenario incast --print >my.toml               a file to start from
  mrc fabric --scenario my.toml --seed 7 --json run.json --pcap nic0/0=nic0.pcapng
  mrc fabric --compare a.json b.json ...                      results side by side; --report out: a page
  mrc fabric --scenario small --endpoint rtl                  Verilated RTL in every NIC
  mrc fabric --scenario incast --fabric-profile spectrum      code points, queues, thresholds of one vendor's switches

docs/guide/fabric.md describes scenarios, docs/reference/outputs.md where results go.
Ctrl-C ends the run with the results so far.)";

struct Options {
  std::string scenario = "incast", json, report, transport, endpoint, profile, record, record_nics, trace, matrix, goal;
  std::vector<std::string> pcap, compare;
  std::optional<double> failure_rates;
  std::optional<uint64_t> waits;
  std::optional<uint64_t> seed;
  unsigned threads = 1;
  bool print = false;
};

template <class T>
void list_keys(const char* title, std::span<const sim::Key<T>> keys) {
  std::cout << title;
  T t;
  for (const auto& key : keys) {
    const std::string value = key.number ? fmt::format("{:g}", key.number(t))
                              : key.flag ? (key.flag(t) ? "true" : "false")
                                         : '"' + key.text(t) + '"';
    std::cout << fmt::format("  {:<16} {:>9}  {}\n", key.name, value, key.doc);
  }
}

void list() {
  std::cout << "Scenarios:\n";
  for (const sim::ShippedScenario& s : sim::shipped_scenarios()) {
    std::cout << fmt::format("  {:<16} {}\n", s.name, s.description);
  }
  list_keys("\nKeys of a scenario file (TOML; base = \"name\" starts from one of the above), default in the middle:\n",
            sim::scenario_keys());
  list_keys("\n[[traffic]], one for each kind:\n", sim::traffic_keys());
  list_keys("\n[[job]], one for each training job:\n", sim::job_keys());
  list_keys("\n[[job.phase]], the parts of each of its steps:\n", sim::phase_keys());
  list_keys("\n[[event]]:\n", sim::event_keys());
  list_keys("\n[[node]]:\n", sim::node_keys());
  std::cout << "\n[topology], or topology = \"file.toml\": 'mrc topo keys' prints its keys.\n";
}

void list_profiles() {
  const auto codes = [](uint64_t mask) {
    std::string out;
    for (unsigned d = 0; d < 64; ++d) {
      if ((mask >> d & 1) == 0) continue;
      unsigned last = d;
      while (last < 63 && (mask >> (last + 1) & 1) != 0) ++last;
      out += fmt::format("{}{}", out.empty() ? "" : ", ", d);
      if (last > d) out += fmt::format("-{}", last);
      d = last;
    }
    return out;
  };
  for (const FabricProfile& p : kFabricProfiles) {
    std::cout << fmt::format("{}: {}\n", p.name, p.doc);
    std::cout << "  NICs      ";
    for (const FabricSetting& s : p.nic) std::cout << fmt::format(" {} {}", s.name, s.value);
    std::cout << "\n  classes   ";
    for (unsigned i = 0; i < p.classes; ++i) {
      std::cout << fmt::format("{} {}: data {}, again {}", i == 0 ? "" : ";", i, p.data[i].data, p.data[i].rtx);
    }
    std::cout << fmt::format("\n  switches   trim size {}, ", p.trim_size);
    if (p.queues == 0) {
      std::cout << "strict priorities, thresholds by plane BDP\n";
      continue;
    }
    std::cout << fmt::format("ECN {} to {} KB {} %, queues of {} KB\n", p.ecn_min / 1024, p.ecn_max / 1024,
                             p.ecn_percent, p.limit / 1024);
    for (unsigned q = 0; q < p.queues; ++q) {
      const FabricClass& c = p.queue[q];
      std::cout << fmt::format("  queue {}    {:>2} %{}, code points {}\n", q, c.share,
                               c.data      ? ", marks and trims"
                               : c.trimmed ? ", trimmed packets"
                                           : "",
                               codes(c.codes));
    }
  }
}

std::string progress_text(const sim::ExperimentProgress& p) {
  const std::string what = p.steps > 0 ? fmt::format("{} of {} steps", p.steps_done, p.steps)
                                       : fmt::format("{} of {} flows", p.finished, p.flows);
  return fmt::format("{:.1f} us simulated, {} packets, {}, {:.1f} %, {} packets/s, {} left",
                     static_cast<double>(p.time) / sim::kUs, tb::grouped(p.packets), what, 100 * std::min(p.done, 1.0),
                     tb::grouped(static_cast<uint64_t>(static_cast<double>(p.packets) / p.seconds)),
                     time_left(p.seconds, p.done));
}

int exit_code(sim::Outcome outcome) {
  switch (outcome) {
    case sim::Outcome::Done:
    case sim::Outcome::OpenEnd:
      return kPass;
    case sim::Outcome::Failed:
      return kFail;
    case sim::Outcome::Hang:
    case sim::Outcome::TimeLimit:
      return kHang;
    case sim::Outcome::Incomplete:
    case sim::Outcome::Empty:
      break;
  }
  return kInconclusive;
}

/// NICs of fidelity model and rtl.
sim::ClockedMaker clocked_maker(uint64_t seed, const Context& context) {
  return [seed, &context](const std::string& fidelity, const Preset& preset, const sim::FastConfig& settings,
                          const std::string& where) -> std::unique_ptr<sim::Endpoint> {
    if (const std::string why = sim::CycleEndpoint::problem(preset, settings); !why.empty()) {
      throw sim::InputError(where + ": no endpoint of fidelity " + fidelity + ": " + why + ".",
                            "Change that setting, the preset, or use \"fast\".");
    }
    std::string error;
    auto dut = dut_opener(fidelity, preset, seed, context)(error);
    if (!dut) throw sim::InputError(where + ": no endpoint of fidelity rtl: " + error + ".", rtl_remedy(context));
    return std::make_unique<sim::CycleEndpoint>(fidelity == "rtl" ? "rtl" : "model", preset, settings, std::move(dut));
  };
}

sim::Scenario scenario_of(const Options& o) {
  sim::Scenario scenario = sim::load_fabric_scenario(o.scenario);
  if (!o.transport.empty()) {
    if (o.transport != "mrc" && o.transport != "roce") {
      throw UsageError("--transport " + o.transport + " is not known.", "Use mrc or roce.");
    }
    scenario.transport = o.transport;
  }
  if (!o.endpoint.empty()) {
    if (o.endpoint != "fast" && o.endpoint != "model" && o.endpoint != "rtl") {
      throw UsageError("--endpoint " + o.endpoint + " is not known.", "Use fast, model or rtl.");
    }
    scenario.endpoints = o.endpoint;
    scenario.nodes.clear();
  }
  if (o.failure_rates) scenario.failure_rates = *o.failure_rates;
  if (!o.profile.empty()) {
    const FabricProfile* profile = find_fabric_profile(o.profile);
    if (profile == nullptr) {
      throw UsageError("--fabric-profile " + o.profile + " is not known.",
                       "'mrc fabric --fabric-profile list' prints them.");
    }
    sim::use_profile(scenario, *profile);
  }
  return scenario;
}

/// Builds the fabric. Null when it is stopped before the fabric is there.
std::unique_ptr<sim::Experiment> build(const sim::Scenario& scenario, uint64_t seed, const Context& context,
                                       FabricRecord* record) {
  StatusLine line;
  line.show("building the fabric");
  try {
    sim::EndpointWrap wrap;
    if (record != nullptr) {
      wrap = [record](sim::NodeId host, std::unique_ptr<sim::Endpoint> endpoint) {
        return record->wrap(host, std::move(endpoint));
      };
    }
    return std::make_unique<sim::Experiment>(scenario, seed, clocked_maker(seed, context), &g_stop, wrap);
  } catch (const sim::Stopped&) {
    return nullptr;
  } catch (const std::bad_alloc&) {
    throw UsageError("there is not enough memory for this fabric.",
                     "Use fewer NICs, planes, flows or messages, or a larger machine.");
  }
}

void write_page(const OutputFolder& folder, const std::vector<PageRun>& runs, const Context& context,
                Outputs& outputs) {
  const bool curves = write_fabric_page(folder.path(), runs, context, outputs);
  if (outputs.lost_any()) return;
  text_out() << "  report       " << (folder.path() / "index.html").string()
             << (curves ? "" : ", without curves: npm could not fetch uPlot") << '\n';
}

int simulate(const Options& o, const Context& context) {
  const StopOnSignal stop;
  sim::Scenario scenario = scenario_of(o);
  scenario.threads = o.threads;
  const uint64_t seed = o.seed.value_or(static_cast<uint64_t>(scenario.seed));
  // What cannot work is said before anything is built.
  Outputs outputs("mrc fabric");
  outputs.reads(o.scenario);
  outputs.reads(scenario.topology.source.file);
  for (const sim::TrafficConfig& t : scenario.traffic) {
    if (!t.file.empty()) outputs.reads(std::filesystem::path(t.source.file).parent_path() / t.file);
  }
  for (const sim::JobConfig& j : scenario.jobs) {
    if (!j.trace.empty()) outputs.reads(sim::trace_path(j));
  }
  Output* const json = outputs.add("--json", o.json);
  const std::vector<LinkCapture::File> files = LinkCapture::open(o.pcap, sim::Topology(scenario.topology), outputs);
  std::optional<OutputFolder> folder;
  if (!o.report.empty()) folder.emplace("--report", o.report);
  Output* const log_file = outputs.add("--record", o.record);
  Output* const matrix = outputs.add("--matrix", o.matrix);
  std::string matrix_text;
  if (matrix != nullptr && !scenario.jobs.empty()) {
    throw UsageError("--matrix and a scenario with jobs: htsim's matrix has no compute.", "Leave out --matrix.");
  }
  if (matrix != nullptr) {
    const sim::Topology topology(scenario.topology);
    matrix_text = sim::htsim_matrix(topology, sim::make_traffic(scenario, topology, seed));
  }
  if (o.waits && std::ranges::none_of(scenario.jobs, [&](const sim::JobConfig& j) {
        return static_cast<double>(*o.waits) < (j.trace.empty() ? j.steps : 1);
      })) {
    throw UsageError(fmt::format("--waits {}: no job has that step.", *o.waits), "Steps are counted from 0.");
  }
  Output* const goal = outputs.add("--goal", o.goal);
  if (goal != nullptr && scenario.jobs.size() != 1) {
    throw UsageError(fmt::format("--goal and a scenario with {} jobs.", scenario.jobs.size()),
                     "Use a scenario with one [[job]].");
  }
  TraceOption trace(outputs.add("--trace", o.trace));
  std::optional<log::Writer> log;
  std::optional<FabricRecord> record;
  if (log_file != nullptr) log.emplace(log_file->stream());
  if (log || trace.on()) {
    const log::Record note{0, 0, log::Note{"run " + context.run_id}};
    record.emplace(scenario, o.record_nics, [&log, &trace, note](const log::Record& r) {
      trace.add(r);
      if (!log) return;
      log->write(r);
      if (log->records() == 1) log->write(note);
    });
  }
  const auto experiment = build(scenario, seed, context, record ? &*record : nullptr);
  sim::ExperimentResult result;
  std::vector<std::unique_ptr<LinkCapture>> captures;
  if (experiment) {
    for (const LinkCapture::File& file : files)
      captures.push_back(std::make_unique<LinkCapture>(file, *experiment, context.run_id));
    experiment->keep_ports = folder.has_value();
    if (o.waits) experiment->keep_waits = static_cast<uint32_t>(*o.waits);
    StatusLine line;
    if (line.on()) experiment->progress = [&](const sim::ExperimentProgress& p) { line.show(progress_text(p)); };
    result = experiment->run();
    if (record) record->end(result);
    if (result.outcome == sim::Outcome::Incomplete) {
      for (const auto& capture : captures) capture->note("incomplete: " + result.reason);
    }
  } else {
    result.outcome = sim::Outcome::Incomplete;
    result.reason = "stopped while the fabric was being built";
    result.scenario = scenario.name;
    result.description = scenario.description;
    result.transport = scenario.transport;
    result.seed = seed;
  }
  text_out() << fabric_summary(result) << std::flush;
  if (result.out_of_memory) outputs.out_of_memory();
  for (const LinkCapture::File& file : files) outputs.write(file.output, [](std::ostream&) {});  // written all along
  outputs.write(log_file, [&](std::ostream&) { log->finish(); });
  if (experiment) {
    const auto write = o.goal.ends_with(".bin") ? sim::write_goal_binary : sim::write_goal;
    outputs.write(goal, [&](std::ostream& out) { write(experiment->jobs().schedule(0), out); });
  }
  outputs.write(matrix, [&](std::ostream& out) { out << matrix_text; });
  trace.write(outputs);
  outputs.write(json, [&](std::ostream& out) { out << fabric_json(result, true, context.run_id); });
  if (folder && experiment) {
    write_fabric_tables(folder->path(), result, experiment->topology(), context.run_id, outputs);
    PageRun run{"", fabric_json(result, true, context.run_id), ""};
    outputs.attempt([&] { run.more = page_details(folder->path(), result, experiment->topology(), outputs); });
    write_page(*folder, {std::move(run)}, context, outputs);
  }
  return outputs.finish(exit_code(result.outcome));
}

int compare(const Options& o, const Context& context) {
  Outputs outputs("mrc fabric");
  for (const std::string& file : o.compare) outputs.reads(file);
  Output* const json = outputs.add("--json", o.json);
  std::optional<OutputFolder> folder;
  if (!o.report.empty()) folder.emplace("--report", o.report);
  const std::vector<FabricSide> sides = compare_fabric(o.compare);
  text_out() << fabric_sides_text(sides);
  if (folder) {
    std::vector<PageRun> runs;
    for (const std::string& file : o.compare) runs.push_back({file, fabric_result_text(file), ""});
    write_page(*folder, runs, context, outputs);
  }
  outputs.write(json, [&](std::ostream& out) { out << fabric_sides_json(sides, context.run_id); });
  return outputs.finish(kPass);
}

int run(const Options& o, const Context& context) {
  if (!o.compare.empty()) return compare(o, context);
  if (o.scenario == "list") {
    list();
    return kPass;
  }
  if (o.profile == "list") {
    list_profiles();
    return kPass;
  }
  if (o.print) {
    for (const sim::ShippedScenario& s : sim::shipped_scenarios()) {
      if (o.scenario != s.name) continue;
      std::cout << "# " << s.description << s.text;
      return kPass;
    }
    throw UsageError("--print knows no shipped scenario " + o.scenario + ".",
                     "'mrc fabric --scenario list' prints the names.");
  }
  return simulate(o, context);
}

}  // namespace
}  // namespace fabric_command

void register_fabric(Command& app, Context& context) {
  using namespace fabric_command;
  auto options = std::make_shared<Options>();
  Command& command = app.command("fabric", "NICs, links and trimming switches: flows, failures, congestion");
  command.footer(kFooter);
  command.text("--scenario", options->scenario, "a name, a TOML file, or list")
      .such_as(names_of(sim::shipped_scenarios()));
  command.number("--seed", options->seed, 0, kAnySeed, "everything random follows from it; not given: the scenario's");
  command.number("--threads", options->threads, 1, sim::kMaxThreads,
                 "share the work; what happens is the same with any number");
  command.text("--transport", options->transport, "mrc or roce, whatever the scenario says");
  command.text("--endpoint", options->endpoint, "fast, model or rtl: all NICs, whatever the scenario says");
  command
      .text("--fabric-profile", options->profile,
            "how switches and NICs are set up, whatever the topology says; or list")
      .such_as(names_of(kFabricProfiles));
  command
      .value(
          "--failure-rates",
          [options](const std::string& text) {
            options->failure_rates =
                input::number({text, "--failure-rates"}, {0, 1e6}, "every per_hour is so many times");
          },
          "multiply every per_hour of the scenario by this")
      .called("0..1000000");
  command.words("--compare", options->compare, "results (--json) side by side; seeds of one scenario are one line")
      .called("FILE ...");
  command.text("--json", options->json, "result as JSON");
  command.text("--report", options->report, "folder for a page (index.html) and tables");
  command.words("--pcap", options->pcap, "every frame of a link as pcapng; may be given several times")
      .called("LINK=FILE");
  command.text("--record", options->record,
               "what NICs do (frames, QPs, work requests) as a log: docs/reference/log.md");
  command.text("--record-nics", options->record_nics, "NICs in the log, 0,3-5; not given: all");
  command.text("--trace", options->trace, kTraceHelp);
  command.text("--matrix", options->matrix, "the flows as htsim's connection matrix (.cm)");
  command.number("--waits", options->waits, 0, 999'999,
                 "print what the end of this step of a job waited for, back to packets");
  command.text("--goal", options->goal,
               "the operations of the job's ranks as GOAL (FILE.bin: its binary form): docs/guide/training.md");
  command.flag("--print", options->print, "print a shipped scenario as TOML, to start a file from");
  command.action([options, &command, &context] {
    for (const char* other : {"--seed", "--threads", "--transport", "--endpoint", "--fabric-profile", "--json",
                              "--report", "--pcap", "--record", "--trace", "--matrix", "--goal"}) {
      exclude(command, "--print", other, "--print runs nothing");
    }
    for (const char* other :
         {"--scenario", "--seed", "--threads", "--transport", "--endpoint", "--fabric-profile", "--failure-rates",
          "--pcap", "--record", "--trace", "--matrix", "--goal", "--waits", "--print"}) {
      exclude(command, "--compare", other, "--compare runs nothing");
    }
    if (!options->record_nics.empty() && options->record.empty() && options->trace.empty()) {
      throw UsageError("--record-nics without --record and --trace.", "Add --record FILE, or --trace FILE.");
    }
    context.exit_code = run(*options, context);
  });
}

}  // namespace mrc::cli

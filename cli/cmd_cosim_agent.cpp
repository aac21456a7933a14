// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cctype>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "cli/cosim_agent.hpp"
#include "cli/dut_options.hpp"
#include "cli/fabric_profile_option.hpp"
#include "cli/nic_device.hpp"
#include "cli/output.hpp"
#include "cli/run_bins.hpp"
#include "cli/seed_results.hpp"
#include "cli/signals.hpp"
#include "cli/status_line.hpp"
#include "cli/trace_option.hpp"
#include "cli/version.hpp"
#include "cli/waiver_option.hpp"
#include "input/file.hpp"
#include "input/json.hpp"
#include "log/writer.hpp"
#include "reference/run.hpp"
#include "tb/agent/agent.hpp"
#include "tb/compare/report.hpp"
#include "tb/environment/random_scenario.hpp"
#include "util/printable.hpp"
#include "wire/pcapng.hpp"

namespace mrc::cli {
namespace cosim_agent_command {
namespace {

using input::Json;
using tb::AgentOutcome;
using tb::grouped;

constexpr unsigned kDraws = 8;  ///< random scenarios that move nothing are drawn anew so often
constexpr input::FileKind kProfile{"profile", input::kJsonBytes, "Name an existing file that you may read."};

using RecordSink = std::function<void(const log::Record&)>;

/// A run and what the judge says of it.
struct Judged {
  tb::AgentResult result;
  std::optional<RunBins> bins;  ///< --bins
  std::unique_ptr<ref::Run> judge;
  std::string drawn;          ///< what a random scenario is made of
  tb::Scenario scenario;      ///< as it was played, before it was fitted to the NICs
  std::string scenario_file;  ///< --reports: where it is

  int exit_code() const {
    switch (result.outcome) {
      case AgentOutcome::DeviceError:
        return kUsage;
      case AgentOutcome::DataError:
        return kFail;
      case AgentOutcome::Hang:
        return judge->verdict() == ref::Verdict::Fail ? kFail : kHang;
      default:
        break;
    }
    switch (judge->verdict()) {
      case ref::Verdict::Fail:
        return kFail;
      case ref::Verdict::Broken:
        return kUsage;
      case ref::Verdict::Inconclusive:
        return kInconclusive;
      default:
        return result.outcome == AgentOutcome::Pass ? kPass : kInconclusive;
    }
  }
  /// The word for it.
  const char* verdict() const {
    const bool fails = judge->verdict() == ref::Verdict::Fail && result.outcome != AgentOutcome::DeviceError;
    if (result.outcome != AgentOutcome::Pass && !fails) return name_of(result.outcome);
    return name_of(judge->verdict());
  }
};

class Agent {
 public:
  Agent(const AgentCommand& c, const Context& context) : c_(c), context_(context), preset_(preset_from(c.preset)) {
    how_.waive = waivers_of(c.waive);
    how_.versions = versions();
    how_.about = 0;
    if (!c.profile.empty()) {
      profile_ = input::read_text(c.profile, kProfile);
      ref::read_profile(profile_, input::file_name(c.profile));  // says what is wrong with it
    }
    dut_ = any_nic(c.dut, preset_, c.bug, c.limit_s, context, c.level == "L1");
    if (!c.variant.empty()) dut_ = varied_nic(std::move(dut_), c.variant);
    peer_ = any_nic(c.peer, preset_, "", c.limit_s, context);
  }

  std::string repro(uint64_t seed) const {
    std::string waivers;
    for (const std::string& waiver : c_.waive) waivers += " --waive " + quoted(waiver);
    return fmt::format("{} cosim --level {} --dut {}{}{}{} --preset {} --scenario {} --packets {} --seed {}{}",
                       context_.program, c_.level, quoted(c_.dut), c_.bug.empty() ? "" : " --rtl-bug " + c_.bug,
                       c_.variant.empty() ? "" : " --variant " + c_.variant,
                       c_.peer == "model" ? "" : " --peer " + quoted(c_.peer), c_.preset, c_.scenario, c_.packets, seed,
                       c_.profile.empty() ? "" : " --profile " + c_.profile) +
           fabric_profile_words(c_.fabric_profile) + waivers;
  }

  /// Throws UsageError, CannotPlay.
  Judged run(uint64_t seed, std::ostream* pcap, const RecordSink& writer, StatusLine& status) {
    const bool random = tb::is_random(c_.scenario);
    if (!random) return once(seed, 0, pcap, writer, status);
    unsigned draw = 0;
    Judged judged = once(seed, draw, nullptr, {}, status);
    while (judged.result.outcome == AgentOutcome::Empty && draw < kDraws)
      judged = once(seed, ++draw, nullptr, {}, status);
    // Nothing of those before is in the capture, the log.
    if (pcap != nullptr || writer) judged = once(seed, draw, pcap, writer, status);
    return judged;
  }

 private:
  static std::string quoted(const std::string& text) {
    return text.find(' ') == std::string::npos ? text : "'" + text + "'";
  }

  Judged once(uint64_t seed, unsigned draw, std::ostream* pcap, const RecordSink& writer, StatusLine& status) {
    tb::AgentOptions o;
    o.preset = &preset_;
    const bool random = tb::is_random(c_.scenario);
    o.scenario = random ? tb::random_named(c_.scenario, seed, draw) : scenario_from(c_.scenario, seed);
    use_fabric_profile(o.scenario, c_.fabric_profile);
    tb::check(o.scenario, preset_);
    o.packets = c_.packets;
    o.seed = seed;
    o.dut = dut_.get();
    o.peer = peer_.get();
    o.dut_profile = profile_;
    o.shows = c_.level == "L1";
    o.stop = &g_stop;
    if (status.on()) {
      o.progress = [&](const tb::AgentProgress& p) {
        status.show(fmt::format("seed {}: {:.1f} us simulated, {} packets, {:.1f} %, {} left", seed,
                                static_cast<double>(p.time) / 1e6, grouped(p.packets), 100 * std::min(p.done, 1.0),
                                time_left(p.seconds, p.done)));
      };
    }
    Judged judged;
    judged.scenario = o.scenario;
    if (random) judged.drawn = o.scenario.description;
    ref::RunOptions how = how_;
    if (c_.bins) judged.bins.emplace(0).watch(how);
    judged.judge = std::make_unique<ref::Run>(std::move(how));
    std::optional<wire::PcapngWriter> capture;
    const std::string note = "run " + context_.run_id + ": " + repro(seed);
    o.log = [&](std::unique_ptr<log::Record>& reported) {
      const log::Record& record = *reported;
      if (writer) writer(record);
      if (const auto* device = std::get_if<log::Device>(&record.body);
          device && pcap != nullptr && record.device == 0) {
        const std::string comments[] = {note};
        capture.emplace(*pcap, ref::read_profile(device->profile, "profile").wire(), preset_.num_planes,
                        preset_.port_gbps, comments);
      }
      if (const auto* frame = std::get_if<log::Frame>(&record.body); frame && capture && record.device == 0) {
        capture->write(frame->plane, record.time / 1000, frame->bytes,
                       std::vector<std::string>{frame->sent ? "sent by the device" : "received by the device"},
                       frame->length);
      }
      judged.judge->take(reported);
    };
    o.enough = [&] { return judged.judge->verdict() == ref::Verdict::Fail; };
    try {
      judged.result = tb::run_agent(o);
    } catch (const tb::CannotPlay& cannot) {
      throw Unsupported(fmt::format("scenario {} cannot be played: {}", c_.scenario, cannot.what()), cannot.remedy);
    }
    const tb::AgentResult& r = judged.result;
    if (r.outcome == AgentOutcome::DeviceError && r.dut.name.empty())
      throw UsageError(with_full_stop("no device: " + r.problem),
                       "docs/reference/device.md says what a device answers.");
    judged.judge->finish();
    return judged;
  }

  const AgentCommand& c_;
  const Context& context_;
  const Preset& preset_;
  ref::RunOptions how_;
  std::string profile_;
  std::unique_ptr<tb::NicDevice> dut_, peer_;
};

std::string us(tb::Time time) { return fmt::format("{:.3f} us", static_cast<double>(time) / 1e6); }

std::string side_text(const char* name, const tb::AgentResult::Side& s) {
  return fmt::format(
      "  {:<12} {} data packets, {} again, {} SACKs, {} NACKs, {} ACKs; its link lost {}, trimmed {}, marked {}, "
      "corrupted {}, delayed {}\n",
      name, grouped(s.frames.data), grouped(s.frames.rtx), grouped(s.frames.sack), grouped(s.frames.nack),
      grouped(s.frames.ack), grouped(s.link.lost), grouped(s.link.trimmed), grouped(s.link.marked),
      grouped(s.link.corrupt), grouped(s.link.delayed));
}

std::string summary(const AgentCommand& c, const Judged& j, uint64_t seed) {
  const tb::AgentResult& r = j.result;
  std::string word = j.verdict();
  for (char& letter : word) letter = letter == '_' ? ' ' : static_cast<char>(std::toupper(letter));
  std::string text = fmt::format("{}  {} {} at {}, scenario {}, seed {}\n", word, r.dut.name, r.dut.version, c.level,
                                 c.scenario, seed);
  if (!j.drawn.empty()) text += fmt::format("  drawn        {}\n", j.drawn);
  text += fmt::format("  moved        {} data packets, {} messages, {} bytes, {} immediates; {} verified in memory\n",
                      grouped(r.data_packets), grouped(r.messages), grouped(r.bytes), grouped(r.immediates),
                      grouped(r.verified));
  if (r.refused + r.failed_qps > 0)
    text += fmt::format("  refused      {} work requests; {} queue pairs failed\n", r.refused, r.failed_qps);
  text += side_text("device", r.dut_side) + side_text("peer", r.peer_side);
  const auto& carriers = r.dut_side.frames.carriers;
  constexpr size_t kMostCarriers = 8;
  for (size_t i = 0; i < std::min(carriers.size(), kMostCarriers); ++i) {
    text += fmt::format("  port         plane {} {} by itself at {}\n", carriers[i].second.plane,
                        carriers[i].second.up ? "came" : "went", us(carriers[i].first));
  }
  if (carriers.size() > kMostCarriers)
    text += fmt::format("  port         {} more such changes\n", carriers.size() - kMostCarriers);
  text += fmt::format("  time         {} simulated in {:.2f} s\n", us(r.time), r.seconds);
  if (c.level == "L1" && r.shows == 0) text += "  L1           the device shows nothing of its inside: this is L2\n";
  for (const std::string& sentence : r.left_out) text += "  left out     " + sentence + "\n";
  const ref::Run::Share share = j.judge->share();
  text += fmt::format("  judge        {}: rules applied {} times, {} inconclusive\n", j.judge->verdict_text(),
                      grouped(share.applied), grouped(share.inconclusive));
  return text;
}

/// Leaves the scenario of a run with findings in --reports, so that it can be played again and made smaller.
void leave_scenario(const AgentCommand& c, const Context& context, Judged& j, uint64_t seed, Outputs& outputs) {
  const int code = j.exit_code();
  const bool deviates = c.reports_requested && j.judge->verdict() == ref::Verdict::Deviates;
  if (code != kFail && code != kHang && !deviates) return;
  outputs.attempt([&] {
    make_folder("--reports", c.reports);
    const std::string name =
        fmt::format("{}-{}-{}-{}.toml", c.level, c.preset, std::filesystem::path(c.scenario).stem().string(), seed);
    Output file("", (std::filesystem::path(c.reports) / name).string());
    file.stream() << "# run " << context.run_id << '\n' << tb::scenario_toml(j.scenario, find_preset(c.preset));
    file.commit();
    j.scenario_file = file.path();
  });
}

std::string failure(const Judged& j, const std::string& repro, const std::string& record = {}) {
  const tb::AgentResult& r = j.result;
  std::string text;
  if (!r.problem.empty()) {
    text += fmt::format("\n{}{}: {}.\n", us(r.problem_time),
                        r.problem_qp ? fmt::format(", QP {:#x}", *r.problem_qp) : "", r.problem);
  }
  const bool nothing = r.outcome != AgentOutcome::Pass && j.judge->verdict() == ref::Verdict::Inconclusive;
  if (j.judge->verdict() != ref::Verdict::Pass && !nothing) {
    text += "\n" + j.judge->to_text(repro);
  } else if (j.exit_code() != kPass) {
    text += fmt::format("\nAgain: {}\n", repro);
  }
  if (!j.scenario_file.empty()) text += fmt::format("Its scenario: {}\n", j.scenario_file);
  if (!record.empty() && j.judge->verdict() == ref::Verdict::Fail)
    text += fmt::format("To look at: mrc check {} --pages FOLDER\n", record);
  return text;
}

Json side_json(const tb::DeviceInfo& info, const tb::AgentResult::Side& s) {
  Json j;
  j["name"] = info.name;
  j["version"] = info.version;
  j["packets"] = s.packets;
  j["messages"] = s.messages;
  j["bytes"] = s.bytes;
  j["sent"] = {{"data", s.frames.data}, {"rtx", s.frames.rtx}, {"sack", s.frames.sack},
               {"nack", s.frames.nack}, {"ack", s.frames.ack}, {"other", s.frames.other}};
  j["received"] = s.frames.received;
  j["lost_at_down_port"] = s.frames.at_down_port;
  for (const auto& [time, port] : s.frames.carriers)
    j["carriers"].push_back({{"t_ps", time}, {"plane", port.plane}, {"up", port.up}});
  j["link"] = {{"frames", s.link.frames},    {"lost", s.link.lost},       {"trimmed", s.link.trimmed},
               {"marked", s.link.marked},    {"corrupt", s.link.corrupt}, {"duplicates", s.link.duplicates},
               {"rogues", s.link.rogues},    {"delayed", s.link.delayed}, {"penalties", s.link.penalties},
               {"no_bytes", s.link.no_bytes}};
  return j;
}

Json run_json(const AgentCommand& c, const Judged& j, uint64_t seed, const std::string& repro) {
  const tb::AgentResult& r = j.result;
  Json out;
  out["result"] = j.verdict();
  out["outcome"] = name_of(r.outcome);
  out["level"] = c.level;
  out["shows"] = r.shows;
  out["preset"] = c.preset;
  out["scenario"] = c.scenario;
  if (!j.drawn.empty()) out["drawn"] = j.drawn;
  out["seed"] = seed;
  out["left_out"] = r.left_out;
  out["data_packets"] = r.data_packets;
  out["messages"] = r.messages;
  out["messages_verified"] = r.verified;
  out["bytes"] = r.bytes;
  out["immediates"] = r.immediates;
  out["wqes_refused"] = r.refused;
  out["qps_failed"] = r.failed_qps;
  out["time_ps"] = r.time;
  out["seconds"] = r.seconds;
  if (!r.problem.empty()) {
    const int64_t qp = r.problem_qp ? int64_t{*r.problem_qp} : -1;
    out["problem"] = {{"time_ps", r.problem_time}, {"qp", qp}, {"text", r.problem}};
  }
  out["device"] = side_json(r.dut, r.dut_side);
  out["peer"] = side_json(r.peer, r.peer_side);
  out["judge"] = *input::parse_json(j.judge->to_json());
  if (j.bins) out["bins"] = j.bins->text();
  if (!j.scenario_file.empty()) out["scenario_file"] = j.scenario_file;
  out["repro"] = repro;
  return out;
}

void print(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) text_out() << printable(line) << '\n';
  text_out() << std::flush;
}

int run_single(const AgentCommand& c, const Context& context) {
  const StopOnSignal stop;
  Outputs outputs("mrc cosim");
  outputs.reads(c.scenario);
  outputs.reads(c.dut);
  Output* const json = outputs.add("--json", c.json);
  Output* const pcap = outputs.add("--pcap", c.pcap);
  Output* const record = outputs.add("--record", c.record);
  Output* const coverage = outputs.add("--coverage", c.coverage);
  StatusLine status;
  Agent agent(c, context);
  TraceOption trace(outputs.add("--trace", c.trace));
  std::optional<log::Writer> writer;
  if (record != nullptr) writer.emplace(record->stream());
  RecordSink sink;
  if (writer || trace.on()) {
    sink = [&](const log::Record& r) {
      trace.add(r);
      if (!writer) return;
      writer->write(r);
      if (writer->records() == 1) writer->write({0, 0, log::Note{"run " + context.run_id}});
    };
  }
  Judged judged = agent.run(c.seed, pcap ? &pcap->stream() : nullptr, sink, status);
  status.clear();
  leave_scenario(c, context, judged, c.seed, outputs);
  print(summary(c, judged, c.seed) + failure(judged, agent.repro(c.seed), c.record));
  outputs.write(pcap, [](std::ostream&) {});  // written all along
  outputs.write(record, [&](std::ostream&) { writer->finish(); });
  trace.write(outputs);
  outputs.write(coverage, [&](std::ostream& out) {
    ref::Coverage applied;
    judged.judge->add_to(applied, 0);
    out << applied.to_json();
  });
  outputs.write(json, [&](std::ostream& out) {
    Json all = run_json(c, judged, c.seed, agent.repro(c.seed));
    all["run"] = context.run_id;
    all["versions"] = versions();
    out << all.dump(2) << '\n';
  });
  return outputs.finish(judged.exit_code());
}

/// A run per seed, a line about each, until one fails. What cannot be played with these NICs is counted apart.
int run_seeds(const AgentCommand& c, const Context& context) {
  const StopOnSignal stop;
  Outputs outputs("mrc cosim");
  outputs.reads(c.scenario);
  outputs.reads(c.dut);
  Output* const json = outputs.add("--json", c.json);
  Output* const coverage = outputs.add("--coverage", c.coverage);
  ref::Coverage applied;
  StatusLine status;
  Agent agent(c, context);
  uint64_t passed = 0, deviating = 0, inconclusive = 0, not_played = 0, packets = 0;
  int verdict = kPass;
  Json runs = Json::array();
  const auto begin = std::chrono::steady_clock::now();
  for (uint64_t n = 0; n < c.seeds && verdict == kPass; ++n) {
    const uint64_t seed = c.seed + n;
    try {
      Judged judged = agent.run(seed, nullptr, {}, status);
      status.clear();
      leave_scenario(c, context, judged, seed, outputs);
      packets += judged.result.data_packets;
      judged.judge->add_to(applied, 0);
      const int code = judged.exit_code();
      print(fmt::format("seed {}: {}, {} packets, {:.2f} s{}\n", seed, judged.verdict(),
                        grouped(judged.result.data_packets), judged.result.seconds,
                        judged.drawn.empty() ? "" : ", " + judged.drawn));
      passed += code == kPass;
      deviating += code == kPass && judged.judge->verdict() == ref::Verdict::Deviates;
      inconclusive += code == kInconclusive;
      if (json != nullptr) runs.push_back(run_json(c, judged, seed, agent.repro(seed)));
      if (code != kPass && (code != kInconclusive || judged.result.outcome == AgentOutcome::Incomplete)) {
        verdict = code;
        print(summary(c, judged, seed) + failure(judged, agent.repro(seed)));
      }
    } catch (const Unsupported& cannot) {
      status.clear();
      ++not_played;
      print(fmt::format("seed {}: not played, {}\n", seed, cannot.what()));
      if (json != nullptr) runs.push_back({{"seed", seed}, {"result", "not_played"}, {"reason", cannot.what()}});
    }
    if (stdout_failed()) verdict = kUsage;
  }
  if (verdict == kPass && passed == 0) verdict = not_played == c.seeds ? kUnsupported : kInconclusive;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  print(fmt::format("{} passed{}, {} inconclusive, {} not played, {} packets in {:.1f} s\n", passed,
                    deviating == 0 ? "" : fmt::format(" ({} of them with deviations)", deviating), inconclusive,
                    not_played, grouped(packets), seconds));
  outputs.write(coverage, [&](std::ostream& out) { out << applied.to_json(); });
  outputs.write(json, [&](std::ostream& out) {
    out << Json{{"run", context.run_id},  {"versions", versions()},       {"passed", passed},
                {"deviating", deviating}, {"inconclusive", inconclusive}, {"not_played", not_played},
                {"exit_code", verdict},   {"runs", std::move(runs)}}
               .dump(2)
        << '\n';
  });
  return outputs.finish(verdict);
}

/// A run per seed that has no line in --results yet; failures do not end it. Pass means that every seed has its line.
int run_results(const AgentCommand& c, const Context& context) {
  const StopOnSignal stop;
  Outputs outputs("mrc cosim");
  outputs.reads(c.scenario);
  outputs.reads(c.dut);
  SeedResults results(c.results);
  StatusLine status;
  std::unique_ptr<Agent> agent;
  int verdict = kPass;
  for (uint64_t n = 0; n < c.seeds && verdict == kPass; ++n) {
    const uint64_t seed = c.seed + n;
    if (results.has(seed)) continue;
    if (!agent) agent = std::make_unique<Agent>(c, context);
    try {
      Judged judged = agent->run(seed, nullptr, {}, status);
      if (judged.result.outcome == AgentOutcome::Incomplete && judged.exit_code() != kFail) {
        verdict = kInconclusive;  // stopped from outside, not by a finding
      } else {
        leave_scenario(c, context, judged, seed, outputs);
        results.add(seed, judged.exit_code(), run_json(c, judged, seed, agent->repro(seed)));
        if (judged.result.outcome == AgentOutcome::DeviceError) agent.reset();  // the next seed gets a new device
      }
    } catch (const Unsupported& cannot) {
      results.add(seed, kUnsupported,
                  {{"result", "unsupported"}, {"reason", cannot.what()}, {"repro", agent->repro(seed)}});
    }
  }
  status.clear();
  return outputs.finish(verdict);
}

}  // namespace
}  // namespace cosim_agent_command

int cosim_agent(const AgentCommand& command, const Context& context) {
  using namespace cosim_agent_command;
  if (!command.results.empty()) return run_results(command, context);
  return command.seeds == 1 ? run_single(command, context) : run_seeds(command, context);
}

}  // namespace mrc::cli

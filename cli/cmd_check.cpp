// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "input/file.hpp"
#include "input/names.hpp"
#include "log/reader.hpp"
#include "reference/run.hpp"
#include "util/printable.hpp"

namespace mrc::cli {
namespace {

struct Options {
  std::vector<std::string> files, devices, waive;
  std::string profile, json, html, annotate;
  bool strict = false, rules = false, replay = false;
};

/// What a profile may be.
constexpr input::FileKind kProfile{"profile", input::kJsonBytes, "Name an existing file that you may read."};

void list_rules() {
  std::cout << fmt::format("{:<18} {:<9} {:<9} {:<4} {}\n", "rule", "if broken", "held by", "mark", "what must hold");
  for (const ref::RuleInfo& rule : ref::kRules) {
    const char* verdict = rule.severity == ref::Severity::Fail       ? "fail"
                          : rule.severity == ref::Severity::Deviates ? "deviates"
                                                                     : "broken";
    std::cout << fmt::format("{:<18} {:<9} {:<9} {:<4} {}. [{}]\n", rule.id, verdict, rule.part, rule.mark, rule.text,
                             rule.cite);
  }
}

ref::RunOptions run_options(const Options& o) {
  ref::RunOptions run;
  run.devices = o.devices;
  if (!o.profile.empty()) {
    const std::string name = input::file_name(o.profile);
    run.profile = ref::read_profile(input::read_text(o.profile, kProfile), name);
  }
  std::vector<std::string_view> ids;
  for (const ref::RuleInfo& rule : ref::kRules) ids.emplace_back(rule.id);
  for (const std::string& waiver : o.waive) {
    const auto equals = waiver.find('=');
    if (equals == std::string::npos || equals + 1 == waiver.size()) {
      throw UsageError("--waive " + waiver + " has no reason.", "Write --waive RULE=REASON.");
    }
    const std::string id = waiver.substr(0, equals);
    if (!ref::rule_of(id)) {
      throw UsageError("--waive: '" + id + "' is no rule" + input::did_you_mean(id, ids) + ".",
                       "See 'mrc check --rules'.");
    }
    run.waive[id] = waiver.substr(equals + 1);
  }
  return run;
}

void push_log(const std::string& path, ref::Run& run) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) throw UsageError("cannot read log '" + path + "'.", "Name an existing file that you may read, or -.");
  }
  log::Reader reader(path == "-" ? std::cin : file, input::file_name(path));
  log::Record record;
  while (reader.next(record)) run.push(record);
  if (reader.error()) throw UsageError(with_full_stop(reader.error()->sentence()), reader.error()->remedy);
  if (reader.unfinished() != 0) {
    std::cerr << input::file_name(path) << ": the log has no end: it was not finished.\n";
  }
}

int exit_code(ref::Verdict verdict, bool strict) {
  switch (verdict) {
    case ref::Verdict::Pass:
      return kPass;
    case ref::Verdict::Deviates:
      return strict ? kFail : kPass;
    case ref::Verdict::Inconclusive:
      return kInconclusive;
    case ref::Verdict::Fail:
      return kFail;
    case ref::Verdict::Broken:
      break;
  }
  return kUsage;
}

std::string repro(const Options& o, const Context& context) {
  std::string text = context.program + (o.replay ? " replay" : " check");
  for (const std::string& file : o.files) text += " " + file;
  if (!o.profile.empty()) text += " --profile " + o.profile;
  for (const std::string& device : o.devices) text += " --device " + device;
  return text;
}

int check(const Options& o, const Context& context) {
  if (o.rules) {
    list_rules();
    return kPass;
  }
  if (o.files.empty()) throw UsageError("no log or capture is named.", "Name one, or see 'mrc check --help'.");
  Outputs outputs(o.replay ? "mrc replay" : "mrc check");
  for (const std::string& file : o.files) outputs.reads(file);
  if (!o.profile.empty()) outputs.reads(o.profile);
  ref::Run run(run_options(o));
  Output* const json = outputs.add("--json", o.json);
  Output* const html = outputs.add("--html", o.html);
  for (const std::string& file : o.files) push_log(file, run);
  run.finish();
  if (run.devices() == 0) {
    throw UsageError(
        o.devices.empty() ? "the log has no device." : "the log has no device '" + o.devices.front() + "'.",
        "Look into it with 'mrc log info'.");
  }
  if (json == nullptr || !json->is_stdout()) {
    std::istringstream text(run.to_text(repro(o, context)));
    for (std::string line; std::getline(text, line);) text_out() << printable(line) << '\n';
  }
  outputs.write(json, [&](std::ostream& out) { out << run.to_json(); });
  outputs.write(html, [&](std::ostream& out) { out << run.to_html("mrc check " + o.files.front()); });
  return outputs.finish(exit_code(run.verdict(), o.strict));
}

void common_options(CLI::App& command, Options& options) {
  command.add_option("file", options.files, "logs (mrc cosim --record), captures (pcapng)")->type_name("FILE");
  text_option(command, "--profile", options.profile, "what the devices say of themselves (JSON, docs/log.md)");
  command.add_option("--device", options.devices, "judge this one alone: a name, or an own address")->type_name("NAME");
  command.add_option("--json", options.json, "the result as JSON, to a file or -")
      ->expected(0, 1)
      ->default_str("-")
      ->type_name("FILE");
  text_option(command, "--html", options.html, "the result as a page");
  command.add_flag("--strict", options.strict, "rules marked U, C or A that are broken count: exit code 1");
  command.add_option("--waive", options.waive, "findings of RULE do not count; why")->type_name("RULE=REASON");
}

}  // namespace

void register_check(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("check", "hold any NIC against the rules of MRC, by what was seen of it");
  command->footer(R"(
Examples:
  mrc check run.mrclog                          a log
  mrc check port.pcapng --profile nic.json      a capture taken at the ports of a NIC
  mrc check --rules                             what is held
Exit codes: 0 pass or deviates, 1 fail (--strict: deviates too), 3 the evidence is broken, 5 nothing to judge.)");
  common_options(*command, *options);
  command->add_flag("--rules", options->rules, "list the rules");
  command->callback([options, &context] { context.exit_code = check(*options, context); });

  auto again = std::make_shared<Options>();
  again->replay = true;
  CLI::App* replay = app.add_subcommand("replay", "run the checkers over a log, without RTL or Verilator");
  replay->footer(R"(
Examples:
  mrc cosim --preset tiny --scenario loss --record run.mrclog
  mrc replay run.mrclog)");
  common_options(*replay, *again);
  replay->callback([again, &context] { context.exit_code = check(*again, context); });
}

}  // namespace mrc::cli

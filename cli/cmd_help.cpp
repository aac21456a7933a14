// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/context.hpp"
#include "cli/manual.hpp"
#include "cli/output.hpp"
#include "cli/version.hpp"
#include "gen/fabric_profiles.hpp"
#include "gen/presets.hpp"
#include "input/names.hpp"
#include "sim/experiment/scenario.hpp"
#include "tb/environment/scenario.hpp"

namespace mrc::cli {
namespace help_command {
namespace {

std::string exit_codes() {
  std::string text = "Exit codes, of every command:\n";
  int code = 0;
  for (const char* meaning : kExitCodes) text += fmt::format("  {}  {}\n", code++, meaning);
  return text + "\ndocs/reference/outputs.md says when each comes, and what is left of a run that is stopped.\n";
}

std::string presets() {
  std::string text = fmt::format("Presets, the sizes of a NIC (--preset):\n  {:<14}", "");
  for (const Preset& preset : kPresets) text += fmt::format("{:>9}", preset.name);
  for (const PresetParameter& parameter : kPresetParameters) {
    text += fmt::format("\n  {:<14}", parameter.name);
    for (const Preset& preset : kPresets) text += fmt::format("{:>9}", preset.*parameter.member);
  }
  return text +
         "\n\ntiny builds and runs fastest and shows nearly every bug; cmodel/spec/presets.yaml says what each size "
         "is.\n";
}

std::string scenarios() {
  std::string text = "Scenarios of mrc cosim; its --scenario list adds the keys of a file of your own:\n";
  for (const tb::Scenario& s : tb::scenarios()) text += fmt::format("  {:<16} {}\n", s.name, s.description);
  text += "\nScenarios of mrc fabric; its --scenario list adds the keys:\n";
  for (const sim::ShippedScenario& s : sim::shipped_scenarios())
    text += fmt::format("  {:<16} {}\n", s.name, s.description);
  return text;
}

std::string profiles() {
  std::string text = "Profiles of fabrics (--fabric-profile): code points, queues, thresholds of switches and NICs\n";
  for (const FabricProfile& p : kFabricProfiles) text += fmt::format("  {:<16} {}\n", p.name, p.doc);
  return text + R"(
mrc fabric --fabric-profile list prints all of each. A profile of a device (--profile FILE of check, replay, cosim and
log import) is another thing: JSON in which a device says what it is. docs/reference/log.md has its keys.
)";
}

std::string environment() {
  return R"(Environment variables:
  MRC_ROOT          the source tree, for scripts, plans and scenarios; ./mrc sets it
  MRC_BUILD         the program that builds the RTL a command asks for (tools/build.sh); ./mrc sets it, empty: none
  MRC_EXE           the mrc that scripts call; mrc sets it for the scripts that it starts
  MRC_HOST          where mrc host listens and programs look for it (docs/guide/api.md)
  MRC_COVERAGE_DIR  where RTL of flavour coverage leaves its counts; mrc coverage sets it
  VERILATOR         the Verilator of mrc dut-template
  PATH              gnuplot, dumpcap, ip and Verilator are looked for there; mrc doctor says what it finds
)";
}

struct Topic {
  const char* name;
  std::string (*text)();
};
constexpr std::array kTopics{Topic{"exit-codes", exit_codes}, Topic{"presets", presets}, Topic{"scenarios", scenarios},
                             Topic{"profiles", profiles}, Topic{"environment", environment}};

struct Options {
  std::vector<std::string> topic;
  std::string man, completion, share;
};

/// What a script prints for --help; empty if it cannot run here.
std::string help_of(const std::filesystem::path& script, const std::string& word = {}) {
  const std::string call = "COLUMNS=400 '" + script.string() + "' " + word + " --help 2>/dev/null";
  std::string text;
  if (std::FILE* const pipe = ::popen(call.c_str(), "r")) {
    std::array<char, 4096> bytes{};
    while (const size_t n = std::fread(bytes.data(), 1, bytes.size(), pipe)) text.append(bytes.data(), n);
    if (::pclose(pipe) != 0) text.clear();
  }
  return text;
}

/// Options and examples of scripts, by what they say themselves.
void learn_scripts(Command& root, const Context& context) {
  for (Command& command : root.commands()) {
    if (command.script().empty()) continue;
    const auto script = context.root / command.script();
    learn(command, help_of(script));
    for (Command& below : command.commands()) learn(below, help_of(script, below.name()));
  }
}

std::string completion(const Command& root, std::string_view shell) {
  return shell == "bash" ? bash_completion(root) : shell == "zsh" ? zsh_completion(root) : fish_completion(root);
}

void write(const std::filesystem::path& path, const std::string& text) {
  Output file("help", path.string());
  file.stream() << text;
  file.commit();
}

void write_manual(const std::string& option, const Command& root, const std::filesystem::path& folder) {
  make_folder(option, folder.string());
  for (const Page& page : manual_pages(root, MRC_VERSION)) write(folder / (page.name + ".1"), page.text);
}

void write_share(const Command& root, const std::filesystem::path& share) {
  make_folder("--share", share.string());
  const auto into = [&share](const std::filesystem::path& below) {
    std::filesystem::path at = share;
    for (const auto& part : below) make_folder("--share", (at /= part).string());
    return at;
  };
  write_manual("--share", root, into("man/man1"));
  write(into("bash-completion/completions") / "mrc", bash_completion(root));
  write(into("zsh/site-functions") / "_mrc", zsh_completion(root));
  write(into("fish/vendor_completions.d") / "mrc.fish", fish_completion(root));
}

void show(const std::vector<std::string>& words, Command& root, const Context& context) {
  Command* command = &root;
  size_t depth = 0;
  while (depth < words.size() && command->script().empty()) {
    Command* const below = command->find(words[depth]);
    if (below == nullptr) break;
    command = below;
    ++depth;
  }
  if (!command->script().empty()) {
    std::vector<std::string> more(words.begin() + static_cast<std::ptrdiff_t>(depth), words.end());
    more.emplace_back("--help");
    become_script(context, command->script(), more);
  }
  if (depth == words.size()) {
    std::cout << CommandLine(root, {}).help(*command);
    return;
  }
  std::vector<std::string_view> known;
  for (const Command& below : command->commands()) known.emplace_back(below.name());
  if (depth == 0) {
    for (const Group& group : groups()) {
      if (words[0] == group.name) {
        std::cout << group.name << ": " << group.doc << '\n' << group_lines(root, group);
        return;
      }
      known.emplace_back(group.name);
    }
    for (const Topic& topic : kTopics) {
      if (words[0] == topic.name) {
        std::cout << topic.text();
        return;
      }
      known.emplace_back(topic.name);
    }
  }
  throw UsageError("unknown topic '" + words[depth] + "'" + input::did_you_mean(words[depth], known),
                   "See 'mrc help' for commands, groups and topics.");
}

}  // namespace
}  // namespace help_command

void register_help(Command& app, Context& context) {
  using namespace help_command;
  auto options = std::make_shared<Options>();
  Command& command = app.command("help", "about a command, a group or a topic; manual pages, completion");
  command.footer(R"(
Examples:
  mrc help                                 commands by group
  mrc help exit-codes                      also presets, scenarios, profiles, environment
  mrc help rtl                             a group
  mrc help bench nic                       a command, as mrc bench nic --help
  mrc help --completion bash >mrc.bash     then: source mrc.bash
  mrc help --man man1                      manual pages into that folder: man ./man1/mrc-cosim.1)");
  command.words("TOPIC", options->topic, "a command, a group, or exit-codes, presets, scenarios, profiles, environment")
      .such_as([] {
        std::vector<std::string> names;
        for (const Group& group : groups()) names.emplace_back(group.name);
        for (const Topic& topic : kTopics) names.emplace_back(topic.name);
        return names;
      }());
  command.text("--man", options->man, "write a manual page for each command into this folder").called("DIR");
  command.text("--completion", options->completion, "print what this shell reads to complete commands and options")
      .one_of({"bash", "zsh", "fish"});
  command.text("--share", options->share, "write all of these below this folder, as an installation has them")
      .called("DIR");
  command.action([options, &app, &context] {
    const Options& o = *options;
    if (!o.man.empty() || !o.completion.empty() || !o.share.empty()) learn_scripts(app, context);
    if (!o.man.empty()) write_manual("--man", app, o.man);
    if (!o.share.empty()) write_share(app, o.share);
    if (!o.completion.empty()) std::cout << completion(app, o.completion);
    if (o.man.empty() && o.completion.empty() && o.share.empty()) show(o.topic, app, context);
    context.exit_code = kPass;
  });
}

}  // namespace mrc::cli

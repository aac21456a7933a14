// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/context.hpp"
#include "cli/manual.hpp"
#include "input/names.hpp"

namespace mrc::cli {

struct CommandLine::Parser {
  Parser(Command& command, std::function<std::string()> version) : root(command), app(root.doc(), root.name()) {
    app.set_version_flag("--version", std::move(version), kVersionDoc);
    app.require_subcommand(0, 1);
    fill(root, app);
  }

  CLI::Option* added(Option& option, CLI::App& to) {
    if (option.is_flag) return to.add_flag(option.names, *option.flag, option.doc);
    if (option.words != nullptr) return to.add_option(option.names, *option.words, option.doc);
    return to.add_option_function<std::string>(option.names, option.take, option.doc);
  }

  void fill(Command& command, CLI::App& to) {
    apps[&command] = &to;
    to.footer(command.footer());
    for (Option& option : command.options()) {
      CLI::Option* const made = options[&option] = added(option, to);
      if (!option.value.empty()) made->type_name(option.value);
      if (!option.is_flag && option.words == nullptr) made->default_str(option.preset);
      if (option.is_required) made->required();
      if (option.is_optional) made->expected(0, 1);
      if (option.is_one_each) made->allow_extra_args(false);
      if (option.is_exclusive) made->check(CLI::IsMember(option.choices));
      if (!option.heading.empty()) made->group(option.heading);
    }
    for (Option& option : command.options()) {
      if (option.needed != nullptr) options[&option]->needs(options[option.needed]);
      if (option.excluded != nullptr) options[&option]->excludes(options[option.excluded]);
    }
    for (Command& below : command.commands()) fill(below, *to.add_subcommand(below.name(), below.doc()));
    if (&command != &root && !command.commands().empty()) to.require_subcommand(1);
  }

  /// The commands that were named, from the root on.
  std::vector<const Command*> path() const {
    if (handed_over != nullptr) return {&root, handed_over};
    std::vector<const Command*> named{&root};
    for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
      at = at->get_subcommands().front();
      for (const Command& below : named.back()->commands()) {
        if (below.name() != at->get_name()) continue;
        named.push_back(&below);
        break;
      }
    }
    return named;
  }

  Command& root;
  CLI::App app;
  std::map<const Command*, CLI::App*> apps;
  std::map<Option*, CLI::Option*> options;
  const Command* handed_over = nullptr;  ///< reads its words itself
};

CommandLine::CommandLine(Command& root, std::function<std::string()> version)
    : parser_(std::make_unique<Parser>(root, std::move(version))) {}

CommandLine::~CommandLine() = default;

const Command* CommandLine::parse(int argc, const char* const* argv) {
  Parser& p = *parser_;
  const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
  if (words.size() > 1 && words[1][0] != '-') {
    Command* const command = p.root.find(words[1]);
    if (command == nullptr) {
      std::vector<std::string_view> names;
      for (const Command& known : p.root.commands()) names.emplace_back(known.name());
      throw UsageError("unknown command '" + std::string(words[1]) + "'" + input::did_you_mean(words[1], names),
                       "See 'mrc --help'.");
    }
    if (command->first()) {
      p.handed_over = command;
      command->first()({words.begin() + 2, words.end()});
      p.handed_over = nullptr;
    }
  }
  try {
    p.app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << help(*p.path().back());
    return nullptr;
  } catch (const CLI::Success& version) {
    p.app.exit(version);
    return nullptr;
  } catch (const CLI::ParseError& error) {
    throw UsageError(with_full_stop(error.what()), "See '" + name() + " --help'.");
  }
  const Command* const chosen = p.path().back();
  if (chosen == &p.root) throw UsageError("no command given.", "See 'mrc --help'.");
  for (const auto& [option, read] : p.options) option->count = read->count();
  return chosen;
}

std::string CommandLine::name() const {
  std::string words;
  for (const Command* command : parser_->path()) words += (words.empty() ? "" : " ") + command->name();
  return words;
}

std::string CommandLine::help(const Command& command) const {
  if (command.own_help()) return command.own_help()();
  const CLI::App* const app = parser_->apps.at(&command);
  std::string above;
  for (const CLI::App* at = app->get_parent(); at != nullptr; at = at->get_parent())
    above.insert(0, at->get_name() + (above.empty() ? "" : " "));
  return app->help(above);
}

}  // namespace mrc::cli

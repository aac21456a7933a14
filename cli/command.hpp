// SPDX-License-Identifier: Apache-2.0
/// What commands take, as data: command lines are read by it (command_line.hpp), --help, manual pages and completion
/// are written from it (manual.hpp).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mrc::cli {

inline constexpr uint64_t kAnySeed = std::numeric_limits<uint64_t>::max();

/// An option; a positional argument when its name has no dashes. Commands make them, the functions say more of them.
struct Option {
  std::string names;                      ///< "-o,--output", "FILE"
  std::string doc;                        ///< as --help shows it
  std::string value = {};                 ///< what --help calls the value; "": TEXT
  std::string preset = {};                ///< the default that --help shows; a value that is left out
  std::string heading = {};               ///< over it in --help; "": Options
  std::vector<std::string> choices = {};  ///< values that completion offers
  bool is_flag = false;                   ///< has no value
  bool is_required = false;
  bool is_optional = false;   ///< its value may be left out
  bool is_one_each = false;   ///< takes one word each time it is named
  bool is_exclusive = false;  ///< `choices` are all that there is
  Option* needed = nullptr;
  Option* excluded = nullptr;

  bool* flag = nullptr;                               ///< where a flag goes,
  std::vector<std::string>* words = nullptr;          ///< or every value of a list,
  std::function<void(const std::string&)> take = {};  ///< or one value
  std::size_t count = 0;                              ///< how often the command line has it

  bool positional() const { return !names.starts_with('-'); }

  Option& required();
  /// What --help calls its value: "FILE".
  Option& called(std::string name);
  /// The default in --help.
  Option& shows(std::string text);
  /// The value may be left out; it is `implied` then.
  Option& optional(std::string implied);
  Option& one_each();
  Option& one_of(std::vector<std::string> values);
  /// Completion offers these; others are taken, too.
  Option& such_as(std::vector<std::string> values);
  Option& under(std::string title);
  Option& needs(Option& other);
  Option& excludes(Option& other);
};

/// A command with its options, or the commands below it. References to both stay good as long as it lives.
class Command {
 public:
  Command(std::string name, std::string doc) : name_(std::move(name)), doc_(std::move(doc)) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// A command below this one, with its footer until it gets another.
  Command& command(const std::string& name, const std::string& doc);

  Option& flag(const std::string& names, bool& to, const std::string& doc);
  /// `take` gets what was written, and may throw UsageError.
  Option& value(const std::string& names, std::function<void(const std::string&)> take, const std::string& doc);
  /// A text that may not be empty: a name, a file. Its value before is the default.
  Option& text(const std::string& names, std::string& to, const std::string& doc);
  /// Any number of texts.
  Option& words(const std::string& names, std::vector<std::string>& to, const std::string& doc);
  /// A whole number from min to max, as written. Its value before is the default, if it has one.
  template <class T>
  requires std::unsigned_integral<T> || std::same_as<T, std::optional<uint64_t>> Option& number(
      const std::string& names, T& to, uint64_t min, uint64_t max, const std::string& doc) {
    Option& option = whole(
        names, [&to](uint64_t value) { to = static_cast<T>(value); }, min, max, doc);
    if constexpr (std::unsigned_integral<T>) option.preset = std::to_string(to);
    return option;
  }
  /// A number from min to max. Its value before is the default.
  Option& real(const std::string& names, double& to, double min, double max, const std::string& doc);

  /// What stands below the options in --help: examples, first of all.
  void footer(std::string text) { footer_ = std::move(text); }
  /// What it does once its options have their values.
  void action(std::function<void()> what) { action_ = std::move(what); }
  /// Gets the words behind its name as they are. If it returns, they are read as usual.
  void first(std::function<void(const std::vector<std::string>&)> what) { first_ = std::move(what); }
  /// Its --help, instead of a list of options.
  void own_help(std::function<std::string()> text) { own_help_ = std::move(text); }
  /// A script of the source tree does it, and has words of its own for --help.
  void script(std::string path) { script_ = std::move(path); }

  const std::string& name() const { return name_; }
  const std::string& doc() const { return doc_; }
  const std::string& footer() const { return footer_; }
  const std::string& script() const { return script_; }
  const std::function<void()>& action() const { return action_; }
  const std::function<void(const std::vector<std::string>&)>& first() const { return first_; }
  const std::function<std::string()>& own_help() const { return own_help_; }
  const std::list<Option>& options() const { return options_; }
  std::list<Option>& options() { return options_; }
  const std::list<Command>& commands() const { return commands_; }
  std::list<Command>& commands() { return commands_; }
  /// Null: none of that name.
  Command* find(std::string_view name);
  /// How often the command line has the option of that name.
  std::size_t count(std::string_view name) const;

 private:
  Option& add(Option option);
  Option& whole(const std::string& names, std::function<void(uint64_t)> to, uint64_t min, uint64_t max,
                const std::string& doc);

  std::string name_, doc_, footer_, script_;
  std::list<Option> options_;
  std::list<Command> commands_;
  std::function<void()> action_;
  std::function<void(const std::vector<std::string>&)> first_;
  std::function<std::string()> own_help_;
};

/// Throws UsageError when both were given.
void exclude(const Command& command, const std::string& one, const std::string& other, const std::string& why);

}  // namespace mrc::cli

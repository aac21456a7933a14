// SPDX-License-Identifier: Apache-2.0
/// Reads command lines. Nothing but its source knows CLI11.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/command.hpp"

namespace mrc::cli {

class CommandLine {
 public:
  /// `root` is "mrc" with all its commands, `version` what --version prints.
  CommandLine(Command& root, std::function<std::string()> version);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  /// Gives all options their values and returns the command to run; null: --help or --version has been answered.
  /// Throws UsageError, and what the command's options throw.
  const Command* parse(int argc, const char* const* argv);
  /// "mrc log print" while that is read or run: as far as the words have led.
  std::string name() const;
  /// --help of a command.
  std::string help(const Command& command) const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace mrc::cli

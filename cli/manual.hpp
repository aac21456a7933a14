// SPDX-License-Identifier: Apache-2.0
/// What is written from the declarations of commands, besides --help of each: the overview, manual pages, completion.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace mrc::cli {

/// Commands with one purpose; each command of mrc is in exactly one group.
struct Group {
  const char *name, *doc;
  std::vector<const char*> commands;
};
std::span<const Group> groups();

/// What --version of mrc is for.
inline constexpr const char* kVersionDoc = "print what this was built from";

/// A line for each command of a group.
std::string group_lines(const Command& root, const Group& group);
/// What `mrc --help` prints: the groups, on one screen.
std::string overview(const Command& root);

/// Gives a command whose words are a script's the options and commands that its --help has, as argparse writes it.
void learn(Command& command, const std::string& help);

struct Page {
  std::string name, text;  ///< "mrc-bench-nic", roff
};
/// A page for each command, mrc itself first.
std::vector<Page> manual_pages(const Command& root, const std::string& version);

/// The source that bash, zsh or fish read.
std::string bash_completion(const Command& root);
std::string zsh_completion(const Command& root);
std::string fish_completion(const Command& root);

}  // namespace mrc::cli

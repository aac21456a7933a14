// SPDX-License-Identifier: Apache-2.0
/// Programs that hold a device for us.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace mrc::tb {

/// Starts a program with our environment and stderr, and no other file of ours than `in` and `out`; either below 0: it
/// reads nothing, writes to stderr. Signals are as new, and Ctrl-C of the terminal is for us: it has a process group of
/// its own. Returns errno of what failed.
int spawn(const std::vector<std::string>& words, int in, int out, pid_t& pid);

}  // namespace mrc::tb

// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C, SIGTERM and SIGHUP end a run, not the program; a second one ends the program, and takes unfinished files
/// with it.
#pragma once

#include <atomic>
#include <filesystem>

namespace mrc::cli {

/// Set by the first signal while a StopOnSignal lives, and by whoever finds that nobody reads the results.
extern std::atomic<bool> g_stop;

/// Once, at the start of the program. A closed pipe and a file at its size limit are errors of a write from then on,
/// not signals.
void install_signals();

/// Removes the files that an Unfinished stands for: the program ends without unwinding.
void remove_unfinished();

/// While this lives, the first signal sets g_stop.
class StopOnSignal {
 public:
  StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  ~StopOnSignal();
};

/// A file that disappears when a signal ends the program. At most 64 at a time; the 65th stays.
class Unfinished {
 public:
  explicit Unfinished(const std::filesystem::path& path);
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished();

 private:
  int slot_ = -1;
};

}  // namespace mrc::cli

// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C ends a run, not the program.
#pragma once

#include <atomic>
#include <csignal>

namespace mrc::cli {

inline std::atomic<bool> g_stop{false};  // set by the signal handler: the only thing it may touch
inline void on_signal(int) { g_stop.store(true, std::memory_order_relaxed); }

/// Ctrl-C while this lives ends the run, not the program.
class StopOnSignal {
 public:
  StopOnSignal() {
    g_stop = false;
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second Ctrl-C ends the program
    sigaction(SIGINT, &action, &old_int_);
    sigaction(SIGTERM, &action, &old_term_);
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  ~StopOnSignal() {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
  }

 private:
  struct sigaction old_int_ {
  }, old_term_{};
};

}  // namespace mrc::cli

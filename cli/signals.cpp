// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.hpp"

#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <cstring>
#include <string>

namespace mrc::cli {

std::atomic<bool> g_stop{false};

namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

// Everything the handler touches.
std::atomic<int> g_runs{0};
std::atomic<pid_t> g_process{0};
struct Slot {
  std::atomic<bool> taken{false}, named{false};
  char path[PATH_MAX];
};
std::array<Slot, 64> g_unfinished;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

}  // namespace

void remove_unfinished() {
  if (::getpid() != g_process.load()) return;  // copies of the process leave the files to it
  for (const Slot& slot : g_unfinished) {
    if (slot.named.load()) ::unlink(slot.path);
  }
}

namespace {

void on_signal(int signal) {
  if (g_runs.load() > 0 && !g_stop.exchange(true)) {
    static constexpr char kHint[] = "\nstopping: the results so far follow; once more ends at once\n";
    if (signal == SIGINT && ::isatty(STDERR_FILENO) == 1) {
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kHint, sizeof kHint - 1);
    }
    return;
  }
  remove_unfinished();
  std::signal(signal, SIG_DFL);
  ::raise(signal);  // delivered when this handler returns
}

}  // namespace

void install_signals() {
  g_process = ::getpid();
  for (const int ignored : {SIGPIPE, SIGXFSZ}) std::signal(ignored, SIG_IGN);
  for (const int number : kSignals) {
    struct sigaction old {};
    sigaction(number, nullptr, &old);
    if (number == SIGHUP && old.sa_handler == SIG_IGN) continue;  // nohup
    struct sigaction action {};
    action.sa_handler = on_signal;  // no SA_RESTART: who waits for the reader of a pipe learns of it
    sigaction(number, &action, nullptr);
  }
}

StopOnSignal::StopOnSignal() {
  if (g_runs++ == 0) g_stop = false;
}
StopOnSignal::~StopOnSignal() { --g_runs; }

Unfinished::Unfinished(const std::filesystem::path& path) {
  const std::string& name = path.native();
  for (size_t i = 0; i < g_unfinished.size(); ++i) {
    Slot& slot = g_unfinished[i];
    if (name.size() >= sizeof slot.path || slot.taken.exchange(true)) continue;
    std::memcpy(slot.path, name.c_str(), name.size() + 1);
    slot.named = true;
    slot_ = static_cast<int>(i);
    return;
  }
}

Unfinished::~Unfinished() {
  if (slot_ < 0) return;
  Slot& slot = g_unfinished[static_cast<size_t>(slot_)];
  slot.named = false;
  slot.taken = false;
}

}  // namespace mrc::cli

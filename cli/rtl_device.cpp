// SPDX-License-Identifier: Apache-2.0
#include "cli/rtl_device.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

namespace mrc::cli {
namespace {

/// Runs a program to its end; true: its exit code was 0. Signals that would end us in the meantime are handed to it: it
/// says what there is to say and ends, and so do we then.
bool run_to_end(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);

  sigset_t ours, before;
  sigemptyset(&ours);
  for (const int signal : std::array{SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&ours, signal);
  pthread_sigmask(SIG_BLOCK, &ours, &before);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &before);
  pid_t child = 0;
  int status = posix_spawn(&child, argv[0], nullptr, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (status == 0) {
    while (::waitpid(child, &status, WNOHANG) == 0) {
      const int signal = sigwaitinfo(&ours, nullptr);
      if (signal > 0 && signal != SIGCHLD) ::kill(child, signal);
    }
  } else {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw UsageError("cannot run " + words[0] + ", which MRC_BUILD names.", "Call ./mrc, or unset MRC_BUILD.");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// What its file and its target have behind the name of the preset.
const char* suffix_of(Flavour flavour) {
  return flavour == Flavour::Asserted ? "_asserted" : flavour == Flavour::Stalled ? "_stalled" : "";
}

std::filesystem::path file_of(const Preset& preset, Flavour flavour = Flavour::Fast) {
  return std::string("libmrc_dut_rtl_") + preset.name + suffix_of(flavour) + ".so";
}

}  // namespace

std::filesystem::path rtl_device(const Preset& preset, Flavour flavour, const Context& context) {
  if (context.builder.empty()) return context.lib_dir / file_of(preset, flavour);
  const std::string build = flavour == Flavour::Wave ? "wave" : "fast";
  const std::string target = std::string(preset.name) + suffix_of(flavour);
  if (!context.built.contains({build, target})) {
    if (!run_to_end({context.builder.string(), build, target})) throw ReportedAlready();
    context.built.insert({build, target});
  }
  return flavour == Flavour::Wave ? wave_device(preset, context) : context.lib_dir / file_of(preset, flavour);
}

std::filesystem::path own_program(const std::string& target, const std::string& file, const Context& context) {
  if (!context.builder.empty() && !run_to_end({context.builder.string(), "fast", target})) throw ReportedAlready();
  return context.lib_dir / file;
}

bool has_rtl(const Preset& preset, const Context& context) {
  std::error_code ignored;
  return !context.builder.empty() || std::filesystem::exists(context.lib_dir / file_of(preset), ignored);
}

std::filesystem::path wave_device(const Preset& preset, const Context& context) {
  return (context.root / "build" / "wave" / "bin" / MRC_DUT_DIR / file_of(preset)).lexically_normal();
}

}  // namespace mrc::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <random>
#include <string>

#include "cli/command_line.hpp"
#include "cli/context.hpp"
#include "cli/manual.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/version.hpp"

namespace mrc::cli {
// One function per cli/cmd_<name>.cpp: adds its subcommand and sets its callback.
void register_decode(Command& app, Context& context);
void register_encode(Command& app, Context& context);
void register_dut_template(Command& app, Context& context);
void register_cosim(Command& app, Context& context);
void register_nscc(Command& app, Context& context);
void register_bench(Command& app, Context& context);
void register_mutate(Command& app, Context& context);
void register_profile(Command& app, Context& context);
void register_topo(Command& app, Context& context);
void register_fabric(Command& app, Context& context);
void register_host(Command& app, Context& context);
void register_nic(Command& app, Context& context);
void register_ports(Command& app, Context& context);
void register_check(Command& app, Context& context);
void register_replay_pins(Command& app, Context& context);
void register_rule_coverage(Command& app, Context& context);
void register_log(Command& app, Context& context);
void register_picture(Command& app, Context& context);
void register_tools(Command& app, Context& context);
void register_help(Command& app, Context& context);
}  // namespace mrc::cli

namespace {

using mrc::cli::Command;
using mrc::cli::CommandLine;
using mrc::cli::Context;
using mrc::cli::UsageError;
using mrc::cli::with_full_stop;

/// The shared objects are found from where the executable stands, in the build tree and installed.
std::filesystem::path executable_folder() {
  std::error_code error;
  auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path{"."} : self.parent_path();
}

int complain(const std::string& command, const std::string& sentence, const std::string& remedy,
             int code = mrc::cli::kUsage) {
  std::cerr << command << ": " << sentence << "\n  " << remedy << '\n';
  return code;
}

/// Eight hexadecimal digits that two runs do not share: in every file of a run.
std::string new_run_id() {
  std::random_device random;
  return fmt::format("{:08x}", random());
}

int run(int argc, char** argv) {
  Context context;
  const char* root = std::getenv("MRC_ROOT");
  std::error_code ignored;
  context.root = root ? root : std::filesystem::weakly_canonical(executable_folder() / MRC_DATA_DIR, ignored);
  context.lib_dir = executable_folder() / MRC_DUT_DIR;
  if (const char* builder = std::getenv("MRC_BUILD")) context.builder = builder;
  context.program = root ? "./mrc" : argv[0];
  context.run_id = new_run_id();

  Command app("mrc", "mrc: golden model, RTL and lockstep bench of a multipath RDMA NIC (MRC 1.0)");
  mrc::cli::register_cosim(app, context);
  mrc::cli::register_decode(app, context);
  mrc::cli::register_encode(app, context);
  mrc::cli::register_dut_template(app, context);
  mrc::cli::register_nscc(app, context);
  mrc::cli::register_bench(app, context);
  mrc::cli::register_profile(app, context);
  mrc::cli::register_topo(app, context);
  mrc::cli::register_fabric(app, context);
  mrc::cli::register_host(app, context);
  mrc::cli::register_nic(app, context);
  mrc::cli::register_ports(app, context);
  mrc::cli::register_mutate(app, context);
  mrc::cli::register_check(app, context);
  mrc::cli::register_replay_pins(app, context);
  mrc::cli::register_rule_coverage(app, context);
  mrc::cli::register_log(app, context);
  mrc::cli::register_picture(app, context);
  mrc::cli::register_tools(app, context);
  mrc::cli::register_help(app, context);
  app.own_help([&app] { return mrc::cli::overview(app); });
  CommandLine line(app, [&context] { return mrc::cli::version_text(context); });
  try {
    if (const Command* command = line.parse(argc, argv)) command->action()();
    return context.exit_code;
  } catch (const mrc::cli::ReportedAlready&) {
    return mrc::cli::kUsage;
  } catch (const mrc::cli::Unsupported& error) {
    return complain(line.name(), error.what(), error.remedy, mrc::cli::kUnsupported);
  } catch (const UsageError& error) {
    return complain(line.name(), error.what(), error.remedy);
  } catch (const std::bad_alloc&) {
    return complain(line.name(), "there is not enough memory.",
                    "Request less (fewer NICs, packets, bytes of input), raise the limit (ulimit -v), or use a larger "
                    "machine.");
  } catch (const std::exception& error) {
    return complain(line.name(), std::string("unexpected error: ") + error.what() + ".",
                    "Please report this with the command line you used.");
  }
}

}  // namespace

int main(int argc, char** argv) try {
  mrc::cli::install_signals();
  mrc::cli::install_stdout();
  const int code = run(argc, argv);
  // A reader that closes a pipe has what it wanted; everything else that keeps a result from getting out is told.
  const int why = mrc::cli::flush_stdout();
  if (why == 0 || why == EPIPE) return code;
  complain("mrc", "cannot write standard output: " + std::string(std::strerror(why)) + ".",
           why == EBADF ? "Give it a standard output." : "Free some space, or send it elsewhere.");
  return code == mrc::cli::kPass ? mrc::cli::kUsage : code;
} catch (...) {  // run() tells its own; what is left is memory for these words
  std::fputs("mrc: there is not enough memory.\n  Raise the limit (ulimit -v), or use a larger machine.\n", stderr);
  return mrc::cli::kUsage;
}

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <random>
#include <string>

#include "cli/context.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/version.hpp"

namespace mrc::cli {
// One function per cli/cmd_<name>.cpp: adds its subcommand and sets its callback.
void register_decode(CLI::App& app, Context& context);
void register_encode(CLI::App& app, Context& context);
void register_dut_template(CLI::App& app, Context& context);
void register_cosim(CLI::App& app, Context& context);
void register_nscc(CLI::App& app, Context& context);
void register_bench(CLI::App& app, Context& context);
void register_mutate(CLI::App& app, Context& context);
void register_topo(CLI::App& app, Context& context);
void register_fabric(CLI::App& app, Context& context);
void register_nic(CLI::App& app, Context& context);
void register_ports(CLI::App& app, Context& context);
void register_check(CLI::App& app, Context& context);
void register_replay_pins(CLI::App& app, Context& context);
void register_rule_coverage(CLI::App& app, Context& context);
void register_log(CLI::App& app, Context& context);
void register_picture(CLI::App& app, Context& context);
void register_tools(CLI::App& app, Context& context);
}  // namespace mrc::cli

namespace {

using mrc::cli::Context;
using mrc::cli::UsageError;
using mrc::cli::with_full_stop;

constexpr const char* kExamples = R"(
Examples:
  mrc cosim                                 model and RTL in lockstep, scenario mixed, asic800
  mrc cosim --preset tiny --scenario loss --seed 7
  mrc decode capture.pcapng                 every header of every packet
  mrc decode --hex 02000000... --json
  mrc encode packets.json --pcapng out.pcapng
  mrc nscc events.csv                       the congestion controller alone, on a list of events
  mrc fabric --scenario incast              NICs in a network of switches that trim
  mrc log print run.mrclog                  what NICs did, from mrc cosim --record run.mrclog
  mrc picture run.mrclog --out pictures     PSNs, entropy values, windows, a message's ladder as SVG
  mrc topo net.toml --svg net.svg           check and draw a topology
  mrc nic --endpoint model --preset tiny    a NIC that a tester drives by JSON lines
  mrc dut-template ../my-nic --top my_nic rtl/*.sv   a project that puts your NIC behind mrc_nic.h
  mrc vectors run --device "mrc ports"      the same NIC behind real ports, in namespaces of its own
  mrc bench cosim                           speed of model, RTL and lockstep
  mrc check run.mrclog                      any NIC against the rules of MRC, by what was seen of it
  mrc replay-pins board.mrcx --preset tiny  what a board has recorded, done again by the model
  mrc lint                                  Verilator, slang and yosys over the RTL
  mrc export-verilog --preset tiny -o out   plain Verilog for other tools
  mrc state --preset asic800                bits of state per QP, packet in flight, EV, ...
  mrc depth --block mrc_tx_path             the block's longest paths in two-input gates
  mrc prove --only mrc_fifo                 properties of the RTL, each with a cover and a bug
  mrc gates --blocks rx_check               a block as gates in the place of its RTL, in lockstep with the model
  mrc fpga report --config tiny             what every block costs on UltraScale+
  mrc coverage                              lines of RTL and model that runs and tests reach
  mrc vectors run --device "./mynic"        the vectors against any NIC that is a process
  mrc script lint my.mrc                    a script of one's own, held against legal devices
  mrc regress smoke                         a plan of everything, in two minutes
  mrc test --house                          the tests that protect the house; without --house, a user
)";

/// The examples and the table of exit codes.
std::string footer() {
  std::string text = std::string(kExamples) + "\nExit codes, of every command:\n";
  int code = 0;
  for (const char* meaning : mrc::cli::kExitCodes) text += fmt::format("  {}  {}\n", code++, meaning);
  return text;
}

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

bool has_command(const CLI::App& app, const std::string& name) {
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->check_name(name)) return true;
  }
  return false;
}

/// "mrc decode" while decode is being parsed or run, "mrc" otherwise.
std::string command_name(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* sub : app.get_subcommands()) name += " " + command_name(*sub);
  return name;
}

/// Eight hexadecimal digits that two runs do not share: in every file of a run.
std::string new_run_id() {
  std::random_device random;
  return fmt::format("{:08x}", random());
}

int run(int argc, char** argv) {
  Context context;
  const char* root = std::getenv("MRC_ROOT");
  context.root = root ? root : MRC_SOURCE_DIR;
  context.lib_dir = executable_folder() / MRC_DUT_DIR;
  if (const char* builder = std::getenv("MRC_BUILD")) context.builder = builder;
  context.program = root ? "./mrc" : argv[0];
  context.run_id = new_run_id();

  CLI::App app{"mrc: golden model, RTL and lockstep bench of a multipath RDMA NIC (MRC 1.0)", "mrc"};
  app.set_version_flag("--version", mrc::cli::version_text(), "print the versions of mrcnic and its tools");
  app.require_subcommand(0, 1);
  mrc::cli::register_cosim(app, context);
  mrc::cli::register_decode(app, context);
  mrc::cli::register_encode(app, context);
  mrc::cli::register_dut_template(app, context);
  mrc::cli::register_nscc(app, context);
  mrc::cli::register_bench(app, context);
  mrc::cli::register_topo(app, context);
  mrc::cli::register_fabric(app, context);
  mrc::cli::register_nic(app, context);
  mrc::cli::register_ports(app, context);
  mrc::cli::register_mutate(app, context);
  mrc::cli::register_check(app, context);
  mrc::cli::register_replay_pins(app, context);
  mrc::cli::register_rule_coverage(app, context);
  mrc::cli::register_log(app, context);
  mrc::cli::register_picture(app, context);
  mrc::cli::register_tools(app, context);
  app.footer(footer());  // after the commands, which would inherit it

  if (argc > 1 && argv[1][0] != '-' && !has_command(app, argv[1])) {
    return complain("mrc", "unknown command '" + std::string(argv[1]) + "'.", "See 'mrc --help'.");
  }
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) return complain("mrc", "no command given.", "See 'mrc --help'.");
    return context.exit_code;
  } catch (const CLI::Success& help) {  // --help, --version
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    const std::string name = command_name(app);
    return complain(name, with_full_stop(error.what()), "See '" + name + " --help'.");
  } catch (const mrc::cli::ToldAlready&) {
    return mrc::cli::kUsage;
  } catch (const mrc::cli::Unsupported& error) {
    return complain(command_name(app), error.what(), error.remedy, mrc::cli::kUnsupported);
  } catch (const UsageError& error) {
    return complain(command_name(app), error.what(), error.remedy);
  } catch (const std::bad_alloc&) {
    return complain(command_name(app), "there is not enough memory.",
                    "Ask for less (fewer NICs, packets, bytes of input), raise the limit (ulimit -v), or use a larger "
                    "machine.");
  } catch (const std::exception& error) {
    return complain(command_name(app), std::string("unexpected error: ") + error.what() + ".",
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

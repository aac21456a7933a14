// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/dut_options.hpp"
#include "cli/line_server.hpp"
#include "cli/nic_device.hpp"
#include "cli/output.hpp"
#include "cli/port_options.hpp"
#include "tb/device/library_device.hpp"
#include "tb/device/lines.hpp"

namespace mrc::cli {
namespace nic_command {
namespace {

struct Options {
  std::string endpoint = "model", preset = "tiny", bug, library;
  PortOptions ports;
};

int run(const Options& o, const Context& context) {
  std::unique_ptr<tb::NicDevice> device;
  try {
    device = o.library.empty() ? nic_device(o.endpoint, preset_from(o.preset), o.bug, context)
                               : tb::load_device(o.library, o.preset);
  } catch (const tb::Refusal& refusal) {
    const std::string remedy = "Name a shared object with the functions of cmodel/api/mrc_nic.h.";
    if (refusal.unsupported) throw Unsupported(refusal.what(), remedy);
    throw UsageError(refusal.what(), remedy);
  }
  if (!o.ports.ports.empty()) return serve_ports(std::move(device), o.ports);
  return serve_lines(*device, nullptr);
}

}  // namespace
}  // namespace nic_command

void register_nic(Command& app, Context& context) {
  using namespace nic_command;
  auto options = std::make_shared<Options>();
  Command& command = app.command("nic", "a NIC that a tester drives: JSON lines on stdin and stdout");
  command.footer(R"(
The calls and their answers: docs/reference/device.md. The tester owns time, wire and host memory.

Examples:
  mrc nic --endpoint model --preset tiny                      the cycle-accurate model
  mrc nic --endpoint rtl --preset fpga100                     our RTL
  mrc nic --endpoint fast                                     the protocol alone, without a clock
  mrc nic --endpoint rtl --rtl-bug icrc-mask                  RTL that makes an error
  mrc nic --library ./libmynic.so                             a NIC of yours behind mrc_nic.h
  mrc nic --endpoint fast --port 0=eth5 --port 1=eth6         behind interfaces (docs/guide/ports.md); needs root
  echo '{"call":"open","version":1}' | mrc nic                what it says of itself)");
  command.text("--endpoint", options->endpoint, "model, rtl, or fast").one_of({"model", "rtl", "fast"});
  command.text("--preset", options->preset, "sizes of the NIC: asic800, fpga100, tiny").such_as(names_of(kPresets));
  command.text("--library", options->library,
               "a NIC that is a shared object with the functions of cmodel/api/mrc_nic.h, instead of --endpoint");
  command.text("--rtl-bug", options->bug, "let the RTL make an error: a name of 'mrc cosim --rtl-bug list'");
  add_port_options(command, options->ports);
  command.action([options, &command, &context] {
    exclude(command, "--library", "--endpoint", "one NIC answers");
    exclude(command, "--library", "--rtl-bug", "the RTL makes errors, not a library");
    context.exit_code = run(*options, context);
  });
}

}  // namespace mrc::cli

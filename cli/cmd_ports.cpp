// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/dut_options.hpp"
#include "cli/lab.hpp"
#include "cli/line_server.hpp"
#include "cli/port_options.hpp"
#include "tb/device/remote_device.hpp"
#include "tb/ports/ports_tester.hpp"

namespace mrc::cli {
namespace ports_command {
namespace {

struct Options {
  PortOptions ports;
  std::string dut, endpoint = "fast", preset = "asic800", bug, capture;
  std::optional<uint64_t> planes;
};

int serve(const std::string& nic, const PortOptions& options) {
  auto ports = open_ports(options);
  try {
    const tb::RemoteOptions remote{60, &g_stop};
    auto behind = tb::is_address(nic) ? tb::connect_device(nic, remote) : tb::start_device(nic, remote);
    request_priority();
    tb::PortsTester tester(std::move(behind), std::move(ports), options.time());
    return serve_lines(tester, nullptr);
  } catch (const tb::PortError& error) {
    throw UsageError(error.what(), error.remedy);
  } catch (const tb::DeviceGone& gone) {
    throw UsageError(gone.what(), "docs/guide/ports.md says what the NIC behind the ports has to answer.");
  }
}

int tester(const Options& o) {
  if (o.ports.ports.empty())
    throw UsageError("no port is named.", "Say which interface is which plane: --port 0=eth1 --port 1=eth2");
  return serve(o.dut, o.ports);
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

int lab(const Options& o) {
  const Preset& preset = preset_from(o.preset);
  Lab lab(static_cast<unsigned>(o.planes.value_or(preset.num_planes)));
  if (!o.capture.empty()) lab.capture(o.capture);
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  PortOptions here = o.ports;
  here.ports = lab.tester_ports();
  const std::string nic =
      fmt::format("exec {} {} nic --endpoint {} --preset {}{} {}{}", lab.there(), quoted(self.string()), o.endpoint,
                  o.preset, o.bug.empty() ? "" : " --rtl-bug " + quoted(o.bug), here.words(), lab.nic_ports());
  const int code = serve(nic, here);
  lab.end_capture();
  return code;
}

}  // namespace
}  // namespace ports_command

void register_ports(Command& app, Context& context) {
  using namespace ports_command;
  auto options = std::make_shared<Options>();
  Command& one = app.command("tester", "a NIC behind network interfaces, as a device for scripts and runs");
  one.footer(R"(
Frames go over the interfaces (packet sockets: root, or CAP_NET_RAW), calls over the lines of
docs/reference/device.md to the NIC behind them, which is 'mrc nic --port' or something that speaks the same
(docs/guide/ports.md). To whoever starts it the two are one device on stdin and stdout. Nothing is sent on an interface
that is not named.

Examples:
  mrc tester --port 0=eth1 --port 1=eth2 --dut "ssh board mrc nic --port 0=eth5 --port 1=eth6"
  mrc vectors run --device "mrc tester --port 0=eth1 --dut tcp:board:7000"
  mrc cosim --level L2 --preset tiny --dut "mrc tester --port 0=eth1 --port 1=eth2 --dut unix:/run/nic")");
  one.text("--dut", options->dut, "command of the NIC behind the ports, or tcp:HOST:PORT, unix:PATH").required();
  add_port_options(one, options->ports);
  one.action([options, &context] { context.exit_code = tester(*options); });

  auto there = std::make_shared<Options>();
  Command& two = app.command("ports", "one of our NICs behind real ports, in network namespaces of its own");
  two.footer(R"(
Makes two network namespaces and a veth pair for each plane. Our NIC is a process in one, the tester is in the other. It
does what 'mrc tester' and 'mrc nic --port' do with the interfaces of a machine, without touching those. Needs root, or
a kernel that lets users have namespaces. However the command ends, it leaves nothing behind.

Examples:
  mrc vectors run --wall 600 --answer-seconds 60 --device "mrc ports"
  mrc cosim --level L2 --scenario mixed --packets 10000 --dut "mrc ports --slow 20000 --capture run.pcapng"
  mrc ports --endpoint model --preset tiny < calls.txt)");
  two.text("--endpoint", there->endpoint, "model, rtl, or fast").one_of({"model", "rtl", "fast"});
  two.text("--preset", there->preset, "sizes of the NIC: asic800, fpga100, tiny").such_as(names_of(kPresets));
  two.text("--rtl-bug", there->bug, "let the RTL make an error: a name of 'mrc cosim --rtl-bug list'");
  two.number("--planes", there->planes, 1, 8, "number of planes; those of the preset by default");
  two.text("--capture", there->capture, "capture the NIC's ports with dumpcap, to this file (pcapng)");
  add_time_options(two, there->ports);
  two.action([there, &context] { context.exit_code = lab(*there); });
}

}  // namespace mrc::cli

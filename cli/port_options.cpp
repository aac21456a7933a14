// SPDX-License-Identifier: Apache-2.0
#include "cli/port_options.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>

#include <utility>

#include "cli/command.hpp"
#include "cli/line_server.hpp"
#include "input/names.hpp"
#include "input/number.hpp"

namespace mrc::cli {

tb::WallTime PortOptions::time() const {
  tb::WallTime time{slow, 0};
  time.jitter = time.of_ns(static_cast<uint64_t>(late_ms * 1e6));
  return time;
}

std::string PortOptions::words() const { return fmt::format("--slow {} --late {:g}", slow, late_ms); }

void add_time_options(Command& command, PortOptions& o) {
  command.number("--slow", o.slow, 1, 1'000'000, "ns of the wall for one ns of the NIC; both sides the same");
  command.real("--late", o.late_ms, 0.01, 10'000,
               "largest delay of software around the NIC, in ms of the wall; more counts as a broken test bed");
}

void add_port_options(Command& command, PortOptions& o) {
  command.words("--port", o.ports, "plane and its network interface; each plane once, from 0 on").called("PLANE=IF");
  add_time_options(command, o);
}

std::unique_ptr<tb::PacketPorts> open_ports(const PortOptions& o) {
  constexpr size_t kMost = 8;
  std::vector<std::string> names(o.ports.size());
  if (names.size() > kMost)
    throw UsageError(fmt::format("{} ports are named; a NIC has at most {}.", names.size(), kMost),
                     "Name one interface for each plane.");
  for (const std::string& text : o.ports) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size())
      throw UsageError("--port " + input::shown(text) + " names no plane and interface.", "Write --port 0=eth1.");
    const uint64_t plane =
        input::whole({text.substr(0, equals), "--port", {}, 0, 0}, 0, names.size() - 1, "the plane of --port");
    if (!names[plane].empty())
      throw UsageError(fmt::format("--port names plane {} twice.", plane), "Each plane has one interface.");
    names[plane] = text.substr(equals + 1);
  }
  try {
    return std::make_unique<tb::PacketPorts>(names);
  } catch (const tb::PortError& error) {
    throw UsageError(error.what(), error.remedy);
  }
}

void request_priority() {
  const sched_param lowest{::sched_get_priority_min(SCHED_RR)};
  ::sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest);  // who may not goes on without
}

int serve_ports(std::unique_ptr<tb::NicDevice> device, const PortOptions& options) {
  request_priority();
  tb::PortedNic nic(std::move(device), open_ports(options), options.time());
  try {
    return serve_lines(nic, [&nic](const LineInput& input) {
      pollfd readable{input.fd(), POLLIN, 0};
      while (!input.has_line() && ::poll(&readable, 1, 0) == 0) {
        nic.pump();
        if (::poll(&readable, 1, 0) == 0) nic.wait(input.fd());
      }
    });
  } catch (const tb::PortError& error) {
    throw UsageError(error.what(), error.remedy);
  }
}

}  // namespace mrc::cli

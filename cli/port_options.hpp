// SPDX-License-Identifier: Apache-2.0
/// Options of the commands that have real ports: --port, --slow, --late.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "tb/ports/ported_nic.hpp"

namespace mrc::cli {

struct PortOptions {
  std::vector<std::string> ports;  ///< "0=eth1"
  uint64_t slow = 1000;
  double late_ms = 30;

  tb::WallTime time() const;
  /// What a command line repeats of it: times.
  std::string words() const;
};

void add_time_options(Command& command, PortOptions& options);
void add_port_options(Command& command, PortOptions& options);

/// Opens the ports. Throws UsageError.
std::unique_ptr<tb::PacketPorts> open_ports(const PortOptions& options);

/// From now on this process runs as soon as it has something to do, if it may: others keep the promise of --late.
void request_priority();

/// Answers calls on standard input while the NIC lives at its ports.
int serve_ports(std::unique_ptr<tb::NicDevice> device, const PortOptions& options);

}  // namespace mrc::cli

// SPDX-License-Identifier: Apache-2.0
/// The process that has NICs and the network between them, for programs that attach by a Unix socket
/// (docs/guide/api.md).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "gen/presets.hpp"
#include "sim/experiment/scenario.hpp"
#include "tb/agent/monitor.hpp"
#include "tb/device/device.hpp"

namespace mrc::libmrc {

/// what() is a sentence with full stop.
class HostError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct HostOptions {
  const Preset* preset = nullptr;
  unsigned nics = 2;
  unsigned min_active = 8;  ///< EVs of a queue pair that a NIC keeps in use (EV_CTL.min_active)
  uint64_t seed = 1;
  double loss = 0;                        ///< share of frames that the network loses
  const sim::Scenario* fabric = nullptr;  ///< its network and events; null: a switch for each plane, without end
  /// So many seconds for each simulated one, whether somebody waits for time or not; 0: as fast as it goes.
  double pace = 0;
  std::string socket;  ///< path; its folder is made if it is not there, for this user alone
  std::function<std::unique_ptr<tb::NicDevice>()> open;
  std::function<void(const std::string&)> say;   ///< a line for the log: a sentence without full stop
  std::function<void(const std::string&)> show;  ///< EVs of profiles that go ONLINE, as CSV; empty: nobody looks
  tb::Monitor::Sink record;     ///< takes what the NICs are asked and do, as records of a log; empty: nobody wants them
  std::function<void()> ready;  ///< programs can attach from now on
  /// Sees every frame that a NIC sends, when its first byte leaves; empty: nobody does.
  std::function<void(unsigned plane, tb::Time first, std::span<const uint8_t> bytes)> watch;
  std::atomic<bool>* stop = nullptr;
};

struct HostResult {
  tb::Time time = 0;                 ///< simulated
  uint64_t opened = 0;               ///< so often a program has opened a device
  std::vector<std::string> summary;  ///< lines: what NICs and network did
};

/// Until `stop`. Throws HostError, InputError, tb::Refusal, tb::DeviceGone.
HostResult run_host(const HostOptions& options);

}  // namespace mrc::libmrc

// SPDX-License-Identifier: Apache-2.0
/// A whole run of two NICs that are known by their calls alone (docs/guide/levels.md): links, hosts, traffic; what came
/// out of it, and everything observed as records for a judge.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gen/presets.hpp"
#include "log/record.hpp"
#include "tb/agent/side.hpp"
#include "tb/device/device.hpp"
#include "tb/environment/scenario.hpp"

namespace mrc::tb {

struct AgentProgress {
  Time time = 0;
  uint64_t packets = 0;
  double done = 0, seconds = 0;
};

struct AgentOptions {
  const Preset* preset = nullptr;
  Scenario scenario;
  uint64_t packets = 100000;  ///< data packets of messages, both directions together
  uint64_t seed = 1;
  NicDevice* dut = nullptr;
  NicDevice* peer = nullptr;  ///< called in a thread of its own while the run goes on
  std::string dut_profile;    ///< JSON: instead of what the device says of itself; "": that
  bool shows = false;         ///< what the device shows of its inside counts (L1)
  /// Takes what both NICs do as records of a log: device 0 "dut", device 1 "peer". Called in a thread of its own, but
  /// not while `enough` is called.
  Monitor::Sink log;
  /// Whoever reads the log has seen enough: asked now and then, true ends the run with Incomplete.
  std::function<bool()> enough;
  std::atomic<bool>* stop = nullptr;
  std::function<void(const AgentProgress&)> progress;  ///< called a few times per second
};

enum class AgentOutcome { Pass, DataError, Hang, Incomplete, Empty, DeviceError };
/// "pass", "data_error", "hang", "incomplete", "empty", "device_error".
const char* name_of(AgentOutcome outcome);

struct AgentResult {
  AgentOutcome outcome = AgentOutcome::Incomplete;
  std::string problem;  ///< what is wrong, or why it is incomplete or empty: a sentence without full stop
  Time problem_time = 0;
  std::optional<uint32_t> problem_qp;  ///< the number that its NIC has for it
  DeviceInfo dut, peer;
  std::vector<std::string> left_out;  ///< what these NICs cannot play of the scenario
  uint64_t shows = 0;                 ///< mask of the event kinds that count
  Time time = 0, traffic_time = 0;
  double seconds = 0;
  uint64_t data_packets = 0, messages = 0, bytes = 0, immediates = 0, refused = 0, failed_qps = 0, verified = 0;
  unsigned rounds = 0;
  struct Side {
    FrameCounts frames;
    LinkCounters link;  ///< of what it sent
    uint64_t packets = 0, messages = 0, bytes = 0;
  };
  Side dut_side, peer_side;
};

/// Throws CannotPlay (the scenario, with these NICs), InputError (a profile that cannot be read).
AgentResult run_agent(const AgentOptions& options);

}  // namespace mrc::tb

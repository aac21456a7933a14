// SPDX-License-Identifier: Apache-2.0
#include "sim/switch/switch_config.hpp"

#include <utility>

#include "sim/engine/packet.hpp"

namespace mrc::sim {

SwitchConfig SwitchConfig::recommended(std::string name, uint64_t plane_bdp_bytes, const wire::DscpMap& dscp) {
  SwitchConfig config;
  config.name = std::move(name);
  config.queue_of_dscp.fill(kQueueData);
  for (const uint8_t d : {dscp.control, dscp.trimmed, dscp.trimmed_lasthop}) {
    config.queue_of_dscp[d & 63] = kQueueControl;
  }
  config.queue_of_dscp[dscp.trimmable_retx & 63] = kQueueRetx;
  config.trimmable = uint64_t{1} << (dscp.trimmable & 63) | uint64_t{1} << (dscp.trimmable_retx & 63);
  config.trim_queue = kQueueControl;
  for (PortConfig* port : {&config.to_switch, &config.to_host}) {
    QueueConfig& control = port->queue[kQueueControl];
    control.limit_bytes = plane_bdp_bytes;
    QueueConfig& retx = port->queue[kQueueRetx];
    retx.limit_bytes = plane_bdp_bytes * 3 / 2;
    retx.trim = true;
    QueueConfig& data = port->queue[kQueueData];
    data.limit_bytes = plane_bdp_bytes;
    data.trim = true;
    port->trimmed_dscp = dscp.trimmed;
  }
  for (const unsigned q : {kQueueRetx, kQueueData}) {
    config.to_switch.queue[q].ecn = {EcnConfig::Mode::Red, plane_bdp_bytes / 5, plane_bdp_bytes * 4 / 5, 1.0};
  }
  config.to_host.trimmed_dscp = dscp.trimmed_lasthop;
  return config;
}

wire::DscpMap dscp_of(const FabricProfile& profile) {
  const wire::DscpMap usual;
  const auto code = [&profile](const char* name, uint8_t reset) {
    return static_cast<uint8_t>(profile.get(name, reset));
  };
  return {.no_trim = usual.no_trim,
          .trimmable = code("DSCP_TX.data", usual.trimmable),
          .trimmable_retx = code("DSCP_TX.rtx", usual.trimmable_retx),
          .trimmed = code("DSCP_TRIM.trimmed", usual.trimmed),
          .trimmed_lasthop = code("DSCP_TRIM.lasthop", usual.trimmed_lasthop),
          .control = code("DSCP_TX.ctl", usual.control)};
}

SwitchConfig SwitchConfig::of_profile(std::string name, uint64_t plane_bdp_bytes, const FabricProfile& profile) {
  SwitchConfig config = recommended(std::move(name), plane_bdp_bytes, dscp_of(profile));
  config.trim_size = profile.trim_size;
  config.trimmable = profile.data_codes | profile.rtx_codes;
  if (!profile.lasthop) config.to_host.trimmed_dscp = config.to_switch.trimmed_dscp;
  for (unsigned q = 0; q < profile.queues; ++q) {
    const FabricClass& shared = profile.queue[q];
    for (unsigned d = 0; d < config.queue_of_dscp.size(); ++d) {
      if ((shared.codes >> d & 1) != 0) config.queue_of_dscp[d] = static_cast<uint8_t>(q);
    }
    if (shared.trimmed) config.trim_queue = static_cast<uint8_t>(q);
    QueueConfig queue{.limit_bytes = profile.limit, .trim = shared.data, .weight = shared.share * kShareWeight};
    if (shared.data) {
      queue.ecn = {EcnConfig::Mode::Red, profile.ecn_min, profile.ecn_max, profile.ecn_percent / 100.0};
    }
    config.to_switch.queue[q] = config.to_host.queue[q] = queue;
  }
  return config;
}

std::string SwitchConfig::check() const {
  const std::string queues = ", there are " + std::to_string(kQueues) + " queues";
  if (trim_size < kMinFrameBytes - kFcsBytes || trim_size > 9216) {
    return "trim size " + std::to_string(trim_size) + " is not between 60 and 9216 bytes";
  }
  if (trim_queue >= kQueues) return "trim queue " + std::to_string(trim_queue) + " does not exist" + queues;
  for (unsigned d = 0; d < queue_of_dscp.size(); ++d) {
    if (queue_of_dscp[d] >= kQueues) {
      return "code point " + std::to_string(d) + " goes to queue " + std::to_string(queue_of_dscp[d]) + queues;
    }
  }
  if (buffer_bytes == 0) return "the buffer has no bytes";
  if (buffer_bytes > kMostBufferBytes) {
    return "the buffer of " + std::to_string(buffer_bytes) + " bytes has more than " + std::to_string(kMostBufferBytes);
  }
  if (usid_block == kHostPrefix >> 32) return "the uSID block fd00:0000 is the one of hosts";
  if (trim_to_sender && returned_dscp >= 64) {
    return "code point " + std::to_string(returned_dscp) + " has more than 6 bits";
  }
  if (trim_to_sender && (trimmable >> returned_dscp & 1) != 0) {
    return "returned packets get code point " + std::to_string(returned_dscp) + ", which may be trimmed again";
  }
  for (const PortConfig* port : {&to_switch, &to_host}) {
    if (port->trimmed_dscp < 64 && (trimmable >> port->trimmed_dscp & 1) != 0) {
      return "trimmed packets get code point " + std::to_string(port->trimmed_dscp) + ", which may be trimmed again";
    }
    if (port->trimmed_dscp >= 64) return "code point " + std::to_string(port->trimmed_dscp) + " has more than 6 bits";
    for (const QueueConfig& queue : port->queue) {
      const EcnConfig& ecn = queue.ecn;
      if (ecn.mode == EcnConfig::Mode::Red && ecn.max_bytes <= ecn.min_bytes) {
        return "ECN's upper threshold of " + std::to_string(ecn.max_bytes) + " bytes is not above the lower one of " +
               std::to_string(ecn.min_bytes);
      }
      if (ecn.probability < 0 || ecn.probability > 1) return "ECN's probability is not between 0 and 1";
      if (queue.weight > 1 << 24) return "weight " + std::to_string(queue.weight) + " is above 16777216 bytes";
      if (queue.alpha < 0) return "alpha is below 0";
    }
  }
  return {};
}

}  // namespace mrc::sim

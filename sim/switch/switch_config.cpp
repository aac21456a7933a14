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

std::string SwitchConfig::check() const {
  if (trim_size < kMinFrameBytes - kFcsBytes || trim_size > 9216) {
    return "trim size " + std::to_string(trim_size) + " is not between 60 and 9216 bytes";
  }
  if (trim_queue >= kQueues) return "trim queue " + std::to_string(trim_queue) + " does not exist, there are 4 queues";
  for (unsigned d = 0; d < queue_of_dscp.size(); ++d) {
    if (queue_of_dscp[d] >= kQueues) {
      return "code point " + std::to_string(d) + " goes to queue " + std::to_string(queue_of_dscp[d]) +
             ", there are 4 queues";
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

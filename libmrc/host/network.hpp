// SPDX-License-Identifier: Apache-2.0
/// The network between the NICs of a host: a switch for each plane that knows their addresses, loses nothing and has
/// room for everything.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gen/presets.hpp"
#include "tb/device/device.hpp"

namespace mrc::libmrc {

using tb::Time;

class Network {
 public:
  using Watch = std::function<void(unsigned plane, Time first, std::span<const uint8_t> bytes)>;
  /// `watch` sees every frame that is sent; it may be empty.
  Network(const Preset& preset, Time delay, Watch watch) : preset_(preset), delay_(delay), watch_(std::move(watch)) {}

  /// A NIC. `setting_up`: has some program a queue pair of that number that was never in RTR?
  void join(uint64_t mac, const log::Ip& ip, std::function<bool(uint32_t)> setting_up);
  std::optional<uint64_t> mac_of(const log::Ip& ip) const;
  bool setting_up(uint64_t mac, uint32_t qp) const;

  /// A frame whose first byte left at `first`, for the NIC whose address it has; nobody's is forgotten.
  void send(tb::SentFrame frame, Time first);
  /// Hands a NIC the frames that begin to arrive before `to`; none is due before `from`.
  void deliver(uint64_t mac, tb::NicDevice& device, Time from, Time to);
  bool empty() const { return under_way_ == 0; }
  Time delay() const { return delay_; }

 private:
  struct Port {
    std::multimap<Time, std::vector<uint8_t>> queue;  ///< by the time at which the first byte could arrive
    Time free = 0;
  };
  const Preset& preset_;
  const Time delay_;
  const Watch watch_;
  std::map<log::Ip, uint64_t> macs_;
  std::map<uint64_t, std::function<bool(uint32_t)>> setting_up_;
  std::map<uint64_t, std::vector<Port>> ports_;  ///< by address, then plane
  uint64_t under_way_ = 0;
};

}  // namespace mrc::libmrc

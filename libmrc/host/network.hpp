// SPDX-License-Identifier: Apache-2.0
/// The network between the NICs of a host: a switch for each plane that knows their addresses and has room for
/// everything. What it loses it is told to.
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
#include "util/rng.hpp"

namespace mrc::libmrc {

using tb::Time;

class Network {
 public:
  using Watch = std::function<void(unsigned plane, Time first, std::span<const uint8_t> bytes)>;
  /// `watch` sees every frame that is sent; it may be empty. `loss`: the share of frames that is lost.
  Network(const Preset& preset, Time delay, Watch watch, double loss, uint64_t seed)
      : preset_(preset), delay_(delay), watch_(std::move(watch)), loss_(loss), rng_(seed, "loss of the network") {}

  /// A NIC. `setting_up`: has some program a queue pair of that number that was never in RTR?
  void join(uint64_t mac, const log::Ip& ip, std::function<bool(uint32_t)> setting_up);
  std::optional<uint64_t> mac_of(const log::Ip& ip) const;
  bool setting_up(uint64_t mac, uint32_t qp) const;

  /// A frame whose first byte left at `first`, for the NIC whose address it has; nobody's is forgotten.
  void send(tb::SentFrame frame, Time first);
  /// Hands over the frames of a NIC that begin to arrive before `to`; none is due before `from`. `last` is the end of
  /// the last byte.
  using Receive = std::function<void(unsigned plane, Time last, std::span<const uint8_t> bytes)>;
  void deliver(uint64_t mac, Time from, Time to, const Receive& receive);
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
  const double loss_;
  Rng rng_;
  std::map<log::Ip, uint64_t> macs_;
  std::map<uint64_t, std::function<bool(uint32_t)>> setting_up_;
  std::map<uint64_t, std::vector<Port>> ports_;  ///< by address, then plane
  uint64_t under_way_ = 0;
};

}  // namespace mrc::libmrc

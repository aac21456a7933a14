// SPDX-License-Identifier: Apache-2.0
/// The network between the NICs of a host: who is where, and frames that are on their way. This one is a switch for
/// each plane that knows addresses and has room for everything; what it loses it is told to. fabric.hpp has another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
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

  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// A NIC: the next one. `setting_up`: has some program a queue pair of that number that was never in RTR? `carrier`
  /// is told when one of its links goes down, or comes up again.
  void join(uint64_t mac, const log::Ip& ip, std::function<bool(uint32_t)> setting_up,
            std::function<void(unsigned plane, bool up)> carrier);
  std::optional<uint64_t> mac_of(const log::Ip& ip) const;
  bool setting_up(uint64_t mac, uint32_t qp) const;

  /// Registers of NICs that are to be otherwise than after reset.
  virtual std::vector<std::pair<std::string, uint64_t>> settings() const { return {}; }
  /// Sets what queue pairs of the NIC `from` to `to` need to find their way.
  virtual void route(uint64_t /*from*/, uint64_t /*to*/, tb::QpConfig& /*config*/) const {}

  /// A frame whose first byte left the NIC `from` at `first`.
  void send(uint64_t from, tb::SentFrame frame, Time first);
  /// All NICs have got there, and what they sent before was told.
  virtual void advance(Time /*to*/) {}
  /// Hands over the frames of a NIC that begin to arrive before `to`; none is due before `from`. `last` is the end of
  /// the last byte.
  using Receive = std::function<void(unsigned plane, Time last, std::span<const uint8_t> bytes)>;
  void deliver(uint64_t mac, Time from, Time to, const Receive& receive);
  virtual bool empty() const { return under_way_ == 0; }
  /// No frame arrives sooner after it was sent.
  Time delay() const { return delay_; }
  /// What happened to frames and links, for people; one line each.
  virtual std::vector<std::string> summary() const { return {}; }

 protected:
  /// A frame that was not lost: to the NIC whose address it has; nobody's is forgotten.
  virtual void carry(uint64_t from, tb::SentFrame frame, Time first);
  /// Its first byte could arrive at `begin`.
  void arrive(uint64_t mac, unsigned plane, Time begin, std::vector<uint8_t> bytes);
  /// NICs in the order in which they joined.
  uint64_t mac_of(std::size_t nic) const { return order_.at(nic); }
  std::size_t nic_of(uint64_t mac) const {
    return static_cast<std::size_t>(std::ranges::find(order_, mac) - order_.begin());
  }
  void carrier(std::size_t nic, unsigned plane, bool up) const { carriers_.at(nic)(plane, up); }

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
  std::vector<uint64_t> order_;
  std::vector<std::function<void(unsigned, bool)>> carriers_;
  std::map<log::Ip, uint64_t> macs_;
  std::map<uint64_t, std::function<bool(uint32_t)>> setting_up_;
  std::map<uint64_t, std::vector<Port>> ports_;  ///< by address, then plane
  uint64_t under_way_ = 0;
};

}  // namespace mrc::libmrc

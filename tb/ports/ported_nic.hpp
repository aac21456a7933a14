// SPDX-License-Identifier: Apache-2.0
/// A NIC whose ports are real and whose time is that of the clock on the wall, slowed down: `slow` ns of the wall are
/// one of the NIC. It runs whether somebody asks or not.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tb/device/device.hpp"
#include "tb/ports/packet_ports.hpp"

namespace mrc::tb {

struct WallTime {
  uint64_t slow = 1000;  ///< ns of the wall for one ns of the NIC
  Time jitter = 0;       ///< ps of the NIC: what the software around it adds at most to the NIC's own latency

  Time of_ns(uint64_t ns) const { return static_cast<Time>(static_cast<unsigned __int128>(ns) * 1000 / slow); }
  uint64_t to_ns(Time t) const { return static_cast<uint64_t>(static_cast<unsigned __int128>(t) * slow / 1000); }
  /// Each of three that may be late: the tester's sending, the NIC's hearing, its sending.
  Time share() const { return jitter / 3; }
};

/// Refuses rx and port: frames and carrier come over the ports. advance() returns at once what there is, and never runs
/// ahead of the clock; the first one begins time. Its counters have "clock_ns" (time 0 in CLOCK_MONOTONIC), "late_ps"
/// (the longest that a frame waited for this process) and "port_frames". A process that was later than promised, and a
/// kernel that dropped frames, are a Refusal of advance(): the test bed is broken, whatever the NIC did.
///
/// Frames that are no MRC come at the wall's pace, a thousand times too fast. The NIC sees them for a sixteenth of a
/// port's time at most, and never behind other frames; those that are left out are counted ("foreign_left_out").
class PortedNic final : public NicDevice {
 public:
  PortedNic(std::unique_ptr<NicDevice> inner, std::unique_ptr<PacketPorts> ports, const WallTime& time)
      : inner_(std::move(inner)), ports_(std::move(ports)), wall_(time) {}

  /// Runs the NIC to now. Often. Throws PortError.
  void pump();
  /// Waits until there is something to do, or `other` can be read.
  void wait(int other) const { ports_->wait(ports_->waits() ? 20'000 : kNap, other); }

  DeviceInfo open(const OpenRequest& request) override;
  void address(uint64_t mac, const log::Ip& ip) override { inner_->address(mac, ip); }
  QpConfig qp_now(uint32_t qp) const override { return inner_->qp_now(qp); }
  bool qp(const QpConfig& config) override { return inner_->qp(config); }
  std::pair<log::QpState, Time> query(uint32_t qp) override { return inner_->query(qp); }
  bool mr(const log::Mr& region) override { return inner_->mr(region); }
  bool post(const log::Post& request) override { return inner_->post(request); }
  void recv(uint32_t qp, uint32_t count) override { inner_->recv(qp, count); }
  void port(unsigned plane, bool up, Time t) override;
  bool ev(uint32_t qp, uint32_t ev, bool deny) override { return inner_->ev(qp, ev, deny); }
  bool mpr(uint32_t qp, unsigned units) override { return inner_->mpr(qp, units); }
  void rx(unsigned plane, Time t, std::span<const uint8_t> frame, bool fcs_bad) override;
  void memory(bool takes) override { inner_->memory(takes); }
  void host_done(uint64_t tag, Time t, std::span<const uint8_t> data, uint32_t status) override {
    inner_->host_done(tag, std::max(t, now_), data, status);
  }
  Advanced advance(Time until, Time slack) override;
  Counters counters() override;
  void pause(HostQueue what, Time from, Time until) override { inner_->pause(what, from, until); }

 private:
  static constexpr uint64_t kNap = 200'000;  ///< ns between two looks at the clock

  Time due() const { return wall_.of_ns(monotonic_ns() - begin_ns_); }
  void hear();
  void hear(unsigned plane);
  void carriers();
  void late(Time by) { late_ = std::max(late_, by); }

  std::unique_ptr<NicDevice> inner_;
  std::unique_ptr<PacketPorts> ports_;
  WallTime wall_;
  bool runs_ = false;
  uint64_t begin_ns_ = 0, frames_ = 0;
  Time now_ = 0, late_ = 0;  ///< now_: how far the NIC has run
  unsigned planes_ = 0, port_gbps_ = 1;
  std::vector<Time> free_;     ///< of each port: when the frame before has passed
  std::vector<Time> foreign_;  ///< of each port: until then it takes no other foreign frame
  uint64_t left_out_ = 0;      ///< foreign frames
  std::vector<bool> up_;
  std::vector<Output> out_;
};

/// The profile of a device (JSON) with what `more` ps of delay mean for its promises.
std::string slower_profile(const std::string& profile, const WallTime& time);

}  // namespace mrc::tb

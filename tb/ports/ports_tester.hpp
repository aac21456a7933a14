// SPDX-License-Identifier: Apache-2.0
/// The other end of the wire: to a tester this is a device as any other, whose frames go over real ports and whose
/// calls go to the NIC behind them.
#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "tb/device/device.hpp"
#include "tb/ports/ported_nic.hpp"

namespace mrc::tb {

/// Time is that of the wall from the first advance() to a time above 0 on. A frame leaves when its last byte is due;
/// one that leaves later than promised breaks the test bed, a Refusal. What comes in has the time at which the kernel
/// had it, and takes its time at the port's rate; frames that are no MRC are counted ("strangers") and not shown. A
/// carrier that comes or goes and that nobody switched by port() is an output, log::Port. A frame with a wrong FCS is a
/// Refusal of advance(), unless its port is switched off while it comes: then the interface sends nothing of it.
class PortsTester final : public NicDevice {
 public:
  PortsTester(std::unique_ptr<NicDevice> nic, std::unique_ptr<PacketPorts> ports, const WallTime& time)
      : nic_(std::move(nic)), ports_(std::move(ports)), wall_(time) {}

  DeviceInfo open(const OpenRequest& request) override;
  void address(uint64_t mac, const log::Ip& ip) override { nic_->address(mac, ip); }
  QpConfig qp_now(uint32_t qp) const override { return nic_->qp_now(qp); }
  bool qp(const QpConfig& config) override { return nic_->qp(config); }
  std::pair<log::QpState, Time> query(uint32_t qp) override { return nic_->query(qp); }
  bool mr(const log::Mr& region) override { return nic_->mr(region); }
  bool post(const log::Post& request) override { return nic_->post(request); }
  void recv(uint32_t qp, uint32_t count) override { nic_->recv(qp, count); }
  void port(unsigned plane, bool up, Time t) override;
  bool ev(uint32_t qp, uint32_t ev, bool deny) override { return nic_->ev(qp, ev, deny); }
  bool mpr(uint32_t qp, unsigned units) override { return nic_->mpr(qp, units); }
  void rx(unsigned plane, Time t, std::span<const uint8_t> frame, bool fcs_bad) override;
  void memory(bool takes) override { nic_->memory(takes); }
  void host_done(uint64_t tag, Time t, std::span<const uint8_t> data, uint32_t status) override {
    nic_->host_done(tag, t, data, status);
  }
  Advanced advance(Time until, Time slack) override;
  Counters counters() override;

 private:
  /// Something that goes to a port at a time: a frame, or its carrier.
  struct Due {
    Time time = 0;
    unsigned plane = 0;
    bool is_frame = true, up = false;
    std::vector<uint8_t> bytes;
    bool fcs_bad = false;
    Time begin = 0;  ///< of a frame
  };

  Time wall_now() const { return wall_.of_ns(monotonic_ns() - begin_ns_); }
  void begin();
  void add(Due due);
  void send_due(Time now, Time until);
  void hear();
  void carriers(Time now);
  void poll(Time now);
  void place(Output output);
  void hold_nic(Time now, Time until) const;
  void hold_promise() const;

  std::unique_ptr<NicDevice> nic_;
  std::unique_ptr<PacketPorts> ports_;
  WallTime wall_;
  bool runs_ = false;
  uint64_t begin_ns_ = 0, polled_ns_ = 0, frames_ = 0;
  Time reached_ = 0, late_ = 0;
  Time reported_ = 0;  ///< how far the NIC has come, by its own word
  unsigned planes_ = 0, port_gbps_ = 1;
  std::deque<Due> due_;            ///< by time
  std::vector<Time> free_;         ///< of each port, of what comes in
  std::vector<bool> wanted_, up_;  ///< of each port: switched on here; its carrier, as was told
  std::vector<Time> off_;          ///< of each port: when it was last switched off here
  Time looked_ = 0;                ///< at the carriers
  uint64_t foreign_ = 0;           ///< frames that were no MRC
  std::deque<Output> ready_;       ///< by time
};

}  // namespace mrc::tb

// SPDX-License-Identifier: Apache-2.0
/// A NIC with a monitor: the tester's calls and what the NIC does go to a log (docs/reference/log.md, L1 and L2). For a
/// tester that keeps no log of its own.
///
///     MonitoredDevice nic(open_nic(), 0, "mrc0", [&](Monitor::Record& r) { writer.write(*r); });
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tb/agent/monitor.hpp"
#include "tb/device/device.hpp"

namespace mrc::tb {

class MonitoredDevice final : public NicDevice {
 public:
  /// Takes part in a log as device `number`. The log ends with this object: what is open then may stay open.
  MonitoredDevice(std::unique_ptr<NicDevice> nic, uint32_t number, std::string name, Monitor::Sink sink);
  ~MonitoredDevice() override;

  DeviceInfo open(const OpenRequest& request) override;
  void address(uint64_t mac, const log::Ip& ip) override;
  QpConfig qp_now(uint32_t qp) const override { return nic_->qp_now(qp); }
  bool qp(const QpConfig& config) override;
  std::pair<log::QpState, Time> query(uint32_t qp) override { return nic_->query(qp); }
  Modified modify(const QpConfig& config, uint32_t with) override;
  bool mr(const log::Mr& region) override;
  bool post(const log::Post& request) override;
  void recv(uint32_t qp, uint32_t count) override { nic_->recv(qp, count); }
  void port(unsigned plane, bool up, Time t) override;
  bool ev(uint32_t qp, uint32_t ev, bool deny) override;
  bool mpr(uint32_t qp, unsigned units) override;
  bool evprobe(uint32_t qp, unsigned plane, uint32_t ev, std::optional<uint8_t> dscp) override {
    return nic_->evprobe(qp, plane, ev, dscp);
  }
  bool reset() override;
  void rx(unsigned plane, Time t, std::span<const uint8_t> frame, bool fcs_bad) override;
  void memory(bool takes) override { nic_->memory(takes); }
  void host_done(uint64_t tag, Time t, std::span<const uint8_t> data, uint32_t status) override;
  Advanced advance(Time until, Time slack) override;
  Counters counters() override { return nic_->counters(); }
  Time shown_until() const override { return nic_->shown_until(); }
  void pause(HostQueue queue, Time from, Time until) override { nic_->pause(queue, from, until); }

 private:
  struct Row {
    log::Qp reported;
    unsigned orders = 0;  ///< calls that do not act yet
  };
  template <class Body>
  Body& add(Time time);
  void state(const QpConfig& config);
  void ordered(Row& row, bool pending, Time time);
  void take(const Output& output);

  const std::unique_ptr<NicDevice> nic_;
  const uint32_t number_;
  const std::string name_;
  Monitor monitor_;
  DeviceInfo info_;
  log::Ip ip_{};
  Time reached_ = 0, reported_ = 0;
  uint64_t frames_ = 0, resets_ = 0;
  std::unordered_map<uint32_t, Row> rows_;         ///< by number
  std::unordered_map<uint32_t, log::Mr> regions_;  ///< that do not act yet, by R_Key
  std::unordered_map<uint64_t, HostRead> read_;    ///< without an answer, by tag
  std::vector<log::Ip> peers_;                     ///< destinations are numbered as they come
};

}  // namespace mrc::tb

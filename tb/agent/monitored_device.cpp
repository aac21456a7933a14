// SPDX-License-Identifier: Apache-2.0
#include "tb/agent/monitored_device.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace mrc::tb {

MonitoredDevice::MonitoredDevice(std::unique_ptr<NicDevice> nic, uint32_t number, std::string name, Monitor::Sink sink)
    : nic_(std::move(nic)), number_(number), name_(std::move(name)), monitor_(number, std::move(sink)) {}

MonitoredDevice::~MonitoredDevice() {
  std::vector<log::Record> last;
  try {
    for (const auto& [name, value] : nic_->counters().values)
      last.push_back({number_, reached_, log::Counter{name, value}});
  } catch (const std::exception&) {  // it is gone, or has none
    last.clear();
  }
  last.push_back({number_, reached_, log::End{true, "stopped"}});
  monitor_.end(monitor_.taken(), std::move(last));
}

template <class Body>
Body& MonitoredDevice::add(Time time) {
  return monitor_.add(time).body.emplace<Body>();
}

DeviceInfo MonitoredDevice::open(const OpenRequest& request) {
  info_ = nic_->open(request);
  add<log::Device>(0) = {name_, info_.profile};
  return info_;
}

void MonitoredDevice::address(uint64_t mac, const log::Ip& ip) {
  nic_->address(mac, ip);
  ip_ = ip;
}

/// The queue pair was ordered into the state of `config`, and has its values.
void MonitoredDevice::state(const QpConfig& config) {
  Row& row = rows_[config.qp];
  if (config.state == log::QpState::Reset) {
    log::Qp none;
    none.qp = config.qp;
    none.peer_qp = row.reported.peer_qp;
    none.flags = row.orders != 0 ? log::kOrdered : 0;
    row.reported = none;
  } else if (config.state == log::QpState::Error) {
    row.reported.state = log::QpState::Error;
  } else {
    auto peer = std::ranges::find(peers_, config.peer_ip);
    if (peer == peers_.end()) peer = peers_.insert(peer, config.peer_ip);
    row.reported = record_of(config, ip_, info_.planes);
    row.reported.dest = static_cast<uint32_t>(peer - peers_.begin());
  }
  add<log::Qp>(reached_) = row.reported;
}

bool MonitoredDevice::qp(const QpConfig& config) {
  const bool pending = nic_->qp(config);
  rows_[config.qp].orders += pending;
  if (config.state == log::QpState::Reset || config.state == log::QpState::Error) {
    state(config);
  } else {
    state(nic_->qp_now(config.qp));
  }
  return pending;
}

Modified MonitoredDevice::modify(const QpConfig& config, uint32_t with) {
  const Modified result = nic_->modify(config, with);
  rows_[config.qp].orders += result.pending;
  if (result.refused == Refused::No && config.state != log::QpState::Init) state(config);
  return result;
}

/// Before a region acts it is not there, and it is gone when the call to end it has acted.
bool MonitoredDevice::mr(const log::Mr& region) {
  const bool pending = nic_->mr(region);
  if (pending) {
    regions_[region.rkey] = region;
  } else {
    add<log::Mr>(reached_) = region;
  }
  return pending;
}

bool MonitoredDevice::post(const log::Post& request) {
  if (!nic_->post(request)) return false;
  add<log::Post>(reached_) = request;
  return true;
}

void MonitoredDevice::port(unsigned plane, bool up, Time t) {
  nic_->port(plane, up, t);
  add<log::Port>(t) = {static_cast<uint8_t>(plane), up};
}

/// A controller has ordered something: the device may act from now on.
void MonitoredDevice::ordered(Row& row, bool pending, Time time) {
  row.orders += pending;
  row.reported.flags = row.orders != 0 ? log::kOrdered : 0;
  add<log::Qp>(time) = row.reported;
}

bool MonitoredDevice::ev(uint32_t qp, uint32_t ev, bool deny) {
  const bool pending = nic_->ev(qp, ev, deny);
  Row& row = rows_[qp];
  const auto place = static_cast<uint32_t>(std::ranges::find(row.reported.evs, ev) - row.reported.evs.begin());
  std::erase(row.reported.denied, place);
  if (deny) row.reported.denied.push_back(place);
  ordered(row, pending, reached_);
  return pending;
}

bool MonitoredDevice::mpr(uint32_t qp, unsigned units) {
  const bool pending = nic_->mpr(qp, units);
  Row& row = rows_[qp];
  row.reported.window = units;
  ordered(row, pending, reached_);
  return pending;
}

bool MonitoredDevice::reset() {
  const bool pending = nic_->reset();
  for (auto& [qp, row] : rows_) {
    row.orders = 0;
    if (row.reported.state == log::QpState::Reset && row.reported.flags == 0) continue;
    QpConfig none;
    none.qp = qp;
    state(none);
  }
  regions_.clear();
  add<log::Counter>(reached_) = {"resets", ++resets_};
  return pending;
}

void MonitoredDevice::rx(unsigned plane, Time t, std::span<const uint8_t> frame, bool fcs_bad) {
  nic_->rx(plane, t, frame, fcs_bad);
  monitor_.add(t - frame.size() * 8000 / info_.port_gbps, t, plane, frame, fcs_bad, ++frames_);
}

void MonitoredDevice::host_done(uint64_t tag, Time t, std::span<const uint8_t> data, uint32_t status) {
  nic_->host_done(tag, t, data, status);
  if (const auto queried = read_.extract(tag)) monitor_.add(t, queried.mapped(), data);
}

void MonitoredDevice::take(const Output& output) {
  if (const auto* frame = std::get_if<SentFrame>(&output.body)) {
    monitor_.add(output.time, *frame, ++frames_);
  } else if (const auto* read = std::get_if<HostRead>(&output.body)) {
    monitor_.add(output.time, *read);
    read_[read->tag] = *read;
  } else if (const auto* write = std::get_if<HostWrite>(&output.body)) {
    monitor_.add(output.time, *write);
  } else if (const auto* cqe = std::get_if<log::Cqe>(&output.body)) {
    add<log::Cqe>(output.time) = *cqe;
  } else if (const auto* event = std::get_if<log::Event>(&output.body)) {
    add<log::Event>(output.time) = *event;
  } else if (const auto* carrier = std::get_if<log::Port>(&output.body)) {
    add<log::Port>(output.time) = *carrier;
  } else if (const auto* done = std::get_if<Done>(&output.body)) {
    if (done->region) {
      const auto region = regions_.extract(done->number);
      if (region && done->error.empty()) add<log::Mr>(output.time) = region.mapped();
    } else if (const auto row = rows_.find(done->number); row != rows_.end() && row->second.orders != 0) {
      if (--row->second.orders == 0 && row->second.reported.flags != 0) ordered(row->second, false, output.time);
    }
  }
}

Advanced MonitoredDevice::advance(Time until, Time slack) {
  Advanced ran = nic_->advance(until, slack);
  for (const Output& output : ran.out) take(output);
  reached_ = ran.reached;
  reported_ = std::max(reported_, std::min(reached_, nic_->shown_until()));
  monitor_.report(monitor_.taken(), reported_);
  return ran;
}

}  // namespace mrc::tb

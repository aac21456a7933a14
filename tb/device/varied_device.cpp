// SPDX-License-Identifier: Apache-2.0
#include "tb/device/varied_device.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "reference/profile.hpp"
#include "tb/device/varied_parts.hpp"
#include "wire/decode.hpp"

namespace mrc::tb {
namespace {

constexpr Time kLate = 3'000'000;

bool is_data(const wire::Packet& p) { return p.reth.has_value(); }

class VariedDevice final : public NicDevice {
 public:
  VariedDevice(std::unique_ptr<NicDevice> inside, const VariedRow& row, uint64_t seed)
      : inside_(std::move(inside)), row_(row), seed_(seed) {}

  DeviceInfo open(const OpenRequest& request) override {
    OpenRequest more = request;
    if (row_.setting != nullptr && std::none_of(more.settings.begin(), more.settings.end(),
                                                [&](const auto& s) { return s.first == row_.setting; }))
      more.settings.emplace_back(row_.setting, row_.value);
    DeviceInfo info = inside_->open(more);
    info.name += std::string(", ") + row_.variant.name;
    wire_ = ref::read_profile(info.profile, "profile").wire();
    state_ = {};
    state_.rng = Rng(seed_ + request.seed, row_.variant.name);
    state_.planes = info.planes;
    state_.share = row_.share;
    byte_ps_ = 8000 / std::max(1u, info.port_gbps);
    ports_.assign(info.planes, {});
    queue_.clear();
    held_.clear();
    reached_ = last_write_ = last_host_ = 0;
    return info;
  }
  void address(uint64_t mac, const log::Ip& ip) override { inside_->address(mac, ip); }
  QpConfig qp_now(uint32_t qp) const override { return inside_->qp_now(qp); }
  bool qp(const QpConfig& config) override {
    QpConfig c = config;
    if (row_.evs_mixed && c.state != log::QpState::Reset) mix(c);
    const bool pending = inside_->qp(c);
    state_.qps[c.qp] = c.state == log::QpState::Reset ? c : inside_->qp_now(c.qp);
    if (c.state == log::QpState::Reset) state_.sent.clear();
    return pending;
  }
  std::pair<log::QpState, Time> query(uint32_t qp) override { return inside_->query(qp); }
  bool mr(const log::Mr& region) override { return inside_->mr(region); }
  bool post(const log::Post& request) override { return inside_->post(request); }
  void recv(uint32_t qp, uint32_t count) override { inside_->recv(qp, count); }
  void port(unsigned plane, bool up, Time t) override {
    inside_->port(plane, up, t);
    if (plane < ports_.size()) ports_[plane].changes.emplace_back(t, up);
  }
  bool ev(uint32_t qp, uint32_t ev, bool deny) override {
    return row_.deaf != (deny ? Deaf::Deny : Deaf::Allow) && inside_->ev(qp, ev, deny);
  }
  bool mpr(uint32_t qp, unsigned units) override { return row_.deaf != Deaf::Window && inside_->mpr(qp, units); }
  bool evprobe(uint32_t qp, unsigned plane, uint32_t ev, std::optional<uint8_t> tc) override {
    return inside_->evprobe(qp, plane, ev, tc);
  }
  bool reset() override {  // what waits in here is inside, too
    if (!row_.remembers) {
      queue_.clear();
      held_.clear();
      for (Port& port : ports_) port.waiting.clear();
    }
    state_.qps.clear();
    state_.sent.clear();
    return inside_->reset();
  }
  void rx(unsigned plane, Time t, std::span<const uint8_t> frame, bool fcs_bad) override {
    inside_->rx(plane, t, frame, fcs_bad);
  }
  void memory(bool takes) override { inside_->memory(takes); }
  void host_done(uint64_t tag, Time t, std::span<const uint8_t> data, uint32_t status) override {
    inside_->host_done(tag, t, data, status);
  }
  Time shown_until() const override { return inside_->shown_until(); }
  Counters counters() override { return inside_->counters(); }
  void pause(HostQueue what, Time from, Time until) override { inside_->pause(what, from, until); }

  Advanced advance(Time until, Time slack) override {
    Advanced result;
    do {
      Time stop = until;
      if (!queue_.empty() && queue_.front().time < until) stop = std::max(reached_, queue_.front().time);
      Advanced ran = inside_->advance(stop, slack);
      reached_ = ran.reached;
      for (Output& output : ran.out) changed(output);
      for (unsigned plane = 0; plane < ports_.size(); ++plane) send(plane);
      std::stable_sort(queue_.begin(), queue_.end(), [](const Output& a, const Output& b) { return a.time < b.time; });
      for (; !queue_.empty() && queue_.front().time <= reached_; queue_.pop_front())
        result.out.push_back(std::move(queue_.front()));
    } while (result.out.empty() && reached_ < until);
    result.reached = reached_;
    return result;
  }

 private:
  struct Waiting {
    Time ready, was;
    SentFrame frame;
  };
  struct Port {
    std::vector<Waiting> waiting;
    Time free = 0, last_data = 0, last_again = 0, last_control = 0;
    std::vector<std::pair<Time, bool>> changes;
    bool up_at(Time t) const {
      bool up = true;
      for (const auto& [when, is] : changes) {
        if (when <= t) up = is;
      }
      return up;
    }
  };

  /// Places of a plane change places, in use and for backup apart.
  void mix(QpConfig& c) {
    const std::size_t used = c.evs.size() - c.backup;
    for (std::size_t i = 0; i < used; ++i) {
      const std::size_t rows = (used - i + state_.planes - 1) / state_.planes;
      std::swap(c.evs[i], c.evs[i + state_.planes * state_.rng.below(rows)]);
    }
  }
  Time drawn(unsigned ns) { return ns == 0 ? 0 : state_.rng.below(uint64_t{ns} * 1000 + 1); }

  /// An output of the NIC inside becomes none, one or two of this one.
  void changed(Output& output) {
    if (auto* frame = std::get_if<SentFrame>(&output.body)) return frame_of(output, *frame);
    Act act = Act::Keep;
    Time time = output.time;
    if (auto* write = std::get_if<HostWrite>(&output.body)) {
      if (row_.write != nullptr) act = row_.write(*write, state_);
      time += drawn(row_.write_ns);
      if (!row_.writes_pass) time = std::max(time, last_host_);
      last_write_ = std::max(last_write_, time);
      last_host_ = std::max(last_host_, time);
    } else if (auto* cqe = std::get_if<log::Cqe>(&output.body)) {
      if (row_.cqe != nullptr) act = row_.cqe(*cqe, state_);
      time = std::max({time + drawn(row_.cqe_ns), last_write_, last_host_});
      last_host_ = time;
    } else if (auto* event = std::get_if<log::Event>(&output.body)) {
      if (row_.event != nullptr) act = row_.event(*event, state_);
    }
    output.time = time;
    report(std::move(output), act);
  }

  void report(Output output, Act act) {
    if (act == Act::Drop) return;
    if (act == Act::Hold) {
      held_.push_back(std::move(output));
      return;
    }
    if (act == Act::Late) {
      output.time += kLate;
      queue_.push_back(std::move(output));
      return;
    }
    const std::size_t kind = output.body.index();
    if (act == Act::Twice) queue_.push_back(output);
    const Time time = output.time;
    queue_.push_back(std::move(output));
    for (auto held = held_.begin(); held != held_.end();) {
      if (held->body.index() != kind) {
        ++held;
        continue;
      }
      held->time = std::max(held->time, time);
      queue_.push_back(std::move(*held));
      held = held_.erase(held);
    }
  }

  void frame_of(Output& output, SentFrame& frame) {
    wire::Packet packet = wire::decode(frame.bytes, wire_);
    Act act = Act::Keep;
    const bool whole = packet.bth && !packet.error;
    const bool data = whole && is_data(packet);
    if (row_.frame != nullptr && whole) {
      const uint32_t dqp = packet.bth->dqp, psn = packet.bth->psn;
      act = row_.frame(packet, state_);
      if (data) state_.sent[dqp].insert(psn);
      if (act == Act::Edited) frame.bytes = wire::encode(packet, wire_);
    }
    if (act == Act::Drop) return;
    if (act == Act::Move) frame.plane = (frame.plane + 1) % state_.planes;
    Port& port = ports_[frame.plane % ports_.size()];
    const bool again = data && packet.bth->rtx != 0 && row_.again_ns != 0;
    Time ready = output.time + drawn(again ? row_.again_ns : data ? row_.data_ns : row_.control_ns);
    if (row_.burst_ns != 0) {
      const Time burst = Time{row_.burst_ns} * 1000;
      ready = (ready + burst - 1) / burst * burst;
    }
    // No frame overtakes another of its kind on its port.
    Time& last = again ? port.last_again : data ? port.last_data : port.last_control;
    if (!again || !row_.again_pass) last = ready = std::max(ready, last);
    if (act == Act::Late) ready += kLate;
    if (act == Act::Twice) port.waiting.push_back({ready, output.time, frame});
    port.waiting.push_back({ready, output.time, std::move(frame)});
  }

  /// What is ready by now gets its time on the wire.
  void send(unsigned plane) {
    Port& port = ports_[plane];
    std::stable_sort(port.waiting.begin(), port.waiting.end(),
                     [](const Waiting& a, const Waiting& b) { return a.ready < b.ready; });
    std::size_t n = 0;
    for (; n < port.waiting.size() && port.waiting[n].ready <= reached_; ++n) {
      Waiting& w = port.waiting[n];
      const Time length = w.frame.last - w.was, first = std::max(w.ready, port.free);
      w.frame.last = first + length;
      port.free = w.frame.last + kBetweenFrames * byte_ps_;
      if (first != w.was && !port.up_at(first)) continue;  // lost, as what a MAC without carrier takes
      queue_.push_back({first, std::move(w.frame)});
    }
    port.waiting.erase(port.waiting.begin(), port.waiting.begin() + static_cast<std::ptrdiff_t>(n));
  }

  std::unique_ptr<NicDevice> inside_;
  const VariedRow& row_;
  uint64_t seed_;
  wire::WireConfig wire_;
  VariedState state_;
  Time byte_ps_ = 80, reached_ = 0, last_write_ = 0, last_host_ = 0;
  std::vector<Port> ports_;
  std::deque<Output> queue_;  ///< times are final
  std::vector<Output> held_;
};

}  // namespace

const QpConfig* VariedState::qp_of(const wire::Packet& p) const {
  for (const auto& [number, qp] : qps) {
    if (qp.state != log::QpState::Reset && p.bth && qp.peer_qp == p.bth->dqp) return &qp;
  }
  return nullptr;
}

std::unique_ptr<NicDevice> make_varied_device(std::unique_ptr<NicDevice> inside, const Variant& variant,
                                              uint64_t seed) {
  const auto rows = varied_rows();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const VariedRow& r) { return r.variant.name == variant.name; });
  return std::make_unique<VariedDevice>(std::move(inside), *row, seed);
}

}  // namespace mrc::tb

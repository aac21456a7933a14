// SPDX-License-Identifier: Apache-2.0
#include "tb/ports/ports_tester.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace mrc::tb {
namespace {

constexpr uint64_t kPollNs = 300'000;      ///< wall time between two looks at what the NIC did to its host
constexpr uint64_t kSettleNs = 2'000'000;  ///< for what an earlier run left on the wires
constexpr uint64_t kOtherHostNs = 1'000'000'000;
constexpr size_t kReady = 512, kReadyBytes = 384 << 10;

}  // namespace

DeviceInfo PortsTester::open(const OpenRequest& request) {
  for (unsigned p = 0; p < ports_->count(); ++p) ports_->set_up(p, true);
  runs_ = false;
  reached_ = reported_ = late_ = looked_ = 0;
  due_.clear();
  ready_.clear();
  DeviceInfo info = nic_->open(request);
  if (info.planes > ports_->count())
    throw Refusal(fmt::format("the NIC uses {} planes, and {} ports were named.", info.planes, ports_->count()), true);
  planes_ = info.planes;
  port_gbps_ = std::max(1u, info.port_gbps);
  free_.assign(planes_, 0);
  wanted_.assign(planes_, true);
  up_.assign(planes_, true);
  off_.assign(planes_, 0);
  foreign_ = 0;
  for (const auto& [name, value] : request.settings) {
    if (name == "UDP_PORT.port") ports_->udp_port(static_cast<uint16_t>(value));
  }
  ports_->wait(kSettleNs, -1);
  ports_->clear();
  return info;
}

/// Starts the NIC's clock and finds out how it stands to ours.
void PortsTester::begin() {
  const uint64_t before = monotonic_ns();
  Advanced first = nic_->advance(1, 0);
  const uint64_t after = monotonic_ns();
  begin_ns_ = before + (after - before) / 2;
  for (const auto& [name, value] : nic_->counters().values) {
    // Of another host the clock has another beginning.
    if (name == "clock_ns" && (value > before ? value - before : before - value) < kOtherHostNs) begin_ns_ = value;
  }
  runs_ = true;
  for (Output& output : first.out) place(std::move(output));
}

void PortsTester::add(Due due) {
  const auto behind = std::upper_bound(due_.begin(), due_.end(), due.time,
                                       [](Time time, const Due& other) { return time < other.time; });
  due_.insert(behind, std::move(due));
}

void PortsTester::port(unsigned plane, bool up, Time t) {
  if (plane >= planes_) throw Refusal(fmt::format("there is no plane {}: {} are in use.", plane, planes_), false);
  add({t, plane, false, up, {}, false, t});
}

void PortsTester::rx(unsigned plane, Time t, std::span<const uint8_t> frame, bool fcs_bad) {
  if (plane >= planes_) throw Refusal(fmt::format("there is no plane {}: {} are in use.", plane, planes_), false);
  if (frame.size() < 14) throw Refusal("an interface of Linux sends no frame of less than 14 bytes.", true);
  if (t < reached_) throw Refusal(fmt::format("a frame ends at {}, before the time reached, {}.", t, reached_), false);
  const Time length = (frame.size() + kBetweenFrames) * 8000 / port_gbps_;
  add({t, plane, true, false, {frame.begin(), frame.end()}, fcs_bad, t - std::min(t, length)});
}

/// Nothing beyond `until`: what happens to its port before it may not be told yet.
void PortsTester::send_due(Time now, Time until) {
  bool any = false;
  while (!due_.empty() && due_.front().time <= std::min(now, until)) {
    Due due = std::move(due_.front());
    due_.pop_front();
    late_ = std::max(late_, now - due.time);
    if (due.fcs_bad) {
      if (wanted_[due.plane] && off_[due.plane] < std::max<Time>(due.begin, 1))
        throw Refusal("an interface of Linux sends no frame with a wrong FCS.", true);
    } else if (due.is_frame) {
      ports_->send(due.plane, std::move(due.bytes));
      ++frames_;
      any = true;
    } else {
      ports_->flush();
      ports_->set_up(due.plane, due.up);
      wanted_[due.plane] = up_[due.plane] = due.up;
      if (!due.up) off_[due.plane] = due.time;
    }
  }
  if (any || ports_->waits()) ports_->flush();
}

/// In the order of time; nothing lies before what was told.
void PortsTester::place(Output output) {
  output.time = std::max(output.time, reached_);
  const auto behind = std::upper_bound(ready_.begin(), ready_.end(), output.time,
                                       [](Time time, const Output& other) { return time < other.time; });
  ready_.insert(behind, std::move(output));
}

void PortsTester::hear() {
  std::vector<ArrivedFrame> came;
  for (unsigned p = 0; p < planes_; ++p) {
    came.clear();
    ports_->receive(p, came);
    for (ArrivedFrame& frame : came) {
      if (frame.foreign) {
        ++foreign_;
        continue;
      }
      const Time byte = 8000 / port_gbps_, length = frame.bytes.size() * byte;
      const Time arrived = frame.ns > begin_ns_ ? wall_.of_ns(frame.ns - begin_ns_) : 0;
      if (arrived + wall_.jitter < reached_) {  // what was told of that time lacks it
        throw Refusal(
            fmt::format("the test bed is broken: the tester heard a frame {:.1f} us after it had come. Promise "
                        "more, or let time go slower.",
                        static_cast<double>(reached_ - arrived) / 1e6),
            false);
      }
      const Time first = std::max({arrived > length ? arrived - length : 0, free_[p], reached_});
      free_[p] = first + length + kBetweenFrames * byte;
      place({first, SentFrame{p, first + length, std::move(frame.bytes)}});
      ++frames_;
    }
  }
}

void PortsTester::carriers(Time now) {
  for (unsigned p = 0; p < planes_; ++p) {
    if (!wanted_[p] || ports_->carrier(p) == up_[p]) continue;
    up_[p] = !up_[p];
    place({looked_, log::Port{static_cast<uint8_t>(p), up_[p]}});  // the NIC may have seen it before us
  }
  looked_ = now;
}

void PortsTester::poll(Time now) {
  carriers(now);
  polled_ns_ = monotonic_ns();
  if (const uint64_t lost = ports_->dropped(); lost > 0) {
    throw Refusal(fmt::format("the test bed is broken: the kernel dropped {} frames at the tester's ports.", lost),
                  false);
  }
  Advanced reported = nic_->advance(std::max<Time>(now, 1), 0);
  reported_ = reported.reached;
  for (Output& output : reported.out) place(std::move(output));
}

/// At the end of a wait: what the NIC sent until then is here once it has come as far. One that is behind may yet send.
void PortsTester::hold_nic(Time now, Time until) const {
  const Time may = std::max<Time>(wall_.jitter, 1);
  if (reported_ < until && now - reported_ > may) {
    throw Refusal(
        fmt::format("the test bed is broken: the NIC's process was {:.1f} us behind, and promises {:.1f}. Promise "
                    "more, or let time go slower.",
                    static_cast<double>(now - reported_) / 1e6, static_cast<double>(may) / 1e6),
        false);
  }
}

void PortsTester::hold_promise() const {
  if (late_ > wall_.share()) {
    throw Refusal(fmt::format("the test bed is broken: the tester was {:.1f} us late, and promises {:.1f}. Promise "
                              "more, or let time go slower.",
                              static_cast<double>(late_) / 1e6, static_cast<double>(wall_.share()) / 1e6),
                  false);
  }
}

Advanced PortsTester::advance(Time until, Time) {
  if (until == 0) return {};
  if (!runs_) begin();
  for (;;) {
    const Time now = wall_now();
    send_due(now, until);
    hold_promise();
    // First the host, then the wire: an answer never comes before what it tells of.
    if (now >= until || monotonic_ns() - polled_ns_ >= kPollNs) poll(now);
    const bool over = now >= until && reported_ >= until;
    if (now >= until) hold_nic(now, until);
    hear();
    const Time end = std::min(until, now);
    Advanced ran;
    size_t bytes = 0;
    while (!ready_.empty() && ready_.front().time <= end && ran.out.size() < kReady && bytes < kReadyBytes) {
      const Output& output = ready_.front();
      if (const auto* frame = std::get_if<SentFrame>(&output.body)) bytes += 2 * frame->bytes.size();
      if (const auto* write = std::get_if<HostWrite>(&output.body)) bytes += 2 * write->data.size();
      bytes += 100;
      ran.out.push_back(std::move(ready_.front()));
      ready_.pop_front();
    }
    if (!ran.out.empty() || over) {
      reached_ = ran.out.empty() ? until : std::max(reached_, ran.out.back().time);
      ran.reached = reached_;
      return ran;
    }
    Time next = until;
    if (!due_.empty()) next = std::min(next, due_.front().time);
    if (!ready_.empty()) next = std::min(next, ready_.front().time);
    const uint64_t nap = next > now ? wall_.to_ns(next - now) : 1;
    ports_->wait(std::clamp<uint64_t>(nap, 1, kPollNs), -1);
  }
}

Counters PortsTester::counters() {
  Counters counters = nic_->counters();
  counters.time = std::min(counters.time, reached_);
  counters.values.emplace_back("tester_late_ps", late_);
  counters.values.emplace_back("tester_frames", frames_);
  counters.values.emplace_back("strangers", ports_->strangers() + foreign_);
  return counters;
}

}  // namespace mrc::tb

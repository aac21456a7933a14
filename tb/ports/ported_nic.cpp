// SPDX-License-Identifier: Apache-2.0
#include "tb/ports/ported_nic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "input/json.hpp"

namespace mrc::tb {
namespace {
using input::Json;

constexpr Time kStep = 1'000'000;        ///< ps that the NIC runs between two looks at its ports
constexpr uint64_t kPumpNs = 5'000'000;  ///< wall time of one pump(), so that calls are answered
constexpr size_t kLeast = 60;            ///< bytes of the shortest frame without its FCS
constexpr unsigned kForeignShare = 16;   ///< frames that are no MRC have one of so many parts of a port's time
constexpr size_t kOutputs = 4096;        ///< that one answer holds
constexpr size_t kOutputBytes = 384 << 10;

size_t bytes_of(const Output& output) {
  const auto* write = std::get_if<HostWrite>(&output.body);
  return 200 + (write != nullptr ? 2 * write->data.size() : 0);
}

}  // namespace

std::string slower_profile(const std::string& profile, const WallTime& time) {
  Json json = input::parse_json(profile).value_or(Json::object());
  const auto add = [&](const char* name, Time usual, Time more) {
    const Json* now = json.find(name);
    const auto promised = now != nullptr ? now->whole() : usual;
    if (promised) json[name] = *promised + more;  // who reads the profile refuses what is no time
  };
  add("take_ps", 3'000'000, 2 * time.share());
  add("answer_ps", 10'000'000, time.share());
  add("skew_ps", 0, time.jitter);
  return json.dump();
}

DeviceInfo PortedNic::open(const OpenRequest& request) {
  runs_ = false;
  now_ = 0;
  DeviceInfo info = inner_->open(request);
  if (info.planes > ports_->count())
    throw Refusal(fmt::format("the NIC uses {} planes, and {} ports were named.", info.planes, ports_->count()), true);
  ports_->clear();
  out_.clear();
  planes_ = info.planes;
  port_gbps_ = std::max(1u, info.port_gbps);
  free_.assign(planes_, 0);
  foreign_.assign(planes_, 0);
  left_out_ = 0;
  for (const auto& [name, value] : request.settings) {
    if (name == "UDP_PORT.port") ports_->udp_port(static_cast<uint16_t>(value));
  }
  up_.assign(planes_, true);
  info.latency += wall_.jitter;
  info.profile = slower_profile(info.profile, wall_);
  return info;
}

void PortedNic::port(unsigned, bool, Time) {
  throw Refusal("the carrier of this NIC's ports is that of the wire: switch the other end.", false);
}

void PortedNic::rx(unsigned, Time, std::span<const uint8_t>, bool) {
  throw Refusal("frames come to this NIC over its ports, not by this call.", false);
}

/// A carrier that goes takes nothing with it that had come before.
void PortedNic::carriers() {
  for (unsigned p = 0; p < planes_; ++p) {
    const bool up = ports_->carrier(p);
    if (up == up_[p]) continue;
    if (!up) hear(p);
    up_[p] = up;
    inner_->port(p, up, std::max(now_, free_[p]));
  }
}

void PortedNic::hear() {
  for (unsigned p = 0; p < planes_; ++p) hear(p);
}

void PortedNic::hear(unsigned p) {
  std::vector<ArrivedFrame> came;
  ports_->receive(p, came);
  for (const ArrivedFrame& frame : came) {
    if (frame.foreign && std::max(free_[p], foreign_[p]) > now_) {
      ++left_out_;
      continue;
    }
    const Time arrived = frame.ns > begin_ns_ ? wall_.of_ns(frame.ns - begin_ns_) : 0;
    const Time byte = 8000 / port_gbps_, length = frame.bytes.size() * byte;
    // Not before it was there: a NIC that lags behind the clock must not answer before it was asked.
    const Time begin = std::max({now_, free_[p], arrived > length ? arrived - length : 0}), here = due();
    if (here > arrived) late(here - arrived);
    inner_->rx(p, begin + length, frame.bytes, false);
    free_[p] = begin + (std::max(frame.bytes.size(), kLeast) + kBetweenFrames) * byte;
    if (frame.foreign) foreign_[p] = begin + kForeignShare * (free_[p] - begin);
    ++frames_;
  }
}

void PortedNic::pump() {
  if (!runs_) return;
  const uint64_t give_up = monotonic_ns() + kPumpNs;
  const Time end = due();
  carriers();
  while (now_ < end && monotonic_ns() < give_up) {
    hear();
    const Time target = std::min(end, now_ + kStep);
    while (now_ < target) {
      Advanced ran = inner_->advance(target, target - now_);
      now_ = ran.reached;
      for (Output& output : ran.out) {
        if (auto* frame = std::get_if<SentFrame>(&output.body)) {
          ports_->send(frame->plane, std::move(frame->bytes));
          if (const Time here = due(); here > output.time) late(here - output.time);
          ++frames_;
        } else {
          out_.push_back(std::move(output));
        }
      }
    }
    ports_->flush();
  }
  if (ports_->waits()) ports_->flush();
}

Advanced PortedNic::advance(Time until, Time) {
  if (until > 0 && !runs_) {
    runs_ = true;
    begin_ns_ = monotonic_ns();
    late_ = 0;
  }
  pump();
  if (late_ > wall_.share()) {
    throw Refusal(fmt::format("the test bed is broken: a frame waited {:.1f} us for the NIC's process, which promises "
                              "{:.1f}. Promise more, or let time go slower.",
                              static_cast<double>(late_) / 1e6, static_cast<double>(wall_.share()) / 1e6),
                  false);
  }
  if (const uint64_t lost = ports_->dropped(); lost > 0)
    throw Refusal(fmt::format("the test bed is broken: the kernel dropped {} frames at the NIC's ports.", lost), false);
  Advanced ran;
  ran.reached = std::min(until, now_);
  size_t many = 0, bytes = 0;
  while (many < out_.size() && many < kOutputs && bytes < kOutputBytes && out_[many].time <= ran.reached)
    bytes += bytes_of(out_[many++]);
  if (many < out_.size()) ran.reached = std::min(ran.reached, out_[many].time);
  const auto end = out_.begin() + static_cast<std::ptrdiff_t>(many);
  ran.out.assign(std::make_move_iterator(out_.begin()), std::make_move_iterator(end));
  out_.erase(out_.begin(), end);
  return ran;
}

Counters PortedNic::counters() {
  Counters counters = inner_->counters();
  counters.values.emplace_back("clock_ns", begin_ns_);
  counters.values.emplace_back("late_ps", late_);
  counters.values.emplace_back("port_frames", frames_);
  counters.values.emplace_back("foreign_left_out", left_out_);
  return counters;
}

}  // namespace mrc::tb

// SPDX-License-Identifier: Apache-2.0
#include "reference/requestor_world.hpp"

#include <algorithm>

#include "reference/numbers.hpp"

namespace mrc::ref {
namespace {

constexpr unsigned kGapBytes = 12;  ///< between frames
constexpr std::size_t kMostSamples = 4096;
constexpr Time kSample = 1'000'000;     ///< ps between samples, at least
constexpr unsigned kMostOvertaken = 4;  ///< marks on one plane

}  // namespace

FreeTime::FreeTime(unsigned planes, double port_gbps, Time patience)
    : planes_(std::clamp(planes, 1u, log::kMaxPlanes)),
      gap_(static_cast<Time>(kGapBytes * 8 * 1000 / std::max(port_gbps, 0.001))),
      patience_(patience) {
  up_.fill(true);
}

void FreeTime::port(unsigned plane, bool up, Time time) {
  until(time);
  if (plane >= log::kMaxPlanes || up_[plane] == up) return;
  up_[plane] = up;
  changed_ = time;
  some_up_ = std::any_of(up_.begin(), up_.begin() + planes_, [](bool one) { return one; });
}

void FreeTime::sent(unsigned plane, Time first, Time last, Time time) {
  until(time);
  if (plane >= log::kMaxPlanes) return;
  planes_ = std::max(planes_, plane + 1);
  busy_[plane] = std::max(busy_[plane], std::max(first, last) + gap_);
}

void FreeTime::read(uint64_t tag, Time time) {
  until(time);
  reads_.add(tag, time);
}

void FreeTime::read_done(uint64_t tag, Time time) {
  until(time);
  reads_.answered(tag, [](Time, bool) {});
}

Time FreeTime::until(Time time) {
  if (time <= at_) return free_;
  Time end = time, sum = 0, idle = at_;
  unsigned up = 0;
  for (unsigned plane = 0; plane < planes_; ++plane) {
    if (!up_[plane]) continue;
    ++up;
    idle = std::max(idle, busy_[plane]);
  }
  idle = std::min(idle, time);
  if (!reads_.empty()) {
    end = std::min(idle, std::max(reads_.oldest() + patience_, at_));
    starved_ += time - idle;
  }
  for (unsigned plane = 0; plane < planes_; ++plane) {
    const Time from = std::max(at_, busy_[plane]);
    if (up_[plane] && from < end) sum += end - from;
  }
  if (up != 0) free_ += sum / up;
  at_ = time;
  if (samples_.empty() || samples_.back().first + kSample <= time) {
    if (samples_.size() == kMostSamples) samples_.pop_front();
    samples_.emplace_back(time, starved_);
  }
  return free_;
}

Time FreeTime::starved(Time from, Time to) const {
  const auto at = [&](Time time) {
    const auto later = std::ranges::upper_bound(samples_, time, {}, &std::pair<Time, Time>::first);
    if (later != samples_.begin()) return std::prev(later)->second;
    const Time before = samples_.empty() ? 0 : samples_.front().first - time;
    return samples_.size() < kMostSamples ? Time{0}
                                          : samples_.front().second - std::min(samples_.front().second, before);
  };
  const Time first = at(from), last = at(to);
  return last - std::min(first, last);
}

double nominal_size(const wire::Packet& p, const Settings& settings) {
  constexpr unsigned kPayload = 1, kPayload40 = 2;
  constexpr double kMore = 40;
  const auto payload = static_cast<double>(p.payload.size());
  if (settings.nominal == kPayload) return payload;
  if (settings.nominal == kPayload40) return payload + kMore;
  return static_cast<double>(p.udp->length) + kMore;
}

RequestorWorld::RequestorWorld(const Profile& profile, Report& report)
    : world(profile, report), free(profile.planes, profile.port_gbps, profile.take) {}

Time RequestorWorld::gone(const log::Qp& qp, unsigned plane) const {
  if (plane >= log::kMaxPlanes) return 0;
  const auto peer = peer_gone.find(world.plain(qp.peer_ip, qp.encap == 3));
  return std::max(world.went_down(plane), peer == peer_gone.end() ? 0 : peer->second[plane]);
}

bool RequestorWorld::all_overtaken() const {
  return std::ranges::count_if(overtaken, [](unsigned marks) { return marks >= kMostOvertaken; }) > 1;
}

void RequestorWorld::doubt(Finding finding) {
  if (disturbed.near(finding.since != 0 ? finding.since : finding.time, world.lag()))
    return world.report().disturbed(finding.rule);
  if (!world.profile().silent_drops) return world.report().broken(std::move(finding));
  ++held_count_[finding.rule];
  if (held_.size() < kMostHeldFindings) held_.push_back(std::move(finding));
}

void RequestorWorld::decide(std::optional<uint64_t> dropped) {
  if (dropped == uint64_t{0}) {
    for (Finding& f : held_) world.report().broken(std::move(f));
  } else {
    for (const auto& [rule, count] : held_count_) world.report().discarded(rule, count, dropped.has_value());
  }
  held_.clear();
  held_count_.clear();
}

}  // namespace mrc::ref

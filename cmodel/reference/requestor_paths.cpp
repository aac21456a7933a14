// SPDX-License-Identifier: Apache-2.0
#include "reference/requestor_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace mrc::ref {
namespace {

constexpr uint32_t kBalance = 512;  ///< packets of a window in which planes are compared
constexpr double kUneven = 0.25;    ///< of an equal share
/// Of N EVs in use, one that is not taken in 16 N packets is not used: who draws them takes it all the same but once in
/// 8 million times.
constexpr uint64_t kUnused = 16;

using history::words;

}  // namespace

RequestorPaths::RequestorPaths(const log::Qp& qp, RequestorWorld& world, Time time) : world_(world) {
  change(qp, time);
  planes_.resize(log::kMaxPlanes);
}

void RequestorPaths::change(const log::Qp& qp, Time time) {
  const bool same = qp.evs == qp_.evs;
  const bool of_evs = !same || qp.denied != qp_.denied || ((qp.flags | qp_.flags) & log::kOrdered) != 0;
  qp_ = qp;
  lessened_ = lessened_ || !qp.denied.empty();
  if (!same) {
    uses_.clear();
    blames_.clear();
    for (const uint32_t ev : qp.evs) {
      const auto [at, fresh] = uses_.try_emplace(ev);
      at->second.once = fresh;
    }
  }
  if (of_evs) owners((qp.flags & log::kOrdered) != 0, time);
}

/// What the QP's owner has denied and allowed. An order may act at once or not yet: then an EV is neither.
void RequestorPaths::owners(bool ordered, Time time) {
  std::unordered_map<uint32_t, bool> denied;  // in all of its places
  for (const uint32_t ev : qp_.evs) denied.try_emplace(ev, true);
  for (std::size_t i = 0; i < qp_.evs.size(); ++i) {
    if (std::ranges::find(qp_.denied, i) == qp_.denied.end()) denied[qp_.evs[i]] = false;
  }
  denied_ = allowed_ = 0;
  for (auto& [ev, use] : uses_) {
    const bool is = denied[ev];
    use.missed = !is && (use.missed || use.denied);
    if (!is) use.denied.reset();
    if (is) use.allowed.reset();
    if (is && !ordered && !use.denied) {
      use.denied = time;
      use.waited = world_.world.waited(time);
    }
    if (use.missed && !ordered) {
      use.missed = false;
      use.allowed = packets_;
    }
    denied_ += use.denied.has_value();
    allowed_ += use.allowed.has_value();
  }
}

/// It may have been given its EV before, and have waited: for others, for the host, for its port.
void RequestorPaths::check_denied(const Seen& seen, const Use& use) {
  const history::World& w = world_.world;
  const bool is = use.denied && *use.denied + w.queue() + (w.waited(seen.first) - use.waited) < seen.first;
  if (is && seen.frame.plane < log::kMaxPlanes && w.at(seen.frame.plane).since + w.queue() >= *use.denied &&
      w.at(seen.frame.plane).ever_down) {
    return world_.world.report().rests(Rule::PathDenied, "its port was down, and it may have waited there");
  }
  world_.world.check(
      Rule::PathDenied, !is, &seen, world_.world.local(qp_.qp),
      [&] { return words(seen, world_.world.profile().wire()); },
      [&] { return fmt::format("another EV: this one is denied since {}", words(*use.denied)); });
}

/// Packets of the QP have left since this EV was allowed; `used`: one of them with it.
void RequestorPaths::check_allowed(const Seen& seen, uint32_t ev, Use& use) {
  const bool used = seen.packet.entropy(world_.world.profile().wire()) == ev;
  const uint64_t enough = kUnused * (qp_.evs.size() - std::min<std::size_t>(qp_.backup, qp_.evs.size()));
  if (!used && packets_ - *use.allowed < enough) return;
  use.allowed.reset();
  --allowed_;
  if (!used && ever_lost_) return world_.world.report().rests(Rule::PathAllowed, "EVs have gone bad");
  if (!used && !use.once) return world_.world.report().rests(Rule::PathAllowed, "the EV stands in the set twice");
  world_.world.check(
      Rule::PathAllowed, used, &seen, world_.world.local(qp_.qp),
      [&] { return fmt::format("none of {} packets has EV 0x{:08x}", enough, ev); },
      [] { return std::string("some: its owner has allowed it again"); });
}

/// Why EVs cannot be judged; null: they can.
const char* RequestorPaths::unfit() const {
  if (const char* why = world_.world.incomplete()) return why;
  if (qp_.evs.empty()) return "the QP's EVs are not known";
  return world_.never_down() ? nullptr : "a port was down";
}

void RequestorPaths::sent(const Seen& seen, bool again) {
  const uint32_t ev = seen.packet.entropy(world_.world.profile().wire());
  const auto use = uses_.find(ev);
  if (use == uses_.end()) return;
  ++packets_;
  if (denied_ != 0) check_denied(seen, use->second);
  if (unfit() != nullptr) return;
  if (allowed_ != 0) {
    for (auto& [other, of] : uses_) {
      if (of.allowed) check_allowed(seen, other, of);
    }
  }
  const auto blame = blames_.find(ev);
  const bool shown = (world_.world.profile().shows >> static_cast<unsigned>(log::EventKind::Path) & 1) != 0;
  bool late = shown && blame != blames_.end() && blame->second + world_.world.queue() < seen.first;
  if (late && floor()) {
    world_.world.report().rests(Rule::PathBlamed, "the EV may be needed");
    late = false;
  }
  if (late && bad_world(seen.frame.plane)) {
    world_.world.report().rests(Rule::PathBlamed, "other planes lose, too");
    late = false;
  }
  if (shown)
    world_.world.check(
        Rule::PathBlamed, !late, &seen, world_.world.local(qp_.qp),
        [&] { return words(seen, world_.world.profile().wire()); },
        [&] {
          return fmt::format(
              "another EV: a packet of this one was sent again as lost at {}, and no probe was answered since",
              words(blame->second));
        });
  if (!again) balance(seen);
}

void RequestorPaths::out_of_use(uint32_t ev, Time time) {
  const auto use = uses_.find(ev);
  if (use == uses_.end()) return;
  lessened_ = true;
  use->second.out = time;
  use->second.back = false;
}

void RequestorPaths::blamed(uint32_t ev, Time sent, Time time) {
  const auto use = uses_.find(ev);
  if (use == uses_.end() || unfit() != nullptr) return;
  use->second.doubted = true;
  if (use->second.out > sent && use->second.back) {
    return world_.world.report().rests(Rule::PathBlamed, "it went bad after the packet left, and came back");
  }
  if (!use->second.once) return world_.world.report().rests(Rule::PathBlamed, "the EV stands in the set twice");
  blames_.try_emplace(ev, time);
}

/// So many EVs were blamed that one of them may have to stay in use. In which order the device blamed them is
/// not shown: retransmissions wait inside.
bool RequestorPaths::floor() const {
  const std::size_t set = uses_.size() - std::min<std::size_t>(qp_.backup, uses_.size());
  const auto doubted = std::count_if(uses_.begin(), uses_.end(), [](const auto& one) { return one.second.doubted; });
  return static_cast<std::size_t>(doubted) + world_.world.settings().min_active >= set;
}

/// Half of the planes have lost something besides that one, so the loss may not have counted. What a device
/// forgets, and when, is not looked at. A world that is bad was good before: then each loss has counted, and was shown.
bool RequestorPaths::bad_world(unsigned plane) const {
  if (world_.world.settings().loss_share == 0) return false;
  const uint64_t others = lossy_ & ~(uint64_t{1} << (plane & 63));
  return others != 0 && 2 * static_cast<unsigned>(std::popcount(others)) >= world_.world.planes();
}

void RequestorPaths::answered(uint32_t ev) { blames_.erase(ev); }

void RequestorPaths::balance(const Seen& seen) {
  const unsigned planes = world_.world.planes();
  if (planes < 2 || planes > planes_.size() || seen.frame.plane >= planes) return;
  ++planes_[seen.frame.plane];
  if (++window_ < kBalance) return;
  const double share = static_cast<double>(kBalance) / planes;
  const auto ends = std::minmax_element(planes_.begin(), planes_.begin() + planes);
  const uint32_t least = *ends.first, most = *ends.second;
  const double fewest = share * (1 - kUneven), largest = share * (1 + kUneven);
  const bool even = least >= fewest && most <= largest;
  if (ever_lost_ || lessened_) {
    world_.world.report().rests(Rule::PathEqual, "EVs have gone bad");
  } else if (!even && least + skips_ >= fewest && most <= largest + skips_) {
    world_.world.report().rests(Rule::PathEqual, "EVs were marked");
  } else {
    world_.world.check(
        Rule::PathEqual, even, nullptr, world_.world.local(qp_.qp),
        [&] { return fmt::format("{} to {} of {} packets on a plane", least, most, kBalance); },
        [&] { return fmt::format("{:.0f} on each, a quarter more or less", share); });
  }
  std::fill(planes_.begin(), planes_.end(), 0);
  window_ = skips_ = 0;
}

void RequestorPaths::finish() {
  const bool shown = (world_.world.profile().shows >> static_cast<unsigned>(log::EventKind::Path) & 1) != 0;
  if (ever_lost_ && !shown) {
    world_.world.report().rests(Rule::PathBlamed, "the device does not show what becomes of its EVs");
  }
}

}  // namespace mrc::ref

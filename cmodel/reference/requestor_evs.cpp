// SPDX-License-Identifier: Apache-2.0
#include "reference/requestor_evs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reference/numbers.hpp"

namespace mrc::ref {
namespace {

constexpr std::size_t kMostMarks = 4096, kMostJoined = 64;

using history::Seq;
using history::words;
using log::EvState;

const char* name_of(EvState state) {
  constexpr const char* kNames[] = {"GOOD", "SKIP", "ASSUMED_BAD", "DENIED", "backup", "SKIP twice"};
  const auto i = static_cast<std::size_t>(state);
  return i < std::size(kNames) ? kNames[i] : "no state";
}

bool uses(EvState state) { return state == EvState::Good || state == EvState::Skip || state == EvState::SkipTwice; }

}  // namespace

RequestorEvs::RequestorEvs(const log::Qp& qp, RequestorWorld& world, Time time) : world_(world) { change(qp, time); }

EvState RequestorEvs::first_state(std::size_t place) const {
  return place + qp_.backup < places_.size() ? EvState::Good : EvState::Backup;
}

void RequestorEvs::change(const log::Qp& qp, Time time) {
  const bool same = qp.evs == qp_.evs;
  const bool others = qp.state != qp_.state || qp.window != qp_.window;
  const bool first = qp_.evs.empty() && qp_.qp == 0;
  if (!first &&
      (!same || !others || qp.ev_planes != qp_.ev_planes || qp.backup != qp_.backup || qp.denied != qp_.denied)) {
    touched_ = time;
  }
  qp_ = qp;
  changed_ = time;
  if (same) return;
  const std::size_t before = places_.size();
  places_.resize(qp.evs.size());
  by_ev_.clear();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const bool fresh = places_[i].ev != qp.evs[i] || qp.evs[i] == 0;
    places_[i].plane = i < qp.ev_planes.size() ? qp.ev_planes[i] : 0;
    if (fresh) {
      // 0 is an EV as any other, and a place where none was put yet.
      places_[i].known = i >= before || (places_[i].ev == 0 && places_[i].known && places_[i].state == first_state(i));
      places_[i].state = first_state(i);
      places_[i].left_good = time;
      places_[i].waited = world_.world.waited(time);
      places_[i].was = places_[i].ev;
    }
    places_[i].ev = qp.evs[i];
    by_ev_[qp.evs[i]].push_back(i);
  }
  owed_.clear();
}

bool RequestorEvs::once(uint32_t ev) const {
  const auto at = by_ev_.find(ev);
  return at != by_ev_.end() && at->second.size() == 1;
}

RequestorEvs::Place* RequestorEvs::find(uint32_t ev) {
  const auto at = by_ev_.find(ev);
  return at == by_ev_.end() ? nullptr : &places_[at->second.front()];
}

template <class Came, class Right>
void RequestorEvs::check(Rule rule, bool holds, const Seen* seen, Came&& came, Right&& right) {
  world_.world.check(rule, holds, seen, world_.world.local(qp_.qp), std::forward<Came>(came),
                     std::forward<Right>(right));
}

/// The table of section 5.
bool RequestorEvs::may(EvState from, EvState to) const {
  if (to == EvState::Denied) return true;
  switch (from) {
    case EvState::Good:
      return to == EvState::Skip || to == EvState::Bad || to == EvState::Backup;
    case EvState::Skip:
      if (to == EvState::SkipTwice) return world_.world.settings().skip_mode == kSkipModeTwice;
      return to == EvState::Good || to == EvState::Bad || to == EvState::Backup;
    case EvState::SkipTwice:
      return to == EvState::Skip || to == EvState::Bad || to == EvState::Backup;
    case EvState::Bad:
      return to == EvState::Good || to == EvState::Skip;
    default:
      return to == EvState::Good;
  }
}

/// A device that skips for a time may show in which part of it an EV is: that is SKIP all the same.
EvState RequestorEvs::read(uint64_t state) const {
  const bool timed = world_.world.settings().skip_mode == kSkipModeTime;
  return timed && state == static_cast<uint64_t>(EvState::SkipTwice) ? EvState::Skip : static_cast<EvState>(state);
}

std::size_t RequestorEvs::good() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(places_, [](const Place& p) { return p.state == EvState::Good || !p.known; }));
}

/// A packet that is seen now may have been given its EV then: it waited inside, for data that the host owed perhaps.
bool RequestorEvs::lately(const Then& then, const Seen& seen) const {
  const Time waited = world_.world.waited(seen.first);
  return then.at != 0 && then.at + world_.world.queue() + (waited - std::min(waited, then.waited)) >= seen.first;
}

/// All are to be skipped, or were then: one of them is used. A NIC that skips for a time leaves out the EV that a
/// retransmission had besides.
bool RequestorEvs::scarce(const Seen& seen, const Place& place) const {
  if (place.state != EvState::Skip && place.state != EvState::SkipTwice && !lately(place.left_skip, seen)) return false;
  const bool avoids = world_.world.settings().skip_mode == kSkipModeTime && seen.packet.bth->rtx != 0;
  const std::size_t most = avoids ? 1 : 0;
  return good() <= most || lately(scarce_[most], seen);
}

/// All EVs of the planes that are up are bad, perhaps, or were then: one of them is used.
bool RequestorEvs::bad_serves(const Seen& seen, const Place& place) const {
  if (world_.world.settings().bad_waits || place.state != EvState::Bad) return false;
  return !world_.never_down() || good() == 0 || lately(scarce_[0], seen);
}

void RequestorEvs::event(const log::Event& event, bool lost, bool given_up, Time time) {
  const auto ev = static_cast<uint32_t>(event.arg[0]);
  const EvState from = read(event.arg[1]), to = read(event.arg[2]);
  const auto at = static_cast<std::size_t>(event.arg[3]);
  if (at >= places_.size() || places_[at].ev != ev) return;
  Place& place = places_[at];
  const EvState was = place.state;
  if (was == EvState::Good) {
    place.left_good = time;
    place.waited = world_.world.waited(time);
    left_good(at);
  }
  const bool floor = at_floor();
  const std::size_t good_before = good();
  place.state = to;
  const Time skipped = place.skipped;
  if (to == EvState::Skip && was != EvState::SkipTwice) place.skipped = time;
  const Then now{time, world_.world.waited(time)};
  if (was == EvState::Skip || was == EvState::SkipTwice) place.left_skip = now;
  for (std::size_t most = 0; most < scarce_.size(); ++most) {
    if (std::min(good_before, good()) <= most) scarce_[most] = now;
  }
  if (floor && !at_floor()) left_floor_ = time;
  const bool known = std::exchange(place.known, true);
  const unsigned wanted = std::max(1u, world_.world.settings().probe_successes);
  if (was == EvState::Bad && place.answers < wanted) place.probed_on = true;
  const unsigned answers = std::exchange(place.answers, 0), marks = std::exchange(place.marked, 0);
  const bool leaves = was == EvState::Bad && to != EvState::Denied;
  const unsigned early = leaves ? std::exchange(place.early, 0) : (place.early += answers);
  if (to == EvState::Bad) place.bad = time;
  if (was == EvState::Bad) place.back = time;
  // Whoever sets a QP up sets its EVs up.
  if (!settled(time) && to == first_state(at)) return;
  const auto came = [&] {
    return fmt::format("EV 0x{:08x} of QP 0x{:x} goes from {} to {}", ev, qp_.qp, name_of(from), name_of(to));
  };
  check(Rule::PathStates, (from == was || !known) && may(from, to), nullptr, came,
        [&] { return fmt::format("it was {}, and the table of mrc.md section 5", name_of(was)); });
  if (world_.world.settings().skip_mode == kSkipModeTime && from == EvState::Skip && to == EvState::Good && known) {
    const Time least = kTick * world_.world.settings().skip_ticks;
    check(Rule::PathSkipTime, time + 2 * kTick + world_.world.profile().skew >= skipped + least, nullptr, came,
          [&] { return fmt::format("not before {}: it is in SKIP since {}", words(skipped + least), words(skipped)); });
  }
  if (to == EvState::Skip && from == EvState::Good) {
    // The mark of the EV before may be taken just as its owner puts another one there.
    const bool marked = take_mark(ev, kSkipOnce, time) || (!settled(time) && take_mark(place.was, kSkipOnce, time));
    check(Rule::PathSkip, marked, nullptr, came,
          [] { return std::string("a mark before: no SACK with SKIP_ONCE, no NACK TRIMMED about it came"); });
  } else if (from == EvState::Bad && to != EvState::Denied && known && once(ev)) {
    if (answers != 0 && answers < wanted && answers + early >= wanted) {
      return world_.world.report().rests(Rule::PathRevived, "probes of it were answered before it went bad");
    }
    check(Rule::PathRevived, answers >= wanted, nullptr, came, [&] {
      return fmt::format("{} answers to probes on it before: {} came since {}", wanted, answers, words(place.bad));
    });
    const bool skips = marks != 0 && !world_.world.settings().skip_good;
    const bool open = skips && marks < answers;  // those before a failure do not count
    check(Rule::PathRevivedAs, open || (to == EvState::Skip) == skips, nullptr, came, [&] {
      return fmt::format("to {}: of {} answers {} had SKIP_ONCE", name_of(skips ? EvState::Skip : EvState::Good),
                         answers, marks);
    });
  } else if (from == EvState::Backup && to == EvState::Good) {
    joined_.push_back({time, place.plane});
    if (joined_.size() > kMostJoined) joined_.pop_front();
  } else if (to == EvState::Bad) {
    goes_bad(at, lost, given_up, time);
  }
}

void RequestorEvs::goes_bad(std::size_t at, bool lost, bool given_up, Time time) {
  const Place& place = places_[at];
  const bool refused = take_mark(place.ev, kAlwaysSkip, time);
  const auto came = [&] { return fmt::format("EV 0x{:08x} of QP 0x{:x} goes bad", place.ev, qp_.qp); };
  if (const char* why = world_.world.incomplete()) {
    world_.world.report().rests(Rule::PathBad, why);
  } else if (!lost && !refused && !world_.never_down()) {
    world_.world.report().rests(Rule::PathBad, "a port was down, and what it lost was not seen");
  } else if (lost || refused) {
    world_.world.report().ok(Rule::PathBad);
  } else if (doubts_.size() < kMostMarks) {
    doubts_.push_back(
        {.at = time, .due = time + 4 * world_.world.queue(), .ev = place.ev, .inside = given_up});  // or still waits
  }
  const bool spare = std::ranges::any_of(
      places_, [&](const Place& p) { return p.plane == place.plane && p.known && p.state == EvState::Backup; });
  const bool replaced = std::ranges::any_of(
      joined_, [&](const Joined& j) { return j.plane == place.plane && j.at + world_.world.lag() >= time; });
  if (replaced) erase_if(joined_, [&](const Joined& j) { return j.plane == place.plane; });
  if (spare || replaced) {
    check(Rule::PathReplaced, replaced || refused, nullptr, came,
          [&] { return fmt::format("one of the backup set of plane {} in its place", unsigned{place.plane}); });
  } else {
    const unsigned least = world_.world.settings().min_active;
    check(Rule::PathFloor, in_use() >= least, nullptr, came,
          [&] { return fmt::format("it stays in use: {} EVs are left, EV_CTL.min_active is {}", in_use(), least); });
  }
}

std::size_t RequestorEvs::in_use() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(places_, [](const Place& p) { return uses(p.state) || !p.known; }));
}

bool RequestorEvs::take_mark(uint32_t ev, unsigned m, Time time) {
  while (!marks_.empty() && marks_.front().at + 4 * world_.world.queue() < time) marks_.pop_front();
  const auto at = std::ranges::find_if(marks_, [&](const Mark& k) { return !k.used && k.ev == ev && k.m == m; });
  if (at == marks_.end()) return false;
  if (m == kSkipOnce) at->used = true;
  return true;
}

void RequestorEvs::marked(uint32_t ev, unsigned m, bool sure, Seq psn, unsigned plane, Time time) {
  if (marks_.size() < kMostMarks) marks_.push_back({time, ev, m});
  const Place* const place = find(ev);
  if (!sure || m != kSkipOnce || !once(ev) || !untouched(time) || place->state != EvState::Good || !place->known)
    return;
  if (owed_.size() < kMostMarks)
    owed_.push_back({.at = time,
                     .due = time + world_.world.queue(),
                     .place = static_cast<std::size_t>(place - places_.data()),
                     .ev = ev,
                     .psn = psn,
                     .plane = plane});
}

void RequestorEvs::lost(uint32_t ev, Time time) {
  for (Place& place : places_) {
    if (place.was == ev && ev != 0) place.lost = time;
  }
  const auto at = by_ev_.find(ev);
  if (at == by_ev_.end()) return;
  for (const std::size_t i : at->second) places_[i].lost = time;
}

/// Who went bad had lost a packet, at the latest when that is sent again.
void RequestorEvs::doubtful(Time time) {
  while (!doubts_.empty() && doubts_.front().due < time) {
    const Doubt doubt = doubts_.front();
    doubts_.pop_front();
    const Place* const place = find(doubt.ev);
    if (place == nullptr) continue;
    if (doubt.inside) {
      world_.world.report().rests(Rule::PathBad, "a packet of it still waited inside");
      continue;
    }
    check(
        Rule::PathBad, place->lost + 4 * world_.world.queue() >= doubt.at && place->lost != 0, nullptr,
        [&] { return fmt::format("EV 0x{:08x} of QP 0x{:x} went bad at {}", doubt.ev, qp_.qp, words(doubt.at)); },
        [] { return std::string("a packet of it that is lost, or a SACK with ALWAYS_SKIP about it"); });
  }
}

void RequestorEvs::heard(Seq before, Seq base, uint64_t bits, unsigned plane, Time time) {
  const Time near = world_.world.profile().take + world_.world.profile().skew;
  for (auto owed = owed_.rbegin(); owed != owed_.rend() && owed->at + near >= time; ++owed) {
    if (owed->plane == plane) continue;
    const Seq bit = owed->psn - base;
    if (owed->psn < before || (bit >= 0 && bit < 64 && (bits >> bit & 1) != 0)) owed->alone = false;
  }
}

void RequestorEvs::again(Seq psn) {
  for (Owed& owed : owed_) owed.alone = owed.alone && owed.psn != psn;
}

/// What was owed about it is done.
void RequestorEvs::left_good(std::size_t place) {
  erase_if(owed_, [&](const Owed& owed) {
    if (owed.place != place) return false;
    world_.world.report().ok(Rule::PathMarked);
    world_.overtaken = {};
    return true;
  });
}

void RequestorEvs::judge(const Owed& owed, Time time) {
  if (owed.place >= places_.size() || places_[owed.place].ev != owed.ev) return;
  world_.overtaken[owed.plane % log::kMaxPlanes] += !owed.alone;
  if (!owed.alone && !world_.all_overtaken()) {
    world_.world.report().rests(Rule::PathMarked,
                                "another answer about the packet, or the packet again, at about the same time");
    return;
  }
  if (touched_ != 0 && touched_ >= owed.at) {
    world_.world.report().rests(Rule::PathMarked, "the QP's owner has changed it");
    return;
  }
  Finding f = world_.world.finding(
      Rule::PathMarked, nullptr, world_.world.local(qp_.qp),
      fmt::format("EV 0x{:08x} of QP 0x{:x} stays GOOD", owed.ev, qp_.qp),
      fmt::format("SKIP: a SACK with SKIP_ONCE or a NACK TRIMMED about it came at {}{}", words(owed.at),
                  owed.alone ? "" : ", and many before it have done nothing either"));
  if (!owed.alone) world_.overtaken = {};
  f.time = time;
  f.since = owed.at;
  world_.doubt(std::move(f));
}

void RequestorEvs::now(Time time) {
  doubtful(time);
  for (; !owed_.empty() && owed_.front().due < time; owed_.pop_front()) judge(owed_.front(), time);
}

void RequestorEvs::sent(const Seen& seen) {
  const uint32_t ev = seen.packet.entropy(world_.world.profile().wire());
  const auto at = by_ev_.find(ev);
  if (at == by_ev_.end()) return;
  for (Doubt& doubt : doubts_) doubt.inside = doubt.inside || doubt.ev == ev;
  // It may have been chosen before it waited inside, also for data that the host owed.
  const Time waited = world_.world.waited(seen.first);
  const bool good = std::ranges::any_of(at->second, [&](std::size_t i) {
    const Place& p = places_[i];
    const Time owed = waited - std::min(waited, p.waited);
    return p.state == EvState::Good || p.left_good + world_.world.queue() + owed >= seen.first || !p.known;
  });
  if (!good && std::ranges::any_of(at->second, [&](std::size_t i) { return scarce(seen, places_[i]); }))
    return world_.world.report().rests(Rule::PathUsed, "all EVs were to be skipped");
  if (!good && std::ranges::any_of(at->second, [&](std::size_t i) { return bad_serves(seen, places_[i]); }))
    return world_.world.report().rests(Rule::PathUsed, "all EVs of the planes that are up may be bad");
  if (!good && !world_.never_down() && world_.world.settings().skip_mode == kSkipModeTime)
    return world_.world.report().rests(Rule::PathUsed, "a port was down, and all others were to be skipped, perhaps");
  if (!good && !settled(seen.first))
    return world_.world.report().rests(Rule::PathUsed, "the QP's owner has changed it");
  check(
      Rule::PathUsed, good, &seen, [&] { return words(seen, world_.world.profile().wire()); },
      [&] {
        const Place& p = places_[at->second.front()];
        return fmt::format("another EV: this one is {}, and was GOOD at {} for the last time", name_of(p.state),
                           words(p.left_good));
      });
}

/// A NIC that has bad EVs probes some of them; how many at a time is its affair. At the end of a run it stands still:
/// what it has heard of long enough before is not waiting any more.
void RequestorEvs::finish(bool cut, Time time) {
  for (; !cut && !owed_.empty() && owed_.front().at + world_.world.lag() < time; owed_.pop_front()) {
    judge(owed_.front(), time);
  }
  const Time wait = 4 * kTick * world_.world.settings().probe_interval + world_.world.queue();
  const auto bad = [&](const Place& p) { return p.known && p.state == EvState::Bad && p.bad + wait < time; };
  const auto first = std::ranges::find_if(places_, bad);
  if (first == places_.end() || !world_.never_down() || world_.world.incomplete() != nullptr) return;
  check(
      Rule::PathProbed, world_.probed >= first->bad, nullptr,
      [&] { return fmt::format("no probe of EV 0x{:08x} of QP 0x{:x}, or of any other", first->ev, qp_.qp); },
      [&] { return fmt::format("one within {} of {}, when it went bad", words(wait), words(first->bad)); });
}

void RequestorEvs::probed(uint32_t ev, Time time) {
  world_.probed = time;
  Place* const place = find(ev);
  if (place == nullptr || !once(ev) || place->bad == 0) return;
  const Time interval = kTick * world_.world.settings().probe_interval;
  const bool first = place->probe < place->bad;
  // Probes that went on when it was back go on when it is bad again: it was offered for probing while it came back.
  const bool on = first && place->back != 0 && place->probe > place->back;
  const Time since = on ? place->probe : std::max(place->probe, place->bad);
  if (first && place->probed_on) {
    world_.world.report().rests(Rule::PathProbeGap, "the EV was bad before, and its probes may have gone on");
    place->probed_on = place->state != EvState::Bad;
  } else if (place->probe != 0 || place->state == EvState::Bad) {
    check(
        Rule::PathProbeGap, time + world_.world.lag() + 2 * kTick >= since + interval, nullptr,
        [&] { return fmt::format("a probe of EV 0x{:08x} of QP 0x{:x} at {}", ev, qp_.qp, words(time)); },
        [&] {
          return fmt::format("none before {}: {} after {}", words(since + interval), words(interval), words(since));
        });
  }
  place->probe = time;
}

void RequestorEvs::answered(uint32_t ev, bool marked) {
  const auto at = by_ev_.find(ev);
  if (at == by_ev_.end()) return;
  for (const std::size_t i : at->second) {
    ++places_[i].answers;
    places_[i].marked += marked ? 1 : 0;
  }
}

}  // namespace mrc::ref

// SPDX-License-Identifier: Apache-2.0
#include "reference/requestor_cc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "reference/numbers.hpp"

namespace mrc::ref {
namespace {

constexpr std::size_t kMostStates = 256, kMostHeard = 4096, kKept = 32;
constexpr std::size_t kMostWays = 4096;      ///< that lead on from the states of a controller
constexpr std::size_t kMostTries = 1 << 16;  ///< SACKs looked at for one thing that a controller was told
constexpr unsigned kExchanges = 2;
constexpr Time kWrap = kTick << 16;  ///< of a round trip
constexpr unsigned kRcvdBits = 24;
constexpr double kRcvdUnit = 256;
constexpr unsigned kSkipOnce = 1;  ///< SETH.m

using history::words;

Rule rule_of(const CcInput& in) {
  if (in.kind == log::CcKind::Nack) return Rule::CcNack;
  if (in.kind == log::CcKind::Loss) return Rule::CcLoss;
  return in.pen != 0 || in.restore ? Rule::CcPenalty : Rule::CcAck;
}

std::string words(const CcInput& in) {
  constexpr const char* kNames[] = {"an acknowledgement", "a NACK", "a loss"};
  std::string text = fmt::format("{} of {} bytes", kNames[static_cast<unsigned>(in.kind) % 3], in.bytes);
  if (in.marked) text += ", marked";
  if (in.sampled) text += fmt::format(", round trip {}", words(static_cast<Time>(in.rtt)));
  if (in.pen != 0) text += fmt::format(", penalty {}", in.pen);
  if (in.restore) text += ", restore";
  if (in.kind == log::CcKind::Nack) text += fmt::format(", reason 0x{:02x}", in.reason);
  return text;
}

}  // namespace

RequestorCc::RequestorCc(RequestorWorld& world)
    : world_(world), shown_((world.world.profile().shows >> static_cast<unsigned>(log::EventKind::Cc) & 1) != 0) {
  for (const Controller& c : world.world.profile().controllers) dests_.try_emplace(c.dest, c);
}

RequestorCc::Dest* RequestorCc::find(uint32_t dest) {
  const auto at = dests_.find(dest);
  return at == dests_.end() ? nullptr : &at->second;
}

void RequestorCc::event(const log::Event& event, Time time) {
  if (!shown_ || event.kind != log::EventKind::Cc) return;
  Dest* const dest = find(static_cast<uint32_t>(event.arg[0]));
  if (dest == nullptr) return world_.world.report().rests(Rule::CcAck, "the profile does not tell the controller");
  take(*dest, event, time);
  if (dest->states.empty() || dest->fly > 0) {
    world_.empty.erase(dest->controller.dest);
  } else if (auto& empty = world_.empty[dest->controller.dest]; empty.window != dest->window) {
    empty = {dest->window, time};
  }
}

void RequestorCc::take(Dest& to, const log::Event& event, Time time) {
  Dest* const dest = &to;
  const log::CcNotified notified = log::CcNotified::unpack(event.arg[1]);
  CcInput in;
  in.kind = notified.kind;
  in.time = time;
  in.bytes = static_cast<double>(event.arg[2]);
  in.marked = notified.marked;
  in.restore = notified.restore;
  in.sampled = notified.sampled;
  in.pen = notified.pen;
  in.reason = notified.reason;
  in.rtt = static_cast<double>(event.arg[3]);
  switch (notified.kind) {
    case log::CcKind::Begins:
      dest->states = {Nscc(dest->controller, time)};
      dest->fly = dest->granted = dest->on_wire = dest->notified = dest->reported = 0;
      dest->window = dest->before = static_cast<double>(event.arg[5]);
      dest->window_at = time;
      dest->heard.clear();
      begins(*dest);
      return;
    case log::CcKind::Granted:
      dest->fly += in.bytes;
      dest->granted += in.bytes;
      return granted(*dest, time);
    case log::CcKind::Returned:
      dest->fly -= in.bytes;
      dest->granted -= in.bytes;
      std::shift_right(dest->returned.begin(), dest->returned.end(), 1);
      dest->returned.front() = {time, in.bytes};
      return;
    default:
      dest->fly -= in.bytes;
      in.fly = dest->fly;
      // A return of a moment ago may not have been counted yet.
      for (std::size_t i = 0; i < in.returned.size(); ++i) {
        const auto& [at, bytes] = dest->returned[i];
        in.returned[i] = at != 0 && time < at + kTick ? bytes : 0;
      }
      if (in.kind == log::CcKind::Ack) fits(*dest, in);
      // What of that packet had left the flight before, since rcvd_bytes comes in units, may be told as acknowledged.
      if (in.kind == log::CcKind::Loss || in.kind == log::CcKind::Nack) dest->reported += kRcvdUnit - 1;
      return follow(*dest, in, static_cast<double>(event.arg[5]));
  }
}

void RequestorCc::begins(Dest& dest) {
  const double right = dest.states.front().window();
  world_.world.check(
      Rule::CcStart, std::abs(dest.window - right) <= 1 + 1e-4 * right, nullptr, nullptr,
      [&] {
        return fmt::format("destination {}: its controller begins with a window of {:.0f} bytes", dest.controller.dest,
                           dest.window);
      },
      [&] { return fmt::format("{:.0f} bytes: max_wnd", right); });
  dest.states.front().correct(dest.window);
}

/// One step from every state that the controller may be in. Those that lead elsewhere than to what it shows were not.
void RequestorCc::follow(Dest& dest, const CcInput& in, double shown) {
  dest.before = dest.window;
  dest.window = shown;
  dest.window_at = in.time;
  Report& report = world_.world.report();
  const Rule rule = rule_of(in);
  if (dest.states.empty()) return report.rests(rule, "the controller's state is not known");
  std::vector<Nscc> after;
  for (const Nscc& state : dest.states) {
    for (const Nscc& next : state.after(in)) after.push_back(next);
    if (after.size() < kMostWays) continue;
    dest.lost = true;
    break;
  }
  const auto far = [&](const Nscc& n) { return std::abs(n.window() - 0.5 - shown); };
  const auto fit = [&](const Nscc& n) { return far(n) <= 2 + 0.01 * n.moved() + 1e-4 * shown; };
  const bool right = std::ranges::any_of(after, fit);
  const Nscc nearest = *std::ranges::min_element(after, {}, far);
  if (right) std::erase_if(after, [&](const Nscc& n) { return !fit(n); });
  for (Nscc& n : after) n.correct(shown);
  dest.states.clear();
  for (const Nscc& n : after) {
    if (dest.states.size() == kMostStates) {
      dest.lost = true;
      break;
    }
    if (std::ranges::none_of(dest.states, [&](const Nscc& o) { return o.same(n); })) dest.states.push_back(n);
  }
  if (!right && std::exchange(dest.lost, false)) {
    dest.states.clear();
    return report.rests(rule, "there were more ways than are followed");
  }
  world_.world.check(
      rule, right, nullptr, nullptr,
      [&] {
        return fmt::format("destination {}: {} took the window from {:.0f} to {:.0f} bytes", dest.controller.dest,
                           words(in), dest.before, shown);
      },
      [&] { return fmt::format("{:.0f} bytes: {}", std::floor(nearest.window()), nearest.did()); });
}

/// Which of the newest two windows held is not known for a moment.
void RequestorCc::granted(Dest& dest, Time time) {
  double window = dest.window;
  if (time < dest.window_at + world_.world.lag()) window = std::max(window, dest.before);
  world_.world.check(
      Rule::CcGrant, dest.fly <= window + dest.controller.mtu, nullptr, nullptr,
      [&] { return fmt::format("destination {}: {:.0f} bytes are in flight", dest.controller.dest, dest.fly); },
      [&] { return fmt::format("at most the window of {:.0f} bytes and a packet", window); });
}

bool RequestorCc::says(const Heard& h, const Notified& notified) {
  return (h.m == kSkipOnce) == notified.marked && h.pen == notified.pen && h.restore == notified.restore;
}

/// By how much what was told is longer than what the wire shows, modulo 2^16 ticks: a packet may have waited inside,
/// with its stamp, before it left. None: it is no round trip of that SACK.
std::optional<Time> RequestorCc::longer(const Heard& h, const Notified& notified) const {
  const Settings& settings = world_.world.settings();
  if (!h.rtt || (!h.once && !settings.rtt_rtx)) return std::nullopt;
  const Time tick = settings.tsr_us ? kSlowTick : kTick;
  const Time far = (notified.rtt + kWrap + 2 * tick - *h.rtt) % kWrap;
  return far <= world_.world.queue() + 4 * tick ? std::optional(far) : std::nullopt;
}

/// Finds a SACK for what was told. Which one it was of is not shown: one that was taken for another may have been this
/// one's, if that one finds another SACK, `exchanges` deep.
bool RequestorCc::give(Dest& dest, const Notified& notified, unsigned exchanges) {
  if (tries_ > kMostTries) return false;
  tries_ += dest.heard.size();
  auto best = dest.heard.end();
  const auto free = [&](bool wanted(const Heard&)) {
    if (best == dest.heard.end())
      best = std::ranges::find_if(dest.heard,
                                  [&](const Heard& h) { return !h.notified && says(h, notified) && wanted(h); });
  };
  if (notified.sampled) {
    // Of two that came at once on two ports either may be told first: a round trip is that of the one nearest to it.
    std::optional<Time> least;
    for (auto h = dest.heard.begin(); h != dest.heard.end(); ++h) {
      const std::optional<Time> far = h->notified || !says(*h, notified) ? std::nullopt : longer(*h, notified);
      if (!far || (least && *far >= *least)) continue;
      best = h;
      least = far;
    }
  } else {
    // What was told without a round trip takes those first of which none can be told.
    free([](const Heard& h) { return !h.rtt; });
    free([](const Heard& h) { return !h.once; });
    free([](const Heard&) { return true; });
  }
  if (best != dest.heard.end()) {
    best->notified = notified;
    return true;
  }
  if (exchanges == 0) return false;
  for (Heard& h : dest.heard) {
    if (!h.notified || !says(h, notified) || (notified.sampled && !longer(h, notified))) continue;
    const Notified other = *std::exchange(h.notified, notified);
    if (give(dest, other, exchanges - 1)) return true;
    h.notified = other;
  }
  return false;
}

/// What the controller was told of an acknowledgement is what a SACK said that came.
void RequestorCc::fits(Dest& dest, const CcInput& in) {
  Report& report = world_.world.report();
  dest.notified += in.bytes;
  if (const char* why = world_.world.incomplete()) return report.rests(Rule::CcHeard, why);
  const Notified notified{in.marked, in.restore, in.sampled, in.pen, static_cast<Time>(in.rtt)};
  const auto came = [&] {
    return fmt::format("destination {}: the controller was told {}", dest.controller.dest, words(in));
  };
  tries_ = 0;
  const bool timely = give(dest, notified, kExchanges);
  const bool given_up = !timely && tries_ > kMostTries;
  const auto at =
      timely ? dest.heard.end()
             : std::ranges::find_if(dest.heard, [&](const Heard& h) { return !h.notified && says(h, notified); });
  const bool heard = timely || at != dest.heard.end();
  if (given_up) report.rests(Rule::CcRtt, "there were more ways than are followed");
  world_.world.check(Rule::CcHeard, heard, nullptr, nullptr, came,
                     [] { return std::string("what a SACK says that came: none has this mark, penalty and restore"); });
  if (heard && in.sampled && !given_up)
    world_.world.check(Rule::CcRtt, timely, nullptr, nullptr, came, [&] {
      return fmt::format("the time since a packet left that was sent once: {}",
                         at->rtt ? words(*at->rtt) : std::string("its SACK has no time stamp"));
    });
  if (heard && !timely) at->notified = notified;
  while (!dest.heard.empty() && ((dest.heard.front().notified && dest.heard.size() > kKept) ||
                                 dest.heard.front().at + 4 * world_.world.queue() < in.time))
    dest.heard.pop_front();
  if (dest.mixed) return report.rests(Rule::CcBytes, "an ACK told of packets before rcvd_bytes did");
  // With nothing outstanding all leaves the flight: copies too of what rcvd_bytes counted before a bitmap reported it.
  if (dest.settled && in.time < *dest.settled + 4 * world_.world.queue() && dest.fly >= 0)
    dest.reported = std::max(dest.reported, dest.notified);
  world_.world.check(
      Rule::CcBytes, dest.notified <= dest.reported + kRcvdUnit * static_cast<double>(received_.size()), nullptr,
      nullptr,
      [&] {
        return fmt::format("destination {}: {:.0f} bytes were told as acknowledged", dest.controller.dest,
                           dest.notified);
      },
      [&] { return fmt::format("at most {:.0f}: what its QPs' SACKs and ACKs report", dest.reported); });
}

void RequestorCc::qp(const log::Qp& qp) {
  if (qp.state == log::QpState::Reset || qp.state == log::QpState::Init) received_.erase(qp.qp);
}

void RequestorCc::sack(const Seen& seen, const log::Qp& qp, const Requestor::Flight* flight) {
  if (!shown_ || !qp.controlled) return;
  Dest* const dest = find(qp.dest);
  if (dest == nullptr) return;
  const wire::Packet& p = seen.packet;
  Heard h;
  h.at = seen.last;
  h.m = p.seth->m;
  h.pen = p.cc_state->rcv_cwnd_pen;
  h.restore = p.cc_state->restore_cwnd != 0;
  if (flight != nullptr && p.seth->pr == 0 && qp.time_stamps) {
    h.once = flight->times == 1;
    // The peer may move the stamp forward by its service time: the round trip is what the SACK's stamp says.
    const Time unit = world_.world.settings().tsr_us ? kSlowTick : kTick;
    const auto moved = static_cast<uint16_t>(p.cc_state->tx_timestamp16 - flight->stamp.value_or(0));
    h.rtt =
        (seen.last - std::min(seen.last, flight->last) + kWrap - (flight->stamp ? moved * unit % kWrap : 0)) % kWrap;
  }
  if (dest->heard.size() >= kMostHeard) dest->heard.pop_front();
  dest->heard.push_back(h);
  Received& r = received_[qp.qp];
  r.units = std::max(r.units, unwrap(p.cc_state->rcvd_bytes, r.units, kRcvdBits));
}

/// What came brought this QP so far. A semantic ACK may tell of packets that no SACK told of: it has no mark.
void RequestorCc::arrived(const Seen& seen, const log::Qp& qp, double bytes, bool all) {
  if (!shown_ || !qp.controlled) return;
  Dest* const dest = find(qp.dest);
  if (dest == nullptr) return;
  if (dest->heard.size() >= kMostHeard) dest->heard.pop_front();
  if (seen.packet.aeth) dest->heard.emplace_back().at = seen.last;
  if (all) dest->settled = seen.last;
  Received& r = received_[qp.qp];
  const double reported = std::max(bytes, static_cast<double>(r.units) * kRcvdUnit);
  if (seen.packet.aeth && reported > r.counted + kRcvdUnit) dest->mixed = true;
  dest->reported += std::max(0.0, reported - r.counted);
  r.counted = std::max(r.counted, reported);
}

/// A copy of what is reported already enters the flight like any other packet, and leaves it as acknowledged: no SACK
/// counts it, since rcvd_bytes counts each packet once.
void RequestorCc::sent(const Seen& seen, const log::Qp& qp, bool reported) {
  if (!shown_ || !qp.controlled) return;
  Dest* const dest = find(qp.dest);
  if (dest == nullptr || dest->states.empty()) return;
  const double size = nominal_size(seen.packet, world_.world.settings());
  dest->on_wire += size;
  if (reported) dest->reported += size;
  world_.world.check(
      Rule::CcSent, dest->on_wire <= dest->granted, &seen, world_.world.local(qp.qp),
      [&] {
        return fmt::format("{}: {:.0f} bytes have been sent", words(seen, world_.world.profile().wire()),
                           dest->on_wire);
      },
      [&] { return fmt::format("at most {:.0f}: what the controller granted", dest->granted); });
}

uint64_t RequestorCc::memory() const {
  uint64_t bytes = received_.size() * 64;
  for (const auto& [number, dest] : dests_)
    bytes += sizeof dest + dest.states.size() * sizeof(Nscc) + dest.heard.size() * sizeof(Heard);
  return bytes;
}

}  // namespace mrc::ref

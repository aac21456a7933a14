// SPDX-License-Identifier: Apache-2.0
/// Devices that show what their window takes and what was read for their SACKs: the two responders meet.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>

#include "reference/numbers.hpp"
#include "reference/responder_flow.hpp"

namespace mrc::ref {
namespace {

constexpr uint32_t kProbeMask = 0xffff;  // of a probe's id, and of SETH.ack_psn_offset
constexpr std::size_t kMostReads = 512, kMostComing = 1 << 16;
/// So many latencies after it came a packet is given up, after it was read a SACK's contents are.
constexpr Time kPatience = 16;
/// So long before its port goes down a frame may be lost with it: from the wire's last byte to the pins.
constexpr Time kCut = 100'000;

/// Taking::by of a packet whose take does not say when all answers count it.
constexpr Time kNotNotified = std::numeric_limits<Time>::max();

Seq units(Seq bytes) { return (bytes + 255) >> 8; }

}  // namespace

/// When what a packet is owed must have gone. How long the window takes for it is seen, not judged: a host that takes
/// no completions holds it back with right.
Time ResponderFlow::due(const Came& came) const {
  const Time by = came.at + came.error + world_.latency;
  return came.taken == 0 ? by : std::max(by, came.taken + world_.latency - world_.profile.take);
}

void ResponderFlow::coming(const Came& came) {
  advance(came.at);
  if (coming_.size() < kMostComing) coming_.push_back(came);
}

/// The port of a plane goes down: its frames of just now may not have come whole.
void ResponderFlow::cut(unsigned plane, Time time) {
  for (Came& came : coming_) {
    if (came.plane == plane && came.at + kCut >= time) came.sure = false;
  }
}

/// Nobody waits for it any more.
void ResponderFlow::untaken(const Came& came) {
  if (!came.sure || state_ != State::Alive) return;
  if (world_.disturbed.near(came.at, world_.latency)) return world_.report.disturbed(Rule::RespTakeAll);
  const Arrival& a = came.arrival;
  // Where it is dropped, a WRITE of no bytes is as if it had not come.
  if (a.fault == Fault::Zero && world_.profile.settings.zero_length == kZeroDrop) return;
  const bool probe = a.what == Arrival::What::Probe;
  Finding f = finding(Rule::RespTakeAll, came.at + world_.profile.take, "no event",
                      fmt::format("one that takes {} {}, which came at {} ps", probe ? "probe" : "packet",
                                  probe ? Seq{a.probe} : a.psn & kPsnMask, came.at));
  f.since = came.at;
  f.frame = came.number;
  f.capture = came.capture;
  ++world_.num_untaken;
  if (world_.untaken.size() < ResponderWorld::kMostUntaken) world_.untaken.push_back(std::move(f));
}

void ResponderFlow::forget(Time now) {
  erase_if(taking_, [&](const Taking& t) { return t.refused && t.psn <= claimed_; });
  while (!taking_.empty() && taking_.front().by <= now) taking_.pop_front();
  while (!coming_.empty() && coming_.front().at + kPatience * world_.latency < now) {
    untaken(coming_.front());
    coming_.pop_front();
  }
  while (!reads_.empty() && (reads_.size() > kMostReads || reads_.front().at + kPatience * world_.latency < now))
    reads_.pop_front();
}

/// The same packet may have come again on that EV, one of them to be discarded: nobody says which. Takes the newest of
/// those that the NIC must take; each copy asks for what all of them ask for. Which of copies that differ is recorded
/// is not known.
Came ResponderFlow::choose(const std::vector<std::size_t>& copies, bool recorded) {
  std::size_t chosen = copies.back();
  bool ce = true, request = true, rtx = true;
  for (const std::size_t copy : copies) {
    const Came& c = coming_[copy];
    if (c.sure) chosen = copy;
    ce &= c.arrival.ce;
    request &= c.arrival.request;
    rtx &= c.arrival.rtx;
  }
  const Arrival usual = coming_[chosen].arrival;
  for (const std::size_t copy : copies) {
    Arrival& a = coming_[copy].arrival;
    if (recorded && a.what == Arrival::What::Data && a.differs(usual)) {
      size_slack_ += std::abs(static_cast<Seq>(a.udp) - static_cast<Seq>(usual.udp));
      mixed_ = true;
    }
    a.ce = ce;
    a.request = request;
    a.rtx = rtx;
  }
  const Came came = coming_[chosen];
  coming_.erase(coming_.begin() + static_cast<std::ptrdiff_t>(chosen));
  return came;
}

void ResponderFlow::took(const log::Event& event, Time time) {
  advance(time);
  auto result = static_cast<log::TakeResult>(event.arg[1]);
  const bool notified = result != log::TakeResult::Empty;
  const bool probe = result == log::TakeResult::Probe;
  const Seq psn = probe ? static_cast<Seq>(event.arg[0] & kProbeMask) : unwrap(event.arg[0], hi_.cack());
  const auto same = [&](const Came& c) {
    const Arrival& a = c.arrival;
    if ((a.what == Arrival::What::Probe) != probe || (probe ? Seq{a.probe} : a.psn) != psn) return false;
    if (result == log::TakeResult::New && a.what != Arrival::What::Data) return false;
    return c.plane == event.arg[2] && c.entropy == event.arg[3];
  };
  if (result == log::TakeResult::Empty) {
    const auto is_new = [&](const Came& c) {
      return same(c) && c.arrival.what == Arrival::What::Data && hi_.fate(c.arrival) == Fate::New;
    };
    result = std::ranges::any_of(coming_, is_new) ? log::TakeResult::New : log::TakeResult::Other;
  }
  // What is recorded is a copy that would be new, what is not is another one. One that the NIC must take goes before
  // one that it may discard.
  const auto fits = [&](const Came& c) {
    if (!same(c)) return false;
    const bool is_new = c.arrival.what == Arrival::What::Data && hi_.fate(c.arrival) == Fate::New;
    return result == log::TakeResult::New ? is_new : result != log::TakeResult::Other || !is_new;
  };
  auto found = std::find_if(coming_.begin(), coming_.end(), [&](const Came& c) { return c.sure && fits(c); });
  if (found == coming_.end()) found = std::find_if(coming_.begin(), coming_.end(), fits);
  if (found == coming_.end()) found = std::find_if(coming_.begin(), coming_.end(), same);
  if (found == coming_.end()) {
    if (result == log::TakeResult::New) {
      world_.broken(finding(Rule::RespTakeOnce, time, fmt::format("packet {} is taken", psn & kPsnMask),
                            "not taken: none with this PSN and entropy value has come on this plane"));
    }
    return;
  }
  // Of one that it may discard and a whole one, which it has no room for, nobody says which was refused.
  if (result == log::TakeResult::Other && !found->sure) {
    for (Came& c : coming_) c.sure = c.sure && !same(c);
  }
  // Of a packet that is there already copies with and without payload are answered alike.
  const bool repeated = result == log::TakeResult::Other && hi_.has(psn);
  std::vector<std::size_t> copies;
  for (auto c = coming_.begin(); c != coming_.end(); ++c) {
    if (same(*c) && (repeated || (c->arrival.what == found->arrival.what && fits(*c) == fits(*found))))
      copies.push_back(static_cast<std::size_t>(c - coming_.begin()));
  }
  Came came = choose(copies, result == log::TakeResult::New);
  came.taken = std::max<Time>(event.arg[4], time);
  if (came.sure) world_.report.ok(Rule::RespTakeAll);
  if (result == log::TakeResult::New) {
    came.recorded = true;
    if (!came.sure) came.arrival.fault = Fault::None;
    if (hi_.fate(came.arrival) == Fate::New) {
      world_.report.ok(Rule::RespTakeOnce);
      if (notified) {  // packets are counted in the order of their takes
        for (Taking& t : taking_) t.by = t.refused ? kNotNotified : std::min(t.by, came.taken);
      }
      taking_.push_back({notified ? came.taken : kNotNotified, psn, came.arrival.payload, came.arrival.udp, notified});
    } else if (state_ == State::Alive) {
      world_.broken(finding(
          Rule::RespTakeOnce, time, fmt::format("packet {} is taken as new", psn & kPsnMask),
          fmt::format("{}: up to {} all have arrived", name_of(hi_.fate(came.arrival)), hi_.cack() & kPsnMask)));
    }
  } else if (state_ != State::Dead && came.arrival.what == Arrival::What::Data && hi_.fate(came.arrival) == Fate::New) {
    overran_ = overran_ || overrun(came.arrival);
    refused_ = true;  // for a reason of the device's: a NACK says it, or it is as if it had been lost
    return;
  }
  this->came(came);
}

bool ResponderFlow::refuses(Seq psn) {
  bool any = false;
  for (Taking& t : taking_) {
    if (t.notified || t.psn != psn) continue;
    t.refused = any = true;
    t.by = kNotNotified;
  }
  return any;
}

void ResponderFlow::read(const log::Event& event, Time time) {
  advance(time);
  Read r;
  r.at = time;
  r.probe = event.arg[1] != 0;
  r.cack_psn = static_cast<uint32_t>(event.arg[3]);
  r.base = static_cast<uint32_t>(event.arg[4]);
  r.about = static_cast<uint32_t>(event.arg[2] - (r.probe ? 0 : event.arg[3])) & kProbeMask;
  r.cack = hi_.cack();
  r.least = lo_.cack();
  r.above = hi_.above();
  r.payload = hi_.payload();
  for (unsigned nominal = 0; nominal < r.bytes.size(); ++nominal) r.bytes[nominal] = hi_.bytes(nominal);
  r.bitmap = hi_.sack(unwrap(r.base, hi_.cack())).bitmap;
  const auto requested = [&](const Taking& t) { return (static_cast<uint64_t>(t.psn) & kPsnMask) == event.arg[2]; };
  const auto about = r.probe ? taking_.end() : std::ranges::find_if(taking_, requested);
  if (about != taking_.end()) {  // what asks for a SACK is counted, and so is all before it
    for (auto t = taking_.begin(); t <= about; ++t) t->by = t->refused ? kNotNotified : std::min(t->by, time);
  }
  for (const Taking& t : taking_) {
    if (t.by > time) r.perhaps.push_back(t);
  }
  reads_.push_back(std::move(r));
}

std::optional<std::pair<Rule, std::string>> ResponderFlow::differs(const wire::Packet& packet, const Read& r) const {
  const wire::Seth& seth = *packet.seth;
  const wire::CcState& cc = *packet.cc_state;
  if (seth.cack_psn != r.cack_psn || ((seth.cack_psn + static_cast<uint32_t>(seth.sack_offset)) & kPsnMask) != r.base) {
    return std::pair{Rule::RespAsRead, fmt::format("cack_psn {}, bitmap from {} on", r.cack_psn, r.base)};
  }
  const Seq cack = unwrap(seth.cack_psn, r.cack);
  if (cack > r.cack) return std::pair{Rule::RespCackArrived, fmt::format("at most {}", r.cack & kPsnMask)};
  if ((seth.sack_bitmap & ~r.bitmap) != 0) {
    return std::pair{
        Rule::RespBitmap,
        fmt::format("no bit for PSN {}: it had not arrived",
                    (r.base + static_cast<uint32_t>(std::countr_zero(seth.sack_bitmap & ~r.bitmap))) & kPsnMask)};
  }
  const Seq most = r.above + (r.cack - cack);
  Seq least = most, payload = 0, udp = 0, packets = 0;
  for (const Taking& t : r.perhaps) {
    least -= t.psn > cack ? 1 : 0;
    payload += t.payload;
    udp += t.udp;
    ++packets;
  }
  if (cc.ooo_count > most) return std::pair{Rule::RespOooMost, fmt::format("ooo_count at most {}", most)};
  if (cc.ooo_count < least) return std::pair{Rule::RespOooLeast, fmt::format("ooo_count at least {}", least)};
  // 3 counts as 0 does.
  const unsigned nominal = world_.profile.settings.nominal % 3;
  const Seq largest = r.bytes[nominal];
  const Seq smallest = largest - (nominal == 1 ? payload : (nominal == 2 ? payload : udp) + 40 * packets);
  const Seq shown = unwrap(cc.rcvd_bytes, units(largest));
  if (shown < units(r.payload - payload - size_slack_) || shown > units(r.bytes[0] + size_slack_)) {
    return std::pair{Rule::RespBytes, fmt::format("rcvd_bytes between {} and {}", units(r.payload - payload) & kPsnMask,
                                                  units(r.bytes[0]) & kPsnMask)};
  }
  if (shown < units(smallest - size_slack_) || shown > units(largest + size_slack_)) {
    return std::pair{Rule::RespNominal,
                     fmt::format("rcvd_bytes {} to {}", units(smallest) & kPsnMask, units(largest) & kPsnMask)};
  }
  return {};
}

bool ResponderFlow::check_read(const wire::Packet& packet, const Went& went, Seq& least) {
  const wire::Seth& seth = *packet.seth;
  const bool probe = seth.pr != 0;
  const uint32_t about = static_cast<uint32_t>(seth.ack_psn_offset) & kProbeMask;
  std::optional<std::pair<Rule, std::string>> wrong;
  bool known = false;
  for (auto read = reads_.rbegin(); read != reads_.rend(); ++read) {
    if (read->probe != probe || read->about != about || read->at > went.at) continue;
    auto one = differs(packet, *read);
    if (!one) {
      for (const Rule rule : {Rule::RespAsRead, Rule::RespCackArrived, Rule::RespBitmap, Rule::RespOooMost,
                              Rule::RespOooLeast, Rule::RespBytes, Rule::RespNominal})
        world_.report.ok(rule);
      least = read->least;
      return true;
    }
    // Which of them was meant? One whose words it has.
    if (!wrong || (wrong->first == Rule::RespAsRead && one->first != Rule::RespAsRead)) wrong = std::move(one);
    known = true;
  }
  if (mixed_ && known) return true;
  const std::string came =
      fmt::format("SACK about {} {} with cack_psn {}, ooo_count {}, rcvd_bytes {}", probe ? "probe" : "packet",
                  probe ? about : (seth.cack_psn + static_cast<uint32_t>(seth.ack_psn_offset)) & kPsnMask,
                  seth.cack_psn, packet.cc_state->ooo_count, packet.cc_state->rcvd_bytes);
  if (!known) {
    world_.broken(finding(Rule::RespAsRead, went, came, "none: the device shows to have read nothing for it"));
    return false;
  }
  world_.broken(finding(wrong->first, went, came, wrong->second));
  return true;
}

}  // namespace mrc::ref

// SPDX-License-Identifier: Apache-2.0
#include "reference/requestor_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "log/text.hpp"
#include "reference/numbers.hpp"

namespace mrc::ref {
namespace {

constexpr std::size_t kMostSuspects = 100, kMostOwed = 1 << 14, kMostWorks = 1 << 16, kMostProbes = 256;
constexpr unsigned kForEver = 25;    ///< QP attribute RETRY_CNT, exponential
constexpr unsigned kAlwaysSkip = 2;  ///< SETH.m

using history::words;

uint32_t psn24(Seq psn) { return static_cast<uint32_t>(psn & 0xFFFFFF); }

Time interval_of(const log::Qp& qp) { return Time{1'024'000} << std::min(qp.timeout, 24u); }

RequestorRules rules_of(const Settings& s, const log::Qp& qp) {
  return {s.reorder_pkts, s.same_ev, interval_of(qp), s.loss_time};
}

}  // namespace

RequestorFlow::RequestorFlow(const log::Qp& qp, bool from_log, RequestorWorld& world)
    : qp_(qp),
      world_(world),
      from_log_(from_log),
      started_(from_log),
      hi_(qp.sq_psn, Seq{qp.mpr} * kMprUnit, rules_of(world.world.settings(), qp)),
      lo_(hi_),
      paths_(qp, world, world.now),
      evs_(qp, world, world.now),
      shows_evs_((world.world.profile().shows >> static_cast<unsigned>(log::EventKind::Path) & 1) != 0),
      grants_{{0, -1, qp.mpr}} {
  begin();
}

void RequestorFlow::begin() {
  hi_.acked(Seq{qp_.msn});
  lo_.acked(Seq{qp_.msn});
}

Time RequestorFlow::interval() const { return interval_of(qp_); }

void RequestorFlow::change(const log::Qp& qp, Time time) {
  const bool begins = hi_.next() == hi_.base() && hi_.base() != Seq{qp.sq_psn};
  const bool window = qp.mpr != qp_.mpr;
  evs_replaced_ = evs_replaced_ || (qp.evs != qp_.evs && !qp_.evs.empty());
  qp_ = qp;
  paths_.change(qp, time);
  evs_.change(qp, time);
  if (begins || (window && hi_.next() == hi_.base())) {
    hi_ = lo_ = Requestor(qp.sq_psn, Seq{qp.mpr} * kMprUnit, rules_of(world_.world.settings(), qp));
    grants_ = {{0, -1, qp.mpr}};
    begin();
  }
  if (qp.state == log::QpState::Error) fail(time);
}

void RequestorFlow::fail(Time time) {
  if (!failed_) failed_at_ = time;
  evs_.forget();
  failed_ = true;
}

// ---- sent

bool RequestorFlow::reported_before(const Seen& seen) const {
  const wire::Bth& bth = *seen.packet.bth;
  const Requestor::Flight* const flight = hi_.find(unwrap(bth.psn, hi_.next()));
  return flight == nullptr ? bth.rtx != 0 : flight->reported && flight->times > 1;
}

bool RequestorFlow::copied(const Seen& seen) const {
  const Requestor::Flight* const flight = hi_.find(unwrap(seen.packet.bth->psn, hi_.next()));
  return flight != nullptr && flight->copy.second;
}

void RequestorFlow::sent(const Seen& seen) {
  const wire::Packet& p = seen.packet;
  advance(seen.first);
  if (lacks_ack()) lacked_ = seen.first;
  if (!started_) {
    started_ = true;
    hi_ = lo_ = Requestor(Seq{p.bth->psn}, Seq{qp_.mpr} * kMprUnit, rules_of(world_.world.settings(), qp_));
    begin();
  }
  const Seq psn = unwrap(p.bth->psn, hi_.next());
  const Requestor::Flight* const before = hi_.find(psn);
  const bool known = before != nullptr;
  const bool copy =
      p.bth->rtx != 0 && known && before->again && world_.world.second_copy(seen, before->copy, before->plane);
  if (const char* why = world_.world.incomplete()) {
    world_.world.report().rests(p.bth->rtx != 0 ? Rule::ReqRtxEvidence : Rule::ReqMprNow, why);
  } else if (known && p.bth->rtx != 0) {
    check_again(seen, psn, copy);
  } else if (!known) {
    check_new(seen, psn);
  }
  const uint32_t ev = p.entropy(world_.world.profile().wire());
  if (copy) {  // of the loss that its first one was for; which of the two is lost later the device does not know
    paths_.lost(before->plane);
  } else if (before != nullptr && p.bth->rtx != 0 && !before->reported && before->named < before->last) {
    // It says so itself: this one is lost, and nobody has trimmed it.
    paths_.lost(before->plane);
    // Loss may have been decided while this transmission waited inside.
    const Time given = before->last - std::min(before->last, world_.world.queue());
    if (before->copy.second) {
      evs_.lost(before->ev_before, seen.first);
      world_.world.report().rests(Rule::PathBlamed, "two copies went at once");
    } else if (shows_evs_ && evs_.floored(given)) {
      world_.world.report().rests(Rule::PathBlamed, "the EV may be needed");
    } else if (heard_ <= before->last && seen.first < before->last + std::min(lag(), interval())) {
      world_.world.report().rests(Rule::PathBlamed, "it may have been meant before the packet had left");
    } else if (before->earlier != 0 && seen.first < before->last + 4 * world_.world.queue()) {
      world_.world.report().rests(Rule::PathBlamed, "an earlier transmission may have been the cause");
    } else if (before->times == 1 && lacked_ != 0 && before->first <= lacked_ + world_.world.queue()) {
      // Its timer ran out when all was reported and an ACK missing; the newest packet, which it sends again for that,
      // may be one that came between.
      world_.world.report().rests(Rule::PathBlamed, "it may have been sent again for a missing ACK");
    } else {
      paths_.blamed(before->ev, before->last, seen.first);
    }
  }
  paths_.sent(seen, known);
  if (!known && history::is_last(p.bth->opcode)) ++ended_;
  if (!known && history::is_imm(p.bth->opcode) && p.meth) wimms_.push_back(unwrap(p.meth->msn, lo_.acked(), 16));
  if (shows_evs_) evs_.sent(seen);
  state_queried_ = 0;
  moved_ = seen.first;
  if (known) again_ = seen.first;
  if (known && before != nullptr) evs_.lost(before->ev, seen.first);
  if (known && shows_evs_) evs_.again(psn);
  const auto stamp = p.tseth ? std::optional(p.tseth->tx_timestamp16) : std::nullopt;
  const bool again = p.bth->rtx != 0;
  const bool sent_before = before != nullptr && before->seen;
  const SecondCopy of =
      world_.world.copy_of(seen, copy, sent_before ? &before->copy : nullptr, sent_before ? before->plane : 0);
  hi_.sent(psn, ev, seen.frame.plane, seen.first, nominal_size(p, world_.world.settings()), stamp, again, of);
  lo_.sent(psn, ev, seen.frame.plane, seen.first, 0, {}, again, of);
  if (idle_free_) world_.world.report().ok(Rule::ReqMoves);
  last_sent_ = seen.first;
  active_free_ = world_.free.until(seen.first);
  idle_free_.reset();
  if (!may_be_dead()) alive();
}

void RequestorFlow::check_new(const Seen& seen, Seq psn) {
  if (!qp_.dynamic_mpr || !from_log_) return;
  const Time back = seen.first - std::min(seen.first, world_.world.queue());
  while (grants_.size() > 1 && grants_[1].at < back) grants_.pop_front();
  unsigned most = 0;
  for (const Grant& grant : grants_) most = std::max(most, grant.units);
  const Seq limit = hi_.cack() + Seq{most} * kMprUnit;
  world_.world.check(
      Rule::ReqMprNow, psn <= limit, &seen, world_.world.local(qp_.qp),
      [&] { return words(seen, world_.world.profile().wire()); },
      [&] {
        return fmt::format("at most PSN {}: cack_psn {}, and SACKs have granted {} x 128 since {}", psn24(limit),
                           psn24(hi_.cack()), most, words(back));
      });
}

void RequestorFlow::check_again(const Seen& seen, Seq psn, bool copy) {
  history::World& w = world_.world;
  const auto came = [&] { return words(seen, w.profile().wire()); };
  const history::QpWorld* const qp = w.local(qp_.qp);
  const Time last = hi_.find(psn)->last;  // the frame may have waited inside for the host, and its timer have run
  const Time starved = world_.free.starved(last - std::min(last, interval()), last);
  const unsigned causes = hi_.causes(psn, seen.first, lag() + starved, starved);
  if (!world_.never_down()) {
    w.report().rests(Rule::ReqRtxEvidence, "a port was down");
  } else if (causes == 0 && evs_replaced_) {  // its EV has another value now than when it was sent
    w.report().rests(Rule::ReqRtxEvidence, "EVs were replaced");
  } else if (causes == 0 && copy) {
    w.report().rests(Rule::ReqRtxEvidence, "it may be a second copy");
  } else {
    const Requestor::Flight& flight = *hi_.find(psn);
    w.check(Rule::ReqRtxEvidence, causes != 0, &seen, qp, came, [&] {
      return fmt::format(
          "none yet: no NACK since {}, fewer than {} packets above it reported, none of its EV sent later, {} not over",
          words(flight.last), w.settings().reorder_pkts, words(interval()));
    });
  }
  if ((causes & kByTimer) != 0) w.report().ok(Rule::ReqTimer);
  const Requestor::Flight* const flight = lo_.find(psn);
  if (flight != nullptr && flight->reported) {
    const Requestor::Flight* const later = lo_.find(psn + 1);
    const bool newest = later == nullptr || later->first + w.queue() + interval() > seen.first;
    const Time starving = world_.free.starved(flight->notified, seen.first);
    const bool late = flight->notified + w.queue() + starving < seen.first && !newest;
    if (late) {
      Finding f = w.finding(Rule::ReqRtxReported, &seen, qp, came(),
                            fmt::format("nothing: PSN {} was reported at {}", psn24(psn), words(flight->notified)));
      f.since = flight->notified;
      world_.doubt(std::move(f));
    }
  } else {
    w.report().ok(Rule::ReqRtxReported);
  }
  if (copy || psn != hi_.oldest()) return;
  const Requestor::Flight& old = *hi_.find(psn);
  // Whichever transmission the NACK was about.
  const bool trimmed = old.named != 0 && old.named > old.earlier &&
                       (old.named_reason == kTrimmed || old.named_reason == kTrimmedLasthop);
  // Given to a port that was down, or went down while it was out.
  const Time gone = world_.gone(qp_, old.plane);
  const bool by_port = !w.settings().port_wait && gone != 0 && gone + w.queue() >= old.last;
  if (trimmed || by_port || (causes & (kByGap | kBySameEv | kByReturn | kByTime)) != 0) return;
  // One whose cause came before the progress may leave after it: soon, or when the host has given what was asked for.
  const bool excusable = std::exchange(excusable_, false);
  if (old.last <= hi_.progress()) return;
  if (hi_.progress() != 0) {
    const Time waiting = w.waited(seen.first) - std::min(w.waited(seen.first), waited_);
    if (seen.first <= hi_.progress() + std::min(lag() + waiting, w.queue())) return w.report().ok(Rule::ReqRetries);
  }
  // So may the first one, whatever was before it, that had its cause while the packet itself waited for data.
  if (excusable && hi_.progress() != 0 && old.last <= hi_.progress() + lag()) excused_ = 1;
  ++tries_;
  if (qp_.retry_exp >= kForEver) return;
  w.check(Rule::ReqRetries, tries_ <= qp_.retry_linear + qp_.retry_exp + excused_, &seen, qp, came, [&] {
    return fmt::format("an error after {} + {} retries without progress: this is number {}", qp_.retry_linear,
                       qp_.retry_exp, tries_ - excused_);
  });
}

void RequestorFlow::probed(uint32_t ev, const wire::Peth& probe, Time time) {
  const uint16_t id = probe.probe_id;
  requested_ = time;
  probe_.emplace(time, probe.tx_timestamp16);
  if (id != kStateProbe) {
    probes_.emplace_back(id, ev);
    if (probes_.size() > kMostProbes) probes_.pop_front();
    if (shows_evs_) evs_.probed(ev, time);
    return;
  }
  const bool silent = world_.world.settings().state_silent;
  const bool moved = state_queried_ == 0 || moved_ + world_.world.queue() >= state_queried_;
  const bool by_time = world_.world.settings().loss_time;
  if (!silent && !moved && (by_time || !world_.never_down())) {  // A-84; one that knows of ports
    world_.world.report().rests(Rule::ReqAsksOnce, by_time ? "it asks by its round trips" : "a port was down");
    state_queried_ = std::max<Time>(time, 1);
    return;
  }
  world_.world.check(
      Rule::ReqAsksOnce, !silent && moved, nullptr, world_.world.local(qp_.qp),
      [&] { return fmt::format("QP 0x{:x} asks its peer for its state at {}", qp_.qp, words(time)); },
      [&] {
        return silent ? std::string("nothing: CTRL.state_silent is set")
                      : fmt::format("nothing: it asked at {}, and nothing has moved since", words(state_queried_));
      });
  state_queried_ = std::max<Time>(time, 1);
}

/// The EV on which the probe went that is answered. Its number tells: the entropy comes back as the probe brought it,
/// and no ICRC watches over that.
uint32_t RequestorFlow::ev_of_probe(const wire::Seth& answer) const {
  const auto id = static_cast<uint16_t>(answer.ack_psn_offset);
  const auto probe = std::find_if(probes_.rbegin(), probes_.rend(), [&](const auto& one) { return one.first == id; });
  return probe != probes_.rend() ? probe->second : answer.entropy;
}

/// When the newest probe was sent, by the time stamp that its answer returns: the peer may have moved that forward by
/// its service time. 0: not known.
Time RequestorFlow::answers(const wire::Packet& sack) const {
  if (sack.seth->pr == 0 || !probe_) return 0;
  const auto moved = static_cast<uint16_t>(sack.cc_state ? sack.cc_state->tx_timestamp16 - probe_->second : 0);
  // That of an older one is behind.
  return probe_->first + (moved < 0x8000 ? moved * (world_.world.settings().tsr_us ? kSlowTick : kTick) : 0);
}

/// Some packet of this EV counts as lost, or has been sent again for that.
bool RequestorFlow::lost_on(uint32_t ev, Time time) const {
  for (Seq psn = hi_.base(); psn < hi_.next(); ++psn) {
    const Requestor::Flight* const flight = hi_.find(psn);
    if (flight == nullptr || (flight->ev != ev && flight->ev_before != ev)) continue;
    if (flight->times > 1 || hi_.causes(psn, time, lag()) != 0) return true;
  }
  return false;
}

/// Some packet of this EV is out, or was until just now, and the timer may have run while it waited inside: for it, or
/// for work of before. If it is reported before it is sent again, nothing tells of its loss.
bool RequestorFlow::given_up_on(uint32_t ev, Time time) const {
  if (works_.empty() || works_.front().at + interval() > time) return false;
  for (Seq psn = hi_.base(); psn < hi_.next(); ++psn) {
    const Requestor::Flight* const flight = hi_.find(psn);
    if (flight != nullptr && flight->ev == ev && (!flight->reported || flight->notified + lag() >= time)) return true;
  }
  return false;
}

void RequestorFlow::ev_event(const log::Event& event, Time time) {
  const bool bad = static_cast<log::EvState>(event.arg[2]) == log::EvState::Bad;
  const bool denied = static_cast<log::EvState>(event.arg[2]) == log::EvState::Denied;
  if (!bad) paths_.answered(static_cast<uint32_t>(event.arg[0]));
  if (!bad && !denied) paths_.back(static_cast<uint32_t>(event.arg[0]));
  if (bad || denied) paths_.out_of_use(static_cast<uint32_t>(event.arg[0]), time);
  if (const auto at = event.arg[3]; bad && at < qp_.ev_planes.size()) paths_.loses(qp_.ev_planes[at]);
  const auto ev = static_cast<uint32_t>(event.arg[0]);
  evs_.event(event, bad && lost_on(ev, time), bad && given_up_on(ev, time), time);
}

/// Marks about EVs: in SACKs about data, and NACKs of trimmed packets.
void RequestorFlow::hear_marks(const Seen& seen, bool sure) {
  const wire::Packet& p = seen.packet;
  const Time time = seen.last;
  if (p.seth && p.seth->m == kAlwaysSkip) paths_.out_of_use(p.seth->entropy, time);
  if ((p.seth && p.seth->m == RequestorEvs::kSkipOnce) || (p.neth && p.neth->reason == kTrimmed)) paths_.skipped();
  if (!shows_evs_) return;
  sure = sure && !may_be_dead();
  if (p.seth) {
    if (p.seth->m == 0) return;
    const Requestor::Flight* const flight = p.seth->pr == 0 ? hi_.find(trigger(*p.seth)) : nullptr;
    const bool newest = flight != nullptr && flight->times == 1 && flight->ev == p.seth->entropy && !flight->reported;
    return evs_.marked(p.seth->entropy, p.seth->m, sure && newest, trigger(*p.seth), seen.frame.plane, time);
  }
  if (!p.neth || p.neth->reason != kTrimmed) return;
  const Seq psn = unwrap(p.neth->nack_psn, hi_.next());
  const Requestor::Flight* const flight = hi_.find(psn);
  const bool newest = flight != nullptr && flight->times == 1 && flight->ev == p.neth->entropy && !flight->reported &&
                      flight->named == 0;
  evs_.marked(p.neth->entropy, RequestorEvs::kSkipOnce, sure && newest, psn, seen.frame.plane, time);
}

// ---- heard

void RequestorFlow::returned(const Seen& seen) {
  if (!started_ || !seen.packet.bth || world_.world.settings().returned != kLearnReturned) return;
  advance(seen.last);
  const wire::Bth& bth = *seen.packet.bth;
  hi_.returned(unwrap(bth.psn, hi_.next()), bth.rtx != 0, seen.last);
}

void RequestorFlow::received(const Seen& seen, bool sure) {
  if (!started_) return;
  advance(seen.last);
  const wire::Packet& p = seen.packet;
  if (lacks_ack()) lacked_ = seen.last;
  state_queried_ = 0;
  moved_ = heard_ = seen.last;
  Came came;
  came.at = seen.last;
  came.due = seen.last + 2 * seen.frame.error + world_.world.profile().take + world_.world.profile().skew;
  if (p.seth) {
    const wire::Seth& h = *p.seth;
    Word& word = came.word;
    word.cack = unwrap(h.cack_psn, hi_.next());
    word.base = word.cack + h.sack_offset;
    word.bitmap = h.sack_bitmap;
    word.above = p.cc_state ? p.cc_state->ooo_count : 0;
    if (h.pr == 0) word.trigger = word.cack + h.ack_psn_offset;
    word.answers = answers(p);
    if (p.cc_state) word.stamp = p.cc_state->tx_timestamp16;
    if (h.pr != 0 && h.m != kAlwaysSkip) ev_answered(ev_of_probe(h), h.m == RequestorEvs::kSkipOnce);
    word.mpr = qp_.dynamic_mpr ? h.mpr : 0;
    if (word.mpr != 0 && word.cack >= hi_.cack()) granted(word, seen.last);
  } else if (p.neth) {
    came.what = Came::What::Nack;
    came.psn = unwrap(p.neth->nack_psn, hi_.next());
    came.ev = p.neth->entropy;
    came.reason = p.neth->reason;
    if (came.reason == kUnexpEvent) {
      unexpected_ = true;
      if (sure && fatal_ == 0) fatal_ = seen.last;
      return fail(seen.last);
    }
  } else if (p.aeth) {
    if ((p.aeth->syndrome & 0xE0) != 0) {
      naks_[p.aeth->syndrome] = true;
      if (sure && fatal_ == 0) fatal_ = seen.last;
      return fail(seen.last);
    }
    came.what = Came::What::Ack;
    came.psn = unwrap(p.aeth->msn & 0xFFFF, hi_.acked(), 16);
    came.word.cack = unwrap(p.bth->psn, hi_.next());
  } else {
    return;
  }
  if (shows_evs_) {
    const bool nack = came.what == Came::What::Nack;
    evs_.heard(nack ? Seq{0} : came.word.cack + 1, nack ? came.psn : came.word.base, nack ? 1 : came.word.bitmap,
               seen.frame.plane, seen.last);
  }
  hear_marks(seen, sure);
  if (take(hi_, came) != 0) {
    tries_ = excused_ = 0;
    excusable_ = true;
    waited_ = world_.world.waited(seen.last);
    active_free_ = world_.free.until(seen.last);
  }
  if (sure) waiting_.push_back(came);
}

void RequestorFlow::granted(const Word& word, Time time) {
  const unsigned units = std::min<unsigned>(word.mpr, qp_.mpr);
  Grant& newest = grants_.back();
  // Which of two came first is not known if they are close.
  if (newest.cack == word.cack && newest.at + lag() >= time) {
    newest.units = std::max(newest.units, units);
    newest.at = time;
    return;
  }
  grants_.push_back({time, word.cack, units});
}

unsigned RequestorFlow::take(Requestor& of, const Came& came) {
  switch (came.what) {
    case Came::What::Word:
      return of.heard(came.word, came.at);
    case Came::What::Nack:
      of.nacked(came.psn, came.reason, came.ev, came.at);
      return 0;
    case Came::What::Ack:
      of.acked(std::max(of.acked(), came.psn));
      return of.heard(came.word, came.at);
  }
  return 0;
}

void RequestorFlow::advance(Time time) {
  while (!waiting_.empty() && waiting_.front().due < time) {
    const Came came = waiting_.front();
    waiting_.pop_front();
    const Seq acked = lo_.acked();
    take(lo_, came);
    if (lo_.acked() > acked) confirmed_ = came.at;
    if (came.what == Came::What::Nack) {
      const Requestor::Flight* const flight = lo_.find(came.psn);
      if (flight == nullptr) continue;
      if (flight->nacked == came.at) owe(Rule::ReqNackAgain, came.psn, came.at);
      if (flight->last > came.at) world_.world.report().ok(Rule::ReqNackAgain);  // sent already
      trimmed_ = came.at;
    }
    if (came.what == Came::What::Word) aged(came);
    if (came.what != Came::What::Word || came.word.above < Seq{world_.world.settings().reorder_pkts}) continue;
    for (Seq psn = came.word.base; psn < came.word.base + 64; ++psn) {
      const Requestor::Flight* const flight = lo_.find(psn);
      if (flight != nullptr && flight->lost == came.at) owe(Rule::ReqGapAgain, psn, came.at);
    }
  }
}

/// What a SACK leaves out, and was sent before the packet that it answers by more than any bound of round trips, is
/// lost. Not while queues are full, nor where a stamp of 12 bits may have come round.
void RequestorFlow::aged(const Came& came) {
  constexpr Time kUs = 1'000'000, kLeast = 60 * kUs, kMost = 180 * kUs, kTrims = 5000 * kUs;
  const Word& word = came.word;
  if (!world_.world.settings().loss_again || !word.trigger || !word.stamp || *word.trigger <= word.cack) return;
  const Requestor::Flight* const cause = hi_.find(*word.trigger);  // lo_ keeps no time stamps
  if (cause == nullptr || cause->times != 1 || cause->stamp != word.stamp) return;
  longest_ = std::max(longest_, came.at - cause->last);
  if (trimmed_ != 0 && came.at < trimmed_ + kTrims) return;
  const Time bound = std::max(4 * longest_, kLeast);
  for (Seq psn = std::max(word.base, word.cack + 1); psn < word.base + 64; ++psn) {
    if ((word.bitmap >> (psn - word.base) & 1) != 0) continue;
    const Requestor::Flight* const flight = hi_.find(psn);
    if (flight == nullptr || flight->reported || !flight->stamp || cause->last <= flight->last) continue;
    const Time older = cause->last - flight->last;
    if (older > bound && older < kMost) owe(Rule::ReqTimeAgain, psn, came.at);
  }
}

// ---- owed

void RequestorFlow::owe(Rule rule, Seq psn, Time since) {
  if (may_be_dead()) return;
  if (world_.world.incomplete() != nullptr || owed_.size() >= kMostOwed) return;
  owed_.push_back({rule, psn, since, world_.free.until(world_.now), last_sent_ > since});
}

bool RequestorFlow::settled(const Owed& owed, Time time) {
  Report& report = world_.world.report();
  const Requestor::Flight* const flight = hi_.find(owed.psn);
  if (flight == nullptr || flight->reported || flight->last > owed.since) {
    report.ok(owed.rule);
    return true;
  }
  const char* why = nullptr;
  if (may_be_dead()) why = "the QP may be in ERROR";
  if (controlled()) why = "a controller may hold it back";
  if (!world_.steady(owed.since)) why = "a port changed";
  if (why != nullptr) {
    report.rests(owed.rule, why);
    return true;
  }
  if (world_.free.until(time) - owed.free <= world_.world.queue()) return false;
  // What finds no EV counts as sent and lost.
  if (!world_.never_down() && !owed.has_ev) {
    report.rests(owed.rule, "a port was down, and no EV of the others may have been in use");
    return true;
  }
  suspect(owed.rule, owed.since, fmt::format("no retransmission of PSN {}, EV 0x{:08x}", psn24(owed.psn), flight->ev),
          fmt::format("one after {}, when it was known to be lost, within {} in which a port is free",
                      words(owed.since), words(world_.world.queue())));
  return true;
}

void RequestorFlow::suspect(Rule rule, Time since, std::string came, std::string right) {
  if (suspects_.size() >= kMostSuspects) return;
  Finding f = world_.world.finding(rule, nullptr, world_.world.local(qp_.qp), std::move(came), std::move(right));
  f.time = world_.now;
  f.since = since;
  suspects_.push_back(std::move(f));
}

/// It sends: it had not failed.
void RequestorFlow::alive() {
  for (Finding& f : suspects_) world_.doubt(std::move(f));
  suspects_.clear();
}

void RequestorFlow::sweep(Time time) {
  advance(time);
  erase_if(owed_, [&](const Owed& owed) { return settled(owed, time); });
  if (shows_evs_) evs_.now(time);
  if (world_.world.incomplete() != nullptr) return;
  idle(time);
  timer(time);
  requests(time);
}

/// How often the timer's interval may have doubled. The news of a later packet is no progress of the oldest one.
unsigned RequestorFlow::doublings() const {
  const Requestor::Flight* const oldest = hi_.find(hi_.oldest());
  const unsigned tries = std::max(tries_, oldest == nullptr ? 0U : oldest->times - 1U);
  return tries > qp_.retry_linear ? std::min(tries - qp_.retry_linear, 20U) : 0;
}

/// With something open and no progress it asks, or repeats, before its timer is over: after a quarter of the interval,
/// and it looks in steps of a quarter.
void RequestorFlow::requests(Time time) {
  if (may_be_dead() || hi_.open() == 0 || world_.world.settings().state_silent) return;
  const Requestor::Flight* const oldest = hi_.find(hi_.oldest());
  if (oldest == nullptr) return;
  const Time since = std::max({hi_.progress(), oldest->last, last_sent_, requests_judged_});
  const Time wait = 3 * (interval() << doublings()) / 4 + world_.world.queue();
  if (time < since + wait) return;
  requests_judged_ = time;
  if (std::max(requested_, again_) >= since) return world_.world.report().ok(Rule::ReqAsks);
  if (state_queried_ != 0) return;  // it has, and nothing has moved
  if (!world_.never_down()) return world_.world.report().rests(Rule::ReqAsks, "a port was down");
  if (world_.free.until(time) - active_free_ <= world_.world.queue()) return;
  // With the timer over it has a packet to repeat, and does not ask.
  if (time >= since + interval() && held_back(since))
    return world_.world.report().rests(Rule::ReqAsks, "a controller may hold back what is to be repeated");
  suspect(Rule::ReqAsks, since, fmt::format("nothing about PSN {}, which is not reported", psn24(hi_.oldest())),
          fmt::format("a probe or a retransmission within {} of {}", words(wait), words(since)));
}

/// A controller whose window holds a packet holds back none while nothing is in flight to its destination.
bool RequestorFlow::held_back(Time since) const {
  if (!controlled()) return false;
  constexpr unsigned kAround = 92;  // of a packet's nominal size, at most
  const auto empty = world_.empty.find(qp_.dest);
  return empty == world_.empty.end() || empty->second.since > since || empty->second.window < qp_.mtu + kAround;
}

/// Work that is posted moves on. How much of its window a NIC uses is its own affair; but if nothing is on its way and
/// nothing is sent, nothing will ever happen.
void RequestorFlow::idle(Time time) {
  const Seq end = Seq{qp_.sq_psn} + sure_;
  const bool could = from_log_ && lo_.next() < end && lo_.open() == 0 && lo_.next() <= lo_.limit() && !may_be_dead() &&
                     !immediate_waits();
  const bool crowded = world_.crowded && *world_.crowded >= (idle_free_ ? idle_since_ : time);
  if (!could || crowded || held_back(idle_free_ ? idle_since_ : time)) {
    idle_free_.reset();
    return;
  }
  const Time free = world_.free.until(time);
  if (!idle_free_) {
    idle_free_ = free;
    idle_since_ = time;
    return;
  }
  if (free - *idle_free_ <= world_.world.queue()) return;
  if (world_.steady(idle_since_)) {
    suspect(Rule::ReqMoves, idle_since_, fmt::format("nothing new after PSN {}", psn24(lo_.next() - 1)),
            fmt::format("up to PSN {} by now: {} packets are posted, cack_psn is {}",
                        psn24(std::min(lo_.limit(), end - 1)), end - lo_.next(), psn24(lo_.cack())));
  } else {
    world_.world.report().rests(Rule::ReqMoves, "a port changed");
  }
  idle_free_.reset();
}

/// The next message may have an immediate, and as many as may be are outstanding: it waits until one is confirmed, and
/// until the host has taken its completion.
bool RequestorFlow::immediate_waits() {
  while (!wimms_.empty() && wimms_.front() < lo_.acked()) wimms_.pop_front();
  if (world_.world.settings().wimm_over != kWimmWaits) return false;
  const auto left = static_cast<std::size_t>(std::max<Seq>(ended_ - done_, 0));
  const bool notified = world_.world.profile().all_completions && left < works_.size();
  if (notified && !works_[left].immediate) return false;
  const auto outstanding =
      std::count_if(works_.begin(), works_.begin() + static_cast<std::ptrdiff_t>(std::min(left, works_.size())),
                    [](const Work& work) { return work.immediate; });
  return std::max<std::size_t>(wimms_.size(), static_cast<std::size_t>(outstanding)) >= qp_.max_wimm;
}

/// What is not reported is asked for or sent again when the timer is over.
void RequestorFlow::timer(Time time) {
  if (may_be_dead() || hi_.open() == 0) return;
  const Time since = std::max({hi_.progress(), last_sent_, requested_});
  const Time allowed = (4 * interval() << doublings()) + world_.world.queue();
  if (time < since + allowed || world_.free.until(time) - active_free_ <= world_.world.queue()) return;
  if (held_back(since)) {
    world_.world.report().rests(Rule::ReqTimer, "a controller may hold it back");
  } else if (world_.steady(since)) {
    suspect(Rule::ReqTimer, since, fmt::format("nothing about PSN {}, which is not reported", psn24(hi_.oldest())),
            fmt::format("a retransmission or a probe within {} of {}", words(allowed), words(since)));
  } else {
    world_.world.report().rests(Rule::ReqTimer, "a port changed");
  }
  requested_ = time;  // once
}

// ---- work

void RequestorFlow::posted(const log::Post& post, Time time) {
  if (works_.size() >= kMostWorks) return;
  Work work;
  work.wr_id = post.wr_id;
  const Settings& s = world_.world.settings();
  const bool possible = post.bytes <= 0xFFFFFFFFu && (post.bytes > 0 || s.zero_length == kZeroLegal);
  const bool waits = s.wimm_over == kWimmWaits && qp_.max_wimm != 0;
  work.sure = possible && (!post.immediate || waits || immediates_ < qp_.max_wimm);
  const uint64_t bytes = std::max<uint64_t>(post.bytes, 1);  // of no bytes: one packet
  work.packets = possible ? static_cast<Seq>((bytes + qp_.mtu - 1) / std::max(qp_.mtu, 1u)) : 0;
  work.immediate = post.immediate;
  immediates_ += post.immediate ? 1 : 0;
  if (work.sure) sure_ += work.packets;
  work.waited = world_.world.waited(time);
  work.at = time;
  works_.push_back(work);
}

void RequestorFlow::completed(const log::Cqe& cqe, Time time) {
  const bool refused =
      cqe.status == log::Status::LocalLength || (!cqe.receive && cqe.status == log::Status::WimmOverrun);
  if (cqe.receive) {
    if (cqe.status != log::Status::Ok) fail(time);
    return;
  }
  if (!refused) check_status(cqe, time);
  // One immediate too many may end the QP: what is posted after it is not sent.
  if (cqe.status == log::Status::WimmOverrun && qp_.max_wimm != 0 && world_.world.settings().wimm_over == kWimmError) {
    fail(time);
    if (failed_work_ == 0) failed_work_ = time;
  }
  if (cqe.status != log::Status::Ok && !refused) {
    fail(time);
    if (failed_work_ == 0) {
      failed_work_ = time;
      if (fatal_ != 0) world_.world.report().ok(Rule::QpFails);
    }
  }
  const auto at = std::find_if(works_.begin(), works_.end(), [&](const Work& w) { return w.wr_id == cqe.wr_id; });
  if (at == works_.end()) return;
  if (at->immediate) --immediates_;
  if (refused && at->sure) sure_ -= at->packets;
  if (!refused) ++done_;
  works_.erase(at);
}

/// A work request fails only for a reason that came.
void RequestorFlow::check_status(const log::Cqe& cqe, Time time) {
  history::World& w = world_.world;
  const Settings& s = w.settings();
  bool right = true;
  std::string want;
  switch (cqe.status) {
    case log::Status::RemoteAccess:
      right = naks_[s.nak_access & 0xFF];
      want = fmt::format("another status: no NAK 0x{:02x} came", s.nak_access);
      break;
    case log::Status::RemoteInvalid:
      right = naks_[s.nak_invalid & 0xFF];
      want = fmt::format("another status: no NAK 0x{:02x} came", s.nak_invalid);
      break;
    case log::Status::Retries: {
      const Requestor::Flight* const flight = hi_.find(hi_.oldest());
      // One before it may have been tried, and waits for its data: it has not been seen.
      const Requestor::Flight* const before = hi_.find(hi_.cack() + 1);
      const bool unseen = before == nullptr || before->times == 0;
      // A word that only may have been heard, and timers that ran out while no EV was to be had, or while the packet
      // waited for its data, are no transmissions.
      const Time least = interval() * (qp_.retry_linear + qp_.retry_exp);
      // All tries may have run out while its packet waited inside for data that the host owed.
      const auto work = std::ranges::find_if(works_, [&](const Work& one) { return one.wr_id == cqe.wr_id; });
      if (work != works_.end() && w.waited(time) >= work->waited + least && qp_.retry_exp < kForEver)
        return w.report().rests(Rule::QpStatus, "tries without a transmission are not shown");
      // The last try may have run out just before the newest progress was heard.
      if (hi_.progress() != 0 && time <= hi_.progress() + lag())
        return w.report().rests(Rule::QpStatus, "it may have failed before the newest progress");
      if (flight == nullptr || unseen ||
          ((time >= flight->first + interval() || (hi_.progress() != 0 && time >= hi_.progress() + least)) &&
           qp_.retry_exp < kForEver))
        return w.report().rests(Rule::QpStatus, "tries without a transmission are not shown");
      const unsigned sent = flight->times;
      right = qp_.retry_exp < kForEver && sent >= qp_.retry_linear + qp_.retry_exp;
      want = fmt::format("none yet: PSN {} was sent {} times, and {} + {} retries are allowed", psn24(hi_.oldest()),
                         sent, qp_.retry_linear, qp_.retry_exp);
      break;
    }
    default:
      return;
  }
  if (const char* why = w.incomplete()) return w.report().rests(Rule::QpStatus, why);
  if (!world_.never_down()) return w.report().rests(Rule::QpStatus, "a port was down");
  w.check(
      Rule::QpStatus, right, nullptr, w.local(qp_.qp),
      [&] { return fmt::format("work request {} fails with status {}", cqe.wr_id, log::name_of(cqe.status)); },
      [&] { return want; });
}

/// The log has come to its end: what is confirmed has completed, and of a QP that has failed everything has.
void RequestorFlow::finish_work(Time time) {
  Report& report = world_.world.report();
  if (!from_log_ || qp_.state != log::QpState::Rts || world_.world.incomplete() != nullptr) return;
  const Time patience = world_.world.queue();
  const auto missed = [&](Rule rule, Time since, std::string came, std::string right) {
    Finding f = world_.world.finding(rule, nullptr, world_.world.local(qp_.qp), std::move(came), std::move(right));
    f.time = time;
    f.since = since;
    world_.doubt(std::move(f));
  };
  const std::string first = works_.empty() ? "" : fmt::format("work request {}", works_.front().wr_id);
  if (failed_work_ != 0) {
    if (works_.empty()) {
      report.ok(Rule::QpFlushAll);
    } else if (failed_work_ + patience < time) {
      missed(Rule::QpFlushAll, failed_work_,
             fmt::format("no completion of {} and {} behind it", first, works_.size() - 1),
             fmt::format("one of each: the QP failed at {}", words(failed_work_)));
    }
    return;
  }
  if (fatal_ != 0) {
    if (!works_.empty() && fatal_ + patience < time) {
      missed(Rule::QpFails, fatal_, fmt::format("no completion of {}", first),
             fmt::format("one with an error: the QP was told at {} that it has failed", words(fatal_)));
    }
    return;
  }
  if (failed_) return;
  const Seq done = Seq{qp_.msn} + done_;
  const bool refusable = std::any_of(works_.begin(), works_.end(), [](const Work& work) { return !work.sure; });
  if (lo_.acked() <= done) {
    report.ok(Rule::ReqCqeOwed);
  } else if (refusable) {
    report.rests(Rule::ReqCqeOwed, "work was posted that may be refused");
  } else if (confirmed_ + patience < time) {
    missed(Rule::ReqCqeOwed, confirmed_, fmt::format("no completion of {}", first),
           fmt::format("one: an ACK with MSN {} came by {}, and {} messages have completed", lo_.acked() & 0xFFFF,
                       words(confirmed_), done_));
  }
}

void RequestorFlow::finish(Time time, bool cut) {
  advance(time);
  if (!cut) finish_work(time);
  sweep(time);
  for (Finding& f : suspects_) {
    if (may_be_dead()) {
      world_.world.report().rests(f.rule, "the QP may be in ERROR");
    } else {
      world_.doubt(std::move(f));
    }
  }
  suspects_.clear();
  paths_.finish();
  if (shows_evs_ && !may_be_dead()) evs_.finish(cut, time);
}

uint64_t RequestorFlow::memory() const {
  return sizeof *this + hi_.memory() + lo_.memory() + paths_.memory() + evs_.memory() + waiting_.size() * sizeof(Came) +
         owed_.size() * sizeof(Owed) + works_.size() * sizeof(Work) + probes_.size() * sizeof probes_[0];
}

}  // namespace mrc::ref

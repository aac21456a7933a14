// SPDX-License-Identifier: Apache-2.0
#include "reference/responder_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "reference/numbers.hpp"
#include "reference/queue.hpp"

namespace mrc::ref {
namespace {

constexpr const char* kHeldBack = "ports or the host held the answer back";
constexpr std::size_t kMostUnsure = 64;
constexpr std::size_t kMostLate = 256;
constexpr std::size_t kMostImmediates = 1 << 16;
constexpr Seq kWindowUnit = 128;

constexpr Time kWindows = 8;  ///< in which time to answer is counted, of the latency
/// A frame's payload may come in so many reads, one after the other. A host that takes longer for one than that share
/// of the answer's latency holds the answer back.
constexpr Time kReads = 64, kQuickRead = 100'000;

Time patience_of(const Profile& p) { return std::min(p.take, std::max(p.answer / kReads, kQuickRead)); }

ResponderRules rules_of(const Settings& s, const log::Qp& qp, bool faulty_arrive) {
  ResponderRules r;
  r.sack_trigger = s.sack_trigger;
  r.oor_drop = s.oor_drop;
  r.trim_nack = qp.trim_nack;
  r.zero_drop = s.zero_length == kZeroDrop;
  r.err_silent = s.err_silent;
  r.trim_silent = s.trim_silent;
  r.faulty_arrive = faulty_arrive;
  return r;
}

}  // namespace

ResponderWorld::ResponderWorld(const Profile& of, Report& to, Time late)
    : profile(of),
      report(to),
      latency(late),
      free(of.planes, of.port_gbps, patience_of(of), std::max<Time>(of.answer / kWindows, 1), of.ack_gap) {}

log::Ip ResponderWorld::plain(log::Ip ip) const {
  if (!profile.settings.ip_per_plane) return ip;
  for (unsigned bit = 0; bit < 3; ++bit) {
    const unsigned at = profile.settings.ip_plane_lsb + bit;
    if (at < 128) ip[15 - at / 8] = static_cast<uint8_t>(ip[15 - at / 8] & ~(1u << (at % 8)));
  }
  return ip;
}

bool ResponderWorld::reaches(const log::Ip& peer) const {
  const auto said = peer_ports.find(plain(peer));
  return (said == peer_ports.end() ? up : up & said->second) != 0;
}

void ResponderWorld::doubt(Finding finding) {
  if (disturbed.near(finding.since != 0 ? finding.since : finding.time, latency)) return report.disturbed(finding.rule);
  // What the device has shown as taken was not discarded.
  if ((!profile.silent_drops || shows_take) && !unsure) return broken(std::move(finding));
  ++held_count[finding.rule];
  if (held.size() < kMostHeldFindings) held.push_back(std::move(finding));
}

void ResponderWorld::decide(std::optional<uint64_t> dropped) {
  const bool none_dropped = dropped == uint64_t{0} && !unsure;
  const bool known = !unsure && (dropped || !profile.silent_drops);
  const uint64_t allowed = !known ? num_untaken : profile.silent_drops ? *dropped : 0;
  for (uint64_t i = 0; i < num_untaken; ++i) {
    if (i >= allowed) {
      broken(untaken[std::min<std::size_t>(i - allowed, untaken.size() - 1)]);
    } else if (known) {
      report.ok(Rule::RespTakeAll);
    } else {
      report.discarded(Rule::RespTakeAll, 1, false);
    }
  }
  // A packet that was discarded explains what stands on it, and no more packets were discarded than the device counts.
  std::set<std::pair<uint32_t, uint64_t>> discarded;
  for (Finding& f : held) {
    if (!dropped || unsure) break;
    if (f.alone) discarded.emplace(f.capture, f.frame);
    if (!none_dropped && !(f.alone && discarded.size() > *dropped)) continue;
    --held_count[f.rule];
    broken(std::move(f));
  }
  if (!none_dropped) {
    for (const auto& [rule, count] : held_count) report.discarded(rule, count, dropped > uint64_t{0} && !unsure);
  }
  held.clear();
  held_count.clear();
}

ResponderFlow::ResponderFlow(const log::Qp& qp, ResponderWorld& world)
    : qp_(qp),
      world_(world),
      hi_(qp.rq_psn, qp.msn, qp.mpr_dest * kWindowUnit, rules_of(world.profile.settings, qp, !world.shows_take)),
      lo_(qp.rq_psn, qp.msn, qp.mpr_dest * kWindowUnit, rules_of(world.profile.settings, qp, false)),
      claimed_(hi_.cack()),
      acked_(qp.msn) {}

void ResponderFlow::change(const log::Qp& qp, Time time) {
  if (qp.window != qp_.window) {
    constexpr std::size_t kMostWindows = 64;
    windows_.emplace_back(qp_.window, time);
    if (windows_.size() > kMostWindows) windows_.pop_front();
  } else if ((qp_.flags & log::kOrdered) != 0 && !windows_.empty()) {
    windows_.back().second = time;  // the one before it may have stood until now
  }
  qp_ = qp;
  trace(time, "state", static_cast<Seq>(qp.state));
  if (qp.state == log::QpState::Error && state_ != State::Dead) {
    state_ = State::Dead;
    failed_ = time;
  }
}

void ResponderFlow::may_fail(Time time) {
  if (state_ != State::Alive) return;
  state_ = State::Maybe;
  failed_ = time;
}

/// An answer that no QP in ERROR gives: whatever was suspected is true.
void ResponderFlow::alive(Time time) {
  if (state_ != State::Alive && qp_.state != log::QpState::Error && time > failed_ + world_.latency) {
    state_ = State::Alive;
  }
  if (state_ != State::Alive) return;
  auto later = std::partition(suspects_.begin(), suspects_.end(), [&](const Finding& f) { return f.time < time; });
  for (auto it = suspects_.begin(); it != later; ++it) world_.doubt(std::move(*it));
  suspects_.erase(suspects_.begin(), later);
}

void ResponderFlow::suspect(Finding finding) {
  if (suspects_.size() < kMostUnsure) suspects_.push_back(std::move(finding));
}

/// Ports were as they are for long enough: what is owed since then can have been sent.
bool ResponderFlow::quiet(Time since) const {
  return world_.reaches(qp_.peer_ip) && (world_.port_change == 0 || world_.port_change + world_.latency < since);
}

void ResponderFlow::trace(Time time, const char* what, Seq psn, Seq more) {
  traces_[num_traces_++ % traces_.size()] = {time, what, psn, more};
}

Finding ResponderFlow::finding(Rule rule, Time time, std::string came, std::string right) const {
  Finding f;
  f.rule = rule;
  f.qp = qp_.qp;
  f.time = time;
  f.came = std::move(came);
  f.right = std::move(right);
  const uint64_t size = traces_.size();
  for (uint64_t i = num_traces_ > size ? num_traces_ - size : 0; i < num_traces_; ++i) {
    const Trace& t = traces_[i % size];
    f.context.push_back(fmt::format("{} ps: {} {} {}", t.time, t.what, t.psn, t.more));
  }
  return f;
}

Finding ResponderFlow::finding(Rule rule, const Went& went, std::string came, std::string right) const {
  Finding f = finding(rule, went.at, std::move(came), std::move(right));
  f.frame = went.number;
  f.capture = went.capture;
  return f;
}

void ResponderFlow::owe(Need need, Rule rule, const Came& came) {
  Owed owed;
  owed.need = need;
  owed.rule = rule;
  owed.came = came;
  owed.due = due(came);
  owed.free = (need == Need::Ack ? world_.free.acks() : world_.free.answers()) + world_.free.window() + owed.due -
              std::max(came.taken, came.at);
  const bool inside = came.arrival.what == Arrival::What::Probe || came.arrival.psn <= claimed_ + kWindowUnit;
  owed.alone = inside && (rule == Rule::RespSackAsk || rule == Rule::RespSackRtx || rule == Rule::RespSackCe ||
                          rule == Rule::RespSackProbe);
  owed_.push_back(owed);
}

void ResponderFlow::came(const Came& came) {
  advance(came.at);
  if (state_ == State::Dead && came.sure && came.at > failed_ + world_.latency) {
    if (!world_.profile.settings.err_silent && came.arrival.what == Arrival::What::Data) {
      owe(Need::Unexp, Rule::RespUnexpOwed, came);
    }
    return;
  }
  switch (came.arrival.what) {
    case Arrival::What::Data:
      return data(came);
    case Arrival::What::Trimmed:
      return trimmed(came);
    case Arrival::What::Probe:
      trace(came.at, "probe", came.arrival.probe);
      if (!came.sure) return;
      owe(Need::Probe, Rule::RespSackProbe, came);
      if (lo_.completed() > Seq{qp_.msn}) owe(Need::Ack, Rule::RespAckAgain, came);
  }
}

/// lo takes it then.
void ResponderFlow::wait(const Came& came, Time due) {
  waiting_.push_back(
      {came, due, world_.free.acks() + world_.free.window() + due - std::max(came.taken, came.at), false});
}

bool ResponderFlow::held_back(const Waiting& waiting, Time now) const {
  return world_.free.acks() < waiting.free && overdue(waiting.due, now);
}

/// What is due then should have gone by now: there was time for it.
bool ResponderFlow::past(Time due, Time free, bool ack, Time now) const {
  return due < now && ((ack ? world_.free.acks() : world_.free.answers()) >= free || overdue(due, now));
}

/// Ports or the host have kept the device from answering for so long that nobody waits any more.
bool ResponderFlow::overdue(Time due, Time now) const {
  constexpr Time kLong = 16;
  return due + kLong * world_.latency < now;
}

void ResponderFlow::take_hi(const Came& came) {
  if (!world_.shows_take && hi_.differs(came.arrival)) {
    size_slack_ += hi_.gap(came.arrival);
    mixed_ = true;
  }
  const Seq before = hi_.cack();
  const Fate fate = hi_.take(came.arrival);
  if (fate == Fate::Outside && !world_.shows_take && late_.size() < kMostLate) late_.push_back(came);
  for (const auto& done : hi_.immediates) immediates_.push_back(done);
  hi_.immediates.clear();
  if (immediates_.size() > kMostImmediates) {  // nobody tells of completions, or not of all
    immediates_.clear();
    immediates_lost_ = true;
  }
  if (hi_.cack() == before || late_.empty()) return;
  Queue<Came> again;
  again.swap(late_);
  for (const Came& c : again) {
    if (c.at + world_.latency >= came.at) take_hi(c);
  }
}

void ResponderFlow::data(const Came& came) {
  const Arrival& a = came.arrival;
  trace(came.at, came.sure ? "data" : "data, perhaps,", a.psn, hi_.cack());
  if (a.fault != Fault::None) faults_ |= 1u << static_cast<unsigned>(a.fault);
  if (a.fault == Fault::None && a.payload == 0) {
    empty_ = true;
    world_.report.ok(Rule::RespZero);
  }
  const bool had = lo_.has(a.psn);
  const bool below = a.psn <= lo_.cack();
  const bool missing = hi_.above() != 0;
  take_hi(came);
  overran_ = overran_ || overrun(a);
  if (came.recorded && !came.sure) wait(came, due(came));
  if (!came.sure || state_ != State::Alive) return;
  if (overrun(a) && !had && !came.recorded)
    return world_.report.rests(Rule::RespCackTaken, "an immediate too many, perhaps");
  if (a.fault != Fault::None) {
    // One that is not the next in order counts as lost: its sender will repeat it.
    if (had || lo_.cack() < a.psn - 1) return;
    if (a.fault == Fault::Access) owe(Need::Nak, Rule::RespNakOwed, came);
    if (a.fault == Fault::Zero && world_.profile.settings.zero_length != kZeroDrop)
      owe(Need::Nak, Rule::RespNakZero, came);
    return;
  }
  if (a.psn > hi_.cack() + hi_.window()) {
    if (!world_.profile.settings.oor_drop) owe(Need::Oor, Rule::RespOorOwed, came);
    return;
  }
  wait(came, due(came) + came.error);
  const bool near_enough = std::abs(hi_.cack() - a.psn) < (1 << 14) && (had || inside(a.psn) || came.recorded);
  if (!near_enough || a.psn > lo_.cack() + lo_.window()) return;
  if (a.ce) owe(Need::Mark, Rule::RespSackCe, came);
  if (a.request) owe(Need::Sack, Rule::RespSackAsk, came);
  if (a.rtx) owe(Need::Sack, Rule::RespSackRtx, came);
  if (had && !a.request && !a.rtx && !a.ce) owe(Need::Sack, Rule::RespSackDup, came);
  if (below && lo_.completed() > Seq{qp_.msn}) owe(Need::Ack, Rule::RespAckAgain, came);
  if (hi_.above() == 0 && missing && !refused_ && faults_ == 0 && requested_ != log::kNever &&
      came.at > requested_ + world_.profile.take + 2 * world_.profile.skew) {
    owe(Need::AnySack, Rule::RespSackDrain, came);
  }
  if (hi_.above() == 0) requested_ = log::kNever;
  if (a.request && hi_.above() != 0) requested_ = came.at;
}

/// The PSN lies in the window, whatever a dynamic MPR is now: one unit at least.
bool ResponderFlow::inside(Seq psn) const { return psn <= lo_.cack() + (qp_.dynamic_mpr ? kWindowUnit : lo_.window()); }

/// An immediate too many, or one without a receive, perhaps: its sender counts those that are on their way.
bool ResponderFlow::overrun(const Arrival& packet) const {
  if (!packet.immediate) return false;
  const Seq next = Seq{qp_.rqmsn} + static_cast<Seq>(received_);
  const Seq number = unwrap(packet.rqmsn, next, 16);
  return number >= next + Seq{qp_.max_wimm_dest} ||
         (posted_ != 0 && number >= Seq{qp_.rqmsn} + static_cast<Seq>(posted_));
}

void ResponderFlow::trimmed(const Came& came) {
  const Seq psn = came.arrival.psn;
  trace(came.at, "trimmed", psn, hi_.cack());
  if (!came.sure || state_ != State::Alive) return;
  if (lo_.has(psn)) {
    if (std::abs(hi_.cack() - psn) < (1 << 14)) owe(Need::Sack, Rule::RespSackTrim, came);
    return;
  }
  if (!inside(psn) || !qp_.trim_nack) return;
  owe(Need::NackTrim, Rule::RespNackTrim, came);
  if (!world_.profile.settings.trim_silent && !hi_.has(psn)) owe(Need::TrimSack, Rule::RespTrimSack, came);
}

void ResponderFlow::advance(Time now) {
  while (!waiting_.empty() && past(waiting_.front().due, waiting_.front().free, true, now)) {
    feed(waiting_.front(), now);
    waiting_.pop_front();
  }
  while (!claims_.empty() && claims_.front().first < now) {
    claimed_ = std::max(claimed_, claims_.front().second);
    if (claimed_ > lo_.cack() && state_ == State::Alive) {
      const Seq completed = lo_.completed();
      lo_.raise(claimed_, hi_);
      if (completed <= acked_ && lo_.completed() > acked_) completed_at_ = claims_.front().first - world_.latency;
    }
    claims_.pop_front();
  }
  forget(now);
  while (!owed_.empty()) {
    Owed& first = owed_.front();
    if (!first.met && !past(first.due, first.free, first.need == Need::Ack, now)) break;
    Owed owed = first;
    owed_.pop_front();
    judge_owed(owed, now);
  }
}

void ResponderFlow::feed(const Waiting& waiting, Time now) {
  if (waiting.cancelled || state_ != State::Alive) return;
  if (!waiting.came.recorded && !quiet(waiting.came.at))
    return world_.report.rests(Rule::RespCackTaken, "a port changed, and may have lost a NACK of the packet");
  const Seq psn = waiting.came.arrival.psn;
  // A SACK may have told of it before.
  const Time completed_at = lo_.completed() > acked_ ? completed_at_ : waiting.came.at;
  const Fate fate = lo_.take(waiting.came.arrival);
  if (fate == Fate::New) count_bytes(waiting, now);
  if (early_.erase(psn) != 0) {
    world_.report.ok(Rule::RespReported);  // it was quicker than it had to be
  } else if (fate == Fate::New && psn > lo_.cack()) {
    unreported_.insert(psn);
    report_due_.emplace_back(psn, sacks_);
  }
  if (mixed_ || world_.profile.settings.ack_with_sack) return;
  if (lo_.completed() <= acked_) {
    if (waiting.came.arrival.last) world_.report.ok(Rule::RespAckOwed);
    return;
  }
  if (!quiet(completed_at)) {
    world_.report.rests(Rule::RespAckOwed, "a port changed");
  } else if (held_back(waiting, now)) {
    world_.report.rests(Rule::RespAckOwed, kHeldBack);
  } else {
    Finding f = finding(Rule::RespAckOwed, waiting.due, fmt::format("no ACK of MSN {}", lo_.completed() & 0xffff),
                        fmt::format("packet {} made it complete", psn & 0xffffff));
    f.since = waiting.came.at;
    suspect(std::move(f));
  }
  acked_ = lo_.completed();
}

/// Packets that came after the last SACK, and must have been taken and counted by now.
void ResponderFlow::count_bytes(const Waiting& waiting, Time now) {
  // It may have come before the SACK left.
  if (waiting.came.at <= sacked_ + 2 * (waiting.came.error + world_.profile.skew)) return;
  bytes_ += std::max<uint32_t>(waiting.came.arrival.payload, 1024);
  if (bytes_ < world_.profile.settings.sack_trigger) return;
  if (!quiet(sacked_)) {
    world_.report.rests(Rule::RespSackBytes, "a port changed");
  } else if (held_back(waiting, now)) {
    world_.report.rests(Rule::RespSackBytes, kHeldBack);
  } else {
    Finding f = finding(Rule::RespSackBytes, waiting.due, fmt::format("no SACK for {} bytes", bytes_),
                        fmt::format("one after {}", world_.profile.settings.sack_trigger));
    f.since = waiting.came.at;
    f.frame = waiting.came.number;
    f.capture = waiting.came.capture;
    suspect(std::move(f));
  }
  bytes_ = 0;
}

void ResponderFlow::judge_owed(Owed& owed, Time now) {
  const Seq psn = owed.came.arrival.psn;
  if (owed.met) {
    world_.report.ok(owed.rule);
    if (owed.need == Need::Sack) world_.report.ok(Rule::RespSackOwn);
    return;
  }
  if (state_ != State::Alive && owed.need != Need::Unexp) {
    if (!(owed.need == Need::Nak && nak_sent_ != 0)) {
      return world_.report.rests(owed.rule, "the QP may be in ERROR");
    }
  }
  if (!quiet(owed.came.at)) return world_.report.rests(owed.rule, "a port changed");
  if (owed.need == Need::Oor && hi_.cack() + hi_.window() >= psn) {
    return world_.report.rests(owed.rule, "the window moved meanwhile");
  }
  if (owed.need == Need::Nak) {
    if (nak_sent_ >= owed.came.at) return world_.report.ok(owed.rule);
    if (lo_.has(psn)) return world_.report.rests(owed.rule, "a right copy came");
  }
  if (owed.covered) {
    world_.report.ok(owed.rule);
    if (owed.need == Need::Sack) owed.rule = Rule::RespSackOwn;
  }
  // A duplicate that found no buffer for its payload is as good as a trimmed one, and nothing shows it.
  if (owed.rule == Rule::RespAckAgain && owed.came.arrival.what == Arrival::What::Data && world_.no_buffer != 0 &&
      world_.no_buffer + world_.latency >= owed.came.at) {
    return world_.report.rests(owed.rule, "there may have been no buffer for the duplicate");
  }
  const Time free = owed.need == Need::Ack ? world_.free.acks() : world_.free.answers();
  if (free < owed.free && overdue(owed.due, now)) return world_.report.rests(owed.rule, kHeldBack);
  missed(owed);
}

void ResponderFlow::missed(const Owed& owed) {
  const char* what = "no SACK";
  if (owed.need == Need::NackTrim || owed.need == Need::Oor) what = "no NACK";
  if (owed.need == Need::Ack) what = "no ACK";
  if (owed.need == Need::Nak) what = "no NAK";
  if (owed.need == Need::Unexp) what = "neither NACK nor NAK";
  const Arrival& a = owed.came.arrival;
  const bool probe = a.what == Arrival::What::Probe;
  Finding f = finding(owed.rule, owed.due, what,
                      fmt::format("one about {} {}, which came at {} ps, by {} ps", probe ? "probe" : "packet",
                                  probe ? Seq{a.probe} : a.psn & 0xffffff, owed.came.at, owed.due));
  f.since = owed.came.at;
  f.frame = owed.came.number;
  f.capture = owed.came.capture;
  f.alone = owed.alone;
  if (owed.need == Need::Unexp) return world_.doubt(std::move(f));
  suspect(std::move(f));
}

void ResponderFlow::completed(const log::Cqe& cqe, Time time) {
  advance(time);
  if (cqe.status != log::Status::Ok) {
    const bool ends = world_.profile.settings.wimm_over == kWimmError;
    if (cqe.status != log::Status::LocalLength && (cqe.receive || ends || cqe.status != log::Status::WimmOverrun)) {
      may_fail(time);
    }
    return;
  }
  if (!cqe.receive) return;
  ++received_;
  trace(time, "receive completion", cqe.msn, cqe.imm);
  if (mixed_) return world_.report.rests(Rule::RespCqeComplete, "copies of a packet differed");
  if (immediates_lost_) return world_.report.rests(Rule::RespCqeComplete, "too many completions were not recorded");
  if (immediates_.empty()) {
    world_.broken(finding(Rule::RespCqeComplete, time, fmt::format("receive completion of MSN {}", cqe.msn),
                          fmt::format("none: packets up to {} have arrived", hi_.cack() & 0xffffff)));
    return;
  }
  // A NIC may tell RQMSN or MSN; what it does not tell is 0. Then the immediate says which message it is.
  const bool notified = cqe.msn != 0 || cqe.rqmsn != 0;
  const auto same = [&](const Responder::Immediate& i) {
    if (cqe.rqmsn != 0) return i.rqmsn == (cqe.rqmsn & 0xffff);
    return notified ? (i.msn & 0xffff) == (cqe.msn & 0xffff) : i.imm == cqe.imm;
  };
  const auto found = std::find_if(immediates_.begin(), immediates_.end(), same);
  const auto next = immediates_.front();
  if (found == immediates_.end()) {
    world_.broken(
        finding(notified ? Rule::RespCqeComplete : Rule::RespCqeImm, time,
                fmt::format("receive completion of MSN {}, RQMSN {}, immediate {:#x}", cqe.msn, cqe.rqmsn, cqe.imm),
                fmt::format("that of MSN {}, {:#x}", next.msn & 0xffff, next.imm)));
    immediates_.pop_front();
    return;
  }
  world_.report.ok(Rule::RespCqeComplete);
  if (found != immediates_.begin()) {
    world_.broken(finding(Rule::RespCqeOrder, time, fmt::format("receive completion of immediate {:#x}", cqe.imm),
                          fmt::format("that of MSN {}, {:#x}", next.msn & 0xffff, next.imm)));
  } else {
    world_.report.ok(Rule::RespCqeOrder);
  }
  if (found->imm == cqe.imm) {
    world_.report.ok(Rule::RespCqeImm);
  } else {
    world_.broken(finding(Rule::RespCqeImm, time, fmt::format("immediate {:#x} of MSN {}", cqe.imm, cqe.msn),
                          fmt::format("{:#x}", found->imm)));
  }
  immediates_.erase(found);
}

void ResponderFlow::finish(Time time) {
  advance(time);
  for (const Came& came : coming_) {
    if (came.at + world_.latency < time) untaken(came);
  }
  coming_.clear();
  for (Finding& f : suspects_) {
    if (state_ == State::Alive) {
      world_.doubt(std::move(f));
    } else {
      world_.report.rests(f.rule, "the QP may be in ERROR");
    }
  }
  suspects_.clear();
}

uint64_t ResponderFlow::memory() const {
  return sizeof *this + hi_.memory() + lo_.memory() + waiting_.size() * sizeof(Waiting) + owed_.size() * sizeof(Owed) +
         (unreported_.size() + early_.size()) * 48 + immediates_.size() * sizeof(Responder::Immediate) +
         coming_.size() * sizeof(Came) + reads_.size() * sizeof(Read);
}

}  // namespace mrc::ref

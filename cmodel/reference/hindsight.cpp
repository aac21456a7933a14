// SPDX-License-Identifier: Apache-2.0
#include "reference/hindsight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "log/packet.hpp"
#include "reference/history_world.hpp"
#include "reference/queue.hpp"
#include "util/flat_set.hpp"

namespace mrc::ref {
namespace history::hindsight {
namespace {

constexpr Seq kWindow = 4096;  ///< the largest one
constexpr Seq kKept = 8192;    ///< PSNs below the highest one seen that are known
constexpr std::size_t kMostClaims = 64, kMostSacks = 64, kMostAhead = 16, kMostEvs = 1024;
constexpr Seq kOvertaken = 256;  ///< PSNs that may come before a packet that was sent before them
/// Packets that may wait at a port, while copies of them take another one that the capture does not have.
constexpr uint64_t kQueued = 8;
/// Acknowledged packets of a QP in a row, all of them seen, that show that the capture has all its ports.
constexpr uint64_t kAllPorts = 8;
/// So many, once one was not seen: a capture of one port of two has eight in a row by chance.
constexpr uint64_t kAllPortsAgain = 64;
constexpr unsigned kLaterSacks = 8, kUnanswered = 8;
constexpr std::size_t kMostWaiting = 1024;
constexpr uint64_t kLeastCount = 1024;                ///< of a packet, as SACK thresholds count
constexpr uint64_t kMostBytes = uint64_t{8} * 16384;  ///< of the largest threshold known (A-09)
constexpr uint64_t kRow = 64;  ///< frames that leave a port one after the other: so many do not wait in it
constexpr uint64_t kLeastLawful = 8, kLeastAstray = 8;
constexpr const char* kUnseen = "the capture does not show what comes of it";
constexpr const char* kOwnBack = "the device's own packet may have come back";

/// Something that an answer says of packets that were not sent.
struct Claim {
  Rule rule{};
  Seq first = 0, last = 0;       ///< PSNs; of an ACK the last one is the MSN it stands for
  uint64_t bits = ~uint64_t{0};  ///< of a bitmap: bit i is PSN first + i
  Finding finding;
  uint64_t fresh = 0;                 ///< Came::fresh by then
  std::optional<uint32_t> entropy{};  ///< of the one packet that it names
};

/// What came to the QP, and what it said of it.
struct Came {
  bool any = false;
  Queue<bool> psns;  ///< from base on: whether it was seen whole
  Seq base = 0, top = 0;
  Seq from = 0;        ///< below it packets may have come that were not seen
  uint64_t fresh = 0;  ///< new packets, in order
  Queue<Claim> claims;
  struct Acked {
    Seq top, msn;
    uint64_t fresh;  ///< Came::fresh by then
    Finding finding;
  };
  std::optional<Acked> acked;                        ///< the ACK that stands for most messages
  std::map<Seq, Seq> acks;                           ///< MSN by PSN
  std::map<std::pair<Seq, unsigned>, Seq> received;  ///< rcvd_bytes by cack_psn and ooo_count
  struct Waiting {
    Seq psn;
    Time time;
    uint64_t number;
    uint64_t bytes;  ///< as a SACK's threshold counts them
    bool requests;
  };
  FlatSet own_evs;         ///< of the device's own data to a QP of this number: they may come back (A-80)
  Seq own_top = 0;         ///< of these, the highest PSN
  FlatSet peers_evs;       ///< since there are such
  Queue<Waiting> waiting;  ///< since the newest SACK, whole
  bool sacked = false;
  Seq notified = std::numeric_limits<Seq>::min();  ///< the highest acknowledged PSN
  uint64_t shown = 0;                              ///< of those that were acknowledged, seen in a row
  bool missed = false;                             ///< one of them was not seen

  /// A SACK acknowledges all PSNs up to this one.
  void notify(Seq cack) {
    for (Seq psn = std::max(notified + 1, base); psn <= std::min(cack, top - 1); ++psn) {
      shown = has(psn) ? shown + 1 : 0;
      missed |= shown == 0;
    }
    notified = std::max(notified, cack);
  }
  /// An answer says that packets have come which were not seen: by a port that the capture does not have?
  void unseen() {
    shown = 0;
    missed = true;
  }
  /// The capture has all ports that its packets come to.
  bool all_ports() const { return shown >= (missed ? kAllPortsAgain : kAllPorts); }
  /// Whether an answer may be one to the device's own packet, which came back to where the capture was not
  /// taken, and perhaps before it had been there.
  bool may_answer_own(uint32_t psn, uint32_t entropy) const {
    return !own_evs.empty() && std::abs(unwrap(psn, own_top) - own_top) <= kWindow &&
           (own_evs.contains(entropy) || !peers_evs.contains(entropy));
  }
  bool has(Seq psn) const {
    return psn >= base && psn < base + static_cast<Seq>(psns.size()) && psns[static_cast<std::size_t>(psn - base)];
  }
  void put(Seq psn) {
    any = true;
    if (psn < base) {
      if (psn < top - kKept) return;
      psns.insert(psns.begin(), static_cast<std::size_t>(base - psn), false);
      base = psn;
    }
    const auto at = static_cast<std::size_t>(psn - base);
    if (at >= psns.size()) psns.resize(at + 1, false);
    psns[at] = true;
    top = std::max(top, psn + 1);
    while (base < top - kKept) {
      psns.pop_front();
      ++base;
    }
  }
  Seq above(Seq psn) const {
    const Seq from = std::max(psn + 1, base) - base;
    if (from >= static_cast<Seq>(psns.size())) return 0;
    return std::count(psns.begin() + from, psns.end(), true);
  }
};

/// What the QP sent, and what it heard.
struct Went {
  bool any = false;
  Seq top = 0;
  std::optional<Seq> cack;
  struct Ahead {
    Seq psn;
    unsigned later = 0;  ///< SACKs seen since
    Finding finding;
  };
  Queue<Ahead> ahead;
  struct Ev {
    uint8_t plane = 0;
    uint64_t there = 0, astray = 0;
    Finding finding;  ///< of the first packet astray
  };
  std::map<uint32_t, Ev> evs;
};

/// One of the device's, by what leaves it. A row of frames has no time of World::lag() without any.
struct Port {
  uint64_t row = 0;          ///< frames of the newest one
  Time ended = 0, last = 0;  ///< the row before; the newest frame
};

class Hindsight final : public Checker {
 public:
  Hindsight(const Profile& profile, Report& report) : w_(profile, report), wire_(profile.wire()) {}

  void now(Time time) override { w_.now(time); }
  void qp(const log::Qp& qp, Time time) override {
    if ((qp.flags & log::kInferred) != 0) w_.qp(qp, time);
  }
  void received(const Seen& seen) override {
    QpWorld* const qp = ours(seen) ? w_.of_received(seen) : nullptr;
    if (qp == nullptr || !qp->inferred() || !from_peer(seen, *qp)) return;
    if (seen.packet.trimmed()) {  // it was sent; by another clock, whole, perhaps later
      Came& came = came_of(*qp);
      const Seq psn = unwrap(seen.packet.bth->psn, came.top);
      if (is_data(seen.packet) && came.any && psn <= came.top + kWindow) came.put(psn);
      return;
    }
    w_.remember(*qp, seen);
    if (is_data(seen.packet) && seen.packet.meth) arrives(seen, *qp, came_of(*qp));
    if (seen.packet.seth) hears(seen, *qp, went_[qp->incarnation]);
  }
  void sent(const Seen& seen) override {
    QpWorld* const qp = ours(seen) ? w_.of_sent(seen.packet) : nullptr;
    leaves(seen);
    control(seen);
    if (ours(seen)) may_come_back(seen.packet);
    if (qp == nullptr || !qp->inferred() || seen.packet.trimmed() || seen.packet.error) return;
    w_.remember(*qp, seen);
    const wire::Packet& p = seen.packet;
    if (is_data(p) && p.reth) data(seen, *qp, went_[qp->incarnation]);
    Came& came = came_of(*qp);
    if (p.seth && p.cc_state) sack(seen, *qp, came);
    if (p.neth) nack(seen, *qp, came);
    if (p.aeth) ack(seen, *qp, came);
  }
  void gap(const log::Gap&, Time) override { w_.gap(); }
  void finish(const log::End& end, Time time) override;
  uint64_t memory() const override {
    uint64_t bytes = w_.memory();
    for (const auto& [number, c] : came_)
      bytes += sizeof c + c.psns.size() / 8 + c.claims.size() * sizeof(Claim) + c.received.size() * 64 +
               c.own_evs.memory() + c.peers_evs.memory();
    for (const auto& [number, w] : went_) bytes += sizeof w + w.evs.size() * (sizeof(Went::Ev) + 64);
    return bytes;
  }

 private:
  static uint32_t psn24(Seq psn) { return static_cast<uint32_t>(psn & 0xFFFFFF); }
  bool ours(const Seen& seen) const { return seen.mrc() && w_.qps_notified(); }
  Finding finding(Rule rule, const Seen& seen, const QpWorld& qp, std::string right) const {
    return w_.finding(rule, &seen, &qp, words(seen, wire_), std::move(right));
  }

  /// QPs of other devices may have its number.
  bool from_peer(const Seen& seen, const QpWorld& qp) const {
    const bool ipv4 = seen.packet.ipv4.has_value();
    return w_.plain(log::mapped_source(seen.packet), ipv4) == w_.plain(qp.set.peer_ip, ipv4);
  }
  /// From the first PSN on that the frames tell of.
  Came& came_of(const QpWorld& qp) {
    const auto [at, fresh] = came_.try_emplace(qp.incarnation);
    if (fresh) at->second.base = at->second.top = at->second.from = qp.set.rq_psn;
    return at->second;
  }
  void may_come_back(const wire::Packet& packet);
  void arrives(const Seen& seen, const QpWorld& qp, Came& came);
  void claim(Rule rule, Came& came, Seq first, Seq last, uint64_t bits, Finding finding,
             std::optional<uint32_t> entropy = {});
  void sack(const Seen& seen, const QpWorld& qp, Came& came);
  void rising(const Seen& seen, const QpWorld& qp, Came& came, Seq cack);
  void nack(const Seen& seen, const QpWorld& qp, Came& came);
  void ack(const Seen& seen, const QpWorld& qp, Came& came);
  void unanswered(const Seen& seen, const QpWorld& qp, Came& came, Seq psn);
  void in_order(const Seen& seen, const QpWorld& qp, Came& came, Seq psn);
  void data(const Seen& seen, const QpWorld& qp, Went& went);
  void hears(const Seen& seen, const QpWorld& qp, Went& went);
  void control(const Seen& seen);
  void leaves(const Seen& seen);
  /// What was built before that time has left, whatever port stood still (docs/design/blocks/nic.md).
  Time left_until(Time now) const;
  void planes();

  World w_;
  wire::WireConfig wire_;
  std::unordered_map<uint64_t, Came> came_;                       ///< by QpWorld::incarnation
  std::unordered_map<uint64_t, Went> went_;                       ///< the same
  std::map<uint32_t, std::pair<uint8_t, uint64_t>> control_evs_;  ///< EV of control packets -> plane, packets there
  uint64_t control_astray_ = 0;
  std::array<Port, log::kMaxPlanes> ports_{};
};

// ---- as responder

void Hindsight::arrives(const Seen& seen, const QpWorld& qp, Came& came) {
  const wire::Packet& p = seen.packet;
  const Seq psn = unwrap(p.bth->psn, came.top);
  if (psn > came.top + kWindow || psn < came.top - kKept) return;  // of no window
  const bool fresh = p.bth->rtx == 0 && !came.has(psn) && psn >= came.top;
  // One that others have overtaken was not there before, if the capture has all that came. Else a copy of one that
  // waited at its port may have been there.
  const bool all = w_.hidden(qp) == nullptr && psn >= came.from;
  const auto queued = [&](uint64_t before) { return !all && !came.all_ports() && came.fresh < before + kQueued; };
  if (fresh || (p.bth->rtx == 0 && !came.has(psn) && all)) {
    for (Claim& c : came.claims) {
      if (psn < c.first || psn > c.last || (c.bits >> std::min<Seq>(psn - c.first, 63) & 1) == 0) continue;
      // By another capture's clock, which may be far off, it may have been a copy that was lost.
      if (!all && c.finding.capture != seen.frame.capture) continue;
      if (queued(c.fresh) && c.entropy != p.entropy(wire_)) continue;
      c.finding.right += fmt::format(": PSN {} was sent at {}", psn24(psn), words(seen.first));
      w_.report().broken(std::move(c.finding));
      c.last = c.first - 1;
    }
    erase_if(came.claims, [&](const Claim& c) { return c.last < c.first || c.last < came.top - kOvertaken; });
  }
  if (fresh) {
    const bool late = came.acked && psn >= came.acked->top && !queued(came.acked->fresh) &&
                      (all || came.acked->finding.capture == seen.frame.capture);
    if (late && unwrap(p.meth->msn, came.acked->msn, 16) < came.acked->msn) {
      came.acked->finding.right += fmt::format(": a packet of MSN {} was sent at {}", p.meth->msn, words(seen.first));
      w_.report().broken(std::move(came.acked->finding));
      came.acked.reset();
    }
    ++came.fresh;
  }
  came.put(psn);
  if (!came.own_evs.empty() && came.peers_evs.size() < kMostEvs) came.peers_evs.insert(p.entropy(wire_));
  if (!came.sacked || came.waiting.size() == kMostWaiting) return;
  const bool requests = p.bth->a != 0 || p.bth->rtx != 0;
  came.waiting.push_back(
      {psn, seen.last, seen.frame.number, std::max<uint64_t>(p.payload.size(), kLeastCount), requests});
}

void Hindsight::claim(Rule rule, Came& came, Seq first, Seq last, uint64_t bits, Finding finding,
                      std::optional<uint32_t> entropy) {
  if (came.claims.size() == kMostClaims) {
    w_.report().rests(rule, kUnseen);
    came.claims.pop_front();
  }
  came.claims.push_back({rule, first, last, bits, std::move(finding), came.fresh, entropy});
}

void Hindsight::sack(const Seen& seen, const QpWorld& qp, Came& came) {
  const wire::Seth& h = *seen.packet.seth;
  came.waiting.clear();
  came.sacked = true;
  if (!came.any) {
    for (const Rule rule : {Rule::RespCackArrived, Rule::RespBitmap, Rule::RespOooMost, Rule::RespBytes})
      w_.report().rests(rule, "no packet of the peer is seen");
    return;
  }
  const Seq cack = unwrap(h.cack_psn, came.top), trigger = cack + h.ack_psn_offset, base = cack + h.sack_offset;
  const auto beyond = [&] { return fmt::format("PSNs up to {} have been sent", psn24(came.top - 1)); };
  came.notify(cack);
  if (cack >= came.top || (h.pr == 0 && trigger >= came.top)) came.unseen();
  if (cack >= came.top) {
    claim(Rule::RespCackArrived, came, came.top, std::min(cack, came.top + kWindow), ~uint64_t{0},
          finding(Rule::RespCackArrived, seen, qp, fmt::format("cack_psn {} at most", psn24(came.top - 1))));
  } else {
    w_.report().ok(Rule::RespCackArrived);
  }
  const Seq from = std::clamp<Seq>(came.top - base, 0, 64);
  const uint64_t unsent = from == 64 ? 0 : h.sack_bitmap >> from << from;
  if (unsent != 0) {
    claim(Rule::RespBitmap, came, base, base + 63, unsent, finding(Rule::RespBitmap, seen, qp, beyond()));
  } else {
    w_.report().ok(Rule::RespBitmap);
  }
  if (h.pr == 0 && trigger >= came.top && w_.hidden(qp) != nullptr && came.may_answer_own(psn24(trigger), h.entropy)) {
    w_.report().rests(Rule::RespTrigger, kOwnBack);
  } else if (h.pr == 0 && trigger >= came.top && w_.hidden(qp) != nullptr) {
    claim(Rule::RespTrigger, came, trigger, trigger, ~uint64_t{0}, finding(Rule::RespTrigger, seen, qp, beyond()),
          h.entropy);
  }
  const auto not_seen = [&] {
    for (uint64_t bits = h.sack_bitmap; bits != 0; bits &= bits - 1) {
      if (const Seq psn = base + std::countr_zero(bits); psn > cack && !came.has(psn)) return true;
    }
    return false;
  };
  if (const char* why = w_.hidden(qp)) {
    w_.report().rests(Rule::RespOooMost, why);
  } else if (not_seen()) {
    w_.report().rests(Rule::RespOooMost, "its bitmap names packets that were not seen");
  } else if (cack < std::max(came.base, came.from)) {
    w_.report().rests(Rule::RespOooMost, "some of these packets came too long ago");
  } else {
    const Seq most = came.above(cack);
    w_.check(
        Rule::RespOooMost, seen.packet.cc_state->ooo_count <= most, &seen, &qp,
        [&] { return fmt::format("ooo_count {} in {}", seen.packet.cc_state->ooo_count, words(seen, wire_)); },
        [&] { return fmt::format("at most {}: so many above cack_psn {} were sent", most, psn24(cack)); });
  }
  rising(seen, qp, came, cack);
}

/// rcvd_bytes does not go back from one SACK to one that was built later.
void Hindsight::rising(const Seen& seen, const QpWorld& qp, Came& came, Seq cack) {
  const wire::CcState& cc = *seen.packet.cc_state;
  if (cack < came.top - kKept || cack > came.top + kWindow) return;  // of no window
  const std::pair key{cack, unsigned{cc.ooo_count}};
  const auto later = came.received.lower_bound(key);
  const Seq near = came.received.empty() ? Seq{cc.rcvd_bytes} : came.received.rbegin()->second;
  const Seq bytes = unwrap(cc.rcvd_bytes, near);
  const auto before = later == came.received.begin() ? came.received.end() : std::prev(later);
  const bool back = before != came.received.end() && bytes < before->second;
  w_.check(
      Rule::RespBytes, !back, &seen, &qp,
      [&] { return fmt::format("rcvd_bytes {} in {}", cc.rcvd_bytes, words(seen, wire_)); },
      [&] {
        return fmt::format("{} at least, as with cack_psn {} and ooo_count {}", before->second & 0xFFFFFF,
                           psn24(before->first.first), before->first.second);
      });
  if (back) return;
  // One that is too large would make all that follow wrong: it is held against those built later that came before.
  if (later != came.received.end() && later->second < bytes) return;
  came.received[key] = bytes;
  if (came.received.size() > kMostSacks) came.received.erase(came.received.begin());
}

void Hindsight::may_come_back(const wire::Packet& p) {
  QpWorld* const mistaken = is_data(p) && !p.trimmed() && !p.error ? w_.local(p.bth->dqp) : nullptr;
  if (mistaken == nullptr || !mistaken->inferred()) return;
  Came& came = came_of(*mistaken);
  const Seq psn = came.own_evs.empty() ? Seq{p.bth->psn} : unwrap(p.bth->psn, came.own_top);
  came.own_top = came.own_evs.empty() ? psn : std::max(came.own_top, psn);
  if (came.own_evs.size() < kMostEvs) came.own_evs.insert(p.entropy(wire_));
}

void Hindsight::nack(const Seen& seen, const QpWorld& qp, Came& came) {
  const wire::Neth& h = *seen.packet.neth;
  if (!came.any) return;
  const Seq psn = unwrap(h.nack_psn, came.top);
  if (psn < came.top || w_.hidden(qp) == nullptr) return;
  if (came.may_answer_own(h.nack_psn, h.entropy)) return w_.report().rests(Rule::RespNack, kOwnBack);
  claim(Rule::RespNack, came, psn, psn, ~uint64_t{0},
        finding(Rule::RespNack, seen, qp, fmt::format("a PSN that was sent, {} at most", psn24(came.top - 1))),
        h.entropy);
}

void Hindsight::ack(const Seen& seen, const QpWorld& qp, Came& came) {
  const wire::Aeth& h = *seen.packet.aeth;
  if (!came.any || (h.syndrome & 0xE0) != 0) return;
  const Seq psn = unwrap(seen.packet.bth->psn, came.top);
  unanswered(seen, qp, came, psn);
  in_order(seen, qp, came, psn);
  if (psn >= came.top) came.unseen();
  const Seq msn = unwrap(h.msn & 0xFFFF, came.acked ? came.acked->msn : Seq{h.msn & 0xFFFF}, 16);
  w_.report().ok(Rule::RespAckMsn);
  if (came.acked && msn <= came.acked->msn) return;
  came.acked = {
      came.top, msn, came.fresh,
      finding(Rule::RespAckMsn, seen, qp, fmt::format("messages that have been sent, not MSN {}", msn & 0xFFFF))};
}

/// What the ACK says has arrived, came long ago, and no SACK has left since: what asked for one, or enough bytes for
/// any threshold that is known.
void Hindsight::unanswered(const Seen& seen, const QpWorld& qp, Came& came, Seq psn) {
  if (const char* why = w_.hidden(qp)) {  // SACKs may have left by another port
    for (const Rule rule : {Rule::RespSackAsk, Rule::RespSackBytes}) w_.report().rests(rule, why);
    return;
  }
  unsigned requesting = 0;
  uint64_t bytes = 0;
  const Time until = left_until(seen.first);
  for (const Came::Waiting& one : came.waiting) {
    if (one.psn > psn || one.time + w_.lag() >= until || psn >= came.top) continue;
    requesting += one.requests ? 1 : 0;
    bytes += one.bytes;
  }
  const auto check = [&](Rule rule, bool holds, const char* what) {
    w_.check(
        rule, holds, &seen, &qp, [&] { return fmt::format("no SACK, and {}", words(seen, wire_)); },
        [&] { return fmt::format("one since packet {}: {} have arrived", came.waiting.front().number, what); });
    return holds;
  };
  bool notified = !check(Rule::RespSackAsk, requesting < kUnanswered, "packets that asked for it");
  notified |= !check(Rule::RespSackBytes, bytes < kMostBytes, "more bytes than any threshold");
  if (notified) came.waiting.clear();
}

/// The MSN of an ACK is not below that of one about an older packet.
void Hindsight::in_order(const Seen& seen, const QpWorld& qp, Came& came, Seq psn) {
  if (psn < came.top - kKept || psn > came.top + kWindow) return;  // of no window
  const auto low = static_cast<uint16_t>(seen.packet.aeth->msn);
  const Seq msn = came.acks.empty() ? Seq{low} : unwrap(low, came.acks.rbegin()->second, 16);
  const auto later = came.acks.upper_bound(psn);
  const auto before = later == came.acks.begin() ? came.acks.end() : std::prev(later);
  const bool back = before != came.acks.end() && msn < before->second;
  w_.check(
      Rule::RespAckBack, !back, &seen, &qp, [&] { return fmt::format("MSN {} in {}", low, words(seen, wire_)); },
      [&] { return fmt::format("{} at least, as about PSN {}", before->second & 0xFFFF, psn24(before->first)); });
  if (back || (later != came.acks.end() && later->second < msn)) return;
  came.acks[psn] = msn;
  if (came.acks.size() > kMostSacks) came.acks.erase(came.acks.begin());
}

// ---- as requestor

void Hindsight::data(const Seen& seen, const QpWorld& qp, Went& went) {
  const wire::Packet& p = seen.packet;
  const uint32_t ev = p.entropy(wire_);
  if (went.evs.size() < kMostEvs || went.evs.contains(ev)) {
    Went::Ev& one = went.evs[ev];
    if (one.there == 0) one.plane = seen.frame.plane;
    if (one.plane == seen.frame.plane) {
      ++one.there;
    } else if (one.astray++ == 0) {
      one.finding = finding(Rule::PathPlane, seen, qp,
                            fmt::format("plane {}, as other packets of EV 0x{:08x}", unsigned{one.plane}, ev));
    }
  }
  if (!went.any) went.top = qp.set.sq_psn;
  const Seq psn = unwrap(p.bth->psn, went.cack.value_or(went.top));
  went.any = true;
  went.top = std::max(went.top, psn + 1);
  if (!went.cack || p.bth->rtx != 0 || psn <= *went.cack + kWindow) {
    if (went.cack) w_.report().ok(Rule::ReqWindow);
    return;
  }
  if (went.ahead.size() == kMostAhead) went.ahead.pop_front();
  went.ahead.push_back({psn, 0, finding(Rule::ReqWindow, seen, qp, {})});
}

void Hindsight::hears(const Seen& seen, const QpWorld&, Went& went) {
  if (!went.any) return;
  const Seq cack = unwrap(seen.packet.seth->cack_psn, went.cack.value_or(went.top));
  if (cack < went.top && (!went.cack || cack > *went.cack)) went.cack = cack;
  if (!went.cack) return;
  for (Went::Ahead& one : went.ahead) {
    if (++one.later < kLaterSacks || one.psn <= *went.cack + kWindow) continue;
    one.finding.right = fmt::format("at most PSN {}: no SACK before it, nor the {} behind it, has a cack_psn above {}",
                                    psn24(*went.cack + kWindow), kLaterSacks, psn24(*went.cack));
    w_.report().broken(std::move(one.finding));
  }
  erase_if(went.ahead, [](const Went::Ahead& one) { return one.later >= kLaterSacks; });
}

void Hindsight::control(const Seen& seen) {
  const wire::Packet& p = seen.packet;
  if (!p.seth && !p.neth && !p.aeth) return;
  const uint32_t ev = p.entropy(wire_);
  if (control_evs_.size() >= kMostEvs && !control_evs_.contains(ev)) return;
  auto& [plane, there] = control_evs_[ev];
  if (there == 0) plane = seen.frame.plane;
  if (plane == seen.frame.plane) {
    ++there;
  } else {
    ++control_astray_;
  }
}

void Hindsight::leaves(const Seen& seen) {
  Port& port = ports_[seen.frame.plane % ports_.size()];
  if (port.row != 0 && seen.first > port.last + w_.lag()) {
    port.ended = port.last;
    port.row = 0;
  }
  ++port.row;
  port.last = std::max(port.last, seen.last);
}

Time Hindsight::left_until(Time now) const {
  Time until = now;
  for (const Port& port : ports_) {
    if (port.row == 0) continue;
    if (port.row < kRow) {
      until = std::min(until, port.ended);
    } else if (now > port.last + w_.lag()) {
      until = std::min(until, port.last);
    }
  }
  return until;
}

/// Whether interfaces are planes is not told: most EVs say so, or all do.
void Hindsight::planes() {
  uint64_t lawful = 0;
  for (const auto& [ev, one] : control_evs_) lawful += one.second > 1;
  if (control_astray_ != 0) lawful = 0;
  for (auto& [number, went] : went_) {
    uint64_t kept = 0, astray = 0;
    for (const auto& [ev, one] : went.evs) {
      kept += one.astray == 0 && one.there > 1;
      astray += one.astray != 0;
    }
    const bool law = kept >= kLeastLawful ? astray * 8 <= kept : lawful >= kLeastLawful && went.evs.size() == 1;
    for (auto& [ev, one] : went.evs) {
      if (one.astray == 0) {
        if (kept + lawful >= kLeastLawful) w_.report().ok(Rule::PathPlane);
      } else if (!law || (ev & 0xFFFF) == 0 || one.there + one.astray < kLeastAstray) {
        w_.report().rests(Rule::PathPlane, "interfaces of the capture may be no planes");
      } else {
        w_.report().broken(std::move(one.finding));
      }
    }
  }
}

void Hindsight::finish(const log::End&, Time) {
  if (!w_.qps_notified()) return;
  for (auto& [number, came] : came_) {
    for (const Claim& c : came.claims) w_.report().rests(c.rule, kUnseen);
  }
  for (auto& [number, went] : went_) {
    for (std::size_t i = 0; i < went.ahead.size(); ++i) w_.report().rests(Rule::ReqWindow, kUnseen);
  }
  planes();
}

}  // namespace
}  // namespace history::hindsight

std::unique_ptr<Checker> make_hindsight(const Profile& profile, Report& report) {
  return std::make_unique<history::hindsight::Hindsight>(profile, report);
}

}  // namespace mrc::ref

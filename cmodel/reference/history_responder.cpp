// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <span>

#include "log/packet.hpp"
#include "reference/byte_counts.hpp"
#include "reference/history_parts.hpp"
#include "reference/numbers.hpp"
#include "reference/queue.hpp"
#include "util/flat_set.hpp"

namespace mrc::ref::history {
namespace {

constexpr Seq kResponderTail = 2048;   ///< PSNs below all that is missing that are still known
constexpr Seq kResponderPsns = 16384;  ///< of a QP
constexpr const char* kChangedLater = "a switch may have trimmed or marked it behind where it was captured";
constexpr const char* kFirstUnseen = "the packet's first transmission was not seen";
constexpr std::size_t kMostProbes = 1024, kMostRequests = 1024, kMostFar = 64;
constexpr Seq kOwn = 4096;  ///< PSNs around the newest one that the device has sent, of which one may have come back

bool is_trim(const wire::Packet& p) { return p.neth && (p.neth->reason == 1 || p.neth->reason == 2); }

/// A number that only grows where answers leave.
class Rising {
 public:
  static constexpr Seq kNone = std::numeric_limits<Seq>::min();

  void left(Seq value, Time time, Time lag) {
    settled(time, lag);
    if (value <= newest_.value) return;
    newest_ = {value, time};
    if (next_.value <= settled_) next_ = newest_;
  }
  /// The highest value that left at least two lags before `time`, or one that left since and more than a lag before it.
  Seq settled(Time time, Time lag) {
    while (next_.value > settled_ && time > next_.since + lag) {
      settled_ = next_.value;
      next_ = newest_;
    }
    return settled_;
  }

 private:
  struct Step {
    Seq value = kNone;
    Time since = 0;
  };
  Seq settled_ = kNone;
  Step next_, newest_;  ///< the next one to settle, and the highest one that left
};

/// A cumulative number of answers. NICs build them in order, but ports that stand still let others pass by.
struct Cumulative {
  Rising all;                  ///< of all planes
  std::vector<Rising> planes;  ///< what leaves a plane was built after this
};

/// Those of a QP, as one clock saw answers leave.
struct Left {
  Cumulative msn, cack, bytes;
};

/// What was settled of both of them at some time; kNone: nothing.
struct Floors {
  Seq msn = Rising::kNone, cack = Rising::kNone, bytes = Rising::kNone;
};

/// One arrival of a packet.
struct Copy {
  uint32_t entropy = 0;
  uint16_t stamp = 0;
  bool stamped = false, ce = false, trimmed = false, lasthop = false, again = false;
  Time last = 0;
  Floors floors{};  ///< when it began to come: its answers are built later
};

/// What came with one PSN.
struct Came {
  std::array<Copy, 3> copies{};
  uint16_t count = 0;  ///< arrivals; more than copies: the oldest are not known
  bool whole = false;  ///< one was not trimmed
  bool end = false;    ///< of a message
  std::size_t known() const { return std::min<std::size_t>(count, copies.size()); }
  bool forgotten() const { return count > copies.size(); }
  std::span<const Copy> known_copies() const { return std::span(copies).first(known()); }
  bool stamped() const { return std::ranges::all_of(known_copies(), &Copy::stamped); }
  /// No new one: its first transmission was not seen, and may have come where nothing is captured.
  bool only_again() const { return std::ranges::all_of(known_copies(), &Copy::again); }
  bool on(uint32_t entropy) const {
    return std::ranges::any_of(known_copies(), [&](const Copy& copy) { return copy.entropy == entropy; });
  }
};

struct Probe {
  uint16_t id = 0;
  Copy copy;
};

struct Answers {
  uint64_t incarnation = 0;
  bool started = false;
  Queue<Came> came;                          ///< from base on
  Seq base = 0, first = 0;                   ///< first: what came before it may not be known
  Seq next = 0;                              ///< first PSN that has not come as a whole
  Seq messages = 0;                          ///< MSN after the messages that lie before `next`
  bool known_start = false, beyond = false;  ///< beyond: packets came that are not kept
  Queue<std::pair<Seq, uint32_t>> far;       ///< PSN and entropy of some of these
  Queue<Probe> probes;
  Queue<std::pair<uint32_t, uint32_t>> returned;  ///< PSN and entropy of the device's own packets that came back
  FlatSet own_evs;                                ///< of the device's own packets that may be taken for the peer's
  Seq own_top = 0;                                ///< of these, the highest PSN
  Queue<uint32_t> others;  ///< PSNs of control packets: a QP that has failed answers them as well
  bool probes_lost = false, trimmed = false;
  std::map<uint32_t, Left> left;  ///< answers, by clock
  Seq rcvd_bytes = 0;             ///< of the newest SACK
  std::optional<Seq> nak;         ///< MSN of the first NAK

  const Came* find(Seq psn) const {
    const Seq at = psn - base;
    if (at < 0 || at >= static_cast<Seq>(came.size())) return nullptr;
    const Came& c = came[static_cast<std::size_t>(at)];
    return c.count != 0 ? &c : nullptr;
  }
};

struct Request {
  log::Ip from{};
  uint16_t id = 0, stamp = 0;
  uint8_t op = 0;
  Time last = 0;
};

class ResponderPart final : public Part {
 public:
  explicit ResponderPart(World& world) : w_(world), wire_(world.profile().wire()) {}

  void received(const Seen& seen, QpWorld* qp) override;
  void returned(const Seen& seen, QpWorld* qp) override;
  void sent(const Seen& seen, QpWorld* qp) override;
  uint64_t memory() const override {
    uint64_t bytes = requests_.size() * sizeof(Request) + own_evs_.memory();
    for (const auto& [number, a] : answers_) {
      for (const auto& [clock, left] : a.left) {
        bytes += sizeof(left) + 48 + 3 * left.cack.planes.size() * sizeof(Rising);
      }
      bytes += sizeof(a) + a.came.size() * sizeof(Came) + a.probes.size() * sizeof(Probe) + a.returned.size() * 8 +
               a.own_evs.memory();
    }
    return bytes;
  }

 private:
  Answers& of(const QpWorld& qp) {
    Answers& a = answers_[qp.set.qp];
    if (a.incarnation != qp.incarnation) {
      a = Answers{};
      a.incarnation = qp.incarnation;
    }
    return a;
  }
  static uint32_t psn24(Seq psn) { return static_cast<uint32_t>(psn & 0xFFFFFF); }
  template <class Right>
  bool check(Rule rule, bool holds, const Seen& seen, const QpWorld& qp, Right&& right) {
    return w_.check(
        rule, holds, &seen, &qp, [&] { return words(seen, wire_); }, right);
  }
  void port_status(const Seen& seen);
  /// What packets count for is such a choice, to which a device keeps.
  void counted(const Seen& seen);
  Copy copy_of(const Seen& seen, Answers& a) const;
  /// Whether an answer that reflects `stamp` may be one to this copy.
  bool fits(const Copy& copy, uint16_t reflected, const Seen& seen, const QpWorld& qp) const;
  /// One of the device's own packets, which may be taken for a peer's.
  void came_back(const wire::Packet& p);
  /// One that may come back where the capture does not show it.
  void may_come_back(const wire::Packet& p);
  /// Nobody says what the NIC has chosen: whether it takes what comes back for its peer's.
  bool silent() const { return !w_.recorded() && w_.profile().name.empty(); }
  bool answers_returned(const Seen& seen, const QpWorld& qp, const Answers& a, std::optional<uint32_t> psn,
                        uint32_t entropy, uint16_t reflected);
  /// Whether what an answer says is true of a packet that came: its EV of any, its time stamp of one with that PSN.
  /// Where packets come back a time stamp shows nothing: QPs that began together have the same ones.
  bool of_the_peers(const Answers& a, Seq psn, uint32_t entropy, uint16_t reflected) const;
  void data(const Seen& seen, const QpWorld& qp, Answers& a);
  void start(const QpWorld& qp, Answers& a, uint32_t psn);
  void sack(const Seen& seen, const QpWorld& qp, Answers& a);
  void to_probe(const Seen& seen, const QpWorld& qp, Answers& a);
  void nack(const Seen& seen, const QpWorld& qp, Answers& a);
  void ack(const Seen& seen, const QpWorld& qp, Answers& a);
  void stamp(const Seen& seen, const QpWorld& qp, const Copy* first, std::size_t count, bool forgotten,
             uint32_t entropy, uint16_t reflected);
  /// A value that never goes back in the order in which answers are built. `cause`: what was settled of it before the
  /// packet came that is answered.
  template <class Right>
  void grows(Rule rule, Cumulative& c, Seq value, Seq cause, const Seen& seen, const QpWorld& qp, Right&& right);
  /// What was settled before any of these copies came that the answer may be one to.
  Floors before(const Came& came, uint32_t entropy, uint16_t reflected, const Seen& seen, const QpWorld& qp) const;
  /// Of captures that were taken under way, those of the frame's: another one's clock may be far off.
  Left& left_by(Answers& a, const Seen& seen) const { return a.left[w_.under_way() ? seen.frame.capture : 0]; }
  Rising& on_plane(Cumulative& c, const Seen& seen) const {
    const std::size_t plane = seen.frame.plane % log::kMaxPlanes;
    if (c.planes.size() <= plane) c.planes.resize(plane + 1);
    return c.planes[plane];
  }
  void endpoint(const Seen& seen);

  World& w_;
  wire::WireConfig wire_;
  std::array<bool, 2> ports_from_{true, true};  ///< readings that all masks of a device fit that does not say which
  uint64_t ports_from_shown_ = 0;               ///< the packet that has excluded the other one
  std::unordered_map<uint32_t, Answers> answers_;
  Queue<Request> requests_;
  bool requests_lost_ = false;
  ByteCounts counts_;
  struct Counted {
    uint32_t nominal;
    uint64_t frame;
  };
  std::optional<Counted> counted_;  ///< the first reading that was shown, and by which packet
  FlatSet own_evs_;                 ///< as Answers::own_evs, of all QPs
  bool returns_ = false;            ///< a packet is on its way back to the QP that has sent it
};

Copy ResponderPart::copy_of(const Seen& seen, Answers& a) const {
  const wire::Packet& p = seen.packet;
  Copy copy;
  copy.entropy = p.entropy(wire_);
  copy.stamped = p.tseth || p.peth;
  copy.stamp = p.tseth ? p.tseth->tx_timestamp16 : p.peth ? p.peth->tx_timestamp16 : uint16_t{0};
  copy.ce = p.ecn() == 3;
  copy.trimmed = p.trimmed();
  copy.again = p.bth->rtx != 0;
  copy.lasthop = p.dscp_class == wire::DscpClass::TrimmedLasthop;
  copy.last = seen.last;
  Left& left = left_by(a, seen);
  const auto settled = [&](Cumulative& c) { return c.all.settled(seen.first, w_.lag()); };
  copy.floors = {settled(left.msn), settled(left.cack), settled(left.bytes)};
  return copy;
}

void ResponderPart::received(const Seen& seen, QpWorld* qp) {
  const wire::Packet& p = seen.packet;
  if (World::counts(seen) && p.erth && !p.trimmed()) {
    requests_.push_back(
        {log::mapped_source(p), static_cast<uint16_t>(p.bth->psn), p.erth->tx_timestamp16, p.erth->op, seen.last});
    if (requests_.size() > kMostRequests) {
      requests_.pop_front();
      requests_lost_ = true;
    }
  }
  if (silent() && World::counts(seen) && p.udp) counts_.came(p, wire_);
  if (qp == nullptr) return;
  if (p.trimmed() && w_.whose(seen) == Whose::Maybe)
    w_.report().rests(Rule::RespReturned, "no address tells whose the packet is");
  if (is_data(p)) {
    data(seen, *qp, of(*qp));
  } else {
    Answers& a = of(*qp);
    a.others.push_back(p.bth->psn);
    if (a.others.size() > kMostProbes) a.others.pop_front();
  }
  if (p.peth && !p.trimmed()) {
    Answers& a = of(*qp);
    a.probes.push_back({p.peth->probe_id, copy_of(seen, a)});
    if (a.probes.size() > kMostProbes) {
      a.probes.pop_front();
      a.probes_lost = true;
    }
  }
}

/// One of our own, with the peer's QP in it: it is nothing to answer, also if a QP here has that number.
void ResponderPart::returned(const Seen& seen, QpWorld*) {
  const wire::Packet& p = seen.packet;
  if (!is_data(p)) return;
  w_.report().ok(Rule::RespReturned);
  returns_ = true;
  came_back(p);
}

void ResponderPart::came_back(const wire::Packet& p) {
  QpWorld* const mistaken = w_.local(p.bth->dqp);
  if (mistaken == nullptr) return;
  Answers& a = of(*mistaken);
  const Came* const peers = a.started ? a.find(unwrap(p.bth->psn, a.next)) : nullptr;
  returns_ |= peers != nullptr && peers->on(p.entropy(wire_));
  a.returned.emplace_back(p.bth->psn, p.entropy(wire_));
  if (a.returned.size() > kMostProbes) a.returned.pop_front();
}

void ResponderPart::may_come_back(const wire::Packet& p) {
  if (!silent() || !is_data(p) || p.trimmed()) return;  // trimmed, it may be the peer's on its way back
  QpWorld* const mistaken = w_.local(p.bth->dqp);
  if (mistaken == nullptr) return;
  Answers& a = of(*mistaken);
  const Seq psn = a.own_evs.empty() ? Seq{p.bth->psn} : unwrap(p.bth->psn, a.own_top);
  a.own_top = a.own_evs.empty() ? psn : std::max(a.own_top, psn);
  if (a.own_evs.size() < kMostProbes) a.own_evs.insert(p.entropy(wire_));
  if (own_evs_.size() < kMostProbes) own_evs_.insert(p.entropy(wire_));
}

bool ResponderPart::of_the_peers(const Answers& a, Seq psn, uint32_t entropy, uint16_t reflected) const {
  const Came* const named = returns_ ? nullptr : a.find(psn);
  // What was moved shows nothing: answers to packets that came back make a QP look as if it moved them.
  const auto reflects = [&](const Copy& copy) { return copy.stamped && copy.stamp == reflected; };
  return (named != nullptr && std::ranges::any_of(named->known_copies(), reflects)) ||
         std::ranges::any_of(a.came, [&](const Came& c) { return c.on(entropy); });
}

/// An answer to nothing that the peer has sent: to a packet that came back? Then that is what is wrong with it. A SACK
/// has the low 16 bits of its distance from cack_psn.
bool ResponderPart::answers_returned(const Seen& seen, const QpWorld& qp, const Answers& a, std::optional<uint32_t> psn,
                                     uint32_t entropy, uint16_t reflected) {
  const unsigned bits = seen.packet.seth ? 16 : 24;
  const uint32_t mask = (1u << bits) - 1;
  bool mistaken = std::ranges::any_of(a.returned, [&](const auto& one) {
    return one.second == entropy && (!psn || (one.first & mask) == (*psn & mask));
  });
  // It came back where the capture was not taken, and perhaps before it had been there.
  const bool unread = qp.inferred() && (qp.set.flags & log::kOwnUnread) != 0;
  if (!mistaken && psn && silent() && (unread || !a.own_evs.empty())) {
    const Seq own = unwrap(*psn & mask, a.own_top, bits);
    const bool near = unread || (own > a.own_top - kOwn && own <= a.own_top + kOwn);
    const bool own_ev = a.own_evs.contains(entropy);
    // A NACK of a packet that came is wrong, unless there is another sign that packets come back, or both its EV and
    // its time stamp are another one's.
    const Seq peers = unwrap(*psn, a.next);
    const Came* const named = a.started ? a.find(peers) : nullptr;
    const bool may_be = unread || seen.packet.seth || returns_ || named == nullptr || own_evs_.contains(entropy) ||
                        (is_trim(seen.packet) && named->stamped());
    mistaken = near && (own_ev || (may_be && !of_the_peers(a, peers, entropy, reflected)));
  }
  if (!mistaken) return false;
  if (silent()) {
    w_.report().rests(Rule::RespReturned, "a NIC may take what comes back for its peer's, and does not say");
    return true;
  }
  check(Rule::RespReturned, false, seen, qp,
        [] { return std::string("nothing: such a packet is the device's own, and came back"); });
  return true;
}

void ResponderPart::start(const QpWorld& qp, Answers& a, uint32_t psn) {
  a.started = true;
  a.known_start = qp.from_log;
  a.next = qp.from_log || qp.inferred() ? unwrap(qp.set.rq_psn, qp.from_log ? 0 : psn) : Seq{psn};
  a.base = a.first = a.next;
  a.messages = qp.set.msn;
}

void ResponderPart::data(const Seen& seen, const QpWorld& qp, Answers& a) {
  const wire::Packet& p = seen.packet;
  if (!a.started) start(qp, a, p.bth->psn);
  const Seq psn = unwrap(p.bth->psn, a.next);
  a.trimmed |= p.trimmed();
  returns_ |= p.trimmed() && a.own_evs.contains(p.entropy(wire_));
  if (psn >= a.base + 2 * kResponderPsns || psn < a.base - kResponderPsns) {
    a.beyond = true;  // far outside of every window: answered perhaps, never placed
    a.far.emplace_back(psn, p.entropy(wire_));
    if (a.far.size() > kMostFar) a.far.pop_front();
    return;
  }
  while (psn < a.base) {
    a.came.emplace_front();
    --a.base;
  }
  const auto at = static_cast<std::size_t>(psn - a.base);
  if (at >= a.came.size()) a.came.resize(at + 1);
  Came& c = a.came[at];
  c.copies[c.count % c.copies.size()] = copy_of(seen, a);
  if (c.count != 0xFFFF) ++c.count;
  if (!p.trimmed()) {
    // Copies may differ; which one the device took is not known: the most that may have ended.
    if (is_last(p.bth->opcode) && !c.end) {
      c.end = true;
      a.messages += psn < a.next ? 1 : 0;
    }
    c.whole = true;
  }
  for (const Came* next = a.find(a.next); next != nullptr && next->whole; next = a.find(a.next)) {
    a.messages += next->end ? 1 : 0;
    ++a.next;
  }
  while (!a.came.empty() && a.base < a.next - kResponderTail) {
    a.came.pop_front();
    ++a.base;
  }
}

void ResponderPart::sent(const Seen& seen, QpWorld* qp) {
  const wire::Packet& p = seen.packet;
  if (!seen.mrc() || p.error) return;
  // Seen under way, it may be on its way back.
  if (p.trimmed() && is_data(p)) came_back(p);
  may_come_back(p);
  if (p.trimmed()) return;
  if (p.eeth) endpoint(seen);
  if (p.erth && p.erth->op == 0) port_status(seen);
  if (silent()) counted(seen);
  if (qp == nullptr) return;
  if (!p.seth && !p.neth && !p.aeth) return;
  Answers& a = of(*qp);
  if (p.seth) sack(seen, *qp, a);
  if (p.neth) nack(seen, *qp, a);
  if (p.aeth) ack(seen, *qp, a);
}

void ResponderPart::counted(const Seen& seen) {
  const auto shown = counts_.sent(seen.packet);
  if (!shown || !shown->sure) return;
  if (!counted_) counted_ = {shown->nominal, seen.frame.number};
  w_.check(
      Rule::RespBytes, shown->nominal == counted_->nominal, &seen, nullptr,
      [&] { return fmt::format("{} in {}", ByteCounts::words(shown->nominal), words(seen, wire_)); },
      [&] { return fmt::format("{}, as in packet {}", ByteCounts::words(counted_->nominal), counted_->frame); });
}

/// A bit for each port, from bit 0 or 1 on. Who says neither may have either, but always the same one.
void ResponderPart::port_status(const Seen& seen) {
  const uint32_t mask = seen.packet.erth->port_status_mask;
  const bool notified = w_.settings().ports_from_0 || !w_.profile().name.empty();
  const char* why = nullptr;  // a bit rests
  // Until then it may have been built before the port changed; where its own did, however long before.
  const auto settled = [&](const PortWorld& port) { return port.since == 0 || seen.first > port.since + w_.queue(); };
  const auto right = [&](unsigned first) {
    bool fits = true;
    for (unsigned bit = 0; bit < 32; ++bit) {
      const bool up = (mask >> bit & 1) != 0;
      const unsigned plane = bit - first;
      if (bit < first || plane >= w_.planes()) {
        fits &= !up || (bit >= first && w_.profile().name.empty());
      } else if (!w_.recorded()) {
        if (!up) why = "a capture does not tell which ports are up";
      } else if (settled(w_.at(plane)) && settled(w_.at(seen.frame.plane % log::kMaxPlanes))) {
        fits &= up == w_.at(plane).up;
      } else {
        why = "a port changed while it may have waited at its own";
      }
    }
    return fits;
  };
  const unsigned said = w_.settings().ports_from_0 ? 0 : 1;
  std::array<bool, 2> fits{};
  for (const unsigned first : {0u, 1u}) fits[first] = (notified ? first == said : ports_from_[first]) && right(first);
  const bool holds = fits[0] || fits[1];
  if (holds && !notified && ports_from_ != fits) {
    ports_from_ = fits;
    ports_from_shown_ = seen.frame.number;
  }
  if (holds && why != nullptr) return w_.report().rests(Rule::PeerMask, why);
  w_.check(
      Rule::PeerMask, holds, &seen, nullptr,
      [&] { return fmt::format("port_status_mask 0x{:x} in {}", mask, words(seen, wire_)); },
      [&] {
        const std::string from = notified ? fmt::format("{} on", said)
                                 : ports_from_shown_ != 0
                                     ? fmt::format("{} on, as in packet {}", ports_from_[0] ? 0 : 1, ports_from_shown_)
                                     : "0 or 1 on, always the same";
        return fmt::format("a bit for each of {} ports that is up, from bit {}", w_.planes(), from);
      });
}

bool ResponderPart::fits(const Copy& copy, uint16_t reflected, const Seen& seen, const QpWorld& qp) const {
  if (!copy.stamped) return true;  // what is reflected then is not told
  const Time tick = w_.settings().tsr_us ? kSlowTick : kTick;
  const auto moved = static_cast<uint16_t>(reflected - copy.stamp);
  const Time held = seen.first > copy.last ? seen.first - copy.last : 0;
  return qp.set.svc_time ? moved <= held / tick + 1 : moved == 0;
}

void ResponderPart::stamp(const Seen& seen, const QpWorld& qp, const Copy* first, std::size_t count, bool forgotten,
                          uint32_t entropy, uint16_t reflected) {
  bool stamped = false, right = false;
  for (std::size_t i = 0; i < count; ++i) {
    const Copy& c = first[i];
    if (c.entropy != entropy) continue;
    stamped |= c.stamped;
    right |= fits(c, reflected, seen, qp);
  }
  if (!right && forgotten) {
    w_.report().rests(Rule::RespStamp, "the packet came too often");
  } else if (stamped || !right) {
    check(Rule::RespStamp, right, seen, qp, [&] {
      return count == 0 ? std::string("a time stamp that came")
                        : fmt::format("tx_timestamp16 0x{:04x}{}, not 0x{:04x}", first[0].stamp,
                                      qp.set.svc_time ? " and the service time" : "", reflected);
    });
  }
}

Floors ResponderPart::before(const Came& came, uint32_t entropy, uint16_t reflected, const Seen& seen,
                             const QpWorld& qp) const {
  if (came.forgotten()) return {};
  bool any = false;
  constexpr Seq kMost = std::numeric_limits<Seq>::max();
  Floors lowest{kMost, kMost, kMost};
  for (std::size_t i = 0; i < came.known(); ++i) {
    const Copy& copy = came.copies[i];
    if (copy.entropy != entropy || !fits(copy, reflected, seen, qp)) continue;
    any = true;
    lowest = {std::min(lowest.msn, copy.floors.msn), std::min(lowest.cack, copy.floors.cack),
              std::min(lowest.bytes, copy.floors.bytes)};
  }
  return any ? lowest : Floors{};
}

template <class Right>
void ResponderPart::grows(Rule rule, Cumulative& c, Seq value, Seq cause, const Seen& seen, const QpWorld& qp,
                          Right&& right) {
  Rising& here = on_plane(c, seen);
  const Seq least = std::max(here.settled(seen.first, w_.lag()), cause);
  if (value >= least && value < c.all.settled(seen.first, w_.lag())) {
    w_.report().rests(rule, "it may have waited at its port while a newer one left");
  } else {
    check(rule, value >= least, seen, qp, [&] { return right(least); });
  }
  here.left(std::max(value, cause), seen.first, w_.lag());
  c.all.left(value, seen.first, w_.lag());
}

void ResponderPart::sack(const Seen& seen, const QpWorld& qp, Answers& a) {
  const wire::Seth& h = *seen.packet.seth;
  if (const char* why = w_.hidden(qp)) {
    for (const Rule rule : {Rule::RespTrigger, Rule::RespEntropy, Rule::RespMark, Rule::RespStamp, Rule::RespProbe}) {
      w_.report().rests(rule, why);
    }
    return;
  }
  const Seq cack = unwrap(h.cack_psn, a.next), psn = cack + h.ack_psn_offset;
  const Came* const c = a.started && h.pr == 0 ? a.find(psn) : nullptr;
  const uint16_t reflected = seen.packet.cc_state ? seen.packet.cc_state->tx_timestamp16 : uint16_t{0};
  if (a.started) {
    const Floors cause = c != nullptr ? before(*c, h.entropy, reflected, seen, qp) : Floors{};
    Left& left = left_by(a, seen);
    on_plane(left.msn, seen).left(cause.msn, seen.first, w_.lag());
    grows(Rule::RespCackBack, left.cack, cack, cause.cack, seen, qp,
          [](Seq least) { return fmt::format("cack_psn {} or more, which left before", psn24(least)); });
    if (seen.packet.cc_state) {
      a.rcvd_bytes = unwrap(seen.packet.cc_state->rcvd_bytes, a.rcvd_bytes);
      grows(Rule::RespBytes, left.bytes, a.rcvd_bytes, cause.bytes, seen, qp,
            [](Seq least) { return fmt::format("rcvd_bytes {} or more, which left before", psn24(least)); });
    }
  }
  if (h.pr != 0) {
    to_probe(seen, qp, a);
    return;
  }
  const auto of_returned = [&] { return answers_returned(seen, qp, a, psn24(psn), h.entropy, reflected); };
  if (c == nullptr && of_returned()) return;
  if (!a.started) {
    check(Rule::RespTrigger, !qp.from_log, seen, qp, [] { return std::string("nothing: no packet has come"); });
    return;
  }
  if (c == nullptr && (psn < std::max(a.base, a.first) || a.beyond)) {
    w_.report().rests(Rule::RespTrigger, "the packet may have come too long ago");
    return;
  }
  if (!check(Rule::RespTrigger, c != nullptr, seen, qp,
             [&] { return fmt::format("an ack_psn that has come: PSN {} has not", psn24(psn)); })) {
    return;
  }
  bool entropy = false, ce = false;
  for (std::size_t i = 0; i < c->known(); ++i) {
    if (c->copies[i].entropy != h.entropy) continue;
    entropy = true;
    ce |= c->copies[i].ce;
  }
  if (!entropy && c->forgotten()) {
    w_.report().rests(Rule::RespEntropy, "the packet came too often");
    return;
  }
  // A duplicate from long ago is answered as well, and lies farther off than ack_psn_offset can say.
  const bool far = std::ranges::any_of(
      a.far, [&](const auto& one) { return ((one.first - psn) & 0xFFFF) == 0 && one.second == h.entropy; });
  if (!entropy && far) {
    w_.report().rests(Rule::RespEntropy, "a packet that came is too far off to be named");
    return;
  }
  if (!entropy && of_returned()) return;
  if (!entropy && qp.inferred() && c->only_again()) {
    w_.report().rests(Rule::RespEntropy, kFirstUnseen);
    return;
  }
  if (!check(Rule::RespEntropy, entropy, seen, qp, [&] {
        return fmt::format("entropy 0x{:08x}, with which PSN {} came", c->copies[0].entropy, psn24(psn));
      })) {
    return;
  }
  if (h.m == 1 && !ce && c->forgotten()) {
    w_.report().rests(Rule::RespMark, "the packet came too often");
  } else if (h.m == 1 && !ce && !qp.seen(log::kSeenMarks)) {
    w_.report().rests(Rule::RespMark, kChangedLater);
  } else {
    check(Rule::RespMark, h.m != 1 || ce, seen, qp,
          [&] { return fmt::format("m 0: PSN {} came on 0x{:08x} without CE", psn24(psn), h.entropy); });
  }
  if (qp.inferred() && c->count == 1 && ce && h.m == 0) {
    if (qp.seen(log::kSeenMarks)) {
      check(Rule::RespSackCe, false, seen, qp,
            [&] { return fmt::format("m 1: PSN {} came on 0x{:08x} with CE", psn24(psn), h.entropy); });
    } else {
      w_.report().rests(Rule::RespSackCe, kChangedLater);
    }
  }
  stamp(seen, qp, c->copies.data(), c->known(), c->forgotten(), h.entropy, reflected);
}

void ResponderPart::to_probe(const Seen& seen, const QpWorld& qp, Answers& a) {
  const wire::Seth& h = *seen.packet.seth;
  const auto id = static_cast<uint16_t>(h.ack_psn_offset);
  // Ids come again: of all probes that fit one may be meant.
  bool same_id = false, found = false, ce = false;
  for (const Probe& probe : a.probes) {
    if (probe.id != id) continue;
    same_id = true;
    if (probe.copy.entropy != h.entropy) continue;
    found = true;
    ce |= probe.copy.ce;
  }
  if (!same_id && id == kUnrequestedProbe && !a.trimmed && answers_returned(seen, qp, a, {}, h.entropy, 0)) return;
  if (!same_id && id == kUnrequestedProbe && !a.trimmed && w_.settings().loss_port) {
    w_.report().rests(Rule::RespProbe, "a port may have gone down, and what it reported is reported again");
    return;
  }
  if (!same_id && id == kUnrequestedProbe && !w_.settings().trim_silent) {
    check(Rule::RespProbe, a.trimmed || !qp.seen(log::kSeenTrims), seen, qp,
          [] { return std::string("probe id 0xffff only once a trimmed packet came"); });
    return;
  }
  if (!same_id && a.probes_lost) {
    w_.report().rests(Rule::RespProbe, "the probe may have come too long ago");
    return;
  }
  if (!check(Rule::RespProbe, same_id, seen, qp,
             [&] { return fmt::format("the id of a probe that came: 0x{:04x} has not", id); })) {
    return;
  }
  if (!found && a.probes_lost) return;
  if (!check(Rule::RespEntropy, found, seen, qp, [&] { return std::string("the entropy of the probe"); })) {
    return;
  }
  check(Rule::RespMark, h.m != 1 || ce || a.probes_lost || !qp.seen(log::kSeenMarks), seen, qp,
        [] { return std::string("m 0: the probe came without CE"); });
}

void ResponderPart::nack(const Seen& seen, const QpWorld& qp, Answers& a) {
  const wire::Neth& h = *seen.packet.neth;
  if (const char* why = w_.hidden(qp)) {
    for (const Rule rule : {Rule::RespNack, Rule::RespTrim}) w_.report().rests(rule, why);
    return;
  }
  const Seq psn = unwrap(h.nack_psn, a.next);
  const Came* const c = a.started ? a.find(psn) : nullptr;
  if (c == nullptr && answers_returned(seen, qp, a, h.nack_psn, h.entropy, h.tx_timestamp16)) return;
  if (c == nullptr && a.started && (psn < std::max(a.base, a.first) || a.beyond)) {
    w_.report().rests(Rule::RespNack, "the packet may have come too long ago");
    return;
  }
  const bool of_data = c != nullptr && c->on(h.entropy);
  if (!of_data && h.reason == static_cast<uint8_t>(wire::NackReason::UnexpEvent) &&
      (std::ranges::find(a.others, h.nack_psn) != a.others.end() ||
       std::ranges::any_of(a.probes, [&](const Probe& probe) {
         return probe.id == h.nack_psn && (c == nullptr || probe.copy.entropy == h.entropy);
       }))) {
    // A control packet has no PSN of its own; what a NACK names then is not told.
    w_.report().ok(Rule::RespNack);
    return;
  }
  if (!check(Rule::RespNack, c != nullptr || (!a.started && !qp.from_log), seen, qp,
             [&] { return fmt::format("a PSN that has come: {} has not", psn24(psn)); }) ||
      c == nullptr) {
    return;
  }
  const bool trim = is_trim(seen.packet);
  bool entropy = false, right = !trim;
  for (std::size_t i = 0; i < c->known(); ++i) {
    const Copy& copy = c->copies[i];
    entropy |= copy.entropy == h.entropy;
    right |= copy.entropy == h.entropy && copy.trimmed && copy.lasthop == (h.reason == 2);
  }
  if (c->forgotten() && (!entropy || !right)) {
    w_.report().rests(Rule::RespTrim, "the packet came too often");
    return;
  }
  if ((!entropy || !right) && answers_returned(seen, qp, a, h.nack_psn, h.entropy, h.tx_timestamp16)) return;
  if (!entropy && qp.inferred() && c->only_again()) {
    w_.report().rests(Rule::RespEntropy, kFirstUnseen);
  } else {
    check(Rule::RespEntropy, entropy, seen, qp,
          [&] { return fmt::format("entropy 0x{:08x}, with which PSN {} came", c->copies[0].entropy, psn24(psn)); });
  }
  if (trim && !right && !qp.seen(log::kSeenTrims)) {
    w_.report().rests(Rule::RespTrim, kChangedLater);
  } else if (trim) {
    check(Rule::RespTrim, right, seen, qp,
          [&] { return fmt::format("no such NACK: PSN {} did not come so on 0x{:08x}", psn24(psn), h.entropy); });
  }
  if (entropy) {
    stamp(seen, qp, c->copies.data(), c->known(), c->forgotten(), h.entropy, h.tx_timestamp16);
  }
}

void ResponderPart::ack(const Seen& seen, const QpWorld& qp, Answers& a) {
  const wire::Aeth& h = *seen.packet.aeth;
  const char* why = w_.incomplete();
  if (why == nullptr && (!qp.from_log || !a.known_start)) why = "the QP is older than the log";
  if (why != nullptr) {
    w_.report().rests(Rule::RespAckMsn, why);
    return;
  }
  const Seq msn = unwrap(h.msn & 0xFFFF, a.messages, 16);
  check(Rule::RespAckMsn, msn <= a.messages, seen, qp,
        [&] { return fmt::format("at most MSN {}: PSN {} has not arrived", a.messages & 0xFFFF, psn24(a.next)); });
  const bool nak = (h.syndrome & 0xE0) != 0;
  if (!nak) {
    grows(Rule::RespAckBack, left_by(a, seen).msn, msn, Rising::kNone, seen, qp,
          [](Seq least) { return fmt::format("MSN {} or more, which left before", least & 0xFFFF); });
    if (a.nak) {
      check(Rule::RespNakFinal, msn <= *a.nak, seen, qp,
            [&] { return fmt::format("no MSN above {}, which a NAK has ended", *a.nak & 0xFFFF); });
    } else {
      w_.report().ok(Rule::RespNakFinal);
    }
  } else if (!a.nak) {
    a.nak = msn;
  }
}

void ResponderPart::endpoint(const Seen& seen) {
  const wire::Packet& p = seen.packet;
  const bool ipv4 = p.ipv4.has_value();
  const log::Ip to = w_.plain(log::mapped_destination(p), ipv4);
  const Time tick = w_.settings().tsr_us ? kSlowTick : kTick;
  const char* why = w_.hidden();
  bool id = false, address = false, stamp = false;
  for (auto at = requests_.rbegin(); at != requests_.rend() && !(address && stamp); ++at) {
    if (at->id != static_cast<uint16_t>(p.bth->psn) || at->op != p.eeth->op) continue;
    id = true;
    const bool here = w_.plain(at->from, ipv4) == to;
    if (address && !here) continue;
    address |= here;
    const auto moved = static_cast<uint16_t>(p.eeth->tx_timestamp16 - at->stamp);
    const Time held = seen.first > at->last ? seen.first - at->last : 0;
    stamp = w_.any_svc_time() || !w_.recorded() ? moved <= held / tick + 1 : moved == 0;
  }
  if (why == nullptr && !w_.recorded() && !address) why = "the request may have gone to another address of the device";
  if (why == nullptr && requests_lost_ && !stamp) why = "the request may have come too long ago";
  if (why == nullptr && id && !address && !w_.is_peer(to)) why = "the answer goes to an address that no QP told has";
  if (why != nullptr) {
    w_.report().rests(Rule::PeerAnswer, why);
    return;
  }
  w_.check(
      Rule::PeerAnswer, address, &seen, nullptr, [&] { return words(seen, wire_); },
      [&] {
        return fmt::format("id and op of a request that came from there: 0x{:04x} has not", p.bth->psn & 0xFFFF);
      });
  if (!address) return;
  w_.check(
      Rule::PeerStamp, stamp, &seen, nullptr,
      [&] { return fmt::format("tx_timestamp16 0x{:04x} in {}", p.eeth->tx_timestamp16, words(seen, wire_)); },
      [] { return std::string("the time stamp of the request"); });
}

}  // namespace

std::unique_ptr<Part> make_responder_part(World& world) { return std::make_unique<ResponderPart>(world); }

}  // namespace mrc::ref::history

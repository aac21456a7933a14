// SPDX-License-Identifier: Apache-2.0
#include "reference/history_requestor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "log/digest.hpp"
#include "reference/history_parts.hpp"
#include "reference/history_paths.hpp"
#include "reference/history_reads.hpp"

namespace mrc::ref::history {
namespace {

constexpr Seq kRequestorTail = 1024;  ///< PSNs below cack_psn that are still known
constexpr Seq kRequestorPsns = 8192;  ///< of a QP: twice the largest window
constexpr std::size_t kMostPosts = 1 << 16;
constexpr uint32_t kLargestMtu = 4096;

class RequestorPart final : public Part {
 public:
  explicit RequestorPart(World& world) : w_(world), wire_(world.profile().wire()), paths_(world) {
    w_.sent_before([this](const Seen& seen, const QpWorld& qp) { return before(seen, of(qp)); });
  }

  void qp(const QpWorld& qp, Time) override {
    if (qp.set.state == log::QpState::Reset) return;
    of(qp);
    paths_.changed(qp);
  }
  void received(const Seen& seen, QpWorld* qp) override {
    paths_.received(seen);
    if (qp == nullptr) return;
    Requestor& r = of(*qp);
    const wire::Packet& p = seen.packet;
    if (p.seth) sack(seen, *qp, r);
    if (p.neth) nack(seen, *qp, r);
    if (p.aeth) ack(seen, *qp, r);
  }
  void returned(const Seen& seen, QpWorld* qp) override;
  void sent(const Seen& seen, QpWorld* qp) override {
    if (!is_data(seen.packet) || seen.packet.error || seen.packet.trimmed() || !seen.packet.reth) return;
    if (qp == nullptr) {
      if (const char* why = w_.no_qp()) rest_all(why);
      return;
    }
    paths_.sent(seen, *qp);
    data(seen, *qp, of(*qp));
  }
  void host(const log::Host& host, Time) override { reads_.host(host); }
  void posted(const log::Post& post, Time time) override;
  void completed(const log::Cqe& cqe, Time time) override;
  void finish(const log::End& end, Time time) override;
  uint64_t memory() const override {
    uint64_t bytes = reads_.memory();
    for (const auto& [number, r] : requestors_) {
      bytes += sizeof(r) + r.sent.size() * sizeof(SentPsn) + r.posts.size() * sizeof(Posted);
    }
    return bytes;
  }

 private:
  void rest_all(const char* why) {
    for (const Rule rule : {Rule::ReqStart, Rule::ReqPsnOnce, Rule::ReqRtxSame, Rule::ReqWindow, Rule::ReqSequence,
                            Rule::ReqMsn, Rule::ReqPosted, Rule::PathSet, Rule::PathPlane}) {
      w_.report().rests(rule, why);
    }
  }
  Requestor& of(const QpWorld& qp) {
    Requestor& r = requestors_[qp.set.qp];
    if (r.incarnation != qp.incarnation) {
      r = Requestor{};
      r.incarnation = qp.incarnation;
    }
    return r;
  }
  static uint32_t psn24(Seq psn) { return static_cast<uint32_t>(psn & 0xFFFFFF); }
  template <class Right>
  bool check(Rule rule, bool holds, const Seen* seen, const QpWorld& qp, Right&& right) {
    return w_.check(
        rule, holds, seen, &qp, [&] { return seen != nullptr ? words(*seen, wire_) : std::string(); }, right);
  }
  /// Of a packet that is walked over: its frame is no longer there.
  template <class Right>
  bool walked(Rule rule, bool holds, const SentPsn& s, Seq psn, const QpWorld& qp, Right&& right) {
    return w_.check(
        rule, holds, nullptr, &qp,
        [&] {
          const wire::OpcodeInfo* info = wire::opcode_info(s.opcode);
          return fmt::format("{} PSN {}, MSN {}, RQMSN {}, VA 0x{:x}, R_Key 0x{:x}, DMA length {}, {} B",
                             info ? info->text : "?", psn24(psn), s.msn, s.rqmsn, s.va, s.rkey, s.dma, s.length);
        },
        right);
  }

  /// The packet has left before with the same bytes, but for those that switches change.
  bool before(const Seen& seen, Requestor& r) const {
    const wire::Packet& p = seen.packet;
    const SentPsn* const s = r.started && is_data(p) ? r.find(unwrap(p.bth->psn, r.top)) : nullptr;
    if (s == nullptr) return false;
    const uint32_t icrc = p.icrc ? p.icrc->value : 0, entropy = p.entropy(wire_);
    const bool plain = s->plain && icrc == s->plain_icrc && entropy == s->plain_entropy;
    return p.bth->rtx == 0 ? plain : s->again && icrc == s->icrc && entropy == s->entropy;
  }
  void data(const Seen& seen, const QpWorld& qp, Requestor& r);
  bool start(const Seen& seen, const QpWorld& qp, Requestor& r);
  void fresh(const Seen& seen, const QpWorld& qp, Requestor& r, Seq psn, SentPsn& s);
  void repeated(const Seen& seen, const QpWorld& qp, Requestor& r, Seq psn, SentPsn& s);
  /// It may be the second of two copies of what was lost, behind the first one and on another plane.
  bool second_copy(const Seen& seen, const SentPsn& s) const {
    return s.seen && s.again && w_.second_copy(seen, s.copy, s.plane);
  }
  void cause(const Seen& seen, const QpWorld& qp, const Requestor& r, Seq psn, const SentPsn& s);
  void window(const Seen& seen, const QpWorld& qp, Requestor& r, Seq psn);
  void heard(const QpWorld& qp, Requestor& r, Seq cack, unsigned mpr);
  void fatal(const Seen& seen, Requestor& r, Seq psn);
  Time hearing(const Requestor& r, Time time) const;
  void sack(const Seen& seen, const QpWorld& qp, Requestor& r);
  void nack(const Seen& seen, const QpWorld& qp, Requestor& r);
  void ack(const Seen& seen, const QpWorld& qp, Requestor& r);
  void walk(const QpWorld& qp, Requestor& r);
  void step(const QpWorld& qp, Requestor& r, Seq psn, SentPsn& s);
  void begin(const QpWorld& qp, Requestor& r, Seq psn, const SentPsn& s);
  void end(const QpWorld& qp, Requestor& r, Seq psn, const SentPsn& s);
  void bind(const QpWorld& qp, Requestor& r, Seq psn, const SentPsn& s);
  void payload(const QpWorld& qp, Requestor& r, Seq psn, const SentPsn& s);
  void unsent(const QpWorld& qp, Requestor& r, Seq psn, const SentPsn& s);
  void trim(const QpWorld& qp, Requestor& r);
  void overrun(const QpWorld& qp, Requestor& r, const Posted& posted, const log::Cqe& cqe, Time time);

  World& w_;
  Time completed_ = 0;  ///< the newest completion of any QP
  wire::WireConfig wire_;
  Paths paths_;
  Reads reads_;
  std::unordered_map<uint32_t, Requestor> requestors_;
};

// ---- sent

bool RequestorPart::start(const Seen& seen, const QpWorld& qp, Requestor& r) {
  const uint32_t psn = seen.packet.bth->psn;
  const bool known = qp.from_log;
  r.started = true;
  r.base = r.top = r.lowest = known ? unwrap(qp.set.sq_psn, 0) : Seq{psn};
  r.walk.next = r.base;
  r.walk.synchronous = known;
  r.walk.known_start = known;
  if (known) {
    r.walk.msn = qp.set.msn;
    r.walk.rqmsn = qp.set.rqmsn;
    if (!r.limit) r.limit = r.base - 1 + Seq{qp.set.mpr} * 128;
    if (!r.acked_any) r.acked = qp.set.msn;
  }
  return known;
}

void RequestorPart::data(const Seen& seen, const QpWorld& qp, Requestor& r) {
  const wire::Packet& p = seen.packet;
  if (!r.started) start(seen, qp, r);
  const Seq psn = unwrap(p.bth->psn, r.top);
  if (qp.from_log) {
    if (!check(Rule::ReqStart, psn >= r.lowest, &seen, qp,
               [&] { return fmt::format("no PSN before SQ_PSN {}", psn24(r.lowest)); })) {
      return;
    }
  } else {
    w_.report().rests(Rule::ReqStart, "the QP is older than the log");
    r.lowest = std::min(r.lowest, psn);
  }
  window(seen, qp, r, psn);
  if (psn < r.base) {
    w_.report().rests(p.bth->rtx ? Rule::ReqRtxSame : Rule::ReqPsnOnce, "the first transmission is too long ago");
    return;
  }
  if (psn >= r.base + kRequestorPsns) {
    if (psn >= r.top + kRequestorPsns) return;  // not a window of MRC: req.window has said so, or cannot know
    while (psn >= r.base + kRequestorPsns) {
      r.sent.pop_front();
      ++r.base;
      if (r.sent.empty()) break;
    }
    if (r.sent.empty()) r.base = psn;
  }
  const auto at = static_cast<std::size_t>(psn - r.base);
  if (at >= r.sent.size()) r.sent.resize(at + 1);
  r.top = std::max(r.top, psn + 1);
  SentPsn& s = r.sent[at];
  const bool again = s.seen;
  const bool copy = p.bth->rtx != 0 && second_copy(seen, s);
  if (again) {
    repeated(seen, qp, r, psn, s);
  } else {
    fresh(seen, qp, r, psn, s);
  }
  s.plain |= p.bth->rtx == 0;
  if (again) s.earlier = s.last;
  s.last = seen.first;
  s.stamp = p.tseth ? std::optional(p.tseth->tx_timestamp16) : std::nullopt;
  s.again = p.bth->rtx != 0;
  s.copy = w_.copy_of(seen, copy, again ? &s.copy : nullptr, s.plane);
  s.came_back = false;
  s.entropy = p.entropy(wire_);
  s.icrc = p.icrc ? p.icrc->value : 0;
  Paths::used(r, s.entropy);
  s.plane = seen.frame.plane;
  if (p.bth->rtx == 0) {
    s.plain_entropy = s.entropy;
    s.plain_plane = s.plane;
    s.plain_icrc = s.icrc;
  }
  if (!again) walk(qp, r);
  trim(qp, r);
}

void RequestorPart::fresh(const Seen& seen, const QpWorld& qp, Requestor& r, Seq psn, SentPsn& s) {
  const wire::Packet& p = seen.packet;
  s.seen = true;
  s.first = seen.first;
  s.moved = qp.evs_since && seen.first < *qp.evs_since + 3 * w_.lag();
  s.opcode = p.bth->opcode;
  s.length = static_cast<uint16_t>(p.payload.size());
  s.whole = seen.whole;
  if (s.whole) s.hash = log::digest(p.payload);
  s.msn = p.meth->msn;
  s.rqmsn = p.meth->rqmsn;
  s.va = p.reth->va;
  s.rkey = p.reth->r_key;
  s.dma = p.reth->dma_length;
  s.imm = p.immdt ? p.immdt->value : 0;
  if (p.bth->rtx != 0) {
    const char* why = w_.incomplete();
    if (why == nullptr && (w_.any_down() || paths_.any_peer_down())) {
      why = "the first one may have found no port that was up";
    }
    if (why == nullptr && !qp.from_log) why = "the QP is older than the log";
    if (why != nullptr) {
      w_.report().rests(Rule::ReqRtxUnsent, why);
    } else {
      s.early = true;
    }
  } else {
    w_.report().ok(Rule::ReqPsnOnce);
    if (r.limit && psn == *r.limit && !qp.set.dynamic_mpr && qp.from_log && w_.incomplete() == nullptr) {
      check(Rule::ReqAckreq, p.bth->a != 0, &seen, qp,
            [] { return std::string("A 1: nothing may follow before an answer has come"); });
    }
  }
}

void RequestorPart::repeated(const Seen& seen, const QpWorld& qp, Requestor& r, Seq psn, SentPsn& s) {
  const wire::Packet& p = seen.packet;
  if (p.bth->rtx == 0 && s.plain) {
    const bool same = p.icrc ? p.icrc->value == s.plain_icrc : s.plain_icrc == 0 && qp.inferred();
    const bool copy =
        !w_.recorded() && same && seen.frame.plane == s.plain_plane && p.entropy(wire_) == s.plain_entropy;
    if (copy && qp.inferred()) {
      w_.report().rests(Rule::ReqPsnOnce, "the same frame may have come twice by the network, or by a mirror");
    } else if (copy) {
      check(Rule::EvidenceDouble, false, &seen, qp, [] { return std::string("once; capture one direction only"); });
    } else {
      check(Rule::ReqPsnOnce, false, &seen, qp,
            [&] { return fmt::format("rtx 1: PSN {} was sent new at {}", psn24(psn), words(s.last)); });
    }
  } else if (p.bth->rtx != 0) {
    w_.report().ok(Rule::ReqRtxUnsent);
    cause(seen, qp, r, psn, s);
    paths_.again(seen, qp, r, s);
  }
  const bool head = s.va == p.reth->va && s.rkey == p.reth->r_key && s.dma == p.reth->dma_length &&
                    s.msn == p.meth->msn && s.rqmsn == p.meth->rqmsn;
  check(Rule::ReqRtxHead, head, &seen, qp, [&] {
    return fmt::format("VA 0x{:x}, R_Key 0x{:x}, DMA length {}, MSN {}, RQMSN {} as sent first", s.va, s.rkey, s.dma,
                       s.msn, s.rqmsn);
  });
  const bool shape =
      s.opcode == p.bth->opcode && s.length == p.payload.size() && s.imm == (p.immdt ? p.immdt->value : 0);
  // The application may use its memory again once the message is complete.
  const bool open = r.acked_any ? static_cast<int16_t>(s.msn - static_cast<uint16_t>(r.acked)) >= 0 : true;
  if (shape && (!seen.whole || !s.whole)) {
    w_.report().rests(Rule::ReqRtxSame, "the log does not hold the payload");
  } else if (shape && !open) {
    w_.report().rests(Rule::ReqRtxSame, "the message was complete by then");
  } else {
    check(Rule::ReqRtxSame, shape && log::digest(p.payload) == s.hash, &seen, qp, [&] {
      const wire::OpcodeInfo* info = wire::opcode_info(s.opcode);
      return fmt::format("{} with the {} bytes of payload{} as sent first", info ? info->text : "?", s.length,
                         is_imm(s.opcode) ? fmt::format(" and immediate 0x{:x}", s.imm) : "");
    });
  }
}

void RequestorPart::cause(const Seen& seen, const QpWorld& qp, const Requestor& r, Seq psn, const SentPsn& s) {
  if (const char* why = w_.incomplete()) {
    w_.report().rests(Rule::ReqRtxCause, why);
    return;
  }
  const double interval = 1.024e6 * static_cast<double>(uint64_t{1} << std::min(qp.set.timeout, 24u));
  // A timer runs from when the device meant to send, which may lie before the frame by what the host kept it waiting.
  const Time meant = s.earlier != 0 ? s.earlier : s.last;
  const bool timer = static_cast<double>(seen.first + w_.lag() - std::min(meant, seen.first)) >= interval / 2;
  // Questions overtake what waits for its data.
  const Time inside = w_.waited(seen.first) - std::min(r.waited, w_.waited(seen.first));
  const bool known = s.nacked || s.came_back || (r.any && r.reported > psn) || r.overtaken > s.last ||
                     (r.answered != 0 && r.answered + inside > s.last) || r.returned.after(s.stamp) || w_.any_down() ||
                     paths_.any_peer_down() || second_copy(seen, s);
  check(Rule::ReqRtxCause, known || timer, &seen, qp, [&] {
    return fmt::format("none before something tells that PSN {}, sent at {}, is lost, or {} have passed", psn24(psn),
                       words(s.last), words(static_cast<Time>(interval)));
  });
}

void RequestorPart::window(const Seen& seen, const QpWorld& qp, Requestor& r, Seq psn) {
  if (!r.limit) {
    w_.report().rests(Rule::ReqWindow, "the window at the begin of the log is not known");
    return;
  }
  if (const char* why = w_.incomplete()) {
    w_.report().rests(Rule::ReqWindow, why);
    return;
  }
  check(Rule::ReqWindow, psn <= *r.limit, &seen, qp, [&] {
    return fmt::format("at most PSN {}: cack_psn {} heard, MPR {} x 128", psn24(*r.limit),
                       r.cack ? std::to_string(psn24(*r.cack)) : "not", qp.set.mpr);
  });
}

// ---- heard

void RequestorPart::heard(const QpWorld& qp, Requestor& r, Seq cack, unsigned mpr) {
  const unsigned units = qp.set.dynamic_mpr && mpr != 0 ? std::min<unsigned>(mpr, qp.set.mpr) : qp.set.mpr;
  // Of PSNs that were not sent nothing can have come: somebody else said so. The device may have believed it.
  const bool possible = cack < r.top || w_.incomplete() != nullptr || !qp.from_log;
  if (possible && (!r.cack || cack > *r.cack)) r.cack = cack;
  // Before the log began more may have been heard: known is what lies beyond the first PSN seen.
  if (r.limit || (r.started && cack >= r.lowest)) r.limit = std::max(r.limit.value_or(cack), cack + Seq{units} * 128);
  if (!r.any || cack > r.reported) r.reported = cack;
  r.any = true;
  while (cack < r.top && r.walk.next <= cack && r.find(r.walk.next) == nullptr) {
    // Somebody has it, so it was sent.
    if (const char* why = w_.incomplete()) {
      w_.report().rests(Rule::EvidenceUnseen, why);
    } else if (!qp.from_log || qp.again) {
      w_.report().rests(Rule::EvidenceUnseen, "the QP is older than the log, or has been reset");
    } else {
      w_.check(
          Rule::EvidenceUnseen, false, nullptr, &qp,
          [&] { return fmt::format("cack_psn {} for PSN {}, which was not sent", psn24(cack), psn24(r.walk.next)); },
          [] { return std::string("a log with every frame"); });
    }
    do ++r.walk.next;
    while (r.walk.next < r.top && r.find(r.walk.next) == nullptr);
    r.walk.synchronous = r.walk.bound = r.walk.known_start = false;
    r.walk.msn.reset();
    r.walk.rqmsn.reset();
    walk(qp, r);
  }
  trim(qp, r);
}

void RequestorPart::sack(const Seen& seen, const QpWorld& qp, Requestor& r) {
  if (!r.started) return;
  const wire::Seth& h = *seen.packet.seth;
  const Seq cack = unwrap(h.cack_psn, r.top);
  if (h.pr != 0) {
    r.answered = seen.last;
    r.waited = w_.waited(seen.last);
  }
  if (seen.packet.cc_state) r.returned.heard(seen.packet.cc_state->tx_timestamp16, seen.last);
  Seq highest = cack;
  if (h.sack_bitmap != 0) highest = std::max(highest, cack + h.sack_offset + 63 - std::countl_zero(h.sack_bitmap));
  if (h.pr == 0) highest = std::max(highest, cack + h.ack_psn_offset);
  for (const Seq psn : {cack, h.pr == 0 ? cack + h.ack_psn_offset : cack, highest}) {
    if (const SentPsn* s = r.find(psn)) r.overtaken = std::max(r.overtaken, s->last);
  }
  if (!r.any || highest > r.reported) r.reported = highest;
  r.any = true;
  heard(qp, r, cack, h.mpr);
}

void RequestorPart::nack(const Seen& seen, const QpWorld&, Requestor& r) {
  if (!r.started) return;
  const wire::Neth& h = *seen.packet.neth;
  const Seq psn = unwrap(h.nack_psn, r.top);
  if (SentPsn* s = r.find(psn)) s->nacked = true;
  if (h.reason == static_cast<uint8_t>(wire::NackReason::UnexpEvent)) fatal(seen, r, psn);
}

/// The QP's own packet: lost for certain, and a device that is told to learn of it may send it again at once. Whether
/// it is the transmission that is out, rtx says.
void RequestorPart::returned(const Seen& seen, QpWorld* qp) {
  if (qp == nullptr || !is_data(seen.packet) || w_.settings().returned != kLearnReturned) return;
  Requestor& r = of(*qp);
  if (!r.started) return;
  SentPsn* const s = r.find(unwrap(seen.packet.bth->psn, r.top));
  if (s != nullptr && (seen.packet.bth->rtx != 0) == s->again) s->came_back = true;
}

void RequestorPart::ack(const Seen& seen, const QpWorld& qp, Requestor& r) {
  if (!r.started) return;
  const wire::Aeth& h = *seen.packet.aeth;
  const Seq msn = unwrap(h.msn & 0xFFFF, r.acked, 16);
  if (!r.acked_any || msn > r.acked) r.acked = msn;
  r.acked_any = true;
  while (!r.immediates.empty() && r.immediates.front() < r.acked) r.immediates.pop_front();
  const Seq psn = unwrap(seen.packet.bth->psn, r.top);
  if ((h.syndrome & 0xE0) == 0) {
    heard(qp, r, psn, 0);
  } else {
    fatal(seen, r, psn);
  }
}

void RequestorPart::fatal(const Seen& seen, Requestor& r, Seq psn) {
  const bool certain = (seen.frame.flags & log::kMaybe) == 0 && psn < r.top && (!r.cack || psn > *r.cack);
  if (!certain || r.fatal) return;
  r.fatal = seen.last;
  r.fatal_waited = w_.waited(seen.last);
}

/// So long after it came a NAK may wait inside: what it would do may wait behind completions of before, and no record
/// says when the host takes none; that they came since is all there is to see.
Time RequestorPart::hearing(const Requestor& r, Time time) const {
  const Time usual = w_.lag() + w_.waited(time) - r.fatal_waited;
  return completed_ > *r.fatal ? std::max(usual, w_.queue()) : usual;
}

// ---- in the order of PSNs

void RequestorPart::walk(const QpWorld& qp, Requestor& r) {
  for (;;) {
    if (r.walk.next < r.base) {
      r.walk.next = r.base;
      r.walk.synchronous = r.walk.bound = r.walk.known_start = false;
    }
    SentPsn* const s = r.find(r.walk.next);
    if (s == nullptr) return;
    step(qp, r, r.walk.next, *s);
    ++r.walk.next;
  }
}

void RequestorPart::step(const QpWorld& qp, Requestor& r, Seq psn, SentPsn& s) {
  Walk& k = r.walk;
  const bool first = is_first(s.opcode);
  if (!k.synchronous && !first) {
    w_.report().rests(Rule::ReqSequence, "the begin of the message was not seen");
    if (is_last(s.opcode)) {
      k.synchronous = true;
      k.inside = false;
      k.msn = Seq{s.msn} + 1;
    }
    return;
  }
  if (k.synchronous) {
    walked(Rule::ReqSequence, first == !k.inside, s, psn, qp,
           [&] { return std::string(k.inside ? "Middle or Last: the message goes on" : "First or Only"); });
  }
  k.synchronous = true;
  if (first) {
    begin(qp, r, psn, s);
  } else if (!k.inside) {
    return;  // said; the next First begins anew
  } else {
    walked(Rule::ReqMsn, !k.msn || s.msn == static_cast<uint16_t>(*k.msn), s, psn, qp,
           [&] { return fmt::format("MSN {}", static_cast<uint16_t>(*k.msn)); });
    walked(Rule::ReqVa, s.va == k.va, s, psn, qp, [&] { return fmt::format("VA 0x{:x}", k.va); });
    walked(Rule::ReqDma, s.dma == k.dma, s, psn, qp, [&] { return fmt::format("DMA length {}", k.dma); });
    walked(Rule::ReqRkey, s.rkey == k.rkey, s, psn, qp, [&] { return fmt::format("R_Key 0x{:x}", k.rkey); });
    k.same_rqmsn &= s.rqmsn == k.message_rqmsn;
  }
  if (k.bound && s.earlier == 0) s.earlier = r.posts[k.post].time;
  const bool last = is_last(s.opcode);
  const bool nothing = first && last && s.length == 0 && s.dma == 0 && w_.settings().zero_length == kZeroLegal;
  const uint32_t mtu = qp.set.mtu != 0 ? qp.set.mtu : kLargestMtu;
  if (qp.set.mtu == 0 && !last) {
    w_.report().rests(Rule::ReqLength, "frames show no path MTU");
  } else {
    walked(Rule::ReqLength, nothing || (last ? s.length >= 1 && s.length <= mtu : s.length == mtu), s, psn, qp,
           [&] { return fmt::format("{}{} B", last ? "1 to " : "", mtu); });
  }
  payload(qp, r, psn, s);
  k.va = s.va + s.length;
  k.sum += s.length;
  k.inside = !last;
  if (last) {
    end(qp, r, psn, s);
  } else {
    walked(Rule::ReqDma, k.sum < k.dma, s, psn, qp,
           [&] { return fmt::format("the last packet, or more than {} B in all", k.sum); });
  }
}

void RequestorPart::begin(const QpWorld& qp, Requestor& r, Seq psn, const SentPsn& s) {
  Walk& k = r.walk;
  if (k.msn) {
    walked(Rule::ReqMsn, s.msn == static_cast<uint16_t>(*k.msn), s, psn, qp,
           [&] { return fmt::format("MSN {}", static_cast<uint16_t>(*k.msn)); });
  } else {
    w_.report().rests(Rule::ReqMsn, "the MSN of the message before was not seen");
  }
  k.msn = k.msn ? unwrap(s.msn, *k.msn, 16) : Seq{s.msn};
  k.dma = s.dma;
  k.rkey = s.rkey;
  k.sum = 0;
  k.message_rqmsn = s.rqmsn;
  k.same_rqmsn = true;
  k.first_sent = s.last;
  k.outstanding = r.immediates.size();
  bind(qp, r, psn, s);
  if (r.overrun && k.bound) {
    walked(Rule::ReqWimmOver, r.posts[k.post].time <= *r.overrun + w_.queue(), s, psn, qp,
           [&] { return fmt::format("nothing new: an immediate too many has ended the QP at {}", words(*r.overrun)); });
  }
  if (r.fatal) {
    if (k.bound) {
      walked(Rule::QpFatal, !r.posts[k.post].late, s, psn, qp,
             [&] { return fmt::format("nothing new: the QP was told at {} that it has failed", words(*r.fatal)); });
    } else {
      w_.report().rests(Rule::QpFatal, "when the message was posted is not recorded");
    }
  } else {
    w_.report().ok(Rule::QpFatal);
  }
}

void RequestorPart::end(const QpWorld& qp, Requestor& r, Seq psn, const SentPsn& s) {
  Walk& k = r.walk;
  walked(Rule::ReqDma, k.sum == k.dma, s, psn, qp, [&] { return fmt::format("{} B in all, not {}", k.dma, k.sum); });
  if (is_imm(s.opcode)) {
    const bool counted = !k.rqmsn || s.rqmsn == static_cast<uint16_t>(*k.rqmsn);
    walked(Rule::ReqRqmsn, counted && k.same_rqmsn, s, psn, qp, [&] {
      return counted ? std::string("one RQMSN in all packets")
                     : fmt::format("RQMSN {}", static_cast<uint16_t>(*k.rqmsn));
    });
    k.rqmsn = (k.rqmsn ? unwrap(s.rqmsn, *k.rqmsn, 16) : Seq{s.rqmsn}) + 1;
    walked(Rule::ReqWimmNone, qp.set.max_wimm != 0, s, psn, qp, [] { return std::string("no immediate"); });
    if (k.known_start && w_.incomplete() == nullptr) {
      if (*k.msn >= r.acked) r.immediates.push_back(*k.msn);
      walked(Rule::ReqMaxWimm, k.outstanding < std::max(qp.set.max_wimm, 1u), s, psn, qp, [&] {
        return fmt::format("at most {} immediates outstanding, not {}", qp.set.max_wimm, k.outstanding + 1);
      });
      if (r.immediates.size() > 64) r.immediates.pop_front();
    }
  }
  if (k.bound) {
    Posted& posted = r.posts[k.post];
    walked(Rule::ReqPosted,
           posted.post.immediate == is_imm(s.opcode) && (!posted.post.immediate || posted.post.imm == s.imm), s, psn,
           qp, [&] {
             return posted.post.immediate
                        ? fmt::format("immediate 0x{:x} of work request {}", posted.post.imm, posted.post.wr_id)
                        : fmt::format("no immediate: work request {} has none", posted.post.wr_id);
           });
  }
  k.bound = false;
  ++*k.msn;
}

/// Finds the work request that a message carries out: the next one. One that the device refuses (nothing to send, too
/// much, an immediate too many) is passed over.
void RequestorPart::bind(const QpWorld& qp, Requestor& r, Seq psn, const SentPsn& s) {
  Walk& k = r.walk;
  k.bound = false;
  if (!r.posts_notified) {
    r.before_posts = true;
    w_.report().rests(Rule::ReqPosted, "no work request of the QP is recorded");
    return;
  }
  const auto fits = [&](const Posted& p) {
    return p.post.bytes == s.dma && p.post.remote == s.va && p.post.rkey == s.rkey;
  };
  const auto refused = [](const Posted& p) {
    return p.post.bytes == 0 || p.post.bytes > 0xFFFFFFFFu || p.post.immediate;
  };
  std::size_t at = r.next_post;
  // Behind a hole of the evidence any later one may be next.
  while (at < r.posts.size() && !fits(r.posts[at]) && (refused(r.posts[at]) || !k.known_start)) ++at;
  const bool there = at < r.posts.size();
  if (!r.walk.known_start && !(there && fits(r.posts[at]))) {
    w_.report().rests(Rule::ReqPosted, "the QP is older than the log");
    return;
  }
  const bool right = there && fits(r.posts[at]);
  walked(Rule::ReqPosted, right, s, psn, qp, [&] {
    if (!there) return std::string("nothing: every work request has been sent");
    const log::Post& p = r.posts[at].post;
    return fmt::format("work request {}: VA 0x{:x}, R_Key 0x{:x}, DMA length {}", p.wr_id, p.remote, p.rkey, p.bytes);
  });
  if (!there) return;
  k.bound = right;
  k.post = at;
  r.posts[at].msn = *k.msn;
  r.next_post = at + 1;
}

void RequestorPart::payload(const QpWorld& qp, Requestor& r, Seq psn, const SentPsn& s) {
  if (s.length == 0) return;
  if (!r.walk.bound || !s.whole || !reads_.any()) {
    w_.report().rests(Rule::ReqPayload, !reads_.any() ? "no host reads are recorded"
                                        : !s.whole    ? "the log does not hold the payload"
                                                      : "no work request is recorded");
    return;
  }
  const uint64_t addr = r.posts[r.walk.post].post.addr + r.walk.sum;
  const auto hash = reads_.digest(addr, s.length);
  if (!hash) {
    w_.report().rests(Rule::ReqPayload, "what was read there is not recorded");
    return;
  }
  walked(Rule::ReqPayload, *hash == s.hash, s, psn, qp,
         [&] { return fmt::format("the {} bytes read from host address 0x{:x}", s.length, addr); });
}

/// It was sent with rtx = 1 and, as is known now, never without. That is right for one that found no EV it could use
/// which ones the controller has denied is hidden, but not for long when the packets around it were sent.
void RequestorPart::unsent(const QpWorld& qp, Requestor& r, Seq psn, const SentPsn& s) {
  if (!s.early || s.plain) return;
  const SentPsn* const before = psn == r.base ? &r.below : r.find(psn - 1);
  const SentPsn* const behind = r.find(psn + 1);
  const bool flanked = before != nullptr && behind != nullptr && before->plain && behind->plain &&
                       behind->first < before->first + 2 * w_.lag();
  if (const char* why = w_.incomplete()) {
    w_.report().rests(Rule::ReqRtxUnsent, why);
  } else if (w_.any_down() || paths_.any_peer_down()) {
    w_.report().rests(Rule::ReqRtxUnsent, "the first one may have found no port that was up");
  } else if (!flanked) {
    w_.report().rests(Rule::ReqRtxUnsent, "the first one may have found no EV that was not denied");
  } else if (behind->moved) {
    w_.report().rests(Rule::ReqRtxUnsent, "the QP's owner changed its EVs just then");
  } else if (w_.settings().skip_mode == kSkipModeTwice) {
    w_.report().rests(Rule::ReqRtxUnsent, "the first one may have found no EV that was to be skipped only once (A-20)");
  } else {
    walked(Rule::ReqRtxUnsent, false, s, psn, qp,
           [&] { return fmt::format("rtx 0 before rtx 1: PSN {} was not sent before", psn24(psn)); });
  }
}

void RequestorPart::trim(const QpWorld& qp, Requestor& r) {
  const Seq keep = std::min(r.walk.next, r.cack ? *r.cack - kRequestorTail : r.walk.next - kRequestorPsns / 2);
  while (!r.sent.empty() && r.base < keep) {
    unsent(qp, r, r.base, r.sent.front());
    r.below = r.sent.front();
    r.sent.pop_front();
    ++r.base;
  }
}

// ---- work requests

void RequestorPart::posted(const log::Post& post, Time time) {
  QpWorld* const qp = w_.local(post.qp);
  if (qp == nullptr) return;
  Requestor& r = of(*qp);
  if (r.before_posts && !r.posts_notified && qp->from_log) {
    w_.check(
        Rule::ReqPosted, false, nullptr, qp,
        [&] { return fmt::format("messages before work request {}, the first one that is recorded", post.wr_id); },
        [] { return std::string("nothing before it is posted"); });
  }
  r.posts_notified = true;
  r.posts.push_back(
      {post, time, {}, false, r.fatal && (r.failed || time > *r.fatal + hearing(r, time)), r.open_immediates});
  r.open_immediates += post.immediate ? 1 : 0;
  if (r.posts.size() > kMostPosts) {
    r.posts.pop_front();
    if (r.next_post > 0) --r.next_post;
    if (r.walk.bound && r.walk.post > 0) --r.walk.post;
  }
}

void RequestorPart::completed(const log::Cqe& cqe, Time time) {
  completed_ = time;
  QpWorld* const qp = w_.local(cqe.qp);
  if (qp == nullptr || cqe.receive) return;
  Requestor& r = of(*qp);
  if (!r.posts_notified) {
    w_.report().rests(Rule::ReqCqeOrder, "no work request of the QP is recorded");
    return;
  }
  const auto came = [&] { return fmt::format("completion of work request {}", cqe.wr_id); };
  auto at = std::ranges::find_if(r.posts, [&](const Posted& p) { return p.post.wr_id == cqe.wr_id && !p.failed; });
  const bool there = at != r.posts.end();
  if (!there && !qp->from_log) {
    w_.report().rests(Rule::ReqCqeOrder, "the QP is older than the log");
    return;
  }
  // What is refused, or fails, may do so before the work ahead of it is done; and who is unsignalled says nothing.
  const auto next = std::ranges::find_if(r.posts, [](const Posted& p) { return !p.failed; });
  const bool all_notified = w_.profile().all_completions && w_.incomplete() == nullptr;
  const bool in_turn = cqe.status != log::Status::Ok || at == next || !all_notified;
  w_.check(Rule::ReqCqeOrder, there && in_turn, nullptr, qp, came, [&] {
    return next == r.posts.end() ? std::string("none: every work request has completed")
                                 : fmt::format("work request {} next", next->post.wr_id);
  });
  if (!there) return;
  if (at->post.immediate && r.open_immediates != 0) --r.open_immediates;
  if (at->post.bytes == 0) {
    w_.check(
        Rule::ReqZero, cqe.status != log::Status::LocalLength || w_.settings().zero_length != kZeroLegal, nullptr, qp,
        [&] { return fmt::format("work request {}, of no bytes, is refused", cqe.wr_id); },
        [] { return std::string("carried out: CTRL.zero_length is 0"); });
  }
  if (at->post.immediate || cqe.status == log::Status::WimmOverrun) overrun(*qp, r, *at, cqe, time);
  if (cqe.status != log::Status::Ok) {
    // What was refused is never sent; what has failed may still be on its way out.
    if (cqe.status == log::Status::LocalLength || cqe.status == log::Status::WimmOverrun) {
      const auto place = static_cast<std::size_t>(at - r.posts.begin());
      r.posts.erase(at);
      if (place < r.next_post) --r.next_post;
      if (r.walk.bound && place < r.walk.post) --r.walk.post;
      if (r.walk.bound && place == r.walk.post) r.walk.bound = false;
    } else {
      at->failed = r.failed = true;
    }
    return;
  }
  w_.check(Rule::QpFlush, !r.failed, nullptr, qp, came,
           [] { return std::string("flushed: one before it has failed"); });
  if (!at->msn && (w_.incomplete() != nullptr || !r.walk.known_start)) {
    w_.report().rests(Rule::ReqCqeAck, "its message was not seen as a whole");
  } else if (!at->msn) {
    w_.check(Rule::ReqCqeAck, false, nullptr, qp, came, [] { return std::string("none: its message was not sent"); });
  } else if (const char* why = w_.incomplete()) {
    w_.report().rests(Rule::ReqCqeAck, why);
  } else {
    const Seq msn = *at->msn;
    w_.check(Rule::ReqCqeAck, r.acked_any && r.acked > msn, nullptr, qp, came, [&] {
      return fmt::format("none before an ACK with MSN {}; the newest has {}", (msn + 1) & 0xFFFF,
                         r.acked_any ? std::to_string(r.acked & 0xFFFF) : "not come");
    });
  }
  const auto gone = static_cast<std::size_t>(at - r.posts.begin()) + 1;
  for (auto before = r.posts.begin(); before != at; ++before) {
    if (before->post.immediate && !before->failed && r.open_immediates != 0) --r.open_immediates;  // unsignalled
  }
  if (r.walk.bound && r.walk.post < gone) r.walk.bound = false;
  r.posts.erase(r.posts.begin(), at + 1);
  r.next_post -= std::min(r.next_post, gone);
  if (r.walk.bound) r.walk.post -= gone;
}

/// One that is refused for its immediate: only if so many before it had not completed when the device had it, and only
/// if such a one does not wait.
void RequestorPart::overrun(const QpWorld& qp, Requestor& r, const Posted& posted, const log::Cqe& cqe, Time time) {
  const uint32_t most = qp.set.max_wimm, over = w_.settings().wimm_over;
  const bool refused = cqe.status == log::Status::WimmOverrun;
  const bool may = posted.post.immediate && (most == 0 || (over != kWimmWaits && posted.immediates >= most));
  w_.check(
      Rule::ReqWimmOver, !refused || may, nullptr, &qp,
      [&] { return fmt::format("work request {} is refused for its immediate", cqe.wr_id); },
      [&] {
        if (!posted.post.immediate) return std::string("another status: it has none");
        if (over == kWimmWaits) return std::string("it waits: CTRL.wimm_over is 0");
        return fmt::format("it is taken: {} immediates had not completed then, and max_wimm is {}", posted.immediates,
                           most);
      });
  if (refused && may && most != 0 && over == kWimmError && !r.overrun) r.overrun = time;
}

void RequestorPart::finish(const log::End& end, Time time) {
  for (auto& entry : requestors_) {
    Requestor& r = entry.second;
    QpWorld* const qp = w_.local(entry.first);
    if (qp == nullptr || !r.started || r.incarnation != qp->incarnation) continue;
    for (std::size_t i = 0; i < r.sent.size(); ++i) {
      const SentPsn& s = r.sent[i];
      if (s.last + w_.queue() > time) continue;
      unsent(*qp, r, r.base + static_cast<Seq>(i), s);
    }
    if (r.walk.next >= r.top) {
      w_.report().ok(Rule::ReqPsnHole);
      continue;
    }
    const SentPsn* above = nullptr;
    for (Seq psn = r.walk.next; psn < r.top && above == nullptr; ++psn) above = r.find(psn);
    const char* why = w_.incomplete();
    if (why == nullptr && end.cut) why = "the log was cut";
    if (why == nullptr && (w_.any_down() || paths_.any_peer_down())) why = "a port was down";
    if (why == nullptr && (r.failed || r.fatal || qp->set.state != log::QpState::Rts))
      why = "the QP has failed or ended";
    if (why == nullptr && (above == nullptr || above->last + w_.queue() > time)) why = "the log ended soon after it";
    if (why != nullptr) {
      w_.report().rests(Rule::ReqPsnHole, why);
      continue;
    }
    w_.check(
        Rule::ReqPsnHole, false, nullptr, qp,
        [&] { return fmt::format("PSN {} and none with PSN {}", psn24(r.top - 1), psn24(r.walk.next)); },
        [] { return std::string("each PSN"); });
  }
}

}  // namespace

std::unique_ptr<Part> make_requestor_part(World& world) { return std::make_unique<RequestorPart>(world); }

}  // namespace mrc::ref::history

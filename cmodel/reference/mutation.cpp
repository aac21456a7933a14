// SPDX-License-Identifier: Apache-2.0
#include "reference/mutation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "wire/decode.hpp"

namespace mrc::ref {
namespace {

using log::Record;
using wire::Opcode;
using wire::Packet;

constexpr uint32_t kPsns = 1u << 24;
/// How far psn lies behind base, -2^23 to 2^23 - 1.
int64_t after(uint32_t psn, uint32_t base) {
  const uint32_t d = (psn - base) & (kPsns - 1);
  return d < kPsns / 2 ? int64_t{d} : int64_t{d} - kPsns;
}

const log::Frame* frame_of(const Record& r) { return std::get_if<log::Frame>(&r.body); }

bool data(const Packet& p) { return p.reth && p.bth; }

/// A frame with its headers.
struct Entry {
  std::size_t index;
  Packet packet;
};

}  // namespace

/// What each kind picks from. Only frames whose meaning is certain: whole, right ICRC, of a QP that the log sets up and
/// that neither fails nor is reset.
struct Mutator::Index {
  std::vector<Entry> first, again;     ///< data sent: first transmissions, retransmissions
  std::vector<Entry> sack, nack, ack;  ///< sent
  std::vector<Entry> response;         ///< sent endpoint responses
  std::vector<std::size_t> write, cqe_recv, cqe_send;
  std::map<uint32_t, log::Qp> qps;  ///< by own number
  std::set<uint32_t> risky;         ///< QPs that are reset or fail
  struct Arrival {
    Time time;
    std::size_t index;
    bool trimmed, marked;
  };
  std::map<uint32_t, std::map<uint32_t, std::vector<Arrival>>> arrived;  ///< own QP -> PSN -> arrivals
  wire::WireConfig wire;

  const log::Qp* qp_of_peer(const Packet& sent) const {
    for (const auto& [number, qp] : qps) {
      if (qp.peer_qp == sent.bth->dqp && risky.count(number) == 0 && sent.ipv6 && same(*sent.ipv6, qp)) return &qp;
    }
    return nullptr;
  }
  static bool same(const wire::Ipv6&, const log::Qp&) { return true; }
  /// No packet of `psn` or above has come to the QP before `time`.
  bool nothing_above(uint32_t qp, uint32_t psn, Time time) const {
    const auto found = arrived.find(qp);
    if (found == arrived.end()) return true;
    return std::none_of(found->second.begin(), found->second.end(), [&](const auto& entry) {
      return after(entry.first, psn) >= 0 &&
             std::any_of(entry.second.begin(), entry.second.end(), [&](const Arrival& a) { return a.time <= time; });
    });
  }
  bool came(uint32_t qp, uint32_t psn, Time time) const {
    const auto found = arrived.find(qp);
    if (found == arrived.end()) return false;
    const auto at = found->second.find(psn);
    return at != found->second.end() &&
           std::any_of(at->second.begin(), at->second.end(), [&](const Arrival& a) { return a.time <= time; });
  }
};

namespace {

using Index = Mutator::Index;
struct Spot {
  const std::vector<Record>& records;
  const Index& index;
  Rng& rng;
};
using Draw = std::optional<Mutant> (*)(const Spot&);

/// One of them that `fits`; null if none of 64 tries does.
template <class T, class Fits>
const T* pick(const std::vector<T>& from, Rng& rng, Fits fits) {
  for (unsigned n = 0; n < 64 && !from.empty(); ++n) {
    const T& one = from[rng.below(from.size())];
    if (fits(one)) return &one;
  }
  return nullptr;
}

/// The frame with other headers, lengths as they were, and a right ICRC.
Record edited(const Spot& at, const Entry& entry, const std::function<void(Packet&)>& edit) {
  Record record = at.records[entry.index];
  auto& frame = std::get<log::Frame>(record.body);
  Packet packet = entry.packet;
  edit(packet);
  if (packet.icrc) packet.icrc->ok = true;
  frame.bytes = wire::encode(packet, at.index.wire);
  return record;
}

template <class Fits, class Edit>
std::optional<Mutant> edit_one(const Spot& at, const std::vector<Entry>& from, const std::string& what, Fits fits,
                               Edit edit) {
  const Entry* entry = pick(from, at.rng, fits);
  if (entry == nullptr) return {};
  Mutant m;
  Record record = edited(at, *entry, [&](Packet& p) { edit(p, *entry); });
  if (std::get<log::Frame>(record.body).bytes == frame_of(at.records[entry->index])->bytes) return {};
  m.what = fmt::format("frame {}: {}", frame_of(at.records[entry->index])->number, what);
  m.changes.push_back({entry->index, {std::move(record)}});
  return m;
}

constexpr auto kAny = [](const Entry&) { return true; };

std::optional<Mutant> drop(std::size_t index, std::string what) {
  Mutant m;
  m.what = std::move(what);
  m.changes.push_back({index, {}});
  return m;
}

std::optional<Mutant> twice(const Spot& at, std::size_t index, Time later, std::string what) {
  Mutant m;
  m.what = std::move(what);
  Record copy = at.records[index];
  copy.time += later;
  if (auto* frame = std::get_if<log::Frame>(&copy.body)) frame->last += later;
  m.moved.push_back(std::move(copy));
  return m;
}

/// The frame once more, `later`, as a retransmission on the plane that `leads` accepts, with an EV of its QP there. Not
/// where a timer may have run out while the frame waited inside.
template <class Leads>
std::optional<Record> copied(const Spot& at, const Entry& e, const log::Qp& qp, Time later, Leads leads) {
  constexpr unsigned kLongTimer = 8;  // 262 us
  if (qp.encap != 0 || !e.packet.ipv6 || qp.timeout < kLongTimer) return {};
  for (std::size_t i = 0; i < std::min(qp.evs.size(), qp.ev_planes.size()); ++i) {
    if (!leads(qp.ev_planes[i])) continue;
    Record copy = edited(at, e, [&](Packet& p) {
      p.bth->rtx = 1;
      p.ipv6->dscp = qp.own_class ? qp.dscp_rtx : at.index.wire.dscp.trimmable_retx;
      p.set_entropy(qp.evs[i], at.index.wire);
    });
    auto& frame = std::get<log::Frame>(copy.body);
    copy.time += later;
    frame.last += later;
    frame.plane = qp.ev_planes[i];
    return copy;
  }
  return {};
}

Time time_at(const Spot& at, const Entry& e) { return at.records[e.index].time; }
/// The QP here that a control packet speaks about.
const log::Qp* about(const Spot& at, const Entry& e) { return at.index.qp_of_peer(e.packet); }

// Each kind with the reason why no device may do that.
struct Kind {
  const char* name;
  Draw draw;
};

const Kind kKinds[] = {
    // ---- data: a new PSN follows the one before; what is sent is what was posted
    {"data.psn-skipped",
     [](const Spot& at) {
       return edit_one(at, at.index.first, "its PSN is one higher", kAny,
                       [](Packet& p, const Entry&) { p.bth->psn = (p.bth->psn + 1) % kPsns; });
     }},
    {"data.psn-far",
     [](const Spot& at) {
       return edit_one(at, at.index.first, "its PSN is 2^22 higher: beyond any window", kAny,
                       [](Packet& p, const Entry&) { p.bth->psn = (p.bth->psn + (1u << 22)) % kPsns; });
     }},
    {"data.va",
     [](const Spot& at) {
       return edit_one(at, at.index.first, "its VA is 64 higher", kAny,
                       [](Packet& p, const Entry&) { p.reth->va += 64; });
     }},
    {"data.dma-length",
     [](const Spot& at) {
       return edit_one(at, at.index.first, "its DMA length is 4 more", kAny,
                       [](Packet& p, const Entry&) { p.reth->dma_length += 4; });
     }},
    {"data.rkey",
     [](const Spot& at) {
       return edit_one(at, at.index.first, "another R_Key", kAny,
                       [](Packet& p, const Entry&) { p.reth->r_key ^= 0x40; });
     }},
    {"data.msn",
     [](const Spot& at) {
       return edit_one(at, at.index.first, "its MSN is 3 higher", kAny,
                       [](Packet& p, const Entry&) { p.meth->msn = static_cast<uint16_t>(p.meth->msn + 3); });
     }},
    {"data.opcode",
     [](const Spot& at) {
       return edit_one(
           at, at.index.first, "a Middle says First",
           [](const Entry& e) { return e.packet.bth->opcode == static_cast<uint8_t>(Opcode::WriteMiddle); },
           [](Packet& p, const Entry&) { p.bth->opcode = static_cast<uint8_t>(Opcode::WriteFirst); });
     }},
    {"data.rtx-on-first",
     [](const Spot& at) {
       return edit_one(at, at.index.first, "a first transmission says rtx", kAny,
                       [](Packet& p, const Entry&) { p.bth->rtx = 1; });
     }},
    {"data.rtx-off-again",
     [](const Spot& at) {
       return edit_one(at, at.index.again, "a retransmission does not say rtx", kAny,
                       [](Packet& p, const Entry&) { p.bth->rtx = 0; });
     }},
    {"data.dscp",
     [](const Spot& at) {
       const auto others = [&](const Entry& e) {
         return std::ranges::any_of(at.index.first, [&](const Entry& o) {
           return o.index < e.index && o.packet.bth->dqp == e.packet.bth->dqp && o.packet.dscp() == e.packet.dscp() &&
                  o.packet.ipv6 && e.packet.ipv6 && o.packet.ipv6->dst == e.packet.ipv6->dst;
         });
       };
       return edit_one(at, at.index.first, "a code point that no other data of its QP have", others,
                       [](Packet& p, const Entry&) {
                         constexpr uint8_t kFree = 33;
                         wire::Ipv6& outer = p.outer_ipv6 ? *p.outer_ipv6 : *p.ipv6;
                         outer.dscp = outer.dscp == kFree ? kFree + 1 : kFree;
                       });
     }},
    {"data.payload-again",
     [](const Spot& at) {
       return edit_one(
           at, at.index.again, "a retransmission has another byte",
           [](const Entry& e) { return !e.packet.payload.empty(); },
           [&](Packet& p, const Entry&) { p.payload[at.rng.below(p.payload.size())] ^= 0x10; });
     }},
    {"data.va-again",
     [](const Spot& at) {
       return edit_one(at, at.index.again, "a retransmission has another VA", kAny,
                       [](Packet& p, const Entry&) { p.reth->va += 4096; });
     }},
    {"data.dqp",
     [](const Spot& at) {
       return edit_one(at, at.index.first, "a QP that nobody has", kAny,
                       [](Packet& p, const Entry&) { p.bth->dqp ^= 0x700000; });
     }},
    {"data.pkey",
     [](const Spot& at) {
       return edit_one(at, at.index.first, "another P_Key", kAny,
                       [](Packet& p, const Entry&) { p.bth->p_key ^= 0x55; });
     }},
    {"data.immediate",
     [](const Spot& at) {
       return edit_one(
           at, at.index.first, "another immediate", [](const Entry& e) { return e.packet.immdt.has_value(); },
           [](Packet& p, const Entry&) { p.immdt->value ^= 1; });
     }},
    {"data.dropped",
     [](const Spot& at) -> std::optional<Mutant> {
       // The PSN after it follows: one is missing.
       const Entry* e = pick(at.index.first, at.rng, [&](const Entry& x) {
         return std::any_of(at.index.first.begin(), at.index.first.end(), [&](const Entry& y) {
           return y.packet.bth->dqp == x.packet.bth->dqp && after(y.packet.bth->psn, x.packet.bth->psn) == 1;
         });
       });
       if (e == nullptr) return {};
       return drop(e->index, fmt::format("frame {} was never sent", frame_of(at.records[e->index])->number));
     }},
    {"data.doubled",
     [](const Spot& at) -> std::optional<Mutant> {
       const Entry* e = pick(at.index.first, at.rng, kAny);
       if (e == nullptr) return {};
       return twice(at, e->index, 1000, fmt::format("frame {} was sent twice", frame_of(at.records[e->index])->number));
     }},
    // ---- a second copy: of what was lost, at once, on another plane, and no third one
    {"data.copy-unlost",
     [](const Spot& at) -> std::optional<Mutant> {
       const Entry* e = pick(at.index.first, at.rng, kAny);
       if (e == nullptr || about(at, *e) == nullptr) return {};
       const log::Frame& frame = *frame_of(at.records[e->index]);
       auto copy = copied(at, *e, *about(at, *e), 1000, [&](uint8_t plane) { return plane != frame.plane; });
       if (!copy) return {};
       Mutant m;
       m.what = fmt::format("frame {} goes again on another plane, and nothing says that it is lost", frame.number);
       m.moved.push_back(std::move(*copy));
       return m;
     }},
    {"data.copy-same-plane",
     [](const Spot& at) -> std::optional<Mutant> {
       const Entry* e = pick(at.index.again, at.rng, kAny);
       if (e == nullptr || about(at, *e) == nullptr) return {};
       const log::Frame& frame = *frame_of(at.records[e->index]);
       auto copy = copied(at, *e, *about(at, *e), 1000, [&](uint8_t plane) { return plane == frame.plane; });
       if (!copy) return {};
       Mutant m;
       m.what = fmt::format("the second copy of frame {} leaves on the same plane", frame.number);
       m.moved.push_back(std::move(*copy));
       return m;
     }},
    {"data.copy-third",
     [](const Spot& at) -> std::optional<Mutant> {
       const Entry* e = pick(at.index.again, at.rng, kAny);
       if (e == nullptr || about(at, *e) == nullptr) return {};
       const log::Frame& frame = *frame_of(at.records[e->index]);
       Mutant m;
       unsigned used = frame.plane;
       for (Time later = 1000; later <= 2000; later += 1000) {
         auto copy = copied(at, *e, *about(at, *e), later, [&](uint8_t plane) { return plane > used; });
         if (!copy) return {};
         used = frame_of(*copy)->plane;
         m.moved.push_back(std::move(*copy));
       }
       m.what = fmt::format("frame {} goes three times at once, on three planes", frame.number);
       return m;
     }},
    {"data.plane",
     [](const Spot& at) -> std::optional<Mutant> {
       const Entry* e = pick(at.index.first, at.rng, [&](const Entry& x) {
         const log::Qp* qp = about(at, x);
         return qp != nullptr && !qp->ev_planes.empty() &&
                std::set<uint8_t>(qp->ev_planes.begin(), qp->ev_planes.end()).size() > 1;
       });
       if (e == nullptr) return {};
       const log::Qp& qp = *about(at, *e);
       Record record = at.records[e->index];
       auto& frame = std::get<log::Frame>(record.body);
       const uint8_t old = frame.plane;
       for (const uint8_t plane : qp.ev_planes) {
         if (plane != old) frame.plane = plane;
       }
       Mutant m;
       m.what = fmt::format("frame {}: left from plane {}, which is not its EV's", frame.number, frame.plane);
       m.changes.push_back({e->index, {std::move(record)}});
       return m;
     }},
    {"data.ev",
     [](const Spot& at) {
       return edit_one(
           at, at.index.first, "an EV that its QP has not",
           [&](const Entry& e) {
             const log::Qp* qp = about(at, e);
             return qp != nullptr && !qp->evs.empty() &&
                    std::find(qp->evs.begin(), qp->evs.end(), e.packet.entropy(at.index.wire) ^ 0x01010101u) ==
                        qp->evs.end();
           },
           [&](Packet& p, const Entry&) { p.set_entropy(p.entropy(at.index.wire) ^ 0x01010101u, at.index.wire); });
     }},
    // ---- any packet: reserved bits, versions, code points, ICRC
    {"wire.reserved4",
     [](const Spot& at) {
       return edit_one(at, at.index.first, "BTH byte 4 is not 0", kAny,
                       [](Packet& p, const Entry&) { p.bth->reserved4 = 4; });
     }},
    {"wire.reserved8",
     [](const Spot& at) {
       return edit_one(at, at.index.sack, "a reserved bit of BTH byte 8", kAny,
                       [](Packet& p, const Entry&) { p.bth->reserved8_3 = 1; });
     }},
    {"wire.tver",
     [](const Spot& at) {
       return edit_one(at, at.index.sack, "tver 1", kAny, [](Packet& p, const Entry&) { p.bth->tver = 1; });
     }},
    {"wire.udp-port",
     [](const Spot& at) {
       return edit_one(at, at.index.first, "another UDP port of MRC", kAny, [](Packet& p, const Entry&) {
         p.udp->dst_port = p.udp->dst_port == wire::kUdpPort ? wire::kUdpPortMrc : wire::kUdpPort;
       });
     }},
    {"wire.dscp",
     [](const Spot& at) {
       return edit_one(at, at.index.sack, "a SACK with a code point that switches trim", kAny,
                       [&](Packet& p, const Entry&) {
                         wire::Ipv6& outer = p.outer_ipv6 ? *p.outer_ipv6 : *p.ipv6;
                         outer.dscp = at.index.wire.dscp.trimmable;
                       });
     }},
    {"wire.icrc",
     [](const Spot& at) -> std::optional<Mutant> {
       const Entry* e = pick(at.index.first, at.rng, kAny);
       if (e == nullptr) return {};
       Record record = at.records[e->index];
       auto& frame = std::get<log::Frame>(record.body);
       frame.bytes.back() ^= 1;
       Mutant m;
       m.what = fmt::format("frame {}: wrong ICRC", frame.number);
       m.changes.push_back({e->index, {std::move(record)}});
       return m;
     }},
    // ---- SACK: what it says has happened
    {"sack.cack",
     [](const Spot& at) {
       return edit_one(
           at, at.index.sack, "its cack_psn says that PSNs have arrived which have not",
           [&](const Entry& e) {
             const log::Qp* qp = about(at, e);
             return qp != nullptr &&
                    at.index.nothing_above(qp->qp, (e.packet.seth->cack_psn + 300) % kPsns, time_at(at, e));
           },
           [](Packet& p, const Entry&) {
             p.seth->cack_psn = (p.seth->cack_psn + 301) % kPsns;
             p.bth->psn = p.seth->cack_psn;
           });
     }},
    {"sack.bth-psn",
     [](const Spot& at) {
       return edit_one(at, at.index.sack, "BTH.PSN is not cack_psn", kAny,
                       [](Packet& p, const Entry&) { p.bth->psn = (p.bth->psn + 1) % kPsns; });
     }},
    {"sack.bitmap",
     [](const Spot& at) {
       return edit_one(
           at, at.index.sack, "a bit stands for a PSN that has not arrived",
           [&](const Entry& e) {
             const log::Qp* qp = about(at, e);
             const wire::Seth& s = *e.packet.seth;
             return qp != nullptr && s.sack_offset >= 0 &&
                    !at.index.came(qp->qp, (s.cack_psn + static_cast<uint32_t>(s.sack_offset) + 63) % kPsns,
                                   time_at(at, e)) &&
                    after((s.cack_psn + static_cast<uint32_t>(s.sack_offset) + 63) % kPsns, s.cack_psn) > 0;
           },
           [](Packet& p, const Entry&) { p.seth->sack_bitmap |= uint64_t{1} << 63; });
     }},
    {"sack.ooo",
     [](const Spot& at) {
       return edit_one(at, at.index.sack, "ooo_count is 5000 more", kAny, [](Packet& p, const Entry&) {
         p.cc_state->ooo_count = (p.cc_state->ooo_count + 5000) & 0x7fff;
       });
     }},
    {"sack.rcvd",
     [](const Spot& at) {
       return edit_one(at, at.index.sack, "rcvd_bytes is 256 MB more", kAny, [](Packet& p, const Entry&) {
         p.cc_state->rcvd_bytes = (p.cc_state->rcvd_bytes + (1u << 20)) & 0xffffff;
       });
     }},
    {"sack.entropy",
     [](const Spot& at) {
       return edit_one(
           at, at.index.sack, "an entropy value that no packet came with",
           [](const Entry& e) { return !e.packet.seth->pr; },
           [](Packet& p, const Entry&) { p.seth->entropy ^= 0x00010100; });
     }},
    {"sack.trigger",
     [](const Spot& at) {
       return edit_one(
           at, at.index.sack, "ack_psn names a packet that has not come",
           [&](const Entry& e) {
             const log::Qp* qp = about(at, e);
             return qp != nullptr && !e.packet.seth->pr &&
                    at.index.nothing_above(qp->qp, (e.packet.seth->cack_psn + 300) % kPsns, time_at(at, e));
           },
           [](Packet& p, const Entry&) { p.seth->ack_psn_offset = 301; });
     }},
    {"sack.mpr",
     [](const Spot& at) {
       return edit_one(at, at.index.sack, "mpr 40", kAny, [](Packet& p, const Entry&) { p.seth->mpr = 40; });
     }},
    {"sack.marked",
     [](const Spot& at) {
       return edit_one(
           at, at.index.sack, "m says ECN-CE of a packet that came without",
           [&](const Entry& e) {
             const wire::Seth& s = *e.packet.seth;
             const log::Qp* qp = about(at, e);
             if (qp == nullptr || s.pr || s.m != 0) return false;
             const uint32_t psn = (s.cack_psn + static_cast<uint32_t>(static_cast<int32_t>(s.ack_psn_offset))) % kPsns;
             const auto qps = at.index.arrived.find(qp->qp);
             if (qps == at.index.arrived.end()) return false;
             const auto found = qps->second.find(psn & (kPsns - 1));
             return found != qps->second.end() &&
                    std::none_of(found->second.begin(), found->second.end(), [](const auto& a) { return a.marked; });
           },
           [](Packet& p, const Entry&) { p.seth->m = 1; });
     }},
    {"sack.dqp",
     [](const Spot& at) {
       return edit_one(at, at.index.sack, "a QP that nobody has", kAny,
                       [](Packet& p, const Entry&) { p.bth->dqp ^= 0x700000; });
     }},
    // ---- NACK, ACK, answers
    {"nack.psn",
     [](const Spot& at) {
       return edit_one(
           at, at.index.nack, "the NACK of a PSN that has not come",
           [&](const Entry& e) {
             const log::Qp* qp = about(at, e);
             return qp != nullptr &&
                    at.index.nothing_above(qp->qp, (e.packet.neth->nack_psn + 3000) % kPsns, time_at(at, e));
           },
           [](Packet& p, const Entry&) {
             p.neth->nack_psn = (p.neth->nack_psn + 3001) % kPsns;
             p.bth->psn = p.neth->nack_psn;
           });
     }},
    {"nack.reason",
     [](const Spot& at) {
       return edit_one(at, at.index.nack, "reason 0x55", kAny, [](Packet& p, const Entry&) { p.neth->reason = 0x55; });
     }},
    {"nack.entropy",
     [](const Spot& at) {
       return edit_one(at, at.index.nack, "an entropy value that no packet came with", kAny,
                       [](Packet& p, const Entry&) { p.neth->entropy ^= 0x00010100; });
     }},
    {"ack.msn",
     [](const Spot& at) {
       return edit_one(
           at, at.index.ack, "its MSN is 20000 higher", [](const Entry& e) { return e.packet.aeth->syndrome == 0x1f; },
           [](Packet& p, const Entry&) { p.aeth->msn = (p.aeth->msn + 20000) & 0xffffff; });
     }},
    {"ack.psn",
     [](const Spot& at) {
       return edit_one(
           at, at.index.ack, "its PSN has not come",
           [&](const Entry& e) {
             const log::Qp* qp = about(at, e);
             return qp != nullptr && at.index.nothing_above(qp->qp, (e.packet.bth->psn + 5000) % kPsns, time_at(at, e));
           },
           [](Packet& p, const Entry&) { p.bth->psn = (p.bth->psn + 5001) % kPsns; });
     }},
    {"ack.syndrome",
     [](const Spot& at) {
       return edit_one(
           at, at.index.ack, "a NAK for a message without error",
           [](const Entry& e) { return e.packet.aeth->syndrome == 0x1f; },
           [](Packet& p, const Entry&) { p.aeth->syndrome = 0x62; });
     }},
    {"endpoint.response-id",
     [](const Spot& at) {
       return edit_one(at, at.index.response, "answers a request that did not come", kAny,
                       [](Packet& p, const Entry&) { p.bth->psn ^= 0x5a5a; });
     }},
    // ---- memory and completions
    {"memory.byte",
     [](const Spot& at) -> std::optional<Mutant> {
       const std::size_t* w = pick(at.index.write, at.rng, [&](std::size_t i) {
         return !std::get<log::Host>(at.records[i].body).data.empty();
       });
       if (w == nullptr) return {};
       Record record = at.records[*w];
       auto& host = std::get<log::Host>(record.body);
       host.data[at.rng.below(host.data.size())] ^= 0x20;
       Mutant m;
       m.what = fmt::format("a write of {} bytes at {:#x} has another byte", host.bytes, host.addr);
       m.changes.push_back({*w, {std::move(record)}});
       return m;
     }},
    {"memory.address",
     [](const Spot& at) -> std::optional<Mutant> {
       const std::size_t* w = pick(at.index.write, at.rng, [](std::size_t) { return true; });
       if (w == nullptr) return {};
       Record record = at.records[*w];
       auto& host = std::get<log::Host>(record.body);
       host.addr ^= uint64_t{1} << 44;
       Mutant m;
       m.what = fmt::format("a write of {} bytes goes to {:#x}, where no region is", host.bytes, host.addr);
       m.changes.push_back({*w, {std::move(record)}});
       return m;
     }},
    {"memory.doubled",
     [](const Spot& at) -> std::optional<Mutant> {
       const std::size_t* w = pick(at.index.write, at.rng, [](std::size_t) { return true; });
       if (w == nullptr) return {};
       return twice(at, *w, 1, "a write comes twice");
     }},
    {"memory.lost",
     [](const Spot& at) -> std::optional<Mutant> {
       const std::size_t* w = pick(at.index.write, at.rng, [](std::size_t) { return true; });
       if (w == nullptr) return {};
       return drop(*w, "a write never comes");
     }},
    {"cqe.receive-doubled",
     [](const Spot& at) -> std::optional<Mutant> {
       const std::size_t* c = pick(at.index.cqe_recv, at.rng, [](std::size_t) { return true; });
       if (c == nullptr) return {};
       return twice(at, *c, 1, "a receive completion comes twice");
     }},
    {"cqe.receive-imm",
     [](const Spot& at) -> std::optional<Mutant> {
       const std::size_t* c = pick(at.index.cqe_recv, at.rng, [](std::size_t) { return true; });
       if (c == nullptr) return {};
       Record record = at.records[*c];
       std::get<log::Cqe>(record.body).imm ^= 0x80;
       Mutant m;
       m.what = "a receive completion has another immediate";
       m.changes.push_back({*c, {std::move(record)}});
       return m;
     }},
    {"cqe.send-doubled",
     [](const Spot& at) -> std::optional<Mutant> {
       const std::size_t* c = pick(at.index.cqe_send, at.rng, [](std::size_t) { return true; });
       if (c == nullptr) return {};
       return twice(at, *c, 1, "a completion comes twice");
     }},
    {"cqe.send-early",
     [](const Spot& at) -> std::optional<Mutant> {
       // At the time of the QP's first packet nothing can have been acknowledged.
       const std::size_t* c = pick(at.index.cqe_send, at.rng, [](std::size_t) { return true; });
       if (c == nullptr || at.index.first.empty()) return {};
       Record record = at.records[*c];
       record.time = at.records[at.index.first.front().index].time;
       Mutant m;
       m.what = "a completion comes before anything was acknowledged";
       m.changes.push_back({*c, {}});
       m.moved.push_back(std::move(record));
       return m;
     }},
};

}  // namespace

Mutator::Mutator(const std::vector<Record>& records, uint32_t device, const Profile& profile)
    : records_(records), device_(device), profile_(profile) {
  auto index = std::make_shared<Index>();
  index->wire = profile.wire();
  std::map<std::pair<uint32_t, uint32_t>, bool> sent;
  for (const Record& r : records) {
    if (r.device != device) continue;
    if (const auto* qp = std::get_if<log::Qp>(&r.body)) {
      const bool known = index->qps.count(qp->qp) != 0;
      if (known && (qp->state == log::QpState::Reset || qp->state == log::QpState::Init)) index->risky.insert(qp->qp);
      index->qps[qp->qp] = *qp;
    } else if (const auto* cqe = std::get_if<log::Cqe>(&r.body)) {
      if (cqe->status != log::Status::Ok) index->risky.insert(cqe->qp);
    }
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& r = records[i];
    if (r.device != device) continue;
    if (const auto* host = std::get_if<log::Host>(&r.body); host != nullptr && host->op == log::HostOp::Write) {
      index->write.push_back(i);
    } else if (const auto* cqe = std::get_if<log::Cqe>(&r.body)) {
      if (index->risky.count(cqe->qp) == 0) (cqe->receive ? index->cqe_recv : index->cqe_send).push_back(i);
    }
    const log::Frame* frame = frame_of(r);
    if (frame == nullptr || (frame->flags & (log::kFcsBad | log::kCut)) != 0) continue;
    Packet p = wire::decode(frame->bytes, index->wire);
    if (!p.bth || (p.error && p.error->code != wire::ErrorCode::BadIcrc)) continue;
    if (!frame->sent) {
      if (data(p) || p.trimmed())
        index->arrived[p.bth->dqp][p.bth->psn].push_back({frame->last, i, p.trimmed(), p.ecn() == 3});
      continue;
    }
    if (p.error) continue;
    const auto opcode = static_cast<Opcode>(p.bth->opcode);
    if (opcode == Opcode::EndpointResponse)
      index->response.push_back({i, std::move(p)});
    else if (index->qp_of_peer(p) == nullptr)
      continue;
    else if (data(p))
      (p.bth->rtx ? index->again : index->first).push_back({i, std::move(p)});
    else if (opcode == Opcode::Sack)
      index->sack.push_back({i, std::move(p)});
    else if (opcode == Opcode::Nack)
      index->nack.push_back({i, std::move(p)});
    else if (opcode == Opcode::Ack)
      index->ack.push_back({i, std::move(p)});
  }
  index_ = std::move(index);
}

std::optional<Mutant> Mutator::draw(std::size_t kind, Rng& rng) const {
  auto mutant = kKinds[kind].draw({records_, *index_, rng});
  if (mutant) mutant->kind = kKinds[kind].name;
  return mutant;
}

std::size_t Mutator::num_kinds() { return std::size(kKinds); }
const char* Mutator::kind_name(std::size_t kind) { return kKinds[kind].name; }

std::vector<Record> apply(const std::vector<Record>& records, const Mutant& mutant) {
  std::vector<Record> out;
  out.reserve(records.size() + 2);
  std::size_t change = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (change < mutant.changes.size() && mutant.changes[change].index == i) {
      for (const Record& r : mutant.changes[change].instead) out.push_back(r);
      ++change;
    } else {
      out.push_back(records[i]);
    }
  }
  for (const Record& r : mutant.moved) {
    const auto place = std::find_if(out.begin(), out.end(), [&](const Record& o) { return o.time > r.time; });
    out.insert(place, r);
  }
  return out;
}

std::vector<Record> blur(const std::vector<Record>& records, Time skew, Rng& rng) {
  std::vector<Record> out;
  std::map<std::pair<uint32_t, uint32_t>, Time> newest;  // (device, plane and direction): end of its newest frame
  // A counter that nobody read; completions of WRITEs that went well, of which the host does not tell. Those of
  // immediates stay: their order is judged.
  const bool counters = rng.chance(0.5);
  const double unreported = rng.chance(0.5) ? 0.25 : 0;
  for (const Record& r : records) {
    if (std::holds_alternative<log::Event>(r.body)) continue;
    if (!counters && std::holds_alternative<log::Counter>(r.body)) continue;
    const auto* cqe = std::get_if<log::Cqe>(&r.body);
    if (cqe != nullptr && !cqe->receive && cqe->status == log::Status::Ok && rng.chance(unreported)) continue;
    out.push_back(r);
    auto* frame = std::get_if<log::Frame>(&out.back().body);
    if (frame == nullptr || skew == 0) continue;
    // Later by up to the skew, but not past the frame before it on its port.
    Time& end = newest[{r.device, frame->plane * 2u + frame->sent}];
    const Time length = frame->last - r.time;
    out.back().time = std::max(end, r.time + rng.below(skew));
    frame->last = out.back().time + length;
    frame->error += skew;
    end = frame->last;
  }
  std::stable_sort(out.begin(), out.end(), [](const Record& a, const Record& b) { return a.time < b.time; });
  return out;
}

}  // namespace mrc::ref

// SPDX-License-Identifier: Apache-2.0
#include "log/conversations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <tuple>

#include "log/conversation_flow.hpp"
#include "log/digest.hpp"
#include "log/packet.hpp"
#include "log/unwrap.hpp"
#include "log/votes.hpp"

namespace mrc::log {
namespace {

using namespace conversation;

constexpr Seq kWindow = 4096;       ///< the largest window: 32 units of 128 PSNs
constexpr Seq kKept = 4 * kWindow;  ///< PSNs of a flow that are held at most
constexpr Seq kLeastPsns = 64;      ///< PSNs of a flow that are held although there are too many
constexpr Seq kSkip = 512;          ///< so many PSNs that were not seen, in one step, may be another life's
constexpr unsigned kAnew = 6;       ///< so many packets in a row that only a QP set up again sends
constexpr uint64_t kFew = 8;        ///< packets of a flow, none of them acknowledged
constexpr unsigned kBegun = 3;      ///< of several QPs, one counts for so many that begins at the first PSN again
constexpr uint32_t kBytesWrap = 0xF0'0000;  ///< above this rcvd_bytes may begin anew by itself
constexpr uint32_t kGrantUnit = 128;        ///< PSNs
constexpr uint32_t kStandIn = 0x8000'0000;
constexpr std::size_t kMostAlike = 64;  ///< flows to QPs of the same number that are asked
constexpr std::size_t kMostLives = 64;  ///< of a QP
constexpr Time kEver = ~Time{0};
constexpr Time kTogether = 1'000'000'000;  ///< within that the QPs of a NIC are set up anew that begins anew
constexpr std::size_t kMostUnknown = 16;   ///< answers of a flow

/// Bytes of payload on the wire, of a frame that was cut as well.
uint32_t payload_of(const wire::Packet& p) {
  const std::size_t headers = wire::Udp::kBytes + wire::Bth::kBytes + wire::Meth::kBytes + wire::Reth::kBytes +
                              (p.tseth ? wire::Tseth::kBytes : 0) + (p.immdt ? wire::Immdt::kBytes : 0) + 4 +
                              p.bth->pad_count;
  return p.udp->length < headers ? 0 : static_cast<uint32_t>(p.udp->length - headers);
}

}  // namespace

std::size_t Conversations::Hash::operator()(const Key& key) const {
  std::array<uint8_t, 40> bytes{};
  std::ranges::copy(key.source, bytes.begin());
  std::ranges::copy(key.destination, bytes.begin() + 16);
  std::memcpy(bytes.data() + 32, &key.dqp, 4);
  std::memcpy(bytes.data() + 36, &key.life, 4);
  return digest(bytes);
}

Conversations::Conversations(Lives lives) : lives_(std::move(lives)), given_(!lives_.empty()) {}
Conversations::Conversations(Conversations&&) noexcept = default;
Conversations& Conversations::operator=(Conversations&&) noexcept = default;
Conversations::~Conversations() = default;

Conversations::Flow* Conversations::flow_of(const Key& key) {
  const auto [at, fresh] = index_.try_emplace(key, nullptr);
  if (!fresh) return at->second;
  if (flows_.size() >= kMostFlows) {
    index_.erase(at);
    ++beyond_;
    return nullptr;
  }
  const auto of = flows_.emplace(key, std::make_unique<Flow>()).first;
  Flow* const flow = at->second = of->second.get();
  flow->key = &of->first;
  of_number_[key.dqp].push_back(flow);
  return flow;
}

Conversations::Key Conversations::key_of(const Ip& source, const Ip& destination, uint32_t dqp, Time time) const {
  Key key{source, destination, dqp};
  if (lives_.empty()) return key;
  const auto at = lives_.find(key.way());
  if (at == lives_.end()) return key;
  const auto [begin, end] = std::pair(at->second.begin(), at->second.upper_bound(time));
  key.life = static_cast<uint32_t>(std::distance(begin, end));
  return key;
}

Conversations::Flow* Conversations::find(const Key& key) const {
  const auto at = flows_.find(key);
  return at == flows_.end() ? nullptr : at->second.get();
}

std::optional<Time> Conversations::silence(const Flow& flow, Time now, Time begun) const {
  auto [from, to] = flow.silent_until(now);
  uint32_t own = 0;
  if (const Flow* const back = way_back(flow, own)) {
    const auto theirs = back->silent_until(now);
    from = std::max(from, theirs.first);
    to = std::min(to, theirs.second);
  }
  to = std::min(to, begun);
  if (to < from + kSilence) return {};
  return from + (to - from) / 2;
}

void Conversations::row(Flow& flow, Row& row, bool more, bool first, const CapturedAt& at, Time begun) {
  if (!more) row = {};
  if (!more || flow.anew) return;
  if (flow.contrary.packets == 0) {
    const auto [from, to] = flow.silent;
    flow.contrary_since = at.time <= to + kTogether ? from : at.time - kTogether;
  }
  flow.contrary.add(at);
  if (row.packets++ == 0 && first) row.since = silence(flow, at.time, begun);
  begins_anew(flow, row, at);
}

void Conversations::begins_anew(Flow& flow, const Row& row, const CapturedAt& at) {
  if (row.packets < kAnew || flow.anew) return;
  flow.anew = true;
  flow.anew_at = at;
  if (given_ || !row.since) return;
  uint32_t own = 0;
  for (const Flow* const one : {static_cast<const Flow*>(&flow), way_back(flow, own)}) {
    if (one == nullptr) continue;
    std::set<Time>& begins = lives_[one->key->way()];
    if (begins.size() < kMostLives) begins.insert(*row.since);
  }
}

void Conversations::end() {
  for (auto& [key, flow] : flows_) {
    flow->unread |= on_way(unread_, {key.source, key.destination});
    flow->whole = flow->whole_from();
    flow->over = true;
    flow->psns = {};
    flow->more.clear();
  }
  psns_ = 0;
}

void Conversations::packet(const wire::Packet& p, const wire::WireConfig& wire, const CapturedAt& at) {
  // What is not whole has no right ICRC; what was damaged under way is in no log.
  const bool read = !p.error || p.error->code == wire::ErrorCode::BadIcrc;
  const bool right = p.bth && p.udp && (p.ipv6 || p.ipv4) && read;
  if (!right || p.bth->dqp == wire::kEndpointDqp) return;
  const Key key = key_of(mapped_source(p), mapped_destination(p), p.bth->dqp, at.time);
  Flow* const flow = flow_of(key);
  if (flow == nullptr) return;
  flow->seen_at(at.time);
  if (!p.trimmed()) {
    ++flow->own;
    flow->pkey.add(p.bth->p_key, at);
    flow->encap.add(p.ipv4 ? 3 : p.srh ? 2 : p.outer_ipv6 ? 1 : 0, at);
  }
  if (p.seth) {
    flow->mpr.add(p.seth->mpr != 0, at);
    if (p.seth->mpr != 0) flow->granted.add(p.seth->mpr, at);
  }
  const auto pdcids = [&](uint16_t source, uint16_t destination) {
    flow->pdcid.add(source != 0 || destination != 0, at);
    if (source == 0 && destination == 0) return;  // a choice, no other QP's
    const auto usual = flow->spdcid.most();
    // When that began answers show by what they name.
    flow->pdcid_row.since = flow->other_row.since;
    row(*flow, flow->pdcid_row, usual && *usual != source, false, at);
    flow->spdcid.add(source, at);
  };
  if (p.seth) pdcids(p.seth->spdcid, p.seth->dpdcid);
  if (p.neth) pdcids(p.neth->spdcid, p.neth->dpdcid);
  if (p.peth) pdcids(p.peth->spdcid, p.peth->dpdcid);
  const wire::OpcodeInfo* const info = wire::opcode_info(p.bth->opcode);
  if (info != nullptr && info->payload) {
    data(*flow, p, p.entropy(wire), at);
  } else if (p.seth || p.neth) {
    answer(*flow, key, p, at);
  }
}

void Conversations::again(const wire::Packet& p, Time time) {
  if (!p.bth || p.ecn() != 3 || (!p.ipv6 && !p.ipv4)) return;
  Flow* const flow = find(key_of(mapped_source(p), mapped_destination(p), p.bth->dqp, time));
  if (flow == nullptr || flow->sent == 0) return;
  Flow& f = *flow;
  f.marked_later |= f.any_copy(unwrap(p.bth->psn, f.top), [](const Copy& c) { return !c.ce; });
}

void Conversations::cut(const wire::Packet& p) {
  if (cut_.size() >= kMostFlows) return;
  if (p.outer_ipv6) cut_.emplace(p.outer_ipv6->src, Ip{});
  if (p.ipv6 || p.ipv4) cut_.emplace(mapped_source(p), mapped_destination(p));
}

/// Whether some of what goes from an address to another one was cut inside its headers.
bool Conversations::own_unread(const Ip& source, const Ip& destination) const {
  for (auto at = flows_.lower_bound({source, destination, 0});
       at != flows_.end() && at->first.source == source && at->first.destination == destination; ++at) {
    if (at->second->unread) return true;
  }
  return on_way(cut_, {source, destination});
}

void Conversations::unread(const wire::Packet& p, const wire::WireConfig& wire, const CapturedAt& at) {
  if (!p.bth) {
    if (unread_.size() >= kMostFlows) return;
    if (p.ipv6 || p.ipv4) {
      unread_.emplace(mapped_source(p), mapped_destination(p));
    } else if (p.outer_ipv6) {
      unread_.emplace(p.outer_ipv6->src, Ip{});
    }
    return;
  }
  if (!p.ipv6 && !p.ipv4) return;
  Flow* const flow = flow_of(key_of(mapped_source(p), mapped_destination(p), p.bth->dqp, at.time));
  if (flow == nullptr) return;
  flow->seen_at(at.time);
  flow->own += p.trimmed() ? 0 : 1;
  flow->unread = true;
  const wire::OpcodeInfo* const info = wire::opcode_info(p.bth->opcode);
  // A switch may have cut it, too: then it is no new packet, and nothing tells that.
  if (info != nullptr && info->payload && !p.error) data(*flow, p, p.entropy(wire), at, false);
}

void Conversations::data(Flow& f, const wire::Packet& p, uint32_t entropy, const CapturedAt& at, bool read) {
  const std::size_t before = f.psns.size();
  note(f, p, entropy, at, read);
  if (psns_ + f.psns.size() - before > kMostPsns) f.forget(f.top - kLeastPsns);
  psns_ += f.psns.size() - before;
}

void Conversations::note(Flow& f, const wire::Packet& p, uint32_t entropy, const CapturedAt& at, bool read) {
  const bool fresh = p.bth->rtx == 0 && !p.trimmed();
  const auto opcode = static_cast<wire::Opcode>(p.bth->opcode);
  const bool fills_mtu = opcode == wire::Opcode::WriteFirst || opcode == wire::Opcode::WriteMiddle;
  if (read && p.reth && !p.trimmed() && fills_mtu) f.mtu.add(payload_of(p), at);
  if (!p.trimmed()) {
    (p.bth->rtx == 0 ? f.dscp : f.dscp_again).add(p.dscp(), at);
    if (read) f.stamps.add(p.tseth.has_value(), at);
  }
  f.planes[at.plane].add(at);
  f.sent_since += fresh || p.bth->rtx != 0;
  const bool first = f.sent_since == 1;
  if (f.anew) return;
  f.psn_range.add(p.bth->psn, 24, at);
  if (read && p.meth) {
    f.msn_range.add(p.meth->msn, 16, at);
    const bool immediate = opcode == wire::Opcode::WriteLastImm || opcode == wire::Opcode::WriteOnlyImm;
    if (immediate) f.rqmsn_range.add(p.meth->rqmsn, 16, at);
  }
  if (f.sent++ == 0) f.base = f.top = f.lowest = Seq{p.bth->psn};
  const Seq psn = unwrap(p.bth->psn, f.top);
  if (psn > f.top + kWindow + kBegin || psn < f.top - kKept + kWindow) {
    // Outside of every window: wrong, or the QP was set up again and goes on from there.
    if (!fresh) return;
    ++f.odd;
    if (std::abs(psn - f.odd_next) >= kBegin) f.odd_row = {};
    f.odd_next = psn + 1;
    return row(f, f.odd_row, true, first, at);
  }
  while (psn < f.base && f.base > f.top - kKept) {
    f.psns.emplace_front();
    --f.base;
  }
  if (psn < f.base) return;
  if (psn - f.base >= static_cast<Seq>(f.psns.size())) f.psns.resize(static_cast<std::size_t>(psn - f.base) + 1);
  Psn& one = *f.find(psn);
  // What a QP sends again has rtx; new packets that come again in a row, or below all others, are of another life.
  const bool below = fresh && psn < f.lowest && f.sent > 64;
  if (fresh && (one.fresh || below)) {
    ++f.again;
    const bool begun = psn == f.lowest && f.first.differs(first_of(p));
    f.begun += begun;
    if (std::abs(psn - f.again_next) >= 16) f.again_row = {};
    f.again_next = psn + 1;
    row(f, f.again_row, true, first, at);
    // Too little is known of a flow of which nothing was acknowledged by then to call that a mistake.
    if (begun && !f.cack && f.sent <= kFew && f.again_row.packets < kAnew) {
      f.again_row.packets = kAnew;
      begins_anew(f, f.again_row, at);
    }
  }
  if (fresh && f.sent <= 64 && (psn < f.lowest || (psn == f.lowest && !one.fresh))) {
    f.lowest = psn;
    f.first = first_of(p);
  }
  one.fresh |= fresh;
  if (fresh && read && p.meth && psn >= f.top) {
    f.skipped |= f.sent > 64 && psn > f.top + kSkip;
    // One less may be an error in one message, but not behind PSNs that nobody sent.
    const int more = f.msn ? static_cast<int16_t>(static_cast<uint16_t>(p.meth->msn - *f.msn)) : 0;
    const bool anew = more < (f.skipped ? 0 : -1) && !f.msn_alone;
    if (!anew) {
      // More messages than PSNs: that packet may be wrong, and those behind it are not of another life.
      f.msn_alone = !f.msn || more > psn - f.msn_psn;
      f.msn = p.meth->msn;
      f.msn_psn = psn;
    }
    row(f, f.msn_row, anew, first, at);
  }
  const bool stamped = read && p.tseth;
  const uint16_t stamp = stamped ? p.tseth->tx_timestamp16 : uint16_t{0};
  f.add(psn, {entropy, stamp, stamped, p.ecn() == 3, p.trimmed()});
  f.top = std::max(f.top, psn + 1);
  f.forget(std::max(f.top - kKept, f.cack ? std::min(*f.cack, f.top) - kTail : f.top - kKept));
}

Conversations::Flow* Conversations::answered(Flow& back, const Key& key, uint32_t psn, uint32_t entropy, bool probe,
                                             const CapturedAt& at) {
  const auto named = [&](Flow& f) {
    return f.sent != 0 && f.any_copy(unwrap(psn, f.top), [&](const Copy& c) { return c.entropy == entropy; });
  };
  Flow* known = nullptr;
  if (back.names.all() >= kLeastAnswers) {
    if (const auto most = back.names.most()) {
      known = find(key_of(key.destination, key.source, *most, at.time));
      if (probe || known == nullptr || named(*known)) {
        if (!probe) back.other_row = {};
        return known;
      }
    }
  }
  for (auto of = flows_.lower_bound({key.destination, key.source, 0});
       of != flows_.end() && of->first.source == key.destination && of->first.destination == key.source; ++of) {
    const Key& flow = of->first;
    if (key_of(flow.source, flow.destination, flow.dqp, at.time) != flow || !named(*of->second)) continue;
    if (known == nullptr) {
      back.names.add(of->first.dqp, at);
      if (back.names.all() == kLeastAnswers) {
        Flow& f = *of->second;
        for (const auto& [psn_before, entropy_before] : back.unknown) {
          const auto is = [entropy = entropy_before](const Copy& c) { return c.entropy == entropy; };
          if (f.any_copy(unwrap(psn_before, f.top), is)) continue;
          ++f.strays;
          astray(f, psn_before, entropy_before);
        }
      }
      return of->second.get();
    }
    // Another QP's packets are named, and those of the known one no more: the peer's QP of another life.
    row(back, back.other_row, true, back.said_since == 1, at, of->second->oldest);
    return nullptr;
  }
  if (known == nullptr && !probe && back.unknown.size() < kMostUnknown) back.unknown.emplace_back(psn, entropy);
  return known;
}

/// Nothing that was seen of the flow is what an answer names: packets of the same QP may have other addresses.
void Conversations::astray(Flow& flow, uint32_t psn, uint32_t entropy) {
  const std::vector<Flow*>& some = of_number_[flow.key->dqp];
  for (Flow* const other : std::span(some).first(std::min(some.size(), kMostAlike))) {
    if (other->key->way() == flow.key->way() || other->sent == 0) continue;
    if (!other->any_copy(unwrap(psn, other->top), [&](const Copy& c) { return c.entropy == entropy; })) continue;
    flow.elsewhere = other->elsewhere = true;
  }
}

void Conversations::answer(Flow& back, const Key& key, const wire::Packet& p, const CapturedAt& at) {
  if (p.trimmed()) return;
  const uint32_t psn = p.neth ? p.neth->nack_psn
                              : (p.seth->cack_psn + static_cast<uint32_t>(int32_t{p.seth->ack_psn_offset})) & 0xFFFFFF;
  const uint32_t entropy = p.neth ? p.neth->entropy : p.seth->entropy;
  const bool probe = p.seth && p.seth->pr != 0;
  back.said_since += probe ? 0 : 1;
  Flow* const f = answered(back, key, psn, entropy, probe, at);
  if (f == nullptr || f->sent == 0 || f->anew) return;
  bool stray = false;
  if (p.seth) {
    const Seq cack = unwrap(p.seth->cack_psn, f->top);
    // Of a life that has sent no data yet: probes are answered with its PSNs.
    row(*f, f->cack_row, cack < f->base - kKept || cack > f->top + kKept, false, at);
    stray = cack >= f->top || f->names_unseen(cack + p.seth->sack_offset, p.seth->sack_bitmap);
    if (p.cc_state && (!f->cack || cack > *f->cack)) {
      const uint32_t now = p.cc_state->rcvd_bytes, scale = f->skipped ? 1 : 2;
      const uint32_t least = std::min(f->rcvd.value_or(0), f->rcvd_before.value_or(0));
      const bool less = least < kBytesWrap && scale * now < least;
      if (!less) {
        f->rcvd_before = f->rcvd;
        f->rcvd = now;
      }
      row(*f, f->rcvd_row, less, false, at);  // the life began when the first of these was sent
    }
    if (cack < f->top && cack >= f->base - kTail && (!f->cack || cack > *f->cack)) f->acknowledged(cack);
  }
  const Seq named = unwrap(psn, f->top);
  const Psn* const one = probe ? nullptr : f->find(named);
  if (one == nullptr || one->count == 0) {
    ++(stray || one != nullptr ? f->strays : f->fits);
    if (!probe) astray(*f, psn, entropy);
    return;
  }
  f->answered.add(at);
  const bool nack = p.neth && (p.neth->reason == 1 || p.neth->reason == 2);
  if (nack) f->nacks.add(at);
  const uint16_t reflected = p.neth ? p.neth->tx_timestamp16 : p.cc_state ? p.cc_state->tx_timestamp16 : uint16_t{0};
  bool any = false, trimmed = false, marked = false, stamped = false, same = false;
  for (std::size_t i = 0; i < one->copies(); ++i) {
    const Copy c = f->copy(named, i);
    if (c.entropy != entropy) continue;
    any = true;
    trimmed |= c.trimmed;
    marked |= c.ce;
    stamped |= c.stamped;
    same |= c.stamped && reflected == c.stamp;
  }
  if (stamped && !same && one->count <= kMostCopies) f->moved_by.add(at);
  ++(stray || (!any && one->count <= kMostCopies) ? f->strays : f->fits);
  if (!any) return astray(*f, psn, entropy);
  const auto fits = [&](bool so, Shown& yes, uint64_t& no) { so ? yes.add(at) : static_cast<void>(++no); };
  if (nack) fits(trimmed, f->trims, f->not_trimmed);
  if (p.seth && p.seth->m == 1) fits(marked, f->marks, f->not_marked);
}

/// The flow the other way of the same conversation, and the QP that it goes to.
const Conversations::Flow* Conversations::way_back(const Flow& flow, uint32_t& own) const {
  const Key& key = *flow.key;
  const auto now = [&](uint32_t dqp) { return key_of(key.destination, key.source, dqp, flow.oldest); };
  const auto of = [&](uint32_t dqp) {
    own = dqp;
    return find(now(dqp));
  };
  std::vector<uint32_t> fits, numbers;
  const auto source = flow.pdcid.most().value_or(false) ? flow.spdcid.most() : std::nullopt;
  // A few answers may name another QP's packet of the same PSN and entropy value; spdcid tells then.
  const auto sure = [&](const Flow& by, uint32_t number) {
    return by.names.all() >= kLeastAnswers || !source || *source == (number & 0xFFFF);
  };
  if (const auto named = flow.names.most(); named && sure(flow, *named)) return of(*named);
  for (auto at = flows_.lower_bound({key.destination, key.source, 0});
       at != flows_.end() && at->first.source == key.destination && at->first.destination == key.source; ++at) {
    if (now(at->first.dqp) != at->first) continue;
    if (at->second->names.most() == key.dqp && sure(*at->second, at->first.dqp)) fits.push_back(at->first.dqp);
    if (source && (at->first.dqp & 0xFFFF) == *source) numbers.push_back(at->first.dqp);
  }
  if (fits.size() == 1) return of(fits.front());
  if (fits.empty() && numbers.size() == 1) return of(numbers.front());
  return nullptr;
}

std::size_t Conversations::lives_of(const Way& way) const {
  const auto& [source, destination, dqp] = way;
  const auto from = flows_.lower_bound({source, destination, dqp, 0});
  return static_cast<std::size_t>(std::distance(from, flows_.upper_bound({source, destination, dqp, ~uint32_t{0}})));
}

bool Conversations::life_known(const Flow& flow) const { return !given_ && lives_.contains(flow.key->way()); }

/// Where a NIC begins anew, all of its QPs do: one packet is enough of a QP that has too few.
bool Conversations::anew_with_others(const Flow& flow, const Begins& begins) const {
  if (flow.contrary.packets == 0 || life_known(flow)) return false;
  Time since = flow.contrary_since, until = flow.contrary.last.time + kTogether;
  if (lives_.contains(flow.key->way())) {  // what begins before and behind is this life, and the next one
    since = std::max(since, flow.oldest);
    until = std::min(until, flow.newest);
  }
  return std::ranges::any_of(std::array{flow.key->source, flow.key->destination}, [&](const Ip& ip) {
    const auto some = begins.find(ip);
    if (some == begins.end()) return false;
    const auto at = some->second.lower_bound(since);
    return at != some->second.end() && *at <= until;
  });
}

/// A QP that is set up again shows that by itself; several may show it together.
Conversations::Begins Conversations::begins() const {
  Begins begins;
  std::map<Ip, std::vector<std::pair<Time, uint64_t>>> contrary;  // of QPs: since, packets
  const auto begun = [&](const Ip& source, const Ip& destination, Time time) {
    begins[source].insert(time);
    begins[destination].insert(time);
  };
  for (const auto& [way, times] : lives_) {
    for (const Time time : times) begun(std::get<0>(way), std::get<1>(way), time);
  }
  for (const auto& [key, flow] : flows_) {
    if (flow->anew) begun(key.source, key.destination, flow->anew_at.time);
    if (flow->anew || flow->contrary.packets == 0) continue;
    for (const Ip& ip : {key.source, key.destination}) {
      contrary[ip].emplace_back(flow->contrary.first.time, flow->contrary.packets + (kBegun - 1) * flow->begun);
    }
  }
  for (auto& [ip, some] : contrary) {
    std::ranges::sort(some);
    uint64_t packets = 0;
    for (std::size_t i = 0, from = 0; i < some.size(); ++i) {
      packets += some[i].second;
      for (; some[from].first + kTogether < some[i].first; ++from) packets -= some[from].second;
      if (from < i && packets >= kAnew) begins[ip].insert(some[from].first);
    }
  }
  return begins;
}

std::set<Conversations::Way> Conversations::mixed_up() const {
  std::set<Way> mixed;
  const Begins all_begins = begins();
  for (const auto& [key, flow] : flows_) {
    if (flow->anew || anew_with_others(*flow, all_begins)) mixed.insert(key.way());
    const auto begins = lives_.find(key.way());
    if (begins == lives_.end()) continue;
    const Flow& f = *flow;
    const bool near = std::ranges::any_of(begins->second, [&f](Time begin) {
      return f.oldest < begin + kSilence / 2 && f.newest + kSilence / 2 > begin;
    });
    uint32_t own = 0;
    const bool known = given_ && f.own >= kLeastPackets && way_back(f, own) != nullptr;
    if (near || !known) mixed.insert(key.way());
  }
  return mixed;
}

/// A QP in one life, by the flow that it sends.
struct Conversations::Reported {
  Qp qp;
  const Key *key, *back;
  Time since = 0, until = kEver;
  /// The life that a way has in between.
  void within(const Lives& lives, const Key& way) {
    const auto at = lives.find(way.way());
    if (at == lives.end()) return;
    const auto end = std::next(at->second.begin(), way.life);
    if (way.life != 0) since = std::max(since, *std::prev(end));
    if (end != at->second.end()) until = std::min(until, *end);
  }
};

/// Where one life of a way is not told, a packet of it would be taken for another one's.
void Conversations::leave_whole(std::map<uint32_t, std::vector<Reported>>& found) const {
  for (bool again = !lives_.empty(); again;) {
    std::map<std::pair<bool, Way>, std::size_t> reported;
    for (const auto& [number, some] : found) {
      for (const Reported& one : some) {
        ++reported[{false, one.key->way()}];
        if (one.back != nullptr) ++reported[{true, one.back->way()}];
      }
    }
    const auto all = [&](bool back, const Key& key) { return reported[{back, key.way()}] == lives_of(key.way()); };
    again = false;
    for (auto& [number, some] : found) {
      again |= 0 != std::erase_if(some, [&](const Reported& one) {
                 return !all(false, *one.key) || (one.back != nullptr && !all(true, *one.back));
               });
    }
  }
}

std::vector<QpChange> Conversations::qps(std::span<const Ip> addresses) const {
  const std::set<Way> mixed = mixed_up();
  std::map<uint32_t, std::vector<Reported>> found;  // by own number
  std::set<std::pair<uint32_t, uint32_t>> anew;     // QPs at both ends of ways that began anew
  for (const auto& [key, flow] : flows_) {
    if (std::ranges::find(addresses, key.source) == addresses.end()) continue;
    uint32_t own = 0;
    const Flow* const back = way_back(*flow, own);
    if (mixed.contains(key.way()) || (back != nullptr && mixed.contains(back->key->way()))) {
      anew.emplace(own, key.dqp);
      continue;
    }
    if (flow->own < kLeastPackets) continue;
    Qp qp;
    qp.flags = kInferred;
    qp.state = QpState::Rts;
    qp.peer_qp = key.dqp;
    qp.qp = own;
    if (back == nullptr) {
      qp.flags |= kNumberless;
      for (qp.qp = kStandIn | key.dqp; found.contains(qp.qp);) qp.qp += 1u << 24;
    }
    // Packets from another address of the NIC may be of the same QP.
    const uint32_t widest = addresses.size() == 1 ? 4096 : 0;
    qp.mtu = flow->mtu.all() == 0 ? widest : flow->mtu.most().value_or(0);
    qp.sq_psn = static_cast<uint32_t>(flow->whole_from().value_or(flow->lowest) & 0xFFFFFF);
    qp.mpr = qp.mpr_dest = kWindow / 128;
    const auto grants = [](const Flow* f) { return f != nullptr && f->mpr.most().value_or(false); };
    qp.dynamic_mpr = grants(flow.get()) || grants(back);
    qp.timeout = 0;
    qp.pkey = flow->pkey.best().value_or(0);
    qp.encap = flow->encap.best().value_or(0);
    qp.own_ip = key.source;
    qp.peer_ip = key.destination;
    if (flow->pdcid.all() != 0 && !flow->pdcid.best().value_or(true)) qp.flags |= kNoPdcid;
    if (back != nullptr) {
      const auto whole = back->whole_from();
      qp.rq_psn = static_cast<uint32_t>(whole.value_or(back->lowest) & 0xFFFFFF);
      if (whole && !lost_) qp.flags |= kSeenWhole;
      if (own_unread(key.source, key.destination)) qp.flags |= kOwnUnread;
      qp.svc_time = back->moved_by.packets != 0;
      if (back->seen_trims()) qp.flags |= kSeenTrims;
      if (back->seen_marks()) qp.flags |= kSeenMarks;
    }
    Reported reported{std::move(qp), &key, back == nullptr ? nullptr : back->key};
    reported.within(lives_, key);
    if (back != nullptr) reported.within(lives_, *back->key);
    const auto holds = [&](const Flow* f) {
      return f == nullptr || (f->oldest >= reported.since && f->newest < reported.until);
    };
    if (holds(flow.get()) && holds(back)) found[reported.qp.qp].push_back(std::move(reported));
  }
  // A NIC with an address per plane has several ways of a QP: what one of them shows is true of all.
  // Where no frame names the number of one of them, it may be any of the others.
  const auto begins = [&](uint32_t number, uint32_t peer) {
    return anew.contains({number, peer}) || (addresses.size() > 1 && std::ranges::any_of(anew, [&](const auto& qp) {
                                               return qp.second == peer && (qp.first == 0 || (number & kStandIn) != 0);
                                             }));
  };
  for (auto& [number, some] : found) {
    std::erase_if(some, [&, own = number](const Reported& one) { return begins(own, one.qp.peer_qp); });
  }
  std::set<uint32_t> granting;  // so is a window that SACKs of one way to a QP grant
  for (const auto& [number, some] : found) {
    for (const Reported& one : some) {
      if (one.qp.dynamic_mpr && addresses.size() > 1) granting.insert(one.qp.peer_qp);
    }
  }
  for (auto& [number, some] : found) {
    for (Reported& one : some) one.qp.dynamic_mpr |= granting.contains(one.qp.peer_qp);
  }
  leave_whole(found);
  std::vector<QpChange> qps;
  for (auto& [number, some] : found) {
    std::ranges::sort(some, {}, &Reported::since);
    const auto mixed_with = [](const Reported& one, const Reported& next) { return next.since < one.until; };
    if (std::ranges::adjacent_find(some, mixed_with) != some.end()) continue;
    for (Reported& one : some) {
      qps.push_back({one.since, one.qp});
      if (one.until == kEver) continue;
      one.qp.state = QpState::Reset;
      qps.push_back({one.until, std::move(one.qp)});
    }
  }
  std::ranges::stable_sort(
      qps, {}, [](const QpChange& change) { return std::pair(change.time, change.qp.state != QpState::Reset); });
  return qps;
}

std::vector<FactsOfWay> Conversations::facts() const {
  static constexpr std::array kEncap{"IPv6", "IPv6 in IPv6", "IPv6 in IPv6 with SRH", "IPv4"};
  const std::set<Way> mixed = mixed_up();
  std::vector<FactsOfWay> all;
  for (const auto& [key, flow] : flows_) {
    if (flow->sent == 0) continue;
    const Flow& f = *flow;
    if (all.empty() || std::tie(all.back().from, all.back().to, all.back().dqp) != key.way()) {
      all.push_back({key.source, key.destination, key.dqp, {}});
    }
    std::vector<Fact>& facts = all.back().facts;
    const auto add = [&](const char* about, std::string value, const Shown& by) {
      if (by.packets != 0) facts.push_back({about, std::move(value), by.packets, by.first, by.last});
    };
    if (const std::size_t lives = lives_of(key.way()); lives > 1) {
      const char* const rests = mixed.contains(key.way()) ? ": what needs a QP rests" : "";
      add("life", fmt::format("{} of {}{}", key.life + 1, lives, rests), f.psn_range.by);
    }
    if (f.anew) {
      facts.push_back({"life", "set up anew: what needs a QP rests", kAnew, f.anew_at, f.anew_at});
    } else if (f.contrary.packets != 0 && !life_known(f) && mixed.contains(key.way())) {
      add("life", "set up anew with others of its NIC: what needs a QP rests", f.contrary);
    }
    uint32_t own = 0;
    if (const Flow* const back = way_back(f, own)) {
      // Either way's answers name the other one's packets.
      const bool theirs = back->names.most() == key.dqp;
      const Shown names = theirs ? back->names.shown(key.dqp) : f.names.shown(own);
      add("sender's QP",
          names.packets != 0 ? fmt::format("0x{:x}, by what answers name", own) : fmt::format("0x{:x}, by spdcid", own),
          names.packets != 0 ? names : back->spdcid.shown(back->spdcid.most().value_or(0)));
      if (back->mpr.most().value_or(false)) add("window", "granted by SACKs", back->mpr.shown(true));
      add("largest grant", fmt::format("{} PSNs", kGrantUnit * back->granted.value), back->granted.by);
      if (back->pdcid.most() == false) add("pdcids", "0", back->pdcid.shown(false));
    }
    add("PSNs", f.psn_range.text(), f.psn_range.by);
    add("MSNs", f.msn_range.text(), f.msn_range.by);
    add("RQMSNs", f.rqmsn_range.text(), f.rqmsn_range.by);
    for (const auto& [plane, by] : f.planes) add("plane", std::to_string(plane), by);
    if (const auto value = f.pkey.best()) add("P_Key", fmt::format("0x{:04x}", *value), f.pkey.shown(*value));
    if (const auto value = f.dscp.best()) add("code point of data", std::to_string(*value), f.dscp.shown(*value));
    if (const auto value = f.dscp_again.best()) {
      add("code point of retransmissions", std::to_string(*value), f.dscp_again.shown(*value));
    }
    if (const auto value = f.encap.best()) add("headers", kEncap[*value & 3], f.encap.shown(*value));
    if (const auto value = f.mtu.most()) add("path MTU", std::to_string(*value), f.mtu.shown(*value));
    for (const bool value : {true, false}) add("time stamps", value ? "in data" : "not in data", f.stamps.shown(value));
    add("NACKs", "of trimmed packets", f.nacks);
    if (const auto from = f.anew ? std::nullopt : f.whole_from()) {
      add("seen whole", fmt::format("from PSN {} on", *from & 0xFFFFFF), f.answered);
    }
    if (f.seen_trims()) add("trims", "as its receiver got them", f.trims);
    if (f.seen_marks()) add("marks", "as its receiver got them", f.marks);
    if (f.moved_by.packets != 0) add("service time", "time stamps are moved", f.moved_by);
  }
  return all;
}

std::map<std::string, uint64_t> Conversations::unreported() const {
  std::map<std::string, uint64_t> reasons;
  const std::set<Way> mixed = mixed_up();
  if (!mixed.empty()) reasons["the QP was set up anew within the capture"] = mixed.size();
  for (const auto& [key, flow] : flows_) {
    if (flow->own < kLeastPackets && !mixed.contains(key.way())) ++reasons["too few packets"];
  }
  if (beyond_ != 0) reasons["more flows than are held"] = beyond_;
  return reasons;
}

}  // namespace mrc::log

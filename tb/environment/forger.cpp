// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/forger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "gen/csr.hpp"
#include "gen/protocol.hpp"
#include "tb/environment/link.hpp"
#include "tb/environment/mac.hpp"
#include "wire/bytes.hpp"
#include "wire/decode.hpp"

namespace mrc::tb {
namespace {

constexpr std::size_t kRemembered = 48;  ///< frames of a kind
constexpr uint32_t kFar = 0x2000;        ///< more PSNs than any window has
constexpr uint32_t kPsnMask = 0xffffff;
constexpr unsigned kLeastTrimmed = 68;  ///< bytes from the inner header on that name a trimmed packet
constexpr unsigned kBth = wire::Ipv6::kBytes + wire::Udp::kBytes;  ///< behind the inner header's begin
constexpr unsigned kMostPayload = 4096;

bool newer(uint32_t psn, uint32_t than) { return ((psn - than) & kPsnMask) - 1 < (1u << 23) - 1; }

}  // namespace

struct Forger::Production {
  Group group;
  Rule rule;
  unsigned weight;
};

const Forger::Production Forger::kGrammar[] = {
    {Group::Lane, &Forger::noise, 2},
    {Group::Lane, &Forger::cut, 3},
    {Group::Lane, &Forger::giant, 1},
    {Group::Lane, &Forger::lengths, 3},
    {Group::Lane, &Forger::headers, 3},
    {Group::Lane, &Forger::bad_fcs, 1},
    {Group::Check, &Forger::bad_icrc, 3},
    {Group::Check, &Forger::no_opcode, 2},
    {Group::Check, &Forger::trimmed_control, 3},
    {Group::Check, &Forger::endpoint_to_qp, 1},
    {Group::Check, &Forger::no_qp, 3},
    {Group::Check, &Forger::foreign_key, 3},
    {Group::Check, &Forger::wrong_size, 3},
    {Group::Responder, &Forger::beyond, 3},
    {Group::Responder, &Forger::long_past, 3},
    {Group::Responder, &Forger::trimmed_data, 3},
    {Group::Responder, &Forger::probe, 2},
    {Group::Nics, &Forger::stranger, 2},
    {Group::Nics, &Forger::answer_to_nobody, 2},
    {Group::Nics, &Forger::known_request, 1},
    {Group::Requestor, &Forger::never_sent, 3},
    {Group::Requestor, &Forger::nack, 2},
    {Group::Requestor, &Forger::again, 3},
};

Forger::Forger(const Preset& preset, const Scenario& scenario, uint64_t seed, const SidePlan& victim)
    : preset_(preset), scenario_(scenario), victim_(victim), config_(victim.wire()), rng_(seed, "forged frames") {
  for (QpIndex qp = 0; qp < preset.num_qps; ++qp)
    (victim.qps[qp].peer < preset.num_qps ? in_use_ : unused_).push_back(qp);
  if (scenario.churn > 0) unused_.clear();  // software sets them up, now and then
  forget();
}

void Forger::forget() {
  for (std::vector<Bytes>* list : {&data_, &control_, &others_, &all_}) list->clear();
  known_.clear();
  for (const SidePlan::Qp& qp : victim_.qps) known_.push_back({(qp.rq_psn - 1) & kPsnMask, (qp.sq_psn - 1) & kPsnMask});
}

void Forger::heard(const std::vector<uint8_t>& frame, const FrameInfo& info) {
  if (!info.mrc) return;
  if (const unsigned qp = victim_.qp_of(info.dqp); qp < known_.size()) {
    uint32_t* known = info.data() ? &known_[qp].sent : info.is(wire::Opcode::Sack) ? &known_[qp].acked : nullptr;
    if (known != nullptr && newer(info.psn, *known)) *known = info.psn;
  }
  const auto keep = [&](std::vector<Bytes>& list) {
    if (list.size() < kRemembered) {
      list.push_back(frame);
    } else if (rng_.chance(0.1)) {
      list[rng_.below(kRemembered)] = frame;
    }
  };
  keep(info.data() ? data_ : is_control_opcode(info.opcode) ? control_ : others_);
  keep(all_);
}

void Forger::next_spell(uint64_t now_ps) {
  const auto some = [&](double us) { return static_cast<uint64_t>(2 * rng_.unit() * us * 1e6); };
  from_ps_ = now_ps + some(scenario_.fuzz_us);
  until_ps_ = from_ps_ + 1 + some(scenario_.fuzz_for_us);
  flood_ = rng_.chance(scenario_.fuzz_flood);
  rules_.clear();
  const auto group = static_cast<Group>(rng_.below(kGroups));
  for (const Production& p : kGrammar) {
    if (!flood_ || p.group == group) rules_.push_back(&p);
  }
  if (flood_ && rng_.chance(0.5)) rules_.assign(1, rules_[rng_.below(rules_.size())]);
  load_ = flood_ || rng_.chance(0.25) ? 1 : 0.05 + 0.95 * rng_.unit();
}

bool Forger::due(unsigned plane, uint64_t now_ps) {
  if (now_ps >= until_ps_) next_spell(now_ps);
  return now_ps >= from_ps_ && now_ps >= next_ps_[plane];
}

FramePtr Forger::frame(unsigned plane, uint64_t now_ps) {
  auto f = std::make_unique<Frame>();
  constexpr unsigned kTries = 8;
  for (unsigned i = 0; i < kTries && f->forged == Forged::No; ++i) {
    f->bytes.clear();
    f->mac_error = false;
    f->forged = (this->*a_rule().rule)(*f);
  }
  if (f->forged == Forged::No) return nullptr;
  if (f->bytes.size() < kMinFrameBytes - kFcsBytes) f->bytes.resize(kMinFrameBytes - kFcsBytes);
  const double wire_ps = wire_bytes(static_cast<unsigned>(f->bytes.size())) * byte_ps(preset_);
  next_ps_[plane] = now_ps + static_cast<uint64_t>(wire_ps / load_);
  return f;
}

/// By weight.
const Forger::Production& Forger::a_rule() {
  const auto sum = [](unsigned so_far, const Production* p) { return so_far + p->weight; };
  uint64_t at = rng_.below(std::accumulate(rules_.begin(), rules_.end(), 0u, sum));
  auto rule = rules_.begin();
  for (; at >= (*rule)->weight; ++rule) at -= (*rule)->weight;
  return **rule;
}

/// A short one rather than a long one: more of them fit on a port.
const Forger::Bytes& Forger::one_of(const std::vector<Bytes>& heard) {
  const Bytes &a = heard[rng_.below(heard.size())], &b = heard[rng_.below(heard.size())];
  return a.size() <= b.size() ? a : b;
}

/// One of those that were heard, to be altered.
std::optional<wire::Packet> Forger::like(const std::vector<Bytes>& heard) {
  if (heard.empty()) return std::nullopt;
  wire::Packet packet = wire::decode(one_of(heard), config_);
  if (packet.error || !packet.ipv6 || !packet.bth) return std::nullopt;
  return packet;
}

/// Another kind of packet from the same sender, on the same way.
wire::Packet Forger::like_another(const wire::Packet& other, wire::Opcode opcode, bool stamped) {
  using wire::Encapsulation;
  const Encapsulation around = other.srh          ? Encapsulation::Srv6Srh
                               : other.outer_ipv6 ? Encapsulation::Srv6
                                                  : Encapsulation::Ipv6;
  wire::Packet packet = wire::make_packet(opcode, around, stamped, config_);
  packet.eth = other.eth;
  packet.outer_ipv6 = other.outer_ipv6;
  packet.srh = other.srh;
  packet.ipv6 = other.ipv6;
  packet.udp = other.udp;
  packet.dscp_class = other.dscp_class;
  packet.bth->p_key = other.bth->p_key;
  packet.bth->dqp = other.bth->dqp;
  packet.bth->psn = other.bth->psn;
  return packet;
}

/// A WRITE to that QP that passes all checks but those of rx_track; where it goes is anybody's memory.
wire::Packet Forger::write_to(unsigned qp, const wire::Packet& other, wire::Opcode opcode, std::size_t payload) {
  wire::Packet packet = like_another(other, opcode, rng_.chance(0.5));
  packet.bth->p_key = victim_.qps[qp].pkey;
  packet.bth->dqp = victim_.qpn(qp);
  packet.bth->psn = far(known_[qp].sent, true);
  packet.bth->a = rng_.chance(0.3);
  packet.bth->rtx = rng_.chance(0.3);
  packet.meth->msn = static_cast<uint16_t>(rng_.next());
  packet.meth->rqmsn = static_cast<uint16_t>(rng_.next());
  if (packet.tseth) packet.tseth->tx_timestamp16 = static_cast<uint16_t>(rng_.next());
  const Region& region = victim_.regions[rng_.below(victim_.regions.size())];
  packet.reth->r_key = rng_.chance(0.5) ? region.rkey : static_cast<uint32_t>(rng_.next());
  packet.reth->va = rng_.chance(0.5) ? region.va + rng_.below(region.length) : rng_.next();
  packet.reth->dma_length = static_cast<uint32_t>(rng_.between(1, 1u << 31));
  fill(packet.payload, payload);
  return packet;
}

void Forger::seal(wire::Packet& packet, Bytes& to) const {
  wire::complete(packet);
  to = wire::encode(packet, config_);
}

void Forger::trim(Bytes& frame) {
  const FrameInfo info = look_at(frame);
  const uint8_t code = rng_.chance(0.5) ? config_.dscp.trimmed : config_.dscp.trimmed_lasthop;
  const std::size_t least = info.inner + kLeastTrimmed;
  const std::size_t size = flood_ || frame.size() <= least ? least : rng_.between(least, frame.size());
  trim_frame(frame, static_cast<unsigned>(size), code, scenario_.trim_lengths);
}

void Forger::fill(Bytes& bytes, std::size_t size) {
  bytes.resize(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng_.next());
}

/// Small ones in floods: they come fastest.
std::size_t Forger::some_payload(std::size_t most) {
  return rng_.between(1, std::min<std::size_t>(most, flood_ ? 8 : std::size_t{1} << rng_.below(13)));
}

uint32_t Forger::far(uint32_t psn, bool before) {
  const auto away = static_cast<uint32_t>(kFar + rng_.below(0x3f0000));
  return (before ? psn - away : psn + away) & kPsnMask;
}

std::optional<unsigned> Forger::a_qp() {
  if (in_use_.empty()) return std::nullopt;
  return in_use_[rng_.below(in_use_.size())];
}

// What no lane takes for a packet.

Forged Forger::noise(Frame& f) {
  fill(f.bytes, kMinFrameBytes - kFcsBytes + some_payload(kMostPayload));
  constexpr uint16_t kIpv6 = 0x86dd;
  if (rng_.chance(0.5)) {
    if (wire::load_be<2>(&f.bytes[12]) == kIpv6) f.bytes[12] ^= 1;
  } else {
    wire::store_be<2>(&f.bytes[12], kIpv6);
    if (f.bytes[14] >> 4 == 6) f.bytes[14] ^= 0x10;
  }
  return Forged::Parse;
}

Forged Forger::cut(Frame& f) {
  if (all_.empty()) return Forged::No;
  f.bytes = one_of(all_);
  f.bytes.resize(rng_.between(14, f.bytes.size() - 4));
  return Forged::Parse;
}

Forged Forger::giant(Frame& f) {
  if (all_.empty()) return Forged::No;
  f.bytes = one_of(all_);
  const FrameInfo info = look_at(f.bytes);
  f.bytes.insert(f.bytes.end() - wire::kIcrcBytes, 4 * rng_.between(kMostPayload / 4 + 1, 1200), 0x5a);
  fix_lengths(f.bytes, info);
  fix_icrc(f.bytes, info.inner, config_.icrc_outer);
  return Forged::Parse;
}

Forged Forger::lengths(Frame& f) {
  if (all_.empty()) return Forged::No;
  f.bytes = one_of(all_);
  const FrameInfo info = look_at(f.bytes);
  f.bytes[info.inner + (rng_.chance(0.5) ? 4 : 44) + rng_.below(2)] ^= static_cast<uint8_t>(rng_.between(1, 255));
  fix_icrc(f.bytes, info.inner, config_.icrc_outer);
  return Forged::Parse;
}

Forged Forger::headers(Frame& f) {
  if (all_.empty()) return Forged::No;
  f.bytes = one_of(all_);
  const FrameInfo info = look_at(f.bytes);
  constexpr unsigned kSrh = wire::Eth::kBytes + wire::Ipv6::kBytes;
  static constexpr uint8_t kNext[] = {6, 58, 59};
  const auto change = [&](unsigned at) { f.bytes[at] ^= static_cast<uint8_t>(rng_.between(1, 255)); };
  switch (rng_.below(info.outer > wire::Ipv6::kBytes ? 7 : 6)) {
    case 0:
      change(12 + static_cast<unsigned>(rng_.below(2)));
      break;
    case 1:
      f.bytes[14] ^= static_cast<uint8_t>(rng_.between(1, 15) << 4);
      break;
    case 2:
      f.bytes[info.inner] ^= static_cast<uint8_t>(rng_.between(1, 15) << 4);
      break;
    case 3:
      f.bytes[20] = f.bytes[info.inner + 6] = kNext[rng_.below(std::size(kNext))];
      break;
    case 4:
      f.bytes[info.inner + kBth + 1] |= static_cast<uint8_t>(rng_.between(1, 15));
      break;
    case 5: {
      auto port = static_cast<uint16_t>(rng_.next());
      while (wire::is_mrc_port(port, {}) || wire::is_mrc_port(port, config_)) ++port;
      wire::store_be<2>(&f.bytes[info.inner + 42], port);
      break;
    }
    default:
      if (rng_.chance(0.25)) {
        f.bytes[kSrh + 3] = static_cast<uint8_t>(rng_.between(2, 255));
      } else {
        change(kSrh + static_cast<unsigned>(rng_.below(3)));
      }
  }
  fix_icrc(f.bytes, info.inner, config_.icrc_outer);
  return Forged::Parse;
}

Forged Forger::bad_fcs(Frame& f) {
  if (all_.empty()) return Forged::No;
  f.bytes = one_of(all_);
  f.mac_error = true;
  return Forged::Parse;
}

// What rx_check does not let through.

Forged Forger::bad_icrc(Frame& f) {
  if (all_.empty()) return Forged::No;
  f.bytes = one_of(all_);
  const FrameInfo info = look_at(f.bytes);
  const unsigned bth = info.inner + kBth;
  for (unsigned at = bth + 2; at < bth + 8; ++at) {
    if (rng_.chance(0.2)) f.bytes[at] = static_cast<uint8_t>(rng_.next());
  }
  for (std::size_t n = rng_.below(8); n > 0; --n)
    f.bytes[rng_.between(bth + 9, f.bytes.size() - 5)] = static_cast<uint8_t>(rng_.next());
  fix_icrc(f.bytes, info.inner, config_.icrc_outer);
  uint8_t* icrc = &f.bytes[f.bytes.size() - wire::kIcrcBytes];
  wire::store_le32(icrc, wire::load_le32(icrc) ^ static_cast<uint32_t>(rng_.between(1, ~uint32_t{0})));
  return Forged::Icrc;
}

Forged Forger::no_opcode(Frame& f) {
  if (all_.empty()) return Forged::No;
  f.bytes = one_of(all_);
  const FrameInfo info = look_at(f.bytes);
  auto opcode = static_cast<uint8_t>(rng_.next());
  while (wire::opcode_info(opcode) != nullptr) ++opcode;
  f.bytes[info.inner + kBth] = opcode;
  fix_icrc(f.bytes, info.inner, config_.icrc_outer);
  return Forged::Qp;
}

Forged Forger::trimmed_control(Frame& f) {
  const std::vector<Bytes>& from = rng_.chance(0.5) ? control_ : others_;
  if (from.empty()) return Forged::No;
  f.bytes = one_of(from);
  trim(f.bytes);
  return Forged::Qp;
}

Forged Forger::endpoint_to_qp(Frame& f) {
  auto packet = like(all_);
  if (!packet) return Forged::No;
  if (rng_.chance(0.7)) {
    const bool requests = rng_.chance(0.5);
    packet = like_another(*packet, requests ? wire::Opcode::EndpointRequest : wire::Opcode::EndpointResponse, false);
    packet->bth->dqp = rng_.chance(0.5) ? kQpnBase + static_cast<uint32_t>(rng_.below(preset_.num_qps)) : 3;
  } else if (!is_endpoint_opcode(packet->bth->opcode)) {
    packet->bth->dqp = wire::kEndpointDqp;
  } else {
    return Forged::No;
  }
  seal(*packet, f.bytes);
  return Forged::Qp;
}

Forged Forger::no_qp(Frame& f) {
  auto packet = like(rng_.chance(0.5) ? data_ : control_);
  if (!packet) return Forged::No;
  switch (rng_.below(unused_.empty() ? 2 : 4)) {
    case 0:
      packet->bth->dqp = static_cast<uint32_t>(rng_.below(kQpnBase));
      break;
    case 1:
      packet->bth->dqp = static_cast<uint32_t>(rng_.between(kQpnBase + preset_.num_qps, kPsnMask));
      if (victim_.qp_of(packet->bth->dqp) < victim_.rows()) packet->bth->dqp = kQpnBase + preset_.num_qps;
      break;
    default:
      packet->bth->dqp = kQpnBase + unused_[rng_.below(unused_.size())];
  }
  seal(*packet, f.bytes);
  return Forged::Qp;
}

Forged Forger::foreign_key(Frame& f) {
  auto packet = like(data_);
  if (!packet) return Forged::No;
  packet->bth->p_key ^= static_cast<uint16_t>(rng_.between(1, 0x7fff));
  seal(*packet, f.bytes);
  return Forged::Pkey;
}

Forged Forger::wrong_size(Frame& f) {
  const auto other = like(all_);
  const auto qp = a_qp();
  if (!other || !qp) return Forged::No;
  const unsigned mtu = 256u << victim_.qps[*qp].mtu;
  std::size_t size = some_payload(kMostPayload);
  wire::Opcode opcode = rng_.chance(0.5) ? wire::Opcode::WriteFirst : wire::Opcode::WriteMiddle;
  if (size == mtu) --size;
  if (mtu < kMostPayload && rng_.chance(0.5)) {
    opcode = rng_.chance(0.5) ? wire::Opcode::WriteLast : wire::Opcode::WriteOnly;
    size = rng_.between(mtu + 1, kMostPayload);
  }
  wire::Packet packet = write_to(*qp, *other, opcode, size);
  seal(packet, f.bytes);
  return Forged::Length;
}

// What rx_track knows.

Forged Forger::beyond(Frame& f) {
  const Forged ends = long_past(f);
  if (ends == Forged::No) return ends;
  const FrameInfo info = look_at(f.bytes);
  wire::store_be<3>(&f.bytes[info.inner + kBth + 9], far(known_[victim_.qp_of(info.dqp)].sent, false));
  fix_icrc(f.bytes, info.inner, config_.icrc_outer);
  return Forged::Beyond;
}

Forged Forger::long_past(Frame& f) {
  const auto other = like(all_);
  const auto qp = a_qp();
  if (!other || !qp) return Forged::No;
  static constexpr wire::Opcode kOpcodes[] = {wire::Opcode::WriteLast, wire::Opcode::WriteLastImm,
                                              wire::Opcode::WriteOnly, wire::Opcode::WriteOnlyImm};
  wire::Packet packet =
      write_to(*qp, *other, kOpcodes[rng_.below(std::size(kOpcodes))], some_payload(256u << victim_.qps[*qp].mtu));
  seal(packet, f.bytes);
  return Forged::Past;
}

Forged Forger::trimmed_data(Frame& f) {
  const auto other = like(all_);
  const auto qp = a_qp();
  if (!other || !qp) return Forged::No;
  wire::Packet packet = write_to(*qp, *other, wire::Opcode::WriteMiddle, 256);
  wire::store_be<8>(packet.ipv6->dst.data(), static_cast<uint64_t>(victim_.ip >> 64));
  wire::store_be<8>(packet.ipv6->dst.data() + 8, static_cast<uint64_t>(victim_.ip));
  if (rng_.chance(0.3)) packet.bth->psn = static_cast<uint32_t>(known_[*qp].sent + rng_.between(1, 16)) & kPsnMask;
  seal(packet, f.bytes);
  trim(f.bytes);
  return Forged::Trimmed;
}

// From NIC to NIC.

Forged Forger::stranger(Frame& f) {
  const auto other = like(all_);
  if (!other) return Forged::No;
  wire::Packet packet = like_another(*other, wire::Opcode::EndpointRequest, false);
  packet.bth->dqp = wire::kEndpointDqp;
  packet.bth->psn = static_cast<uint32_t>(rng_.below(1u << 16));
  packet.erth->op = static_cast<uint8_t>(rng_.below(4));
  packet.erth->port_status_mask = static_cast<uint32_t>(rng_.next());
  if (packet.erth->op < 2) {
    for (uint8_t& byte : packet.ipv6->src) byte = static_cast<uint8_t>(rng_.next());
  }
  seal(packet, f.bytes);
  return Forged::Endpoint;
}

Forged Forger::answer_to_nobody(Frame& f) {
  const auto other = like(all_);
  if (!other) return Forged::No;
  wire::Packet packet = like_another(*other, wire::Opcode::EndpointResponse, false);
  packet.bth->dqp = wire::kEndpointDqp;
  packet.bth->psn = static_cast<uint32_t>(rng_.below(1u << 16));
  if (rng_.chance(0.5)) packet.bth->psn |= 0xc000;  // most of them go on to tx_probe
  packet.eeth->tx_timestamp16 = static_cast<uint16_t>(rng_.next());
  seal(packet, f.bytes);
  const unsigned kind = packet.bth->psn >> 14;  // of an update, a controller's probe, a reverse path's, tx_probe's
  const bool awaited = kind >= 2 || (kind == 0 && ports_change()) || (kind == 1 && scenario_.control > 0);
  return awaited ? Forged::Nowhere : Forged::Endpoint;
}

Forged Forger::known_request(Frame& f) {
  const auto other = like(all_);
  if (!other) return Forged::No;
  wire::Packet packet = like_another(*other, wire::Opcode::EndpointRequest, false);
  packet.bth->dqp = wire::kEndpointDqp;
  packet.bth->psn = static_cast<uint32_t>(rng_.below(1u << 16));
  packet.erth->op = ports_change() || rng_.chance(0.5);
  const bool from_0 = csr::kCtrlPortsFrom0.get(victim_.ctrl) != 0;
  packet.erth->port_status_mask = ((1u << preset_.num_planes) - 1) << (from_0 ? 0 : 1);  // what is so
  seal(packet, f.bytes);
  return Forged::Nowhere;
}

// Of the right form, and of no use.

Forged Forger::probe(Frame& f) {
  const auto other = like(all_);
  const auto qp = a_qp();
  if (!other || !qp) return Forged::No;
  wire::Packet packet = like_another(*other, wire::Opcode::ProbeRequest, false);
  packet.bth->p_key = victim_.qps[*qp].pkey;
  packet.bth->dqp = victim_.qpn(*qp);
  packet.bth->psn = static_cast<uint32_t>(rng_.below(kPsnMask));
  packet.peth->probe_id = static_cast<uint16_t>(rng_.next());
  packet.peth->tx_timestamp16 = static_cast<uint16_t>(rng_.next());
  seal(packet, f.bytes);
  return Forged::Nowhere;
}

Forged Forger::never_sent(Frame& f) {
  const auto other = like(all_);
  const auto qp = a_qp();
  if (!other || !qp) return Forged::No;
  const bool sack = rng_.chance(0.5);
  wire::Packet packet = like_another(*other, sack ? wire::Opcode::Sack : wire::Opcode::Ack, false);
  packet.bth->p_key = victim_.qps[*qp].pkey;
  packet.bth->dqp = victim_.qpn(*qp);
  packet.bth->psn = far(known_[*qp].acked, false);
  if (sack) {
    packet.seth->cack_psn = packet.bth->psn;
    packet.seth->m = static_cast<uint8_t>(rng_.below(4));
    packet.seth->pr = rng_.chance(0.2);
    packet.seth->ack_psn_offset = static_cast<int16_t>(rng_.next());
    packet.seth->sack_offset = static_cast<int16_t>(rng_.next());
    packet.seth->sack_bitmap = rng_.next();
    packet.seth->mpr = static_cast<uint8_t>(rng_.next());
    packet.cc_state->rcvd_bytes = static_cast<uint32_t>(rng_.below(1u << 24));
  } else {
    packet.aeth->msn = static_cast<uint32_t>(rng_.below(1u << 24));
    if (rng_.chance(0.5)) {
      packet.aeth->syndrome = static_cast<uint8_t>(rng_.next());
      constexpr unsigned kAck = 0, kNak = 3;
      while (packet.aeth->syndrome >> 5 == kAck || packet.aeth->syndrome >> 5 == kNak) packet.aeth->syndrome += 32;
    }
  }
  seal(packet, f.bytes);
  return Forged::Nowhere;
}

Forged Forger::nack(Frame& f) {
  const auto other = like(all_);
  const auto qp = a_qp();
  if (!other || !qp) return Forged::No;
  wire::Packet packet = like_another(*other, wire::Opcode::Nack, false);
  packet.bth->p_key = victim_.qps[*qp].pkey;
  packet.bth->dqp = victim_.qpn(*qp);
  packet.neth->reason = static_cast<uint8_t>(rng_.below(32));
  if (packet.neth->reason == static_cast<uint8_t>(wire::NackReason::UnexpEvent)) --packet.neth->reason;
  constexpr uint32_t kForEver = 25;  // of retries
  const bool within = scenario_.retry_exp == kForEver && rng_.chance(0.5);
  packet.neth->nack_psn = within ? static_cast<uint32_t>(known_[*qp].acked + rng_.between(1, 16)) & kPsnMask
                                 : far(known_[*qp].acked, rng_.chance(0.5));
  packet.neth->tx_timestamp16 = static_cast<uint16_t>(rng_.next());
  packet.bth->psn = packet.neth->nack_psn;
  seal(packet, f.bytes);
  return Forged::Nowhere;
}

Forged Forger::again(Frame& f) {
  if (all_.empty()) return Forged::No;
  f.bytes = one_of(all_);
  const FrameInfo info = look_at(f.bytes);
  // What ended a QP, or said which ports are up, is no longer true.
  const bool fails = scenario_.may_fail || scenario_.bad_access > 0;
  if (fails && (info.is(wire::Opcode::Nack) || info.is(wire::Opcode::Ack))) return Forged::No;
  if (ports_change() && info.is(wire::Opcode::EndpointRequest)) return Forged::No;
  return Forged::Nowhere;
}

bool Forger::ports_change() const {
  return scenario_.flap_us > 0 || scenario_.cut_planes > 0 || scenario_.stand_us > 0;
}

std::string ForgedFrames::check(const CounterValues& c, uint64_t lost, const Scenario& s) const {
  if (s.may_fail || s.bad_access > 0) return {};  // a QP that is over judges otherwise
  // What switches cut may end within its headers (128 bytes behind an SRH), also where they send it back.
  const bool alone = s.link.corrupt <= 0 && s.link.rogue <= 0 && s.link.trim <= 0 && s.link.return_share <= 0 &&
                     s.rules.empty() && s.lives == 1;
  const struct {
    Forged kind;
    const char* name;
    uint32_t count;
    bool only;  // nothing else is counted there
  } counted[] = {{Forged::Parse, "CNT_DROP_PARSE", c.drop_parse, alone},
                 {Forged::Icrc, "CNT_DROP_ICRC", c.drop_icrc, alone},
                 {Forged::Qp, "CNT_DROP_QP", c.drop_qp, alone && s.rounds == 1},
                 {Forged::Pkey, "CNT_DROP_PKEY", c.drop_pkey, alone},
                 {Forged::Length, "CNT_DROP_LEN", c.drop_len, alone},
                 {Forged::Beyond, "CNT_OOR", c.oor, false},
                 {Forged::Past, "CNT_DUP", c.dup, false},
                 {Forged::Trimmed, "CNT_TRIM", c.trim, false},
                 {Forged::Endpoint, "CNT_EP_DROP", c.ep_drop, false}};
  for (const auto& counter : counted) {
    const uint64_t came = came_[static_cast<unsigned>(counter.kind)];
    if (counter.count + lost >= came && (!counter.only || counter.count <= came)) continue;
    return fmt::format("{} is {}, but {} forged frames that belong there came, and lanes lost {}", counter.name,
                       counter.count, came, lost);
  }
  return {};
}

}  // namespace mrc::tb

// SPDX-License-Identifier: Apache-2.0
#include "reference/responder_judge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "wire/bytes.hpp"
#include "wire/decode.hpp"

namespace mrc::ref {
namespace {

constexpr uint64_t kLongestFrame = 9018 + 20;
constexpr unsigned kPkeyMask = 0x7fff;
constexpr std::size_t kMostPeers = 1 << 16;
constexpr uint64_t kPausedWrites = ~uint64_t{0}, kPausedCompletions = kPausedWrites - 1;  ///< no read has these tags

bool is(const wire::Packet& packet, wire::Opcode opcode) { return packet.bth->opcode == static_cast<uint8_t>(opcode); }

bool is_write(uint8_t opcode) {
  return opcode >= static_cast<uint8_t>(wire::Opcode::WriteFirst) &&
         opcode <= static_cast<uint8_t>(wire::Opcode::WriteOnlyImm);
}

bool ends_message(uint8_t opcode) {
  return opcode >= static_cast<uint8_t>(wire::Opcode::WriteLast) &&
         opcode <= static_cast<uint8_t>(wire::Opcode::WriteOnlyImm);
}

bool zero(const log::Ip& ip) {
  return std::all_of(ip.begin(), ip.end(), [](uint8_t byte) { return byte == 0; });
}

bool active(log::QpState state) {
  return state == log::QpState::Rtr || state == log::QpState::Rts || state == log::QpState::Error;
}

bool shows(const Profile& profile, log::EventKind kind) {
  return (profile.shows >> static_cast<unsigned>(kind) & 1) != 0;
}

Time latency_of(const Profile& p) {
  const auto frame = static_cast<Time>(static_cast<double>(kLongestFrame * 8) * 1000.0 / std::max(p.port_gbps, 0.001));
  return p.take + p.answer + 2 * p.skew + frame;
}

}  // namespace

ResponderJudge::ResponderJudge(const Profile& profile, Report& report)
    : world_(profile, report, latency_of(profile)), own_(world_.profile) {
  world_.shows_take = shows(profile, log::EventKind::Take);
  world_.shows_answer = world_.shows_take && shows(profile, log::EventKind::Answer);
  up_.fill(true);
  for (const log::Qp& qp : profile.qps) ResponderJudge::qp(qp, 0);
  for (const log::Mr& mr : profile.regions) regions_[mr.rkey] = {mr, 0};
}

void ResponderJudge::blind(const char* reason) {
  if (blind_ != nullptr) return;
  blind_ = reason;
  flows_.clear();
  by_peer_.clear();
  held_.clear();
}

void ResponderJudge::gap(const log::Gap&, Time) { blind("the log has a gap"); }

void ResponderJudge::port(const log::Port& port, Time time) {
  const auto plane = port.plane % log::kMaxPlanes;
  world_.free.port(plane, port.up, std::max<Time>(time, 1));
  if (up_[plane] == port.up) return;
  up_[plane] = port.up;
  if (port.up) up_since_[plane] = time;
  if (!port.up) {
    for (auto& [qp, flow] : flows_) flow->cut(plane, time);
  }
  world_.port_change = std::max<Time>(time, 1);
  const auto planes = std::min<uint32_t>(world_.profile.planes, log::kMaxPlanes);
  world_.up = 0;
  for (uint32_t i = 0; i < planes; ++i) world_.up |= uint32_t{up_[i]} << i;
}

void ResponderJudge::qp(const log::Qp& qp, Time time) {
  if ((qp.flags & log::kInferred) != 0) return;  // where it begins is not known
  own_.qp(qp);
  if (blind_ != nullptr) return;
  const auto it = flows_.find(qp.qp);
  if (qp.state == log::QpState::Reset || !active(qp.state)) {
    if (it == flows_.end()) return;
    renewed_[qp.qp] = log::kNever;
    it->second->finish(time);
    flows_.erase(it);
    std::erase_if(by_peer_, [&](const auto& entry) { return entry.second == qp.qp; });
    erase_if(held_, [&](const Held& h) { return h.qp == qp.qp; });
    return;
  }
  if (it != flows_.end()) return it->second->change(qp, time);
  if (const auto former = renewed_.find(qp.qp); former != renewed_.end()) former->second = time;
  auto flow = std::make_unique<ResponderFlow>(qp, world_);
  if (qp.state == log::QpState::Error) flow->change(qp, time);
  flows_.emplace(qp.qp, std::move(flow));
  by_peer_.emplace(qp.peer_qp, qp.qp);
}

void ResponderJudge::region(const log::Mr& mr, Time time) { regions_[mr.rkey] = {mr, std::max<Time>(time, 1)}; }

bool ResponderJudge::same_address(const log::Ip& ip, const std::array<uint8_t, 16>& on_wire) const {
  return zero(ip) || world_.plain(ip) == world_.plain(on_wire);
}

/// Must a NIC take this frame for that QP, may it, or must it not?
ResponderJudge::Trust ResponderJudge::trust(const Seen& seen, const log::Qp& qp) const {
  const wire::Packet& p = seen.packet;
  if ((p.bth->p_key & kPkeyMask) != (qp.pkey & kPkeyMask)) return Trust::No;
  if ((seen.frame.flags & log::kMaybe) != 0 || p.error) return Trust::Perhaps;
  if (p.bth->reserved8_6 != 0 || p.bth->reserved8_3 != 0 || p.bth->reserved4 != 0) return Trust::Perhaps;
  if (p.ipv6) {
    if (!same_address(qp.own_ip, p.ipv6->dst) || !same_address(qp.peer_ip, p.ipv6->src)) return Trust::Perhaps;
    const bool srv6 = p.outer_ipv6.has_value();
    if (srv6 != (qp.encap == 1 || qp.encap == 2) || p.srh.has_value() != (qp.encap == 2)) return Trust::Perhaps;
  }
  if (p.ipv4 && qp.encap != 3) return Trust::Perhaps;
  if (!up_[seen.frame.plane % log::kMaxPlanes]) return Trust::Perhaps;
  return Trust::Yes;
}

/// Has it been set up again so lately that the NIC may not know? Packets of its former connection come in any case.
bool ResponderJudge::is_renewed(uint32_t qp, Time at) const {
  const auto since = renewed_.find(qp);
  return since != renewed_.end() && at < since->second + world_.profile.take;
}

/// Can the packet be executed? What facts leave open makes it doubtful.
Fault ResponderJudge::fault(const wire::Packet& p, const log::Qp& qp, Time at, Trust& trust) const {
  const auto opcode = p.bth->opcode;
  const uint64_t size = p.payload.size();
  const wire::Reth& reth = *p.reth;
  const bool last = ends_message(opcode);
  const bool only = is(p, wire::Opcode::WriteOnly) || is(p, wire::Opcode::WriteOnlyImm);
  if (reth.dma_length == 0) {
    // Neither VA nor R_Key of a WRITE of no bytes is looked at.
    if (only && size == 0 && world_.profile.settings.zero_length == kZeroLegal) return Fault::None;
    if (size != 0 || !is(p, wire::Opcode::WriteOnly)) trust = Trust::Perhaps;
    return Fault::Zero;
  }
  if (last ? size == 0 || size > qp.mtu || size > reth.dma_length : size != qp.mtu || size >= reth.dma_length) {
    trust = Trust::Perhaps;
    return Fault::Invalid;
  }
  if (only ? size != reth.dma_length : reth.dma_length <= qp.mtu) {
    trust = Trust::Perhaps;
    return Fault::Invalid;
  }
  if (last && (reth.dma_length - size) % qp.mtu != 0) {
    trust = Trust::Perhaps;
    return Fault::Invalid;
  }
  if (regions_.empty()) return Fault::None;
  const auto it = regions_.find(reth.r_key);
  if (it != regions_.end() && it->second.changed != 0 && at < it->second.changed + world_.profile.take) {
    trust = Trust::Perhaps;
  }
  if (it == regions_.end() || !it->second.mr.valid || !it->second.mr.write) return Fault::Access;
  const log::Mr& mr = it->second.mr;
  const auto inside = [&](uint64_t bytes) {
    return reth.va >= mr.va && reth.va - mr.va <= mr.bytes && bytes <= mr.bytes - (reth.va - mr.va);
  };
  if (!inside(size)) return Fault::Access;
  const bool first = only || is(p, wire::Opcode::WriteFirst);
  if (first && !inside(reth.dma_length)) {
    trust = Trust::Perhaps;
    return Fault::Access;
  }
  return Fault::None;
}

ResponderFlow* ResponderJudge::find(uint32_t qp) {
  const auto it = flows_.find(qp);
  return it == flows_.end() ? nullptr : it->second.get();
}

const ResponderFlow* ResponderJudge::flow(uint32_t qp) const {
  const auto it = flows_.find(qp);
  return it == flows_.end() ? nullptr : it->second.get();
}

ResponderFlow* ResponderJudge::find_peer(const wire::Packet& packet, bool& doubtful) {
  ResponderFlow* found = nullptr;
  const auto [from, to] = by_peer_.equal_range(packet.bth->dqp);
  for (auto it = from; it != to; ++it) {
    ResponderFlow* flow = find(it->second);
    if (packet.ipv6 && !same_address(flow->qp().peer_ip, packet.ipv6->dst)) continue;
    if (found != nullptr) doubtful = true;
    found = flow;
  }
  return found;
}

/// A frame with a contradiction in front of what the ICRC covers. A NIC need not look there: what would it find behind?
void ResponderJudge::second_look(const Seen& seen) {
  constexpr std::size_t kType = 12, kIp = 14, kLength = 18;
  std::vector<uint8_t> bytes = seen.frame.bytes;
  if (bytes.size() < kIp + wire::Ipv6::kBytes || bytes.size() > kIp + wire::Ipv6::kBytes + 0xffff) return;
  wire::store_be<2>(bytes.data() + kType, wire::kEthertypeIpv6);
  bytes[kIp] = static_cast<uint8_t>(0x60 | (bytes[kIp] & 0x0f));
  wire::store_be<2>(bytes.data() + kLength, bytes.size() - kIp - wire::Ipv6::kBytes);
  const wire::Packet packet = wire::decode(bytes, world_.profile.wire());
  if (!packet.bth || packet.trimmed()) return;
  log::Frame frame = seen.frame;
  frame.flags |= log::kMaybe;
  received({frame, packet, seen.first, seen.last, seen.whole});
}

void ResponderJudge::received(const Seen& seen) {
  if (blind_ != nullptr || (seen.frame.flags & log::kFcsBad) != 0) return;
  const wire::Packet& p = seen.packet;
  if (!p.bth) {
    if (!seen.whole && p.error && p.error->code == wire::ErrorCode::Short) blind("frames are cut inside their headers");
    if (seen.whole && p.error) second_look(seen);
    return;
  }
  if (p.bth->tver != 0 || wire::opcode_info(p.bth->opcode) == nullptr) return;
  if (!seen.whole) world_.unsure = true;
  if (seen.whole && p.icrc && !p.icrc->ok) return;
  const Whose whose = own_.whose(p);
  if (whose == Whose::Own) return came_back(seen);
  if (is(p, wire::Opcode::EndpointRequest)) return port_status(p, seen.last);
  ResponderFlow* flow = find(p.bth->dqp);
  if (flow == nullptr) {
    // A NIC without a QP, reset perhaps, need not know its own addresses: any trimmed packet is as one that came back.
    if (flows_.empty() && p.trimmed() && is_write(p.bth->opcode)) ++came_back_;
    return;
  }
  Trust trust = this->trust(seen, flow->qp());
  if (trust == Trust::No) return;
  if (whose == Whose::Maybe || is_renewed(p.bth->dqp, seen.last)) trust = Trust::Perhaps;
  if (is_write(p.bth->opcode)) return data(seen, *flow, trust, p.trimmed());
  if (p.trimmed()) return;
  if (is(p, wire::Opcode::ProbeRequest) && p.peth) {
    Came came;
    came.arrival.what = Arrival::What::Probe;
    came.arrival.probe = p.peth->probe_id;
    came.at = seen.last + seen.frame.error + world_.profile.skew;
    came.error = seen.frame.error;
    came.sure = trust == Trust::Yes;
    came.entropy = p.entropy(world_.profile.wire());
    came.number = seen.frame.number;
    came.capture = seen.frame.capture;
    came.plane = seen.frame.plane;
    return world_.shows_take ? flow->coming(came) : flow->came(came);
  }
  const bool nak = p.aeth && p.aeth->syndrome != static_cast<uint8_t>(wire::AethSyndrome::Ack);
  const bool fatal = p.neth && p.neth->reason == static_cast<uint8_t>(wire::NackReason::UnexpEvent);
  if (!nak && !fatal) return;
  flow->requestor();  // whatever it is about, a former life perhaps
  flow->may_fail(seen.last);
}

void ResponderJudge::data(const Seen& seen, ResponderFlow& flow, Trust trust, bool trimmed) {
  const wire::Packet& p = seen.packet;
  Came came;
  Arrival& a = came.arrival;
  a.what = trimmed ? Arrival::What::Trimmed : Arrival::What::Data;
  a.psn = unwrap(p.bth->psn, flow.near());
  a.request = p.bth->a != 0;
  a.rtx = p.bth->rtx != 0;
  a.ce = p.ecn() == 3;
  a.last = ends_message(p.bth->opcode);
  a.immediate = p.immdt.has_value();
  a.imm = p.immdt ? p.immdt->value : 0;
  a.rqmsn = p.meth ? p.meth->rqmsn : uint16_t{0};
  came.at = seen.last + seen.frame.error + world_.profile.skew;
  if (trimmed) {
    if (!p.meth) trust = Trust::Perhaps;
  } else {
    if (!p.meth || !p.reth || !p.udp) return;
    a.payload = static_cast<uint32_t>(p.payload.size());
    a.udp = p.udp->length;
    a.fault = fault(p, flow.qp(), came.at, trust);
  }
  came.error = seen.frame.error;
  came.sure = trust == Trust::Yes;
  came.entropy = p.entropy(world_.profile.wire());
  came.number = seen.frame.number;
  came.capture = seen.frame.capture;
  came.plane = seen.frame.plane;
  world_.shows_take ? flow.coming(came) : flow.came(came);
}

/// One of the device's own. It counts those whose headers are there; of others nobody says.
void ResponderJudge::came_back(const Seen& seen) {
  if (!is_write(seen.packet.bth->opcode)) return;
  ++came_back_;
  // A NIC without a QP, reset perhaps, need not know its own code points.
  const bool sure = (seen.frame.flags & log::kMaybe) == 0 && !seen.doubtful && seen.packet.reth && !flows_.empty() &&
                    up_[seen.frame.plane % log::kMaxPlanes];
  if (sure) lately_back_.push_back(seen.last);
}

/// The device counts what came back. It may just be about the last ones, and may have had no room for some.
void ResponderJudge::count_returned() {
  if (!returned_ || blind_ != nullptr || world_.profile.settings.returned == kNotDistinct) return;
  const uint64_t lost = silent_drops_.value_or(world_.profile.silent_drops ? returned_->least : 0);
  const uint64_t least = returned_->least - std::min(returned_->least, lost);
  if (returned_->counted >= least && returned_->counted <= returned_->most) {
    if (returned_->most != 0) world_.report.ok(Rule::RespReturnedCount);
    return;
  }
  Finding f;
  f.rule = Rule::RespReturnedCount;
  f.time = returned_->at;
  f.came = fmt::format("{} packets that came back, as the device counts", returned_->counted);
  f.right = fmt::format("{} to {}", least, returned_->most);
  world_.report.broken(std::move(f));
}

/// A peer says which of its ports are usable: one that is not may take an answer with it.
void ResponderJudge::port_status(const wire::Packet& packet, Time time) {
  if (!packet.erth || packet.erth->op != static_cast<uint8_t>(wire::ErthOp::PortStatus) || !packet.ipv6) return;
  if (world_.peer_ports.size() > kMostPeers) world_.peer_ports.clear();  // what they say next counts as a change
  uint32_t planes = packet.erth->port_status_mask >> (world_.profile.settings.ports_from_0 ? 0 : 1);
  if (planes == 0) planes = ~uint32_t{0};  // some port sent it, so bits mean something else
  const auto [said, first] = world_.peer_ports.try_emplace(world_.plain(packet.ipv6->src), planes);
  if (first || said->second != planes) world_.port_change = std::max<Time>(time, 1);
  said->second = planes;
}

void ResponderJudge::sent(const Seen& seen) {
  world_.free.sent(seen.frame.plane % log::kMaxPlanes, seen.first, seen.last);
  if (seen.packet.aeth) world_.free.acked(seen.first);
  if (blind_ != nullptr || !seen.packet.bth) return;
  const wire::Packet& p = seen.packet;
  bool doubtful = false;
  ResponderFlow* flow = find_peer(p, doubtful);
  if (flow == nullptr) return;
  if (is_write(p.bth->opcode)) return flow->requestor();
  if (doubtful || p.error || !(p.seth || p.neth || p.aeth)) return;
  const Time back = world_.latency + seen.frame.error;
  const unsigned plane = seen.frame.plane % log::kMaxPlanes;
  Went went{seen.first, seen.frame.number, seen.frame.capture, false};
  went.steady = up_since_[plane] == 0 || up_since_[plane] + back < seen.first;
  flow->answered(p, went);
  const Time slack = world_.profile.skew;
  if (slack == 0) return flow->check(p, went);
  held_.push_back({seen.first + slack, p, went, flow->qp().qp});
}

void ResponderJudge::now(Time time) {
  if (time != log::kNever) world_.free.now(time);
  while (!held_.empty() && held_.front().until < time) {
    const Held held = std::move(held_.front());
    held_.pop_front();
    if (ResponderFlow* flow = find(held.qp)) flow->check(held.packet, held.went);
  }
}

void ResponderJudge::host(const log::Host& host, Time time) {
  if (host.op == log::HostOp::Read) world_.free.read(host.tag, time);
  if (host.op == log::HostOp::ReadDone) world_.free.read_done(host.tag, time);
}

void ResponderJudge::posted(const log::Post& post, Time) {
  if (ResponderFlow* flow = find(post.qp)) flow->requestor();
}

void ResponderJudge::posted(const log::PostReceive& receive, Time) {
  if (ResponderFlow* flow = find(receive.qp)) flow->receives(receive.count);
}

void ResponderJudge::completed(const log::Cqe& cqe, Time time) {
  if (ResponderFlow* flow = find(cqe.qp)) flow->completed(cqe, time);
}

void ResponderJudge::event(const log::Event& event, Time time) {
  ResponderFlow* flow = find(event.qp);
  if (flow == nullptr) return;
  if (event.kind == log::EventKind::Take && world_.shows_take) flow->took(event, time);
  if (event.kind == log::EventKind::Answer && world_.shows_answer) flow->read(event, time);
}

/// A host that takes no writes, or no completions, holds answers back as one that gives no data.
void ResponderJudge::host_paused(uint64_t tag, uint64_t turns, Time time) {
  if (turns % 2 == 1) {
    world_.free.read(tag, time);
  } else {
    world_.free.read_done(tag, time);
  }
}

void ResponderJudge::counter(const log::Counter& counter, Time time) {
  if (counter.name == "silent_drops") silent_drops_ = counter.value;
  if (counter.name == "carriers_by_themselves") world_.disturbed.add(time);
  if (counter.name == "host_pause writes") host_paused(kPausedWrites, counter.value, time);
  if (counter.name == "host_pause completions") host_paused(kPausedCompletions, counter.value, time);
  if (counter.name == "resets") {  // its own counters begin anew
    came_back_ = counted_back_ = 0;
    lately_back_.clear();
    returned_.reset();
  }
  if (counter.name != "returned") return;
  const Time late = world_.profile.take + world_.profile.skew;
  for (; !lately_back_.empty() && lately_back_.front() + late < time; lately_back_.pop_front()) ++counted_back_;
  returned_ = {counter.value, counted_back_, came_back_, time};
}

void ResponderJudge::finish(const log::End&, Time time) {
  world_.free.now(time);
  now(log::kNever);
  for (auto& [qp, flow] : flows_) flow->finish(time);
  world_.decide(silent_drops_);
  count_returned();
  if (blind_ != nullptr) world_.report.rests(Rule::RespCackArrived, blind_);
}

uint64_t ResponderJudge::memory() const {
  uint64_t bytes = held_.size() * 1024 + world_.held.size() * 1024;
  for (const auto& [qp, flow] : flows_) bytes += flow->memory();
  return bytes;
}

}  // namespace mrc::ref

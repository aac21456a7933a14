// SPDX-License-Identifier: Apache-2.0
#include "sim/nic/roce/endpoint_roce.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "protocol/opcodes.hpp"
#include "protocol/psn.hpp"
#include "protocol/segment.hpp"
#include "protocol/srv6.hpp"
#include "sim/engine/codec.hpp"
#include "sim/engine/fabric.hpp"
#include "util/rng.hpp"

namespace mrc::sim {

namespace {
using wire::Opcode;
constexpr uint8_t kCnp = 0x81, kAckSyndrome = 0x1f, kNakSequence = 0x60;
constexpr unsigned kMethBytes = 4, kRethBytes = 16, kAethBytes = 4, kCnpBytes = 16;
bool is_first(uint8_t opcode) {
  const auto o = static_cast<Opcode>(opcode);
  return o == Opcode::WriteFirst || o == Opcode::WriteOnly || o == Opcode::WriteOnlyImm;
}
bool is_last(uint8_t opcode) {
  return opcode != static_cast<uint8_t>(Opcode::WriteFirst) && opcode != static_cast<uint8_t>(Opcode::WriteMiddle);
}
}  // namespace

RoceEndpoint::RoceEndpoint(const RoceConfig& config) : config_(config) {}
RoceEndpoint::~RoceEndpoint() {
  for (Lane& lane : lanes_) {
    while (lane.head != nullptr) Recycle{}(std::exchange(lane.head, lane.head->next));
  }
}

void RoceEndpoint::attach(const Access& access) {
  access_ = access;
  lanes_.resize(access.planes());
}

void RoceEndpoint::start() {
  started_ = true;
  for (const auto& qp : qps_) kick(*qp);
}

RoceEndpoint::Qp* RoceEndpoint::find(uint32_t qpn) { return const_cast<Qp*>(std::as_const(*this).find(qpn)); }
const RoceEndpoint::Qp* RoceEndpoint::find(uint32_t qpn) const {
  for (const auto& qp : qps_) {
    if (qp->spec.qpn == qpn) return qp.get();
  }
  return nullptr;
}

bool RoceEndpoint::open(const QpSpec& spec, std::string& why) {
  why = spec.problem(access_.planes());
  if (!why.empty()) return false;
  if (find(spec.qpn) != nullptr) {
    why = "queue pair " + std::to_string(spec.qpn) + " is open already";
    return false;
  }
  auto qp = std::make_unique<Qp>();
  qp->spec = spec;
  const auto index = static_cast<size_t>(path_hash(*qp) % spec.ev_active.size());
  qp->ev = spec.ev_active[index];
  qp->plane = static_cast<unsigned>(index % spec.planes);
  qp->stack = spec.encap == Encap::Srv6 ? Stack::Srv6 : spec.encap == Encap::Srv6Srh ? Stack::Srv6Srh : Stack::Ipv6;
  qp->spec.ev_active = {};  // not needed any more
  qp->spec.ev_backup = {};
  lanes_[qp->plane].qps.push_back(static_cast<uint32_t>(qps_.size()));
  qps_.push_back(std::move(qp));
  return true;
}

uint64_t RoceEndpoint::path_hash(const Qp& qp) const {
  const QpSpec& spec = qp.spec;
  return Rng::hash(uint64_t{access_.node()} << 32 ^ spec.peer ^ uint64_t{spec.qpn} << 48 ^
                   uint64_t{spec.peer_qpn} << 16 ^ Rng::hash(qp.life) * (qp.life != 0));
}

bool RoceEndpoint::reset(uint32_t qpn) {
  Qp* qp = find(qpn);
  if (qp == nullptr) return false;
  constexpr uint32_t kLifePsns = 1u << 20;
  const uint32_t life = qp->life + 1;
  Qp fresh;
  fresh.spec = qp->spec;
  fresh.life = life;
  fresh.plane = qp->plane;
  fresh.stack = qp->stack;
  fresh.timer = qp->timer;  // one that is under way finds nothing to do
  fresh.una = fresh.next = fresh.end = fresh.sent = fresh.expected = life * kLifePsns & 0xff'ffffu;
  *qp = std::move(fresh);
  // Any value leads to the peer: switches hash it, or it names an uplink.
  qp->ev = std::max(1u, static_cast<uint32_t>(path_hash(*qp)));
  return true;
}

bool RoceEndpoint::post(const WorkRequest& request) {
  Qp* qp = find(request.qpn);
  if (qp == nullptr || qp->failed || request.bytes == 0 || request.bytes > kMaxMessage) return false;
  const auto packets = static_cast<uint32_t>((request.bytes + qp->spec.mtu - 1) / qp->spec.mtu);
  if (psn_dist(qp->end, qp->una) + packets >= kPsnHalf) return false;
  qp->messages.push_back(
      {request.id, static_cast<uint32_t>(request.bytes), qp->end, packets, request.imm, request.immediate});
  qp->end = psn_add(qp->end, packets);
  qp->ready = std::max(qp->ready, access_.now() + config_.work_to_wire);
  if (started_) kick(*qp);
  return true;
}

bool RoceEndpoint::steady(uint32_t qpn) const {
  const Qp* qp = find(qpn);
  return qp != nullptr && !qp->failed && qp->retries + 1 < config_.retries;
}
EvCounts RoceEndpoint::ev_counts(uint32_t qpn) const { return {.good = find(qpn) == nullptr ? 0u : 1u}; }

double RoceEndpoint::full_rate(const Qp& qp) const {
  const double port = access_.rate(qp.plane).valid() ? access_.rate(qp.plane).gbps() : 0;
  return config_.rate_gbps > 0 && (port <= 0 || config_.rate_gbps < port) ? config_.rate_gbps : port;
}
double RoceEndpoint::rate_gbps(uint32_t qpn) const {
  const Qp* qp = find(qpn);
  return qp == nullptr ? 0 : qp->rate > 0 ? qp->rate : full_rate(*qp);
}

void RoceEndpoint::schedule_wake(Time time) {
  if (time >= wake_at_) return;
  wake_at_ = time;
  access_.wake_at(time);
}
void RoceEndpoint::kick(Qp& qp) {
  if (lanes_[qp.plane].idle) access_.kick(qp.plane);
}

// Sending.

PacketPtr RoceEndpoint::make(const Qp& qp, uint8_t opcode, bool data) {
  PacketPtr packet = access_.pool().make();
  Packet& p = *packet;
  if (has_outer_ipv6(qp.spec.encap)) {
    const U128 address = srv6_address(qp.spec.path_template, qp.plane, qp.ev, qp.spec.path_rule);
    p.dst = {static_cast<uint64_t>(address >> 64), static_cast<uint64_t>(address)};
    if (qp.stack == Stack::Srv6Srh) {
      p.segments_left = 1;
      access_.pool().attach(p).segment = host_address(qp.spec.peer);
    }
  } else {
    p.dst = host_address(qp.spec.peer);
  }
  p.entropy = qp.ev;
  p.src = access_.node();
  p.stack = qp.stack;
  p.dst_host = qp.spec.peer;
  p.dscp = (data ? config_.dscp.no_trim : config_.dscp.control) & 63;
  p.ecn = data ? 2 : 0;
  p.dqp = qp.spec.peer_qpn;
  p.opcode = opcode;
  p.bth = 0;
  p.payload = 0;
  p.tx_timestamp = 0;
  return packet;
}

void RoceEndpoint::answer(const Qp& qp, uint8_t opcode, uint32_t psn, uint8_t syndrome) {
  PacketPtr packet = make(qp, opcode, false);
  packet->psn = psn;
  packet->sack = {};
  packet->sack.m = syndrome;
  packet->sack.cack_psn = qp.delivered & 0xff'ffffu;
  packet->size = static_cast<uint16_t>(frame_size(qp.stack, static_cast<uint8_t>(Opcode::Ack), false, 0) +
                                       (opcode == kCnp ? kCnpBytes - kAethBytes : 0));
  packet->at_ps = access_.now() + config_.packet_to_answer;
  Lane& lane = lanes_[qp.plane];
  if (lane.idle && lane.head == nullptr) schedule_wake(packet->at_ps);
  Packet* raw = packet.release();
  raw->next = nullptr;
  (lane.head == nullptr ? lane.head : lane.tail->next) = raw;
  lane.tail = raw;
}

PacketPtr RoceEndpoint::next_packet(Qp& qp) {
  uint32_t m = 0;
  while (psn_dist(qp.next, qp.messages[m].first) >= qp.messages[m].packets) ++m;
  const Message& message = qp.messages[m];
  const uint32_t idx = psn_dist(qp.next, message.first);
  const bool last = idx + 1 == message.packets;
  const uint8_t opcode = write_opcode(idx == 0, last, message.immediate);
  PacketPtr packet = make(qp, opcode, true);
  Packet& p = *packet;
  p.psn = qp.next;
  p.payload = static_cast<uint16_t>(last ? message.bytes - idx * qp.spec.mtu : qp.spec.mtu);
  p.bth = last || psn_add(qp.next, 1) == qp.end ? kBthAckReq : 0;
  p.data = {0, 0, message.bytes, message.imm, static_cast<uint16_t>(qp.msn + m), 0, message.id};
  p.size = static_cast<uint16_t>(frame_size(qp.stack, opcode, false, p.payload) - kMethBytes -
                                 (is_first(opcode) ? 0 : kRethBytes));
  ++stats_.data_packets;
  if (psn_before(qp.next, qp.sent)) {
    ++stats_.retransmissions;
    p.bth |= kBthRtx;
  } else {
    stats_.data_bytes += p.payload;
    qp.sent = psn_add(qp.next, 1);
  }
  qp.next = psn_add(qp.next, 1);
  if (qp.rate <= 0) qp.rate = qp.target = full_rate(qp);
  const Time now = access_.now();
  qp.next_send = std::max(qp.next_send, now) + Rate::gbps(qp.rate).time(wire_bytes(p.size));
  start_timer(qp);
  return packet;
}

PacketPtr RoceEndpoint::pull(unsigned plane) {
  Lane& lane = lanes_[plane];
  const Time now = access_.now();
  lane.idle = false;
  if (lane.head != nullptr && lane.head->at_ps <= now) {
    Packet* packet = lane.head;
    lane.head = packet->next;
    return PacketPtr(packet);
  }
  Time next = lane.head != nullptr ? lane.head->at_ps : kNever;
  const auto count = static_cast<uint32_t>(lane.qps.size());
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t at = (lane.turn + i) % count;
    Qp& qp = *qps_[lane.qps[at]];
    if (qp.failed || qp.next == qp.end || psn_dist(qp.next, qp.una) >= config_.window) continue;
    const Time ready = std::max(qp.ready, qp.next_send);
    if (ready > now) {
      next = std::min(next, ready);
      continue;
    }
    lane.turn = (at + 1) % count;
    return next_packet(qp);
  }
  lane.idle = true;
  lane.wake = next;
  if (next != kNever) schedule_wake(next);
  return nullptr;
}

// Timers.

void RoceEndpoint::start_timer(Qp& qp) {
  if (qp.timer) return;
  qp.timer = true;
  qp.progress = access_.now();
  const auto index = static_cast<uint32_t>(
      std::find_if(qps_.begin(), qps_.end(), [&](const auto& q) { return q.get() == &qp; }) - qps_.begin());
  timers_.push({access_.now() + config_.timeout, index});
  schedule_wake(access_.now() + config_.timeout);
}

void RoceEndpoint::timer(Qp& qp) {
  const Time now = access_.now();
  qp.timer = false;
  if (qp.failed || qp.una == qp.sent) return;
  if (now - qp.progress < config_.timeout) {
    const Time progress = qp.progress;
    start_timer(qp);
    qp.progress = progress;
    return;
  }
  if (qp.retries++ >= config_.retries) {
    fail(qp);
    return;
  }
  ++stats_.timeouts;
  qp.next = qp.una;
  start_timer(qp);
  kick(qp);
}

void RoceEndpoint::wake() {
  wake_at_ = kNever;
  const Time now = access_.now();
  while (!timers_.empty() && timers_.top().time <= now) {
    Qp& qp = *qps_[timers_.top().qp];
    timers_.pop();
    timer(qp);
  }
  for (unsigned p = 0; p < lanes_.size(); ++p) {
    Lane& lane = lanes_[p];
    if (!lane.idle) continue;
    if (lane.head != nullptr) lane.wake = std::min(lane.wake, lane.head->at_ps);
    if (lane.wake <= now) {
      lane.wake = kNever;
      access_.kick(p);
    } else if (lane.wake != kNever) {
      schedule_wake(lane.wake);
    }
  }
  if (!timers_.empty()) schedule_wake(timers_.top().time);
}

void RoceEndpoint::link_changed(unsigned plane, bool) {
  Lane& lane = lanes_[plane];
  while (lane.head != nullptr) Recycle{}(std::exchange(lane.head, lane.head->next));
  lane.idle = true;
}

void RoceEndpoint::fail(Qp& qp) {
  qp.failed = true;
  ++stats_.failed_qps;
  while (!qp.messages.empty()) {
    const Message message = qp.messages.pop_front();
    if (listener_ != nullptr) {
      listener_->completed({access_.node(), qp.spec.qpn, message.id, message.bytes, false});
    }
  }
}

// DCQCN.

void RoceEndpoint::on_cnp(Qp& qp) {
  if (!config_.dcqcn) return;
  adapt(qp);
  const Time now = access_.now();
  if (qp.rate <= 0) qp.rate = full_rate(qp);
  qp.target = qp.rate;
  qp.rate = std::max(config_.min_gbps, qp.rate * (1 - qp.alpha / 2));
  qp.alpha = (1 - config_.alpha_g) * qp.alpha + config_.alpha_g;
  qp.adapting = true;
  qp.increases = 0;
  qp.next_alpha = now + config_.alpha_interval;
  qp.next_increase = now + config_.rate_interval;
}

/// What the timers would have done up to now.
void RoceEndpoint::adapt(Qp& qp) {
  if (!qp.adapting) return;
  const Time now = access_.now();
  for (; qp.next_alpha <= now; qp.next_alpha += config_.alpha_interval) qp.alpha *= 1 - config_.alpha_g;
  const double most = full_rate(qp);
  for (; qp.next_increase <= now && qp.adapting; qp.next_increase += config_.rate_interval) {
    ++qp.increases;
    if (qp.increases > 2 * config_.fast_recoveries) {
      qp.target += config_.hyper_gbps;
    } else if (qp.increases > config_.fast_recoveries) {
      qp.target += config_.additive_gbps;
    }
    qp.target = std::min(qp.target, most);
    qp.rate = (qp.rate + qp.target) / 2;
    if (qp.rate >= 0.999 * most) {
      qp.rate = most;
      qp.adapting = false;
    }
  }
}

// Receiving.

void RoceEndpoint::receive(PacketPtr packet, unsigned) {
  if (packet->dst_host != access_.node()) {
    ++misdirected_;
    return;
  }
  Qp* qp = find(packet->dqp);
  if (qp == nullptr) return;
  if (packet->ecn == 3) ++stats_.marked;
  if (is_data_opcode(packet->opcode)) {
    on_data(*qp, *packet);
  } else if (qp->failed) {
    return;
  } else if (packet->opcode == kCnp) {
    on_cnp(*qp);
  } else if (packet->opcode == static_cast<uint8_t>(Opcode::Ack)) {
    on_answer(*qp, *packet);
  }
}

void RoceEndpoint::on_data(Qp& qp, const Packet& p) {
  const Time now = access_.now();
  const auto ack = static_cast<uint8_t>(Opcode::Ack);
  if (p.ecn == 3 && now >= qp.next_cnp) {
    qp.next_cnp = now + config_.cnp_interval;
    ++cnps_;
    answer(qp, kCnp, 0, 0);
  }
  if (p.dscp == config_.dscp.trimmed || p.dscp == config_.dscp.trimmed_lasthop) {
    ++stats_.trimmed;  // nothing of it can be used
    return;
  }
  if (p.psn != qp.expected) {
    if (psn_before(p.psn, qp.expected)) {
      ++stats_.duplicates;
      answer(qp, ack, psn_add(qp.expected, -1), kAckSyndrome);
      ++stats_.acks;
    } else if (!qp.nak_sent) {
      qp.nak_sent = true;
      answer(qp, ack, qp.expected, kNakSequence);
      ++stats_.nacks;
    }
    return;
  }
  qp.nak_sent = false;
  qp.expected = psn_add(qp.expected, 1);
  ++stats_.delivered_packets;
  stats_.delivered_bytes += p.payload;
  qp.unacked += p.payload;
  const bool last = is_last(p.opcode);
  if (last) ++qp.delivered;
  if (last || (p.bth & kBthAckReq) != 0 || qp.unacked >= config_.ack_bytes) {
    qp.unacked = 0;
    answer(qp, ack, p.psn, kAckSyndrome);
    ++stats_.acks;
  }
  if (last && listener_ != nullptr) {
    listener_->delivered({access_.node(), qp.spec.qpn, qp.delivered - 1, p.data.dma_length});
  }
}

void RoceEndpoint::acknowledge(Qp& qp, uint32_t next) {
  if (!psn_before(qp.una, next) || psn_before(qp.sent, next)) return;
  qp.una = next;
  if (psn_before(qp.next, next)) qp.next = next;
  qp.progress = access_.now();
  qp.retries = 0;
  while (!qp.messages.empty() && !psn_before(next, psn_add(qp.messages.front().first, qp.messages.front().packets))) {
    const Message message = qp.messages.pop_front();
    ++qp.msn;
    ++stats_.completions;
    if (listener_ != nullptr) {
      listener_->completed({access_.node(), qp.spec.qpn, message.id, message.bytes, true});
    }
  }
}

void RoceEndpoint::on_answer(Qp& qp, const Packet& p) {
  adapt(qp);
  if (p.sack.m == kNakSequence) {
    acknowledge(qp, p.psn);  // all before it has arrived
    if (!psn_before(p.psn, qp.una) && psn_before(p.psn, qp.next)) qp.next = p.psn;
  } else {
    acknowledge(qp, psn_add(p.psn, 1));
  }
  kick(qp);
}

}  // namespace mrc::sim

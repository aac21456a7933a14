// SPDX-License-Identifier: Apache-2.0
/// A NIC that answers as told, seen from outside. The latency of its profile is 1 us + 1 us + one frame (9038 bytes at
/// 100 Gb/s: 723 ns).
#pragma once

#include <map>
#include <memory>

#include "reference/responder_judge.hpp"
#include "tests/reference/us.hpp"
#include "wire/decode.hpp"

namespace mrc::test {

using namespace mrc::ref;

constexpr log::Time kLate = 4 * kUs;  // beyond every deadline
constexpr uint32_t kEv = 0x12340005;

struct ResponderBench {
  Profile profile;
  Report report{0};
  std::unique_ptr<ResponderJudge> judge;
  log::Qp qp;
  uint64_t number = 0;

  explicit ResponderBench(bool silent_drops = false) {
    profile.take = kUs;
    profile.answer = kUs;
    profile.silent_drops = silent_drops;
    qp.qp = 20;
    qp.peer_qp = 30;
    qp.state = log::QpState::Rts;
    qp.mtu = 256;
    qp.own_ip[15] = 1;
    qp.peer_ip[15] = 2;
  }
  void start() {
    judge = std::make_unique<ResponderJudge>(profile, report);
    judge->qp(qp, 0);
    log::Mr mr;
    mr.rkey = 7;
    mr.va = 0x1000;
    mr.bytes = 1 << 20;
    judge->region(mr, 0);
  }

  void put(bool sent, wire::Packet p, log::Time at, uint8_t flags = 0, uint8_t plane = 0) {
    const wire::WireConfig config = profile.wire();
    wire::complete(p);
    log::Frame frame;
    frame.sent = sent;
    frame.plane = plane;
    frame.flags = flags;
    frame.last = at;
    frame.number = ++number;
    frame.bytes = wire::encode(p, config);
    const wire::Packet seen = wire::decode(frame.bytes, config);
    judge->now(at);
    const Seen s{frame, seen, at, at};
    sent ? judge->sent(s) : judge->received(s);
  }
  wire::Packet packet(wire::Opcode opcode, bool to_device, bool stamp = false) const {
    wire::Packet p = wire::make_packet(opcode, wire::Encapsulation::Ipv6, stamp, profile.wire());
    p.ipv6->src = to_device ? qp.peer_ip : qp.own_ip;
    p.ipv6->dst = to_device ? qp.own_ip : qp.peer_ip;
    p.bth->dqp = to_device ? qp.qp : qp.peer_qp;
    p.bth->p_key = qp.pkey;
    p.set_entropy(kEv);
    return p;
  }
  /// A message of one packet, 100 bytes.
  wire::Packet write(uint32_t psn, uint16_t msn, bool stamp = false) const {
    wire::Packet p = packet(wire::Opcode::WriteOnly, true, stamp);
    p.bth->psn = psn;
    p.meth->msn = msn;
    p.reth->va = 0x1000;
    p.reth->r_key = 7;
    p.reth->dma_length = 100;
    p.payload.assign(100, 0x5a);
    if (stamp) p.tseth->tx_timestamp16 = static_cast<uint16_t>(1000 + psn);
    return p;
  }
  wire::Packet sack(uint32_t cack, int trigger, uint64_t bitmap, uint16_t above, uint32_t units) const {
    wire::Packet p = packet(wire::Opcode::Sack, false);
    p.bth->psn = cack;
    p.seth->cack_psn = cack;
    p.seth->ack_psn_offset = static_cast<int16_t>(trigger - static_cast<int>(cack));
    p.seth->entropy = kEv;
    p.seth->sack_offset = 1;
    p.seth->sack_bitmap = bitmap;
    p.cc_state->ooo_count = above;
    p.cc_state->rcvd_bytes = units;
    return p;
  }
  wire::Packet ack(uint32_t psn, uint32_t msn, uint8_t syndrome = 0x1f) const {
    wire::Packet p = packet(wire::Opcode::Ack, false);
    p.bth->psn = psn;
    p.aeth->syndrome = syndrome;
    p.aeth->msn = msn;
    return p;
  }
  wire::Packet nack(uint32_t psn, uint8_t reason) const {
    wire::Packet p = packet(wire::Opcode::Nack, false);
    p.bth->psn = psn;
    p.neth->nack_psn = psn;
    p.neth->reason = reason;
    p.neth->entropy = kEv;
    return p;
  }
  /// It shows what its window takes and what its SACKs read.
  void show() {
    profile.shows =
        1u << static_cast<unsigned>(log::EventKind::Take) | 1u << static_cast<unsigned>(log::EventKind::Answer);
    profile.silent_drops = true;
  }
  void take(uint32_t psn, log::Time at, log::TakeResult result = log::TakeResult::New, log::Time by = 0) {
    judge->now(at);
    judge->event({log::EventKind::Take, qp.qp, {psn, static_cast<uint64_t>(result), 0, kEv, by == 0 ? at + 1 : by}},
                 at);
  }
  void read(uint32_t trigger, uint32_t cack, uint32_t base, log::Time at) {
    judge->now(at);
    judge->event({log::EventKind::Answer, qp.qp, {0xDC, 0, trigger, cack, base}}, at);
  }
  void end(log::Time at, uint64_t drops = 0) {
    // A later packet of the peer is the proof that time has passed.
    judge->counter({"silent_drops", drops}, at);
    judge->finish({}, at);
  }
  uint64_t broken(Rule rule) const { return report.tally(rule).broken; }
  uint64_t ok(Rule rule) const { return report.tally(rule).checked; }
  uint64_t all_broken() const { return report.findings().size(); }
};

// UDP length of write(): 8 + 12 BTH + 4 METH + 16 RETH + 100 + 4 ICRC = 144; nominal 184.
constexpr uint32_t units(unsigned packets) { return (packets * 184 + 255) / 256; }

}  // namespace mrc::test

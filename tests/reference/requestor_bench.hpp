// SPDX-License-Identifier: Apache-2.0
/// A NIC that sends as told, seen from outside; expectations are calculated by hand. Its profile promises 1 us + 1 us,
/// so a cause must have acted after 2 us, and after 16 times as much of free time what is owed must have been sent.
/// The timer is 16.384 us (TIMEOUT 4), the reorder tolerance 5 packets.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <memory>

#include "reference/requestor_judge.hpp"
#include "tests/reference/us.hpp"
#include "wire/decode.hpp"

namespace mrc::test {

inline constexpr uint32_t kFirst = 0xFFFFFE;  // wraps at once

inline uint32_t ev_of(uint32_t psn) { return 0x10000 + (psn & 7); }

using namespace mrc::ref;

struct RequestorBench {
  Profile profile;
  Report report{0};
  std::unique_ptr<RequestorJudge> judge;
  log::Qp qp;
  uint64_t number = 0;

  RequestorBench() {
    profile.take = profile.answer = kUs;
    profile.silent_drops = false;
    profile.settings.reorder_pkts = 5;
    qp.qp = 20;
    qp.peer_qp = 30;
    qp.state = log::QpState::Rts;
    qp.mtu = 256;
    qp.timeout = 4;
    qp.mpr = qp.mpr_dest = 2;
    qp.retry_linear = 1;
    qp.retry_exp = 1;
    qp.sq_psn = kFirst;
    qp.own_ip[15] = 1;
    qp.peer_ip[15] = 2;
  }
  void start() {
    judge = std::make_unique<RequestorJudge>(profile, report);
    judge->qp(qp, 0);
  }
  /// Time passes: a sweep each microsecond.
  void until(log::Time time) {
    for (log::Time at = swept_; at <= time; at += kUs) judge->now(at);
    swept_ = std::max(swept_, time);
    judge->now(time);
  }
  void put(bool sent, wire::Packet p, log::Time at, unsigned plane = 0) {
    const wire::WireConfig config = profile.wire();
    wire::complete(p);
    log::Frame frame;
    frame.sent = sent;
    frame.plane = static_cast<uint8_t>(plane);
    frame.last = at;
    frame.number = ++number;
    frame.bytes = wire::encode(p, config);
    const wire::Packet seen = wire::decode(frame.bytes, config);
    REQUIRE_FALSE(seen.error);
    until(at);
    const Seen s{frame, seen, at, at};
    sent ? judge->sent(s) : judge->received(s);
  }
  wire::Packet packet(wire::Opcode opcode, bool to_device, bool time_stamp = false) const {
    wire::Packet p = wire::make_packet(opcode, wire::Encapsulation::Ipv6, time_stamp, profile.wire());
    p.ipv6->src = to_device ? qp.peer_ip : qp.own_ip;
    p.ipv6->dst = to_device ? qp.own_ip : qp.peer_ip;
    p.bth->dqp = to_device ? qp.qp : qp.peer_qp;
    p.bth->p_key = qp.pkey;
    return p;
  }
  /// Packet n of the QP, a message of its own of 100 bytes.
  void data(uint32_t n, log::Time at, bool again = false, uint32_t entropy = 0, unsigned plane = 0) {
    wire::Packet p = packet(wire::Opcode::WriteOnly, false);
    p.bth->psn = (kFirst + n) & 0xFFFFFF;
    p.bth->rtx = again ? 1 : 0;
    p.meth->msn = static_cast<uint16_t>(n);
    p.reth->dma_length = 100;
    p.payload.assign(100, 0x5a);
    p.set_entropy(entropy != 0 ? entropy : ev_of(n));
    put(true, p, at, plane);
  }
  /// Packets up to `cack` have arrived, and those of the bitmap; `trigger` brought it.
  void sack(int cack, int trigger, uint64_t bitmap, uint16_t above, log::Time at, uint8_t mpr = 0) {
    wire::Packet p = packet(wire::Opcode::Sack, true);
    p.seth->cack_psn = p.bth->psn = (kFirst + static_cast<uint32_t>(cack)) & 0xFFFFFF;
    p.seth->ack_psn_offset = static_cast<int16_t>(trigger - cack);
    p.seth->sack_offset = 1;
    p.seth->sack_bitmap = bitmap;
    p.seth->mpr = mpr;
    p.cc_state->ooo_count = above;
    put(false, p, at);
  }
  void ack(uint32_t n, uint8_t syndrome, log::Time at) {
    wire::Packet p = packet(wire::Opcode::Ack, true);
    p.bth->psn = (kFirst + n) & 0xFFFFFF;
    p.aeth->syndrome = syndrome;
    p.aeth->msn = n + 1;
    put(false, p, at);
  }
  void nack(uint32_t n, uint8_t reason, log::Time at, uint32_t entropy = 0) {
    wire::Packet p = packet(wire::Opcode::Nack, true);
    p.bth->psn = p.neth->nack_psn = (kFirst + n) & 0xFFFFFF;
    p.neth->reason = reason;
    p.neth->entropy = entropy != 0 ? entropy : ev_of(n);
    put(false, p, at);
  }
  void post(uint64_t bytes, log::Time at, uint64_t wr_id = 0) {
    until(at);
    log::Post work;
    work.qp = qp.qp;
    work.bytes = bytes;
    work.wr_id = wr_id;
    judge->posted(work, at);
  }
  void done(uint64_t wr_id, log::Status status, log::Time at) {
    until(at);
    log::Cqe cqe;
    cqe.qp = qp.qp;
    cqe.wr_id = wr_id;
    cqe.status = status;
    judge->completed(cqe, at);
  }
  void end(log::Time at) {
    until(at);
    judge->finish({}, at);
  }
  uint64_t broken(Rule rule) const { return report.tally(rule).broken; }
  uint64_t ok(Rule rule) const { return report.tally(rule).checked; }
  uint64_t resting(Rule rule) const {
    uint64_t sum = 0;
    for (const auto& [reason, times] : report.tally(rule).rests) sum += times;
    return sum;
  }
  std::size_t all() const { return report.findings().size(); }

 private:
  log::Time swept_ = 0;
};

}  // namespace mrc::test

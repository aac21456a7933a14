// SPDX-License-Identifier: Apache-2.0
/// What one QP does and hears, told step by step to the whole judge.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "reference/run.hpp"
#include "tests/reference/life.hpp"
#include "tests/reference/us.hpp"

namespace mrc::test {

inline constexpr uint64_t kMemory = 0x80000, kVa = 0x1000;

/// One QP, told step by step.
class Tale {
 public:
  explicit Tale(log::Qp qp = life_qp(), const ref::Profile& profile = life_profile()) {
    push(log::Device{"nic", ref::to_json(profile)});
    for (const auto state : {log::QpState::Init, log::QpState::Rtr, log::QpState::Rts}) {
      qp.state = state;
      push(qp);
    }
    push(log::Mr{7, true, true, kVa, 1 << 20, kMemory});
  }

  /// Frames alone are seen, of a NIC that nobody tells of, and its QP as they show it.
  static Tale captured(log::Qp qp) {
    Tale tale{Nothing{}};
    tale.push(log::Device{"nic", ""});
    qp.flags |= log::kInferred;
    qp.state = log::QpState::Rts;
    tale.push(qp);
    return tale;
  }

  static wire::Packet packet(wire::Opcode opcode, bool sent, uint32_t psn) {
    wire::Packet p = wire::make_packet(opcode, wire::Encapsulation::Ipv6, false);
    p.ipv6->src = sent ? kOwn : kPeer;
    p.ipv6->dst = sent ? kPeer : kOwn;
    p.ipv6->dscp = opcode <= wire::Opcode::WriteOnlyImm ? 4 : 46;
    p.bth->p_key = 0xffff;
    p.bth->dqp = sent ? kPeerQp : kQp;
    p.bth->psn = psn & 0xFFFFFF;
    return p;
  }
  static wire::Packet write(bool sent, uint32_t n, uint32_t ev_number, bool again = false, uint32_t bytes = 64) {
    wire::Packet p = packet(wire::Opcode::WriteOnly, sent, (sent ? kSqPsn : kRqPsn) + n);
    p.set_entropy(ev(ev_number));
    p.bth->rtx = again ? 1 : 0;
    if (again) p.ipv6->dscp = 8;
    p.meth->msn = static_cast<uint16_t>(n);
    p.reth->va = sent ? 0x9000 : kVa + 0x400ull * n;
    p.reth->r_key = sent ? 9 : 7;
    p.reth->dma_length = bytes;
    p.payload.assign(bytes, static_cast<uint8_t>(n));
    return p;
  }
  void sends(uint32_t n, uint32_t ev_number, bool again = false) {
    frame(true, ev_number % 2, write(true, n, ev_number, again));
  }
  /// Packets up to `cack` and the one that triggers it have come, counted from SQ_PSN.
  void hears_sack(int cack, int trigger) {
    wire::Packet p = packet(wire::Opcode::Sack, false, kSqPsn + static_cast<uint32_t>(cack));
    p.seth->cack_psn = p.bth->psn;
    p.seth->ack_psn_offset = static_cast<int16_t>(trigger - cack);
    frame(false, 0, p);
  }
  void hears_ack(uint32_t n, const std::function<void(std::vector<uint8_t>&)>& damage = {}) {
    wire::Packet p = packet(wire::Opcode::Ack, false, kSqPsn + n);
    p.aeth->syndrome = 0x1F;
    p.aeth->msn = n + 1;
    frame(false, 0, p, damage);
  }
  void frame(bool sent, unsigned plane, wire::Packet p, const std::function<void(std::vector<uint8_t>&)>& damage = {}) {
    wire::complete(p);
    log::Frame f;
    f.sent = sent;
    f.plane = static_cast<uint8_t>(plane);
    f.bytes = wire::encode(p);
    if (damage) damage(f.bytes);
    f.length = static_cast<uint32_t>(f.bytes.size());
    f.last = now_ + kUs / 10;
    f.number = ++number_;
    push(f);
  }
  template <class Body>
  void push(Body body) {
    log::Record record{0, now_, std::move(body)};
    run_.push(record);
    now_ += kUs / 5;
  }
  void waits(log::Time time) { now_ += time; }
  /// Times the rule was broken, once the tale is over.
  uint64_t broken(ref::Rule rule) {
    ends();
    return run_.tally(rule).broken;
  }
  uint64_t checked(ref::Rule rule) const { return run_.tally(rule).checked; }
  /// All rules that were broken.
  std::string wrong() {
    ends();
    std::string text;
    for (const ref::Finding& f : run_.findings()) text += std::string(ref::info(f.rule).id) + " ";
    return text;
  }
  uint64_t rests(ref::Rule rule) const {
    uint64_t sum = 0;
    for (const auto& [reason, times] : run_.tally(rule).rests) sum += times;
    return sum;
  }
  /// No more is told.
  void ends() {
    if (std::exchange(over_, true)) return;
    push(log::End{false, ""});
    run_.finish();
  }

 private:
  struct Nothing {};
  explicit Tale(Nothing) {}

  ref::Run run_{{}};
  bool over_ = false;
  log::Time now_ = 10 * kUs;
  uint64_t number_ = 0;
};

}  // namespace mrc::test

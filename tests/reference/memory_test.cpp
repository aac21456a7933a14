// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "reference/run.hpp"
#include "tests/reference/life.hpp"

namespace mrc::test::memory_test {
namespace {

/// Messages of one packet, both ways, for ever; every 16th is lost and sent again.
class Stream {
 public:
  explicit Stream(ref::Run& run) : run_(run) {
    push(log::Device{"nic", ref::to_json(life_profile())});
    log::Qp qp = life_qp();
    qp.state = log::QpState::Init;
    push(qp);
    qp.state = log::QpState::Rts;
    push(qp);
    push(log::Mr{7, true, true, 0x1000, 1 << 20, 0x80000});
  }
  void message(uint32_t n) {
    log::Post post;
    post.qp = kQp;
    post.wr_id = n;
    post.addr = 0x200000;
    post.remote = 0x9000;
    post.bytes = 64;
    post.rkey = 9;
    push(post);
    wire::Packet data = packet(wire::Opcode::WriteOnly, true, kSqPsn + n);
    data.bth->dqp = kPeerQp;
    data.meth->msn = static_cast<uint16_t>(n);
    data.reth->va = 0x9000;
    data.reth->r_key = 9;
    data.reth->dma_length = 64;
    data.payload.assign(64, static_cast<uint8_t>(n));
    send(true, data);
    if (n % 16 == 0) {
      wire::Packet nack = packet(wire::Opcode::Nack, false, kSqPsn + n);
      nack.neth->nack_psn = (kSqPsn + n) & 0xFFFFFF;
      nack.neth->reason = 1;
      send(false, nack);
      data.bth->rtx = 1;
      data.ipv6->dscp = 8;
      data.set_entropy(ev(2));
      send(true, data);
    }
    wire::Packet ack = packet(wire::Opcode::Ack, false, kSqPsn + n);
    ack.aeth->syndrome = 0x1F;
    ack.aeth->msn = (n + 1) & 0xFFFF;
    send(false, ack);
    log::Cqe cqe;
    cqe.qp = kQp;
    cqe.wr_id = n;
    push(cqe);
    wire::Packet came = packet(wire::Opcode::WriteOnly, false, kRqPsn + n);
    came.bth->dqp = kQp;
    came.meth->msn = static_cast<uint16_t>(n);
    came.reth->va = 0x1000 + 64 * (n % 4096);
    came.reth->r_key = 7;
    came.reth->dma_length = 64;
    came.payload.assign(64, static_cast<uint8_t>(n));
    send(false, came);
    push(log::Host{log::HostOp::Write, 0x80000 + 64 * (n % 4096), 64, 0, 0, came.payload, 0});
    wire::Packet answer = packet(wire::Opcode::Ack, true, kRqPsn + n);
    answer.bth->dqp = kPeerQp;
    answer.aeth->syndrome = 0x1F;
    answer.aeth->msn = (n + 1) & 0xFFFF;
    send(true, answer);
    if (n % 256 == 0) run_.push({0, now_, log::Until{}});
  }
  uint64_t packets() const { return packets_; }

 private:
  void push(log::Body body) {
    run_.push({0, now_, std::move(body)});
    now_ += 100'000;
  }
  static wire::Packet packet(wire::Opcode opcode, bool sent, uint32_t psn) {
    wire::Packet p = wire::make_packet(opcode, wire::Encapsulation::Ipv6);
    p.ipv6->src = sent ? kOwn : kPeer;
    p.ipv6->dst = sent ? kPeer : kOwn;
    p.set_entropy(ev(0));
    p.ipv6->dscp = opcode == wire::Opcode::WriteOnly ? 4 : 46;
    p.bth->p_key = 0xffff;
    p.bth->dqp = kQp;
    p.bth->psn = psn & 0xFFFFFF;
    return p;
  }
  void send(bool sent, wire::Packet& p) {
    wire::complete(p);
    log::Frame frame;
    frame.sent = sent;
    frame.bytes = wire::encode(p);
    frame.length = static_cast<uint32_t>(frame.bytes.size());
    frame.last = now_ + 50'000;
    push(frame);
    ++packets_;
  }

  ref::Run& run_;
  log::Time now_ = 0;
  uint64_t packets_ = 0;
};

}  // namespace

TEST_CASE("memory does not grow with the length of a log", "[reference][history]") {
  ref::Run run({});
  Stream stream(run);
  uint32_t n = 0;
  uint64_t early = 0;
  for (; n < 20'000; ++n) {
    stream.message(n);
    early = std::max(early, run.memory());
  }
  for (; n < 70'000; ++n) stream.message(n);  // MSNs wrap
  CHECK(run.memory() <= early + early / 4);
  CHECK(run.memory() < 100u << 20);
  run.finish();
  CHECK(run.packets() == stream.packets());
  for (const ref::Finding& f : run.findings()) {
    if (std::string(ref::info(f.rule).part) == "history") FAIL_CHECK(ref::to_text(f));
  }
}

}  // namespace mrc::test::memory_test

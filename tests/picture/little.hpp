// SPDX-License-Identifier: Apache-2.0
/// A log made by hand: device 0 "left" writes a message of five packets to device 1 "right" over two planes. PSN 1 is
/// lost and sent again, PSN 2 is trimmed, NACKed and sent again, PSN 3 is marked. The first PSN is 0xfffffe: numbers
/// wrap within it.
#pragma once

#include <string>
#include <vector>

#include "log/record.hpp"
#include "wire/packet.hpp"

namespace mrc::picture {

class Little {
 public:
  static constexpr uint32_t kFirst = 0xfffffe, kLeftQp = 0x10, kRightQp = 0x22;
  static constexpr log::Time kUs = 1'000'000;

  Little() {
    add(0, 0, log::Device{"left", R"({"planes":2})"});
    add(1, 0, log::Device{"right", R"({"planes":2})"});
    qp(0, kLeftQp, kRightQp, kFirst);
    qp(1, kRightQp, kLeftQp, 7);
    log::Post post;
    post.qp = kLeftQp;
    post.wr_id = 0xabc;
    post.remote = 0x1000;
    post.bytes = 5 * 256;
    post.rkey = 0x55;
    add(0, 1 * kUs, post);
    window(2, 40'000);
    data(10, 0, 0);
    data(11, 1, 1, Way::Lost);
    data(12, 2, 0, Way::Trimmed);
    data(13, 3, 1, Way::Marked);
    sack(16, 0, 0, 0, 0x0);
    nack(17, 2, 0);
    data(19, 2, 1, Way::Again);
    sack(20, 1, 0, 0, 0xc);  // PSN 2 and 3 have arrived; 1 is the hole
    window(21, 20'000);
    path(22, log::EvState::Good, log::EvState::Bad);
    data(23, 1, 0, Way::Again);
    sack(25, 0, 3, 0, 0x0);
    data(26, 4, 1);
    sack(28, 1, 4, 0, 0x0);
    log::Cqe cqe;
    cqe.qp = kLeftQp;
    cqe.wr_id = 0xabc;
    cqe.bytes = post.bytes;
    add(0, 30 * kUs, cqe);
    add(0, 60 * kUs, log::End{});
    add(1, 60 * kUs, log::End{});
  }
  const std::vector<log::Record>& records() const { return records_; }

 private:
  enum class Way { Good, Lost, Trimmed, Marked, Again };

  static log::Ip ip(uint8_t last) {
    log::Ip ip{0xfd};
    ip[15] = last;
    return ip;
  }
  static uint32_t ev(unsigned plane) { return 0x1000 + plane; }

  void add(uint32_t device, log::Time time, log::Body body) { records_.push_back({device, time, std::move(body)}); }

  void qp(uint32_t device, uint32_t own, uint32_t peer, uint32_t first) {
    log::Qp q;
    q.qp = own;
    q.peer_qp = peer;
    q.state = log::QpState::Rts;
    q.mtu = 256;
    q.sq_psn = first;
    q.mpr = 1;
    q.own_ip = ip(static_cast<uint8_t>(device + 1));
    q.peer_ip = ip(static_cast<uint8_t>(2 - device));
    q.evs = {ev(0), ev(1)};
    q.ev_planes = {0, 1};
    add(device, 0, q);
  }

  void window(log::Time us, uint64_t bytes) {
    log::Event e;
    e.kind = log::EventKind::Cc;
    log::CcNotified reported;
    reported.kind = us < 10 ? log::CcKind::Begins : log::CcKind::Nack;
    e.arg = {0, reported.pack(), 0, 0, 0, bytes};
    add(0, us * kUs, e);
  }
  void path(log::Time us, log::EvState before, log::EvState after) {
    log::Event e;
    e.kind = log::EventKind::Path;
    e.qp = kLeftQp;
    e.arg = {ev(1), static_cast<uint64_t>(before), static_cast<uint64_t>(after), 1, 0, 0};
    add(0, us * kUs, e);
  }

  wire::Packet packet(wire::Opcode opcode, uint32_t from, unsigned plane, uint32_t dqp) const {
    wire::Packet p = wire::make_packet(opcode, wire::Encapsulation::Ipv6);
    p.ipv6->src = ip(static_cast<uint8_t>(from + 1));
    p.ipv6->dst = ip(static_cast<uint8_t>(2 - from));
    p.bth->dqp = dqp;
    p.set_entropy(ev(plane));
    return p;
  }
  void frame(uint32_t device, log::Time time, unsigned plane, bool sent, const wire::Packet& p) {
    log::Frame f;
    f.sent = sent;
    f.plane = static_cast<uint8_t>(plane);
    f.bytes = wire::encode(p);
    f.length = static_cast<uint32_t>(f.bytes.size());
    f.last = time + uint64_t{f.length} * 80;
    f.number = ++number_;
    add(device, time, f);
  }

  void data(log::Time us, uint32_t psn, unsigned plane, Way way = Way::Good) {
    wire::Packet p = packet(psn == 0   ? wire::Opcode::WriteFirst
                            : psn == 4 ? wire::Opcode::WriteLast
                                       : wire::Opcode::WriteMiddle,
                            0, plane, kRightQp);
    p.bth->psn = (kFirst + psn) & 0xffffff;
    p.bth->rtx = way == Way::Again;
    p.ipv6->dscp = way == Way::Again ? wire::kDscpTrimmableRetx : wire::kDscpTrimmable;
    p.meth->msn = 9;
    p.reth->va = 0x1000 + uint64_t{psn} * 256;
    p.reth->r_key = 0x55;
    p.reth->dma_length = 5 * 256;
    p.payload.assign(256, static_cast<uint8_t>(psn));
    wire::complete(p);
    frame(0, us * kUs, plane, true, p);
    if (way == Way::Lost) return;
    if (way == Way::Marked) p.ipv6->ecn = 3;
    if (way == Way::Trimmed) {
      p.ipv6->dscp = wire::kDscpTrimmed;
      p.payload.clear();
      p.icrc.reset();
    }
    frame(1, us * kUs + kUs, plane, false, p);
  }
  void answer(log::Time us, unsigned plane, wire::Packet& p) {
    wire::complete(p);
    frame(1, us * kUs, plane, true, p);
    frame(0, us * kUs + kUs, plane, false, p);
  }
  void sack(log::Time us, unsigned plane, uint32_t cack, int base, uint64_t bitmap) {
    wire::Packet p = packet(wire::Opcode::Sack, 1, plane, kLeftQp);
    p.seth->cack_psn = (kFirst + cack) & 0xffffff;
    p.seth->sack_offset = static_cast<int16_t>(base);
    p.seth->sack_bitmap = bitmap;
    answer(us, plane, p);
  }
  void nack(log::Time us, uint32_t psn, unsigned plane) {
    wire::Packet p = packet(wire::Opcode::Nack, 1, plane, kLeftQp);
    p.neth->nack_psn = (kFirst + psn) & 0xffffff;
    p.neth->reason = 1;
    answer(us, plane, p);
  }

  std::vector<log::Record> records_;
  uint64_t number_ = 0;
};

}  // namespace mrc::picture

// SPDX-License-Identifier: Apache-2.0
/// The alien as a responder, and endpoint packets.
#include "alien.hpp"

namespace alien {

void Alien::receive(unsigned plane, Bytes frame) {
  if (!ports_[plane].up) return;
  const std::optional<Packet> p = parse(std::move(frame), ip_);
  if (!p) return;
  if (p->opcode == kQuery || p->opcode == kReport) return endpoint(plane, *p);
  const auto found = qps_.find(p->qp);
  if (found == qps_.end()) return;
  Qp& q = found->second;
  if (p->from != q.peer() || ((p->pkey ^ q.c.pkey) & 0x7fff) != 0) return;
  if (q.state == MRC_QP_RESET || q.state == MRC_QP_INIT) return;
  if (is_write(p->opcode)) return write(q, plane, *p);
  if (p->trimmed) return;
  if (p->opcode == kProbe) {
    if (q.state == MRC_QP_ERROR) return nack(q, plane, *p, 0x19);
    const auto id = static_cast<uint16_t>(p->word(4, 2));
    const Window w = window(2, q, q.seen_cack);
    out_event(now_, MRC_EV_TAKE, q.number, {id, 2, plane, p->entropy, now_});
    sack(q, plane, *p, w, id);
    if (q.has_acked) confirm(q, plane, p->entropy);
    return;
  }
  if (q.state != MRC_QP_RTS) return;
  if (p->opcode == kSack) heard_sack(q, *p);
  if (p->opcode == kNack) heard_nack(q, *p);
  if (p->opcode == kAck) heard_ack(q, *p);
}

void Alien::write(Qp& q, unsigned plane, const Packet& p) {
  const auto take = [&](unsigned result) {
    out_event(now_, MRC_EV_TAKE, q.number, {p.psn, result, plane, p.entropy, now_});
  };
  if (q.state == MRC_QP_ERROR) {
    take(1);
    return q.naks ? confirm(q, plane, p.entropy) : nack(q, plane, p, 0x19);
  }
  if (!p.trimmed && p.payload() != 0 && (ends_message(p.opcode) ? p.payload() > q.c.mtu : p.payload() != q.c.mtu))
    return;
  const Window before = window(2, q, p.psn);
  if (p.trimmed) {
    take(1);
    if (before.verdict == 0 && q.c.trim_nack) nack(q, plane, p, p.last_hop ? 2 : 1);
    if (before.verdict == 1 || before.verdict == 2) sack(q, plane, p, before, {});
    if (before.verdict == 3) nack(q, plane, p, 0x0b);
    return;
  }
  if (before.verdict == 3) {
    take(1);
    return nack(q, plane, p, 0x0b);
  }
  if (before.verdict != 0) {
    take(1);
    if (fault_ == Fault::Twice) place(p);
    sack(q, plane, p, before, {});
    if (before.verdict == 1 && q.has_acked) confirm(q, plane, p.entropy);
    return;
  }
  if (refused(p)) {
    take(1);
    return refuse(q, plane, p, before);
  }
  const Window w = window(3, q, p.psn);
  take(0);
  place(p);
  q.bytes += p.nominal;
  Arrived a;
  a.msn = static_cast<uint16_t>(p.word(2, 2));
  a.rqmsn = static_cast<uint16_t>(p.word(0, 2));
  a.last = ends_message(p.opcode);
  a.imm = has_imm(p.opcode);
  a.bytes = static_cast<uint32_t>(p.word(p.reth() + 12, 4));
  if (a.imm) a.value = static_cast<uint32_t>(p.word(p.reth() + 16, 4));
  q.arrived[p.psn] = a;
  sack(q, plane, p, w, {});
  const uint16_t complete_before = q.expected;
  complete(q, w);
  if (q.expected != complete_before || (fault_ == Fault::Early && a.last)) {
    if (fault_ == Fault::Early && a.last) {
      q.ack.psn = p.psn;
      q.expected = static_cast<uint16_t>(a.msn + 1);
    }
    q.has_acked = true;
    confirm(q, plane, p.entropy);
  }
}

/// A packet that may not be executed.
bool Alien::refused(const Packet& p) const {
  const uint64_t at = p.word(p.reth(), 8);
  const auto found = regions_.find(static_cast<uint32_t>(p.word(p.reth() + 8, 4)));
  if (p.payload() == 0 || p.word(p.reth() + 12, 4) == 0) return true;
  if (found == regions_.end() || !found->second.valid || !found->second.write) return true;
  const mrc_nic_mr_t& region = found->second;
  return at < region.va || at - region.va > region.bytes || p.payload() > region.bytes - (at - region.va);
}

/// In its turn it ends the queue pair; before, it is as if it had not come.
void Alien::refuse(Qp& q, unsigned plane, const Packet& p, const Window& w) {
  if (p.psn != ((w.cack + 1) & kPsn)) return;
  q.syndrome = p.payload() == 0 || p.word(p.reth() + 12, 4) == 0 ? 0x61 : 0x62;
  q.ack.psn = p.psn;
  q.naks = true;
  confirm(q, plane, p.entropy);
  fail(q, MRC_CQE_FLUSHED);
}

void Alien::place(const Packet& p) {
  const mrc_nic_mr_t& region = regions_[static_cast<uint32_t>(p.word(p.reth() + 8, 4))];
  const std::size_t begin = kBody + p.reth() + 16 + (has_imm(p.opcode) ? 4 : 0);
  out_write(now_, region.addr + (p.word(p.reth(), 8) - region.va),
            Bytes(p.frame.begin() + static_cast<long>(begin), p.frame.begin() + static_cast<long>(p.end - p.pad)));
}

/// What cack has passed: messages that are whole now, immediates in their order.
void Alien::complete(Qp& q, const Window& w) {
  while (q.seen_cack != w.cack) {
    q.seen_cack = (q.seen_cack + 1) & kPsn;
    const auto at = q.arrived.find(q.seen_cack);
    if (at == q.arrived.end()) continue;
    const Arrived a = at->second;
    q.arrived.erase(at);
    if (!a.last) continue;
    q.expected = static_cast<uint16_t>(a.msn + 1);
    q.ack.psn = q.seen_cack;
    if (a.imm) out_receive(now_, q.number, a.value, a.rqmsn, a.bytes, MRC_CQE_OK);
  }
}

void Alien::sack(Qp& q, unsigned plane, const Packet& p, const Window& w, std::optional<uint16_t> probe) {
  Bytes b(36);
  const uint32_t trigger = probe ? *probe : static_cast<uint32_t>(apart(p.psn, w.cack));
  set(b, 0, (p.congested ? 1u << 5 : 0u) | (probe ? 2u : 0u), 2);
  set(b, 2, trigger & 0xffff, 2);
  set(b, 4, p.entropy, 4);
  set(b, 8, q.number, 2);
  set(b, 10, q.c.peer_qp, 2);
  set(b, 13, w.cack, 3);
  // Above cack all of it in turn, but so that the packet that asks is in there.
  const int32_t ahead = probe ? 0 : apart(p.psn, w.cack);
  const unsigned base = ahead > 64 ? static_cast<unsigned>(ahead) - 63 : 1;
  set(b, 18, base, 2);
  uint64_t bits = 0;
  for (unsigned i = 0; i < 64 && base - 1 + i < kSpan; ++i) bits |= uint64_t{w.has(base - 1 + i)} << i;
  if (fault_ == Fault::Bitmap) bits |= bits << 1;
  set(b, 20, bits, 8);
  set(b, 30, w.count, 2);
  set(b, 33, (q.bytes + 255) >> 8, 3);
  Head h;
  h.opcode = kSack;
  h.pkey = static_cast<uint16_t>(q.c.pkey);
  h.qp = q.c.peer_qp;
  h.psn = w.cack;
  control(plane, build(route(q, p.entropy), h, kControl, 0, b));
}

void Alien::nack(Qp& q, unsigned plane, const Packet& p, uint8_t reason) {
  Bytes b(20);
  set(b, 2, reason, 1);
  set(b, 4, p.entropy, 4);
  set(b, 8, q.number, 2);
  set(b, 10, q.c.peer_qp, 2);
  set(b, 13, p.psn, 3);
  set(b, 16, 0x20, 1);
  Head h;
  h.opcode = kNack;
  h.pkey = static_cast<uint16_t>(q.c.pkey);
  h.qp = q.c.peer_qp;
  h.psn = p.psn;
  control(plane, build(route(q, p.entropy), h, kControl, 0, b));
}

/// The newest semantic ACK, or the NAK that ended the queue pair.
void Alien::confirm(Qp& q, unsigned plane, uint32_t entropy) {
  Bytes b(4);
  set(b, 0, q.syndrome, 1);
  set(b, 1, q.expected, 3);
  Head h = q.ack;
  h.opcode = kAck;
  h.pkey = static_cast<uint16_t>(q.c.pkey);
  h.qp = q.c.peer_qp;
  control(plane, build(route(q, entropy), h, kControl, 0, b));
}

void Alien::endpoint(unsigned plane, const Packet& p) {
  if (p.trimmed || p.qp != 2) return;
  const Qp* peer = nullptr;
  for (const auto& [n, q] : qps_)
    if (q.state >= MRC_QP_RTR && q.peer() == p.from) peer = &q;
  if (peer == nullptr) return;
  if (p.opcode == kReport) {
    reported_ |= (p.psn & 0xffff) == request_;
    return;
  }
  const auto op = static_cast<unsigned>(p.word(1, 1) & 3);
  if (op > 1) return;
  if (op == 0) {
    const uint64_t mask = p.word(4, 4);
    for (unsigned i = 0; i < kPlanes; ++i) peer_up_[i] = (mask >> (i + 1) & 1) != 0;
  }
  Bytes b(36);
  set(b, 1, op << 2, 1);
  set(b, 28, p.word(12, 2), 2);
  Head h;
  h.opcode = kReport;
  h.pkey = p.pkey;
  h.qp = 2;
  h.psn = p.psn;
  control(plane, build({mac_, p.from_mac, ip_, p.from, p.entropy}, h, kControl, 0, b));
  resume();
}

}  // namespace alien

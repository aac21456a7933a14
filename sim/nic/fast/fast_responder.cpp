// SPDX-License-Identifier: Apache-2.0
/// What the fast endpoint answers (docs/design/blocks/rx/track/rx_track.md, docs/design/blocks/ctl/ack_gen.md).
#include <algorithm>

#include "protocol/probe.hpp"
#include "protocol/responses.hpp"
#include "sim/engine/fabric.hpp"
#include "sim/nic/fast/endpoint_fast.hpp"

namespace mrc::sim {

namespace {
/// A WRITE packet of no bytes, or of a message of none, that may not be (rx_check: `empty` is legal).
bool zero_refused(const Packet& p, ZeroLength zero_length) {
  if (p.payload != 0 && p.data.dma_length != 0) return false;
  const bool only =
      p.opcode == opcode_byte(wire::Opcode::WriteOnly) || p.opcode == opcode_byte(wire::Opcode::WriteOnlyImm);
  return zero_length != ZeroLength::Legal || !only || p.payload != p.data.dma_length;
}
}  // namespace

uint32_t FastEndpoint::answer_ev(const FastQp& qp, unsigned plane) const {
  const FastDest::Reverse& reverse = dest_of(qp).reverse[plane];
  return reverse.valid ? reverse.ev : qp.ev.value(plane & (qp.ev.planes() - 1));
}

PacketPtr FastEndpoint::make_answer(const FastQp& qp, unsigned plane, wire::Opcode opcode, unsigned size,
                                    unsigned& out) {
  out = response_plane(plane, up_, dest_of(qp).peer_mask & ((1u << planes_) - 1u));
  PacketPtr packet = make_packet(qp, out, answer_ev(qp, out), config_.dscp.control, true);
  packet->opcode = static_cast<uint8_t>(opcode);
  packet->size = static_cast<uint16_t>(size);
  return packet;
}

/// Answers that may take any plane go out on the planes in turn.
unsigned FastEndpoint::next_plane(const FastQp& qp, unsigned plane) {
  const unsigned turn = ack_turn_;
  ack_turn_ = (ack_turn_ + 1) % planes_;
  return turn_plane(turn, plane, up_, dest_of(qp).peer_mask);
}

void FastEndpoint::send_sack(FastQp& qp, const Packet& cause, unsigned plane, bool probe) {
  qp.due.trig = 0;
  const uint32_t base = sack_cyclic_base(qp.lowun, qp.cack, qp.max);
  uint64_t bitmap = 0;
  if (qp.ooo != 0) {
    const uint64_t low = qp.rows[base >> 6 & qp.row_mask].rcv;
    const uint64_t high = qp.rows[((base >> 6) + 1) & qp.row_mask].rcv;
    bitmap = sack_bitmap(low, high, base, qp.max);
  }
  qp.lowun = psn_add(base, 64);

  unsigned out = 0;
  PacketPtr packet =
      make_answer(qp, probe ? plane : next_plane(qp, plane), wire::Opcode::Sack, qp.frame_control[0], out);
  packet->psn = qp.cack;
  SackFields& s = packet->sack;
  s = {};
  s.bitmap = bitmap;
  s.entropy = cause.entropy;
  s.cack_psn = qp.cack;
  s.rcvd_bytes = sack_rcvd(qp.rcvd);
  s.ack_psn_offset = static_cast<int16_t>(probe ? cause.probe.probe_id : cause.psn - qp.cack);
  s.sack_offset = static_cast<int16_t>(base - qp.cack);
  packet->tx_timestamp = cause.tx_timestamp;
  s.ooo_count = static_cast<uint16_t>(std::min(qp.ooo, 0x7fffu));
  s.m = static_cast<uint8_t>(cause.ecn == 3 ? wire::Mark::SkipOnce : wire::Mark::None);
  s.pr = probe;
  s.mpr = config_.dynamic_mpr ? qp.mpr_now : 0;
  if (config_.share.on) {
    share_time(config_.share, share_, tick());
    const bool fat = qp.share.fat && qp.share.turn == share_.turn;
    const ShareAnswer share = share_answer(share_levels(config_.share, share_), config_.share.pen, fat, qp.share_armed);
    s.rcv_cwnd_pen = share.pen;
    s.restore_cwnd = share.restore;
  }
  qp.reported_tick = tick();
  qp.reported_stamp = cause.tx_timestamp;
  put_control(std::move(packet), out, config_.packet_to_answer);
  ++stats_.sacks;
  if (!probe && config_.reverse_probes) want_reverse(dest_of(qp), out);
}

void FastEndpoint::send_nack(FastQp& qp, const Packet& cause, unsigned plane, wire::NackReason reason) {
  unsigned out = 0;
  PacketPtr packet = make_answer(qp, plane, wire::Opcode::Nack, qp.frame_control[1], out);
  packet->psn = cause.psn;
  packet->nack = {cause.entropy, cause.psn, static_cast<uint8_t>(reason), 0};
  packet->tx_timestamp = cause.tx_timestamp;
  put_control(std::move(packet), out, config_.packet_to_answer);
  ++stats_.nacks;
}

/// again: it is repeated, and goes where its cause came from.
void FastEndpoint::send_ack(FastQp& qp, unsigned plane, bool again) {
  unsigned out = 0;
  const unsigned on = again ? plane : next_plane(qp, plane);
  PacketPtr packet = make_answer(qp, on, wire::Opcode::Ack, qp.frame_control[2], out);
  packet->psn = qp.ack_psn;
  packet->sack = {};
  packet->sack.m = static_cast<uint8_t>(wire::AethSyndrome::Ack);
  packet->sack.cack_psn = qp.messages & 0xffffu;
  qp.reported_tick = tick();
  put_control(std::move(packet), out, config_.packet_to_answer);
  ++stats_.acks;
}

/// A port is down: what was told last may not have come through. It is told again, on a plane that is left.
void FastEndpoint::report_again(FastQp& qp) {
  if (qp.failed || qp.rcvd == 0 || tick() - qp.reported_tick > full_round_trip(dest_of(qp))) return;
  Packet cause;
  static_cast<PacketFields&>(cause) = {};
  cause.tx_timestamp = qp.reported_stamp;
  cause.probe = {0, kNoProbeId, 0};
  const unsigned plane = next_plane(qp, 0);
  send_sack(qp, cause, plane, true);
  if (qp.ack_valid) send_ack(qp, plane);
}

/// The newest refusal, again.
void FastEndpoint::send_nak(FastQp& qp, unsigned plane) {
  unsigned out = 0;
  PacketPtr packet = make_answer(qp, next_plane(qp, plane), wire::Opcode::Ack, qp.frame_control[2], out);
  packet->psn = qp.refused_psn;
  packet->sack = {};
  packet->sack.m = qp.refused;
  packet->sack.cack_psn = qp.messages & 0xffffu;
  put_control(std::move(packet), out, config_.packet_to_answer);
  ++stats_.acks;
}

void FastEndpoint::on_probe(FastQp& qp, const Packet& packet, unsigned plane) {
  if (qp.refused != 0) {
    send_nak(qp, plane);
    return;
  }
  if (qp.failed) {
    send_nack(qp, packet, plane, wire::NackReason::UnexpEvent);
    return;
  }
  send_sack(qp, packet, plane, true);
  if (qp.ack_valid) send_ack(qp, plane, true);
}

/// A packet has come, and cack has moved. True: a SACK at once, so that the sender saves its window.
bool FastEndpoint::share_packet(FastQp& qp, const Packet& p, bool trimmed) {
  if (!config_.share.on) return false;
  share_time(config_.share, share_, tick());
  const ShareBegun begun = share_begins(qp.share, {.bytes = trimmed ? 0u : p.payload,
                                                   .trimmed = trimmed,
                                                   .msn = static_cast<uint16_t>(p.data.msn),
                                                   .emsn = static_cast<uint16_t>(qp.messages),
                                                   .length = p.data.dma_length});
  share_sums(share_, qp.share, share_counts(share_, qp.share, begun));
  return share_saves(share_levels(config_.share, share_), qp.share_armed);
}

void FastEndpoint::on_data(FastQp& qp, const Packet& p, unsigned plane, bool trimmed) {
  if (trimmed) ++stats_.trimmed;
  const bool zero = !trimmed && zero_refused(p, config_.zero_length);
  if (zero && config_.zero_length != ZeroLength::Nak) return;
  if (qp.refused != 0) {
    send_nak(qp, plane);
    return;
  }
  if (qp.failed) {
    send_nack(qp, p, plane, wire::NackReason::UnexpEvent);
    return;
  }
  RxRow none;
  RxRow& row = qp.ooo != 0 ? qp.rows[p.psn >> 6 & qp.row_mask] : none;
  const PsnClass what = psn_class(p.psn, qp.cack, qp.mpr_now, qp.mpr_dest, row);
  switch (what) {
    case PsnClass::DupBelow:
    case PsnClass::DupAbove:
      if (!trimmed) ++stats_.duplicates;
      send_sack(qp, p, plane, false);
      if (!trimmed && what == PsnClass::DupBelow && qp.ack_valid) send_ack(qp, plane, true);
      return;
    case PsnClass::OutOfWindow: {
      const wire::NackReason reason = oor_reason(p.psn, qp.cack, qp.mpr_dest);
      if (reason == wire::NackReason::NoBitmap || !config_.oor_drop) send_nack(qp, p, plane, reason);
      return;
    }
    case PsnClass::New:
      break;
  }
  if (trimmed) {
    const bool saves = share_packet(qp, p, true);
    const Trim trim = p.dscp == config_.dscp.trimmed ? Trim::Trimmed : Trim::LastHop;
    if (config_.trim_nack) send_nack(qp, p, plane, no_payload_reason(trim));
    if (config_.trim_sack) {
      // As an answer to a probe: the packet has overtaken others, so nothing can be told from its own place.
      if (qp.due.trig != 0 || saves) {
        Packet probe = p;
        probe.ecn = 0;
        probe.probe = {0, kNoProbeId, 0};
        send_sack(qp, probe, plane, true);
      }
      qp.due.tmiss.trimmed(p.psn);
    }
    return;
  }
  if (zero) {  // refused when it is next, until then as if it had been lost
    if (p.psn != psn_add(qp.cack, 1)) return;
    qp.refused = static_cast<uint8_t>(wire::AethSyndrome::NakInvalidRequest);
    qp.refused_psn = p.psn;
    send_nak(qp, plane);
    fail(qp, CqStatus::Flushed);
    return;
  }
  const bool last = !is_unfinished_write(p.opcode), ce = p.ecn == 3;
  const bool ackreq = (p.bth & kBthAckReq) != 0, rtx = (p.bth & kBthRtx) != 0;
  ++stats_.delivered_packets;
  stats_.delivered_bytes += p.payload;
  if (const uint32_t i = msn_dist(p.data.msn, static_cast<uint16_t>(qp.messages)); i < kMsnHalf) {
    while (qp.lengths.size() <= i) qp.lengths.push_back(0);
    qp.lengths[i] = p.data.dma_length;
  }
  unsigned messages = 0;
  if (qp.ooo == 0 && p.psn == psn_add(qp.cack, 1)) {  // nothing to remember
    qp.cack = p.psn;
    if (psn_before(qp.max, p.psn)) qp.max = p.psn;
    if (last) {
      messages = 1;
      qp.ack_psn = p.psn;
    }
  } else {
    if (!qp.rows) qp.rows = std::make_unique<RxRow[]>(qp.row_mask + 1);
    const auto row_of = [&](uint32_t psn) -> RxRow& { return qp.rows[psn >> 6 & qp.row_mask]; };
    RxWindow window{.cack = qp.cack, .max = qp.max, .ooo = static_cast<uint16_t>(qp.ooo)};
    uint32_t first = p.psn;
    for (RowAdvance a = row_take(window, row_of(first), first, last);; a = row_go_on(window, row_of(first), first)) {
      if (a.messages != 0) qp.ack_psn = a.last_psn;
      messages += a.messages;
      if (!a.goes_on) break;
      first = psn_add(first, a.count);
    }
    qp.cack = window.cack;
    qp.max = window.max;
    qp.ooo = window.ooo;
  }
  qp.rcvd += nominal_size(p.payload, p.opcode, (p.bth & kBthTs) != 0, config_.nominal);
  qp.due.trig = sack_trigger_add(qp.due.trig, p.payload);
  const uint32_t from = qp.messages;
  qp.messages += messages;
  const bool saves = share_packet(qp, p, false);
  if (qp.due.arrived(config_.sack_trigger, ackreq, rtx || ce || saves, qp.cack, qp.ooo)) {
    send_sack(qp, p, plane, false);
  }
  if (messages == 0) return;
  qp.ack_valid = true;
  send_ack(qp, plane);
  for (uint32_t m = 0; m < messages; ++m) {
    const uint32_t length = qp.lengths.empty() ? 0 : qp.lengths.pop_front();
    if (listener_ == nullptr) continue;
    Time time = access_.now() + config_.packet_to_memory + config_.lane_time(p.payload, access_.rate(plane));
    if (!placed_.empty()) time = std::max(time, placed_[placed_.size() - 1].time);
    placed_.push_back({time, {access_.node(), qp.qpn, from + m, length}});
    add_timer(time, TimerKind::Memory, 0);
  }
}

}  // namespace mrc::sim

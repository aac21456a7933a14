// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/codec.hpp"

#include <utility>

#include "wire/bytes.hpp"

namespace mrc::sim {

namespace {
using wire::Encapsulation;
using wire::Opcode;

bool encapsulation_of(Stack stack, Encapsulation& out) {
  switch (stack) {
    case Stack::Ipv4:
      out = Encapsulation::Ipv4;
      return true;
    case Stack::Ipv6:
      out = Encapsulation::Ipv6;
      return true;
    case Stack::Srv6:
      out = Encapsulation::Srv6;
      return true;
    case Stack::Srv6Srh:
      out = Encapsulation::Srv6Srh;
      return true;
    default:
      return false;
  }
}
std::array<uint8_t, 16> bytes_of(Address a) {
  std::array<uint8_t, 16> out{};
  wire::store_be<8>(out.data(), a.hi);
  wire::store_be<8>(out.data() + 8, a.lo);
  return out;
}
std::array<uint8_t, 4> ipv4_of(uint32_t host) {
  std::array<uint8_t, 4> out{};
  wire::store_be<4>(out.data(), host);
  return out;
}
}  // namespace

unsigned frame_size(Stack stack, uint8_t opcode, bool ts, unsigned payload) {
  unsigned size = wire::Eth::kBytes + wire::Udp::kBytes + wire::Bth::kBytes + 4;
  size += stack == Stack::Ipv4 ? wire::Ipv4::kBytes : wire::Ipv6::kBytes;
  if (stack == Stack::Srv6 || stack == Stack::Srv6Srh) size += wire::Ipv6::kBytes;
  if (stack == Stack::Srv6Srh) size += wire::Srh::kBytes;
  const wire::OpcodeInfo* info = wire::opcode_info(opcode);
  if (info == nullptr) return size;
  wire::Extensions all;
  wire::Extensions::visit(all, [&](const auto& header) {
    using Header = typename std::decay_t<decltype(header)>::value_type;
    const uint32_t present = info->required | (ts ? info->timestamp : 0);
    if (present >> static_cast<unsigned>(Header::kId) & 1) size += Header::kBytes;
  });
  return info->payload ? size + (payload + 3) / 4 * 4 : size;
}

void read_fields(Packet& p, const wire::Packet& w) {
  p.dqp = p.psn = 0;
  p.opcode = p.bth = 0;
  p.tx_timestamp = 0;
  p.payload = static_cast<uint16_t>(w.payload.size());
  p.data = {};
  if (!w.bth) return;
  p.opcode = w.bth->opcode;
  p.dqp = w.bth->dqp;
  p.psn = w.bth->psn;
  p.bth = (bit_if(w.bth->a, kBthAckReq) | bit_if(w.bth->rtx, kBthRtx) | bit_if(w.bth->ts, kBthTs) |
           bit_if(w.bth->se, kBthSe)) &
          31;
  if (w.tseth) p.tx_timestamp = w.tseth->tx_timestamp16;
  if (w.meth) p.data.msn = w.meth->msn, p.data.rqmsn = w.meth->rqmsn;
  if (w.reth) p.data.va = w.reth->va, p.data.rkey = w.reth->r_key, p.data.dma_length = w.reth->dma_length;
  if (w.immdt) p.data.imm = w.immdt->value;
  if (w.aeth) {
    p.sack = {};
    p.sack.m = w.aeth->syndrome;
    p.sack.cack_psn = w.aeth->msn;
  }
  if (w.seth) {
    p.sack = {};
    p.sack.bitmap = w.seth->sack_bitmap;
    p.sack.entropy = w.seth->entropy;
    p.sack.cack_psn = w.seth->cack_psn;
    p.sack.ack_psn_offset = w.seth->ack_psn_offset;
    p.sack.sack_offset = w.seth->sack_offset;
    p.sack.m = w.seth->m;
    p.sack.pr = w.seth->pr;
    p.sack.mpr = w.seth->mpr;
    p.sack.cc_flags = w.seth->cc_flags;
  }
  if (w.cc_state) {
    p.tx_timestamp = w.cc_state->tx_timestamp16;
    p.sack.ooo_count = w.cc_state->ooo_count;
    p.sack.rcvd_bytes = w.cc_state->rcvd_bytes;
    p.sack.restore_cwnd = w.cc_state->restore_cwnd;
    p.sack.rcv_cwnd_pen = w.cc_state->rcv_cwnd_pen;
  }
  if (w.neth) {
    p.nack = {w.neth->entropy, w.neth->nack_psn, w.neth->reason, w.neth->cc_flags};
    p.tx_timestamp = w.neth->tx_timestamp16;
  }
  if (w.peth) p.probe = {0, w.peth->probe_id, 0}, p.tx_timestamp = w.peth->tx_timestamp16;
  if (w.erth) p.probe = {w.erth->port_status_mask, 0, w.erth->op}, p.tx_timestamp = w.erth->tx_timestamp16;
  if (w.eeth) p.probe = {0, 0, w.eeth->op}, p.tx_timestamp = w.eeth->tx_timestamp16;
}

bool give_frame(PacketPool& pool, Packet& packet, const FrameContext& context) {
  if (has_bytes(packet)) return true;
  Encapsulation encapsulation{};
  if (!encapsulation_of(packet.stack, encapsulation) || wire::opcode_info(packet.opcode) == nullptr) return false;
  wire::Packet w =
      wire::make_packet(static_cast<Opcode>(packet.opcode), encapsulation, (packet.bth & kBthTs) != 0, context.wire);
  w.eth->src = context.src_mac;
  w.eth->dst = context.dst_mac;
  // Written whole and not trimmed; what a switch did is done again below.
  const wire::DscpMap& codes = context.wire.dscp;
  const bool usual = !wire::is_trimmed(wire::classify(codes.no_trim, codes));  // a fabric may trim to that code point
  const uint8_t dscp = usual ? codes.no_trim : codes.trimmable;
  const Address segment = packet.attached ? packet.attachment()->segment : Address{};
  if (w.ipv4) {
    w.ipv4->src = ipv4_of(packet.src);
    w.ipv4->dst = ipv4_of(packet.dst_host);
    w.ipv4->ttl = packet.hop_limit;
    w.ipv4->dscp = dscp;
  }
  if (w.ipv6) {
    w.ipv6->src = bytes_of(host_address(packet.src));
    w.ipv6->dst = bytes_of(host_address(packet.dst_host));
  }
  if (w.outer_ipv6) {
    w.outer_ipv6->src = w.ipv6->src;
    w.outer_ipv6->dst = bytes_of(packet.dst);
    w.outer_ipv6->hop_limit = packet.hop_limit;
    w.outer_ipv6->dscp = dscp;
    if (!packet.trimmed) w.ipv6->dscp = packet.dscp;  // a switch marks the outer header alone
  } else if (w.ipv6) {
    w.ipv6->hop_limit = packet.hop_limit;
    w.ipv6->dscp = dscp;
  }
  if (w.srh) {
    w.srh->segments_left = packet.segments_left;
    w.srh->segment = bytes_of(segment);
  }
  w.dscp_class = wire::classify(dscp, context.wire.dscp);
  w.set_entropy(packet.entropy, context.wire);
  w.bth->p_key = context.p_key;
  w.bth->dqp = packet.dqp;
  w.bth->psn = packet.psn;
  w.bth->a = (packet.bth & kBthAckReq) != 0;
  w.bth->rtx = (packet.bth & kBthRtx) != 0;
  w.bth->se = (packet.bth & kBthSe) != 0;
  if (w.tseth) w.tseth->tx_timestamp16 = packet.tx_timestamp;
  if (w.meth) w.meth->msn = packet.data.msn, w.meth->rqmsn = packet.data.rqmsn;
  if (w.reth) {
    w.reth->va = packet.data.va;
    w.reth->r_key = packet.data.rkey;
    w.reth->dma_length = packet.data.dma_length;
    w.payload.assign(packet.payload, 0);
    if (context.payload != nullptr) context.payload(packet.data.va, w.payload);
  }
  if (w.immdt) w.immdt->value = packet.data.imm;
  if (w.aeth) w.aeth->syndrome = packet.sack.m, w.aeth->msn = packet.sack.cack_psn;
  if (w.seth) {
    const SackFields& s = packet.sack;
    w.seth->sack_bitmap = s.bitmap;
    w.seth->entropy = s.entropy;
    w.seth->cack_psn = s.cack_psn;
    w.seth->ack_psn_offset = s.ack_psn_offset;
    w.seth->sack_offset = s.sack_offset;
    w.seth->m = s.m;
    w.seth->pr = s.pr;
    w.seth->mpr = s.mpr;
    w.seth->cc_flags = s.cc_flags;
    w.cc_state->tx_timestamp16 = packet.tx_timestamp;
    w.cc_state->ooo_count = s.ooo_count;
    w.cc_state->rcvd_bytes = s.rcvd_bytes;
    w.cc_state->restore_cwnd = s.restore_cwnd;
    w.cc_state->rcv_cwnd_pen = s.rcv_cwnd_pen;
  }
  if (w.neth) {
    w.neth->entropy = packet.nack.entropy;
    w.neth->nack_psn = packet.nack.nack_psn;
    w.neth->tx_timestamp16 = packet.tx_timestamp;
    w.neth->reason = packet.nack.reason;
    w.neth->cc_flags = packet.nack.cc_flags;
  }
  if (w.peth) w.peth->probe_id = packet.probe.probe_id, w.peth->tx_timestamp16 = packet.tx_timestamp;
  if (w.erth) {
    w.erth->op = packet.probe.op;
    w.erth->port_status_mask = packet.probe.port_status_mask;
    w.erth->tx_timestamp16 = packet.tx_timestamp;
  }
  if (w.eeth) w.eeth->op = packet.probe.op, w.eeth->tx_timestamp16 = packet.tx_timestamp;
  wire::complete(w);
  Attachment& attachment = pool.attach(packet);
  attachment.segment = segment;
  attachment.bytes = wire::encode(w, context.wire);
  attachment.full_size = static_cast<unsigned>(attachment.bytes.size());
  if (packet.size > attachment.full_size) packet.size = static_cast<uint16_t>(attachment.full_size);
  frame::cut(packet);  // also writes code point and ECN
  return true;
}

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/line_peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "gen/csr.hpp"
#include "gen/headers.hpp"
#include "gen/streams.hpp"
#include "protocol/psn.hpp"
#include "protocol/segment.hpp"
#include "protocol/tx_window.hpp"
#include "tb/environment/mac.hpp"
#include "wire/bytes.hpp"
#include "wire/icrc.hpp"

namespace mrc::tb {
namespace {

constexpr unsigned kSackPackets = 16;         // packets that earn a SACK at most, with SACK_TRIGGER's default
constexpr unsigned kReorder = 32;             // packets above a gap before it counts as lost
constexpr uint64_t kTimeoutPs = 131'072'000;  // nothing of a QP is acknowledged for so long: its oldest is sent again
constexpr uint64_t kStuckPs = 8'000'000;      // the same for a QP whose window is full
constexpr uint64_t kAgainPs = 10'000'000;     // a packet sent again may count as lost once more after this time
constexpr uint64_t kPaceBurstPs = 1'000'000;  // what a paced port may catch up with

/// Where the headers after the BTH begin, from the inner IPv6 header.
constexpr unsigned kExt = wire::Ipv6::kBytes + wire::Udp::kBytes + wire::Bth::kBytes;
constexpr unsigned kBare = kExt + wire::kIcrcBytes;  // bytes of a packet without any

}  // namespace

LinePeer::LinePeer(const Setup& s)
    : preset_(s.preset),
      own_(s.own),
      other_(s.other),
      source_(s.source),
      other_source_(s.other_source),
      icrc_outer_(csr::kCtrlIcrcOuter.get(s.own.ctrl) != 0),
      tsr_us_(csr::kCtrlTsrUs.get(s.own.ctrl) != 0),
      ack_with_sack_(csr::kCtrlAckWithSack.get(s.own.ctrl) != 0),
      nominal_(static_cast<Nominal>(csr::kCtrlNominal.get(s.own.ctrl))),
      sack_trigger_(s.own.sack_trigger),
      ack_gap_ps_(uint64_t{csr::kAckCtlGap.get(s.own.ack_ctl)} * s.preset.clock_ps),
      ring_(std::min<uint64_t>(s.own.source_size, s.other.regions[0].length)),
      responses_(s.preset.num_planes),
      paced_ps_(s.preset.num_planes, 0),
      rng_(s.seed, "line peer") {
  nic_.mac = own_.mac;
  nic_.ip = own_.ip;
  nic_.ip_plane = {.enable = csr::kIpPlaneEnable.get(own_.ip_plane) != 0, .lsb = csr::kIpPlaneLsb.get(own_.ip_plane)};
  nic_.udp_port = static_cast<uint16_t>(csr::kUdpPortPort.get(own_.udp_port));
  nic_.dscp_data = static_cast<uint8_t>(csr::kDscpTxData.get(own_.dscp_tx));
  nic_.dscp_rtx = static_cast<uint8_t>(csr::kDscpTxRtx.get(own_.dscp_tx));
  nic_.dscp_ctl = static_cast<uint8_t>(csr::kDscpTxCtl.get(own_.dscp_tx));
  nic_.ev_swap = csr::kCtrlEvSwap.get(own_.ctrl) != 0;
  nic_.bth_m = csr::kCtrlBthM.get(own_.ctrl) != 0;
  nic_.bth_m_high = csr::kCtrlBthMHigh.get(own_.ctrl) != 0;
  nic_.tsr_us = tsr_us_;
  nic_.srv6 = {csr::kSrv6PlaneLsb.get(own_.srv6), csr::kSrv6UplinkUsid.get(own_.srv6),
               csr::kSrv6UplinkLsb.get(own_.srv6), csr::kSrv6UplinkBits.get(own_.srv6)};
  qps_.resize(own_.qps.size());
  for (unsigned i = 0; i < qps_.size(); ++i) {
    const SidePlan::Qp& plan = own_.qps[i];
    Qp& q = qps_[i];
    q.index = i;
    if (plan.peer >= own_.qps.size()) continue;
    q.hdr = {.dqpn = plan.peer + kQpnBase,
             .pkey = plan.pkey,
             .encap = static_cast<Encap>(plan.encap),
             .ts = plan.ts,
             .dmac = plan.dmac,
             .dip = plan.dip,
             .srv6 = plan.template_address};
    q.window = 128 * plan.mpr;
    q.mpr = plan.mpr_dest;
    q.out.resize(preset_.max_mpr);
    q.rows.resize(preset_.max_mpr / 64);
    q.nxt = q.una = plan.sq_psn;
    q.hi = psn_add(plan.sq_psn, -1);
    q.msn = q.acked = plan.msn;
    q.room = std::min(plan.max_wimm, s.other.qps[plan.peer].max_wimm_dest);
    q.rx.cack = q.rx.max = psn_add(plan.rq_psn, -1);
    q.lowun = plan.rq_psn;
    q.emsn = other_.qps[plan.peer].msn;
    // QPs that all begin at once would earn their SACKs at once: they begin at different points of the interval.
    q.trig = static_cast<uint32_t>(rng_.below(sack_trigger_ + 1));
    q.hold = static_cast<unsigned>(rng_.below(kSackPackets));
  }
}

void LinePeer::messages(unsigned payload, unsigned packets, bool immediates) {
  payload_ = payload;
  packets_ = packets;
  immediates_ = immediates;
  for (Qp& q : qps_) q.hold %= std::max(1u, sack_trigger_ / std::max(payload_, 1024u));
}

LinePeer::Qp* LinePeer::qp_of(uint32_t dqp) {
  const uint32_t index = dqp - kQpnBase;
  return index < qps_.size() && qps_[index].window != 0 ? &qps_[index] : nullptr;
}

// ---- What arrives

std::string LinePeer::arrive(const Frame& frame, uint64_t now_ps) {
  const std::vector<uint8_t>& b = frame.bytes;
  const FrameInfo info = look_at(b);
  if (!info.mrc || b.size() < info.inner + kBare) return "a frame that is no packet of the protocol";
  const std::size_t end = b.size() - wire::kIcrcBytes;
  // Ports pad to 60 bytes; no packet of the protocol is that short.
  const std::span<const uint8_t> all(b);
  const auto outer = all.subspan(info.inner - info.outer, icrc_outer_ ? info.outer : 0);
  if (wire::icrc(all.subspan(info.inner, end - info.inner), outer) != wire::load_le32(&b[end])) {
    return fmt::format("a frame with a wrong ICRC, opcode {:#x}, PSN {:#x}", info.opcode, info.psn);
  }
  const uint8_t* ext = &b[info.inner + kExt];
  if (info.is(wire::Opcode::EndpointRequest)) {
    if (b.size() < info.inner + kBare + wire::Erth::kBytes) return "an endpoint request that is too short";
    const auto erth = wire::Erth::read(ext);
    unsigned any = 0;  // lends its headers
    for (const Qp& q : qps_) {
      if (q.window != 0) any = q.index;
    }
    const bool op_high = csr::kCtrlEethOpHigh.get(own_.ctrl) != 0;
    responses_[frame.plane].push_back(
        {any, build_endpoint_response(static_cast<uint16_t>(info.psn), erth.op, erth.tx_timestamp16, op_high)});
    return {};
  }
  if (info.is(wire::Opcode::EndpointResponse)) return {};
  Qp* q = qp_of(info.dqp);
  if (!q) return fmt::format("a packet to QP {:#x}, which is not in use", info.dqp);
  if (info.data()) return data(*q, frame, info);
  static constexpr struct {
    wire::Opcode opcode;
    unsigned ext;
  } kControl[] = {{wire::Opcode::Sack, wire::Seth::kBytes + wire::CcState::kBytes},
                  {wire::Opcode::Nack, wire::Neth::kBytes},
                  {wire::Opcode::Ack, wire::Aeth::kBytes},
                  {wire::Opcode::ProbeRequest, wire::Peth::kBytes}};
  for (const auto& c : kControl) {
    if (!info.is(c.opcode)) continue;
    if (b.size() < info.inner + kBare + c.ext) return "a control packet that is too short";
    if (info.is(wire::Opcode::Ack) && !syndrome_ack(wire::Aeth::read(ext).syndrome))
      return fmt::format("the device refuses a message with syndrome {:#x}", wire::Aeth::read(ext).syndrome);
    control(*q, frame, info, now_ps);
    return {};
  }
  return fmt::format("a packet with opcode {:#x}", info.opcode);
}

std::string LinePeer::data(Qp& q, const Frame& frame, const FrameInfo& info) {
  const std::vector<uint8_t>& b = frame.bytes;
  const unsigned ext = info.inner + kExt;
  const auto bth = wire::Bth::read(&b[ext - wire::Bth::kBytes]);
  const bool imm = has_immediate(info.opcode);
  const unsigned behind = ext + wire::Meth::kBytes + (bth.ts ? wire::Tseth::kBytes : 0);
  const unsigned headers = behind + wire::Reth::kBytes + (imm ? wire::Immdt::kBytes : 0);
  const bool signal = signals_ && imm;
  if (b.size() < headers + bth.pad_count + wire::kIcrcBytes + (signal ? 0 : 1)) return "a WRITE without payload";
  const auto plen = static_cast<unsigned>(b.size() - headers - bth.pad_count - wire::kIcrcBytes);
  const auto reth = wire::Reth::read(&b[behind]);
  const uint16_t stamp = bth.ts ? wire::Tseth::read(&b[ext + wire::Meth::kBytes]).tx_timestamp16 : uint16_t{0};
  RxRow& row = q.rows[info.psn / 64 % q.rows.size()];
  switch (psn_class(info.psn, q.rx.cack, q.mpr, q.mpr, row)) {
    case PsnClass::OutOfWindow:
      return fmt::format("PSN {:#x} on QP {}: the window ends before it", info.psn, q.index);
    case PsnClass::DupBelow:
    case PsnClass::DupAbove:
      sack(q, frame.plane, info.psn, info.entropy, stamp, false);
      if (q.ackv) ack(q, frame.plane);
      return {};
    case PsnClass::New:
      break;
  }
  if (trim_every_ != 0 && !info.rtx && ++trim_count_ % trim_every_ == 0) {
    const Nack nack{
        .psn = info.psn, .entropy = info.entropy, .tx_timestamp = stamp, .reason = wire::NackReason::TrimmedLasthop};
    responses_[frame.plane].push_back({q.index, build_nack(nack, ids(q))});
    return {};
  }
  const Region& region = own_.regions[0];
  const uint64_t offset = reth.va - region.va;
  const uint8_t* want = other_source_.at(other_source_.base() + offset, plen);
  if (signal) {
    if (plen != 0 || reth.dma_length != 0)
      return fmt::format("PSN {:#x} on QP {}: a signal with bytes", info.psn, q.index);
  } else if (reth.r_key != region.rkey || offset + plen > region.length || !want ||
             std::memcmp(want, &b[headers], plen) != 0) {
    return fmt::format("PSN {:#x} on QP {}: wrong payload or address", info.psn, q.index);
  }
  if (std::string wrong = immediate(q, info, wire::Meth::read(&b[ext]), &b[headers]); !wrong.empty()) return wrong;
  const unsigned all = plen + bth.pad_count + headers - info.inner + wire::kIcrcBytes;
  q.rcvd += nominal_ == Nominal::Payload ? plen : nominal_ == Nominal::Payload40 ? plen + 40 : all;
  q.trig += std::max(plen, 1024u);
  const uint16_t before = q.emsn;
  const uint32_t first = psn_add(q.rx.cack, 1);
  advanced(q, first, row_take(q.rx, row, info.psn, info.opcode >= opcode_byte(wire::Opcode::WriteLast)));
  const bool acked = q.emsn != before;
  const bool due = q.trig >= sack_trigger_ || info.ackreq || info.rtx || info.ecn == 3 || (q.ar && q.rx.ooo == 0);
  q.ar = q.rx.ooo != 0 && (q.ar || info.ackreq);
  if (due) sack(q, frame.plane, info.psn, info.entropy, stamp, false);
  if (acked) q.ackv = true;
  if (ack_with_sack_ ? due && q.ackv : acked) ack(q, frame.plane);
  return {};
}

/// What is wrong with the immediate that ends at `end`, or with that there is none.
std::string LinePeer::immediate(const Qp& q, const FrameInfo& info, const wire::Meth& meth, const uint8_t* end) const {
  const bool last = info.opcode >= opcode_byte(wire::Opcode::WriteLast);
  const SidePlan::Qp& sender = other_.qps[own_.qps[q.index].peer];
  const bool due = signals_ ? bench_signal(sender, meth.msn) : immediates_ && last;
  if (has_immediate(info.opcode) != due)
    return fmt::format("PSN {:#x} on QP {}: an immediate {}", info.psn, q.index, due ? "is missing" : "too many");
  if (!due) return {};
  const uint32_t imm = wire::Immdt::read(end - wire::Immdt::kBytes).value;
  const uint32_t right = bench_immediate(own_.qps[q.index].peer, meth.msn);
  // Every other message: what is behind 2^16 of them has half of their numbers once more.
  const auto signal =
      static_cast<uint16_t>(meth.rqmsn ^ ((meth.rqmsn ^ bench_signal_rqmsn(sender, meth.msn)) & 0x7fff));
  const uint16_t rqmsn = signals_ ? signal : bench_rqmsn(sender, meth.msn);
  if (imm == right && meth.rqmsn == rqmsn) return {};
  return fmt::format("PSN {:#x} on QP {}: immediate {:#x} and RQMSN {}, not {:#x} and {}", info.psn, q.index, imm,
                     meth.rqmsn, right, rqmsn);
}

/// Counts the messages that one row and the rows behind it complete; first: cack + 1 as it was before `a`.
void LinePeer::advanced(Qp& q, uint32_t first, RowAdvance a) {
  for (;;) {
    if (a.messages != 0) {
      q.ackpsn = a.last_psn;
      q.emsn = msn_add(q.emsn, static_cast<int>(a.messages));
    }
    if (!a.goes_on) return;
    first = psn_add(first, a.count);
    a = row_go_on(q.rx, q.rows[first / 64 % q.rows.size()], first);
  }
}

void LinePeer::sack(Qp& q, unsigned plane, uint32_t psn, uint32_t entropy, uint16_t ts, bool pr) {
  q.trig = 0;
  const uint32_t base = sack_cyclic_base(q.lowun, q.rx.cack, q.rx.max);
  const auto row = [&](uint32_t p) { return q.rows[p / 64 % q.rows.size()].rcv; };
  const Sack sack{.cack_psn = q.rx.cack,
                  .psn = psn,
                  .base = base,
                  .bitmap = sack_bitmap(row(base), row(psn_add(base, 64)), base, q.rx.max),
                  .entropy = entropy,
                  .rcvd_bytes = sack_rcvd(q.rcvd),
                  .ooo_count = q.rx.ooo,
                  .tx_timestamp = ts,
                  .pr = pr};
  responses_[plane].push_back({q.index, build_sack(sack, ids(q))});
  q.lowun = psn_add(base, 64);
}

void LinePeer::ack(Qp& q, unsigned plane) {
  if (q.ack_due) return;  // the one that waits will say it all
  q.ack_due = true;
  acks_.push_back({q.index, plane});
}

void LinePeer::order(Qp& q, uint32_t psn, uint64_t now_ps) {
  Packet& p = packet(q, psn);
  if (p.sacked || p.queued) return;
  p.queued = true;
  p.again_ps = now_ps + kAgainPs;
  q.retx.push_back(psn);
  retx_qps_.push_back(q.index);
}

void LinePeer::control(Qp& q, const Frame& frame, const FrameInfo& info, uint64_t now_ps) {
  const uint8_t* ext = &frame.bytes[info.inner + kExt];
  const auto in = [&](uint32_t psn) { return psn_dist(psn, q.una) < psn_dist(q.nxt, q.una); };
  const auto progress = [&](uint32_t una) {
    if (una == q.una || psn_dist(una, q.una) > psn_dist(q.nxt, q.una)) return;
    q.una = una;
    q.progress_ps = now_ps;
    if (psn_before(q.hi, psn_add(una, -1))) q.hi = psn_add(una, -1);
  };
  switch (static_cast<wire::Opcode>(info.opcode)) {
    case wire::Opcode::Sack: {
      const auto seth = wire::Seth::read(ext);
      const unsigned ooo = wire::CcState::read(ext + wire::Seth::kBytes).ooo_count;
      const uint32_t psn = psn_add(seth.cack_psn, seth.ack_psn_offset);
      const uint32_t base = psn_add(seth.cack_psn, seth.sack_offset);
      progress(psn_add(seth.cack_psn, 1));
      if (!seth.pr && in(psn) && psn_before(q.hi, psn)) q.hi = psn;
      for (unsigned i = 0; i < 64; ++i) {
        const uint32_t p = psn_add(base, i);
        if (!in(p)) continue;
        if (seth.sack_bitmap >> i & 1) {
          packet(q, p).sacked = true;
        } else if (ooo >= kReorder && psn_dist(q.hi, p) >= kReorder && psn_dist(q.hi, p) < kPsnHalf &&
                   now_ps >= packet(q, p).again_ps) {
          order(q, p, now_ps);
        }
      }
      break;
    }
    case wire::Opcode::Nack: {
      const uint32_t psn = wire::Neth::read(ext).nack_psn;
      if (in(psn)) order(q, psn, now_ps);
      break;
    }
    case wire::Opcode::Ack:
      progress(psn_add(info.psn, 1));
      if (const auto msn = static_cast<uint16_t>(wire::Aeth::read(ext).msn);
          msn_dist(msn, q.acked) <= msn_dist(q.msn, q.acked))
        q.acked = msn;
      break;
    default: {  // reliability probe
      const auto peth = wire::Peth::read(ext);
      sack(q, frame.plane, peth.probe_id, info.entropy, peth.tx_timestamp16, true);
    }
  }
}

void LinePeer::timers(uint64_t now_ps) {
  for (Qp& q : qps_) {
    if (q.window == 0 || !sending_ || q.una == q.nxt) {
      q.progress_ps = now_ps;
    } else if (now_ps - q.progress_ps > (psn_dist(q.nxt, q.una) >= q.window ? kStuckPs : kTimeoutPs)) {
      q.progress_ps = now_ps;
      packet(q, q.una).sacked = false;
      order(q, q.una, now_ps);
    }
  }
}

// ---- What is sent

PdcIds LinePeer::ids(const Qp& q) const {
  return PdcIds::of(q.index + kQpnBase, q.hdr.dqpn, csr::kCtrlPdcidZero.get(own_.ctrl) != 0);
}

FramePtr LinePeer::finish(std::span<const uint8_t> header, unsigned plane, const HdrQp& qp,
                          std::span<const uint8_t> payload) {
  const unsigned pad = payload_pad(static_cast<unsigned>(payload.size()));
  auto frame = std::make_unique<Frame>();
  std::vector<uint8_t>& b = frame->bytes;
  b.reserve(header.size() + payload.size() + pad + 4);
  b.assign(header.begin(), header.end());
  b.insert(b.end(), payload.begin(), payload.end());
  b.resize(b.size() + pad);
  uint32_t crc = header_crc(header, qp.encap, icrc_outer_);
  crc = wire::crc_update(crc, b.data() + header.size(), payload.size() + pad);
  b.resize(b.size() + 4);
  wire::store_le32(&b[b.size() - 4], ~crc);
  frame->plane = static_cast<uint8_t>(plane);
  return frame;
}

FramePtr LinePeer::control_frame(const ControlPacket& packet, const Qp& q, unsigned plane) {
  std::array<uint8_t, kMaxHeader> header;
  const Way way{static_cast<uint8_t>(plane), own_.rev_ev[plane]};
  const unsigned length = build_ctl_header(packet, way, q.hdr, nic_, header);
  return finish({header.data(), length}, plane, q.hdr, {});
}

FramePtr LinePeer::next(unsigned plane, uint64_t now_ps) {
  std::deque<Answer>& queue = responses_[plane];
  if (!queue.empty()) {
    const Answer answer = queue.front();
    queue.pop_front();
    return control_frame(answer.packet, qps_[answer.qp], plane);
  }
  if (!acks_.empty() && acks_.front().second == plane && now_ps >= next_ack_ps_) {
    Qp& q = qps_[acks_.front().first];
    acks_.pop_front();
    next_ack_ps_ = now_ps + ack_gap_ps_;
    q.ack_due = false;
    const Ack ack{.psn = q.ackpsn, .msn = q.emsn, .syndrome = static_cast<uint8_t>(wire::AethSyndrome::Ack)};
    return control_frame(build_ack(ack), q, plane);
  }
  return next_data(plane, now_ps);
}

FramePtr LinePeer::next_data(unsigned plane, uint64_t now_ps) {
  if (pace_ < 1 && now_ps < paced_ps_[plane]) return nullptr;
  FramePtr frame;
  while (!frame && !retx_qps_.empty()) {
    Qp& q = qps_[retx_qps_.front()];
    retx_qps_.pop_front();
    const uint32_t psn = q.retx.front();
    q.retx.pop_front();
    packet(q, psn).queued = false;
    if (psn_dist(psn, q.una) >= psn_dist(q.nxt, q.una) || packet(q, psn).sacked) continue;  // there after all
    frame = data_frame(q, psn, plane, now_ps, true);
  }
  const bool want = sending_ && (!single_ || ones_ != 0);
  for (std::size_t tried = 0; !frame && want && tried < qps_.size(); ++tried) {
    cursor_ = cursor_ + 1 == qps_.size() ? 0 : cursor_ + 1;
    Qp& q = qps_[cursor_];
    if (q.window == 0 || psn_dist(q.nxt, q.una) >= q.window) continue;
    if (q.message_idx == q.message_packets && !may_begin(q)) continue;
    if (!single_ && q.hold != 0) {
      --q.hold;
      continue;
    }
    if (q.message_idx == q.message_packets) begin_message(q);
    const SidePlan::Qp& plan = own_.qps[q.index];
    Packet& p = packet(q, q.nxt);
    p = {.offset = q.message_offset + uint64_t{q.message_idx} * q.message_payload,
         .length = q.message_packets * q.message_payload,
         .idx = q.message_idx,
         .plen = q.message_payload,
         .msn = q.msn,
         .rqmsn = signals_ ? static_cast<uint16_t>(plan.rqmsn + q.signals - 1) : bench_rqmsn(plan, q.msn),
         .last = q.message_idx + 1 == q.message_packets,
         .imm = signals_ ? q.message_payload == 0 : immediates_};
    ++q.message_idx;
    if (p.last) q.msn = msn_add(q.msn, 1);
    const uint32_t psn = q.nxt;
    if (psn == q.una) q.progress_ps = now_ps;
    q.nxt = psn_add(q.nxt, 1);
    if (single_) --ones_;
    frame = data_frame(q, psn, plane, now_ps, false);
  }
  if (frame && pace_ < 1) {
    const double time = wire_bytes(static_cast<unsigned>(frame->bytes.size())) * byte_ps(preset_) / pace_;
    const uint64_t from = now_ps > kPaceBurstPs ? now_ps - kPaceBurstPs : 0;
    paced_ps_[plane] = std::max(paced_ps_[plane], from) + static_cast<uint64_t>(time);
  }
  return frame;
}

/// Has the QP room for the immediate of its next message, if that has one?
bool LinePeer::may_begin(const Qp& q) const {
  const unsigned out = msn_dist(q.msn, q.acked);
  if (signals_) return !bench_signal(own_.qps[q.index], q.msn) || out / 2 < q.room;
  return !immediates_ || out < q.room;
}

void LinePeer::begin_message(Qp& q) {
  const bool signal = signals_ && bench_signal(own_.qps[q.index], q.msn);
  q.signals = static_cast<uint16_t>(q.signals + signal);
  q.message_packets = signal ? 1 : packets_;
  q.message_payload = signal ? 0 : payload_;
  q.message_idx = 0;
  q.message_offset = signal ? 0 : ring_.take(payload_ * packets_);
}

FramePtr LinePeer::data_frame(Qp& q, uint32_t psn, unsigned plane, uint64_t now_ps, bool rtx) {
  const Packet& p = packet(q, psn);
  const Region& region = other_.regions[0];
  WritePacket w;
  w.psn = psn;
  w.msn = p.msn;
  w.part.opcode = write_opcode(p.idx == 0, p.last, p.imm);
  if (p.imm && p.last) {
    w.part.imm = bench_immediate(q.index, p.msn);
    w.part.rqmsn = p.rqmsn;
  }
  w.part.va = region.va + p.offset;
  w.part.rkey = region.rkey;
  w.part.dma_length = p.length;
  w.part.plen = static_cast<uint16_t>(p.plen);
  w.rtx = rtx;
  w.ackreq = single_ || psn_dist(q.nxt, q.una) >= q.window;  // nothing may follow before an answer
  const auto tick = static_cast<uint32_t>(now_ps / preset_.clock_ps * preset_.tick_parts / preset_.tick_cycles);
  std::array<uint8_t, kMaxHeader> header;
  const Way way{static_cast<uint8_t>(plane), static_cast<uint32_t>(rng_.next())};
  const unsigned length = build_data_header(w, way, q.hdr, nic_, tick, header);
  return finish({header.data(), length}, plane, q.hdr, {source_.at(source_.base() + p.offset, p.plen), p.plen});
}

}  // namespace mrc::tb

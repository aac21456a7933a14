// SPDX-License-Identifier: Apache-2.0
/// What the fast endpoint sends, and what it makes of the answers (docs/design/blocks/tx/segment/tx_segment.md,
/// tx_inflight.md).
#include <algorithm>
#include <bit>
#include <utility>

#include "gen/csr.hpp"
#include "pipeline/timing/burst.hpp"
#include "pipeline/timing/nscc_cycles.hpp"
#include "protocol/probe.hpp"
#include "protocol/segment.hpp"
#include "protocol/silence.hpp"
#include "protocol/timestamp.hpp"
#include "sim/engine/codec.hpp"
#include "sim/engine/fabric.hpp"
#include "sim/nic/fast/endpoint_fast.hpp"

namespace mrc::sim {

namespace {

/// Cycles of the NIC (docs/design/blocks): tx_inflight's pause after a refusal ends every kHoldCycles; from its end
/// until the retransmission asks; from one retransmission to the next; from the controller's wake until new packets
/// ask.
constexpr unsigned kHoldCycles = 16, kRequestCycles = 5, kRtxCycles = 8, kResumeCycles = 6;
/// An EV that was heard of within so many round trips is known to work.
constexpr uint32_t kProvenTrips = 2;
/// Register ACK_CTL.ar_gap after reset: AckReq of QPs that have nothing more to send.
constexpr unsigned kArGapCycles = csr::kAckCtlArGap.get(csr::kAckCtlReset);

/// Opcode and nominal size of packet idx of a request.
struct NextPacket {
  uint8_t opcode;
  uint16_t payload, size;
  bool last;
};
NextPacket next_packet(const Request& request, uint32_t idx, const FastQp& qp, Nominal nominal) {
  const WritePart part = segment(request.message, idx, qp.mtu_code);
  return {part.opcode, part.plen, nominal_size(part.plen, part.opcode, qp.ts, nominal), part.last};
}
}  // namespace

// Windows.

Block* FastEndpoint::block_of(const FastQp& qp, uint32_t psn) const {
  if (!qp.holds || psn_dist(psn, qp.first_block << 6) >= psn_dist(qp.nxt, qp.first_block << 6)) return nullptr;
  return qp.blocks[psn >> 6 & (qp.blocks.size() - 1)];
}

Block* FastEndpoint::take_block() {
  if (free_blocks_ == nullptr) {
    slabs_.push_back(std::make_unique<Block[]>(kSlabBlocks));
    for (unsigned i = kSlabBlocks; i-- > 0;) {
      slabs_.back()[i].next = free_blocks_;
      free_blocks_ = &slabs_.back()[i];
    }
  }
  Block* block = free_blocks_;
  free_blocks_ = block->next;
  block->row = {};
  block->ages = {};
  return block;
}

/// Gives back the blocks that the window has passed. That of the newest PSN stays: the last packet may have to be sent
/// again when its ACK is missing.
void FastEndpoint::release_blocks(FastQp& qp) {
  if (!qp.holds) return;
  const uint32_t up_to = qp.una == qp.nxt ? psn_add(qp.nxt, -1) : qp.una;
  const uint32_t mask = (1u << 18) - 1;
  while (qp.first_block != (up_to >> 6 & mask)) {
    Block*& slot = qp.blocks[qp.first_block & (qp.blocks.size() - 1)];
    if (slot == nullptr) break;
    slot->next = free_blocks_;
    free_blocks_ = slot;
    slot = nullptr;
    qp.first_block = (qp.first_block + 1) & mask;
  }
}

// Congestion control.

uint32_t FastEndpoint::grant(FastQp& qp, uint32_t size, uint32_t bytes, bool& last) {
  const uint32_t min = nscc_least(size);
  FastDest& dest = dest_of(qp);
  const uint32_t cwnd = nscc_cwnd_bytes(dest.state, *dest.words);
  const auto refused = [&] {
    dest.wants = true;
    dest.want = min;
    return 0u;
  };
  if (!nscc_fits(dest.state.inflight, min, cwnd)) return refused();
  const auto free = static_cast<uint32_t>(int64_t{cwnd} - dest.state.inflight);
  const uint32_t granted = std::min(free, bytes);
  dest.state.inflight = nscc_inflight(dest.state.inflight, granted);
  dest.wants = false;
  last = free - granted < std::max(dest.words->mtu, config_.ar_shift != 0 ? cwnd >> config_.ar_shift : 0u);
  return granted;
}

/// What was granted and has not been sent.
void FastEndpoint::give_back(FastQp& qp, uint32_t bytes) {
  if (!qp.cc || bytes == 0) return;
  FastDest& dest = dest_of(qp);
  dest.state.inflight = nscc_inflight(dest.state.inflight, -int64_t{bytes});
  if (config_.clock != 0) retry_refused(dest);
}

void FastEndpoint::cc_event(FastQp& qp, NsccEvent event) {
  FastDest& dest = dest_of(qp);
  event.now = tick();
  const uint32_t base_rtt = dest.state.base_rtt;
  const NsccDecisions d = nscc_step(dest.state, *dest.words, event);
  if (config_.clock != 0) {
    answers_at_ =
        std::max(answers_at_, access_.now() + nscc_cycles(event, d, dest.state.base_rtt != base_rtt) * config_.clock);
  }
  resume_dest(dest);
}

void FastEndpoint::resume_dest(FastDest& dest) {
  if (!dest.wants && dest.rtx_waiting.empty()) return;
  const uint32_t cwnd = nscc_cwnd_bytes(dest.state, *dest.words);
  if (config_.clock != 0) {
    retry_refused(dest);
    if (dest.wants && nscc_fits(dest.state.inflight, dest.want, cwnd)) {
      dest.wants = false;
      if (!dest.waiting.empty()) {
        add_timer(answers_at_ + kResumeCycles * config_.clock, TimerKind::Resume, qps_[dest.waiting.front()]->dest);
      }
    }
    return;
  }
  if (!dest.rtx_waiting.empty() && nscc_fits(dest.state.inflight, dest.rtx_want, cwnd)) {
    while (!dest.rtx_waiting.empty()) rtx_list_.push_back(dest.rtx_waiting.pop_front());
  }
  if (dest.wants && nscc_fits(dest.state.inflight, dest.want, cwnd)) {
    dest.wants = false;
    take_waiting(dest);
  }
}

/// The window may have become open to retransmissions that were refused.
void FastEndpoint::retry_refused(FastDest& dest) {
  if (dest.rtx_timer || dest.rtx_waiting.empty() ||
      !nscc_fits(dest.state.inflight, dest.rtx_want, nscc_cwnd_bytes(dest.state, *dest.words))) {
    return;
  }
  dest.rtx_timer = true;
  const Time hold = kHoldCycles * config_.clock;
  const Time end = (access_.now() + hold - 1) / hold * hold;
  add_timer(end + kRequestCycles * config_.clock, TimerKind::RtxRequest, qps_[dest.rtx_waiting.front()]->dest);
}

void FastEndpoint::take_waiting(FastDest& dest) {
  if (!dest.waiting.empty()) run_.push_back(dest.waiting.pop_front());
}

// What is sent next.

bool FastEndpoint::can_send(const FastQp& qp) const {
  return !qp.failed && !qp.held && qp.msn_head != qp.msn_tail && psn_dist(qp.nxt, qp.una) < 128u * qp.mpr;
}

bool FastEndpoint::over(const FastQp& qp) const {
  const WriteRequest& next = qp.requests[msn_dist(qp.msn_head, qp.msn_done)].message;
  return wimm_held(qp.idx, next.imm_valid, qp.wsent, qp.wout, config_.max_wimm);
}

void FastEndpoint::activate(FastQp& qp) {
  if (qp.active || !can_send(qp)) return;
  qp.active = true;
  run_.push_back(qp.index);
}

void FastEndpoint::list_retransmission(FastQp& qp) {
  if (qp.rtx_refused) lost_leave(qp);
  if (qp.rtx) return;
  qp.rtx = true;
  rtx_list_.push_back(qp.index);
}

void FastEndpoint::pump() {
  if (pumping_ || !started_) return;
  pumping_ = true;
  if (config_.mac_holds) {
    // A frame that has come into the MAC since has let the next one out of its queue.
    for (unsigned m = ~room_ & ((1u << planes_) - 1u); m != 0; m &= m - 1) {
      look_for_room(static_cast<unsigned>(std::countr_zero(m)));
    }
  }
  for (;;) {
    // Without any lane that takes a packet nothing goes on; without any port up packets count as sent and lost.
    if (up_ != 0 && (up_ & room_) == 0) break;
    if (work_.qp == nullptr && !choose()) break;
    if (work_.qp != nullptr && !step()) break;
  }
  pumping_ = false;
}

/// False: there is nothing to send. True without work: it was refused, go on.
bool FastEndpoint::choose() {
  if (!rtx_list_.empty() && rtx_at_ <= access_.now()) {
    FastQp& qp = *qps_[rtx_list_.pop_front()];
    if (begin_retransmission(qp)) {
      rtx_list_.push_back(qp.index);
      if (config_.clock != 0) {
        rtx_at_ = access_.now() + kRtxCycles * config_.clock;
        schedule_wake(rtx_at_);
      }
    }
    return true;
  }
  if (run_.empty()) return false;
  FastQp& qp = *qps_[run_.pop_front()];
  begin_burst(qp);
  return true;
}

void FastEndpoint::begin_burst(FastQp& qp) {
  if (!can_send(qp)) {
    work_.qp = &qp;
    work_.left = 0;
    end_burst(qp, false);
    return;
  }
  work_ = {};
  if (qp.cc) {
    const uint32_t min = next_packet(qp.requests[msn_dist(qp.msn_head, qp.msn_done)], qp.idx, qp, config_.nominal).size;
    work_.left = grant(qp, min, uint32_t{qp.full} * kBurstRequest, work_.last_grant);
    qp.parked = work_.left == 0;
    if (qp.parked) {
      dest_of(qp).waiting.push_front(qp.index);
      watch_state(qp);
      return;
    }
  }
  work_.qp = &qp;
}

/// The QP's turn is over.
void FastEndpoint::end_burst(FastQp& qp, bool more) {
  give_back(qp, work_.left);
  work_.qp = nullptr;
  pipe_ = std::max(pipe_, access_.now()) + (run_.empty() ? config_.burst_alone : kNs * work_.packets);
  FastDest& dest = dest_of(qp);
  if (more) {
    if (dest.waiting.empty()) {
      run_.push_back(qp.index);
    } else {
      dest.waiting.push_back(qp.index);
      take_waiting(dest);
    }
  } else {
    qp.active = qp.parked = false;
    take_waiting(dest);
  }
}

/// True: a packet is to be sent again. False: the QP is not in the list any more.
bool FastEndpoint::begin_retransmission(FastQp& qp) {
  qp.rtx_refused = false;
  if (qp.failed) {
    qp.rtx = qp.dup = false;
    return false;
  }
  Block* block = nullptr;
  uint32_t psn = 0;
  bool pending = false;
  for (;;) {
    const uint32_t w = psn_word(qp.rtx_lo);
    block = block_of(qp, qp.rtx_lo);
    const uint64_t c = block == nullptr ? 0 : retx_row(block->row, w, qp.rtx_lo, qp.nxt);
    if (c != 0) {
      psn = psn_add(w, std::countr_zero(c));
      pending = true;
      break;
    }
    const uint32_t next = psn_add(w, 64);
    if (in_window(next, qp.una, qp.nxt)) {
      qp.rtx_lo = next;
      continue;
    }
    qp.rtx_lo = qp.nxt;
    if (!qp.dup) {
      qp.rtx = false;
      return false;
    }
    psn = psn_add(qp.nxt, -1);
    block = block_of(qp, psn);
    qp.dup = false;
    if (block == nullptr) {
      qp.rtx = false;
      return false;
    }
    break;
  }
  const Record record = block->record[psn & 63];
  WinRow before = block->row;
  const RowAges ages = block->ages;
  LossNews news;
  if (pending) {
    news = mrc::send_again(block->row, psn);
    block->ages.again(psn & 63, spared_steps(tick() - qp.step_tick, timer_step(qp)));
    qp.rtx_lo = psn_add(psn, 1);
  }
  if (news.blame) blame(qp, record.ev_idx);
  if (qp.cc) {
    if (news.loss) {
      const bool spares = config_.loss_spares && config_.nscc.trimming;
      cc_event(qp, {.kind = spares ? CcEvent::Nack : CcEvent::Loss,
                    .bytes = take_packet(qp.fly, record.size, qp.rcvd_credit)});
    }
    FastDest& dest = dest_of(qp);
    const auto refused = [&] {
      return nscc_needs_leave(record.size) &&
             !nscc_fits(dest.state.inflight, record.size, nscc_cwnd_bytes(dest.state, *dest.words));
    };
    if (refused()) {
      lost_leave(qp);
      before.nacked = block->row.nacked;  // others of the row have left, too
      before.mute = block->row.mute;
    }
    if (refused()) {
      if (pending) {
        block->row = before;
        block->ages = ages;
        not_sent(block->row, psn);
        qp.rtx_lo = psn;
      } else {
        qp.dup = true;
      }
      dest.rtx_want = record.size;
      dest.rtx_waiting.push_back(qp.index);
      qp.rtx_refused = true;
      watch_state(qp);
      return false;
    }
    dest.state.inflight = nscc_inflight(dest.state.inflight, record.size);
  }
  work_ = {};
  work_.qp = &qp;
  work_.retransmission = true;
  work_.psn = psn;
  work_.record = record;
  work_.loss = news.loss;
  // Not one that was trimmed: its path works.
  work_.lost = config_.other_plane && record.ev_idx != kNoPathEv &&
               (news.loss || (usable(qp) >> qp.ev.plane(record.ev_idx) & 1) == 0);
  if (pending) block->record[psn & 63].sent = time_stamp(tick(), false);  // while it waits for a lane, it is not lost
  return true;
}

/// One packet of the work in hand. False: it waits for a lane.
bool FastEndpoint::step() {
  FastQp& qp = *work_.qp;
  if (work_.retransmission && msn_before(work_.record.msn, qp.msn_done)) {  // the message is complete
    cancel_work(qp);
    return true;
  }
  if (!work_.walking) {
    if (!work_.retransmission) {
      if (!can_send(qp)) {
        end_burst(qp, false);
        return true;
      }
      if (over(qp)) {
        qp.held = true;
        end_burst(qp, false);
        return true;
      }
      const Request& request = qp.requests[msn_dist(qp.msn_head, qp.msn_done)];
      if (qp.cc && work_.left < next_packet(request, qp.idx, qp, config_.nominal).size) {
        end_burst(qp, true);
        return true;
      }
    }
    const unsigned lost_on = work_.lost ? 1u << qp.ev.plane(work_.record.ev_idx) : 0;
    work_.walk = qp.ev.begin(work_.retransmission, work_.record.ev_idx, (usable(qp) & ~lost_on) != 0 ? lost_on : 0);
    work_.walking = true;
  }
  uint16_t ev_idx = kNoPathEv;
  const unsigned planes = usable(qp), others = planes & ~unsigned{work_.walk.barred};
  if (work_.lost && !config_.nic_times) {
    ev_idx = qp.proven.take(tick(), kProvenTrips * smallest(dest_of(qp)), [&](uint16_t ev) {
      return ((others & room_) >> qp.ev.plane(ev) & 1u) != 0 && qp.ev.state(ev) == kEvGood;
    });
  }
  if (ev_idx == kNoPathEv &&
      qp.ev.walk(work_.walk, planes, room_, skip_rule(), !config_.bad_waits, ev_idx) == EvSet::Found::Busy) {
    return false;
  }
  work_.walking = false;
  if (work_.retransmission) {
    unsigned second = 0;  // planes for one more
    if (ev_idx != kNoPathEv && config_.copies > 1 && goes_twice(qp)) {
      second = (config_.nic_times ? planes & ~(1u << qp.ev.plane(work_.record.ev_idx)) : others & room_) &
               ~(1u << qp.ev.plane(ev_idx));
    }
    const uint32_t psn = work_.psn;
    const Record record = work_.record;
    send_again(qp, ev_idx);
    if (second != 0) send_copy(qp, psn, record, second);
  } else {
    send_new(qp, ev_idx);
  }
  return true;
}

/// Of what has found an EV to go again. The NIC with a clock knows less of it.
bool FastEndpoint::goes_twice(const FastQp& qp) const {
  if (config_.nic_times) return work_.loss && !qp.active && !qp.trims && work_.walk.avoid_on;
  return work_.lost && !can_send(qp) && !trims(dest_of(qp));
}

/// The packet that waits for a lane goes nowhere.
void FastEndpoint::cancel_work(FastQp& qp) {
  if (work_.qp != &qp) return;
  if (work_.retransmission) {
    give_back(qp, work_.record.size);
    work_.qp = nullptr;
  } else {
    end_burst(qp, false);
  }
}

void FastEndpoint::send_new(FastQp& qp, uint16_t ev_idx) {
  const bool was_busy = busy(qp);
  qp.last_tick = tick();
  Request& request = qp.requests[msn_dist(qp.msn_head, qp.msn_done)];
  const WritePart part = segment(request.message, qp.idx, qp.mtu_code);
  const uint16_t size = nominal_size(part.plen, part.opcode, qp.ts, config_.nominal);
  const uint32_t psn = qp.nxt;
  if ((psn & 63) == 0 || !qp.holds) {
    if (qp.blocks.empty()) qp.blocks.resize(std::bit_ceil(2u * qp.mpr_max + 1));
    qp.blocks[psn >> 6 & (qp.blocks.size() - 1)] = take_block();
    if (!qp.holds) {
      qp.holds = true;
      qp.first_block = psn >> 6;
    }
  }
  qp.nxt = psn_add(psn, 1);
  if (qp.idx == 0) request.first = psn;
  qp.blocks[psn >> 6 & (qp.blocks.size() - 1)]->record[psn & 63] = {.msn = qp.msn_head,
                                                                    .ev_idx = ev_idx,
                                                                    .size = static_cast<uint16_t>(size & 0x7fff),
                                                                    .rtx = 0,
                                                                    .sent = time_stamp(tick(), false)};
  if (qp.cc) {
    qp.fly.enter(size);
    work_.left -= size;
  }
  const uint16_t msn = qp.msn_head;
  if (qp.idx == 0 && request.message.imm_valid) ++qp.wsent;
  if (part.last) {
    qp.idx = 0;
    qp.msn_head = msn_add(qp.msn_head, 1);
  } else {
    ++qp.idx;
  }
  if (!was_busy) start_timer(qp);
  ++work_.packets;
  work_.bytes += part.plen;
  const bool more = can_send(qp);
  const bool idle = qp.msn_head == qp.msn_tail;
  bool ackreq = !more && (!idle || ar_at_ <= access_.now());
  if (idle && ackreq) ar_at_ = access_.now() + kArGapCycles * config_.clock;
  ackreq |= qp.cc && work_.last_grant && work_.left < qp.full;
  ++stats_.data_packets;
  stats_.data_bytes += part.plen;
  if (ev_idx != kNoPathEv) {
    send_data(qp, part, psn, msn, ev_idx, ackreq, false, request.id);
  }
  if (!more) {
    end_burst(qp, false);
    watch_state(qp);
  } else if (work_.packets >= kBurstPackets || work_.bytes >= kBurstBytes) {
    end_burst(qp, true);
  }
}

void FastEndpoint::send_again(FastQp& qp, uint16_t ev_idx) {
  const uint32_t psn = work_.psn;
  const Record& old = work_.record;
  work_.qp = nullptr;
  qp.last_tick = tick();
  if (qp.cc) qp.fly.enter(old.size);
  note_again(qp, psn, ev_idx == kNoPathEv ? 0 : qp.ev.plane(ev_idx));
  if (Block* block = block_of(qp, psn)) {
    Record& record = block->record[psn & 63];
    record.ev_idx = ev_idx;
    record.rtx = 1;
    record.sent = time_stamp(tick(), false);
  }
  Request& request = qp.requests[msn_dist(old.msn, qp.msn_done)];
  const WritePart part = segment(request.message, psn_dist(psn, request.first), qp.mtu_code);
  ++stats_.data_packets;
  ++stats_.retransmissions;
  if (ev_idx != kNoPathEv) send_data(qp, part, psn, old.msn, ev_idx, false, true, request.id);
  watch_state(qp);
}

/// Once more, at once, on one of these planes: nothing else waits, and who loses both waits for a question.
void FastEndpoint::send_copy(FastQp& qp, uint32_t psn, const Record& old, unsigned planes) {
  uint16_t ev_idx = kNoPathEv;
  EvSet::Walk walk = qp.ev.begin(false, 0);
  walk.copy = config_.nic_times;
  if (qp.ev.walk(walk, planes, room_, skip_rule(), !config_.bad_waits, ev_idx) != EvSet::Found::Ev) return;
  const Request& request = qp.requests[msn_dist(old.msn, qp.msn_done)];
  const WritePart part = segment(request.message, psn_dist(psn, request.first), qp.mtu_code);
  ++stats_.data_packets;
  ++stats_.retransmissions;
  send_data(qp, part, psn, old.msn, ev_idx, false, true, request.id);
}

void FastEndpoint::send_data(FastQp& qp, const WritePart& part, uint32_t psn, uint16_t msn, uint16_t ev_idx,
                             bool ackreq, bool rtx, uint64_t id) {
  const unsigned plane = qp.ev.plane(ev_idx);
  PacketPtr packet = make_packet(qp, plane, qp.ev.value(ev_idx), rtx ? qp.dscp_rtx : qp.dscp_data);
  Packet& p = *packet;
  p.psn = psn;
  p.opcode = part.opcode;
  p.bth = (bit_if(ackreq, kBthAckReq) | bit_if(rtx, kBthRtx) | bit_if(qp.ts, kBthTs)) & 31;
  p.payload = part.plen;
  p.tx_timestamp = qp.ts ? time_stamp(tick(), false) : uint16_t{0};
  p.size = part.plen == qp.mtu && part.opcode == opcode_byte(wire::Opcode::WriteMiddle)
               ? qp.frame_full
               : static_cast<uint16_t>(frame_size(qp.stack, part.opcode, qp.ts, part.plen));
  p.data = {part.va, part.rkey, part.dma_length, part.imm, msn, part.rqmsn, id};
  put_data(std::move(packet), plane);
}

// Answers.

void FastEndpoint::feedback(FastQp& qp, unsigned ev_idx, FbKind kind, uint32_t entropy) {
  const EvSet::Change change = qp.ev.feedback(ev_idx, kind, entropy, usable(qp), config_.ev_min_active, skip_rule());
  if (change == EvSet::Change::Bad) ev_bad(qp, ev_idx);
}

void FastEndpoint::progress(FastQp& qp) {
  qp.retry = 0;
  qp.step_tick = tick();
  qp.marks.restart(qp.nxt);
}

/// The window begins at una now.
void FastEndpoint::advance(FastQp& qp, uint32_t una) {
  qp.rtx_lo = psn_follow(qp.rtx_lo, una);
  if (psn_before(qp.hi, psn_add(una, -1))) qp.hi = psn_add(una, -1);
  if (una == qp.una) return;
  qp.una = una;
  qp.all_tick = tick();
  progress(qp);
  activate(qp);
}

void FastEndpoint::on_sack(FastQp& qp, const Packet& packet) {
  const SackFields& s = packet.sack;
  Sack sack;
  sack.cack_psn = s.cack_psn;
  sack.pr = s.pr != 0;
  sack.psn = sack.pr ? static_cast<uint16_t>(s.ack_psn_offset) : psn_add(s.cack_psn, s.ack_psn_offset);
  sack.ooo_count = s.ooo_count;
  if (!cum_valid(psn_add(sack.cack_psn, 1), qp.una, qp.nxt)) return;
  qp.heard_tick = tick();
  if (qp.state_probes != 0 && !config_.nic_times) {
    qp.state_probes = 0;
    if (qp.watched) arm_state(qp, longest_out(qp));  // the wait is the first one again
  }
  const RcvdNews news = rcvd_news(s.rcvd_bytes, qp.rcvd_newest);
  const SackView view = sack_view(sack, qp.una, qp.nxt, qp.hi, config_.reorder, news.late);

  // The packet that this SACK is about.
  const Block* own = sack.pr ? nullptr : block_of(qp, sack.psn);
  const bool recent = own != nullptr;
  const Record kept = recent ? own->record[sack.psn & 63] : Record{};
  const bool twice =
      config_.nic_times && reported_before(recent, kept.rtx == 0, sack.psn, qp.una,
                                           recent && (own->row.sacked & psn_bit<uint64_t>(sack.psn)) != 0);

  unsigned cancelled = 0;
  bool any = false;
  uint32_t first = 0;
  if (s.bitmap != 0 || view.infer) {
    const uint32_t base = psn_add(s.cack_psn, s.sack_offset);
    const unsigned shift = base & 63;
    for (unsigned r = 0; r < (shift == 0 ? 1u : 2u); ++r) {
      const uint32_t w = psn_add(psn_word(base), int64_t{64} * r);
      if (range_mask(w, view.una, view.nxt) == 0) continue;
      Block* block = block_of(qp, psn_before(w, view.una) ? view.una : w);
      if (block == nullptr) continue;
      const uint64_t cover = r == 0 ? ~uint64_t{0} << shift : ~(~uint64_t{0} << shift);
      const uint64_t got = r == 0 ? s.bitmap << shift : s.bitmap >> (64 - shift);
      cancelled += cancelled_losses(block->row, w, got, view);
      const uint64_t lost = sack_row(block->row, w, got, cover, view);
      found(qp, *block, w, lost, LossCause::Gap);
      if (lost != 0 && !any) {
        any = true;
        first = psn_add(w, std::countr_zero(lost));
      }
    }
  }
  const uint32_t old_una = qp.una;
  qp.hi = view.hi;
  advance(qp, view.una);
  if (any) {
    list_retransmission(qp);
    qp.rtx_lo = psn_first(qp.rtx_lo, first);
  }
  if (s.mpr != 0 && s.mpr != qp.mpr_reported && !psn_before(psn_add(sack.cack_psn, 1), old_una) &&
      config_.dynamic_mpr) {
    qp.mpr_reported = s.mpr;
    qp.mpr = std::min<uint8_t>(s.mpr, qp.mpr_max);
    activate(qp);
  }
  if (sack.pr) probe_answer(qp, static_cast<uint16_t>(sack.psn), s.m);
  if (recent && mark_is_feedback(s.m)) feedback(qp, kept.ev_idx, mark_feedback(s.m), s.entropy);
  if (recent && s.m == 0 && kept.ev_idx != kNoPathEv && qp.ev.value(kept.ev_idx) == s.entropy) {
    qp.proven.heard(kept.ev_idx, tick());
  }
  if (sack.pr) {
    for (const uint16_t ev_idx : qp.queried_ev) {
      if (ev_idx != kNoPathEv && s.m == 0 && qp.ev.value(ev_idx) == s.entropy) qp.proven.heard(ev_idx, tick());
    }
  }
  if (recent && kept.ev_idx < qp.strikes.size() && qp.ev.value(kept.ev_idx) == s.entropy) qp.strikes[kept.ev_idx] = 0;
  if (recent && s.m == 0 && !kept.rtx && kept.ev_idx != kNoPathEv) {
    good_reverse(dest_of(qp), qp.ev.plane(kept.ev_idx), s.entropy);
  }
  if (!news.late) qp.rcvd_newest = s.rcvd_bytes;
  if (qp.cc) {
    const uint32_t bytes = take_sack(qp.fly, qp.owed, news, psn_add(sack.cack_psn, 1) == qp.nxt, cancelled, qp.full,
                                     qp.una == qp.nxt, qp.rcvd_credit);
    const bool sample = recent && qp.ts && (!kept.rtx || config_.rtt_rtx);
    cc_event(qp, {.kind = CcEvent::Ack,
                  .bytes = bytes,
                  .ecn = mark_is_ecn(s.m),
                  .rtt_valid = sample,
                  .rtt = sample ? ticks_since(packet.tx_timestamp, tick(), false) : uint16_t{0},
                  .pen = s.rcv_cwnd_pen,
                  .restore = s.restore_cwnd != 0});
  }
  if (config_.same_ev && recent && !kept.rtx && same_ev_candidate(sack, qp.una, qp.nxt)) {
    Block* block = block_of(qp, qp.una);
    if (block != nullptr && block->record[qp.una & 63].ev_idx == kept.ev_idx && same_ev_lost(block->row, qp.una)) {
      found(qp, *block, psn_word(qp.una), psn_bit<uint64_t>(qp.una), LossCause::SameEv);
      list_retransmission(qp);
      qp.rtx_lo = qp.una;
    }
  }
  note_back(qp);
  const bool reports = qp.ts && find_overdue(qp, sack, packet, twice);
  if (config_.nic_times)
    qp.state_probes = static_cast<uint8_t>(silence_heard(qp.state_probes, !sack.pr && qp.una != old_una, reports));
  release_blocks(qp);
  watch_state(qp);
}

void FastEndpoint::on_nack(FastQp& qp, const Packet& packet) {
  const NackFields& n = packet.nack;
  const auto reason = static_cast<wire::NackReason>(n.reason);
  if (reason == wire::NackReason::UnexpEvent) {
    fail(qp, CqStatus::RemEvent);
    return;
  }
  qp.heard_tick = tick();
  if (reason == wire::NackReason::Trimmed || reason == wire::NackReason::TrimmedLasthop) {
    FastDest& dest = dest_of(qp);
    dest.trims = true;
    dest.trim_tick = tick();
    dest.last_hop = reason == wire::NackReason::TrimmedLasthop;
    const uint32_t took = round_trip(packet.tx_timestamp, tick(), false);
    qp.trims = qp.trims || trim_counts(qp.trip, took);
    qp.trip = trip_of_trim(qp.trip, took);
  }
  const uint32_t psn = n.nack_psn;
  const bool in = in_window(psn, qp.una, qp.nxt);
  Block* block = block_of(qp, psn);
  const bool missing = in && block != nullptr && (block->row.sacked & psn_bit<uint64_t>(psn)) == 0;
  if (nack_is_retry(reason, psn, missing, qp.una, qp.low)) {
    if (retry_exhausted(qp.retry, config_.retry)) {
      fail(qp, CqStatus::RetryExceeded);
      return;
    }
    qp.retry = retry_next(qp.retry);
  }
  if (block == nullptr) return;
  const Record record = block->record[psn & 63];
  const NackMark mark = in ? nack_lost(block->row, psn) : NackMark{};
  if (mark.lost) {
    block->ages.clear(psn_bit<uint64_t>(psn));
    qp.rtx_lo = psn_first(qp.rtx_lo, psn);
    list_retransmission(qp);
    if (qp.cc && mark.leaves) {
      const bool sample = qp.ts && (!record.rtx || config_.rtt_rtx);
      cc_event(qp, {.kind = CcEvent::Nack,
                    .bytes = take_packet(qp.fly, record.size, qp.rcvd_credit),
                    .rtt_valid = sample,
                    .rtt = sample ? ticks_since(packet.tx_timestamp, tick(), false) : uint16_t{0},
                    .reason = n.reason});
    }
  }
  if (reason == wire::NackReason::Trimmed) feedback(qp, record.ev_idx, FbKind::SkipOnce, n.entropy);
}

void FastEndpoint::on_ack(FastQp& qp, const Packet& packet) {
  const Ack ack{.psn = packet.psn, .msn = static_cast<uint16_t>(packet.sack.cack_psn), .syndrome = packet.sack.m};
  if (!ack_valid(ack, qp.una, qp.nxt, qp.msn_done, qp.msn_head)) return;
  if (!syndrome_ack(ack.syndrome)) {
    complete(qp, ack.msn);  // what was before the refused one was good
    fail(qp, static_cast<CqStatus>(ack.syndrome));
    return;
  }
  const uint32_t next = psn_add(ack.psn, 1);
  if (ack.msn != qp.msn_done) progress(qp);
  if (psn_before(qp.una, next)) advance(qp, next);
  note_back(qp);
  if (qp.cc && qp.una == qp.nxt && qp.fly.bytes() != 0) {
    cc_event(qp, {.kind = CcEvent::Ack, .bytes = take_early(qp.fly, qp.owed)});
  }
  release_blocks(qp);
  complete(qp, ack.msn);
}

void FastEndpoint::complete(FastQp& qp, uint16_t msn) {
  const bool was = std::exchange(pumping_, true);  // a listener that posts need not wait for us, nor we for it
  while (qp.msn_done != msn && !qp.requests.empty()) {
    const Request request = qp.requests.pop_front();
    qp.msn_done = msn_add(qp.msn_done, 1);
    if (request.message.imm_valid) {
      --qp.immediates;
      ++qp.wout;
      if (std::exchange(qp.held, false)) activate(qp);
    }
    ++stats_.completions;
    if (listener_ != nullptr) {
      listener_->completed({access_.node(), qp.qpn, request.id, request.message.length, true});
    }
  }
  pumping_ = was;
}

/// A switch has trimmed a packet of ours and sent it back: it is lost, and this is the first to tell. Its EV and the
/// controller hear of it when it is sent again.
void FastEndpoint::on_returned(const Packet& p) {
  const NodeId peer = p.src == access_.node() ? p.dst_host : p.src;
  const auto it = by_peer_.find(uint64_t{peer} << 32 | p.dqp);
  if (it == by_peer_.end() || it->second->failed) return;
  FastQp& qp = *it->second;
  Block* block = block_of(qp, p.psn);
  if (block == nullptr || !in_window(p.psn, qp.una, qp.nxt)) return;
  const bool again = block->record[p.psn & 63].rtx != 0;
  if (!returned_lost(block->row, p.psn, again, (p.bth & kBthRtx) != 0)) return;
  found(qp, *block, psn_word(p.psn), psn_bit<uint64_t>(p.psn), LossCause::Returned);
  list_retransmission(qp);
  qp.rtx_lo = psn_first(qp.rtx_lo, p.psn);
}

void FastEndpoint::fail(FastQp& qp, CqStatus status) {
  if (qp.failed) return;
  qp.failed = true;
  ++stats_.failed_qps;
  cancel_work(qp);
  if (qp.cc && qp.fly.bytes() != 0) cc_event(qp, {.kind = CcEvent::Nack, .bytes = qp.fly.take_all()});
  for (uint32_t b = qp.first_block, n = 0; qp.holds && n < qp.blocks.size(); ++b, ++n) {
    if (Block*& slot = qp.blocks[b & (qp.blocks.size() - 1)]; slot != nullptr) {
      slot->next = free_blocks_;
      free_blocks_ = std::exchange(slot, nullptr);
    }
  }
  qp.holds = false;
  qp.una = qp.rtx_lo = qp.nxt;
  for (Probe& probe : probes_) {
    if (probe.qp == &qp) probe.qp = nullptr;
  }
  const bool was = std::exchange(pumping_, true);
  while (!qp.requests.empty()) {
    const Request request = qp.requests.pop_front();
    qp.msn_done = msn_add(qp.msn_done, 1);
    if (listener_ != nullptr) {
      listener_->completed({access_.node(), qp.qpn, request.id, request.message.length, false, status});
    }
    status = CqStatus::Flushed;
  }
  qp.msn_head = qp.msn_tail = qp.msn_done;
  pumping_ = was;
}

// The timer.

uint32_t FastEndpoint::timer_step(const FastQp& qp) const {
  return retry_interval(config_.timeout, qp.retry, config_.retry) / kTimerSteps;
}

void FastEndpoint::start_timer(FastQp& qp) {
  qp.step_tick = tick();
  qp.marks.restart(qp.nxt);
  if (qp.timer_on) return;
  qp.timer_on = true;
  add_timer(access_.now() + timer_step(qp) * kTick, TimerKind::Retry, qp.index);
}

void FastEndpoint::retry_timer(FastQp& qp) {
  if (!busy(qp)) {
    qp.timer_on = false;
    return;
  }
  const uint32_t passed = tick() - qp.step_tick;
  if (passed < timer_step(qp)) {
    add_timer(access_.now() + (timer_step(qp) - passed) * kTick, TimerKind::Retry, qp.index);
    return;
  }
  const uint32_t overdue = qp.marks.mark[0];
  const bool silent = qp.marks.first();
  if (!qp.marks.step(qp.nxt)) {
    qp.step_tick = tick();
    if (silent && config_.nic_times && config_.silence == 0) query_in_turn(qp, 1);
  } else if (qp.una == qp.nxt) {
    if (qp.msn_done == qp.msn_head) {  // done, but bytes have drifted
      cc_event(qp, {.kind = CcEvent::Ack, .bytes = take_early(qp.fly, qp.owed)});
    } else {  // the ACK is missing
      if (retry_exhausted(qp.retry, config_.retry)) {
        fail(qp, CqStatus::RetryExceeded);
      } else {
        if (qp.cc && qp.fly.bytes() != 0) cc_event(qp, {.kind = CcEvent::Nack, .bytes = qp.fly.take_all()});
        qp.retry = retry_next(qp.retry);
        qp.dup = true;
        ++stats_.timeouts;
        list_retransmission(qp);
        qp.step_tick = tick();
        qp.marks.restart(qp.nxt);
      }
    }
  } else {
    bool any = false, old = false, seen = false, spared = false;
    uint32_t first = 0;
    for (uint32_t w = psn_word(qp.una);; w = psn_add(w, 64)) {
      if (Block* block = block_of(qp, psn_before(w, qp.una) ? qp.una : w)) {
        const StepRow step = step_row(block->row, block->ages, w, qp.una, qp.nxt, overdue, config_.overdue != 0);
        if (!seen && step.missing != 0) {
          seen = true;
          old = step.oldest_lost();
          qp.low = lowest_psn(w, step.missing);
        }
        if (step.lost != 0 && !any) {
          any = true;
          first = psn_add(w, std::countr_zero(step.lost));
        }
        stats_.timeouts += static_cast<unsigned>(std::popcount(step.lost));
        found(qp, *block, w, step.lost, LossCause::Timer);
        spared |= step.spared != 0;
      }
      if (!in_window(psn_add(w, 64), qp.una, qp.nxt)) break;
    }
    if (old && retry_exhausted(qp.retry, config_.retry)) {
      fail(qp, CqStatus::RetryExceeded);
    } else {
      if (old) qp.retry = retry_next(qp.retry);
      if (any) {
        list_retransmission(qp);
        qp.rtx_lo = psn_first(qp.rtx_lo, first);
      }
      if (qp.cc && qp.fly.bytes() != 0 && overdue == qp.nxt && !spared) {
        cc_event(qp, {.kind = CcEvent::Loss, .bytes = qp.fly.take_all()});
        each_block(qp, [](uint32_t, Block& block) { all_left(block.row); });
      }
      qp.marks.shift(qp.nxt);
      qp.step_tick = tick();
    }
  }
  if (!busy(qp)) {
    qp.timer_on = false;
    return;
  }
  const uint32_t step = timer_step(qp), since = tick() - qp.step_tick;
  add_timer(access_.now() + (step > since ? step - since : 1) * kTick, TimerKind::Retry, qp.index);
}

}  // namespace mrc::sim

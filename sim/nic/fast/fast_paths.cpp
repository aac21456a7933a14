// SPDX-License-Identifier: Apache-2.0
/// Probes of bad EVs, port status updates, reverse paths of the fast endpoint (docs/design/blocks/tx/tx_probe.md,
/// endpoint.md, docs/design/blocks/ctl/ack_gen.md).
#include <algorithm>
#include <bit>
#include <utility>

#include "protocol/endpoint.hpp"
#include "protocol/overdue.hpp"
#include "protocol/port_loss.hpp"
#include "protocol/probe.hpp"
#include "protocol/responses.hpp"
#include "protocol/silence.hpp"
#include "protocol/timestamp.hpp"
#include "sim/engine/codec.hpp"
#include "sim/engine/fabric.hpp"
#include "sim/nic/fast/endpoint_fast.hpp"

namespace mrc::sim {

namespace {
constexpr uint32_t kMaxWants = 16;
/// After a trim, queues are full for so many of the longest round trips.
constexpr uint32_t kTrimTrips = 8;
/// Bits of an update's id for the destination: answers are found by their address.
constexpr unsigned kUpdateDestBits = ep_update_dest_bits(1);
/// An ACK that is missing left with the SACK that reported all: so many eighths of a round trip later it is asked for.
constexpr unsigned kAckEighths = 2;
}  // namespace

// Probes of bad EVs.

void FastEndpoint::ev_bad(FastQp& qp, unsigned ev_idx) {
  for (const Probe& probe : probes_) {
    if (probe.qp == &qp && probe.ev_idx == ev_idx) return;
  }
  size_t slot = 0;
  while (slot < probes_.size() && probes_[slot].qp != nullptr) ++slot;
  if (slot == kSuspectSlot) {
    unprobed_.push_back(uint64_t{qp.index} << 32 | ev_idx);
    return;
  }
  if (slot == probes_.size()) probes_.emplace_back();
  Probe& probe = probes_[slot];
  const uint8_t seq = probe.seq;
  probe = {};
  probe.qp = &qp;
  probe.ev_idx = static_cast<uint16_t>(ev_idx);
  probe.seq = seq;
  probe.due = access_.now() + config_.probe_interval * kTick;
  add_timer(probe.due, TimerKind::Probe, static_cast<uint32_t>(slot));
}

void FastEndpoint::probe_timer(uint32_t slot) {
  Probe& probe = probes_[slot];
  const Time now = access_.now();
  if (probe.qp == nullptr || probe.due > now) return;
  FastQp& qp = *probe.qp;
  const unsigned plane = qp.ev.plane(probe.ev_idx);
  if (probe.waiting) {  // no answer
    probe_failed(probe);
    probe.evp = !probe.evp;
  } else if ((up_ >> plane & 1) == 0) {
    probe.due = now + config_.probe_interval * kTick;
  } else {
    ++probe.seq;
    probe.waiting = true;
    probe.due = now + retry_interval(config_.timeout, 0, config_.retry) * kTick;
    PacketPtr packet = make_packet(qp, plane, qp.ev.value(probe.ev_idx), qp.dscp_data);
    const uint16_t id = probe_id(probe.seq, slot, kProbeSlots);
    packet->tx_timestamp = time_stamp(tick(), false);
    probe.evp = probe_with_ev_probe(config_.probe_kind, probe.evp);
    packet->opcode = opcode_byte(probe.evp ? wire::Opcode::EndpointRequest : wire::Opcode::ProbeRequest);
    packet->size = static_cast<uint16_t>(frame_size(qp.stack, packet->opcode, false, 0));
    if (probe.evp) {
      packet->dqp = wire::kEndpointDqp;
      packet->psn = ep_probe_id(EpKind::RevivalProbe, id);
      packet->probe = {ep_mask_of_planes(up_, false), 0, static_cast<uint8_t>(wire::ErthOp::EvProbe)};
    } else {
      packet->psn = 0;
      packet->probe = {0, id, 0};
    }
    put_control(std::move(packet), plane, config_.work_to_probe);
    ++stats_.probes;
  }
  add_timer(probe.due, TimerKind::Probe, slot);
}

void FastEndpoint::probe_failed(Probe& probe) {
  probe.waiting = probe.marked = false;
  probe.successes = 0;
  probe.fails = static_cast<uint8_t>(std::min<unsigned>(probe.fails + 1u, kProbeMaxFails));
  probe.due = access_.now() + probe_wait(config_.probe_interval, probe.fails) * kTick;
}

void FastEndpoint::probe_answer(FastQp& qp, uint16_t id, unsigned m) {
  const unsigned slot = probe_slot(id, kProbeSlots);
  if (slot == kSuspectSlot && id != kStateProbeId) {
    FastDest& dest = dest_of(qp);
    const unsigned was = std::exchange(dest.suspected, dest.suspected & ~(1u << id / kProbeSlots % kMaxPlanes));
    if (was != dest.suspected) pump();
    return;
  }
  if (slot >= probes_.size()) return;
  Probe& probe = probes_[slot];
  if (probe.qp != &qp || !probe.waiting || probe.evp || !probe_answers(id, probe.seq, kProbeSlots)) return;
  if (probe_refused(m)) {
    probe_failed(probe);
    add_timer(probe.due, TimerKind::Probe, slot);
    return;
  }
  probe.marked = probe.marked || probe_marked(m);
  probe_answered(slot);
}

/// The answer to an EV probe has no mark.
void FastEndpoint::ev_probe_answer(uint16_t id) {
  const unsigned slot = probe_slot(id, kProbeSlots);
  if (slot >= probes_.size()) return;
  const Probe& probe = probes_[slot];
  if (probe.qp != nullptr && probe.waiting && probe.evp && mrc::ev_probe_answers(id, probe.seq, kProbeSlots)) {
    probe_answered(slot);
  }
}

void FastEndpoint::probe_answered(uint32_t slot) {
  Probe& probe = probes_[slot];
  FastQp& qp = *probe.qp;
  probe.waiting = false;
  probe.due = access_.now() + config_.probe_interval * kTick;
  if (++probe.successes < config_.probe_successes) {
    add_timer(probe.due, TimerKind::Probe, slot);
    return;
  }
  const unsigned ev_idx = probe.ev_idx;
  probe.qp = nullptr;
  feedback(qp, ev_idx, probe_revival(probe.marked, config_.probe_skip_good), 0);
  while (!unprobed_.empty()) {
    const uint64_t next = unprobed_.pop_front();
    FastQp& other = *qps_[next >> 32];
    const auto ev = static_cast<unsigned>(next & 0xffff);
    if (other.failed || other.ev.state(ev) != kEvBad) continue;
    ev_bad(other, ev);
    break;
  }
}

// The same packet as a question of a QP that hears nothing (mrc.md section 7, "Tail").

void FastEndpoint::watch_state(FastQp& qp) {
  if (config_.silence != 0 && busy(qp)) arm_state(qp, qp.una);
}

/// The packet that is out for longest: una, unless that was sent again since. una, too, if none is out, and after a
/// trim, when what was sent again goes first and the others wait in queues.
uint32_t FastEndpoint::longest_out(const FastQp& qp) const {
  uint32_t oldest = qp.una;
  if (trims(dest_of(qp))) return oldest;
  int most = -1;
  each_block(qp, [&](uint32_t w, const Block& block) {
    for (uint64_t m = overdue_candidates(block.row, range_mask(w, qp.una, qp.nxt)); m != 0; m &= m - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(m));
      const auto ago = static_cast<uint16_t>(tick() - block.record[i].sent);
      if (ago <= most) continue;
      oldest = psn_add(w, i);
      most = ago;
    }
  });
  return oldest;
}

/// Since when there was something to hear of: the newest transmission of the packet `out`, or (an ACK is missing) when
/// all had been reported; the newest question; and for a QP that has more to send what it heard last.
uint32_t FastEndpoint::quiet_since(const FastQp& qp, uint32_t out) const {
  const auto later = [](uint32_t a, uint32_t b) { return tick_reached(a, b) ? a : b; };
  if (config_.nic_times) return qp.state_probes == 0 ? qp.last_tick : later(qp.last_tick, qp.query_tick);
  uint32_t since = qp.query_tick;
  if (qp.una == qp.nxt) {
    since = later(since, qp.all_tick);
  } else if (const Block* block = block_of(qp, out)) {
    const uint32_t sent = sent_tick(*block, out);
    since = queried_in_vain(qp, sent) ? sent : later(since, sent);
  }
  return qp.active || qp.rtx ? later(since, qp.heard_tick) : since;
}

uint32_t FastEndpoint::quiet_wait(const FastQp& qp, uint32_t out) const {
  if (config_.nic_times) {
    return silence_pause(silence_bound(trip_of_question(qp.trip, qp.trims)),
                         silence_doubled(qp.state_probes, qp.una == qp.nxt, qp.active && !qp.parked));
  }
  const FastDest& dest = dest_of(qp);
  unsigned eighths = config_.silence;
  uint32_t trip = smallest(dest);
  if (qp.una == qp.nxt) {
    eighths = kAckEighths;
  } else if (trims(dest) && (qp.active || qp.rtx)) {
    trip = silence_trip_of_trims(longest(dest), full_round_trip(dest));
  } else if (const Block* block = block_of(qp, out);
             eighths > 1 && block != nullptr && block->record[out & 63].rtx != 0) {
    --eighths;  // it brings a SACK at once
  }
  const uint32_t wait = silence_wait(eighths, trip, config_.silence_least, qp.state_probes);
  const Block* block = qp.una == qp.nxt ? nullptr : block_of(qp, out);
  if (block == nullptr || !queried_in_vain(qp, sent_tick(*block, out))) return wait;
  return std::max(wait, question_again(answer_spare(dest), smallest(dest)));
}

/// Ticks by which a packet that is missing in the answer must be older than the question to be lost.
uint32_t FastEndpoint::answer_spare(const FastDest& dest) const {
  return question_spare(std::max(longest(dest), full_round_trip(dest)), smallest(dest));
}

/// The newest question has been answered, and was too soon to tell of a packet sent then. After a trim that counts only
/// if the next one is sooner for it; a QP that has more to send waits for its window.
bool FastEndpoint::queried_in_vain(const FastQp& qp, uint32_t sent) const {
  const FastDest& dest = dest_of(qp);
  const uint32_t spare = answer_spare(dest), least = smallest(dest);
  if (qp.state_probes != 0 || !query_too_soon(qp.query_tick, sent, spare)) return false;
  return !trims(dest) || (!qp.active && !qp.rtx && question_again(spare, least) < qp.query_tick - sent + least);
}

/// Tick of the newest transmission of a packet of that block.
uint32_t FastEndpoint::sent_tick(const Block& block, uint32_t psn) const {
  const uint32_t now = tick();
  return now - static_cast<uint16_t>(now - block.record[psn & 63].sent);
}

bool FastEndpoint::trims(const FastDest& dest) const {
  return dest.trims && tick() - dest.trim_tick <= kTrimTrips * std::max(longest(dest), full_round_trip(dest));
}

void FastEndpoint::arm_state(FastQp& qp, uint32_t out) {
  const uint32_t wait = quiet_wait(qp, out), since = tick() - quiet_since(qp, out);
  const Time soon = access_.now() + (wait > since ? wait - since : 1) * kTick;
  const Time round = config_.visit * (watched_ + (qp.watched ? 0 : 1));
  const Time due = round == 0 ? soon : (soon + round - 1) / round * round;
  if (qp.watched && due >= qp.state_due) return;
  if (!qp.watched) ++watched_;
  qp.watched = true;
  qp.state_due = due;
  add_timer(qp.state_due, TimerKind::State, qp.index);
}

uint32_t FastEndpoint::smallest(const FastDest& dest) const {
  return dest.cc ? dest.state.base_rtt : std::max(config_.nscc.base_rtt / kNsccTickNs, 1u);
}

uint32_t FastEndpoint::full_round_trip(const FastDest& dest) const {
  return smallest(dest) + (dest.cc ? dest.words->target >> 8
                                   : config_.nscc.target_delay.value_or(config_.nscc.base_rtt * 3 / 4) / kNsccTickNs);
}

uint32_t FastEndpoint::longest(const FastDest& dest) const {
  return std::max(longest_ticks(dest.longest), smallest(dest));
}

/// A question on one of these planes. Returns those that are left.
unsigned FastEndpoint::query_on(FastQp& qp, uint16_t id, unsigned planes, uint16_t& ev_idx) {
  ev_idx = kNoPathEv;
  EvSet::Walk walk = qp.ev.begin(false, 0);
  if (qp.ev.walk(walk, planes, ~0u, skip_rule(), !config_.bad_waits, ev_idx) != EvSet::Found::Ev) return planes;
  const unsigned plane = qp.ev.plane(ev_idx);
  send_probe(qp, plane, qp.ev.value(ev_idx), id);
  return planes & ~(1u << plane);
}

void FastEndpoint::send_probe(const FastQp& qp, unsigned plane, uint32_t ev, uint16_t id) {
  PacketPtr packet = make_packet(qp, plane, ev, qp.dscp_data);
  packet->opcode = opcode_byte(wire::Opcode::ProbeRequest);
  packet->psn = 0;
  packet->size = static_cast<uint16_t>(frame_size(qp.stack, opcode_byte(wire::Opcode::ProbeRequest), false, 0));
  packet->probe = {0, id, 0};
  packet->tx_timestamp = time_stamp(tick(), false);
  put_control(std::move(packet), plane, config_.work_to_probe);
  ++stats_.probes;
}

/// As the NIC with a clock asks: on the planes in turn, with the EVs that SACKs take there.
void FastEndpoint::query_in_turn(FastQp& qp, unsigned times) {
  const unsigned peer = dest_of(qp).peer_mask & ((1u << planes_) - 1u);
  for (unsigned k = 0; k < times; ++k) {
    const StatePlane next = state_plane(ack_turn_, planes_, up_, peer);
    ack_turn_ = next.turn;
    const unsigned plane = response_plane(next.plane, up_, peer);
    send_probe(qp, plane, answer_ev(qp, plane), kStateProbeId);
  }
}

/// On two planes at once, if there are others none of those that are suspected: that of the packet `out`, and those of
/// a question that was not answered.
void FastEndpoint::query_state(FastQp& qp, uint32_t out) {
  const uint16_t id = probe_id(qp.state_probes, kStateSlot, kProbeSlots);
  unsigned suspected = 0;
  const auto suspect = [&](uint16_t ev_idx) {
    if (ev_idx != kNoPathEv) suspected |= 1u << qp.ev.plane(ev_idx);
  };
  if (const Block* block = block_of(qp, out); block != nullptr && qp.una != qp.nxt) {
    suspect(block->record[out & 63].ev_idx);
  }
  if (qp.state_probes != 0) {
    for (const uint16_t ev_idx : qp.queried_ev) suspect(ev_idx);
  }
  unsigned planes = planes_but(usable(qp), suspected);
  for (uint16_t& ev_idx : qp.queried_ev) {
    ev_idx = kNoPathEv;
    if (planes != 0) planes = query_on(qp, id, planes, ev_idx);
  }
}

void FastEndpoint::state_timer(FastQp& qp, Time time) {
  if (!qp.watched || time != qp.state_due) return;
  qp.watched = false;
  --watched_;
  if (!busy(qp) || (qp.una == qp.nxt && qp.msn_done == qp.msn_head)) return;
  const uint32_t out = longest_out(qp);
  if (tick() - quiet_since(qp, out) >= quiet_wait(qp, out)) {
    if (config_.nic_times) {
      query_in_turn(qp, 2);
    } else {
      query_state(qp, out);
    }
    qp.query_tick = tick();
    if (qp.state_probes < kMostQuestions) ++qp.state_probes;
  }
  arm_state(qp, out);
}

// A plane under suspicion.

void FastEndpoint::suspect(FastQp& qp, unsigned ev_idx) {
  FastDest& dest = dest_of(qp);
  const unsigned plane = qp.ev.plane(ev_idx), bit = 1u << plane;
  const uint32_t trip = longest(dest);
  const bool elsewhere = dest.losses.others(plane, tick(), trip) != 0;
  dest.losses.lost(plane, tick());
  const unsigned evs = dest.plane_losses[plane].lost(static_cast<uint16_t>(ev_idx), tick(), trip);
  if (elsewhere || evs < config_.suspect || (dest.suspected & bit) != 0 || (up_ & dest.peer_mask & ~bit) == 0) return;
  dest.plane_losses[plane].clear();
  if (dest.suspected == 0) dest.suspect_queried = 0;
  dest.suspected |= bit;
  query_suspect(qp.dest);
}

/// Probes on each plane under suspicion; again after a round trip, then after twice the time.
void FastEndpoint::query_suspect(uint32_t d) {
  FastDest& dest = *dests_[d];
  dest.suspected &= up_ & dest.peer_mask;  // a port that is down says more
  if (dest.suspected == 0) return;
  FastQp& qp = *qps_[dest.newest_qp];
  for (unsigned m = dest.suspected; m != 0; m &= m - 1) {
    const unsigned plane = static_cast<unsigned>(std::countr_zero(m));
    for (unsigned k = 0; k < 2; ++k) {
      uint16_t ev_idx = kNoPathEv;
      (void)query_on(qp, probe_id(static_cast<uint8_t>(plane), kSuspectSlot, kProbeSlots), 1u << plane, ev_idx);
    }
  }
  add_timer(access_.now() + silence_wait(8, longest(dest), 0, dest.suspect_queried) * kTick, TimerKind::Suspect, d);
  if (dest.suspect_queried < kMostQueries) ++dest.suspect_queried;
}

// Port status updates.

void FastEndpoint::ports_changed() {
  for (uint32_t d = 0; d < dests_.size(); ++d) {
    dests_[d]->due = true;
    dests_[d]->sent = false;
    dests_[d]->tries = dests_[d]->queries = 0;
    port_status_timer(d);
  }
}

/// The peer's ports on these planes are down.
void FastEndpoint::lose_planes(uint32_t dest, unsigned planes) {
  if (planes == 0) return;
  for (const auto& qp : qps_) {
    if (qp->dest != dest) continue;
    lose_planes(*qp, planes, LossCause::Peer);
    report_again(*qp);
  }
}

/// Sends the update, or repeats it, or gives it up until a port changes.
void FastEndpoint::port_status_timer(uint32_t d) {
  FastDest& dest = *dests_[d];
  if (!dest.due || up_ == 0 || (dest.sent && dest.when > access_.now())) return;
  if (dest.sent && config_.endpoint_repeats != kEpRepeatsForEver && dest.tries++ >= config_.endpoint_repeats) {
    dest.due = dest.sent = false;
    return;
  }
  const FastQp& qp = *qps_[dest.newest_qp];
  const unsigned mask = (1u << planes_) - 1u;
  const unsigned plane = std::has_single_bit(planes_) ? ep_update_plane(rotate_, up_, dest.peer_mask & mask, planes_)
                                                      : static_cast<unsigned>(std::countr_zero(up_));
  rotate_ = (plane + 1) % planes_;
  PacketPtr packet = make_packet(qp, plane, answer_ev(qp, plane), config_.dscp_endpoint);
  packet->opcode = opcode_byte(wire::Opcode::EndpointRequest);
  packet->dqp = wire::kEndpointDqp;
  dest.seq = static_cast<uint8_t>(ep_update_seq(dest.seq + 1, kUpdateDestBits));
  packet->psn = ep_update_id(dest.seq, d, kUpdateDestBits);
  packet->size = static_cast<uint16_t>(frame_size(qp.stack, opcode_byte(wire::Opcode::EndpointRequest), false, 0));
  packet->probe = {ep_mask_of_planes(up_, false), 0, static_cast<uint8_t>(wire::ErthOp::PortStatus)};
  packet->tx_timestamp = time_stamp(tick(), false);
  put_control(std::move(packet), plane, config_.work_to_probe);
  dest.sent = true;
  const uint32_t soon = silence_wait(config_.silence, smallest(dest), config_.silence_least, dest.queries);
  if (dest.queries < kMostQueries) ++dest.queries;
  dest.when = access_.now() +
              (soon == 0 ? config_.endpoint_interval : std::min<uint32_t>(soon, config_.endpoint_interval)) * kTick;
  add_timer(dest.when, TimerKind::PortStatus, d);
}

void FastEndpoint::on_endpoint(const Packet& p, unsigned plane) {
  const auto id = static_cast<uint16_t>(p.psn);
  if (p.opcode == opcode_byte(wire::Opcode::EndpointRequest)) {
    const auto it = dest_of_node_.find(p.src);
    if (it == dest_of_node_.end() || p.probe.op > static_cast<uint8_t>(wire::ErthOp::EvProbe)) return;
    FastDest& dest = *dests_[it->second];
    if (p.probe.op == static_cast<uint8_t>(wire::ErthOp::PortStatus)) {
      const unsigned before = dest.peer_mask;
      dest.peer_mask = ep_planes_of_mask(p.probe.port_status_mask, planes_, false);
      if (config_.port_loss) lose_planes(it->second, planes_gone(before, dest.peer_mask) & ((1u << planes_) - 1u));
      if (before != dest.peer_mask) pump();
    }
    const FastQp& qp = *qps_[dest.newest_qp];
    unsigned out = 0;
    PacketPtr packet =
        make_answer(qp, plane, wire::Opcode::EndpointResponse,
                    frame_size(qp.stack, static_cast<uint8_t>(wire::Opcode::EndpointResponse), false, 0), out);
    packet->dqp = wire::kEndpointDqp;
    packet->psn = id;
    packet->probe = {0, 0, p.probe.op};
    packet->tx_timestamp = p.tx_timestamp;
    put_control(std::move(packet), out, config_.packet_to_answer);
    return;
  }
  switch (static_cast<EpKind>(id >> 14)) {
    case EpKind::PortStatus: {
      const auto it = dest_of_node_.find(p.src);
      if (it == dest_of_node_.end()) return;
      FastDest& dest = *dests_[it->second];
      if (dest.due && dest.sent && id == ep_update_id(dest.seq, it->second, kUpdateDestBits))
        dest.due = dest.sent = false;
      return;
    }
    case EpKind::RevivalProbe:
      ev_probe_answer(id);
      return;
    case EpKind::ReverseProbe:
      if (!reverse_.busy || id != ep_probe_id(EpKind::ReverseProbe, reverse_.seq)) return;
      reverse_.busy = false;
      good_reverse(*dests_[reverse_.dest], reverse_.plane, reverse_.ev);
      reverse_next();
      return;
    default:
      return;
  }
}

// Reverse paths.

void FastEndpoint::good_reverse(FastDest& dest, unsigned plane, uint32_t ev) {
  FastDest::Reverse& r = dest.reverse[plane];
  r.ev = ev;
  r.valid = true;
  r.heard = epoch_;
  r.wanted = 0;
}

/// A SACK about data goes out there: is anything fresh known of that way?
void FastEndpoint::want_reverse(FastDest& dest, unsigned plane) {
  const uint32_t now = tick();
  if (now - epoch_tick_ >= config_.endpoint_interval) {
    epoch_tick_ = now;
    ++epoch_;
  }
  FastDest::Reverse& r = dest.reverse[plane];
  if (r.heard == epoch_ || r.wanted == epoch_ || wants_.size() >= kMaxWants) return;
  r.wanted = epoch_;
  wants_.push_back(uint64_t{dest_of_node_.at(dest.peer)} << 32 | plane);
  if (!reverse_.busy) reverse_next();
}

void FastEndpoint::reverse_next() {
  while (!reverse_.busy && !wants_.empty()) {
    const uint64_t want = wants_.pop_front();
    const auto d = static_cast<uint32_t>(want >> 32);
    const auto plane = static_cast<unsigned>(want & 0xff);
    FastDest& dest = *dests_[d];
    if ((up_ & dest.peer_mask & 1u << plane) == 0) continue;
    const FastQp& qp = *qps_[dest.newest_qp];
    entropy_lfsr_ = ep_entropy_next(entropy_lfsr_);
    reverse_ = {true,
                d,
                entropy_lfsr_,
                plane,
                static_cast<uint16_t>((reverse_.seq + 1) & 0x3fff),
                access_.now() + config_.endpoint_interval * kTick};
    PacketPtr packet = make_packet(qp, plane, reverse_.ev, config_.dscp_endpoint);
    packet->opcode = opcode_byte(wire::Opcode::EndpointRequest);
    packet->dqp = wire::kEndpointDqp;
    packet->psn = ep_probe_id(EpKind::ReverseProbe, reverse_.seq);
    packet->size = static_cast<uint16_t>(frame_size(qp.stack, opcode_byte(wire::Opcode::EndpointRequest), false, 0));
    packet->probe = {ep_mask_of_planes(up_, false), 0, static_cast<uint8_t>(wire::ErthOp::EvProbe)};
    packet->tx_timestamp = time_stamp(tick(), false);
    put_control(std::move(packet), plane, config_.work_to_probe);
    add_timer(reverse_.due, TimerKind::ReverseProbe, 0);
  }
}

void FastEndpoint::reverse_timer() {
  if (reverse_.busy && reverse_.due <= access_.now()) reverse_.busy = false;
  reverse_next();
}

}  // namespace mrc::sim

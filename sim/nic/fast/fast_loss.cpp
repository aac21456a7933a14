// SPDX-License-Identifier: Apache-2.0
/// What the fast endpoint knows to be lost, and what follows for paths (docs/protocol/loss.md).
#include <algorithm>
#include <bit>
#include <vector>

#include "protocol/blame.hpp"
#include "protocol/overdue.hpp"
#include "protocol/port_loss.hpp"
#include "protocol/probe.hpp"
#include "protocol/silence.hpp"
#include "protocol/timestamp.hpp"
#include "sim/engine/fabric.hpp"
#include "sim/nic/fast/endpoint_fast.hpp"

namespace mrc::sim {

namespace {

/// Losses on other planes say for so many round trips that it may be the world.
constexpr uint32_t kBlameTrips = 16;
/// After a trim, the longest round trip of late is right for so many full ones.
constexpr uint32_t kFullTrips = 2;

}  // namespace

void FastEndpoint::found(FastQp& qp, const Block& block, uint32_t w, uint64_t lost, LossCause cause) {
  stats_.found[static_cast<unsigned>(cause)] += static_cast<unsigned>(std::popcount(lost));
  for (; lost != 0 && notes_.size() < kMostNotes; lost &= lost - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(lost));
    const Record& record = block.record[i];
    const uint16_t age = static_cast<uint16_t>(tick() - record.sent);
    const uint32_t message = msn_dist(record.msn, qp.msn_done);
    LossNote note{.known = access_.now(), .qpn = qp.qpn, .psn = psn_add(w, i), .cause = cause};
    note.sent = note.known - std::min(note.known, age * kTick);
    if (message < qp.requests.size()) note.user = qp.requests[message].id;
    if (record.ev_idx != kNoPathEv) {
      note.entropy = qp.ev.value(record.ev_idx);
      note.plane = static_cast<uint8_t>(qp.ev.plane(record.ev_idx));
    }
    qp.notes.push_back(static_cast<uint32_t>(notes_.size()));
    notes_.push_back(note);
  }
}

void FastEndpoint::note_again(FastQp& qp, uint32_t psn, unsigned plane) {
  for (const uint32_t n : qp.notes) {
    LossNote& note = notes_[n];
    if (note.psn != psn || note.again != 0) continue;
    note.again = access_.now();
    note.again_plane = static_cast<uint8_t>(plane);
  }
}

/// What was lost and is reported now.
void FastEndpoint::note_back(FastQp& qp) {
  std::erase_if(qp.notes, [&](uint32_t n) {
    LossNote& note = notes_[n];
    const Block* block = block_of(qp, note.psn);
    const bool out = in_window(note.psn, qp.una, qp.nxt) &&
                     (block == nullptr || (block->row.sacked & psn_bit<uint64_t>(note.psn)) == 0);
    if (!out) note.back = access_.now();
    return !out;
  });
}

/// A packet on that EV was lost, and not because of a port.
void FastEndpoint::blame(FastQp& qp, unsigned ev_idx) {
  if (ev_idx == kNoPathEv) return;
  const unsigned plane = qp.ev.plane(ev_idx);
  if (config_.suspect != 0) suspect(qp, ev_idx);
  if (config_.loss_share != 0) {
    const bool counts = (usable(qp) >> plane & 1) == 0 || !ev_in_use(qp.ev.state(ev_idx)) ||
                        qp.world.lost(plane, tick(), planes_, config_.loss_share);
    if (!counts) return;
  } else if (config_.strikes > 1) {
    const unsigned others = qp.losses.others(plane, tick(), kBlameTrips * full_round_trip(dest_of(qp)));
    qp.losses.lost(plane, tick());
    if (qp.strikes.empty()) qp.strikes.resize(qp.ev.size());
    if (++qp.strikes[ev_idx] < strikes_needed(others, planes_, config_.strikes)) return;
    qp.strikes[ev_idx] = 0;
  }
  feedback(qp, ev_idx, FbKind::Loss, 0);
}

bool FastEndpoint::knows_all(const FastQp& qp, const SackFields& sack) const {
  if (!config_.by_count) return false;
  unsigned reported = 0;
  each_block(qp, [&](uint32_t w, const Block& block) {
    reported += static_cast<unsigned>(std::popcount(block.row.sacked & range_mask(w, qp.una, qp.nxt)));
  });
  return shows_all(sack.cack_psn, sack.ooo_count, qp.una, reported, sack.rcvd_bytes == qp.rcvd_newest);
}

/// Gaps of this SACK whose newest transmission should have come before the packet that it answers. Paths differ by what
/// waits on them: the longest round trip of late is what one packet may be behind another.
bool FastEndpoint::find_overdue(FastQp& qp, const Sack& sack, const Packet& packet, bool twice) {
  const SackFields& s = packet.sack;
  // A packet that was trimmed overtakes what waits in queues, and tells nothing.
  const Block* cause = sack.pr ? nullptr : block_of(qp, sack.psn);
  const bool arrived =
      psn_before(sack.psn, qp.una) || (cause != nullptr && (cause->row.sacked & psn_bit<uint64_t>(sack.psn)) != 0);
  if (!gives_time(sack.pr, sack.psn, arrived, twice, true, false)) return false;
  const auto id = static_cast<uint16_t>(sack.psn);
  const bool question = sack.pr && (id == kStateProbeId || probe_slot(id, kProbeSlots) == kStateSlot);
  const bool again = !sack.pr && (config_.nic_times || trims(dest_of(qp))) &&
                     (cause == nullptr || cause->record[sack.psn & 63].rtx != 0);
  uint32_t spare = 0;
  if (config_.nic_times) {
    const uint32_t took = round_trip(packet.tx_timestamp, tick(), false), before = qp.trip;
    const uint32_t trip = trip_of_question(before, qp.trims && sack.pr);
    qp.trims = qp.trims && !trip_measured(before, took);
    qp.trip = trip_of_late(before, took);
    if (config_.overdue == 0 || !trip_known(trip, took, false)) return true;
    spare = late_spare(longest_trip(trip, took, false));
  } else {
    FastDest& dest = dest_of(qp);
    const bool full = dest.trims && tick() - dest.trim_tick <= kFullTrips * full_round_trip(dest);  // queues are
    if (question && !full) dest.longest = longest_of_answer(dest.longest);
    dest.longest = longest_of_late(dest.longest, ticks_since(packet.tx_timestamp, tick(), false), smallest(dest));
    if ((question ? config_.silence : config_.overdue) == 0) return true;
    const uint32_t trip = std::max(longest(dest), full_round_trip(dest));
    spare = question ? answer_spare(dest)
                     : overdue_spare(overdue_eighths(config_.overdue, trims(dest) && dest.last_hop), trip);
  }
  bool any = false;
  uint32_t first = 0;
  const auto look = [&](uint32_t w, uint64_t gaps) {
    Block* block = block_of(qp, psn_before(w, qp.una) ? qp.una : w);
    if (block == nullptr) return;
    gaps = overdue_candidates(block->row, gaps & range_mask(w, qp.una, qp.nxt), again);
    for (; gaps != 0; gaps &= gaps - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(gaps));
      if (!is_overdue(block->record[i].sent, packet.tx_timestamp, spare)) continue;
      block->row.pend |= uint64_t{1} << i;
      found(qp, *block, w, uint64_t{1} << i, question ? LossCause::Question : LossCause::Overdue);
      first = any ? psn_first(first, psn_add(w, i)) : psn_add(w, i);
      any = true;
    }
  };
  if (knows_all(qp, s)) {
    each_block(qp, [&](uint32_t w, const Block&) { look(w, ~uint64_t{0}); });
  } else {
    const uint32_t base = psn_add(s.cack_psn, s.sack_offset), w = psn_word(base);
    const unsigned shift = base & 63;
    if (psn_add(sack.cack_psn, 1) == qp.una) look(psn_word(qp.una), psn_bit<uint64_t>(qp.una));
    look(w, ~s.bitmap << shift);
    if (shift != 0) look(psn_add(w, 64), ~s.bitmap >> (64 - shift));
  }
  if (!any) return true;
  list_retransmission(qp);
  qp.rtx_lo = psn_first(qp.rtx_lo, first);
  return true;
}

/// What of a QP was given to these planes and is not reported has not come through: it goes again.
void FastEndpoint::lose_planes(FastQp& qp, unsigned planes, LossCause cause) {
  if (qp.failed || qp.una == qp.nxt) return;
  uint32_t bytes = 0, first = 0;
  bool any = false;
  each_block(qp, [&](uint32_t w, Block& block) {
    uint64_t sent = 0;
    for (uint64_t m = overdue_candidates(block.row, range_mask(w, qp.una, qp.nxt)); m != 0; m &= m - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(m));
      const uint16_t ev_idx = block.record[i].ev_idx;
      if (work_.qp == &qp && work_.retransmission && work_.psn == psn_add(w, i)) continue;  // on its way to a lane
      if (ev_idx != kNoPathEv && (planes >> qp.ev.plane(ev_idx) & 1) != 0) sent |= uint64_t{1} << i;
    }
    const uint64_t lost = port_lost(block.row, sent);
    if (lost == 0) return;
    if (!any) first = psn_add(w, std::countr_zero(lost));
    any = true;
    found(qp, block, w, lost, cause);
    for (uint64_t m = lost; m != 0; m &= m - 1) {
      bytes += take_packet(qp.fly, block.record[std::countr_zero(m)].size, qp.rcvd_credit);
    }
  });
  if (!any) return;
  list_retransmission(qp);
  qp.rtx_lo = psn_first(qp.rtx_lo, first);
  if (qp.cc) cc_event(qp, {.kind = CcEvent::Nack, .bytes = bytes});  // no reason: no congestion
}

/// The window is shut. What is lost and waits for its turn leaves the flight now: it may be all that shuts the window.
/// Its EVs are blamed.
void FastEndpoint::lost_leave(FastQp& qp) {
  if (config_.lost_stays) return;
  uint32_t bytes = 0;
  each_block(qp, [&](uint32_t w, Block& block) {
    for (uint64_t m = leave_row(block.row, w, qp.una, qp.nxt); m != 0; m &= m - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(m));
      if ((block.row.mute >> i & 1) == 0) blame(qp, block.record[i].ev_idx);
      bytes += take_packet(qp.fly, block.record[i].size, qp.rcvd_credit);
      not_sent(block.row, psn_add(w, i));
    }
  });
  if (bytes == 0) return;
  const bool spares = config_.loss_spares && config_.nscc.trimming;
  cc_event(qp, {.kind = spares ? CcEvent::Nack : CcEvent::Loss, .bytes = bytes});
}

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
/// The requestor's window, 64 PSNs at a time: SACK, NACK, ACK, loss and timer as arithmetic on masks
/// (docs/blocks/tx_inflight.md; mrc.md section 7).
#pragma once

#include <bit>
#include <cstdint>

#include "gen/streams.hpp"
#include "protocol/psn.hpp"

namespace mrc {

/// State of 64 consecutive PSNs, bit i for the PSN with low six bits i.
struct WinRow {
  uint64_t nacked =
      0;  ///< with pend: left the flight already, by NACK or told loss; without: sent again late in this interval
  uint64_t rtxd = 0;    ///< retransmitted since first sent
  uint64_t pend = 0;    ///< waits for retransmission
  uint64_t sacked = 0;  ///< reported received
  bool operator==(const WinRow&) const = default;
};

/// First PSN of the word of 64 that holds psn.
constexpr uint32_t psn_word(uint32_t psn) { return psn & ~63u & kPsnMask; }

/// The low n bits.
constexpr uint64_t low_mask(uint32_t n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

/// Bits i with p0 + i in [a, b), modulo 2^24; b at most 2^23 after a.
constexpr uint64_t range_mask(uint32_t p0, uint32_t a, uint32_t b) {
  const uint32_t len = psn_dist(b, a), d0 = psn_dist(p0, a);
  if (d0 < len) return low_mask(len - d0);
  const uint32_t start = (1u << 24) - d0;  // a lies that far above p0
  if (start >= 64) return 0;
  return (low_mask(len) << start);
}

/// True when psn is in [una, nxt).
constexpr bool in_window(uint32_t psn, uint32_t una, uint32_t nxt) { return psn_dist(psn, una) < psn_dist(nxt, una); }

/// True when a cumulative acknowledgement up to before `next` is one of [una, nxt], or an old one.
constexpr bool cum_valid(uint32_t next, uint32_t una, uint32_t nxt) {
  return psn_dist(next, una) <= psn_dist(nxt, una) || psn_before(next, una);
}

/// What a SACK says beyond its bitmap.
struct SackView {
  uint32_t una;  ///< una' of the contract
  uint32_t nxt;  ///< PSN after the newest sent
  uint32_t hi;   ///< hi' of the contract
  bool infer;    ///< enough packets above a gap: PSNs below `lost_end` without report are lost
  uint32_t lost_end;
};

/// The window after the cumulative part of a SACK that passed cum_valid(cack + 1).
constexpr SackView sack_view(const Ctl& sack, uint32_t una, uint32_t nxt, uint32_t hi, unsigned reorder) {
  SackView v{};
  const uint32_t next = psn_add(sack.cack, 1);
  v.una = psn_before(next, una) ? una : next;
  v.nxt = nxt;
  v.hi = !sack.pr && in_window(sack.psn, una, nxt) && psn_before(hi, sack.psn) ? sack.psn : hi;
  v.lost_end = psn_add(v.hi, 1 - static_cast<int64_t>(reorder));
  v.infer = sack.ooo >= reorder && psn_dist(v.lost_end, v.una) < kPsnHalf;
  return v;
}

/// Enters the bits `got` (PSN p0 + i) of a SACK into a row and returns the PSNs it declares lost; `cover` are the bits
/// that the bitmap speaks of.
constexpr uint64_t sack_row(WinRow& row, uint32_t p0, uint64_t got, uint64_t cover, const SackView& v) {
  const uint64_t m = range_mask(p0, v.una, v.nxt);
  row.sacked |= got & m;
  row.pend &= ~row.sacked;
  row.nacked &= ~row.sacked;
  const uint64_t lost =
      v.infer ? range_mask(p0, v.una, v.lost_end) & m & cover & ~row.sacked & ~row.pend & ~row.rtxd : 0;
  row.pend |= lost;
  return lost;
}

/// How many packets of a row were taken for lost because of a NACK and are now reported by the bits `got` (PSN p0 + i)
/// of a SACK before they were sent again: they left the flight, and rcvd_bytes counts them all the same. `row` is the
/// row before sack_row().
constexpr unsigned cancelled_losses(const WinRow& row, uint32_t p0, uint64_t got, const SackView& v) {
  const uint64_t news = got & range_mask(p0, v.una, v.nxt) & ~row.sacked;
  return static_cast<unsigned>(std::popcount(row.pend & row.nacked & news));
}

/// True when a SACK may tell that the oldest packet is lost: what it reports was sent later, once. Whether both had the
/// same EV is another question, and same_ev_lost() the last. `una` is una' of the contract; the caller has seen that
/// the SACK speaks of a packet (`pr` 0) of the last MaxMpr, and not of a retransmission.
constexpr bool same_ev_asks(uint32_t psn, uint32_t una, uint32_t nxt) { return una != nxt && psn_before(una, psn); }

/// Marks una as lost because a packet sent later on the same EV has arrived, and says so. Not when it has arrived,
/// waits for retransmission already, or was sent again: then REORDER, NACK and timer judge.
constexpr bool same_ev_lost(WinRow& row, uint32_t una) {
  const uint64_t bit = uint64_t{1} << (una & 63u);
  if ((row.sacked | row.pend | row.rtxd) & bit) return false;
  row.pend |= bit;
  return true;
}

/// PSNs of word w that were sent again late in this interval of the timer.
constexpr uint64_t fresh_row(const WinRow& row, uint32_t w, uint32_t una, uint32_t nxt) {
  return row.nacked & ~row.pend & ~row.sacked & range_mask(w, una, nxt);
}

/// What an expired timer adds to the pending PSNs of word w: those sent again a moment ago get the next interval too.
constexpr uint64_t timer_row(const WinRow& row, uint32_t w, uint32_t una, uint32_t nxt, uint32_t tmr_psn) {
  return range_mask(w, una, tmr_psn) & range_mask(w, una, nxt) & ~row.sacked & ~row.pend & ~fresh_row(row, w, una, nxt);
}

/// PSNs of word w, from lo on, that wait for retransmission.
constexpr uint64_t retx_row(const WinRow& row, uint32_t w, uint32_t lo, uint32_t nxt) {
  return row.pend & ~row.sacked & range_mask(w, lo, nxt);
}

/// The earlier of two PSNs of a window: rtx_lo after `first` became pending.
constexpr uint32_t psn_first(uint32_t rtx_lo, uint32_t first) { return psn_before(first, rtx_lo) ? first : rtx_lo; }

/// rtx_lo after the window moved up to una: never behind it.
constexpr uint32_t psn_follow(uint32_t rtx_lo, uint32_t una) { return psn_before(rtx_lo, una) ? una : rtx_lo; }

constexpr bool syndrome_ack(uint8_t s) { return (s >> 5) == 0; }
constexpr bool syndrome_nak(uint8_t s) { return (s >> 5) == 3; }
/// In upd only: this side ended the QP.
constexpr bool syndrome_local(uint8_t s) {
  return s == static_cast<uint8_t>(CqStatus::RetryExceeded) || s == static_cast<uint8_t>(CqStatus::RemEvent);
}

/// True when a semantic ACK or NAK fits the window and the messages sent.
constexpr bool ack_valid(const Ctl& a, uint32_t una, uint32_t nxt, uint16_t msn_done, uint16_t msn_sent) {
  if (syndrome_ack(a.reason)) {
    return cum_valid(psn_add(a.psn, 1), una, nxt) && msn_dist(a.msn, msn_done) <= msn_dist(msn_sent, msn_done);
  }
  return syndrome_nak(a.reason) && msn_dist(a.msn, msn_done) <= msn_dist(msn_add(msn_sent, 1), msn_done);
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
/// The requestor's window, a row of PSNs at a time: SACK, NACK, ACK, loss and timer as arithmetic on masks
/// (docs/design/blocks/tx/inflight/tx_inflight.md; mrc.md section 7). A row has as many PSNs as its masks have bits;
/// whoever keeps a window chooses how many that are.
#pragma once

#include <bit>
#include <climits>
#include <cstdint>
#include <type_traits>

#include "protocol/psn.hpp"
#include "protocol/types.hpp"

namespace mrc {

/// PSNs of a row with masks of this type.
template <class Mask>
inline constexpr unsigned kRowPsns = sizeof(Mask) * CHAR_BIT;

/// State of consecutive PSNs, the first of them a multiple of their number; bit i for the PSN with these low bits.
template <class Mask>
struct PsnRow {
  Mask mute = 0;    ///< with pend: its EV is not to blame (NACK), or has been told already
  Mask nacked = 0;  ///< with pend: left the flight already, by NACK or told loss
  Mask rtxd = 0;    ///< retransmitted since first sent
  Mask pend = 0;    ///< waits for retransmission
  Mask sacked = 0;  ///< reported received
  bool operator==(const PsnRow&) const = default;
};
using WinRow = PsnRow<uint64_t>;

/// A mask that follows the row's.
template <class Mask>
using MaskArg = std::type_identity_t<Mask>;

/// First PSN of the word of 64 that holds psn.
constexpr uint32_t psn_word(uint32_t psn) { return psn & ~63u & kPsnMask; }

/// The bit of a PSN in its row.
template <class Mask>
constexpr Mask psn_bit(uint32_t psn) {
  return static_cast<Mask>(Mask{1} << psn % kRowPsns<Mask>);
}

/// The low n bits.
template <class Mask = uint64_t>
constexpr Mask low_mask(uint32_t n) {
  return static_cast<Mask>(n >= kRowPsns<Mask> ? ~Mask{0} : (Mask{1} << n) - 1);
}

/// The PSN of the lowest bit of a mask that is not 0; p0: first PSN of the row.
template <class Mask>
constexpr uint32_t lowest_psn(uint32_t p0, Mask mask) {
  return p0 + static_cast<uint32_t>(std::countr_zero(mask));
}

/// Bits i with p0 + i in [a, b), modulo 2^24; b at most 2^23 after a.
template <class Mask = uint64_t>
constexpr Mask range_mask(uint32_t p0, uint32_t a, uint32_t b) {
  const uint32_t len = psn_dist(b, a), d0 = psn_dist(p0, a);
  if (d0 < len) return low_mask<Mask>(len - d0);
  const uint32_t start = (1u << 24) - d0;  // a lies that far above p0
  if (start >= kRowPsns<Mask>) return 0;
  return static_cast<Mask>(low_mask<Mask>(len) << start);
}

/// True when psn is in [una, nxt).
constexpr bool in_window(uint32_t psn, uint32_t una, uint32_t nxt) { return psn_dist(psn, una) < psn_dist(nxt, una); }

/// True when a cumulative acknowledgement up to before `next` is one of [una, nxt], or an old one.
constexpr bool cum_valid(uint32_t next, uint32_t una, uint32_t nxt) {
  return psn_dist(next, una) <= psn_dist(nxt, una) || psn_before(next, una);
}

/// una after a SACK that passed cum_valid(cack + 1): una' of the contract.
constexpr uint32_t sack_una(uint32_t cack, uint32_t una) {
  const uint32_t next = psn_add(cack, 1);
  return psn_before(next, una) ? una : next;
}

/// Highest PSN known received after a SACK, hi' of the contract: that of the packet it answers, if it answers none of
/// the probes.
constexpr uint32_t sack_hi(const Sack& sack, uint32_t una, uint32_t nxt, uint32_t hi) {
  return !sack.pr && in_window(sack.psn, una, nxt) && psn_before(hi, sack.psn) ? sack.psn : hi;
}

/// What a SACK says beyond its bitmap.
struct SackView {
  uint32_t una;  ///< una' of the contract
  uint32_t nxt;  ///< PSN after the newest sent
  uint32_t hi;   ///< hi' of the contract
  bool infer;    ///< enough packets above a gap: PSNs below `lost_end` without report are lost
  uint32_t lost_end;
};

/// From una' and hi', the packets above a gap that the SACK reports (ooo), and the tolerance (reorder).
constexpr SackView sack_view(uint32_t una, uint32_t nxt, uint32_t hi, unsigned ooo, unsigned reorder) {
  const uint32_t lost_end = psn_add(hi, 1 - static_cast<int64_t>(reorder));
  return {una, nxt, hi, ooo >= reorder && psn_dist(lost_end, una) < kPsnHalf, lost_end};
}

/// Highest PSN that the SACK itself knows of, h of the contract: a newer one has overtaken it (late), it does not know
/// of what hi' stands for, only of the packet that brought it.
constexpr uint32_t sack_knows(const Sack& sack, uint32_t una, uint32_t nxt, uint32_t hi, bool late) {
  if (!late) return sack_hi(sack, una, nxt, hi);
  return !sack.pr && in_window(sack.psn, una, nxt) ? sack.psn : psn_add(sack_una(sack.cack_psn, una), -1);
}

/// The window after the cumulative part of a SACK that passed cum_valid(cack + 1).
constexpr SackView sack_view(const Sack& sack, uint32_t una, uint32_t nxt, uint32_t hi, unsigned reorder, bool late) {
  SackView v =
      sack_view(sack_una(sack.cack_psn, una), nxt, sack_knows(sack, una, nxt, hi, late), sack.ooo_count, reorder);
  v.hi = sack_hi(sack, una, nxt, hi);
  return v;
}

/// PSNs that the bitmap of a SACK speaks of.
inline constexpr unsigned kSackBits = 64;

/// What the bitmap of a SACK says of a row.
template <class Mask>
struct SackPiece {
  Mask got;    ///< received
  Mask cover;  ///< PSNs that it speaks of
};

/// base: PSN of bit 0 of the bitmap; p0: first PSN of the row.
template <class Mask>
constexpr SackPiece<Mask> sack_piece(uint64_t bitmap, uint32_t base, uint32_t p0) {
  const uint32_t above = psn_dist(p0, base), below = psn_dist(base, p0);
  if (above < kSackBits) return {static_cast<Mask>(bitmap >> above), low_mask<Mask>(kSackBits - above)};
  if (below >= kRowPsns<Mask>) return {0, 0};
  return {static_cast<Mask>(bitmap << below), static_cast<Mask>(~uint64_t{0} << below)};
}

/// Enters the bits `got` (PSN p0 + i) of a SACK into a row and returns the PSNs it declares lost; `cover` are the bits
/// that the bitmap speaks of.
template <class Mask>
constexpr Mask sack_row(PsnRow<Mask>& row, uint32_t p0, MaskArg<Mask> got, MaskArg<Mask> cover, const SackView& v) {
  const Mask m = range_mask<Mask>(p0, v.una, v.nxt);
  row.sacked |= static_cast<Mask>(got & m);
  row.pend &= static_cast<Mask>(~row.sacked);
  row.nacked &= static_cast<Mask>(~row.sacked);
  row.mute &= static_cast<Mask>(~row.sacked);
  if (!v.infer) return 0;
  const Mask before = range_mask<Mask>(p0, v.una, v.lost_end);
  const auto lost = static_cast<Mask>(before & m & cover & ~row.sacked & ~row.pend & ~row.rtxd);
  row.pend |= lost;
  return lost;
}

/// How many packets of a row were taken for lost because of a NACK and are now reported by the bits `got` (PSN p0 + i)
/// of a SACK before they were sent again: they left the flight, and rcvd_bytes counts them all the same. `row` is the
/// row before sack_row().
template <class Mask>
constexpr unsigned cancelled_losses(const PsnRow<Mask>& row, uint32_t p0, MaskArg<Mask> got, const SackView& v) {
  const auto news = static_cast<Mask>(got & range_mask<Mask>(p0, v.una, v.nxt) & ~row.sacked);
  return static_cast<unsigned>(std::popcount(static_cast<Mask>(row.pend & row.nacked & news)));
}

/// True when a SACK may tell that the oldest packet is lost: what it reports was sent later, once. Whether both had the
/// same EV is another question, and same_ev_lost() the last. `una` is una' of the contract; the caller has seen that
/// the SACK speaks of a packet (`pr` 0) whose record is still there, and not of a retransmission. A SACK from before
/// what has moved una says nothing of una.
constexpr bool same_ev_candidate(const Sack& sack, uint32_t una, uint32_t nxt) {
  return psn_add(sack.cack_psn, 1) == una && una != nxt && psn_before(una, sack.psn);
}

/// Marks una as lost because a packet sent later on the same EV has arrived, and says so. Not when it has arrived,
/// waits for retransmission already, or was sent again: then REORDER, NACK and timer judge.
template <class Mask>
constexpr bool same_ev_lost(PsnRow<Mask>& row, uint32_t una) {
  const Mask bit = psn_bit<Mask>(una);
  if ((row.sacked | row.pend | row.rtxd) & bit) return false;
  row.pend |= bit;
  return true;
}

/// What a NACK does to its packet.
struct NackMark {
  bool lost;    ///< it is to be sent again, and its EV is not to blame
  bool leaves;  ///< only now it leaves the flight
};
/// Marks a PSN as lost because of a NACK. Not when it has arrived, or its EV has been told. What a gap or the timer has
/// found before, and nobody was told of yet, was trimmed, not lost.
template <class Mask>
constexpr NackMark nack_lost(PsnRow<Mask>& row, uint32_t psn) {
  const Mask bit = psn_bit<Mask>(psn);
  if ((row.sacked | (row.pend & row.mute)) & bit) return {false, false};
  const bool leaves = (row.pend & row.nacked & bit) == 0;
  row.pend |= bit;
  row.nacked |= bit;
  row.mute |= bit;
  return {true, leaves};
}

/// Marks a PSN of the window as lost because the packet itself came back from a switch, and says so. Not when it
/// has arrived or waits already, nor if what came back is an older copy than the one that is out. was_rtx: the packet
/// of the PSN that was sent last is a retransmission; rtx: the one that came back is.
template <class Mask>
constexpr bool returned_lost(PsnRow<Mask>& row, uint32_t psn, bool was_rtx, bool rtx) {
  const Mask bit = psn_bit<Mask>(psn);
  if (((row.sacked | row.pend) & bit) || was_rtx != rtx) return false;
  row.pend |= bit;
  return true;
}

/// PSNs of the row at p0, from lo on and before nxt, that wait for retransmission.
template <class Mask>
constexpr Mask retx_row(const PsnRow<Mask>& row, uint32_t p0, uint32_t lo, uint32_t nxt) {
  return static_cast<Mask>(row.pend & ~row.sacked & range_mask<Mask>(p0, lo, nxt));
}

/// Those of them that are lost and still in flight.
template <class Mask>
constexpr Mask leave_row(const PsnRow<Mask>& row, uint32_t p0, uint32_t lo, uint32_t nxt) {
  return static_cast<Mask>(retx_row(row, p0, lo, nxt) & ~row.nacked);
}

/// Who is still to be told of a packet that is sent again: a gap or the timer found it, not a NACK.
struct LossNews {
  bool loss = false;   ///< the controller: it has not left the flight
  bool blame = false;  ///< its EV
};
/// Takes a pending PSN off to be sent again.
template <class Mask>
constexpr LossNews send_again(PsnRow<Mask>& row, uint32_t psn) {
  const Mask bit = psn_bit<Mask>(psn);
  const LossNews news{(row.nacked & bit) == 0, (row.mute & bit) == 0};
  row.pend &= static_cast<Mask>(~bit);
  row.nacked &= static_cast<Mask>(~bit);
  row.mute &= static_cast<Mask>(~bit);
  row.rtxd |= bit;
  return news;
}
/// The window was shut: `row` is as before send_again(), and all who had to be told of the loss have been. So it is of
/// what leave_row() found and has left.
template <class Mask>
constexpr void not_sent(PsnRow<Mask>& row, uint32_t psn) {
  row.nacked |= psn_bit<Mask>(psn);
  row.mute |= psn_bit<Mask>(psn);
}
/// The controller has been told of all bytes in flight at once: nothing that waits is told again, but to its EV.
template <class Mask>
constexpr void all_left(PsnRow<Mask>& row) {
  row.nacked |= row.pend;
}

/// The earlier of two PSNs of a window: rtx_lo after `first` became pending.
constexpr uint32_t psn_first(uint32_t rtx_lo, uint32_t first) { return psn_before(first, rtx_lo) ? first : rtx_lo; }

/// rtx_lo after the window moved up to una: never behind it.
constexpr uint32_t psn_follow(uint32_t rtx_lo, uint32_t una) { return psn_before(rtx_lo, una) ? una : rtx_lo; }

constexpr bool syndrome_ack(uint8_t s) { return wire::AethClass{static_cast<uint8_t>(s >> 5)} == wire::AethClass::Ack; }
constexpr bool syndrome_nak(uint8_t s) { return wire::AethClass{static_cast<uint8_t>(s >> 5)} == wire::AethClass::Nak; }
/// Not of the wire: this side ended the QP.
constexpr bool syndrome_local(uint8_t s) {
  return s == static_cast<uint8_t>(CqStatus::RetryExceeded) || s == static_cast<uint8_t>(CqStatus::RemEvent);
}

/// True when a semantic ACK or NAK fits the window and the messages sent.
constexpr bool ack_valid(const Ack& a, uint32_t una, uint32_t nxt, uint16_t msn_done, uint16_t msn_sent) {
  if (syndrome_ack(a.syndrome)) {
    return cum_valid(psn_add(a.psn, 1), una, nxt) && msn_dist(a.msn, msn_done) <= msn_dist(msn_sent, msn_done);
  }
  return syndrome_nak(a.syndrome) && msn_dist(a.msn, msn_done) <= msn_dist(msn_add(msn_sent, 1), msn_done);
}

}  // namespace mrc

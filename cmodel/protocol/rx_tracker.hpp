// SPDX-License-Identifier: Apache-2.0
/// The responder's window as arithmetic on sets of 64 PSNs, as many as a SACK's bitmap has
/// (docs/design/blocks/rx/track/rx_track.md; mrc.md section 6).
#pragma once

#include <bit>
#include <cstdint>

#include "gen/headers.hpp"
#include "gen/protocol.hpp"
#include "protocol/psn.hpp"

namespace mrc {

/// 64 consecutive PSNs of the window, bit i for the PSN with low six bits i. Only PSNs above cack have bits set.
struct RxRow {
  uint64_t rcv = 0;   ///< received
  uint64_t last = 0;  ///< received, and the last packet of its message
  bool operator==(const RxRow&) const = default;
};

/// Where a PSN stands (mrc.md section 6, rules 1 to 4).
enum class PsnClass : uint8_t { New, DupBelow, DupAbove, OutOfWindow };

/// Class of psn, given the row that holds it. The window is mpr * 128 PSNs above cack; what arrived while it was
/// larger, at most mpr_dest * 128 PSNs, is still known.
constexpr PsnClass psn_class(uint32_t psn, uint32_t cack, unsigned mpr, unsigned mpr_dest, const RxRow& row) {
  const uint32_t rel = psn_dist(psn, psn_add(cack, 1));
  if (rel >= kPsnHalf) return PsnClass::DupBelow;
  if (rel < 128u * mpr_dest && (row.rcv >> (psn & 63) & 1) != 0) return PsnClass::DupAbove;
  return rel < 128u * mpr ? PsnClass::New : PsnClass::OutOfWindow;
}

/// Reason why a PSN above the window is refused: a window of mpr_dest * 128 PSNs would have had it, so that only the
/// bitmap is missing; or it lies beyond that too.
constexpr wire::NackReason oor_reason(uint32_t psn, uint32_t cack, unsigned mpr_dest) {
  using wire::NackReason;
  return psn_dist(psn, psn_add(cack, 1)) < 128u * mpr_dest ? NackReason::NoBitmap : NackReason::PsnOorWindow;
}

/// Reason of the NACK for a new packet that arrived without its payload; trim is not None.
constexpr wire::NackReason no_payload_reason(Trim trim) {
  using wire::NackReason;
  switch (trim) {
    case Trim::Trimmed:
      return NackReason::Trimmed;
    case Trim::LastHop:
      return NackReason::TrimmedLasthop;
    case Trim::NoBuffer:
      return NackReason::NoPktBuffer;
    default:
      return NackReason::NoResource;
  }
}

/// Window that a QP_MPR row sets, in units of 128 PSNs: never none, never more than the QP was set up with.
constexpr uint8_t dynamic_mpr(uint8_t requested, uint8_t mpr_dest) {
  const uint8_t some = requested == 0 ? uint8_t{1} : requested;
  return some < mpr_dest ? some : mpr_dest;
}

/// Where a QP's responder stands, beside the rows.
struct RxWindow {
  uint32_t cack = 0;  ///< every PSN up to here has arrived
  uint32_t max = 0;   ///< highest PSN received, or cack
  uint16_t ooo = 0;   ///< PSNs above cack that have arrived
  bool operator==(const RxWindow&) const = default;
};

/// What moving cack along one row gives.
struct RowAdvance {
  unsigned count = 0;     ///< PSNs passed
  unsigned messages = 0;  ///< last packets among them
  uint32_t last_psn = 0;  ///< the highest last packet, if messages != 0
  bool goes_on = false;   ///< the row's end was reached and more has arrived: cack may go on in the next row
};

/// Moves cack over the received PSNs of the row that holds cack + 1, and clears them.
constexpr RowAdvance row_advance(RxWindow& w, RxRow& row) {
  const uint32_t first = psn_add(w.cack, 1);
  const unsigned from = first & 63;
  const auto count = static_cast<unsigned>(std::countr_one(row.rcv >> from));
  const uint64_t passed = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << from;
  const uint64_t lasts = (row.last & passed) >> from;
  row.rcv &= ~passed;
  row.last &= ~passed;
  w.cack = psn_add(w.cack, count);
  if (psn_before(w.max, w.cack)) w.max = w.cack;
  w.ooo = static_cast<uint16_t>(w.ooo - count);
  return {.count = count,
          .messages = static_cast<unsigned>(std::popcount(lasts)),
          .last_psn = lasts != 0 ? psn_add(first, 63 - std::countl_zero(lasts)) : 0,
          .goes_on = from + count == 64 && w.ooo != 0};
}

/// A new packet of the window has arrived: marks it in its row, and moves cack if it is the next in order.
/// last: the last packet of its message.
constexpr RowAdvance row_take(RxWindow& w, RxRow& row, uint32_t psn, bool last) {
  const uint64_t bit = uint64_t{1} << (psn & 63);
  if (psn_before(w.max, psn)) w.max = psn;
  row.rcv |= bit;
  row.last = last ? row.last | bit : row.last & ~bit;
  ++w.ooo;
  return psn == psn_add(w.cack, 1) ? row_advance(w, row) : RowAdvance{};
}

/// The next pass after one that goes on: `next` is the first PSN of the row, cack + 1 as it was. Does nothing if
/// packets in between have moved cack: the row may hold other PSNs by now.
constexpr RowAdvance row_go_on(RxWindow& w, RxRow& row, uint32_t next) {
  return next == psn_add(w.cack, 1) ? row_advance(w, row) : RowAdvance{};
}

/// First PSN of the bitmap of a SACK that goes round: the oldest PSN not reported yet, or the window's first.
constexpr uint32_t sack_cyclic_base(uint32_t lowun, uint32_t cack, uint32_t max) {
  const uint32_t first = psn_add(cack, 1);
  return psn_dist(lowun, first) < psn_dist(psn_add(max, 1), first) ? lowun : first;
}

/// Bitmap from base on, out of the rows of base and base + 64, with nothing above max. Empty if base lies above max.
constexpr uint64_t sack_bitmap(uint64_t low, uint64_t high, uint32_t base, uint32_t max) {
  const unsigned shift = base & 63;
  const uint64_t bits = shift == 0 ? low : low >> shift | high << (64 - shift);
  const uint32_t valid = psn_dist(psn_add(max, 1), base);
  if (valid >= kPsnHalf) return 0;
  return valid >= 64 ? bits : bits & ((uint64_t{1} << valid) - 1);
}

/// What counts towards the next SACK by itself, with a packet of plen bytes of payload: at least 1024. Saturates.
constexpr uint32_t sack_trigger_add(uint32_t trig, uint32_t plen) {
  constexpr uint32_t kMax = (1u << 21) - 1;
  const uint32_t sum = trig + (plen < 1024 ? 1024u : plen);
  return sum < kMax ? sum : kMax;
}

/// Trimmed packets of a QP that have not arrived: as long as there is one, every packet brings a SACK.
struct TrimMiss {
  bool any = false;
  uint32_t psn = 0;  ///< the newest one, if any

  constexpr void trimmed(uint32_t p) {
    if (!any || psn_before(psn, p)) psn = p;
    any = true;
  }
  /// After a packet has arrived: all up to `cack` have.
  constexpr void arrived(uint32_t cack) { any = any && psn_before(cack, psn); }
};

/// What makes the packets of a QP bring SACKs (mrc.md section 6).
struct SackDue {
  uint32_t trig = 0;  ///< what counts towards the next SACK by itself, see sack_trigger_add
  bool ar = false;    ///< an AckReq has come while PSNs were missing: once none is, a SACK says so
  TrimMiss tmiss;

  /// After a new packet has arrived and moved `cack`; `ooo` PSNs above it have arrived. asked: AckReq; at_once: a
  /// retransmission, or marked CE. True if the packet brings a SACK.
  constexpr bool arrived(uint32_t trigger, bool requested, bool at_once, uint32_t cack, uint32_t ooo) {
    const bool due = trig >= trigger || requested || at_once || (ar && ooo == 0) || tmiss.any;
    ar = ooo != 0 && (ar || requested);
    tmiss.arrived(cack);
    return due;
  }
};

/// Reading of the received bytes in a SACK: units of 256 bytes, rounded up, modulo 2^24.
constexpr uint32_t sack_rcvd(uint32_t bytes) {
  return static_cast<uint32_t>((uint64_t{bytes} + 255) >> 8) & 0xff'ffffu;
}

}  // namespace mrc

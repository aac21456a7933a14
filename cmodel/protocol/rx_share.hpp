// SPDX-License-Identifier: Apache-2.0
/// How a responder shares its links among those who send to it (docs/design/blocks/rx/rx_share.md; A-78): it alone
/// knows how many they are and how much is left, and rcv_cwnd_pen and restore_cwnd of its SACKs shut and open their
/// windows. Bytes are payload, times are epochs of 2^epoch ticks of 128 ns.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mrc {

inline constexpr uint32_t kShareBytes = (1u << 24) - 1;         ///< where a QP's bytes of an epoch stop to count
inline constexpr uint64_t kShareSum = (uint64_t{1} << 32) - 1;  ///< and those of all QPs, and what a QP has left
inline constexpr uint8_t kShareTrims = 0xff;                    ///< and trimmed packets
inline constexpr uint16_t kShareAhead = 15;                     ///< messages that begin with one packet, at most

/// Registers SHARE and SHARE_DRAIN.
struct ShareWords {
  bool on = false;
  uint8_t epoch = 7;          ///< 16.4 us
  uint8_t least = 4;          ///< QPs that make an incast
  uint8_t pen = 8;            ///< rcv_cwnd_pen of a QP with more than 7/4 of its share
  uint8_t trims = 24;         ///< trimmed packets of an epoch from which on there is one
  uint32_t drain = 1u << 20;  ///< bytes left of all messages together below which windows are restored
};

/// What is kept of a QP. Bits of an epoch are those of `turn`, so nobody has to clear them when it ends.
struct ShareQp {
  uint32_t turn = 0;  ///< of ShareNic, when it sent last
  uint32_t now = 0;   ///< bytes of that epoch
  uint32_t left = 0;  ///< of the messages that have begun to arrive
  uint16_t top = 0;   ///< MSN of the newest of them, plus one
  bool fat = false;   ///< in that epoch: it had more than 7/4 of its share of the one before
};

/// What is kept of all.
struct ShareNic {
  uint32_t epoch = 0;
  uint32_t turn = 2;  ///< goes on by 1 with an epoch, by 2 if the one before counts as empty
  uint8_t warm = 0;   ///< epochs in a row with enough QPs, at most 3
  uint8_t gen = 1;    ///< 1 to 15: how often there was enough left to be an incast
  bool full = false;  ///< there is
  uint32_t qps = 0, qps_last = 0;
  uint8_t trims = 0, trims_last = 0;
  uint64_t sum = 0, sum_last = 0;
  uint64_t total = 0;  ///< `left` of all QPs
};

/// A data packet has come, or with `trimmed` only its header, or cack has gone on (bytes 0).
struct ShareCame {
  uint32_t bytes = 0;
  bool trimmed = false;
  uint16_t msn = 0, emsn = 0;  ///< of its message; of the one now being completed
  uint32_t length = 0;         ///< of its message
};

/// It, once its messages have begun.
struct ShareBegun {
  uint32_t bytes = 0;
  bool trimmed = false;
  uint64_t adds = 0;  ///< bytes of messages that begin with it
  bool idle = false;  ///< all that has begun is there
};

/// What it changes beside its QP's bytes.
struct ShareChange {
  bool first = false;  ///< packet of its QP in this epoch
  uint32_t last = 0;   ///< then: bytes of the epoch before
  int64_t delta = 0;   ///< of `left`
};

/// What SACKs go by.
struct ShareLevels {
  bool arm = false;      ///< windows are to be saved
  bool drained = false;  ///< and to be restored
  bool penal = false;    ///< who has more than its share is held back
  uint8_t gen = 1;
};

struct ShareAnswer {
  uint8_t pen = 0;
  bool restore = false;
};

/// Messages that begin with a packet. It may be followed by another one of its QP before the rest is done.
inline ShareBegun share_begins(ShareQp& qp, const ShareCame& came) {
  const auto next = static_cast<uint16_t>(came.msn + 1);
  const auto ahead = static_cast<uint16_t>(next - qp.top);
  const bool newer = !came.trimmed && ahead != 0 && ahead < 0x8000;
  if (newer) qp.top = next;
  return {.bytes = came.bytes,
          .trimmed = came.trimmed,
          .adds = newer ? uint64_t{std::min(ahead, kShareAhead)} * came.length : 0,
          .idle = came.emsn == qp.top};
}

/// Time goes on.
inline void share_time(const ShareWords& w, ShareNic& nic, uint32_t tick) {
  const uint32_t epoch = tick >> w.epoch;
  if (epoch == nic.epoch) return;
  const bool next = epoch == nic.epoch + 1;
  nic.turn += next ? 1 : 2;
  nic.warm = next && nic.qps >= w.least ? static_cast<uint8_t>(std::min(nic.warm + 1, 3)) : uint8_t{0};
  nic.qps_last = next ? nic.qps : 0;
  nic.sum_last = next ? nic.sum : 0;
  nic.trims_last = next ? nic.trims : uint8_t{0};
  nic.qps = 0;
  nic.trims = 0;
  nic.sum = 0;
  nic.epoch = epoch;
}

/// The packet counts for its QP and for this epoch; after share_time.
inline ShareChange share_counts(ShareNic& nic, ShareQp& qp, const ShareBegun& b) {
  const bool first = qp.turn != nic.turn;
  const uint32_t last = first && qp.turn + 1 == nic.turn ? qp.now : 0;
  if (first) {
    qp.turn = nic.turn;
    qp.now = 0;
    qp.fat = false;
    ++nic.qps;
  }
  qp.now = std::min(qp.now + b.bytes, kShareBytes);
  nic.sum = std::min(nic.sum + b.bytes, kShareSum);
  if (b.trimmed && nic.trims != kShareTrims) ++nic.trims;
  const uint64_t all = qp.left + b.adds;
  const uint64_t left = b.idle ? 0 : std::min(all - std::min<uint64_t>(all, b.bytes), kShareSum);
  const auto delta = static_cast<int64_t>(left) - qp.left;
  qp.left = static_cast<uint32_t>(left);
  return {.first = first, .last = last, .delta = delta};
}

/// And for all. The QP is still in the epoch in which it was counted.
inline void share_sums(ShareNic& nic, ShareQp& qp, const ShareChange& c) {
  nic.total += static_cast<uint64_t>(c.delta);
  if (c.first && uint64_t{c.last} * nic.qps_last * 4 > nic.sum_last * 7) qp.fat = true;
}

/// A QP is set up anew; msn: the first that it expects.
inline ShareChange share_anew(ShareQp& qp, uint16_t msn) {
  const ShareChange change{.delta = -static_cast<int64_t>(qp.left)};
  qp.top = msn;
  qp.now = qp.left = 0;
  qp.fat = false;
  return change;
}

inline ShareLevels share_levels(const ShareWords& w, ShareNic& nic) {
  const bool full = nic.total >= w.drain;
  if (full && !nic.full) nic.gen = static_cast<uint8_t>(nic.gen % 15 + 1);
  nic.full = full;
  const bool incast = w.on && full && std::max(nic.qps, nic.qps_last) >= w.least;
  return {.arm = incast && (nic.trims | nic.trims_last) != 0,
          .drained = w.on && !full,
          .penal = incast && nic.total >> 3 >= w.drain && nic.warm == 3 && nic.trims_last >= w.trims,
          .gen = nic.gen};
}

/// The sender is to save the window it has, by a SACK at once. armed: the generation in which it was told last, 0:
/// none.
inline bool share_saves(const ShareLevels& levels, uint8_t armed) { return levels.arm && armed != levels.gen; }

/// What a SACK says. fat: the QP has more than its share.
inline ShareAnswer share_answer(const ShareLevels& levels, uint8_t pen, bool fat, uint8_t& armed) {
  if (share_saves(levels, armed)) {
    armed = levels.gen;
    return {.pen = 1};
  }
  return {.pen = levels.penal && fat ? pen : uint8_t{0}, .restore = levels.drained && armed == levels.gen};
}

}  // namespace mrc

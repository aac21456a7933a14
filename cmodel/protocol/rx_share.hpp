// SPDX-License-Identifier: Apache-2.0
/// How a responder shares its links among those who send to it (docs/fabric.md, "Receivers that share"): it alone knows
/// how many they are and how much is left, and rcv_cwnd_pen and restore_cwnd of its SACKs shut and open their windows.
/// Bytes are payload, times are epochs of 2^epoch ticks of 128 ns.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mrc {

inline constexpr uint32_t kShareBytes = (1u << 24) - 1;         ///< where a QP's bytes of an epoch stop to count
inline constexpr uint64_t kShareSum = (uint64_t{1} << 32) - 1;  ///< and those of all QPs
inline constexpr uint16_t kShareCount = 0xffff;                 ///< QPs, and trimmed packets
inline constexpr uint64_t kShareLeft = (uint64_t{1} << 40) - 1;

/// Settings. No register has them yet: only the fast endpoint of the fabric does this.
struct ShareWords {
  bool on = false;
  uint8_t epoch = 7;          ///< 16.4 us
  uint8_t least = 4;          ///< QPs that make an incast
  uint8_t pen = 8;            ///< rcv_cwnd_pen of a QP with more than 7/4 of its share
  uint8_t trims = 24;         ///< trimmed packets of an epoch from which on there is one
  uint32_t drain = 1u << 20;  ///< bytes left of all messages together below which windows are restored
};

/// What is kept of a QP. Epochs are numbered 1 to 255, again and again; 0: none.
struct ShareQp {
  uint8_t epoch = 0;  ///< of `now`
  uint8_t armed = 0;  ///< the generation whose windows its sender has saved, 4 bit
  uint32_t now = 0;   ///< bytes of that epoch
  uint32_t last = 0;  ///< and of the one before
  uint32_t left = 0;  ///< of the messages that have begun to arrive
  uint16_t msn = 0;   ///< the newest of them, plus one
};

inline uint8_t share_number(uint32_t epoch) { return static_cast<uint8_t>(epoch % 255 + 1); }

struct ShareNic {
  uint32_t epoch = 0;
  uint8_t warm = 0;        ///< epochs in a row with enough QPs, at most 3
  uint8_t generation = 1;  ///< 4 bit: how often there was enough left to be an incast
  bool full = false;       ///< there is
  uint16_t qps = 0, qps_last = 0;
  uint16_t trims = 0, trims_last = 0;
  uint64_t sum = 0, sum_last = 0;
  uint64_t left = 0;
};

struct ShareAnswer {
  uint8_t pen = 0;
  bool restore = false;
};

/// Time goes on. Call it before anything else of a tick.
inline void share_time(const ShareWords& w, ShareNic& nic, uint32_t tick) {
  const uint32_t epoch = tick >> w.epoch;
  if (epoch == nic.epoch) return;
  const bool next = epoch == nic.epoch + 1;
  nic.warm = !next || nic.qps < w.least ? uint8_t{0} : static_cast<uint8_t>(std::min(nic.warm + 1, 3));
  nic.qps_last = next ? nic.qps : uint16_t{0};
  nic.sum_last = next ? nic.sum : 0;
  nic.trims_last = next ? nic.trims : uint16_t{0};
  nic.qps = nic.trims = 0;
  nic.sum = 0;
  nic.epoch = epoch;
}

/// What is left changes to `left`.
inline void share_left(const ShareWords& w, ShareNic& nic, ShareQp& qp, uint32_t left) {
  nic.left = std::min(nic.left - std::min<uint64_t>(qp.left, nic.left) + left, kShareLeft);
  qp.left = left;
  const bool full = nic.left >= w.drain;
  if (full && !nic.full) nic.generation = nic.generation % 15 + 1;
  nic.full = full;
}

/// A data packet of that message came, new or only its header (`trimmed`, then its bytes are not there). `ahead`: how
/// many messages its message is behind the newest that has begun (1: the next one), 0: none. `idle`: with it all that
/// has begun is complete.
inline void share_arrived(const ShareWords& w, ShareNic& nic, ShareQp& qp, uint32_t bytes, bool trimmed, uint16_t ahead,
                          uint32_t length, bool idle) {
  const uint8_t now = share_number(nic.epoch);
  if (qp.epoch != now) {
    qp.last = qp.epoch == share_number(nic.epoch - 1) ? qp.now : 0;
    qp.now = 0;
    qp.epoch = now;
    nic.qps = static_cast<uint16_t>(std::min(nic.qps + 1, int{kShareCount}));
  }
  const uint32_t arrived = trimmed ? 0 : bytes;
  qp.now = std::min(qp.now + arrived, kShareBytes);
  nic.sum = std::min(nic.sum + arrived, kShareSum);
  if (trimmed) nic.trims = static_cast<uint16_t>(std::min(nic.trims + 1, int{kShareCount}));
  uint64_t left = qp.left + uint64_t{ahead} * length;
  left = idle ? 0 : left - std::min<uint64_t>(left, arrived);
  share_left(w, nic, qp, static_cast<uint32_t>(std::min<uint64_t>(left, 0xffffffff)));
}

inline bool share_incast(const ShareWords& w, const ShareNic& nic) {
  return w.on && nic.full && std::max(nic.qps, nic.qps_last) >= w.least;
}

/// An incast begins, and the sender is to save the window it has: a SACK at once.
inline bool share_arms(const ShareWords& w, const ShareNic& nic, const ShareQp& qp) {
  return share_incast(w, nic) && (nic.trims | nic.trims_last) != 0 && qp.armed != nic.generation;
}

/// What a SACK says.
inline ShareAnswer share_answer(const ShareWords& w, const ShareNic& nic, ShareQp& qp) {
  ShareAnswer answer;
  if (!w.on) return answer;
  if (share_arms(w, nic, qp)) {
    qp.armed = nic.generation;
    answer.pen = 1;
  } else if (!nic.full) {
    answer.restore = qp.armed == nic.generation;
  } else if (share_incast(w, nic) && nic.left >> 3 >= w.drain && nic.warm >= 3 && nic.trims_last >= w.trims) {
    const uint32_t own = qp.epoch == share_number(nic.epoch - 1) ? qp.now : qp.last;
    if (uint64_t{own} * nic.qps_last * 4 > nic.sum_last * 7) answer.pen = w.pen;
  }
  return answer;
}

}  // namespace mrc

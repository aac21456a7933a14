// SPDX-License-Identifier: Apache-2.0
/// What a QP has in the flight of its congestion controller, in nominal bytes
/// (docs/design/blocks/tx/inflight/tx_inflight.md, "Congestion control"). Every packet enters it once and leaves it
/// once: as acknowledged, NACKed, lost or given back.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mrc {

/// What a QP has in flight: the difference of two counters of 28 bits, what was sent (the side that sends counts it)
/// and what is gone (the side that hears of it).
class Flight {
 public:
  uint32_t bytes() const { return (sent_ - gone_) & kMask; }
  /// A packet was sent.
  void enter(uint32_t n) { sent_ += n; }
  /// A packet that had left it was sent again.
  void enter_again(uint32_t n) { gone_ -= n; }
  /// *take(n)*: never more than there is. Returns what was taken: so much the controller is told.
  uint32_t take(uint32_t n) {
    const uint32_t taken = std::min(n, bytes());
    gone_ += taken;
    return taken;
  }
  /// Takes everything, and says how much it was.
  uint32_t take_all() { return take(bytes()); }

 private:
  static constexpr uint32_t kMask = (1u << 28) - 1;
  uint32_t sent_ = 0, gone_ = 0;
};

/// Unit of rcvd_bytes in bytes (mrc.md section 3).
inline constexpr unsigned kRcvdUnit = 256;

/// Newly received units of rcvd_bytes, 24 bits: the difference of a SACK to the newest one before it. `late`: the SACK
/// is an older one, it brings nothing and the newest stays.
struct RcvdNews {
  uint32_t units;
  bool late;
};
constexpr RcvdNews rcvd_news(uint32_t rcvd, uint32_t newest) {
  const uint32_t d = (rcvd - newest) & 0xff'ffffu;
  return d < 1u << 23 ? RcvdNews{d, false} : RcvdNews{0, true};
}

/// The account without loss by rounding: rcvd_bytes says up to 255 bytes more than have arrived, so what is in flight
/// may stand too low by as much. `credit` (kept per QP, 0 at first) is what then could not be taken, because nothing
/// was in flight any more; it counts when the next SACK says so much less. Otherwise that much stays in flight, and a
/// window of one packet is never open again before the timer has expired.

/// take() of a packet that was NACKed or lost.
inline uint32_t take_packet(Flight& fly, uint32_t size, uint8_t& credit) {
  const uint32_t taken = fly.take(size);
  credit = static_cast<uint8_t>(std::min<uint32_t>(credit + (size - taken), kRcvdUnit - 1));
  return taken;
}
/// Bytes of a QP that left the flight before a SACK told of them: 20 bits, saturates (then the flight stands too low by
/// the rest until nothing is outstanding).
class Owed {
 public:
  uint32_t bytes() const { return bytes_; }
  void add(uint32_t n) { bytes_ = std::min(bytes_ + n, kMax); }
  /// A SACK tells of n bytes: returns those that have not left the flight before. settled: it tells of all.
  uint32_t pay(uint32_t n, bool settled) {
    const uint32_t paid = std::min(bytes_, n);
    bytes_ = settled ? 0 : bytes_ - paid;
    return n - paid;
  }

 private:
  static constexpr uint32_t kMax = (1u << 20) - 1;
  uint32_t bytes_ = 0;
};

/// take() of what a SACK acknowledges, `reported` bytes by rcvd_bytes; `all`: nothing is outstanding any more.
inline uint32_t take_acked(Flight& fly, uint32_t reported, unsigned cancelled, unsigned nominal, bool all,
                           uint8_t& credit) {
  const int64_t n = int64_t{reported} - int64_t{cancelled} * nominal + credit;
  const uint32_t taken = all ? fly.take_all() : fly.take(static_cast<uint32_t>(std::max<int64_t>(n, 0)));
  credit = static_cast<uint8_t>(std::clamp<int64_t>(n - taken, 0, kRcvdUnit - 1));
  return taken;
}

/// Everything leaves before a SACK has told of it. Returns how much: so much the controller is told.
inline uint32_t take_early(Flight& fly, Owed& owed) {
  owed.add(fly.bytes());
  return fly.take_all();
}
/// What a SACK takes. whole: it acknowledges everything sent; all: nothing is outstanding any more.
inline uint32_t take_sack(Flight& fly, Owed& owed, const RcvdNews& news, bool whole, unsigned cancelled,
                          unsigned nominal, bool all, uint8_t& credit) {
  const uint32_t reported = owed.pay(news.units * kRcvdUnit, whole && !news.late);
  return news.late && !all ? 0 : take_acked(fly, reported, cancelled, nominal, all, credit);
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
/// Ethernet ports with real time: preamble 8, FCS 4, gap 12, frames of 64 bytes at least.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "gen/presets.hpp"
#include "tb/environment/frame.hpp"

namespace mrc::tb {

inline constexpr unsigned kPreambleBytes = 8, kFcsBytes = 4, kGapBytes = 12, kMinFrameBytes = 64;

/// Bytes of link time that a frame of `length` bytes (without FCS) takes, gap included.
constexpr unsigned wire_bytes(unsigned length) {
  const unsigned frame = length + kFcsBytes;
  return kPreambleBytes + (frame < kMinFrameBytes ? kMinFrameBytes : frame) + kGapBytes;
}
/// Picoseconds of one byte on a port.
constexpr unsigned byte_ps(const Preset& preset) { return 8000 / preset.port_gbps; }

/// Transmit side of one port: takes beats from the NIC, holds a frame until it is complete (so that a pause of the
/// NIC inside a frame cannot underrun), then puts it on the wire at line rate.
class TxMac {
 public:
  TxMac(const Preset& preset, unsigned plane);

  /// tready of this cycle. A frame that has begun is taken to its end; a new one only while little waits.
  bool ready() const { return in_frame_ || waiting_bytes_ <= kWaitBytes; }
  /// A beat that the port took. Returns nullptr, or what is wrong with it.
  const char* beat(const uint8_t* data, uint32_t keep, bool last, uint64_t now_ps);
  /// Bytes of the frame in progress: where a wrong byte is.
  unsigned frame_offset() const { return static_cast<unsigned>(frame_ ? frame_->bytes.size() : 0); }
  /// The frame whose transmission starts by now, or null. sent_ps is set.
  FramePtr start(uint64_t now_ps) {
    if (waiting_.empty() || free_ps_ > now_ps) return nullptr;
    return start_now();
  }
  bool idle() const { return !in_frame_ && waiting_.empty(); }
  /// A whole frame waits for the wire.
  bool waits() const { return !waiting_.empty(); }
  /// A frame that is not the NIC's takes the wire, which is free by now.
  void put(Frame& frame, uint64_t now_ps) {
    frame.plane = static_cast<uint8_t>(plane_);
    frame.sent_ps = now_ps;
    free_ps_ = now_ps + uint64_t{wire_bytes(static_cast<unsigned>(frame.bytes.size()))} * byte_ps_;
  }
  /// The NIC is reset: of a frame that has begun nothing more comes, and it is not sent. The next whole one that waits.
  FramePtr rest() {
    frame_.reset();
    in_frame_ = false;
    return waiting_.empty() ? nullptr : start_now();
  }
  /// When the frame on the wire (with its gap) ends.
  uint64_t free_ps() const { return free_ps_; }

 private:
  static constexpr unsigned kWaitBytes = 2048;
  static constexpr unsigned kMaxFrame = 9216;
  FramePtr start_now();

  unsigned plane_, port_bytes_, byte_ps_;
  FramePtr frame_;
  bool in_frame_ = false;
  std::deque<FramePtr> waiting_;  // sent_ps: when it was complete
  unsigned waiting_bytes_ = 0;
  uint64_t free_ps_ = 0;
};

/// Receive side of one port: frames in order of arrival, never overlapping, handed over beat by beat as their bytes
/// come in.
class RxMac {
 public:
  RxMac(const Preset& preset, unsigned plane);

  void arrive(FramePtr frame);

  struct Beat {
    const uint8_t* data;
    unsigned bytes;
    bool last, error;
  };
  /// The beat of this cycle; false: none.
  bool beat(uint64_t now_ps, Beat& out) {
    if (now_ps < next_ps_) return false;
    return beat_now(now_ps, out);
  }
  bool idle() const { return !frame_ && queue_.empty(); }
  /// The NIC is reset: of a frame that has begun it sees the end alone. Is there one?
  bool halve() {
    if (!frame_ || at_ == 0) return false;
    frame_->fate |= kFateHalf;
    return true;
  }
  /// Set while the last beat of a frame is given out: the frame, until the next call of beat().
  const Frame* finished() const { return finished_.get(); }
  /// The frame that begins with this beat: for captures.
  const Frame* begun() const { return begun_; }
  uint64_t begun_ps() const { return begin_ps_; }

 private:
  bool beat_now(uint64_t now_ps, Beat& out);
  void schedule();

  unsigned port_bytes_, byte_ps_;
  std::vector<FramePtr> queue_;  // heap, earliest arrival first
  FramePtr frame_, finished_;
  const Frame* begun_ = nullptr;
  unsigned at_ = 0;
  uint64_t begin_ps_ = 0, free_ps_ = 0;
  uint64_t next_ps_ = ~uint64_t{0};  // when there is something to do
};

}  // namespace mrc::tb

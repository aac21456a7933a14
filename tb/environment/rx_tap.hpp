// SPDX-License-Identifier: Apache-2.0
/// Reads from the streams between a NIC's blocks what its window takes, what its SACKs read from it, and which
/// frames its lanes discard, and tells a StreamSink. docs/design/blocks/rx/track/rx_track.md says which cycle does
/// what.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "log/record.hpp"

namespace mrc::tb {

/// Is told what the streams show.
class RxSink {
 public:
  virtual ~RxSink() = default;
  /// `qp`: index of the queue pair. The times of events do not go back, but an event may be told some cycles late.
  virtual void event(log::EventKind kind, unsigned qp, std::array<uint64_t, 6> arg, uint64_t time_ps) = 0;
  /// An event of this time may follow. StreamTap::kNone: none of before will.
  virtual void hold(uint64_t time_ps) = 0;
  /// The lane of a port has described a frame. / It holds none that it has not described, so that what came and was not
  /// described is discarded.
  virtual void described(unsigned plane) = 0;
  virtual void lane_empty(unsigned plane, uint64_t now_ps) = 0;
  /// An event has reported that PSN of the QP's present life as taken. Asked where a reset cuts off the verdict.
  virtual bool taken(unsigned /*qp*/, uint32_t /*psn*/) const { return false; }
};

class RxTap {
 public:
  static constexpr uint64_t kNone = ~uint64_t{0};

  RxTap(RxSink& sink, const Preset& preset) : sink_(sink), preset_(preset) {}

  /// One cycle, as Dut::observe() shows it; called in every cycle from the first one after reset on.
  void look(const uint32_t* core, const uint32_t* lanes, uint64_t now_ps);
  /// The pin of reset falls. SACKs may have shown what is on its way through rx_track: it counts as taken by now.
  void cut(uint64_t now_ps);

 private:
  struct Waiting {
    Rxpkt packet;
    uint64_t earliest_ps;  ///< its way through rx_track's stages
  };
  void report(const Waiting& waiting, log::TakeResult result, uint64_t by_ps);
  void without_buffer();
  void answer(const Resp& resp, uint64_t now_ps);

  RxSink& sink_;
  const Preset& preset_;
  std::deque<Waiting> waiting_;  ///< between rx_check and the end of rx_track
  uint64_t newest_ps_ = 0;       ///< nothing that follows is counted before
  bool verdict_stays_ = false, resp_stays_ = false;
};

}  // namespace mrc::tb

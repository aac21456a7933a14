// SPDX-License-Identifier: Apache-2.0
/// Reads from the boundaries between a NIC's blocks what its window takes, what its SACKs read from it, and which
/// frames its lanes discard, and tells the recorder. docs/blocks/rx/track/rx_track.md says which cycle does what.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "tb/environment/recorder.hpp"

namespace mrc::tb {

class BoundaryTap {
 public:
  BoundaryTap(Recorder& recorder, const Preset& preset) : recorder_(recorder), preset_(preset) {}

  /// One cycle, as Dut::observe() shows it; called in every cycle from the first one after reset on.
  void look(const uint32_t* core, const uint32_t* lanes, uint64_t now_ps);

 private:
  struct Waiting {
    Rxpkt packet;
    uint64_t earliest_ps;  ///< its way through rx_track's stages
  };
  void tell(const Waiting& waiting, log::TakeResult result, uint64_t by_ps);
  void without_buffer();
  void answer(const Resp& resp, uint64_t now_ps);

  Recorder& recorder_;
  const Preset& preset_;
  std::deque<Waiting> waiting_;  ///< between rx_check and the end of rx_track
  uint64_t newest_ps_ = 0;       ///< nothing that follows is counted before
  bool verdict_stays_ = false, resp_stays_ = false;
};

}  // namespace mrc::tb

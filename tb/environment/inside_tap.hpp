// SPDX-License-Identifier: Apache-2.0
/// Reads what moves inside a NIC (mrc_inside_t) and what its congestion controllers answer, and tells an InsideSink:
/// events of kind path and cc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/mrc_dut.h"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "log/record.hpp"

namespace mrc::tb {

/// Is told what moves inside.
class InsideSink {
 public:
  virtual ~InsideSink() = default;
  /// A controller was told something, or answers; also one that is none.
  virtual void controller(unsigned dest, log::CcNotified reported, uint64_t bytes, uint64_t rtt_ps, uint64_t window,
                          uint64_t time_ps) = 0;
  /// An EV of a QP goes from one state to another. `place`: in the set of the NIC.
  virtual void path(unsigned qp, unsigned place, log::EvState from, log::EvState to, uint64_t time_ps) = 0;
  /// An event of this time may follow. InsideTap::kNone: none of before will.
  virtual void hold_inside(uint64_t time_ps) = 0;
};

class InsideTap {
 public:
  static constexpr uint64_t kNone = ~uint64_t{0};

  InsideTap(InsideSink& sink, const Preset& preset);

  /// One cycle; called in every cycle from the first one after reset on. `core`: streams of the same cycle.
  void look(const mrc_inside_t& inside, const uint32_t* core, uint64_t now_ps);

 private:
  struct Taken {
    Ccev event;
    uint64_t at_ps;
  };
  void controllers(const mrc_inside_t& inside, uint64_t now_ps);
  void grants(const uint32_t* core, uint64_t now_ps);
  void states(const mrc_inside_t& inside, uint64_t now_ps);
  void judged(const uint32_t* core, uint64_t now_ps);

  InsideSink& sink_;
  const Preset& preset_;
  std::vector<uint32_t> rows_;  ///< states of EVs as they were
  std::optional<Taken> taken_;  ///< the event that the controllers work on
  uint32_t state_before_ = MRC_CC_IDLE;
  struct Bad {
    unsigned qp, place;
    log::EvState before;
  };
  std::optional<Bad> bad_;  ///< an EV that goes bad, unless it turns out that it is needed
  bool ans_stays_ = false, rans_stays_ = false, evev_stays_ = false;
};

}  // namespace mrc::tb

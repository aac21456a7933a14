// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gen/nic_pulses.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/stream.hpp"
#include "pipeline/timing/nscc_cycles.hpp"
#include "protocol/nscc.hpp"

namespace mrc {

/// How much may be in flight: one NSCC controller per destination. Contract: docs/design/blocks/cc/cc_nscc.md. The
/// arithmetic is nscc_step()'s: a whole event is computed in Count, and shows in the cycles in which the contract lets
/// it show (the flight in Count, the window, the resume and the pulses with Store). Events take 2 to 59 cycles;
/// meanwhile one request per cycle is answered, or one grant's rest taken back.
class CcNscc {
 public:
  /// Depth of the input FIFO `ev`, for whoever makes the stream.
  static constexpr std::size_t kEvDepth = 16;

  using Pulses = CcNsccPulses;

  /// Streams in.
  struct In {
    Stream<Ccev>& ev;       ///< what was acknowledged, trimmed, lost; made with kEvDepth
    Stream<Ccreq>& req;     ///< bursts that want to go
    Stream<Ccreq>& rtxreq;  ///< retransmissions that want to go
    Stream<Ccret>& ret;     ///< what was granted and not used
  };
  /// Streams out.
  struct Out {
    Stream<Ccans>& ans;        ///< to req
    Stream<Ccans>& rans;       ///< to rtxreq
    Stream<Ccresume>& resume;  ///< a refused request would now be granted
  };

  CcNscc(const Preset& preset, const In& in, const Out& out);

  bool cfg_ack() const { return ack_.value(); }
  const Pulses& pulses() const { return pulses_; }
  /// tick: tick_i, the counter that stamps packets, 128 ns.
  void step(const CfgBus& cfg, uint32_t tick);
  void clock() {
    ack_.clock();
    pulses_ = pulses_next_;
  }

  /// State of the controller of destination cc as stored: its row of `ctx`, and `infl`. An event in the machine shows
  /// in the row after Store. Between clock() and step().
  NsccState state(unsigned cc) const;

  /// What the machine is at in this cycle, for logs. Between clock() and step().
  enum class Doing : uint8_t { Idle, Taken, Works, Done, Begun };
  struct Inside {
    Doing doing;
    uint32_t cc, window;  ///< whole bytes, with Done and Begun
    Ccev event;           ///< with Taken
  };
  Inside inside() const;

 private:
  /// Work stands for the states between Count and Store.
  enum class State : uint8_t { Idle, Init, Count, Work, Store };

  struct Dest {
    int32_t infl = 0;   ///< bytes in flight, 29 bit signed
    uint32_t cwin = 0;  ///< window in whole bytes
    uint16_t want = 0;  ///< the newest refused request's first packet
    uint8_t prof = 0;   ///< row of words
    bool wait = false;  ///< a request was refused
    bool on = false;    ///< there is a controller
  };

  /// The w of the contract.
  const NsccWords& words(unsigned cc) const { return words_[dests_[cc].prof]; }
  void configure(const CfgBus& cfg);
  void init(uint32_t tick);
  void take(uint32_t tick);
  void count();
  void store();
  void answer();
  void answer_rtxreq();
  void answer_req();

  const unsigned dest_mask_, profile_mask_;
  const In in_;
  const Out out_;

  std::vector<NsccState> ctx_;  // but inflight, which is Dest::infl
  std::vector<Dest> dests_;
  std::vector<NsccWords> words_;
  CfgAck ack_;
  Pulses pulses_, pulses_next_;

  State state_ = State::Idle;
  bool begun_ = false;  // a controller has begun in the cycle before
  unsigned left_ = 0;   // cycles left in Init, Work
  unsigned cc_ = 0;     // of the event, or of Init
  Ccev e_{};
  uint32_t now_ = 0;
  NsccState s_;         // Work, Store: the state after the event
  NsccDecisions made_;  // and what it decided
};

}  // namespace mrc

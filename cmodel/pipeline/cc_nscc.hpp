// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/cfg.hpp"
#include "pipeline/stream.hpp"
#include "protocol/nscc.hpp"

namespace mrc {

/// How much may be in flight: one NSCC controller per destination. Contract: docs/blocks/cc_nscc.md. The arithmetic is
/// nscc_step()'s: a whole event is computed in Count, and shows in the cycles in which the contract lets it show (the
/// flight in Count, the window, the wake and the pulses with Store). Events take 2 to 59 cycles; one ask per cycle is
/// answered meanwhile.
class CcNscc {
 public:
  /// Depth of the input FIFO `ev`, for whoever makes the stream.
  static constexpr std::size_t kEvDepth = 16;

  /// Pulse registers.
  struct Pulses {
    bool md = false, qa = false, hold = false;
  };

  /// ev: what was acknowledged, trimmed, lost; made with kEvDepth. ask, rask: packets and retransmissions that want to
  /// go; ans, rans: the answers. wake: a refused ask would now be granted.
  CcNscc(const Preset& preset, Stream<Ccev>& ev, Stream<Ccask>& ask, Stream<Ccask>& rask, Stream<Ccans>& ans,
         Stream<Ccans>& rans, Stream<Ccwake>& wake);

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

 private:
  /// Work stands for the states between Count and Store.
  enum class State : uint8_t { Idle, Init, Count, Work, Store };

  struct Dest {
    int32_t infl = 0;   ///< bytes in flight, 29 bit signed
    uint32_t cwin = 0;  ///< window in whole bytes
    uint16_t want = 0;  ///< size of the newest refused ask
    uint8_t prof = 0;   ///< row of words
    bool wait = false;  ///< an ask was refused
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
  bool reply(Stream<Ccask>& from, Stream<Ccans>& to);

  const unsigned dest_mask_, profile_mask_;
  Stream<Ccev>& ev_;
  Stream<Ccask>&ask_, &rask_;
  Stream<Ccans>&ans_, &rans_;
  Stream<Ccwake>& wake_;

  std::vector<NsccState> ctx_;  // but inflight, which is Dest::infl
  std::vector<Dest> dests_;
  std::vector<NsccWords> words_;
  CfgAck ack_;
  Pulses pulses_, pulses_next_;

  State state_ = State::Idle;
  unsigned left_ = 0;  // cycles left in Init, Work
  unsigned cc_ = 0;    // of the event, or of Init
  Ccev e_{};
  uint32_t now_ = 0;
  NsccState s_;         // Work, Store: the state after the event
  NsccDecisions made_;  // and what it decided
};

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/stream.hpp"

namespace mrc {

/// Tells software when all that was inside the NIC has left it: counts what goes into its stages and what comes out,
/// and holds nobody up. Contract: docs/design/blocks/ctl/fence.md. A fence around nothing takes four cycles.
class Fence {
 public:
  /// Streams that it watches and takes nothing of.
  struct Streams {
    const Stream<Retx>& retx;
    const Stream<Pkt>& pkt;
    const Stream<Path>& path;
    const Stream<Ctl>& ctl;
    const Stream<Rxpkt>& rxpkt;
    const Stream<Ord>& ord;
  };
  /// Registers of other blocks, of this cycle.
  struct In {
    bool go = false;                                              ///< csr: a fence begins
    bool order_done = false, rec_done = false, ctl_done = false;  ///< tx_segment, tx_inflight
    bool posted = false, goes_on = false;                         ///< rx_track
    bool ord_done = false;                                        ///< rx_reorder
    unsigned data_done = 0;                                       ///< bit p: of tx_lane p
    bool done_valid = false;                                      ///< rx_place
    unsigned done_plane = 0;
  };

  Fence(const Preset& preset, const Streams& streams);

  /// Register FENCE, but for what csr adds in the cycle of go.
  uint32_t owed() const;
  /// Before any other block of the cycle: it looks at the streams as they are when the cycle begins.
  void step(const In& in);
  void clock();

 private:
  enum class State : uint8_t { Idle, Front, Core, Lanes };

  /// Where words come out in the order in which they went in.
  class Stage {
   public:
    explicit Stage(unsigned most = 0) : most_(most) {}
    unsigned inside() const { return n_; }
    bool owes() const { return left_ != 0; }
    /// Of this cycle: a word stands in front, moves in; one is done with.
    void see(bool stands, bool moves, bool done) {
      stands_ = stands;
      moves_ = stands && moves;
      done_ = done;
    }
    void clock(bool take);

   private:
    unsigned most_, n_ = 0, left_ = 0;
    bool stands_ = false, moves_ = false, done_ = false;
  };

  template <class T>
  static void watch(Stage& stage, const Stream<T>& stream, bool done) {
    stage.see(stream.valid(), stream.ready(), done);
  }
  /// A bit per plane of what `of` says of its stage.
  template <class F>
  unsigned by_plane(const std::array<Stage, kMaxPlanes>& stages, const F& of) const {
    unsigned bits = 0;
    for (unsigned p = 0; p < planes_; ++p) bits |= unsigned{of(stages[p])} << p;
    return bits;
  }
  bool owes(const std::array<Stage, kMaxPlanes>& stages) const {
    return by_plane(stages, [](const Stage& s) { return s.owes(); }) != 0;
  }

  const unsigned planes_;
  const Streams from_;
  Stage orders_{11}, answers_{3}, tracked_{6}, packets_{8}, ordered_{3};
  std::array<Stage, kMaxPlanes> placed_, sent_;
  State state_ = State::Idle;
  bool moves_ = false;  // clock() has something to do
  bool go_ = false, goes_on_ = false;
};

}  // namespace mrc

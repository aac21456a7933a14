// SPDX-License-Identifier: Apache-2.0
/// The model behind the device: it takes the same inputs a few cycles later, many at a time, and is compared cycle by
/// cycle. Model and device push each other out of the processor's caches; in turns of one cycle that costs as much as
/// the comparison, in turns of many it costs nothing. What differs is found with its cycle, only a little later.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "api/pins.h"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/nic.hpp"
#include "tb/compare/lockstep.hpp"
#include "tb/dut/dut.hpp"

namespace mrc::tb {

class Follower {
 public:
  /// Cycles that the device may be ahead: what they hold must stay in the second level cache beside the model.
  static constexpr unsigned kDepth = 32;

  /// One cycle of the device.
  struct Cycle {
    mrc_pins_out out{};
    const mrc_pins_in* in = nullptr;  ///< stays as it is until the model has caught up
    Flags flags;
    const uint32_t* data = nullptr;                   ///< null: the device shows no streams
    std::array<uint16_t, kMaxPlanes> frame_offset{};  ///< byte of the frame that each port was at
  };

  Follower(const Preset& preset, const Lockstep& lockstep, unsigned depth = kDepth)
      : nic_(preset), cycles_(depth), seen_(depth * lockstep.note_words()) {}

  /// The cycle that the device is in: its outputs and streams are kept, whoever calls fills in the rest.
  Cycle& look(Dut& dut, const Lockstep& lockstep) {
    Cycle& c = cycles_[count_];
    dut.outputs(c.out);
    stray_ = lockstep.rules().stray(c.out);
    if (stray_) {
      clean_ = c.out;
      lockstep.rules().mask(clean_);
    }
    c.data = nullptr;
    core_ = lanes_ = nullptr;
    if (dut.observe(core_, lanes_)) {
      c.data = &seen_[used_];
      used_ += lockstep.note(core_, lanes_, c.flags, &seen_[used_]);
    }
    return c;
  }
  /// Streams of the cycle of look(), all of them, until the device goes on; they count if the cycle has data.
  const uint32_t* core() const { return core_; }
  const uint32_t* lanes() const { return lanes_; }
  /// Output pins of the cycle of look(), without bits that no pin has: what the world outside of the device gets.
  const mrc_pins_out& pins() const { return stray_ ? clean_ : cycles_[count_].out; }
  /// The device goes on. True: the model must catch up now.
  bool next() { return ++count_ == cycles_.size(); }

  /// The model takes all cycles that the device is ahead. The first of them has the number `cycle`. Returns how many of
  /// them agree: less than ahead() when lockstep has found a difference, and then the model stays where it is.
  /// Cycles before `compare_from` are not compared; behind a cycle in reset, pins alone: streams show the inputs,
  /// too, and those are any.
  unsigned catch_up(uint64_t cycle, Lockstep& lockstep, uint64_t compare_from = 0) {
    for (unsigned i = 0; i < count_; ++i) {
      const Cycle& c = cycles_[i];
      if (cycle + i < compare_from) {
        nic_.step(*c.in);
        continue;
      }
      nic_.outputs(out_);
      const uint32_t *core = nullptr, *lanes = nullptr;
      nic_.observe(core, lanes);
      const bool same = c.data && !in_reset_ ? lockstep.compare(cycle + i, c.out, out_, c.flags, c.data, core, lanes)
                                             : lockstep.compare_pins(cycle + i, c.out, out_, core, lanes);
      if (!same) return i;
      in_reset_ = !c.in->rst_n;
      nic_.step(*c.in);
    }
    const unsigned agreed = count_;
    drop();
    return agreed;
  }
  /// Forgets the cycles that the device is ahead: nothing is compared any more.
  void drop() {
    count_ = 0;
    used_ = 0;
  }
  /// Cycles that the device is ahead.
  unsigned ahead() const { return count_; }
  Nic& model() { return nic_; }
  const Cycle& at(unsigned i) const { return cycles_[i]; }

 private:
  Nic nic_;
  mrc_pins_out out_{}, clean_{};
  bool stray_ = false, in_reset_ = false;
  const uint32_t *core_ = nullptr, *lanes_ = nullptr;
  std::vector<Cycle> cycles_;
  std::vector<uint32_t> seen_;
  unsigned count_ = 0;
  std::size_t used_ = 0;
};

}  // namespace mrc::tb

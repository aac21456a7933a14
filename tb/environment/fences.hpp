// SPDX-License-Identifier: Apache-2.0
/// What software sees of the NIC's fences, held against the lines that the host owes it. No model has a part in it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "gen/csr.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"

namespace mrc::tb {

/// Nobody else writes FENCE, and one register access ends before the next begins.
class Fences {
 public:
  explicit Fences(const Preset& preset) : planes_((1u << preset.num_planes) - 1) {}

  /// The NIC asks for a line for a plane; the host answers.
  void requested(unsigned plane) { ++requested_[plane]; }
  void answered(unsigned plane) { ++answered_[plane]; }
  /// FENCE.busy is about to be written 1.
  void begins(uint64_t cycle) {
    due_ = requested_;
    ++begun_;
    open_ = true;
    since_ = cycle;
  }
  /// FENCE has been read. What is wrong, "" if nothing: a fence does not end before the lines have come that the NIC
  /// had asked for when it began.
  std::string seen(uint32_t fence, uint64_t cycle);

  uint64_t begun() const { return begun_; }
  uint64_t ended() const { return ended_; }
  /// Cycles from a fence's begin to the read that finds it ended, the most.
  uint64_t longest() const { return longest_; }

 private:
  using Counts = std::array<uint64_t, kMaxPlanes>;
  unsigned planes_;
  Counts requested_{}, answered_{}, due_{};
  bool open_ = false;  // it has not been seen to end
  uint64_t begun_ = 0, ended_ = 0, since_ = 0, longest_ = 0;
};

}  // namespace mrc::tb

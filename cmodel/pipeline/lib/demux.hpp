// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "pipeline/lib/stream.hpp"
#include "util/check.hpp"

namespace mrc {

/// A stream from one block to the lane that its field `plane` names: one output register, one input FIFO per lane.
/// The producer's ready is that of the lane which the output register names, valid or not.
template <class T>
class PlaneDemux {
 public:
  /// touched: as for Fifo.
  PlaneDemux(std::size_t planes, std::size_t depth, bool* touched = nullptr)
      : lanes_(planes, Fifo<T>(depth, touched)), touched_(touched) {}

  bool valid() const { return out_.valid(); }
  bool ready() const { return target().ready(); }
  const T& data() const { return out_.data(); }

  bool free() const { return out_.free(ready()); }
  T& load() {
    MRC_CHECK(free(), "a stream is loaded that is not free");
    touch();
    return out_.load();
  }

  /// The input FIFO of a lane.
  Fifo<T>& lane(std::size_t plane) { return lanes_[plane]; }

  void clock() {
    MRC_CHECK(!out_.valid() || out_.data().plane < lanes_.size(), "a word is for a plane that there is not");
    const bool taken = ready();
    if (out_.valid() && taken) lanes_[out_.data().plane].push(out_.data());
    for (Fifo<T>& lane : lanes_) lane.clock();
    out_.clock(taken);
    if (out_.valid()) touch();
  }

 private:
  void touch() {
    if (touched_) *touched_ = true;
  }
  const Fifo<T>& target() const { return lanes_[out_.data().plane]; }

  std::vector<Fifo<T>> lanes_;
  bool* touched_;
  OutReg<T> out_;
};

}  // namespace mrc

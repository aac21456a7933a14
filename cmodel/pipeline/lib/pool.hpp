// SPDX-License-Identifier: Apache-2.0
/// mrc_pool of docs/design/blocks/conventions.md.
#pragma once

#include <cstddef>
#include <vector>

#include "pipeline/lib/stream.hpp"
#include "util/check.hpp"

namespace mrc {

/// Hands out the numbers 0 .. n-1: first each one once, in order, then those given back, in the order in which they
/// came. Changes take effect at clock(): a number given back in cycle t is on offer in t+1 at the earliest. One take
/// and one give per cycle at most. Checked: a number that is given back is out.
class Pool {
 public:
  explicit Pool(std::size_t n) : n_(n), back_(n), out_(kChecks ? n : 0) {}

  /// True when there is a number on offer.
  bool valid() const { return back_.valid() || fresh_ != n_; }
  /// The number on offer; the caller has seen valid().
  unsigned offer() const { return back_.valid() ? back_.head() : fresh_; }
  /// Numbers on offer, or behind the one that is.
  std::size_t free() const { return back_.count() + n_ - fresh_; }

  /// Takes the number on offer at the end of this cycle; the caller has seen valid().
  void take() {
    MRC_CHECK(valid(), "a number is taken that is not there");
    MRC_CHECK(offer() < n_ && !out_[offer()], "a number is handed out twice");
    if (kChecks) out_[offer()] = true;
    if (back_.valid()) {
      back_.pop();
    } else {
      MRC_CHECK(fresh_next_ == fresh_, "two numbers are taken in a cycle");
      ++fresh_next_;
    }
  }
  void give(unsigned number) {
    MRC_CHECK(number < n_ && out_[number], "a number is given back that is not out");
    if (kChecks) out_[number] = false;
    back_.push(number);
  }
  void clock() {
    back_.clock();
    fresh_ = fresh_next_;
  }

 private:
  std::size_t n_;
  unsigned fresh_ = 0, fresh_next_ = 0;  ///< numbers below it have been used
  Fifo<unsigned> back_;
  std::vector<bool> out_;  ///< where checks are on: by number
};

}  // namespace mrc

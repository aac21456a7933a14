// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gen/streams.hpp"
#include "pipeline/stream.hpp"

namespace mrc {

/// Queue of QPs that may send (docs/blocks/tx_segment.md, "tx_sched"). It is the FIFO at the end of `push`, which the
/// owner creates NumQps deep; its head goes straight to tx_segment's input FIFO `grant`.
class TxSched {
 public:
  TxSched(Stream<Grant>& push, Fifo<Grant>& grant) : push_(push), grant_(grant) {}

  /// Output grant.
  bool grant_valid() const { return push_.has(); }
  bool grant_ready() const { return grant_.ready(); }
  const Grant& grant() const { return push_.head(); }

  void step() {
    if (push_.has() && grant_.ready()) {
      grant_.push(push_.head());
      push_.pop();
    }
  }
  void clock() {}

 private:
  Stream<Grant>& push_;
  Fifo<Grant>& grant_;
};

}  // namespace mrc

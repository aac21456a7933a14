// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gen/streams.hpp"
#include "pipeline/stream.hpp"

namespace mrc {

/// Merges the completions of both directions for the host. Contract: docs/blocks/rx_reorder.md, "cq_mux". One per
/// cycle.
class CqMux {
 public:
  /// tx: from tx_segment, rx: from rx_reorder.
  CqMux(Stream<Cqe>& tx, Stream<Cqe>& rx) : in_{&tx, &rx} {}

  /// Output cqe, a pin.
  bool cqe_valid() const { return cqe_.valid(); }
  const Cqe& cqe() const { return cqe_.data(); }

  void step(bool host_ready) {
    host_ready_ = host_ready;
    if (!cqe_.free(host_ready)) return;
    const int from = arb_.pick([&](unsigned i) { return in_[i]->has(); });
    if (from < 0) return;
    const auto i = static_cast<unsigned>(from);
    arb_.take(i);
    cqe_.load(in_[i]->head());
    in_[i]->pop();
  }
  void clock() { cqe_.clock(host_ready_); }

 private:
  Stream<Cqe>* in_[2];
  RrArb arb_{2};
  OutReg<Cqe> cqe_;
  bool host_ready_ = false;
};

}  // namespace mrc

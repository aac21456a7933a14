// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gen/streams.hpp"
#include "pipeline/lib/stream.hpp"

namespace mrc {

/// Merges the completions of both directions for the host. Contract: docs/design/blocks/ctl/cq_mux.md. One per
/// cycle.
class CqMux {
 public:
  /// tx: from tx_segment, the input FIFO itself; rx: from rx_reorder.
  CqMux(Fifo<Cqe>& tx, Stream<Cqe>& rx) : tx_(tx), rx_(rx) {}

  /// Output cqe, a pin.
  bool cqe_valid() const { return cqe_.valid(); }
  const Cqe& cqe() const { return cqe_.data(); }

  void step(bool host_ready) {
    host_ready_ = host_ready;
    if (!cqe_.free(host_ready)) return;
    const int from = arb_.pick([&](unsigned i) { return i == 0 ? tx_.valid() : rx_.has(); });
    if (from < 0) return;
    arb_.take(static_cast<unsigned>(from));
    if (from == 0) {
      cqe_.load(tx_.head());
      tx_.pop();
    } else {
      cqe_.load(rx_.head());
      rx_.pop();
    }
  }
  void clock() { cqe_.clock(host_ready_); }

 private:
  Fifo<Cqe>& tx_;
  Stream<Cqe>& rx_;
  RrArb arb_{2};
  OutReg<Cqe> cqe_;
  bool host_ready_ = false;
};

}  // namespace mrc

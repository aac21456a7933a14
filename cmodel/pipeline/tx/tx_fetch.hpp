// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/stream.hpp"

namespace mrc {

/// Collects the lanes' requests for host memory, round robin (docs/design/blocks/tx/tx_fetch.md).
class TxFetch {
 public:
  /// rdreq: one stream per plane, in plane order; they outlive this object.
  TxFetch(const Preset& preset, std::vector<Stream<Rdreq>*> rdreq)
      : rdreq_(std::move(rdreq)), arb_(preset.num_planes) {}

  /// Output to the host.
  const OutReg<Rdreq>& rdreq() const { return out_; }

  /// ready: the host takes the request of this cycle.
  void step(bool ready) {
    ready_ = ready;
    if (!out_.free(ready)) return;
    const int p = arb_.pick([&](unsigned i) { return rdreq_[i]->has(); });
    if (p < 0) return;
    const auto plane = static_cast<unsigned>(p);
    arb_.take(plane);
    out_.load(rdreq_[plane]->head());
    rdreq_[plane]->pop();
  }
  void clock() { out_.clock(ready_); }

 private:
  std::vector<Stream<Rdreq>*> rdreq_;
  RrArb arb_;
  OutReg<Rdreq> out_;
  bool ready_ = false;
};

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pipeline/tx/inflight/tx_inflight_fsm.hpp"

namespace mrc::inflight {

/// The retransmission timer: what a visit of a QP finds, the walk over the window of one whose oldest mark is an
/// interval old, what is told behind it. Twin of mrc_tx_inflight_timer.
class Timer {
 public:
  explicit Timer(Shared& shared) : s_(shared) {}

  /// Visits QP `index`, in Idle.
  void visit(QpIndex index, const CsrOut& csr, const Quiet& quiet);
  /// State Walk: one block.
  void walk(const CsrOut& csr);
  /// State Told: nothing of the QP is in flight, what waits in this block has left it.
  void notified();

 private:
  void query(Qp& q, QpIndex index);
  void expired(Qp& q, QpIndex index);
  void walk_end(Qp& q);

  Shared& s_;
  // What the walk has found so far.
  bool any_ = false;     ///< some are lost
  bool old_ = false;     ///< the oldest is
  bool seen_ = false;    ///< some are not reported
  bool spared_ = false;  ///< some are spared
  bool out_ = false;     ///< some do not wait to be sent again
  uint32_t first_ = 0;   ///< the first lost
  uint32_t low_ = 0;     ///< if seen_: the lowest that is not reported
};

}  // namespace mrc::inflight

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pipeline/tx/inflight/tx_inflight_fsm.hpp"

namespace mrc::inflight {

/// What was sent: Record remembers a packet just sent, one per cycle beside the main machine; what is not for it is the
/// main machine's state Rec. Twin of mrc_tx_inflight_record.
class Record {
 public:
  Record(Shared& shared, const In& in) : s_(shared), in_(in) {}

  /// The head of rec is for Record.
  bool mine() const;
  /// What Record can do in this cycle.
  Recording next(bool time_wait) const;
  /// Does it. Last in a cycle: the main machine sees nxt, msn_sent and fsent of before.
  void record(bool begins);
  /// State Rec: packets that were ordered, and packets of QPs that are not live.
  void rec();

 private:
  Shared& s_;
  const In in_;
};

}  // namespace mrc::inflight

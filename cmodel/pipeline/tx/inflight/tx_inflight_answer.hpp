// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pipeline/tx/inflight/tx_inflight_fsm.hpp"

namespace mrc::inflight {

/// NACKs and ACKs: whether one counts, what follows for the window, the QP and its controller. Twin of
/// mrc_tx_inflight_answer.
class Answer {
 public:
  explicit Answer(Shared& shared) : s_(shared) {}

  /// A NACK in Ctl0: reads record and row of its packet.
  void ctl0();
  /// A NACK in Ctl1.
  void nack(const CsrOut& csr);
  /// State Ack.
  void ack();

 private:
  bool count_retry(Qp& q, const WinBlock& row, bool in);

  Shared& s_;
};

}  // namespace mrc::inflight

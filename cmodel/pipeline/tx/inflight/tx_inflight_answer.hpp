// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pipeline/tx/inflight/tx_inflight_fsm.hpp"

namespace mrc::inflight {

/// NACKs, ACKs and packets that came back: whether one counts, what follows for the window, the QP and its controller.
/// Twin of mrc_tx_inflight_answer.
class Answer {
 public:
  explicit Answer(Shared& shared) : s_(shared) {}

  /// A NACK, or a packet that came back, in Ctl0: reads record and row of its packet.
  void ctl0(const CsrOut& csr);
  /// A NACK in Ctl1.
  void nack(const CsrOut& csr);
  /// A packet that came back in Ctl1.
  void returned();
  /// State Ack.
  void ack();

 private:
  bool count_retry(Qp& q, const WinBlock& row, bool in);
  void patient(Qp& q);

  Shared& s_;
  bool own_ = false;  ///< the QP has the block of a NACK's packet
};

}  // namespace mrc::inflight

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pipeline/tx/inflight/tx_inflight_fsm.hpp"

namespace mrc::inflight {

/// Retransmissions: the search for the next packet to send again, a block per cycle, the question to its controller,
/// the order; and the search for what is lost and still in flight. One function per state. Twin of
/// mrc_tx_inflight_scan.
class Scan {
 public:
  Scan(Shared& shared, const In& in) : s_(shared), in_(in) {}

  void retx0();
  void scan();
  void retx1(const CsrOut& csr);
  /// State RetxW. True if the controller has refused.
  bool retx_wait(const CsrOut& csr);

 private:
  void found(Qp& q, WinBlock row, uint16_t pending);
  bool none_found(Qp& q);
  void leave(const Qp& q, WinBlock row);
  void none_leaves(const Qp& q);
  void lost(Qp& q, const CsrOut& csr);
  void order();

  Shared& s_;
  const In in_;
  // Kept from one state to the next.
  unsigned steps_ = 0;
  uint32_t p_ = 0;       ///< what was found
  LossNews news_;        ///< of it
  bool dup_ = false;     ///< it is the newest packet again, for its ACK
  WinBlock row_keep_{};  ///< before p was taken off
};

}  // namespace mrc::inflight

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pipeline/tx/inflight/tx_inflight_fsm.hpp"

namespace mrc::inflight {

/// A SACK: which blocks of the window it speaks of, what it does to each of them and to the QP, what it says. One
/// function per state. What it does to one block is sack_row() (protocol/tx_window.hpp), what it means for the flight
/// take_sack() (protocol/flight.hpp). Twin of mrc_tx_inflight_sack.
class Sack {
 public:
  Sack(Shared& shared, unsigned planes) : s_(shared), planes_(planes) {}

  void ctl0(const CsrOut& csr);
  void ctl1(const CsrOut& csr);
  void row(const CsrOut& csr);
  void done(const CsrOut& csr);
  void same0();
  void same1();

 private:
  bool arrived() const;
  void progress(Qp& q);
  void report_ev(const Qp& q);
  void acknowledge(Qp& q, bool sample, const CsrOut& csr);

  Shared& s_;
  const unsigned planes_;
  // Kept from one state to the next.
  uint32_t una_ = 0, hi_ = 0;  ///< una', hi'
  uint32_t judge_ = 0;         ///< the highest PSN that gaps are judged by
  uint32_t last_ = 0;          ///< number of the last block
  bool own_ = false, none_ = false;
  uint16_t ev_idx_ = 0;
  bool rtx_ = false;
  bool any_ = false;
  uint32_t first_ = 0;
  unsigned canc_ = 0;
  bool gives_time_ = false;                               ///< it tells time,
  TimeView time_;                                         ///< this
  bool same_candidate_ = false, time_candidate_ = false;  ///< una is looked at for itself
};

}  // namespace mrc::inflight

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gen/presets.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/tx/inflight/tx_inflight_answer.hpp"
#include "pipeline/tx/inflight/tx_inflight_fsm.hpp"
#include "pipeline/tx/inflight/tx_inflight_ports.hpp"
#include "pipeline/tx/inflight/tx_inflight_record.hpp"
#include "pipeline/tx/inflight/tx_inflight_sack.hpp"
#include "pipeline/tx/inflight/tx_inflight_scan.hpp"
#include "pipeline/tx/inflight/tx_inflight_timer.hpp"

namespace mrc {

/// Keeps the window of PSNs sent and not yet acknowledged of each QP, works through SACK, NACK, ACK and what comes
/// back, infers losses, learns them from ports that fall, runs the retransmission timer, orders retransmissions and
/// tells the congestion controllers what became of their packets. What was sent is recorded a packet per cycle, beside
/// everything else, in blocks of 16 PSNs that all QPs share. Contract: docs/design/blocks/tx/inflight/tx_inflight.md.
/// The parts beside this file are those of the RTL.
class TxInflight {
 public:
  using In = inflight::In;
  using Out = inflight::Out;
  using Pulses = inflight::Pulses;

  TxInflight(const Preset& preset, const In& in, const Out& out);

  bool cfg_ack() const { return fsm_.cfg_ack(); }
  const Pulses& pulses() const { return shared_.report.pulses; }
  /// Registers: a record has been taken, work on an answer has begun.
  bool rec_done() const { return rec_done_; }
  bool ctl_done() const { return ctl_done_; }
  /// port_up: bit p is port_up_i[p].
  void step(const CfgBus& cfg, const CsrOut& csr, unsigned port_up, bool sends = false);
  /// The QP whose visit is next.
  unsigned visit_qp() const { return shared_.watch.qp(); }
  /// For checks: who is visited, in this order; who has something open.
  std::vector<QpIndex> watched() const { return shared_.watch.all(); }
  bool busy(unsigned qp) const { return shared_.qps[qp].busy(); }
  void clock() {
    rec_done_ = shared_.rec_taken;
    ctl_done_ = shared_.ctl_taken;
    shared_.blocks.clock();
    shared_.report.clock();
    fsm_.clock();
  }

 private:
  void main_machine(const CfgBus& cfg, const CsrOut& csr, inflight::Recording& recording);

  inflight::Shared shared_;
  inflight::Ports ports_;
  inflight::Fsm fsm_;
  inflight::Record record_;
  inflight::Sack sack_;
  inflight::Answer answer_;
  inflight::Scan scan_;
  inflight::Timer timer_;
  bool rec_done_ = false, ctl_done_ = false;
};

}  // namespace mrc

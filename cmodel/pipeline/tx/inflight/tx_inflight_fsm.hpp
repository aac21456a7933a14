// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/stream.hpp"
#include "pipeline/tx/inflight/tx_inflight_blocks.hpp"
#include "pipeline/tx/inflight/tx_inflight_pkg.hpp"
#include "pipeline/tx/inflight/tx_inflight_qps.hpp"
#include "pipeline/tx/inflight/tx_inflight_report.hpp"
#include "pipeline/tx/inflight/tx_inflight_watch.hpp"

namespace mrc::inflight {

/// What all operations share: the main machine's registers and, for those that look at one block of the window after
/// the other, the step from block to block.
struct Shared {
  Shared(const Preset& preset, const Out& out)
      : blocks(preset), report(out), qps(preset, now, blocks, report), watch(preset.num_qps) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  /// The rows of a pass over the window of QP now.qp begin; in `state` the first one is there.
  void rows_from(State state) {
    next_row(now.qp, now.block);
    now.state = state;
  }
  /// Behind block now.block of a pass there is another one of the window.
  bool rows_left(const Qp& q) const {
    return psn_dist(psn_add(block_psn(now.block), kBlockPsns), q.una) < psn_dist(now.lim, q.una);
  }
  /// Block now.block + 1 is the one that is looked at in the next cycle.
  void next_row(QpIndex qp) { next_row(qp, block_add(now.block, 1)); }

  Now now;
  Blocks blocks;
  Report report;
  Qps qps;
  Watch watch;
  bool rec_taken = false, ctl_taken = false;  // in this cycle: heads of the inputs

 private:
  void next_row(QpIndex qp, uint32_t block) {
    now.block = block;
    blocks.read_row();
    blocks.read_number(qp, block_add(block, 1));
  }
};

class Ports;

/// What an Idle cycle does: a table write, or one of six kinds of operation in turn, each only if the outputs that it
/// may need are free. Twin of mrc_tx_inflight_fsm.
class Fsm {
 public:
  /// What Idle has chosen. Visit is left to the caller, who carries it out in the same cycle.
  enum class Choice : uint8_t { None, Rec, Ctl, Retx, Visit, Reclaim, Ports };

  Fsm(Shared& shared, const In& in, Ports& ports) : s_(shared), in_(in), ports_(ports) {}

  bool cfg_ack() const { return ack_.value(); }
  /// sends: the QP whose visit is next has something to send.
  void begin(const CfgBus& cfg, bool sends) {
    ack_.begin(cfg);
    look_ahead(sends);
  }
  /// State Idle. for_record: the head of rec is for Record. recording: what Record does in this cycle; a row of QP_CTX
  /// of the same QP forbids it.
  Choice idle(const CfgBus& cfg, const CsrOut& csr, bool for_record, Recording& recording);
  /// Ctl0, Ack: the outputs that an answer may need are free; always so behind Idle.
  bool answer_may_begin() const;
  /// Done, Ack: nothing waits but an answer, and perhaps a visit. for_record: as of idle().
  bool next_answer(const CfgBus& cfg, bool for_record) const;
  /// That answer begins behind the one that has just ended.
  void go_on(Recording& recording) {
    ++chain_;
    take_ctl(recording);
  }
  /// The QP that is visited in this cycle.
  QpIndex visit() {
    const auto index = static_cast<QpIndex>(s_.watch.qp());
    const Qp& q = s_.qps[index];
    s_.watch.visit(q.busy() || q.dup);  // with dup it will be: in RetxW
    ahead_next_.steady = 0;
    return index;
  }
  /// How long it keeps quiet.
  const Quiet& quiet() const { return ahead_.quiet; }
  /// A retransmission was refused: none is tried for a moment.
  void hold() { hold_ = true; }
  void end() {
    ahead_ = ahead_next_;
    s_.watch.clock();
    if (div_ % 4 == 3) visit_due_ = true;
    if (div_ == 15) hold_ = false;
    div_ = (div_ + 1) % 16;
  }
  void clock() { ack_.clock(); }

 private:
  /// Of the QP whose visit is next, by the registers of a cycle before, and of two before.
  struct Ahead {
    uint32_t bound = 0;    ///< ticks to its first question
    unsigned doubled = 0;  ///< how often that doubles
    bool none = false;     ///< it has not asked
    Quiet quiet;
    unsigned steady = 0;  ///< cycles for which it has been this one, kSteady at most
  };
  /// From a QP's round trip to its pause.
  static constexpr unsigned kSteady = 2;

  /// By the registers of this cycle.
  void look_ahead(bool sends) {
    if (!s_.watch.on()) {
      ahead_next_ = {};
      return;
    }
    const Qp& q = s_.qps[s_.watch.qp()];
    ahead_next_ = {.bound = silence_bound(trip_of_question(q.trip, q.trims)),
                   .doubled = silence_doubled(q.queries, q.una == q.nxt, sends),
                   .none = q.queries == 0,
                   .quiet = {.pause = silence_pause(ahead_.bound, ahead_.doubled), .first = ahead_.none},
                   .steady = std::min(ahead_.steady + 1, kSteady)};
  }
  bool cfg_due(const CfgBus& cfg) const;
  bool configure(const CfgBus& cfg, const CsrOut& csr, Recording& recording);
  void take_rec();
  void take_ctl(Recording& recording);
  void take_retx();
  void take_reclaim();

  Shared& s_;
  const In in_;
  Ports& ports_;
  RrArb arb_{6};
  CfgAck ack_;
  unsigned div_ = 0;
  bool visit_due_ = false;
  unsigned chain_ = 0;  ///< answers begun behind another one since the last cycle in Idle
  bool hold_ = false;   ///< a retransmission was refused a moment ago
  Ahead ahead_, ahead_next_;
};

}  // namespace mrc::inflight

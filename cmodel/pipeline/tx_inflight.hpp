// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/cfg.hpp"
#include "pipeline/ram.hpp"
#include "pipeline/stream.hpp"
#include "protocol/retry.hpp"
#include "protocol/tx_window.hpp"

namespace mrc {

/// Keeps the window of PSNs sent and not yet acknowledged of each QP, works through SACK, NACK and ACK, infers losses,
/// runs the retransmission timer and orders retransmissions. Contract: docs/blocks/tx_inflight.md.
class TxInflight {
 public:
  TxInflight(const Preset& preset, Stream<Rec>& rec, Stream<Ctl>& ctl, Stream<Retx>& retx, Stream<Upd>& upd,
             Stream<Fb>& fb, Stream<Pres>& pres);

  bool cfg_ack() const { return ack_.value(); }
  /// Registers rtx_inc_q, rto_inc_q, fail_inc_q.
  bool rtx_inc() const { return rtx_inc_; }
  bool rto_inc() const { return rto_inc_; }
  bool fail_inc() const { return fail_inc_; }
  void step(const CfgBus& cfg, const CsrOut& csr);
  void clock() {
    win_.clock();
    recs_.clock();
    ack_.clock();
    rtx_inc_ = rtx_inc_next_;
    rto_inc_ = rto_inc_next_;
    fail_inc_ = fail_inc_next_;
    rtx_inc_next_ = rto_inc_next_ = fail_inc_next_ = false;
  }

 private:
  enum class State : uint8_t { Idle, Init, Rec, Sack0, Sack1, Nack, Ack, Retx0, Retx1, Walk };

  struct Qp {
    uint32_t una = 0, nxt = 0, hi = 0;
    uint16_t msn_done = 0, msn_sent = 0;
    uint32_t rtx_lo = 0;
    bool rtx = false, dup = false, live = false;
    uint32_t tmr_start = 0, tmr_psn = 0;
    uint8_t retry = 0;
  };

  /// Row of `recs`.
  struct Sent {
    uint16_t msn = 0;
    uint16_t ev_idx = 0;
    uint32_t idx = 0;
  };

  /// QPs with something to retransmit, each at most once; pop and push in one cycle always work.
  class List {
   public:
    explicit List(unsigned num_qps) : mem_(2 * num_qps), mask_(2 * num_qps - 1) {}
    bool empty() const { return rd_ == wr_; }
    uint16_t head() const { return mem_[rd_ & mask_]; }
    void pop() { ++rd_; }
    void push(uint16_t qp) { mem_[wr_++ & mask_] = qp; }

   private:
    std::vector<uint16_t> mem_;
    unsigned mask_, rd_ = 0, wr_ = 0;
  };

  Qp& qp(unsigned index) { return qps_[index & qp_mask_]; }
  std::size_t win_row(unsigned qp, uint32_t psn) const {
    return std::size_t{qp & qp_mask_} * win_rows_ + (psn / 64 & (win_rows_ - 1));
  }
  std::size_t recs_row(unsigned qp, uint32_t psn) const {
    return std::size_t{qp & qp_mask_} * max_mpr_ + (psn & (max_mpr_ - 1));
  }
  void enlist(Qp& q, uint16_t index) {
    if (!q.rtx) list_.push(index);
    q.rtx = true;
  }
  void start_timer(Qp& q) {
    q.tmr_start = tick_;
    q.tmr_psn = q.nxt;
  }

  /// Ends a QP: its work requests complete with `status`, then Flushed. upd must be free.
  void fail(Qp& q, uint16_t index, CqStatus status);
  void idle(const CfgBus& cfg, const CsrOut& csr);
  void configure(const CfgBus& cfg);
  void take_ctl();
  void visit(unsigned rto, RetryLimits limits);
  void init();
  void record();
  void sack0(unsigned reorder);
  void sack1();
  void nack(RetryLimits limits);
  void semantic_ack();
  void retx0();
  void retx1();
  void walk();

  const unsigned qp_mask_, max_mpr_, win_rows_, tick_cycles_;
  Stream<Rec>& rec_in_;
  Stream<Ctl>& ctl_in_;
  Stream<Retx>& retx_;
  Stream<Upd>& upd_;
  Stream<Fb>& fb_;
  Stream<Pres>& pres_;

  Ram1r1w<WinRow> win_;
  Ram1r1w<Sent> recs_;
  std::vector<Qp> qps_;
  List list_;
  RrArb arb_{4};
  State state_ = State::Idle;
  CfgAck ack_;
  bool rtx_inc_ = false, rto_inc_ = false, rtx_inc_next_ = false, rto_inc_next_ = false;
  bool fail_inc_ = false, fail_inc_next_ = false;

  uint32_t tick_ = 0;
  unsigned tick_count_ = 0;  // cycles since the last tick
  unsigned div_ = 0;
  bool visit_due_ = false;
  unsigned visit_qp_ = 0;

  // What an operation keeps from one state to the next.
  unsigned init_qp_ = 0, init_row_ = 0;
  Rec rec_{};
  Ctl ctl_{};
  SackView view_{};
  bool any_ = false;
  uint32_t first_ = 0;
  uint16_t ev_idx_keep_ = 0;
  uint16_t op_qp_ = 0;
  uint32_t op_psn_ = 0;  // Retx1: p; Walk: w
  bool loss_ = false;    // Retx1: its EV lost it
};

}  // namespace mrc

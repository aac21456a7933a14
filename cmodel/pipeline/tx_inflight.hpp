// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/cfg.hpp"
#include "pipeline/ram.hpp"
#include "pipeline/stream.hpp"
#include "protocol/flight.hpp"
#include "protocol/retry.hpp"
#include "protocol/timestamp.hpp"
#include "protocol/tx_window.hpp"

namespace mrc {

/// Keeps the window of PSNs sent and not yet acknowledged of each QP, works through SACK, NACK and ACK, infers losses,
/// runs the retransmission timer, orders retransmissions and tells the congestion controllers what became of their
/// packets. Contract: docs/blocks/tx_inflight.md.
class TxInflight {
 public:
  /// Streams in.
  struct In {
    Stream<Rec>& rec;     ///< from tx_path
    Stream<Ctl>& ctl;     ///< from rx_check
    Stream<Ccans>& rans;  ///< from cc_nscc, to rask
  };
  /// Streams out.
  struct Out {
    Stream<Retx>& retx;    ///< to tx_segment
    Stream<Upd>& upd;      ///< to tx_segment
    Stream<Fb>& fb;        ///< to tx_path
    Stream<Pres>& pres;    ///< to tx_probe
    Stream<Ccev>& ccev;    ///< to cc_nscc
    Stream<Ccask>& rask;   ///< to cc_nscc
    Stream<Okev>& okev;    ///< to ack_gen
    Stream<Qperr>& qperr;  ///< to csr
  };

  /// Pulse registers.
  struct Pulses {
    bool freed = false;  ///< a block of 16 PSNs is free again
  };

  TxInflight(const Preset& preset, const In& in, const Out& out);

  bool cfg_ack() const { return ack_.value(); }
  /// Registers rtx_inc_q, rto_inc_q, fail_inc_q.
  const Pulses& pulses() const { return pulses_; }
  bool rtx_inc() const { return rtx_inc_; }
  bool rto_inc() const { return rto_inc_; }
  bool fail_inc() const { return fail_inc_; }
  void step(const CfgBus& cfg, const CsrOut& csr);
  void clock() {
    win_.clock();
    recs_.clock();
    ack_.clock();
    pulses_ = pulses_next_;
    pulses_next_ = {};
    rtx_inc_ = rtx_inc_next_;
    rto_inc_ = rto_inc_next_;
    fail_inc_ = fail_inc_next_;
    rtx_inc_next_ = rto_inc_next_ = fail_inc_next_ = false;
  }

 private:
  enum class State : uint8_t { Idle, Init, Rec, Sack0, Sack1, Nack, Ack, Retx0, Retx1, RetxW, Walk, Same0, Same1 };

  struct Qp {
    uint32_t una = 0, nxt = 0, hi = 0;
    uint16_t msn_done = 0, msn_sent = 0;
    uint32_t rtx_lo = 0;
    bool rtx = false, dup = false, live = false;
    uint32_t tmr_start = 0, tmr_psn = 0;
    uint8_t retry = 0;
    Flight fly;
    uint32_t rcvdl = 0;  // rcvd_bytes of the newest SACK
    uint8_t mprv = 0;    // newest MPR told
    bool fresh = false;  // nothing sent since QP_CTX
    uint32_t base = 0;   // oldest block held
    uint32_t held = 0;   // blocks
    // From QP_CTX.
    uint8_t timeout = 0, mtu = 0, dest = 0;
    RetryLimits limits;
    bool cc = false, ts = false, dyn_mpr = false;

    bool outstanding() const { return una != nxt || msn_done != msn_sent; }
  };

  /// Row of `recs`.
  struct Sent {
    uint16_t msn = 0;
    uint16_t ev_idx = 0;
    uint32_t idx = 0;
    uint16_t size = 0;
    bool rtx = false;
    uint16_t row = 0;
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

  /// True when the PSN was sent among the last MaxMpr: its row of recs is its own.
  bool recent(const Qp& q, uint32_t psn) const { return psn_dist(q.nxt, psn) - 1u < max_mpr_; }

  /// Tells the controller; ccev must be free.
  void tell(const Qp& q, CcEvent kind, uint32_t bytes, uint8_t reason = 0);
  /// *Give back*: what the QP has in flight will not be heard of any more. ccev must be free.
  void give_back(Qp& q);
  /// Ends a QP: its work requests complete with `status`, then Flushed. upd, qperr and ccev must be free.
  void fail(Qp& q, uint16_t index, CqStatus status);
  /// The round-trip sample of ctl_, if its packet gives one.
  bool rtt_valid(const Qp& q, bool rtx, const CsrOut& csr) const { return q.ts && (!rtx || csr.rtt_rtx); }
  uint16_t rtt(const CsrOut& csr) const { return ticks_since(ctl_.ts, tick_, csr.tsr_us); }

  bool cfg_due(const CfgBus& cfg) const;
  void idle(const CfgBus& cfg);
  void configure(const CfgBus& cfg);
  void take_ctl();
  void visit();
  void reclaim();
  void init();
  void record();
  void sack0(unsigned reorder);
  void sack1(const CsrOut& csr);
  void acknowledge(Qp& q, bool sample, const CsrOut& csr);
  void same0();
  void same1();
  void nack(const CsrOut& csr);
  void semantic_ack();
  void retx0();
  void retx1();
  void order();
  void retx_wait();
  void walk();

  const unsigned planes_, qp_mask_, max_mpr_, win_rows_, tick_cycles_;
  const In in_;
  const Out out_;

  Ram1r1w<WinRow> win_;
  Ram1r1w<Sent> recs_;
  std::vector<Qp> qps_;
  List list_;
  RrArb arb_{4};
  State state_ = State::Idle;
  CfgAck ack_;
  bool rtx_inc_ = false, rto_inc_ = false, rtx_inc_next_ = false, rto_inc_next_ = false;
  bool fail_inc_ = false, fail_inc_next_ = false;
  Pulses pulses_, pulses_next_;
  unsigned reclaim_qp_ = 0, lost_blocks_ = 0;

  uint32_t tick_ = 0;
  unsigned tick_count_ = 0;  // cycles since the last tick
  unsigned div_ = 0;
  bool visit_due_ = false;
  bool hold_ = false;  // a retransmission was refused a moment ago
  unsigned visit_qp_ = 0;

  // What an operation keeps from one state to the next.
  unsigned init_qp_ = 0, init_row_ = 0;
  Rec rec_{};
  Ctl ctl_{};
  SackView view_{};
  bool any_ = false;
  bool fresh_ = false;  // the walk has met PSNs sent again since the last one
  uint32_t first_ = 0;
  unsigned canc_ = 0;
  uint16_t ev_idx_keep_ = 0;
  bool rtx_keep_ = false;
  uint16_t op_qp_ = 0;
  uint32_t op_psn_ = 0;  // Retx1: p; Walk: w
  bool loss_ = false;    // Retx1: its EV lost it
  bool dup_ = false;     // Retx1: the newest packet again, for its ACK
  WinRow row_keep_{};    // Retx1: before p was taken off
};

}  // namespace mrc

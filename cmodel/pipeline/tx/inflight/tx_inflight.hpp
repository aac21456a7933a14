// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/nic_pulses.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/pool.hpp"
#include "pipeline/lib/ram.hpp"
#include "pipeline/lib/stream.hpp"
#include "protocol/flight.hpp"
#include "protocol/retry.hpp"
#include "protocol/step_timer.hpp"
#include "protocol/timestamp.hpp"
#include "protocol/tx_window.hpp"

namespace mrc {

/// Keeps the window of PSNs sent and not yet acknowledged of each QP, works through SACK, NACK and ACK, infers losses,
/// runs the retransmission timer, orders retransmissions and tells the congestion controllers what became of their
/// packets. What was sent is recorded a packet per cycle, beside everything else, in blocks of 16 PSNs that all QPs
/// share. Contract: docs/blocks/tx/inflight/tx_inflight.md.
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
    Stream<Retx>& retx;      ///< to tx_segment
    Stream<Upd>& upd;        ///< to tx_segment
    Stream<Fb>& fb;          ///< to tx_path
    Stream<Pres>& pres;      ///< to tx_probe
    Stream<Ccev>& ccev;      ///< to cc_nscc
    Stream<Ccask>& rask;     ///< to cc_nscc
    Stream<Okev>& okev;      ///< to ack_gen
    Stream<Qperr>& qperr;    ///< to csr
    Stream<Stateq>& stateq;  ///< to ack_gen
  };
  /// What counters count, and freed_q: to tx_segment, a block is free again.
  struct Pulses : TxInflightPulses {
    bool freed = false;
  };

  TxInflight(const Preset& preset, const In& in, const Out& out);

  bool cfg_ack() const { return ack_.value(); }
  const Pulses& pulses() const { return pulses_; }
  void step(const CfgBus& cfg, const CsrOut& csr);
  void clock() {
    map_.clock();
    win_.clock();
    recs_.clock();
    pool_.clock();
    ack_.clock();
    pulses_ = pulses_next_;
    pulses_next_ = {};
  }

 private:
  enum class State : uint8_t {
    Idle,
    Rec,
    Reclaim,
    Ctl0,
    Ctl1,
    Row,
    Done,
    Same0,
    Same1,
    Ack,
    Retx0,
    Scan,
    Retx1,
    RetxW,
    Walk0,
    Walk,
    Told0,
    Told
  };

  struct Qp {
    uint32_t una = 0, nxt = 0, hi = 0;
    uint16_t msn_done = 0, msn_sent = 0;
    uint32_t rtx_lo = 0;
    bool live = false, fresh = false, held = false, kept = false, armed = false, rtx = false, inq = false, dup = false;
    uint32_t base = 0;   // number of the first block held
    unsigned cur = 0;    // pool's number of the block of nxt - 1
    uint32_t start = 0;  // tick of the timer's last step
    StepMarks marks;
    uint32_t low = 0;  // lowest PSN not reported at the end of the timer's last walk
    uint8_t retry = 0;
    Flight fly;
    uint8_t credit = 0;  // of takes that fell short
    Owed owed;
    uint32_t rcvdl = 0;  // rcvd_bytes of the newest SACK
    uint8_t mprv = 0;    // newest MPR told
    // From QP_CTX.
    uint8_t timeout = 0, mtu = 0, dest = 0;
    RetryLimits limits;
    bool cc = false, ts = false, dyn_mpr = false;

    bool outstanding() const { return una != nxt || msn_done != msn_sent; }
    /// Ticks of a step of the timer.
    uint32_t step() const { return retry_interval(timeout, retry, limits) / kTimerSteps; }
    /// True when the record of a PSN is there.
    bool owned(uint32_t psn) const {
      const uint32_t first = block_psn(base);
      return held && psn_dist(psn, first) < psn_dist(nxt, first);
    }
  };

  /// Row of `win`.
  struct WinBlock {
    BlockRow psns;
    BlockAges ages;
  };

  /// Row of `recs`.
  struct Sent {
    uint16_t msn = 0, row = 0;
    uint16_t ev_idx = 0;
    uint32_t idx = 0;
    uint16_t size = 0;
    bool rtx = false;
  };

  /// QPs, each at most once; pop and push in one cycle always work.
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

  /// What Record does in this cycle.
  enum class Recording : uint8_t { No, Begin, Go };

  Qp& qp(unsigned index) { return qps_[index & qp_mask_]; }
  const Qp& qp(unsigned index) const { return qps_[index & qp_mask_]; }
  void read_map(unsigned qp, uint32_t block) { map_.read(map_row(qp, block)); }
  std::size_t map_row(unsigned qp, uint32_t block) const {
    return std::size_t{qp & qp_mask_} * qp_blocks_ + (block & (qp_blocks_ - 1));
  }
  static std::size_t recs_row(unsigned n, uint32_t psn) { return std::size_t{n} * kBlockPsns + psn % kBlockPsns; }

  void enlist(Qp& q, uint16_t index) {
    if (!q.rtx) list_.push(index);
    q.rtx = true;
  }
  /// *reclaim*
  void reclaim_later(Qp& q, uint16_t index) {
    if (!q.held || q.inq) return;
    rq_.push(index);
    q.inq = true;
  }
  void restart(Qp& q) const {
    q.start = tick_;
    q.marks.restart(q.nxt);
  }
  void progress(Qp& q) const {
    q.retry = 0;
    restart(q);
  }

  /// Tells the controller; ccev must be free.
  void tell(const Qp& q, CcEvent kind, uint32_t bytes, uint8_t reason = 0);
  /// *Give back*: what the QP has in flight will not be heard of any more. ccev must be free.
  void give_back(Qp& q);
  /// The QP is over: gives back its bytes, and its blocks as soon as it can. ccev must be free.
  void retire(Qp& q, uint16_t index);
  /// Ends a QP: its work requests complete with `status`, then Flushed. upd, qperr and ccev must be free.
  void fail(Qp& q, uint16_t index, CqStatus status);
  /// The round-trip sample of ctl_, if its packet gives one.
  bool rtt_valid(const Qp& q, bool rtx, const CsrOut& csr) const { return q.ts && (!rtx || csr.rtt_rtx); }
  uint16_t rtt(const CsrOut& csr) const { return ticks_since(ctl_.ts, tick_, csr.tsr_us); }

  bool for_record() const;
  Recording recording() const;
  void record(bool begins);
  bool cfg_due(const CfgBus& cfg) const;
  bool configure(const CfgBus& cfg);
  void idle(const CfgBus& cfg);
  void take_rec();
  void take_ctl();
  void take_retx();
  void visit();
  void rec();
  void reclaim();
  void ctl0();
  void ctl1(const CsrOut& csr);
  void sack_block(const CsrOut& csr);
  void done(const CsrOut& csr);
  void acknowledge(Qp& q, bool sample, const CsrOut& csr);
  void same0();
  void same1();
  void nack(const CsrOut& csr);
  void semantic_ack();
  void retx0();
  void scan();
  void retx1();
  void order();
  void retx_wait();
  void rows_from(State state);
  bool rows_left(const Qp& q) const;
  void next_row(uint16_t qp);
  void told();
  void walk();
  void walk_end(Qp& q);

  const unsigned planes_, qp_mask_, qp_blocks_;  // qp_blocks_: B of the contract
  const In in_;
  const Out out_;

  Ram1r1w<uint16_t> map_;
  Ram1r1w<WinBlock> win_;
  Ram1r1w<Sent> recs_;
  Pool pool_;
  std::vector<Qp> qps_;
  List list_, rq_;
  RrArb arb_{5};
  State state_ = State::Idle;
  CfgAck ack_;
  Pulses pulses_, pulses_next_;
  Recording recording_ = Recording::No;

  uint32_t tick_ = 0;  // of this cycle
  bool state_silent_ = false;
  unsigned div_ = 0;
  bool visit_due_ = false;
  bool hold_ = false;  // a retransmission was refused a moment ago
  unsigned visit_qp_ = 0;

  // What an operation keeps from one state to the next.
  Rec rec_{};
  Ctl ctl_{};
  uint16_t op_qp_ = 0;
  uint32_t w_ = 0, z_ = 0;  // numbers of the block that is looked at, and of the last one
  unsigned n_ = 0;          // pool's number of block w
  uint32_t lim_ = 0;        // nxt when the operation began: PSNs that have a row for sure
  // SACK.
  uint32_t una_keep_ = 0, hi_keep_ = 0, knows_ = 0;
  bool own_ = false, no_blocks_ = false;
  uint16_t ev_idx_keep_ = 0;
  bool rtx_keep_ = false;
  bool any_ = false;
  uint32_t first_ = 0;
  unsigned canc_ = 0;
  // Retransmission.
  unsigned steps_ = 0;
  uint32_t p_ = 0;
  LossNews news_;        // of it
  bool dup_ = false;     // the newest packet again, for its ACK
  WinBlock row_keep_{};  // before p was taken off
  // Timer.
  bool old_ = false, seen_ = false, spared_ = false;
  uint32_t low_ = 0;  // if seen_
};

}  // namespace mrc

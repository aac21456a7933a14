// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/pool.hpp"
#include "pipeline/lib/ram.hpp"
#include "pipeline/lib/stream.hpp"
#include "protocol/segment.hpp"

namespace mrc {

/// Holds the work requests of all QPs until they complete, cuts them into packets, retransmits packets on order of
/// tx_inflight, and completes work requests. Contract: docs/design/blocks/tx/segment/tx_segment.md. A grant is a burst,
/// one packet per cycle; a QP with congestion control asks once per burst, and gives back what it has not used.
///
/// Machines side by side (cfg, Intake, Progress, Fetch, Emit) read all registers as of this cycle: what one of them
/// writes goes through set() and shows after clock(). Of two values for one register the later set() counts.
class TxSegment {
 public:
  /// Streams in.
  struct In {
    Fifo<Wqe>& wqe;      ///< from the host
    Fifo<Grant>& grant;  ///< from tx_sched
    Stream<Retx>& retx;  ///< from tx_inflight
    Stream<Upd>& upd;    ///< from tx_inflight
    Stream<Ccans>& ans;  ///< from cc_nscc, to req
  };
  /// Streams out.
  struct Out {
    Stream<Pkt>& pkt;      ///< to tx_path
    Stream<Sched>& push;   ///< to tx_sched
    Stream<Grant>& park;   ///< to tx_sched
    Stream<Ccreq>& req;    ///< to cc_nscc
    Stream<Ccret>& ret;    ///< to cc_nscc
    Fifo<Cqe>& cqe;        ///< to the host: cq_mux's input FIFO
    Stream<Qperr>& qperr;  ///< to csr
  };

  TxSegment(const Preset& preset, const In& in, const Out& out);

  /// Register: an order of retransmission has become a packet, or nothing.
  bool order_done() const { return order_done_; }
  /// Level sends: the QP has something to send, and its turn will come.
  bool sends(unsigned index) const {
    const Qp& q = qps_[index & qp_mask_];
    return q.active != 0 && q.parked == 0;
  }
  /// Output cqe: the head of `cq`.
  bool cqe_valid() const { return cq_.valid(); }
  bool cqe_ready() const { return out_.cqe.ready(); }
  const Cqe& cqe() const { return cq_.head(); }

  bool cfg_ack() const { return ack_.value(); }
  /// freed: pulse freed_q of tx_inflight.
  void step(const CfgBus& cfg, const CsrOut& csr, bool freed);
  void clock();

 private:
  static constexpr unsigned kCq = 4, kRows = 8;  // depths of cq, rows

  /// Registers of a QP.
  struct Qp {
    // Written by cfg.
    uint32_t mtu = 0, mpr_max = 0, profile = 0, max_wimm = 0, dest = 0, ts = 0, cc = 0;
    // By Intake: MSN of the next WQE, next RQMSN, WRITEs with immediate taken, the empty row.
    uint32_t tail = 0, rqmsn = 0, win = 0, erow = 0;
    // By Emit: MSN being segmented, its row, next packet of it, next PSN, WRITEs with immediate of which a packet was
    // sent.
    uint32_t head = 0, hrow = 0, idx = 0, psn = 0, wsent = 0;
    // By Progress: oldest incomplete MSN, its row, oldest unacknowledged PSN, window, immediates completed.
    uint32_t una_msn = 0, urow = 0, una = 0, mpr = 0, wout = 0;
    // By several.
    uint32_t state = 0;   // QpState
    uint32_t active = 0;  // in tx_sched, or on its way there or back
    uint32_t parked = 0;  // with active: the controller has refused it, it waits to be woken
    uint32_t failed = 0;  // over until QP_CTX
    uint32_t fresh = 0;   // nothing sent since QP_CTX
    uint32_t held = 0;    // message head has an immediate, and max_wimm of them are on their way
    uint32_t known = 0;   // owns an empty row

    bool rts() const { return static_cast<QpState>(state) == QpState::Rts; }
    uint16_t works() const { return static_cast<uint16_t>(tail - una_msn); }  // WQEs
  };

  /// A work request in its row of the pool.
  struct WorkRow {
    WriteRequest message;
    PoolRow next = 0;  ///< row of the next one of its QP
  };

  /// What completes a work request needs.
  struct DoneRow {
    uint32_t wr_id = 0, length = 0;
    bool imm_valid = false;
    PoolRow next = 0;
  };

  /// Completion work.
  struct Done {
    bool busy = false;
    QpIndex qp = 0;
    uint16_t msn = 0;
    uint8_t syndrome = 0;
    bool flush = false;   // of a failed QP: all that is left
    bool silent = false;  // of a QP that is set up again: all rows, no completions
  };

  /// Complete: a work request that is done, its row on the way from the memory.
  struct C1 {
    bool valid = false, silent = false;
    QpIndex qp = 0;
    uint16_t msn = 0;
    PoolRow row = 0;
    CqStatus status = CqStatus::Ok;
  };

  /// A row fetched for Emit.
  struct Row {
    bool retx = false, first = false, end = false;
    bool empty = false;  // the QP had nothing to send when it was granted
    bool dead = false;   // the burst may not begin
    bool ts = false, cc = false;
    uint8_t mtu = 0;
    uint16_t dest = 0;
    QpIndex qp = 0;
    PoolRow number = 0;
    Retx order{};
    WorkRow work{};
  };

  Qp& qp(unsigned index) { return qps_[index & qp_mask_]; }
  bool same_qp(unsigned a, unsigned b) const { return ((a ^ b) & qp_mask_) == 0; }
  void set(uint32_t& reg, uint32_t value) { writes_.push_back({&reg, value}); }
  void set_state(Qp& q, QpState state) { set(q.state, static_cast<uint32_t>(state)); }
  bool can_send(const Qp& q) const;
  bool still_active(const Qp& q) const { return q.active != 0 && &q != cleared_; }
  void activate(Qp& q, QpIndex index);

  bool configure(const CfgBus& cfg);
  void set_up(Qp& q, const CfgBus& cfg);
  bool room(const Qp& q) const;
  static CqStatus refusal(const Qp& q, const Wqe& w, const CsrOut& csr);
  void intake(const CsrOut& csr);
  void refuse(const Wqe& w, CqStatus status, const CsrOut& csr);
  void progress();
  bool complete();
  void issue();
  void take_upd();

  void fetch(const CsrOut& csr);
  void leave_f1(const CsrOut& csr);
  void enter_f1(QpIndex index, Row r);
  uint16_t first_size(const Row& r, const Qp& q, const CsrOut& csr) const;
  void emit(const CsrOut& csr);
  void retransmit(const Row& r);
  bool over(const Row& r) const;
  bool over_for_now(const Row& r) const;
  void begin(const Row& r, const CsrOut& csr);
  void send(const Row& r, const CsrOut& csr);
  bool has_block(const Qp& q, bool begins) const;
  void end(const Row& r, bool more);
  void leave(const Row& r, bool more);
  void serve_go();

  const unsigned qp_mask_, num_qps_, num_wqes_, wqe_depth_, blocks_;
  const In in_;
  const Out out_;

  struct Write {
    uint32_t* reg;
    uint32_t value;
  };
  std::vector<Write> writes_;  // of this cycle

  Ram1r1w<WorkRow> work_;
  Ram1r1w<DoneRow> done_rows_;
  Pool pool_;
  std::vector<Qp> qps_;
  CfgAck ack_;
  Fifo<Cqe> cq_;
  Fifo<Grant> go_;

  // Progress.
  Done done_, done_next_;
  bool order_done_ = false, order_done_next_ = false;
  C1 c1_, c1_next_;

  // Fetch. Only it looks at these, but at f_busy_.
  Row f1_;
  bool f1_valid_ = false;
  uint32_t f_busy_ = 0, f_left_ = 0;
  QpIndex f_qp_ = 0;
  PoolRow f_row_ = 0;
  Fifo<Row> rows_;
  Row again_, again_next_;  // an order of retransmission, whose row is there
  bool again_valid_ = false, again_valid_next_ = false;
  Ccreq waits_{};  // until req is free
  bool waits_valid_ = false, waits_valid_next_ = false;

  // Emit alone: the burst.
  bool on_ = false, lastf_ = false;
  unsigned used_n_ = 0, used_b_ = 0;
  uint16_t ar_gap_ = 0, ar_gap_next_ = 0;
  uint32_t left_ = 0;
  uint32_t credit_;
  bool turn_ = false;  // QPs of go are next

  // Within a cycle.
  const Qp* cleared_ = nullptr;  // whose `active` Emit clears
  bool pushed_ = false;          // Emit loads push
  bool began_ = false;           // Emit has begun a block
  bool orders_ = false;          // orders of retransmission are there, or on their way to Emit
  bool go_pushed_ = false, done_loaded_ = false, upd_popped_ = false;
  QpIndex upd_qp_ = 0;
};

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/tx/inflight/tx_inflight_blocks.hpp"
#include "pipeline/tx/inflight/tx_inflight_pkg.hpp"
#include "pipeline/tx/inflight/tx_inflight_report.hpp"
#include "util/check.hpp"

namespace mrc::inflight {

/// QPs, each at most once; pop and push in one cycle always work.
class List {
 public:
  explicit List(unsigned num_qps) : mem_(size_t{2} * num_qps), mask_(2 * num_qps - 1) {}
  bool empty() const { return rd_ == wr_; }
  QpIndex head() const { return mem_[rd_ & mask_]; }
  void pop() {
    MRC_CHECK(!empty(), "an empty list is popped");
    ++rd_;
  }
  void push(QpIndex qp) {
    MRC_CHECK(wr_ - rd_ < mem_.size() / 2, "a QP is in a list twice");
    mem_[wr_++ & mask_] = qp;
  }

 private:
  std::vector<QpIndex> mem_;
  unsigned mask_, rd_ = 0, wr_ = 0;
};

/// What is known of the QPs, the lists they are in, a row of QP_CTX, the end of a QP, and Reclaim: the blocks that it
/// gives back. Twin of mrc_tx_inflight_qps.
class Qps {
 public:
  Qps(const Preset& preset, Now& now, Blocks& blocks, Report& report)
      : list(preset.num_qps),
        rq(preset.num_qps),
        mask_(preset.num_qps - 1),
        qps_(preset.num_qps),
        now_(now),
        blocks_(blocks),
        report_(report) {}

  Qp& operator[](unsigned index) { return qps_[index & mask_]; }
  const Qp& operator[](unsigned index) const { return qps_[index & mask_]; }
  unsigned mask() const { return mask_; }
  bool same(unsigned a, unsigned b) const { return ((a ^ b) & mask_) == 0; }
  /// The answer names a PSN of the packet's block.
  bool about(const Ctl& answer, const Rec& packet) const {
    return same(answer.qp, packet.qp) && psn_block(answer.psn) == psn_block(packet.psn);
  }

  /// The QP has something to send again.
  void enlist(Qp& q, QpIndex index) {
    if (!q.rtx) list.push(index);
    q.rtx = true;
  }
  /// That is a loss of which its controller does not know yet.
  void enlist_lost(Qp& q, QpIndex index) {
    enlist(q, index);
    q.stays = true;
  }
  /// *reclaim*
  void reclaim_later(Qp& q, QpIndex index) {
    if (!q.held || q.inq) return;
    rq.push(index);
    q.inq = true;
  }
  /// The QP is over: gives back its bytes, and its blocks as soon as it can. ccev must be free.
  void retire(Qp& q, QpIndex index) {
    q.live = false;
    report_.give_back(q);
    reclaim_later(q, index);
  }
  /// *Fail*. upd, qperr and ccev must be free.
  void fail(Qp& q, QpIndex index, CqStatus status) {
    MRC_CHECK(q.live, "a QP fails that is over");
    report_.failed(q, index, status);
    retire(q, index);
  }

  /// QP_CTX: its QP begins anew. ccev must be free; the QP holds no blocks.
  void begin(Qp& q, const CfgBus& cfg);
  /// State Reclaim.
  void reclaim();

  List list;  ///< with something to send again
  List rq;    ///< with blocks to give back

 private:
  const unsigned mask_;
  std::vector<Qp> qps_;
  Now& now_;
  Blocks& blocks_;
  Report& report_;
};

}  // namespace mrc::inflight

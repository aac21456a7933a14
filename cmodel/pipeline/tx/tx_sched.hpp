// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/csr.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/stream.hpp"
#include "util/check.hpp"

namespace mrc {

/// Queue of QPs that may send, and a waiting list per destination of the QPs whose congestion window was full.
/// Contract: docs/design/blocks/tx/tx_sched.md. One operation per cycle. A QP is in the queue or in a
/// list at most once: tx_segment sees to that.
class TxSched {
 public:
  /// push, park: from tx_segment; resume: from cc_nscc; grant: tx_segment's input FIFO.
  TxSched(const Preset& preset, Stream<Sched>& push, Stream<Grant>& park, Stream<Ccresume>& resume, Fifo<Grant>& grant)
      : qp_mask_(preset.num_qps - 1),
        dest_mask_(preset.num_dests - 1),
        push_(push),
        park_(park),
        resume_(resume),
        grant_(grant),
        run_(preset.num_qps),
        dest_(preset.num_qps),
        next_(preset.num_qps),
        lists_(preset.num_dests) {}

  /// Output grant: the head of the queue.
  bool grant_valid() const { return run_.valid(); }
  bool grant_ready() const { return grant_.ready(); }
  const Grant& grant() const { return run_.head(); }

  bool cfg_ack() const { return ack_.value(); }
  void step(const CfgBus& cfg) {
    ack_.begin(cfg);
    if (run_.valid() && grant_.ready()) {
      grant_.push(run_.head());
      run_.pop();
    }
    if (ack_.pending(cfg)) {
      configure(cfg);
    } else if (park_.has()) {
      take_park();
    } else if (resume_.has()) {
      take_resume();
    } else if (push_.has()) {
      take_push();
    }
  }
  void clock() {
    run_.clock();
    ack_.clock();
  }

 private:
  /// QPs of one destination that wait for room in its window, linked by next_.
  struct List {
    bool some = false;   ///< the list is not empty
    bool woken = false;  ///< a resume found nobody: the refusal that it answers is still on its way
    QpIndex head = 0, tail = 0;
  };

  List& list_of(unsigned qp) { return lists_[dest_[qp & qp_mask_] & dest_mask_]; }
  void run(unsigned qp) { run_.push({.qp = static_cast<QpIndex>(qp & qp_mask_)}); }

  void configure(const CfgBus& cfg) {
    if (cfg.is(CfgTable::QpCtx)) dest_[cfg.index & qp_mask_] = csr::TblQpCtx::unpack(cfg.data.data()).dest;
    ack_.done();
  }

  /// A refused QP is the first to be woken.
  void take_park() {
    const QpIndex qp = park_.head().qp;
    park_.pop();
    List& c = list_of(qp);
    MRC_CHECK(!c.some || !c.woken, "a destination was woken with nobody there, and somebody waits");
    if (c.woken) {
      c.woken = false;
      run(qp);
      return;
    }
    const auto index = static_cast<QpIndex>(qp & qp_mask_);
    next_[index] = c.head;
    c.head = index;
    if (!c.some) c.tail = index;
    c.some = true;
  }

  void take_resume() {
    List& c = lists_[resume_.head().cc & dest_mask_];
    resume_.pop();
    if (c.some) {
      resume_first(c);
    } else {
      c.woken = true;
    }
  }

  /// Whoever has just sent lets the others of its destination ask first.
  void take_push() {
    const Sched p = push_.head();
    push_.pop();
    List& c = list_of(p.qp);
    if (!c.some) {
      if (p.more) run(p.qp);
      return;
    }
    const QpIndex first = c.head;
    if (p.more) {
      const auto index = static_cast<QpIndex>(p.qp & qp_mask_);
      next_[c.tail] = index;  // when the list has one entry, `first` is its tail and index becomes its head
      c.tail = index;
      c.head = next_[first];
      run(first);
    } else {
      resume_first(c);
    }
  }

  /// *Take*.
  void resume_first(List& c) {
    MRC_CHECK(c.some, "a QP is taken from an empty list");
    run(c.head);
    if (c.head == c.tail) {
      c.some = false;
    } else {
      c.head = next_[c.head];
    }
  }

  const unsigned qp_mask_, dest_mask_;
  Stream<Sched>& push_;
  Stream<Grant>& park_;
  Stream<Ccresume>& resume_;
  Fifo<Grant>& grant_;

  Fifo<Grant> run_;
  std::vector<uint16_t> dest_;
  std::vector<QpIndex> next_;
  std::vector<List> lists_;
  CfgAck ack_;
};

}  // namespace mrc

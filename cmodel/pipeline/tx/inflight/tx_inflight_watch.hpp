// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/lib/stream.hpp"
#include "util/check.hpp"

namespace mrc::inflight {

/// *Who is visited*: QPs that may be busy, one after the other. Who becomes busy comes by a FIFO of its own; who is
/// visited and stays goes behind the others.
class Watch {
 public:
  explicit Watch(unsigned num_qps) : watched_(num_qps), come_(num_qps), ring_(num_qps), mask_(num_qps - 1) {}

  /// There is a QP to visit, and which.
  bool on() const { return on_; }
  unsigned qp() const { return qp_; }
  /// QP `index` is on(), or will be.
  bool watches(unsigned index) const { return watched_[index & mask_]; }
  std::size_t count() const { return count_; }
  /// In the cycle that has just ended a QP became one of them (entered()), or the one that was visited is none any
  /// more.
  bool has_entered() const { return enters_; }
  unsigned entered() const { return recorded_; }
  bool has_left() const { return leaves_; }

  /// In this cycle *Visit* is of qp(). stays: it has something open, or will have.
  void visit(bool stays) {
    MRC_CHECK(on_ && watched_[qp_], "a QP is visited that nobody watches");
    visit_ = true;
    stays_ = stays;
  }
  /// In this cycle Record is of QP `index`.
  void record(unsigned index) {
    recorded_ = index & mask_;
    record_ = true;
  }
  /// The end of the cycle.
  void clock() {
    enters_ = leaves_ = false;
    if (record_) begin(recorded_);
    if (visit_) {
      back();
    } else if (come_.valid()) {
      ring_.push(come_.head());
      come_.pop();
    }
    if (visit_ || !on_) next();
    visit_ = record_ = false;
    come_.clock();
    ring_.clock();
    MRC_CHECK(come_.count() + ring_.count() + on_ == count_, "a QP that is watched is nowhere, or twice");
  }
  /// All who are watched, in the order of their visits.
  std::vector<QpIndex> all() const {
    std::vector<QpIndex> found;
    if (on_) found.push_back(qp_);
    for (std::size_t i = 0; i < ring_.count(); ++i) found.push_back(ring_.at(i));
    for (std::size_t i = 0; i < come_.count(); ++i) found.push_back(come_.at(i));
    return found;
  }

 private:
  /// Something of the QP has been sent.
  void begin(unsigned index) {
    if (watched_[index]) return;
    watched_[index] = true;
    enters_ = true;
    ++count_;
    come_.push(static_cast<QpIndex>(index));
  }
  /// The QP that is visited goes behind the others, or leaves.
  void back() {
    if (stays_ || (record_ && recorded_ == qp_)) {
      ring_.push(qp_);
    } else {
      watched_[qp_] = false;
      leaves_ = true;
      --count_;
    }
  }
  void next() {
    on_ = ring_.valid();
    if (!on_) return;
    qp_ = ring_.head();
    ring_.pop();
  }

  std::vector<bool> watched_;
  Fifo<QpIndex> come_, ring_;
  const unsigned mask_;
  bool on_ = false;
  QpIndex qp_ = 0;
  std::size_t count_ = 0;                                // of watched_
  bool visit_ = false, stays_ = false, record_ = false;  // in this cycle
  unsigned recorded_ = 0;
  bool enters_ = false, leaves_ = false;  // in the cycle before
};

}  // namespace mrc::inflight

// SPDX-License-Identifier: Apache-2.0
/// What software knows of the NIC's interrupts, held against pin irq and against QP_INFO. No model has a part in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gen/csr.hpp"

namespace mrc::tb {

/// Nobody else writes IRQ and IRQ_ENABLE, and one register access ends before the next begins. What the calls return is
/// what is wrong, "" if nothing.
class Interrupts {
 public:
  explicit Interrupts(unsigned qps) : fine_(qps, true) {}

  /// Pin irq of a cycle, before the accesses that end in it.
  bool stray(bool pin) const { return pin && !may_; }
  /// IRQ_ENABLE is about to be written.
  void enabling(uint32_t mask) { may_ = may_ || mask != 0; }
  /// That write has been answered: the next cycle is the first in which it counts for the pin.
  void enabled(uint32_t mask) {
    mask_ = mask;
    may_ = mask != 0;
  }
  /// A write of IRQ has been answered.
  void cleared(uint32_t mask) {
    if (csr::kIrqQpErr.get(mask) == 0) return;
    fine_.assign(fine_.size(), false);
    owed_ = -1;
  }
  /// IRQ is about to be read.
  void looks(bool pin) { was_up_ = pin; }
  /// IRQ has been read, and pin irq of this cycle.
  std::string seen(uint32_t irq, bool pin);
  /// QP_INFO of a QP has been read: IRQ must tell of an error that was not there when software looked last, unless it
  /// has cleared that since.
  void info(unsigned qp, uint32_t info);
  /// Bits of IRQ that have been read as 1.
  uint32_t all_seen() const { return all_seen_; }

 private:
  bool may_ = false;     // the pin may be up
  bool was_up_ = false;  // it was, when the read of IRQ began
  uint32_t mask_ = 0;    // IRQ_ENABLE
  uint32_t all_seen_ = 0;
  std::vector<bool> fine_;  // of QPs: not failed when QP_INFO was read, and IRQ.qp_err not cleared since
  int owed_ = -1;           // QP that has failed: IRQ.qp_err is 1
};

}  // namespace mrc::tb

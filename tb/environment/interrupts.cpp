// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/interrupts.hpp"

#include <fmt/format.h>

#include <utility>

#include "gen/streams.hpp"

namespace mrc::tb {

// Only software clears bits of IRQ, or takes the events that hold one up: between two accesses they can only be set.
std::string Interrupts::seen(uint32_t irq, bool pin) {
  all_seen_ |= irq;
  const int owed = std::exchange(owed_, -1);
  if ((irq & mask_) != 0 && !pin) return fmt::format("pin irq is down, IRQ is {:#x}, IRQ_ENABLE {:#x}", irq, mask_);
  if ((irq & mask_) == 0 && was_up_) return fmt::format("pin irq was up, IRQ is {:#x}, IRQ_ENABLE {:#x}", irq, mask_);
  if (owed >= 0 && csr::kIrqQpErr.get(irq) == 0) return fmt::format("QP {} has failed, IRQ is {:#x}", owed, irq);
  return {};
}

void Interrupts::info(unsigned qp, uint32_t info) {
  // An error without a status is software's own.
  const bool failed =
      csr::kQpInfoState.get(info) == static_cast<uint32_t>(QpState::Error) && csr::kQpInfoStatus.get(info) != 0;
  if (failed && fine_[qp]) owed_ = static_cast<int>(qp);
  fine_[qp] = !failed;
}

}  // namespace mrc::tb

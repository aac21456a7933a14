// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/fences.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mrc::tb {

std::string Fences::seen(uint32_t fence, uint64_t cycle) {
  const bool busy = csr::kFenceBusy.get(fence) != 0;
  const unsigned ports = csr::kFenceTx.get(fence) | csr::kFenceRx.get(fence);
  if ((!busy && fence != 0) || (ports & ~planes_) != 0 || (busy && !open_))
    return fmt::format("FENCE reads {:#x}", fence);
  if (busy || !open_) return {};
  open_ = false;
  ++ended_;
  longest_ = std::max(longest_, cycle - since_);
  for (unsigned p = 0; p < kMaxPlanes; ++p) {
    if (answered_[p] < due_[p])
      return fmt::format("a fence has ended, and {} lines for plane {} have not come that were asked for before it",
                         due_[p] - answered_[p], p);
  }
  return {};
}

}  // namespace mrc::tb

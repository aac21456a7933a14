// SPDX-License-Identifier: Apache-2.0
/// From the end of a step back to its begin: which operation waited for which, and what messages on that way took more
/// than in an ideal fabric.
#pragma once

#include <string>
#include <vector>

#include "sim/job/ideal.hpp"

namespace mrc::sim {

/// A message that the end of a step waited for.
struct LateMessage {
  uint32_t from = 0, to = 0;  ///< ranks
  uint64_t bytes = 0;
  Time begin = 0, end = 0;  ///< sent until there
  Time ideal = 0;           ///< what that takes in an ideal fabric
  Time over() const { return end - begin > ideal ? end - begin - ideal : 0; }
  std::vector<std::string> reported{};  ///< what was lost of it, and failures while it was under way
};

struct WaitChain {
  uint32_t step = 0, rank = 0;  ///< the rank that ended it
  uint64_t messages = 0, computations = 0;
  Time computed = 0;                 ///< in them
  Time under_way = 0, ideal = 0;     ///< messages, and what they take in an ideal fabric
  std::vector<LateMessage> slowest;  ///< the most over the ideal first, kMost at most
  static constexpr size_t kMost = 5;
};

/// Of the step that `executor` has kept, which this rank has ended last.
WaitChain chain_of(const Executor& executor, uint32_t step, uint32_t rank, const IdealNetwork& network);

}  // namespace mrc::sim

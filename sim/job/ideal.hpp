// SPDX-License-Identifier: Apache-2.0
/// What a schedule takes in an ideal fabric: a NIC sends and receives at its rate, in turns among those that it has
/// something for, or from, and nothing else is in anybody's way.
#pragma once

#include <functional>

#include "sim/job/executor.hpp"

namespace mrc::sim {

/// A message between two ranks with nothing in its way.
struct IdealMessage {
  Time wire;         ///< keeps its sender busy, and its receiver
  Time arrives;      ///< from post until the receiver knows; not less than wire
  Time known;        ///< from then until the sender knows
  Time answers = 0;  ///< what answers to it take of its receiver's time to send, spread over it
};
using IdealNetwork = std::function<IdealMessage(uint32_t from, uint32_t to, uint64_t bytes)>;

struct IdealResult {
  std::vector<Time> marks;  ///< each step: when the last rank ended it
  Time end = 0;
  uint64_t messages = 0, bytes = 0;
  Executor::Problem problem;  ///< what is wrong with the schedule itself; text empty: nothing
};

/// Ranks begin at time 0. `poll` is called now and then; what it throws ends this. Of steps that are all alike some are
/// gone through: when all ranks compute, no message is under way, and everything is as one step ago, the rest follows.
IdealResult run_ideal(const Schedule& schedule, const IdealNetwork& network, uint32_t ahead = Executor::kAhead,
                      const std::function<void()>& poll = {});

}  // namespace mrc::sim

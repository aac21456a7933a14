// SPDX-License-Identifier: Apache-2.0
/// Jobs of the field, made step by step: compute, and collectives in groups of ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/job/schedule.hpp"

namespace mrc::sim {

enum class Collective : uint8_t { None, Ring, Tree, Hierarchical, AllToAll, Pipeline };
/// Which ranks do it together: see JobShape.
enum class Over : uint8_t { All, Tensor, Data, Expert, Pipeline };

/// Ranks are numbered tensor first, then data, then pipeline: rank = (p * data + d) * tensor + t. A group has those
/// that differ in one of the three alone; of `expert` neighbours in `data` is an expert group.
struct JobShape {
  uint32_t tensor = 1, data = 1, pipeline = 1, expert = 1;
  uint32_t ranks() const { return tensor * data * pipeline; }
};

/// Some of a job's ranks: base, base + stride, ...; one of them is `index`.
struct RankGroup {
  uint32_t base = 0, stride = 1, count = 1, index = 0;
  uint32_t rank(uint32_t i) const { return base + i % count * stride; }
};
RankGroup group_of(const JobShape& shape, Over over, uint32_t rank);

/// A part of each step.
struct Phase {
  Time compute = 0;   ///< before and beside its collective
  double jitter = 0;  ///< each piece of it takes up to that share longer, at random
  Collective collective = Collective::None;
  Over over = Over::All;
  uint64_t bytes = 0;     ///< of the vector; AllToAll: from each to each other, on average; Pipeline: of a micro-batch
  uint32_t buckets = 1;   ///< of equal size: each begins when its share of the compute is done; Pipeline: micro-batches
  uint32_t local = 8;     ///< Hierarchical: ranks that are near each other
  uint32_t pieces = 8;    ///< Tree: follow each other through it
  uint32_t window = 128;  ///< AllToAll: messages that a rank has under way
  double skew = 0;        ///< AllToAll: exponent of Zipf's law for who is sent how much; 0: all the same
};

struct JobPlan {
  JobShape shape;
  uint32_t steps = 1;
  std::vector<Phase> phases;
  uint64_t seed = 1;
};

std::unique_ptr<Schedule> make_schedule(const JobPlan& plan);

}  // namespace mrc::sim

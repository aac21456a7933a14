// SPDX-License-Identifier: Apache-2.0
/// Schedules that have been read from traces: on a disk, of which ranks read what they need.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/job/schedule.hpp"

namespace mrc::sim {

struct StoredOp {
  Op::Kind kind = Op::Kind::Calc;
  uint8_t cpu = 0;
  uint32_t peer = 0, tag = 0, line = 0;
  uint64_t amount = 0;
};
/// Operation `op` waits for `before`: numbers in the order of the trace.
struct StoredNeed {
  uint32_t op, before, line;
  bool begin;  ///< for its begin alone
};
/// Of a rank.
inline constexpr uint64_t kMostStoredOps = 20'000'000;

class StoredSchedule final : public Schedule {
 public:
  /// Throws InputError: no room on that disk; so do add() and written().
  StoredSchedule();
  ~StoredSchedule() override;

  void set_ranks(uint32_t ranks) { list_.resize(ranks); }
  /// A rank is complete: its operations in an order in which none waits for a later one, the trace's where possible.
  /// Sorts `needs`. Gives the line of an operation that waits for itself, by others, if there is one.
  std::optional<uint32_t> add(uint32_t rank, const std::vector<StoredOp>& ops, std::vector<StoredNeed>& needs);
  /// All ranks are complete.
  void written();

  uint32_t ranks() const override { return static_cast<uint32_t>(list_.size()); }
  uint32_t steps() const override { return 0; }
  void peers(uint32_t rank, std::vector<uint32_t>& to) const override;
  std::unique_ptr<Stream> open_at(uint32_t rank, uint32_t step) const override;

  class Store;

 private:
  struct Rank {
    uint64_t begin = 0, end = 0;  // in the store
    std::vector<uint32_t> peers;
  };
  std::unique_ptr<Store> store_;
  std::vector<Rank> list_;
};

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/ev_set.hpp"
#include "sim/engine/endpoint.hpp"

namespace mrc::sim {

/// Entropy values of one QP: their states, the walk that gives one to each packet, what feedback does to them
/// (docs/design/blocks/tx/tx_path.md). The rules are those of protocol/ev_set.hpp.
///
/// EV index = group * planes + plane. Groups: the active set, the backup set, then denied ones up to a power of two.
class EvSet {
 public:
  /// False: `why` says why not.
  bool init(const QpSpec& spec, uint32_t seed, std::string& why);

  /// A packet on its way through the set. Keeps its place while the packet waits for a lane.
  struct Walk {
    uint16_t group, lfsr, avoid, restored_idx, spare_idx;
    uint8_t used, barred;  ///< barred: the plane that has lost the packet, if there is another one
    EvSpare spare;
    bool whole, restored, avoid_on;
    bool copy = false;  ///< it makes do with what is in use
  };
  enum class Found : uint8_t { Ev, Busy, NoPath };

  Walk begin(bool retransmission, uint16_t avoid, unsigned barred = 0) const {
    return {group_,
            lfsr_,
            avoid,
            0,
            0,
            used_,
            static_cast<uint8_t>(barred),
            EvSpare::None,
            ev_walk_whole(group_, used_),
            false,
            retransmission};
  }
  /// up: planes that can be used; room: planes whose lane takes a packet; bad: an EV that is bad serves when no other
  /// does. Busy: come again with the same walk.
  Found walk(Walk& w, unsigned up, unsigned room, const EvSkipping& skip, bool bad, uint16_t& ev_idx);

  enum class Change : uint8_t { None, Skip, Bad, Floor, Revived };
  /// Feedback. `up` as above.
  Change feedback(unsigned ev_idx, FbKind kind, uint32_t entropy, unsigned up, unsigned min_active,
                  const EvSkipping& skip);
  /// The controller's word. False: no such EV.
  bool deny(unsigned ev_idx, bool deny);

  uint32_t value(unsigned ev_idx) const { return values_[ev_idx]; }
  unsigned plane(unsigned ev_idx) const { return ev_idx & (planes_ - 1u); }
  unsigned planes() const { return planes_; }
  unsigned state(unsigned ev_idx) const { return ev_state(rows_[ev_idx / planes_], ev_idx % planes_); }
  /// States, and the first values: whoever has more finds them by himself.
  void fetch() const {
    __builtin_prefetch(rows_.data());
    for (size_t i = 0; i < values_.size() && i < 128; i += 16) __builtin_prefetch(&values_[i]);
  }
  unsigned size() const { return static_cast<unsigned>(values_.size()); }
  EvCounts counts() const;
  uint64_t memory() const { return rows_.capacity() * sizeof(EvRow) + values_.capacity() * sizeof(uint32_t); }

 private:
  void next_group(Walk& w) const;
  void keep(const Walk& w, unsigned used, unsigned up);
  /// Finds an EV of plane p in the backup set in one of two states, and gives it another.
  bool swap_backup(unsigned plane, bool to_use, unsigned except);

  std::vector<EvRow> rows_;
  std::vector<uint32_t> values_;
  uint16_t active_groups_ = 0, real_groups_ = 0, groups_ = 0;
  uint16_t group_ = 0, lfsr_ = 1, active_ = 0;
  uint8_t planes_ = 1, plane_bits_ = 0, used_ = 0;
};

}  // namespace mrc::sim

// SPDX-License-Identifier: Apache-2.0
/// Is the judge awake? Breaks a log in one place, in a way of which arithmetic on the log itself says that a rule is
/// broken, whatever the device does inside; the judge must name one. No simulator is needed: thousands a minute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "log/record.hpp"
#include "reference/profile.hpp"
#include "util/rng.hpp"

namespace mrc::ref {

/// One broken place of a log.
struct Mutant {
  const char* kind = "";  ///< "sack.cack", as kinds_of_mutants() lists them
  std::string what;       ///< "frame 12: cack_psn 5 becomes 17, which has not arrived"
  /// What stands at these records' places instead; none: the record is gone.
  struct Change {
    std::size_t index;
    std::vector<log::Record> instead;
  };
  std::vector<Change> changes;     ///< by index
  std::vector<log::Record> moved;  ///< besides, each at its time behind all records of that time
};

/// Draws mutants of one device's part of a log.
class Mutator {
 public:
  /// `records` in the order of time as the judge sees them, all of `device`; must outlive this.
  Mutator(const std::vector<log::Record>& records, uint32_t device, const Profile& profile);
  /// The next one; nothing when this kind finds no place in this log.
  std::optional<Mutant> draw(std::size_t kind, Rng& rng) const;

  static std::size_t num_kinds();
  static const char* kind_name(std::size_t kind);

  struct Index;  ///< what the records say, mutation.cpp

 private:
  const std::vector<log::Record>& records_;
  uint32_t device_;
  Profile profile_;
  std::shared_ptr<const Index> index_;
};

/// The log with the mutant in it.
std::vector<log::Record> apply(const std::vector<log::Record>& records, const Mutant& mutant);

/// The same log as a device shows it that shows less: events are erased, counters and completions of WRITEs in part,
/// and ports' clocks run apart by up to `skew` (each frame moves by a random time, no frame past another of its port,
/// and says how far its time may be wrong). A judge that is sound passes it.
std::vector<log::Record> blur(const std::vector<log::Record>& records, Time skew, Rng& rng);

}  // namespace mrc::ref

// SPDX-License-Identifier: Apache-2.0
/// Which bins of docs/reference/generated/bins.md a run has shown.
#pragma once

#include <bitset>
#include <cstddef>
#include <string>

#include "gen/bins.hpp"

namespace mrc::cover {

class Bins {
 public:
  /// One place per axis of the group, in their order.
  template <class... At>
  void hit(Group group, At... at) {
    const GroupInfo& info = kGroups[static_cast<std::size_t>(group)];
    std::size_t place = 0, axis = 0;
    ((place = place * info.sizes[axis++] + static_cast<std::size_t>(at)), ...);
    shown_.set(info.first + place);
  }
  void add(const Bins& other) { shown_ |= other.shown_; }
  void clear() { shown_.reset(); }
  bool has(std::size_t bin) const { return shown_.test(bin); }
  std::size_t count() const { return shown_.count(); }

  /// The table's digest, ":", and a hexadecimal digit per four bins; the first bin is the first digit's lowest bit.
  std::string to_text() const;

 private:
  std::bitset<kNumBins> shown_;
};

}  // namespace mrc::cover

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mrc {

/// Numbers that have been there, in memory of 8 to 16 bytes each. Looking one up takes a step or two.
class FlatSet {
 public:
  /// True: it is new.
  bool insert(uint32_t value) {
    if (value == 0) return !std::exchange(zero_, true);
    if (2 * (used_ + 1) > slots_.size()) grow();
    if (!put(value)) return false;
    ++used_;
    return true;
  }
  bool contains(uint32_t value) const {
    if (value == 0) return zero_;
    if (slots_.empty()) return false;
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = place(value);
    while (slots_[i] != 0 && slots_[i] != value) i = (i + 1) & mask;
    return slots_[i] == value;
  }
  bool empty() const { return size() == 0; }
  std::size_t size() const { return used_ + zero_; }
  std::size_t memory() const { return slots_.size() * sizeof(uint32_t); }

 private:
  std::size_t place(uint32_t value) const {
    constexpr uint32_t kSpread = 0x9E3779B1;  // 2^32 over the golden ratio
    return (value * kSpread >> 7) & (slots_.size() - 1);
  }
  bool put(uint32_t value) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = place(value);
    for (; slots_[i] != 0; i = (i + 1) & mask) {
      if (slots_[i] == value) return false;
    }
    slots_[i] = value;
    return true;
  }
  void grow() {
    const std::vector<uint32_t> before =
        std::exchange(slots_, std::vector<uint32_t>(slots_.empty() ? 16 : 2 * slots_.size()));
    for (const uint32_t value : before) {
      if (value != 0) put(value);
    }
  }

  std::vector<uint32_t> slots_;  ///< 0: nothing
  std::size_t used_ = 0;
  bool zero_ = false;
};

}  // namespace mrc

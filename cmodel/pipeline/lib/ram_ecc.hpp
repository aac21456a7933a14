// SPDX-License-Identifier: Apache-2.0
/// mrc_ram_ecc of docs/design/blocks/conventions.md, Memories with a code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gen/streams.hpp"
#include "pipeline/lib/ram.hpp"

namespace mrc {

/// A Ram1r1w whose rows know how many of their bits are wrong: the model keeps no code. Of a bad row it has the right
/// word, which nobody may look at. inject() is called in each cycle, with ECC_INJECT as blocks see it.
template <class T>
class RamEcc {
 public:
  RamEcc(std::size_t depth, bool code, EccMemory memory)
      : ram_(depth), code_(code), memory_(static_cast<uint16_t>(memory)) {}

  const T& rdata() const { return ram_.rdata().word; }
  bool fixed() const { return ram_.rdata().wrong == 1; }
  bool bad() const { return ram_.rdata().wrong == 2; }
  void read(std::size_t row) { ram_.read(row); }
  void write(std::size_t row, const T& word) {
    ram_.write(row, {word, arm_});
    if (!each_) arm_next_ = 0;
  }
  void inject(uint16_t value) {
    if (value == seen_ || !code_) return;
    seen_ = value;
    begins_ = true;
  }
  void clock() {
    ram_.clock();
    if (begins_) {
      const bool mine = (seen_ & 0xff) == memory_;
      arm_next_ = mine ? static_cast<uint8_t>(std::min(seen_ >> 8 & 3, 2)) : uint8_t{0};
      each_ = (seen_ >> 10 & 1) != 0;
      begins_ = false;
    }
    arm_ = arm_next_;
  }

 private:
  struct Row {
    T word{};
    uint8_t wrong = 0;  // bits
  };
  Ram1r1w<Row> ram_;
  const bool code_;
  const uint16_t memory_;
  uint16_t seen_ = 0;
  bool begins_ = false, each_ = false;
  uint8_t arm_ = 0, arm_next_ = 0;
};

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
/// Ticks of 128 ns (docs/design/blocks/conventions.md, "Ticks").
#pragma once

#include "gen/presets.hpp"

namespace mrc {

/// mrc_tick: tick_parts ticks in tick_cycles cycles.
class Ticks {
 public:
  explicit Ticks(const Preset& preset) : cycles_(preset.tick_cycles), parts_(preset.tick_parts) {}

  /// Once per cycle: whether a tick ends with it.
  bool cycle() {
    acc_ += parts_;
    if (acc_ < cycles_) return false;
    acc_ -= cycles_;
    return true;
  }

 private:
  const unsigned cycles_, parts_;
  unsigned acc_ = 0;
};

}  // namespace mrc

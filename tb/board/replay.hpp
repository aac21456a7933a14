// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "api/pins.h"
#include "tb/board/pins_record.hpp"
#include "tb/dut/dut.hpp"

namespace mrc::tb {

/// A window of which the device's output pins are not the board's.
struct UnequalWindow {
  uint64_t from = 0, to = 0;  ///< cycles [from, to)
  uint32_t board = 0, device = 0;
};

struct ReplayResult {
  uint64_t cycles = 0;    ///< replayed
  uint64_t compared = 0;  ///< of them, cycles that a digest covers
  uint64_t windows = 0;   ///< compared
  uint64_t unequal = 0;   ///< of them
  std::optional<UnequalWindow> first;
  RecordEnd end = RecordEnd::None;
  bool stopped = false;  ///< from outside
};

struct ReplayOptions {
  bool cut = false;                   ///< a record that ends early is replayed up to its last check
  bool first_only = false;            ///< end behind the first window that differs
  std::atomic<bool>* stop = nullptr;  ///< set from outside
  /// Each cycle's pins.
  std::function<void(uint64_t cycle, const mrc_pins_in&, const mrc_pins_out&)> watch;
  std::function<void(uint64_t cycle)> progress;  ///< once per window
};

/// Drives a device, which is as after reset, with the pins of a record, and compares its output pins with the digests.
/// Throws what the reader throws.
ReplayResult replay(RecordReader& record, Dut& device, const Preset& preset, const ReplayOptions& options);

}  // namespace mrc::tb

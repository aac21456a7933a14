// SPDX-License-Identifier: Apache-2.0
/// What the bench tests: the model, or a shared object that speaks mrc_dut.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "gen/presets.hpp"
#include "pipeline/pins.h"

namespace mrc::tb {

class Dut {
 public:
  virtual ~Dut() = default;
  /// Output pins of the current cycle. Data whose valid is 0 may stay as they were.
  virtual void outputs(mrc_pins_out& out) = 0;
  /// One clock cycle.
  virtual void step(const mrc_pins_in& in) = 0;
  /// Boundaries of the current cycle, as in gen/streams.hpp. False: the device shows none.
  virtual bool observe(const uint32_t*& core, const uint32_t*& lanes) = 0;
  /// Waves to a file from now on (on), or pause; path nullptr and off: close. False: it cannot.
  virtual bool wave(const char* path, bool on) = 0;
  virtual bool can_wave() const = 0;
  virtual std::string name() const = 0;
  /// The tool that made it, "" for the model.
  virtual std::string version() const = 0;
};

/// The model as its own device.
std::unique_ptr<Dut> make_model_dut(const Preset& preset);

/// Opens a shared object. On failure returns null and says why in `error`, one sentence without full stop.
std::unique_ptr<Dut> open_dut(const std::string& path, const Preset& preset, uint64_t seed, std::string& error);

}  // namespace mrc::tb

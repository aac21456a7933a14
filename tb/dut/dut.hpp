// SPDX-License-Identifier: Apache-2.0
/// What the bench tests: the model, or a shared object that speaks mrc_dut.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api/mrc_dut.h"
#include "api/pins.h"
#include "gen/presets.hpp"

namespace mrc::tb {

/// Why a device can go on no more.
struct DeviceFault {
  std::string text;  ///< one sentence without full stop: "the device ended the process with exit code 0 in mrc_dut_step
                     ///< of cycle 99"
  std::string call;  ///< "mrc_dut_step"; "" when none was under way
  uint64_t cycle = 0;
};

/// An assertion of the device that did not hold.
struct FailedAssertion {
  std::string name;   ///< "NeverFull"
  std::string place;  ///< the instance that it stands in
  std::string text;   ///< a sentence without full stop
  uint64_t cycle = 0;
};

class Dut {
 public:
  virtual ~Dut() = default;
  /// Output pins of the current cycle. Data whose valid is 0 may stay as they were. All 0 after a fault.
  virtual void outputs(mrc_pins_out& out) = 0;
  /// One clock cycle.
  virtual void step(const mrc_pins_in& in) = 0;
  /// Streams of the current cycle, as in gen/streams.hpp, until the next step. False: the device shows none.
  virtual bool observe(const uint32_t*& core, const uint32_t*& lanes) = 0;
  /// What moves inside in the current cycle. False: the device does not show it.
  virtual bool inside(mrc_inside_t&) { return false; }
  /// Waves to a file from now on (on), or pause; path nullptr and off: close. False: it cannot.
  virtual bool wave(const char* path, bool on) = 0;
  virtual bool can_wave() const = 0;
  virtual std::string name() const = 0;
  /// The tool that made it, "" for the model.
  virtual std::string version() const = 0;

  /// Null: all is well. Else the device has failed, and every call is answered with nothing from now on. What outputs()
  /// and observe() gave is of the device when this is null after them.
  virtual const DeviceFault* fault() const { return nullptr; }
  /// Assertions that the device checks of itself.
  virtual unsigned assertions() const { return 0; }
  /// Null, or the first of them that failed: what the device does from then on means nothing, but it goes on. As of the
  /// last outputs() or observe().
  virtual const FailedAssertion* failed_assertion() const { return nullptr; }
  /// Ends the device, before the destructor does: what goes wrong then is a fault, too.
  virtual void close() {}
  /// False: it runs in a process of its own, so a copy of ours by fork() has no device.
  virtual bool in_process() const { return true; }
};

/// The model as its own device.
std::unique_ptr<Dut> make_model_dut(const Preset& preset);

/// Opens a shared object in this process (tb/dut/shared_dut.hpp; tb/dut/guest.hpp gives it one of its own). On failure
/// returns null and says why in `error`, one sentence without full stop; *unsupported: the device works, but it
/// refuses, speaks another version, is another preset, or has other sizes.
std::unique_ptr<Dut> open_dut(const std::string& path, const Preset& preset, uint64_t seed, std::string& error,
                              bool* unsupported = nullptr);

}  // namespace mrc::tb

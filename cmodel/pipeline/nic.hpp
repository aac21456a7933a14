// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "api/mrc_dut.h"
#include "api/pins.h"
#include "gen/presets.hpp"

namespace mrc {

/// The whole NIC, cycle by cycle: module mrc_nic (docs/design/blocks/nic.md).
///
/// In cycle t, outputs() and observe() show the registers of that cycle; step() takes the inputs of that cycle and
/// makes the registers of cycle t+1. A Nic starts as after reset.
class Nic {
 public:
  explicit Nic(const Preset& preset);
  ~Nic();
  Nic(Nic&&) noexcept;
  Nic& operator=(Nic&&) noexcept;

  const Preset& preset() const;

  /// Output pins of this cycle. Fields whose valid is 0 may be left as they were.
  void outputs(mrc_pins_out& pins) const;

  /// One clock cycle. rst_n = 0 resets; memories then start empty, as after construction. bug is ignored: the model has
  /// none.
  void step(const mrc_pins_in& pins);

  /// Every stream of this cycle, in the layout of obs_core_t and obs_lane_t (gen/streams.hpp): core has
  /// kObsCoreWords words, lanes num_planes * kObsLaneWords; both stay until the next step(). Word 0 of a stream is
  /// valid | ready << 1; its data words count only when it is valid. An idle NIC costs next to nothing here.
  void observe(const uint32_t*& core, const uint32_t*& lanes);

  /// What moves inside in this cycle, for logs.
  void inside(mrc_inside_t& to) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mrc

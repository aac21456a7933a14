// SPDX-License-Identifier: Apache-2.0
/// A NIC behind its pins as a device: the model, our RTL, or a shared object of somebody else.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "gen/presets.hpp"
#include "tb/device/device.hpp"
#include "tb/dut/dut.hpp"

namespace mrc::tb {

struct PinsOptions {
  const Preset* preset = nullptr;
  std::string name = "model";
  std::string version;
  uint8_t bug = 0;  ///< of the RTL (cmodel/spec/bugs.yaml)
  /// A new device, as after reset, for a run of that seed; null: `error` says why.
  std::function<std::unique_ptr<Dut>(uint64_t seed, std::string& error)> open;
  /// Its pins say whose a host write is (docs/design/blocks/nic.md, "Host writes"), and are held to that.
  bool whose_writes = true;
  bool shows =
      false;  ///< it tells the events take and answer (L1), and path where the DUT shows its inside, all of them
};

std::unique_ptr<NicDevice> make_pins_device(const PinsOptions& options);

}  // namespace mrc::tb

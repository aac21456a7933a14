// SPDX-License-Identifier: Apache-2.0
/// The fast endpoint as a device (tb/device/device.hpp): packets become frames, its host's memory is the tester's.
///
/// What it cannot, its capabilities say: numbers of a QP begin at 0, a QP never leaves RTS but by failing, all QPs have
/// the same windows, timers and capabilities, R_Keys only translate addresses, frames are taken as packets.
#pragma once

#include <memory>
#include <string>

#include "gen/presets.hpp"
#include "tb/device/device.hpp"

namespace mrc::sim {

struct FastDeviceOptions {
  const Preset* preset = nullptr;  ///< times and limits of the NIC of that preset
  std::string version;
};

std::unique_ptr<tb::NicDevice> make_fast_device(const FastDeviceOptions& options);

}  // namespace mrc::sim

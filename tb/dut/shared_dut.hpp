// SPDX-License-Identifier: Apache-2.0
/// A device of a shared object in this process. What it does to the process it does to us: tb/dut/guest.hpp keeps it
/// out.
#pragma once

#include <memory>
#include <string>

#include "tb/dut/device_call.hpp"
#include "tb/dut/dut.hpp"

namespace mrc::tb {

/// open_dut() of tb/dut/dut.hpp. `site` says at any time where the device is; it must live longer than the device.
std::unique_ptr<Dut> open_dut(const std::string& path, const Preset& preset, uint64_t seed, std::string& error,
                              CallSite& site, bool* unsupported = nullptr);

/// The site of those that are opened without one. A process that ends while a call is under way was ended by the
/// device.
CallSite& device_in_process();

}  // namespace mrc::tb

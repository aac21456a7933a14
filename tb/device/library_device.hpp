// SPDX-License-Identifier: Apache-2.0
/// A NIC that is a shared object with the functions of api/mrc_nic.h.
#pragma once

#include <memory>
#include <string>

#include "tb/device/device.hpp"

namespace mrc::tb {

/// Loads it into this process. `preset`: the hint of mrc_nic_config. Throws Refusal: it cannot be loaded, lacks a
/// function, speaks another version (unsupported).
std::unique_ptr<NicDevice> load_device(const std::string& path, const std::string& preset);

}  // namespace mrc::tb

// SPDX-License-Identifier: Apache-2.0
/// NICs by name, as devices that are known by their calls (tb/device/device.hpp), for the commands that have one.
#pragma once

#include <memory>
#include <string>

#include "cli/context.hpp"
#include "gen/presets.hpp"
#include "tb/device/device.hpp"

namespace mrc::cli {

/// "model", "rtl" (with the injected bug of that name, if any) or "fast". `shows`: model and RTL show their take and
/// answer. Throws UsageError.
std::unique_ptr<tb::NicDevice> nic_device(const std::string& name, const Preset& preset, const std::string& bug,
                                          const Context& context, bool shows = false);

/// One of these, or the command of a NIC that speaks the lines of docs/reference/device.md, or where it listens:
/// "tcp:HOST:PORT", "unix:PATH". `limit_s`: how long it may take to answer a call; 0: as long as it likes. Throws
/// UsageError.
std::unique_ptr<tb::NicDevice> any_nic(const std::string& name, const Preset& preset, const std::string& bug,
                                       double limit_s, const Context& context, bool shows = false);

/// The NIC with what that variant changes (tb/device/varied_device.hpp). Throws UsageError.
std::unique_ptr<tb::NicDevice> varied_nic(std::unique_ptr<tb::NicDevice> inside, const std::string& variant);

}  // namespace mrc::cli

// SPDX-License-Identifier: Apache-2.0
/// A device in a process of its own: whatever it does there, the bench lives and says what it was.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

#include "tb/dut/dut.hpp"

namespace mrc::tb {

struct GuestOptions {
  std::filesystem::path host;  ///< the program mrc_device_host
  /// A call that has not come back after so many seconds has failed; 0: it is waited for.
  double limit_s = 60;
  /// Set from outside: what has not come back a second later (mrc_dut_close: five) is given up.
  const std::atomic<bool>* stop = nullptr;
};

/// Opens a shared object in a process of its own; on failure null, and `error` says why, one sentence without full
/// stop (*unsupported as in open_dut()). The process writes its stdout to our stderr, reads nothing, hears nothing of
/// Ctrl-C, and ends with the thread that calls this.
std::unique_ptr<Dut> open_guest(const std::string& path, const Preset& preset, uint64_t seed,
                                const GuestOptions& options, std::string& error, bool* unsupported = nullptr);

}  // namespace mrc::tb

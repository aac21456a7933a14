// SPDX-License-Identifier: Apache-2.0
/// A NIC that speaks the JSON lines of docs/reference/device.md, as a process or behind a socket.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "tb/device/device.hpp"

namespace mrc::tb {

struct RemoteOptions {
  double limit_s = 60;                      ///< an answer that has not come after so many seconds never comes; 0: wait
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: waiting ends
};

/// Starts the command with /bin/sh; its stderr is ours. It ends with the device. Throws DeviceGone here and in every
/// call: it ended, hung, or answered what docs/reference/device.md does not allow. Lines longer than kMaxLine are not
/// read.
std::unique_ptr<NicDevice> start_device(const std::string& command, const RemoteOptions& options);

/// Connects to "tcp:HOST:PORT" or "unix:PATH". Throws DeviceGone.
std::unique_ptr<NicDevice> connect_device(const std::string& address, const RemoteOptions& options);
/// It begins like one.
bool is_address(const std::string& text);

}  // namespace mrc::tb

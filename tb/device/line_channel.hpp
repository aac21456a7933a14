// SPDX-License-Identifier: Apache-2.0
/// Lines to and from somebody who is not to be trusted: bounded in length and in time.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>
#include <string_view>

#include "tb/device/remote_device.hpp"

namespace mrc::tb {

class LineChannel {
 public:
  LineChannel() = default;
  LineChannel(const LineChannel&) = delete;
  LineChannel& operator=(const LineChannel&) = delete;
  ~LineChannel();

  /// Throw DeviceGone.
  void start(const std::string& command, const RemoteOptions& options);
  void connect(const std::string& address, const RemoteOptions& options);

  /// Sends a line and waits for one. `call` is what errors name. The answer is valid until the next call. Throws
  /// DeviceGone.
  std::string_view exchange(std::string_view line, const std::string& call);

 private:
  [[noreturn]] void gone(const std::string& what);
  std::string ended(bool wait);
  void wait_for(bool to_write, double begin, const std::string& call);
  void close_down();

  RemoteOptions options_;
  int to_ = -1, from_ = -1;
  pid_t pid_ = 0;  ///< 0: none
  std::string name_, buffer_, end_;
  std::size_t taken_ = 0;
};

}  // namespace mrc::tb

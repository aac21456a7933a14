// SPDX-License-Identifier: Apache-2.0
/// A stream buffer that reads a descriptor, and ends when the run is stopped while it waits for a pipe.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>

#include "cli/signals.hpp"

namespace mrc::cli {

class FdInput final : public std::streambuf {
 public:
  /// Reads a descriptor that somebody else owns.
  explicit FdInput(int fd) : fd_(fd), buffer_(new char[kSize]) {}
  /// Opens a file, a FIFO or a device. error() says why it cannot be.
  explicit FdInput(const std::string& path) : buffer_(new char[kSize]), own_(true) {
    do {
      fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    } while (fd_ < 0 && errno == EINTR && !g_stop);
    if (fd_ < 0) error_ = errno;
  }
  FdInput(const FdInput&) = delete;
  FdInput& operator=(const FdInput&) = delete;
  ~FdInput() override {
    if (own_ && fd_ >= 0) ::close(fd_);
  }
  /// errno of what failed; 0: nothing has.
  int error() const { return error_; }
  int fd() const { return fd_; }
  /// The bytes that come next, some of them; none: it is over.
  std::string_view ahead() {
    if (gptr() == egptr()) fill();
    return {gptr(), egptr()};
  }

 protected:
  int_type underflow() override {
    if (gptr() == egptr() && !fill()) return traits_type::eof();
    return traits_type::to_int_type(*gptr());
  }

 private:
  static constexpr size_t kSize = 1 << 18;
  static constexpr int kWaitMs = 200;

  bool fill() {
    while (error_ == 0) {
      pollfd waiting{fd_, POLLIN, 0};
      const int ready = ::poll(&waiting, 1, kWaitMs);
      if (ready == 0 || (ready < 0 && errno == EINTR)) {
        if (g_stop) return false;
        continue;
      }
      const ssize_t n = ::read(fd_, buffer_.get(), kSize);
      if (n > 0) {
        setg(buffer_.get(), buffer_.get(), buffer_.get() + n);
        return true;
      }
      if (n == 0) return false;
      if (errno != EINTR && errno != EAGAIN) error_ = errno;
    }
    return false;
  }

  int fd_ = -1, error_ = 0;
  std::unique_ptr<char[]> buffer_;
  bool own_ = false;
};

}  // namespace mrc::cli

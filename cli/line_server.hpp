// SPDX-License-Identifier: Apache-2.0
/// Calls of docs/reference/device.md on standard input, answers on standard output: for the commands that are a NIC to
/// others.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "cli/context.hpp"
#include "tb/device/lines.hpp"

namespace mrc::cli {

/// Lines of a file descriptor, of bounded length.
class LineInput {
 public:
  explicit LineInput(int fd) : fd_(fd) {}

  /// A whole line is here: next() need not read for it.
  bool has_line() const { return buffer_.find('\n', taken_) != std::string::npos; }
  int fd() const { return fd_; }

  enum class Next { Line, TooLong, End, Cut };
  /// Cut: the input ended inside a line. `line` is valid until the next call.
  Next next(std::string_view& line) {
    buffer_.erase(0, taken_);
    taken_ = 0;
    bool skipping = false;
    size_t looked = 0;
    for (;;) {
      const size_t end = buffer_.find('\n', looked);
      if (end != std::string::npos) {
        taken_ = end + 1;
        if (skipping || end > tb::kMaxLine) return Next::TooLong;
        line = std::string_view(buffer_).substr(0, end);
        return Next::Line;
      }
      looked = buffer_.size();
      if (buffer_.size() > tb::kMaxLine) {
        skipping = true;
        buffer_.clear();
        looked = 0;
      }
      char chunk[1 << 16];
      const ssize_t n = ::read(fd_, chunk, sizeof chunk);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0)
        throw UsageError("cannot read standard input: " + std::string(std::strerror(errno)) + ".",
                         "Give it calls of docs/reference/device.md, one a line.");
      if (n == 0) return buffer_.empty() && !skipping ? Next::End : Next::Cut;
      buffer_.append(chunk, static_cast<size_t>(n));
    }
  }

 private:
  int fd_;
  std::string buffer_;
  size_t taken_ = 0;
};

/// Answers calls until close or the end of standard input. `wait` is called before each line is read, for NICs that do
/// something meanwhile; null: none.
int serve_lines(tb::NicDevice& device, const std::function<void(const LineInput&)>& wait);

}  // namespace mrc::cli

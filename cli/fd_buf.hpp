// SPDX-License-Identifier: Apache-2.0
/// A stream buffer on a file descriptor that knows why a write failed.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <memory>
#include <streambuf>

namespace mrc::cli {

/// Writes through 64 KiB to a descriptor that somebody else owns. After the first failed write nothing more is written.
class FdBuf final : public std::streambuf {
 public:
  /// `error`: of a descriptor that cannot be written from the beginning.
  explicit FdBuf(int fd, int error = 0) : fd_(fd), error_(error), buffer_(new char[kSize]) {
    setp(buffer_.get(), buffer_.get() + kSize);
  }
  ~FdBuf() override { flush(); }
  /// errno of the write that failed; 0: none has.
  int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override {
    if (!flush()) return traits_type::eof();
    if (c != traits_type::eof()) {
      *pptr() = static_cast<char>(c);
      pbump(1);
    }
    return traits_type::not_eof(c);
  }
  int sync() override { return flush() ? 0 : -1; }

 private:
  static constexpr std::streamsize kSize = 1 << 16;

  bool flush() {
    const char* at = pbase();
    while (error_ == 0 && at < pptr()) {
      const ssize_t n = ::write(fd_, at, static_cast<size_t>(pptr() - at));
      if (n >= 0) {
        at += n;
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
    setp(buffer_.get(), buffer_.get() + kSize);
    return error_ == 0;
  }

  const int fd_;
  int error_;
  std::unique_ptr<char[]> buffer_;
};

}  // namespace mrc::cli

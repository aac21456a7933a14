// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <istream>
#include <memory>
#include <string>

#include "cli/context.hpp"
#include "cli/fd_input.hpp"
#include "cli/wire_options.hpp"
#include "log/packet.hpp"
#include "log/reader.hpp"

namespace mrc::cli {

/// A file, a FIFO, or standard input ("-"), to be read as it comes.
class StreamInput {
 public:
  /// `what` it is to be: "log", "capture". Throws UsageError: it cannot be opened.
  StreamInput(const std::string& path, const char* what)
      : what_(what), name_(name_of_file(path)), buffer_(open(path)), stream_(buffer_.get()) {}
  const std::string& name() const { return name_; }
  /// Its bytes.
  FdInput& buffer() { return *buffer_; }
  std::istream& stream() { return stream_; }
  /// Size of a regular file; 0: not known.
  uint64_t size() const {
    struct stat s {};
    return ::fstat(buffer_->fd(), &s) == 0 && S_ISREG(s.st_mode) ? static_cast<uint64_t>(s.st_size) : 0;
  }
  /// Throws UsageError when a byte could not be read.
  void refuse_damage() const {
    if (buffer_->error() != 0) refuse_as(std::strerror(buffer_->error()));
  }

 private:
  std::unique_ptr<FdInput> open(const std::string& path) const {
    if (path == "-") return std::make_unique<FdInput>(STDIN_FILENO);
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) refuse_as("it is a folder");
    auto buffer = std::make_unique<FdInput>(path);
    if (const int why = buffer->error(); why != 0) refuse_as(why == ENOENT ? "it does not exist" : std::strerror(why));
    return buffer;
  }
  [[noreturn]] void refuse_as(const std::string& why) const {
    throw UsageError(name_ + ": cannot read the " + what_ + ": " + why + ".",
                     "Name an existing file that you may read, or -.");
  }
  const char* what_;
  std::string name_;
  std::unique_ptr<FdInput> buffer_;
  std::istream stream_;
};

/// A log to be read.
class LogInput : public StreamInput {
 public:
  explicit LogInput(const std::string& path) : StreamInput(path, "log"), reader_(stream(), name()) {}
  log::Reader& reader() { return reader_; }
  /// Throws UsageError when the log could not be read to its end.
  void refuse_damage() const {
    StreamInput::refuse_damage();
    if (reader_.error()) refuse(*reader_.error());
  }

 private:
  log::Reader reader_;
};

}  // namespace mrc::cli

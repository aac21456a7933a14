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

/// A log to be read: a file, a FIFO, or standard input ("-").
class LogInput {
 public:
  /// Throws UsageError: it cannot be opened.
  explicit LogInput(const std::string& path)
      : name_(name_of_file(path)), buffer_(open(path)), stream_(buffer_.get()), reader_(stream_, name_) {}
  log::Reader& reader() { return reader_; }
  const std::string& name() const { return name_; }
  /// Its bytes, for who finds that it is something else.
  FdInput& buffer() { return *buffer_; }
  /// Size of a regular file; 0: not known.
  uint64_t size() const {
    struct stat s {};
    return ::fstat(buffer_->fd(), &s) == 0 && S_ISREG(s.st_mode) ? static_cast<uint64_t>(s.st_size) : 0;
  }
  /// Throws UsageError when the log could not be read to its end.
  void refuse_damage() const {
    if (buffer_->error() != 0) no_log(std::strerror(buffer_->error()));
    if (reader_.error()) refuse(*reader_.error());
  }

 private:
  std::unique_ptr<FdInput> open(const std::string& path) const {
    if (path == "-") return std::make_unique<FdInput>(STDIN_FILENO);
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) no_log("it is a folder");
    auto buffer = std::make_unique<FdInput>(path);
    if (const int why = buffer->error(); why != 0) no_log(why == ENOENT ? "it does not exist" : std::strerror(why));
    return buffer;
  }
  [[noreturn]] void no_log(const std::string& why) const {
    throw UsageError(name_ + ": no log that can be read: " + why + ".",
                     "Name an existing file that you may read, or -.");
  }
  std::string name_;
  std::unique_ptr<FdInput> buffer_;
  std::istream stream_;
  log::Reader reader_;
};

}  // namespace mrc::cli

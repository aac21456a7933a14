// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "cli/context.hpp"
#include "cli/wire_options.hpp"
#include "log/packet.hpp"
#include "log/reader.hpp"

namespace mrc::cli {

/// A log to be read: a file, a FIFO, or standard input ("-").
class LogInput {
 public:
  /// Throws UsageError: it cannot be opened.
  explicit LogInput(const std::string& path) : name_(name_of_file(path)), reader_(open(path), name_) {}
  log::Reader& reader() { return reader_; }
  const std::string& name() const { return name_; }
  /// Throws UsageError when the log could not be read to its end.
  void refuse_damage() const {
    if (reader_.error()) refuse(*reader_.error());
  }

 private:
  std::istream& open(const std::string& path) {
    if (path == "-") return std::cin;
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) no_log("it is a folder");
    errno = 0;
    file_.open(path, std::ios::binary);
    if (!file_) no_log(errno == ENOENT ? "it does not exist" : std::strerror(errno));
    return file_;
  }
  [[noreturn]] void no_log(const std::string& why) const {
    throw UsageError(name_ + ": no log that can be read: " + why + ".",
                     "Name an existing file that you may read, or -.");
  }
  std::string name_;
  std::ifstream file_;
  log::Reader reader_;
};

}  // namespace mrc::cli

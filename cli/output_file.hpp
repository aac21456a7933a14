// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/context.hpp"

namespace mrc::cli {

/// A file that appears under its name only when it is complete. Written beside its destination,
/// renamed by commit(); without commit() the destructor removes it, so that an error never leaves
/// half a file behind.
class OutputFile {
 public:
  /// Opens `path` for binary writing. Throws UsageError when the folder cannot be written.
  explicit OutputFile(std::filesystem::path path)
      : path_(std::move(path)), partial_(path_.string() + ".part" + std::to_string(::getpid())) {
    stream_.open(partial_, std::ios::binary | std::ios::trunc);
    if (!stream_) fail();
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() {
    if (committed_) return;
    stream_.close();
    std::error_code ignored;
    std::filesystem::remove(partial_, ignored);
  }

  std::ostream& stream() { return stream_; }

  /// For writers that open a file by name themselves.
  const std::filesystem::path& partial_path() const { return partial_; }

  /// Flushes and gives the file its name. Throws UsageError when the disk refuses.
  void commit() {
    if (stream_) errno = 0;  // else it is still that of the write that failed, or nobody knows
    stream_.close();
    const int why = errno;
    std::error_code error;
    if (stream_) std::filesystem::rename(partial_, path_, error);
    if (!stream_ || error) fail(why);
    committed_ = true;
  }

 private:
  [[noreturn]] void fail(int why = 0) const {
    std::error_code ignored;
    std::filesystem::remove(partial_, ignored);
    if (why == ENOSPC || why == EDQUOT || why == EFBIG) {
      throw UsageError("cannot write " + path_.string() + ": no space is left.",
                       "Free some, or write to another disk.");
    }
    throw UsageError("cannot write " + path_.string() + ".", "Name a file in an existing folder you may write to.");
  }

  std::filesystem::path path_;
  std::filesystem::path partial_;
  std::ofstream stream_;
  bool committed_ = false;
};

}  // namespace mrc::cli

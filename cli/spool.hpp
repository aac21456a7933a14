// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <istream>
#include <string>
#include <vector>

#include "cli/context.hpp"

namespace mrc::cli {

/// A copy of what can be read once, in the folder for temporary files, without a name there: it goes with this.
class Spool {
 public:
  /// Copies all of it. `go_on` is called now and then; false: what was copied is all. Throws UsageError: no room.
  Spool(std::istream& from, const std::string& name, const std::function<bool()>& go_on) {
    std::string path = (std::filesystem::temp_directory_path() / "mrc-XXXXXX").string();
    fd_ = ::mkstemp(path.data());
    if (fd_ < 0) refuse_as(name);
    ::unlink(path.c_str());
    constexpr std::size_t kBlock = 1 << 20;
    std::vector<char> block(kBlock);
    while (from.good() && go_on()) {
      from.read(block.data(), kBlock);
      const auto there = static_cast<std::size_t>(from.gcount());
      for (std::size_t done = 0; done < there;) {
        const ssize_t wrote = ::write(fd_, block.data() + done, there - done);
        if (wrote < 0 && errno != EINTR) refuse_as(name);
        if (wrote > 0) done += static_cast<std::size_t>(wrote);
      }
    }
  }
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool() {
    if (fd_ >= 0) ::close(fd_);
  }
  /// It can be opened from its begin as often as is wanted, while this lives.
  std::string path() const { return "/dev/fd/" + std::to_string(fd_); }

 private:
  [[noreturn]] void refuse_as(const std::string& name) {
    const std::string why = std::strerror(errno);
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    throw UsageError(name + " is read twice, and cannot be kept meanwhile: " + why + ".",
                     "Name a file, or make room in the folder for temporary files (TMPDIR).");
  }
  int fd_ = -1;
};

}  // namespace mrc::cli

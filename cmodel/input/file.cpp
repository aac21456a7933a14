// SPDX-License-Identifier: Apache-2.0
#include "input/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "input/number.hpp"

namespace mrc::input {
namespace {

/// A descriptor that closes itself, but not standard input.
struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd > 0) ::close(fd);
  }
};

[[noreturn]] void too_large(const std::string& path, const FileKind& kind) {
  throw InputError(
      fmt::format("{}: more than {} MB, too large for a {}.", file_name(path), kind.max_bytes / kMegabyte, kind.what),
      "docs/reference/inputs.md lists how large inputs may be; split it, or give less.");
}

[[noreturn]] void cannot(const std::string& path, const FileKind& kind, const char* why) {
  const std::string name = path.empty() ? "\"\"" : file_name(path);
  throw InputError(fmt::format("{}: cannot read the {}: {}.", name, kind.what, why), kind.remedy);
}

/// Fills `out` up to one byte beyond the limit, in steps that double.
template <class Bytes>
Bytes read_all(const std::string& path, const FileKind& kind) {
  Descriptor in;
  in.fd = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (in.fd < 0) cannot(path, kind, errno == ENOENT || errno == ENOTDIR ? "it does not exist" : std::strerror(errno));
  struct stat about {};
  if (::fstat(in.fd, &about) != 0) cannot(path, kind, std::strerror(errno));
  if (S_ISDIR(about.st_mode)) cannot(path, kind, "it is a folder");
  const bool regular = S_ISREG(about.st_mode);
  if (regular && static_cast<uint64_t>(about.st_size) > kind.max_bytes) too_large(path, kind);
  Bytes out;
  size_t used = 0, step = regular ? static_cast<size_t>(about.st_size) + 1 : 65536;
  for (;;) {
    if (used == out.size()) {
      if (used > kind.max_bytes) too_large(path, kind);
      out.resize(static_cast<size_t>(std::min<uint64_t>(used + step, kind.max_bytes + 1)));
      step = std::max(step, out.size());
    }
    const ssize_t n = ::read(in.fd, out.data() + used, out.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) cannot(path, kind, std::strerror(errno));
    if (n == 0) break;
    used += static_cast<size_t>(n);
  }
  if (used > kind.max_bytes) too_large(path, kind);
  out.resize(used);
  return out;
}

}  // namespace

std::string file_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string read_text(const std::string& path, const FileKind& kind) { return read_all<std::string>(path, kind); }

std::vector<uint8_t> read_bytes(const std::string& path, const FileKind& kind) {
  return read_all<std::vector<uint8_t>>(path, kind);
}

}  // namespace mrc::input

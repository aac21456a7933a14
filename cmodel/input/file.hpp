// SPDX-License-Identifier: Apache-2.0
/// Whole files and standard input, up to a size. All files that mrc reads are read here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "input/error.hpp"

namespace mrc::input {

/// What a file is for, the bytes it may have, and what to do when it cannot be read (docs/reference/inputs.md has the
/// table).
struct FileKind {
  const char* what;
  uint64_t max_bytes;
  const char* remedy;
};

inline constexpr uint64_t kMegabyte = 1'000'000;
inline constexpr uint64_t kTomlBytes = 16 * kMegabyte, kCsvBytes = 64 * kMegabyte, kJsonBytes = 16 * kMegabyte,
                          kPacketBytes = 500 * kMegabyte;

inline constexpr FileKind kPackets{"packets in JSON", kPacketBytes, "Name an existing file that you may read, or -."};

/// All bytes of a regular file, a FIFO, a device, or of standard input ("-"). Throws InputError: it does not exist, is
/// a folder, may not be read, or has more bytes than its kind may have; reading ends there.
std::string read_text(const std::string& path, const FileKind& kind);
std::vector<uint8_t> read_bytes(const std::string& path, const FileKind& kind);

/// How messages call it: the path, or "standard input".
std::string file_name(const std::string& path);

}  // namespace mrc::input

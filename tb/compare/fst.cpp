// SPDX-License-Identifier: Apache-2.0
#include "tb/compare/fst.hpp"

#include <array>
#include <cstdint>
#include <fstream>

namespace mrc::tb {

bool whole_fst(const std::filesystem::path& file) {
  // Every block: a byte of type, then 8 bytes of length, big endian, that count themselves and what follows.
  constexpr int kHeader = 0, kGeometry = 3, kUnfinished = 255;
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  bool header = false, geometry = false, values = false, hierarchy = false;
  for (uint64_t at = 0; !error && at < size;) {
    std::array<char, 9> start{};
    in.seekg(static_cast<std::streamoff>(at));
    if (!in.read(start.data(), start.size())) return false;
    const int type = static_cast<unsigned char>(start[0]);
    uint64_t length = 0;
    for (unsigned i = 1; i < 9; ++i) length = length << 8 | static_cast<unsigned char>(start[i]);
    if (type == kUnfinished || length < 8 || length > size - at - 1) return false;
    header = header || type == kHeader;
    geometry = geometry || type == kGeometry;
    values = values || type == 1 || type == 5 || type == 8;
    hierarchy = hierarchy || type == 4 || type == 6 || type == 7;
    at += 1 + length;
  }
  return header && geometry && values && hierarchy;
}

}  // namespace mrc::tb

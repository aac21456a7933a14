// SPDX-License-Identifier: Apache-2.0
#include "tb/compare/fst.hpp"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace mrc::test::fst_test {

using mrc::tb::whole_fst;

namespace {

/// A block of FST: its type, then 8 bytes of length, big endian, that count themselves and what follows.
std::string block(int type, std::size_t body) {
  std::string out(1, static_cast<char>(type));
  for (int i = 7; i >= 0; --i) out += static_cast<char>(static_cast<uint64_t>(body + 8) >> (8 * i));
  return out + std::string(body, 'x');
}

bool whole(const std::string& bytes) {
  const auto file = std::filesystem::temp_directory_path() / ("mrc-fst-test-" + std::to_string(::getpid()));
  std::ofstream(file, std::ios::binary) << bytes;
  const bool is = whole_fst(file);
  std::filesystem::remove(file);
  return is;
}

}  // namespace

TEST_CASE("waves are whole when all their blocks are", "[tb][fst]") {
  // Header, geometry, values, hierarchy, as the FST library writes them at the end.
  const std::string file = block(0, 321) + block(8, 1000) + block(3, 40) + block(4, 200);
  CHECK(whole(file));
  for (std::size_t size = 0; size < file.size(); ++size) {  // a full disk ends it anywhere
    INFO(size);
    REQUIRE_FALSE(whole(file.substr(0, size)));
  }
  CHECK_FALSE(whole(file + "x"));
  CHECK_FALSE(whole(block(0, 321) + block(255, 1000) + block(3, 40) + block(4, 200)));  // values not finished
  CHECK_FALSE(whole(block(0, 321) + block(3, 40) + block(4, 200)));                     // no values
  CHECK_FALSE(whole_fst("/nowhere.fst"));
}

}  // namespace mrc::test::fst_test

// SPDX-License-Identifier: Apache-2.0
#include "input/file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

namespace mrc::test::file_test {
namespace {
constexpr input::FileKind kSmall{"list", 1'000'000, "Name a list."};

std::string refusal(const std::string& path) {
  try {
    input::read_text(path, kSmall);
  } catch (const InputError& error) {
    CHECK_FALSE(error.remedy.empty());
    return error.what();
  }
  return "";
}

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("mrc-file-test-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};
}  // namespace

TEST_CASE("a file of any kind is read whole, up to its limit", "[input][file]") {
  const Folder folder;
  const std::string exact = folder.path / "exact", above = folder.path / "above", fifo = folder.path / "fifo";
  std::ofstream(exact) << std::string(1'000'000, 'x');
  std::ofstream(above) << std::string(1'000'001, 'x');
  CHECK(input::read_text(exact, kSmall).size() == 1'000'000);
  CHECK(input::read_bytes(exact, kSmall).size() == 1'000'000);
  CHECK(refusal(above) == above + ": more than 1 MB, too large for a list.");
  CHECK(input::read_text("/dev/null", kSmall).empty());
  CHECK(input::read_text("/proc/self/stat", kSmall).size() > 10);  // says that it has no bytes
  CHECK(refusal("/dev/zero") == "/dev/zero: more than 1 MB, too large for a list.");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(fifo) << std::string(300'000, 'y'); });
  CHECK(input::read_text(fifo, kSmall).size() == 300'000);
  writer.join();
}

TEST_CASE("what cannot be read says why", "[input][file]") {
  CHECK(refusal("/no/such/file") == "/no/such/file: cannot read the list: it does not exist.");
  CHECK(refusal("/") == "/: cannot read the list: it is a folder.");
  CHECK(refusal("") == "\"\": cannot read the list: it does not exist.");
}

}  // namespace mrc::test::file_test

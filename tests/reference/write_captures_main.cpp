// SPDX-License-Identifier: Apache-2.0
/// Writes captures that pass and that break each rule, and the NIC's profile: FOLDER/pass.pcapng, FOLDER/RULE.pcapng,
/// FOLDER/profile.json.
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/reference/breaking.hpp"
#include "tests/reference/captures.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "write_captures: no folder is named.\n  write_captures FOLDER\n";
    return 3;
  }
  const std::filesystem::path folder = argv[1];
  const auto write = [&](const std::string& name, const std::vector<mrc::test::Change>& changes) {
    std::ofstream out(folder / (name + ".pcapng"), std::ios::binary);
    mrc::test::write_capture(out, mrc::test::life(changes, true));
  };
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "profile.json") << mrc::ref::to_json(mrc::test::captured_profile()) << '\n';
  write("pass", {});
  for (const auto& [rule, how] : mrc::test::breaking()) {
    if (how.seen_in_capture) write(mrc::ref::info(rule).id, how.changes);
  }
}

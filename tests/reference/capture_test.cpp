// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>

#include "clone_paths.hpp"
#include "log/import.hpp"
#include "tests/reference/breaking.hpp"
#include "tests/reference/captures.hpp"

namespace mrc::test::capture_test {

using ref::Rule;

namespace {

ref::Run judge_capture(const std::vector<Change>& changes, bool at_ports = true) {
  const auto path = std::filesystem::path(MRC_BINARY_DIR) / "tests" / "life.pcapng";
  {
    std::ofstream out(path, std::ios::binary);
    write_capture(out, life(changes, true));
  }
  log::ImportOptions import;
  import.files.push_back({path.string(), {}});
  if (at_ports) import.files[0].at = 0;
  import.devices.push_back({{kOwn}, "nic", ref::to_json(captured_profile())});
  ref::Run run({});
  const auto imported = log::import_captures(import, [&](const log::Record& record) { run.push(record); });
  REQUIRE(imported);
  run.finish();
  return run;
}

}  // namespace

TEST_CASE("a right life breaks no rule as a capture, at its ports or under way", "[reference][capture]") {
  for (const bool at_ports : {true, false}) {
    const ref::Run run = judge_capture({}, at_ports);
    INFO(run.to_text(""));
    CHECK(run.verdict() == ref::Verdict::Pass);
    CHECK(run.share().rests > 0);
  }
}

TEST_CASE("a capture shows what breaks a rule, when its frames do", "[reference][capture]") {
  for (const auto& [rule, how] : breaking()) {
    const ref::Run run = judge_capture(how.changes);
    INFO(ref::info(rule).id << "\n" << run.to_text(""));
    CHECK((run.tally(rule).broken != 0) == how.seen_in_capture);
  }
}

}  // namespace mrc::test::capture_test

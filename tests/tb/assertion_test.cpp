// SPDX-License-Identifier: Apache-2.0
// Assertions of the RTL and of a guest: what the bench says when one fails.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "tb/compare/bugs.hpp"
#include "tb/compare/report.hpp"
#include "tb/dut/guest.hpp"
#include "tests/tb/runs.hpp"

namespace mrc::test::assertion_test {

using namespace mrc::tb;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("injected bugs stop at an assertion before the comparison sees them", "[tb][assertions]") {
  std::set<std::string_view> stopped;
  for (const Bug& bug : bugs()) {
    if (std::string_view(bug.assertion).empty()) continue;
    INFO(bug.name);
    REQUIRE(std::string_view(bug.preset) == "tiny");
    CosimResult r;
    for (uint64_t seed = 1; seed <= 6 && !r.failed_assertion; ++seed) {
      CosimOptions o = short_run("tiny", bug.scenario, 2500, seed);
      use_asserted_tiny(o);
      o.bug = bug.number;
      r = run_cosim(o);
      INFO("seed " << seed << ": " << r.error << r.problem);
      REQUIRE((r.outcome == Outcome::Assertion || r.outcome == Outcome::Pass));
    }
    REQUIRE(r.failed_assertion);
    CHECK(r.failed_assertion->name == bug.assertion);
    CHECK(r.divergences.empty());
    CHECK(r.wrong_cycle() == r.failed_assertion->cycle);
    CHECK(!r.last_events.empty());  // as many as there were before it, 32 at most
    CHECK(r.last_events.size() <= 32);
    for (const Event& e : r.last_events) CHECK(e.cycle <= r.failed_assertion->cycle);
    const std::string text = failure_text({}, r);
    CHECK_THAT(text, ContainsSubstring("Assertion " + std::string(bug.assertion) + " failed in cycle "));
    CHECK_THAT(text, ContainsSubstring(", in mrc_nic."));
    CHECK_THAT(text, ContainsSubstring("device and model agree up to there"));
    const auto json = nlohmann::json::parse(result_json({}, r));
    CHECK(json["result"] == "assertion");
    CHECK(json["failed_assertion"]["name"] == bug.assertion);
    CHECK(json["failed_assertion"]["cycle"] == r.failed_assertion->cycle);
    stopped.insert(bug.name);
  }
  CHECK(stopped.size() >= 10);
}

TEST_CASE("with assertions the RTL does what it does without", "[tb][assertions]") {
  CosimOptions o = short_run("tiny", "mixed", 1000);
  use_rtl(o);
  const CosimResult plain = run_cosim(o);
  use_asserted_tiny(o);
  const CosimResult asserted = run_cosim(o);
  REQUIRE(plain.outcome == Outcome::Pass);
  REQUIRE(asserted.outcome == Outcome::Pass);
  CHECK(plain.event_hash == asserted.event_hash);
  CHECK(asserted.assertions >= 150);
  const auto json = nlohmann::json::parse(result_json({}, asserted));
  CHECK(json["evidence"]["assertions"] == asserted.assertions);
  CHECK(json["model_checks"] == kChecks);
  CHECK_FALSE(json.contains("failed_assertion"));
  CHECK_THAT(summary_text({}, asserted), ContainsSubstring(" in the device"));
}

TEST_CASE("assertions of a device in a process of its own come through", "[tb][assertions][guest]") {
  CosimOptions o = short_run("tiny", "mixed", 300);
  const Preset& preset = *o.preset;
  o.open = [&preset](std::string& error) {
    return open_guest(MRC_TEST_DEVICE, preset, 1, {MRC_DEVICE_HOST, 60, nullptr}, error);
  };
  ::setenv("MRC_TEST_DEVICE", "assertion:500", 1);
  const CosimResult r = run_cosim(o);
  ::setenv("MRC_TEST_DEVICE", "assertion:99999999", 1);
  const CosimResult later = run_cosim(o);
  ::unsetenv("MRC_TEST_DEVICE");
  CHECK(r.outcome == Outcome::Assertion);
  REQUIRE(r.failed_assertion);
  CHECK(r.failed_assertion->name == "NeverFive");
  CHECK(r.failed_assertion->place == "test.device");
  CHECK(r.failed_assertion->text == "five hundred cycles\\n");  // what it says is shown as it is
  CHECK(r.failed_assertion->cycle == 500);
  CHECK((r.device_fault ? r.device_fault->text : "") == "");
  CHECK(later.outcome == Outcome::Pass);
  CHECK(later.assertions == 7);
}

}  // namespace mrc::test::assertion_test

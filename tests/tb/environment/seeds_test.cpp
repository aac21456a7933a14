// SPDX-License-Identifier: Apache-2.0
// Every scenario with RTL and model in lockstep. The first seeds are of the product; those of every night are more, and
// longer (docs/design/testplan.yaml). Each a test case of its own, so that CTest runs them side by side.
#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>
#include <string_view>

#include "tb/compare/report.hpp"
#include "tests/tb/runs.hpp"

namespace mrc::test::seeds_test {

using namespace mrc::tb;

namespace {

std::set<std::string>& covered() {
  static std::set<std::string> names;
  return names;
}

bool cover(const char* name) { return covered().insert(name).second; }

void seeds(const char* preset, const char* scenario, uint64_t first, uint64_t last, uint64_t packets) {
  for (uint64_t seed = first; seed <= last; ++seed) {
    CosimOptions o = short_run(preset, scenario, packets, seed);
    if (std::string_view(preset) == "tiny") {
      use_asserted_tiny(o);
    } else {
      use_rtl(o);
    }
    const CosimResult r = run_cosim(o);
    INFO(preset << " " << scenario << " seed " << seed << ": " << r.problem << r.error << failure_text({}, r));
    REQUIRE(r.outcome == Outcome::Pass);
    if (o.scenario.may_fail == 0) REQUIRE(r.data_packets >= packets);  // what a dead QP had, nobody sends
  }
}

}  // namespace

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define SEEDS(name)                                                                                             \
  namespace {                                                                                                   \
  [[maybe_unused]] const bool JOIN(kCovered, __LINE__) = cover(name);                                           \
  }                                                                                                             \
  TEST_CASE(name " passes at tiny with 3 seeds", "[tb][seeds][tiny]") { seeds("tiny", name, 1, 3, 600); }       \
  TEST_CASE(name " passes at tiny with 9 more seeds", "[tb][seeds][tiny]") { seeds("tiny", name, 4, 12, 600); } \
  TEST_CASE(name " passes at asic800", "[tb][seeds][asic800]") { seeds("asic800", name, 1, 1, 2500); }          \
  TEST_CASE(name " passes at asic800 with 3 more seeds", "[tb][seeds][asic800]") { seeds("asic800", name, 2, 4, 5000); }

SEEDS("clean")
SEEDS("reorder")
SEEDS("loss")
SEEDS("trim")
SEEDS("ecn")
SEEDS("corrupt")
SEEDS("mixed")
SEEDS("immediate")
SEEDS("many-qps")
SEEDS("slow-host")
SEEDS("late-data")
SEEDS("link-flap")
SEEDS("plane-loss")
SEEDS("probe-revive")
SEEDS("incast-trim")
SEEDS("penalty")
SEEDS("many-peers")
SEEDS("retry-exhaust")
SEEDS("qp-error")
SEEDS("no-bytes")
SEEDS("dynamic-mpr")
SEEDS("soak")
SEEDS("refused")
SEEDS("bad-ev")
SEEDS("rto")
SEEDS("bad-plane")
SEEDS("long")
SEEDS("window")
SEEDS("few-updates")
SEEDS("plane-addresses")
SEEDS("host-errors")
SEEDS("port-stands")
SEEDS("share")
SEEDS("collectives")
SEEDS("returned")
SEEDS("skip-round-trip")
SEEDS("fuzz")
SEEDS("flood")
SEEDS("bad-world")

TEST_CASE("no scenario is left out", "[tb][seeds]") {
  for (const Scenario& s : scenarios()) {
    INFO(s.name);
    CHECK(covered().contains(s.name));
  }
}

}  // namespace mrc::test::seeds_test

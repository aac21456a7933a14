// SPDX-License-Identifier: Apache-2.0
// A peer that sends what no peer may (docs/design/blocks/nic.md, "Frames that no peer may send").
#include "tb/environment/forger.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tb/compare/report.hpp"
#include "tests/tb/runs.hpp"

namespace mrc::test::forger_test {

using namespace mrc::tb;

TEST_CASE("a peer that forges harms nobody: each frame is dropped, and counted where it must be", "[tb][fuzz]") {
  // The run holds every counter against what came; here: each of them has had something.
  const CosimResult r = run_cosim(short_run("tiny", "fuzz", 4000));
  INFO(r.problem << r.error);
  REQUIRE(r.outcome == Outcome::Pass);
  CHECK(r.data_packets >= 4000);
  CHECK(r.peer.link.forged > 1000);  // how many is drawn, frame by frame
  CHECK(r.dut.link.forged == 0);
  const NicCounters& c = r.dut.counters;
  for (const uint32_t count :
       {c.drop_parse, c.drop_icrc, c.drop_qp, c.drop_pkey, c.drop_len, c.oor, c.dup, c.trim, c.ep_drop})
    CHECK(count > 20);
  CHECK(c.qp_err == 0);
  CHECK(c.access > 20);  // of PSNs that nobody waits for
  CHECK(c.qp_fail == 0);
}

TEST_CASE("a peer that forges, whose QPs are reset and whose NIC is", "[tb][fuzz]") {
  for (const char* what : {"rounds", "lives"}) {
    CosimOptions o = short_run("tiny", "fuzz", 1500);
    set_key(o.scenario, what, 3, "test");
    set_key(o.scenario, "loss", 0.01, "test");
    const CosimResult r = run_cosim(o);
    INFO(what << ": " << r.problem << r.error);
    REQUIRE(r.outcome == Outcome::Pass);
    CHECK(r.peer.link.forged > 100);
  }
}

TEST_CASE("a forged frame that is not counted, or counted elsewhere, is told", "[tb][fuzz]") {
  const Scenario s = *find_scenario("fuzz");
  ForgedFrames forged;
  CounterValues c;
  CHECK(forged.check(c, 0, s).empty());
  for (unsigned i = 0; i < 3; ++i) forged.came(Forged::Pkey);
  forged.came(Forged::Nowhere);
  CHECK(forged.check(c, 0, s) == "CNT_DROP_PKEY is 0, but 3 forged frames that belong there came, and lanes lost 0");
  CHECK_FALSE(forged.check(c, 2, s).empty());
  CHECK(forged.check(c, 3, s).empty());  // lanes had no room for them
  c.drop_pkey = 3;
  CHECK(forged.check(c, 0, s).empty());
  c.drop_qp = 1;  // nobody sent such a frame
  CHECK(forged.check(c, 0, s) == "CNT_DROP_QP is 1, but 0 forged frames that belong there came, and lanes lost 0");
  Scenario trimmed = s;
  trimmed.link.trim = 0.1;  // the link may have
  CHECK(forged.check(c, 0, trimmed).empty());
  Scenario returned = s;
  returned.link.return_share = 0.1;  // so may what comes back
  CHECK(forged.check(c, 0, returned).empty());
}

}  // namespace mrc::test::forger_test

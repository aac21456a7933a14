// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/scenario.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <set>
#include <span>

#include "gen/csr.hpp"
#include "tb/environment/plan.hpp"

namespace mrc::test::scenario_test {

using namespace mrc::tb;
namespace csr = mrc::csr;
using Catch::Matchers::ContainsSubstring;

namespace {
std::string refusal(const char* toml) {
  try {
    parse_scenario(toml, "my.toml");
  } catch (const ScenarioError& e) {
    CHECK_FALSE(e.remedy.empty());
    return e.what();
  }
  return "";
}
}  // namespace

TEST_CASE("the scenarios that users are promised exist", "[tb][scenario]") {
  for (const char* name : {"clean", "reorder", "loss", "trim", "ecn", "corrupt", "mixed", "immediate", "many-qps"}) {
    INFO(name);
    REQUIRE(find_scenario(name));
    CHECK_FALSE(find_scenario(name)->description.empty());
  }
  std::set<std::string> names;
  for (const Scenario& s : scenarios()) CHECK(names.insert(s.name).second);
  CHECK_FALSE(find_scenario("no-such"));
}

TEST_CASE("every key is documented, within its limits, and reaches its own field", "[tb][scenario]") {
  std::set<const void*> fields;
  Scenario s;
  for (const ScenarioKey& k : scenario_keys()) {
    INFO(k.name);
    CHECK(std::string(k.doc).size() > 5);
    CHECK(k.range().has(k.value(s)));
    REQUIRE((k.number != nullptr) + (k.whole != nullptr) + (k.flag != nullptr) == 1);
    const void* field = k.number  ? static_cast<const void*>(&k.number(s))
                        : k.whole ? static_cast<const void*>(&k.whole(s))
                                  : static_cast<const void*>(&k.flag(s));
    CHECK(fields.insert(field).second);
  }
}

TEST_CASE("a TOML file sets the same keys, on top of a base", "[tb][scenario]") {
  const Scenario s = parse_scenario(R"(
base = "loss"
description = "mine"
qps = 3
loss = 0.5
vary = true
[[rule]]
planes = [0, 2]
ev_share = 0.25
to = "dut"
trim = 1
)",
                                    "my.toml");
  CHECK(s.name == "my.toml");
  CHECK(s.description == "mine");
  CHECK(s.qps == 3);
  CHECK(s.link.loss == 0.5);
  CHECK(s.vary);
  CHECK(s.wrap_share == find_scenario("loss")->wrap_share);
  REQUIRE(s.rules.size() == 1);
  CHECK(s.rules[0].planes == 5);
  CHECK(s.rules[0].ev_share == 0.25);
  CHECK(s.rules[0].to_dut);
  CHECK_FALSE(s.rules[0].to_peer);
  CHECK(s.rules[0].what.trim == 1);
  CHECK(s.rules[0].what.loss == 0);
}

TEST_CASE("an unreadable scenario is refused with line, column and what is wrong", "[tb][scenario]") {
  CHECK_THAT(refusal("loss = "), ContainsSubstring("my.toml:1:8: unreadable scenario: "));
  CHECK(refusal("lost = 1") == "my.toml:1:1: unknown key lost in the scenario; did you mean loss?");
  CHECK(refusal("bse = \"clean\"") == "my.toml:1:1: unknown key bse in the scenario; did you mean base?");
  CHECK(refusal("loss = 2") == "my.toml:1:8: loss = 2 is out of range.");
  CHECK(refusal("\nqps = 1.5") == "my.toml:2:7: qps = 1.5 is not a whole number.");
  CHECK(refusal("qps = 9007199254740993") == "my.toml:1:7: qps = 9007199254740993 is out of range.");
  CHECK(refusal("size_max = 1.04858e+06") == "my.toml:1:12: size_max = 1.04858e+06 is out of range.");
  CHECK(refusal("loss = nan") == "my.toml:1:8: loss = nan is not a number.");
  CHECK(refusal("loss = \"much\"") == "my.toml:1:8: loss is not a number.");
  CHECK(refusal("qps = true") == "my.toml:1:7: qps is not a number.");
  CHECK(refusal("description = 1") == "my.toml:1:15: description is not a text.");
  CHECK(refusal("base = \"clen\"") == "my.toml:1:8: base = clen names no scenario; did you mean clean?");
  CHECK(refusal("base = 1") == "my.toml:1:8: base is not a text.");
  CHECK(refusal("[[rule]]\nplane = 1") == "my.toml:2:1: unknown key plane in a rule; did you mean planes?");
  CHECK(refusal("[[rule]]\nqps = 1") == "my.toml:2:1: unknown key qps in a rule.");
  CHECK(refusal("[[rule]]\nplanes = [0, 9]") == "my.toml:2:14: planes = 9 is out of range.");
  CHECK(refusal("[[rule]]\nplanes = []") == "my.toml:2:10: planes is no list of planes.");
  CHECK(refusal("[[rule]]\nplanes = 1") == "my.toml:2:10: planes is no list of planes.");
  CHECK(refusal("[[rule]]\nto = \"me\"") == "my.toml:2:6: to = \"me\" is not known.");
  CHECK(refusal("[[rule]]\nev_share = 2") == "my.toml:2:12: ev_share = 2 is out of range.");
  CHECK(refusal("[[rule]]\nfrom_us = nan") == "my.toml:2:11: from_us = nan is not a number.");
  CHECK(refusal("[[rule]]\nfrom_us = -5") == "my.toml:2:11: from_us = -5 is out of range.");
  CHECK(refusal("[[rule]]\nfrom_us = 50\nuntil_us = 20") ==
        "my.toml:3:12: the rule ends at 20 us, not after 50 us, when it begins.");
  CHECK(refusal("rule = 1") == "my.toml:1:8: rule is no list of tables.");
  CHECK_THROWS_AS(load_scenario("/no/such/file"), ScenarioError);
  CHECK_THROWS_AS(load_scenario("/"), ScenarioError);
}

TEST_CASE("keys are switches, whole numbers or real ones; a switch takes 0 and 1 as well", "[tb][scenario]") {
  const Scenario s =
      parse_scenario("vary = 1\nbth_m = 0\ndyn_mpr = true\ntrim_nack = false\nrev_seed = 4294967295", "x");
  CHECK(s.vary);
  CHECK_FALSE(s.bth_m);
  CHECK(s.dyn_mpr);
  CHECK_FALSE(s.trim_nack);
  CHECK(s.rev_seed == 0xffff'ffff);
  CHECK(refusal("vary = 2") == "my.toml:1:8: vary = 2 is out of range.");
  CHECK(refusal("vary = 0.5") == "my.toml:1:8: vary = 0.5 is not a whole number.");
  CHECK(refusal("vary = \"yes\"") == "my.toml:1:8: vary is not a number.");
  CHECK(refusal("rto = true") == "my.toml:1:7: rto is not a number.");
  Scenario t;
  set_key(t, "vary", 1, "test");
  set_key(t, "rto", 7, "test");
  set_key(t, "loss", 0.25, "test");
  CHECK(t.vary);
  CHECK(t.rto == 7);
  CHECK(t.link.loss == 0.25);
  CHECK_THROWS_AS(set_key(t, "vary", 0.5, "test"), ScenarioError);
  CHECK_THROWS_AS(set_key(t, "rto", 1.5, "test"), ScenarioError);
}

TEST_CASE("a rule may come several times", "[tb][scenario]") {
  const Scenario s = parse_scenario(
      "[[rule]]\nfrom_us = 20\nuntil_us = 28\nevery_us = 40\ntimes = 3\nloss = 0.5\n[[rule]]\necn = 1", "my.toml");
  REQUIRE(s.rules.size() == 4);
  for (unsigned i = 0; i < 3; ++i) {
    CHECK(s.rules[i].from_us == 20 + 40 * i);
    CHECK(s.rules[i].until_us == 28 + 40 * i);
    CHECK(s.rules[i].what.loss == 0.5);
  }
  CHECK(s.rules[3].what.ecn == 1);
  CHECK(find_scenario("incast-trim")->rules.size() == 25);
  CHECK(refusal("[[rule]]\nfrom_us = 20\nuntil_us = 28\nevery_us = 7\ntimes = 2") ==
        "my.toml:4:12: the rule comes again after 7 us, before it has ended.");
  CHECK(refusal("[[rule]]\ntimes = 2") == "my.toml:2:9: the rule comes again after 0 us, before it has ended.");
  CHECK(refusal("[[rule]]\nuntil_us = 8\nevery_us = 8\ntimes = 2") == "");
  CHECK(refusal("[[rule]]\ntimes = 0") == "my.toml:2:9: times = 0 is out of range.");
}

TEST_CASE("a base may be any of the built-in scenarios, and nothing of it is another file's", "[tb][scenario]") {
  for (const Scenario& s : scenarios()) {
    INFO(s.name);
    CHECK(s.source.file.empty());
    CHECK(s.source.lines.empty());
    for (const LinkRule& rule : s.rules) CHECK(rule.source.line == 0);
    const Scenario same = parse_scenario("base = \"" + s.name + "\"", "my.toml");
    CHECK(scenario_toml(same).substr(scenario_toml(same).find('\n')) ==
          scenario_toml(s).substr(scenario_toml(s).find('\n')));
  }
}

TEST_CASE("values that do not go together are refused", "[tb][scenario]") {
  CHECK(refusal("size_min = 10\nsize_max = 5") == "my.toml:1:12: size_min = 10 is above size_max = 5.");
  CHECK(refusal("mtu_max = 1\nmtu_min = 2") == "my.toml:2:11: mtu_min = 2 is above mtu_max = 1.");
  CHECK(refusal("dut_sends = 0\npeer_sends = false") ==
        "my.toml:1:13: neither the device nor the peer sends: dut_sends = 0 and peer_sends = 0.");
  CHECK(refusal("hang_us = 1e-9") == "my.toml:1:11: hang_us = 1e-9 is out of range.");
  CHECK(refusal("rto = 10\nhang_us = 4000") ==
        "my.toml:2:11: hang_us = 4000 is less than four timer intervals of rto = 10.");
  CHECK(refusal("hang_us = 4000") == "");
  CHECK(refusal("ended = 0.25") == "my.toml:1:9: ended = 0.25: QPs that software puts into ERROR fail.");
  CHECK(refusal("ended = 0.25\nmay_fail = true") == "");
  CHECK(refusal("read_errors = 0.25") == "my.toml:1:15: read_errors = 0.25: QPs that the host gives up fail.");
  CHECK(refusal("write_errors = 0.25") == "my.toml:1:16: write_errors = 0.25: QPs that the host gives up fail.");
  CHECK(refusal("read_errors = 0.25\nwrite_errors = 0.25\nmay_fail = true") == "");
  CHECK(refusal("dscp_rtx = 4") == "my.toml:1:12: dscp_data and dscp_rtx are both 4: nobody could tell them apart.");
  CHECK(refusal("dscp_rtx = 5\ndscp_lasthop = 5") ==
        "my.toml:2:16: dscp_rtx and dscp_lasthop are both 5: nobody could tell them apart.");
}

TEST_CASE("a rule for a plane that the preset has not is refused, and left out of files for it", "[tb][scenario]") {
  const Scenario s =
      parse_scenario("[[rule]]\nplanes = [1, 7]\nloss = 0.1\n[[rule]]\nplanes = [7]\nloss = 0.2", "my.toml");
  const mrc::Preset& tiny = *mrc::find_preset("tiny");
  REQUIRE(tiny.num_planes == 2);
  try {
    check(s, tiny);
    FAIL("not refused");
  } catch (const ScenarioError& e) {
    CHECK(std::string(e.what()) == "my.toml:2:10: a rule for plane 7, but preset tiny has 2.");
  }
  CHECK_NOTHROW(check(s, *mrc::find_preset("asic800")));
  const Scenario of_tiny = parse_scenario(scenario_toml(s, &tiny), "tiny.toml");
  REQUIRE(of_tiny.rules.size() == 1);
  CHECK(of_tiny.rules[0].planes == 2);
  CHECK_NOTHROW(check(of_tiny, tiny));
}

TEST_CASE("on a fabric both NICs have its registers and classes, whatever keys and seed say", "[tb][scenario][A-04]") {
  const mrc::Preset& tiny = *mrc::find_preset("tiny");
  for (const mrc::FabricProfile& fabric : mrc::kFabricProfiles) {
    Scenario s = *find_scenario("mixed");
    s.own_class = 1;
    s.dscp_data = 40;
    REQUIRE(s.vary);
    on_fabric(s, fabric);
    for (uint64_t seed = 1; seed <= 30; ++seed) {
      INFO(fabric.name << ", seed " << seed);
      const Plan plan = make_plan(tiny, s, seed);
      for (const SidePlan* side : {&plan.dut, &plan.peer}) {
        CHECK(csr::kDscpTxData.get(side->dscp_tx) == fabric.get("DSCP_TX.data", 0));
        CHECK(csr::kDscpTxRtx.get(side->dscp_tx) == fabric.get("DSCP_TX.rtx", 0));
        CHECK(csr::kDscpTrimTrimmed.get(side->dscp_trim) == fabric.get("DSCP_TRIM.trimmed", 0));
        CHECK(csr::kDscpTrimReturnedValid.get(side->dscp_trim) == 0);
        for (const SidePlan::Qp& q : side->qps) {
          if (q.peer >= tiny.num_qps) continue;
          CHECK(q.own_class);
          CHECK(std::ranges::any_of(std::span(fabric.data).first(fabric.classes), [&](const mrc::FabricPair& pair) {
            return pair.data == q.class_data && pair.rtx == q.class_rtx;
          }));
        }
      }
    }
  }
}

TEST_CASE("data have no code point of control or of what switches trim", "[tb][scenario][A-04][A-60]") {
  SidePlan side;
  set_registers(side,
                {{"DSCP_TX.ctl", 46}, {"DSCP_TRIM.trimmed", 12}, {"DSCP_TRIM.lasthop", 16}, {"DSCP_TRIM.returned", 7}});
  for (unsigned code = 0; code < 64; ++code) {
    INFO(code);
    CHECK(side.fits_data(code) == (code != 46 && code != 12 && code != 16 && code != 7));
  }
}

TEST_CASE("registers that no scenario sets, and values that do not fit, are refused", "[tb][scenario]") {
  SidePlan side;
  set_registers(side, {{"DSCP_TX.rtx", 5}, {"SACK_TRIGGER.bytes", 1024}, {"EV_CTL.skip_ticks", 7}});
  CHECK(csr::kDscpTxRtx.get(side.dscp_tx) == 5);
  CHECK(side.sack_trigger == 1024);
  CHECK(csr::kEvCtlSkipTicks.get(side.ev_ctl) == 7);
  CHECK_THROWS_AS(set_registers(side, {{"DSCP_TX.what", 5}}), ScenarioError);
  CHECK_THROWS_AS(set_registers(side, {{"WHAT.rtx", 5}}), ScenarioError);
  CHECK_THROWS_AS(set_registers(side, {{"MAC_LO", 5}}), ScenarioError);
  CHECK_THROWS_AS(set_registers(side, {{"DSCP_TX.rtx", 64}}), ScenarioError);
}

}  // namespace mrc::test::scenario_test

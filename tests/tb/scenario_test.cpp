// SPDX-License-Identifier: Apache-2.0
#include "tb/scenario.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <set>

using namespace mrc::tb;
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
  std::set<const double*> fields;
  Scenario s;
  for (const ScenarioKey& k : scenario_keys()) {
    INFO(k.name);
    CHECK(std::string(k.doc).size() > 5);
    CHECK(k.number(s) >= k.min);
    CHECK(k.number(s) <= k.max);
    CHECK(fields.insert(&k.number(s)).second);
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
  CHECK(s.vary == 1);
  CHECK(s.wrap_share == find_scenario("loss")->wrap_share);
  REQUIRE(s.rules.size() == 1);
  CHECK(s.rules[0].planes == 5);
  CHECK(s.rules[0].ev_share == 0.25);
  CHECK(s.rules[0].to_dut);
  CHECK_FALSE(s.rules[0].to_peer);
  CHECK(s.rules[0].what.trim == 1);
  CHECK(s.rules[0].what.loss == 0);
}

TEST_CASE("an unreadable scenario is named, with what is wrong", "[tb][scenario]") {
  CHECK_THAT(refusal("loss = "), ContainsSubstring("my.toml:1: unreadable scenario: "));
  CHECK_THAT(refusal("lost = 1"), ContainsSubstring("my.toml: unreadable scenario: unknown key lost"));
  CHECK_THAT(refusal("loss = 2"), ContainsSubstring("loss = 2 is out of range"));
  CHECK_THAT(refusal("qps = 1.5"), ContainsSubstring("out of range"));
  CHECK_THAT(refusal("loss = \"much\""), ContainsSubstring("loss is not a number"));
  CHECK_THAT(refusal("base = \"x\""), ContainsSubstring("base names no scenario"));
  CHECK_THAT(refusal("size_min = 10\nsize_max = 5"), ContainsSubstring("a minimum is above its maximum"));
  CHECK_THAT(refusal("[[rule]]\nplane = 1"), ContainsSubstring("unknown key plane in a rule"));
  CHECK_THAT(refusal("[[rule]]\nqps = 1"), ContainsSubstring("unknown key qps in a rule"));
  CHECK_THAT(refusal("[[rule]]\nplanes = [9]"), ContainsSubstring("no plane of that number"));
  CHECK_THAT(refusal("[[rule]]\nto = \"me\""), ContainsSubstring("is no direction"));
  CHECK_THAT(refusal("rule = 1"), ContainsSubstring("rule is no table"));
  CHECK_THROWS_AS(load_scenario("/no/such/file"), ScenarioError);
  CHECK_THROWS_AS(load_scenario("/"), ScenarioError);
}

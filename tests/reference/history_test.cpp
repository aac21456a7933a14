// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>

#include "reference/run.hpp"
#include "tests/reference/breaking.hpp"

namespace mrc::test::history_test {

using ref::Rule;

namespace {

ref::Run judge(const std::vector<Happening>& story) {
  ref::Run run({});
  for (const Happening& h : story) run.push(h.record);
  run.finish();
  return run;
}

std::set<Rule> broken(const ref::Run& run) {
  std::set<Rule> rules;
  for (std::size_t i = 0; i < ref::kNumRules; ++i) {
    if (run.tally(static_cast<Rule>(i)).broken != 0) rules.insert(static_cast<Rule>(i));
  }
  return rules;
}

bool of_history(std::size_t i) { return std::string(ref::kRules[i].part) == "history"; }

}  // namespace

TEST_CASE("each rule of history has a life that breaks it", "[reference][history]") {
  for (std::size_t i = 0; i < ref::kNumRules; ++i) {
    if (!of_history(i)) continue;
    INFO(ref::kRules[i].id);
    CHECK(breaking().contains(static_cast<Rule>(i)));
  }
}

TEST_CASE("a right life breaks no rule, and every rule of history looked at it", "[reference][history]") {
  const ref::Run run = judge(life());
  INFO(run.to_text(""));
  CHECK(run.verdict() == ref::Verdict::Pass);
  // These have nothing to hold unless something is missing.
  const std::set<Rule> silent = {Rule::EvidenceGap, Rule::EvidenceDrops, Rule::EvidenceDouble, Rule::EvidenceUnseen};
  for (std::size_t i = 0; i < ref::kNumRules; ++i) {
    if (!of_history(i) || silent.contains(static_cast<Rule>(i))) continue;
    INFO(ref::kRules[i].id);
    CHECK(run.tally(static_cast<Rule>(i)).checked > 0);
  }
}

TEST_CASE("what breaks a rule is found, and named by it", "[reference][history]") {
  for (const auto& [rule, how] : breaking()) {
    const ref::Run run = judge(life(how.changes, how.captured));
    INFO(ref::info(rule).id << "\n" << run.to_text(""));
    CHECK(broken(run).contains(rule));
    CHECK(run.verdict() != ref::Verdict::Pass);
    bool notified = false;
    for (const ref::Finding& f : run.findings()) notified |= f.rule == rule && !f.came.empty() && !f.right.empty();
    CHECK(notified);
  }
}

}  // namespace mrc::test::history_test

// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/random_scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gen/protocol.hpp"
#include "tb/compare/report.hpp"
#include "tests/tb/runs.hpp"

namespace mrc::test::random_scenario_test {

using namespace mrc::tb;

namespace {

/// Both have the same values for every key and every rule.
void same(Scenario a, Scenario b) {
  for (const ScenarioKey& key : scenario_keys()) {
    INFO(key.name);
    CHECK(key.value(a) == key.value(b));
  }
  REQUIRE(a.rules.size() == b.rules.size());
  for (std::size_t i = 0; i < a.rules.size(); ++i) {
    LinkRule &x = a.rules[i], &y = b.rules[i];
    INFO("rule " << i);
    CHECK(x.planes == y.planes);
    CHECK(x.ev_share == y.ev_share);
    CHECK(x.to_peer == y.to_peer);
    CHECK(x.to_dut == y.to_dut);
    CHECK(x.from_us == y.from_us);
    CHECK(x.until_us == y.until_us);
    CHECK(x.what.loss == y.what.loss);
    CHECK(x.what.trim == y.what.trim);
    CHECK(x.what.lasthop == y.what.lasthop);
    CHECK(x.what.ecn == y.what.ecn);
    CHECK(x.what.reorder == y.what.reorder);
    CHECK(x.what.penalty == y.what.penalty);
  }
}

}  // namespace

TEST_CASE("a scenario written as TOML is the same when read", "[tb][scenario][random]") {
  for (const Scenario& s : scenarios()) {
    INFO(s.name);
    const Scenario read = parse_scenario(scenario_toml(s), "written.toml");
    CHECK(read.description == s.description);
    same(read, s);
  }
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    INFO(seed);
    const Scenario s = random_scenario(seed);
    same(parse_scenario(scenario_toml(s), "written.toml"), s);
  }
}

TEST_CASE("every key is drawn, or it is said why not; every value is one that the key takes",
          "[tb][scenario][random]") {
  std::set<std::string> known;
  for (const RandomKey& key : random_keys()) {
    INFO(key.name);
    CHECK(known.insert(key.name).second);
    std::istringstream values(key.values);
    std::set<double> different;
    for (double value = 0; values >> value;) {
      Scenario s;
      CHECK_NOTHROW(set_key(s, key.name, value, "test"));
      different.insert(value);
    }
    CHECK(values.eof());
    CHECK(different.size() > 1);
  }
  for (const RandomKey& key : keys_not_drawn()) {
    INFO(key.name);
    CHECK(known.insert(key.name).second);
  }
  for (const ScenarioKey& key : scenario_keys()) {
    INFO(key.name);
    CHECK(known.erase(key.name) == 1);
  }
  CHECK(known.empty());
}

TEST_CASE("seeds draw different scenarios, each the same again", "[tb][scenario][random]") {
  std::set<std::string> texts, bases;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const Scenario s = random_scenario(seed);
    CHECK(scenario_toml(s) == scenario_toml(random_scenario(seed)));
    texts.insert(scenario_toml(s));
    bases.insert(s.description.substr(0, s.description.find(' ')));
  }
  CHECK(texts.size() > 290);
  // Those whose peer forges frames are drawn by random:fuzz alone.
  const auto forging = std::ranges::count_if(scenarios(), [](const Scenario& s) { return s.fuzz_us > 0; });
  CHECK(forging > 0);
  CHECK(bases.size() == scenarios().size() - static_cast<size_t>(forging));
}

// Found by such runs: a completion before its data (late-data). Longer: mrc cosim --scenario random --seeds 1000.
TEST_CASE("scenarios drawn from seeds pass in lockstep", "[tb][random]") {
  for (const char* preset : {"tiny", "asic800"}) {
    for (uint64_t seed = 1; seed <= (preset == std::string("tiny") ? 12 : 4); ++seed) {
      CosimOptions o = short_run(preset, "clean", 1000, seed);
      o.scenario = random_scenario(seed);
      use_rtl(o);
      const CosimResult r = run_cosim(o);
      INFO(preset << " seed " << seed << ", " << o.scenario.description << ": " << r.problem << r.error
                  << failure_text({}, r));
      REQUIRE(r.outcome == Outcome::Pass);
    }
  }
}

// QPs fail while software writes tables: csr once waited for blocks that waited for it. In 50088, where that was, all
// fail before anything has arrived.
TEST_CASE("QPs that fail during table writes do not stop the NIC", "[tb][random]") {
  for (const uint64_t seed : {50088, 50113}) {
    CosimOptions o = short_run("tiny", "clean", 1500, seed);
    o.scenario = random_scenario(seed);
    o.scenario.lives = 1;
    use_rtl(o);
    const CosimResult r = run_cosim(o);
    INFO(seed << ", " << o.scenario.description << ": " << r.problem << r.error << failure_text({}, r));
    CHECK(r.outcome == (seed == 50113 ? Outcome::Pass : Outcome::Empty));
    CHECK(r.failed_qps > 10);
  }
}

TEST_CASE("WRITEs of no bytes that count for nothing pass a controller whose window is full", "[tb][random]") {
  for (const uint64_t seed : {1, 2}) {
    CosimOptions o = short_run("tiny", "collectives", 600, seed);
    o.scenario.cc_share = o.scenario.ts_share = 1;
    o.scenario.nominal = static_cast<uint32_t>(mrc::Nominal::Payload);
    o.scenario.cc_rtt_ns = 2000;
    o.scenario.link.loss = 0.05;
    use_rtl(o);
    const CosimResult r = run_cosim(o);
    INFO("seed " << seed << ": " << r.error << r.problem);
    CHECK(r.outcome == Outcome::Pass);
  }
}

// QPs fail and their messages' memory gets other owners, while packets still wait in a lane that the host starves.
TEST_CASE("memory of an abandoned message is not used again before its packets have left", "[tb][random]") {
  for (const uint64_t seed : {21011U, 72072U}) {
    CosimOptions o = short_run("tiny", "clean", 1500, seed);
    o.scenario = random_scenario(seed);
    o.scenario.lives = 1;
    const CosimResult r = run_cosim(o);
    INFO(o.scenario.description << ": " << r.problem << r.error << failure_text({}, r));
    CHECK(r.outcome == Outcome::Pass);
    CHECK(r.failed_qps > 0);
  }
}

TEST_CASE("a host that does not want its QPs to fail keeps to the limits of immediates", "[tb][random]") {
  CosimOptions o = short_run("tiny", "immediate", 800);
  o.scenario.max_wimm = 2;
  o.scenario.max_wimm_dest = 1;
  o.scenario.outstanding = 16;
  const CosimResult r = run_cosim(o);
  INFO(r.problem << failure_text({}, r));
  CHECK(r.outcome == Outcome::Pass);
  CHECK(r.failed_qps == 0);
  CHECK(r.immediates > 20);
}

TEST_CASE("a scenario near another one differs from it in few values", "[tb][scenario][random]") {
  // Lines of the scenario as text: keys with the default's value have none. Name and description always differ.
  const auto lines = [](const Scenario& s) {
    std::set<std::string> found;
    std::istringstream text(scenario_toml(s));
    for (std::string line; std::getline(text, line);)
      if (!line.starts_with("name") && !line.starts_with("description")) found.insert(line);
    return found;
  };
  for (const std::string near : {"loss", "1234"}) {
    const auto of = near == "loss" ? lines(*find_scenario("loss")) : lines(random_scenario(1234));
    std::size_t different = 0;
    for (uint64_t seed = 1; seed <= 50; ++seed) {
      const Scenario s = random_named("random:" + near, seed);
      CHECK(scenario_toml(s) == scenario_toml(random_scenario_near(near, seed)));
      std::vector<std::string> other;
      std::ranges::set_symmetric_difference(of, lines(s), std::back_inserter(other));
      INFO(near << ", seed " << seed << ", lines:\n" << fmt::format("{}", fmt::join(other, "\n")));
      CHECK(other.size() <= 2UL * 20);  // of some 80 keys; a value that changes is two lines
      different += !other.empty();
    }
    CHECK(different > 35);
  }
  CHECK(scenario_toml(random_named("random", 7)) == scenario_toml(random_scenario(7)));
  CHECK(is_random("random:x"));
  CHECK_FALSE(is_random("randomly"));
  for (const char* wrong : {"no such", "loss/", "loss/x", "loss/7/", "loss+", "loss+no such", "loss+rto/x", "loss 7",
                            "loss+rto+trim", "loss+trim=x", "loss+trim=2", "loss+what=1", "loss+trim=", "loss+=1"})
    CHECK_THROWS_AS(random_named(std::string("random:") + wrong, 1), mrc::InputError);
}

TEST_CASE("a step towards a scenario is a run: what is near it, or crossed with another one",
          "[tb][scenario][random]") {
  const auto toml = [](const char* name, uint64_t seed) { return scenario_toml(random_named(name, seed)); };
  CHECK(toml("random:loss/7", 8) != toml("random:loss/8", 7));
  CHECK(toml("random:loss/7/8/9", 10) == toml("random:loss/7/8/9", 10));
  // Each value is that of one of the two; loss has 2 % loss alone, bad-ev has rules and backups.
  Scenario a = *find_scenario("loss"), b = *find_scenario("bad-ev");
  unsigned of_a = 0, of_b = 0, rules = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Scenario s = random_named("random:loss+bad-ev", seed);
    for (const ScenarioKey& key : scenario_keys()) {
      const double value = key.value(s), one = key.value(a), other = key.value(b);
      if (std::string_view(key.name) == "hang_us" || std::string_view(key.name) == "back_us" || one == other) continue;
      INFO(key.name);
      CHECK((value == one || value == other || std::string_view(key.name) == "may_fail"));
      (value == one ? of_a : of_b) += 1;
    }
    CHECK((s.rules.size() == a.rules.size() || s.rules.size() == a.rules.size() + b.rules.size()));
    rules += s.rules.size() != a.rules.size();
  }
  CHECK((of_a > of_b / 2 && of_b > of_a / 2 && rules > 10 && rules < 30));
  // A value that is named is set; what follows may change it like any other.
  unsigned same = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) same += random_named("random:loss+trim=0.25", seed).link.trim == 0.25;
  CHECK(same > 14);
  CHECK(toml("random:loss+trim=0.25+ecn=1+bad-ev/4/5", 6) != toml("random:loss+ecn=1+bad-ev/4/5", 6));
  // What was crossed goes on from there.
  CHECK(random_named("random:loss+bad-ev/3", 4)
            .description.starts_with(random_named("random:loss+bad-ev", 3).description + ", near it"));
}

}  // namespace mrc::test::random_scenario_test

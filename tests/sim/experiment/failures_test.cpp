// SPDX-License-Identifier: Apache-2.0
// Failures at a rate: how many, how long, of what, from the seed alone.
#include "sim/experiment/failures.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <set>

#include "sim/experiment/experiment.hpp"

namespace mrc::test::failures_test {

using namespace mrc::sim;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* kTopology = "[topology]\nleaves = 2\nhosts_per_leaf = 4\nspines = 4\nplanes = 2\ngbps = 100\n";
/// Ranks that compute: nothing but failures happens.
std::string quiet(const std::string& compute_us) {
  return "hang_us = 1e9\nduration_us = 1e9\nsampling = false\n" +
         (kTopology + std::string("[[job]]\n[[job.phase]]\ncompute_us = ")) + compute_us + "\n";
}
std::string failure(const std::string& keys) { return "[[event]]\n" + keys + "\n"; }
ExperimentResult run(const std::string& text, uint64_t seed = 1, unsigned threads = 1) {
  Scenario s = parse_fabric_scenario(text, "s.toml");
  s.threads = threads;
  return Experiment(s, seed).run();
}
std::string refusal(const std::string& keys) {
  try {
    Experiment(parse_fabric_scenario(quiet("10") + failure(keys), "s.toml"), 1);
  } catch (const InputError& e) {
    return e.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("as many failures as the rate says, of all links, each for its time", "[sim][experiment][failures]") {
  // 16 NIC links fail once in 10 ms each: in a second 1600, give or take three times 40.
  const std::string text =
      quiet("1e6") +
      failure("what = \"link-down\"\nlink = \"random-nic\"\nper_hour = 360_000\nfor_us = 1\nmost_us = 1000");
  const ExperimentResult r = run(text);
  REQUIRE(r.outcome == Outcome::Done);
  REQUIRE(r.failures.size() == 1);
  const FailureResult& f = r.failures[0];
  CHECK(f.text == "link-down of 16 links, 360000 an hour each");
  CHECK(f.times > 1480);
  CHECK(f.times < 1720);
  // By powers of ten from 1 to 1000 us the mean is 999 / ln 1000 = 144.6 us.
  const double mean = static_cast<double>(f.lasted) / static_cast<double>(f.times) / kUs;
  CHECK(mean > 125);
  CHECK(mean < 165);
  CHECK(r.events.size() == Failures::kReported);
  std::set<std::string> links;
  for (const EventResult& e : r.events) links.insert(e.text.substr(0, e.text.find(" down")));
  CHECK(links.size() == 16);
  // The seed's, and nobody else's.
  CHECK(run(text).events_digest == r.events_digest);
  CHECK(run(text, 2).failures[0].times != f.times);
}

TEST_CASE("a link with two failures is up when both are over; a bundle fails as one", "[sim][experiment][failures]") {
  // On average a link has more failures than one at any time, and none at the end.
  Scenario s =
      parse_fabric_scenario(quiet("20_000") + failure("what = \"link-down\"\nlink = \"random-uplink\"\nbundle = 3\n"
                                                      "per_hour = 3_600_000\nfor_us = 3000"),
                            "s.toml");
  Experiment e(s, 1);
  std::set<LinkId> down;
  size_t looked = 0, most = 0;
  const Topology& t = e.topology();
  for (Time at = kMs; at < 20 * kMs; at += 100 * kUs) {
    e.fabric().at(at, [&] {
      size_t now = 0;
      for (LinkId l = t.hosts() * t.planes(); l < t.links(); ++l) {
        if (e.fabric().link_up(l)) continue;
        down.insert(l);
        ++now;
      }
      most = std::max(most, now);
      ++looked;
      for (LinkId l = 0; l < t.hosts() * t.planes(); ++l) CHECK(e.fabric().link_up(l));
    });
  }
  const ExperimentResult r = e.run();
  REQUIRE(r.outcome == Outcome::Done);
  CHECK(looked == 190);
  CHECK(down.size() == 16);
  CHECK(most > 12);
  CHECK_THAT(r.events[0].text, ContainsSubstring("down for 3000 us"));
  size_t bundles = 0;
  for (const EventResult& event : r.events) bundles += event.text.find(" and 2 more") != std::string::npos ? 1 : 0;
  CHECK(bundles > 20);
  CHECK(bundles < r.events.size());  // the last links of a T0 have fewer neighbours
}

TEST_CASE("a job under failures ends, the same by threads, and takes longer", "[sim][experiment][failures]") {
  const std::string job =
      kTopology +
      std::string("[[job]]\nsteps = 10\n[[job.phase]]\ncompute_us = 50\ncollective = \"ring\"\nbytes = 400_000\n");
  const std::string life =
      failure("what = \"link-flap\"\nlink = \"random-nic\"\nper_hour = 5e5\nfor_us = 5\nmost_us = 200") +
      failure("what = \"link-loss\"\nlink = \"random-uplink\"\nper_hour = 3e6\nfor_us = 100\nloss = 0.1") +
      failure("what = \"switch-reboot\"\nnode = \"random-T1\"\nper_hour = 3e6\nfor_us = 20");
  const ExperimentResult calm = run(job), r = run("windows = \"never\"\n" + (job + life));
  REQUIRE(r.outcome == Outcome::Done);
  for (const FailureResult& f : r.failures) CHECK(f.times > 0);
  CHECK(r.total.retransmissions > 0);
  CHECK(r.jobs[0].end > calm.jobs[0].end);
  CHECK(r.jobs[0].bound == calm.jobs[0].bound);
  for (const unsigned threads : {1u, 2u, 5u}) {
    CHECK(run("windows = \"always\"\n" + (job + life), 1, threads).events_digest == r.events_digest);
  }
}

TEST_CASE("processes that cannot be are refused", "[sim][experiment][failures]") {
  const std::string down = "what = \"link-down\"\nlink = \"random-nic\"\n";
  CHECK_THAT(refusal(down + "per_hour = 1"), ContainsSubstring("failures at a rate that never end"));
  CHECK_THAT(refusal(down + "per_hour = 1\nfor_us = 1\ncount = 3"), ContainsSubstring("per_hour and count"));
  CHECK_THAT(refusal(down + "per_hour = 1e12\nfor_us = 1e6"), ContainsSubstring("less than a nanosecond apart"));
  CHECK_THAT(refusal("what = \"link-rate\"\nlink = \"random\"\ngbps = 1\nper_hour = 1\nfor_us = 1"),
             ContainsSubstring("link-rate at a rate"));
  CHECK_THAT(refusal("what = \"link-down\"\nlink = \"nic99/0\"\nper_hour = 1\nfor_us = 1"),
             ContainsSubstring("the topology has none of these"));
  CHECK_THAT(refusal("what = \"link-down\"\nlink = \"nic0/0\"\nper_hour = 1\nfor_us = 1\nbundle = 2"),
             ContainsSubstring("a bundle of one link"));
  CHECK_THAT(refusal(down + "most_us = 4"), ContainsSubstring("most_us without per_hour"));
}

TEST_CASE("planes are taken down at a rate, whole", "[sim][experiment][failures]") {
  for (const auto& [link, count] : {std::pair{"random-plane", 2}, {"plane1", 1}}) {
    const ExperimentResult r =
        run(quiet("1000") +
            failure(std::string("what = \"link-down\"\nper_hour = 36_000_000\nfor_us = 10\nlink = \"") + link + '"'));
    REQUIRE(r.failures.size() == 1);
    CHECK(r.failures[0].text ==
          (count == 2 ? "link-down of 2 planes, 3.6e+07 an hour each" : "link-down of 1 plane, 3.6e+07 an hour each"));
    CHECK(r.failures[0].times > 2u);
    std::set<std::string> texts;
    for (const EventResult& e : r.events) texts.insert(e.text);
    CHECK(texts.size() == static_cast<size_t>(count));
    CHECK(texts.contains("plane 1 down for 10 us"));
  }
  // All that is sent goes by the other plane.
  const std::string job = "[[job]]\n[[job.phase]]\ncompute_us = 100\ncollective = \"ring\"\nbytes = 100_000\n";
  const std::string down = failure("what = \"link-down\"\nlink = \"plane1\"\nper_hour = 1e9\nfor_us = 1e6");
  Experiment e(parse_fabric_scenario(kTopology + job + down, "s.toml"), 1);
  REQUIRE(e.run().outcome == Outcome::Done);
  for (NodeId h = 0; h < 8; ++h) {
    CHECK(e.fabric().stats(e.topology().host_link(h, 0), true).packets > 10);
    CHECK(e.fabric().stats(e.topology().host_link(h, 1), true).packets < 5);
  }
  CHECK_THAT(refusal("what = \"link-loss\"\nlink = \"plane1\"\nper_hour = 1\nfor_us = 1"),
             ContainsSubstring("link-loss of a whole plane"));
  CHECK_THAT(refusal("what = \"link-down\"\nlink = \"plane9\"\nper_hour = 1\nfor_us = 1"),
             ContainsSubstring("the topology has none of these"));
}

}  // namespace mrc::test::failures_test

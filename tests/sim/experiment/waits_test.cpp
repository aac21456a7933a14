// SPDX-License-Identifier: Apache-2.0
// What the end of a step waited for, back to packets.
#include "sim/job/waits.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "sim/experiment/experiment.hpp"

namespace mrc::test::waits_test {

using namespace mrc::sim;

namespace {

constexpr const char* kJob = R"(
[topology]
kind = "single"
hosts = 4
planes = 2
gbps = 100
evs = 16
backup_evs = 0
[[event]]
what = "link-flap"
link = "nic2/1"
at_us = 1500
for_us = 100
[[job]]
steps = 4
[[job.phase]]
compute_us = 600
jitter = 0.01
collective = "ring"
bytes = 4_000_000
)";

ExperimentResult run(const std::string& text, uint32_t step, unsigned threads = 1) {
  Scenario s = parse_fabric_scenario(text, "s.toml");
  s.threads = threads;
  Experiment e(s, 1);
  e.keep_waits = step;
  return e.run();
}

}  // namespace

TEST_CASE("a chain of waits fills the step, and leads to what failed", "[sim][experiment][waits]") {
  const uint32_t step = GENERATE(0u, 1u, 3u);
  CAPTURE(step);
  const ExperimentResult r = run(kJob, step);
  REQUIRE(r.outcome == Outcome::Done);
  const JobResult& j = r.jobs.front();
  REQUIRE(j.waits.has_value());
  const WaitChain& c = *j.waits;
  CHECK(c.step == step);
  CHECK(c.rank == j.steps[step].last);
  // A ring of four: six messages at most, behind one computation.
  CHECK(c.computations == 1);
  CHECK(c.messages > 0);
  CHECK(c.messages <= 6);
  // Each link of the chain begins when the next one back is done: together they are the step of the rank at its begin,
  // which began when the step before ended there.
  const Time took = j.steps[step].end - j.steps[step].begin, sum = c.computed + c.under_way;
  CHECK(sum >= took);
  CHECK(sum <= took + (step == 0 ? 0 : j.steps[step - 1].spread));
  CHECK(c.computed >= 600 * kUs);
  CHECK(c.computed <= 606 * kUs);
  CHECK(c.under_way + kUs > c.ideal);
  REQUIRE_FALSE(c.slowest.empty());
  for (size_t i = 1; i < c.slowest.size(); ++i) CHECK(c.slowest[i - 1].over() >= c.slowest[i].over());
  if (step != 1) return;
  // The flap is in the second step: the message that took most above the ideal is of the NIC that lost its link.
  const LateMessage& worst = c.slowest.front();
  CHECK((worst.from == 2 || worst.to == 2));
  CHECK(worst.over() > 10 * kUs);
  REQUIRE_FALSE(worst.reported.empty());
  CHECK(worst.reported.back() == "at 1500.000 us: link nic2/1 down");
}

TEST_CASE("chains of waits are the same by any number of threads, and change nothing", "[sim][experiment][waits]") {
  const std::string text = std::string("windows = \"always\"\n") + kJob;
  const ExperimentResult one = run(text, 1), five = run(text, 1, 5);
  CHECK(one.jobs.front().waits->under_way == five.jobs.front().waits->under_way);
  CHECK(one.jobs.front().waits->slowest.front().reported == five.jobs.front().waits->slowest.front().reported);
  Experiment plain(parse_fabric_scenario(text, "s.toml"), 1);
  CHECK(plain.run().events_digest == one.events_digest);
}

}  // namespace mrc::test::waits_test

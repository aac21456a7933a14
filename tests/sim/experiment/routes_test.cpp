// SPDX-License-Identifier: Apache-2.0
// Routes that converge, and jobs that go back when QPs have failed.
#include "sim/experiment/routes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "sim/experiment/experiment.hpp"
#include "tests/sim/box.hpp"

namespace mrc::test::routes_test {

using namespace mrc::sim;

namespace {

constexpr const char* kTwo =
    "routing = \"ecmp\"\nleaves = 3\nhosts_per_leaf = 2\nspines = 2\ngbps = 100\nconverge_us = 100\n";
constexpr const char* kThree =
    "kind = \"clos3\"\nrouting = \"ecmp\"\nleaves = 6\nhosts_per_leaf = 2\nspines = 2\npod_leaves = 2\ncores = 4\n"
    "gbps = 100\nconverge_us = 100\n";

/// Packets from NIC 0 to the last one, one a microsecond, each with an entropy value of its own.
struct Stream {
  Stream(const std::string& text, const char* link, Time down_for) : topology(parse_topology(text, "t.toml")) {
    topology.build(fabric, [&](NodeId) {
      auto one = std::make_unique<Box>();
      box.push_back(one.get());
      return one;
    });
    routes.emplace(topology, fabric);
    const LinkId which = topology.find_link(link);
    fabric.at(100 * kUs, [this, which] { fabric.set_link(which, false); });
    fabric.at(100 * kUs + down_for, [this, which] { fabric.set_link(which, true); });
    for (unsigned us = 1; us < 600; ++us) {
      fabric.at(us * kUs, [this, us] {
        const NodeId to = topology.hosts() - 1;
        Packet& p = box[0]->send(to, 200, wire::kDscpTrimmable);
        p.entropy = us * 0x9e3779b9u;
        p.dst_host = to;
      });
    }
    fabric.run(kSecond);
  }
  /// Those that came between the two times.
  size_t came(unsigned from_us, unsigned to_us) const {
    size_t n = 0;
    for (const Got& got : box.back()->got) n += got.time >= from_us * kUs && got.time < to_us * kUs;
    return n;
  }
  Topology topology;
  Fabric fabric;
  std::vector<Box*> box;
  std::optional<Routes> routes;
};

}  // namespace

TEST_CASE("routes go around a dead link when they have converged, and over it again", "[sim][experiment][routes]") {
  const auto [text, link] = GENERATE(table<const char*, const char*>({{kTwo, "T0-0-0:T1-0-1"},
                                                                      {kTwo, "T0-0-2:T1-0-1"},
                                                                      {kThree, "T0-0-0:T1-0-1"},
                                                                      {kThree, "T0-0-5:T1-0-5"},
                                                                      {kThree, "T1-0-1:T2-0-2"},
                                                                      {kThree, "T1-0-5:T2-0-3"}}));
  CAPTURE(text, link);
  const Stream s(text, link, 300 * kUs);
  const bool core = std::string(link).find("T2") != std::string::npos;
  const size_t before = s.came(110, 200), after = s.came(210, 390), again = s.came(510, 590);
  CHECK(before > (core ? 45 : 25));  // a half, or a quarter, goes by that link and is lost
  CHECK(before < (core ? 85 : 65));
  CHECK(after == 180);
  CHECK(again == 80);
  // Over it again.
  const LinkId which = s.topology.find_link(link);
  CHECK(s.fabric.stats(which, true).packets + s.fabric.stats(which, false).packets > (core ? 30u : 60u));
}

TEST_CASE("a link that is back before routes have converged changes none", "[sim][experiment][routes]") {
  const Stream s(kTwo, "T0-0-2:T1-0-1", 60 * kUs);
  CHECK(s.came(110, 160) < 40);
  CHECK(s.came(170, 590) == 420);
}

namespace {

/// Two RoCE NICs of a single switch; `more`: keys of the run.
std::string two_nics(const std::string& more) {
  return "transport = \"roce\"\nroce_timeout_us = 100\nroce_retries = 3\n" + more + R"(
[topology]
kind = "single"
hosts = 2
routing = "ecmp"
trim = false
gbps = 100
evs = 1
backup_evs = 0
)";
}
/// One loses its link for `down_us` in the fourth step. A step: 1 ms of compute, and 1 MB in two messages.
std::string job(const std::string& more, unsigned down_us) {
  return two_nics("hang_us = 100_000") + R"(
[[event]]
what = "link-down"
link = "nic1/0"
at_us = 3300
for_us = )" +
         std::to_string(down_us) + "\n[[job]]\nsteps = 6\n" + more + R"(
[[job.phase]]
collective = "ring"
compute_us = 1000
bytes = 1_000_000
)";
}

ExperimentResult run(const std::string& text, unsigned threads = 1) {
  Scenario s = parse_fabric_scenario(text, "s.toml");
  s.threads = threads;
  Experiment e(s, 1);
  return e.run();
}

}  // namespace

TEST_CASE("a QP that fails: the step is done again when QPs have been set up anew", "[sim][experiment][routes]") {
  const ExperimentResult r = run(job("restart_us = 6400", 2000));
  REQUIRE(r.outcome == Outcome::Done);
  const JobResult& j = r.jobs.front();
  CHECK(j.restarts == 1);
  CHECK(j.repeated == 1);
  CHECK(j.steps.size() == 6);
  // Looked for every 100 us; four timeouts of 100 us each, at most five.
  const Time step = j.steps[0].end - j.steps[0].begin;
  const Time slow = j.steps[3].end - j.steps[3].begin, lost = slow - step - 6400 * kUs;
  CHECK(lost > 1000 * kUs);  // the compute that is done again
  CHECK(lost < 1700 * kUs);
  for (const size_t s : {1, 2, 4, 5}) CHECK(j.steps[s].end - j.steps[s].begin < step + 5 * kUs);
  CHECK(r.total.failed_qps > 0);
  CHECK(j.stopped == 6400 * kUs);
}

TEST_CASE("a job goes back to its checkpoint", "[sim][experiment][routes]") {
  const JobResult j = run(job("restart_us = 6400\ncheckpoint = 4", 2000)).jobs.front();
  CHECK(j.restarts == 1);
  CHECK(j.repeated == 4);  // three that were done, and the one that was under way
  REQUIRE(j.steps.size() == 6);
  const Time step = j.steps[5].end - j.steps[5].begin;
  CHECK(j.steps[0].end - j.steps[0].begin > 6400 * kUs + 3 * step);  // it holds all that was lost
  CHECK(j.end - j.begin > 9 * step + 6400 * kUs - 500 * kUs);
}

TEST_CASE("a job goes back as often as it takes, the same by any number of threads", "[sim][experiment][routes]") {
  const std::string text = job("restart_us = 640", 8000);
  const ExperimentResult one = run(text);
  CHECK(one.outcome == Outcome::Done);
  CHECK(one.jobs.front().restarts > 2);
  for (const unsigned threads : {2u, 5u}) {
    const ExperimentResult other = run("windows = \"always\"\n" + text, threads);
    CHECK(other.events_digest == one.events_digest);
    CHECK(other.jobs.front().end == one.jobs.front().end);
  }
}

TEST_CASE("without restart_us a failed QP ends the job", "[sim][experiment][routes]") {
  const ExperimentResult r = run(job("", 2000));
  CHECK(r.outcome != Outcome::Done);
  CHECK(r.jobs.front().failed > 0);
  CHECK(r.jobs.front().restarts == 0);
}

TEST_CASE("every rate of failures is multiplied", "[sim][experiment][routes]") {
  const std::string text = "failure_rates = 4\n" + job("", 1) +
                           "[[event]]\nwhat = \"link-flap\"\nlink = \"nic0/0\"\n"
                           "per_hour = 1_000_000\nfor_us = 1\n";
  const Scenario s = parse_fabric_scenario(text, "s.toml");
  const Topology t(s.topology);
  CHECK(Failures(s, t, 1).results().front().text == "link-flap of 1 link, 4e+06 an hour each");
}

namespace {

/// 10 MB from one to the other, in WRITEs of 1 MB.
std::string flow(const std::string& more, const std::string& event) {
  return two_nics("hang_us = 2000\n" + more) + R"(
[[traffic]]
from = "nic0"
to = "nic1"
bytes = 10_000_000
message = 1_000_000
)" + event;
}
constexpr const char* kDown = "[[event]]\nwhat = \"link-down\"\nlink = \"nic1/0\"\nat_us = 300\nfor_us = 2000\n";
/// Data arrive, answers do not.
constexpr const char* kDeaf =
    "[[event]]\nwhat = \"link-loss\"\nlink = \"nic0/0\"\ndirection = \"down\"\nloss = 1\nat_us = 300\nfor_us = 2000\n";
/// 1 MB: 245 frames with 102 bytes of headers, ICRC, FCS, preamble and gap at most, 82.0 us at 100 Gb/s.
constexpr Time kWrite = 82 * kUs;

}  // namespace

TEST_CASE("a flow whose QP fails has failed, if none is set up anew", "[sim][experiment][routes]") {
  const ExperimentResult r = run(flow("", kDown));
  CHECK(r.outcome == Outcome::Failed);
  CHECK(r.flows.front().failed);
  CHECK(r.reopened == 0);
}

TEST_CASE("a QP of a flow is set up anew, and what was not acknowledged is sent again", "[sim][experiment][routes]") {
  const ExperimentResult whole = run(flow("", ""));
  REQUIRE(whole.outcome == Outcome::Done);
  const Time took = whole.flows.front().done - whole.flows.front().begun;
  CHECK(took > 10 * kWrite - 10 * kUs);
  CHECK(took < 10 * kWrite + 10 * kUs);

  // At 300 us three WRITEs are done (246 us); the fourth is lost, with the 54 us that it took. Four timeouts of 100 us,
  // at most five; looked for every 100 us; then 6400 us, more than hang_us.
  const unsigned threads = GENERATE(1u, 2u, 5u);
  const ExperimentResult r = run(flow("roce_reopen_us = 6400", kDown), threads);
  REQUIRE(r.outcome == Outcome::Done);
  const Flow& f = r.flows.front();
  CHECK_FALSE(f.failed);
  const Time lost = f.done - f.begun - took;
  CHECK(lost > (6400 + 400 + 50) * kUs);
  CHECK(lost < (6400 + 500 + 100 + 60) * kUs);
  CHECK(r.reopened == 1);
  CHECK(r.total.failed_qps == 1);
  // What had arrived of the fourth came twice.
  CHECK(r.total.delivered_bytes > 10'600'000);
  CHECK(r.total.delivered_bytes < 10'700'000);
  static std::optional<uint64_t> digest;
  if (!digest) digest = r.events_digest;
  CHECK(r.events_digest == *digest);
}

TEST_CASE("what arrived, but whose ACK did not, comes twice and counts once", "[sim][experiment][routes]") {
  const ExperimentResult r = run(flow("roce_reopen_us = 6400", kDeaf));
  REQUIRE(r.outcome == Outcome::Done);
  const Flow& f = r.flows.front();
  // The sender knows nothing of what arrives after 300 us, and sends it again from 6400 + 400 us later on.
  CHECK(f.done - f.begun > 6800 * kUs);
  CHECK(r.total.delivered_bytes > 10'000'000);
  CHECK(f.delivered < f.done);
  CHECK(r.reopened == 1);
}

TEST_CASE("a QP that fails again is set up again", "[sim][experiment][routes]") {
  const ExperimentResult r = run(flow("roce_reopen_us = 500", kDown));
  REQUIRE(r.outcome == Outcome::Done);
  // Down from 300 to 2300 us: each life of it lasts 400 us at least, and the next begins 500 us later.
  CHECK(r.reopened >= 2);
  CHECK(r.reopened <= 3);
  CHECK(r.total.failed_qps == r.reopened);
}

}  // namespace mrc::test::routes_test

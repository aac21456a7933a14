// SPDX-License-Identifier: Apache-2.0
// Jobs in a fabric of fast NICs: steps against the ideal fabric and against arithmetic by hand, the same by any number
// of threads, failures, refusals.
#include "sim/experiment/jobs.hpp"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "sim/experiment/experiment.hpp"
#include "sim/job/goal.hpp"

namespace mrc::test::jobs_test {

using namespace mrc::sim;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* kTopology = "[topology]\nleaves = 4\nhosts_per_leaf = 4\nspines = 4\nplanes = 2\ngbps = 100\n";
std::string job(const std::string& keys, const std::string& phase) {
  return "[[job]]\n" + keys + "\n[[job.phase]]\n" + phase + "\n";
}
ExperimentResult run(const std::string& text, uint64_t seed = 1, unsigned threads = 1) {
  Scenario s = parse_fabric_scenario(text, "s.toml");
  s.threads = threads;
  return Experiment(s, seed).run();
}
std::string refusal(const std::string& text) {
  try {
    Experiment(parse_fabric_scenario(text, "s.toml"), 1);
  } catch (const InputError& e) {
    return e.what();
  }
  return "none";
}
double over(const StepResult& s) { return static_cast<double>(s.end - s.begin) / static_cast<double>(s.bound); }

}  // namespace

TEST_CASE("a ring over NICs of one T0: what its messages take by hand, within 2 %", "[sim][experiment][job]") {
  // Four ranks: 6 messages of 256 KiB, 64 packets of 4238 + 24 bytes, 32 on each of two planes of 100 Gb/s.
  const ExperimentResult r = run(kTopology + job("steps = 3\nranks = 4", "collective = \"ring\"\nbytes = 1_048_576"));
  REQUIRE(r.outcome == Outcome::Done);
  REQUIRE(r.jobs.size() == 1);
  const JobResult& j = r.jobs[0];
  CHECK(j.messages == 3u * 4 * 6);
  CHECK(j.bytes == j.messages * 262'144);
  CHECK(r.total.delivered_bytes == j.bytes);
  REQUIRE(j.steps.size() == 3);
  // A byte takes 80 ps. Two links with 100 ns for FEC, 2 m, the second stores the frame again; 500 ns in the switch.
  const Time frames = 32 * 4262 * 80, link = (100 + 10) * kNs, store = (4262 - 12) * 80;
  // 164 ns from the work request to the wire; 25/32 of a frame's time to the MAC, as much of its payload to memory.
  const Time ends = 164 * kNs + 4238 * 80 * 25 / 32 + 18 * kNs + 4096 * 80 * 25 / 32;
  // A SACK for 16 KiB, 152 bytes on both planes together, is in the way of what its sender has.
  const Time answers = 16 * 152 * 40;
  const Time step = 6 * (frames + 2 * link + store + 500 * kNs + ends + answers);
  for (const StepResult& s : j.steps) {
    CHECK(s.bound > step - step / 500);
    CHECK(s.bound < step + step / 500);
    CHECK(over(s) > 0.98);
    CHECK(over(s) < 1.02);
    CHECK(s.spread < 2 * kUs);
  }
}

TEST_CASE("without failures each collective takes what it takes in an ideal fabric, or little more",
          "[sim][experiment][job]") {
  // Measured, with a little room: SACKs share the way with data, and where two send to one some packets are trimmed.
  struct Case {
    const char* phase;
    double most;
  };
  const Case cases[] = {
      {"collective = \"ring\"\nbytes = 400_000\ncompute_us = 20\njitter = 0.1\nbuckets = 2", 1.01},
      {"collective = \"alltoall\"\nbytes = 400_000", 1.02},
      {"collective = \"pipeline\"\nover = \"pipeline\"\nbytes = 400_000\nbuckets = 4\ncompute_us = 200", 1.01},
      {"collective = \"hierarchical\"\nlocal = 4\nbytes = 400_000\ncompute_us = 400", 1.02},
      {"collective = \"hierarchical\"\nlocal = 4\nbytes = 400_000", 1.05},
      {"collective = \"tree\"\nbytes = 400_000\ncompute_us = 4000", 1.02},
      {"collective = \"tree\"\nbytes = 400_000", 1.3},
      {"collective = \"alltoall\"\nover = \"expert\"\nbytes = 800_000\nskew = 0.5\nwindow = 3", 1.15},
  };
  for (const Case& c : cases) {
    CAPTURE(c.phase);
    const std::string phase = c.phase;
    const bool groups = phase.find("over") != std::string::npos;
    const ExperimentResult r = run("[topology]\nkind = \"single\"\nhosts = 16\nplanes = 2\ngbps = 100\n" +
                                   job(groups ? "steps = 4\npipeline = 2\nexpert = 4" : "steps = 4", phase));
    REQUIRE(r.outcome == Outcome::Done);
    const JobResult& j = r.jobs[0];
    CHECK(j.steps.size() == 4);
    const double over_all = static_cast<double>(j.end) / static_cast<double>(j.bound);
    CHECK(over_all > (phase.find("skew") == std::string::npos ? 0.9995 : 0.99));
    CHECK(over_all < c.most);
  }
}

TEST_CASE("communication alone takes what it takes in an ideal fabric, and never less", "[sim][experiment][job]") {
  struct Case {
    const char* phase;
    double most;
  };
  const Case cases[] = {
      {"collective = \"ring\"\nbytes = 8_000_000", 1.025},
      {"collective = \"alltoall\"\nbytes = 400_000", 1.012},
      {"collective = \"hierarchical\"\nlocal = 4\nbytes = 8_000_000", 1.035},
      {"collective = \"tree\"\nbytes = 4_000_000\npieces = 32", 1.2},
      {"collective = \"tree\"\nbytes = 4_000_000\npieces = 32\nwindow = 8", 1.2},
  };
  for (const Case& c : cases) {
    CAPTURE(c.phase);
    const ExperimentResult r = run("[topology]\nleaves = 4\nhosts_per_leaf = 4\nspines = 16\nplanes = 2\ngbps = 100\n" +
                                   job("steps = 2", c.phase));
    REQUIRE(r.outcome == Outcome::Done);
    const double over_all = static_cast<double>(r.jobs[0].end) / static_cast<double>(r.jobs[0].bound);
    CHECK(over_all >= 1);
    CHECK(over_all < c.most);
  }
}

TEST_CASE("a job: the same in windows, in order, and by any number of threads", "[sim][experiment][job]") {
  const std::string text =
      kTopology +
      job("steps = 4\nplacement = \"random\"\ntensor = 2",
          "compute_us = 5\njitter = 0.2\ncollective = \"ring\"\nover = \"data\"\nbytes = 200_000\nbuckets = 2\n"
          "[[job.phase]]\ncollective = \"alltoall\"\nover = \"tensor\"\nbytes = 50_000") +
      "[[event]]\nwhat = \"link-down\"\nlink = \"random-nic\"\nat_us = 30\nfor_us = 50\n"
      "[[event]]\nwhat = \"link-loss\"\nlink = \"random-uplink\"\nloss = 0.05\nat_us = 2\n";
  for (const char* traffic : {"", "[[traffic]]\npattern = \"permutation\"\nbytes = 600_000\n"}) {
    const ExperimentResult first = run("windows = \"never\"\n" + text + traffic, 3);
    REQUIRE(first.outcome == Outcome::Done);
    CHECK(first.total.retransmissions > 0);
    for (const unsigned threads : {1u, 2u, 5u}) {
      CAPTURE(threads, traffic);
      Scenario s = parse_fabric_scenario("windows = \"always\"\n" + text + traffic, "s.toml");
      s.threads = threads;
      Experiment e(s, 3);
      const ExperimentResult r = e.run();
      CHECK(e.fabric().windows() > 10);
      CHECK(r.events_digest == first.events_digest);
      CHECK(r.time == first.time);
      REQUIRE(r.jobs[0].steps.size() == 4);
      for (size_t i = 0; i < 4; ++i) {
        CHECK(r.jobs[0].steps[i].end == first.jobs[0].steps[i].end);
        CHECK(r.jobs[0].steps[i].last == first.jobs[0].steps[i].last);
      }
    }
  }
}

TEST_CASE("a NIC that loses a port makes the steps of all ranks longer", "[sim][experiment][job]") {
  // From then on a NIC has one port of two.
  const ExperimentResult r =
      run(kTopology + job("steps = 20", "collective = \"hierarchical\"\nlocal = 4\nbytes = 1_000_000") +
          "[[event]]\nwhat = \"link-down\"\nlink = \"nic6/1\"\nat_us = 1000\n");
  REQUIRE(r.outcome == Outcome::Done);
  const std::vector<StepResult>& steps = r.jobs[0].steps;
  REQUIRE(steps.size() == 20);
  CHECK(over(steps.front()) < 1.06);
  CHECK(over(steps.back()) > 1.5);
  CHECK(over(steps.back()) < 2.1);
}

TEST_CASE("compute takes longer than the guard for hangs: the run goes on", "[sim][experiment][job]") {
  const std::string text =
      "hang_us = 100\n" + (kTopology + job("steps = 2", "compute_us = 5000\ncollective = \"ring\"\nbytes = 16_000"));
  const ExperimentResult r = run(text);
  CHECK(r.outcome == Outcome::Done);
  CHECK(r.jobs[0].steps.size() == 2);
  CHECK(r.time > 10 * kMs);
  // Nothing moves while they compute: hardly an event.
  const ExperimentResult without = run(kTopology + job("steps = 2", "collective = \"ring\"\nbytes = 16_000"));
  CHECK(r.fabric_events < without.fabric_events + 16 * 40);
}

TEST_CASE("a rank that loses all its ports: the job hangs, and says who waits", "[sim][experiment][job]") {
  const ExperimentResult r = run("[topology]\nkind = \"single\"\nhosts = 4\ngbps = 100\n" +
                                 job("steps = 5", "compute_us = 10\ncollective = \"ring\"\nbytes = 400_000") +
                                 "[[event]]\nwhat = \"link-down\"\nlink = \"nic2/0\"\nat_us = 50\n");
  CHECK((r.outcome == Outcome::Hang || r.outcome == Outcome::Failed));
  CHECK_THAT(r.reason, ContainsSubstring("steps have not ended: rank"));
  CHECK(r.jobs[0].steps.size() < 5);
}

TEST_CASE("ranks by rail: those of one place in their server are under the same T0s", "[sim][experiment][job]") {
  Scenario s = parse_fabric_scenario(
      kTopology + job("placement = \"rail\"\ngpus = 2", "collective = \"ring\"\nbytes = 1000"), "s.toml");
  const Topology topology(s.topology);
  Experiment e(s, 1);
  const ExperimentResult r = e.run();
  std::set<NodeId> all;
  for (uint32_t rank = 0; rank < 16; ++rank) {
    const NodeId nic = r.jobs[0].nics[rank];
    all.insert(nic);
    CHECK(topology.leaf_of(nic) / 2 == rank % 2);
  }
  CHECK(all.size() == 16);
  CHECK(r.jobs[0].nics[0] == 0);
  CHECK(r.jobs[0].nics[2] == 1);
  CHECK(r.jobs[0].nics[1] == 8);
}

TEST_CASE("jobs that cannot be are refused with their line", "[sim][experiment][job]") {
  const std::string ring = "collective = \"ring\"";
  CHECK_THAT(refusal(kTopology + job("ranks = 17", ring)), ContainsSubstring("17 ranks are more than the 16 NICs"));
  CHECK_THAT(refusal(kTopology + job("tensor = 3", ring)),
             ContainsSubstring("16 ranks are not a multiple of tensor x pipeline = 3 x 1"));
  CHECK_THAT(refusal(kTopology + job("expert = 5", ring)), ContainsSubstring("data = 16 is not a multiple"));
  CHECK_THAT(refusal(kTopology + job("", ring + "\nover = \"pipeline\"")), ContainsSubstring("groups of one rank"));
  CHECK_THAT(refusal(kTopology + job("", "collective = \"hierarchical\"\nlocal = 5")),
             ContainsSubstring("not a multiple of local = 5"));
  CHECK_THAT(refusal(kTopology + job("placement = \"rail\"\ngpus = 3", ring)),
             ContainsSubstring("4 T0s of a plane cannot be shared by 3 rails"));
  CHECK_THAT(refusal(kTopology + job("ranks = 10", ring) + job("first = 9", ring)),
             ContainsSubstring("nic9 has a rank of another job already"));
  CHECK_THAT(refusal("duration_us = 50\n" + (kTopology + job("steps = 6", "compute_us = 10"))),
             ContainsSubstring("the job needs 60 us at least"));
  CHECK_THAT(refusal(kTopology + std::string("[[job]]\nsteps = 2\n")), ContainsSubstring("a job without phases"));
  CHECK_THAT(refusal(kTopology + job("groups = \"groups.json\"", ring)), ContainsSubstring("groups without a trace"));
  CHECK_THAT(refusal(kTopology + job("stpes = 2", ring)), ContainsSubstring("unknown key stpes in [[job]]"));
  CHECK_THAT(refusal(kTopology + job("", "colective = \"ring\"")),
             ContainsSubstring("unknown key colective in [[job.phase]]"));
}

TEST_CASE("a job as a trace: the same steps; what is wrong with one is told with its line", "[sim][experiment][job]") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("jobs" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const auto scenario = [&](const std::string& keys) {
    return parse_fabric_scenario(kTopology + std::string("[[job]]\ntrace = \"job.goal\"\n") + keys,
                                 (folder / "s.toml").string());
  };
  const auto file = [&](const std::string& text) { std::ofstream(folder / "job.goal") << text; };
  const auto why = [&](const std::string& keys = {}) -> std::string {
    try {
      Experiment(scenario(keys), 1);
    } catch (const InputError& e) {
      return e.what();
    }
    return "none";
  };
  Experiment job(
      parse_fabric_scenario(kTopology + ::mrc::test::jobs_test::job(
                                            "steps = 3",
                                            "compute_us = 10\n"
                                            "collective = \"hierarchical\"\nlocal = 4\nbytes = 300_000\nbuckets = 2"),
                            "s.toml"),
      1);
  {
    std::ofstream out(folder / "job.goal");
    write_goal(job.jobs().schedule(0), out);
  }
  Experiment trace(scenario(""), 1);
  const ExperimentResult a = job.run(), b = trace.run();
  REQUIRE(b.outcome == Outcome::Done);
  REQUIRE(b.jobs[0].steps.size() == 1);
  CHECK(a.jobs[0].end == b.jobs[0].end);
  CHECK(a.jobs[0].bound == b.jobs[0].bound);
  CHECK(a.jobs[0].bytes == b.jobs[0].bytes);
  CHECK(b.jobs[0].steps[0].end == b.jobs[0].end);
  const std::string name = (folder / "job.goal").string();

  file("num_ranks 2\nrank 0 {\nsend 100b to 1 tag 3\n}\nrank 1 {\nrecv 90b from 0 tag 3\n}\n");
  CHECK(why() ==
        name + ":6: the job cannot end: rank 1 waits for 90 bytes from rank 0 with tag 3, but 100 bytes came.");
  file("num_ranks 2\nrank 0 {\nsend 100b to 1 tag 3\n}\nrank 1 {\nrecv 100b from 0 tag 4\n}\n");
  CHECK(why() == name + ":6: the job cannot end: rank 1 waits for 100 bytes from rank 0 with tag 4.");
  {
    std::ifstream text(name);
    const auto same = read_goal(text, name);
    std::ofstream binary(folder / "job.bin", std::ios::binary);
    write_goal_binary(*same, binary);
  }
  std::filesystem::rename(folder / "job.bin", folder / "job.goal");  // told by its first bytes
  CHECK(why() == name + ": node 0: the job cannot end: rank 1 waits for 100 bytes from rank 0 with tag 4.");
  CHECK_THAT(why("groups = \"groups.json\""), ContainsSubstring("groups with a trace that is none of Chakra's"));
  CHECK_THAT(why("ranks = 3"), ContainsSubstring("ranks = 3, but " + name + " has 2"));
  CHECK_THAT(why("steps = 3"), ContainsSubstring("a job with a trace and steps"));
  CHECK_THAT(why("[[job.phase]]\ncompute_us = 1"), ContainsSubstring("a job with a trace and phases"));
  file("num_ranks 17\n");
  CHECK_THAT(why(), ContainsSubstring("17 ranks are more than the 16 NICs"));
  std::filesystem::remove(folder / "job.goal");
  CHECK(why() == name + ": cannot read the trace: No such file or directory.");
  std::filesystem::remove_all(folder);
}

TEST_CASE("two jobs and traffic beside them, each with its own steps", "[sim][experiment][job]") {
  const ExperimentResult r =
      run(kTopology + job("label = \"a\"\nranks = 8\nsteps = 3", "collective = \"ring\"\nbytes = 80_000") +
          job("label = \"b\"\nfirst = 8\nsteps = 2\nstart_us = 100", "collective = \"tree\"\nbytes = 80_000") +
          "[[traffic]]\npattern = \"flow\"\nfrom = \"nic0\"\nto = \"nic1\"\nbytes = 100_000\n");
  REQUIRE(r.outcome == Outcome::Done);
  REQUIRE(r.jobs.size() == 2);
  CHECK(r.jobs[0].steps.size() == 3);
  CHECK(r.jobs[1].steps.size() == 2);
  CHECK(r.jobs[1].steps[0].begin == 100 * kUs);
  CHECK(r.flows.size() == 1);
  CHECK(r.total.delivered_bytes == r.jobs[0].bytes + r.jobs[1].bytes + 100'000);
}

}  // namespace mrc::test::jobs_test

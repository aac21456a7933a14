// SPDX-License-Identifier: Apache-2.0
// GOAL traces: what they say, what they do in an ideal fabric, and each error by its words and line.
#include "sim/job/goal.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <sstream>

#include "input/error.hpp"
#include "sim/job/collectives.hpp"
#include "sim/job/ideal.hpp"

namespace mrc::test::goal_test {

using namespace mrc::sim;

namespace {

std::unique_ptr<Schedule> read(const std::string& text) {
  std::istringstream in(text);
  return read_goal(in, "job.goal");
}
std::vector<Op> ops(const Schedule& schedule, uint32_t rank) {
  std::vector<Op> list;
  const auto stream = schedule.open(rank);
  for (Op op; stream->next(op);) list.push_back(op);
  return list;
}
std::string error(const std::string& text) {
  try {
    (void)read(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return "none";
}
/// Inside the first of two ranks, from line 3 on.
std::string inside(const std::string& text) { return error("num_ranks 2\nrank 0 {\n" + text + "}\n"); }
IdealMessage network(uint32_t, uint32_t, uint64_t bytes) { return {10 * bytes, 10 * bytes + kUs, kUs}; }

}  // namespace

TEST_CASE("operations, labels, dependencies and comments of a GOAL trace", "[sim][job][goal]") {
  const auto schedule = read(R"(// a comment
num_ranks 3
/* one
   of several lines */ rank 1 {
l1: calc 1500 cpu 2   // ns
l2: send 4096b to 0 tag 7 cpu 1 nic 0
l2 requires l1
recv 10b from 2
l3: calc 5
l3 irequires l2
}
rank 0 {
a:recv 4096b from 1 tag 7
})");
  REQUIRE(schedule->ranks() == 3);
  const std::vector<Op> one = ops(*schedule, 1);
  REQUIRE(one.size() == 4);
  CHECK(one[0].kind == Op::Kind::Calc);
  CHECK(one[0].amount == 1500 * kNs);
  CHECK(one[0].cpu == 2);
  CHECK(one[1].kind == Op::Kind::Send);
  CHECK(one[1].amount == 4096);
  CHECK(one[1].peer == 0);
  CHECK(one[1].tag == 7);
  CHECK(one[1].after == std::vector<uint64_t>{0});
  CHECK(one[2].kind == Op::Kind::Recv);
  CHECK(one[2].peer == 2);
  CHECK(one[2].line == 8);
  CHECK(one[3].after.empty());
  CHECK(one[3].after_begin == std::vector<uint64_t>{1});
  CHECK(ops(*schedule, 0).size() == 1);
  CHECK(ops(*schedule, 2).empty());
  std::vector<uint32_t> peers;
  schedule->peers(1, peers);
  CHECK(peers == std::vector<uint32_t>{0});
  // Once more: streams are all alike.
  CHECK(ops(*schedule, 1).size() == 4);
}

TEST_CASE("an operation that requires a later one comes behind it", "[sim][job][goal]") {
  const auto schedule = read(
      "num_ranks 1\nrank 0 {\nl1: calc 1\nl2: calc 2\nl3: calc 3\nl1 requires l3\nl3 requires l2\nl3 requires l2\n}\n");
  const std::vector<Op> list = ops(*schedule, 0);
  REQUIRE(list.size() == 3);
  CHECK(list[0].amount == 2 * kNs);
  CHECK(list[1].amount == 3 * kNs);
  CHECK(list[1].after == std::vector<uint64_t>{0, 0});
  CHECK(list[2].amount == 1 * kNs);
  CHECK(list[2].after == std::vector<uint64_t>{1});
}

TEST_CASE("a job as GOAL, and back: the same times", "[sim][job][goal]") {
  JobPlan plan{.shape = {.tensor = 2, .data = 4, .pipeline = 2, .expert = 2}, .steps = 3, .phases = {}, .seed = 1};
  plan.phases.push_back(
      {.compute = 20 * kUs, .collective = Collective::Ring, .over = Over::Data, .bytes = 400'000, .buckets = 2});
  plan.phases.push_back({.collective = Collective::AllToAll, .over = Over::Expert, .bytes = 30'000, .skew = 1});
  plan.phases.push_back(
      {.compute = 36 * kUs, .collective = Collective::Pipeline, .over = Over::Pipeline, .bytes = 10'000, .buckets = 3});
  plan.phases.push_back({.collective = Collective::Tree, .bytes = 50'000});
  const auto job = make_schedule(plan);
  std::ostringstream out;
  write_goal(*job, out);
  const auto trace = read(out.str());
  REQUIRE(trace->ranks() == 16);
  const IdealResult a = run_ideal(*job, network), b = run_ideal(*trace, network);
  CHECK(b.problem.text.empty());
  CHECK(a.end == b.end);
  CHECK(a.messages == b.messages);
  CHECK(a.bytes == b.bytes);
  for (uint32_t r = 0; r < 16; ++r) {
    std::vector<uint32_t> of_job, of_trace;
    job->peers(r, of_job);
    trace->peers(r, of_trace);
    std::sort(of_job.begin(), of_job.end());
    of_job.erase(std::unique(of_job.begin(), of_job.end()), of_job.end());
    CHECK(of_job == of_trace);
  }
}

TEST_CASE("many operations go through the file they are kept in", "[sim][job][goal]") {
  std::string text = "num_ranks 2\n";
  for (const char* rank : {"rank 0 {\n", "rank 1 {\n"}) {
    text += rank;
    for (unsigned i = 0; i < 30'000; ++i) {
      text += "l" + std::to_string(i) + ": calc " + std::to_string(i * 977) + "\n";
      if (i > 0) text += "l" + std::to_string(i) + " requires l" + std::to_string(i / 2) + "\n";
    }
    text += "}\n";
  }
  const auto schedule = read(text);
  const auto first = schedule->open(0), second = schedule->open(1);
  Op a, b;
  for (unsigned i = 0; i < 30'000; ++i) {
    REQUIRE(first->next(a));
    REQUIRE(second->next(b));
    REQUIRE(a.amount == uint64_t{i} * 977 * kNs);
    REQUIRE(b.amount == a.amount);
    if (i > 0) REQUIRE(b.after == std::vector<uint64_t>{i / 2});
  }
  CHECK_FALSE(first->next(a));
}

TEST_CASE("what is no GOAL is refused with its line", "[sim][job][goal]") {
  CHECK(error("") == "job.goal:0: no num_ranks.");
  CHECK(error("rank 0 {\n}\n") == "job.goal:1: a rank before num_ranks.");
  CHECK(error("num_ranks 0\n") == "job.goal:1: num_ranks is 0.");
  CHECK(error("num_ranks 2000000\n") == "job.goal:1: 2000000 is too large for the number of ranks.");
  CHECK(error("num_ranks 2\nnum_ranks 2\n") == "job.goal:2: num_ranks a second time.");
  CHECK(error("num_ranks 2\nrank 2 {\n}\n") == "job.goal:2: there is no rank 2.");
  CHECK(error("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n") == "job.goal:4: rank 0 a second time.");
  CHECK(error("num_ranks 2\nrank 0\n{\n}\n") == "job.goal:2: the line's end where \"{\" was expected.");
  CHECK(error("num_ranks 2\nrank 0 {\ncalc 3\n") == "job.goal:3: rank 0 has no }.");
  CHECK(error("num_ranks 2\n/* rank\n") == "job.goal:2: a comment that has no end.");
  CHECK(inside("l1: cal 3\n") == "job.goal:3: \"cal\" where \"calc\", \"send\" or \"recv\" was expected.");
  CHECK(inside("l1 calc 3\n") == "job.goal:3: \"calc\" where \":\", \"requires\" or \"irequires\" was expected.");
  CHECK(inside("calc\n") == "job.goal:3: the line's end where a time in ns was expected.");
  CHECK(inside("calc 3 tag 1\n") == "job.goal:3: \"tag\" where \"cpu\" or the line's end was expected.");
  CHECK(inside("calc -3\n") == "job.goal:3: \"-3\" where a time in ns was expected.");
  CHECK(inside("calc 99999999999999999999\n") == "job.goal:3: 99999999999999999999 is too large for a time in ns.");
  CHECK(inside("calc 3 cpu 64\n") == "job.goal:3: 64 is too large for a cpu.");
  CHECK(inside("\nsend 3b from 1\n") == "job.goal:4: \"from\" where \"to\" was expected.");
  CHECK(inside("send 3b to 5\n") == "job.goal:3: there is no rank 5.");
  CHECK(inside("send 3b to 0\n") == "job.goal:3: rank 0 sends to itself.");
  CHECK(inside("recv 3b from 0\n") == "job.goal:3: rank 0 receives from itself.");
  CHECK(inside("recv 3b from -1\n") == "job.goal:3: a receive from any rank.");
  CHECK(inside("recv 3b from 1 tag -1\n") == "job.goal:3: any tag.");
  CHECK(inside("send 3b to 1 tag 4294967295\n") == "job.goal:3: 4294967295 is too large for a tag.");
  CHECK(inside("send 3b to 1 prio 2\n") ==
        "job.goal:3: \"prio\" where \"tag\", \"cpu\", \"nic\" or the line's end was expected.");
  CHECK(inside("l1: calc 3\nl1: calc 4\n") == "job.goal:4: label l1 a second time in rank 0.");
  CHECK(inside("l1: calc 3\nl1 requires l2\n") == "job.goal:4: rank 0 has no operation l2 above this line.");
  CHECK(inside("l1: calc 3\nl1 requires l1\n") == "job.goal:4: l1 requires itself.");
  CHECK(inside("l1: calc 3\nl2: calc 3\nl1 requires l2\nl2 irequires l1\n") ==
        "job.goal:5: an operation of rank 0 that waits for itself, by others.");
  CHECK(inside(std::string("calc 3\0 5\n", 10)).starts_with("job.goal:3: "));
  CHECK(inside("calc " + std::string(70'000, '1') + "\n") == "job.goal:3: a line of 65535 bytes or more.");
}

}  // namespace mrc::test::goal_test

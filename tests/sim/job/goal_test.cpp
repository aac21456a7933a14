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

namespace {

/// Bytes as they stand in a file: `2:7` are seven in two bytes, the least first.
std::string packed(const std::string& numbers) {
  std::string out;
  std::istringstream in(numbers);
  for (std::string word; in >> word;) {
    const size_t colon = word.find(':');
    uint64_t value = std::stoull(word.substr(colon + 1));
    for (int left = std::stoi(word.substr(0, colon)); left > 0; --left, value >>= 8) {
      out.push_back(static_cast<char>(value));
    }
  }
  return out;
}
std::unique_ptr<Schedule> read_binary(const std::string& bytes) {
  std::istringstream in(bytes);
  return read_goal_binary(in, "job.bin");
}
std::string binary_error(const std::string& bytes) {
  try {
    (void)read_binary(bytes);
  } catch (const InputError& e) {
    return e.what();
  }
  return "none";
}

// Written by hand: rank 0 computes 1500 ns on cpu 2, then sends 4096 bytes to rank 1 with tag 7, and computes 5 ns when
// that has begun; rank 1 receives. Positions count from byte 8: the first block is at 6 + 2 * 16 = 38, and has
// 8 + 4 + 3 * 39 + 2 * 4 = 137 bytes; the second one has 8 + 4 + 39.
const std::string kHead = "8:4223 4:2 1:2 1:0 8:38 8:175 8:175 8:226 ";
const std::string kFirst = "4:3 4:1 4:0 ";
const std::string kCalc = "4:0 1:3 4:0 8:1500 4:0 1:2 1:0 4:1 4:0 4:0 4:1 ";
const std::string kSend = "4:1 1:1 4:1 8:4096 4:7 1:0 1:0 4:0 4:999 4:1 4:1 ";
const std::string kLast = "4:1 1:3 4:0 8:5 4:0 1:0 1:0 4:0 4:2 4:0 4:2 ";
const std::string kAppendix = "4:1 4:2 ";
const std::string kSecond = "4:1 4:1 4:0 ";
const std::string kRecv = "4:0 1:2 4:0 8:4096 4:7 1:0 1:0 4:0 4:0 4:0 4:0 ";

/// With something else in place of one part.
std::string with(const std::string& part, const std::string& instead) {
  std::string all = kHead + kFirst + kCalc + kSend + kLast + kAppendix + kSecond + kRecv;
  return packed(all.replace(all.find(part), part.size(), instead));
}

}  // namespace

TEST_CASE("GOAL's binary form, written by hand", "[sim][job][goal]") {
  const std::string bytes = with(kHead, kHead);
  REQUIRE(bytes.size() == 8 + 226);
  std::istringstream in(bytes), text("num_ranks 2\n");
  CHECK(is_goal_binary(in));
  CHECK_FALSE(is_goal_binary(text));
  const auto schedule = read_goal_binary(in, "job.bin");
  const auto same = read(R"(num_ranks 2
rank 0 {
a: calc 1500 cpu 2
b: send 4096b to 1 tag 7
b requires a
c: calc 5
c irequires b
}
rank 1 {
recv 4096b from 0 tag 7
})");
  REQUIRE(schedule->ranks() == 2);
  for (uint32_t r = 0; r < 2; ++r) {
    const std::vector<Op> one = ops(*schedule, r), other = ops(*same, r);
    REQUIRE(one.size() == other.size());
    for (size_t i = 0; i < one.size(); ++i) {
      CHECK(one[i].kind == other[i].kind);
      CHECK(one[i].amount == other[i].amount);
      CHECK(one[i].peer == other[i].peer);
      CHECK(one[i].tag == other[i].tag);
      CHECK(one[i].cpu == other[i].cpu);
      CHECK(one[i].after == other[i].after);
      CHECK(one[i].after_begin == other[i].after_begin);
      CHECK(one[i].line == i);
    }
  }
  std::ostringstream out;
  write_goal_binary(*same, out);
  // What says nothing, since nobody waits, may be anything: 999 in ours.
  CHECK(out.str() == with("4:999", "4:1"));
}

TEST_CASE("errors of GOAL's binary form name byte, rank and node", "[sim][job][goal]") {
  CHECK(binary_error(with("8:4223", "8:4224")) == "job.bin: byte 0: it begins with 4224, not with 4223.");
  CHECK(binary_error(with("8:4223", "8:2342")) ==
        "job.bin: byte 0: it has been used up by a run of LogGOPSim with --save-mem.");
  CHECK(binary_error(with("4:2 1:2", "4:0 1:2")) == "job.bin: byte 8: 0 ranks.");
  CHECK(binary_error(with("8:38 8:175", "8:38 8:37")) == "job.bin: byte 14: rank 0 is from 38 to 37.");
  CHECK(binary_error(with("8:38 8:175", "8:38 8:170")) ==
        "job.bin: byte 46: rank 0 has 3 nodes, 1 of them first, in 132 bytes.");
  CHECK(binary_error(with(kFirst, "4:9 4:1 4:0 ")) ==
        "job.bin: byte 46: rank 0 has 9 nodes, 1 of them first, in 137 bytes.");
  CHECK(binary_error(with(kFirst, "4:3 4:1 4:2 ")) ==
        "job.bin: byte 54: rank 0: node 2 is not one that waits for nothing.");
  // Nodes are at byte 58, 97 and 136.
  CHECK(binary_error(with("1:1 4:1 8:4096", "1:7 4:1 8:4096")) ==
        "job.bin: byte 97: rank 0, node 1: type 7 is none of GOAL's.");
  CHECK(binary_error(with("1:1 4:1 8:4096", "1:1 4:2 8:4096")) ==
        "job.bin: byte 97: rank 0, node 1: there is no rank 2.");
  CHECK(binary_error(with("1:1 4:1 8:4096", "1:1 4:0 8:4096")) ==
        "job.bin: byte 97: rank 0, node 1: it sends to itself, or receives from itself.");
  CHECK(binary_error(with("1:2 4:0 8:4096", "1:2 4:4294967295 8:4096")) ==
        "job.bin: byte 195: rank 1, node 0: a receive from any rank.");
  CHECK(binary_error(with("8:4096 4:7", "8:4096 4:4294967295")) == "job.bin: byte 97: rank 0, node 1: any tag.");
  CHECK(binary_error(with("8:1500 4:0 1:2", "8:1500 4:0 1:64")) == "job.bin: byte 58: rank 0, node 0: cpu 64.");
  CHECK(binary_error(with("8:1500", "8:2000000000000000")) ==
        "job.bin: byte 58: rank 0, node 0: 2000000000000000 is too large.");
  CHECK(binary_error(with(kSend, "4:2 1:1 4:1 8:4096 4:7 1:0 1:0 4:0 4:0 4:1 4:1 ")) ==
        "job.bin: byte 97: rank 0, node 1: it waits for more, or less, than name it.");
  CHECK(binary_error(with(kCalc, "4:0 1:3 4:0 8:1500 4:0 1:2 1:0 4:1 4:2 4:0 4:1 ")) ==
        "job.bin: byte 58: rank 0, node 0: 1 that wait for it, from 2 on, of 2 in the appendix.");
  // The appendix is at 58 + 3 * 39 = 175.
  CHECK(binary_error(with(kAppendix, "4:1 4:3 ")) ==
        "job.bin: byte 179: rank 0: node 3 waits for node 1, and is not there.");
  CHECK(binary_error(with(kAppendix, "4:1 4:1 ")) ==
        "job.bin: byte 97: rank 0, node 1: it waits for more, or less, than name it.");
  const std::string whole = with(kHead, kHead);
  CHECK(binary_error(whole.substr(0, 20)) == "job.bin: byte 20: it ends within the table of ranks.");
  CHECK(binary_error(whole.substr(0, 100)) == "job.bin: byte 100: it ends within a node.");
  CHECK(binary_error(whole.substr(0, 177)) == "job.bin: byte 177: it ends within the block of rank 0.");
}

TEST_CASE("nodes of GOAL's binary form that wait for each other are named", "[sim][job][goal]") {
  // Node 0 waits for nothing, 1 for 2, 2 for 1.
  const std::string loop =
      "8:4223 4:1 1:0 1:0 8:22 8:159 4:3 4:1 4:0 4:0 1:3 4:0 8:1 4:0 1:0 1:0 4:0 4:0 4:0 4:0 "
      "4:1 1:3 4:0 8:1 4:0 1:0 1:0 4:1 4:0 4:0 4:0 4:1 1:3 4:0 8:1 4:0 1:0 1:0 4:1 4:1 4:0 4:0 "
      "4:2 4:1";
  const std::string said = binary_error(packed(loop));
  CHECK(said == "job.bin: byte 81: rank 0, node 1: it waits for itself, by others.");
}

TEST_CASE("a job in GOAL's binary form, and back: the same times", "[sim][job][goal]") {
  JobPlan plan{.shape = {.tensor = 2, .data = 4}, .steps = 2, .phases = {}, .seed = 1};
  plan.phases.push_back(
      {.compute = 20 * kUs, .collective = Collective::Ring, .over = Over::Data, .bytes = 400'000, .buckets = 2});
  plan.phases.push_back({.collective = Collective::Tree, .bytes = 50'000});
  const auto job = make_schedule(plan);
  std::ostringstream out, text;
  write_goal_binary(*job, out);
  write_goal(*job, text);
  const auto trace = read_binary(out.str()), of_text = read(text.str());
  const IdealResult a = run_ideal(*job, network), b = run_ideal(*trace, network);
  CHECK(b.problem.text.empty());
  CHECK(a.end == b.end);
  CHECK(a.messages == b.messages);
  CHECK(a.bytes == b.bytes);
  std::ostringstream once_more;
  write_goal_binary(*of_text, once_more);
  CHECK(once_more.str() == out.str());
}

}  // namespace mrc::test::goal_test

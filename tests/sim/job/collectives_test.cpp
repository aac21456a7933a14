// SPDX-License-Identifier: Apache-2.0
// Jobs in an ideal fabric, held against arithmetic by hand: bytes, messages, dependencies, time.
#include "sim/job/collectives.hpp"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>

#include "sim/job/ideal.hpp"

namespace mrc::test::collectives_test {

using namespace mrc::sim;

namespace {

/// A byte takes 10 ps at its NIC, a way 2 us, an answer 1 us.
constexpr Time kByte = 10, kWay = 2 * kUs;
IdealMessage network(uint32_t, uint32_t, uint64_t bytes) { return {bytes * kByte, bytes * kByte + kWay, kUs}; }

IdealResult run(const JobPlan& plan) {
  const auto schedule = make_schedule(plan);
  return run_ideal(*schedule, network);
}
JobPlan plan_of(JobShape shape, const Phase& phase, uint32_t steps = 1) { return {shape, steps, {phase}, 1}; }

/// What each rank sends to each other one.
std::map<std::pair<uint32_t, uint32_t>, std::vector<uint64_t>> sends(const JobPlan& plan) {
  const auto schedule = make_schedule(plan);
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint64_t>> found;
  for (uint32_t r = 0; r < schedule->ranks(); ++r) {
    const auto stream = schedule->open(r);
    for (Op op; stream->next(op);) {
      if (op.kind == Op::Kind::Send) found[{r, op.peer}].push_back(op.amount);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("a ring all-reduce: 2 (n - 1) messages of a piece from each rank, one after the other", "[sim][job]") {
  const Phase phase{.collective = Collective::Ring, .bytes = 800'000};
  for (const uint32_t n : {2u, 3u, 8u}) {
    const uint64_t piece = (800'000 + n - 1) / n;
    const IdealResult r = run(plan_of({.data = n}, phase, 3));
    CHECK(r.messages == 3ull * n * 2 * (n - 1));
    CHECK(r.bytes == r.messages * piece);
    const Time step = 2 * (n - 1) * (piece * kByte + kWay);
    CHECK(r.marks == std::vector<Time>{step, 2 * step, 3 * step});
    for (const auto& [pair, list] : sends(plan_of({.data = n}, phase))) {
      CHECK(pair.second == (pair.first + 1) % n);
      CHECK(list == std::vector<uint64_t>(2 * (n - 1), piece));
    }
  }
}

TEST_CASE("buckets are sent while the rest is computed", "[sim][job]") {
  // Two ranks: a bucket of 100 KB is two messages of 50 KB, 2.5 us each.
  Phase phase{.compute = 40 * kUs, .collective = Collective::Ring, .bytes = 400'000, .buckets = 4};
  CHECK(run(plan_of({.data = 2}, phase)).marks[0] == 40 * kUs + 2 * (50'000 * kByte + kWay));
  // All in one: nothing overlaps.
  phase.buckets = 1;
  CHECK(run(plan_of({.data = 2}, phase)).marks[0] == 40 * kUs + 2 * (200'000 * kByte + kWay));
  // Buckets that take longer than their compute wait for each other: 10 us, then four of 24 us.
  phase.buckets = 4;
  phase.bytes = 4 * 2 * 1'000'000;
  CHECK(run(plan_of({.data = 2}, phase)).marks[0] == 10 * kUs + 4 * 2 * (1'000'000 * kByte + kWay));
}

TEST_CASE("jitter makes a piece of compute up to a share longer, and a step as long as its slowest rank's",
          "[sim][job]") {
  const Phase phase{.compute = 100 * kUs, .jitter = 0.1, .collective = Collective::Ring, .bytes = 8};
  const JobPlan plan = plan_of({.data = 16}, phase, 20);
  const IdealResult r = run(plan);
  const Time ring = 2 * 15 * (kByte + kWay);
  std::set<Time> steps;
  for (size_t s = 0; s < 20; ++s) {
    const Time step = r.marks[s] - (s == 0 ? 0 : r.marks[s - 1]);
    CHECK(step >= 100 * kUs + ring);
    CHECK(step <= 110 * kUs + ring);
    steps.insert(step);
  }
  CHECK(steps.size() == 20);
  CHECK(run(plan).marks == r.marks);
  JobPlan other = plan;
  other.seed = 2;
  CHECK(run(other).marks != r.marks);
}

TEST_CASE("groups by rank: tensor, then data, then pipeline", "[sim][job]") {
  const JobShape shape{.tensor = 2, .data = 6, .pipeline = 3, .expert = 3};
  CHECK(shape.ranks() == 36);
  // Rank 21 is tensor 1 of data 4 of stage 1: 1 + 2 (4 + 6).
  const auto members = [&](Over over) {
    const RankGroup g = group_of(shape, over, 21);
    std::vector<uint32_t> list;
    for (uint32_t i = 0; i < g.count; ++i) list.push_back(g.rank(i));
    CHECK(list[g.index] == 21);
    return list;
  };
  CHECK(members(Over::Tensor) == std::vector<uint32_t>{20, 21});
  CHECK(members(Over::Data) == std::vector<uint32_t>{13, 15, 17, 19, 21, 23});
  CHECK(members(Over::Expert) == std::vector<uint32_t>{19, 21, 23});
  CHECK(members(Over::Pipeline) == std::vector<uint32_t>{9, 21, 33});
  CHECK(members(Over::All).size() == 36);
}

TEST_CASE("a hierarchical all-reduce: near, far, near", "[sim][job]") {
  // 4 groups of 8: pieces of 100 KB among those near, of 25 KB among those far.
  const Phase phase{.collective = Collective::Hierarchical, .bytes = 800'000, .local = 8};
  const JobPlan plan = plan_of({.data = 32}, phase);
  const IdealResult r = run(plan);
  CHECK(r.messages == 32u * (7 + 6 + 7));
  CHECK(r.bytes == 32u * (14 * 100'000 + 6 * 25'000));
  CHECK(r.end - kUs == 14 * (100'000 * kByte + kWay) + 6 * (25'000 * kByte + kWay));
  const auto found = sends(plan);
  CHECK(found.at({9, 10}) == std::vector<uint64_t>(14, 100'000));
  CHECK(found.at({9, 17}) == std::vector<uint64_t>(6, 25'000));
  CHECK(found.at({15, 8}).size() == 14);
  CHECK(found.at({31, 7}).size() == 6);
}

TEST_CASE("a tree: sums go up and the sum comes down", "[sim][job]") {
  const Phase phase{.collective = Collective::Tree, .bytes = 1'000'000, .pieces = 1};
  const JobPlan plan = plan_of({.data = 15}, phase);
  const IdealResult r = run(plan);
  CHECK(r.messages == 28);
  CHECK(r.bytes == 28'000'000);
  // Three levels: each time two children's messages arrive one after the other, and two go down one after the other.
  CHECK(r.marks[0] == 3 * (2 * 1'000'000 * kByte + kWay) * 2);
  const auto found = sends(plan);
  CHECK(found.size() == 28);
  CHECK(found.count({4, 1}) == 1);
  CHECK(found.count({1, 4}) == 1);
  // Pieces that follow each other: never more than all at once, and never less than the root's bytes both ways.
  Phase pieces = phase;
  pieces.pieces = 10;
  const Time many = run(plan_of({.data = 15}, pieces)).marks[0];
  CHECK(many < r.marks[0]);
  CHECK(many > 2 * 1'000'000 * kByte + 6 * kWay);
}

TEST_CASE("a tree with a window: a piece goes up when the sum of an earlier one has come down", "[sim][job]") {
  // Two ranks: a piece takes a message up and one down. With one at a time they follow each other.
  Phase phase{.collective = Collective::Tree, .bytes = 1'000'000, .pieces = 10, .window = 1};
  const Time message = 100'000 * kByte + kWay;
  CHECK(run(plan_of({.data = 2}, phase)).marks[0] == 10 * 2 * message);
  // With two at a time the port is free again before the first sum is back: pairs follow each other.
  phase.window = 2;
  CHECK(run(plan_of({.data = 2}, phase)).marks[0] == 4 * 2 * message + 2 * message + 100'000 * kByte);
  // With all of them the last one goes up behind the others.
  phase.window = 10;
  CHECK(run(plan_of({.data = 2}, phase)).marks[0] == 10 * 100'000 * kByte + 100'000 * kByte + 2 * kWay);
}

TEST_CASE("all to all: each sends to each other, some receive more", "[sim][job]") {
  Phase phase{.collective = Collective::AllToAll, .bytes = 300'000, .window = 128};
  const JobPlan plan = plan_of({.data = 8}, phase);
  const IdealResult r = run(plan);
  CHECK(r.messages == 56);
  CHECK(r.bytes == 56 * 300'000);
  CHECK(r.marks[0] == 7 * 300'000 * kByte + kWay);
  // One at a time: each waits until its sender knows.
  phase.window = 1;
  CHECK(run(plan_of({.data = 8}, phase)).marks[0] == 7 * (300'000 * kByte + kWay) + 6 * kUs);
  phase.window = 128;
  phase.skew = 1;
  const JobPlan skewed = plan_of({.data = 8}, phase, 2);
  // Zipf: the first gets 1 of 1 + 1/2 + ... + 1/8 = 2.7179 parts.
  std::map<uint32_t, std::set<uint64_t>> to;
  for (const auto& [pair, list] : sends(skewed)) {
    REQUIRE(list.size() == 2);
    to[pair.second].insert(list[0]);
  }
  uint64_t most = 0;
  for (const auto& [rank, amounts] : to) {
    REQUIRE(amounts.size() == 1);
    most = std::max(most, *amounts.begin());
  }
  CHECK(most == static_cast<uint64_t>(300'000 * 8 / (761.0 / 280)));
  // Its port is the busiest, and waits a little for those who take turns with smaller messages.
  const Time busiest = 7 * most * kByte + kWay, skewed_step = run(skewed).marks[0];
  CHECK(skewed_step >= busiest);
  CHECK(skewed_step < busiest + busiest / 50);
}

TEST_CASE("a pipeline: micro-batches go through all stages and back", "[sim][job]") {
  // Four stages, 8 micro-batches, 3 us forwards, 6 us backwards, 100 KB: 3 us from stage to stage.
  const Phase phase{
      .compute = 72 * kUs, .collective = Collective::Pipeline, .over = Over::Pipeline, .bytes = 100'000, .buckets = 8};
  const JobPlan plan = plan_of({.data = 2, .pipeline = 4}, phase);
  const IdealResult r = run(plan);
  CHECK(r.messages == 2u * 3 * 8 * 2);
  CHECK(r.bytes == r.messages * 100'000);
  const Time hop = 100'000 * kByte + kWay;
  // The first goes down and back up; 7 more follow it at the pace of a stage, if nothing holds them up.
  const Time least = 4 * 9 * kUs + 6 * hop + 7 * 9 * kUs;
  CHECK(r.marks[0] >= least);
  CHECK(r.marks[0] <= least + 7 * 2 * hop);
  // Messages that take no time: exactly (batches + stages - 1) passes of both kinds.
  const auto schedule = make_schedule(plan);
  const IdealResult fast = run_ideal(*schedule, [](uint32_t, uint32_t, uint64_t) { return IdealMessage{0, 0, 0}; });
  CHECK(fast.marks[0] == (8 + 3) * 9 * kUs);
}

}  // namespace mrc::test::collectives_test

// SPDX-License-Identifier: Apache-2.0
// Operations of ranks: what waits for what, matching of messages, what cannot end.
#include "sim/job/executor.hpp"

#include <catch2/catch_test_macros.hpp>

#include "sim/job/collectives.hpp"
#include "sim/job/ideal.hpp"

namespace mrc::test::executor_test {

using namespace mrc::sim;

namespace {

/// Lists of operations as they are given.
class Given final : public Schedule {
 public:
  explicit Given(std::vector<std::vector<Op>> ranks) : ranks_(std::move(ranks)) {}
  uint32_t ranks() const override { return static_cast<uint32_t>(ranks_.size()); }
  uint32_t steps() const override { return 1; }
  void peers(uint32_t, std::vector<uint32_t>&) const override {}
  std::unique_ptr<Stream> open_at(uint32_t rank, uint32_t) const override {
    return std::make_unique<List>(ranks_[rank]);
  }

 private:
  class List final : public Stream {
   public:
    explicit List(const std::vector<Op>& ops) : ops_(ops) {}
    bool next(Op& op) override {
      if (at_ == ops_.size()) return false;
      op = ops_[at_++];
      return true;
    }

   private:
    const std::vector<Op>& ops_;
    size_t at_ = 0;
  };
  std::vector<std::vector<Op>> ranks_;
};

Op calc(Time time, std::vector<uint64_t> after = {}, uint8_t cpu = 0) {
  return {.kind = Op::Kind::Calc, .cpu = cpu, .amount = time, .after = std::move(after)};
}
Op send(uint32_t to, uint64_t bytes, uint32_t tag = 0, std::vector<uint64_t> after = {}) {
  return {.kind = Op::Kind::Send, .peer = to, .tag = tag, .amount = bytes, .after = std::move(after)};
}
Op recv(uint32_t from, uint64_t bytes, uint32_t tag = 0, std::vector<uint64_t> after = {}) {
  return {.kind = Op::Kind::Recv, .peer = from, .tag = tag, .amount = bytes, .after = std::move(after)};
}
Op mark(std::vector<uint64_t> after) { return {.kind = Op::Kind::Mark, .after = std::move(after)}; }

/// 1 us until it is there, 1 us more until the sender knows.
IdealMessage network(uint32_t, uint32_t, uint64_t) { return {0, kUs, kUs}; }

IdealResult run(std::vector<std::vector<Op>> ranks, uint32_t ahead = Executor::kAhead) {
  return run_ideal(Given(std::move(ranks)), network, ahead);
}

}  // namespace

TEST_CASE("compute of one cpu comes one after the other, of two at once", "[sim][job]") {
  CHECK(run({{calc(3 * kUs), calc(4 * kUs)}}).end == 7 * kUs);
  CHECK(run({{calc(3 * kUs), calc(4 * kUs, {}, 1)}}).end == 4 * kUs);
  CHECK(run({{calc(3 * kUs), calc(4 * kUs, {0}, 1)}}).end == 7 * kUs);
  CHECK(run({{calc(0), calc(0), mark({0, 1})}}).marks == std::vector<Time>{0});
}

TEST_CASE("a send is done when the sender knows, a receive when the bytes are there", "[sim][job]") {
  CHECK(run({{send(1, 8), calc(kUs, {0})}, {recv(0, 8), calc(kUs, {0}), mark({1})}}).end == 3 * kUs);
  CHECK(run({{send(1, 8), calc(kUs, {0})}, {recv(0, 8), calc(kUs, {0}), mark({1})}}).marks ==
        std::vector<Time>{2 * kUs});
  // It begins no sooner than its own rank lets it.
  CHECK(run({{send(1, 8)}, {calc(5 * kUs), recv(0, 8, 0, {0}), mark({1})}}).marks == std::vector<Time>{5 * kUs});
}

TEST_CASE("an operation may wait for the begin of another one", "[sim][job]") {
  Op after_begin = calc(kUs, {}, 1);
  after_begin.after_begin = {1};
  // The second calc begins after 3 us, and with it the third.
  CHECK(run({{calc(3 * kUs), calc(9 * kUs), after_begin, mark({2})}}).marks == std::vector<Time>{4 * kUs});
}

TEST_CASE("messages are matched by sender and tag, in their order", "[sim][job]") {
  // Tag 2 comes first and waits; two of tag 1 in the order of their bytes.
  const IdealResult r = run(
      {{send(1, 20, 2), send(1, 11, 1), send(1, 12, 1)}, {recv(0, 11, 1), recv(0, 12, 1, {0}), recv(0, 20, 2, {1})}});
  CHECK(r.problem.text.empty());
  CHECK(r.messages == 3);
  CHECK(r.bytes == 43);
}

TEST_CASE("another number of bytes, and a message that nobody sends, are told with their line", "[sim][job]") {
  std::vector<std::vector<Op>> ranks{{send(1, 20, 2)}, {recv(0, 21, 2)}};
  ranks[1][0].line = 7;
  IdealResult r = run(ranks);
  CHECK(r.problem.text == "rank 1 waits for 21 bytes from rank 0 with tag 2, but 20 bytes came");
  CHECK(r.problem.line == 7);
  ranks[1][0].tag = 3;
  r = run(ranks);
  CHECK(r.problem.text == "rank 1 waits for 21 bytes from rank 0 with tag 3");
  CHECK(r.problem.line == 7);
}

TEST_CASE("what is read ahead is bounded", "[sim][job]") {
  // 1000 messages that wait for nothing: two at a time take as long as they need.
  std::vector<std::vector<Op>> ranks(2);
  for (int i = 0; i < 1000; ++i) {
    ranks[0].push_back(send(1, 1));
    ranks[1].push_back(recv(0, 1));
  }
  CHECK(run(ranks).end < 10 * kUs);
  CHECK(run(ranks, 2).end == 1000 * kUs);
}

namespace {

/// A schedule whose operations are no fences.
class Unfenced final : public Schedule {
 public:
  explicit Unfenced(const Schedule& of) : of_(of) {}
  uint32_t ranks() const override { return of_.ranks(); }
  uint32_t steps() const override { return of_.steps(); }
  void peers(uint32_t rank, std::vector<uint32_t>& to) const override { of_.peers(rank, to); }
  std::unique_ptr<Stream> open_at(uint32_t rank, uint32_t step) const override {
    return std::make_unique<Plain>(of_.open_at(rank, step));
  }

 private:
  class Plain final : public Stream {
   public:
    explicit Plain(std::unique_ptr<Stream> of) : of_(std::move(of)) {}
    bool next(Op& op) override {
      if (!of_->next(op)) return false;
      op.fence = false;
      return true;
    }

   private:
    std::unique_ptr<Stream> of_;
  };
  const Schedule& of_;
};

/// No message is ever under way: those to a rank are there when it is asked next.
class Instant final : public Wires {
 public:
  explicit Instant(const Schedule& schedule) : executor(schedule, *this) {}
  Time now(uint32_t) const override { return 0; }
  void send(uint32_t rank, uint32_t peer, uint64_t bytes, uint32_t tag, uint32_t id) override {
    sent.push_back({rank, peer, tag, id, bytes});
  }
  void wake_at(uint32_t, Time) override {}
  void ended(uint32_t) override { ++ends; }
  void run() {
    executor.keep(0);
    for (uint32_t r = 0; r < 8; ++r) executor.begin(r);
    for (size_t i = 0; i < sent.size(); ++i) {
      const Message m = sent[i];
      executor.arrived(m.to, m.from, m.tag, m.bytes);
      executor.sent(m.from, m.id, true);
    }
  }
  struct Message {
    uint32_t from, to, tag, id;
    uint64_t bytes;
  };
  std::vector<Message> sent;
  uint32_t ends = 0;
  Executor executor;
};

}  // namespace

TEST_CASE("what is behind a fence is read when that is done, and does the same for the same cause", "[sim][job]") {
  JobPlan plan{.shape = {.tensor = 2, .data = 4}, .steps = 3, .phases = {}, .seed = 5};
  plan.phases.push_back({.compute = 20 * kUs,
                         .jitter = 0.3,
                         .collective = Collective::Ring,
                         .over = Over::Data,
                         .bytes = 400,
                         .buckets = 3});
  plan.phases.push_back({.collective = Collective::Hierarchical, .bytes = 500, .local = 4});
  plan.phases.push_back({.collective = Collective::AllToAll, .over = Over::Tensor, .bytes = 30});
  const auto job = make_schedule(plan);
  const Unfenced plain(*job);
  const IdealResult a = run_ideal(*job, network), b = run_ideal(plain, network);
  CHECK(a.problem.text.empty());
  CHECK(a.marks == b.marks);
  CHECK(a.end == b.end);
  CHECK(a.messages == b.messages);

  // Nothing of compute, so that all causes are messages.
  plan.phases.erase(plan.phases.begin());
  plan.phases.front().buckets = 2;
  const auto messages = make_schedule(plan);
  const Unfenced unfenced(*messages);
  Instant with(*messages), without(unfenced);
  with.run();
  without.run();
  CHECK(with.ends == 8);
  CHECK(without.ends == 8);
  REQUIRE(with.sent.size() == without.sent.size());
  for (uint32_t r = 0; r < 8; ++r) {
    const auto &one = with.executor.kept(r), &other = without.executor.kept(r);
    REQUIRE(one.size() == other.size());
    CHECK_FALSE(one.empty());
    for (size_t i = 0; i < one.size(); ++i) {
      CHECK(one[i].number == other[i].number);
      CHECK(one[i].cause == other[i].cause);
    }
  }
  CHECK(with.executor.memory() < without.executor.memory());
}

TEST_CASE("of steps that are all alike some tell the rest, to the picosecond", "[sim][job]") {
  // Gives how many of the 12 steps were gone through.
  const auto report = [](const JobPlan& plan, unsigned skew) {
    const auto job = make_schedule(plan);
    CHECK(job->alike());
    const Unfenced whole(*job);  // says nothing of its steps
    size_t sent = 0;
    const IdealNetwork counted = [&](uint32_t from, uint32_t to, uint64_t bytes) -> IdealMessage {
      ++sent;
      return {10 * bytes, 10 * bytes + kUs + skew * (from ^ to), kUs, bytes / 8};
    };
    const IdealResult a = run_ideal(*job, counted);
    const size_t some = std::exchange(sent, 0);
    const IdealResult b = run_ideal(whole, counted);
    CHECK(a.problem.text.empty());
    CHECK(a.marks == b.marks);
    CHECK(a.end == b.end);
    CHECK(a.messages == b.messages);
    CHECK(a.bytes == b.bytes);
    return 12 * some / sent;
  };
  JobPlan plan{.shape = {.tensor = 2, .data = 4}, .steps = 12, .phases = {}, .seed = 5};
  plan.phases.push_back({.compute = 200 * kUs, .collective = Collective::Ring, .over = Over::Data, .bytes = 40'000});
  CHECK(report(plan, 0) <= 3);
  // With ways of different lengths ranks change places: after 4 ranks and 6 messages in two steps.
  CHECK(report(plan, 1000) <= 4);
  plan.phases.push_back({.compute = 100 * kUs, .collective = Collective::Tree, .bytes = 5000});
  plan.phases.push_back({.collective = Collective::AllToAll, .over = Over::Tensor, .bytes = 3000});
  plan.phases.push_back({.collective = Collective::Hierarchical, .bytes = 5000, .local = 4});
  CHECK(report(plan, 0) < 6);
  (void)report(plan, 1000);
  // Stages of a pipeline are quiet in the midst of a step, too.
  JobPlan stages{.shape = {.pipeline = 3}, .steps = 12, .phases = {}, .seed = 5};
  stages.phases.push_back(
      {.compute = 90 * kUs, .collective = Collective::Pipeline, .over = Over::Pipeline, .bytes = 100, .buckets = 3});
  (void)report(stages, 0);
  // Never quiet: nobody computes first, or not long enough.
  plan.phases.erase(plan.phases.begin());
  plan.phases.front().compute = 1;
  CHECK(report(plan, 0) == 12);

  plan.phases.front() = {.compute = kUs, .jitter = 0.1};
  CHECK_FALSE(make_schedule(plan)->alike());
  plan.phases.front() = {.collective = Collective::AllToAll, .bytes = 100, .skew = 1};
  CHECK_FALSE(make_schedule(plan)->alike());
}

}  // namespace mrc::test::executor_test

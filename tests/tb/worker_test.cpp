// SPDX-License-Identifier: Apache-2.0
#include "tb/worker.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "tb/agent/monitor.hpp"

namespace mrc::test::worker_test {

using tb::Monitor;
using tb::Worker;

TEST_CASE("jobs are done in their order, all of them at wait", "[tb][agent]") {
  std::vector<std::size_t> done;
  Worker worker;
  std::size_t posted = 0;
  for (const std::size_t more : {std::size_t{1}, Worker::kMostJobs + 1, 20 * Worker::kMostJobs, std::size_t{0}}) {
    for (std::size_t n = 0; n < more; ++n) worker.post([&done, job = posted++] { done.push_back(job); });
    worker.wait();
    REQUIRE(done.size() == posted);
  }
  for (std::size_t n = 0; n < done.size(); ++n) REQUIRE(done[n] == n);
}

TEST_CASE("no more jobs wait than there is room for", "[tb][agent]") {
  std::promise<void> go;
  std::atomic<std::size_t> posted = 0;
  Worker worker;
  worker.post([gate = go.get_future().share()] { gate.wait(); });
  std::thread poster([&] {
    for (std::size_t n = 0; n < 3 * Worker::kMostJobs; ++n) {
      worker.post([] {});
      ++posted;
    }
  });
  while (posted < Worker::kMostJobs - 1) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  // The one that waits at the gate may still be counted as not begun.
  CHECK(posted <= Worker::kMostJobs);
  go.set_value();
  poster.join();
  worker.wait();
  CHECK(posted == 3 * Worker::kMostJobs);
}

TEST_CASE("what a job throws comes out at wait, and after it none is done", "[tb][agent]") {
  unsigned done = 0;
  Worker worker;
  const auto job = [&] {
    if (++done == 5) throw std::runtime_error("no more");
  };
  for (unsigned n = 0; n < 5; ++n) worker.post(job);
  CHECK_THROWS_AS(worker.wait(), std::runtime_error);
  // Nobody waits for room that nobody makes.
  const auto flood = [&] {
    for (std::size_t n = 0; n < 2 * Worker::kMostJobs; ++n) worker.post(job);
  };
  CHECK_THROWS_AS(flood(), std::runtime_error);
  CHECK_THROWS_AS(worker.wait(), std::runtime_error);
  CHECK(done == 5);
}

TEST_CASE("a worker that is given up drops what has not begun", "[tb][agent]") {
  std::promise<void> begun;
  unsigned done = 0;
  {
    Worker worker;
    worker.post([&] {
      begun.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      ++done;
    });
    begun.get_future().wait();
    for (unsigned n = 0; n < 10; ++n) worker.post([&] { ++done; });
  }
  CHECK(done == 1);
}

namespace {

/// What a sink was told: time and kind (index of the body). Of `keeps` records it keeps one.
struct Reported {
  std::vector<std::pair<log::Time, std::size_t>> list;
  Monitor::Sink sink(unsigned keeps = 0) {
    return [this, keeps](Monitor::Record& record) {
      list.emplace_back(record->time, record->body.index());
      if (keeps != 0 && list.size() % keeps == 0) record.reset();
    };
  }
};

constexpr std::size_t kEvent = 9, kUntil = 10;

void add_event(Monitor& monitor, log::Time time, log::EventKind kind) {
  monitor.add(time).body = log::Event{kind, 1, {}};
}

}  // namespace

TEST_CASE("records are told in the order of time, an answer behind what was taken with it", "[tb][agent]") {
  static_assert(std::is_same_v<std::variant_alternative_t<kEvent, decltype(log::Record::body)>, log::Event>);
  static_assert(std::is_same_v<std::variant_alternative_t<kUntil, decltype(log::Record::body)>, log::Until>);
  std::vector<log::EventKind> kinds;
  Reported reported;
  Monitor monitor(3, [&](Monitor::Record& record) {
    CHECK(record->device == 3);
    if (const auto* event = std::get_if<log::Event>(&record->body)) kinds.push_back(event->kind);
    reported.sink()(record);
  });
  add_event(monitor, 30, log::EventKind::Answer);
  add_event(monitor, 30, log::EventKind::Take);
  add_event(monitor, 10, log::EventKind::Take);
  add_event(monitor, 50, log::EventKind::Take);
  monitor.report(monitor.taken(), 50);
  CHECK(reported.list ==
        std::vector<std::pair<log::Time, std::size_t>>{{10, kEvent}, {30, kEvent}, {30, kEvent}, {50, kUntil}});
  CHECK(kinds == std::vector{log::EventKind::Take, log::EventKind::Take, log::EventKind::Answer});
  reported.list.clear();
  add_event(monitor, 40, log::EventKind::Take);  // of an event that came late
  monitor.end(monitor.taken(), {{3, 60, log::End{}}});
  REQUIRE(reported.list.size() == 3);
  CHECK(reported.list[0].first == 40);
  CHECK(reported.list[1].first == 50);
  CHECK(reported.list[2].first == 60);
}

TEST_CASE("when nothing happens the log is told so now and then", "[tb][agent]") {
  Reported reported;
  Monitor monitor(0, reported.sink());
  for (log::Time time = 1'000'000; time <= 30'000'000; time += 1'000'000) monitor.report(monitor.taken(), time);
  CHECK(reported.list == std::vector<std::pair<log::Time, std::size_t>>{
                             {10'000'000, kUntil}, {20'000'000, kUntil}, {30'000'000, kUntil}});
}

TEST_CASE("records that a sink keeps are replaced, the others are used again", "[tb][agent]") {
  Reported reported;
  Monitor monitor(0, reported.sink(3));
  for (unsigned round = 0; round < 10; ++round) {
    for (unsigned n = 0; n < 7; ++n) add_event(monitor, 10 * round + n, log::EventKind::Take);
    monitor.report(monitor.taken(), 10 * round + 9);
  }
  CHECK(reported.list.size() == 80);
}

}  // namespace mrc::test::worker_test

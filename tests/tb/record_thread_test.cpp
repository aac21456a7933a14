// SPDX-License-Identifier: Apache-2.0
#include "tb/agent/record_thread.hpp"

#include <catch2/catch_test_macros.hpp>
#include <stdexcept>

using namespace mrc;
using tb::RecordThread;

namespace {

log::Record at(log::Time time) { return {0, time, log::Note{"a"}}; }

}  // namespace

TEST_CASE("records of a run are taken in their order, all of them at sync", "[tb][agent]") {
  std::vector<log::Time> taken;
  RecordThread thread([&](std::unique_ptr<log::Record>& record) {
    taken.push_back(record->time);
    if (record->time % 3 == 0) record.reset();             // kept by who takes
    if (record && record->time % 3 == 1) *record = at(7);  // another one given back
  });
  log::Time time = 0;
  for (const std::size_t more : {std::size_t{1}, RecordThread::kBatch - 1, RecordThread::kBatch + 1,
                                 RecordThread::kBatch * (RecordThread::kMostBatches + 3), std::size_t{0}}) {
    for (std::size_t n = 0; n < more; ++n) thread.push(at(time++));
    thread.sync();
    REQUIRE(taken.size() == time);
  }
  for (std::size_t n = 0; n < taken.size(); ++n) REQUIRE(taken[n] == n);
}

TEST_CASE("what the taker throws comes out at sync, and after it nothing is taken", "[tb][agent]") {
  std::size_t taken = 0;
  RecordThread thread([&](std::unique_ptr<log::Record>&) {
    if (++taken == 5) throw std::runtime_error("no more");
  });
  for (unsigned n = 0; n < 10; ++n) thread.push(at(n));
  CHECK_THROWS_AS(thread.sync(), std::runtime_error);
  CHECK(taken == 5);
  // Full batches are not waited for: there is nobody to take them.
  const auto flood = [&] {
    for (std::size_t n = 0; n < RecordThread::kBatch * (RecordThread::kMostBatches + 2); ++n) thread.push(at(n));
  };
  CHECK_THROWS_AS(flood(), std::runtime_error);
  CHECK(taken == 5);
}

TEST_CASE("a run that is given up drops what nobody has taken", "[tb][agent]") {
  std::size_t taken = 0;
  {
    RecordThread thread([&](std::unique_ptr<log::Record>&) { ++taken; });
    for (unsigned n = 0; n < 10; ++n) thread.push(at(n));
  }
  CHECK(taken == 0);
}

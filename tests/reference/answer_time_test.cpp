// SPDX-License-Identifier: Apache-2.0
#include "reference/answer_time.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <deque>
#include <limits>
#include <random>

namespace mrc::test::answer_time_test {

using log::Time;
using ref::AnswerTime;

TEST_CASE("time that is told at once counts as time that is told window by window", "[reference.responder]") {
  constexpr Time kWindow = 100;
  Time counted = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    INFO(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](uint64_t n) { return random() % n; };
    AnswerTime at_once(2, 100, 50, kWindow, 700), step_by_step(2, 100, 50, kWindow, 700);
    Time time = 0;
    uint64_t tag = 0;
    for (unsigned i = 0; i < 100; ++i) {
      const Time next = time + kWindow * below(below(2) ? 4 : 200);
      while (time < next) step_by_step.now(time += kWindow);
      at_once.now(time);
      const uint64_t what = below(6), plane = below(2), last = time + below(5000);
      const bool up = below(3) != 0;
      tag += what == 4 ? 1 : 0;
      for (AnswerTime* of : {&at_once, &step_by_step}) {
        if (what == 0) of->port(static_cast<unsigned>(plane), up, time);
        if (what == 1 || what == 2) of->sent(static_cast<unsigned>(plane), time, last);
        if (what == 3) of->acked(time);
        if (what == 4) of->read(tag, time);
        if (what == 5) of->read_done(tag, time);
      }
      REQUIRE(at_once.answers() == step_by_step.answers());
      REQUIRE(at_once.acks() == step_by_step.acks());
    }
    counted += at_once.answers();
  }
  CHECK(counted != 0);
}

TEST_CASE("windows of a picosecond in years of a log take no time", "[reference.responder]") {
  constexpr Time kEver = std::numeric_limits<Time>::max();
  for (const bool read : {false, true}) {
    AnswerTime of(2, 100, kEver / 2, 1, kEver / 4);
    of.acked(5);
    of.sent(1, 5, kEver / 8);
    if (read) of.read(1, 7);
    of.now(kEver - 1);
    of.now(kEver);
    CHECK(of.answers() > kEver / 4);
  }
}

TEST_CASE("open reads: the oldest of a tag is answered first, and the oldest of all is known",
          "[reference.responder]") {
  std::mt19937_64 random(7);
  ref::OpenReads reads;
  std::deque<std::pair<uint64_t, Time>> known;
  for (Time time = 1; time < 20'000; ++time) {
    const uint64_t tag = random() % 40;
    const bool fills = time > 12'000 && time < 18'000;  // up to the most that it holds
    if (fills || random() % 2 != 0) {
      reads.add(tag, time);
      if (known.size() < ref::OpenReads::kMost) known.emplace_back(tag, time);
    } else {
      const auto right = std::ranges::find(known, tag, &std::pair<uint64_t, Time>::first);
      unsigned times = 0;
      reads.answered(tag, [&](Time since, bool oldest) {
        ++times;
        REQUIRE(right != known.end());
        CHECK(since == right->second);
        CHECK(oldest == (right == known.begin()));
      });
      REQUIRE(times == (right == known.end() ? 0 : 1));
      if (right != known.end()) known.erase(right);
    }
    REQUIRE(reads.empty() == known.empty());
    if (!known.empty()) REQUIRE(reads.oldest() == known.front().second);
  }
}

}  // namespace mrc::test::answer_time_test

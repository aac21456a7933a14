// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "protocol/step_timer.hpp"

namespace mrc::test::block_timer_test {

TEST_CASE("the timer's marks: the fourth step after a start looks at what was sent before it", "[protocol][timer]") {
  StepMarks m;
  m.restart(100);
  CHECK_FALSE(m.step(110));
  CHECK_FALSE(m.step(120));
  CHECK_FALSE(m.step(130));
  CHECK(m.step(140));
  CHECK(m.mark[0] == 100);
  m.shift(140);
  CHECK(m.mark[0] == 110);  // sent up to three steps ago: overdue at the next one
  CHECK(m.step(150));
  m.shift(150);
  CHECK(m.mark == std::array<uint32_t, 4>{120, 130, 140, 150});
  m.restart(7);
  CHECK(m.mark == std::array<uint32_t, 4>{7, 7, 7, 7});
  CHECK(m.count == 3);
}

TEST_CASE("ages count down one by one, each PSN by itself", "[protocol][timer]") {
  PsnAges<uint16_t> a;
  CHECK(a.any() == 0);
  a.set(0, 1);
  a.set(3, 4);
  a.set(15, 7);
  CHECK(a.any() == 0x8009);
  a.less(0x8009);
  CHECK(a.any() == 0x8008);
  a.less(0x0008);
  a.less(0x0008);
  CHECK(a.any() == 0x8008);
  a.less(0x0008);
  CHECK(a.any() == 0x8000);  // four steps
  for (unsigned i = 0; i < 5; ++i) a.less(0x8000);
  CHECK(a.any() == 0x8000);
  a.less(0x8000);
  CHECK(a.any() == 0);
  a.set(2, 5);
  a.set(2, 0);
  CHECK(a == PsnAges<uint16_t>{});
}

TEST_CASE("a packet sent again is spared for an interval, to the nearest step", "[protocol][timer]") {
  CHECK(spared_steps(0, 10) == 3);
  CHECK(spared_steps(4, 10) == 3);
  CHECK(spared_steps(5, 10) == 4);
  CHECK(spared_steps(1, 2) == 4);
}

TEST_CASE("a step takes what was out for an interval and was not sent again since", "[protocol][timer]") {
  PsnRow<uint16_t> row{.nacked = 0b11'1000, .rtxd = 0, .pend = 0b1000, .sacked = 0b0100};
  PsnAges<uint16_t> ages;
  ages.again(4, 2);
  ages.again(2, 3);  // reported meanwhile
  ages.again(9, 1);  // after the mark
  const StepRow<uint16_t> s = step_row(row, ages, 0, 1, 12, 6, false);
  CHECK(s.lost == 0b10'0010);  // 1 and 5; 0 is acknowledged, 2 reported, 3 waits, 4 spared
  CHECK(s.spared == 0x0210);
  CHECK(row == PsnRow<uint16_t>{.nacked = 0b1000, .rtxd = 0, .pend = 0b10'1010, .sacked = 0b0100});
  CHECK(ages.any() == 0b10'0001'0100);
  CHECK(ages.spared() == 0b1'0100);
  const StepRow<uint16_t> t = step_row(row, ages, 0, 1, 12, 10, false);
  CHECK(t.lost == 0b11'1100'0000);
  CHECK(t.spared == 0b1'0000);
  CHECK(step_row(row, ages, 0, 1, 12, 10, false).lost == 0b1'0000);
  CHECK(step_row(row, ages, 16, 1, 12, 10, false).lost == 0);
}

TEST_CASE("the oldest packet is the lowest that is not reported", "[protocol][timer]") {
  PsnAges<uint16_t> ages;
  PsnRow<uint16_t> row{.nacked = 0, .rtxd = 0, .pend = 0, .sacked = 0b0010};
  // An ACK has moved una to 1, which a SACK had reported before.
  CHECK(step_row(row, ages, 0, 1, 12, 6, false).oldest_lost());  // 2
  row = {.nacked = 0, .rtxd = 0, .pend = 0b0100, .sacked = 0b0010};
  CHECK_FALSE(step_row(row, ages, 0, 1, 12, 6, false).oldest_lost());  // 2 waits for its turn
  row = {.nacked = 0, .rtxd = 0, .pend = 0, .sacked = 0b1111'1111'1110};
  CHECK(step_row(row, ages, 0, 1, 12, 12, false).missing == 0);
}

}  // namespace mrc::test::block_timer_test

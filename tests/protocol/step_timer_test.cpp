// SPDX-License-Identifier: Apache-2.0
#include "protocol/step_timer.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::step_timer_test {

TEST_CASE("step timer: four marks, the first an interval old", "[protocol][retry]") {
  StepMarks m;
  m.restart(10);
  CHECK(!m.step(20));  // a quarter
  CHECK(!m.step(30));
  CHECK(!m.step(40));
  CHECK(m.step(50));  // an interval: what was sent before the start is overdue
  CHECK(m.mark[0] == 10);
  m.shift(50);
  CHECK(m.step(60));
  CHECK(m.mark[0] == 20);
  m.shift(60);
  CHECK(m.mark[0] == 30);
  CHECK(m.mark[3] == 60);
}

TEST_CASE("step timer: marks are in order, from una to the window's end", "[protocol][retry]") {
  StepMarks m;
  m.restart(0xfffff0);
  CHECK(m.in_order(0xffffe0, 0xfffff0));
  CHECK(m.in_order(0xfffff0, 0xfffff0));
  CHECK_FALSE(m.in_order(0xfffff1, 0x000010));  // una has passed them
  CHECK_FALSE(m.in_order(0xffffe0, 0xffffef));  // beyond the end
  CHECK(!m.step(0xfffff8));
  CHECK(!m.step(0x000002));
  CHECK_FALSE(m.in_order(0xffffe0, 0x000020));  // mark[3] has not been taken down yet
  CHECK(!m.step(0x000008));
  CHECK(m.in_order(0xffffe0, 0x000020));
  CHECK(m.step(0x000020));
  m.shift(0x000020);
  CHECK(m.in_order(0xffffe0, 0x000020));
  CHECK(m.in_order(0xfffff8, 0x000020));
  CHECK_FALSE(m.in_order(0xfffff9, 0x000020));
}

TEST_CASE("step timer: ages count down, one for each PSN", "[protocol][retry]") {
  RowAges a;
  CHECK(a.any() == 0);
  a.set(0, 4);
  a.set(5, 3);
  a.set(63, 1);
  const uint64_t all = uint64_t{1} << 63 | 1u << 5 | 1u;
  CHECK(a.any() == all);
  a.less(all);
  CHECK(a.any() == (1u << 5 | 1u));
  a.less(1);
  a.less(1);
  CHECK(a.any() == (1u << 5 | 1u));  // 4 - 3, 3 - 1
  a.less(1u << 5 | 1u);
  CHECK(a.any() == 1u << 5);
  a.less(1u << 5);
  CHECK(a.any() == 0);
  // Who goes again has an age if it has none.
  a.again(7, 3);
  a.again(8, 0);
  CHECK(a.any() == (1u << 7 | 1u << 8));
  CHECK(a.spared() == 1u << 7);
  a.less(1u << 7);
  a.less(1u << 7);
  a.again(7, 3);
  a.less(1u << 7);
  CHECK(a.any() == (1u << 7 | 1u << 8));
  CHECK(a.spared() == 0);  // three steps are over, whoever found it in between
  a.clear(1u << 7);
  CHECK(a.any() == 1u << 8);
  a.again(7, 3);
  CHECK(a.spared() == 1u << 7);
  // Sent again in the second half of a step: a step more.
  CHECK(spared_steps(0, 8) == 3);
  CHECK(spared_steps(3, 8) == 3);
  CHECK(spared_steps(4, 8) == 4);
}

TEST_CASE("step timer: a step finds what is overdue and spares what was sent again", "[protocol][retry]") {
  // Window 3 .. 11, of which 3 .. 8 were sent an interval ago; 4 has arrived, 5 waits already, 6 was sent again.
  WinRow row;
  row.sacked = 1u << 4;
  row.pend = row.nacked = row.mute = 1u << 5;
  RowAges ages;
  ages.again(6, 1);
  const StepRow found = step_row(row, ages, 0, 3, 12, 9, false);
  CHECK(found.lost == (1u << 3 | 1u << 7 | 1u << 8));
  CHECK(found.spared == 1u << 6);
  CHECK(row.pend == (1u << 3 | 1u << 5 | 1u << 7 | 1u << 8));
  CHECK(row.nacked == 1u << 5);
  CHECK(row.mute == 1u << 5);
  const StepRow next = step_row(row, ages, 0, 3, 12, 9, false);
  CHECK(next.lost == 1u << 6);
  CHECK(next.spared == 0);
  CHECK(ages.any() == 0);  // it will be spared anew
  CHECK(row.mute == 1u << 5);
}

TEST_CASE("step timer: where time tells as well, the EV of a copy is not to blame", "[protocol][retry][A-83]") {
  for (const bool timed : {false, true}) {
    WinRow row;
    RowAges ages;
    ages.again(6, 0);
    CHECK(step_row(row, ages, 0, 3, 12, 9, timed).lost == 0x1f8);
    CHECK(row.pend == 0x1f8);
    CHECK(row.mute == (timed ? 1u << 6 : 0u));  // the others went once
    CHECK(row.nacked == 0);                     // the controller hears of all
  }
}

}  // namespace mrc::test::step_timer_test

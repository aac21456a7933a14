// SPDX-License-Identifier: Apache-2.0
// Losses known by time, by hand: ticks of 128 ns.
#include "protocol/overdue.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace mrc;

TEST_CASE("a packet is overdue once it is more than its share of a round trip older than what arrived",
          "[protocol][overdue]") {
  // 6.4 us are 50 ticks; eight eighths of them, and of a probe twice as many.
  CHECK(overdue_spare(8, 50, false) == 50);
  CHECK(overdue_spare(8, 50, true) == 100);
  CHECK(overdue_spare(4, 50, false) == 25);
  WinRow row;
  // PSN 67 is bit 3. Sent at 1000, answered by what was sent at 1050: not yet; at 1051 it is.
  CHECK_FALSE(overdue_lost(row, 67, 1000, 1050, 50));
  CHECK(row == WinRow{});
  CHECK(overdue_lost(row, 67, 1000, 1051, 50));
  CHECK(row.pend == 0x8);
  // It waits to be sent again; then what was sent again is overdue by its new time, too.
  CHECK_FALSE(overdue_lost(row, 67, 1000, 1051, 50));
  row = {.rtxd = 0x8};
  CHECK_FALSE(overdue_lost(row, 67, 1100, 1051, 50));  // what arrived is older
  CHECK(overdue_lost(row, 67, 1100, 1151, 50));
  row = {.sacked = 0x8};
  CHECK_FALSE(overdue_lost(row, 67, 1000, 2000, 50));
  // Time stamps wrap around; from half of their range on nobody knows which was first.
  row = {};
  CHECK_FALSE(overdue_lost(row, 67, 65500, 14, 50));  // 50 ticks
  CHECK(overdue_lost(row, 67, 65500, 15, 50));        // 51
  row = {};
  CHECK_FALSE(overdue_lost(row, 67, 0, 32768, 50));
  CHECK(overdue_lost(row, 67, 0, 32767, 50));
}

TEST_CASE("the longest round trip of late grows at once, fades by a 256th, and is a full round trip at least",
          "[protocol][overdue]") {
  CHECK(longest_of_late(0, 40, 50) == 50);
  CHECK(longest_of_late(50, 2560, 50) == 2560);
  CHECK(longest_of_late(2560, 40, 50) == 2550);
  CHECK(longest_of_late(200, 40, 50) == 200);  // less than 256 do not fade
  CHECK(longest_of_late(100, 40, 150) == 150);
}

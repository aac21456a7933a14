// SPDX-License-Identifier: Apache-2.0
#include "protocol/timestamp.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::timestamp_test {

TEST_CASE("a time stamp counts ticks, or eights of them", "[protocol][timestamp]") {
  CHECK(time_stamp(0x12345, false) == 0x2345);
  CHECK(time_stamp(0x12345, true) == 0x2468);
  CHECK(time_stamp(0x7ffff, true) == 0xffff);  // 19 bits matter
  CHECK(time_stamp(0x80000, true) == 0);
  CHECK(time_stamp_format(false) == 0x0001);
  CHECK(time_stamp_format(true) == 0x8001);
}

TEST_CASE("ticks since a time stamp, across its wrap", "[protocol][timestamp]") {
  CHECK(ticks_since(0xfff0, 0x10010, false) == 0x20);
  CHECK(ticks_since(0x0003, 0x0000, false) == 0xfffd);
  CHECK(ticks_since(0xffff, 0x80007, true) == 8);
  CHECK(ticks_since(10, 167, true) == 80);           // unit 20
  CHECK(ticks_since(10, 168, true) == 88);           // unit 21
  CHECK(ticks_since(3, 0, true) == 0xffe8);          // -3 mod 2^13, times 8
  CHECK(ticks_since(0xe00a, 167, true) == 80);       // 13 bits of the difference count
  CHECK(ticks_since(0x2000, 0x0010, true) == 0x10);  // so 16 bits of the tick are enough
}

TEST_CASE("a time stamp moves by whole units", "[protocol][timestamp]") {
  CHECK(stamp_add(100, 31, false) == 131);
  CHECK(stamp_add(100, 31, true) == 103);
  CHECK(stamp_add(100, 7, true) == 100);
  CHECK(stamp_add(0xffff, 0xffff, true) == 0x1ffe);
}

}  // namespace mrc::test::timestamp_test

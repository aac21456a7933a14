// SPDX-License-Identifier: Apache-2.0
#include "protocol/flight.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::flight_test {

TEST_CASE("no more leaves the flight than is in it", "[protocol][flight]") {
  Flight f;
  CHECK(f.bytes() == 0);
  f.enter(1000);
  f.enter(500);
  CHECK(f.take(300) == 300);
  CHECK(f.bytes() == 1200);
  CHECK(f.take(1201) == 1200);
  CHECK(f.bytes() == 0);
  CHECK(f.take(1) == 0);
  f.enter(7);
  CHECK(f.take_all() == 7);
  CHECK(f.take_all() == 0);
}

TEST_CASE("the flight counts modulo 2^28, and a packet sent again enters it without being sent anew",
          "[protocol][flight]") {
  Flight f;
  for (unsigned i = 0; i < 20; ++i) {  // 20 * 2^24 is beyond 2^28
    f.enter(1u << 24);
    CHECK(f.take(1u << 24) == 1u << 24);
  }
  CHECK(f.bytes() == 0);
  f.enter_again(300);
  CHECK(f.bytes() == 300);
  f.enter(50);
  CHECK(f.take_all() == 350);
  CHECK(f.bytes() == 0);
}

TEST_CASE("rcvd_bytes counts forward over its wrap; half its range back is an old SACK", "[protocol][flight]") {
  CHECK(rcvd_news(5, 2).units == 3);
  CHECK(rcvd_news(5, 5).units == 0);
  CHECK_FALSE(rcvd_news(5, 5).late);
  CHECK(rcvd_news(3, 0xfffffe).units == 5);
  CHECK_FALSE(rcvd_news(3, 0xfffffe).late);
  CHECK(rcvd_news(2, 5).late);
  CHECK(rcvd_news(2, 5).units == 0);
  CHECK(rcvd_news(0x7fffff, 0).units == 0x7fffff);
  CHECK(rcvd_news(0x800000, 0).late);
}

TEST_CASE("a SACK acknowledges units of 256 bytes, less cancelled losses, at most what is in flight",
          "[protocol][flight]") {
  const auto acked = [](uint32_t flight, uint32_t units, unsigned cancelled, unsigned nominal) {
    mrc::Flight fly;
    fly.enter(flight);
    uint8_t credit = 0;
    return mrc::take_acked(fly, units * 256, cancelled, nominal, false, credit);
  };
  CHECK(acked(100000, 4, 0, 340) == 1024);
  CHECK(acked(100000, 4, 1, 340) == 684);
  CHECK(acked(100000, 4, 4, 340) == 0);  // 1360 cancelled
  CHECK(acked(1000, 4, 0, 340) == 1000);
  CHECK(acked(0, 4, 0, 340) == 0);
  CHECK(acked(0x0fff'ffff, 0x7fffff, 0, 4188) == 0x0fff'ffff);
}

TEST_CASE("flight: rounding of rcvd_bytes leaves nothing behind in a window of one packet", "[protocol][flight]") {
  // Packets of 4184 bytes, one at a time: units 17, 33 (16 more), 50, 66, 82, 99 ...
  mrc::Flight fly;
  uint8_t credit = 0;
  uint32_t units = 0;
  for (uint32_t n = 1; n <= 100; ++n) {
    fly.enter(4184);
    const uint32_t now = (n * 4184 + 255) / 256;
    CHECK(mrc::take_acked(fly, (now - units) * 256, 0, 4184, false, credit) == 4184);
    CHECK(fly.bytes() == 0);
    units = now;
  }
  // 17 units for one of two packets: 168 bytes too many; the other one is NACKed, and sent again.
  fly.enter(2 * 4184);
  credit = 0;
  CHECK(mrc::take_acked(fly, 17 * 256, 0, 4184, false, credit) == 4352);
  CHECK(credit == 0);
  CHECK(mrc::take_packet(fly, 4184, credit) == 4016);
  CHECK(credit == 168);
  fly.enter(4184);
  CHECK(mrc::take_acked(fly, 16 * 256, 0, 4184, false, credit) == 4184);
  CHECK(credit == 80);
  // Nothing outstanding any more: all of it, whatever was said.
  fly.enter(1000);
  CHECK(mrc::take_acked(fly, 256, 0, 4184, true, credit) == 1000);
  CHECK(credit == 0);
}

TEST_CASE("what left the flight before a SACK told of it is not taken again", "[protocol][flight]") {
  mrc::Owed owed;
  CHECK(owed.pay(5000, false) == 5000);
  owed.add(12564);
  CHECK(owed.pay(4352, false) == 0);
  CHECK(owed.bytes() == 8212);
  CHECK(owed.pay(16384, false) == 16384 - 8212);
  CHECK(owed.bytes() == 0);
  owed.add(300);
  CHECK(owed.pay(256, true) == 0);  // it tells of all: the rest was rounding
  CHECK(owed.bytes() == 0);
  owed.add(0xf'fff0);
  owed.add(100);  // 20 bits
  CHECK(owed.bytes() == 0xf'ffff);
}

}  // namespace mrc::test::flight_test

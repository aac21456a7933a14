// SPDX-License-Identifier: Apache-2.0
#include "protocol/flight.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace mrc;

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
  CHECK(acked_bytes(100000, 4, 0, 340) == 1024);
  CHECK(acked_bytes(100000, 4, 1, 340) == 684);
  CHECK(acked_bytes(100000, 4, 4, 340) == 0);  // 1360 cancelled
  CHECK(acked_bytes(1000, 4, 0, 340) == 1000);
  CHECK(acked_bytes(0, 4, 0, 340) == 0);
  CHECK(acked_bytes(0x0fff'ffff, 0x7fffff, 0, 4188) == 0x0fff'ffff);
}

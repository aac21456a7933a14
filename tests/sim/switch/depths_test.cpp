// SPDX-License-Identifier: Apache-2.0
#include "sim/switch/depths.hpp"

#include <catch2/catch_test_macros.hpp>

using mrc::sim::Depths;

TEST_CASE("quantiles of depths: the upper ends of classes, by hand", "[sim][queueing]") {
  Depths d;
  CHECK(d.quantile(0.5, 0) == 0);
  d.add(0);     // 0 to 63
  d.add(63);    // the same
  d.add(64);    // 64 to 127
  d.add(1000);  // v = 15: 960 to 1023
  d.add(1024);  // v = 16: 1024 to 1151, two units wide
  d.add(1151);
  d.add(1152);  // v = 18: 1152 to 1279
  CHECK(d.count() == 7);
  CHECK(d.quantile(0.0, 7) == 63);
  CHECK(d.quantile(2.0 / 7, 7) == 63);
  CHECK(d.quantile(3.0 / 7, 7) == 127);
  CHECK(d.quantile(4.0 / 7, 7) == 1023);
  CHECK(d.quantile(5.0 / 7, 7) == 1151);
  CHECK(d.quantile(6.0 / 7, 7) == 1151);
  CHECK(d.quantile(1, 7) == 1279);
  // Of 100 packets, 93 found nothing.
  CHECK(d.quantile(0.93, 100) == 0);
  CHECK(d.quantile(0.94, 100) == 63);
  CHECK(d.quantile(1, 100) == 1279);
  Depths other;
  other.add(1'000'000);  // v = 15625: 15 to 16 times 1024, of 64 bytes
  d.add(other);
  CHECK(d.quantile(1, 8) == 1'048'575);
  other.add(UINT64_MAX);
  CHECK(other.quantile(1, 2) >= UINT32_MAX);
}

TEST_CASE("a class of depths is at most an eighth wider than what is in it", "[sim][queueing]") {
  for (uint64_t bytes = 512; bytes < uint64_t{1} << 32; bytes += bytes / 7 + 1) {
    Depths d;
    d.add(bytes);
    const uint64_t reported = d.quantile(1, 1);
    CHECK(reported >= bytes);
    CHECK(reported - bytes <= bytes / 8);
  }
}

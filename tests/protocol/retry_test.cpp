// SPDX-License-Identifier: Apache-2.0
#include "protocol/retry.hpp"

#include <catch2/catch_test_macros.hpp>

#include "protocol/tx_window.hpp"

namespace mrc::test::retry_test {

TEST_CASE("linear retries keep the interval, exponential ones double it", "[protocol][retry]") {
  constexpr RetryLimits l{.linear = 2, .exponential = 3};
  const uint32_t want[] = {8, 8, 8, 16, 32, 64};  // after 0..5 retries
  for (unsigned retry = 0; retry < 6; ++retry) {
    CAPTURE(retry);
    CHECK(retry_interval(0, retry, l) == want[retry]);
    CHECK(retry_interval(7, retry, l) == 128 * want[retry]);
    CHECK(retry_exhausted(retry, l) == (retry == 5));
  }
}

TEST_CASE("the interval stays at 8 x 2^27 ticks however often it doubles", "[protocol][retry]") {
  constexpr RetryLimits l{.linear = 0, .exponential = 25};
  CHECK(retry_interval(24, 0, l) == 0x0800'0000);
  CHECK(retry_interval(24, 3, l) == 0x4000'0000);
  CHECK(retry_interval(24, 4, l) == 0x4000'0000);
  CHECK(retry_interval(0, 27, l) == 0x4000'0000);
  CHECK(retry_interval(31, 63, l) == 0x4000'0000);
}

TEST_CASE("25 exponential retries are no limit, no retries fail at the first timeout", "[protocol][retry]") {
  for (unsigned retry = 0; retry < 64; ++retry) {
    CHECK_FALSE(retry_exhausted(retry, {.linear = 7, .exponential = 25}));
    CHECK(retry_exhausted(retry, {.linear = 7, .exponential = 24}) == (retry >= 31));
    CHECK(retry_exhausted(retry, {.linear = 0, .exponential = 0}));  // whatever the count is
  }
  CHECK(retry_next(0) == 1);
  CHECK(retry_next(62) == 63);
  CHECK(retry_next(63) == 63);
}

TEST_CASE("four reasons of a NACK count as retries; trimming does not", "[protocol][retry]") {
  unsigned counted = 0;
  for (unsigned reason = 0; reason < 256; ++reason) counted += nack_counts(static_cast<wire::NackReason>(reason));
  CHECK(counted == 4);
  for (const unsigned reason : {0x06u, 0x07u, 0x0Au, 0x0Bu}) CHECK(nack_counts(static_cast<wire::NackReason>(reason)));
}

TEST_CASE("the local ends of a QP are neither ACK nor NAK", "[protocol][retry]") {
  constexpr uint8_t local[] = {0x84, 0x86}, others[] = {0x00, 0x1f, 0x61, 0x63, 0x81, 0x85};
  for (const uint8_t s : local) {
    CHECK(syndrome_local(s));
    CHECK_FALSE(syndrome_ack(s));
    CHECK_FALSE(syndrome_nak(s));
  }
  for (const uint8_t s : others) CHECK_FALSE(syndrome_local(s));
}

}  // namespace mrc::test::retry_test

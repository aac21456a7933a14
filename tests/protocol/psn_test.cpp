// SPDX-License-Identifier: Apache-2.0
#include "protocol/psn.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::psn_test {

TEST_CASE("PSN arithmetic wraps at 2^24", "[protocol][psn]") {
  CHECK(psn_add(0xfffffe, 3) == 1);
  CHECK(psn_add(1, -3) == 0xfffffe);
  CHECK(psn_dist(2, 0xfffffe) == 4);
  CHECK(psn_dist(0xfffffe, 2) == 0xfffffc);
}

TEST_CASE("a PSN is before another within half the space only", "[protocol][psn]") {
  CHECK(psn_before(0xffffff, 0));
  CHECK_FALSE(psn_before(0, 0xffffff));
  CHECK_FALSE(psn_before(5, 5));
  CHECK(psn_before(0, 0x7fffff));        // distance 2^23 - 1
  CHECK_FALSE(psn_before(0, 0x800000));  // distance 2^23: neither is before the other
  CHECK_FALSE(psn_before(0x800000, 0));
}

TEST_CASE("MSN arithmetic wraps at 2^16", "[protocol][psn]") {
  CHECK(msn_add(0xffff, 1) == 0);
  CHECK(msn_dist(0, 0xffff) == 1);
  CHECK(msn_before(0xffff, 0));
  CHECK(msn_before(0, 0x7fff));
  CHECK_FALSE(msn_before(0, 0x8000));
  CHECK_FALSE(msn_before(7, 7));
}

}  // namespace mrc::test::psn_test

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "reference/report.hpp"

namespace mrc::test::delays_test {

using mrc::ref::Delays;

TEST_CASE("Delays: shares are at least what they are of, and an eighth more at most", "[reference][history]") {
  Delays delays;
  CHECK(delays.within(0.99) == 0);
  for (mrc::log::Time t = 1; t <= 1000; ++t) delays.add(t * 1000);
  CHECK(delays.count() == 1000);
  CHECK(delays.longest() == 1'000'000);
  for (const double share : {0.5, 0.9, 0.99}) {
    CHECK(static_cast<double>(delays.within(share)) >= share * 1e6);
    CHECK(static_cast<double>(delays.within(share)) <= share * 1e6 * 1.126);
  }
  CHECK(delays.within(1) == 1'000'000);
  Delays small;
  for (mrc::log::Time t = 0; t < 8; ++t) small.add(t);
  CHECK(small.within(0.5) == 3);
  small.add(~mrc::log::Time{0});
  CHECK(small.longest() == ~mrc::log::Time{0});
}

}  // namespace mrc::test::delays_test

// SPDX-License-Identifier: Apache-2.0
#include "log/unwrap.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::unwrap_test {

using mrc::log::unwrap;

TEST_CASE("numbers are unwrapped to the nearest one", "[log][unwrap]") {
  CHECK(unwrap(0x000001, 0xfffffe) == 0x1000001);
  CHECK(unwrap(0xffffff, 0x1000002) == 0xffffff);
  CHECK(unwrap(0xffffff, 0) == -1);
  CHECK(unwrap(0x800000, 0) == -0x800000);
  CHECK(unwrap(0x7fffff, 0) == 0x7fffff);
  CHECK(unwrap(3, 0x1fffe, 16) == 0x20003);
}

}  // namespace mrc::test::unwrap_test

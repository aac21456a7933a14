// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timing/lane_room.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::lane_room_test {

TEST_CASE("a lane has room for all but eight packets, and until more than 16384 bytes wait", "[pipeline][tx_lane]") {
  CHECK(lane_room(0, 0, 32));
  CHECK(lane_room(23, 0, 32));
  CHECK_FALSE(lane_room(24, 0, 32));
  CHECK(lane_room(7, 100, 16));
  CHECK_FALSE(lane_room(8, 100, 16));
  CHECK(lane_room(4, 16384, 32));
  CHECK_FALSE(lane_room(4, 16385, 32));
  CHECK_FALSE(lane_room(5, 20480, 32));
}

}  // namespace mrc::test::lane_room_test

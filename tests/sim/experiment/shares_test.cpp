// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/shares.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

namespace mrc::test::shares_test {

using namespace mrc::sim;

namespace {
Flow flow(uint32_t group, NodeId from, NodeId to, uint64_t bytes, Time begun, Time done) {
  Flow f;
  f.group = group;
  f.from = from;
  f.to = to;
  f.bytes = bytes;
  f.begun = begun;
  f.done = done;
  return f;
}
}  // namespace

TEST_CASE("a flow waits for its own traffic at its NICs, and for its share of what else they carry meanwhile",
          "[sim][traffic]") {
  const std::vector<Flow> flows = {
      flow(0, 1, 0, 200, 0, 90),      // an incast comes to its receiver: 200 + 2 x 50
      flow(0, 2, 5, 200, 0, 90),      // alone at both
      flow(1, 3, 0, 50, 20, 40),      // 50 + 50 of the incast, and 50 of the 200 of another traffic
      flow(1, 4, 0, 50, 20, 40),      //
      flow(2, 2, 6, 70, 90, 99),      // begins when the other one of its sender has ended
      flow(2, 2, 7, 30, 89, 99),      // its traffic sends 100, and 30 of the 200
      flow(3, 6, 4, 10, 95, kNever),  // has not ended, but is under way: no NIC sends or receives beside it
      flow(3, 6, 7, 40, 98, 110),     // sends 50, receives 40 and 30 of another
  };
  const auto twice = [](const Flow& f) { return 2 * f.bytes; };
  CHECK(shares(flows, 8, twice) == std::vector<uint64_t>{600, 460, 300, 300, 200, 260, 0, 140});
}

}  // namespace mrc::test::shares_test

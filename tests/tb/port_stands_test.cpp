// SPDX-License-Identifier: Apache-2.0
// Ports of the device that take no beat (docs/design/blocks/nic.md, A port that stands still): RTL and model in
// lockstep.
#include <catch2/catch_test_macros.hpp>

#include "tests/tb/runs.hpp"

namespace mrc::test::port_stands_test {

using namespace mrc::tb;

namespace {

/// Port 0 of two stands still for good after some microseconds.
CosimOptions one_stands(uint32_t port_stall) {
  CosimOptions o = short_run("tiny", "clean", 3000);
  o.scenario.stand_us = 5;
  o.scenario.stand_for_us = 1e6;
  o.scenario.stand_ports = 1;
  o.scenario.port_stall = port_stall;
  o.scenario.hang_us = 400;
  use_rtl(o);
  return o;
}

}  // namespace

TEST_CASE("a port that stands still stops no other plane", "[tb][port_stands]") {
  SECTION("for good") {
    const CosimResult r = run_cosim(one_stands(40));
    INFO(r.error << r.problem);
    CHECK(r.outcome == Outcome::Pass);
    CHECK(r.messages > 0);
  }
  SECTION("now and then") {
    CosimOptions o = short_run("tiny", "port-stands", 3000);
    use_rtl(o);
    const CosimResult r = run_cosim(o);
    INFO(r.error << r.problem);
    CHECK(r.outcome == Outcome::Pass);
  }
}

TEST_CASE("a port that stands still stops all planes if software says so", "[tb][port_stands]") {
  const CosimResult r = run_cosim(one_stands(0));
  INFO(r.error << r.problem);
  CHECK(r.outcome == Outcome::Hang);
}

}  // namespace mrc::test::port_stands_test

// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/fences.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/tb/environment/two_models.hpp"

namespace mrc::test::fences_test {

using namespace mrc::tb;

namespace {

constexpr const Preset& kTiny = *find_preset("tiny");

}  // namespace

TEST_CASE("a fence that ends is held against the lines that the host owes", "[tb][fences]") {
  Fences f(kTiny);
  CHECK(f.seen(0, 30).empty());
  CHECK(f.seen(1, 30) == "FENCE reads 0x1");  // none was begun
  f.requested(1);
  f.requested(1);
  f.answered(1);
  f.begins(10);
  f.requested(0);  // later: it is no part of it
  CHECK(f.seen(0x203, 30).empty());
  CHECK(f.seen(0x401, 30) == "FENCE reads 0x401");  // a port that there is not
  CHECK(f.seen(0x100, 30) == "FENCE reads 0x100");  // not busy, and a port owes
  CHECK(f.ended() == 0);
  CHECK(f.seen(0, 30) == "a fence has ended, and 1 lines for plane 1 have not come that were asked for before it");
  f.begins(12);
  f.answered(1);
  f.answered(0);
  CHECK(f.seen(0, 30).empty());
  CHECK(f.seen(0, 30).empty());
  CHECK(f.begun() == 2);
  CHECK(f.ended() == 2);
  CHECK(f.longest() == 20);
}

TEST_CASE("software begins fences while traffic runs, and most of them end; one that ends at once is told",
          "[tb][fences]") {
  Scenario s = *find_scenario("mixed");
  s.csr_gap = 100;
  TwoModels good(kTiny, s, 3000);
  good.run();
  CHECK(good.dut.problem().empty());
  CHECK(good.dut.fences().begun() >= 20);
  CHECK(good.dut.fences().ended() >= 5);

  TwoModels bad(kTiny, s, 3000);
  bad.shows = [&](mrc_pins_out& out, uint64_t) {
    if (out.rvalid && (out.rdata & 0xff0000fdu) == 1) out.rdata = 0;  // FENCE, and little else
  };
  bad.run();
  CHECK(bad.dut.problem_block() == "fence");
}

}  // namespace mrc::test::fences_test

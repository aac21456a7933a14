// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "tests/protocol/nack_retry_cases.hpp"
#include "tests/sim/fast_net.hpp"

namespace mrc::test::nack_retry_test {

using namespace mrc::sim;
using test::NackCase;

namespace {

void step(FastAndBox& t, const NackCase::Step& s) {
  switch (s.what) {
    case NackCase::What::Report:
      t.sack(0xffffff, s.psn, uint64_t{1} << s.psn, 0, 1);
      break;
    case NackCase::What::Ack:
      t.ack(s.psn, s.msn);
      break;
    case NackCase::What::Nack:
      t.nack(s.psn, code(s.reason), 0);
      break;
    case NackCase::What::Expire:
      for (unsigned i = 0; i < 1000 && t.nic->stats().timeouts == 0; ++i) t.run(100 * kNs);
      REQUIRE(t.nic->stats().timeouts != 0);
      break;
  }
  t.run(300 * kNs);
}

}  // namespace

TEST_CASE("fast: a NACK counts as a retry when it is about the oldest packet not reported, as in the NIC",
          "[sim][fast][timer][A-35]") {
  for (const NackCase& c : test::nack_cases()) {
    CAPTURE(c.name);
    FastConfig config;
    config.same_ev = false;
    config.timeout = 4;  // 16 us
    config.retry = {.linear = static_cast<uint8_t>(c.allowed), .exponential = 0};
    FastAndBox t(config);
    REQUIRE(t.nic->post({.id = 1, .qpn = 3, .bytes = 4 * 4096}));
    REQUIRE(t.nic->post({.id = 2, .qpn = 3, .bytes = 6 * 4096}));
    t.run(5 * kUs);
    REQUIRE(t.writes().size() == 10);
    for (const NackCase::Step& s : c.steps) {
      CHECK_FALSE(t.nic->failed(3));
      step(t, s);
    }
    CHECK(t.nic->failed(3) == c.fails);
  }
}

}  // namespace mrc::test::nack_retry_test

// SPDX-License-Identifier: Apache-2.0
/// WRITEs of no bytes at a responder that is told to refuse them, and what its window shows of them.
#include <catch2/catch_test_macros.hpp>

#include "tests/reference/responder_bench.hpp"

using namespace mrc;
using namespace mrc::test;

TEST_CASE("of two copies the one that can be executed is recorded", "[reference.responder]") {
  for (const bool bad_first : {true, false}) {
    for (const bool both_bad : {true, false}) {
      Bench b;
      b.show();
      b.profile.settings.zero_length = kZeroNak;
      b.start();
      wire::Packet without = b.write(0, 0);
      without.payload.clear();
      without.reth->dma_length = 0;  // a WRITE of no bytes: A-19
      const wire::Packet other = both_bad ? without : b.write(0, 0);
      b.put(false, bad_first ? without : other, 10 * kUs);
      b.put(false, bad_first ? other : without, 11 * kUs);
      b.take(0, 12 * kUs);
      CHECK(b.broken(Rule::RespTakeOnce) == (both_bad ? 1u : 0u));
    }
  }
}

TEST_CASE("where it is dropped (A-19) a WRITE of no bytes need not be taken, any other has to be",
          "[reference.responder]") {
  for (const bool drop : {true, false}) {
    for (const uint32_t bytes : {0u, 100u}) {
      Bench b;
      b.show();
      b.profile.settings.zero_length = drop ? kZeroDrop : kZeroNak;
      b.start();
      wire::Packet p = b.write(0, 0);
      p.reth->dma_length = bytes;
      p.payload.resize(bytes);
      b.put(false, p, 10 * kUs);
      b.end(10 * kUs + kLate, 0);
      CHECK(b.broken(Rule::RespTakeAll) == (drop && bytes == 0 ? 0u : 1u));
    }
  }
}

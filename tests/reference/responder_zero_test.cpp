// SPDX-License-Identifier: Apache-2.0
/// WRITEs of no bytes at a responder that is told to refuse them, and what its window shows of them.
#include <catch2/catch_test_macros.hpp>

#include "tests/reference/responder_bench.hpp"

namespace mrc::test::responder_zero_test {

TEST_CASE("of two copies the one that can be executed is recorded", "[reference.responder]") {
  for (const bool bad_first : {true, false}) {
    for (const bool both_bad : {true, false}) {
      ResponderBench b;
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
      ResponderBench b;
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

TEST_CASE("a SACK may not count a WRITE of no bytes yet, until a later packet or its own SACK shows that it is counted",
          "[reference.responder][A-19]") {
  // PSN 0 has a nominal size of 184 bytes, a WRITE of none has 84: 184 is 1 unit, 184 + 2 x 84 are 2, 2 x 184 + 2 x 84
  // are 3.
  enum class Shown { Nothing, Later, OwnSack };
  for (const Shown shown : {Shown::Nothing, Shown::Later, Shown::OwnSack}) {
    for (const bool counted : {true, false}) {
      CAPTURE(static_cast<int>(shown), counted);
      ResponderBench b;
      b.show();
      b.start();
      for (const uint32_t psn : {0u, 1u, 2u, 3u}) {
        if (psn == 3 && shown != Shown::Later) break;
        wire::Packet p = b.write(psn, static_cast<uint16_t>(psn));
        if (psn == 1 || psn == 2) {
          p.payload.clear();
          p.reth->dma_length = 0;
        }
        b.put(false, p, (10 + psn) * kUs);
        b.take(psn, (10 + psn) * kUs + 1, psn == 1 || psn == 2 ? log::TakeResult::Empty : log::TakeResult::New);
      }
      const uint32_t about = shown == Shown::OwnSack ? 2 : 0, cack = shown == Shown::Later ? 3 : 2;
      const uint32_t all = shown == Shown::Later ? 3 : 2;
      b.read(about, cack, cack + 1, 14 * kUs);
      b.put(true, b.sack(cack, static_cast<int>(about), 0, 0, counted ? all : all - 1), 14 * kUs + 1000);
      CHECK(b.broken(Rule::RespNominal) == (counted || shown == Shown::Nothing ? 0u : 1u));
    }
  }
}

TEST_CASE("a WRITE of no bytes that is refused for want of room is not counted, whatever is taken behind it",
          "[reference.responder][A-19]") {
  constexpr uint8_t kNoPktBuffer = 0x0a;
  for (const bool refused : {true, false}) {
    ResponderBench b;
    b.show();
    b.start();
    b.put(false, b.write(0, 0), 10 * kUs);
    b.take(0, 10 * kUs + 1);
    b.put(true, b.ack(0, 1), 10 * kUs + kUs / 2);
    wire::Packet p = b.write(2, 2);
    p.reth->dma_length = 0;
    p.payload.clear();
    b.put(false, p, 11 * kUs);
    b.take(2, 11 * kUs + 1, log::TakeResult::Empty);
    if (refused) b.put(true, b.nack(2, kNoPktBuffer), 12 * kUs);
    wire::Packet requests = b.write(1, 1);
    requests.bth->a = 1;
    b.put(false, requests, 13 * kUs);
    b.take(1, 13 * kUs + 1);
    b.read(1, 1, 2, 14 * kUs);
    b.put(true, b.sack(1, 1, 0, 0, units(2)), 14 * kUs + kUs / 2);
    b.put(true, b.ack(1, 2), 14 * kUs + kUs / 2);
    b.end(40 * kUs);
    if (refused) CHECK(b.all_broken() == 0);
    CHECK(b.broken(Rule::RespOooLeast) == (refused ? 0 : 1));
  }
}

}  // namespace mrc::test::responder_zero_test

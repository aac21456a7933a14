// SPDX-License-Identifier: Apache-2.0
// The primitives of the model notice who uses them wrongly.
#include "util/check.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pipeline/lib/demux.hpp"
#include "pipeline/lib/pool.hpp"
#include "pipeline/lib/ram.hpp"
#include "pipeline/lib/stream.hpp"

namespace mrc::test::check_test {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;

#define FAILS(expression, words) CHECK_THROWS_MATCHES(expression, CheckFailed, MessageMatches(StartsWith(words)))

static_assert(kChecks, "the tests of the pipeline run with its checks");

TEST_CASE("a check names its place and its condition", "[pipeline][checks]") {
  Fifo<int> fifo(1);
  try {
    fifo.pop();
    FAIL("an empty FIFO was popped");
  } catch (const CheckFailed& failed) {
    CHECK_THAT(failed.what(), ContainsSubstring("an empty FIFO is popped (not: valid())"));
    CHECK_THAT(failed.place, StartsWith("stream.hpp:"));
  }
}

TEST_CASE("a FIFO that is full, empty, or used twice in a cycle", "[pipeline][checks]") {
  Fifo<int> fifo(2);
  FAILS(fifo.pop(), "an empty FIFO is popped");
  fifo.push(1);
  FAILS(fifo.push(2), "two words are pushed into a FIFO in a cycle");
  fifo.clock();
  fifo.push(2);
  fifo.clock();
  FAILS(fifo.push(3), "a word is pushed into a full FIFO");
}

TEST_CASE("a stream and an output register that are not free", "[pipeline][checks]") {
  Stream<int> stream(1);
  stream.load(1);
  FAILS(stream.load(2), "an output register is loaded twice in a cycle");
  stream.clock();
  stream.load(2);
  stream.clock();
  stream.clock();
  FAILS(stream.load(3), "a stream is loaded that is not free");
  OutReg<int> reg;
  reg.load(1);
  reg.clock(false);
  reg.load(2);
  FAILS(reg.clock(false), "a word that nobody has taken is overwritten");
}

TEST_CASE("a request that there is not is granted", "[pipeline][checks]") {
  RrArb arb(3);
  arb.take(2);
  FAILS(arb.take(3), "a request is granted that there is not");
}

TEST_CASE("a number that is not out is given back", "[pipeline][checks]") {
  Pool pool(2);
  FAILS(pool.give(0), "a number is given back that is not out");
  FAILS(pool.give(2), "a number is given back that is not out");
  pool.take();
  FAILS(pool.take(), "a number is handed out twice");
  pool.clock();
  pool.take();
  pool.clock();
  FAILS(pool.take(), "a number is taken that is not there");
  pool.give(0);
  pool.clock();
  FAILS(pool.give(0), "a number is given back that is not out");
}

TEST_CASE("a memory is written twice in a cycle, or beyond its end", "[pipeline][checks]") {
  Ram1r1w<int> ram(2);
  FAILS(ram.read(2), "a row is read that does not exist");
  FAILS(ram.write(2, 0), "a row is written that does not exist");
  ram.read(0);
  FAILS(ram.read(1), "two rows of a memory are read in a cycle");
  ram.write(0, 1);
  FAILS(ram.write(1, 1), "a memory is written twice in a cycle");
  Rf1r1w<int> rf(2);
  FAILS(rf[2], "a row is read that does not exist");
  FAILS(rf.write(2), "a row is written that does not exist");
  rf.write(0, 1);
  FAILS(rf.write(1, 1), "a register file is written twice in a cycle");
}

TEST_CASE("a word for a plane that there is not", "[pipeline][checks]") {
  struct Word {
    unsigned plane = 0;
  };
  PlaneDemux<Word> demux(2, 1);
  demux.load().plane = 1;
  demux.clock();
  demux.clock();
  demux.load().plane = 1;
  demux.clock();
  FAILS(demux.load(), "a stream is loaded that is not free");
}

}  // namespace mrc::test::check_test

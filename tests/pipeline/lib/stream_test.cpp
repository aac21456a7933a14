// SPDX-License-Identifier: Apache-2.0
#include "pipeline/lib/stream.hpp"

#include <catch2/catch_test_macros.hpp>

#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/pool.hpp"
#include "pipeline/lib/ram.hpp"

namespace mrc::test::stream_test {

TEST_CASE("a FIFO shows a word one cycle after the push and refuses when full even while popped",
          "[pipeline][stream]") {
  Fifo<int> f(2);
  f.push(1);
  CHECK_FALSE(f.valid());
  f.clock();
  CHECK(f.head() == 1);
  f.push(2);
  f.clock();
  CHECK_FALSE(f.ready());
  f.pop();
  CHECK_FALSE(f.ready());
  CHECK(f.head() == 1);
  f.clock();
  CHECK(f.ready());
  CHECK(f.head() == 2);
  f.push(3);
  f.pop();
  f.clock();
  CHECK(f.count() == 1);
  CHECK(f.head() == 3);
}

TEST_CASE("a stream takes two cycles to the consumer and holds four words", "[pipeline][stream]") {
  Stream<int> s;
  s.load(1);
  CHECK_FALSE(s.valid());
  s.clock();
  CHECK(s.valid());
  CHECK(s.data() == 1);
  CHECK_FALSE(s.has());
  CHECK(s.free());
  s.load(2);
  s.clock();
  CHECK(s.has());
  CHECK(s.head() == 1);
  CHECK(s.data() == 2);
  s.load(3);
  s.clock();
  CHECK_FALSE(s.ready());
  CHECK(s.valid());
  CHECK_FALSE(s.free());
  s.clock();
  CHECK(s.data() == 3);
  s.pop();
  s.clock();
  CHECK(s.head() == 2);
  CHECK(s.valid());  // ready was 0 in the cycle of the pop
  s.clock();
  CHECK_FALSE(s.valid());
  CHECK(s.count() == 2);
}

TEST_CASE("an output register is emptied when taken, and keeps its data", "[pipeline][stream]") {
  OutReg<int> r;
  r.load(5);
  r.clock(false);
  CHECK(r.valid());
  CHECK_FALSE(r.free(false));
  r.clock(false);
  CHECK(r.valid());
  CHECK(r.free(true));
  r.load(6);
  CHECK(r.data() == 5);
  r.clock(true);
  CHECK(r.valid());
  CHECK(r.data() == 6);
  r.clock(true);
  CHECK_FALSE(r.valid());
  CHECK(r.data() == 6);
}

TEST_CASE("round robin starts behind the last grant", "[pipeline][stream]") {
  RrArb a(3);
  const auto all = [](unsigned) { return true; };
  CHECK(a.pick(all) == 0);
  a.take(0);
  CHECK(a.pick(all) == 1);
  CHECK(a.pick([](unsigned i) { return i == 0; }) == 0);
  CHECK(a.pick([](unsigned) { return false; }) == -1);
  a.take(2);
  CHECK(a.pick(all) == 0);
}

TEST_CASE("a RAM gives the old row to a read in the cycle of a write, and holds it", "[pipeline][ram]") {
  Ram1r1w<int> m(4);
  m.write(1, 10);
  m.clock();
  m.read(1);
  m.write(1, 11);
  m.clock();
  CHECK(m.rdata() == 10);
  m.write(1, 12);
  m.clock();
  CHECK(m.rdata() == 10);
  m.read(1);
  CHECK(m.rdata() == 10);
  m.clock();
  CHECK(m.rdata() == 12);
}

TEST_CASE("a table write is acknowledged until the request falls", "[pipeline][cfg]") {
  CfgBus cfg;
  CfgAck ack;
  cfg.req = true;
  ack.begin(cfg);
  CHECK(ack.pending(cfg));
  ack.done();
  ack.clock();
  CHECK(ack.value());
  ack.begin(cfg);
  CHECK_FALSE(ack.pending(cfg));
  ack.clock();
  CHECK(ack.value());
  cfg.req = false;
  ack.begin(cfg);
  ack.clock();
  CHECK_FALSE(ack.value());
}

TEST_CASE("a pool hands out each number once, then those given back, in their order", "[pipeline][stream]") {
  Pool pool(3);
  for (unsigned left = 3; left > 0; --left) {
    REQUIRE(pool.valid());
    CHECK(pool.free() == left);
    CHECK(pool.offer() == 3 - left);
    pool.take();
    CHECK(pool.offer() == 3 - left);  // until the cycle ends
    pool.clock();
  }
  CHECK_FALSE(pool.valid());
  CHECK(pool.free() == 0);
  pool.give(2);
  CHECK_FALSE(pool.valid());  // on offer in the next cycle
  pool.clock();
  CHECK(pool.free() == 1);
  pool.give(0);
  pool.clock();
  CHECK(pool.free() == 2);
  CHECK(pool.offer() == 2);
  pool.take();  // both in one cycle
  pool.give(1);
  pool.clock();
  CHECK(pool.free() == 2);
  CHECK(pool.offer() == 0);
  pool.take();
  pool.clock();
  CHECK(pool.offer() == 1);
  pool.take();
  pool.clock();
  CHECK_FALSE(pool.valid());
}

TEST_CASE("numbers given back come before numbers never used", "[pipeline][stream]") {
  Pool pool(4);
  pool.take();
  pool.clock();
  pool.take();
  pool.clock();
  pool.give(0);
  pool.take();  // 2: 0 is not back yet
  pool.clock();
  CHECK(pool.offer() == 0);
  CHECK(pool.free() == 2);
  pool.take();
  pool.clock();
  CHECK(pool.offer() == 3);
  CHECK(pool.free() == 1);
}

TEST_CASE("a register file shows a write in the next cycle", "[pipeline][ram]") {
  Rf1r1w<int> rf(4);
  rf.write(2, 7);
  CHECK(rf[2] == 0);
  rf.clock();
  CHECK(rf[2] == 7);
  ++rf.write(2);
  rf.clock();
  CHECK(rf[2] == 8);
  rf.clock();
  CHECK(rf[2] == 8);
  CHECK(rf[3] == 0);
}

}  // namespace mrc::test::stream_test

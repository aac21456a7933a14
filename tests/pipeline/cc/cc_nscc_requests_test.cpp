// SPDX-License-Identifier: Apache-2.0
// Requests, answers, resumes, and table writes.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

#include "tests/pipeline/cc/cc_nscc_bench.hpp"

namespace mrc::test::cc_nscc_requests_test {

using namespace mrc::test::cc_nscc;

TEST_CASE("cc_nscc grants of a burst what fits, but at least its first packet", "[pipeline][cc_nscc][burst]") {
  Bench b;
  const auto burst = [&b](uint16_t min, uint16_t bytes) {
    b.answers.clear();
    b.req_queue = {{.cc = 0, .min = min, .bytes = bytes}};
    b.run(6);
    REQUIRE(b.answers.size() == 1);
    return b.answers[0].data;
  };
  b.send(0, 225000 - 20000);
  CHECK(burst(4000, 8000) == Ccans{0, 8000, false});
  CHECK(burst(4000, 8001) == Ccans{0, 8001, true});  // 3999 are left
  CHECK(b.block.state(0).inflight == 225000 - 3999);
  CHECK(burst(4000, 8000) == Ccans{0, 0, false});  // the first packet does not fit
  CHECK(b.block.state(0).inflight == 225000 - 3999);
  CHECK(b.hold.size() == 1);
  CHECK(burst(3999, 8000) == Ccans{0, 3999, true});
  CHECK(b.block.state(0).inflight == 225000);
  CHECK(b.hold.size() == 1);
  // Refused: the first packet's size is what the resume waits for.
  CHECK(burst(500, 60000) == Ccans{0, 0, false});
  b.event(ack_without_rtt(499));
  CHECK(b.resumes.empty());
  b.event(ack_without_rtt(1));
  CHECK(b.resumes.size() == 1);
  CHECK(burst(500, 60000) == Ccans{0, 500, true});
  // A retransmission is all or nothing.
  b.event(ack_without_rtt(1000));
  CHECK(b.rtxreqs(0, 1001) == Ccans{0, 0, false});
  CHECK(b.rtxreqs(0, 1000) == Ccans{0, 1000, false});
  b.bind(0, 1);  // no controller: everything
  CHECK(burst(4000, 65535) == Ccans{0, 65535, false});
}

TEST_CASE("cc_nscc: last when less than cwnd / 2^ar_shift is left", "[pipeline][cc_nscc][burst][A-73]") {
  for (const unsigned shift : {0u, 1u, 3u, 6u, 7u}) {
    CAPTURE(shift);
    NsccParams p = example();
    p.ar_shift = shift;
    Bench b(p);
    const uint32_t least = shift == 0 ? 4000 : std::max(4000u, 225000u >> shift);
    b.send(0, 225000 - least - 10);
    CHECK(b.requests(0, 10) == Ccans{0, 10, false});
    CHECK(b.requests(0, 1) == Ccans{0, 1, true});
    b.event(loss(100000));  // the window of now
    CHECK(b.block.state(0).cwnd == q16(125000));
    b.event(ack_without_rtt(static_cast<uint32_t>(b.block.state(0).inflight)));
    const uint32_t less = shift == 0 ? 4000 : std::max(4000u, 125000u >> shift);
    b.send(0, 125000 - less - 10);
    CHECK(b.requests(0, 10) == Ccans{0, 10, false});
    CHECK(b.requests(0, 1) == Ccans{0, 1, true});
    CHECK(b.rtxreqs(0, 1) == Ccans{0, 1, false});
  }
}

TEST_CASE("cc_nscc takes back what was not used, before it answers", "[pipeline][cc_nscc][burst]") {
  Bench b;
  b.send(2, 225000);
  b.send(1, 100000);
  b.req_queue = {one(2, 5000), one(2, 5000)};
  b.rtxreq_queue = {one(2, 4000), one(2, 1)};
  b.ret_queue = {{.cc = 1, .bytes = 60000}, {.cc = 6, .bytes = 9000}};  // 6 is destination 2
  const unsigned start = b.cycles;
  b.run(12);
  CHECK(b.ranswers == std::vector<Seen<Ccans>>{{start + 5, {2, 4000, false}}, {start + 6, {2, 1, false}}});
  CHECK(b.answers == std::vector<Seen<Ccans>>{{start + 7, {2, 0, false}}, {start + 8, {2, 0, false}}});
  CHECK(b.block.state(1).inflight == 40000);
  CHECK(b.block.state(2).inflight == 225000 - 9000 + 4001);
  b.ret_queue = {{.cc = 2, .bytes = 1000}};
  b.run(10);
  CHECK(b.resumes.empty());  // whoever gave it back asks again
  CHECK(b.requests(2, 5000).bytes == 5000);
  // Not in Count and Store, nor while a table is written.
  b.ret_queue.assign(8, {.cc = 0, .bytes = 10});
  b.ev_queue = {loss(1000)};
  b.run(30);
  CHECK(b.block.state(0).inflight == -1000 - 80);
  // Below the least: it stays there.
  b.ev_queue = {loss((1u << 28) - 1)};
  b.run(10);
  b.ret_queue = {{.cc = 0, .bytes = 65535}};
  b.run(10);
  CHECK(b.block.state(0).inflight == -(1 << 28));
  // Without controller it counts, too.
  b.bind(3, 1);
  b.requests(3, 5000);
  b.ret_queue = {{.cc = 3, .bytes = 3000}};
  b.run(10);
  CHECK(b.block.state(3).inflight == 2000);
}

TEST_CASE("cc_nscc: a refused ask wakes once, with Store", "[pipeline][cc_nscc]") {
  Bench b;
  b.send(3, 225000);
  b.send(1, 225000);
  CHECK(b.requests(3, 4000).bytes == 0);
  Ccev e = ack(3999, 150, true);
  e.cc = 3;
  b.event(e);
  CHECK(b.resumes.empty());
  e.cc = 1;
  e.bytes = 9000;
  b.event(e);  // somebody else's
  CHECK(b.resumes.empty());
  e.cc = 7;  // destination 3
  e.bytes = 1;
  CHECK(b.event(e) == 10);
  REQUIRE(b.resumes.size() == 1);
  CHECK(b.resumes[0] == Seen<Ccresume>{b.popped[0] + 10, {.cc = 7}});
  e.bytes = 9000;
  b.event(e);
  CHECK(b.resumes.size() == 1);
  CHECK(b.requests(3, 13000).bytes != 0);
}

TEST_CASE("cc_nscc: at the floor a packet of mtu bytes always gets out, a larger one never", "[pipeline][cc_nscc]") {
  Bench b;
  b.send(0, 225000);
  b.event(loss(60000));
  b.event(loss(60000));
  b.event(loss(60000));
  b.event(loss(45000));  // nothing is in flight, the window is at the floor
  CHECK(b.requests(0, 4001).bytes == 0);
  CHECK(b.rtxreqs(0, 4001).bytes == 0);
  CHECK(b.requests(0, 4000).bytes == 4000);
}

TEST_CASE("cc_nscc: refused asks leave one wake, with the newest size; a granted one takes it away",
          "[pipeline][cc_nscc]") {
  Bench b;
  b.send(0, 225000);
  CHECK(b.requests(0, 60000).bytes == 0);
  CHECK(b.requests(0, 4000).bytes == 0);
  b.event(ack_without_rtt(4000));
  CHECK(b.resumes.size() == 1);
  CHECK(b.requests(0, 4000).bytes != 0);
  CHECK(b.requests(0, 4000).bytes == 0);
  CHECK(b.requests(0, 60000).bytes == 0);
  b.event(ack_without_rtt(59999));
  CHECK(b.resumes.size() == 1);
  b.event(ack_without_rtt(1));
  CHECK(b.resumes.size() == 2);
  CHECK(b.requests(0, 60001).bytes == 0);
  CHECK(b.requests(0, 1000).bytes != 0);
  b.event(ack_without_rtt(100000));
  CHECK(b.resumes.size() == 2);
}

TEST_CASE("cc_nscc: an ask granted after Count, before Store, is seen by the wake", "[pipeline][cc_nscc]") {
  for (const uint16_t late : {uint16_t{1}, uint16_t{2}}) {
    Bench b;
    b.send(0, 225000);
    CHECK(b.requests(0, 4000).bytes == 0);
    b.ev_queue = {ack(4001, 150, true)};
    b.run(5);  // popped in the third of these
    b.rtxreq_queue = {one(0, late)};
    b.run(30);
    CHECK(b.ranswers.at(0).data.bytes != 0);
    CHECK(b.ranswers.at(0).cycle < b.popped.at(0) + 9);
    CHECK(b.resumes.size() == (late == 1 ? 1 : 0));
  }
}

TEST_CASE("cc_nscc: events wait while a wake has nowhere to go; asks do not", "[pipeline][cc_nscc]") {
  Bench b;
  b.take_resume = false;
  for (uint16_t cc = 0; cc < 4; ++cc) {
    b.send(cc, 225000);
    CHECK(b.requests(cc, 4000).bytes == 0);
  }
  for (uint16_t cc = 0; cc < 4; ++cc) {
    Ccev e = ack_without_rtt(4000);
    e.cc = cc;
    b.ev_queue.push_back(e);
  }
  b.run(60);
  CHECK(b.popped.size() == 3);  // resumes: two in the reader's FIFO, one in the register
  CHECK(b.requests(3, 4000).bytes == 0);
  CHECK(b.requests(2, 4000).bytes != 0);
  b.take_resume = true;
  b.run(20);
  CHECK(b.popped.size() == 4);
  REQUIRE(b.resumes.size() == 4);
  for (uint16_t cc = 0; cc < 4; ++cc) CHECK(b.resumes[cc].data.cc == cc);
}

TEST_CASE("cc_nscc takes 16 events and stalls their source, none is lost", "[pipeline][cc_nscc]") {
  Bench b;
  uint32_t sum = 0;
  for (uint32_t i = 1; i <= 60; ++i) {
    b.ev_queue.push_back(ack(i, 150, true));  // 10 cycles each
    sum += i;
  }
  std::size_t most = 0;
  bool stalled = false;
  for (unsigned i = 0; i < 60 * 10 + 10; ++i) {
    b.cycle();
    most = std::max(most, b.ev.count());
    if (b.ev.count() == 16) {
      CHECK_FALSE(b.ev.ready());
      stalled = stalled || (b.ev.valid() && !b.ev.free());
    } else {
      CHECK(b.ev.ready());
    }
  }
  CHECK(most == 16);
  CHECK(stalled);
  REQUIRE(b.popped.size() == 60);
  for (unsigned i = 1; i < 60; ++i) CHECK(b.popped[i] - b.popped[i - 1] == 10);
  CHECK(b.block.state(0).inflight == -static_cast<int32_t>(sum));
  CHECK(b.block.state(0).received == sum);
}

TEST_CASE("cc_nscc: with eight events waiting, the round trip of an unmarked Ack is not looked at",
          "[pipeline][cc_nscc][A-77]") {
  // The first is taken alone, in 16 cycles; the second is what this is about, and the rest waits with it.
  Ccev penalty = ack(100, 150), restore = ack(100, 150);
  penalty.pen = 1;
  restore.restore = true;
  struct Case {
    Ccev event;
    unsigned waiting, cycles;
  };
  for (const Case& c : {Case{ack(100, 150), 7, 16},
                        {ack(100, 150), 8, 3},
                        {ack(100, 150, true), 8, 10},
                        {penalty, 8, 13},
                        {restore, 8, 3},
                        {nack(100), 8, 8},
                        {loss(100), 8, 3}}) {
    CAPTURE(static_cast<unsigned>(c.event.kind), c.waiting, c.cycles);
    Bench b;
    b.ev_queue.assign(c.waiting + 1, loss(1));
    b.ev_queue[0] = ack(1, 150);
    b.ev_queue[1] = c.event;
    b.run(200);
    REQUIRE(b.popped.size() == c.waiting + 1);
    CHECK(b.popped[1] - b.popped[0] == 16);
    CHECK(b.popped[2] - b.popped[1] == c.cycles);
  }
  Bench b;
  b.send(0, 2000);
  b.ev_queue.assign(9, ack(100, 150));
  b.run(200);
  CHECK(b.block.state(0).received == 900);  // each byte counts, also that of the second
  CHECK(b.block.state(0).inflight == 1100);
}

TEST_CASE("cc_nscc without controller grants everything and counts", "[pipeline][cc_nscc]") {
  Bench b;
  b.bind(1, 1);
  b.req_queue.assign(10, one(1, 65535));
  b.rtxreq_queue.assign(2, one(1, 65535));
  b.run(30);
  REQUIRE(b.answers.size() == 10);
  for (const auto& a : b.answers) CHECK(a.data == Ccans{1, 65535, false});
  for (const auto& a : b.ranswers) CHECK(a.data == Ccans{1, 65535, false});
  CHECK(b.hold.empty());
  CHECK(b.block.state(1).inflight == 786420);
  for (Ccev e : {ack(1000, 9000, true), nack(1000), loss(1000)}) {
    e.cc = 1;
    e.pen = 100;
    CHECK(b.event(e) == 2);
  }
  CHECK(b.block.state(1).inflight == 783420);
  CHECK(b.resumes.empty());
  // After reset there is none either.
  Bench fresh;
  CcNscc untouched(fresh.preset, {fresh.ev, fresh.req, fresh.rtxreq, fresh.ret}, {fresh.ans, fresh.rans, fresh.resume});
  fresh.req.load(one(2, 65535));
  for (unsigned i = 0; i < 3; ++i) {
    untouched.step({}, 0);
    untouched.clock();
    fresh.req.clock();
    fresh.ans.clock();
  }
  CHECK(fresh.ans.valid());
  CHECK(fresh.ans.data() == Ccans{2, 65535, false});
}

TEST_CASE("cc_nscc: a table write waits for the event, and comes before the next one", "[pipeline][cc_nscc]") {
  Bench b;
  b.ev_queue = {ack(1000, 150), ack(1000, 150)};  // 16 cycles
  b.run(8);
  REQUIRE(b.popped.size() == 1);
  const unsigned pop = b.popped[0];
  NsccParams p = example();
  p.mtu = 8000;
  const unsigned start = b.cycles;
  CHECK(b.profile(2, words_of(p)) == pop + 16 - start + 1);  // row 0, in Idle
  b.run(40);
  CHECK(b.popped.at(1) == pop + 17);
  // The row counts at once: below 8000 left is last.
  b.send(0, 219000);
  CHECK(b.requests(0, 10) == Ccans{0, 10, true});

  // A new binding ends the flight, the window, the wait; Init takes three cycles.
  CHECK(b.requests(0, 60000).bytes == 0);
  b.event(loss(100000));
  b.answers.clear();
  b.req_queue.assign(12, one(0, 1000));
  b.tick = 5000;
  b.run(4);
  CHECK(b.bind(4, 2) == 4);             // destination 0, row 0
  const unsigned acked = b.cycles - 2;  // the last cycle of Init
  b.run(20);
  REQUIRE(b.answers.size() == 12);
  for (const auto& a : b.answers) CHECK((a.cycle <= acked - 3 || a.cycle >= acked + 2));
  CHECK(b.answers[0].cycle < acked - 2);
  CHECK(b.block.state(0).cwnd == q16(225000));
  CHECK(b.block.state(0).last_dec == 5000);
  b.event(ack_without_rtt(100000));
  CHECK(b.resumes.empty());

  // Without asks in between: the flight is gone, and so is the wait of the refused one.
  CHECK(b.block.state(0).inflight == 10000 - 100000);  // two of the requests were answered before the binding
  b.send(0, 313000);
  CHECK(b.requests(0, 60000).bytes == 0);
  CHECK(b.bind(0, 0) == 4);
  CHECK(b.block.state(0).inflight == 0);
  b.event(ack_without_rtt(1000));
  CHECK(b.resumes.empty());

  // And back to no controller.
  b.bind(0, 3);
  CHECK(b.requests(0, 65535) == Ccans{0, 65535, false});
}

TEST_CASE("cc_nscc: events go by the profile as it is, asks by what it was when the controller was bound",
          "[pipeline][cc_nscc]") {
  NsccWords words = words_of(example());
  words.enable = false;
  Bench b;
  b.profile(1, words);
  b.bind(0, 1);
  CHECK(b.event(loss(1000)) == 2);
  words.enable = true;
  b.profile(1, words);
  CHECK(b.event(loss(1000)) == 3);
  CHECK(b.block.state(0).cwnd == q16(224000));  // from max_wnd: Init starts it with or without controller
  for (unsigned i = 0; i < 5; ++i) CHECK(b.requests(0, 65535) == Ccans{0, 65535, false});
  b.bind(0, 1);
  words.enable = false;
  b.profile(1, words);
  CHECK(b.event(loss(1000)) == 2);
  CHECK(b.block.state(0).inflight == -1000);
  for (unsigned i = 0; i < 3; ++i) CHECK(b.requests(0, 65535).bytes != 0);
  CHECK(b.requests(0, 65535).bytes == 0);
}

TEST_CASE("cc_nscc acknowledges tables it does not know in one cycle, in which nothing else is done",
          "[pipeline][cc_nscc]") {
  Bench b;
  b.ev_queue = {loss(1000)};
  b.req_queue = {one(0, 1000)};
  b.run(2);  // both at the head
  const unsigned start = b.cycles;
  b.cfg.data = {};
  CHECK(b.configure(CfgTable::QpCtx, 0, csr::TblQpCtx{}) == 1);
  b.run(10);
  CHECK(b.popped == std::vector<unsigned>{start + 1});
  CHECK(b.answers.at(0).cycle == start + 2);
  CHECK(b.block.state(0).cwnd == q16(224000));
}

TEST_CASE("cc_nscc: a quotient that does not fit opens the window to max_wnd", "[pipeline][cc_nscc]") {
  NsccParams p = example();
  p.fi = 16777215;
  p.adjust_bytes_threshold = (1u << 28) - 1;
  Bench b(p);
  b.send(0, 225000);
  b.event(loss(100000));
  CHECK(b.requests(0, 1).bytes == 0);
  // inc = fi x 2^18 B = 2^42 - 2^18 bytes^2, 2^50 in the register; / cwnd = 2^25.07 bytes: fits, and exceeds max_wnd.
  CHECK(b.event(ack(1u << 18, 175)) == 13);
  CHECK(b.block.state(0).inc == ((uint64_t{1} << 50) - (uint64_t{1} << 26)));
  // 2^26 B more: inc / cwnd is 2^33 bytes and does not fit in 28 bits.
  CHECK(b.event(ack(1u << 26, 175), 99) == 13);
  CHECK(b.block.state(0).inc == (uint64_t{1} << 50) - (uint64_t{1} << 26) + (uint64_t{1} << 58) - (uint64_t{1} << 34));
  CHECK(b.block.state(0).cwnd == q16(125000));
  CHECK(b.event(ack(0, 175), 100) == 36);
  CHECK(b.block.state(0).cwnd == q16(225000));
  CHECK(b.block.state(0).inc == 0);
}

}  // namespace mrc::test::cc_nscc_requests_test

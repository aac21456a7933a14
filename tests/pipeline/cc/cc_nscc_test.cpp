// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <set>
#include <vector>

#include "tests/pipeline/cc/cc_nscc_bench.hpp"

namespace mrc::test::cc_nscc_test {

using namespace mrc::test::cc_nscc;

TEST_CASE("the words of a profile lie where table CC_PROFILE has its fields", "[pipeline][cc_nscc]") {
  NsccWords w;
  w.enable = w.md_resets_fast = w.nack_sample_cfg = true;
  w.disable_qa = w.nack_any_reason = w.nack_rtt = false;
  w.qa_gate = 0x15;
  w.ar_shift = 5;
  w.mtu = 0x2bcd;
  w.base_rtt = 0x8123;
  w.adjust_period = 0x9234;
  w.near_zero = 0xa345;
  w.qa_threshold = 0xb456;
  w.wnd_rate = 0xc5678901;
  w.max_cwnd = 0xd678901;
  w.target = 0xe78901;
  w.adjust_bytes = 0xf890123;
  w.fi_scale = 0x90123456;
  w.alpha = 0xa12345678;
  w.ewma_weight = 0xb234567;
  w.fi = 0xc34567890;
  w.eta = 0xd45678901;
  w.gamma = 0x1567890;
  w.max_md_jump = 0x1678901;
  auto row = nscc_row(w);
  const auto t = csr::TblCcProfile::unpack(row.data());
  CHECK((t.enable && t.md_resets_fast && t.nack_sample_cfg));
  CHECK_FALSE((t.disable_qa || t.nack_any_reason || t.nack_rtt));
  CHECK(t.qa_gate == w.qa_gate);
  CHECK(t.ar_shift == w.ar_shift);
  CHECK(t.mtu == w.mtu);
  CHECK(t.base_rtt == w.base_rtt);
  CHECK(t.adjust_period == w.adjust_period);
  CHECK(t.near_zero == w.near_zero);
  CHECK(t.qa_threshold == w.qa_threshold);
  CHECK(t.wnd_rate == w.wnd_rate);
  CHECK(t.max_cwnd == w.max_cwnd);
  CHECK(t.target == w.target);
  CHECK(t.adjust_bytes == w.adjust_bytes);
  CHECK(t.fi_scale == w.fi_scale);
  CHECK(t.alpha == w.alpha);
  CHECK(t.ewma_weight == w.ewma_weight);
  CHECK(t.fi == w.fi);
  CHECK(t.eta == w.eta);
  CHECK(t.gamma == w.gamma);
  CHECK(t.max_md_jump == w.max_md_jump);
  for (uint32_t& word : row) word = ~word;  // the other value of each flag
  const auto u = csr::TblCcProfile::unpack(row.data());
  const NsccWords v = nscc_from_row(row);
  CHECK((u.disable_qa && v.disable_qa && u.nack_any_reason && v.nack_any_reason && u.nack_rtt && v.nack_rtt));
  CHECK_FALSE((u.enable || v.enable || u.md_resets_fast || v.md_resets_fast || u.nack_sample_cfg || v.nack_sample_cfg));
}

TEST_CASE("cc_nscc: loss, acks without sample and nacks take the time of the contract", "[pipeline][cc_nscc]") {
  Bench b;
  CHECK(b.event({.kind = kOther, .bytes = 5000}) == 2);
  CHECK(b.block.state(0).inflight == 0);
  CHECK(b.event(loss(5000)) == 3);
  CHECK(b.block.state(0).cwnd == q16(220000));
  CHECK(b.block.state(0).inflight == -5000);
  CHECK(b.event(ack_without_rtt(1000)) == 3);
  CHECK(b.event(nack(1000)) == 8);
  CHECK(b.block.state(0).cwnd == q16(219000));
  CHECK(b.event(nack(1000, 3)) == 4);  // not congestion
  CHECK(b.block.state(0).cwnd == q16(219000));
  CHECK(b.block.state(0).inflight == -8000);
  Ccev fell = nack(1000);
  fell.rtt_valid = true;
  fell.rtt = 90;
  CHECK(b.event(fell) == 11);
  CHECK(b.block.state(0).base_rtt == 90);
  CHECK(b.event(fell) == 8);  // not again
  fell.reason = 3;
  fell.rtt = 80;
  CHECK(b.event(fell) == 7);
  CHECK(b.block.state(0).base_rtt == 80);
  Ccev pen = ack_without_rtt(1000);
  pen.pen = 1;
  CHECK(b.event(pen) == 6);
  Ccev restore = ack_without_rtt(1000);
  restore.restore = true;
  CHECK(b.event(restore) == 3);
  CHECK(b.block.state(0).cwnd == q16(217000));  // the two nacks more
}

TEST_CASE("cc_nscc: every outcome of an ack takes the time of the contract", "[pipeline][cc_nscc]") {
  Bench b;
  CHECK(b.event(ack(1000, 150, true)) == 10);  // marked, early: nothing
  CHECK(b.event(ack(1000, 175)) == 13);        // fair
  CHECK(b.block.state(0).mode == NsccMode::Fair);
  CHECK(b.event(ack(1000, 174)) == 16);  // proportional
  CHECK(b.block.state(0).mode == NsccMode::Proportional);
  CHECK(b.event(ack(1000, 107)) == 16);
  Ccev limited = ack(1000, 174);
  limited.pen = 1;
  CHECK(b.event(limited) == 13);  // nothing, and a penalty
  limited.rtt = 99;
  CHECK(b.event(limited) == 16);        // and base_rtt fell
  CHECK(b.event(ack(1000, 98)) == 19);  // proportional, and base_rtt fell
  // 98 + 74.xx is late for a delay of 75: 173. Received so far: 7000; with 25 001 more than 32 000.
  CHECK(b.event(ack(25000, 150, true)) == 10);
  CHECK(b.event(ack(1, 150, true)) == 33);
  CHECK(b.block.state(0).received == 0);
  CHECK(b.event(ack(33000, 173)) == 36);
  CHECK(b.event(ack(33000, 150)) == 39);
}

TEST_CASE("cc_nscc: fast increase takes 13 cycles", "[pipeline][cc_nscc]") {
  Bench b;
  b.event(loss(200000));                  // cwnd 25 000
  CHECK(b.event(ack(25000, 107)) == 16);  // 25 000 is not above cwnd
  CHECK(b.event(ack(1000, 107)) == 13);
  CHECK(b.block.state(0).mode == NsccMode::Fast);
  CHECK(b.block.state(0).cwnd == q16(25250));
  CHECK(b.event(ack(6001, 107)) == 36);  // 32 001 received
}

TEST_CASE("cc_nscc: a decrease takes 30 cycles and raises md_inc in the cycle after Store", "[pipeline][cc_nscc]") {
  Bench b;
  CHECK(b.event(ack(1000, 8100, true), 100) == 33);  // 100 ticks since the start: adjusted, but no decrease yet
  CHECK(b.md.empty());
  CHECK(b.event(ack(1000, 8100, true), 101) == 30);
  REQUIRE(b.md.size() == 1);
  CHECK(b.md[0] == b.popped[0] + 30);
  CHECK(b.block.state(0).mode == NsccMode::Decrease);
  CHECK(b.event(ack(1000, 8100, true), 199) == 10);  // 98 ticks later
  Ccev all = ack(1000, 8100, true);
  all.pen = 1;
  CHECK(b.event(all, 202) == 56);  // a penalty, a decrease, an adjustment
  CHECK(b.md.size() == 2);
  CHECK(b.qa.empty());
}

TEST_CASE("cc_nscc: quick adapt takes 8 cycles and raises qa_inc in the cycle after Store", "[pipeline][cc_nscc]") {
  Bench b;
  b.send(0, 100000);
  CHECK(b.event(ack(4000, 150, true)) == 10);  // arms: the period is 175 ticks
  CHECK(b.event(nack(4000), 1) == 8);          // trigger
  CHECK(b.event(ack(24000, 150), 2) == 16);
  CHECK(b.event(ack(1000, 150), 175) == 8);
  REQUIRE(b.qa.size() == 1);
  CHECK(b.qa[0] == b.popped[0] + 8);
  CHECK(b.block.state(0).mode == NsccMode::QuickAdapt);
  CHECK(b.block.state(0).cwnd == q16(25000));  // of 225 000 / 8
  CHECK(b.block.state(0).bytes_to_ignore == 67000);
  CHECK(b.event(ack(1000, 150, true), 176) == 8);
  CHECK(b.block.state(0).mode == NsccMode::Ignore);
  CHECK(b.event(nack(1000), 177) == 8);
  CHECK(b.qa.size() == 1);
  CHECK(b.md.empty());
}

TEST_CASE("cc_nscc takes the cycles that nscc_cycles() says", "[pipeline][cc_nscc]") {
  Bench b;
  b.send(0, 200000);
  const NsccWords words = words_of(example());
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  std::set<unsigned> seen;
  for (unsigned i = 0, at = 0; i < 2000; ++i) {
    Ccev e = below(8) == 0   ? loss(2000)
             : below(4) == 0 ? nack(4000, below(3) == 0 ? 3 : 1)
                             : ack(4000, 0, below(3) == 0);
    e.rtt_valid = e.kind != kLoss && below(5) != 0;
    e.rtt = static_cast<uint16_t>(e.rtt_valid ? (below(40) == 0 ? 90 - i / 50 : 100 + below(300)) : 0);
    if (e.kind == kAck && below(6) == 0) e.pen = 3;
    NsccState state = b.block.state(0);
    const uint32_t base_rtt = state.base_rtt;
    at += below(60);
    const NsccEvent event = {.kind = e.kind,
                             .now = 1000 + at,
                             .bytes = e.bytes,
                             .ecn = e.ecn,
                             .rtt_valid = e.rtt_valid,
                             .rtt = e.rtt,
                             .pen = e.pen,
                             .restore = e.restore,
                             .reason = e.reason};
    const NsccDecisions decisions = nscc_step(state, words, event);
    const unsigned cycles = nscc_cycles(event, decisions, state.base_rtt != base_rtt);
    CHECK(b.event(e, at) == cycles);
    CHECK(b.block.state(0) == state);
    seen.insert(cycles);
  }
  CHECK(seen.size() >= 12);
}

TEST_CASE("cc_nscc answers asks in the cycle after their arrival", "[pipeline][cc_nscc]") {
  Bench b;
  b.req_queue = {one(2, 60000), one(2, 60000), one(6, 60000), one(2, 45001),
                 one(2, 41000), one(2, 1),     one(2, 3999),  one(2, 1)};
  const unsigned start = b.cycles;
  b.run(12);
  // Loaded in `start`, in the register then, in the FIFO, answered: start + 3. 6 is destination 2. Below 4000: last.
  const std::vector<Seen<Ccans>> want = {{start + 3, {2, 60000, false}}, {start + 4, {2, 60000, false}},
                                         {start + 5, {6, 60000, false}}, {start + 6, {2, 0, false}},
                                         {start + 7, {2, 41000, false}}, {start + 8, {2, 1, true}},
                                         {start + 9, {2, 3999, true}},   {start + 10, {2, 0, false}}};
  CHECK(b.answers == want);
  CHECK(b.hold == std::vector<unsigned>{start + 6, start + 10});
  CHECK(b.block.state(2).inflight == 225000);
  CHECK(b.block.state(0).inflight == 0);
}

TEST_CASE("cc_nscc: the flight changes in Count, and no ask is answered in Count and Store", "[pipeline][cc_nscc]") {
  Bench b;
  b.send(0, 225000);
  b.req_queue.assign(30, one(0, 4000));
  b.run(5);
  b.ev_queue = {ack(4000, 150, true)};  // 10 cycles, the window stays
  b.run(40);
  REQUIRE(b.popped.size() == 1);
  const unsigned pop = b.popped[0];
  REQUIRE(b.answers.size() == 30);
  unsigned cycle = b.answers[0].cycle - 1;  // in which the first was answered
  REQUIRE(cycle < pop);
  for (const auto& a : b.answers) {
    CAPTURE(cycle);
    while (cycle == pop + 1 || cycle == pop + 9) ++cycle;
    CHECK(a.cycle == cycle + 1);
    CHECK((a.data.bytes != 0) == (cycle == pop + 2));
    ++cycle;
  }
  CHECK(cycle > pop + 10);
}

TEST_CASE("cc_nscc: the window changes in Store, and counts the flight of Count", "[pipeline][cc_nscc]") {
  Bench b;
  b.send(0, 225000);
  b.req_queue.assign(20, one(0, 1));
  b.run(3);
  Ccev e = ack_without_rtt(8000);
  e.pen = 127;
  b.ev_queue = {e};  // 6 cycles
  b.run(40);
  const unsigned pop = b.popped.at(0);
  std::vector<unsigned> granted;
  for (const auto& a : b.answers) {
    if (a.data.bytes != 0) granted.push_back(a.cycle - 1);
  }
  CHECK(granted == std::vector<unsigned>{pop + 2, pop + 3, pop + 4});  // Pen; then the window has shrunk
  CHECK(b.block.state(0).inflight == 217003);
  CHECK(b.block.state(0).cwnd == q16(217000 - 7937));  // 127 x 8000 / 128 = 7937.5
}

TEST_CASE("cc_nscc: `now` is the tick of the pop", "[pipeline][cc_nscc]") {
  Bench b;
  b.ev_queue = {ack(1000, 150, true)};
  b.run(2);  // the event is at the head
  b.tick = 1100;
  b.cycle();
  CHECK(b.popped == std::vector<unsigned>{b.cycles - 1});
  b.tick = 1300;
  b.run(50);
  CHECK(b.block.state(0).last_adjust == 1100);
  CHECK(b.block.state(0).qa_start == 1100);
}

TEST_CASE("cc_nscc: retransmissions go before packets", "[pipeline][cc_nscc]") {
  Bench b;
  b.req_queue.assign(3, one(0, 1000));
  b.rtxreq_queue.assign(3, one(1, 2000));
  const unsigned start = b.cycles;
  b.run(12);
  for (unsigned i = 0; i < 3; ++i) {
    CHECK(b.ranswers.at(i) == Seen<Ccans>{start + 3 + i, {1, 2000, false}});
    CHECK(b.answers.at(i) == Seen<Ccans>{start + 6 + i, {0, 1000, false}});
  }
  CHECK(b.block.state(1).inflight == 6000);

  // Nobody takes `rans`: two in the reader's FIFO, one in the register; then asks go on.
  b.take_rans = false;
  b.rtxreq_queue.assign(5, one(1, 2000));
  b.run(12);
  CHECK(b.block.state(1).inflight == 12000);
  CHECK(b.requests(0, 1000).bytes != 0);
  b.take_rans = true;
  b.run(12);
  CHECK(b.block.state(1).inflight == 16000);
}

TEST_CASE("cc_nscc: a refused retransmission counts as held back but leaves no wake", "[pipeline][cc_nscc]") {
  Bench b;
  b.send(0, 225000);
  CHECK(b.rtxreqs(0, 1000).bytes == 0);
  CHECK(b.hold.size() == 1);
  b.event(ack_without_rtt(100000));
  CHECK(b.resumes.empty());

  // It neither takes a request's resume away nor changes its size, refused or granted.
  b.send(0, 100000);
  CHECK(b.requests(0, 4000).bytes == 0);
  CHECK(b.rtxreqs(0, 60000).bytes == 0);
  b.event(ack_without_rtt(1000));
  CHECK(b.rtxreqs(0, 1000).bytes != 0);
  CHECK(b.resumes.empty());
  b.event(ack_without_rtt(3999));
  CHECK(b.resumes.empty());
  b.event(ack_without_rtt(1));
  CHECK(b.resumes.size() == 1);
}

}  // namespace mrc::test::cc_nscc_test

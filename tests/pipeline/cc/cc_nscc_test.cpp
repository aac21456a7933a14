// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cc/cc_nscc.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "gen/csr.hpp"
#include "tests/protocol/nscc_drive.hpp"

using namespace mrc;

namespace {

constexpr CcEvent kAck = CcEvent::Ack, kNack = CcEvent::Nack, kLoss = CcEvent::Loss, kOther = CcEvent::Send;

/// BDP = 93.75 Gb/s x 12.8 us = 150 000 B, so scaling_a = 1; base_rtt is 100 ticks; a full packet has 4000 B.
/// target = 75 ticks; max_wnd = 225 000; adjust_bytes = 32 000; adjust_period = 100 ticks; "about zero" is under 8.
NsccParams example() {
  NsccParams p;
  p.rate_gbps = 93.75;
  p.base_rtt = 12800;
  p.mtu = 4000;
  p.ar_shift = 0;  // last: less than one packet is left
  return p;
}

/// Asks for one packet of this size.
Ccask one(uint16_t cc, uint16_t bytes) { return {.cc = cc, .min = bytes, .bytes = bytes}; }

NsccWords words_of(const NsccParams& p) {
  const auto real = nscc_resolve(p);
  REQUIRE(real);
  return nscc_words(*real);
}

/// What left in which cycle: the first in which the output register shows it.
template <class T>
struct Seen {
  unsigned cycle;
  T data;
  bool operator==(const Seen&) const = default;
};

/// cc_nscc alone: 4 destinations, 2 profiles (0: example(), 1: no controller), all destinations on profile 0.
/// An input loaded before cycle c is at the head of its FIFO in c + 1.
struct Bench {
  Preset preset = *find_preset("tiny");
  Stream<Ccev> ev{CcNscc::kEvDepth};
  Stream<Ccask> ask, rask;
  Stream<Ccret> ret;
  Stream<Ccans> ans, rans;
  Stream<Ccwake> wake;
  CcNscc block{preset, {ev, ask, rask, ret}, {ans, rans, wake}};
  CfgBus cfg;
  uint32_t tick = 1000;
  bool take_ans = true, take_rans = true, take_wake = true;
  unsigned cycles = 0;
  std::vector<Ccev> ev_queue;  // goes in as the FIFO takes it
  std::vector<Ccask> ask_queue, rask_queue;
  std::vector<Ccret> ret_queue;
  std::vector<unsigned> popped;  // cycles in which an event was
  std::vector<Seen<Ccans>> answers, ranswers;
  std::vector<Seen<Ccwake>> wakes;
  std::vector<unsigned> md, qa, hold;  // cycles in which the pulses are high

  explicit Bench(const NsccParams& params = example()) {
    profile(0, words_of(params));
    NsccParams off;
    off.enable = false;
    profile(1, words_of(off));
    for (uint16_t cc = 0; cc < 4; ++cc) bind(cc, 0);
  }

  /// One table write; the number of cycles from the request to the acknowledgement.
  unsigned write(CfgTable table, uint16_t index) {
    cfg.req = true;
    cfg.table = static_cast<uint8_t>(table);
    cfg.index = index;
    const unsigned start = cycles;
    while (!block.cfg_ack()) {
      cycle();
      REQUIRE(cycles - start < 1000);
    }
    const unsigned took = cycles - start;
    cfg.req = false;
    cycle();
    CHECK_FALSE(block.cfg_ack());
    return took;
  }
  unsigned profile(uint16_t index, const NsccWords& words) {
    cfg.data = nscc_row(words);
    return write(CfgTable::CcProfile, index);
  }
  unsigned bind(uint16_t cc, uint8_t row) {
    cfg.data = {};
    csr::TblCcCtx{.profile = row}.pack(cfg.data.data());
    return write(CfgTable::CcCtx, cc);
  }

  template <class T>
  static void feed(Stream<T>& to, std::vector<T>& from) {
    if (from.empty() || !to.free()) return;
    to.load(from.front());
    from.erase(from.begin());
  }
  template <class T>
  static void watch(Stream<T>& s, bool take, unsigned cycle, bool& shown, std::vector<Seen<T>>& seen) {
    if (s.valid() && !shown) seen.push_back({cycle, s.data()});
    shown = s.valid() && !s.ready();
    if (s.has() && take) s.pop();
  }
  void cycle() {
    watch(ans, take_ans, cycles, ans_shown_, answers);
    watch(rans, take_rans, cycles, rans_shown_, ranswers);
    watch(wake, take_wake, cycles, wake_shown_, wakes);
    if (block.pulses().md) md.push_back(cycles);
    if (block.pulses().qa) qa.push_back(cycles);
    if (block.pulses().hold) hold.push_back(cycles);
    feed(ev, ev_queue);
    feed(ask, ask_queue);
    feed(rask, rask_queue);
    feed(ret, ret_queue);
    const std::size_t after = ev.count() + (ev.valid() && ev.ready());
    block.step(cfg, tick);
    block.clock();
    ev.clock();
    ask.clock();
    rask.clock();
    ret.clock();
    ans.clock();
    rans.clock();
    wake.clock();
    if (ev.count() != after) popped.push_back(cycles);
    ++cycles;
  }
  void run(unsigned n) {
    for (unsigned i = 0; i < n; ++i) cycle();
  }

  /// The event, at `ticks` after the start, and how long it takes: until another one could be popped.
  unsigned event(const Ccev& e, uint32_t ticks = 0) {
    tick = 1000 + ticks;
    ev_queue = {e, {.kind = kOther}};
    popped.clear();
    run(80);
    REQUIRE(popped.size() == 2);
    return popped[1] - popped[0];
  }
  /// Asks for `bytes` in packets of 60 000 at most, granted all.
  void send(uint16_t cc, uint32_t bytes) {
    answers.clear();
    for (; bytes != 0;) {
      const auto size = static_cast<uint16_t>(std::min(bytes, 60000u));
      ask_queue.push_back(one(cc, size));
      bytes -= size;
    }
    run(30);
    for (const auto& a : answers) REQUIRE(a.data.bytes != 0);
    answers.clear();
  }
  /// One ask and its answer.
  Ccans asks(uint16_t cc, uint16_t bytes) {
    answers.clear();
    ask_queue = {one(cc, bytes)};
    run(6);
    REQUIRE(answers.size() == 1);
    return answers[0].data;
  }
  Ccans rasks(uint16_t cc, uint16_t bytes) {
    ranswers.clear();
    rask_queue = {one(cc, bytes)};
    run(6);
    REQUIRE(ranswers.size() == 1);
    return ranswers[0].data;
  }

 private:
  bool ans_shown_ = false, rans_shown_ = false, wake_shown_ = false;
};

Ccev ack(uint32_t bytes, uint16_t rtt, bool ecn = false) {
  return {.kind = kAck, .bytes = bytes, .ecn = ecn, .rtt_valid = true, .rtt = rtt};
}
Ccev ack_without_rtt(uint32_t bytes) { return {.kind = kAck, .bytes = bytes}; }
Ccev nack(uint32_t bytes, uint8_t reason = 1) { return {.kind = kNack, .bytes = bytes, .reason = reason}; }
Ccev loss(uint32_t bytes) { return {.kind = kLoss, .bytes = bytes}; }

uint64_t q16(uint32_t bytes) { return uint64_t{bytes} << 16; }

}  // namespace

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
  b.ask_queue = {one(2, 60000), one(2, 60000), one(6, 60000), one(2, 45001),
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
  b.ask_queue.assign(30, one(0, 4000));
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
  b.ask_queue.assign(20, one(0, 1));
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
  b.ask_queue.assign(3, one(0, 1000));
  b.rask_queue.assign(3, one(1, 2000));
  const unsigned start = b.cycles;
  b.run(12);
  for (unsigned i = 0; i < 3; ++i) {
    CHECK(b.ranswers.at(i) == Seen<Ccans>{start + 3 + i, {1, 2000, false}});
    CHECK(b.answers.at(i) == Seen<Ccans>{start + 6 + i, {0, 1000, false}});
  }
  CHECK(b.block.state(1).inflight == 6000);

  // Nobody takes `rans`: two in the reader's FIFO, one in the register; then asks go on.
  b.take_rans = false;
  b.rask_queue.assign(5, one(1, 2000));
  b.run(12);
  CHECK(b.block.state(1).inflight == 12000);
  CHECK(b.asks(0, 1000).bytes != 0);
  b.take_rans = true;
  b.run(12);
  CHECK(b.block.state(1).inflight == 16000);
}

TEST_CASE("cc_nscc: a refused retransmission counts as held back but leaves no wake", "[pipeline][cc_nscc]") {
  Bench b;
  b.send(0, 225000);
  CHECK(b.rasks(0, 1000).bytes == 0);
  CHECK(b.hold.size() == 1);
  b.event(ack_without_rtt(100000));
  CHECK(b.wakes.empty());

  // It neither takes an ask's wake away nor changes its size, refused or granted.
  b.send(0, 100000);
  CHECK(b.asks(0, 4000).bytes == 0);
  CHECK(b.rasks(0, 60000).bytes == 0);
  b.event(ack_without_rtt(1000));
  CHECK(b.rasks(0, 1000).bytes != 0);
  CHECK(b.wakes.empty());
  b.event(ack_without_rtt(3999));
  CHECK(b.wakes.empty());
  b.event(ack_without_rtt(1));
  CHECK(b.wakes.size() == 1);
}

TEST_CASE("cc_nscc grants of a burst what fits, but at least its first packet", "[pipeline][cc_nscc][burst]") {
  Bench b;
  const auto burst = [&b](uint16_t min, uint16_t bytes) {
    b.answers.clear();
    b.ask_queue = {{.cc = 0, .min = min, .bytes = bytes}};
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
  // Refused: the first packet's size is what the wake waits for.
  CHECK(burst(500, 60000) == Ccans{0, 0, false});
  b.event(ack_without_rtt(499));
  CHECK(b.wakes.empty());
  b.event(ack_without_rtt(1));
  CHECK(b.wakes.size() == 1);
  CHECK(burst(500, 60000) == Ccans{0, 500, true});
  // A retransmission is all or nothing.
  b.event(ack_without_rtt(1000));
  CHECK(b.rasks(0, 1001) == Ccans{0, 0, false});
  CHECK(b.rasks(0, 1000) == Ccans{0, 1000, false});
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
    CHECK(b.asks(0, 10) == Ccans{0, 10, false});
    CHECK(b.asks(0, 1) == Ccans{0, 1, true});
    b.event(loss(100000));  // the window of now
    CHECK(b.block.state(0).cwnd == q16(125000));
    b.event(ack_without_rtt(static_cast<uint32_t>(b.block.state(0).inflight)));
    const uint32_t less = shift == 0 ? 4000 : std::max(4000u, 125000u >> shift);
    b.send(0, 125000 - less - 10);
    CHECK(b.asks(0, 10) == Ccans{0, 10, false});
    CHECK(b.asks(0, 1) == Ccans{0, 1, true});
    CHECK(b.rasks(0, 1) == Ccans{0, 1, false});
  }
}

TEST_CASE("cc_nscc takes back what was not used, before it answers", "[pipeline][cc_nscc][burst]") {
  Bench b;
  b.send(2, 225000);
  b.send(1, 100000);
  b.ask_queue = {one(2, 5000), one(2, 5000)};
  b.rask_queue = {one(2, 4000), one(2, 1)};
  b.ret_queue = {{.cc = 1, .bytes = 60000}, {.cc = 6, .bytes = 9000}};  // 6 is destination 2
  const unsigned start = b.cycles;
  b.run(12);
  CHECK(b.ranswers == std::vector<Seen<Ccans>>{{start + 5, {2, 4000, false}}, {start + 6, {2, 1, false}}});
  CHECK(b.answers == std::vector<Seen<Ccans>>{{start + 7, {2, 0, false}}, {start + 8, {2, 0, false}}});
  CHECK(b.block.state(1).inflight == 40000);
  CHECK(b.block.state(2).inflight == 225000 - 9000 + 4001);
  b.ret_queue = {{.cc = 2, .bytes = 1000}};
  b.run(10);
  CHECK(b.wakes.empty());  // whoever gave it back asks again
  CHECK(b.asks(2, 5000).bytes == 5000);
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
  b.asks(3, 5000);
  b.ret_queue = {{.cc = 3, .bytes = 3000}};
  b.run(10);
  CHECK(b.block.state(3).inflight == 2000);
}

TEST_CASE("cc_nscc: a refused ask wakes once, with Store", "[pipeline][cc_nscc]") {
  Bench b;
  b.send(3, 225000);
  b.send(1, 225000);
  CHECK(b.asks(3, 4000).bytes == 0);
  Ccev e = ack(3999, 150, true);
  e.cc = 3;
  b.event(e);
  CHECK(b.wakes.empty());
  e.cc = 1;
  e.bytes = 9000;
  b.event(e);  // somebody else's
  CHECK(b.wakes.empty());
  e.cc = 7;  // destination 3
  e.bytes = 1;
  CHECK(b.event(e) == 10);
  REQUIRE(b.wakes.size() == 1);
  CHECK(b.wakes[0] == Seen<Ccwake>{b.popped[0] + 10, {.cc = 7}});
  e.bytes = 9000;
  b.event(e);
  CHECK(b.wakes.size() == 1);
  CHECK(b.asks(3, 13000).bytes != 0);
}

TEST_CASE("cc_nscc: at the floor a packet of mtu bytes always gets out, a larger one never", "[pipeline][cc_nscc]") {
  Bench b;
  b.send(0, 225000);
  b.event(loss(60000));
  b.event(loss(60000));
  b.event(loss(60000));
  b.event(loss(45000));  // nothing is in flight, the window is at the floor
  CHECK(b.asks(0, 4001).bytes == 0);
  CHECK(b.rasks(0, 4001).bytes == 0);
  CHECK(b.asks(0, 4000).bytes == 4000);
}

TEST_CASE("cc_nscc: refused asks leave one wake, with the newest size; a granted one takes it away",
          "[pipeline][cc_nscc]") {
  Bench b;
  b.send(0, 225000);
  CHECK(b.asks(0, 60000).bytes == 0);
  CHECK(b.asks(0, 4000).bytes == 0);
  b.event(ack_without_rtt(4000));
  CHECK(b.wakes.size() == 1);
  CHECK(b.asks(0, 4000).bytes != 0);
  CHECK(b.asks(0, 4000).bytes == 0);
  CHECK(b.asks(0, 60000).bytes == 0);
  b.event(ack_without_rtt(59999));
  CHECK(b.wakes.size() == 1);
  b.event(ack_without_rtt(1));
  CHECK(b.wakes.size() == 2);
  CHECK(b.asks(0, 60001).bytes == 0);
  CHECK(b.asks(0, 1000).bytes != 0);
  b.event(ack_without_rtt(100000));
  CHECK(b.wakes.size() == 2);
}

TEST_CASE("cc_nscc: an ask granted after Count, before Store, is seen by the wake", "[pipeline][cc_nscc]") {
  for (const uint16_t late : {uint16_t{1}, uint16_t{2}}) {
    Bench b;
    b.send(0, 225000);
    CHECK(b.asks(0, 4000).bytes == 0);
    b.ev_queue = {ack(4001, 150, true)};
    b.run(5);  // popped in the third of these
    b.rask_queue = {one(0, late)};
    b.run(30);
    CHECK(b.ranswers.at(0).data.bytes != 0);
    CHECK(b.ranswers.at(0).cycle < b.popped.at(0) + 9);
    CHECK(b.wakes.size() == (late == 1 ? 1 : 0));
  }
}

TEST_CASE("cc_nscc: events wait while a wake has nowhere to go; asks do not", "[pipeline][cc_nscc]") {
  Bench b;
  b.take_wake = false;
  for (uint16_t cc = 0; cc < 4; ++cc) {
    b.send(cc, 225000);
    CHECK(b.asks(cc, 4000).bytes == 0);
  }
  for (uint16_t cc = 0; cc < 4; ++cc) {
    Ccev e = ack_without_rtt(4000);
    e.cc = cc;
    b.ev_queue.push_back(e);
  }
  b.run(60);
  CHECK(b.popped.size() == 3);  // wakes: two in the reader's FIFO, one in the register
  CHECK(b.asks(3, 4000).bytes == 0);
  CHECK(b.asks(2, 4000).bytes != 0);
  b.take_wake = true;
  b.run(20);
  CHECK(b.popped.size() == 4);
  REQUIRE(b.wakes.size() == 4);
  for (uint16_t cc = 0; cc < 4; ++cc) CHECK(b.wakes[cc].data.cc == cc);
}

TEST_CASE("cc_nscc takes 16 events and stalls their source, none is lost", "[pipeline][cc_nscc]") {
  Bench b;
  uint32_t sum = 0;
  for (uint32_t i = 1; i <= 60; ++i) {
    b.ev_queue.push_back(ack(i, 150));  // 16 cycles each
    sum += i;
  }
  std::size_t most = 0;
  bool stalled = false;
  for (unsigned i = 0; i < 60 * 16 + 10; ++i) {
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
  for (unsigned i = 1; i < 60; ++i) CHECK(b.popped[i] - b.popped[i - 1] == 16);
  CHECK(b.block.state(0).inflight == -static_cast<int32_t>(sum));
  CHECK(b.block.state(0).received == sum);
}

TEST_CASE("cc_nscc without controller grants everything and counts", "[pipeline][cc_nscc]") {
  Bench b;
  b.bind(1, 1);
  b.ask_queue.assign(10, one(1, 65535));
  b.rask_queue.assign(2, one(1, 65535));
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
  CHECK(b.wakes.empty());
  // After reset there is none either.
  Bench fresh;
  CcNscc untouched(fresh.preset, {fresh.ev, fresh.ask, fresh.rask, fresh.ret}, {fresh.ans, fresh.rans, fresh.wake});
  fresh.ask.load(one(2, 65535));
  for (unsigned i = 0; i < 3; ++i) {
    untouched.step({}, 0);
    untouched.clock();
    fresh.ask.clock();
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
  CHECK(b.asks(0, 10) == Ccans{0, 10, true});

  // A new binding ends the flight, the window, the wait; Init takes three cycles.
  CHECK(b.asks(0, 60000).bytes == 0);
  b.event(loss(100000));
  b.answers.clear();
  b.ask_queue.assign(12, one(0, 1000));
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
  CHECK(b.wakes.empty());

  // Without asks in between: the flight is gone, and so is the wait of the refused one.
  CHECK(b.block.state(0).inflight == 10000 - 100000);  // two of the asks were answered before the binding
  b.send(0, 313000);
  CHECK(b.asks(0, 60000).bytes == 0);
  CHECK(b.bind(0, 0) == 4);
  CHECK(b.block.state(0).inflight == 0);
  b.event(ack_without_rtt(1000));
  CHECK(b.wakes.empty());

  // And back to no controller.
  b.bind(0, 3);
  CHECK(b.asks(0, 65535) == Ccans{0, 65535, false});
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
  for (unsigned i = 0; i < 5; ++i) CHECK(b.asks(0, 65535) == Ccans{0, 65535, false});
  b.bind(0, 1);
  words.enable = false;
  b.profile(1, words);
  CHECK(b.event(loss(1000)) == 2);
  CHECK(b.block.state(0).inflight == -1000);
  for (unsigned i = 0; i < 3; ++i) CHECK(b.asks(0, 65535).bytes != 0);
  CHECK(b.asks(0, 65535).bytes == 0);
}

TEST_CASE("cc_nscc acknowledges tables it does not know in one cycle, in which nothing else is done",
          "[pipeline][cc_nscc]") {
  Bench b;
  b.ev_queue = {loss(1000)};
  b.ask_queue = {one(0, 1000)};
  b.run(2);  // both at the head
  const unsigned start = b.cycles;
  b.cfg.data = {};
  CHECK(b.write(CfgTable::QpCtx, 0) == 1);
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
  CHECK(b.asks(0, 1).bytes == 0);
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

namespace {

/// One destination of the random test: the arithmetic without clock, and what the asks go by.
struct Mirror {
  NsccWords words;
  NsccState s;
  int64_t cwin = 0;
  bool wait = false;
  int64_t want = 0;
};

/// Cycles of an event, from the section "Time an event takes".
unsigned time_of(const Ccev& e, const NsccWords& w, const NsccState& before, const NsccState& after,
                 const NsccDecisions& d) {
  if (e.kind == kOther || !w.enable) return 2;
  if (e.kind == kLoss) return 3;
  unsigned time = 3;
  if (e.kind == kNack) {
    time = e.reason == 1 || e.reason == 2 || w.nack_any_reason ? 8 : 4;
  } else if (e.rtt_valid) {
    switch (after.mode) {
      case NsccMode::Ignore:
      case NsccMode::QuickAdapt:
        time = 8;
        break;
      case NsccMode::Fair:
      case NsccMode::Fast:
        time = 13;
        break;
      case NsccMode::Proportional:
        time = 16;
        break;
      case NsccMode::Decrease:
        time = 30;
        break;
      default:
        time = 10;
    }
  }
  if (d.adjusted) time += 23;
  if (e.kind == kAck && e.pen != 0) time += 3;
  if (after.base_rtt < before.base_rtt) time += 3;
  return time;
}

}  // namespace

TEST_CASE("cc_nscc: 20 000 random events go through the states of the arithmetic, asks between them",
          "[pipeline][cc_nscc]") {
  constexpr unsigned kEvents = 20'000, kDests = 4;
  const uint64_t seed = 20'260'401;
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  const auto once_in = [&rng](unsigned n) { return rng() % n == 0; };

  Preset preset = *find_preset("tiny");
  preset.num_cc_profiles = 4;
  NsccParams params[kDests];
  params[0] = example();
  params[1].trimming = false;
  params[1].base_rtt = 5000;
  params[2] = example();
  params[2].nack_any_reason = params[2].nack_sample_cfg = true;
  params[2].md_resets_fast = params[2].nack_rtt = false;
  params[2].rate_gbps = 25;
  params[3].enable = false;

  Stream<Ccev> ev(CcNscc::kEvDepth);
  Stream<Ccask> ask, rask;
  Stream<Ccret> ret;
  Stream<Ccans> ans, rans;
  Stream<Ccwake> wake;
  CcNscc block(preset, {ev, ask, rask, ret}, {ans, rans, wake});
  uint32_t tick = 0xffff0000u;  // wraps in the course of the test
  CfgBus cfg;
  const auto clock = [&] {
    block.step(cfg, tick);
    block.clock();
    ev.clock();
    ask.clock();
    rask.clock();
    ret.clock();
    ans.clock();
    rans.clock();
    wake.clock();
  };

  NsccReal real[kDests];
  Mirror mirror[kDests];
  for (uint16_t i = 0; i < kDests; ++i) {
    const auto r = nscc_resolve(params[i]);
    REQUIRE(r);
    real[i] = *r;
    Mirror& m = mirror[i];
    m.words = nscc_words(*r);
    m.s = nscc_init(m.words, tick);
    m.cwin = static_cast<int64_t>(m.s.cwnd >> 16);
    for (const CfgTable table : {CfgTable::CcProfile, CfgTable::CcCtx}) {
      cfg = {true, static_cast<uint8_t>(table), i, {}};
      if (table == CfgTable::CcProfile) {
        cfg.data = nscc_row(m.words);
      } else {
        csr::TblCcCtx{.profile = static_cast<uint8_t>(i)}.pack(cfg.data.data());
      }
      while (!block.cfg_ack()) clock();
      cfg.req = false;
      clock();
    }
  }

  std::unique_ptr<nscc_test::Source> sources[kDests];
  unsigned made = 0, done = 0, modes[16] = {}, md = 0, qa = 0, woken = 0, refused = 0, granted = 0, rrefused = 0;
  unsigned adjusted = 0, last = 0, partly = 0, returned = 0;
  // The event in the machine: cycle of its pop, of its Store (none: the pop's), and what will be true then.
  unsigned pop_at = 0, store_at = 0, idle_at = 0;
  unsigned cc = 0;
  uint16_t cc16 = 0;
  NsccDecisions decided;
  bool pulse_md = false, pulse_qa = false, pulse_hold = false;

  const auto enter = [](Mirror& m, int64_t bytes) {
    m.s.inflight = static_cast<int32_t>(std::clamp<int64_t>(m.s.inflight + bytes, -(1 << 28), (1 << 28) - 1));
  };
  const auto reply = [&](const Ccask& a, bool first_copy) {
    Mirror& m = mirror[a.cc % kDests];
    const int64_t room = m.cwin - m.s.inflight;
    const bool on = m.words.enable, ok = !on || (first_copy ? a.min : a.bytes) <= room;
    const int64_t bytes = !ok ? 0 : on ? std::min<int64_t>(a.bytes, room) : a.bytes;
    if (ok) {
      enter(m, bytes);
      if (first_copy) m.wait = false;
      ++granted;
      partly += bytes != a.bytes;
    } else if (first_copy) {
      m.wait = true;
      m.want = a.min;
      ++refused;
    } else {
      ++rrefused;
    }
    pulse_hold = !ok;
    const int64_t least = std::max<int64_t>(m.words.mtu, m.words.ar_shift != 0 ? m.cwin >> m.words.ar_shift : 0);
    const bool is_last = on && ok && first_copy && room - bytes < least;
    last += is_last;
    return Ccans{a.cc, static_cast<uint16_t>(bytes), is_last};
  };

  unsigned cycle = 10;
  for (; done < kEvents; ++cycle) {
    REQUIRE(cycle < 2'000'000);
    CAPTURE(cycle, done);
    tick += once_in(8);
    if (once_in(2000)) tick += static_cast<uint32_t>(rng() % 400);
    if (once_in(20'000)) tick += static_cast<uint32_t>(rng());

    // Traffic. The shape changes every 500 events.
    if (ev.free() && ask.free() && made < kEvents && !once_in(4)) {
      const auto dest = static_cast<uint16_t>(rng() % 16 == 0 ? 3 : rng() % 3);
      if (!sources[dest] || made % 500 == dest) {
        sources[dest] = std::make_unique<nscc_test::Source>(nscc_test::kShapes[rng() % std::size(nscc_test::kShapes)],
                                                            real[dest], rng(), tick);
      }
      const Mirror& m = mirror[dest];
      const NsccEvent e = sources[dest]->next(static_cast<double>(m.s.cwnd) / 65536, m.s.inflight);
      const auto to = static_cast<uint16_t>(dest + (once_in(100) ? 4 : 0));
      if (e.kind == CcEvent::Send && !once_in(20)) {
        const auto bytes = static_cast<uint16_t>(std::min(e.bytes, 65535u));
        ask.load({.cc = to,
                  .min = static_cast<uint16_t>(bytes == 0 || once_in(2) ? bytes : 1 + rng() % bytes),
                  .bytes = bytes});
      } else {
        ev.load({.cc = to,
                 .kind = e.kind,
                 .bytes = e.bytes,
                 .ecn = e.ecn,
                 .rtt_valid = e.rtt_valid,
                 .rtt = e.rtt,
                 .pen = e.pen,
                 .restore = e.restore,
                 .reason = e.reason});
        ++made;
      }
    } else if (ask.free() && once_in(3)) {
      const auto min = static_cast<uint16_t>(64 + rng() % 5000);
      ask.load({.cc = static_cast<uint16_t>(rng() % kDests),
                .min = min,
                .bytes = static_cast<uint16_t>(min + (once_in(2) ? rng() % 5000 : 0))});
    }
    if (rask.free() && once_in(12)) {
      rask.load(one(static_cast<uint16_t>(rng() % kDests), static_cast<uint16_t>(64 + rng() % 5000)));
    }
    if (ret.free() && once_in(40)) {
      ret.load({.cc = static_cast<uint16_t>(rng() % 16), .bytes = static_cast<uint16_t>(1 + rng() % 4000)});
    }
    if (ans.has() && !once_in(4)) ans.pop();
    if (rans.has() && !once_in(4)) rans.pop();
    if (wake.has() && !once_in(8)) wake.pop();

    // What this cycle has to do, from the registers before it.
    REQUIRE(block.pulses().md == pulse_md);
    REQUIRE(block.pulses().qa == pulse_qa);
    REQUIRE(block.pulses().hold == pulse_hold);
    pulse_md = pulse_qa = pulse_hold = false;
    const bool idle = cycle >= idle_at;
    const bool asks = idle || (cycle != pop_at + 1 && cycle != store_at);
    std::optional<Ccans> say, rsay;
    bool pops_ask = false, pops_rask = false, pops_ret = false;
    if (asks && ret.has()) {
      pops_ret = true;
      enter(mirror[ret.head().cc % kDests], -int64_t{ret.head().bytes});
      ++returned;
    } else if (asks && rask.has() && rans.free()) {
      pops_rask = true;
      rsay = reply(rask.head(), false);
    } else if (asks && ask.has() && ans.free()) {
      pops_ask = true;
      say = reply(ask.head(), true);
    }
    const bool pops_ev = idle && ev.has() && wake.free();
    if (pops_ev) {
      const Ccev e = ev.head();
      cc16 = e.cc;
      cc = e.cc % kDests;
      Mirror& m = mirror[cc];
      const NsccState before = m.s;
      decided = {};
      if (e.kind != kOther) {
        decided = nscc_step(m.s, m.words,
                            {.kind = e.kind,
                             .now = tick,
                             .bytes = e.bytes,
                             .ecn = e.ecn,
                             .rtt_valid = e.rtt_valid,
                             .rtt = e.rtt,
                             .pen = e.pen,
                             .restore = e.restore,
                             .reason = e.reason});
      }
      pop_at = cycle;
      idle_at = cycle + time_of(e, m.words, before, m.s, decided);
      store_at = e.kind == kOther || !m.words.enable ? pop_at : idle_at - 1;
      ++modes[static_cast<unsigned>(m.s.mode)];
      adjusted += decided.adjusted;
    }
    const bool stores = !idle && cycle == store_at && store_at != pop_at;
    bool wakes = false;
    if (stores) {
      Mirror& m = mirror[cc];
      m.cwin = static_cast<int64_t>(m.s.cwnd >> 16);
      wakes = m.wait && m.s.inflight + m.want <= m.cwin;
      if (wakes) m.wait = false;
      pulse_md = decided.decreased;
      pulse_qa = decided.adapted;
      md += pulse_md;
      qa += pulse_qa;
      woken += wakes;
    }
    const bool ans_stays = ans.valid() && !ans.ready(), rans_stays = rans.valid() && !rans.ready();
    const bool wake_stays = wake.valid() && !wake.ready();
    const std::size_t ev_count = ev.count() + (ev.valid() && ev.ready()) - pops_ev;
    const std::size_t ask_count = ask.count() + (ask.valid() && ask.ready()) - pops_ask;
    const std::size_t rask_count = rask.count() + (rask.valid() && rask.ready()) - pops_rask;
    const std::size_t ret_count = ret.count() + (ret.valid() && ret.ready()) - pops_ret;

    clock();

    REQUIRE(ev.count() == ev_count);
    REQUIRE(ask.count() == ask_count);
    REQUIRE(rask.count() == rask_count);
    REQUIRE(ret.count() == ret_count);
    REQUIRE(ans.valid() == (ans_stays || say.has_value()));
    REQUIRE(rans.valid() == (rans_stays || rsay.has_value()));
    REQUIRE(wake.valid() == (wake_stays || wakes));
    if (say.has_value()) REQUIRE(ans.data() == *say);
    if (rsay.has_value()) REQUIRE(rans.data() == *rsay);
    if (wakes) REQUIRE(wake.data().cc == cc16);
    if (cycle + 1 == idle_at) {  // the event's last cycle
      const NsccState now = block.state(cc);
      if (mirror[cc].words.enable) {
        REQUIRE(now == mirror[cc].s);
      } else {
        REQUIRE(now.inflight == mirror[cc].s.inflight);
      }
      ++done;
    }
  }

  // The test has been everywhere.
  for (unsigned mode = 0; mode <= 10; ++mode) {
    CAPTURE(mode, modes[mode]);
    CHECK(modes[mode] >= (mode == 1 ? 1 : 20));
  }
  CHECK(md >= 100);
  CHECK(qa >= 50);
  CHECK(woken >= 100);
  CHECK(refused >= 1000);
  CHECK(rrefused >= 1000);
  CHECK(granted >= 1000);
  CHECK(last >= 100);
  CHECK(partly >= 100);
  CHECK(returned >= 1000);
  CHECK(adjusted >= 1000);
}

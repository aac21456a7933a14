// SPDX-License-Identifier: Apache-2.0
/// The congestion controller on examples small enough to compute by hand: each number in a comment is arithmetic on the
/// pseudo code of mrc.md section 8, not output of a program.
#include "protocol/nscc.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <random>

#include "protocol/nscc_float.hpp"

namespace mrc::test::nscc_test {

using Catch::Approx;

namespace {

/// BDP = 93.75 Gb/s x 12.8 us = 150 000 B, so scaling_a = 1; base_rtt is 100 ticks; a full packet has 4000 B.
/// target = 75 ticks = 9.6 us, scaling_b = 0.8; max_wnd = 225 000; alpha = 4 x 0.8 x 4000 / 75 = 170 2/3;
/// fi = 20 000; eta = 600; fi_scale = 0.25; adjust_bytes = 32 000; adjust_period = 100 ticks.
NsccParams example() {
  NsccParams p;
  p.rate_gbps = 93.75;
  p.base_rtt = 12800;
  p.mtu = 4000;
  return p;
}

/// A controller with its configuration, and short ways to say events.
struct Cc {
  NsccWords words;
  NsccState s;
  uint32_t now = 1000;
  NsccDecisions last;

  explicit Cc(const NsccParams& p) {
    const auto real = nscc_resolve(p);
    REQUIRE(real);
    words = nscc_words(*real);
    s = nscc_init(words, now);
  }
  Cc& at(uint32_t ticks) {
    now = 1000 + ticks;
    return *this;
  }
  Cc& operator()(NsccEvent e) {
    e.now = now;
    last = nscc_step(s, words, e);
    return *this;
  }
  Cc& ack(uint32_t bytes, uint16_t rtt, bool ecn = false) {
    return (*this)({.kind = CcEvent::Ack, .bytes = bytes, .ecn = ecn, .rtt_valid = true, .rtt = rtt});
  }
  Cc& ack_without_rtt(uint32_t bytes) { return (*this)({.kind = CcEvent::Ack, .bytes = bytes}); }
  Cc& pen(uint32_t bytes, uint8_t penalty) { return (*this)({.kind = CcEvent::Ack, .bytes = bytes, .pen = penalty}); }
  Cc& restore() { return (*this)({.kind = CcEvent::Ack, .restore = true}); }
  Cc& nack(uint32_t bytes, uint8_t reason = 1) {
    return (*this)({.kind = CcEvent::Nack, .bytes = bytes, .reason = reason});
  }
  Cc& loss(uint32_t bytes) { return (*this)({.kind = CcEvent::Loss, .bytes = bytes}); }
  Cc& send(uint32_t bytes) { return (*this)({.kind = CcEvent::Send, .bytes = bytes}); }
  double cwnd() const { return static_cast<double>(s.cwnd) / 65536; }
  double avg() const { return static_cast<double>(s.avg) / (1 << 24); }
};

}  // namespace

TEST_CASE("defaults of the configuration are those of the specification", "[protocol][nscc][config]") {
  auto r = nscc_resolve(example());
  REQUIRE(r);
  CHECK(r->base_rtt == 100);
  CHECK(r->scaling_a == Approx(1.0));
  CHECK(r->scaling_b == Approx(0.8));
  CHECK(r->max_cwnd == 225000);
  CHECK(r->target == 75);
  CHECK(r->alpha == Approx(4 * 0.8 * 4000 / 75));
  CHECK(r->fi == 20000);
  CHECK(r->eta == Approx(600));
  CHECK(r->fi_scale == 0.25);
  CHECK(r->gamma == 0.8);
  CHECK(r->max_md_jump == 0.5);
  CHECK(r->qa_gate == 3);
  CHECK(r->ar_shift == 3);
  CHECK(r->qa_threshold == 65535);
  CHECK(r->adjust_bytes == 32000);
  CHECK(r->adjust_period == 100);
  CHECK(r->near_zero == 8);  // 1 us = 7.8125 ticks: delays of 0..7 ticks are below it
  CHECK(r->ewma_weight == 0.0125);

  NsccParams p = example();
  p.trimming = false;
  r = nscc_resolve(p);
  REQUIRE(r);
  CHECK(r->target == 100);
  CHECK(r->qa_threshold == 400);

  p = NsccParams{};  // MTU is the nominal size of a full packet
  r = nscc_resolve(p);
  REQUIRE(r);
  CHECK(r->mtu == 4096 + 92);
}

TEST_CASE("configuration words hold every default and survive their table row", "[protocol][nscc][config]") {
  const auto real = nscc_resolve(example());
  REQUIRE(real);
  const NsccWords w = nscc_words(*real);
  CHECK(w.mtu == 4000);
  CHECK(w.base_rtt == 100);
  CHECK(w.wnd_rate == 2250u << 16);  // 1.5 x 1500 B per tick
  CHECK(w.max_cwnd == 225000);
  CHECK(w.target == 75u << 8);
  CHECK(w.alpha == 44739243);  // 170.6667 x 2^18
  CHECK(w.fi == 20000u << 12);
  CHECK(w.fi_scale == 1u << 22);
  CHECK(w.eta == 600u << 16);
  CHECK(w.gamma == 13421773);  // 0.8 x 2^24
  CHECK(w.max_md_jump == 1u << 23);
  CHECK(w.ewma_weight == 3355443);  // 0.0125 x 2^28
  CHECK(w.ar_shift == 3);
  CHECK(nscc_from_row(nscc_row(w)) == w);

  std::mt19937 rng(5);
  for (int i = 0; i < 1000; ++i) {
    NsccWords x;
    const auto bits = [&rng](unsigned n) { return (uint64_t{rng()} << 32 | rng()) & ((uint64_t{1} << n) - 1); };
    x.enable = bits(1);
    x.disable_qa = bits(1);
    x.md_resets_fast = bits(1);
    x.nack_any_reason = bits(1);
    x.nack_sample_cfg = bits(1);
    x.nack_rtt = bits(1);
    x.mtu = static_cast<uint32_t>(bits(14));
    x.base_rtt = static_cast<uint32_t>(bits(16));
    x.wnd_rate = static_cast<uint32_t>(bits(32));
    x.max_cwnd = static_cast<uint32_t>(bits(28));
    x.target = static_cast<uint32_t>(bits(24));
    x.alpha = bits(36);
    x.fi = bits(36);
    x.fi_scale = static_cast<uint32_t>(bits(32));
    x.eta = bits(36);
    x.gamma = static_cast<uint32_t>(bits(25));
    x.max_md_jump = static_cast<uint32_t>(bits(25));
    x.ewma_weight = static_cast<uint32_t>(bits(28));
    x.near_zero = static_cast<uint32_t>(bits(16));
    x.qa_threshold = static_cast<uint32_t>(bits(16));
    x.qa_gate = static_cast<uint32_t>(bits(5));
    x.ar_shift = static_cast<uint32_t>(bits(3));
    x.adjust_bytes = static_cast<uint32_t>(bits(28));
    x.adjust_period = static_cast<uint32_t>(bits(16));
    REQUIRE(nscc_from_row(nscc_row(x)) == x);
  }
}

TEST_CASE("the corners of the rate and round trip range fit the words", "[protocol][nscc][config]") {
  for (const double rate : {25.0, 800.0}) {
    for (const uint32_t rtt : {1000u, 1000000u}) {
      for (const uint32_t mtu : {256u, 4096u}) {
        NsccParams p;
        p.rate_gbps = rate;
        p.base_rtt = rtt;
        p.path_mtu = mtu;
        const auto r = nscc_resolve(p);
        REQUIRE(r);
        const NsccWords w = nscc_words(*r);
        CHECK(static_cast<double>(w.alpha) / (1 << 18) == Approx(r->alpha).epsilon(1e-5));
        CHECK(static_cast<double>(w.fi) / (1 << 12) == Approx(r->fi).epsilon(1e-5));
        CHECK(static_cast<double>(w.eta) / (1 << 16) == Approx(r->eta).epsilon(1e-5));
        CHECK(static_cast<double>(w.fi_scale) / (1 << 24) == Approx(r->fi_scale).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("a configuration out of range is refused with field, range and remedy", "[protocol][nscc][config]") {
  NsccParams p;
  p.rate_gbps = 1600;
  p.base_rtt = 1000000;
  auto r = nscc_resolve(p);
  REQUIRE_FALSE(r);
  CHECK(r.error().what == "max_cwnd = 300019200 is not in 4188 .. 268435454");
  CHECK(r.error().remedy == "Set max_cwnd in that range (default: 1.5 rate_gbps base_rtt).");
  p.max_cwnd = 200000000;
  r = nscc_resolve(p);  // 5 x 4188 B x 1333.4
  REQUIRE_FALSE(r);
  CHECK(r.error().input == "fi");
  CHECK(r.error().remedy == "Set fi.");
  p.fi = 1e7;
  p.fi_scale = 0.25;
  CHECK(nscc_resolve(p));

  p = {};
  auto error = nscc_set(p, "gamma", 1.5);
  REQUIRE(error);
  CHECK(error->what == "gamma = 1.5 is not in 0 .. 1");
  error = nscc_set(p, "qa_gate", 2.5);
  REQUIRE(error);
  CHECK(error->what == "qa_gate = 2.5 is not a whole number");
  error = nscc_set(p, "gama", 1);
  REQUIRE(error);
  CHECK(error->what == "unknown field 'gama'");
  CHECK(nscc_set(p, "gamma", std::nan("")));
  CHECK_FALSE(nscc_set(p, "gamma", 0.25));
  CHECK(p.gamma == 0.25);
}

TEST_CASE("a new controller has the largest window and nothing in flight", "[protocol][nscc]") {
  Cc cc(example());
  CHECK(cc.cwnd() == 225000);
  CHECK(cc.s.inflight == 0);
  CHECK(cc.s.mode == NsccMode::Start);
  CHECK(nscc_can_send(cc.s, cc.words, 4000));
  cc.send(221000);
  CHECK(cc.s.inflight == 221000);
  CHECK(nscc_can_send(cc.s, cc.words, 4000));
  CHECK_FALSE(nscc_can_send(cc.s, cc.words, 4001));
  CHECK(cc.s.mode == NsccMode::Start);
}

TEST_CASE("proportional increase adds alpha x bytes x (target - delay) / cwnd", "[protocol][nscc]") {
  Cc cc(example());
  cc.loss(25000);                                       // 200 000
  for (int i = 0; i < 8; ++i) cc.at(1).ack(4000, 125);  // received 32 000 is not above the threshold
  CHECK(cc.s.mode == NsccMode::Proportional);
  CHECK(cc.cwnd() == 200000);
  CHECK(cc.s.received == 32000);
  // 9 x 170.6667 x 4000 x 50 = 307 200 000; / 200 000 = 1536
  cc.ack(4000, 125);
  CHECK(cc.cwnd() == Approx(201536).epsilon(1e-8));
  CHECK(cc.s.received == 0);
  CHECK(cc.s.inc == 0);
  // After a period: one acknowledgement's 34 133 333 / 201 536 = 169.36593 and eta 600.
  cc.at(100).ack(4000, 125);
  CHECK(cc.cwnd() == Approx(201536 + 169.365936 + 600).epsilon(1e-8));
  // The period began anew.
  cc.at(199).ack(4000, 125);
  CHECK_FALSE(cc.last.adjusted);
  cc.at(200).ack(4000, 125);
  CHECK(cc.last.eta_added);
}

TEST_CASE("fair increase adds fi x bytes / cwnd at and above the target", "[protocol][nscc]") {
  Cc cc(example());
  cc.loss(25000);
  for (int i = 0; i < 9; ++i) cc.at(1).ack(4000, 175);  // delay 75 = target
  CHECK(cc.s.mode == NsccMode::Fair);
  // 9 x 20 000 x 4000 = 720 000 000; / 200 000 = 3600
  CHECK(cc.cwnd() == 203600);
}

TEST_CASE("the window never exceeds max_wnd", "[protocol][nscc]") {
  Cc cc(example());
  for (int i = 0; i < 100; ++i) cc.at(1).ack(40000, 175);
  CHECK(cc.cwnd() == 225000);
}

TEST_CASE("a mark below the target changes nothing", "[protocol][nscc]") {
  Cc cc(example());
  cc.loss(25000);
  cc.at(1).ack(4000, 174, true);
  CHECK(cc.s.mode == NsccMode::Hold);
  CHECK(cc.s.inc == 0);
  CHECK(cc.cwnd() == 200000);
}

TEST_CASE("multiplicative decrease once per base_rtt, by gamma (avg - target) / avg", "[protocol][nscc]") {
  Cc cc(example());
  // One delay of 8000 ticks: avg = 0.0125 x 8000 = 100; 1 - 0.8 x 25/100 = 0.8
  cc.at(100).ack(4000, 8100, true);
  CHECK_FALSE(cc.last.decreased);  // not more than a base_rtt since the controller began
  CHECK(cc.avg() == Approx(100).epsilon(1e-6));
  CHECK(cc.cwnd() == 225000);
  // Keep avg: a sample of 100. The adjustment adds eta.
  cc.at(101).ack(4000, 200, true);
  CHECK(cc.s.mode == NsccMode::Decrease);
  CHECK(cc.cwnd() == Approx(180000).epsilon(1e-7));
  cc.at(201).ack(4000, 200, true);  // eta: the period is 100 ticks and the last adjustment was at 100
  CHECK(cc.s.mode == NsccMode::Hold);
  CHECK(cc.cwnd() == Approx(180600).epsilon(1e-7));
  cc.at(202).ack(4000, 200, true);
  CHECK(cc.s.mode == NsccMode::Decrease);
  CHECK(cc.cwnd() == Approx(144480).epsilon(1e-7));
}

TEST_CASE("a decrease is bounded by max_md_jump and by one packet", "[protocol][nscc]") {
  Cc cc(example());
  cc.at(1).ack(4000, 60100, false);  // avg 750: 1 - 0.8 x 675/750 = 0.28
  cc.at(101).ack(0, 60100, true);
  CHECK(cc.s.mode == NsccMode::Decrease);
  // Half, then the adjustment: fi x 4000 / 112 500 = 711.11 and eta.
  CHECK(cc.cwnd() == Approx(112500 + 80000000.0 / 112500 + 600).epsilon(1e-7));
  cc.loss(109000);
  cc.at(301).ack(0, 60100, true);
  CHECK(cc.s.mode == NsccMode::Decrease);
  CHECK(cc.cwnd() == Approx(4000 + 600).epsilon(1e-7));  // 2500 is below a packet; then eta
}

TEST_CASE("no decrease while the average is not above the target", "[protocol][nscc]") {
  Cc cc(example());
  cc.at(150).ack(4000, 200, true);  // avg 1.25
  CHECK(cc.last.avg_checked);
  CHECK(cc.s.mode == NsccMode::Hold);
  CHECK(cc.s.last_dec == 1000);
}

TEST_CASE("fast increase starts after a window without delay and goes on", "[protocol][nscc]") {
  Cc cc(example());
  cc.loss(125000);  // 100 000
  // Byte threshold: each acknowledgement of 50 000 adjusts by alpha x 50 000 x (75 - 7) / cwnd.
  cc.at(1).ack(50000, 107);
  // 170.6667 x 50 000 x 68 / 100 000 = 5802.6667
  CHECK(cc.cwnd() == Approx(105802.6667).epsilon(1e-8));
  CHECK(cc.s.mode == NsccMode::Proportional);
  cc.ack(50000, 100);  // count 100 000 is not above the window; 170.6667 x 50 000 x 75 / 105 802.6667 = 6048.99...
  CHECK(cc.s.fi_count == 100000);
  CHECK(cc.s.mode == NsccMode::Proportional);
  const double before = cc.cwnd();
  CHECK(before == Approx(105802.666667 + 640000000.0 / 105802.666667).epsilon(1e-8));
  cc.ack(20000, 100);  // count 120 000 is above 111 851: + 0.25 x 20 000
  CHECK(cc.s.mode == NsccMode::Fast);
  CHECK(cc.cwnd() == Approx(before + 5000).epsilon(1e-8));
  CHECK(cc.s.increasing);
  cc.ack(400, 104);
  CHECK(cc.s.mode == NsccMode::Fast);
  CHECK(cc.cwnd() == Approx(before + 5100).epsilon(1e-8));
  cc.ack(1, 108);  // 8 ticks are 1.024 us: over
  CHECK(cc.s.mode == NsccMode::Proportional);
  CHECK_FALSE(cc.s.increasing);
  CHECK(cc.s.fi_count == 0);
}

TEST_CASE("fast increase stops at max_wnd", "[protocol][nscc]") {
  Cc cc(example());
  cc.loss(10000);
  cc.at(1).ack(250000, 100);
  CHECK(cc.s.mode == NsccMode::Fast);
  CHECK(cc.cwnd() == 225000);
}

TEST_CASE("a decrease ends fast increase unless told otherwise (A-44)", "[protocol][nscc][A-44]") {
  for (const bool resets : {true, false}) {
    NsccParams p = example();
    p.md_resets_fast = resets;
    Cc cc(p);
    cc.at(1).ack(250000, 100);
    REQUIRE(cc.s.increasing);
    cc.ack(100, 200, true);  // no decrease yet, but congestion
    CHECK(cc.s.increasing == !resets);
    CHECK(cc.s.fi_count == (resets ? 0 : 250000));
  }
}

TEST_CASE("a penalty saves the window once, limits, and restore brings it back", "[protocol][nscc]") {
  Cc cc(example());
  cc.send(100000);
  cc.pen(20000, 64);  // inflight 80 000; 80 000 - (64 x 20 000 >> 7)
  CHECK(cc.cwnd() == 70000);
  CHECK(cc.s.mode == NsccMode::Limited);
  CHECK(cc.s.saved);
  cc.pen(10000, 127);  // inflight 70 000; 70 000 - (1 270 000 >> 7 = 9921)
  CHECK(cc.cwnd() == 60079);
  // Limited: no increase, but eta comes.
  cc(NsccEvent{.kind = CcEvent::Ack, .bytes = 1000, .rtt_valid = true, .rtt = 175, .pen = 1});
  CHECK(cc.s.inc == 0);
  CHECK(cc.s.mode == NsccMode::Limited);
  CHECK(cc.cwnd() == 60072);  // 1000 >> 7 = 7
  cc.pen(60000, 127);
  CHECK(cc.cwnd() == 4000);  // inflight is 9000; never below one packet
  cc.restore();
  CHECK(cc.cwnd() == 225000);
  CHECK_FALSE(cc.s.saved);
  cc.loss(5000).restore();  // nothing is saved any more
  CHECK(cc.cwnd() == 220000);
}

TEST_CASE("inferred loss takes its bytes from the window, down to one packet", "[protocol][nscc]") {
  Cc cc(example());
  cc.send(10000).loss(4000);
  CHECK(cc.cwnd() == 221000);
  CHECK(cc.s.inflight == 6000);
  CHECK(cc.s.bytes_ignored == 4000);
  cc.loss(300000);
  CHECK(cc.cwnd() == 4000);
}

TEST_CASE("a trimmed packet shrinks the window, other reasons only free it (A-45)", "[protocol][nscc][A-45]") {
  Cc cc(example());
  cc.send(20000).nack(4000, 0x01);
  CHECK(cc.cwnd() == 221000);
  CHECK(cc.s.inflight == 16000);
  CHECK(cc.avg() == Approx(1.25).epsilon(1e-6));  // 0.0125 x 100
  CHECK(cc.s.trigger);
  CHECK(cc.s.mode == NsccMode::Loss);
  cc.nack(4000, 0x02);
  CHECK(cc.cwnd() == 217000);
  for (const uint8_t reason : {uint8_t{0x06}, uint8_t{0x07}, uint8_t{0x0a}, uint8_t{0x0b}}) cc.nack(1000, reason);
  CHECK(cc.cwnd() == 217000);
  CHECK(cc.s.inflight == 8000);
  CHECK(cc.s.bytes_ignored == 8000);

  NsccParams p = example();
  p.nack_any_reason = true;
  Cc any(p);
  any.nack(4000, 0x07);
  CHECK(any.cwnd() == 221000);
  CHECK(any.s.trigger);
}

TEST_CASE("a trim samples base_rtt, the smallest or the configured one (A-46)", "[protocol][nscc][A-46]") {
  for (const bool configured : {false, true}) {
    NsccParams p = example();
    p.nack_sample_cfg = configured;
    Cc cc(p);
    cc.at(1).ack(1, 40);  // base_rtt 40
    cc.nack(1);
    CHECK(cc.avg() == Approx(configured ? 1.25 : 0.5).epsilon(1e-6));
  }
}

TEST_CASE("a NACK's round trip may lower base_rtt (A-47)", "[protocol][nscc][A-47]") {
  for (const bool on : {true, false}) {
    NsccParams p = example();
    p.nack_rtt = on;
    Cc cc(p);
    cc(NsccEvent{.kind = CcEvent::Nack, .bytes = 1, .rtt_valid = true, .rtt = 60, .reason = 0x0a});
    CHECK(cc.s.base_rtt == (on ? 60u : 100u));
  }
}

TEST_CASE("quick adapt sets the window to what arrived in the last period", "[protocol][nscc]") {
  Cc cc(example());
  cc.send(150000);
  cc.at(1).ack(4000, 120);  // opens the first period: base_rtt + target = 175 ticks; nothing adapts yet
  CHECK(cc.s.qa_armed);
  CHECK(cc.s.achieved == 0);
  cc.at(100).ack(10000, 120).ack_without_rtt(6000);
  CHECK(cc.s.achieved == 16000);
  cc.at(175).nack(4000);  // 174 ticks: too early
  CHECK(cc.s.mode == NsccMode::Loss);
  cc.at(176).nack(4000);
  // 16 000 < 225 000 / 8 = 28 125
  CHECK(cc.s.mode == NsccMode::QuickAdapt);
  CHECK(cc.cwnd() == 16000);
  CHECK(cc.s.inflight == 150000 - 4000 - 16000 - 8000);
  CHECK(cc.s.bytes_to_ignore == 122000);
  CHECK(cc.s.bytes_ignored == 0);
  CHECK_FALSE(cc.s.trigger);
  CHECK(cc.s.received == 0);
  CHECK(cc.s.inc == 0);
  // Marks of packets sent before are ignored, further trims too.
  cc.ack(4000, 9000, true);
  CHECK(cc.s.mode == NsccMode::Ignore);
  cc.nack(4000);
  CHECK(cc.s.mode == NsccMode::Ignore);
  CHECK(cc.cwnd() == 16000);
  CHECK(cc.s.bytes_ignored == 8000);
  // An unmarked one counts as usual.
  cc.ack(4000, 120);
  CHECK(cc.s.mode == NsccMode::Proportional);
  // Once they are through, marks count again.
  cc.ack_without_rtt(110000);
  CHECK(cc.s.bytes_ignored == cc.s.bytes_to_ignore);
  cc.nack(4000);
  CHECK(cc.s.mode == NsccMode::Loss);
}

TEST_CASE("quick adapt does not run above the gate, and never below one packet", "[protocol][nscc]") {
  Cc cc(example());
  cc.at(1).ack(4000, 120);
  cc.at(2).ack(28125, 120);
  cc.at(300).nack(4000);  // 28 125 is not below 28 125
  CHECK(cc.s.mode == NsccMode::Loss);
  CHECK(cc.s.achieved == 0);
  CHECK(cc.s.trigger);
  // The trigger stays: the next period adapts although its event is no loss.
  cc.at(600).ack(100, 120);
  CHECK(cc.s.mode == NsccMode::QuickAdapt);
  CHECK(cc.cwnd() == 4000);
}

TEST_CASE("without trimming a long delay triggers quick adapt", "[protocol][nscc]") {
  NsccParams p = example();
  p.trimming = false;  // target 100, threshold 400
  Cc cc(p);
  cc.at(1).ack(4000, 120);
  cc.at(201).ack(12000, 500);
  CHECK(cc.s.mode == NsccMode::Fair);
  cc.at(401).ack(12000, 501);
  CHECK(cc.s.mode == NsccMode::QuickAdapt);
  CHECK(cc.cwnd() == 12000);
}

TEST_CASE("disable_qa leaves quick adapt out", "[protocol][nscc][A-43]") {
  NsccParams p = example();
  p.disable_qa = true;
  Cc cc(p);
  cc.at(1).ack(4000, 120);
  cc.at(500).nack(4000);
  CHECK(cc.s.mode == NsccMode::Loss);
  CHECK_FALSE(cc.s.qa_armed);
  CHECK(cc.s.achieved == 4000);
}

TEST_CASE("base_rtt falls with the samples and max_wnd with it", "[protocol][nscc][A-40]") {
  Cc cc(example());
  cc.at(1).ack(1, 60);
  CHECK(cc.s.base_rtt == 60);
  CHECK(cc.s.max_wnd == uint64_t{135000} << 16);
  CHECK(cc.cwnd() == 225000);  // cut by the next adjustment only
  cc.at(2).ack(40000, 60);
  CHECK(cc.cwnd() == 135000);
  cc.at(3).ack(1, 0);  // not below one tick; max_wnd not below a packet
  CHECK(cc.s.base_rtt == 1);
  CHECK(cc.s.max_wnd == uint64_t{4000} << 16);
  cc.at(4).ack(40000, 200);
  CHECK(cc.s.base_rtt == 1);
  CHECK(cc.cwnd() == 4000);
}

TEST_CASE("max_cwnd caps max_wnd", "[protocol][nscc]") {
  NsccParams p = example();
  p.max_cwnd = 100000;
  Cc cc(p);
  CHECK(cc.cwnd() == 100000);
  cc.at(1).ack(1, 60);
  CHECK(cc.s.max_wnd == uint64_t{100000} << 16);
  cc.at(1).ack(1, 40);
  CHECK(cc.s.max_wnd == uint64_t{90000} << 16);
}

TEST_CASE("an acknowledgement without sample only counts", "[protocol][nscc]") {
  Cc cc(example());
  cc.send(8000).at(500).ack_without_rtt(4000);
  CHECK(cc.s.inflight == 4000);
  CHECK(cc.s.received == 4000);
  CHECK(cc.s.achieved == 4000);
  CHECK(cc.s.bytes_ignored == 4000);
  CHECK(cc.s.mode == NsccMode::Start);
  CHECK_FALSE(cc.last.adjusted);
}

TEST_CASE("inflight may go below zero and comes back; it saturates at 2^28", "[protocol][nscc]") {
  Cc cc(example());
  cc.ack_without_rtt(300).send(1000);
  CHECK(cc.s.inflight == 700);
  constexpr uint32_t kMost = (1u << 28) - 1;
  cc.ack_without_rtt(kMost).ack_without_rtt(kMost);
  CHECK(cc.s.inflight == -(1 << 28));
  CHECK(cc.s.received == kMost);
  cc.pen(100, 1);
  CHECK(cc.cwnd() == 4000);
  for (int i = 0; i < 3; ++i) cc.send(kMost);
  CHECK(cc.s.inflight == (1 << 28) - 1);
}

TEST_CASE("without controller everything may be sent and only inflight counts", "[protocol][nscc]") {
  NsccParams p;
  p.enable = false;
  Cc cc(p);
  CHECK(cc.s.mode == NsccMode::Off);
  cc.send(1u << 27).ack(1000, 60000, true).nack(1000).loss(1000).pen(1000, 127);
  CHECK(cc.s.inflight == (1 << 27) - 4000);
  CHECK(cc.s.cwnd == 0);
  CHECK(nscc_cwnd_bytes(cc.s, cc.words) == (1u << 28) - 1);
  CHECK(nscc_can_send(cc.s, cc.words, 1u << 27));
  CHECK(cc.s.mode == NsccMode::Off);
}

TEST_CASE("times are compared across the wrap of the tick counter", "[protocol][nscc]") {
  Cc cc(example());
  cc.s = nscc_init(cc.words, 0xffffffb0u);
  cc.loss(25000);
  const auto at = [&cc](uint32_t now, bool ecn) {
    cc.now = now;
    cc.ack(4000, ecn ? 8100 : 175, ecn);
  };
  at(0x00000013, false);  // 99 ticks
  CHECK_FALSE(cc.last.eta_added);
  at(0x00000014, false);
  CHECK(cc.last.eta_added);
  at(0x00000015, true);
  CHECK(cc.last.decreased);
}

TEST_CASE("the divider gives the floor of the quotient, or all ones", "[protocol][nscc]") {
  using U128 = unsigned __int128;
  CHECK(nscc_divide(U128{7} << 16, 2, 44) == 7u << 15);
  CHECK(nscc_divide(5, 0, 28) == (1u << 28) - 1);
  CHECK(nscc_divide(U128{1} << 90, 1, 44) == (uint64_t{1} << 44) - 1);
  std::mt19937_64 rng(11);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t den = (rng() >> (20 + rng() % 40)) | 1;
    const U128 num = (U128{rng() >> 32} << 56 | rng() >> 8) >> (rng() % 60);
    const U128 want = num / den;
    const uint64_t ones = (uint64_t{1} << 44) - 1;
    REQUIRE(nscc_divide(num, den, 44) == (want > ones ? ones : static_cast<uint64_t>(want)));
  }
}

TEST_CASE("the reference follows a decision at the knife's edge and refuses one beyond it", "[protocol][nscc]") {
  // avg stands exactly on the target: one sample of 6000 ticks gives 0.0125 x 6000 = 75.
  const auto real = nscc_resolve(example());
  REQUIRE(real);
  const NsccEvent first{.kind = CcEvent::Ack, .bytes = 1, .rtt_valid = true, .rtt = 6100};
  const NsccEvent mark{.kind = CcEvent::Ack, .bytes = 1, .ecn = true, .rtt_valid = true, .rtt = 175};
  const NsccFloat::Bounds bounds{.avg_ticks = 1e-3, .cwnd_relative = 1e-3, .gate_bytes = 1};
  NsccDecisions says;
  says.avg_checked = true;
  for (const bool over : {true, false}) {
    NsccFloat f(*real, 0);
    f.step(first, 1);
    f.step(mark, 200);
    says.avg_over = over;
    const double before = f.cwnd();
    f.step(mark, 400, says, bounds);
    // The reference's avg is 75 or a rounding error beside it: whatever it says itself, it follows.
    CHECK(f.errors() == 0);
    CHECK((f.mode() == NsccMode::Decrease) == over);
    CHECK(f.cwnd() >= before * 0.999);
  }
  // An average of 300 is no knife's edge.
  NsccFloat f(*real, 0);
  f.step({.kind = CcEvent::Ack, .bytes = 1, .rtt_valid = true, .rtt = 24100}, 1);
  says.avg_over = false;
  f.step(mark, 400, says, bounds);
  CHECK(f.errors() == 1);
  CHECK(f.knife_edges() == 0);
  CHECK(f.mode() == NsccMode::Decrease);
}

TEST_CASE("the reference agrees with the same hand-computed numbers", "[protocol][nscc]") {
  const auto real = nscc_resolve(example());
  REQUIRE(real);
  NsccFloat f(*real, 1000);
  f.step({.kind = CcEvent::Loss, .bytes = 25000}, 1000);
  for (int i = 0; i < 9; ++i) f.step({.kind = CcEvent::Ack, .bytes = 4000, .rtt_valid = true, .rtt = 125}, 1001);
  CHECK(f.cwnd() == Approx(201536).epsilon(1e-12));
  f.step({.kind = CcEvent::Ack, .bytes = 4000, .rtt_valid = true, .rtt = 125}, 1100);
  CHECK(f.cwnd() == Approx(201536 + 34133333.3333333 / 201536 + 600).epsilon(1e-12));
  NsccFloat g(*real, 1000);
  g.step({.kind = CcEvent::Ack, .bytes = 4000, .rtt_valid = true, .rtt = 175}, 1001);
  g.step({.kind = CcEvent::Ack, .bytes = 1, .ecn = true, .rtt_valid = true, .rtt = 8100}, 1101);  // avg 100.93...
  const double avg = 0.0125 * 75 * 0.9875 + 100;
  CHECK(g.cwnd() ==
        Approx(225000 * (1 - 0.8 * (avg - 75) / avg) + 20000.0 * 4000 / (225000 * (1 - 0.8 * (avg - 75) / avg)) + 600)
            .epsilon(1e-12));
}

TEST_CASE("every rounding is the one of the contract, to the bit", "[protocol][nscc][bits]") {
  Cc cc(example());
  // avg: 3 x 2^24 x 3355443 / 2^28 = 629145.5625; then -629146 x 3355443 / 2^28 = -7864.324...
  cc.at(1).ack(0, 103);
  CHECK(cc.s.avg == 629146);
  cc.ack(0, 100);
  CHECK(cc.s.avg == 629146 - 7864);

  // alpha (target - delay): 44739243 x 16 / 2^6 = 11184810.75; x 4096 / 2^12
  NsccParams p = example();
  p.target_delay = 9608;  // 75.0625 ticks = 19216 / 256
  Cc gain(p);
  REQUIRE(gain.words.alpha == 44739243);
  gain.at(1).ack(4096, 175);
  CHECK(gain.s.mode == NsccMode::Proportional);
  CHECK(gain.s.inc == 11184811);
  // The second product: 11184811 x 2049 / 2^12 = 5595136.15...
  gain.ack(2049, 175);
  CHECK(gain.s.inc == 11184811 + 5595136);

  // fi: 0.4 B = 1638 / 4096; 1638 x 3 / 2^4 = 307.125, 1638 x 5 / 2^4 = 511.875
  p = example();
  p.fi = 0.4;
  Cc fair(p);
  REQUIRE(fair.words.fi == 1638);
  fair.at(1).ack(3, 175).ack(5, 175);
  CHECK(fair.s.inc == 307 + 512);

  // adjust: floor(819 x 2^24 / cwnd) + eta. cwnd = 217000 x 65536: 0.966 -> 0
  fair.loss(8000);
  fair.at(100).ack(0, 175);
  CHECK(fair.s.cwnd == uint64_t{217000} * 65536 + 39321600);
  CHECK(fair.s.inc == 0);

  // fast increase: 3 x 0.3 (5033165 / 2^24) in 1/65536 B: 58982.4 -> 58982; 5: 98303.99 -> 98304
  p = example();
  p.fi_scale = 0.3;
  Cc fast(p);
  REQUIRE(fast.words.fi_scale == 5033165);
  fast.loss(100000).at(1).ack(200000, 100).ack(0, 100);
  REQUIRE(fast.s.increasing);
  const uint64_t before = fast.s.cwnd;
  fast.ack(3, 100);
  CHECK(fast.s.cwnd == before + 58982);
  fast.ack(5, 100);
  CHECK(fast.s.cwnd == before + 58982 + 98304);

  // decrease: avg 100 ticks from one sample (8000 x 2^24 x 3355443 / 2^28 = 1677721500), then 1677721600 - rounding:
  // sample 100: diff 100, 100 x 3355443 / 2^28 = 1.25 -> 1: 1677721501. target = 75 x 2^24 = 1258291200.
  // ratio = floor(419430301 x 2^28 / 1677721501) = 67108852; cut = round(67108852 x 13421773 / 2^24) = 53687082
  // factor = 268435456 - 53687082 = 214748374; cwnd = round(225000 x 65536 x 214748374 / 2^28)
  cc = Cc(example());
  cc.at(100).ack(0, 8100, true);
  CHECK(cc.s.avg == 1677721500);
  cc.at(101).ack(0, 200, true);
  CHECK(cc.s.avg == 1677721501);
  const auto factor =
      (uint64_t{1} << 28) - ((uint64_t{419430301} << 28) / 1677721501 * 13421773 + (1 << 23)) / (1 << 24);
  CHECK(factor == 214748374);
  CHECK(cc.s.cwnd ==
        static_cast<uint64_t>((225000.0L * 65536 * static_cast<long double>(factor) + (1 << 27)) / (1 << 28)));
}

TEST_CASE("inc saturates instead of wrapping", "[protocol][nscc][bits]") {
  NsccParams p = example();
  p.fi = 16777215;
  p.adjust_bytes_threshold = (1u << 28) - 1;
  p.adjust_period_threshold = 65535 * 128 - 64;
  Cc cc(p);
  cc.loss(100000);
  for (int i = 0; i < 20; ++i) cc.at(1).ack((1u << 28) - 1, 175);
  CHECK(cc.s.inc == ~uint64_t{0});
  CHECK(cc.cwnd() == 125000);
  cc.at(65535).ack(0, 175);
  CHECK(cc.cwnd() == 225000);
}

TEST_CASE("what counts as no delay and the weight of a sample are settings (A-53)", "[protocol][nscc][A-53]") {
  NsccParams p = example();
  p.near_zero = 0;
  p.ewma_weight = 0.5;
  Cc cc(p);
  cc.at(1).ack(250000, 100).ack(250000, 100);
  CHECK(cc.s.mode == NsccMode::Proportional);  // no delay is below 0
  CHECK(cc.s.fi_count == 0);
  cc.ack(1, 140);
  CHECK(cc.avg() == 20);
}

TEST_CASE("the floor of the window is the size of a packet, as set (A-41)", "[protocol][nscc][A-41]") {
  for (const uint32_t mtu : {1024u, 4188u}) {
    NsccParams p;
    p.mtu = mtu;
    Cc cc(p);
    cc.send((1u << 28) - 1).loss((1u << 28) - 1);
    CHECK(cc.cwnd() == mtu);
    CHECK(nscc_can_send(cc.s, cc.words, mtu));
    CHECK_FALSE(nscc_can_send(cc.s, cc.words, mtu + 1));
  }
}

}  // namespace mrc::test::nscc_test

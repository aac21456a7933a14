// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/tx_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <vector>

#include "gen/csr.hpp"
#include "protocol/probe.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::tx_probe_test {
namespace {

/// tx_probe alone, its outputs taken at once. tiny: 4 QPs, 2 planes, 4 slots, a tick of 128 cycles. Slot s is visited
/// in the cycles 16 * (1 + s + 4 k): slots 0 to 2 in each tick for the first time 16, 32, 48 cycles after it began.
struct Bench : BlockBench<Bench> {
  using BlockBench::configure;
  Preset preset;
  Stream<Badev> bad;
  Stream<Pres> pres;
  Stream<Pans> pans;
  Stream<Fb> fb_out;
  Stream<Ctlpkt> probe_out;
  TxProbe block{preset, {bad, pres, pans}, fb_out, probe_out};
  CsrOut csr;
  unsigned up = 3;
  bool take_fb = true, take_probe = true;
  unsigned sent = 0, revived = 0, full = 0;
  std::vector<unsigned> sent_at;  // cycle in which a probe was made
  std::vector<Fb> fb;
  std::vector<Ctlpkt> probes;

  /// Reliability probes unless a test says otherwise.
  explicit Bench(Revive kind = Revive::Reliability, unsigned slots = 4) : preset(with(slots)) {
    csr.probe_interval = 2;
    csr.probe_kind = kind;
    for (QpIndex qp = 0; qp < 4; ++qp) configure(qp);
  }
  static Preset with(unsigned slots) {
    Preset p = *find_preset("tiny");
    p.probe_slots = slots;
    return p;
  }
  void configure(QpIndex qp, unsigned timeout = 0, unsigned dest = 0, QpState state = QpState::Rts) {  // 0: 8 ticks
    csr::TblQpCtx row;
    row.timeout = static_cast<uint8_t>(timeout & 31);
    row.dqpn = 0xab1230u + qp;
    row.dest = static_cast<uint16_t>(dest);
    row.state = state;
    REQUIRE(configure(CfgTable::QpCtx, qp, row) == 1);
  }
  void state(QpIndex qp, QpState state) { configure(CfgTable::QpState, qp, {static_cast<uint32_t>(state)}); }
  void peer_ports(unsigned dest, unsigned mask) { configure(CfgTable::PeerPorts, dest, {mask}); }
  bool cfg_ack() const { return block.cfg_ack(); }
  void cycle() {
    take(fb_out, fb, take_fb);
    take(probe_out, probes, take_probe);
    block.step(cfg, csr, up);
    clock_all(block, bad, pres, pans, fb_out, probe_out);
    if (block.pulses().sent) sent_at.push_back(cycles);
    sent += block.pulses().sent;
    revived += block.pulses().revived;
    full += block.pulses().full;
    ++cycles;
  }
  void run_to(unsigned cycle_number) {
    while (cycles < cycle_number) cycle();
  }
  void lose(QpIndex qp, uint16_t ev_idx) {
    bad.load({.qp = qp, .ev_idx = ev_idx, .ev = 0xE000u + ev_idx});
    run(5);
  }
  void answer(QpIndex qp, uint16_t id, uint8_t m = 0) {
    pres.load({.qp = qp, .id = id, .m = m});
    run(5);
  }
  /// The answer to an EV probe.
  void ev_answer(unsigned id) {
    pans.load({.id = static_cast<uint16_t>(id)});
    run(5);
  }
  /// Runs until n probes have left; returns the newest one's opcode.
  unsigned kind_of_number(unsigned n) {
    probe_number(n);
    return probes.back().opcode;
  }
  /// Runs until n probes have left; returns the newest one's id.
  uint16_t probe_number(unsigned n) {
    for (unsigned i = 0; i < 100'000 && probes.size() < n; ++i) cycle();
    REQUIRE(probes.size() == n);
    return id(probes.back());
  }
  static uint16_t id(const Ctlpkt& c) {
    if (c.opcode == 0xD8) return static_cast<uint16_t>(c.psn & 0x3fff);
    return static_cast<uint16_t>((c.ext[1] & 0xff) << 8 | (c.ext[1] >> 8 & 0xff));
  }
};

}  // namespace

TEST_CASE("tx_probe probes a bad EV after one interval, on its plane, with its entropy", "[pipeline][tx_probe]") {
  Bench b;
  b.lose(3, 5);  // in tick 0: due in tick 2, cycle 256; slot 0 is visited in cycle 272
  b.run_to(300);
  REQUIRE(b.sent == 1);
  CHECK(b.sent_at[0] == 272);
  REQUIRE(b.probes.size() == 1);
  const Ctlpkt& c = b.probes[0];
  CHECK(c.qp == 3);
  CHECK(c.plane == 1);
  CHECK(c.ev == 0xE005);
  CHECK(c.opcode == 0xDE);
  CHECK(c.psn == 0);
  CHECK(c.ext_len == 16);
  CHECK(c.ext[0] == 0);
  CHECK(c.ext[1] == 0x00000400);  // id 1 * 4 + 0
  CHECK(c.ext[2] == 0x33121300);  // spdcid 0x0013, dpdcid 0x1233
  CHECK(c.ext[3] == 0x01000200);  // tick 2, ftype 1
  for (unsigned i = 4; i < 9; ++i) CHECK(c.ext[i] == 0);
}

TEST_CASE("tx_probe: spdcid is the low half of the whole QPN", "[pipeline][tx_probe]") {
  Bench b;
  BlockBench<Bench>& table = b;
  table.configure(CfgTable::QpQpn, 3, csr::TblQpQpn{.high = 0x13c04});
  const bool anew = GENERATE(false, true);
  if (anew) b.configure(3, 0, 0, QpState::Init);
  b.configure(3);
  b.lose(3, 5);
  b.run(400);
  REQUIRE(b.probes.size() == 1);
  CHECK(b.probes[0].ext[2] == (anew ? 0x3312'1300u : 0x3312'23f0u));  // 3 + 16 + 4 * 0x3c04 = 0xf023
}

TEST_CASE("tx_probe: time stamp in microseconds, no QPNs", "[pipeline][tx_probe]") {
  Bench b;
  b.csr.tsr_us = b.csr.pdcid_zero = true;
  b.run_to(40 * 128);
  b.lose(3, 5);  // due in tick 42
  b.run_to(43 * 128);
  REQUIRE(b.probes.size() == 1);
  CHECK(b.probes[0].ext[2] == 0);
  CHECK(b.probes[0].ext[3] == 0x01800500);  // 42 / 8; tsr 1, ftype 1
}

TEST_CASE("tx_probe doubles the interval with each failure, 64 times at most", "[pipeline][tx_probe]") {
  Bench b;
  b.lose(0, 0);
  b.run_to(900 * 128);
  // Ticks: the first probe in 2; each is given up after 8, the next comes 2 << failures later.
  unsigned tick = 2, wait = 4;
  REQUIRE(b.sent_at.size() >= 9);
  for (unsigned i = 0; i < 9; ++i) {
    CAPTURE(i);
    CHECK(b.sent_at[i] == tick * 128 + 16);
    CHECK(Bench::id(b.probes[i]) == (i + 1) * 4);
    tick += 8 + wait;
    if (wait < 128) wait *= 2;
  }
  CHECK(b.revived == 0);
}

TEST_CASE("tx_probe revives an EV after three answers in a row, one interval apart", "[pipeline][tx_probe]") {
  Bench b;
  b.lose(1, 6);
  for (uint16_t n = 1; n <= 3; ++n) {
    CHECK(b.fb.empty());
    CHECK(b.probe_number(n) == 4 * n);
    b.answer(1, static_cast<uint16_t>(4 * n));
  }
  // Each answer came within the tick of its probe: the next probe two ticks later.
  CHECK(b.sent_at == std::vector<unsigned>{272, 272 + 256, 272 + 512});
  CHECK(b.revived == 1);
  REQUIRE(b.fb.size() == 1);
  CHECK(b.fb[0] == Fb{.qp = 1, .ev_idx = 6, .entropy = 0, .kind = FbKind::RevivedGood});
  b.answer(1, 12);  // again: the slot is free
  b.run(5000);
  CHECK(b.sent == 3);
  CHECK(b.revived == 1);
}

TEST_CASE("tx_probe: a failure starts the count of answers again", "[pipeline][tx_probe]") {
  Bench b;
  b.lose(1, 6);
  b.answer(1, b.probe_number(1));
  b.answer(1, b.probe_number(2));
  b.probe_number(3);  // not answered
  for (unsigned n = 4; n <= 5; ++n) b.answer(1, b.probe_number(n));
  CHECK(b.revived == 0);
  b.answer(1, b.probe_number(6));
  CHECK(b.revived == 1);
  // Third probe in tick 6, given up in 14, the next after 4 ticks; then answers bring the first interval back.
  CHECK(b.sent_at[2] == 6 * 128 + 16);
  CHECK(b.sent_at[3] == 18 * 128 + 16);
  CHECK(b.sent_at[4] == 20 * 128 + 16);
}

TEST_CASE("tx_probe: late answers, other QPs' and unknown ids change nothing", "[pipeline][tx_probe]") {
  Bench b;
  b.csr.probe_successes = 1;
  b.lose(1, 6);
  CHECK(b.probe_number(1) == 4);
  b.answer(2, 4);       // another QP
  b.answer(1, 8);       // not sent yet
  b.answer(1, 5);       // a free slot
  b.answer(1, 0x0404);  // number 257
  b.run_to(10 * 128 + 30);
  b.answer(1, 4);  // given up in cycle 1296
  CHECK(b.probe_number(2) == 8);
  b.answer(1, 4);  // late for the first, not an answer to the second
  CHECK(b.revived == 0);
  b.answer(1, 8);
  CHECK(b.revived == 1);
}

TEST_CASE("tx_probe: an answer with SKIP_ONCE revives to SKIP, or to GOOD", "[pipeline][tx_probe]") {
  for (const bool good : {false, true}) {
    Bench b;
    b.csr.probe_skip_good = good;
    b.csr.probe_successes = 2;
    b.lose(1, 6);
    b.answer(1, b.probe_number(1));
    b.answer(1, b.probe_number(2), 1);
    REQUIRE(b.fb.size() == 1);
    CHECK(b.fb[0].kind == (good ? FbKind::RevivedGood : FbKind::RevivedSkip));
    b.lose(1, 7);  // an earlier mark counts as well
    b.answer(1, b.probe_number(3), 1);
    b.answer(1, b.probe_number(4), 0);
    REQUIRE(b.fb.size() == 2);
    CHECK(b.fb[1].ev_idx == 7);
    CHECK(b.fb[1].kind == (good ? FbKind::RevivedGood : FbKind::RevivedSkip));
    b.lose(1, 8);  // those of an EV before do not
    b.answer(1, b.probe_number(5), 0);
    b.answer(1, b.probe_number(6), 0);
    REQUIRE(b.fb.size() == 3);
    CHECK(b.fb[2].ev_idx == 8);
    CHECK(b.fb[2].kind == FbKind::RevivedGood);
  }
}

TEST_CASE("tx_probe: a failure forgets the mark with the answers before it, or neither", "[pipeline][tx_probe]") {
  for (const bool keep : {false, true}) {
    Bench b;
    b.csr.probe_keep_count = keep;
    b.lose(1, 6);
    b.answer(1, b.probe_number(1), 1);
    b.probe_number(2);  // not answered
    b.answer(1, b.probe_number(3), 0);
    CHECK(b.revived == 0);
    b.answer(1, b.probe_number(4), 0);
    CHECK(b.revived == (keep ? 1 : 0));
    if (!keep) b.answer(1, b.probe_number(5), 0);
    REQUIRE(b.fb.size() == 1);
    CHECK(b.fb[0].kind == (keep ? FbKind::RevivedSkip : FbKind::RevivedGood));
  }
}

TEST_CASE("tx_probe: an answer that does not want the EV is a failure", "[pipeline][tx_probe]") {
  for (const bool keep : {false, true}) {
    Bench b;
    b.csr.probe_keep_count = keep;
    b.csr.probe_successes = 2;
    b.lose(1, 6);
    b.answer(1, b.probe_number(1), 2);
    b.answer(1, b.probe_number(2), 3);
    b.answer(1, b.probe_number(3), 1);
    b.answer(1, b.probe_number(4), 2);
    CHECK(b.revived == 0);
    b.answer(1, b.probe_number(5), 0);
    CHECK(b.revived == (keep ? 1 : 0));
    if (!keep) b.answer(1, b.probe_number(6), 0);
    REQUIRE(b.revived == 1);
    CHECK(b.fb[0].kind == (keep ? FbKind::RevivedSkip : FbKind::RevivedGood));
    // Ticks: 2; one failure: 4 later, two: 8 later; a good answer: 2; the third failure: 16.
    const unsigned ticks[5] = {2, 6, 14, 16, 32};
    for (unsigned i = 0; i < 5; ++i) CHECK(b.sent_at[i] == ticks[i] * 128 + 16);
  }
}

TEST_CASE("tx_probe: an answer that does not want the EV, but too late, is nothing", "[pipeline][tx_probe]") {
  Bench b;
  b.lose(1, 6);
  b.probe_number(1);
  b.answer(1, 4, 2);  // due in tick 6
  b.answer(1, 4, 2);  // not waited for
  b.answer(1, 4, 0);
  b.probe_number(2);
  CHECK(b.sent_at[1] == 6 * 128 + 16);
}

TEST_CASE("tx_probe does not probe on a plane that the peer cannot hear on", "[pipeline][tx_probe]") {
  Bench b;
  b.configure(1, 0, 3);
  b.configure(2, 0, 1);
  b.peer_ports(7, 2);  // destination 7 modulo 4
  b.lose(1, 4);        // plane 0, slot 0
  b.lose(1, 5);        // plane 1, slot 1
  b.lose(2, 4);        // another destination, slot 2
  b.run_to(3 * 128);
  REQUIRE(b.probes.size() == 2);
  CHECK((b.probes[0].qp == 1 && b.probes[0].ev == 0xE005));
  CHECK((b.probes[1].qp == 2 && b.probes[1].ev == 0xE004));
  b.configure(3, 0, 3);  // a QP that is set up does not change what its peer said
  b.run_to(4 * 128);
  CHECK(b.sent == 2);
  b.peer_ports(3, 1);
  b.run_to(5 * 128);
  REQUIRE(b.probes.size() == 3);
  CHECK((b.probes[2].qp == 1 && b.probes[2].ev == 0xE004));
  b.up = 2;
  b.lose(3, 8);  // up there, not here
  b.run_to(8 * 128);
  CHECK(b.sent == 3);
}

TEST_CASE("tx_probe probes for QPs in state Rts only", "[pipeline][tx_probe]") {
  Bench b;
  for (const QpState s : {QpState::Reset, QpState::Init, QpState::Rtr, QpState::Error}) {
    b.configure(1, 0, 0, s);
    b.lose(1, 4);
  }
  b.run_to(6 * 128);
  CHECK(b.sent == 0);
  b.state(1, QpState::Rts);
  b.lose(1, 4);
  b.lose(2, 4);
  b.state(1, QpState::Rts);  // nothing new: the slot is kept
  b.run_to(9 * 128);
  CHECK(b.sent == 2);
  b.lose(1, 5);
  b.state(1, QpState::Error);  // its two slots are free
  b.lose(1, 6);                // taken by nobody
  b.answer(1, Bench::id(b.probes[0]));
  for (uint16_t ev = 0; ev < 3; ++ev) b.lose(3, ev);
  CHECK(b.full == 0);
  b.lose(3, 9);
  CHECK(b.full == 1);
  b.run_to(12 * 128);
  REQUIRE(b.probes.size() == 5);
  for (unsigned i = 2; i < 5; ++i) CHECK(b.probes[i].qp == 3);
}

TEST_CASE("tx_probe: no QP is live before its context", "[pipeline][tx_probe]") {
  Preset preset = *find_preset("tiny");
  Stream<Badev> bad;
  Stream<Pres> pres;
  Stream<Pans> pans;
  Stream<Fb> fb;
  Stream<Ctlpkt> probe;
  TxProbe block(preset, {bad, pres, pans}, fb, probe);
  CsrOut csr{.probe_interval = 2};
  bad.load({.qp = 2, .ev_idx = 1, .ev = 1});
  for (unsigned i = 0; i < 10 * 128; ++i) {
    block.step({}, csr, 3);
    clock_all(block, bad, probe);
    REQUIRE_FALSE(block.pulses().sent);
    REQUIRE_FALSE(block.pulses().full);
  }
  CHECK(bad.count() == 0);
}

TEST_CASE("tx_probe: an EV that has failed at the longest interval makes room for another", "[pipeline][tx_probe]") {
  Bench b;
  b.csr.probe_cap = 1;
  for (uint16_t ev = 0; ev < 4; ++ev) b.lose(0, ev);
  // Probes in tick 2, given up in 10, and 4 ticks later again: 14, 22, 26, ... In 22 the interval no longer grows.
  b.run_to(20 * 128);
  b.lose(1, 9);
  CHECK(b.full == 1);
  b.run_to(23 * 128);
  b.lose(0, 2);  // is probed
  b.lose(1, 9);  // slot 0
  b.lose(1, 9);  // is probed now
  b.lose(1, 11);
  CHECK(b.full == 1);
  b.run_to(27 * 128);
  REQUIRE(b.probes.size() == 8 + 4);
  CHECK(b.probes[8].ev == 0xE009);  // in tick 25
  CHECK(b.sent_at[8] == 25 * 128 + 16);
  CHECK(Bench::id(b.probes[8]) == 3 * 4 + 0);  // the slot's numbers go on
  CHECK(b.probes[9].ev == 0xE00B);
  CHECK(b.probes[10].ev == 0xE003);  // in tick 26; slot 3 is looked at first
  CHECK(b.probes[11].ev == 0xE002);
  b.lose(1, 13);  // slots 0 and 1 are not slow, 2 and 3 wait for answers
  CHECK(b.full == 2);
  b.answer(0, Bench::id(b.probes[11]));
  b.lose(1, 13);  // slot 2 has one of three answers: not slow any more
  CHECK(b.full == 3);
  b.run_to(35 * 128);  // the probe of slot 3 has failed again
  b.lose(1, 13);
  CHECK(b.full == 3);
  // Nothing is left of what was in slot 3: three answers, the first probe two ticks later.
  for (unsigned n = 0; n < 3; ++n) {
    for (unsigned i = 0; i < 100'000 && (b.probes.back().ev != 0xE00D || b.probes.size() < 13 + n); ++i) b.cycle();
    CHECK(b.revived == 0);
    b.answer(1, Bench::id(b.probes.back()));
    b.probes.push_back({});
  }
  CHECK(b.revived == 1);
}

TEST_CASE("tx_probe: with more bad EVs than slots all get their turn", "[pipeline][tx_probe]") {
  Bench b;
  b.csr.probe_cap = 2;
  b.csr.probe_successes = 1;
  constexpr unsigned kBad = 10;
  unsigned offered = 0;
  const auto scrub = [&] {  // offers them in turn
    const auto ev_idx = static_cast<uint16_t>(offered++ % kBad);
    b.bad.load({.qp = static_cast<QpIndex>(ev_idx % 2), .ev_idx = ev_idx, .ev = ev_idx});
  };
  const auto age = [&](unsigned ticks) {  // returns how often each was probed
    b.probes.clear();
    const unsigned until = b.cycles + ticks * 128;
    while (b.cycles < until) {
      scrub();
      b.run(64);
    }
    std::vector<unsigned> probed(kBad);
    for (const Ctlpkt& c : b.probes) ++probed[c.ev];
    return probed;
  };
  // A slot is slow after 2 + 8, 4 + 8, 8 + 8 ticks, and can be had for eight more: ten EVs on four slots take less than
  // 3 x 46 ticks if all get their turn.
  for (unsigned round = 0; round < 5; ++round) {
    for (const unsigned n : age(300)) CHECK(n >= 2);
  }
  CHECK(b.full > 0);
  CHECK(b.revived == 0);
  // One of them is good again: it comes back with its next answer.
  for (unsigned i = 0; i < 300 * 128 && b.revived == 0; ++i) {
    if (i % 64 == 0) scrub();
    const std::size_t n = b.probes.size();
    b.cycle();
    if (b.probes.size() != n && b.probes.back().ev == 7)
      b.pres.load({.qp = 1, .id = Bench::id(b.probes.back()), .m = 0});
  }
  b.run(5);
  CHECK(b.revived == 1);
  REQUIRE(b.fb.size() == 1);
  CHECK(b.fb[0].ev_idx == 7);
}

TEST_CASE("tx_probe with all slots taken counts the EV; a QP set up again frees its slots", "[pipeline][tx_probe]") {
  Bench b;
  for (uint16_t ev = 0; ev < 4; ++ev) b.lose(ev % 2, ev);
  CHECK(b.full == 0);
  b.lose(2, 9);
  CHECK(b.full == 1);
  b.configure(1);
  b.lose(3, 10);
  CHECK(b.full == 1);
  b.run_to(3 * 128);
  REQUIRE(b.probes.size() == 3);
  CHECK(b.probes[0].ev == 0xE000);
  CHECK(b.probes[1].ev == 0xE00A);  // slot 1
  CHECK(Bench::id(b.probes[1]) == 5);
  CHECK(b.probes[2].ev == 0xE002);
  b.lose(3, 11);
  b.lose(3, 12);
  CHECK(b.full == 2);
}

TEST_CASE("tx_probe with 64 slots, the most there are, never uses the ids that answer no slot's probe",
          "[pipeline][tx_probe][A-74][A-75]") {
  constexpr unsigned kSlots = 64;
  Bench b(Revive::Reliability, kSlots);
  b.csr.probe_cap = 0;  // the interval does not grow: all numbers come round soon
  b.csr.probe_successes = 1;
  for (uint16_t ev = 0; ev < kSlots; ++ev) b.lose(ev % 4, ev);
  CHECK(b.full == 0);
  b.lose(0, kSlots);
  CHECK(b.full == 1);
  std::vector<std::vector<bool>> seen(kSlots, std::vector<bool>(256));
  unsigned left = kSlots * 256;
  unsigned requested = 0;
  for (unsigned i = 0; i < 2'000'000 && left != 0; ++i) {
    b.cycle();
    if (b.probes.empty()) continue;
    const QpIndex qp = b.probes.back().qp;
    const uint16_t id = Bench::id(b.probes.back());
    b.probes.clear();
    REQUIRE(id < 256 * kSlots);
    REQUIRE(id < kStateProbeId);
    if (!seen[id % kSlots][id / kSlots]) --left;
    seen[id % kSlots][id / kSlots] = true;
    if (id / kSlots == 255 && id % kSlots >= 62) {  // theirs but for the bits above the number
      ++requested;
      for (const uint16_t foreign : {kNoProbeId, kStateProbeId}) b.answer(qp, foreign);
      REQUIRE(b.revived == 0);
    }
  }
  CHECK(left == 0);
  CHECK(requested >= 2);
  b.probes.clear();
  const uint16_t last = b.probe_number(1);  // such an answer would have counted
  b.answer(b.probes[0].qp, last);
  CHECK(b.revived == 1);
}

TEST_CASE("tx_probe waits for its port and for room", "[pipeline][tx_probe]") {
  Bench b;
  b.up = 2;
  b.lose(0, 0);  // plane 0
  b.run_to(1000);
  CHECK(b.sent == 0);
  b.up = 1;
  b.run_to(1100);  // slot 0 is visited in 1040
  CHECK(b.sent_at == std::vector<unsigned>{1040});
  b.take_probe = false;
  for (uint16_t ev = 2; ev < 8; ev += 2) b.lose(0, ev);  // three more: two in the FIFO, one in the register
  b.run_to(20 * 128);
  const unsigned before = b.sent;
  CHECK(before == 4);
  b.run_to(40 * 128);
  CHECK(b.sent == before);  // the first one failed and would go again
  b.take_probe = true;
  b.run(200);
  CHECK(b.sent > before);
}

TEST_CASE("tx_probe takes bad EVs while an answer waits for tx_path", "[pipeline][tx_probe]") {
  Bench b;
  b.csr.probe_successes = 1;
  b.take_fb = false;
  for (uint16_t ev = 0; ev < 4; ++ev) b.lose(0, ev);
  b.probe_number(4);
  for (uint16_t slot = 0; slot < 4; ++slot) b.answer(0, static_cast<uint16_t>(4 + slot));
  CHECK(b.revived == 3);  // the fourth answer waits
  for (uint16_t ev = 10; ev < 14; ++ev) b.lose(0, ev);
  CHECK(b.full == 1);  // slots 0 to 2 were free
  b.take_fb = true;
  b.run(10);
  CHECK(b.revived == 4);
  REQUIRE(b.fb.size() == 4);
  CHECK(b.fb[3].ev_idx == 3);
}

TEST_CASE("tx_probe takes answers and bad EVs in turn, however many answers come", "[pipeline][tx_probe]") {
  for (const bool ev_probes : {true, false}) {
    Bench b;
    unsigned answers = 0;
    const auto flood = [&](unsigned cycles) {  // of answers that nobody waits for
      for (unsigned i = 0; i < cycles; ++i) {
        if (ev_probes && b.pans.free()) b.pans.load({.id = static_cast<uint16_t>(answers++)});
        if (!ev_probes && b.pres.free()) b.pres.load({.qp = 0, .id = static_cast<uint16_t>(answers++), .m = 0});
        b.cycle();
      }
    };
    flood(100);
    CHECK(answers > 90);
    for (uint16_t ev = 0; ev < 6; ++ev) {
      REQUIRE(b.bad.free());
      b.bad.load({.qp = 0, .ev_idx = ev, .ev = 0xE000u + ev});
      flood(4);
    }
    CHECK(b.full == 2);  // all have been taken: four have slots
    flood(4 * 128);      // and visits go on
    CHECK(b.sent == 4);
    CHECK(answers > 400);
  }
}

TEST_CASE("tx_probe acknowledges tables it does not know in one cycle", "[pipeline][tx_probe]") {
  Bench b;
  b.lose(1, 4);
  b.cfg = {true, static_cast<uint8_t>(CfgTable::Mr), 1, {}};
  b.cycle();
  CHECK(b.block.cfg_ack());
  b.cfg.req = false;
  b.cycle();
  CHECK_FALSE(b.block.cfg_ack());
  b.probe_number(1);  // the slot is untouched
}

TEST_CASE("tx_probe gives a probe up after the timeout of its QP", "[pipeline][tx_probe]") {
  Bench b;
  b.configure(1, 2);   // 32 ticks
  b.configure(3, 24);  // 2^27: not in this test
  b.lose(0, 0);
  b.lose(1, 2);
  b.lose(3, 4);
  b.run_to(60 * 128);
  // QP 0: in ticks 2, 2 + 8 + 4 = 14, 14 + 8 + 8 = 30, 30 + 8 + 16 = 54. QP 1: 2, 2 + 32 + 4 = 38. QP 3: 2.
  std::vector<unsigned> ticks[4];
  REQUIRE(b.probes.size() == b.sent_at.size());
  for (std::size_t i = 0; i < b.probes.size(); ++i) ticks[b.probes[i].qp].push_back(b.sent_at[i] / 128);
  CHECK(ticks[0] == std::vector<unsigned>{2, 14, 30, 54});
  CHECK(ticks[1] == std::vector<unsigned>{2, 38});
  CHECK(ticks[3] == std::vector<unsigned>{2});
}

TEST_CASE("tx_probe: an EV offered again keeps its slot; one that found none takes the next free one",
          "[pipeline][tx_probe]") {
  Bench b;
  for (uint16_t ev = 0; ev < 4; ++ev) b.lose(1, ev);
  b.lose(1, 2);
  CHECK(b.full == 0);  // probed already: neither counted nor taken twice
  b.lose(1, 9);
  CHECK(b.full == 1);
  b.lose(2, 2);  // another QP's EV of the same index
  CHECK(b.full == 2);
  b.configure(1);
  b.lose(1, 9);
  CHECK(b.full == 2);
  b.run_to(3 * 128);
  REQUIRE(b.probes.size() == 1);
  CHECK(b.probes[0].ev == 0xE009);
}

TEST_CASE("tx_probe: an EV probe has its number in its request id, and its answers revive",
          "[pipeline][tx_probe][A-32]") {
  Bench b(Revive::EvProbe);
  b.lose(3, 5);
  b.probe_number(1);
  CHECK(b.sent_at[0] == 272);  // as a reliability probe
  const Ctlpkt& c = b.probes[0];
  CHECK(c.qp == 3);
  CHECK(c.plane == 1);
  CHECK(c.ev == 0xE005);
  CHECK(c.opcode == 0xD8);
  CHECK(c.psn == 0xc004);  // kind 3, number 1 of slot 0
  CHECK(c.ext_len == 16);
  CHECK(c.ext[0] == 0x00000100);  // op 1
  CHECK(c.ext[1] == 0x06000000);  // both ports are up: bits 1 and 2
  CHECK(c.ext[2] == 0);
  CHECK(c.ext[3] == 0x01000200);  // tick 2, ftype 1
  for (unsigned i = 4; i < 9; ++i) CHECK(c.ext[i] == 0);
  b.ev_answer(4);
  b.ev_answer(b.probe_number(2));
  CHECK(b.revived == 0);
  b.ev_answer(b.probe_number(3));
  CHECK(b.revived == 1);
  REQUIRE(b.fb.size() == 1);
  CHECK(b.fb[0] == Fb{.qp = 3, .ev_idx = 5, .entropy = 0, .kind = FbKind::RevivedGood});
  CHECK(b.sent_at == std::vector<unsigned>{272, 272 + 256, 272 + 512});
}

TEST_CASE("tx_probe: EV probes tell the ports, by the register's bits, and the time in its unit",
          "[pipeline][tx_probe][A-32]") {
  Bench b(Revive::EvProbe);
  b.csr.ports_from_0 = b.csr.tsr_us = true;
  b.up = 2;
  b.run_to(40 * 128);
  b.lose(3, 5);  // due in tick 42
  b.probe_number(1);
  CHECK(b.probes[0].ext[1] == 0x02000000);
  CHECK(b.probes[0].ext[3] == 0x01800500);
}

TEST_CASE("tx_probe: answers of the other kind, to other numbers and to free slots change nothing",
          "[pipeline][tx_probe][A-32]") {
  Bench b(Revive::EvProbe);
  b.csr.probe_successes = 1;
  b.lose(1, 6);
  CHECK(b.probe_number(1) == 4);
  b.answer(1, 4);       // of a reliability probe
  b.ev_answer(8);       // not sent yet
  b.ev_answer(5);       // a free slot
  b.ev_answer(0x0404);  // number 257
  CHECK(b.revived == 0);
  b.ev_answer(4);
  CHECK(b.revived == 1);
  Bench r;  // and an EV probe's answer to a reliability probe
  r.csr.probe_successes = 1;
  r.lose(1, 6);
  CHECK(r.probe_number(1) == 4);
  r.ev_answer(4);
  CHECK(r.revived == 0);
  r.answer(1, 4);
  CHECK(r.revived == 1);
}

TEST_CASE("tx_probe with either kind: an EV probe first, and the other kind after each that has no answer",
          "[pipeline][tx_probe][A-32]") {
  constexpr unsigned kEv = 0xD8, kReliability = 0xDE;
  for (const Revive kind : {Revive::Either, static_cast<Revive>(3)}) {
    Bench b(kind);
    b.lose(1, 6);
    CHECK(b.kind_of_number(1) == kEv);
    CHECK(b.kind_of_number(2) == kReliability);
    CHECK(b.kind_of_number(3) == kEv);
    CHECK(b.kind_of_number(4) == kReliability);
    b.answer(1, Bench::id(b.probes.back()));  // a peer that answers these: they go on
    CHECK(b.kind_of_number(5) == kReliability);
    b.answer(1, Bench::id(b.probes.back()), 2);  // an answer, too, though not a good one
    CHECK(b.kind_of_number(6) == kReliability);
    CHECK(b.kind_of_number(7) == kEv);
    for (unsigned n = 7; n < 10; ++n) {
      CHECK(b.kind_of_number(n) == kEv);
      b.ev_answer(Bench::id(b.probes.back()));
    }
    CHECK(b.revived == 1);
    b.lose(1, 6);  // it begins anew
    CHECK(b.kind_of_number(10) == kEv);
  }
}

TEST_CASE("tx_probe: the kind may change while probes are under way; an answer fits the probe that was sent",
          "[pipeline][tx_probe][A-32]") {
  Bench b(Revive::EvProbe);
  b.csr.probe_successes = 1;
  b.lose(1, 6);
  const uint16_t id = b.probe_number(1);
  b.csr.probe_kind = Revive::Reliability;
  b.answer(1, id);
  CHECK(b.revived == 0);
  b.ev_answer(id);
  CHECK(b.revived == 1);
}

TEST_CASE("the waves of tx_probe.md: an EV is lost, probed, answered, and back in use", "[pipeline][tx_probe][waves]") {
  Bench b;
  b.csr.probe_interval = 0;  // a slot that is visited is due
  b.run_to(62);              // slot 0 is visited in cycle 80, and 64 cycles later again
  Wave wave("tx_probe", "tx_probe: EV 5 of QP 3; interval 0 and one answer that is needed, so that all is near");
  wave.head("bad head", b.bad, [](const Badev& bad) { return fmt::format("EV {}", bad.ev_idx); });
  wave.head("pres head", b.pres, [](const Pres& p) { return fmt::format("id {}", p.id); });
  wave.out("probe", b.probe_out, [](const Ctlpkt& c) { return fmt::format("id {}", Bench::id(c)); });
  wave.out("fb", b.fb_out, [](const Fb& f) { return f.kind == FbKind::RevivedGood ? "revived" : "other"; });
  wave.bit("sent_inc", [&] { return b.block.pulses().sent; });
  wave.bit("revived_inc", [&] { return b.block.pulses().revived; });
  b.csr.probe_successes = 1;
  for (unsigned i = 0; i < 32; ++i) {
    wave.sample();
    if (i == 1) b.bad.load({.qp = 3, .ev_idx = 5, .ev = 0xE005});
    if (i == 24) b.pres.load({.qp = 3, .id = Bench::id(b.probes.back())});
    b.cycle();
  }
  CHECK(b.revived == 1);
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::tx_probe_test

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <utility>
#include <vector>

#include "tests/pipeline/tx/inflight/tx_inflight_bench.hpp"

namespace mrc::test::tx_inflight_record_test {

using namespace mrc::inflight_test;

namespace {

/// Sends `n` packets, one in each cycle, packet k of QP pattern[k mod size]; false if one of them had to wait.
bool full_rate(Bench& b, const std::vector<unsigned>& pattern, unsigned n, std::vector<Rec>& sent) {
  bool smooth = true;
  std::array<uint32_t, 4> next{};
  for (unsigned k = 0; k < n; ++k) {
    const auto q = static_cast<uint16_t>(pattern[k % pattern.size()]);
    Rec r = Bench::packet(q, next[q]);
    r.psn = psn_add(b.ctx.sq_psn, next[q]++);
    r.ev_idx = static_cast<uint16_t>(k);
    sent.push_back(r);
    smooth = smooth && b.rec.free() && b.rec.count() <= 1;
    b.give(r);
  }
  b.run(2);
  return smooth && !b.rec.has();
}

}  // namespace

TEST_CASE("tx_inflight records a packet per cycle, whatever QPs and blocks follow each other",
          "[pipeline][tx_inflight][rate]") {
  // All sequences of four QPs: same and other QP at distances 1, 2 and 3; each at all places of the blocks' borders.
  for (unsigned seq = 0; seq < 256; ++seq) {
    const std::vector<unsigned> pattern{seq & 3, seq >> 2 & 3, seq >> 4 & 3, seq >> 6};
    for (unsigned at = 0; at < 16; ++at) {
      Bench b;
      b.ctx.sq_psn = 0xffffc0 + at;
      for (uint16_t q = 0; q < 4; ++q) b.configure(q);
      std::vector<Rec> sent;
      CAPTURE(seq, at);
      REQUIRE(full_rate(b, pattern, 40, sent));
      if (seq != 0 && seq != 0b01000100 && seq != 0b01010000 && seq != 0b11100100 && seq != 0b00100100) continue;
      // And each one is remembered as it was.
      b.csr.reorder = 1000;
      for (const Rec& r : sent) {
        b.ctl.load(Ctl{.kind = CtlKind::Nack, .qp = r.qp, .psn = r.psn, .reason = 2});
        b.run(12);
      }
      b.run(20);
      REQUIRE(b.retx.size() == sent.size());
      for (const Rec& r : sent) CHECK(std::count(b.retx.begin(), b.retx.end(), order_of(r)) == 1);
    }
  }
}

TEST_CASE("tx_inflight: one QP sends a packet per cycle for long, its SACKs beside it",
          "[pipeline][tx_inflight][rate]") {
  Bench b;
  unsigned sent = 0, sacked = 0, waited = 0;
  const unsigned from = b.cycles;
  while (sent < 4000) {
    if (b.rec.free()) {
      b.rec.load(Bench::packet(0, sent++));
    } else {
      ++waited;
    }
    if (sent >= sacked + 64 && b.ctl.free()) {  // one SACK per 16 packets
      sacked += 16;
      b.ctl.load(Bench::sack_of(0, sacked, sacked - 1, sacked, 0, 0));
    }
    b.cycle();
  }
  b.run(20);
  CHECK_FALSE(b.rec.has());
  CHECK(b.cycles - from < 4000 + 100);
  CHECK(waited < 100);
  CHECK(b.upd.size() == sacked / 16);
  CHECK(b.retx.empty());
}

namespace {

/// Fewest and most cycles until packet `psn` of QP 1 is recorded, when it comes at each of the cycles after prepare(b).
template <class Prepare>
std::pair<unsigned, unsigned> waits(unsigned psn, unsigned cycles, Prepare&& prepare) {
  unsigned least = 1000, most = 0;
  for (unsigned at = 0; at < cycles; ++at) {
    Bench b;
    b.retries(7, 25);
    b.align();
    for (unsigned i = 0; i < psn; ++i) b.sent(1, i);
    prepare(b);
    b.run(at);
    b.rec.load(Bench::packet(1, psn));
    unsigned n = 0;
    do {
      b.cycle();
      ++n;
    } while (b.rec.valid() || b.rec.has());
    least = std::min(least, n);
    most = std::max(most, n);
  }
  return {least, most};
}

}  // namespace

TEST_CASE("tx_inflight: only a packet that begins a block waits while rows may be written",
          "[pipeline][tx_inflight][rate]") {
  using Range = std::pair<unsigned, unsigned>;
  // Two cycles into the FIFO, and taken. A SACK of five blocks: Ctl1 and five rows.
  const auto sack = [](Bench& b) {
    b.sent_all(0, 80);
    b.ctl.load(Bench::sack_of(0, 1, 70, 2, ~uint64_t{0}, 64));
  };
  CHECK(waits(16, 16, sack) == Range{3, 3 + 6});
  CHECK(waits(17, 16, sack) == Range{3, 3});
  // Seven blocks given back: two cycles in the FIFO, then Ctl1 of the NACK, later Reclaim.
  const auto reclaim = [](Bench& b) {
    b.sent_all(0, 112);
    b.ctl.load(Ctl{.kind = CtlKind::Nack, .qp = 0, .reason = 0x19});
  };
  CHECK(waits(16, 20, reclaim) == Range{3, 3 + 7});
  CHECK(waits(17, 20, reclaim) == Range{3, 3});
  // The timer works through seven blocks.
  const auto walk = [](Bench& b) {
    const unsigned t0 = b.tick();
    b.sent_all(0, 112);
    b.take_retx = false;
    b.retx_out.load({});  // no retransmission
    b.cycle();
    b.run_to_tick(t0 + 10);
    while (b.rto_inc == 0) b.cycle();
    b.run_to_tick(b.tick() + 2);
  };
  CHECK(waits(16, 40, walk) == Range{3, 3 + 7});
  CHECK(waits(17, 40, walk) == Range{3, 3});
}

TEST_CASE("tx_inflight: cycles of a SACK by its blocks, of an ACK and of a NACK", "[pipeline][tx_inflight][rate]") {
  // Two cycles into the FIFO, then from its head to the output; a timer visit may go first, so the quickest of eight.
  const auto quickest = [](const Ctl& c, auto&& done) {
    unsigned best = 1000;
    for (unsigned phase = 0; phase < 8; ++phase) {
      Bench b;
      b.sent_all(0, 100);
      b.run(phase);
      b.ctl.load(c);
      unsigned n = 0;
      while (!done(b)) {
        b.cycle();
        ++n;
      }
      best = std::min(best, n);
    }
    return best;
  };
  const auto upd = [](const Bench& b) { return b.upd_out.valid(); };
  Ctl ack;
  ack.kind = CtlKind::Ack;
  ack.psn = psn_add(Bench::kPsn, 9);
  ack.msn = 11;
  ack.reason = 0x1f;
  CHECK(quickest(ack, upd) == 2 + 2);
  CHECK(quickest(Bench::sack_of(0, 100, 99, 100, 0, 0), upd) == 2 + 4);
  CHECK(quickest(Bench::sack_of(0, 36, 35, 0, 0, 0), upd) == 2 + 4 + 2);  // blocks of 36 and up to 63
  CHECK(quickest(Bench::sack_of(0, 16, 15, 16, 0, 0), upd) == 2 + 4 + 4);
  CHECK(quickest(Bench::sack_of(0, 17, 16, 17, 0, 0), upd) == 2 + 4 + 5);
  const Ctl nack{.kind = CtlKind::Nack, .qp = 0, .psn = psn_add(Bench::kPsn, 5), .reason = 1};
  CHECK(quickest(nack, [](const Bench& b) { return b.fb_out.valid(); }) == 2 + 3);
  CHECK(quickest(nack, [](const Bench& b) { return b.retx_out.valid(); }) == 2 + 3 + 4);
}

TEST_CASE("tx_inflight: a search for pending packets looks at four blocks in a turn", "[pipeline][tx_inflight][rate]") {
  // 0 and 127 wait; after 0 has gone the search goes over eight blocks. A SACK of another QP comes in between.
  unsigned longest = 0;
  for (unsigned at = 0; at < 24; ++at) {
    Bench b;
    b.sent_all(0, 128);
    b.sent_all(1, 10);
    b.take_retx = false;
    for (unsigned i = 0; i < 3; ++i) b.nack(1, i, 2);  // the output is taken
    b.nack(0, 127, 2);
    b.nack(0, 0, 2);
    b.align();
    b.take_retx = true;
    b.run(at);
    b.ctl.load(Bench::sack_of(1, 5, 4, 5, 0, 0));
    unsigned n = 0;
    while (!b.upd_out.valid()) {
      b.cycle();
      ++n;
    }
    longest = std::max(longest, n);
    b.run(60);
    CHECK(std::count(b.retx.begin(), b.retx.end(), order_of(Bench::packet(0, 127))) == 1);
  }
  // 2 into the FIFO, 4 and a block of its own; a turn of Idle, Retx0 and four blocks before it, and a visit.
  CHECK(longest == 2 + 4 + 1 + 6 + 1);
}

}  // namespace mrc::test::tx_inflight_record_test

// SPDX-License-Identifier: Apache-2.0
// Who is visited: QPs that have something open, one after the other.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <deque>
#include <random>
#include <vector>

#include "tests/pipeline/tx/inflight/tx_inflight_bench.hpp"

namespace mrc::test::tx_inflight_visit_test {

using namespace mrc::inflight_test;

namespace {

using Order = std::vector<QpIndex>;

/// Packet i of a QP is a message of its own.
Rec message(QpIndex qp, unsigned i) {
  Rec r = Bench::packet(qp, 0);
  r.psn = psn_add(Bench::kPsn, i);
  r.msn = static_cast<uint16_t>(10 + i);
  r.idx = 0;
  r.last = true;
  return r;
}

/// Messages 0 to n - 1 are acknowledged.
Ctl ack(QpIndex qp, unsigned n) {
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = qp;
  a.psn = psn_add(Bench::kPsn, static_cast<int64_t>(n) - 1);
  a.msn = static_cast<uint16_t>(10 + n);
  a.reason = 0x1f;
  return a;
}

/// Who is busy is watched, and nobody twice.
bool sound(const Bench& b) {
  Order all = b.inflight.watched();
  std::sort(all.begin(), all.end());
  if (std::adjacent_find(all.begin(), all.end()) != all.end()) return false;
  for (uint16_t q = 0; q < b.preset.num_qps; ++q) {
    if (b.inflight.busy(q) && !std::binary_search(all.begin(), all.end(), q)) return false;
  }
  return true;
}

/// A bench on which each cycle is looked at.
struct VisitBench : Bench {
  using Bench::Bench;
  /// Runs until `done` holds at a cycle's beginning; returns that cycle.
  template <class Done>
  unsigned until(Done done) {
    for (unsigned i = 0; !done(); ++i) {
      REQUIRE(i < 5000);
      step();
    }
    return cycles;
  }
  void step(unsigned n = 1) {
    for (unsigned i = 0; i < n; ++i) {
      cycle();
      REQUIRE(sound(*this));
    }
  }
  Order watched() const { return inflight.watched(); }
  void push(const Rec& r) {
    REQUIRE(rec.free());
    rec.load(r);
    step();
  }
  void push(const Ctl& c) {
    REQUIRE(ctl.free());
    ctl.load(c);
    step();
  }
  /// The head of rec is recorded in cycle `at`: one that is loaded so long before it is.
  void push_at(unsigned at, const Rec& r) {
    REQUIRE(cycles + kWay <= at);
    while (cycles + kWay < at) step();
    push(r);
  }
  /// Cycles from loading a packet to the one in which an idle block records it.
  static constexpr unsigned kWay = 2;
};

}  // namespace

TEST_CASE("tx_inflight: two QPs that begin are visited by hand", "[pipeline][tx_inflight][timer]") {
  // The page's cycles 10 to 17, at each phase of div.
  const bool waits = GENERATE(false, true);
  for (unsigned phase = 0; phase < 16; ++phase) {
    CAPTURE(waits, phase);
    VisitBench b;
    b.csr.silence_wait = waits;
    b.run(64 + phase);
    CHECK(b.watched().empty());
    b.push(message(1, 0));
    b.push(message(3, 0));
    b.until([&] { return b.inflight.busy(1); });
    const unsigned c11 = b.cycles;
    CHECK(b.watched() == Order{1});  // in come
    CHECK(b.inflight.visit_qp() == 0);
    b.step();
    CHECK(b.cycles == c11 + 1);
    CHECK(b.watched() == Order{1, 3});  // in ring; in come
    CHECK(b.inflight.visit_qp() == 0);
    b.step();
    CHECK(b.watched() == Order{1, 3});
    CHECK(b.inflight.visit_qp() == 1);
    const unsigned first = b.until([&] { return b.watched() == Order{3, 1}; }) - 1;
    unsigned due = c11 + 1;  // visit_due is 1 in the next cycle; of one before it an empty visit has taken the turn
    while (due % 4 != 3) ++due;
    CHECK(first == std::max(due + 1, c11 + (waits ? 2 : 4)));  // steady is 2
    unsigned visit = first;
    for (unsigned i = 0; i < 9; ++i) {
      unsigned due = visit;  // := 1 in the cycle with div 3, wins over its clearing
      while (due % 4 != 3) ++due;
      const unsigned next = std::max(due + 1, visit + (waits ? 1 : 3));
      visit = b.until([&] { return b.watched() == (i % 2 == 0 ? Order{1, 3} : Order{3, 1}); }) - 1;
      CHECK(visit == next);
    }
    CHECK(visit % 4 == 0);
  }
}

TEST_CASE("tx_inflight: all QPs are visited, each once in a round", "[pipeline][tx_inflight][timer]") {
  const unsigned qps = GENERATE(4u, 16u, 256u);
  CAPTURE(qps);
  VisitBench b(false, qps);
  for (uint16_t q = 4; q < qps; ++q) b.configure(q);
  for (uint16_t q = 0; q < qps; ++q) {
    b.give(Bench::packet(q, 0));
    b.give(Bench::packet(q, 1));
  }
  b.run(4 * qps);
  REQUIRE(sound(b));
  Order expected(qps), all = b.watched();
  for (uint16_t q = 0; q < qps; ++q) expected[q] = q;
  std::sort(all.begin(), all.end());
  CHECK(all == expected);
  // Whose turn it is, and when that begins.
  const auto turn = [&] {
    const unsigned before = b.inflight.visit_qp();
    while (b.inflight.visit_qp() == before) b.cycle();
    return b.inflight.visit_qp();
  };
  std::vector<unsigned> round;
  const unsigned start = turn(), from = b.cycles;
  round.push_back(start);
  for (unsigned i = 1; i < qps; ++i) round.push_back(turn());
  std::vector<unsigned> sorted = round;
  std::sort(sorted.begin(), sorted.end());
  CHECK(std::equal(sorted.begin(), sorted.end(), expected.begin(), expected.end()));
  for (unsigned i = 0; i < 2 * qps; ++i) REQUIRE(turn() == round[i % qps]);  // the same order again
  CHECK(b.cycles - from == 4 * (3 * qps - 1));
  REQUIRE(sound(b));
}

TEST_CASE("tx_inflight: who has nothing open is not visited", "[pipeline][tx_inflight][timer]") {
  VisitBench b;
  b.retries(7, 25);
  b.step(200);
  CHECK(b.watched().empty());
  b.push(message(2, 0));
  b.step(100);
  CHECK(b.watched() == Order{2});  // alone: again and again
  b.push(ack(2, 1));
  b.until([&] { return !b.inflight.busy(2); });
  const unsigned since = b.cycles;
  CHECK(b.watched() == Order{2});
  b.until([&] { return b.watched().empty(); });  // its next visit
  CHECK(b.cycles - since <= 8);
  b.step(2000);
  CHECK(b.watched().empty());
  b.align();
  const unsigned t0 = b.tick();
  b.push(message(2, 1));
  b.run_to_tick(t0 + 9);
  CHECK(b.watched() == Order{2});
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 8});  // its timer has begun anew
}

TEST_CASE("tx_inflight: while no QP is busy, answers without end do not hold a packet up",
          "[pipeline][tx_inflight][timer]") {
  const bool waits = GENERATE(false, true);
  for (unsigned phase = 0; phase < 16; ++phase) {
    CAPTURE(waits, phase);
    VisitBench b;
    b.csr.silence_wait = waits;
    b.run(64 + phase);
    REQUIRE(b.watched().empty());
    // Each NACK names the first PSN of the block that the packet begins: it begins, Ctl0, Ctl1.
    Ctl nack;
    nack.kind = CtlKind::Nack;
    nack.qp = 1;
    nack.psn = Bench::kPsn;
    nack.reason = static_cast<uint8_t>(wire::NackReason::Trimmed);
    for (unsigned i = 0; i < 40; ++i) {
      if (b.ctl.free()) b.ctl.load(nack);
      b.cycle();
    }
    b.rec.load(message(1, 0));
    unsigned took = 0;
    for (; took < 100 && !b.inflight.busy(1); ++took) {
      if (b.ctl.free()) b.ctl.load(nack);
      b.cycle();
    }
    CHECK(took <= 10);  // 2 to the block, 4 to the next visit_due, 3 of an answer that has begun
    CHECK(b.retx.empty());
  }
}

TEST_CASE("tx_inflight: a packet that is recorded in the cycle of its QP's last visit keeps it in",
          "[pipeline][tx_inflight][timer]") {
  // One run without the packet says in which cycle the QP leaves.
  const bool waits = GENERATE(false, true);
  const auto begin = [&](VisitBench& b) {
    b.csr.silence_wait = waits;
    b.retries(7, 25);
    b.push(message(1, 0));
    b.step(50);
    b.push(ack(1, 1));
  };
  VisitBench alone;
  begin(alone);
  const unsigned last = alone.until([&] { return alone.watched().empty(); }) - 1;
  for (unsigned early = 0; early < 3; ++early) {  // and cycles before and behind it
    for (const int side : {-1, 1}) {
      CAPTURE(waits, early, side);
      VisitBench b;
      begin(b);
      const unsigned at = side < 0 ? last - early : last + early;
      if (b.cycles + VisitBench::kWay > at) continue;
      b.push_at(at, message(1, 1));
      unsigned left = 0;
      while (b.cycles <= last + 8) {
        left += b.watched().empty();
        b.step();
      }
      CHECK(left == (at > last ? at - last : 0));  // it has left and comes again
      CHECK(b.watched() == Order{1});
      const unsigned t0 = b.tick();
      b.run_to_tick(t0 + 11);
      CHECK(b.rto_inc == 1);  // its timer runs
      REQUIRE(b.retx.size() == 1);
      CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 1));
    }
  }
}

TEST_CASE("tx_inflight: a QP comes in a cycle in which another one's visit ends", "[pipeline][tx_inflight][timer]") {
  const unsigned others = GENERATE(1u, 2u, 3u);
  for (unsigned phase = 0; phase < 8; ++phase) {
    CAPTURE(others, phase);
    VisitBench b;
    Order in;
    for (uint16_t q = 0; q < others; ++q) {
      b.push(message(q, 0));
      in.push_back(q);
    }
    b.step(64);
    while (b.cycles % 8 != phase) b.step();
    b.push(message(3, 0));
    in.push_back(3);
    b.until([&] { return b.inflight.busy(3); });
    const unsigned from = b.cycles;
    CHECK(b.watched().size() == in.size());
    CHECK(b.watched().back() == 3);  // behind the others
    // Its first visit: of the others one may have a second one before it, by a visit while it is in come.
    std::array<unsigned, 4> visits{};
    while (visits[3] == 0) {
      const Order before = b.watched();
      b.step();
      const Order after = b.watched();
      REQUIRE(after.size() == in.size());
      if (before != after) ++visits[before[0]];
      REQUIRE(b.cycles - from < 4 * in.size() + 8);
    }
    CHECK(visits[0] + visits[1] + visits[2] <= others + 1);
    for (const uint16_t q : in) CHECK(visits[q] <= 2);
  }
}

TEST_CASE("tx_inflight: a QP that ends or is set up anew stays where it stands among those who are visited",
          "[pipeline][tx_inflight][timer]") {
  // Which of three QPs: one that is next, or behind the others.
  const uint16_t which = GENERATE(uint16_t{0}, uint16_t{1}, uint16_t{2});
  for (unsigned phase = 0; phase < 12; ++phase) {
    VisitBench b(true);
    b.retries(7, 25);
    for (uint16_t q = 0; q < 3; ++q) b.push(message(q, 0));
    b.step(40 + phase);
    CAPTURE(which, phase);
    SECTION("reset: it leaves") {
      b.set_state(which, QpState::Reset);
      b.step(16);
      Order left = b.watched();
      std::sort(left.begin(), left.end());
      Order expected;
      for (uint16_t q = 0; q < 3; ++q) {
        if (q != which) expected.push_back(q);
      }
      CHECK(left == expected);
      b.configure(which);
      b.step(16);
      CHECK(b.watched().size() == 2);
      b.push(message(which, 0));
      b.step(16);
      CHECK(b.watched().size() == 3);
    }
    SECTION("set up anew, and sends at once") {
      b.request(which);
      while (!b.inflight.cfg_ack()) b.step();
      b.cfg.req = false;
      b.push(message(which, 0));
      b.step(16);
      CHECK(b.watched().size() == 3);
      b.retx.clear();
      const unsigned t0 = b.tick();
      b.run_to_tick(t0 + 10);
      CHECK(std::count_if(b.retx.begin(), b.retx.end(), [&](const Retx& r) { return r.qp == which; }) == 1);
    }
    SECTION("fails by a NACK") {
      Ctl n;
      n.kind = CtlKind::Nack;
      n.qp = which;
      n.psn = Bench::kPsn;
      n.reason = 0x19;
      b.push(n);
      b.step(24);
      CHECK(b.fail_inc == 1);
      CHECK(b.watched().size() == 2);
    }
    SECTION("fails by a NAK") {
      Ctl a = ack(which, 1);
      a.msn = 10;
      a.reason = 0x60;
      b.push(a);
      b.step(24);
      CHECK(b.qperr.size() == 1);
      CHECK(b.watched().size() == 2);
    }
  }
}

TEST_CASE("tx_inflight: a QP that fails at its own visit, or in the walk behind it, leaves at the next one",
          "[pipeline][tx_inflight][timer][retry]") {
  const bool arrived = GENERATE(false, true);  // only its ACK is missing
  VisitBench b;
  b.retries(0, 0);
  for (uint16_t q = 0; q < 3; ++q) b.push(message(q, 0));
  if (arrived) {
    for (uint16_t q = 0; q < 3; ++q) b.sack(q, 1, 0, 1, 0, 0);
  }
  b.until([&] { return b.fail_inc != 0; });
  CHECK(b.watched().size() == 3);
  b.step(200);
  CHECK(b.fail_inc == 3);
  CHECK(b.watched().empty());
}

TEST_CASE("tx_inflight: a copy whose ACK has come is watched until its bytes are given back",
          "[pipeline][tx_inflight][timer][cc]") {
  VisitBench b(true);
  b.retries(7, 25);
  b.align();
  b.push(message(1, 0));
  b.step(8);
  b.sack(1, 1, 0, 1, 0, 0);  // all has arrived, only the ACK is missing
  b.refuse = 1u << 2;        // QP 1's controller
  b.until([&] { return b.rto_inc == 1; });
  b.step(200);
  CHECK(b.rtxreq.size() > 2);  // the copy asks, and waits
  CHECK(b.retx.empty());
  b.push(ack(1, 1));
  b.step(600);
  CHECK_FALSE(b.inflight.busy(1));
  CHECK(b.watched() == Order{1});
  b.ccev.clear();
  b.refuse = 0;
  b.until([&] { return b.inflight.busy(1); });
  CHECK(b.granted.size() == 1);
  CHECK(b.watched() == Order{1});
  b.until([&] { return !b.inflight.busy(1); });
  b.step(20);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0] == Ccev{.cc = 2, .kind = CcEvent::Ack, .bytes = Bench::kSize});
  CHECK(b.watched().empty());
}

TEST_CASE("tx_inflight: in random traffic who is busy is watched, nobody twice, and in the end nobody",
          "[pipeline][tx_inflight][timer][random]") {
  const bool waits = GENERATE(false, true);
  unsigned left = 0, ended = 0;
  std::size_t copies = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    CAPTURE(waits, seed);
    VisitBench b(true);
    b.csr.silence_wait = waits;
    b.retries(7, 25);
    std::mt19937 rng(seed);
    const auto chance = [&](unsigned n) { return rng() % n == 0; };
    std::array<unsigned, 4> next{}, done{};  // messages sent and acknowledged
    std::array<bool, 4> over{};
    std::array<int64_t, 4> flight{};
    std::deque<Retx> again;
    bool slow = false;  // nobody answers for some intervals
    std::size_t ccevs = 0, grants = 0, orders = 0;
    const auto look = [&] {
      for (; orders < b.retx.size(); ++orders) again.push_back(b.retx[orders]);
      for (; grants < b.granted.size(); ++grants) flight[3 - b.granted[grants].cc] += b.granted[grants].bytes;
      for (; ccevs < b.ccev.size(); ++ccevs) flight[3 - b.ccev[ccevs].cc] -= b.ccev[ccevs].bytes;
    };
    const auto step = [&] {
      const std::size_t before = b.watched().size();
      b.step();
      left += b.watched().size() < before;
      look();
    };
    const auto send_again = [&] {
      const Retx o = again.front();
      again.pop_front();
      b.rec.load({.qp = o.qp,
                  .psn = o.psn,
                  .msn = o.msn,
                  .row = o.row,
                  .idx = o.idx,
                  .ev_idx = static_cast<uint16_t>(rng() % 16),
                  .rtx = true,
                  .last = false,
                  .size = o.size,
                  .voided = false});
    };
    for (unsigned i = 0; i < 12000; ++i) {
      const auto q = static_cast<uint16_t>(rng() % 4);
      if (chance(64)) b.refuse = rng() & 15;
      if (chance(2000)) slow = !slow;
      if (b.rec.free()) {
        if (!again.empty() && chance(2)) {
          send_again();
        } else if (!over[q] && next[q] - done[q] < 16 && chance(12)) {
          b.rec.load(message(q, next[q]++));
          flight[q] += Bench::kSize;
        }
      }
      // What has been loaded a while ago is recorded: the block takes a packet a cycle.
      if (b.ctl.free() && !b.rec.valid() && !b.rec.has() && next[q] != done[q] && chance(slow ? 800 : 6)) {
        const unsigned n = done[q] + 1 + static_cast<unsigned>(rng() % (next[q] - done[q]));
        if (chance(3)) {
          Ctl s = Bench::sack_of(q, n, n - 1, n, 0, 0);
          b.ctl.load(s);  // the ACK is missing
        } else {
          b.ctl.load(ack(q, n));
          done[q] = n;
        }
      }
      if (chance(1500)) {
        // Everything of it comes home, then it begins anew.
        over[q] = true;
        if (chance(2)) {
          b.cfg.table = static_cast<uint8_t>(CfgTable::QpState);
          b.cfg.index = q;
          b.cfg.data[0] = static_cast<uint32_t>(QpState::Error);
          b.cfg.req = true;
          while (!b.inflight.cfg_ack()) step();
          b.cfg.req = false;
          step();
        }
        for (unsigned k = 0; k < 40 || !again.empty() || b.rec.valid() || b.rec.has(); ++k) {
          if (b.rec.free() && !again.empty()) send_again();
          step();
        }
        b.request(q);
        while (!b.inflight.cfg_ack()) step();
        b.cfg.req = false;
        step();
        next[q] = done[q] = 0;
        over[q] = false;
        ++ended;
      }
      step();
    }
    for (uint16_t q = 0; q < 4; ++q) {
      while (!b.ctl.free()) step();
      if (next[q] != 0) b.ctl.load(ack(q, next[q]));
      step();
    }
    b.refuse = 0;
    for (unsigned i = 0; i < 4000; ++i) {
      if (b.rec.free() && !again.empty()) send_again();
      step();
    }
    CHECK(b.watched().empty());
    for (const int64_t bytes : flight) CHECK(bytes == 0);
    copies += b.retx.size();
  }
  CHECK(left > 200);
  CHECK(copies > 200);
  CHECK(ended > 30);
}

}  // namespace mrc::test::tx_inflight_visit_test

// SPDX-License-Identifier: Apache-2.0
// fpga/rtl/mrc_fpga_rings.sv with a core that takes work requests by the rules of Intake
// (docs/design/blocks/tx/segment/tx_segment.md) and completes them when the test wants it. A work request that the core
// would leave at the head of its input fails the test.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <deque>
#include <string>
#include <vector>

#include "tests/fpga/hooks.hpp"
#include "tests/fpga/rings_bench.hpp"

namespace mrc::test::rings_test {

using namespace mrc::rings;

namespace {

class Rows : public Core {
 public:
  explicit Rows(uint64_t seed) : rng(seed, "rows") {}

  bool wqe_ready() override { return in_.size() < 2; }
  const Cqe* cqe() override { return out_.empty() || !offers_ ? nullptr : &out_.front(); }
  void step(const Wqe* offered, bool cqe_ready) override {
    const bool taken = offered != nullptr && in_.size() < 2;
    if (offers_ && !out_.empty() && cqe_ready) {
      out_.pop_front();
      offers_ = false;
    }
    if (!out_.empty() && !offers_) offers_ = rng.chance(offers);
    intake();
    const auto q = static_cast<unsigned>(rng.below(kQps));
    if (!stuck[q] && rng.chance(completes)) complete(q);
    if (rng.chance(receives)) receive(static_cast<unsigned>(rng.below(kQps)));
    if (taken) in_.push_back(*offered);
  }

  /// QP_CTX: what the QP holds is forgotten, it can send or it cannot.
  void set_up(unsigned q, bool can_send) {
    known_[q] = true;
    forgotten += held[q].size();
    held[q].clear();
    rts[q] = can_send;
  }
  void complete(unsigned q, unsigned status = kOk) {
    if (held[q].empty() || out_.size() >= 4) return;
    Cqe cqe;
    cqe.qp = static_cast<QpIndex>(q);
    cqe.status = static_cast<CqStatus>(status);
    cqe.wr_id = held[q].front().wr_id;
    cqe.length = held[q].front().length;
    cqe.msn = static_cast<uint16_t>(rng.next());
    held[q].pop_front();
    ++completed;
    out_.push_back(cqe);
  }
  void receive(unsigned q) {
    if (out_.size() >= 4) return;
    Cqe cqe;
    cqe.qp = static_cast<QpIndex>(q);
    cqe.recv = true;
    cqe.imm = static_cast<uint32_t>(rng.next());
    cqe.length = static_cast<uint32_t>(rng.next());
    cqe.msn = static_cast<uint16_t>(rng.next());
    out_.push_back(cqe);
  }
  /// A completion of nothing.
  void invent(const Cqe& cqe) { out_.push_back(cqe); }
  unsigned total() const {
    std::size_t n = 0;
    for (const auto& one : held) n += one.size();
    return static_cast<unsigned>(n);
  }
  bool idle() const { return in_.empty() && out_.empty() && total() == 0; }

  Rng rng;
  double offers = 1.0, completes = 0.0, receives = 0.0;
  bool stands = false;  ///< Intake does nothing
  unsigned depth = kWqeDepth;
  std::array<bool, kQps> rts{}, stuck{};
  std::array<std::deque<Wqe>, kQps> held;
  uint64_t blocked = 0, refused = 0, completed = 0, forgotten = 0, most = 0;

 private:
  void intake() {
    if (in_.empty() || stands) return;
    const Wqe& wqe = in_.front();
    const unsigned q = wqe.qp % kQps;
    if (!rts[q] || wqe.length == 0) {
      if (out_.size() >= 4) return;
      Cqe cqe;
      cqe.qp = wqe.qp;
      cqe.status = static_cast<CqStatus>(rts[q] ? kLocLength : kLocState);
      cqe.wr_id = wqe.wr_id;
      out_.push_back(cqe);
      ++refused;
    } else {
      unsigned free = kNumWqes - total();
      for (const bool known : known_) free -= known ? 1 : 0;
      const bool room = free > 0 && held[q].size() < depth && (free > kNumWqes / 4 || held[q].size() < 2);
      if (!room) {
        ++blocked;
        return;
      }
      held[q].push_back(wqe);
      most = std::max<uint64_t>(most, total());
    }
    in_.pop_front();
  }

  std::deque<Wqe> in_;
  std::deque<Cqe> out_;
  std::array<bool, kQps> known_{};
  bool offers_ = false;
};

/// The core's QPs can send, all rings are open: QP q's completions go to ring q mod 2.
void open_all(Bench& bench, Rows& rows, unsigned sq_log, unsigned cq_log) {
  for (unsigned c = 0; c < kCqs; ++c) bench.make_cq(c, cq_log);
  for (unsigned q = 0; q < kQps; ++q) {
    rows.set_up(q, true);
    bench.make_sq(q, sq_log, q % kCqs);
  }
}

}  // namespace

TEST_CASE("a work request in memory goes to the core, its completion comes into memory", "[fpga][rings]") {
  Rows rows(1);
  Bench bench(1, rows);
  open_all(bench, rows, 4, 4);
  bench.post(2, 4711);
  REQUIRE(bench.ring(2));
  bench.run(30);
  CHECK(bench.sqs[2].sent == 1);
  REQUIRE(rows.held[2].size() == 1);
  CHECK(bench.read(sq_at(2) + Other) == 1);
  CHECK(bench.read(sq_at(2) + Last) == 1);
  CHECK(!bench.poll(0));
  rows.complete(2);
  bench.run(30);
  const auto entry = bench.poll(0);
  REQUIRE(entry);
  CHECK(entry->cqe.length == 4711);
  CHECK(entry->consumer == 1);
  CHECK(bench.read(sq_at(2) + Last) == 0);
  CHECK(bench.read(cq_at(0) + Other) == 1);
  CHECK(bench.write(cq_at(0) + Bell, 1));
  CHECK(rows.blocked == 0);
}

TEST_CASE("a QP without room in the core holds up no other", "[fpga][rings]") {
  for (const unsigned depth : {kWqeDepth, kWqeDepth - 1}) {
    Rows rows(2);
    Bench bench(2, rows);
    rows.depth = depth;
    rows.completes = 0.5;
    rows.stuck[1] = true;
    open_all(bench, rows, 4, 6);
    for (unsigned i = 0; i < 16; ++i) bench.post(1);
    REQUIRE(bench.ring(1));
    for (unsigned round = 0; round < 40; ++round) {
      for (unsigned q = 0; q < kQps; ++q) {
        if (q == 1 || bench.slots(q) == 0) continue;
        bench.post(q);
        REQUIRE(bench.ring(q));
      }
      bench.run(30);
      for (unsigned c = 0; c < kCqs; ++c) bench.drain(c);
    }
    if (depth != kWqeDepth) {
      // A core with less room than the module was told: it stands, and this bench sees it.
      CHECK(rows.blocked > 100);
      continue;
    }
    CHECK(rows.held[1].size() == kWqeDepth);
    CHECK(bench.read(sq_at(1) + Last) == kWqeDepth);
    CHECK(bench.read(sq_at(1) + Other) == kWqeDepth);
    for (const unsigned q : {0u, 2u, 3u}) CHECK(bench.sqs[q].sent == 40);
    rows.stuck[1] = false;
    bench.run(400);
    CHECK(bench.sqs[1].sent == 16);
    CHECK(rows.idle());
    CHECK(bench.read(kFree) == kNumWqes - kQps);
    CHECK(rows.blocked == 0);
  }
}

TEST_CASE("the last quarter of the core's rows is read for QPs that hold less than two", "[fpga][rings]") {
  Rows rows(3);
  Bench bench(3, rows);
  open_all(bench, rows, 4, 6);
  const auto fill = [&](unsigned q, unsigned n) {
    for (unsigned i = 0; i < n; ++i) bench.post(q);
    REQUIRE(bench.ring(q));
    bench.run(120);
  };
  fill(0, 12);
  fill(1, 12);
  // 24 rows, 4 of them empty ones: 14 taken leave a quarter.
  CHECK(rows.held[0].size() == 8);
  CHECK(rows.held[1].size() == 6);
  fill(2, 12);
  fill(3, 12);
  CHECK(rows.held[2].size() == 2);
  CHECK(rows.held[3].size() == 2);
  CHECK(bench.read(kFree) == 2);
  // One place free: for who has less than two.
  rows.complete(3);
  bench.run(60);
  CHECK(rows.held[3].size() == 2);
  CHECK(bench.read(kFree) == 2);
  rows.complete(0);
  bench.run(60);
  CHECK(rows.held[0].size() == 7);
  CHECK(bench.read(kFree) == 3);
  rows.completes = 1.0;
  bench.run(2000);
  for (unsigned q = 0; q < kQps; ++q) CHECK(bench.sqs[q].sent == 12);
  CHECK(bench.read(kFree) == kNumWqes - kQps);
  CHECK(rows.blocked == 0);
}

TEST_CASE("credit comes back when a QP is set up anew", "[fpga][rings]") {
  Rows rows(4);
  Bench bench(4, rows);
  open_all(bench, rows, 4, 6);
  for (unsigned i = 0; i < 12; ++i) bench.post(0);
  REQUIRE(bench.ring(0));
  bench.post(2);
  REQUIRE(bench.ring(2));
  bench.run(100);
  REQUIRE(rows.held[0].size() == 8);
  REQUIRE(bench.close(0));
  CHECK(bench.read(sq_at(0) + Control) == 0);
  CHECK(!bench.write(sq_at(0) + Bell, 12));
  rows.set_up(0, false);
  CHECK(rows.forgotten == 8);
  CHECK(bench.read(sq_at(0) + Last) == 8);
  CHECK(bench.read(kFree) == 11);
  bench.make_sq(0, 3, 0);
  bench.run(30);
  CHECK(bench.markers == 1);
  CHECK(bench.read(sq_at(0) + Last) == 0);
  CHECK(bench.read(sq_at(0) + Control) == Open);
  CHECK(bench.read(kFree) == 19);
  CHECK(bench.read(sq_at(0) + Bell) == 0);
  CHECK(bench.read(sq_at(0) + Other) == 0);
  rows.rts[0] = true;
  for (unsigned i = 0; i < 8; ++i) bench.post(0);
  REQUIRE(bench.ring(0));
  bench.run(100);
  CHECK(rows.held[0].size() == 8);
  CHECK(rows.held[2].size() == 1);

  // The marker waits behind what waits: the ring takes no doorbell and no other order until it is open.
  REQUIRE(bench.close(0));
  rows.set_up(0, false);
  rows.stands = true;
  bench.make_sq(0, 3, 0);
  CHECK(bench.read(sq_at(0) + Control) == Opening);
  CHECK(!bench.write(sq_at(0) + Bell, 1));
  CHECK(!bench.write(sq_at(0) + Control, 0));
  CHECK(!bench.write(sq_at(0) + Control, 1));
  CHECK(!bench.write(sq_at(0) + Config, 1));
  CHECK(bench.read(sq_at(0) + Status) == Off);
  CHECK(bench.write(sq_at(0) + Status, Off));
  CHECK(bench.read(sq_at(0) + Control) == Opening);
  rows.stands = false;
  bench.run(30);
  CHECK(bench.read(sq_at(0) + Control) == Open);
  CHECK(bench.markers == 2);
  // With nothing held there is no marker.
  REQUIRE(bench.close(0));
  bench.make_sq(0, 3, 0);
  CHECK(bench.markers == 2);
  CHECK(bench.read(sq_at(0) + Control) == Open);
  CHECK(bench.top->error_o == 0);
  CHECK(rows.blocked == 0);
}

TEST_CASE("the ring of a living QP is not opened while something is held", "[fpga][rings]") {
  Rows rows(5);
  Bench bench(5, rows);
  open_all(bench, rows, 4, 6);
  for (unsigned i = 0; i < 3; ++i) bench.post(3);
  REQUIRE(bench.ring(3));
  bench.run(60);
  REQUIRE(bench.close(3));
  bench.make_sq(3, 4, 1);
  bench.run(30);
  CHECK(bench.markers == 1);
  CHECK(bench.read(sq_at(3) + Control) == 0);
  CHECK(bench.read(sq_at(3) + Status) == Live);
  CHECK(bench.top->error_o == 1);
  CHECK(bench.read(sq_at(3) + Last) == 3);
  CHECK(bench.write(sq_at(3) + Status, Live));
  CHECK(bench.top->error_o == 0);
  rows.completes = 1.0;
  bench.run(60);
  CHECK(bench.read(sq_at(3) + Last) == 0);
  bench.make_sq(3, 4, 1);
  CHECK(bench.read(sq_at(3) + Control) == Open);
  bench.post(3);
  REQUIRE(bench.ring(3));
  bench.run(60);
  CHECK(rows.completed == 4);
}

TEST_CASE("doorbells that jump are refused", "[fpga][rings]") {
  Rows rows(6);
  Bench bench(6, rows);
  bench.make_cq(0, 2);
  rows.set_up(0, true);
  // Of a closed ring.
  CHECK(!bench.write(sq_at(0) + Bell, 0));
  CHECK(bench.read(sq_at(0) + Status) == Off);
  CHECK(!bench.write(cq_at(1) + Bell, 0));
  CHECK(bench.read(cq_at(1) + Status) == Off);
  CHECK(bench.top->error_o == 1);
  CHECK(bench.write(sq_at(0) + Status, 0xf));
  CHECK(bench.top->error_o == 1);
  CHECK(bench.write(cq_at(1) + Status, 0xf));
  CHECK(bench.top->error_o == 0);

  bench.make_sq(0, 3, 0);
  const auto refused = [&](uint32_t producer) {
    CHECK(!bench.write(sq_at(0) + Bell, producer));
    CHECK(bench.read(sq_at(0) + Status) == Jump);
    CHECK(bench.write(sq_at(0) + Status, Jump));
    CHECK(bench.read(sq_at(0) + Control) == Open);
  };
  refused(9);
  refused(0xffff);
  refused(0x10000);
  for (unsigned i = 0; i < 8; ++i) bench.post(0);
  CHECK(bench.write(sq_at(0) + Bell, 4));
  CHECK(bench.write(sq_at(0) + Bell, 4));  // nothing new is nothing wrong
  bench.run(60);
  CHECK(rows.held[0].size() == 4);
  refused(3);
  refused(13);
  CHECK(bench.write(sq_at(0) + Bell, 8));
  bench.run(60);
  CHECK(rows.held[0].size() == 8);
  // All has left the ring: 8 more may be posted.
  bench.sqs[0].consumer = 8;
  for (unsigned i = 0; i < 8; ++i) bench.post(0);
  refused(17);
  CHECK(bench.write(sq_at(0) + Bell, 16));
  refused(17);

  // Consumers: not beyond what was written, not back.
  for (unsigned i = 0; i < 3; ++i) {
    rows.complete(0);
    bench.run(20);
  }
  const auto jumps = [&](uint32_t consumer) {
    CHECK(!bench.write(cq_at(0) + Bell, consumer));
    CHECK(bench.read(cq_at(0) + Status) == Jump);
    CHECK(bench.write(cq_at(0) + Status, Jump));
  };
  jumps(4);
  jumps(0xffff);
  jumps(0x10001);
  CHECK(bench.write(cq_at(0) + Bell, 2));
  jumps(1);
  jumps(4);
  CHECK(bench.write(cq_at(0) + Bell, 3));
  CHECK(bench.read(cq_at(0) + Bell) == 3);
  CHECK(bench.top->error_o == 0);
}

TEST_CASE("rings of every size lose nothing, also when indices wrap around", "[fpga][rings]") {
  for (unsigned log = 0; log <= 14; ++log) {
    CAPTURE(log);
    Rows rows(log);
    Bench bench(log, rows);
    rows.completes = 1.0;
    bench.make_cq(1, log);
    rows.set_up(1, true);
    bench.make_sq(1, log, 1);
    // Once around the indices where slots are few or many; elsewhere a few laps.
    const uint64_t goal = log == 3 || log == 14 ? 70'000 : 6 * (uint64_t{1} << log);
    for (uint64_t sent = 0; bench.cqs[1].taken < goal;) {
      const unsigned n = std::min<unsigned>(bench.slots(1), static_cast<unsigned>(bench.rng.between(1, 1u << log)));
      for (unsigned i = 0; i < n && sent < goal; ++i, ++sent) bench.post(1);
      REQUIRE(bench.ring(1));
      bench.run(static_cast<unsigned>(bench.rng.below(std::min(2u << log, 500u))));
      bench.drain(1);
    }
    CHECK(rows.completed == goal);
    CHECK(bench.read(sq_at(1) + Other) == (goal & 0xffff));
    CHECK(bench.read(cq_at(1) + Other) == (goal & 0xffff));
    CHECK(bench.top->error_o == 0);
    CHECK(rows.blocked == 0);
  }
}

TEST_CASE("a full completion ring is not overwritten, and stops the others", "[fpga][rings]") {
  Rows rows(7);
  Bench bench(7, rows);
  for (unsigned q = 0; q < kQps; ++q) rows.set_up(q, true);
  bench.make_cq(0, 2);
  bench.make_cq(1, 5);
  for (unsigned q = 0; q < kQps; ++q) bench.make_sq(q, 4, q % kCqs);
  for (unsigned i = 0; i < 8; ++i) bench.post(0);
  for (unsigned i = 0; i < 6; ++i) bench.post(1);
  REQUIRE(bench.ring(0));
  REQUIRE(bench.ring(1));
  bench.run(60);
  rows.stuck[1] = true;
  rows.completes = 1.0;
  bench.run(100);
  CHECK(bench.cqs[0].written == 4);
  CHECK(rows.held[0].size() < 4);
  // Of the other ring none comes any more: completions wait in one queue.
  rows.stuck[1] = false;
  bench.run(100);
  CHECK(bench.cqs[1].written == 0);
  CHECK(bench.read(cq_at(0) + Other) == 4);
  // What the host has seen and not told does not count.
  while (bench.poll(0)) {
  }
  bench.run(50);
  CHECK(bench.cqs[0].written == 4);
  REQUIRE(bench.write(cq_at(0) + Bell, 1));
  bench.run(50);
  CHECK(bench.cqs[0].written == 5);
  for (unsigned i = 0; i < 10; ++i) {
    bench.drain(0);
    bench.run(50);
  }
  bench.drain(1);
  CHECK(bench.cqs[0].taken == 8);
  CHECK(bench.cqs[1].taken == 6);
  CHECK(rows.idle());
  CHECK(bench.top->error_o == 0);
}

TEST_CASE("completions of a closed ring are dropped and told", "[fpga][rings]") {
  Rows rows(8);
  Bench bench(8, rows);
  open_all(bench, rows, 4, 5);
  rows.completes = 1.0;
  REQUIRE(bench.write(cq_at(1) + Control, 0));
  bench.cqs[1].closed = true;
  for (unsigned q = 0; q < kQps; ++q) {
    for (unsigned i = 0; i < 5; ++i) bench.post(q);
    REQUIRE(bench.ring(q));
  }
  bench.run(300);
  bench.drain(0);
  CHECK(bench.cqs[0].taken == 10);
  CHECK(bench.cqs[1].written == 0);
  CHECK(bench.read(cq_at(1) + Status) == Lost);
  CHECK(bench.read(cq_at(0) + Status) == 0);
  CHECK(bench.read(kFree) == kNumWqes - kQps);
  // Open again, from its first slot on.
  bench.make_cq(1, 5);
  CHECK(bench.write(cq_at(1) + Status, Lost));
  for (unsigned q = 0; q < kQps; ++q) bench.post(q);
  for (unsigned q = 0; q < kQps; ++q) REQUIRE(bench.ring(q));
  bench.run(100);
  bench.drain(1);
  CHECK(bench.cqs[1].taken == 2);
  CHECK(bench.top->error_o == 0);
}

TEST_CASE("a descriptor that cannot be read closes its ring", "[fpga][rings]") {
  for (unsigned at = 0; at < 8; ++at) {
    CAPTURE(at);
    Rows rows(at);
    Bench bench(at, rows);
    open_all(bench, rows, 3, 5);
    bench.latency = at % 2 == 0 ? 0 : 20;
    bench.bad_reads = {bench.sqs[2].base + 64 * at};
    for (unsigned i = 0; i < 8; ++i) bench.post(2);
    for (unsigned i = 0; i < 5; ++i) bench.post(1);
    REQUIRE(bench.ring(2));
    REQUIRE(bench.ring(1));
    bench.run(300);
    CHECK(bench.sqs[2].sent == at);
    CHECK(bench.sqs[1].sent == 5);
    CHECK(bench.read(sq_at(2) + Control) == 0);
    CHECK(bench.read(sq_at(2) + Status) == Failed);
    CHECK(bench.read(sq_at(2) + Other) == at);
    CHECK(bench.read(sq_at(2) + Bell) == 8);
    CHECK(bench.read(sq_at(2) + Last) == at);
    CHECK(bench.read(kFree) == kNumWqes - kQps - at - 5);
    CHECK(bench.top->error_o == 1);
    rows.completes = 1.0;
    bench.run(100);
    CHECK(rows.completed == at + 5);
    CHECK(bench.write(sq_at(2) + Status, Failed));
    bench.bad_reads.clear();
    bench.make_sq(2, 3, 0);
    for (unsigned i = 0; i < 8; ++i) bench.post(2);
    REQUIRE(bench.ring(2));
    bench.run(300);
    CHECK(rows.completed == at + 13);
    CHECK(bench.read(kFree) == kNumWqes - kQps);
    CHECK(bench.top->error_o == 0);
    CHECK(rows.blocked == 0);
  }
}

TEST_CASE("an entry that cannot be written is told", "[fpga][rings]") {
  Rows rows(9);
  Bench bench(9, rows);
  open_all(bench, rows, 3, 3);
  rows.completes = 1.0;
  bench.bad_writes = {bench.cqs[1].base + 32 * 2};
  for (unsigned i = 0; i < 6; ++i) bench.post(1);
  REQUIRE(bench.ring(1));
  bench.run(200);
  CHECK(bench.cqs[1].written == 6);
  CHECK(bench.read(cq_at(1) + Other) == 6);
  CHECK(bench.read(cq_at(1) + Status) == Failed);
  CHECK(bench.read(cq_at(0) + Status) == 0);
  CHECK(bench.poll(1));
  CHECK(bench.poll(1));
  CHECK(!bench.poll(1));
  // The host, who knows from STATUS, goes over it.
  bench.cqs[1].expected.pop_front();
  ++bench.cqs[1].consumer;
  for (unsigned i = 0; i < 3; ++i) CHECK(bench.poll(1));
  CHECK(bench.write(cq_at(1) + Bell, 6));
  CHECK(bench.write(cq_at(1) + Status, Failed));
  CHECK(bench.top->error_o == 0);
}

TEST_CASE("memory that is slow, or stands, holds what needs it and nothing else", "[fpga][rings]") {
  Rows rows(10);
  Bench bench(10, rows);
  open_all(bench, rows, 4, 5);
  // Reads stand: no more than Reads are asked for; completions go on.
  bench.latency = 1000;
  for (unsigned q = 0; q < kQps; ++q) {
    for (unsigned i = 0; i < 6; ++i) bench.post(q);
    REQUIRE(bench.ring(q));
  }
  bench.run(300);
  CHECK(bench.most_reads == kReads);
  CHECK(bench.read(kFree) == kNumWqes - kQps - kReads);
  rows.receive(0);
  bench.run(100);
  CHECK(bench.cqs[0].written == 1);
  CHECK(bench.read(sq_at(0) + Last) > 0);
  // A ring that is closed meanwhile stays busy, and is not opened.
  REQUIRE(bench.close(0));
  CHECK(bench.read(sq_at(0) + Control) == Busy);
  CHECK(!bench.write(sq_at(0) + Control, 1));
  bench.run(1000);
  bench.latency = 0;
  bench.run(1200);
  CHECK(bench.read(sq_at(0) + Control) == 0);
  CHECK(bench.sqs[0].sent == 0);
  CHECK(bench.read(sq_at(0) + Last) == 0);
  for (unsigned q = 1; q < kQps; ++q) CHECK(rows.held[q].size() >= 4);

  // Writes stand: no more than Writes are asked for and as many wait; reads go on.
  bench.drain(0);
  bench.writes_stand = true;
  for (unsigned i = 0; i < 14; ++i) {
    rows.complete(1 + i % 3);
    bench.run(10);
  }
  bench.run(100);
  CHECK(bench.read(cq_at(0) + Control) == (Busy | Open));
  CHECK(bench.read(cq_at(1) + Other) == 0);
  REQUIRE(bench.write(cq_at(1) + Control, 0));
  CHECK(!bench.write(cq_at(1) + Control, 1));
  CHECK(bench.read(cq_at(1) + Control) == Busy);
  bench.cqs[1].closed = true;
  bench.bad_writes.clear();
  const auto before = bench.most_reads;
  bench.make_sq(0, 4, 0);
  bench.post(0);
  REQUIRE(bench.ring(0));
  bench.run(60);
  CHECK(bench.most_reads == before);
  CHECK(rows.held[0].size() == 1);
  bench.writes_stand = false;
  bench.latency = 300;
  rows.completes = 1.0;
  bench.run(3000);
  CHECK(bench.most_writes == kWrites);
  CHECK(bench.read(cq_at(1) + Control) == 0);
  CHECK(bench.read(kFree) == kNumWqes - kQps);
  CHECK(rows.blocked == 0);
}

TEST_CASE("strays are told, and change nothing", "[fpga][rings]") {
  Rows rows(11);
  Bench bench(11, rows);
  open_all(bench, rows, 4, 5);
  bench.stray_r = true;
  bench.run(1);
  bench.stray_r = false;
  bench.run(5);
  CHECK(bench.read(kStatus) == 2);
  CHECK(bench.write(kStatus, 1));
  CHECK(bench.read(kStatus) == 2);
  CHECK(bench.write(kStatus, 2));
  CHECK(bench.read(kStatus) == 0);
  bench.stray_b = true;
  bench.run(1);
  bench.stray_b = false;
  CHECK(bench.read(kStatus) == 2);
  CHECK(bench.top->error_o == 1);
  CHECK(bench.write(kStatus, 3));
  // A completion of a QP that holds nothing is written, and gives no credit.
  Cqe cqe;
  cqe.qp = 1;
  cqe.wr_id = 99;
  rows.invent(cqe);
  bench.run(30);
  CHECK(bench.read(kStatus) == 1);
  CHECK(bench.read(kFree) == kNumWqes - kQps);
  CHECK(bench.read(sq_at(1) + Last) == 0);
  CHECK(bench.poll(1));
  CHECK(bench.write(kStatus, 1));
  // The answer to a marker that nobody sent.
  cqe.qp = 1u << 18 | 2;  // QP 2, and the bit of a marker
  cqe.status = static_cast<CqStatus>(kLocState);
  rows.invent(cqe);
  bench.run(30);
  CHECK(bench.read(kStatus) == 1);
  CHECK(bench.read(sq_at(2) + Control) == Open);
  CHECK(bench.cqs[0].written == 0);
  bench.post(2);
  REQUIRE(bench.ring(2));
  bench.run(30);
  CHECK(rows.held[2].size() == 1);
}

TEST_CASE("an interrupt comes once for each time it is armed", "[fpga][rings]") {
  Rows rows(12);
  Bench bench(12, rows);
  open_all(bench, rows, 4, 4);
  const auto arm = [&](unsigned c, unsigned how) { REQUIRE(bench.write(cq_at(c) + Last, how)); };
  rows.receive(0);
  bench.run(40);
  CHECK(bench.irqs[0] == 0);  // not armed
  CHECK(bench.read(cq_at(0) + Last) == 0);
  arm(0, 1);  // armed late: there is one already
  bench.run(3);
  CHECK(bench.irqs[0] == 1);
  CHECK(bench.top->irq_o == 1);
  CHECK(bench.read(cq_at(0) + Last) == 2);
  rows.receive(0);
  bench.run(40);
  CHECK(bench.irqs[0] == 1);
  CHECK(bench.top->irq_o == 1);
  arm(0, 0);
  bench.run(10);
  CHECK(bench.top->irq_o == 0);
  bench.drain(0);
  arm(0, 1);
  arm(1, 1);
  bench.run(40);
  CHECK(bench.top->irq_o == 0);
  CHECK(bench.read(cq_at(0) + Last) == 1);
  // Not before the answer to the write, however long the host can see the entry.
  bench.latency = 200;
  rows.receive(1);
  bench.run(100);
  CHECK(bench.poll(1));
  CHECK(bench.top->irq_o == 0);
  bench.run(200);
  CHECK(bench.top->irq_o == 2);
  CHECK(bench.read(cq_at(1) + Last) == 2);
  // What the host takes before the answer comes is no reason any more.
  REQUIRE(bench.write(cq_at(1) + Bell, 1));
  arm(1, 1);
  rows.receive(1);
  bench.run(100);
  bench.drain(1);
  bench.run(300);
  CHECK(bench.top->irq_o == 0);
  CHECK(bench.irqs[0] == 1);
  CHECK(bench.irqs[1] == 1);
}

TEST_CASE("every word of the rings' registers is as the contract says", "[fpga][rings]") {
  Rows rows(13);
  Bench bench(13, rows);
  enum class Word { None, Ro, Rw };
  const auto kind = [](unsigned word) {
    const unsigned offset = 4 * word, reg = offset & 0x1c;
    if (offset < 0x20) return offset == kStatus ? Word::Rw : Word::Ro;
    const bool cq = offset >= 0x200 && offset < 0x200 + 0x20 * kCqs;
    const bool sq = offset >= 0x1000 && offset < 0x1000 + 0x20 * kQps;
    if (!cq && !sq) return Word::None;
    return reg == Other || (sq && reg == Last) ? Word::Ro : Word::Rw;
  };
  for (unsigned word = 0; word < 1 << 11; ++word) {
    CAPTURE(word);
    const auto offset = static_cast<uint16_t>(4 * word);
    CHECK(bench.read(offset).has_value() == (kind(word) != Word::None));
    // Without all strobes, and where nothing can be written: refused, whatever the word.
    CHECK(!bench.write(offset, 1, 0x7));
    CHECK(!bench.write(offset, 1, 0));
    if (kind(word) != Word::Rw) CHECK(!bench.write(offset, 0));
  }
  CHECK(bench.top->error_o == 0);
  CHECK(bench.read(0) == 0x4d524352);
  CHECK(bench.read(4) == 0x100);
  CHECK(bench.read(8) == 0x2000);
  CHECK(bench.read(12) == 0x5000);
  CHECK(bench.read(0x10) == (kCqs << 16 | kQps));
  CHECK(bench.read(0x14) == ((kNumWqes - kQps) << 16 | kWqeDepth));
  CHECK(bench.read(kFree) == kNumWqes - kQps);
  for (unsigned i = 0; i < kQps + kCqs; ++i) {
    CAPTURE(i);
    const bool sq = i < kQps;
    const uint16_t at = sq ? sq_at(i) : cq_at(i - kQps);
    const auto write = [&](uint16_t reg, uint32_t data) { return bench.write(static_cast<uint16_t>(at + reg), data); };
    const auto read = [&](uint16_t reg) { return bench.read(static_cast<uint16_t>(at + reg)); };
    CHECK(read(Control) == 0);
    CHECK(read(Status) == 0);
    CHECK(read(Bell) == 0);
    CHECK(read(Other) == 0);
    CHECK(read(Last) == 0);
    CHECK(write(BaseLo, 0xfedcba98));
    CHECK(read(BaseLo) == 0xfedcba80);
    CHECK(write(BaseHi, 0x76543210 + i));
    CHECK(read(BaseHi) == 0x76543210 + i);
    for (const unsigned log : {0u, 14u, 15u}) {
      CHECK(write(Config, log) == (log != 15));
      CHECK(read(Config) == std::min(log, 14u));
    }
    CHECK(write(Config, 0x103) == true);
    CHECK(read(Config) == (sq ? 0x103 : 0x003));
    if (sq) {
      CHECK(!write(Config, 0x203));  // no such completion ring
      CHECK(read(Config) == 0x103);
    }
    CHECK(write(Control, 0));
    CHECK(write(Control, 1));
    CHECK(read(Control) == Open);
    CHECK(!write(Control, 1));
    CHECK(!write(BaseLo, 0));
    CHECK(!write(BaseHi, 0));
    CHECK(!write(Config, 0));
    CHECK(read(BaseLo) == 0xfedcba80);
    CHECK(read(BaseHi) == 0x76543210 + i);
    CHECK(write(Control, 0));
    CHECK(write(Status, 0xf));
  }
}

TEST_CASE("random doorbells, completions, failures: every work request once and in order", "[fpga][rings]") {
  uint64_t completed = 0, forgotten = 0, markers = 0, failures = 0, interrupts = 0, background = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    CAPTURE(seed);
    Rows rows(seed);
    Bench bench(seed, rows);
    Rng& rng = bench.rng;
    open_all(bench, rows, static_cast<unsigned>(rng.between(0, 6)), static_cast<unsigned>(rng.between(1, 6)));
    rows.completes = rng.chance(0.5) ? 0.9 : 0.05;
    rows.receives = rng.chance(0.5) ? 0.1 : 0.0;
    rows.offers = rng.chance(0.5) ? 1.0 : 0.3;
    bench.takes = rng.chance(0.5) ? 1.0 : 0.2;
    bench.gives = rng.chance(0.5) ? 1.0 : 0.2;
    bench.reader = rng.chance(0.5);
    const auto random_qp = [&] { return static_cast<unsigned>(rng.below(kQps)); };
    // The host sets the QP up anew, as the contract says. Whatever was posted and not taken is no more.
    const auto renew = [&](unsigned q) {
      for (unsigned i = 0; (*bench.read(sq_at(q) + Control) & Busy) != 0; ++i) {
        REQUIRE(i < 2000);
        for (unsigned c = 0; c < kCqs; ++c) bench.drain(c);
        bench.run(10);
      }
      rows.rts[q] = false;
      if (rng.chance(0.5)) bench.run(20);
      rows.set_up(q, false);
      bench.make_sq(q, static_cast<unsigned>(rng.between(0, 6)), q % kCqs);
      for (unsigned i = 0; (*bench.read(sq_at(q) + Control) & Open) == 0; ++i) {
        REQUIRE(i < 2000);
        for (unsigned c = 0; c < kCqs; ++c) bench.drain(c);
      }
      rows.rts[q] = true;
    };
    for (unsigned step = 0; step < 5000; ++step) {
      const unsigned q = random_qp();
      if (rng.chance(0.01)) rows.stuck[q] = !rows.stuck[q];
      if (rng.chance(0.02)) bench.latency = static_cast<unsigned>(rng.below(60));
      if (rng.chance(0.6)) {
        const auto n = rng.below(bench.slots(q) + 1);
        for (uint64_t i = 0; i < n; ++i) {
          if (rng.chance(0.002)) {
            const unsigned mask = (1u << bench.sqs[q].log) - 1;
            bench.bad_reads.insert(bench.sqs[q].base + 64 * (bench.sqs[q].producer & mask));
          }
          bench.post(q, rng.chance(0.05) ? 0 : static_cast<uint32_t>(rng.between(1, 9999)));
        }
        // A ring that has failed meanwhile refuses.
        if (!bench.ring(q)) REQUIRE((*bench.read(sq_at(q) + Status) & (Off | Failed)) == (Off | Failed));
      }
      if (rng.chance(0.3)) bench.drain(static_cast<unsigned>(rng.below(kCqs)));
      if (rng.chance(0.1)) bench.write(cq_at(static_cast<unsigned>(rng.below(kCqs))) + Last, 1);
      if (rng.chance(0.2)) bench.run(static_cast<unsigned>(rng.below(40)));
      const auto status = *bench.read(sq_at(q) + Status);
      if ((status & Failed) != 0 || rng.chance(0.003)) {
        failures += (status & Failed) != 0;
        REQUIRE((status & ~unsigned{Off | Failed}) == 0);
        REQUIRE(bench.close(q));
        bench.bad_reads.clear();
        renew(q);
        REQUIRE(bench.write(sq_at(q) + Status, 0xf));
      }
    }
    // All comes to its end, but for rings that failed: credit is whole again.
    rows.stuck.fill(false);
    rows.completes = 1.0;
    rows.receives = 0.0;
    for (unsigned i = 0; i < 500; ++i) {
      bench.run(20);
      for (unsigned c = 0; c < kCqs; ++c) bench.drain(c);
    }
    CHECK(rows.idle());
    CHECK(bench.read(kFree) == kNumWqes - kQps);
    CHECK(bench.read(kStatus) == 0);
    for (unsigned q = 0; q < kQps; ++q) {
      CHECK(bench.read(sq_at(q) + Last) == 0);
      if ((*bench.read(sq_at(q) + Status) & Failed) == 0) CHECK(bench.read(sq_at(q) + Other) == bench.sqs[q].producer);
    }
    for (unsigned c = 0; c < kCqs; ++c) {
      CHECK(bench.cqs[c].expected.empty());
      interrupts += bench.irqs[c];
    }
    CHECK(rows.blocked == 0);
    completed += rows.completed;
    forgotten += rows.forgotten;
    markers += bench.markers;
    background += bench.background;
  }
  CHECK(failed_assertions() == std::vector<std::string>{});
  CHECK(completed > 20'000);
  CHECK(forgotten > 100);
  CHECK(markers > 50);
  CHECK(failures > 10);
  CHECK(interrupts > 100);
  CHECK(background > 10'000);
}

}  // namespace mrc::test::rings_test

// SPDX-License-Identifier: Apache-2.0
// fpga/rtl/mrc_fpga_rings.sv with a core that takes work requests by the rules of Intake
// (docs/blocks/tx/segment/tx_segment.md) and completes them when the test wants it. A work request that the core would
// leave at the head of its input fails the test.
#include <catch2/catch_test_macros.hpp>
#include <deque>
#include <string>
#include <vector>

#include "tests/fpga/hooks.hpp"
#include "tests/fpga/rings_bench.hpp"

using namespace mrc;
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
    cqe.qp = static_cast<uint16_t>(q);
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
    cqe.qp = static_cast<uint16_t>(q);
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
      const bool room = free > 0 && held[q].size() < kWqeDepth && (free > kNumWqes / 4 || held[q].size() < 2);
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
  CHECK(failed_assertions() == std::vector<std::string>{});
}

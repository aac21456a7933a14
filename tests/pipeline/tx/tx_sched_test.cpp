// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/tx_sched.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <utility>
#include <vector>

#include "gen/csr.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::tx_sched_test {
namespace {

/// tx_sched alone, its grants taken at once. fpga100: 16 QPs, 16 destinations. QP q goes to destination q / 4.
struct Bench : BlockBench<Bench> {
  Preset preset = *find_preset("fpga100");
  Stream<Sched> push;
  Stream<Grant> park;
  Stream<Ccresume> resume;
  Fifo<Grant> grant{2};
  TxSched sched{preset, push, park, resume, grant};
  bool take = true;
  std::vector<unsigned> granted;
  std::function<void(QpIndex)> on_grant;

  Bench() {
    for (unsigned q = 0; q < 16; ++q) bind(q, static_cast<uint8_t>(q / 4));
  }
  void bind(unsigned q, uint8_t dest) {
    csr::TblQpCtx row{.dest = dest};
    REQUIRE(configure(CfgTable::QpCtx, q, row) == 1);
  }
  bool cfg_ack() const { return sched.cfg_ack(); }
  void cycle() {
    if (grant.valid() && take) {
      const QpIndex qp = grant.head().qp;
      granted.push_back(qp);
      grant.pop();
      if (on_grant) on_grant(qp);
    }
    sched.step(cfg);
    clock_all(sched, push, park, resume, grant);
    ++cycles;
  }
  void give_push(QpIndex qp, bool more) {
    push.load({.qp = qp, .more = more});
    run(6);
  }
  void give_park(QpIndex qp) {
    park.load({.qp = qp});
    run(6);
  }
  void give_resume(uint16_t cc) {
    resume.load({.cc = cc});
    run(6);
  }
  /// What was granted since the last call.
  std::vector<unsigned> news() { return std::exchange(granted, {}); }
};

using Qps = std::vector<unsigned>;

}  // namespace

TEST_CASE("tx_sched: QPs that may send come out in the order in which they came", "[pipeline][tx_sched]") {
  Bench b;
  b.take = false;
  for (const unsigned q : {5u, 1u, 9u, 2u, 14u}) b.give_push(static_cast<QpIndex>(q), true);
  CHECK(b.grant.count() == 2);
  b.take = true;
  b.run(10);
  CHECK(b.news() == Qps{5, 1, 9, 2, 14});
}

TEST_CASE("tx_sched holds every QP at once", "[pipeline][tx_sched]") {
  Bench b;
  b.take = false;
  for (QpIndex q = 0; q < 16; ++q) b.give_push(q, true);
  CHECK_FALSE(b.push.has());
  b.take = true;
  b.run(40);
  REQUIRE(b.granted.size() == 16);
  for (unsigned q = 0; q < 16; ++q) CHECK(b.granted[q] == q);
}

TEST_CASE("tx_sched: a refused QP waits for a wake of its destination and is the first to be woken",
          "[pipeline][tx_sched][waiting]") {
  Bench b;
  b.give_park(4);
  b.give_park(5);
  b.give_park(6);
  b.give_resume(0);  // of another destination
  CHECK(b.news().empty());
  b.give_resume(1);
  CHECK(b.news() == Qps{6});
  b.give_resume(1);
  CHECK(b.news() == Qps{5});
  b.give_resume(1);
  CHECK(b.news() == Qps{4});
  b.give_resume(1);  // nobody: kept
  CHECK(b.news().empty());
}

TEST_CASE("tx_sched: a wake before the park is kept, once", "[pipeline][tx_sched][waiting]") {
  Bench b;
  b.give_resume(2);
  b.give_resume(2);
  CHECK(b.news().empty());
  b.give_park(12);  // destination 3 has no resume
  CHECK(b.news().empty());
  b.give_park(9);
  CHECK(b.news() == Qps{9});
  b.give_park(9);
  CHECK(b.news().empty());
  b.give_resume(2);
  CHECK(b.news() == Qps{9});
  b.give_resume(3);
  CHECK(b.news() == Qps{12});
}

TEST_CASE("tx_sched: who has sent stands behind those who wait, and the first of them asks",
          "[pipeline][tx_sched][waiting]") {
  Bench b;
  b.give_push(0, true);  // nobody waits
  CHECK(b.news() == Qps{0});
  b.give_park(1);
  b.give_push(0, true);  // a list of one: 0 is its new head
  CHECK(b.news() == Qps{1});
  b.give_park(1);        // refused: before 0
  b.give_push(2, true);  // list 1 0 -> 0 2
  CHECK(b.news() == Qps{1});
  b.give_push(3, true);  // 0 2 -> 2 3
  CHECK(b.news() == Qps{0});
  b.give_resume(0);
  CHECK(b.news() == Qps{2});
  b.give_resume(0);
  CHECK(b.news() == Qps{3});
  b.give_push(0, true);  // the list is empty again
  CHECK(b.news() == Qps{0});
}

TEST_CASE("tx_sched: a push with more 0 only passes the turn on", "[pipeline][tx_sched][waiting]") {
  Bench b;
  b.give_push(4, false);
  CHECK(b.news().empty());
  b.give_park(4);
  b.give_park(5);
  b.give_push(6, false);
  CHECK(b.news() == Qps{5});
  b.give_push(8, false);  // another destination
  CHECK(b.news().empty());
  b.give_push(5, false);
  CHECK(b.news() == Qps{4});
  b.give_push(4, false);
  b.give_resume(1);
  CHECK(b.news().empty());
}

TEST_CASE("tx_sched: a list that waits holds no other destination", "[pipeline][tx_sched][waiting]") {
  Bench b;
  for (QpIndex q = 0; q < 4; ++q) b.give_park(q);
  for (unsigned i = 0; i < 3; ++i) {
    b.give_push(7, true);
    b.give_push(12, true);
  }
  CHECK(b.news() == Qps{7, 12, 7, 12, 7, 12});
}

TEST_CASE("tx_sched takes table writes first, then park, wake, push, one per cycle", "[pipeline][tx_sched]") {
  Bench b;
  // Park of 1 before resume before push of 2: 1 waits and is woken, then 2 finds nobody. In any other order the resume
  // were kept, or 2 went first.
  b.cfg.table = static_cast<uint8_t>(CfgTable::Ev);
  b.cfg.req = true;
  b.park.load({.qp = 1});
  b.resume.load({.cc = 0});
  b.push.load({.qp = 2, .more = true});
  b.run(4);
  CHECK(b.sched.cfg_ack());  // of a table that it does not know
  b.run(10);
  CHECK(b.news() == Qps{1, 2});
  b.cfg.req = false;
  b.cycle();
  b.give_park(1);  // no resume was kept
  CHECK(b.news().empty());
  b.park.load({.qp = 3});
  b.push.load({.qp = 2, .more = true});
  b.run(10);  // 3 1, then push: 1 2 and 3 asks
  CHECK(b.news() == Qps{3});
  b.resume.load({.cc = 0});
  b.push.load({.qp = 3, .more = true});
  b.run(10);  // resume: 1 of 1 2; push: 2 of 2, then 3
  CHECK(b.news() == Qps{1, 2});
}

TEST_CASE("tx_sched: a table write costs the cycle in which it is taken", "[pipeline][tx_sched]") {
  Bench b;
  b.take = false;
  b.push.load({.qp = 2, .more = true});
  b.run(2);
  REQUIRE(b.push.has());  // at the head in this cycle
  b.cfg.table = static_cast<uint8_t>(CfgTable::QpState);
  b.cfg.req = true;
  b.cycle();
  CHECK(b.push.has());
  CHECK(b.sched.cfg_ack());
  b.cycle();
  CHECK_FALSE(b.push.has());
}

TEST_CASE("tx_sched: QP_CTX moves a QP to another destination", "[pipeline][tx_sched]") {
  Bench b;
  b.bind(1, 9);
  b.give_park(1);
  b.give_resume(0);
  CHECK(b.news().empty());
  b.give_resume(9);
  CHECK(b.news() == Qps{1});
}

TEST_CASE("tx_sched: three and four QPs of a destination get equal turns over 100 wakes",
          "[pipeline][tx_sched][waiting]") {
  for (const unsigned n : {3u, 4u}) {
    for (const unsigned window : {1u, 2u, 3u, 7u}) {  // packets that a resume makes room for
      INFO(n << " QPs, " << window << " packets per wake");
      Bench b;
      std::vector<unsigned> turns(n);
      unsigned credit = 0;
      bool wants = false;
      // As tx_segment: asks, sends and wants more, or is refused. The answer to a grant goes out before the next one.
      b.on_grant = [&](QpIndex qp) {
        if (credit != 0) {
          --credit;
          ++turns.at(qp);
          b.push.load({.qp = qp, .more = true});
        } else {
          wants = true;
          b.park.load({.qp = qp});
        }
      };
      for (QpIndex q = 0; q < n; ++q) b.give_push(q, true);
      for (unsigned i = 0; i < 100; ++i) {
        b.run(60);
        REQUIRE(wants);
        wants = false;
        credit = window;
        b.give_resume(0);
      }
      b.run(60);
      unsigned sum = 0;
      for (const unsigned t : turns) sum += t;
      CHECK(sum == 100 * window);
      const auto [low, high] = std::minmax_element(turns.begin(), turns.end());
      CHECK(*high - *low <= 1);
    }
  }
}

TEST_CASE("the waves of tx_sched.md: a QP is pushed, granted, parked, and woken", "[pipeline][tx_sched][waves]") {
  Bench b;
  const auto qp = [](const auto& word) { return fmt::format("{}", word.qp); };
  Wave wave("tx_sched", "tx_sched: QP 0 finds the window of destination 0 full and is parked, an event wakes it");
  wave.head("push head", b.push, qp);
  wave.head("park head", b.park, qp);
  wave.head("resume head", b.resume, [](const Ccresume& w) { return fmt::format("dest {}", w.cc); });
  wave.words(
      "grant head", [&] { return b.grant.valid() ? qp(b.grant.head()) : std::string(); }, [] { return true; });
  // tx_segment pushes a QP again when it has been granted and has more to send.
  const unsigned begin = b.cycles;
  for (unsigned i = 0; i < 16; ++i) {
    wave.sample();
    const unsigned now = b.cycles - begin;
    if (now == 0) b.push.load({.qp = 0, .more = true});
    if (now == 1) b.push.load({.qp = 4, .more = true});
    if (now == 5) b.park.load({.qp = 0});
    if (now == 9) b.resume.load({.cc = 0});
    b.cycle();
  }
  CHECK(b.news() == Qps{0, 4, 0});
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::tx_sched_test

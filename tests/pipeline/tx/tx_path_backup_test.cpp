// SPDX-License-Identifier: Apache-2.0
// The backup set, what is lost and what comes back.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

#include "tests/pipeline/tx/tx_path_bench.hpp"

namespace mrc::test::tx_path_backup_test {

using namespace mrc::test::tx_path;

TEST_CASE("tx_path leaves the backup set alone until it is needed", "[pipeline][tx_path]") {
  Bench b(2);  // groups 6 and 7
  CHECK(b.pass(12) == Evs{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(b.pass(12) == Evs{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(b.events.empty());
}

TEST_CASE("tx_path: one loss takes an EV out and a Standby EV of its plane comes in", "[pipeline][tx_path]") {
  Bench b(2);
  // fb in its register, in its FIFO, Idle, Fb, Find, Test, Judge.
  CHECK(b.lose(3) == 7);
  REQUIRE(b.events.size() == 1);
  CHECK(b.events[0] == Evev{.qp = 2, .ev_idx = 3, .state = kEvBad, .floor = false});
  REQUIRE(b.bad.size() == 1);
  CHECK(b.bad[0] == Badev{.qp = 2, .ev_idx = 3, .ev = 0xA013});
  CHECK(b.bads == 1);
  CHECK(b.pass(12) == Evs{0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13});
  b.lose(3);  // it is out already
  CHECK(b.events.size() == 1);
  CHECK(b.lose(5) == 9);  // one group further
  CHECK(b.pass(12) == Evs{0, 1, 2, 4, 6, 7, 8, 9, 10, 11, 13, 15});
  // No Standby EV is left in plane 1; those of plane 0 do not stand in.
  CHECK(b.lose(13) == 9);
  CHECK(b.pass(11) == Evs{0, 1, 2, 4, 6, 7, 8, 9, 10, 11, 15});
  CHECK(b.lose(4) == 7);
  CHECK(b.pass(11) == Evs{0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 15});
  CHECK(b.bads == 4);
  CHECK(b.floors == 0);
}

TEST_CASE("tx_path: a revived EV sends a backup EV of its plane back", "[pipeline][tx_path]") {
  Bench b(2);
  b.lose(3);
  b.lose(5);
  b.lose(7);  // nothing stands in
  CHECK(b.pass(11) == Evs{0, 1, 2, 4, 6, 8, 9, 10, 11, 13, 15});
  CHECK(b.revive(3) == 4);  // pfb in its register, in its FIFO, Idle, Fb
  CHECK(b.events.back() == Evev{.qp = 2, .ev_idx = 3, .state = kEvGood, .floor = false});
  CHECK(b.pass(11) == Evs{0, 1, 2, 3, 4, 6, 8, 9, 10, 11, 15});
  b.revive(3);  // it is in use
  b.revive(0);
  CHECK(b.events.size() == 4);
  b.revive(5, true);  // to SKIP: the walk restores it before a packet uses it
  CHECK(b.events.back() == Evev{.qp = 2, .ev_idx = 5, .state = kEvGood, .floor = false});
  CHECK(b.pass(10) == Evs{0, 1, 2, 3, 4, 6, 8, 9, 10, 11});
  b.revive(7);
  Evs seen;  // EV 7 may still belong to the pass that is not over: 24 packets hold a whole one in any case
  for (int i = 0; i < 24; ++i) seen.insert(b.send_one());
  CHECK(seen == Evs{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(b.bad.size() == 3);
}

TEST_CASE("tx_path: an EV of the backup set that revives does not send itself back first", "[pipeline][tx_path]") {
  Bench b(2);
  b.lose(3);   // 13 comes in
  b.lose(13);  // 15 comes in
  CHECK(b.pass(12) == Evs{0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 15});
  b.revive(13);  // 15 goes back
  CHECK(b.pass(12) == Evs{0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13});
  b.revive(3);
  CHECK(b.pass(12) == Evs{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("tx_path: at the floor an EV stays in use as it was, and an event tells", "[pipeline][tx_path]") {
  Bench b;
  b.csr.ev_min_active = 14;
  CHECK(b.lose(0) == 5);  // Idle, Fb, Judge
  b.lose(1);
  CHECK(b.bads == 2);
  b.feed_back(2, 0xA012);  // SKIP
  b.lose(2);
  CHECK(b.floors == 1);
  CHECK(b.bads == 2);
  REQUIRE(b.events.size() == 3);
  CHECK(b.events[2] == Evev{.qp = 2, .ev_idx = 2, .state = kEvBad, .floor = true});
  for (const Badev& bad : b.bad) CHECK(bad.ev_idx < 2);
  CHECK(b.send_one() == 3);
  CHECK(b.send_one() == 7);  // 2 was SKIP still, and is restored; 1 and 0 are out
  for (int i = 0; i < 11; ++i) b.send_one();
  CHECK(b.pass(14) == Evs{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  b.revive(0);  // fifteen in use: one may go again
  b.lose(2);
  CHECK(b.bads == 3);
  b.lose(3);
  CHECK(b.floors == 2);
  b.csr.ev_min_active = 0;
  for (uint16_t i = 0; i < 16; ++i) b.lose(i);
  CHECK(b.bads == 3 + 14);  // nothing holds them any more
  CHECK(b.floors == 2);
}

TEST_CASE("tx_path: ALWAYS_SKIP is as bad as a loss, if the profile still holds that entropy", "[pipeline][tx_path]") {
  Bench b;
  b.feed_back(6, 0xA017, FbKind::AlwaysSkip);
  CHECK(b.bads == 0);
  b.feed_back(6, 0xA016, FbKind::AlwaysSkip);
  CHECK(b.bads == 1);
  CHECK(b.pass(15).count(6) == 0);
}

TEST_CASE("tx_path: events that nobody takes hold feedback up, not packets", "[pipeline][tx_path]") {
  Bench b;
  b.csr.ev_min_active = 0;
  b.take_events = false;
  for (uint16_t i = 0; i < 5; ++i) b.lose(i);
  CHECK(b.bads == 3);  // two events in the FIFO, one in the register
  CHECK(b.pass(13) == Evs{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  b.set_up(1, 0);
  const std::size_t from = b.recs.size();
  b.stream(std::vector<Pkt>(40, packet(1)));
  for (const unsigned g : b.gaps(from)) CHECK(g == 1);  // the feedback waits at the door and costs nothing
  CHECK(b.bads == 3);
  b.take_events = true;
  b.settle();
  CHECK(b.bads == 5);
  CHECK(b.events.size() == 5);
}

TEST_CASE("tx_path: with the backup set in use planes stay equally loaded", "[pipeline][tx_path]") {
  Bench b(3);
  for (const unsigned ev : {1, 3, 5}) b.lose(static_cast<uint16_t>(ev));  // three of plane 1
  b.lose(0);
  unsigned plane[2] = {};
  for (int i = 0; i < 100; ++i) ++plane[b.send_one() % 2];
  CHECK(plane[0] == 50);
  CHECK(plane[1] == 50);
}

TEST_CASE("tx_path: setting a QP up again makes its EVs as new", "[pipeline][tx_path]") {
  Bench b(2);
  b.lose(3);
  csr::TblQpCtx row{.profile = 1, .backup = 1};
  std::array<uint32_t, 16> w{};
  row.pack(w.data());
  b.configure(CfgTable::QpCtx, 2, w);
  CHECK(b.pass(14) == Evs{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
}

/// Cycles of a round through the 16 EVs of a QP.
constexpr unsigned kRound = 64 * 16;

/// An EV of a QP loses a packet.
void lose(Bench& b, unsigned qp, unsigned ev_idx) {
  b.fb.load({.qp = static_cast<QpIndex>(qp), .ev_idx = static_cast<uint16_t>(ev_idx), .kind = FbKind::Loss});
  b.settle();
}

TEST_CASE("an EV that is out of use is offered to the probes again, once in 64 cycles per EV of QPs that have one",
          "[pipeline][tx_path]") {
  Bench b;
  b.lose(5);
  REQUIRE(b.bad.size() == 1);
  for (unsigned i = 0; i < kRound; ++i) b.cycle();
  REQUIRE(b.bad.size() == 2);
  CHECK(b.bad[1].qp == 2);
  CHECK(b.bad[1].ev_idx == 5);
  CHECK(b.bad[1].ev == 0xA000 + 16 + 5);
  CHECK(b.events.size() == 1);  // no new event
  CHECK(b.bads == 1);
  std::vector<unsigned> at;
  while (at.size() < 4) {
    const std::size_t n = b.bad.size();
    b.cycle();
    if (b.bad.size() != n) at.push_back(b.cycles);
  }
  for (std::size_t i = 1; i < at.size(); ++i) CHECK(at[i] - at[i - 1] == kRound);
  b.revive(5);
  const std::size_t n = b.bad.size();
  for (unsigned i = 0; i < 2 * kRound; ++i) b.cycle();
  CHECK(b.bad.size() == n);
}

TEST_CASE("tx_path: who has no EV out of use is not scrubbed", "[pipeline][tx_path]") {
  Bench b;
  b.set_up(0, 1);
  for (unsigned i = 0; i < 5 * kRound; ++i) b.cycle();
  CHECK(b.bad.empty());
  lose(b, 0, 3);
  CHECK(b.bad.size() == 1);
  // Back before its round is over: one round more finds nothing. Then the next EV that goes bad has a round at once.
  b.pfb.load({.qp = 0, .ev_idx = 3, .kind = FbKind::RevivedGood});
  for (unsigned i = 0; i < 3 * kRound; ++i) b.cycle();
  CHECK(b.bad.size() == 1);
  lose(b, 2, 0);
  CHECK(b.bad.size() == 3);  // Judge, and the first look of the round
  CHECK(b.bad[2].qp == 2);
}

TEST_CASE("tx_path: QPs with EVs out of use have their rounds in turn", "[pipeline][tx_path]") {
  Bench b;
  for (const unsigned qp : {0u, 1u, 3u}) b.set_up(qp, 1);
  lose(b, 2, 7);  // its round begins
  lose(b, 1, 7);
  lose(b, 0, 7);
  lose(b, 3, 7);
  lose(b, 3, 8);
  REQUIRE(b.bad.size() == 5);
  for (unsigned i = 0; i < 9 * kRound; ++i) b.cycle();
  std::vector<unsigned> order;
  for (std::size_t i = 5; i < b.bad.size(); ++i) order.push_back(b.bad[i].qp);
  REQUIRE(order.size() >= 10);
  order.resize(10);
  CHECK(order == std::vector<unsigned>{2, 3, 3, 0, 1, 2, 3, 3, 0, 1});
  // A QP that is set up anew has none any more.
  b.set_up(3, 1);
  for (unsigned i = 0; i < kRound; ++i) b.cycle();
  const std::size_t n = b.bad.size();
  for (unsigned i = 0; i < 6 * kRound; ++i) b.cycle();
  CHECK(b.bad.size() >= n + 5);  // three of four rounds at first, then of three
  for (std::size_t i = n; i < b.bad.size(); ++i) CHECK(b.bad[i].qp != 3);
}

TEST_CASE("tx_path: what goes bad behind a round is offered in the next one", "[pipeline][tx_path]") {
  Bench b;
  b.set_up(0, 1);
  b.lose(15);
  for (unsigned i = 0; i < 8 * 64; ++i) b.cycle();
  b.revive(15);
  b.lose(1);  // the round has passed it, and finds none
  const std::size_t n = b.bad.size();
  for (unsigned i = 0; i < 6 * 64; ++i) b.cycle();
  CHECK(b.bad.size() == n);
  for (unsigned i = 0; i < kRound; ++i) b.cycle();
  REQUIRE(b.bad.size() == n + 1);
  CHECK(b.bad.back().ev_idx == 1);
}

TEST_CASE("packets go before the scrub, and DENIED EVs are not offered", "[pipeline][tx_path]") {
  Bench b;
  b.deny(3);
  b.lose(4);
  unsigned sent = 0;
  for (unsigned i = 0; i < 64 * 4 * 16; ++i) {
    if (b.pkt.free()) {
      b.send();
      ++sent;
    }
    b.cycle();
  }
  CHECK(b.bad.size() == 1);  // no idle cycle, no scrub
  CHECK(sent > 64 * 4 * 16 * 9 / 10);
  for (unsigned i = 0; i < kRound; ++i) b.cycle();
  REQUIRE(b.bad.size() == 2);
  CHECK(b.bad[1].ev_idx == 4);
}

}  // namespace mrc::test::tx_path_backup_test

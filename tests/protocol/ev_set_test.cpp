// SPDX-License-Identifier: Apache-2.0
#include "protocol/ev_set.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>

namespace mrc::test::ev_set_test {
namespace {

constexpr EvChoice kAll{4, 0xf, 0xf, false, 0};

EvGroup at(EvRow row, unsigned u = 0) {
  EvGroup g{.row = row, .u = u};
  return g;
}

}  // namespace

TEST_CASE("the pass key visits all 65535 values", "[protocol][ev]") {
  CHECK(ev_key_next(0x0001) == 0xB400);
  CHECK(ev_key_next(0xACE0) == 0x5670);
  CHECK(ev_key_next(0xACE1) == 0xE270);
  uint16_t v = 0xACE1;
  unsigned n = 0;
  do {
    v = ev_key_next(v);
    ++n;
  } while (v != 0xACE1 && n < 70000);
  CHECK(n == 65535);
}

TEST_CASE("a group is taken in the order of the key, each plane once", "[protocol][ev]") {
  EvGroup g = at(0);
  for (const int plane : {2, 3, 0, 1}) {
    g = ev_walk_group(g, 5, 2, kAll);
    CHECK(g.chosen == plane);
  }
  CHECK(g.u == 0xf);
  g = ev_walk_group(g, 5, 2, kAll);
  CHECK(g.chosen == -1);
  CHECK_FALSE(g.busy);
}

TEST_CASE("a SKIP is restored but the next GOOD one is used, and one packet restores one", "[protocol][ev]") {
  // planes 0 and 1 SKIP, 2 and 3 GOOD
  const EvGroup g = ev_walk_group(at(0b000'000'001'001), 7, 0, kAll);
  CHECK(g.chosen == 2);
  CHECK(g.row == 0b000'000'001'000);
  CHECK(g.restored);
  CHECK(g.restored_idx == 28);
  CHECK(g.u == 0b0111);
}

TEST_CASE("ASSUMED_BAD, DENIED and Standby are passed and stay", "[protocol][ev]") {
  const EvGroup g = ev_walk_group(at(0b100'000'011'010), 0, 0, kAll);
  CHECK(g.chosen == 2);
  CHECK(g.row == 0b100'000'011'010);
  CHECK_FALSE(g.restored);
  CHECK(ev_walk_group(g, 0, 0, kAll).chosen == -1);
}

TEST_CASE("a lane without room is passed but not used up; without any other choice the group is busy",
          "[protocol][ev]") {
  EvChoice c = kAll;
  c.room = 0b1110;
  EvGroup g = ev_walk_group(at(0), 0, 0, c);
  CHECK(g.chosen == 1);
  CHECK(g.u == 0b0010);
  c.room = 0;
  g = ev_walk_group(at(0, 0b0010), 0, 0, c);
  CHECK(g.chosen == -1);
  CHECK(g.busy);
}

TEST_CASE("a port that is down is passed without being used up", "[protocol][ev]") {
  EvChoice c = kAll;
  c.up = 0b1000;
  EvGroup g = ev_walk_group(at(0), 0, 0, c);
  CHECK(g.chosen == 3);
  CHECK(g.u == 0b1000);
  c.up = 0;
  g = ev_walk_group(at(0), 0, 0, c);
  CHECK(g.chosen == -1);
  CHECK_FALSE(g.busy);
  CHECK(g.u == 0);
}

TEST_CASE("a retransmission leaves out the EV it was lost on", "[protocol][ev]") {
  EvChoice c = kAll;
  c.avoid_on = true;
  c.avoid_ev = 4 * 6 + 1;
  CHECK(ev_walk_group(at(0), 6, 1, c).chosen == 0);
  CHECK(ev_walk_group(at(0), 6, 1, c).u == 0b0011);
  CHECK(ev_walk_group(at(0), 5, 1, c).chosen == 1);
}

TEST_CASE("what a packet has restored is for the next one: met again as GOOD it is passed over", "[protocol][ev]") {
  EvGroup g = at(0);
  g.restored = true;
  g.restored_idx = 4 * 6 + 1;
  EvGroup other = ev_walk_group(g, 5, 1, kAll);
  CHECK(other.chosen == 1);
  g = ev_walk_group(g, 6, 1, kAll);
  CHECK(g.chosen == 0);
  CHECK(g.u == 0b0011);
  CHECK(g.row == 0);
  EvGroup none = at(0);
  none.restored_idx = 4 * 6 + 1;  // of no meaning
  CHECK(ev_walk_group(none, 6, 1, kAll).chosen == 1);
  EvChoice c = kAll;
  c.up = c.room = 0b0010;  // nor does it wait for its lane
  g = ev_walk_group({.row = 0, .restored = true, .restored_idx = 25}, 6, 1, c);
  CHECK(g.chosen == -1);
  c.room = 0;
  CHECK_FALSE(ev_walk_group({.row = 0, .restored = true, .restored_idx = 25}, 6, 1, c).busy);
}

TEST_CASE("a walk is over with the last group of a pass that it has seen from the beginning", "[protocol][ev]") {
  CHECK(ev_walk_whole(0, 0));
  CHECK_FALSE(ev_walk_whole(0, 1));
  CHECK_FALSE(ev_walk_whole(7, 0));
  CHECK(ev_walk_over(true, 7, 8));
  CHECK_FALSE(ev_walk_over(true, 6, 8));
  CHECK_FALSE(ev_walk_over(false, 7, 8));
  CHECK(ev_walk_over(true, 0, 1));
}

TEST_CASE("m of a SACK: what it says of the packet's EV", "[protocol][ev]") {
  CHECK_FALSE(mark_is_feedback(0));
  CHECK(mark_is_feedback(1));
  CHECK(mark_is_feedback(2));
  CHECK_FALSE(mark_is_feedback(3));
  CHECK(mark_feedback(1) == FbKind::SkipOnce);
  CHECK(mark_feedback(2) == FbKind::AlwaysSkip);
  for (const unsigned m : {0u, 1u, 2u, 3u}) CHECK(mark_is_ecn(m) == (m == 1));
}

TEST_CASE("states lie side by side, three bits each, also in the widest row", "[protocol][ev]") {
  CHECK(ev_uniform(2, kEvStandby) == 0b100'100);
  CHECK(ev_uniform(8, kEvStandby) == 0x924924);
  EvRow row = ev_with_state(ev_uniform(8, kEvStandby), 7, kEvSkip);
  CHECK(row == 0x324924);
  CHECK(ev_state(row, 7) == kEvSkip);
  CHECK(ev_state(row, 6) == kEvStandby);
}

TEST_CASE("marks, losses and revivals move an EV between the states of the table, and no others", "[protocol][ev]") {
  struct Row {
    FbKind kind;
    bool match;
    unsigned after[5];  // from GOOD, SKIP, ASSUMED_BAD, DENIED, Standby
  };
  constexpr unsigned G = kEvGood, S = kEvSkip, B = kEvBad, D = kEvDenied, W = kEvStandby;
  for (const Row& r : {Row{FbKind::SkipOnce, true, {S, S, B, D, W}}, Row{FbKind::SkipOnce, false, {G, S, B, D, W}},
                       Row{FbKind::AlwaysSkip, true, {B, B, B, D, W}}, Row{FbKind::AlwaysSkip, false, {G, S, B, D, W}},
                       Row{FbKind::Loss, false, {B, B, B, D, W}}, Row{FbKind::RevivedGood, false, {G, S, G, D, W}},
                       Row{FbKind::RevivedSkip, false, {G, S, S, D, W}}, Row{FbKind{}, true, {G, S, B, D, W}}}) {
    for (unsigned from = 0; from < 5; ++from) {
      CAPTURE(static_cast<unsigned>(r.kind), r.match, from);
      CHECK(ev_after(from, r.kind, r.match) == r.after[from]);
    }
  }
}

TEST_CASE("with skip_mode Twice a second mark counts, a third does not; SKIP2 is SKIP otherwise", "[protocol][ev]") {
  constexpr EvSkipping kPass{SkipMode::Pass}, kTwice{SkipMode::Twice};
  CHECK(ev_after(kEvGood, FbKind::SkipOnce, true, true, kTwice) == kEvSkip);
  CHECK(ev_after(kEvSkip, FbKind::SkipOnce, true, true, kTwice) == 5);
  CHECK(ev_after(kEvSkip, FbKind::SkipOnce, false, true, kTwice) == kEvSkip);
  CHECK(ev_after(kEvSkip, FbKind::SkipOnce, true, true, kPass) == kEvSkip);
  CHECK(ev_after(kEvSkip3, FbKind::SkipOnce, true, true, kTwice) == kEvSkip2);  // of the mode before
  CHECK(ev_after(kEvSkip3, FbKind::SkipOnce, true, true, kPass) == kEvSkip3);
  for (const unsigned mode : {0u, 1u, 2u, 3u}) {  // the register may change while an EV is in SKIP2 or SKIP3
    for (const unsigned state : {kEvSkip2, kEvSkip3}) {
      CAPTURE(mode, state);
      const EvSkipping now{static_cast<SkipMode>(mode)};
      if (state == kEvSkip2) CHECK(ev_after(state, FbKind::SkipOnce, true, true, now) == state);
      CHECK(ev_after(state, FbKind::AlwaysSkip, true, true, now) == kEvBad);
      CHECK(ev_after(state, FbKind::AlwaysSkip, false, true, now) == state);
      CHECK(ev_after(state, FbKind::Loss, false, true, now) == kEvBad);
      CHECK(ev_after(state, FbKind::Loss, false, false, now) == state);
      CHECK(ev_after(state, FbKind::RevivedGood, false, true, now) == state);
      CHECK(ev_after(kEvBad, FbKind::RevivedSkip, false, true, now) == kEvSkip);
    }
  }
  for (const unsigned state : {kEvSkip2, kEvSkip3}) {
    CHECK(ev_in_use(state));
    CHECK(ev_after_deny(state, true) == kEvDenied);
    CHECK(ev_after_deny(state, false) == state);
    CHECK(ev_active_change(state, kEvDenied) == -1);
    CHECK(ev_active_change(state, kEvBad) == -1);
  }
}

TEST_CASE("with skip_mode RoundTrip a mark says in which of three turns, and is due two turns later",
          "[protocol][ev]") {
  constexpr unsigned kTags[] = {kEvSkip, kEvSkip2, kEvSkip3};
  CHECK((ev_turn_next(0) == 1 && ev_turn_next(1) == 2 && ev_turn_next(2) == 0));
  for (const SkipMode mode : {SkipMode::RoundTrip, static_cast<SkipMode>(3)}) {
    for (unsigned turn = 0; turn < 3; ++turn) {
      CAPTURE(static_cast<unsigned>(mode), turn);
      const EvSkipping now{mode, turn};
      CHECK(ev_skip_tag(now) == kTags[turn]);
      CHECK(ev_after(kEvGood, FbKind::SkipOnce, true, true, now) == kTags[turn]);
      CHECK(ev_after(kEvGood, FbKind::SkipOnce, false, true, now) == kEvGood);
      CHECK(ev_after(kEvBad, FbKind::RevivedSkip, false, true, now) == kTags[turn]);
      for (unsigned marked = 0; marked < 3; ++marked) {
        CHECK(ev_after(kTags[marked], FbKind::SkipOnce, true, true, now) == kTags[marked]);  // no mark accumulates
        CHECK(ev_skip_due(kTags[marked], now) == (turn == (marked + 2) % 3));
      }
    }
  }
  for (const SkipMode mode : {SkipMode::Pass, SkipMode::Twice}) {
    for (unsigned turn = 0; turn < 3; ++turn) {
      CHECK(ev_skip_tag({mode, turn}) == kEvSkip);
      for (const unsigned state : kTags) CHECK(ev_skip_due(state, {mode, turn}));
    }
  }
}

TEST_CASE("the walk passes over an EV in SKIP that is not due, and keeps the first of them to spare",
          "[protocol][ev]") {
  EvChoice c = kAll;
  c.skip = {SkipMode::RoundTrip, 1};  // marks of turn 2 are due: SKIP3
  // planes 0 SKIP2, 1 SKIP3, 2 SKIP, 3 GOOD
  EvGroup g = ev_walk_group(at(0b000'001'110'101), 7, 0, c);
  CHECK(g.chosen == 3);
  CHECK(g.row == 0b000'001'000'101);
  CHECK((g.restored && g.restored_idx == 29));
  CHECK((g.spare == EvSpare::Later && g.spare_idx == 28));
  CHECK(g.u == 0b1111);
  // The same row in the order 2 3 0 1, GOOD without room: a second one is not kept.
  c.room = 0b0111;
  g = ev_walk_group(at(0b000'001'110'101), 7, 2, c);
  CHECK((g.chosen == -1 && g.busy));
  CHECK((g.spare == EvSpare::Later && g.spare_idx == 30));
  EvGroup before = at(0b101'101'101'101);
  before.spare = EvSpare::Later;
  before.spare_idx = 5;
  g = ev_walk_group(before, 7, 0, c);
  CHECK((g.chosen == -1 && !g.busy && !g.restored));
  CHECK((g.spare == EvSpare::Later && g.spare_idx == 5));
  CHECK(g.row == 0b101'101'101'101);
  // One that is due, after another was restored, stays as it is and is none to spare.
  before = at(0b110'110'110'110);
  before.restored = true;
  before.restored_idx = 5;
  g = ev_walk_group(before, 7, 0, c);
  CHECK((g.restored_idx == 5 && g.spare == EvSpare::None && g.row == before.row));
  // With the other modes SKIP3 is SKIP.
  c.skip.mode = SkipMode::Twice;
  g = ev_walk_group(at(0b110'110'110'110), 7, 0, c);
  CHECK(g.row == 0b110'110'110'000);
  CHECK((g.restored && g.restored_idx == 28 && g.spare == EvSpare::None));
}

TEST_CASE("the walk keeps a bad EV to spare until it meets one in SKIP that is not due", "[protocol][ev][A-90]") {
  constexpr EvRow kRow = kEvBad | kEvBad << 3 | kEvSkip2 << 6 | kEvDenied << 9;
  EvChoice c = kAll;
  c.skip = {SkipMode::RoundTrip, 1};  // of marks only those of turn 2 are due
  c.bad = true;
  c.up = 0b1011;
  EvGroup g = ev_walk_group(at(kRow), 7, 0, c);
  CHECK((g.spare == EvSpare::Bad && g.spare_idx == 28 && g.chosen == -1 && g.row == kRow));
  g = ev_walk_group(at(kRow), 7, 1, c);  // in the order 1 0 3
  CHECK((g.spare == EvSpare::Bad && g.spare_idx == 29));
  c.up = 0b1111;
  g = ev_walk_group(at(kRow), 7, 0, c);
  CHECK((g.spare == EvSpare::Later && g.spare_idx == 30));
  g = ev_walk_group(at(kRow), 7, 2, c);  // met first, it stays
  CHECK((g.spare == EvSpare::Later && g.spare_idx == 30));
  EvGroup before = at(kRow);
  before.spare = EvSpare::Bad;
  before.spare_idx = 5;
  CHECK(ev_walk_group(before, 7, 0, c).spare_idx == 30);
  c.up = 0b1011;
  CHECK(ev_walk_group(before, 7, 0, c).spare_idx == 5);
  c.bad = false;
  CHECK(ev_walk_group(at(kRow), 7, 0, c).spare == EvSpare::None);
}

TEST_CASE("the walk makes SKIP of SKIP2 and restores nothing by it", "[protocol][ev]") {
  // planes 0 SKIP2, 1 SKIP, 2 SKIP2, 3 GOOD
  const EvGroup g = ev_walk_group(at(0b000'101'001'101), 7, 0, kAll);
  CHECK(g.chosen == 3);
  CHECK(g.row == 0b000'001'000'001);
  CHECK(g.restored);
  CHECK(g.restored_idx == 29);
  CHECK(g.u == 0b1111);
  const EvGroup none = ev_walk_group(at(0b101'101'101'101), 7, 0, kAll);
  CHECK(none.chosen == -1);
  CHECK_FALSE(none.busy);
  CHECK_FALSE(none.restored);
  CHECK(none.row == 0b001'001'001'001);
}

TEST_CASE("a loss on a plane that cannot be used leaves the EV; every other feedback still counts", "[protocol][ev]") {
  CHECK(ev_after(kEvGood, FbKind::Loss, false, false) == kEvGood);
  CHECK(ev_after(kEvSkip, FbKind::Loss, false, false) == kEvSkip);
  CHECK(ev_after(kEvGood, FbKind::AlwaysSkip, true, false) == kEvBad);
  CHECK(ev_after(kEvGood, FbKind::SkipOnce, true, false) == kEvSkip);
  CHECK(ev_after(kEvBad, FbKind::RevivedGood, false, false) == kEvGood);
}

TEST_CASE("the controller denies an EV in any state; it comes back as GOOD, and only from DENIED", "[protocol][ev]") {
  for (const unsigned from : {kEvGood, kEvSkip, kEvBad, kEvDenied, kEvStandby}) {
    CHECK(ev_after_deny(from, true) == kEvDenied);
    CHECK(ev_after_deny(from, false) == (from == kEvDenied ? kEvGood : from));
  }
  CHECK(ev_active_change(kEvGood, kEvDenied) == -1);
  CHECK(ev_active_change(kEvSkip, kEvDenied) == -1);
  CHECK(ev_active_change(kEvBad, kEvDenied) == 0);
  CHECK(ev_active_change(kEvStandby, kEvDenied) == 0);
  CHECK(ev_active_change(kEvDenied, kEvGood) == 1);
  CHECK(ev_active_change(kEvGood, kEvSkip) == 0);
}

TEST_CASE("a plane can be used when own port and peer's port are up", "[protocol][ev]") {
  CHECK(ev_plane_ok(0b1011, 0b1110) == 0b1010);
  CHECK(ev_plane_ok(0b1011, 0b0100) == 0);
}

}  // namespace mrc::test::ev_set_test

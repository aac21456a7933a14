// SPDX-License-Identifier: Apache-2.0
#include "sim/nic/fast/fast_ev_set.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

#include "sim/nic/fast/fast_rules.hpp"

namespace mrc::test::fast_ev_set_test {

using mrc::sim::EvSet;

namespace {

using Evs = std::set<unsigned>;

/// A set of `evs` values on two planes, all its ports up and all its lanes with room.
struct Bench {
  EvSet set;
  unsigned evs;
  EvSkipping skip{};
  bool bad = true;  ///< one that is bad serves when no other does
  explicit Bench(unsigned n, uint32_t seed = 2) : evs(n) {
    sim::QpSpec spec{.planes = 2};
    for (unsigned i = 0; i < n; ++i) spec.ev_active.push_back(0xA000 + i);
    std::string why;
    REQUIRE(set.init(spec, seed, why));
  }
  /// The EV of a packet, or `evs` for none.
  unsigned send(bool rtx = false, uint16_t avoid = 0) {
    auto walk = set.begin(rtx, avoid);
    uint16_t ev_idx = 0;
    const auto found = set.walk(walk, 3, 3, skip, bad, ev_idx);
    REQUIRE(found != EvSet::Found::Busy);
    return found == EvSet::Found::Ev ? ev_idx : evs;
  }
  void mark(unsigned ev) { set.feedback(ev, FbKind::SkipOnce, 0xA000 + ev, 3, 0, skip); }
};

}  // namespace

TEST_CASE("fast EV set: a few GOOD EVs are found from wherever the walk begins", "[sim][fast]") {
  // 12 EVs: six groups of eight, two have no EVs.
  for (const unsigned evs : {2u, 12u, 16u}) {
    for (unsigned start = 0; start < 2 * evs; ++start) {
      for (const unsigned many : {1u, 2u, 4u}) {
        for (unsigned ev = 0; many <= evs && ev < evs; ++ev) {
          CAPTURE(evs, start, many, ev);
          Bench b(evs, start % 7);
          for (unsigned i = 0; i < start; ++i) REQUIRE(b.send() < evs);
          Evs good, seen;
          for (unsigned i = 0; i < many; ++i) good.insert((ev + 5 * i) % evs);
          for (unsigned i = 0; i < evs; ++i) {
            if (good.count(i) == 0) b.set.deny(i, true);
          }
          for (unsigned i = 0; i < 300; ++i) {
            const auto avoid = static_cast<uint16_t>(i % evs);
            const unsigned got = b.send(i % 3 == 0, avoid);
            seen.insert(got);
            if (i % 3 == 0 && good.size() > 1) REQUIRE(got != avoid);
          }
          REQUIRE(seen == good);
        }
      }
    }
  }
}

TEST_CASE("fast EV set: with all EVs SKIP a packet restores one, and uses a GOOD one wherever it is", "[sim][fast]") {
  for (unsigned start = 0; start < 16; ++start) {
    unsigned met_first = 0;
    for (unsigned good = 0; good < 16; ++good) {
      CAPTURE(start, good);
      Bench b(16);
      for (unsigned i = 0; i < start; ++i) b.send();
      for (unsigned i = 0; i < 16; ++i) b.mark(i);
      REQUIRE(b.set.counts().skip == 16);
      const unsigned first = b.send();
      REQUIRE(first < 16);
      CHECK(b.set.state(first) == kEvGood);
      CHECK(b.set.counts().good == 1);
      b.mark(first);
      b.set.deny(good, true);
      b.set.deny(good, false);
      CHECK(b.send() == good);
      const unsigned now_good = b.set.counts().good;  // it, and the one restored, if the walk met one before it
      CHECK((now_good == 1 || now_good == 2));
      met_first += now_good == 1;
    }
    CHECK(met_first == 1);
  }
}

TEST_CASE("fast EV set: the walk of a set of SKIP, packet by packet", "[sim][fast]") {
  // Keys of seed 2: 0xACE3, 0xE271, 0xC538; modulo 16: 3, 1, 8.
  Bench b(16);
  for (unsigned i = 0; i < 16; ++i) b.mark(i);
  CHECK(b.send() == 3);  // restored first, and used after the eight groups of the pass
  CHECK(b.send() == 3);  // 1 is restored, 0 passed, 3 is GOOD
  CHECK(b.send() == 1);  // 2 is restored; 1 is met in the next pass
}

TEST_CASE("fast EV set: nothing is found only if the whole set is out of use", "[sim][fast]") {
  for (unsigned start = 0; start < 16; ++start) {
    Bench b(16);
    for (unsigned i = 0; i < start; ++i) b.send();
    for (unsigned i = 0; i < 16; ++i) b.set.deny(i, true);
    CHECK(b.send() == 16);
    CHECK(b.send(true, 3) == 16);
    b.set.deny(9, false);
    CHECK(b.send(true, 9) == 9);
  }
}

TEST_CASE("fast EV set: SKIP of one turn is due two turns later, and not before", "[sim][fast][paths][A-20]") {
  using namespace sim::rules;
  for (unsigned turn = 0; turn < 3; ++turn) {
    const EvSkipping now{SkipMode::RoundTrip, turn};
    const unsigned state = ev_after(kEvGood, FbKind::SkipOnce, true, true, now);
    CHECK(state == ev_skip_tag(now));
    CHECK((state != kEvGood && ev_in_use(state)));
    CHECK(!ev_skip_due(state, now));
    CHECK(!ev_skip_due(state, {SkipMode::RoundTrip, (turn + 1) % 3}));
    CHECK(ev_skip_due(state, {SkipMode::RoundTrip, (turn + 2) % 3}));
    CHECK(ev_after(state, FbKind::SkipOnce, true, true, {SkipMode::RoundTrip, (turn + 1) % 3}) == state);
    CHECK(ev_after(kEvBad, FbKind::RevivedSkip, false, true, now) == state);
    for (const SkipMode mode : {SkipMode::Pass, SkipMode::Twice}) CHECK(ev_skip_due(state, {mode, turn}));
  }
  CHECK(skip_turn(77, 78) == 0);
  CHECK(skip_turn(78, 78) == 1);
  CHECK(skip_turn(3 * 78, 78) == 0);
  CHECK(sim::rules::ev_not_zero(0) == 8);
  CHECK(sim::rules::ev_not_zero(5) == 5);
}

TEST_CASE("fast EV set: with every EV in SKIP and none due a packet still leaves, and the EV stays in SKIP",
          "[sim][fast][paths][A-20]") {
  Bench b(8);
  b.skip = {SkipMode::RoundTrip, 0};
  for (unsigned ev = 0; ev < 8; ++ev) b.mark(ev);
  for (unsigned i = 0; i < 40; ++i) {
    const unsigned ev = b.send(i % 2 == 0, static_cast<uint16_t>(i % 8));
    REQUIRE(ev < 8);
    CHECK(b.set.state(ev) == kEvSkip);
  }
  b.skip.turn = 2;
  Evs seen;
  for (unsigned i = 0; i < 40; ++i) seen.insert(b.send());
  CHECK(seen.size() == 8);
  CHECK(b.set.counts().skip == 0);
}

TEST_CASE("fast EV set: a second mark makes SKIP last twice", "[sim][fast][paths][A-20]") {
  Bench b(8);
  b.skip.mode = SkipMode::Twice;
  b.mark(3);
  b.mark(3);
  CHECK(b.set.state(3) == kEvSkip2);
  Evs first, second;
  for (unsigned i = 0; i < 7; ++i) first.insert(b.send());
  for (unsigned i = 0; i < 7; ++i) second.insert(b.send());
  CHECK(first.count(3) == 0);
  CHECK(second.count(3) == 0);
}

TEST_CASE("fast EV set: where none is in use a bad one serves, each in its turn", "[sim][fast][A-90]") {
  Bench b(16);
  for (unsigned i = 0; i < 16; ++i) b.set.feedback(i, FbKind::Loss, 0, 3, 0, b.skip);
  REQUIRE(b.set.counts().assumed_bad == 16);
  Evs seen;
  for (unsigned i = 0; i < 200; ++i) seen.insert(b.send(i % 3 == 0, static_cast<uint16_t>(i % 16)));
  CHECK(seen.size() == 16);
  CHECK(seen.count(16) == 0);
  b.bad = false;
  CHECK(b.send() == 16);
  b.bad = true;
  for (unsigned i = 0; i < 16; ++i) b.set.deny(i, true);
  CHECK(b.send() == 16);
}

}  // namespace mrc::test::fast_ev_set_test

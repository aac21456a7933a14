// SPDX-License-Identifier: Apache-2.0
// When a QP asks: mrc_tx_inflight_silence beside the page's formulas (docs/design/blocks/tx/inflight/tx_inflight.md,
// Silence), at the ends of its ranges, and with visits as seldom as with 256 QPs.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/rtl/unit.hpp"

namespace mrc::test::inflight_silence_test {
namespace {

constexpr uint32_t kMostPause = 1791;
constexpr uint32_t kMostTrip = 1023 << 8;

/// The registers of a QP that its visit is judged by.
struct Qp {
  uint32_t trip = 0;  // 256ths of a tick
  uint32_t queries = 0, last = 0, since = 0;
  bool acked = false, trims = false, sends = false;

  // The page's formulas.
  uint32_t bound() const {
    const uint32_t longest = ((trims ? trip / 4 : trip) + 255) >> 8;
    return trip == 0 ? 64 : longest + (longest >> 3) + 1;
  }
  uint32_t doubled() const { return (queries == 0 ? 0 : queries - 1) + (acked ? 1 : 0) + (sends ? 1 : 0); }
  uint32_t pause() const { return std::min(bound() << doubled(), kMostPause); }
  bool silent(uint32_t now) const {
    return ((now - last) & 0xfffu) >= pause() && (queries == 0 || ((now - since) & 0xfffu) >= pause());
  }
};

void drive(Unit& unit, unsigned index, const Qp& qp) {
  unit->quiet_qp_i = static_cast<uint8_t>(index);
  unit->quiet_trip_i = qp.trip;
  unit->quiet_trims_i = qp.trims;
  unit->quiet_queries_i = static_cast<uint8_t>(qp.queries);
  unit->quiet_acked_i = qp.acked;
  unit->quiet_sends_i = qp.sends;
  unit->quiet_last_i = static_cast<uint16_t>(qp.last & 0xfffu);
}

/// A visit at tick `now`, as early as the unit lets it be; whether it would ask. With `query` it does then.
bool visited(Unit& unit, unsigned index, Qp& qp, uint32_t now, bool query) {
  drive(unit, index, qp);
  unit->quiet_now_i = static_cast<uint16_t>(now & 0xfffu);
  unit.settle();
  unsigned waited = 0;
  for (; unit->quiet_ready_o == 0; ++waited) {
    REQUIRE(waited < 2);
    unit.clock();
  }
  const bool silent = unit->quiet_silent_o != 0;
  unit->quiet_visit_i = 1;
  unit->quiet_query_i = query && silent;
  unit.settle();
  unit.clock();
  unit->quiet_visit_i = unit->quiet_query_i = 0;
  if (query && silent) {
    qp.since = now;
    qp.queries = std::min(qp.queries + 1, 7u);
  }
  return silent;
}

/// Out of reset the turn is at QP 0; whoever is next has a visit before it.
void begin(Unit& unit) {
  Qp first;
  visited(unit, 0, first, 0, false);
}

}  // namespace

TEST_CASE("the RTL keeps quiet for as long as the page says, to the tick", "[rtl][silence]") {
  Unit unit;
  begin(unit);
  // By hand: trip 20 ticks, bound 23.
  Qp qp{.trip = 5120, .last = 100};
  CHECK_FALSE(visited(unit, 1, qp, 122, false));
  CHECK(visited(unit, 1, qp, 123, true));
  CHECK_FALSE(visited(unit, 1, qp, 145, false));
  CHECK(visited(unit, 1, qp, 146, true));
  CHECK_FALSE(visited(unit, 1, qp, 191, false));
  CHECK(visited(unit, 1, qp, 192, true));
  // By hand: trip 80 ticks, of a trim: 20 of them count, bound 23.
  Qp trimmed{.trip = 20480, .last = 100, .trims = true};
  CHECK_FALSE(visited(unit, 3, trimmed, 122, false));
  CHECK(visited(unit, 3, trimmed, 123, false));
  trimmed.trims = false;  // bound 91
  CHECK_FALSE(visited(unit, 3, trimmed, 190, false));
  CHECK(visited(unit, 3, trimmed, 191, false));
  // By hand: its turn to send will come, so bound 91 is waited for twice.
  trimmed.sends = true;
  CHECK_FALSE(visited(unit, 3, trimmed, 281, false));
  CHECK(visited(unit, 3, trimmed, 282, false));
  // Each pause there is, around its end: by last, and by since.
  unsigned most = 0, longest_doubling = 0, unknown = 0;
  for (const uint32_t ticks : {0u, 1u, 13u, 14u, 27u, 28u, 64u, 397u, 398u, 1022u, 1023u}) {
    for (uint32_t queries = 0; queries < 8; ++queries) {
      for (const bool acked : {false, true}) {
        Qp one{.trip = ticks << 8, .queries = queries, .last = 4000, .acked = acked};
        const uint32_t pause = one.pause();
        most += pause == kMostPause;
        longest_doubling += one.doubled() == 7;
        unknown += ticks == 0;
        INFO(ticks << " ticks, asked " << queries << ", all acknowledged " << acked << ", pause " << pause);
        CHECK(pause <= kMostPause);
        // since first, by a question at 3000 (whatever is asked for).
        Qp first{.trip = 256, .last = 2900};
        REQUIRE(visited(unit, 2, first, 3000, true));
        one.since = 3000;
        for (const int off : {-1, 0, 1}) {
          const uint32_t now = 4000 + pause + static_cast<uint32_t>(off);  // wraps
          CHECK(visited(unit, 2, one, now, false) == one.silent(now));
          Qp newer = one;
          newer.last = 2000;
          const uint32_t later = 3000 + pause + static_cast<uint32_t>(off);
          CHECK(visited(unit, 2, newer, later, false) == newer.silent(later));
        }
      }
    }
  }
  CHECK(most > 40);
  CHECK(longest_doubling == 11);
  CHECK(unknown == 16);
  unit->quiet_wait_i = 1;
  unit.settle();
  CHECK(unit->quiet_silent_o == 0);
  CHECK(unit->quiet_ready_o == 1);
  CHECK(unit.failed() == std::vector<std::string>{});
}

TEST_CASE("the RTL asks as the page's formulas do, whichever QP was visited before", "[rtl][silence]") {
  Unit unit;
  Rng rng(1, "silence");
  std::array<Qp, 4> qps{};
  unsigned queries = 0, seventh = 0, most = 0, wrapped = 0, deep = 0, trims = 0, sends = 0;
  uint32_t now = 100;
  for (unsigned index = 0; index < 4; ++index) REQUIRE(visited(unit, index, qps[index], now, true));  // since is known
  for (unsigned i = 0; i < 100000; ++i) {
    const auto index = static_cast<unsigned>(rng.below(4));
    Qp& qp = qps[index];
    now += static_cast<uint32_t>(rng.chance(0.5) ? rng.below(8) : corner(rng, 12));
    if (rng.chance(0.3)) qp.last = now - static_cast<uint32_t>(corner(rng, 12));
    if (rng.chance(0.1)) qp.queries = static_cast<uint32_t>(rng.below(8));
    if (rng.chance(0.3))
      qp.trip = static_cast<uint32_t>(rng.chance(0.5) ? rng.below(60 << 8) : rng.below(kMostTrip + 1));
    if (rng.chance(0.05)) qp.trip = rng.chance(0.5) ? 0 : kMostTrip;
    if (rng.chance(0.3)) qp.acked = rng.chance(0.5);
    if (rng.chance(0.3)) qp.trims = rng.chance(0.5);
    if (rng.chance(0.3)) qp.sends = rng.chance(0.5);
    const bool expected = qp.silent(now);
    INFO("visit " << i << " of QP " << index << " at " << now << ": trip " << qp.trip << " asked " << qp.queries);
    queries += expected;
    trims += expected && qp.trims;
    sends += expected && qp.sends;
    seventh += expected && qp.queries == 7;
    deep += expected && qp.doubled() == 7;
    most += expected && qp.pause() == kMostPause;
    wrapped += expected && (now & 0xfffu) < (qp.last & 0xfffu);
    REQUIRE(visited(unit, index, qp, now, rng.chance(0.7)) == expected);
    REQUIRE(unit.failed() == std::vector<std::string>{});
  }
  for (const unsigned seen : {queries, seventh, most, wrapped, deep, trims, sends}) CHECK(seen > 300);
}

TEST_CASE("the RTL goes on asking with visits slower than a tick, whatever their phase", "[rtl][silence]") {
  // A packet at tick `phase`, nobody answers, visits every 8 ticks: with pause 2047 most phases asked no more.
  constexpr uint32_t kRound = 8, kEnd = 60000;
  for (const uint32_t trip : {28u, 40u, 1023u}) {
    for (const bool acked : {false, true}) {
      for (uint32_t phase = 0; phase < kRound; ++phase) {
        Unit unit;
        begin(unit);
        Qp qp{.trip = trip << 8, .last = phase, .acked = acked};
        uint32_t newest = phase, longest = 0, questions = 0;
        bool as_long = false;  // asked 7, and pause at its most
        for (uint32_t now = kRound; now < kEnd; now += kRound) {
          as_long |= qp.queries == 7 && qp.pause() == kMostPause;
          const bool expected = qp.silent(now);
          REQUIRE(visited(unit, 3, qp, now, true) == expected);
          if (!expected) continue;
          longest = std::max(longest, now - newest);
          newest = now;
          ++questions;
        }
        longest = std::max(longest, kEnd - newest);
        INFO("trip " << trip << ", all acknowledged " << acked << ", phase " << phase << ": " << questions);
        CHECK(as_long);
        CHECK(longest <= 4096);
        CHECK(questions >= kEnd / 4096);
        CHECK(unit.failed() == std::vector<std::string>{});
      }
    }
  }
}

}  // namespace mrc::test::inflight_silence_test

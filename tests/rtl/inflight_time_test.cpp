// SPDX-License-Identifier: Apache-2.0
// Losses by time in tx_inflight: mrc_tx_inflight_time and what sackrow makes of it, beside the page's formulas
// (docs/design/blocks/tx/inflight/tx_inflight.md) and its numbers by hand.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "tests/rtl/unit.hpp"

namespace mrc::test::inflight_time_test {
namespace {

enum At : uint8_t { Nowhere, Ctl0, Ctl1, Row, Done, Same1 };
constexpr uint8_t kSack = 0, kNack = 1, kKinds = 5;  // ctl_kind_e
constexpr uint8_t kTrimmed = 1, kTrimmedLasthop = 2;
constexpr uint32_t kPsnMask = 0xff'ffff, kHalf = 1u << 23;
constexpr unsigned kMost = 1023;
constexpr unsigned kLater = 77;  // Ctl1's tick, behind Ctl0's: which of them counts is seen

using Stamps = std::array<uint16_t, 16>;

/// An answer, and what is known of its QP when it comes.
struct Answer {
  uint8_t kind = kSack, reason = 0;
  bool pr = false, us = false, time_wait = false, ts = true, own = true, copy = false, trims = false;
  uint32_t psn = 0, base = 0, una = 0, una_was = 0, trip = 0;  // una: una'
  uint64_t bitmap = 0;
  uint16_t tick = 0, returned = 0, sacked = 0, rtxd = 0;
  Stamps stamps{};

  void drive(Unit& unit) const {
    unit->time_kind_i = kind;
    unit->time_reason_i = reason;
    unit->time_pr_i = pr;
    unit->time_us_i = us;
    unit->time_wait_i = time_wait;
    unit->time_ts_i = ts;
    unit->time_own_i = own;
    unit->time_psn_i = psn;
    unit->time_base_i = base;
    unit->time_una_i = una;
    unit->time_was_i = una_was;
    unit->time_copy_i = copy;
    unit->time_trip_i = trip;
    unit->time_trims_i = trims;
    unit->time_bitmap_i = bitmap;
    unit->time_tick_i = tick;
    unit->time_returned_i = returned;
    unit->time_sacked_i = sacked;
    unit->time_rtxd_i = rtxd;
    for (unsigned word = 0; word < 6; ++word) unit->time_stamps_i[word] = 0;
    for (unsigned i = 0; i < 16; ++i) {
      const unsigned bit = 12 * i;
      unit->time_stamps_i[bit / 32] |= uint32_t{stamps[i]} << (bit % 32);
      if (bit % 32 > 20) unit->time_stamps_i[bit / 32 + 1] |= uint32_t{stamps[i]} >> (32 - bit % 32);
    }
  }

  // The page's formulas.
  bool by_sent() const { return !ts && !(kind == kSack && pr); }
  bool once() const { return own && (rtxd >> (psn % 16) & 1u) == 0 && !copy; }
  uint32_t sent() const { return stamps[psn % 16]; }
  uint32_t took() const {
    if (by_sent()) return std::min<uint32_t>((tick + kLater - sent()) & 0xfffu, kMost);
    const uint32_t since = (tick - (us ? 8 * returned : returned)) & 0xffffu;
    return std::min<uint32_t>(since, kMost);
  }
  bool arrived() const {
    const uint32_t ahead = (una - psn) & kPsnMask, place = (psn - base) & kPsnMask;
    if (ahead != 0 && ahead < kHalf) return true;
    return own && ((sacked >> (psn % 16) & 1u) != 0 || (place < 64 && (bitmap >> place & 1u) != 0));
  }
  bool twice() const {
    const uint32_t ahead = (una_was - psn) & kPsnMask;
    return own && !once() && ((ahead != 0 && ahead < kHalf) || (sacked >> (psn % 16) & 1u) != 0);
  }
  bool gives_time() const {
    return kind == kSack && (pr ? (psn & 0xffff) != 0xffff : arrived() && !twice() && (ts || once()));
  }
  uint32_t bound() const { return trims && pr ? trip / 4 : trip; }
  uint32_t longest() const { return std::max(by_sent() ? 0 : took(), (bound() + 255) >> 8); }
  uint32_t spare() const { return longest() - (longest() >> 2); }
  bool knows() const {
    return gives_time() && !time_wait && longest() != kMost && (!by_sent() || (trip != 0 && took() != kMost));
  }
  uint32_t stamp() const { return by_sent() ? sent() : us ? uint32_t{returned} << 3 : returned; }
  uint32_t limit() const { return (stamp() - spare() - 1) & 0xfffu; }
  uint16_t old() const {
    unsigned bits = 0;
    for (unsigned i = 0; i < 16; ++i) bits |= (((limit() - stamps[i]) & 0xfffu) < 0x800u ? 1u : 0u) << i;
    if (!pr && !once()) bits &= rtxd;
    return static_cast<uint16_t>(knows() ? bits : 0);
  }
  uint32_t trip_after() const {
    if (kind == kSack) return gives_time() ? std::max(256 * took(), trip - (trip >> 8)) : trip;
    const bool trim = kind == kNack && (reason == kTrimmed || reason == kTrimmedLasthop);
    return trim && (ts || once()) ? std::max(trip, 256 * std::min<uint32_t>(8 * took(), kMost - 1)) : trip;
  }
  /// Of a trim, until a round trip has been as long.
  bool trims_after() const {
    if (kind == kSack) return trims && !(gives_time() && 256 * took() > trip - (trip >> 8));
    return trims || trip_after() != trip;
  }
};

/// What the unit says of it: Ctl0 and Ctl1, then Row, Same1 and Done of a SACK.
struct Said {
  bool knows = false;
  uint16_t old = 0, old_una = 0;
  uint32_t trip = 0;
  bool trims = false;
};

Said answered(Unit& unit, const Answer& answer) {
  Said said;
  const auto at = [&](At state) {
    unit->time_at_i = state;
    unit.settle();
  };
  answer.drive(unit);
  at(Ctl0);
  unit.clock();
  // The tick goes on; how long it took is known, if the answer returns a time.
  unit->time_tick_i = static_cast<uint16_t>(answer.tick + kLater);
  at(Ctl1);
  said.trip = unit->time_trip_o;
  said.trims = unit->time_trims_o != 0;
  unit.clock();
  at(Row);
  said.old = unit->time_old_o;
  unit.clock();
  at(Same1);
  said.old_una = unit->time_old_o;
  unit.clock();
  at(Done);
  said.knows = unit->time_knows_o;
  if (answer.kind == kSack) {
    said.trip = unit->time_trip_o;
    said.trims = unit->time_trims_o != 0;
  }
  unit.clock();
  at(Nowhere);
  CHECK(unit->time_old_o == 0);
  CHECK(unit->time_trip_o == answer.trip);
  CHECK((unit->time_trims_o != 0) == answer.trims);
  return said;
}

}  // namespace

TEST_CASE("the RTL knows what is old by the numbers of the page", "[rtl][time]") {
  Unit unit;
  // Sent at 3000, answered at 3020; 24.5 ticks of late: longest 25, spare 19.
  Answer answer{.psn = 5, .una = 6, .trip = 6272, .tick = 3020, .returned = 3000};
  answer.stamps.fill(3000);
  answer.stamps[3] = 2980;
  answer.stamps[4] = 2981;
  answer.stamps[5] = 932;  // 2048 before the limit
  answer.stamps[15] = 933;
  Said said = answered(unit, answer);
  CHECK(said.knows);
  CHECK(said.old == (1u << 3 | 1u << 15));
  CHECK(said.old_una == said.old);
  CHECK(said.trip == 6248);
  // A trim after 30 ticks.
  answer = {.kind = kNack, .reason = kTrimmed, .trip = 6272, .tick = 3030, .returned = 3000};
  said = answered(unit, answer);
  CHECK(said.trip == 61440);
  CHECK(said.old == 0);
  CHECK_FALSE(said.knows);
  answer = {.psn = 5, .una = 6, .trip = 61440, .tick = 3020, .returned = 3000};
  answer.stamps.fill(3000 - 181);
  answer.stamps[0] = 3000 - 180;
  CHECK(answered(unit, answer).old == 0xfffe);
}

TEST_CASE("the RTL knows without time stamps by when a packet was sent", "[rtl][time]") {
  Unit unit;
  // As above, by the stamp of PSN 5 and the tick of Ctl1.
  Answer once{.ts = false, .psn = 5, .una = 6, .trip = 6272, .tick = 3020 - kLater};
  once.stamps.fill(3000);
  once.stamps[3] = 2980;
  once.stamps[4] = 2981;
  Said said = answered(unit, once);
  CHECK(said.knows);
  CHECK(said.old == 1u << 3);
  CHECK(said.old_una == said.old);
  CHECK(said.trip == 6248);
  // 40 ticks: trip as it was tells what is old, the next SACK has it longer.
  Answer answer = once;
  answer.tick = static_cast<uint16_t>(once.tick + 20);
  said = answered(unit, answer);
  CHECK(said.old == 1u << 3);
  CHECK(said.trip == 10240);
  // Bits of other packets say nothing of this one.
  answer = once;
  answer.rtxd = 0xffdf;
  CHECK(answered(unit, answer).old == 1u << 3);
  // Sent again, for its ACK too, or not there: nothing.
  answer.rtxd = 0;
  answer.copy = true;
  CHECK_FALSE(answered(unit, answer).knows);
  CHECK(answered(unit, answer).trip == 6272);
  answer.copy = false;
  answer.rtxd = 0x0020;
  said = answered(unit, answer);
  CHECK_FALSE(said.knows);
  CHECK(said.old == 0);
  CHECK(said.trip == 6272);
  answer = once;
  answer.own = false;
  said = answered(unit, answer);
  CHECK_FALSE(said.knows);
  CHECK(said.trip == 6272);
  // No round trip is known yet: this one is from now on.
  answer = once;
  answer.trip = 0;
  said = answered(unit, answer);
  CHECK_FALSE(said.knows);
  CHECK(said.old == 0);
  CHECK(said.trip == 5120);
  // 1022 ticks, 1023 ticks, and 2^12 more than 20.
  answer = once;
  answer.tick = static_cast<uint16_t>(3000 + 1022 - kLater);
  CHECK(answered(unit, answer).old == 1u << 3);
  ++answer.tick;
  said = answered(unit, answer);
  CHECK_FALSE(said.knows);
  CHECK(said.trip == 256 * kMost);
  answer.tick = static_cast<uint16_t>(once.tick + 4096);
  CHECK(answered(unit, answer).trip == 6248);
  // The answer to a question returns a time, whatever is known of a packet with the id's number.
  answer = once;
  answer.pr = true;
  answer.own = false;
  answer.rtxd = 0xffff;
  answer.tick = 3030;
  answer.returned = 3000;
  said = answered(unit, answer);
  CHECK(said.knows);
  CHECK(said.old == 0);  // longest 30, spare 23
  CHECK(said.trip == 7680);
  // A trim after 30 ticks, of a packet that was sent once, and twice.
  for (const uint8_t reason : {kTrimmed, kTrimmedLasthop}) {
    answer = {.kind = kNack, .reason = reason, .pr = true, .ts = false, .psn = 5, .trip = 6272, .tick = 3030 - kLater};
    answer.stamps[5] = 3000;
    said = answered(unit, answer);
    CHECK(said.trip == 61440);
    CHECK_FALSE(said.knows);
    answer.rtxd = 0x0020;
    CHECK(answered(unit, answer).trip == 6272);
    answer.rtxd = 0;
    answer.own = false;
    CHECK(answered(unit, answer).trip == 6272);
  }
  CHECK(unit.failed().empty());
}

TEST_CASE("the RTL takes the earliest tick that a stamp in us may mean", "[rtl][time]") {
  Unit unit;
  // Sent at 1024, answered at 1029; what was sent 1 tick before is not lost: it took 5, spare 4.
  Answer answer{.us = true, .psn = 5, .una = 6, .tick = 1029, .returned = 128};
  answer.stamps.fill(1023);
  answer.stamps[0] = 1020;
  answer.stamps[1] = 1019;
  Said said = answered(unit, answer);
  CHECK(said.knows);
  CHECK(said.old == 2);
  CHECK(said.trip == 1280);
  // Sent at 807, which is 100 as 800 is, answered at 820: 20 ticks, spare 15.
  answer.tick = 820;
  answer.returned = 100;
  answer.stamps.fill(800);
  answer.stamps[0] = 784;
  answer.stamps[1] = 785;
  said = answered(unit, answer);
  CHECK(said.old == 1);
  CHECK(said.trip == 5120);
  // The stamp has 13 bits that count.
  answer.returned = 0x2000 + 100;
  CHECK(answered(unit, answer).trip == 5120);
  CHECK(unit.failed().empty());
}

TEST_CASE("a copy of what was reported before tells the RTL no time", "[rtl][time]") {
  Unit unit;
  // PSN 5 was reported (before una, or by its bit), and sent again (by its bit, or for its ACK).
  Answer base{.psn = 5, .una = 7, .una_was = 5, .trip = 6272, .tick = 3020, .returned = 3000};
  base.stamps.fill(2980);
  base.rtxd = 0x0020;
  CHECK(answered(unit, base).knows);  // not reported before
  for (const bool by_row : {true, false}) {
    for (const bool before : {true, false}) {
      Answer answer = base;
      answer.rtxd = by_row ? 0x0020 : 0;
      answer.copy = !by_row;
      (before ? answer.una_was : answer.una) = 6;
      if (!before) answer.sacked = 0x0020;
      INFO("by the row " << by_row << ", before una " << before);
      const Said said = answered(unit, answer);
      CHECK_FALSE(said.knows);
      CHECK(said.old == 0);
      CHECK(said.trip == 6272);
      // Sent once, or its block is given back: as before.
      answer.rtxd = 0xffdf;
      answer.copy = false;
      CHECK(answered(unit, answer).knows);
      answer.rtxd = 0xffff;
      answer.own = false;
      CHECK(answered(unit, answer).knows);
    }
  }
  // The answer to a question has an id there, not a PSN.
  base.pr = true;
  base.una_was = 6;
  CHECK(answered(unit, base).knows);
  CHECK(unit.failed().empty());
}

TEST_CASE("a copy tells the RTL of copies alone", "[rtl][time]") {
  Unit unit;
  // PSN 5 arrives first by a copy; the block's other stamps are old, and those of PSNs 0 and 6 are of copies.
  Answer answer{.psn = 5, .una = 5, .trip = 6272, .tick = 3020, .returned = 3000};
  answer.bitmap = 1;
  answer.base = 5;
  answer.stamps.fill(2980);
  answer.rtxd = 0x0061;
  Said said = answered(unit, answer);
  CHECK(said.knows);
  CHECK(said.old == 0x0061);
  CHECK(said.old_una == 0x0061);
  answer.rtxd = 0x0041;
  CHECK(answered(unit, answer).old == 0xffff);  // it was sent once
  answer.copy = true;
  CHECK(answered(unit, answer).old == 0x0041);  // and again for its ACK
  answer.pr = true;
  CHECK(answered(unit, answer).old == 0xffff);  // a question
  answer.pr = answer.copy = answer.own = false;
  answer.una = 6;
  CHECK(answered(unit, answer).old == 0x0041);  // nobody knows
  CHECK(unit.failed().empty());
}

TEST_CASE("the RTL says what time tells as the page's formulas do", "[rtl][time]") {
  Unit unit;
  Rng rng(1, "time");
  unsigned knew = 0, some = 0, far = 0, silent = 0, trims = 0, longer = 0, requested = 0, waited = 0;
  unsigned reported = 0, copies = 0, in_us = 0;
  unsigned knew_sent = 0, twice = 0, first = 0, ago = 0, trims_sent = 0, trims_twice = 0, requested_sent = 0;
  unsigned quartered = 0, measured = 0;
  for (unsigned i = 0; i < 200000; ++i) {
    Answer a;
    a.kind = rng.chance(0.8) ? kSack : rng.chance(0.5) ? kNack : static_cast<uint8_t>(rng.below(kKinds));
    a.reason = static_cast<uint8_t>(rng.below(4));
    a.pr = rng.chance(0.2);
    a.us = rng.chance(0.3);
    a.time_wait = rng.chance(0.1);
    a.ts = rng.chance(0.5);
    a.own = rng.chance(0.8);
    a.una = static_cast<uint32_t>(corner(rng, 24));
    a.una_was = (a.una - static_cast<uint32_t>(rng.below(24))) & kPsnMask;
    a.copy = rng.chance(0.2);
    a.trims = rng.chance(0.3);
    a.psn = (a.una + static_cast<uint32_t>(rng.below(80)) - 20) & kPsnMask;
    if (a.pr) a.psn = rng.chance(0.3) ? 0xffff : static_cast<uint32_t>(corner(rng, 16));
    if (a.pr && rng.chance(0.3)) a.psn |= static_cast<uint32_t>(rng.below(256)) << 16;
    a.base = (a.psn - static_cast<uint32_t>(rng.below(90)) + 15) & kPsnMask;
    a.bitmap = rng.next() | (rng.chance(0.5) ? rng.next() : 0);
    a.sacked = static_cast<uint16_t>(rng.next() & rng.next());
    a.rtxd = static_cast<uint16_t>(rng.next() & rng.next());
    a.trip = static_cast<uint32_t>(rng.chance(0.5) ? rng.below(60 * 256) : rng.below(256 * kMost + 1));
    a.tick = static_cast<uint16_t>(corner(rng, 16));
    const auto age = static_cast<uint32_t>(rng.chance(0.7) ? rng.below(80) : corner(rng, 11));
    if (rng.chance(0.05)) a.trip = 0;
    a.returned = static_cast<uint16_t>(a.us ? (a.tick >> 3) - (age >> 3) : a.tick - age);
    // What limit() looks at, if it is by_sent, comes first.
    a.stamps[a.psn % 16] = static_cast<uint16_t>((a.tick + kLater - age) & 0xfffu);
    for (uint16_t& stamp : a.stamps) {
      if (a.by_sent() && &stamp == &a.stamps[a.psn % 16]) continue;
      const int64_t off =
          rng.chance(0.7) ? static_cast<int64_t>(rng.below(8)) - 4 : static_cast<int64_t>(rng.below(4096));
      stamp = static_cast<uint16_t>((a.limit() + static_cast<uint64_t>(off)) & 0xfffu);
    }
    INFO("answer " << i << ": kind " << int{a.kind} << " took " << a.took() << " trip " << a.trip << " psn " << a.psn
                   << " una " << a.una << " base " << a.base);
    const Said said = answered(unit, a);
    REQUIRE(said.old == a.old());
    REQUIRE(said.old_una == a.old());
    REQUIRE(said.trip == a.trip_after());
    REQUIRE(said.trims == a.trims_after());
    REQUIRE(said.knows == a.knows());
    REQUIRE(unit.failed().empty());
    knew += said.knows;
    some += said.old != 0 && said.old != 0xffff;
    far += a.gives_time() && !a.time_wait && !said.knows;
    silent += a.kind == kSack && !a.gives_time();
    requested += a.gives_time() && a.pr;
    waited += a.gives_time() && a.time_wait;
    trims += a.kind == kNack && said.trip != a.trip;
    longer += a.kind == kSack && said.trip > a.trip;
    const bool trim = a.kind == kNack && (a.reason == kTrimmed || a.reason == kTrimmedLasthop);
    knew_sent += a.by_sent() && said.knows;
    twice += a.by_sent() && a.kind == kSack && a.arrived() && a.own && !a.once();
    reported += a.ts && a.kind == kSack && !a.pr && a.arrived() && a.twice();
    copies +=
        a.by_sent() && a.kind == kSack && !a.pr && a.arrived() && a.own && a.copy && (a.rtxd >> (a.psn % 16) & 1u) == 0;
    in_us += a.us && !a.by_sent() && said.knows && a.tick % 8 != 0;
    first += a.by_sent() && a.gives_time() && a.trip == 0;
    ago += a.by_sent() && a.gives_time() && a.took() == kMost;
    trims_sent += trim && a.by_sent() && said.trip != a.trip;
    trims_twice += trim && a.by_sent() && a.own && !a.once() && 8 * a.took() > a.longest();
    quartered += a.trims && a.pr && said.knows;
    measured += a.trims && !said.trims;
    requested_sent += !a.ts && a.pr && said.knows && !a.once();
  }
  for (const unsigned seen : {knew, some, far, silent, trims, longer, requested, waited}) CHECK(seen > 1000);
  for (const unsigned seen : {knew_sent, twice, reported, copies, in_us, first, ago, trims_sent, trims_twice,
                              requested_sent, quartered, measured})
    CHECK(seen > 500);
}

TEST_CASE("a block of the RTL's window loses what is old, below lim, and was sent again or not", "[rtl][time]") {
  Unit unit;
  Rng rng(1, "aged");
  unsigned again = 0, behind = 0, both = 0;
  for (unsigned i = 0; i < 100000; ++i) {
    // The bitmap begins with the block, the window before or in it.
    const auto block = static_cast<uint32_t>(corner(rng, 20)), p0 = block << 4;
    const auto first = static_cast<unsigned>(rng.below(16)),
               end = static_cast<unsigned>(first + 1 + rng.below(16 - first));
    const auto lim = static_cast<unsigned>(first + rng.below(end - first) + 1);
    const auto old = static_cast<unsigned>(rng.next() & 0xffff), rtxd = static_cast<unsigned>(rng.next() & 0xffff);
    const auto sacked = static_cast<unsigned>(rng.next() & rng.next() & 0xffff);
    const auto pend = static_cast<unsigned>(rng.next() & rng.next() & 0xffff) & ~sacked;
    const uint64_t bitmap = rng.next() & rng.next();
    const bool gaps = rng.chance(0.3);
    unit->sackrow_valid_i = 1;
    unit->sackrow_block_i = block;
    unit->sackrow_base_i = static_cast<uint8_t>(p0 & 127);
    unit->sackrow_bitmap_i = bitmap;
    unit->sackrow_ooo_i = gaps ? 100 : 0;
    unit->sackrow_reorder_i = gaps ? 4 : 1;
    unit->sackrow_una_i = p0 + first;
    unit->sackrow_hi1_i = (p0 + end) & kPsnMask;
    unit->sackrow_nxt_i = (p0 + end) & kPsnMask;
    unit->sackrow_lim_i = (p0 + lim) & kPsnMask;
    unit->sackrow_old_i = static_cast<uint16_t>(old);
    unit->sackrow_mute_i = 0;
    unit->sackrow_nacked_i = 0;
    unit->sackrow_rtxd_i = static_cast<uint16_t>(rtxd);
    unit->sackrow_pend_i = static_cast<uint16_t>(pend);
    unit->sackrow_sacked_i = static_cast<uint16_t>(sacked);
    unit.settle();
    unsigned lost = 0;
    for (unsigned bit = first; bit < end; ++bit) {
      const bool out = ((sacked | pend | bitmap) >> bit & 1u) == 0;
      const bool aged = bit < lim && (old >> bit & 1u) != 0;
      const bool gap = gaps && bit + 4 <= end - 1 && (rtxd >> bit & 1u) == 0;
      if (out && (aged || gap)) lost |= 1u << bit;
      again += out && aged && (rtxd >> bit & 1u) != 0;
      behind += out && !aged && !gap && (old >> bit & 1u) != 0;
      both += out && aged && gap;
    }
    INFO("first " << first << " end " << end << " lim " << lim << " old " << old << " gaps " << gaps);
    REQUIRE(unit->sackrow_lost_o == lost);
  }
  for (const unsigned seen : {again, behind, both}) CHECK(seen > 2000);
}

}  // namespace mrc::test::inflight_time_test

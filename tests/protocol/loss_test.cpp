// SPDX-License-Identifier: Apache-2.0
// Losses known by time, by port and by a question, by hand: ticks of 128 ns.
#include <array>
#include <catch2/catch_test_macros.hpp>

#include "protocol/blame.hpp"
#include "protocol/overdue.hpp"
#include "protocol/port_loss.hpp"
#include "protocol/resend.hpp"
#include "protocol/silence.hpp"

namespace mrc::test::loss_test {

TEST_CASE("a packet is overdue once it is more than its share of a round trip older than what arrived",
          "[protocol][overdue]") {
  // 6.4 us are 50 ticks: six eighths of them are 37.
  CHECK(overdue_spare(6, 50) == 37);
  CHECK(overdue_spare(8, 50) == 50);
  CHECK(overdue_eighths(6, false) == 6);
  CHECK(overdue_eighths(6, true) == 8);
  CHECK(overdue_eighths(12, true) == 12);
  // Sent at 1000, answered by what was sent at 1050: not yet; at 1051 it is.
  CHECK_FALSE(is_overdue(1000, 1050, 50));
  CHECK(is_overdue(1000, 1051, 50));
  CHECK_FALSE(is_overdue(1100, 1051, 50));  // what arrived is older
  CHECK(is_overdue(1100, 1151, 50));
  // Time stamps wrap around; from half of their range on nobody knows which was first.
  CHECK_FALSE(is_overdue(65500, 14, 50));  // 50 ticks
  CHECK(is_overdue(65500, 15, 50));        // 51
  CHECK_FALSE(is_overdue(0, 32768, 50));
  CHECK(is_overdue(0, 32767, 50));
}

TEST_CASE("only what is out is asked about: neither what has arrived nor what waits to be sent again",
          "[protocol][overdue]") {
  WinRow row;
  row.sacked = 0x3;
  row.pend = 0x4;
  row.rtxd = 0x8;  // was sent again: it may be lost again
  CHECK(overdue_candidates(row, 0x1f) == 0x18);
  // What was sent again itself tells of what was sent again alone.
  CHECK(overdue_candidates(row, 0x1f, false) == 0x18);
  CHECK(overdue_candidates(row, 0x1f, true) == 0x08);
}

TEST_CASE("the longest round trip of late grows at once, fades by a 256th, and is the least one at least",
          "[protocol][overdue]") {
  CHECK(longest_of_late(0, 40, 50) == 50 * 256);
  CHECK(longest_of_late(50 * 256, 2560, 50) == 2560 * 256);
  CHECK(longest_of_late(2560 * 256, 40, 50) == 2550 * 256);
  CHECK(longest_of_late(200 * 256, 40, 50) == 200 * 256 - 200);  // below 256 ticks it fades, too
  CHECK(longest_ticks(200 * 256 - 200) == 200);                  // 199.2 are 200
  CHECK(longest_ticks(200 * 256) == 200);
  CHECK(longest_of_answer(200 * 256) == 175 * 256);  // an eighth
}

TEST_CASE("a port that is down loses what it was given, and no EV is to blame", "[protocol][port-loss]") {
  WinRow row;
  row.sacked = 0x01;
  row.pend = 0x02;
  CHECK(port_lost(row, 0x0f) == 0x0c);  // PSNs 2 and 3; 0 has arrived, 1 waits already
  CHECK(row.pend == 0x0e);
  CHECK(row.nacked == 0x0c);
  CHECK(row.mute == 0x0c);
  CHECK(port_lost(row, 0x0f) == 0);
  // Of 4 planes EV 6 is on plane 2.
  CHECK(given_to(6, 4, 0b0100));
  CHECK_FALSE(given_to(6, 4, 0b1011));
  CHECK(given_to(15, 8, 0b1000'0000));
  CHECK_FALSE(given_to(kNoPathEv, 4, 0b1111));
  // Planes 1 and 3 fall; 2, which comes back, says nothing.
  CHECK(planes_gone(0b1011, 0b0101) == 0b1010);
  CHECK(planes_gone(0b0101, 0b1111) == 0);
}

TEST_CASE("a question is asked after so many eighths of a round trip, then after twice the time, up to 64 times",
          "[protocol][silence]") {
  CHECK(silence_wait(9, 46, 0, 0) == 51);  // 6.5 us of 5.9
  CHECK(silence_wait(9, 46, 0, 1) == 102);
  CHECK(silence_wait(9, 46, 0, 6) == 51 * 64);
  CHECK(silence_wait(9, 46, 0, 20) == 51 * 64);
  CHECK(silence_wait(2, 46, 0, 0) == 11);          // an ACK
  CHECK(silence_wait(9, 46, 100, 0) == 100);       // the least
  CHECK(silence_wait(0, 46, 0, 3) == 0);           // never
  CHECK(silence_wait(9, 46, 62500, 0) == 0x7fff);  // 8 ms: no time stamp tells so long
  CHECK(silence_wait(9, 1000, 0, 6) == 0x7fff);
  // What round trips differ by, and a quarter of the smallest.
  CHECK(question_spare(46, 46) == 11);
  CHECK(question_spare(81, 46) == 46);
  CHECK(question_spare(69, 46) == 34);
  CHECK(question_again(question_spare(118, 46), 46) == 89);
  // It was asked 34 ticks after the packet was sent, 35, and before.
  CHECK(query_too_soon(1034, 1000, 34));
  CHECK_FALSE(query_too_soon(1035, 1000, 34));
  CHECK_FALSE(query_too_soon(999, 1000, 34));
  CHECK(query_too_soon(33, 0xffffffff, 34));
}

TEST_CASE("with a clock, a QP asks by its longest round trip and what it sent last", "[protocol][silence][A-84]") {
  // Nine eighths, and a tick, of 20 and of 24.5 ticks, which are 25.
  CHECK(silence_bound(5120) == 23);
  CHECK(silence_bound(6272) == 29);
  CHECK(silence_bound(256) == 2);
  CHECK(silence_bound(0) == 64);  // it knows none yet
  CHECK(silence_bound(1023 * 256) == 1151);
  const std::array<uint32_t, 8> waits = {23, 23, 46, 92, 184, 368, 736, 1472};
  for (unsigned requested = 0; requested < waits.size(); ++requested) {
    CHECK(silence_pause(23, silence_doubled(requested, false, false)) == waits[requested]);
    CHECK(silence_pause(23, silence_doubled(requested, true, false)) == std::min(2 * waits[requested], 1791u));
    CHECK(silence_pause(23, silence_doubled(requested, false, true)) == std::min(2 * waits[requested], 1791u));
    CHECK(silence_pause(23, silence_doubled(requested, true, true)) == std::min(4 * waits[requested], 1791u));
  }
  CHECK(silence_pause(1151, 1) == 1791);
  // By stamps that come round it may ask for 257 ticks in a row at least, whenever the question before was.
  for (unsigned since = 0; since < 4096; ++since) {
    unsigned row = 0, most = 0;
    for (unsigned tick = 0; tick < 2 * 4096; ++tick) {
      row = query_due(1791, tick, 0, false, static_cast<uint16_t>(since)) ? row + 1 : 0;
      most = std::max(most, row);
    }
    if (most < 257) FAIL("a question " << since << " ticks after the newest packet: " << most);
  }
  // Since the newest packet, sent at 100.
  CHECK(!query_due(23, 122, 100, true, 99));
  CHECK(query_due(23, 123, 100, true, 122));  // no question: since means nothing
  // Since the newest question, asked at 123.
  CHECK(!query_due(23, 145, 100, false, 123));
  CHECK(query_due(23, 146, 100, false, 123));
  CHECK(!query_due(23, 146, 124, false, 123));  // something was sent meanwhile
  // Stamps come round.
  CHECK(query_due(23, 4096 + 10, 4083, true, 0));
  CHECK(!query_due(23, 4096 + 9, 4083, true, 0));
  CHECK(!query_due(23, 4096 + 110, 100, true, 0));
  CHECK(silence_heard(5, true, false) == 0);
  CHECK(silence_heard(5, true, true) == 0);
  CHECK(silence_heard(5, false, true) == 1);
  CHECK(silence_heard(0, false, true) == 0);
  CHECK(silence_heard(5, false, false) == 5);
}

TEST_CASE("with a clock, stamps of 12 bits and the round trips of the QP tell what is late",
          "[protocol][overdue][A-83]") {
  CHECK(round_trip(1000, 1020, false) == 20);
  CHECK(round_trip(1000, 2023, false) == 1023);
  CHECK(round_trip(1000, 3000, false) == 1023);
  CHECK(round_trip(0xfff0, 0x10004, false) == 20);
  CHECK(round_trip(125, 1020, true) == 20);  // since 1000
  CHECK(round_trip(100, 820, true) == 20);   // 800 to 807
  CHECK(round_trip(100, 807, true) == 7);
  CHECK(round_trip(0x1ffe, 0x10004, true) == 20);  // since 0xfff0
  CHECK(round_trip(125, 1000 + 1023, true) == 1023);
  CHECK(round_trip(125, 1000 + 0x10000 - 1, true) == 1023);
  CHECK(stamp_of(0x1234, false) == 0x234);
  CHECK(stamp_of(0x1234, true) == 0x1a0);
  // 24.5 ticks: 25, without a quarter 19. What was sent up to 2980 is late when what was sent at 3000 has arrived.
  CHECK(longest_trip(6272, 20, false) == 25);
  CHECK(longest_trip(6272, 26, false) == 26);
  CHECK(longest_trip(0, 20, false) == 20);
  CHECK(longest_trip(6272, 26, true) == 25);
  CHECK(trip_known(0, 20, false));
  CHECK(!trip_known(0, 20, true));
  CHECK(trip_known(256, 1022, true));
  CHECK(!trip_known(256, 1023, true));
  CHECK(!trip_known(256, 1023, false));
  CHECK(!trip_known(1023 * 256, 20, true));
  CHECK(trip_by_sent(1000, 1020) == 20);
  CHECK(trip_by_sent(4090, 4096 + 4) == 10);  // stamps come round
  CHECK(trip_by_sent(0, 1023) == 1023);
  CHECK(trip_by_sent(0, 4000) == 1023);
  CHECK(gives_time(true, 0xfffe, false, false, false, false));  // the answer to a question
  CHECK(gives_time(true, 0xfffe, false, true, false, false));   // whatever its id as a PSN
  CHECK(!gives_time(true, 0xffff, true, false, true, true));
  CHECK(!gives_time(true, 0x1'ffff, true, false, true, true));
  CHECK(gives_time(false, 0xffff, true, false, true, false));
  CHECK(gives_time(false, 0xffff, true, false, false, true));
  CHECK(!gives_time(false, 0xffff, true, false, false, false));
  CHECK(!gives_time(false, 0xffff, false, false, true, true));
  CHECK(!gives_time(false, 0xffff, true, true, true, false));
  CHECK(reported_before(true, false, 9, 10, false));
  CHECK(reported_before(true, false, 10, 10, true));
  CHECK(reported_before(true, false, 0xffffff, 0, false));
  CHECK(!reported_before(true, false, 10, 10, false));
  CHECK(!reported_before(true, true, 9, 10, true));
  CHECK(!reported_before(false, false, 9, 10, true));  // its block is gone
  CHECK(late_spare(25) == 19);
  CHECK(late_spare(3) == 3);
  CHECK(late_spare(1022) == 767);
  CHECK(overdue_limit(3000, 19) == 2980);
  CHECK(overdue_limit(10, 19) == 4086);
  CHECK(overdue_at(2980, 2980));
  CHECK(overdue_at(2980, 933));  // 2047 before
  CHECK(!overdue_at(2980, 932));
  CHECK(!overdue_at(2980, 2981));
  CHECK(!overdue_at(2980, 3000));
  CHECK(overdue_at(4086, 4000));
  CHECK(!overdue_at(4086, 5));
  CHECK(trip_of_late(6272, 20) == 6248);
  CHECK(trip_of_late(6272, 25) == 6400);
  CHECK(trip_of_late(255, 0) == 255);
  CHECK(trip_of_trim(6272, 30) == 61440);
  CHECK(trip_of_trim(61441, 30) == 61441);
  CHECK(trip_of_trim(0, 128) == 1022 * 256);
  CHECK(trim_counts(6272, 30));
  CHECK(!trim_counts(61440, 30));
  CHECK(!trip_measured(6272, 24));  // 6248 is left of it: 24.4 ticks
  CHECK(trip_measured(6272, 25));
  CHECK(trip_of_question(61440, true) == 15360);
  CHECK(trip_of_question(61440, false) == 61440);
}

TEST_CASE("with a clock, a row of PSNs is judged at once", "[protocol][overdue][A-83]") {
  const std::array<uint16_t, 8> sent = {100, 100, 100, 100, 100, 101, 100, 100};
  const TimeView v{.knows = true, .limit = 100, .end = 0x107};
  PsnRow<uint8_t> row;
  row.sacked = 0b0000'0100;
  row.pend = 0b0000'1000;
  row.rtxd = 0b0001'0000;
  // 0 is before una, 2 reported, 3 waits, 5 newer, 6 not covered, 7 has no stamp yet: 1 and 4, which was sent again.
  CHECK(overdue_row(row, 0x100, 0b1011'1111, 0x101, sent, v) == 0b0001'0010);
  CHECK(row.pend == 0b0001'1010);
  CHECK(row.rtxd == 0b0001'0000);
  CHECK(overdue_row(row, 0x100, 0xff, 0x101, sent, {.knows = false, .limit = 100, .end = 0x107}) == 0);
  CHECK(!time_lost(row, 0x101, 100, v));  // waits
  CHECK(!time_lost(row, 0x102, 100, v));  // reported
  CHECK(!time_lost(row, 0x105, 101, v));  // newer
  CHECK(time_lost(row, 0x106, 100, v));
  CHECK(row.pend == 0b0101'1010);
  // una is missing, and before the bitmap or behind it.
  CHECK(time_candidate(v, 0x100, 0x102, 0x101));
  CHECK(!time_candidate(v, 0x100, 0x101, 0x101));
  CHECK(!time_candidate(v, 0x100, 0x101 - 63, 0x101));
  CHECK(time_candidate(v, 0x100, 0x101 - 64, 0x101));
  CHECK(!time_candidate(v, 0x0ff, 0x102, 0x101));  // una has moved since
  CHECK(!time_candidate(v, 0x106, 0x109, 0x107));  // all are reported
  CHECK(!time_candidate({.knows = false, .limit = 100, .end = 0x107}, 0x100, 0x102, 0x101));
}

TEST_CASE("what was lost goes on another plane, if there is one", "[protocol][resend]") {
  CHECK(planes_but(0b1111, 0b0100) == 0b1011);
  CHECK(planes_but(0b0100, 0b0100) == 0b0100);
  CHECK(planes_but(0b0011, 0b0000) == 0b0011);
}

TEST_CASE("an EV heard of lately is given to one retransmission, the newest first", "[protocol][resend]") {
  ProvenEvs evs;
  const auto any = [](uint16_t) { return true; };
  CHECK(evs.take(100, 92, any) == 0xffff);
  for (uint16_t ev = 1; ev <= 5; ++ev) evs.heard(ev, 100 + ev);  // the first one is gone
  CHECK(evs.take(110, 92, [](uint16_t ev) { return ev != 5; }) == 4);
  CHECK(evs.take(110, 92, any) == 5);
  CHECK(evs.take(110, 92, any) == 3);
  CHECK(evs.take(200, 92, any) == 0xffff);  // 98 ticks ago
  CHECK(evs.take(194, 92, any) == 2);
  CHECK(evs.take(110, 92, any) == 0xffff);
}

TEST_CASE("one loss makes an EV bad, unless half of the planes lose too", "[protocol][blame]") {
  CHECK(strikes_needed(0, 1, 3) == 1);
  CHECK(strikes_needed(0, 2, 3) == 1);
  CHECK(strikes_needed(1, 2, 3) == 3);
  CHECK(strikes_needed(1, 4, 3) == 1);
  CHECK(strikes_needed(2, 4, 3) == 3);
  CHECK(strikes_needed(3, 8, 3) == 1);
  CHECK(strikes_needed(4, 8, 3) == 3);
  CHECK(strikes_needed(7, 8, 0) == 1);
  LossPlanes planes;
  CHECK(planes.others(0, 1000, 64) == 0);
  planes.lost(0, 1000);
  CHECK(planes.others(0, 1000, 64) == 0);
  CHECK(planes.others(1, 1064, 64) == 1);
  CHECK(planes.others(1, 1065, 64) == 0);
  planes.lost(7, 1010);
  CHECK(planes.others(1, 1064, 64) == 2);
  CHECK(planes.others(7, 1064, 64) == 1);
}

TEST_CASE("a world is bad when half of the planes lose besides one's own; then one loss in so many counts",
          "[protocol][blame][A-87]") {
  CHECK_FALSE(loss_world(0, 1));
  CHECK_FALSE(loss_world(0, 2));
  CHECK(loss_world(2, 2));
  CHECK_FALSE(loss_world(0b0010, 4));
  CHECK(loss_world(0b1010, 4));
  CHECK_FALSE(loss_world(0b1011'0000, 8) /* three */);
  CHECK(loss_world(0b1011'0001, 8));
  for (unsigned share = 1; share <= 7; ++share) {
    const unsigned of = 1u << (share < 4 ? share : 4);  // 5 to 7 are taken as 4
    for (unsigned spared = 0; spared < 16; ++spared) {
      CAPTURE(share, spared);
      CHECK(loss_counts(false, spared, share));
      CHECK(loss_counts(true, spared, share) == (spared % of == of - 1));
    }
  }
}

TEST_CASE("by hand: four planes of eight make a bad world, of whose losses one in four counts",
          "[protocol][blame][A-87]") {
  LossWorld w;
  for (unsigned plane = 0; plane < 4; ++plane) CHECK(w.lost(plane, 2048, 8, 2));
  CHECK_FALSE(w.lost(4, 2049, 8, 2));
  CHECK_FALSE(w.lost(4, 3071, 8, 2));
  CHECK_FALSE(w.lost(0, 3072, 8, 2));  // the next epoch
  CHECK(w.lost(0, 3072, 8, 2));
  CHECK_FALSE(w.lost(0, 4095, 8, 2));
  CHECK(w.lost(0, 4096, 8, 2));  // the epoch after that knows plane 0 alone
}

TEST_CASE("EVs of a plane that lose within a round trip are counted once each, up to four", "[protocol][blame]") {
  PlaneLosses losses;
  CHECK(losses.lost(5, 100, 46) == 1);
  CHECK(losses.lost(5, 110, 46) == 1);
  CHECK(losses.lost(6, 146, 46) == 2);
  CHECK(losses.lost(7, 147, 46) == 1);  // the first was 47 ticks ago
  for (uint16_t ev = 8; ev < 20; ++ev) (void)losses.lost(ev, 150, 46);
  CHECK(losses.lost(20, 150, 46) == 4);
}

TEST_CASE("loss: a SACK that counts what is reported shows all, unless a newer one or another cack was seen",
          "[protocol][overdue][A-92]") {
  CHECK(shows_all(0xffffff, 1, 0, 1, true));         // PSN 19 alone, as by hand in loss.md
  CHECK_FALSE(shows_all(0xffffff, 2, 0, 1, true));   // one more beyond the bitmap
  CHECK_FALSE(shows_all(0xffffff, 1, 0, 1, false));  // overtaken
  CHECK_FALSE(shows_all(0xfffffe, 1, 0, 1, true));   // una has passed its cack
}

TEST_CASE("loss: after a trim a question waits for two of the longest round trip, four full ones at most",
          "[protocol][silence][A-84]") {
  CHECK(silence_trip_of_trims(81, 69) == 162);
  CHECK(silence_trip_of_trims(138, 69) == 276);
  CHECK(silence_trip_of_trims(540, 69) == 276);
}

}  // namespace mrc::test::loss_test

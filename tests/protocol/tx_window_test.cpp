// SPDX-License-Identifier: Apache-2.0
#include "protocol/tx_window.hpp"

#include <catch2/catch_test_macros.hpp>
#include <random>

namespace mrc::test::tx_window_test {
namespace {

constexpr uint64_t bits(unsigned lo, unsigned hi) {  // lo..hi inclusive
  return low_mask(hi + 1) & ~low_mask(lo);
}

Sack sack(uint32_t cack, uint32_t psn, uint16_t ooo) { return {.cack_psn = cack, .psn = psn, .ooo_count = ooo}; }

}  // namespace

TEST_CASE("range mask is the set of PSNs between two bounds", "[protocol][window]") {
  CHECK(range_mask(64, 70, 80) == bits(6, 15));
  CHECK(range_mask(64, 0, 1000) == ~uint64_t{0});
  CHECK(range_mask(64, 64, 128) == ~uint64_t{0});
  CHECK(range_mask(64, 128, 200) == 0);
  CHECK(range_mask(64, 10, 64) == 0);
  CHECK(range_mask(64, 10, 65) == 1);
  CHECK(range_mask(64, 127, 500) == uint64_t{1} << 63);
  CHECK(range_mask(64, 70, 70) == 0);
  CHECK(range_mask(0xffffc0, 0xfffff0, 5) == bits(48, 63));
  CHECK(range_mask(0, 0xfffff0, 5) == bits(0, 4));
}

namespace {

template <class Mask>
void range_by_definition() {
  constexpr unsigned n_psns = kRowPsns<Mask>;
  std::mt19937 rng(1);
  for (int n = 0; n < 20000; ++n) {
    const uint32_t p0 = (rng() % 32 * n_psns - 8 * n_psns) & kPsnMask;
    const uint32_t a = psn_add(p0, static_cast<int>(rng() % 400) - 200), b = psn_add(a, rng() % 300);
    Mask want = 0;
    for (unsigned i = 0; i < n_psns; ++i) {
      if (psn_dist(psn_add(p0, i), a) < psn_dist(b, a)) want = static_cast<Mask>(want | Mask{1} << i);
    }
    INFO("p0 " << p0 << " a " << a << " b " << b);
    REQUIRE(range_mask<Mask>(p0, a, b) == want);
  }
}

}  // namespace

TEST_CASE("range mask agrees with its definition, PSN by PSN", "[protocol][window]") {
  range_by_definition<uint64_t>();
  range_by_definition<uint16_t>();
}

TEST_CASE("a PSN has a bit in its row, whatever the row's width", "[protocol][window]") {
  CHECK(psn_bit<uint16_t>(0x35) == 1u << 5);
  CHECK(psn_bit<uint64_t>(0x75) == uint64_t{1} << 0x35);
  CHECK(lowest_psn(0x40, uint16_t{0b1000}) == 0x43);
}

TEST_CASE("the piece of a bitmap that falls into a row", "[protocol][window]") {
  constexpr uint64_t map = 0x8000'0000'0001'8001;  // bits 0, 15, 16, 63
  const auto piece = [](uint32_t base, uint32_t p0) { return sack_piece<uint16_t>(map, base, p0); };
  CHECK(piece(0x20, 0x20).got == 0x8001);
  CHECK(piece(0x20, 0x20).cover == 0xffff);
  CHECK(piece(0x20, 0x30).got == 1);
  CHECK(piece(0x20, 0x50).got == 0x8000);
  CHECK(piece(0x20, 0x50).cover == 0xffff);
  CHECK(piece(0x20, 0x60).cover == 0);
  CHECK(piece(0x20, 0x10).cover == 0);
  CHECK(piece(0x23, 0x20).got == 0x0008);
  CHECK(piece(0x23, 0x20).cover == 0xfff8);
  CHECK(piece(0x23, 0x30).got == 0x000c);  // 0x32, 0x33
  CHECK(piece(0x23, 0x60).got == 0x0004);  // 0x62
  CHECK(piece(0x23, 0x60).cover == 0x0007);
  CHECK(piece(0xfffff8, 0).got == 0x0180);  // 7, 8
  CHECK(piece(0xfffff8, 0xfffff0).got == 0x0100);
  CHECK(sack_piece<uint64_t>(map, 0x41, 0x40).got == 0x3'0002);
  CHECK(sack_piece<uint64_t>(map, 0x41, 0x80).got == 1);
}

TEST_CASE("a row of 16 takes a SACK like one of 64", "[protocol][window]") {
  // As below: sent 0..39, all but 0 and 3 up to 9 received; here the block of 0..15.
  const SackView v = sack_view(0, 40, 9, 8, 4);
  CHECK(v.infer);
  CHECK(v.lost_end == 6);
  PsnRow<uint16_t> row{.mute = 0, .nacked = 0, .rtxd = 0, .pend = 0b10, .sacked = 0};
  CHECK(cancelled_losses(row, 0, 0b11'1111'0110, v) == 0);
  row.nacked = 0b10;
  CHECK(cancelled_losses(row, 0, 0b11'1111'0110, v) == 1);
  CHECK(sack_row(row, 0, 0b11'1111'0110, 0xffff, v) == 0b1001);
  CHECK(row == PsnRow<uint16_t>{.mute = 0, .nacked = 0, .rtxd = 0, .pend = 0b1001, .sacked = 0b11'1111'0110});
  CHECK(retx_row(row, 0, 1, 40) == 0b1000);
  CHECK(retx_row(row, 0, 0, 3) == 0b0001);
}

TEST_CASE("a NACK takes a packet once, and not one that has arrived", "[protocol][window]") {
  // 1 has arrived; 2 waits because of a gap, nobody was told; 3 was told of as lost and waits for the window; 4 left
  // the flight with all others, its EV was not told.
  PsnRow<uint16_t> row{.mute = 0b01000, .nacked = 0b11000, .rtxd = 0, .pend = 0b11100, .sacked = 0b10};
  const auto nack = [&](uint32_t psn) {
    const NackMark mark = nack_lost(row, psn);
    return 2 * mark.lost + mark.leaves;
  };
  CHECK(nack(0x20) == 3);
  CHECK(row == PsnRow<uint16_t>{.mute = 0b01001, .nacked = 0b11001, .rtxd = 0, .pend = 0b11101, .sacked = 0b10});
  CHECK(nack(0x20) == 0);
  CHECK(nack(0x21) == 0);
  CHECK(nack(0x22) == 3);  // it was trimmed, not lost
  CHECK(nack(0x23) == 0);
  CHECK(nack(0x24) == 2);
  CHECK(row == PsnRow<uint16_t>{.mute = 0b11101, .nacked = 0b11101, .rtxd = 0, .pend = 0b11101, .sacked = 0b10});
}

TEST_CASE("a pending packet that is sent again is pending no more; who was not told of its loss is",
          "[protocol][window]") {
  PsnRow<uint16_t> row{.mute = 0b0001, .nacked = 0b0101, .rtxd = 0b0010, .pend = 0b0111, .sacked = 0};
  const auto again = [&](uint32_t psn) {
    const LossNews news = send_again(row, psn);
    return 2 * news.loss + news.blame;
  };
  CHECK(again(0x30) == 0);  // a NACK
  CHECK(row == PsnRow<uint16_t>{.mute = 0, .nacked = 0b0100, .rtxd = 0b0011, .pend = 0b0110, .sacked = 0});
  CHECK(again(0x31) == 3);
  CHECK(again(0x32) == 1);  // the controller knows of it
  CHECK(row == PsnRow<uint16_t>{.mute = 0, .nacked = 0, .rtxd = 0b0111, .pend = 0, .sacked = 0});
  row.pend = 0b1000;
  PsnRow<uint16_t> before = row;
  CHECK(again(0x33) == 3);
  not_sent(before, 0x33);  // the window was shut: nobody is told again
  row = before;
  CHECK(again(0x33) == 0);
}

TEST_CASE("when all bytes have left the flight, what waits is told to its EVs only", "[protocol][window]") {
  PsnRow<uint16_t> row{.mute = 0b001, .nacked = 0b001, .rtxd = 0, .pend = 0b011, .sacked = 0b100};
  all_left(row);
  CHECK(row == PsnRow<uint16_t>{.mute = 0b001, .nacked = 0b011, .rtxd = 0, .pend = 0b011, .sacked = 0b100});
}

TEST_CASE("an overtaken SACK judges by the packet that brought it", "[protocol][window]") {
  // 30 has arrived, a newer SACK has told so; this one was brought by 18.
  const Sack c = sack(0xffffff, 18, 17);
  CHECK(sack_view(c, 0, 40, 30, 4, false).lost_end == 27);
  CHECK(sack_view(c, 0, 40, 30, 4, true).lost_end == 15);
  CHECK(sack_view(c, 0, 40, 30, 4, true).infer);
  CHECK(sack_view(c, 0, 40, 30, 4, true).hi == 30);
  Sack probe = c;
  probe.pr = true;  // no packet brought it
  CHECK_FALSE(sack_view(probe, 0, 40, 30, 4, true).infer);
  CHECK(sack_view(probe, 0, 40, 30, 4, false).lost_end == 27);
  // One from before an ACK that moved una says nothing of una.
  CHECK(same_ev_candidate(c, 0, 40));
  CHECK_FALSE(same_ev_candidate(c, 1, 40));
}

TEST_CASE("a cumulative acknowledgement fits up to the newest PSN sent, or is old", "[protocol][window]") {
  CHECK(cum_valid(10, 10, 20));
  CHECK(cum_valid(20, 10, 20));
  CHECK_FALSE(cum_valid(21, 10, 20));
  CHECK(cum_valid(9, 10, 20));
  CHECK(cum_valid(0xfffff0, 10, 20));
}

TEST_CASE("a gap is lost once enough packets above it arrived, and only what the bitmap speaks of",
          "[protocol][window]") {
  // Sent 0..39, received all but 0 and 3 up to 9, triggering packet 9; tolerance 4: lost below 6.
  Sack c = sack(0xffffff, 9, 8);
  const SackView v = sack_view(c, 0, 40, 0xffffff, 4, false);
  CHECK(v.una == 0);
  CHECK(v.hi == 9);
  CHECK(v.infer);
  CHECK(v.lost_end == 6);
  WinRow row;
  CHECK(sack_row(row, 0, 0b11'1111'0110, ~uint64_t{0}, v) == 0b1001);
  CHECK(row.sacked == 0b11'1111'0110);
  CHECK(row.pend == 0b1001);
  // The same SACK again: pending already.
  CHECK(sack_row(row, 0, 0b11'1111'0110, ~uint64_t{0}, v) == 0);
  // PSN 0 was retransmitted meanwhile: not lost again by a gap.
  row.pend = 0;
  row.rtxd = 1;
  CHECK(sack_row(row, 0, 0b11'1111'0110, ~uint64_t{0}, v) == 0b1000);
  // A bitmap from 2 on says nothing of PSN 0.
  WinRow other;
  CHECK(sack_row(other, 0, 0b11'1111'0100, ~uint64_t{0} << 2, v) == 0b1000);
}

TEST_CASE("below the tolerance nothing is lost", "[protocol][window]") {
  const SackView v = sack_view(sack(0xffffff, 9, 8), 0, 40, 0xffffff, 9, false);
  CHECK_FALSE(v.infer);
  WinRow row;
  CHECK(sack_row(row, 0, 0x3fe, ~uint64_t{0}, v) == 0);
}

TEST_CASE("a late report of a pending PSN takes it off", "[protocol][window]") {
  WinRow row;
  row.pend = 0b1001;
  const SackView v = sack_view(sack(0, 3, 0), 0, 40, 9, 32, false);
  CHECK(v.una == 1);
  CHECK(v.hi == 9);  // 3 is not above
  CHECK(sack_row(row, 0, 0b1000, ~uint64_t{0}, v) == 0);
  CHECK(row.pend == 0b0001);  // below una: range masks keep it out
  CHECK(retx_row(row, 0, 1, 40) == 0);
}

TEST_CASE("what a SACK reports received is neither pending nor NACKed any more", "[protocol][window]") {
  WinRow row;
  row.pend = row.nacked = 0b110;
  const SackView v = sack_view(sack(63, 66, 1), 64, 100, 63, 4, false);
  CHECK(sack_row(row, 64, 0b100, ~uint64_t{0}, v) == 0);
  CHECK(row == WinRow{.mute = 0, .nacked = 0b010, .rtxd = 0, .pend = 0b010, .sacked = 0b100});
}

TEST_CASE("a SACK of a probe moves no high mark", "[protocol][window]") {
  Sack c = sack(4, 30, 0);
  c.pr = true;
  CHECK(sack_view(c, 0, 40, 9, 32, false).hi == 9);
  c.pr = false;
  CHECK(sack_view(c, 0, 40, 9, 32, false).hi == 30);
  CHECK(sack_view(c, 0, 30, 9, 32, false).hi == 9);  // not sent: outside the window
}

TEST_CASE("the retransmission pointer follows the window and marks only pull it back", "[protocol][window]") {
  CHECK(psn_first(20, 12) == 12);
  CHECK(psn_first(11, 12) == 11);
  CHECK(psn_first(0xfffff0, 12) == 0xfffff0);
  CHECK(psn_follow(9, 10) == 10);
  CHECK(psn_follow(10, 10) == 10);
  CHECK(psn_follow(11, 10) == 11);
  CHECK(psn_follow(0xfffff0, 10) == 10);
}

TEST_CASE("semantic ACK and NAK are checked against the messages sent", "[protocol][window]") {
  Ack a{.psn = 19, .msn = 5, .syndrome = 0x1f};
  CHECK(ack_valid(a, 10, 20, 3, 5));
  CHECK_FALSE(ack_valid(a, 10, 20, 3, 4));  // message not sent yet
  CHECK_FALSE(ack_valid(a, 10, 19, 3, 5));  // PSN not sent yet
  CHECK_FALSE(ack_valid(a, 10, 20, 6, 8));  // older than what is done
  a.syndrome = 0x61;
  CHECK(ack_valid(a, 10, 12, 3, 4));  // a NAK names the message under way
  CHECK_FALSE(ack_valid(a, 10, 12, 3, 3));
  a.syndrome = 0x20;
  CHECK_FALSE(ack_valid(a, 10, 20, 3, 5));
}

TEST_CASE("a NACKed packet that arrives before it is sent again cancels its loss", "[protocol][window]") {
  // 64 acknowledged below; 65, 66, 67 wait because of NACKs, 68 because of a gap, 69 arrived before.
  WinRow row;
  row.nacked = 0b1110;
  row.pend = 0b1'1110;
  row.sacked = 0b10'0000;
  const SackView v = sack_view(sack(64, 69, 2), 64, 100, 63, 4, false);
  CHECK(v.una == 65);
  CHECK(cancelled_losses(row, 64, 0, v) == 0);
  CHECK(cancelled_losses(row, 64, 0b10'0001, v) == 0);  // below the window; known already
  CHECK(cancelled_losses(row, 64, 0b11'1100, v) == 2);  // 66, 67, not 68
  CHECK(cancelled_losses(row, 64, ~uint64_t{0}, v) == 3);
  sack_row(row, 64, 0b11'1100, ~uint64_t{0}, v);
  CHECK(cancelled_losses(row, 64, 0b11'1100, v) == 0);  // once
  row.nacked = row.pend = ~uint64_t{0};
  row.sacked = 0;
  CHECK(cancelled_losses(row, 64, ~uint64_t{0}, v) == 35);  // 65..99: what was sent
}

TEST_CASE("a later packet of the same EV may speak for the oldest one only", "[protocol][window]") {
  const auto requests = [](uint32_t psn, uint32_t una, uint32_t nxt) {
    return same_ev_candidate(sack(psn_add(una, -1), psn, 0), una, nxt);
  };
  CHECK(requests(11, 10, 20));
  CHECK_FALSE(requests(10, 10, 20));  // itself
  CHECK_FALSE(requests(9, 10, 20));   // sent before it
  CHECK_FALSE(requests(21, 20, 20));  // nothing is out
  CHECK(requests(3, 0xfffffe, 20));
  WinRow row;
  CHECK(same_ev_lost(row, 74));
  CHECK(row == WinRow{.pend = uint64_t{1} << 10});
  CHECK_FALSE(same_ev_lost(row, 74));  // it waits already
  WinRow sacked{.sacked = 2}, again{.rtxd = 2}, others{.nacked = 0, .rtxd = 5, .pend = 5, .sacked = 8};
  CHECK_FALSE(same_ev_lost(sacked, 1));
  CHECK_FALSE(same_ev_lost(again, 1));
  CHECK(sacked == WinRow{.sacked = 2});
  CHECK(again == WinRow{.rtxd = 2});
  CHECK(same_ev_lost(others, 1));
  CHECK(others.pend == 7);
}

TEST_CASE("a packet that came back is lost, unless it has arrived, waits already, or is an older copy",
          "[protocol][window]") {
  const WinRow nothing{};
  for (const bool rtx : {false, true}) {
    WinRow row{.rtxd = rtx ? uint64_t{0x80} : 0};
    const WinRow before = row;
    CHECK_FALSE(returned_lost(row, 71, rtx, !rtx));
    CHECK(row == before);
    CHECK(returned_lost(row, 71, rtx, rtx));
    WinRow want = before;
    want.pend = 0x80;  // its EV and its controller are still to be told
    CHECK(row == want);
    CHECK_FALSE(returned_lost(row, 71, rtx, rtx));  // it waits
    CHECK(row == want);
  }
  WinRow arrived{.sacked = 0x80};
  CHECK_FALSE(returned_lost(arrived, 71, false, false));
  CHECK(arrived == WinRow{.sacked = 0x80});
  CHECK(returned_lost(arrived, 72, false, false));
  WinRow lost = nothing;
  returned_lost(lost, 0, false, false);
  CHECK((send_again(lost, 0).loss));
}

}  // namespace mrc::test::tx_window_test

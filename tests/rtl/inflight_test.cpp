// SPDX-License-Identifier: Apache-2.0
// The account and the SACK row of tx_inflight beside cmodel/protocol.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "pipeline/tx/inflight/tx_inflight_psns.hpp"
#include "protocol/flight.hpp"
#include "protocol/psn.hpp"
#include "protocol/tx_window.hpp"
#include "tests/rtl/unit.hpp"

namespace mrc::test::inflight_test {
namespace {

constexpr uint32_t kFlightMask = (1u << 28) - 1;

/// fsent and fgone of 28 bits with anything, little or nothing between them.
struct Account {
  uint32_t fsent, fgone;
  explicit Account(Rng& rng) {
    fgone = static_cast<uint32_t>(corner(rng, 28));
    const unsigned bits = rng.chance(0.2) ? 28 : static_cast<unsigned>(rng.between(1, 22));
    fsent = (fgone + static_cast<uint32_t>(corner(rng, bits))) & kFlightMask;
  }
  Flight flight() const {
    Flight fly;
    fly.enter(fsent);
    fly.enter_again(0u - fgone);
    return fly;
  }
  uint32_t gone_after(const Flight& fly) const { return (fsent - fly.bytes()) & kFlightMask; }
  void drive(Unit& unit) const {
    unit->flight_fsent_i = fsent;
    unit->flight_fgone_i = fgone;
  }
};

}  // namespace

TEST_CASE("the RTL takes a packet out of the flight as the protocol says", "[rtl][flight]") {
  Unit unit;
  Rng rng(1, "packet");
  unsigned less = 0;
  for (unsigned i = 0; i < 100000; ++i) {
    const Account account(rng);
    const auto size = static_cast<uint32_t>(corner(rng, 14));
    auto credit = static_cast<uint8_t>(corner(rng, 8));
    account.drive(unit);
    unit->flight_size_i = static_cast<uint16_t>(size);
    unit->flight_credit_i = credit;
    unit.settle();
    Flight fly = account.flight();
    INFO("fsent " << account.fsent << " fgone " << account.fgone << " size " << size << " credit " << int{credit});
    REQUIRE(unit->flight_fly_o == fly.bytes());
    const uint32_t taken = take_packet(fly, size, credit);
    REQUIRE(unit->flight_packet_bytes_o == taken);
    REQUIRE(unit->flight_packet_fgone_o == account.gone_after(fly));
    REQUIRE(unit->flight_packet_credit_o == credit);
    less += taken < size;
  }
  CHECK(less > 1000);
}

TEST_CASE("all that flies is owed when it leaves before a SACK tells of it, also in the RTL", "[rtl][flight]") {
  Unit unit;
  Rng rng(1, "early");
  for (unsigned i = 0; i < 100000; ++i) {
    const Account account(rng);
    Owed owed;
    owed.add(static_cast<uint32_t>(corner(rng, 20)));
    account.drive(unit);
    unit->flight_owed_i = owed.bytes();
    unit->flight_early_i = 1;
    unit.settle();
    INFO("fsent " << account.fsent << " fgone " << account.fgone << " owed " << owed.bytes());
    Flight fly = account.flight();
    take_early(fly, owed);
    REQUIRE(unit->flight_early_owed_o == owed.bytes());
  }
}

TEST_CASE("a SACK takes out of the RTL's flight what the protocol says", "[rtl][flight]") {
  Unit unit;
  Rng rng(1, "sack");
  unsigned nothing = 0, some = 0, everything = 0, late = 0;
  for (unsigned i = 0; i < 200000; ++i) {
    const Account account(rng);
    auto credit = static_cast<uint8_t>(corner(rng, 8));
    Owed owed;
    if (rng.chance(0.5)) owed.add(static_cast<uint32_t>(corner(rng, 20)));
    const unsigned mtu = static_cast<unsigned>(rng.below(5)), cancelled = static_cast<unsigned>(rng.below(65));
    const bool ts = rng.chance(0.5), all = rng.chance(0.1), whole = all || rng.chance(0.1);
    const auto counted = static_cast<Nominal>(rng.below(4));  // 3 is taken as UdpLength
    const unsigned nominal = (256u << mtu) + (counted == Nominal::Payload     ? 0
                                              : counted == Nominal::Payload40 ? 40
                                              : ts                            ? 88
                                                                              : 84);
    // About as much as flies, or anything.
    uint32_t units = account.flight().bytes() / kRcvdUnit + static_cast<uint32_t>(rng.below(6)) - 2;
    if (rng.chance(0.5)) units = static_cast<uint32_t>(corner(rng, 23));
    if (rng.chance(0.1)) units |= 1u << 23;
    const RcvdNews news = rcvd_news(units & 0xff'ffff, 0);
    account.drive(unit);
    unit->flight_credit_i = credit;
    unit->flight_owed_i = owed.bytes();
    unit->flight_mtu_i = static_cast<uint8_t>(mtu);
    unit->flight_ts_i = ts;
    unit->nominal_i = static_cast<uint8_t>(counted);
    unit->flight_rcvd_i = units & 0xff'ffff;
    unit->flight_canc_i = static_cast<uint8_t>(rng.next() & 127);  // not known yet
    unit->flight_sum_i = 1;
    unit.clock();
    unit->flight_sum_i = 0;
    unit->flight_canc_i = static_cast<uint8_t>(cancelled);
    unit->flight_all_i = all;
    unit->flight_whole_i = whole;
    unit.settle();
    INFO("fsent " << account.fsent << " fgone " << account.fgone << " credit " << int{credit} << " owed "
                  << owed.bytes() << " units " << units << " cancelled " << cancelled << " nominal " << nominal
                  << " all " << all << " whole " << whole);
    Flight fly = account.flight();
    const uint32_t before = fly.bytes();
    const uint32_t taken = take_sack(fly, owed, news, whole, cancelled, nominal, all, credit);
    REQUIRE(unit->flight_sack_bytes_o == taken);
    REQUIRE(unit->flight_sack_fgone_o == account.gone_after(fly));
    REQUIRE(unit->flight_sack_credit_o == credit);
    REQUIRE(unit->flight_sack_owed_o == owed.bytes());
    nothing += taken == 0;
    some += taken != 0 && taken < before;
    everything += taken != 0 && taken == before;
    late += news.late;
  }
  for (const unsigned seen : {nothing, some, everything, late}) CHECK(seen > 5000);
}

TEST_CASE("a SACK's bitmap changes a block of the RTL's window as the protocol says", "[rtl][sackrow]") {
  Unit unit;
  Rng rng(1, "sackrow");
  unsigned lost = 0, cancelled = 0, cut = 0;
  for (unsigned i = 0; i < 300000; ++i) {
    // A window with the block in it; the bitmap begins somewhere near.
    const uint32_t p0 = psn_block(static_cast<uint32_t>(corner(rng, 24))) * kBlockPsns;
    const uint32_t una = psn_add(p0, 15 - static_cast<int64_t>(rng.below(rng.chance(0.5) ? 32 : 4096)));
    const uint32_t least = psn_before(una, p0) ? psn_dist(p0, una) + 1 : 1;
    const uint32_t nxt = psn_add(una, least + rng.below(rng.chance(0.5) ? 24 : 4096));
    const uint32_t base = psn_add(p0, 15 - static_cast<int64_t>(rng.below(79)));
    const uint32_t hi1 = psn_add(una, rng.below(psn_dist(nxt, una) + 1));
    const auto ooo = static_cast<unsigned>(corner(rng, 15));
    const auto reorder = static_cast<unsigned>(rng.chance(0.7) ? rng.below(40) : corner(rng, 15));
    const uint64_t bitmap = corner(rng, 64);
    BlockRow row;
    for (uint16_t* mask : {&row.mute, &row.nacked, &row.rtxd, &row.pend, &row.sacked})
      *mask = static_cast<uint16_t>(rng.chance(0.3) ? 0 : rng.next() & rng.next());
    unit->sackrow_valid_i = 1;
    unit->sackrow_block_i = psn_block(p0);
    unit->sackrow_base_i = static_cast<uint8_t>(base & 127);
    unit->sackrow_bitmap_i = bitmap;
    unit->sackrow_ooo_i = static_cast<uint16_t>(ooo);
    unit->sackrow_reorder_i = static_cast<uint16_t>(reorder);
    unit->sackrow_una_i = una;
    unit->sackrow_hi1_i = hi1;
    unit->sackrow_nxt_i = nxt;
    unit->sackrow_mute_i = row.mute;
    unit->sackrow_nacked_i = row.nacked;
    unit->sackrow_rtxd_i = row.rtxd;
    unit->sackrow_pend_i = row.pend;
    unit->sackrow_sacked_i = row.sacked;
    unit.settle();
    const SackView view = sack_view(una, nxt, psn_add(hi1, -1), ooo, reorder);
    const auto piece = sack_piece<uint16_t>(bitmap, base, p0);
    INFO("p0 " << p0 << " una " << una << " nxt " << nxt << " base " << base << " bitmap " << bitmap << " hi1 " << hi1
               << " ooo " << ooo << " reorder " << reorder);
    const unsigned canc = cancelled_losses(row, p0, piece.got, view);
    const uint16_t gone = sack_row(row, p0, piece.got, piece.cover, view);
    REQUIRE(unit->sackrow_canc_o == canc);
    REQUIRE(unit->sackrow_lost_o == gone);
    REQUIRE(unit->sackrow_mute_o == row.mute);
    REQUIRE(unit->sackrow_nacked_o == row.nacked);
    REQUIRE(unit->sackrow_rtxd_o == row.rtxd);
    REQUIRE(unit->sackrow_pend_o == row.pend);
    REQUIRE(unit->sackrow_sacked_o == row.sacked);
    lost += gone != 0;
    cancelled += canc != 0;
    cut += piece.cover != 0 && piece.cover != 0xffff;
  }
  for (const unsigned seen : {lost, cancelled, cut}) CHECK(seen > 5000);
  unit->sackrow_valid_i = 0;
  unit.settle();
  CHECK((unit->sackrow_lost_o | unit->sackrow_pend_o | unit->sackrow_canc_o) == 0);
}

}  // namespace mrc::test::inflight_test

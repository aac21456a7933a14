// SPDX-License-Identifier: Apache-2.0
// The search for a packet to send again in tx_inflight (mrc_tx_inflight_scan) beside cmodel/protocol.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "pipeline/tx/inflight/tx_inflight_psns.hpp"
#include "protocol/psn.hpp"
#include "protocol/step_timer.hpp"
#include "protocol/tx_window.hpp"
#include "tests/rtl/unit.hpp"

namespace mrc::test::inflight_scan_test {
namespace {

enum At : uint8_t { Nowhere = 0, Retx0 = 1, Scan = 2, Retx1 = 4, RetxW = 8 };

constexpr uint32_t kFlightMask = (1u << 28) - 1;
constexpr unsigned kBlocksOfATurn = 4;  // tx_inflight.md, Scan

struct Row {
  BlockRow psns;
  BlockAges ages;
};

uint64_t packed(const BlockAges& ages) {
  uint64_t bits = 0;
  for (unsigned i = 0; i < kBlockPsns; ++i)
    for (unsigned b = 0; b < 3; ++b) bits |= uint64_t{static_cast<unsigned>(ages.bit[b]) >> i & 1u} << (3 * i + b);
  return bits;
}

/// A QP whose turn it is, and the unit that works on it.
struct Turn {
  Unit& unit;
  uint32_t una = 0, nxt = 1, lo = 0, lim = 1;
  bool live = true, dup = false, cc = true;

  void at(At state) const {
    unit->scan_at_i = state;
    unit->scan_live_i = live;
    unit->scan_dup_i = dup;
    unit->scan_cc_i = cc;
    unit->scan_una_i = una;
    unit->scan_nxt_i = nxt;
    unit->scan_lo_i = lo;
    unit->scan_lim_i = lim;
  }
  void row(const Row& row) const {
    unit->scan_age_i = packed(row.ages);
    unit->scan_mute_i = row.psns.mute;
    unit->scan_nacked_i = row.psns.nacked;
    unit->scan_rtxd_i = row.psns.rtxd;
    unit->scan_pend_i = row.psns.pend;
    unit->scan_sacked_i = row.psns.sacked;
  }
  bool writes(const Row& row) const {
    return unit->scan_win_we_o && unit->scan_age_o == packed(row.ages) && unit->scan_mute_o == row.psns.mute &&
           unit->scan_nacked_o == row.psns.nacked && unit->scan_rtxd_o == row.psns.rtxd &&
           unit->scan_pend_o == row.psns.pend && unit->scan_sacked_o == row.psns.sacked;
  }
};

/// A row as tx_inflight has them: what was reported does not wait, nacked and mute stand with pend only.
Row random_row(Rng& rng) {
  const auto mask = [&rng] { return static_cast<uint16_t>(rng.next() & rng.next()); };
  Row row;
  row.psns.sacked = mask();
  if (rng.chance(0.4)) row.psns.pend = static_cast<uint16_t>((rng.chance(0.5) ? mask() & mask() : mask()));
  row.psns.pend &= static_cast<uint16_t>(~row.psns.sacked);
  row.psns.nacked = mask() & row.psns.pend;
  row.psns.mute = mask() & row.psns.pend;
  row.psns.rtxd = mask();
  for (unsigned i = 0; i < kBlockPsns; ++i) row.ages.set(i, static_cast<unsigned>(rng.chance(0.5) ? 0 : rng.below(6)));
  return row;
}

/// How often what a turn may come to was seen.
struct Seen {
  unsigned dead = 0, in_first = 0, in_later = 0, cut = 0, nothing = 0, again = 0, granted = 0, refused = 0, late = 0,
           lost = 0, blamed = 0, behind_lim = 0, stamped = 0, leaves = 0;
};

/// One turn of a QP with anything in its window, each state beside the protocol's functions.
class RandomTurn {
 public:
  RandomTurn(Unit& unit, Rng& rng, Seen& seen) : unit_(unit), rng_(rng), seen_(seen), t_{unit} {
    t_.una = static_cast<uint32_t>(corner(rng, 24));
    const auto size = static_cast<uint32_t>(rng.chance(0.5) ? rng.below(130) : 1 + rng.below(24));
    t_.nxt = psn_add(t_.una, size);
    t_.lim = psn_add(t_.una, size == 0 || rng.chance(0.7) ? size : rng.below(size + 1));
    const uint32_t known = psn_dist(t_.lim, t_.una);
    t_.lo = psn_add(t_.una, rng.chance(0.2) ? known : rng.below(known + 1));
    t_.live = rng.chance(0.95);
    t_.dup = rng.chance(0.3);
    t_.cc = rng.chance(0.7);
    shift_ = static_cast<unsigned>(rng.below(28));
    cnt_ = static_cast<unsigned>(rng.below(4));
    const auto start = static_cast<uint32_t>(corner(rng, 32)), tick = static_cast<uint32_t>(corner(rng, 32));
    elapsed_ = tick - start;
    bytes_ = static_cast<uint32_t>(corner(rng, 14));
    gone_ = static_cast<uint32_t>(corner(rng, 28));
    unit->scan_tick_i = tick;
    unit->scan_start_i = start;
    unit->scan_shift_i = static_cast<uint8_t>(shift_);
    unit->scan_cnt_i = static_cast<uint8_t>(cnt_);
    unit->scan_size_i = static_cast<uint16_t>(bytes_);
    unit->scan_fgone_i = gone_;
  }
  std::string text() const {
    return "una " + std::to_string(t_.una) + " nxt " + std::to_string(t_.nxt) + " lim " + std::to_string(t_.lim) +
           " lo " + std::to_string(t_.lo) + (t_.live ? " live" : "") + (t_.dup ? " dup" : "") + (t_.cc ? " cc" : "");
  }

  void retx0() {
    block_ = psn_block(t_.lo);
    t_.at(Retx0);
    t_.row(random_row(rng_));  // of another block: nobody looks
    unit_.settle();
    REQUIRE(unit_->scan_delist_o == !t_.live);
    REQUIRE(unit_->scan_dup_clear_o == !t_.live);
    REQUIRE_FALSE(unit_->scan_turn_o);
    REQUIRE_FALSE((unit_->scan_lo_we_o || unit_->scan_we_o || unit_->scan_win_we_o || unit_->scan_dup_set_o));
    if (t_.live) {
      REQUIRE((unit_->scan_map_re_o && unit_->scan_win_re_o));
      REQUIRE(unit_->scan_map_block_o == block_add(block_, 1));
    }
    unit_.clock();
    seen_.dead += !t_.live;
  }

  /// A block after the other. True if a packet goes again.
  bool scan() {
    for (unsigned steps = 1; t_.live; ++steps) {
      REQUIRE(steps <= kBlocksOfATurn);
      const uint32_t p0 = block_psn(block_), next = psn_add(p0, kBlockPsns);
      const Row row = random_row(rng_);
      t_.at(Scan);
      t_.row(row);
      unit_.settle();
      const uint16_t waiting = retx_row(row.psns, p0, t_.lo, t_.lim);
      const bool more = psn_dist(next, t_.una) < psn_dist(t_.lim, t_.una);
      const bool sends = waiting != 0 || (!more && t_.dup), stops = !more || steps == kBlocksOfATurn;
      seen_.behind_lim += (retx_row(row.psns, p0, t_.lo, next) & ~waiting) != 0;
      REQUIRE(unit_->scan_send_o == sends);
      REQUIRE(unit_->scan_lo_we_o);
      REQUIRE_FALSE((unit_->scan_we_o || unit_->scan_dup_set_o));
      REQUIRE(unit_->scan_turn_o == sends);
      REQUIRE(unit_->scan_delist_o == (!sends && !more));
      REQUIRE(unit_->scan_dup_clear_o == (waiting == 0 && !more));
      REQUIRE(unit_->scan_sent_re_o == sends);
      if (waiting != 0) {
        found(row, lowest_psn(p0, waiting));
        (steps == 1 ? seen_.in_first : seen_.in_later) += 1;
      } else {
        REQUIRE_FALSE(unit_->scan_win_we_o);
        REQUIRE(unit_->scan_lo_o == (more ? next : t_.nxt));
        if (sends) newest();
      }
      if (!sends) REQUIRE(unit_->scan_stop_o == stops);
      if (!sends && !stops) {
        REQUIRE((unit_->scan_map_re_o && unit_->scan_win_re_o));
        REQUIRE(unit_->scan_map_block_o == block_add(block_, 2));
      }
      t_.lo = unit_->scan_lo_o;
      unit_.clock();
      seen_.cut += !sends && more && stops;
      seen_.nothing += !sends && !more;
      if (sends || stops) return sends;
      block_ = block_add(block_, 1);
    }
    return false;
  }

  void retx1() {
    const auto gone = static_cast<uint32_t>(corner(rng_, 28));
    const auto credit = static_cast<uint8_t>(corner(rng_, 8));
    unit_->scan_taken_fgone_i = gone;
    unit_->scan_taken_credit_i = credit;
    const bool time_wait = rng_.chance(0.3), stamps = !newest_ && !time_wait;
    unit_->scan_time_wait_i = time_wait;
    t_.at(Retx1);
    t_.row(kept_);
    unit_.settle();
    REQUIRE(unit_->scan_stamp_we_o == stamps);
    REQUIRE(unit_->scan_stamp_pos_o == (stamps ? p_ % kBlockPsns : 0));
    REQUIRE(unit_->scan_p_o == p_);
    REQUIRE(unit_->scan_loss_o == news_.loss);
    REQUIRE(unit_->scan_blame_o == news_.blame);
    REQUIRE(unit_->scan_we_o == (t_.cc && news_.loss));
    if (unit_->scan_we_o) {
      REQUIRE(unit_->scan_fgone_o == gone);
      REQUIRE(unit_->scan_credit_o == credit);
    }
    REQUIRE_FALSE((unit_->scan_lo_we_o || unit_->scan_win_we_o || unit_->scan_turn_o || unit_->scan_delist_o));
    unit_.clock();
    seen_.stamped += stamps;
    seen_.again += newest_;
    seen_.lost += news_.loss;
    seen_.blamed += news_.blame;
  }

  void retx_wait() {
    if (!t_.cc) return;
    t_.at(RetxW);
    for (auto wait = rng_.below(3); wait != 0; --wait) {
      unit_.settle();
      REQUIRE_FALSE((unit_->scan_granted_o || unit_->scan_refused_o || unit_->scan_we_o || unit_->scan_win_we_o ||
                     unit_->scan_lo_we_o || unit_->scan_dup_set_o));
      unit_.clock();
    }
    const bool ok = rng_.chance(0.5), back = !ok && !newest_;
    const bool stays = rng_.chance(0.5), lost_stays = rng_.chance(0.3), leaves = back && stays && !lost_stays;
    unit_->scan_stays_i = stays;
    unit_->scan_lost_stays_i = lost_stays;
    unit_->scan_rans_valid_i = 1;
    unit_->scan_rans_bytes_i = static_cast<uint16_t>(ok ? 1u << rng_.below(16) : 0);
    unit_.settle();
    REQUIRE(unit_->scan_granted_o == ok);
    REQUIRE(unit_->scan_refused_o == !ok);
    REQUIRE(unit_->scan_we_o == ok);
    REQUIRE(unit_->scan_p_o == p_);
    if (ok) REQUIRE(unit_->scan_fgone_o == ((gone_ - bytes_) & kFlightMask));
    REQUIRE(unit_->scan_dup_set_o == (!ok && newest_));
    REQUIRE(unit_->scan_lo_we_o == back);
    REQUIRE(unit_->scan_win_we_o == back);
    REQUIRE(unit_->scan_leave_o == leaves);
    REQUIRE(unit_->scan_at_we_o == leaves);
    if (leaves) REQUIRE(unit_->scan_at_o == p_);
    if (back) {
      not_sent(kept_.psns, p_);
      REQUIRE(t_.writes(kept_));
      REQUIRE(unit_->scan_lo_o == p_);
    }
    unit_.clock();
    unit_->scan_rans_valid_i = 0;
    (ok ? seen_.granted : seen_.refused) += 1;
    seen_.leaves += leaves;
  }

  void quiet() {
    t_.at(Nowhere);
    t_.row(random_row(rng_));
    unit_.settle();
    REQUIRE(unit_->scan_quiet_o);
    unit_.clock();
  }

 private:
  void found(Row row, uint32_t p) {
    kept_ = row;
    p_ = p;
    news_ = send_again(row.psns, p);
    const unsigned spared = spared_steps(elapsed_, 2u << shift_);
    row.ages.again(p % kBlockPsns, spared - cnt_);
    seen_.late += spared == kTimerSteps;
    REQUIRE(t_.writes(row));
    REQUIRE_FALSE(unit_->scan_sent_newest_o);
    REQUIRE(unit_->scan_sent_pos_o == p % kBlockPsns);
    REQUIRE(unit_->scan_lo_o == psn_add(p, 1));
  }
  void newest() {
    newest_ = true;
    p_ = psn_add(t_.nxt, -1);
    REQUIRE(unit_->scan_sent_newest_o);
    REQUIRE(unit_->scan_sent_pos_o == p_ % kBlockPsns);
  }

  Unit& unit_;
  Rng& rng_;
  Seen& seen_;
  Turn t_;
  unsigned shift_, cnt_;
  uint32_t elapsed_, bytes_, gone_;
  uint32_t block_ = 0;
  // What was found.
  uint32_t p_ = 0;
  LossNews news_;
  bool newest_ = false;
  Row kept_;  ///< before
};

}  // namespace

TEST_CASE("the RTL's search for a packet to send again does what the page and the protocol say", "[rtl][scan]") {
  Unit unit;
  Rng rng(1, "scan");
  Seen seen;
  for (unsigned turn = 0; turn < 60000; ++turn) {
    RandomTurn t(unit, rng, seen);
    INFO("turn " << turn << ": " << t.text());
    t.retx0();
    if (t.scan()) {
      t.retx1();
      t.retx_wait();
    }
    t.quiet();
    REQUIRE(unit.failed().empty());
  }
  for (const unsigned often :
       {seen.dead, seen.in_first, seen.in_later, seen.cut, seen.nothing, seen.again, seen.granted, seen.refused,
        seen.late, seen.lost, seen.blamed, seen.behind_lim, seen.stamped, seen.leaves})
    CHECK(often > 500);
}

TEST_CASE("the RTL's search for what is lost and still in flight does what the page says", "[rtl][scan][A-91]") {
  Unit unit;
  Rng rng(2, "leave");
  unsigned found = 0, cut = 0, over = 0, dead = 0, went_on = 0;
  for (unsigned turn = 0; turn < 20000; ++turn) {
    Turn t{.unit = unit};
    t.una = static_cast<uint32_t>(corner(rng, 24));
    const auto size = static_cast<uint32_t>(1 + rng.below(130));
    t.nxt = t.lim = psn_add(t.una, size);
    uint32_t at = psn_add(t.una, rng.below(size + 1));
    const bool passed = at != t.nxt && rng.chance(0.1);
    t.lo = passed ? psn_add(at, 1 + rng.below(psn_dist(t.nxt, at))) : at;
    t.live = rng.chance(0.95);
    t.dup = rng.chance(0.3);
    INFO("turn " << turn << ": una " << t.una << " nxt " << t.nxt << " at " << at);
    unit->scan_leave_i = 1;
    unit->scan_leave_at_i = at;
    t.at(Retx0);
    unit.settle();
    REQUIRE(unit->scan_left_o == !t.live);
    REQUIRE_FALSE((unit->scan_delist_o || unit->scan_dup_clear_o));
    REQUIRE(unit->scan_passed_o == passed);
    REQUIRE(unit->scan_at_we_o == passed);
    if (passed) REQUIRE(unit->scan_at_o == t.lo);
    unit.clock();
    dead += !t.live;
    went_on += passed;
    if (passed) continue;
    uint32_t block = psn_block(at);
    for (unsigned steps = 1; t.live; ++steps, block = block_add(block, 1)) {
      REQUIRE(steps <= kBlocksOfATurn);
      const uint32_t p0 = block_psn(block), next = psn_add(p0, kBlockPsns);
      Row row = random_row(rng);
      if (rng.chance(0.6)) row.psns.nacked = row.psns.pend;
      unit->scan_leave_at_i = at;
      t.at(Scan);
      t.row(row);
      unit.settle();
      const uint16_t lost = leave_row(row.psns, p0, at, t.lim);
      const bool more = psn_dist(next, t.una) < psn_dist(t.lim, t.una);
      REQUIRE(unit->scan_send_o == (lost != 0));
      REQUIRE_FALSE((unit->scan_turn_o || unit->scan_delist_o || unit->scan_dup_clear_o || unit->scan_lo_we_o));
      REQUIRE(unit->scan_left_o == (lost == 0 && !more));
      REQUIRE(unit->scan_at_we_o == (lost != 0 || more));
      const uint32_t p = lost != 0 ? lowest_psn(p0, lost) : 0;
      if (unit->scan_at_we_o) REQUIRE(unit->scan_at_o == (lost != 0 ? psn_add(p, 1) : next));
      const bool blame = lost != 0 && (row.psns.mute & psn_bit<uint16_t>(p)) == 0;
      if (lost != 0) {
        not_sent(row.psns, p);
        REQUIRE(t.writes(row));
        REQUIRE(unit->scan_sent_pos_o == p % kBlockPsns);
      } else {
        REQUIRE_FALSE(unit->scan_win_we_o);
        REQUIRE(unit->scan_stop_o == (!more || steps == kBlocksOfATurn));
      }
      at = unit->scan_at_o;
      unit.clock();
      if (lost != 0) {
        t.at(Retx1);
        unit.settle();
        REQUIRE(unit->scan_p_o == p);
        REQUIRE(unit->scan_loss_o);
        REQUIRE(unit->scan_blame_o == blame);
        REQUIRE(unit->scan_we_o);
        REQUIRE_FALSE((unit->scan_stamp_we_o || unit->scan_win_we_o || unit->scan_lo_we_o));
        unit.clock();
        ++found;
        break;
      }
      over += !more;
      cut += more && steps == kBlocksOfATurn;
      if (!more || steps == kBlocksOfATurn) break;
    }
    REQUIRE(unit.failed().empty());
  }
  for (const unsigned often : {found, cut, over, dead, went_on}) CHECK(often > 300);
}

TEST_CASE("the assertions of the RTL's search fail when it is used wrongly", "[rtl][scan][assertions]") {
  Unit unit;
  Turn t{.unit = unit, .nxt = 100, .lim = 100};
  const auto cycle = [&](At at, const Row& row = {}) {
    t.at(at);
    t.row(row);
    unit.settle();
    if (at == Scan) t.lo = unit->scan_lo_o;
    unit.clock();
    return unit.failed();
  };
  using Names = std::vector<std::string>;
  REQUIRE(cycle(Retx0).empty());
  for (unsigned i = 0; i < kBlocksOfATurn; ++i) REQUIRE(cycle(Scan).empty());
  CHECK(cycle(Scan) == Names{"AtMostFourBlocks"});
  cycle(Retx0);
  t.live = false;
  CHECK(cycle(Scan) == Names{"ScansTheLiving"});
  t.live = true;
  t.una = 1000;  // far beyond what is looked at
  t.nxt = t.lim = 1010;
  CHECK(cycle(Scan) == Names{"ScansTheWindow"});
  t.lo = t.una;
  unit->scan_rans_valid_i = 1;
  CHECK(cycle(Nowhere) == Names{"AnswerIsAwaited"});
  unit->scan_rans_valid_i = 0;
  Row row;
  row.psns.pend = 1u << (t.una % kBlockPsns);
  cycle(Retx0);
  REQUIRE(cycle(Scan, row).empty());
  REQUIRE(cycle(Retx1, row).empty());
  unit->scan_rans_valid_i = 1;
  unit->scan_rans_bytes_i = 0;
  CHECK(cycle(RetxW) == Names{"BlockAsItWas"});  // the row has not stayed
  CHECK(cycle(RetxW, row).empty());
  t.cc = false;
  CHECK(cycle(RetxW, row) == Names{"RequestsWithController"});
  t.cc = true;
  t.una = psn_add(t.una, 1);
  CHECK(cycle(RetxW, row) == Names{"SendsWhatIsOut"});
}

}  // namespace mrc::test::inflight_scan_test

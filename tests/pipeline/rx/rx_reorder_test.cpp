// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx/rx_reorder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "gen/csr.hpp"
#include "tests/pipeline/block_bench.hpp"

namespace mrc::test::rx_reorder_test {
namespace {

struct Reorder : BlockBench<Reorder> {
  explicit Reorder(uint8_t max_wimm_dest = 32, const char* name = "tiny")
      : Reorder(*find_preset(name), max_wimm_dest) {}
  explicit Reorder(const Preset& p, uint8_t max_wimm_dest = 32) : preset(p), block(preset, ord, cqe, qperr) {
    cfg_cycles = configure(QpState::Rtr, 0xfffe, max_wimm_dest);
  }
  /// Returns the cycles until the acknowledgement.
  unsigned configure(QpState state, uint16_t rqmsn, uint8_t max_wimm_dest, QpIndex qp = 2) {
    csr::TblQpCtx row;
    row.state = state;
    row.rqmsn = rqmsn;
    row.max_wimm = 1;  // the requestor's
    row.max_wimm_dest = max_wimm_dest;
    return BlockBench::configure(CfgTable::QpCtx, qp, row);
  }
  bool cfg_ack() const { return block.cfg_ack(); }
  void cycle(bool done = false, unsigned plane = 0) {
    block.step(cfg, csr, {.done_valid = done, .done_plane = plane});
    if (take(cqe, cqes, take_cqe)) cqe_at.push_back(now);
    take(qperr, qperrs, take_qperr);
    fixed += block.pulses().ecc_fix;
    bad += block.pulses().ecc_bad;
    clock_all(ord, cqe, qperr, block);
    ++now;
  }
  void send(const Ord& o) {
    ord.load(o);
    run(20);
  }
  static Ord imm(uint16_t rqmsn, uint32_t psn) {
    Ord o{.qp = 2, .imm_valid = true, .rqmsn = rqmsn, .imm = 0x100u + rqmsn, .length = 50, .psn = psn, .cack = psn - 1};
    return o;
  }

  const Preset& preset;
  CsrOut csr;
  Stream<Ord> ord;
  Stream<Cqe> cqe;
  Stream<Qperr> qperr;
  RxReorder block;
  bool take_qperr = true, take_cqe = true;
  unsigned cfg_cycles = 0, now = 0;
  unsigned fixed = 0, bad = 0;  ///< rows seen with a wrong bit, with two
  std::vector<Cqe> cqes;
  std::vector<unsigned> cqe_at;
  std::vector<Qperr> qperrs;
};

}  // namespace

TEST_CASE("immediates wait for cack and leave in RQMSN order across the wrap", "[rx_reorder]") {
  Reorder r;
  CHECK(r.cfg_cycles == 1 + 32);
  r.send(Reorder::imm(0, 30));
  r.send(Reorder::imm(0xfffe, 10));
  r.send(Reorder::imm(0xffff, 20));
  CHECK(r.cqes.empty());
  Ord adv{.qp = 2, .adv = true, .cack = 9};
  r.send(adv);
  CHECK(r.cqes.empty());
  adv.cack = 25;
  r.send(adv);
  REQUIRE(r.cqes.size() == 2);
  CHECK(r.cqes[0] ==
        Cqe{.qp = 2, .recv = true, .status = CqStatus::Ok, .wr_id = 0, .imm = 0x100fe, .length = 50, .msn = 0xfffe});
  CHECK(r.cqes[1].msn == 0xffff);
  adv.cack = 30;
  r.send(adv);
  REQUIRE(r.cqes.size() == 3);
  CHECK(r.cqes[2].msn == 0);
  CHECK(r.cqes[2].imm == 0x100);
  r.send(adv);  // nothing twice
  CHECK(r.cqes.size() == 3);
}

TEST_CASE("one immediate too many is an error, an old one is nothing", "[rx_reorder]") {
  Reorder r;
  r.send(Reorder::imm(static_cast<uint16_t>(0xfffe + 31), 100));
  CHECK(r.cqes.empty());
  r.send(Reorder::imm(static_cast<uint16_t>(0xfffe + 32), 101));
  REQUIRE(r.cqes.size() == 1);
  CHECK(r.cqes[0].status == CqStatus::WimmOverrun);
  CHECK(r.cqes[0].msn == 0x001e);
  CHECK(r.cqes[0].recv);
  REQUIRE(r.qperrs.size() == 1);
  CHECK(r.qperrs[0] == Qperr{.qp = 2, .status = CqStatus::WimmOverrun});
  CHECK(r.block.over() == std::vector<uint8_t>{0, 0, 1, 0});  // until the QP is connected anew
  r.send(Reorder::imm(0xfffd, 1));
  r.send(Reorder::imm(static_cast<uint16_t>(0xfffe + 0x8000), 1));
  CHECK(r.cqes.size() == 1);
  CHECK(r.qperrs.size() == 1);
  CHECK(r.block.over()[2] == 1);
  r.configure(QpState::Rts, 0, 32);  // changes nothing
  CHECK(r.block.over()[2] == 1);
  r.configure(QpState::Rtr, 0, 32, 1);  // another QP
  CHECK(r.block.over()[2] == 1);
  r.configure(QpState::Rtr, 0, 32);
  CHECK(r.block.over()[2] == 0);
}

TEST_CASE("max_wimm_dest is the limit, whatever the ring holds", "[rx_reorder]") {
  const uint8_t limit = GENERATE(uint8_t{1}, uint8_t{5}, uint8_t{31}, uint8_t{32});
  Reorder r(limit, "fpga100");
  for (uint16_t i = 0; i < limit; ++i) r.send(Reorder::imm(static_cast<uint16_t>(0xfffe + i), 100u + i));
  CHECK(r.cqes.empty());
  CHECK(r.qperrs.empty());
  r.send(Reorder::imm(static_cast<uint16_t>(0xfffe + limit), 100u + limit));
  REQUIRE(r.cqes.size() == 1);
  CHECK(r.cqes[0] == Cqe{.qp = 2,
                         .recv = true,
                         .status = CqStatus::WimmOverrun,
                         .wr_id = 0,
                         .imm = 0x100u + static_cast<uint16_t>(0xfffe + limit),
                         .length = 50,
                         .msn = static_cast<uint16_t>(0xfffe + limit)});
  REQUIRE(r.qperrs.size() == 1);
  CHECK(r.qperrs[0] == Qperr{.qp = 2, .status = CqStatus::WimmOverrun});
  Ord adv;  // those before it complete all the same, and then there is room again
  adv.qp = 2;
  adv.adv = true;
  adv.cack = 100u + limit;
  r.send(adv);
  r.run(100);
  REQUIRE(r.cqes.size() == 1u + limit);
  for (uint16_t i = 0; i < limit; ++i) CHECK(r.cqes[1u + i].msn == static_cast<uint16_t>(0xfffe + i));
  r.send(Reorder::imm(static_cast<uint16_t>(0xfffe + 2 * limit - 1), 300));
  CHECK(r.qperrs.size() == 1);
  r.send(Reorder::imm(static_cast<uint16_t>(0xfffe + 2 * limit), 301));
  CHECK(r.qperrs.size() == 2);
}

TEST_CASE("rx_reorder: the row of Rts changes nothing, that of another state starts anew", "[rx_reorder]") {
  Reorder r(4);
  r.send(Reorder::imm(0xffff, 20));
  CHECK(r.configure(QpState::Rts, 0x100, 32) == 1);
  r.send(Reorder::imm(static_cast<uint16_t>(0xfffe + 4), 30));  // the limit is still 4
  CHECK(r.qperrs.size() == 1);
  Ord first = Reorder::imm(0xfffe, 10);
  first.adv = true;
  first.cack = 25;
  r.send(first);
  REQUIRE(r.cqes.size() == 3);  // the overrun, then both
  CHECK(r.cqes[1].msn == 0xfffe);
  CHECK(r.cqes[2].msn == 0xffff);
  r.send(Reorder::imm(1, 40));
  const QpState state = GENERATE(QpState::Init, QpState::Rtr, QpState::Reset);
  CHECK(r.configure(state, 0, 32) == 1 + 32);
  first = Reorder::imm(0, 50);
  first.adv = true;
  first.cack = 60;
  r.send(first);
  CHECK(r.cqes.size() == 4);  // 1 was forgotten
  r.send(Reorder::imm(32, 70));
  CHECK(r.qperrs.size() == 1);
}

TEST_CASE("errors that nobody takes hold the next order back, without loss", "[rx_reorder]") {
  Reorder r;
  r.take_qperr = false;
  for (uint16_t i = 0; i < 4; ++i) r.send(Reorder::imm(static_cast<uint16_t>(0xfffe + 40 + i), 100));
  CHECK(r.cqes.size() == 3);  // two errors in the queue behind it, one in the output register
  r.take_qperr = true;
  r.run(20);
  CHECK(r.cqes.size() == 4);
  CHECK(r.qperrs.size() == 4);
}

TEST_CASE("a completion waits until every verdict issued before it is carried out", "[rx_reorder]") {
  Reorder r;
  Ord o = Reorder::imm(0xfffe, 5);
  o.adv = true;
  o.cack = 5;
  o.snap = 0x2001;  // one of plane 0, two of plane 1
  r.send(o);
  CHECK(r.cqes.empty());
  r.cycle(true, 1);
  r.cycle(true, 0);
  r.run(10);
  CHECK(r.cqes.empty());
  r.cycle(true, 1);
  r.run(3);
  CHECK(r.cqes.empty());
  r.cycle();  // done counts from the next cycle on; then placed, the output register, then the consumer's FIFO
  CHECK(r.cqes.size() == 1);
}

TEST_CASE("a completion that the host takes late is still due after any number of packets", "[rx_reorder]") {
  // Once its data are written it must not look unwritten again, whatever the counters of the planes go through.
  for (const unsigned later : {0u, 127u, 128u, 255u, 300u, 2047u, 2048u, 3000u, 4096u, 10000u}) {
    CAPTURE(later);
    Reorder r;
    r.take_cqe = false;
    for (uint16_t i = 0; i < 8; ++i) {
      Ord o = Reorder::imm(static_cast<uint16_t>(0xfffe + i), 100u + i);
      o.cack = 200;
      o.snap = i + 1u;
      r.send(o);
      r.cycle(true, 0);
    }
    for (unsigned i = 0; i < later; ++i) r.cycle(true, i & 1);
    r.take_cqe = true;
    r.run(50);
    CHECK(r.cqes.size() == 8);
  }
}

TEST_CASE("a completion that the host does not take holds up no more than there is room for", "[rx_reorder]") {
  Reorder r;  // two planes: eight that wait, three in the output and its consumer's FIFO, two orders in the input
  r.take_cqe = false;
  unsigned given = 0;
  for (uint16_t i = 0; i < 40; ++i) {
    if (!r.ord.free()) break;
    Ord o = Reorder::imm(static_cast<uint16_t>(0xfffe + i), 100u + i);
    o.cack = 200;
    r.send(o);
    ++given;
  }
  CHECK(given == 8 + 3 + 3);
  r.take_cqe = true;
  r.run(100);
  REQUIRE(r.cqes.size() == given);
  for (uint16_t i = 0; i < given; ++i) CHECK(r.cqes[i].msn == static_cast<uint16_t>(0xfffe + i));
}

TEST_CASE("a full hold queue stops delivery, not order", "[rx_reorder]") {
  Reorder r;
  Ord o;
  for (uint16_t i = 0; i < 10; ++i) {
    o = Reorder::imm(static_cast<uint16_t>(0xfffe + i), 100u + i);
    o.cack = 50;
    r.send(o);
  }
  o = {};
  o.qp = 2;
  o.adv = true;
  o.cack = 120;
  o.snap = 0x01;
  r.send(o);
  CHECK(r.cqes.empty());
  r.run(100);
  CHECK(r.cqes.empty());
  r.cycle(true, 0);
  r.run(100);
  REQUIRE(r.cqes.size() == 10);
  for (uint16_t i = 0; i < 10; ++i) CHECK(r.cqes[i].msn == static_cast<uint16_t>(0xfffe + i));
}

TEST_CASE("four completions per plane may wait for their data", "[rx_reorder]") {
  Reorder r;  // two planes: eight
  Ord o;
  for (uint16_t i = 0; i < 10; ++i) {
    o = Reorder::imm(static_cast<uint16_t>(0xfffe + 40 + i), 100);  // too far ahead: each is an error, at once
    o.snap = 0x01;
    r.ord.load(o);
    r.run(5);
  }
  CHECK(r.ord.count() == 2);
  CHECK(r.cqes.empty());
  r.cycle(true, 0);
  r.run(50);
  CHECK(r.cqes.size() == 10);
}

TEST_CASE("orders of plain WRITEs and immediates in order: one per cycle", "[rx_reorder][rate]") {
  const bool immediates = GENERATE(false, true);
  Reorder r;
  unsigned first = 0, last = 0, given = 0;
  for (uint16_t i = 0; given < 100; ++i) {
    REQUIRE(i < 200);
    if (r.ord.free()) {
      Ord o = immediates ? Reorder::imm(static_cast<uint16_t>(0xfffe + given), given) : Ord{};
      o.qp = 2;
      o.adv = true;
      o.cack = given++;
      r.ord.load(o);
      if (first == 0) first = r.now;
      last = r.now;
    }
    r.cycle();
  }
  CHECK(last - first == 99);
  r.run(20);
  CHECK(r.cqes.size() == (immediates ? 100 : 0));
  for (std::size_t i = 0; i < r.cqes.size(); ++i) {
    CHECK(r.cqes[i].msn == static_cast<uint16_t>(0xfffe + i));
    CHECK(r.cqe_at[i] == r.cqe_at[0] + i);
  }
}

TEST_CASE("an immediate in order brings on those that wait for it, and no others", "[rx_reorder]") {
  Reorder r;
  r.send(Reorder::imm(0xffff, 20));
  r.send(Reorder::imm(0, 30));
  r.send(Reorder::imm(2, 50));
  Ord o = Reorder::imm(0xfffe, 10);
  o.cack = 25;
  SECTION("as far as cack has come") {
    r.send(o);
    REQUIRE(r.cqes.size() == 2);
    CHECK(r.cqes[1].msn == 0xffff);
    CHECK(r.cqes[1].imm == 0x100ff);
    CHECK(r.cqes[1].length == 50);
  }
  SECTION("as far as there is none missing") {
    o.cack = 60;
    r.send(o);
    REQUIRE(r.cqes.size() == 3);
    CHECK(r.cqes[2].msn == 0);
  }
  SECTION("it waits itself while an earlier packet is missing") {
    o.cack = 9;
    r.send(o);
    CHECK(r.cqes.empty());
    o = {};
    o.qp = 2;
    o.adv = true;
    o.cack = 10;
    r.send(o);
    REQUIRE(r.cqes.size() == 1);
    CHECK(r.cqes[0].msn == 0xfffe);
    CHECK(r.cqes[0].imm == 0x100fe);
  }
}

TEST_CASE("an immediate that comes again with the same RQMSN counts once, as it came last", "[rx_reorder]") {
  Reorder r;
  Ord o = Reorder::imm(0xffff, 20);
  r.send(o);
  for (unsigned i = 0; i < 20; ++i) r.send(o);  // 16 entries
  CHECK(r.block.imm_ok());
  o.imm = 77;
  o.length = 9;
  r.send(o);
  o = Reorder::imm(0xfffe, 10);
  o.cack = 30;
  r.send(o);
  REQUIRE(r.cqes.size() == 2);
  CHECK(r.cqes[1].imm == 77);
  CHECK(r.cqes[1].length == 9);
  o = Reorder::imm(0, 40);  // nothing is left behind
  o.cack = 40;
  r.send(o);
  CHECK(r.cqes.size() == 3);
}

TEST_CASE("imm_ok falls while eight entries or less are free; all of them can be used", "[rx_reorder]") {
  Reorder r;  // 16 entries
  REQUIRE(r.configure(QpState::Rtr, 0, 32, 3) == 33);
  CHECK(r.block.imm_ok());
  Ord o;
  for (uint16_t i = 1; i <= 16; ++i) {
    o = Reorder::imm(i, 100u + i);
    o.qp = 3;
    r.send(o);
    CAPTURE(i);
    CHECK(r.block.imm_ok() == (i < 8));
  }
  SECTION("what finds none is lost, and nothing else is") {
    r.send(Reorder::imm(0xffff, 20));
    o = Reorder::imm(0xfffe, 10);
    o.cack = 30;
    r.send(o);
    CHECK(r.cqes.size() == 1);  // in order: it needs none
    o = Reorder::imm(0, 100);
    o.qp = 3;
    o.cack = 116;
    r.send(o);
    r.run(100);
    REQUIRE(r.cqes.size() == 18);
    for (uint16_t i = 0; i <= 16; ++i) CHECK(r.cqes[1u + i].msn == i);
    CHECK(r.block.imm_ok());
  }
  SECTION("those of a QP that is set up again are free, two cycles after") {
    CHECK(r.configure(QpState::Rtr, 0, 32, 3) == 33);
    CHECK(r.block.imm_ok());
    for (uint16_t i = 1; i <= 16; ++i) r.send(Reorder::imm(static_cast<uint16_t>(0xfffe + i), 100u + i));
    o = Reorder::imm(0xfffe, 100);
    o.cack = 116;
    r.send(o);
    r.run(100);
    CHECK(r.cqes.size() == 17);
    o.qp = 3;
    o.rqmsn = 0;
    r.send(o);  // nothing of before shows
    CHECK(r.cqes.size() == 18);
    const unsigned from = r.now;
    for (unsigned given = 0; given < 50;) {  // nor is it looked for
      if (r.ord.free()) {
        o = {};
        o.qp = 3;
        o.adv = true;
        o.cack = 200 + given++;
        r.ord.load(o);
      }
      r.cycle();
    }
    CHECK(r.now - from == 50);
  }
}

TEST_CASE("an immediate that finds no free entry is not kept, and its QP does not count it", "[rx_reorder]") {
  Reorder r;  // 16 entries
  REQUIRE(r.configure(QpState::Rtr, 0, 32, 3) == 33);
  const auto of_three = [](uint16_t rqmsn, uint32_t cack) {
    Ord o = Reorder::imm(rqmsn, 100u + rqmsn);
    o.qp = 3;
    o.cack = cack;
    return o;
  };
  r.send(Reorder::imm(0xffff, 20));  // QP 2 has one, the other has the rest
  for (uint16_t i = 1; i <= 15; ++i) r.send(of_three(i, 99));
  for (unsigned again = 0; again < 3; ++again) r.send(Reorder::imm(0, 30));  // none for it
  Ord newer = Reorder::imm(0xffff, 20);
  newer.imm = 77;
  r.send(newer);  // it has one
  Ord first = Reorder::imm(0xfffe, 10);
  first.cack = 40;
  r.send(first);
  r.run(100);
  REQUIRE(r.cqes.size() == 2);  // the third was not kept
  CHECK(r.cqes[0].msn == 0xfffe);
  CHECK(r.cqes[1].imm == 77);
  Ord more;  // nothing of the QP waits: an order that brings cack on is one cycle's work
  more.qp = 2;
  more.adv = true;
  const unsigned from = r.now;
  for (unsigned given = 0; given < 50;) {
    if (r.ord.free()) {
      more.cack = 50 + given++;
      r.ord.load(more);
    }
    r.cycle();
  }
  CHECK(r.now - from == 50);
  Ord lost = Reorder::imm(0, 30);  // it is the next one: it needs no entry
  lost.cack = 120;
  r.send(lost);
  REQUIRE(r.cqes.size() == 3);
  CHECK(r.cqes[2].msn == 0);
  r.send(of_three(0, 130));
  r.run(100);
  REQUIRE(r.cqes.size() == 3 + 16);  // those that were kept are whole
  for (uint16_t i = 0; i < 16; ++i) {
    CHECK(r.cqes[3u + i].msn == i);
    CHECK(r.cqes[3u + i].imm == 0x100u + i);
  }
  CHECK(r.qperrs.empty());
  for (uint16_t i = 1; i <= 16; ++i) r.send(of_three(static_cast<uint16_t>(16 + i), 99));  // all entries are free
  r.send(of_three(16, 140));
  r.run(100);
  CHECK(r.cqes.size() == 3 + 16 + 17);
}

TEST_CASE("imm_ok is one cycle behind the entries", "[rx_reorder]") {
  Reorder r;
  for (uint16_t i = 1; i <= 7; ++i) r.send(Reorder::imm(static_cast<uint16_t>(0xfffe + i), 100));
  r.ord.load(Reorder::imm(static_cast<uint16_t>(0xfffe + 8), 100));
  r.run(4);  // register, FIFO, taken in Idle, Put: the eighth entry is taken
  CHECK(r.block.imm_ok());
  r.cycle();
  CHECK_FALSE(r.block.imm_ok());
}

namespace {

Preset coded() {
  Preset p = *find_preset("tiny");
  p.ecc = 1;
  return p;
}
const Preset kCoded = coded();

/// ECC_INJECT as blocks see it.
uint16_t ecc(unsigned seq, EccMemory memory, unsigned bits, bool each = false) {
  return static_cast<uint16_t>(seq << 11 | unsigned{each} << 10 | bits << 8 | static_cast<unsigned>(memory));
}

}  // namespace

TEST_CASE("rx_reorder: a row with one wrong bit is as it was written, and counted each time it is seen",
          "[rx_reorder][ecc]") {
  Reorder r(kCoded);
  r.csr.ecc_inject = ecc(1, EccMemory::RxReorderEnts, 1, true);
  r.send(Reorder::imm(0xffff, 20));
  r.send(Reorder::imm(0, 30));
  r.csr.ecc_inject = ecc(2, EccMemory::RxReorderMap, 1);
  r.send(Reorder::imm(1, 40));
  CHECK(r.fixed == 0);
  Ord first = Reorder::imm(0xfffe, 10);
  first.adv = true;
  first.cack = 45;
  r.send(first);
  r.run(40);
  REQUIRE(r.cqes.size() == 4);
  for (unsigned i = 0; i < 4; ++i) CHECK(r.cqes[i].msn == static_cast<uint16_t>(0xfffe + i));
  CHECK(r.cqes[3].imm == 0x101);
  CHECK(r.fixed == 3);  // two rows of ents, one of map
  CHECK(r.bad == 0);
  CHECK(r.qperrs.empty());
}

TEST_CASE("rx_reorder: a row of ents with two wrong bits is an error of its QP; its entry comes back",
          "[rx_reorder][ecc]") {
  Reorder r(kCoded);
  r.configure(QpState::Rtr, 0, 32, 1);
  r.csr.ecc_inject = ecc(1, EccMemory::RxReorderEnts, 3);  // as 2
  r.send(Reorder::imm(0xfffe, 10));
  r.take_qperr = false;
  Ord adv{.qp = 2, .adv = true, .cack = 15};
  for (unsigned i = 1; i <= 3; ++i) {  // the register, and two in csr's FIFO
    r.send(adv);
    CHECK(r.bad == i);
  }
  CHECK(r.cqes.empty());
  r.send(adv);  // waits for qperr
  CHECK(r.bad == 3);
  r.take_qperr = true;
  r.run(20);
  CHECK(r.bad == 4);
  REQUIRE(r.qperrs.size() == 4);
  for (const Qperr& e : r.qperrs) CHECK(e == Qperr{.qp = 2, .status = CqStatus::EccError});
  CHECK(r.block.over() == std::vector<uint8_t>{0, 0, 0, 0});
  Ord other = Reorder::imm(0, 5);  // of QP 1, in order
  other.qp = 1;
  other.cack = 6;
  r.send(other);
  REQUIRE(r.cqes.size() == 1);
  CHECK(r.cqes[0].qp == 1);
  r.configure(QpState::Rtr, 0, 32);
  for (uint16_t i = 1; i <= 16; ++i) r.send(Reorder::imm(i, 10u + i));  // all 16 entries are there
  adv.cack = 100;
  Ord zero = Reorder::imm(0, 10);
  zero.adv = true;
  zero.cack = 100;
  r.send(zero);
  r.run(100);
  CHECK(r.cqes.size() == 1 + 17);
  CHECK(r.qperrs.size() == 4);
}

TEST_CASE("rx_reorder: an entry whose row in map is bad is lost, and its QP alone", "[rx_reorder][ecc]") {
  Reorder r(kCoded);
  r.csr.ecc_inject = ecc(1, EccMemory::RxReorderMap, 2);
  r.send(Reorder::imm(0xffff, 20));
  CHECK(r.bad == 0);
  r.send(Reorder::imm(0xffff, 20));  // again: Put sees it
  CHECK(r.bad == 1);
  Ord first = Reorder::imm(0xfffe, 10);
  first.adv = true;
  first.cack = 25;
  r.send(first);  // Test sees it
  CHECK(r.bad == 2);
  CHECK(r.cqes.size() == 1);
  REQUIRE(r.qperrs.size() == 2);
  CHECK(r.qperrs[1] == Qperr{.qp = 2, .status = CqStatus::EccError});
  r.configure(QpState::Rtr, 0, 32);  // Init sees it
  CHECK(r.bad == 3);
  for (uint16_t i = 1; i <= 16; ++i) r.send(Reorder::imm(i, 10u + i));  // one finds no entry
  Ord zero = Reorder::imm(0, 10);
  zero.adv = true;
  zero.cack = 100;
  r.send(zero);
  r.run(100);
  CHECK(r.cqes.size() == 1 + 16);
  CHECK(r.bad == 3);
  CHECK(r.qperrs.size() == 2);
}

TEST_CASE("rx_reorder: rows that were never written are not seen when a QP is set up", "[rx_reorder][ecc]") {
  Reorder r(kCoded);
  r.csr.ecc_inject = ecc(1, EccMemory::RxReorderMap, 1, true);
  r.configure(QpState::Rtr, 0, 32, 1);
  CHECK(r.fixed == 0);
  r.configure(QpState::Rtr, 0, 32, 1);
  CHECK(r.fixed == 32);
}

}  // namespace mrc::test::rx_reorder_test

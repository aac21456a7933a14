// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx_reorder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "gen/csr.hpp"
#include "pipeline/cq_mux.hpp"

using namespace mrc;

namespace {

struct Reorder {
  explicit Reorder(uint8_t max_wimm_dest = 32) : block(preset, ord, cqe, qperr) {
    cfg_cycles = configure(QpState::Rtr, 0xfffe, max_wimm_dest);
  }
  /// QP 2. Returns the cycles until the acknowledgement.
  unsigned configure(QpState state, uint16_t rqmsn, uint8_t max_wimm_dest) {
    csr::TblQpCtx row;
    row.state = static_cast<uint8_t>(state);
    row.rqmsn = rqmsn;
    row.max_wimm = 1;  // the requestor's
    row.max_wimm_dest = max_wimm_dest;
    cfg.req = true;
    cfg.index = 2;
    row.pack(cfg.data.data());
    unsigned n = 0;
    while (!block.cfg_ack()) {
      cycle();
      ++n;
    }
    cfg.req = false;
    cycle();
    return n;
  }
  void cycle(bool done = false, unsigned plane = 0) {
    block.step(cfg, {.done_valid = done, .done_plane = plane});
    if (cqe.has()) {
      cqes.push_back(cqe.head());
      cqe.pop();
    }
    if (take_qperr && qperr.has()) {
      qperrs.push_back(qperr.head());
      qperr.pop();
    }
    ord.clock();
    cqe.clock();
    qperr.clock();
    block.clock();
  }
  void idle(unsigned n) {
    for (unsigned i = 0; i < n; ++i) cycle();
  }
  void send(const Ord& o) {
    ord.load(o);
    idle(20);
  }
  static Ord imm(uint16_t rqmsn, uint32_t psn) {
    Ord o;
    o.qp = 2;
    o.imm_valid = true;
    o.rqmsn = rqmsn;
    o.imm = 0x100u + rqmsn;
    o.length = 50;
    o.psn = psn;
    o.cack = psn - 1;
    return o;
  }

  const Preset& preset = *find_preset("tiny");
  CfgBus cfg;
  Stream<Ord> ord;
  Stream<Cqe> cqe;
  Stream<Qperr> qperr;
  RxReorder block;
  bool take_qperr = true;
  unsigned cfg_cycles = 0;
  std::vector<Cqe> cqes;
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
  Ord adv;
  adv.qp = 2;
  adv.adv = true;
  adv.cack = 9;
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
  r.send(Reorder::imm(0xfffd, 1));
  r.send(Reorder::imm(static_cast<uint16_t>(0xfffe + 0x8000), 1));
  CHECK(r.cqes.size() == 1);
  CHECK(r.qperrs.size() == 1);
}

TEST_CASE("max_wimm_dest is the limit, whatever the ring holds", "[rx_reorder]") {
  const uint8_t limit = GENERATE(uint8_t{1}, uint8_t{5}, uint8_t{31}, uint8_t{32});
  Reorder r(limit);
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
  r.idle(100);
  REQUIRE(r.cqes.size() == 1u + limit);
  for (uint16_t i = 0; i < limit; ++i) CHECK(r.cqes[1u + i].msn == static_cast<uint16_t>(0xfffe + i));
  r.send(Reorder::imm(static_cast<uint16_t>(0xfffe + 2 * limit - 1), 300));
  CHECK(r.qperrs.size() == 1);
  r.send(Reorder::imm(static_cast<uint16_t>(0xfffe + 2 * limit), 301));
  CHECK(r.qperrs.size() == 2);
}

TEST_CASE("the row of Rts changes nothing, that of another state starts anew", "[rx_reorder]") {
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
  r.idle(20);
  CHECK(r.cqes.size() == 4);
  CHECK(r.qperrs.size() == 4);
}

TEST_CASE("a completion waits until every verdict issued before it is carried out", "[rx_reorder]") {
  Reorder r;
  Ord o = Reorder::imm(0xfffe, 5);
  o.adv = true;
  o.cack = 5;
  o.snap = 0x0201;  // one of plane 0, two of plane 1
  r.send(o);
  CHECK(r.cqes.empty());
  r.cycle(true, 1);
  r.cycle(true, 0);
  r.idle(10);
  CHECK(r.cqes.empty());
  r.cycle(true, 1);
  r.idle(2);
  CHECK(r.cqes.empty());
  r.cycle();  // done counts from the next cycle on; then the output register, then the consumer's FIFO
  CHECK(r.cqes.size() == 1);
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
  r.idle(100);
  CHECK(r.cqes.empty());
  r.cycle(true, 0);
  r.idle(100);
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
    r.idle(5);
  }
  CHECK(r.ord.count() == 2);
  CHECK(r.cqes.empty());
  r.cycle(true, 0);
  r.idle(50);
  CHECK(r.cqes.size() == 10);
}

TEST_CASE("completions of both directions take turns", "[cq_mux]") {
  Fifo<Cqe> tx{2};
  Stream<Cqe> rx;
  CqMux mux(tx, rx);
  std::vector<uint32_t> out;
  uint32_t next = 0;
  for (int i = 0; i < 40; ++i) {
    const bool ready = i % 3 != 0;
    if (mux.cqe_valid() && ready) out.push_back(mux.cqe().wr_id);
    mux.step(ready);
    if (next < 10 && tx.ready() && rx.free()) {
      Cqe c;
      c.wr_id = next;
      tx.push(c);
      c.wr_id = 100 + next++;
      rx.load(c);
    }
    tx.clock();
    rx.clock();
    mux.clock();
  }
  REQUIRE(out.size() == 20);
  for (uint32_t i = 0; i < 20; ++i) CHECK(out[i] == (i % 2) * 100 + i / 2);
}

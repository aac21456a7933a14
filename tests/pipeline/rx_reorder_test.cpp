// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx_reorder.hpp"

#include <catch2/catch_test_macros.hpp>

#include "gen/csr.hpp"
#include "pipeline/cq_mux.hpp"

using namespace mrc;

namespace {

struct Reorder {
  Reorder() : block(preset, ord, cqe) {
    csr::TblQpCtx row;
    row.rqmsn = 0xfffe;
    cfg.req = true;
    cfg.index = 2;
    row.pack(cfg.data.data());
    while (!block.cfg_ack()) {
      cycle();
      ++cfg_cycles;
    }
    cfg.req = false;
    cycle();
  }
  void cycle(bool done = false, unsigned plane = 0) {
    block.step(cfg, {.done_valid = done, .done_plane = plane});
    if (cqe.has()) {
      cqes.push_back(cqe.head());
      cqe.pop();
    }
    ord.clock();
    cqe.clock();
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
  RxReorder block;
  unsigned cfg_cycles = 0;
  std::vector<Cqe> cqes;
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
  r.send(Reorder::imm(0xfffd, 1));
  r.send(Reorder::imm(static_cast<uint16_t>(0xfffe + 0x8000), 1));
  CHECK(r.cqes.size() == 1);
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
  Stream<Cqe> tx, rx;
  CqMux mux(tx, rx);
  std::vector<uint32_t> out;
  uint32_t next = 0;
  for (int i = 0; i < 40; ++i) {
    const bool ready = i % 3 != 0;
    if (mux.cqe_valid() && ready) out.push_back(mux.cqe().wr_id);
    mux.step(ready);
    if (next < 10 && tx.free() && rx.free()) {
      Cqe c;
      c.wr_id = next;
      tx.load(c);
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

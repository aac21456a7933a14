// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx_inflight.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "gen/csr.hpp"
#include "protocol/psn.hpp"

using namespace mrc;

namespace {

/// tx_inflight alone, its outputs taken at once. tiny: 4 QPs, 128 PSNs, a tick of 128 cycles.
struct Bench {
  Preset preset = *find_preset("tiny");
  Stream<Rec> rec;
  Stream<Ctl> ctl;
  Stream<Retx> retx_out;
  Stream<Upd> upd_out;
  Stream<Fb> fb_out;
  Stream<Pres> pres_out;
  TxInflight inflight{preset, rec, ctl, retx_out, upd_out, fb_out, pres_out};
  CfgBus cfg;
  CsrOut csr;
  bool take_retx = true, take_upd = true, take_pres = true;
  unsigned cycles = 0, rtx_inc = 0, rto_inc = 0, fail_inc = 0;
  std::vector<unsigned> rto_at, fail_at;  // ticks of the timer's expiries and of failures
  std::vector<Retx> retx;
  std::vector<Upd> upd;
  std::vector<Fb> fb;
  std::vector<Pres> pres;

  static constexpr uint32_t kPsn = 0xffffe0;  // window over the wrap

  Bench() {
    csr.reorder = 4;
    csr.rto = 24;
    for (uint16_t q = 0; q < 4; ++q) configure(q);
  }
  void configure(uint16_t q) {
    csr::TblQpCtx row;
    row.state = 3;
    row.sq_psn = kPsn;
    row.msn = 10;
    row.pack(cfg.data.data());
    cfg.index = q;
    cfg.req = true;
    while (!inflight.cfg_ack()) cycle();
    cfg.req = false;
    cycle();
  }
  void retries(uint8_t linear, uint8_t exponential) {
    csr.rto = 0;
    csr.retry_linear = linear;
    csr.retry_exp = exponential;
  }
  unsigned tick() const { return cycles / 128; }
  void run_to_tick(unsigned t) {
    while (tick() < t) cycle();
  }
  void cycle() {
    if (retx_out.has() && take_retx) {
      retx.push_back(retx_out.head());
      retx_out.pop();
    }
    if (upd_out.has() && take_upd) {
      upd.push_back(upd_out.head());
      upd_out.pop();
    }
    if (fb_out.has()) {
      fb.push_back(fb_out.head());
      fb_out.pop();
    }
    if (pres_out.has() && take_pres) {
      pres.push_back(pres_out.head());
      pres_out.pop();
    }
    inflight.step(cfg, csr);
    inflight.clock();
    rec.clock();
    ctl.clock();
    retx_out.clock();
    upd_out.clock();
    fb_out.clock();
    pres_out.clock();
    rtx_inc += inflight.rtx_inc();
    rto_inc += inflight.rto_inc();
    fail_inc += inflight.fail_inc();
    if (inflight.rto_inc()) rto_at.push_back(tick());
    if (inflight.fail_inc()) fail_at.push_back(tick());
    ++cycles;
  }
  void run(unsigned n) {
    for (unsigned i = 0; i < n; ++i) cycle();
  }
  /// Packet i of the QP: message 10 + i / 10 of ten packets, on EV i.
  void sent(uint16_t qp, unsigned i, bool rtx = false) {
    while (!rec.free()) cycle();
    rec.load({.qp = qp,
              .psn = psn_add(kPsn, i),
              .msn = static_cast<uint16_t>(10 + i / 10),
              .idx = i % 10,
              .ev_idx = static_cast<uint16_t>(i % 16),
              .rtx = rtx,
              .last = i % 10 == 9});
    cycle();
  }
  void sent_all(uint16_t qp, unsigned n) {
    for (unsigned i = 0; i < n; ++i) sent(qp, i);
    run(8);
  }
  /// SACK: everything before `cack` (packet numbers from kPsn) and the packets in bits, from `base` on.
  void sack(uint16_t qp, unsigned cack, unsigned psn, unsigned base, uint64_t bits, uint16_t ooo, uint8_t m = 0) {
    Ctl c;
    c.kind = CtlKind::Sack;
    c.qp = qp;
    c.psn = psn_add(kPsn, psn);
    c.cack = psn_add(kPsn, static_cast<int64_t>(cack) - 1);
    c.base = psn_add(kPsn, base);
    c.bitmap = bits;
    c.ooo = ooo;
    c.m = m;
    c.entropy = 0x1234;
    give(c);
  }
  void nack(uint16_t qp, unsigned i, uint8_t reason) {
    Ctl n;
    n.kind = CtlKind::Nack;
    n.qp = qp;
    n.psn = psn_add(kPsn, i);
    n.reason = reason;
    give(n);
  }
  void give(const Ctl& c) {
    ctl.load(c);
    run(40);
  }
};

}  // namespace

TEST_CASE("tx_inflight retransmits what lies the tolerance below the newest arrival, once", "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(1, 60);
  b.sack(1, 3, 12, 3, 0b11'1111'1100, 8);  // 3 and 4 missing, 5..12 arrived
  REQUIRE(b.upd.size() == 1);
  CHECK(b.upd[0].qp == 1);
  CHECK(b.upd[0].una == psn_add(Bench::kPsn, 3));
  CHECK_FALSE(b.upd[0].ack);
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 3));
  CHECK(b.retx[1].psn == psn_add(Bench::kPsn, 4));
  CHECK(b.retx[1].msn == 10);
  CHECK(b.retx[1].idx == 4);
  CHECK(b.retx[1].avoid_ev == 4);
  CHECK(b.rtx_inc == 2);
  b.sack(1, 3, 13, 3, 0b111'1111'1100, 9);
  CHECK(b.retx.size() == 2);
  CHECK(b.upd.size() == 1);
}

TEST_CASE("tx_inflight works through a bitmap that spans two rows and the wrap of the PSN", "[pipeline][tx_inflight]") {
  Bench b;  // packet 32 has PSN 0
  b.sent_all(0, 60);
  b.sack(0, 28, 40, 28, 0b1'1110'1101'1110, 9);  // missing: 28, 33, 36; arrived up to 40; lost below 37
  REQUIRE(b.retx.size() == 3);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 28));
  CHECK(b.retx[1].psn == 1);
  CHECK(b.retx[2].psn == 4);
  CHECK(b.retx[2].msn == 13);
  CHECK(b.retx[2].idx == 6);
}

TEST_CASE("tx_inflight below the tolerance waits, and drops a SACK of PSNs never sent", "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(0, 20);
  b.sack(0, 3, 6, 3, 0b1110, 3);
  CHECK(b.retx.empty());
  b.sack(0, 21, 19, 21, 0, 0);
  CHECK(b.upd.size() == 1);
  b.sack(0, 20, 19, 20, 0, 0);
  REQUIRE(b.upd.size() == 2);
  CHECK(b.upd[1].una == psn_add(Bench::kPsn, 20));
}

TEST_CASE("tx_inflight hands marks on with the EV that the packet had", "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(0, 20);
  b.sack(0, 6, 5, 6, 0, 0, 1);
  REQUIRE(b.fb.size() == 1);
  CHECK(b.fb[0].ev_idx == 5);
  CHECK(b.fb[0].entropy == 0x1234);
  CHECK(b.fb[0].kind == 1);
  Ctl n;
  n.kind = CtlKind::Nack;
  n.qp = 0;
  n.psn = psn_add(Bench::kPsn, 9);
  n.reason = 1;
  n.entropy = 0x77;
  b.give(n);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 9));
  REQUIRE(b.fb.size() == 2);
  CHECK(b.fb[1].ev_idx == 9);
  n.reason = 2;  // LASTHOP: retransmitted, no EV
  n.psn = psn_add(Bench::kPsn, 11);
  b.give(n);
  CHECK(b.retx.size() == 2);
  CHECK(b.fb.size() == 2);
  n.psn = psn_add(Bench::kPsn, 3);  // acknowledged already
  b.give(n);
  CHECK(b.retx.size() == 2);
}

TEST_CASE("tx_inflight: the timer sends everything again that was out when it started", "[pipeline][tx_inflight]") {
  Bench b;
  b.csr.rto = 0;  // 8 ticks, 1024 cycles
  b.sent_all(2, 5);
  b.run(900 - b.cycles % 128);
  CHECK(b.retx.empty());
  b.run(500);
  CHECK(b.rto_inc == 1);
  // The timer started with the first packet: tmr_psn stood behind it.
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == Bench::kPsn);
  b.run(1200);
  CHECK(b.rto_inc == 2);
  REQUIRE(b.retx.size() == 6);
  for (unsigned i = 0; i < 5; ++i) CHECK(b.retx[1 + i].psn == psn_add(Bench::kPsn, i));
}

TEST_CASE("tx_inflight: with all packets arrived and the ACK missing the newest packet goes again",
          "[pipeline][tx_inflight]") {
  Bench b;
  b.csr.rto = 0;
  b.sent_all(0, 10);
  b.sack(0, 10, 9, 10, 0, 0);
  CHECK(b.upd.size() == 1);
  b.run(1300);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 9));
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.give(a);
  REQUIRE(b.upd.size() == 2);
  CHECK(b.upd[1].ack);
  CHECK(b.upd[1].msn == 11);
  CHECK(b.upd[1].syndrome == 0x1f);
  b.run(3000);
  CHECK(b.retx.size() == 1);
  CHECK(b.rto_inc == 1);
}

TEST_CASE("tx_inflight: a NAK ends the QP's retransmissions", "[pipeline][tx_inflight]") {
  Bench b;
  b.csr.rto = 0;
  b.sent_all(0, 15);
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = 0x123456;  // any
  a.msn = 10;
  a.reason = 0x61;
  b.give(a);
  REQUIRE(b.upd.size() == 1);
  CHECK(b.upd[0].syndrome == 0x61);
  b.run(3000);
  CHECK(b.retx.empty());
  CHECK(b.rto_inc == 0);
  b.sack(0, 5, 4, 5, 0, 0);
  CHECK(b.upd.size() == 1);
}

TEST_CASE("tx_inflight: a mark above the window's new start leaves older pending PSNs alone",
          "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(0, 60);
  // With retx not taken three orders go out and the others wait; the pointer stays at 3.
  b.take_retx = false;
  Ctl n;
  n.kind = CtlKind::Nack;
  n.reason = 2;
  for (const unsigned i : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 20u}) {
    n.psn = psn_add(Bench::kPsn, i);
    b.ctl.load(n);
    b.run(30);
  }
  // The window jumps to 10, and 30 counts as lost: 20 must not be forgotten.
  Ctl s;
  s.kind = CtlKind::Sack;
  s.psn = psn_add(Bench::kPsn, 40);
  s.cack = psn_add(Bench::kPsn, 9);
  s.base = psn_add(Bench::kPsn, 30);
  s.bitmap = 0b111'1111'1110;
  s.ooo = 10;
  b.give(s);
  b.take_retx = true;
  b.run(200);
  unsigned seen20 = 0, seen30 = 0;
  for (const Retx& r : b.retx) {
    seen20 += r.psn == psn_add(Bench::kPsn, 20);
    seen30 += r.psn == psn_add(Bench::kPsn, 30);
  }
  CHECK(seen20 == 1);
  CHECK(seen30 == 1);
}

TEST_CASE("tx_inflight: QPs with losses take turns, also when all have some", "[pipeline][tx_inflight]") {
  Bench b;
  for (uint16_t q = 0; q < 4; ++q) b.sent_all(q, 30);
  for (uint16_t q = 0; q < 4; ++q) {
    Ctl c;
    c.kind = CtlKind::Sack;
    c.qp = q;
    c.psn = psn_add(Bench::kPsn, 29);
    c.cack = psn_add(Bench::kPsn, -1);
    c.base = Bench::kPsn;
    c.bitmap = uint64_t{0xff} << 22;  // 0..21 missing
    c.ooo = 8;
    b.ctl.load(c);
    while (!b.ctl.free()) b.cycle();
    b.cycle();
  }
  b.run(1000);
  REQUIRE(b.retx.size() == 4 * 22);
  unsigned count[4] = {};
  for (const Retx& r : b.retx) CHECK(psn_dist(r.psn, Bench::kPsn) == count[r.qp]++);
  for (const unsigned c : count) CHECK(c == 22);
  for (unsigned i = 20; i + 4 < 60; ++i) CHECK(b.retx[i].qp == b.retx[i + 4].qp);
}

  bool take_retx = true, take_upd = true, take_pres = true;
  unsigned cycles = 0, rtx_inc = 0, rto_inc = 0, fail_inc = 0;
  std::vector<unsigned> rto_at, fail_at;  // ticks of the timer's expiries and of failures
}

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/inflight/tx_inflight.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <deque>
#include <map>
#include <random>
#include <utility>
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
  Stream<Ccans> rans;
  Stream<Retx> retx_out;
  Stream<Upd> upd_out;
  Stream<Fb> fb_out;
  Stream<Pres> pres_out;
  Stream<Ccev> ccev_out;
  Stream<Ccask> rask_out;
  Stream<Okev> okev_out;
  Stream<Qperr> qperr_out;
  Stream<Stateq> stateq_out;
  TxInflight inflight{preset,
                      {rec, ctl, rans},
                      {retx_out, upd_out, fb_out, pres_out, ccev_out, rask_out, okev_out, qperr_out, stateq_out}};
  CfgBus cfg;
  CsrOut csr;
  csr::TblQpCtx ctx;  ///< of all QPs; a test may change it and configure()
  bool take_retx = true, take_upd = true, take_pres = true, take_ccev = true, take_okev = true, take_qperr = true;
  unsigned refuse = 0;  ///< bit d: rasks to destination d are refused
  bool answer = true;   ///< rasks are answered
  unsigned tick0 = 0;   ///< tick of cycle 0
  unsigned cycles = 0, rtx_inc = 0, rto_inc = 0, fail_inc = 0, freed = 0;
  std::vector<unsigned> rto_at, fail_at;  // ticks of the timer's expiries and of failures
  std::vector<Retx> retx;
  std::vector<Upd> upd;
  std::vector<Fb> fb;
  std::vector<Pres> pres;
  std::vector<Ccev> ccev;
  std::vector<Ccask> rask, granted;
  std::vector<unsigned> rask_at;
  std::vector<Okev> okev;
  std::vector<Qperr> qperr;
  std::vector<Stateq> stateq;

  static constexpr uint32_t kPsn = 0xffffe0;  // window over the wrap
  static constexpr uint16_t kSize = 340;      // 256 bytes of payload

  /// cc: QP q has the controller of destination 3 - q.
  explicit Bench(bool cc = false) {
    csr.reorder = 4;
    csr.same_ev = false;
    ctx.state = 3;
    ctx.sq_psn = kPsn;
    ctx.msn = 10;
    ctx.timeout = 24;
    ctx.retry_linear = 7;
    ctx.retry_exp = 25;
    ctx.cc = cc;
    for (uint16_t q = 0; q < 4; ++q) configure(q);
  }
  void request(uint16_t q) {
    csr::TblQpCtx row = ctx;
    row.dest = static_cast<uint8_t>(3 - q);
    row.pack(cfg.data.data());
    cfg.table = static_cast<uint8_t>(CfgTable::QpCtx);
    cfg.index = q;
    cfg.req = true;
  }
  void finish_cfg() {
    for (unsigned i = 0; i < 1000 && !inflight.cfg_ack(); ++i) cycle();
    REQUIRE(inflight.cfg_ack());
    cfg.req = false;
    cycle();
  }
  void configure(uint16_t q) {
    request(q);
    finish_cfg();
  }
  void set_state(uint16_t q, QpState state) {
    cfg.table = static_cast<uint8_t>(CfgTable::QpState);
    cfg.index = q;
    cfg.data[0] = static_cast<uint32_t>(state);
    cfg.req = true;
    finish_cfg();
  }
  void retries(uint8_t linear, uint8_t exponential, uint8_t timeout = 0) {
    ctx.timeout = timeout;
    ctx.retry_linear = linear;
    ctx.retry_exp = exponential;
    for (uint16_t q = 0; q < 4; ++q) configure(q);
  }
  unsigned tick() const { return tick0 + cycles / 128; }
  void run_to_tick(unsigned t) {
    while (static_cast<int>(t - tick()) > 0) cycle();
  }
  template <class T>
  static void collect(Stream<T>& from, std::vector<T>& to, bool take = true) {
    if (!from.has() || !take) return;
    to.push_back(from.head());
    from.pop();
  }
  void cycle() {
    collect(retx_out, retx, take_retx);
    collect(upd_out, upd, take_upd);
    collect(fb_out, fb);
    collect(pres_out, pres, take_pres);
    collect(ccev_out, ccev, take_ccev);
    collect(okev_out, okev, take_okev);
    collect(qperr_out, qperr, take_qperr);
    collect(stateq_out, stateq);
    if (rask_out.has() && answer) {
      rask_at.push_back(cycles);
      const Ccask& ask = rask_out.head();
      const bool ok = (refuse >> ask.cc & 1) == 0;
      if (ok) granted.push_back(ask);
      rans.load({.cc = ask.cc, .bytes = ok ? ask.bytes : uint16_t{0}, .last = false});
      collect(rask_out, rask);
    }
    csr.tick = tick();
    inflight.step(cfg, csr);
    inflight.clock();
    rec.clock();
    ctl.clock();
    rans.clock();
    retx_out.clock();
    upd_out.clock();
    fb_out.clock();
    pres_out.clock();
    ccev_out.clock();
    rask_out.clock();
    okev_out.clock();
    qperr_out.clock();
    stateq_out.clock();
    const TxInflight::Pulses& p = inflight.pulses();
    rtx_inc += p.rtx;
    rto_inc += p.rto;
    fail_inc += p.fail;
    freed += p.freed;
    if (p.rto) rto_at.push_back(tick());
    if (p.fail) fail_at.push_back(tick());
    ++cycles;
  }
  void run(unsigned n) {
    for (unsigned i = 0; i < n; ++i) cycle();
  }
  /// Packet i of the QP: message 10 + i / 10 of ten packets, on EV i modulo 16.
  static Rec packet(uint16_t qp, unsigned i) {
    return {.qp = qp,
            .psn = psn_add(kPsn, i),
            .msn = static_cast<uint16_t>(10 + i / 10),
            .row = static_cast<uint16_t>(2 * qp + i / 10),
            .idx = i % 10,
            .ev_idx = static_cast<uint16_t>(i % 16),
            .rtx = false,
            .last = i % 10 == 9,
            .size = kSize,
            .voided = false};
  }
  void give(const Rec& r) {
    while (!rec.free()) cycle();
    rec.load(r);
    cycle();
  }
  void sent(uint16_t qp, unsigned i) { give(packet(qp, i)); }
  void sent_all(uint16_t qp, unsigned n) {
    for (unsigned i = 0; i < n; ++i) sent(qp, i);
    run(8);
  }
  /// The order of retransmission number n has been carried out, on EV `ev`.
  void resent(std::size_t n, uint16_t ev, bool voided = false) {
    REQUIRE(n < retx.size());
    const Retx& o = retx[n];
    give({.qp = o.qp,
          .psn = o.psn,
          .msn = o.msn,
          .row = o.row,
          .idx = o.idx,
          .ev_idx = ev,
          .rtx = true,
          .last = false,
          .size = o.size,
          .voided = voided});
    run(8);
  }
  /// To a tick's beginning, so that what comes next falls into one tick.
  void align() {
    while (cycles % 128 != 4) cycle();
  }
  /// SACK: everything before `cack` (packet numbers from kPsn) and the packets in bits, from `base` on.
  static Ctl sack_of(uint16_t qp, unsigned cack, unsigned psn, unsigned base, uint64_t bits, uint16_t ooo,
                     uint8_t m = 0) {
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
    return c;
  }
  void sack(uint16_t qp, unsigned cack, unsigned psn, unsigned base, uint64_t bits, uint16_t ooo, uint8_t m = 0) {
    give(sack_of(qp, cack, psn, base, bits, ooo, m));
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

TEST_CASE("tx_inflight: the timer sends again what was out for an interval, step by step", "[pipeline][tx_inflight]") {
  Bench b;
  b.retries(7, 25);  // 8 ticks, steps of 2
  b.align();
  const unsigned t0 = b.tick();
  b.sent_all(2, 3);  // the timer starts within 16 cycles
  b.run_to_tick(t0 + 1);
  b.sent(2, 3);
  b.sent(2, 4);
  b.run_to_tick(t0 + 5);
  b.sent(2, 5);
  b.run_to_tick(t0 + 8);
  CHECK(b.retx.empty());
  b.run_to_tick(t0 + 9);
  REQUIRE(b.retx.size() == 3);
  b.run_to_tick(t0 + 11);  // sent in the first step: out for an interval at the fifth
  REQUIRE(b.retx.size() == 5);
  b.run_to_tick(t0 + 14);
  CHECK(b.retx.size() == 5);
  b.run_to_tick(t0 + 15);  // sent in the third
  REQUIRE(b.retx.size() == 6);
  for (unsigned i = 0; i < 6; ++i) CHECK(b.retx[i].psn == psn_add(Bench::kPsn, i));
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 8, t0 + 10, t0 + 14});
}

TEST_CASE("tx_inflight: with all packets arrived and the ACK missing the newest packet goes again",
          "[pipeline][tx_inflight]") {
  Bench b;
  b.retries(7, 25);
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
  b.retries(7, 25);
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

TEST_CASE(
    "tx_inflight: timeouts come after 8, 8, 8, 16, 32 ticks with two linear and three exponential retries, then "
    "the QP fails",
    "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(2, 3);
  const unsigned t0 = b.tick();
  b.sent_all(1, 1);
  REQUIRE(b.tick() == t0);
  b.run_to_tick(t0 + 135);
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 8, t0 + 16, t0 + 24, t0 + 40, t0 + 72});
  CHECK(b.fail_inc == 0);
  CHECK(b.upd.empty());
  CHECK(b.retx.size() == 5);
  b.run_to_tick(t0 + 300);
  CHECK(b.fail_at == std::vector<unsigned>{t0 + 136});  // 64 ticks after the last retry
  CHECK(b.rto_inc == 5);
  CHECK(b.retx.size() == 5);
  REQUIRE(b.upd.size() == 1);
  CHECK(b.upd[0] == Upd{.qp = 1, .una = Bench::kPsn, .ack = true, .msn = 10, .syndrome = 0x84});
  b.sack(1, 5, 4, 5, 0, 0);  // it hears nothing more
  CHECK(b.upd.size() == 1);
}

TEST_CASE("tx_inflight: without retries the first timeout ends the QP, also when only the ACK is missing",
          "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(0, 0);
  b.sent_all(0, 10);
  b.sack(0, 10, 9, 10, 0, 0);
  const unsigned t0 = b.tick();
  b.run_to_tick(t0 + 20);
  CHECK(b.fail_at == std::vector<unsigned>{t0 + 8});
  CHECK(b.rto_inc == 0);
  CHECK(b.retx.empty());
  REQUIRE(b.upd.size() == 2);
  CHECK(b.upd[1] == Upd{.qp = 0, .una = psn_add(Bench::kPsn, 10), .ack = true, .msn = 10, .syndrome = 0x84});
}

TEST_CASE("tx_inflight: progress by SACK or ACK gives all retries back", "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(1, 0);
  b.sent_all(0, 20);
  b.run_to_tick(10);
  CHECK(b.rto_inc == 1);
  b.sack(0, 10, 9, 10, 0, 0);
  b.run_to_tick(20);
  CHECK(b.rto_inc == 2);
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.give(a);
  const unsigned t0 = b.tick();
  CHECK(b.fail_inc == 0);
  b.give(a);                   // nothing new
  b.sack(0, 10, 9, 10, 0, 0);  // nothing new
  b.run_to_tick(t0 + 30);
  // Packets 10 to 19 went again two ticks before: they are spared for three of the steps from 8 ticks on.
  CHECK(b.rto_at.back() == t0 + 14);
  CHECK(b.rto_inc == 3);
  CHECK(b.fail_at == std::vector<unsigned>{t0 + 22});
  CHECK(b.upd.back().msn == 11);
}

TEST_CASE("tx_inflight: 25 exponential retries go on for ever, ever slower", "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(0, 25);
  const unsigned t0 = b.tick();
  b.sent_all(0, 1);
  REQUIRE(b.tick() == t0);
  b.run_to_tick(t0 + 260);  // 8, 16, 32, 64, 128 ticks
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 8, t0 + 24, t0 + 56, t0 + 120, t0 + 248});
  for (unsigned i = 0; i < 40; ++i) b.nack(0, 0, 0x0A);  // far beyond 25
  CHECK(b.fail_inc == 0);
  CHECK(b.upd.empty());
}

TEST_CASE("tx_inflight: 24 exponential retries end with the 25th NACK", "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(0, 24, 20);
  b.sent_all(0, 30);
  for (unsigned i = 0; i < 24; ++i) b.nack(0, 0, 0x0A);
  CHECK(b.fail_inc == 0);
  CHECK(b.retx.size() == 24);
  b.nack(0, 0, 0x0A);
  CHECK(b.fail_inc == 1);
  CHECK(b.retx.size() == 24);
}

TEST_CASE("tx_inflight: NACKs of want count as retries, those of trimming and of PSNs outside do not",
          "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(3, 1, 20);
  b.sent_all(2, 20);
  b.nack(2, 0, 0x06);
  b.nack(2, 0, 0x07);
  b.nack(2, 0, 0x0A);
  b.nack(2, 0, 0x0B);
  for (unsigned i = 4; i < 8; ++i) b.nack(2, i, 0x01);
  for (unsigned i = 8; i < 12; ++i) b.nack(2, i, 0x02);
  b.nack(2, 20, 0x0A);  // not sent yet
  CHECK(b.fail_inc == 0);
  CHECK(b.upd.empty());
  CHECK(b.retx.size() == 12);
  b.nack(2, 12, 0x0A);  // not the oldest packet
  CHECK(b.fail_inc == 0);
  CHECK(b.retx.size() == 13);
  b.nack(2, 0, 0x0A);
  CHECK(b.fail_inc == 1);
  CHECK(b.retx.size() == 13);
  REQUIRE(b.upd.size() == 1);
  CHECK(b.upd[0] == Upd{.qp = 2, .una = Bench::kPsn, .ack = true, .msn = 10, .syndrome = 0x84});
  b.nack(2, 13, 0x01);
  CHECK(b.retx.size() == 13);
}

TEST_CASE("tx_inflight: timer and NACKs share the counter; a NACK does not restart the timer",
          "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(1, 1);
  const unsigned t0 = b.tick();
  b.sent_all(0, 1);
  b.run_to_tick(t0 + 12);
  b.run(32);
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 8});
  b.nack(0, 0, 0x07);
  b.run_to_tick(t0 + 60);
  CHECK(b.rto_inc == 1);
  CHECK(b.fail_at == std::vector<unsigned>{t0 + 28});  // two retries: 16 ticks after the packet went again
}

TEST_CASE("tx_inflight: UNEXP_EVENT ends the QP whatever PSN it names; QP_CTX makes it work again",
          "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.sent_all(3, 15);
  b.sack(3, 5, 4, 5, 0, 0);
  CHECK(b.upd.size() == 1);
  b.nack(3, 100, 0x19);
  CHECK(b.fail_inc == 1);
  CHECK(b.retx.empty());
  CHECK(b.fb.empty());
  REQUIRE(b.upd.size() == 2);
  CHECK(b.upd[1] == Upd{.qp = 3, .una = psn_add(Bench::kPsn, 5), .ack = true, .msn = 10, .syndrome = 0x86});
  b.nack(3, 7, 0x19);
  b.nack(3, 7, 0x01);
  CHECK(b.fail_inc == 1);
  CHECK(b.upd.size() == 2);
  CHECK(b.retx.empty());
  b.retries(1, 0);
  b.configure(3);
  b.sent_all(3, 5);
  b.nack(3, 2, 0x0A);  // one retry, again
  CHECK(b.fail_inc == 1);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 2));
}

TEST_CASE("tx_inflight: QP_CTX gives a QP its retries back", "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(1, 0, 20);
  b.sent_all(0, 5);
  b.nack(0, 0, 0x0A);
  b.configure(0);
  b.sent_all(0, 5);
  b.nack(0, 0, 0x0A);
  CHECK(b.fail_inc == 0);
  b.nack(0, 0, 0x0A);
  CHECK(b.fail_inc == 1);
}

TEST_CASE("tx_inflight: no timer visit while upd is not free", "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(0, 0);
  b.sent_all(0, 20);
  b.sent_all(1, 1);
  b.take_upd = false;
  for (unsigned i = 1; i <= 3; ++i) b.sack(0, i, i - 1, i, 0, 0);  // FIFO of two, and the register
  b.run(3000);
  CHECK(b.fail_inc == 0);
  b.take_upd = true;
  b.run(1000);  // the steps have not passed meanwhile
  CHECK(b.fail_inc == 2);
  CHECK(b.upd.size() == 5);
}

TEST_CASE("tx_inflight: a gap and the timer are losses of their EV, a NACK is not", "[pipeline][tx_inflight]") {
  Bench b;
  b.retries(7, 25, 3);  // 64 ticks
  b.sent_all(1, 60);
  b.sack(1, 3, 12, 3, 0b11'1111'1100, 8);  // 3 and 4 missing
  REQUIRE(b.retx.size() == 2);
  REQUIRE(b.fb.size() == 2);
  CHECK(b.fb[0] == Fb{.qp = 1, .ev_idx = 3, .entropy = 0, .kind = 3});
  CHECK(b.fb[1] == Fb{.qp = 1, .ev_idx = 4, .entropy = 0, .kind = 3});
  Ctl n;
  n.kind = CtlKind::Nack;
  n.qp = 1;
  n.psn = psn_add(Bench::kPsn, 20);
  n.entropy = 0x77;
  for (const uint8_t reason : {uint8_t{1}, uint8_t{2}}) {
    n.reason = reason;
    n.psn = psn_add(n.psn, 1);
    b.give(n);
  }
  CHECK(b.retx.size() == 4);
  REQUIRE(b.fb.size() == 3);
  CHECK(b.fb[2] == Fb{.qp = 1, .ev_idx = 5, .entropy = 0x77, .kind = 1});  // packet 21
  // Packet 21 goes again on EV 9 and is lost: now the timer is what orders it.
  b.resent(2, 9);
  REQUIRE(b.rto_inc == 0);
  b.run_to_tick(75);
  CHECK(b.rto_inc == 1);
  const auto loss = [&](uint16_t ev) {
    return std::count(b.fb.begin() + 3, b.fb.end(), Fb{.qp = 1, .ev_idx = ev, .entropy = 0, .kind = 3});
  };
  // 3, 4 and 13..59 were out: EV 9 lost 21, 25, 41, 57.
  CHECK(b.retx.size() == 4 + 49);
  CHECK(b.fb.size() == 3 + 49);
  CHECK(loss(9) == 4);
  CHECK(loss(5) == 2);  // 37, 53; 21 is no longer its packet
}

TEST_CASE("tx_inflight: the newest packet sent again for a missing ACK is no loss", "[pipeline][tx_inflight]") {
  Bench b;
  b.retries(7, 25);
  b.sent_all(0, 10);
  b.sack(0, 10, 9, 10, 0, 0);
  b.run(1300);
  CHECK(b.retx.size() == 1);
  CHECK(b.fb.empty());
}

TEST_CASE("tx_inflight hands the answer to a probe on, and its state counts like any SACK's",
          "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(2, 20);
  Ctl c;
  c.kind = CtlKind::Sack;
  c.qp = 2;
  c.pr = true;
  c.m = 1;
  c.psn = 0x4321;
  c.cack = psn_add(Bench::kPsn, 4);
  c.base = psn_add(Bench::kPsn, 5);
  b.give(c);
  REQUIRE(b.pres.size() == 1);
  CHECK(b.pres[0] == Pres{.qp = 2, .id = 0x4321, .m = 1});
  CHECK(b.fb.empty());
  REQUIRE(b.upd.size() == 1);
  CHECK(b.upd[0].una == psn_add(Bench::kPsn, 5));
  c.cack = psn_add(Bench::kPsn, 20);  // never sent
  b.give(c);
  CHECK(b.pres.size() == 1);
  // Answers that nobody takes stop the control input, not the rest.
  b.take_pres = false;
  c.cack = psn_add(Bench::kPsn, 4);
  for (unsigned i = 0; i < 4; ++i) b.give(c);
  CHECK(b.ctl.count() == 1);
  b.take_pres = true;
  b.run(20);
  CHECK(b.pres.size() == 5);
}

TEST_CASE("tx_inflight: each QP has a timer and retries of its own", "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.ctx.retry_linear = b.ctx.retry_exp = 0;
  for (uint16_t q = 0; q < 4; ++q) {
    b.ctx.timeout = static_cast<uint8_t>(q);
    b.ctx.retry_linear = q == 1 ? 1 : 0;
    b.configure(q);
  }
  b.align();
  const unsigned t0 = b.tick();
  for (uint16_t q = 0; q < 4; ++q) b.sent(q, 0);
  REQUIRE(b.tick() == t0);
  b.run_to_tick(t0 + 80);
  // 8, 16 + 16, 32, 64 ticks.
  CHECK(b.fail_at == std::vector<unsigned>{t0 + 8, t0 + 32, t0 + 32, t0 + 64});
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 16});
  REQUIRE(b.qperr.size() == 4);
  CHECK(b.qperr[0] == Qperr{.qp = 0, .status = CqStatus::RetryExceeded});
  CHECK(b.qperr[3] == Qperr{.qp = 3, .status = CqStatus::RetryExceeded});
  CHECK(b.ccev.empty());
}

TEST_CASE("tx_inflight: QPs without congestion control tell and ask no controller", "[pipeline][tx_inflight][cc]") {
  Bench b;
  b.retries(7, 25);
  b.sent_all(0, 20);
  b.nack(0, 3, 1);
  b.sack(0, 5, 12, 5, 0b1111'0000, 4);
  b.run(4000);
  CHECK(b.retx.size() > 10);
  CHECK(b.retx[0].size == Bench::kSize);
  b.resent(0, 3, true);
  b.set_state(0, QpState::Error);
  b.sent(0, 20);
  b.run(10);
  CHECK(b.ccev.empty());
  CHECK(b.rask.empty());
}

TEST_CASE("tx_inflight: a SACK tells the controller what it newly acknowledges", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.ctx.ts = true;
  b.configure(1);
  b.sent_all(1, 20);
  CHECK(b.ccev.empty());
  b.align();
  Ctl c = Bench::sack_of(1, 3, 2, 3, 0, 0, 1);
  c.rcvd = 4;  // 1020 bytes, rounded up
  c.pen = 77;
  c.restore = true;
  c.ts = static_cast<uint16_t>(b.tick() - 5);
  b.give(c);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0] == Ccev{.cc = 2,
                          .kind = 0,
                          .bytes = 1024,
                          .ecn = true,
                          .rtt_valid = true,
                          .rtt = 5,
                          .pen = 77,
                          .restore = true,
                          .reason = 0});
  b.align();
  c = Bench::sack_of(1, 3, 5, 3, 0b100, 1, 2);  // m 2 is no mark
  c.rcvd = 6;
  c.ts = static_cast<uint16_t>(b.tick() + 3);  // a round trip over the wrap of 16 bits
  b.give(c);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 2, .kind = 0, .bytes = 512, .rtt_valid = true, .rtt = 0xfffd});
  c.rcvd = 5;  // an old one: nothing, and the newest stays
  b.give(c);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2].bytes == 0);
  c.rcvd = 7;
  b.give(c);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3].bytes == 256);
  c = Bench::sack_of(1, 20, 19, 20, 0, 0);
  c.rcvd = 27;  // all has arrived: all that is left, 6800 - 1792, not 20 * 256
  b.give(c);
  REQUIRE(b.ccev.size() == 5);
  CHECK(b.ccev[4].bytes == 5008);
  b.give(c);
  REQUIRE(b.ccev.size() == 6);
  CHECK(b.ccev[5].bytes == 0);
}

TEST_CASE("tx_inflight: round trips from time stamps in microseconds", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.csr.tsr_us = true;
  b.ctx.ts = true;
  b.configure(1);
  b.sent_all(1, 20);
  b.align();
  Ctl c = Bench::sack_of(1, 3, 2, 3, 0, 0, 1);
  c.ts = static_cast<uint16_t>(b.tick() / 8 - 5);
  b.give(c);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0].rtt_valid);
  CHECK(b.ccev[0].rtt == 40);
  b.align();
  Ctl n;
  n.kind = CtlKind::Nack;
  n.qp = 1;
  n.psn = psn_add(Bench::kPsn, 8);
  n.reason = 2;
  n.ts = static_cast<uint16_t>(b.tick() / 8 + 3);  // 13 bits of units
  b.give(n);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1].rtt == 0xffe8);
}

TEST_CASE("tx_inflight: acknowledged bytes never exceed the flight", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.sent_all(1, 4);
  Ctl c = Bench::sack_of(1, 2, 1, 2, 0, 0);
  c.rcvd = 1000;
  b.give(c);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0].bytes == 1360);
  b.nack(1, 3, 0x0A);  // nothing left to take
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 2, .kind = 1, .bytes = 0, .reason = 0x0A});
}

TEST_CASE("tx_inflight: what a NACK could not take counts with the next SACK", "[pipeline][tx_inflight][cc]") {
  Bench b(true);  // packets of 340 bytes
  b.csr.reorder = 1000;
  b.sent_all(1, 2);
  Ctl c = Bench::sack_of(1, 1, 0, 1, 0, 0);
  c.rcvd = 2;  // 340 bytes, rounded up
  b.give(c);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0].bytes == 512);  // 168 are left
  b.nack(1, 1, 0x02);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1].bytes == 168);  // 172 fewer than the packet
  b.run(60);
  REQUIRE(b.retx.size() == 1);  // in flight again: 340
  b.sent(1, 2);
  c = Bench::sack_of(1, 2, 1, 2, 0, 0);
  c.rcvd = 3;  // 680 bytes
  b.give(c);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2].bytes == 256 + 172);
  b.nack(1, 2, 0x02);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3].bytes == 252);  // all that is left; 88 fewer
  b.run(60);
  b.sent(1, 3);
  c.rcvd = 2;  // an older SACK: the 88 stay
  b.give(c);
  REQUIRE(b.ccev.size() == 5);
  CHECK(b.ccev[4].bytes == 0);
  c = Bench::sack_of(1, 3, 2, 3, 0, 0);
  c.rcvd = 4;  // 1020 bytes
  b.give(c);
  REQUIRE(b.ccev.size() == 6);
  CHECK(b.ccev[5].bytes == 256 + 88);
}

TEST_CASE("tx_inflight: the answer to a probe acknowledges, but is no sample", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.ctx.ts = true;
  b.configure(1);
  b.sent_all(1, 20);
  Ctl c = Bench::sack_of(1, 3, 2, 3, 0, 0);
  c.pr = true;
  c.rcvd = 4;
  b.give(c);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0] == Ccev{.cc = 2, .kind = 0, .bytes = 1024});
  CHECK(b.okev.empty());
  CHECK(b.pres.size() == 1);
}

TEST_CASE("tx_inflight: a NACK takes its packet out of the flight, once", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.ctx.ts = true;
  b.configure(0);
  b.refuse = 8;
  b.sent_all(0, 10);
  b.align();
  Ctl n;
  n.kind = CtlKind::Nack;
  n.qp = 0;
  n.psn = psn_add(Bench::kPsn, 4);
  n.reason = 2;
  n.ts = static_cast<uint16_t>(b.tick() - 9);
  n.pen = 5;
  n.restore = true;
  b.give(n);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0] == Ccev{.cc = 3, .kind = 1, .bytes = 340, .rtt_valid = true, .rtt = 9, .reason = 2});
  b.give(n);  // it waits already
  CHECK(b.ccev.size() == 1);
  CHECK(b.retx.empty());
  b.refuse = 0;
  b.run(40);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.fb.empty());  // no loss
  CHECK(b.ccev.size() == 1);
  b.resent(0, 7);
  b.give(n);  // of the retransmission: no sample
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 3, .kind = 1, .bytes = 340, .rtt_valid = false, .rtt = 0, .reason = 2});
  REQUIRE(b.retx.size() == 2);
  b.resent(1, 8);
  b.csr.rtt_rtx = true;
  b.align();
  n.ts = static_cast<uint16_t>(b.tick() - 2);
  b.give(n);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2] == Ccev{.cc = 3, .kind = 1, .bytes = 340, .rtt_valid = true, .rtt = 2, .reason = 2});
  n.psn = psn_add(Bench::kPsn, 10);  // not sent
  b.give(n);
  CHECK(b.ccev.size() == 3);
  b.run(20);
  REQUIRE(b.retx.size() == 3);
  b.set_state(0, QpState::Reset);
  b.run(4);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3] == Ccev{.cc = 3, .kind = 1, .bytes = 3400});  // all ten are in it
}

TEST_CASE("tx_inflight: what a NACK took out and arrives all the same is not acknowledged twice",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.refuse = 15;
  b.sent_all(3, 40);  // packets 32.. are in the second row
  for (const unsigned i : {30u, 31u, 33u}) b.nack(3, i, 1);
  REQUIRE(b.ccev.size() == 3);
  // 0..29 have arrived, and 30, 33, 34.
  Ctl c = Bench::sack_of(3, 30, 34, 30, 0b11001, 2);
  c.rcvd = 44;  // 33 * 340 = 11220
  b.give(c);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3].bytes == 44 * 256 - 2 * 340);
  c.rcvd = 45;  // the same report again cancels nothing
  b.give(c);
  REQUIRE(b.ccev.size() == 5);
  CHECK(b.ccev[4].bytes == 256);
  CHECK(b.retx.empty());
  b.refuse = 0;
  b.run(60);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 31));
}

TEST_CASE("tx_inflight: cancelled losses that weigh more than the news acknowledge nothing",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.refuse = 15;
  b.sent_all(3, 10);
  for (const unsigned i : {3u, 4u}) b.nack(3, i, 1);
  Ctl c = Bench::sack_of(3, 3, 4, 3, 0b11, 0);
  c.rcvd = 2;
  b.give(c);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2] == Ccev{.cc = 0, .kind = 0, .bytes = 0});
  b.csr.nominal = Nominal::Payload;  // a packet weighs 256 then
  b.nack(3, 5, 1);
  c = Bench::sack_of(3, 3, 5, 3, 0b111, 0);
  c.rcvd = 5;
  b.give(c);
  REQUIRE(b.ccev.size() == 5);
  CHECK(b.ccev[4].bytes == 3 * 256 - 256);
}

TEST_CASE("tx_inflight: a SACK whose bitmap lies outside the window cancels nothing", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.refuse = 15;
  b.sent_all(3, 10);
  b.sent_all(2, 10);
  for (const unsigned i : {3u, 4u}) b.nack(3, i, 1);
  b.sack(3, 3, 4, 3, 0b11, 0);  // cancels two
  Ctl c = Bench::sack_of(2, 3, 2, 50, 0, 0);
  c.rcvd = 4;
  b.give(c);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3] == Ccev{.cc = 1, .kind = 0, .bytes = 1024});
}

TEST_CASE("tx_inflight: a loss is told once, its retransmission asks until it is allowed",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.refuse = 4;
  b.sent_all(1, 40);
  b.sack(1, 3, 12, 3, 0b11'1111'1100, 8);  // 3 and 4 are lost
  b.run(300);
  CHECK(b.retx.empty());
  REQUIRE(b.fb.size() == 1);  // 3 only: 4 has not been looked at
  CHECK(b.fb[0] == Fb{.qp = 1, .ev_idx = 3, .entropy = 0, .kind = 3});
  REQUIRE(b.ccev.size() == 2);  // the SACK, and the loss
  CHECK(b.ccev[1] == Ccev{.cc = 2, .kind = 2, .bytes = 340});
  REQUIRE(b.rask.size() > 10);
  for (std::size_t i = 0; i < b.rask.size(); ++i) {
    CHECK(b.rask[i] == Ccask{.cc = 2, .min = 340, .bytes = 340});
    const unsigned since = b.rask_at[i] - b.rask_at[0];  // one in 16 cycles; a timer visit may go first
    CHECK(since >= 16 * i - (i == 0 ? 0 : 15));
    CHECK(since <= 16 * i + 4);
  }
  b.refuse = 0;
  b.run(60);
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[0] ==
        Retx{.qp = 1, .psn = psn_add(Bench::kPsn, 3), .msn = 10, .row = 2, .idx = 3, .avoid_ev = 3, .size = 340});
  CHECK(b.retx[1].psn == psn_add(Bench::kPsn, 4));
  CHECK(b.rtx_inc == 2);
  CHECK(b.fb.size() == 2);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2] == Ccev{.cc = 2, .kind = 2, .bytes = 340});
  b.set_state(1, QpState::Reset);
  b.run(4);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3].bytes == 40 * 340);  // two lost, two asked for again; the SACK brought no rcvd_bytes
}

TEST_CASE("tx_inflight: a destination that refuses holds up no other's retransmissions, news and timers",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.refuse = 8;  // of QP 0
  b.sent_all(0, 20);
  b.sent_all(1, 20);
  b.nack(0, 3, 1);
  for (unsigned i = 0; i < 10; ++i) b.nack(1, i, 1);
  b.run(200);
  CHECK(b.retx.size() == 10);
  for (const Retx& r : b.retx) CHECK(r.qp == 1);
  b.sack(0, 2, 1, 2, 0, 0);
  CHECK(b.upd.size() == 1);
}

TEST_CASE("tx_inflight waits for the answer to a retransmission's question", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.answer = false;
  b.sent_all(0, 20);
  b.nack(0, 3, 1);
  b.run(100);
  CHECK(b.retx.empty());
  b.give(Bench::packet(1, 0));
  b.run(10);
  CHECK(b.rec.has());  // a packet that begins a block waits
  b.answer = true;
  b.run(20);
  CHECK(b.retx.size() == 1);
  CHECK_FALSE(b.rec.has());
  b.answer = false;
  b.nack(0, 4, 1);
  b.give(Bench::packet(1, 1));  // others do not
  b.give(Bench::packet(0, 20));
  b.run(2);
  CHECK_FALSE(b.rec.has());
}

TEST_CASE("tx_inflight: the newest packet again for a missing ACK asks, too", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.retries(7, 25);
  b.refuse = 8;
  b.sent_all(0, 10);
  b.sack(0, 10, 9, 10, 0, 0);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0].bytes == 3400);
  b.run(1300);
  CHECK(b.rto_inc == 1);
  CHECK(b.retx.empty());
  CHECK(b.rask.size() > 3);
  b.refuse = 0;
  b.run(30);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 9));
  CHECK(b.ccev.size() == 1);  // no loss
  CHECK(b.fb.empty());
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  const unsigned t0 = b.tick();
  b.give(a);
  b.run_to_tick(t0 + 7);
  CHECK(b.ccev.size() == 1);  // a SACK may still follow
  b.run_to_tick(t0 + 10);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 3, .kind = 0, .bytes = 340});
}

TEST_CASE("tx_inflight: a copy that was sent for an ACK and got lost leaves the flight when the next one is due",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.retries(7, 25);
  b.sent_all(0, 10);
  b.sack(0, 10, 9, 10, 0, 0);  // all have arrived; the ACK is missing
  b.ccev.clear();
  b.run_to_tick(b.tick() + 12);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.granted.size() == 1);
  CHECK(b.ccev.empty());
  b.run_to_tick(b.tick() + 12);  // 340 bytes would stay in flight for ever, and shut a window of one packet
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0] == Ccev{.cc = 3, .kind = 1, .bytes = 340});
  CHECK(b.retx.size() == 2);
}

TEST_CASE("tx_inflight: bytes that an ACK stood for are not taken again by the next SACK",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.retries(7, 25);
  b.sent_all(0, 10);
  const auto sack = [&](unsigned cack, uint32_t rcvd) {
    Ctl c = Bench::sack_of(0, cack, cack - 1, cack, 0, 0);
    c.rcvd = rcvd;
    b.give(c);
  };
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.give(a);
  b.run_to_tick(b.tick() + 10);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0] == Ccev{.cc = 3, .kind = 0, .bytes = 3400});
  for (unsigned i = 10; i < 20; ++i) b.sent(0, i);
  sack(12, 16);  // 4096 bytes: 3400 of them are known, and two packets (680) are new
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1].bytes == 4096 - 3400);
  sack(13, 17);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2].bytes == 256);
  sack(20, 27);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3].bytes == 3400 - 696 - 256);
}

TEST_CASE("tx_inflight: a QP that hears nothing for a step asks for its peer's state, once until something moves",
          "[pipeline][tx_inflight][timer][A-75]") {
  Bench b;
  b.retries(7, 25);  // 8 ticks, steps of 2
  const bool silent = GENERATE(false, true);
  b.csr.state_silent = silent;
  b.align();
  unsigned t0 = b.tick();
  b.sent_all(2, 10);
  b.run_to_tick(t0 + 2);
  CHECK(b.stateq.empty());
  b.run_to_tick(t0 + 8);
  CHECK(b.stateq.size() == (silent ? 0 : 1));
  b.sack(2, 8, 7, 8, 0, 0);  // the answer; two are still missing
  t0 = b.tick();
  b.run_to_tick(t0 + 7);
  REQUIRE(b.stateq.size() == (silent ? 0 : 2));
  if (!silent) CHECK(b.stateq[1].qp == 2);
  b.sack(2, 10, 9, 10, 0, 0);  // all has arrived, the ACK is missing: its peer repeats it
  b.run_to_tick(b.tick() + 7);
  CHECK(b.stateq.size() == (silent ? 0 : 3));
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 2;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.give(a);
  b.run_to_tick(b.tick() + 30);
  CHECK(b.stateq.size() == (silent ? 0 : 3));  // nothing is open
}

TEST_CASE("tx_inflight: a reserved mark means nothing, an overtaken SACK judges by the packet that brought it",
          "[pipeline][tx_inflight]") {
  Bench b;
  b.csr.same_ev = false;
  b.sent_all(0, 40);
  b.sack(0, 6, 5, 6, 0, 0, 3);
  CHECK(b.fb.empty());
  Ctl c = Bench::sack_of(0, 6, 30, 27, 0b1111, 20);  // 27 to 30 have arrived; what it does not speak of is open
  c.rcvd = 100;
  b.give(c);
  CHECK(b.retx.empty());
  // Overtaken: brought by 13, when 6, 12 and all from 14 on had not arrived. 6 to 10 lie four below 13.
  Ctl old = Bench::sack_of(0, 6, 13, 6, 0b1011'1110, 6);
  old.rcvd = 98;
  b.give(old);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 6));
  old.rcvd = 101;  // the same news, but the newest: by now all but 7 to 11, 13 and 27 to 30 up to 26 are lost
  b.give(old);
  b.run(200);
  CHECK(b.retx.size() == 1 + 1 + 13);  // 12, 14 to 26
}

TEST_CASE("tx_inflight: a packet that waits as lost and turns out to be trimmed leaves its EV in use",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.csr.rtt_rtx = false;
  b.sent_all(0, 20);
  b.answer = false;                       // the first of them waits for its controller
  b.sack(0, 0, 9, 0, 0b11'1111'1100, 8);  // 0 and 1 are missing: lost
  b.nack(0, 1, 1);
  b.ccev.clear();
  b.fb.clear();
  b.answer = true;
  b.run(100);
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[1].psn == psn_add(Bench::kPsn, 1));
  for (const Fb& f : b.fb) CHECK_FALSE((f.ev_idx == 1 && f.kind == 3));
  unsigned nacks = 0;
  for (const Ccev& e : b.ccev) nacks += e.kind == 1 && e.reason == 1 && e.bytes == 340;
  CHECK(nacks == 1);
  for (const Ccev& e : b.ccev) CHECK(e.kind != 2);
}

TEST_CASE("tx_inflight: bytes that a finished QP still has in flight leave it when its timer's time has passed",
          "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.retries(7, 25);
  b.refuse = 8;
  b.sent_all(0, 10);
  b.sack(0, 10, 9, 10, 0, 0);
  b.run(1300);
  REQUIRE(b.rask.size() > 3);  // the newest packet waits for its chance
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.align();
  const unsigned t0 = b.tick();
  b.give(a);
  CHECK(b.ccev.size() == 1);  // nothing is in flight
  b.refuse = 0;
  b.run(40);
  CHECK(b.retx.size() == 1);  // and now it goes, though nobody needs it
  b.run_to_tick(t0 + 8);
  CHECK(b.ccev.size() == 1);
  b.run_to_tick(t0 + 10);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 3, .kind = 0, .bytes = 340});
  CHECK(b.rto_inc == 1);
  b.run(5000);
  CHECK(b.ccev.size() == 2);
}

TEST_CASE("tx_inflight: a retransmission that was not sent leaves the flight", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.sent_all(2, 10);
  b.nack(2, 3, 1);
  REQUIRE(b.retx.size() == 1);
  REQUIRE(b.ccev.size() == 1);
  b.resent(0, 5, true);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 1, .kind = 1, .bytes = 340});
  b.nack(2, 3, 1);
  CHECK(b.retx.at(1).avoid_ev == 3);  // the voided one is no news of packet 3
  REQUIRE(b.ccev.size() == 3);
  b.set_state(2, QpState::Error);
  b.run(4);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3].bytes == 10 * 340 - 340);  // the second NACK found its packet told already
  b.resent(1, 5, true);                      // the QP has given everything back
  CHECK(b.ccev.size() == 4);
}

TEST_CASE("tx_inflight: a packet of a QP that is not live leaves the flight at once", "[pipeline][tx_inflight][cc]") {
  Bench b(true);
  b.sent_all(2, 3);
  b.nack(2, 1, 1);
  REQUIRE(b.retx.size() == 1);
  b.set_state(2, QpState::Error);
  b.run(4);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 1, .kind = 1, .bytes = 3 * 340});
  b.sent(2, 3);  // asked for before
  b.run(10);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2] == Ccev{.cc = 1, .kind = 1, .bytes = 340});
  b.resent(0, 5);  // given back already
  CHECK(b.ccev.size() == 3);
  b.set_state(2, QpState::Error);
  b.configure(2);
  b.run(4);
  CHECK(b.ccev.size() == 3);
}

TEST_CASE("tx_inflight: a QP that ends gives everything back and tells csr", "[pipeline][tx_inflight][cc][retry]") {
  Bench b(true);
  b.retries(0, 0);
  b.sent_all(0, 10);
  b.run_to_tick(b.tick() + 10);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0] == Ccev{.cc = 3, .kind = 1, .bytes = 3400});
  REQUIRE(b.qperr.size() == 1);
  CHECK(b.qperr[0] == Qperr{.qp = 0, .status = CqStatus::RetryExceeded});
  b.retries(7, 25, 20);
  b.sent_all(1, 5);
  b.nack(1, 60, 0x19);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 2, .kind = 1, .bytes = 1700});  // reason 0: not a NACK of the fabric
  REQUIRE(b.qperr.size() == 2);
  CHECK(b.qperr[1] == Qperr{.qp = 1, .status = CqStatus::RemEvent});
  b.sent_all(2, 6);
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 2;
  a.msn = 10;
  a.reason = 0x62;
  b.give(a);
  REQUIRE(b.ccev.size() == 3);
  CHECK(b.ccev[2] == Ccev{.cc = 1, .kind = 1, .bytes = 2040});
  REQUIRE(b.qperr.size() == 3);
  CHECK(b.qperr[2] == Qperr{.qp = 2, .status = CqStatus::RemAccess});
  b.sent_all(3, 1);
  b.set_state(3, QpState::Rts);  // no end
  b.run(4);
  CHECK(b.ccev.size() == 3);
  b.sack(3, 1, 0, 1, 0, 0);
  CHECK(b.ccev.size() == 4);
}

TEST_CASE("tx_inflight: QP_CTX gives back to the old destination, and waits until it can",
          "[pipeline][tx_inflight][cc][cfg]") {
  Bench b(true);
  b.sent_all(0, 10);
  b.take_ccev = false;
  for (unsigned i = 1; i <= 3; ++i) b.sack(0, i, i - 1, i, 0, 0);  // FIFO of two, and the register
  b.request(0);
  csr::TblQpCtx row = b.ctx;
  row.dest = 1;
  row.pack(b.cfg.data.data());
  b.run(1000);
  CHECK_FALSE(b.inflight.cfg_ack());
  b.sent(0, 10);  // packets of live QPs go on
  b.sent(1, 0);
  b.run(20);
  CHECK_FALSE(b.rec.has());
  Rec voided = Bench::packet(1, 0);
  voided.rtx = voided.voided = true;
  b.give(voided);
  b.run(20);
  CHECK(b.rec.has());
  b.take_ccev = true;
  b.finish_cfg();
  b.run(20);
  CHECK_FALSE(b.rec.has());
  REQUIRE(b.ccev.size() == 5);
  CHECK(b.ccev[3] == Ccev{.cc = 3, .kind = 1, .bytes = 3740});
  CHECK(b.ccev[4] == Ccev{.cc = 2, .kind = 1, .bytes = 340});
  b.sent_all(0, 1);
  b.sack(0, 1, 0, 1, 0, 0);
  REQUIRE(b.ccev.size() == 6);
  CHECK(b.ccev[5] == Ccev{.cc = 1, .kind = 0, .bytes = 340});
}

TEST_CASE("tx_inflight: QP_STATE waits until the QP can give back", "[pipeline][tx_inflight][cc][cfg]") {
  Bench b(true);
  b.sent_all(0, 10);
  b.take_ccev = false;
  for (unsigned i = 1; i <= 3; ++i) b.sack(0, i, i - 1, i, 0, 0);
  b.cfg.table = static_cast<uint8_t>(CfgTable::Ev);  // other tables do not
  b.cfg.req = true;
  b.finish_cfg();
  b.cfg.table = static_cast<uint8_t>(CfgTable::QpState);
  b.cfg.index = 0;
  b.cfg.data[0] = 4;
  b.cfg.req = true;
  b.run(1000);
  CHECK_FALSE(b.inflight.cfg_ack());
  b.take_ccev = true;
  b.finish_cfg();
  b.run(4);
  REQUIRE(b.ccev.size() == 4);
  CHECK(b.ccev[3].bytes == 3400);
}

TEST_CASE("tx_inflight hears nothing while an output that it may need is taken", "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(0, 20);
  b.take_okev = false;
  for (unsigned i = 1; i <= 4; ++i) b.sack(0, i, i - 1, i, 0, 0);
  CHECK(b.upd.size() == 3);
  b.take_okev = true;
  b.run(20);
  CHECK(b.upd.size() == 4);
  b.take_qperr = false;
  for (uint16_t q = 0; q < 4; ++q) b.nack(q, 0, 0x19);
  CHECK(b.fail_inc == 3);
  b.take_qperr = true;
  b.run(20);
  CHECK(b.fail_inc == 4);
}

TEST_CASE("tx_inflight: no expiry while csr has not taken an error", "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(0, 0);
  b.take_qperr = false;
  for (uint16_t q = 0; q < 4; ++q) b.sent_all(q, 1);
  b.run(3000);
  CHECK(b.fail_inc == 3);
  b.take_qperr = true;
  b.run(200);
  CHECK(b.fail_inc == 4);
  CHECK(b.qperr.size() == 4);
}

TEST_CASE("tx_inflight: an EV that has just worked is told, with its destination and plane",
          "[pipeline][tx_inflight][okev]") {
  Bench b;
  b.sent_all(1, 20);
  b.sack(1, 0, 5, 0, 0b10'0000, 1);
  REQUIRE(b.okev.size() == 1);
  CHECK(b.okev[0] == Okev{.dest = 2, .plane = 1, .ev = 0x1234});
  b.sack(1, 0, 6, 0, 0b110'0000, 2);
  REQUIRE(b.okev.size() == 2);
  CHECK(b.okev[1].plane == 0);
  b.sack(1, 0, 7, 0, 0b1110'0000, 2, 1);  // marked
  b.sack(1, 0, 7, 0, 0b1110'0000, 2, 2);
  b.sack(1, 0, 20, 0, 0b1110'0000, 2);    // not sent
  b.sack(1, 0, -120, 0, 0b1110'0000, 2);  // long ago: 140 before the newest
  CHECK(b.okev.size() == 2);
  b.nack(1, 4, 1);
  b.resent(0, 9);
  b.sack(1, 0, 4, 0, 0b1111'0000, 2);  // a retransmission
  CHECK(b.okev.size() == 2);
}

TEST_CASE("tx_inflight tells a new MPR once, from the newest SACKs, and only with dynamic MPR",
          "[pipeline][tx_inflight][mpr]") {
  Bench b;
  b.ctx.dyn_mpr = true;
  b.configure(0);
  b.sent_all(0, 20);
  b.sent_all(1, 20);
  Ctl c = Bench::sack_of(0, 0, 3, 0, 0b1000, 1);
  c.mpr = 5;
  b.give(c);
  REQUIRE(b.upd.size() == 1);  // without progress
  CHECK(b.upd[0] == Upd{.qp = 0, .una = Bench::kPsn, .ack = false, .msn = 0, .syndrome = 0, .mpr = 5});
  b.give(c);
  CHECK(b.upd.size() == 1);
  c = Bench::sack_of(0, 4, 3, 4, 0, 0);
  c.mpr = 5;
  b.give(c);
  REQUIRE(b.upd.size() == 2);  // progress, and the MPR is as before
  CHECK(b.upd[1] == Upd{.qp = 0, .una = psn_add(Bench::kPsn, 4), .ack = false, .msn = 0, .syndrome = 0, .mpr = 0});
  c = Bench::sack_of(0, 6, 5, 6, 0, 0);
  c.mpr = 2;
  b.give(c);
  REQUIRE(b.upd.size() == 3);  // both
  CHECK(b.upd[2] == Upd{.qp = 0, .una = psn_add(Bench::kPsn, 6), .ack = false, .msn = 0, .syndrome = 0, .mpr = 2});
  c = Bench::sack_of(0, 5, 5, 6, 0, 0);  // one before the newest: late
  c.mpr = 5;
  b.give(c);
  CHECK(b.upd.size() == 3);
  c = Bench::sack_of(0, 6, 7, 6, 0b10, 1);
  c.mpr = 0;  // says nothing
  b.give(c);
  CHECK(b.upd.size() == 3);
  c.qp = 1;  // without dynamic MPR
  c.mpr = 7;
  b.give(c);
  REQUIRE(b.upd.size() == 4);
  CHECK(b.upd[3].mpr == 0);
  b.configure(0);
  b.sent_all(0, 20);
  c = Bench::sack_of(0, 0, 3, 0, 0b1000, 1);
  c.mpr = 2;  // told again to a new QP
  b.give(c);
  REQUIRE(b.upd.size() == 5);
  CHECK(b.upd[4].mpr == 2);
}

namespace {

/// 40 packets of QP 0 are out, packet i on EV i modulo 16; only the same-EV rule can find a loss.
struct SameEv : Bench {
  SameEv() : Bench(true) {
    csr.same_ev = true;
    csr.reorder = 100;
    sent_all(0, 40);
  }
};

}  // namespace

TEST_CASE("tx_inflight: the oldest packet is lost when one sent later on its EV has arrived",
          "[pipeline][tx_inflight][same_ev]") {
  SameEv b;
  b.sack(0, 0, 16, 0, 1u << 16, 1);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == Bench::kPsn);
  CHECK(b.retx[0].avoid_ev == 0);
  REQUIRE(b.fb.size() == 1);
  CHECK(b.fb[0] == Fb{.qp = 0, .ev_idx = 0, .entropy = 0, .kind = 3});
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 3, .kind = 2, .bytes = 340});
  b.sack(0, 0, 16, 0, 1u << 16, 1);  // it is on its way again
  CHECK(b.retx.size() == 1);
  // The window moves to 3, and EV 3 speaks for it in the same SACK.
  b.sack(0, 3, 19, 3, 1u << 16 | 1u << 13, 2);
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[1].psn == psn_add(Bench::kPsn, 3));
}

TEST_CASE("tx_inflight: the same-EV rule across rows", "[pipeline][tx_inflight][same_ev]") {
  SameEv b;
  b.sack(0, 20, 36, 20, 1u << 16, 1);  // 20 is in the first row, 36 in the second
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 20));
}

TEST_CASE("tx_inflight: what forbids the same-EV rule", "[pipeline][tx_inflight][same_ev]") {
  SameEv b;
  SECTION("the switch") {
    b.csr.same_ev = false;
    b.sack(0, 0, 16, 0, 1u << 16, 1);
  }
  SECTION("another EV") { b.sack(0, 0, 17, 0, 1u << 17, 1); }
  SECTION("another EV, the same plane") { b.sack(0, 0, 18, 0, 1u << 18, 1); }
  SECTION("the answer to a probe") {
    Ctl c = Bench::sack_of(0, 0, 16, 0, 1u << 16, 1);
    c.pr = true;
    b.give(c);
  }
  SECTION("the oldest packet itself") { b.sack(0, 0, 0, 0, 0, 0); }
  SECTION("a packet sent before") { b.sack(0, 17, 1, 17, 0, 0); }
  SECTION("nothing is out") { b.sack(0, 40, 24, 40, 0, 0); }
  SECTION("a packet not sent yet") { b.sack(0, 0, 48, 0, 0, 0); }
  SECTION("the oldest packet is reported received") { b.sack(0, 0, 16, 0, 1u << 16 | 1u, 1); }
  CHECK(b.retx.empty());
  CHECK(b.fb.empty());
}

TEST_CASE("tx_inflight: a retransmission speaks for no EV", "[pipeline][tx_inflight][same_ev]") {
  SameEv b;
  b.nack(0, 5, 1);
  b.resent(0, 0);  // on EV 0, like packet 0
  b.sack(0, 0, 5, 0, 1u << 5, 1);
  CHECK(b.retx.size() == 1);
}

TEST_CASE("tx_inflight: the same-EV rule leaves a packet that was sent again to the others",
          "[pipeline][tx_inflight][same_ev]") {
  SameEv b;
  b.nack(0, 0, 1);
  REQUIRE(b.retx.size() == 1);
  SECTION("on its way") {}
  SECTION("sent, on the same EV again") { b.resent(0, 0); }
  b.sack(0, 0, 16, 0, 1u << 16, 1);
  CHECK(b.retx.size() == 1);
  CHECK(std::count_if(b.fb.begin(), b.fb.end(), [](const Fb& f) { return f.kind == 3; }) == 0);
}

TEST_CASE("tx_inflight: the same-EV rule does not count a NACK that waits as a loss",
          "[pipeline][tx_inflight][same_ev]") {
  SameEv b;
  b.refuse = 8;
  b.nack(0, 0, 2);
  b.sack(0, 0, 16, 0, 1u << 16, 1);
  b.refuse = 0;
  b.run(60);
  CHECK(b.retx.size() == 1);
  CHECK(b.fb.empty());
}

// Records and blocks.

namespace {

/// What the order of retransmission of a packet must say.
Retx order_of(const Rec& r) {
  return {.qp = r.qp, .psn = r.psn, .msn = r.msn, .row = r.row, .idx = r.idx, .avoid_ev = r.ev_idx, .size = r.size};
}

/// Sends `n` packets, one in each cycle, packet k of QP pattern[k mod size]; false if one of them had to wait.
bool full_rate(Bench& b, const std::vector<unsigned>& pattern, unsigned n, std::vector<Rec>& sent) {
  bool smooth = true;
  std::array<uint32_t, 4> next{};
  for (unsigned k = 0; k < n; ++k) {
    const auto q = static_cast<uint16_t>(pattern[k % pattern.size()]);
    Rec r = Bench::packet(q, next[q]);
    r.psn = psn_add(b.ctx.sq_psn, next[q]++);
    r.ev_idx = static_cast<uint16_t>(k);
    sent.push_back(r);
    smooth = smooth && b.rec.free() && b.rec.count() <= 1;
    b.give(r);
  }
  b.run(2);
  return smooth && !b.rec.has();
}

}  // namespace

TEST_CASE("tx_inflight records a packet per cycle, whatever QPs and blocks follow each other",
          "[pipeline][tx_inflight][rate]") {
  // All sequences of four QPs: same and other QP at distances 1, 2 and 3; each at all places of the blocks' borders.
  for (unsigned seq = 0; seq < 256; ++seq) {
    const std::vector<unsigned> pattern{seq & 3, seq >> 2 & 3, seq >> 4 & 3, seq >> 6};
    for (unsigned at = 0; at < 16; ++at) {
      Bench b;
      b.ctx.sq_psn = 0xffffc0 + at;
      for (uint16_t q = 0; q < 4; ++q) b.configure(q);
      std::vector<Rec> sent;
      CAPTURE(seq, at);
      REQUIRE(full_rate(b, pattern, 40, sent));
      if (seq != 0 && seq != 0b01000100 && seq != 0b01010000 && seq != 0b11100100 && seq != 0b00100100) continue;
      // And each one is remembered as it was.
      b.csr.reorder = 1000;
      for (const Rec& r : sent) {
        b.ctl.load(Ctl{.kind = CtlKind::Nack, .qp = r.qp, .psn = r.psn, .reason = 2});
        b.run(12);
      }
      b.run(20);
      REQUIRE(b.retx.size() == sent.size());
      for (const Rec& r : sent) CHECK(std::count(b.retx.begin(), b.retx.end(), order_of(r)) == 1);
    }
  }
}

TEST_CASE("tx_inflight: one QP sends a packet per cycle for long, its SACKs beside it",
          "[pipeline][tx_inflight][rate]") {
  Bench b;
  unsigned sent = 0, sacked = 0, waited = 0;
  const unsigned from = b.cycles;
  while (sent < 4000) {
    if (b.rec.free()) {
      b.rec.load(Bench::packet(0, sent++));
    } else {
      ++waited;
    }
    if (sent >= sacked + 64 && b.ctl.free()) {  // one SACK per 16 packets
      sacked += 16;
      b.ctl.load(Bench::sack_of(0, sacked, sacked - 1, sacked, 0, 0));
    }
    b.cycle();
  }
  b.run(20);
  CHECK_FALSE(b.rec.has());
  CHECK(b.cycles - from < 4000 + 100);
  CHECK(waited < 100);
  CHECK(b.upd.size() == sacked / 16);
  CHECK(b.retx.empty());
}

namespace {

/// Fewest and most cycles until packet `psn` of QP 1 is recorded, when it comes at each of the cycles after prepare(b).
template <class Prepare>
std::pair<unsigned, unsigned> waits(unsigned psn, unsigned cycles, Prepare&& prepare) {
  unsigned least = 1000, most = 0;
  for (unsigned at = 0; at < cycles; ++at) {
    Bench b;
    b.retries(7, 25);
    b.align();
    for (unsigned i = 0; i < psn; ++i) b.sent(1, i);
    prepare(b);
    b.run(at);
    b.rec.load(Bench::packet(1, psn));
    unsigned n = 0;
    do {
      b.cycle();
      ++n;
    } while (b.rec.valid() || b.rec.has());
    least = std::min(least, n);
    most = std::max(most, n);
  }
  return {least, most};
}

}  // namespace

TEST_CASE("tx_inflight: only a packet that begins a block waits while rows may be written",
          "[pipeline][tx_inflight][rate]") {
  using Range = std::pair<unsigned, unsigned>;
  // Two cycles into the FIFO, and taken. A SACK of five blocks: Ctl1 and five rows.
  const auto sack = [](Bench& b) {
    b.sent_all(0, 80);
    b.ctl.load(Bench::sack_of(0, 1, 70, 2, ~uint64_t{0}, 64));
  };
  CHECK(waits(16, 16, sack) == Range{3, 3 + 6});
  CHECK(waits(17, 16, sack) == Range{3, 3});
  // Seven blocks given back: two cycles in the FIFO, then Ctl1 of the NACK, later Reclaim.
  const auto reclaim = [](Bench& b) {
    b.sent_all(0, 112);
    b.ctl.load(Ctl{.kind = CtlKind::Nack, .qp = 0, .reason = 0x19});
  };
  CHECK(waits(16, 20, reclaim) == Range{3, 3 + 7});
  CHECK(waits(17, 20, reclaim) == Range{3, 3});
  // The timer works through seven blocks.
  const auto walk = [](Bench& b) {
    const unsigned t0 = b.tick();
    b.sent_all(0, 112);
    b.take_retx = false;
    b.retx_out.load({});  // no retransmission
    b.cycle();
    b.run_to_tick(t0 + 10);
    while (b.rto_inc == 0) b.cycle();
    b.run_to_tick(b.tick() + 2);
  };
  CHECK(waits(16, 40, walk) == Range{3, 3 + 7});
  CHECK(waits(17, 40, walk) == Range{3, 3});
}

TEST_CASE("tx_inflight: cycles of a SACK by its blocks, of an ACK and of a NACK", "[pipeline][tx_inflight][rate]") {
  // Two cycles into the FIFO, then from its head to the output; a timer visit may go first, so the quickest of eight.
  const auto quickest = [](const Ctl& c, auto&& done) {
    unsigned best = 1000;
    for (unsigned phase = 0; phase < 8; ++phase) {
      Bench b;
      b.sent_all(0, 100);
      b.run(phase);
      b.ctl.load(c);
      unsigned n = 0;
      while (!done(b)) {
        b.cycle();
        ++n;
      }
      best = std::min(best, n);
    }
    return best;
  };
  const auto upd = [](const Bench& b) { return b.upd_out.valid(); };
  Ctl ack;
  ack.kind = CtlKind::Ack;
  ack.psn = psn_add(Bench::kPsn, 9);
  ack.msn = 11;
  ack.reason = 0x1f;
  CHECK(quickest(ack, upd) == 2 + 2);
  CHECK(quickest(Bench::sack_of(0, 100, 99, 100, 0, 0), upd) == 2 + 4);
  CHECK(quickest(Bench::sack_of(0, 36, 35, 0, 0, 0), upd) == 2 + 4 + 2);  // blocks of 36 and up to 63
  CHECK(quickest(Bench::sack_of(0, 16, 15, 16, 0, 0), upd) == 2 + 4 + 4);
  CHECK(quickest(Bench::sack_of(0, 17, 16, 17, 0, 0), upd) == 2 + 4 + 5);
  const Ctl nack{.kind = CtlKind::Nack, .qp = 0, .psn = psn_add(Bench::kPsn, 5), .reason = 1};
  CHECK(quickest(nack, [](const Bench& b) { return b.fb_out.valid(); }) == 2 + 3);
  CHECK(quickest(nack, [](const Bench& b) { return b.retx_out.valid(); }) == 2 + 3 + 4);
}

TEST_CASE("tx_inflight: a search for pending packets looks at four blocks in a turn", "[pipeline][tx_inflight][rate]") {
  // 0 and 127 wait; after 0 has gone the search goes over eight blocks. A SACK of another QP comes in between.
  unsigned longest = 0;
  for (unsigned at = 0; at < 24; ++at) {
    Bench b;
    b.sent_all(0, 128);
    b.sent_all(1, 10);
    b.take_retx = false;
    for (unsigned i = 0; i < 3; ++i) b.nack(1, i, 2);  // the output is taken
    b.nack(0, 127, 2);
    b.nack(0, 0, 2);
    b.align();
    b.take_retx = true;
    b.run(at);
    b.ctl.load(Bench::sack_of(1, 5, 4, 5, 0, 0));
    unsigned n = 0;
    while (!b.upd_out.valid()) {
      b.cycle();
      ++n;
    }
    longest = std::max(longest, n);
    b.run(60);
    CHECK(std::count(b.retx.begin(), b.retx.end(), order_of(Bench::packet(0, 127))) == 1);
  }
  // 2 into the FIFO, 4 and a block of its own; a turn of Idle, Retx0 and four blocks before it, and a visit.
  CHECK(longest <= 2 + 4 + 1 + 6 + 1);
}

TEST_CASE("tx_inflight: a packet that would need the oldest block's place in the map waits for its end",
          "[pipeline][tx_inflight][blocks]") {
  Bench b;  // a window of 8 blocks
  b.sent_all(0, 128);
  CHECK_FALSE(b.rec.has());
  b.sent(0, 128);
  b.run(20);
  CHECK(b.rec.has());
  b.sack(0, 15, 14, 15, 0, 0);  // still in the first block
  CHECK(b.rec.has());
  CHECK(b.freed == 0);
  b.sack(0, 16, 15, 16, 0, 0);
  CHECK_FALSE(b.rec.has());
  CHECK(b.freed == 1);
  b.nack(0, 128, 2);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0] == order_of(Bench::packet(0, 128)));
  b.nack(0, 16, 2);
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[1] == order_of(Bench::packet(0, 16)));
}

TEST_CASE("tx_inflight gives blocks back as the window moves on, and all of them when a QP ends",
          "[pipeline][tx_inflight][blocks]") {
  Bench b;
  b.sent_all(0, 75);  // five blocks
  b.sack(0, 20, 19, 20, 0, 0);
  CHECK(b.freed == 1);
  b.sack(0, 31, 30, 31, 0, 0);
  CHECK(b.freed == 1);
  Ctl a;
  a.kind = CtlKind::Ack;
  a.psn = psn_add(Bench::kPsn, 49);
  a.msn = 15;
  a.reason = 0x1f;
  b.give(a);
  CHECK(b.freed == 3);
  SECTION("by QP_STATE") { b.set_state(0, QpState::Error); }
  SECTION("by a failure") { b.nack(0, 60, 0x19); }
  SECTION("by a NAK") {
    a.reason = 0x61;
    b.give(a);
  }
  SECTION("by QP_CTX, which waits for them") {
    b.request(0);
    while (!b.inflight.cfg_ack()) b.cycle();
    CHECK(b.freed == 5);
    b.finish_cfg();
  }
  b.run(20);
  CHECK(b.freed == 5);
  b.configure(0);
  CHECK(b.freed == 5);
  b.sent_all(0, 1);
  b.nack(0, 0, 2);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0] == order_of(Bench::packet(0, 0)));
}

TEST_CASE("tx_inflight: a QP that lives again in the middle of a block begins one", "[pipeline][tx_inflight][blocks]") {
  Bench b;
  b.ctx.sq_psn = 0x1007;
  b.configure(0);
  Rec r = Bench::packet(0, 0);
  for (unsigned i = 0; i < 12; ++i) {
    r.psn = 0x1007 + i;
    r.ev_idx = static_cast<uint16_t>(i);
    b.give(r);
  }
  b.run(8);
  b.give(Ctl{.kind = CtlKind::Nack, .qp = 0, .psn = 0x1007, .reason = 2});
  b.give(Ctl{.kind = CtlKind::Nack, .qp = 0, .psn = 0x1012, .reason = 2});
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[0].avoid_ev == 0);
  CHECK(b.retx[1].avoid_ev == 11);
  b.set_state(0, QpState::Reset);
  b.run(20);
  CHECK(b.freed == 2);
}

TEST_CASE("tx_inflight: packets of QPs that are not live give back the blocks they were counted for",
          "[pipeline][tx_inflight][blocks]") {
  Bench b;
  b.sent_all(0, 14);
  b.set_state(0, QpState::Error);
  b.run(20);
  CHECK(b.freed == 1);
  for (unsigned i = 14; i < 18; ++i) b.sent(0, i);  // one begins a block
  b.run(20);
  CHECK(b.freed == 2);
  Rec again = Bench::packet(0, 0);  // a retransmission was counted for none
  again.rtx = true;
  b.give(again);
  b.run(20);
  CHECK(b.freed == 2);
  // The first packet of a QP begins one wherever it lies; it may end before that comes.
  b.ctx.sq_psn = psn_add(Bench::kPsn, 5);
  b.configure(1);
  b.set_state(1, QpState::Error);
  b.sent(1, 5);
  b.sent(1, 6);
  b.run(20);
  CHECK(b.freed == 3);
}

TEST_CASE("tx_inflight: a QP keeps the block of its newest packet, for the sake of its ACK",
          "[pipeline][tx_inflight][blocks]") {
  Bench b;
  b.retries(7, 25);
  const unsigned n = GENERATE(16u, 32u, 21u);  // at a block's end, or not
  const unsigned before = (n - 1) / 16;        // blocks that are done
  b.sent_all(0, n);
  b.sack(0, n, n - 1, n, 0, 0);
  CHECK(b.freed == before);
  b.ctx.timeout = 20;
  for (uint16_t q = 1; q < 4; ++q) {
    b.configure(q);
    b.sent_all(q, 90);  // six blocks each: all but two of the twenty, QP 0 has one
  }
  b.run(1300);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0] == order_of(Bench::packet(0, n - 1)));
  // The block goes on as the next one: one is counted, one comes back.
  b.sent(0, n);
  b.run(8);
  CHECK(b.freed == before + (n % 16 == 0));
  b.nack(0, n, 2);
  REQUIRE(b.retx.size() >= 2);
  CHECK(b.retx.back() == order_of(Bench::packet(0, n)));
  b.nack(0, n - 1, 2);  // acknowledged
  CHECK(b.retx.back().psn == psn_add(Bench::kPsn, n));
  b.set_state(0, QpState::Reset);
  b.run(20);
  CHECK(b.freed == n / 16 + 1);
}

TEST_CASE("tx_inflight: a retransmission recorded after its block was given back changes no record",
          "[pipeline][tx_inflight][blocks]") {
  Bench b;
  b.sent_all(0, 20);
  b.nack(0, 3, 2);
  REQUIRE(b.retx.size() == 1);
  b.sack(0, 20, 19, 20, 0, 0);
  CHECK(b.freed == 1);
  b.sent_all(1, 16);  // in the block that has come back
  b.resent(0, 9);
  b.nack(1, 3, 2);
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[1] == order_of(Bench::packet(1, 3)));
}

TEST_CASE("tx_inflight: feedback about blocks given back changes no EV", "[pipeline][tx_inflight][blocks]") {
  Bench b(true);
  b.ctx.ts = true;
  b.configure(0);
  b.sent_all(0, 40);
  b.sack(0, 20, 19, 20, 0, 0);
  b.ccev.clear();
  b.okev.clear();
  b.sack(0, 20, 17, 20, 0, 0, 1);  // in the block of the oldest packet out
  CHECK(b.fb.size() == 1);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0].rtt_valid);
  b.sack(0, 20, 15, 20, 0, 0, 1);  // in the one before
  b.sack(0, 20, 3, 20, 0, 0);
  b.nack(0, 3, 1);
  CHECK(b.fb.size() == 1);
  CHECK(b.okev.empty());
  REQUIRE(b.ccev.size() == 3);
  CHECK_FALSE(b.ccev[1].rtt_valid);
  b.configure(1);  // nothing sent yet
  b.sack(1, 0, -1, 0, 0, 0, 1);
  CHECK(b.fb.size() == 1);
}

TEST_CASE("tx_inflight: a packet recorded in the very cycle in which its QP ends leaves the flight",
          "[pipeline][tx_inflight][cc][blocks]") {
  const unsigned how = GENERATE(0u, 1u, 2u, 3u);
  for (unsigned at = 0; at < 12; ++at) {
    CAPTURE(how, at);
    Bench b(true);
    unsigned n = 0;
    const auto stream = [&](unsigned cycles) {
      for (unsigned i = 0; i < cycles; ++i) {
        if (b.rec.free()) b.rec.load(Bench::packet(1, n++));
        b.cycle();
      }
    };
    stream(1);
    b.run(10);
    b.take_ccev = at % 2 == 0;  // two events fill the FIFO, what is given back the register
    b.sack(1, 0, 0, 0, 0, 0);
    b.sack(1, 0, 0, 0, 0, 0);
    stream(20 + at);
    if (how == 0) b.ctl.load(Ctl{.kind = CtlKind::Nack, .qp = 1, .psn = Bench::kPsn, .reason = 0x19});
    if (how == 1) b.ctl.load(Ctl{.kind = CtlKind::Ack, .qp = 1, .reason = 0x61, .msn = 10});
    if (how >= 2) {
      b.ctx.state = 0;  // what comes after it finds no new life
      b.request(1);
      if (how == 2) {
        b.cfg.table = static_cast<uint8_t>(CfgTable::QpState);
        b.cfg.data[0] = 0;
      }
    }
    stream(how == 3 ? 1 : 30);
    b.run(50);
    b.take_ccev = true;
    b.run(100);
    b.cfg.req = false;
    b.run(100);
    uint64_t bytes = 0;
    for (const Ccev& e : b.ccev) bytes += e.bytes;
    CHECK(bytes == uint64_t{n} * Bench::kSize);
    if (how != 3) CHECK(b.freed == (n + 15) / 16);  // the first packet after QP_CTX would begin a block
  }
}

// The timer.

TEST_CASE("tx_inflight finds a loss an interval to an interval and a quarter after it was sent",
          "[pipeline][tx_inflight][timer]") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Bench b;
    b.retries(7, 25, 1);  // 16 ticks
    std::mt19937 rng(seed);
    b.run(static_cast<unsigned>(rng() % 600));
    std::vector<unsigned> sent_at, found_at;
    std::size_t seen = 0;
    while (b.tick() < 90) {
      if (sent_at.size() < 60 && rng() % 128 == 0) {
        sent_at.push_back(b.tick());
        b.sent(3, static_cast<unsigned>(sent_at.size() - 1));
      } else {
        b.cycle();
      }
      for (; seen < b.retx.size(); ++seen) {
        const unsigned i = psn_dist(b.retx[seen].psn, Bench::kPsn);
        REQUIRE(i <= found_at.size());  // the first time they are found in order
        if (i == found_at.size()) found_at.push_back(b.tick());
      }
    }
    REQUIRE(found_at.size() > 40);
    for (std::size_t i = 0; i < found_at.size(); ++i) {
      CAPTURE(seed, i, sent_at[i]);
      CHECK(found_at[i] - sent_at[i] >= 16);
      CHECK(found_at[i] - sent_at[i] <= 20 + 1);  // a tick for the visit and for the others found with it
    }
  }
}

TEST_CASE("tx_inflight spares a packet sent again for an interval, to the nearest step",
          "[pipeline][tx_inflight][timer]") {
  // Steps of 4 ticks; without a NACK the packet goes again after 16 ticks, and after 32.
  for (unsigned at = 1; at < 31; ++at) {
    CAPTURE(at);
    Bench b;
    b.retries(7, 25, 1);
    b.align();
    const unsigned t0 = b.tick();
    b.sent_all(1, 1);
    b.run_to_tick(t0 + at);
    b.run(40);  // the step of this tick is over
    const std::size_t before = b.retx.size();
    CHECK(before == (at >= 16));
    b.nack(1, 0, 2);
    REQUIRE(b.retx.size() == before + 1);
    const unsigned step = at / 4 * 4, again = step + 16 + (at % 4 >= 2 ? 4 : 0);
    b.run_to_tick(t0 + again);
    CHECK(b.retx.size() == before + 1);
    b.run(40);
    CHECK(b.retx.size() == before + 2);
    CHECK(again - at >= 14);
    CHECK(again - at <= 18);
  }
}

TEST_CASE("tx_inflight: what the timer sends again has its next chance an interval later",
          "[pipeline][tx_inflight][timer]") {
  Bench b;
  b.retries(7, 25, 1);
  b.align();
  const unsigned t0 = b.tick();
  b.sent_all(1, 40);
  b.run_to_tick(t0 + 30);
  CHECK(b.retx.size() == 40);  // some at 16, some at 20
  b.sack(1, 40, 39, 40, 0, 0);
  b.run_to_tick(t0 + 60);
  CHECK(b.retx.size() == 41);  // the newest, for its ACK
}

TEST_CASE("tx_inflight: only the oldest packet's timeouts are retries", "[pipeline][tx_inflight][timer][retry]") {
  Bench b;
  b.retries(1, 0);
  b.align();
  const unsigned t0 = b.tick();
  b.sent_all(0, 1);
  for (unsigned i = 1; i < 4; ++i) {  // one in each step
    b.run_to_tick(t0 + 2 * i - 1);
    b.sent(0, i);
  }
  b.run_to_tick(t0 + 40);
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 8, t0 + 10, t0 + 12, t0 + 14});
  CHECK(b.retx.size() == 4);
  CHECK(b.fail_at == std::vector<unsigned>{t0 + 16});
}

TEST_CASE("tx_inflight: an ACK that moves una to a packet reported before: what is lost beyond runs out of retries",
          "[pipeline][tx_inflight][timer][retry]") {
  // Packets 10 to 19 are the second message. `reported` of them before the ACK of the first one, the rest never again.
  struct Case {
    uint64_t reported;  // bit i: packet 10 + i
    unsigned missing;
  };
  const Case cases[] = {
      {0b1, 9},
      {0b11'1111, 4},     // the rest of that block: the oldest one not reported is in the next
      {0b10'1011, 6},     // 10, 11, 13 and 15
      {0b1'0011'1111, 3}  // and one in the next block
  };
  for (const Case& c : cases) {
    for (const bool cc : {false, true}) {
      CAPTURE(c.reported, cc);
      Bench b(cc);
      b.csr.reorder = 1000;
      b.retries(1, 0);  // one retry, 8 ticks
      b.sent_all(0, 20);
      b.sack(0, 0, 10, 10, c.reported, 1);
      b.align();
      const unsigned t0 = b.tick();
      Ctl a;
      a.kind = CtlKind::Ack;
      a.qp = 0;
      a.psn = psn_add(Bench::kPsn, 9);
      a.msn = 11;
      a.reason = 0x1f;
      b.give(a);
      CHECK(b.retx.empty());
      b.run_to_tick(t0 + 60);
      CHECK(b.rto_at == std::vector<unsigned>{t0 + 8});
      CHECK(b.retx.size() == c.missing);
      CHECK(b.fail_at == std::vector<unsigned>{t0 + 16});
      CHECK(b.upd.back() == Upd{.qp = 0, .una = psn_add(Bench::kPsn, 10), .ack = true, .msn = 11, .syndrome = 0x84});
    }
  }
}

TEST_CASE(
    "tx_inflight: an ACK that moves una to a packet reported before: NACKs of the oldest one not reported are retries",
    "[pipeline][tx_inflight][timer][retry]") {
  Bench b;
  b.csr.reorder = 1000;
  b.retries(2, 0);  // an interval is 8 ticks
  b.sent_all(0, 20);
  b.sack(0, 0, 10, 10, 0b1'0011'1111, 1);  // 10 to 15 and 18: 16 is the oldest one when 0 to 9 are acknowledged
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.align();
  const unsigned t0 = b.tick();
  b.give(a);
  // The timer's first walk is an interval after progress: nobody knows yet that 16 is the oldest one.
  b.run_to_tick(t0 + 5);
  for (unsigned i = 0; i < 3; ++i) b.nack(0, 16, 0x0A);
  CHECK(b.retx.size() == 3);
  b.run_to_tick(t0 + 9);
  CHECK(b.rto_inc == 1);  // 17 and 19; 16 has gone again and is spared: no retry
  CHECK(b.fail_inc == 0);
  b.nack(0, 10, 0x0A);  // arrived: nobody's retry
  b.nack(0, 17, 0x0A);  // nor is this one: 16 is before it
  b.nack(0, 18, 0x0A);
  b.nack(0, 16, 0x0A);
  b.nack(0, 16, 0x0A);
  CHECK(b.fail_inc == 0);
  b.nack(0, 16, 0x0A);
  CHECK(b.fail_inc == 1);
  CHECK(b.upd.back() == Upd{.qp = 0, .una = psn_add(Bench::kPsn, 10), .ack = true, .msn = 11, .syndrome = 0x84});
}

TEST_CASE("tx_inflight: while the oldest packet not reported waits for its turn, what is lost beyond is no retry",
          "[pipeline][tx_inflight][timer][retry]") {
  Bench b(true);
  b.csr.reorder = 1000;
  b.retries(0, 0);  // the first one ends the QP
  b.sent_all(0, 20);
  b.sack(0, 0, 10, 10, 0b11'1101, 1);  // all of that block but 11
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 0;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.align();
  const unsigned t0 = b.tick();
  b.give(a);
  b.refuse = 1u << 3;
  b.nack(0, 11, 2);  // trimmed: no retry
  b.run_to_tick(t0 + 20);
  CHECK(b.retx.empty());
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 8});  // 16 to 19
  CHECK(b.fail_inc == 0);
  // All five go again, a tick before a step: they are spared for an interval. Then it is the oldest one's.
  b.refuse = 0;
  b.run_to_tick(t0 + 40);
  CHECK(b.retx.size() == 5);
  CHECK(b.fail_inc == 1);
  CHECK(b.rto_inc == 1);
}

TEST_CASE("tx_inflight: the timer over the wrap of the ticks", "[pipeline][tx_inflight][timer]") {
  Bench b;
  b.retries(7, 25);
  b.tick0 = 0xffff'fffbu - b.tick();
  b.align();
  const unsigned t0 = b.tick();
  b.sent_all(0, 1);
  b.run_to_tick(t0 + 8);
  CHECK(b.retx.empty());
  b.run(40);
  CHECK(b.retx.size() == 1);
}

TEST_CASE("tx_inflight: marks are a QP's last interval: progress gives all that is out a new one",
          "[pipeline][tx_inflight][timer]") {
  Bench b;
  b.retries(7, 25, 1);
  b.align();
  const unsigned t0 = b.tick();
  b.sent_all(0, 10);
  b.run_to_tick(t0 + 11);
  b.sack(0, 5, 4, 5, 0, 0);
  b.run_to_tick(t0 + 27);
  CHECK(b.retx.empty());
  b.run(80);
  CHECK(b.retx.size() == 5);
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 27});
}

TEST_CASE("tx_inflight: a QP's first packets have the same timer, whatever the life before it was",
          "[pipeline][tx_inflight][timer]") {
  for (unsigned phase = 0; phase < 16; ++phase) {
    CAPTURE(phase);
    Bench b;
    b.retries(7, 25);
    b.sent_all(0, 5);
    b.run_to_tick(b.tick() + 11);  // the timer of that life runs
    b.align();
    b.run(phase);
    b.configure(0);
    const unsigned t0 = b.tick();
    b.retx.clear();
    b.sent(0, 0);
    b.ctl.load(Ctl{.kind = CtlKind::Nack, .qp = 0, .psn = Bench::kPsn, .reason = 2});
    b.run(30);
    CHECK(b.retx.size() == 1);
    b.run_to_tick(t0 + 8);
    CHECK(b.retx.size() == 1);
    b.run(40);
    CHECK(b.retx.size() == 2);
  }
}

TEST_CASE("tx_inflight: when all that was sent an interval ago is lost, what the account still has has left the flight",
          "[pipeline][tx_inflight][timer][cc]") {
  Bench b(true);
  b.retries(7, 25);
  b.sent_all(0, 10);
  b.align();
  const unsigned t0 = b.tick();
  b.sack(0, 9, 8, 9, 0, 0);  // brings no rcvd_bytes
  b.ccev.clear();
  const Ccev loss{.cc = 3, .kind = 2, .bytes = 340};
  Ccev all = loss;
  all.bytes = 3400;
  SECTION("nothing newer is out") {
    b.run_to_tick(t0 + 9);
    CHECK(b.ccev == std::vector<Ccev>{all});  // the packet's own loss is one of these
    CHECK(b.fb.size() == 1);                  // its EV hears of it all the same
    b.run_to_tick(t0 + 16);
    CHECK(b.ccev.size() == 1);  // sent again: it is in flight, and spared
    b.run_to_tick(t0 + 17);
    CHECK(b.ccev == std::vector<Ccev>{all, loss});
  }
  SECTION("a newer packet is out") {
    b.run_to_tick(t0 + 5);
    b.sent(0, 10);
    b.run_to_tick(t0 + 9);
    CHECK(b.ccev == std::vector<Ccev>{loss});
  }
}

TEST_CASE("tx_inflight: when a whole window is lost, its controller is told of each byte once",
          "[pipeline][tx_inflight][timer][cc]") {
  Bench b(true);
  b.retries(7, 25);
  b.align();
  const unsigned t0 = b.tick();
  b.sent_all(0, 41);  // three blocks of PSNs
  b.sack(0, 1, 0, 1, 0, 0);
  b.ccev.clear();
  b.run_to_tick(t0 + 10);
  b.run(600);
  REQUIRE(b.retx.size() == 40);
  CHECK(b.granted.size() == 40);
  REQUIRE(b.ccev.size() == 1);
  CHECK(b.ccev[0] == Ccev{.cc = 3, .kind = 2, .bytes = 41 * 340});  // the SACK told of no bytes
  CHECK(b.fb.size() == 40);
}

// Random traffic.

namespace {

/// The blocks around tx_inflight as far as it can tell: a sender that keeps window and count of blocks as tx_segment
/// does, a peer that acknowledges and refuses, controllers that refuse, software that ends and renews QPs.
struct Traffic : Bench {
  struct Side {
    bool live = false, dead = false, cc = false;     // dead: not live, as far as this side knows
    uint32_t psn = 0, una = 0, told = 0, known = 0;  // next; acknowledged; as told by upd; recorded for sure
    bool fresh = true;
    uint16_t msn = 0;
    unsigned idx = 0;
    std::map<uint32_t, Rec> sent;     // by PSN
    std::map<uint32_t, bool> waits;   // NACKed PSNs that must be ordered
    std::map<uint32_t, bool> on_way;  // ordered, not yet recorded again
  };
  std::array<Side, 4> side;
  std::mt19937 rng;
  int credit = 20;
  int64_t flight[4] = {};  // by QP: the controller's view
  unsigned life = 0, sent_packets = 0, nacks = 0, orders = 0, ends = 0, lives = 0;
  bool exact;  // only NACKs order retransmissions
  std::size_t retx_seen = 0, upd_seen = 0, ccev_seen = 0, granted_seen = 0;
  std::deque<Rec> again;   // packets to be sent again
  std::deque<Rec> loaded;  // may still be on their way into the block
  unsigned freed_seen = 0;

  Traffic(unsigned seed, bool only_nacks) : Bench(false), rng(seed), exact(only_nacks) {
    csr.reorder = exact ? 1000 : 8;
    csr.same_ev = !exact;
    ctx.timeout = exact ? 24 : 0;
    for (uint16_t q = 0; q < 4; ++q) renew(q);
  }
  uint32_t draw(uint32_t n) { return static_cast<uint32_t>(rng() % n); }
  bool chance(uint32_t n) { return draw(n) == 0; }

  void prepare(uint16_t q) {
    Side& s = side[q];
    s = Side{};
    s.cc = ctx.cc = q != 0;
    s.psn = s.una = s.told = s.known = ctx.sq_psn = rng() & kPsnMask;
    s.msn = ctx.msn = static_cast<uint16_t>(rng());
    ++lives;
  }
  /// QP_CTX with everything else quiet.
  void renew(uint16_t q) {
    prepare(q);
    configure(q);
    side[q].live = true;
  }

  bool may_send(const Side& s) const {
    const bool begins = s.psn % 16 == 0 || s.fresh;
    return s.live && psn_dist(s.psn, s.told) < 128 && block_dist(psn_block(s.psn), psn_block(s.told)) < 8 &&
           (!begins || credit > 4 || (credit != 0 && psn_dist(s.psn, s.told) < 16));
  }
  void send(uint16_t q) {
    Side& s = side[q];
    Rec r{.qp = q,
          .psn = s.psn,
          .msn = s.msn,
          .row = static_cast<uint16_t>(draw(24)),
          .idx = s.idx++,
          .ev_idx = static_cast<uint16_t>(draw(16)),
          .rtx = false,
          .last = chance(5),
          .size = static_cast<uint16_t>(100 + draw(4000)),
          .voided = false};
    if (s.psn % 16 == 0 || s.fresh) --credit;
    REQUIRE(credit >= 0);
    s.fresh = false;
    load(r);
    s.sent[s.psn] = r;
    s.psn = psn_add(s.psn, 1);
    if (r.last) {
      ++s.msn;
      s.idx = 0;
    }
    if (s.cc) flight[q] += r.size;
    ++sent_packets;
  }
  void send_again() {
    Rec r = again.front();
    again.pop_front();
    Side& s = side[r.qp];
    r.rtx = true;
    r.voided = chance(8);
    if (!r.voided) {
      r.ev_idx = static_cast<uint16_t>(draw(16));
      s.sent[r.psn].ev_idx = r.ev_idx;
    }
    load(r);
  }
  void load(const Rec& r) {
    rec.load(r);
    loaded.push_back(r);
    if (loaded.size() > 3) taken();  // the stream holds no more
  }
  /// The oldest packet loaded has been taken by the block.
  void taken() {
    const Rec r = loaded.front();
    loaded.pop_front();
    Side& s = side[r.qp];
    if (!s.live) return;
    if (r.rtx) {
      s.on_way.erase(r.psn);
    } else {
      s.known = psn_add(r.psn, 1);
    }
  }
  /// Something for QP q, of what is surely recorded.
  void news(uint16_t q) {
    Side& s = side[q];
    const uint32_t out = psn_dist(s.known, s.una);
    if (!s.live || out == 0) return;
    const uint32_t psn = psn_add(s.una, draw(out));
    if (chance(4)) {
      Ctl c;
      c.kind = CtlKind::Sack;
      c.qp = q;
      c.psn = psn;
      const uint32_t up = draw(std::min(out + 1, 24u));
      s.una = psn_add(s.una, up);
      for (auto it = s.waits.begin(); it != s.waits.end();) {
        it = psn_before(it->first, s.una) ? s.waits.erase(it) : std::next(it);
      }
      c.cack = psn_add(s.una, -1);
      c.base = psn_add(s.una, draw(3));
      if (!exact) {
        c.bitmap = rng() | uint64_t{rng()} << 32;
        c.ooo = static_cast<uint16_t>(draw(20));
      }
      c.rcvd = rng() & 0xffffff;
      ctl.load(c);
      return;
    }
    if (s.waits.count(psn) || s.on_way.count(psn)) return;
    s.waits[psn] = true;
    ++nacks;
    ctl.load(Ctl{.kind = CtlKind::Nack, .qp = q, .psn = psn, .reason = 2});
  }
  void look() {
    for (; retx_seen < retx.size(); ++retx_seen) {
      const Retx& o = retx[retx_seen];
      Side& s = side[o.qp];
      if (!s.live) continue;  // ordered before it ended
      ++orders;
      REQUIRE(s.sent.count(o.psn));
      REQUIRE(o == order_of(s.sent[o.psn]));
      if (exact && !psn_before(o.psn, s.una)) REQUIRE(s.waits.erase(o.psn) == 1);
      s.on_way[o.psn] = true;
      again.push_back(s.sent[o.psn]);
    }
    for (; upd_seen < upd.size(); ++upd_seen) {
      const Upd& u = upd[upd_seen];
      Side& s = side[u.qp];
      if (s.live && psn_dist(u.una, s.told) <= psn_dist(s.psn, s.told)) s.told = u.una;
    }
    for (; granted_seen < granted.size(); ++granted_seen)
      flight[3 - granted[granted_seen].cc] += granted[granted_seen].bytes;
    for (; ccev_seen < ccev.size(); ++ccev_seen) {
      const unsigned q = 3u - ccev[ccev_seen].cc;
      flight[q] -= ccev[ccev_seen].bytes;
      REQUIRE(flight[q] >= 0);
    }
    if (freed == freed_seen) return;
    credit += static_cast<int>(freed - freed_seen);
    freed_seen = freed;
    REQUIRE(credit <= 20);
  }
  void one_cycle() {
    refuse = chance(3) ? rng() & 15 : refuse;
    take_retx = !chance(4);
    take_ccev = !chance(6);
    take_upd = !chance(6);
    if (rec.free()) {
      const auto q = static_cast<uint16_t>(draw(4));
      if (!again.empty() && chance(3)) {
        send_again();
      } else if (may_send(side[q])) {
        send(q);
      }
    }
    if (ctl.free() && chance(5)) news(static_cast<uint16_t>(draw(4)));
    cycle();
    look();
  }
  /// Ends QP q while the others go on, and begins it anew when nothing of it is on its way.
  void end(uint16_t q) {
    side[q].live = false;
    ++ends;
    if (chance(2)) {
      cfg.table = static_cast<uint8_t>(CfgTable::QpState);
      cfg.index = q;
      cfg.data[0] = static_cast<uint32_t>(QpState::Error);
      cfg.req = true;
      while (!inflight.cfg_ack()) one_cycle();
      cfg.req = false;
    }
    for (unsigned i = 0; i < 60; ++i) one_cycle();
    take_retx = take_ccev = take_upd = true;
    while (std::any_of(again.begin(), again.end(), [&](const Rec& r) { return r.qp == q; }) || rec.valid() ||
           rec.has()) {
      const bool others = chance(50);
      if (rec.free() && !again.empty()) send_again();
      if (others) news(static_cast<uint16_t>(draw(4)));
      cycle();
      look();
    }
    while (!loaded.empty()) taken();
    const bool cc = side[q].cc;
    prepare(q);
    side[q].cc = cc;
    ctx.cc = cc;
    request(q);
    while (!inflight.cfg_ack()) one_cycle();
    cfg.req = false;
    one_cycle();
    for (unsigned i = 0; i < 40; ++i) one_cycle();
    CHECK(flight[q] == 0);
    side[q].live = true;
  }
  void finish() {
    take_retx = take_ccev = take_upd = true;
    refuse = 0;
    for (unsigned i = 0; i < 4000; ++i) {
      if (rec.free() && !again.empty()) send_again();
      cycle();
      look();
    }
    if (exact) {
      for (const Side& s : side) CHECK(s.waits.empty());
    }
    for (uint16_t q = 0; q < 4; ++q) set_state(q, QpState::Reset);
    run(100);
    look();
    CHECK(credit == 20);
    for (const int64_t f : flight) CHECK(f == 0);
  }
};

}  // namespace

TEST_CASE("tx_inflight: in random traffic each NACK is one order, each record its packet's, and no block is lost",
          "[pipeline][tx_inflight][random]") {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    Traffic t(seed, true);
    for (unsigned round = 0; round < 30; ++round) {
      for (unsigned i = 0; i < 400; ++i) t.one_cycle();
      t.end(static_cast<uint16_t>(t.draw(4)));
    }
    t.finish();
    CHECK(t.sent_packets > 3000);
    CHECK(t.orders > 300);
  }
}

TEST_CASE("tx_inflight: the same with gaps, the same-EV rule and a quick timer", "[pipeline][tx_inflight][random]") {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    Traffic t(seed, false);
    for (unsigned round = 0; round < 30; ++round) {
      for (unsigned i = 0; i < 400; ++i) t.one_cycle();
      t.end(static_cast<uint16_t>(t.draw(4)));
    }
    t.finish();
    CHECK(t.sent_packets > 3000);
    CHECK(t.orders > 500);
    CHECK(t.rto_inc > 10);
  }
}

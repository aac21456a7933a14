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
  Stream<Ccans> rans;
  Stream<Retx> retx_out;
  Stream<Upd> upd_out;
  Stream<Fb> fb_out;
  Stream<Pres> pres_out;
  Stream<Ccev> ccev_out;
  Stream<Ccask> rask_out;
  Stream<Okev> okev_out;
  Stream<Qperr> qperr_out;
  TxInflight inflight{
      preset, {rec, ctl, rans}, {retx_out, upd_out, fb_out, pres_out, ccev_out, rask_out, okev_out, qperr_out}};
  CfgBus cfg;
  CsrOut csr;
  csr::TblQpCtx ctx;  ///< of all QPs; a test may change it and configure()
  bool take_retx = true, take_upd = true, take_pres = true, take_ccev = true, take_okev = true, take_qperr = true;
  bool allow = true;   ///< the answer to each rask
  bool answer = true;  ///< rasks are answered
  unsigned cycles = 0, rtx_inc = 0, rto_inc = 0, fail_inc = 0;
  std::vector<unsigned> rto_at, fail_at;  // ticks of the timer's expiries and of failures
  std::vector<Retx> retx;
  std::vector<Upd> upd;
  std::vector<Fb> fb;
  std::vector<Pres> pres;
  std::vector<Ccev> ccev;
  std::vector<Ccask> rask;
  std::vector<unsigned> rask_at;
  std::vector<Okev> okev;
  std::vector<Qperr> qperr;

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
  unsigned tick() const { return cycles / 128; }
  void run_to_tick(unsigned t) {
    while (tick() < t) cycle();
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
    if (rask_out.has() && answer) {
      rask_at.push_back(cycles);
      rans.load({.cc = rask_out.head().cc, .ok = allow, .last = false});
      collect(rask_out, rask);
    }
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
  /// Packet i of the QP: message 10 + i / 10 of ten packets, on EV i modulo 16.
  static Rec packet(uint16_t qp, unsigned i) {
    return {.qp = qp,
            .psn = psn_add(kPsn, i),
            .msn = static_cast<uint16_t>(10 + i / 10),
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
          .idx = o.idx,
          .ev_idx = ev,
          .rtx = true,
          .last = false,
          .size = o.size,
          .voided = voided});
    run(8);
  }
  /// The flight of all QPs is what the controllers were told: everything that was sent, less `bytes`.
  uint32_t told(uint16_t dest) const {
    uint32_t n = 0;
    for (const Ccev& e : ccev) n += e.cc == dest ? e.bytes : 0;
    return n;
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

TEST_CASE("tx_inflight: the timer sends everything again that was out when it started", "[pipeline][tx_inflight]") {
  Bench b;
  b.retries(7, 25);  // 8 ticks, 1024 cycles
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
  b.sent_all(1, 10);
  REQUIRE(b.tick() == t0);
  b.run_to_tick(t0 + 135);
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 8, t0 + 16, t0 + 24, t0 + 40, t0 + 72});
  CHECK(b.fail_inc == 0);
  CHECK(b.upd.empty());
  CHECK(b.retx.size() == 41);  // the first packet alone, then ten each
  b.run_to_tick(t0 + 300);
  CHECK(b.fail_at == std::vector<unsigned>{t0 + 136});  // 64 ticks after the last retry
  CHECK(b.rto_inc == 5);
  CHECK(b.retx.size() == 41);
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
  CHECK(b.rto_at.back() == t0 + 8);
  CHECK(b.rto_inc == 3);
  CHECK(b.fail_at == std::vector<unsigned>{t0 + 16});
  CHECK(b.upd.back().msn == 11);
}

TEST_CASE("tx_inflight: 25 exponential retries go on for ever, ever slower", "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(0, 25);
  const unsigned t0 = b.tick();
  b.sent_all(0, 40);
  REQUIRE(b.tick() <= t0 + 1);
  b.run_to_tick(t0 + 260);
  // The timer starts with the first packet: 8, 16, 32, 64, 128 ticks.
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
  b.sent_all(0, 5);
  b.run_to_tick(t0 + 12);
  CHECK(b.rto_at == std::vector<unsigned>{t0 + 8});
  b.nack(0, 0, 0x07);
  b.run_to_tick(t0 + 60);
  CHECK(b.rto_inc == 1);
  CHECK(b.fail_at == std::vector<unsigned>{t0 + 24});  // two retries: 16 ticks after the expiry
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
  b.run(200);
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

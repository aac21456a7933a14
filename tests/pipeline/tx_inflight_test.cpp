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
  unsigned refuse = 0;  ///< bit d: rasks to destination d are refused
  bool answer = true;   ///< rasks are answered
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
      const Ccask& a = rask_out.head();
      rans.load({.cc = a.cc, .bytes = (refuse >> a.cc & 1) == 0 ? a.bytes : uint16_t{0}, .last = false});
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
  b.csr.payload_bytes = true;  // a packet weighs 256 then
  b.nack(3, 5, 1);
  c = Bench::sack_of(3, 3, 5, 3, 0b111, 0);
  c.rcvd = 5;
  b.give(c);
  REQUIRE(b.ccev.size() == 5);
  CHECK(b.ccev[4].bytes == 3 * 256 - 256);
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
  CHECK(b.retx[0] == Retx{.qp = 1, .psn = psn_add(Bench::kPsn, 3), .msn = 10, .idx = 3, .avoid_ev = 3, .size = 340});
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
  b.rec.load(Bench::packet(1, 0));
  b.run(10);
  CHECK(b.rec.has());  // the block waits
  b.answer = true;
  b.run(20);
  CHECK(b.retx.size() == 1);
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
  b.give(a);
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[1] == Ccev{.cc = 3, .kind = 0, .bytes = 340});
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

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "gen/csr.hpp"
#include "pipeline/tx/inflight/tx_inflight.hpp"
#include "tests/protocol/nack_retry_cases.hpp"

namespace mrc::test::tx_inflight_nack_retry_test {

using test::NackCase;

namespace {

/// tx_inflight alone, with one QP and outputs that are always taken.
struct Bench {
  Preset preset = *find_preset("tiny");
  Stream<Rec> rec;
  Stream<Ctl> ctl;
  Stream<Ccans> rans;
  Stream<Retx> retx;
  Stream<Upd> upd;
  Stream<Fb> fb;
  Stream<Pres> pres;
  Stream<Ccev> ccev;
  Stream<Ccreq> rtxreq;
  Stream<Okev> okev;
  Stream<Qperr> qperr;
  Stream<Stateq> stateq;
  TxInflight inflight{preset, {rec, ctl, rans}, {retx, upd, fb, pres, ccev, rtxreq, okev, qperr, stateq}};
  CfgBus cfg;
  CsrOut csr;
  unsigned cycles = 0, expired = 0;
  bool failed = false;

  explicit Bench(unsigned allowed) {
    csr.same_ev = false;
    csr::TblQpCtx row;
    row.state = QpState::Rts;
    row.timeout = 0;
    row.retry_linear = static_cast<uint8_t>(allowed);
    row.retry_exp = 0;
    row.pack(cfg.data.data());
    cfg.table = static_cast<uint8_t>(CfgTable::QpCtx);
    cfg.req = true;
    for (unsigned i = 0; i < 1000 && !inflight.cfg_ack(); ++i) cycle();
    REQUIRE(inflight.cfg_ack());
    cfg.req = false;
    for (unsigned i = 0; i < 10; ++i) {
      while (!rec.free()) cycle();
      rec.load({.psn = i,
                .msn = static_cast<uint16_t>(i < 4 ? 0 : 1),
                .idx = i < 4 ? i : i - 4,
                .ev_idx = static_cast<uint16_t>(i),
                .last = i == 3 || i == 9,
                .size = 340});
      cycle();
    }
    run(20);
  }
  template <class T>
  static void take(Stream<T>& from) {
    if (from.has()) from.pop();
    from.clock();
  }
  void cycle() {
    csr.tick = cycles++ / preset.tick_cycles;
    inflight.step(cfg, csr, 3);
    inflight.clock();
    rec.clock();
    ctl.clock();
    rans.clock();
    take(retx);
    take(upd);
    take(fb);
    take(pres);
    take(ccev);
    take(rtxreq);
    take(okev);
    take(qperr);
    take(stateq);
    expired += inflight.pulses().rto;
    failed = failed || inflight.pulses().fail;
  }
  void run(unsigned n) {
    for (unsigned i = 0; i < n; ++i) cycle();
  }
  void hear(const Ctl& c) {
    while (!ctl.free()) cycle();
    ctl.load(c);
    run(40);
  }
  void step(const NackCase::Step& s) {
    switch (s.what) {
      case NackCase::What::Report:
        hear({.kind = CtlKind::Sack,
              .psn = s.psn,
              .cack = 0xffffff,
              .base = 0,
              .bitmap = uint64_t{1} << s.psn,
              .ooo = 1});
        break;
      case NackCase::What::Ack:
        hear({.kind = CtlKind::Ack, .psn = s.psn, .reason = 0x1f, .msn = s.msn});
        break;
      case NackCase::What::Nack:
        hear({.kind = CtlKind::Nack, .psn = s.psn, .reason = static_cast<uint8_t>(s.reason)});
        break;
      case NackCase::What::Expire:
        for (unsigned i = 0; i < 16 * preset.tick_cycles && expired == 0; ++i) cycle();
        REQUIRE(expired != 0);
        break;
    }
  }
};

}  // namespace

TEST_CASE("tx_inflight counts a NACK as a retry when it is about the oldest packet not reported",
          "[pipeline][tx_inflight][retry][A-35]") {
  for (const NackCase& c : test::nack_cases()) {
    CAPTURE(c.name);
    Bench b(c.allowed);
    for (const NackCase::Step& s : c.steps) {
      CHECK_FALSE(b.failed);
      b.step(s);
    }
    CHECK(b.failed == c.fails);
  }
}

}  // namespace mrc::test::tx_inflight_nack_retry_test

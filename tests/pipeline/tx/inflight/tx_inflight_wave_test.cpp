// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "gen/csr.hpp"
#include "pipeline/tx/inflight/tx_inflight.hpp"
#include "protocol/psn.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::tx_inflight_wave_test {

TEST_CASE("the waves of tx_inflight.md: a SACK of two blocks with a loss, a NACK, an ACK", "[pipeline][waves]") {
  const Preset preset = *find_preset("tiny");
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
  csr.reorder = 4;
  csr.same_ev = false;

  const auto take = [](auto&... from) { (void)((from.has() ? (from.pop(), 0) : 0), ...); };
  const auto clock = [](auto&... all) { (all.clock(), ...); };
  const auto cycle = [&] {
    take(retx, upd, fb, pres, ccev, rtxreq, okev, qperr, stateq);
    inflight.step(cfg, csr, 3);
    inflight.clock();
    clock(rec, ctl, rans, retx, upd, fb, pres, ccev, rtxreq, okev, qperr, stateq);
  };
  csr::TblQpCtx row;
  row.state = QpState::Rts;
  row.sq_psn = 0x100;
  row.msn = 10;
  row.timeout = 24;
  row.retry_linear = 7;
  row.retry_exp = 25;
  row.cc = true;
  row.pack(cfg.data.data());
  cfg.table = static_cast<uint8_t>(CfgTable::QpCtx);
  cfg.req = true;
  while (!inflight.cfg_ack()) cycle();
  cfg.req = false;

  const auto packet = [](unsigned i) {
    return Rec{.qp = 0,
               .psn = 0x100 + i,
               .msn = static_cast<uint16_t>(10 + i / 16),
               .row = static_cast<uint16_t>(1 + i / 16),
               .idx = i % 16,
               .ev_idx = static_cast<uint16_t>(i % 16),
               .rtx = false,
               .last = i % 16 == 15,
               .size = 340,
               .voided = false};
  };
  for (unsigned i = 0; i < 32; ++i) {
    rec.load(packet(i));
    cycle();
  }
  for (unsigned i = 0; i < 13; ++i) cycle();  // the visits of the timer fall between the operations

  Wave wave("tx_inflight", "tx_inflight: a SACK of two blocks (0x110 is missing), a NACK (0x11E was trimmed), an ACK");
  wave.out("rec", rec, [](const Rec& r) { return fmt::format("{:X}", r.psn); });
  wave.out("ctl", ctl, [](const Ctl& c) {
    return c.kind == CtlKind::Sack ? "SACK" : c.kind == CtlKind::Nack ? "NACK" : "ACK";
  });
  wave.head("ctl head", ctl, [](const Ctl& c) {
    return c.kind == CtlKind::Sack ? "SACK" : c.kind == CtlKind::Nack ? "NACK" : "ACK";
  });
  wave.out("upd", upd, [](const Upd& u) { return fmt::format("{:X}", u.una); });
  wave.out("ccev", ccev, [](const Ccev& e) {
    return e.kind == CcEvent::Ack ? "Ack" : e.kind == CcEvent::Nack ? "Nack" : "Loss";
  });
  wave.out("okev", okev, [](const Okev&) { return "ok"; });
  wave.out("fb", fb, [](const Fb& f) { return f.kind == FbKind::Loss ? "LOSS" : "SKIP"; });
  wave.out("rtxreq", rtxreq, [](const Ccreq& a) { return fmt::format("{}", a.bytes); });
  wave.out("rans", rans, [](const Ccans& a) { return fmt::format("{}", a.bytes); });
  wave.out("retx", retx, [](const Retx& r) { return fmt::format("{:X}", r.psn); });

  Ctl sack;
  sack.kind = CtlKind::Sack;
  sack.qp = 0;
  sack.psn = 0x11c;
  sack.cack = 0x10f;
  sack.base = 0x110;
  sack.bitmap = 0b1'1111'1111'1110;  // 0x111 .. 0x11C
  sack.ooo = 12;
  sack.entropy = 7;
  sack.rcvd = 28 * 340 / 256;
  Ctl nack;
  nack.kind = CtlKind::Nack;
  nack.qp = 0;
  nack.psn = 0x11e;
  nack.reason = 1;
  nack.entropy = 7;
  Ctl ack;
  ack.kind = CtlKind::Ack;
  ack.qp = 0;
  ack.psn = 0x10f;
  ack.msn = 11;
  ack.reason = 0x1f;
  wave.sample();
  for (unsigned i = 0; i < 32; ++i) {
    if (i < 8) rec.load(packet(32 + i));
    if (i == 0) ctl.load(sack);
    if (i == 1) ctl.load(nack);
    if (i == 2) ctl.load(ack);
    cycle();
    if (rtxreq.valid() && rtxreq.ready()) rans.load({.cc = 0, .bytes = 340, .last = false});
    wave.sample();
  }
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::tx_inflight_wave_test

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "gen/csr.hpp"
#include "pipeline/tx/segment/tx_segment.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::tx_segment_wave_test {

TEST_CASE("the waves of tx_segment.md: two QPs, a burst each, an order of retransmission",
          "[pipeline][tx_segment][waves]") {
  const Preset preset = *find_preset("tiny");
  Fifo<Wqe> wqe{2};
  Fifo<Grant> grant{2};
  Stream<Retx> retx;
  Stream<Upd> upd;
  Stream<Ccans> ans;
  Stream<Pkt> pkt;
  Stream<Sched> push;
  Stream<Grant> park;
  Stream<Ccreq> req;
  Stream<Ccret> ret;
  Fifo<Cqe> cqe{2};
  Stream<Qperr> qperr;
  TxSegment block{preset, {wqe, grant, retx, upd, ans}, {pkt, push, park, req, ret, cqe, qperr}};
  CfgBus cfg;
  CsrOut csr;
  const auto cycle = [&] {
    // In place of tx_sched: who may send is granted in the next cycle.
    if (push.has() && grant.ready()) {
      if (push.head().more) grant.push({.qp = push.head().qp});
      push.pop();
    }
    if (pkt.has()) pkt.pop();
    if (cqe.valid()) cqe.pop();
    block.step(cfg, csr, false);
    clock_all(block, wqe, grant, retx, upd, ans, pkt, push, park, req, ret, cqe);
  };
  csr::TblQpCtx row{.max_wimm = 4, .mpr = 1, .mtu = 0, .state = QpState::Rts};
  row.pack(cfg.data.data());
  cfg.table = static_cast<uint8_t>(CfgTable::QpCtx);
  for (uint16_t q = 0; q < 2; ++q) {
    cfg.index = q;
    cfg.req = true;
    while (!block.cfg_ack()) cycle();
    cfg.req = false;
    cycle();
    cycle();
  }

  Wave wave("tx_segment",
            "tx_segment: QP 0 sends 5 packets of 256 bytes, QP 1 three; PSN 1 of QP 0 goes again; the ACK");
  wave.words(
      "wqe head", [&] { return wqe.valid() ? fmt::format("QP {}", wqe.head().qp) : std::string(); },
      [] { return true; });
  wave.out("push", push, [](const Sched& s) { return fmt::format("{}{}", s.qp, s.more ? "+" : ""); });
  wave.words(
      "grant head", [&] { return grant.valid() ? fmt::format("{}", grant.head().qp) : std::string(); },
      [] { return false; });
  wave.head("retx head", retx, [](const Retx& r) { return fmt::format("{}:{}", r.qp, r.psn); });
  wave.out("pkt", pkt, [](const Pkt& p) { return fmt::format("{}:{}", p.qp, p.psn); });
  wave.out("pkt.ackreq", pkt, [](const Pkt& p) { return p.ackreq ? "1" : "0"; });
  wave.out("pkt.rtx", pkt, [](const Pkt& p) { return p.rtx ? "1" : "0"; });
  wave.head("upd head", upd, [](const Upd& u) { return fmt::format("ACK {}", u.msn); });
  wave.words(
      "cqe", [&] { return block.cqe_valid() ? fmt::format("QP {}", block.cqe().qp) : std::string(); },
      [] { return false; });
  wave.sample();
  for (unsigned i = 0; i < 30; ++i) {
    if (i < 2) {
      Wqe w{.qp = static_cast<QpIndex>(i), .wr_id = i, .length = i == 0 ? 5u * 256 : 3u * 256};
      wqe.push(w);
    }
    if (i == 10) retx.load({.qp = 0, .psn = 1, .msn = 0, .row = 0, .idx = 1, .avoid_ev = 0, .size = 340});
    if (i == 20) upd.load({.qp = 0, .una = 5, .ack = true, .msn = 1, .syndrome = 0x1f, .mpr = 0});
    cycle();
    wave.sample();
  }
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::tx_segment_wave_test

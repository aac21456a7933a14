// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "gen/csr.hpp"
#include "pipeline/ctl/ack_gen.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::ack_gen_wave_test {

TEST_CASE("the waves of ack_gen.md: three responses, a question, ACKs with a gap of 4", "[ack_gen][waves]") {
  const Preset preset = *find_preset("tiny");
  Stream<Resp> resp{16}, eresp;
  Stream<Ackev> ackev;
  Stream<Okev> okev, eokev;
  Stream<Stateq> stateq;
  Stream<Ctlpkt> ctlpkt;
  Stream<Want> want{16};
  AckGen block{preset, {resp, ackev, eresp, okev, eokev, stateq}, ctlpkt, want};
  CfgBus cfg;
  CsrOut csr{.ep_interval = 1000, .ack_gap = 4, .rev_ev = {0xa0, 0xa1}};
  csr::TblQpCtx row{.state = QpState::Rts};
  row.pack(cfg.data.data());
  cfg.table = static_cast<uint8_t>(CfgTable::QpCtx);

  const auto cycle = [&] {
    pop_all(ctlpkt, want);
    block.step(cfg, csr, 3);
    clock_all(block, resp, eresp, ackev, okev, eokev, stateq, ctlpkt, want);
  };
  cfg.req = true;
  cycle();
  cfg.req = false;
  cycle();

  Wave wave("ack_gen", "ack_gen: responses first, then the question, then ACKs, ACK_CTL.gap 4");
  wave.out("resp", resp, [](const Resp& r) { return r.kind == CtlKind::Sack ? "SACK" : "NACK"; });
  wave.out("stateq", stateq, [](const Stateq&) { return "QP 0"; });
  wave.out("ackev", ackev, [](const Ackev& e) { return fmt::format("{}:{}", e.qp, e.msn); });
  wave.out("okev", okev, [](const Okev& e) { return fmt::format("{:X}", e.ev); });
  wave.out("ctlpkt", ctlpkt, [](const Ctlpkt& c) {
    return c.opcode == 0xDC ? "SACK" : c.opcode == 0xDD ? "NACK" : c.opcode == 0xDE ? "0xDE" : "ACK";
  });
  wave.out("ctlpkt.plane", ctlpkt, [](const Ctlpkt& c) { return fmt::format("{}", c.plane); });
  wave.out("ctlpkt.ev", ctlpkt, [](const Ctlpkt& c) { return fmt::format("{:X}", c.ev); });
  wave.out("want", want, [](const Want& w) { return fmt::format("pl {}", w.plane); });
  wave.sample();
  for (unsigned i = 0; i < 22; ++i) {
    Resp r{.kind = i == 2 ? CtlKind::Nack : CtlKind::Sack};
    if (i == 0 || i == 2 || i == 4) resp.load(r);
    if (i == 3) stateq.load({.qp = 0});
    if (i < 3 || i == 11) {  // QP 1 twice: acknowledged together
      const auto qp = static_cast<QpIndex>(i == 11 ? 1 : i);
      ackev.load({.qp = qp, .plane = 0, .psn = i, .msn = static_cast<uint16_t>(5 + i)});
    }
    if (i == 2) okev.load({.dest = 0, .plane = 0, .ev = 0xbb});
    cycle();
    wave.sample();
  }
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::ack_gen_wave_test

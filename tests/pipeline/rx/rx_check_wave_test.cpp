// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "gen/csr.hpp"
#include "pipeline/rx/rx_check.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::rx_check_wave_test {

TEST_CASE("the waves of rx_check.md: two lanes in turn, a dropped packet, a table write", "[rx_check][waves]") {
  const Preset preset = *find_preset("tiny");
  std::vector<Fifo<Rxdesc>> desc(preset.num_planes, Fifo<Rxdesc>{2});
  Stream<Rxpkt> rxpkt;
  Stream<Ctl> ctl;
  Stream<Eprx> eprx;
  RxCheck check{preset, desc, rxpkt, ctl, eprx};
  CfgBus cfg;
  CsrOut csr;
  const auto cycle = [&] {
    check.step(cfg, csr);
    pop_all(rxpkt, ctl, eprx);
    for (auto& d : desc) d.clock();
    clock_all(rxpkt, ctl, eprx, check);
  };
  csr::TblQpCtx row{.pkey = 0xffff, .mtu = 4, .state = QpState::Rts};
  row.pack(cfg.data.data());
  cfg.table = static_cast<uint8_t>(CfgTable::QpCtx);
  cfg.req = true;
  while (!check.cfg_ack()) cycle();
  cfg.req = false;
  cycle();

  // A packet's PSN names it: 1, 3, 5 on plane 0, 2, 4, 6 on plane 1. 3 has a wrong ICRC, 4 is a SACK.
  unsigned next[2] = {1, 2};
  const auto packet = [](uint32_t psn) {
    Rxdesc d;
    d.opcode = psn == 4 ? 0xDC : 0xC7;
    d.dqp = kQpnBase;
    d.pkey = 0xffff;
    d.psn = psn;
    d.plen = psn == 4 ? 0 : 4096;
    d.icrc_ok = psn != 3;
    d.buf_valid = d.plen != 0;
    return d;
  };
  Wave wave("rx_check", "rx_check: PSN 1, 3, 5 on plane 0, 2, 4, 6 on plane 1; 3 has a wrong ICRC, 4 is a SACK");
  for (unsigned p = 0; p < 2; ++p) {
    wave.words(
        fmt::format("desc[{}] head", p),
        [&desc, p] { return desc[p].valid() ? fmt::format("{}", desc[p].head().psn) : std::string(); },
        [] { return true; });
  }
  wave.bit("cfg_req", [&] { return cfg.req; });
  wave.bit("cfg_ack_q", [&] { return check.cfg_ack(); });
  wave.out("rxpkt", rxpkt, [](const Rxpkt& p) { return p.drop ? std::string("drop") : fmt::format("{}", p.psn); });
  wave.out("ctl", ctl, [](const Ctl&) { return "SACK"; });
  wave.bit("drop_icrc", [&] { return check.pulses().drop_icrc; });
  wave.bit("access", [&] { return check.pulses().access; });
  wave.sample();
  for (unsigned i = 0; i < 14; ++i) {
    for (unsigned p = 0; p < 2; ++p) {
      if (!desc[p].ready() || next[p] > 6) continue;
      desc[p].push(packet(next[p]));
      next[p] += 2;
    }
    const bool acked = check.cfg_ack();
    cycle();
    if (i == 2) cfg.req = true;
    if (acked) cfg.req = false;
    wave.sample();
  }
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::rx_check_wave_test

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "gen/csr.hpp"
#include "pipeline/tx/tx_path.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::tx_path_wave_test {

TEST_CASE("the waves of tx_path.md: packets of two QPs, a bad group, a loss", "[pipeline][tx_path][waves]") {
  const Preset preset = *find_preset("tiny");  // 2 planes, 8 groups
  Stream<Pkt> pkt;
  Stream<Fb> fb, pfb;
  Stream<Path> out;
  Stream<Rec> rec;
  Stream<Evev> evev;
  Stream<Badev> bad;
  TxPath path{preset, pkt, fb, pfb, out, rec, evev, bad};
  CfgBus cfg;
  CsrOut csr{.ev_min_active = 2};
  const auto cycle = [&] {
    pop_all(out, rec, evev, bad);
    path.step(cfg, csr, {.lane_room = 3, .port_up = 3});
    clock_all(path, pkt, fb, pfb, out, rec, evev, bad);
  };
  const auto configure = [&](CfgTable table, unsigned index, const std::array<uint32_t, 16>& data) {
    cfg = {true, static_cast<uint8_t>(table), static_cast<uint16_t>(index), data};
    while (!path.cfg_ack()) cycle();
    cfg.req = false;
    cycle();
  };
  for (unsigned i = 0; i < preset.evs_per_qp; ++i) configure(CfgTable::Ev, i, {0xA0 + i});
  std::array<uint32_t, 16> words{};
  csr::TblQpCtx{}.pack(words.data());
  configure(CfgTable::QpCtx, 0, words);
  configure(CfgTable::QpCtx, 1, words);
  // The second group of QP 0's first pass is out of use: the walk goes through it.
  const unsigned second = 1 ^ (0xACE1u & 15) >> 1;
  for (unsigned j = 0; j < 2; ++j) configure(CfgTable::EvState, 0, {(second * 2 + j) | 1u << 16});

  Wave wave("tx_path", "tx_path: QP 0, 0, 1, 0, 0, 1; both EVs of QP 0's second group are DENIED; then a LOSS");
  wave.out("pkt", pkt, [](const Pkt& p) { return fmt::format("{}:{}", p.qp, p.psn); });
  wave.head("pkt head", pkt, [](const Pkt& p) { return fmt::format("{}:{}", p.qp, p.psn); });
  wave.head("fb head", fb, [](const Fb&) { return "LOSS"; });
  wave.out("path", out, [](const Path& p) { return fmt::format("{}:{}", p.pkt.qp, p.pkt.psn); });
  wave.out("path.ev_idx", out, [](const Path& p) { return fmt::format("{}", p.ev_idx); });
  wave.out("path.plane", out, [](const Path& p) { return fmt::format("{}", p.plane); });
  wave.out("rec", rec, [](const Rec& r) { return fmt::format("{}:{}", r.qp, r.psn); });
  wave.out("evev", evev, [](const Evev& e) { return fmt::format("{}", e.ev_idx); });
  wave.out("bad", bad, [](const Badev& b) { return fmt::format("{}", b.ev_idx); });
  wave.bit("bad_inc_q", [&] { return path.pulses().bad; });
  const uint16_t qps[] = {0, 0, 1, 0, 0, 1, 0, 1};
  unsigned sent = 0;
  wave.sample();
  for (unsigned i = 0; i < 18; ++i) {
    if (sent < 8 && pkt.free()) {
      Pkt p{.qp = qps[sent], .psn = sent++};
      pkt.load(p);
    }
    if (i == 5) fb.load({.qp = 1, .ev_idx = 4, .entropy = 0, .kind = FbKind::Loss});
    cycle();
    wave.sample();
  }
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::tx_path_wave_test

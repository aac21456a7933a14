// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "gen/csr.hpp"
#include "pipeline/rx/track/rx_track.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::rx_track_wave_test {

TEST_CASE("the waves of rx_track.md: a gap, its packet, a duplicate, two SACKs", "[rx_track][waves]") {
  const Preset preset = *find_preset("tiny");
  Stream<Rxpkt> rxpkt;
  PlaneDemux<Verdict> verdict{preset.num_planes, preset.lane_fifo};
  Stream<Resp> resp{16};
  Stream<Ackev> ackev;
  Stream<Ord> ord;
  Stream<Qperr> qperr;
  Stream<Came> came;
  RxTrack track{preset, rxpkt, verdict, resp, ackev, ord, qperr, came};
  CfgBus cfg;
  CsrOut csr{.sack_trigger = 1 << 19};
  csr::TblQpCtx row{.rq_psn = 0x3e, .mpr_dest = 1, .state = QpState::Rtr};
  row.pack(cfg.data.data());
  cfg.table = static_cast<uint8_t>(CfgTable::QpCtx);
  bool placed = false;
  const std::vector<uint8_t> over(preset.num_qps);
  const auto cycle = [&] {
    track.step(cfg, csr, {.imm_ok = true, .hold_ok = true, .over = over, .share = {}});
    placed = false;
    for (unsigned p = 0; p < preset.num_planes; ++p) {
      if (verdict.lane(p).valid()) verdict.lane(p).pop();
    }
    pop_all(resp, ackev, ord);
    clock_all(rxpkt, verdict, resp, ackev, ord, qperr, track);
  };
  cfg.req = true;
  while (!track.cfg_ack()) cycle();
  cfg.req = false;
  cycle();

  Wave wave("rx_track", "rx_track: PSN 3E, 40, 41 (last), 3F, 3F again; cack runs over the row's end at 40");
  wave.out("rxpkt", rxpkt, [](const Rxpkt& p) { return fmt::format("{:X}", p.psn); });
  wave.head("rxpkt head", rxpkt, [](const Rxpkt& p) { return fmt::format("{:X}{}", p.psn, p.rtx ? " rtx" : ""); });
  wave.words(
      "verdict", [&] { return verdict.valid() ? std::string(verdict.data().place ? "place" : "drop") : std::string(); },
      [] { return false; });
  wave.out("ord.cack", ord, [](const Ord& o) { return fmt::format("{:X}", o.cack); });
  wave.out("ackev.psn", ackev, [](const Ackev& a) { return fmt::format("{:X}", a.psn); });
  wave.out("resp", resp, [](const Resp& r) { return r.kind == CtlKind::Sack ? "SACK" : "NACK"; });
  wave.out("resp.cack", resp, [](const Resp& r) { return fmt::format("{:X}", r.cack); });
  wave.bit("dup_inc", [&] { return track.pulses().dup; });
  const uint32_t psns[] = {0x3e, 0x40, 0x41, 0x3f, 0x3f};
  wave.sample();
  for (unsigned i = 0; i < 20; ++i) {
    if (i < 5) {
      Rxpkt p;
      p.buf_valid = true;
      p.psn = psns[i];
      p.plen = 1000;
      p.size = 1084;
      p.last = p.psn == 0x41;
      p.rtx = i == 4;
      rxpkt.load(p);
    }
    cycle();
    wave.sample();
  }
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::rx_track_wave_test

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "gen/csr.hpp"
#include "pipeline/rx/rx_reorder.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::rx_reorder_wave_test {

TEST_CASE("the waves of rx_reorder.md: an immediate ahead of a gap, and the gap closes", "[rx_reorder][waves]") {
  const Preset preset = *find_preset("tiny");
  Stream<Ord> ord;
  Stream<Cqe> cqe;
  Stream<Qperr> qperr;
  RxReorder block{preset, ord, cqe, qperr};
  CfgBus cfg;
  CsrOut csr;
  bool done = false;
  const auto cycle = [&] {
    block.step(cfg, csr, {.done_valid = done, .done_plane = 0});
    if (cqe.has()) cqe.pop();
    clock_all(ord, cqe, qperr, block);
  };
  csr::TblQpCtx row{.max_wimm_dest = 8, .state = QpState::Rtr};
  row.pack(cfg.data.data());
  cfg.req = true;
  while (!block.cfg_ack()) cycle();
  cfg.req = false;
  cycle();

  // RQMSN 1 ends with PSN 12 while cack is 10; then 11, 12 fill the gap: RQMSN 0 ends with 11.
  const auto order = [](uint16_t rqmsn, uint32_t psn, uint32_t cack, bool adv, unsigned snap) {
    Ord o{.imm_valid = true, .rqmsn = rqmsn, .psn = psn, .adv = adv, .cack = cack, .snap = snap};
    return o;
  };
  Wave wave("rx_reorder", "rx_reorder: RQMSN 1 waits for RQMSN 0; both wait for their data (snap 1 and 2)");
  wave.out("ord.rqmsn", ord, [](const Ord& o) { return fmt::format("{}", o.rqmsn); });
  wave.out("ord.cack", ord, [](const Ord& o) { return fmt::format("{}", o.cack); });
  wave.head("ord head", ord, [](const Ord& o) { return fmt::format("{}", o.rqmsn); });
  wave.bit("done_valid_i", [&] { return done; });
  wave.out("cqe.msn", cqe, [](const Cqe& c) { return fmt::format("{}", c.msn); });
  wave.sample();
  for (unsigned i = 0; i < 18; ++i) {
    if (i == 0) ord.load(order(1, 12, 10, false, 1));
    if (i == 1) ord.load(order(0, 11, 12, true, 2));
    cycle();
    done = i == 5 || i == 9;
    wave.sample();
  }
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::rx_reorder_wave_test

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "gen/csr.hpp"
#include "pipeline/cc/cc_nscc.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/wave.hpp"
#include "tests/protocol/nscc_drive.hpp"

namespace mrc::test::cc_nscc_wave_test {

TEST_CASE("the waves of cc_nscc.md: asks beside events, a refusal and its wake", "[cc_nscc][waves]") {
  const Preset preset = *find_preset("tiny");
  Stream<Ccev> ev{CcNscc::kEvDepth};
  Stream<Ccreq> req, rtxreq;
  Stream<Ccret> ret;
  Stream<Ccans> ans, rans;
  Stream<Ccresume> resume;
  CcNscc block{preset, {ev, req, rtxreq, ret}, {ans, rans, resume}};
  CfgBus cfg;
  const auto cycle = [&] {
    pop_all(ans, rans, resume);
    block.step(cfg, 1000);
    clock_all(block, ev, req, rtxreq, ret, ans, rans, resume);
  };
  const auto write = [&](CfgTable table) {
    cfg.req = true;
    cfg.table = static_cast<uint8_t>(table);
    while (!block.cfg_ack()) cycle();
    cfg.req = false;
    cycle();
  };
  NsccParams params;
  params.rate_gbps = 93.75;
  params.base_rtt = 12800;
  params.mtu = 4000;
  params.ar_shift = 0;
  const auto real = nscc_resolve(params);
  REQUIRE(real);
  cfg.data = nscc_row(nscc_words(*real));
  write(CfgTable::CcProfile);
  cfg.data = {};
  write(CfgTable::CcCtx);
  // The window is 225 000 bytes; all but 8000 are in flight.
  for (unsigned left = 217'000; left != 0;) {
    const auto n = static_cast<uint16_t>(std::min(left, 60'000u));
    req.load({.cc = 0, .min = n, .bytes = n});
    left -= n;
    for (unsigned i = 0; i < 6; ++i) cycle();
  }

  Wave wave("cc_nscc", "cc_nscc: two packets fit, the third is refused; an Ack without sample makes room and wakes");
  wave.out("req.bytes", req, [](const Ccreq& a) { return fmt::format("{}", a.bytes); });
  wave.out("ans.bytes", ans, [](const Ccans& a) { return fmt::format("{}", a.bytes); });
  wave.out("ans.last", ans, [](const Ccans& a) { return fmt::format("{}", a.last ? 1 : 0); });
  wave.bit("hold_inc_q", [&] { return block.pulses().hold; });
  wave.out("ev", ev, [](const Ccev&) { return "Ack"; });
  wave.head("ev head", ev, [](const Ccev&) { return "Ack"; });
  wave.out("rtxreq.bytes", rtxreq, [](const Ccreq& a) { return fmt::format("{}", a.bytes); });
  wave.out("rans.bytes", rans, [](const Ccans& a) { return fmt::format("{}", a.bytes); });
  wave.out("resume.cc", resume, [](const Ccresume& w) { return fmt::format("{}", w.cc); });
  wave.sample();
  for (unsigned i = 0; i < 16; ++i) {
    if (i < 3) req.load({.cc = 0, .min = 4000, .bytes = 4000});
    if (i == 3) ev.load({.cc = 0, .kind = CcEvent::Ack, .bytes = 12000});
    if (i == 4) rtxreq.load({.cc = 0, .min = 4000, .bytes = 4000});
    cycle();
    wave.sample();
  }
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::cc_nscc_wave_test

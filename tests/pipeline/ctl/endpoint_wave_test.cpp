// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "tests/pipeline/ctl/endpoint_bench.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::endpoint_wave_test {

using namespace endpoint_bench;

TEST_CASE("the waves of endpoint.md: a peer's update is answered, an EV probe of the controller goes out",
          "[endpoint][waves]") {
  Bench b;
  b.set_up(1, 2);
  b.run(3);
  Wave wave("endpoint", "endpoint: destination 2 tells its ports; then the controller probes plane 1 of it");
  wave.head("eprx head", b.eprx, [](const Eprx& e) { return e.resp ? "answer" : "update"; });
  wave.head("evp head", b.evp, [](const Evp& e) { return fmt::format("dest {}", e.dest); });
  wave.out("resp", b.resp, [](const Resp&) { return "answer"; });
  wave.out("pmask", b.pmask, [](const Pmask& p) { return fmt::format("dest {}", p.dest); });
  wave.out("req", b.req, [](const Ctlpkt& c) { return fmt::format("op {}", op(c)); });
  wave.out("evr", b.evr, [](const Evr& e) { return e.answered ? "answered" : "not"; });
  wave.bit("rsp_inc", [&] { return b.block.pulses().rsp; });
  wave.bit("req_inc", [&] { return b.block.pulses().req; });
  for (unsigned i = 0; i < 24; ++i) {
    wave.sample();
    if (i == 1) {
      Eprx e{.mask = 2, .sip = address(1002)};
      b.eprx.load(e);
    }
    if (i == 10) b.evp.load({.dest = 2, .plane = 1, .ev = 0xE0});
    if (i == 17) {
      Eprx e{.resp = true, .id = static_cast<uint16_t>(b.sent.back().psn)};
      b.eprx.load(e);
    }
    b.cycle();
  }
  CHECK(b.pmasks.size() == 1);
  CHECK(b.evrs.size() == 1);
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::endpoint_wave_test

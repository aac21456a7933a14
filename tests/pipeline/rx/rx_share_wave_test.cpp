// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "gen/csr.hpp"
#include "pipeline/rx/rx_share.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::rx_share_wave_test {

TEST_CASE("the waves of rx_share.md: two QPs begin, a packet is trimmed, all arrives", "[rx_share][waves]") {
  const Preset preset = *find_preset("tiny");
  Stream<Came> came;
  RxShare share(preset, came);
  CfgBus cfg;
  CsrOut csr{.share_enable = true, .share_least = 2, .share_drain = 3000};
  const auto step = [&] {
    share.step(cfg, csr);
    came.clock();
    share.clock();
  };
  for (unsigned i = 0; i < 3; ++i) step();

  Wave wave("rx_share",
            "rx_share: messages of 3000 bytes, drain at 3000; 1000 of each, a header, then the rest of both");
  const auto word = [](const Came& c) {
    return fmt::format("{}:{}", c.qp, c.trimmed ? "trim" : fmt::format("{}", c.plen));
  };
  wave.out("came", came, word);
  wave.head("came head", came, word);
  wave.bit("arm", [&] { return share.levels().arm; });
  wave.bit("drained", [&] { return share.levels().drained; });
  wave.words(
      "gen", [&] { return fmt::format("{}", share.levels().gen); }, [] { return true; });
  const Came words[] = {{.qp = 0, .plen = 1000, .msn = 0, .emsn = 0, .length = 3000},
                        {.qp = 1, .plen = 1000, .msn = 0, .emsn = 0, .length = 3000},
                        {.qp = 0, .trimmed = true, .msn = 0, .emsn = 0},
                        {},
                        {},
                        {},
                        {.qp = 0, .plen = 2000, .msn = 0, .emsn = 1, .length = 3000},
                        {.qp = 1, .plen = 2000, .msn = 0, .emsn = 1, .length = 3000}};
  for (unsigned cycle = 0; cycle < 16; ++cycle) {
    wave.sample();
    if (cycle < std::size(words) && (cycle < 3 || cycle > 5)) came.load(words[cycle]);
    step();
  }
  CHECK(share.levels().drained);
  CHECK(share.levels().gen == 2);
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::rx_share_wave_test

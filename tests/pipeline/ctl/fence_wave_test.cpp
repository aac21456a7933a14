// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "pipeline/ctl/fence.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::fence_wave_test {

TEST_CASE("the waves of fence.md: a packet on its way to a port, payload on its way to memory", "[fence][waves]") {
  const Preset preset = *find_preset("tiny");
  Stream<Retx> retx;
  Stream<Pkt> pkt;
  Stream<Path> path;
  Stream<Ctl> ctl;
  Stream<Rxpkt> rxpkt;
  Stream<Ord> ord;
  Fence fence(preset, {retx, pkt, path, ctl, rxpkt, ord});
  Fence::In in;

  Wave wave("fence", "fence: packet 0 goes out on plane 0, packet 7 has come on plane 1; packet 1 is newer");
  wave.bit("go", [&] { return in.go; });
  wave.out("pkt", pkt, [](const Pkt& p) { return fmt::format("{}", p.psn); });
  wave.bit("rec_done", [&] { return in.rec_done; });
  wave.out("path", path, [](const Path& p) { return fmt::format("{}", p.pkt.psn); });
  wave.bit("data_done[0]", [&] { return in.data_done != 0; });
  wave.out("rxpkt", rxpkt, [](const Rxpkt& p) { return fmt::format("{}", p.psn); });
  wave.bit("posted", [&] { return in.posted; });
  wave.bit("done_valid", [&] { return in.done_valid; });
  wave.words(
      "owed", [&] { return fmt::format("{:05X}", fence.owed()); }, [] { return true; });

  for (unsigned cycle = 0; cycle < 17; ++cycle) {
    // done_plane and data_done: packet 7 came on plane 1, both packets that go out do so on plane 0.
    in = {.go = cycle == 2,
          .rec_done = cycle == 6 || cycle == 9,
          .posted = cycle == 4,
          .data_done = (cycle == 14 || cycle == 16) ? 1u : 0u,
          .done_valid = cycle == 11,
          .done_plane = 1};
    wave.sample();
    fence.step(in);
    pop_all(pkt, path, rxpkt);
    if (cycle == 1 || cycle == 5) pkt.load({.psn = cycle == 1 ? 0u : 1u});
    if (cycle == 4 || cycle == 7) path.load({.pkt = {.psn = cycle == 4 ? 0u : 1u}, .plane = 0});
    if (cycle == 0) {
      Rxpkt& p = rxpkt.load();
      p = {};
      p.plane = 1;
      p.psn = 7;
      p.buf_valid = true;
    }
    clock_all(pkt, path, rxpkt, fence);
  }
  CHECK(fence.owed() == 0);
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::fence_wave_test

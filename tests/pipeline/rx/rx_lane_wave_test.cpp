// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "pipeline/rx/rx_lane.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/wave.hpp"
#include "tests/protocol/rx_frames.hpp"

namespace mrc::test::rx_lane_wave_test {

TEST_CASE("the waves of rx_lane.md: a frame, its description, its verdict, its lines", "[rx_lane][waves]") {
  const Preset preset = *find_preset("tiny");  // beats of 16 bytes, lines of 32
  Fifo<Rxdesc> desc{2};
  Fifo<Verdict> verdict{preset.lane_fifo};
  Stream<Line> line;
  RxLane lane{preset, desc, verdict, line};
  CsrOut csr;
  Packet packet;
  packet.ext = write_ext(1, 2, 3, 4, 5);
  packet.payload = counting(80);
  const Bytes frame = packet.frame();

  std::size_t at = 0, n = 0;  // of the port's beat
  Wave wave("rx_lane", "rx_lane, preset tiny: a WRITE of 80 bytes; the verdict comes 4 cycles after the description");
  wave.words(
      "beat, bytes", [&] { return n != 0 ? fmt::format("{}", n) : std::string(); }, [] { return false; });
  wave.bit("rx_tlast_i", [&] { return n != 0 && at + n == frame.size(); });
  wave.words(
      "desc",
      [&] { return lane.desc_valid() ? fmt::format("{}", lane.desc().icrc_ok ? "good" : "bad") : std::string(); },
      [] { return false; });
  wave.bit("rx_inc_q", [&] { return lane.rx_inc(); });
  wave.words(
      "verdict", [&] { return verdict.valid() ? std::string("place") : std::string(); }, [] { return false; });
  wave.out("line.len", line, [](const Line& l) { return fmt::format("{}", l.len); });
  unsigned described = 0;
  for (unsigned i = 0; i < 30; ++i) {
    n = i == 0 ? 0 : std::min<std::size_t>(16, frame.size() - at);
    wave.sample();
    RxLane::In in;
    uint8_t beat[32] = {};
    if (n != 0) {
      std::copy_n(frame.begin() + static_cast<long>(at), n, beat);
      in = {.tvalid = true, .tlast = at + n == frame.size(), .tuser = false, .tkeep = (1u << n) - 1, .tdata = beat};
    }
    if (lane.desc_valid() && described == 0) described = i;
    lane.step(csr, in);
    if (desc.valid()) desc.pop();
    if (described != 0 && i == described + 3) verdict.push({.plane = 0, .place = true, .addr = 0x1000, .plen = 80});
    if (line.has()) line.pop();
    clock_all(desc, verdict, line, lane);
    at += n;
  }
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::rx_lane_wave_test

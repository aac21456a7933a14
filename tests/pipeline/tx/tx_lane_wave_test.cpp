// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <deque>

#include "pipeline/tx/tx_lane.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::tx_lane_wave_test {

TEST_CASE("the waves of tx_lane.md: a packet of 80 bytes of payload", "[pipeline][tx_lane][waves]") {
  const Preset preset = *find_preset("tiny");  // beats of 16 bytes, lines of 32
  Stream<Rdreq> rdreq;
  TxLane lane{preset, 0, rdreq};
  Hdr hdr{.hdr_len = 40, .laddr = 0x1000, .plen = 80};

  std::deque<unsigned> answers;  // cycles in which the host's lines come
  const std::array<uint8_t, kMaxLineBytes> bytes{};
  bool pushed = false, rsp = false;
  Wave wave("tx_lane",
            "tx_lane, preset tiny: 40 bytes of header, 80 of payload, ICRC; the host answers after 3 cycles");
  wave.bit("hdr pushed", [&] { return pushed; });
  wave.out("rdreq.len", rdreq, [](const Rdreq& r) { return fmt::format("{}", r.len); });
  wave.bit("rsp_valid_i", [&] { return rsp; });
  wave.bit("tx_tvalid_o", [&] { return lane.tvalid(); });
  wave.words(
      "beat, bytes", [&] { return lane.tvalid() ? fmt::format("{}", std::popcount(lane.tkeep())) : std::string(); },
      [] { return false; });
  wave.bit("tx_tlast_o", [&] { return lane.tvalid() && lane.tlast(); });
  wave.bit("tx_inc_q", [&] { return lane.tx_inc(); });
  for (unsigned i = 0; i < 20; ++i) {
    pushed = i == 1;
    rsp = !answers.empty() && answers.front() == i;
    wave.sample();
    if (rsp) answers.pop_front();
    if (rdreq.has()) {
      rdreq.pop();
      answers.push_back(i + 2);
    }
    if (pushed) lane.push_hdr(hdr);
    lane.step({.tready = true, .rsp_valid = rsp, .rsp = bytes.data()});
    lane.clock();
    rdreq.clock();
  }
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::tx_lane_wave_test

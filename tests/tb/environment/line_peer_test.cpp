// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/line_peer.hpp"

#include <catch2/catch_test_macros.hpp>

#include "gen/csr.hpp"
#include "wire/decode.hpp"

using namespace mrc;
using namespace mrc::tb;

TEST_CASE("line peers take each other's frames if both begin the ICRC in the same place", "[tb][bench][check][A-14]") {
  const Preset& tiny = *find_preset("tiny");
  Scenario s;
  s.srv6_share = 1;
  s.srh_share = 0.5;
  for (const bool outer : {false, true}) {
    CAPTURE(outer);
    s.icrc_outer = outer;
    Plan plan = make_plan(tiny, s, 3);
    REQUIRE(csr::kCtrlIcrcOuter.get(plan.dut.ctrl) == outer);
    Plan other_plan = plan;  // of an end that has it the other way
    other_plan.peer.ctrl ^= csr::kCtrlIcrcOuter.mask();
    const SourceMemory memory(plan.dut.source_size, plan.dut.source_base, Rng(3, "dut"));
    const SourceMemory peer_memory(plan.peer.source_size, plan.peer.source_base, Rng(3, "peer"));
    LinePeer from({tiny, plan.dut, plan.peer, memory, peer_memory, 1});
    LinePeer to({tiny, plan.peer, plan.dut, peer_memory, memory, 2});
    LinePeer wrong({tiny, other_plan.peer, plan.dut, peer_memory, memory, 2});
    from.messages(256, 4);
    from.send(true);
    unsigned data = 0, control = 0, srh = 0;
    const auto right = [&](const Frame& frame) {
      const wire::Packet p = wire::decode(frame.bytes, {.icrc_outer = outer});
      srh += p.srh.has_value();
      return p.outer_ipv6 && !p.error;
    };
    for (unsigned i = 0; i < 200; ++i) {
      const uint64_t now = i * 100'000;
      if (const FramePtr frame = from.next(i % 2, now)) {
        ++data;
        CHECK(right(*frame));
        CHECK(wrong.arrive(*frame, now).starts_with("a frame with a wrong ICRC"));
        CHECK(to.arrive(*frame, now) == "");
      }
      if (const FramePtr frame = to.next(i % 2, now)) {  // SACKs and ACKs
        ++control;
        CHECK(right(*frame));
        CHECK(from.arrive(*frame, now) == "");
      }
    }
    CHECK(data > 50);
    CHECK(control > 5);
    CHECK(srh > 0);
    CHECK(srh < data + control);
  }
}

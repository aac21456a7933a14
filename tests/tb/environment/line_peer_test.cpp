// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/line_peer.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "gen/csr.hpp"
#include "wire/decode.hpp"

namespace mrc::test::line_peer_test {

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
    from.messages(256, 4, false);
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

TEST_CASE("line peers number their immediates, and send no more than may be out", "[tb][bench][rates]") {
  const Preset& tiny = *find_preset("tiny");
  Scenario s;
  s.qps = 2;
  s.srv6_share = 0;
  const Plan plan = make_plan(tiny, s, 5);
  const SourceMemory memory(plan.dut.source_size, plan.dut.source_base, Rng(5, "dut"));
  const SourceMemory peer_memory(plan.peer.source_size, plan.peer.source_base, Rng(5, "peer"));
  const auto peer_of = [&](bool dut, bool immediates) {
    const SidePlan &own = dut ? plan.dut : plan.peer, &other = dut ? plan.peer : plan.dut;
    LinePeer peer({tiny, own, other, dut ? memory : peer_memory, dut ? peer_memory : memory, 1});
    peer.messages(256, 2, immediates);
    peer.send(dut);
    return peer;
  };
  // Nothing is acknowledged: each QP sends messages of two packets, and their immediates until max_wimm are out.
  LinePeer from = peer_of(true, true), to = peer_of(false, true), none = peer_of(false, false);
  std::vector<FramePtr> frames;
  for (unsigned i = 0; i < 2000; ++i) {  // QPs hold back a little at first
    if (FramePtr frame = from.next(0, 0)) frames.push_back(std::move(frame));
  }
  unsigned immediates = 0, most = 0;
  for (const FramePtr& frame : frames) {
    const wire::Packet p = wire::decode(frame->bytes);
    REQUIRE(p.meth);
    CHECK(p.immdt.has_value() == (p.bth->opcode == static_cast<uint8_t>(wire::Opcode::WriteLastImm)));
    if (!p.immdt) continue;
    ++immediates;
    CHECK((p.immdt->value & 0xffff) == p.meth->msn);
    const unsigned qp = p.immdt->value >> 16;
    CHECK(p.meth->rqmsn == static_cast<uint16_t>(plan.dut.qps[qp].rqmsn + p.meth->msn - plan.dut.qps[qp].msn));
  }
  for (const SidePlan::Qp& q : plan.dut.qps) {
    if (q.peer < plan.peer.qps.size()) most += std::min(q.max_wimm, plan.peer.qps[q.peer].max_wimm_dest);
  }
  CHECK(most > 0);
  CHECK(immediates == most);
  REQUIRE(frames.size() == 2 * most);
  // Who expects none says so; who expects them takes them, and with its ACKs more go out.
  CHECK(none.arrive(*frames[0], 0) == "");
  CHECK(none.arrive(*frames[1], 0).ends_with("an immediate too many"));
  for (const FramePtr& frame : frames) CHECK(to.arrive(*frame, 0) == "");
  CHECK(from.next(0, 0) == nullptr);
  for (uint64_t now = 1'000'000; now < 200'000'000; now += 1'000'000) {
    if (const FramePtr frame = to.next(0, now)) CHECK(from.arrive(*frame, now) == "");
  }
  CHECK(from.next(0, 200'000'000) != nullptr);
}

}  // namespace mrc::test::line_peer_test

// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/sent_rules.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "gen/csr.hpp"
#include "wire/packet.hpp"

namespace mrc::test::sent_rules_test {

using namespace mrc::tb;
using Catch::Matchers::ContainsSubstring;

namespace {

const Preset& kTiny = *find_preset("tiny");

/// A plan with one QP of each kind: 0 with a class of its own, 1 without.
SidePlan plan_of() {
  Scenario s;
  s.qps = 2;
  s.max_wimm = 2;
  SidePlan plan = make_plan(kTiny, s, 5).dut;
  plan.qps[0].own_class = true;
  plan.qps[0].class_data = 20;
  plan.qps[0].class_rtx = 21;
  return plan;
}

struct Sent {
  wire::Opcode opcode;
  unsigned dscp;
  bool rtx = false;
  uint16_t msn = 0;
  unsigned payload = 100;
  std::optional<uint32_t> length = {};
};

std::vector<uint8_t> frame_to(QpIndex peer, const Sent& f) {
  wire::Packet p = wire::make_packet(f.opcode, wire::Encapsulation::Ipv6, false);
  p.ipv6->dscp = static_cast<uint8_t>(f.dscp);
  p.bth->dqp = peer + kQpnBase;
  p.bth->rtx = f.rtx;
  if (p.meth) p.meth->msn = f.msn;
  if (p.aeth) p.aeth->msn = f.msn;
  if (p.reth) {
    p.reth->dma_length = f.length.value_or(f.payload);
    p.payload.assign(f.payload, 1);
  }
  wire::complete(p);
  return wire::encode(p);
}

}  // namespace

TEST_CASE("a frame has the code point of its class", "[tb][sent][A-79]") {
  const SidePlan plan = plan_of();
  SentRules rules(plan);
  const auto sent = [&](unsigned qp, const Sent& f) {
    const auto frame = frame_to(plan.qps[qp].peer, f);
    return rules.sent(frame, look_at(frame));
  };
  const unsigned data = csr::kDscpTxData.get(plan.dscp_tx), rtx = csr::kDscpTxRtx.get(plan.dscp_tx),
                 ctl = csr::kDscpTxCtl.get(plan.dscp_tx);
  CHECK(sent(0, {wire::Opcode::WriteOnly, 20}).empty());
  CHECK(sent(0, {wire::Opcode::WriteOnly, 21, true}).empty());
  CHECK(sent(0, {wire::Opcode::ProbeRequest, 20}).empty());
  CHECK(sent(1, {wire::Opcode::WriteOnly, data}).empty());
  CHECK(sent(1, {wire::Opcode::WriteOnly, rtx, true}).empty());
  CHECK(sent(0, {wire::Opcode::Sack, ctl}).empty());
  CHECK_THAT(sent(0, {wire::Opcode::WriteOnly, rtx, true}), ContainsSubstring("instead of 21, that of its QP's class"));
  CHECK_THAT(sent(0, {wire::Opcode::WriteOnly, data}), ContainsSubstring("instead of 20"));
  CHECK_THAT(sent(0, {wire::Opcode::ProbeRequest, data}), ContainsSubstring("instead of 20"));
  CHECK_THAT(sent(1, {wire::Opcode::WriteOnly, 20}), ContainsSubstring("QPs without a class of their own"));
  CHECK_THAT(sent(0, {wire::Opcode::Sack, 20}), ContainsSubstring("that of control packets"));
  rules.reset(0);  // what is left inside may have either
  CHECK(sent(0, {wire::Opcode::WriteOnly, data}).empty());
  rules.connected(0);
  CHECK_FALSE(sent(0, {wire::Opcode::WriteOnly, data}).empty());
}

TEST_CASE("a WRITE has no payload exactly if it says that it has no bytes", "[tb][sent][A-19]") {
  const SidePlan plan = plan_of();
  SentRules rules(plan);
  const auto sent = [&](wire::Opcode opcode, unsigned payload, uint32_t length) {
    const auto frame = frame_to(plan.qps[0].peer, {opcode, 20, false, plan.qps[0].msn, payload, length});
    return rules.sent(frame, look_at(frame));
  };
  CHECK(sent(wire::Opcode::WriteOnly, 0, 0).empty());
  CHECK(sent(wire::Opcode::WriteOnlyImm, 0, 0).empty());
  CHECK(sent(wire::Opcode::WriteOnly, 3, 3).empty());
  CHECK_THAT(sent(wire::Opcode::WriteOnly, 0, 3), ContainsSubstring("has no payload and DMA length 3"));
  CHECK_THAT(sent(wire::Opcode::WriteOnly, 3, 0), ContainsSubstring("has a payload and DMA length 0"));
  CHECK_FALSE(sent(wire::Opcode::WriteLast, 0, 0).empty());
}

TEST_CASE("no more than max_wimm immediates are on their way", "[tb][sent][A-62]") {
  const SidePlan plan = plan_of();
  REQUIRE(plan.qps[0].max_wimm == 2);
  SentRules rules(plan);
  const auto msn = [&](int n) { return static_cast<uint16_t>(plan.qps[0].msn + n); };
  const auto sent = [&](int n, bool rtx = false) {
    const auto frame = frame_to(plan.qps[0].peer, {wire::Opcode::WriteOnlyImm, rtx ? 21u : 20u, rtx, msn(n), 0, 0});
    return rules.sent(frame, look_at(frame));
  };
  const auto acked = [&](int n) {
    const auto frame = frame_to(0, {wire::Opcode::Ack, 46, false, msn(n)});  // to QP 0 here
    rules.came(frame, look_at(frame));
  };
  CHECK(sent(1).empty());
  CHECK(sent(0).empty());        // planes overtake each other
  CHECK(sent(1, true).empty());  // again
  SECTION("one too many") { CHECK_THAT(sent(2), ContainsSubstring("while 2 are on their way, and 2 may be")); }
  SECTION("each ACK makes room for what it names") {
    acked(1);
    CHECK(sent(2).empty());
    CHECK(sent(0, true).empty());  // a copy of what is acknowledged
    CHECK_FALSE(sent(3).empty());
  }
  SECTION("an old ACK makes none") {
    acked(0);
    CHECK_FALSE(sent(2).empty());
  }
}

}  // namespace mrc::test::sent_rules_test

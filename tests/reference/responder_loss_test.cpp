// SPDX-License-Identifier: Apache-2.0
/// What a NIC may have lost, and what it may not: by discards that it counts, at ports that change, at carriers that
/// come and go by themselves.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "reference/responder_judge.hpp"
#include "tests/reference/responder_bench.hpp"

namespace mrc::test::responder_loss_test {

using namespace mrc::ref;

TEST_CASE("more packets without an answer than the device has discarded are found, however many have one",
          "[reference.responder]") {
  for (const uint64_t drops : {0, 1, 2, 3, 4}) {
    ResponderBench b(true);
    b.start();
    for (uint32_t i = 0; i < 10; ++i) {
      wire::Packet p = b.write(i, static_cast<uint16_t>(i));
      p.bth->a = p.bth->rtx = 1;  // two obligations
      const log::Time at = (10 + 20 * i) * kUs;
      b.put(false, p, at);
      const bool silent = i == 2 || i == 5 || i == 8;
      if (!silent) b.put(true, b.sack(i, static_cast<int>(i), 0, 0, units(i + 1)), at + kUs);
      b.put(true, b.ack(i, i + 1), at + kUs);
    }
    b.end(300 * kUs, drops);
    const uint64_t found = 3 - std::min<uint64_t>(drops, 3);
    CHECK(b.broken(Rule::RespSackAsk) == found);
    CHECK(b.broken(Rule::RespSackRtx) == found);
    CHECK(b.ok(Rule::RespSackAsk) == 7);
    CHECK(b.report.tally(Rule::RespSackAsk).inconclusive == 0);
    CHECK(b.report.verdict() == (found == 0 ? Verdict::Pass : Verdict::Fail));
  }
}

TEST_CASE("a port that changes may have lost the NACK of a packet, which then has not arrived",
          "[reference.responder]") {
  for (const bool changes : {false, true}) {
    ResponderBench b;
    b.profile.planes = 2;
    b.start();
    b.put(false, b.write(1, 1), 10 * kUs);
    if (changes) b.judge->port({0, false}, 11 * kUs);
    if (changes) b.judge->port({0, true}, 15 * kUs);
    b.put(false, b.write(0, 0), 30 * kUs, 0, 1);
    b.put(true, b.sack(0, 0, 0, 0, units(1)), 31 * kUs, 0, 1);
    b.put(true, b.ack(0, 1), 31 * kUs, 0, 1);
    b.end(31 * kUs);
    CHECK(b.broken(Rule::RespOooLeast) == (changes ? 0 : 1));
    CHECK(b.report.tally(Rule::RespCackTaken).rests.size() == (changes ? 1 : 0));
  }
}

TEST_CASE("a carrier that comes or goes by itself puts rules at rest near that moment alone", "[reference.responder]") {
  for (const log::Time when : {5 * kUs, 9 * kUs, 12 * kUs, 20 * kUs}) {
    ResponderBench b;
    b.start();
    b.judge->counter({"carriers_by_themselves", 1}, when);
    wire::Packet p = b.write(0, 0);
    p.bth->a = 1;
    b.put(false, p, 10 * kUs);
    b.end(60 * kUs);
    const bool near = when == 9 * kUs || when == 12 * kUs;  // a latency is 2.7 us
    CHECK(b.broken(Rule::RespSackAsk) == (near ? 0 : 1));
    CHECK(b.report.tally(Rule::RespSackAsk).rests.size() == (near ? 1 : 0));
  }
}

TEST_CASE("an ACK may be lost where a port changed when a SACK told of its message", "[reference.responder]") {
  for (const bool changes : {true, false}) {
    CAPTURE(changes);
    ResponderBench b;
    b.profile.planes = 2;
    b.start();
    b.put(false, b.write(0, 0), 10 * kUs);
    if (changes) b.judge->port({1, false}, 11 * kUs);
    b.put(true, b.sack(0, 0, 0, 0, units(1)), 12 * kUs);
    b.put(false, b.write(2, 2), 40 * kUs);  // the next packet: a gap, so nothing more is complete
    b.end(60 * kUs);
    CHECK(b.broken(Rule::RespAckOwed) == (changes ? 0 : 1));
    CHECK(b.report.tally(Rule::RespAckOwed).rests.size() == (changes ? 1 : 0));
  }
}

TEST_CASE("a NIC answers on planes that work here and that its peer says work there", "[reference.responder]") {
  for (const uint32_t mask : {0b010U, 0b110U, 0b000U}) {
    ResponderBench b;
    b.profile.planes = 2;
    b.start();
    wire::Packet status = b.packet(wire::Opcode::EndpointRequest, true);
    status.bth->dqp = wire::kEndpointDqp;
    status.erth->port_status_mask = mask;
    b.put(false, status, 10 * kUs);
    b.judge->port({0, false}, 20 * kUs);
    wire::Packet p = b.write(0, 0);
    p.bth->a = 1;
    b.put(false, p, 40 * kUs, 0, 1);
    b.end(60 * kUs);
    // Plane 0 is down here, plane 1 there; a mask without any bit says nothing, since some port sent it.
    CHECK(b.broken(Rule::RespSackAsk) == (mask == 0b010 ? 0 : 1));
  }
}

}  // namespace mrc::test::responder_loss_test

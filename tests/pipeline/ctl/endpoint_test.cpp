// SPDX-License-Identifier: Apache-2.0
#include "protocol/endpoint.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "gen/csr.hpp"
#include "tests/pipeline/ctl/endpoint_bench.hpp"

namespace mrc::test::endpoint_test {

using namespace endpoint_bench;

TEST_CASE("a port that changes is told to every peer, with the bits of the ports", "[endpoint]") {
  Bench b;
  b.set_up(3, 1);
  b.set_up(2, 2);
  b.run(500);
  CHECK(b.sent.empty());  // all ports up: that is what a new peer takes for granted
  b.up = 1;
  b.run(300);
  REQUIRE(b.sent.size() == 2);
  for (const Ctlpkt& c : b.sent) {
    CHECK(c.opcode == 0xD8);
    CHECK(c.plane == 0);
    CHECK(c.ev == 0x10000000);
    CHECK(c.ext_len == 16);
    CHECK(op(c) == 0);
    CHECK(mask(c) == 0b010);  // port 1
    const unsigned dest = c.psn & 0xff;
    CHECK(c.psn == 0x0100 + dest);  // number 1
    CHECK(c.qp == (dest == 1 ? 3 : 2));
  }
  CHECK(b.sent[0].psn != b.sent[1].psn);
  CHECK(b.reqs == 2);
}

TEST_CASE("with ports counted from 0 bit p is plane p", "[endpoint]") {
  Bench b;
  b.csr.ports_from_0 = true;
  b.set_up(0, 0);
  b.up = 2;
  CHECK(mask(b.request(1)) == 0b10);
  b.hear(0, 7, address(1000), 0b01);
  REQUIRE(b.pmasks.size() == 1);
  CHECK(b.pmasks[0].mask == 0b01);
}

TEST_CASE("an update is repeated every interval until it is answered", "[endpoint]") {
  Bench b;
  b.set_up(0, 0);
  b.run_to_tick(2);
  b.up = 1;
  CHECK(b.request(1).psn == 0x0100);
  CHECK(b.request(2).psn == 0x0200);
  CHECK(b.request(3).psn == 0x0300);
  // Sent in tick 2; in tick 12 the wait ends at the first visit and the update goes with the next one.
  CHECK(b.sent_tick == std::vector<unsigned>{2, 12, 22});
  b.answer(0x0200);  // overtaken
  b.answer(0x0301);  // another destination
  CHECK(b.drops == 2);
  CHECK(b.request(4).psn == 0x0400);
  b.answer(0x0400);
  CHECK(b.drops == 2);
  b.answer(0x0400);  // once more
  CHECK(b.drops == 3);
  b.run(100 * 128);
  CHECK(b.sent.size() == 4);
}

TEST_CASE("the number of an update wraps at 64, with 4096 destinations at 4", "[endpoint]") {
  SECTION("tiny") {
    Bench b;
    b.csr.ep_interval = 0;
    b.set_up(0, 3);
    b.up = 1;
    CHECK(b.request(63).psn == 0x3f03);
    CHECK(b.request(64).psn == 0x0003);
  }
  SECTION("4096 destinations: an answer ends the update to its own, by all bits") {
    Bench b(many_dests(4096));
    b.csr.ep_interval = 4000;
    const auto request = [&b](std::size_t n) {
      for (unsigned i = 0; i < 300'000 && b.sent.size() < n; ++i) b.cycle();
      return b.request(n).psn;
    };
    b.set_up(0, 0x103);
    b.set_up(1, 0xf03);
    b.run_to_tick(32);
    b.up = 1;
    request(2);
    CHECK(b.sent[0].psn == 0x1103);
    CHECK(b.sent[1].psn == 0x1f03);
    b.answer(0x1003);  // nobody's
    b.answer(0x2f03);  // not yet sent
    CHECK(b.drops == 2);
    b.answer(0x1f03);
    CHECK(b.drops == 2);
    CHECK(request(3) == 0x2103);
    CHECK(request(4) == 0x3103);
    CHECK(request(5) == 0x0103);
    b.answer(0x3103);
    CHECK(b.drops == 3);
    b.answer(0x0103);
    CHECK(b.drops == 3);
    b.run(3 * 16 * 4096);
    CHECK(b.sent.size() == 5);
  }
}

TEST_CASE("a port that changes while an update is under way starts it again", "[endpoint]") {
  Bench b;
  b.set_up(0, 0);
  b.run_to_tick(2);
  b.up = 1;
  b.request(1);
  b.up = 2;
  CHECK(mask(b.request(2)) == 0b100);
  CHECK(b.sent_tick[1] < 5);  // not after the interval
  b.answer(0x0100);           // tells nothing about the new state
  CHECK(b.drops == 1);
  b.answer(0x0200);
  b.run(3000);
  CHECK(b.sent.size() == 2);
  b.up = 3;  // up again likewise
  CHECK(mask(b.request(3)) == 0b110);
}

TEST_CASE("with all ports down nothing is sent until one is up", "[endpoint]") {
  Bench b;
  b.set_up(0, 0);
  b.up = 0;
  b.run(3000);
  CHECK(b.sent.empty());
  b.up = 2;
  CHECK(b.request(1).plane == 1);
}

TEST_CASE("ports that fall in the cycle before an update leaves stop it", "[endpoint]") {
  Bench b;
  b.csr.port_wait = true;
  b.set_up(0, 0);
  b.up = 1;
  // Destination 0 is visited in cycle 16, and the update leaves in cycle 17.
  while (b.cycles != 17) b.cycle();
  b.up = 0;
  b.run(200);
  CHECK(b.reqs == 0);
  b.up = 1;
  CHECK(b.request(1).psn == 0x0100);  // it took no number
}

TEST_CASE("a new destination is told when a port is down; a QP that leaves is not", "[endpoint]") {
  Bench b;
  b.up = 2;
  b.run(100);
  b.set_up(0, 1, QpState::Reset);
  b.run(500);
  CHECK(b.sent.empty());
  b.set_up(0, 1, QpState::Rtr);
  CHECK(b.request(1).psn == 0x0101);
  b.answer(0x0101);
  b.set_up(3, 1, QpState::Rts);  // its newest QP; and it is told again
  CHECK(b.request(2).psn == 0x0201);
  CHECK(b.sent[1].qp == 3);
}

TEST_CASE("updates take turns over the planes that both ends can use", "[endpoint]") {
  Bench b("asic800");
  b.csr.ep_interval = 0;
  b.set_up(0, 0);
  b.configure(CfgTable::PeerPorts, 0, {0b0101'0110});  // planes 1, 2, 4, 6
  b.up = 0b1111'0110;
  std::vector<unsigned> planes;
  for (std::size_t i = 1; i <= 5; ++i) planes.push_back(b.request(i).plane);
  CHECK(planes == std::vector<unsigned>{1, 2, 4, 6, 1});
  CHECK(b.sent[2].ev == 0x10000004);
  b.configure(CfgTable::PeerPorts, 256, {0b0000'1001});  // destination 0: nothing in common
  planes.clear();
  for (std::size_t i = 6; i <= 9; ++i) planes.push_back(b.request(i).plane);
  CHECK(planes == std::vector<unsigned>{2, 4, 5, 6});
}

TEST_CASE("a peer's update goes to csr and is answered through the QP that leads there", "[endpoint]") {
  Bench b;
  b.set_up(1, 0);
  b.set_up(2, 2);
  b.hear(0, 0x1234, address(1002), 0b100, 1);
  REQUIRE(b.pmasks.size() == 1);
  CHECK(b.pmasks[0] == Pmask{.dest = 2, .mask = 0b10});
  REQUIRE(b.responses.size() == 1);
  Resp want{};
  want.kind = CtlKind::Endpoint;
  want.qp = 2;
  want.plane = 1;
  want.psn = 0x1234;
  want.reason = 0;
  want.ts = 0x1111;
  want.tsv = true;
  want.at = 0x2222;
  CHECK(b.responses[0] == want);
  CHECK(b.rsps == 1);
  CHECK(b.drops == 0);
}

TEST_CASE("an update that comes after a newer one counts until the next", "[endpoint]") {
  Bench b;
  b.set_up(1, 0);
  b.set_up(2, 2);
  b.hear(0, 0x0202, address(1002), 0b100);  // number 2
  b.hear(0, 0x0102, address(1002), 0b110);  // number 1, which the fabric has held back
  REQUIRE(b.pmasks.size() == 2);
  CHECK(b.pmasks[0] == Pmask{.dest = 2, .mask = 0b10});
  CHECK(b.pmasks[1] == Pmask{.dest = 2, .mask = 0b11});  // nobody looks at the number
  b.hear(0, 0x0302, address(1002), 0b100);
  REQUIRE(b.pmasks.size() == 3);
  CHECK(b.pmasks[2] == Pmask{.dest = 2, .mask = 0b10});
  // Each is answered with its own id, so that the peer, which knows its newest, repeats that one until it is heard.
  REQUIRE(b.responses.size() == 3);
  CHECK(b.responses[0].psn == 0x0202);
  CHECK(b.responses[1].psn == 0x0102);
  CHECK(b.responses[2].psn == 0x0302);
  CHECK(b.rsps == 3);
  CHECK(b.drops == 0);
}

TEST_CASE("an EV probe is answered and changes nothing", "[endpoint]") {
  Bench b;
  b.set_up(1, 3);
  b.hear(1, 0x4001, address(1003), 0b010);
  CHECK(b.pmasks.empty());
  REQUIRE(b.responses.size() == 1);
  CHECK(b.responses[0].reason == 1);
  CHECK(b.responses[0].qp == 1);
}

TEST_CASE("requests from addresses nobody has named, and unknown operations, are dropped", "[endpoint]") {
  Bench b;
  b.set_up(1, 3);
  b.hear(0, 1, address(999), 0b110);
  b.hear(1, 1, 0, 0);  // destinations that are not set up have no address
  b.hear(2, 1, address(1003));
  b.hear(3, 1, address(1003));
  b.answer(0x4000);  // the controller has asked for nothing
  CHECK(b.drops == 5);
  CHECK(b.responses.empty());
  CHECK(b.pmasks.empty());
  CHECK(b.rsps == 0);
}

TEST_CASE("the controller's probe goes out on its plane with its EV, and the answer tells the round trip",
          "[endpoint]") {
  Bench b;
  b.set_up(1, 2);
  b.probe(2, 1, 0xCAFE0001);
  const Ctlpkt& c = b.request(1);
  CHECK(c.opcode == 0xD8);
  CHECK(op(c) == 1);
  CHECK(c.psn == 0x4001);
  CHECK(c.plane == 1);
  CHECK(c.ev == 0xCAFE0001);
  CHECK(c.qp == 1);
  CHECK(mask(c) == 0b110);
  b.answer(0x4002);  // not this one
  b.answer(0x8001);  // nor a reverse path's
  CHECK(b.evrs.empty());
  CHECK(b.drops == 2);
  b.answer(0x4001, 0xfff0, 0x0010);
  REQUIRE(b.evrs.size() == 1);
  CHECK(b.evrs[0] == Evr{.answered = true, .rtt = 0x20});
  b.answer(0x4001);
  CHECK(b.drops == 3);
  b.run_to_tick(30);
  CHECK(b.evrs.size() == 1);
  b.probe(2, 0, 1);
  CHECK(b.request(2).psn == 0x4002);
}

TEST_CASE("requests have the code point of DSCP_TX.ep; a probe of the controller its own, if it names one",
          "[endpoint][A-60]") {
  Bench b;
  b.csr.dscp_ep = 9;
  b.set_up(0, 1);
  b.probe(1, 0, 1);
  CHECK(b.request(1).tc == 9);
  b.answer(b.sent.back().psn);
  b.csr.dscp_ep = 33;
  b.probe(1, 0, 2, false, 20);  // not valid
  CHECK(b.request(2).tc == 33);
  b.answer(b.sent.back().psn);
  b.probe(1, 0, 3, true, 20);
  CHECK(b.request(3).tc == 20);
  b.answer(b.sent.back().psn);
  b.probe(1, 0, 4, true, 0);  // 0 is a code point
  CHECK(b.request(4).tc == 0);
  b.answer(b.sent.back().psn);
  b.probe(1, 0, 5);  // the one before has left nothing behind
  CHECK(b.request(5).tc == 33);
  b.answer(b.sent.back().psn);
  b.up = 1;  // a port status update, while the controller's probe names one
  b.probe(1, 0, 6, true, 20);
  b.want.load({.dest = 1, .plane = 0});
  b.request(8);
  unsigned own = 0;
  for (std::size_t i = 5; i < 8; ++i) {
    const Ctlpkt& c = b.sent[i];
    const bool controllers = c.psn >> 14 == 1;
    CHECK(c.tc == (controllers ? 20 : 33));
    own += controllers;
  }
  CHECK(own == 1);
}

TEST_CASE("time stamps in microseconds: in requests, and in the round trip", "[endpoint]") {
  Bench b;
  b.csr.tsr_us = true;
  b.csr.ep_interval = 1000;
  b.set_up(1, 2);
  b.run_to_tick(41);
  b.probe(2, 1, 0xCAFE0001);
  CHECK(b.request(1).ext[3] == 0x0180'0500);  // 41 / 8; tsr 1, ftype 1
  b.answer(0x4001, 0xfffe, 0x0017);           // stamp -2, answered at stamp 2
  REQUIRE(b.evrs.size() == 1);
  CHECK(b.evrs[0] == Evr{.answered = true, .rtt = 32});
}

TEST_CASE("a probe that is not answered, or cannot be sent, is given up after the interval", "[endpoint]") {
  Bench b;
  b.set_up(1, 2);
  b.probe(2, 1, 5);
  b.request(1);
  b.run_to_tick(10);
  CHECK(b.evrs.empty());
  b.run(5);
  REQUIRE(b.evrs.size() == 1);
  CHECK(b.evrs[0] == Evr{.answered = false, .rtt = 0});
  b.answer(0x4001, 1, 9);  // too late
  CHECK(b.evrs.size() == 1);
  CHECK(b.drops == 1);
  b.up = 1;  // plane 1 is down: it waits for the port
  b.request(2);
  b.answer(0x0102);
  b.probe(2, 1, 6);
  b.run_to_tick(25);
  CHECK(b.sent.size() == 2);
  CHECK(b.evrs.size() == 2);
  b.probe(2, 1, 7);
  b.up = 3;
  b.run(100);
  REQUIRE(b.sent.size() == 4);
  CHECK(b.sent[2].ev == 7);  // then the update: the port is up again
}

TEST_CASE("a probe to a destination that no QP leads to fails at once", "[endpoint]") {
  Bench b;
  b.probe(1, 0, 5);
  b.run(3);
  REQUIRE(b.evrs.size() == 1);
  CHECK_FALSE(b.evrs[0].answered);
  CHECK(b.sent.empty());
  b.set_up(1, 1);
  b.probe(4 + 1, 2, 5);  // destination and plane modulo their numbers
  CHECK(b.request(1).psn == 0x4001);
  CHECK(b.sent[0].plane == 0);
}

TEST_CASE("a probe that has not left yet is not answered", "[endpoint]") {
  Bench b;
  b.csr.port_wait = true;  // the update of the port that comes up takes its time
  b.set_up(1, 2);
  b.up = 1;
  b.request(1);
  b.answer(0x0102);
  b.probe(2, 1, 5);  // waits for port 1
  b.run(3);
  b.answer(0x4001);
  CHECK(b.drops == 1);
  CHECK(b.evrs.empty());
  b.up = 3;
  b.run(10);
  REQUIRE(b.sent.size() == 2);
  CHECK(b.sent[1].psn == 0x4001);
}

TEST_CASE("a reverse path on a plane that is down, here or at the peer, is not probed", "[endpoint]") {
  Bench b;
  b.set_up(1, 2);
  b.up = 1;
  b.request(1);
  b.answer(0x0102);
  b.want.load({.dest = 2, .plane = 1});
  b.run(10);
  CHECK(b.sent.size() == 1);  // the update
  b.up = 3;
  b.request(2);
  b.answer(0x0202);
  b.configure(CfgTable::PeerPorts, 2, {1});
  b.want.load({.dest = 2, .plane = 1});
  b.run(10);
  CHECK(b.sent.size() == 2);
  b.want.load({.dest = 2, .plane = 0});  // it waits for nobody
  b.run(10);
  REQUIRE(b.sent.size() == 3);
  CHECK(b.sent[2].psn == 0x8001);
  CHECK(b.sent[2].plane == 0);
}

TEST_CASE("a reverse path is probed with a new EV each time; one that works goes to ack_gen", "[endpoint]") {
  Bench b;
  b.set_up(1, 2);
  b.want.load({.dest = 2, .plane = 1});
  const Ctlpkt first = b.request(1);
  CHECK(op(first) == 1);
  CHECK(first.psn == 0x8001);
  CHECK(first.plane == 1);
  CHECK(first.ev == 0xA3000000);
  b.want.load({.dest = 2, .plane = 0});  // waits
  b.run(100);
  CHECK(b.sent.size() == 1);
  b.answer(0x8001);
  REQUIRE(b.okevs.size() == 1);
  CHECK(b.okevs[0] == Okev{.dest = 2, .plane = 1, .ev = 0xA3000000});
  const Ctlpkt second = b.request(2);
  CHECK(second.psn == 0x8002);
  CHECK(second.plane == 0);
  CHECK(second.ev == 0x51800000);
  b.run_to_tick(12);  // given up
  b.answer(0x8002);
  CHECK(b.drops == 1);
  CHECK(b.okevs.size() == 1);
  b.want.load({.dest = 1, .plane = 0});  // nobody there: nothing, and the EV is kept
  b.want.clock();
  b.want.clock();
  b.want.load({.dest = 2, .plane = 0});
  CHECK(b.request(3).ev == 0x28C00000);
  CHECK(b.sent[2].psn == 0x8003);
}

TEST_CASE("REV_SEED: entropy values of reverse-path probes go on from a new value, 0 counts as 1", "[endpoint][A-06]") {
  Bench b;
  b.set_up(1, 2);
  const auto next = [&] {
    b.want.load({.dest = 2, .plane = 1});
    const Ctlpkt& c = b.request(b.sent.size() + 1);
    const uint32_t ev = c.ev;
    b.answer(c.psn);
    return ev;
  };
  CHECK(next() == 0xA3000000);  // from 1, as after reset
  b.csr.rev_seed = 0x12345678;
  b.run(1);
  CHECK(next() == 0x091A2B3C);
  CHECK(next() == 0x048D159E);
  CHECK(next() == 0x02468ACF);
  CHECK(next() == 0xA2234567);  // 01234567 ^ A3000000
  b.csr.rev_seed = 0;
  b.run(1);
  CHECK(next() == 0xA3000000);
  CHECK(next() == 0x51800000);
  b.csr.rev_seed = 1;  // new, though it stands for the same
  b.run(1);
  CHECK(next() == 0xA3000000);
  CHECK(next() == 0x51800000);  // the same value again is not new
}

TEST_CASE("REV_SEED in the cycle of a new reverse-path probe: that one is of the old row, the next of the new",
          "[endpoint][A-06]") {
  // In which cycle the probe is taken is found by moving the write over all that may be.
  unsigned old_first = 0;
  for (unsigned at = 0; at < 8; ++at) {
    CAPTURE(at);
    Bench b;
    b.set_up(1, 2);
    b.want.load({.dest = 2, .plane = 1});
    b.run(at);
    b.csr.rev_seed = 0x12345678;
    const Ctlpkt first = b.request(1);
    b.answer(first.psn);
    b.want.load({.dest = 2, .plane = 1});
    const uint32_t second = b.request(2).ev;
    if (first.ev == 0xA3000000) {  // taken before the write, or with it
      ++old_first;
      CHECK(second == 0x091A2B3C);
    } else {
      CHECK(first.ev == 0x091A2B3C);
      CHECK(second == 0x048D159E);
    }
  }
  CHECK(old_first == 6);  // loaded before cycle 0, in the FIFO at the end of cycle 1, taken in cycle 2
}

TEST_CASE("both kinds of probe and an update can be under way at once", "[endpoint]") {
  Bench b;
  b.set_up(1, 2);
  b.up = 1;
  b.want.load({.dest = 2, .plane = 0});
  b.probe(2, 0, 77);
  b.request(3);
  for (const Ctlpkt& c : b.sent) b.answer(c.psn);
  CHECK(b.drops == 0);
  CHECK(b.evrs.size() == 1);
  CHECK(b.okevs.size() == 1);
  b.run_to_tick(40);
  CHECK(b.sent.size() == 3);
}

TEST_CASE("what others do not take holds requests and answers up, and loses none", "[endpoint]") {
  Bench b;
  b.set_up(1, 2);
  b.take = false;
  for (uint16_t i = 0; i < 6; ++i) {
    for (unsigned n = 0; n < 100 && !b.eprx.free(); ++n) b.cycle();
    if (!b.eprx.free()) break;
    Eprx e{.op = 1, .id = i, .sip = address(1002)};
    b.eprx.load(e);
    b.run(20);
  }
  CHECK(b.rsps == 3);  // two in the FIFO, one in the register
  b.take = true;
  b.run(100);
  CHECK(b.responses.size() == 6);
  for (uint16_t i = 0; i < 6; ++i) CHECK(b.responses[i].psn == i);
}

TEST_CASE("endpoint acknowledges tables it does not know in one cycle", "[endpoint]") {
  Bench b;
  b.cfg = {true, static_cast<uint8_t>(CfgTable::Mr), 1, {}};
  b.cycle();
  CHECK(b.block.cfg_ack());
  b.cfg.req = false;
  b.cycle();
  CHECK_FALSE(b.block.cfg_ack());
}

TEST_CASE(
    "EP_CTL.repeats: an update without an answer is sent again so often, then it is given up until a port changes",
    "[endpoint][A-60]") {
  for (const unsigned repeats : {0u, 1u, 2u, 14u}) {
    CAPTURE(repeats);
    Bench b;
    b.csr.ep_repeats = static_cast<uint8_t>(repeats);
    b.set_up(0, 0);
    b.up = 1;
    b.run(40 * 11 * 128);  // an interval of 10 ticks
    CHECK(b.sent.size() == 1 + repeats);
    b.answer(0x0100 * (1 + repeats));  // too late: nothing waits
    CHECK(b.drops == 1);
    b.up = 3;  // a port changes: as often again, each with the ports of now
    b.run(40 * 11 * 128);
    REQUIRE(b.sent.size() == 2 * (1 + repeats));
    CHECK(mask(b.sent.back()) == 0b110);
  }
}

TEST_CASE("updates hurry when a port changes, if somebody is to hear of it", "[endpoint][port-loss][A-82]") {
  const auto spread = [](Bench& b) {
    for (unsigned q = 0; q < 4; ++q) b.set_up(q, q);
    b.run_to_tick(2);
    while (b.cycles % 16 != 3) b.cycle();
    const unsigned t = b.cycles;
    b.up = 1;
    b.run(10);  // the change is seen in cycle t, then Load; a visit and a Send for each of four destinations
    CHECK(b.reqs == (b.csr.port_wait ? 1 : 4));  // visit_due has waited for the first
    b.run(400);
    CHECK(b.reqs == 4);
    return b.cycles - t;
  };
  Bench hurries, waits;
  waits.csr.port_wait = true;
  spread(hurries);
  spread(waits);
  // Nobody is there to hear: the next two to be set up hear at their visits, as ever.
  Bench nobody;
  nobody.run_to_tick(2);
  nobody.up = 1;
  nobody.run(2);
  nobody.set_up(1, 3);
  nobody.set_up(0, 2);
  nobody.run(5);
  CHECK(nobody.reqs == 1);
  nobody.run(16);
  CHECK(nobody.reqs == 2);
}

TEST_CASE("updates that hurry wait for their way out, and none is left out", "[endpoint][port-loss][A-82]") {
  Bench b;
  for (unsigned q = 0; q < 4; ++q) b.set_up(q, q);
  b.run_to_tick(2);
  b.take = false;
  b.up = 1;
  b.run(300);
  CHECK(b.reqs == 3);  // two in the FIFO, one in the register
  b.take = true;
  b.run(6);
  CHECK(b.reqs == 4);
  b.run(2);
  std::vector<unsigned> reported;
  for (const Ctlpkt& c : b.sent) reported.push_back(c.psn & 0xff);
  std::sort(reported.begin(), reported.end());
  CHECK(reported == std::vector<unsigned>{0, 1, 2, 3});
}

TEST_CASE("an update without an answer is repeated after 64 ticks, 128 and so on, at last every interval",
          "[endpoint][port-loss][A-82]") {
  const auto sent = [](bool port_wait, uint8_t repeats) {
    Bench b;
    b.csr.port_wait = port_wait;
    b.csr.ep_interval = 300;
    b.csr.ep_repeats = repeats;
    b.set_up(0, 0);
    b.up = 1;
    b.run_to_tick(1000);
    std::vector<unsigned> gaps;
    for (std::size_t i = 1; i < b.sent_tick.size(); ++i) gaps.push_back(b.sent_tick[i] - b.sent_tick[i - 1]);
    return gaps;
  };
  // A visit every half tick finds that it is time, the next one sends: up to a tick more.
  const auto about = [](const std::vector<unsigned>& gaps, const std::vector<unsigned>& waits) {
    REQUIRE(gaps.size() == waits.size());
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      CHECK(gaps[i] >= waits[i]);
      CHECK(gaps[i] <= waits[i] + 1);
    }
  };
  about(sent(false, 15), {64, 128, 256, 300});
  about(sent(false, 3), {64, 128, 256});
  about(sent(true, 15), {300, 300, 300});
  about(sent(true, 2), {300, 300});
  CHECK(ep_update_wait(65535, 9, false) == 32768);
  CHECK(ep_update_wait(65535, 10, false) == 65535);
  CHECK(ep_update_wait(65535, 15, false) == 65535);
  CHECK(ep_update_wait(20, 0, false) == 20);
  CHECK(ep_update_wait(781, 0, true) == 781);
}

TEST_CASE("EP_CTL.repeats: 15 is for ever", "[endpoint][A-60]") {
  Bench b;
  b.set_up(0, 0);
  b.up = 1;
  b.run(40 * 11 * 128);
  CHECK(b.sent.size() > 35);
}

TEST_CASE("EP_CTL.repeats: of what was sent while it was 15 ten count at most", "[endpoint][port-loss][A-60][A-82]") {
  const auto more = [](bool port_wait, uint8_t repeats) {
    Bench b;
    b.csr.port_wait = port_wait;
    b.csr.ep_repeats = 15;
    b.set_up(0, 0);
    b.up = 1;
    b.request(8);
    b.request(15);  // sent again 14 times
    b.csr.ep_repeats = repeats;
    b.run(40 * 11 * 128);
    return b.sent.size() - 15;
  };
  CHECK(more(false, 10) == 0);
  CHECK(more(false, 12) == 2);
  CHECK(more(false, 14) == 4);
  CHECK(more(true, 3) == 3);
}

TEST_CASE("EP_CTL.repeats counts per destination, and anew for a destination that a QP names again",
          "[endpoint][A-60]") {
  Bench b;
  b.csr.ep_repeats = 1;
  b.set_up(0, 0);
  b.up = 1;
  b.run(40 * 128);
  CHECK(b.sent.size() == 2);
  b.set_up(1, 1);  // new, and not all ports are up
  b.run(40 * 128);
  REQUIRE(b.sent.size() == 4);
  CHECK((b.sent[2].psn & 0xff) == 1);
  CHECK((b.sent[3].psn & 0xff) == 1);
  b.set_up(2, 0);
  b.run(40 * 128);
  CHECK(b.sent.size() == 6);
}

TEST_CASE("answers to tx_probe's EV probes go to tx_probe, whatever their number", "[endpoint][A-32]") {
  Bench b;
  b.set_up(0, 0);
  b.answer(0xc000);
  b.answer(0xffff);
  CHECK(b.panss == std::vector<Pans>{{.id = 0}, {.id = 0x3fff}});
  CHECK(b.drops == 0);
  CHECK(b.evrs.empty());
  CHECK(b.okevs.empty());
}

TEST_CASE("requests and answers wait while tx_probe takes no answer", "[endpoint][A-32]") {
  Bench b;
  b.set_up(0, 0);
  b.take = false;
  for (unsigned i = 0; i < 5; ++i) b.answer(0xc000 + i);  // output register and FIFO hold three
  b.run(50);
  CHECK(b.eprx.count() > 0);
  b.take = true;
  b.run(50);
  REQUIRE(b.panss.size() == 5);
  for (unsigned i = 0; i < 5; ++i) CHECK(b.panss[i].id == i);
}

TEST_CASE("packets of peers without end, and all else in turn with them", "[endpoint]") {
  Bench b;
  for (unsigned d = 0; d < 4; ++d) {  // all addresses in one bucket
    b.configure(CfgTable::QpCtx, d,
                csr::TblQpCtx{.dip = address(11 + 4 * d), .dest = static_cast<uint8_t>(d), .state = QpState::Init});
  }
  const auto flood = [&](unsigned cycles, unsigned from = 7) {  // of requests from an address that nobody knows
    for (unsigned i = 0; i < cycles; ++i) {
      if (b.eprx.free()) b.eprx.load({.op = 0, .sip = address(from)});
      b.cycle();
    }
  };
  flood(1000, 6);
  CHECK(b.drops > 900);  // a cycle each where nobody shares the bucket, those of visits apart
  b.drops = 0;
  flood(1000);
  CHECK(b.drops > 180);  // five cycles each, those of visits apart
  b.up = 1;
  flood(40);  // four visits, each behind a packet at the most
  REQUIRE(b.sent.size() == 4);
  CHECK(op(b.sent[0]) == 0);
  b.evp.load({.dest = 0, .plane = 0, .ev = 77});
  flood(16);  // through its FIFO, a packet, taken, a packet, sent
  REQUIRE(b.sent.size() == 5);
  CHECK(b.sent[4].ev == 77);
  CHECK(b.evrs.empty());
  const unsigned before = b.drops;
  flood(11 * 128);  // given up after ten ticks; the updates are repeated after one interval
  REQUIRE(b.evrs.size() == 1);
  CHECK_FALSE(b.evrs[0].answered);
  CHECK(b.sent.size() == 9);
  CHECK(b.drops - before > 11 * 128 / 5 * 9 / 10);  // and the peers' packets have gone on
}

TEST_CASE("one address per plane: a request is known by its sender's address on the plane that it came on",
          "[endpoint][A-76]") {
  Bench b;
  b.set_up(1, 0);
  b.set_up(2, 2);
  b.csr.ip_plane_enable = true;
  b.run(12);  // the chains anew
  const auto on = [](unsigned dest, unsigned plane) { return address(1000 + dest) | static_cast<U128>(plane) << 64; };
  b.hear(0, 1, on(2, 0), 0b010, 0);
  b.hear(0, 2, on(2, 1), 0b100, 1);
  CHECK(b.pmasks == std::vector<Pmask>{{.dest = 2, .mask = 0b01}, {.dest = 2, .mask = 0b10}});
  b.hear(0, 3, on(2, 1), 0b100, 0);  // its address on another plane
  CHECK(b.drops == 1);
  b.csr.ip_plane_lsb = 1;  // 1002 has other bits there: they are the plane's number
  b.run(12);
  b.hear(0, 4, (address(1002) & ~U128{0b1110}) | 0b0010, 0b100, 1);
  CHECK(b.pmasks.size() == 3);
  CHECK(b.drops == 1);
  b.csr.ip_plane_enable = false;
  b.run(12);  // the chains anew
  b.hear(0, 5, on(2, 1), 0b100, 1);
  CHECK(b.drops == 2);
  b.hear(0, 6, address(1002), 0b100, 1);
  CHECK(b.drops == 2);
  CHECK(b.pmasks.size() == 4);
}

TEST_CASE("a lender that leaves is replaced by another QP that leads there; without one the destination goes",
          "[endpoint]") {
  Bench b;
  const auto lender = [&b] {
    b.responses.clear();
    b.hear(1, 7, address(1001));
    b.run(30);
    REQUIRE(b.responses.size() < 2);
    return b.responses.empty() ? -1 : static_cast<int>(b.responses[0].qp);
  };
  const auto reset = [&b](unsigned qp) {
    csr::TblQpState row{.state = QpState::Reset};
    b.configure(CfgTable::QpState, qp, row);
  };
  b.set_up(0, 2);
  b.set_up(1, 1);
  b.set_up(2, 1);
  b.set_up(3, 1);
  CHECK(lender() == 3);

  SECTION("the lender goes to RESET: another one") {
    reset(3);
    CHECK(lender() == 1);
    reset(2);  // lends nothing
    CHECK(lender() == 1);
    reset(1);  // the last one lends on, its row stands
    CHECK(lender() == 1);
    b.set_up(1, 1, QpState::Reset);
    CHECK(lender() == -1);
    b.set_up(2, 1);
    CHECK(lender() == 2);
  }
  SECTION("its row is written for another destination") {
    b.set_up(3, 3);
    CHECK(lender() == 1);
    b.set_up(1, 3);
    CHECK(lender() == 2);
    b.set_up(2, 3);
    CHECK(lender() == -1);
    CHECK(b.drops == 1);
  }
  SECTION("ERROR and other QPs change nothing") {
    csr::TblQpState row{.state = QpState::Error};
    b.configure(CfgTable::QpState, 3, row);
    b.set_up(1, 3);
    b.set_up(0, 1);
    CHECK(lender() == 0);
    b.set_up(0, 1, QpState::Rtr);
    reset(0);
    CHECK(lender() == 2);
  }
  SECTION("a probe that has not left when its destination goes never does") {
    b.up = 1;
    b.request(3);
    const auto before = b.reqs;
    b.probe(1, 1, 0x1234);  // its port is down
    for (const unsigned qp : {1u, 2u, 3u}) b.set_up(qp, 3);
    b.up = 3;
    b.run(40 * 128);
    for (std::size_t i = before; i < b.sent.size(); ++i) CHECK(op(b.sent[i]) == 0);
    REQUIRE(b.evrs.size() == 1);
    CHECK(!b.evrs[0].answered);
  }
  SECTION("what a destination without a lender was owed is forgotten") {
    b.up = 1;
    b.request(3);  // destinations 1, 2 and nobody's answer
    for (const unsigned qp : {1u, 2u, 3u}) b.set_up(qp, 1, QpState::Reset);
    const auto before = b.sent.size();
    b.run(30 * 128);
    REQUIRE(b.sent.size() > before);
    for (std::size_t i = before; i < b.sent.size(); ++i) CHECK((b.sent[i].psn & 0xff) == 2);
  }
}

}  // namespace mrc::test::endpoint_test

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ctl/ack_gen.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <vector>

#include "gen/csr.hpp"
#include "gen/headers.hpp"
#include "tests/pipeline/block_bench.hpp"

namespace mrc::test::ack_gen_test {
namespace {

/// ack_gen alone, its outputs taken at once. asic800: 8 planes. QP 5 leads to destination 7, QP 6 to destination 9 with
/// service time.
struct Bench : BlockBench<Bench> {
  Preset preset = *find_preset("asic800");
  Stream<Resp> resp{16}, eresp;
  Stream<Ackev> ackev;
  Stream<Okev> okev, eokev;
  Stream<Ctlpkt> ctlpkt;
  Stream<Want> want{16};
  Stream<Stateq> stateq;
  AckGen block{preset, {resp, ackev, eresp, okev, eokev, stateq}, ctlpkt, want};
  CsrOut csr;
  unsigned up = 0xff;
  bool take = true, take_want = true;
  std::vector<Ctlpkt> sent;
  std::vector<unsigned> sent_at;
  std::vector<Want> wants;

  Bench() {
    csr.rev_ev = {100, 101, 102, 103, 104, 105, 106, 107};
    csr.ep_interval = 10;
    csr.rev_probe = false;
    csr.ack_plane = true;
    set_up(5, 7, false);
    set_up(6, 9, true);
  }
  void set_up(unsigned qp, unsigned dest, bool svc_time, QpState state = QpState::Rtr) {
    csr::TblQpCtx row{.dest = static_cast<uint16_t>(dest), .dqpn = 0xab'1234, .svc_time = svc_time, .state = state};
    CHECK(configure(CfgTable::QpCtx, qp, row) == 1);
  }
  void peer_ports(unsigned dest, unsigned mask) {
    CHECK(configure(CfgTable::PeerPorts, dest, std::array<uint32_t, 16>{mask}) == 1);
  }
  bool cfg_ack() const { return block.cfg_ack(); }
  void cycle() {
    if (test::take(ctlpkt, sent, take)) sent_at.push_back(cycles);
    test::take(want, wants, take_want);
    block.step(cfg, csr, up);
    clock_all(block, resp, ackev, eresp, stateq, okev, eokev, ctlpkt, want);
    ++cycles;
  }
  static Resp nack(unsigned plane, QpIndex qp = 5) {
    Resp r{.kind = CtlKind::Nack, .qp = qp, .plane = static_cast<uint8_t>(plane)};
    return r;
  }
  static Resp sack(unsigned plane, QpIndex qp = 5) {
    Resp r = nack(plane, qp);
    r.kind = CtlKind::Sack;
    return r;
  }
  /// A QP has completed messages up to msn - 1; its newest one ends with psn.
  void complete(unsigned qp, uint32_t psn, unsigned msn, unsigned plane = 2, bool again = false) {
    while (!ackev.free()) cycle();
    ackev.load({.qp = static_cast<QpIndex>(qp),
                .plane = static_cast<uint8_t>(plane),
                .psn = psn,
                .msn = static_cast<uint16_t>(msn),
                .again = again});
    cycle();
  }
  Ctlpkt respond(const Resp& r) {
    const std::size_t n = sent.size();
    resp.load(r);
    run(6);
    REQUIRE(sent.size() == n + 1);
    return sent.back();
  }
  /// EV on which the response to QP 5 on a plane leaves.
  uint32_t ev(unsigned plane) { return respond(sack(plane)).ev; }
  void works(uint16_t dest, unsigned plane, uint32_t value) {
    okev.load({.dest = dest, .plane = static_cast<uint8_t>(plane), .ev = value});
    run(4);
  }
};

uint16_t time_of(const Ctlpkt& c) {  // of a NACK: bytes 18, 19
  const auto* b = reinterpret_cast<const uint8_t*>(c.ext.data());
  return static_cast<uint16_t>(b[18] << 8 | b[19]);
}

}  // namespace

TEST_CASE("a response leaves on its plane, or on the lowest that is up", "[ack_gen]") {
  Bench b;
  Ctlpkt c = b.respond(Bench::nack(3));
  CHECK(c.plane == 3);
  CHECK(c.ev == 103);
  CHECK(c.qp == 5);
  CHECK(c.opcode == 0xDD);
  CHECK(c.ext[2] == 0x34121500);  // spdcid 0x0015, dpdcid 0x1234
  b.up = 0xf0;
  c = b.respond(Bench::nack(3));
  CHECK(c.plane == 4);
  CHECK(c.ev == 104);
  b.up = 0;
  c = b.respond(Bench::nack(3));
  CHECK(c.plane == 0);
  CHECK(c.ev == 100);
}

TEST_CASE("a SACK carries what its sender's window is to do", "[ack_gen][A-78]") {
  Bench b;
  Resp r = Bench::sack(3);
  const auto byte = [&] {  // 4 of CC_STATE, behind SETH
    const Ctlpkt c = b.respond(r);
    return reinterpret_cast<const uint8_t*>(c.ext.data())[wire::Seth::kBytes + 4];
  };
  CHECK(byte() == 0);
  r.pen = 0x55;
  CHECK(byte() == 0x55);
  r.pen = 0;
  r.restore = true;
  CHECK(byte() == 0x80);
}

TEST_CASE("a response avoids planes that the peer cannot hear on, unless there is no other", "[ack_gen]") {
  Bench b;
  b.peer_ports(256 + 7, 0xf4);  // modulo 256
  CHECK(b.respond(Bench::nack(2)).plane == 2);
  CHECK(b.respond(Bench::nack(3)).plane == 2);
  CHECK(b.respond(Bench::nack(3, 6)).plane == 3);  // another destination
  b.up = 0x0b;
  CHECK(b.respond(Bench::nack(2)).plane == 0);
}

TEST_CASE("SACKs about data and ACKs take the planes in turn, other answers that of their cause", "[ack_gen]") {
  Bench b;
  b.csr.ack_plane = false;
  CHECK(b.respond(Bench::sack(6)).plane == 0);
  CHECK(b.respond(Bench::sack(6)).plane == 1);
  CHECK(b.respond(Bench::nack(6)).plane == 6);
  Resp probe = Bench::sack(6);
  probe.pr = true;
  CHECK(b.respond(probe).plane == 6);
  CHECK(b.respond(Bench::sack(6, 6)).plane == 2);  // one turn for all QPs
  b.peer_ports(7, 0xf7);
  CHECK(b.respond(Bench::sack(6)).plane == 6);  // plane 3's turn, which the peer cannot hear on
  CHECK(b.respond(Bench::sack(3)).plane == 4);
  b.up = 0x41;
  CHECK(b.respond(Bench::sack(3)).plane == 0);  // plane 5's turn, which is down, as is plane 3 there
  CHECK(b.respond(Bench::sack(3)).plane == 6);
  b.up = 0xff;
  for (unsigned plane : {7u, 0u, 1u}) CHECK(b.respond(Bench::sack(2)).plane == plane);
}

TEST_CASE("an ACK that is repeated goes on the plane of its cause", "[ack_gen][A-06][A-17]") {
  Bench b;
  b.csr.ack_plane = GENERATE(false, true);
  b.csr.ack_gap = 4;
  const auto ack = [&](unsigned plane, bool again) {
    const std::size_t n = b.sent.size();
    b.complete(5, 40, 7, plane, again);
    b.run(8);
    REQUIRE(b.sent.size() == n + 1);
    return b.sent.back().plane;
  };
  const bool turns = !b.csr.ack_plane;
  CHECK(ack(6, false) == (turns ? 0 : 6));
  CHECK(ack(6, true) == 6);
  CHECK(ack(5, true) == 5);
  CHECK(ack(6, false) == (turns ? 1 : 6));  // what was repeated took no turn
  b.up = 0xdf;
  CHECK(ack(5, true) == 0);  // its port is down: the lowest that is up
  b.up = 0xff;
  b.take = false;  // the QP completes another message before it may repeat the ACK of the one before
  b.resp.load(Bench::nack(3));
  b.run(4);
  b.complete(5, 40, 7, 6, true);
  b.complete(5, 44, 8, 6, false);
  b.run(4);
  b.take = true;
  const std::size_t n = b.sent.size();
  b.run(12);
  REQUIRE(b.sent.size() >= n + 2);
  CHECK(b.sent.back().psn == 44);
  CHECK((turns ? b.sent.back().plane < 4 : b.sent.back().plane == 6));
}

TEST_CASE("endpoint's answers go before the responder's", "[ack_gen]") {
  Bench b;
  Resp e{.kind = CtlKind::Endpoint, .qp = 5, .psn = 0x1234};
  b.take = false;
  for (int i = 0; i < 3; ++i) {
    b.resp.load(Bench::nack(0));
    b.run(4);
  }
  b.resp.load(Bench::nack(0));
  b.eresp.load(e);
  b.run(4);
  b.take = true;
  b.run(10);
  REQUIRE(b.sent.size() == 5);
  for (unsigned i = 0; i < 5; ++i) CHECK(b.sent[i].opcode == (i == 3 ? 0xD9 : 0xDD));
  CHECK(b.sent[3].psn == 0x1234);
}

TEST_CASE("time stamps go back as they came, or moved by the time the packet was held", "[ack_gen]") {
  Bench b;
  b.csr.tick = 0x1'0010;
  Resp r = Bench::nack(0);
  r.ts = 500;
  r.at = 0xfff0;
  r.tsv = true;
  CHECK(time_of(b.respond(r)) == 500);
  r.qp = 6;
  CHECK(time_of(b.respond(r)) == 532);
  r.tsv = false;
  CHECK(time_of(b.respond(r)) == 500);
}

TEST_CASE("service time in microseconds is rounded down", "[ack_gen]") {
  Bench b;
  b.csr.tsr_us = true;
  b.csr.tick = 0x1'0010;
  Resp r = Bench::nack(0, 6);
  r.ts = 500;
  r.at = 0xfff0;  // 32 ticks
  r.tsv = true;
  CHECK(time_of(b.respond(r)) == 504);
  r.at = 0xfff1;
  CHECK(time_of(b.respond(r)) == 503);
}

TEST_CASE("spdcid is the low half of the whole QPN", "[ack_gen]") {
  Bench b;
  const auto spdcid = [&] {
    return (b.respond(Bench::sack(0)).ext[2] & 0xff) << 8 | (b.respond(Bench::nack(0)).ext[2] >> 8 & 0xff);
  };
  CHECK(spdcid() == 0x0015);
  b.configure(CfgTable::QpQpn, 5, csr::TblQpQpn{.high = 0x1fe});
  CHECK(spdcid() == 0xfe15);
  b.set_up(5, 7, false, QpState::Rts);
  CHECK(spdcid() == 0xfe15);
  b.set_up(5, 7, false, GENERATE(QpState::Init, QpState::Reset));
  CHECK(spdcid() == 0x0015);
}

TEST_CASE("switches of what responses carry", "[ack_gen]") {
  Bench b;
  CHECK(b.respond(Bench::sack(0)).ext[2] == 0x3412'1500);  // spdcid 5 + 16, dpdcid 0x1234
  Resp r = Bench::sack(0);
  r.kind = CtlKind::Endpoint;
  r.reason = 1;
  CHECK(b.respond(r).ext[0] == 0x0400);
  b.csr.pdcid_zero = b.csr.eeth_op_high = true;
  CHECK(b.respond(Bench::sack(0)).ext[2] == 0);
  CHECK(b.respond(r).ext[0] == 0x1000);
}

TEST_CASE("a reverse path takes the newest EV that worked there, plane by plane", "[ack_gen]") {
  Bench b;
  b.works(7, 3, 0xE0003);
  b.works(256 + 7, 4, 0xE0004);  // destination 7 by its low bits
  b.works(9, 5, 0xE0905);
  CHECK(b.ev(3) == 0xE0003);
  CHECK(b.ev(4) == 0xE0004);
  CHECK(b.ev(5) == 105);
  CHECK(b.respond(Bench::nack(5, 6)).ev == 0xE0905);
  b.works(7, 3, 0xF0003);
  CHECK(b.ev(3) == 0xF0003);
  b.up = 0xf0;  // the plane it leaves on counts
  CHECK(b.ev(3) == 0xE0004);
  b.csr.rev_fixed = true;
  CHECK(b.ev(4) == 104);
  b.csr.rev_fixed = false;
  b.csr.tick = 1000;  // stale, but it has worked once
  CHECK(b.ev(4) == 0xE0004);
}

TEST_CASE("what worked for data is taken before what a probe found", "[ack_gen]") {
  Bench b;
  b.okev.load({.dest = 7, .plane = 0, .ev = 1});
  b.eokev.load({.dest = 7, .plane = 0, .ev = 2});
  b.run(1);
  b.okev.load({.dest = 7, .plane = 0, .ev = 3});
  b.run(6);
  CHECK(b.ev(0) == 2);  // 1, 3, then the probe's
  CHECK(b.okev.count() + b.eokev.count() == 0);
}

TEST_CASE("a stale reverse path is asked for once in an epoch", "[ack_gen]") {
  Bench b;
  b.csr.rev_probe = true;
  b.ev(2);  // stale from reset on
  REQUIRE(b.wants.size() == 1);
  CHECK(b.wants[0] == Want{.dest = 7, .plane = 2});
  b.ev(2);
  CHECK(b.wants.size() == 1);
  b.ev(3);  // another plane
  b.respond(Bench::sack(2, 6));
  REQUIRE(b.wants.size() == 3);
  CHECK(b.wants[1] == Want{.dest = 7, .plane = 3});
  CHECK(b.wants[2] == Want{.dest = 9, .plane = 2});
  // The probe's answer: fresh until the epoch ends in tick 10.
  b.eokev.load({.dest = 7, .plane = 2, .ev = 0xE2});
  b.run(4);
  b.csr.tick = 9;
  CHECK(b.ev(2) == 0xE2);
  b.ev(3);  // still wanted
  CHECK(b.wants.size() == 3);
  b.csr.tick = 10;
  b.run(1);
  CHECK(b.ev(2) == 0xE2);  // stale
  REQUIRE(b.wants.size() == 4);
  CHECK(b.wants[3] == Want{.dest = 7, .plane = 2});
  b.ev(3);
  CHECK(b.wants.size() == 5);
  // The next epoch began in tick 10, whenever it was noticed.
  b.csr.tick = 19;
  b.run(2);
  b.ev(2);
  CHECK(b.wants.size() == 5);
  b.csr.tick = 20;
  b.run(2);
  b.ev(2);
  CHECK(b.wants.size() == 6);
}

TEST_CASE("traffic both ways keeps reverse paths fresh: no probe", "[ack_gen]") {
  Bench b;
  b.csr.rev_probe = true;
  for (uint32_t t = 0; t < 50; ++t) {
    b.csr.tick = t;
    b.works(7, 2, 0xE000 + t);
    CHECK(b.ev(2) == 0xE000 + t);
  }
  CHECK(b.wants.empty());
}

TEST_CASE("no probes when they are off, or when control packets use fixed EVs", "[ack_gen]") {
  Bench b;
  b.ev(2);
  b.csr.rev_probe = b.csr.rev_fixed = true;
  b.ev(3);
  CHECK(b.wants.empty());
}

TEST_CASE("an answer in the cycle in which the epoch begins is fresh; a want of that cycle stays wanted", "[ack_gen]") {
  Bench b;
  b.csr.rev_probe = true;
  b.okev.load({.dest = 7, .plane = 2, .ev = 0xE2});
  b.resp.load(Bench::sack(3));
  b.run(2);          // both are in their FIFOs
  b.csr.tick = 100;  // the epoch begins in the cycle in which they are taken
  b.run(4);
  CHECK(b.wants == std::vector<Want>{{.dest = 7, .plane = 3}});
  b.ev(2);
  b.ev(3);
  CHECK(b.wants.size() == 1);
}

TEST_CASE("without room for a want the path is asked for with the next response", "[ack_gen]") {
  Bench b;
  b.csr.rev_probe = true;
  b.take_want = false;
  for (unsigned i = 0; i < 17; ++i) {  // 16 in the FIFO, one in the register
    b.set_up(i, 10 + i, false);
    b.respond(Bench::sack(0, static_cast<uint16_t>(i)));
  }
  b.set_up(5, 7, false);
  b.ev(2);
  b.take_want = true;
  b.run(20);
  CHECK(b.wants.size() == 17);
  b.ev(2);
  REQUIRE(b.wants.size() == 18);
  CHECK(b.wants[17] == Want{.dest = 7, .plane = 2});
}

TEST_CASE("answers to probes ask for no reverse path: two quiet NICs would probe each other for ever", "[ack_gen]") {
  Bench b;
  b.csr.rev_probe = true;
  Resp r = Bench::sack(2);
  r.pr = true;  // of a reliability probe
  b.respond(r);
  r = Bench::sack(2);
  r.kind = CtlKind::Endpoint;
  b.eresp.load(r);
  b.run(10);
  b.respond(Bench::nack(2));
  CHECK(b.wants.empty());
  b.respond(Bench::sack(2));
  CHECK(b.wants.size() == 1);
}

TEST_CASE("a table write holds everything else for its cycle, known table or not", "[ack_gen]") {
  Bench b;
  b.resp.load(Bench::nack(3));
  b.okev.load({.dest = 7, .plane = 3, .ev = 0xE3});
  b.run(2);
  b.cfg = {true, static_cast<uint8_t>(CfgTable::Mr), 0, {}};
  b.cycle();
  CHECK(b.block.cfg_ack());
  CHECK(b.resp.count() == 1);
  CHECK(b.okev.count() == 1);
  b.cycle();  // acknowledged already
  b.cfg.req = false;
  b.run(4);
  REQUIRE(b.sent.size() == 1);
  CHECK(b.sent[0].ev == 103);  // by the registers of its cycle
  CHECK(b.ev(3) == 0xE3);
}

TEST_CASE("an ACK says what is complete, on the plane of the packet", "[ack_gen]") {
  Bench b;
  b.works(7, 3, 0xE3);
  b.csr.tick = 55;
  b.csr.rev_probe = true;
  b.complete(5, 0xabcdef, 0x1234, 3);
  b.run(10);
  REQUIRE(b.sent.size() == 1);
  Ctlpkt want{.qp = 5, .plane = 3, .ev = 0xE3, .opcode = 0xD1, .psn = 0xabcdef, .ext_len = 4};
  want.ext[0] = 0x3412'001F;  // syndrome, then the MSN in three bytes
  CHECK(b.sent[0] == want);
  CHECK(b.wants.empty());
}

TEST_CASE("ACKs keep their distance, other responses do not", "[ack_gen]") {
  const unsigned gap = GENERATE(0u, 1u, 5u, 16u, 300u);
  Bench b;
  b.csr.ack_gap = static_cast<uint16_t>(gap);
  for (unsigned i = 0; i < 4; ++i) b.complete(5 + i, 100 + i, 1);
  for (unsigned i = 0; i < 3; ++i) {
    b.resp.load(Bench::nack(0));
    b.cycle();
  }
  b.run(4 * gap + 30);
  std::vector<unsigned> acks, others;
  for (std::size_t i = 0; i < b.sent.size(); ++i) {
    (b.sent[i].opcode == 0xD1 ? acks : others).push_back(b.sent_at[i]);
    if (b.sent[i].opcode == 0xD1) CHECK(b.sent[i].psn == 100 + acks.size() - 1);  // in their turn
  }
  REQUIRE(acks.size() == 4);
  REQUIRE(others.size() == 3);
  if (gap >= 5) {
    for (unsigned i = 1; i < 4; ++i) CHECK(acks[i] - acks[i - 1] == gap + 1);
  }
  CHECK(others[2] - others[0] == 2);
}

TEST_CASE("with gap 0 an ACK leaves in each cycle", "[ack_gen]") {
  Bench b;
  b.csr.ack_gap = 0;
  for (unsigned i = 0; i < 50; ++i) b.complete(i % 3, i, i);
  b.run(10);
  REQUIRE(b.sent.size() == 50);
  CHECK(b.sent_at[49] - b.sent_at[0] == 49);
  for (unsigned i = 0; i < 50; ++i) CHECK(b.sent[i].psn == i);
}

TEST_CASE("what a QP completes while it waits is acknowledged together, with the newest", "[ack_gen]") {
  Bench b;
  b.csr.ack_gap = 40;
  b.complete(9, 1, 1);
  b.run(10);  // gone; the gap runs
  b.complete(5, 10, 1, 2);
  b.complete(5, 11, 2, 4);
  b.complete(6, 20, 7);
  b.complete(5, 12, 3, 6);
  b.run(200);
  REQUIRE(b.sent.size() == 3);
  CHECK(b.sent[1].qp == 5);  // its turn is that of the first
  CHECK(b.sent[1].psn == 12);
  CHECK(b.sent[1].plane == 6);
  CHECK(b.sent[1].ext[0] == 0x0300'001F);
  CHECK(b.sent[2].qp == 6);
  CHECK(b.sent[2].psn == 20);
  CHECK(b.sent_at[2] - b.sent_at[1] == 41);  // QP 5 had one turn
}

TEST_CASE("responses go first: an ACK waits while there are any", "[ack_gen]") {
  Bench b;
  b.take = false;
  for (unsigned i = 0; i < 12; ++i) {
    b.resp.load(Bench::nack(0));
    b.cycle();
  }
  b.complete(5, 1, 1);
  Resp e{.kind = CtlKind::Endpoint, .qp = 5};
  b.eresp.load(e);
  b.run(4);
  b.take = true;
  b.run(30);
  REQUIRE(b.sent.size() == 14);
  CHECK(b.sent[13].opcode == 0xD1);
}

TEST_CASE("a completion in the cycle in which the QP's ACK leaves is acknowledged anew", "[ack_gen]") {
  const unsigned qps = GENERATE(1u, 256u);  // the only one that waits, or all of them
  const int late = GENERATE(-1, 0, 1);
  CAPTURE(qps, late);
  Bench b;
  b.csr.ack_gap = 1000;
  b.complete(200, 1, 1);
  b.run(10);
  REQUIRE(b.sent.size() == 1);
  for (unsigned i = 0; i < qps; ++i) b.complete((5 + i) % 256, 50 + i, 9);
  // The first ACK was seen two cycles after it was loaded; the next one is loaded 1001 cycles after it, and the event
  // takes two cycles to the FIFO's head.
  const unsigned turn = b.sent_at[0] - 2 + 1001;
  while (b.cycles < turn - 2 + static_cast<unsigned>(late + 1) - 1) b.cycle();
  b.csr.ack_gap = 0;
  b.complete(5, 77, 10);
  b.run(300);
  REQUIRE(b.sent.size() == 1 + qps + (late >= 0 ? 1 : 0));
  CHECK(b.sent[1].qp == 5);
  CHECK(b.sent[1].psn == (late >= 0 ? 50 : 77));
  if (late >= 0) {
    CHECK(b.sent.back().qp == 5);
    CHECK(b.sent.back().psn == 77);
    CHECK(b.sent.back().ext[0] == 0x0A00'001F);
  }
}

TEST_CASE("an ACK of an old connection does not go out, and costs no gap", "[ack_gen]") {
  const QpState state = GENERATE(QpState::Rtr, QpState::Init, QpState::Rts);
  Bench b;
  b.csr.ack_gap = 100;
  b.complete(9, 1, 1);
  b.run(10);
  b.complete(5, 10, 1);
  b.complete(6, 20, 1);
  b.run(4);
  b.set_up(5, 7, false, state);
  SECTION("nothing new") {
    b.run(150);
    REQUIRE(b.sent.size() == 2);
    CHECK(b.sent[1].qp == (state == QpState::Rts ? 5 : 6));
    b.run(150);
    CHECK(b.sent.size() == (state == QpState::Rts ? 3 : 2));
  }
  SECTION("a message of the new one") {
    b.complete(5, 1000, 4);
    b.run(300);
    REQUIRE(b.sent.size() == 3);
    CHECK(b.sent[1].qp == 5);  // in the turn it had
    CHECK(b.sent[1].psn == 1000);
  }
}

TEST_CASE("a table write holds completions and the gap for its cycle", "[ack_gen]") {
  Bench b;
  b.csr.ack_gap = 10;
  b.complete(5, 1, 1);
  b.complete(6, 2, 1);
  b.run(6);
  REQUIRE(b.sent.size() == 1);
  for (unsigned i = 0; i < 2; ++i) b.configure(CfgTable::Mr, 0, {});  // each: a cycle of its own, and one after it
  b.run(20);
  REQUIRE(b.sent.size() == 2);
  CHECK(b.sent_at[1] - b.sent_at[0] == 10 + 1 + 2);
}

TEST_CASE("the question for a peer's state is a probe that belongs to no EV, on the planes in turn",
          "[ack_gen][A-75]") {
  Bench b;
  b.csr.silence_wait = true;
  b.csr.ack_plane = false;
  b.csr.rev_probe = true;
  b.csr.tick = 0x1'2345;
  b.works(7, 1, 0xE1);
  const auto req = [&] {
    const std::size_t n = b.sent.size();
    b.stateq.load({.qp = 5});
    b.run(6);
    REQUIRE(b.sent.size() == n + 1);
    return b.sent.back();
  };
  Ctlpkt c = req();
  CHECK(c.qp == 5);
  CHECK(c.plane == 0);
  CHECK(c.ev == 100);
  CHECK(c.opcode == 0xDE);
  CHECK(c.psn == 0);
  CHECK(c.ext_len == 16);
  CHECK(c.ext[0] == 0);
  CHECK(c.ext[1] == 0x0000feff);  // id 0xFFFE
  CHECK(c.ext[2] == 0x34121500);  // spdcid 0x0015, dpdcid 0x1234
  CHECK(c.ext[3] == 0x01004523);  // tick 0x2345, ftype 1
  c = req();
  CHECK(c.plane == 1);
  CHECK(c.ev == 0xE1);
  b.peer_ports(7, 0xf8);  // neither the turn's plane nor plane 0
  CHECK(req().plane == 3);
  CHECK(req().plane == 4);  // behind it
  CHECK(b.wants.empty());
  b.csr.ack_plane = true;
  b.peer_ports(7, 0xff);
  CHECK(req().plane == 0);
}

TEST_CASE("responses go before a question for a peer's state, ACKs behind it", "[ack_gen][A-75]") {
  Bench b;
  b.csr.silence_wait = true;
  b.take = false;
  b.resp.load(Bench::nack(1));
  b.cycle();
  b.cycle();  // the NACK is in the way of all others
  b.complete(5, 77, 9);
  b.stateq.load({.qp = 6});
  b.resp.load(Bench::nack(2));
  b.run(4);
  b.take = true;
  b.run(8);
  REQUIRE(b.sent.size() == 4);
  CHECK(b.sent[1].opcode == 0xDD);
  CHECK(b.sent[2].opcode == 0xDE);
  CHECK(b.sent[2].qp == 6);
  CHECK(b.sent[3].opcode == 0xD1);
}

TEST_CASE("a question is two probes on two planes, one behind the other", "[ack_gen][A-84]") {
  const bool ack_plane = GENERATE(false, true);
  Bench b;
  b.csr.ack_plane = ack_plane;
  b.take = false;
  b.resp.load(Bench::nack(1));
  b.cycle();
  b.cycle();  // the NACK is in the way of all others
  b.stateq.load({.qp = 5});
  b.cycle();
  b.stateq.load({.qp = 6});
  b.run(2);
  b.take = true;
  b.cycle();  // the NACK leaves
  b.run(2);
  b.resp.load(Bench::nack(2));  // and comes between two questions, not between two probes
  b.run(8);
  REQUIRE(b.sent.size() == 6);
  std::vector<unsigned> qps, planes;
  for (const Ctlpkt& c : b.sent) {
    if (c.opcode != 0xDE) continue;
    qps.push_back(c.qp);
    planes.push_back(c.plane);
    CHECK(c.ext[1] == 0x0000feff);  // id 0xFFFE, all of them
  }
  CHECK(qps == std::vector<unsigned>{5, 5, 6, 6});
  CHECK(planes == std::vector<unsigned>{0, 1, 2, 3});
  CHECK((b.sent[1].opcode == 0xDD || b.sent[3].opcode == 0xDD || b.sent[5].opcode == 0xDD));
}

TEST_CASE("the probes of a question go on two planes while two are left", "[ack_gen][A-84]") {
  Bench b;
  b.csr.ack_plane = GENERATE(false, true);
  const auto req = [&] {
    const std::size_t n = b.sent.size();
    b.stateq.load({.qp = 5});
    b.run(6);
    REQUIRE(b.sent.size() == n + 2);
    return std::vector<unsigned>{b.sent[n].plane, b.sent[n + 1].plane};
  };
  SECTION("whichever they are") {
    for (unsigned left = 0; left < 256; ++left) {
      const auto planes = static_cast<unsigned>(std::popcount(left));
      if (planes < 2) continue;
      const bool peer = left % 2 == 0;
      b.peer_ports(7, peer ? left : 0xff);
      b.up = peer ? 0xff : left;
      std::array<unsigned, 8> times{};
      for (unsigned i = 0; i < planes; ++i) {
        CAPTURE(left, i);
        const auto on = req();
        CHECK(on[0] != on[1]);
        for (const unsigned p : on) ++times[p];
      }
      for (unsigned p = 0; p < 8; ++p) CHECK(times[p] == (left >> p & 1) * 2);  // in turn
    }
  }
  SECTION("0 and 7, by hand") {
    b.csr.ack_plane = false;
    b.respond(Bench::sack(0));  // turn 1
    b.peer_ports(7, 0x81);
    CHECK(req() == std::vector<unsigned>{7, 0});
    b.peer_ports(7, 0xff);
    CHECK(b.respond(Bench::sack(4)).plane == 1);  // the turn is behind 0
  }
  SECTION("with none left the turn goes on by one") {
    b.csr.ack_plane = false;
    b.peer_ports(7, 0x02);
    b.up = 0xf8;
    CHECK(req() == std::vector<unsigned>{3, 3});
    b.peer_ports(7, 0xff);
    b.up = 0xff;
    CHECK(b.respond(Bench::sack(4)).plane == 2);
  }
  SECTION("by A-75 on one plane, the lowest") {
    b.csr.ack_plane = true;
    b.csr.silence_wait = true;
    b.peer_ports(7, 0xf8);
    for (unsigned i = 0; i < 3; ++i) {
      b.stateq.load({.qp = 5});
      b.run(6);
      CHECK(b.sent.back().plane == 3);
    }
    b.csr.ack_plane = false;
    b.peer_ports(7, 0xff);
    CHECK(b.respond(Bench::sack(5)).plane == 3);  // the turn has gone on by one with each
  }
}

TEST_CASE("both probes of a question go on the one plane that is left", "[ack_gen][A-84]") {
  Bench b;
  b.peer_ports(7, 0x04);
  b.stateq.load({.qp = 5});
  b.run(6);
  REQUIRE(b.sent.size() == 2);
  CHECK(b.sent[0].plane == 2);
  CHECK(b.sent[1].plane == 2);
}

TEST_CASE("a QP that is set up anew between two probes of a question", "[ack_gen][A-84]") {
  Bench b;
  b.works(9, 1, 0xE1);
  b.take = false;
  for (unsigned i = 0; i < 2; ++i) b.resp.load(Bench::nack(1)), b.run(4);
  b.stateq.load({.qp = 5});
  b.run(6);  // behind two NACKs there is room for one probe
  b.set_up(5, 9, false);
  b.take = true;
  b.run(8);
  REQUIRE(b.sent.size() == 4);
  CHECK(b.sent[2].plane == 0);
  CHECK(b.sent[2].ev == 100);
  CHECK(b.sent[3].plane == 1);
  CHECK(b.sent[3].ev == 0xE1);
}

}  // namespace mrc::test::ack_gen_test

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/pipeline/ctl/csr_bench.hpp"
#include "tests/pipeline/nic_pair.hpp"

namespace mrc::test::csr_test {

using namespace mrc::test::regs;

TEST_CASE("registers identify the NIC and its sizes", "[csr]") {
  NicPair pair(*find_preset("asic800"));
  CHECK(pair.read(0, csr::kId) == 0x4D52434E);
  CHECK(pair.read(0, csr::kVersion) == 0x600);
  CHECK(pair.read(0, csr::kCaps0) == (8u | 10u << 4 | 256u << 8));
  CHECK(pair.read(0, csr::kCaps1) == (1024u | 256u << 16));
  CHECK(pair.read(0, csr::kCtrl) == 0x200);  // bth_m_high
  CHECK(pair.read(0, csr::kRevEv0 + 28) == 0x10000007);
}

TEST_CASE("writes keep to named fields and strobes; the rest of the map answers SLVERR", "[csr]") {
  NicPair pair(*find_preset("tiny"));
  uint8_t resp = 9;
  CHECK(pair.write(0, csr::kDscpTx, 0xffffffff) == 0);
  CHECK(pair.read(0, csr::kDscpTx, &resp) == 0x3f3f3f3f);
  CHECK(resp == 0);
  CHECK(pair.read(0, csr::kDscpTrim) == 0x100c);
  CHECK(pair.write(0, csr::kDscpTrim, 0xffffffff) == 0);
  CHECK(pair.read(0, csr::kDscpTrim) == 0x013f3f3f);
  CHECK(pair.read(0, csr::kEvCtl) == 0x005e0008);
  CHECK(pair.write(0, csr::kIp1, 0x11223344, 0b0101) == 0);
  CHECK(pair.read(0, csr::kIp1) == 0x00220044);
  CHECK(pair.write(0, csr::kIp1, 0xaabbccdd, 0b1000) == 0);
  CHECK(pair.read(0, csr::kIp1) == 0xaa220044);
  CHECK(pair.read(0, csr::kEpCtl) == 0xF1030D);
  CHECK(pair.read(0, csr::kAckCtl) == 0x0020'0010);
  CHECK(pair.write(0, csr::kAckCtl, 0xffffffff) == 0);
  CHECK(pair.read(0, csr::kAckCtl) == 0xffffffff);
  CHECK(pair.write(0, csr::kQpAttr, 0xffffffff) == 0);
  CHECK(pair.read(0, csr::kQpAttr) == 0xfff);
  CHECK(pair.write(0, csr::kIrqEnable, 0xffffffff) == 0);
  CHECK(pair.read(0, csr::kIrqEnable) == 0x1f);
  CHECK(pair.read(0, csr::kPortStall) == 7813);  // 1 ms
  CHECK(pair.write(0, csr::kPortStall, 0xffffffff) == 0);
  CHECK(pair.read(0, csr::kPortStall) == 0xffff);
  CHECK(pair.read(0, csr::kShare) == 0x1804'0870);  // 24 trims, 4 QPs, pen 8, epochs of 128 ticks, off
  CHECK(pair.write(0, csr::kShare, 0xffffffff) == 0);
  CHECK(pair.read(0, csr::kShare) == 0xffff'7ff1);
  CHECK(pair.read(0, csr::kShareDrain) == 1u << 20);
  CHECK(pair.write(0, csr::kShareDrain, 0x12345678) == 0);  // the last register
  CHECK(pair.read(0, csr::kShareDrain, &resp) == 0x12345678);
  CHECK(resp == 0);
  CHECK(pair.write(0, csr::kIrq, 0xffffffff) == 0);
  CHECK(pair.read(0, csr::kIrq, &resp) == 0);
  CHECK(resp == 0);
  CHECK(pair.write(0, csr::kId, 0) == 2);
  CHECK(pair.read(0, csr::kId) == 0x4D52434E);
  for (const uint32_t ro : {csr::kCntTx0, csr::kCntTxDrop0 + 28, csr::kCntReturned, csr::kQpInfo, csr::kCmdStatus,
                            csr::kEvpRes, csr::kPorts, csr::kPeerInfo}) {
    CHECK(pair.write(0, ro, 5) == 2);
  }
  for (const uint32_t hole : {0x1fcu, 0x20cu, 0xfffcu}) {
    CHECK(pair.read(0, hole, &resp) == 0);
    CHECK(resp == 2);
    CHECK(pair.write(0, hole, 1) == 2);
  }
  CHECK(pair.read(0, csr::kCntTx0 + 28, &resp) == 0);  // a plane this preset has not
  CHECK(resp == 0);
}

TEST_CASE("bvalid is up two cycles after address and data were taken", "[csr]") {
  Bench b;
  b.acks = false;
  Csr& regs = b.regs;
  const auto at = static_cast<uint16_t>(GENERATE(csr::kSackTrigger, csr::kTblCmd));
  Csr::In in{.awvalid = true, .wvalid = true, .awaddr = at, .wdata = 3, .wstrb = 15};
  unsigned cycles = 0;
  while (!regs.out().bvalid) {
    regs.step(in);
    regs.clock();
    in.awvalid = in.wvalid = false;
    ++cycles;
  }
  CHECK(cycles == 2);  // taken in cycle 0, written in 1, bvalid seen in 2
  CHECK(regs.out().bresp == 0);
  CHECK(regs.values().sack_trigger == (at == csr::kSackTrigger ? 3 : 0x4000));
  CHECK_FALSE(regs.out().awready);
  in.bready = true;
  regs.step(in);
  regs.clock();
  CHECK_FALSE(regs.out().bvalid);
  CHECK(regs.out().awready);
  CHECK(regs.out().wready);
}

TEST_CASE("address and data may come in any order", "[csr]") {
  Bench b;
  b.acks = false;
  Csr& regs = b.regs;
  regs.step({.wvalid = true, .wdata = 9, .wstrb = 15});
  regs.clock();
  CHECK(regs.out().awready);
  CHECK_FALSE(regs.out().wready);
  regs.step({.wvalid = true, .wdata = 77, .wstrb = 15});  // not taken: wready is 0
  regs.clock();
  regs.step({.awvalid = true, .awaddr = csr::kSackTrigger});
  regs.clock();
  regs.step({});
  regs.clock();
  CHECK(regs.out().bvalid);
  CHECK(regs.values().sack_trigger == 9);
}

TEST_CASE("a counter shows a pulse in the cycle after it", "[csr]") {
  Bench b;
  b.acks = false;
  Csr& regs = b.regs;
  regs.count(csr::kCntSkip);
  regs.count(csr::kCntTx0 + 4);
  regs.count(csr::kCntReturned);
  regs.step({.arvalid = true, .araddr = csr::kCntSkip});  // reads the register of this cycle
  regs.clock();
  CHECK(regs.out().rvalid);
  CHECK(regs.out().rdata == 0);
  regs.step({.arvalid = true, .rready = true, .araddr = csr::kCntSkip});
  regs.clock();
  CHECK_FALSE(regs.out().rvalid);
  regs.step({.arvalid = true, .araddr = csr::kCntSkip});
  regs.clock();
  CHECK(regs.out().rdata == 1);
  regs.step({.rready = true});
  regs.clock();
  CHECK(b.read(csr::kCntReturned) == 1);
}

TEST_CASE("EV events are read oldest first, and what a full queue loses is counted", "[csr]") {
  Bench b;
  b.acks = false;
  Stream<Evev>& evev = b.evev;
  const auto cycle = [&](Csr::In in) { b.cycle(in); };
  const auto read = [&](uint16_t at) { return b.read(at); };
  CHECK(read(csr::kEvq) == 0);
  for (uint16_t i = 0; i < 19; ++i) {
    REQUIRE(evev.free());  // csr never stops it
    evev.load({.qp = 5, .ev_idx = i, .state = static_cast<uint8_t>(i == 1 ? kEvGood : kEvBad), .floor = i == 2});
    cycle({});
  }
  cycle({});
  cycle({});
  CHECK(read(csr::kEvqDrop) == 3);
  CHECK(read(csr::kEvq) == 0x80005200);  // valid, QP 5, ASSUMED_BAD, EV 0
  CHECK(read(csr::kEvq) == 0x80005001);  // GOOD, EV 1
  CHECK(read(csr::kEvq) == 0x80005a02);  // floor
  for (uint32_t i = 3; i < 16; ++i) CHECK(read(csr::kEvq) == (0x80005200 | i));
  CHECK(read(csr::kEvq) == 0);
  CHECK(read(csr::kEvqDrop) == 3);
}

TEST_CASE("EV registers reach the blocks", "[csr]") {
  Bench b;
  b.acks = false;
  Csr& regs = b.regs;
  CHECK(regs.values().ev_min_active == 8);
  CHECK(regs.values().probe_interval == 781);
  CHECK(regs.values().probe_successes == 3);
  CHECK_FALSE(regs.values().probe_skip_good);
  const auto write = [&](uint16_t at, uint32_t value) {
    regs.step({.awvalid = true, .wvalid = true, .awaddr = at, .wdata = value, .wstrb = 15});
    for (int i = 0; i < 4; ++i) {
      regs.clock();
      regs.step({.bready = true});
    }
    regs.clock();
  };
  write(csr::kEvCtl, 0xffffff00);
  write(csr::kEvProbe, 0x000d0102);
  CHECK(regs.values().ev_min_active == 0x100);
  CHECK(regs.values().probe_interval == 0x0102);
  CHECK(regs.values().probe_successes == 5);
  CHECK(regs.values().probe_skip_good);
}

TEST_CASE("blocks that stand alone see the values of a NIC after reset", "[csr]") {
  const Bench b;
  CHECK(CsrOut{} == b.regs.values());
  CsrOut other{.reorder = 32};
  CHECK_FALSE(other == b.regs.values());
}

TEST_CASE("the switches of the NIC reach the blocks", "[csr]") {
  Bench b;
  const CsrOut& v = b.regs.values();
  CHECK(v.bth_m_high);
  CHECK(v.nominal == Nominal::UdpLength);
  CHECK_FALSE((v.sack_base_self || v.oor_drop || v.err_silent || v.ev_swap || v.rtt_rtx || v.rev_fixed || v.bth_m ||
               v.ports_from_0 || v.eeth_op_high || v.tsr_us || v.pdcid_zero || v.ack_with_sack || v.icrc_outer ||
               v.ack_plane || v.trim_silent || v.state_silent || v.port_wait || v.time_wait || v.silence_wait));
  CHECK(v.zero_length == ZeroLength::Legal);
  CHECK(v.wimm_over == WimmOver::Wait);
  CHECK(v.skip_mode == SkipMode::Pass);
  CHECK(v.returned == Returned::Drop);
  CHECK(v.skip_ticks == 94);
  CHECK(v.dscp_ep == 4);
  CHECK(v.dscp_returned == 0);
  CHECK_FALSE(v.dscp_returned_valid);
  CHECK(v.nak_invalid == 0x61);
  CHECK(v.nak_access == 0x62);
  CHECK(v.same_ev);
  CHECK(v.reorder == 64);
  CHECK(v.ep_interval == 781);
  CHECK(v.rev_probe);
  CHECK(v.ep_repeats == 15);
  CHECK(v.udp_port == 4971);
  CHECK_FALSE(v.udp_only);
  CHECK_FALSE(v.ip_plane_enable);
  CHECK(v.ip_plane_lsb == 64);
  CHECK(v.probe_kind == Revive::Either);
  CHECK(v.ack_gap == 16);
  CHECK(v.ar_gap == 32);
  const auto only = [&](unsigned bit) {
    b.write(csr::kCtrl, 1u << bit);
    return unsigned{v.sack_base_self} | unsigned{v.oor_drop} << 1 | unsigned{v.err_silent} << 2 |
           unsigned{v.ev_swap} << 3 | unsigned{v.bth_m} << 4 | unsigned{v.rtt_rtx} << 5 | unsigned{v.rev_fixed} << 6 |
           unsigned{v.ports_from_0} << 8 | unsigned{v.bth_m_high} << 9 | unsigned{v.eeth_op_high} << 10 |
           unsigned{v.tsr_us} << 11 | unsigned{v.pdcid_zero} << 12 | unsigned{v.ack_with_sack} << 13 |
           unsigned{v.icrc_outer} << 16 | unsigned{v.ack_plane} << 17 | unsigned{v.trim_silent} << 18 |
           unsigned{v.state_silent} << 19 | static_cast<unsigned>(v.nominal) << 20 |
           static_cast<unsigned>(v.zero_length) << 22 | static_cast<unsigned>(v.wimm_over) << 24 |
           static_cast<unsigned>(v.skip_mode) << 26 | static_cast<unsigned>(v.returned) << 28 |
           unsigned{v.port_wait} << 30 | unsigned{v.time_wait} << 31 | unsigned{v.silence_wait} << 7 |
           unsigned{v.any_plane} << 14 | unsigned{v.loss_shrinks} << 15;
  };
  constexpr uint32_t kFields = 0xffff'ffff;
  for (unsigned bit = 0; bit < 32; ++bit) CHECK(only(bit) == (kFields & 1u << bit));
  b.write(csr::kCtrl, ~0u);
  CHECK(b.read(csr::kCtrl) == kFields);
  CHECK(v.rev_seed == 1);
  CHECK(b.read(csr::kRevSeed) == 1);
  b.write(csr::kRevSeed, 0x89abcdef);
  CHECK(v.rev_seed == 0x89abcdef);
  CHECK(b.read(csr::kRevSeed) == 0x89abcdef);
  b.write(csr::kNakCode, 0xffff'7d6b);
  CHECK(v.nak_invalid == 0x6b);
  CHECK(v.nak_access == 0x7d);
  CHECK(b.read(csr::kNakCode) == 0x7d6b);
  b.write(csr::kReorder, 0x0000'7abc);
  CHECK(v.reorder == 0x7abc);
  CHECK_FALSE(v.same_ev);
  b.write(csr::kEpCtl, 0x0000'1234);
  CHECK(v.ep_interval == 0x1234);
  CHECK_FALSE(v.rev_probe);
  CHECK(v.ep_repeats == 0);
  b.write(csr::kEpCtl, ~0u);
  CHECK(b.read(csr::kEpCtl) == 0x00f1'ffff);
  b.write(csr::kEpCtl, 0x0020'0000);
  CHECK(v.ep_repeats == 2);
  CHECK_FALSE(v.rev_probe);
  b.write(csr::kUdpPort, 0x0001'12b7);
  CHECK(v.udp_port == 4791);
  CHECK(v.udp_only);
  CHECK(b.read(csr::kUdpPort) == 0x0001'12b7);
  b.write(csr::kDscpTx, 0x3d00'0000);
  CHECK(v.dscp_ep == 0x3d);
  b.write(csr::kDscpTrim, 0x0125'0000);
  CHECK(v.dscp_returned == 0x25);
  CHECK(v.dscp_returned_valid);
  b.write(csr::kEvCtl, 0xfedc'0000);
  CHECK(v.skip_ticks == 0xfedc);
  CHECK(v.ev_min_active == 0);
  b.write(csr::kIpPlane, 0x0000'0153);
  CHECK(v.ip_plane_enable);
  CHECK(v.ip_plane_lsb == 0x53);
  b.write(csr::kIpPlane, ~0u);
  CHECK(b.read(csr::kIpPlane) == 0x17f);
  b.write(csr::kEvProbe, 0x0400'0000);
  CHECK(v.probe_kind == Revive::Reliability);
  b.write(csr::kEvProbe, 0x0200'0000);
  CHECK(v.probe_kind == Revive::EvProbe);
  CHECK_FALSE(v.probe_keep_count);
  b.write(csr::kAckCtl, 0x9876'4321);
  CHECK(v.ack_gap == 0x4321);
  CHECK(v.ar_gap == 0x9876);
  CHECK(b.read(csr::kAckCtl) == 0x9876'4321);
  b.write(csr::kAckCtl, 0xabcd'ef01, 0b1100);  // the upper half alone
  CHECK(v.ack_gap == 0x4321);
  CHECK(v.ar_gap == 0xabcd);
  b.write(csr::kAckCtl, 0);
  CHECK(v.ack_gap == 0);
  CHECK(v.ar_gap == 0);
}

TEST_CASE("the tick goes up after each TickCycles cycles, whatever is written", "[csr]") {
  Bench b;
  b.write(csr::kCtrl, 3);
  while (b.cycles < 127) b.cycle();
  CHECK(b.regs.values().tick == 0);
  b.cycle();
  CHECK(b.regs.values().tick == 1);  // in cycle 128
  b.run(5 * 128 - 1);
  CHECK(b.regs.values().tick == 5);
  b.cycle();
  CHECK(b.regs.values().tick == 6);
}

TEST_CASE("PORTS shows the ports of the cycle in which it is read", "[csr]") {
  Bench b;
  b.port_up = 2;
  CHECK(b.read(csr::kPorts) == 2);
  b.port_up = 1;
  CHECK(b.read(csr::kPorts) == 1);
}

TEST_CASE("an EV probe: one at a time, its outcome in EVP_RES", "[csr]") {
  Bench b;
  CHECK(b.read(csr::kEvpRes) == 0);
  b.write(csr::kEvpEv, 0xCAFE0001);
  CHECK(b.write(csr::kEvpCmd, 1u << 16 | 3) == 0);
  CHECK(b.read(csr::kEvpRes) == 1);
  REQUIRE(b.probes.size() == 1);
  CHECK(b.probes[0] == Evp{.dest = 3, .plane = 1, .ev = 0xCAFE0001});
  CHECK(b.write(csr::kEvpCmd, 2) == 2);
  CHECK(b.read(csr::kEvpCmd) == (1u << 16 | 3));  // nothing has happened
  b.run(5);
  CHECK(b.probes.size() == 1);
  b.evr.load({.answered = true, .rtt = 0x0123});
  b.run(3);
  CHECK(b.read(csr::kEvpRes) == (2 | 0x0123u << 16));
  CHECK(b.write(csr::kEvpCmd, 2) == 0);
  CHECK(b.read(csr::kEvpRes) == 1);
  b.evr.load({.answered = false, .rtt = 0});
  b.run(3);
  CHECK(b.read(csr::kEvpRes) == 3);
  CHECK(b.write(csr::kEvpCmd, 0x000f0000) == 0);
  b.run(3);
  REQUIRE(b.probes.size() == 3);
  CHECK(b.probes[1] == Evp{.dest = 2, .plane = 0, .ev = 0xCAFE0001});
  CHECK(b.probes[2] == Evp{.dest = 0, .plane = 15, .ev = 0xCAFE0001});
}

TEST_CASE("an EV probe may name its code point", "[csr][A-60]") {
  Bench b;
  const auto probe = [&](uint32_t command) {
    CHECK(b.write(csr::kEvpCmd, command) == 0);
    b.run(3);
    b.evr.load({.answered = true, .rtt = 0});
    b.run(3);
    return b.probes.back();
  };
  CHECK(probe(1u << 26 | 0x2bu << 20 | 3u << 16 | 2) ==
        Evp{.dest = 2, .plane = 3, .ev = 0, .tc_valid = true, .tc = 0x2b});
  CHECK(probe(0x15u << 20) == Evp{.dest = 0, .plane = 0, .ev = 0, .tc_valid = false, .tc = 0x15});
  CHECK(probe(~0u) == Evp{.dest = 0xffff, .plane = 15, .ev = 0, .tc_valid = true, .tc = 0x3f});
  CHECK(b.read(csr::kEvpCmd) == 0x07ff'ffff);
}

TEST_CASE("a read sees the state of its own cycle, not of a write in the same one", "[csr]") {
  Bench b;
  b.bring_up(1);
  b.write(csr::kQpSel, 1);
  b.qperr[0].load({.qp = 1, .status = CqStatus::RetryExceeded});
  b.run(2);                                            // in csr's FIFO
  b.cycle({.arvalid = true, .araddr = csr::kQpInfo});  // it is taken in this cycle
  CHECK(b.regs.out().rdata == 3);
  b.cycle({.rready = true});
  CHECK(b.read(csr::kQpInfo) == (4 | 0x84 << 8));
}

TEST_CASE("a fence begins with bit 0 of FENCE, and FENCE reads busy from its response on", "[csr]") {
  Bench b;
  Csr& regs = b.regs;
  CHECK(b.write(csr::kFence, 1, 0b1110) == 0);
  CHECK(b.write(csr::kFence, 0xffff'fffe) == 0);
  CHECK_FALSE(regs.fence_go());
  CHECK(b.read(csr::kFence) == 0);  // nothing is stored
  Csr::In in{.awvalid = true, .wvalid = true, .awaddr = csr::kFence, .wdata = 1, .wstrb = 1};
  b.cycle(in);
  CHECK_FALSE(regs.fence_go());
  b.cycle();
  CHECK(regs.fence_go());
  CHECK(regs.out().bvalid);
  CHECK(regs.out().bresp == 0);
  // A read in this very cycle: fence itself has not begun.
  b.cycle({.bready = true, .arvalid = true, .araddr = csr::kFence});
  CHECK(regs.out().rdata == 3);
  CHECK_FALSE(regs.fence_go());
  b.cycle({.rready = true});
  b.cycle({.arvalid = true, .araddr = csr::kFence, .fence = 0x00020101});
  CHECK(regs.out().rdata == 0x00020101);
}

}  // namespace mrc::test::csr_test

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ctl/csr.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <functional>
#include <vector>

#include "tests/pipeline/nic_pair.hpp"
#include "tests/pipeline/wave.hpp"

using namespace mrc;
using namespace mrc::test;

namespace {

/// csr with its streams; blocks acknowledge when told to, or by themselves after a cycle. tiny: 4 QPs, 4 destinations,
/// 2 planes, a tick of 128 cycles.
struct Bench {
  Preset preset = *find_preset("tiny");
  Stream<Evev> evev;
  Stream<Pmask> pmask;
  Stream<Qperr> qperr[3];
  Stream<Evr> evr;
  Stream<Evp> evp;
  Csr regs{preset, evev, pmask, {&qperr[0], &qperr[1], &qperr[2]}, evr, evp};
  bool acks = true;  // blocks follow cfg_req one cycle later
  bool ack = false;
  unsigned port_up = 3;
  unsigned cycles = 0;
  std::vector<CfgBus> writes;  // table writes that the blocks have seen
  std::vector<Evp> probes;

  void cycle(Csr::In in = {}) {
    if (evp.has()) {
      probes.push_back(evp.head());
      evp.pop();
    }
    if (acks) {
      in.all_ack = in.any_ack = ack;
      if (regs.cfg().req && !ack) writes.push_back(regs.cfg());
    }
    in.port_up = port_up;
    const bool req = regs.cfg().req;
    regs.step(in);
    regs.clock();
    ack = req;
    evev.clock();
    pmask.clock();
    for (auto& s : qperr) s.clock();
    evr.clock();
    evp.clock();
    ++cycles;
  }
  void run(unsigned n) {
    for (unsigned i = 0; i < n; ++i) cycle();
  }
  /// Returns bresp.
  uint8_t write(uint32_t at, uint32_t value, uint8_t strobes = 15) {
    cycle({.awvalid = true, .wvalid = true, .awaddr = static_cast<uint16_t>(at), .wdata = value, .wstrb = strobes});
    while (!regs.out().bvalid) cycle();
    const uint8_t resp = regs.out().bresp;
    cycle({.bready = true});
    return resp;
  }
  uint32_t read(uint32_t at) {
    cycle({.arvalid = true, .araddr = static_cast<uint16_t>(at)});
    const uint32_t v = regs.out().rdata;
    cycle({.rready = true});
    return v;
  }
  static constexpr uint32_t order(unsigned table, unsigned index) {
    return csr::kTblCmdTable.set(0, table) | csr::kTblCmdIndex.set(0, index);
  }
  /// A command, until it has ended; returns its code.
  unsigned command(unsigned table, unsigned index) {
    REQUIRE(write(csr::kTblCmd, order(table, index)) == 0);
    uint32_t status = 0;
    do status = read(csr::kCmdStatus);
    while (csr::kCmdStatusBusy.get(status) != 0);
    return csr::kCmdStatusCode.get(status);
  }
  template <class Row>
  unsigned write_row(unsigned table, unsigned index, const Row& row) {
    uint32_t words[16] = {};
    row.pack(words);
    for (unsigned i = 0; i < Row::kWords; ++i) write(csr::kTblData0 + 4 * i, words[i]);
    return command(table, index);
  }
  unsigned to(unsigned qp, QpState state) {
    csr::TblQpCtx row;
    row.state = state;
    row.mpr = row.mpr_dest = row.max_wimm = row.max_wimm_dest = 1;
    return write_row(csr::kTblQpCtxId, qp, row);
  }
  unsigned state(unsigned qp, unsigned value) {
    return write_row(csr::kTblQpStateId, qp, csr::TblQpState{.state = static_cast<QpState>(value)});
  }
  /// QP_INFO and PEER_INFO.
  uint32_t info(unsigned qp) {
    write(csr::kQpSel, qp);
    return read(csr::kQpInfo);
  }
  uint32_t peer(unsigned dest) {
    write(csr::kQpSel, dest);
    return read(csr::kPeerInfo);
  }
  /// Brings a QP up.
  void bring_up(unsigned qp, QpState last = QpState::Rts) {
    write(csr::kQpAttr, 0xfff);
    for (const QpState s : {QpState::Init, QpState::Rtr, QpState::Rts}) {
      REQUIRE(to(qp, s) == 0);
      if (s == last) break;
    }
  }
};

constexpr uint32_t status(CmdCode code, uint32_t detail) { return static_cast<uint32_t>(code) | detail << 16; }
constexpr uint32_t kBusy = 1u << 31;
constexpr unsigned kNoTable = 15;  // a command that is refused

}  // namespace

TEST_CASE("registers identify the NIC and its sizes", "[csr]") {
  NicPair pair(*find_preset("asic800"));
  CHECK(pair.read(0, csr::kId) == 0x4D52434E);
  CHECK(pair.read(0, csr::kVersion) == 0x300);
  CHECK(pair.read(0, csr::kCaps0) == (8u | 256u << 8 | 10u << 24));
  CHECK(pair.read(0, csr::kCaps1) == (1024u | 256u << 16));
  CHECK(pair.read(0, csr::kCtrl) == 0x200);  // bth_m_high
  CHECK(pair.read(0, csr::kRevEv0 + 28) == 0x10000007);
}

TEST_CASE("writes keep to named fields and strobes; the rest of the map answers SLVERR", "[csr]") {
  NicPair pair(*find_preset("tiny"));
  uint8_t resp = 9;
  CHECK(pair.write(0, csr::kDscpTx, 0xffffffff) == 0);
  CHECK(pair.read(0, csr::kDscpTx, &resp) == 0x003f3f3f);
  CHECK(resp == 0);
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
  CHECK(pair.write(0, csr::kIrq, 0xffffffff) == 0);
  CHECK(pair.read(0, csr::kIrq, &resp) == 0);
  CHECK(resp == 0);
  CHECK(pair.write(0, csr::kId, 0) == 2);
  CHECK(pair.read(0, csr::kId) == 0x4D52434E);
  for (const uint32_t ro : {csr::kCntTx0, csr::kQpInfo, csr::kCmdStatus, csr::kEvpRes, csr::kPorts, csr::kPeerInfo}) {
    CHECK(pair.write(0, ro, 5) == 2);
  }
  for (const uint32_t hole : {0xf8u, 0xfcu, 0x1d0u, 0x200u, 0xfffcu}) {
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

TEST_CASE("a table write is broadcast until all blocks have taken it and let go", "[csr]") {
  Bench b;
  b.acks = false;
  Csr& regs = b.regs;
  const auto cycle = [&](Csr::In in) {
    regs.step(in);
    regs.clock();
  };
  cycle({.awvalid = true, .wvalid = true, .awaddr = csr::kTblData0 + 4, .wdata = 0x55, .wstrb = 15});
  cycle({});
  cycle({.bready = true});
  cycle({.awvalid = true, .wvalid = true, .awaddr = csr::kTblCmd, .wdata = 0x2'0007, .wstrb = 15});  // cycle 0
  cycle({});                                                                                         // written
  CHECK(regs.out().bvalid);
  CHECK(regs.out().bresp == 0);
  CHECK_FALSE(regs.cfg().req);
  cycle({.bready = true});  // judged
  CHECK(regs.cfg().req);
  CHECK(regs.cfg().table == 2);
  CHECK(regs.cfg().index == 7);
  CHECK(regs.cfg().data[1] == 0x55);
  cycle({.any_ack = true});
  CHECK(regs.cfg().req);
  cycle({.all_ack = true, .any_ack = true});
  CHECK_FALSE(regs.cfg().req);
  cycle({.any_ack = true});
  cycle({.arvalid = true, .araddr = csr::kCmdStatus, .any_ack = true});
  CHECK(regs.out().rdata == kBusy);
  cycle({.rready = true, .any_ack = true});
  cycle({.arvalid = true, .araddr = csr::kCmdStatus});  // no acknowledgement is left: the last cycle
  CHECK(regs.out().rdata == kBusy);
  cycle({.rready = true});
  cycle({.arvalid = true, .araddr = csr::kCmdStatus});
  CHECK(regs.out().rdata == 0);
}

TEST_CASE("a command is busy from the cycle after its write until the one after its end", "[csr]") {
  // Address and data are taken in cycle 0, and written in 1. A command that is refused is judged in 2. One that is good
  // has cfg_req from 3 on, acknowledged in 4, taken back for 5; the acknowledgement is gone in 6.
  const auto [of, code, last] =
      GENERATE(table<unsigned, CmdCode, unsigned>({{kNoTable, CmdCode::BadIndex, 2}, {csr::kTblMrId, CmdCode::Ok, 6}}));
  for (unsigned look = 1; look <= last + 1; ++look) {
    CAPTURE(of, look);
    Bench b;
    b.write(csr::kIrqEnable, 1u << 2);
    REQUIRE(b.command(kNoTable, 0) == static_cast<unsigned>(CmdCode::BadIndex));
    b.write(csr::kIrq, ~0u);
    b.run(2);
    const uint32_t before = b.read(csr::kCmdStatus);
    for (unsigned i = 0; i <= last + 1; ++i) {
      Csr::In in{.bready = true, .rready = true};
      if (i == 0) {
        in.awvalid = in.wvalid = true;
        in.awaddr = csr::kTblCmd;
        in.wdata = Bench::order(of, 0);
        in.wstrb = 15;
      }
      if (i == look) {
        in.arvalid = true;
        in.araddr = csr::kCmdStatus;
      }
      CHECK_FALSE(b.regs.out().irq);
      b.cycle(in);
      if (i == look) CHECK(b.regs.out().rdata == (i == 1 ? before : i <= last ? kBusy : status(code, 0)));
    }
    CHECK(b.regs.out().irq);  // of the end: IRQ is set in the cycle after it, the pin in the next
  }
}

TEST_CASE("while a command waits for a block, the bus goes on", "[csr]") {
  Bench b;
  b.write(csr::kQpAttr, 0xabc);
  b.write(csr::kTblData0, 0x11);
  b.write(csr::kTblData0 + 60, 0x22);
  b.write(csr::kEvpEv, 7);
  b.acks = false;
  const uint32_t order = Bench::order(csr::kTblMrId, 3);
  CHECK(b.write(csr::kTblCmd, order) == 0);
  b.run(3);
  const auto waits = [&] {
    CHECK(b.regs.cfg().req);
    CHECK(b.regs.cfg().table == csr::kTblMrId);
    CHECK(b.regs.cfg().index == 3);
    CHECK(b.regs.cfg().data[0] == 0x11);
    CHECK(b.regs.cfg().data[15] == 0x22);
    CHECK(b.read(csr::kCmdStatus) == kBusy);
  };
  waits();
  // What is part of the command stays as it is.
  CHECK(b.write(csr::kTblCmd, Bench::order(csr::kTblPeerPortsId, 1)) == 2);
  CHECK(b.write(csr::kTblCmd, order) == 2);
  for (unsigned i = 0; i < 16; ++i) CHECK(b.write(csr::kTblData0 + 4 * i, 0xffff'ffff, 1u << i % 4) == 2);
  CHECK(b.write(csr::kQpAttr, 0x123) == 2);
  CHECK(b.read(csr::kTblCmd) == order);
  CHECK(b.read(csr::kTblData0) == 0x11);
  for (unsigned i = 1; i < 15; ++i) CHECK(b.read(csr::kTblData0 + 4 * i) == 0);
  CHECK(b.read(csr::kTblData0 + 60) == 0x22);
  CHECK(b.read(csr::kQpAttr) == 0xabc);
  waits();
  // All else is written and read: beside these registers, too.
  CHECK(b.write(csr::kSackTrigger, 5) == 0);
  CHECK(b.regs.values().sack_trigger == 5);
  CHECK(b.write(csr::kQpSel, 2) == 0);
  CHECK(b.read(csr::kQpInfo) == 0);
  CHECK(b.write(csr::kEvq, 1) == 2);
  CHECK(b.write(csr::kEvpCmd, 1) == 0);
  b.run(2);
  CHECK(b.probes.size() == 1);
  CHECK(b.read(csr::kId) == 0x4D52434E);
  b.run(5000);
  waits();
  // The last block takes back its acknowledgement in cycle 2: the command ends there. A write in that cycle comes too
  // early, one in the next does not.
  const bool early = GENERATE(true, false);
  const auto at = [&](unsigned cycle) {
    const bool now = cycle == (early ? 1 : 2);
    return Csr::In{.awvalid = now, .wvalid = now, .awaddr = csr::kTblData0, .wdata = 9, .wstrb = 15};
  };
  Csr::In in = at(0);
  in.all_ack = in.any_ack = true;
  b.cycle(in);
  CHECK_FALSE(b.regs.cfg().req);
  in = at(1);
  in.any_ack = true;
  b.cycle(in);
  b.cycle(at(2));
  b.cycle();
  REQUIRE(b.regs.out().bvalid);
  CHECK(b.regs.out().bresp == (early ? 2 : 0));
  b.cycle({.bready = true});
  CHECK(b.read(csr::kTblData0) == (early ? 0x11 : 9));
  CHECK(b.read(csr::kCmdStatus) == 0);
  b.acks = true;
  CHECK(b.command(csr::kTblPeerPortsId, 1) == 0);
}

TEST_CASE("a counter shows a pulse in the cycle after it", "[csr]") {
  Bench b;
  b.acks = false;
  Csr& regs = b.regs;
  regs.count(csr::kCntSkip);
  regs.count(csr::kCntTx0 + 4);
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
  CHECK(read(csr::kEvq) == 0x80052000);  // valid, QP 5, ASSUMED_BAD, EV 0
  CHECK(read(csr::kEvq) == 0x80050001);  // GOOD, EV 1
  CHECK(read(csr::kEvq) == 0x8005a002);  // floor
  for (uint32_t i = 3; i < 16; ++i) CHECK(read(csr::kEvq) == (0x80052000 | i));
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
  CsrOut other;
  other.reorder = 32;
  CHECK_FALSE(other == b.regs.values());
}

TEST_CASE("the switches of the NIC reach the blocks", "[csr]") {
  Bench b;
  const CsrOut& v = b.regs.values();
  CHECK(v.bth_m_high);
  CHECK(v.nominal == Nominal::UdpLength);
  CHECK_FALSE((v.sack_base_self || v.oor_drop || v.err_silent || v.ev_swap || v.rtt_rtx || v.rev_fixed || v.bth_m ||
               v.ports_from_0 || v.eeth_op_high || v.tsr_us || v.pdcid_zero || v.ack_with_sack || v.zero_drop ||
               v.skip_twice || v.icrc_outer || v.ack_plane || v.trim_silent || v.state_silent));
  CHECK(v.nak_invalid == 0x61);
  CHECK(v.nak_access == 0x62);
  CHECK(v.same_ev);
  CHECK(v.reorder == 64);
  CHECK(v.ep_interval == 781);
  CHECK(v.rev_probe);
  CHECK(v.ep_repeats == 15);
  CHECK(v.udp_port == 4791);
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
           unsigned{v.zero_drop} << 14 | unsigned{v.skip_twice} << 15 | unsigned{v.icrc_outer} << 16 |
           unsigned{v.ack_plane} << 17 | unsigned{v.trim_silent} << 18 | unsigned{v.state_silent} << 19 |
           static_cast<unsigned>(v.nominal) << 20;
  };
  for (unsigned bit = 0; bit < 22; ++bit) CHECK(only(bit) == (bit == 7 ? 0 : 1u << bit));  // bit 7 is no field
  b.write(csr::kCtrl, ~0u);
  CHECK(b.read(csr::kCtrl) == 0x3fff7f);
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
  b.write(csr::kUdpPort, 0x0001'136b);
  CHECK(v.udp_port == 4971);
  CHECK(v.udp_only);
  CHECK(b.read(csr::kUdpPort) == 0x0001'136b);
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

TEST_CASE("a QP is brought up in three steps, each broadcast, and QP_INFO follows", "[csr][qp_state]") {
  Bench b;
  CHECK(b.info(2) == 0);
  b.write(csr::kQpAttr, 0x003);
  CHECK(b.to(2, QpState::Init) == 0);
  CHECK(b.info(2) == 1);
  CHECK(b.to(2, QpState::Init) == 0);  // once more
  b.write(csr::kQpAttr, 0x07c);
  CHECK(b.to(2, QpState::Rtr) == 0);
  CHECK(b.info(2) == 2);
  b.write(csr::kQpAttr, 0xf80);
  CHECK(b.to(2, QpState::Rts) == 0);
  CHECK(b.info(2) == 3);
  CHECK(b.info(4 + 2) == 3);  // QP_SEL modulo the number of QPs
  CHECK(b.info(1) == 0);
  CHECK(b.read(csr::kCmdStatus) == 0);
  REQUIRE(b.writes.size() == 4);
  CHECK(b.writes[3].table == 0);
  CHECK(b.writes[3].index == 2);
  CHECK((b.writes[3].data[0] & 7) == 3);
  CHECK(b.state(2, 4) == 0);
  CHECK(b.info(2) == 4);  // Error without status: software did it
  CHECK(b.state(2, 4) == 0);
  CHECK(b.state(2, 0) == 0);
  CHECK(b.info(2) == 0);
  b.bring_up(2);
  CHECK(b.to(2, QpState::Reset) == 0);
  CHECK(b.info(2) == 0);
  CHECK(b.writes.size() == 4 + 3 + 3 + 1);
}

TEST_CASE("a command that is not good says why, and is not broadcast", "[csr][qp_state]") {
  Bench b;
  b.write(csr::kQpAttr, 0xfff);
  const auto refused = [&](unsigned outcome, CmdCode code, uint32_t detail) {
    CHECK(outcome == static_cast<unsigned>(code));
    CHECK(b.read(csr::kCmdStatus) == status(code, detail));
  };
  // Transitions: the detail is the QP's state.
  refused(b.to(1, QpState::Rtr), CmdCode::BadTransition, 0);
  refused(b.to(1, QpState::Rts), CmdCode::BadTransition, 0);
  refused(b.to(1, QpState::Error), CmdCode::BadTransition, 0);
  refused(b.state(1, 4), CmdCode::BadTransition, 0);
  refused(b.state(1, 3), CmdCode::BadTransition, 0);
  CHECK(b.writes.empty());
  CHECK(b.info(1) == 0);
  b.bring_up(1, QpState::Init);
  refused(b.to(1, QpState::Rts), CmdCode::BadTransition, 1);
  b.bring_up(2);
  refused(b.to(2, QpState::Init), CmdCode::BadTransition, 3);
  refused(b.state(2, 2), CmdCode::BadTransition, 3);
  REQUIRE(b.state(2, 4) == 0);
  CHECK(b.read(csr::kCmdStatus) == 0);  // Ok replaces it
  refused(b.to(2, QpState::Rts), CmdCode::BadTransition, 4);
  // Attributes.
  b.write(csr::kQpAttr, 0xf83);
  refused(b.to(1, QpState::Rtr), CmdCode::MissingAttr, 0x07c);
  b.write(csr::kQpAttr, 0xfdf);
  refused(b.to(1, QpState::Rtr), CmdCode::MissingAttr, 0x020);
  // Values.
  b.write(csr::kQpAttr, 0xfff);
  csr::TblQpCtx row;
  row.state = QpState::Rtr;
  row.mpr_dest = 1;
  row.max_wimm_dest = static_cast<uint8_t>(b.preset.max_wimm + 1);  // 0 is none
  refused(b.write_row(csr::kTblQpCtxId, 1, row), CmdCode::BadValue, 4);
  row.mtu = 5;
  refused(b.write_row(csr::kTblQpCtxId, 1, row), CmdCode::BadValue, 2);
  // Indices.
  refused(b.to(4, QpState::Init), CmdCode::BadIndex, 0);
  refused(b.state(4, 0), CmdCode::BadIndex, 0);
  refused(b.write_row(csr::kTblQpMprId, 4, csr::TblQpMpr{.mpr = 1}), CmdCode::BadIndex, 0);
  refused(b.write_row(csr::kTblEvStateId, 0xffff, csr::TblEvState{}), CmdCode::BadIndex, 0);
  for (unsigned table = 10; table < 16; ++table) refused(b.command(table, 0), CmdCode::BadIndex, 0);
  CHECK(b.info(1) == 1);
  CHECK(b.info(2) == 4);
  CHECK(b.writes.size() == 1 + 3 + 1);        // what was good: QP 1, QP 2, its Error
  CHECK(b.read(csr::kTblCmd) == 0x000f0000);  // the register keeps what was written
  // The other tables are taken as they are.
  for (const unsigned table : {1u, 2u, 4u, 5u, 8u}) CHECK(b.command(table, 0xffff) == 0);
  CHECK(b.command(csr::kTblQpMprId, 3) == 0);
  CHECK(b.command(csr::kTblEvStateId, 3) == 0);
  CHECK(b.writes.size() == 5 + 7);
}

TEST_CASE("the NIC puts a QP into Error once, tells the blocks, and keeps the first reason", "[csr][qp_state]") {
  Bench b;
  b.bring_up(1);
  b.bring_up(2, QpState::Rtr);
  b.bring_up(3, QpState::Init);
  b.writes.clear();
  b.write(csr::kTblData0, 0xffffffff);
  b.write(csr::kTblData0 + 4, 0xffffffff);
  b.qperr[1].load({.qp = 1, .status = CqStatus::RemAccess});
  b.run(10);
  REQUIRE(b.writes.size() == 1);
  CHECK(b.writes[0].table == 3);
  CHECK(b.writes[0].index == 1);
  CHECK(b.writes[0].data == std::array<uint32_t, 16>{4});  // nothing of TBL_DATA
  CHECK(b.info(1) == (4 | 0x62 << 8));
  CHECK(b.read(csr::kCntQpErr) == 1);
  b.qperr[0].load({.qp = 1, .status = CqStatus::RetryExceeded});
  b.qperr[2].load({.qp = 0, .status = CqStatus::WimmOverrun});  // a QP in Reset
  b.run(10);
  CHECK(b.info(1) == (4 | 0x62 << 8));
  CHECK(b.info(0) == 0);
  CHECK(b.writes.size() == 1);
  CHECK(b.read(csr::kCntQpErr) == 1);
  b.qperr[1].load({.qp = 2, .status = CqStatus::Flushed});
  b.qperr[2].load({.qp = 3, .status = CqStatus::WimmOverrun});
  b.run(20);
  CHECK(b.info(2) == (4 | 0x85 << 8));
  CHECK(b.info(3) == (4 | 0x83 << 8));
  CHECK(b.read(csr::kCntQpErr) == 3);
  REQUIRE(b.writes.size() == 3);
  CHECK(b.writes[1].index == 2);  // the lowest source first
  CHECK(b.writes[2].index == 3);
  // Software's row comes back behind the NIC's own.
  CHECK(b.command(csr::kTblMrId, 0) == 0);
  CHECK(b.writes[3].data[0] == 0xffffffff);
  CHECK(b.writes[3].data[1] == 0xffffffff);
  CHECK(b.to(1, QpState::Rts) == static_cast<unsigned>(CmdCode::BadTransition));
  CHECK(b.to(1, QpState::Reset) == 0);
  CHECK(b.info(1) == 0);  // with the status gone
  b.bring_up(1);
  b.qperr[0].load({.qp = 1, .status = CqStatus::RetryExceeded});
  b.run(10);
  CHECK(b.info(1) == (4 | 0x84 << 8));
  CHECK(b.read(csr::kCntQpErr) == 4);
}

TEST_CASE("what a peer says about its ports is broadcast and shown; a QP's error goes before it", "[csr]") {
  Bench b;
  b.bring_up(1);
  b.writes.clear();
  CHECK(b.peer(2) == 3);
  b.qperr[0].load({.qp = 1, .status = CqStatus::RetryExceeded});
  b.pmask.load({.dest = 2, .mask = 0xfe});
  b.run(20);
  REQUIRE(b.writes.size() == 2);
  CHECK(b.writes[0].table == 3);
  CHECK(b.writes[1].table == 9);
  CHECK(b.writes[1].index == 2);
  CHECK(b.writes[1].data == std::array<uint32_t, 16>{2});  // planes that there are
  CHECK(b.peer(2) == 2);
  CHECK(b.peer(4 + 2) == 2);  // modulo the number of destinations
  CHECK(b.peer(1) == 3);
  CHECK(b.write_row(csr::kTblPeerPortsId, 4 + 1, csr::TblPeerPorts{.mask = 1}) == 0);
  CHECK(b.peer(1) == 1);
}

TEST_CASE("errors of all QPs and masks of all peers are taken while a table write waits", "[csr]") {
  Bench b;
  for (unsigned qp = 0; qp < 4; ++qp) b.bring_up(qp);
  b.writes.clear();
  b.acks = false;  // a block that does not acknowledge yet: it may wait for one of those below
  CHECK(b.write(csr::kTblCmd, Bench::order(csr::kTblMrId, 0)) == 0);
  b.run(3);
  REQUIRE(b.regs.cfg().req);
  for (unsigned i = 0; i < 3 * 4; ++i) {  // three of each QP, from all sources; three of each destination
    REQUIRE(b.pmask.free());
    REQUIRE(b.qperr[i % 3].free());
    b.pmask.load({.dest = static_cast<uint16_t>(3 - i % 4), .mask = static_cast<uint8_t>(i < 8 ? 0 : 1)});
    b.qperr[i % 3].load(
        {.qp = static_cast<uint16_t>(i % 4), .status = i < 4 ? CqStatus::RemAccess : CqStatus::Flushed});
    b.cycle();
  }
  b.run(3);
  CHECK(b.writes.empty());
  CHECK(b.read(csr::kCmdStatus) == kBusy);
  b.acks = true;
  b.run(100);
  CHECK(b.read(csr::kCmdStatus) == 0);
  REQUIRE(b.writes.size() == 4 + 4);  // behind software's: each QP and each destination once
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(b.writes[i].table == 3);
    CHECK(b.writes[i].index == i);
    CHECK(b.writes[4 + i].table == 9);
    CHECK(b.writes[4 + i].index == i);
    CHECK(b.writes[4 + i].data[0] == 1);
  }
  CHECK(b.read(csr::kCntQpErr) == 4);
  for (unsigned qp = 0; qp < 4; ++qp) {
    CHECK(b.info(qp) == (4 | 0x62 << 8));  // the first reason stays
    CHECK(b.peer(qp) == 1);
  }
}

TEST_CASE("a peer that goes on and on holds back neither another one nor software", "[csr]") {
  Bench b;
  unsigned other = 0, software = 0;
  b.cycle({.awvalid = true, .wvalid = true, .awaddr = csr::kTblCmd, .wdata = csr::kTblMrId << 16, .wstrb = 15});
  b.pmask.load({.dest = 2, .mask = 1});
  for (unsigned i = 0; i < 60; ++i) {
    b.cycle({.bready = true});
    if (b.pmask.free()) b.pmask.load({.dest = 0, .mask = 1});
  }
  for (const CfgBus& w : b.writes) {
    other += w.table == 9 && w.index == 2;
    software += w.table == csr::kTblMrId;
  }
  CHECK(other == 1);
  CHECK(software == 1);
  CHECK(b.writes.size() > 8);
}

TEST_CASE("the NIC's own table write goes first, and a command of software waits for it", "[csr]") {
  Bench b;
  b.bring_up(1);
  b.writes.clear();
  b.write(csr::kTblData0, 0x77);
  SECTION("both could go in the same cycle") {
    // A mask and a command before them: it is the mask's turn again.
    b.pmask.load({.dest = 3, .mask = 1});
    b.run(10);
    CHECK(b.command(csr::kTblMrId, 0) == 0);
    const unsigned begin = b.cycles;
    b.pmask.load({.dest = 2, .mask = 1});
    b.run(1);
    // The command is taken in cycle 1 and written in 2, in which pmask has a head: both are there in 3. The mask has
    // cfg_req from 4 on, acknowledged in 5, taken back for 6; gone in 7. In 8 the command is judged: the same for 9 to
    // 12. So it is busy from 3 to 12.
    const unsigned look = GENERATE(12u, 13u);
    for (unsigned i = 1; i <= look; ++i) {
      Csr::In in{.bready = true, .arvalid = i == look, .araddr = csr::kCmdStatus};
      if (i == 1) {
        in.awvalid = in.wvalid = true;
        in.awaddr = csr::kTblCmd;
        in.wdata = Bench::order(csr::kTblMrId, 1);
        in.wstrb = 15;
      }
      CHECK(b.regs.cfg().req == (i == 4 || i == 5 || i == 9 || i == 10));
      if (i == 4) CHECK(b.regs.cfg().table == csr::kTblPeerPortsId);
      if (i == 9) CHECK(b.regs.cfg().table == csr::kTblMrId);
      CHECK(b.regs.out().bvalid == (i == 3));  // it waits for nothing
      b.cycle(in);
    }
    CHECK(b.cycles == begin + look + 1);
    CHECK(b.regs.out().rdata == (look == 12 ? kBusy : 0));
  }
  SECTION("a block that does not acknowledge: errors, then the command, then the next mask") {
    b.acks = false;
    b.pmask.load({.dest = 2, .mask = 1});
    b.run(4);
    REQUIRE(b.regs.cfg().req);
    CHECK(b.write(csr::kSackTrigger, 5) == 0);
    CHECK(b.regs.values().sack_trigger == 5);
    CHECK(b.write(csr::kTblData0, 0x78) == 0);  // not its data
    CHECK(b.write(csr::kTblCmd, Bench::order(csr::kTblMrId, 1)) == 0);
    CHECK(b.read(csr::kCmdStatus) == kBusy);
    CHECK(b.write(csr::kTblData0, 0x79) == 2);
    CHECK(b.write(csr::kTblCmd, Bench::order(csr::kTblMrId, 2)) == 2);
    b.pmask.load({.dest = 3, .mask = 2});
    b.qperr[0].load({.qp = 1, .status = CqStatus::RetryExceeded});
    b.run(1000);
    CHECK(b.read(csr::kCmdStatus) == kBusy);
    CHECK(b.regs.cfg().table == csr::kTblPeerPortsId);
    CHECK(b.regs.cfg().index == 2);
    CHECK(b.regs.cfg().data == std::array<uint32_t, 16>{1});
    b.acks = true;
    b.run(50);
    CHECK(b.read(csr::kCmdStatus) == 0);
    REQUIRE(b.writes.size() == 3);
    CHECK(b.writes[0].table == csr::kTblQpStateId);
    CHECK(b.writes[1].table == csr::kTblMrId);
    CHECK(b.writes[1].index == 1);
    CHECK(b.writes[1].data[0] == 0x78);
    CHECK(b.writes[2].table == csr::kTblPeerPortsId);
    CHECK(b.writes[2].index == 3);
  }
}

TEST_CASE("a command is judged when its turn comes", "[csr][qp_state]") {
  Bench b;
  b.bring_up(1, QpState::Rtr);
  b.writes.clear();
  SECTION("the QP fails while the command waits: it is refused") {
    b.acks = false;
    b.pmask.load({.dest = 2, .mask = 1});
    b.run(4);
    REQUIRE(b.regs.cfg().req);
    csr::TblQpCtx row;
    row.state = QpState::Rts;
    row.mpr = 1;
    uint32_t words[csr::TblQpCtx::kWords];
    row.pack(words);
    for (unsigned i = 0; i < csr::TblQpCtx::kWords; ++i) b.write(csr::kTblData0 + 4 * i, words[i]);
    REQUIRE(b.write(csr::kTblCmd, Bench::order(csr::kTblQpCtxId, 1)) == 0);
    CHECK(b.info(1) == 2);  // nothing of it yet
    b.qperr[2].load({.qp = 1, .status = CqStatus::WimmOverrun});
    b.run(3);
    CHECK(b.info(1) == (4 | 0x83 << 8));
    CHECK(b.read(csr::kCmdStatus) == kBusy);
    b.acks = true;
    b.run(30);
    CHECK(b.read(csr::kCmdStatus) == status(CmdCode::BadTransition, 4));
    CHECK(b.info(1) == (4 | 0x83 << 8));
    REQUIRE(b.writes.size() == 1);  // behind the mask
    CHECK(b.writes[0].table == csr::kTblQpStateId);
  }
  SECTION("a report comes around the cycle of the command") {
    // The command is taken in cycle 4, written in 5 and judged in 6: QP 1 into Reset. A report that is loaded before
    // cycle 3 has its head in 5, and makes an error of it first. One in 6 waits for 7, and is about a QP in Reset; one
    // in 7 as well.
    const unsigned load = GENERATE(3u, 4u, 5u);
    CAPTURE(load);
    b.write(csr::kTblData0, 0);
    for (unsigned i = 0; i < 7; ++i) {
      if (i == load) b.qperr[0].load({.qp = 1, .status = CqStatus::RetryExceeded});
      Csr::In in;
      if (i == 4) {
        in.awvalid = in.wvalid = true;
        in.awaddr = csr::kTblCmd;
        in.wdata = Bench::order(csr::kTblQpStateId, 1);
        in.wstrb = 15;
      }
      b.cycle(in);
    }
    b.cycle({.bready = true});
    b.run(30);
    const bool first = load == 3;
    CHECK(b.read(csr::kCmdStatus) == 0);
    CHECK(b.info(1) == 0);
    CHECK(b.read(csr::kCntQpErr) == (first ? 1 : 0));
    CHECK(b.read(csr::kIrq) == (4 | (first ? 2 : 0)));
    REQUIRE(b.writes.size() == (first ? 2 : 1));
    if (first) CHECK(b.writes[0].data[0] == 4);
    CHECK(b.writes.back().data[0] == 0);
  }
}

TEST_CASE("what the blocks report waits for the cycle in which a command is judged, and for none else", "[csr]") {
  // The report is csr's head in cycle 2, taken then, and kept from 3 on; the command is judged in cycle 2 or 3.
  const unsigned judged = GENERATE(2u, 3u), look = GENERATE(2u, 3u, 4u);
  Bench b;
  b.bring_up(1);
  b.write(csr::kQpSel, 1);
  b.run(2);
  CAPTURE(judged, look);
  const auto cycle = [&](unsigned i) {
    Csr::In in{.bready = true, .arvalid = i == look, .rready = true, .araddr = csr::kQpInfo};
    if (i + 2 == judged) {
      in.awvalid = in.wvalid = true;
      in.awaddr = csr::kTblCmd;
      in.wdata = Bench::order(kNoTable, 0);
      in.wstrb = 15;
    }
    b.cycle(in);
  };
  b.qperr[0].load({.qp = 1, .status = CqStatus::RetryExceeded});
  for (unsigned i = 0; i <= look; ++i) cycle(i);
  CHECK(b.regs.out().rdata == (look < (judged == 2 ? 4u : 3u) ? 3 : (4 | 0x84 << 8)));
}

namespace {

/// What sets a latched bit of IRQ, and how long before: in cycle `begun` + `lead`.
struct Event {
  const char* name;
  unsigned bit, lead;
  std::function<void(Bench&)> prepare;
  std::function<void(Bench&, Csr::In&)> begin;
};

std::vector<Event> events() {
  // What is loaded before a cycle is csr's head two cycles later.
  return {
      {"qp_err", 1, 2, [](Bench& b) { b.bring_up(1); },
       [](Bench& b, Csr::In&) { b.qperr[1].load({.qp = 1, .status = CqStatus::RemAccess}); }},
      {"cmd, refused", 2, 2, [](Bench&) {},
       [](Bench&, Csr::In& in) {
         in.awvalid = in.wvalid = true;
         in.awaddr = csr::kTblCmd;
         in.wdata = Bench::order(kNoTable, 0);
         in.wstrb = 15;
       }},
      {"cmd, good", 2, 6, [](Bench&) {},
       [](Bench&, Csr::In& in) {
         in.awvalid = in.wvalid = true;
         in.awaddr = csr::kTblCmd;
         in.wdata = Bench::order(csr::kTblMrId, 0);
         in.wstrb = 15;
       }},
      {"evp", 3, 2, [](Bench& b) { b.write(csr::kEvpCmd, 1); },
       [](Bench& b, Csr::In&) { b.evr.load({.answered = false, .rtt = 0}); }},
      {"evq_drop", 4, 2,
       [](Bench& b) {
         for (unsigned i = 0; i < 16; ++i) {
           b.evev.load({.qp = 1, .state = kEvBad});
           b.cycle();
         }
         b.run(3);
       },
       [](Bench& b, Csr::In&) { b.evev.load({.qp = 1, .state = kEvBad}); }},
  };
}

}  // namespace

TEST_CASE("an interrupt is told until it is cleared, and none is lost", "[csr]") {
  SECTION("a bit is set in the cycle after its event, the pin one later; it stays until it is cleared") {
    for (const Event& e : events()) {
      CAPTURE(e.name);
      const uint32_t bit = 1u << e.bit;
      for (const uint32_t enabled : {bit, ~bit & 0x1e}) {
        for (unsigned look = e.lead; look <= e.lead + 1; ++look) {
          Bench b;
          e.prepare(b);
          b.write(csr::kIrqEnable, enabled);
          b.write(csr::kIrq, ~0u);
          b.run(2);
          REQUIRE((b.read(csr::kIrq) & 0x1e) == 0);
          for (unsigned i = 0; i <= e.lead + 1; ++i) {
            Csr::In in{.bready = true};
            if (i == 0) e.begin(b, in);
            if (i == look) {
              in.arvalid = true;
              in.araddr = csr::kIrq;
            }
            CHECK_FALSE(b.regs.out().irq);
            b.cycle(in);
            if (i == look) CHECK((b.regs.out().rdata & 0x1e) == (look == e.lead ? 0 : bit));
          }
          CHECK(b.regs.out().irq == (enabled == bit));
          b.cycle({.rready = true});
          b.run(500);
          CHECK(b.regs.out().irq == (enabled == bit));
          CHECK((b.read(csr::kIrq) & 0x1e) == bit);  // reading clears nothing
          CHECK(b.write(csr::kIrq, ~bit) == 0);      // nor does clearing the others, or no byte of it
          CHECK(b.write(csr::kIrq, ~0u, 0b1110) == 0);
          CHECK(b.write(csr::kIrq, 0) == 0);
          CHECK((b.read(csr::kIrq) & 0x1e) == bit);
          // Address and data in cycle 0, written in 1, the bit gone in 2, the pin in 3.
          b.cycle({.awvalid = true, .wvalid = true, .awaddr = csr::kIrq, .wdata = bit, .wstrb = 1});
          b.cycle();
          b.cycle({.bready = true});
          CHECK_FALSE(b.regs.out().irq);
          CHECK((b.read(csr::kIrq) & 0x1e) == 0);
        }
      }
    }
  }
  SECTION("one that comes while it is cleared stays; one before that does not") {
    for (const Event& e : events()) {
      for (const unsigned earlier : {0u, 1u, 2u, 3u}) {  // cycles from the event to the write that clears, and one
        CAPTURE(e.name, earlier);
        Bench b;
        e.prepare(b);
        b.write(csr::kIrqEnable, 0x1e);
        b.write(csr::kIrq, ~0u);
        b.run(2);
        // The command has the bus for itself: its write is over long before that of IRQ begins only if it is good.
        if (e.bit == 2 && e.lead == 2 && earlier < 3) continue;
        const unsigned taken = e.lead + earlier - 2;  // the write is one cycle later: earlier == 1 is the event's
        for (unsigned i = 0; i < e.lead + 8; ++i) {
          Csr::In in{.bready = true};
          if (i == 0) e.begin(b, in);
          if (i == taken) {
            in.awvalid = in.wvalid = true;
            in.awaddr = csr::kIrq;
            in.wdata = ~0u;
            in.wstrb = 15;
          }
          b.cycle(in);
        }
        const bool stays = earlier <= 1;
        CHECK((b.read(csr::kIrq) & 0x1e) == (stays ? 1u << e.bit : 0));
        CHECK(b.regs.out().irq == stays);
      }
    }
  }
  SECTION("evq is 1 while the queue holds an event, whatever is written") {
    Bench b;
    b.write(csr::kIrqEnable, 1);
    CHECK(b.read(csr::kIrq) == 0);
    for (unsigned i = 0; i < 2; ++i) {
      b.evev.load({.qp = 1, .state = kEvBad});
      b.cycle();
    }
    b.cycle();  // the first one is csr's head in cycle 2, in the queue in 3
    CHECK_FALSE(b.regs.out().irq);
    b.cycle();
    CHECK(b.regs.out().irq);
    CHECK(b.read(csr::kIrq) == 1);
    CHECK(b.write(csr::kIrq, ~0u) == 0);
    CHECK(b.read(csr::kIrq) == 1);
    CHECK(b.read(csr::kEvq) != 0);
    b.run(2);
    CHECK(b.regs.out().irq);  // there is one more
    b.cycle({.arvalid = true, .araddr = csr::kEvq});
    CHECK(b.regs.out().irq);
    b.cycle({.rready = true});
    CHECK_FALSE(b.regs.out().irq);
    CHECK(b.read(csr::kIrq) == 0);
  }
  SECTION("the pin follows IRQ_ENABLE one cycle later") {
    Bench b;
    REQUIRE(b.command(kNoTable, 0) != 0);
    b.run(5);
    CHECK_FALSE(b.regs.out().irq);
    CHECK(b.read(csr::kIrq) == 4);
    for (const bool on : {true, false}) {
      b.cycle({.awvalid = true, .wvalid = true, .awaddr = csr::kIrqEnable, .wdata = on ? 4u : 0x1bu, .wstrb = 15});
      b.cycle();
      CHECK(b.regs.out().irq != on);
      b.cycle({.bready = true});
      CHECK(b.regs.out().irq == on);
    }
    CHECK(b.read(csr::kIrq) == 4);
  }
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

TEST_CASE("the waves of csr.md: a read, a register, a table", "[csr][waves]") {
  Bench b;
  Csr::In in;
  Wave wave(
      "csr",
      "csr: REORDER is read, UDP_PORT is written, then row 3 of the peers' ports (table 9); CMD_STATUS says when");
  wave.words(
      "araddr", [&] { return in.arvalid ? fmt::format("{:03x}", in.araddr) : std::string(); }, [] { return true; });
  wave.words(
      "rdata", [&] { return b.regs.out().rvalid ? fmt::format("{:x}", b.regs.out().rdata) : std::string(); },
      [] { return true; });
  wave.words(
      "awaddr, wdata", [&] { return in.awvalid ? fmt::format("{:03x}: {:x}", in.awaddr, in.wdata) : std::string(); },
      [] { return true; });
  wave.bit("bvalid", [&] { return b.regs.out().bvalid; });
  wave.bit("cfg.req", [&] { return b.regs.cfg().req; });
  wave.bit("all blocks ack", [&] { return b.ack; });
  const uint32_t write_at[] = {csr::kUdpPort, csr::kTblCmd};
  const uint32_t value[] = {4971, csr::kTblCmdTable.set(0, csr::kTblPeerPortsId) | csr::kTblCmdIndex.set(0, 3)};
  unsigned written = 0;
  for (unsigned i = 0; i < 19; ++i) {
    in = {};
    if (i == 1) in = {.arvalid = true, .araddr = csr::kReorder};
    if (i == 12 || i == 16) in = {.arvalid = true, .araddr = csr::kCmdStatus};
    if (i == 4 || i == 9) {
      in.awvalid = in.wvalid = true;
      in.awaddr = static_cast<uint16_t>(write_at[written]);
      in.wdata = value[written++];
      in.wstrb = 15;
    }
    in.rready = b.regs.out().rvalid;
    in.bready = b.regs.out().bvalid;
    wave.sample();
    b.cycle(in);
  }
  REQUIRE(b.writes.size() == 1);
  CHECK(b.writes[0].index == 3);
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

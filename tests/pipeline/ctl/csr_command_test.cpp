// SPDX-License-Identifier: Apache-2.0
// Table writes: commands of software, and those of the NIC itself.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <vector>

#include "tests/pipeline/ctl/csr_bench.hpp"

namespace mrc::test::csr_command_test {

using namespace mrc::test::regs;

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
  cycle({.awvalid = true, .wvalid = true, .awaddr = csr::kTblCmd, .wdata = 0x200'0007, .wstrb = 15});  // cycle 0
  cycle({});                                                                                           // written
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
  refused(b.write_row(csr::kTblQpClassId, 4, csr::TblQpClass{.own = true}), CmdCode::BadIndex, 0);
  refused(b.write_row(csr::kTblQpQpnId, 4, csr::TblQpQpn{.high = 1}), CmdCode::BadIndex, 0);
  for (unsigned table = 12; table < 16; ++table) refused(b.command(table, 0), CmdCode::BadIndex, 0);
  CHECK(b.info(1) == 1);
  CHECK(b.info(2) == 4);
  CHECK(b.writes.size() == 1 + 3 + 1);        // what was good: QP 1, QP 2, its Error
  CHECK(b.read(csr::kTblCmd) == 0x0f000000);  // the register keeps what was written
  // The other tables are taken as they are.
  for (const unsigned table : {1u, 2u, 4u, 5u, 8u}) CHECK(b.command(table, 0xffff) == 0);
  CHECK(b.command(csr::kTblQpMprId, 3) == 0);
  CHECK(b.command(csr::kTblEvStateId, 3) == 0);
  CHECK(b.write_row(csr::kTblQpClassId, 3, csr::TblQpClass{.rtx = 8, .data = 4, .own = true}) == 0);
  REQUIRE(b.writes.size() == 5 + 8);
  CHECK(b.writes.back().is(CfgTable::QpClass));
  CHECK(csr::TblQpClass::unpack(b.writes.back().data.data()) == csr::TblQpClass{.rtx = 8, .data = 4, .own = true});
  CHECK(b.info(3) == 0);  // it is no state
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

TEST_CASE("of errors at once those of tx_inflight, rx_track, rx_reorder, tx_segment and the host go in this order",
          "[csr][qp_state][A-62]") {
  constexpr CqStatus kOf[] = {CqStatus::RetryExceeded, CqStatus::RemAccess, CqStatus::RemInvalid, CqStatus::WimmOverrun,
                              CqStatus::Flushed};
  for (unsigned first = 0; first < 5; ++first) {
    CAPTURE(first);
    Bench b;
    b.bring_up(1);
    for (unsigned i = first; i < 4; ++i) b.qperr[i].load({.qp = 1, .status = kOf[i]});
    b.cycle();
    b.host_fail.push({.qp = 1, .status = kOf[4]});  // one cycle later: it has no register in front
    b.run(20);
    CHECK(b.info(1) == (4u | static_cast<unsigned>(kOf[first]) << 8));
    CHECK(b.read(csr::kCntQpErr) == 1);
    for (const auto& qperr : b.qperr) CHECK(qperr.count() == 0);
    CHECK_FALSE(b.host_fail.valid());
  }
}

TEST_CASE("QPs that the host gives up fail once, with the host's reason", "[csr][qp_state]") {
  Bench b;
  b.bring_up(0);
  b.bring_up(1, QpState::Rtr);
  b.bring_up(2, QpState::Init);  // 3 is in Reset, and there are no more
  b.writes.clear();
  const auto own = static_cast<CqStatus>(0x42);  // a reason of the host's own
  const auto say = [&](unsigned qp, CqStatus status) {
    REQUIRE(b.host_fail.ready());
    b.host_fail.push({.qp = static_cast<QpIndex>(qp), .status = status});
    b.cycle();
  };
  // All of them in a row, and again, while a table write waits: one is taken in every cycle.
  b.acks = false;
  CHECK(b.write(csr::kTblCmd, Bench::order(csr::kTblMrId, 0)) == 0);
  b.run(3);
  REQUIRE(b.regs.cfg().req);
  say(0, CqStatus::HostRead);
  say(1, CqStatus::HostWrite);
  say(2, own);
  say(3, CqStatus::HostRead);
  for (const unsigned nobody : {4u, 5u, 6u, 7u, 0x8000u, 0x7fffu, 0xffffu}) say(nobody, CqStatus::HostRead);
  for (unsigned qp = 0; qp < 4; ++qp) say(qp, CqStatus::Flushed);
  b.run(2);
  const uint32_t infos[] = {4 | 0x87 << 8, 4 | 0x88 << 8, 4 | 0x42 << 8, 0};
  for (unsigned qp = 0; qp < 4; ++qp) CHECK(b.info(qp) == infos[qp]);
  CHECK(b.read(csr::kCntQpErr) == 3);
  CHECK(csr::kIrqQpErr.get(b.read(csr::kIrq)) == 1);
  CHECK(b.writes.empty());
  b.acks = true;
  b.run(100);
  REQUIRE(b.writes.size() == 3);  // behind software's row, which came while nobody looked
  for (unsigned qp = 0; qp < 3; ++qp) {
    CHECK(b.writes[qp].table == csr::kTblQpStateId);
    CHECK(b.writes[qp].index == qp);
    CHECK(b.writes[qp].data == std::array<uint32_t, 16>{4});
  }
  // What a block reports in the same cycle goes first, and its reason stays.
  CHECK(b.to(0, QpState::Reset) == 0);
  b.bring_up(0);
  b.qperr[2].load({.qp = 0, .status = CqStatus::WimmOverrun});
  b.cycle();
  say(0, CqStatus::HostWrite);
  b.run(10);
  CHECK(b.info(0) == (4 | 0x83 << 8));
  CHECK(b.read(csr::kCntQpErr) == 4);
  // A QP that was set up anew fails anew.
  CHECK(b.to(1, QpState::Reset) == 0);
  say(1, CqStatus::HostRead);
  b.bring_up(1);
  CHECK(b.info(1) == 3);
  say(1, CqStatus::HostRead);
  b.run(10);
  CHECK(b.info(1) == (4 | 0x87 << 8));
  CHECK(b.read(csr::kCntQpErr) == 5);
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
    Stream<Qperr>& qperr = b.qperr[(i + i / 4) % 4];
    REQUIRE(qperr.free());
    b.pmask.load({.dest = static_cast<uint16_t>(3 - i % 4), .mask = static_cast<uint8_t>(i < 8 ? 0 : 1)});
    qperr.load({.qp = static_cast<QpIndex>(i % 4), .status = i < 4 ? CqStatus::RemAccess : CqStatus::Flushed});
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
  b.cycle({.awvalid = true, .wvalid = true, .awaddr = csr::kTblCmd, .wdata = csr::kTblMrId << 24, .wstrb = 15});
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
    csr::TblQpCtx row{.mpr = 1, .state = QpState::Rts};
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

}  // namespace mrc::test::csr_command_test

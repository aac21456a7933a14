// SPDX-License-Identifier: Apache-2.0
/// The bench of csr.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "pipeline/ctl/csr.hpp"
#include "tests/pipeline/block_bench.hpp"

namespace mrc::test::regs {

/// csr with its streams; blocks acknowledge when told to, or by themselves after a cycle. tiny: 4 QPs, 4 destinations,
/// 2 planes, a tick of 128 cycles.
struct Bench {
  Preset preset = *find_preset("tiny");
  Stream<Evev> evev;
  Stream<Pmask> pmask;
  Stream<Qperr> qperr[4];
  Fifo<Qperr> host_fail{2};
  Stream<Evr> evr;
  Stream<Evp> evp;
  Csr regs{preset, evev, pmask, {{&qperr[0], &qperr[1], &qperr[2], &qperr[3]}, host_fail}, evr, evp};
  bool acks = true;  // blocks follow cfg_req one cycle later
  bool ack = false;
  unsigned port_up = 3;
  unsigned cycles = 0;
  std::vector<CfgBus> writes;  // table writes that the blocks have seen
  std::vector<Evp> probes;

  void cycle(Csr::In in = {}) {
    take(evp, probes);
    if (acks) {
      in.all_ack = in.any_ack = ack;
      if (regs.cfg().req && !ack) writes.push_back(regs.cfg());
    }
    in.port_up = port_up;
    const bool req = regs.cfg().req;
    regs.step(in);
    regs.clock();
    ack = req;
    clock_all(evev, pmask);
    for (auto& s : qperr) s.clock();
    clock_all(host_fail, evr, evp);
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
inline constexpr uint32_t kBusy = 1u << 31;
inline constexpr unsigned kNoTable = 15;  // a command that is refused

}  // namespace mrc::test::regs

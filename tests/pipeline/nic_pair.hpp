// SPDX-License-Identifier: Apache-2.0
/// Two NICs connected port to port, each with ideal host memory and software that drives its registers.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <vector>

#include "gen/csr.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/nic.hpp"

namespace mrc::test {

/// One NIC with its host.
class Host {
 public:
  explicit Host(const Preset& preset, std::size_t memory = std::size_t{1} << 20) : nic(preset), mem(memory) {
    in.rst_n = 1;
    in.link_up = static_cast<uint8_t>((1u << preset.num_planes) - 1);
    in.tx_tready = 0xff;
    in.cqe_ready = in.host_rd_ready = in.host_wr_ready = 1;
    in.bready = in.rready = 1;
  }

  /// Fills the inputs of this cycle but the ports, from the outputs of this cycle.
  void drive() {
    in.wqe_valid = !wqes.empty();
    if (in.wqe_valid) wqes.front().pack(in.wqe);
    in.host_rsp_valid = reads_ != 0;
    if (in.host_rsp_valid) {  // the request taken in the cycle before
      in.host_rsp_plane = read_.plane;
      load(read_.addr, in.host_rsp_data);
    }
    reads_ = out.host_rd_valid && in.host_rd_ready;
    if (reads_ != 0) read_ = Rdreq::unpack(out.host_rd);
    if (out.host_wr_valid && in.host_wr_ready) {
      store(out.host_wr_addr, out.host_wr_data, out.host_wr_len);
    }
    if (out.cqe_valid && in.cqe_ready) cqes.push_back(Cqe::unpack(out.cqe));
  }
  void step() {
    const bool sent = in.wqe_valid && out.wqe_ready;
    nic.step(in);
    if (sent) wqes.pop_front();
    nic.outputs(out);
  }

  Nic nic;
  mrc_pins_in in{};
  mrc_pins_out out{};
  std::vector<uint8_t> mem;
  std::deque<Wqe> wqes;
  std::vector<Cqe> cqes;

 private:
  /// Memory repeats over the address space.
  void load(uint64_t addr, uint8_t* line) const {
    const std::size_t at = addr % mem.size();
    if (at + MRC_LINE_BYTES <= mem.size()) {
      std::memcpy(line, mem.data() + at, MRC_LINE_BYTES);
    } else {
      for (unsigned i = 0; i < MRC_LINE_BYTES; ++i) line[i] = mem[(addr + i) % mem.size()];
    }
  }
  void store(uint64_t addr, const uint8_t* line, unsigned len) {
    const std::size_t at = addr % mem.size();
    if (at + len <= mem.size()) {
      std::memcpy(mem.data() + at, line, len);
    } else {
      for (unsigned i = 0; i < len; ++i) mem[(addr + i) % mem.size()] = line[i];
    }
  }

  unsigned reads_ = 0;
  Rdreq read_{};
};

/// A frame's beat on the way from one NIC to the other.
struct Beat {
  bool valid = false, last = false;
  uint32_t keep = 0;
  std::array<uint8_t, MRC_PORT_BYTES> data{};
};

class NicPair {
 public:
  explicit NicPair(const Preset& preset) : host{Host(preset), Host(preset)}, planes_(preset.num_planes) {
    for (Host& h : host) h.nic.outputs(h.out);
  }

  /// One clock of both.
  void step() {
    for (unsigned side = 0; side < 2; ++side) host[side].drive();
    connect(host[0], host[1]);
    connect(host[1], host[0]);
    if (tap) tap(*this);
    for (Host& h : host) h.step();
    ++cycle;
  }
  void run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) step();
  }
  /// Steps until done() or the limit; true when done.
  bool run_until(const std::function<bool()>& done, unsigned limit) {
    for (unsigned i = 0; i < limit; ++i) {
      if (done()) return true;
      step();
    }
    return done();
  }

  /// Register write of a side; returns bresp.
  uint8_t write(unsigned side, uint32_t offset, uint32_t value, uint8_t strobes = 0xf) {
    mrc_pins_in& in = host[side].in;
    const mrc_pins_out& out = host[side].out;
    in.awvalid = in.wvalid = 1;
    in.awaddr = static_cast<uint16_t>(offset);
    in.wdata = value;
    in.wstrb = strobes;
    while (!out.bvalid) {
      const bool aw = in.awvalid && out.awready, w = in.wvalid && out.wready;
      step();
      if (aw) in.awvalid = 0;
      if (w) in.wvalid = 0;
    }
    const uint8_t resp = out.bresp;
    step();
    return resp;
  }
  /// Register read of a side; resp, if given, takes rresp.
  uint32_t read(unsigned side, uint32_t offset, uint8_t* resp = nullptr) {
    mrc_pins_in& in = host[side].in;
    const mrc_pins_out& out = host[side].out;
    in.arvalid = 1;
    in.araddr = static_cast<uint16_t>(offset);
    do step();
    while (!out.rvalid);
    in.arvalid = 0;
    const uint32_t value = out.rdata;
    if (resp) *resp = out.rresp;
    step();
    return value;
  }
  /// A command, until it has ended; 0 when it was good, 2 (SLVERR) when it was refused.
  uint8_t command(unsigned side, unsigned table, unsigned index) {
    write(side, csr::kTblCmd, csr::kTblCmdIndex.set(0, index) | csr::kTblCmdTable.set(0, table));
    uint32_t status = 0;
    do status = read(side, csr::kCmdStatus);
    while (csr::kCmdStatusBusy.get(status) != 0);
    return csr::kCmdStatusCode.get(status) == 0 ? 0 : 2;
  }
  /// Writes a row of a table; returns what command() does.
  template <class Row>
  uint8_t write_row(unsigned side, unsigned table, unsigned index, const Row& row) {
    uint32_t words[16] = {};
    row.pack(words);
    for (unsigned i = 0; i < Row::kWords; ++i) write(side, csr::kTblData0 + 4 * i, words[i]);
    return command(side, table, index);
  }

  uint8_t timeout = 7, retry_linear = 7, retry_exp = 25;  ///< of the QPs connected from now on

  /// QP `qp` of both sides in Rts, talking to each other, with EV profile 0, addresses and a memory region that covers
  /// the whole host memory at virtual address 0 under R_Key 0x100 * (qp mod NumMrs).
  void connect_qp(unsigned qp, unsigned mtu = 4, bool srv6 = true, bool ts = false, unsigned backup = 0) {
    const Preset& preset = host[0].nic.preset();
    for (unsigned side = 0; side < 2; ++side) {
      csr::TblQpCtx row;
      row.mtu = static_cast<uint8_t>(mtu & 7);
      row.encap = static_cast<uint8_t>(srv6 ? Encap::Srv6 : Encap::Ipv6);
      row.ts = ts;
      row.backup = static_cast<uint8_t>(backup & 31);
      row.mpr = row.mpr_dest = static_cast<uint8_t>(preset.max_mpr / 128);
      row.max_wimm = row.max_wimm_dest = static_cast<uint8_t>(preset.max_wimm);
      row.timeout = timeout;
      row.retry_linear = retry_linear;
      row.retry_exp = retry_exp;
      row.dqpn = qp + kQpnBase;
      row.pkey = 0xffff;
      row.sq_psn = side == 0 ? 0xfffff0 : 100;
      row.rq_psn = side == 0 ? 100 : 0xfffff0;
      row.dmac = 0x020000000001 + side;
      row.dip = U128{0xfd00000000000000} << 64 | (2 - side);
      row.srv6 = U128{0xfcbb000000010002} << 64 | U128{0x0003} << 48;
      write_row(side, csr::kTblQpStateId, qp, csr::TblQpState{.state = QpState::Reset});
      write(side, csr::kQpAttr, 0xfff);
      for (const QpState state : {QpState::Init, QpState::Rtr, QpState::Rts}) {
        row.state = state;
        write_row(side, csr::kTblQpCtxId, qp, row);
      }
      const unsigned mr_index = qp % preset.num_mrs;
      csr::TblMr mr{.length = host[side].mem.size(), .valid = true, .rkey = mr_index << 8};
      write_row(side, csr::kTblMrId, mr_index, mr);
    }
  }
  void set_up() {
    const Preset& preset = host[0].nic.preset();
    for (unsigned side = 0; side < 2; ++side) {
      write(side, csr::kMacLo, 1 + side);
      write(side, csr::kMacHi, 0x0200);
      write(side, csr::kIp0, 1 + side);
      write(side, csr::kIp3, 0xfd000000);
      for (unsigned i = 0; i < preset.evs_per_qp; ++i) {
        write_row(side, csr::kTblEvId, i, csr::TblEv{.ev = 0xc000'0000u + i * 0x10001u});
      }
    }
  }

  Host host[2];
  uint64_t cycle = 0;
  /// Sees, and may change, the inputs of both sides in each cycle before they take them.
  std::function<void(NicPair&)> tap;

 private:
  void connect(const Host& from, Host& to) {
    mrc_pins_in& in = to.in;
    const mrc_pins_out& out = from.out;
    in.rx_tvalid = out.tx_tvalid;
    in.rx_tlast = out.tx_tlast;
    in.rx_tuser = 0;
    for (unsigned p = 0; p < planes_; ++p) {
      if (!(out.tx_tvalid >> p & 1)) continue;
      in.rx_tkeep[p] = out.tx_tkeep[p];
      std::memcpy(in.rx_tdata[p], out.tx_tdata[p], MRC_PORT_BYTES);
    }
  }

  unsigned planes_;
};

}  // namespace mrc::test

// SPDX-License-Identifier: Apache-2.0
/// mrc_fpga_record, Verilated, at the pins of any core of its preset: a device under test whose pins are recorded.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tb/board/pins_digest.hpp"
#include "tb/board/pins_record.hpp"
#include "tb/dut/dut.hpp"
#include "tests/fpga/record/write_memory.hpp"
#include "tests/fpga/unit.hpp"

namespace mrc {

/// Offsets in block MRCX.
namespace mrcx {
inline constexpr unsigned kControl = 0x10, kStatus = 0x14, kShape = 0x18, kBase = 0x20, kSize = 0x28, kBytes = 0x30,
                          kCycles = 0x38, kFailed = 0x40, kStrays = 0x44;
inline constexpr uint32_t kStart = 1, kStop = 2;
}  // namespace mrcx

/// The recorder beside a core: one call of cycle() per cycle of the core. Top is mrc_fpga_record, Verilated.
template <class Top, unsigned HostBytes>
class RecorderBench : public Unit<Top> {
 public:
  static constexpr unsigned kPlanes = 2, kPortBytes = HostBytes / 2, kKeepBytes = kPortBytes / 8;

  explicit RecorderBench(uint64_t seed) : Unit<Top>("record"), memory(seed) { this->reset(); }

  WriteMemory<HostBytes> memory;

  /// One cycle: what the core's pins are in it. Its registers are asked by write() and read() in between.
  void cycle(const mrc_pins_in& i, const mrc_pins_out& o) {
    Top& t = *top;
    t.run_i = i.rst_n;
    inputs(i);
    outputs(o);
    const auto& drives = memory.drive();
    t.m_axi_awready_i = drives.awready;
    t.m_axi_wready_i = drives.wready;
    t.m_axi_bvalid_i = drives.bvalid;
    t.m_axi_bresp_i = drives.bresp;
    settle();
    memory.sample({t.m_axi_awvalid_o != 0, t.m_axi_awid_o, t.m_axi_awaddr_o, t.m_axi_awlen_o, t.m_axi_awsize_o,
                   t.m_axi_awburst_o, t.m_axi_wvalid_o != 0, bytes_of(t.m_axi_wdata_o), t.m_axi_wstrb_o,
                   t.m_axi_wlast_o != 0, t.m_axi_bready_o != 0});
    edge();
    t.w_go_i = 0;
  }
  /// True: not refused. It acts at the next edge, that of cycle().
  bool write(unsigned at, uint32_t value) {
    Top& t = *top;
    t.w_go_i = 1;
    t.w_word_i = static_cast<uint16_t>(at / 4);
    t.w_data_i = value;
    t.w_strb_i = 15;
    settle();
    const bool good = t.w_good_o;
    return good;
  }
  std::optional<uint32_t> read(unsigned at) {
    Top& t = *top;
    t.r_word_i = static_cast<uint16_t>(at / 4);
    settle();
    if (t.r_good_o == 0) return {};
    return t.r_data_o;
  }
  uint64_t read64(unsigned at) { return *read(at) | uint64_t{*read(at + 4)} << 32; }
  unsigned state() { return *read(mrcx::kStatus) & 7; }
  unsigned why() { return *read(mrcx::kStatus) >> 8 & 15; }

  /// While the core is in reset: the next cycle of the core is the first of a record.
  void arm(uint64_t base, uint32_t blocks) {
    mrc_pins_in held{};
    memory.region(base, std::size_t{blocks} * 4096);
    const std::pair<unsigned, uint32_t> writes[] = {{mrcx::kBase, static_cast<uint32_t>(base)},
                                                    {mrcx::kBase + 4, static_cast<uint32_t>(base >> 32)},
                                                    {mrcx::kSize, blocks},
                                                    {mrcx::kControl, mrcx::kStart}};
    for (const auto& [at, value] : writes) {
      REQUIRE(write(at, value));
      cycle(held, {});
    }
    REQUIRE(state() == 1);
  }
  /// Until the record is written, the core in reset.
  void finish() {
    for (unsigned n = 0; state() != 0; ++n) {
      REQUIRE(n < 1'000'000);
      cycle({}, {});
    }
    REQUIRE(memory.problem().empty());
    REQUIRE(failed_assertions().empty());
  }
  /// What software copies: BYTES bytes.
  std::string dump() {
    const auto bytes = read64(mrcx::kBytes);
    REQUIRE(bytes <= memory.bytes().size());
    return {memory.bytes().begin(), memory.bytes().begin() + static_cast<std::ptrdiff_t>(bytes)};
  }

 private:
  template <class Port>
  static uint8_t* bytes_of(Port& port) {
    if constexpr (std::is_integral_v<Port>) {
      return reinterpret_cast<uint8_t*>(&port);
    } else {
      return reinterpret_cast<uint8_t*>(&port[0]);
    }
  }
  void inputs(const mrc_pins_in& i) {
    Top& t = *top;
    t.link_up_i = i.link_up;
    t.awvalid_i = i.awvalid;
    t.awaddr_i = i.awaddr;
    t.wvalid_i = i.wvalid;
    t.wdata_i = i.wdata;
    t.wstrb_i = i.wstrb;
    t.bready_i = i.bready;
    t.arvalid_i = i.arvalid;
    t.araddr_i = i.araddr;
    t.rready_i = i.rready;
    t.wqe_valid_i = i.wqe_valid;
    std::memcpy(bytes_of(t.wqe_i), i.wqe, sizeof i.wqe);
    t.cqe_ready_i = i.cqe_ready;
    t.host_rd_ready_i = i.host_rd_ready;
    t.host_rsp_valid_i = i.host_rsp_valid;
    t.host_rsp_plane_i = i.host_rsp_plane;
    t.host_rsp_err_i = i.host_rsp_err;
    std::memcpy(bytes_of(t.host_rsp_data_i), i.host_rsp_data, HostBytes);
    t.host_fail_valid_i = i.host_fail_valid;
    t.host_fail_i = i.host_fail[0];
    t.host_wr_ready_i = i.host_wr_ready;
    t.tx_tready_i = i.tx_tready;
    t.rx_tvalid_i = i.rx_tvalid;
    t.rx_tlast_i = i.rx_tlast;
    t.rx_tuser_i = i.rx_tuser;
    for (unsigned p = 0; p < kPlanes; ++p) {
      std::memcpy(bytes_of(t.rx_tkeep_i) + p * kKeepBytes, &i.rx_tkeep[p], kKeepBytes);
      std::memcpy(bytes_of(t.rx_tdata_i) + p * kPortBytes, i.rx_tdata[p], kPortBytes);
    }
  }
  void outputs(const mrc_pins_out& o) {
    Top& t = *top;
    t.awready_i = o.awready;
    t.wready_i = o.wready;
    t.bvalid_i = o.bvalid;
    t.bresp_i = o.bresp;
    t.arready_i = o.arready;
    t.rvalid_i = o.rvalid;
    t.rresp_i = o.rresp;
    t.rdata_i = o.rdata;
    t.irq_i = o.irq;
    t.wqe_ready_i = o.wqe_ready;
    t.host_fail_ready_i = o.host_fail_ready;
    t.cqe_valid_i = o.cqe_valid;
    std::memcpy(bytes_of(t.cqe_i), o.cqe, sizeof o.cqe);
    t.host_rd_valid_i = o.host_rd_valid;
    std::memcpy(bytes_of(t.host_rd_i), o.host_rd, sizeof o.host_rd);
    t.host_wr_valid_i = o.host_wr_valid;
    t.host_wr_addr_i = o.host_wr_addr;
    t.host_wr_len_i = o.host_wr_len;
    t.host_wr_last_i = o.host_wr_last;
    t.host_wr_plane_i = o.host_wr_plane;
    t.host_wr_qp_i = o.host_wr_qp;
    std::memcpy(bytes_of(t.host_wr_data_i), o.host_wr_data, HostBytes);
    t.tx_tvalid_i = o.tx_tvalid;
    t.tx_tlast_i = o.tx_tlast;
    for (unsigned p = 0; p < kPlanes; ++p) {
      std::memcpy(bytes_of(t.tx_tkeep_i) + p * kKeepBytes, &o.tx_tkeep[p], kKeepBytes);
      std::memcpy(bytes_of(t.tx_tdata_i) + p * kPortBytes, o.tx_tdata[p], kPortBytes);
    }
  }

  using Unit<Top>::settle, Unit<Top>::edge, Unit<Top>::top;
};

/// A device whose pins a recorder sees. What the bench sees of it may be another device's, which gets the same pins:
/// so a run goes on though the one that is recorded is wrong, and `differs` is the first cycle in which they differ.
template <class Bench>
class RecordedDut final : public tb::Dut {
 public:
  RecordedDut(std::unique_ptr<tb::Dut> recorded, Bench& bench, const Preset& preset,
              std::unique_ptr<tb::Dut> shown = {})
      : recorded_(std::move(recorded)), shown_(std::move(shown)), bench_(bench), preset_(preset) {}

  void outputs(mrc_pins_out& o) override { (shown_ ? *shown_ : *recorded_).outputs(o); }
  void step(const mrc_pins_in& i) override {
    recorded_->outputs(out_);
    bench_.cycle(i, out_);
    if (shown_ && i.rst_n != 0) {
      tb::PinsDigest a(preset_), b(preset_);
      a.add(out_);
      shown_->outputs(out_);
      b.add(out_);
      if (a.value() != b.value() && !differs) differs = cycles;
      if (reported != nullptr) *reported = differs;
    }
    cycles = i.rst_n != 0 ? cycles + 1 : 0;
    mrc_pins_in in = i;
    in.bug = bug;
    recorded_->step(in);
    if (shown_) shown_->step(i);
  }
  bool observe(const uint32_t*&, const uint32_t*&) override { return false; }
  bool wave(const char*, bool) override { return false; }
  bool can_wave() const override { return false; }
  std::string name() const override { return recorded_->name(); }
  std::string version() const override { return {}; }

  uint64_t cycles = 0;  ///< of the core, since its reset
  uint8_t bug = 0;      ///< that the recorded one has
  std::optional<uint64_t> differs;
  std::optional<uint64_t>* reported = nullptr;  ///< the same, for who outlives the device

 private:
  std::unique_ptr<tb::Dut> recorded_, shown_;
  Bench& bench_;
  const Preset& preset_;
  mrc_pins_out out_{};
};

}  // namespace mrc

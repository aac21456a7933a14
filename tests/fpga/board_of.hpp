// SPDX-License-Identifier: Apache-2.0
/// What BoardOf does, for the files that make one of a Verilated top: boards.cpp, gen_board.cpp, dma_boards.cpp.
#pragma once

#include <array>
#include <cstring>

#include "api/mrc_dut.h"
#include "assertions.h"
#include "gen/streams.hpp"
#include "tests/fpga/board.hpp"
#include "tests/fpga/hooks.hpp"

namespace mrc {
namespace {

/// Bytes that a MAC keeps before it takes no more words.
constexpr std::size_t kMacKeeps = 2048;
/// Where the core's registers are in the map.
constexpr uint16_t kCoreAt = 0x2000;
constexpr uint16_t kCoreHold = 0x1010, kCoreState = 0x1014;
constexpr unsigned kStateRun = 1, kStateDrain = 2;
/// No memory of a test takes so long.
constexpr unsigned kResetCycles = 100'000;

/// Bytes of a pin, however wide it is, from byte `at` on.
template <class Pin>
void put(Pin& pin, std::size_t at, const void* from, std::size_t size) {
  std::memcpy(reinterpret_cast<uint8_t*>(&pin) + at, from, size);
}
template <class Pin>
void get(void* to, const Pin& pin, std::size_t at, std::size_t size) {
  std::memcpy(to, reinterpret_cast<const uint8_t*>(&pin) + at, size);
}

/// Sets bit `at` of a vector of single bits.
template <class Pin>
void set_bit(Pin& pin, unsigned at, bool on) {
  pin = static_cast<Pin>((pin & ~(1u << at)) | (on ? 1u << at : 0u));
}

}  // namespace

template <class Top, class Memory, unsigned Macs>
BoardOf<Top, Memory, Macs>::BoardOf(uint64_t seed)
    : memory(seed), record_memory(seed), rng_(seed, "board"), top_(std::make_unique<Top>(&context_, "board")) {
  // A word of a MAC must not take longer than its bytes on the wire.
  const uint64_t slowest = uint64_t{kWordBytes} * 8000 / kPreset.port_gbps;
  for (Clock& clock : clocks_) {
    clock.period = slowest / 2 + rng_.below(slowest * 4 / 10);
    clock.next = rng_.below(clock.period);
  }
  eval();
  top_->rst_ni = 1;  // an edge needs a level before it
  eval();
  failed_assertions();
}

template <class Top, class Memory, unsigned Macs>
BoardOf<Top, Memory, Macs>::~BoardOf() {
  Verilated::threadContextp(&context_);
  top_->final();
}

template <class Top, class Memory, unsigned Macs>
unsigned BoardOf<Top, Memory, Macs>::assertions() const {
  return MRC_ASSERTIONS;
}

template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::eval() {
  Verilated::threadContextp(&context_);
  top_->eval();
}

template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::axil_outputs(mrc_pins_out& o) const {
  const auto& t = *top_;
  o.awready = t.s_axil_awready_o;
  o.wready = t.s_axil_wready_o;
  o.bvalid = t.s_axil_bvalid_o;
  o.bresp = t.s_axil_bresp_o;
  o.arready = t.s_axil_arready_o;
  o.rvalid = t.s_axil_rvalid_o;
  o.rresp = t.s_axil_rresp_o;
  o.rdata = t.s_axil_rdata_o;
}

template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::axil(const mrc_pins_in& i, unsigned base) {
  auto& t = *top_;
  t.s_axil_awvalid_i = i.awvalid;
  t.s_axil_awaddr_i = static_cast<uint16_t>(base + i.awaddr);
  t.s_axil_wvalid_i = i.wvalid;
  t.s_axil_wdata_i = i.wdata;
  t.s_axil_wstrb_i = i.wstrb;
  t.s_axil_bready_i = i.bready;
  t.s_axil_arvalid_i = i.arvalid;
  t.s_axil_araddr_i = static_cast<uint16_t>(base + i.araddr);
  t.s_axil_rready_i = i.rready;
}

/// The bus of registers for this cycle, and whose it is in the next one: the bench does not wait for the shell unless
/// its access has not begun.
template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::share_bus(const mrc_pins_in& i) {
  mrc_pins_out o{};
  axil_outputs(o);
  if (shell_owns_) {
    shell_.cycle(o, shell_in_);
    axil(shell_in_, 0);
  } else {
    axil(i, kCoreAt);
    const bool ends = (o.bvalid != 0 && i.bready != 0) || (o.rvalid != 0 && i.rready != 0);
    bench_busy_ = (bench_busy_ || i.awvalid != 0 || i.wvalid != 0 || i.arvalid != 0) && !ends;
  }
  shell_owns_ = !shell_.idle() && !bench_busy_;
}

template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::outputs(mrc_pins_out& o) {
  const auto& t = *top_;
  axil_outputs(o);
  if (shell_owns_) o.awready = o.wready = o.bvalid = o.arready = o.rvalid = 0;
  o.irq = t.irq_o;
  o.wqe_ready = t.wqe_ready_o;
  o.cqe_valid = t.cqe_valid_o;
  if (o.cqe_valid) get(o.cqe, t.cqe_data_o, 0, sizeof o.cqe);
  const auto* read = memory.wanted();
  o.host_rd_valid = read != nullptr;
  if (read != nullptr) {
    Rdreq request;
    request.addr = read->address;
    request.len = kHostBytes;
    request.plane = static_cast<uint8_t>(read->id % kPlanes);
    request.pack(o.host_rd);
  }
  const auto* write = memory.write();
  o.host_wr_valid = write != nullptr;
  if (write != nullptr) {
    o.host_wr_addr = write->address;
    o.host_wr_len = static_cast<uint8_t>(write->bytes.size());
    o.host_wr_last = o.host_wr_plane = 0;
    o.host_wr_qp = 0;
    std::memcpy(o.host_wr_data, write->bytes.data(), write->bytes.size());
  }
  o.tx_tvalid = o.tx_tlast = 0;
  std::memset(o.tx_tkeep, 0, sizeof o.tx_tkeep);
  for (unsigned p = 0; p < Macs; ++p) {
    if (to_bench_[p].empty()) continue;
    std::memset(o.tx_tdata[p], 0, kPortBytes);
    const auto [n, last] = to_bench_[p].part(o.tx_tdata[p], kPortBytes);
    set_bit(o.tx_tvalid, p, true);
    set_bit(o.tx_tlast, p, last);
    o.tx_tkeep[p] = (1u << n) - 1;
  }
}

template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::drive(const mrc_pins_in& i) {
  auto& t = *top_;
  t.lane_link_up_i = static_cast<uint8_t>(i.link_up & ((1u << Macs) - 1));
  share_bus(i);
  t.wqe_valid_i = i.wqe_valid;
  if (i.wqe_valid) put(t.wqe_data_i, 0, i.wqe, sizeof i.wqe);
  t.cqe_ready_i = i.cqe_ready;
  if (const auto* read = memory.wanted(); read != nullptr && i.host_rd_ready != 0) {
    requested_[read->id % kPlanes].push_back(read->id);
    memory.requested();
  }
  if (i.host_rsp_valid != 0) {
    auto& ids = requested_[i.host_rsp_plane];
    memory.answered(ids.front(), i.host_rsp_data);
    ids.pop_front();
  }
  if (memory.write() != nullptr && i.host_wr_ready != 0) memory.visible();
  for (unsigned p = 0; p < Macs; ++p) {
    if (!to_bench_[p].empty() && (i.tx_tready >> p & 1) != 0) {
      to_bench_[p].advance(to_bench_[p].part(beat_.data(), kPortBytes).first);
    }
    if ((i.rx_tvalid >> p & 1) != 0) {
      unsigned n = 0;
      while (n < kPortBytes && (i.rx_tkeep[p] >> n & 1) != 0) ++n;
      to_board_[p].add(i.rx_tdata[p], n, (i.rx_tlast >> p & 1) != 0, (i.rx_tuser >> p & 1) != 0);
    }
  }
}

template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::rx_edge(unsigned p) {
  auto& t = *top_;
  set_bit(t.lane_rx_clk_i, p, true);
  eval();
  set_bit(t.lane_rx_clk_i, p, false);
  FrameStore& from = to_board_[p];
  const bool valid = !from.empty() && rng_.chance(0.97);
  set_bit(t.lane_rx_tvalid_i, p, valid);
  if (valid) {
    std::array<uint8_t, kWordBytes> word{};
    const auto [n, last] = from.part(word.data(), kWordBytes);
    const uint64_t keep = n == kWordBytes ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
    put(t.lane_rx_tdata_i, p * kWordBytes, word.data(), kWordBytes);
    put(t.lane_rx_tkeep_i, p * sizeof keep, &keep, sizeof keep);
    set_bit(t.lane_rx_tlast_i, p, last);
    set_bit(t.lane_rx_tuser_i, p, last && from.front().bad);
    from.advance(n);
  }
  eval();
}

template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::tx_edge(unsigned p) {
  auto& t = *top_;
  if ((t.lane_tx_tvalid_o >> p & 1) != 0 && (t.lane_tx_tready_i >> p & 1) != 0) {
    uint64_t keep = 0;
    get(&keep, t.lane_tx_tkeep_o, p * sizeof keep, sizeof keep);
    unsigned n = 0;
    for (; (keep & 1) != 0; keep >>= 1) ++n;
    std::array<uint8_t, kWordBytes> word{};
    get(word.data(), t.lane_tx_tdata_o, p * kWordBytes, kWordBytes);
    to_bench_[p].add(word.data(), n, (t.lane_tx_tlast_o >> p & 1) != 0, (t.lane_tx_tuser_o >> p & 1) != 0);
  }
  set_bit(t.lane_tx_clk_i, p, true);
  eval();
  set_bit(t.lane_tx_clk_i, p, false);
  set_bit(t.lane_tx_tready_i, p, to_bench_[p].waiting() < kMacKeeps && rng_.chance(0.97));
  eval();
}

template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::drive_side() {
  auto& t = *top_;
  set_bit(t.side_rx_tready_i, 0, side_takes && rng_.chance(0.8));
  side_offered_ = !to_side_.empty() && (side_offered_ || rng_.chance(0.8));
  set_bit(t.side_tx_tvalid_i, 0, side_offered_);
  if (!side_offered_) return;
  std::array<uint8_t, kWordBytes> word{};
  const auto [n, last] = to_side_.part(word.data(), kWordBytes);
  const uint64_t keep = n == kWordBytes ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
  put(t.side_tx_tdata_i, 0, word.data(), kWordBytes);
  put(t.side_tx_tkeep_i, 0, &keep, sizeof keep);
  set_bit(t.side_tx_tlast_i, 0, last);
}

template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::sample_side() {
  auto& t = *top_;
  std::array<uint8_t, kWordBytes> word{};
  if ((t.side_tx_tvalid_i & t.side_tx_tready_o & 1) != 0) {
    to_side_.advance(to_side_.part(word.data(), kWordBytes).first);
    side_offered_ = false;
  }
  if ((t.side_rx_tvalid_o & t.side_rx_tready_i & 1) == 0) return;
  uint64_t keep = 0;
  get(&keep, t.side_rx_tkeep_o, 0, sizeof keep);
  unsigned n = 0;
  for (; (keep & 1) != 0; keep >>= 1) ++n;
  get(word.data(), t.side_rx_tdata_o, 0, kWordBytes);
  from_side.add(word.data(), n, (t.side_rx_tlast_o & 1) != 0, (t.side_rx_tuser_o & 1) != 0);
}

template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::drive_record() {
  auto& t = *top_;
  if constexpr (requires { t.m_rec_awready_i; }) {
    const auto& drives = record_memory.drive();
    t.m_rec_awready_i = drives.awready;
    t.m_rec_wready_i = drives.wready;
    t.m_rec_bvalid_i = drives.bvalid;
    t.m_rec_bresp_i = drives.bresp;
  }
}

template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::sample_record() {
  const auto& t = *top_;
  if constexpr (requires { t.m_rec_awvalid_o; }) {
    record_memory.sample({t.m_rec_awvalid_o != 0, t.m_rec_awid_o, t.m_rec_awaddr_o, t.m_rec_awlen_o, t.m_rec_awsize_o,
                          t.m_rec_awburst_o, t.m_rec_wvalid_o != 0, &t.m_rec_wdata_o[0], t.m_rec_wstrb_o,
                          t.m_rec_wlast_o != 0, t.m_rec_bready_o != 0});
  }
}

template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::core_cycle() {
  const uint64_t end = now_ + kPreset.clock_ps;
  for (;;) {
    unsigned first = 0;
    for (unsigned c = 1; c < clocks_.size(); ++c) {
      if (clocks_[c].next < clocks_[first].next) first = c;
    }
    if (clocks_[first].next >= end) break;
    clocks_[first].next += clocks_[first].period - 40 + rng_.below(81);
    if (first % 2 == 0) {
      rx_edge(first / 2);
    } else {
      tx_edge(first / 2);
    }
  }
  now_ = end;
  ++cycle_;
  memory.drive(*top_);
  drive_side();
  drive_record();
  eval();
  memory.sample(*top_);
  sample_record();
  sample_side();
  top_->clk_i = 1;
  eval();
  top_->clk_i = 0;
  eval();
}

template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::forget_frames() {
  to_board_ = {};
  to_bench_ = {};
  to_side_ = from_side = {};
  side_offered_ = false;
}

/// Nobody answers what the memory has asked for any more.
template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::forget() {
  requested_ = {};
  memory.forgotten();
}

template <class Top, class Memory, unsigned Macs>
unsigned BoardOf<Top, Memory, Macs>::ring_irq() const {
  if constexpr (requires { top_->ring_irq_o; }) {
    return top_->ring_irq_o;
  } else {
    return 0;
  }
}

/// As software does it, while the memory answers what it was asked before.
template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::reset_core() {
  forget_frames();
  // What CORE_STATE must say, read after CORE_HOLD was written.
  struct Change {
    uint32_t hold, mask, wanted;
  };
  for (const Change& to : {Change{1, kStateRun | kStateDrain, 0}, Change{0, kStateRun, kStateRun}}) {
    bool there = false;
    if (to.hold == 0) {
      for (const auto& [at, value] : writes_held) write(at, value);
    }
    write(kCoreHold, to.hold);
    for (unsigned cycles = 0; !there; ++cycles) {
      if (cycles == kResetCycles) {
        failed_ = tb::FailedAssertion{"reset", "board", "the core's reset does not end", cycle_};
        return;
      }
      if (shell_.idle()) {
        read(kCoreState, [&](uint32_t state, unsigned) { there = (state & to.mask) == to.wanted; });
      }
      forget();
      drive(mrc_pins_in{});
      core_cycle();
    }
  }
}

template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::step(const mrc_pins_in& i) {
  if (i.rst_n == 0 && resets_core_alone) {
    if (!was_reset_) reset_core();
    was_reset_ = true;
    return;
  }
  top_->rst_ni = i.rst_n;
  if (i.rst_n == 0) {
    requested_ = {};
    memory.reset();
    forget_frames();
    was_reset_ = true;
  } else if (was_reset_) {
    // The reset ends in every clock before the bench's next cycle.
    was_reset_ = false;
    drive(mrc_pins_in{});
    for (unsigned n = 0; n < 64; ++n) core_cycle();
  }
  drive(i);
  core_cycle();
  look_for_failures();
}

template <class Top, class Memory, unsigned Macs>
void BoardOf<Top, Memory, Macs>::look_for_failures() {
  for (const std::string& text : failed_assertions()) {
    if (!failed_) failed_ = tb::FailedAssertion{"assertion", "board", text, cycle_};
  }
  for (const std::string& problem : {memory.problem(), record_memory.problem()}) {
    if (!failed_ && !problem.empty()) failed_ = tb::FailedAssertion{"memory", "board", problem, cycle_};
  }
}

}  // namespace mrc

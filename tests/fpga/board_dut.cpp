// SPDX-License-Identifier: Apache-2.0
/// The top for boards behind the pins of its core (api/mrc_dut.h): around it stand MACs, each with two clocks of random
/// period and phase, that jitter. So every bench that drives a core drives a board.
#include <array>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>

#include "Vmrc_fpga_nic.h"
#include "api/mrc_dut.h"
#include "assertions.h"
#include "gen/presets.hpp"
#include "tb/dut/verilated_hooks.h"  // before what Verilator made
#include "tests/fpga/board_mac.hpp"
#include "verilated.h"

namespace {

using mrc::FrameStore;
using mrc::kWordBytes;

constexpr const mrc::Preset& kPreset = *mrc::find_preset("tiny");
constexpr unsigned kPlanes = kPreset.num_planes, kPortBytes = kPreset.port_bytes, kHostBytes = kPreset.host_bytes;
/// Bytes that a MAC keeps before it takes no more words.
constexpr std::size_t kMacKeeps = 2048;

/// What Verilator has said last, and the first assertion that failed.
thread_local std::string t_said;
thread_local std::string t_failed;
thread_local uint32_t t_failures = 0;

template <class Pin>
void put(Pin& pin, const void* from, std::size_t size) {
  std::memcpy(reinterpret_cast<uint8_t*>(&pin[0]), from, size);
}
template <class Pin>
void get(void* to, const Pin& pin, std::size_t size) {
  std::memcpy(to, reinterpret_cast<const uint8_t*>(&pin[0]), size);
}

/// Sets bit `at` of a vector of single bits.
template <class Pin>
void set_bit(Pin& pin, unsigned at, bool on) {
  pin = static_cast<Pin>((pin & ~(1u << at)) | (on ? 1u << at : 0u));
}

class Board {
 public:
  explicit Board(uint64_t seed) : rng_(seed, "board"), top_(std::make_unique<Vmrc_fpga_nic>(&context_, "board")) {
    // A word of a MAC must not take longer than its bytes on the wire.
    const uint64_t slowest = uint64_t{kWordBytes} * 8000 / kPreset.port_gbps;
    for (Clock& clock : clocks_) {
      clock.period = slowest / 2 + rng_.below(slowest * 4 / 10);
      clock.next = rng_.below(clock.period);
    }
    eval();
    top_->rst_ni = 1;  // an edge needs a level before it
    eval();
  }
  ~Board() {
    Verilated::threadContextp(&context_);
    top_->final();
  }
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  void outputs(mrc_pins_out& o);
  void step(const mrc_pins_in& i);

 private:
  struct Clock {
    uint64_t period = 0, next = 0;
  };
  void eval() {
    Verilated::threadContextp(&context_);
    top_->eval();
  }
  void drive(const mrc_pins_in& i);
  /// The clocks of the MACs up to the core's next edge, then that edge.
  void core_cycle();
  void rx_edge(unsigned plane);
  void tx_edge(unsigned plane);

  mrc::Rng rng_;
  VerilatedContext context_;  // outlives what is in it
  std::unique_ptr<Vmrc_fpga_nic> top_;
  std::array<Clock, std::size_t{2} * kPlanes> clocks_;  ///< of plane p: 2 p reception, 2 p + 1 transmission
  std::array<FrameStore, kPlanes> to_board_, to_bench_;
  uint64_t now_ = 0;
  bool was_reset_ = false;
  std::array<uint8_t, kPortBytes> beat_{};
};

void Board::outputs(mrc_pins_out& o) {
  const auto& t = *top_;
  o.awready = t.s_axil_awready_o;
  o.wready = t.s_axil_wready_o;
  o.bvalid = t.s_axil_bvalid_o;
  o.bresp = t.s_axil_bresp_o;
  o.arready = t.s_axil_arready_o;
  o.rvalid = t.s_axil_rvalid_o;
  o.rresp = t.s_axil_rresp_o;
  o.rdata = t.s_axil_rdata_o;
  o.irq = t.irq_o;
  o.wqe_ready = t.wqe_ready_o;
  o.cqe_valid = t.cqe_valid_o;
  if (o.cqe_valid) get(o.cqe, t.cqe_data_o, sizeof o.cqe);
  o.host_rd_valid = t.host_rd_valid_o;
  if (o.host_rd_valid) get(o.host_rd, t.host_rd_data_o, sizeof o.host_rd);
  o.host_wr_valid = t.host_wr_valid_o;
  if (o.host_wr_valid) {
    o.host_wr_addr = t.host_wr_addr_o;
    o.host_wr_len = t.host_wr_len_o;
    o.host_wr_last = t.host_wr_last_o;
    o.host_wr_plane = t.host_wr_plane_o;
    o.host_wr_qp = t.host_wr_qp_o;
    get(o.host_wr_data, t.host_wr_data_o, kHostBytes);
  }
  o.tx_tvalid = o.tx_tlast = 0;
  for (unsigned p = 0; p < kPlanes; ++p) {
    o.tx_tkeep[p] = 0;
    if (to_bench_[p].empty()) continue;
    std::memset(o.tx_tdata[p], 0, kPortBytes);
    const auto [n, last] = to_bench_[p].part(o.tx_tdata[p], kPortBytes);
    set_bit(o.tx_tvalid, p, true);
    set_bit(o.tx_tlast, p, last);
    o.tx_tkeep[p] = (1u << n) - 1;
  }
}

void Board::drive(const mrc_pins_in& i) {
  auto& t = *top_;
  t.lane_link_up_i = i.link_up;
  t.s_axil_awvalid_i = i.awvalid;
  t.s_axil_awaddr_i = i.awaddr;
  t.s_axil_wvalid_i = i.wvalid;
  t.s_axil_wdata_i = i.wdata;
  t.s_axil_wstrb_i = i.wstrb;
  t.s_axil_bready_i = i.bready;
  t.s_axil_arvalid_i = i.arvalid;
  t.s_axil_araddr_i = i.araddr;
  t.s_axil_rready_i = i.rready;
  t.wqe_valid_i = i.wqe_valid;
  if (i.wqe_valid) put(t.wqe_data_i, i.wqe, sizeof i.wqe);
  t.cqe_ready_i = i.cqe_ready;
  t.host_rd_ready_i = i.host_rd_ready;
  t.host_rsp_valid_i = i.host_rsp_valid;
  if (i.host_rsp_valid) {
    t.host_rsp_plane_i = i.host_rsp_plane;
    put(t.host_rsp_data_i, i.host_rsp_data, kHostBytes);
  }
  t.host_wr_ready_i = i.host_wr_ready;
  for (unsigned p = 0; p < kPlanes; ++p) {
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

void Board::rx_edge(unsigned p) {
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
    std::memcpy(&t.lane_rx_tdata_i[p * kWordBytes / 4], word.data(), kWordBytes);
    std::memcpy(&t.lane_rx_tkeep_i[p * kWordBytes / 32], &keep, sizeof keep);
    set_bit(t.lane_rx_tlast_i, p, last);
    set_bit(t.lane_rx_tuser_i, p, last && from.front().bad);
    from.advance(n);
  }
  eval();
}

void Board::tx_edge(unsigned p) {
  auto& t = *top_;
  if ((t.lane_tx_tvalid_o >> p & 1) != 0 && (t.lane_tx_tready_i >> p & 1) != 0) {
    uint64_t keep = 0;
    std::memcpy(&keep, &t.lane_tx_tkeep_o[p * kWordBytes / 32], sizeof keep);
    unsigned n = 0;
    for (; (keep & 1) != 0; keep >>= 1) ++n;
    std::array<uint8_t, kWordBytes> word{};
    std::memcpy(word.data(), &t.lane_tx_tdata_o[p * kWordBytes / 4], kWordBytes);
    to_bench_[p].add(word.data(), n, (t.lane_tx_tlast_o >> p & 1) != 0, (t.lane_tx_tuser_o >> p & 1) != 0);
  }
  set_bit(t.lane_tx_clk_i, p, true);
  eval();
  set_bit(t.lane_tx_clk_i, p, false);
  set_bit(t.lane_tx_tready_i, p, to_bench_[p].waiting() < kMacKeeps && rng_.chance(0.97));
  eval();
}

void Board::core_cycle() {
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
  top_->clk_i = 1;
  eval();
  top_->clk_i = 0;
  eval();
}

void Board::step(const mrc_pins_in& i) {
  top_->rst_ni = i.rst_n;
  if (i.rst_n == 0) {
    to_board_ = {};
    to_bench_ = {};
    was_reset_ = true;
  } else if (was_reset_) {
    // The reset ends in every clock before the bench's next cycle.
    was_reset_ = false;
    drive(mrc_pins_in{});
    for (unsigned n = 0; n < 64; ++n) core_cycle();
  }
  drive(i);
  core_cycle();
}

}  // namespace

int mrc_verilated_print(const char* format, ...) {
  char text[1000];
  va_list arguments;
  va_start(arguments, format);
  const int size = std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  t_said = text;
  return size;
}

void vl_stop(const char*, int, const char*) {
  if (t_failures++ == 0) t_failed = t_said;
}

struct mrc_dut {
  Board board;
};

#define MRC_EXPORT __attribute__((visibility("default")))

extern "C" {

MRC_EXPORT mrc_dut* mrc_dut_open(const mrc_dut_config* config, size_t struct_size) {
  if (struct_size != sizeof(mrc_dut_config) || config->abi_version != MRC_DUT_ABI_VERSION ||
      config->pins_in_size != sizeof(mrc_pins_in) || config->pins_out_size != sizeof(mrc_pins_out)) {
    return nullptr;
  }
  if (kPreset.name != std::string(config->preset)) {
    if (config->error && config->error_size > 0) {
      std::snprintf(config->error, config->error_size, "the board is preset tiny, not %s", config->preset);
    }
    return nullptr;
  }
  t_failures = 0;
  return new mrc_dut{Board(config->seed)};
}

MRC_EXPORT size_t mrc_dut_info(const mrc_dut*, mrc_dut_info_t* info, size_t struct_size) {
  mrc_dut_info_t i{};
  i.abi_version = MRC_DUT_ABI_VERSION;
  i.num_planes = kPlanes;
  i.port_bytes = kPortBytes;
  i.host_bytes = kHostBytes;
  i.name = "board";
  i.preset = "tiny";
  std::memcpy(info, &i, struct_size < sizeof i ? struct_size : sizeof i);
  return sizeof i;
}

MRC_EXPORT void mrc_dut_outputs(mrc_dut* dut, mrc_pins_out* out) { dut->board.outputs(*out); }
MRC_EXPORT void mrc_dut_step(mrc_dut* dut, const mrc_pins_in* in) { dut->board.step(*in); }
MRC_EXPORT void mrc_dut_assertions(const mrc_dut*, mrc_dut_assertions_t* assertions, size_t struct_size) {
  const mrc_dut_assertions_t a{MRC_ASSERTIONS, t_failures, "", "board", t_failed.c_str()};
  std::memcpy(assertions, &a, struct_size < sizeof a ? struct_size : sizeof a);
}
MRC_EXPORT void mrc_dut_close(mrc_dut* dut) { delete dut; }

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
/// The NIC at its pins: AXI4-Stream to the MACs, AXI4-Lite for software, the streams to the host
/// (docs/design/blocks/nic.md). Any device of the bench stands behind them: the model, or Verilated RTL.
///
///     NicPins nic("nic", *find_preset("tiny"), tb::make_model_dut(*find_preset("tiny")));
///     nic.clk_i(clock);
///     nic.rx_tdata_i[0](rx_data);
#pragma once

#include <memory>
#include <systemc>

#include "api/pins.h"
#include "gen/presets.hpp"
#include "sim/systemc/report.hpp"
#include "tb/dut/dut.hpp"

namespace mrc::systemc {

/// Types of signals, as api/pins.h calls the kinds of pins. Bytes and words begin at bit 0. Sizes are those of the
/// largest preset; a smaller one leaves the rest zero. What is per plane is a vector of as many as the preset has.
namespace pin {
using Bit = bool;
using Code = sc_dt::sc_uint<2>;
using Strobe = sc_dt::sc_uint<4>;
using Length = sc_dt::sc_uint<8>;
using Flag = bool;
using Plane = sc_dt::sc_uint<4>;
using Queue = sc_dt::sc_uint<16>;
using Short = sc_dt::sc_uint<16>;
using Data = sc_dt::sc_uint<32>;
using Address = sc_dt::sc_uint<64>;
using Line = sc_dt::sc_bv<MRC_LINE_BYTES * 8>;
using Beat = sc_dt::sc_bv<MRC_PORT_BYTES * 8>;
using Keep = sc_dt::sc_uint<32>;
template <unsigned kWords>
using Words = sc_dt::sc_bv<kWords * 32>;
/// One output per plane.
template <class Type>
using Outs = sc_core::sc_vector<sc_core::sc_out<Type>>;
}  // namespace pin

/// One clock cycle per rising edge of clk_i: inputs are those before it, outputs follow one delta cycle later. rst_ni
/// is sampled with the clock.
class NicPins : private BeforeElaboration, public sc_core::sc_module {
 public:
  NicPins(const sc_core::sc_module_name& name, const Preset& preset, std::unique_ptr<tb::Dut> dut);
  ~NicPins() override;

  sc_core::sc_in<bool> clk_i{"clk_i"}, rst_ni{"rst_ni"};

// Inputs: X(kind, pin), then those per plane: Y(kind, pin).
// clang-format off
#define MRC_PINS_IN(X, Y) \
  X(Bit, awvalid) \
  X(Bit, wvalid) \
  X(Bit, bready) \
  X(Bit, arvalid) \
  X(Bit, rready) \
  X(Bit, wqe_valid) \
  X(Bit, cqe_ready) \
  X(Bit, host_rd_ready) \
  X(Bit, host_rsp_valid) \
  X(Bit, host_rsp_err) \
  X(Bit, host_fail_valid) \
  X(Bit, host_wr_ready) \
  X(Strobe, wstrb) \
  X(Length, host_rsp_plane) \
  X(Short, awaddr) \
  X(Short, araddr) \
  X(Data, wdata) \
  X(Words<MRC_WQE_WORDS>, wqe) \
  X(Words<MRC_QPERR_WORDS>, host_fail) \
  X(Line, host_rsp_data) \
  Y(Bit, link_up) \
  Y(Bit, tx_tready) \
  Y(Bit, rx_tvalid) \
  Y(Bit, rx_tlast) \
  Y(Bit, rx_tuser) \
  Y(Keep, rx_tkeep) \
  Y(Beat, rx_tdata)
// clang-format on
#define MRC_PIN_X(kind, name) sc_core::sc_in<pin::kind> name##_i{#name "_i"};
#define MRC_PIN_Y(kind, name) sc_core::sc_vector<sc_core::sc_in<pin::kind>> name##_i;
  MRC_PINS_IN(MRC_PIN_X, MRC_PIN_Y)
#undef MRC_PIN_X
#undef MRC_PIN_Y

// Outputs: the table of api/pins.h.
#define MRC_PIN_ONE(type, name) sc_core::sc_out<type> name##_o{#name "_o"};
#define MRC_PIN_PLANES(type, name) pin::Outs<type> name##_o;
#define MRC_PIN_Bit(name) MRC_PIN_ONE(pin::Bit, name)
#define MRC_PIN_Code(name) MRC_PIN_ONE(pin::Code, name)
#define MRC_PIN_Length(name) MRC_PIN_ONE(pin::Length, name)
#define MRC_PIN_Flag(name) MRC_PIN_ONE(pin::Flag, name)
#define MRC_PIN_Plane(name) MRC_PIN_ONE(pin::Plane, name)
#define MRC_PIN_Queue(name) MRC_PIN_ONE(pin::Queue, name)
#define MRC_PIN_Data(name) MRC_PIN_ONE(pin::Data, name)
#define MRC_PIN_Address(name) MRC_PIN_ONE(pin::Address, name)
#define MRC_PIN_Words(name) MRC_PIN_ONE(pin::Words<MRC_WORDS_##name>, name)
#define MRC_PIN_Line(name) MRC_PIN_ONE(pin::Line, name)
#define MRC_PIN_Valids(name) MRC_PIN_PLANES(pin::Bit, name)
#define MRC_PIN_Mask(name) MRC_PIN_PLANES(pin::Bit, name)
#define MRC_PIN_Keep(name) MRC_PIN_PLANES(pin::Keep, name)
#define MRC_PIN_Beat(name) MRC_PIN_PLANES(pin::Beat, name)
#define MRC_PIN(kind, name, with, group, block) MRC_PIN_##kind(name)
  MRC_PINS_OUT(MRC_PIN)
#undef MRC_PIN

  tb::Dut& dut() { return *dut_; }

 private:
  void clock();
  void read();
  void write();
  void start_of_simulation() override;

  const unsigned planes_;
  std::unique_ptr<tb::Dut> dut_;
  mrc_pins_in in_{};
  mrc_pins_out out_{};
};

}  // namespace mrc::systemc

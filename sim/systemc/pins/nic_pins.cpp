// SPDX-License-Identifier: Apache-2.0
#include "sim/systemc/pins/nic_pins.hpp"

#include <cstdint>
#include <span>
#include <utility>

namespace mrc::systemc {
namespace {

// From a signal to the structure.
template <class To, class From>
void take(To& to, const From& from) {
  to = static_cast<To>(from);
}
template <size_t kWords, int kBits>
void take(uint32_t (&to)[kWords], const sc_dt::sc_bv<kBits>& from) {
  for (size_t i = 0; i < kWords; ++i) to[i] = from.get_word(static_cast<int>(i));
}
template <size_t kBytes, int kBits>
void take(uint8_t (&to)[kBytes], const sc_dt::sc_bv<kBits>& from) {
  for (size_t i = 0; i < kBytes; ++i) to[i] = static_cast<uint8_t>(from.get_word(static_cast<int>(i / 4)) >> i % 4 * 8);
}
// Per plane: a bit of a mask, or an element.
void take_plane(uint8_t& to, unsigned plane, bool from) {
  to = static_cast<uint8_t>((to & ~(1u << plane)) | unsigned{from} << plane);
}
template <class To, class From>
void take_plane(To (&to)[MRC_PLANES], unsigned plane, const From& from) {
  take(to[plane], from);
}

// And back.
template <class To, class From>
void give(sc_core::sc_out<To>& to, const From& from) {
  to.write(To(from));
}
template <int kBits, size_t kWords>
void give(sc_core::sc_out<sc_dt::sc_bv<kBits>>& to, const uint32_t (&from)[kWords]) {
  sc_dt::sc_bv<kBits> bits;
  for (size_t i = 0; i < kWords; ++i) bits.set_word(static_cast<int>(i), from[i]);
  to.write(bits);
}
template <int kBits, size_t kBytes>
void give(sc_core::sc_out<sc_dt::sc_bv<kBits>>& to, const uint8_t (&from)[kBytes]) {
  sc_dt::sc_bv<kBits> bits;
  for (size_t i = 0; i < kBytes; i += 4) {
    bits.set_word(static_cast<int>(i / 4),
                  from[i] | from[i + 1] << 8 | from[i + 2] << 16 | uint32_t{from[i + 3]} << 24);
  }
  to.write(bits);
}
void give_plane(sc_core::sc_out<bool>& to, unsigned plane, uint8_t from) { to.write((from >> plane & 1) != 0); }
template <class To, class From>
void give_plane(sc_core::sc_out<To>& to, unsigned plane, const From (&from)[MRC_PLANES]) {
  give(to, from[plane]);
}
template <class To, class From>
void give_all(To& to, const From& from) {
  if constexpr (
      requires { to.size(), to[0].write(to[0].read()); } && requires { to.init(1); }) {
    for (unsigned p = 0; p < to.size(); ++p) give_plane(to[p], p, from);
  } else {
    give(to, from);
  }
}

}  // namespace

NicPins::NicPins(const sc_core::sc_module_name& name, const Preset& preset, std::unique_ptr<tb::Dut> dut)
    : BeforeElaboration(static_cast<const char*>(name)),
      sc_module(name),
#define MRC_PIN_X(kind, pin)
#define MRC_PIN_Y(kind, pin) pin##_i(#pin "_i", preset.num_planes),
      MRC_PINS_IN(MRC_PIN_X, MRC_PIN_Y)
#undef MRC_PIN_Y
          tx_tvalid_o("tx_tvalid_o", preset.num_planes),
      tx_tlast_o("tx_tlast_o", preset.num_planes),
      tx_tkeep_o("tx_tkeep_o", preset.num_planes),
      tx_tdata_o("tx_tdata_o", preset.num_planes),
      planes_(preset.num_planes),
      dut_(std::move(dut)) {
  SC_HAS_PROCESS(NicPins);
  SC_METHOD(clock);
  sensitive << clk_i.pos();
  dont_initialize();
}
NicPins::~NicPins() = default;

void NicPins::start_of_simulation() { write(); }

void NicPins::clock() {
  read();
  dut_->step(in_);
  write();
}

void NicPins::read() {
  in_.rst_n = rst_ni.read();
#undef MRC_PIN_X
#define MRC_PIN_X(kind, pin) take(in_.pin, pin##_i.read());
#define MRC_PIN_Y(kind, pin) \
  for (unsigned p = 0; p < planes_; ++p) take_plane(in_.pin, p, pin##_i[p].read());
  MRC_PINS_IN(MRC_PIN_X, MRC_PIN_Y)
}

void NicPins::write() {
  dut_->outputs(out_);
#define MRC_PIN_OUT(kind, pin, with, group, block) give_all(pin##_o, out_.pin);
  MRC_PINS_OUT(MRC_PIN_OUT)
}

}  // namespace mrc::systemc

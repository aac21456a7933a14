// SPDX-License-Identifier: Apache-2.0
/// usage: pins model|rtl
/// Two NICs of preset tiny talk over two links; what goes over the pins of one is written down. Then the same goes over
/// the signals of a NicPins with a device of its own: every output in every cycle must be what it was. Exit code 1: a
/// pin that differs.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "sim/nic/cycle/endpoint_cycle.hpp"
#include "sim/systemc/host.hpp"
#include "sim/systemc/link.hpp"
#include "sim/systemc/nic.hpp"
#include "sim/systemc/pins/nic_pins.hpp"

namespace {

using namespace mrc;
using namespace mrc::systemc;

struct Cycle {
  mrc_pins_out out;
  mrc_pins_in in;
};

class Spy final : public tb::Dut {
 public:
  Spy(std::unique_ptr<tb::Dut> dut, std::vector<Cycle>& log) : dut_(std::move(dut)), log_(log) {}
  void outputs(mrc_pins_out& out) override {
    dut_->outputs(out);
    out_ = out;
  }
  void step(const mrc_pins_in& in) override {
    log_.push_back({out_, in});
    dut_->step(in);
  }
  bool observe(const uint32_t*&, const uint32_t*&) override { return false; }
  bool wave(const char*, bool) override { return false; }
  bool can_wave() const override { return false; }
  std::string name() const override { return "spy"; }
  std::string version() const override { return {}; }

 private:
  std::unique_ptr<tb::Dut> dut_;
  std::vector<Cycle>& log_;
  mrc_pins_out out_{};
};

template <class Signal, class Value>
bool same(const Signal& signal, const Value& value) {
  return signal.read() == typename std::remove_cvref_t<decltype(signal.read())>(value);
}
template <int kBits, class Unit, size_t kUnits>
bool same(const sc_core::sc_signal<sc_dt::sc_bv<kBits>>& signal, const Unit (&value)[kUnits]) {
  constexpr int kUnit = 8 * sizeof(Unit);
  for (int i = 0; i < static_cast<int>(kUnits); ++i) {
    if (signal.read().range(kUnit * i + kUnit - 1, kUnit * i).to_uint() != value[i]) return false;
  }
  return true;
}
template <int kBits, class Unit, size_t kUnits>
void put(sc_core::sc_signal<sc_dt::sc_bv<kBits>>& signal, const Unit (&value)[kUnits]) {
  constexpr int kUnit = 8 * sizeof(Unit);
  sc_dt::sc_bv<kBits> bits;
  for (int i = 0; i < static_cast<int>(kUnits); ++i) bits.range(kUnit * i + kUnit - 1, kUnit * i) = value[i];
  signal.write(bits);
}
template <class Type, class Value>
void put(sc_core::sc_signal<Type>& signal, const Value& value) {
  signal.write(Type(value));
}
bool at(uint8_t mask, unsigned plane) { return (mask >> plane & 1) != 0; }
template <class T>
const T& at(const T (&all)[MRC_PLANES], unsigned plane) {
  return all[plane];
}

/// Drives the pins with what was written down.
struct Player : sc_core::sc_module {
  NicPins& nic;
  const std::vector<Cycle>& log;
  std::vector<Cycle> kept;
  sc_core::sc_event taken;
  unsigned planes, wrong = 0;
  size_t cycles = 0, beats = 0;
  sc_core::sc_signal<bool> clk{"clk"}, rst_n{"rst_n"};
#define ONE(kind, name) sc_core::sc_signal<pin::kind> name{#name};
#define MANY(kind, name) sc_core::sc_vector<sc_core::sc_signal<pin::kind>> name{#name, MRC_PLANES};
  MRC_PINS_IN(ONE, MANY)
#define OUT_Words(name) ONE(Words<MRC_WORDS_##name>, name)
#define OUT_Bit(name) ONE(Bit, name)
#define OUT_Code(name) ONE(Code, name)
#define OUT_Length(name) ONE(Length, name)
#define OUT_Flag(name) ONE(Flag, name)
#define OUT_Plane(name) ONE(Plane, name)
#define OUT_Queue(name) ONE(Queue, name)
#define OUT_Data(name) ONE(Data, name)
#define OUT_Address(name) ONE(Address, name)
#define OUT_Line(name) ONE(Line, name)
#define OUT_Valids(name) MANY(Bit, name)
#define OUT_Mask(name) MANY(Bit, name)
#define OUT_Keep(name) MANY(Keep, name)
#define OUT_Beat(name) MANY(Beat, name)
#define OUT(kind, name, with, group, block) OUT_##kind(name)
  MRC_PINS_OUT(OUT)

  Player(const sc_core::sc_module_name& name, NicPins& n, unsigned p, const std::vector<Cycle>& l)
      : sc_module(name), nic(n), log(l), planes(p) {
    nic.clk_i(clk);
    nic.rst_ni(rst_n);
#undef ONE
#undef MANY
#define ONE(kind, name) nic.name##_i(this->name);
#define MANY(kind, name) \
  for (unsigned i = 0; i < planes; ++i) nic.name##_i[i](this->name[i]);
    MRC_PINS_IN(ONE, MANY)
#undef ONE
#undef MANY
#define ONE(kind, name) nic.name##_o(this->name);
#define MANY(kind, name) \
  for (unsigned i = 0; i < planes; ++i) nic.name##_o[i](this->name[i]);
    MRC_PINS_OUT(OUT)
    SC_HAS_PROCESS(Player);
    SC_THREAD(play);
  }
  void check(bool right, const char* what) {
    if (!right && ++wrong <= 10) std::cout << fmt::format("cycle {}: {} differs\n", cycles, what);
  }
  /// Plays what there is; the NICs go on meanwhile.
  size_t take() {
    kept = log;
    taken.notify(sc_core::SC_ZERO_TIME);
    return kept.size();
  }
  void play() {
    wait(taken);
    for (const Cycle& c : kept) {
#undef ONE
#undef MANY
#define ONE(kind, name) check(same(this->name, c.out.name), #name);
#define MANY(kind, name) \
  for (unsigned i = 0; i < planes; ++i) check(same(this->name[i], at(c.out.name, i)), #name);
      MRC_PINS_OUT(OUT)
      rst_n = c.in.rst_n != 0;
#undef ONE
#undef MANY
#define ONE(kind, name) put(this->name, c.in.name);
#define MANY(kind, name) \
  for (unsigned i = 0; i < planes; ++i) put(this->name[i], at(c.in.name, i));
      MRC_PINS_IN(ONE, MANY)
      wait(1, sc_core::SC_NS);
      clk = true;
      wait(1, sc_core::SC_NS);
      clk = false;
      ++cycles;
      beats += (c.out.tx_tvalid != 0) + (c.in.rx_tvalid != 0);
    }
  }
};

std::unique_ptr<tb::Dut> make_dut(const std::string& kind, const Preset& preset) {
  std::string error;
  auto dut = kind == "model" ? tb::make_model_dut(preset) : tb::open_dut(MRC_DUT_TINY, preset, 1, error);
  if (!dut) std::cerr << error << "\n";
  return dut;
}

}  // namespace

int sc_main(int argc, char** argv) {
  if (argc != 2) return 2;
  const Preset& tiny = *find_preset("tiny");
  sim::FastConfig settings = sim::FastConfig::for_fabric(50, 4 * sim::kUs);
  settings.be_nic(tiny);
  settings.mpr = settings.mpr_dest = 1;
  std::vector<Cycle> log;
  auto spy = std::make_unique<Spy>(make_dut(argv[1], tiny), log);
  Nic a("a", std::make_unique<sim::CycleEndpoint>("spied", tiny, settings, std::move(spy)),
        {.planes = 2, .number = 0, .gbps = 25});
  Nic b("b", std::make_unique<sim::CycleEndpoint>("model", tiny, settings, tb::make_model_dut(tiny)),
        {.planes = 2, .number = 1, .gbps = 25});
  Link link0("link0", {.gbps = 25}), link1("link1", {.gbps = 25});
  for (auto [plane, link] : {std::tuple{0u, &link0}, {1u, &link1}}) {
    link->connect(0, a, plane);
    link->connect(1, b, plane);
  }
  Host host_a("host_a"), host_b("host_b");
  host_a.connect(a);
  host_b.connect(b);
  sim::QpSpec qp;
  qp.qpn = qp.peer_qpn = 16;
  qp.peer = 1;
  qp.mtu = 1024;
  qp.encap = Encap::Ipv6;
  qp.planes = 2;
  qp.ev_active = qp.ev_backup = {0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80};
  std::string why;
  if (!a.open(qp, why) || (qp.peer = 0, !b.open(qp, why))) return std::cerr << why << "\n", 2;
  unsigned done = 0;
  for (Host* host : {&host_a, &host_b}) {
    host->heard = [&](const HostEvent& e) { done += e.kind == EventKind::Completed; };
    sc_core::sc_spawn([host] {
      host->post({.id = 1, .qpn = 16, .bytes = 20'000});
      host->post({.id = 2, .qpn = 16, .bytes = 5'001, .immediate = true, .imm = 0xabcd});
    });
  }
  const sc_core::sc_time end(20, sc_core::SC_US);
  NicPins pins("pins", tiny, make_dut(argv[1], tiny));
  Player player("player", pins, tiny.num_planes, log);
  sc_core::sc_start(end);
  const size_t cycles = player.take();
  sc_core::sc_start(picoseconds(2 * sim::kNs * (cycles + 1)));
  std::cout << fmt::format("{}: {} completions, {} cycles, {} with beats, {} differences\n", argv[1], done,
                           player.cycles, player.beats, player.wrong);
  return done == 4 && player.cycles == cycles && player.beats > 1000 && player.wrong == 0 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
/// A top for boards at preset tiny, behind the pins of its core: around it stand MACs, each with two clocks of random
/// period and phase that jitter, a memory on AXI4 or behind a DMA, and a shell that puts the bench's registers at their
/// place in the map. So every bench that drives a core drives a board. What it does not tell is whose a host write is
/// (docs/design/blocks/nic.md, "Host writes"): neither AXI4 nor a descriptor has a word for that.
///
/// Of a top with rings the pins wqe and cqe are dead: whoever drives it posts and polls in memory (ring_host.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gen/presets.hpp"
#include "tb/dut/dut.hpp"
#include "tb/environment/driver.hpp"
#include "tests/fpga/axi_memory.hpp"
#include "tests/fpga/board_mac.hpp"
#include "tests/fpga/dma_memory.hpp"
#include "tests/fpga/record/write_memory.hpp"
#include "util/rng.hpp"
#include "verilated.h"

class Vmrc_fpga_top;
class Vmrc_fpga_full_top;
class Vmrc_fpga_gen_top;
class Vmrc_fpga_stream_top;
class Vmrc_fpga_ram_top;

namespace mrc {

/// Top is mrc_fpga_top or mrc_fpga_top_dma, Verilated; Memory is what its host side reads and writes. With fewer MACs
/// than planes they are ports: a frame of any plane is on the pins of the MAC of its port.
template <class Top, class Memory, unsigned Macs>
class BoardOf final : public tb::Dut {
 public:
  static constexpr const Preset& kPreset = *find_preset("tiny");
  static constexpr unsigned kPlanes = kPreset.num_planes, kPortBytes = kPreset.port_bytes,
                            kHostBytes = kPreset.host_bytes;

  explicit BoardOf(uint64_t seed);
  ~BoardOf() override;
  BoardOf(const BoardOf&) = delete;
  BoardOf& operator=(const BoardOf&) = delete;

  void outputs(mrc_pins_out& o) override;
  void step(const mrc_pins_in& i) override;
  bool observe(const uint32_t*&, const uint32_t*&) override { return false; }
  bool wave(const char*, bool) override { return false; }
  bool can_wave() const override { return false; }
  std::string name() const override { return "board"; }
  std::string version() const override { return {}; }
  unsigned assertions() const override;
  const tb::FailedAssertion* failed_assertion() const override { return failed_ ? &*failed_ : nullptr; }

  Memory memory;
  /// The recorder's, where there is one: plain boards have it, those of skin B have not even its pins.
  WriteMemory<kHostBytes> record_memory;
  /// A reset of the bench's is from now on one of the core alone, by CORE_HOLD: the bus of the memory lives on.
  bool resets_core_alone = false;
  /// What software writes then while the core is in reset, by addresses of the map.
  std::vector<std::pair<uint16_t, uint32_t>> writes_held;

  /// Accesses of the shell beside those of the bench, by addresses of the map (docs/design/boards/axil.md).
  void write(uint16_t at, uint32_t value, tb::Driver::Done done = {}) { shell_.write(at, value, std::move(done)); }
  void read(uint16_t at, tb::Driver::Done done) { shell_.read(at, std::move(done)); }
  /// No access to registers is under way.
  bool bus_is_idle() const { return !bench_busy_ && shell_.idle(); }
  /// A NIC of the shell's at the side port of MAC 0: what it sends, and what has come to it. It may take nothing.
  void side_send(std::span<const uint8_t> frame) {
    to_side_.add(frame.data(), static_cast<unsigned>(frame.size()), true, false);
  }
  FrameStore from_side;
  bool side_takes = true;

  /// Interrupts of the completion rings, a bit each.
  unsigned ring_irq() const;

 private:
  struct Clock {
    uint64_t period = 0, next = 0;
  };
  void eval();
  void drive(const mrc_pins_in& i);
  /// The clocks of the MACs up to the core's next edge, then that edge.
  void core_cycle();
  void rx_edge(unsigned plane);
  void tx_edge(unsigned plane);
  void drive_record();
  void sample_record();
  void drive_side();
  void sample_side();
  void axil_outputs(mrc_pins_out& o) const;
  void axil(const mrc_pins_in& i, unsigned base);
  void share_bus(const mrc_pins_in& i);
  void reset_core();
  void forget();
  void forget_frames();
  void look_for_failures();

  Rng rng_;
  VerilatedContext context_;  // outlives what is in it
  std::unique_ptr<Top> top_;
  std::array<Clock, std::size_t{2} * Macs> clocks_;  ///< of MAC p: 2 p reception, 2 p + 1 transmission
  std::array<FrameStore, Macs> to_board_, to_bench_;
  FrameStore to_side_;
  std::array<std::deque<unsigned>, kPlanes> requested_;  ///< ids of the reads that the bench knows as those of a plane
  uint64_t now_ = 0, cycle_ = 0;
  bool was_reset_ = false, side_offered_ = false;
  tb::Driver shell_{Rng(0, "shell")};
  mrc_pins_in shell_in_{};
  bool shell_owns_ = false, bench_busy_ = false;  ///< the bus of registers
  std::array<uint8_t, kPortBytes> beat_{};
  std::optional<tb::FailedAssertion> failed_;
};

inline constexpr unsigned kBoardPlanes = find_preset("tiny")->num_planes, kBoardLine = find_preset("tiny")->host_bytes;
/// Skin A, whose reads have the plane as their id.
using Board = BoardOf<Vmrc_fpga_top, AxiMemory<kBoardLine, kBoardPlanes>, kBoardPlanes>;
/// With the generator and the pattern checker of a first run, in gen_board.cpp; theirs is one id more.
using GenBoard = BoardOf<Vmrc_fpga_gen_top, AxiMemory<kBoardLine, kBoardPlanes + 1>, kBoardPlanes>;
/// With rings in host memory, and both planes on one port.
using FullBoard = BoardOf<Vmrc_fpga_full_top, AxiMemory<kBoardLine, kBoardPlanes + 1>, 1>;
/// Skin B, for a DMA with streams, and for one that works on RAMs: in dma_boards.cpp.
using StreamBoard = BoardOf<Vmrc_fpga_stream_top, DmaMemory<kBoardLine, false>, kBoardPlanes>;
using RamBoard = BoardOf<Vmrc_fpga_ram_top, DmaMemory<kBoardLine, true>, kBoardPlanes>;

}  // namespace mrc

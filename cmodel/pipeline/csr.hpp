// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "gen/csr.hpp"
#include "gen/presets.hpp"
#include "pipeline/cfg.hpp"
#include "pipeline/stream.hpp"

namespace mrc {

/// Registers and counters behind AXI4-Lite, the queue of EV events, and the broadcast of table writes. Contract:
/// docs/blocks/nic.md, "csr".
class Csr {
 public:
  struct In {
    bool awvalid = false, wvalid = false, bready = false, arvalid = false, rready = false;
    uint16_t awaddr = 0, araddr = 0;
    uint32_t wdata = 0;
    uint8_t wstrb = 0;
    bool all_ack = false, any_ack = false;  ///< of the blocks' cfg_ack
  };
  struct Out {
    bool awready = true, wready = true, bvalid = false, arready = true, rvalid = false;
    uint8_t bresp = 0, rresp = 0;
    uint32_t rdata = 0;
  };

  /// evev: from tx_path.
  Csr(const Preset& preset, Stream<Evev>& evev);

  Out out() const;
  /// Values of this cycle.
  const CsrOut& values() const { return values_; }
  const CfgBus& cfg() const { return cfg_; }

  /// Adds to a counter register of this cycle, at a byte address of csr.yaml.
  void count(uint32_t offset) { ++next_count(offset); }

  void step(const In& in);
  void clock();

 private:
  static constexpr unsigned kWords = 0x200 / 4;
  static constexpr uint8_t kSlvErr = 2;
  enum class State : uint8_t { Idle, Cfg, CfgEnd, Resp };

  struct Regs {
    State state = State::Idle;
    bool aw_full = false, w_full = false, bvalid = false, rvalid = false, cfg_req = false;
    uint16_t awaddr = 0;
    uint32_t wdata = 0, rdata = 0;
    uint8_t wstrb = 0, bresp = 0, rresp = 0;
  };

  uint32_t& next_count(uint32_t offset) {
    counted_ = true;
    return pulses_[(offset - csr::kCntTx0) / 4];
  }
  void write();
  void queue_event();
  uint32_t take_event();
  void publish();

  std::array<uint32_t, kWords> reg_{};   // all registers, counters included
  std::array<uint32_t, kWords> mask_{};  // bits that a write stores
  std::array<bool, kWords> exists_{};
  std::array<bool, kWords> writable_{};
  std::array<uint32_t, kWords - csr::kCntTx0 / 4> pulses_{};  // to be added at clock()
  bool counted_ = false;

  Stream<Evev>& evev_;
  Fifo<Evev> evq_{16};
  bool evq_moved_ = false;
  bool dropped_ = false;  // an event, in this cycle

  Regs q_, d_;
  unsigned written_ = kWords;  // register word written in this cycle; kWords: none
  uint32_t written_value_ = 0;
  CsrOut values_;
  CfgBus cfg_;
};

}  // namespace mrc

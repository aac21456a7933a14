// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gen/csr.hpp"
#include "gen/presets.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/stream.hpp"
#include "pipeline/lib/tick.hpp"

namespace mrc {

/// Registers and counters behind AXI4-Lite, the queue of EV events, the state of each QP, interrupts, and the broadcast
/// of table writes: commands of software, which are judged, and writes of the NIC itself. The bus waits for neither.
/// Contract: docs/design/blocks/ctl/csr.md.
class Csr {
 public:
  struct In {
    bool awvalid = false, wvalid = false, bready = false, arvalid = false, rready = false;
    uint16_t awaddr = 0, araddr = 0;
    uint32_t wdata = 0;
    uint8_t wstrb = 0;
    bool all_ack = false, any_ack = false;  ///< of the blocks' cfg_ack
    unsigned port_up = 0;                   ///< bit p: port_up of plane p
    uint32_t fence = 0;                     ///< owed of fence
  };
  struct Out {
    bool awready = true, wready = true, bvalid = false, arready = true, rvalid = false;
    uint8_t bresp = 0, rresp = 0;
    uint32_t rdata = 0;
    bool irq = false;
  };

  /// Sources of qperr, in the order in which they are taken: the NIC's blocks, then the host.
  struct Qperrs {
    std::array<Stream<Qperr>*, 4> blocks;
    Fifo<Qperr>& host;
  };

  /// evev: from tx_path; pmask, evr: from endpoint; qperr: from tx_inflight, rx_track, rx_reorder, tx_segment, host;
  /// evp: to endpoint.
  Csr(const Preset& preset, Stream<Evev>& evev, Stream<Pmask>& pmask, const Qperrs& qperr, Stream<Evr>& evr,
      Stream<Evp>& evp);

  Out out() const;
  /// Values of this cycle.
  const CsrOut& values() const { return values_; }
  const CfgBus& cfg() const { return cfg_; }
  /// Register: a fence begins.
  bool fence_go() const { return fence_go_; }
  /// True while a table write is on the bus, or its acknowledgements fall: only then In::all_ack and any_ack count.
  bool table_write() const { return q_.state == State::Cfg || q_.state == State::CfgEnd; }

  /// Adds to a counter register of this cycle, at a byte address of csr.yaml.
  void count(uint32_t offset) { ++next_count(offset); }

  void step(const In& in);
  void clock();

 private:
  static constexpr unsigned kWords = csr::kEccInject / 4 + 1;  // the last register
  static constexpr uint8_t kSlvErr = 2;
  static constexpr uint32_t kEvpOnItsWay = 1, kEvpAnswered = 2, kEvpNotAnswered = 3;  // EVP_RES.state
  enum class State : uint8_t { Idle, Cfg, CfgEnd };

  struct Regs {
    State state = State::Idle;
    bool aw_full = false, w_full = false, bvalid = false, rvalid = false, cfg_req = false;
    bool busy = false;      // a command of software waits, or is under way
    bool irq = false;       // the pin
    uint32_t happened = 0;  // bits of IRQ that wait for software; that of EVQ is the queue's
    bool internal = false;  // the newest table write is the NIC's own: table, index and value below
    CfgTable table{};
    QpIndex index = 0;
    uint8_t value = 0;
    uint16_t awaddr = 0;
    uint32_t wdata = 0, rdata = 0;
    uint8_t wstrb = 0, bresp = 0, rresp = 0;
  };

  uint32_t& next_count(uint32_t offset) {
    counted_ = true;
    return pulses_[(offset - csr::kCntTx0) / 4];
  }
  /// A QP, as csr knows it.
  struct Qp {
    QpState state = QpState::Reset;
    uint8_t status = 0;   // why the NIC put it into Error
    bool notify = false;  // the blocks are to hear that it is in Error
  };
  /// A destination, as csr knows it.
  struct Peer {
    uint8_t mask = 0;    // planes it can receive on, as it or software said last
    bool heard = false;  // the blocks are to hear that
  };

  uint32_t value(unsigned word, const In& in) const;
  uint32_t irq() const;
  void raise(const csr::Field& event) { happens_ |= event.mask(); }
  void idle();
  void end_command();
  void take_reports();
  void qp_error(const Qperr& error);
  void notify_error();
  void notify_mask();
  void set_peer(unsigned dest, unsigned mask);
  void start_internal(CfgTable table, QpIndex index, uint8_t value);
  void write();
  void command();
  bool judge();
  bool probe_write(uint32_t command);
  void queue_event();
  uint32_t take_event();
  void publish();
  void publish_cfg();

  std::array<uint32_t, kWords> reg_{};   // all registers, counters included
  std::array<uint32_t, kWords> mask_{};  // bits that a write stores
  std::array<bool, kWords> exists_{};
  std::array<bool, kWords> writable_{};
  std::array<uint32_t, kWords - csr::kCntTx0 / 4> pulses_{};  // to be added at clock()
  bool counted_ = false;

  const Preset preset_;
  Stream<Evev>& evev_;
  Stream<Pmask>& pmask_;
  const Qperrs qperr_;
  Stream<Evr>& evr_;
  Stream<Evp>& evp_;
  std::vector<Qp> qps_;
  std::vector<Peer> peers_;
  unsigned notify_ = 0, heard_ = 0;  // how many QPs and destinations the blocks are to hear of
  unsigned first_ = 0;               // destination whose mask is looked at first
  bool turn_ = false;                // a mask was broadcast since the newest command: software goes before the next
  Ticks ticks_;
  Fifo<Evev> evq_{16};
  bool evq_moved_ = false;
  bool dropped_ = false;  // an event, in this cycle

  Regs q_, d_;
  unsigned written_ = kWords;  // register word written in this cycle; kWords: none
  uint32_t written_value_ = 0;
  uint32_t happens_ = 0;   // bits of IRQ that are set in this cycle
  bool reports_ = false;   // reports of blocks are taken in this cycle
  bool evp_busy_ = false;  // an EV probe is on its way, in this cycle
  bool fence_go_ = false, fence_written_ = false;
  bool republish_ = false;  // the table write changes without a register
  CsrOut values_;
  CfgBus cfg_;
};

}  // namespace mrc

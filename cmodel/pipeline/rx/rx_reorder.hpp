// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/csr_values.hpp"
#include "gen/nic_pulses.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/plane_counts.hpp"
#include "pipeline/lib/pool.hpp"
#include "pipeline/lib/ram_ecc.hpp"
#include "pipeline/lib/stream.hpp"

namespace mrc {

/// Delivers WRITE-with-immediate completions in RQMSN order, after every earlier packet has arrived and has been
/// written to host memory. A peer with more of them outstanding than it may have puts the QP into Error. Those that
/// come in order pass at one per cycle; others wait in entries that all QPs share. A row that its code cannot correct
/// is an error of its QP. Contract: docs/design/blocks/rx/rx_reorder.md.
class RxReorder {
 public:
  struct In {
    bool done_valid = false;  ///< rx_place: a packet of done_plane is in host memory, or discarded
    unsigned done_plane = 0;
  };

  RxReorder(const Preset& preset, Stream<Ord>& ord, Stream<Cqe>& cqe, Stream<Qperr>& qperr);

  bool cfg_ack() const { return ack_.value(); }
  /// Register: more than 8 entries are free. Without it rx_track refuses immediates that are not next in order.
  bool imm_ok() const { return imm_ok_; }
  /// There is room for one more completion: those that wait for their data, and those that wait for the host, together
  /// are fewer than four per plane. Without it rx_track stops.
  bool hold_ok() const { return hold_.count() + placed_.count() < hold_depth_; }
  /// Flip-flops: by QP, its peer had more immediates outstanding than it may.
  const std::vector<uint8_t>& over() const { return over_; }
  /// Register: a word of ord has been taken.
  bool ord_done() const { return ord_done_; }
  /// Registers that counters count.
  const RxReorderPulses& pulses() const { return pulses_; }
  void step(const CfgBus& cfg, const CsrOut& csr, const In& in);
  void clock() {
    map_.clock();
    ents_.clock();
    pool_.clock();
    hold_.clock();
    placed_.clock();
    ack_.clock();
    ord_done_ = ord_done_next_;
    ord_done_next_ = false;
    pulses_ = pulses_next_;
    pulses_next_ = {};
    imm_ok_ = imm_ok_next_;
    over_[over_qp_] = over_next_;
  }

 private:
  enum class State : uint8_t { Idle, Init, Put, Read, Test, Ent };

  struct Slot {
    bool valid = false;
    unsigned idx = 0;
  };
  struct Entry {
    uint32_t imm = 0, length = 0, psn = 0;
  };
  struct Held {
    Cqe cqe;
    PlaneCounts snap;
  };

  unsigned qp(unsigned index) const { return index & qp_mask_; }
  std::size_t slot(uint16_t rqmsn) const { return qp(o_.qp) * max_wimm_ + (rqmsn & (max_wimm_ - 1)); }

  void place();
  void release();
  void idle(const CfgBus& cfg);
  void configure(const CfgBus& cfg);
  void init();
  void accept();
  void put();
  void test();
  void entry();
  template <class T>
  void see(const RamEcc<T>& memory);
  void broken();
  void deliver(uint32_t imm, uint32_t length);
  void set_over(unsigned index, bool over);
  void hold(CqStatus status, uint32_t imm, uint32_t length, uint16_t rqmsn);

  const unsigned planes_, qp_mask_, max_wimm_, hold_depth_;
  Stream<Ord>& ord_;
  Stream<Cqe>& cqe_;
  Stream<Qperr>& qperr_;
  RamEcc<Slot> map_;
  RamEcc<Entry> ents_;
  Pool pool_;
  std::vector<uint16_t> exp_;
  std::vector<uint8_t> wimm_;  // max_wimm_dest
  std::vector<uint8_t> cnt_;   // entries of the QP
  std::vector<uint8_t> over_, known_;
  unsigned over_qp_ = 0;  // the QP whose over changes at clock(), if any does
  uint8_t over_next_ = 0;
  PlaneCounts done_;
  Fifo<Held> hold_;
  Fifo<Cqe> placed_;
  State state_ = State::Idle;
  CfgAck ack_;
  unsigned init_qp_ = 0, init_row_ = 0;
  Ord o_{};
  bool more_ = false;  // cack has moved, and entries wait for that
  bool imm_ok_ = true, imm_ok_next_ = true;
  bool ord_done_ = false, ord_done_next_ = false;
  RxReorderPulses pulses_, pulses_next_;
};

}  // namespace mrc

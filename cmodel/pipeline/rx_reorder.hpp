// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/cfg.hpp"
#include "pipeline/stream.hpp"

namespace mrc {

/// Delivers WRITE-with-immediate completions in RQMSN order, after every earlier packet has arrived and has been
/// written to host memory. A peer with more of them outstanding than it may have puts the QP into Error. Contract:
/// docs/blocks/rx_reorder.md.
class RxReorder {
 public:
  struct In {
    bool done_valid = false;  ///< rx_place: a packet of done_plane is in host memory, or discarded
    unsigned done_plane = 0;
  };

  RxReorder(const Preset& preset, Stream<Ord>& ord, Stream<Cqe>& cqe, Stream<Qperr>& qperr);

  bool cfg_ack() const { return ack_.value(); }
  void step(const CfgBus& cfg, const In& in);
  void clock() {
    hold_.clock();
    ack_.clock();
  }

 private:
  enum class State : uint8_t { Idle, Init, Read, Test };

  struct Entry {
    bool valid = false;
    uint32_t imm = 0, length = 0, psn = 0;
  };
  struct Held {
    Cqe cqe;
    uint64_t snap = 0;
  };

  unsigned qp(unsigned index) const { return index & qp_mask_; }
  Entry& entry(unsigned index, uint16_t rqmsn) { return ents_[qp(index) * max_wimm_ + (rqmsn & (max_wimm_ - 1))]; }

  void deliver();
  void idle(const CfgBus& cfg);
  void configure(const CfgBus& cfg);
  void test();
  void hold(CqStatus status, uint32_t imm, uint32_t length, uint16_t rqmsn);

  const unsigned planes_, qp_mask_, max_wimm_;
  Stream<Ord>& ord_;
  Stream<Cqe>& cqe_;
  Stream<Qperr>& qperr_;
  std::vector<Entry> ents_;
  Entry rdata_{};  // the synchronous read's data
  std::vector<uint16_t> exp_;
  std::vector<uint8_t> wimm_;  // max_wimm_dest
  std::array<uint8_t, kMaxPlanes> done_{};
  Fifo<Held> hold_;
  State state_ = State::Idle;
  CfgAck ack_;
  unsigned init_qp_ = 0, init_row_ = 0;
  Ord o_{};
};

}  // namespace mrc

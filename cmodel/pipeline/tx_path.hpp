// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/cfg.hpp"
#include "pipeline/ram.hpp"
#include "pipeline/stream.hpp"
#include "protocol/ev_set.hpp"

namespace mrc {

/// Gives each packet an entropy value: walks the QP's EV set group by group in an order that changes each pass, and
/// takes the next GOOD EV whose lane has room. Contract: docs/blocks/tx_path.md. Three cycles per packet in the usual
/// case.
class TxPath {
 public:
  struct In {
    unsigned lane_room = 0;  ///< bit p: lane_room_i[p]
    unsigned port_up = 0;    ///< bit p: port_up_i[p]
  };

  TxPath(const Preset& preset, Stream<Pkt>& pkt, Stream<Fb>& fb, Stream<Path>& path, Stream<Rec>& rec);

  bool cfg_ack() const { return ack_.value(); }
  /// Register skip_inc_q.
  bool skip_inc() const { return skip_inc_; }
  void step(const CfgBus& cfg, const In& in);
  void clock() {
    evst_.clock();
    evval_.clock();
    ack_.clock();
    skip_inc_ = skip_inc_next_;
    skip_inc_next_ = false;
  }

 private:
  enum class State : uint8_t { Idle, Init, Fb, Walk, Emit };

  struct Qp {
    uint8_t grp = 0;
    uint8_t used = 0;
    uint16_t lfsr = 0;
    uint8_t profile = 0;
  };

  std::size_t evst_row(unsigned qp, unsigned group) const { return (qp & qp_mask_) * groups_ + group; }
  std::size_t evval_row(unsigned profile, unsigned ev_idx) const {
    return (std::size_t{profile} * evs_ + ev_idx) % evval_.depth();
  }
  /// grp ^ khi: the group of the set the walk stands at.
  unsigned group() const { return grp_ ^ (lfsr_ >> plane_bits_ & (groups_ - 1)); }
  void next_group();
  void choose(const EvGroup& g, unsigned ev_idx);

  void idle(const CfgBus& cfg);
  void init();
  void feedback();
  void walk(const In& in);
  void emit();

  const unsigned planes_, plane_bits_, groups_, evs_, qp_mask_;
  Stream<Pkt>& pkt_;
  Stream<Fb>& fb_in_;
  Stream<Path>& path_;
  Stream<Rec>& rec_;

  Ram1r1w<uint16_t> evst_;
  Ram1r1w<uint32_t> evval_;
  std::vector<Qp> qps_;
  RrArb arb_{2};
  State state_ = State::Idle;
  CfgAck ack_;
  bool skip_inc_ = false, skip_inc_next_ = false;

  unsigned init_qp_ = 0, init_group_ = 0;
  Fb fb_{};
  // The packet that walks: hold_ until Emit, and the walk's working copies.
  Pkt hold_{};
  unsigned grp_ = 0, u_ = 0, walked_ = 0;
  uint16_t lfsr_ = 1;
  bool restored_ = false, avoid_on_ = false;
  uint16_t restored_idx_ = 0;
  uint16_t ev_idx_ = 0;
};

}  // namespace mrc

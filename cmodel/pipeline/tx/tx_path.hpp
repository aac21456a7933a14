// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "gen/csr.hpp"
#include "gen/nic_pulses.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/ram.hpp"
#include "pipeline/lib/stream.hpp"
#include "protocol/blame.hpp"
#include "protocol/ev_set.hpp"

namespace mrc {

/// Gives each packet an entropy value: walks the QP's EV set group by group in an order that changes each pass, and
/// takes the next GOOD EV whose lane has room. Contract: docs/design/blocks/tx/tx_path.md. Two stages, a packet per
/// cycle in the usual case; a packet without a usable EV counts as sent and lost. While the stages are empty it works
/// in feedback: SKIP, and EVs that go bad and come back, each with a backup EV of the same plane if there is one.
/// Tables deny EVs, fill profiles, and say which planes a peer can receive on.
class TxPath {
 public:
  struct In {
    unsigned lane_room = 0;  ///< bit p: lane_room_i[p]
    unsigned port_up = 0;    ///< bit p: port_up_i[p]
  };

  struct Written {
    bool is = false;
    std::size_t row = 0;  ///< QP times groups plus group
    EvRow states = 0;
  };
  using Pulses = TxPathPulses;

  /// fb: from tx_inflight; pfb: from tx_probe.
  TxPath(const Preset& preset, Stream<Pkt>& pkt, Stream<Fb>& fb, Stream<Fb>& pfb, Stream<Path>& path, Stream<Rec>& rec,
         Stream<Evev>& evev, Stream<Badev>& bad);

  bool cfg_ack() const { return ack_.value(); }
  const Pulses& pulses() const { return pulses_; }
  /// A row of states that the cycle before has written, for logs. Between clock() and step().
  Written written() const { return evst_.written(); }
  void step(const CfgBus& cfg, const CsrOut& csr, const In& in);
  void clock() {
    evst_.clock();
    evval_.clock();
    ack_.clock();
    pulses_ = pulses_next_;
    pulses_next_ = {};
  }

 private:
  enum class State : uint8_t { Idle, Init, Deny, Gen, Fb, Find, Test, Judge, Scrub };

  /// EV states of all QPs. A read sees the write of its own cycle too; otherwise as Ram1r1w.
  class EvStates {
   public:
    explicit EvStates(std::size_t depth) : mem_(depth) {}
    EvRow rdata() const { return rdata_; }
    void read(std::size_t row) {
      raddr_ = row;
      re_ = true;
    }
    void write(std::size_t row, EvRow v) {
      waddr_ = row;
      wdata_ = v;
      we_ = true;
    }
    void clock() {
      wrote_ = we_;
      if (we_) mem_[waddr_] = wdata_;
      if (re_) rdata_ = mem_[raddr_];
      we_ = re_ = false;
    }

    /// What the cycle before has written, for logs.
    Written written() const { return {wrote_, waddr_, wdata_}; }

   private:
    std::vector<EvRow> mem_;
    EvRow rdata_ = 0, wdata_ = 0;
    std::size_t raddr_ = 0, waddr_ = 0;
    bool re_ = false, we_ = false, wrote_ = false;
  };

  struct Qp {
    uint8_t grp = 0;
    uint8_t used = 0;
    uint16_t lfsr = 0;
    uint8_t profile = 0;
    uint8_t backup = 0;  ///< groups, modulo their number
    uint16_t dest = 0;
    uint16_t active = 0;  ///< EVs in GOOD or SKIP
    LossWorld world;
  };

  /// Stage w: the packet that walks, and the walk's working copies.
  struct Walk {
    bool valid = false;
    Pkt pkt{};
    uint16_t dest = 0;
    unsigned grp = 0, u = 0;
    uint16_t lfsr = 1;
    bool whole = false;  ///< it sees every group of this pass
    bool restored = false, avoid_on = false;
    unsigned barred = 0;  ///< the plane that has lost it, of a copy the first one's too; 0: none
    uint16_t restored_idx = 0;
    EvSpare spare{};  ///< what it has passed over
    uint16_t spare_idx = 0;
    bool copy = false;  ///< it has been sent once, with first_idx, and its record has not
    uint16_t first_idx = 0;
  };

  /// Stage e: the packet that has its EV, whose value evval's data are, or has found none.
  struct Emit {
    bool valid = false, nopath = false;
    bool half = false;  ///< its copy, which is in w, has the record
    bool copy = false;
    Pkt pkt{};
    uint16_t ev_idx = 0, first_idx = 0;
  };

  std::size_t evst_row(unsigned qp, unsigned group) const { return (qp & qp_mask_) * groups_ + group; }
  std::size_t evval_row(unsigned profile, unsigned ev_idx) const {
    return (std::size_t{profile} * evs_ + ev_idx) % evval_.depth();
  }
  /// grp ^ khi: the group of the set the walk stands at.
  unsigned group() const { return w_.grp ^ (w_.lfsr >> plane_bits_ & (groups_ - 1)); }
  unsigned plane_bit(unsigned ev_idx) const { return 1u << (ev_idx & (planes_ - 1)); }
  /// Planes that can be used now towards a destination.
  unsigned plane_ok(unsigned dest, const In& in) const { return ev_plane_ok(in.port_up, peer_[dest & dest_mask_]); }
  void write_back();
  void next_group();
  EvSkipping skipping(const CsrOut& csr) const { return {csr.skip_mode, turn_}; }
  void count_turns(const CsrOut& csr);
  void choose(unsigned u, unsigned ev_idx, unsigned ok);
  void end_walk(uint16_t ev_idx, bool nopath);

  bool emit();
  void walk(const CsrOut& csr, const In& in, bool e_go);
  int last_resort(const EvGroup& g, bool avoided, unsigned ok) const;
  void accept(const CfgBus& cfg, const CsrOut& csr, const In& in, bool empty);
  void operate(const CsrOut& csr, const In& in);
  void configure(const CfgBus& cfg);
  void init();
  void deny();
  void generate();
  void take_feedback(Stream<Fb>& from);
  void take_packet(const CsrOut& csr, const In& in);
  void begin_walk();
  void copy_follows();
  void feedback(const CsrOut& csr, const In& in);
  bool blamed(unsigned plane, const CsrOut& csr);
  void find();
  void test();
  void judge(unsigned min_active);
  void scrub();
  void scrubbed();

  const unsigned planes_, plane_bits_, groups_, evs_, qp_mask_, dest_mask_;
  Stream<Pkt>& pkt_;
  Stream<Fb>&fb_in_, &pfb_in_;
  Stream<Path>& path_;
  Stream<Rec>& rec_;
  Stream<Evev>& evev_;
  Stream<Badev>& bad_;

  EvStates evst_;
  Ram1r1w<uint32_t> evval_;
  std::vector<Qp> qps_;
  std::vector<uint8_t> peer_;  // planes each destination can receive on
  RrArb arb_{3};
  State state_ = State::Idle;
  CfgAck ack_;
  Pulses pulses_, pulses_next_;

  unsigned turn_ = 0;        // of SKIP
  uint16_t turn_since_ = 0;  // tick at which it began
  // QPs that have an EV out of use. When there is nothing else to do, one of them after the other has a round.
  std::set<unsigned> bads_;
  unsigned bads_from_ = 0;                // the search for the next one begins here
  bool scrub_on_ = false;                 // a round is on,
  unsigned scrub_qp_ = 0, scrub_ev_ = 0;  // of this QP; its next EV
  bool scrub_bad_ = false;                // it has found one
  unsigned scrub_at_ = 0;                 // the EV that is looked at
  unsigned scrub_div_ = 0;
  bool scrub_due_ = false;
  unsigned init_qp_ = 0, init_group_ = 0;
  uint16_t deny_ev_idx_ = 0;
  bool deny_ = false;
  // The profile that is filled.
  csr::TblEvGen gen_;
  std::size_t gen_row_ = 0, gen_end_ = 0;
  uint32_t gen_v_ = 0;
  unsigned gen_bit_ = 0;   // bits of the value made so far
  bool gen_zero_ = false;  // the value before was 0 and has no row
  // The feedback that is worked in; its ev_idx is modulo EvsPerQp.
  Fb fb_{};
  bool failed_ = false;  // it took the EV out of use; otherwise it brought it back
  bool found_ = false;   // and a backup EV took its place
  EvRow keep_ = 0;       // the EV's row before
  unsigned f_ = 0;       // backup group looked at
  Walk w_;
  Emit e_;
};

}  // namespace mrc

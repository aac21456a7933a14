// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "gen/nic_pulses.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/ram.hpp"
#include "pipeline/lib/stream.hpp"
#include "protocol/address.hpp"

namespace mrc {

/// Tells each peer which of our ports are up and repeats it until the peer has answered, hears the same from them,
/// answers EV probes, and sends them for the controller and for reverse paths. Contract:
/// docs/design/blocks/ctl/endpoint.md. One operation per cycle. The QPs that lead to a destination stand in a ring, the
/// destinations of which addresses fall into one bucket in a chain, those that may be owed an update in a queue.
class Endpoint {
 public:
  using Pulses = EndpointPulses;

  struct Inputs {
    Stream<Eprx>& eprx;  ///< from rx_check, 16 deep
    Stream<Want>& want;  ///< from ack_gen, 16 deep
    Stream<Evp>& evp;    ///< from csr
  };
  struct Outputs {
    Stream<Ctlpkt>& req;   ///< to tx_header
    Stream<Resp>& resp;    ///< to ack_gen
    Stream<Okev>& okev;    ///< to ack_gen
    Stream<Pmask>& pmask;  ///< to csr
    Stream<Evr>& evr;      ///< to csr
    Stream<Pans>& pans;    ///< to tx_probe
  };
  Endpoint(const Preset& preset, const Inputs& in, const Outputs& out);

  bool cfg_ack() const { return ack_.value(); }
  const Pulses& pulses() const { return pulses_; }
  /// port_up: bit p is port_up_i[p].
  void step(const CfgBus& cfg, const CsrOut& csr, unsigned port_up);
  void clock() {
    addr_.clock();
    next_.clock();
    prev_.clock();
    first_.clock();
    after_.clock();
    known_.clock();
    place_.clock();
    ack_.clock();
    pulses_ = pulses_next_;
  }

 private:
  enum class State : uint8_t { Idle, Find, Send, Leave, Join, Link, Unchain, Chain, Clear, Again };
  struct Addr {
    U128 dip = 0;
    QpIndex qp = 0;
  };
  /// A peer NIC.
  struct Dest {
    bool valid = false;    ///< it has a lender
    bool due = false;      ///< it does not know our ports
    bool waiting = false;  ///< for the answer to update `seq`
    uint8_t peer = 0xff;   ///< planes it can receive on
    uint8_t seq = 0;       ///< number of the newest update
    uint8_t tries = 0;     ///< updates sent again since it is due
    bool queued = false;   ///< it is in the queue, or it is visited from there
    uint32_t sent = 0;     ///< tick at which the newest update left
  };
  /// A QP of ours: where its QP_CTX row leads.
  struct Qp {
    bool row = false;    ///< it has one
    bool leads = false;  ///< and is not in RESET
    uint16_t to = 0;     ///< destination
  };
  /// Who leaves which destination.
  struct Left {
    unsigned qp = 0, dest = 0;
    bool keep = false;    ///< it may go on lending, since its row stands
    bool member = false;  ///< it stands in the ring
  };
  /// Who comes to which destination.
  struct Join {
    bool on = false;
    unsigned qp = 0, dest = 0;
    U128 dip = 0;
    bool had = false;     ///< the destination had a lender
    bool member = false;  ///< the QP stands in its ring
  };
  /// A destination of a chain, or none.
  struct Step {
    bool any = false;
    uint16_t dest = 0;
  };
  /// An EV probe.
  struct Probe {
    bool busy = false, send = false;
    uint16_t dest = 0;
    uint8_t plane = 0;
    uint32_t ev = 0;
    uint16_t seq = 0;       ///< 14 bits
    uint32_t when = 0;      ///< tick from which it counts as lost
    bool tc_valid = false;  ///< its caller has given it a code point
    uint8_t tc = 0;
  };

  Dest& dest(unsigned d) { return dests_[d & dest_mask_]; }
  void idle(const CfgBus& cfg, const CsrOut& csr, unsigned port_up);
  bool other(const CsrOut& csr, unsigned port_up);
  void configure(const CfgBus& cfg, unsigned port_up);
  void configure_row(const CfgBus& cfg, unsigned port_up);
  bool leave(unsigned qp, bool keep);
  void left();
  void come();
  void joined();
  void link();
  void join_goes_on(State then);
  unsigned bucket(U128 a) const { return address_fold(a, plane_) & dest_mask_; }
  State leave_chain(unsigned dest, U128 dip, bool moves);
  void unchain();
  void chain();
  void clear();
  void again();
  void next_again();
  void receive(const CsrOut& csr);
  void answered(const Eprx& e, const CsrOut& csr);
  void order(Probe& probe, unsigned dest, unsigned plane, uint32_t ev, const CsrOut& csr);
  void know(unsigned dest);
  void forget(unsigned dest);
  void owe(unsigned dest);
  void push(unsigned dest);
  void load();
  bool due_now() const { return visit_on_ && (hurry_ ? req_.free() : visit_due_); }
  void visit(const CsrOut& csr, unsigned port_up);
  void look(Dest& d, const CsrOut& csr, unsigned port_up);
  void read_for(unsigned kind, unsigned dest);
  void find(const CsrOut& csr);
  void send(const CsrOut& csr, unsigned port_up);

  const unsigned planes_, dest_mask_, dest_bits_, qp_mask_;
  Stream<Eprx>& eprx_;
  Stream<Want>& want_;
  Stream<Evp>& evp_;
  Stream<Ctlpkt>& req_;
  Stream<Resp>& resp_;
  Stream<Okev>& okev_;
  Stream<Pmask>& pmask_;
  Stream<Evr>& evr_;
  Stream<Pans>& pans_;

  Ram1r1w<Addr> addr_;
  std::vector<Dest> dests_;
  std::vector<Qp> qps_;
  Rf1r1w<QpIndex> next_, prev_;     // the ring of a QP's destination: who stands behind it and before it
  Rf1r1w<Step> first_, after_;      // the first destination of a bucket's chain; the one behind a destination
  PlaneAddress plane_;              // by which the chains stand
  Probe controller_, reverse_;      // cp, rp
  unsigned up_;                     // port_up of the cycle before
  unsigned rot_ = 0;                // plane at which the search for an update's plane starts
  uint32_t lfsr_ = 1;               // entropy value of the newest reverse-path probe, or the seed of the next
  uint32_t seed_ = 1;               // REV_SEED of the cycle before
  Rf1r1w<uint16_t> known_, place_;  // the valid destinations side by side, and where each of them stands
  unsigned count_ = 0;              // how many they are
  unsigned at_ = 0, to_visit_ = 0;  // of known_: whose turn is next, and how many are left, since a port changed
  std::deque<uint16_t> queue_;      // destinations that may be owed an update
  unsigned div_ = 0, visit_ = 0;    // visit_: the next destination
  bool visit_on_ = false;           // there is one
  bool walk_ = false;               // it comes from known_
  bool hurry_ = false;              // visits do not wait for div_
  bool visit_due_ = false;
  bool loads_ = false;       // this cycle takes the next one
  bool queue_head_ = false;  // the queue had one when the cycle began
  bool turn_ = false;        // a packet of a peer was taken last: all else goes first

  State state_ = State::Idle;
  Eprx e_{};                  // the request that is worked on
  unsigned f_ = 0;            // the destination that is looked at
  unsigned g_ = 0;            // Unchain: the one before it
  unsigned kind_ = 0;         // Send: EpKind
  unsigned to_ = 0;           // Send, kind 0: destination
  Left left_;                 // Leave
  Join join_;                 // from cfg to the end of what it begins
  unsigned lent_ = 0;         // Link: the lender before join_.qp
  State then_ = State::Idle;  // what comes behind Link
  unsigned gone_ = 0;         // Unchain: who leaves the chain
  bool moves_ = false;        // and enters another one
  unsigned bucket_ = 0;       // whose chain changes
  CfgAck ack_;
  Pulses pulses_, pulses_next_;
};

}  // namespace mrc

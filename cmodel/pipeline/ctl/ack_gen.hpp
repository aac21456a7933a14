// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/stream.hpp"

namespace mrc {

/// Turns a response, or a QP's question for its peer's state, into a control packet on the plane it answers, or on
/// another one that both ends can use, with an entropy value that has just worked there. Keeps those values, one per
/// destination and plane, and asks for a probe when one has become stale. Semantic ACKs are spaced: a QP takes its
/// turn, and what it completes meanwhile is acknowledged together. Contract: docs/design/blocks/ctl/ack_gen.md.
/// One response per cycle.
class AckGen {
 public:
  /// Streams in.
  struct In {
    Stream<Resp>& resp;      ///< from rx_track, 16 deep
    Stream<Ackev>& ackev;    ///< from rx_track
    Stream<Resp>& eresp;     ///< from endpoint
    Stream<Okev>& okev;      ///< from tx_inflight
    Stream<Okev>& eokev;     ///< from endpoint
    Stream<Stateq>& stateq;  ///< from tx_inflight
  };
  /// ctlpkt: to tx_header; want: to endpoint.
  AckGen(const Preset& preset, const In& in, Stream<Ctlpkt>& ctlpkt, Stream<Want>& want);

  bool cfg_ack() const { return ack_.value(); }
  /// port_up: bit p is port_up_i[p].
  void step(const CfgBus& cfg, const CsrOut& csr, unsigned port_up);
  void clock() {
    oq_.clock();
    ack_.clock();
  }

 private:
  struct Qp {
    uint32_t dqpn = 0;
    uint32_t high = 0;  ///< upper bits of its QPN
    uint16_t dest = 0;
    bool svc_time = false;
  };
  /// Semantic ACK of a QP.
  struct Owed {
    Ackev newest;       ///< what it will say
    bool due = false;   ///< it shall go out
    bool owed = false;  ///< the QP is in oq_
  };
  /// Reverse path to a destination on a plane.
  struct Rev {
    uint32_t ev = 0;
    bool valid = false;   ///< ev has worked once
    bool stale = true;    ///< not since the epoch began
    bool wanted = false;  ///< a probe was asked for in this epoch
  };

  Rev& rev(unsigned dest, unsigned plane) { return rev_[(dest & dest_mask_) * planes_ + (plane & (planes_ - 1))]; }
  void configure(const CfgBus& cfg);
  bool send(const CsrOut& csr, unsigned port_up, Want& want);
  bool respond(const CsrOut& csr, unsigned port_up, Resp r, Want& want);
  void query_state(const CsrOut& csr, unsigned port_up, QpIndex index);
  unsigned plane_for(bool in_turn, unsigned port_up, unsigned peer, bool any, unsigned plane);
  unsigned plane_to_query(bool in_turn, unsigned port_up, unsigned peer);
  uint32_t ev_for(const CsrOut& csr, unsigned dest, unsigned plane);
  void owe(const Ackev& e);

  const unsigned planes_, qp_mask_, dest_mask_;
  const In in_;
  Stream<Ctlpkt>& ctlpkt_;
  Stream<Want>& want_;
  std::vector<Qp> qps_;
  std::vector<Owed> acks_;
  Fifo<QpIndex> oq_;           // QPs in their turn
  unsigned turn_ = 0;          // plane of the next SACK, ACK or probe
  uint16_t gap_ = 0;           // cycles until the next ACK may go
  bool again_ = false;         // one probe of the question at the head of stateq is out
  std::vector<uint8_t> peer_;  // planes each destination can receive on
  std::vector<Rev> rev_;
  uint32_t epoch_ = 0;  // tick in which the epoch began
  CfgAck ack_;
};

}  // namespace mrc

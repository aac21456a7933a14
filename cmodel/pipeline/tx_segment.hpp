// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/cfg.hpp"
#include "pipeline/ram.hpp"
#include "pipeline/stream.hpp"
#include "protocol/segment.hpp"

namespace mrc {

/// Holds the work requests of each QP until they complete, cuts them into packets, retransmits packets on order of
/// tx_inflight, and completes work requests. Contract: docs/blocks/tx_segment.md. Two cycles per packet.
class TxSegment {
 public:
  TxSegment(const Preset& preset, Fifo<Wqe>& wqe, Fifo<Grant>& grant, Stream<Retx>& retx, Stream<Upd>& upd,
            Stream<Pkt>& pkt, Stream<Grant>& push, Stream<Cqe>& cqe);

  bool cfg_ack() const { return ack_.value(); }
  void step(const CfgBus& cfg);
  void clock() {
    ring_.clock();
    ack_.clock();
  }

 private:
  enum class State : uint8_t { Idle, Complete, Retx, New };

  struct Qp {
    uint8_t state = 0;
    uint8_t mtu = 0, mpr = 0, profile = 0;
    uint16_t head = 0, tail = 0, una_msn = 0, rqmsn = 0;
    uint32_t idx = 0, psn = 0, una = 0;
    bool active = false, failed = false;

    bool rts() const { return state == static_cast<uint8_t>(QpState::Rts); }
    bool can_send() const;
  };

  Qp& qp(unsigned index) { return qps_[index & qp_mask_]; }
  std::size_t ring_row(unsigned index, uint16_t msn) const {
    return (index & qp_mask_) * wqe_depth_ + (msn & (wqe_depth_ - 1));
  }
  void activate(Qp& q, uint16_t index);

  bool cfg_due(const CfgBus& cfg) const;
  void idle(const CfgBus& cfg);
  void configure(const CfgBus& cfg);
  void take_upd();
  void take_wqe();
  void complete();
  void retransmit();
  void send_new();

  const unsigned qp_mask_, wqe_depth_;
  Fifo<Wqe>& wqe_;
  Fifo<Grant>& grant_;
  Stream<Retx>& retx_in_;
  Stream<Upd>& upd_;
  Stream<Pkt>& pkt_;
  Stream<Grant>& push_;
  Stream<Cqe>& cqe_;

  Ram1r1w<RingRow> ring_;
  std::vector<Qp> qps_;
  State state_ = State::Idle;
  CfgAck ack_;
  Retx retx_{};          // kept by operation retx
  uint16_t new_qp_ = 0;  // kept by operation grant
  struct {
    bool busy = false;
    uint16_t qp = 0, msn = 0;
    uint8_t syndrome = 0;
    bool flush = false;  // of a failed QP: all that is left in its ring
  } done_;
};

}  // namespace mrc

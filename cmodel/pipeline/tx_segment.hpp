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
/// tx_inflight, and completes work requests. Contract: docs/blocks/tx_segment.md. Two cycles per packet; a QP with
/// congestion control asks for each new packet and waits for the answer.
class TxSegment {
 public:
  /// Streams in.
  struct In {
    Fifo<Wqe>& wqe;      ///< from the host
    Fifo<Grant>& grant;  ///< from tx_sched
    Stream<Retx>& retx;  ///< from tx_inflight
    Stream<Upd>& upd;    ///< from tx_inflight
    Stream<Ccans>& ans;  ///< from cc_nscc, to ask
  };
  /// Streams out.
  struct Out {
    Stream<Pkt>& pkt;      ///< to tx_path
    Stream<Sched>& push;   ///< to tx_sched
    Stream<Grant>& park;   ///< to tx_sched
    Stream<Ccask>& ask;    ///< to cc_nscc
    Stream<Cqe>& cqe;      ///< to the host
    Stream<Qperr>& qperr;  ///< to csr
  };

  TxSegment(const Preset& preset, const In& in, const Out& out);

  bool cfg_ack() const { return ack_.value(); }
  void step(const CfgBus& cfg, const CsrOut& csr);
  void clock() {
    ring_.clock();
    ack_.clock();
  }

 private:
  enum class State : uint8_t { Idle, Complete, Retx, New, Wait };

  struct Qp {
    uint8_t state = 0;
    uint8_t mtu = 0, mpr_max = 0, profile = 0, max_wimm = 0, dest = 0;
    bool ts = false, cc = false;
    uint8_t mpr = 0, wimm = 0;
    uint16_t head = 0, tail = 0, una_msn = 0, rqmsn = 0;
    uint32_t idx = 0, psn = 0, una = 0;
    bool active = false, failed = false;

    bool rts() const { return state == static_cast<uint8_t>(QpState::Rts); }
    bool can_send() const;
  };

  Qp& qp(unsigned index) { return qps_[index & qp_mask_]; }
  const Qp& qp(unsigned index) const { return qps_[index & qp_mask_]; }
  std::size_t ring_row(unsigned index, uint16_t msn) const {
    return (index & qp_mask_) * wqe_depth_ + (msn & (wqe_depth_ - 1));
  }
  bool cfg_due(const CfgBus& cfg) const;
  bool wqe_due() const;
  void idle(const CfgBus& cfg);
  void choose();
  void configure(const CfgBus& cfg);
  void fail(Qp& q, uint16_t index);
  void activate(Qp& q, uint16_t index);
  void take_upd();
  static CqStatus refusal(const Qp& q, const Wqe& w);
  void take_wqe();
  void complete();
  void retransmit();
  void next_packet(const Qp& q, const CsrOut& csr, Pkt& p) const;
  void send_new(const CsrOut& csr);
  void wait(const CsrOut& csr);
  void send(Qp& q, bool last, const CsrOut& csr);

  const unsigned qp_mask_, wqe_depth_;
  const In in_;
  const Out out_;

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

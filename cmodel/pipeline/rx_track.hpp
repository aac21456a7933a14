// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gen/csr.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/cfg.hpp"
#include "pipeline/demux.hpp"
#include "pipeline/stream.hpp"
#include "protocol/rx_tracker.hpp"

namespace mrc {

/// Which PSNs are here, and what the sender must hear: places or discards each checked packet, moves cack, and owes
/// SACKs, NACKs, ACKs. A QP whose WRITE is refused goes to Error. Contract: docs/blocks/rx_track.md. Three cycles per
/// packet in order, three more for a SACK.
class RxTrack {
 public:
  /// Pulse registers.
  struct Pulses {
    bool dup = false, oor = false, trim = false, nores = false;
  };

  RxTrack(const Preset& preset, Stream<Rxpkt>& rxpkt, PlaneDemux<Verdict>& verdict, Stream<Resp>& resp,
          Stream<Ord>& ord, Stream<Qperr>& qperr);

  bool cfg_ack() const { return ack_.value(); }
  const Pulses& pulses() const { return pulses_; }
  void step(const CfgBus& cfg, const CsrOut& csr);
  void clock() {
    ack_.clock();
    pulses_ = pulses_next_;
  }

 private:
  enum class State : uint8_t { Idle, Init, Track, Adv, Post, Sack0, Sack1, Sack2, AckAfter };

  struct Qp {
    uint32_t cack = 0, lowun = 0, max = 0;
    uint32_t rcvd = 0;  ///< bytes, modulo 2^32
    uint32_t trig = 0;
    bool ar = false, ackv = false, failed = false;
    bool trim_nack = false, dyn = false;  ///< capability TRIM_NACK; dynamic MPR
    uint16_t ooo = 0;
    uint16_t emsn = 0;              ///< MSN of the message now being completed
    uint8_t mpr = 0, mpr_dest = 0;  ///< window now and at most, units of 128 PSNs
    uint8_t nsyn = 0;
    uint32_t ackpsn = 0, npsn = 0;
  };

  Qp& qp() { return qps_[p_.qp & qp_mask_]; }
  std::size_t row_of(uint32_t psn) const { return (p_.qp & qp_mask_) * rows_ + (psn >> 6 & (rows_ - 1)); }

  void idle(const CfgBus& cfg, const CsrOut& csr);
  void configure(const CfgBus& cfg);
  void set_up(unsigned index, const csr::TblQpCtx& row);
  void init();
  void track(const CsrOut& csr);
  void no_payload(PsnClass cls, bool oor_drop);
  void refuse_oor(bool oor_drop);
  void advance(RxRow row, unsigned from);
  void post(const CsrOut& csr);
  void sack0(const CsrOut& csr);
  void sack2(bool ack_with_sack);
  void ack_after();

  void issue(bool place);
  Resp& respond(CtlKind kind);
  void ack(uint32_t psn, uint8_t syndrome);
  void nack(uint8_t reason);

  const unsigned qp_mask_, rows_;  ///< rows_: of 64 PSNs, per QP
  Stream<Rxpkt>& rxpkt_;
  PlaneDemux<Verdict>& verdict_;
  Stream<Resp>& resp_;
  Stream<Ord>& ord_;
  Stream<Qperr>& qperr_;

  std::vector<RxRow> bits_;
  RxRow rdata_{};  // the synchronous read's data
  std::vector<Qp> qps_;
  std::array<uint8_t, kMaxPlanes> issued_{};
  State state_ = State::Idle;
  CfgAck ack_;
  Pulses pulses_, pulses_next_;

  unsigned init_qp_ = 0, init_row_ = 0;
  Rxpkt p_{};
  bool acked_ = false, adv_ = false;
  uint32_t ackpsn_w_ = 0;
  uint32_t base_ = 0;
  bool self_ = false;
  uint64_t low_ = 0;
};

}  // namespace mrc

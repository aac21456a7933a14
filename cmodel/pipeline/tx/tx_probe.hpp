// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/nic_pulses.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/stream.hpp"
#include "pipeline/lib/tick.hpp"

namespace mrc {

/// Probes EVs in state ASSUMED_BAD, with growing intervals, until several answers in a row revive them. Contract:
/// docs/design/blocks/tx/tx_probe.md. One operation per cycle, at most one probe every 16 cycles.
class TxProbe {
 public:
  using Pulses = TxProbePulses;

  struct Inputs {
    Stream<Badev>& bad;  ///< from tx_path
    Stream<Pres>& pres;  ///< from tx_inflight: answers to reliability probes
    Stream<Pans>& pans;  ///< from endpoint: answers to EV probes
  };
  /// fb: to tx_path; probe: to tx_header.
  TxProbe(const Preset& preset, const Inputs& in, Stream<Fb>& fb, Stream<Ctlpkt>& probe)
      : planes_(preset.num_planes),
        qp_mask_(preset.num_qps - 1),
        dest_mask_(preset.num_dests - 1),
        bad_(in.bad),
        pres_(in.pres),
        pans_(in.pans),
        fb_(fb),
        probe_(probe),
        qps_(preset.num_qps),
        peer_(preset.num_dests, 0xff),
        slots_(preset.probe_slots),
        ticks_(preset) {}

  bool cfg_ack() const { return ack_.value(); }
  const Pulses& pulses() const { return pulses_; }
  /// port_up: bit p is port_up_i[p].
  void step(const CfgBus& cfg, const CsrOut& csr, unsigned port_up) {
    ack_.begin(cfg);
    pulses_next_ = {};
    if (cfg.req || visit_due_ || pres_.has() || pans_.has() || bad_.has()) operate(cfg, csr, port_up);
    // Counters last: the operations use this cycle's values.
    if (div_ == 15) visit_due_ = true;
    div_ = (div_ + 1) & 15u;
    if (ticks_.cycle()) ++tick_;
  }
  void clock() {
    ack_.clock();
    pulses_ = pulses_next_;
  }

 private:
  struct Qp {
    uint32_t dqpn = 0;
    uint32_t high = 0;    ///< upper bits of its QPN
    uint8_t timeout = 0;  ///< t of 1.024 us x 2^t
    uint16_t dest = 0;
    bool live = false;  ///< in state Rts
  };
  struct Slot {
    bool busy = false;
    bool waiting = false;  ///< for the answer to probe `seq`
    bool evp = false;      ///< the newest probe is an EV probe; before the first: it is to be one
    bool marked = false;   ///< one of the answers in a row had SKIP_ONCE
    bool slow = false;     ///< it has failed at the longest interval: another EV may take the slot
    QpIndex qp = 0;
    uint16_t ev_idx = 0;
    uint32_t ev = 0;
    uint8_t fails = 0;  ///< in a row, saturating
    uint8_t succ = 0;   ///< answers in a row
    uint8_t seq = 0;    ///< probes sent, modulo 2^8
    uint32_t due = 0;   ///< tick of the next probe, or of giving up the one that is waited for
  };

  unsigned slots() const { return static_cast<unsigned>(slots_.size()); }
  void operate(const CfgBus& cfg, const CsrOut& csr, unsigned port_up);
  void configure(const CfgBus& cfg);
  void release(unsigned qp);
  void failed(Slot& s, const CsrOut& csr) const;
  void answer(const CsrOut& csr);
  void ev_answer(const CsrOut& csr);
  void answered(Slot& s, const CsrOut& csr);
  void take(const CsrOut& csr);
  void visit(const CsrOut& csr, unsigned port_up);

  const unsigned planes_, qp_mask_, dest_mask_;
  Stream<Badev>& bad_;
  Stream<Pres>& pres_;
  Stream<Pans>& pans_;
  Stream<Fb>& fb_;
  Stream<Ctlpkt>& probe_;

  std::vector<Qp> qps_;
  std::vector<uint8_t> peer_;  // planes each destination can receive on
  std::vector<Slot> slots_;
  CfgAck ack_;
  Pulses pulses_, pulses_next_;

  uint32_t tick_ = 0;
  Ticks ticks_;
  unsigned div_ = 0;
  bool visit_due_ = false;
  bool turn_ = false;  // an answer was taken last: bad EVs and visits go first
  unsigned visit_ = 0;
};

}  // namespace mrc

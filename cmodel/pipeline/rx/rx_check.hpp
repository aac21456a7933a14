// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/csr.hpp"
#include "gen/nic_pulses.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/stream.hpp"
#include "protocol/qpn.hpp"
#include "protocol/rx_check.hpp"
#include "protocol/types.hpp"

namespace mrc {

/// Takes the lanes' descriptions in turn, checks them against QP and memory region, and sends WRITEs to rx_track,
/// control packets to tx_inflight, endpoint packets to endpoint. Contract: docs/design/blocks/rx/rx_check.md. One
/// packet per cycle, two stages.
class RxCheck {
 public:
  using Pulses = RxCheckPulses;

  /// desc[p]: from lane p.
  RxCheck(const Preset& preset, std::vector<Fifo<Rxdesc>>& desc, Stream<Rxpkt>& rxpkt, Stream<Ctl>& ctl,
          Stream<Eprx>& eprx)
      : desc_(desc),
        rxpkt_(rxpkt),
        ctl_(ctl),
        eprx_(eprx),
        arb_(preset.num_planes),
        qps_(preset.num_qps),
        rev_(preset.num_qps),
        mrs_(preset.num_mrs) {}

  bool cfg_ack() const { return ack_.value(); }
  const Pulses& pulses() const { return pulses_; }
  void step(const CfgBus& cfg, const CsrOut& csr);
  void clock() {
    ack_.clock();
    pulses_ = pulses_next_;
  }

 private:
  void check(const CsrOut& csr);
  void write(const CsrOut& csr, Rxpkt& p);
  void probe(Rxpkt& p) const;
  void discard(Rxpkt& p) const;
  void returned(const CsrOut& csr);
  unsigned rows() const { return static_cast<unsigned>(qps_.size()); }
  /// That a_ names.
  QpIndex row() const { return qpn_row(a_.dqp, rows()); }
  ReturnRow& row_of(uint32_t dqpn, uint16_t fold) {
    return rev_[return_key(dqpn, fold, static_cast<unsigned>(rev_.size()))];
  }
  void configure(const CfgBus& cfg, const CsrOut& csr);

  std::vector<Fifo<Rxdesc>>& desc_;
  Stream<Rxpkt>& rxpkt_;
  Stream<Ctl>& ctl_;
  Stream<Eprx>& eprx_;
  RrArb arb_;
  std::vector<RxQpCtx> qps_;
  std::vector<ReturnRow> rev_;
  std::vector<MemoryRegion> mrs_;
  CfgAck ack_;
  Pulses pulses_, pulses_next_;

  bool a_valid_ = false;
  unsigned a_plane_ = 0;
  bool a_buf_ = false;  ///< the lane holds its payload
  RxPacket a_;
};

}  // namespace mrc

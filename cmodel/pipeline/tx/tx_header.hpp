// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/stream.hpp"
#include "pipeline/lib/tick.hpp"
#include "protocol/tx_header_build.hpp"

namespace mrc {

/// Builds the whole header of a packet, Ethernet to the last extension header, and the ICRC register after it. Two
/// stages, one packet per cycle: control packets first, then probes, endpoint requests, data. Contract:
/// docs/design/blocks/tx/tx_header.md.
class TxHeader {
 public:
  /// ctlpkt: from ack_gen; probe: from tx_probe; eprq: from endpoint.
  TxHeader(const Preset& preset, Stream<Path>& path, Stream<Ctlpkt>& ctlpkt, Stream<Ctlpkt>& probe,
           Stream<Ctlpkt>& eprq);

  bool cfg_ack() const { return ack_.value(); }
  /// Output hdr; its ready comes from the lane that hdr().data() names.
  const OutReg<Hdr>& hdr() const { return hdr_; }
  void step(const CfgBus& cfg, const CsrOut& csr, bool hdr_ready);
  void clock() {
    hdr_.clock(hdr_ready_);
    ack_.clock();
  }

 private:
  void configure(const CfgBus& cfg);
  void load_a(const CsrOut& csr);

  const unsigned qp_mask_;
  Stream<Path>& path_;
  Stream<Ctlpkt>& ctlpkt_;
  Stream<Ctlpkt>& probe_;
  Stream<Ctlpkt>& eprq_;
  std::vector<HdrQp> qps_;
  CfgAck ack_;
  bool a_valid_ = false;
  Encap a_encap_ = Encap::Ipv6;
  Hdr a_{};
  OutReg<Hdr> hdr_;
  bool hdr_ready_ = false;
  uint32_t tick_ = 0;
  Ticks ticks_;
};

}  // namespace mrc

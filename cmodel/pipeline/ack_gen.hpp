// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "gen/csr.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/cfg.hpp"
#include "pipeline/stream.hpp"
#include "protocol/responses.hpp"

namespace mrc {

/// Turns a response into a control packet on the plane it answers, or on the lowest one that is up. Contract:
/// docs/blocks/rx_reorder.md, "ack_gen". One per cycle.
class AckGen {
 public:
  /// resp is 16 deep.
  AckGen(const Preset& preset, Stream<Resp>& resp, Stream<Ctlpkt>& ctlpkt)
      : resp_(resp), ctlpkt_(ctlpkt), dqpn_(preset.num_qps) {}

  bool cfg_ack() const { return ack_.value(); }

  /// port_up: bit p is port_up_i[p].
  void step(const CfgBus& cfg, const CsrOut& csr, unsigned port_up) {
    ack_.begin(cfg);
    if (ack_.pending(cfg)) {
      if (cfg.is(CfgTable::QpCtx)) {
        dqpn_[cfg.index % dqpn_.size()] = csr::TblQpCtx::unpack(cfg.data.data()).dqpn;
      }
      ack_.done();
      return;
    }
    if (!resp_.has() || !ctlpkt_.free()) return;
    const Resp& r = resp_.head();
    Ctlpkt& c = ctlpkt_.load();
    build_response(r, dqpn_[r.qp % dqpn_.size()], c);
    unsigned plane = r.plane;
    if ((port_up >> plane & 1) == 0) plane = port_up == 0 ? 0 : static_cast<unsigned>(std::countr_zero(port_up));
    c.plane = static_cast<uint8_t>(plane);
    c.ev = csr.rev_ev[plane];
    resp_.pop();
  }
  void clock() { ack_.clock(); }

 private:
  Stream<Resp>& resp_;
  Stream<Ctlpkt>& ctlpkt_;
  std::vector<uint32_t> dqpn_;
  CfgAck ack_;
};

}  // namespace mrc

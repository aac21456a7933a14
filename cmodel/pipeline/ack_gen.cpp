// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ack_gen.hpp"

#include "gen/csr.hpp"
#include "protocol/responses.hpp"

namespace mrc {

AckGen::AckGen(const Preset& preset, Stream<Resp>& resp, Stream<Resp>& eresp, Stream<Okev>& okev, Stream<Okev>& eokev,
               Stream<Ctlpkt>& ctlpkt, Stream<Want>& want)
    : planes_(preset.num_planes),
      qp_mask_(preset.num_qps - 1),
      dest_mask_(preset.num_dests - 1),
      resp_(resp),
      eresp_(eresp),
      okev_(okev),
      eokev_(eokev),
      ctlpkt_(ctlpkt),
      want_(want),
      qps_(preset.num_qps),
      peer_(preset.num_dests, 0xff),
      rev_(std::size_t{preset.num_dests} * preset.num_planes) {}

void AckGen::step(const CfgBus& cfg, const CsrOut& csr, unsigned port_up) {
  ack_.begin(cfg);
  if (ack_.pending(cfg)) {
    configure(cfg);
    return;
  }
  // The response goes by the registers of this cycle, so it comes first; its mark `wanted` wins over what clears it.
  Want want;
  const bool wanted = respond(csr, port_up, want);
  if (csr.tick - epoch_ >= csr.ep_interval) {
    epoch_ = csr.tick;
    for (Rev& r : rev_) {
      r.stale = true;
      r.wanted = false;
    }
  }
  if (okev_.has() || eokev_.has()) {
    Stream<Okev>& from = okev_.has() ? okev_ : eokev_;
    const Okev& e = from.head();
    rev(e.dest, e.plane) = {.ev = e.ev, .valid = true, .stale = false, .wanted = false};
    from.pop();
  }
  if (wanted) {
    rev(want.dest, want.plane).wanted = true;
    want_.load(want);
  }
}

void AckGen::configure(const CfgBus& cfg) {
  ack_.done();
  if (cfg.is(CfgTable::QpCtx)) {
    const auto row = csr::TblQpCtx::unpack(cfg.data.data());
    qps_[cfg.index & qp_mask_] = {.dqpn = row.dqpn, .dest = row.dest, .svc_time = row.svc_time};
  } else if (cfg.is(CfgTable::PeerPorts)) {
    peer_[cfg.index & dest_mask_] = csr::TblPeerPorts::unpack(cfg.data.data()).mask;
  }
}

/// Sends a response if there is one and room for it. True when its path is stale and `want` shall be asked for.
bool AckGen::respond(const CsrOut& csr, unsigned port_up, Want& want) {
  if (!ctlpkt_.free() || !(eresp_.has() || resp_.has())) return false;
  Stream<Resp>& from = eresp_.has() ? eresp_ : resp_;
  Resp r = from.head();
  from.pop();
  const Qp& qp = qps_[r.qp & qp_mask_];
  const unsigned plane = response_plane(r.plane, port_up, peer_[qp.dest & dest_mask_]);
  const Rev& path = rev(qp.dest, plane);
  r.ts = reflected_time(r, qp.svc_time, csr.tick, csr.tsr_us);
  Ctlpkt& c = ctlpkt_.load();
  build_response(r, qp.dqpn, {.eeth_op_high = csr.eeth_op_high, .pdcid_zero = csr.pdcid_zero}, c);
  c.plane = static_cast<uint8_t>(plane);
  c.ev = csr.rev_fixed || !path.valid ? csr.rev_ev[plane] : path.ev;
  want = {.dest = qp.dest, .plane = static_cast<uint8_t>(plane)};
  return wants_fresh_path(r) && csr.rev_probe && !csr.rev_fixed && path.stale && !path.wanted && want_.free();
}

}  // namespace mrc

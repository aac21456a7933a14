// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx/rx_check.hpp"

namespace mrc {

void RxCheck::step(const CfgBus& cfg, const CsrOut& csr) {
  ack_.begin(cfg);
  pulses_next_ = {};
  const bool pending = ack_.pending(cfg), configures = pending && !a_valid_;
  if (a_valid_ && rxpkt_.free() && ctl_.free() && eprx_.free()) {
    check(csr);
    a_valid_ = false;
  }
  if (configures) configure(cfg);
  if (pending || a_valid_) return;  // a pending table write stops the intake, so that it cannot starve
  const int plane = arb_.pick([&](unsigned p) { return desc_[p].valid(); });
  if (plane < 0) return;
  a_plane_ = static_cast<unsigned>(plane);
  arb_.take(a_plane_);
  a_ = desc_[a_plane_].head();
  desc_[a_plane_].pop();
  a_valid_ = true;
}

/// Stage B on a_q.
void RxCheck::check(const CsrOut& csr) {
  const RxDrop drop = rx_drop(a_, qps_, csr.zero_drop);
  if (drop == RxDrop::None) {
    if (is_data_opcode(a_.opcode)) {
      const NakCodes nak{.invalid = csr.nak_invalid, .access = csr.nak_access};
      const RxFault fault = rx_data(a_, a_plane_, qps_[rx_qp(a_)], mrs_, csr.nominal, nak, rxpkt_.load());
      pulses_next_.access = fault == RxFault::Access;
    } else if (is_probe_opcode(a_.opcode)) {
      rx_probe(a_, a_plane_, qps_[rx_qp(a_)], rxpkt_.load());
    } else if (is_endpoint_opcode(a_.opcode)) {
      eprx_.load(rx_endpoint(a_, a_plane_));
    } else {
      ctl_.load(rx_control(a_));
    }
    return;
  }
  pulses_next_.drop_parse = drop == RxDrop::Parse;
  pulses_next_.drop_icrc = drop == RxDrop::Icrc;
  pulses_next_.drop_qp = drop == RxDrop::Qp;
  pulses_next_.drop_pkey = drop == RxDrop::Pkey;
  pulses_next_.drop_len = drop == RxDrop::Len;
  if (drop != RxDrop::Parse && a_.buf_valid) rxpkt_.load(rx_discard(a_plane_));
}

void RxCheck::configure(const CfgBus& cfg) {
  RxQpCtx& qp = qps_[cfg.index % qps_.size()];
  if (cfg.is(CfgTable::QpCtx)) {
    const auto row = csr::TblQpCtx::unpack(cfg.data.data());
    qp = {.state = static_cast<QpState>(row.state), .mtu = row.mtu, .pkey = row.pkey, .no_imm = row.max_wimm_dest == 0};
  } else if (cfg.is(CfgTable::QpState)) {
    qp.state = static_cast<QpState>(cfg.data[0] & 7);
  } else if (cfg.is(CfgTable::Mr)) {
    mrs_[cfg.index % mrs_.size()] = csr::TblMr::unpack(cfg.data.data());
  }
  ack_.done();
}

}  // namespace mrc

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/inflight/tx_inflight_qps.hpp"

#include "gen/csr.hpp"

namespace mrc::inflight {

void Qps::begin(Qp& q, const CfgBus& cfg) {
  MRC_CHECK(!q.held, "a QP begins anew that holds blocks");
  report_.give_back(q);
  const auto row = csr::TblQpCtx::unpack(cfg.data.data());
  const bool listed = q.rtx;  // it leaves the list by itself
  if (same(cfg.index, now_.leave_qp)) now_.leave = false;
  q = Qp{};
  q.rtx = listed;
  q.timeout = row.timeout;
  q.limits = {.linear = row.retry_linear, .exponential = row.retry_exp};
  q.mtu = row.mtu;
  q.dest = row.dest;
  q.cc = row.cc;
  q.ts = row.ts;
  q.dyn_mpr = row.dyn_mpr;
  q.una = q.nxt = q.rtx_lo = q.low = row.sq_psn;
  q.hi = psn_add(row.sq_psn, -1);
  q.msn_done = q.msn_sent = row.msn;
  q.restart(now_.tick);
  q.fresh = true;
  q.live = row.state == QpState::Rts;
}

void Qps::reclaim() {
  Qp& q = (*this)[now_.qp];
  MRC_CHECK(q.held && !q.fresh, "a QP gives blocks back that it does not hold");
  const uint32_t end = q.live ? oldest_block(q.una, q.nxt) : block_add(psn_block(psn_add(q.nxt, -1)), 1);
  if (q.base != end) {
    blocks_.give();
    report_.pulses_next.freed = true;
    q.base = block_add(q.base, 1);
    if (q.base != end) {
      blocks_.read_number(now_.qp, q.base);
      return;
    }
  }
  now_.state = State::Idle;
  if (!q.live) {
    q.held = q.kept = false;
    report_.give_back(q);  // a packet that was recorded in the cycle in which the QP ended
  } else if (q.una == q.nxt && q.una % kBlockPsns == 0) {
    q.kept = true;
  }
}

}  // namespace mrc::inflight

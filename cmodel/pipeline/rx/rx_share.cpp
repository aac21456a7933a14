// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx/rx_share.hpp"

#include "gen/csr.hpp"
#include "util/check.hpp"

namespace mrc {

RxShare::RxShare(const Preset& preset, Stream<Came>& came)
    : qp_mask_(preset.num_qps - 1), came_(came), qps_(preset.num_qps) {}

void RxShare::step(const CfgBus& cfg, const CsrOut& csr) {
  ack_.begin(cfg);
  const ShareWords words{.on = csr.share_enable,
                         .epoch = csr.share_epoch,
                         .least = csr.share_least,
                         .pen = csr.share_pen,
                         .trims = csr.share_trims,
                         .drain = csr.share_drain};
  // The last stage first: each takes its registers, then the stage before it fills them.
  const bool empty = !b_.valid && !c_.valid;
  levels_ = share_levels(words, nic_);
  if (c_.valid) {
    share_sums(nic_, qps_[c_.qp], c_.is);
    MRC_CHECK(nic_.total <= kShareSum * qps_.size(), "more is left than QPs can have");
  }
  share_time(words, nic_, csr.tick);
  c_.valid = b_.valid;
  if (b_.valid) {
    c_.qp = b_.qp;
    c_.is = share_counts(nic_, qps_[b_.qp], b_.is);
  }
  b_.valid = false;
  if (ack_.pending(cfg)) {
    if (empty) configure(cfg);
  } else if (came_.has()) {
    const Came& came = came_.head();
    b_.valid = true;
    b_.qp = came.qp & qp_mask_;
    b_.is = share_begins(
        qps_[b_.qp],
        {.bytes = came.plen, .trimmed = came.trimmed, .msn = came.msn, .emsn = came.emsn, .length = came.length});
    came_.pop();
  }
}

void RxShare::configure(const CfgBus& cfg) {
  ack_.done();
  if (!cfg.is(CfgTable::QpCtx)) return;
  const auto row = csr::TblQpCtx::unpack(cfg.data.data());
  if (row.state == QpState::Rts) return;  // at work since Rtr
  const unsigned index = cfg.index & qp_mask_;
  c_ = {.valid = true, .qp = index, .is = share_anew(qps_[index], row.msn)};
}

}  // namespace mrc

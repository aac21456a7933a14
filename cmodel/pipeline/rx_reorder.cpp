// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx_reorder.hpp"

#include "gen/csr.hpp"
#include "protocol/psn.hpp"

namespace mrc {

RxReorder::RxReorder(const Preset& preset, Stream<Ord>& ord, Stream<Cqe>& cqe, Stream<Qperr>& qperr)
    : planes_(preset.num_planes),
      qp_mask_(preset.num_qps - 1),
      max_wimm_(preset.max_wimm),
      ord_(ord),
      cqe_(cqe),
      qperr_(qperr),
      ents_(std::size_t{preset.num_qps} * preset.max_wimm),
      exp_(preset.num_qps),
      wimm_(preset.num_qps),
      hold_(std::size_t{4} * preset.num_planes) {}

void RxReorder::step(const CfgBus& cfg, const In& in) {
  ack_.begin(cfg);
  if (hold_.valid()) deliver();
  if (in.done_valid) ++done_[in.done_plane];  // deliver() has used this cycle's registers
  switch (state_) {
    case State::Idle:
      idle(cfg);
      break;
    case State::Init:
      ents_[init_qp_ * max_wimm_ + init_row_] = {};
      if (++init_row_ == max_wimm_) {
        ack_.done();
        state_ = State::Idle;
      }
      break;
    case State::Read:
      rdata_ = entry(o_.qp, exp_[qp(o_.qp)]);
      state_ = State::Test;
      break;
    case State::Test:
      test();
      break;
  }
}

/// The oldest completion goes to the host when every verdict issued before it has been carried out.
void RxReorder::deliver() {
  if (!cqe_.free()) return;
  const Held& h = hold_.head();
  for (unsigned p = 0; p < planes_; ++p) {
    if (static_cast<uint8_t>(done_[p] - (h.snap >> (8 * p))) >= 128) return;
  }
  cqe_.load(h.cqe);
  hold_.pop();
}

void RxReorder::idle(const CfgBus& cfg) {
  if (ack_.pending(cfg)) {
    configure(cfg);
    return;
  }
  if (!ord_.has() || !hold_.ready() || !qperr_.free()) return;
  o_ = ord_.head();
  ord_.pop();
  if (o_.imm_valid) {
    const uint16_t d = msn_dist(o_.rqmsn, exp_[qp(o_.qp)]);
    if (d < wimm_[qp(o_.qp)]) {
      entry(o_.qp, o_.rqmsn) = {.valid = true, .imm = o_.imm, .length = o_.length, .psn = o_.psn};
    } else if (d < kMsnHalf) {
      hold(CqStatus::WimmOverrun, o_.imm, o_.length, o_.rqmsn);
      qperr_.load({.qp = o_.qp, .status = CqStatus::WimmOverrun});
    }
  }
  if (o_.adv) state_ = State::Read;
}

void RxReorder::configure(const CfgBus& cfg) {
  if (cfg.is(CfgTable::QpCtx)) {
    const auto row = csr::TblQpCtx::unpack(cfg.data.data());
    if (row.state != static_cast<uint8_t>(QpState::Rts)) {  // in Rts the responder has been at work since Rtr
      init_qp_ = qp(cfg.index);
      init_row_ = 0;
      exp_[init_qp_] = row.rqmsn;
      wimm_[init_qp_] = row.max_wimm_dest;
      state_ = State::Init;
      return;
    }
  }
  ack_.done();
}

void RxReorder::test() {
  uint16_t& exp = exp_[qp(o_.qp)];
  if (!rdata_.valid || psn_dist(o_.cack, rdata_.psn) >= kPsnHalf) {
    state_ = State::Idle;
    return;
  }
  if (!hold_.ready()) return;
  hold(CqStatus::Ok, rdata_.imm, rdata_.length, exp);
  entry(o_.qp, exp).valid = false;
  exp = msn_add(exp, 1);
  state_ = State::Read;
}

void RxReorder::hold(CqStatus status, uint32_t imm, uint32_t length, uint16_t rqmsn) {
  Held& h = hold_.push();
  h = {};
  h.cqe.qp = o_.qp;
  h.cqe.recv = true;
  h.cqe.status = status;
  h.cqe.imm = imm;
  h.cqe.length = length;
  h.cqe.msn = rqmsn;
  h.snap = o_.snap;
}

}  // namespace mrc

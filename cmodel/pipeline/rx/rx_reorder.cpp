// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx/rx_reorder.hpp"

#include "gen/csr.hpp"
#include "protocol/psn.hpp"
#include "util/check.hpp"

namespace mrc {

namespace {
/// Immediates that rx_track may have let through before it sees that entries are scarce, with some to spare.
constexpr std::size_t kImmsOnTheWay = 8;
}  // namespace

RxReorder::RxReorder(const Preset& preset, Stream<Ord>& ord, Stream<Cqe>& cqe, Stream<Qperr>& qperr)
    : planes_(preset.num_planes),
      qp_mask_(preset.num_qps - 1),
      max_wimm_(preset.max_wimm),
      hold_depth_(4 * preset.num_planes),
      ord_(ord),
      cqe_(cqe),
      qperr_(qperr),
      map_(std::size_t{preset.num_qps} * preset.max_wimm, preset.ecc != 0, EccMemory::RxReorderMap),
      ents_(preset.num_imms, preset.ecc != 0, EccMemory::RxReorderEnts),
      pool_(preset.num_imms),
      exp_(preset.num_qps),
      wimm_(preset.num_qps),
      cnt_(preset.num_qps),
      over_(preset.num_qps),
      known_(preset.num_qps),
      hold_(hold_depth_),
      placed_(hold_depth_) {}

void RxReorder::step(const CfgBus& cfg, const CsrOut& csr, const In& in) {
  ack_.begin(cfg);
  map_.inject(csr.ecc_inject);
  ents_.inject(csr.ecc_inject);
  imm_ok_next_ = pool_.free() > kImmsOnTheWay;
  release();
  if (hold_.valid()) place();
  if (in.done_valid) done_.count(in.done_plane);  // place() has used this cycle's registers
  switch (state_) {
    case State::Idle:
      idle(cfg);
      break;
    case State::Init:
      init();
      break;
    case State::Put:
      put();
      break;
    case State::Read:
      map_.read(slot(exp_[qp(o_.qp)]));
      state_ = State::Test;
      break;
    case State::Test:
      test();
      break;
    case State::Ent:
      entry();
      break;
  }
}

/// The oldest completion is due when every verdict issued before it has been carried out.
void RxReorder::place() {
  const Held& h = hold_.head();
  for (unsigned p = 0; p < planes_; ++p) {
    if (!done_.reached(h.snap, p)) return;
  }
  placed_.push(h.cqe);
  hold_.pop();
}

void RxReorder::release() {
  if (!placed_.valid() || !cqe_.free()) return;
  cqe_.load(placed_.head());
  placed_.pop();
}

void RxReorder::idle(const CfgBus& cfg) {
  if (ack_.pending(cfg)) {
    configure(cfg);
    return;
  }
  if (ord_.has() && hold_ok() && qperr_.free()) accept();
}

void RxReorder::configure(const CfgBus& cfg) {
  if (cfg.is(CfgTable::QpCtx)) {
    const auto row = csr::TblQpCtx::unpack(cfg.data.data());
    if (row.state != QpState::Rts) {  // in Rts the responder has been at work since Rtr
      init_qp_ = qp(cfg.index);
      init_row_ = 0;
      exp_[init_qp_] = row.rqmsn;
      wimm_[init_qp_] = row.max_wimm_dest;
      cnt_[init_qp_] = 0;
      set_over(init_qp_, false);
      map_.read(std::size_t{init_qp_} * max_wimm_);
      state_ = State::Init;
      return;
    }
  }
  ack_.done();
}

/// What is left of an earlier connection is given back; what a bad row names is lost. (`known` is needed for rows that
/// were flipped when they were written first: here the map starts empty.)
void RxReorder::init() {
  const std::size_t at = std::size_t{init_qp_} * max_wimm_ + init_row_;
  if (known_[init_qp_] != 0) {
    see(map_);
    if (map_.rdata().valid && !map_.bad()) pool_.give(map_.rdata().idx);
  }
  map_.write(at, {});
  if (++init_row_ == max_wimm_) {
    ack_.done();
    known_[init_qp_] = 1;
    state_ = State::Idle;
  } else {
    map_.read(at + 1);
  }
}

void RxReorder::accept() {
  o_ = ord_.head();
  ord_.pop();
  ord_done_next_ = true;
  const unsigned index = qp(o_.qp);
  more_ = o_.adv && cnt_[index] != 0;
  state_ = more_ ? State::Read : State::Idle;
  const uint16_t d = msn_dist(o_.rqmsn, exp_[index]);
  if (!o_.imm_valid || d >= kMsnHalf) return;
  if (d >= wimm_[index]) {
    hold(CqStatus::WimmOverrun, o_.imm, o_.length, o_.rqmsn);
    qperr_.load({.qp = o_.qp, .status = CqStatus::WimmOverrun});
    set_over(index, true);
  } else if (d == 0 && psn_dist(o_.cack, o_.psn) < kPsnHalf) {
    deliver(o_.imm, o_.length);
    state_ = cnt_[index] != 0 ? State::Read : State::Idle;
  } else {
    map_.read(slot(o_.rqmsn));
    state_ = State::Put;
  }
}

/// Keeps an immediate that is not due yet. Without a free entry it is lost: only a peer that leaves out RQMSNs gets
/// here.
void RxReorder::put() {
  const Slot& s = map_.rdata();
  const Entry e = {.imm = o_.imm, .length = o_.length, .psn = o_.psn};
  see(map_);
  if (map_.bad()) {
    broken();
  } else if (s.valid) {
    ents_.write(s.idx, e);
  } else if (pool_.valid()) {
    const unsigned idx = pool_.offer();
    pool_.take();
    ents_.write(idx, e);
    map_.write(slot(o_.rqmsn), {.valid = true, .idx = idx});
    MRC_CHECK(cnt_[qp(o_.qp)] < max_wimm_, "more immediates wait than there is room for");
    ++cnt_[qp(o_.qp)];
  }
  state_ = more_ ? State::Read : State::Idle;
}

void RxReorder::test() {
  if (map_.bad() && !qperr_.free()) return;
  see(map_);
  state_ = State::Idle;
  if (map_.bad()) {
    broken();
  } else if (map_.rdata().valid) {
    ents_.read(map_.rdata().idx);
    state_ = State::Ent;
  }
}

/// The word that was read is used in this cycle.
template <class T>
void RxReorder::see(const RamEcc<T>& memory) {
  pulses_next_.ecc_fix |= memory.fixed();
  pulses_next_.ecc_bad |= memory.bad();
}

/// A row of o_'s QP is bad.
void RxReorder::broken() { qperr_.load({.qp = o_.qp, .status = CqStatus::EccError}); }

void RxReorder::entry() {
  const Entry& e = ents_.rdata();
  if (ents_.bad()) {
    if (!qperr_.free()) return;
    see(ents_);
    broken();
    state_ = State::Idle;
    return;
  }
  if (psn_dist(o_.cack, e.psn) >= kPsnHalf) {
    see(ents_);
    state_ = State::Idle;
    return;
  }
  if (!hold_ok()) return;
  see(ents_);
  const unsigned index = qp(o_.qp);
  MRC_CHECK(cnt_[index] != 0, "the count of immediates goes below 0");
  MRC_CHECK(map_.rdata().valid, "an entry is given back that there is not");
  map_.write(slot(exp_[index]), {});
  pool_.give(map_.rdata().idx);
  deliver(e.imm, e.length);
  state_ = --cnt_[index] != 0 ? State::Read : State::Idle;
}

/// The next completion in RQMSN order.
void RxReorder::deliver(uint32_t imm, uint32_t length) {
  uint16_t& exp = exp_[qp(o_.qp)];
  hold(CqStatus::Ok, imm, length, exp);
  exp = msn_add(exp, 1);
}

void RxReorder::set_over(unsigned index, bool over) {
  over_qp_ = index;
  over_next_ = over;
}

void RxReorder::hold(CqStatus status, uint32_t imm, uint32_t length, uint16_t rqmsn) {
  MRC_CHECK(hold_ok(), "a completion waits without room for it");
  Held& h = hold_.push();
  h = {};
  h.cqe.qp = o_.qp;
  h.cqe.recv = true;
  h.cqe.status = status;
  h.cqe.imm = imm;
  h.cqe.length = length;
  h.cqe.msn = rqmsn;
  h.snap = PlaneCounts(o_.snap);
}

}  // namespace mrc

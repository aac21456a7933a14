// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/inflight/tx_inflight_fsm.hpp"

#include "gen/csr.hpp"
#include "pipeline/tx/inflight/tx_inflight_ports.hpp"

namespace mrc::inflight {

namespace {
/// Answers that begin one behind the other before others have their turn.
constexpr unsigned kMaxChain = 3;
}  // namespace

/// Contexts and states may have to give bytes back.
bool Fsm::cfg_due(const CfgBus& cfg) const {
  if (!ack_.pending(cfg)) return false;
  return (!cfg.is(CfgTable::QpCtx) && !cfg.is(CfgTable::QpState)) || s_.report.out.ccev.free();
}

Fsm::Choice Fsm::idle(const CfgBus& cfg, const CsrOut& csr, bool for_record, Recording& recording) {
  MRC_CHECK(!in_.rans.has(), "the controller answers what nobody has asked");
  chain_ = 0;
  if (cfg_due(cfg) && configure(cfg, csr, recording)) return Choice::None;
  const Out& out = s_.report.out;
  const bool ccev = out.ccev.free();
  const bool request[6] = {in_.rec.has() && ccev && !for_record,
                           in_.ctl.has() && answer_may_begin(),
                           (s_.now.leave || (!s_.qps.list.empty() && !hold_)) && out.retx.free() && out.fb.free() &&
                               out.rtxreq.free() && ccev,
                           visit_due_ && (!s_.watch.on() || csr.silence_wait || ahead_.steady == kSteady) &&
                               out.upd.free() && ccev && out.qperr.free(),
                           !s_.qps.rq.empty() && ccev,
                           ports_.due() && ccev && out.stateq.free()};
  if (!(request[0] | request[1] | request[2] | request[3] | request[4] | request[5])) return Choice::None;
  const int grant = arb_.pick([&](unsigned i) { return request[i]; });
  arb_.take(static_cast<unsigned>(grant));
  const auto choice = static_cast<Choice>(grant + 1);
  switch (choice) {
    case Choice::Rec:
      take_rec();
      break;
    case Choice::Ctl:
      take_ctl(recording);
      break;
    case Choice::Retx:
      take_retx();
      break;
    case Choice::Visit:
      visit_due_ = false;
      return s_.watch.on() ? choice : Choice::None;  // of nobody: the turn alone
    case Choice::Ports:
      s_.now.state = State::Seek;
      break;
    default:
      take_reclaim();
      break;
  }
  return choice;
}

bool Fsm::answer_may_begin() const {
  const Out& out = s_.report.out;
  return out.upd.free() && out.fb.free() && out.pres.free() && out.ccev.free() && out.okev.free() && out.qperr.free();
}

bool Fsm::next_answer(const CfgBus& cfg, bool for_record) const {
  return in_.ctl.has() && chain_ != kMaxChain && !ack_.pending(cfg) && s_.qps.list.empty() && s_.qps.rq.empty() &&
         (for_record || !in_.rec.has());
}

/// False when the table write waits and other operations may go on.
bool Fsm::configure(const CfgBus& cfg, const CsrOut& csr, Recording& recording) {
  const auto index = static_cast<QpIndex>(cfg.index & s_.qps.mask());
  Qp& q = s_.qps[index];
  if (cfg.is(CfgTable::QpCtx)) {
    if (q.held) {  // its blocks first
      if (!q.live && q.inq) return false;
      s_.qps.retire(q, index);
      return true;
    }
    s_.qps.begin(q, cfg);
    ports_.forget();
    if (recording != Recording::No && s_.qps.same(in_.rec.head().qp, index)) recording = Recording::No;
  } else if (cfg.is(CfgTable::QpState) && csr::TblQpState::unpack(cfg.data.data()).state != QpState::Rts) {
    s_.qps.retire(q, index);
  } else if (cfg.is(CfgTable::PeerPorts)) {
    const auto row = csr::TblPeerPorts::unpack(cfg.data.data());
    if (!ports_.status(cfg.index, row.mask, csr.port_wait)) return false;
  }
  ack_.done();
  return true;
}

void Fsm::take_rec() {
  const Rec& rec = s_.now.rec = in_.rec.head();
  in_.rec.pop();
  s_.rec_taken = true;
  if (rec.rtx && s_.qps[rec.qp].live) s_.blocks.read_number(rec.qp, psn_block(rec.psn));
  s_.now.state = State::Rec;
}

void Fsm::take_ctl(Recording& recording) {
  const Ctl& ctl = s_.now.ctl = in_.ctl.head();
  in_.ctl.pop();
  s_.ctl_taken = true;
  // What is read of map must stay true.
  if (recording == Recording::Begin && s_.qps.about(ctl, in_.rec.head())) recording = Recording::No;
  if (!s_.qps[ctl.qp].live) return;
  if (ctl.kind == CtlKind::Endpoint) return;  // not for this block: rx_check sends none
  s_.blocks.read_number(ctl.qp, psn_block(ctl.psn));
  s_.now.state = ctl.kind == CtlKind::Ack ? State::Ack : State::Ctl0;
}

void Fsm::take_retx() {
  Now& now = s_.now;
  MRC_CHECK(!s_.qps.list.empty(), "what is lost leaves the flight, and nothing waits to go again");
  now.qp = now.leave ? now.leave_qp : s_.qps.list.head();
  const Qp& q = s_.qps[now.qp];
  now.block = psn_block(now.leave ? now.leave_at : q.rtx_lo);
  now.lim = q.nxt;
  s_.blocks.read_number(now.qp, now.block);
  now.state = State::Retx0;
}

void Fsm::take_reclaim() {
  Now& now = s_.now;
  now.qp = s_.qps.rq.head();
  s_.qps.rq.pop();
  s_.qps[now.qp].inq = false;
  s_.blocks.read_number(now.qp, s_.qps[now.qp].base);
  now.state = State::Reclaim;
}

}  // namespace mrc::inflight

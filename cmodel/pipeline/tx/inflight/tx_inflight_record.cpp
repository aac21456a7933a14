// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/inflight/tx_inflight_record.hpp"

namespace mrc::inflight {

bool Record::mine() const {
  return in_.rec.has() && !in_.rec.head().voided && !in_.rec.head().rtx && s_.qps[in_.rec.head().qp].live;
}

Recording Record::next(bool time_wait) const {
  if (s_.now.state == State::Rec || !mine()) return Recording::No;
  if (s_.now.state == State::Retx1 && !time_wait) return Recording::No;  // which writes a stamp
  const uint32_t psn = in_.rec.head().psn;
  const Qp& q = s_.qps[in_.rec.head().qp];
  if (psn % kBlockPsns != 0 && !q.fresh) return Recording::Go;
  if (s_.now.state == State::Ctl0 && s_.qps.about(s_.now.ctl, in_.rec.head())) return Recording::No;
  switch (s_.now.state) {
    case State::Ctl1:  // these may write a row of win
    case State::Row:
    case State::Scan:
    case State::RetxW:
    case State::Same1:
    case State::Walk:
    case State::Notified:
    case State::Port3:
    case State::Reclaim:
      return Recording::No;
    default:
      break;
  }
  // The block in whose row of map the number goes must have been given back.
  if (q.held && !q.kept && block_dist(psn_block(psn), q.base) >= s_.blocks.of_qp()) return Recording::No;
  return Recording::Begin;
}

void Record::record(bool begins) {
  const Rec& r = in_.rec.head();
  Qp& q = s_.qps[r.qp];
  MRC_CHECK(r.psn == q.nxt, "a packet is recorded out of order");
  MRC_CHECK(begins || (q.held && !q.kept), "a packet is recorded for a QP without a block for it");
  if (begins) {
    const uint32_t block = psn_block(r.psn);
    if (q.kept) {  // the block goes on as the new one
      q.kept = false;
      q.base = block;
      s_.report.pulses_next.freed = true;
    } else {
      q.newest = s_.blocks.take();
    }
    s_.blocks.begin(r.qp, block, q.newest);
    if (q.fresh) {
      MRC_CHECK(!q.held, "a QP that has sent nothing holds blocks");
      q.fresh = false;
      q.held = true;
      q.base = block;
    }
  }
  s_.blocks.sent_first(q.newest, r, s_.now.tick);
  q.last = static_cast<uint16_t>(s_.now.tick & kStampMask);
  q.nxt = psn_add(r.psn, 1);
  if (r.last) q.msn_sent = msn_add(r.msn, 1);
  if (q.cc) q.fly.enter(r.size);
  s_.watch.record(r.qp);
  in_.rec.pop();
  s_.rec_taken = true;
}

void Record::rec() {
  s_.now.state = State::Idle;
  const Rec& r = s_.now.rec;
  Qp& q = s_.qps[r.qp];
  if (r.voided) {  // ordered, and then not needed; the flight of a QP that is not live has been given back
    if (q.live && q.cc) s_.report.event(q, CcEvent::Nack, q.fly.take(r.size));
    return;
  }
  if (!q.live) {
    if (r.rtx) return;
    if (q.cc) s_.report.event(q, CcEvent::Nack, r.size);  // asked for, sent, and nobody waits for it
    if (r.psn % kBlockPsns == 0 || q.fresh) s_.report.pulses_next.freed = true;
    q.fresh = false;
    return;
  }
  MRC_CHECK(r.rtx, "the main machine has a packet that is for Record");
  if (!q.owned(r.psn)) return;
  s_.blocks.sent_again(r, s_.now.tick);
  q.last = static_cast<uint16_t>(s_.now.tick & kStampMask);
}

}  // namespace mrc::inflight

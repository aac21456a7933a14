// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/segment/tx_segment.hpp"

#include <algorithm>

#include "gen/csr.hpp"
#include "pipeline/lib/convert.hpp"
#include "pipeline/timing/burst.hpp"
#include "protocol/nscc.hpp"
#include "protocol/psn.hpp"
#include "protocol/tx_window.hpp"
#include "util/check.hpp"

namespace mrc {

namespace {

constexpr uint32_t next16(uint32_t v) { return (v + 1) & 0xffffu; }
constexpr uint32_t next8(uint32_t v) { return (v + 1) & 0xffu; }

}  // namespace

TxSegment::TxSegment(const Preset& preset, const In& in, const Out& out)
    : qp_mask_(preset.num_qps - 1),
      num_qps_(preset.num_qps),
      num_wqes_(preset.num_wqes),
      wqe_depth_(preset.wqe_depth),
      blocks_(preset.max_mpr / 16),
      in_(in),
      out_(out),
      work_(preset.num_wqes),
      done_rows_(preset.num_wqes),
      pool_(preset.num_wqes),
      qps_(preset.num_qps),
      cq_(kCq),
      go_(preset.num_qps),
      rows_(kRows),
      credit_(preset.num_blocks) {
  writes_.reserve(64);
}

void TxSegment::step(const CfgBus& cfg, const CsrOut& csr, bool freed) {
  ack_.begin(cfg);
  done_next_ = done_;
  c1_next_ = {};
  order_done_next_ = false;
  cleared_ = nullptr;
  pushed_ = began_ = go_pushed_ = done_loaded_ = upd_popped_ = false;

  if (cq_.valid() && out_.cqe.ready()) {
    out_.cqe.push(cq_.head());
    cq_.pop();
  }
  ar_gap_next_ = static_cast<uint16_t>(ar_gap_ - (ar_gap_ != 0));
  orders_ = in_.retx.has() || (f1_valid_ && f1_.retx) || again_valid_;
  fetch(csr);
  emit(csr);  // after fetch(): the end of a burst ends its fetching
  if (!configure(cfg)) {
    progress();
    intake(csr);
  }
  serve_go();
  credit_ += (freed ? 1u : 0u) - (began_ ? 1u : 0u);
}

void TxSegment::clock() {
  for (const Write& w : writes_) *w.reg = w.value;
  writes_.clear();
  ar_gap_ = ar_gap_next_;
  done_ = done_next_;
  order_done_ = order_done_next_;
  c1_ = c1_next_;
  work_.clock();
  done_rows_.clock();
  pool_.clock();
  cq_.clock();
  go_.clock();
  rows_.clock();
  if (again_valid_next_ && !again_valid_) again_ = again_next_;
  again_valid_ = again_valid_next_;
  waits_valid_ = waits_valid_next_;
  ack_.clock();
}

bool TxSegment::can_send(const Qp& q) const {
  return q.rts() && q.failed == 0 && q.held == 0 && q.head != q.tail && psn_dist(q.psn, q.una) < 128 * q.mpr &&
         (((q.psn >> 4) - (q.una >> 4)) & 0xf'ffffu) < blocks_;
}

/// The QP goes to tx_sched. Intake and Progress: after Emit, so that this wins over its clearing.
void TxSegment::activate(Qp& q, QpIndex index) {
  MRC_CHECK(!still_active(q), "a QP goes to tx_sched that is there");
  go_.push({.qp = index});
  go_pushed_ = true;
  set(q.active, 1);
}

// cfg

/// True when a context or state is acted upon: Intake and Progress do nothing then. Both wait until the completion work
/// left over is done and the news on their way have been heard: they belong to the QP as it was.
bool TxSegment::configure(const CfgBus& cfg) {
  if (!ack_.pending(cfg)) return false;
  const bool context = cfg.is(CfgTable::QpCtx);
  if (!context && !cfg.is(CfgTable::QpState)) {
    ack_.done();
    return false;
  }
  if (done_.busy || c1_.valid || in_.upd.has()) return false;
  Qp& q = qp(cfg.index);
  const bool some = q.known != 0 && q.una_msn != q.tail;
  if (!context) {
    const QpState state = csr::TblQpState::unpack(cfg.data.data()).state;
    set_state(q, state);
    if (state == QpState::Error) {
      set(q.failed, 1);
      if (some) done_next_ = {.busy = true, .qp = cfg.index, .flush = true};
    }
    ack_.done();
  } else if (q.active != 0) {  // it stops sending, so that it leaves tx_sched by itself
    set_state(q, QpState::Reset);
  } else if (some) {
    done_next_ = {.busy = true, .qp = cfg.index, .silent = true};
  } else if (q.known == 0 && !pool_.valid()) {
    return false;
  } else {
    set_up(q, cfg);
    ack_.done();
  }
  return true;
}

void TxSegment::set_up(Qp& q, const CfgBus& cfg) {
  const auto row = csr::TblQpCtx::unpack(cfg.data.data());
  uint32_t empty = q.erow;
  if (q.known == 0) {
    empty = pool_.offer();
    pool_.take();
  }
  set(q.known, 1);
  for (uint32_t* reg : {&q.erow, &q.hrow, &q.urow}) set(*reg, empty);
  set_state(q, row.state);
  set(q.mtu, row.mtu);
  set(q.mpr_max, row.mpr);
  set(q.mpr, row.mpr);
  set(q.profile, row.profile);
  set(q.max_wimm, row.max_wimm);
  set(q.ts, row.ts);
  set(q.cc, row.cc);
  set(q.dest, row.dest);
  set(q.win, 0);
  set(q.wout, 0);
  set(q.wsent, 0);
  for (uint32_t* reg : {&q.head, &q.tail, &q.una_msn}) set(*reg, row.msn);
  set(q.rqmsn, row.rqmsn);
  set(q.idx, 0);
  set(q.psn, row.sq_psn);
  set(q.una, row.sq_psn);
  set(q.failed, 0);
  set(q.fresh, 1);
  set(q.held, 0);
}

// Intake

/// The last quarter of the pool is for QPs that have next to nothing.
bool TxSegment::room(const Qp& q) const {
  return pool_.valid() && (pool_.free() > num_wqes_ / 4 || q.works() < 2) && q.works() < wqe_depth_;
}

/// What is wrong with a work request; Ok: nothing.
CqStatus TxSegment::refusal(const Qp& q, const Wqe& w, const CsrOut& csr) {
  if (q.failed != 0) return CqStatus::Flushed;
  if (!q.rts()) return CqStatus::LocState;
  if (w.length == 0 && csr.zero_length != ZeroLength::Legal) return CqStatus::LocLength;
  const bool full = csr.wimm_over != WimmOver::Wait && ((q.win - q.wout) & 0xffu) == q.max_wimm;
  if (w.imm_valid && (q.max_wimm == 0 || full)) return CqStatus::WimmOverrun;
  return CqStatus::Ok;
}

void TxSegment::intake(const CsrOut& csr) {
  if (!in_.wqe.valid()) return;
  const Wqe& w = in_.wqe.head();
  Qp& q = qp(w.qp);
  const CqStatus status = refusal(q, w, csr);
  if (status != CqStatus::Ok) {
    refuse(w, status, csr);
    return;
  }
  // Progress in the same cycle: each would see the other's old registers, and nobody would wake the QP.
  if (!room(q) || go_pushed_ || (upd_popped_ && same_qp(upd_qp_, w.qp))) return;
  MRC_CHECK(q.rts() && q.failed == 0, "a QP takes a WQE that cannot send");
  const auto next = static_cast<PoolRow>(pool_.offer());
  pool_.take();
  work_.write(q.erow, {.message = request_of(w, static_cast<uint16_t>(q.rqmsn)), .next = next});
  done_rows_.write(q.erow, {.wr_id = w.wr_id, .length = w.length, .imm_valid = w.imm_valid != 0, .next = next});
  set(q.erow, next);
  Qp after = q;
  after.tail = next16(q.tail);
  set(q.tail, after.tail);
  if (w.imm_valid) {
    set(q.rqmsn, next16(q.rqmsn));
    set(q.win, next8(q.win));
  }
  if (!still_active(q) && can_send(after)) activate(q, w.qp);
  in_.wqe.pop();
}

/// Completions of a QP keep their order: a refusal waits for what is under way. One immediate too many may end the QP.
void TxSegment::refuse(const Wqe& w, CqStatus status, const CsrOut& csr) {
  const bool ends =
      status == CqStatus::WimmOverrun && csr.wimm_over != WimmOver::Wait && csr.wimm_over != WimmOver::Refuse;
  if (done_.busy || c1_.valid || !cq_.ready() || done_loaded_ || (ends && !out_.qperr.free())) return;
  if (ends) out_.qperr.load({.qp = w.qp, .status = status});
  Cqe& c = cq_.push();
  c = Cqe{};
  c.qp = w.qp;
  c.status = status;
  c.wr_id = w.wr_id;
  in_.wqe.pop();
}

// Progress and Complete

void TxSegment::progress() {
  if (c1_.valid && complete()) return;
  if (done_.busy) {
    if (cq_.count() + (c1_.valid ? 1 : 0) < kCq) issue();
  } else if (in_.upd.has()) {
    take_upd();
  }
}

/// The work request in c1 completes; its row goes back to the pool. True if its QP is held: Progress does nothing else
/// then, since an immediate that completes lets the QP go, which may take push's queue.
bool TxSegment::complete() {
  Qp& q = qp(c1_.qp);
  const DoneRow& row = done_rows_.rdata();
  set(q.urow, row.next);
  pool_.give(c1_.row);
  if (row.imm_valid) set(q.wout, next8(q.wout));
  MRC_CHECK(c1_.valid, "a completion of nothing");
  if (q.held != 0 && row.imm_valid && !c1_.silent) {
    Qp after = q;
    after.held = 0;
    set(q.held, 0);
    // It may be on its way already: Intake and news read held in the cycle in which Emit sets it.
    if (!still_active(q) && can_send(after)) activate(q, c1_.qp);
  }
  if (c1_.silent) return q.held != 0;
  Cqe& c = cq_.push();
  c = Cqe{};
  c.qp = c1_.qp;
  c.status = c1_.status;
  c.wr_id = row.wr_id;
  c.length = row.length;
  c.msn = c1_.msn;
  return q.held != 0;
}

void TxSegment::issue() {
  Qp& q = qp(done_.qp);
  const bool all = done_.flush || done_.silent;
  const bool ends = !all && !syndrome_ack(done_.syndrome);  // the QP ends with message done_.msn
  const uint32_t m = q.una_msn, next = next16(m);
  if (m == q.tail) {
    done_next_.busy = false;
    if (ends) set(q.failed, 1);  // nothing is left to blame
    return;
  }
  const bool blamed = ends && m == done_.msn;
  const bool linked = c1_.valid && same_qp(c1_.qp, done_.qp);
  const auto row = static_cast<PoolRow>(linked ? done_rows_.rdata().next : q.urow);
  done_rows_.read(row);
  c1_next_ = {.valid = true, .silent = done_.silent, .qp = done_.qp, .msn = static_cast<uint16_t>(m), .row = row};
  if (done_.flush) c1_next_.status = CqStatus::Flushed;
  if (blamed) {
    c1_next_.status = static_cast<CqStatus>(done_.syndrome);
    set(q.failed, 1);
    done_next_.flush = true;
  }
  set(q.una_msn, next);
  if (all || blamed) {
    done_next_.busy = next != q.tail;
  } else if (!ends) {
    done_next_.busy = next != done_.msn;
  }
}

void TxSegment::take_upd() {
  const Upd& u = in_.upd.head();
  Qp& q = qp(u.qp);
  Qp after = q;
  if (!psn_before(u.una, q.una)) after.una = u.una;
  if (u.mpr != 0) after.mpr = std::min<uint32_t>(u.mpr, q.mpr_max);
  set(q.una, after.una);
  set(q.mpr, after.mpr);
  const auto una_msn = static_cast<uint16_t>(q.una_msn);
  const bool good = syndrome_ack(u.syndrome) && msn_before(una_msn, u.msn);
  const bool local = syndrome_local(u.syndrome);
  const bool end = (syndrome_nak(u.syndrome) || local) && q.failed == 0;
  if (u.ack && (good || end)) {
    done_next_ = {.busy = true, .qp = u.qp, .msn = local ? una_msn : u.msn, .syndrome = u.syndrome};
    done_loaded_ = true;
  }
  if (!still_active(q) && can_send(after)) activate(q, u.qp);
  upd_popped_ = true;
  upd_qp_ = u.qp;
  in_.upd.pop();
}

// Fetch

void TxSegment::fetch(const CsrOut& csr) {
  const bool order = f1_valid_ && f1_.retx, row = f1_valid_ && !f1_.retx, requests = row && f1_.first && f1_.cc;
  const bool room = !waits_valid_ && (!requests || out_.req.free());  // for one more req
  if (waits_valid_ && out_.req.free()) {
    out_.req.load(waits_);
    waits_valid_next_ = false;
  }
  if (f1_valid_) leave_f1(csr);
  f1_valid_ = false;
  if (in_.retx.has() && !again_valid_ && !order) {
    Row r;
    r.retx = true;
    r.order = in_.retx.head();
    r.number = r.order.row;
    enter_f1(r.order.qp, r);
    in_.retx.pop();
  } else if (rows_.count() + (row ? 1 : 0) >= kRows) {
    return;
  } else if (f_busy_ != 0) {
    Row r;
    r.end = f_left_ == 1;
    r.number = f_row_;
    enter_f1(f_qp_, r);
    --f_left_;
    set(f_busy_, f_left_ != 0);
  } else if (in_.grant.valid() && room) {
    const QpIndex index = in_.grant.head().qp;
    const Qp& q = qp(index);
    const auto left = static_cast<uint16_t>(q.tail - q.head);
    const unsigned n = std::clamp<unsigned>(left, 1, kBurstPackets);
    Row r;
    r.first = true;
    r.end = n == 1;
    r.empty = left == 0;
    r.number = static_cast<PoolRow>(q.hrow);
    enter_f1(index, r);
    f_qp_ = index;
    f_left_ = n - 1;
    set(f_busy_, n != 1);
    in_.grant.pop();
  }
}

/// F0: reads the row.
void TxSegment::enter_f1(QpIndex index, Row r) {
  const Qp& q = qp(index);
  r.qp = index;
  r.mtu = static_cast<uint8_t>(q.mtu);
  r.dest = static_cast<uint16_t>(q.dest);
  r.ts = q.ts != 0;
  r.cc = q.cc != 0;
  work_.read(r.number);
  f1_ = r;
  f1_valid_ = true;
}

/// Moves the row in f1 on to Emit, and asks for its burst.
void TxSegment::leave_f1(const CsrOut& csr) {
  Row& r = f1_;
  r.work = work_.rdata();
  if (r.retx) {
    again_next_ = r;
    again_valid_next_ = true;
    return;
  }
  f_row_ = r.work.next;
  if (r.first) {
    const Qp& q = qp(r.qp);
    r.dead = r.empty || !can_send(q);
    if (!r.dead && r.cc) {
      const auto min = static_cast<uint16_t>(nscc_least(first_size(r, q, csr)));
      const unsigned bytes = unsigned{nominal_full(r.mtu, r.ts, csr.nominal)} * kBurstRequest;
      const Ccreq req{.cc = r.dest, .min = min, .bytes = static_cast<uint16_t>(bytes)};
      MRC_CHECK(!waits_valid_, "a burst asks while another one waits to");
      if (out_.req.free()) {
        out_.req.load(req);
      } else {
        waits_ = req;
        waits_valid_next_ = true;
      }
    }
  }
  rows_.push(r);
}

/// Nominal size of the QP's next packet, which is of row r.
uint16_t TxSegment::first_size(const Row& r, const Qp& q, const CsrOut& csr) const {
  const WritePart p = segment(r.work.message, q.idx, r.mtu);
  return nominal_size(p.plen, p.opcode, r.ts, csr.nominal);
}

// Emit

void TxSegment::emit(const CsrOut& csr) {
  if (again_valid_ && out_.pkt.free()) {
    retransmit(again_);
    return;
  }
  if (!rows_.valid()) return;
  const Row& r = rows_.head();
  if (!r.first && !on_) {  // fetched for a burst that has ended
    rows_.pop();
    return;
  }
  if (orders_ || !out_.pkt.free() || !out_.push.free() || !out_.ret.free()) return;
  if (turn_ && go_.valid()) return;
  if (on_) {
    if (!over_for_now(r)) send(r, csr);
  } else {
    begin(r, csr);
  }
}

void TxSegment::retransmit(const Row& r) {
  again_valid_next_ = false;
  order_done_next_ = true;
  const Retx& o = r.order;
  const Qp& q = qp(o.qp);
  const bool needed = q.rts() && q.failed == 0 && !msn_before(o.msn, static_cast<uint16_t>(q.una_msn));
  if (!needed && !r.cc) return;
  Pkt& p = out_.pkt.load();
  if (needed) {
    put(segment(r.work.message, o.idx, r.mtu), p);
    p.row = o.row;
    p.profile = static_cast<uint8_t>(q.profile);
    p.avoid_ev = o.avoid_ev;
    p.lost = o.lost;
    p.two = o.two && q.active == 0;  // nothing else that it may send
    p.ackreq = false;
  } else {  // tx_inflight has counted it as sent
    p = Pkt{};
  }
  p.idx = o.idx;
  p.voided = !needed;
  p.qp = o.qp;
  p.psn = o.psn;
  p.msn = o.msn;
  p.rtx = true;
  p.size = o.size;
}

/// The next packet of row r's QP is held back: max_wimm immediates are on their way.
bool TxSegment::over(const Row& r) const {
  const Qp& q = qps_[r.qp & qp_mask_];
  return wimm_held(q.idx, r.work.message.imm_valid, q.wsent, q.wout, q.max_wimm);
}

/// The same, but a message of the QP completes in this cycle: it may be the one that lets the packet go.
bool TxSegment::over_for_now(const Row& r) const { return c1_.valid && same_qp(c1_.qp, r.qp) && over(r); }

/// The first row of a grant, and with a controller its answer.
void TxSegment::begin(const Row& r, const CsrOut& csr) {
  const bool requested = r.cc && !r.dead;
  if (!out_.park.free() || (requested && !in_.ans.has())) return;
  const bool can = can_send(qp(r.qp));
  const bool stays = r.dead || !can, refused = requested && in_.ans.head().bytes == 0;
  if (!stays && !refused && over_for_now(r)) return;
  left_ = 0;
  lastf_ = false;
  if (requested) {
    left_ = in_.ans.head().bytes;
    lastf_ = in_.ans.head().last != 0;
    in_.ans.pop();
  }
  if (stays) {
    leave(r, (r.dead && can) || (r.cc && left_ != 0));
  } else if (refused) {
    rows_.pop();
    out_.park.load({.qp = r.qp});
    set(qp(r.qp).parked, 1);
  } else {
    used_n_ = used_b_ = 0;
    send(r, csr);
  }
}

bool TxSegment::has_block(const Qp& q, bool begins) const {
  return !begins || credit_ > num_qps_ || (credit_ != 0 && psn_dist(q.psn, q.una) < 16);
}

/// *Send*: the burst's h, hr, i and s are the QP's registers, which nobody else writes while it is active.
void TxSegment::send(const Row& r, const CsrOut& csr) {
  Qp& q = qp(r.qp);
  if (!can_send(q)) {
    end(r, false);
    return;
  }
  if (over(r)) {
    set(q.held, 1);
    end(r, used_n_ == 0 && r.cc && left_ != 0);
    return;
  }
  Pkt p;
  put(segment(r.work.message, q.idx, r.mtu), p);
  p.idx = q.idx;
  p.size = nominal_size(p.plen, p.opcode, r.ts, csr.nominal);
  const bool begins = q.psn % 16 == 0 || q.fresh != 0;
  if (!has_block(q, begins) || (r.cc && left_ < p.size)) {
    end(r, true);
    return;
  }
  MRC_CHECK(!r.cc || left_ >= p.size, "more is sent than the controller granted");
  MRC_CHECK(psn_dist(q.psn, q.una) < 128u * q.mpr, "a packet outside of the window is sent");
  MRC_CHECK(q.head != q.tail, "a packet of no work is sent");
  MRC_CHECK(((q.wsent - q.wout) & 0xffu) <= q.max_wimm, "more than max_wimm immediates are on their way");
  MRC_CHECK(!begins || credit_ != 0, "a block is used that there is not");
  if (r.cc) left_ -= p.size;
  began_ = begins;
  set(q.fresh, 0);
  set(q.parked, 0);
  if (q.idx == 0 && r.work.message.imm_valid) set(q.wsent, next8(q.wsent));
  used_n_ += 1;
  MRC_CHECK(used_n_ <= kBurstPackets, "a burst is longer than 16 packets");
  used_b_ += p.plen;

  Qp after = q;
  after.psn = psn_add(q.psn, 1);
  if (p.last) {
    after.head = next16(q.head);
    after.hrow = r.work.next;
    after.idx = 0;
    rows_.pop();
  } else {
    after.idx = (q.idx + 1) & 0xff'ffffu;
  }
  set(q.psn, after.psn);
  set(q.head, after.head);
  set(q.hrow, after.hrow);
  set(q.idx, after.idx);

  const bool more = can_send(after);
  p.voided = false;
  p.qp = r.qp;
  p.psn = q.psn;
  p.msn = static_cast<uint16_t>(q.head);
  p.row = r.number;
  p.rtx = false;
  p.profile = static_cast<uint8_t>(q.profile);
  p.avoid_ev = 0;
  p.lost = p.two = false;
  const bool idle = after.head == after.tail;
  p.ackreq = (!more && (!idle || ar_gap_ == 0)) || (r.cc && lastf_ && left_ < nominal_full(r.mtu, r.ts, csr.nominal));
  out_.pkt.load(p);
  if (idle && ar_gap_ == 0) ar_gap_next_ = csr.ar_gap;
  on_ = true;
  if (!more || used_n_ == kBurstPackets || used_b_ >= kBurstBytes || (p.last && r.end)) end(r, more);
}

/// *End*.
void TxSegment::end(const Row& r, bool more) {
  on_ = false;
  if (f_busy_ != 0 && same_qp(f_qp_, r.qp)) set(f_busy_, 0);
  leave(r, more);
}

/// Done with a grant. more: the QP stays in tx_sched. It does once more where it gives a grant back of which it has
/// sent nothing: another one may have been refused for that, and stands in its list by the next turn.
void TxSegment::leave(const Row& r, bool more) {
  rows_.pop();
  if (r.cc && left_ != 0) out_.ret.load({.cc = r.dest, .bytes = static_cast<uint16_t>(left_)});
  out_.push.load({.qp = r.qp, .more = more});
  pushed_ = true;
  if (more) return;
  Qp& q = qp(r.qp);
  set(q.active, 0);
  set(q.parked, 0);
  cleared_ = &q;
}

/// Emit and the QPs of `go` share push, in turns.
void TxSegment::serve_go() {
  const bool now = out_.push.free() && go_.valid() && (turn_ || !pushed_);
  if (now) {
    out_.push.load({.qp = go_.head().qp, .more = true});
    go_.pop();
    turn_ = false;
  }
  if (pushed_) turn_ = true;
}

}  // namespace mrc

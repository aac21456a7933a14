// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx/track/rx_track.hpp"

#include "protocol/probe.hpp"
#include "protocol/rx_check.hpp"
#include "util/check.hpp"

namespace mrc {

RxTrack::RxTrack(const Preset& preset, Stream<Rxpkt>& rxpkt, PlaneDemux<Verdict>& verdict, Stream<Resp>& resp,
                 Stream<Ackev>& ackev, Stream<Ord>& ord, Stream<Qperr>& qperr, Stream<Came>& came)
    : qp_mask_(preset.num_qps - 1),
      rows_(preset.max_mpr / 64),
      rxpkt_(rxpkt),
      verdict_(verdict),
      resp_(resp),
      ackev_(ackev),
      ord_(ord),
      qperr_(qperr),
      came_(came),
      map_(std::size_t{preset.num_qps} * rows_),
      bits_(preset.num_rx_rows),
      pool_(preset.num_rx_rows),
      track_(preset.num_qps),
      post_(preset.num_qps),
      lowun_(preset.num_qps),
      cfg_(preset.num_qps),
      adv_(kAdvDepth),
      sq_(kSackDepth) {}

void RxTrack::step(const CfgBus& cfg, const CsrOut& csr, const In& in) {
  ack_.begin(cfg);
  pulses_next_ = {};
  posted_next_ = false;
  resp_taken_ = ackev_taken_ = false;
  if (!x_valid_ || (post_can_go() && in.hold_ok)) {  // else the stages are stuck
    const bool empty = !m_valid_ && !t_valid_ && !x_valid_ && !adv_.valid() && !sq_.valid() && sack_ == Sack::Idle;
    // The last stage first: each takes its registers, then the stage before it fills them.
    if (x_valid_) {
      posted_next_ = x_.what != What::Done;
      share_ = csr.share_enable ? in.share : ShareLevels{};
      fat_ = csr.share_enable && in.fat;
      post(csr);
    }
    if (t_valid_) track(in);
    if (m_valid_) t_ = m_;
    x_valid_ = t_valid_;
    t_valid_ = m_valid_;
    m_valid_ = false;
    fetch(cfg, empty);
  }
  sack(csr);
}

void RxTrack::clock() {
  map_.clock();
  bits_.clock();
  pool_.clock();
  track_.clock();
  post_.clock();
  lowun_.clock();
  adv_.clock();
  sq_.clock();
  ack_.clock();
  pulses_ = pulses_next_;
  posted_ = posted_next_;
}

/// empty: of packets and of SACKs to be written.
void RxTrack::fetch(const CfgBus& cfg, bool empty) {
  if (init_) {
    init();
  } else if (adv_.valid()) {  // also while cfg waits: otherwise adv would never be empty
    m_ = adv_.head();
    adv_.pop();
    m_valid_ = true;
  } else if (ack_.pending(cfg)) {
    if (empty) configure(cfg);
  } else if (rxpkt_.has()) {
    m_.p = rxpkt_.head();
    m_.again = m_.acked = m_.moved = false;
    rxpkt_.pop();
    m_valid_ = true;
  }
}

void RxTrack::configure(const CfgBus& cfg) {
  const unsigned index = qp(cfg.index);
  if (cfg.is(CfgTable::QpCtx)) {
    const auto row = csr::TblQpCtx::unpack(cfg.data.data());
    if (row.state != QpState::Rts) {  // in Rts the responder has been at work since Rtr
      set_up(index, row);
      return;
    }
  } else if (cfg.is(CfgTable::QpMpr)) {
    CfgQp& q = cfg_[index];
    q.mpr = dynamic_mpr(csr::TblQpMpr::unpack(cfg.data.data()).mpr, q.mpr_dest);
  }
  ack_.done();
}

void RxTrack::set_up(unsigned index, const csr::TblQpCtx& row) {
  const uint32_t before = psn_add(row.rq_psn, -1);
  track_.write(index, {.window = {.cack = before, .max = before, .ooo = 0}, .failed = false});
  lowun_.write(index, row.rq_psn);
  PostQp& q = post_.write(index);
  q.rcvd = 0;
  q.due = {};
  q.ackv = false;
  q.emsn = row.msn;
  q.armed = 0;
  cfg_[index] = {.mpr = row.mpr_dest, .mpr_dest = row.mpr_dest, .trim_nack = row.trim_nack, .dyn = row.dyn_mpr};
  init_ = true;
  init_qp_ = index;
  init_row_ = 0;
}

/// What is left of an earlier connection is given back. (`known` is not needed: here the map starts empty.)
void RxTrack::init() {
  const std::size_t at = std::size_t{init_qp_} * rows_ + init_row_;
  if (map_[at].valid) pool_.give(map_[at].idx);
  map_.write(at, {});
  if (++init_row_ < rows_) return;
  ack_.done();
  init_ = false;
}

void RxTrack::track(const In& in) {
  MRC_CHECK(!init_, "a packet is judged while its QP may be started");
  const unsigned index = qp(t_.p.qp);
  const std::size_t at = slot(index, t_.again ? t_.next : t_.p.psn);
  const Entry entry = map_[at];
  const RxRow before = row(entry);
  TrackQp q = track_[index];
  RxRow after = before;
  RowAdvance a;
  x_.p = t_.p;
  if (t_.again) {
    x_.what = What::Done;
    a = row_go_on(q.window, after, t_.next);
  } else {
    x_.what = judge(t_.p, q, entry.valid, before, in);
    MRC_CHECK(x_.what != What::Take || psn_dist(t_.p.psn, psn_add(q.window.cack, 1)) < 128u * cfg_[index].mpr,
              "a packet outside of the window is taken");
    MRC_CHECK(x_.what != What::Take || cfg_[index].mpr <= cfg_[index].mpr_dest,
              "the window is larger than the peer may use");
    if (x_.what == What::Take) a = row_take(q.window, after, t_.p.psn, t_.p.last);
    if (x_.what == What::Fatal || x_.what == What::Over) q.failed = true;
  }
  keep(at, entry, before, after);
  track_.write(index, q);
  x_.cack = q.window.cack;
  x_.ooo = q.window.ooo;
  x_.messages = a.messages;
  x_.ackpsn = a.last_psn;
  x_.acked = t_.acked || a.messages != 0;
  x_.moved = t_.moved || a.count != 0;
  x_.goes_on = a.goes_on;
  if (!a.goes_on) return;
  Work& w = adv_.push();
  w.p = t_.p;
  w.again = true;
  w.acked = x_.acked;
  w.moved = x_.moved;
  w.next = psn_add(q.window.cack, 1);
}

/// What a packet that is seen for the first time shall come to; `row` holds its PSN, row_here: in the memory.
RxTrack::What RxTrack::judge(const Rxpkt& p, const TrackQp& q, bool row_here, const RxRow& row, const In& in) const {
  if (p.drop) return What::Discard;
  if (q.failed) return What::Nak;
  if (in.over[qp(p.qp)]) return What::Over;
  if (p.err) return What::Event;
  if (p.probe) return What::Probe;
  const CfgQp& c = cfg_[qp(p.qp)];
  const PsnClass cls = psn_class(p.psn, q.window.cack, c.mpr, c.mpr_dest, row);
  if (cls == PsnClass::DupBelow || cls == PsnClass::DupAbove) return What::Dup;
  if (cls == PsnClass::OutOfWindow) return What::Refuse;
  if (is_trimmed(p.trim)) return What::Trim;
  if (p.trim != Trim::None) return What::Full;
  const bool next = p.psn == psn_add(q.window.cack, 1);
  if (p.syndrome != 0) return next ? What::Fatal : What::Discard;  // a NAK never overtakes an earlier message
  if (!next && p.imm_valid && !in.imm_ok) return What::NoImm;
  if (!next && !row_here && !pool_.valid()) return What::NoRow;
  return What::Take;
}

/// Writes a row back. One without any bit needs no memory.
void RxTrack::keep(std::size_t at, const Entry& entry, const RxRow& before, const RxRow& after) {
  if (after == before) return;
  if (after == RxRow{}) {
    if (!entry.valid) return;
    map_.write(at, {});
    pool_.give(entry.idx);
  } else if (entry.valid) {
    bits_.write(entry.idx, after);
  } else {
    MRC_CHECK(pool_.valid(), "a row is taken that there is not");
    const unsigned idx = pool_.offer();
    pool_.take();
    map_.write(at, {.valid = true, .idx = idx});
    bits_.write(idx, after);
  }
}

bool RxTrack::post_can_go() const {
  return verdict_.free() && resp_.free() && ackev_.free() && ord_.free() && qperr_.free() && came_.free() &&
         sq_.ready();
}

void RxTrack::post(const CsrOut& csr) {
  const Rxpkt& p = x_.p;
  const unsigned index = qp(p.qp);
  const bool trimmed = is_trimmed(p.trim);
  switch (x_.what) {
    case What::Discard:
      issue(false);
      break;
    case What::Nak:  // repeated, so that it cannot be lost for good
      issue(false);
      nak(post_[index]);
      break;
    case What::Over: {  // rx_reorder has put the QP into Error; the NAK blames the oldest message that is not complete
      issue(false);
      PostQp& q = post_.write(index);
      q.nsyn = NakCodes{.invalid = csr.nak_invalid}.of(RxFault::Invalid);
      q.npsn = psn_add(x_.cack, 1);
      nak(q);
      break;
    }
    case What::Event:  // the peer need not wait for its timer
      issue(false);
      if (!csr.err_silent) nack(wire::NackReason::UnexpEvent);
      break;
    case What::Probe: {  // it asks for all the sender may have missed
      PostQp& q = post_.write(index);
      repeat_ack(csr, q);
      request_sack(csr, q);
      break;
    }
    case What::Dup: {
      PostQp& q = post_.write(index);
      if (p.trim == Trim::None) {
        pulses_next_.dup = true;
        issue(false);
        if (psn_dist(p.psn, psn_add(x_.cack, 1)) >= kPsnHalf) repeat_ack(csr, q);
      }
      pulses_next_.trim = trimmed;
      request_sack(csr, q);
      break;
    }
    case What::Refuse:
      refuse(csr);
      pulses_next_.trim = trimmed;
      break;
    case What::Trim:
      pulses_next_.trim = true;
      if (cfg_[index].trim_nack) nack(no_payload_reason(p.trim));
      if (csr.share_enable) came_.load({.qp = p.qp, .trimmed = true, .msn = p.msn, .emsn = post_[index].emsn});
      if (!csr.trim_silent) {  // a NACK says nothing of what has arrived, and its sender's window gets smaller
        PostQp& q = post_.write(index);
        if (q.due.trig != 0 || share_saves(share_, q.armed)) request_sack(csr, q, true);
        q.due.tmiss.trimmed(p.psn);
      }
      break;
    case What::Full:
      pulses_next_.nores = true;
      nack(no_payload_reason(p.trim));
      break;
    case What::NoImm:
      issue(false);
      pulses_next_.nores = true;
      nack(wire::NackReason::NoResource);
      break;
    case What::NoRow:
      issue(false);
      pulses_next_.nores = true;
      nack(wire::NackReason::NoBitmap);
      break;
    case What::Fatal: {
      issue(false);
      PostQp& q = post_.write(index);
      q.nsyn = p.syndrome;
      q.npsn = p.psn;
      nak(q);
      qperr_.load({.qp = p.qp, .status = static_cast<CqStatus>(p.syndrome)});
      break;
    }
    case What::Take: {
      PostQp& q = post_.write(index);
      issue(true);
      q.rcvd += p.size;
      q.due.trig = sack_trigger_add(q.due.trig, p.plen);
      arrived(csr, q);
      report_share(csr, q, p.plen);
      break;
    }
    case What::Done: {
      PostQp& q = post_.write(index);
      arrived(csr, q);
      if (x_.messages != 0) report_share(csr, q, 0);
      break;
    }
  }
}

/// A PSN above the window. One that only a shrunken window leaves out is always NACKed: the sender was entitled to it.
void RxTrack::refuse(const CsrOut& csr) {
  if (x_.p.trim == Trim::None) issue(false);
  const wire::NackReason reason = oor_reason(x_.p.psn, x_.cack, cfg_[qp(x_.p.qp)].mpr_dest);
  const bool no_bitmap = reason == wire::NackReason::NoBitmap;
  pulses_next_.nores = no_bitmap;
  pulses_next_.oor = !no_bitmap;
  if (no_bitmap || !csr.oor_drop) nack(reason);
}

/// What a pass over a row has brought. The last pass of a packet tells rx_reorder and the sender.
void RxTrack::arrived(const CsrOut& csr, PostQp& q) {
  const Rxpkt& p = x_.p;
  if (x_.messages != 0) {
    q.emsn = static_cast<uint16_t>(q.emsn + x_.messages);
    q.ackv = true;
    q.ackpsn = x_.ackpsn;
  }
  if (x_.goes_on) return;
  if (p.imm_valid || x_.moved) {
    Ord& o = ord_.load();
    o = Ord{};
    o.qp = p.qp;
    o.adv = x_.moved;
    o.cack = x_.cack;
    o.snap = issued_.packed();
    if (p.imm_valid) {
      o.imm_valid = true;
      o.rqmsn = p.rqmsn;
      o.imm = p.imm;
      o.length = p.dmalen;
      o.psn = p.psn;
    }
  }
  if (x_.acked && !csr.ack_with_sack) {
    load_ackev(p.qp, p.plane, q, false);
    ackev_taken_ = true;
  }
  const bool at_once = p.rtx || p.ce || share_saves(share_, q.armed);
  if (q.due.arrived(csr.sack_trigger, p.ackreq, at_once, x_.cack, x_.ooo)) request_sack(csr, q);
}

/// The packet has arrived, or cack has gone on behind it (plen 0).
void RxTrack::report_share(const CsrOut& csr, const PostQp& q, uint16_t plen) {
  if (!csr.share_enable) return;
  came_.load({.qp = x_.p.qp, .plen = plen, .msn = x_.p.msn, .emsn = q.emsn, .length = x_.p.dmalen});
}

/// Tells the lane what to do with the packet's payload, if it holds any.
void RxTrack::issue(bool place) {
  const Rxpkt& p = x_.p;
  if (!p.buf_valid) return;
  Verdict& v = verdict_.load();
  v.plane = p.plane;
  v.place = place;
  v.qp = place ? p.qp : QpIndex{0};
  v.addr = place ? p.haddr : 0;
  v.plen = place ? p.plen : uint16_t{0};
  issued_.count(p.plane);
}

Resp& RxTrack::respond(CtlKind kind) {
  resp_taken_ = true;
  Resp& r = resp_.load();
  r = Resp{};
  r.kind = kind;
  r.qp = x_.p.qp;
  r.plane = x_.p.plane;
  return r;
}

/// The refused packet, with the MSN of the message that was being completed.
void RxTrack::nak(const PostQp& q) {
  Resp& r = respond(CtlKind::Ack);
  r.psn = q.npsn;
  r.reason = q.nsyn;
  r.msn = q.emsn;
}

void RxTrack::nack(wire::NackReason reason) {
  const Rxpkt& p = x_.p;
  Resp& r = respond(CtlKind::Nack);
  r.psn = p.psn;
  r.entropy = p.entropy;
  r.ts = p.ts;
  r.tsv = p.tsv;
  r.at = p.at;
  r.reason = static_cast<uint8_t>(reason);
}

/// The newest semantic ACK once more; with ack_with_sack it follows the SACK.
void RxTrack::repeat_ack(const CsrOut& csr, const PostQp& q) {
  if (!q.ackv || csr.ack_with_sack) return;
  load_ackev(x_.p.qp, x_.p.plane, q, true);
  ackev_taken_ = true;
}

void RxTrack::load_ackev(QpIndex index, uint8_t plane, const PostQp& q, bool again) {
  ackev_.load({.qp = index, .plane = plane, .psn = q.ackpsn, .msn = q.emsn, .again = again});
}

/// unasked: as an answer to a probe that nobody has sent. The packet has overtaken others, nothing can be told from its
/// own place.
void RxTrack::request_sack(const CsrOut& csr, PostQp& q, bool unrequested) {
  const Rxpkt& p = x_.p;
  q.due.trig = 0;
  sq_.push({.qp = p.qp,
            .plane = p.plane,
            .psn = unrequested ? kNoProbeId : p.psn,
            .ackreq = p.ackreq && !unrequested,
            .ce = p.ce && !unrequested,
            .probe = p.probe || unrequested,
            .entropy = p.entropy,
            .ts = p.ts,
            .tsv = p.tsv,
            .at = p.at,
            .share = share_answer(share_, csr.share_pen, fat_, q.armed)});
}

/// The registers of the QP are those of the cycle: Track and Post write theirs at its end.
void RxTrack::sack(const CsrOut& csr) {
  switch (sack_) {
    case Sack::Idle:
      if (sq_.valid()) sack_begin(csr);
      break;
    case Sack::Sack1:
      rdata_ = row(entry_);
      entry_ = map_[slot(s_.qp, psn_add(base_, 64))];
      sack_ = Sack::Sack2;
      break;
    case Sack::Sack2:
      low_ = rdata_.rcv;
      rdata_ = row(entry_);
      sack_ = Sack::Sack3;
      break;
    case Sack::Sack3:
      if (resp_.free() && !resp_taken_) sack_send(csr);
      break;
    case Sack::SackAck:  // the newest ACK follows each SACK
      if (!ackev_.free() || ackev_taken_) break;
      load_ackev(s_.qp, s_.plane, post_[qp(s_.qp)], s_.probe);
      sack_ = Sack::Idle;
      break;
  }
}

void RxTrack::sack_begin(const CsrOut& csr) {
  s_ = sq_.head();
  sq_.pop();
  const unsigned index = qp(s_.qp);
  const RxWindow& w = track_[index].window;
  self_ = !s_.probe && csr.sack_base_self && (s_.ackreq || s_.ce) && psn_dist(s_.psn, psn_add(w.cack, 1)) < kPsnHalf;
  base_ = self_ ? s_.psn : sack_cyclic_base(lowun_[index], w.cack, w.max);
  entry_ = map_[slot(index, base_)];
  sack_ = Sack::Sack1;
}

/// Never older than the rows that were read: what cack has passed meanwhile is not taken for a hole.
void RxTrack::sack_send(const CsrOut& csr) {
  const unsigned index = qp(s_.qp);
  const RxWindow& w = track_[index].window;
  const PostQp& q = post_[index];
  const CfgQp& c = cfg_[index];
  Resp& r = resp_.load();
  r = Resp{};
  r.kind = CtlKind::Sack;
  r.qp = s_.qp;
  r.plane = s_.plane;
  r.psn = s_.psn;
  r.cack = w.cack;
  r.base = base_;
  r.bitmap = sack_bitmap(low_, rdata_.rcv, base_, w.max);
  r.ooo = w.ooo & 0x7fff;
  r.m = static_cast<uint8_t>(s_.ce ? wire::Mark::SkipOnce : wire::Mark::None);
  r.pr = s_.probe;
  r.entropy = s_.entropy;
  r.ts = s_.ts;
  r.tsv = s_.tsv;
  r.at = s_.at;
  r.mpr = c.dyn ? c.mpr : uint8_t{0};
  r.rcvd = sack_rcvd(q.rcvd);
  r.pen = s_.share.pen;
  r.restore = s_.share.restore;
  if (!self_) lowun_.write(index, psn_add(base_, 64));
  sack_ = csr.ack_with_sack && q.ackv ? Sack::SackAck : Sack::Idle;
}

}  // namespace mrc

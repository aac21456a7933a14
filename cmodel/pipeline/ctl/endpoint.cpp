// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ctl/endpoint.hpp"

#include <algorithm>

#include "gen/csr.hpp"
#include "pipeline/lib/convert.hpp"
#include "protocol/endpoint.hpp"
#include "protocol/probe.hpp"
#include "util/check.hpp"

namespace mrc {

namespace {

constexpr bool is_op(const Eprx& e, wire::ErthOp op) { return e.op == static_cast<uint8_t>(op); }

}  // namespace

Endpoint::Endpoint(const Preset& preset, const Inputs& in, const Outputs& out)
    : planes_(preset.num_planes),
      dest_mask_(preset.num_dests - 1),
      dest_bits_(ep_update_dest_bits(preset.num_dests)),
      qp_mask_(preset.num_qps - 1),
      eprx_(in.eprx),
      want_(in.want),
      evp_(in.evp),
      req_(out.req),
      resp_(out.resp),
      okev_(out.okev),
      pmask_(out.pmask),
      evr_(out.evr),
      pans_(out.pans),
      addr_(preset.num_dests),
      dests_(preset.num_dests),
      qps_(preset.num_qps),
      next_(preset.num_qps),
      prev_(preset.num_qps),
      first_(preset.num_dests),
      after_(preset.num_dests),
      up_((1u << preset.num_planes) - 1),
      known_(preset.num_dests),
      place_(preset.num_dests) {}

void Endpoint::step(const CfgBus& cfg, const CsrOut& csr, unsigned port_up) {
  ack_.begin(cfg);
  pulses_next_ = {};
  loads_ = !visit_on_ && state_ != State::Leave;
  queue_head_ = !queue_.empty();
  switch (state_) {
    case State::Idle:
      idle(cfg, csr, port_up);
      break;
    case State::Find:
      find(csr);
      break;
    case State::Send:
      send(csr, port_up);
      break;
    case State::Leave:
      left();
      break;
    case State::Join:
      joined();
      break;
    case State::Link:
      link();
      break;
    case State::Unchain:
      unchain();
      break;
    case State::Chain:
      chain();
      break;
    case State::Clear:
      clear();
      break;
    case State::Again:
      again();
      break;
  }
  if (loads_) load();
  if (port_up != up_) {  // wins over what else happened to the destinations
    to_visit_ = count_;
    hurry_ = !csr.port_wait;
    for (Dest& d : dests_) {
      d.due = d.valid;
      d.waiting = false;
      d.tries = 0;
    }
    up_ = port_up;
  }
  if (csr.rev_seed != seed_) {  // wins over a step of the generator
    seed_ = csr.rev_seed;
    lfsr_ = seed_ != 0 ? seed_ : 1;
  }
  if (div_ == 15) visit_due_ = true;
  div_ = (div_ + 1) & 15u;
}

/// The cycle's operation: the first that applies. What peers send is taken in turn with all else.
void Endpoint::idle(const CfgBus& cfg, const CsrOut& csr, unsigned port_up) {
  const PlaneAddress plane{.enable = csr.ip_plane_enable, .lsb = csr.ip_plane_lsb};
  if (plane != plane_) {
    plane_ = plane;
    f_ = 0;
    state_ = State::Clear;
    return;
  }
  if (ack_.pending(cfg)) {
    configure(cfg, port_up);
    return;
  }
  const bool packet = eprx_.has() && resp_.free() && okev_.free() && pmask_.free() && evr_.free() && pans_.free();
  if (packet && !turn_) {
    receive(csr);
    turn_ = true;
  } else if (other(csr, port_up)) {
    turn_ = false;
  } else if (packet) {
    receive(csr);
  }
}

/// All but packets of peers. False: nothing of it is there to do.
bool Endpoint::other(const CsrOut& csr, unsigned port_up) {
  if (evp_.has() && evr_.free()) {
    const Evp e = evp_.head();
    evp_.pop();
    if (dest(e.dest).valid) {
      order(controller_, e.dest, e.plane, e.ev, csr);
      controller_.tc_valid = e.tc_valid;
      controller_.tc = e.tc;
    } else {
      evr_.load({.answered = false, .rtt = 0});
    }
  } else if (want_.has() && !reverse_.busy) {
    const Want w = want_.head();
    want_.pop();
    const Dest& d = dest(w.dest);
    if (d.valid && (port_up & d.peer) >> (w.plane & (planes_ - 1)) & 1) {  // a port that is down is not probed
      lfsr_ = ep_entropy_next(lfsr_);
      order(reverse_, w.dest, w.plane, lfsr_, csr);
    }
  } else if (controller_.busy && tick_reached(csr.tick, controller_.when) && evr_.free()) {
    controller_.busy = controller_.send = false;
    evr_.load({.answered = false, .rtt = 0});
  } else if (reverse_.busy && tick_reached(csr.tick, reverse_.when)) {
    reverse_.busy = reverse_.send = false;
  } else if (controller_.send && req_.free() && (port_up >> controller_.plane & 1) && dest(controller_.dest).valid) {
    read_for(static_cast<unsigned>(EpKind::ControllerProbe), controller_.dest);
  } else if (reverse_.send && req_.free() && (port_up >> reverse_.plane & 1) && dest(reverse_.dest).valid) {
    read_for(static_cast<unsigned>(EpKind::ReverseProbe), reverse_.dest);
  } else if (due_now()) {
    visit(csr, port_up);
  } else {
    return false;
  }
  return true;
}

void Endpoint::configure(const CfgBus& cfg, unsigned port_up) {
  ack_.done();
  loads_ = false;
  if (cfg.is(CfgTable::QpCtx)) {
    configure_row(cfg, port_up);
  } else if (cfg.is(CfgTable::QpState)) {
    if (csr::TblQpState::unpack(cfg.data.data()).state != QpState::Reset) return;
    const unsigned qp = cfg.index & qp_mask_;
    leave(qp, true);
    qps_[qp].leads = false;
  } else if (cfg.is(CfgTable::PeerPorts)) {
    dest(cfg.index).peer = csr::TblPeerPorts::unpack(cfg.data.data()).mask;
  }
}

void Endpoint::configure_row(const CfgBus& cfg, unsigned port_up) {
  const auto row = csr::TblQpCtx::unpack(cfg.data.data());
  const unsigned index = cfg.index & qp_mask_;
  const auto to = static_cast<uint16_t>(row.dest & dest_mask_);
  const bool reset = row.state == QpState::Reset;
  Qp& qp = qps_[index];
  Dest& d = dests_[to];
  const bool member = qp.leads && qp.to == to;
  const bool leaves = (reset || qp.to != to) && leave(index, false);
  qp.row = qp.leads = !reset;
  if (reset) return;
  qp.to = to;
  join_ = {.on = true, .qp = index, .dest = to, .dip = row.dip, .had = d.valid, .member = member};
  if (!d.valid) know(to);
  d.valid = true;
  if (port_up != (1u << planes_) - 1) owe(to);  // a new peer takes all our ports for up
  if (!leaves) come();
}

/// A QP's row is written anew, or it goes to RESET: it leaves the destination that its row names. False: none.
bool Endpoint::leave(unsigned qp, bool keep) {
  const Qp& q = qps_[qp];
  if (!q.row) return false;
  left_ = {.qp = qp, .dest = q.to, .keep = keep, .member = q.leads};
  addr_.read(left_.dest);
  state_ = State::Leave;
  return true;
}

/// Out of the ring; the QP behind it lends if it did. Without one the destination goes.
void Endpoint::left() {
  const Addr& a = addr_.rdata();
  const bool lends = a.qp == left_.qp;
  const QpIndex n = next_[left_.qp], p = prev_[left_.qp];
  if (left_.member && n != left_.qp) {
    next_.write(p, n);
    prev_.write(n, p);
    if (lends) addr_.write(left_.dest, {.dip = a.dip, .qp = n});
  } else if (lends && !left_.keep) {
    Dest& d = dests_[left_.dest];
    d.valid = d.due = d.waiting = false;
    forget(left_.dest);
    state_ = leave_chain(left_.dest, a.dip, false);
    return;
  }
  come();
}

/// Who leaves has left: does it come to another destination?
void Endpoint::come() {
  if (join_.on) addr_.read(join_.dest);
  state_ = join_.on ? State::Join : State::Idle;
}

/// Into the ring, as the lender; and into the chain of its address, if that is new.
void Endpoint::joined() {
  const Addr& a = addr_.rdata();
  const auto q = static_cast<QpIndex>(join_.qp);
  addr_.write(join_.dest, {.dip = join_.dip, .qp = q});
  State then = State::Chain;
  if (!join_.had) {
    f_ = join_.dest;
  } else if (address_is_own(a.dip, join_.dip, plane_)) {
    then = State::Idle;
  } else {
    then = leave_chain(join_.dest, a.dip, true);
  }
  if (join_.member) {
    join_goes_on(then);
  } else if (join_.had && a.qp != q && qps_[a.qp].leads) {
    next_.write(q, next_[a.qp]);
    prev_.write(q, a.qp);
    lent_ = a.qp;
    then_ = then;
    state_ = State::Link;
  } else {
    next_.write(q, q);
    prev_.write(q, q);
    join_goes_on(then);
  }
}

void Endpoint::link() {
  const auto q = static_cast<QpIndex>(join_.qp);
  prev_.write(next_[lent_], q);
  next_.write(lent_, q);
  join_goes_on(then_);
}

void Endpoint::join_goes_on(State then) {
  if (then == State::Idle) join_.on = false;
  state_ = then;
}

/// Begins to take a destination with this address out of its chain.
Endpoint::State Endpoint::leave_chain(unsigned dest, U128 dip, bool moves) {
  gone_ = dest;
  moves_ = moves;
  bucket_ = bucket(dip);
  f_ = first_[bucket_].dest;
  return State::Unchain;
}

void Endpoint::unchain() {
  const Step step = after_[f_];
  if (f_ != gone_) {
    g_ = f_;
    f_ = step.dest;
    return;
  }
  if (f_ == first_[bucket_].dest) {
    first_.write(bucket_, step);
  } else {
    after_.write(g_, step);
  }
  if (moves_) {
    f_ = join_.dest;
    state_ = State::Chain;
  } else {
    come();
  }
}

/// At the head of its bucket's chain.
void Endpoint::chain() {
  const unsigned b = join_.on ? bucket(join_.dip) : bucket_;
  after_.write(f_, first_[b]);
  first_.write(b, {.any = true, .dest = static_cast<uint16_t>(f_)});
  if (join_.on) {
    join_goes_on(State::Idle);
  } else {
    next_again();
  }
}

/// The rule of addresses per plane has changed: no chain stands any more.
void Endpoint::clear() {
  first_.write(f_, {});
  if (f_ != dest_mask_) {
    ++f_;
    return;
  }
  f_ = 0;
  addr_.read(0);
  state_ = State::Again;
}

/// Each destination with an address enters the chain that is now its.
void Endpoint::again() {
  if (dests_[f_].valid) {
    bucket_ = bucket(addr_.rdata().dip);
    state_ = State::Chain;
  } else {
    next_again();
  }
}

void Endpoint::next_again() {
  state_ = f_ == dest_mask_ ? State::Idle : State::Again;
  if (f_ != dest_mask_) addr_.read(++f_);
}

/// A request looks for its sender's address in the chain of its bucket; a response ends what it answers.
void Endpoint::receive(const CsrOut& csr) {
  e_ = eprx_.head();
  eprx_.pop();
  if (e_.resp) {
    answered(e_, csr);
  } else if (is_op(e_, wire::ErthOp::PortStatus) || is_op(e_, wire::ErthOp::EvProbe)) {
    const Step step = first_[bucket(e_.sip)];
    if (!step.any) {
      pulses_next_.drop = true;
      return;
    }
    f_ = step.dest;
    addr_.read(f_);
    state_ = State::Find;
  } else {
    pulses_next_.drop = true;
  }
}

void Endpoint::answered(const Eprx& e, const CsrOut& csr) {
  switch (static_cast<EpKind>(e.id >> 14)) {
    case EpKind::PortStatus: {
      Dest& d = dest(e.id & ((1u << dest_bits_) - 1));
      if (!d.waiting || d.seq != ep_update_seq(e.id >> dest_bits_, dest_bits_)) break;
      d.waiting = d.due = false;
      return;
    }
    case EpKind::ControllerProbe:
      if (!controller_.busy || controller_.send || controller_.seq != (e.id & 0x3fff)) break;
      controller_.busy = false;
      evr_.load({.answered = true, .rtt = ticks_since(e.ts, e.at, csr.tsr_us)});
      return;
    case EpKind::ReverseProbe:
      if (!reverse_.busy || reverse_.send || reverse_.seq != (e.id & 0x3fff)) break;
      reverse_.busy = false;
      okev_.load({.dest = reverse_.dest, .plane = reverse_.plane, .ev = reverse_.ev});
      return;
    case EpKind::RevivalProbe:  // tx_probe finds out whether it fits
      pans_.load({.id = static_cast<uint16_t>(e.id & 0x3fff)});
      return;
  }
  pulses_next_.drop = true;
}

void Endpoint::order(Probe& probe, unsigned dest, unsigned plane, uint32_t ev, const CsrOut& csr) {
  probe = {.busy = true,
           .send = true,
           .dest = static_cast<uint16_t>(dest & dest_mask_),
           .plane = static_cast<uint8_t>(plane & (planes_ - 1)),
           .ev = ev,
           .seq = static_cast<uint16_t>((probe.seq + 1) & 0x3fff),
           .when = csr.tick + csr.ep_interval};
}

/// A destination has become valid: it stands behind all others.
void Endpoint::know(unsigned dest) {
  known_.write(count_, static_cast<uint16_t>(dest));
  place_.write(dest, static_cast<uint16_t>(count_));
  ++count_;
  if (to_visit_ != 0) ++to_visit_;
}

/// It is valid no more: the last one takes its place. Who has missed its turn by that gets another one.
void Endpoint::forget(unsigned dest) {
  MRC_CHECK(count_ != 0, "a destination goes that is not valid");
  const uint16_t last = known_[--count_], place = place_[dest];
  known_.write(place, last);
  place_.write(last, place);
  if (at_ == count_) at_ = 0;
  if (to_visit_ != 0) to_visit_ = count_;
}

/// It is to hear of our ports.
void Endpoint::owe(unsigned dest) {
  Dest& d = dests_[dest];
  d.due = true;
  d.waiting = false;
  d.tries = 0;
  if (!d.queued) push(dest);
}

void Endpoint::push(unsigned dest) {
  MRC_CHECK(queue_.size() <= dest_mask_, "more destinations wait than there are");
  queue_.push_back(static_cast<uint16_t>(dest));
  dests_[dest].queued = true;
}

/// The next destination to visit: of all valid ones after a port has changed, else of those in the queue.
void Endpoint::load() {
  visit_on_ = to_visit_ != 0 || queue_head_;
  walk_ = to_visit_ != 0;
  if (walk_) {
    visit_ = known_[at_];
    --to_visit_;
    at_ = at_ + 1 == count_ ? 0 : at_ + 1;
    return;
  }
  hurry_ = false;
  if (!queue_head_) return;
  visit_ = queue_.front();
  queue_.pop_front();
}

/// Looks whether a destination needs an update. Who is still owed one stays in the queue.
void Endpoint::visit(const CsrOut& csr, unsigned port_up) {
  visit_due_ = false;
  loads_ = true;
  Dest& d = dests_[visit_];
  if (d.valid && d.due) look(d, csr, port_up);
  if (d.valid && d.due) {
    if (!walk_ || !d.queued) push(visit_);
  } else if (!walk_) {
    d.queued = false;
  }
}

void Endpoint::look(Dest& d, const CsrOut& csr, unsigned port_up) {
  const uint32_t since = csr.tick - d.sent;
  if (d.waiting) {
    if (since < ep_update_wait(csr.ep_interval, d.tries, csr.port_wait)) return;
    d.waiting = false;  // sent again at the next visit
    if (csr.ep_repeats == kEpRepeatsForEver) {
      if (!csr.port_wait) d.tries = static_cast<uint8_t>(std::min(d.tries + 1u, kEpMostDoublings));
    } else if (d.tries >= csr.ep_repeats) {
      d.due = false;  // given up, until a port changes
    } else {
      ++d.tries;
    }
  } else if (since >= ep_update_gap(dest_bits_) && req_.free() && port_up != 0) {
    to_ = visit_;
    read_for(static_cast<unsigned>(EpKind::PortStatus), visit_);
  }
}

void Endpoint::read_for(unsigned kind, unsigned dest) {
  kind_ = kind;
  addr_.read(dest & dest_mask_);
  state_ = State::Send;
}

void Endpoint::find(const CsrOut& csr) {
  const Addr& a = addr_.rdata();
  const Step step = after_[f_];
  if (at_plane(a.dip, e_.plane, plane_) == e_.sip) {
    if (is_op(e_, wire::ErthOp::PortStatus)) {
      const unsigned mask = ep_planes_of_mask(e_.mask, planes_, csr.ports_from_0);
      pmask_.load({.dest = static_cast<uint16_t>(f_), .mask = static_cast<uint8_t>(mask)});
    }
    Resp r{};
    r.kind = CtlKind::Endpoint;
    r.qp = a.qp;
    r.plane = e_.plane;
    r.psn = e_.id;
    r.reason = e_.op;
    r.ts = e_.ts;
    r.tsv = e_.tsv;
    r.at = e_.at;
    resp_.load(r);
    pulses_next_.rsp = true;
    state_ = State::Idle;
  } else if (!step.any) {
    pulses_next_.drop = true;
    state_ = State::Idle;
  } else {
    f_ = step.dest;
    addr_.read(f_);
  }
}

void Endpoint::send(const CsrOut& csr, unsigned port_up) {
  state_ = State::Idle;
  const auto kind = static_cast<EpKind>(kind_);
  const uint32_t mask = ep_mask_of_planes(port_up, csr.ports_from_0);
  const QpIndex qp = addr_.rdata().qp;
  if (kind == EpKind::PortStatus) {
    if (port_up == 0) return;
    Dest& d = dests_[to_];
    const unsigned plane = ep_update_plane(rot_, port_up, d.peer, planes_);
    rot_ = (plane + 1) & (planes_ - 1);
    d.seq = static_cast<uint8_t>(ep_update_seq(d.seq + 1, dest_bits_));
    d.waiting = true;
    d.sent = csr.tick;
    Ctlpkt& c = req_.load();
    c.qp = qp;
    put(build_endpoint_request(ep_update_id(d.seq, to_, dest_bits_), wire::ErthOp::PortStatus, mask, csr.tick,
                               csr.tsr_us),
        c);
    c.plane = static_cast<uint8_t>(plane);
    c.tc = csr.dscp_ep;
    c.ev = csr.rev_ev[plane];
  } else {
    Probe& p = kind == EpKind::ControllerProbe ? controller_ : reverse_;
    p.send = false;
    Ctlpkt& c = req_.load();
    c.qp = qp;
    put(build_endpoint_request(ep_probe_id(kind, p.seq), wire::ErthOp::EvProbe, mask, csr.tick, csr.tsr_us), c);
    c.plane = p.plane;
    c.tc = p.tc_valid ? p.tc : csr.dscp_ep;
    c.ev = p.ev;
  }
  pulses_next_.req = true;
}

}  // namespace mrc
